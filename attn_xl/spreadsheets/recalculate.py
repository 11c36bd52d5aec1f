"""Recalculates workbooks with IronCalc in a separate process: a formula that never finishes, or crashes
the engine, ends that process and not the program."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attn_xl.errors import InputError

from .engines import IronCalc, Value
from .repack import Unreadable, misread, repack
from .sandbox import Sandbox, SandboxStopped

MOST_CELLS = 3_000_000
"""Cells of a sheet that are searched for formulas; this many take a few seconds."""


class Recalculated:
    """A workbook that IronCalc recalculates in another process, which ends with this object.

    Attributes:
        sheets: the names of the sheets.

    Raises:
        InputError: if IronCalc cannot read the file or does not finish.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._sandbox = Sandbox(__name__, path.stat().st_size)
        except OSError as error:
            raise InputError(f"{path}: IronCalc cannot be started ({error.strerror}).") from None
        self.sheets: list[str] = self._ask("open", os.fspath(path)) or self._repacked()

    def values(self, sheet: str, cells: Sequence[tuple[int, int]]) -> list[Value]:
        """The computed values of cells, by row and column; error values such as `#N/A` are text."""
        found: list[Value] = self._ask("values", sheet, cells)
        return found

    def computed(self, sheet: str) -> list[tuple[int, int, Value, bool]]:
        """Every cell with a formula or an error value: row, column, value, whether it has a formula."""
        found: list[tuple[int, int, Value, bool]] = self._ask("computed", sheet)
        return found

    def change(self, formulas: Sequence[tuple[str, int, int, str]]) -> None:
        """Write formulas into cells given by sheet, row and column, and recalculate."""
        self._ask("change", formulas)

    def close(self) -> None:
        """End the process."""
        self._sandbox.close()

    def _repacked(self) -> list[str]:
        # This process owns the folder: the other may be killed before it can delete it.
        with tempfile.TemporaryDirectory() as folder:
            to = os.path.join(folder, "repacked.xlsx")
            sheets: list[str] = self._ask("open_repacked", os.fspath(self._path), to)
        return sheets

    def _ask(self, what: str, *arguments: Any) -> Any:
        try:
            return self._sandbox.ask(what, *arguments)
        except SandboxStopped as end:
            why = "a formula is too deeply nested or too large"
            if end.timed_out_after:
                why = f"its formulas take too long: not finished after {end.timed_out_after:.0f} s"
            message = f"{self._path}: IronCalc cannot recalculate this workbook ({why})."
        raise InputError(message)


# The other process

_engine: list[IronCalc] = []


def _open(path: str) -> list[str]:
    """The sheet names; an empty list if IronCalc cannot read the file as it is."""
    if misread(Path(path)):
        return []
    try:
        _engine.append(IronCalc(path))
    except InputError:
        return []
    return _engine[0].sheets


def _open_repacked(path: str, to: str) -> list[str]:
    try:
        repack(Path(path), Path(to))
    except Unreadable as why:
        raise InputError(f"{path}: IronCalc cannot recalculate this workbook ({why}).") from None
    _engine.append(IronCalc(to, called=path))
    return _engine[0].sheets


def _values(sheet: str, cells: Sequence[tuple[int, int]]) -> list[Value]:
    return [_engine[0].value(sheet, row, column) for row, column in cells]


def _computed(sheet: str) -> list[tuple[int, int, Value, bool]]:
    engine = _engine[0]
    last_row, last_column = engine.size(sheet)
    if last_row * last_column > MOST_CELLS:
        raise InputError(f"sheet {sheet!r}: some cells are too far from the others.")
    cells = []
    for row in range(1, last_row + 1):
        for column in range(1, last_column + 1):
            value = engine.value(sheet, row, column)
            formula = engine.has_formula(sheet, row, column)
            if formula or (isinstance(value, str) and value.startswith("#")):
                cells.append((row, column, value, formula))
    return cells


def _change(formulas: Sequence[tuple[str, int, int, str]]) -> None:
    for cell in formulas:
        _engine[0].set_formula(*cell)
    _engine[0].evaluate()


ANSWERS = {
    "open": _open,
    "open_repacked": _open_repacked,
    "values": _values,
    "computed": _computed,
    "change": _change,
}
