"""The sheets `Controls` and `Compare`: switches, the word to choose, and charts, with their places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from attn_xl.graph.step import Step
from attn_xl.models import steps
from attn_xl.models.explorer import AXES, DIRECTIONS_STAY
from attn_xl.settings import COMPARE, CONTROLS
from attn_xl.spreadsheets.addresses import Place, address
from attn_xl.text import OFF, ON, clean, shortened

from .answer import with_answer
from .layout import FIRST_COLUMN, FIRST_ROW, Layout, Sheet
from .page import Cell, Chart, Choice, Extras, Series, share_labels
from .placed import Block

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
COLUMNS_OF_CHART, COLUMNS_OF_PLANE = 10, 12
"""Rows of 15 points, columns of the default width: the size of a chart."""
GAP = 2


def with_controls(layout: Layout) -> Layout:
    """A layout with its sheet `Controls` arranged and the charts of `Compare` added; a layout without
    controls is returned unchanged."""
    if not any(sheet.name == CONTROLS for sheet in layout.sheets):
        return layout
    if answered := with_answer(layout):
        sheets = [_add_charts(one, layout) if one.name == COMPARE else one for one in answered.sheets]
        return replace(answered, sheets=tuple(sheets))
    arrange = {CONTROLS: _arrange_controls, COMPARE: _add_charts}
    sheets = [arrange.get(sheet.name, lambda s, _: s)(sheet, layout) for sheet in layout.sheets]
    return replace(layout, sheets=tuple(sheets))


def _arrange_controls(sheet: Sheet, layout: Layout) -> Sheet:
    """The switches, one below the other; then, for each sentence, the chosen word and its attention."""
    options = [
        block
        for block in sheet.blocks
        if block.node.scalar and not block.node.is_step(steps.WORD, steps.PLACE)
    ]
    blocks: list[Block] = []
    cells: list[Cell] = []
    choices: list[Choice] = []
    charts: list[Chart] = []
    for number, block in enumerate(options):
        here = _moved_to(block, FIRST_ROW + number, FIRST_COLUMN, headed=number == 0)
        blocks.append(here)
        cells.append(Cell(here.place.row, FIRST_COLUMN + 1, f" {block.node.note}"))
        if block.node.texts:
            choices.append(Choice(_first(here), f'"{ON},{OFF}"'))
    row = FIRST_ROW + len(options) + 1
    sections: dict[str, list[Block]] = {}
    for block in sheet.blocks:
        if block not in options:
            sections.setdefault(_scope(block), []).append(block)
    for name, section in sections.items():
        title = "Choose a word"
        if name:
            title = f"{clean(name)}: choose a word"
        cells.append(Cell(row, 1, title, style="attn step"))
        words, word, place = (_find(section, step) for step in (steps.WORDS, steps.WORD, steps.PLACE))
        tables = [block for block in section if block not in (words, word, place)]
        word = _moved_to(word, row + 1, FIRST_COLUMN, headed=False, unlocked=True)
        place = _moved_to(place, row + 2, FIRST_COLUMN, headed=False, labelled=False)
        blocks += [word, place]
        cells.append(Cell(row + 1, FIRST_COLUMN + 1, " ← choose the word to look from"))
        cells.append(Cell(row + 2, 1, "place", style="attn label"))
        choices.append(Choice(_first(word), f"={words.name}"))
        column, top = FIRST_COLUMN, row + 4
        looks: list[Block] = []
        for table in tables:
            here = _moved_to(table, top, column, labelled=True)
            blocks.append(here)
            if here.node.is_step(steps.LOOKS):
                looks.append(here)
            column = here.place.last_column + 2 + 1
        blocks.append(_moved_to(words, top, column - 1, labelled=False))
        column += 1
        for here in looks:
            is_next = here.node.step == steps.NEXT_LOOKS
            charts.append(_bars(layout, here, _title(name, is_next=is_next), row, column))
            column += COLUMNS_OF_CHART
        tallest = max(block.place.rows for block in (words, *tables))
        row += max(ROWS_OF_CHART, tallest + 5) + GAP
    extras = Extras(tuple(cells), tuple(charts), tuple(choices))
    return replace(sheet, blocks=tuple(blocks), extras=extras)


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


def _bars(layout: Layout, block: Block, title: str, row: int, column: int) -> Chart:
    values = layout.values(block.node)
    labels = replace(block.place, column=block.place.column - 1, columns=1)
    series = [
        Series(
            name,
            _part(block.place, 0, i, block.place.rows, 1),
            labels,
            _numbers(values[:, i]),
            block.node.rows,
        )
        for i, name in enumerate(block.node.columns[:MOST_SERIES])
    ]
    return Chart("bars", title, row, column, tuple(series), legend=len(series) > 1, most=1.0)


def _title(name: str, *, is_next: bool) -> str:
    """The title of the chart of what a word of a sentence looks at, or of what comes next."""
    if is_next and name:
        return f"What comes after the chosen word in {_short(name)}"
    if name:
        return f"Where the chosen word looks in {_short(name)}"
    what = "What comes after the chosen word" if is_next else "Where the chosen word looks"
    return what


def _scope(block: Block) -> str:
    """The sentence or word that a block belongs to; "" where there is one sentence only."""
    scopes = block.node.part.scopes
    return scopes[-1].words if scopes else ""


def _find(blocks: Iterable[Block], step: Step) -> Block:
    return next(block for block in blocks if block.node.is_step(step))


def _short(text: str) -> str:
    return shortened(clean(text), LONGEST_NAME)


def _numbers(numbers: Iterable[float]) -> tuple[float | None, ...]:
    return tuple(float(n) if n == n else None for n in numbers)


def _part(place: Place, row: int, column: int, rows: int, columns: int) -> Place:
    return Place(place.sheet, place.row + row, place.column + column, rows, columns)


def _first(block: Block) -> str:
    return address(block.place.row, block.place.column)


def _moved_to(
    block: Block,
    row: int,
    column: int,
    *,
    headed: bool = True,
    labelled: bool | None = None,
    unlocked: bool = False,
) -> Block:
    return replace(
        block,
        place=replace(block.place, row=row, column=column),
        headed=headed,
        labelled=block.labelled if labelled is None else labelled,
        unlocked=unlocked,
    )
