"""The head of a classifier: from the vector of a sentence to the probabilities of classes.

Shapes: d_v dimensions of the sentence's vector; c classes.
"""

from __future__ import annotations

from dataclasses import replace

from attn_xl.graph.functions import best
from attn_xl.graph.matrix import Matrix
from attn_xl.models import steps

from .attention import projected
from .softmax import softmax


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
