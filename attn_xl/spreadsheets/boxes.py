"""Boxes around cells that touch."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from .addresses import Corners

Box = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 0."""


def boxes(cells: np.ndarray, diagonal: bool = True) -> list[Box]:
    """The bounding boxes of adjacent True cells, with diagonal neighbours or without."""
    filled = np.zeros((cells.shape[0], cells.shape[1] + 2), dtype=np.int8)
    filled[:, 1:-1] = cells
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
            if max(first, start) < min(last, stop) + diagonal:
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


def rectangles(cells: Collection[tuple[int, int]]) -> list[Corners]:
    """The rectangles around neighbouring cells: first row, first column, rows, columns."""
    places = np.array([(0, 0), *cells])
    filled = np.zeros(places.max(axis=0) + 1, bool)
    filled[tuple(places[1:].T)] = True
    return rectangles_of(filled)


def rectangles_of(filled: np.ndarray) -> list[Corners]:
    """The rectangles around neighbouring True cells: first row, first column, rows, columns."""
    found = sorted(boxes(filled, diagonal=False))
    return [(top, left, end - top + 1, last - left + 1) for top, left, end, last in found]


def _grown(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])]


def union(a: Box, b: Box) -> Box:
    top, left, bottom, right = _grown(a, b)
    return top, left, bottom, right


class Places:
    """Boxes that can be looked up by place.

    Attributes:
        boxes: the boxes, from 0 or from 1.
    """

    def __init__(self, boxes: Sequence[Box]) -> None:
        self.boxes = boxes
        self._corners = np.array(boxes, dtype=np.int64).reshape(-1, 4).T

    def at(self, box: Box) -> list[int]:
        """The numbers of the boxes that share cells with a box, in order."""
        top, left, bottom, right = self._corners
        shared = (top <= box[2]) & (left <= box[3]) & (bottom >= box[0]) & (right >= box[1])
        return np.flatnonzero(shared).tolist()


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
