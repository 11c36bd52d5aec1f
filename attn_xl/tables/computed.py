"""The products that a workbook computes, told by its numbers: where the product of two tables stands
among those that formulas compute, the one multiplies the other, whichever functions do so."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations
from math import inf
from typing import Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.records import record
from attn_xl.spreadsheets.addresses import (
    MAX_COLUMNS,
    MAX_ROWS,
    Place,
    parse_area,
    place_of,
)
from attn_xl.spreadsheets.book import Book
from attn_xl.spreadsheets.formulas import References
from attn_xl.spreadsheets.numerals import NumberText, is_number
from attn_xl.text import clean

from .labels import Table, table_at, words_seen
from .regions import DECORATION, Grid, is_blank, kind_of
from .roles import Found, WordsIn, are_computed

MOST_PLACES = 1_000
"""Cells with a number that are looked at for a matrix."""
MOST_PARTS = 24
"""Parts of a product that heads may take."""
DECIMALS = range(2, 7)
"""Those to which the numbers of a workbook may be rounded."""
AGREES, LEAST = 1e-7, 1e-12
"""The largest difference between a matrix and cells that hold it, relative to each number and to the
largest."""
Values = np.ndarray
Tables = Mapping[str, Sequence[Found]]
"""The tables of each sheet, by the name of the sheet in the file."""


class Numbers:
    """The numbers that formulas compute, found by value, with those typed among them; all numbers where
    formulas cannot be read.

    Attributes:
        unit: that of the last decimal, if formulas round the numbers and this is to be allowed for; 0.
    """

    def __init__(self, book: Book, computed: Sequence[Place], rounded: bool = False) -> None:
        self.unit = 0.0
        self._sheets: list[tuple[str, Values]] = []
        places, numbers = [], []
        for n, (sheet, grid) in enumerate(book.grids.items()):
            formulas = book.marks.formulas(sheet)
            here = np.full((len(grid), max(map(len, grid), default=0)), np.nan)
            cells = formulas if formulas is not None else {
                (r, c) for r, row in enumerate(grid, 1) for c in range(1, len(row) + 1)}  # fmt: skip
            typed = [place.cells() for place in computed if place.sheet == sheet]
            for r, c in chain(cells, *typed):
                value = grid[r - 1][c - 1] if r <= len(grid) and c <= len(grid[r - 1]) else ""
                if is_number(value):
                    here[r - 1, c - 1] = value
            self._sheets.append((sheet, here))
            rows, columns = np.nonzero(np.isfinite(here))
            places.append(np.column_stack([np.full(len(rows), n), rows, columns]))
            numbers.append(here[rows, columns])
        self._numbers = np.concatenate(numbers) if numbers else np.zeros(0)
        self._order = np.argsort(self._numbers, kind="stable")
        self._numbers = self._numbers[self._order]
        self._in_order = self._numbers.tolist()
        self._places = np.concatenate(places) if places else np.zeros((0, 3), int)
        for decimals in DECIMALS if rounded else ():
            if np.abs(self._numbers - np.round(self._numbers, decimals)).max(initial=0.0) < LEAST:
                self.unit = self.unit or float(10.0**-decimals)

    def at(self, place: Place, turned: bool) -> Values:
        """The numbers in some cells, or their transpose."""
        here = dict(self._sheets)[place.sheet]
        here = here[place.row - 1 : place.last_row, place.column - 1 : place.last_column]
        return here.T if turned else here

    def order(self, place: Place) -> tuple[int, int, int]:
        """The order of cells in the workbook."""
        return [name for name, _ in self._sheets].index(place.sheet), place.row, place.column

    def near(self, values: Values) -> Values:
        """Which values may be among the numbers."""
        slack = 10 * AGREES * np.maximum(1.0, np.abs(values)) + self.unit
        return np.asarray(
            np.searchsorted(self._numbers, values - slack)
            < np.searchsorted(self._numbers, values + slack, side="right")
        )

    def find(
        self, matrix: Values, but: Sequence[Place] = (), sheet: str = ""
    ) -> tuple[Place, bool] | None:
        """The first cells, other than some, that hold a matrix, those of one sheet before others, and
        whether they hold its transpose; None if none do, if it has one number, or zeros alone."""
        sizes = np.abs(matrix)
        largest, corner = float(sizes.max()), float(matrix[0, 0])
        if matrix.size < 2 or not 0 < largest < inf:
            return None
        slack = AGREES * sizes + LEAST * largest + self.unit
        first = bisect_left(self._in_order, corner - float(slack[0, 0]))
        if first == bisect_right(self._in_order, corner + float(slack[0, 0]), first):
            return None  # most matrices stand nowhere
        firsts = np.searchsorted(self._numbers, matrix - slack)
        lasts = np.searchsorted(self._numbers, matrix + slack, side="right")
        i, j = divmod(int((lasts - firsts).argmin()), matrix.shape[1])  # the rarest number
        there = self._places[np.sort(self._order[firsts[i, j] : lasts[i, j]])].tolist()
        there.sort(key=lambda cell: self._sheets[cell[0]][0] != sheet)
        for number, row, column in there[:MOST_PLACES]:
            name, numbers = self._sheets[number]
            for turned in (False, True):
                wanted, (down, right) = (matrix.T, (j, i)) if turned else (matrix, (i, j))
                top, left = row - down, column - right
                here = numbers[max(top, 0) : top + len(wanted), max(left, 0) : left + wanted.shape[1]]
                fits = slack.T if turned else slack
                if here.shape != wanted.shape or not (np.abs(here - wanted) <= fits).all():
                    continue
                place = Place(name, top + 1, left + 1, *wanted.shape)
                if not any(map(place.overlaps, but)):
                    return place, turned
        return None


@record(frozen=True, eq=False)
class Factor:
    """A table, or some columns of it, as a factor.

    Attributes:
        sheet: the name of its sheet in the file.
        turned: whether it is transposed: words in columns, or weights applied from the left.
        values: its numbers then: words in rows, (n, d), or weights to the right of them, (d, m).
        first: the first of its columns.
    """

    sheet: str
    found: Found
    turned: bool
    values: Values
    first: int = 0

    def columns(self, first: int, count: int) -> Factor:
        return replace(self, values=self.values[:, first : first + count], first=self.first + first)

    @property
    def place(self) -> Place:
        """The cells of its numbers."""
        table = self.table
        return Place(self.sheet, table.row, table.column, *table.shape)

    @property
    def table(self) -> Table:
        """Its part of the table, as it stands on the sheet."""
        assert self.found.table is not None
        own = slice(self.first, self.first + self.values.shape[1])
        whole = slice(0, self.values.shape[0])
        return self.found.table.part(*((own, whole) if self.turned else (whole, own)))

    def as_found(self, why: str, **more: Any) -> Found:
        """The table with what it is used for."""
        f, table = self.found, self.table
        if f.table is not None and table.shape != f.table.shape:
            place = Place(f.place.sheet, table.row, table.column, *table.shape)
            f = replace(f, place=place, numbers=place.range, shape=table.shape, table=table)
        direction: WordsIn = "columns" if self.turned else "rows"
        return replace(f, why=why, turned=self.turned, words_in=direction, certain=True, **more)


@record(frozen=True, eq=False)
class Projection:
    """Queries, keys or values, (n, d): words times weights plus a bias; without weights, the words.

    Attributes:
        place: the cells that hold it, or the words; None if none do.
    """

    values: Values
    words: Factor
    weights: Factor | None = None
    bias: Factor | None = None
    place: Place | None = None

    @property
    def where(self) -> str:
        return self.place.where if self.place and self.weights else ""

    def columns(self, first: int, count: int) -> Projection:
        return replace(
            self,
            values=self.values[:, first : first + count],
            weights=self.weights and self.weights.columns(first, count),
            bias=self.bias and self.bias.columns(first, count),
        )


class Products:
    """The products of a workbook's tables that its formulas compute.

    Attributes:
        numbers: the numbers that formulas compute; references: what they read, if they can be read.
        tables: the tables that may be factors, each with its sheet.
        factors: the same as factors, without copies; masks: those that may hide words, by shape.
        of: for all words their products with weights and, last, themselves; parts: the columns of these
            products that heads may take.
        multiplied: the cells that products multiply; results: those that hold them.
    """

    def __init__(
        self, book: Book, tables: Tables, references: References | None, rounded: bool = False
    ) -> None:
        self.references = references
        self.tables = _readable(book, tables, references)
        self.tables.sort(key=lambda one: bool(one[1].computed))
        self.numbers = Numbers(
            book, [f.cells(sheet) for sheet, f in self.tables if f.computed], rounded
        )
        self.factors: list[Factor] = []
        self.masks: dict[tuple[int, ...], list[Factor]] = {}
        originals: dict[object, int] = {}
        numbers: list[int] = []
        """For each table its number among the factors, or that of the table that it copies."""
        for sheet, f in self.tables:
            assert f.table is not None
            values, number = f.table.values, len(self.factors)
            key = values.shape, values.tobytes()
            if f.computed and key in originals:
                numbers.append(originals[key])
                continue
            numbers.append(number)
            originals.setdefault(key, number)
            self.factors += [Factor(sheet, f, False, values), Factor(sheet, f, True, values.T)]
        for one in self.factors:
            if one.values.max() <= 0 > one.values.min() or words_seen(one.values) is not None:
                self.masks.setdefault(one.values.shape, []).append(one)
        places = [f.cells(sheet) for sheet, f in self.tables]
        pairs = references.together(places) if references else permutations(range(len(places)), 2)
        self._together = {(numbers[a], numbers[b]) for a, b in pairs}
        self.multiplied: list[Place] = []
        self.results: list[Place] = []
        self.of = self._products()
        self.parts = {words: _parts(own) for words, own in self.of.items()}

    def _products(self) -> dict[Factor, list[Projection]]:
        found = {x: [Projection(x.values, x, place=x.place)] for x in self.factors}
        numbered = [*enumerate(self.factors)]
        biases = [None, *(b for b in self.factors if len(b.values) == 1)]
        for width in {x.values.shape[1] for x in self.factors} - {1}:
            words = [(n, x) for n, x in numbered if x.values.shape[1] == width]
            weights = [(n, w) for n, w in numbered if len(w.values) == width]
            firsts = np.array([x.values[0] for _, x in words])
            lasts = np.array([w.values[:, 0] for _, w in weights]).reshape(-1, width)
            for bias in biases:
                corners = firsts @ lasts.T + (0.0 if bias is None else bias.values[0, 0])
                for i, j in np.argwhere(self.numbers.near(corners)).tolist():
                    (n, x), (m, w) = words[i], weights[j]
                    if (n // 2 * 2, m // 2 * 2) not in self._together:
                        continue
                    if bias and bias.values.shape[1] != w.values.shape[1]:
                        continue
                    values = x.values @ w.values + (0.0 if bias is None else bias.values)
                    if at := self.numbers.find(values, (x.place, w.place), x.sheet):
                        values = self.numbers.at(*at)
                        found[x].insert(-1, Projection(values, x, w, bias, at[0]))
                        self.multiplied += [x.place, w.place]
                        self.results.append(at[0])
        return found


def _parts(own: Sequence[Projection]) -> list[Projection]:
    found = []
    for one in own:
        width = one.values.shape[1] if one.weights is not None else 0
        for part in range(2, width):
            if width % part == 0 and width // part <= MOST_PARTS:
                found += [one.columns(first, part) for first in range(0, width, part)]
    return found


def _readable(book: Book, tables: Tables, references: References | None) -> list[tuple[str, Found]]:
    """The tables of a book that can be read, each with its sheet: one whose labels cannot be read has
    those that stand beside it all; an area that formulas read is one, too."""
    found = [(sheet, f) for sheet, own in tables.items() for f in own if f.table is not None]
    there = {f.cells(sheet) for sheet, f in found}
    areas = [
        place_of(sheet, *area[1])
        for sheet, own in tables.items()
        for f in own
        if f.table is None and (area := parse_area(f.numbers))
    ]
    read: Iterable[Place] = references.areas() if references else ()
    areas += [
        one for one in dict.fromkeys(read) if 1 < one.rows < MAX_ROWS and 1 < one.columns < MAX_COLUMNS
    ]
    for place in areas:
        if place not in there and place.sheet in tables:
            there.add(place)
            if f := found_at(book, place, tables[place.sheet]):
                found.append((place.sheet, f))
    return found


def found_at(book: Book, place: Place, near: Sequence[Found]) -> Found | None:
    """The table in some cells with the labels beside them; None if one is no number.

    Args:
        near: the tables of the sheet, which have its name.
    """
    grid = book.grids[place.sheet]
    above, beside = labels_of(grid, place)
    corners = place.row, place.column, place.last_row, place.last_column
    plain = near[0].place.sheet if near else place.sheet
    try:
        table = table_at(grid, corners, beside, above, str(book.path), plain)
    except InputError:
        return None
    labelled = Place(
        plain, place.row - bool(above), place.column - bool(beside),
        place.rows + bool(above), place.columns + bool(beside),
    )  # fmt: skip
    formulas = book.marks.formulas(place.sheet)
    computed = None if formulas is None else are_computed([*place.cells()], formulas)
    title = next((f.title for f in near if f.title and f.numbers == place.range), "")
    return Found(labelled, place.range, table.shape, title, table=table, computed=computed)


def labels_of(grid: Grid, place: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels above cells and to their left; () where there are none."""
    columns = range(place.column, place.last_column + 1)
    above = _labels([_value(grid, place.row - 1, c) for c in columns])
    beside, further = (
        [_value(grid, r, place.column - n) for r in range(place.row, place.last_row + 1)]
        for n in (1, 2)
    )
    whole = all(is_number(value) and float(value).is_integer() for value in beside)
    if _labels(further) and (whole or all(map(is_blank, beside))):  # a word, its number
        return above, _labels(further)
    return above, _labels(beside)


def _value(grid: Grid, row: int, column: int) -> Any:
    inside = 0 < row <= len(grid) and 0 < column <= len(grid[row - 1])
    return grid[row - 1][column - 1] if inside else ""


def _labels(values: Sequence[Any]) -> tuple[str, ...]:
    """The texts, or consecutive whole numbers, in cells; () if they are not the labels of a line."""
    if any(is_blank(value) for value in values):
        return ()
    if all(isinstance(value, (str, NumberText)) for value in values):
        named = all(kind_of(str(value)) != DECORATION for value in values)
        return tuple(clean(str(value)) for value in values) if named else ()
    counts = len(values) > 1 and values in ([*range(len(values))], [*range(1, len(values) + 1)])
    return tuple(str(int(value)) for value in values) if counts else ()
