"""Coverage: part of a table is read by formulas and the rest of it by none.

A range that stops before its table does, an operand that stays on the first line of a table with a line
for each of the block's, one that slides out of its table or reads it one line off, and a table that
nothing reads while another of its size is read in its place.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, combinations

import numpy as np

from attn_xl.checking.blocks.block_cells import copies
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.blocks.blocks import FormulaBlock
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

from .blank_operands import ADDING
from .shares import summed

MOST_SINGLE = 200  # typed numbers that stand alone; with more, they are data
LINES = ("row", "column")
SUMMING = ADDING | {"COUNT", "COUNTA", "LARGE", "SMALL", "RANK", ""}
MOVING = names("ROW COLUMN ROWS COLUMNS CELL INDIRECT OFFSET SEQUENCE RAND RANDBETWEEN")
"""Functions by which cells with the same operands differ."""
LOOKING_UP = names("VLOOKUP HLOOKUP XLOOKUP LOOKUP INDEX MATCH XMATCH")

_ACTIVATION = re.compile(r"(?:MAX|TANH|1/\(1\+EXP|IF|RELU|SIGMOID|§\*NORMSDIST)\(")


class Operand:
    """One operand of a piece.

    Attributes:
        block: the formulas of the piece; read: what the operand goes over; corners: where the
            coordinates of its references' corners begin.
    """

    def __init__(self, pieces: Pieces, piece: Piece, slot: int) -> None:
        self.pieces, self.piece, self.slot = pieces, piece, slot
        self.block, self.read = block_of(piece), piece.reads[slot]
        self.corners = [at for r in self.read.references for at in range(r.at, r.at + 2 * r.cells, 2)]

    @cached_property
    def table(self) -> Piece | None:
        """The other piece, or the typed table, that has all of its cells."""
        table = self.pieces.table(self.read.sheet, self.read.box)
        return None if table is self.piece else table

    def slopes(self, side: int, axis: int) -> list[float]:
        """How its rows (side 0) or columns move along a side of the piece."""
        return [float(self.block.slopes[at + side, axis]) for at in self.corners]

    def computes(self) -> bool:
        """Whether it takes part in computing, and is no mere look-up."""
        reference = self.read.reference
        if reference is None or LOOKING_UP & self.block.template.functions or reference.compared:
            return False
        return reference.operand or reference.function in SUMMING

    def starts(self, axis: int) -> bool:
        """Whether it is on the first line of a table that has at least as many as the block."""
        table, box = self.table, self.read.box
        return (
            table is not None
            and box[axis] == box[axis + 2] == table.box[axis]
            and table.shape[axis] >= self.block.extents[axis]
        )

    def written(self, box: Box) -> str:
        """A box of the sheet that it is on, as a person would write it in the piece's formulas."""
        return written(box, self.read.sheet, self.piece.sheet)

    def proposed(self, box: Box | None = None, *, side: int | None = None, moves: bool = True) -> str:
        """The first formula of the piece with another operand, and how to enter it.

        Args:
            box: what the operand should go over in all cells of the piece, unless that is right.
            side: the coordinate, row 0 or column 1, that `moves` when it is copied, or does not.
        """
        block, forms, read = self.block, self.pieces.forms, self.read
        formula = int(block.sheet.formulas[block.places[0]])
        values, notation = block.predicted(*block.box[:2]).copy(), list(forms.moves(formula))
        shifts = np.subtract(box or read.box, read.box).reshape(2, 2)
        for number, at in enumerate(self.corners):
            values[at : at + 2] += shifts[number % read.references[0].cells]
            if side is not None:
                notation[at + side] = (1, 2)[side] * moves
        how = " and copy it" if copies(forms, block) else ", and the like in its other cells"
        return f"={forms.written(formula, values, notation)}{how * (len(block.places) > 1)}."

    def finding(self, kind: str, what: str, do: str) -> Finding:
        return finding(self.pieces, self.piece, kind, what, do)


def block_of(piece: Piece) -> FormulaBlock:
    """The formulas of a piece that has some."""
    assert piece.block is not None
    return piece.block


def uncovered(pieces: Pieces) -> Iterator[Finding]:
    """The findings about tables that are read in part only."""
    for piece in pieces.pieces:
        operands = [Operand(pieces, piece, slot) for slot in range(len(piece.reads))]
        found = (
            rule(operand, axis)
            for rule in (_stays, _slides, _off, _stops_short)
            for operand in operands
            for axis in (0, 1)
        )
        first = next(filter(None, found), None) or _copies_one_line(operands)
        if first:
            yield first
    yield from _unread(pieces)


def text_of(pieces: Pieces, piece: Piece) -> str:
    """The first formula of a piece as it is typed."""
    block = block_of(piece)
    formula = int(block.sheet.formulas[block.places[0]])
    return pieces.forms.written(formula, block.predicted(*block.box[:2]))


def finding(pieces: Pieces, piece: Piece, kind: str, what: str, do: str) -> Finding:
    """A finding about the whole of a piece."""
    many, dots = (f" ({count(piece.size, 'cell')})", ", ...") if piece.size > 1 else ("", "")
    what = f"={text_of(pieces, piece)}{dots} {what}{many}"
    return Finding(piece.sheet.name, piece.shown(), kind, what, do)


def _lines(box: Box, axis: int, first: int, last: int) -> Box:
    """A part of a box: some of its rows or columns."""
    sides = list(box)
    sides[axis], sides[axis + 2] = first, last
    return sides[0], sides[1], sides[2], sides[3]


def _beyond(box: Box, other: Box, axis: int) -> Box:
    """The rows or columns of a box before those of another that begins later, or after the others."""
    if other[axis] > box[axis]:
        return _lines(box, axis, box[axis], other[axis] - 1)
    return _lines(box, axis, other[axis + 2] + 1, box[axis + 2])


def _stays(operand: Operand, axis: int) -> Finding | None:
    """An operand that stays on the first line of a table that has one for each line of the block; the
    others nothing reads."""
    pieces, piece, block, read = operand.pieces, operand.piece, operand.block, operand.read
    table, lines, first = operand.table, block.extents[axis], read.box[axis]
    if lines < 2 or any(operand.slopes(axis, axis)) or not operand.computes() or not block.dense:
        return None
    if MOVING & block.template.functions or not operand.starts(axis):
        return None
    if table is None or table.shape[axis] != lines:
        return None
    moves = pieces.forms.moves(int(block.sheet.formulas[block.places[0]]))
    half = all(moves[at + 1 - axis] for at in operand.corners)
    beside = half and read.sheet is piece.sheet and first == block.box[axis]
    if block.flat and not (lines > 2 and (beside or 1 in table.shape) and piece.text != "§"):
        return None
    along = read.ranged and any(
        other.sheet is read.sheet and other.box[axis::2] == table.box[axis::2] and other is not read
        for other in piece.reads
    )
    # A skip connection adds a cell of a table that the factors are computed from.
    sources = (p for other in piece.reads for p in pieces.over(other))
    added_again = piece.product and not read.ranged and any(p in table.later for p in sources)
    rest = _lines(read.box, axis, first + 1, first + lines - 1)
    whole = _lines(table.box, axis, first + 1, first + lines - 1)
    unread = pieces.unread(read.sheet, rest)
    if not (along or unread or added_again):
        return None
    if not (along or beside or piece.product or pieces.unread(read.sheet, whole)):
        return None
    what = (
        f"uses only {LINES[axis]} 1 of the {lines} of {table.shown(piece.sheet)} in every "
        f"{LINES[axis]}" + f"; nothing reads {operand.written(rest)}" * unread
    )
    do = f"If each {LINES[axis]} has its own, enter {operand.proposed(side=axis)}"
    return operand.finding("fixed", what, do)


def _copies_one_line(operands: list[Operand]) -> Finding | None:
    """A product each of whose rows, or columns, has the same formulas."""
    if len(operands) < 2:
        return None
    piece, block = operands[0].piece, operands[0].block
    functions = block.template.functions
    if not (piece.product or LOOKING_UP & functions) or len(block.places) < 3 or MOVING & functions:
        return None
    for axis, line in enumerate(LINES):
        if block.extents[axis] > 1 and not block.moving(axis).any():
            do = f"Let the operand that should move with the {line} do so."
            starts = (
                f"Enter {o.proposed(side=axis)}" for o in operands if o.starts(axis) and o.corners
            )
            what = f"is the same in every {line}: no operand moves"
            return operands[0].finding("fixed", what, next(starts, do))
    return None


def _slides(operand: Operand, side: int) -> Finding | None:
    """A range that covers a whole table in the first cell of a block and then slides off it."""
    piece, block, read = operand.piece, operand.block, operand.read
    if read.reference is None or read.reference.cells == 1 or not block.dense:
        return None
    ends = block.predicted(*block.box[:2]).reshape(1, -1)
    top, left, bottom, right = (int(place[0]) for place in rectangles_of(read.reference, ends))
    first: Box = (top, left, bottom, right)
    table = operand.pieces.table(read.sheet, first)
    if table is None or table is piece:
        return None
    if first[side] == first[side + 2] or first[side::2] != table.box[side::2]:
        return None
    for axis in (0, 1):
        if block.extents[axis] > 1 and all(abs(s) == 1 for s in operand.slopes(side, axis)):
            what = f"slides from {operand.written(first)} out of its table"
            return operand.finding("sliding", what, f"Enter {operand.proposed(side=side, moves=False)}")
    return None


def _off(operand: Operand, axis: int) -> Finding | None:
    """An operand that reads a table so many lines off: some of it it leaves out, and reads as many
    cells beside the table."""
    pieces, piece, read, lines = operand.pieces, operand.piece, operand.read, operand.read.shape[axis]
    if read.reference is None or piece.size < 2 or not operand.block.dense or lines < 2:
        return None
    tables = pieces.over(read)
    for table in tables if piece not in tables else ():
        by = read.box[axis] - table.box[axis]
        meant = _lines(read.box, axis, table.box[axis], table.box[axis + 2])
        if table.shape[axis] != lines or table.size < 2 or not 0 < abs(by) < lines:
            continue
        if pieces.table(read.sheet, meant) is not table or table in piece.later:
            continue
        if _starts_elsewhere(operand, axis, table):
            continue
        left_out, beside = _beyond(meant, read.box, axis), _beyond(read.box, meant, axis)
        if is_number(read.sheet, beside) and not pieces.unread(read.sheet, left_out):
            continue
        what = f"reads {operand.written(read.box)}, {count(abs(by), LINES[axis])} beside "
        do = f"Enter {operand.proposed(meant)}"
        return operand.finding("off", what + operand.written(meant), do)
    return None


def _starts_elsewhere(operand: Operand, axis: int, table: Piece) -> bool:
    """Whether the line beside a piece is computed as it is, but not from a table: the first line of a
    recurrence, which reads its start where the others read the line before."""
    piece, slot, pieces = operand.piece, operand.slot, operand.pieces
    return any(
        other.text == piece.text != "§"
        and other.sheet is piece.sheet
        and 1 in (piece.box[axis] - other.box[axis + 2], other.box[axis] - piece.box[axis + 2])
        and table not in pieces.over(other.reads[slot])
        for other in pieces.pieces
    )


def _stops_short(operand: Operand, axis: int) -> Finding | None:
    """A range that stops before its table does, where nothing else reads the rest, or others read the
    whole and none reads the rest alone."""
    pieces, piece, read, table = operand.pieces, operand.piece, operand.read, operand.table
    if read.shape[axis] < 2 or not read.ranged or not operand.computes() or table is None:
        return None
    if any(any(operand.slopes(axis, side)) for side in (0, 1) if operand.block.extents[side] > 1):
        return None  # a window
    before, after = read.box[axis] - table.box[axis], table.box[axis + 2] - read.box[axis + 2]
    if bool(before) == bool(after):
        return None
    whole = _lines(read.box, axis, table.box[axis], table.box[axis + 2])
    rest = _beyond(whole, read.box, axis)
    unread = pieces.unread(read.sheet, rest)
    if not unread and not _others_read_all(operand, table, axis):
        return None
    total = piece.sheet is read.sheet and piece.box[1 - axis :: 2] == read.box[1 - axis :: 2]
    total = total and piece.box[axis] > table.box[axis + 2] > read.box[axis + 2]  # which it omits
    if not unread and (not (piece.size > 1 or total) or max(before, after) * 2 > table.shape[axis]):
        return None
    others = (user.reads[at].box[axis::2] for user, at in table.users if user is not piece)
    if not piece.product and read.box[axis::2] in others:
        return None  # others leave out the same
    above = table.block is None and before and not piece.product
    if above and (unread or _counts(read.sheet, rest)):
        return None  # years above the numbers, a number of each row
    many = count(max(before, after), LINES[axis])
    do = "Include it, if it belongs to them."
    if len(read.references) == 1:
        do = f"If they belong to it, enter {operand.proposed(whole)}"
    what = f"leaves out {many}, {operand.written(rest)}, of {table.shown(piece.sheet)}"
    return operand.finding("short", what + ", which nothing reads" * unread, do)


def _others_read_all(operand: Operand, table: Piece, axis: int) -> bool:
    """Whether other ranges go over all of a table, and none over the rest alone."""
    own = operand.read.box
    boxes = [
        user.reads[slot].box
        for user, slot in table.users
        if (user, slot) != (operand.piece, operand.slot)
    ]
    return any(box[axis::2] == table.box[axis::2] for box in boxes) and not any(
        box[axis] > own[axis + 2] or box[axis + 2] < own[axis] for box in boxes
    )


def _counts(sheet: SheetCells, box: Box) -> bool:
    """Whether typed numbers only count: years, numbers of rows."""
    steps = np.diff(sheet.numbers[sheet.find(keys_within(*box))])
    return len(set(steps)) == 1 and bool(steps[0] != 0)


# Tables that nothing reads


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
            what = f"is read by no formula, while {twin.shown(table.sheet)}, made alike, is"
            yield finding(pieces, table, "unused", what, "Let the next step read it, or delete it.")
    for piece in pieces.pieces:
        weights = summed(pieces, piece) is not None
        totalled = weights and all(u.text == "SUM(§:§)" and not u.users for u, _ in piece.users)
        if is_display(piece) or not (totalled or pieces.unused(piece.sheet, piece.box)):
            continue
        if (passed := _passed_by(pieces, piece)) is not None:
            user, source = (other.shown(piece.sheet) for other in passed)
            what = f"is read by no formula; {user} multiplies {source}, from which it is computed"
            do = f"Multiply {'the attention weights' if weights else piece.shown()}."
            yield finding(pieces, piece, "unused", what, do)


def kind_of(piece: Piece) -> tuple[object, ...]:
    """What pieces made alike have in common: their formula, their shape and those of their operands."""
    return piece.text, piece.shape, tuple(read.shape for read in piece.reads)


def _units(pieces: Pieces) -> Iterator[tuple[list[Piece], Piece, Box]]:
    """Tables, and rows and columns of tables, that nothing reads, with the tables of their kind."""
    kinds: dict[tuple[object, ...], list[Piece]] = defaultdict(list)
    for piece in (*pieces.tables, *pieces.pieces):
        kinds[kind_of(piece)].append(piece)
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
                            box = _lines(table.box, axis, int(part[0]), int(part[-1]))
                            if max(extents(box)) < 3 or not _counts(table.sheet, box):
                                yield like, table, box


def kinds_of_operands(pieces: Pieces, piece: Piece, but: int = -1) -> list[str]:
    """How each operand of a piece is computed, "" for typed numbers, but for one of them."""
    tables = [
        pieces.table(read.sheet, read.box) for slot, read in enumerate(piece.reads) if slot != but
    ]
    return [table.text if table is not None else "" for table in tables]


def _twin_in_use(pieces: Pieces, like: list[Piece], table: Piece) -> Piece | None:
    """A twin of an unread product that others read, if all are, and none comes after another."""
    own = kinds_of_operands(pieces, table)
    if not is_number(table.sheet, table.box):
        return None
    for twin in like:
        if kinds_of_operands(pieces, twin) != own or pieces.unused(twin.sheet, twin.box):
            return None
        if table in twin.later or twin in table.later:
            return None
    return like[0] if like else None


Instead = tuple[Piece, int, Piece | None]
"""A piece, the operand that reads what another does, and the piece that rightly reads it."""


def _read_instead(pieces: Pieces, like: list[Piece], table: Piece, box: Box) -> Iterator[Instead]:
    """What reads twice a table of this shape and kind that should be read once: one formula in two
    operands, or two blocks made alike."""
    found: list[Instead] = []
    by_place: dict[tuple[str, Box], list[tuple[Piece, int]]] = defaultdict(list)
    for user, slot in {use: None for other in like for use in other.users}:
        read = user.reads[slot]
        if extents(read.box) == extents(box) and user is not table and not is_display(user):
            by_place[read.place].append((user, slot))
    for (user, slot), (model, at) in chain.from_iterable(combinations(u, 2) for u in by_place.values()):
        if user is not model and slot == at:
            pairs = ((user, model), (model, user))
            found += [(a, slot, b) for a, b in pairs if _is_pair(pieces, a, b, slot, table.sheet, box)]
        elif user is model and _alike(user, slot, at, box == table.box):
            found += [(user, slot, None), (user, at, None)]

    def out_of_order(one: Instead) -> bool:
        """Of two, the later one has to read the later table."""
        user, slot, model = one
        read = user.reads[slot]
        later = pieces.order(table.sheet, box) > pieces.order(read.sheet, read.box)
        if model is None:
            return later != (slot == max(s for s, r in enumerate(user.reads) if r.place == read.place))
        return later != (pieces.order(user.sheet, user.box) > pieces.order(model.sheet, model.box))

    found = [one for one in found if table not in one[0].later]
    yield from sorted(found, key=lambda one: (one[2] is not None, out_of_order(one)))


def _alike(piece: Piece, slot: int, other: int, whole: bool) -> bool:
    """Whether two operands of a formula play the same part, over a whole table or cell by cell, and it
    does not look up or count."""
    functions, read = block_of(piece).template.functions, piece.reads[slot]
    if LOOKING_UP & functions or any("IF" in f for f in functions) or read.shape == (1, 1):
        return False
    parts = [[(r.function, r.cells) for r in piece.reads[k].references[:1]] for k in (slot, other)]
    return parts[0] == parts[1] and (whole or not (piece.product and read.ranged))


def _is_pair(
    pieces: Pieces, piece: Piece, other: Piece, slot: int, sheet: SheetCells, box: Box
) -> bool:
    """Whether two pieces are made alike, each of their kind has an operand of its own but they, and the
    box that one should read is as far from what it reads as they, or two other operands of theirs, are
    from each other; a box of several cells need not be, if they differ otherwise or are several."""
    kind = kind_of(piece)
    if kind != kind_of(other):
        return False
    twins = [twin for twin in pieces.pieces if kind_of(twin) == kind]
    if len({twin.reads[slot].place for twin in twins}) != len(twins) - 1:
        return False

    def apart(a: Piece | Read, b: Piece | Read) -> tuple[int, int, int]:
        (one, start), (another, end) = (pieces.order(place.sheet, place.box) for place in (a, b))
        return one - another, start[0] - end[0], start[1] - end[1]

    pairs = [(a, b) for n, (a, b) in enumerate(zip(piece.reads, other.reads)) if n != slot]
    distances = {apart(piece, other), *(apart(a, b) for a, b in pairs)}
    if apart(Read(sheet, box), piece.reads[slot]) in distances:
        return True
    return extents(box) != (1, 1)


def _instead(
    pieces: Pieces, piece: Piece, slot: int, model: Piece | None, sheet: SheetCells, box: Box
) -> Finding:
    """The finding about an operand that reads what is another's."""
    again = " twice" if model is None else f", as {model.shown(piece.sheet)} does"
    read, left = piece.reads[slot].shown(piece.sheet), written(box, sheet, piece.sheet)
    what = f"reads {read}{again}; nothing reads {left}"
    return finding(pieces, piece, "twin", what, replaced(pieces, piece, slot, sheet, box))


def replaced(pieces: Pieces, piece: Piece, slot: int, sheet: SheetCells, box: Box) -> str:
    """What to do where an operand is to read another place."""
    read = piece.reads[slot]
    if read.reference is None or read.sheet is not sheet:
        return f"Let it read {written(box, sheet, piece.sheet)}."
    return f"Enter {Operand(pieces, piece, slot).proposed(box)}"


def _passed_by(pieces: Pieces, piece: Piece) -> tuple[Piece, Piece] | None:
    """A product that reads one of the tables from which attention weights, or what a function makes of
    a table, are computed cell by cell."""
    path, at = {piece}, piece
    made = bool(_ACTIVATION.match(piece.text)) or summed(pieces, piece) is not None
    while at.reads:
        sources = [
            p for p in pieces.over(at.reads[0]) if p.block is not None and p.shape == piece.shape
        ]
        if len(sources) != 1 or sources[0] in path:
            return None
        at = sources[0]
        for user, slot in at.users if made else ():
            if user.product and user.reads[slot].place == at.place and user not in path:
                return user, at
        path.add(at)
        made = made or summed(pieces, at) is not None
    return None
