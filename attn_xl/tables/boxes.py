"""Classifies the cells of a sheet and finds rectangles of adjacent values."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from itertools import product as every
from typing import Any

import numpy as np

from attn_xl.spreadsheets.numerals import ErrorValue, NumberText, numeral

Grid = list[list[Any]]

BLANK, DECORATION, TEXT, NUMBER_TEXT, NUMBER, OTHER = range(6)
"""Kinds of cell. OTHER is a non-numeric value: a boolean, a date, an error value."""


class _Codes(dict[type, int]):
    def __missing__(self, kind: type) -> int:
        return OTHER


_TYPES = _Codes({
    float: NUMBER, int: NUMBER, NumberText: NUMBER, bool: OTHER, ErrorValue: OTHER, str: 255,
    datetime.date: OTHER, datetime.datetime: OTHER, datetime.time: OTHER, datetime.timedelta: OTHER,
    type(None): BLANK,
})  # fmt: skip
_ARROW = re.compile(
    "[\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f\u2b00-\u2bff\u2500-\u257f\u25a0-\u25ff\\s]+"
    "|[-=~]{1,9}>|<[-=~]{1,9}|[\u2013\u2014]{1,9}"
)
_MOST_BUCKETS = 60
"""Buckets in which boxes are looked up one by one."""

Box = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 0."""


def is_blank(value: Any) -> bool:
    """Whether a cell looks empty."""
    return value is None or (isinstance(value, str) and not value.strip())


def kind_of(text: str) -> int:
    """The kind of a text: blank, an arrow, a number, or text."""
    if not text.strip():
        return BLANK
    if _ARROW.fullmatch(text.strip()):
        return DECORATION
    return NUMBER_TEXT if numeral(text) is not None else TEXT


def kinds(grid: Grid) -> np.ndarray:
    """The kind of each cell, (rows, columns)."""
    width = max(map(len, grid), default=0)
    lines, code_of = [], _TYPES.__getitem__
    for row in grid:
        if 2 * row.count("") > len(row):  # with one cell far out, most are blank
            line = bytearray(len(row))
            for place in [place for place, value in enumerate(row) if value != ""]:
                line[place] = code_of(type(row[place]))
        else:
            line = bytearray(map(code_of, map(type, row)))
        place = line.find(255)
        while place >= 0:
            line[place] = kind_of(row[place])
            place = line.find(255, place + 1)
        lines.append(bytes(line).ljust(width, b"\0"))
    return np.frombuffer(b"".join(lines), dtype=np.uint8).reshape(len(grid), width)


def boxes(cells: np.ndarray) -> list[Box]:
    """The bounding boxes of adjacent values, diagonal neighbours included."""
    filled = np.zeros((cells.shape[0], cells.shape[1] + 2), dtype=np.int8)
    filled[:, 1:-1] = cells >= NUMBER_TEXT
    edges = np.diff(filled, axis=1)
    rows, starts = np.nonzero(edges == 1)
    _, stops = np.nonzero(edges == -1)
    found: list[list[int]] = []
    parent: list[int] = []

    before: list[tuple[int, int, int]] = []
    here: list[tuple[int, int, int]] = []
    at = -1
    for row, start, stop in zip(rows.tolist(), starts.tolist(), stops.tolist()):
        if row != at:
            before, here, at = here if row == at + 1 else [], [], row
        number = -1
        for first, last, other in before:
            if first <= stop and start <= last:
                other = _root(parent, other)
                if number < 0:
                    number = other
                elif number != other:
                    parent[other] = number
                    found[number] = _grown(found[number], found[other])
        if number < 0:
            number = len(parent)
            parent.append(number)
            found.append([row, start, row, stop - 1])
        else:
            found[number] = _grown(found[number], [row, start, row, stop - 1])
        here.append((start, stop, number))
    return [
        (box[0], box[1], box[2], box[3]) for i, box in enumerate(found) if parent[i] == i
    ]  # fmt: skip


def _grown(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])]


def union(a: Box, b: Box) -> Box:
    top, left, bottom, right = _grown(a, b)
    return top, left, bottom, right


class Places:
    """Boxes that can be looked up by place, in a time that hardly depends on how many there are.

    Attributes:
        boxes: the boxes, from 0 or from 1.
    """

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.boxes = boxes
        self._corners = np.array(boxes, dtype=np.int64).reshape(-1, 4)
        self._levels: dict[tuple[int, int], dict[tuple[int, int], list[int]]] = {}
        for number, box in enumerate(boxes):  # at its level, a box has at most four buckets
            level = (box[2] - box[0]).bit_length(), (box[3] - box[1]).bit_length()
            buckets = self._levels.setdefault(level, {})
            rows, columns = _buckets(box, level)
            for key in every(rows, columns):
                buckets.setdefault(key, []).append(number)

    def at(self, box: Box) -> list[int]:
        """The numbers of the boxes that share cells with a box, in order."""
        there = [(_buckets(box, level), buckets) for level, buckets in self._levels.items()]
        if sum(len(rows) * len(columns) for (rows, columns), _ in there) > _MOST_BUCKETS:
            top, left, bottom, right = self._corners.T
            shared = (top <= box[2]) & (left <= box[3]) & (bottom >= box[0]) & (right >= box[1])
            return np.flatnonzero(shared).tolist()
        near: set[int] = set()
        for (rows, columns), buckets in there:
            for row in rows:
                for column in columns:
                    near.update(buckets.get((row, column), ()))
        return sorted(number for number in near if _touch(self.boxes[number], box))


def _buckets(box: Box, level: tuple[int, int]) -> tuple[range, range]:
    """The rows and columns of the buckets of a level that a box covers: of 2^level cells each."""
    high, wide = level
    return range(box[0] >> high, (box[2] >> high) + 1), range(box[1] >> wide, (box[3] >> wide) + 1)


def _touch(a: Sequence[int], b: Sequence[int]) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


def merged(boxes: Sequence[Box]) -> list[Box]:
    """Merge overlapping boxes until none overlap; the result is sorted by position."""
    boxes = sorted(boxes)
    while True:
        places, group = Places(boxes), [*range(len(boxes))]
        for number, box in enumerate(boxes):
            for one in places.at(box):
                a, b = _root(group, number), _root(group, one)
                group[max(a, b)] = min(a, b)
        made: dict[int, Box] = {}
        for number, box in enumerate(boxes):
            first = _root(group, number)
            made[first] = union(made[first], box) if first in made else box
        if len(made) == len(boxes):
            return boxes
        boxes = sorted(made.values())


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
