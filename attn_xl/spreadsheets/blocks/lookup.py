"""What formulas refer to: sheets, the ranges that formulas spill over, and defined names."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from attn_xl.spreadsheets.addresses import parse_area
from attn_xl.spreadsheets.formulas import WIDTH, FormulaBook, SheetCells

from .templates import Reference

Box = tuple[int, int, int, int]
"""The first row and column, the last row and column."""


class Lookup:
    """The sheets and defined names of a book, as formulas write them."""

    def __init__(self, book: FormulaBook) -> None:
        self._book = book
        self._sheets = {name.casefold(): sheet for name, sheet in book.sheets.items()}

    def sheet(self, name: str, own: SheetCells) -> SheetCells | None:
        """A sheet by its name; `own` where a formula names none."""
        return self._sheets.get(name.casefold()) if name else own

    def spilled(self, sheet: SheetCells, box: Box, reference: Reference) -> Box:
        """The range of `A1#`; any other box as it is."""
        if reference.function != "ANCHORARRAY" or reference.cells != 1:
            return box
        (place,) = sheet.find(np.array([box[0] * WIDTH + box[1] - 1])).tolist()
        if place < 0 or sheet.formulas[place] < 0:
            return box
        formula = self._book.formulas[int(sheet.formulas[place])]
        return box[0], box[1], box[0] + formula.rows - 1, box[1] + formula.columns - 1

    def area(self, name: str, own: SheetCells) -> tuple[SheetCells, Box] | None:
        """The sheet and the box of a defined name."""
        names = self._names
        area = names.get(f"{own.name}!{name}".casefold(), names.get(name.casefold()))
        sheet = self.sheet(area[0], own) if area else None
        return (sheet, area[1]) if area and sheet is not None else None

    @cached_property
    def _names(self) -> dict[str, tuple[str, Box]]:
        found = {}
        for name, text in self._book.names.items():
            area = parse_area(text)
            if area is not None and "[" not in (area[0] or ""):
                found[name.casefold()] = area[0] or "", area[1]
        return found
