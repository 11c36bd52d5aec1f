"""Matrices that record how they were computed, and the operations that compute them.

Every renderer reads a `Matrix`: numbers, labels, a name, and the operation and parents that produced
it. Its arithmetic, `q @ k.T`, `scores / sqrt(d_k)`, makes new ones, with or without their numbers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_xl.errors import InputError, NotFinite, ShapeError
from attn_xl.labelled import Labelled
from attn_xl.records import record
from attn_xl.text import clean

from .extent import HIDES, Extent, extent_of
from .step import ARITHMETIC as BY_ARITHMETIC
from .step import WHOLE, Part, Recipe, Role, Scope, Step
from .terms import ATOM, NoArray, Operand, Reads, Said, Term

Numbers = NDArray[np.float64]

MOST_NUMBERS = 100_000_000
"""Numbers in one computation, at most: 0.8 GB."""
LONGEST_FORMULA = 50
"""References and operations in one formula, at most; a spreadsheet takes 64 nested functions and
8,192 characters."""
LONGEST_OPERAND = 60
"""Characters of an unnamed step's words, at most, to include in the words of the next step."""
ARITHMETIC: dict[str, Callable[..., Matrix]] = {}
"""The functions behind `+`, `-`, `*`, `/`, `@` and `T`, which the modules of `operations` define."""
_made = itertools.count()
_scopes: ContextVar[tuple[Scope, ...]] = ContextVar("scopes of new steps", default=())
_foreseen: ContextVar[list[int] | None] = ContextVar("numbers so far", default=None)


@contextmanager
def inside(*scopes: Scope) -> Iterator[None]:
    """In the block, steps are made inside these scopes: `pets.Scores`."""
    before = _scopes.set(scopes)
    try:
        yield
    finally:
        _scopes.reset(before)


def created() -> int:
    """The next number in the order of creation."""
    return next(_made)


@record(frozen=True, eq=False, repr=False)
class Cells:
    """The cells that hold the numbers of a matrix: its own, or some of another matrix's.

    Attributes:
        node: the matrix that has cells.
        shape: the numbers of rows and columns, as the reader sees them.
        row, column: the position of the first cell within `node`, from 0.
        turned: whether rows and columns are swapped.
    """

    node: Matrix
    shape: tuple[int, int]
    row: int = 0
    column: int = 0
    turned: bool = False


class Operation:
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

    def numbers(self, *operands: Numbers) -> Numbers:
        """The result's numbers."""
        raise NotImplementedError

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        """The formula of one cell, without the equals sign. `row` matters only where
        `same_in_every_row` is False."""
        raise NotImplementedError

    def array(self, *operands: Operand) -> str:
        """The formula for the whole matrix, without the equals sign.

        Raises:
            NoArray: if there is none that all spreadsheet programs compute; cells have their own.
        """
        raise NoArray

    def words(self, *operands: str) -> str:
        """The whole step, with the operands' symbols."""
        raise NotImplementedError

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        """How one cell was computed, in the terms of the operands. `own` is the result."""
        raise NotImplementedError

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

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        """The labels of the rows and columns of its result: those of its first operand."""
        return operands[0].rows, operands[0].columns

    def __call__(
        self, *operands: Matrix, rows: Sequence[str] = (), columns: Sequence[str] = ()
    ) -> Matrix:
        """The result for these matrices; with other labels, if these are given.

        Raises:
            InputError: if the result has too many numbers, or one that is infinite or NaN.
            TypeError: if an operand holds words.
        """
        own = self.labels(*operands)
        rows, columns = rows or own[0], columns or own[1]
        scalar = len(rows) == len(columns) == 1 and all(operand.scalar for operand in operands)
        return made(self, operands, rows, columns, scalar=scalar)

    def recipe(self, *operands: Matrix) -> Recipe:
        """How a cell is computed by hand, where the step has no recipe of its own."""
        return BY_ARITHMETIC

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


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Labelled):
    """A matrix, its labels, and how it was computed; immutable.

    Attributes:
        values: shape (rows, columns), float64, read-only.
        rows, columns: a label for each row and column.
        operation: the operation that produced it, or None if it was given.
        parents: the operands, in order.
        name: the symbol (`Scores`), or "" for a step inside a larger formula.
        note: a plain sentence on what it shows.
        role: what it is to the reader: an input to edit, a learned weight, a computed value, or
            attention weights.
        sheet: the sheet it is shown on, if not its own.
        helper: whether it is shown beside the step that uses it (a row's maximum beside the softmax).
        scalar: whether it is one number, belongs to no word and appears in formulas by name: `d_k`.
        texts: words that its single column shows instead of numbers.
        description: the step in words, if more precise than the operation's own.
        noun: its name if it needs cells but has no name, if more precise than the operation's own
            noun: `Softmax`, not `Quotient`.
        unnamed: whether its name was generated because it needs cells.
        step: its step of a model; None for a matrix outside models.
        part: its place in the model: layer and head.
        rules: its own rules for gradients, by the matrix that they are for: see
            `Matrix.differentiated`.
    """

    values: Numbers
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    operation: Operation | None = None
    parents: tuple[Matrix, ...] = ()
    name: str = ""
    note: str = ""
    role: Role = "value"
    sheet: str = ""
    helper: bool = False
    scalar: bool = False
    texts: tuple[str, ...] | None = None
    description: str = ""
    noun: str = ""
    unnamed: bool = False
    step: Step | None = None
    part: Part = WHOLE
    rules: Mapping[Matrix, Callable[[Any, Any], Any]] | None = None
    order: int = field(default_factory=created)

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.flags.writeable:
            # Adding 0.0 copies, and turns -0.0, which spreadsheets do not have, into 0.0.
            values = values + 0.0
        if values.ndim != 2 or values.shape != (len(self.rows), len(self.columns)):
            raise ShapeError(
                f"{self.name or 'a matrix'} has values of shape {values.shape} but "
                f"{len(self.rows)} row and {len(self.columns)} column labels"
            )
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        if self.operation is None:
            object.__setattr__(self, "rows", _clean(tuple(self.rows)))
            object.__setattr__(self, "columns", _clean(tuple(self.columns)))
        self._check_finite()

    def _check_finite(self) -> None:
        values = self.values
        seen = values if any(values.strides) else values[:1, :1]  # one number everywhere
        if not np.isfinite(seen).all():
            row, column = np.argwhere(~np.isfinite(seen))[0]
            why = (
                "0 / 0, the root of a negative number and numbers that are too large give no result"
                if np.isnan(values[row, column])
                else "the numbers are too large to compute with, or were divided by 0"
            )
            raise NotFinite(
                f"{self.words or self.name or 'a step'} gives {values[row, column]} at "
                f"[{self.rows[row]}, {self.columns[column]}]: {why}. Change the embeddings or "
                "weights, or make them smaller."
            )

    def fill(self, values: Numbers) -> None:
        """Set the numbers of a matrix that was made without them, in a loop.

        Raises:
            NotFinite: if one is infinite or NaN.
        """
        values = values + 0.0
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        self._check_finite()

    def _title(self) -> str:
        name = self.name or "matrix"
        return f"{name} = {self.words}" if self.words else name

    def _cells(self) -> NDArray[Any]:
        return super()._cells() if self.texts is None else np.array([[text] for text in self.texts])

    def is_step(self, *steps: Step) -> bool:
        """Whether it is one of these steps, in any layer and head and with any recipe."""
        return self.step is not None and self.step.symbol in {step.symbol for step in steps}

    @property
    def base_name(self) -> str:
        """Its name without layer and head: `Scores` of `Enc1.Scores_2`, `Norm_1` of `Enc1.Norm_1`."""
        return (
            self.step.symbol + (f"_{self.part.number}" if self.part.number else "")
            if self.step
            else self.name
        )

    @property
    def largest(self) -> float:
        """The largest absolute value of its numbers."""
        return float(max(self.values.max(), -self.values.min()))

    @property
    def hides(self) -> bool:
        """Whether any of its numbers is low enough to hide a word."""
        return bool((self.values <= HIDES).any())

    @property
    def may_hide(self) -> bool:
        """Whether it is a mask or has one added, so that low numbers hide words, now or after a switch
        changes."""
        return self.step is not None and self.step.hides

    def extent(self, seen: Numbers | None = None) -> Extent:
        """How far its numbers reach, or those of `seen` in their place."""
        if seen is None or seen is self.values:
            return self._extent
        return self._extent_of(seen)

    @cached_property
    def _extent(self) -> Extent:
        return self._extent_of(self.values)

    def _extent_of(self, values: Numbers) -> Extent:
        return extent_of(values, hides=self.may_hide, shares=self.role == "attention")

    @cached_property
    def words(self) -> str:
        """How it was computed, in the symbols of a textbook: `Q × Kᵀ`."""
        if self.description or self.operation is None:
            return self.description
        return self.operation.words(*[parent.as_operand for parent in self.parents])

    @cached_property
    def as_operand(self) -> str:
        """The text for it in the words of a step that reads it: its name, or its own words."""
        named = self.name and not (self.unnamed and 0 < len(self.words) <= LONGEST_OPERAND)
        return self.name if named else self.words

    def named(
        self,
        name: str,
        note: str = "",
        *,
        role: Role | None = None,
        sheet: str = "",
        helper: bool = False,
    ) -> Matrix:
        """The same matrix under a name, which gives it its own cells in a workbook."""
        return replace(
            self,
            name=name,
            note=note,
            role=role or self.role,
            sheet=sheet,
            helper=helper,
            unnamed=False,
            order=created(),
        )

    def as_step(self, step: Step, part: Part = WHOLE, *, note: str = "", sheet: str = "") -> Matrix:
        """The same matrix as a step of a model, named after the step's symbol and its part.

        Args:
            step: the step.
            part: its layer and head.
            note: what it shows, if that differs from the step's own note.
            sheet: the sheet it is shown on, if that is not its own.
        """
        name = part.name(step.symbol)
        for scope in reversed(_scopes.get()):
            part = part.around(scope)
        if self.scalar or not step.helper:  # another helper is named after the step beside it
            name = part.name(step.symbol)
        matrix = self.named(name, note or step.note, role=step.role, sheet=sheet, helper=step.helper)
        return replace(matrix, step=step, part=part)

    def described(self, words: str, noun: str = "") -> Matrix:
        """The same matrix with a different description of how it was computed."""
        return replace(self, description=words, noun=noun)

    __array_ufunc__ = None
    """Makes a NumPy number on the left defer to the arithmetic of the matrix."""

    @property
    def T(self) -> Matrix:
        """Rows and columns swapped."""
        return ARITHMETIC["T"](self)

    @cached_property
    def in_cells(self) -> Matrix:
        """The same matrix with its own cells: itself if it has a name, otherwise a helper that is shown
        beside the step that reads it."""
        if self.name:
            return self
        noun = self.noun or (operation_of(self).noun if self.operation else "Given")
        made_up = self.named(noun, self.words or "given", helper=True)
        return replace(made_up, scalar=False, unnamed=True)

    def differentiated(self, rules: Mapping[Matrix, Callable[[Matrix, Matrix], Matrix]]) -> Matrix:
        """The same matrix with its own rules for gradients, in place of those of its helpers.

        Args:
            rules: for each matrix that it depends on, the function that returns how a loss changes
                with it, from this matrix and how the loss changes with this matrix.
        """
        return replace(self, rules={**rules})

    def __matmul__(self, other: Matrix) -> Matrix:
        if not isinstance(other, Matrix):
            return NotImplemented
        return ARITHMETIC["@"](self, other)

    def __add__(self, other: Matrix | float) -> Matrix:
        return ARITHMETIC["+"](self, other)

    def __radd__(self, other: float) -> Matrix:
        return ARITHMETIC["+"](other, self)

    def __sub__(self, other: Matrix | float) -> Matrix:
        return ARITHMETIC["-"](self, other)

    def __rsub__(self, other: float) -> Matrix:
        return ARITHMETIC["-"](other, self)

    def __mul__(self, other: Matrix | float) -> Matrix:
        return ARITHMETIC["*"](self, other)

    def __rmul__(self, other: float) -> Matrix:
        return ARITHMETIC["*"](other, self)

    def __neg__(self) -> Matrix:
        return ARITHMETIC["*"](-1, self)

    def __truediv__(self, other: Matrix | float) -> Matrix:
        return ARITHMETIC["/"](self, other)

    def __rtruediv__(self, other: float) -> Matrix:
        return ARITHMETIC["/"](other, self)


@lru_cache(256)  # the weights of all layers have the same labels
def _clean(labels: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(map(clean, labels))


def operation_of(node: Matrix) -> Operation:
    """The operation that produced a computed matrix."""
    assert node.operation is not None
    return node.operation


def formula_size(node: Matrix) -> int:
    """The number of references and operations that `node` adds to a formula that reads it."""
    if node.name or node.operation is None:
        return 1
    operation = operation_of(node)
    sizes = [formula_size(parent) for parent in node.parents]
    return 1 + operation.repeats * (max(sizes) if operation.reads_one else sum(sizes))


def cells_of(node: Matrix) -> Cells | None:
    """The cells of a matrix: its own if it has a name; those of the matrix that it is a part or a view
    of; None if a formula has to compute it."""
    if node.name:
        return Cells(node, node.shape)
    if node.operation is None or len(node.parents) != 1:
        return None
    of = cells_of(node.parents[0])
    return operation_of(node).cells(of) if of else None


def view_of(node: Matrix) -> Cells | None:
    """The cells of its operand that a matrix repeats if it is a copy, some columns or a transpose,
    whether or not it has cells of its own; None if it is neither."""
    if node.operation is None or len(node.parents) != 1:
        return None
    (parent,) = node.parents
    return operation_of(node).cells(Cells(parent, parent.shape))


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
