"""Twins: blocks of one form, as those of several heads, layers, gates or sheets, must point alike."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from attn_xl.checking.blocks.pieces import Box, Piece, Pieces, Read, is_number, written
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.formulas import SheetCells

from .coverage import finding, follows, proposed, shares, text_of

Place = tuple[str, Box]
MOST_PIECES = 3_000  # of larger workbooks only neighbours are compared
MOST_TWINS = 60
_SIGMOID = re.compile(r"1/\(1\+EXP\(-§\)\)|§/\(§\+EXP\(-§\)\)|SIGMOID")


def unlike_twins(pieces: Pieces) -> Iterator[Finding]:
    """The findings about pieces that point, or compute, unlike their twins."""
    seen: set[Piece] = set()
    for twins in _classes(pieces):
        for rule in (_one_twice, _displaced):
            for found, piece in rule(pieces, twins):
                if piece not in seen:
                    seen.add(piece)
                    yield found
    for found, piece in _mirrored(pieces):
        if piece not in seen:
            seen.add(piece)
            yield found
    for found, piece in _functions(pieces):
        if piece not in seen:
            seen.add(piece)
            yield found
    yield from _numbers(pieces, seen)


def _order(pieces: Pieces) -> dict[str, int]:
    return {name: number for number, name in enumerate(pieces.book.sheets)}


def _classes(pieces: Pieces) -> list[list[Piece]]:
    """Pieces with one text, shape and shapes of operands, in the order of the workbook."""
    order = _order(pieces)
    classes: dict[tuple[object, ...], list[Piece]] = defaultdict(list)
    for piece in pieces.pieces:
        if piece.reads and piece.text not in ("§", "§:§"):
            shapes = tuple(read.shape for read in piece.reads)
            classes[piece.text, piece.shape, shapes].append(piece)
    for twins in classes.values():
        twins.sort(key=lambda piece: (order[piece.sheet.name], piece.box))
    return [twins for twins in classes.values() if 1 < len(twins) <= MOST_TWINS]


def _target(pieces: Pieces, read: Read) -> Piece | None:
    """The piece or table that an operand reads, if it reads all of it."""
    found = pieces.table(read.sheet, read.box)
    return found if found is not None and found.box == read.box else None


def _replaced(pieces: Pieces, piece: Piece, slot: int, place: Place) -> str:
    """A piece's first formula with an operand that reads another place."""
    read = piece.reads[slot]
    if read.reference is None or read.sheet.name != place[0]:
        return ""
    down, right = place[1][0] - read.box[0], place[1][1] - read.box[1]
    at = [read.reference.at + 2 * corner for corner in range(read.reference.cells)]

    def move(values: np.ndarray, moves: list[int]) -> None:
        for corner in at:
            values[corner] += down
            values[corner + 1] += right

    return proposed(pieces, piece, move)


def _wrong(
    pieces: Pieces, piece: Piece, slot: int, meant: Place, sheet: SheetCells, why: str
) -> tuple[Finding, Piece]:
    formula = _replaced(pieces, piece, slot, meant)
    copied = " and copy it" if piece.size > 1 else ""
    name = written(meant[1], sheet, piece.sheet)
    do = f"Enter ={formula}{copied}." if formula else f"Let it read {name}."
    what = f"reads {piece.reads[slot].shown(piece.sheet)}, {why}"
    return finding(pieces, piece, "twin", what, do), piece


def _one_twice(pieces: Pieces, twins: list[Piece]) -> Iterator[tuple[Finding, Piece]]:
    """An operand that each of the twins has of its own, except that two share one, while a table of its
    kind is read by nothing."""
    for slot in range(len(twins[0].reads)):
        places = [piece.reads[slot].place for piece in twins]
        counts = Counter(places)
        doubles = [place for place, times in counts.items() if times == 2]
        own = sum(times == 1 for times in counts.values())
        if len(doubles) != 1 or own + 2 != len(twins):
            continue
        pair = [piece for piece, place in zip(twins, places) if place == doubles[0]]
        read = pair[0].reads[slot]
        if own == 0 and len({p.reads[s].place for p in pair for s in range(len(p.reads)) if s != slot}) < 2:
            continue
        free = _free_like(pieces, read, twins, slot)
        if own == 0:  # two twins alone: it must stand where the other's does
            free = [t for t in free if _as_far(pair, read.box, t)]
        if not free:
            continue
        meant, odd = min(
            ((t, piece) for t in free for piece in pair), key=lambda tp: _distance(pieces, *tp, slot)
        )
        other = next(p for p in pair if p is not odd)
        others = f"which {other.shown(odd.sheet)} reads; nothing reads {meant.shown(odd.sheet)}"
        yield _wrong(pieces, odd, slot, meant.place, meant.sheet, others)


def _free_like(pieces: Pieces, read: Read, twins: list[Piece], slot: int) -> list[Piece]:
    """Tables of the same kind and shape as an operand that nothing reads."""
    target = _target(pieces, read)
    if target is None:
        return []
    among: Sequence[Piece] = pieces.tables
    if target.block is not None:
        among = [p for p in pieces.pieces if p.text == target.text and p is not target]
    return [
        t
        for t in among
        if t.shape == target.shape
        and t not in twins
        and pieces.unread(t.sheet, t.box)
        and pieces.table(t.sheet, t.box) is t
        and _names_alike(pieces, target, t)
    ]


def _names_alike(pieces: Pieces, table: Piece, other: Piece) -> bool:
    """Whether two tables with formulas are made of the same kind of operands."""
    return [read.shape for read in table.reads] == [read.shape for read in other.reads]


def _as_far(pair: list[Piece], box: Box, table: Piece) -> bool:
    """Whether a table is as far from one of two pieces as their common operand is from the other."""
    for piece, other in (pair, pair[::-1]):
        down, right = piece.box[0] - other.box[0], piece.box[1] - other.box[1]
        if (table.box[0] - box[0], table.box[1] - box[1]) == (down, right):
            return True
        if table.sheet is piece.sheet is not other.sheet and table.box[:2] == box[:2]:
            return True
    return False


def _distance(pieces: Pieces, table: Piece, piece: Piece, slot: int) -> tuple[int, int]:
    """How far a table is from a piece that may have to read it."""
    order = _order(pieces)
    sheets = abs(order[table.sheet.name] - order[piece.sheet.name])
    return sheets, abs(table.box[0] - piece.box[0]) + abs(table.box[1] - piece.box[1])


def _displaced(pieces: Pieces, twins: list[Piece]) -> Iterator[tuple[Finding, Piece]]:
    """An operand as far from each of the twins, except from one: and there is such a table where it
    should be."""
    if len(twins) < 3:
        return
    for slot in range(len(twins[0].reads)):
        offsets = [_offset(piece, piece.reads[slot]) for piece in twins]
        (offset, times), *rest = Counter(offsets).most_common()
        if times != len(twins) - 1 or not offset[0]:
            continue
        odd = twins[next(i for i, o in enumerate(offsets) if o != offset)]
        read = odd.reads[slot]
        top, left = odd.box[0] + offset[1], odd.box[1] + offset[2]
        meant: Box = (top, left, top + read.shape[0] - 1, left + read.shape[1] - 1)
        if top < 1 or left < 1 or (odd.sheet.name, meant) == read.place:
            continue
        models = [_target(pieces, piece.reads[slot]) for piece in twins if piece is not odd]
        table = pieces.table(odd.sheet, meant)
        if table is None or table.box != meant or any(m is None for m in models):
            continue
        if table.text != models[0].text or table is odd or follows(table, odd):  # type: ignore[union-attr]
            continue
        yield _wrong(
            pieces, odd, slot, (odd.sheet.name, meant), odd.sheet,
            f"where its {len(twins) - 1} twins read what stands where {written(meant, odd.sheet, odd.sheet)} does",
        )  # fmt: skip


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
    before = _ancestors(pieces)
    by_count: dict[int, list[list[Piece]]] = defaultdict(list)
    for twins in classes:
        by_count[len(twins)].append(twins)
    for many, alike in by_count.items():
        while alike:
            group = [alike[0]] + [t for t in alike[1:] if _aligned(alike[0], t, before)]
            alike = [t for t in alike if t not in group]
            if len(group) > 1:
                for i in range(many - 1):
                    yield from _conflicts(pieces, group, i, before)


def _ancestors(pieces: Pieces) -> list[int]:
    """For each piece the pieces that it is computed from, as the bits of a number."""
    direct = [0] * len(pieces.pieces)
    for piece in pieces.pieces:
        for user, _ in piece.users:
            if user is not piece:
                direct[user.number] |= 1 << piece.number
    known: dict[int, int] = {}

    def of(start: int) -> int:
        waiting, found = [start], 0
        while waiting:
            bits = direct[waiting.pop()] & ~found
            found |= bits
            while bits:
                low = bits & -bits
                number = low.bit_length() - 1
                bits ^= low
                if number in known:
                    found |= known[number]
                else:
                    waiting.append(number)
        known[start] = found
        return found

    return [of(number) for number in range(len(direct))]


def _aligned(twins: list[Piece], others: list[Piece], before: list[int]) -> bool:
    """Whether the i-th of some twins goes with the i-th of others: one is computed from the other, and
    none from a later one."""

    def on(piece: Piece, other: Piece) -> bool:
        return bool(before[piece.number] >> other.number & 1)

    down = all(on(b, a) for a, b in zip(twins, others))
    up = all(on(a, b) for a, b in zip(twins, others))
    if down == up:
        return False
    first, second = (twins, others) if down else (others, twins)
    return not any(
        on(second[i], first[j]) for i in range(len(first)) for j in range(i + 1, len(first))
    )


def _conflicts(
    pieces: Pieces, group: list[list[Piece]], i: int, before: list[int]
) -> Iterator[tuple[Finding, Piece]]:
    votes: dict[Place, dict[Place, list[tuple[Piece, int, Piece]]]] = defaultdict(lambda: defaultdict(list))
    for twins in group:
        here, there = twins[i], twins[i + 1]
        for slot, (read, other) in enumerate(zip(here.reads, there.reads)):
            votes[read.place][other.place].append((there, slot, here))
    for place, led in votes.items():
        if len(led) != 2:
            continue
        few, most = sorted(led, key=lambda to: len({v[0] for v in led[to]}))
        if len(led[few]) == len(led[most]):
            # What still reads the first part's input is odd if the others read that part's output.
            if place not in led:
                continue
            few, most = place, next(to for to in led if to != place)
            if len({p for p, _, _ in led[few]}) != 1:
                continue
            from_part = pieces.table(pieces.book.sheets[most[0]], most[1])
            if from_part is None or from_part.block is None:
                continue
            if not all(before[from_part.number] >> here.number & 1 or from_part is here for _, _, here in led[few]):
                continue
        elif len({p for p, _, _ in led[few]}) != 1 or len(led[most]) < 2:
            continue
        odd, slot, here = led[few][0]
        if few != place and most == place:
            continue  # the others share it
        meant = pieces.table(pieces.book.sheets[most[0]], most[1])
        if meant is odd or (meant is not None and follows(meant, odd)):
            continue
        model = led[most][0][0]
        yield _wrong(
            pieces, odd, slot, most, pieces.book.sheets[most[0]],
            f"as {here.shown(odd.sheet)} does; {model.shown(odd.sheet)} beside it reads "
            f"{written(most[1], pieces.book.sheets[most[0]], odd.sheet)} in that place",
        )  # fmt: skip


# Other functions


def _functions(pieces: Pieces) -> Iterator[tuple[Finding, Piece]]:
    """A piece that computes another function of its operand than its twins do of theirs."""
    for twins in _classes_of_operands(pieces):
        texts = [piece.text for piece in twins]
        if len(set(texts)) < 2 or len(twins) > MOST_TWINS:
            continue
        odd = _odd_one(texts)
        if odd is None:
            continue
        piece, usual = twins[odd], Counter(texts).most_common(1)[0][0]
        if len(twins) > 2:
            usual = _expected(texts, odd)
        model = next(t for t in twins if t.text == usual)
        what = f"where {model.shown(piece.sheet)}, made alike, has ={text_of(pieces, model)}"
        gate = "TANH" in piece.text + usual and bool(_SIGMOID.search(piece.text + usual))
        sure = _used_alike(piece, twins) and not (gate and len(set(texts)) == 2 and _is_single(texts))
        if len(twins) == 2 and not sure:
            continue
        if any(t.text == piece.text for t in twins if t is not piece) and not sure:
            continue
        kind = "twin" if sure and not _only_spread(piece.text, usual) else "unusual"
        yield finding(pieces, piece, kind, what, "Use the same function, unless it is meant."), piece


def _is_single(texts: list[str]) -> bool:
    return min(Counter(texts).values()) == 1


def _only_spread(text: str, other: str) -> bool:
    """Whether two formulas differ only in the kind of variance."""
    plain = [re.sub(r"(VAR|STDEV)(?:PA?|A|\.P|\.S)?\(", r"\1(", t) for t in (text, other)]
    return plain[0] == plain[1]


def _classes_of_operands(pieces: Pieces) -> Iterator[list[Piece]]:
    """Pieces of one shape whose first operands are twins, read cell by cell or in the same way."""
    for twins in _classes(pieces):
        users: dict[int, list[Piece]] = {}
        for number, piece in enumerate(twins):
            whole = {
                user
                for user, slot in piece.users
                if slot == 0 and user.reads[0].place == piece.place and user is not piece
            }
            users[number] = sorted(whole, key=lambda p: p.box)
        counts = {len(u) for u in users.values()}
        if len(counts) == 1 and (many := counts.pop()):
            for k in range(many):
                yield [users[n][k] for n in range(len(twins))]


def _odd_one(texts: list[str]) -> int | None:
    """The one of a row of texts that breaks its period; None if none does."""
    if len(texts) == 2:
        return 1
    for period in range(1, len(texts)):
        if len(texts) % period or (period > 1 and len(texts) // period < 2):
            continue
        odd = []
        for start in range(period):
            found = Counter(texts[start::period]).most_common()
            odd += [n for n in range(start, len(texts), period) if texts[n] != found[0][0]]
        if not odd:
            return None
        if len(odd) == 1 and len(texts) // period > 2:
            return odd[0]
    return None


def _expected(texts: list[str], odd: int) -> str:
    """What the others of its period have."""
    for period in range(1, len(texts)):
        if len(texts) % period == 0:
            others = {t for n, t in enumerate(texts) if n != odd and n % period == odd % period}
            if len(others) == 1 and texts[odd] not in others:
                return others.pop()
    return Counter(texts).most_common(1)[0][0]


def _used_alike(piece: Piece, twins: list[Piece]) -> bool:
    """Whether a piece is used as its twins are."""
    own, *others = [
        {(user.text, slot, user.shape) for user, slot in p.users}
        for p in (piece, *(t for t in twins if t is not piece))
    ]
    return bool(own) and all(own == other for other in others if other)


def _numbers(pieces: Pieces, seen: set[Piece]) -> Iterator[Finding]:
    """A number that is the same in all twins but one."""
    for twins in _classes(pieces):
        if len(twins) < 3 or not twins[0].numbers:
            continue
        (most, times), *rest = Counter(piece.numbers for piece in twins).most_common()
        odd = [piece for piece in twins if piece.numbers != most]
        if times < len(twins) - 1 or len(odd) != 1 or odd[0] in seen:
            continue
        own, usual = next((a, b) for a, b in zip(odd[0].numbers, most) if a != b)
        model = next(piece for piece in twins if piece.numbers == most)
        what = f"has {own:.12g} where {model.shown(odd[0].sheet)} and others made alike have {usual:.12g}"
        yield finding(pieces, odd[0], "unusual", what, "Nothing, if it is meant.")


__all__ = ["is_number", "shares", "unlike_twins"]
