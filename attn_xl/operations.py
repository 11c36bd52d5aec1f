"""The arithmetic of matrices that remember: what models are written in.

Few primitives (`primitives.py`, `catalogue.py`); what can be written with them, such as softmax, is
composed of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .catalogue import (
    ACOS,
    ADD,
    DIVIDE,
    EXP,
    GELU,
    GELU_TANH,
    MAXIMUM,
    MEAN,
    MULTIPLY,
    RELU,
    SQRT,
    SQUARES,
    SUBTRACT,
    SUM,
    VARIANCE,
)
from .chosen import HIDDEN, OFF, ON, ColumnMean, ColumnVariance, Find, Mask, Picked, Sinusoid, When
from .errors import InputError
from .matrix import HIDES, Node, Role
from .operation import Operation
from .primitives import (
    Best,
    Columns,
    Concat,
    Constant,
    Copy,
    Gather,
    Product,
    Transpose,
    Width,
)

MOST_NUMBERS = 100_000_000
"""So many numbers are computed at once: 0.8 GB of them."""
_foreseen: ContextVar[list[int] | None] = ContextVar("numbers so far", default=None)


class Matrix(Node):
    """A node with arithmetic: `q @ k.T`, `scores / sqrt(d_k)`, `x - maximum`."""

    @property
    def T(self) -> Matrix:
        """Rows and columns swapped, for the right side of a product."""
        return _made(Transpose(), (self,), self.columns, self.rows)

    def __matmul__(self, other: Matrix) -> Matrix:
        if not isinstance(other, Matrix):
            return NotImplemented
        if len(self.columns) != len(other.rows):
            raise ValueError(f"cannot multiply {self.shape} by {other.shape}")
        return _made(Product(), (self, other), self.rows, other.columns)

    __array_ufunc__ = None
    """A number of numpy's, on the left, leaves the arithmetic to the matrix."""

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


def _elementwise(operation: Operation, left: Matrix | float, right: Matrix | float) -> Matrix:
    for side in (left, right):
        if not isinstance(side, (Matrix, Real)):
            raise TypeError(f"a matrix goes with a matrix or a number, not with {type(side).__name__}")
    left, right = (side if isinstance(side, Matrix) else _constant(side) for side in (left, right))
    if left.scalar:
        tall = wide = right
    else:
        tall = right if len(right.rows) > len(left.rows) else left
        wide = right if len(right.columns) > len(left.columns) else left
    scalar = left.scalar and right.scalar
    return _made(operation, (left, right), tall.rows, wide.columns, scalar=scalar)


def _constant(value: float) -> Matrix:
    return _made(Constant(value), (), ("",), ("",), scalar=True)


def _made(
    operation: Operation,
    parents: tuple[Matrix, ...],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    scalar: bool = False,
) -> Matrix:
    foreseen = _foreseen.get()
    _check_size(operation, parents, (len(rows), len(columns)), foreseen or [0])
    if foreseen is not None:
        values = np.broadcast_to(1.0, (len(rows), len(columns)))
    else:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a node refuses infinities
            values = operation.numbers(*(parent.values for parent in parents))
    return Matrix(values, tuple(rows), tuple(columns), operation, parents, scalar=scalar)


def _check_size(
    operation: Operation, parents: tuple[Matrix, ...], shape: tuple[int, int], so_far: list[int]
) -> None:
    """Refuse a matrix before its numbers are computed, counting those of the ones before it."""
    so_far[0] += shape[0] * shape[1]
    if so_far[0] > MOST_NUMBERS:
        words = operation.words(*(parent.name or parent.words for parent in parents))
        raise InputError(
            f"the step {words!r} has {shape[0]:,} x {shape[1]:,} numbers, with which there are "
            f"{so_far[0]:,} to compute; {MOST_NUMBERS:,} are the most. Use fewer words (--range takes "
            "a part of a table), layers or heads."
        )


@contextmanager
def shapes_only() -> Iterator[None]:
    """In the block, matrices are made without computing: their numbers are all 1 and take no memory. So
    it is seen how large they will be.

    Raises:
        InputError: as soon as there are more than 100,000,000 numbers.
    """
    before = _foreseen.set([0])
    try:
        yield
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


def option(
    value: float, name: str, note: str, *, sheet: str = "Options", text: str | None = None
) -> Matrix:
    """A scalar that is given and may be edited, such as the temperature: a line on the sheet
    `sheet`, named `name`; `text` is what it shows where that is no number."""
    return Matrix(
        np.array([[value]]), (name,), ("value",), name=name, note=note, role="input",
        sheet=sheet, scalar=True, texts=None if text is None else (text,),
    )  # fmt: skip


def switch(on: bool, name: str, note: str, *, sheet: str) -> Matrix:
    """A scalar that is on (1) or off (0)."""
    return option(float(on), name, note, sheet=sheet, text=ON if on else OFF)


def when(chosen: Matrix, if_on: Matrix | float, if_off: Matrix | float) -> Matrix:
    """A scalar that depends on a switch."""
    choices = (side if isinstance(side, Matrix) else _constant(side) for side in (if_on, if_off))
    return _made(When(), (chosen, *choices), ("",), ("",), scalar=True)


def find(word: Matrix, words: Matrix) -> Matrix:
    """Where a chosen word stands in a column of words, from 1, as a scalar."""
    plain = not any(len(text) > 255 or set(text) & set("*?~") for text in words.texts or ())
    return _made(Find(plain), (word, words), ("",), ("",), scalar=True)


def picked(x: Matrix, row: Matrix) -> Matrix:
    """(n, m) to (m, 1): the row of `x` whose number, from 1, is the scalar `row`."""
    return _made(Picked(), (x, row), x.columns, ("value",))


def column_mean(parts: Sequence[Matrix]) -> Matrix:
    """(n, m), (k, m), ... to (1, m): the mean of each column over the rows of all."""
    return _made(ColumnMean(), tuple(parts), ("mean",), parts[0].columns)


def column_variance(x: Matrix) -> Matrix:
    """(n, m) to (1, m): the variance of each column, with n − 1 as divisor."""
    return _made(ColumnVariance(), (x,), ("variance",), x.columns)


def copy(x: Matrix) -> Matrix:
    """The same numbers under another name."""
    return _made(Copy(), (x,), x.rows, x.columns)


def exp(x: Matrix) -> Matrix:
    """e to the power of each number."""
    return _made(EXP, (x,), x.rows, x.columns, scalar=x.scalar)


def sqrt(x: Matrix) -> Matrix:
    """The square root of each number."""
    return _made(SQRT, (x,), x.rows, x.columns, scalar=x.scalar)


def row_maximum(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the largest number of each row."""
    return _made(MAXIMUM, (x,), x.rows, ("maximum",))


def row_sum(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the sum of each row."""
    return _made(SUM, (x,), x.rows, ("sum",))


def width(x: Matrix) -> Matrix:
    """The number of columns of `x`, as a scalar."""
    return _made(Width(), (x,), ("",), ("",), scalar=True)


def gather(picks: Sequence[tuple[Matrix, int]], rows: Sequence[str]) -> Matrix:
    """A matrix of rows picked out of others: row i is `picks[i] = (matrix, its row)`."""
    sources = tuple(dict.fromkeys(matrix for matrix, _ in picks))
    chosen = tuple((sources.index(matrix), row) for matrix, row in picks)
    return _made(Gather(chosen), sources, rows, sources[0].columns)


def columns(x: Matrix, start: int, stop: int) -> Matrix:
    """(n, m) to (n, stop - start): neighbouring columns, counted from 0."""
    return _made(Columns(start, stop), (x,), x.rows, x.columns[start:stop])


def concat(parts: Sequence[Matrix]) -> Matrix:
    """(n, a), (n, b), ... to (n, a + b + ...): side by side."""
    labels = [label for part in parts for label in part.columns]
    return _made(Concat(), tuple(parts), parts[0].rows, labels)


def best(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): for each row the label of the column with its largest number."""
    made = _made(Best(), (x,), x.rows, ("word",))
    return replace(made, texts=tuple(x.columns[int(i) - 1] for i in made.values[:, 0]))


def mask(
    rows: Sequence[str],
    words: Sequence[str],
    *,
    causal: bool | Matrix = False,
    padding: Sequence[str] = (),
) -> Matrix:
    """(n, m): what to add to the scores so that no word looks at later ones (`causal`, or as a switch
    says), or at padding."""
    switches = (causal,) if isinstance(causal, Matrix) else ()
    operation = Mask(len(rows), tuple(words), causal is True, tuple(padding))
    return _made(operation, switches, rows, words)


def masked(scores: Matrix, masks: Sequence[Matrix]) -> Matrix:
    """(n, m): the scores with masks, (n, m) each, added.

    Raises:
        InputError: if the scores are so large that what a mask adds would not hide a word.
    """
    if scores.largest > -HIDES and any(mask.hides for mask in masks):
        raise InputError(
            f"the scores go up to {scores.largest:.3g} in size, too large to be masked: {HIDDEN:.0e} "
            f"added to them hides a word up to {-HIDES:.0e}. Make the embeddings or weights smaller."
        )
    for mask in masks:
        scores = scores + mask
    return scores


def sinusoid(x: Matrix) -> Matrix:
    """(n, d): the sinusoidal positions for embeddings (n, d).

    Source: Vaswani et al., "Attention Is All You Need" (2017), 3.5.
    """
    return _made(Sinusoid(), (x,), x.rows, x.columns)


def row_mean(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the mean of each row."""
    return _made(MEAN, (x,), x.rows, ("mean",))


def row_variance(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the population variance of each row."""
    return _made(VARIANCE, (x,), x.rows, ("variance",))


def row_squares(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the sum of the squares of each row."""
    return _made(SQUARES, (x,), x.rows, ("magnitude",))


def angle(x: Matrix) -> Matrix:
    """The angle, in degrees, whose cosine each number is."""
    return _made(ACOS, (x,), x.rows, x.columns)


ACTIVATIONS = {"relu": RELU, "gelu": GELU, "gelu-tanh": GELU_TANH}


def activation(x: Matrix, kind: str) -> Matrix:
    """`relu`: max(0, x). `gelu`: x Φ(x), with Φ the normal distribution (Hendrycks, Gimpel, 2016).
    `gelu-tanh`: the same, approximated by tanh."""
    return _made(ACTIVATIONS[kind], (x,), x.rows, x.columns)


def softmax(x: Matrix) -> Matrix:
    """Each row turned into positive weights that sum to 1: exp(x) / sum(exp(x)), row by row.

    The row's maximum is subtracted first, which changes nothing but keeps exp from overflowing.
    The maximum, the exponentials and their sum stay visible beside the result.

    Args:
        x: scores, (n, m).

    Returns:
        Weights, (n, m).

    Raises:
        InputError: never for finite scores, which a matrix always has.

    Source: Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs"
    (1990); the shift by the maximum as in Goodfellow, Bengio, Courville, "Deep Learning", 4.1.
    """
    maximum = row_maximum(x).named("Maximum", "the largest score of the row", helper=True)
    exponentials = exp(x - maximum).named("Exponentials", "e^(score − maximum)", helper=True)
    total = row_sum(exponentials).named("Sum", "what the exponentials add up to", helper=True)
    return (exponentials / total).described(f"softmax({x.name or x.words})")
