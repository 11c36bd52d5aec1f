"""The result of a model for the sentences of a workbook: their graphs and their comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal, overload

from attn_xl.errors import CallError, nearest, wrong_type
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.node import Graph, Node
from attn_xl.labelled import first_and_last
from attn_xl.settings import Settings
from attn_xl.tables.survey import Tables
from attn_xl.text import plain

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

    def __getitem__(self, name: str) -> Graph | Node:
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

    def shared(self) -> set[Node]:
        """The matrices that several sentences share, such as weights."""
        seen: set[Node] = set()
        several: set[Node] = set()
        for graph in self.graphs.values():
            for node in graph.values():
                (several if node in seen else seen).add(node)
        return several


def sentence_of(graph: Graph) -> tuple[str, ...]:
    """The words of a graph: the rows of its input, or of its first matrix."""
    nodes = [node for node in graph.values() if not node.scalar] or list(graph.values())
    return next((node.rows for node in nodes if node.name == "Input"), nodes[0].rows)


def as_computation(what: Computation | Graph | Node) -> Computation:
    """The computation itself, or a computation of one sentence for a graph or a matrix from a model. A
    matrix without a name becomes `Result`.

    Raises:
        WrongTypeError: for anything else.
    """
    if not isinstance(what, (Computation, Graph, Node)):
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
