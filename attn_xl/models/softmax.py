"""The softmax, with its helpers beside it. Knows nothing of files or sheets."""

from __future__ import annotations

from attn_xl.graph.functions import exp, row_maximum, row_sum
from attn_xl.graph.matrix import Matrix

from . import steps


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
    maximum = row_maximum(x).as_step(steps.MAXIMUM)  # (n, 1)
    exponentials = exp(x - maximum).as_step(steps.EXPONENTIALS)  # (n, m)
    total = row_sum(exponentials).as_step(steps.SUM)  # (n, 1)
    return (exponentials / total).described(f"softmax({x.name or x.words})", "Softmax")
