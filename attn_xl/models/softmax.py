"""The softmax, with its helpers beside it."""

from __future__ import annotations

from attn_xl.graph.functions import exp, row_dot, row_maximum, row_sum
from attn_xl.graph.given import check_matrices
from attn_xl.graph.matrix import Matrix

from . import steps


def softmax(x: Matrix, *, maximum: bool = True) -> Matrix:
    """Turn each row into positive weights that sum to 1: exp(x) / sum(exp(x)), row by row.

    Subtracting the row's maximum first leaves the result unchanged and keeps exp from overflowing.
    The maximum, the exponentials and their sum stay visible beside the result.

    Args:
        x: scores, (n, m).
        maximum: whether to subtract the row's maximum; articles often leave it out.

    Returns:
        Weights, (n, m).

    Raises:
        WrongTypeError: if `x` is not a matrix. A matrix holds finite scores, which never fail with the
            maximum subtracted.
        NotFinite: without it, if a score is above 709.

    Example:
        >>> import attn_xl
        >>> scores = attn_xl.given([[0, 1, 2]], ["cat"], ["the", "cat", "sat"], "Scores")
        >>> attn_xl.softmax(scores)
        matrix = softmax(Scores), 1 x 3
               the    cat    sat
        cat  0.090  0.245  0.665

    Source: Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs"
    (1990); the shift by the maximum as in Goodfellow, Bengio, Courville, "Deep Learning", 4.1. The
    gradient: dX = A ∘ (dA - rowsum(dA ∘ A)), with A the weights.
    """
    check_matrices(x=x)
    if maximum:
        exponentials = exp(x - row_maximum(x).as_step(steps.MAXIMUM)).as_step(steps.EXPONENTIALS)
    else:
        exponentials = exp(x).as_step(steps.EXPONENTIALS_ALONE)  # (n, m)
    total = row_sum(exponentials).as_step(steps.SUM)  # (n, 1)
    weights = (exponentials / total).described(f"softmax({x.as_operand})", "Softmax")
    return weights.differentiated({x: lambda a, d: a * (d - row_dot(d, a).in_cells)})


def softmax_parts(weights: Matrix) -> tuple[Matrix, Matrix, Matrix] | tuple[()]:
    """What `softmax` computed a matrix from: the scores (n, m), their maximum and the sum of their
    exponentials, (n, 1) each; nothing if another function made it, or without the maximum."""
    x = softmax_scores(weights)
    if x is None or x is weights.parents[0].parents[0]:
        return ()
    _, maximum = weights.parents[0].parents[0].parents
    return x, maximum, weights.parents[1]


def softmax_scores(weights: Matrix) -> Matrix | None:
    """The scores (n, m) of which a matrix is the softmax; None if another function made it."""
    if weights.rules is None or not weights.parents[-1].is_step(steps.SUM):
        return None
    (x,) = weights.parents[0].parents
    if x.parents and x.parents[-1].is_step(steps.MAXIMUM):
        x = x.parents[0]
    return x
