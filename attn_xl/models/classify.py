"""Vectors of sentences, and their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attn_xl.errors import InputError
from attn_xl.graph.functions import (
    activation,
    best,
    column_maximum,
    column_mean,
    gather,
    row_squares,
    sqrt,
    tanh,
)
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part
from attn_xl.settings import RECURRENT, Model, Pooling, Transform

from . import recipes, steps
from .attention import Weights, projected
from .run import Run
from .softmax import softmax
from .transformer import Architecture, architecture_of, encoder, norm


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
        pooling: the mean of the words that are kept, the largest number of each of their columns, the
            last of them, the first word, or tanh(first word W_1 + b_1).
        weights: the source of `Pooler.W_1`, (d, d), and `Pooler.b_1`.

    Source: the first word and its layer as in Devlin et al., "BERT" (2019), 3.2, and its code; the mean
    as in Reimers, Gurevych, "Sentence-BERT" (2019), 3.
    """
    if pooling in (Pooling.mean, Pooling.max):
        if len(kept) < len(words.rows):
            words = gather([(words, row) for row in kept], [words.rows[row] for row in kept])
        takes, step = (
            (column_mean, steps.POOLED) if pooling is Pooling.mean else (column_maximum, steps.LARGEST)
        )
        return replace(takes(words), rows=(name,)).as_step(step)
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


def build_encoder(run: Run, name: str, x: Matrix) -> tuple[Matrix, ...]:
    """The words' vectors (n, d) of an encoder, preceded by the sentence's if it is wanted; that
    needs all words."""
    words = encoder(x, run.once(architecture_of))
    if run.settings.pooling is None or run.live.rows is not None:
        return words, words
    vector = _pooled(run, name, words, run.settings.pooling)
    return unit(vector) if run.settings.unit_length else vector, words, words


def build(run: Run, name: str, x: Matrix) -> tuple[Matrix, ...]:
    """The probabilities of the classes of a sentence and the most probable one, followed by the
    vectors of its words.

    Raises:
        InputError: if the classes are unknown, or it is open which is which.
    """
    s = run.settings
    if s.body is Model.encoder:
        words = encoder(x, run.once(architecture_of))
    else:
        words = run.computed(s.body, name, x)[-1]
    usual = Pooling.last if s.body in RECURRENT else Pooling.mean
    known = run.answers.classes
    table = run.tables.weights.get(steps.W_C.symbol)
    unnamed = table if table is not None and not table.labelled[1] else None
    if unnamed is not None and known:
        raise InputError(
            f"{unnamed.file}, sheet {unnamed.sheet!r}: the columns of W_C have no labels. Write the "
            "name of its class above each."
        )
    named = [f"class {number + 1}" for number in range(unnamed.shape[1])] if unnamed else known
    w_c = run.weights.matrix(steps.W_C, WHOLE, words.columns, len(known) or 2, named)
    if table is None and not known:
        raise InputError(
            f"{run.tables.path}: the classes are unknown. Add W_C with a column for each class, "
            "or a sheet Labels: in each row a sentence and its class."
        )
    b_c = run.weights.row(steps.BIASES[steps.W_C], WHOLE, w_c.columns)
    return *classify(_pooled(run, name, words, s.pooling or usual), w_c, b_c), words


def _pooled(run: Run, name: str, words: Matrix, pooling: Pooling) -> Matrix:
    """The vector (1, d) of a sentence, without the words that fill it up."""
    padding = run.scoring.padding(words.rows)
    kept = [row for row, word in enumerate(words.rows) if word not in padding]
    return pooled(words, name, kept, pooling, run.weights)
