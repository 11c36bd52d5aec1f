"""Matrices side by side, factors above their product, captions and arrows between: places relative to
each other, from 0. Knows no sheet, no model and no file format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from attn_xl.graph.node import Node
from attn_xl.text import text_width

COLUMN = 6.5
"""How wide a column is taken to be, in characters, while matrices are put in their places."""
GAP = 2.6
"""Characters: the width of a column without numbers."""
SHIFT = 3
"""Columns: how far a matrix may be put to the right so that it shares columns with others."""
PUSHED, ALIGNED = 1.5, 6.0
"""Characters: what a column further to the right costs, and what an arrow from above is worth."""
FAR = 16
"""Columns: what is further from the labels of its line has its own."""


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


def bold(text: str) -> float:
    """How wide a text is in bold letters, in digits."""
    narrow, wide = (sum(map(text.count, letters)) for letters in ("iljtfrI.,'|()[]: ", "mwMW%@"))
    return 1.1 * text_width(text) - 0.4 * narrow + 0.5 * wide


def columns_for(characters: float) -> int:
    """How many columns so many characters take."""
    return int(-(-characters // COLUMN))


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


class Grid:
    """How wide the columns are that the lines of a part share.

    Args:
        needs: how wide the columns of a matrix are, in characters.
    """

    def __init__(self, needs: Callable[[Node], Sequence[float]]) -> None:
        self._needs = needs
        self._widths: dict[int, float] = {}

    def put(self, drawing: Drawing) -> None:
        """Take what is drawn into account."""
        for column in range(drawing.width):
            self._widths.setdefault(column, GAP)
        for drawn in drawing.matrices:
            if not drawn.turned:
                for column, need in enumerate(self._needs(drawn.node), drawn.column):
                    self._widths[column] = max(self._widths.get(column, GAP), need)

    def added(self, node: Node, column: int) -> float:
        """How much wider all columns together would be with a matrix there."""
        return sum(
            max(0.0, need - self._widths.get(at, 0.0))
            for at, need in enumerate(self._needs(node), column)
        )


class Band:
    """Pieces from left to right. Their captions are in row 0, column labels in row 1, numbers from
    row 2; what stands above them has negative rows.

    Args:
        grid: what is on the lines above.
        above: the line above.
        start: the column where the numbers of the first piece stand; 0 for the leftmost.
    """

    def __init__(self, grid: Grid, above: Drawing, start: int = 0) -> None:
        self.drawing = Drawing()
        self._grid, self._above, self._start = grid, above, start
        self.last: Node | None = None
        """What was drawn last."""
        self.fan: Node | None = None
        """What the last steps, one and all, begin with."""
        self._end = self._caption_end = self._above_end = 0
        self._labels: tuple[str, ...] = ()
        self._labels_at = 0

    @property
    def empty(self) -> bool:
        return self.last is None

    @property
    def width(self) -> int:
        return max(self._end, self._caption_end)

    def copy(self) -> Band:
        """Another one to try something on."""
        other = Band(self._grid, self._above, self._start)
        other.drawing.put(self.drawing)
        other.last, other.fan = self.last, self.fan
        other._end, other._caption_end = self._end, self._caption_end
        other._above_end = self._above_end
        other._labels, other._labels_at = self._labels, self._labels_at
        return other

    def add(self, pieces: Sequence[Piece]) -> None:
        for piece in pieces:
            self._add(piece)

    def _add(self, piece: Piece) -> None:
        begins = piece.carried and self.empty
        gap = 0 if self.empty else 1 + piece.apart
        column = max(self._end + gap + begins + 1, self._caption_end)
        if self.empty:
            column = max(column, self._start)
        if piece.above or piece.scalars:
            column = max(column, self._above_end)
        if not (self.empty and self._start):
            column = min(range(column, column + SHIFT + 1), key=lambda at: self._cost(piece, at))
        add = self.drawing.texts.append
        rows, columns = piece.node.shape
        if piece.before and (begins or not self.empty):
            add(sign(2 + (rows - 1) // 2, column - 2, piece.before))
        near = self._labels == piece.node.rows and column - self._labels_at <= FAR
        labelled = self.empty or (piece.labelled and not near)
        if labelled:
            self._labels, self._labels_at = piece.node.rows, column
        self.drawing.matrices.append(Drawn(piece.node, 2, column, piece.again, labelled=labelled))
        self._end = column + columns
        if piece.caption:
            look = "attn echo" if piece.again else "attn step"
            caption = Text(0, column, piece.caption, look, node=piece.node)
            add(caption)
            self._caption_end = column + caption.columns
        self._stack(piece, column)
        self.last = piece.node

    def _cost(self, piece: Piece, column: int) -> float:
        """What a piece at a column adds to the width of all lines, in characters; less where what is
        drawn again above it stands right below its first place."""
        again = {above.node for above in piece.above if above.again}
        below = any(drawn.node in again and drawn.column == column for drawn in self._above.matrices)
        aside = column - self._end
        return self._grid.added(piece.node, column) + PUSHED * aside - ALIGNED * below

    def carry_on(self) -> None:
        """Draw an arrow from the last matrix to the line below."""
        assert self.last is not None
        self.drawing.texts.append(sign(2 + (self.last.shape[0] - 1) // 2, self.width, "→"))

    def draw_arrows(self) -> None:
        """Draw arrows to what is drawn again right below its place in the line above."""
        places = {drawn.node: drawn.column for drawn in self._above.matrices}
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
