"""How far a model can see: how strongly each word of the output depends on each word of the input.

Shapes: n words, d dimensions of the input, m of the output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.functions import block_norms
from attn_xl.graph.given import given_step
from attn_xl.graph.gradients import gradients_from
from attn_xl.graph.graph import walk
from attn_xl.graph.matrix import Matrix, shapes_only
from attn_xl.graph.step import WHOLE, Part, Scope
from attn_xl.text import shortened

from . import steps

MOST_NUMBERS = 60_000
"""Numbers of all gradients up to which every word of the output has its row."""
MOST_AT_ALL = 4_000_000
"""Numbers of the gradients of one word, at most."""


def influence(x: Matrix, output: Matrix) -> tuple[Matrix, str]:
    """The norm of each block of the Jacobian, ‖∂ output_i / ∂ x_j‖.

    Args:
        x: the input, (n, d).
        output: computed from it, (k, m).

    Returns:
        (k, n), or (1, n) for the last word if all words would take too many numbers; and a remark on
        that, or "".

    Raises:
        InputError: if even one word takes too many numbers.

    Source: the Frobenius norm of the Jacobian as in Pascanu, Mikolov, Bengio, "On the difficulty of
    training recurrent neural networks" (2013).
    """
    last, width = len(output.rows) - 1, len(output.columns)
    with shapes_only():
        before = set(walk([output]))
        first = _gradient(x, output, last, 0)
        size = sum(node.values.size for node in walk([first]) if node.name and node not in before)
    if size * width > MOST_AT_ALL:
        raise InputError(
            f"the influence on one word takes {size * width:,} numbers, more than {MOST_AT_ALL:,}. Use "
            "fewer words (--range selects part of a table) or dimensions, or omit --influence."
        )
    words: Sequence[int] = range(last + 1)
    remark = ""
    if size * width * len(words) > MOST_NUMBERS:
        remark = (
            f"Influence has the row of the last word only: all {len(words)} words would take "
            f"{size * width * len(words):,} numbers."
        )
        words = [last]
    parts = [_gradient(x, output, word, column) for word in words for column in range(width)]
    rows = [output.rows[word] for word in words]
    return block_norms(parts, width, rows, x.rows).as_step(steps.INFLUENCE), remark


def _gradient(x: Matrix, output: Matrix, word: int, column: int) -> Matrix:
    """How one number of the output changes with the input, (n, d), on the sheet of the gradients."""
    scope = Scope(f"J{word + 1}_{column + 1}", "Jacobian")
    which = f"{shortened(output.rows[word], 20)}, {shortened(output.columns[column], 20)}"

    def place(d: Matrix) -> Matrix:
        assert d.step is not None
        part = Part((scope, *d.part.scopes), d.part.head, d.part.number)
        return d.as_step(
            d.step,
            part,
            note=f"{d.name} for {which}",
            sheet=steps.JACOBIAN,
        )

    one = np.zeros(output.shape)
    one[word, column] = 1
    seed = given_step(one, output.rows, output.columns, steps.INFLUENCE_SEED, WHOLE)
    return gradients_from(output, place(seed), [x], place)[0]
