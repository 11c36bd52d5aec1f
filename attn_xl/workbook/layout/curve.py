"""Charts of columns: the loss after each step of learning, how far a model sees, positions."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

from attn_xl.graph.node import Numbers
from attn_xl.models.steps import CERTAINTY, CURVE, DISTANCE, LOSS_BY_WORD, POSITIONS, SPREAD
from attn_xl.spreadsheets.addresses import Place

from .layout import Layout, Sheet
from .page import Block, Chart, Series

GAP = 2
"""Columns between the numbers and their chart."""
ROWS_OF_CHART = 18
MOST_WAVES = 8
CURVES = CURVE, CERTAINTY, DISTANCE, LOSS_BY_WORD, POSITIONS, SPREAD
SYMBOLS = {step.symbol for step in CURVES}


def with_curve(layout: Layout) -> Layout:
    """A layout with a chart beside each curve; one without curves is returned unchanged."""
    if not any(map(is_curve, layout.blocks.values())):
        return layout
    return replace(layout, sheets=tuple(_with_charts(sheet, layout) for sheet in layout.sheets))


def is_curve(block: Block) -> bool:
    """Whether it is a column of numbers that is drawn as a line, with its labels beside it."""
    step = block.node.step if block.labelled else None
    return step is not None and step.symbol in SYMBOLS and step in CURVES and len(block.node) > 1


def _with_charts(sheet: Sheet, layout: Layout) -> Sheet:
    curves = list(filter(is_curve, sheet.blocks))
    if not curves:
        return sheet
    ends = [block.place.last_column for block in sheet.blocks]
    ends += [cell.column for cell in sheet.extras.cells if cell.row >= curves[0].place.row]
    row, column = curves[0].place.row, max(ends) + GAP
    charts = tuple(
        chart_of(block, layout.values(block.node), row + number * ROWS_OF_CHART, column)
        for number, block in enumerate(curves)
    )
    extras = replace(sheet.extras, charts=(*sheet.extras.charts, *charts))
    return replace(sheet, extras=extras)


def chart_of(block: Block, values: Numbers, row: int, column: int) -> Chart:
    """The chart of columns of numbers against the labels of the rows; no point for an empty cell."""
    place, node = block.place, block.node
    labels = Place(place.sheet, place.row, place.column - 1, place.rows, 1)
    series = tuple(
        Series(
            title=title,
            values=Place(place.sheet, place.row, place.column + number, place.rows, 1),
            labels=labels,
            numbers=tuple(None if isnan(x) else float(x) for x in values[:, number]),
            names=node.rows,
        )
        for number, title in enumerate(node.columns[:MOST_WAVES])
    )
    if len(series) == 1:
        title, steps = node.columns[0].capitalize(), "steps"
        most = 1.0 if node.is_step(CERTAINTY) else 0.0  # a share
        return Chart("line", title, row, column, series, steps, legend=False, most=most)
    if node.is_step(POSITIONS):
        title = "Positions: a wave for each dimension"
        series = tuple(replace(one, title=f"{n}: {one.title}") for n, one in enumerate(series, 1))
        return Chart("line", title, row, column, series, "position")
    if node.is_step(SPREAD):
        title = "The spread of dot products grows like √d"
        return Chart("line", title, row, column, series, "dimensions")
    if node.is_step(LOSS_BY_WORD):
        title = "How much the loss changes with each word"
        return Chart("line", title, row, column, series, "word", most=1.0)
    title, distance = "Influence on the last word", "words back"
    return Chart("line", title, row, column, series, distance, most=1.0)
