"""One vector for a sentence, and the words in place of a mask: against plain NumPy, in workbooks, and
as a folder of sentence-transformers asks for them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, SAMPLES, alike, table, thorough, verify
from test_options import BESIDE, OTHER, basis

import attn_xl
from attn_xl.errors import CallError, InputError
from attn_xl.settings import LANGUAGE, Model, Settings

Make = Callable[..., Path]
DATA = ROOT / "tests" / "data" / "checkpoints"
MASKED, VECTOR = SAMPLES / "masked-words.xlsx", SAMPLES / "sentence-vector.xlsx"
RNG = np.random.default_rng(9)
WORDS = ["the", "cat", "<PAD>"]


def test_one_head_of_a_layer_may_do_without_w_o() -> None:
    """As if it were the identity; of several heads, W_O is needed."""
    x, names = RNG.normal(size=(3, 4)), ("W_Q", "W_K", "W_V", "W_1", "W_2")
    weights: dict[str, Any] = {name: RNG.normal(size=(4, 4)) for name in names}
    without = attn_xl.attend(x, weights=weights, model="encoder")["Sentence"]
    with_it = attn_xl.attend(x, weights={**weights, "W_O": np.eye(4)}, model="encoder")["Sentence"]
    assert "Enc1.Concat" not in without
    assert np.allclose(without["Enc1.Norm_2"].values, with_it["Enc1.Norm_2"].values, atol=1e-14)
    with pytest.raises(InputError, match=r"Enc1\.W_O is missing"):
        attn_xl.attend(x, weights=weights, model="encoder", heads=2)
    del weights["W_1"]
    with pytest.raises(InputError, match=r"Enc1\.W_1 is missing.*--no-feed-forward"):
        attn_xl.attend(x, weights=weights, model="encoder")


def test_the_transform_before_masked_words() -> None:
    (graph,) = attn_xl.attend(MASKED).values()
    w = attn_xl.read_tables(MASKED).weights
    x = graph["Enc1.Norm_2"].values @ w["Transform.W_1"].values + w["Transform.b_1"].values
    x = 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    x = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    logits = x * w["Transform.gamma"].values @ w["Vocabulary"].values.T + w["b_U"].values
    assert np.allclose(graph["Logits"].values, logits, rtol=1e-12)
    assert graph["Filled"].texts == tuple(
        np.array(w["Vocabulary"].rows)[graph["Probabilities"].values.argmax(axis=1)]
    )
    embedded = attn_xl.read_tables(MASKED).sentences["sentence"].values + w["W_P"].values[:5]
    assert np.allclose(graph["Embedded"].values, embedded + w["Segment"].values, rtol=1e-12)


@thorough
def test_the_loss_of_masked_words(make: Make) -> None:
    x = RNG.normal(size=(3, 4)).round(2)
    sheets = {"s": table(x, ["a", "[MASK]", "b"]), "Vocabulary": table(x + 1, ["a", "b", "c"])}
    options: dict[str, Any] = {"model": "masked-language-model", "random_weights": 1, "loss": True}
    for labels, rows, columns in ((["c"], [1], [2]), (["b", "c", "a"], [0, 1, 2], [1, 2, 0])):
        path = make({**sheets, "Labels": [["sentence", "words"], ["s", *labels]]})
        (graph,) = attn_xl.attend(path, **options).values()
        chances = graph["Probabilities"].values[rows, columns]
        assert graph["Loss"].values[0, 0] == pytest.approx(-np.log(chances).mean(), rel=1e-12)
    with pytest.raises(InputError, match="has 2 labels for 1 mask"):
        attn_xl.attend(make({**sheets, "Labels": [["sentence", "words"], ["s", "a", "b"]]}), **options)
    path = make({**sheets, "Labels": [["sentence", "words"], ["s", "c"]]})
    learned = attn_xl.learn(path, steps=20, **options | {"loss": None})
    assert learned.losses[-1] < learned.losses[0]


def test_the_words_of_the_mask_are_shown(make: Make) -> None:
    """Of a large vocabulary those that fit in place of a mask, not after the last word."""
    x = RNG.normal(size=(4, 4)).round(2)
    vocabulary = [f"w{i}" for i in range(9)]
    sheets = {"s": table(x, ["a", "[MASK]", "b", "c"]),
              "Vocabulary": table(RNG.normal(size=(9, 4)).round(2), vocabulary)}  # fmt: skip
    options: dict[str, Any] = {"model": "masked-language-model", "random_weights": 1}
    (all_of_them,) = attn_xl.attend(make(sheets), **options).values()
    (graph,) = attn_xl.attend(make(sheets), vocabulary="top:3", **options).values()
    best = np.argsort(-all_of_them["Probabilities"].values[1])[:3]
    assert graph["Probabilities"].columns[:-1] == tuple(vocabulary[i] for i in best)
    assert np.allclose(graph["Probabilities"].values.sum(axis=1), 1)
    assert np.allclose(
        graph["Probabilities"].values[:, :-1], all_of_them["Probabilities"].values[:, best], atol=1e-13
    )


@alike
@pytest.mark.parametrize("path", [MASKED, VECTOR], ids=lambda path: path.stem)
@pytest.mark.parametrize("layout", ["sheets", "canvas"])
def test_a_workbook_is_read_back(path: Path, layout: str, tmp_path: Path) -> None:
    computation = attn_xl.attend(path, layout=layout, controls=True)
    attn_xl.write_workbook(computation, tmp_path / "o.xlsx")
    verify(tmp_path / "o.xlsx")
    (graph,), (back,) = computation.values(), attn_xl.attend(tmp_path / "o.xlsx").values()
    assert list(graph) == list(back)
    assert all(np.array_equal(graph[name].values, back[name].values) for name in graph)


def test_the_vector_of_a_sentence(make: Make) -> None:
    (graph,) = attn_xl.attend(VECTOR).values()
    w = attn_xl.read_tables(VECTOR).weights
    first = graph["Enc1.Norm_2"].values[:1]
    vector = np.tanh(first @ w["Pooler.W_1"].values + w["Pooler.b_1"].values)
    assert np.allclose(graph["Unit"].values, vector / np.linalg.norm(vector), rtol=1e-12)
    plain = attn_xl.read_tables(VECTOR, without=["Pooler.W_1", "Pooler.b_1"])
    for pooling, takes in (("mean", np.mean), ("max", np.max)):
        (pooled,) = attn_xl.attend(plain, pooling=pooling, unit_length=False).values()
        wanted = takes(pooled["Enc1.Norm_2"].values, axis=0)
        assert np.allclose(pooled["Pooled"].values, wanted, rtol=1e-12)
    x = RNG.normal(size=(3, 4)).round(2)
    options: dict[str, Any] = {"model": "encoder", "random_weights": 1, "pooling": "mean"}
    (padded,) = attn_xl.attend(make({"s": table(x, WORDS)}), **options).values()
    assert np.allclose(padded["Pooled"].values, padded["Enc1.Norm_2"].values[:2].mean(axis=0))


def test_no_vector_without_a_request(make: Make) -> None:
    x = table(RNG.normal(size=(3, 4)).round(2), WORDS)
    (graph,) = attn_xl.attend(make({"s": x}), model="encoder", random_weights=1).values()
    assert not {"Pooled", "Pooler.Activated", "Unit"} & set(graph)
    with pytest.raises(CallError, match="unit-length has no effect without --pooling"):
        attn_xl.attend(make({"s": x}), model="encoder", random_weights=1, unit_length=True)


def test_a_language_model_may_be_called_so() -> None:
    assert Settings(model="language-model").model is Model.decoder_only  # type: ignore[arg-type]


# Folders


@pytest.fixture
def bert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a BERT, whose tokens need no library."""
    from attn_xl.tables.checkpoints import checkpoint, tokenizer

    def kept(folder: Path) -> tokenizer.Tokenizer:
        words = tuple(json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"])
        return tokenizer.Tokenizer(folder, lambda text: [words.index(w) for w in text.split()], words)

    monkeypatch.setattr(checkpoint, "read_tokenizer", kept)
    return Path(shutil.copytree(DATA / "bert", tmp_path / "bert"))


def sentence_transformer(folder: Path, mode: str, *others: str) -> None:
    """The files that sentence-transformers adds to a folder."""
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling"), *((other, "2") for other in others)]
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (kind, path) in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    (folder / "1_Pooling").mkdir()
    config = {"word_embedding_dimension": 8, "pooling_mode_cls_token": False, mode: True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config), "utf-8")


def test_a_sentence_transformer_pools_as_its_folder_says(bert: Path) -> None:
    (plain,) = attn_xl.load_model(bert)("the cat ran").values()
    assert "Pooler.Activated" in plain
    sentence_transformer(bert, "pooling_mode_mean_tokens", "Normalize")
    (graph,) = attn_xl.load_model(bert)("the cat ran").values()
    assert "Pooler.Activated" not in graph
    mean = plain["Enc2.Norm_2"].values.mean(axis=0)
    assert np.allclose(graph["Unit"].values[0], mean / np.linalg.norm(mean), atol=1e-12)
    (first,) = attn_xl.load_model(bert)("the cat ran", pooling="first", unit_length=False).values()
    assert np.array_equal(first["Pooled"].values, plain["Enc2.Norm_2"].values[:1])
    shutil.rmtree(bert / "1_Pooling")
    sentence_transformer(bert, "pooling_mode_max_tokens")
    (largest,) = attn_xl.load_model(bert)("the cat ran").values()
    assert np.array_equal(largest["Pooled"].values[0], plain["Enc2.Norm_2"].values.max(axis=0))


def test_other_poolings_and_modules(bert: Path) -> None:
    sentence_transformer(bert, "pooling_mode_lasttoken", "Dense")
    with pytest.raises(InputError, match="pools by pooling_mode_lasttoken; attn-xl computes"):
        attn_xl.load_model(bert)
    shutil.rmtree(bert / "1_Pooling")
    sentence_transformer(bert, "pooling_mode_cls_token", "Dense")
    assert "Left out of modules.json: Dense." in attn_xl.load_model(bert)("the cat").remarks
    (bert / "modules.json").write_text("{}", "utf-8")
    with pytest.raises(InputError, match=r"modules.json: not a JSON array"):
        attn_xl.load_model(bert)


def test_an_encoder_that_predicts_words_may_be_used_as_an_encoder(tmp_path: Path) -> None:
    model = attn_xl.load_model(DATA / "distilbert-masked")
    (graph,) = model("the cat ran", model="encoder", pooling="mean").values()
    assert "Pooled" in graph
    assert "Logits" not in graph


@thorough
@alike
@pytest.mark.parametrize("name", ["gpt2", "bert-masked", "roberta-masked"])
def test_a_part_with_few_words_is_read_back(name: str, tmp_path: Path) -> None:
    """A layer and a head of each, learned positions before the layers, a bias of the words shown."""
    few: dict[str, Any] = {"live_layers": "1", "live_heads": "0", "live_network": False}
    model = attn_xl.load_model(DATA / name)
    computation = model("the cat", "the mouse ran", controls=True, vocabulary="top:3", **few)
    attn_xl.write_workbook(computation, tmp_path / "o.xlsx")
    if name != "roberta-masked":  # IronCalc knows exact GELU to 1e-10 only
        verify(tmp_path / "o.xlsx")
    back = attn_xl.attend(tmp_path / "o.xlsx")
    for sentence, graph in computation.items():
        assert np.array_equal(back[sentence]["Probabilities"].values, graph["Probabilities"].values)
    (whole,) = model("the cat", vocabulary="all").values()
    some = computation["text 1"]["Probabilities"]
    for word in some.columns[:-1]:
        assert np.allclose(some[:, word], whole["Probabilities"][:, word], atol=1e-12)


# What is changed in a workbook


# The Settings sheet

SCALED_BY = {f.name: f.metadata["models"] for f in fields(Settings)}
BLOCKS = [
    name for name in OTHER
    if name not in ("memory", "attention", "random_weights", "hidden", "padding", "cross_heads")
]  # fmt: skip


@alike
@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_is_settable_in_the_settings_sheet(name: str, make: Make) -> None:
    """A file that sets an option on its sheet computes what the option of the call computes."""
    models = SCALED_BY[name]
    wanted = (Model.encoder, Model.decoder_only, Model.masked, Model.rnn, Model.gru, Model.classify)
    model = next(one for one in wanted if one in models)
    x = RNG.normal(size=(3, 4)).round(2) + 3
    words = {"Vocabulary": table(x + 1, ["a", "b", "c"])} if model in LANGUAGE else {}
    labels = {"Labels": [["sentence", "class"], ["s", "a"], ["t", "b"]]}
    more = {"t": table(x[::-1], ["d", "e", "f"]), **labels} if model is Model.classify else {}
    sheets = {"s": table(x, ["a", "b", "c"]), **words, **more}
    options = {**basis(model), **BESIDE.get(name, {}), name: OTHER[name]}
    options.setdefault("random_weights", 1)
    called = attn_xl.attend(make(sheets), **options)
    typed = [[key, getattr(value, "value", value)] for key, value in options.items()]
    written = attn_xl.attend(make({**sheets, "Settings": typed}))
    assert written.settings == called.settings
    for sentence, graph in called.items():
        assert list(written[sentence]) == list(graph)
        same = (np.array_equal(written[sentence][one].values, graph[one].values) for one in graph)
        assert all(same)
