"""Recomputing matrices after some of their cells have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .loops import loop_turns
from .node import Node, Numbers, walk
from .operation import operation_of


@dataclass(frozen=True, eq=False, repr=False)
class Entered:
    """Numbers entered into some cells of a matrix instead of its own.

    Attributes:
        cells: Boolean mask of the matrix's shape.
        numbers: the numbers, of the same shape; NaN for a blank.
    """

    cells: np.ndarray
    numbers: Numbers


@dataclass(frozen=True, eq=False, repr=False)
class Recomputed:
    """The numbers of all matrices after some cells have changed.

    Attributes:
        expected: the result of every matrix's operation, computed from what its operands show.
        shown: the same, with the entered numbers in their cells.
    """

    expected: dict[Node, Numbers]
    shown: dict[Node, Numbers]


def recompute(results: Iterable[Node], entered: Mapping[Node, Entered]) -> Recomputed:
    """The numbers of every node that leads to `results` after some cells have changed.

    NaN stands for a missing number: a blank, a number that depends on one, or a number that cannot be
    computed, such as a division by 0.
    """
    expected: dict[Node, Numbers] = {}
    shown: dict[Node, Numbers] = {}
    changed: set[Node] = set()
    nodes = walk(results)
    turns = loop_turns(nodes)
    with np.errstate(all="ignore"):
        for node in nodes:
            if node in turns:
                if (loop := turns[node]) is not None:
                    found = loop.recomputed(shown, entered)
                    expected |= found[0]
                    shown |= found[1]
                    if not (changed.isdisjoint(loop.reads) and entered.keys().isdisjoint(loop.nodes)):
                        changed |= {*loop.nodes}
                continue
            if changed.isdisjoint(node.parents):
                expected[node] = node.values
            else:
                result = operation_of(node).numbers(*(shown[parent] for parent in node.parents))
                expected[node] = np.where(np.isfinite(result), result + 0.0, np.nan)
                changed.add(node)
            shown[node] = expected[node]
            if node in entered:
                entry = entered[node]
                shown[node] = np.where(entry.cells, entry.numbers, expected[node])
                changed.add(node)
    return Recomputed(expected, shown)


def follows(results: Iterable[Node], changed: Iterable[Node]) -> set[Node]:
    """The nodes that lead to `results` and depend on one of `changed`."""
    dependents, before = set(changed), 0
    nodes = walk(results)
    while len(dependents) > before:  # again where a loop leads back
        before = len(dependents)
        for node in nodes:
            if not dependents.isdisjoint(node.parents):
                dependents.add(node)
    return dependents - set(changed)
