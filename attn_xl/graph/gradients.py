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
from .given import check_matrices
from .graph import walk
from .loops import Loop, loop_turns
from .matrix import Matrix, operation_of
from .operations.elementwise import MULTIPLY, constant, number_in
from .operations.selection import Gather, Placed, Previous, Repeated
from .recurrence import recurrence
from .step import Step


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
    return gradients_from(loss, constant(1), of)


def gradients_from(
    loss: Matrix, seed: Matrix, of: Sequence[Matrix], rename: Callable[[Matrix], Matrix] = lambda d: d
) -> list[Matrix]:
    """How the sum of the numbers of a matrix, each times its number in `seed`, changes with others.

    Args:
        loss: a matrix, (n, m).
        seed: its own gradient, (n, m).
        of: the matrices to find the gradients of.
        rename: called with each gradient that got a name, to give it another.

    Raises:
        CallError: if the loss was not computed from one of the matrices.
    """
    nodes = walk([loss], _dependencies)
    leading, there = set[Matrix](of), set(nodes)
    for matrix in of:
        if matrix not in there:
            raise CallError(_no_gradient(loss, matrix))
    known = 0
    while len(leading) > known:  # again where a loop leads back
        known = len(leading)
        for node in nodes:
            if not leading.isdisjoint(_dependencies(node)):
                leading.add(node)
    back = _Back(leading, {loss: [seed]}, {*of}, rename)
    turns = loop_turns(nodes)
    for node in reversed(nodes):
        if node not in turns:
            back.through(node)
        elif (loop := turns[node]) is not None and node in leading:
            back.through_loop(loop)
    return [back.found[matrix] for matrix in of]


def _no_gradient(loss: Matrix, matrix: Matrix) -> str:
    """Why a loss has no gradient by a matrix."""
    name, whole = matrix.name or "a matrix", loss.name or "the loss"
    if matrix not in walk([loss]):
        return f"{whole} was not computed from {name}."
    before = " and ".join(node.name for node in _dependencies(matrix) if node.name)
    return (
        f"{name} has no gradient of its own: its step and a later one have their derivative together. "
        f"Ask for the gradient of {before or 'an earlier step'}."
    )


class _Back:
    """The walk back from a loss.

    Args:
        leading: the matrices on the way to the loss.
        parts: for each matrix, what its uses add to its gradient so far.
        wanted: the matrices that get a gradient in any case, if only zeros.
        rename: gives a gradient another name.
    """

    def __init__(
        self,
        leading: set[Matrix],
        parts: dict[Matrix, list[Matrix]],
        wanted: set[Matrix],
        rename: Callable[[Matrix], Matrix],
    ) -> None:
        self._leading, self._parts, self._wanted = leading, parts, wanted
        self._rename = rename
        self.found: dict[Matrix, Matrix] = {}

    def through(self, node: Matrix, inside: Callable[[Matrix], bool] = lambda operand: True) -> None:
        """Add to the gradients of those operands of a matrix that are `inside`."""
        if node not in self._leading or (node not in self._parts and node not in self._wanted):
            return
        d = _total(node, self._parts.pop(node, []))
        named = node.name and not node.helper
        self.found[node] = self._rename(_named(d, node)) if named else d
        self._to_operands(node, inside)

    def _to_operands(self, node: Matrix, inside: Callable[[Matrix], bool]) -> None:
        for number, operand in enumerate(_dependencies(node)):
            if operand not in self._leading or not inside(operand) or node not in self.found:
                continue
            d = self.found[node]
            if node.rules is not None:
                part: Matrix | None = node.rules[operand](node, d)
            else:
                operands = node.parents
                part = operation_of(node).gradient(number, node, d, *operands)
            if part is not None:
                self._parts.setdefault(operand, []).append(_summed_to(operand, part))

    def through_loop(self, loop: Loop) -> None:
        """Backpropagation through time: a recurrence in the other direction, in which each row passes
        on to the row before how the loss changes with it.

        Source: Werbos, "Backpropagation Through Time" (1990).
        """
        nodes = loop.nodes
        before = [node for node in nodes if isinstance(node.operation, Previous)]
        direct = {n: _total(n, parts) for n in nodes if (parts := self._parts.pop(n, []))}

        def body(*passed: Matrix) -> list[Matrix]:
            for node, part in (*zip(loop.states, passed), *direct.items()):
                self._parts.setdefault(node, []).append(part)
            for node in reversed(nodes):
                if node not in before:
                    self.through(node, lambda operand: operand in nodes)
            return [
                self._rename(
                    replace(
                        _total(node, self._parts.pop(node, [])), rows=node.rows, columns=node.columns
                    ).as_step(passed_step(state), state.part)
                )
                for node, state in zip(before, loop.states)
            ]

        states = [
            (self._rename(constant(0).as_step(passed_step(state), state.part)).name, state.columns)
            for state in loop.states
        ]
        passed = recurrence(nodes[0].rows, states, body, reverse=not loop.reverse)
        for node in reversed(nodes):
            if node in self.found and "in_cells" in vars(self.found[node]):
                self.found[node] = self.found[node].in_cells  # the one that the recurrence computed
            self._to_operands(node, lambda operand: operand not in nodes)
        for node, d in zip(before, passed):
            start = node.parents[1]
            if start in self._leading:
                first = len(node.rows) - 1 if loop.reverse else 0
                part = Gather(((0, first),))(d, rows=start.rows)
                self._parts.setdefault(start, []).append(part)


def _dependencies(node: Matrix) -> tuple[Matrix, ...]:
    return tuple(node.rules) if node.rules is not None else node.parents


def _summed_to(operand: Matrix, part: Matrix) -> Matrix:
    """The gradient of a single row, a single column or one number that was repeated."""
    if operand.shape[1] == 1 < part.shape[1]:
        part = row_sum(part)
    if operand.shape[0] == 1 < part.shape[0]:
        part = column_sum(part)
    return part


def _total(node: Matrix, parts: list[Matrix]) -> Matrix:
    """The sum of the parts that several uses of a matrix add to its gradient, in its shape."""
    total = constant(0)
    for number, part in enumerate(_side_by_side(parts[::-1])):
        factors = part.parents if part.operation is MULTIPLY and not part.name else ()
        if number and factors and number_in(factors[0]) == -1:
            total = total - factors[1]
        else:
            total = total + part if number else part
    if total.shape != node.shape:
        total = Repeated(*node.shape)(total, rows=node.rows, columns=node.columns)
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
    operands = [operand for part in ordered for operand in part.parents]
    first = ordered[0]
    together = Placed(starts, first.shape[1])(*operands, rows=first.rows, columns=first.columns)
    return [together, *(part for part in parts if part not in placed)]


def _named(d: Matrix, node: Matrix) -> Matrix:
    """The gradient of a named matrix, under its own name."""
    if d.name or d.scalar or d.operation is None:
        d = copy(d)
    d = replace(d, rows=node.rows, columns=node.columns, scalar=node.scalar)
    step = gradient_step(node)
    return d.as_step(step, node.part) if node.step else d.named(f"d{node.name}", step.note)


_OF_VALUES = Step(
    "",
    question="where a gradient in {own} is negative, must its number go up or down to lower the loss?",
)
_OF_WEIGHTS = Step(
    "",
    question="which gradient in {own} belongs to the weight that changes the loss most when nudged?",
)
_PASSED = Step(
    "",
    question="does the gradient grow or shrink in {own} on its way from word to word?",
)


def passed_step(state: Matrix) -> Step:
    """The step that passes the gradient of a state of a recurrence from each row to the row before."""
    step = gradient_step(state)
    symbol = step.symbol[1:]
    return replace(
        step,
        symbol=f"{step.symbol}Above",
        note=(
            f"How the loss changes with {symbol} of the row above, through this row and those after "
            "it. Where it shrinks from row to row the gradient vanishes; where it grows it explodes."
        ),
        question=_PASSED.question,
    )


def gradient_step(node: Matrix) -> Step:
    """The step that is the gradient of a named matrix."""
    symbol = node.step.symbol if node.step else node.name
    asked = _OF_WEIGHTS if node.role == "weight" else _OF_VALUES
    return replace(
        asked,
        symbol=f"d{symbol}",
        note=(
            f"How the loss changes with {symbol}: where a number is positive, raising that number of "
            f"{symbol} a little raises the loss; learning lowers it."
        ),
        purpose=f"It points to where the loss grows: learning changes {symbol} the other way.",
    )
