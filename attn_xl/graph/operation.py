"""Operations: how each computes numbers, writes a spreadsheet formula and describes itself in words.

A formula is composed of `Operand` objects, which supply their own references; a calculation is composed
of `Term` objects, which supply their names or numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, cast

from attn_xl.records import record

from .node import MadeBy, Node, Numbers
from .step import ARITHMETIC, Recipe

if TYPE_CHECKING:
    from .matrix import Matrix

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

    def row(self, row: int | None = None) -> str:
        """All columns of the formula's row, or of another."""
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

    def headings(self) -> str:
        """The cells with the labels of all columns."""
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


@record(frozen=True, eq=False, repr=False)
class Cells:
    """The cells that hold the numbers of a matrix: its own, or some of another matrix's.

    Attributes:
        node: the matrix that has cells.
        shape: the numbers of rows and columns, as the reader sees them.
        row, column: the position of the first cell within `node`, from 0.
        turned: whether rows and columns are swapped.
    """

    node: Node
    shape: tuple[int, int]
    row: int = 0
    column: int = 0
    turned: bool = False


class Operation(MadeBy, ABC):
    """A primitive operation, with everything about it in one class.

    In this order: `numbers`, from arrays to an array; `formula`, for one cell; `array`, the formula
    for the whole matrix; `words`, the step as in a textbook; `worked`, how one cell was computed;
    `gradient`, its derivative, written in the same operations.

    Attributes:
        noun: the name of an unnamed result that needs cells.
        binds: how tightly its formula binds.
        reads: what its formula reads of each operand; the last entry applies to all further operands.
        repeats: how many times its formula contains that of an operand.
        reads_one: whether each of its cells reads only one operand.
        same_in_every_row: whether its formulas differ between rows only in row numbers.
        reads_labels: whether its formula needs its own row and column; then it has its own cells and
            receives itself as the last operand.
        reads_texts: whether an operand may hold words: a switch, a chosen word.
        passes_on: whether its formula is that of an operand, and so binds only as tightly.
        sign: the sign between its two operands in words, `+`; "" for none.
        is_product: whether it multiplies the rows of one matrix by the columns of another.
        joins: whether it places its operands side by side.
    """

    noun: str
    binds: int = ATOM
    reads: tuple[Reads, ...] = (Reads.number,)
    repeats: int = 1
    reads_one: bool = False
    same_in_every_row: bool = True
    reads_labels: bool = False
    reads_texts: bool = False
    passes_on: bool = False
    sign: str = ""
    is_product: bool = False
    joins: bool = False

    @abstractmethod
    def numbers(self, *operands: Numbers) -> Numbers: ...

    @abstractmethod
    def formula(self, row: int, column: int, *operands: Operand) -> str:
        """The formula of one cell, without the equals sign. `row` matters only where
        `same_in_every_row` is False."""

    def array(self, *operands: Operand) -> str:
        """The formula for the whole matrix, without the equals sign.

        Raises:
            NoArray: if there is none that all spreadsheet programs compute; cells have their own.
        """
        raise NoArray

    @abstractmethod
    def words(self, *operands: str) -> str:
        """The whole step, with the operands' symbols."""

    @abstractmethod
    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        """How one cell was computed, in the terms of the operands. `own` is the result."""

    def row_of(self, row: int) -> tuple[int, int] | None:
        """The operand, and the row of it, that one of its rows is; None if it computes its rows."""
        return None

    def kind_of_row(self, row: int) -> int:
        """A number that is the same for rows whose formulas differ only in row numbers."""
        return 0 if self.same_in_every_row else row

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix | None:
        """How a loss changes with operand `number`, counted from 0 (a vector-Jacobian product).

        Args:
            own: the result.
            d: how the loss changes with the result.
            operands: what the result was computed from.

        Returns:
            A matrix of the result's shape where the operand was repeated, a single row or column where
            all rows or columns are equal; None where the result does not follow the operand smoothly: a
            size, a choice, a condition.
        """
        return None

    def of(
        self, *operands: Matrix | float, rows: Sequence[str] = (), columns: Sequence[str] = ()
    ) -> Matrix:
        """The result for these matrices; its labels are those of the first matrix, unless given."""
        first = next(operand for operand in operands if isinstance(operand, Node))
        return first.combined(self, operands, rows or first.rows, columns or first.columns)

    def recipe(self, *operands: Node) -> Recipe:
        """How a cell is computed by hand, where the step has no recipe of its own."""
        return ARITHMETIC

    @property
    def suffix(self) -> str:
        """What it adds to the name of its only operand, in formulas and in words: `^2`; "" if it is
        more than that."""
        return ""

    def cells(self, of: Cells) -> Cells | None:
        """The cells of its numbers among the cells `of` its operand; None if it computes new ones."""
        return None

    def reads_of(self, number: int) -> Reads:
        """What its formula reads of operand `number`, counted from 0."""
        return self.reads[min(number, len(self.reads) - 1)]


def operation_of(node: Node) -> Operation:
    """The operation that produced a computed matrix."""
    assert node.operation is not None
    return cast(Operation, node.operation)


def formula_size(node: Node) -> int:
    """The number of references and operations that `node` adds to a formula that reads it."""
    if node.name or node.operation is None:
        return 1
    operation = operation_of(node)
    sizes = [formula_size(parent) for parent in node.parents]
    return 1 + operation.repeats * (max(sizes) if operation.reads_one else sum(sizes))


def cells_of(node: Node) -> Cells | None:
    """The cells of a matrix: its own if it has a name; those of the matrix that it is a part or a view
    of; None if a formula has to compute it."""
    if node.name:
        return Cells(node, node.shape)
    if node.operation is None or len(node.parents) != 1:
        return None
    of = cells_of(node.parents[0])
    return operation_of(node).cells(of) if of else None


def view_of(node: Node) -> Cells | None:
    """The cells of its operand that a matrix repeats if it is a copy, some columns or a transpose,
    whether or not it has cells of its own; None if it is neither."""
    if node.operation is None or len(node.parents) != 1:
        return None
    (parent,) = node.parents
    return operation_of(node).cells(Cells(parent, parent.shape))
