"""Losses and classification: numbers against PyTorch and loops, live targets, errors before writing."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import alike, table, thorough, verify
from judges import Editable

import attn_xl
from attn_xl import InputError, given
from attn_xl.models.losses import cross_entropy, mean_squared_error
from attn_xl.spreadsheets.addresses import split_address

Make = Callable[..., Path]
RNG = np.random.default_rng(15)
PETS, DESK = ["mouse", "and", "cat", "are", "friends"], ["mouse", "or", "keyboard"]


def classifier(**more: Any) -> dict[str, list[list[Any]]]:
    """A classifier of two sentences; `more` replaces or adds sheets, None removes one."""
    rng = np.random.default_rng(1)
    sheets = {
        "pets": table(rng.normal(size=(5, 3)), PETS),
        "desk": table(rng.normal(size=(3, 3)), DESK),
        **{f"W_{letter}": rng.normal(size=(3, 2)).tolist() for letter in "QKV"},
        "W_C": [["", "animal", "device"], ["v1", 0.5, -1.0], ["v2", 1.5, 0.25]],
        "b_C": [[0.1, -0.2]],
        "Labels": [["sentence", "class"], ["pets", "animal"], ["desk", "device"]],
        "Settings": [["model", "classify"], ["loss", True]],
        **more,
    }
    return {name: rows for name, rows in sheets.items() if rows is not None}


def language_model(**more: Any) -> dict[str, list[list[Any]]]:
    rng = np.random.default_rng(2)
    sheets = {
        "pets": table(rng.normal(size=(5, 3)), PETS),
        "Vocabulary": table(rng.normal(size=(6, 3)), [*PETS, "<end>"]),
        "Settings": [["model", "decoder-only"], ["loss", True], ["random weights", 1]],
        **more,
    }
    return {name: rows for name, rows in sheets.items() if rows is not None}


def matrix(values: np.ndarray, name: str) -> attn_xl.Matrix:
    n, m = values.shape
    return given(values, [f"r{i}" for i in range(n)], [f"c{j}" for j in range(m)], name)


@pytest.mark.parametrize("size", [1.0, 30.0, 3000.0])
def test_losses_are_those_of_pytorch(size: float) -> None:
    torch = pytest.importorskip("torch")
    logits, output, target = RNG.normal(size=(3, 5, 4)) * size
    right = RNG.integers(0, 4, 5)
    ours = cross_entropy(
        attn_xl.softmax(matrix(logits, "Logits")).named("Probabilities"),
        matrix(np.eye(4)[right], "Target"),
    )
    theirs = torch.nn.functional.cross_entropy(torch.tensor(logits), torch.tensor(right))
    assert ours.values.item() == pytest.approx(theirs.item(), rel=1e-12)
    ours = mean_squared_error(matrix(output, "Output"), matrix(target, "Target"))
    theirs = torch.nn.functional.mse_loss(torch.tensor(output), torch.tensor(target))
    assert ours.values.item() == pytest.approx(theirs.item(), rel=1e-13)


def test_a_given_probability_of_0_is_an_error() -> None:
    with pytest.raises(InputError, match="gives inf"):
        cross_entropy(
            given([[0, 1]], ["r"], ["a", "b"], "P"), given([[1, 0]], ["r"], ["a", "b"], "Target")
        )


def test_probabilities_have_no_gradient_of_their_own(make: Make) -> None:
    graph = attn_xl.attend(make(classifier()))["pets"]
    with pytest.raises(attn_xl.CallError, match=r"derivative together. Ask for .* of Logits"):
        attn_xl.gradients(graph["Loss"], [graph["Probabilities"]])
    other = given([[1]], ["a"], ["b"], "Other")
    with pytest.raises(attn_xl.CallError, match="Loss was not computed from Other"):
        attn_xl.gradients(graph["Loss"], [other])


@pytest.mark.parametrize("formulas", ["cell", "array"])
def test_a_right_answer_may_have_a_probability_too_small_to_be_kept(
    formulas: str, keep: Callable[[Path], Path], tmp_path: Path
) -> None:
    """As PyTorch's cross-entropy of logits: ln(1 + e^-800) + 800, and a gradient of p - y."""
    logits = given([[0, 800], [1, 700], [0, 1]], ["r", "s", "t"], ["a", "b"], "Logits")
    target = given([[1, 0]] * 3, ["r", "s", "t"], ["a", "b"], "Target")
    loss = cross_entropy(attn_xl.softmax(logits).named("P"), target)
    expected = [800, 699, math.log(1 + math.e)]
    assert loss.values.item() == pytest.approx(sum(expected) / 3, rel=1e-15)
    (d,) = attn_xl.gradients(loss, [logits])
    assert np.array_equal(d.values[:2], [[-1 / 3, 1 / 3]] * 2)
    assert attn_xl.explain(loss, "Losses[r]").words.startswith("ln(P.Sum[r]) + P.Maximum[r] - (")
    assert attn_xl.explain(loss, "Losses[t]").words == "-ln(Losses.Right[t])"
    path = tmp_path / "loss.xlsx"
    attn_xl.write_workbook(d, path, settings=attn_xl.Settings(formulas=formulas))
    keep(path)


def test_a_classifier_is_the_mean_of_the_words_times_w_c(make: Make) -> None:
    path = make(classifier())
    graphs = attn_xl.attend(path)
    weights = attn_xl.read_tables(path).weights
    for name, right in (("pets", 0), ("desk", 1)):
        graph = graphs[name]
        logits = graph["Output"].values.mean(axis=0) @ weights["W_C"].values + weights["b_C"].values
        shares = np.exp(logits) / np.exp(logits).sum()
        assert np.allclose(graph["Probabilities"].values, shares, rtol=1e-12)
        assert graph["Class"].texts == (["animal", "device"][int(logits.argmax())],)
        assert graph["Loss"].values.item() == pytest.approx(-math.log(shares[0, right]), rel=1e-12)
    batch = graphs.comparison["Batch.Loss"].values.item()
    assert batch == pytest.approx(np.mean([graphs[s]["Loss"].values.item() for s in graphs]), rel=1e-14)


def test_a_classifier_may_decide_by_the_first_word_of_an_encoder(make: Make) -> None:
    sheets = classifier(W_Q=None, W_K=None, W_V=None, W_C=None, b_C=None)
    graphs = attn_xl.attend(
        make(sheets), backbone="encoder", layers=2, pooling="first", random_weights=3
    )
    graph = graphs["pets"]
    assert np.array_equal(graph["Pooled"].values[0], graph["Enc2.Norm_2"].values[0])
    assert graph["W_C"].columns == ("animal", "device")
    with pytest.raises(attn_xl.CallError, match="layers has no effect without --backbone encoder"):
        attn_xl.attend(make(classifier()), layers=2)


@thorough
def test_a_classifier_may_read_with_a_recurrent_network() -> None:
    """200 sentences, read word after word; the last state decides, or the mean of all."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, d, h = (int(size) for size in rng.integers(1, 6, 3))
        x, w, u, b, w_c = (rng.normal(size=s) for s in ((n, d), (d, h), (h, h), (1, h), (h, 2)))
        pooling = str(rng.choice(["last", "mean"]))
        classes = given(w_c, [f"h{i}" for i in range(h)], ["up", "down"], "W_C")
        tables = {"s": x, "W_h": w, "U_h": u, "b_h": b, "W_C": classes}
        (graph,) = attn_xl.attend(tables, model="classify", backbone="rnn", pooling=pooling).values()
        states, state = [], np.zeros((1, h))
        for row in x:
            state = np.tanh(row @ w + state @ u + b)
            states.append(state)
        vector = state if pooling == "last" else np.mean(states, axis=0)
        powers = np.exp(vector @ w_c)
        assert np.allclose(graph["Probabilities"].values, powers / powers.sum(), rtol=1e-12), seed


def test_padding_is_not_among_the_mean(make: Make) -> None:
    x = np.random.default_rng(1).normal(size=(3, 3))
    sheets = classifier(desk=table(x, ["mouse", "or", "<PAD>"]))
    graph = attn_xl.attend(make(sheets))["desk"]
    assert np.allclose(graph["Pooled"].values, graph["Output"].values[:2].mean(axis=0))


@pytest.mark.parametrize(
    ("labels", "right"),
    [
        (None, ["and", "cat", "are", "friends"]),
        ([["sentence", "next"], ["pets", "<end>"]], ["and", "cat", "are", "friends", "<end>"]),
        ([["pets", "CAT"]], ["and", "cat", "are", "friends", "cat"]),
        ([["pets", "cat", "cat", "are", "and", "mouse"]], ["cat", "cat", "are", "and", "mouse"]),
    ],
)
def test_a_language_model_is_compared_with_its_own_next_words(
    labels: Any, right: list[str], make: Make
) -> None:
    graph = attn_xl.attend(make(language_model(Labels=labels)))["pets"]
    assert list(graph["TargetWords"].texts or ()) == right
    shares, words = graph["Probabilities"].values, graph["Probabilities"].columns
    losses = [-math.log(shares[i, words.index(word)]) for i, word in enumerate(right)]
    assert graph["Loss"].values.item() == pytest.approx(np.mean(losses), rel=1e-13)


def test_other_models_are_compared_with_numbers(make: Make) -> None:
    x, y, target = np.random.default_rng(3).normal(size=(3, 3, 2))
    sheets = {"one": table(x), "two": table(y), "two.Target": table(target), "Target": target.tolist()}
    sheets["Target"] = (2 * target).tolist()
    path = make(sheets)
    graphs = attn_xl.attend(path, loss=True)
    for name, wanted in (("one", 2 * target), ("two", target)):
        squares = (graphs[name]["Output"].values - wanted) ** 2
        assert graphs[name]["Loss"].values.item() == pytest.approx(squares.mean(), rel=1e-14)
    assert "Loss" not in attn_xl.attend(path)["one"]


@alike
@pytest.mark.parametrize(
    ("sheets", "options"),
    [
        (classifier(), {}),
        (classifier(), {"layout": "canvas"}),
        (language_model(), {"layout": "sheets"}),
        (language_model(Labels=[["pets", "<end>"]]), {"layout": "layers"}),
        (classifier(desk=None, Labels=None, Target=[[0, 1]]), {}),
        (
            {"one": table(RNG.normal(size=(2, 2))), "two": table(RNG.normal(size=(2, 2))),
             "Target": [[1, 0], [0, 1]], "Settings": [["loss", True]]},
            {},
        ),
    ],
)  # fmt: skip
def test_a_written_workbook_recalculates_and_is_read_back(
    sheets: Any, options: Any, make: Make, tmp_path: Path
) -> None:
    computation = attn_xl.attend(make(sheets), **options)
    path = tmp_path / "out.xlsx"
    attn_xl.write_workbook(computation, path)
    verify(path)
    again = attn_xl.attend(path)
    for name, graph in computation.items():
        assert again[name]["Loss"].values == graph["Loss"].values
        assert again[name]["Target"].values.tolist() == graph["Target"].values.tolist()


def test_right_answers_may_be_a_1_in_their_column(make: Make) -> None:
    """Of the last words there may be none."""
    for with_labels, right in (
        (classifier(desk=None, Labels=[["pets", "device"]]), [[0, 1]]),
        (language_model(), np.eye(6)[1:5].tolist()),
    ):
        labelled = attn_xl.attend(make(with_labels))["pets"]
        target = {**with_labels, "Labels": None, "Target": right}
        sheets = {name: rows for name, rows in target.items() if rows is not None}
        graph = attn_xl.attend(make(sheets))["pets"]
        assert graph["Loss"].values == labelled["Loss"].values
        sheets["Target"][0][0] = 0.5
        with pytest.raises(InputError, match="sheet 'Target': each row of Target needs one 1"):
            attn_xl.attend(make(sheets))


@thorough
@alike
@pytest.mark.parametrize(
    ("sheets", "cell", "text"),
    [
        (classifier(Labels=[["pets", "animal"], ["desk", "device"]]), "Labels!B5", "device"),
        (language_model(), "TargetWords!B6", "<end>"),
    ],
)
def test_a_changed_label_changes_the_loss(
    sheets: Any, cell: str, text: str, make: Make, tmp_path: Path
) -> None:
    path = tmp_path / "out.xlsx"
    computation = attn_xl.attend(make(sheets), layout="sheets", controls=True)
    layout = attn_xl.write_workbook(computation, path)
    sheet, _, address = cell.partition("!")
    book = openpyxl.load_workbook(path)
    entries = [(sheet, *split_address(address), text)]
    if sheet == "Labels":
        entries.append((sheet, *split_address("B6"), "animal"))
    for name, row, column, new in entries:
        book[name].cell(row, column).value = new
    changed = tmp_path / "changed.xlsx"
    book.save(changed)
    again = attn_xl.attend(changed)
    engine = Editable(path)
    engine.enter(entries)
    for name, graph in again.items():
        place = layout.blocks[computation[name]["Loss"]].place
        new = engine.value(place.sheet, place.row, place.column)
        assert new == pytest.approx(graph["Loss"].values.item(), rel=1e-12)
        assert new != pytest.approx(computation[name]["Loss"].values.item(), rel=1e-3)


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        (classifier(Labels=None), "the sentence 'pets' has 0 labels"),
        (classifier(Labels=[["pets", "animal"]]), "'desk' has 0 labels"),
        (
            classifier(Labels=[["pets", "animal"], ["desk", "device"], ["dekc", "device"]]),
            "sheet 'Labels': there is no sentence 'dekc'. Did you mean 'desk'",
        ),
        (classifier(Labels=[["pets", "animal"], ["desk", "devise"]]), "the class 'devise' .* 'device'"),
        (classifier(Labels=[["pets", "animal"], ["desk", "animal"]]), "no sentence has the class"),
        (classifier(Labels=[["pets"], ["desk", "animal"]]), "sheet 'Labels', row 1: a label needs"),
        (classifier(Labels=[["pets", "a"], ["pets", "b"]]), "row 2: 'pets' has a label above"),
        (classifier(W_C=[[1, 2], [3, 4]]), "the columns of W_C have no labels"),
        (classifier(W_C=None), "the sheet W_C is missing: 2 x 2"),
        (language_model(Labels=[["pets", "dog"]]), "the word 'dog'.*not in the vocabulary"),
        (language_model(Labels=[["pets", "cat", "and"]]), "has 2 labels. Give one word"),
        (language_model(pets=table(np.ones((1, 3)), ["mouse"])), "no word follows 'mouse'"),
        ({"one": table(np.ones((2, 2))), "Settings": [["loss", True]]}, ": Target is missing: 2 x 2"),
        (
            {"one": table(np.ones((2, 2))), "Target": [[1, 2, 3]], "Settings": [["loss", True]]},
            "Target is 1 x 3, but Output of the sentence 'one' is 2 x 2",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_said(sheets: Any, message: str, make: Make) -> None:
    with pytest.raises(InputError, match=message):
        attn_xl.attend(make(sheets))


def test_a_word_with_two_columns_is_refused(make: Make) -> None:
    sheets = language_model(Vocabulary=table(np.ones((6, 3)), [*PETS, "cat"]))
    with pytest.raises(InputError, match=r"'cat'.*is in the vocabulary 2 times"):
        attn_xl.attend(make(sheets))
