"""Drawings beside the numbers: curves, ribbons of attention, and the charts of the sheet `Compare`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import isnan

from attn_xl.graph.matrix import Numbers
from attn_xl.models import steps
from attn_xl.models.similarity import AXES, DIRECTIONS_STAY
from attn_xl.models.steps import CERTAINTY, CURVE, DISTANCE, LOSS_BY_WORD, POSITIONS, SPREAD
from attn_xl.settings import COMPARE, OVERVIEW
from attn_xl.spreadsheets.addresses import Place, address, fixed
from attn_xl.text import clean, shortened

from .layout import FIRST_COLUMN, FIRST_ROW, Layout, Sheet
from .page import Block, Cell, Chart, Choice, Series, share_labels

GAP = 2
"""Columns between the numbers and their chart."""
ROWS_OF_CURVE = 18
MOST_WAVES = 8
CURVES = CURVE, CERTAINTY, DISTANCE, LOSS_BY_WORD, POSITIONS, SPREAD
SYMBOLS = {step.symbol for step in CURVES}


def with_curve(layout: Layout) -> Layout:
    """A layout with a chart beside each curve; one without curves is returned unchanged."""
    if not any(map(is_curve, layout.blocks.values())):
        return layout
    return replace(layout, sheets=tuple(_with_curves(sheet, layout) for sheet in layout.sheets))


def is_curve(block: Block) -> bool:
    """Whether it is a column of numbers that is drawn as a line, with its labels beside it."""
    step = block.node.step if block.labelled else None
    return step is not None and step.symbol in SYMBOLS and step in CURVES and len(block.node) > 1


def _with_curves(sheet: Sheet, layout: Layout) -> Sheet:
    curves = list(filter(is_curve, sheet.blocks))
    if not curves:
        return sheet
    ends = [block.place.last_column for block in sheet.blocks]
    ends += [cell.column for cell in sheet.extras.cells if cell.row >= curves[0].place.row]
    row, column = curves[0].place.row, max(ends) + GAP
    charts = tuple(
        chart_of(block, layout.values(block.node), row + number * ROWS_OF_CURVE, column)
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


MOST_WORDS = 16
"""Ribbons that are drawn."""
BETWEEN, LEAST = 0.6, 0.08
"""The room between all ribbons, and the least between two, as shares of their thickness together."""
COLOUR = "8CC4BC"
LONGEST_LIST = 255
"""Characters of a list of choices that is not in cells."""
RIBBONS = "What the word looks at: ribbons as thick as the weights"


def can_be_drawn(block: Block) -> bool:
    """Whether attention weights, (n, m), are few enough."""
    return 1 < block.node.shape[1] <= MOST_WORDS and block.labelled


def with_ribbons(sheet: Sheet, block: Block, layout: Layout) -> Sheet:
    """The sheet of some attention weights with a drawing below them, for a word that is chosen or, if
    the cell is cleared, for the mean of all words."""
    place, values = block.place, layout.values(block.node)
    rows = tuple(map(clean, block.node.rows))
    named = len({row.casefold() for row in rows}) == len(rows)  # else one is chosen by number
    word = int((values != 0).sum(axis=1).argmax())  # the first one that looks at the most
    top, left = place.last_row + 3, place.column - 1
    labels = fixed(replace(place, column=left, columns=1).range)
    chosen, at = (fixed(address(top, left + step)) for step in (1, 2))
    match = f"MATCH({chosen},{labels},0)" if named else chosen
    cells = [
        Cell(top, left, "word" if named else "row", align="right", indent=1),
        Cell(top, left + 1, rows[word] if named else word + 1.0, style="attn input", open=True),
        Cell(top, left + 2, word + 1.0, f'IF({chosen}="","",{match})', "attn echo", number_format="0"),
    ]
    names = block.node.columns
    room = max(BETWEEN / (len(names) - 1), LEAST)
    ends: list[tuple[float, float]] = [(float(w), float(w)) for w in values[word]]
    ends += [(round(room * (len(names) - 1) / 2, 12), 0.0), (0.0, room)]
    series = []
    for row, (name, numbers) in enumerate(zip((*names, "below", "between"), ends), top + 1):
        cells.append(Cell(row, left, clean(name), style="attn label", align="right"))
        formulas = ["", ""]
        if row <= top + len(names):
            column = fixed(replace(place, column=place.column + row - top - 1, columns=1).range)
            weight = f'IF({at}="",AVERAGE({column}),INDEX({column},{at}))'
            formulas = [weight, address(row, left + 1)]
        cells += [
            Cell(row, left + 1 + step, number, formula, "attn echo", number_format="0.000")
            for step, (number, formula) in enumerate(zip(numbers, formulas))
        ]
        title = _short(name) if formulas[0] else ""
        there = Place(sheet.name, row, left + 1, 1, 2)
        series.append(Series(title, there, there, numbers, numbers))
    *ribbons, below, between = series
    drawn = [one for ribbon in reversed(ribbons) for one in (ribbon, between)][:-1]
    chart = Chart("ribbons", RIBBONS, top, FIRST_COLUMN, (below, *drawn), width=11,
                  height=max(7.5, 0.65 * len(names)),
                  legend=False, colours=(COLOUR,))  # fmt: skip
    prompt = "Choose one, or clear the cell for the mean of all words."
    counted = ",".join(str(number) for number in range(1, len(rows) + 1))
    options = f"={labels}" if named else f'"{counted}"' if len(counted) <= LONGEST_LIST else ""
    choice = Choice(chosen.replace("$", ""), options, title="Look from", prompt=prompt)
    extras = sheet.extras
    extras = replace(
        extras,
        cells=(*extras.cells, *cells),
        choices=(*extras.choices, choice),
        charts=(*extras.charts, chart),
    )
    return replace(sheet, extras=extras)


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
