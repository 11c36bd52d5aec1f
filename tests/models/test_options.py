"""Which option belongs to which model: one that has no effect is refused, wherever it stands; masks by
the attention that they are for; titles and formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, table, thorough
from judges import Editable, differences_ironcalc

import attn_xl
from attn_xl import CallError, InputError, Settings, read_tables
from attn_xl.cli.main import main
from attn_xl.models.build import attend
from attn_xl.settings import ATTENTION, BLOCKS, LANGUAGE, RECURRENT, STACKS, Model
from attn_xl.spreadsheets.addresses import split_address
from attn_xl.tables.survey import Tables
from attn_xl.workbook.write import write_workbook

Make = Callable[..., Path]
RNG = np.random.default_rng(5)
WORDS = ["the", "cat", "sat"]
OTHER: dict[str, Any] = {
    "heads": 2, "layers": 2, "encoder_layers": 2, "decoder_layers": 2, "memory": "two", "causal": True,
    "padding": "cat", "positions": "sinusoidal", "normalize": "sum", "max": False,
    "scale": False, "temperature": 2.0,
    "dropout": 0.5, "residual_dropout": 0.5, "seed": 4, "norm": "pre", "norm_variance": "sample",
    "norm_epsilon": "outside", "activation": "gelu", "hidden": 3, "epsilon": 0.25, "random_weights": 2,
    "attention": "one", "backbone": "encoder", "pooling": "first",
    "worked": True, "cross_heads": 2, "skip": False, "feed_forward": False,
    "kv_heads": 1, "rotary_pairs": "neighbours", "rotary_base": 50.0, "norm_type": "rms", "window": 2,
    "generate": 2, "sample": True, "word_temperature": 2.0,
    "bidirectional": True, "nonlinearity": "relu", "influence": True,
    "unit_length": True, "transform": "relu", "reset": "before", "update": "new",
}  # fmt: skip
BESIDE: dict[str, dict[str, Any]] = {
    "seed": {"dropout": 0.5},
    "kv_heads": {"heads": 2},
    "rotary_pairs": {"positions": "rotary"},
    "rotary_base": {"positions": "rotary"},
    "unit_length": {"pooling": "mean"},
    "sample": {"generate": 2},
    "word_temperature": {"generate": 2, "sample": True},
}
"""What an option needs beside it."""
SHOWN = {
    "heads_as_sheets",
    "live_layers",
    "live_heads",
    "live_rows",
    "live_network",
    "vocabulary",
    "head_switches",
    "model",
    "sheets_for",
    "decimals",
    "controls",
    "layout",
    "formulas",
    "canvas",
    "switches",
}
"""What changes what is shown, and no number of the whole model."""
LEARNED = {"loss", "steps", "optimizer", "rate", "momentum", "beta1", "beta2", "adam_epsilon", "decay",
           "live", "train"}  # fmt: skip
"""What losses and learning take: tests/models/test_learning.py."""
MASK = [[0, 0, -1e9], [0, 0, 0], [-1e9, 0, 0]]


@pytest.fixture
def tables(make: Make) -> Tables:
    x = np.abs(RNG.normal(size=(3, 4))).round(3) + 0.1
    y = np.abs(RNG.normal(size=(4, 4))).round(3) + 0.1
    return read_tables(
        make(
            {
                "one": table(x, WORDS),
                "two": table(y, ["le", "chat", "cat", "dort"]),
                "Vocabulary": table(x + 0.25, WORDS),
            }
        )
    )


def basis(model: Model) -> dict[str, Any]:
    """What a model needs to be computed."""
    made: dict[str, Any] = {"model": model}
    if model in (*STACKS, Model.attention, Model.feed_forward, Model.cnn, *RECURRENT):
        made["random_weights"] = 1
    if model in (Model.decoder, Model.encoder_decoder):
        made["memory"] = "two"
    if model is Model.classify:
        made["backbone"] = "encoder"
    return made


def of_use(tables: Tables, model: Model) -> Tables:
    """The tables without the vocabulary where a model has no use for one."""
    labels = {"one": ("good",), "two": ("bad",)} if model is Model.classify else {}
    weights = tables.weights if model in LANGUAGE else {}
    return replace(tables, weights=weights, labels=labels)


def numbers(tables: Tables, options: dict[str, Any]) -> dict[str, Any]:
    graphs = attend(of_use(tables, options["model"]), Settings(**options))
    return {f"{s}.{n}": node.values.tobytes() for s, g in graphs.items() for n, node in g.items()}


def test_every_option_is_tried_here() -> None:
    assert OTHER.keys() | SHOWN | LEARNED == {f.name for f in fields(Settings)}


@thorough
@pytest.mark.parametrize("model", Model)
def test_an_option_has_an_effect_or_is_refused(model: Model, tables: Tables) -> None:
    plain = numbers(tables, basis(model))
    for name, value in OTHER.items():
        belongs = model in next(f for f in fields(Settings) if f.name == name).metadata["models"]
        if name == "seed" and model not in ATTENTION:
            continue  # for learning only
        beside = BESIDE.get(name, {}) if belongs else {}
        options = {**basis(model), **beside, name: value}
        unlike = numbers(tables, {**basis(model), **beside}) if beside else plain
        if name == "backbone" and model is Model.classify:
            options["backbone"] = "attention"
        if name == "memory" and "memory" in basis(model):
            continue
        if name == "attention" and model in (Model.attention, Model.encoder):
            continue  # its table has to fit: test_given_attention.py
        if name == "causal" and model in (Model.decoder, Model.encoder_decoder, Model.decoder_only):
            assert numbers(tables, options) == plain  # it says what is so
        elif name == "normalize" and model in (
            Model.decoder,
            Model.encoder_decoder,
            Model.decoder_only,
        ):
            with pytest.raises(InputError, match="does not work with a mask"):
                numbers(tables, options)
        elif belongs:
            assert numbers(tables, options) != unlike, (model, name)
        else:
            said = f"--{name.replace('_', '-')} belongs to --model .*, not to --model {model.value}"
            with pytest.raises(CallError, match=said):
                numbers(tables, options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": 3}, "--seed has no effect without --dropout, --residual-dropout, --generate or"),
        ({"model": "encoder", "hidden": 3}, "--hidden has no effect without --random-weights or"),
        ({"padding": "zebra"}, "--padding: no sentence that words attend to has the word 'zebra'"),
        ({"padding": "the", "memory": "two"}, "no sentence that words attend to has the word 'the'"),
        (
            {"model": "encoder", "layers": 2, "encoder_layers": 3, "random_weights": 1},
            "--layers has no effect beside --encoder-layers",
        ),
        (
            {
                "model": "encoder-decoder", "memory": "two", "layers": 2, "encoder_layers": 3,
                "decoder_layers": 1, "random_weights": 1,
            },
            "--layers has no effect beside --encoder-layers and --decoder-layers",
        ),
        ({"model": "norm", "norm_variance": "sample", "heads": 1}, "--heads belongs to --model"),
        ({"kv_heads": 1}, "--kv-heads has no effect without --heads"),
        ({"rotary_base": 5.0}, "--rotary-base has no effect without --positions rotary"),
        ({"epsilon": 0.25}, "--epsilon belongs to --model"),
        (
            {"model": "norm", "norm_type": "rms", "norm_variance": "sample"},
            "--norm-variance has no effect with --norm-type rms",
        ),
        ({"model": "similarity", "positions": "rotary"}, "--positions is rotary, which belongs to"),
        ({"memory": "two", "positions": "alibi"}, "--positions alibi compares positions within one"),
        ({"memory": "two", "window": 2}, "--window compares positions within one sentence"),
    ],
)  # fmt: skip
def test_options_that_need_something_else(options: dict[str, Any], said: str, tables: Tables) -> None:
    with pytest.raises(CallError, match=said):
        attend(tables, Settings(**options))


def test_a_width_for_weights_that_are_given(make: Make) -> None:
    source = make({"s": table(RNG.normal(size=(3, 4))), "W_1": table(RNG.normal(size=(4, 3)))})
    options: dict[str, Any] = {"model": "feed-forward", "hidden": 5, "random_weights": 1}
    with pytest.raises(CallError, match="--hidden has no effect: W_1 is given"):
        attend(read_tables(source), Settings(**options))


def test_no_causal_where_later_words_are_always_hidden() -> None:
    for given, written in (({"causal": False}, {}), ({}, {"causal": False})):
        with pytest.raises(CallError, match="causal is off, but --model decoder always hides"):
            Settings.resolve({"model": "decoder", **given}, {"model": "decoder", **written}, "here")


def test_settings_of_a_file_for_a_model_that_the_call_replaces() -> None:
    written = {"model": "encoder", "layers": 2, "norm": "pre", "heads": 2}
    made = Settings.resolve({"model": "attention"}, written, "here")
    assert made == Settings(heads=2)  # what does not belong to attention is left aside
    assert Settings.resolve({"model": "norm"}, written, "here") == Settings(model=Model.norm)
    with pytest.raises(CallError, match="--layers belongs to --model encoder"):
        Settings.resolve({"model": "attention", "layers": 2}, written, "here")
    with pytest.raises(CallError, match="here: the setting layers belongs to --model encoder"):
        Settings.resolve({}, {"layers": 2}, "here")
    assert Settings.resolve({"model": "encoder"}, {"layers": 2}, "here").layers == 2
    assert Settings.resolve({"dropout": 0.0}, {"dropout": 0.5, "seed": 2}, "here") == Settings()
    # The lesson's own use of the seed, and a record of an older version.
    assert Settings.resolve({"seed": 2}, {}, "here", own=("seed",)) == Settings()
    assert Settings.resolve({}, {"layers": 2}, "here", strict=False) == Settings()


@pytest.mark.parametrize("command", ["convert", "show", "explain", "teach"])
def test_every_command_refuses(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = ["Input[1,1]"] if command == "explain" else []
    out = ["-o", str(tmp_path / "out.xlsx")] if command in ("convert", "teach") else []
    with pytest.raises(SystemExit) as end:
        main([command, str(SAMPLES / "politics.xlsx"), *cell, "--layers", "3", *out])
    assert end.value.code == 2
    assert "--layers belongs to --model encoder, decoder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_in_a_batch_the_files_that_it_belongs_to_are_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(SAMPLES / f"{name}.xlsx") for name in ("norm", "politics")]
    with pytest.raises(SystemExit) as end:
        main(["convert", *files, "--epsilon", "0.01", "-o", str(tmp_path / "out")])
    assert end.value.code == 1
    assert "1 of 2 files converted" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["norm-attention.xlsx"]


# Masks


def with_mask(sample: str, name: str, mask: Any, words: tuple[Any, Any] | None = None) -> Tables:
    tables = read_tables(SAMPLES / f"{sample}.xlsx")
    given = attn_xl.Table(
        name, np.array(mask, float), *(words or (("r",) * len(mask), ("c",) * len(mask[0]))),
        (bool(words), bool(words)), "m.xlsx", name, 1, 1,
    )  # fmt: skip
    return replace(tables, weights={**tables.weights, name: given})


@alike
@pytest.mark.parametrize(
    ("sample", "name", "shape", "hides"),
    [
        ("encoder", "Mask", (3, 3), ["Enc1.Softmax_1", "Enc2.Softmax_2"]),
        ("encoder", "Enc.Mask", (3, 3), ["Enc1.Softmax_1", "Enc2.Softmax_2"]),
        ("encoder", "Enc2.Mask", (3, 3), ["Enc2.Softmax_1", "Enc2.Softmax_2"]),
        ("decoder", "Mask", (3, 4), ["Dec1.Cross.Softmax_1"]),
        ("decoder", "Self.Mask", (3, 3), ["Dec1.Self.Softmax_1"]),
        ("decoder", "Dec.Cross.Mask", (3, 4), ["Dec1.Cross.Softmax_2"]),
        ("decoder", "Dec1.Cross.Mask", (3, 4), ["Dec1.Cross.Softmax_2"]),
        ("encoder-decoder", "Dec.Self.Mask", (4, 4), ["Dec1.Self.Softmax_1"]),
        ("encoder-decoder", "Enc1.Mask", (5, 5), ["Enc1.Softmax_1"]),
        ("language-model", "Dec.Mask", (4, 4), ["Dec1.Softmax_2"]),
        ("multi-head", "Mask", (5, 5), ["Softmax_1", "Softmax_2"]),
    ],
)
def test_a_mask_is_used_where_it_belongs(
    sample: str, name: str, shape: tuple[int, int], hides: list[str], tmp_path: Path
) -> None:
    mask = np.zeros(shape)
    mask[-1, 0] = -1e9  # what no causal mask hides
    tables = with_mask(sample, name, mask)
    settings = Settings.resolve({"controls": True}, tables.settings, "")
    computation = attend(tables, settings)
    assert not computation.remarks
    graph = computation[next(iter(computation))]
    weights = [node for node in graph.values() if node.role == "attention"]
    hidden = {node.name for node in weights if node.shape == shape and node.values[-1, 0] == 0}
    assert hidden >= set(hides)
    layer = hides[0].rpartition(".")[0]
    others = {node.name for node in weights} - hidden
    assert all(layer not in other for other in others if layer)
    if name.count("2"):
        assert "Enc1.Softmax_1" in others
    path = tmp_path / "masked.xlsx"
    write_workbook(computation, path, settings=settings)
    assert not differences_ironcalc(path, 1e-9, 0.01)
    again = attend(read_tables(path))
    for step, node in graph.items():
        assert (again[next(iter(again))][step].values == node.values).all(), step


@pytest.mark.parametrize(
    ("sample", "name", "shape", "said"),
    [
        ("encoder", "Mask", (2, 2), "sheet 'Mask': the mask is 2 x 2, but the scores are 3 x 3 in Enc"),
        (
            "encoder",
            "Enc3.Mask",
            (3, 3),
            "Enc3.Mask names no attention of this model. Name the mask Enc.M",
        ),
        ("encoder", "Dec.Mask", (3, 3), "Dec.Mask names no attention"),
        ("decoder", "Enc.Mask", (3, 3), "Name the mask Dec.Self.Mask or Dec.Cross.Mask"),
        ("decoder", "Self.Mask", (3, 4), "the mask is 3 x 4, but the scores are 3 x 3 in Dec.Self"),
        ("politics", "Cross.Mask", (5, 5), "Name the mask Mask"),
        ("politics", "Enc.Mask", (5, 5), "Name the mask Mask, or give --model encoder."),
        ("mouse", "Mask", (4, 5), "but the scores are 5 x 5. Give"),
        ("masks", "Mask", (3, 3), "3 x 3, but the scores are 4 x 4"),
    ],
)
def test_a_mask_that_fits_nothing_is_refused(
    sample: str, name: str, shape: tuple[int, int], said: str
) -> None:
    with pytest.raises(InputError) as error:
        attend(with_mask(sample, name, np.zeros(shape)))
    assert said in str(error.value)
    assert "m.xlsx" in str(error.value)


def test_a_mask_that_fits_several_attentions_has_to_be_named(make: Make) -> None:
    x = table(RNG.normal(size=(3, 4)), WORDS)
    y = table(RNG.normal(size=(3, 4)), ["le", "chat", "dort"])
    options: dict[str, Any] = {"model": "decoder", "memory": "two", "random_weights": 1}
    alike = read_tables(make({"one": x, "two": y, "Mask": MASK}))
    with pytest.raises(InputError, match=r"fits several .* Dec\.Self\.Mask or Dec\.Cross\.Mask"):
        attend(alike, Settings(**options))
    words = [["", *WORDS], *([w, *row] for w, row in zip(WORDS, MASK))]
    graph = attend(read_tables(make({"one": x, "two": y, "Mask": words})), Settings(**options))["one"]
    assert graph["Dec1.Self.Softmax_1"].values[2, 0] == 0
    assert (graph["Dec1.Cross.Softmax_1"].values != 0).all()


@thorough
def test_a_mask_with_words_serves_their_sentence(make: Make, tmp_path: Path) -> None:
    x, y = table(RNG.normal(size=(3, 4)), WORDS), table(RNG.normal(size=(3, 4)), ["a", "b", "c"])
    words = [["", "a", "b", "c"], *([w, *row] for w, row in zip("abc", MASK))]
    for mask, masked in ((words, {"two"}), (MASK, {"one", "two"})):
        path = tmp_path / f"{len(masked)}.xlsx"
        computation = attend(read_tables(make({"one": x, "two": y, "Mask": mask})))
        write_workbook(computation, path, record=True)
        for made in (computation, attend(read_tables(path))):
            found = {name for name, graph in made.items() if graph["Softmax"].values[2, 0] == 0}
            assert found == masked


# Titles and formulas


@alike
@pytest.mark.parametrize(
    ("sample", "options", "title", "formula"),
    [
        ("politics", {}, "Self-attention: politics", "Attention(Q, K, V) = softmax(Q × Kᵀ / √d_k) × V"),
        (
            "politics",
            {"scale": False},
            "Self-attention: politics",
            "Attention(Q, K, V) = softmax(Q × Kᵀ) × V",
        ),
        (
            "politics",
            {"normalize": "sum", "scale": False},
            "Self-attention: politics",
            "Attention(Q, K, V) = (Q × Kᵀ / Sum) × V, where Sum is the sum of the scores",
        ),
        (
            "politics",
            {"temperature": 2.0, "causal": True},
            "Self-attention: politics",
            "Attention(Q, K, V) = softmax(Q × Kᵀ / √d_k / Temperature + Mask) × V",
        ),
        (
            "cross",
            {"memory": "english", "dropout": 0.5},
            "Cross-attention: french, attending to english",
            "Attention(Q, K, V) = (softmax(Q × Kᵀ / √d_k) · DropoutMask / (1 - p_dropout)) × V",
        ),
        (
            "multi-head",
            {"heads": 2},
            "Multi-head self-attention: sentence",
            "Attention(Q, K, V) = softmax(Q × Kᵀ / √d_k) × V",
        ),
        ("politics", {"model": "similarity"}, "Similarity: politics", "Angle = arccos("),
        ("politics", {"model": "softmax"}, "Softmax: politics", "Softmax = softmax(Input)"),
        (
            "politics",
            {"model": "norm", "norm_variance": "sample", "norm_epsilon": "outside"},
            "Layer norm: politics",
            "Norm = (Input - Mean) / (√Variance + epsilon), where Mean is the mean of the row; "
            "Variance is the sample variance of the row",
        ),
        ("politics", {"model": "positions"}, "Positions: politics", "Embedded = Input + Positions"),
        (
            "decoder",
            None,
            "Decoder: sentence, attending to encoded",
            "Attention(Q, K, V) = softmax(Q × Kᵀ / √d_k + Mask) × V in Dec.Self; Attention",
        ),
        ("encoder", None, "Encoder: sentence", "Attention(Q, K, V) = softmax(Q × Kᵀ / √d_k) × V"),
    ],
)
def test_the_overview_says_what_is_computed(
    sample: str, options: dict[str, Any] | None, title: str, formula: str, tmp_path: Path
) -> None:
    tables = read_tables(SAMPLES / f"{sample}.xlsx")
    computation = attend(tables, None if options is None else Settings(**options))
    path = tmp_path / "out.xlsx"
    write_workbook(computation, path)
    book = openpyxl.load_workbook(path)
    assert book.properties.title == title
    assert str(book["Overview"]["A2"].value).startswith(formula)


def test_the_switches_are_in_the_formula(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    with pytest.raises(SystemExit):
        main(["convert", str(SAMPLES / "politics.xlsx"), "-o", str(path)])
    engine = Editable(path)
    names = openpyxl.load_workbook(path).defined_names
    cells = [
        names[name].attr_text.partition("!")[2].replace("$", "") for name in ("Scale", "Temperature")
    ]
    for scale, temperature, divisor in (
        ("on", 1, " / √d_k"), ("off", 1, ""), ("on", 2, " / (√d_k · 2)"), ("off", 2, " / 2"),
    ):  # fmt: skip
        for cell, value in zip(cells, (scale, temperature)):
            engine.enter([("Overview", *split_address(cell), value)])
        assert engine.value("Overview", 2, 1) == f"Attention(Q, K, V) = softmax(Q × Kᵀ{divisor}) × V"


# Blocks by themselves


@pytest.mark.parametrize("model", BLOCKS)
def test_a_block_has_its_own_steps_only(model: Model, tables: Tables) -> None:
    graph = attend(of_use(tables, model), Settings(**basis(model)))["one"]
    steps = {
        Model.softmax: ["Input", "Softmax.Maximum", "Softmax.Exponentials", "Softmax.Sum", "Softmax"],
        Model.norm: ["Input", "epsilon", "Norm.Mean", "Norm.Variance", "Norm"],
        Model.feed_forward: ["Input", "W_1", "Hidden", "Activated", "W_2", "FeedForward"],
        Model.positions: ["Input", "Positions", "Embedded"],
        Model.spread: ["Input", "Products", "Dots", "Spread.Variance", "Spread.Count", "Spread"],
    }[model]
    assert sorted(graph) == sorted(steps)


def test_one_column_has_no_sample_variance(make: Make) -> None:
    options: dict[str, Any] = {"model": "norm", "norm_variance": "sample"}
    with pytest.raises(InputError, match="one column, and a single number has no sample variance"):
        attend(read_tables(make({"s": [["", "d"], ["a", 1], ["b", 2]]})), Settings(**options))


def test_output_weights_take_the_words_of_the_vocabulary(make: Make) -> None:
    x, w, b = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)), RNG.normal(size=(1, 2))
    sheets = {
        "s": table(x, WORDS),
        "Vocabulary": table(np.ones((2, 4)), ["yes", "no"]),
        "b_U": table(b),
    }
    options: dict[str, Any] = {"model": "decoder-only", "random_weights": 1}
    plain = [list(row) for row in w.tolist()]
    graph = attend(read_tables(make({**sheets, "W_U": plain})), Settings(**options))["s"]
    assert graph["Logits"].columns == ("yes", "no")
    assert "Vocabulary" not in graph
    wide = {**sheets, "W_U": table(np.ones((4, 3)))}
    with pytest.raises(InputError, match=r"Vocabulary has 2 words, but W_U 3 columns"):
        attend(read_tables(make(wide)), Settings(**options))


@thorough
def test_a_mask_of_a_sublayer_is_read_back_as_it_was_edited(tmp_path: Path) -> None:
    """So is the share; the formulas follow both, which the recalculation shows."""
    path, edited = tmp_path / "written.xlsx", tmp_path / "edited.xlsx"
    tables = read_tables(SAMPLES / "encoder-decoder.xlsx")
    chosen = {
        "residual_dropout": 0.25, "seed": 3, "controls": True, "encoder_layers": 1, "layout": "sheets"
    }  # fmt: skip
    settings = Settings.resolve(chosen, tables.settings, "")
    computation = attend(tables, settings)
    write_workbook(computation, path, settings=settings)
    assert not differences_ironcalc(path, 1e-10)  # some numbers nearly cancel
    names = [
        name for name in computation["target"] if name.endswith(("ResidualMask_1", "EmbeddedMask"))
    ]
    assert names == [
        "EmbeddedMask",
        "Source.EmbeddedMask",
        "Enc1.ResidualMask_1",
        "Dec1.ResidualMask_1",
    ]
    book = openpyxl.load_workbook(path)
    for name in names:
        sheet = book[name]
        sheet["B5"] = 1 - sheet["B5"].value
    place = book.defined_names["p_residual"].attr_text.rpartition("!")[2].replace("$", "")
    book["Overview"][place] = 0.5
    book.save(edited)
    again = attend(read_tables(edited))["target"]
    for name in names:
        before = computation["target"][name].values
        assert again[name].values[0, 0] == 1 - before[0, 0]
        assert (again[name].values.ravel()[1:] == before.ravel()[1:]).all()
    assert again["p_residual"].values[0, 0] == 0.5
    x, made = again["Dec1.Self.Attention"].values, again["Dec1.Residual_1"].values
    assert np.allclose(made, x * again["Dec1.ResidualMask_1"].values * 2, atol=1e-12)
    assert np.allclose(again["Dec1.Sum_1"].values, again["EmbeddedDropped"].values + made, atol=1e-12)


def test_a_record_keeps_no_setting_that_has_no_effect_when_it_is_read_back(tmp_path: Path) -> None:
    """Weights that were made up are given in the workbook, and say their width themselves."""
    tables = read_tables(SAMPLES / "politics.xlsx")
    options: dict[str, Any] = {"model": "encoder", "random_weights": 1, "hidden": 3}
    computation = attend(tables, Settings(**options))
    write_workbook(computation, tmp_path / "out.xlsx", record=True)
    again = read_tables(tmp_path / "out.xlsx")
    assert "hidden" not in again.settings
    same = attend(again)["politics"]["Enc1.Norm_2"].values
    assert (same == computation["politics"]["Enc1.Norm_2"].values).all()
