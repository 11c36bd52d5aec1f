"""Weights under the names that PyTorch gives them: against numbers that it made, and plain loops."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import alike, naive_attention, thorough
from test_torch import DATA, assert_close, reference, table

from attn_xl import InputError, read_tables
from attn_xl.models.build import attend
from attn_xl.settings import Settings
from attn_xl.tables.pytorch import (
    completed,
    may_be_cut,
    parameter_of,
    says_weights,
    weights_of_parameters,
)
from attn_xl.tables.survey import Tables

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


@thorough
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
    computation = attend(tables, Settings.resolve({}, case.settings, "the case"))
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


@pytest.mark.parametrize("kind", ["dictionary", "workbook"])
def test_every_format_has_them(kind: str, make: Make) -> None:
    arrays = parameters()
    rows = {name.removeprefix("layer."): x.tolist() for name, x in arrays.items()}
    tables = read_tables(arrays if kind == "dictionary" else make(rows))
    assert list(tables.sentences) == ["x"]
    assert len(tables.remarks) == 1
    assert "read as W_Q, W_K, W_V, W_O of PyTorch and transposed" in tables.remarks[0]
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
        ("qa_outputs.weight", None),
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
        (
            "qa_outputs.weight",
            "'qa_outputs.weight' looks like the name of weights, but attn-xl does not know it",
        ),
        ("attn.bias_k", "'attn.bias_k' looks like the name of weights"),
        ("attn_weights", "'attn_weights' looks like the name of weights"),
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
    with pytest.raises(InputError, match="--sheet 'Weight loss' reads it"):
        read_tables(path)
    assert list(read_tables(path, sheet="Weight loss").sentences) == ["Weight loss"]
    assert list(read_tables(make({"only": rows}, "weights.xlsx")).sentences) == ["only"]


def test_a_matrix_that_is_not_three_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"'in_proj_weight': .* is 4 x 4, .* rows must be divisible by 3"
    ):
        read_tables({"x": np.eye(4), "in_proj_weight": np.eye(4)})


def test_weights_of_layers_are_not_dropped_by_attention_alone() -> None:
    case = reference.Case.load(DATA / "encoder-post.npz")
    tables = read_tables({**case.sentences, **state_dict(case.weights)})
    with pytest.raises(
        InputError, match=r"does not use Enc1.W_Q.*Use them with --model encoder --layer"
    ):
        attend(tables)


# Names that are longer than a sheet's: as titles, and cut.

Layout = tuple[str, str]
LAYOUTS: list[Layout] = [
    (where, how)
    for where in ("few sheets", "a sheet each", "cut names")
    for how in ("row", "column", "pandas")
]


def sheets_of(parameters: Arrays, layout: Layout) -> dict[str, list[list[Any]]]:
    """Tensors as people write them: under their titles on one sheet or on one each, or on sheets whose
    names are cut to 31 letters; vectors as a row or a column, or all as pandas writes them."""
    where, how = layout
    made: dict[str, list[list[Any]]] = {}
    for number, (name, x) in enumerate(parameters.items()):
        x = np.asarray(x)
        matrix = x if x.ndim == 2 else x[:, None] if how != "row" else x[None]
        rows = matrix.tolist()
        if how == "pandas":
            rows = [[None, *range(matrix.shape[1])], *([i, *row] for i, row in enumerate(rows))]
        if where == "cut names":
            made[name[:31]] = rows
        elif where == "a sheet each":
            made[f"t{number}"] = [[name], *rows]
        else:
            made.setdefault("weights", []).extend([[name], *rows, []])
    return made


def in_workbook(case: reference.Case, parameters: Arrays, layout: Layout, make: Make) -> Tables:
    """The tables of a workbook with these parameters and the sentences of a case."""
    sentences = {name: table(name, x, case.padded.get(name, 0)) for name, x in case.sentences.items()}
    rows = {name: [[w, *x] for w, x in zip(t.rows, t.values.tolist())] for name, t in sentences.items()}
    tables = read_tables(make({**rows, **sheets_of(parameters, layout)}))
    assert tables.sentences.keys() == case.sentences.keys()
    return tables


@alike
@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
@pytest.mark.parametrize("name", ["mha-2", "encoder-layer-post-relu", "encoder-post", "decoder-post"])
def test_titles_and_cut_names_give_pytorchs_numbers(name: str, layout: Layout, make: Make) -> None:
    case = reference.Case.load(DATA / f"{name}.npz")
    parameters = state_dict(case.weights)
    cut = [parameter[:31] for parameter in parameters]
    if layout[0] == "cut names" and len(set(cut)) < len(cut):
        pytest.skip("two names are cut to the same")
    computation = attend(
        in_workbook(case, parameters, layout, make), Settings.resolve({}, case.settings, "")
    )
    for step, theirs in case.outputs.items():
        assert_close(computation["target"][step].values, theirs, step)


@alike
@pytest.mark.parametrize("layout", LAYOUTS[:6], ids=" ".join)
@pytest.mark.parametrize("module", ["MultiheadAttention", "EncoderLayer", "Encoder", "DecoderLayer",
                                    "Decoder", "Transformer"])  # fmt: skip
def test_a_real_state_dict_gives_pytorchs_numbers(module: str, layout: Layout, make: Make) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    nn = torch.nn
    torch.manual_seed(5)
    how = {"batch_first": True, "dtype": torch.float64}
    d, heads, hidden = 4, 2, 6
    layers = {
        "Encoder": lambda: nn.TransformerEncoderLayer(d, heads, hidden, 0.0, **how),
        "Decoder": lambda: nn.TransformerDecoderLayer(d, heads, hidden, 0.0, **how),
    }
    source, target = torch.randn(1, 3, d, **how_of(how)), torch.randn(1, 5, d, **how_of(how))
    later = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    memory: dict[str, Any] = {"memory": "source"}
    settings: dict[str, Any]
    if module == "MultiheadAttention":
        model = nn.MultiheadAttention(d, heads, **how)
        theirs, settings, step = model(target, target, target)[0], {}, "Output"
    elif module == "Transformer":
        model = nn.Transformer(d, heads, 2, 2, hidden, 0.0, **how)
        theirs = model(source, target, tgt_mask=later)
        settings, step = {"model": "encoder-decoder", "layers": 2, **memory}, "Dec.Norm"
    else:
        model = layers[module.removesuffix("Layer")]()
        several = not module.endswith("Layer")
        if several:
            stack = getattr(nn, f"Transformer{module}")
            model = stack(model, 2, norm=nn.LayerNorm(d, dtype=torch.float64))
        for parameter in model.parameters():  # norms are 1 and 0 otherwise
            nn.init.normal_(parameter)
        kind = module.removesuffix("Layer").lower()
        settings = {"model": kind, "layers": 2 if several else 1}
        if kind == "decoder":
            theirs, settings = model(target, source, tgt_mask=later), {**settings, **memory}
        else:
            theirs = model(target)
        last = 3 if kind == "decoder" else 2
        step = f"{kind[:3].title()}.Norm" if several else f"{kind[:3].title()}1.Norm_{last}"
    sentences = {"target": target[0].tolist()}
    if "memory" in settings:
        sentences["source"] = source[0].tolist()
    rows = {name: [[f"w{i}", *x] for i, x in enumerate(xs)] for name, xs in sentences.items()}
    state = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    tables = read_tables(make({**rows, **sheets_of(state, layout)}))
    assert list(tables.sentences) == list(sentences)
    ours = attend(tables, Settings(heads=heads, **settings))["target"][step].values
    assert float(np.abs(ours - theirs[0].detach().numpy()).max()) < 1e-12


def drawn(parameters: Arrays, how: str) -> dict[str, list[list[Any]]]:
    """Tensors on sheets in one of the ways in which people arrange them."""
    sheets: dict[str, list[list[Any]]] = {}
    for name, x in parameters.items():
        matrix = np.atleast_2d(np.asarray(x))
        rows: list[list[Any]] = matrix.tolist()
        sheet, title = "w", [name]
        if how == "a sheet a layer":
            sheet = ".".join(name.split(".")[:2])
            title = [name.removeprefix(f"{sheet}.")]
        elif how == "left of it":
            sheets.setdefault(sheet, []).extend([[name, *rows[0]], *([None, *r] for r in rows[1:]), []])
            continue
        elif how == "the shape in it":
            title = [f"{name} {tuple(np.shape(x))}"]
        elif how == "the shape beside it":
            title = [name, str(tuple(np.shape(x)))]
        elif how == "in the corner":
            title = [name, *(f"in{j}" for j in range(matrix.shape[1]))]
            rows = [[f"out{i}", *row] for i, row in enumerate(rows)]
        elif how == "over the numbers":
            title = [None, name]
            rows = [[f"out{i}", *row] for i, row in enumerate(rows)]
        gap = [] if how == "no gaps" else [[]]
        sheets.setdefault(sheet, []).extend([title, *rows, *gap])
    return sheets


@alike
@pytest.mark.parametrize("how", ["a sheet a layer", "left of it", "the shape in it", "in the corner",
                                 "the shape beside it", "over the numbers", "no gaps"])  # fmt: skip
def test_titles_stand_where_people_write_them(how: str, make: Make) -> None:
    case = reference.Case.load(DATA / "encoder-post.npz")
    (name, x), *_ = case.sentences.items()
    padding = ["<PAD>"] * case.padded.get(name, 0)
    words = [f"w{i}" for i in range(len(x) - len(padding))] + padding
    rows = [[word, *line] for word, line in zip(words, x.tolist())]
    tables = read_tables(make({name: rows, **drawn(state_dict(case.weights), how)}))
    assert list(tables.sentences) == [name]
    computation = attend(tables, Settings.resolve({}, case.settings, ""))
    for step, theirs in case.outputs.items():
        assert_close(computation[name][step].values, theirs, step)


def how_of(how: dict[str, Any]) -> dict[str, Any]:
    return {"dtype": how["dtype"]}


@pytest.mark.parametrize(
    ("title", "sheet", "name"),
    [
        ("norm1.weight", "s", "norm1.weight"),
        ("layers.0.norm1.weight (4,)", "s", "layers.0.norm1.weight"),
        ("in_proj_weight: torch.Size([12, 4])", "s", "in_proj_weight"),
        ("in_proj_weight 12 x 4", "s", "in_proj_weight"),
        ("'linear1.bias':", "s", "linear1.bias"),
        ("self_attn.in_proj_bias", "layers.1", "layers.1.self_attn.in_proj_bias"),
        ("layers.1.norm1.bias", "layers.1", "layers.1.norm1.bias"),
        ("query.weight", "layer.3.attention.self", "layer.3.attention.self.query.weight"),
        ("the norm1.weight of mice", "s", None),
        ("mouse", "s", None),
        ("qa_outputs.weight", "s", None),
    ],
)  # fmt: skip
def test_titles_of_parameters(title: str, sheet: str, name: str | None) -> None:
    assert parameter_of(title, sheet) == name


@pytest.mark.parametrize(
    ("sheet", "shape", "names"),
    [
        ("layers.0.self_attn.in_proj_weig", (12, 4), ["layers.0.self_attn.in_proj_weight"]),
        ("encoder.layers.0.self_attn.in_p", (12, 4), ["encoder.layers.0.self_attn.in_proj_weight"]),
        ("encoder.layers.0.self_attn.in_1", (1, 12), ["encoder.layers.0.self_attn.in_proj_bias"]),
        ("encoder.layer.0.attention.outpu", (4, 4), ["encoder.layer.0.attention.output.dense.weight"]),
        ("dec.layers.000.multihead_attn", (12, 4), ["dec.layers.000.multihead_attn.in_proj_weight"]),
        ("decoder.layers.0.multihead_attn", (1, 12), 12),
        ("encoder.layer.0.attention.self.", (4, 4), 11),
        ("some.module.path.that.is.not.one", (4, 4), 0),
    ],
)  # fmt: skip
def test_names_that_are_cut(sheet: str, shape: tuple[int, int], names: list[str] | int) -> None:
    found = completed(sheet, shape)
    assert (len(found) if isinstance(names, int) else found) == names
    assert len(sheet) < 31 or may_be_cut(sheet)


def test_a_cut_name_that_may_be_several_is_refused(make: Make) -> None:
    rows = [["", "x", "y"], ["a", 1, 2]]
    path = make({"s": rows, "encoder.layer.0.attention.self.": [[1, 2], [3, 4]]})
    with pytest.raises(InputError, match=r"was cut to 31 characters.*Write the full name in a cell"):
        read_tables(path)
    assert not may_be_cut("The mouse and the cat are friends. So")
    assert not may_be_cut("a.sentence.with.many.dots in it all")


def test_a_title_that_is_called_as_weights_are_is_no_sentence(make: Make) -> None:
    rows = [["", "x", "y"], ["a", 1, 2]]
    path = make({"s": rows, "more": [["qa_outputs.weight"], [1, 2], [3, 4]]})
    with pytest.raises(
        InputError, match=r"sheet 'more': 'qa_outputs.weight' looks like the name of weights"
    ):
        read_tables(path)
    for without in ("qa_outputs.weight", "more", "qa_outputs"):
        assert list(read_tables(path, without=without).sentences) == ["s"]
    assert list(read_tables(path, sheet="more").sentences) == ["more"]
    both = make({"s": [*rows, [], ["query.weight"], [1, 2], [3, 4]]}, "both.xlsx")
    found = read_tables(both)
    assert found.weights["W_Q"].values.tolist() == [[1, 3], [2, 4]]
    assert found.sentences["s"].rows == ("a",)
