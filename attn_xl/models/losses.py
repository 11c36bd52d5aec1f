"""Losses: one number that says how far a model is from its target.

Shapes: n words or one sentence (rows); v words of a vocabulary or classes; d dimensions of an output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from attn_xl.errors import ShapeError
from attn_xl.graph.functions import column_mean, gather, negative_log, row_dot, row_squares, width
from attn_xl.graph.matrix import Matrix, check_matrices
from attn_xl.graph.step import WHOLE, Part
from attn_xl.models import steps

from .softmax import softmax_parts


def cross_entropy(probabilities: Matrix, target: Matrix, rows: Sequence[int] = ()) -> Matrix:
    """The mean of -ln(probability of the right answer), (1, 1).

    Args:
        probabilities: (m, v), each row of which sums to 1.
        target: (n, v), 1 in the right column of each row, 0 elsewhere.
        rows: the rows of the probabilities that the target is for; by default the first n ≤ m.

    Raises:
        ShapeError: if the shapes do not fit.
        NotFinite: if a right answer has probability 0, and the probabilities are not a softmax.
        WrongTypeError: if an argument is not a matrix.

    Example:
        >>> import attn_xl
        >>> p = attn_xl.given([[0.5, 0.5], [0.25, 0.75]], ["a", "b"], ["yes", "no"], "Probabilities")
        >>> y = attn_xl.given([[1, 0], [0, 1]], ["a", "b"], ["yes", "no"], "Target")
        >>> attn_xl.cross_entropy(p, y)
        Loss = the mean of each column of Losses, 1 x 1
               loss
        mean  0.490

    The gradient of what a softmax made is (probabilities - target) / n, and a right answer whose
    probability is too small to be kept, 1e-300 or less, has the loss ln(sum of exponentials) + (largest
    logit - its own logit), which is the same number.

    Source: Goodfellow, Bengio, Courville, "Deep Learning" (2016), 6.2.1.1; 4.1 for small probabilities.
    """
    check_matrices(probabilities=probabilities, target=target)
    n = len(target.rows)
    probabilities, *shares = (
        x if len(x.rows) == n else gather([(x, row) for row in rows or range(n)], target.rows)
        for x in (probabilities, *softmax_parts(probabilities))
    )
    if probabilities.shape != target.shape:
        raise ShapeError(f"the probabilities are {probabilities.shape}, the target {target.shape}.")
    right = replace(row_dot(target, probabilities), columns=("probability",))  # (n, 1)
    right = right.as_step(steps.RIGHT)
    if shares:
        logits, maximum, total = shares
        losses = negative_log(right, (total, maximum - row_dot(target, logits)))  # (n, 1)
        # the derivative of softmax and logarithm together
        losses = losses.differentiated({logits: lambda _, d: (probabilities - target) * d})
    else:
        losses = negative_log(right)
    losses = replace(losses, columns=("loss",))
    if len(losses.rows) == 1:
        return losses.as_step(steps.SINGLE_LOSS)
    return column_mean([losses.as_step(steps.LOSSES)]).as_step(steps.LOSS)


def mean_squared_error(output: Matrix, target: Matrix) -> Matrix:
    """The mean of the squares of output - target, (1, 1).

    Args:
        output, target: (n, d).

    Raises:
        ShapeError: if the shapes differ.
        WrongTypeError: if an argument is not a matrix.

    Example:
        >>> import attn_xl
        >>> output = attn_xl.given([[1, 3], [0, 2]], ["a", "b"], ["x", "y"], "Output")
        >>> target = attn_xl.given([[1, 1], [0, 0]], ["a", "b"], ["x", "y"], "Target")
        >>> attn_xl.mean_squared_error(output, target)
        Loss = the mean of each column of Losses, 1 x 1
              loss
        mean     2

    Source: Goodfellow, Bengio, Courville, "Deep Learning" (2016), 5.1.4.
    """
    check_matrices(output=output, target=target)
    if output.shape != target.shape:
        raise ShapeError(f"the output is {output.shape}, but the target {target.shape}.")
    errors = (output - target).as_step(steps.ERRORS)  # (n, d)
    losses = replace(row_squares(errors) / width(errors), columns=("loss",))  # (n, 1)
    losses = losses.as_step(steps.SQUARED_LOSSES)
    return column_mean([losses]).as_step(steps.LOSS)


def mean_loss(losses: Mapping[str, Matrix], part: Part = WHOLE, sheet: str = "") -> Matrix:
    """The mean of the losses of several sentences, by name, (1, 1) each, to (1, 1)."""
    column = gather([(loss, 0) for loss in losses.values()], list(losses))
    column = replace(column, columns=("loss",)).described("the Loss of every sentence")
    column = column.as_step(steps.SENTENCE_LOSSES, part, sheet=sheet)
    return column_mean([column]).as_step(steps.BATCH_LOSS, part, sheet=sheet)
