"""Functions that models are written in, besides arithmetic: the operations of `operations/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attn_xl.errors import InputError, ShapeError
from attn_xl.text import OFF, ON

from .extent import HIDES
from .matrix import Matrix, made
from .operations.elementwise import NEGATIVE_LOG, AtMost, Copy, constant, gelu, gelu_tanh, relu, silu
from .operations.elementwise import NEXT_DRAW as NEXT_DRAW
from .operations.elementwise import Power as Power
from .operations.elementwise import angle as angle
from .operations.elementwise import cos as cos
from .operations.elementwise import exp as exp
from .operations.elementwise import rounded as rounded
from .operations.elementwise import sigmoid as sigmoid
from .operations.elementwise import sin as sin
from .operations.elementwise import sqrt as sqrt
from .operations.elementwise import tanh as tanh
from .operations.positions import HIDDEN, Count, Mask, When
from .operations.positions import Angle as Angle
from .operations.positions import Distance as Distance
from .operations.positions import QuarterTurn as QuarterTurn
from .operations.positions import Sinusoid as Sinusoid
from .operations.products import Additive, Apart, Dot
from .operations.reductions import (
    Best,
    BlockNorms,
    Largest,
    Maximum,
    Mean,
    RunningSum,
    Squares,
    Sum,
    Variance,
    Width,
)
from .operations.selection import Chosen, Columns, Concat, Gather, OneHot, Repeated, Shift

copy = Copy()
"""The same numbers under another name."""
row_maximum, row_sum, row_mean, row_squares = Maximum(), Sum(), Mean(), Squares()
"""(n, m) to (n, 1): the largest number, the sum, the mean, the sum of the squares of each row."""
column_maximum, column_sum = Maximum(columns=True), Sum(columns=True)
"""(n, m) to (1, m): the largest number, the sum of each column."""
column_mean = Mean(columns=True)
"""(n, m), (k, m), ... to (1, m): the mean of each column over the rows of all matrices."""
column_variance = Variance(columns=True, sample=True)
"""(n, m) to (1, m): the variance of each column, with n - 1 as divisor."""
row_dot = Dot()
"""(n, m) and (n, m) to (n, 1): the dot product of each row of one with the same row of the other."""
running_sum = RunningSum()
"""(n, m): the sum of each number and those to its left in its row."""
largest = Largest()
"""(n, m): 1 at the largest number of each row, the first of equal ones, else 0."""
at_most = AtMost()
"""(n, m) and a scalar to (n, m): 1 where a number is at most the scalar, 0 elsewhere."""
negative_log = NEGATIVE_LOG
"""The negative natural logarithm of each number of x, (n, m). If x = e^(-gap) / total, it may be given
total and gap, (n, m) each: then an x of 0 has a logarithm."""
concat = Concat()
"""(n, a), (n, b), ... to (n, a + b + ...): side by side."""


def option(
    value: float, name: str, note: str, *, sheet: str = "Options", text: str | None = None
) -> Matrix:
    """A given scalar that a reader can edit, such as the temperature: a line on `sheet`, named `name`;
    `text` is what the cell shows if not a number."""
    return Matrix(
        np.array([[value]]), (name,), ("value",), name=name, note=note, role="input",
        sheet=sheet, scalar=True, texts=None if text is None else (text,),
    )  # fmt: skip


def switch(on: bool, name: str, note: str, *, sheet: str) -> Matrix:
    """A scalar that is on (1) or off (0)."""
    return option(float(on), name, note, sheet=sheet, text=ON if on else OFF)


def texts(labels: Sequence[str], rows: Sequence[str], column: str, among: Sequence[str]) -> Matrix:
    """(n, 1): given texts, one for each row; the number of a text is its position in `among`, "
    "from 1."""
    numbers = np.array([[among.index(label) + 1.0] for label in labels])
    return Matrix(numbers, tuple(rows), (column,), texts=tuple(labels))


def one_hot(
    labels: Matrix, columns: Sequence[str], rows: Sequence[str] = (), row: int | None = None
) -> Matrix:
    """(n, 1) texts to (n, m): 1 in the column with the text as its label, 0 elsewhere; with `row`,
    counted from 0, of one of the texts only, which becomes the single row of `rows`."""
    operation = OneHot(tuple(columns), row)
    return made(operation, (labels,), rows or labels.rows, columns)


def one_in_cell(like: Matrix, number: int, matrix: Matrix, row: Matrix, column: Matrix) -> Matrix:
    """(n, m): 1 in the cell of `row` and `column`, scalars from 1, if the scalar `matrix` is `number`;
    0 elsewhere."""
    return made(Chosen(number, like.shape), (matrix, row, column), like.rows, like.columns)


def when(chosen: Matrix, if_on: Matrix | float, if_off: Matrix | float) -> Matrix:
    """One of two scalars or matrices of one shape, depending on a switch."""
    on, off = (side if isinstance(side, Matrix) else constant(side) for side in (if_on, if_off))
    return made(When(), (chosen, on, off), on.rows, on.columns, scalar=on.scalar and off.scalar)


def width(x: Matrix) -> Matrix:
    """The number of columns of `x`, as a scalar."""
    return made(Width(), (x,), ("",), ("",), scalar=True)


def additive(q: Matrix, k: Matrix, v: Matrix) -> Matrix:
    """v · tanh(q + k) of each row of two matrices, (n, d), (m, d) and (1, d) to (n, m).

    Raises:
        ShapeError: if the shapes do not fit.
    """
    if not q.shape[1:] == k.shape[1:] == v.shape[1:] or len(v.rows) != 1:
        raise ShapeError(f"cannot compare {q.shape} and {k.shape} by {v.shape}: they differ in width.")
    return Additive()(q, k.T, v)


def distances(x: Matrix) -> Matrix:
    """(n, d) to (n, n): the Euclidean distance of each two rows."""
    return Apart()(x, x.T)


def gather(picks: Sequence[tuple[Matrix, int]], rows: Sequence[str]) -> Matrix:
    """A matrix of rows from other matrices: row i is `picks[i] = (matrix, its row)`."""
    sources = tuple(dict.fromkeys(matrix for matrix, _ in picks))
    chosen = tuple((sources.index(matrix), row) for matrix, row in picks)
    return made(Gather(chosen), sources, rows, sources[0].columns)


def shifted(x: Matrix, offset: int, beyond: Matrix) -> Matrix:
    """(n, m) to (n, m): row t is row t + `offset` of `x`, or the row `beyond` (1, m) past its ends."""
    return made(Shift.by(offset, len(x.rows)), (x, beyond), x.rows, x.columns)


def columns(x: Matrix, start: int, stop: int) -> Matrix:
    """(n, m) to (n, stop - start): neighbouring columns, counted from 0."""
    return made(Columns(start, stop), (x,), x.rows, x.columns[start:stop])


def best(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): for each row the label of the column with its largest number."""
    return with_texts(made(Best(), (x,), x.rows, ("word",)))


def with_texts(best: Matrix) -> Matrix:
    """The result of `best` with the labels that its numbers stand for."""
    labels = best.parents[0].columns
    return replace(best, texts=tuple(labels[int(i) - 1] for i in best.values[:, 0]))


def mask(
    rows: Sequence[str],
    words: Sequence[str],
    *,
    causal: bool | Matrix = False,
    padding: Sequence[str] = (),
    window: Matrix | None = None,
    first: int = 0,
) -> Matrix:
    """(n, m): the mask to add to the scores so that no word looks at later ones (`causal`: True, False
    or a switch), at padding, or at words outside a window of this width. `first` is the
    place of the first word of the rows."""
    switched = isinstance(causal, Matrix)
    cells = tuple(cell for cell in (causal, window) if isinstance(cell, Matrix))
    operation = Mask(
        len(rows), tuple(words), causal is True, tuple(padding), switched, window is not None, first
    )
    return made(operation, cells, rows, words)


def masked(scores: Matrix, masks: Sequence[Matrix]) -> Matrix:
    """(n, m): the scores plus masks, (n, m) or (1, m) each.

    Raises:
        InputError: if the scores are too large for a mask to hide a word.
    """
    if scores.largest > -HIDES and any(one.hides for one in masks):
        raise InputError(
            f"the scores go up to {scores.largest:.3g} in size, too large to be masked: {HIDDEN:.0e} "
            f"added to them hides a word up to {-HIDES:.0e}. Make the embeddings or weights smaller."
        )
    for one in masks:
        scores = scores + one
    return scores


def counted(first: int, rows: Sequence[str]) -> Matrix:
    """(n, 1): first, first + 1, ..."""
    return made(Count(first, len(rows)), (), rows, ("count",))


def repeated(x: Matrix, rows: Sequence[str]) -> Matrix:
    """(n, m): a single row or number (1, m) in each of n rows."""
    return made(Repeated(len(rows), len(x.columns)), (x,), rows, x.columns)


def block_norms(
    parts: Sequence[Matrix], each: int, rows: Sequence[str], columns: Sequence[str]
) -> Matrix:
    """(n, d), (n, d), ... to (k, n): in row i the norm of each row of the parts i · each, ...,
    (i + 1) · each - 1 together."""
    return made(BlockNorms(each), tuple(parts), rows, columns)


def row_variance(x: Matrix, *, sample: bool = False) -> Matrix:
    """(n, m) to (n, 1): the variance of each row, divided by m, or by m - 1 (`sample`).

    Raises:
        InputError: if a single number has to give a sample variance.
    """
    if sample and len(x.columns) < 2:
        raise InputError(
            f"{x.name or x.words} has one column, and a single number has no sample variance, which "
            "divides by n - 1. Use --norm-variance population."
        )
    return made(Variance(sample=sample), (x,), x.rows, ("variance",))


ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu-tanh": gelu_tanh, "silu": silu}


def activation(x: Matrix, kind: str) -> Matrix:
    """`relu`: max(0, x). `gelu`: x Φ(x), with Φ the normal distribution (Hendrycks, Gimpel, 2016).
    `gelu-tanh`: the same, approximated by tanh. `silu`: x / (1 + e^-x) (the same paper)."""
    return ACTIVATIONS[kind](x)
