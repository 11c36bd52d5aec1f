"""Any spreadsheet in, the values of its cells out. Knows file formats, and nothing of tables."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any, Literal

from .cells import MAX_ROWS, address, split_address
from .engines import IronCalc, quiet
from .errors import InputError

Grid = list[list[Any]]

MOST_CELLS = 20_000_000
"""So many cells, filled or not, a sheet may span; more, if most of them are filled."""

# A cell whose formula has no stored value, or whose value is an error: calamine shows both as blank.
_NOT_STORED = re.compile(
    rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)"
    rb"\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
    rb"|\st=\"e\""
)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_RECALCULATE = re.compile(rb"fullCalcOnLoad=\"(?:1|true)\"")
# Plain beginnings, which are found fast; a prefix on every tag is rare.
_ROW = re.compile(rb'<row[^>]*? r="(\d+)"')
_PREFIXED_ROW = re.compile(rb'<\w+:row[^>]*? r="(\d+)"')
_FAR_CELL = re.compile(rb' r="([A-Z]{3,}\d+|[A-Z]{1,2}\d{7,})"')
_OLE = bytes.fromhex("D0CF11E0A1B11AE1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
    EOFError,
)


class ErrorValue(str):
    """An error value in a cell, such as #N/A."""


def read_grids(path: Path) -> dict[str, Grid]:
    """The values of every sheet: numbers, texts, booleans, dates, error values, "" where blank.

    A formula without a stored value, or one that its program asks to be recalculated on loading, is
    computed by IronCalc.

    Raises:
        InputError: if the file cannot be read; it says why, and what to do.
    """
    content = _content(path)
    compute = _formulas_to_compute(path, content) if content.startswith(b"PK") else "none"
    grids = _values(path, content)
    if compute != "none":
        _compute(path, grids, everything=compute == "all")
    return grids


def wrote_this(path: Path) -> bool:
    """Whether the workbook is one that this program wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            return b">attn-xl " in archive.read("docProps/core.xml")
    except (KeyError, *_DAMAGED):
        return False


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file.") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a spreadsheet.") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({reason}).") from None
    if not content:
        raise InputError(f"{path}: the file is empty.")
    return content


def _values(path: Path, content: bytes) -> dict[str, Grid]:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

    try:
        if content.startswith(_OLE) and _ENCRYPTED in content:
            raise PasswordError
        with quiet():
            try:
                book = CalamineWorkbook.from_filelike(io.BytesIO(content))
            except CalamineError:  # by its ending, it may know better what is wrong
                book = CalamineWorkbook.from_path(str(path))
            return {
                sheet.name: book.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False)
                for sheet in book.sheets_metadata
                if sheet.typ == SheetTypeEnum.WorkSheet
            }
    except PasswordError:
        raise InputError(
            f"{path}: is protected by a password. Open it in a spreadsheet program, remove the "
            "password and save it."
        ) from None
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic in the reader is not an Exception
        if content.startswith((b"PK", _OLE)):
            detail = str(error) if isinstance(error, CalamineError) else type(error).__name__
            raise _damaged(path, detail) from None
        raise InputError(
            f"{path}: is not a spreadsheet. Save the table as .xlsx (or .xls, .xlsb, .ods)."
        ) from None


def _damaged(path: Path, detail: object) -> InputError:
    return InputError(
        f"{path}: is damaged or not a spreadsheet ({detail}). Open it in a spreadsheet program and "
        "save it again as .xlsx."
    )


def _formulas_to_compute(path: Path, content: bytes) -> Literal["none", "missing", "all"]:
    """Which formulas of an xlsx are to be computed: those without a value, or all, because the file
    asks for it.

    Raises:
        InputError: if the package is damaged, or a cell far away makes a sheet span more than memory
            holds.
    """
    recalculate = missing = formulas = False
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                if name == "xl/workbook.xml":
                    recalculate = bool(_RECALCULATE.search(archive.read(name)))
                elif name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    xml = archive.read(name)
                    _check_span(path, xml)
                    has_formulas = (b"<f" in xml or b":f" in xml) and bool(_FORMULA.search(xml))
                    formulas = formulas or has_formulas
                    if has_formulas or b't="e"' in xml:
                        missing = missing or bool(_NOT_STORED.search(xml))
    except _DAMAGED as error:
        raise _damaged(path, error) from None
    if recalculate and formulas:
        return "all"
    return "missing" if missing else "none"


def _check_span(path: Path, xml: bytes) -> None:
    rows = (_ROW if b"<row" in xml else _PREFIXED_ROW).findall(xml)
    far = [split_address(cell.decode()) for cell in _FAR_CELL.findall(xml)]
    last_row = max([*map(int, rows), *(row for row, _ in far)], default=0)
    last_column = max((column for _, column in far), default=702)
    cells = xml.count(b"<c ") + xml.count(b":c ")
    if last_row * last_column > max(MOST_CELLS, 10 * cells) or last_row > MAX_ROWS:
        raise InputError(
            f"{path}: a sheet has cells as far away as {address(last_row, last_column)}. Delete all "
            "rows and columns beyond the table, and save it."
        )


def _compute(path: Path, grids: dict[str, Grid], *, everything: bool) -> None:
    """Put IronCalc's values into the blank cells, or into all cells with formulas."""
    try:
        engine = IronCalc(path)
    except InputError:
        return  # the blanks stay blank, and are named where a table needs them
    for sheet, grid in grids.items():
        if sheet not in engine.sheets:
            continue
        last_row, last_column = engine.size(sheet)
        grid.extend([] for _ in range(last_row - len(grid)))
        for row, values in enumerate(grid):
            values.extend([""] * (last_column - len(values)))
            for column, value in enumerate(values):
                cell = sheet, row + 1, column + 1
                if value == "" or (everything and engine.has_formula(*cell)):
                    computed = engine.value(*cell)
                    if isinstance(computed, str) and computed.startswith("#"):
                        computed = ErrorValue(computed)
                    elif not engine.has_formula(*cell):
                        continue  # an empty cell with `t="n"` is blank, and not 0
                    values[column] = "" if computed is None else computed
