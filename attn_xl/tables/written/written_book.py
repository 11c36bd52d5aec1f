"""A written workbook as it is handed back: the values of its cells, and the current positions of its
named matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attn_xl.spreadsheets.addresses import Place, parse_place
from attn_xl.spreadsheets.book import Book, read_book
from attn_xl.spreadsheets.numerals import as_text
from attn_xl.spreadsheets.values import Grid
from attn_xl.text import clean


@dataclass(frozen=True)
class Location:
    """The current position of a matrix: sheet, rows and columns from 1; None for deleted ones.

    Attributes:
        moved: whether rows or columns were inserted or deleted.
    """

    sheet: str
    rows: tuple[int | None, ...]
    columns: tuple[int | None, ...]
    moved: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class WrittenBook:
    """The values of a workbook by sheet, and its defined names.

    Attributes:
        names: cells by case-folded name; None for names whose cells were deleted.
    """

    path: Path
    grids: dict[str, Grid]
    names: dict[str, Place | None]

    @classmethod
    def read(cls, path: Path) -> WrittenBook:
        """Read a workbook of any format.

        Raises:
            InputError: if it cannot be read.
        """
        return cls.of(read_book(path))

    @classmethod
    def of(cls, book: Book) -> WrittenBook:
        """Build it from a book that was read."""
        names = {n.casefold(): parse_place(to) for n, to in book.marks.references().items()}
        return cls(book.path, book.grids, names)

    def value(self, sheet: str, row: int, column: int) -> Any:
        """The value of a cell; "" if blank."""
        grid = self.grids.get(sheet, [])
        line = grid[row - 1] if 0 < row <= len(grid) else []
        return line[column - 1] if 0 < column <= len(line) else ""

    def text(self, sheet: str, row: int, column: int) -> str:
        """The value of a cell as a label."""
        return clean(as_text(self.value(sheet, row, column)))

    def place(self, name: str, recorded: Place | None) -> tuple[Place | None, bool]:
        """The cells of a defined name, or else the recorded cells; and whether the name was found."""
        now = self.names.get(name.casefold()) if name else None
        if now is not None and now.sheet in self.grids:
            return now, True
        return (recorded if recorded and recorded.sheet in self.grids else None), False

    def find(
        self,
        name: str,
        recorded: Place,
        rows: Sequence[str],
        columns: Sequence[str],
        *,
        labelled: bool = True,
        headed: bool = True,
    ) -> Location | None:
        """Find a matrix with known labels, by its defined name or at its recorded place; None if it is
        not there.

        Args:
            name: its defined name; recorded: its recorded place.
            labelled, headed: whether it has row labels to its left, column labels above it.
        """
        rows, columns = tuple(rows), tuple(columns)
        place, by_name = self.place(name, recorded)
        if place is None:
            return None
        same_size = (place.rows, place.columns) == (recorded.rows, recorded.columns)
        moved = (place.row, place.column) != (recorded.row, recorded.column)
        if by_name and same_size:
            return _whole(place, moved)
        if by_name:
            return self._picked(place, rows, columns)
        beside, above = self.labels(place)
        if labelled and headed and beside != rows and above != columns:
            return None
        return _whole(place, False)

    def _picked(self, place: Place, rows: Sequence[str], columns: Sequence[str]) -> Location:
        """Locate the matrix in a range that grew or shrank, by labels beside the range or in the first
        column of the sheet."""
        for beside in (place.column - 1, 1):
            own = [self.text(place.sheet, row, beside) for row in _range(place.row, place.last_row)]
            if {*own} & {*rows}:
                break
        above = [
            self.text(place.sheet, place.row - 1, column)
            for column in _range(place.column, place.last_column)
        ]
        one_column = place.columns == len(columns)
        return Location(
            place.sheet,
            _matched(rows, own, place.row),
            _matched(columns, columns if one_column else above, place.column),
            True,
        )

    def labels(self, place: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels to the left of a range and above it."""
        rows = _range(place.row, place.last_row)
        columns = _range(place.column, place.last_column)
        return (
            tuple(self.text(place.sheet, row, place.column - 1) for row in rows),
            tuple(self.text(place.sheet, place.row - 1, column) for column in columns),
        )


def _range(first: int, last: int) -> range:
    return range(first, last + 1)


def _whole(place: Place, moved: bool) -> Location:
    rows = tuple(_range(place.row, place.last_row))
    return Location(place.sheet, rows, tuple(_range(place.column, place.last_column)), moved)


def _matched(wanted: Sequence[str], there: Sequence[str], first: int) -> tuple[int | None, ...]:
    """The position of each wanted label, in order; None if missing."""
    found: list[int | None] = []
    start = 0
    for label in wanted:
        at = next((i for i in range(start, len(there)) if there[i] == label), None)
        found.append(None if at is None else first + at)
        start = start if at is None else at + 1
    return tuple(found)
