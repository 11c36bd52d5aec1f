"""What stands on a sheet: matrices in their places with references to them, texts, charts, lists."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from attn_xl.graph.matrix import Cells, Matrix, cells_of, operation_of
from attn_xl.graph.terms import NoArray, Operand
from attn_xl.records import record
from attn_xl.spreadsheets.addresses import Place, address, fixed, letters, literal, quoted, row_token


@record(frozen=True)
class Cell:
    """A cell that belongs to no matrix.

    Attributes:
        row, column: from 1.
        value: the text or number; the result of the formula, if there is one; None for an empty cell.
        formula: without the equals sign; "" for none.
        style: one of the template's named styles.
        open: it can be edited on a protected sheet.
        wrap: its text wraps onto several lines.
        number_format, align: override those of the style.
        indent: from the edge that the text is aligned to.
        link: the sheet that it links to; link_cell: the cell there.
        across: the number of columns it spans.
        like: the defined name of the matrix whose number it repeats, with its number format.
        shows: the row and column of that number, from 0.
        large: a sign, printed larger than text.
        turned: its text runs upwards.
        edges: the sides with a frame's line, `lt` for left and top.
    """

    row: int
    column: int
    value: float | str | None = None
    formula: str = ""
    style: str = "attn note"
    open: bool = False
    wrap: bool = False
    number_format: str = ""
    align: Literal["", "left", "center", "right"] = ""
    indent: int = 0
    link: str = ""
    link_cell: str = "A1"
    across: int = 1
    like: str = ""
    shows: tuple[int, int] = (0, 0)
    large: bool = False
    turned: bool = False
    edges: str = ""


def row_of(
    row: int, values: Iterable[float | str | None], *, right: Container[int] = (), **more: Any
) -> list[Cell]:
    """The cells of a row, aligned to the left but in the columns `right`; None has no cell."""
    return [
        Cell(row, column, value, align="right" if column in right else "left", **more)
        for column, value in enumerate(values, 1)
        if value is not None
    ]


@record(frozen=True)
class Choice:
    """A drop-down list on some cells, or a prompt that appears when one of them is selected.

    Attributes:
        range: the cells, `B5` or `B5:D8`.
        options: the list, or a formula for it (`=pets.Words`); "" for none.
        title, prompt: shown when one of the cells is selected.
    """

    range: str
    options: str = ""
    title: str = ""
    prompt: str = ""


@record(frozen=True)
class Tint:
    """A style that cells take on while a formula, written for the first cell of `range`, is true."""

    range: str
    formula: str
    style: str


class Scale(NamedTuple):
    """A colour scale on some cells, from 0 to `end`; a diverging one from minus `end` to `end`."""

    range: str
    end: float = 1.0
    diverging: bool = False


@record(frozen=True)
class Heat:
    """A colour scale on some cells while a condition, with absolute references, is true."""

    range: str
    formula: str


@record(frozen=True)
class Series:
    """A series of a chart, with its present numbers, so that a preview can draw them.

    Attributes:
        title: its name in the legend, or beside its points.
        values: the cells of the numbers (y, in a scatter chart).
        labels: the cells of the categories (x, in a scatter chart).
        numbers, names: the present contents of those cells.
        labelled: whether a scatter chart shows the title above the last point.
    """

    title: str
    values: Place
    labels: Place
    numbers: tuple[float | None, ...]
    names: tuple[str | float | None, ...]
    labelled: bool = True


def share_labels(series: Sequence[Series]) -> tuple[Series, ...]:
    """The series of a scatter chart; those whose last points nearly coincide share the first
    one's label."""
    width, height = (share * _spread(series, of) for share, of in ((0.12, "names"), (0.05, "numbers")))
    shared: list[Series] = []
    for one in series:
        x, y = one.names[-1], one.numbers[-1]
        for number, other in enumerate(shared):
            if (
                other.labelled
                and _near(x, other.names[-1], width)
                and _near(y, other.numbers[-1], height)
            ):
                shared[number] = replace(other, title=f"{other.title}, {one.title}")
                one = replace(one, labelled=False)
                break
        shared.append(one)
    return tuple(shared)


def _spread(series: Sequence[Series], of: str) -> float:
    numbers = [n for s in series for n in getattr(s, of) if isinstance(n, float)]
    return max(numbers, default=0.0) - min(numbers, default=0.0)


def _near(one: str | float | None, other: str | float | None, most: float) -> bool:
    return isinstance(one, float) and isinstance(other, float) and abs(one - other) < most


@record(frozen=True)
class Chart:
    """A native chart.

    Attributes:
        kind: bars, a line through one number for each label, pairs of points joined by an arrow
            (`moves`), points, or areas on each other with two numbers each, of which those without a
            title are blank (`ribbons`).
        row, column: the cell of its top left corner.
        width, height: in centimetres.
        legend: whether there is a legend.
        most: the end of the axis of numbers, which then begins at 0; 0 leaves it to the program.
        reach: both axes go from -reach to reach, so that angles look as they are; 0 leaves them.
        colours: of the series, in place of the usual ones.
        bare: whether it has no axis of numbers, no lines and no border, since its numbers stand above
            it and, if it has one series, on its bars.
    """

    kind: Literal["bars", "line", "moves", "points", "ribbons"]
    title: str
    row: int
    column: int
    series: tuple[Series, ...]
    x_title: str = ""
    y_title: str = ""
    width: float = 15.0
    height: float = 8.0
    legend: bool = True
    most: float = 0.0
    reach: float = 0.0
    colours: tuple[str, ...] = ()
    bare: bool = False


NOTHING = "A1048576"
"""The print area of a sheet for the screen: a blank cell, for which no program prints a page."""


@record(frozen=True)
class Extras:
    """Everything on a sheet but its matrices.

    Attributes:
        widths: of columns, in characters; heights: of rows, in points. Others are computed.
        row_height: of all other rows, in points; 0 for the template's own.
        scales: colour scales; heats: those that come after the tints.
        canvas: the sheet is a picture, printed on as few readable pages as possible; `widths` are
            minimums.
        starts: the rows before which a page break is allowed; sections: those that begin a layer or a
            sentence.
        zoom: in percent; 0 for the template's own.
        print_to: the print area, `A1:F20`; all cells if "", no page if `NOTHING`.
        freeze: the first cell that scrolls, `D5`.
        hidden: the sheet is neither shown nor printed.
        again: the picture has the steps of an earlier one once more; if it needs many pages, only the
            first is printed.
    """

    cells: Sequence[Cell] = ()
    charts: tuple[Chart, ...] = ()
    choices: tuple[Choice, ...] = ()
    tints: tuple[Tint, ...] = ()
    widths: dict[int, float] = field(default_factory=dict)
    heights: dict[int, float] = field(default_factory=dict)
    row_height: float = 0.0
    scales: tuple[Scale, ...] = ()
    heats: tuple[Heat, ...] = ()
    canvas: bool = False
    starts: tuple[int, ...] = ()
    sections: tuple[int, ...] = ()
    zoom: int = 0
    print_to: str = ""
    freeze: str = ""
    hidden: bool = False
    again: bool = False


@record(frozen=True, eq=False, repr=False)
class Block:
    """One matrix in its place.

    Attributes:
        node: the matrix.
        place: the cells of its numbers.
        name: its defined name.
        caption: the text above or beside its column labels.
        labelled: whether the column to its left holds its row labels.
        headed: whether the row above it holds its column labels.
        live: whether it has formulas: it is computed, and everything they refer to is written.
        turned: whether its cells hold the transpose: on a sheet that has words in columns.
        labels: the cells with its column labels, if they are not right at its place.
    """

    node: Matrix
    place: Place
    name: str
    caption: str
    labelled: bool
    headed: bool
    live: bool
    turned: bool = False
    labels: Place | None = None


class PlacedOperand(Operand):
    """`node` as an operand of a formula at `home`: a reference to its cells or, if it has none, its
    formula."""

    def __init__(
        self,
        blocks: Mapping[Matrix, Block],
        node: Matrix,
        home: Place,
        index: int,
        read: dict[str, tuple[Matrix, int]],
        turned: bool = False,
    ) -> None:
        self._blocks, self._node, self._home, self._index = blocks, node, home, index
        self._home_turned = turned
        self.read = read
        """The references in the formula, each with the matrix it reads and the number of cells."""
        self.shape = node.shape

    @cached_property
    def _cells(self) -> Cells | None:
        return cells_of(self._node)

    @property
    def is_transposed(self) -> bool:
        if self._cells is not None:
            return self._cells.turned != self._block.turned
        picked = operation_of(self._node).row_of(self._index) if self._node.operation else None
        return picked is not None and self._parents[picked[0]].is_transposed

    @property
    def _moves_aside(self) -> bool:
        """Whether a row of it is read by cells that do not stand in that row of the sheet."""
        return self.is_transposed or (self._home_turned and self._cells is not None)

    @cached_property
    def _block(self) -> Block:
        """The block that holds its cells."""
        assert self._cells is not None
        return self._blocks[self._cells.node]

    @cached_property
    def _parents(self) -> list[PlacedOperand]:
        parents = [
            PlacedOperand(self._blocks, node, self._home, self._index, self.read, self._home_turned)
            for node in self._node.parents
        ]
        return [*parents, self] if operation_of(self._node).reads_labels else parents

    def formula(self, column: int) -> str:
        """The formula of a cell in `column`, as it would be written at `home`."""
        return operation_of(self._node).formula(self._index, column, *self._parents)

    @property
    def _sheet(self) -> str:
        return self._prefix(self._block.place)

    def _row_number(self, row: int | None = None) -> str:
        """The number of a row, from 0, or of the formula's own; of a single row, always its."""
        first = self._block.place.row + (self._cells.row if self._cells else 0)
        if self.shape[0] == 1 < self._home.rows:
            return f"${first}"
        return row_token(first - self._home.row + (0 if row is None else row - self._index))

    def _reads(self, text: str, cells: int) -> str:
        self.read[text] = (self._block.node, cells)
        return text

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        node, column = self._node, min(column, self.shape[1] - 1)
        if node.scalar and node.name:
            return self._reads(self._block.name, 1)
        cells = self._cells
        if cells and self._moves_aside:
            down = min(self._index if row is None else row, self.shape[0] - 1)
            moves = row is None and self.shape[0] > 1, self.shape[1] > 1
            return self._range(down, column, 1, 1, moves).partition(":")[0]
        if not node.name and (row is None or cells is None):
            text = self.formula(column)
            return f"({text})" if _binding(node) < binds else text
        assert cells is not None
        place = self._block.place
        one_column = self.shape[1] == 1 < self._home.columns
        letter = letters(place.column + cells.column + column)
        row_text = self._row_number(row)
        return self._reads(f"{self._sheet}{'$' * one_column}{letter}{row_text}", 1)

    def row(self, row: int | None = None, stop: int | None = None) -> str:
        """The columns up to `stop`, or all, of a row, from 0, or of the formula's own row."""
        cells, columns = self._cells, stop or self.shape[1]
        if cells is None:
            picked = operation_of(self._node).row_of(self._index if row is None else row)
            assert picked is not None
            return self._parents[picked[0]].row(picked[1], stop)
        if self._moves_aside:
            index = min(self._index if row is None else row, self.shape[0] - 1)
            moves = row is None and self.shape[0] > 1, False
            return self._range(index, 0, 1, columns, moves)
        first = self._block.place.column + cells.column
        number = self._row_number(row)
        text = f"{self._sheet}${letters(first)}{number}:${letters(first + columns - 1)}{number}"
        return self._reads(text, columns)

    def column(self, column: int) -> str:
        column = min(column, self.shape[1] - 1)
        if self._moves_aside:
            return self._range(0, column, self.shape[0], 1, (False, self.shape[1] > 1))
        cells, place = self._cells, self._block.place
        assert cells is not None
        letter = letters(place.column + cells.column + column)
        first = place.row + cells.row
        text = f"{self._sheet}{letter}${first}:{letter}${first + self.shape[0] - 1}"
        return self._reads(text, self.shape[0])

    def _range(
        self, row: int, column: int, rows: int, columns: int, moves: tuple[bool, bool] = (False, False)
    ) -> str:
        """The address of a part of it; `moves` says whether its row is that of the formula, and whether
        its column is. A `$` keeps each part of the address that copying the formula does not move."""
        cells, place = self._cells, self._block.place
        assert cells is not None
        if cells.turned:
            row, column, rows, columns = column, row, columns, rows
        row, column = row + cells.row, column + cells.column
        if self._block.turned:
            row, column, rows, columns = column, row, columns, rows
        aside = self.is_transposed
        down, across = moves if not self._home_turned else moves[::-1]
        same = aside == self._home_turned
        start, end = "" if same and across else "$", "" if same and down else "$"
        top, left = place.row + row, place.column + column
        last = f"{start}{letters(left + columns - 1)}{end}{top + rows - 1}"
        return self._reads(f"{self._sheet}{start}{letters(left)}{end}{top}:{last}", rows * columns)

    def whole(self) -> str:
        return self._block.name

    def array(self, binds: int = 0) -> str:
        node = self._node
        if node.name:
            return self._block.name
        operation = operation_of(node)
        if operation.reads_labels:
            raise NoArray
        text = operation.array(*self._parents)
        return f"({text})" if _binding(node) < binds else text

    def part(self, start: int, stop: int) -> str:
        if self._cells is None:
            raise NoArray
        text = self._range(0, start, self.shape[0], stop - start)
        return f"TRANSPOSE({text})" if self.is_transposed else text

    def literal(self, text: str) -> str:
        return literal(text)

    def heading(self, column: int) -> str:
        labels = self._block.labels
        if labels is None:
            return self._beside(column)
        return self._prefix(labels) + fixed(address(*[*labels.cells()][column]))

    def heading_at(self, number: str) -> str:
        place = self._block.place
        if self._block.turned:
            place = replace(place, column=place.column - 1, columns=1)
        else:
            place = replace(place, row=place.row - 1, rows=1)
        labels = self._block.labels or place
        line = f"{self._prefix(labels)}{fixed(labels.range)}" + ",1" * (labels.rows == 1)
        return f"INDEX({line},{number})"

    def _prefix(self, place: Place) -> str:
        """The name of the sheet of a place, if it is not that of the formula."""
        return "" if place.sheet == self._home.sheet else quoted(place.sheet) + "!"

    def _beside(self, column: int) -> str:
        """The cell at which the label of a column stands, as a rule."""
        place = self._block.place
        if self._block.turned:
            return f"${self._label_column}{place.row + column}"
        return f"{letters(place.column + column)}${self._label_row}"

    def column_number(self, column: int) -> str:
        of = "ROW" if self._block.turned else "COLUMN"
        return f"{of}({self._beside(column)})-{of}({fixed(self._beside(0).replace('$', ''))})"

    def row_number(self) -> str:
        place = self._block.place
        if self._block.turned:
            label, first = letters(place.column + self._index), letters(place.column)
            return f"COLUMN({label}${self._label_row})-COLUMN(${first}${self._label_row})"
        label = self._label_column
        return f"ROW(${label}{row_token(0)})-ROW(${label}${place.row})"

    @property
    def _label_column(self) -> str:
        """The column of the labels; on the other side, if there is none on this one."""
        place = self._block.place
        return letters(place.column - 1 or place.last_column + 1)

    @property
    def _label_row(self) -> int:
        place = self._block.place
        return place.row - 1 or place.last_row + 1


def array_formula(blocks: Mapping[Matrix, Block], node: Matrix, home: Place) -> str:
    """The array formula of a matrix as it would be written at `home`, without the equals sign; "" where
    each cell has a formula."""
    try:
        return PlacedOperand(blocks, replace(node, name=""), home, 0, {}).array()
    except NoArray:
        return ""


def _binding(node: Matrix) -> int:
    """How tightly the formula of a matrix without a name binds."""
    operation = operation_of(node)
    if operation.passes_on:
        return min((_binding(one) for one in node.parents if not one.name), default=operation.binds)
    return operation.binds


def look_of(node: Matrix) -> str:
    """The style of a matrix's numbers. Only numbers to edit look like inputs and weights: those that a
    formula computes, such as weights after a step of learning, do not."""
    computed = node.operation is not None and node.role in ("input", "weight")
    return "attn value" if computed else f"attn {node.role}"
