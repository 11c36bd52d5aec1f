"""Pleasant numbers are pleasant; a student's own numbers are their own, and as difficult."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, SAMPLES, thorough

from attn_xl import CallError, InputError, Table, Tables, attend, read_tables
from attn_xl.teaching.lessons.variants import shuffled, varied
from attn_xl.teaching.pleasant_numbers import pleasant

CAT = ["the", "cat", "chased", "the", "mouse"]
MATS = ["the", "dog", "sat", "on", "the", "mats"]
SAMPLE_NAMES = sorted(
    path.stem
    for path in SAMPLES.glob("*.xlsx")
    if not path.stem.endswith(("-attention", "-similarity"))
)


# Pleasant numbers


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


def test_negative_embeddings_are_few() -> None:
    drawn = [pleasant([CAT], 4, seed=seed).sentences["Sentence"].values for seed in range(20)]
    assert 0 < (np.array(drawn) < 0).mean() < 0.12


@pytest.mark.parametrize("seed", range(6))
def test_without_weights_the_words_still_see_each_other(seed: int) -> None:
    tables = pleasant([CAT], 4, weights=False, seed=seed)
    assert not tables.weights
    assert attend(tables)["Sentence"]["Softmax"].values.max() <= 0.98


def test_a_word_has_one_embedding_and_different_words_different_ones() -> None:
    tables = pleasant([CAT, MATS, CAT], 2, seed=1)
    vectors: dict[str, set[tuple[float, ...]]] = {}
    for table in tables.sentences.values():
        for word, vector in zip(table.rows, table.values.tolist()):
            vectors.setdefault(word, set()).add(tuple(vector))
    assert all(len(found) == 1 for found in vectors.values())
    assert len(set.union(*vectors.values())) == len(vectors) == 8


@pytest.mark.parametrize(
    ("count", "dims"), [(4, 1), (24, 2), (120, 3), pytest.param(600, 4, marks=thorough)]
)
def test_as_many_words_as_there_are_vectors(count: int, dims: int) -> None:
    values = pleasant([[f"w{i}" for i in range(count)]], dims).sentences["Sentence"].values
    assert len(np.unique(values, axis=0)) == count
    assert values.any(axis=1).all()


def test_more_words_than_vectors() -> None:
    values = pleasant([[f"w{i}" for i in range(30)]], 2).sentences["Sentence"].values
    assert values.any(axis=1).all()


def test_heads_are_a_setting_and_widths_are_of_one_head() -> None:
    tables = pleasant([CAT], 6, heads=2, d_v=5)
    assert tables.settings == {"heads": 2}
    shapes = {name: table.shape for name, table in tables.weights.items()}
    assert shapes == {"W_Q": (6, 6), "W_K": (6, 6), "W_V": (6, 10), "W_O": (10, 6)}
    assert pleasant([CAT], 4, heads=1).settings == {"heads": 1}
    assert "W_O" not in pleasant([CAT], 4).weights


def test_the_same_seed_gives_the_same() -> None:
    assert _numbers(pleasant([CAT], 4, seed=5)) == _numbers(pleasant([CAT], 4, seed=5))
    assert _numbers(pleasant([CAT], 4, seed=5)) != _numbers(pleasant([CAT], 4, seed=6))


def test_many_short_sentences_do_not_take_long() -> None:
    begun = time.perf_counter()
    pleasant([["a", f"w{i}"] for i in range(400)], 4)
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize("sentences", [[], [[]], [["a"], []], [["a", " "]]])
def test_no_words(sentences: list[list[str]]) -> None:
    with pytest.raises(CallError, match="--words is empty"):
        pleasant(sentences, 2)


# A student's own numbers


def _numbers(tables: Tables) -> bytes:
    return b"".join(t.values.tobytes() for t in (*tables.sentences.values(), *tables.weights.values()))


def _tables(tables: Tables) -> dict[str, Table]:
    return {**tables.sentences, **tables.weights}


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


def test_300_students_have_300_exercises_in_a_moment() -> None:
    tables = read_tables(SAMPLES / "projections.xlsx")
    original = attend(tables)["sentence"]["Softmax"].values
    begun = time.process_time()
    made = [varied(tables, f"s{i:03}") for i in range(300)]
    assert time.process_time() - begun < 6  # 0.4 on a quiet machine
    assert len({_numbers(mine) for mine in made} | {_numbers(tables)}) == 301
    for mine in made:
        softmax = attend(mine)["sentence"]["Softmax"].values
        assert softmax.max() <= max(original.max(), 0.98)
        assert np.ptp(softmax, axis=1).all()


def test_the_same_in_every_process() -> None:
    program = (
        "import hashlib; from attn_xl import read_tables;"
        "from attn_xl.teaching.lessons.variants import varied;"
        "t = varied(read_tables('samples/language-model.xlsx'), 'Zoë', 3);"
        "n = b''.join(x.values.tobytes() for x in (*t.sentences.values(), *t.weights.values()));"
        "print(hashlib.sha256(n).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(said) == 1


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


def test_gammas_and_betas_of_one_number_and_masks_stay() -> None:
    tables = read_tables(SAMPLES / "encoder.xlsx")
    mine = varied(tables, "s1")
    assert np.array_equal(mine.weights["Enc1.gamma_1"].values, tables.weights["Enc1.gamma_1"].values)
    assert not np.array_equal(mine.weights["Enc1.W_Q"].values, tables.weights["Enc1.W_Q"].values)
    table = pleasant([CAT], 4).sentences["Sentence"]
    mask = replace(
        table, name="Mask", values=np.triu(np.full((5, 5), -1e9), 1), rows=(*CAT,), columns=(*CAT,)
    )
    own = Tables(Path("x"), {"s": table}, {"Mask": mask})
    for student in "abc":
        assert np.array_equal(varied(own, student).weights["Mask"].values, mask.values)


def test_no_draw_is_saturated_or_uniform_where_the_original_is_not() -> None:
    tables = pleasant([CAT, MATS], 4, seed=3)

    def measure(of: Tables) -> tuple[int, int, float]:
        softmax = [graph["Softmax"].values for graph in attend(of).values()]
        uniform = sum(int((np.ptp(s, axis=1) == 0).sum()) for s in softmax)
        single = sum(int((s.max(axis=1) > 0.98).sum()) for s in softmax)
        return uniform, single, max(float(s.max()) for s in softmax)

    uniform, single, largest = measure(tables)
    found = [measure(varied(tables, str(student))) for student in range(60)]
    kept = [f[0] <= uniform and f[1] <= single and f[2] <= max(largest, 0.98) for f in found]
    assert all(kept)


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


def test_draws_that_cannot_be_computed_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = pleasant([CAT], 4)
    calls = []

    def attend_sometimes(of: Tables, settings: object = None) -> object:
        calls.append(of)
        if len(calls) in (2, 3) or (len(calls) > 10 and of is not tables):
            raise InputError("too large")
        return attend(of)

    monkeypatch.setattr("attn_xl.teaching.lessons.variants.attend", attend_sometimes)
    assert _numbers(varied(tables, "a")) != _numbers(tables)
    assert len(calls) >= 4
    calls.extend([tables] * 10)
    with pytest.raises(InputError, match="the model cannot be computed"):
        varied(tables, "a")


def test_shuffled_keeps_the_zeros_of_rows_and_columns() -> None:
    rng = np.random.default_rng(1)
    values = np.array([[0, 0, 5], [0, 3, 4], [1, 0, 2.0]])
    for _ in range(50):
        moved = shuffled(values, rng)
        assert sorted((moved != 0).sum(axis=0)) == [1, 1, 3]
        assert sorted((moved != 0).sum(axis=1)) == [1, 2, 2]
        assert sorted(moved.ravel()) == sorted(values.ravel())
