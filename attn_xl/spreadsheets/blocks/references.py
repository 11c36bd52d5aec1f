"""Looking up what formulas refer to: filled cells, blank cells and text.

Cells of rectangles are counted by binary search in sorted keys, so the cost does not depend on the
extent of a sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from attn_xl.spreadsheets.addresses import MAX_COLUMNS, MAX_ROWS
from attn_xl.spreadsheets.formulas import TEXT, WIDTH, FormulaBook, Ints, SheetCells

from .templates import Coordinates, Forms, Reference, Template

HEIGHT = MAX_ROWS + 1
FEW = 16  # rectangles that are counted one by one, equal or not
Rectangles = tuple[Ints, Ints, Ints, Ints]


class Filled:
    """Counts the cells of a sheet that are filled, or hold text, in rectangles."""

    def __init__(self, sheet: SheetCells) -> None:
        self._all = self._both(sheet.keys)
        self._text = self._both(sheet.keys[sheet.kinds == TEXT])

    @staticmethod
    def _both(keys: Ints) -> tuple[Ints, Ints]:
        return keys, np.sort((keys % WIDTH) * HEIGHT + keys // WIDTH)

    def filled(self, rectangles: Rectangles) -> Ints:
        return self._count(self._all, rectangles)

    def texts(self, rectangles: Rectangles) -> Ints:
        return self._count(self._text, rectangles)

    @classmethod
    def count(cls, keys: Ints, rectangles: Rectangles) -> Ints:
        """How many of some cells, by their sorted keys, are in each rectangle."""
        return cls._count(cls._both(keys), rectangles)

    @staticmethod
    def _count(keys: tuple[Ints, Ints], rectangles: Rectangles) -> Ints:
        """Line by line, along the longer side of each rectangle."""
        whole = np.stack(rectangles, axis=1)
        once, which = whole, np.arange(len(whole))
        if len(whole) > FEW:
            once, which = np.unique(whole, axis=0, return_inverse=True)
        top, left, bottom, right = once.T
        height, width = bottom - top + 1, right - left + 1
        counts = np.zeros(len(once), dtype=np.int64)
        for by_rows in (True, False):
            mine = np.flatnonzero((height <= width) == by_rows)
            lines = height[mine] if by_rows else width[mine]
            line = 0
            while len(mine):
                if by_rows:
                    start = (top[mine] + line) * WIDTH + left[mine] - 1
                    length, sorted_keys = width[mine], keys[0]
                else:
                    start = (left[mine] + line - 1) * HEIGHT + top[mine]
                    length, sorted_keys = height[mine], keys[1]
                counts[mine] += np.searchsorted(sorted_keys, start + length)
                counts[mine] -= np.searchsorted(sorted_keys, start)
                line += 1
                mine, lines = mine[lines > line], lines[lines > line]
        return np.asarray(counts[which.reshape(-1)])


def rectangles_of(reference: Reference, values: Coordinates) -> Rectangles:
    """The rectangles (top, left, bottom, right) that a reference is in n formulas."""
    first = values[:, reference.at : reference.at + 2].astype(np.int64)
    last = first if reference.cells == 1 else values[:, reference.at + 2 : reference.at + 4]
    last = last.astype(np.int64)
    low, high = np.minimum(first, last), np.maximum(first, last)
    low = np.maximum(low, 1)
    high = np.minimum(high, [MAX_ROWS, MAX_COLUMNS])
    return low[:, 0], low[:, 1], high[:, 0], high[:, 1]


class Lookup:
    """The sheets of a book with what is filled in them, by name as formulas write it."""

    def __init__(self, book: FormulaBook) -> None:
        self._sheets = {name.casefold(): sheet for name, sheet in book.sheets.items()}
        self._filled: dict[str, Filled] = {}

    def sheet(self, name: str, own: SheetCells | None = None) -> SheetCells | None:
        """A sheet by its name; `own` where a formula names none."""
        return self._sheets.get(name.casefold()) if name else own

    def sheets(self) -> Iterable[SheetCells]:
        """All sheets, as they come in the book."""
        return self._sheets.values()

    def filled(self, sheet: SheetCells) -> Filled:
        if sheet.name not in self._filled:
            self._filled[sheet.name] = Filled(sheet)
        return self._filled[sheet.name]


def uses(book: FormulaBook, forms: Forms) -> Iterator[tuple[SheetCells, Ints, Template, Coordinates]]:
    """For each sheet and template that refers to something: the places of its cells, and their
    coordinates."""
    for sheet in book.sheets.values():
        where = np.flatnonzero(sheet.formulas >= 0)
        kinds = forms.template[sheet.formulas[where]]
        order = np.argsort(kinds, kind="stable")
        for places in np.split(where[order], np.flatnonzero(np.diff(kinds[order])) + 1):
            if len(places):
                template = forms.templates[int(forms.template[sheet.formulas[places[0]]])]
                if template.references or template.names:
                    rows, columns = sheet.keys[places] // WIDTH, sheet.keys[places] % WIDTH + 1
                    values = forms.coordinates(sheet.formulas[places], rows, columns)
                    yield sheet, places, template, values
