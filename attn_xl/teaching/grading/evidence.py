"""Which entries prove that a student calculated: a number that follows from others earns its mark only
if these are not what anyone can fill in, such as zeros, one number throughout, or another matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from attn_xl.graph.node import Node, Numbers, walk
from attn_xl.graph.recompute import Entered, Recomputed, recompute
from attn_xl.teaching.lessons.blanks import unit_of


def proven(
    results: Sequence[Node], entered: Mapping[Node, Entered], found: Recomputed, tolerance: float
) -> Mapping[Node, Numbers]:
    """What follows from the entries that prove something: empty ones are taken for blanks, unless they
    themselves follow from entries that are not empty."""

    def unlike(node: Node, right: Numbers) -> np.ndarray:
        one = entered[node]
        missing = np.isnan(one.numbers)
        unlike = ~_near(one.numbers, right, tolerance, unit_of(node))
        return np.asarray(one.cells & ~missing & unlike)

    wrong = {node: unlike(node, node.values) for node in entered}
    filled = Counter(
        number
        for node, one in entered.items()
        for number in {float(one.numbers[line][0])
                       for line in _lines_of_one_number(one)
                       if np.sum(line & wrong[node] & unlike(node, found.expected[node])) > 1}
    )  # fmt: skip
    empty = {node: _empty(one, wrong[node], filled) for node, one in entered.items()}
    copied = _copied(results, entered)
    while True:
        proving = {
            node: Entered(one.cells, np.where(empty[node], np.nan, one.numbers))
            for node, one in entered.items()
        }
        expected = recompute(results, proving).expected
        expected |= {node: np.full(node.shape, np.nan) for node in copied}
        left = {node: cells & unlike(node, expected[node]) for node, cells in empty.items()}
        if all((left[node] == cells).all() for node, cells in empty.items()):
            return expected
        empty = left


def _lines_of_one_number(entered: Entered) -> list[np.ndarray]:
    """The whole matrix, its rows and its columns, as masks of the cells to fill in, if these hold one
    number throughout."""
    cells, (rows, columns) = entered.cells, entered.cells.shape
    lines = [cells]
    lines += [cells & (np.arange(rows)[:, None] == row) for row in range(rows)]
    lines += [cells & (np.arange(columns) == column) for column in range(columns)]
    return [
        line
        for line in lines
        if line.any() and (entered.numbers[line] == entered.numbers[line][0]).all()
    ]


def _empty(entered: Entered, wrong: np.ndarray, filled: Mapping[float, int]) -> np.ndarray:
    """The wrong entries that took no calculation: one number in a whole matrix, or one in a row or a
    column that `filled` lines of another matrix too. By itself, a row of one number may be honest, and
    so may one maximum for all rows."""
    found = np.zeros(wrong.shape, bool)
    for line in _lines_of_one_number(entered):
        whole = 1 not in wrong.shape and np.array_equal(line, entered.cells) and line.sum() > 1
        if whole or filled.get(float(entered.numbers[line][0]), 0) > 1:
            found |= line & wrong
    return found


def _copied(results: Sequence[Node], entered: Mapping[Node, Entered]) -> set[Node]:
    """The matrices whose entries are those of a matrix before, cell by cell, where the right numbers
    are not."""
    before: list[tuple[Numbers, Numbers]] = []
    found = set()
    for node in walk(results):
        one = entered.get(node)
        numbers = node.values if one is None else np.where(one.cells, one.numbers, node.values)
        if one is not None and any(
            _equal(one, numbers, other) and not _equal(one, node.values, right)
            for other, right in before
        ):
            found.add(node)
        if node.name and 1 not in node.shape:
            before.append((numbers, node.values))
    return found


def _equal(entered: Entered, numbers: Numbers, other: Numbers) -> bool:
    """Whether the entries of a matrix are those of another one, as far as both reach."""
    rows, columns = map(min, numbers.shape, other.shape)
    cells = entered.cells[:rows, :columns]
    enough = 2 * cells.sum() > entered.cells.sum() and cells.sum() > 2
    first, second = (each[:rows, :columns][cells] for each in (numbers, other))
    return bool(enough and np.array_equal(first, second))


def _near(entered: Numbers, right: Numbers, tolerance: float, unit: float) -> np.ndarray:
    """`marking.near` for each cell of a matrix; false where a number is missing."""
    with np.errstate(invalid="ignore"):
        off = np.abs(entered - right) - tolerance * np.maximum(unit, np.abs(right))
        near: np.ndarray = np.round(off, 12) <= 0
    return near
