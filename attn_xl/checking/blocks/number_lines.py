"""Numbers that belong together: those of one block of formulas, of one array, or adjacent constants."""

from __future__ import annotations

import numpy as np

from attn_xl.spreadsheets.blocks.blocks import FormulaBlock
from attn_xl.spreadsheets.blocks.references import Lookup
from attn_xl.spreadsheets.formulas import MISSING, NUMBER, WIDTH, Ints, SheetCells

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

    def of(self, sheet: SheetCells, keys: Ints) -> Ints:
        """For each cell the number of its block, or array formula; that of all constants; that of what
        is no number."""
        return np.asarray(self._tables(sheet)[sheet.find(keys)])

    def crosses(self, block: FormulaBlock, key: int) -> bool:
        """Whether a cell in a line of formulas is of another line, which crosses it."""
        if not block.flat:
            return False
        step = STEPS[ROW if block.extents[ROW] == 1 else COLUMN]
        before, own, after = self.of(block.sheet, key + step * np.arange(-1, 2)).tolist()
        return own >= 0 and own in (before, after)

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
