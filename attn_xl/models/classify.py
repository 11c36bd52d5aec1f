"""Vectors of sentences, and their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attn_xl.graph.functions import activation, best, column_mean, gather, row_squares, sqrt, tanh
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part
from attn_xl.settings import Pooling, Transform

from . import recipes, steps
from .attention import Weights, projected
from .softmax import softmax
from .transformer import Architecture, norm


def classify(vector: Matrix, w_c: Matrix, b_c: Matrix | None = None) -> tuple[Matrix, Matrix]:
    """softmax(vector W_C + b_C), the probability of each class.

    Args:
        vector: the vector of a sentence, (1, d_v).
        w_c: (d_v, c), with the classes as column labels.
        b_c: bias row, (1, c).

    Returns:
        The probabilities, (1, c); and the most probable class, (1, 1).

    Source: Devlin et al., "BERT" (2019), 3.2.
    """
    logits = projected(vector, w_c, b_c, steps.CLASS_LOGITS)
    probabilities = softmax(logits).as_step(steps.CLASS_PROBABILITIES)
    return probabilities, replace(best(probabilities), columns=("class",)).as_step(steps.CLASS)


def pooled(words: Matrix, name: str, kept: Sequence[int], pooling: Pooling, weights: Weights) -> Matrix:
    """The vector of a sentence, (1, d).

    Args:
        words: the vectors of its words, (n, d).
        name: its name, the label of the result.
        kept: the rows of words that do not fill up the sentence.
        pooling: the mean of the words that are kept, the last of them, the first word, or
            tanh(first word W_1 + b_1).
        weights: the source of `Pooler.W_1`, (d, d), and `Pooler.b_1`.

    Source: the first word and its layer as in Devlin et al., "BERT" (2019), 3.2, and its code; the mean
    as in Reimers, Gurevych, "Sentence-BERT" (2019), 3.
    """
    if pooling is Pooling.mean:
        if len(kept) < len(words.rows):
            words = gather([(words, row) for row in kept], [words.rows[row] for row in kept])
        return replace(column_mean([words]), rows=(name,)).as_step(steps.POOLED)
    if pooling is Pooling.last:
        return gather([(words, kept[-1])], [name]).as_step(steps.LAST_WORD)
    first = gather([(words, 0)], [name]).as_step(steps.FIRST_WORD)
    if pooling is Pooling.first:
        return first
    part = WHOLE.within(steps.POOLER)
    w = weights.matrix(steps.W_1, part, first.columns, len(first.columns))
    b = weights.row(steps.BIASES[steps.W_1], part, w.columns)
    hidden = projected(first, w, b, steps.POOLER_HIDDEN, part)
    return tanh(hidden).as_step(steps.POOLER_ACTIVE, part)


def unit(vector: Matrix) -> Matrix:
    """A vector (1, d) divided by its length."""
    length = sqrt(row_squares(vector)).as_step(steps.LENGTH)
    return (vector / length).as_step(steps.UNIT)


def transformed(x: Matrix, a: Architecture, function: Transform, part: Part = WHOLE) -> Matrix:
    """norm(function(x W_1 + b_1)), (n, d) to (n, d): what is compared with the words of the vocabulary.

    Source: Devlin et al., "BERT" (2019), appendix A.1, and its code.
    """
    learned = WHOLE.within(steps.TRANSFORM)
    part = part.within(steps.TRANSFORM)
    w = a.weights.matrix(steps.W_1, learned, x.columns, len(x.columns))
    b = a.weights.row(steps.BIASES[steps.W_1], learned, w.columns)
    hidden = projected(x, w, b, steps.HIDDEN, part)
    activated = steps.ACTIVATED.by(recipes.ACTIVATIONS[function.value])
    active = activation(hidden, function.value).as_step(activated, part)
    return norm(active, a, part, "Norm before the words", learned)
