"""The first sheet: for each sentence its input, its attention and what becomes of it, side by side as
the articles draw them; the row of one word, enlarged; the switches; links to every step.

Every number is a formula that refers to the sheet of its step. A word keeps its row from the input to
the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from attn_xl.graph.matrix import Matrix
from attn_xl.models import steps
from attn_xl.models.steps import CURVE, INFLUENCE, LOSS_BY_WORD
from attn_xl.settings import OVERVIEW, SETTINGS
from attn_xl.spreadsheets.addresses import (
    CODE_LIKE,
    MAX_LITERAL,
    Place,
    address,
    cut,
    fixed,
    formula_of_text,
    literal,
    quoted,
)
from attn_xl.text import OFF, ON, clean, count, shortened, text_width

from .drawings import ROWS_OF_CURVE, chart_of, is_curve
from .layout import Layout, Sheet
from .page import Block, Cell, Chart, Choice, Extras, Scale, Series, Tint
from .shown import BEST, Panel, View, compares, is_input, views_of, without_choice
from .vectors_sheet import ROWS_OF_ARROWS, arrows_of, is_vectors

TITLE = "What attention makes of each word"
COMPARED = "How much the output of each word (row) depends on each input word (column), by model."
NOTE = "Change a blue cell, here or on an Input sheet: every number and drawing follows."
MOST_WORDS = 20
"""Tiles of a heat map with their numbers."""
MOST_TILES = 12
"""Heads whose row of the chosen word is drawn."""
MOST_LINKS = 150
"""Steps with links of their own; of more, their sheets have them."""
DIVISOR = " / Divisor"
MOST_TITLE, MOST_NOTE = 90, 160
"""Characters of a sentence, and of the formula in words."""
ALONE = 0.005
"""The share of all other words that is shown as 0."""
FINDING = 4
"""The row of the first finding."""
CHART_ROWS = 9
MOST_LABEL, NUMBER, NARROW, ARROW, GUTTER, CHART, OTHERS = 18, 5.6, 2.4, 1.7, 2.8, 16.8, 8.4
"""Widths in characters: the widest label; the narrowest number; a tile without its number; an arrow;
the space between sentences; the narrowest chart; a column that is not in use."""
PAGE, MOST_PIXELS = 160.0, 1330
"""Characters of a line of links; the width of two sentences beside each other."""
CURVE_PIXELS, CURVE_ROWS, PIXEL = 440, 12, 2.54 / 96
"""The size of a curve beside the first view: pixels, rows; centimetres of a pixel."""
ROW_HEIGHT, MOST_HEIGHT = 18.0, 120.0
"""Points."""
CENTIMETRES, CHARACTER = ROW_HEIGHT / 72 * 2.54, 0.19
"""Centimetres: a row, a character of a column."""
LABEL, HEADING, VALUE, INPUT, TILE = (
    f"attn {name}" for name in ("label", "heading", "value", "input", "attention")
)
SHARE, NO_NUMBER, PLAIN, CHANGE = '[=0]"·";0.00', ";;;", "0.00", "+0.00;-0.00;0.00"
"""Number formats."""


def with_overview(layout: Layout, *, live: bool = True) -> Layout:
    """A layout whose first sheet is the Overview. Beside cells to fill in, it has the switches alone:
    its numbers would be answers.

    Args:
        live: a word can be chosen, and charts follow; always so in a comparison of models.
    """
    own = next((sheet for sheet in layout.sheets if sheet.name == OVERVIEW), None)
    switches = own.blocks if own else ()
    blank = bool(layout.blanks.open)
    if blank and not switches:
        return layout
    views = [] if blank else views_of(layout)
    live = live or compares(layout)
    overview = _Overview(layout, views if live else list(map(without_choice, views)), live)
    sheet = overview.sheet(switches, links=not blank)
    others = [one for one in layout.sheets if one is not own]
    others.insert(len(others) if blank else 0, sheet)
    return replace(layout, sheets=tuple(others), finding=overview.finding)


# How it is drawn


class Option(NamedTuple):
    """The content of a cell: its present value, and the formula that gives it."""

    value: float | str
    formula: str


BLANK = Option("", '""')


def _said(text: str) -> Option:
    text = cut(clean(text), MAX_LITERAL)
    return Option(text, literal(text))


def _one_of(number: str, now: int, options: Sequence[Option]) -> Option:
    """One of several contents, chosen by a number."""
    if len({one.formula for one in options}) == 1:
        return options[0]
    return Option(options[now].value, f"CHOOSE({number},{','.join(one.formula for one in options)})")


class _Overview:
    def __init__(self, layout: Layout, views: Sequence[View], live: bool) -> None:
        self._layout, self.views, self.live = layout, views, live
        self._blocks: list[Block] = []
        self.cells: list[Cell] = []
        self.charts: list[Chart] = []
        self.choices: list[Choice] = []
        self.scales: list[Scale] = []
        self.tints: list[Tint] = []
        self.widths: dict[int, float] = {}
        self.heights: dict[int, float] = {}
        self.heads = ""
        """The cell with the number of the attention that is shown, of several."""
        self._starts: list[int] = []
        self.finding = ""
        """What the first view shows, in a line."""
        self.word: Option | None = None
        """The word that is chosen in the first view."""

    def sheet(self, switches: Sequence[Block], *, links: bool) -> Sheet:
        layout, views = self._layout, self.views
        across = self._columns()
        findings = self._learned()
        row = FINDING + len(findings) + len(views) * self.live
        for line in filter(None, layout.about.split("\n")):
            self.text(row, 1, clean(line))
            row += 1
        row, numbers = self._fields(row + (row > FINDING), switches)
        for first in range(0, len(views), across):
            bottoms = []
            for at, view in enumerate(views[first : first + across]):
                drawing = _Drawing(self, layout, view, row, 1 + at * self._wide, numbers[first + at])
                bottoms.append(drawing.draw())
                if self.live:
                    finding = drawing.finding()
                    findings.append(finding)
            self._starts.append(row)
            row = max(bottoms) + 1
        self.cells += [
            Cell(FINDING + at, 1, *one, style="attn text") for at, one in enumerate(findings)
        ]
        self.finding = str(findings[0].value) if findings else ""
        row = self._curves(row)
        after, note = row, ""
        if not links:  # beside a link to the cover, which openpyxl writes, nothing is streamed
            note = shortened(clean(layout.in_words), MOST_NOTE)
        else:
            self._formula()
            self._legend(self._links(row) + 1)
        extras = Extras(
            tuple(self.cells), tuple(self.charts), tuple(self.choices), tuple(self.tints),
            widths=self.widths, heights=self.heights, row_height=ROW_HEIGHT, scales=tuple(self.scales),
            zoom=100, freeze="A1", starts=(*self._starts, after),
        )  # fmt: skip
        kinds = {tuple(panel.kind for panel in view.panels) for view in views}
        title = TITLE if kinds == {("number", "share", "number")} else clean(layout.title)
        blocks = tuple(self._blocks)
        return Sheet(OVERVIEW, OVERVIEW, "", title, note, blocks, extras)

    def _formula(self) -> None:
        """What is computed, as a formula in words; the divisor as it stands, if it has switches:
        `softmax(Q × Kᵀ / √d_k) × V`."""
        text, switches = clean(self._layout.in_words), self._layout.named
        text = COMPARED if compares(self._layout) else text
        before, divisor, after = text.partition(DIVISOR)
        if not {"Scale", "Temperature"} <= switches.keys() or not divisor or DIVISOR in after:
            self.text(2, 1, shortened(text, MOST_NOTE))
            return
        scaled = (switches["Scale"].texts or (ON,))[0] == ON
        degree = float(switches["Temperature"].values[0, 0])
        root = ("", " / √d_k")[scaled]
        now = root if degree == 1 else f" / (√d_k · {degree:g})" if scaled else f" / {degree:g}"
        is_on = f'Scale="{ON}"'
        with_degree = f'IF({is_on}," / (√d_k · "&Temperature&")"," / "&Temperature)'
        formula = f'IF(Temperature=1,IF({is_on}," / √d_k",""),{with_degree})'
        after = after.partition(", where Divisor")[0]
        said = formula_of_text(f"{before}{{divisor}}{after}", divisor=formula)
        self.cells.append(Cell(2, 1, f"{before}{now}{after}", said, "attn note"))

    def text(self, row: int, column: int, text: str, style: str = "attn note", **more: Any) -> None:
        self.cells.append(Cell(row, column, text, style=style, **more))

    def _columns(self) -> int:
        """Set the widths of the columns; the number of views beside each other."""
        words = [word for view in self.views for words in view.words for word in words]
        widths = [min(max([8.6, *(0.85 * text_width(word) + 1.6 for word in words)]), MOST_LABEL)]
        self.starts = []
        for panels in zip_longest(*(view.panels for view in self.views)):
            widths += [ARROW] * (len(widths) > 1)  # there is none to the first
            self.starts.append(len(widths))
            widths += _widths([panel for panel in panels if panel is not None])
        widths.append(GUTTER)
        self._wide = len(widths)
        pixels = sum(7 * width + 5 for width in widths)
        across = 2 if len(self.views) > 1 and 2 * pixels <= MOST_PIXELS else 1
        self._room = MOST_PIXELS - across * pixels
        self.widths.update(enumerate(widths * across, 1))
        return across

    def _fields(self, row: int, switches: Sequence[Block]) -> tuple[int, list[str]]:
        """The switches, and the numbers of what is shown, each below its name. Returns the row below
        them, and the cell with the number of the sentence in each view."""
        views, numbers = self.views, [""] * len(self.views)
        heads = max((len(own) for view in views for p in view.panels for own in p.blocks), default=1)
        fields: list[tuple[str, Block | int, int]] = [(block.name, block, 0) for block in switches]
        fields += [(f"attention, 1 to {heads}", 1, heads)] * (heads > 1)
        for view in views:
            count = len(view.groups)
            fields += [(f"sentence, 1 to {count}", view.now + 1, count)] * (count > 1)
        column, at = 1, 0
        for name, field, most in fields:
            if self._left(column) + text_width(name) > PAGE * 0.8:
                row, column = row + 3, 1
            here, options, note = address(row + 1, column), "", ""
            self.text(row, column, name)
            if isinstance(field, Block):
                place = replace(field.place, sheet=OVERVIEW, row=row + 1, column=column)
                self._blocks.append(replace(field, place=place, headed=False, labelled=False))
                options = f'"{ON},{OFF}"' * bool(field.node.texts)
                note = field.node.note if self.views else ""
            else:
                self.cells.append(Cell(row + 1, column, field, "", INPUT, open=True, number_format="0"))
                options = f'"{",".join(map(str, range(1, most + 1)))}"'
                if name.startswith("attention"):
                    self.heads = fixed(here)
                else:
                    numbers[at], at = fixed(here), at + 1
            self.choices.append(Choice(here, options, name, note))
            column = self._after(column, max(text_width(name) + 2, 8))
        if fields and views:
            self.text(row + 2, 1, NOTE)
        return row + 4 * bool(fields), numbers

    def _left(self, column: int) -> float:
        """The width of the columns before one."""
        return sum(self.widths.get(number, OTHERS) for number in range(1, column))

    def _after(self, column: int, width: float) -> int:
        """The first column of numbers that is at least `width` to the right of another."""
        start = self._left(column)
        while self._left(column) < start + width or self.widths.get(column, OTHERS) < NUMBER:
            column += 1
        return column

    def _learned(self) -> list[Option]:
        """What learning did to the loss: `loss: 0.73 before learning, 0.02 after 20 steps`."""
        curves = (b for b in self._layout.blocks.values() if b.node.step is CURVE and is_curve(b))
        curve = next(curves, None)
        numbers = self._layout.values(curve.node)[:, 0] if curve else np.array([np.nan])
        if curve is None or not np.isfinite(numbers).all():  # cells to fill in
            return []
        place = curve.place
        ends = {}
        for name, at in (("first", 0), ("last", -1)):
            there = replace(place, row=place.row + at % place.rows, rows=1).absolute_range
            ends[name] = Option(rounded(float(numbers[at])), f"ROUND({there.partition(':')[0]},2)")
        after = count(place.rows - 1, "step")
        text = f"loss: {{first}} before learning, {{last}} after {after}"
        value = text.format(**{name: end.value for name, end in ends.items()})
        formula = formula_of_text(text, **{name: end.formula for name, end in ends.items()})
        return [Option(value, formula)]

    def _curves(self, row: int) -> int:
        """The chart of the loss, or of how far back each model sees: beside the first view if there is
        room, else below the views."""
        looks = any(panel.kind == "share" for view in self.views for panel in view.panels)
        curves = [block for block in self._layout.blocks.values() if is_curve(block)]
        curves = [one for one in curves if not (looks and one.node.is_step(steps.POSITIONS))]
        drawn = [sheet.main for sheet in self._layout.sheets if sheet.extras.charts and sheet.blocks]
        for block in filter(is_vectors, drawn):
            self.charts.append(arrows_of(block, self._layout, row, 2))
            return row + ROWS_OF_ARROWS
        wanted = curves[:1] + [one for one in curves[1:] if one.node.is_step(LOSS_BY_WORD)][:1]
        for number, block in enumerate(wanted):
            chart = chart_of(block, self._layout.values(block.node), row, 2)
            if number == 0 and self.views and self._room >= CURVE_PIXELS:
                top, width, height = self._starts[0], CURVE_PIXELS * PIXEL, CURVE_ROWS * CENTIMETRES
                beside = replace(chart, row=top, column=self._wide + 1, width=width, height=height)
                self.charts.append(beside)
                row = max(row, top + CURVE_ROWS + 1)
            else:
                self.charts.append(chart)
                row += ROWS_OF_CURVE
        return row

    def _links(self, row: int) -> int:
        """Links to every step, a line for each sentence, layer and head; returns the row below them."""
        layout = self._layout
        pages = [sheet for sheet in layout.sheets if sheet.name not in (OVERVIEW, SETTINGS)]
        listed = [*layout.steps, *(sheet for sheet in pages if not sheet.blocks)]
        lines: dict[tuple[str, ...], list[Sheet]] = {}
        for sheet in listed if layout.steps and len(listed) <= MOST_LINKS else pages:
            lines.setdefault((sheet.group, *sheet.parts[-1:]), []).append(sheet)
        for key, sheets in lines.items():
            name = clean(" ".join(filter(None, key))) or "steps"
            self.text(row, 1, name, LABEL)
            first = column = self._after(1, text_width(name) + 1)
            for sheet in sheets:
                text = sheet.name.removeprefix(f"{sheet.group}.") if sheet.group else sheet.name
                if self._left(column) + text_width(text) > PAGE:
                    row, column = row + 1, first
                self.link(row, column, text, sheet)
                column = self._after(column, text_width(text) + 1)
            row += 1
        return row

    def link(self, row: int, column: int, text: str, sheet: Sheet) -> None:
        """A link to the cells of a step."""
        place = sheet.main.place if sheet.blocks else Place(sheet.name, 1, 1, 1, 1)
        corner = (1, 1) if place.sheet == sheet.name else (place.row, place.column)
        self.text(row, column, text, "attn link", link=place.sheet, link_cell=address(*corner))

    def _legend(self, row: int) -> None:
        column = 1
        for style, text in ((INPUT, "type here"), ("attn weight", "learned"), (VALUE, "computed")):
            self.text(row, column, text, style, align="center")
            column = self._after(column, self.widths.get(column, OTHERS) + ARROW)
        if any(panel.kind == "share" for view in self.views for panel in view.panels):
            for number in range(5):
                self.cells.append(
                    Cell(row, column, number / 4, style=TILE, number_format=PLAIN, align="center")
                )
                self.scales.append(Scale(Place(OVERVIEW, row, column, 1, 1).range))
                column = self._after(column, 0.1)
            self.text(row, column, "share of attention: each row sums to 1")


class _Drawing:
    """One view: title, headings, a row for each word, the row of the chosen one, charts.

    Args:
        number: the cell with the number of the sentence that is shown, of several.
    """

    def __init__(
        self, sheet: _Overview, layout: Layout, view: View, top: int, left: int, number: str
    ) -> None:
        self._sheet, self._layout, self._view = sheet, layout, view
        self._top, self._left, self._sentence = top, left, number
        self._n = max(map(len, view.words))
        self._row, self._chosen = top + 3, top + self._n + 5
        self._word = fixed(address(self._chosen, left))
        self._place = fixed(address(self._chosen + 1, left + 1))
        result = self._now(view.panels[-1]).node
        ends = view.panels[-1].kind != "row" and result.is_step(steps.PROBABILITIES, INFLUENCE)
        words = view.words[view.now]
        self._own = words[len(words) - 1 if ends else self._telling()]
        self._follows = None if result.is_step(steps.PROBABILITIES) else sheet.word
        """The word of the first view, which the others show, too, where they have it."""
        shared = self._follows is not None and self._follows.value in words
        self._at = words.index(str(self._follows.value) if self._follows and shared else self._own)
        """The row of the word that is chosen at first."""
        self._ends: list[Series] = []

    def _telling(self) -> int:
        """The row of a word that tells something: the first one that all views share, or the one that
        looks most at another word."""
        view, views = self._view, self._sheet.views
        others = [set(one.words[one.now]) for one in views if one is not view]
        shared = [
            row for row, word in enumerate(view.words[view.now])
            if others and all(word in words for words in others)
        ]  # fmt: skip
        for panel in view.panels:
            node = self._now(panel).node
            if panel.kind == "share" and node.rows == node.columns:
                same = [[one == other for other in node.rows] for one in node.rows]
                looks = np.where(same, 0.0, self._layout.values(node)).max(axis=1)
                return next((row for row in shared if looks[row] > ALONE), int(looks.argmax()))
        return shared[0] if shared else 0

    def _add(self, row: int, column: int, option: Option, style: str, **more: Any) -> None:
        if row >= self._row + self._n and not self._sheet.live:
            return
        said = option.formula.startswith('"')  # a text that does not change
        formula = "" if said else option.formula
        self._sheet.cells.append(Cell(row, column, option.value, formula, style, **more))

    def _by_sentence(self, options: Sequence[Option]) -> Option:
        return _one_of(self._sentence, self._view.now, options)

    def _by_head(self, options: Sequence[Option]) -> Option:
        return _one_of(self._sheet.heads, 0, options)

    def draw(self) -> int:
        """Draw it; returns the last row."""
        view, top, left, n = self._view, self._top, self._left, self._n
        self._add(
            top, left, self._by_sentence([_said(title) for title in self._titles()]), "attn sentence"
        )
        for i in range(n):
            words = [_said(ws[i]) if i < len(ws) else BLANK for ws in view.words]
            self._add(self._row + i, left, self._by_sentence(words), "attn text")
        labels = Place(OVERVIEW, self._row, left, n, 1)
        self._panels()
        last = max(end.values.last_column for end in self._ends)
        for beside in range(left + 1, last + 1):
            self._add(top, beside, BLANK, "attn sentence")
        if not self._sheet.live:
            return self._row + n
        self._sheet.text(self._chosen - 1, left, "choose a word")
        word = self._choice(_said(view.words[view.now][self._at]), labels)
        self._add(self._chosen, left, word, INPUT, open=True)
        self._sheet.word = self._sheet.word or Option(word.value, self._word)
        self._sheet.choices.append(Choice(address(self._chosen, left), f"={fixed(labels.range)}"))
        self._sheet.text(self._chosen + 1, left, "in row")
        found = _position(self._word, labels, [word for words in view.words for word in words])
        self._add(self._chosen + 1, left + 1, Option(self._at + 1, found), "attn text", align="center")
        rows = f"{address(self._row, left)}:{address(self._row + n - 1, last)}"
        condition = f"{self._place}=ROW()-{self._row - 1}"
        self._sheet.tints.append(Tint(rows, condition, "attn chosen"))
        self._below = self._chosen + 2 + self._heads()
        return self._below + CHART_ROWS * self._bars()

    def _choice(self, word: Option, labels: Place) -> Option:
        """The word that is chosen: that of the first view, if it is among the words of this one, until
        another is picked."""
        if self._follows is None or CODE_LIKE.search(self._own):  # programs differ on it in formulas
            return word
        first, own = self._follows.formula, _said(self._own).formula
        return Option(word.value, f"IF(SUMPRODUCT(({fixed(labels.range)}={first})*1)>0,{first},{own})")

    def _panels(self) -> None:
        for start, panel in zip(self._sheet.starts, self._view.panels):
            first = panel is self._view.panels[0] or panel.kind == "row"
            for i in range(0 if first or not self._sheet.live else self._n):
                arrow = Option("→" if i == self._at else "", f'IF({self._place}={i + 1},"→","")')
                at = self._row + i, self._left + start - 1
                self._add(*at, arrow, "attn note", align="center")
            self._ends.append(self._panel(panel, self._left + start))

    def _titles(self) -> list[str]:
        sentences = self._layout.sentences
        names = [f"{g}: " if len(sentences) > 1 else "" for g in self._view.groups]
        words = [" ".join(sentences.get(g, w)) for g, w in zip(self._view.groups, self._view.words)]
        return [shortened(name + text, MOST_TITLE) for name, text in zip(names, words)]

    def _panel(self, panel: Panel, left: int) -> Series:
        """One panel, and its row of the chosen word, which is returned."""
        now, heads = self._now(panel), panel.blocks[self._view.now]
        if len(heads) > 1:
            names = self._by_head([_said(block.node.name) for block in heads])
            self._add(self._top + 1, left, names, LABEL)
        else:
            same = [copy.node.name for copy in self._layout.copies if copy.node.parents[0] is now.node]
            corner = address(now.place.row, now.place.column)
            self._add(self._top + 1, left, _said(" = ".join([now.node.name, *same])), "attn link",
                      link=now.place.sheet, link_cell=corner)  # fmt: skip
        if panel.kind in ("share", "change"):
            end = self._layout.scale_end(now.node)
            for row, rows in ((self._row, self._n), (self._chosen, 1))[: 1 + self._sheet.live]:
                cells = Place(OVERVIEW, row, left, rows, panel.width).range
                self._sheet.scales.append(Scale(cells, end, diverging=panel.kind == "change"))
        if panel.kind == "best":
            return self._best(panel, left)
        alone = panel.kind == "row"
        heading, chosen = self._row - 1, self._row if alone else self._chosen
        shown: list[float | None] = []
        names_of: list[str] = []
        for j in range(panel.width):
            at = [own[0].node.columns[j : j + 1] for own in panel.blocks]
            head = self._by_sentence([_said(*one) if one else BLANK for one in at])
            narrow = panel.width > MOST_WORDS
            self._add(heading, left + j, head, HEADING, align="center", turned=narrow)
            if narrow:
                high = min(4.6 * text_width(str(head.value)) + 8, MOST_HEIGHT)
                self._sheet.heights[heading] = max(self._sheet.heights.get(heading, ROW_HEIGHT), high)
            names_of.append(str(head.value))
            for i in range(0 if alone else self._n):
                self._number(self._row + i, left + j, panel, partial(self._cell, i=i, j=j), (i, j))
            value = self._number(
                chosen, left + j, panel, partial(self._chosen_cell, j=j), (0 if alone else self._at, j)
            )
            shown.append(value if isinstance(value, float) else None)
        here = Place(OVERVIEW, chosen, left, 1, panel.width)
        return Series(now.node.name, here, replace(here, row=heading), tuple(shown), tuple(names_of))

    def _now(self, panel: Panel) -> Block:
        """The matrix that is shown at first."""
        return panel.blocks[self._view.now][0]

    def _number(
        self,
        row: int,
        column: int,
        panel: Panel,
        option: Callable[[Block], Option],
        shows: tuple[int, int],
    ) -> float | str:
        """A number of a panel; its present value."""
        content = self._by_sentence([self._by_head([option(b) for b in own]) for own in panel.blocks])
        self._add(row, column, content, **_look(panel, self._now(panel)), shows=shows)
        return content.value

    def _cell(self, block: Block, i: int, j: int) -> Option:
        """A number of a matrix; blank where it has none."""
        if i >= len(block.node.rows) or j >= len(block.node.columns):
            return BLANK
        cell = address(block.place.row + i, block.place.column + j)
        value = float(self._layout.values(block.node)[i, j])
        return Option(value, f"{quoted(block.place.sheet)}!{cell}")

    def _chosen_cell(self, block: Block, j: int) -> Option:
        """A number of the row of the chosen word."""
        if j >= len(block.node.columns):
            return BLANK
        row = self._place if len(block.node.rows) > 1 else "1"
        at = min(self._at, len(block.node.rows) - 1)  # a sentence that is not shown may be shorter
        value = float(self._layout.values(block.node)[at, j])
        return Option(value, f"INDEX({block.name},{row},{j + 1})")

    def _best(self, panel: Panel, left: int) -> Series:
        """The most probable next word of each row, and the first five of the chosen one."""
        blocks = [own[0] for own in panel.blocks]
        heads = self._by_sentence([Option("", _headings(block)) for block in blocks]).formula
        for j, head in enumerate(("next", "p")):
            self._add(self._row - 1, left + j, _said(head), HEADING, align="center")
        look = _look(panel, blocks[self._view.now])
        for i in range(self._n):
            there = [b for b in blocks if i < len(b.node.rows)]
            options = [self._largest(b, i, 0, _row(b, i), heads) if b in there else (BLANK, BLANK)
                       for b in blocks]  # fmt: skip
            word, number = (self._by_sentence([option[at] for option in options]) for at in (0, 1))
            self._add(self._row + i, left, word, "attn text", align="right")
            self._add(self._row + i, left + 1, number, **look)
        first = self._by_sentence([Option("", _row(block, 0)) for block in blocks]).formula
        row, now = f"OFFSET({first},{self._place}-1,0)", blocks[self._view.now]
        best = [self._largest(now, self._at, k, row, heads) for k in range(BEST)]
        for k, (word, number) in enumerate(best):
            self._add(self._chosen - 1, left + k, word, HEADING, align="center")
            self._add(self._chosen, left + k, number, **look)
        here = Place(OVERVIEW, self._chosen, left, 1, BEST)
        shown = tuple(float(number.value) for _, number in best)
        names = tuple(word.value for word, _ in best)
        return Series(now.node.name, here, replace(here, row=self._chosen - 1), shown, names)

    def _largest(self, block: Block, i: int, k: int, row: str, heads: str) -> tuple[Option, Option]:
        """The word with the largest number of a row, or the k-th after it, and this number."""
        values = self._layout.values(block.node)[i]
        at = int((-values).argsort(kind="stable")[k])
        nth = f"LARGE({row},{k + 1})" if k else f"MAX({row})"
        word = Option(_said(block.node.columns[at]).value, f"INDEX({heads},1,MATCH({nth},{row},0))")
        return word, Option(float(values[at]), nth)

    def _heads(self) -> int:
        """The row of the chosen word in every head; returns the number of rows."""
        for panel, end in zip(self._view.panels, self._ends):
            heads = panel.blocks[0]
            if panel.kind != "share" or not 1 < len(heads) <= MOST_TILES or len(panel.blocks) > 1:
                continue
            row, left = self._chosen + 2, end.values.column
            for i, block in enumerate(heads):
                self._add(row + i, left - 1, _said(block.node.name), "attn note", align="right")
                for j in range(panel.width):
                    self._add(row + i, left + j, self._chosen_cell(block, j), **_look(panel, block))
            cells = Place(OVERVIEW, row, left, len(heads), panel.width).range
            self._sheet.scales.append(Scale(cells, self._layout.scale_end(heads[0].node)))
            return len(heads) + 1
        return 0

    def _bars(self) -> bool:
        """A bar chart below the numbers of the chosen word; whether there is one."""
        panels, ends, charts = self._view.panels, self._ends, len(self._sheet.charts)
        for panel, end in zip(panels, ends):
            if panel.kind in TITLES:
                node = self._now(panel).node
                title = "What the word depends on" if node.is_step(INFLUENCE) else TITLES[panel.kind]
                self._bar(title, [end], self._layout.scale_end(node))
            elif panel.kind == "number" and panel is not panels[0]:
                before = ends[0] if ends[0].names == end.names else None
                self._bar(BEFORE_AFTER if before else end.title, [before, end] if before else [end])
        return len(self._sheet.charts) > charts

    def _bar(self, title: str, series: Sequence[Series], most: float = 0.0) -> None:
        place = series[-1].values
        columns = range(place.column, place.last_column + 1)
        width = sum(self._sheet.widths[column] for column in columns) * CHARACTER
        self._sheet.charts.append(
            Chart("bars", title, self._below, place.column, tuple(series), width=width,
                  height=(CHART_ROWS - 1) * CENTIMETRES, legend=False, most=most,
                  colours=BEFORE if len(series) > 1 else (SHARES,), bare=True)
        )  # fmt: skip

    def finding(self) -> Option:
        """What the chosen word looks at most besides itself, and the two numbers that are largest in
        what becomes of it: `mouse: with cat it becomes animal 2.05 > tech 1.45`."""
        panels, ends = self._view.panels, self._ends
        word = _said(self._view.words[self._view.now][self._at])
        group = self._by_sentence([_said(name) for name in self._view.groups])
        options = {"word": Option(word.value, self._word), "group": group}
        last, node = ends[-1], self._now(panels[-1]).node
        largest = "{name1} {number1}" + " {than} {name2} {number2}" * (last.values.columns > 1)
        looks = [end for panel, end in zip(panels, ends) if panel.kind == "share" and end is not last]
        if panels[-1].kind == "change":
            what = "{word}: looks at {other} {number0} before learning, {number1} after"
            options["other"], at = self._other(looks[1], own=True)
            for number, end in enumerate(looks):
                value = rounded(end.numbers[at] or 0.0)
                there = f"MATCH({options['other'].formula},{fixed(end.labels.range)},0)"
                formula = f"ROUND(INDEX({fixed(end.values.range)},1,{there}),2)"
                options[f"number{number}"] = Option(value, formula)
        elif panels[-1].kind == "best" and looks and not self._looks_at_own():
            what = "{source}: {picked}"  # a translation
            source = " ".join(map(clean, looks[0].names))
            options["source"] = _said(source)
            options["picked"] = self._picked(last.values.column, node)
        elif panels[-1].kind == "row":
            what = f"{{group}}: {largest}"
        elif node.is_step(steps.ANGLE) and last.values.columns > 1:
            what = "{word}: nearest to {other}, {number1}°"
            options["other"], options["number1"] = self._nearest(last)
        elif node.is_step(steps.PROBABILITIES):
            what = f"after {{word}} comes {largest}"
        elif panels[-1].kind == "share":
            what = f"{{group}}: {{word}} depends on {largest}"
            if not node.is_step(INFLUENCE):
                what = "{word}: looks most at {other}"
                options["other"], _ = self._other(last, own=node.rows == node.columns)
        else:
            what = "{word}: it becomes " + largest
            if looks and looks[0].values.columns > 1:
                what = what.replace(" it", " {beside} it")
                options["beside"] = self._beside(looks[0])
        for k in (1, 2):
            if f"{{name{k}}}" in what:
                options[f"name{k}"], options[f"number{k}"] = _nth(last, k)
        if "{than}" in what:
            first, second = options["number1"], options["number2"]
            than = f'IF({first.formula}={second.formula},"≈",">")'
            options["than"] = Option("≈" if first.value == second.value else ">", than)
        text = what.format(**{name: option.value for name, option in options.items()})
        return Option(text, formula_of_text(what, **{name: o.formula for name, o in options.items()}))

    def _picked(self, column: int, node: Matrix) -> Option:
        """The most probable words of all rows, in a line."""
        cells = [fixed(address(self._row + i, column)) for i in range(len(node.rows))]
        words = [clean(node.columns[int(row.argmax())]) for row in self._layout.values(node)]
        return Option(" ".join(words), '&" "&'.join(cells))

    def _beside(self, end: Series) -> Option:
        """What the chosen word looks at most besides itself: `with cat`; `by itself` if at none."""
        own = self._looks_at_own()
        other, _ = self._other(end, own=own)
        looks, place = fixed(end.values.range), self._place if own else "0"
        columns = f"COLUMN({looks})-{end.values.column - 1}"
        rest = f"SUMPRODUCT(({columns}<>{place})*1,{looks})"  # some cells may be texts
        sum_of = sum(number or 0.0 for j, number in enumerate(end.numbers) if not own or j != self._at)
        value = f"with {other.value}" if sum_of > ALONE else "by itself"
        return Option(value, f'IF({rest}>{ALONE},"with "&{other.formula},"by itself")')

    def _nearest(self, end: Series) -> tuple[Option, Option]:
        """The word at the smallest angle to the chosen one, itself left out, and this angle."""
        angles = [np.inf if j == self._at else number or 0.0 for j, number in enumerate(end.numbers)]
        at, here = int(np.argmin(angles)), fixed(end.values.range)
        columns = f"(COLUMN({here})-{end.values.column - 1})"
        least = f"SUMPRODUCT(SMALL({here}+1000*({columns}={self._place}),1))"
        others = f"({columns}={self._place})+({here}<>{least})"
        first = f"SUMPRODUCT(SMALL({columns}+1000*({others}>0),1))"
        name = f"INDEX({fixed(end.labels.range)},1,{first})"
        return Option(str(end.names[at]), name), Option(rounded(angles[at]), f"ROUND({least},2)+0")

    def _looks_at_own(self) -> bool:
        """Whether the words look at each other, not at those of another sentence."""
        looks = [self._now(panel).node for panel in self._view.panels[:-1] if panel.kind == "share"]
        return all(node.rows == node.columns for node in looks)

    def _other(self, end: Series, *, own: bool) -> tuple[Option, int]:
        """The word that is looked at most besides the chosen one, if that is among them (`own`), and
        its place."""
        looks, n = fixed(end.values.range), min(2, end.values.columns)
        numbers = [number or 0.0 for number in end.numbers]
        largest = sorted(numbers, reverse=True)
        most, at = f"MAX({looks})", largest[0]
        if own:
            itself = f"INDEX({looks},1,{self._place})={most}"
            most = f"IF({itself},LARGE({looks},{n}),{most})"
            at = largest[n - 1] if numbers[self._at] == largest[0] else largest[0]
        name = f"INDEX({fixed(end.labels.range)},1,MATCH({most},{looks},0))"
        return Option(str(end.names[numbers.index(at)]), name), numbers.index(at)


SHARES, BEFORE, BEFORE_AFTER = "2F8A82", ("9DC1E8", "2B3947"), "before → after"
"""The colour of shares; those of the numbers before and after, and the title that names both."""
TITLES = {"share": "Where the word looks", "best": "What comes next", "row": "The class"}
"""Titles of charts."""


def _widths(panels: Sequence[Panel]) -> list[float]:
    """The widths of the columns of a panel in all views."""
    count = max(panel.width for panel in panels)
    if count > MOST_WORDS:
        return [NARROW] * count
    blocks = [block for panel in panels for block in panel.all]
    heads = max(text_width(clean(head)) for block in blocks for head in block.node.columns)
    extents = [block.node.extent() for block in blocks]
    number = max(11.0 if e.needs_exponent(2) else e.width(2) + 1.0 for e in extents)
    if panels[0].kind in ("share", "change"):
        number = NUMBER + (panels[0].kind == "change")
    least = NUMBER if panels[0].kind == "change" or is_input(blocks[0]) else max(NUMBER, CHART / count)
    return [max(number, least, min(0.7 * heads + 0.5, MOST_LABEL))] * count


def _look(panel: Panel, block: Block) -> dict[str, Any]:
    """The style and number format of the numbers of a panel: two decimals, unless they need an exponent
    or --decimals says so."""
    look: dict[str, Any] = {"style": TILE, "align": "center"}
    if panel.kind == "change":
        signed = not block.node.is_step(steps.POSITIONS)
        return {**look, "number_format": CHANGE if signed else PLAIN}
    if panel.kind == "share" and panel.width > MOST_WORDS:
        return {**look, "number_format": NO_NUMBER}
    plain = {"share": SHARE}.get(panel.kind, PLAIN)
    number_format = "" if block.node.extent().needs_exponent(2) else plain
    style = TILE if panel.kind == "share" else VALUE
    return {**look, "style": style, "number_format": number_format, "like": block.name}


def _row(block: Block, i: int) -> str:
    return replace(block.place, row=block.place.row + i, rows=1).absolute_range


def _headings(block: Block) -> str:
    return _row(block, -1)


def _position(word: str, labels: Place, words: Sequence[str]) -> str:
    """The formula for the row of a chosen word; the first row if it is not there."""
    if any(len(one) > MAX_LITERAL or set(one) & set("*?~") for one in words):  # MATCH takes wildcards
        where = fixed(labels.range)
        return f"MAX(1,SUMPRODUCT(({where}={word})*(ROW({where})-{labels.row - 1})))"
    return f"IFERROR(MATCH({word},{fixed(labels.range)},0),1)"


def _nth(end: Series, k: int) -> tuple[Option, Option]:
    """The name of the largest or second largest number, and this number with two decimals; the second
    of two equal ones is the last."""
    numbers = [number or 0.0 for number in end.numbers]
    value = sorted(numbers, reverse=True)[k - 1]
    values, at = fixed(end.values.range), numbers.index(value)
    nth = f"LARGE({values},{k})"
    place = f"MATCH({nth},{values},0)"
    if k > 1:
        if value == max(numbers):
            at = len(numbers) - 1 - numbers[::-1].index(value)
        equal = f'({values}<>"")*({values}={nth})*COLUMN({values})'  # a blank cell equals 0
        last = f"SUMPRODUCT(LARGE({equal},1))-{end.values.column - 1}"
        place = f"IF({nth}=MAX({values}),{last},{place})"
    name = f"INDEX({fixed(end.labels.range)},1,{place})"
    return Option(str(end.names[at]), name), Option(rounded(value), f"ROUND({nth},2)+0")  # no -0


def rounded(value: float) -> str:
    """A number as ROUND gives it with two decimals: of its 15 digits, halves go away from 0."""
    if not abs(value) < 1e12:
        return f"{value:.10g}"
    number = float(Decimal(f"{value:.15g}").quantize(Decimal("0.01"), ROUND_HALF_UP))
    return f"{number or 0.0:.10g}"
