"""Pleasant numbers are pleasant; a student's own numbers are their own, and as difficult."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import SAMPLES, alike, thorough

from attn_xl import CallError, InputError, Table, Tables, attend, read_tables
from attn_xl.teaching.lessons.variants import varied
from attn_xl.teaching.pleasant_numbers import pleasant

CAT = ["the", "cat", "chased", "the", "mouse"]
MATS = ["the", "dog", "sat", "on", "the", "mats"]
SAMPLE_NAMES = sorted(
    path.stem
    for path in SAMPLES.glob("*.xlsx")
    if not path.stem.endswith(("-attention", "-similarity"))
)


# Pleasant numbers


@alike
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dims", [3, 4])
def test_what_is_pleasant(seed: int, dims: int) -> None:
    tables = pleasant([CAT], dims, seed=seed)
    sentence = tables.sentences["Sentence"]
    assert set(sentence.values.ravel()) <= {-1, 0, 1, 2, 3}
    assert sentence.values.any(axis=1).all()
    assert len(np.unique(sentence.values, axis=0)) == 4  # "the" twice
    for table in tables.weights.values():
        assert set(table.values.ravel()) <= {-1, 0, 1, 2}
        assert table.values.any(axis=0).all()
        assert (table.values != 0).sum(axis=0).max() <= 3
    graph = attend(tables)["Sentence"]
    assert np.abs(graph["Scores"].values).max() <= 20
    softmax = graph["Softmax"].values
    assert (softmax.max(axis=1) <= 0.97).mean() > 0.75
    assert len({CAT[column] for column in softmax.argmax(axis=1)}) >= 2
    for name in "QKV":
        assert np.array_equal(graph[name].values, np.round(graph[name].values))


@alike
@pytest.mark.parametrize("seed", range(6))
def test_without_weights_the_words_still_see_each_other(seed: int) -> None:
    tables = pleasant([CAT], 4, weights=False, seed=seed)
    assert not tables.weights
    assert attend(tables)["Sentence"]["Softmax"].values.max() <= 0.98


@thorough
def test_a_word_has_one_embedding_and_different_words_different_ones() -> None:
    tables = pleasant([CAT, MATS, CAT], 2, seed=1)
    vectors: dict[str, set[tuple[float, ...]]] = {}
    for table in tables.sentences.values():
        for word, vector in zip(table.rows, table.values.tolist()):
            vectors.setdefault(word, set()).add(tuple(vector))
    assert all(len(found) == 1 for found in vectors.values())
    assert len(set.union(*vectors.values())) == len(vectors) == 8


@thorough
def test_the_same_seed_gives_the_same() -> None:
    assert _numbers(pleasant([CAT], 4, seed=5)) == _numbers(pleasant([CAT], 4, seed=5))
    assert _numbers(pleasant([CAT], 4, seed=5)) != _numbers(pleasant([CAT], 4, seed=6))


@pytest.mark.parametrize("sentences", [[], [[]], [["a"], []], [["a", " "]]])
def test_no_words(sentences: list[list[str]]) -> None:
    with pytest.raises(CallError, match="--words is empty"):
        pleasant(sentences, 2)


# A student's own numbers


def _numbers(tables: Tables) -> bytes:
    return b"".join(t.values.tobytes() for t in (*tables.sentences.values(), *tables.weights.values()))


def _tables(tables: Tables) -> dict[str, Table]:
    return {**tables.sentences, **tables.weights}


@alike
@pytest.mark.parametrize("name", SAMPLE_NAMES)
def test_only_the_places_of_the_numbers_change(name: str) -> None:
    tables = read_tables(SAMPLES / f"{name}.xlsx")
    mine = varied(tables, "s017")
    assert (mine.path, mine.settings) == (tables.path, tables.settings)
    assert _numbers(mine) != _numbers(tables)
    before, after = _tables(tables), _tables(mine)
    assert list(after) == list(before)
    for key, table in after.items():
        assert sorted(table.values.ravel()) == sorted(before[key].values.ravel()), key
        assert replace(table, values=before[key].values) == before[key]
    attend(mine)


def test_the_seed_and_the_spelling_of_the_id_count() -> None:
    tables = read_tables(SAMPLES / "mouse.xlsx")
    assert _numbers(varied(tables, "a", 1)) != _numbers(varied(tables, "a", 2))
    assert _numbers(varied(tables, "a")) != _numbers(varied(tables, "A"))
    assert _numbers(varied(tables, "Zo\u00eb")) == _numbers(varied(tables, "Zoe\u0308"))
    assert _numbers(varied(tables, "1", 11)) != _numbers(varied(tables, "11", 1))


@pytest.mark.parametrize("name", ["mouse", "language-model", "masks"])
@pytest.mark.parametrize("student", ["a", "b", "c"])
def test_a_word_keeps_one_vector_wherever_it_stands(name: str, student: str) -> None:
    tables = read_tables(SAMPLES / f"{name}.xlsx")
    mine = varied(tables, student)

    def vectors(of: Tables) -> dict[str, set[bytes]]:
        found: dict[str, set[bytes]] = {}
        embeddings = [*of.sentences.values(), *(of.weights[n] for n in of.weights if n == "Vocabulary")]
        for table in embeddings:
            for word, vector in zip(table.rows, table.values):
                found.setdefault(word, set()).add(vector.tobytes())
        return found

    before, after = vectors(tables), vectors(mine)
    assert {word: len(v) for word, v in before.items()} == {word: len(v) for word, v in after.items()}
    assert len(set.union(*before.values())) <= len(set.union(*after.values()))


def test_where_nothing_can_change_it_stays_as_it_is() -> None:
    table = pleasant([["a"]], 1).sentences["Sentence"]
    tables = Tables(Path("x"), {"s": table}, {})
    assert _numbers(varied(tables, "a")) == _numbers(tables)


def test_an_original_that_cannot_be_computed_is_said() -> None:
    tables = pleasant([CAT], 4)
    wrong = replace(tables, weights={"W_Q": replace(tables.weights["W_Q"], values=np.eye(3))})
    wrong.weights["W_Q"] = replace(wrong.weights["W_Q"], rows=("a", "b", "c"), columns=("x", "y", "z"))
    with pytest.raises(InputError, match="W_Q is 3 x 3"):
        varied(wrong, "a")
