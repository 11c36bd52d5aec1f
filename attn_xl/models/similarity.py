"""Similarity of words: dot product, magnitude, cosine and angle."""

from __future__ import annotations

from attn_xl.errors import InputError
from attn_xl.graph.functions import angle, row_squares, sqrt
from attn_xl.graph.matrix import Matrix

from . import steps


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
