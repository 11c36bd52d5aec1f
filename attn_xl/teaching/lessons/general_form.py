"""The formula of a cell in general form, as a hint gives it: `cell of Scores/SQRT(d_k)`.

It is made from the formula that the workbook holds, so it is right wherever that is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from attn_xl.graph.node import Node, referred_to
from attn_xl.graph.operation import Cells, Operand, cells_of, operation_of
from attn_xl.graph.operations.selection import Moved
from attn_xl.spreadsheets.addresses import literal


def general_form(node: Node, row: int, column: int, names: Mapping[Node, str]) -> str:
    """The formula of a cell of a computed matrix, with `cell of Q`, `row of Q` and `column of Q` for
    its references.

    Args:
        row, column: the cell, counted from 0.
        names: the defined names of the matrices that have one.
    """
    return _Operand(node, row, column, names_in(node, names)).own(column)


def names_in(node: Node, names: Mapping[Node, str]) -> Mapping[Node, str]:
    """The names of the operands of a step: a helper beside it goes by its own name if no other does."""
    read = dict.fromkeys(referred_to(node))
    own = Counter(operand.name for operand in read)
    beside = (operand for operand in read if operand.helper and not operand.scalar)
    return {**names, **{operand: operand.name for operand in beside if own[operand.name] == 1}}


def name_of_operand(node: Node, names: Mapping[Node, str]) -> str:
    """A matrix as a general form names it; some columns of a matrix are called that."""
    cells = cells_of(node)
    if cells and not node.name and not cells.turned:
        return node.words
    base = cells.node if cells else node
    return names.get(base, base.name)


class _Operand(Operand):
    """A matrix in the formula of a cell; `moved` if what reads it moves all rows alike."""

    def __init__(
        self, node: Node, row: int, column: int, names: Mapping[Node, str], *, moved: bool = False
    ) -> None:
        self._node, self._row, self._column, self._names = node, row, column, names
        self._moved = moved
        self.shape = node.shape

    @cached_property
    def _cells(self) -> Cells | None:
        return cells_of(self._node)

    @property
    def is_transposed(self) -> bool:
        return self._cells is not None and self._cells.turned

    @property
    def _name(self) -> str:
        return name_of_operand(self._node, self._names)

    def _beside(self, row: int | None) -> str:
        step = (0 if row is None else row - self._row) if self._moved else 0
        return {-1: " in the row above", 1: " in the row below"}.get(step, "")

    def _operand(self, parent: Node) -> _Operand:
        moved = isinstance(self._node.operation, Moved)
        return _Operand(parent, self._row, self._column, self._names, moved=moved)

    def own(self, column: int) -> str:
        """The formula that computes a cell of it."""
        operation = operation_of(self._node)
        operands = [self._operand(parent) for parent in self._node.parents]
        return operation.formula(
            self._row, column, *operands, *([self] if operation.reads_labels else [])
        )

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        node = self._node
        if node.name and node.scalar:
            return self.whole()
        if self._cells is None:
            text = self.own(column)
            return f"({text})" if operation_of(node).binds < binds else text
        return f"cell of {self._name}{self._beside(row)}"

    def row(self, row: int | None = None) -> str:
        if self._cells is None:
            picked = operation_of(self._node).row_of(self._row if row is None else row)
            assert picked is not None
            return self._operand(self._node.parents[picked[0]]).row(picked[1])
        return f"{'column' if self.is_transposed else 'row'} of {self._name}{self._beside(row)}"

    def column(self, column: int) -> str:
        return f"{'row' if self.is_transposed else 'column'} of {self._name}"

    def whole(self) -> str:
        return self._names.get(self._node, self._node.name)

    def part(self, start: int, stop: int) -> str:
        return f"columns of {self._name}"

    def literal(self, text: str) -> str:
        return literal(text)

    def heading(self, column: int) -> str:
        return "heading of the column"

    def headings(self) -> str:
        return f"headings of {self._name}"

    def column_number(self, column: int) -> str:
        left = self._column - column
        return f"number of the column{f' {left} to the left' if left else ''}"

    def row_number(self) -> str:
        return "number of the row"
