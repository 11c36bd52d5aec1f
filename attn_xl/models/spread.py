"""Why scores are divided by √d: the spread of dot products grows with the number of dimensions."""

from __future__ import annotations

from dataclasses import replace

from attn_xl.errors import InputError
from attn_xl.graph.functions import column_variance, concat, counted, gather, running_sum, sqrt
from attn_xl.graph.matrix import Matrix

from . import steps
from .run import Results, Run

COLUMNS = "spread", "√d", "spread / √d"


def spread(x: Matrix) -> Matrix:
    """The standard deviation of the dot products of neighbouring words in their first 1, 2, ..., d
    dimensions, beside √d.

    Args:
        x: embeddings, (n, d), such as random numbers of mean 0 and variance 1; one word per row.

    Returns:
        (d, 3): the spread, √d, and the one divided by the other, which stays near 1.
        `Graph(spread)` has `Products`, (n - 1, d), and `Dots`, (n - 1, d).

    Raises:
        InputError: for fewer than 3 words.

    Source: Vaswani et al., "Attention Is All You Need" (2017), footnote 4 of section 3.2.1.
    """
    n = len(x.rows)
    if n < 3:
        raise InputError(f"a spread of dot products needs at least 3 words, not {n}. Add rows.")
    pairs = [f"{one} · {other}" for one, other in zip(x.rows, x.rows[1:])]
    one, other = (gather([(x, row + of) for row in range(n - 1)], pairs) for of in (0, 1))
    products = (one * other).as_step(steps.PRODUCTS)
    dots = running_sum(products).as_step(steps.DOTS)
    dimensions = tuple(map(str, range(1, len(x.columns) + 1)))
    deviation = sqrt(column_variance(dots).T)  # (d, 1)
    root = sqrt(counted(1, dimensions))
    table = concat(deviation, root, deviation / root)
    table = replace(table, rows=dimensions, columns=COLUMNS)
    return table.described("the spread of each column of Dots, √d, and the ratio").as_step(steps.SPREAD)


def build(run: Run, name: str, x: Matrix) -> Results:
    return spread(x), x
