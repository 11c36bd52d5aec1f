"""The whole computation on one sheet, the way it is drawn by hand: left factor to the left, right
factor above, product where they meet. Moves the matrices of a layout; knows no file format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from attn_xl.errors import InputError
from attn_xl.graph.node import Node
from attn_xl.graph.step import Scope
from attn_xl.spreadsheets.addresses import MAX_COLUMNS, MAX_ROWS, Place, address, letters
from attn_xl.text import text_width
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Cell, Extras, Tint
from attn_xl.workbook.layout.placed import Block

from .drawing import COLUMN, Drawing, Drawn, Text, label_width
from .figures import comes_with_its_use, figure_of, read_by
from .panels import Panel

CANVAS = "Canvas"
FIRST_ROW = 6
LEGEND_ROW = 4
NOTE = (
    "Left factor to the left, right factor above, their product where they meet. Click a number to see "
    "its formula; change an input and watch."
)
LEGEND = (
    ("attn input", "input"),
    ("attn weight", "weight"),
    ("attn value", "computed"),
    ("attn attention", "attention"),
    ("attn echo", "drawn again"),
)
LIMITS = range(12, 33)
"""So many columns wide may a line be: the one is taken with which the page is printed largest."""
PAGE = 770.0, 490.0
CHARACTER = 5.6
LINE = 16.0
"""How wide a character is and how high a line, in points."""
TITLE_LINE = 24.0
LONG_HEADING = 13
"""A column label of more letters takes several lines."""
HEADS, SENTENCES = (2, 4), (1, 2)
"""So many stand side by side at the most: what prints larger."""
BREAK = 0.82
"""What a picture is worth for each line in it that would go on, and is broken."""
MANY = 60_000
"""From so many numbers on, one arrangement is made and no better one is looked for."""


def draw(layout: Layout) -> Layout:
    """Bring the matrices of a layout together on one sheet; those with a sheet of their own stay there.

    Raises:
        InputError: if the picture does not fit a sheet (16,384 columns, 1,048,576 rows).
    """
    kept = [sheet for sheet in layout.sheets if sheet.main.node.sheet]
    drawn = [sheet for sheet in layout.sheets if not sheet.main.node.sheet]
    picture = _best(layout, drawn)
    blocks: dict[Node, Block] = {}
    old = {block.node: block for sheet in drawn for block in sheet.blocks}
    for matrix in picture.matrices:
        if not matrix.again:
            place = Place(CANVAS, FIRST_ROW + matrix.row, 1 + matrix.column, *matrix.node.shape)
            _check(place)
            blocks[matrix.node] = replace(
                old[matrix.node],
                place=place,
                caption="",
                labelled=matrix.labelled,
                headed=matrix.headed,
            )
    moved = {
        sheet: replace(sheet, blocks=tuple(blocks[block.node] for block in sheet.blocks))
        for sheet in drawn
    }
    cells = [*_legend(), *_cells(picture, blocks, layout)]
    canvas = Sheet(
        name=CANVAS,
        symbol=CANVAS,
        group="",
        title=layout.title,
        note=NOTE,
        blocks=tuple(block for sheet in moved.values() for block in sheet.blocks),
        extras=Extras(
            cells=tuple(cells),
            tints=(Tint(address(LEGEND_ROW, 2 * len(LEGEND) - 3), "TRUE", "attn scale high"),),
            widths=_widths(picture),
            row_height=LINE,
            heights=_heights(picture),
            canvas=True,
            zoom=100,
        ),
    )
    steps = tuple(moved.get(sheet, sheet) for sheet in layout.sheets)
    return replace(layout, sheets=(canvas, *kept), steps=steps)


def _check(place: Place) -> None:
    if place.last_row > MAX_ROWS or place.last_column > MAX_COLUMNS:
        raise InputError(
            f"the picture needs cells up to {letters(place.last_column)}{place.last_row}, but a sheet "
            f"ends at {letters(MAX_COLUMNS)}{MAX_ROWS}. Use --layout sheets, or a shorter sentence."
        )


# How the lines are broken


def _best(layout: Layout, sheets: list[Sheet]) -> Drawing:
    """The arrangement that a landscape page shows largest."""
    numbers = sum(block.node.values.size for sheet in sheets for block in sheet.blocks)
    heads = len({sheet.main.node.part.head for sheet in sheets} - {0})
    widest = max(block.node.shape[1] for sheet in sheets for block in sheet.blocks)
    limits = [limit for limit in LIMITS if limit >= widest + 2] or [2 * widest + 6]
    if numbers > MANY:
        limits = limits[-1:]
    pictures = [
        _Picture(layout, sheets, limit, heads_across, sentences_across)
        for limit in limits
        for heads_across in sorted({min(heads, most) for most in HEADS})
        for sentences_across in sorted({min(len(layout.sentences), most) for most in SENTENCES})
    ]
    drawings = [(picture.drawing(), picture.breaks) for picture in pictures]
    return max(drawings, key=lambda made: _scale(made[0]) * BREAK ** made[1])[0]


def _scale(drawing: Drawing) -> float:
    """How large it is printed."""
    width = sum(_widths(drawing).values()) * CHARACTER
    height = (drawing.height + FIRST_ROW) * LINE
    return min(PAGE[0] / width, PAGE[1] / height)


class _Picture:
    """All sentences, layers and heads, with lines of up to so many columns."""

    def __init__(
        self, layout: Layout, sheets: list[Sheet], limit: int, heads: int, sentences: int
    ) -> None:
        self._layout, self._sheets, self._limit = layout, sheets, limit
        self._heads_across, self._sentences_across = heads, sentences
        self._figures = {sheet: figure_of(sheet) for sheet in sheets}
        self._read = read_by(list(self._figures.values()))
        self._there: set[Node] = set()
        self.breaks = 0
        """How often a panel breaks a line that would go on."""

    def drawing(self) -> Drawing:
        groups = [list(members) for _, members in groupby(self._sheets, lambda sheet: sheet.group)]
        several = len(self._layout.sentences) > 1
        strips: list[Drawing] = []
        panels: list[list[Drawing]] = []
        for sheets in groups:
            made = list(self._strips(sheets))
            if several and sheets[0].group:
                panels.append([_heading(self._title(sheets[0].group), "attn title"), *made])
            else:
                strips += made
        for first in range(0, len(panels), self._sentences_across):
            strips += _side_by_side(panels[first : first + self._sentences_across])
        return _stacked(strips)

    def _title(self, group: str) -> str:
        return f"{group}: {' '.join(self._layout.sentences.get(group, ())[:20])}"

    def _strips(self, sheets: Sequence[Sheet]) -> Iterator[Drawing]:
        """The lines of a sentence: headings for layers, heads side by side."""
        shown = [
            sheet
            for sheet in sheets
            if not (comes_with_its_use(sheet.main.node) and sheet.main.node in self._read)
        ]
        before: Scope | None = None
        parts = groupby(shown, _layer_and_head)
        runs = groupby(((part, list(members)) for part, members in parts), _layer_and_whether_head)
        for (layer, in_heads), members in runs:
            panels = [(head, self._panel(layer, made)) for (_, head), made in members]
            if layer and layer != before:
                stack = layer.words[:1].upper() + layer.words[1:]
                yield _heading(f"{stack}, layer {layer.layer}", "attn title")
            before = layer
            if not in_heads:
                for _, strips in panels:
                    yield from strips
                continue
            named = [[_heading(f"Head {head}", "attn label"), *strips] for head, strips in panels]
            for first in range(0, len(named), self._heads_across):
                yield from _side_by_side(named[first : first + self._heads_across])

    def _panel(self, layer: Scope | None, sheets: list[Sheet]) -> list[Drawing]:
        panel = Panel(self._limit, f"{layer.name}." if layer else "", self._there, self._layout.blocks)
        for sheet in sheets:
            panel.add(self._figures[sheet])
        self.breaks = max(self.breaks, panel.breaks)
        return panel.strips()


def _layer_and_head(sheet: Sheet) -> tuple[Scope | None, int]:
    part = sheet.main.node.part
    return next((scope for scope in part.scopes if scope.layer), None), part.head


def _layer_and_whether_head(
    run: tuple[tuple[Scope | None, int], list[Sheet]],
) -> tuple[Scope | None, bool]:
    (layer, head), _ = run
    return layer, bool(head)


def _heading(text: str, style: str) -> Drawing:
    return Drawing(texts=[Text(0, 0, text, style)])


def _side_by_side(panels: Sequence[list[Drawing]]) -> list[Drawing]:
    """Panels whose lines begin at the same height."""
    strips = [Drawing() for _ in range(max(map(len, panels)))]
    column = 0
    for panel in panels:
        for strip, drawing in zip(strips, panel):
            strip.put(drawing, 0, column)
        column += max(drawing.width for drawing in panel) + 2
    return strips


def _stacked(strips: Sequence[Drawing]) -> Drawing:
    """Lines below each other."""
    picture, row = Drawing(), 0
    for strip in strips:
        settled = strip.settled()
        picture.put(settled, row)
        row += settled.height + bool(settled.matrices)
    return picture


# What is on the sheet besides the matrices


def _legend() -> Iterator[Cell]:
    for number, (style, text) in enumerate(LEGEND):
        yield Cell(LEGEND_ROW, 1 + 2 * number, text, style=style, align="center", across=2)


def _cells(picture: Drawing, blocks: dict[Node, Block], layout: Layout) -> Iterator[Cell]:
    for text in picture.texts:
        row, column = FIRST_ROW + text.row, 1 + text.column
        beside = text.align == "right"
        yield Cell(row, column, text.text, style=text.style, align=text.align, indent=beside)
    for drawn in picture.matrices:
        if drawn.again:
            yield from _again(drawn, blocks.get(drawn.node), layout)


def _again(drawn: Drawn, block: Block | None, layout: Layout) -> Iterator[Cell]:
    """A matrix drawn again: cells that show those of its block, once they are there."""
    waits = layout.waits(drawn.node)
    row, column = FIRST_ROW + drawn.row, 1 + drawn.column
    if drawn.headed:
        for j, text in enumerate(drawn.headings):
            yield Cell(row - 1, column + j, text, style="attn heading")
    values = layout.values(drawn.node)
    values = values.T if drawn.turned else values
    for i, line in enumerate(values.tolist()):
        if drawn.labelled:
            yield Cell(
                row + i, column - 1, drawn.labels[i], style="attn label", align="right", indent=1
            )
        for j, number in enumerate(line):
            formula = ""
            if block is not None:
                down, right = (j, i) if drawn.turned else (i, j)
                formula = address(block.place.row + down, block.place.column + right)
                formula = f'IF(COUNT({formula})<1,"",{formula})' if waits else formula
            yield Cell(
                row + i,
                column + j,
                number if number == number else "",
                formula,
                style="attn echo",
                like=block.name if block else "",
            )


def _widths(picture: Drawing) -> dict[int, float]:
    """Of all columns, in characters: as labels need it; numbers may need more."""
    widths = dict.fromkeys(range(1, max(picture.width, 2 * len(LEGEND)) + 1), COLUMN)
    for text in picture.texts:
        if text.align == "right":
            column = 1 + text.column
            widths[column] = max(widths[column], label_width([text.text]))
    for drawn in picture.matrices:
        if drawn.labelled:
            widths[drawn.column] = max(widths[drawn.column], label_width(drawn.labels))
        if drawn.headed:
            for column, heading in enumerate(drawn.headings, 1 + drawn.column):
                widths[column] = max(widths[column], min(text_width(heading) + 2.0, LONG_HEADING))
    return widths


def _heights(picture: Drawing) -> dict[int, float]:
    """Of titles, and of rows whose column labels take several lines."""
    titles = [text.row for text in picture.texts if text.style == "attn title"]
    heights = dict.fromkeys((FIRST_ROW + row for row in titles), TITLE_LINE)
    for drawn in picture.matrices:
        if drawn.headed:
            longest = max(map(text_width, drawn.headings), default=0)
            if longest + 2 > LONG_HEADING:
                row = FIRST_ROW + drawn.row - 1
                lines = min(4, -(-(longest + 2) // LONG_HEADING))
                heights[row] = max(heights.get(row, 0.0), lines * LINE)
    return heights
