"""The principal components of word vectors, as computed matrices and as the layout of a workbook whose
last matrices can be used as input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attn_xl.errors import CallError, InputError
from attn_xl.graph.functions import column_mean, column_variance, gather, row_sum
from attn_xl.graph.matrix import Matrix, given
from attn_xl.graph.node import Graph
from attn_xl.models.computation import Computation
from attn_xl.models.explorer import DIRECTIONS_STAY, principal_components
from attn_xl.settings import Settings
from attn_xl.spreadsheets.addresses import Place
from attn_xl.tables.survey import Table
from attn_xl.tables.written.record import SENTENCE

from .controls_sheet import texts_below
from .layout import FIRST_ROW, HEADER_ROW, Layout, Sheet
from .page import Chart, Series
from .place import lay_out
from .placed import Block
from .point_labels import place_labels
from .settings_sheet import with_record

PROJECTED, EXPLAINED = "Projected", "Explained"
MOST_POINTS = 200
"""Words in the chart: a chart has at most 255 series."""
ROWS_OF_CHART = 27
"""Rows of 15 points: the height of the chart."""
NOTES = {
    "Words": "The word vectors as given in the file, one word per row.",
    "Mean": "The mean of each column of Words.",
    "Centred": "The words minus the mean of each column, so that every column has mean 0.",
    "Components": "Principal components: the directions in which the words differ most, as unit "
    "vectors whose largest number is positive. They stay fixed when a word is changed.",
    PROJECTED: "The coordinates of each word along the principal components. attn-xl convert, "
    "similarity and teach read this table as the sentence.",
    EXPLAINED: "The share of the words' variance that each component explains: the variance of its "
    "column of Projected, divided by the total variance of Words.",
}


@dataclass(frozen=True, eq=False, repr=False)
class Components:
    """Principal components of words.

    Attributes:
        projected: (n, k), each word once; sentences: (n_i, k), rows of it, by name.
        explained: (1, k), the share of the variance that each component keeps.
    """

    projected: Matrix
    sentences: dict[str, Matrix]
    explained: Matrix

    @property
    def graph(self) -> Graph:
        return Graph(self.projected, self.explained, *self.sentences.values())


def components(words: Table, count: int, sentences: Mapping[str, Sequence[str]] = {}) -> Components:
    """The first principal components of words.

    Args:
        words: (n, d), each word once.
        count: k, how many components, from 1 to d.
        sentences: for each sentence its words.

    Returns:
        `Words`, `Mean`, `Centred`, `Components` (d, k), `Projected` and `Explained`. `Words` and
        `Components` are given numbers; the others are computed.

    Raises:
        CallError: if `count` is not between 1 and d, or there are fewer than two words.
        InputError: if all words have the same vector, or their numbers are too large or too small.

    Source: Jolliffe, "Principal Component Analysis" (2002), chapters 1 and 2.
    """
    try:
        return _computed(words, count, sentences)
    except InputError as error:
        raise InputError(f"{words.file}: {error}") from None


def _computed(words: Table, count: int, sentences: Mapping[str, Sequence[str]]) -> Components:
    n, d = words.shape
    if not 1 <= count <= d:
        raise CallError(
            f"--pca is {count}; it takes a whole number from 1 to {d}, the dimensions of the vectors."
        )
    if n < 2:
        raise CallError("--pca needs at least two different words.")
    if (words.values == words.values[0]).all():
        raise InputError("these words all have the same vector, so there are no components to compute.")
    x = given(words.values, words.rows, words.columns, "Words", NOTES["Words"])
    mean = column_mean([x]).named("Mean", NOTES["Mean"])
    centred = (x - mean).named("Centred", NOTES["Centred"])
    labels = tuple(f"PC{number}" for number in range(1, count + 1))
    directions = given(
        principal_components(words.values, count).T,
        words.columns, labels, "Components", NOTES["Components"], "weight",
    )  # fmt: skip
    projected = (centred @ directions).named(PROJECTED, NOTES[PROJECTED])
    made = {name: _sentence(name, projected, chosen) for name, chosen in sentences.items()}
    return Components(projected, made, _explained(x, projected))


def _sentence(name: str, projected: Matrix, words: Sequence[str]) -> Matrix:
    rows = {word: row for row, word in enumerate(projected.rows)}
    picked = gather([(projected, rows[word]) for word in words], words)
    return picked.named(name, "The words of the sentence, each with its row of Projected.")


def _explained(x: Matrix, projected: Matrix) -> Matrix:
    """The variances and shares, all on one sheet."""
    variances = column_variance(x).named("Variances", "of each column of Words", sheet=EXPLAINED)
    total = row_sum(variances).named("Total", "all columns together", sheet=EXPLAINED)
    kept = column_variance(projected).named("Kept", "of each column of Projected", sheet=EXPLAINED)
    share = replace(kept / total, rows=("share",))
    return share.named(EXPLAINED, "of the total variance", sheet=EXPLAINED)


def components_layout(made: Components, title: str) -> Layout:
    """The layout of a workbook of principal components. Its sheet `Settings` records the projected
    words as sentences.

    Raises:
        InputError: if a matrix is too large for a sheet.
    """
    layout = lay_out(Computation(title, {title: made.graph}, {}))
    layout = replace(layout, sheets=tuple(_arranged(sheet, layout, made) for sheet in layout.sheets))
    sentences = made.sentences or {PROJECTED: made.projected}
    lines = [
        (f"{SENTENCE} {name}", layout.blocks[node].name, layout.blocks[node].place.absolute)
        for name, node in sentences.items()
    ]
    return with_record(layout, Computation(title, {}, {}), Settings(), lines)


def _arranged(sheet: Sheet, layout: Layout, made: Components) -> Sheet:
    if sheet.name == EXPLAINED:
        return replace(sheet, title="Explained variance", note=NOTES[EXPLAINED])
    if sheet.main.node is made.projected:
        chart = _chart(sheet.main, layout)
        lines: list[str] = []
        if chart.kind == "points":
            chart, lines = place_labels(chart)
        texts = texts_below(chart, [*lines, DIRECTIONS_STAY], ROWS_OF_CHART)
        return replace(sheet, extras=replace(sheet.extras, charts=(chart,), cells=tuple(texts)))
    return sheet


def _chart(block: Block, layout: Layout) -> Chart:
    """A scatter chart of the words along the first two components; a bar chart for one component."""
    place, values = block.place, layout.values(block.node)
    column = place.last_column + 2
    if place.columns == 1:
        labels = replace(place, column=place.column - 1)
        shown = tuple(map(float, values[:, 0]))
        series = [Series("PC1", place, labels, shown, block.node.rows)]
        return Chart("bars", "The words along the first principal component", HEADER_ROW, column,
                     tuple(series), width=18.0, height=10.0, legend=False)  # fmt: skip
    points = []
    for row, word in enumerate(block.node.rows[:MOST_POINTS]):
        x, y = (Place(place.sheet, FIRST_ROW + row, place.column + which, 1, 1) for which in (0, 1))
        points.append(Series(word, y, x, (float(values[row, 1]),), (float(values[row, 0]),)))
    which = f"first {MOST_POINTS} words" if len(block.node.rows) > MOST_POINTS else "words"
    return Chart("points", f"The {which} along the first two principal components", HEADER_ROW, column,
                 tuple(points), "PC1", "PC2", width=20.0, height=14.0, legend=False)  # fmt: skip


def explained_text(explained: Matrix) -> str:
    """The share of the variance that each component explains: `PC1 63.1 %, PC2 20.0 % of the
    variance`."""
    shares = [
        f"{label} {100 * share:.1f} %" for label, share in zip(explained.columns, explained.values[0])
    ]
    more = ", ..." if len(shares) > 5 else ""
    total = float(np.sum(explained.values))
    together = f", together {100 * total:.1f} %" if len(shares) > 1 else ""
    return f"{', '.join(shares[:5])}{more}{together} of the variance"
