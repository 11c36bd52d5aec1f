"""Converts a rectangle of cells to a labelled table of numbers, or reports the invalid cell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_xl.errors import InputError
from attn_xl.labelled import Labelled
from attn_xl.spreadsheets.addresses import MAX_TEXT, address, too_long
from attn_xl.spreadsheets.numerals import (
    NOT_STORED,
    ErrorValue,
    NumberText,
    as_text,
    is_number,
    numeral,
)
from attn_xl.text import clean, shortened

from .regions import (
    DECORATION,
    LABEL_HEADINGS,
    NUMBER_TEXT,
    TURNED_HEADINGS,
    Grid,
    Region,
    is_blank,
    kind_of,
)

_LIST = re.compile(r"\s*\[[-+0-9.eE\s]+([,;][-+0-9.eE\s]+)*\]\s*")


@dataclass(frozen=True, repr=False)
class Table(Labelled):
    """Labelled numbers and their position in the file.

    Attributes:
        name: the sheet's name, or `W_Q`, `W_K`, `W_V` for weights.
        values: shape (rows, columns), float64.
        rows, columns: the labels; `word 1`, `dim 1`, ... where the sheet has none.
        labelled: whether (rows, columns) have labels in the sheet.
        file, sheet, row, column: the file, the sheet, and the cell of the first number, from 1.
        turned: whether the rows of the table are columns in the file.
    """

    name: str
    values: NDArray[np.float64]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    labelled: tuple[bool, bool]
    file: str
    sheet: str
    row: int
    column: int
    turned: bool = False

    def largest(self) -> str:
        """The address of the cell with the largest absolute value."""
        row, column = np.unravel_index(np.abs(self.values).argmax(), self.values.shape)
        if self.turned:
            row, column = column, row
        return address(self.row + int(row), self.column + int(column))

    def part(self, rows: slice, columns: slice) -> Table:
        """The part of the table with the given rows and columns."""
        return replace(
            self,
            values=np.ascontiguousarray(self.values[rows, columns]),
            rows=self.rows[rows],
            columns=self.columns[columns],
            row=self.row + (rows.start or 0),
            column=self.column + (columns.start or 0),
        )

    def turn(self) -> Table:
        """The transposed table."""
        return replace(
            self,
            values=np.ascontiguousarray(self.values.T),
            rows=self.columns if self.labelled[1] else _numbered("word", len(self.columns)),
            columns=self.rows if self.labelled[0] else _numbered("dim", len(self.rows)),
            labelled=self.labelled[::-1],
            turned=not self.turned,
        )


def looked_up(own: Table, other: Table) -> bool:
    """Whether each row, or each column, of a table is the one of the same word in another table, which
    has others, or another order."""

    def rows_in(own: Table, other: Table) -> bool:
        rows = dict(zip(other.rows, other.values.tolist()))
        there = own.labelled[0] and own.rows != other.rows and {*own.rows} <= {*other.rows}
        return there and own.values.tolist() == [rows[word] for word in own.rows]

    return rows_in(own, other) or rows_in(own.turn(), other.turn())


def selects(own: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Whether each vector is one of the others, in rows or in columns."""
    return any(
        {*map(tuple, vectors.tolist())} <= {*map(tuple, every.tolist())}
        for vectors, every in ((own, others), (own.T, others.T))
    )


def is_one_hot(values: NDArray[np.float64]) -> bool:
    """Whether each row, or each column, has a one among zeros."""
    ones = bool(np.isin(values, (0, 1)).all())
    return ones and any((values.sum(axis=axis) == 1).all() for axis in (0, 1))


def words_seen(mask: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Which words (m) each word (n) sees by a mask (n, m) of zeros and ones: those with a 1, or with
    a 0 if no word would see itself; None for any other mask, which is added to scores."""
    ones = mask == 1
    if not ones.any() or not (ones | (mask == 0)).all():
        return None
    hides = mask.shape[0] == mask.shape[1] and not ones.diagonal().any()
    return np.asarray(ones != hides)


Lines = Mapping[int, list[Any]]
"""Rows of cells by number, from 0."""


class LabelsOnlyError(InputError):
    """The region contains labels but no numbers of a table."""


def _numbered(kind: str, count: int) -> tuple[str, ...]:
    return tuple(f"{kind} {i}" for i in range(1, count + 1))


def _is_heading(value: Any) -> bool:
    return not is_blank(value) and not is_number(value) and not isinstance(value, ErrorValue)


def read_region(grid: Grid, region: Region, file: str, sheet: str) -> tuple[Table, int]:
    """Read the table of a region; also returns how many of its numbers are stored as text.

    The region may have a row of column labels above the numbers, a column of row labels to their left,
    and titles in the first column above.

    Raises:
        InputError: if a cell is not a finite number or a label is missing; the message names the cell.
    """
    where = f"{file}, sheet {sheet!r}"
    lines, texts = _cropped(grid, region)
    edge = region.crop[1]
    run = [
        r for r in range(region.crop[0], region.crop[2] + 1) if not all(map(is_blank, lines[r][edge:]))
    ]
    numbers = [row for row in run if any(map(is_number, lines[row][edge:]))]
    if not numbers:
        raise LabelsOnlyError(f"{where}: {region.place(sheet).range} holds no numbers.")
    left = min(_first_filled(lines[row], edge) for row in numbers)
    first = next((row for row in numbers if _has_numbers(lines[row], left)), numbers[0])
    numeric = [column for column, value in enumerate(lines[first][left:], left) if is_number(value)]
    above = [row for row in run if row < first]
    header = next(
        (row for row in reversed(above) if any(not is_blank(_at(lines, row, c)) for c in numeric)), None
    )
    if header is None and is_blank(_at(lines, first, left)):
        header = first  # the labels of the columns are numbers: 0, 1, 2, ...
    if header is None and len(numbers) > 1 and _heads_words(_at(lines, first, left)):
        header = first if _counts(lines[first][left + 1 :]) else None
    body = [row for row in run if row > header] if header is not None else run[run.index(first) :]
    if not body:
        raise LabelsOnlyError(f"{where}: {region.place(sheet).range} holds labels without a table.")
    if header is not None:
        left = min(left, _first_filled(lines[header], edge))
    _check_above(lines, run, body[0] if header is None else header, left, where)

    labelled = _has_row_labels(lines, header, body, left, where, grid)
    start = left + 1 if labelled else left
    stop = start
    used = body if header is None else [header, *body]
    while any(not is_blank(_at(lines, row, stop)) for row in used):
        stop += 1
    for row in body:
        for column in range(stop, len(lines[row])):
            if is_number(lines[row][column]):
                raise InputError(
                    f"{where}, cell {address(row + 1, column + 1)}: a number beside the table, after "
                    "an empty column. Move it to another sheet, or close the gap."
                )
    if start == stop:
        raise LabelsOnlyError(f"{where}: {region.place(sheet).range} holds labels without a table.")
    columns = [(header, column) for column in range(start, stop)]
    table = Table(
        name="",
        columns=tuple(_labels(columns, lines, "dim", header is not None, where)),
        rows=tuple(_labels([(row, left) for row in body], lines, "word", labelled, where)),
        values=_values(lines, body, start, stop, where),
        labelled=(labelled, header is not None),
        file=file,
        sheet=sheet,
        row=body[0] + 1,
        column=start + 1,
    )
    return table, texts


def table_at(
    grid: Grid,
    corners: Sequence[int],
    rows: Sequence[str],
    columns: Sequence[str],
    file: str,
    sheet: str,
) -> Table:
    """The table whose numbers are in the given cells.

    Args:
        corners: first row, first column, last row, last column, from 1.
        rows, columns: the labels; () for none.

    Raises:
        InputError: if a cell is not a finite number; the message names the cell.
    """
    top, left, bottom, right = corners
    lines = {row: grid[row] if row < len(grid) else [] for row in range(top - 1, bottom)}
    where = f"{file}, sheet {sheet!r}"
    return Table(
        name="",
        values=np.array(
            [
                [_number(lines, row, column, where) for column in range(left - 1, right)]
                for row in range(top - 1, bottom)
            ]
        ),
        rows=tuple(rows) or _numbered("word", bottom - top + 1),
        columns=tuple(columns) or _numbered("dim", right - left + 1),
        labelled=(bool(rows), bool(columns)),
        file=file,
        sheet=sheet,
        row=top,
        column=left,
    )


def _cropped(grid: Grid, region: Region) -> tuple[Lines, int]:
    """The rows of a region at their positions, without arrows and with numeric text converted to
    numbers; and the count of converted cells."""
    top, left, bottom, right = region.crop
    inside = grid[top : bottom + 1]
    whole = left == 0 and region.words_at is None
    if whole and not region.odd and all(len(row) <= right + 1 for row in inside):
        return dict(enumerate(inside, top)), 0
    before: list[Any] = [""] * left
    rows = {n: before + row[left : right + 1] for n, row in enumerate(inside, top)}
    if region.words_at is not None:
        for n, row in enumerate(inside, top):
            rows[n][left : left + 1] = row[region.words_at : region.words_at + 1] if row[left:] else []
    if not region.odd:
        return rows, 0
    first = _first_of_numbers(rows, region)
    count = 0
    for number, row in rows.items():
        for column, value in enumerate(row):
            if type(value) is not str or not value:
                continue
            kind = kind_of(value)
            if kind == DECORATION:
                row[column] = ""
            elif kind == NUMBER_TEXT and number >= first[0] and column >= first[1]:
                row[column] = NumberText(numeral(value) or 0.0, value)
                count += 1
    return rows, count


def _first_of_numbers(rows: Lines, region: Region) -> tuple[int, int]:
    """The first row and column in which text may be a number: a row or column of texts beside real
    numbers contains labels, even if they look like numbers."""
    top, left, bottom, right = region.box
    inside = [rows[row][left : right + 1] for row in range(top, bottom + 1)]
    real = any(is_number(value) for row in inside for value in row)
    if not real:
        return top, left
    beyond = rows[top][left : right + 1]
    if region.crop[0] == top < bottom and not any(map(is_number, beyond)):
        top += 1
    column = [_at(rows, row, left) for row in range(top, bottom + 1)]
    if region.crop[1] == left < right and not any(map(is_number, column)):
        left += 1
    return top, left


def _has_numbers(values: list[Any], left: int) -> bool:
    """Whether a row contains numbers and is not a heading row with a number in its corner."""
    numbers = [column for column, value in enumerate(values[left:], left) if is_number(value)]
    headings = any(map(_is_heading, values[left + 1 :]))
    return bool(numbers) and not (numbers == [left] and headings)


def _at(grid: Lines, row: int, column: int) -> Any:
    return grid[row][column] if column < len(grid[row]) else ""


def _first_filled(values: list[Any], start: int) -> int:
    return next(column for column, value in enumerate(values[start:], start) if not is_blank(value))


def _check_above(grid: Lines, run: list[int], top: int, left: int, where: str) -> None:
    """Check that only titles in the first column are directly above a table: text elsewhere may be a
    mistyped number and must not be dropped."""
    for row in run:
        if row < top:
            for column in range(left + 1, len(grid[row])):
                if not is_blank(grid[row][column]):
                    raise InputError(
                        f"{where}, cell {address(top + 1, _text_column(grid, top, left) + 1)}: "
                        f"{described(_at(grid, top, _text_column(grid, top, left)))} where a number "
                        "is needed. (If it is a heading, leave an empty row above it.)"
                    )


def _text_column(grid: Lines, row: int, left: int) -> int:
    for column in range(left + 1, len(grid[row])):
        if not is_blank(grid[row][column]):
            return column
    return left


def _has_row_labels(
    grid: Lines, header: int | None, body: list[int], left: int, where: str, sheet: Grid
) -> bool:
    cells = [_at(grid, row, left) for row in body]
    texts = [row for row, value in zip(body, cells) if _is_heading(value)]
    if header is not None:
        corner = _at(grid, header, left)
        return (
            bool(texts)
            or is_blank(corner)
            or str(corner).strip().casefold() in (LABEL_HEADINGS | TURNED_HEADINGS)
        )
    if texts and any(map(is_number, cells)):
        raise InputError(
            f"{where}, cell {address(texts[0] + 1, left + 1)}: "
            f"{described(_at(grid, texts[0], left))} in a column of numbers."
        )
    first = [value for value in grid[body[0]][left + 1 :] if not is_blank(value)]
    occurs = sum(row.count(cells[0]) for row in sheet)
    if texts and _counts(first) and occurs < 2:  # a heading does not label another table
        text = shortened(as_text(cells[0]))
        raise InputError(
            f"{where}, row {body[0] + 1}: {text!r} with {first[0]:g}, {first[1]:g}, ... "
            "may be a word or the numbers of the columns. If it is a word, name the columns in the "
            f"row above; if they number the columns, clear cell {address(body[0] + 1, left + 1)}."
        )
    return bool(texts)


def _heads_words(value: Any) -> bool:
    """Whether a text is a heading for a column of words."""
    return isinstance(value, str) and value.strip().casefold() in LABEL_HEADINGS - {""}


def _counts(values: list[Any]) -> bool:
    """Whether the values are 0, 1, 2, ... or 1, 2, 3, ..."""
    numbers = [value for value in values if not is_blank(value)]
    counts = ([*range(len(numbers))], [*range(1, len(numbers) + 1)])
    return len(numbers) > 1 and numbers in counts


def _alone_below(grid: Lines, row: int, column: int) -> int | None:
    """The row of the only value below a cell; None if there are several."""
    there = [r for r in range(row + 1, len(grid)) if not is_blank(_at(grid, r, column))]
    return there[0] if len(there) == 1 and len(grid) - row > 2 else None


def _labels(
    cells: list[tuple[Any, int]], grid: Lines, kind: str, labelled: bool, where: str
) -> Iterator[str]:
    for number, (row, column) in enumerate(cells, 1):
        if not labelled:
            yield f"{kind} {number}"
            continue
        value = _at(grid, row, column)
        if is_blank(value) or isinstance(value, ErrorValue):
            what = "word" if kind == "word" else "name of the dimension"
            if kind != "word" and (alone := _alone_below(grid, row, column)) is not None:
                raise InputError(
                    f"{where}, cell {address(alone + 1, column + 1)}: one value more than the table "
                    f"has columns. Delete it, or name its column in {address(row + 1, column + 1)}."
                )
            raise InputError(
                f"{where}, cell {address(row + 1, column + 1)}: {described(value)} where the {what} "
                "is needed."
            )
        text = str(value).upper() if isinstance(value, bool) else as_text(value)
        if too_long([text]):
            raise InputError(
                f"{where}, cell {address(row + 1, column + 1)}: the {kind} {shortened(text, 20)!r} "
                f"has {len(text):,} characters; a cell of a workbook holds {MAX_TEXT:,}. Shorten it."
            )
        yield clean(text)


def _values(grid: Lines, body: list[int], start: int, stop: int, where: str) -> NDArray[np.float64]:
    rows = [grid[row][start:stop] for row in body]
    if all(len(row) == stop - start and {*map(type, row)} <= {float, NumberText} for row in rows):
        values = np.array(rows, dtype=np.float64)
        if np.isfinite(values).all():
            return values
    slow = [[_number(grid, row, c, where) for c in range(start, stop)] for row in body]
    return np.array(slow, dtype=np.float64)


def _number(grid: Lines, row: int, column: int, where: str) -> float:
    value = _at(grid, row, column)
    if is_number(value) and isfinite(value):
        return float(value)
    raise InputError(
        f"{where}, cell {address(row + 1, column + 1)}: {described(value)} where a number is needed."
    )


def numbers_in(text: Any) -> bool:
    """Whether a cell contains a list of numbers as text: `[0.1, 0.2]`."""
    return isinstance(text, str) and bool(_LIST.fullmatch(text))


def described(value: Any) -> str:
    """Describe a value for a message: the text 'abc', blank, the error value #N/A."""
    if is_blank(value):
        return "blank (or an error value)"
    if isinstance(value, ErrorValue):
        unknown = value in ("#NAME?", "#ERROR!", "#N/IMPL!", NOT_STORED)
        advice = " (open the file in a spreadsheet program and save it to store the value)"
        kind = "" if value == NOT_STORED else "the error value "
        return f"{kind}{value}{advice if unknown else ''}"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, NumberText) and isnan(value):
        return f"the text {value.text!r}, which may have decimals or a thousands separator,"
    if is_number(value):
        return f"the number {value:g}" if isfinite(value) else "an infinite number"
    if numbers_in(value):
        several = "several numbers in one cell (put each in its own column)"
        return f"the text {shortened(value)!r}, {several},"
    if isinstance(value, str):
        return f"the text {shortened(value)!r}"
    return f"the date or time {value}"
