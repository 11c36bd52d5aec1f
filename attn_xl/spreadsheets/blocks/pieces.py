"""Pieces and what they read: a block of formulas, or an array formula with the cells it fills, is one
piece; its operands go over rectangles, which are other pieces or tables of typed numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from attn_xl.spreadsheets.addresses import address, parse_area, quoted
from attn_xl.spreadsheets.formulas import NUMBER, WIDTH, FormulaBook, Ints, SheetCells

from .blocks import FormulaBlock, blocks, groups
from .references import Lookup, rectangles_of, uses
from .templates import Forms, Reference

Box = tuple[int, int, int, int]
"""The first row and column, the last row and column."""
NO_NUMBER = -1
LARGEST = 8_000_000  # cells of a grid of rows and columns in use; larger sheets are left out
UNKNOWN = frozenset(["OFFSET", "INDIRECT"])
"""Functions that may read any cell."""


@dataclass(eq=False)
class Read:
    """The rectangle that one operand goes over in all cells of a piece.

    Attributes:
        place: (sheet, box), which identifies it; references: none for a defined name; several for the
            factors of a product written term by term.
    """

    sheet: SheetCells
    box: Box
    references: tuple[Reference, ...] = ()

    @property
    def reference(self) -> Reference | None:
        return self.references[0] if self.references else None

    @property
    def place(self) -> tuple[str, Box]:
        return self.sheet.name, self.box

    @property
    def shape(self) -> tuple[int, int]:
        return extents(self.box)

    def shown(self, frm: SheetCells | None = None) -> str:
        """As a person would write it."""
        return written(self.box, self.sheet, frm)


@dataclass(eq=False)
class Piece:
    """A block of formulas or an array formula; or, without a block, a table of typed numbers.

    Attributes:
        text: the formula without its coordinates, its numbers, names of sheets and defined names.
    """

    sheet: SheetCells
    box: Box
    block: FormulaBlock | None = None
    text: str = ""
    numbers: tuple[float, ...] = ()
    reads: list[Read] = field(default_factory=list)
    users: list[tuple[Piece, int]] = field(default_factory=list)
    number: int = 0

    @property
    def place(self) -> tuple[str, Box]:
        return self.sheet.name, self.box

    @property
    def shape(self) -> tuple[int, int]:
        return extents(self.box)

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def product(self) -> bool:
        return self.block is not None and self.block.template.is_product

    def shown(self, frm: SheetCells | None = None) -> str:
        return written(self.box, self.sheet, frm)

    @cached_property
    def later(self) -> frozenset[Piece]:
        """What is computed from it, directly or through others."""
        found: set[Piece] = set()
        waiting: list[Piece] = [self]
        while waiting:
            for user, _ in waiting.pop().users:
                if user not in found:
                    found.add(user)
                    waiting.append(user)
        return frozenset(found)


_COPY = re.compile(r'§(:§)?|IF\([^,]*,"",§\)')
"""A cell repeated as it is, or as a blank until something is entered."""


def is_display(piece: Piece) -> bool:
    """Whether a piece is a copy that nothing computes with, or counts rows or columns."""
    if piece.text in ("COLUMNS(§:§)", "ROWS(§:§)"):
        return True
    return _COPY.fullmatch(piece.text) is not None and all(
        is_display(user) for user, _ in piece.users if user is not piece
    )


def extents(box: Box) -> tuple[int, int]:
    """How many rows and columns a box has."""
    return box[2] - box[0] + 1, box[3] - box[1] + 1


def written(box: Box, sheet: SheetCells, frm: SheetCells | None) -> str:
    """A box as a person would write it in a formula on the sheet `frm`."""
    first, last = address(box[0], box[1]), address(box[2], box[3])
    name = "" if frm is None or frm is sheet else f"{quoted(sheet.name)}!"
    return name + (first if first == last else f"{first}:{last}")


class Pieces:
    """All pieces of a book and its tables of typed numbers, with what reads what.

    Attributes:
        pieces: those with formulas; tables: the typed ones, rectangles of two numbers or more.
        opaque: whether some formula may read any cell (INDIRECT, OFFSET).

    Args:
        readers: whether to find what reads each piece.
    """

    def __init__(
        self, book: FormulaBook, forms: Forms, lookup: Lookup, *, readers: bool = True
    ) -> None:
        self.book, self.forms, self.lookup = book, forms, lookup
        self.blocks = [block for sheet in book.sheets.values() for block in blocks(sheet, forms)]
        self.opaque = any(not UNKNOWN.isdisjoint(t.functions) for t in forms.templates)
        self.pieces = [self._piece(block) for block in self.blocks]
        self._grids: dict[str, _Grid] = {}
        for sheet in book.sheets.values():
            self._grids[sheet.name] = _Grid(sheet)
        for number, piece in enumerate(self.pieces):
            piece.number = number
        self.tables = self._typed()
        for piece in sorted(
            self.pieces, key=lambda piece: piece.size
        ):  # the larger has odd cells in it
            self._grids[piece.sheet.name].own(piece)
        for piece in self.pieces if readers else ():
            for slot, read in enumerate(piece.reads):
                for other in self.over(read):
                    other.users.append((piece, slot))
        if readers:
            self._mark()

    def _piece(self, block: FormulaBlock) -> Piece:
        box = block.box
        formula = self.book.formulas[int(block.sheet.formulas[block.places[0]])]
        corners = {(row, column) for row in box[::2] for column in box[1::2]}
        ends = np.array([block.predicted(*corner) for corner in sorted(corners)])
        box = box[0], box[1], box[2] + formula.rows - 1, box[3] + formula.columns - 1
        piece = Piece(block.sheet, box, block)
        template = block.template
        piece.numbers = tuple(ends[0, [role == "n" for role in template.roles]].tolist())
        text = re.sub(r"(?:_xlfn\.)?ANCHORARRAY\(§\)", "§:§", template.general)
        for reference in template.references:
            sheet = self.lookup.sheet(reference.sheet, block.sheet)
            if sheet is not None:
                top, left, bottom, right = rectangles_of(reference, ends)
                reach = int(top.min()), int(left.min()), int(bottom.max()), int(right.max())
                piece.reads.append(Read(sheet, self.spilled(sheet, reach, reference), (reference,)))
        if template.alone and template.is_product:
            piece.reads = _factors(piece.reads)
        for name in template.names:
            area = self.area(name, block.sheet)
            if area is not None:
                sheet, box = area
                piece.reads.append(Read(sheet, box))
                mark = "§:§" if extents(box) != (1, 1) else "§"
                text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.(])", mark, text)
        piece.text = text.replace(" ", "")
        return piece

    def spilled(self, sheet: SheetCells, box: Box, reference: Reference) -> Box:
        """The range of `A1#`."""
        if reference.function != "ANCHORARRAY" or reference.cells != 1:
            return box
        (place,) = sheet.find(np.array([box[0] * WIDTH + box[1] - 1])).tolist()
        if place < 0 or sheet.formulas[place] < 0:
            return box
        formula = self.book.formulas[int(sheet.formulas[place])]
        return box[0], box[1], box[0] + formula.rows - 1, box[1] + formula.columns - 1

    def area(self, name: str, own: SheetCells) -> tuple[SheetCells, Box] | None:
        """The sheet and the box of a defined name."""
        names = self._names
        area = names.get(f"{own.name}!{name}".casefold(), names.get(name.casefold()))
        sheet = self.lookup.sheet(area[0], own) if area else None
        return (sheet, area[1]) if area and sheet is not None else None

    @cached_property
    def _names(self) -> dict[str, tuple[str, Box]]:
        found = {}
        for name, text in self.book.names.items():
            area = parse_area(text)
            if area is not None and "[" not in (area[0] or ""):
                found[name.casefold()] = area[0] or "", area[1]
        return found

    def _typed(self) -> list[Piece]:
        """Rectangles of adjacent typed numbers."""
        tables: list[Piece] = []
        for sheet in self.book.sheets.values():
            grid = self._grids[sheet.name]
            typed = (sheet.kinds == NUMBER) & (sheet.formulas < 0) & (sheet.spilled < 0)
            for keys in groups(sheet.keys[typed]):
                rows, columns = keys // WIDTH, keys % WIDTH + 1
                box = int(rows.min()), int(columns.min()), int(rows.max()), int(columns.max())
                table = Piece(sheet, box, number=len(self.pieces) + len(tables))
                tables.append(table)
                grid.own_cells(keys, table.number)
        return tables

    def _mark(self) -> None:
        """Count what reads each cell: the pieces, and formulas that no piece has."""
        boxes: dict[str, list[Box]] = defaultdict(list)
        shown: dict[str, list[Box]] = defaultdict(list)
        inside: dict[str, list[Ints]] = defaultdict(list)
        for piece in self.pieces:
            assert piece.block is not None
            inside[piece.sheet.name].append(piece.block.places)
            for read in piece.reads:
                if read.reference is not None and read.reference.function in ("ROW", "COLUMN"):
                    continue  # only its place counts
                (shown if is_display(piece) else boxes)[read.sheet.name].append(read.box)
        known = {name: np.concatenate(places) for name, places in inside.items()}
        if sum(map(len, known.values())) < sum(
            int((sheet.formulas >= 0).sum()) for sheet in self.book.sheets.values()
        ):
            for sheet, places, template, values in uses(self.book, self.forms):
                left = ~np.isin(places, known.get(sheet.name, np.empty(0, dtype=np.int64)))
                for reference in template.references if left.any() else ():
                    target = self.lookup.sheet(reference.sheet, sheet)
                    if target is not None:
                        box = np.stack(rectangles_of(reference, values[left]), axis=1)
                        boxes[target.name] += [tuple(line) for line in box.tolist()]
        for name, grid in self._grids.items():
            grid.mark(boxes[name], shown[name])

    def order(self, sheet: SheetCells, box: Box) -> tuple[int, Box]:
        """By which tables are sorted as they stand in the workbook."""
        return [*self.book.sheets].index(sheet.name), box

    def readers(self, sheet: SheetCells, box: Box) -> Ints:
        """How many operands go over each filled cell of a box, but for copies that only show it."""
        return self._grids[sheet.name].readers(box)

    def unused(self, sheet: SheetCells, box: Box) -> bool:
        """Whether no formula reads a cell of a box, but for copies that only show it."""
        grid = self._grids[sheet.name]
        return not self.opaque and grid.known and not grid.readers(box).any()

    def over(self, read: Read) -> list[Piece]:
        """The pieces and tables that an operand goes over."""
        numbers = np.unique(self._grids[read.sheet.name].numbers(read.box))
        return [self.by_number(n) for n in numbers[numbers != NO_NUMBER].tolist()]

    def by_number(self, number: int) -> Piece:
        """A piece or a table by its number."""
        if number < len(self.pieces):
            return self.pieces[number]
        return self.tables[number - len(self.pieces)]

    def table(self, sheet: SheetCells, box: Box) -> Piece | None:
        """The piece or table that has all cells of a box and is a full rectangle."""
        numbers = self.owners(sheet, box)
        if not len(numbers) or numbers[0] == NO_NUMBER or (numbers != numbers[0]).any():
            return None
        if len(numbers) < extents(box)[0] * extents(box)[1]:
            return None
        found = self.by_number(int(numbers[0]))
        whole = self.owners(sheet, found.box)
        full = len(whole) == found.size and (whole == numbers[0]).all()
        return found if full else None

    def owners(self, sheet: SheetCells, box: Box) -> Ints:
        """For each filled row and column of a box the number of the piece that has the cell."""
        return self._grids[sheet.name].numbers(box)


class _Grid:
    """The rows and columns of a sheet that are in use, with the piece and the readers of each cell."""

    def __init__(self, sheet: SheetCells) -> None:
        self._rows, self._columns = np.unique(sheet.keys // WIDTH), np.unique(sheet.keys % WIDTH + 1)
        if len(self._rows) * len(self._columns) > LARGEST:
            self._rows = self._columns = np.empty(0, dtype=np.int64)
        shape = len(self._rows), len(self._columns)
        self._numbers = np.full(shape, NO_NUMBER)
        self._readers = {shown: np.zeros(shape, dtype=np.int64) for shown in (False, True)}

    @property
    def known(self) -> bool:
        """Whether the sheet is small enough for a grid."""
        return bool(self._numbers.size)

    def _slice(self, box: Box) -> tuple[slice, slice]:
        top, bottom = np.searchsorted(self._rows, (box[0], box[2] + 1)).tolist()
        left, right = np.searchsorted(self._columns, (box[1], box[3] + 1)).tolist()
        return slice(top, bottom), slice(left, right)

    def own(self, piece: Piece) -> None:
        assert piece.block is not None
        if piece.box != piece.block.box or piece.block.dense:
            self._numbers[self._slice(piece.box)] = piece.number
        else:
            self.own_cells(piece.block.keys, piece.number)

    def own_cells(self, keys: Ints, number: int) -> None:
        if self._numbers.size:
            rows = np.searchsorted(self._rows, keys // WIDTH)
            self._numbers[rows, np.searchsorted(self._columns, keys % WIDTH + 1)] = number

    def mark(self, boxes: list[Box], shown: list[Box]) -> None:
        for only_shown, some in ((False, boxes), (True, shown)):
            if some and self._numbers.size:
                self._readers[only_shown] = self._count(some)

    def _count(self, boxes: list[Box]) -> Ints:
        edges = np.array(sorted(set(boxes)), dtype=np.int64)
        count = np.zeros((len(self._rows) + 1, len(self._columns) + 1), dtype=np.int64)
        low = np.searchsorted(self._rows, edges[:, 0]), np.searchsorted(self._columns, edges[:, 1])
        high = (
            np.searchsorted(self._rows, edges[:, 2] + 1),
            np.searchsorted(self._columns, edges[:, 3] + 1),
        )
        for rows, columns, sign in (
            (low[0], low[1], 1), (high[0], high[1], 1), (low[0], high[1], -1), (high[0], low[1], -1)
        ):  # fmt: skip
            np.add.at(count, (rows, columns), sign)
        return np.asarray(count.cumsum(axis=0).cumsum(axis=1)[:-1, :-1])

    def readers(self, box: Box, shown: bool = False) -> Ints:
        return np.asarray(self._readers[shown][self._slice(box)].ravel())

    def numbers(self, box: Box) -> Ints:
        return np.asarray(self._numbers[self._slice(box)].ravel())


def _factors(reads: list[Read]) -> list[Read]:
    """The two tables that a product written as a sum of terms multiplies, if the factors make up such:
    `A1*D1+B1*D2` reads A1:B1 and D1:D2."""
    merged = []
    for factors in (reads[::2], reads[1::2]):
        if len(reads) % 2 or any(read.sheet is not factors[0].sheet for read in factors):
            return reads
        boxes = np.array([read.box for read in factors])
        low, high = boxes[:, :2].min(axis=0).tolist(), boxes[:, 2:].max(axis=0).tolist()
        box: Box = (low[0], low[1], high[0], high[1])
        if sum(r.shape[0] * r.shape[1] for r in factors) != extents(box)[0] * extents(box)[1]:
            return reads
        references = tuple(r.references[0] for r in factors)
        merged.append(Read(factors[0].sheet, box, references))
    return merged
