"""A written workbook as it is handed back: the values of its cells, and where its matrices are now."""

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
    ) -> Place | None:
        """The cells of a matrix: those of its defined name or, without one, those recorded; None if it
        is not there.

        Args:
            name: its defined name; recorded: its recorded place; rows, columns: its labels.
            labelled: whether labels stand beside it and above it.
        """
        place, by_name = self.place(name, recorded)
        if place is None or (place.rows, place.columns) != (recorded.rows, recorded.columns):
            return None
        beside, above = self.labels(place)
        moved = labelled and not by_name and beside != tuple(rows) and above != tuple(columns)
        return None if moved else place

    def labels(self, place: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels to the left of a range and above it."""
        rows = range(place.row, place.last_row + 1)
        columns = range(place.column, place.last_column + 1)
        return (
            tuple(self.text(place.sheet, row, place.column - 1) for row in rows),
            tuple(self.text(place.sheet, place.row - 1, column) for column in columns),
        )
