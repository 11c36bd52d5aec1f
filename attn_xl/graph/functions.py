"""Functions that models are written in, besides arithmetic: one for each operation in `operations/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.operations.elementwise import (
    NEGATIVE_LOG,
    NEXT_DRAW,
    AtMost,
    Copy,
    Power,
    gelu,
    gelu_tanh,
    relu,
    silu,
)
from attn_xl.graph.operations.elementwise import angle as angle
from attn_xl.graph.operations.elementwise import cos as cos
from attn_xl.graph.operations.elementwise import exp as exp
from attn_xl.graph.operations.elementwise import rounded as rounded
from attn_xl.graph.operations.elementwise import sigmoid as sigmoid
from attn_xl.graph.operations.elementwise import sin as sin
from attn_xl.graph.operations.elementwise import sqrt as sqrt
from attn_xl.graph.operations.elementwise import tanh as tanh
from attn_xl.graph.operations.positions import (
    HIDDEN,
    Angle,
    Count,
    Distance,
    Mask,
    QuarterTurn,
    Sinusoid,
    When,
)
from attn_xl.graph.operations.products import Dot
from attn_xl.graph.operations.reductions import (
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
from attn_xl.graph.operations.selection import (
    Chosen,
    Columns,
    Concat,
    Gather,
    OneHot,
    Repeated,
    Shift,
)
from attn_xl.text import OFF, ON

from .extent import HIDES
from .matrix import Matrix, made
from .operations.elementwise import constant


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


def column_maximum(x: Matrix) -> Matrix:
    """(n, m) to (1, m): the largest number of each column."""
    return made(Maximum(columns=True), (x,), ("maximum",), x.columns)


def row_dot(x: Matrix, y: Matrix) -> Matrix:
    """(n, m) and (n, m) to (n, 1): the dot product of each row of `x` with the same row of `y`."""
    return made(Dot(), (x, y), x.rows, ("product",))


def column_sum(x: Matrix) -> Matrix:
    """(n, m) to (1, m): the sum of each column."""
    return made(Sum(columns=True), (x,), ("sum",), x.columns)


def column_mean(parts: Sequence[Matrix]) -> Matrix:
    """(n, m), (k, m), ... to (1, m): the mean of each column over the rows of all parts."""
    return made(Mean(columns=True), tuple(parts), ("mean",), parts[0].columns)


def column_variance(x: Matrix) -> Matrix:
    """(n, m) to (1, m): the variance of each column, with n - 1 as divisor."""
    return made(Variance(columns=True, sample=True), (x,), ("variance",), x.columns)


def copy(x: Matrix) -> Matrix:
    """The same numbers under another name."""
    return made(Copy(), (x,), x.rows, x.columns)


def negative_log(x: Matrix, shares: tuple[Matrix, Matrix] | None = None) -> Matrix:
    """The negative natural logarithm of each number.

    Args:
        x: the numbers, (n, m).
        shares: total and gap, (n, m) each, if x = e^(-gap) / total: then an x of 0 has a logarithm.

    Raises:
        NotFinite: if a number is not above 0.
    """
    return made(NEGATIVE_LOG, (x, *(shares or ())), x.rows, x.columns, scalar=x.scalar)


def power(x: Matrix, exponent: int) -> Matrix:
    """Each number to the power of a whole number."""
    return made(Power(exponent), (x,), x.rows, x.columns, scalar=x.scalar)


def row_maximum(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the largest number of each row."""
    return made(Maximum(), (x,), x.rows, ("maximum",))


def row_sum(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the sum of each row."""
    return made(Sum(), (x,), x.rows, ("sum",))


def width(x: Matrix) -> Matrix:
    """The number of columns of `x`, as a scalar."""
    return made(Width(), (x,), ("",), ("",), scalar=True)


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


def concat(parts: Sequence[Matrix]) -> Matrix:
    """(n, a), (n, b), ... to (n, a + b + ...): side by side."""
    labels = [label for part in parts for label in part.columns]
    return made(Concat(), tuple(parts), parts[0].rows, labels)


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
    """(n, m): the scores plus masks, (n, m) each.

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


def sinusoid(x: Matrix, first: int = 0) -> Matrix:
    """(n, d): the sinusoidal positions for embeddings (n, d), of which the first stands at `first`.

    Source: Vaswani et al., "Attention Is All You Need" (2017), 3.5.
    """
    return made(Sinusoid(first), (x,), x.rows, x.columns)


def angles(
    base: Matrix, rows: Sequence[str], width: int, *, neighbours: bool, first: int = 0
) -> Matrix:
    """(n, r): the angles by which rotary positions turn n words, starting at position `first`; the two
    columns of a pair, `1a` and `1b`, have the same.

    Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021), 3.2.
    """
    operation = Angle(len(rows), width, neighbours, first)
    half = width // 2
    members = [(j // 2, j % 2) if neighbours else (j % half, j // half) for j in range(width)]
    labels = [f"{pair + 1}{'ab'[member]}" for pair, member in members]
    return made(operation, (base,), rows, labels)


def turned(x: Matrix, *, neighbours: bool) -> Matrix:
    """(n, r): each pair (a, b) of columns as (-b, a), a quarter turn."""
    return made(QuarterTurn(neighbours), (x,), x.rows, x.columns)


def distance(x: Matrix, first: int = 0) -> Matrix:
    """(n, m): how many words apart the words of the rows and columns of `x` stand. The first of the
    rows stands at `first`."""
    return made(Distance(first), (x,), x.rows, x.columns)


def counted(first: int, rows: Sequence[str]) -> Matrix:
    """(n, 1): first, first + 1, ..."""
    return made(Count(first, len(rows)), (), rows, ("count",))


def repeated(x: Matrix, rows: Sequence[str]) -> Matrix:
    """(n, m): a single row or number (1, m) in each of n rows."""
    return made(Repeated(len(rows), len(x.columns)), (x,), rows, x.columns)


def next_draw(x: Matrix) -> Matrix:
    """The scalar that follows a scalar in a sequence that looks random: whole, below 2³¹ - 1."""
    return made(NEXT_DRAW, (x,), ("",), ("",), scalar=True)


def running_sum(x: Matrix) -> Matrix:
    """(n, m): the sum of each number and those to its left in its row."""
    return made(RunningSum(), (x,), x.rows, x.columns)


def largest(x: Matrix) -> Matrix:
    """(n, m): 1 at the largest number of each row, the first of equal ones, else 0."""
    return made(Largest(), (x,), x.rows, x.columns)


def at_most(x: Matrix, most: Matrix) -> Matrix:
    """(n, m): 1 where a number of `x` is at most the scalar `most`, 0 elsewhere."""
    return made(AtMost(), (x, most), x.rows, x.columns)


def block_norms(
    parts: Sequence[Matrix], each: int, rows: Sequence[str], columns: Sequence[str]
) -> Matrix:
    """(n, d), (n, d), ... to (k, n): in row i the norm of each row of the parts i · each, ...,
    (i + 1) · each - 1 together."""
    return made(BlockNorms(each), tuple(parts), rows, columns)


def row_mean(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the mean of each row."""
    return made(Mean(), (x,), x.rows, ("mean",))


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


def row_squares(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the sum of the squares of each row."""
    return made(Squares(), (x,), x.rows, ("magnitude",))


ACTIVATIONS = {"relu": relu, "gelu": gelu, "gelu-tanh": gelu_tanh, "silu": silu}


def activation(x: Matrix, kind: str) -> Matrix:
    """`relu`: max(0, x). `gelu`: x Φ(x), with Φ the normal distribution (Hendrycks, Gimpel, 2016).
    `gelu-tanh`: the same, approximated by tanh. `silu`: x / (1 + e^-x) (the same paper)."""
    return ACTIVATIONS[kind](x)
