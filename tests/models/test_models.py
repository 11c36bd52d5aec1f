"""Every variant of attention and the transformer: written, recalculated, refused where it cannot be."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import fields, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, naive_attention, table, thorough
from judges import differences_ironcalc

import attn_xl
from attn_xl import CallError, InputError, Settings, read_tables
from attn_xl.cli.main import main
from attn_xl.graph.step import WHOLE
from attn_xl.models.attention import attention_mask
from attn_xl.models.build import attend
from attn_xl.models.steps import MASK
from attn_xl.settings import Activation, Model, Norm, Normalize, Positions
from attn_xl.workbook.write import write_workbook

Make = Callable[..., Path]
RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def the_same_numbers_whatever_ran_before() -> None:
    RNG.bit_generator.state = np.random.default_rng(11).bit_generator.state


ALL_SAMPLES = sorted(
    p.stem for p in SAMPLES.glob("*.xlsx") if not p.stem.endswith(("-attention", "-similarity"))
)
IRONCALC_NORMSDIST = 1e-9  # IronCalc's own error function is good to ten digits


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).round(3)


def check(path: Path, gelu: bool = False) -> None:
    found = (
        differences_ironcalc(path, IRONCALC_NORMSDIST, 0.01)
        if gelu
        else differences_ironcalc(path, 1e-12)
    )
    assert not found, "\n".join(map(str, found[:5]))


@alike
@pytest.mark.parametrize("sample", ALL_SAMPLES)
def test_every_sample_converts_by_itself(sample: str, tmp_path: Path, second_opinion: Make) -> None:
    out = tmp_path / "out.xlsx"
    with pytest.raises(SystemExit) as end:
        main(["convert", str(SAMPLES / f"{sample}.xlsx"), "-o", str(out), "--force"])
    assert not end.value.code
    check(second_opinion(out), gelu=sample == "encoder")


VARIANTS: dict[str, dict[str, Any]] = {
    "heads": {"heads": 2},
    "one head": {"heads": 1},
    "more heads than words": {"heads": 6},
    "causal": {"causal": True},
    "padding": {"padding": "sat"},
    "memory": {"memory": "two"},
    "memory with heads": {"memory": "two", "heads": 3},
    "positions": {"positions": Positions.sinusoidal},
    "temperature": {"temperature": 0.3},
    "temperature alone": {"temperature": 2.0, "scale": False},
    "dropout": {"dropout": 0.5, "seed": 2, "heads": 2},
    "encoder": {"model": Model.encoder, "layers": 2, "heads": 2},
    "encoder, pre-norm": {"model": Model.encoder, "norm": Norm.pre, "hidden": 3},
    "encoder, gelu": {"model": Model.encoder, "activation": Activation.gelu},
    "encoder, gelu-tanh": {"model": Model.encoder, "activation": Activation.gelu_tanh},
    "encoder, causal": {"model": Model.encoder, "causal": True, "heads": 2},
    "decoder": {"model": Model.decoder, "memory": "two", "heads": 2},
    "encoder-decoder": {"model": Model.encoder_decoder, "memory": "two", "layers": 2, "norm": Norm.pre},
    "decoder-only": {"model": Model.decoder_only, "heads": 2},
    "layers by stack": {"model": Model.encoder_decoder, "memory": "two", "encoder_layers": 2},
    "residual dropout": {"model": Model.encoder, "residual_dropout": 0.25, "positions": "sinusoidal"},
    "block of attention": {"model": Model.encoder, "feed_forward": False, "residual_dropout": 0.25},
    "no skip, no norm": {"model": Model.decoder, "memory": "two", "skip": False, "norm": Norm.none},
    "cross-heads": {"model": Model.encoder_decoder, "memory": "two", "heads": 2, "cross_heads": 3},
    "sample variance": {"model": Model.encoder, "norm_variance": "sample"},
    "epsilon outside": {"model": Model.encoder, "norm_epsilon": "outside", "epsilon": 0.01},
    "norms, worked": {"model": Model.encoder, "worked": True},
    "norm, worked": {"model": Model.norm, "worked": True, "norm_epsilon": "outside"},
    "softmax": {"model": Model.softmax, "temperature": 0.5},
    "norm": {"model": Model.norm, "norm_variance": "sample", "norm_epsilon": "outside"},
    "feed-forward": {"model": Model.feed_forward, "hidden": 3},
    "positions alone": {"model": Model.positions},
    "similarity": {"model": Model.similarity},
}


@alike
@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_recalculates(
    name: str, make: Make, tmp_path: Path, second_opinion: Make
) -> None:
    weightless = VARIANTS[name].get("model") in (
        Model.similarity,
        Model.softmax,
        Model.norm,
        Model.positions,
    )
    settings = Settings(random_weights=None if weightless else 3, **VARIANTS[name])
    sheets = {
        "one": table(normal(4, 6), ["the", "cat", "sat", "<PAD>"]),
        "two": table(normal(3, 6), ["le", "chat", "<padding>"]),
    }
    if settings.model is Model.decoder_only:
        sheets["Vocabulary"] = table(normal(5, 6), ["cat", "dog", '"', "mat", "."])
    source = make(sheets)
    path = tmp_path / "out.xlsx"
    computation = attend(read_tables(source), settings)
    layout = write_workbook(computation, path, settings=settings)
    check(second_opinion(path), gelu=name == "encoder, gelu")
    book = openpyxl.load_workbook(path)
    assert len(book.sheetnames) == len(layout.sheets)
    linked = {
        cell.hyperlink.location.rpartition("!")[0].strip("'")
        for row in book["Overview"].iter_rows()
        for cell in row
        if cell.hyperlink
    }
    assert linked == {sheet.name for sheet in layout.sheets} - {"Overview"}


def _plain_layer(x: np.ndarray, memory: Any, w: dict[str, np.ndarray], s: Settings) -> np.ndarray:
    """A layer of an encoder, or of a decoder with memory, part by part."""

    def attention(x: np.ndarray, m: np.ndarray, part: str, heads: int, causal: bool) -> np.ndarray:
        q, k, v = (of @ w[f"{part}W_{p}"] for of, p in zip((x, m, m), "QKV"))
        outputs = []
        for own in zip(*(np.split(one, heads, axis=1) for one in (q, k, v))):
            if causal:  # each word by itself, with those before it
                a, b, c = own
                rows = [naive_attention(a[i : i + 1], b[: i + 1], c[: i + 1])[1] for i in range(len(a))]
                outputs.append(np.vstack(rows))
            else:
                outputs.append(naive_attention(*own)[1])
        return np.hstack(outputs) @ w[f"{part}W_O"]

    def normed(x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(axis=1, keepdims=True)
        return np.asarray(centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + s.epsilon))

    def network(x: np.ndarray) -> np.ndarray:
        return np.asarray(np.maximum(x @ w["W_1"], 0) @ w["W_2"])

    heads, cross = s.heads or 1, s.cross_heads or s.heads or 1
    if memory is None:
        parts = [lambda y: attention(y, y, "", heads, False)]
    else:
        parts = [lambda y: attention(y, y, "Self.", heads, True),
                 lambda y: attention(y, memory, "Cross.", cross, False)]  # fmt: skip
    for part in [*parts, *([network] if s.feed_forward else [])]:
        made = part(normed(x) if s.norm is Norm.pre else x)
        total = x + made if s.skip else made
        x = normed(total) if s.norm is Norm.post else total
    return normed(x) if s.norm is Norm.pre else x


@thorough
def test_a_layer_has_the_parts_that_it_is_asked_for() -> None:
    """60 layers of an encoder or a decoder, with and without each part, against plain loops."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, m, d = (int(k) for k in rng.integers(1, 5, 3) * (1, 1, 2))
        decodes = bool(seed % 2)
        settings = Settings(
            model=Model.decoder if decodes else Model.encoder,
            memory="memory" if decodes else None,
            heads=int(rng.choice([h for h in (1, 2, 4) if d % h == 0])),
            cross_heads=int(rng.choice([1, 2])) if decodes and rng.integers(2) else None,
            norm=Norm(rng.choice(["post", "pre", "none"])),
            skip=bool(rng.integers(2)),
            feed_forward=bool(rng.integers(2)),
        )
        x, memory = rng.normal(size=(n, d)), rng.normal(size=(m, d))
        attentions = ("Self.", "Cross.") if decodes else ("",)
        w = {f"{part}W_{p}": rng.normal(size=(d, d)) for part in attentions for p in "QKVO"}
        w |= (
            {"W_1": rng.normal(size=(d, 3)), "W_2": rng.normal(size=(3, d))}
            if settings.feed_forward
            else {}
        )
        stack = "Dec1." if decodes else "Enc1."
        tables = {"x": x, **({"memory": memory} if decodes else {}),
                  **{f"{stack}{name}": value for name, value in w.items()}}  # fmt: skip
        (graph,) = attend(read_tables(tables), settings).values()
        wanted = _plain_layer(x, memory if decodes else None, w, settings)
        *_, last = (node for node in graph.values() if not node.helper and node.shape == wanted.shape)
        assert np.allclose(last.values, wanted, rtol=1e-12, atol=1e-12), settings


def test_a_worked_norm_has_the_same_numbers_in_four_steps() -> None:
    tables = read_tables(SAMPLES / "norm.xlsx")
    (plain,), (worked,) = (
        attend(tables, Settings.resolve({"worked": way}, tables.settings, "")).values()
        for way in (False, True)
    )
    assert list(worked)[-5:] == [f"Norm.{s}" for s in ("Mean", "Variance", "Centred", "Normalized")] + [
        "Norm"
    ]
    assert np.array_equal(worked["Norm"].values, plain["Norm"].values)
    assert np.allclose(worked["Norm.Centred"].values.sum(axis=1), 0, atol=1e-12)


@thorough
def test_the_spread_of_dot_products_grows_like_the_root_of_d(tmp_path: Path) -> None:
    tables = read_tables(SAMPLES / "spread.xlsx")
    computation = attend(tables)
    x, table = tables.sentences["vectors"].values, computation["vectors"]["Spread"].values
    for d in (1, 2, 17, 64):
        dots = [sum(a * b for a, b in zip(x[i, :d], x[i + 1, :d])) for i in range(30)]
        deviation = math.sqrt(sum((k - sum(dots) / 30) ** 2 for k in dots) / 29)
        wanted = [deviation, math.sqrt(d), deviation / math.sqrt(d)]
        assert table[d - 1].tolist() == pytest.approx(wanted, rel=1e-12)
    assert (np.abs(table[8:, 2] - 1) < 0.3).all()  # as drawn
    write_workbook(computation, tmp_path / "w.xlsx")
    check(tmp_path / "w.xlsx")
    with pytest.raises(InputError, match="at least 3 words, not 2"):
        attend(read_tables({"s": np.eye(2)}), Settings(model=Model.spread))


@thorough
def test_one_word_alone(make: Make, tmp_path: Path) -> None:
    source = make({"s": table(normal(1, 3), ["alone"])})
    for number, options in enumerate(
        (
            {"causal": True},
            {"heads": 3},
            {"model": Model.encoder},
            {"model": Model.similarity},
            {"controls": True},
        )
    ):
        made_up = None if options.get("model") is Model.similarity else 1
        settings = Settings(random_weights=made_up, **options)  # type: ignore[arg-type]
        path = tmp_path / f"{number}.xlsx"
        write_workbook(attend(read_tables(source), settings), path, settings=settings)
        check(path)


@pytest.mark.parametrize("formulas", ["array", "dynamic"])
def test_angles_as_one_formula_for_a_matrix(make: Make, write: Make, formulas: str) -> None:
    source = make({"s": table(normal(3, 2))})
    write(source, settings={"model": Model.similarity, "formulas": formulas})


def test_one_head_has_the_whole_weights(make: Make) -> None:
    weights = {f"W_{p}": table(normal(4, 4)) for p in "QKVO"}
    source = make({"s": table(normal(3, 4)), **weights, "b_Q": table(normal(1, 4))})
    computation = attend(read_tables(source), Settings(heads=1))
    graph = computation["s"]
    assert {"W_Q", "b_Q", "Q_1"} <= set(graph)
    assert not {"W_Q_1", "W_K_1", "W_V_1", "b_Q_1"} & set(graph)
    assert graph["Q_1"].words == "Input × W_Q + b_Q"
    assert computation.remarks == ()  # every sheet has its place


def test_padding_is_known_in_any_case_as_spreadsheets_compare_text() -> None:
    hides = attention_mask(["a"], ["x", "<pad>"], MASK, WHOLE, causal=False, padding=("<PAD>",))
    assert hides.values.tolist() == [[0, -1e9]]


def test_multi_head_against_loops(make: Make) -> None:
    x, w = normal(5, 4), {f"W_{p}": normal(4, 6) for p in "QKV"}
    w_o, b_q = normal(6, 4), normal(1, 6)
    source = make(
        {"s": table(x), **{k: table(v) for k, v in w.items()}, "W_O": table(w_o), "b_Q": table(b_q)}
    )
    graph = attend(read_tables(source), Settings(heads=3))["s"]
    q, k, v = x @ w["W_Q"] + b_q, x @ w["W_K"], x @ w["W_V"]
    parts = [naive_attention(*(m[:, 2 * h : 2 * h + 2] for m in (q, k, v)))[1] for h in range(3)]
    assert np.allclose(graph["Concat"].values, np.hstack(parts), atol=1e-12)
    assert np.allclose(graph["Output"].values, np.hstack(parts) @ w_o, atol=1e-12)
    # The same weights, a sheet for each head.
    sheets = {
        f"W_{p}_{h + 1}": table(w[f"W_{p}"][:, 2 * h : 2 * h + 2]) for p in "QKV" for h in range(3)
    }
    sheets |= {f"b_Q_{h + 1}": table(b_q[:, 2 * h : 2 * h + 2]) for h in range(3)}
    apart = attend(read_tables(make({"s": table(x), **sheets, "W_O": table(w_o)})), Settings(heads=3))
    assert (apart["s"]["Output"].values == graph["Output"].values).all()


def test_hidden_words_get_no_attention_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # the note takes one line
    computation = attend(read_tables(SAMPLES / "masks.xlsx"))
    weights = computation["first"]["Softmax"]
    assert (np.triu(weights.values, 1) == 0).all()
    assert (weights.values[:, 2:] == 0).all()
    assert set(computation["first"]["Mask"].values.ravel()) == {0.0, -1e9}
    # The scores beside what is hidden can still be read.
    path = tmp_path / "masks.xlsx"
    write_workbook(computation, path)
    assert (
        openpyxl.load_workbook(path)["first.Masked"]["B5"].number_format
        == '[<=-100000000]"-1E+09";[<=-0.0005]-0.000;0.000'
    )
    attn_xl.show(computation, steps="Masked", sheet="first")
    assert [f"{computation['first']['Masked'].values[0, 0]:.3f}", "-1e+09"] == (
        capsys.readouterr().out.splitlines()[3].split()[1:3]
    )


def test_a_mask_of_ones_own(make: Make, write: Make) -> None:
    own = [[0, -1e9, 0], [0, 0, -1e9], [0.5, 0, 0]]
    source = make({"s": table(normal(3, 2)), "Mask": own})
    weights = attend(read_tables(source))["s"]["Softmax"].values
    assert weights[0, 1] == weights[1, 2] == 0
    assert openpyxl.load_workbook(write(source))["Mask"]["C5"].value == -1e9


@pytest.mark.parametrize("hides", [False, True], ids=["1 sees", "1 hides"])
def test_a_mask_of_zeros_and_ones(hides: bool, make: Make, write: Make) -> None:
    own = np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1]])
    x = table(normal(3, 2))
    masks = np.where(own, 0, -1e9), 1 - own if hides else own
    made = [attend(read_tables(make({"s": x, "Mask": mask.tolist()}))) for mask in masks]
    np.testing.assert_allclose(*(one["s"]["Softmax"].values for one in made), rtol=1e-15)
    shown = "Mask!C5*-1000000000" if hides else "(Mask!C5-1)*1000000000"
    book = openpyxl.load_workbook(out := write(make({"s": x, "Mask": masks[1].tolist()})))
    assert book["Masked"]["C5"].value == f"=Scaled!C5+{shown}"
    assert book["Mask"]["A2"].value.startswith(f"{int(not hides)} where a word may look")
    check(out)


def test_a_mask_of_one_row_serves_some_words_of_a_layer(make: Make) -> None:
    source = make({"s": table(normal(3, 4)), "Mask": [[1, 0, 1]]})
    own = Settings(model=Model.encoder, heads=2, random_weights=1)
    whole, part = (
        attend(read_tables(source), how)["s"]["Enc1.Softmax_2"].values
        for how in (own, replace(own, live_rows="1"))
    )
    np.testing.assert_allclose(part, whole[1:2], rtol=1e-12)
    assert (whole[:, 1] == 0).all()


@pytest.mark.parametrize(("last", "computed"), [(-1e9, False), (0, True)])
def test_a_mask_of_ones_own_that_hides_later_words_is_the_only_one(
    make: Make, last: float, computed: bool
) -> None:
    source = make({"s": table(normal(3, 2)), "Mask": [[0, -1e9, -1e9], [0, 0, last], [-1e9, 0, 0]]})
    graph = attend(read_tables(source), Settings(causal=True))["s"]
    assert ("ComputedMask" in graph) is computed
    assert (graph["Softmax"].values == 0).sum() == 4


def test_positions_are_the_papers(make: Make) -> None:
    source = make({"s": table(normal(4, 5))})
    graph = attend(read_tables(source), Settings(positions=Positions.sinusoidal))["s"]
    for pos in range(4):
        for j in range(5):
            wave = math.cos if j % 2 else math.sin
            assert graph["Positions"].values[pos, j] == wave(pos / 10000 ** (2 * (j // 2) / 5))
    assert (graph["Embedded"].values == graph["Input"].values + graph["Positions"].values).all()


def test_the_plain_sum_gives_the_textbooks_weights() -> None:
    graph = attend(read_tables(SAMPLES / "plain-sum.xlsx"))["sentence"]
    assert graph["Scores"].values[0].tolist() == [5, 3, 4]
    assert graph["Weights"].values[0].round(2).tolist() == [0.42, 0.25, 0.33]


def test_dropout_keeps_the_expected_share() -> None:
    settings = Settings(dropout=0.25, seed=3)
    graph = attend(read_tables(SAMPLES / "dropout.xlsx"), settings)["sentence"]
    mask = graph["DropoutMask"].values
    assert set(mask.ravel()) == {0.0, 1.0}
    assert np.allclose(graph["Dropped"].values, graph["Softmax"].values * mask / 0.75)
    again = attend(read_tables(SAMPLES / "dropout.xlsx"), settings)["sentence"]
    assert (again["DropoutMask"].values == mask).all()


@thorough
def test_the_language_model_chooses_a_word(tmp_path: Path, kept: Path) -> None:
    computation = attend(read_tables(SAMPLES / "language-model.xlsx"))
    graph = computation["sentence"]
    best = graph["Probabilities"].values[-1].argmax()
    assert graph["Next"].texts[-1] == graph["Vocabulary"].rows[best] == "mouse"  # type: ignore[index]
    path = tmp_path / "lm.xlsx"
    write_workbook(computation, path, settings=Settings(layout="sheets"))  # type: ignore[arg-type]
    assert openpyxl.load_workbook(path, data_only=True)["Next"]["B8"].value == "mouse"


def test_the_translation_is_right_in_every_place(tmp_path: Path) -> None:
    """Its weights were learned with PyTorch; the words picked follow from the decoder's output."""
    computation = attend(read_tables(SAMPLES / "translation.xlsx"))
    graph = computation["french"]
    assert graph["Next"].texts == ("le", "chat", "noir", "dort", "<end>")
    logits = graph["Dec1.Norm_3"].values @ graph["Vocabulary"].values.T
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    wanted = powers / powers.sum(axis=1, keepdims=True)
    assert np.allclose(graph["Probabilities"].values, wanted, rtol=1e-12)
    noir = graph["Dec1.Cross.Softmax_1"].values[2]  # after "chat", which stands behind "black"
    assert graph["Dec1.Cross.Softmax_1"].columns[noir.argmax()] == "cat"


def test_a_translation_may_show_some_of_its_words() -> None:
    tables = read_tables(SAMPLES / "translation.xlsx")
    short = replace(tables.sentences["french"].part(slice(0, 3), slice(None)), name="short")
    both = replace(tables, sentences={**tables.sentences, "short": short})
    settings = Settings.resolve({"vocabulary": "top:2"}, tables.settings, "")
    for name, graph in attend(both, settings).items():
        whole = attend(both)[name]
        assert graph["Next"].texts == whole["Next"].texts
        shown, all_words = graph["Probabilities"], whole["Probabilities"]
        for word in shown.columns[:-1]:  # the last one is all others
            i, j = shown.columns.index(word), all_words.columns.index(word)
            assert np.allclose(shown.values[:, i], all_words.values[:, j], rtol=1e-12)
    with pytest.raises(InputError, match="the sheet Vocabulary is missing"):
        attend(read_tables(SAMPLES / "encoder-decoder.xlsx"),
               replace(settings, heads=2, memory="source"))  # fmt: skip


def test_similarity_of_known_vectors(make: Make) -> None:
    source = make({"s": [["", "x", "y"], ["a", 1, 0], ["b", 0, 2], ["c", 3, 3], ["d", -1, 0]]})
    graph = attend(read_tables(source), Settings(model=Model.similarity))["s"]
    assert np.allclose(graph["Angle"].values[0], [0, 90, 45, 180])
    assert np.allclose(graph["Cosine"].values[0], [1, 0, math.sqrt(0.5), -1])
    assert graph["Magnitude"].values[:, 0].tolist() == [1, 2, math.sqrt(18), 1]
    assert graph["Dot"].values[2].tolist() == [3, 6, 18, -3]


def test_the_similarity_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "angles.xlsx"
    with pytest.raises(SystemExit) as end:
        main(["similarity", str(SAMPLES / "politics.xlsx"), "-o", str(out)])
    assert not end.value.code
    book = openpyxl.load_workbook(out)
    wanted = [
        "Overview",
        "Canvas",
        "Input",
        "Vectors",
        "Dot",
        "Magnitude",
        "Cosine",
        "Angle",
        "Settings",
    ]
    assert book.sheetnames == wanted
    assert book["Cosine"]["C5"].value == "=Dot!C5/(Magnitude!$B5*Magnitude!$B$6)"
    check(out)


@pytest.mark.parametrize(
    ("sheets", "options", "said"),
    [
        ({}, {"heads": 2}, r"the sheet W_Q is missing: 4 x 4, a row for each of d1, .*--random-weights SEED"),
        ({}, {"model": Model.encoder}, r"the sheet Enc1\.W_1 is missing: 4 x 8"),
        ({}, {"model": Model.decoder_only, "random_weights": 1}, "the sheet Vocabulary is missing"),
        ({"Vocabulary": [[1, 2]]}, {"model": Model.decoder_only, "random_weights": 1}, "Vocabulary is 1 x 2"),
        ({"W_Q": table(np.ones((4, 5)))}, {"heads": 2, "random_weights": 1}, "do not split into 2 heads"),
        ({"W_Q": table(np.ones((3, 4)))}, {"heads": 2, "random_weights": 1}, "W_Q is 3 x 4, but needs 4 rows"),
        ({"b_Q": table(np.ones((1, 3)))}, {"heads": 2, "random_weights": 1}, "b_Q is 1 x 3, but needs 1 x 4"),
        ({"W_K": table(np.ones((4, 6)))}, {"heads": 2, "random_weights": 1}, "the same number of dimensions"),
        ({"Mask": [[0, 0], [0, 0]]}, {}, "the mask is 2 x 2, but the scores are 3 x 3"),
        ({"Mask": [[1, 0, 0], [0, 0, 0], [0, 0, 1]]}, {}, "hides every word from 'dog'"),
        ({"Mask": [[-1e9] * 3, [0] * 3, [0] * 3]}, {}, "hides every word from 'cat'"),
        ({"s": [["", "d1"], ["<PAD>", 1], ["<PAD>", 2]]}, {}, "hides every word from '<PAD>'"),
        ({"s": [["", "d1"], ["x", 1], ["y", -1]]}, {"normalize": Normalize.sum}, "the scores of 'x' add up to 0"),
        ({"s": [["", "d1"], ["x", 1], ["nil", 0]]}, {"model": Model.similarity}, "of 'nil' is 0"),
        ({"s": [["", "d1"], ["x", 1], ["tiny", 1e-200]]}, {"model": Model.similarity}, "of 'tiny' is 0"),
        ({}, {"memory": "t"}, "--memory: there is no sheet 't'"),
        ({}, {"memory": "s"}, "'s' is the only sentence"),
        ({}, {"model": Model.decoder}, "needs --memory SHEET"),
        ({}, {"causal": True, "normalize": Normalize.sum}, "does not work with a mask"),
        ({"s": [["", "d1"], ["x", 1], ["<PAD>", 2]]}, {"normalize": Normalize.sum}, r"sheet 's': a mask hides words such as padding"),
        ({"s": [["", "d1"], ["x", 1e4], ["y", 3e4]]}, {"causal": True}, r"sheet 's': the scores go up to 9e\+08 .* too large to be masked: .* largest is in cell B3"),
        ({"s": [["", "d1"], ["x", 1e4], ["<PAD>", -3e4]]}, {}, "too large to be masked"),
        ({"s": [["", "d1"], ["x", 1], ["y", 3e4]], "Mask": [[0, -1e9], [0, 0]]}, {}, "too large to be masked"),
        ({"W_Q": [["", "a"], ["d2", 1], ["d1", 1], ["d3", 1], ["d4", 1]]}, {}, "rows of W_Q are labelled d2, d1, .* Put them in the same order"),
        ({"t": table(np.ones((2, 3)))}, {"random_weights": 1}, r"sheet 't': W_Q, generated .* has 4 rows, but needs 3 here, .* d1, d2, d3"),
        ({"t": table(np.ones((2, 3)))}, {"random_weights": 1, "heads": 2}, "W_Q, generated .* has 4 rows, but needs 3"),
        ({"t": table(np.ones((2, 3)))}, {"random_weights": 1, "model": Model.encoder}, r"Enc1\.W_Q, generated .* has 4 rows"),
    ],
)  # fmt: skip
def test_refusals(make: Make, sheets: dict[str, Any], options: dict[str, Any], said: str) -> None:
    source = make({"s": table(normal(3, 4), ["cat", "dog", "cow"]), **sheets})
    with pytest.raises(attn_xl.AttnXlError, match=said):
        attend(read_tables(source), Settings(**options))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"temperature": 0.0}, "--temperature is 0.0"),
        ({"dropout": 1.0}, "--dropout is 1.0"),
        ({"heads": 0}, "--heads is 0"),
        ({"layers": 0}, "--layers is 0"),
        ({"epsilon": 0.0}, "--epsilon is 0.0"),
        ({"seed": -1}, "--seed is -1"),
        ({"random_weights": -1}, "--random-weights is -1; it takes a whole number of at least 0"),
        ({"heads": 1001}, "--heads is 1001; it takes a whole number from 1 to 1,000"),
        ({"heads": 2.5}, "--heads is 2.5; it takes a whole number"),
        ({"heads": True}, "--heads is True; it takes a whole number"),
        ({"scale": "maybe"}, "--scale is maybe; it takes TRUE or FALSE"),
        ({"formulas": None}, "--formulas is None; it takes one of: cell, array"),
        ({"model": "nonsense"}, "--model is nonsense; it takes one of: attention, encoder"),
    ],
)
def test_settings_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(attn_xl.CallError, match=said):
        Settings(**options)


def test_a_choice_may_be_given_by_its_name() -> None:
    count = 0
    for choice in fields(Settings):
        for value in choice.metadata["kind"] if isinstance(choice.default, Enum) else ():
            made = getattr(Settings(**{choice.name: value.value}), choice.name)
            assert made is value
            count += 1
    assert count > 15
    assert Settings(temperature="2", heads=2.0, causal="yes", seed=2**60 + 1) == Settings(  # type: ignore[arg-type]
        temperature=2.0, heads=2, causal=True, seed=2**60 + 1
    )
    assert not Settings.resolve({"model": "positions", "controls": True}, {}, "here").controls


def test_settings_in_the_workbook(make: Make) -> None:
    rows = [
        ["option", "value"],
        ["Temperature", 2],
        ["scale", False],
        ["causal", "yes"],
        ["heads", 2.0],
    ]
    tables = read_tables(make({"s": table(normal(3, 4)), "Settings": rows}))
    assert Settings.resolve({}, tables.settings, "here") == Settings(
        temperature=2.0, scale=False, causal=True, heads=2
    )
    # What the call says wins.
    assert (
        Settings.resolve({"temperature": 3.0, "causal": False}, tables.settings, "here").temperature
        == 3
    )
    assert list(tables.sentences) == ["s"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (["temprature", 2], "there is no setting 'temprature'. Did you mean 'temperature'?"),
        (["temperature", "hot"], "the setting temperature is 'hot'; it takes a number"),
        (["heads", 2.5], "the setting heads is '2.5'; it takes a whole number"),
        (["causal", "perhaps"], "it takes TRUE or FALSE"),
        (["model", "transducer"], "it takes one of: attention, encoder"),
        (["heads"], "a setting needs a name and, beside it, a value"),
    ],
)
def test_settings_that_are_not_understood(make: Make, row: list[Any], said: str) -> None:
    source = make({"s": table(normal(3, 4)), "Settings": [row]})
    with pytest.raises(attn_xl.AttnXlError) as error:
        attend(read_tables(source))
    assert said in str(error.value)
    assert "Settings" in str(error.value)


def test_a_mask_hides_up_to_the_largest_scores_that_it_takes(make: Make) -> None:
    tables = read_tables(make({"s": table(np.array([[1e4], [-1e4], [1.0]]))}))
    weights = attend(tables, Settings(causal=True))["s"]["Softmax"].values
    assert (weights[np.triu_indices(3, 1)] == 0).all()
    assert (weights.sum(axis=1) == 1).all()


def test_a_switch_that_would_not_hide_is_said(make: Make) -> None:
    large = make({"s": table(np.array([[1e4], [2e4]])), "t": table(np.eye(2))})
    remark = "Leave Causal off: the scores of 's' are too large to be masked."
    switched = Settings(controls=True, switches="causal")  # type: ignore[arg-type]
    assert remark in attend(read_tables(large), switched).remarks
    assert remark not in attend(read_tables(large), Settings()).remarks
    with pytest.raises(attn_xl.InputError, match="too large to be masked"):
        attend(read_tables(large), Settings(controls=True, causal=True))


LAYER = {"W_1": (2, 3), "b_1": (1, 3), "W_2": (3, 2), "b_2": (1, 2), "gamma_1": (1, 2)}


@alike
@pytest.mark.parametrize(
    ("weights", "settings", "said"),
    [
        ({"W_1": (2, 2)}, {}, "--model attention does not use W_1. Use it with --model feed-forward, or"),
        (LAYER, {}, "Use them with --model encoder, or leave them out with --without W_1,b_1,W_2,b_2,"),
        ({"W_Q_1": (2, 1), "W_Q_2": (2, 1)}, {}, "Use them with --heads 2, or leave them out"),
        ({"W_Q_3": (2, 1), "W_Q_1": (2, 1), "W_Q_2": (2, 1)}, {"heads": 2, "random_weights": 1},
         "does not use W_Q_3. Use it with --heads 3,"),
        ({"Enc2.W_Q": (2, 2), "Enc2.W_O": (2, 2)}, {"model": "encoder", "random_weights": 1},
         "Use them with --layers 2, or leave them out with --without Enc2."),
        ({"Dec1.Cross.W_Q": (2, 2)}, {}, "Use it with --model decoder --memory SHEET, or"),
        ({"Enc1.W_Q": (2, 2), "Dec1.Cross.W_Q": (2, 2)}, {"model": "encoder", "random_weights": 1},
         "does not use Dec1.Cross.W_Q. Use it with --model encoder-decoder --memory SHEET, or"),
        ({"Vocabulary": (5, 2)}, {}, "Use it with --model decoder-only, or leave it out"),
        ({"W_h": (2, 2), "U_h": (2, 2), "W_C": (2, 2)}, {},
         "Use them with --model classify --backbone rnn, or leave them out"),
        ({"gamma_3": (1, 2), "b_O": (1, 2)}, {"heads": 1, "random_weights": 1},
         "does not use gamma_3. Use it with --model decoder --memory SHEET, or leave it out with"),
        ({"Enc1.Vocabulary": (2, 2)}, {"model": "encoder", "random_weights": 1},
         "--model encoder does not use Enc1.Vocabulary. Leave it out with --without Enc1."),
    ],
)  # fmt: skip
def test_weights_without_a_place_are_refused(
    make: Make, weights: dict[str, tuple[int, int]], settings: dict[str, Any], said: str
) -> None:
    given = {name: normal(*shape).tolist() for name, shape in weights.items()}
    source = make({"s": table(normal(3, 2)), **given})
    chosen = Settings(**settings)
    with pytest.raises(InputError, match=re.escape(said)) as error:
        attend(read_tables(source), chosen)
    named = re.search(r"--without ([\w.,]+\w)", str(error.value))
    assert named is not None
    attend(read_tables(source, without=named[1]), chosen)


def test_similarity_has_no_use_for_weights_and_says_so(make: Make) -> None:
    source = make({"s": table(normal(3, 2)), "W_1": table(normal(2, 2))})
    found = attend(read_tables(source), Settings(model=Model.similarity))
    assert found.remarks == ("Not used by this model: W_1.",)


def test_weights_that_are_missing_where_others_have_no_use(make: Make) -> None:
    source = make({"s": table(normal(3, 2)), "Enc1.W_Q": table(normal(2, 2))})
    with pytest.raises(
        InputError, match=r"Dec1.W_Q is missing.*--model encoder would use the given Enc1.W_Q"
    ):
        attend(read_tables(source), Settings(model=Model.decoder_only))


def test_weights_are_left_out_by_name(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    sheets = {"s": table(normal(3, 2)), "W_1": table(normal(2, 2)), "Enc2.W_Q": table(normal(2, 2)),
              "Enc2.b_Q": table(normal(1, 2))}  # fmt: skip
    source = make(sheets)
    for without in ("w_1,Enc2", ["W_1", "enc2"], ("W_1", "Enc2.W_Q", "Enc2.b_Q")):
        assert read_tables(source, without=without).weights == {}
    assert list(read_tables(source, without="Enc2.b_Q").weights) == ["W_1", "Enc2.W_Q"]
    with pytest.raises(CallError, match=r"--without: there are no weights 'W_3'. Did you mean 'W_1'"):
        read_tables(source, without="W_3")
    said = [["without", "W_1"], ["causal", True]]
    tables = read_tables(make({**sheets, "Settings": said}, "set.xlsx"), without="Enc2")
    assert (tables.weights, tables.settings) == ({}, {"causal": True})
    for command in (["show", "--step", "Input"], ["explain", "d_k"], ["inspect"]):
        with pytest.raises(SystemExit) as end:
            main([command[0], str(source), *command[1:], "--without", "W_1", "--without", "Enc2"])
        assert not end.value.code
    assert "left out by --without" in capsys.readouterr().out


def test_one_sheet_of_weights_may_serve_all_layers(make: Make) -> None:
    source = make({"s": table(normal(3, 4)), "W_Q": table(normal(4, 4))})
    settings = Settings(model=Model.encoder, layers=2, heads=2, random_weights=5)
    graph = attend(read_tables(source), settings)["s"]
    assert "W_Q" in graph
    assert "Enc1.W_Q" not in graph
    assert graph["Enc2.Q_1"].parents[1].parents[0] is graph["W_Q"]


def test_random_weights_are_small_readable_and_the_same_again(make: Make) -> None:
    source = make({"s": table(normal(3, 4))})
    first, second = (
        attend(read_tables(source), Settings(heads=2, random_weights=9))["s"]["W_Q"] for _ in range(2)
    )
    assert (first.values == second.values).all()
    assert set(first.values.ravel()) <= {-1, -0.5, 0, 0.5, 1}
    assert first.role == "weight"
    other = attend(read_tables(source), Settings(heads=2, random_weights=10))["s"]["W_Q"]
    assert (other.values != first.values).any()


@thorough
def test_only_some_layers_and_heads(make: Make, tmp_path: Path) -> None:
    source = make({"s": table(normal(3, 4))})
    options = {"model": Model.encoder, "layers": 2, "heads": 2, "random_weights": 1}
    path = tmp_path / "some.xlsx"
    settings = Settings(**options, sheets_for="enc2, head1")
    write_workbook(attend(read_tables(source), settings), path, settings=settings)
    names = openpyxl.load_workbook(path).sheetnames
    assert "Enc2.Softmax_1" in names
    assert not [name for name in names if name.startswith("Enc1") or name.endswith("Softmax_2")]
    check(path)
    for wanted, said in (("Enc3", "Did you mean 'Enc"), ("head9", "no layer or head 'head9'")):
        settings = Settings(**options, sheets_for=wanted)
        with pytest.raises(attn_xl.CallError, match=said):
            write_workbook(attend(read_tables(source), settings), path, settings=settings)
