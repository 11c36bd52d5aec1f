"""The workbook of principal components, whose last matrices can be used as input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attn_xl.graph.matrix import Matrix
from attn_xl.models.computation import Computation
from attn_xl.models.similarity import DIRECTIONS_STAY, EXPLAINED, NOTES, PROJECTED, Components
from attn_xl.settings import Settings
from attn_xl.spreadsheets.addresses import Place
from attn_xl.tables.written import SENTENCE

from .drawings import texts_below
from .layout import FIRST_ROW, HEADER_ROW, Layout, Sheet
from .overview import with_overview
from .page import Block, Chart, Series, share_labels
from .place import lay_out
from .settings_sheet import with_record

MOST_POINTS = 200
"""Words in the chart: a chart has at most 255 series."""
ROWS_OF_CHART = 27
"""Rows of 15 points: the height of the chart."""


def components_layout(components: Components, title: str) -> Layout:
    """The layout of a workbook of principal components. Its sheet `Settings` records the projected
    words as sentences.

    Raises:
        InputError: if a matrix is too large for a sheet.
    """
    layout = lay_out(Computation(title, {title: components.graph}, {}))
    layout = replace(
        layout, sheets=tuple(_with_title_or_chart(sheet, layout, components) for sheet in layout.sheets)
    )
    sentences = components.sentences or {PROJECTED: components.projected}
    lines = [
        (f"{SENTENCE} {name}", layout.blocks[node].name, layout.blocks[node].place.absolute)
        for name, node in sentences.items()
    ]
    return with_record(with_overview(layout), Computation(title, {}, {}), Settings(), lines)


def _with_title_or_chart(sheet: Sheet, layout: Layout, components: Components) -> Sheet:
    if sheet.name == EXPLAINED:
        return replace(sheet, title="Explained variance", note=NOTES[EXPLAINED])
    if sheet.main.node is components.projected:
        chart = _chart(sheet.main, layout)
        texts = texts_below(chart, [DIRECTIONS_STAY], ROWS_OF_CHART)
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
        title = "The words along the first principal component"
        return Chart("bars", title, HEADER_ROW, column,
                     tuple(series), width=18.0, height=10.0, legend=False)  # fmt: skip
    points = []
    for row, word in enumerate(block.node.rows[:MOST_POINTS]):
        x, y = (Place(place.sheet, FIRST_ROW + row, place.column + which, 1, 1) for which in (0, 1))
        points.append(Series(word, y, x, (float(values[row, 1]),), (float(values[row, 0]),)))
    title = "The words along the first two principal components"
    if len(block.node.rows) > MOST_POINTS:
        text = "The first {number} words along the first two principal components"
        title = text.format(number=MOST_POINTS)
    return Chart("points", title, HEADER_ROW, column,
                 share_labels(points), "PC1", "PC2", width=20.0, height=14.0, legend=False)  # fmt: skip


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
