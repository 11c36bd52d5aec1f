"""Labels of points in a scatter chart: none overprints another, and none is lost."""

from __future__ import annotations

import numpy as np
import pytest
from rich.cells import cell_len

from attn_xl.spreadsheets.addresses import Place
from attn_xl.workbook.layout.page import Chart, Series
from attn_xl.workbook.layout.point_labels import (
    LETTER,
    MARGIN_X,
    MARGIN_Y,
    _along,
    _label,
    place_labels,
)

HERE = Place("Sheet", 1, 1, 1, 1)


def chart(points: list[tuple[float, float]], words: list[str]) -> Chart:
    series = tuple(Series(word, HERE, HERE, (y,), (x,)) for word, (x, y) in zip(words, points))
    return Chart("points", "title", 1, 1, series, width=18.0, height=12.0)


def overprinted(made: Chart) -> int:
    """How many pairs of labels share some of their area, as the chart is drawn."""
    xs = _along([one.names for one in made.series], made.width - MARGIN_X)
    ys = _along([one.numbers for one in made.series], made.height - MARGIN_Y)
    boxes = [
        _label(float(x[-1]), float(y[-1]), cell_len(one.title) * LETTER * 0.9, one.label)
        for x, y, one in zip(xs, ys, made.series)
        if one.label
    ]
    return sum(a.meets(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_labels_stand_above_their_points_where_there_is_room() -> None:
    made, lines = place_labels(chart([(0.0, 0.0), (5.0, 5.0), (-5.0, 2.0)], ["cat", "sat", "mat"]))
    assert [(one.title, one.label) for one in made.series] == [("cat", "t"), ("sat", "t"), ("mat", "t")]
    assert not lines


def test_points_that_coincide_share_a_label() -> None:
    made, lines = place_labels(chart([(1.0, 1.0), (1.0, 1.0), (3.0, 2.0)], ["cat", "sat", "mat"]))
    assert (made.series[0].title, made.series[0].label) == ("cat, sat", "t")
    assert made.series[1].label == ""
    assert not lines


@pytest.mark.parametrize("spread", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("count", [3, 12, 40, 200])
def test_no_label_overprints_another_and_none_is_lost(count: int, spread: float) -> None:
    rng = np.random.default_rng(count)
    points = [(10.0, 10.0), *map(tuple, (rng.normal(size=(count - 1, 2)) * spread).tolist())]
    words = [f"word{n}" for n in range(count)]
    made, lines = place_labels(chart(points, words))
    assert overprinted(made) == 0
    said = ", ".join(one.title for one in made.series if one.label) + " ".join(lines)
    numbers = [one.title for one in made.series if one.label and one.title.isdecimal()]
    assert all(f"{number} = word" in " ".join(lines) for number in numbers)
    assert all(word in said for word in words)


@pytest.mark.parametrize("size", [1.7e308, 5e-324, 0.0])
def test_numbers_of_any_size_have_places(size: float) -> None:
    made, _ = place_labels(chart([(size, -size), (-size, size), (0.0, 0.0)], ["cat", "sat", "mat"]))
    assert all(one.label for one in made.series if size)


def test_a_label_keeps_off_the_line_to_its_point() -> None:
    down = Series("cat", HERE, HERE, (5.0, 0.0), (0.0, 0.0))
    other = Series("sat", HERE, HERE, (0.0, -1.0), (9.0, 9.0))
    made, _ = place_labels(Chart("moves", "title", 1, 1, (down, other), width=18.0, height=12.0))
    assert made.series[0].label != "t"
