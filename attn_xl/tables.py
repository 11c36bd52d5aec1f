"""The cells of a spreadsheet in, labelled tables out, and where each was found. Knows nothing of
attention but which sheets hold weights."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from .cells import MAX_TEXT, address, too_long, unique
from .errors import InputError
from .grids import ErrorValue, Grid, read_grids, wrote_this
from .matrix import Numbers, clean
from .recorded import recorded_sentences

_WEIGHT_SHEET = re.compile(
    r"\s*((?:enc|dec)\d*\.)?((?:self|cross)\.)?"
    r"(?:([wb])[ _-]?([qkvo12])|(gamma|beta)|(vocabulary|mask))((?:_\d+)?)\s*",
    re.IGNORECASE,
)
SETTINGS_SHEET = "Settings"
_LABEL_HEADINGS = {"", "word", "words", "token", "tokens", "label", "labels", "name", "id"}


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
        """How many rows and columns."""
        return len(self.rows), len(self.columns)

    def largest(self) -> str:
        """The address of the cell with the largest number, whatever its sign."""
        row, column = np.unravel_index(np.abs(self.values).argmax(), self.values.shape)
        return address(self.row + int(row), self.column + int(column))


@dataclass(frozen=True)
class Tables:
    """What a workbook holds: embedding tables by sheet, weights by name, settings as written."""

    path: Path
    sentences: dict[str, Table]
    weights: dict[str, Table]
    settings: dict[str, Any] = field(default_factory=dict)


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
    settings: dict[str, Any] = {}
    grids = read_grids(path)
    recorded = recorded_sentences(grids)
    if recorded is not None:
        grids = recorded
    elif "Overview" in grids and wrote_this(path):
        raise InputError(f"{path}: attn-xl wrote this workbook; give it the one that it was made from.")
    for original, grid in grids.items():
        sheet = unique(clean(original), {name.casefold() for name in sentences})
        where = f"{path}, sheet {sheet!r}"
        if sheet.casefold() == SETTINGS_SHEET.casefold():
            settings = _read_settings(grid, where)
            continue
        name = weight_name(sheet)
        found = find_table(grid, where)
        if name:
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
    if not sentences and weights:
        raise InputError(
            f"{path}: only weights found ({', '.join(weights)}). Add a sheet with a sentence: the "
            "words in its first column, the names of the dimensions in its first row."
        )
    if not sentences:
        raise InputError(
            f"{path}: no table of numbers found. Put the words in the first column, the names of the "
            "dimensions in the first row, and a number in every cell between."
        )
    return Tables(path, sentences, weights, settings)


def weight_name(sheet: str) -> str | None:
    """What weights a sheet of this name holds: `W_Q` for `wq`, `Enc1.gamma_2`; None for a sentence."""
    match = _WEIGHT_SHEET.fullmatch(sheet)
    if match is None:
        return None
    stack, part, letter, index, norm, other, number = (group or "" for group in match.groups())
    base = f"{letter.upper() if letter in 'wW' else 'b'}_{index.upper()}" if letter else ""
    return f"{stack.title()}{part.title()}{base}{norm.lower()}{other.title()}{number}"


def _read_settings(grid: Grid, where: str) -> dict[str, Any]:
    """The names in the first column with the values to their right."""
    settings: dict[str, Any] = {}
    for row, values in enumerate(grid):
        filled = [value for value in values if not _is_blank(value)]
        if not filled or [str(v).strip().casefold() for v in filled[:2]] == ["setting", "value"]:
            continue
        if len(filled) < 2 or isinstance(filled[0], ErrorValue) or isinstance(filled[1], ErrorValue):
            raise InputError(
                f"{where}, row {row + 1}: a setting has a name and, beside it, a value; here is "
                f"{_described(filled[0])}."
            )
        settings[clean(filled[0])] = filled[1]
    return settings


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
        other = next(other for other in runs if other is not run)
        raise InputError(
            f"{where}: numbers in rows {run[0] + 1} to {run[-1] + 1}, and beyond an empty row in row "
            f"{other[0] + 1}. If it is one table, delete the empty row; if not, put each on a sheet of "
            "its own."
        )
    left = min(_first_filled(grid[row]) for row in run if any(map(_is_number, grid[row])))
    first = next(row for row in run if _has_numbers(grid[row], left))
    numeric = [column for column, value in enumerate(grid[first]) if _is_number(value)]
    above = [row for row in run if row < first]
    header = next(
        (row for row in reversed(above) if any(not _is_blank(_at(grid, row, c)) for c in numeric)), None
    )
    if header is None and _is_blank(_at(grid, first, left)):
        header = first  # the labels of the columns are numbers: 0, 1, 2, ...
    body = [row for row in run if row > header] if header is not None else run[run.index(first) :]
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


def _has_numbers(values: list[Any], left: int) -> bool:
    """Whether a row is one of numbers: not a heading row with a number in its corner."""
    numbers = [column for column, value in enumerate(values) if _is_number(value)]
    headings = any(map(_is_heading, values[left + 1 :]))
    return bool(numbers) and not (numbers == [left] and headings)


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
    if header is not None:
        corner = _at(grid, header, left)
        return bool(texts) or _is_blank(corner) or str(corner).strip().casefold() in _LABEL_HEADINGS
    if texts and any(map(_is_number, cells)):
        raise InputError(
            f"{where}, cell {address(texts[0] + 1, left + 1)}: "
            f"{_described(_at(grid, texts[0], left))} in a column of numbers."
        )
    first = [value for value in grid[body[0]][left + 1 :] if not _is_blank(value)]
    if texts and len(first) > 1 and first in ([*range(len(first))], [*range(1, len(first) + 1)]):
        raise InputError(
            f"{where}, row {body[0] + 1}: {cells[0]!r} with {first[0]:g}, {first[1]:g}, ... may be a "
            "word or the numbers of the columns. If they number the columns, empty the cell "
            f"{address(body[0] + 1, left + 1)}."
        )
    return bool(texts)


def _labels(
    cells: list[tuple[Any, int]], grid: Grid, kind: str, labelled: bool, where: str
) -> Iterator[str]:
    for number, (row, column) in enumerate(cells, 1):
        if not labelled:
            yield f"{kind} {number}"
            continue
        value = _at(grid, row, column)
        if _is_blank(value) or isinstance(value, ErrorValue):
            what = "word" if kind == "word" else "name of the dimension"
            raise InputError(
                f"{where}, cell {address(row + 1, column + 1)}: {_described(value)} where the {what} "
                "is needed."
            )
        if isinstance(value, bool):
            value = "TRUE" if value else "FALSE"
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if too_long([str(value)]):
            raise InputError(
                f"{where}, cell {address(row + 1, column + 1)}: the {kind} {str(value)[:20] + '...'!r} "
                f"has {len(str(value)):,} letters; a cell of a workbook holds {MAX_TEXT:,}. Shorten it."
            )
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
        unknown = value in ("#NAME?", "#ERROR!", "#N/IMPL!")
        advice = " (open the file in a spreadsheet program and save it, so that the value is stored)"
        return f"the error value {value}{advice if unknown else ''}"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if _is_number(value):
        return f"the number {value:g}" if isfinite(value) else "an infinite number"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return f"the date or time {value}"
