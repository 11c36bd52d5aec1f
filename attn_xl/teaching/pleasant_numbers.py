"""Random embeddings and weights that are easy to compute with by hand.

Easy means small whole numbers, few nonzero factors, scores of moderate size, and attention that is
neither concentrated on one word nor uniform. Candidates are drawn from a seed until one has no fault;
if none is faultless, the one with the fewest faults wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from attn_xl.errors import CallError
from attn_xl.graph.node import Graph, Numbers
from attn_xl.models import steps
from attn_xl.models.build import attend
from attn_xl.settings import Settings
from attn_xl.spreadsheets.addresses import MAX_COLUMNS, MAX_ROWS, MAX_TEXT, MOST_CELLS, too_long
from attn_xl.tables.survey import Table, Tables
from attn_xl.text import clean, shortened

VALUES = (1, 0, 2, 3, -1)
"""The entries of embeddings. The next line has their probabilities, for candidates with small and with
larger numbers in turn."""
_SMALL, _LARGE = (0.33, 0.50, 0.11, 0.02, 0.04), (0.30, 0.38, 0.20, 0.08, 0.04)
MOST_SCORE, MOST_WEIGHT, MOST_VALUE = 20, 0.97, 6
"""Largest faultless score (of up to four products), attention weight, and entry of Q, K or V."""
NO_FAULT = 0.02
"""Accepted fault rate: in large tables a few numbers may be off."""
MOST_SEEN = 8
"""Distinct words that need to attract the most attention, however long the sentence."""
_TRIES, _BUDGET, _LEAST_WORK = 100, 150_000_000, 1_000_000
"""Most candidates; multiplications spent on judging them all; least cost of judging one."""
_JUDGED_WORDS, _JUDGED_SENTENCES = 300, 20


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
    _check_sentences(words)
    _check_seed(seed)
    shapes = _shapes(dims, heads, d_k, d_v, weights)
    _check_sizes(words, dims, shapes)
    settings = {"heads": heads} if heads is not None else {}
    best, fewest = None, float("inf")
    rng = np.random.default_rng(seed)
    for attempt in range(_tries(words, dims, shapes)):
        tables = _draw_candidate(rng, words, dims, shapes, settings, _LARGE if attempt % 2 else _SMALL)
        found = _faults(tables)
        if found < fewest:
            best, fewest = tables, found
        if found <= NO_FAULT:
            break
    assert best is not None
    return best


# Validation


def _check_sentences(sentences: list[list[str]]) -> None:
    if not sentences or not all(sentences) or not all(map(all, sentences)):
        raise CallError('--words is empty; it takes at least one word: --words "the cat sat".')
    word = too_long(word for sentence in sentences for word in sentence)
    if word is not None:
        raise CallError(
            f"--words: the word {shortened(word, 20)!r} has {len(word):,} characters; a cell holds at "
            f"most {MAX_TEXT:,}. Shorten it."
        )


def _check_seed(seed: int) -> None:
    if seed < 0:
        raise CallError(f"--seed is {seed}; it must be at least 0.")


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


def _check_sizes(sentences: list[list[str]], dims: int, shapes: dict[str, tuple[int, int]]) -> None:
    """Refuse tables that, with their labels, exceed a sheet or a workbook that programs can open."""
    sizes = [(len(sentence), dims) for sentence in sentences] + list(shapes.values())
    rows, columns = max(r for r, _ in sizes), max(c for _, c in sizes)
    if columns >= MAX_COLUMNS:
        raise CallError(
            f"a table of {columns:,} columns does not fit: beside the labels, a sheet holds at most "
            f"{MAX_COLUMNS - 1:,}. Reduce --dims, --d-k or --d-v."
        )
    if rows >= MAX_ROWS:
        raise CallError(
            f"a table of {rows:,} rows does not fit: below the headings, a sheet holds at most "
            f"{MAX_ROWS - 1:,}. Use fewer --words."
        )
    numbers = sum(r * c for r, c in sizes)
    if numbers > MOST_CELLS:
        raise CallError(
            f"the input would have {numbers:,} numbers; spreadsheet programs open at most about "
            f"{MOST_CELLS:,}. Use fewer --words or smaller widths."
        )


# Drawing


def _tries(sentences: list[list[str]], dims: int, shapes: dict[str, tuple[int, int]]) -> int:
    """The number of candidates to draw and judge. It depends on the amount of work, not on the time, so
    that equal calls give equal numbers on every machine."""
    width = sum(columns for _, columns in shapes.values()) or 2 * dims
    work = sum(len(sentence) * dims for sentence in sentences) + (10 * dims + 1000) * width
    for sentence in sentences[:_JUDGED_SENTENCES]:
        n = min(len(sentence), _JUDGED_WORDS)
        work += max(_LEAST_WORK, n * n * (width + 20) + n * dims * width)
    return int(max(1, min(_TRIES, _BUDGET // work)))


def _draw_candidate(
    rng: np.random.Generator,
    sentences: list[list[str]],
    dims: int,
    shapes: dict[str, tuple[int, int]],
    settings: dict[str, Any],
    shares: Sequence[float],
) -> Tables:
    """One candidate."""
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(w for s in sentences for w in s))}
    vectors = _embeddings(rng, len(vocabulary), dims, shares)
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


def _embeddings(rng: np.random.Generator, count: int, dims: int, shares: Sequence[float]) -> Numbers:
    """Rows with entries from `VALUES`: none is all zeros; all differ if enough vectors exist."""

    def draw(rows: int) -> Numbers:
        return np.asarray(rng.choice(np.array(VALUES, dtype=np.float64), (rows, dims), p=shares))

    vectors = draw(count)
    if len(VALUES) ** dims <= count:  # not enough distinct vectors
        vectors[~vectors.any(axis=1), 0] = 1
        return vectors
    for _ in range(4):
        again = _empty_or_repeated(vectors)
        vectors[again] = draw(len(again))
    again = _empty_or_repeated(vectors)
    if len(again):  # few unused vectors are left: enumerate them
        used = set(map(tuple, np.delete(vectors, again, axis=0).tolist())) | {(0,) * dims}
        left = (vector for vector in product(VALUES, repeat=dims) if vector not in used)
        vectors[again] = list(islice(left, len(again)))
    return vectors


def _empty_or_repeated(vectors: Numbers) -> Any:
    _, first = np.unique(vectors, axis=0, return_index=True)
    wrong = np.ones(len(vectors), dtype=bool)
    wrong[first] = False
    return np.flatnonzero(wrong | ~vectors.any(axis=1))


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


# Judging


def _faults(tables: Tables) -> float:
    """The fault score of a candidate; 0 is faultless."""
    some = islice(tables.sentences.items(), _JUDGED_SENTENCES)
    judged = {name: _beginning(table, _JUDGED_WORDS) for name, table in some}
    computation = attend(replace(tables, sentences=judged))
    return sum(map(_sentence_faults, computation.graphs.values())) / len(judged)


def _beginning(table: Table, rows: int) -> Table:
    return replace(table, values=table.values[:rows], rows=table.rows[:rows])


def _sentence_faults(graph: Graph) -> float:
    faults, heads = 0.0, 0
    for node in graph.values():
        values = node.values
        if node.role == "attention":
            faults += _attention_faults(values, node.columns)
            heads += 1
        elif node.is_step(steps.SCORES):
            products = len(node.parents[0].columns)
            faults += 2 * float(np.mean(np.abs(values) > MOST_SCORE * max(1.0, products / 4)))
            faults += float(values.size > 1 and np.ptp(values) == 0)
        elif node.is_step(steps.QUERIES, steps.KEYS, steps.VALUES):
            faults += float(np.mean(np.abs(values) > MOST_VALUE))
            faults += float(np.mean(~values.any(axis=0)))
            faults += _share_of_duplicates(values, node.rows)
    return faults / heads


def _share_of_duplicates(values: Numbers, words: Sequence[str]) -> float:
    """The share of words whose rows equal those of another word: attention cannot distinguish them."""
    different = len(set(words))
    return 1 - min(different, len(np.unique(values, axis=0))) / different


def _attention_faults(weights: Numbers, words: Sequence[str]) -> float:
    """The faults of attention weights: saturated or uniform rows, ties, too few words attended to."""
    different = len(set(words))
    if different == 1:
        return 0.0
    saturated = float(np.mean(weights.max(axis=1) > MOST_WEIGHT))
    uniform = float(np.mean(np.ptp(weights, axis=1) == 0))
    several = sum(
        len({words[column] for column in np.flatnonzero(row == row.max()).tolist()}) > 1
        for row in weights
    ) / len(weights)
    seen = len({words[column] for column in weights.argmax(axis=1).tolist()})
    wanted = min(different // 2 + 1, MOST_SEEN)
    return 2 * saturated + 2 * uniform + several / 2 + max(0, wanted - seen) / wanted
