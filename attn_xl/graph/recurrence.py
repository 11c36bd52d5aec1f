"""Matrices whose rows are computed from the row above: recurrences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .graph import walk
from .loops import Loop
from .matrix import Matrix, operation_of, shapes_only
from .operations.elementwise import constant
from .operations.selection import Previous, Repeated, shifted_rows
from .terms import Reads


def recurrence(
    rows: Sequence[str],
    states: Sequence[tuple[str, Matrix | Sequence[str]]],
    body: Callable[..., Sequence[Matrix]],
    *,
    reverse: bool = False,
) -> tuple[Matrix, ...]:
    """Matrices each of whose rows is computed from the row above, as in a recurrent network.

    Args:
        rows: the labels of the n rows.
        states: for each state its name and its initial row, (1, h), or the labels of its columns for a
            row of zeros.
        body: computes the states, (n, h) each and named as in `states`. It takes for each state the
            matrix of its previous rows, (n, h): row t is row t - 1 of the state. What depends on these
            is computed row by row; it may use products with other matrices on the right, sums and
            maxima of rows, and whatever works number by number.
        reverse: whether each row is computed from the row below, beginning with the last.

    Returns:
        The states.

    Raises:
        TypeError: if the body mixes rows of what depends on a state.
        NotFinite: if a number is infinite or NaN.

    Example:
        >>> import attn_xl
        >>> from attn_xl.graph.recurrence import recurrence
        >>> x = attn_xl.given([[1], [2], [3]], ["a", "b", "c"], ["x"], "X")
        >>> start = attn_xl.given([[0]], ["start"], ["x"], "Start")
        >>> recurrence(x.rows, [("Total", start)], lambda total: [(total + x).named("Total")])[0]
        Total = Total[t-1] + X, 3 x 1
           x
        a  1
        b  3
        c  6
    """
    loop, offset = Loop(reverse), 1 if reverse else -1
    picks = shifted_rows(offset, len(rows))
    starts = [_start(start) for _, start in states]
    with shapes_only() as already:
        previous = [
            _previous(start, rows, Previous(picks, offset, name, loop))
            for (name, _), start in zip(states, starts)
        ]
        made = tuple(body(*previous))
    targets = {}
    for (name, _), one, start, state in zip(states, previous, starts, made, strict=True):
        is_named = state.name == name or state.name.endswith(f".{name}")  # inside a scope
        if not is_named or state.shape != one.shape:
            raise TypeError(
                f"the state {state.name or 'without a name'} is {state.shape}, but {name} needs to be "
                f"{one.shape}"
            )
        targets[one.operation] = state, start
    first = previous[0].order
    for node in (*previous, *walk(made)):
        if node.operation in targets:  # also one that got cells of its own
            object.__setattr__(node, "parents", targets[node.operation])
    inside = [node for node in walk(made) if node.order >= first]
    looping = {node for node in inside if node.operation in targets}
    for node in inside:
        if not looping.isdisjoint(node.parents):
            looping.add(node)
    loop.states = made
    loop.nodes = tuple(node for node in inside if node in looping)
    for node in loop.nodes:
        _check_by_row(node, looping)
    if not already:
        for node in inside:
            if node.operation is not None and node not in looping:
                node.fill(operation_of(node).numbers(*(parent.values for parent in node.parents)))
        for node, numbers in loop.numbers().items():
            node.fill(numbers)
    return made


def _start(start: Matrix | Sequence[str]) -> Matrix:
    if isinstance(start, Matrix):
        return start.in_cells
    return Repeated(1, len(start))(constant(0), columns=start)


def _previous(start: Matrix, rows: Sequence[str], operation: Previous) -> Matrix:
    return Matrix(
        np.broadcast_to(1.0, (len(rows), len(start.columns))),
        tuple(rows), start.columns, operation, (start,),
    )  # fmt: skip


def _check_by_row(node: Matrix, looping: set[Matrix]) -> None:
    """Refuse a step that reads other rows of the loop than its own."""
    operation = operation_of(node)
    for number, parent in enumerate(node.parents):
        own = operation.same_in_every_row and operation.reads_of(number) in (Reads.number, Reads.row)
        if parent in looping and not own and not isinstance(operation, Previous):
            raise TypeError(
                f"{node.name or node.words} reads several rows of {parent.as_operand}, which is "
                f"computed "
                "row by row"
            )
