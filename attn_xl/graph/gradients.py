"""Gradients: how a loss changes with every matrix that it was computed from, as matrices of the graph.

Source: reverse-mode differentiation as in Goodfellow, Bengio, Courville, "Deep Learning" (2016), 6.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from attn_xl.errors import CallError

from .functions import column_sum, copy, row_sum
from .matrix import Matrix, check_matrices, constant, number_in
from .node import Node, walk
from .operation import operation_of
from .operations.catalogue import MULTIPLY
from .operations.selection import Placed, Repeated
from .step import ARITHMETIC, Step

Naming = Callable[[Matrix, Matrix], Matrix]
"""From a gradient and the matrix that it belongs to: the gradient under a name."""


def gradients(loss: Matrix, of: Sequence[Matrix]) -> list[Matrix]:
    """How a loss changes with each of some matrices: the derivative of the loss by each number.

    The gradient of every named matrix between them and the loss is named as well: `dScores` is how the
    loss changes with `Scores`. All are matrices of the graph, so they have words, formulas, and
    gradients of their own.

    Args:
        loss: one number, (1, 1).
        of: the matrices, (n, m) each.

    Returns:
        A matrix of the same shape and labels for each of them; of zeros if the loss depends on it only
        through sizes and choices.

    Raises:
        CallError: if the loss is not one number, or was not computed from one of the matrices.

    Example:
        >>> import attn_xl
        >>> x = attn_xl.given([[1, 2]], ["cat"], ["a", "b"], "X")
        >>> w = attn_xl.given([[3], [-1]], ["a", "b"], ["out"], "W")
        >>> attn_xl.gradients((x @ w).named("Loss"), [w])[0]
        dW = Xᵀ × dLoss, 2 x 1
           out
        a    1
        b    2
    """
    check_matrices(loss=loss, **{f"of[{number}]": matrix for number, matrix in enumerate(of)})
    if loss.shape != (1, 1):
        raise CallError(
            f"{loss.name or 'the loss'} is {loss.shape[0]} x {loss.shape[1]}, not one number."
        )
    nodes = [cast(Matrix, node) for node in walk([loss], _dependencies)]
    leading, there = set[Node](of), set(nodes)
    for matrix in of:
        if matrix not in there:
            raise CallError(
                f"{loss.name or 'the loss'} was not computed from {matrix.name or 'a matrix'}."
            )
    for node in nodes:
        if not leading.isdisjoint(_dependencies(node)):
            leading.add(node)
    parts: dict[Node, list[Matrix]] = {loss: [constant(1)]}
    found: dict[Node, Matrix] = {}
    for node in reversed(nodes):
        if node not in leading or (node not in parts and node not in of):
            continue
        d = found[node] = _named(_total(node, parts.pop(node, [])), node)
        for number, operand in enumerate(_dependencies(node)):
            if operand not in leading:
                continue
            if node.rules is not None:
                part: Matrix | None = node.rules[operand](node, d)
            else:
                operands = cast("tuple[Matrix, ...]", node.parents)
                part = operation_of(node).gradient(number, node, d, *operands)
            if part is not None:
                parts.setdefault(operand, []).append(_summed_to(operand, part))
    return [found[matrix] for matrix in of]


def _dependencies(node: Node) -> tuple[Node, ...]:
    return tuple(node.rules) if node.rules is not None else node.parents


def _summed_to(operand: Node, part: Matrix) -> Matrix:
    """The gradient of a single row, a single column or one number that was repeated."""
    if operand.shape[1] == 1 < part.shape[1]:
        part = row_sum(part)
    if operand.shape[0] == 1 < part.shape[0]:
        part = column_sum(part)
    return part


def _total(node: Node, parts: list[Matrix]) -> Matrix:
    """The sum of the parts that several uses of a matrix add to its gradient, in its shape."""
    total = constant(0)
    for number, part in enumerate(_side_by_side(parts[::-1])):
        factors = part.parents if part.operation is MULTIPLY and not part.name else ()
        if number and factors and number_in(cast(Matrix, factors[0])) == -1:
            total = total - cast(Matrix, factors[1])
        else:
            total = total + part if number else part
    if total.shape != node.shape:
        total = Repeated(*node.shape).of(total, rows=node.rows, columns=node.columns)
    return total


def _side_by_side(parts: list[Matrix]) -> list[Matrix]:
    """The parts; those that fill different columns, as the heads do, placed side by side."""
    placed = [part for part in parts if isinstance(part.operation, Placed)]
    filled = [
        (start, start + operand.shape[1])
        for part in placed
        for start, operand in zip(cast(Placed, part.operation).starts, part.parents)
    ]
    if len(placed) < 2 or any(a[1] > b[0] for a, b in pairwise(sorted(filled))):
        return parts
    ordered = sorted(placed, key=lambda part: cast(Placed, part.operation).starts)
    starts = tuple(start for part in ordered for start in cast(Placed, part.operation).starts)
    operands = [cast(Matrix, operand) for part in ordered for operand in part.parents]
    first = ordered[0]
    together = Placed(starts, first.shape[1]).of(*operands, rows=first.rows, columns=first.columns)
    return [together, *(part for part in parts if part not in placed)]


def _named(d: Matrix, node: Node) -> Matrix:
    """The gradient of a named matrix, under its own name."""
    if not node.name or node.helper:
        return d
    if d.name or d.scalar or d.operation is None:
        d = copy(d)
    d = replace(d, rows=node.rows, columns=node.columns, scalar=node.scalar)
    step = gradient_step(node)
    return d.as_step(step, node.part) if node.step else d.named(f"d{node.name}", step.note)


def gradient_step(node: Node) -> Step:
    """The step that is the gradient of a named matrix."""
    symbol = node.step.symbol if node.step else node.name
    return Step(
        f"d{symbol}",
        f"How the loss changes with {symbol}: where a number is positive, raising that number of "
        f"{symbol} a little raises the loss; learning lowers it.",
        purpose=f"It says how to change {symbol} so that the loss becomes smaller.",
        question=f"before you fill in {{own}} = {{made}}: which number of {symbol} would you change to "
        "lower the loss, and in which direction?",
        recipe=ARITHMETIC,
    )
