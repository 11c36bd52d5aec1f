"""What a model makes of the sentences of a workbook: their graphs, and what compares them. Knows no
model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from attn_xl.errors import CallError, nearest
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.node import Graph, Node
from attn_xl.settings import Settings


@dataclass(frozen=True, eq=False, repr=False)
class Computation(Mapping[str, Graph]):
    """The graph of every sentence, by the sentence's name, and what compares them.

    `computation["cat"]["Softmax"].values` is an array.

    Attributes:
        title: what was computed, and for what.
        graphs: the graph of each sentence.
        comparison: the matrices of `Compare` by name; none where no word is shared.
        controls: what a reader plays with, by name: the word to look at, where words move to.
        remarks: what a reader should know, such as why sentences are not compared.
        settings: what was chosen, where it was made from a workbook.
    """

    title: str
    graphs: dict[str, Graph]
    comparison: dict[str, Matrix]
    controls: dict[str, Matrix] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    settings: Settings | None = None

    def __getitem__(self, sentence: str) -> Graph:
        try:
            return self.graphs[sentence]
        except KeyError:
            raise UnknownSheetError(
                f"there is no sheet {sentence!r} with a sentence. {nearest(sentence, self)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.graphs)

    def __len__(self) -> int:
        return len(self.graphs)

    def shared(self) -> set[Node]:
        """The matrices that belong to more than one sentence: the weights."""
        seen: set[Node] = set()
        several: set[Node] = set()
        for graph in self.graphs.values():
            for node in graph.values():
                (several if node in seen else seen).add(node)
        return several

    def _repr_html_(self) -> str:
        from html import escape  # loaded only where there is a notebook

        return "".join(f"<h4>{escape(name)}</h4>{graph._repr_html_()}" for name, graph in self.items())


def sentence_of(graph: Graph) -> tuple[str, ...]:
    """The words that a graph computes with: those of its input, or of what comes first."""
    nodes = [node for node in graph.values() if not node.scalar] or list(graph.values())
    return next((node.rows for node in nodes if node.name == "Input"), nodes[0].rows)


def as_computation(what: Computation | Graph | Node) -> Computation:
    """A computation as it is; a graph, or the matrix that a model returned, as one of one sentence. A
    matrix without a name is called `Result`."""
    if isinstance(what, Computation):
        return what
    graph = what if isinstance(what, Graph) else Graph(what if what.name else what.named("Result"))
    last = list(graph.values())[-1]
    return Computation(last.name, {last.name: graph}, {})


class UnknownSheetError(CallError, KeyError):
    """A sentence that the workbook does not have."""

    __str__ = Exception.__str__
