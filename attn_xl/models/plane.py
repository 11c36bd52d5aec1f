"""The positions of words in a plane: before and after attention, or as arrows from the origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from attn_xl.graph.functions import column_mean, columns, concat, copy
from attn_xl.graph.matrix import Matrix, given_step
from attn_xl.graph.step import Part, Scope
from attn_xl.settings import COMPARE

from . import steps
from .parts import COMPARISON
from .principal_components import principal_components

AXES = ("x before", "x after", "y before", "y after")
AXES_APART = (
    "x of input",
    "x of output",
    "y of input",
    "y of output",
)
"""Axes if inputs and outputs lie in different spaces: each has its own plane."""
DIRECTIONS_STAY = (
    "The directions (principal components) were computed from the original numbers. They do "
    "not change when an input is changed."
)
ARROWS = "from x", "to x", "from y", "to y"
"""An arrow begins at the origin, (0, 0)."""
MOST_CENTRED = 50
"""Sentences in the mean that centres a projection, at most; a formula takes 255 ranges."""
DIGITS = 12
"""Decimals of the principal components; further ones differ between machines."""


def moves(ends: Mapping[str, tuple[Matrix, Matrix]]) -> list[Matrix]:
    """The positions of words in a plane before and after attention.

    Inputs and outputs share a plane only if they lie in the same space, that is, if their dimensions
    have the same names. Values that `W_V` projects have their own dimensions (`v1`, `v2`, ...).

    Two dimensions are used directly; more are projected onto two principal components, those of the
    inputs if outputs share their plane. Centring and projection are formulas; the components are fixed
    numbers, which do not change with the words.

    Args:
        ends: the input, (n, d), and the output, (n, d_v), of each sentence; all of the same d and d_v.

    Returns:
        For each sentence `Compare.NAME.Moves`, (n, 4), with the columns `AXES`, or `AXES_APART` for two
        planes; and the matrices of the projection.

    Source: Jolliffe, "Principal Component Analysis" (2002), chapter 1.
    """
    inputs, outputs = [x for x, _ in ends.values()], [output for _, output in ends.values()]
    if min(len(inputs[0].columns), len(outputs[0].columns)) < 2:
        return []
    joined = all(x.columns == output.columns for x, output in ends.values())
    matrices, project = _projection(COMPARISON if joined else _of_space("Input", "inputs"), inputs)
    matrices_after, project_after = (
        ([], project) if joined else _projection(_of_space("Output", "outputs"), outputs)
    )
    matrices += matrices_after
    for name, (x, output) in ends.items():
        before, after = project(x), project_after(output)
        parts = [columns(side, i, i + 1) for i in (0, 1) for side in (before, after)]
        several = len(ends) > 1
        part = COMPARISON.within(Scope(name, name)) if several else COMPARISON
        note = f"{name} words" if several else "words"
        table = replace(concat(parts), columns=AXES if joined else AXES_APART)
        matrices.append(table.as_step(steps.MOVES, part, note=note, sheet=COMPARE))
    return matrices


def vectors(x: Matrix) -> list[Matrix]:
    """The words as arrows from the origin of a plane, as `Vectors`, (n, 4), with the columns `ARROWS`;
    none for a single dimension.

    Two dimensions are used directly; more are projected on the two directions in which the vectors are
    longest, so that the arrows are shorter than the vectors. The directions are fixed numbers.

    Args:
        x: embeddings, (n, d).
    """
    if len(x.columns) < 2:
        return []
    plane = x
    if len(x.columns) > 2:
        components = principal_components(x.values, 2, centred=False)
        numbers, axes = np.round(components, DIGITS).T, ("1st", "2nd")
        plane = x @ given_step(numbers, x.columns, axes, steps.DIRECTIONS)
    to = [columns(plane, i, i + 1) for i in (0, 1)]
    origin = 0 * columns(x, 0, 1)
    table = concat([origin, to[0], origin, to[1]])
    return [replace(table, columns=ARROWS).as_step(steps.VECTORS, sheet=steps.VECTORS.symbol)]


def _of_space(symbol: str, words: str) -> Part:
    """The part of `Compare` with the projection of the inputs, or of the outputs."""
    return COMPARISON.within(Scope(symbol, words))


def _projection(part: Part, parts: list[Matrix]) -> tuple[list[Matrix], Callable[[Matrix], Matrix]]:
    """The matrices of a projection on two principal components, and the projection."""
    labels = parts[0].columns
    if len(labels) == 2:
        return [], copy
    components = principal_components(np.vstack([part.values for part in parts]), 2)
    numbers, axes = np.round(components, DIGITS).T, ("1st", "2nd")
    directions = given_step(numbers, labels, axes, steps.COMPONENTS, part)
    directions = replace(directions, sheet=COMPARE)
    centre = column_mean(parts[:MOST_CENTRED]).as_step(steps.CENTRE, part, sheet=COMPARE)
    shift = (centre @ directions).as_step(steps.SHIFT, part, sheet=COMPARE)
    return [directions, centre, shift], lambda x: x @ directions - shift
