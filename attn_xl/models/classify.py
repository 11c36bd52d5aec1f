"""The head of a classifier: from the vectors of a sentence's words to the probabilities of classes.

Shapes: n words; d_v dimensions of their vectors; c classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from attn_xl.graph.functions import best, column_mean, gather
from attn_xl.graph.matrix import Matrix
from attn_xl.languages import message

from . import loss_steps
from .attention import projected
from .softmax import softmax


def classify(
    words: Matrix,
    name: str,
    kept: Sequence[int],
    w_c: Matrix,
    b_c: Matrix | None = None,
    *,
    pooling: Literal["mean", "first"] = "mean",
) -> tuple[Matrix, Matrix]:
    """softmax(pooled W_C + b_C), the probability of each class.

    Args:
        words: the vectors of a sentence's words, (n, d_v).
        name: the sentence's name, the label of the results.
        kept: the rows of words that do not fill up the sentence.
        w_c: (d_v, c), with the classes as column labels.
        b_c: bias row, (1, c).
        pooling: "mean" of the words that are kept, or the "first" word.

    Returns:
        The probabilities, (1, c); and the most probable class, (1, 1).

    Source: the first word as in Devlin et al., "BERT" (2019), 3.2; the mean as in Reimers, Gurevych,
    "Sentence-BERT" (2019), 3.
    """
    if pooling == "first":
        pooled = gather([(words, 0)], [name]).as_step(loss_steps.FIRST_WORD)
    else:
        if len(kept) < len(words.rows):
            words = gather([(words, row) for row in kept], [words.rows[row] for row in kept])
        pooled = replace(column_mean([words]), rows=(name,)).as_step(loss_steps.POOLED)
    logits = projected(pooled, w_c, b_c, loss_steps.CLASS_LOGITS)
    probabilities = softmax(logits).as_step(loss_steps.CLASS_PROBABILITIES)
    return probabilities, replace(best(probabilities), columns=(message("class"),)).as_step(
        loss_steps.CLASS
    )
