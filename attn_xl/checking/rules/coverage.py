"""Coverage: part of a table is read by formulas and the rest of it by none.

A range that stops before its table does, an operand that stays on the first line of a table with a line
for each of the block's, one that slides out of its table or reads it one line off, and a table that
nothing reads while another of its size is read in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from attn_xl.checking.blocks.block_cells import copies
from attn_xl.checking.blocks.words import ADDING
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.blocks.pieces import (
    Box,
    Piece,
    Pieces,
    Read,
    extents,
    is_display,
    is_number,
    written,
)
from attn_xl.spreadsheets.blocks.references import keys_within, rectangles_of
from attn_xl.spreadsheets.blocks.templates import names
from attn_xl.spreadsheets.formulas import SheetCells
from attn_xl.text import count

MOST_SINGLE = 200  # typed numbers that stand alone; with more, they are data
LINES = ("row", "column")
SUMMING = ADDING | {"COUNT", "COUNTA", "LARGE", "SMALL", "RANK", ""}
MOVING = names("ROW COLUMN ROWS COLUMNS CELL INDIRECT OFFSET SEQUENCE RAND RANDBETWEEN")
"""Functions by which cells with the same operands differ."""
LOOKING_UP = names("VLOOKUP HLOOKUP XLOOKUP LOOKUP INDEX MATCH XMATCH")

_ACTIVATION = re.compile(r"(?:MAX|TANH|1/\(1\+EXP|IF|RELU|SIGMOID|§\*NORMSDIST)\(")


def uncovered(pieces: Pieces) -> Iterator[Finding]:
    """The findings about tables that are read in part only."""
    for piece in pieces.pieces:
        found = None
        for rule in (_stays, _slides, _off, _stops_short):
            for slot in range(len(piece.reads)):
                found = found or rule(pieces, piece, slot)
        found = found or _copies_one_line(pieces, piece)
        if found:
            yield found
    yield from _unread(pieces)


def proposed(
    pieces: Pieces,
    piece: Piece,
    read: Read,
    *,
    by: tuple[int, int] = (0, 0),
    moves: bool = True,
    side: int | None = None,
    ends: tuple[int, int] | None = None,
) -> str:
    """The first formula of a piece with another operand, and how to enter it.

    Args:
        by: rows and columns by which the operand is moved.
        side: the coordinate, row 0 or column 1, that `moves` when it is copied, or does not; or that
            goes from one of the `ends` to the other.
    """
    block = piece.block
    assert block is not None
    formula = int(block.sheet.formulas[block.places[0]])
    values, notation = block.predicted(*block.box[:2]).copy(), list(pieces.forms.moves(formula))
    corners = _corners(read)
    for number, at in enumerate(corners):
        values[at : at + 2] += by
        if side is not None and ends is not None:
            values[at + side] = ends[number]
        elif side is not None:
            notation[at + side] = (1, 2)[side] * moves
    text = pieces.forms.written(formula, values, notation)
    if len(block.places) == 1:
        return f"={text}."
    copy = " and copy it." if copies(pieces.forms, block) else ", and the like in its other cells."
    return f"={text}{copy}"


def text_of(pieces: Pieces, piece: Piece) -> str:
    """The first formula of a piece as it is typed."""
    assert piece.block is not None
    row, column = piece.block.box[:2]
    return pieces.forms.written(
        int(piece.block.sheet.formulas[piece.block.places[0]]), piece.block.predicted(row, column)
    )


def finding(pieces: Pieces, piece: Piece, kind: str, what: str, do: str) -> Finding:
    """A finding about the whole of a piece."""
    many = f" ({count(piece.size, 'cell')})" if piece.size > 1 else ""
    return Finding(
        piece.sheet.name,
        piece.shown(),
        kind,
        f"={text_of(pieces, piece)}{', ...' if piece.size > 1 else ''} {what}{many}",
        do,
    )


def _lines(box: Box, axis: int, first: int, last: int) -> Box:
    """A part of a box: some of its rows or columns."""
    sides = list(box)
    sides[axis], sides[axis + 2] = first, last
    return sides[0], sides[1], sides[2], sides[3]


def _corners(read: Read) -> list[int]:
    """Where the coordinates of a reference's corners begin."""
    return [at for r in read.references for at in range(r.at, r.at + 2 * r.cells, 2)]


def _slopes(piece: Piece, read: Read, side: int, axis: int) -> list[float]:
    """How the rows (side 0) or the columns of a reference's corners move along a side of the piece."""
    assert piece.block is not None
    return [float(piece.block.slopes[at + side, axis]) for at in _corners(read)]


def _computes(piece: Piece, read: Read) -> bool:
    """Whether an operand takes part in computing, and is no mere look-up."""
    assert piece.block is not None
    reference = read.reference
    if reference is None or LOOKING_UP & piece.block.template.functions or reference.compared:
        return False
    return reference.operand or reference.function in SUMMING


def _stays(pieces: Pieces, piece: Piece, slot: int) -> Finding | None:
    """An operand that stays on the first line of a table that has one for each line of the block; the
    others nothing reads."""
    read, block = piece.reads[slot], piece.block
    if block is None or not _computes(piece, read) or not block.dense:
        return None
    if MOVING & block.template.functions:
        return None
    for axis in (0, 1):
        lines, first = block.extents[axis], read.box[axis]
        if lines < 2 or read.box[axis + 2] != first or any(_slopes(piece, read, axis, axis)):
            continue
        table = pieces.table(read.sheet, read.box)
        if table is None or table is piece or table.shape[axis] != lines or table.box[axis] != first:
            continue
        half = all(
            pieces.forms.moves(int(block.sheet.formulas[block.places[0]]))[at + 1 - axis]
            for at in _corners(read)
        )
        beside = half and read.sheet is piece.sheet and first == block.box[axis]
        if block.flat and not (lines > 2 and (beside or 1 in table.shape) and piece.text != "§"):
            continue
        along = read.ranged and any(
            other.sheet is read.sheet and other.box[axis::2] == table.box[axis::2] and other is not read
            for other in piece.reads
        )
        rest = _lines(read.box, axis, first + 1, first + lines - 1)
        whole = _lines(table.box, axis, first + 1, first + lines - 1)
        unread = pieces.unread(read.sheet, rest)
        if not (along or unread or _is_added_again(pieces, piece, slot, table)):
            continue
        if not (along or beside or piece.product or pieces.unread(read.sheet, whole)):
            continue
        return finding(
            pieces,
            piece,
            "fixed",
            f"uses only {LINES[axis]} 1 of the {lines} of {table.shown(piece.sheet)} in every "
            f"{LINES[axis]}" + f"; nothing reads {written(rest, read.sheet, piece.sheet)}" * unread,
            f"If each {LINES[axis]} has its own, enter {proposed(pieces, piece, read, side=axis)}",
        )
    return None


def _is_added_again(pieces: Pieces, piece: Piece, slot: int, table: Piece) -> bool:
    """Whether a product adds a cell of a table that its factors are computed from, as a skip connection
    does."""
    if not piece.product or piece.reads[slot].ranged:
        return False
    others = (read for n, read in enumerate(piece.reads) if n != slot and read.ranged)
    return any(p is not piece and follows(p, table) for read in others for p in pieces.over(read))


def _copies_one_line(pieces: Pieces, piece: Piece) -> Finding | None:
    """A product each of whose rows, or columns, has the same formulas."""
    block = piece.block
    looks_up = block is not None and bool(LOOKING_UP & block.template.functions)
    if block is None or not (piece.product or looks_up) or len(block.places) < 3:
        return None
    if MOVING & block.template.functions or len(piece.reads) < 2:
        return None
    for axis in (0, 1):
        if block.extents[axis] < 2 or block.moving(axis).any():
            continue
        line, do = LINES[axis], f"Let the operand that should move with the {LINES[axis]} do so."
        for read in piece.reads:
            table = pieces.table(read.sheet, read.box)
            lines = block.extents[axis]
            if table is None or read.reference is None or read.shape[axis] > 1:
                continue
            if table.shape[axis] >= lines and table.box[axis] == read.box[axis]:
                do = f"Enter {proposed(pieces, piece, read, side=axis)}"
                break
        return finding(pieces, piece, "fixed", f"is the same in every {line}: no operand moves", do)
    return None


def _slides(pieces: Pieces, piece: Piece, slot: int) -> Finding | None:
    """A range that covers a whole table in the first cell of a block and then slides off it."""
    read, block = piece.reads[slot], piece.block
    if block is None or read.reference is None or read.reference.cells == 1 or not block.dense:
        return None
    ends = block.predicted(*block.box[:2]).reshape(1, -1)
    top, left, bottom, right = (int(side[0]) for side in rectangles_of(read.reference, ends))
    first: Box = (top, left, bottom, right)
    table = pieces.table(read.sheet, first)
    if table is None or table is piece:
        return None
    for side in (0, 1):
        if first[side] == first[side + 2] or first[side::2] != table.box[side::2]:
            continue
        for axis in (0, 1):
            if block.extents[axis] < 2 or any(abs(s) != 1 for s in _slopes(piece, read, side, axis)):
                continue
            return finding(
                pieces,
                piece,
                "sliding",
                f"slides from {written(first, read.sheet, piece.sheet)} out of its table",
                f"Enter {proposed(pieces, piece, read, side=side, moves=False)}",
            )
    return None


def _off(pieces: Pieces, piece: Piece, slot: int) -> Finding | None:
    """An operand that reads a table so many lines off: some of it it leaves out, and reads as many
    cells beside the table."""
    read, block = piece.reads[slot], piece.block
    if block is None or read.reference is None or piece.size < 2 or not block.dense:
        return None
    for axis in (0, 1):
        lines = read.shape[axis]
        if lines < 2:
            continue
        for table in pieces.over(read):
            if table is piece or table.shape[axis] != lines or table.size < 2:
                continue
            by = read.box[axis] - table.box[axis]
            low, high = read.box[1 - axis], read.box[3 - axis]
            if not 0 < abs(by) < lines or low < table.box[1 - axis] or high > table.box[3 - axis]:
                continue
            meant = _lines(read.box, axis, table.box[axis], table.box[axis + 2])
            if pieces.table(read.sheet, meant) is not table or follows(table, piece):
                continue
            if piece in pieces.over(read) or _starts_elsewhere(pieces, piece, slot, axis):
                continue
            if by > 0:
                left_out = _lines(meant, axis, meant[axis], read.box[axis] - 1)
                beside = _lines(meant, axis, meant[axis + 2] + 1, read.box[axis + 2])
            else:
                left_out = _lines(meant, axis, read.box[axis + 2] + 1, meant[axis + 2])
                beside = _lines(meant, axis, read.box[axis], meant[axis] - 1)
            if is_number(read.sheet, beside) and not pieces.unread(read.sheet, left_out):
                continue
            return finding(
                pieces,
                piece,
                "off",
                f"reads {read.shown(piece.sheet)}, {count(abs(by), LINES[axis])} beside "
                f"{written(meant, read.sheet, piece.sheet)}",
                f"Enter {proposed(pieces, piece, read, by=(0, -by) if axis else (-by, 0))}",
            )
    return None


def _starts_elsewhere(pieces: Pieces, piece: Piece, slot: int, axis: int) -> bool:
    """Whether the line beside a piece is computed as it is, but from another table: the first line of
    a recurrence, which reads its start where the others read the line before."""
    box = piece.box
    return any(
        other.text == piece.text
        and other.sheet is piece.sheet
        and other.box[1 - axis :: 2] == box[1 - axis :: 2]
        and (other.box[axis + 2] == box[axis] - 1 or other.box[axis] == box[axis + 2] + 1)
        and (
            other.reads[slot].sheet is not piece.reads[slot].sheet
            or abs(other.reads[slot].box[axis] - piece.reads[slot].box[axis]) > piece.shape[axis]
        )
        for other in pieces.pieces
    )


def kinds_of_operands(pieces: Pieces, piece: Piece, but: int = -1) -> list[str]:
    """How each operand of a piece is computed, "" for typed numbers, but for one of them."""
    tables = [
        pieces.table(read.sheet, read.box) for slot, read in enumerate(piece.reads) if slot != but
    ]
    return [table.text if table is not None else "" for table in tables]


def follows(piece: Piece, other: Piece) -> bool:
    """Whether a piece is computed from another."""
    seen, waiting = {other}, [other]
    while waiting:
        for user, _ in waiting.pop().users:
            if user is piece:
                return True
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return False


def _stops_short(pieces: Pieces, piece: Piece, slot: int) -> Finding | None:
    """A range that stops before its table does, where nothing else reads the rest, or others read the
    whole and none reads the rest alone."""
    read, block = piece.reads[slot], piece.block
    if block is None or read.reference is None or not _computes(piece, read):
        return None
    for axis in (0, 1):
        if read.shape[axis] < 2 or not read.ranged:
            continue
        if any(any(_slopes(piece, read, axis, side)) for side in (0, 1) if block.extents[side] > 1):
            continue  # a window
        table = pieces.table(read.sheet, read.box)
        if table is None or table is piece:
            continue
        before, after = read.box[axis] - table.box[axis], table.box[axis + 2] - read.box[axis + 2]
        if bool(before) == bool(after):
            continue
        rest = (
            _lines(read.box, axis, table.box[axis], read.box[axis] - 1)
            if before
            else _lines(read.box, axis, read.box[axis + 2] + 1, table.box[axis + 2])
        )
        unread = pieces.unread(read.sheet, rest)
        if not unread and not _others_read_all(pieces, piece, table, axis, read):
            continue
        if not piece.product and any(
            user is not piece and user.reads[at].box[axis::2] == read.box[axis::2]
            for user, at in table.users
        ):
            continue  # others leave out the same
        if (
            table.block is None
            and before
            and (unread or _counts(read.sheet, rest))
            and not piece.product
        ):
            continue  # years above the numbers, a number of each row
        if not unread and (piece.size < 2 or max(before, after) * 2 > table.shape[axis]):
            continue

        many = count(max(before, after), LINES[axis])
        do = "Include it, if it belongs to them."
        if len(read.references) == 1:
            ends = table.box[axis], table.box[axis + 2]
            do = f"If they belong to it, enter {proposed(pieces, piece, read, side=axis, ends=ends)}"
        return finding(
            pieces,
            piece,
            "short",
            f"leaves out {many}, {written(rest, read.sheet, piece.sheet)}, of "
            f"{table.shown(piece.sheet)}" + (", which nothing reads" if unread else ""),
            do,
        )
    return None


def _others_read_all(pieces: Pieces, piece: Piece, table: Piece, axis: int, own: Read) -> bool:
    """Whether other ranges go over all of a table, and none over the rest alone."""
    every = False
    for user, slot in table.users:
        read = user.reads[slot]
        if user is piece and read is own:
            continue
        if read.box[axis] > own.box[axis + 2] or read.box[axis + 2] < own.box[axis]:
            return False
        every = every or read.box[axis::2] == table.box[axis::2]
    return every


def _counts(sheet: SheetCells, box: Box) -> bool:
    """Whether typed numbers only count: years, numbers of rows."""
    steps = np.diff(sheet.numbers[sheet.find(keys_within(*box))])
    return 1 in extents(box) and bool(len(steps) and steps[0] != 0 and (steps == steps[0]).all())


def _unread(pieces: Pieces) -> Iterator[Finding]:
    """Tables that nothing reads while another of their kind is read in their place; attention weights,
    or what is computed from them, that nothing reads while what they are made of is multiplied."""
    done: set[Piece] = set()
    for like, table, box in _units(pieces):
        found = next(_read_instead(pieces, like, table, box), None)
        if found is not None and found[0] not in done:
            done.add(found[0])
            yield _instead(pieces, *found, table.sheet, box)
        elif found is None and table.product and (twin := _twin_in_use(pieces, like, table)):
            yield finding(
                pieces,
                table,
                "unused",
                f"is read by no formula, while {twin.shown(table.sheet)}, made alike, is",
                "Let the next step read it, or delete it.",
            )
    for piece in pieces.pieces:
        weights = shares(pieces, piece)
        summed = weights and all(u.text == "SUM(§:§)" and not u.users for u, _ in piece.users)
        if is_display(piece) or not (summed or pieces.unused(piece.sheet, piece.box)):
            continue
        if (passed := _passed_by(pieces, piece)) is not None:
            yield finding(
                pieces,
                piece,
                "unused",
                f"is read by no formula; {passed[0].shown(piece.sheet)} multiplies "
                f"{passed[1].shown(piece.sheet)}, from which it is computed",
                f"Multiply {'the attention weights' if weights else piece.shown()}.",
            )


def _units(pieces: Pieces) -> Iterator[tuple[list[Piece], Piece, Box]]:
    """Tables, and rows and columns of tables, that nothing reads, with the tables of their kind."""
    kinds: dict[tuple[object, ...], list[Piece]] = {}
    for piece in (*pieces.tables, *pieces.pieces):
        key = piece.text, piece.shape, tuple(read.shape for read in piece.reads)
        kinds.setdefault(key, []).append(piece)
    for like in kinds.values():
        for table in like if like[0].size > 1 or len(like) <= MOST_SINGLE else ():
            readers = pieces.readers(table.sheet, table.box)
            if readers.all() or len(readers) != table.size:
                continue
            if not readers.any():
                yield [t for t in like if t is not table], table, table.box
            elif table.block is None:
                counts = readers.reshape(table.shape)
                for axis in (0, 1):
                    lines = np.flatnonzero(counts.sum(axis=1 - axis) == 0) + table.box[axis]
                    for part in np.split(lines, np.flatnonzero(np.diff(lines) > 1) + 1):
                        if len(part) and (len(part) > 1 or table.shape[1 - axis] > 1):
                            yield like, table, _lines(table.box, axis, int(part[0]), int(part[-1]))


def _twin_in_use(pieces: Pieces, like: list[Piece], table: Piece) -> Piece | None:
    """A twin of an unread product that others read, if all are, and none comes after another."""
    own = kinds_of_operands(pieces, table)
    if not is_number(table.sheet, table.box):
        return None
    for twin in like:
        if kinds_of_operands(pieces, twin) != own:
            return None
        if pieces.unused(twin.sheet, twin.box) or follows(table, twin) or follows(twin, table):
            return None
    return like[0] if like else None


Instead = tuple[Piece, int, Piece | None]
"""A piece, the operand that reads what another does, and the piece that rightly reads it."""


def _read_instead(pieces: Pieces, like: list[Piece], table: Piece, box: Box) -> Iterator[Instead]:
    """What reads twice a table of this shape and kind that should be read once: one formula in two
    operands, or two blocks made alike."""
    found: list[Instead] = []
    for other in like:
        by_place: dict[Box, list[tuple[Piece, int]]] = {}
        for user, slot in other.users:
            read = user.reads[slot]
            if is_display(user) or user is table:
                continue
            if extents(read.box) == extents(box):
                by_place.setdefault(read.box, []).append((user, slot))
        for users in by_place.values():
            for n, (user, slot) in enumerate(users):
                for model, model_slot in users[n + 1 :]:
                    whole = box == table.box or not (user.product and user.reads[slot].ranged)
                    if (
                        user is model
                        and extents(box) != (1, 1)
                        and slot != model_slot
                        and whole
                        and _alike(user, slot, model_slot)
                    ):
                        found += [(user, slot, None), (user, model_slot, None)]
                    elif user is not model and slot == model_slot:
                        for one, two in ((user, model), (model, user)):
                            far = _as_far(pieces, (table.sheet.name, box), one, two, slot)
                            if _is_pair(pieces, one, two, slot, far, extents(box) == (1, 1)):
                                found.append((one, slot, two))
    order = {name: number for number, name in enumerate(pieces.book.sheets)}

    def out_of_order(one: Instead) -> bool:
        """Of two, the later one has to read the later table."""
        user, slot, model = one
        read = user.reads[slot]
        later = (order[table.sheet.name], box) > (order[read.sheet.name], read.box)
        if model is None:
            return later != (slot == max(s for s, r in enumerate(user.reads) if r.place == read.place))
        return later != ((order[user.sheet.name], user.box) > (order[model.sheet.name], model.box))

    found = [one for one in found if not follows(table, one[0])]
    yield from sorted(found, key=lambda one: (one[2] is not None, out_of_order(one)))


def _alike(piece: Piece, slot: int, other: int) -> bool:
    """Whether two operands of a formula play the same part, and it does not look up or count."""
    functions = piece.block.template.functions if piece.block else frozenset()
    parts = [[(r.function, r.cells) for r in piece.reads[k].references[:1]] for k in (slot, other)]
    return parts[0] == parts[1] and not LOOKING_UP & functions and not any("IF" in f for f in functions)


def _as_far(pieces: Pieces, place: tuple[str, Box], piece: Piece, other: Piece, slot: int) -> bool:
    """Whether a place is as far from what an operand reads as two pieces, or two other operands of
    theirs, are from each other."""
    order = [*pieces.book.sheets]

    def apart(a: tuple[str, Box], b: tuple[str, Box]) -> tuple[int, int, int]:
        return order.index(a[0]) - order.index(b[0]), a[1][0] - b[1][0], a[1][1] - b[1][1]

    far = apart(place, piece.reads[slot].place)
    pairs = [(piece.place, other.place)]
    pairs += [(a.place, b.place) for n, (a, b) in enumerate(zip(piece.reads, other.reads)) if n != slot]
    return any(apart(a, b) == far for a, b in pairs)


def _is_pair(pieces: Pieces, piece: Piece, other: Piece, slot: int, far: bool, single: bool) -> bool:
    """Whether two pieces are made alike, and each of their kind has an operand of its own but they.

    Args:
        far: whether the place that one should read is as far as they are apart; single: whether it is
            a single cell, which must be.
    """
    if piece.text != other.text or piece.shape != other.shape or len(piece.reads) != len(other.reads):
        return False
    shapes = [read.shape for read in piece.reads]
    twins = [
        p
        for p in pieces.pieces
        if p.text == piece.text and p.shape == piece.shape and [r.shape for r in p.reads] == shapes
    ]
    places = [p.reads[slot].place for p in twins]
    if places.count(piece.reads[slot].place) > 2 or len(set(places)) != len(places) - 1:
        return False
    others = [s for s in range(len(shapes)) if s != slot]
    apart = any(piece.reads[s].place != other.reads[s].place for s in others)
    return far or (not single and (len(twins) > 2 or apart))


def _instead(
    pieces: Pieces, piece: Piece, slot: int, model: Piece | None, sheet: SheetCells, box: Box
) -> Finding:
    """The finding about an operand that reads what is another's."""
    name = written(box, sheet, piece.sheet)
    do = replaced(pieces, piece, slot, sheet, box)
    reads = piece.reads[slot].shown(piece.sheet)
    what = (
        f"reads {reads} twice"
        if model is None
        else f"reads {reads}, as {model.shown(piece.sheet)} does"
    )
    return finding(pieces, piece, "twin", f"{what}; nothing reads {name}", do)


def replaced(pieces: Pieces, piece: Piece, slot: int, sheet: SheetCells, box: Box) -> str:
    """What to do where an operand is to read another place."""
    read = piece.reads[slot]
    if read.reference is None or read.sheet is not sheet:
        return f"Let it read {written(box, sheet, piece.sheet)}."
    by = box[0] - read.box[0], box[1] - read.box[1]
    return f"Enter {proposed(pieces, piece, read, by=by)}"


def shares(pieces: Pieces, piece: Piece) -> bool:
    """Whether a piece holds exponentials divided by their sum."""
    if piece.text.startswith("EXP(") and "/SUM" in piece.text:
        return True
    if not piece.text.startswith("§/") or not piece.reads:
        return False
    return any(other.text.startswith("EXP(") for other in pieces.over(piece.reads[0]))


def _passed_by(pieces: Pieces, piece: Piece) -> tuple[Piece, Piece] | None:
    """A product that reads one of the tables from which attention weights, or what a function makes of
    a table, are computed cell by cell."""
    chain, at = {piece}, piece
    made = bool(_ACTIVATION.match(piece.text)) or shares(pieces, piece)
    while at.reads:
        sources = [
            p for p in pieces.over(at.reads[0]) if p.block is not None and p.shape == piece.shape
        ]
        if len(sources) != 1 or sources[0] in chain:
            return None
        at = sources[0]
        for user, slot in at.users if made else ():
            if user.product and user.reads[slot].place == at.place and user not in chain:
                return user, at
        chain.add(at)
        made = made or shares(pieces, at)
    return None
