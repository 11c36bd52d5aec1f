"""Matrices side by side, factors above their product, captions and arrows between: places relative to
each other, from 0. Knows no sheet, no model and no file format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar
from unicodedata import east_asian_width

from attn_xl.graph.node import Node

COLUMN = 6.5
"""How wide a column is taken to be, in characters, while matrices are put in their places."""
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
    """A caption, a sign or a heading.

    Attributes:
        large: a sign or an arrow, which is larger than the text.
        node: the matrix that a caption names.
    """

    row: int
    column: int
    text: str
    style: str = "attn step"
    align: Literal["", "left", "center", "right"] = "left"
    large: bool = False
    node: Node | None = None

    @property
    def columns(self) -> int:
        """How many columns it takes."""
        return columns_for(bold(self.text))


Placed = TypeVar("Placed", Drawn, Text)
Frame = tuple[int, int, int, int]
"""First row, first column, last row, last column."""


def sign(row: int, column: int, text: str) -> Text:
    """An arrow, or what stands between matrices."""
    return Text(row, column, text, align="center", large=True)


@dataclass
class Drawing:
    """Matrices and texts; rows may be negative until it is `settled`.

    Attributes:
        frames: around heads and layers, by what they are around: a frame in several drawings goes
            around all of it.
        starts, sections: the rows where steps, and those where layers and sentences begin.
        thin: rows that only keep a distance.
    """

    matrices: list[Drawn] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    sections: list[int] = field(default_factory=list)
    thin: list[int] = field(default_factory=list)

    def put(self, other: Drawing, row: int = 0, column: int = 0) -> None:
        """Add another drawing, moved down and to the right."""
        for drawn in other.matrices:
            self.matrices.append(moved(drawn, row, column))
        for text in other.texts:
            self.texts.append(moved(text, row, column))
        for name, own in other.frames.items():
            frame = own[0] + row, own[1] + column, own[2] + row, own[3] + column
            old = self.frames.get(name, frame)
            top, left = min(old[0], frame[0]), min(old[1], frame[1])
            self.frames[name] = top, left, max(old[2], frame[2]), max(old[3], frame[3])
        self.starts += [start + row for start in other.starts]
        self.sections += [start + row for start in other.sections]
        self.thin += [thin + row for thin in other.thin]

    @property
    def top(self) -> int:
        rows = [drawn.row - drawn.headed for drawn in self.matrices] + [text.row for text in self.texts]
        return min(rows, default=0)

    @property
    def height(self) -> int:
        rows = [drawn.row + drawn.shape[0] for drawn in self.matrices]
        rows += [bottom + 1 for _, _, bottom, _ in self.frames.values()]
        return max(rows + [text.row + 1 for text in self.texts], default=0)

    @property
    def width(self) -> int:
        columns = [drawn.column + drawn.shape[1] for drawn in self.matrices]
        ends = [text.column + text.columns for text in self.texts if text.align == "left"]
        ends += [text.column + 1 for text in self.texts if text.align != "left"]
        ends += [right + 1 for _, _, _, right in self.frames.values()]
        return max(columns + ends, default=0)

    def settled(self) -> Drawing:
        """The same with its first row at 0."""
        drawing = Drawing()
        drawing.put(self, -self.top)
        return drawing


def moved(what: Placed, row: int, column: int) -> Placed:
    """The same, further down and to the right."""
    return replace(what, row=what.row + row, column=what.column + column)


def text_columns(text: str) -> int:
    """How many letters wide a text is: East Asian ones count twice."""
    return len(text) if text.isascii() else sum(1 + (east_asian_width(c) in "WF") for c in text)


def bold(text: str) -> float:
    """How wide a text is in bold letters, in digits."""
    narrow, wide = (sum(map(text.count, letters)) for letters in ("iljtfrI.,'|()[]: ", "mwMW%@"))
    return 1.1 * text_columns(text) - 0.4 * narrow + 0.5 * wide


def columns_for(characters: float) -> int:
    """How many columns so many characters take."""
    return int(-(-characters // COLUMN))


def label_columns(labels: Iterable[str]) -> int:
    """How many columns row labels take."""
    longest = max(map(text_columns, labels), default=0)
    return 1 if longest <= SHORT_LABEL else columns_for(min(longest, MOST_LABEL) + LABEL_ROOM)


def label_width(labels: Iterable[str]) -> float:
    """How wide the last of these columns is."""
    longest = max(map(text_columns, labels), default=0)
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
        carried: what is to its left stands at the end of the line above.
    """

    node: Node
    caption: str
    before: str = ""
    apart: bool = False
    again: bool = False
    labelled: bool = True
    above: tuple[Above, ...] = ()
    scalars: tuple[Node, ...] = ()
    carried: bool = False


class Band:
    """Pieces from left to right. Their captions are in row 0, column labels in row 1, numbers from
    row 2; what stands above them has negative rows.

    Args:
        start: the column where the numbers of the first piece stand; 0 for the leftmost.
    """

    def __init__(self, start: int = 0) -> None:
        self.drawing = Drawing()
        self._start = start
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
        other = Band(self._start)
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
        begins = piece.carried and self.empty
        column = max(self._end + gap + begins + labels, self._caption_end)
        if self.empty:
            column = max(column, self._start)
        if piece.above or piece.scalars:
            column = max(column, self._above_end)
        add = self.drawing.texts.append
        rows, columns = piece.node.shape
        if piece.before and (begins or not self.empty):
            sign_column = column - (label_columns(piece.node.rows) if labelled else 0) - 1
            add(sign(2 + (rows - 1) // 2, sign_column, piece.before))
        self.drawing.matrices.append(Drawn(piece.node, 2, column, piece.again, labelled=labelled))
        self._end = column + columns
        if piece.caption:
            look = "attn echo" if piece.again else "attn step"
            caption = Text(0, column, piece.caption, look, node=piece.node)
            add(caption)
            self._caption_end = column + caption.columns
        self._stack(piece, column)
        self.last = piece.node

    def carry_on(self) -> None:
        """Draw an arrow from the last matrix to the line below."""
        assert self.last is not None
        self.drawing.texts.append(sign(2 + (self.last.shape[0] - 1) // 2, self.width, "→"))

    def arrows_from(self, above: Drawing) -> None:
        """Draw arrows to what is drawn again right below its place in the line above."""
        places = {drawn.node: drawn.column for drawn in above.matrices}
        top = self.drawing.top
        captions = {(text.node, text.column): text.row for text in self.drawing.texts if text.node}
        taken = {(text.row, text.column) for text in self.drawing.texts}
        for drawn in self.drawing.matrices:
            column = drawn.column
            end = captions.get((drawn.node, column))
            if not drawn.again or end is None or places.get(drawn.node) != column:
                continue
            column += (drawn.shape[1] - 1) // 2
            rows = range(min(top, end) - 1, end)
            if not any((row, column) in taken for row in rows):
                for row in rows:
                    self.drawing.texts.append(sign(row, column, "↓" if row == end - 1 else "│"))

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
        texts.append(sign(-1, column + middle, "↓"))
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
                caption = Text(row, column, above.caption, look, node=above.node)
                texts.append(caption)
                self._above_end = column + caption.columns
                row -= 1
            matrices.append(drawn)
            self._end = max(self._end, column + drawn.shape[1])
