"""The softmax, with its helpers beside it."""

from __future__ import annotations

from typing import cast

from attn_xl.graph.functions import exp, row_dot, row_maximum, row_sum
from attn_xl.graph.matrix import Matrix, check_matrices

from . import steps


def softmax(x: Matrix) -> Matrix:
    """Turn each row into positive weights that sum to 1: exp(x) / sum(exp(x)), row by row.

    Subtracting the row's maximum first leaves the result unchanged and keeps exp from overflowing.
    The maximum, the exponentials and their sum stay visible beside the result.

    Args:
        x: scores, (n, m).

    Returns:
        Weights, (n, m).

    Raises:
        WrongTypeError: if `x` is not a matrix. A matrix holds finite scores, which never fail.

    Example:
        >>> import attn_xl
        >>> scores = attn_xl.given([[0, 1, 2]], ["cat"], ["the", "cat", "sat"], "Scores")
        >>> attn_xl.softmax(scores)
        matrix = softmax(Scores), 1 x 3
               the    cat    sat
        cat  0.090  0.245  0.665

    Source: Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs"
    (1990); the shift by the maximum as in Goodfellow, Bengio, Courville, "Deep Learning", 4.1. The
    gradient: dX = A ∘ (dA − rowsum(dA ∘ A)), with A the weights.
    """
    check_matrices(x=x)
    maximum = row_maximum(x).as_step(steps.MAXIMUM)  # (n, 1)
    exponentials = exp(x - maximum).as_step(steps.EXPONENTIALS)  # (n, m)
    total = row_sum(exponentials).as_step(steps.SUM)  # (n, 1)
    weights = (exponentials / total).described(f"softmax({x.as_operand})", "Softmax")
    return weights.differentiated({x: lambda a, d: a * (d - row_dot(d, a).in_cells)})


def softmax_parts(weights: Matrix) -> tuple[Matrix, Matrix, Matrix] | tuple[()]:
    """What `softmax` computed a matrix from: the scores (n, m), their maximum and the sum of their
    exponentials, (n, 1) each; nothing if another function made it."""
    if weights.rules is None or not weights.parents[-1].is_step(steps.SUM):
        return ()
    exponentials, total = (cast(Matrix, parent) for parent in weights.parents)
    x, maximum = (cast(Matrix, parent) for parent in exponentials.parents[0].parents)
    return x, maximum, total
