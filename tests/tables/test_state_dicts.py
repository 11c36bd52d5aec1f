"""Weights under the names that PyTorch gives them: against numbers that it made, and plain loops."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import naive_attention
from test_torch import DATA, assert_close, reference, table

from attn_xl import CallError, InputError, read_tables
from attn_xl.models.build import attend
from attn_xl.settings import Settings
from attn_xl.tables.pytorch import says_weights, weights_of_parameters

Make = Callable[..., Path]
Arrays = dict[str, Any]
STACKS = {"Enc": "encoder", "Dec": "decoder", "": ""}


def state_dict(weights: dict[str, np.ndarray]) -> Arrays:
    """The weights of a stored case under the names, and in the shapes, that PyTorch keeps them in."""
    several = {name.partition(".")[0][:3] for name in weights if "." in name} == {"Enc", "Dec"}
    made: Arrays = {}
    for name, x in weights.items():
        *scope, role = name.split(".")
        stack, layer = (scope[0][:3], scope[0][3:]) if scope else ("", "")
        path = [STACKS[stack]] if several else []
        path += ["layers", str(int(layer) - 1)] if layer else []
        attention = "multihead_attn" if "Cross" in scope else "self_attn"
        base, which = role[0], role[-1]
        kind = "bias" if role.startswith("b") else "weight"
        if role.startswith(("gamma", "beta")):
            path += ["norm" + (which if which.isdigit() else "")]
        elif which in "12":
            path += [f"linear{which}"]
        else:
            path += [attention] if scope else []
            path += ["out_proj"] if which == "O" else []
        stored = x[0] if len(x) == 1 else x.T
        if which in "QKV" and base in "Wb":
            key = ".".join([*path, f"in_proj_{kind}"])
            made[key] = np.concatenate([made[key], stored]) if key in made else stored
        else:
            made[".".join([*path, kind])] = stored
    return made


@pytest.mark.parametrize(
    "name",
    ["mha-1", "mha-2", "mha-2-no-bias", "encoder-layer-post-relu", "encoder-post",
     "encoder-post-final", "decoder-post", "decoder-layer-pre-relu", "transformer-post-relu"],
)  # fmt: skip
def test_pytorchs_numbers_from_pytorchs_names(name: str) -> None:
    case = reference.Case.load(DATA / f"{name}.npz")
    tables = read_tables({**case.sentences, **state_dict(case.weights)})
    assert tables.sentences.keys() == case.sentences.keys()
    sentences = {name: table(name, x, case.padded.get(name, 0)) for name, x in case.sentences.items()}
    tables = replace(tables, sentences=sentences)
    computation = attend(tables, Settings.chosen({}, case.settings, "the case"))
    assert not [remark for remark in computation.remarks if "Not used" in remark]
    for step, theirs in case.outputs.items():
        assert_close(computation["target"][step].values, theirs, step)


def parameters(d: int = 4) -> Arrays:
    """A sentence and four projections as Hugging Face names them, no two alike and none symmetric."""
    rng = np.random.default_rng(1)
    named = {f"layer.attn.{letter}_proj.weight": rng.normal(size=(d, d)) for letter in "qkvo"}
    return {"x": rng.normal(size=(5, d)), **named}


def expected(arrays: Arrays) -> Any:
    """By loops: y[j] = Σ x[i] · weight[j][i], as nn.Linear computes."""

    def linear(x: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.array([[sum(a * b for a, b in zip(row, w)) for w in weight] for row in x])

    q, k, v = (linear(arrays["x"], arrays[f"layer.attn.{letter}_proj.weight"]) for letter in "qkv")
    return linear(naive_attention(q, k, v)[1], arrays["layer.attn.o_proj.weight"])


@pytest.mark.parametrize("kind", ["npz", "json", "dictionary", "workbook"])
def test_every_format_has_them(kind: str, tmp_path: Path, make: Make) -> None:
    arrays = parameters()
    rows = {name.removeprefix("layer."): x.tolist() for name, x in arrays.items()}
    path = tmp_path / f"input.{kind}"
    if kind == "npz":
        np.savez(path, **arrays)
    elif kind == "json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    source: Any = {"dictionary": arrays, "workbook": make(rows)}.get(kind, path)
    tables = read_tables(source)
    assert list(tables.sentences) == ["x"]
    assert len(tables.remarks) == 1
    assert "read as W_Q, W_K, W_V, W_O of PyTorch, whose matrices are out x in" in tables.remarks[0]
    output = attend(tables)["x"]["Output"]
    assert_close(output.values, expected(arrays), "Output")


def test_the_parts_of_one_matrix_are_found_where_they_stand(make: Make) -> None:
    stacked = [[float(10 * i + j) for j in range(2)] for i in range(6)]
    sheets = {"s": [["", "x", "y"], ["a", 1, 2]], "in_proj_weight": [["in"], *stacked]}
    weights = read_tables(make(sheets)).weights
    assert weights["W_K"].values.tolist() == [[20, 30], [21, 31]]
    assert (weights["W_K"].row, weights["W_V"].largest()) == (4, "B7")


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("q_proj.weight", ("W_Q",)),
        ("model.layers.0.self_attn.o_proj.weight", ("W_O",)),
        ("attention.self.query.bias", ("b_Q",)),
        ("bert.encoder.layer.3.attention.output.dense.weight", ("W_O",)),
        ("encoder.layer.0.attention.output.LayerNorm.bias", ("beta_1",)),
        ("encoder.layer.0.intermediate.dense.weight", ("W_1",)),
        ("encoder.layer.0.output.dense.bias", ("b_2",)),
        ("encoder.layer.0.output.LayerNorm.weight", ("gamma_2",)),
        ("attention.W_q.weight", ("W_Q",)),
        ("attn.q_proj_weight", ("W_Q",)),
        ("layers.0.fc1.weight", ("W_1",)),
        ("encoder.norm.weight", ("Enc.gamma",)),
        ("decoder.norm.bias", ("Dec.beta",)),
        ("embeddings.LayerNorm.weight", None),
        ("lm_head.weight", None),
        ("linear3.weight", None),
        ("q_proj", None),
        ("mouse", None),
    ],
)
def test_names_of_parameters(name: str, weights: tuple[str, ...] | None) -> None:
    assert weights_of_parameters([name]).get(name) == weights
    assert weights is None or says_weights(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lm_head.weight", "'lm_head.weight' is called as weights are, but as none that attn-xl knows"),
        ("attn.bias_k", "'attn.bias_k' is called as weights are"),
        ("attn_weights", "'attn_weights' is called as weights are"),
        ("other.q_proj.weight", "'layer.attn.q_proj.weight' and 'other.q_proj.weight' are both W_Q"),
    ],
)
def test_weights_are_never_a_sentence(name: str, said: str) -> None:
    arrays = {**parameters(), name: np.eye(4)}
    with pytest.raises(InputError, match=re.escape(said)):
        read_tables(arrays)
    assert list(read_tables({"x": arrays["x"], name: np.eye(4)}, sheet="x").sentences) == ["x"]


def test_a_sentence_may_be_called_as_weights_are_where_it_is_asked_for(make: Make) -> None:
    rows = [["", "x", "y"], ["a", 1, 2]]
    path = make({"Weight loss": rows, "B": rows})
    with pytest.raises(InputError, match="--sheet NAME"):
        read_tables(path)
    assert list(read_tables(path, sheet="Weight loss").sentences) == ["Weight loss"]
    assert list(read_tables(make({"only": rows}, "weights.xlsx")).sentences) == ["only"]


def test_a_matrix_that_is_not_three_is_refused() -> None:
    with pytest.raises(InputError, match=r"'in_proj_weight': is 4 x 4, .* rows do not divide by 3"):
        read_tables({"x": np.eye(4), "in_proj_weight": np.eye(4)})


def test_weights_of_layers_are_not_dropped_by_attention_alone() -> None:
    case = reference.Case.load(DATA / "encoder-post.npz")
    tables = read_tables({**case.sentences, **state_dict(case.weights)})
    with pytest.raises((InputError, CallError), match=r"of layers \(Enc1.W_Q, ...\).*--model encoder"):
        attend(tables)
