"""Places the labels of a scatter chart so that they do not overlap: beside the point where there is
room, otherwise as a number that is explained in lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.cells import cell_len

from attn_xl.graph.node import Numbers

from .page import Chart, Side

LETTER, LINE = 0.21, 0.46
"""cm: the width of a letter and the height of a line in a chart's default font of 10 points."""
MARKER = 0.28
"""cm: the width of a marker."""
PIECE = 0.2
"""cm: the pieces in which a line is tested for overlap."""
MARGIN_X, MARGIN_Y, AXIS_TITLE = 1.9, 2.3, 0.7
"""cm: the room that axes and title take of a chart's width and height, and the title of an axis."""
SPARE = 0.12
"""Share of the points' spread by which an axis extends beyond them: axes end at round numbers."""
LINE_LENGTH = 90
"""Characters."""
SIDES: tuple[Side, ...] = ("t", "r", "b", "l")


@dataclass(frozen=True)
class _Box:
    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: _Box) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top


def place_labels(chart: Chart) -> tuple[Chart, list[str]]:
    """A scatter chart whose labels do not overlap, given its present numbers; and lines of text that
    explain the numbers among its labels.

    The last point of each series is labelled. Series whose last points coincide share a label.
    """
    room = chart.width - MARGIN_X - AXIS_TITLE * bool(chart.y_title)
    height = chart.height - MARGIN_Y - AXIS_TITLE * bool(chart.x_title)
    xs = _along([series.names for series in chart.series], room)
    ys = _along([series.numbers for series in chart.series], height)
    drawn = [box for x, y in zip(xs, ys) for box in _drawn(x, y)]
    frame = _Box(-MARGIN_X / 2, 0.0, room, height)
    ends = [(float(x[-1]), float(y[-1])) for x, y in zip(xs, ys)]
    groups = _coinciding(ends)
    titles = [
        ", ".join(dict.fromkeys(chart.series[number].title for number in group)) for group in groups
    ]
    taken: list[_Box] = []

    def side_of(group: Sequence[int], text: str) -> Side:
        """The first side with room for a label, which is then taken; "" if there is none."""
        x, y = ends[group[0]]
        for side in SIDES:
            box = _label(x, y, cell_len(text) * LETTER, side)
            inside = frame.left <= box.left and box.right <= frame.right
            inside = inside and frame.bottom <= box.bottom and box.top <= frame.top
            if inside and not any(map(box.meets, (*taken, *drawn))):
                taken.append(box)
                return side
        return ""

    labels: dict[int, tuple[str, Side]] = {}
    crowded = []
    for group, title in zip(groups, titles):
        side = side_of(group, title)
        if side:
            labels[group[0]] = title, side
        else:
            crowded.append((group, title))
    numbered: list[str] = []
    unlabelled: list[str] = []
    for group, title in crowded:
        number = str(len(numbered) + 1)
        side = side_of(group, number)
        if side:
            labels[group[0]] = number, side
            numbered.append(f"{number} = {title}")
        else:
            unlabelled.append(title)
    shown = tuple(
        replace(series, title=labels[i][0], label=labels[i][1])
        if i in labels
        else replace(series, label="")
        for i, series in enumerate(chart.series)
    )
    lines = [f"In the chart: {'; '.join(numbered)}."] if numbered else []
    lines += [f"Not labelled, for lack of room: {', '.join(unlabelled)}."] if unlabelled else []
    return replace(chart, series=shown), [part for line in lines for part in _wrapped(line)]


def _drawn(x: Numbers, y: Numbers) -> list[_Box]:
    """The markers of a series and the pieces of the line that joins them."""
    boxes = [_around(*point, MARKER) for point in zip(x, y)]
    if len(x) > 1:
        steps = 2 + int(np.hypot(x[-1] - x[0], y[-1] - y[0]) / PIECE)
        line = zip(np.linspace(x[0], x[-1], steps), np.linspace(y[0], y[-1], steps))
        boxes += [_around(*point, PIECE / 2) for point in line]
    return boxes


def _around(x: float, y: float, size: float) -> _Box:
    return _Box(x - size / 2, y - size / 2, x + size / 2, y + size / 2)


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, LINE_LENGTH, break_on_hyphens=False)


def _along(lists: Sequence[Sequence[object]], length: float) -> list[Numbers]:
    """The positions of numbers along an axis of this length, in cm; missing numbers are 0."""
    numbers = [np.array([n if isinstance(n, float) else 0.0 for n in some]) for some in lists]
    largest = max((float(np.abs(some).max(initial=0.0)) for some in numbers), default=0.0) or 1.0
    scaled = [some / largest for some in numbers]
    low = min((float(some.min(initial=1.0)) for some in scaled), default=0.0)
    high = max((float(some.max(initial=-1.0)) for some in scaled), default=1.0)
    spread = (high - low) or 1.0
    if spread > max(abs(low), abs(high)) / 6:  # then axes begin at 0
        low, high = min(low, 0.0), max(high, 0.0)
    low, high = low - SPARE * spread, high + SPARE * spread
    return [(some - low) / (high - low) * length for some in scaled]


def _coinciding(points: Sequence[tuple[float, float]]) -> list[list[int]]:
    """The indices of the points, grouped by points that cover each other."""
    groups: list[list[int]] = []
    for number, (x, y) in enumerate(points):
        for group in groups:
            first_x, first_y = points[group[0]]
            if abs(x - first_x) < MARKER / 2 and abs(y - first_y) < MARKER / 2:
                group.append(number)
                break
        else:
            groups.append([number])
    return groups


def _label(x: float, y: float, width: float, side: Side) -> _Box:
    away = MARKER / 2 + 0.05
    if side in ("t", "b"):
        bottom = y + away if side == "t" else y - away - LINE
        return _Box(x - width / 2, bottom, x + width / 2, bottom + LINE)
    left = x + away if side == "r" else x - away - width
    return _Box(left, y - LINE / 2, left + width, y + LINE / 2)
