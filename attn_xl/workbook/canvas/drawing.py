"""Matrices side by side, factors above their product, captions and arrows between: places relative to
each other, from 0. Knows no sheet, no model and no file format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from attn_xl.graph.node import Node
from attn_xl.text import text_width

COLUMN = 7.5
"""How wide a column is, in characters; all are alike, so that what belongs together can line up."""
SHORT_LABEL = 9
"""So many characters of a row's label widen their column; longer ones take another."""
LABEL_ROOM = 2.5
MOST_LABEL = 20
"""So many characters of a row's label are given room; a longer one runs on to the left."""


@dataclass(frozen=True, eq=False, repr=False)
class Drawn:
    """A matrix in its place.

    Attributes:
        row, column: of its first number.
        again: it stands elsewhere, too, and this is a copy.
        turned: its rows and columns are swapped.
        labelled, headed: whether its labels are there.
    """

    node: Node
    row: int
    column: int
    again: bool = False
    turned: bool = False
    labelled: bool = True
    headed: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.node.shape[::-1] if self.turned else self.node.shape

    @property
    def labels(self) -> tuple[str, ...]:
        return self.node.columns if self.turned else self.node.rows

    @property
    def headings(self) -> tuple[str, ...]:
        return self.node.rows if self.turned else self.node.columns


@dataclass(frozen=True)
class Text:
    """A caption, a sign or a heading."""

    row: int
    column: int
    text: str
    style: str = "attn step"
    align: Literal["", "left", "center", "right"] = "left"

    @property
    def columns(self) -> int:
        """How many columns it takes; bold letters are a little wider."""
        return columns_for(1.12 * text_width(self.text))


Placed = TypeVar("Placed", Drawn, Text)


@dataclass
class Drawing:
    """Matrices and texts; rows may be negative until it is `settled`."""

    matrices: list[Drawn] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    def put(self, other: Drawing, row: int = 0, column: int = 0) -> None:
        """Add another drawing, moved down and to the right."""
        for drawn in other.matrices:
            self.matrices.append(moved(drawn, row, column))
        for text in other.texts:
            self.texts.append(moved(text, row, column))

    @property
    def top(self) -> int:
        rows = [drawn.row - drawn.headed for drawn in self.matrices] + [text.row for text in self.texts]
        return min(rows, default=0)

    @property
    def height(self) -> int:
        rows = [drawn.row + drawn.shape[0] for drawn in self.matrices]
        return max(rows + [text.row + 1 for text in self.texts], default=0)

    @property
    def width(self) -> int:
        columns = [drawn.column + drawn.shape[1] for drawn in self.matrices]
        ends = [text.column + text.columns for text in self.texts if text.align == "left"]
        return max(columns + ends, default=0)

    def settled(self) -> Drawing:
        """The same with its first row at 0."""
        drawing = Drawing()
        drawing.put(self, -self.top)
        return drawing


def moved(what: Placed, row: int, column: int) -> Placed:
    """The same, further down and to the right."""
    return replace(what, row=what.row + row, column=what.column + column)


def columns_for(characters: float) -> int:
    """How many columns so many characters take."""
    return int(-(-characters // COLUMN))


def label_columns(labels: Iterable[str]) -> int:
    """How many columns row labels take."""
    longest = max(map(text_width, labels), default=0)
    return 1 if longest <= SHORT_LABEL else columns_for(min(longest, MOST_LABEL) + LABEL_ROOM)


def label_width(labels: Iterable[str]) -> float:
    """How wide the last of these columns is."""
    longest = max(map(text_width, labels), default=0)
    return longest + LABEL_ROOM if longest <= SHORT_LABEL else COLUMN


@dataclass(frozen=True, eq=False, repr=False)
class Above:
    """A factor above a product, or a row that goes with every row of it: see `Drawn`."""

    node: Node
    caption: str
    again: bool
    turned: bool = False
    one_row: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Piece:
    """A matrix in the line of a band, with what stands above it.

    Attributes:
        caption: the step in words; "" for none.
        before: the sign to its left.
        apart: it begins something new: a wider gap.
        again, labelled: see `Drawn`.
        above: from top to bottom; scalars come last.
    """

    node: Node
    caption: str
    before: str = ""
    apart: bool = False
    again: bool = False
    labelled: bool = True
    above: tuple[Above, ...] = ()
    scalars: tuple[Node, ...] = ()


class Band:
    """Pieces from left to right. Their captions are in row 0, column labels in row 1, numbers from
    row 2; what stands above them has negative rows."""

    def __init__(self) -> None:
        self.drawing = Drawing()
        self.last: Node | None = None
        """What was drawn last."""
        self.fan: Node | None = None
        """What the last steps, one and all, begin with."""
        self._end = self._caption_end = self._above_end = 0

    @property
    def empty(self) -> bool:
        return self.last is None

    @property
    def width(self) -> int:
        return max(self._end, self._caption_end)

    def copy(self) -> Band:
        """Another one to try something on."""
        other = Band()
        other.drawing.put(self.drawing)
        other.last, other.fan = self.last, self.fan
        other._end, other._caption_end = self._end, self._caption_end
        other._above_end = self._above_end
        return other

    def add(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            self._add(piece)

    def _add(self, piece: Piece) -> None:
        labelled = piece.labelled or self.empty
        labels = label_columns(piece.node.rows) if labelled else 0
        for above in piece.above:
            labels = max(labels, self._labels_of(above))
        gap = 0 if self.empty else 1 + piece.apart
        column = max(self._end + gap + labels, self._caption_end)
        if piece.above or piece.scalars:
            column = max(column, self._above_end)
        add = self.drawing.texts.append
        rows, columns = piece.node.shape
        if piece.before and not self.empty:
            sign_column = column - (label_columns(piece.node.rows) if labelled else 0) - 1
            add(Text(2 + (rows - 1) // 2, sign_column, piece.before, align="center"))
        self.drawing.matrices.append(Drawn(piece.node, 2, column, piece.again, labelled=labelled))
        self._end = column + columns
        if piece.caption:
            caption = Text(0, column, piece.caption, "attn echo" if piece.again else "attn step")
            add(caption)
            self._caption_end = column + caption.columns
        self._stack(piece, column)
        self.last = piece.node

    def _labels_of(self, above: Above) -> int:
        if above.one_row:
            return label_columns([above.caption])
        return label_columns(above.node.columns if above.turned else above.node.rows)

    def _stack(self, piece: Piece, column: int) -> None:
        """Put what stands above a piece there, from bottom to top."""
        if not piece.above and not piece.scalars:
            return
        texts, matrices = self.drawing.texts, self.drawing.matrices
        middle = (piece.node.shape[1] - 1) // 2 if piece.above else 0
        texts.append(Text(-1, column + middle, "↓", align="center"))
        row = -2
        for number, scalar in enumerate(piece.scalars):
            matrices.append(Drawn(scalar, row, column + number, labelled=False))
            self._end = max(self._end, column + number + 1)
        row -= 2 * bool(piece.scalars)
        for above in reversed(piece.above):
            look = "attn echo" if above.again else "attn step"
            if above.one_row:
                drawn = Drawn(above.node, row, column, above.again, labelled=False, headed=False)
                texts.append(Text(row, column - 1, above.caption, look, "right"))
                row -= 1
            else:
                shape = above.node.shape[::-1] if above.turned else above.node.shape
                drawn = Drawn(above.node, row - shape[0] + 1, column, above.again, above.turned)
                row -= shape[0] + 1
                caption = Text(row, column, above.caption, look)
                texts.append(caption)
                self._above_end = column + caption.columns
                row -= 1
            matrices.append(drawn)
            self._end = max(self._end, column + drawn.shape[1])
