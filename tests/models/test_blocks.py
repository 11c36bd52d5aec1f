"""The blocks of today's language models against PyTorch, each alone and each two together; and what
each is to a reader.

tests/data/make_torch_blocks.py makes the numbers, and says how.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, thorough, verify
from test_torch import assert_close, check

import attn_xl
from attn_xl import CallError, InputError, Settings
from attn_xl.models.build import attend
from attn_xl.models.relative import slope
from attn_xl.tables.survey import Tables
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.workbook.write import write_workbook

sys.path.append(str(Path(__file__).parents[1] / "data"))
if TYPE_CHECKING:
    import make_torch_blocks as blocks
else:
    blocks = importlib.import_module("make_torch_blocks")


@alike
@pytest.mark.parametrize("name", blocks.BLOCKS)
def test_numbers_against_torch(name: str) -> None:
    check(blocks.load(name))


@alike
@pytest.mark.parametrize("name", blocks.BLOCKS)
def test_live(name: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    live, kept = blocks.run(name, *blocks.BLOCKS[name]), blocks.load(name)
    assert live.settings == kept.settings
    for part in ("sentences", "weights", "outputs"):
        assert getattr(live, part).keys() == getattr(kept, part).keys()
        for key, x in getattr(live, part).items():
            assert_close(x, getattr(kept, part)[key], f"{name}: {key}")


def test_every_two_values_of_two_options_come_together() -> None:
    for model, factors in blocks.FACTORS.items():
        cases = [choices for of, choices in blocks.BLOCKS.values() if of == model]
        for a, b in itertools.combinations(factors, 2):
            for i, j in itertools.product(factors[a], factors[b]):
                assert any((case[a], case[b]) == (i, j) for case in cases), (model, a, i, b, j)


SHOWN = ("llama", "rotary", "alibi", "learned-positions", "window", "rms-norm",
         pytest.param("generate", marks=thorough))  # fmt: skip


@thorough
@alike
@pytest.mark.parametrize("sample", SHOWN)
def test_a_sample_is_taught(sample: str, tmp_path: Path) -> None:
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    settings = Settings.resolve({"controls": False}, tables.settings, "")
    lesson, answers = tmp_path / "lesson.xlsx", tmp_path / "answers.xlsx"
    write_lesson(tables, lesson, settings=settings, lesson=Lesson(level=2), answers=answers)
    verify(lesson)
    verify(answers)


def changed(path: Path, cells: dict[str, Any]) -> attn_xl.Computation:
    """What a workbook computes after some named cells have been changed."""
    book = openpyxl.load_workbook(path)
    for name, value in cells.items():
        sheet, cell = next(book.defined_names[name].destinations)
        book[sheet][cell.replace("$", "")].value = value
    book.save(path)
    return attend(attn_xl.read_tables(path))


@thorough
@pytest.mark.parametrize(
    ("sample", "cells", "options"),
    [
        ("rotary", {"rotary_base": 7}, {"rotary_base": 7.0}),
        ("window", {"Window": 2}, {"window": 2}),
        (
            "generate",
            {"Sample": "on", "Seed": 9, "word_temperature": 3},
            {"sample": True, "seed": 9, "word_temperature": 3.0},
        ),
    ],
)
def test_a_cell_that_is_changed_is_the_option(
    sample: str, cells: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    source = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    settings = Settings.resolve({"controls": True}, source.settings, "")
    path = tmp_path / "out.xlsx"
    write_workbook(attend(source, settings), path, settings=settings)
    (graph,) = changed(path, cells).values()
    (expected,) = attend(source, replace(settings, **options)).values()
    for step, node in expected.items():
        assert (graph[step].values == node.values).all(), step


@thorough
def test_a_wrong_window_in_a_workbook_is_refused(tmp_path: Path) -> None:
    source = attn_xl.read_tables(SAMPLES / "window.xlsx")
    settings = Settings.resolve({"controls": True}, source.settings, "")
    path = tmp_path / "out.xlsx"
    write_workbook(attend(source, settings), path, settings=settings)
    with pytest.raises(InputError, match=r"Window is 1\.5; enter a whole number above 0"):
        changed(path, {"Window": 1.5})


def test_slopes_of_any_number_of_heads() -> None:
    """As the code of the paper gives them."""
    assert [slope(h, 4) for h in range(1, 5)] == [2**-2, 2**-4, 2**-6, 2**-8]
    assert [slope(h, 3) for h in range(1, 4)] == [2**-4, 2**-8, 2**-2]


def test_scores_of_rotary_positions_depend_on_the_distance_only() -> None:
    x = np.ones((6, 4))
    for pairs in ("half", "neighbours"):
        graph = attn_xl.attend(x, positions="rotary", rotary_pairs=pairs)["Sentence"]
        scores = graph["Scores"].values
        for distance in range(1, 6):
            assert np.ptp(np.diagonal(scores, distance)) < 1e-12


def test_fewer_keys_than_heads_name_the_option() -> None:
    source = attn_xl.read_tables(SAMPLES / "llama.xlsx")
    written = {"model": "decoder-only", "heads": 2, "norm": "pre", "activation": "swiglu"}
    settings = Settings.resolve({}, written, "")
    with pytest.raises(InputError, match="W_K would fit --kv-heads 1"):
        attend(source, settings)


def test_the_names_of_llama_are_read() -> None:
    """As `state_dict` of a model of two layers has them, out x in."""
    rng = np.random.default_rng(5)
    layer = {
        "self_attn.q_proj": (8, 8), "self_attn.k_proj": (4, 8), "self_attn.v_proj": (4, 8),
        "self_attn.o_proj": (8, 8),
        "mlp.gate_proj": (6, 8), "mlp.up_proj": (6, 8), "mlp.down_proj": (8, 6),
        "input_layernorm": (8,), "post_attention_layernorm": (8,),
    }  # fmt: skip
    shapes = {f"model.layers.{i}.{name}.weight": shape for i in (0, 1) for name, shape in layer.items()}
    shapes |= {"model.norm.weight": (8,), "lm_head.weight": (5, 8)}
    state = {name: rng.normal(size=shape).round(2) for name, shape in shapes.items()}
    ours = {"q_proj": "W_Q", "k_proj": "W_K", "v_proj": "W_V", "o_proj": "W_O",
            "gate_proj": "W_G", "up_proj": "W_1", "down_proj": "W_2",
            "input_layernorm": "gamma_1", "post_attention_layernorm": "gamma_2"}  # fmt: skip
    renamed = {"Dec.gamma": state["model.norm.weight"][None], "W_U": state["lm_head.weight"].T}
    for name, values in state.items():
        path = name.split(".")
        if "layers" in path:
            renamed[f"Dec{int(path[2]) + 1}.{ours[path[-2]]}"] = np.atleast_2d(values.T)
    options: dict[str, Any] = {
        "model": "decoder-only", "layers": 2, "heads": 2, "kv_heads": 1, "positions": "rotary",
        "norm": "pre", "norm_type": "rms", "activation": "swiglu",
    }  # fmt: skip
    x = rng.normal(size=(3, 8))
    theirs = attn_xl.attend(x, weights=state, **options)["Sentence"]["Logits"].values
    assert (theirs == attn_xl.attend(x, weights=renamed, **options)["Sentence"]["Logits"].values).all()


# Writing on

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "llama": {"positions": "rotary", "kv_heads": 1, "norm": "pre", "norm_type": "rms", "layers": 2},
    "neighbours": {"positions": "rotary", "rotary_pairs": "neighbours", "activation": "swiglu"},
    "alibi in a window": {"positions": "alibi", "window": 3},
    "learned": {"positions": "learned"},
    "sinusoidal, padding": {"positions": "sinusoidal", "padding": "chased"},
    "drawn": {"sample": True, "seed": 4, "word_temperature": 5.0, "kv_heads": 1},
}


def writing(words: list[str], **options: Any) -> attn_xl.Graph:
    source = attn_xl.read_tables(SAMPLES / "llama.xlsx")
    vocabulary = source.weights["Vocabulary"]
    values = vocabulary.values[[vocabulary.rows.index(word) for word in words]]
    text = replace(source.sentences["sentence"], values=values, rows=tuple(words))
    tables = Tables(Path("x.xlsx"), {"sentence": text}, {"Vocabulary": vocabulary})
    settings = Settings(model="decoder-only", heads=2, random_weights=3, **options)  # type: ignore[arg-type]
    return attend(tables, settings)["sentence"]


@alike
@pytest.mark.parametrize("variant", VARIANTS)
def test_new_words_are_those_of_the_full_pass(variant: str) -> None:
    options, first, new = VARIANTS[variant], ["the", "cat", "chased"], 4
    graph = writing(first, generate=new, **options)
    words = [*first, *(graph[f"New{t}.Word"].texts[0] for t in range(1, new + 1))]
    chosen = {"sample", "seed", "word_temperature"}
    full = writing(words, **{name: v for name, v in options.items() if name not in chosen})
    assert len({*words}) > 1
    for t in range(1, new + 1):
        row = len(first) + t - 1
        assert (full["Probabilities"].values[row] == graph[f"New{t}.Probabilities"].values[0]).all()
        if not options.get("sample"):
            assert full["Next"].texts[row - 1] == words[row]
    cache = graph["Cache"].values
    per_word = graph["kept_per_word"].values[0, 0]
    assert cache.tolist() == [
        [n * per_word, per_word, n * per_word, (n - 1) * per_word]
        for n in range(len(first) + 1, len(first) + new + 1)
    ]


def test_where_words_cannot_be_written() -> None:
    for options, said in (
        ({"dropout": 0.5}, "--generate does not work with dropout"),
        ({"residual_dropout": 0.5}, "--generate does not work with dropout"),
        ({"sample": True}, "--generate"),
    ):
        given = {"generate": 2, **options} if "sample" not in options else options
        with pytest.raises(CallError, match=said):
            writing(["the", "cat"], **given)
    source = attn_xl.read_tables(SAMPLES / "output-weights.xlsx")
    with pytest.raises(InputError, match="--generate needs the embedding of each word"):
        attend(source, Settings.resolve({"generate": 2}, source.settings, ""))
