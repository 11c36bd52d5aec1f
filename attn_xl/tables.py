"""Any spreadsheet in, labelled tables out, and where each was found. Knows nothing of attention but
which sheets hold weights."""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from .cells import address
from .engines import IronCalc
from .errors import InputError
from .matrix import Numbers, clean

Grid = list[list[Any]]

_WEIGHT_SHEET = re.compile(r"\s*w[ _-]?([qkv])\s*", re.IGNORECASE)
# A cell whose formula has no stored value, or whose value is an error: calamine shows both as blank.
_NOT_STORED = re.compile(
    rb"<f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</(?:\w+:)?c>|\st=\"e\""
)
_OLE = bytes.fromhex("D0CF11E0A1B11AE1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


class ErrorValue(str):
    """An error value in a cell, such as #N/A."""


@dataclass(frozen=True)
class Table:
    """Labelled numbers, and where they stand in the file.

    Attributes:
        name: the sheet's name, or `W_Q`, `W_K`, `W_V` for weights.
        values: shape (rows, columns), float64.
        rows, columns: the labels; `word 1`, `dim 1`, ... where the sheet has none.
        labelled: whether (rows, columns) have labels of their own in the sheet.
        file, sheet, row, column: the file, the sheet, and the cell of the first number, from 1.
    """

    name: str
    values: Numbers
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    labelled: tuple[bool, bool]
    file: str
    sheet: str
    row: int
    column: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)


@dataclass(frozen=True)
class Tables:
    """What a workbook holds: embedding tables by sheet, weights by name."""

    path: Path
    sentences: dict[str, Table]
    weights: dict[str, Table]


def read_tables(path: str | os.PathLike[str]) -> Tables:
    """Read the embedding tables and the weights of a spreadsheet (.xlsx, .xlsm, .xlsb, .xls, .ods).

    Every sheet with a table of numbers is a sentence, one word a row, one dimension a column; the
    sheets `W_Q`, `W_K` and `W_V` are weights; sheets without numbers are passed over. A formula
    without a stored value is computed with IronCalc.

    Args:
        path: the file; what it is is told by its content, not by its name.

    Raises:
        InputError: if the file cannot be read, holds no table, or a table has a cell that is not a
            finite number; it names the file, the sheet and the cell.
    """
    path = Path(path)
    sentences: dict[str, Table] = {}
    weights: dict[str, Table] = {}
    grids = _read_grids(path)
    if "Overview" in grids and any(s == "Softmax" or s.endswith(".Softmax") for s in grids):
        raise InputError(f"{path}: attn-xl wrote this workbook; give it the one that it was made from.")
    for sheet, grid in grids.items():
        weight = _WEIGHT_SHEET.fullmatch(sheet)
        found = find_table(grid, f"{path}, sheet {sheet!r}")
        if weight:
            name = f"W_{weight[1].upper()}"
            if found is None:
                raise InputError(
                    f"{path}, sheet {sheet!r}: no numbers; fill in {name} or delete the sheet."
                )
            if name in weights:
                raise InputError(
                    f"{path}: sheets {weights[name].sheet!r} and {sheet!r} are both {name}; keep one."
                )
            weights[name] = replace(found, name=name, file=str(path), sheet=sheet)
        elif found is not None:
            sentences[sheet] = replace(found, name=sheet, file=str(path), sheet=sheet)
    if not sentences:
        raise InputError(
            f"{path}: no table of numbers found. Put the words in the first column, the names of the "
            "dimensions in the first row, and a number in every cell between."
        )
    return Tables(path, sentences, weights)


def _read_grids(path: Path) -> dict[str, Grid]:
    """The values of every sheet, as calamine reads them; error values and values that are not stored
    are put in by IronCalc."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum

    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file.") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a spreadsheet.") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from None
    if not content:
        raise InputError(f"{path}: the file is empty.")
    protected = InputError(
        f"{path}: is protected by a password. Open it in a spreadsheet program, remove the password "
        "and save it."
    )
    if content.startswith(_OLE) and _ENCRYPTED in content:
        raise protected
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        grids = {
            sheet.name: book.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False)
            for sheet in book.sheets_metadata
            if sheet.typ == SheetTypeEnum.WorkSheet
        }
    except PasswordError:
        raise protected from None
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic in the reader is not an Exception
        if content.startswith(b"PK") or content.startswith(_OLE):
            detail = str(error) if isinstance(error, CalamineError) else type(error).__name__
            raise InputError(
                f"{path}: is damaged or not a spreadsheet ({detail}). Open it in a spreadsheet "
                "program and save it again as .xlsx."
            ) from None
        raise InputError(
            f"{path}: is not a spreadsheet. Save the table as .xlsx (or .xls, .xlsb, .ods)."
        ) from None
    if content.startswith(b"PK") and _misses_values(content):
        _compute_missing(path, grids)
    return grids


def _misses_values(content: bytes) -> bool:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                xml = archive.read(name)
                if (b"<f" in xml or b't="e"' in xml) and _NOT_STORED.search(xml):
                    return True
    return False


def _compute_missing(path: Path, grids: dict[str, Grid]) -> None:
    """Fill the blank cells of `grids` that are not blank to IronCalc."""
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
                if value == "":
                    computed = engine.value(sheet, row + 1, column + 1)
                    if isinstance(computed, str) and computed.startswith("#"):
                        computed = ErrorValue(computed)
                    values[column] = "" if computed is None else computed


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_heading(value: Any) -> bool:
    return not _is_blank(value) and not _is_number(value) and not isinstance(value, ErrorValue)


def find_table(grid: Grid, where: str) -> Table | None:
    """The one table of a sheet, or None if it has no numbers.

    A table is a run of rows without an empty row between; it may have a row of column labels above
    the numbers, a column of row labels to their left, and titles in the first column above.

    Raises:
        InputError: if there are several, or a cell in it is not a finite number.
    """
    runs = [run for run in _runs(grid) if any(_is_number(v) for row in run for v in grid[row])]
    if not runs:
        return None
    run = runs[0]
    if len(runs) > 1:
        run = max(runs, key=lambda run: sum(_is_number(v) for row in run for v in grid[row]))
    for other in runs:
        if other is not run and sum(any(map(_is_number, grid[row])) for row in other) > 1:
            raise InputError(
                f"{where}: more than one table (rows {run[0] + 1} and {other[0] + 1}). Put each on "
                "a sheet of its own."
            )
    first = next(row for row in run if any(map(_is_number, grid[row])))
    left = min(_first_filled(grid[row]) for row in run if row >= first)
    numeric = [column for column, value in enumerate(grid[first]) if _is_number(value)]
    header: int | None = None
    if first - 1 in run and any(not _is_blank(_at(grid, first - 1, column)) for column in numeric):
        header = first - 1
    elif _is_blank(_at(grid, first, left)):  # the labels of the columns are numbers: 0, 1, 2, ...
        header = first
    body = (
        [row for row in run if row > header] if header is not None else [r for r in run if r >= first]
    )
    if not body:
        return None
    if header is not None:
        left = min(left, _first_filled(grid[header]))
    _check_above(grid, run, body[0] if header is None else header, left, where)

    labelled = _has_row_labels(grid, header, body, left, where)
    start = left + 1 if labelled else left
    stop = start
    used = body if header is None else [header, *body]
    while any(not _is_blank(_at(grid, row, stop)) for row in used):
        stop += 1
    for row in body:
        for column in range(stop, len(grid[row])):
            if _is_number(grid[row][column]):
                raise InputError(
                    f"{where}, cell {address(row + 1, column + 1)}: a number beside the table, after "
                    "an empty column. Put it on a sheet of its own, or close the gap."
                )
    if start == stop:
        return None
    columns = [(header, column) for column in range(start, stop)]
    return Table(
        name="",
        columns=tuple(_labels(columns, grid, "dim", header is not None, where)),
        rows=tuple(_labels([(row, left) for row in body], grid, "word", labelled, where)),
        values=np.array([_numbers(grid, row, start, stop, where) for row in body]),
        labelled=(labelled, header is not None),
        file="",
        sheet="",
        row=body[0] + 1,
        column=start + 1,
    )


def _at(grid: Grid, row: int, column: int) -> Any:
    return grid[row][column] if column < len(grid[row]) else ""


def _first_filled(values: list[Any]) -> int:
    return next(column for column, value in enumerate(values) if not _is_blank(value))


def _runs(grid: Grid) -> Iterator[list[int]]:
    """The runs of rows that have anything in them."""
    run: list[int] = []
    for row, values in enumerate(grid):
        if all(map(_is_blank, values)):
            if run:
                yield run
            run = []
        else:
            run.append(row)
    if run:
        yield run


def _check_above(grid: Grid, run: list[int], top: int, left: int, where: str) -> None:
    """Above a table, without an empty row between, only titles in the first column may stand: text
    elsewhere may be a number that went wrong, and must not be dropped."""
    for row in run:
        if row < top:
            for column in range(left + 1, len(grid[row])):
                if not _is_blank(grid[row][column]):
                    raise InputError(
                        f"{where}, cell {address(top + 1, _text_column(grid, top, left) + 1)}: "
                        f"{_described(_at(grid, top, _text_column(grid, top, left)))} where a number "
                        "is needed. (If it is a heading, leave an empty row above it.)"
                    )


def _text_column(grid: Grid, row: int, left: int) -> int:
    for column in range(left + 1, len(grid[row])):
        if not _is_blank(grid[row][column]):
            return column
    return left


def _has_row_labels(grid: Grid, header: int | None, body: list[int], left: int, where: str) -> bool:
    cells = [_at(grid, row, left) for row in body]
    texts = [row for row, value in zip(body, cells) if _is_heading(value)]
    if header is None and texts and any(map(_is_number, cells)):
        raise InputError(
            f"{where}, cell {address(texts[0] + 1, left + 1)}: "
            f"{_described(_at(grid, texts[0], left))} in a column of numbers."
        )
    return bool(texts) or (header is not None and _is_blank(_at(grid, header, left)))


def _labels(
    cells: list[tuple[Any, int]], grid: Grid, kind: str, labelled: bool, where: str
) -> Iterator[str]:
    for number, (row, column) in enumerate(cells, 1):
        if not labelled:
            yield f"{kind} {number}"
            continue
        value = _at(grid, row, column)
        if _is_blank(value):
            what = "word" if kind == "word" else "name of the dimension"
            raise InputError(
                f"{where}, cell {address(row + 1, column + 1)}: blank where the {what} is needed."
            )
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        yield clean(value)


def _numbers(grid: Grid, row: int, start: int, stop: int, where: str) -> list[float]:
    values = grid[row][start:stop]
    if len(values) == stop - start and {*map(type, values)} == {float} and all(map(isfinite, values)):
        return values
    return [_number(grid, row, column, where) for column in range(start, stop)]


def _number(grid: Grid, row: int, column: int, where: str) -> float:
    value = _at(grid, row, column)
    if _is_number(value) and isfinite(value):
        return float(value)
    raise InputError(
        f"{where}, cell {address(row + 1, column + 1)}: {_described(value)} where a number is needed."
    )


def _described(value: Any) -> str:
    if _is_blank(value):
        return "blank (or an error value)"
    if isinstance(value, ErrorValue):
        return f"the error value {value}"
    if _is_number(value):
        return "an infinite number"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return f"the date or time {value}"
