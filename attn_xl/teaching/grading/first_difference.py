"""Where to look in a sum of products that no known slip explains: the first product that differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from attn_xl.graph.node import Node, Numbers
from attn_xl.graph.operation import operation_of
from attn_xl.languages import current_language, translate
from attn_xl.teaching.lessons.function_names import figure_in
from attn_xl.views.explanation import figure

from .known_slips import same_number

DECIMALS = 4


def first_difference(
    node: Node, row: int, column: int, entered: float, numbers: Mapping[Node, Numbers]
) -> str:
    """Which product of a cell's sum differs from what gives the student's number, in a sentence.

    If changing one product, and no other, gives that number, it is named; else the first product is
    shown, to begin the comparison with. "" for a cell that is not a sum of products.
    """
    if not operation_of(node).is_product:
        return ""
    left, right = (numbers[parent] for parent in node.parents)
    x, y = left[row], right[:, column]
    if not np.isfinite([*x, *y]).all() or len(x) < 2:
        return ""
    terms = x * y
    rest = terms.sum() - terms
    found: dict[int, float] = {}
    for k in range(len(terms)):
        for value in _alternatives(float(x[k]), float(y[k]), y, k):
            if value != terms[k] and same_number(entered, float(rest[k] + value)):
                found.setdefault(k, value)
    if len(found) == 1:
        ((k, value),) = found.items()
        return translate(
            "Only product {number} differs: {product} = {value}, but your number has {other} there.",
            number=k + 1,
            product=f"{_shown(x[k])}·{_shown(y[k])}",
            value=_shown(terms[k]),
            other=_shown(value),
        )
    return translate(
        "Compare product by product; the first is {product} = {value}.",
        product=f"{_shown(x[0])}·{_shown(y[0])}",
        value=_shown(terms[0]),
    )


def _alternatives(x: float, y: float, column: Numbers, k: int) -> Iterator[float]:
    """What may stand in place of a product: nothing, its other sign, a sum, a factor alone, the next or
    the last factor of the column, the product twice or rounded."""
    product = x * y
    yield from (0.0, -product, x + y, x - y, x, y, 2 * product, x * x, y * y)
    yield from (x * float(column[j]) for j in (k - 1, k + 1) if 0 <= j < len(column))
    yield from (round(product), round(product, 1), 10 * product, product / 10)


def _shown(number: float) -> str:
    return figure_in(current_language(), figure(float(number), DECIMALS))
