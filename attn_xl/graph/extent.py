"""How far the numbers of a matrix reach: what their format and the width of its columns depend on."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HIDES = -1e8
"""A mask hides scores at or below this number."""
ROUNDING = 1e-12
"""Rounding errors are smaller, as a share of the largest number."""
FEW = 256
"""Numbers, up to which Python finds the ends in less time than NumPy."""


class Extent(NamedTuple):
    """How far some numbers reach.

    Attributes:
        low, high: the ends of those that are finite and not hidden; 0 if there are none.
        largest: the largest absolute value of those that are not hidden, which may be infinite.
        whole: whether there are finite numbers, and all of them are whole.
        least: the smallest absolute value that is not 0, if all of them are below 1; rounding errors of
            the largest do not count, and of shares of 1 none does.
    """

    low: float
    high: float
    largest: float
    whole: bool
    least: float = 1.0

    def needs_exponent(self, decimals: int) -> bool:
        """Whether, with `decimals` digits after the point, they would show only zeros, or zeros beside
        small numbers, or more digits than a column holds."""
        shown = 10.0**-decimals
        some_zeros = self.least < shown / 2 and self.largest < 100 * shown
        return self.largest >= 1e7 or 0 < self.largest < 5 * shown or some_zeros

    def width(self, decimals: int, least: int = 0) -> int:
        """The characters of the longest of them, at least `least`."""
        if decimals and self.low > -9.9 and self.high < 9.9:  # nearly always: one digit and the point
            return max(2 + decimals + (self.low < 0), least)
        return max(len(f"{self.low:.{decimals}f}"), len(f"{self.high:.{decimals}f}"), least)


def extent_of(values: NDArray[np.float64], *, hides: bool = False, shares: bool = False) -> Extent:
    """The extent of some numbers; NaN does not count.

    Args:
        hides: low numbers hide words.
        shares: they are shares of 1.
    """
    low, high = _ends(values)
    least = HIDES if hides else -np.inf
    if values.size and least < low and high < np.inf:  # nearly always: all count
        whole = low.is_integer() and high.is_integer() and _are_whole(values)
        largest = max(high, -low)
        if shares or not 0 < largest < 1:
            return Extent(low, high, largest, whole)
        sizes = np.abs(values)
        least = float(sizes.min(initial=1.0, where=sizes > ROUNDING * largest))
        return Extent(low, high, largest, whole, least)
    known = values[np.isfinite(values)]
    shown = known[known > HIDES] if hides else known
    counted = values[values > HIDES] if hides else values[~np.isnan(values)]
    return Extent(
        float(shown.min()) if shown.size else 0.0,
        float(shown.max()) if shown.size else 0.0,
        float(np.abs(counted).max(initial=0.0)),
        bool(known.size) and _are_whole(known[None]),
    )


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the greatest number; NaN if one of them is NaN."""
    if 0 < values.size <= FEW:
        numbers = values.ravel().tolist()
        if not isnan(sum(numbers)):
            return min(numbers), max(numbers)
    return float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))


def _are_whole(values: NDArray[np.float64]) -> bool:
    return all(np.array_equal(row, np.rint(row)) for row in values)
