"""A written workbook as somebody hands it back: the values of its cells, and where its named matrices
stand now. Knows nothing of what they mean."""

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

_UP, _DOWN = -4, 30
"""So many rows and columns a matrix without a name is looked for above and below its place."""


@dataclass(frozen=True)
class Location:
    """Where a matrix stands now: the sheet, and the rows and columns from 1, None where one is gone.

    Attributes:
        moved: rows or columns were put in or taken out.
    """

    sheet: str
    rows: tuple[int | None, ...]
    columns: tuple[int | None, ...]
    moved: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class WrittenBook:
    """The values of a workbook by sheet, and its defined names.

    Attributes:
        names: by the name in small letters; None for one whose cells are gone.
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
        """With the names of the file that was read."""
        names = {n.casefold(): parse_place(to) for n, to in book.marks.references().items()}
        return cls(book.path, book.grids, names)

    def value(self, sheet: str, row: int, column: int) -> Any:
        """What a cell shows; "" for nothing."""
        grid = self.grids.get(sheet, [])
        line = grid[row - 1] if 0 < row <= len(grid) else []
        return line[column - 1] if 0 < column <= len(line) else ""

    def text(self, sheet: str, row: int, column: int) -> str:
        """What a cell shows, as a label."""
        return clean(as_text(self.value(sheet, row, column)))

    def place(self, name: str, recorded: Place | None) -> tuple[Place | None, bool]:
        """Where a name stands, or else where it stood; and whether the name told it."""
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
        """Where a matrix stands whose labels are known; None if its sheet is gone.

        Args:
            name: its defined name; recorded: where it stood.
            labelled, headed: whether its row labels stand to its left, its column labels above it.
        """
        place, told = self.place(name, recorded)
        if place is None:
            return None
        same_size = (place.rows, place.columns) == (recorded.rows, recorded.columns)
        moved = (place.row, place.column) != (recorded.row, recorded.column)
        if told and same_size:
            return _whole(place, moved)
        if told:
            return self._picked(place, rows, columns)
        if not labelled or not headed:
            return _whole(place, False)
        return self._shifted(place, rows, columns)

    def _picked(self, place: Place, rows: Sequence[str], columns: Sequence[str]) -> Location:
        """Within a range that grew or shrank: by labels, which stand in the sheet's first column where
        they are not beside the range."""
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

    def _shifted(self, place: Place, rows: Sequence[str], columns: Sequence[str]) -> Location:
        """By labels, near where it stood; where it stood if they are nowhere."""
        steps = sorted(range(_UP, _DOWN), key=abs)
        for down, right in sorted(
            ((r, c) for r in steps for c in steps), key=lambda s: abs(s[0]) + abs(s[1])
        ):
            top, left = place.row + down, place.column + right
            if top < 2 or left < 2 or self.text(place.sheet, top, left - 1) != rows[0]:
                continue
            moved = Place(place.sheet, top, left, len(rows), len(columns))
            if self.labels(moved) == (tuple(rows), tuple(columns)):
                return _whole(moved, bool(down or right))
        return _whole(place, False)

    def labels(self, place: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What stands to the left of a range, and above it."""
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
    """For each wanted label where it stands, in order."""
    found: list[int | None] = []
    start = 0
    for label in wanted:
        at = next((i for i in range(start, len(there)) if there[i] == label), None)
        found.append(None if at is None else first + at)
        start = start if at is None else at + 1
    return tuple(found)
