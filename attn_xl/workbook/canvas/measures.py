"""The widths of a picture's columns, the heights of its rows, and its pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from attn_xl.graph.loops import loops_in
from attn_xl.graph.node import Node, walk
from attn_xl.text import text_width
from attn_xl.workbook.layout.layout import Layout, Sheet

from .drawing import GAP, Drawing, Drawn, bold
from .figures import Figure, figure_of, is_drawn_at_first_use, read_by
from .paging import CHARACTER, Spread, spread

FIRST_ROW = 6
LINE = 16.0
"""Points: the height of a row."""
THIN = 6.0
"""Points: the height of a row that separates lines."""
TITLE_LINE = 24.0
NUMBER_ROOM = 0.8
"""Characters added to the widest number of a column."""
LONG_HEADING = 13
"""Characters: a longer column label takes several lines."""


@dataclass(eq=False, repr=False)
class Figures:
    """The figures of all steps, and the widths of their matrices.

    Attributes:
        figures: the figure of each step; read: the operands of all steps.
        runs: an arrow for each matrix whose rows are computed one after the other.
        there: the matrices drawn on earlier pictures.
        decimals: digits shown after the point; None for the template's.
    """

    layout: Layout
    sheets: Sequence[Sheet]
    decimals: int | None
    there: set[Node] = field(default_factory=set)
    figures: dict[Sheet, Figure] = field(init=False)
    read: set[Node] = field(init=False)
    runs: dict[Node, str] = field(init=False)
    _widths: dict[Node, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.figures = {sheet: figure_of(sheet, self.layout.original) for sheet in self.sheets}
        self.read = read_by(list(self.figures.values()))
        loops = loops_in(walk(self.layout.blocks))
        self.runs = {state: "↑" if loop.reverse else "↓" for loop in loops for state in loop.states}

    def is_drawn_at_first_use(self, sheet: Sheet) -> bool:
        """Whether the matrix of a sheet is drawn where it is first used."""
        return is_drawn_at_first_use(sheet.main.node) and sheet.main.node in self.read

    def width(self, node: Node) -> float:
        """The approximate width of a matrix's columns, in characters; a template may need more."""
        if node not in self._widths:
            if node.texts:
                shown = max(map(text_width, node.texts), default=0)
            else:
                extent = node.extent(self.layout.seen(node))
                decimals = 3 if self.decimals is None else self.decimals
                if extent.needs_exponent(decimals):
                    shown = decimals + 8
                else:
                    decimals = 0 if extent.whole and self.decimals is None else decimals
                    shown = extent.width(decimals, 6 * node.may_hide)
            heading = max(map(heading_width, node.columns), default=0.0)
            self._widths[node] = max(shown + NUMBER_ROOM, heading)
        return self._widths[node]

    def headings(self, drawn: Drawn) -> tuple[str, ...]:
        """The labels above the columns of a matrix."""
        if drawn.node.scalar:
            return (self.layout.blocks[drawn.node].name.rpartition(".")[2],)
        return drawn.headings


def heading_width(heading: str) -> float:
    """The width of the label of a column, in characters; a longer one takes several lines."""
    return min(0.68 * bold(heading) + 0.8, LONG_HEADING) if heading else 0.0


def spread_of(figures: Figures, drawing: Drawing) -> Spread:
    heights = heights_of(figures, drawing)
    rows = [heights.get(row, LINE) for row in range(1, FIRST_ROW + drawing.height)]
    starts, sections = starts_of(drawing)
    return spread(sum(widths_of(figures, drawing).values()) * CHARACTER, rows, starts, sections)


def starts_of(drawing: Drawing) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The rows where steps begin, and those where sentences and layers begin."""
    starts, sections = (
        {FIRST_ROW + row for row in rows} for rows in (drawing.starts, drawing.sections)
    )
    return tuple(sorted(starts | sections)), tuple(sorted(sections))


def widths_of(figures: Figures, picture: Drawing) -> dict[int, float]:
    """The widths of all columns, in characters, so that numbers and labels fit; row labels and captions
    also use the room of blank columns."""
    widths = dict.fromkeys(range(1, picture.width + 1), GAP)
    used: dict[int, set[int]] = {}  # columns, by row
    for drawn in picture.matrices:
        headings = figures.headings(drawn) if drawn.headed else ()
        rows, columns = drawn.shape
        heading = max(map(heading_width, headings), default=0.0)
        number, first = max(figures.width(drawn.node), heading), 1 + drawn.column
        for column in range(first, first + columns):
            widths[column] = max(widths.get(column, GAP), number)
        for row in range(drawn.row - drawn.headed, drawn.row + rows):
            used.setdefault(row, set()).update(range(first, first + columns))
    beside = [
        (drawn.row + i, drawn.column, label)
        for drawn in picture.matrices
        if drawn.labelled
        for i, label in enumerate(drawn.labels)
    ]
    beside += [(t.row, 1 + t.column, t.text) for t in picture.texts if t.align == "right"]
    for text in picture.texts:
        if text.align != "right":
            used.setdefault(text.row, set()).add(1 + text.column)
    for row, column, label in beside:
        room, first = widths[column], column - 1
        while first and first not in used.get(row, ()):
            room += widths[first]
            first -= 1
        wanted = max(bold(label) + 1.5, text_width(label) + 1.0)
        widths[column] += max(0.0, wanted - room)
        used.setdefault(row, set()).add(column)
    for top, left, bottom, right in picture.frames.values():
        for row in range(top, bottom + 1):
            used.setdefault(row, set()).update((1 + left, 1 + right))
    for text in picture.texts:
        if text.align == "left":
            column = 1 + text.column
            following = [other for other in used[text.row] if other > column]
            if following:
                last = min(following) - 1
                room = sum(widths[other] for other in range(column, last + 1))
                widths[last] += max(0.0, bold(text.text) + 0.5 - room)
    return widths


def heights_of(figures: Figures, picture: Drawing) -> dict[int, float]:
    """The heights of titles, of separating rows, and of column labels that take several lines."""
    heights = dict.fromkeys((FIRST_ROW + row for row in picture.thin), THIN)
    for text in picture.texts:
        if text.style == "attn title":
            heights[FIRST_ROW + text.row] = TITLE_LINE
    for drawn in picture.matrices:
        if drawn.headed:
            longest = max(map(text_width, figures.headings(drawn)), default=0)
            if longest + 2 > LONG_HEADING:
                row = FIRST_ROW + drawn.row - 1
                lines = min(4, -(-(longest + 2) // LONG_HEADING))
                heights[row] = max(heights.get(row, 0.0), lines * LINE)
    return heights
