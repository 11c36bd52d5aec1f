"""Each primitive operation once: its numbers, its formula and its words, side by side.

Few primitives; what can be written with them (softmax) is composed of them. Knows no file format: a
formula is text about operands, which say themselves where they stand.

Sums run from left to right and exponentials are the C library's, as in the spreadsheet programs, so
that the numbers agree with theirs to the last bit and cancellation cannot drive them apart.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from .matrix import Node, Numbers, Role

ATOM = 9  # binds tighter than any operator: a cell, a number, a function call


class Operand(Protocol):
    """How a formula speaks of a matrix. `column` counts from 0; the row is the formula's own,
    unless it is given."""

    shape: tuple[int, int]

    @property
    def is_transposed(self) -> bool:
        """Whether a column of it is a row of cells."""

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        """One number; in parentheses if it is a formula that binds less tightly than `binds`."""

    def row(self) -> str:
        """The formula's row, all columns."""

    def column(self, column: int) -> str:
        """One column, all rows."""

    def whole(self) -> str:
        """All of it, by name."""


class Operation(ABC):
    """A primitive: what it does to numbers, what a spreadsheet writes for it, how people say it."""

    binds: ClassVar[int] = ATOM
    same_in_every_row: ClassVar[bool] = True

    @abstractmethod
    def numbers(self, *operands: Numbers) -> Numbers: ...

    @abstractmethod
    def formula(self, row: int, column: int, *operands: Operand) -> str:
        """The formula of one cell, without the equals sign. `row` matters only where
        `same_in_every_row` is False."""

    @abstractmethod
    def words(self, *operands: str) -> str:
        """The whole step, with the operands' symbols."""


class Copy(Operation):
    """The same numbers again: `=Input!B5`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(column)

    def words(self, *operands: str) -> str:
        return operands[0]


class Transpose(Operation):
    """Rows become columns. Has no cells of its own: a product reads the rows as columns."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0].T

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        raise NotImplementedError("a transposed matrix is written only as the right factor")

    def words(self, *operands: str) -> str:
        return f"{operands[0]}ᵀ"


class Product(Operation):
    """The matrix product: (n, k) by (k, m) gives (n, m)."""

    def numbers(self, *operands: Numbers) -> Numbers:
        left, right = operands
        total = np.zeros((left.shape[0], right.shape[1]))
        term = np.empty_like(total)
        for left_column, right_row in zip(left.T, np.ascontiguousarray(right)):
            np.multiply(left_column[:, None], right_row, out=term)
            total += term
        return total

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        if right.is_transposed:
            return f"SUMPRODUCT({left.row()},{right.column(column)})"
        return f"SUM(MMULT({left.row()},{right.column(column)}))"

    def words(self, *operands: str) -> str:
        return f"{operands[0]} × {operands[1]}"


class Subtract(Operation):
    """Number by number; a single row or column goes with each."""

    binds: ClassVar[int] = 1

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0] - operands[1]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        return f"{left.cell(column, binds=self.binds)}-{right.cell(column, binds=self.binds + 1)}"

    def words(self, *operands: str) -> str:
        return f"{operands[0]} − {operands[1]}"


class Divide(Operation):
    """Number by number; a single row or column goes with each."""

    binds: ClassVar[int] = 2

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0] / operands[1]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        return f"{left.cell(column, binds=self.binds)}/{right.cell(column, binds=self.binds + 1)}"

    def words(self, *operands: str) -> str:
        return f"{operands[0]} / {operands[1]}"


@dataclass(frozen=True)
class Apply(Operation):
    """A function of each number: `=EXP(B5)`."""

    function: str
    compute: Callable[[float], float]
    saying: str

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        try:
            flat = np.fromiter(map(self.compute, x.ravel().tolist()), np.float64, x.size)
        except OverflowError:
            return np.full_like(x, math.inf)
        return flat.reshape(x.shape)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{self.function}({operands[0].cell(column)})"

    def words(self, *operands: str) -> str:
        return self.saying.format(operands[0])


@dataclass(frozen=True)
class Reduce(Operation):
    """One number from each row: `=MAX(B5:G5)`."""

    function: str
    compute: Callable[[Numbers], Numbers]
    saying: str

    def numbers(self, *operands: Numbers) -> Numbers:
        return self.compute(operands[0]).reshape(-1, 1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{self.function}({operands[0].row()})"

    def words(self, *operands: str) -> str:
        return self.saying.format(operands[0])


class Width(Operation):
    """How many columns a matrix has: `=COLUMNS(K)`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([[float(operands[0].shape[1])]])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"COLUMNS({operands[0].whole()})"

    def words(self, *operands: str) -> str:
        return f"the number of columns of {operands[0]}"


@dataclass(frozen=True)
class Gather(Operation):
    """Rows picked out of matrices: row i is row `picks[i][1]` of operand `picks[i][0]`."""

    same_in_every_row: ClassVar[bool] = False
    picks: tuple[tuple[int, int], ...]

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([operands[which][row] for which, row in self.picks])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        which, source_row = self.picks[row]
        return operands[which].cell(column, row=source_row)

    def words(self, *operands: str) -> str:
        return "the word's row of " + " and ".join(dict.fromkeys(operands))


_EXP = Apply("EXP", math.exp, "e^({})")
_SQRT = Apply("SQRT", math.sqrt, "√{}")
_MAXIMUM = Reduce("MAX", lambda x: x.max(axis=1), "the largest of each row of {}")
_SUM = Reduce("SUM", lambda x: np.cumsum(x, axis=1)[:, -1], "the sum of each row of {}")

PRIMITIVES: tuple[Operation, ...] = (
    Copy(),
    Transpose(),
    Product(),
    Subtract(),
    Divide(),
    _EXP,
    _SQRT,
    _MAXIMUM,
    _SUM,
    Width(),
    Gather(((0, 0),)),
)


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Node):
    """A node with arithmetic: `q @ k.T`, `scores / sqrt(d_k)`, `x - maximum`."""

    @property
    def T(self) -> Matrix:
        return _made(Transpose(), (self,), self.columns, self.rows)

    def __matmul__(self, other: Matrix) -> Matrix:
        if len(self.columns) != len(other.rows):
            raise ValueError(f"cannot multiply {self.shape} by {other.shape}")
        return _made(Product(), (self, other), self.rows, other.columns)

    def __sub__(self, other: Matrix) -> Matrix:
        return _made(Subtract(), (self, other), self.rows, self.columns)

    def __truediv__(self, other: Matrix) -> Matrix:
        return _made(Divide(), (self, other), self.rows, self.columns)


def _made(
    operation: Operation, parents: tuple[Matrix, ...], rows: Sequence[str], columns: Sequence[str]
) -> Matrix:
    with np.errstate(over="ignore", invalid="ignore"):  # the node itself refuses infinities
        values = operation.numbers(*(parent.values for parent in parents))
    return Matrix(values, tuple(rows), tuple(columns), operation, parents)


def operation_of(node: Node) -> Operation:
    """What made a computed matrix."""
    assert isinstance(node.operation, Operation)
    return node.operation


def given(
    values: Any,
    rows: Iterable[object],
    columns: Iterable[object],
    name: str,
    note: str = "",
    role: Role = "input",
) -> Matrix:
    """A matrix that is given, not computed.

    Args:
        values: anything numpy takes, of shape (rows, columns).
        rows, columns: their labels.
        name: its symbol.
        note: one plain sentence on what it shows.
        role: "input" for what a reader edits, "weight" for what was learned.

    Raises:
        ValueError: if the labels do not fit the shape.
        InputError: for a number that is infinite or not a number.
    """
    return Matrix(
        values, tuple(map(str, rows)), tuple(map(str, columns)), name=name, note=note, role=role
    )


def copy(x: Matrix) -> Matrix:
    """The same numbers under another name."""
    return _made(Copy(), (x,), x.rows, x.columns)


def exp(x: Matrix) -> Matrix:
    """e to the power of each number."""
    return _made(_EXP, (x,), x.rows, x.columns)


def sqrt(x: Matrix) -> Matrix:
    """The square root of each number."""
    return _made(_SQRT, (x,), x.rows, x.columns)


def row_maximum(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the largest number of each row."""
    return _made(_MAXIMUM, (x,), x.rows, ("maximum",))


def row_sum(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the sum of each row."""
    return _made(_SUM, (x,), x.rows, ("sum",))


def width(x: Matrix) -> Matrix:
    """The number of columns of `x`, as a scalar."""
    return _made(Width(), (x,), ("",), ("",))


def gather(picks: Sequence[tuple[Matrix, int]], rows: Sequence[str]) -> Matrix:
    """A matrix of rows picked out of others: row i is `picks[i] = (matrix, its row)`."""
    sources = tuple(dict.fromkeys(matrix for matrix, _ in picks))
    chosen = tuple((sources.index(matrix), row) for matrix, row in picks)
    return _made(Gather(chosen), sources, rows, sources[0].columns)


def softmax(x: Matrix) -> Matrix:
    """Each row turned into positive weights that sum to 1: exp(x) / sum(exp(x)), row by row.

    The row's maximum is subtracted first, which changes nothing but keeps exp from overflowing.
    The maximum, the exponentials and their sum stay visible beside the result.

    Shapes: (n, m) to (n, m).

    Source: Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs"
    (1990); the shift by the maximum as in Goodfellow, Bengio, Courville, "Deep Learning", 4.1.
    """
    maximum = row_maximum(x).named("Maximum", "the largest score of the row", helper=True)
    exponentials = exp(x - maximum).named("Exponentials", "e^(score − maximum)", helper=True)
    total = row_sum(exponentials).named("Sum", "what the exponentials add up to", helper=True)
    return (exponentials / total).described(f"softmax({x.name or x.words})")
