"""Finds columns of formulas that sum up the numbers before them in their rows, and rows of such ones:
sums, means, checks. They are no part of a matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .addresses import MAX_COLUMNS, MAX_ROWS, letters, place_of
from .formulas import Formula, references, relative
from .numerals import is_number

NEAR = 4
"""Cells from a sum to the numbers, at most."""
Cell = tuple[int, int]
Formulas = Mapping[Cell, Formula]
# What a softmax divides, by the sum of all; and a product of matrices.
_NO_SUM = re.compile(r"EXP\(.*/.*|\$?[A-Z]+\$?\d+/(?:\$[A-Z]+\d+|[A-Z]+\$\d+)|.*MMULT\(.*")


def sums_in(formulas: Formulas, value_at: Callable[[Cell], Any]) -> dict[Cell, int]:
    """The cells of a sheet that hold sums: 1 in a column of them, which sum up rows; 0 in a row.

    Args:
        value_at: the value of a cell; None or "" of a blank one.
    """
    found = ((cell, n) for cell in formulas for n in (0, 1) if _is_sum(formulas, cell, n, value_at))
    return dict.fromkeys(filter(partial(_is_mean, formulas), formulas), 0) | dict(found)


def _is_mean(formulas: Formulas, cell: Cell) -> bool:
    """Whether a single cell has the mean of the column right above it, as of losses."""
    alike = re.fullmatch(r"AVERAGE\(\$?([A-Z]+)\$?\d+:\$?\1\$?(\d+)\)", formulas[cell].text)
    here = alike is not None and (int(alike[2]), alike[1]) == (cell[0] - 1, letters(cell[1]))
    return here and not any((cell[0], cell[1] + n) in formulas for n in (-1, 1))


def _is_sum(formulas: Formulas, cell: Cell, across: int, value_at: Callable[[Cell], Any]) -> bool:
    """Whether a cell belongs to a column of sums, or to a row if `across` is 0."""
    own, before = formulas[cell], (cell[0] - (1 - across), cell[1] - across)
    beside_typed = before not in formulas and is_number(value_at(before))
    if own.array or own.text.count(str(own.row) if across else letters(own.column)) < 2 - beside_typed:
        return False  # most formulas read nothing beside them
    if _NO_SUM.fullmatch(own.text):
        return False
    row, column = cell
    down = 1 - across
    sides = [formulas.get((row + n * down, column + n * across)) for n in (-1, 1)]
    along = [(row + n * across, column + n * down) for n in (-1, 1)]
    if all(sides) and own.text[:4] in [one.text[:4] for one in sides if one]:
        return False  # in the middle of a matrix
    text = relative(own)
    if any(one and relative(one) == text for one in sides):
        return False

    def adds_up(at: Cell) -> bool:
        return _adds_up(formulas[at], at, across, beside_typed, value_at)

    alike = (at for at in along if at in formulas and relative(formulas[at]) == text)
    return any(map(adds_up, alike)) and adds_up(cell)


def _adds_up(
    formula: Formula, cell: Cell, across: int, beside_typed: bool, value_at: Callable[[Cell], Any]
) -> bool:
    """Whether a formula reads numbers shortly before it in its row, or column, and nowhere else; next
    to a typed number, it may rank one among those of its column."""
    read, gap, least = set[Cell](), NEAR + 1, 2
    for sheet, corners in references(formula, cell):
        area = place_of("", *corners)
        if area.rows == MAX_ROWS or area.columns == MAX_COLUMNS:
            return False
        cells = {at for at in area.cells() if not isinstance(value_at(at) or None, str)}
        thick, at, end = (
            (area.rows, area.row, area.last_column)
            if across
            else (area.columns, area.column, area.last_row)
        )
        if not sheet and (thick, at) == (1, cell[1 - across]) and end < cell[across]:
            read |= cells
            gap = min(gap, cell[across] - end)
        elif len(cells) > 1:
            if (
                sheet
                or not beside_typed
                or not (0 <= cell[1 - across] - at < thick and end < cell[across])
            ):
                return False
            least = 1
    return (beside_typed or gap <= NEAR) and len(read) >= least
