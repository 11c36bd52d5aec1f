"""Similarity of words: dot products, magnitudes, cosines, and the words as vectors in the plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attn_xl.errors import CallError, InputError
from attn_xl.graph.functions import (
    angle,
    column_mean,
    column_variance,
    columns,
    concat,
    copy,
    gather,
    row_squares,
    row_sum,
    sqrt,
)
from attn_xl.graph.given import given, given_step
from attn_xl.graph.graph import Graph
from attn_xl.graph.matrix import Matrix, Numbers
from attn_xl.graph.step import Part, Scope
from attn_xl.settings import COMPARE
from attn_xl.tables.survey import Table

from . import steps
from .parts import COMPARISON
from .run import Results, Run


def similarity(x: Matrix) -> Matrix:
    """The angle between each pair of words, computed from their dot products and magnitudes.

    Args:
        x: embeddings, (n, d), one word per row.

    Returns:
        The angles in degrees, (n, n); `Graph(angles)` has `Dot`, `Magnitude`, `Cosine`, `Angle`.

    Raises:
        InputError: if a word's embedding has length 0, and so no direction: all zeros, or numbers so
            small that their squares are 0.

    Source: cosine similarity as in Jurafsky, Martin, "Speech and Language Processing", 6.4.
    """
    dot = (x @ x.T).as_step(steps.DOT)
    magnitude = sqrt(row_squares(x)).as_step(steps.MAGNITUDE)
    for word, length in zip(x.rows, magnitude.values[:, 0]):
        if not length:
            raise InputError(
                f"the length of the embedding of {word!r} is 0: it has no direction to compare. Give "
                "it a nonzero or a larger number, or leave the word out."
            )
    cosine = (dot / (magnitude * magnitude.T)).as_step(steps.COSINE)
    return angle(cosine).as_step(steps.ANGLE)


PROJECTED, EXPLAINED = "Projected", "Explained"
NOTES = {
    "Words": "The word vectors as given in the file, one word per row.",
    "Mean": "The mean of each column of Words.",
    "Centred": "The words minus the mean of each column, so that every column has mean 0.",
    "Components": (
        "Principal components: the directions in which the words differ most, as unit vectors "
        "whose largest number is positive. They stay fixed when a word is changed."
    ),
    PROJECTED: (
        "The coordinates of each word along the principal components. attn-xl convert, "
        "similarity and teach read this table as the sentence."
    ),
    EXPLAINED: (
        "The share of the words' variance that each component explains: the variance of its "
        "column of Projected, divided by the total variance of Words."
    ),
}


@dataclass(frozen=True, eq=False, repr=False)
class Components:
    """Principal components of words.

    Attributes:
        projected: (n, k), each word once; sentences: (n_i, k), rows of it, by name.
        explained: (1, k), the share of the variance that each component keeps.
    """

    projected: Matrix
    sentences: dict[str, Matrix]
    explained: Matrix

    @property
    def graph(self) -> Graph:
        return Graph(self.projected, self.explained, *self.sentences.values())


def components(words: Table, count: int, sentences: Mapping[str, Sequence[str]] = {}) -> Components:
    """The first principal components of words.

    Args:
        words: (n, d), each word once.
        count: k, how many components, from 1 to d.
        sentences: for each sentence its words.

    Returns:
        `Words`, `Mean`, `Centred`, `Components` (d, k), `Projected` and `Explained`. `Words` and
        `Components` are given numbers; the others are computed.

    Raises:
        CallError: if `count` is not between 1 and d, or there are fewer than two words.
        InputError: if all words have the same vector, or their numbers are too large or too small.

    Source: Jolliffe, "Principal Component Analysis" (2002), chapters 1 and 2.
    """
    try:
        return _computed(words, count, sentences)
    except InputError as error:
        raise InputError(f"{words.file}: {error}") from None


def _computed(words: Table, count: int, sentences: Mapping[str, Sequence[str]]) -> Components:
    n, d = words.shape
    if not 1 <= count <= d:
        raise CallError(
            f"--pca is {count}; it takes a whole number from 1 to {d}, the dimensions of the vectors."
        )
    if n < 2:
        raise CallError("--pca needs at least two different words.")
    if (words.values == words.values[0]).all():
        raise InputError("these words all have the same vector, so there are no components to compute.")
    x = given(words.values, words.rows, words.columns, "Words", NOTES["Words"])
    mean = column_mean(x).named("Mean", NOTES["Mean"])
    centred = (x - mean).named("Centred", NOTES["Centred"])
    labels = tuple(f"PC{number}" for number in range(1, count + 1))
    directions = given(
        principal_components(words.values, count).T,
        words.columns, labels, "Components", NOTES["Components"], "weight",
    )  # fmt: skip
    projected = (centred @ directions).named(PROJECTED, NOTES[PROJECTED])
    projections = {name: _sentence(name, projected, chosen) for name, chosen in sentences.items()}
    return Components(projected, projections, _explained(x, projected))


def _sentence(name: str, projected: Matrix, words: Sequence[str]) -> Matrix:
    rows = {word: row for row, word in enumerate(projected.rows)}
    picked = gather([(projected, rows[word]) for word in words], words)
    return picked.named(name, "The words of the sentence, each with its row of Projected.")


def _explained(x: Matrix, projected: Matrix) -> Matrix:
    """The variances and shares, all on one sheet."""
    variances = column_variance(x).named("Variances", "of each column of Words", sheet=EXPLAINED)
    total = row_sum(variances).named("Total", "all columns together", sheet=EXPLAINED)
    kept = column_variance(projected).named("Kept", "of each column of Projected", sheet=EXPLAINED)
    share = replace(kept / total, rows=("share",))
    return share.named(EXPLAINED, "of the total variance", sheet=EXPLAINED)


def principal_components(x: Numbers, count: int, *, centred: bool = True) -> Numbers:
    """The first principal components of the rows of `x`, (n, d), as rows, (count, d), each of length 1;
    those of the vectors as they are, from the origin, if they are not `centred`.

    The largest number of each is positive. Beyond the directions in which the rows vary, each is the
    unit vector that differs most from those before, so that machines agree. Finite numbers of any
    size are accepted: dividing all of them by the largest does not change the directions and keeps sums
    and squares finite.

    Source: Jolliffe, "Principal Component Analysis" (2002), 3.5, by singular values.
    """
    scaled = _scaled(x)
    measured = _scaled(scaled - scaled.mean(axis=0)) if centred else scaled
    _, sizes, directions = np.linalg.svd(measured, full_matrices=False)
    directions = directions[:count][sizes[:count] > 1e-9 * sizes.max(initial=1e-300)]
    while len(directions) < min(count, x.shape[1]):
        first = (1 - (directions**2).sum(axis=0)).round(9).argmax()
        rest = -directions[:, first] @ directions
        rest[first] += 1
        directions = np.vstack([directions, rest / np.linalg.norm(rest)])
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(len(directions)), largest])
    return np.asarray(directions * signs[:, None])


def _scaled(x: Numbers) -> Numbers:
    """`x` times the power of two that brings its largest number close to 1, without rounding."""
    _, power = np.frexp(np.abs(x).max(initial=0.0))
    return np.asarray(np.ldexp(np.ldexp(x, -(power // 2)), power // 2 - power))


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
        table = replace(concat(*parts), columns=AXES if joined else AXES_APART)
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
    table = concat(origin, to[0], origin, to[1])
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
    centre = column_mean(*parts[:MOST_CENTRED]).as_step(steps.CENTRE, part, sheet=COMPARE)
    shift = (centre @ directions).as_step(steps.SHIFT, part, sheet=COMPARE)
    return [directions, centre, shift], lambda x: x @ directions - shift


def build(run: Run, name: str, x: Matrix) -> Results:
    return *vectors(x), similarity(x), x
