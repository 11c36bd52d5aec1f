"""A convolution over the words of a sentence: each word sees its neighbours in a window.

Shapes: n words, d dimensions of an embedding, f filters.
Source: Kim, "Convolutional Neural Networks for Sentence Classification" (2014); as `torch.nn.Conv1d`
with `padding="same"`.
"""

from __future__ import annotations

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.functions import activation, column_maximum, gather, shifted
from attn_xl.graph.given import given_step
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE
from attn_xl.models import steps
from attn_xl.text import count

from . import recipes
from .attention import Weights
from .run import Run


def convolution(
    x: Matrix, weights: Weights, window: int, width: int | None = None
) -> tuple[Matrix, Matrix]:
    """ReLU of the sum of X[t + o] W_o over the offsets o of the window, plus b; and its maxima.

    Args:
        x: embeddings, (n, d).
        weights: for each offset `W_before`, `W_here`, `W_after` (`W_before_2` for two words before),
            (d, f) each, or PyTorch's weights (f, d, window) as `conv.weight`; optional `b_conv`,
            (1, f).
        window: the number of words that a filter sees; an even one sees one more after the word.
        width: the number of filters, if no weights give it; d if None.

    Returns:
        (n, f), and the largest number of each column, (1, f).

    Raises:
        InputError: if the window is longer than the sentence, or weights are missing or do not fit.
    """
    if window > len(x.rows):
        raise InputError(
            f"the window of {count(window, 'word')} is longer than the sentence, which has "
            f"{count(len(x.rows), 'word')}. Use --window {len(x.rows)} or less, or a longer sentence."
        )
    before = (window - 1) // 2
    zeros = np.zeros((1, len(x.columns)))
    padding = given_step(zeros, ["beyond"], x.columns, steps.PADDING) if window > 1 else None
    offsets = range(-before, window - before)
    filters = _filters(x, weights, offsets, width or len(x.columns))
    first, total = filters[0], None
    for offset, w in zip(offsets, filters):
        if len(w.columns) != len(first.columns):
            raise InputError(
                f"{w.name} is {len(w.rows)} x {len(w.columns)}, but needs {len(first.columns)} "
                f"columns, one "
                f"for each filter, as {first.name} has."
            )
        seen = x if padding is None or offset == 0 else shifted(x, offset, padding)
        total = seen @ w if total is None else total + seen @ w
    assert total is not None
    bias = weights.row(steps.FILTER_BIAS, WHOLE, first.columns)
    convolved = (total if bias is None else total + bias).as_step(steps.CONVOLVED)
    output = activation(convolved, "relu").as_step(steps.FEATURES)
    return output, column_maximum(output).as_step(steps.POOLED_MAXIMUM)


def _filters(x: Matrix, weights: Weights, offsets: range, width: int) -> list[Matrix]:
    """The weights for each offset, (d, f); of PyTorch's, the rows that belong to it."""
    columns = [f"f{j + 1}" for j in range(width)]
    d, window = len(x.columns), len(offsets)
    whole = None
    if steps.ALL_FILTERS.symbol in weights:
        rows = [f"{dimension} {offset:+}" for dimension in x.columns for offset in offsets]
        whole = weights.matrix(steps.ALL_FILTERS, WHOLE, rows, width, columns)
    found = []
    for number, offset in enumerate(offsets):
        part = WHOLE.numbered(abs(offset) if abs(offset) > 1 else 0)
        step = steps.filters(offset)
        if whole is None:
            found.append(weights.matrix(step, part, x.columns, width, columns))
            width = len(found[0].columns)
        else:
            rows_of_offset = [(whole, k * window + number) for k in range(d)]
            found.append(gather(rows_of_offset, x.columns).as_step(step.by(recipes.TAKE_ROWS), part))
    return found


def build(run: Run, name: str, x: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """A convolution of one sentence: the pooled result, the result for each word, twice."""
    output, pooled = convolution(x, run.weights, run.settings.window or 3, run.settings.hidden)
    return pooled, output, output
