"""Which typical slip gives exactly the number that was entered. Works on matrices; knows no file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from attn_xl.graph.node import Node, Numbers
from attn_xl.graph.operation import operation_of
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
from attn_xl.graph.operations.products import Product, Transpose

Slip = tuple[str, float]
Place = tuple[int, int]
"""A cell of a matrix by row and column, from 0."""
Wrong = tuple[float, Mapping[Node, Numbers]]
MOST_DECIMALS = 6
OF_SO_MANY = 4
"""A slip is said if it gives one at least of so many wrong numbers."""


def slips(node: Node, entered: Mapping[Place, Wrong]) -> dict[Place, str]:
    """What gives the numbers that were entered: "this is what you get by ...".

    Of what gives a number, that is said which gives most of the others, too: one slip that is made
    everywhere, rather than a coincidence in each cell. What gives few of many is one, and not said.

    Args:
        node: the matrix.
        entered: the wrong numbers in it, each with the numbers of each matrix, as the student has them;
            of those without a name, too.

    Returns:
        The words for each cell; "" where nothing known gives the number.
    """
    with np.errstate(all="ignore"):
        fitting = {
            (row, column): [
                said
                for said, value in _slips(node, row, column, numbers)
                if math.isfinite(value) and _same(number, value)
            ]
            for (row, column), (number, numbers) in entered.items()
        }
    cells = Counter(said for found in fitting.values() for said in set(found))
    made = {}
    for cell, found in fitting.items():
        said = max(found, key=lambda said: cells[said], default="")
        made[cell] = said if cells[said] * OF_SO_MANY >= len(entered) else ""
    return made


def _same(entered: float, value: float) -> bool:
    """Whether a number is another, or that one rounded to no fewer than two decimals."""
    if math.isclose(entered, value, rel_tol=1e-9, abs_tol=1e-9):
        return True
    digits = repr(float(entered)).partition("e")[0].partition(".")[2].rstrip("0")
    decimals = min(len(digits), MOST_DECIMALS)
    return decimals >= 2 and abs(entered - value) <= 0.5 * 10.0**-decimals * (1 + 1e-6)


def _slips(node: Node, row: int, column: int, numbers: Mapping[Node, Numbers]) -> Iterator[Slip]:
    operation = operation_of(node)
    parents = [numbers[parent] for parent in node.parents]
    made = np.asarray(operation.numbers(*parents))
    yield from _own(node, row, column, parents, numbers)
    yield from _anywhere(node, made, row, column)


def _own(
    node: Node, row: int, column: int, parents: list[Numbers], numbers: Mapping[Node, Numbers]
) -> Iterator[Slip]:
    operation = operation_of(node)
    if isinstance(operation, Product):
        turned = isinstance(node.parents[1].operation, Transpose)
        yield from _product(parents[0], parents[1], row, column, turned)
    elif operation is DIVIDE:
        yield from _softmax(node, row, column, numbers)
        yield from _quotient(node, row, column, parents, numbers)
    elif operation in (ADD, SUBTRACT, MULTIPLY):
        x, y = (_at(parent, row, column) for parent in parents)
        yield from _two(x, y, node)
    elif operation is EXP:
        yield from _power(node, row, column, parents[0], numbers)
    elif operation is SQRT:
        yield "leaving out the root", _at(parents[0], row, column)
    elif operation in (MAXIMUM, SUM, MEAN, VARIANCE, SQUARES):
        yield from _row(node, parents[0][row])


def _product(left: Numbers, right: Numbers, row: int, column: int, turned: bool) -> Iterator[Slip]:
    x, y = left[row], right[:, column]
    yield "adding in place of multiplying", float(np.sum(x + y))
    if len(x) > 1:
        if right.shape[0] == right.shape[1]:
            what = "a column in place of the row" if turned else "a row in place of the column"
            yield f"taking {what} of the second matrix", float(x @ right[column])
        yield "leaving out the last product", float(x[:-1] @ y[:-1])
        yield "leaving out the first product", float(x[1:] @ y[1:])
        yield "adding the numbers without their signs", float(np.abs(x * y).sum())
        for k in range(len(x)):
            flipped = x * y
            flipped[k] = -flipped[k]
            yield f"the wrong sign in product {k + 1}", float(flipped.sum())


def _quotient(
    node: Node, row: int, column: int, parents: list[Numbers], numbers: Mapping[Node, Numbers]
) -> Iterator[Slip]:
    above, below = (_at(parent, row, column) for parent in parents)
    root = _root_in(node.parents[1])
    if root is not None:
        inside = _at(numbers[root.parents[0]], row, column)
        name = root.parents[0].name or "the number under the root"
        yield f"dividing by {name} in place of √{name}", above / (below * np.sqrt(inside))
    what = "forgetting to scale" if root is not None else "forgetting to divide"
    yield what, above
    yield "multiplying in place of dividing", above * below
    yield "dividing the other way round", below / above


def _root_in(node: Node) -> Node | None:
    """The root that a divisor has in it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.operation is SQRT:
            return one
        if one.scalar:
            waiting.extend(one.parents)
    return None


def _softmax(node: Node, row: int, column: int, numbers: Mapping[Node, Numbers]) -> Iterator[Slip]:
    """Of exponentials divided by their sum."""
    above = node.parents[0]
    if above.operation is not EXP:
        return
    shifted = above.parents[0]
    scores = numbers[shifted.parents[0]] if shifted.operation is SUBTRACT else numbers[shifted]
    exponentials = numbers[above]
    raw = np.exp(scores)
    yield "the softmax over the column in place of the row", _share(raw, row, column)
    yield "dividing by the sum of the column", _share(exponentials, row, column)
    yield "dividing by the sum of all", float(exponentials[row, column] / exponentials.sum())
    yield "forgetting to divide by the sum", float(exponentials[row, column])
    yield "e to the power of the score, not divided by the sum", float(raw[row, column])
    yield (
        "dividing the scores themselves, without e to their power",
        float(scores[row, column] / scores[row].sum()),
    )


def _share(x: Numbers, row: int, column: int) -> float:
    return float(x[row, column] / x[:, column].sum())


def _two(x: float, y: float, node: Node) -> Iterator[Slip]:
    operation = operation_of(node)
    said = {ADD: "adding", SUBTRACT: "subtracting", MULTIPLY: "multiplying"}
    here = said[operation]  # type: ignore[index]
    for other, value in ((ADD, x + y), (SUBTRACT, x - y), (MULTIPLY, x * y)):
        if other is not operation:
            yield f"{said[other]} in place of {here}", value
    if operation is SUBTRACT:
        yield "subtracting the other way round", y - x
    yield f"{here} nothing", x


def _power(
    node: Node, row: int, column: int, inside: Numbers, numbers: Mapping[Node, Numbers]
) -> Iterator[Slip]:
    power = _at(inside, row, column)
    shifted = node.parents[0]
    if shifted.operation is SUBTRACT:
        score = _at(numbers[shifted.parents[0]], row, column)
        yield "forgetting to subtract the maximum", float(np.exp(score))
    yield "leaving out e to the power of", power
    yield "taking 10 in place of e", float(np.power(10.0, power))
    yield "taking 2 in place of e", float(np.power(2.0, power))
    yield "multiplying by e", power * math.e


def _row(node: Node, x: Numbers) -> Iterator[Slip]:
    operation = node.operation
    others = {
        "the smallest in place of the largest": (MAXIMUM, x.min()),
        "the largest without its sign": (MAXIMUM, np.abs(x).max()),
        "the mean in place of the sum": (SUM, x.mean()),
        "the sum in place of the mean": (MEAN, x.sum()),
        "dividing by one fewer (the variance of a sample)": (VARIANCE, _sample(x)),
        "the standard deviation in place of the variance": (VARIANCE, x.std()),
        "the sum in place of the sum of squares": (SQUARES, x.sum()),
    }
    for said, (own, value) in others.items():
        if own is operation:
            yield said, float(value)


def _sample(x: Numbers) -> float:
    return float(x.var() * len(x) / (len(x) - 1)) if len(x) > 1 else math.nan


def _anywhere(node: Node, made: Numbers, row: int, column: int) -> Iterator[Slip]:
    """What goes wrong with any number: its sign, its place, its decimal point."""
    number = float(made[row, column])
    yield "the wrong sign", -number
    n, m = made.shape
    if n > 1 and m > 1 and row != column and column < n and row < m:
        yield "row and column swapped", float(made[column, row])
    if node.role == "attention":
        yield "a percentage in place of the share", 100 * number
    yield "a decimal point one place off", 10 * number
    yield "a decimal point one place off", number / 10
    if n == m > 1 and row != column:
        for along, k in (("row", row), ("column", column)):
            said = f"taking the number of the diagonal all along the {along}"
            yield f"{said} (a reference that does not move)", float(made[k, k])
    for j in range(m):
        if j != column and _once(made, row, j):
            yield f"the number of another column ({node.columns[j]})", float(made[row, j])
    for i in range(n):
        if i != row and _once(made, i, column):
            yield f"the number of another row ({node.rows[i]})", float(made[i, column])


def _once(x: Numbers, row: int, column: int) -> bool:
    """Whether a number stands in one cell only: else it says nothing about where it was taken from."""
    return int(np.isclose(x, x[row, column], rtol=1e-9, atol=1e-9).sum()) == 1


def _at(x: Numbers, row: int, column: int) -> np.float64:
    """The number that goes with a cell; of a single row or column, the one that goes with each. It
    divides by 0 without an error."""
    return np.float64(x[min(row, x.shape[0] - 1), min(column, x.shape[1] - 1)])
