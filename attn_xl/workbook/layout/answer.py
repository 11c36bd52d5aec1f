"""The first sheet of a workbook of attention: each sentence with its input, its attention and its
output, side by side as the articles draw them; the row of one word, enlarged; and the switches.

Every number is a formula that refers to the sheet of its step. A word keeps its row from the input to
the output; sentences stand in pairs, in the same columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from attn_xl.graph.node import Node
from attn_xl.models import steps
from attn_xl.settings import CONTROLS
from attn_xl.spreadsheets.addresses import Place, address, fixed, formula_of_text, letters, quoted
from attn_xl.text import OFF, ON, clean, shortened, text_width

from .layout import Layout, Sheet
from .page import Cell, Chart, Choice, Extras, Series
from .placed import Block

TITLE = "What attention makes of each word"
NOTE = "Change a blue cell, here or on an Input sheet: every number and drawing follows."
MOST_WORDS, MOST_DIMS, MOST_SENTENCES = 20, 8, 12
"""The largest sentences and numbers of dimensions that are drawn, and of sentences."""
FINDING, FIELDS, TOP = 4, 6, 9
"""Rows: the first finding, the switches, the first sentence."""
CHART_ROWS = 9
MOST_LABEL, NUMBER, ARROW, GUTTER, CHART = 16, 6.0, 2.2, 2.6, 22.0
"""Widths in characters: the widest label; the narrowest number; an arrow; the space between sentences;
the narrowest chart."""
DECIMALS = 2
ROW, CHARACTER = 20 / 72 * 2.54, 0.19
"""Centimetres: a row of a chart, a character of a column."""


class Sentence(NamedTuple):
    """The blocks of one sentence: its input (n, d), its attention weights (n, n), its output (n, d_v);
    and of the chosen word, its list, its cell and its number."""

    group: str
    input: Block
    weights: Block
    output: Block
    words: Block
    word: Block
    place: Block


def with_answer(layout: Layout) -> Layout | None:
    """A layout whose first sheet is the answer, in place of the Overview; None if the computation is
    not attention in a single step for sentences that fit."""
    sheet = next(sheet for sheet in layout.sheets if sheet.name == CONTROLS)
    chosen = [
        [block for block in sheet.blocks if block.node.is_step(step)]
        for step in (steps.WORDS, steps.WORD, steps.PLACE)
    ]
    complete = all(len(blocks) == len(layout.sentences) for blocks in chosen)
    if layout.blanks.open or not complete or len(layout.sentences) > MOST_SENTENCES:
        return None
    sentences = [_sentence(layout, group, *own) for group, *own in zip(layout.sentences, *chosen)]
    found = [one for one in sentences if one is not None]
    if len(found) < len(sentences):
        return None
    answer = _Answer(layout, sheet, found).sheet()
    others = tuple(one for one in layout.sheets if one is not sheet)
    finding = next(str(cell.value) for cell in answer.extras.cells if cell.row == FINDING)
    return replace(layout, sheets=(answer, *others), overview=False, finding=finding)


def _sentence(layout: Layout, group: str, words: Block, word: Block, place: Block) -> Sentence | None:
    """The blocks of a sentence, if it has one head whose words look at each other, and fits."""
    prefix = group if len(layout.sentences) > 1 else ""
    own = [block for one in layout.sheets if one.group == prefix for block in one.blocks]
    weights = [b for b in own if b.node.role == "attention" and not b.node.helper]
    inputs = [b for b in own if b.node.step is not None and b.node.step.source == "sentence"]
    outputs = [b for b in own if b.node.is_step(steps.OUTPUT)]
    in_parts = any(b.node.part.head or b.node.part.layer for b in weights)
    if in_parts or not weights or len(inputs) != 1 or len(outputs) != 1:
        return None
    x, a, y = inputs[0], weights[-1], outputs[0]
    labels = words.node.rows
    if not len(labels) == len(x.node.rows) == len(a.node.columns) == len(y.node.rows) <= MOST_WORDS:
        return None
    widest = max(len(x.node.columns), len(y.node.columns))
    return Sentence(group, x, a, y, words, word, place) if widest <= MOST_DIMS else None


class _Answer:
    def __init__(self, layout: Layout, sheet: Sheet, sentences: Sequence[Sentence]) -> None:
        self._layout, self._sheet, self._sentences = layout, sheet, sentences
        self._cells: list[Cell] = []
        self._blocks: list[Block] = []
        self._charts: list[Chart] = []
        self._choices: list[Choice] = []
        self._scales: list[str] = []
        self._widths: dict[int, float] = {}

    def sheet(self) -> Sheet:
        """The sheet, with the blocks of the switches and of the chosen words in their places."""
        self._switches()
        n = max(len(one.words.node.rows) for one in self._sentences)
        wide = self._columns()
        top = TOP + len(self._sentences) - 1
        high = n + CHART_ROWS + 9
        for number, one in enumerate(self._sentences):
            row, column = top + number // 2 * high, 1 + number % 2 * wide
            self._draw(one, row, column, n, FINDING + number)
        self._extra_links(top + (len(self._sentences) + 1) // 2 * high)
        extras = Extras(
            tuple(self._cells), tuple(self._charts), tuple(self._choices), widths=self._widths,
            scales=tuple(self._scales), zoom=100, freeze="A1",
        )  # fmt: skip
        return replace(
            self._sheet,
            title=TITLE,
            note=clean(self._layout.in_words),
            blocks=tuple(self._blocks),
            extras=extras,
        )

    def _switches(self) -> None:
        row, column = FIELDS + len(self._sentences) - 1, 2
        options = [block for block in self._sheet.blocks if block.node.scalar]
        for block in options:
            if block.node.is_step(steps.WORD, steps.PLACE):
                continue
            self._cells.append(Cell(row, column, block.name))
            self._put(block, row + 1, column)
            if block.node.texts:
                self._choices.append(Choice(address(row + 1, column), f'"{ON},{OFF}"'))
            column += 2
        self._cells.append(Cell(row + 1, column, NOTE))

    def _put(self, block: Block, row: int, column: int, *, unlocked: bool = False) -> Block:
        place = replace(block.place, row=row, column=column)
        here = replace(block, place=place, headed=False, labelled=False, unlocked=unlocked)
        self._blocks.append(here)
        return here

    def _columns(self) -> int:
        """Set the widths of the columns; the number of columns from one sentence to the next."""
        sizes = [(one.input, one.weights, one.output) for one in self._sentences]
        counts = [max(len(size[i].node.columns) for size in sizes) for i in range(3)]
        labels = [word for one in self._sentences for word in one.words.node.rows]
        label = min(max([8, *(text_width(text) + 3 for text in labels)]), MOST_LABEL)
        self._parts = (1, 1 + counts[0], 2 + counts[0], 2 + sum(counts[:2]), 3 + sum(counts[:2]))
        fewest = [min(len(size[i].node.columns) for size in sizes) for i in range(3)]
        number = [max(_width(size[i].node) for size in sizes) for i in range(3)]
        number[1:] = (max(own, CHART / few) for own, few in zip(number[1:], fewest[1:]))
        wide = 4 + sum(counts)
        heads = self._heads()
        for start in range(0, wide * min(2, len(self._sentences)), wide):
            widths = [label, *[number[0]] * counts[0], ARROW, *[number[1]] * counts[1], ARROW]
            widths += [*[number[2]] * counts[2], GUTTER]
            for at, width in enumerate(widths, start + 1):
                self._widths[at] = max(width, heads.get(at - start, 0.0))
        return wide

    def _heads(self) -> dict[int, float]:
        """The width of the headings of each column of a sentence, from 1."""
        found: dict[int, float] = {}
        for one in self._sentences:
            for block, start in zip((one.input, one.weights, one.output), self._parts[::2]):
                for at, head in enumerate(block.node.columns, start + 1):
                    found[at] = max(found.get(at, 0.0), min(text_width(head) + 0.8, MOST_LABEL))
        return found

    def _draw(self, one: Sentence, top: int, left: int, n: int, finding: int) -> None:
        """One sentence: title, headings, a row for each word, the row of the chosen one, charts."""
        layout, cells = self._layout, self._cells
        starts = [left + part for part in self._parts]
        title = " ".join(layout.sentences[one.group])
        cells.append(Cell(top, left, shortened(clean(title), 90), style="attn step"))
        if len(layout.sentences) > 1:
            cells.append(Cell(top, starts[4], one.group, align="left"))
        row = top + 3
        chosen = row + n + 2
        self._put(one.words, row, left)
        self._put(one.word, chosen, left, unlocked=True)
        self._put(one.place, chosen + 1, left + 1)
        cells.append(Cell(chosen - 1, left, "choose a word"))
        cells.append(Cell(chosen + 1, left, "its place"))
        self._choices.append(Choice(address(chosen, left), f"={one.words.name}"))
        ends: list[Series] = []
        place = f"${letters(left + 1)}${chosen + 1}"
        for block, column in zip((one.input, one.weights, one.output), starts[::2]):
            node = block.node
            name, names, values = node.name, node.columns, layout.values(node).tolist()
            cells.append(Cell(top + 1, column, name, style="attn label"))
            for j, head in enumerate(map(clean, names)):
                cells.append(Cell(top + 2, column + j, head, style="attn heading", align="right"))
                for i, numbers in enumerate(values):
                    there = address(block.place.row + i, block.place.column + j)
                    formula = f"{quoted(block.place.sheet)}!{there}"
                    cells.append(_number(row + i, column + j, numbers[j], formula, block, i, j))
                formula = f"INDEX({block.name},{place},{j + 1})"
                cells.append(_number(chosen, column + j, values[0][j], formula, block, 0, j))
            here = Place(CONTROLS, chosen, column, 1, len(names))
            heads = replace(here, row=top + 2)
            ends.append(Series(name, here, heads, tuple(values[0]), names))
        for i in range(len(one.words.node.rows)):
            for column in starts[1::2]:
                formula = f'IF({place}={i + 1},"→","")'
                cells.append(Cell(row + i, column, "" if i else "→", formula, align="center"))
        weights = ends[1].values
        whole = replace(weights, row=row, rows=one.weights.place.rows)
        self._scales += [whole.range, weights.range]
        self._bars("Where the word looks", ends[1:2], legend=False, most=1.0)
        if one.input.node.columns == one.output.node.columns:
            self._bars("Before and after", [ends[0], ends[2]], legend=True)
        word = (one.word.node.texts or ("",))[0]
        cells.append(_finding(finding, word, address(chosen, left), place, ends[1], ends[2]))

    def _bars(self, title: str, series: Sequence[Series], *, legend: bool, most: float = 0.0) -> None:
        """A bar chart below the numbers of its last series."""
        place = series[-1].values
        columns = range(place.column, place.last_column + 1)
        width = sum(self._widths[column] for column in columns) * CHARACTER
        self._charts.append(
            Chart("bars", title, place.row + 2, place.column, tuple(series), width=width,
                  height=CHART_ROWS * ROW, legend=legend, most=most)
        )  # fmt: skip

    def _extra_links(self, row: int) -> None:
        """A line of links to the steps of each sentence, and one to all else."""
        groups: dict[str, list[Sheet]] = {}
        for sheet in self._layout.sheets:
            if sheet is not self._sheet:
                groups.setdefault(sheet.group, []).append(sheet)
        for group, sheets in groups.items():
            self._cells.append(Cell(row, 1, group or "steps", style="attn label"))
            column = 2
            for sheet in sheets:
                shown = sheet.name.removeprefix(f"{group}.") if group else sheet.name
                self._cells.append(Cell(row, column, shown, style="attn link", link=sheet.name))
                room = 0.0
                while room < text_width(shown) + 1:
                    room += self._widths.get(column, NUMBER)
                    column += 1
            row += 1


def _number(row: int, column: int, value: float, formula: str, of: Block, i: int, j: int) -> Cell:
    """A number of a matrix, in its row i and column j."""
    return Cell(row, column, value, formula, "attn value", like=of.name, shows=(i, j))


def _width(node: Node) -> float:
    """The width of a column that shows the numbers of a matrix with three decimals."""
    extent = node.extent()
    return max(NUMBER, 11.0 if extent.needs_exponent(3) else extent.width(3) + 1.0)


def _rounded(value: float) -> str:
    """A number as ROUND gives it: of its 15 digits, halves go away from 0."""
    if not abs(value) < 1e12:
        return f"{value:.10g}"
    rounded = float(Decimal(f"{value:.15g}").quantize(Decimal(10) ** -DECIMALS, ROUND_HALF_UP))
    return f"{rounded or 0.0:.10g}"


def _finding(row: int, word: str, cell: str, place: str, weights: Series, output: Series) -> Cell:
    """What a word looks at most besides itself, and the two numbers that are largest in its output:
    `mouse: with cat it becomes animal 2.05 > tech 1.45`."""
    looks, after = fixed(weights.values.range), fixed(output.values.range)
    n, d = min(2, len(weights.names)), min(2, len(output.names))
    own, most = f"INDEX({looks},1,{place})", f"MAX({looks})"
    other = f"IF({own}={most},LARGE({looks},{n}),{most})"
    formulas = {
        "word": cell,
        "other": f"INDEX({fixed(weights.labels.range)},1,MATCH({other},{looks},0))",
    }
    shares, numbers = ([number or 0.0 for number in one.numbers] for one in (weights, output))
    largest = sorted(shares, reverse=True)
    at = shares.index(largest[n - 1] if shares[0] == largest[0] else largest[0])
    texts = {"word": word, "other": str(weights.names[at])}
    for number in range(1, d + 1):
        nth = f"LARGE({after},{number})"
        value = sorted(numbers, reverse=True)[number - 1]
        formulas[f"dim{number}"] = f"INDEX({fixed(output.labels.range)},1,MATCH({nth},{after},0))"
        formulas[f"number{number}"] = f"ROUND({nth},{DECIMALS})"
        texts[f"dim{number}"] = str(output.names[numbers.index(value)])
        texts[f"number{number}"] = _rounded(value)
    what = "{word}: with {other} it becomes {dim1} {number1}" + " > {dim2} {number2}" * (d - 1)
    return Cell(row, 1, what.format(**texts), formula_of_text(what, **formulas), "attn text")
