"""Blocks: adjacent formulas of one template whose coordinates follow one pattern.

Everything is done by sorting and counting arrays, so that a million formulas take seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn_xl.spreadsheets.formulas import WIDTH, Ints, SheetCells

from .templates import Coordinates, Forms, Template

ROUNDS = 8  # adjacent blocks of one template that are separated, at most
SMALL = 10_000  # coordinates that are compared at once; more take too much memory
LAGS = (1, 2, 3)
"""Distances between the cells whose differences give the slopes: if one of four lines is odd, the other
three agree."""

Mask = NDArray[np.bool_]


@dataclass
class FormulaBlock:
    """Cells of one template that follow one pattern.

    Attributes:
        places: the cells, by their places in the sheet; keys: by their keys.
        slopes: (m, 2): how each coordinate moves with the row and with the column; start: its value at
            row 0, column 0.
        box: the first and last row and column.
    """

    sheet: SheetCells
    template: Template
    places: Ints
    keys: Ints
    slopes: Coordinates
    start: Coordinates
    box: tuple[int, int, int, int]

    def predicted(self, row: int, column: int) -> Coordinates:
        """The coordinates that a formula of this block would have in a cell."""
        return np.asarray(self.start + self.slopes @ np.array([row, column], dtype=np.float64))


def blocks(sheet: SheetCells, forms: Forms) -> Iterator[FormulaBlock]:
    """The blocks of a sheet; each formula is in at most one."""
    where = np.flatnonzero(sheet.formulas >= 0)
    if not len(where):
        return
    templates = np.full(len(sheet.keys), -1)
    templates[where] = forms.template[sheet.formulas[where]]
    for region in _regions(sheet, templates, where):
        template = forms.templates[int(templates[region[0]])]
        rows, columns = sheet.keys[region] // WIDTH, sheet.keys[region] % WIDTH + 1
        values = forms.coordinates(sheet.formulas[region], rows, columns)
        notation = forms.moves(int(sheet.formulas[region[0]]))
        yield from _separate_blocks(sheet, template, region, rows, columns, values, notation)


def _regions(sheet: SheetCells, templates: Ints, where: Ints) -> list[Ints]:
    """Regions of one template: cells that are adjacent or separated by one filled cell."""
    keys = sheet.keys
    links = []
    for step in (1, WIDTH):
        for far in (1, 2):
            partner = sheet.find(keys[where] + far * step)
            same = (partner >= 0) & (templates[where] == templates[partner])
            if far == 2:
                same &= sheet.find(keys[where] + step) >= 0
            links.append((where[same], partner[same]))
    return linked(np.arange(len(keys)), links, where)


def linked(items: Ints, links: list[tuple[Ints, Ints]], where: Ints | None = None) -> list[Ints]:
    """Groups of items, or of those at the places `where`, that links between places join."""
    labels = np.arange(len(items))
    changed = True
    while changed:
        before = labels.copy()
        for first, second in links:
            least = np.minimum(labels[first], labels[second])
            np.minimum.at(labels, first, least)
            np.minimum.at(labels, second, least)
        labels = labels[labels]
        changed = not np.array_equal(before, labels)
    where = np.arange(len(items)) if where is None else where
    order = np.argsort(labels[where], kind="stable")
    cuts = np.flatnonzero(np.diff(labels[where][order])) + 1
    return np.split(items[where][order], cuts) if len(where) else []


def _separate_blocks(
    sheet: SheetCells,
    template: Template,
    region: Ints,
    rows: Ints,
    columns: Ints,
    values: Coordinates,
    notation: tuple[int, ...],
) -> Iterator[FormulaBlock]:
    left = np.arange(len(region))
    for _ in range(ROUNDS):
        if not len(left):
            return
        r, c, v = rows[left], columns[left], values[left]
        slopes, start = _fitted(r, c, v, notation)
        if len(left) == 2 and _resizes(template, slopes, said := _slopes_by_dollar_signs(notation)):
            slopes, start = said, v[0] - said @ np.array([r[0], c[0]], dtype=np.float64)
        fits = _agree(r, c, v, slopes, start)
        if template.alone and not fits.all():
            slopes, start, fits = _fitted_in_any_order(template, r, c, v, notation)
        if not fits.any():
            # As many sums of rows as of columns: what is most common of each coordinate, none has.
            slopes = _slopes_by_dollar_signs(notation)
            rest = v - np.outer(r, slopes[:, 0]) - np.outer(c, slopes[:, 1])
            found, counts = np.unique(rest, axis=0, return_counts=True)
            start = found[np.argmax(counts)]
            fits = _agree(r, c, v, slopes, start)
        if not fits.any():
            return  # a number in it is infinite
        fits = _without_lone(r, c, fits)
        places = region[left[fits]]
        box = int(r[fits].min()), int(c[fits].min()), int(r[fits].max()), int(c[fits].max())
        yield FormulaBlock(sheet, template, places, sheet.keys[places], slopes, start, box)
        left = left[~fits]


def _resizes(template: Template, slopes: Coordinates, said: Coordinates) -> bool:
    """Whether a range has another size in the second of two formulas than copying the first gives it:
    through two cells some slope leads always."""
    off = slopes - said
    ranges = [r.at for r in template.references if r.cells == 2]
    return any((off[at : at + 2] != off[at + 2 : at + 4]).any() for at in ranges)


def _without_lone(r: Ints, c: Ints, fits: Mask) -> Mask:
    """What fits, but for a cell that does not touch the one line that all others are: through two
    places some slope leads always."""
    for line in (r, c) if np.count_nonzero(fits) > 3 else ():
        lines, counts = np.unique(line[fits], return_counts=True)
        if len(lines) == 2 and counts.min() == 1 and counts.max() > 2 and lines[1] - lines[0] > 1:
            return np.asarray(fits & (line == lines[np.argmax(counts)]))
    return fits


def _fitted_in_any_order(
    template: Template, r: Ints, c: Ints, v: Coordinates, notation: tuple[int, ...]
) -> tuple[Coordinates, Coordinates, Mask]:
    """The fit of sums of products that are typed now in one order, now in another: as they are typed or
    as `_in_order` has them, whichever more cells follow."""
    ordered = _in_order(template, v, r, c)
    found = []
    for values in (v, ordered):
        slopes, start = _fitted(r, c, values, notation)
        expected = start + np.outer(r, slopes[:, 0]) + np.outer(c, slopes[:, 1])
        expected = _in_order(template, expected, r, c)
        fits = (np.abs(ordered - expected) < 1e-6).all(axis=1)
        found.append((slopes, start, np.asarray(fits)))
    return max(found, key=lambda fit: int(fit[2].sum()))


def _agree(r: Ints, c: Ints, v: Coordinates, slopes: Coordinates, start: Coordinates) -> Mask:
    if v.size <= SMALL:
        rest = v - np.outer(r, slopes[:, 0]) - np.outer(c, slopes[:, 1]) - start
        return np.asarray((np.abs(rest) < 1e-6).all(axis=1))
    fits = np.ones(len(r), dtype=np.bool_)
    for j in range(v.shape[1]):
        fits &= np.abs(v[:, j] - slopes[j, 0] * r - slopes[j, 1] * c - start[j]) < 1e-6
    return fits


def _fitted(
    r: Ints, c: Ints, v: Coordinates, notation: tuple[int, ...]
) -> tuple[Coordinates, Coordinates]:
    """The pattern of most of the cells: slopes (m, 2) and start (m,).

    The slopes that the `$` give are tried first; they hold in every block filled by copying.
    """
    said = _slopes_by_dollar_signs(notation)
    start = v[0] - said @ np.array([r[0], c[0]], dtype=np.float64)
    if len(r) == 1 or _agree(r, c, v, said, start).all():
        return said, start
    slopes = said.copy()
    for axis, keys in enumerate((c * (WIDTH * 128) + r, r * WIDTH + c)):
        differences = _differences(keys, v)
        if differences is not None:
            for j in range(v.shape[1]):
                slopes[j, axis] = _mode(differences[:, j], said[j, axis])
    rest = v - np.outer(r, slopes[:, 0]) - np.outer(c, slopes[:, 1])
    return slopes, np.array([_mode(rest[:, j], rest[0, j]) for j in range(v.shape[1])])


def _slopes_by_dollar_signs(notation: tuple[int, ...]) -> Coordinates:
    """The slopes that the `$` of a formula give."""
    moves = [[move == 1, move == 2] for move in notation]
    return np.array(moves, dtype=np.float64).reshape(-1, 2)


def _differences(keys: Ints, v: Coordinates) -> Coordinates | None:
    """v's change for a step, between cells up to three apart whose keys are so."""
    order = np.argsort(keys)
    keys, v = keys[order], v[order]
    parts = []
    for lag in LAGS:
        at = np.minimum(np.searchsorted(keys, keys + lag), len(keys) - 1)
        there = keys[at] == keys + lag
        if there.any():
            parts.append((v[at[there]] - v[there]) / lag)
    return np.concatenate(parts) if parts else None


def _mode(numbers: Coordinates, preferred: float) -> float:
    """The most frequent number; of several, the preferred one, then the one nearest to 0."""
    found, counts = np.unique(np.round(numbers, 9), return_counts=True)
    best = found[counts == counts.max()]
    if preferred in best:
        return preferred
    return float(best[np.argmin(np.abs(best))])


def _in_order(template: Template, values: Coordinates, rows: Ints, columns: Ints) -> Coordinates:
    """The coordinates of sums of products of single cells, in an order that does not depend on the one
    they are typed in: in a product the cell of the same row first, then the one of the same column; the
    products by where they are. `C10*F7+F8*D10` and `C10*G7+D10*G8` are alike then.
    """
    terms: list[list[int]] = []
    place = 0
    for term in template.text.split("+"):
        end = place + 2 * term.count("§")
        terms.append(list(range(place, end, 2)))
        place = end
    if place != values.shape[1] or "n" in template.roles:
        return values
    out = np.empty_like(values)
    for i, (row, column) in enumerate(zip(rows.tolist(), columns.tolist())):
        line = values[i].tolist()
        products = []
        for places in terms:
            cells = [(line[k], line[k + 1]) for k in places]
            cells.sort(key=lambda cell: (cell[0] != row, cell[1] != column, cell))
            products.append(cells)
        products.sort(key=lambda cells: (len(cells), cells))
        out[i] = [x for cells in products for cell in cells for x in cell]
    return out
