"""Guessing which typical slip produced a wrong number."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from attn_xl.graph.node import Node, Numbers
from attn_xl.graph.operation import operation_of, view_of
from attn_xl.graph.operations.catalogue import (
    ADD,
    DIVIDE,
    EXP,
    MAXIMUM,
    MEAN,
    MULTIPLY,
    SQRT,
    SQUARES,
    SUBTRACT,
    SUM,
    VARIANCE,
)
from attn_xl.languages import shown, translate
from attn_xl.teaching.lessons.blanks import unit_of

from .formula_slips import formula_slips

Slip = tuple[str, float]
Place = tuple[int, int]
"""A cell of a matrix by row and column, from 0."""
Wrong = tuple[float, Mapping[Node, Numbers]]
MOST_DECIMALS = 6
LEAST_SHARE, FEW_WRONG = 1 / 2, 4
"""Of more than a few wrong numbers of a matrix, a slip that explains a smaller share is chance."""


def slips(node: Node, entered: Mapping[Place, Wrong]) -> dict[Place, str]:
    """The slips that give the wrong numbers of a matrix.

    If several slips give a number, the one that explains most of the matrix's wrong numbers wins: one
    slip made throughout is more likely than a coincidence in each cell. If two explain as many, none is
    named; nor is one that explains few of them, which counts as a coincidence.

    Args:
        node: the matrix.
        entered: the wrong numbers in it, each with the student's numbers of every matrix, intermediate
            ones included.

    Returns:
        A phrase for each cell; "" if no known slip gives its number.
    """
    found_slips = dict.fromkeys(entered, "")
    support = dict.fromkeys(entered, 0)
    least = LEAST_SHARE * len(entered) if len(entered) > FEW_WRONG else 1
    within: dict[int, list[tuple[str, Numbers]]] = {}

    def operations(
        node: Node, row: int, column: int, numbers: Mapping[Node, Numbers]
    ) -> Iterator[Slip]:
        own = list(_slips_of_operation(node, row, column, numbers))
        yield from own
        if id(numbers) not in within:
            within[id(numbers)] = list(formula_slips(node, numbers))
        for slip, made in within[id(numbers)]:
            value = float(made[row, column])
            if not any(math.isclose(value, known, rel_tol=1e-9) for _, known in own):
                yield slip, value  # otherwise the operation has a phrase for it

    for kind in (operations, _slips_of_any_number):  # what can be told apart is said precisely
        with np.errstate(all="ignore"):
            fitting = {
                cell: [
                    slip
                    for slip, value in kind(node, *cell, numbers)
                    if math.isfinite(value) and same_number(number, value)
                ]
                for cell, (number, numbers) in entered.items()
            }
        cells = Counter(slip for found in fitting.values() for slip in set(found))
        for cell, found in fitting.items():
            best = max((cells[slip] for slip in found), default=0)
            if best > support[cell] and best >= least:
                rivals = {slip for slip in found if cells[slip] == best}
                found_slips[cell] = rivals.pop() if len(rivals) == 1 else ""
                support[cell] = best
    telling = {slip for cell, slip in found_slips.items() if entered[cell][0]}  # 0 has many causes
    found_slips = {cell: slip if slip in telling else "" for cell, slip in found_slips.items()}
    exchanged = _exchanged(node, entered)
    rivals = {found_slips[cell] for cell in exchanged}
    if len(rivals) == 1 and rivals != {""}:  # columns of opposite numbers: exchanged, or the sign?
        exchanged = dict.fromkeys(exchanged, "")
    return found_slips | exchanged


def _exchanged(node: Node, entered: Mapping[Place, Wrong]) -> dict[Place, str]:
    """The cells of two rows or columns that stand in each other's place."""
    if not entered:
        return {}
    wrong = np.full(node.shape, np.nan)
    for cell, (number, _) in entered.items():
        wrong[cell] = number
    numbers = next(numbers for _, numbers in entered.values())
    with np.errstate(all="ignore"):
        should = np.asarray(operation_of(node).numbers(*(numbers[parent] for parent in node.parents)))
    now = np.where(np.isnan(wrong), should, wrong)
    unit = unit_of(node)
    found: dict[Place, str] = {}
    for labels, turned in ((node.columns, True), (node.rows, False)):
        a, b = (now.T, should.T) if turned else (now, should)
        lines = {cell[int(turned)] for cell in entered}
        for i, j in combinations(sorted(lines), 2):
            with np.errstate(all="ignore"):
                off = np.abs(a[[i, j]] - b[[j, i]]) - 1e-5 * np.abs(b[[j, i]])
            if (off <= 0.005 * unit).all():
                cells = [cell for cell in entered if cell[int(turned)] in (i, j)]
                if len(cells) > 1:
                    first, second = shown(labels[i]), shown(labels[j])
                    if turned:
                        slip = translate(
                            "exchanging the columns {first} and {second}", first=first, second=second
                        )
                    else:
                        slip = translate(
                            "exchanging the rows {first} and {second}", first=first, second=second
                        )
                    found |= dict.fromkeys(cells, slip)
    return found


def same_number(entered: float, value: float) -> bool:
    """Whether a number equals another, or that number rounded to two or more decimals."""
    if math.isclose(entered, value, rel_tol=1e-9, abs_tol=1e-9):
        return True
    digits = repr(float(entered)).partition("e")[0].partition(".")[2].rstrip("0")
    decimals = min(len(digits), MOST_DECIMALS)
    return decimals >= 2 and abs(entered - value) <= 0.5 * 10.0**-decimals * (1 + 1e-6)


def _slips_of_operation(
    node: Node, row: int, column: int, numbers: Mapping[Node, Numbers]
) -> Iterator[Slip]:
    operation = operation_of(node)
    parents = [numbers[parent] for parent in node.parents]
    if operation.is_product:
        view = view_of(node.parents[1])
        is_transposed = view is not None and view.turned
        yield from _product(parents[0], parents[1], row, column, is_transposed)
        yield from _other_factors(node, parents, row, column, numbers)
    elif operation is DIVIDE:
        own = list(_softmax(node, row, column, numbers))
        yield from own
        same = {translate("forgetting to divide")} if own else set()
        for slip, value in _quotient(node, row, column, parents, numbers):
            if slip not in same:
                yield slip, value
    elif operation in (ADD, SUBTRACT, MULTIPLY):
        x, y = (_at(parent, row, column) for parent in parents)
        yield from _slips_of_two_operands(x, y, node)
    elif operation is EXP:
        yield from _power(node, row, column, parents[0], numbers)
    elif operation is SQRT:
        yield translate("leaving out the square root"), _at(parents[0], row, column)
    elif operation in (MAXIMUM, SUM, MEAN, VARIANCE, SQUARES):
        yield from _row(node, parents[0][row])


def _product(left: Numbers, right: Numbers, row: int, column: int, turned: bool) -> Iterator[Slip]:
    x, y = left[row], right[:, column]
    yield translate("adding instead of multiplying"), float(np.sum(x + y))
    if len(x) > 1:
        if right.shape[0] == right.shape[1]:
            if turned:
                slip = translate("using a column instead of the row of the second matrix")
            else:
                slip = translate("using a row instead of the column of the second matrix")
            yield slip, float(x @ right[column])
        yield translate("leaving out the last product"), float(x[:-1] @ y[:-1])
        yield translate("leaving out the first product"), float(x[1:] @ y[1:])
        for k in range(1, len(x) - 1):
            yield (
                translate("leaving out product {number}, as if it were 0", number=k + 1),
                float(x @ y - x[k] * y[k]),
            )
        yield translate("ignoring the signs of the products"), float(np.abs(x * y).sum())
        for k in range(len(x)):
            flipped = x * y
            if flipped[k] < 0 and np.sum(flipped < 0) == 1:
                continue  # the same as ignoring all signs
            flipped[k] = -flipped[k]
            yield translate("wrong sign in product {number}", number=k + 1), float(flipped.sum())


def _other_factors(
    node: Node, parents: list[Numbers], row: int, column: int, numbers: Mapping[Node, Numbers]
) -> Iterator[Slip]:
    """Products of a matrix that is not meant: other weights of this shape, transposed attention."""
    left, right = parents
    meant = node.parents[1]
    for other, values in numbers.items():
        alike = other.role == meant.role == "weight" and other.name and values.shape == right.shape
        if alike and not np.array_equal(values, right):
            value = float(left[row] @ values[:, column])
            yield (
                translate("using {other} instead of {meant}", other=other.name, meant=meant.name),
                value,
            )
    if node.parents[0].role == "attention" and left.shape[0] == left.shape[1]:
        name = node.parents[0].name
        yield (
            translate("using a column of {name} instead of the row", name=name),
            float(left[:, row] @ right[:, column]),
        )


def _quotient(
    node: Node, row: int, column: int, parents: list[Numbers], numbers: Mapping[Node, Numbers]
) -> Iterator[Slip]:
    above, below = (_at(parent, row, column) for parent in parents)
    root = _root_in(node.parents[1])
    if root is not None:
        inside = _at(numbers[root.parents[0]], row, column)
        name = root.parents[0].name or translate("the number under the root")
        slip = translate("dividing by {name} instead of √{name}", name=name)
        yield slip, above / (below * np.sqrt(inside))
        yield translate("forgetting to scale"), above
    else:
        yield translate("forgetting to divide"), above
    yield translate("multiplying instead of dividing"), above * below
    yield translate("dividing the other way round"), below / above


def _root_in(node: Node) -> Node | None:
    """The square root in a divisor, if it has one."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.operation is SQRT:
            return one
        if one.scalar:
            waiting.extend(one.parents)
    return None


def _softmax(node: Node, row: int, column: int, numbers: Mapping[Node, Numbers]) -> Iterator[Slip]:
    """Slips in dividing exponentials by their sum."""
    above = node.parents[0]
    if above.operation is not EXP:
        return
    shifted = above.parents[0]
    scores = numbers[shifted.parents[0]] if shifted.operation is SUBTRACT else numbers[shifted]
    exponentials = numbers[above]
    raw = np.exp(scores)
    yield translate("softmax over the column instead of the row"), _share(raw, row, column)
    yield translate("dividing by the sum of the column"), _share(exponentials, row, column)
    yield (
        translate("dividing by the sum of the whole matrix"),
        float(exponentials[row, column] / exponentials.sum()),
    )
    if exponentials.shape[0] == exponentials.shape[1]:
        seen = exponentials[row, : row + 1]
        hidden = float(exponentials[row, column] / seen.sum()) if column <= row else 0.0
        yield translate("hiding later words, as with a causal mask"), hidden
    yield translate("forgetting to divide by the sum"), float(exponentials[row, column])
    yield translate("the exponential of the score, not divided by the sum"), float(raw[row, column])
    yield (
        translate("dividing the scores themselves, without taking exponentials"),
        float(scores[row, column] / scores[row].sum()),
    )


def _share(x: Numbers, row: int, column: int) -> float:
    return float(x[row, column] / x[:, column].sum())


def _slips_of_two_operands(x: float, y: float, node: Node) -> Iterator[Slip]:
    operation = operation_of(node)
    second = node.parents[1]
    leaving_out = translate("leaving out {term}", term=second.name or translate(second.words))
    if operation is ADD:
        yield translate("subtracting instead of adding"), x - y
        yield translate("multiplying instead of adding"), x * y
        yield leaving_out, x
    elif operation is SUBTRACT:
        yield translate("adding instead of subtracting"), x + y
        yield translate("multiplying instead of subtracting"), x * y
        yield translate("subtracting the other way round"), y - x
        yield translate("subtracting nothing"), x
    else:
        yield translate("adding instead of multiplying"), x + y
        yield translate("subtracting instead of multiplying"), x - y
        yield leaving_out, x


def _power(
    node: Node, row: int, column: int, inside: Numbers, numbers: Mapping[Node, Numbers]
) -> Iterator[Slip]:
    power = _at(inside, row, column)
    shifted = node.parents[0]
    if shifted.operation is SUBTRACT:
        score = _at(numbers[shifted.parents[0]], row, column)
        yield translate("forgetting to subtract the maximum"), float(np.exp(score))
    yield translate("leaving out the exponential"), power
    yield translate("using 10 instead of e as the base"), float(np.power(10.0, power))
    yield translate("using 2 instead of e as the base"), float(np.power(2.0, power))
    yield translate("multiplying by e"), power * math.e


def _row(node: Node, x: Numbers) -> Iterator[Slip]:
    operation = node.operation
    others = {
        translate("the smallest instead of the largest number"): (MAXIMUM, x.min()),
        translate("the largest absolute value"): (MAXIMUM, np.abs(x).max()),
        translate("the mean instead of the sum"): (SUM, x.mean()),
        translate("the sum instead of the mean"): (MEAN, x.sum()),
        translate("dividing by n − 1 instead of n (sample variance)"): (VARIANCE, _sample(x)),
        translate("the standard deviation instead of the variance"): (VARIANCE, x.std()),
        translate("the sum instead of the sum of squares"): (SQUARES, x.sum()),
    }
    for slip, (own, value) in others.items():
        if own is operation:
            yield slip, float(value)


def _sample(x: Numbers) -> float:
    return float(x.var() * len(x) / (len(x) - 1)) if len(x) > 1 else math.nan


def _slips_of_any_number(
    node: Node, row: int, column: int, numbers: Mapping[Node, Numbers]
) -> Iterator[Slip]:
    """Slips possible with any number: its sign, its place, its decimals."""
    parents = [numbers[parent] for parent in node.parents]
    results = np.asarray(operation_of(node).numbers(*parents))
    number = float(results[row, column])
    rounded = (
        translate("rounding to whole numbers"),
        translate("rounding to one decimal"),
        translate("rounding to two decimals"),
    )
    for decimals, slip in enumerate(rounded):
        if math.isfinite(number) and round(number, decimals) != number:
            yield slip, round(number, decimals)
    yield translate("wrong sign"), -number
    n, m = results.shape
    if n > 1 and m > 1 and row != column and column < n and row < m:
        yield translate("row and column swapped"), float(results[column, row])
    if node.role == "attention":
        yield translate("a percentage instead of a fraction"), 100 * number
    yield translate("decimal point one place off"), 10 * number
    yield translate("decimal point one place off"), number / 10
    if n == m > 1 and row != column:
        yield (
            translate("repeating the diagonal's number along the row (a fixed reference)"),
            float(results[row, row]),
        )
        yield (
            translate("repeating the diagonal's number along the column (a fixed reference)"),
            float(results[column, column]),
        )
    for j in range(m):
        if j != column and _once(results, row, j):
            yield (
                translate("the number from another column ({column})", column=shown(node.columns[j])),
                float(results[row, j]),
            )
    for i in range(n):
        if i != row and _once(results, i, column):
            yield (
                translate("the number from another row ({row})", row=shown(node.rows[i])),
                float(results[i, column]),
            )


def _once(x: Numbers, row: int, column: int) -> bool:
    """Whether a number occurs in one cell only; otherwise its origin is ambiguous."""
    return int(np.isclose(x, x[row, column], rtol=1e-9, atol=1e-9).sum()) == 1


def _at(x: Numbers, row: int, column: int) -> np.float64:
    """The entry at a row and column; a single row or column is broadcast. A NumPy float, so that
    dividing by 0 raises no error."""
    return np.float64(x[min(row, x.shape[0] - 1), min(column, x.shape[1] - 1)])
