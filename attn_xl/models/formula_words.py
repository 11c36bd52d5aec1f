"""The formula that a graph computes, composed of the words of its steps:
`softmax(Q × Kᵀ / √d_k) × V`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attn_xl.graph.node import Graph, Node, referred_to
from attn_xl.graph.operation import operation_of
from attn_xl.graph.operations.products import Product, Transpose
from attn_xl.graph.operations.reductions import Width

from .steps import DROPPED

MOST_STEPS = 12
"""Steps in one formula, at most, so that it stays readable; earlier ones appear by name."""


def formula_of(graphs: Iterable[Graph]) -> str:
    """The formula of attention, or of the model's last step without attention.

    Args:
        graphs: the graphs of all sentences. If sentences or stacks of layers differ, the result has
            each formula with the stack or the number of the sentence.

    Returns:
        The formula; "" if nothing is computed.
    """
    found: dict[tuple[str, str], list[str]] = {}
    where: dict[str, set[str]] = {}
    for number, graph in enumerate(graphs, 1):
        for result, weights in _results(graph):
            composing = _FormulaComposer(where)
            attends = weights is not result
            name = "Attention(Q, K, V)" if attends else composing.name(result)
            formula = composing.words(result)
            stack = weights.part.every_layer.prefix.strip(".")
            places = found.setdefault((name, formula), [])
            place = stack or f"sentence {number}"
            places += [place] * (place not in places)
    several = len(found) > 1
    formulas = [
        f"{name} = {formula} in {_listed(places)}" if several else f"{name} = {formula}"
        for (name, formula), places in found.items()
    ]
    known = [next(iter(meanings)) for meanings in where.values() if len(meanings) == 1]
    listed = "; ".join(formulas)
    if not known:
        return listed
    return f"{listed}, where {'; '.join(known)}"


def _listed(places: list[str]) -> str:
    return " and ".join([", ".join(places[:-1]), places[-1]] if len(places) > 1 else places)


def _results(graph: Graph) -> Sequence[tuple[Node, Node]]:
    """The result and the weights of each attention; without attention, the last step twice."""
    nodes = [node for node in graph.values() if not node.helper and not node.scalar]
    readers: dict[Node, list[Node]] = {}
    """By the matrix that they read first, in the order they were computed."""
    for node in nodes:
        if not node.texts and (first := next(referred_to(node), None)) is not None:
            readers.setdefault(first, []).append(node)
    found = []
    for weights in nodes:
        if weights.role != "attention" or any(scope.again for scope in weights.part.scopes):
            continue  # each new word repeats the formula of the words before it
        result: Node | None = weights
        while result is not None and not _is_product(result):
            result = next(
                (
                    node
                    for node in readers.get(result, ())
                    if node.role == result.role or node.is_step(DROPPED) or _is_product(node)
                ),
                None,
            )
        if result is not None:
            found.append((result, weights))
    made = [node for node in nodes if node.operation is not None]
    return found or [(node, node) for node in made[-1:]]


def _is_product(node: Node) -> bool:
    """Whether it is a product of matrices, perhaps times a switch."""
    inner = node.parents[0] if node.parents and not node.parents[0].name else node
    return isinstance(node.operation, Product) or isinstance(inner.operation, Product)


class _FormulaComposer:
    """Composer of one formula.

    Args:
        where: collects the meanings of the names in the formula.
    """

    def __init__(self, where: dict[str, set[str]]) -> None:
        self._where = where
        self._steps = 0

    def name(self, node: Node) -> str:
        """A matrix's name without its layer and head."""
        return node.base_name

    def words(self, node: Node) -> str:
        """The formula of a matrix, down to given matrices and to those that are matched."""
        first = next(referred_to(node), None)
        has_helpers = first is not None and first.helper and not first.scalar and not first.unnamed
        if first is not None and has_helpers:
            inner = first
            while inner.helper and (deeper := next(referred_to(inner), None)) is not None:
                inner = deeper
            return node.words.replace(inner.name, self.words_or_name(inner))
        return self.unfolded(node, follow=True)

    def words_or_name(self, node: Node) -> str:
        """The text for a matrix in the main line of the formula."""
        self._steps += 1
        if node.operation is None or node.scalar or self._steps > MOST_STEPS:
            return self.name(node)
        return self.words(node)

    def unfolded(self, node: Node, *, follow: bool) -> str:
        """The words of a matrix's own operation, with those of its first operand substituted (`follow`)
        unless that is matched with another."""
        operation = operation_of(node)
        if isinstance(operation, Product) and isinstance(node.parents[1].operation, Transpose):
            follow = False
        parents = enumerate(node.parents)
        return operation.words(*(self.operand(p, follow=follow and i == 0) for i, p in parents))

    def operand(self, node: Node, *, follow: bool) -> str:
        """The text for an operand: its name or its formula."""
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
