"""The graph of the matrices that lead to some results."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from attn_xl.errors import CallError, nearest, wrong_type
from attn_xl.labelled import first_and_last

from .matrix import Matrix


class Graph(Mapping[str, Matrix]):
    """The named matrices that lead to some results, by name, in the order of their creation.

    `graph["Softmax"].values` is an array; the name of a helper includes its step:
    `graph["Softmax.Sum"]`.

    Args:
        without: matrices that lead to the results but belong to another graph.
    """

    def __init__(self, *results: Matrix, without: Collection[Matrix] = ()) -> None:
        self._nodes: dict[str, Matrix] = {}
        self._owners: dict[Matrix, Matrix] = {}
        self._full_names: dict[Matrix, str] = {}
        for result in results:
            if not isinstance(result, Matrix):
                raise wrong_type("a result", result, "a matrix that a model returned")
        nodes = [node for node in walk(results) if node.name and node not in without]
        for node in nodes:
            if not node.helper:
                self._adopt(node)
        for node in nodes:
            name = self.full_name(node)
            if name in self._nodes and node.helper:  # of several softmaxes beside one step
                name = next(f"{name}_{n}" for n in itertools.count(2) if f"{name}_{n}" not in self)
            if name in self._nodes:
                raise ValueError(f"two matrices are named {name}")
            self._nodes[name] = node
            self._full_names[node] = name

    def _adopt(self, owner: Matrix) -> None:
        """Give `owner` the helpers that lead to it and belong to no earlier step."""
        waiting, seen = list(owner.parents), set[Matrix]()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.helper and node not in self._owners:
                self._owners[node] = owner
            if node.helper or not node.name:
                waiting.extend(node.parents)

    def owner(self, node: Matrix) -> Matrix:
        """The step beside which `node` is shown: itself, unless it is a helper."""
        return self._owners.get(node, node)

    def full_name(self, node: Matrix) -> str:
        """`Softmax.Sum` for a helper, `Softmax.Sum_2` for a second one of that name; for a scalar and
        every other matrix, its own name."""
        if node in self._full_names:
            return self._full_names[node]
        if node.helper and not node.scalar:
            return f"{self.owner(node).name}.{node.name}"
        return node.name

    def __getitem__(self, name: str) -> Matrix:
        try:
            return self._nodes[name]
        except KeyError:
            raise UnknownStepError(name, [*self]) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __repr__(self) -> str:
        return "\n".join([f"Graph of {len(self)} matrices", *first_and_last(self.lines())])

    def lines(self) -> list[str]:
        """A line for each matrix: its name, its shape, how it was computed."""
        width = max((len(name) for name in self), default=0)
        shapes = [f"{n} x {m}" for n, m in (node.shape for node in self.values())]
        wide = max(map(len, shapes), default=0)
        return [
            f"  {name:{width}}  {shape:{wide}}  {node.words}".rstrip()
            for (name, node), shape in zip(self.items(), shapes)
        ]


class UnknownStepError(CallError, KeyError):
    """A step that does not exist in the model; its message is made where it is shown, as `get()`
    catches it."""

    def __str__(self) -> str:
        name, known = self.args
        return f"there is no step {name!r}. {nearest(name, known)}"


def referred_to(node: Matrix) -> Iterator[Matrix]:
    """The named matrices in a node's formula, in order."""
    for parent in node.parents:
        if parent.name:
            yield parent
        else:
            yield from referred_to(parent)


def walk(
    results: Iterable[Matrix],
    operands: Callable[[Matrix], Iterable[Matrix]] = lambda node: node.parents,
) -> list[Matrix]:
    """Every node that leads to `results`, once, in the order of creation."""
    seen: set[Matrix] = set()
    waiting = list(results)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(operands(node))
    return sorted(seen, key=lambda node: node.order)
