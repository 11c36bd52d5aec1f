"""Panels of a canvas: the matrices of a step, and how much room they take."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attn_xl.graph.graph import walk
from attn_xl.graph.loops import loops_in
from attn_xl.graph.matrix import Matrix, cells_of
from attn_xl.text import text_width
from attn_xl.workbook.layout.layout import Layout, Sheet

from .drawing import (
    CHARACTER,
    GAP,
    LIMIT,
    Above,
    Band,
    Drawing,
    Drawn,
    DrawnPiece,
    Figure,
    ReadMatrix,
    Spread,
    bold,
    figure_of,
    is_drawn_at_first_use,
    read_by,
    spread,
)


@dataclass
class DrawnMatrix:
    """Steps from left to right, in lines of up to `limit` characters.

    Attributes:
        scope: the layer's prefix, which captions leave out.
        there: the matrices drawn so far; the panel adds its own.
        known: the matrices of the workbook.
        measured: the widths of the columns of a drawing, in characters.
        columns: those of the lines drawn so far, which share them.
        runs: an arrow for each matrix whose rows are computed one after the other.
    """

    limit: float
    scope: str
    there: set[Matrix]
    known: Container[Matrix]
    measured: Callable[[Drawing], dict[int, float]]
    columns: dict[int, float]
    runs: Mapping[Matrix, str] = field(default_factory=dict)
    _done: list[Drawing] = field(default_factory=list)
    _made: set[Matrix] = field(default_factory=set)
    _band: Band = field(init=False)

    def __post_init__(self) -> None:
        self._band = Band(self._line_above)

    @property
    def _line_above(self) -> Drawing:
        """The line above."""
        return self._done[-1] if self._done else Drawing()

    def strips(self) -> list[Drawing]:
        if not self._band.empty:
            self._wrap()
        return self._done

    def _widths(self, band: Band) -> dict[int, float]:
        """The widths of the columns of a line by itself."""
        if not band.widths:
            band.widths = self.measured(band.drawing)
        return band.widths

    def _too_wide(self, band: Band) -> bool:
        """Whether a line and those above it, which share their columns, are too long."""
        own, columns = self._widths(band), self.columns
        more = sum(max(0.0, width - columns.get(at, 0.0)) for at, width in own.items())
        return sum(columns.values()) + more > self.limit

    def _wrap(self) -> None:
        drawing = self._band.drawing.settled()
        drawing.starts = [0]
        self._done.append(drawing)
        for at, width in self._widths(self._band).items():
            self.columns[at] = max(width, self.columns.get(at, 0.0))
        self._band = Band(drawing)

    def _in_lines(self, pieces: list[DrawnPiece]) -> Band:
        """Break a step that is too long for a line, such as a long sum; the last line of it."""
        for piece in pieces:
            tried = self._line_with([piece])
            if sum(self._widths(tried).values()) > LIMIT and not self._band.empty:
                self._band.carry_on()
                self._wrap()
                tried = self._line_with([replace(piece, carried=True)])
            self._band = tried
        return self._band

    def _line_with(self, pieces: list[DrawnPiece]) -> Band:
        """A copy of the line with these pieces added. A new line begins below the matrix that it
        repeats, if it fits there."""
        if not self._band.empty:
            tried = self._band.copy()
            tried.add(pieces)
            return tried
        above = self._line_above
        starts = [drawn.column for drawn in above.matrices if drawn.node is pieces[0].node]
        for start in (*starts[-1:], 0):
            tried = Band(above, start)
            tried.add(pieces)
            if not self._too_wide(tried):
                break
        tried.draw_arrows()
        return tried

    def add(self, figure: Figure) -> None:
        """Draw a step, on a new line if it does not fit or does not continue from the last step."""
        before = self._band.last
        if not self._band.empty and self._begins_line(figure):
            self._wrap()
        pieces = self._pieces(figure, before)
        first = figure.first(before)
        tried = self._line_with(pieces)
        if not self._band.empty and self._too_wide(tried):
            if first is not None and first.node is before and _continues_from_one(figure):
                self._band.carry_on()
            self._wrap()
            pieces = self._pieces(figure, before)
            tried = self._line_with(pieces)
        if sum(self._widths(tried).values()) > LIMIT:
            tried = self._in_lines(pieces)
        self._band = tried
        self._band.fan = first.node if figure.fans and first else None
        self.there |= {piece.node for piece in pieces if not piece.repeated}
        self.there |= {above.node for piece in pieces for above in piece.above if not above.repeated}
        self.there |= {node for piece in pieces for node in piece.scalars}
        self._made |= {figure.node, *(block.node for block in figure.helpers)}

    def _begins_line(self, figure: Figure) -> bool:
        first = figure.first(self._band.last)
        if is_drawn_at_first_use(figure.node):
            return False
        return first is None or (not self._continues_line(figure, first) and first.node in self._made)

    def _continues_line(self, figure: Figure, first: ReadMatrix) -> bool:
        return self._band.last is first.node or (figure.fans and self._band.fan is first.node)

    def _pieces(self, figure: Figure, before: Matrix | None) -> list[DrawnPiece]:
        """The pieces to draw for a step; `before` was drawn last, perhaps on the line above."""
        new = {
            operand.node
            for operand in figure.operands
            if operand.node not in self.there
            and operand.node in self.known
            and is_drawn_at_first_use(operand.node)
        }
        beside = {operand.node for operand in figure.left}
        pieces = [
            DrawnPiece(operand.node, self._caption(operand.node), begins_group=True)
            for operand in figure.above
            if operand.turned and operand.node in new and operand.node not in beside
        ]
        new -= {piece.node for piece in pieces}
        first = figure.first(self._band.last)
        begins = first is not None and not pieces and self._continues_line(figure, first)
        continued = first is not None and first.node is before and self._band.empty
        carried = continued and _continues_from_one(figure)
        if first is not None and not begins and not carried:
            pieces.append(self._operand(first, new, "", begins_group=True))
        others = [operand for operand in figure.left if operand is not first]
        for operand in others:
            sign = (operand.sign or figure.sign) if figure.is_line else ","
            pieces.append(self._operand(operand, new, sign))
        shared = begins and first is not None and self._band.last is not first.node
        sign = "" if first is None else "→" if not shared else f"{self._name(first.node)} →"
        if others and figure.is_line:
            sign = "="
        for block in figure.helpers:
            caption = block.node.note if block.node.shape[1] > 1 else ""
            pieces.append(DrawnPiece(block.node, caption, "→", labelled=False, carried=carried))
        if figure.helpers:
            sign = "→"
        pieces.append(
            DrawnPiece(
                figure.node,
                self._caption(figure.node, [operand.node for operand in figure.operands]),
                sign,
                above=tuple(self._above(figure, new)),
                scalars=tuple(block.node for block in figure.scalars),
                begins_group=first is None,
                carried=carried,
                runs=self.runs.get(figure.node, ""),
            )
        )
        return pieces

    def _operand(
        self, operand: ReadMatrix, new: set[Matrix], sign: str, begins_group: bool = False
    ) -> DrawnPiece:
        node, repeated = operand.node, operand.node not in new
        moved = operand.moved if repeated else None
        name = self._short(moved.words) if moved else self._name(node)
        if not repeated:
            called = [self._short(operand.called.name)] if operand.called else []
            name = " = ".join([self._caption(node), *called])
        return DrawnPiece(node, name, sign, begins_group, repeated, moved=moved)

    def _above(self, figure: Figure, new: set[Matrix]) -> Iterator[Above]:
        for operand in figure.above:
            repeated = operand.turned or operand.node not in new
            name = self._name(operand.called or operand.node)
            caption = (
                f"{name}ᵀ" if operand.turned else name if repeated else self._caption(operand.node)
            )
            yield Above(operand.node, caption, repeated, operand.turned)
        for operand in figure.rows:
            name = f"{operand.sign} {self._short(_whole_name(operand.node))}".strip()
            yield Above(operand.node, name, operand.node not in new, one_row=True)

    def _caption(self, node: Matrix, operands: Sequence[Matrix] = ()) -> str:
        """`Q_1 = Input × W_Q`: a part of W_Q has the name of the whole, since it is drawn above."""
        words = node.words
        for operand in operands:
            if not operand.name:
                words = words.replace(operand.words, _whole_name(operand))
        words = self._short(words)
        return f"{self._short(node.name)} = {words}" if words else self._short(node.name)

    def _name(self, node: Matrix) -> str:
        """The caption of a repeated matrix: its name, or a part of one in words."""
        return self._short(node.name or node.words)

    def _short(self, text: str) -> str:
        return text.replace(self.scope, "") if self.scope else text


def _continues_from_one(figure: Figure) -> bool:
    """Whether a step needs only one matrix to its left, and nothing above."""
    return not figure.fans and len(figure.left) == 1 and not figure.above


def _whole_name(node: Matrix) -> str:
    """The name of a matrix, or of the matrix that a part belongs to; Xᵀ for a transposed one."""
    cells = cells_of(node)
    return cells.node.name if cells and not cells.turned else node.name or node.words


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
        limit: the length of lines, in characters.
    """

    layout: Layout
    sheets: Sequence[Sheet]
    decimals: int | None
    limit: float = LIMIT
    there: set[Matrix] = field(default_factory=set)
    figures: dict[Sheet, Figure] = field(init=False)
    read: set[Matrix] = field(init=False)
    runs: dict[Matrix, str] = field(init=False)
    _widths: dict[Matrix, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.figures = {sheet: figure_of(sheet, self.layout.original) for sheet in self.sheets}
        self.read = read_by(list(self.figures.values()))
        loops = loops_in(walk(self.layout.blocks))
        self.runs = {state: "↑" if loop.reverse else "↓" for loop in loops for state in loop.states}

    def is_drawn_at_first_use(self, sheet: Sheet) -> bool:
        """Whether the matrix of a sheet is drawn where it is first used."""
        return is_drawn_at_first_use(sheet.main.node) and sheet.main.node in self.read

    def width(self, node: Matrix) -> float:
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
