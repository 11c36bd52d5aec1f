"""Trained models read from their folders: every family against `transformers`, whose numbers are kept
in `data/checkpoints` (see `data/make_checkpoints.py`); and folders that are damaged, hostile or
incomplete."""

from __future__ import annotations

import importlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, SAMPLES, thorough

import attn_xl
from attn_xl.errors import AttnXlError, CallError, InputError
from attn_xl.labelled import MissingLibraryError
from attn_xl.tables.checkpoints import checkpoint, tokenizer
from attn_xl.tables.checkpoints.checkpoint import Checkpoint
from attn_xl.tables.checkpoints.families import NO_EFFECT
from attn_xl.tables.checkpoints.safetensors import LONGEST_HEADER, Tensors

DATA = ROOT / "tests" / "data" / "checkpoints"
FAMILIES = sorted(path.name for path in DATA.iterdir())
TINY = SAMPLES / "tiny-model"
TEXT = "the cat chased the mouse and ran"
Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A copy of the tiny model, to be changed."""
    return Path(shutil.copytree(TINY, tmp_path / "tiny"))


def change_json(file: Path, change: Change) -> None:
    content = json.loads(file.read_text("utf-8"))
    change(content)
    file.write_text(json.dumps(content), "utf-8")


def written(header: dict[str, Any] | bytes, data: bytes, file: Path, length: int | None = None) -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(raw) if length is None else length
    file.write_bytes(size.to_bytes(8, "little") + raw + data)
    return file


def entry(begin: int, end: int, shape: list[int], kind: str = "F32") -> dict[str, Any]:
    return {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}


def changed(tensors: Tensors, file: Path, change: Change) -> None:
    """Write tensors as float32 into a file, after a change of the dictionary of arrays."""
    arrays = {name: np.array(tensors[name]) for name in tensors}
    change(arrays)
    header, data = {}, b""
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array, np.float32).tobytes()
        header[name] = entry(len(data), len(data) + len(raw), [*array.shape])
        data += raw
    written(header, data, file)


# Families


def expected(name: str) -> Any:
    return np.load(DATA / name / "expected.npz")


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a family; the tokens are those of transformers, so that no library is needed."""
    name = str(request.param)
    ids = expected(name)["ids"].tolist()

    def kept(folder: Path) -> tokenizer.Tokenizer:
        content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
        words = (word.replace("<pad>", "blank") for word in content["model"]["vocab"])  # none hidden
        return tokenizer.Tokenizer(folder, lambda text: ids, tuple(words))

    monkeypatch.setattr(checkpoint, "read_tokenizer", kept)
    return name


def test_a_family_computes_what_transformers_computes(family: str) -> None:
    want = expected(family)
    (graph,) = attn_xl.load_model(DATA / family)(TEXT).values()
    encodes = "Enc1.W_Q" in graph
    stack = "Enc" if encodes else "Dec"

    def close(name: str, numbers: Any) -> None:
        assert np.abs(graph[name].values - numbers).max() < 1e-10, name

    close("Enc.Norm_1" if encodes else "Embedded" if "Embedded" in graph else "Input", want["hidden_0"])
    for layer in (1, 2):
        for head, numbers in enumerate(want[f"attention_{layer}"], 1):
            close(f"{stack}{layer}.Softmax_{head}", numbers)
    after = next(name for name in ("Enc1.Norm_2", "Dec1.Sum_2", "Dec1.Sum") if name in graph)
    close(after, want["hidden_1"])
    close("Enc2.Norm_2" if encodes else "Dec.Norm", want["hidden_2"])
    if "logits" in want:
        close("Logits", want["logits"])
    if "pooler_output" in want:
        close("Pooler.Activated", want["pooler_output"])


def test_the_settings_come_from_the_config() -> None:
    settings = attn_xl.load_model(DATA / "llama").settings
    assert settings["rotary_base"] == 500.0
    assert (settings["heads"], settings["kv_heads"], settings["activation"]) == (4, 2, "swiglu")
    assert attn_xl.load_model(DATA / "roberta").settings["activation"] == "relu"
    assert attn_xl.load_model(DATA / "gpt2").settings["activation"] == "gelu-tanh"


def test_stored_types_and_shards() -> None:
    kinds = {name: {one.type for one in Tensors(DATA / name)._stored.values()} for name in FAMILIES}
    assert kinds["llama"] == {"BF16"}
    assert kinds["mistral"] == {"F16"}
    assert kinds["gpt2"] == {"F32"}
    assert len({Tensors(DATA / "qwen2").file(name) for name in Tensors(DATA / "qwen2")}) > 1


def test_tokens_are_those_of_the_library() -> None:
    library = pytest.importorskip("tokenizers")
    for name in FAMILIES:
        ids = library.Tokenizer.from_file(str(DATA / name / "tokenizer.json")).encode(TEXT).ids
        assert ids == expected(name)["ids"].tolist()
        made = tokenizer.read_tokenizer(DATA / name)
        assert made.encode(TEXT) == ids
    made = library.Tokenizer.from_file(str(TINY / "tokenizer.json"))
    for text in ("The cat, the DOG.", "zebra mouse.", "a-b  c\n"):
        assert tokenizer.read_tokenizer(TINY).encode(text) == made.encode(text).ids


def test_without_the_library_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError

    monkeypatch.setattr(tokenizer, "import_module", missing)
    with pytest.raises(MissingLibraryError, match=r'pip install "attn-xl\[models\]"'):
        tokenizer.read_tokenizer(DATA / "bert")
    tokenizer.read_tokenizer(TINY)  # word-level: needs nothing


def test_the_tiny_model_needs_no_library() -> None:
    names = {"safetensors", "tokenizers", "torch", "transformers"}
    for path in (ROOT / "attn_xl" / "tables" / "checkpoints").glob("*.py"):
        text = path.read_text("utf-8")
        assert not any(f"import {name}" in text for name in names)


# The tiny model


def test_the_tiny_model_predicts_and_finds_the_earlier_word() -> None:
    model = attn_xl.load_model(TINY)
    graph = model("the small cat chased the old mouse and the small")[TINY.name]
    assert graph["Next"].texts is not None
    assert graph["Next"].texts[-1] == "cat"
    assert graph["Probabilities"][-1, "cat"] > 0.9
    heads = [graph[f"Dec{layer}.Softmax_{head}"] for layer in (1, 2) for head in (1, 2, 3, 4)]
    assert max(head[-1, 1] for head in heads) > 0.7  # the earlier `small`
    assert max(head[-1, 2] for head in heads) > 0.9  # the word after it
    for text, words in (
        (
            "anna connected the mouse to the keyboard and the mouse",
            {"worked", "blinked", "stopped", "started"},
        ),
        ("the cat chased the mouse and the mouse", {"ran", "slept", "ate", "jumped"}),
    ):
        shares = model(text)[TINY.name]["Probabilities"]
        assert sum(shares[-1, word] for word in words) > 0.95
    assert sum(path.stat().st_size for path in TINY.iterdir()) < 400_000


def test_unknown_words_are_reported() -> None:
    tables = attn_xl.read_tables(TINY, text="the zebra ran")
    assert tables.sentences[TINY.name].rows == ("the", "<unk>", "ran")
    assert any("'<unk>'" in remark for remark in tables.remarks)


def test_a_token_that_is_written_out_stays_whole(tiny: Path) -> None:
    def rename(content: dict[str, Any]) -> None:
        content["model"]["vocab"]["<pad>"] = content["model"]["vocab"].pop(".")

    change_json(tiny / "tokenizer.json", rename)
    tables = Checkpoint(tiny).tables(["the <pad> cat"])
    assert tables.sentences["tiny"].rows == ("the", "<pad>", "cat")
    assert not tables.remarks


def test_several_texts_share_the_weights() -> None:
    computation = attn_xl.load_model(TINY)("the cat ran", "anna moved the mouse")
    assert list(computation) == ["text 1", "text 2"]
    assert computation["text 1"]["Dec1.W_Q"] is computation["text 2"]["Dec1.W_Q"]


def test_weights_from_a_model_and_words_from_a_file(make: Callable[..., Path]) -> None:
    tables = attn_xl.read_tables(TINY, text="the cat ran")
    x = tables.sentences[TINY.name]
    rows = [["", *x.columns], *([word, *numbers] for word, numbers in zip(x.rows, x.values.tolist()))]
    read = attn_xl.read_tables(make({"s": rows}), weights=TINY / "model.safetensors")
    mine, whole = attn_xl.attend(read)["s"], attn_xl.attend(tables)[TINY.name]
    assert np.allclose(mine["Logits"].values, whole["Logits"].values, atol=1e-9)


def test_the_words_the_weights_and_the_settings_come_from_three_files(
    make: Callable[..., Path], tiny: Path
) -> None:
    """A second file of weights in the folder is read if it is named; a tokenizer is not needed for the
    words of a spreadsheet, unless the model predicts words."""
    changed(Tensors(TINY), tiny / "other.safetensors", lambda t: t["model.norm.weight"].fill(2))
    x = attn_xl.read_tables(TINY, text="the cat ran").sentences[TINY.name]
    rows = [["", *x.columns], *([word, *numbers] for word, numbers in zip(x.rows, x.values.tolist()))]
    file = make({"s": rows, "Settings": [["epsilon", 0.5]]})
    graph = attn_xl.attend(attn_xl.read_tables(file, weights=tiny / "other.safetensors"))["s"]
    assert set(graph["Dec.gamma"].values[0]) == {2.0}
    assert graph["epsilon"].values == 0.5
    bert = Path(shutil.copytree(DATA / "bert", tiny / "bert"))
    (bert / "tokenizer.json").unlink()
    rows = [["", *(f"d{i}" for i in range(8))], ["cat", *range(8)], ["mat", *range(8, 0, -1)]]
    graph = attn_xl.attend(attn_xl.read_tables(make({"s": rows}), weights=bert))["s"]
    assert graph["Pooler.Activated"].shape == (1, 8)


@pytest.mark.parametrize("suffix", [".pt", ".bin", ".pth", ".ckpt"])
def test_a_pickle_is_refused_wherever_it_is_given(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"weights{suffix}"
    file.write_bytes(b"\x80\x02}q\x00.")
    with pytest.raises(InputError, match=r"is a pickle.* safe_serialization=True"):
        attn_xl.read_tables(SAMPLES / "mouse.xlsx", weights=file)
    with pytest.raises(InputError, match=r"is a pickle.* safe_serialization=True"):
        attn_xl.read_tables(file, text="the cat")


def test_weights_without_a_config_are_read_by_their_names(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    w = np.arange(4, dtype=np.float32).reshape(2, 2)
    raw = w.tobytes()
    names = [f"layers.0.self_attn.{one}_proj.weight" for one in "qkv"]
    header = {name: entry(16 * i, 16 * i + 16, [2, 2]) for i, name in enumerate(names)}
    file = written(header, raw * 3, tmp_path / "w.safetensors")
    read = attn_xl.read_tables(make({"s": [["", "a", "b"], ["x", 1, 2], ["y", 3, 4]]}), weights=file)
    assert np.array_equal(read.weights["W_Q"].values, w.T)  # stored out x in


def test_rotary_positions_stretched_evenly(tiny: Path) -> None:
    change_json(tiny / "config.json", lambda c: c.update(rope_scaling={"type": "linear", "factor": 4}))
    (graph,) = attn_xl.load_model(tiny)("the cat ran").values()
    (plain,) = attn_xl.load_model(TINY)("the cat ran").values()
    assert np.array_equal(graph["Dec.Angle"].values, plain["Dec.Angle"].values / 4)


# Files that are not well-formed


@pytest.mark.parametrize(
    ("header", "data", "length", "says"),
    [
        (b"", b"", 8_000_000_000, "its header would have 8,000,000,000 bytes"),
        (b"", b"", LONGEST_HEADER + 1, "its header would have"),
        (b"{", b"", None, "its header is not JSON"),
        (b"[" * 100_000, b"", None, "its header is not JSON"),
        (b"[]", b"", None, "its header is not a JSON object"),
        ({"a": entry(0, 16, [2, 2]), "b": entry(8, 24, [2, 2])}, bytes(24), None, "'b' overlaps"),
        ({"a": entry(0, 16, [2, 2]), "b": entry(0, 16, [2, 2])}, bytes(16), None, "'b' overlaps"),
        ({"a": entry(8, 24, [2, 2])}, bytes(24), None, "'a' leaves a gap"),
        ({"a": entry(0, 16, [2, 3])}, bytes(16), None, "'a' is not consistent"),
        ({"a": entry(0, 16, [2**62, 2**4])}, bytes(16), None, "'a' is not consistent"),
        ({"a": entry(0, 16, [-2, -2])}, bytes(16), None, "'a' is not consistent"),
        ({"a": entry(0, 16, [2, 2], "X")}, bytes(16), None, "'a' is not consistent"),
        ({"a": {"dtype": "F32"}}, b"", None, "'a' is not consistent"),
        ({"a": [1]}, b"", None, "'a' is not consistent"),
        ({"a": entry(0, 16, [2, 2])}, bytes(8), None, "end at byte"),
        ({"a": entry(0, 16, [2, 2])}, bytes(32), None, "end at byte"),
    ],
)
def test_a_hostile_file_is_refused(
    header: Any, data: bytes, length: int | None, says: str, tmp_path: Path
) -> None:
    file = written(header, data, tmp_path / "m.safetensors", length)
    with pytest.raises(InputError, match=says) as refused:
        Tensors(file)
    assert "\n" not in str(refused.value)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.safetensors").write_bytes(b"123")
    with pytest.raises(InputError, match="it has 3 bytes"):
        Tensors(tmp_path / "m.safetensors")


def test_integers_are_no_weights(tmp_path: Path) -> None:
    file = written({"a": entry(0, 4, [4], "U8")}, bytes(4), tmp_path / "m.safetensors")
    with pytest.raises(InputError, match="stored as U8"):
        Tensors(file)["a"]


# Folders that are not usable


def refused(folder: Path, says: str, text: str = "the cat") -> None:
    with pytest.raises(AttnXlError, match=says) as error:
        attn_xl.attend(attn_xl.read_tables(folder, text=text))
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value) or "--text" in str(error.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: c.pop("model_type"), "model_type is missing. attn-xl knows: bert"),
        (lambda c: c.update(model_type="rwkv"), "'rwkv', a family .* It knows: bert, .*llama"),
        (lambda c: c.pop("num_attention_heads"), "num_attention_heads is missing"),
        (lambda c: c.pop("rms_norm_eps"), "rms_norm_eps is missing"),
        (lambda c: c.update(hidden_act="tanh"), "hidden_act is 'tanh'; attn-xl computes silu"),
        (lambda c: c.update(rope_scaling={"rope_type": "linear"}), "of type 'linear' need factor"),
        (lambda c: c.update(model_type="gpt_neox"), "needs attention and feed-forward network side by"),
        (
            lambda c: c.update(rope_scaling={"rope_type": "longrope"}),
            "'longrope'.* 'linear', 'llama3'",
        ),
        (
            lambda c: c.update(rope_scaling={"rope_type": "linear", "factor": -2}),
            "factor is -2; it takes a number above 0",
        ),
        (lambda c: c.update(model_type="deepseek_v3"), "needs a router with sigmoid scores.* llama"),
        (lambda c: c.update(model_type="gpt_oss"), "needs a learned attention sink.* llama"),
        (lambda c: c.update(rope_scaling={"type": "llama3"}), "of type 'llama3' need factor, low_freq"),
        (
            lambda c: c.update(num_hidden_layers=1),
            r"layers\.1\..* not part of a llama model with 1 layer",
        ),
        (lambda c: c.update(num_hidden_layers=3), r"layers\.2\..* missing"),
        (
            lambda c: c.update(num_attention_heads=3, num_key_value_heads=1),
            "32 columns, which do not split into the 3 heads",
        ),
        (lambda c: c.update(tie_word_embeddings=False), "The model was saved without its head"),
        (lambda c: c.update(num_key_value_heads=4), "queries of 8 dimensions, but keys of 4"),
    ],
)
def test_a_config_that_does_not_fit(change: Change, says: str, tiny: Path) -> None:
    change_json(tiny / "config.json", change)
    refused(tiny, says)


# What each key of a config says


def other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return value * 2 or 2
    return (
        {"other": 1} if isinstance(value, dict) else ["other"] if isinstance(value, list) else "other"
    )


@thorough
def test_every_key_is_used_or_without_effect_or_refused(family: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(DATA / family, tmp_path / family))
    whole = json.loads((folder / "config.json").read_text("utf-8"))
    before = Checkpoint(folder, reads_texts=False).settings
    for key, value in whole.items():
        (folder / "config.json").write_text(json.dumps({**whole, key: other(value)}), "utf-8")
        try:
            used = Checkpoint(folder, reads_texts=False).settings != before
        except InputError:
            continue
        limits = ("max_position_embeddings", "sliding_window")  # of the length of a text
        assert used or key in limits or NO_EFFECT.fullmatch(key), key


@pytest.mark.parametrize(
    ("key", "value"),
    {
        "layer_types": ["full_attention", "sliding_attention"], "original_max_position_embeddings": 8,
        "is_causal": False, "head_dim": 4, "vocab_size": 44, "intermediate_size": 65, "mlp_bias": True,
        "attention_bias": True, "partial_rotary_factor": 0.5, "attn_logit_softcapping": 30.0,
        "final_logit_softcapping": 30.0, "logits_scaling": 2.0, "query_pre_attn_scalar": 16,
        "quantization_config": {"bits": 4}, "anything": 1, "rope_parameters": {"rope_theta": 50.0},
        "rope_scaling": {"rope_type": "linear", "factor": 2.0, "mscale": 1.0},
    }.items(),
)  # fmt: skip
def test_a_key_that_would_change_the_numbers_is_named(key: str, value: Any, tiny: Path) -> None:
    change_json(tiny / "config.json", lambda config: config.update({key: value}))
    named = {"rope_parameters": "rope_theta", "rope_scaling": "mscale"}.get(key, key)
    refused(tiny, rf"config\.json: {named} is ")


def test_an_output_matrix_that_is_not_the_embeddings_contradicts_the_config(tiny: Path) -> None:
    def add(arrays: dict[str, Any]) -> None:
        arrays["lm_head.weight"] = arrays["model.embed_tokens.weight"] * 2

    changed(Tensors(tiny), tiny / "model.safetensors", add)
    refused(
        tiny, "lm_head.weight is not model.embed_tokens.weight, but config.json says that they are one"
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.pop("model.layers.1.mlp.up_proj.weight"), r"layers\.1\.mlp\.up_proj.* is missing"),
        (lambda t: t.update({"model.extra.weight": np.ones(2)}), r"model\.extra\.weight is not part"),
        (
            lambda t: t.update({"model.layers.0.mlp.down_proj.weight": np.ones((32, 60))}),
            "down_proj.weight is 32 x 60, which gives Dec1.W_2 60 x 32 numbers; it needs 64 x 32",
        ),
        (lambda t: t.update({"model.norm.weight": np.ones(31)}), "needs 1 x 32"),
    ],
)
def test_tensors_that_do_not_fit(change: Change, says: str, tiny: Path) -> None:
    changed(Tensors(TINY), tiny / "model.safetensors", change)
    refused(tiny, says)


def test_a_number_that_is_not_finite(tiny: Path) -> None:
    def change(tensors: dict[str, Any]) -> None:
        tensors["model.layers.0.self_attn.q_proj.weight"][0, 0] = np.nan

    changed(Tensors(TINY), tiny / "model.safetensors", change)
    refused(tiny, "q_proj.weight has a number that is not finite")


def test_a_tokenizer_that_does_not_fit(tiny: Path) -> None:
    change_json(tiny / "tokenizer.json", lambda c: c["model"]["vocab"].update(zebra=45, okapi=46))
    refused(tiny, "has 47 tokens, but the model has embeddings for 45")


def test_a_truncated_tokenizer(tiny: Path) -> None:
    (tiny / "tokenizer.json").write_text("{", "utf-8")
    refused(tiny, "not a JSON object")


@pytest.mark.parametrize("text", ["", "  "])
def test_a_text_without_words(text: str) -> None:
    refused(TINY, "has no tokens", text)


def test_a_text_longer_than_the_model_takes() -> None:
    refused(TINY, "65 tokens, but .* takes 64 .*max_position_embeddings", "cat " * 65)


@thorough
def test_a_model_writes_on_within_its_positions(family: str) -> None:
    """As many learned positions as the text has in the end; the numbers of a pass over all of it."""
    model = attn_xl.load_model(DATA / family)
    if model.settings["model"] != "decoder-only":
        return
    ids = expected(family)["ids"].tolist()
    (graph,) = model(TEXT, generate=3).values()
    new = [graph[f"New{i}.Word"].texts[0] for i in (1, 2, 3)]
    words = list(model._checkpoint._tokenizer.words)
    ids += [words.index(word) for word in new]
    model._checkpoint._tokenizer = replace(model._checkpoint._tokenizer, encode=lambda text: ids)
    (whole,) = model(TEXT).values()
    assert np.allclose(graph["New3.Logits"].values[0], whole["Logits"].values[-1], atol=1e-11)


def test_a_model_does_not_write_beyond_its_positions(family: str) -> None:
    model = attn_xl.load_model(DATA / family)
    if family == "gpt2":
        with pytest.raises(CallError, match=r"generate: gives \d+ tokens, but .* takes 16"):
            model(TEXT, generate=10)


def test_a_model_without_a_text() -> None:
    with pytest.raises(AttnXlError, match="needs a text: --text"):
        attn_xl.read_tables(TINY)


def test_a_text_without_a_model() -> None:
    with pytest.raises(AttnXlError, match="--text needs the folder of a trained model"):
        attn_xl.read_tables(SAMPLES / "mouse.xlsx", text="the cat")


def test_pickles_are_never_opened(tiny: Path) -> None:
    (tiny / "model.safetensors").rename(tiny / "pytorch_model.bin")
    refused(tiny, "pytorch_model.bin is a pickle.* safe_serialization=True")


def test_a_folder_without_weights_or_config(tiny: Path) -> None:
    (tiny / "model.safetensors").unlink()
    refused(tiny, "model.safetensors is missing")
    (tiny / "config.json").unlink()
    refused(tiny, "a folder without a config.json")


def test_an_index_does_not_leave_the_folder(tiny: Path) -> None:
    (tiny / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../x.safetensors"}}')
    refused(tiny, "weight_map must map each tensor to a file in the same folder")


def test_only_what_is_used_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checking the shapes of a model reads no tensor."""
    read: list[str] = []
    module = importlib.import_module("attn_xl.tables.checkpoints.safetensors")
    get = module.Tensors.__getitem__
    monkeypatch.setattr(
        module.Tensors, "__getitem__", lambda self, name: read.append(name) or get(self, name)
    )
    Checkpoint(TINY)
    assert set(read) == {"model.embed_tokens.weight"}


# Windows and tokens


def test_a_window_is_computed_once_a_text_is_longer_than_it(make: Callable[..., Path]) -> None:
    folder = DATA / "mistral-window"
    assert attn_xl.read_tables(folder, text="the cat ran").settings.get("window") is None
    assert attn_xl.read_tables(folder, text="the cat ran on").settings["window"] == 3
    with pytest.raises(CallError, match=r"generate: gives 4 tokens.* last 3"):
        attn_xl.attend(attn_xl.read_tables(folder, text="the cat"), generate=2)
    whole = "the cat ran on the mat"
    kept, full = (
        attn_xl.attend(attn_xl.read_tables(folder, text=text), **options)[folder.name]
        for text, options in (("the cat ran on", {"generate": 2}), (whole, {}))
    )
    assert np.abs(kept["Logits"].values - full["Logits"].values[:4]).max() < 1e-12
    x = attn_xl.read_tables(folder, text=whole).sentences[folder.name]
    rows = [["", *x.columns], *([word, *line] for word, line in zip(x.rows, x.values.tolist()))]
    read = attn_xl.read_tables(make({"s": rows}), weights=folder)
    assert np.abs(attn_xl.attend(read)["s"]["Logits"].values - full["Logits"].values).max() < 1e-9


@pytest.mark.parametrize("window", [0, -1, 2.5, "4", True])
def test_a_window_is_a_whole_number(window: object, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(DATA / "mistral-window", tmp_path / "m"))
    change_json(folder / "config.json", lambda c: c.update(sliding_window=window))
    refused(folder, "sliding_window is .*; it takes a whole number of at least 1")


def test_tokens_are_shown_as_people_read_them() -> None:
    library = pytest.importorskip("tokenizers")
    made = library.Tokenizer(library.models.BPE())
    made.decoder = library.decoders.ByteLevel()
    shown = {
        "Ġcat": "cat",
        "Ġ": "␣",
        "ĠĠ": "␣␣",
        "Ċ": "\\n",
        "ðŁĲŃ": "🐭",
        "ĠðŁ": "\\xf0\\x9f",
        "naÃ": "na\\xc3",
    }
    made.add_tokens(list(shown))
    assert {
        token: tokenizer._readable(made, made.token_to_id(token), token) for token in shown
    } == shown


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("num_attention_heads", 0, "num_attention_heads is 0; it takes a whole number"),
        ("num_attention_heads", "six", "num_attention_heads is 'six'"),
        ("num_attention_heads", True, "num_attention_heads is True"),
        ("num_key_value_heads", 3, "num_key_value_heads is 3, which does not divide the 4 heads"),
        ("num_hidden_layers", 2.5, "num_hidden_layers is 2.5"),
        ("num_hidden_layers", 10**9, "describes 1,000,000,000 layers, but the weights have only"),
        ("rms_norm_eps", -1, "rms_norm_eps is -1; it takes a number above 0"),
        ("rms_norm_eps", [1], "rms_norm_eps is"),
        ("rope_theta", "1e4", "rope_theta is '1e4'"),
        ("hidden_act", ["silu"], "hidden_act is"),
        ("rope_scaling", "linear", "rope_scaling is 'linear'; it takes an object"),
    ],
)
def test_a_number_that_no_model_has_is_refused(name: str, value: object, says: str, tiny: Path) -> None:
    change_json(tiny / "config.json", lambda c: c.update({name: value}))
    refused(tiny, says)


@pytest.mark.parametrize("part", ["model", "pre_tokenizer", "normalizer"])
def test_a_part_of_a_tokenizer_is_an_object(part: str, tiny: Path) -> None:
    change_json(tiny / "tokenizer.json", lambda c: c.update({part: "x"}))
    refused(tiny, f"{part} is not an object")
