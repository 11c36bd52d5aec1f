"""A matrix in its place, and how formulas speak of it there. Knows no file format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from attn_xl.graph.node import Node
from attn_xl.graph.operation import NoArray, Operand, operation_of
from attn_xl.graph.operations.primitives import Transpose
from attn_xl.spreadsheets.addresses import Place, letters, quoted, row_token


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """One matrix in its place.

    Attributes:
        node: the matrix.
        place: where its numbers stand.
        name: its defined name.
        caption: what stands above or beside its column labels.
        labelled: whether its row labels stand in the column to its left.
        headed: whether its column labels stand in the row above.
        live: whether it has formulas: it is computed, and all that they refer to is there.
        unlocked: it may be edited where its sheet is protected.
    """

    node: Node
    place: Place
    name: str
    caption: str
    labelled: bool
    headed: bool
    live: bool
    unlocked: bool = False


class PlacedOperand(Operand):
    """How a formula at `home` speaks of `node`: by its place or, if it has none, by its formula."""

    def __init__(
        self,
        blocks: Mapping[Node, Block],
        node: Node,
        home: Place,
        index: int,
        read: dict[str, tuple[Node, int]],
    ) -> None:
        self._blocks, self._node, self._home, self._index = blocks, node, home, index
        self.read = read
        """The cells that the formula reads: whose they are, and how many."""
        self.shape = node.shape
        self._transposed = not node.name and isinstance(node.operation, Transpose)

    @property
    def is_transposed(self) -> bool:
        return self._transposed

    @cached_property
    def _block(self) -> Block:
        return self._blocks[self._node]

    @cached_property
    def _parents(self) -> list[PlacedOperand]:
        parents = [
            PlacedOperand(self._blocks, node, self._home, self._index, self.read)
            for node in self._node.parents
        ]
        return [*parents, self] if operation_of(self._node).reads_labels else parents

    def formula(self, column: int) -> str:
        """What makes a cell of the matrix, as it would stand at home."""
        return operation_of(self._node).formula(self._index, column, *self._parents)

    @property
    def _sheet(self) -> str:
        place = self._block.place
        return "" if place.sheet == self._home.sheet else quoted(place.sheet) + "!"

    def _row_number(self) -> str:
        return row_token(self._block.place.row - self._home.row)

    def _reads(self, text: str, cells: int) -> str:
        self.read[text] = (self._node, cells)
        return text

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        node = self._node
        if self.is_transposed:  # a column, read as a row
            return self._parents[0]._fixed_row(column).partition(":")[0]
        if not node.name:
            text = self.formula(column)
            return f"({text})" if operation_of(node).binds < binds else text
        if node.scalar:
            return self._reads(self._block.name, 1)
        place = self._block.place
        one_column = self.shape[1] == 1 < self._home.columns
        column_text = f"${letters(place.column)}" if one_column else letters(place.column + column)
        if row is not None:
            row_text = str(place.row + row)
        elif self.shape[0] == 1 < self._home.rows:
            row_text = f"${place.row}"
        else:
            row_text = self._row_number()
        return self._reads(f"{self._sheet}{column_text}{row_text}", 1)

    def row(self) -> str:
        place, number = self._block.place, self._row_number()
        text = f"{self._sheet}${letters(place.column)}{number}:${letters(place.last_column)}{number}"
        return self._reads(text, place.columns)

    def column(self, column: int) -> str:
        if self.is_transposed:
            return self._parents[0]._fixed_row(column)
        place = self._block.place
        letter = letters(place.column + column)
        return self._reads(f"{self._sheet}{letter}${place.row}:{letter}${place.last_row}", place.rows)

    def _fixed_row(self, row: int) -> str:
        place = self._block.place
        number = place.row + row
        text = f"{self._sheet}${letters(place.column)}${number}:${letters(place.last_column)}${number}"
        return self._reads(text, place.columns)

    def picked(self, row: Operand, column: int) -> str:
        return self._reads(f"INDEX({self._block.name},{row.cell(0)},{column + 1})", 1)

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
        return f"({text})" if operation.binds < binds else text

    def part(self, start: int, stop: int) -> str:
        if not self._node.name:
            raise NoArray
        place = self._block.place
        first, last = letters(place.column + start), letters(place.column + stop - 1)
        return f"{self._sheet}${first}${place.row}:${last}${place.last_row}"

    def heading(self, column: int) -> str:
        place = self._block.place
        return f"{letters(place.column + column)}${place.row - 1}"

    def headings(self) -> str:
        place, row = self._block.place, self._block.place.row - 1
        return f"{self._sheet}${letters(place.column)}${row}:${letters(place.last_column)}${row}"

    def column_number(self, column: int) -> str:
        return f"COLUMN({self.heading(column)})-COLUMN(${self.heading(0)})"

    def row_number(self) -> str:
        place = self._block.place
        label = letters(place.column - 1)
        return f"ROW(${label}{row_token(0)})-ROW(${label}${place.row})"
