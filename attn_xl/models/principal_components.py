"""Principal components of word vectors, as computed matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attn_xl.errors import CallError, InputError
from attn_xl.graph.functions import column_mean, column_variance, gather, row_sum
from attn_xl.graph.matrix import Matrix, given
from attn_xl.graph.node import Graph, Numbers
from attn_xl.tables.survey import Table

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
    mean = column_mean([x]).named("Mean", NOTES["Mean"])
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

    The largest number of each is positive. Finite numbers of any size are accepted: dividing all of
    them by the largest does not change the directions and keeps sums and squares finite.

    Source: Jolliffe, "Principal Component Analysis" (2002), 3.5, by singular values.
    """
    scaled = _scaled(x)
    measured = _scaled(scaled - scaled.mean(axis=0)) if centred else scaled
    _, _, directions = np.linalg.svd(measured, full_matrices=min(x.shape) < count)
    directions = directions[:count]
    largest = np.abs(directions).argmax(axis=1)
    signs = np.sign(directions[np.arange(len(directions)), largest])
    return np.asarray(directions * signs[:, None])


def _scaled(x: Numbers) -> Numbers:
    """`x` times the power of two that brings its largest number close to 1, without rounding."""
    _, power = np.frexp(np.abs(x).max(initial=0.0))
    return np.asarray(np.ldexp(np.ldexp(x, -(power // 2)), power // 2 - power))
