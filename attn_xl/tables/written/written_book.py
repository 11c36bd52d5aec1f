"""A written workbook as it is handed back: the values of its cells, and the current positions of its
named matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attn_xl.settings import SETTINGS
from attn_xl.spreadsheets.addresses import Place, parse_place
from attn_xl.spreadsheets.book import Book, read_book
from attn_xl.spreadsheets.numerals import as_text, is_number
from attn_xl.spreadsheets.values import Grid
from attn_xl.text import clean

from .record import read_record

_UP, _DOWN = -4, 30
"""Search range, in rows and columns around its recorded place, for a matrix without a name."""


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
        renamed: what a sheet of the record is called now, if its name is another one and no defined
            name leads to it; `grids` has it under the name in the record.
    """

    path: Path
    grids: dict[str, Grid]
    names: dict[str, Place | None]
    renamed: dict[str, str] = field(default_factory=dict)

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
        leads = {place.sheet for place in names.values() if place}
        renamed = _renamed(book.grids, leads)
        now = {new: old for old, new in renamed.items()}
        return cls(book.path, {now.get(n, n): g for n, g in book.grids.items()}, names, renamed)

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
        """Find a matrix with known labels; None if its sheet was deleted.

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
        if not labelled or not headed:
            return _whole(place, False)
        return self._shifted(place, rows, columns)

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

    def _shifted(self, place: Place, rows: Sequence[str], columns: Sequence[str]) -> Location:
        """Locate the matrix by its labels near its recorded place; without a match, at that place."""
        beside, above = self.labels(place)
        if above == tuple(columns) and not any(beside):  # as on a canvas
            return _whole(place, False)
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
        """The labels to the left of a range and above it."""
        rows = _range(place.row, place.last_row)
        columns = _range(place.column, place.last_column)
        return (
            tuple(self.text(place.sheet, row, place.column - 1) for row in rows),
            tuple(self.text(place.sheet, place.row - 1, column) for column in columns),
        )


def _renamed(grids: dict[str, Grid], named: set[str]) -> dict[str, str]:
    """What sheets of the record are called now: a name that differs in capitals or blanks, or that of
    the only unknown sheet with their title beside its labels, or with numbers in most cells. Defined
    names lead to the sheets in `named`, whatever they are called."""
    recorded: dict[str, list[Place]] = {}
    for _, _, text in read_record(grids) or ():
        if place := parse_place(text):
            recorded.setdefault(place.sheet, []).append(place)
    others = [name for name in grids if name not in {*recorded, *named, SETTINGS}]
    found: dict[str, str] = {}
    for sheet, places in recorded.items():
        if sheet in grids:
            continue
        alike = [name for name in others if name.strip().casefold() == sheet.casefold()]
        alike = alike or [name for name in others if _titled(grids[name], sheet, places)]
        alike = alike or [name for name in others if _filled(grids[name], places) > 0.5]
        if len(alike) == 1 and alike[0] not in found.values():
            found[sheet] = alike[0]
    return found


def _titled(grid: Grid, title: str, places: Sequence[Place]) -> bool:
    """Whether the corner between the labels of a recorded matrix has the title of its sheet."""
    corners = [(place.row - 2, place.column - 2) for place in places]
    return any(row < len(grid) and title in grid[row][column : column + 1] for row, column in corners)


def _filled(grid: Grid, places: Sequence[Place]) -> float:
    """The share of the cells in some places that hold numbers."""
    cells = [
        row < len(grid) and column < len(grid[row]) and is_number(grid[row][column])
        for place in places
        for row in range(place.row - 1, place.last_row)
        for column in range(place.column - 1, place.last_column)
    ]
    return sum(cells) / max(1, len(cells))


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
