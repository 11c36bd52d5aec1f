"""What a model computed for all sentences, and its formula in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal, overload

from attn_xl.errors import CallError, nearest, wrong_type
from attn_xl.graph.graph import Graph, referred_to
from attn_xl.graph.matrix import Matrix, operation_of
from attn_xl.graph.operations.products import Additive, Product, Transpose
from attn_xl.graph.operations.reductions import Width
from attn_xl.labelled import first_and_last
from attn_xl.settings import Settings
from attn_xl.tables.survey import Tables
from attn_xl.text import plain

from .steps import DROPPED

MOST_NAMED = 6
"""Sentences listed in an error, at most."""
MOST_SHOWN, MOST_WORDS = 5, 20
"""Sentences in a repr, and words of each, at most."""
_Step = Literal[
    "Input", "Q", "K", "V", "Scores", "d_k", "Scaled", "Mask", "Masked", "Softmax", "Dropped", "Output"
]  # tells a type checker that it gets a matrix


@dataclass(frozen=True, eq=False, repr=False)
class Computation(Mapping[str, Graph]):
    """The graph of every sentence, by the sentence's name, and their comparison.

    `computation["pets"]["Softmax"]` is a matrix. `computation["Softmax"]` works too if there is one
    sentence, or if all sentences share the matrix.

    Attributes:
        title: what was computed, and for which sentences.
        graphs: the graph of each sentence.
        comparison: the matrices of `Compare` by name; empty if the sentences share no word.
        plane: the positions of words in a plane, before and after attention, by name.
        remarks: notes for the reader, such as why sentences are not compared.
        settings: the settings used, if it was computed from a workbook.
        tables: the tables it was computed from, if known.
        about: what of the model is formulas, if not all of it; on a second line, what all of it
            would take.
    """

    title: str
    graphs: dict[str, Graph]
    comparison: dict[str, Matrix]
    plane: dict[str, Matrix] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    settings: Settings | None = None
    tables: Tables | None = None
    about: str = ""

    @overload
    def __getitem__(self, name: _Step) -> Matrix: ...  # type: ignore[overload-overlap]

    @overload
    def __getitem__(self, name: str) -> Graph: ...

    def __getitem__(self, name: str) -> Graph | Matrix:
        if name in self.graphs:
            return self.graphs[name]
        known = {**self.comparison, **self.plane}
        matching = {graph[name] for graph in self.graphs.values() if name in graph}
        matching |= {known[name]} if name in known else set()
        if len(matching) == 1:
            return matching.pop()
        if matching:
            which = [f"[{sentence!r}][{name!r}]" for sentence in self.graphs if name in self[sentence]]
            more = f", ... ({len(which)} sentences)" if len(which) > MOST_NAMED else ""
            raise UnknownSheetError(
                f"{name} is a step of {len(which)} sentences. Say which one: "
                f"{', '.join(which[:MOST_NAMED])}{more}."
            )
        steps = dict.fromkeys(step for graph in self.graphs.values() for step in graph)
        what = "sentence or step" if len(self) == 1 else "sentence"
        folded = {step.casefold(): step for step in steps}
        close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
        if close and not get_close_matches(name.casefold(), map(str.casefold, self), n=1, cutoff=0.6):
            hint = f"Did you mean the step {folded[close[0]]!r}? The sentences are: {', '.join(self)}."
        else:
            hint = nearest(name, self)
        raise UnknownSheetError(f"there is no {what} {name!r}. {hint}")

    def __contains__(self, name: object) -> bool:
        return name in self.graphs

    def __repr__(self) -> str:
        lines = [self.title]
        for number, (name, graph) in enumerate(self.graphs.items()):
            if number == MOST_SHOWN:
                lines.append(f"... {len(self) - number} more sentences")
                break
            words = sentence_of(graph)
            dots = " ..." if len(words) > MOST_WORDS else ""
            lines.append(plain(f"{name}: {' '.join(words[:MOST_WORDS])}{dots}"))
            lines += first_and_last(graph.lines())
        if self.comparison:
            lines.append(f"Compare: {len(self.comparison)} matrices, by name in .comparison")
        return "\n".join(lines)

    def __iter__(self) -> Iterator[str]:
        return iter(self.graphs)

    def __len__(self) -> int:
        return len(self.graphs)

    def shared(self) -> set[Matrix]:
        """The matrices that several sentences share, such as weights."""
        seen: set[Matrix] = set()
        several: set[Matrix] = set()
        for graph in self.graphs.values():
            for node in graph.values():
                (several if node in seen else seen).add(node)
        return several


def sentence_of(graph: Graph) -> tuple[str, ...]:
    """The words of a graph: the rows of its input, or of its first matrix."""
    nodes = [node for node in graph.values() if not node.scalar] or list(graph.values())
    return next((node.rows for node in nodes if node.name == "Input"), nodes[0].rows)


def as_computation(what: Computation | Graph | Matrix) -> Computation:
    """The computation itself, or a computation of one sentence for a graph or a matrix from a model. A
    matrix without a name becomes `Result`.

    Raises:
        WrongTypeError: for anything else.
    """
    if not isinstance(what, (Computation, Graph, Matrix)):
        raise wrong_type(
            "the computation",
            what,
            "the result of attend, a graph, or a matrix that a model returned",
        )
    if isinstance(what, Computation):
        return what
    graph = what if isinstance(what, Graph) else Graph(what if what.name else what.named("Result"))
    last = list(graph.values())[-1]
    return Computation(last.name, {last.name: graph}, {})


class UnknownSheetError(CallError, KeyError):
    """A sentence or step that the computation does not have."""

    __str__ = Exception.__str__


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


def _results(graph: Graph) -> Sequence[tuple[Matrix, Matrix]]:
    """The result and the weights of each attention; without attention, the last step twice."""
    nodes = [node for node in graph.values() if not node.helper and not node.scalar]
    readers: dict[Matrix, list[Matrix]] = {}
    """By the matrix that they read first, in the order they were computed."""
    for node in nodes:
        if not node.texts and (first := next(referred_to(node), None)) is not None:
            readers.setdefault(first, []).append(node)
    found = []
    for weights in nodes:
        if weights.role != "attention" or any(scope.again for scope in weights.part.scopes):
            continue  # each new word repeats the formula of the words before it
        result: Matrix | None = weights
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


def _is_product(node: Matrix) -> bool:
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

    def name(self, node: Matrix) -> str:
        """A matrix's name without its layer and head."""
        return node.base_name

    def words(self, node: Matrix) -> str:
        """The formula of a matrix, down to given matrices and to those that are matched."""
        first = next(referred_to(node), None)
        has_helpers = first is not None and first.helper and not first.scalar and not first.unnamed
        if first is not None and has_helpers:
            inner = first
            while inner.helper and (deeper := next(referred_to(inner), None)) is not None:
                inner = deeper
            return node.words.replace(inner.name, self.words_or_name(inner))
        return self.unfolded(node, follow=True)

    def words_or_name(self, node: Matrix) -> str:
        """The text for a matrix in the main line of the formula."""
        self._steps += 1
        if node.operation is None or node.scalar or self._steps > MOST_STEPS:
            return self.name(node)
        return self.words(node)

    def unfolded(self, node: Matrix, *, follow: bool) -> str:
        """The words of a matrix's own operation, with those of its first operand substituted (`follow`)
        unless that is matched with another."""
        operation = operation_of(node)
        matched = isinstance(operation, (Product, Additive))
        if matched and isinstance(node.parents[1].operation, Transpose):
            follow = False
        parents = enumerate(node.parents)
        return operation.words(*(self.operand(p, follow=follow and i == 0) for i, p in parents))

    def operand(self, node: Matrix, *, follow: bool) -> str:
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
