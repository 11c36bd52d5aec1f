"""From tables to graphs: which table plays which part in the model, and whether they fit together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .attention import compare, self_attention
from .errors import CallError, InputError, nearest
from .matrix import Graph, Node
from .operations import Matrix, given
from .settings import Settings
from .tables import Table, Tables

WEIGHT_NOTES = {
    "W_Q": "Learned: turns embeddings into queries.",
    "W_K": "Learned: turns embeddings into keys.",
    "W_V": "Learned: turns embeddings into values.",
}
INPUT_NOTE = "The embeddings: one word a row, one dimension a column. Change a number and watch."


@dataclass(frozen=True)
class Computation(Mapping[str, Graph]):
    """The graph of every sentence, by the sentence's name, and what compares them.

    `computation["cat"]["Softmax"].values` is an array.

    Attributes:
        title: what was computed, and for what.
        graphs: the graph of each sentence.
        comparison: the matrices of `Compare` by name; none where no word is shared.
        remarks: what a reader should know, such as why sentences are not compared.
    """

    title: str
    graphs: dict[str, Graph]
    comparison: dict[str, Matrix]
    remarks: tuple[str, ...] = ()

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
        return "".join(f"<h4>{name}</h4>{graph._repr_html_()}" for name, graph in self.items())


class UnknownSheetError(CallError, KeyError):
    """A sentence that the workbook does not have."""

    __str__ = Exception.__str__


def attend(tables: Tables, settings: Settings = Settings()) -> Computation:
    """Self-attention over every sentence of a workbook, with its weights where it has them.

    Args:
        tables: what `read_tables` found: sentences (n, d), `W_Q` and `W_K` (d, d_k), `W_V` (d, d_v).
        settings: whether the scores are scaled.

    Raises:
        InputError: if a weight does not fit a sentence or another weight; it names both shapes.
    """
    for table in tables.sentences.values():
        _check_fit(table, tables.weights)
    inputs = {
        name: given(table.values, table.rows, table.columns, "Input", INPUT_NOTE)
        for name, table in tables.sentences.items()
    }
    dimensions = next(iter(inputs.values())).columns
    w = {name: _weight(table, dimensions) for name, table in tables.weights.items()}

    graphs: dict[str, Graph] = {}
    ends: dict[str, tuple[Matrix, Matrix]] = {}
    for name, x in inputs.items():
        try:
            output = self_attention(x, w.get("W_Q"), w.get("W_K"), w.get("W_V"), scale=settings.scale)
        except InputError as error:
            raise InputError(f"{tables.path}, sheet {name!r}: {error}") from None
        graphs[name] = Graph(output)
        ends[name] = x, output
    comparable, remarks = _comparable(ends)
    return Computation(
        title="Self-attention: " + ", ".join(graphs),
        graphs=graphs,
        comparison={matrix.name: matrix for matrix in compare(comparable)},
        remarks=remarks,
    )


def _weight(table: Table, dimensions: tuple[str, ...]) -> Matrix:
    """The weights under their own labels; where the sheet has none, under the dimensions they take
    and, for what they give, q1, q2, ..."""
    labelled_rows, labelled_columns = table.labelled
    letter = table.name[-1].lower()
    return given(
        table.values,
        table.rows if labelled_rows else dimensions,
        table.columns if labelled_columns else [f"{letter}{i + 1}" for i in range(table.shape[1])],
        table.name,
        WEIGHT_NOTES[table.name],
        "weight",
    )


def _check_fit(sentence: Table, weights: dict[str, Table]) -> None:
    d = len(sentence.columns)
    for name, table in weights.items():
        rows, columns = table.shape
        if rows != d:
            turned = " It fits when turned: swap its rows and columns." if columns == d else ""
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: {name} is {rows} x {columns}, but sheet "
                f"{sentence.sheet!r} has {_count(d, 'dimension')} (it is {sentence.shape[0]} x {d}). "
                f"{name} needs {_count(d, 'row')}.{turned}"
            )
        if table.rows != sentence.columns and sorted(table.rows) == sorted(sentence.columns):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: the rows of {name} are labelled "
                f"{', '.join(table.rows)}, but the dimensions of sheet {sentence.sheet!r} are "
                f"{', '.join(sentence.columns)}. Put them in the same order."
            )
    widths = {name: weights[name].shape[1] if name in weights else d for name in ("W_Q", "W_K")}
    if widths["W_Q"] != widths["W_K"]:
        said = [
            f"{name} is {weights[name].shape[0]} x {weights[name].shape[1]}"
            if name in weights
            else f"there is no {name}, so the {what} keep {_count(d, 'dimension')}"
            for name, what in (("W_Q", "queries"), ("W_K", "keys"))
        ]
        raise InputError(
            f"{sentence.file}: {' but '.join(said)}. Queries and keys are multiplied with each other: "
            "give W_Q and W_K the same number of columns."
        )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _comparable(
    ends: dict[str, tuple[Matrix, Matrix]],
) -> tuple[dict[str, tuple[Matrix, Matrix]], tuple[str, ...]]:
    """The sentences with the dimensions of the first, and a remark on those that have others."""
    first, (x, _) = next(iter(ends.items()))
    same = {name: end for name, end in ends.items() if end[0].columns == x.columns}
    others = [name for name in ends if name not in same]
    remark = (
        f"Not compared with {first!r}, since their dimensions differ: {', '.join(map(repr, others))}."
    )
    return same, (remark,) if others else ()
