"""How far numbers reach, and how wide they are shown: the short ways give what the long ones give."""

from __future__ import annotations

import numpy as np
import pytest

from attn_xl.graph import extent
from attn_xl.graph.extent import Extent, extent_of

ENDS = (-1e3, -10.0, -9.95, -9.9, -9.89, -0.0004, 0.0, 0.5, 9.8999, 9.9, 9.94, 9.9996, 123.0)


@pytest.mark.parametrize("decimals", [0, 1, 3])
def test_the_width_is_that_of_the_longest_number_shown(decimals: int) -> None:
    for low in ENDS:
        for high in (end for end in ENDS if end >= low):
            shown = max(len(f"{end:.{decimals}f}") for end in (low, high))
            assert Extent(low, high, max(high, -low), False).width(decimals) == shown, (low, high)


@pytest.mark.parametrize(
    "numbers",
    [[1.0, 2.0], [0.5, np.nan, -3.0], [np.nan], [np.inf, 1.0], [np.inf, -np.inf], [-1e9, 0.25], []],
)
def test_few_numbers_reach_as_far_as_many(
    numbers: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.array(numbers)[None]
    few = [extent_of(values, hides=hides) for hides in (False, True)]
    monkeypatch.setattr(extent, "FEW", 0)
    assert few == [extent_of(values, hides=hides) for hides in (False, True)]


def test_tiny_numbers_among_small_ones_have_exponents() -> None:
    small = np.array([[0.02, -1e-6, 0.0]])
    assert extent_of(small).needs_exponent(3)
    assert not extent_of(small).needs_exponent(6)
    assert not extent_of(small, shares=True).needs_exponent(3)
    assert not extent_of(np.array([[0.02, -1e-17, 0.0]])).needs_exponent(3)
    assert not extent_of(np.array([[2.0, -1e-6]])).needs_exponent(3)
