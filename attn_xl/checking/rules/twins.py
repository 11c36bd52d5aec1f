"""Twins: blocks of one form, as those of several heads, layers, gates or sheets, must point alike."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np

from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.addresses import address
from attn_xl.spreadsheets.blocks.blocks import FormulaBlock
from attn_xl.spreadsheets.blocks.pieces import Box, Piece, Pieces, Read, written
from attn_xl.spreadsheets.blocks.templates import Coordinates, Reference
from attn_xl.spreadsheets.formulas import WIDTH, SheetCells

from .coverage import finding, follows, kinds_of_operands, replaced, text_of

Place = tuple[str, Box]
T = TypeVar("T")
Step = tuple[Any, ...]
"""The sheet and the cell of an operand, and how it moves."""
MOST_PIECES = 3_000  # of larger workbooks only neighbours are compared
MOST_TWINS = 60
FEWEST_TERMS = 3
_SUM = re.compile(r"(?<![§\w:^/!])§(?:\*§)*(?:[+,]§(?:\*§)*){2,}(?![\^:(*])")
"""A sum of cells or of products of cells, or a list of cells."""
_SIGMOID = re.compile(r"1/\(1\+EXP\(-§\)\)|§/\(§\+EXP\(-§\)\)|SIGMOID")


def unlike_twins(pieces: Pieces, known: set[tuple[str, int]]) -> Iterator[Finding]:
    """The findings about pieces that point, or compute, unlike their twins.

    Args:
        known: the cells that have a finding already.
    """
    seen = {p for p in pieces.pieces if (p.sheet.name, p.box[0] * WIDTH + p.box[1] - 1) in known}
    by_turns = chain.from_iterable(_by_turns(pieces, twins) for twins in _classes(pieces))
    for found, piece in chain(by_turns, _mirrored(pieces), _functions(pieces)):
        if piece not in seen:
            seen.add(piece)
            yield found
    for piece in pieces.pieces:
        if piece not in seen:
            yield from _terms(pieces, piece)
    yield from _numbers(pieces, seen)


def _classes(pieces: Pieces) -> list[list[Piece]]:
    """Pieces with one text, shape and shapes of operands, in the order of the workbook."""
    classes: dict[tuple[object, ...], list[Piece]] = defaultdict(list)
    for piece in pieces.pieces:
        if piece.reads and piece.text not in ("§", "§:§"):
            shapes = tuple(read.shape for read in piece.reads)
            classes[piece.text, piece.shape, shapes].append(piece)
    for twins in classes.values():
        sides = sorted((piece.box[1], piece.box[3]) for piece in twins)
        across = all(left > right for (_, right), (left, _) in pairwise(sides))
        side = 1 if across else 0
        twins.sort(key=lambda p: (pieces.order(p.sheet, p.box)[0], p.box[side], p.box))
    return [twins for twins in classes.values() if 1 < len(twins) <= MOST_TWINS]


def _wrong(
    pieces: Pieces, piece: Piece, slot: int, meant: Place, sheet: SheetCells, why: str
) -> tuple[Finding, Piece]:
    do = replaced(pieces, piece, slot, sheet, meant[1])
    what = f"reads {piece.reads[slot].shown(piece.sheet)}, {why}"
    return finding(pieces, piece, "twin", what, do), piece


def _by_turns(pieces: Pieces, twins: list[Piece]) -> Iterator[tuple[Finding, Piece]]:
    """An operand as far from each of the twins, or one that they read in turns, as the gates of every
    step read their weights, except for one of them: and there is such a table where it should be."""
    for slot in range(len(twins[0].reads)) if len(twins) > 2 else ():
        reads = {piece: piece.reads[slot] for piece in twins}
        offsets = [_offset(piece, read) for piece, read in reads.items()]
        if len({read.place for read in reads.values()}) == 1:
            continue
        away = out_of_turn([*zip(twins, offsets)], most=1)
        if away and reads[away[1]].sheet is not away[1].sheet:
            away = None
        turn = out_of_turn([(piece, read.place) for piece, read in reads.items()], 2)
        if not away and not turn:
            continue
        odd, model = away or turn  # type: ignore[misc]
        sheet, box = reads[model].sheet, reads[model].box
        if away:
            down, right = (odd.box[k] - model.box[k] for k in (0, 1))
            sheet, box = odd.sheet, (box[0] + down, box[1] + right, box[2] + down, box[3] + right)
        table = pieces.table(sheet, box)
        usual = {t.text for p in twins if p is not odd and (t := _table(pieces, reads[p].place)) and t.box == reads[p].box}
        if table is None or table is odd or table in odd.later:
            continue
        if kinds_of_operands(pieces, odd, slot) not in [
            kinds_of_operands(pieces, piece, slot) for piece in twins if piece is not odd
        ]:
            continue  # a step of another kind
        if away and (table.box != box or table.text not in usual):
            continue
        where = written(box, sheet, odd.sheet)
        why = f"where {model.shown(odd.sheet)} and others made alike read {where}"
        if away:
            why = f"where its {len(twins) - 1} twins read what stands where {where} does"
        yield _wrong(pieces, odd, slot, (sheet.name, box), sheet, why)


def _offset(piece: Piece, read: Read) -> tuple[bool, int, int]:
    """Whether an operand is on the piece's sheet, and how far from it."""
    own = read.sheet is piece.sheet
    return own, read.box[0] - piece.box[0] * own, read.box[1] - piece.box[1] * own


# Parts that follow one another


def _mirrored(pieces: Pieces) -> Iterator[tuple[Finding, Piece]]:
    """An operand that does not follow from one part (layer, head, step) to the next as the others do:
    where all that read X in the first part read Y in the second, one still reads X, or reads Z."""
    if len(pieces.pieces) > MOST_PIECES:
        return
    classes = _classes(pieces)
    by_count: dict[int, list[list[Piece]]] = defaultdict(list)
    for twins in classes:
        by_count[len(twins)].append(twins)
    for parts, alike in by_count.items():
        while alike:
            group = [alike[0]] + [t for t in alike[1:] if _aligned(alike[0], t)]
            alike = [t for t in alike if t not in group]
            if len(group) > 1:
                for i in range(parts - 1):
                    pairs = [(twins[i], twins[i + 1]) for twins in group]
                    yield from _conflicts(pieces, pairs)
                    yield from _conflicts(pieces, [pair[::-1] for pair in pairs])


def _aligned(twins: list[Piece], others: list[Piece]) -> bool:
    """Whether the i-th of some twins goes with the i-th of others: one is computed from the other, and
    but one of them, which may be wrong, none from a later one."""
    down = all(b in a.later for a, b in zip(twins, others))
    up = all(a in b.later for a, b in zip(twins, others))
    if down == up:
        return False
    first, second = (twins, others) if down else (others, twins)
    from_later = [any(made in a.later for a in first[i + 1 :]) for i, made in enumerate(second)]
    return sum(from_later) <= 1


def _conflicts(pieces: Pieces, pairs: list[tuple[Piece, Piece]]) -> Iterator[tuple[Finding, Piece]]:
    """Operands that lead from one place of a part to two of the next: where fewer lead, one is wrong.
    Of two, it is the one that does not read what the part before gives."""
    led: dict[Place, dict[Place, list[tuple[Piece, int, Piece]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for here, there in pairs:
        for slot, (read, other) in enumerate(zip(here.reads, there.reads)):
            led[read.place][other.place].append((here, slot, there))
    for to in led.values():
        if len(to) != 2:
            continue
        part = {vote[0] for votes in to.values() for vote in votes}
        sure = [len({vote[2] for vote in votes}) for votes in to.values()]
        if sure == [1, 1]:
            tables = [_table(pieces, place) for place in to]
            sure = [t is not None and all(t is p or t in p.later for p in part) for t in tables]
        few, most = sorted(to, key=dict(zip(to, sure)).__getitem__)
        if len(set(sure)) == 1 or len({vote[2] for vote in to[few]}) > 1:
            continue
        here, slot, odd = to[few][0]
        meant = _table(pieces, most)
        if meant is odd or meant in odd.later:
            continue
        sheet = pieces.book.sheets[most[0]]
        what = (
            f"reads {odd.reads[slot].shown(odd.sheet)}, as {here.shown(odd.sheet)} does; "
            f"{to[most][0][2].shown(odd.sheet)} beside it reads {written(most[1], sheet, odd.sheet)} "
            "in that place"
        )
        do = replaced(pieces, odd, slot, sheet, most[1])
        yield finding(pieces, odd, "twin", what, do), odd


def _table(pieces: Pieces, place: Place) -> Piece | None:
    return pieces.table(pieces.book.sheets[place[0]], place[1])


# Other functions


def _functions(pieces: Pieces) -> Iterator[tuple[Finding, Piece]]:
    """A piece that computes another function of its operand, cell by cell, than its twins of theirs."""
    often = Counter(piece.text for piece in pieces.pieces)
    for users in _users_of_twins(pieces):
        if len({piece.text for piece in users}) < 2:
            continue
        if len(users) == 2:
            piece, model = sorted(users, key=lambda p: (often[p.text], p is users[0]))
            if not _used_alike(piece, users) and not _same_but_one(piece.text, model.text):
                continue
        else:
            found = out_of_turn([(piece, piece.text) for piece in users])
            if found is None:
                continue
            piece, model = found
        both = f"{piece.text} {model.text}"
        sure = _used_alike(piece, [model]) or _same_but_one(piece.text, model.text)
        gate = "TANH" in both and bool(_SIGMOID.search(both)) and len(users) <= 4
        what = f"where {model.shown(piece.sheet)}, made alike, has ={text_of(pieces, model)}"
        kind = "twin" if sure and not gate and not _only_spread(piece.text, model.text) else "unusual"
        yield finding(pieces, piece, kind, what, "Use the same function, unless it is meant."), piece


def _same_but_one(text: str, other: str) -> bool:
    """Whether two long formulas differ in the name of one function only."""
    names = [re.findall(r"[A-Z.]+(?=\()", t) for t in (text, other)]
    plain = [re.sub(r"[A-Z.]+(?=\()", "", t) for t in (text, other)]
    odd = sum(a != b for a, b in zip(*names))
    return plain[0] == plain[1] and odd == 1 and plain[0].count("§") > 3


def _only_spread(text: str, other: str) -> bool:
    """Whether two formulas differ only in the kind of variance."""
    plain = [re.sub(r"(VAR|STDEV)(?:PA?|A|\.P|\.S)?\(", r"\1(", t) for t in (text, other)]
    return plain[0] == plain[1]


def _users_of_twins(pieces: Pieces) -> Iterator[list[Piece]]:
    """What is computed from each of some twins, but for what is computed alike from all of them."""
    for twins in _classes(pieces):
        groups: dict[object, list[list[Piece]]] = defaultdict(list)
        for piece in twins:
            users = {
                user
                for user, slot in piece.users
                if user is not piece
                and slot == 0
                and user.reads[0].place == piece.place
                and not user.product
                and user.text not in ("§", "§:§", "TRANSPOSE(§:§)")
            }
            shapes = sorted((user.shape, *(read.shape for read in user.reads)) for user in users)
            groups[tuple(shapes)].append(sorted(users, key=lambda user: user.text))
        for found in groups.values():
            alike = set.intersection(*({user.text for user in users} for users in found))
            rest = [[user for user in users if user.text not in alike] for users in found]
            if len(found) > 1 and {len(users) for users in rest} == {1}:
                yield [users[0] for users in rest]


def out_of_turn(
    items: list[tuple[Piece, T]], least: int = 1, most: int = 1_000
) -> tuple[Piece, Piece] | None:
    """The one of a row of pieces whose property breaks the turns in which the others have theirs (A, A,
    A; or A, B, A, B), row by row or column by column, with another one that has what it should have.

    Args:
        least, most: the shortest and the longest turn.
    """
    found = None
    for order in (items, sorted(items, key=lambda item: (item[0].box[1], item[0].box[0]))):
        for period in range(least, min(most, len(items) // 2) + 1):
            if len(items) % period:
                continue
            usual = [
                Counter(v for _, v in order[k::period]).most_common(1)[0][0] for k in range(period)
            ]
            odd = [n for n, (_, value) in enumerate(order) if value != usual[n % period]]
            if not odd:
                return None
            if len(odd) == 1 and len(items) > 2 * period and found is None:
                turn = [item[0] for item in order[odd[0] % period :: period]]
                found = order[odd[0]][0], next(p for p in turn if p is not order[odd[0]][0])
    return found


def _used_alike(piece: Piece, twins: list[Piece]) -> bool:
    """Whether a piece is used as its twins are."""
    uses = [{(user.text, slot, user.shape) for user, slot in p.users} for p in (piece, *twins)]
    return bool(uses[0]) and all(other == uses[0] for other in uses if other)


def _numbers(pieces: Pieces, seen: set[Piece]) -> Iterator[Finding]:
    """A number that is the same in all twins but one."""
    for twins in _classes(pieces):
        if len(twins) < 3 or not twins[0].numbers:
            continue
        (most, times), *_ = Counter(piece.numbers for piece in twins).most_common()
        odd = [piece for piece in twins if piece.numbers != most]
        if times < len(twins) - 1 or len(odd) != 1 or odd[0] in seen:
            continue
        own, usual = next((a, b) for a, b in zip(odd[0].numbers, most) if a != b)
        model = next(piece for piece in twins if piece.numbers == most)
        what = (
            f"has {own:.12g} where {model.shown(odd[0].sheet)} and others made alike have {usual:.12g}"
        )
        yield finding(pieces, odd[0], "unusual", what, "Nothing, if it is meant.")


# Terms of a sum


def _terms(pieces: Pieces, piece: Piece) -> Iterator[Finding]:
    """A term of a sum that does not go on as the others do: a cell added twice while the next is left
    out, a `$` in one term; or a cell subtracted from itself, or divided by itself."""
    block = piece.block
    assert block is not None
    references = block.template.references
    values = block.predicted(*block.box[:2])
    if (
        piece.text in ("§-§", "§/§")
        and len(references) == 2
        and len({_steps(block, values, r) for r in references}) == 1
    ):
        yield finding(
            pieces, piece, "terms", "has the same cell on both sides", "Enter the cell meant."
        )
    for places in _sums(piece.text):
        if len(places) < FEWEST_TERMS or any(
            references[k].cells > 1 for k in places if k < len(references)
        ):
            continue
        if max(places) >= len(references):
            continue
        odd = _out_of_step([_steps(block, values, references[k]) for k in places])
        if odd is not None:
            name, *cell = odd[1]
            meant = f"{name}!" * bool(name) + address(int(cell[0]), int(cell[1]))
            shown = pieces.forms.operand(
                int(block.sheet.formulas[block.places[0]]), references[places[odd[0]]], values
            )
            what = f"has {shown} where its other terms lead to {meant}"
            if any(
                r.at != references[places[odd[0]]].at and _steps(block, values, r)[:3] == odd[1]
                for r in references
            ):
                continue
            do = f"Enter {meant} there, with the $ of the other terms, and copy it."
            yield finding(pieces, piece, "terms", what, do)
            return


def _sums(text: str) -> Iterator[list[int]]:
    """The operands, by number, that stand at one place in the terms of each sum of a formula."""
    for found in _SUM.finditer(text):
        first = text.count("§", 0, found.start())
        terms = re.split(r"[+,]", found[0])
        widths = {term.count("§") for term in terms}
        if len(widths) == 1:
            (wide,) = widths
            for k in range(wide):
                yield [first + k + wide * n for n in range(len(terms))]


def _steps(block: FormulaBlock, values: Coordinates, reference: Reference) -> Step:
    """The sheet and the cell that an operand is in a block's first formula, and how it moves."""
    at = slice(reference.at, reference.at + 2)
    return (reference.sheet, *values[at].tolist(), *block.slopes[at].ravel().tolist())


def _out_of_step(terms: list[Step]) -> tuple[int, Step] | None:
    """The one of some operands that is not where equal steps of one cell lead, and where they lead."""
    names = {term[0] for term in terms}
    if len(names) > 1:
        return None
    places = np.array([term[1:] for term in terms], dtype=np.float64)
    for odd in range(len(places)):
        others = np.delete(np.arange(len(places)), odd)
        steps = np.diff(places[others], axis=0) / np.diff(others)[:, None]
        if (steps != steps[0]).any() or np.abs(steps[0]).sum() != 1 or np.abs(steps[0, :2]).sum() != 1:
            continue
        meant = places[others[0]] + steps[0] * (odd - others[0])
        if (meant != places[odd]).any() and (
            len(places) > 3 or (places[others] == places[odd]).all(1).any()
        ):
            return odd, (terms[0][0], *meant[:2].tolist())
    return None
