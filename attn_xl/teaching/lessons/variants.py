"""The same exercise with other numbers for each student, as hard as the original. Knows no file."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.node import Numbers
from attn_xl.models.build import attend
from attn_xl.models.computation import Computation
from attn_xl.settings import Settings
from attn_xl.tables.survey import Table, Tables

SOFT = 0.98
"""Attention weights up to here are never too large; larger ones only where the original has such."""
TRIES = 40
_KEPT = "Mask"
_EMBEDDINGS = "Vocabulary"


def varied(tables: Tables, student: str, seed: int = 0, settings: Settings | None = None) -> Tables:
    """The same workbook with numbers of one student's own: the same shapes, words, weights, settings.

    The numbers of each table are put into other cells of it, so that all have the same digits, zeros
    and signs to compute with, and no row or column of weights becomes all 0. A word that has the same
    vector in several places has one vector again. `Mask` stays as it is.

    Args:
        tables: the original.
        student: who it is for; the same student gets the same numbers.
        seed: another seed gives everybody other numbers.
        settings: the model and its choices; those written in the workbook if None.

    Raises:
        InputError: if the model cannot be computed from the original, or from none of the draws.
        CallError: for settings that cannot be carried out.
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
            f"{tables.path}: with its numbers in other cells the model cannot be computed. Choose "
            "numbers that are smaller, or less far apart."
        )
    return best


def _seeds(student: str, seed: int) -> np.random.SeedSequence:
    """The same on every machine and in every run, which Python's own hash is not."""
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
    """New values for each table, the same for the same word with the same vector.

    Words that occur equally often in every table exchange numbers with each other, and only those:
    then each table keeps all its numbers.
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
    """`values` (n, m) in other cells: rows and columns in another order, then all that is not 0 among
    the cells that are not 0. So no row or column has more zeros than one had before."""
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
    """What a draw must not have more of than the original: words that share a vector, dimensions that
    are all 0, rows of attention that are uniform, rows that see one word alone, the largest weight."""
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
    """How many different words have the vector of another."""
    pairs = {(word, vector.tobytes()) for word, vector in zip(table.rows, table.values)}
    return len(pairs) - len({vector for _, vector in pairs})
