"""How an operation refers to its operands: as cells of a formula, or in words and numbers.

A formula is composed of `Operand` objects, which supply their own references; a calculation is composed
of `Term` objects, which supply their names or numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

ATOM = 9  # binds tighter than any operator: a cell, a number, a function call


class NoArray(Exception):
    """Raised by a step without a formula for the whole matrix."""


class Operand:
    """A matrix as a formula refers to it. `column` counts from 0; the row is the formula's own unless
    given."""

    shape: tuple[int, int]

    @property
    def is_transposed(self) -> bool:
        """Whether a column of it is a row of cells, and a row of it a column of cells."""
        raise NotImplementedError

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        """One number; in parentheses if it is a formula that binds less tightly than `binds`."""
        raise NotImplementedError

    def row(self, row: int | None = None, stop: int | None = None) -> str:
        """The columns up to `stop`, or all, of the formula's row, or of another."""
        raise NotImplementedError

    def column(self, column: int) -> str:
        """One column, all rows."""
        raise NotImplementedError

    def whole(self) -> str:
        """All of it, by name."""
        raise NotImplementedError

    def array(self, binds: int = 0) -> str:
        """All of it in a formula over whole matrices: by name, or by its formula, in parentheses if
        that binds less tightly than `binds`.

        Raises:
            NoArray: if a part of it has no such formula.
        """
        raise NotImplementedError

    def part(self, start: int, stop: int) -> str:
        """Some neighbouring columns, all rows."""
        raise NotImplementedError

    def literal(self, text: str) -> str:
        """A text as a literal in a formula."""
        raise NotImplementedError

    def heading(self, column: int) -> str:
        """The cell with the label of a column."""
        raise NotImplementedError

    def heading_at(self, number: str) -> str:
        """A formula for the label of the column that a formula numbers, from 1."""
        raise NotImplementedError

    def column_number(self, column: int) -> str:
        """The number of a column, from 0."""
        raise NotImplementedError

    def row_number(self) -> str:
        """The number of the formula's row, from 0."""
        raise NotImplementedError


class Said(NamedTuple):
    """A piece of a calculation, and how tightly it binds."""

    text: str
    binds: int = ATOM

    def within(self, binds: int) -> str:
        """The text; in parentheses if it binds less tightly than `binds`."""
        return f"({self.text})" if self.binds < binds else self.text


class Term:
    """A matrix as a calculation refers to it: its cells by name, or with values substituted. Rows and
    columns count from 0."""

    shape: tuple[int, int]
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def at(self, row: int, column: int) -> Said:
        """One number; a single row, a single column or a scalar is repeated for every row or column."""
        raise NotImplementedError

    def value(self, row: int, column: int) -> float:
        """The number itself."""
        raise NotImplementedError

    def whole(self) -> str:
        """All of it, by name."""
        raise NotImplementedError

    def number(self, value: float, word: str) -> Said:
        """A number that is in no cell: itself, or the name `word`."""
        raise NotImplementedError

    def several(self, count: int, part: Callable[[int], str], between: str) -> str:
        """`part(0)`, `part(1)`, ...; parts in the middle may be omitted."""
        raise NotImplementedError

    def total(self, count: int, part: Callable[[int], str]) -> Said:
        """The sum of parts, each of which binds at least as tightly as a sum."""
        return Said(self.several(count, part, " + "), 1)

    def listed(self, row: int) -> str:
        """A row's numbers."""
        return self.several(self.shape[1], lambda column: self.at(row, column).text, ", ")


class Reads(Enum):
    """The cells of an operand that a formula reads, and so what the operand must have.

    Attributes:
        number: one number in the same place; a formula can replace the cell.
        row: the cells of the formula's row; it has cells, or is part of a matrix that has, or each of
            its rows is a row of such a matrix.
        rows, column: cells of any row, or of one column; it has cells, or is part of a matrix that has.
        table: the whole matrix by name, or its labels; it has its own cells.
    """

    number = "number"
    row = "row"
    rows = "rows"
    column = "column"
    table = "table"
