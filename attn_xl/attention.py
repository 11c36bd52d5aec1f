"""Attention as the paper has it, one short function each. Knows nothing of files or sheets.

Shapes: n words; d dimensions of an embedding; d_k of queries and keys; d_v of values.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2; equation (1) is
Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V.
"""

from __future__ import annotations

from collections.abc import Mapping

from .operations import Matrix, copy, gather, softmax, sqrt, width

COMPARE_NOTE = (
    "What attention made of the words that several sentences share: the same input, another output."
)


def self_attention(
    x: Matrix,
    w_q: Matrix | None = None,
    w_k: Matrix | None = None,
    w_v: Matrix | None = None,
    *,
    scale: bool = True,
) -> Matrix:
    """Every word of a sentence attends to every word of it.

    A projection that is not given leaves the embeddings as they are, so without weights
    Q = K = V = Input.

    Args:
        x: embeddings, (n, d), one word a row.
        w_q, w_k: (d, d_k) each.
        w_v: (d, d_v).
        scale: divide the scores by √d_k.

    Returns:
        The output, (n, d_v); `Graph(output)` has every step by name.

    Raises:
        ValueError: if the shapes do not fit.
        InputError: if a number grows beyond what a spreadsheet holds.

    Source: Vaswani et al. (2017), 3.2.1; the projections as in 3.2.2 with one head.
    """
    q = _projected(x, w_q).named("Q", "Queries: what each word is looking for.")  # (n, d_k)
    k = _projected(x, w_k).named("K", "Keys: what each word has to offer.")  # (n, d_k)
    v = _projected(x, w_v).named("V", "Values: what each word passes on.")  # (n, d_v)
    return scaled_dot_product_attention(q, k, v, scale=scale)


def _projected(x: Matrix, weights: Matrix | None) -> Matrix:
    return copy(x) if weights is None else x @ weights


def scaled_dot_product_attention(q: Matrix, k: Matrix, v: Matrix, *, scale: bool = True) -> Matrix:
    """softmax(Q Kᵀ / √d_k) V, each step named.

    Args:
        q: queries, (n, d_k).
        k: keys, (m, d_k).
        v: values, (m, d_v).
        scale: divide the scores by √d_k.

    Returns:
        The output, (n, d_v).

    Raises:
        ValueError: if the shapes do not fit.
        InputError: if a number grows beyond what a spreadsheet holds.

    Source: Vaswani et al. (2017), equation (1).
    """
    scores = (q @ k.T).named(  # (n, m)
        "Scores", "How well the query of each word (row) matches the key of each word (column)."
    )
    if scale:
        d_k = width(k).named("d_k", "the width of the queries and keys", helper=True)
        scores = (scores / sqrt(d_k)).named(
            "Scaled", "The scores brought down to a size that keeps the softmax soft."
        )
    weights = softmax(scores).named(  # (n, m)
        "Softmax",
        "The attention weights: how much each word (row) looks at each word (column). "
        "Every row sums to 1.",
        role="attention",
    )
    return (weights @ v).named(  # (n, d_v)
        "Output", "Each word's new vector: the values, mixed by its attention weights."
    )


def compare(sentences: Mapping[str, tuple[Matrix, Matrix]]) -> list[Matrix]:
    """What attention made of the words that several sentences share.

    Args:
        sentences: for each sentence its input, (n, d), and its output, (n, d_v).

    Returns:
        For each word that occurs in more than one of the sentences: its input vectors, its output
        vectors, one row for each occurrence, and how each differs from the first.

    Raises:
        ValueError: if the sentences do not have the same dimensions.
    """
    places: dict[str, list[tuple[str, int]]] = {}
    for sentence, (x, _) in sentences.items():
        for row, word in enumerate(x.rows):
            places.setdefault(word, []).append((sentence, row))

    compared: list[Matrix] = []
    for word, occurrences in places.items():
        names = [sentence for sentence, _ in occurrences]
        if len(set(names)) < 2:
            continue
        labels = [
            sentence if names.count(sentence) == 1 else f"{sentence}, word {row + 1}"
            for sentence, row in occurrences
        ]
        others = range(1, len(labels))
        for which, step in enumerate(("Input", "Output")):
            vectors = gather(
                [(sentences[sentence][which], row) for sentence, row in occurrences], labels
            ).named(f"Compare.{word}.{step}", f"{word}: {step.lower()}", sheet="Compare")
            later = gather(
                [(vectors, row) for row in others],
                [f"{labels[row]} − {labels[0]}" for row in others],
            )
            difference = (later - gather([(vectors, 0) for _ in others], later.rows)).named(
                f"Compare.{word}.{step}.Difference",
                f"{word}: {step.lower()}, difference",
                sheet="Compare",
            )
            compared += [vectors, difference]
    return compared
