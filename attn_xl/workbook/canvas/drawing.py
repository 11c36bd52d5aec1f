"""How a canvas is drawn: figures and their measures, gaps, and where pages end."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate, pairwise
from math import ceil
from typing import Literal, TypeVar

from attn_xl.graph.matrix import Matrix, cells_of, operation_of, view_of
from attn_xl.records import changed, record
from attn_xl.text import text_width
from attn_xl.workbook.layout.layout import Sheet
from attn_xl.workbook.layout.page import Block

COLUMN = 6.5
"""Characters: the assumed width of a column while matrices are placed."""
GAP = 2.0
"""Characters: the width of a column without numbers."""
FAR = 16
"""Columns: a matrix further than this from the row labels of its line repeats them."""


@record(frozen=True, eq=False, repr=False)
class Drawn:
    """A matrix in its place.

    Attributes:
        row, column: of its first number.
        repeated: whether it repeats a matrix drawn elsewhere.
        turned: whether it is transposed.
        labelled, headed: whether its row and column labels are drawn.
        moved: the matrix whose rows are drawn, if they are other rows of it: `Hidden[t-1]`.
    """

    node: Matrix
    row: int
    column: int
    repeated: bool = False
    turned: bool = False
    labelled: bool = True
    headed: bool = True
    moved: Matrix | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.node.shape[::-1] if self.turned else self.node.shape

    @property
    def labels(self) -> tuple[str, ...]:
        return self.node.columns if self.turned else self.node.rows

    @property
    def headings(self) -> tuple[str, ...]:
        return self.node.rows if self.turned else self.node.columns

    def cells(self) -> Iterator[tuple[int, int]]:
        """The cells of its numbers and labels, by row and column."""
        rows, columns = self.shape
        for row in range(self.row - self.headed, self.row + rows):
            for column in range(self.column - self.labelled, self.column + columns):
                yield row, column


@record(frozen=True)
class Text:
    """A caption, a sign or a heading.

    Attributes:
        large: a sign or an arrow, printed larger than text.
        node: the matrix that a caption names.
    """

    row: int
    column: int
    text: str
    style: str = "attn step"
    align: Literal["", "left", "center", "right"] = "left"
    large: bool = False
    node: Matrix | None = None

    @property
    def columns(self) -> int:
        """The number of columns it takes."""
        return columns_for(bold(self.text))


Placed = TypeVar("Placed", Drawn, Text)
Frame = tuple[int, int, int, int]
"""First row, first column, last row, last column."""


def sign(row: int, column: int, text: str) -> Text:
    """An arrow, or a sign between matrices."""
    return Text(row, column, text, align="center", large=True)


@dataclass(eq=False)
class Drawing:
    """Matrices and texts; rows may be negative until it is `settled`.

    Attributes:
        frames: around heads and layers, by name; a frame in several drawings encloses all its parts.
        starts, sections: the rows where steps, and those where layers and sentences begin.
        thin: rows that separate lines.
    """

    matrices: list[Drawn] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    sections: list[int] = field(default_factory=list)
    thin: list[int] = field(default_factory=list)

    def put(self, other: Drawing, row: int = 0, column: int = 0) -> None:
        """Add another drawing, moved down by `row` and right by `column`."""
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

    def copy(self) -> Drawing:
        """A copy, to draw more on."""
        return Drawing(
            [*self.matrices],
            [*self.texts],
            dict(self.frames),
            [*self.starts],
            [*self.sections],
            [*self.thin],
        )

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
        """A copy with its first row at 0."""
        drawing = Drawing()
        drawing.put(self, -self.top)
        return drawing


def moved(what: Placed, row: int, column: int) -> Placed:
    """A copy, moved down and to the right."""
    if not row and not column:
        return what
    return changed(what, row=what.row + row, column=what.column + column)


_CAPITALS = re.compile("[A-Z]{2,}")
"""Words in capitals: [MASK], BOS."""


@lru_cache(1 << 16)
def bold(text: str) -> float:
    """The width of a text in bold, in digits."""
    narrow, wide = (sum(map(text.count, letters)) for letters in ("iljtfrI.,'|()[]: ", "mwMW%@"))
    capitals = sum(map(len, _CAPITALS.findall(text)))
    return 1.1 * text_width(text) - 0.4 * narrow + 0.5 * wide + 0.25 * capitals


def columns_for(characters: float) -> int:
    """The number of columns that a text of this many characters takes."""
    return int(-(-characters // COLUMN))


@record(frozen=True, eq=False, repr=False)
class Above:
    """A factor above a product, or a row that applies to every row of it: see `Drawn`."""

    node: Matrix
    caption: str
    repeated: bool
    turned: bool = False
    one_row: bool = False


@record(frozen=True, eq=False, repr=False)
class DrawnPiece:
    """A matrix in a line, with the matrices above it.

    Attributes:
        caption: the step in words; "" for none.
        before: the sign to its left; or `Input →` if what it is computed from stands further left.
        begins_group: whether a wider gap before it marks a new beginning.
        repeated, labelled, moved: see `Drawn`.
        above: from top to bottom; scalars come last.
        carried: whether it continues the line above.
        runs: an arrow beside its rows, if each is computed from the one before: `↓`.
    """

    node: Matrix
    caption: str
    before: str = ""
    begins_group: bool = False
    repeated: bool = False
    labelled: bool = True
    above: tuple[Above, ...] = ()
    scalars: tuple[Matrix, ...] = ()
    carried: bool = False
    runs: str = ""
    moved: Matrix | None = None


class Band:
    """A line of pieces from left to right: captions in row 0, column labels in row 1, numbers from row
    2. Matrices above them have negative rows.

    Args:
        above: the line above.
        start: the column of the first piece's numbers; 0 for the leftmost possible.
    """

    def __init__(self, above: Drawing, start: int = 0) -> None:
        self.drawing = Drawing()
        self.widths: dict[int, float] = {}
        """The widths of its columns, once they are measured."""
        self._above, self._start = above, start
        self.last: Matrix | None = None
        """The matrix drawn last."""
        self.fan: Matrix | None = None
        """The operand that the last steps share."""
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
        """A copy, to try pieces on."""
        other = Band(self._above, self._start)
        other.drawing = self.drawing.copy()
        other.last, other.fan = self.last, self.fan
        other._end, other._caption_end = self._end, self._caption_end
        other._above_end = self._above_end
        other._labels, other._labels_at = self._labels, self._labels_at
        return other

    def add(self, pieces: Sequence[DrawnPiece]) -> None:
        self.widths = {}
        for piece in pieces:
            self._add(piece)

    def _add(self, piece: DrawnPiece) -> None:
        begins = piece.carried and self.empty
        gap = 0 if self.empty else 1 + piece.begins_group
        column = max(self._end + gap + begins + 1, self._caption_end)
        if self.empty:
            column = max(column, self._start)
        if piece.above or piece.scalars:
            column = max(column, self._above_end)
        add = self.drawing.texts.append
        rows, columns = piece.node.shape
        near = self._labels == piece.node.rows and column - self._labels_at <= FAR
        labelled = self.empty or (piece.labelled and not near)
        if labelled:
            self._labels, self._labels_at = piece.node.rows, column
        middle = 2 + (rows - 1) // 2
        if len(piece.before) > 1 and not labelled:
            add(Text(middle, column - 1, piece.before, "attn echo", "right"))
        elif len(piece.before) == 1 and (begins or not self.empty):
            add(sign(middle, column - 2, piece.before))
        drawn = Drawn(piece.node, 2, column, piece.repeated, labelled=labelled, moved=piece.moved)
        self.drawing.matrices.append(drawn)
        self._end = column + columns
        if piece.caption:
            look = "attn echo" if piece.repeated else "attn step"
            caption = Text(0, column, piece.caption, look, node=piece.node)
            add(caption)
            self._caption_end = column + caption.columns
        self._stack(piece, column)
        if piece.runs:
            tip = 2 if piece.runs == "↑" else 1 + rows
            for row in range(2, 2 + rows):
                add(sign(row, self._end, piece.runs if row == tip else "│"))
            self._end += 1
        self.last = piece.node

    def carry_on(self) -> None:
        """Draw an arrow from the last matrix to the line below."""
        assert self.last is not None
        self.widths = {}
        self.drawing.texts.append(sign(2 + (self.last.shape[0] - 1) // 2, self.width, "→"))

    def draw_arrows(self) -> None:
        """Draw arrows to repeated matrices right below their originals in the line above."""
        places = {drawn.node: drawn.column for drawn in self._above.matrices}
        top = self.drawing.top
        captions = {(text.node, text.column): text.row for text in self.drawing.texts if text.node}
        taken: set[tuple[int, int]] = set()
        for drawn in self.drawing.matrices:
            column = drawn.column
            end = captions.get((drawn.node, column))
            if not drawn.repeated or end is None or places.get(drawn.node) != column:
                continue
            column += (drawn.shape[1] - 1) // 2
            rows = range(min(top, end) - 1, end)
            if not taken:
                taken = {(text.row, text.column) for text in self.drawing.texts}
                taken.update(*(other.cells() for other in self.drawing.matrices))
            if not any((row, column) in taken for row in rows):
                for row in rows:
                    self.drawing.texts.append(sign(row, column, "↓" if row == end - 1 else "│"))
                    taken.add((row, column))

    def _stack(self, piece: DrawnPiece, column: int) -> None:
        """Place the matrices above a piece, from bottom to top."""
        if not piece.above and not piece.scalars:
            return
        texts, matrices = self.drawing.texts, self.drawing.matrices
        last = max(0, len(piece.scalars) - 1)
        middle = (piece.node.shape[1] - 1) // 2 if piece.above else last
        texts.append(sign(-1, column + middle, "↓"))
        row = -2
        for number, scalar in enumerate(piece.scalars):
            matrices.append(Drawn(scalar, row, column + number, labelled=False))
            self._end = max(self._end, column + number + 1)
        row -= 2 * bool(piece.scalars)
        stacked = False
        for above in reversed(piece.above):
            look = "attn echo" if above.repeated else "attn step"
            if above.one_row:
                drawn = Drawn(above.node, row, column, above.repeated, labelled=False, headed=False)
                texts.append(Text(row, column - 1, above.caption, look, "right"))
                row -= 1
            else:
                row -= stacked  # room between a matrix and the caption of the one below it
                stacked = True
                shape = above.node.shape[::-1] if above.turned else above.node.shape
                drawn = Drawn(above.node, row - shape[0] + 1, column, above.repeated, above.turned)
                row -= shape[0] + 1
                caption = Text(row, column, above.caption, look, node=above.node)
                texts.append(caption)
                self._above_end = column + caption.columns
                row -= 1
            matrices.append(drawn)
            self._end = max(self._end, column + drawn.shape[1])


@record(frozen=True, eq=False, repr=False)
class ReadMatrix:
    """A matrix that a step reads.

    Attributes:
        node: the matrix, some columns of one, or a transposed left factor.
        sign: the sign before it, `+`; "" for none.
        turned: whether it is transposed.
        factor: whether it is the right factor of a product.
        moved: `Hidden[t-1]`, whose rows are those that the step reads of it; None if they are its own.
        beyond: whether it is the row that stands beyond the ends of such a matrix.
        called: the copy of the matrix that the step reads, which has its name: `K` of `Input`.
    """

    node: Matrix
    sign: str = ""
    turned: bool = False
    factor: bool = False
    moved: Matrix | None = None
    beyond: bool = False
    called: Matrix | None = None


@record(frozen=True, eq=False, repr=False)
class Figure:
    """A step: its result and the operands drawn beside it.

    Attributes:
        block: its result.
        helpers: intermediate results, in reading order.
        scalars: its own scalars, such as d_k.
        left: the operands to its left.
        above: the right factor, and transposed operands.
        rows: operands of a single row that applies to every row, such as a bias.
    """

    block: Block
    helpers: tuple[Block, ...]
    scalars: tuple[Block, ...]
    left: tuple[ReadMatrix, ...]
    above: tuple[ReadMatrix, ...]
    rows: tuple[ReadMatrix, ...]

    @property
    def node(self) -> Matrix:
        return self.block.node

    @property
    def operands(self) -> tuple[ReadMatrix, ...]:
        return (*self.left, *self.above, *self.rows)

    @property
    def fans(self) -> bool:
        """Whether several such steps may share the operand at the start of their line: Q, K and V."""
        view = view_of(self.node)
        is_copy = view is not None and not view.turned and view.shape == view.node.shape
        return is_copy or (len(self.left) < 2 and any(operand.factor for operand in self.above))

    @property
    def sign(self) -> str:
        """The sign of its operation, `+`; "" for none."""
        return operation_of(self.node).sign if self.node.operation else ""

    @property
    def is_line(self) -> bool:
        """Whether the operands to its left, with their signs, are the whole formula."""
        return not self.helpers and _line(self.node) == [(one.node, one.sign) for one in self.left]

    def first(self, last: Matrix | None) -> ReadMatrix | None:
        """The operand that it begins with: `last`, the matrix drawn last, if the order is free."""
        commutes = {operand.sign for operand in self.left[1:]} in ({"+"}, {"·"})
        for operand in self.left[1:]:
            if operand.node is last and (commutes or not self.is_line):
                return operand
        return self.left[0] if self.left else None


def is_drawn_at_first_use(node: Matrix) -> bool:
    """Whether a matrix is drawn where it is first used: it is given, or has no operands to draw."""
    if node.operation is None or operation_of(node).reads_labels:
        return True
    view = view_of(node)
    return view is not None and not view.turned and view.shape != view.node.shape


def figure_of(sheet: Sheet, original: Callable[[Matrix], Matrix]) -> Figure:
    """The figure of the step that a sheet shows; `original` gives the matrix in whose cells a copy
    stands."""
    main, *rest = sheet.blocks
    helpers = tuple(block for block in rest if not block.node.scalar)
    scalars = tuple(block for block in rest if block.node.scalar)
    own = {block.node for block in sheet.blocks}
    operands: dict[tuple[Matrix, bool], ReadMatrix] = {}
    if not is_drawn_at_first_use(main.node) and not operation_of(main.node).joins:
        for block in (main, *helpers):
            for operand in _read(block.node):
                node = original(operand.node)
                if node is not operand.node:
                    operand = replace(operand, node=node, called=operand.node)
                if node not in own and not node.scalar and not node.sheet:
                    key = node, operand.turned or operand.factor
                    first = operands.setdefault(key, operand)
                    if first.moved != operand.moved:  # several rows are read
                        operands[key] = replace(first, moved=None)
    above = [operand for operand in operands.values() if operand.turned or operand.factor]
    left = [operand for operand in operands.values() if operand not in above]
    rows = [operand for operand in left if _goes_with_every_row(operand.node, main.node)]
    left = [operand for operand in left if operand not in rows]
    rows.sort(key=lambda operand: operand.beyond)  # right above the first row
    return Figure(main, helpers, scalars, tuple(left), tuple(above), tuple(rows))


def _goes_with_every_row(node: Matrix, result: Matrix) -> bool:
    cells = cells_of(node)
    role = cells.node.role if cells else node.role
    return node.shape[0] == 1 and (result.shape[0] > 1 or role == "weight")


def _read(
    node: Matrix, sign: str = "", turned: bool = False, factor: bool = False
) -> Iterator[ReadMatrix]:
    """The named matrices in a node's formula, with their signs and positions."""
    if node.operation is None:
        return
    operation, view = operation_of(node), view_of(node)
    turned = turned or (view is not None and view.turned)
    for number, parent in enumerate(node.parents):
        operand = ReadMatrix(
            parent,
            operation.sign if operation.sign and number == 1 else sign,
            turned,
            factor or (operation.is_product and number == 1),
            node if operation.row_of(0) and number == 0 and parent.shape == node.shape else None,
            operation.row_of(0) is not None and number == 1,
        )
        if operand.beyond:
            operand = replace(operand, sign="")
        if parent.name or _is_part(parent, operation.is_product and number == 0):
            yield operand
        else:
            yield from _read(parent, operand.sign, operand.turned, operand.factor)


def _line(node: Matrix) -> list[tuple[Matrix, str]]:
    """A formula as its operands, each with the sign before it, as it is read from left to right; empty
    if it cannot be written so."""
    sign = operation_of(node).sign if node.operation else ""
    if not sign:
        return []
    left, right = (
        [(parent, "")] if parent.name or _is_part(parent, False) else _line(parent)
        for parent in node.parents
    )
    inner = {own for _, own in left[1:]}, {own for _, own in right[1:]}
    sum_of_products = sign in "+-" and inner[1] <= {"·"}
    if not left or not right or not (sum_of_products or (not inner[1] and inner[0] <= {"·"})):
        return []
    return [*left, (right[0][0], sign), *right[1:]]


def _is_part(node: Matrix, left_factor: bool) -> bool:
    """Whether a part of a matrix is drawn instead of the whole: some columns, or a transposed left
    factor."""
    cells = cells_of(node)
    if cells is None:
        return False
    whole = cells.shape[::-1] if cells.turned else cells.shape
    return whole != cells.node.shape or (cells.turned and left_factor)


def read_by(figures: Sequence[Figure]) -> set[Matrix]:
    """All operands of these steps."""
    return {operand.node for figure in figures for operand in figure.operands}


LEAST = 6.0
"""Points: the smallest size at which numbers are printed."""
FONT = 10.0
"""Points: the size of numbers before they are scaled."""
CHARACTER = 5.6
"""Points: the width of a character of a column, with a margin: 5.25 in Excel, 5.55 in LibreOffice."""
PAPERS = {1: (612.0, 792.0), 9: (595.3, 841.9)}
"""Points: Letter and A4, upright, by their numbers in a workbook."""
A4 = 9
PAGE = 770.0, 490.0
"""Points: the room on a landscape page of A4 with the margins of the shipped templates."""
LIMIT = 229.0
"""Characters of a line: what a landscape page holds where numbers have 6 points."""


@record(frozen=True)
class Spread:
    """A picture on its pages.

    Attributes:
        scale: 1 for the size on the screen.
        breaks: the rows, from 1, that begin a new page.
        whole: whether every step fits on one page.
    """

    scale: float
    breaks: tuple[int, ...] = ()
    whole: bool = True


def spread(
    width: float,
    heights: Sequence[float],
    starts: Collection[int],
    sections: Collection[int],
    page: tuple[float, float] = PAGE,
    font: float = FONT,
) -> Spread:
    """The print of a picture as wide as a page, with page breaks between steps only.

    Args:
        width: of the picture, in points; heights: of its rows, from row 1.
        starts: the rows where a step begins; sections: those of them that begin a layer or a sentence.
        page: the room on a page, width and height, in points.
        font: the size of the numbers, in points.

    Returns:
        One page if numbers are at least 6 points there; otherwise several pages. The printing program
        splits a step that is too large for a page.
    """
    across, down = page
    least = min(1.0, ceil(100 * LEAST / font) / 100)  # spreadsheet programs take whole percents
    one = min(1.0, across / width, down / sum(heights))
    if one >= least:
        return Spread(one)
    top, rows = [0.0, *accumulate(heights)], sorted(starts)
    edges = [1, *rows[1:], len(top)]  # what stands above the first step goes with it
    tallest = max(top[end - 1] - top[start - 1] for start, end in pairwise(edges))
    scale = max(least, min(1.0, across / width, down / tallest))
    breaks, whole = _breaks(top, rows, sections, down / scale)
    return Spread(scale, breaks, whole and across / width >= least)


def _breaks(
    top: Sequence[float], starts: Sequence[int], sections: Collection[int], room: float
) -> tuple[tuple[int, ...], bool]:
    """The rows that begin a page, and whether every step fits on one page.

    Args:
        top: the height of all rows before each row and, last, of all rows.
    """
    ends = [*starts[1:], len(top)]
    section_ends = [*(row for row in starts if row in sections), len(top)]
    breaks: list[int] = []
    begun, whole = 0.0, True
    for start, end in zip(starts, ends):
        here, below = top[start - 1], top[end - 1]
        fits = below - begun <= room
        if fits and start in sections:  # a section stays together unless that leaves half a page empty
            section_end = top[min(row for row in section_ends if row > start) - 1]
            fits = section_end - begun <= room or section_end - here > room or here - begun < room / 2
        if not fits and here > begun and (breaks or start != starts[0]):
            breaks.append(start)
            begun = here
        whole = whole and below - begun <= room
    return tuple(breaks), whole
