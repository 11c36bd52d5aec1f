"""The same exercise with different numbers for each student, as hard as the original."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.matrix import Numbers
from attn_xl.models import steps
from attn_xl.models.build import attend
from attn_xl.models.computation import Computation
from attn_xl.settings import Settings
from attn_xl.tables.survey import Table, Tables

SOFT = 0.98
"""Largest attention weight that is always acceptable; above it, the original sets the limit."""
TRIES = 40
_KEPT = steps.MASK.symbol
_EMBEDDINGS = steps.VOCABULARY.symbol


def varied(tables: Tables, student: str, seed: int = 0, settings: Settings | None = None) -> Tables:
    """The same workbook with different numbers for one student: same shapes, words, weights, settings.

    The numbers of each table move to other cells of it, so that all students compute with the same
    digits, zeros and signs, and no row or column of weights becomes all 0. A word that has the same
    vector in several places has a single vector again. `Mask` stays unchanged.

    Args:
        tables: the original.
        student: the student's id; the same id gets the same numbers.
        seed: random seed; another one gives every student different numbers.
        settings: the model and its options; those written in the workbook if None.

    Raises:
        InputError: if the model cannot be computed from the original or from any variant.
        CallError: for settings that `attend` refuses.
    """
    rng = np.random.default_rng(_seeds(student, seed))
    original = _measured(tables, attend(tables, settings))
    best: Tables | None = None
    least: tuple[float, ...] = ()
    for _ in range(TRIES):
        drawn = _drawn(tables, rng)
        try:
            measured = _measured(drawn, attend(drawn, settings))
        except InputError:  # numbers too large, a sum of 0
            continue
        worse = tuple(max(0.0, new - old) for new, old in zip(measured, original))
        worse = (float(_same(tables, drawn)), *worse)
        if best is None or worse < least:
            best, least = drawn, worse
        if not any(worse):
            break
    if best is None:
        raise InputError(
            f"{tables.path}: the model cannot be computed with the numbers in other cells. Use "
            "numbers that are smaller or closer together."
        )
    return best


def _seeds(student: str, seed: int) -> np.random.SeedSequence:
    """Seeds that are the same on every machine and in every run, unlike Python's own hash."""
    text = f"{seed}\0{unicodedata.normalize('NFC', student)}"
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return np.random.SeedSequence(int.from_bytes(digest, "big"))


def _drawn(tables: Tables, rng: np.random.Generator) -> Tables:
    embeddings = {("", name): table for name, table in tables.sentences.items()}
    if _EMBEDDINGS in tables.weights:
        embeddings["weights", _EMBEDDINGS] = tables.weights[_EMBEDDINGS]
    values = _other_embeddings(embeddings, rng)
    sentences = {
        name: replace(table, values=values["", name]) for name, table in tables.sentences.items()
    }
    weights = dict(tables.weights)
    for name, table in weights.items():
        if ("weights", name) in values:
            weights[name] = replace(table, values=values["weights", name])
        elif name.rpartition(".")[2] != _KEPT:
            weights[name] = replace(table, values=shuffled(table.values, rng))
    return replace(tables, sentences=sentences, weights=weights)


def _other_embeddings(tables: dict[Any, Table], rng: np.random.Generator) -> dict[Any, Numbers]:
    """New values for each table, equal where the same word had the same vector.

    Only words that occur equally often in every table exchange numbers, so that each table keeps all
    its numbers.
    """
    places: dict[tuple[str, bytes], dict[Any, list[int]]] = {}
    for name, table in tables.items():
        for row, (word, vector) in enumerate(zip(table.rows, table.values)):
            places.setdefault((word, vector.tobytes()), {}).setdefault(name, []).append(row)
    alike: dict[Any, list[dict[Any, list[int]]]] = {}
    for found in places.values():
        alike.setdefault(tuple((name, len(rows)) for name, rows in found.items()), []).append(found)
    new = {name: table.values.copy() for name, table in tables.items()}
    for group in alike.values():
        name = next(iter(group[0]))
        block = shuffled(tables[name].values[[found[name][0] for found in group]], rng)
        for vector, found in zip(block, group):
            for name, rows in found.items():
                new[name][rows] = vector
    return new


def shuffled(values: Numbers, rng: np.random.Generator) -> Numbers:
    """`values` (n, m) in other cells: rows and columns are permuted, then the nonzero numbers among
    themselves. So no row or column has more zeros than some row or column had before."""
    rows, columns = values.shape
    moved = values[rng.permutation(rows)][:, rng.permutation(columns)]
    moved[moved != 0] = rng.permutation(moved[moved != 0])
    return np.asarray(moved)


def _same(tables: Tables, other: Tables) -> bool:
    return all(
        np.array_equal(table.values, twin.values) for table, twin in zip(_all(tables), _all(other))
    )


def _all(tables: Tables) -> Iterator[Table]:
    yield from tables.sentences.values()
    yield from tables.weights.values()


def _measured(tables: Tables, computation: Computation) -> tuple[float, ...]:
    """Measures in which a variant must not exceed the original: words that share a vector, dimensions
    that are all 0, uniform rows of attention, rows that see a single word, the largest weight."""
    uniform = single = 0
    largest = SOFT
    for graph in computation.values():
        for node in graph.values():
            if node.role == "attention":
                seen = node.values != 0
                low = np.where(seen, node.values, np.inf).min(axis=1)
                high = node.values.max(axis=1)
                uniform += int(np.sum((low == high) & (seen.sum(axis=1) > 1)))
                single += int(np.sum(high > SOFT))
                largest = max(largest, float(high.max()))
    alike = sum(_alike(table) for table in tables.sentences.values())
    empty = sum(int(np.sum(~t.values.any(axis=0))) for t in tables.sentences.values())
    return float(alike), float(empty), float(uniform), float(single), largest


def _alike(table: Table) -> int:
    """The number of different words that have the vector of another word."""
    pairs = {(word, vector.tobytes()) for word, vector in zip(table.rows, table.values)}
    return len(pairs) - len({vector for _, vector in pairs})
