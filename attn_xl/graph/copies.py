"""A graph once more: under other names with other inputs, or as numbers only, many times over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from .functions import with_texts
from .graph import walk
from .loops import Loop, follows, loop_turns
from .matrix import Matrix, Numbers, Operation, created, operation_of
from .operations.selection import Previous
from .step import Scope


def copied(
    results: Sequence[Matrix],
    inputs: Mapping[Matrix, Matrix],
    scope: Scope,
    own: Iterable[Matrix] = (),
) -> dict[Matrix, Matrix]:
    """The same computation of `results` with other matrices in place of some, in a scope of its own.

    What does not depend on `inputs` is shared, not copied.

    Args:
        results: the matrices to compute anew.
        inputs: for each matrix to be replaced, the one that takes its place, of the same shape.
        scope: the outermost scope of the copies: `Step2` in `Step2.Scores`.
        own: computed matrices to copy although they do not depend on `inputs`.

    Returns:
        For each matrix that leads to the results, its copy, or itself where it is shared.
    """
    nodes = walk(results)
    changed, turns = follows(results, inputs) | set(own), loop_turns(nodes)
    copies: dict[Matrix, Matrix] = {**inputs}
    names: dict[str, str] = {}
    loops: dict[Loop, Loop] = {}

    def made_again(
        node: Matrix, parents: tuple[Matrix, ...], values: Numbers, operation: Operation | None
    ) -> Matrix:
        part = node.part.around(scope)
        name = node.name
        if isinstance(operation, Previous) and operation.loop in loops:
            source = f"{scope.name}.{operation.source}"
            operation = replace(operation, source=source, loop=loops[operation.loop])
        if name and (node.scalar or not node.helper):
            name = part.name(node.step.symbol) if node.step else f"{scope.name}.{name}"
            names[node.name] = name
        made = replace(
            node,
            values=values,
            parents=parents,
            operation=operation,
            name=name,
            part=part,
            description=_renamed(node.description, names),
            rules=None,
            order=created(),
        )
        return with_texts(made) if node.texts else made

    for node in nodes:
        if node in copies:
            continue
        if node in turns:
            if (loop := turns[node]) is not None:
                if changed.isdisjoint(loop.nodes):
                    copies |= {one: one for one in loop.nodes}
                else:
                    loops[loop] = Loop(loop.reverse)
                    _copy_loop(loop, loops[loop], copies, made_again)
        elif node not in changed:
            copies[node] = node
        else:
            parents = tuple(copies[parent] for parent in node.parents)
            with np.errstate(all="ignore"):  # a node refuses infinities
                values = operation_of(node).numbers(*(parent.values for parent in parents))
            copies[node] = made_again(node, parents, values, node.operation)
    return copies


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """A description with other names of matrices."""
    return re.sub(r"[\w.]+", lambda word: names.get(word[0], word[0]), text)


def _copy_loop(
    loop: Loop, again: Loop, copies: dict[Matrix, Matrix], made_again: Callable[..., Matrix]
) -> None:
    """Add the copies of matrices that are computed together, row after row, in the loop `again`."""
    for node in loop.nodes:
        known = tuple(copies[parent] for parent in node.parents if parent in copies)
        copies[node] = made_again(node, known, np.broadcast_to(1.0, node.shape), node.operation)
    for node in loop.nodes:  # the row above is that of a matrix copied later
        object.__setattr__(copies[node], "parents", tuple(copies[parent] for parent in node.parents))
    again.nodes = tuple(copies[node] for node in loop.nodes)
    again.states = tuple(copies[state] for state in loop.states)
    for one, numbers in again.numbers().items():
        one.fill(numbers)


class Replay:
    """A computation as numbers only, to be run many times with other inputs.

    Args:
        results: the matrices to compute.
        inputs: the given matrices that differ from run to run; those without effect are ignored.
    """

    def __init__(self, results: Iterable[Matrix], inputs: Iterable[Matrix]) -> None:
        results, inputs = list(results), list(inputs)
        changed = follows(results, inputs)
        nodes = walk(results)
        place = {node: number for number, node in enumerate(nodes)}
        self._arrays: list[Numbers] = [*(node.values for node in nodes), np.empty((0, 0))]
        self._inputs = [place.get(node, len(nodes)) for node in inputs]
        self._results = [place[node] for node in results]
        self._plan: list[Callable[[], None]] = []
        turns = loop_turns(nodes)
        for node in nodes:
            if node in turns:
                if (loop := turns[node]) is not None and not changed.isdisjoint(loop.nodes):
                    self._plan.append(partial(self._loop, loop, place))
            elif node in changed:
                operands = [place[parent] for parent in node.parents]
                self._plan.append(
                    partial(self._step, place[node], operation_of(node).numbers, operands)
                )

    def _step(self, place: int, compute: Callable[..., Numbers], operands: list[int]) -> None:
        arrays = self._arrays
        arrays[place] = compute(*[arrays[operand] for operand in operands])

    def _loop(self, loop: Loop, place: Mapping[Matrix, int]) -> None:
        outside = {node: self._arrays[place[node]] for node in loop.reads}
        for node, numbers in loop.recomputed(outside, {}, keep=True)[0].items():
            self._arrays[place[node]] = numbers

    def __call__(self, inputs: Sequence[Numbers]) -> list[Numbers]:
        """The numbers of the results for these inputs; infinities and NaN are not refused."""
        arrays = self._arrays
        for place, numbers in zip(self._inputs, inputs):
            arrays[place] = numbers
        with np.errstate(all="ignore"):
            for step in self._plan:
                step()
        return [arrays[place] for place in self._results]
