"""Finds columns of formulas that sum up the numbers before them in their rows, and rows of such ones:
sums, means, checks. They are no part of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .addresses import letters, place_of
from .formulas import Formula, references, relative

NEAR = 4
"""Cells from a sum to the numbers, at most."""
Cell = tuple[int, int]
Formulas = Mapping[Cell, Formula]


def sums_in(formulas: Formulas, is_text: Callable[[Cell], bool]) -> dict[Cell, int]:
    """The cells of a sheet that hold sums: 1 in a column of them, which sum up rows; 0 in a row.

    Args:
        is_text: whether a cell holds a text.
    """
    found = ((cell, n) for cell in formulas for n in (0, 1) if _is_sum(formulas, cell, n, is_text))
    return dict(found)


def _is_sum(formulas: Formulas, cell: Cell, across: int, is_text: Callable[[Cell], bool]) -> bool:
    """Whether a cell belongs to a column of sums, or to a row if `across` is 0."""
    (row, column), own = cell, formulas[cell]
    if own.array or own.text.count(str(own.row) if across else letters(own.column)) < 2:
        return False  # most formulas read nothing beside them
    down = 1 - across
    sides = [formulas.get((row + n * down, column + n * across)) for n in (-1, 1)]
    along = [formulas.get((row + n * across, column + n * down)) for n in (-1, 1)]
    if all(sides) and own.text[:4] in [one.text[:4] for one in sides if one]:
        return False  # in the middle of a matrix
    text = relative(own)
    alike = [any(one and relative(one) == text for one in some) for some in (sides, along)]
    return alike == [False, True] and _adds_up(own, cell, across, is_text)


def _adds_up(formula: Formula, cell: Cell, across: int, is_text: Callable[[Cell], bool]) -> bool:
    """Whether a formula reads numbers shortly before it in its row, or column, and nowhere else."""
    read, gap = set[Cell](), NEAR + 1
    for sheet, corners in references(formula, cell):
        area = place_of("", *corners)
        cells = {at for at in area.cells() if not is_text(at)}
        thick, at, end = (
            (area.rows, area.row, area.last_column)
            if across
            else (area.columns, area.column, area.last_row)
        )
        if not sheet and (thick, at) == (1, cell[1 - across]) and end < cell[across]:
            read |= cells
            gap = min(gap, cell[across] - end)
        elif len(cells) > 1:
            return False
    return gap <= NEAR and len(read) > 1
