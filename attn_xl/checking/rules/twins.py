"""Twins: blocks of one form, as those of several heads, layers, gates or sheets, must point alike."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np

from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.addresses import address
from attn_xl.spreadsheets.blocks.blocks import FormulaBlock
from attn_xl.spreadsheets.blocks.pieces import Box, Piece, Pieces, Read, is_number, written
from attn_xl.spreadsheets.blocks.templates import Coordinates, Reference
from attn_xl.spreadsheets.formulas import WIDTH

from .coverage import block_of, finding, kind_of, kinds_of_operands, replaced, text_of

Place = tuple[str, Box]
T = TypeVar("T")
Step = tuple[Any, ...]
"""The sheet and the cell of an operand, and how it moves."""
MOST_PIECES = 3_000  # of larger workbooks only neighbours are compared
MOST_TWINS = 60
_NAME = re.compile(r"[A-Z][A-Z.0-9]*(?=\()")
"""The name of a function."""
_SUM = re.compile(r"(?<![§\w:^/!])§(?:\*§)*(?:[+,]§(?:\*§)*){2,}(?![\^:(*])")
"""A sum of cells or of products of cells, or a list of cells."""


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
            classes[kind_of(piece)].append(piece)
    for twins in classes.values():
        sides = sorted((piece.box[1], piece.box[3]) for piece in twins)
        across = all(left > right for (_, right), (left, _) in pairwise(sides))
        side = 1 if across else 0
        twins.sort(key=lambda p: (pieces.order(p.sheet, p.box)[0], p.box[side], p.box))
    return [twins for twins in classes.values() if 1 < len(twins) <= MOST_TWINS]


def _by_turns(pieces: Pieces, twins: list[Piece]) -> Iterator[tuple[Finding, Piece]]:
    """An operand as far from each of the twins, or one that they read in turns, as the gates of every
    step read their weights, except for one of them: and there is such a table where it should be."""
    for slot in range(len(twins[0].reads)):
        alike: dict[tuple[str, ...], list[Piece]] = defaultdict(list)
        for piece in twins:
            alike[tuple(kinds_of_operands(pieces, piece, slot))].append(piece)
        lone = {some[0] for some in alike.values() if len(some) == 1}  # a step of another kind
        for some in (twins, *alike.values()):
            reads = {piece: piece.reads[slot] for piece in some}
            if (found := _out_of_place(pieces, reads, slot)) and found[1] not in lone:
                yield found


def _out_of_place(pieces: Pieces, reads: dict[Piece, Read], slot: int) -> tuple[Finding, Piece] | None:
    """The one of some twins whose operand is elsewhere than those of the others."""
    away = out_of_turn([(piece, _offset(piece, read)) for piece, read in reads.items()], most=1)
    if away and reads[away[1]].sheet is not away[1].sheet:
        away = None
    found = away or out_of_turn([(piece, read.place) for piece, read in reads.items()], 2)
    if not found:
        return None
    odd, model = found
    sheet, box = reads[model].sheet, reads[model].box
    why = f"where {model.shown(odd.sheet)} and others made alike read"
    if away:
        down, right = (odd.box[k] - model.box[k] for k in (0, 1))
        why = f"where its {len(reads) - 1} twins read what stands where"
        sheet, box = odd.sheet, (box[0] + down, box[1] + right, box[2] + down, box[3] + right)
    table = _table(pieces, (sheet.name, box))
    usual = [_table(pieces, read.place) for piece, read in reads.items() if piece is not odd]
    if table is None or table is odd or table in odd.later:
        return None
    if away and (table.box != box or table.text not in {t.text for t in usual if t}):
        return None
    shown, where = reads[odd].shown(odd.sheet), written(box, sheet, odd.sheet)
    what = f"reads {shown}, {why} {where}" + " does" * bool(away)
    return finding(pieces, odd, "twin", what, replaced(pieces, odd, slot, sheet, box)), odd


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
                    yield from _conflicts(pieces, [(twins[i], twins[i + 1]) for twins in group])


def _aligned(twins: list[Piece], others: list[Piece]) -> bool:
    """Whether the i-th of some twins goes with the i-th of others: each of one is computed from
    its own of the other."""
    down = all(b in a.later for a, b in zip(twins, others))
    up = all(a in b.later for a, b in zip(twins, others))
    return down != up


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
    """A piece that has another function than others that are used, or made, as it is, if nothing has
    theirs of its operands, or its own of theirs; or that breaks the turns of functions, as of gates.
    Of two, it is the one that has the rarer function, or the later one."""
    often = Counter(name for piece in pieces.pieces for name in _NAME.findall(piece.text))
    computed = {(piece.text, _places(piece)) for piece in pieces.pieces}
    frames: dict[object, list[Piece]] = defaultdict(list)
    for piece in pieces.pieces:
        if piece.reads and piece.size > 1 and _NAME.search(piece.text):
            frame = _NAME.sub("", piece.text)
            uses = frozenset((user.text, slot) for user, slot in piece.users if user is not piece)
            if uses:
                frames[frame, uses].append(piece)
            if len(piece.reads) > 2:
                frames[frame, tuple(kinds_of_operands(pieces, piece))].append(piece)
    for alike in frames.values():
        texts = Counter(piece.text for piece in alike)
        if len(texts) != 2:
            continue
        rarity = {t: (texts[t], sum(often[name] for name in _NAME.findall(t))) for t in [*texts][::-1]}
        text, usual = sorted(rarity, key=rarity.__getitem__)
        odd, models = ([p for p in alike if p.text == t] for t in (text, usual))
        names = zip(_NAME.findall(text), _NAME.findall(usual))
        if odd[0].product and models[0].product:
            continue  # MMULT, SUMPRODUCT
        if len(odd) > 1 or [own != other for own, other in names].count(True) > 1:
            continue
        if not computed & {(usual, _places(odd[0])), *((text, _places(model)) for model in models)}:
            either = len(models) == 1 and models[0].sheet is odd[0].sheet
            yield _other_function(pieces, odd[0], models[0], either), odd[0]
    for twins in _classes(pieces):
        users = [[u for u, _ in p.users if len(u.reads) == 1 and not u.product] for p in twins]
        found = out_of_turn([(u[0], u[0].text) for u in users if len(u) == 1], 2)
        if found:
            yield _other_function(pieces, *found), found[0]


def _other_function(pieces: Pieces, piece: Piece, model: Piece, either: bool = False) -> Finding:
    """The finding about a function unlike that of a model, or that `either` may be wrong."""
    spread = {re.sub(r"(VAR|STDEV)(?:PA?|A|\.P|\.S)?\(", r"\1(", p.text) for p in (piece, model)}
    kind = "unusual" if len(spread) == 1 else "twin"
    what = f"where {model.shown(piece.sheet)}, made alike, has ={text_of(pieces, model)}"
    found = finding(pieces, piece, kind, what, "Use the same function, unless it is meant.")
    return replace(found, cells=f"{found.cells}, {model.shown()}") if either else found


def _places(piece: Piece) -> tuple[Place, ...]:
    return tuple(read.place for read in piece.reads)


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


def _numbers(pieces: Pieces, seen: set[Piece]) -> Iterator[Finding]:
    """A number that is the same in all twins but one, unless it is of a text."""
    for twins in _classes(pieces):
        odd, model = out_of_turn([(piece, piece.numbers) for piece in twins], most=1) or (None, None)
        if odd is None or model is None or odd in seen:
            continue
        if all(is_number(piece.sheet, piece.box) for piece in twins):
            own, usual = next((a, b) for a, b in zip(odd.numbers, model.numbers) if a != b)
            what = (
                f"has {own:.12g} where {model.shown(odd.sheet)} and others made alike have {usual:.12g}"
            )
            yield finding(pieces, odd, "unusual", what, "Nothing, if it is meant.")


# Terms of a sum


def _terms(pieces: Pieces, piece: Piece) -> Iterator[Finding]:
    """A term of a sum that does not go on as the others do: a cell added twice while the next is left
    out, a `$` in one term; or a cell subtracted from itself, or divided by itself."""
    block = block_of(piece)
    references, values = block.template.references, block.predicted(*block.box[:2])
    steps = [_step(block, values, reference) for reference in references]
    if piece.text in ("§-§", "§/§") and len(steps) == 2 and steps[0] == steps[1]:
        what, do = "has the same cell on both sides", "Enter the cell meant."
        yield finding(pieces, piece, "terms", what, do)
    for places in _sums(piece.text):
        if max(places) >= len(references) or any(references[k].cells > 1 for k in places):
            continue
        odd, meant = _out_of_step([steps[k] for k in places]) or (0, ())
        if meant and meant not in (step[:3] for n, step in enumerate(steps) if n != places[odd]):
            name, row, column = meant
            cell = f"{name}!" * bool(name) + address(int(row), int(column))
            formula = int(block.sheet.formulas[block.places[0]])
            shown = pieces.forms.operand(formula, references[places[odd]], values)
            what = f"has {shown} where its other terms lead to {cell}"
            do = f"Enter {cell} there, with the $ of the other terms, and copy it."
            yield finding(pieces, piece, "terms", what, do)
            return


def _sums(text: str) -> Iterator[list[int]]:
    """The operands, by number, that stand at one place in the terms of each sum of a formula."""
    for found in _SUM.finditer(text):
        first, terms = text.count("§", 0, found.start()), re.split(r"[+,]", found[0])
        wide = terms[0].count("§")
        if all(term.count("§") == wide for term in terms):
            yield from (list(range(first + k, first + wide * len(terms), wide)) for k in range(wide))


def _step(block: FormulaBlock, values: Coordinates, reference: Reference) -> Step:
    """The sheet and the cell that an operand is in a block's first formula, and how it moves."""
    at = slice(reference.at, reference.at + 2)
    return (reference.sheet, *values[at].tolist(), *block.slopes[at].ravel().tolist())


def _out_of_step(terms: list[Step]) -> tuple[int, Step] | None:
    """The one of some operands that is not where equal steps of one cell lead, and where they lead."""
    if len({term[0] for term in terms}) > 1:
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
