"""Workbooks recalculated by another program, and compared cell by cell with what they store."""

from __future__ import annotations

import math
import os
import posixpath
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any
from xml.etree import ElementTree

from engines import SMALLEST, IronCalc, Value, recalculated_by_libreoffice

from attn_xl.spreadsheets.addresses import address, split_address

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class Editable(IronCalc):
    """A workbook in IronCalc, into whose cells one can type."""

    def set(self, sheet: str, row: int, column: int, number: float) -> None:
        """Put a number into a cell and recalculate."""
        self._model.update_cell_with_number(self.sheets.index(sheet), row, column, number)
        self._model.evaluate()

    def enter(self, entries: Iterable[tuple[str, int, int, Value]], *, formulas: bool = False) -> None:
        """Put a number, a text or nothing into each of some cells, given by sheet, row and column; then
        recalculate once. With `formulas`, a text that begins with = is one."""
        model = self._model
        for name, row, column, content in entries:
            sheet = self.sheets.index(name)
            if content is None:
                model.clear_cell_contents(sheet, row, column)
            elif isinstance(content, bool):
                model.update_cell_with_bool(sheet, row, column, content)
            elif isinstance(content, (int, float)):
                model.update_cell_with_number(sheet, row, column, float(content))
            elif formulas and content.startswith("="):
                model.update_cell_with_formula(sheet, row, column, content)
            else:
                model.update_cell_with_text(sheet, row, column, content)
        model.evaluate()


@dataclass(frozen=True)
class Difference:
    """A formula cell whose stored value is not what an engine computes."""

    sheet: str
    cell: str
    formula: str
    stored: Value
    computed: Value
    error: float

    def __str__(self) -> str:
        return (
            f"{self.sheet}!{self.cell} ={self.formula}: stored {self.stored!r}, "
            f"computed {self.computed!r}, relative error {self.error:.1e}"
        )


def relative_error(stored: Value, computed: Value, least: float = 0.0) -> float:
    """|stored - computed| / |stored| for numbers; else 0 where they are the same, infinity where not.

    Numbers smaller than `least` are compared as if they were that large.
    """
    if isinstance(stored, (str, bool, NoneType)) or isinstance(computed, (str, bool, NoneType)):
        return 0.0 if stored == computed or {stored, computed} == {"", None} else math.inf
    gap = abs(stored - computed)
    if gap < SMALLEST:
        return 0.0
    size = max(abs(stored), least)
    return gap / size if size else math.inf


def stored_formulas(path: str | os.PathLike[str]) -> Iterator[tuple[str, int, int, str, Value]]:
    """Every formula cell of an xlsx, and every cell of an array formula's range: sheet, row, column,
    formula, stored value."""
    for sheet, cells in _stored(path).items():
        for formula, reference, _ in [cell for cell in cells.values() if cell[0] is not None]:
            first, _, last = reference.partition(":")
            top, left = split_address(first)
            bottom, right = split_address(last or first)
            for row in range(top, bottom + 1):
                for column in range(left, right + 1):
                    _, _, value = cells.get((row, column), (None, "", None))
                    yield sheet, row, column, formula or "", value


def _stored(
    path: str | os.PathLike[str],
) -> dict[str, dict[tuple[int, int], tuple[str | None, str, Value]]]:
    """By sheet and by row and column: a cell's formula, the cells that this fills, the stored value.
    Out of the XML, as openpyxl needs ten times as long, and reads either formulas or values."""
    with zipfile.ZipFile(path) as package:

        def part(name: str) -> Any:
            return ElementTree.fromstring(package.read(name))

        strings = []
        if "xl/sharedStrings.xml" in package.namelist():
            strings = ["".join(t.text or "" for t in item.iter(f"{_MAIN}t"))
                       for item in part("xl/sharedStrings.xml")]  # fmt: skip
        targets = {link.get("Id"): link.get("Target") for link in part("xl/_rels/workbook.xml.rels")}
        found = {}
        for sheet in part("xl/workbook.xml").iter(f"{_MAIN}sheet"):
            target = targets[sheet.get(_ID)]
            cells = found[sheet.get("name")] = {}
            for cell in part(posixpath.join("xl", target).lstrip("/")).iter(f"{_MAIN}c"):
                formula = cell.find(f"{_MAIN}f")
                place = split_address(cell.get("r"))
                text = None if formula is None else formula.text or ""
                filled = "" if formula is None else formula.get("ref") or cell.get("r")
                cells[place] = (text, filled, _value(cell, strings))
    return found


def _value(cell: Any, strings: list[str]) -> Value:
    kind, value = cell.get("t", "n"), cell.findtext(f"{_MAIN}v")
    if kind == "inlineStr":
        return "".join(t.text or "" for t in cell.iter(f"{_MAIN}t"))
    if value is None or (kind == "n" and not value):
        return None
    if kind == "s":
        return strings[int(value)]
    if kind == "b":
        return value == "1"
    return float(value) if kind == "n" else str(value)


def differences_ironcalc(
    path: str | os.PathLike[str], tolerance: float, cancelled: float = 0.0
) -> list[Difference]:
    """The formula cells whose stored value IronCalc does not compute, within a relative error; numbers
    below `cancelled` times the largest on their sheet count as that large."""
    return _differences(path, IronCalc(path).value, tolerance, cancelled)


def _differences(
    path: str | os.PathLike[str],
    value: Callable[[str, int, int], Value],
    tolerance: float,
    cancelled: float,
) -> list[Difference]:
    """As above, with any engine's values. A number below `cancelled` times the largest on its sheet
    is what terms that cancel left over; it is compared as if it were that large."""
    cells = list(stored_formulas(path))
    largest: dict[str, float] = {}
    for sheet, _, _, _, stored in cells:
        if isinstance(stored, (int, float)):
            largest[sheet] = max(largest.get(sheet, 0.0), abs(stored))
    found = []
    for sheet, row, column, formula, stored in cells:
        computed = value(sheet, row, column)
        error = relative_error(stored, computed, cancelled * largest.get(sheet, 0.0))
        if error > tolerance:
            cell = address(row, column)
            found.append(Difference(sheet, cell, formula, stored, computed, error))
    return found


def differences_libreoffice(paths: list[Path], tolerance: float) -> dict[Path, list[Difference]]:
    """The same with LibreOffice, for several workbooks in one start of it; their names must differ.

    LibreOffice adds up with a correction for rounding (Kahan), so where large terms cancel it leaves
    another remainder: numbers below a thousandth of the largest on their sheet count as that large.
    """
    found = {}
    with tempfile.TemporaryDirectory() as out:
        for path, result in zip(paths, recalculated_by_libreoffice(paths, Path(out))):
            computed = _stored(result)

            def value(sheet: str, row: int, column: int) -> Value:
                return computed[sheet].get((row, column), (None, "", None))[2]  # noqa: B023

            found[path] = _differences(path, value, tolerance, 1e-3)
    return found
