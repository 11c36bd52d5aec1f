"""What a graph computes as one formula in words, composed of its steps' own:
`softmax(Q × Kᵀ / √d_k) × V`. Knows no model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attn_xl.graph.node import Graph, Node, referred_to
from attn_xl.graph.operation import operation_of
from attn_xl.graph.operations.products import Product, Transpose
from attn_xl.graph.operations.reductions import Width

MOST_STEPS = 12
"""More steps than these make no formula that one reads: the one before them goes by its name."""


def formula_of(graphs: Iterable[Graph]) -> str:
    """How attention, or what there is in its place, is computed.

    Args:
        graphs: of all sentences; where they compute differently, or stacks of layers do, each formula
            is there with the stack or the sentence's number.

    Returns:
        "" where nothing is computed.
    """
    found: dict[tuple[str, str], list[str]] = {}
    where: dict[str, set[str]] = {}
    for number, graph in enumerate(graphs, 1):
        for result, weights in _results(graph):
            composing = _Composing(where)
            attends = weights is not result
            name = "Attention(Q, K, V)" if attends else composing.name(result)
            said = composing.words(result)
            stack = weights.part.every_layer.prefix.strip(".")
            places = found.setdefault((name, said), [])
            places += [place for place in [stack or f"sentence {number}"] if place not in places]
    several = len(found) > 1
    formulas = [
        f"{name} = {said}{f' in {_listed(places)}' if several else ''}"
        for (name, said), places in found.items()
    ]
    known = [next(iter(meanings)) for meanings in where.values() if len(meanings) == 1]
    return "; ".join(formulas) + (f", where {'; '.join(known)}" if known else "")


def _listed(places: list[str]) -> str:
    return " and ".join([", ".join(places[:-1]), places[-1]] if len(places) > 1 else places)


def _results(graph: Graph) -> Sequence[tuple[Node, Node]]:
    """What each attention ends with, and its weights; without attention, the last step, twice."""
    nodes = [node for node in graph.values() if not node.helper and not node.scalar]
    found = []
    for number, weights in enumerate(nodes, 1):
        if weights.role != "attention":
            continue
        result = weights
        for node in nodes[number:]:  # in the order they were made
            if isinstance(result.operation, Product):
                break
            if next(referred_to(node), None) is result and not node.texts:
                result = node
        if isinstance(result.operation, Product):
            found.append((result, weights))
    made = [node for node in nodes if node.operation is not None]
    return found or [(node, node) for node in made[-1:]]


class _Composing:
    """One formula.

    Args:
        where: takes what the names in it stand for.
    """

    def __init__(self, where: dict[str, set[str]]) -> None:
        self._where = where
        self._steps = 0

    def name(self, node: Node) -> str:
        """A matrix's name without its layer and head."""
        return node.base_name

    def words(self, node: Node) -> str:
        """How a matrix was made, down to what is given and to what is matched."""
        first = next(referred_to(node), None)
        worked_out = first is not None and first.helper and not first.scalar and not first.unnamed
        if first is not None and worked_out:  # in helpers
            inner = first
            while inner.helper and (deeper := next(referred_to(inner), None)) is not None:
                inner = deeper
            return node.description.replace(inner.name, self.words_or_name(inner))
        return self.unfolded(node, follow=True)

    def words_or_name(self, node: Node) -> str:
        """What stands for a matrix in the main line of the formula."""
        self._steps += 1
        if node.operation is None or node.scalar or self._steps > MOST_STEPS:
            return self.name(node)
        return self.words(node)

    def unfolded(self, node: Node, *, follow: bool) -> str:
        """The words of a matrix's own operation; its first operand's are put in (`follow`), unless it
        is matched with another."""
        operation = operation_of(node)
        if isinstance(operation, Product) and isinstance(node.parents[1].operation, Transpose):
            follow = False
        parents = enumerate(node.parents)
        return operation.words(*(self.operand(p, follow=follow and i == 0) for i, p in parents))

    def operand(self, node: Node, *, follow: bool) -> str:
        """What stands for an operand: its name, or how it was made."""
        if not node.name:
            return self.unfolded(node, follow=follow)
        if node.unnamed:
            return node.as_operand
        if follow and not node.helper:
            return self.words_or_name(node)
        name = self.name(node)
        if node.operation is not None and not isinstance(node.operation, Width):
            if node.scalar:
                meaning = f"{name} = {self.unfolded(node, follow=False)}"
            elif node.helper:
                meaning = f"{name} is {node.note}"
            else:
                return name
            self._where.setdefault(name, set()).add(meaning)
        return name
