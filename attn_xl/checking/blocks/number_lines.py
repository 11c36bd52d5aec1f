"""Numbers that belong together: those of one block of formulas, of one array, or adjacent constants."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from attn_xl.spreadsheets.formulas import MISSING, NUMBER, WIDTH, Ints, SheetCells

from .blocks import FormulaBlock
from .references import Lookup, rectangles_of
from .templates import Reference

ROW, COLUMN = 0, 1
STEPS = (WIDTH, 1)
"""From a cell's key to that of the one below, and of the one to the right."""
CONSTANT, NO_NUMBER = -1, -2


class NumberLines:
    """The numbers of all sheets, by what they belong to.

    Args:
        found: the blocks; lookup: the sheets.
    """

    def __init__(self, found: list[FormulaBlock], lookup: Lookup) -> None:
        self.blocks, self.lookup = found, lookup
        self._known: dict[str, Ints] = {}
        self._used: dict[str, tuple[Ints, Ints]] = {}
        self._numbers = {id(block): number for number, block in enumerate(found)}

    def number(self, block: FormulaBlock) -> int:
        """The number of a block."""
        return self._numbers[id(block)]

    def of(self, sheet: SheetCells, keys: Ints) -> Ints:
        """For each cell the number of its block, or array formula; that of all constants; that of what
        is no number."""
        return np.asarray(self._tables(sheet)[sheet.find(keys)])

    def begins(self, sheet: SheetCells, first: Ints, axis: int, count: int) -> bool:
        """Whether a cell (row, column) is the first of just so many, down or across: of one block, of
        constants, or of numbers of all kinds."""
        tables = self.of(sheet, key_of(first) + STEPS[axis] * np.arange(-1, count + 1))
        if tables[1] == NO_NUMBER:
            return False
        return any(
            bool(same[1:-1].all() and not same[0] and not same[-1])
            for same in (tables == tables[1], tables != NO_NUMBER)
        )

    def crosses(self, block: FormulaBlock, key: int) -> bool:
        """Whether a cell in a line of formulas is of another line, which crosses it."""
        if not block.flat:
            return False
        step = STEPS[ROW if block.extents[ROW] == 1 else COLUMN]
        before, own, after = self.of(block.sheet, key + step * np.arange(-1, 2)).tolist()
        return own >= 0 and own in (before, after)

    @staticmethod
    def used_by(block: FormulaBlock, reference: Reference) -> tuple[int, int, int, int]:
        """The rectangle that an operand of a block goes over."""
        ends = [block.predicted(r, c) for r in block.box[::2] for c in block.box[1::2]]
        top, left, bottom, right = rectangles_of(reference, np.array(ends))
        return int(top.min()), int(left.min()), int(bottom.max()), int(right.max())

    def used(self, sheet: SheetCells) -> tuple[Ints, Ints]:
        """The rectangles (n, 4) of a sheet that the operands of all blocks go over; whose they are."""
        if not self._used:
            found = defaultdict(list)
            for number, block in enumerate(self.blocks):
                for reference in block.template.references:
                    target = self.lookup.sheet(reference.sheet, block.sheet)
                    if target is not None:
                        found[target.name].append((*self.used_by(block, reference), number))
            for name, rows in found.items():
                boxes = np.array(rows)
                self._used[name] = boxes[:, :4], boxes[:, 4]
        none = np.empty((0, 4), dtype=np.int64), np.empty(0, dtype=np.int64)
        return self._used.get(sheet.name, none)

    def _tables(self, sheet: SheetCells) -> Ints:
        """One more stands at the end, where `find` leads for a cell that is not there."""
        if sheet.name not in self._known:
            numbers = np.isin(sheet.kinds, (NUMBER, MISSING))
            tables = np.where(numbers, CONSTANT, NO_NUMBER)
            for number, block in enumerate(self.blocks):
                if block.sheet is sheet:
                    tables[block.places] = np.where(numbers[block.places], number, NO_NUMBER)
            filled = sheet.spilled >= 0
            tables[filled] = len(self.blocks) + sheet.spilled[filled]
            masters = np.isin(sheet.formulas, sheet.spilled[filled])
            tables[masters] = len(self.blocks) + sheet.formulas[masters]
            self._known[sheet.name] = np.append(tables, NO_NUMBER)
        return self._known[sheet.name]


def key_of(cell: Ints) -> int:
    """The key of a cell, given as its row and column."""
    return int(cell[0]) * WIDTH + int(cell[1]) - 1
