"""Finds columns of formulas that sum up the numbers before them in their rows, and rows of such ones:
sums, means, checks. They are no part of a matrix."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from statistics import fmean

from .addresses import letters, parse_area, place_of
from .formulas import Formula, references, relative

NEAR = 4
"""Cells from a sum to the numbers, at most."""
_OVER_ONE_RANGE = re.compile(r"([A-Z]+)\(([$A-Z0-9:]+)\)")
_TOTALS: dict[str, Callable[[list[float]], float]] = {
    "SUM": math.fsum, "AVERAGE": fmean, "MAX": max, "MIN": min, "COUNT": len, "PRODUCT": math.prod,
}  # fmt: skip
Cell = tuple[int, int]
Formulas = Mapping[Cell, Formula]


def sums_in(formulas: Formulas, is_text: Callable[[Cell], bool]) -> dict[Cell, int]:
    """The cells of a sheet that hold sums: 1 in a column of them, which sum up rows; 0 in a row.

    Args:
        is_text: whether a cell holds a text.
    """
    found = ((cell, n) for cell in formulas for n in (0, 1) if _is_sum(formulas, cell, n, is_text))
    return dict(found)


def total(formula: str, number_at: Callable[[Cell], float | None]) -> float | None:
    """What a formula of one function over one range of its sheet gives: `SUM(C4:E4)`; None for others.

    Args:
        number_at: the number in a cell, None if it is none or not known.
    """
    found = _OVER_ONE_RANGE.fullmatch(formula)
    area = parse_area(found[2]) if found and found[1] in _TOTALS else None
    if found is None or area is None:
        return None
    top, left, bottom, right = area[1]
    numbers = [number_at((r, c)) for r in range(top, bottom + 1) for c in range(left, right + 1)]
    known = [number for number in numbers if number is not None]
    return float(_TOTALS[found[1]](known)) if len(known) == len(numbers) else None


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
