"""The charts of the sheet `Compare`: shared words by dimension, and where words move to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from attn_xl.models import steps
from attn_xl.models.similarity import AXES, DIRECTIONS_STAY
from attn_xl.settings import COMPARE, OVERVIEW
from attn_xl.spreadsheets.addresses import Place
from attn_xl.text import clean, shortened

from .layout import FIRST_ROW, Layout, Sheet
from .page import Block, Cell, Chart, Series, share_labels

MOST_SERIES, MOST_POINTS = 8, 40
"""Series of bars in a chart, and words in a plane."""
LONGEST_NAME = 30
"""Characters of a word that a chart shows."""
MOVES_SHOW = (
    "The position of each word before and after attention, in two dimensions. Look for words "
    "that move towards each other."
)
MOVED = (
    "The words before attention (small dots) and after it",
    "The words of {sentence} before attention (small dots) and after it",
)
BEFORE = (
    "The words before attention, in the space of the inputs",
    "The words of {sentence} before attention, in the space of the inputs",
)
AFTER = (
    "The words after attention, in the space of the outputs",
    "The words of {sentence} after attention, in the space of the outputs",
)
"""Titles of the planes: of all words, and of the words of one sentence."""
ROWS_OF_CHART, ROWS_OF_PLANE = 16, 23
COLUMNS_OF_PLANE = 12
"""Rows of 15 points, columns of the default width: the size of a chart."""
GAP = 2


def with_charts(layout: Layout) -> Layout:
    """A layout with the charts of `Compare` added; one without switches is returned unchanged."""
    if not any(sheet.name == OVERVIEW for sheet in layout.sheets):
        return layout
    sheets = [_add_charts(one, layout) if one.name == COMPARE else one for one in layout.sheets]
    return replace(layout, sheets=tuple(sheets))


def _add_charts(sheet: Sheet, layout: Layout) -> Sheet:
    """Add charts beside the tables: the input and outputs of each shared word, and how words move."""
    if not any(block.node.is_step(steps.MOVES, *steps.COMPARED_ENDS) for block in sheet.blocks):
        return sheet
    column = max(block.place.last_column for block in sheet.blocks) + GAP
    moves = [block for block in sheet.blocks if block.node.is_step(steps.MOVES)]
    charts: list[Chart] = []
    cells: list[Cell] = []
    row = FIRST_ROW - 1
    charts += _planes(layout, moves, column) if moves else ()
    if charts:
        row += ROWS_OF_PLANE + 1
        if any(block.node.is_step(steps.COMPONENTS) for block in sheet.blocks):
            cells.append(Cell(row - 1, column, DIRECTIONS_STAY))
    by_word: dict[str, list[Block]] = {}
    for block in sheet.blocks:
        if block.node.is_step(*steps.COMPARED_ENDS):
            by_word.setdefault(_scope(block), []).append(block)
    for blocks in by_word.values():
        chart = _by_dimension(layout, blocks, row, column)
        charts.append(chart)
        row += ROWS_OF_CHART
    note = sheet.note if by_word else MOVES_SHOW
    extras = replace(sheet.extras, charts=tuple(charts), cells=(*sheet.extras.cells, *cells))
    return replace(sheet, note=note, extras=extras)


def texts_below(chart: Chart, lines: Iterable[str], rows: int) -> list[Cell]:
    """Lines of text below a chart that is `rows` high."""
    return [Cell(chart.row + rows + i, chart.column, line) for i, line in enumerate(lines)]


def _by_dimension(layout: Layout, blocks: list[Block], row: int, column: int) -> Chart:
    """A bar chart by dimension: the word's input, and its output in each sentence."""
    word = _short(_scope(blocks[0]))
    series = []
    for block in blocks:
        values, what = layout.values(block.node), steps.ENDS[block.node.base_name]
        is_shared = block.node.is_step(steps.INPUT) and (values == values[0]).all()
        for i, label in enumerate(block.node.rows):
            if is_shared and i:
                continue  # one series for the input that all sentences share
            title = what if is_shared else f"{what} {_short(label)}"
            series.append(
                Series(
                    title,
                    _part(block.place, i, 0, 1, block.place.columns),
                    _part(block.place, -1, 0, 1, block.place.columns),
                    _numbers(values[i]),
                    block.node.columns,
                )
            )
    return Chart(
        "bars",
        f"{word}: input and outputs",
        row,
        column,
        tuple(series[:MOST_SERIES]),
    )


def _planes(layout: Layout, blocks: list[Block], column: int) -> Iterable[Chart]:
    """Charts of the words before and after attention: one for all sentences, or one per sentence where
    there are many words; two each where inputs and outputs lie in different spaces."""
    together = sum(len(block.node.rows) for block in blocks) <= MOST_POINTS // 2
    several = len(blocks) > 1
    for number, group in enumerate([blocks] if together else [[block] for block in blocks]):
        name = "" if together or not several else _short(_scope(group[0]))
        joined = group[0].node.columns == AXES
        ends = ((0, 2, MOVED),) if joined else ((0, 1, BEFORE), (1, 1, AFTER))
        for which, (start, count, (of_all, of_one)) in enumerate(ends):
            title = of_one.format(sentence=name) if name else of_all
            series = [
                _point(layout, block, i, start, count, several and together)
                for block in group
                for i in range(min(len(block.node.rows), MOST_POINTS))
            ]
            yield Chart(
                "moves" if joined else "points",
                title,
                FIRST_ROW - 1,
                column + COLUMNS_OF_PLANE * (number * len(ends) + which),
                share_labels(series),
                width=18.0,
                height=12.0,
                legend=False,
            )


def _point(layout: Layout, block: Block, i: int, start: int, count: int, named: bool) -> Series:
    word = _short(block.node.rows[i])
    title = f"{word} ({_short(_scope(block))})" if named else word
    values = layout.values(block.node)[i]
    return Series(
        title,
        _part(block.place, i, 2 + start, 1, count),
        _part(block.place, i, start, 1, count),
        _numbers(values[2 + start : 2 + start + count]),
        _numbers(values[start : start + count]),
    )


def _scope(block: Block) -> str:
    """The sentence or word that a block belongs to; "" where there is one sentence only."""
    scopes = block.node.part.scopes
    return scopes[-1].words if scopes else ""


def _short(text: str) -> str:
    return shortened(clean(text), LONGEST_NAME)


def _numbers(numbers: Iterable[float]) -> tuple[float | None, ...]:
    return tuple(float(n) if n == n else None for n in numbers)


def _part(place: Place, row: int, column: int, rows: int, columns: int) -> Place:
    return Place(place.sheet, place.row + row, place.column + column, rows, columns)
