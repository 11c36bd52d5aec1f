"""How far models can see: the norms of the blocks of the Jacobian, and models side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, thorough, verify
from judges import Editable

import attn_xl
from attn_xl.cli.main import main
from attn_xl.models import influence as module
from attn_xl.models.compare_models import compare_models, models_of
from attn_xl.settings import Model, Settings
from attn_xl.workbook.write import write_workbook

STEP = 1e-6


def by_differences(sample: str, **options: Any) -> np.ndarray:
    """The norm of each block of the Jacobian of the only sentence, by central differences."""

    def output(x: np.ndarray) -> np.ndarray:
        tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
        (table,) = tables.sentences.values()
        table.values[:] = x
        (graph,) = attn_xl.attend(tables, **options).values()
        last = {"cnn": "Output"}.get(sample)
        nodes = [node for node in graph.values() if not node.texts]
        return np.asarray((graph[last] if last else nodes[-1]).values)

    (table,) = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx").sentences.values()
    x = table.values.copy()
    norms = np.zeros((len(output(x)), len(x)))
    for j in range(len(x)):
        columns = []
        for k in range(x.shape[1]):
            low, high = x.copy(), x.copy()
            low[j, k], high[j, k] = low[j, k] - STEP, high[j, k] + STEP
            columns.append((output(high) - output(low)) / (2 * STEP))
        norms[:, j] = np.sqrt(np.sum(np.square(columns), axis=(0, 2)))
    return norms


@thorough
@pytest.mark.parametrize(
    ("sample", "options"),
    [
        ("rnn", {}), ("lstm", {}), ("gru", {}), ("cnn", {}), ("projections", {}), ("encoder", {}),
        ("gru", {"bidirectional": True}), ("rnn", {"model": "decoder-only", "random_weights": 1}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)  # fmt: skip
def test_it_is_that_of_central_differences(sample: str, options: dict[str, Any]) -> None:
    if options.get("model") == "decoder-only":
        sample, options = "projections", {"model": "encoder", "random_weights": 1}
    (graph,) = attn_xl.attend(SAMPLES / f"{sample}.xlsx", influence=True, **options).values()
    expected = by_differences(sample, **options)
    assert np.allclose(graph["Influence"].values, expected, rtol=1e-5, atol=1e-6 * expected.max())


@thorough
def test_what_a_model_cannot_see_has_no_influence() -> None:
    later = np.triu(np.ones((6, 6), bool), 1)
    for model in ("rnn", "lstm", "gru"):
        (graph,) = attn_xl.attend(SAMPLES / f"{model}.xlsx", influence=True).values()
        assert (graph["Influence"].values[later] == 0).all()
        assert (graph["Influence"].values[~later] > 0).all()
    (graph,) = attn_xl.attend(SAMPLES / "cnn.xlsx", influence=True).values()
    apart = np.abs(np.subtract.outer(range(7), range(7))) > 1
    assert (graph["Influence"].values[apart] == 0).all()


def test_its_formulas_follow_an_edit(tmp_path: Path) -> None:
    tables = attn_xl.read_tables(SAMPLES / "rnn.xlsx")
    settings = Settings(model="rnn", influence=True, canvas=False)  # type: ignore[arg-type]
    write_workbook(attn_xl.attend(tables, settings), tmp_path / "out.xlsx", settings=settings)
    verify(tmp_path / "out.xlsx")
    book = Editable(tmp_path / "out.xlsx")
    book.set("U_h", 5, 2, 3.0)
    tables.weights["U_h"].values[0, 0] = 3.0
    for (i, j), number in np.ndenumerate(attn_xl.attend(tables, settings)["Influence"].values):  # type: ignore[call-overload]
        assert abs(book.value("Influence", 5 + i, 2 + j) - number) <= 1e-12 * max(1, abs(number))


def test_a_long_sentence_has_the_last_row_only(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = attn_xl.attend(SAMPLES / "lstm.xlsx", influence=True)
    monkeypatch.setattr(module, "MOST_NUMBERS", 1000)
    last = attn_xl.attend(SAMPLES / "lstm.xlsx", influence=True)
    assert last["sentence"]["Influence"].rows == ("happy",)
    assert np.array_equal(last["sentence"]["Influence"][0], whole["sentence"]["Influence"][-1])
    assert "Influence has the row of the last word only" in " ".join(last.remarks)


def test_the_terminal_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["show", str(SAMPLES / "rnn.xlsx"), "--step", "Influence"])
    assert "0.717  1.743  0.000" in capsys.readouterr().out


# Side by side


@thorough
def test_models_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.xlsx"
    call = [
        "compare",
        str(SAMPLES / "rnn.xlsx"),
        "-o",
        str(path),
        "--models",
        "cnn",
        "rnn",
        "attention",
    ]
    with pytest.raises(SystemExit) as end:
        main([*call, "--layout", "sheets", "--no-canvas"])
    assert not end.value.code, capsys.readouterr().err
    verify(path)
    book = openpyxl.load_workbook(path)
    assert book["Influences"]["B5"].value == "=cnn.Influence!B5"
    assert book["Distances"]["C6"].value == "=rnn.Influence!$F$10/MAX(rnn.Influence!$B$10:$G$10)"
    (chart,) = book["Distances"]._charts
    assert len(chart.series) == 3
    assert [cell.value for cell in book["Costs"][11]][:6] == [
        "rnn", "=n", "=n", "=n*d*d", "=n*2*d*d", "=2*d*d+d",
    ]  # fmt: skip
    edited = Editable(path)
    edited.set("Costs", 5, 2, 1000)
    assert edited.value("Costs", 12, 4) == 1000 * 1000 * 4  # attention pays for the square of n


@thorough
def test_with_classes_models_are_compared_by_what_they_learn_from(tmp_path: Path) -> None:
    """The gradient of the loss by word, against central differences."""
    tables = attn_xl.read_tables(SAMPLES / "learning.xlsx")
    made = compare_models(tables, models_of(["rnn", "gru", "attention", "cnn"]), {})
    write_workbook(made, tmp_path / "out.xlsx")
    verify(tmp_path / "out.xlsx")
    assert list(made)[:3] == ["pets.rnn", "pets.gru", "pets.attention"]
    shares = made.comparison["pets.LossByWord"]
    assert shares["mouse", "rnn"] < 0.1 < 0.7 < shares["mouse", "attention"]  # it vanishes
    x, step = tables.sentences["pets"], 1e-6
    slopes = np.zeros((2, 2, x.shape[1]))
    for i, j in np.ndindex(2, x.shape[1]):
        for sign in (1, -1):
            values = x.values.copy()
            values[i, j] += sign * step
            two = {"pets": replace(x, values=values), "desk": tables.sentences["desk"]}
            labels = {name: tables.labels[name] for name in two}
            nudged = replace(tables, sentences=two, labels=labels)
            again = compare_models(nudged, models_of(["rnn", "attention"]), {})
            for number, model in enumerate(("rnn", "attention")):
                slopes[number, i, j] += sign * float(again[f"pets.{model}"]["Loss"].values[0, 0])
    sizes = np.sqrt((slopes**2).sum(axis=2)).T
    own = shares.values[:2, [0, 2]]
    assert np.allclose(own / own[0], sizes / sizes[0], rtol=1e-5)


def test_a_convolution_ends_at_its_window_and_a_recurrence_fades() -> None:
    tables = attn_xl.read_tables(SAMPLES / "rnn.xlsx")
    models = [Model.cnn, Model.rnn, Model.attention]
    shares = compare_models(tables, models).comparison["Distance"].values
    cnn, rnn, attention = shares.T
    assert (cnn[:2] > 0).all()
    assert (cnn[2:] == 0).all()
    assert (rnn[1:] < rnn[:-1]).all()
    assert attention.argmax() != 0


@pytest.mark.parametrize(
    ("models", "message"),
    [
        (["rnn"], "at least two"),
        (["rnn", "rnn"], "at least two"),
        (["rnn", "lst"], "--models: 'lst' cannot be compared. Did you mean 'lstm'?"),
    ],
)
def test_a_comparison_needs_two_models(
    models: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["compare", str(SAMPLES / "rnn.xlsx"), "--models", *models])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_a_comparison_takes_the_options_of_any_of_its_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, path = str(SAMPLES / "politics.xlsx"), tmp_path / "out.xlsx"
    with pytest.raises(SystemExit) as end:
        main(["compare", source, "--models", "rnn", "attention", "--hidden", "3", "-o", str(path)])
    assert not end.value.code, capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        main(
            ["compare", source, "--models", "rnn", "lstm", "--norm", "pre", "-o", str(path), "--force"]
        )
    assert end.value.code == 2
    assert "--norm belongs to none of these models" in capsys.readouterr().err


def test_a_model_without_influence_on_the_last_word_is_named() -> None:
    tables = attn_xl.read_tables({"s": np.ones((3, 1))})
    tables.weights.update(
        attn_xl.read_tables({"s": np.ones((2, 1)), "W_before": [[-1]], "W_here": [[-1]],
                             "W_after": [[-1]]}).weights
    )  # fmt: skip
    found = compare_models(tables, [Model.cnn, Model.rnn])
    assert found.comparison["Distance"].columns == ("rnn",)
    assert "cnn is not on the sheet Distances" in " ".join(found.remarks)
