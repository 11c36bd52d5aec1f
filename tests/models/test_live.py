"""The layers, heads and words of a model that become formulas: the numbers are those of the whole
model, and a written workbook is read back with what it holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CANCELLED, ROOT, SAMPLES, alike, thorough, verify
from judges import Editable, differences_ironcalc

import attn_xl
from attn_xl.errors import CallError
from attn_xl.models.computation import Computation
from attn_xl.models.parts import numbers
from attn_xl.models.steps import ALL_OTHERS

TINY = SAMPLES / "tiny-model"
TEXT = "the small cat chased the old mouse and the small"
TEXTS = ("the cat saw the mouse", "anna moved the mouse")
DATA = ROOT / "tests" / "data" / "checkpoints"
CHOICES: list[dict[str, Any]] = [
    {"live_layers": "0"},
    {"live_layers": "1"},
    {"live_heads": "1"},
    {"live_heads": "0 2-3", "live_layers": "1"},
    {"live_network": False},
    {"live_rows": "1-2"},
    {"live_rows": "0 2", "live_layers": "1", "live_heads": "1"},
    {"vocabulary": "top:3"},
    {"vocabulary": "used", "live_layers": "1", "live_heads": "1", "live_network": False},
]


def same(one: Computation, other: Computation, tolerance: float = 1e-12) -> None:
    """Every matrix of `one` that `other` has in the same shape has the same numbers."""
    for name, graph in one.items():
        shared = [step for step in graph if step in other[name] and "Probabilities" not in step]
        assert shared
        for step in shared:
            a, b = graph[step], other[name][step]
            if a.shape == b.shape and not a.texts:
                assert np.abs(a.values - b.values).max() < tolerance, step


@pytest.fixture(scope="module")
def model() -> attn_xl.TrainedModel:
    return attn_xl.load_model(TINY)


@thorough
@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: " ".join(map(str, choice.values())))
def test_a_part_of_a_model(choice: dict[str, Any], model: attn_xl.TrainedModel, tmp_path: Path) -> None:
    texts = TEXTS if "vocabulary" in choice else ("the cat saw",)
    whole, part = model(*texts, controls=True), model(*texts, controls=True, **choice)
    same(part, whole)
    written = sum(node.values.size for graph in part.values() for node in graph.values())
    assert written < sum(node.values.size for graph in whole.values() for node in graph.values())
    path = tmp_path / "part.xlsx"
    attn_xl.write_workbook(part, path)
    verify(path)
    back = attn_xl.attend(attn_xl.read_tables(path))
    assert [*back] == [*part]
    assert all({*back[name]} == {*part[name]} for name in part)
    same(back, part)


@alike
@pytest.mark.parametrize("family", ["gpt2", "llama-3", "qwen2", "mistral", "distilbert"])
def test_one_head_of_every_family(family: str) -> None:
    model = attn_xl.load_model(DATA / family)
    text = "the cat chased the mouse"
    same(model(text, live_layers="1", live_heads="1", live_network=False), model(text))


@thorough
@pytest.mark.parametrize(
    ("family", "heads"), [("gpt2-untied", "0 2"), ("roberta", "0-1"), ("qwen2", "0 1 3")]
)
def test_several_heads_with_biases(family: str, heads: str, tmp_path: Path) -> None:
    model = attn_xl.load_model(DATA / family)
    part = model("the cat chased", live_layers="1", live_heads=heads, controls=True)
    same(part, model("the cat chased", controls=True))
    attn_xl.write_workbook(part, tmp_path / "m.xlsx")
    verify(tmp_path / "m.xlsx")
    same(attn_xl.attend(attn_xl.read_tables(tmp_path / "m.xlsx")), part)


@thorough
@pytest.mark.parametrize(
    ("family", "stack", "options"), [("distilbert", "Enc", {}), ("gpt2", "Dec", {})]
)
def test_a_layer_is_written_that_no_written_layer_reads(
    family: str, stack: str, options: dict[str, Any], tmp_path: Path
) -> None:
    model = attn_xl.load_model(DATA / family)
    part = model("the cat chased", live_layers="0", **options)
    (graph,) = part.values()
    assert f"{stack}1.Softmax_1" in graph
    assert f"{stack}1.Sum_2" in graph
    assert f"{stack}2.Softmax_1" not in graph
    same(part, model("the cat chased", **options))
    attn_xl.write_workbook(part, tmp_path / "m.xlsx")
    found = differences_ironcalc(tmp_path / "m.xlsx", 1e-8, CANCELLED)
    assert not found  # its NORMSDIST has ten digits
    same(attn_xl.attend(attn_xl.read_tables(tmp_path / "m.xlsx")), part)


FAMILIES = [
    "roberta", "distilbert-masked", "gpt2", "llama-linear", "mistral-window"
]  # fmt: skip


@thorough
@alike
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layers", [None, "1"])
def test_the_rows_of_some_words(family: str, layers: str | None, tmp_path: Path) -> None:
    """Their numbers are those of the whole model, and of every word the keys and values are there."""
    model, text, chosen = attn_xl.load_model(DATA / family), "the cat chased the cat", [1, 3]
    (whole,) = model(text).values()
    part = model(text, live_rows="1 3", live_layers=layers)
    (graph,) = part.values()
    n, compared = whole["Input"].shape[0], 0
    for name, matrix in graph.items():
        if matrix.shape[0] == 2 and name in whole and whole[name].shape[0] == n and not matrix.texts:
            compared += 1
            assert matrix.shape == (2, whole[name].shape[1]), name
            assert np.abs(matrix.values - whole[name].values[chosen]).max() < 1e-12, name
    assert compared > 10
    assert [name for name in graph if name.endswith(("K_1", ".K")) and graph[name].shape[0] == n]
    attn_xl.write_workbook(part, tmp_path / "m.xlsx")
    found = differences_ironcalc(tmp_path / "m.xlsx", 1e-8, CANCELLED)
    assert not found  # its NORMSDIST has ten digits
    back = attn_xl.attend(attn_xl.read_tables(tmp_path / "m.xlsx"))
    same(back, part)
    assert not [remark for remark in back.remarks if "formula" in remark]


def test_what_is_not_written_is_not_in_the_graph(model: attn_xl.TrainedModel) -> None:
    (graph,) = model(TEXT, live_layers="1", live_heads="2").values()
    assert not [name for name in graph if name.startswith("Dec1.")]
    assert [name for name in graph if name.startswith("Dec2.Scores_")] == ["Dec2.Scores_3"]
    assert graph["Dec2.W_Q"].shape == (32, 8)
    assert graph["Dec2.W_O"].shape == (8, 32)
    assert graph["Dec2.Entered"].role == "input"


def test_probabilities_stay_exact_with_few_words(model: attn_xl.TrainedModel) -> None:
    (whole,), (few,) = model(TEXT).values(), model(TEXT, vocabulary="top:5").values()
    shown = few["Probabilities"].columns
    assert shown[0] == "cat"
    assert shown[-1] == ALL_OTHERS
    assert len(shown) == 6
    for word in shown[:-1]:
        assert np.allclose(few["Probabilities"][:, word], whole["Probabilities"][:, word], atol=1e-13)
    assert np.allclose(few["Probabilities"].values.sum(axis=1), 1)


@thorough
def test_a_head_is_removed_in_the_workbook(model: attn_xl.TrainedModel, tmp_path: Path) -> None:
    """The cell of a head set to 0, in the engine, and read back by the program."""
    text, half = "the small cat saw the old dog and the small", {"live_layers": "1"}
    computation = model(text, controls=True, **half)
    path = tmp_path / "m.xlsx"
    layout = attn_xl.write_workbook(computation, path)
    (graph,) = computation.values()
    cell = layout.blocks[graph["Dec2_Head_2"]].place
    best = layout.blocks[graph["Probabilities"]].place
    column = best.column + graph["Probabilities"].columns.index("cat")
    book = Editable(path)
    before = book.value(best.sheet, best.last_row, column)
    assert before == pytest.approx(graph["Probabilities"][-1, "cat"], abs=1e-12)
    book.set(cell.sheet, cell.row, cell.column, 0)
    without = book.value(best.sheet, best.last_row, column)
    tables = model.tables(text)
    weights = {name: tables.weights[name] for name in tables.weights}
    w_o = weights["Dec2.W_O"].values.astype(float)
    w_o[8:16] = 0
    (alone,) = attn_xl.attend(tables, weights={**weights, "Dec2.W_O": w_o}).values()
    assert without == pytest.approx(alone["Probabilities"][-1, "cat"], abs=1e-12)
    assert abs(float(str(without)) - float(str(before))) > 0.1

    import openpyxl

    edited = openpyxl.load_workbook(path)
    edited[cell.sheet].cell(cell.row, cell.column).value = 0
    edited.save(path)
    (back,) = attn_xl.attend(attn_xl.read_tables(path)).values()
    assert back["Probabilities"][-1, "cat"] == pytest.approx(without, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "found"), [("0", (1,)), ("0 3-5", (1, 4, 5, 6)), ("2,0", (1, 3)), ("5-5", (6,))]
)
def test_numbers_count_from_0(text: str, found: tuple[int, ...]) -> None:
    assert numbers(text, 6, "layer") == found


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ({"live_layers": "2"}, "the model has layers 0 to 1"),
        ({"live_layers": "one"}, "it takes numbers and ranges, counted from 0"),
        ({"live_rows": "10"}, "rows 10: the text has rows 0 to 9"),
        ({"live_rows": "1", "generate": 2}, "does not work with --generate"),
        ({"live_layers": " "}, "it takes"),
        ({"live_heads": "1-4"}, "the model has heads 0 to 3"),
        ({"vocabulary": "top"}, "it takes all, used, or top: and a number"),
        ({"vocabulary": "top:0"}, "it takes all, used"),
    ],
)
def test_a_choice_that_does_not_exist(
    choice: dict[str, Any], says: str, model: attn_xl.TrainedModel
) -> None:
    with pytest.raises(CallError, match=says):
        model(TEXT, **choice)
