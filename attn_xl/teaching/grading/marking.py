"""What was filled in, marked against what is right and against what follows from the student's own
numbers. Knows neither files nor students."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np

from attn_xl.graph.node import Node
from attn_xl.graph.operation import Entered, Recomputed, recompute

from .entries import Entry

Entries = list[list[Entry]]


class Verdict(str, Enum):
    """What a cell is marked as."""

    right = "right"
    """it is the right number"""
    followed = "followed"
    """it follows from the student's own numbers, which are not the right ones"""
    wrong = "wrong"
    """it is neither"""
    blank = "blank"
    """nothing was entered"""
    no_number = "no number"
    """what was entered is no number"""

    @property
    def credit(self) -> int:
        """1 for what is right or follows, 0 for the rest."""
        return int(self in (Verdict.right, Verdict.followed))


@dataclass(frozen=True, eq=False, repr=False)
class Marking:
    """The marks of one submission.

    Attributes:
        opened: the cells that were to be filled in, a mask for each matrix.
        entries: what was entered, for each matrix, of its shape.
        verdicts: for each matrix an array of its shape; None where nothing was to be filled in.
        numbers: what follows from what was entered.
    """

    opened: Mapping[Node, np.ndarray]
    entries: Mapping[Node, Entries]
    verdicts: dict[Node, list[list[Verdict | None]]]
    numbers: Recomputed

    def points(self, node: Node) -> tuple[int, int]:
        """The credit for a matrix, and for how many cells."""
        verdicts = [verdict for row in self.verdicts[node] for verdict in row if verdict]
        return sum(verdict.credit for verdict in verdicts), len(verdicts)


def mark(
    results: Iterable[Node],
    opened: Mapping[Node, np.ndarray],
    entries: Mapping[Node, Entries],
    tolerance: float,
) -> Marking:
    """Mark what was entered.

    A cell is right if it is within the tolerance of the right number, as the marks of a lesson have
    it:
    |entered − right| ≤ tolerance · max(1, |right|). If not, it followed if it is that near to what
    its operation gives from the numbers that the student has in the cells before. Where one of those is
    blank, there is only the right number to compare with.

    Args:
        results: the matrices of a computation.
        opened: the cells that were to be filled in, a mask (n, m) for each matrix.
        entries: what was entered there, n rows of m for each.
        tolerance: above 0.

    Raises:
        ValueError: if the entries of a matrix are not of its shape.
    """
    entered = {}
    for node, cells in opened.items():
        numbers = np.array(
            [
                [np.nan if entry.number is None else entry.number for entry in row]
                for row in entries[node]
            ]
        )
        if numbers.shape != node.shape:
            raise ValueError(f"{node.name} is {node.shape}, but {numbers.shape} entries are there")
        entered[node] = Entered(cells, numbers)
    found = recompute(results, entered)
    verdicts = {
        node: [
            [
                _verdict(
                    entries[node][row][column],
                    float(node.values[row, column]),
                    float(found.expected[node][row, column]),
                    tolerance,
                )
                if cells[row, column]
                else None
                for column in range(node.shape[1])
            ]
            for row in range(node.shape[0])
        ]
        for node, cells in opened.items()
    }
    return Marking(opened, entries, verdicts, found)


def near(entered: float, right: float, tolerance: float) -> bool:
    """Whether a number counts as another, as the marks of a lesson have it."""
    return round(abs(entered - right) - tolerance * max(1.0, abs(right)), 12) <= 0


def _verdict(entry: Entry, right: float, follows: float, tolerance: float) -> Verdict:
    if entry.number is None:
        return Verdict.blank if entry.blank else Verdict.no_number
    if near(entry.number, right, tolerance):
        return Verdict.right
    return Verdict.followed if near(entry.number, follows, tolerance) else Verdict.wrong


def no_entries(node: Node) -> Entries:
    """A matrix in which nothing was filled in."""
    return [[Entry()] * node.shape[1] for _ in range(node.shape[0])]
