"""A graph once more: under other names with other inputs, or as numbers only, many times over."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from .functions import with_texts
from .matrix import Matrix
from .node import Node, Numbers, created, walk
from .operation import operation_of
from .recompute import follows
from .step import Scope


def copied(
    results: Sequence[Matrix],
    inputs: Mapping[Node, Matrix],
    scope: Scope,
    own: Iterable[Node] = (),
) -> dict[Node, Matrix]:
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
    changed = follows(results, inputs) | set(own)
    copies: dict[Node, Matrix] = {**inputs}
    names: dict[str, str] = {}
    for node in walk(results):
        if node in copies:
            continue
        if node not in changed:
            copies[node] = cast(Matrix, node)
            continue
        parents = tuple(copies[parent] for parent in node.parents)
        part = node.part.around(scope)
        name = node.name
        if name and (node.scalar or not node.helper):
            name = part.name(node.step.symbol) if node.step else f"{scope.name}.{name}"
            names[node.name] = name
        described = re.sub(r"[\w.]+", lambda word: names.get(word[0], word[0]), node.description)
        with np.errstate(all="ignore"):  # a node refuses infinities
            values = operation_of(node).numbers(*(parent.values for parent in parents))
        made = replace(
            cast(Matrix, node),
            values=values,
            parents=parents,
            name=name,
            part=part,
            description=described,
            rules=None,
            order=created(),
        )
        copies[node] = with_texts(made) if node.texts else made
    return copies


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
        self._plan = [
            (place[node], operation_of(node).numbers, [place[parent] for parent in node.parents])
            for node in nodes
            if node in changed
        ]

    def __call__(self, inputs: Sequence[Numbers]) -> list[Numbers]:
        """The numbers of the results for these inputs; infinities and NaN are not refused."""
        arrays = self._arrays
        for place, numbers in zip(self._inputs, inputs):
            arrays[place] = numbers
        with np.errstate(all="ignore"):
            for place, compute, operands in self._plan:
                arrays[place] = compute(*[arrays[operand] for operand in operands])
        return [arrays[place] for place in self._results]
