"""The arithmetic of matrices that record how they were computed, with or without their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cached_property
from numbers import Real
from typing import Any, cast

import numpy as np

from attn_xl.errors import InputError, ShapeError, wrong_type
from attn_xl.graph.operations.elementwise import ADD, DIVIDE, MULTIPLY, SUBTRACT, Constant, Copy
from attn_xl.graph.operations.products import Product, Transpose

from .node import Node
from .operation import Operation, Reads, cells_of, formula_size, operation_of
from .step import WHOLE, Part, Role, Step

MOST_NUMBERS = 100_000_000
"""Numbers in one computation, at most: 0.8 GB."""
LONGEST_FORMULA = 50
"""References and operations in one formula, at most; a spreadsheet takes 64 nested functions and
8,192 characters."""
_foreseen: ContextVar[list[int] | None] = ContextVar("numbers so far", default=None)


class Matrix(Node):
    """A node with arithmetic: `q @ k.T`, `scores / sqrt(d_k)`, `x - maximum`."""

    __array_ufunc__ = None
    """Makes a NumPy number on the left defer to the arithmetic of the matrix."""

    @property
    def T(self) -> Matrix:
        """Rows and columns swapped."""
        if isinstance(self.operation, Transpose) and not self.name:
            return cast(Matrix, self.parents[0])
        if isinstance(self.operation, Product) and not self.name:  # (A B)ᵀ = Bᵀ Aᵀ needs no cells
            left, right = cast("tuple[Matrix, Matrix]", self.parents)
            return right.T @ left.T
        return made(Transpose(), (self,), self.columns, self.rows)

    @cached_property
    def in_cells(self) -> Matrix:
        """The same matrix with its own cells: itself if it has a name, otherwise a helper that is shown
        beside the step that reads it."""
        if self.name:
            return self
        noun = self.noun or (operation_of(self).noun if self.operation else "Given")
        made_up = self.named(noun, self.words or "given", helper=True)
        return replace(made_up, scalar=False, unnamed=True)

    def combined(
        self,
        operation: Operation,
        operands: Sequence[Matrix | float],
        rows: Sequence[str],
        columns: Sequence[str],
    ) -> Matrix:
        """The result of an operation on matrices and numbers."""
        sides = tuple(side if isinstance(side, Matrix) else constant(side) for side in operands)
        scalar = len(rows) == len(columns) == 1 and all(side.scalar for side in sides)
        return made(operation, sides, rows, columns, scalar=scalar)

    def differentiated(self, rules: Mapping[Node, Callable[[Matrix, Matrix], Matrix]]) -> Matrix:
        """The same matrix with its own rules for gradients, in place of those of its helpers.

        Args:
            rules: for each matrix that it depends on, the function that returns how a loss changes
                with it, from this matrix and how the loss changes with this matrix.
        """
        return replace(self, rules={**rules})

    def __matmul__(self, other: Matrix) -> Matrix:
        if not isinstance(other, Matrix):
            return NotImplemented
        if len(self.columns) != len(other.rows):
            raise ShapeError(
                f"cannot multiply {self.shape} by {other.shape}: the number of columns of the first "
                "differs from the number of rows of the second."
            )
        return made(Product(), (self, other), self.rows, other.columns)

    def __add__(self, other: Matrix | float) -> Matrix:
        return _elementwise(ADD, self, other)

    def __radd__(self, other: float) -> Matrix:
        return _elementwise(ADD, other, self)

    def __sub__(self, other: Matrix | float) -> Matrix:
        return _elementwise(SUBTRACT, self, other)

    def __rsub__(self, other: float) -> Matrix:
        return _elementwise(SUBTRACT, other, self)

    def __mul__(self, other: Matrix | float) -> Matrix:
        return _elementwise(MULTIPLY, self, other)

    def __rmul__(self, other: float) -> Matrix:
        return _elementwise(MULTIPLY, other, self)

    def __neg__(self) -> Matrix:
        return _elementwise(MULTIPLY, -1, self)

    def __truediv__(self, other: Matrix | float) -> Matrix:
        return _elementwise(DIVIDE, self, other)

    def __rtruediv__(self, other: float) -> Matrix:
        return _elementwise(DIVIDE, other, self)


def check_matrices(**given: object) -> None:
    """Check that all arguments are matrices or None.

    Raises:
        WrongTypeError: if one is not; the message has its name.
    """
    for name, what in given.items():
        if what is not None and not isinstance(what, Matrix):
            raise wrong_type(
                name, what, "a matrix: attn_xl.given(values, rows, columns, name) creates one"
            )


def _elementwise(operation: Operation, left: Matrix | float, right: Matrix | float) -> Matrix:
    for side in (left, right):
        if not isinstance(side, (Matrix, Real)):
            raise wrong_type("one side of an operation", side, "a matrix (attn_xl.given) or a number")
    left, right = (side if isinstance(side, Matrix) else constant(side) for side in (left, right))
    if operation is MULTIPLY and 1 in (number_in(left), number_in(right)):
        other = right if number_in(left) == 1 else left
        return made(Copy(), (other,), other.rows, other.columns, scalar=other.scalar)
    for n, m in zip(left.shape, right.shape):
        if n != m and 1 not in (n, m):
            raise ShapeError(f"{left.shape} does not go with {right.shape}, number by number.")
    if left.scalar:
        tall = wide = right
    else:
        tall = right if len(right.rows) > len(left.rows) else left
        wide = right if len(right.columns) > len(left.columns) else left
    scalar = left.scalar and right.scalar
    return made(operation, (left, right), tall.rows, wide.columns, scalar=scalar)


def constant(value: float) -> Matrix:
    """A number that is written into the formula."""
    return made(Constant(value), (), ("",), ("",), scalar=True)


def number_in(x: Matrix) -> float | None:
    """The number of an unnamed constant; None for any other matrix."""
    return x.operation.value if isinstance(x.operation, Constant) and not x.name else None


def made(
    operation: Operation,
    parents: tuple[Matrix, ...],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    scalar: bool = False,
) -> Matrix:
    """The result of an operation on other matrices; inside `shapes_only`, without its numbers.

    An unnamed operand gets its own cells if the operation cannot use its formula in their place.

    Raises:
        InputError: if the result has too many numbers, or one that is infinite or NaN.
        TypeError: if an operand holds words.
    """
    parents = tuple(_readable(operation, number, parent) for number, parent in enumerate(parents))
    foreseen = _foreseen.get()
    _check_size(operation, parents, (len(rows), len(columns)), foreseen or [0])
    if foreseen is not None:
        values = np.broadcast_to(1.0, (len(rows), len(columns)))
    else:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a node refuses infinities
            values = operation.numbers(*(parent.values for parent in parents))
    return Matrix(values, tuple(rows), tuple(columns), operation, parents, scalar=scalar)


def _readable(operation: Operation, number: int, operand: Matrix) -> Matrix:
    """The operand in a form that a formula can read: unchanged, or with its own cells."""
    if operand.texts and not operation.reads_texts:
        raise TypeError(f"{operand.name or 'a matrix'} holds words, which cannot be computed with")
    if operand.name:
        return operand
    reads = operation.reads_of(number)
    needs_cells = (
        operand.operation is None
        or "in_cells" in vars(operand)  # another step already reads its cells
        or operation_of(operand).reads_labels
        or reads is Reads.table
        or (
            reads is not Reads.number
            and cells_of(operand) is None
            and not (reads is Reads.row and _has_rows_in_cells(operand))
        )
        or formula_size(operand) > LONGEST_FORMULA
    )
    return operand.in_cells if needs_cells else operand


def _has_rows_in_cells(operand: Matrix) -> bool:
    """Whether each row of an operand is a row of cells elsewhere."""
    cells = [cells_of(parent) for parent in operand.parents]
    picks = operation_of(operand).row_of(0) is not None
    return picks and all(one is not None and not one.turned for one in cells)


def _check_size(
    operation: Operation, parents: tuple[Matrix, ...], shape: tuple[int, int], so_far: list[int]
) -> None:
    """Refuse a matrix before computing it if all numbers so far would be too many."""
    so_far[0] += shape[0] * shape[1]
    if so_far[0] > MOST_NUMBERS:
        words = operation.words(*(parent.as_operand for parent in parents))
        raise InputError(
            f"the step {words!r} has {shape[0]:,} x {shape[1]:,} numbers, which makes "
            f"{so_far[0]:,} to compute; the most is {MOST_NUMBERS:,}. Use fewer words (--range selects "
            "part of a table), layers or heads."
        )


def foresees() -> bool:
    """Whether only the shapes of matrices are wanted: they are created without being computed."""
    return _foreseen.get() is not None


@contextmanager
def shapes_only() -> Iterator[bool]:
    """In the block, create matrices without computing them, to find their sizes: all numbers are 1 and
    take no memory. Yields whether the block is inside another such block.

    Raises:
        InputError: as soon as there are more than 100,000,000 numbers.
    """
    outer = _foreseen.get()
    before = _foreseen.set([0] if outer is None else outer)
    try:
        yield outer is not None
    finally:
        _foreseen.reset(before)


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
        values: anything that NumPy accepts, of shape (rows, columns).
        rows, columns: their labels.
        name: its symbol.
        note: a plain sentence on what it shows.
        role: "input" for numbers that a reader edits, "weight" for learned ones.

    Raises:
        ShapeError: if the labels do not fit the shape. It is a CallError and a ValueError.
        InputError: if a value is not a number, infinite or NaN.

    Example:
        >>> import attn_xl
        >>> x = attn_xl.given([[1, 0], [0, 2]], rows=["cat", "sat"], columns=["a", "b"], name="X")
        >>> 2 * x @ x.T
        matrix = (2 · X) × Xᵀ, 2 x 2
             cat  sat
        cat    2    0
        sat    0    8
    """
    try:
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "fiubO":
            raise TypeError(f"they are of {numbers.dtype}")
        numbers = numbers.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the values of {name} are not numbers in rows and columns: {error}."
        ) from None
    return Matrix(
        numbers, tuple(map(_text, rows)), tuple(map(_text, columns)), name=name, note=note, role=role
    )


def _text(label: object) -> str:
    """A label as a text; a message stays one."""
    return label if isinstance(label, str) else str(label)


def given_step(
    values: Any,
    rows: Iterable[object],
    columns: Iterable[object],
    step: Step,
    part: Part = WHOLE,
    *,
    note: str = "",
) -> Matrix:
    """A matrix that is given, not computed, as a step of a model: the input, weights.

    Raises:
        ValueError, InputError: as `given`.
    """
    return given(values, rows, columns, step.symbol).as_step(step, part, note=note)
