"""Loops: matrices that are computed together, row after row; and matrices computed anew after some of
their cells have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from attn_xl.records import record

from .graph import walk
from .matrix import Matrix, Numbers, Operation, operation_of
from .terms import Reads


class Loop:
    """Matrices that are computed together, row after row, since each row needs the row before it.

    Attributes:
        reverse: whether from the last row up.
        nodes: all of them, in the order in which a row is computed.
        states: those whose row above is read.
    """

    def __init__(self, reverse: bool = False) -> None:
        self.reverse = reverse
        self.nodes: tuple[Matrix, ...] = ()
        self.states: tuple[Matrix, ...] = ()

    @property
    def reads(self) -> set[Matrix]:
        """The matrices outside the loop that it reads."""
        return {parent for node in self.nodes for parent in node.parents} - {*self.nodes}

    def numbers(self) -> dict[Matrix, Numbers]:
        """The numbers of all nodes, from those of the matrices outside."""
        return self.recomputed({node: node.values for node in self.reads}, {}, keep=True)[0]

    def recomputed(
        self,
        outside: Mapping[Matrix, Numbers],
        entered: Mapping[Matrix, Entered],
        *,
        keep: bool = False,
    ) -> tuple[dict[Matrix, Numbers], dict[Matrix, Numbers]]:
        """As in `Recomputed`: what every row gives and shows, given what the matrices outside show;
        with `keep`, infinite numbers are kept."""
        expected = {node: np.empty(node.shape) for node in self.nodes}
        shown = {n: np.empty(n.shape) if n in entered else made for n, made in expected.items()}
        plan = []
        for node in self.nodes:
            operation = operation_of(node)
            sources = []
            for number, parent in enumerate(node.parents):
                values = shown[parent] if parent in shown else outside[parent]
                by_row = operation.reads_of(number) in (Reads.number, Reads.row)
                sources.append((values, by_row and len(values) == len(node.rows)))
            plan.append((operation, sources, expected[node], shown[node], entered.get(node)))
        rows = range(len(self.nodes[0].rows))
        for t in reversed(rows) if self.reverse else rows:
            for operation, sources, made, seen, put in plan:
                pick = operation.row_of(t)
                if pick is not None:
                    made[t] = sources[pick[0]][0][pick[1]]
                else:
                    operands = (values[t : t + 1] if by_row else values for values, by_row in sources)
                    made[t] = operation.numbers(*operands)[0]
                if not keep:
                    made[t] = np.where(np.isfinite(made[t]), made[t] + 0.0, np.nan)
                if put is not None:
                    seen[t] = np.where(put.cells[t], put.numbers[t], made[t])
        return expected, shown


class Looping(Operation):
    """What an operation has that refers to another row of its own result.

    Attributes:
        loop: the matrices that are computed together.
    """

    loop: Loop


def loop_turns(nodes: Sequence[Matrix]) -> dict[Matrix, Loop | None]:
    """For each node of a loop among `nodes`, in their order, None; for its last node, the loop: all
    that it reads comes before, and all that reads it after."""
    found: dict[Matrix, Loop | None] = {}
    for loop in loops_in(nodes):
        inside = {*loop.nodes}
        last = [node for node in nodes if node in inside][-1]
        found |= {node: loop if node is last else None for node in loop.nodes}
    return found


def loops_in(nodes: Iterable[Matrix]) -> list[Loop]:
    """The loops among some matrices."""
    found: dict[Loop, None] = {}
    for node in nodes:
        if isinstance(node.operation, Looping):
            found[node.operation.loop] = None
    return list(found)


@record(frozen=True, eq=False, repr=False)
class Entered:
    """Numbers entered into some cells of a matrix instead of its own.

    Attributes:
        cells: Boolean mask of the matrix's shape.
        numbers: the numbers, of the same shape; NaN for a blank.
    """

    cells: np.ndarray
    numbers: Numbers


@record(frozen=True, eq=False, repr=False)
class Recomputed:
    """The numbers of all matrices after some cells have changed.

    Attributes:
        expected: the result of every matrix's operation, computed from what its operands show.
        shown: the same, with the entered numbers in their cells.
    """

    expected: dict[Matrix, Numbers]
    shown: dict[Matrix, Numbers]

    def numbers(self, node: Matrix) -> Numbers:
        """What a matrix shows, or what it holds if it was not computed again."""
        return self.shown.get(node, node.values)


def recompute(results: Iterable[Matrix], entered: Mapping[Matrix, Entered]) -> Recomputed:
    """The numbers of every node that leads to `results` after some cells have changed.

    NaN stands for a missing number: a blank, a number that depends on one, or a number that cannot be
    computed, such as a division by 0.
    """
    expected: dict[Matrix, Numbers] = {}
    shown: dict[Matrix, Numbers] = {}
    changed: set[Matrix] = set()
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


def follows(results: Iterable[Matrix], changed: Iterable[Matrix]) -> set[Matrix]:
    """The nodes that lead to `results` and depend on one of `changed`."""
    dependents, before = set(changed), 0
    nodes = walk(results)
    while len(dependents) > before:  # again where a loop leads back
        before = len(dependents)
        for node in nodes:
            if not dependents.isdisjoint(node.parents):
                dependents.add(node)
    return dependents - set(changed)
