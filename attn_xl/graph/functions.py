"""Functions that models are written in, besides arithmetic: one for each operation in `operations/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.operations.catalogue import (
    ACOS,
    EXP,
    GELU,
    GELU_TANH,
    MAXIMUM,
    MEAN,
    NEGATIVE_LOG,
    RELU,
    SAMPLE_VARIANCE,
    SIGMOID,
    SQRT,
    SQUARES,
    SUM,
    TANH,
    VARIANCE,
)
from attn_xl.graph.operations.elementwise import Copy, Power
from attn_xl.graph.operations.masks import HIDDEN, Mask
from attn_xl.graph.operations.positions import Sinusoid
from attn_xl.graph.operations.products import Dot
from attn_xl.graph.operations.reductions import (
    Best,
    BlockNorms,
    ColumnMaximum,
    ColumnMean,
    ColumnSum,
    ColumnVariance,
    Width,
)
from attn_xl.graph.operations.selection import Columns, Concat, Find, Gather, OneHot, Picked, Shift
from attn_xl.graph.operations.switches import When
from attn_xl.text import OFF, ON

from .matrix import Matrix, constant, made
from .node import HIDES


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
    """(n, 1): given texts, one for each row; the number of a text is its position in `among`, from 1."""
    numbers = np.array([[among.index(label) + 1.0] for label in labels])
    return Matrix(numbers, tuple(rows), (column,), texts=tuple(labels))


def one_hot(
    labels: Matrix, columns: Sequence[str], rows: Sequence[str] = (), row: int | None = None
) -> Matrix:
    """(n, 1) texts to (n, m): 1 in the column with the text as its label, 0 elsewhere; with `row`,
    counted from 0, of one of the texts only, which becomes the single row of `rows`."""
    operation = OneHot(tuple(columns), row)
    return made(operation, (labels,), rows or labels.rows, columns)


def when(chosen: Matrix, if_on: Matrix | float, if_off: Matrix | float) -> Matrix:
    """A scalar whose value depends on a switch."""
    choices = (side if isinstance(side, Matrix) else constant(side) for side in (if_on, if_off))
    return made(When(), (chosen, *choices), ("",), ("",), scalar=True)


def find(word: Matrix, words: Matrix) -> Matrix:
    """The position of a chosen word in a column of words, from 1, as a scalar."""
    plain = not any(len(text) > 255 or set(text) & set("*?~") for text in words.texts or ())
    return made(Find(plain), (word, words), ("",), ("",), scalar=True)


def picked(x: Matrix, row: Matrix) -> Matrix:
    """(n, m) to (m, 1): the row of `x` whose number, from 1, is the scalar `row`."""
    return made(Picked(), (x, row), x.columns, ("value",))


def column_maximum(x: Matrix) -> Matrix:
    """(n, m) to (1, m): the largest number of each column."""
    return made(ColumnMaximum(), (x,), ("maximum",), x.columns)


def row_dot(x: Matrix, y: Matrix) -> Matrix:
    """(n, m) and (n, m) to (n, 1): the dot product of each row of `x` with the same row of `y`."""
    return made(Dot(), (x, y), x.rows, ("product",))


def column_sum(x: Matrix) -> Matrix:
    """(n, m) to (1, m): the sum of each column."""
    return made(ColumnSum(), (x,), ("sum",), x.columns)


def column_mean(parts: Sequence[Matrix]) -> Matrix:
    """(n, m), (k, m), ... to (1, m): the mean of each column over the rows of all parts."""
    return made(ColumnMean(), tuple(parts), ("mean",), parts[0].columns)


def column_variance(x: Matrix) -> Matrix:
    """(n, m) to (1, m): the variance of each column, with n − 1 as divisor."""
    return made(ColumnVariance(), (x,), ("variance",), x.columns)


def copy(x: Matrix) -> Matrix:
    """The same numbers under another name."""
    return made(Copy(), (x,), x.rows, x.columns)


def exp(x: Matrix) -> Matrix:
    """e to the power of each number."""
    return made(EXP, (x,), x.rows, x.columns, scalar=x.scalar)


def negative_log(x: Matrix) -> Matrix:
    """The negative natural logarithm of each number.

    Raises:
        NotFinite: if a number is not above 0.
    """
    return made(NEGATIVE_LOG, (x,), x.rows, x.columns, scalar=x.scalar)


def power(x: Matrix, exponent: int) -> Matrix:
    """Each number to the power of a whole number."""
    return made(Power(exponent), (x,), x.rows, x.columns, scalar=x.scalar)


def sqrt(x: Matrix) -> Matrix:
    """The square root of each number."""
    return made(SQRT, (x,), x.rows, x.columns, scalar=x.scalar)


def tanh(x: Matrix) -> Matrix:
    """The hyperbolic tangent of each number, from −1 to 1."""
    return made(TANH, (x,), x.rows, x.columns)


def sigmoid(x: Matrix) -> Matrix:
    """The logistic function of each number, 1 / (1 + e^−x), from 0 to 1."""
    return made(SIGMOID, (x,), x.rows, x.columns)


def row_maximum(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the largest number of each row."""
    return made(MAXIMUM, (x,), x.rows, ("maximum",))


def row_sum(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the sum of each row."""
    return made(SUM, (x,), x.rows, ("sum",))


def width(x: Matrix) -> Matrix:
    """The number of columns of `x`, as a scalar."""
    return made(Width(), (x,), ("",), ("",), scalar=True)


def gather(picks: Sequence[tuple[Matrix, int]], rows: Sequence[str]) -> Matrix:
    """A matrix of rows from other matrices: row i is `picks[i] = (matrix, its row)`."""
    sources = tuple(dict.fromkeys(matrix for matrix, _ in picks))
    chosen = tuple((sources.index(matrix), row) for matrix, row in picks)
    return made(Gather(chosen), sources, rows, sources[0].columns)


def shifted(x: Matrix, offset: int, beyond: Matrix) -> Matrix:
    """(n, m) to (n, m): row t is row t + `offset` of `x`; past its ends the row `beyond`, (1, m)."""
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
) -> Matrix:
    """(n, m): the mask to add to the scores so that no word looks at later ones (`causal`: True, False
    or a switch) or at padding."""
    switches = (causal,) if isinstance(causal, Matrix) else ()
    operation = Mask(len(rows), tuple(words), causal is True, tuple(padding))
    return made(operation, switches, rows, words)


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


def sinusoid(x: Matrix) -> Matrix:
    """(n, d): the sinusoidal positions for embeddings (n, d).

    Source: Vaswani et al., "Attention Is All You Need" (2017), 3.5.
    """
    return made(Sinusoid(), (x,), x.rows, x.columns)


def block_norms(
    parts: Sequence[Matrix], each: int, rows: Sequence[str], columns: Sequence[str]
) -> Matrix:
    """(n, d), (n, d), ... to (k, n): in row i the norm of each row of the parts i · each, ...,
    (i + 1) · each − 1 together."""
    return made(BlockNorms(each), tuple(parts), rows, columns)


def row_mean(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the mean of each row."""
    return made(MEAN, (x,), x.rows, ("mean",))


def row_variance(x: Matrix, *, sample: bool = False) -> Matrix:
    """(n, m) to (n, 1): the variance of each row, divided by m, or by m − 1 (`sample`).

    Raises:
        InputError: if a single number has to give a sample variance.
    """
    if sample and len(x.columns) < 2:
        raise InputError(
            f"{x.name or x.words} has one column, and a single number has no sample variance, which "
            "divides by n − 1. Use --norm-variance population."
        )
    return made(SAMPLE_VARIANCE if sample else VARIANCE, (x,), x.rows, ("variance",))


def row_squares(x: Matrix) -> Matrix:
    """(n, m) to (n, 1): the sum of the squares of each row."""
    return made(SQUARES, (x,), x.rows, ("magnitude",))


def angle(x: Matrix) -> Matrix:
    """The angle, in degrees, whose cosine each number is."""
    return made(ACOS, (x,), x.rows, x.columns)


ACTIVATIONS = {"relu": RELU, "gelu": GELU, "gelu-tanh": GELU_TANH}


def activation(x: Matrix, kind: str) -> Matrix:
    """`relu`: max(0, x). `gelu`: x Φ(x), with Φ the normal distribution (Hendrycks, Gimpel, 2016).
    `gelu-tanh`: the same, approximated by tanh."""
    return made(ACTIVATIONS[kind], (x,), x.rows, x.columns)
