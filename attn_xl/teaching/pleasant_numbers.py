"""Random embeddings and weights that are easy to compute with by hand.

Easy means small whole numbers, few nonzero factors, scores of moderate size, and attention that is
neither concentrated on one word nor uniform. Of some candidates, the one with the fewest faults wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from attn_xl.errors import CallError
from attn_xl.graph.matrix import Numbers
from attn_xl.models import steps
from attn_xl.models.build import attend
from attn_xl.settings import Settings
from attn_xl.spreadsheets.addresses import MAX_COLUMNS, MAX_ROWS, MOST_CELLS
from attn_xl.tables.survey import Table, Tables
from attn_xl.text import clean

VALUES, SHARES = (0.0, 1.0, 2.0, 3.0, -1.0), (0.42, 0.34, 0.14, 0.06, 0.04)
"""The entries of embeddings, and their probabilities."""
MOST_SCORE, MOST_WEIGHT, MOST_VALUE = 20, 0.97, 6
"""Largest faultless score, attention weight, and entry of Q, K or V."""
TRIES, MOST_JUDGED = 40, 200
"""Candidates, and the words up to which there are several."""


def pleasant(
    sentences: Sequence[Sequence[str]],
    dims: int,
    *,
    heads: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    weights: bool = True,
    seed: int = 0,
) -> Tables:
    """An input for a lesson: small whole numbers that show attention well.

    Args:
        sentences: the words of each sentence; equal words have equal embeddings.
        dims: the width d of the embeddings; a sentence of n words has shape (n, d).
        heads: number of heads for multi-head attention; adds W_O (heads · d_v, d) and the setting
            `heads`.
        d_k: the width of the queries and keys of one head; W_Q and W_K are (d, heads · d_k). Defaults
            to d / heads, or d without heads.
        d_v: the width of the values of one head; W_V is (d, heads · d_v). Defaults like d_k.
        weights: whether to make weights; without them Q = K = V = Input.
        seed: seed of the random numbers; equal seeds give equal numbers.

    Raises:
        CallError: if a size is out of range or too large for a workbook.
    """
    words = [[clean(word) for word in sentence] for sentence in sentences]
    if not words or not all(words) or not all(map(all, words)):
        raise CallError('--words is empty; it takes at least one word: --words "the cat sat".')
    if seed < 0:
        raise CallError(f"--seed is {seed}; it must be at least 0.")
    shapes = _shapes(dims, heads, d_k, d_v, weights)
    sizes = [(len(sentence), dims) for sentence in words] + list(shapes.values())
    rows, columns = map(max, zip(*sizes))
    if rows >= MAX_ROWS or columns >= MAX_COLUMNS or sum(n * m for n, m in sizes) > MOST_CELLS:
        raise CallError(
            f"a table of {rows:,} rows or {columns:,} columns does not fit a sheet, or a workbook that "
            "programs open. Use fewer --words or smaller widths."
        )
    settings = {"heads": heads} if heads is not None else {}
    rng = np.random.default_rng(seed)
    several = sum(map(len, words)) + dims <= MOST_JUDGED
    return min((_candidate(rng, words, dims, shapes, settings) for _ in range(TRIES if several else 1)),
               key=_faults if several else lambda _: 0.0)  # fmt: skip


def _shapes(
    dims: int, heads: int | None, d_k: int | None, d_v: int | None, weights: bool
) -> dict[str, tuple[int, int]]:
    """The shape of each weight, by name."""
    for name, value in (("dims", dims), ("d-k", d_k), ("d-v", d_v), ("heads", heads)):
        if value is not None and value < 1:
            raise CallError(f"--{name} is {value}; it must be at least 1.")
    Settings(heads=heads)  # has a limit of its own
    if not weights:
        for name, value in (("heads", heads), ("d-k", d_k), ("d-v", d_v)):
            if value is not None:
                raise CallError(
                    f"--{name} cannot be combined with --no-weights: it sets the shape of the weights."
                )
        return {}
    parts = heads or 1
    if dims % parts and (d_k is None or d_v is None):
        raise CallError(
            f"--dims {dims} does not split into --heads {heads} of equal width. Set --dims to a "
            f"multiple of {heads}, or set --d-k and --d-v, the widths of one head."
        )
    k, v = parts * (d_k or dims // parts), parts * (d_v or dims // parts)
    shapes = {"W_Q": (dims, k), "W_K": (dims, k), "W_V": (dims, v)}
    return shapes if heads is None else {**shapes, "W_O": (v, dims)}


def _candidate(
    rng: np.random.Generator,
    sentences: list[list[str]],
    dims: int,
    shapes: dict[str, tuple[int, int]],
    settings: dict[str, int],
) -> Tables:
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(w for s in sentences for w in s))}
    vectors = _embeddings(rng, len(vocabulary), dims)
    names = [f"sentence {i}" for i in range(1, len(sentences) + 1)] if sentences[1:] else ["Sentence"]
    d = _numbered("d", dims)
    tables = {
        name: _table(name, vectors[[vocabulary[word] for word in sentence]], sentence, d)
        for name, sentence in zip(names, sentences)
    }
    made = {}
    for name, (rows, columns) in shapes.items():
        above = d if name == "W_O" else _numbered(name[-1].lower(), columns)
        beside = _numbered("v", rows) if name == "W_O" else d
        made[name] = _table(name, _weights(rng, rows, columns), beside, above)
    return Tables(Path("input.xlsx"), tables, made, dict(settings))


def _numbered(letter: str, count: int) -> list[str]:
    return [f"{letter}{i}" for i in range(1, count + 1)]


def _table(name: str, values: Numbers, rows: Iterable[str], columns: Iterable[str]) -> Table:
    labels = tuple(rows), tuple(columns)
    return Table(name, values, *labels, (True, True), "input.xlsx", name, 2, 2)


def _embeddings(rng: np.random.Generator, count: int, dims: int) -> Numbers:
    """Rows with entries from `VALUES`, drawn anew while one is all zeros or like an earlier one, where
    there are enough vectors."""
    vectors = np.zeros((count, dims))
    for _ in range(100):
        _, first = np.unique(vectors, axis=0, return_index=True)
        again = ~vectors.any(axis=1) | ~np.isin(np.arange(count), first)
        if not again.any():
            break
        vectors[again] = rng.choice(VALUES, (int(again.sum()), dims), p=SHARES)
    vectors[~vectors.any(axis=1), 0] = 1
    return vectors


def _weights(rng: np.random.Generator, rows: int, columns: int) -> Numbers:
    """Weights with one to three nonzero numbers per column, mostly 1; every row is used if possible."""
    weights = np.zeros((rows, columns))
    order = rng.permutation(rows).tolist()
    numbers = rng.choice((1.0, -1.0, 2.0), (columns, 3), p=(0.78, 0.17, 0.05))
    seconds = rng.integers(1, max(2, rows), columns).tolist()
    second = rng.random(columns) < 0.6
    for column in range(columns):
        at = order[column % rows :: columns][:3]
        if len(at) == 1 and rows > 1 and second[column]:
            at.append((at[0] + seconds[column]) % rows)
        weights[at, column] = numbers[column, : len(at)]
    return weights


def _faults(tables: Tables) -> float:
    """The faults of a candidate: shares of numbers that are too large, of rows of attention weights
    that look at one word or at all alike, and of words that no row, or no vector, tells apart."""
    faults = 0.0
    for node in (node for graph in attend(tables).graphs.values() for node in graph.values()):
        values, different = np.abs(node.values), len(set(node.rows))
        if node.role == "attention" and len(set(node.columns)) > 1:
            seen = {node.columns[column] for column in values.argmax(axis=1)}
            faults += 2 * float(
                np.mean((values.max(axis=1) > MOST_WEIGHT) | (np.ptp(values, axis=1) == 0))
            )
            faults += 1 - len(seen) / len(set(node.columns))
        elif node.is_step(steps.SCORES):
            faults += 2 * float(np.mean(values > MOST_SCORE)) + float(values.max() > MOST_SCORE)
        elif node.is_step(steps.QUERIES, steps.KEYS, steps.VALUES):
            faults += float(np.mean(values > MOST_VALUE)) + float(np.mean(~values.any(axis=0)))
            faults += 1 - min(different, len(np.unique(node.values, axis=0))) / different
    return faults
