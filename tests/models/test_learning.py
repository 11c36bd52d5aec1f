"""Learning: against PyTorch, live against computed, the workbook against the program run anew."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import CANCELLED, SAMPLES, by_libreoffice, make_input, table, thorough, verify
from engines import recalculated_by_libreoffice
from judges import Editable, differences_ironcalc
from ooxml import violations
from typer.testing import CliRunner

import attn_xl
from attn_xl import CallError, InputError, OutputError
from attn_xl.cli.main import app
from attn_xl.settings import Optimizer

Make = Callable[..., Path]
SAMPLE = SAMPLES / "learning.xlsx"
RNG = np.random.default_rng(8)
WORDS = ["mouse", "and", "cat", "are", "friends"]


def torch_losses(optimizer: str, rate: float, steps: int) -> tuple[list[float], dict[str, np.ndarray]]:
    """The losses of the sample, and its weights after all steps, by PyTorch."""
    torch = pytest.importorskip("torch")
    tables = attn_xl.read_tables(SAMPLE)
    weights = {
        name: torch.tensor(table.values.copy(), requires_grad=True)
        for name, table in tables.weights.items()
    }
    kinds: dict[str, Any] = {
        "sgd": lambda w: torch.optim.SGD(w, rate),
        "momentum": lambda w: torch.optim.SGD(w, rate, momentum=0.9),
        "adam": lambda w: torch.optim.Adam(w, rate),
        "adamw": lambda w: torch.optim.AdamW(w, rate, weight_decay=0.01),
    }
    chosen = kinds[optimizer](list(weights.values()))
    classes = tables.weights["W_C"].columns
    losses = []
    for _ in range(steps + 1):
        parts = []
        for name, sentence in tables.sentences.items():
            x = torch.tensor(sentence.values)
            q, k, v = (x @ weights[f"W_{letter}"] for letter in "QKV")
            output = torch.softmax(q @ k.T / 2**0.5, dim=1) @ v
            right = torch.tensor([classes.index(tables.labels[name][0])])
            parts.append(torch.nn.functional.cross_entropy(output[:1] @ weights["W_C"], right))
        loss = sum(parts) / len(parts)
        losses.append(loss.item())
        if len(losses) <= steps:
            chosen.zero_grad()
            loss.backward()
            chosen.step()
    return losses, {name: weight.detach().numpy() for name, weight in weights.items()}


@thorough
@pytest.mark.parametrize("live", [3, 20])
@pytest.mark.parametrize("optimizer", [o.value for o in Optimizer])
def test_twenty_steps_are_those_of_pytorch(optimizer: str, live: int) -> None:
    rate = 0.1 if "adam" in optimizer else 1.0
    losses, weights = torch_losses(optimizer, rate, 20)
    run = attn_xl.learn(SAMPLE, steps=20, optimizer=optimizer, rate=rate, live=live)  # type: ignore[arg-type]
    assert np.allclose(run.losses, losses, rtol=1e-8, atol=0)
    for name, expected in weights.items():
        assert np.allclose(run.weights[name].values, expected, rtol=1e-8, atol=1e-10)


def test_the_sample_tells_its_story() -> None:
    """Half of the sentences are wrong at first, none in the end; and mouse looks at the deciding "
    "word."""
    run = attn_xl.learn(SAMPLE, steps=30, live=2)
    (graph,) = run.computation.values()
    labels = attn_xl.read_tables(SAMPLE).labels
    for step, right in (("Step1", 2), ("Learned", 4)):
        classes = [graph[f"{step}.{name}.Class"].texts for name in labels]
        assert sum(given == label for given, label in zip(classes, labels.values())) == right
    for name, word in (
        ("pets", "cat"),
        ("desk", "keyboard"),
        ("kitchen", "cheese"),
        ("office", "screen"),
    ):
        before, after = (
            graph[f"{step}.{name}.Softmax"]["mouse", word] for step in ("Step1", "Learned")
        )
        assert after > 1.4 * before
    assert run.losses[-1] < 0.01 < run.losses[0]


class Changed:
    """A whole run as a workbook, in which the rate, a weight, an input and a right answer are changed,
    and the program's run on what was changed.

    Attributes:
        path: the workbook as it was written; changed: after the changes.
        entries: the changes, by sheet, row and column.
        expected: the numbers of some steps after the changes, by sheet, row and column.
    """

    def __init__(self, run: str, steps: int, folder: Path) -> None:
        sheets, settings, edits = RUNS[run]
        source = make_input(folder / f"{run}.xlsx", sheets) if sheets else SAMPLE
        self.path, self.changed = (folder / f"{run}-{name}.xlsx" for name in ("run", "changed"))
        computation = attn_xl.attend(source, steps=steps, controls=True, **settings)
        layout = attn_xl.write_workbook(computation, self.path)
        (graph,) = computation.values()
        self.entries = []
        for name, row, column, value in [("Rate", 0, 0, 0.07), *edits]:
            place = layout.blocks[graph[name]].place
            self.entries.append((place.sheet, place.row + row, place.column + column, value))
        book = openpyxl.load_workbook(self.path)
        for sheet, row, column, value in self.entries:
            book[sheet].cell(row, column).value = value
        book.save(self.changed)
        (again,) = attn_xl.attend(self.changed).values()
        self.expected = {}
        last = {
            "Loss",
            *(name for name in graph if name.startswith((f"Step{steps}.", "Learned."))),
        }
        for name in last & {name for name, node in graph.items() if node.operation is not None}:
            node, place = graph[name], layout.blocks[graph[name]].place
            if node.texts or node.helper:
                continue
            assert name != "Loss" or not np.allclose(again[name].values[1:], node.values[1:], rtol=1e-6)
            scale = np.abs(again[name].values).max()
            for (i, j), number in np.ndenumerate(again[name].values):
                self.expected[place.sheet, place.row + i, place.column + j] = number, scale

    def check(self, value: Callable[[str, int, int], Any]) -> None:
        for place, (number, scale) in self.expected.items():
            tolerance = pytest.approx(number, rel=1e-9, abs=1e-9 * CANCELLED * scale)
            assert value(*place) == tolerance, place


@thorough
@pytest.mark.parametrize("run", ["language model", "lstm"])
def test_a_run_recalculates_also_after_changes(run: str, tmp_path: Path) -> None:
    """In IronCalc, compared with the program run on the changed input."""
    case = Changed(run, 2, tmp_path)
    assert not violations(case.path)
    assert not differences_ironcalc(case.path, 1e-9, CANCELLED)  # also the gradient check
    engine = Editable(case.path)
    engine.enter(case.entries)
    case.check(engine.value)


@by_libreoffice
def test_libreoffice_recalculates_whole_runs_after_changes(tmp_path: Path) -> None:
    cases = [Changed(run, 2, tmp_path) for run in ("sample", "encoder")]
    (tmp_path / "lo").mkdir()
    books = recalculated_by_libreoffice([case.changed for case in cases], tmp_path / "lo")
    for case, path in zip(cases, books):
        book = openpyxl.load_workbook(path, data_only=True)
        case.check(lambda sheet, row, column, book=book: book[sheet].cell(row, column).value)


def language_model() -> dict[str, Any]:
    return {
        "pets": table(np.random.default_rng(2).normal(size=(5, 3)), WORDS),
        "Vocabulary": table(np.random.default_rng(3).normal(size=(6, 3)), [*WORDS, "<end>"]),
        "Settings": [["model", "decoder-only"]],
    }


def regression(**settings: Any) -> dict[str, Any]:
    x, y, target = np.random.default_rng(4).normal(size=(3, 3, 2))
    return {
        "one": table(x), "two": table(y), "Target": target.tolist(),
        "two.Target": (target * 2).tolist(),
        "Settings": [["setting", "value"], *settings.items()],
    }  # fmt: skip


RUNS: dict[str, tuple[Any, dict[str, Any], list[tuple[str, int, int, Any]]]] = {
    "sample": (
        None,
        {"optimizer": "adamw"},
        [("Step1.W_K", 1, 0, 0.75), ("desk.Input", 2, 1, -0.5), ("Labels", 1, 0, "animal"),
         ("Labels", 0, 0, "device")],
    ),
    "language model": (
        language_model(),
        {"optimizer": "adam", "hidden": 3},
        [("Step1.Dec1.W_V", 0, 1, -0.4), ("Input", 1, 2, 1.25), ("TargetWords", 0, 0, "cat")],
    ),
    "lstm": (
        {
            "one": table(np.sin(np.arange(6) * 7).reshape(3, 2)),
            "Target": [[0.5, -1], [1, 0], [-0.25, 1]],
        },
        {"model": "lstm", "hidden": 2, "optimizer": "momentum"},
        [("Step1.U_f", 1, 0, 0.5), ("Input", 0, 1, -1.5), ("Target", 2, 1, 0.125)],
    ),
    "encoder": (
        regression(model="encoder", heads=2),
        {},
        [("Step1.Enc1.W_O", 1, 1, 0.3), ("two.Input", 0, 1, 0.7), ("Target", 1, 0, 0.9)],
    ),
}  # fmt: skip
"""Runs of learning: sheets, settings, and what to change."""
ONE_WEIGHT = {
    "sample": "W_V", "language model": "Dec1.W_V", "lstm": "U_f", "encoder": "Enc1.W_V"
}  # fmt: skip


@thorough
@pytest.mark.parametrize(
    "sheets",
    [
        pytest.param(language_model(), id="language model"),
        pytest.param(regression(), id="attention"),
        pytest.param(regression(heads=2), id="heads"),
        pytest.param(regression(model="encoder", activation="gelu-tanh"), id="encoder"),
        pytest.param(regression(model="feed-forward"), id="feed-forward"),
    ],
)
def test_any_model_learns_with_weights_that_are_drawn(sheets: Any, make: Make, tmp_path: Path) -> None:
    run = attn_xl.learn(make(sheets), steps=2, rate=0.05, seed=5)
    assert run.losses[0] > run.losses[1] > run.losses[2]
    path = tmp_path / "out.xlsx"
    attn_xl.write_workbook(run.computation, path, plain=True)
    assert not differences_ironcalc(path, 1e-9, CANCELLED)
    again = attn_xl.learn(make(sheets, "again.xlsx"), steps=40, rate=0.05, seed=5, live=1)
    assert np.array_equal(again.losses[:2], run.losses[:2])
    assert again.losses[-1] < run.losses[-1]
    for name, weights in again.weights.items():
        before = run.computation["Learning" if len(sheets) > 3 else "pets"][f"Step1.{name}"]
        bound = np.sqrt(6 / sum(before.shape))
        assert np.abs(before.values).max() <= bound or name.startswith(
            ("gamma", "beta", "Vocab", "Enc")
        )
        assert weights.shape == before.shape


def test_only_some_weights_are_learned_on_request() -> None:
    tables = attn_xl.read_tables(SAMPLE)
    run = attn_xl.learn(tables, steps=2, train="W_Q, w_c")
    assert not np.allclose(run.weights["W_C"].values, tables.weights["W_C"].values)
    assert set(run.weights) == {"W_Q", "W_C"}


@thorough
@pytest.mark.parametrize("train", [None, ONE_WEIGHT], ids=["all", "one"])
@pytest.mark.parametrize("run", ["sample", "language model", "lstm", "encoder"])
def test_trained_weights_are_an_input_like_any_other(
    run: str, train: dict[str, str] | None, make: Make, tmp_path: Path
) -> None:
    """Also weights that were drawn and not learned, and rows such as gamma."""
    sheets, settings, _ = RUNS[run]
    source = make(sheets) if sheets else SAMPLE
    learned, again, lesson = (str(tmp_path / f"{name}.xlsx") for name in ("w", "again", "lesson"))
    settings = settings | ({"train": train[run]} if train else {})
    given = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    model = [one for one in given if one.startswith("--model")]

    def ran(*arguments: str) -> str:
        result = CliRunner().invoke(app, [*arguments])
        assert result.exit_code == 0, result.exception
        return result.output

    ran(
        "learn",
        str(source),
        "--steps=2",
        *given,
        "-o",
        str(tmp_path / "o.xlsx"),
        f"--weights-out={learned}",
    )
    losses = attn_xl.learn(source, steps=2, **settings).losses
    options = {"model": settings["model"]} if model else {}
    after = [graph["Loss"] for graph in attn_xl.attend(learned, loss=True, **options).values()]
    assert np.mean([loss.values for loss in after]) == pytest.approx(losses[-1], rel=1e-12)
    ran("convert", learned, *model, "--loss", "-o", again)
    ran("teach", learned, *model, "--loss", "-o", lesson)
    assert "Loss" in ran("show", learned, "--loss", "--all")  # its model is written with it


@thorough
def test_trained_weights_keep_the_target(make: Make, tmp_path: Path) -> None:
    """It is a sentence of its own in an input without a loss."""
    x, target = table(np.sin(np.arange(8)).reshape(4, 2)), [[0.5, -0.5]]
    path, weights = make({"pets": x, "Target": target}), tmp_path / "w.xlsx"
    call = ["learn", str(path), "--model=cnn", "--hidden=2", "--steps=1", f"--weights-out={weights}"]
    assert CliRunner().invoke(app, [*call, "-o", str(tmp_path / "o.xlsx")]).exit_code == 0
    (graph,) = attn_xl.attend(weights).values()
    assert graph["Loss"].values.item() == attn_xl.learn(path, model="cnn", hidden=2, steps=1).losses[-1]


def test_weights_that_are_missing_are_drawn_as_xavier_uniform() -> None:
    """Uniform within ±√(6 / (rows + columns)), as torch.nn.init.xavier_uniform_, by the seed."""
    x = attn_xl.given(np.eye(30).tolist(), map(str, range(30)), map(str, range(30)), "x")
    drawn = {}
    for seed in (0, 0, 1):
        run = attn_xl.learn(
            {"x": x, "y": x}, labels={"x": "yes", "y": "no"}, model="classify", steps=1, seed=seed
        )
        weights = run.computation["Learning"]["Step1.W_Q"].values
        bound = np.sqrt(6 / 60)
        assert 0.99 * bound < np.abs(weights).max() <= bound
        assert weights.var() == pytest.approx(bound**2 / 3, rel=0.1)
        assert np.array_equal(drawn.setdefault(seed, weights), weights)
    assert not np.array_equal(drawn[0], drawn[1])


def test_a_step_that_does_not_exist_is_said_with_those_that_do(tmp_path: Path) -> None:
    run = attn_xl.learn(attn_xl.read_tables(SAMPLE, sheet=["pets", "desk"]), steps=2)
    with pytest.raises(CallError) as found:
        attn_xl.explain(run.computation, "Step1.pets.dProbabilities")
    assert ", d_k, " in str(found.value)
    assert "ScaledStep1" not in str(found.value)
    with pytest.raises(CallError, match=r"several steps: Step1\.pets\.dScores, Step1\.desk\.dScores"):
        attn_xl.explain(run.computation, "Step1.dScores")


def test_a_gradient_is_explained_without_its_sentence() -> None:
    run = attn_xl.learn(attn_xl.read_tables(SAMPLE, sheet=["pets", "desk"]), steps=1).computation
    assert run.title.startswith("Learning, one step: ")
    only = attn_xl.explain(run, "Step1.dScores[mouse, cat]")
    assert (only.name, only.others) == ("Step1.pets.dScores[mouse, cat]", ())
    first = attn_xl.explain(run, "Step1.dScores[mouse, are]")
    assert first.name == "Step1.pets.dScores[mouse, are]"
    assert first.others == ("Step1.desk.dScores[mouse, are]",)


def test_labels_in_python() -> None:
    x = {
        name: attn_xl.given([[1, 0], [0, number]], [name, "sat"], ["x", "y"], name)
        for number, name in enumerate("ab", 1)
    }
    run = attn_xl.learn(x, model="classify", labels={"a": "yes", "b": "no"}, steps=3, rate=0.5)
    assert run.losses[-1] < run.losses[0]
    assert run.weights["W_C"].columns == ("yes", "no")


@thorough
def test_a_written_run_is_read_back_and_explained(tmp_path: Path) -> None:
    path = tmp_path / "run.xlsx"
    tables = attn_xl.read_tables(SAMPLE, sheet=["pets", "desk"])
    run = attn_xl.learn(tables, steps=2)
    attn_xl.write_workbook(run.computation, path)
    verify(path)
    (graph,) = run.computation.values()
    again = attn_xl.attend(path)
    (read,) = again.values()
    assert np.array_equal(read["Loss"].values, graph["Loss"].values)
    names = openpyxl.load_workbook(path).defined_names
    assert {"Step1.W_Q", "Step1.dW_Q", "Learned.W_Q", "Step1.W_Q.m", "Step1.W_Q.v", "Loss", "Rate"} <= {
        *names
    }
    assert attn_xl.explain(again, "Step1.pets.dScores[mouse, cat]").formula.startswith("=")


@thorough
@pytest.mark.parametrize("steps", [30, 1, 20])
def test_long_runs_keep_the_same_curve(steps: int, tmp_path: Path) -> None:
    tables = attn_xl.read_tables(SAMPLE, sheet=["pets", "desk"])
    whole, short = (attn_xl.learn(tables, steps=steps, live=live) for live in (steps, 3))
    assert np.array_equal(whole.losses, short.losses)
    path = tmp_path / "short.xlsx"
    attn_xl.write_workbook(short.computation, path)
    verify(path)
    assert np.array_equal(attn_xl.learn(path, steps=steps).losses, whole.losses)
    assert not attn_xl.read_tables(path).remarks


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rate": 1e200, "optimizer": "sgd"}, InputError, "in step 2. .* with --rate 1 the loss falls"),
        ({"rate": 1e200, "optimizer": "sgd", "live": 1}, InputError, "too large in step 2"),
        ({"steps": 0}, CallError, "steps is 0; learning takes at least 1 step"),
        ({"train": ", "}, CallError, "train: name the weights to learn. There are: W_Q, W_K"),
        ({"labels": {"offce": "device"}}, InputError, "there is no sentence 'offce'.*'office'"),
        ({"train": "W_X"}, CallError, "train: there are no weights 'W_X'"),
        ({"steps": -1}, CallError, "takes a whole number from 0"),
        ({"rate": 0}, CallError, "takes a number above 0"),
        ({"momentum": 0.5}, CallError, "has no effect without --optimizer momentum"),
        ({"decay": 0.5}, CallError, "has no effect without --optimizer adamw"),
        ({"influence": True}, CallError, "--influence has no effect with --steps"),
    ],
)
def test_what_cannot_be_learned_is_said(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        attn_xl.learn(SAMPLE, **options)


@thorough
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--steps", "0"], "--steps is 0; learning takes at least 1 step"),
        (["--weights-out", "{out}"], "--weights-out: .*out.xlsx is the workbook of the run"),
        (["--train", "W_X"], "--train: there are no weights 'W_X'"),
        (["--live", "0"], "--live is 0; it takes a whole number from 1"),
        (["--rate", "1e300"], "too large in step 2"),
        (["--weights-out", "{out.parent}/none/w.xlsx"], "w.xlsx: cannot be written"),
        (
            ["--weights-out", "{out.parent}/w.xlsx", "-o", "{out.parent}/none/o.xlsx", "--steps", "1"],
            "o.xlsx: cannot",
        ),
    ],
)
def test_nothing_is_written_of_what_cannot_be_learned(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.xlsx"
    chosen = [one.format(out=out) for one in arguments]
    chosen += [] if "-o" in chosen else ["-o", str(out)]
    result = CliRunner().invoke(app, ["learn", str(SAMPLE), *chosen])
    assert isinstance(result.exception, (CallError, InputError, OutputError))
    assert re.search(message, str(result.exception))
    assert "\n" not in str(result.exception)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("size", "message"),
    [(1e160, "gives (nan|-?inf) .*make them smaller"), (1e5, "with --rate 1e-10 the loss falls")],
)
def test_numbers_that_no_usual_rate_fits(size: float, message: str, make: Make, tmp_path: Path) -> None:
    """Too large before the first step, where no rate helps; and with a rate that is very small."""
    sheets = {"one": table(size * np.sin(np.arange(6)).reshape(3, 2)), "Target": [[1, 0]] * 3}
    call = ["learn", str(make(sheets)), "-o", str(tmp_path / "out.xlsx"), "--steps", "40"]
    result = CliRunner().invoke(app, call)
    assert re.search(message, f"{result.exception} {result.output}")


def test_one_class_is_none_to_tell_apart() -> None:
    x = {"a": attn_xl.given([[1, 0]], ["mouse"], ["x", "y"], "a")}
    with pytest.raises(InputError, match="'yes' is the only class"):
        attn_xl.learn(x, model="classify", labels={"a": "yes"})


@pytest.mark.parametrize(
    ("choice", "value"),
    [("live_layers", "1"), ("live_heads", "1"), ("live_rows", "1"), ("live_network", False),
     ("vocabulary", "used")],
)  # fmt: skip
def test_what_enters_as_values_cannot_be_learned_from(choice: str, value: Any, make: Make) -> None:
    """The run was another one: later steps went on with the values of the first."""
    options = {"steps": 2, "heads": 2, "layers": 2, choice: value}
    with pytest.raises(CallError, match=f"--{choice.replace('_', '-')} does not go with --steps"):
        attn_xl.learn(make(language_model()), **options)  # type: ignore[arg-type]


def test_a_model_without_weights_has_nothing_to_learn(make: Make) -> None:
    sheets = {
        "one": table(np.ones((2, 2))),
        "Target": [[1, 0], [0, 1]],
        "Settings": [["model", "softmax"]],
    }
    with pytest.raises(InputError, match="nothing to learn"):
        attn_xl.learn(make(sheets))


@thorough
@pytest.mark.parametrize(("matrix", "row", "column"), [(1, 1, 1), (2, 3, 2), (4, 2, 1)])
def test_any_gradient_can_be_checked_by_nudging_its_weight(
    matrix: int, row: int, column: int, tmp_path: Path
) -> None:
    path = tmp_path / "run.xlsx"
    tables = attn_xl.read_tables(SAMPLE, sheet=["pets", "desk"])
    computation = attn_xl.attend(tables, steps=1, controls=True)
    layout = attn_xl.write_workbook(computation, path)
    (graph,) = computation.values()
    engine = Editable(path)
    cells = {}
    for name, value in (("CheckedMatrix", matrix), ("CheckedRow", row), ("CheckedColumn", column)):
        place = layout.blocks[graph[name]].place
        cells[place.sheet, place.row, place.column] = value
    engine.enter((*where, value) for where, value in cells.items())
    name = ["W_Q", "W_K", "W_V", "W_C"][matrix - 1]
    expected = graph[f"Step1.d{name}"].values[row - 1, column - 1]
    for step, tolerance in (("Gradient", 1e-12), ("CentralDifference", 1e-7)):  # it is rounded
        place = layout.blocks[graph[step]].place
        found = engine.value(place.sheet, place.row, place.column)
        assert found == pytest.approx(expected, abs=tolerance), step


def test_attention_before_and_after_is_compared() -> None:
    (graph,) = attn_xl.learn(SAMPLE, steps=3).computation.values()
    before, after, moved = (
        graph[f"Compare.pets.Softmax.{name}"].values for name in ("Before", "After", "Difference")
    )
    assert np.array_equal(before, graph["Step1.pets.Softmax"].values)
    assert np.array_equal(after, graph["Learned.pets.Softmax"].values)
    assert np.allclose(moved, after - before, atol=0)


@thorough
@pytest.mark.parametrize("model", ["cnn", "rnn", "lstm", "gru"])
def test_networks_before_attention_learn(model: str, make: Make, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    x = table(rng.normal(size=(3, 2)).round(3), WORDS[:3])
    rows = WORDS[:1] if model == "cnn" else WORDS[:3]  # the maximum over the words
    target = table(rng.normal(size=(len(rows), 2)).round(3), rows)
    path = make({"pets": x, "Target": target})
    options = {"model": model, "hidden": 2, "optimizer": "adam", "random_weights": 1}
    live = attn_xl.learn(path, steps=4, live=4, **options)
    kept = attn_xl.learn(path, steps=4, live=1, **options)
    assert np.allclose(live.losses, kept.losses, rtol=1e-12)
    assert live.losses[-1] < live.losses[0]
    attn_xl.write_workbook(live.computation, tmp_path / "learned.xlsx")
    verify(tmp_path / "learned.xlsx")


@thorough
def test_a_rate_that_is_too_large_is_told_with_one_that_was_tried() -> None:
    found = attn_xl.learn(SAMPLES / "learning.xlsx", rate=50, optimizer="sgd", live=2, steps=12)
    assert found.losses[-1] > found.losses[0]
    (remark,) = [one for one in found.computation.remarks if one.startswith("The loss grows")]
    rate = float(remark.partition("--rate ")[2].split()[0])
    better = attn_xl.learn(SAMPLES / "learning.xlsx", rate=rate, optimizer="sgd", live=2, steps=12)
    assert better.losses[-1] < better.losses[0]
    assert not any("loss grows" in one for one in better.computation.remarks)


@thorough
def test_what_is_printed_of_a_run(tmp_path: Path) -> None:
    """The first step whole, of every other the page with its weights, and one page of each summary."""
    run = attn_xl.learn(SAMPLE, steps=3, optimizer="adam")
    attn_xl.write_workbook(run.computation, tmp_path / "run.xlsx", settings=run.computation.settings)
    book = openpyxl.load_workbook(tmp_path / "run.xlsx")
    assert not book["Step1"].print_area
    assert book["Step1"].row_breaks.brk
    for name in ("Step2", "Step3", "Learned"):
        first, last = book[name].print_area.replace("$", "").rpartition("!")[2].split(":")
        places = [book.defined_names[f"{name}.{w}"].attr_text for w in ("W_Q", "W_K", "W_V")]
        rows = [int(place.rpartition("$")[2]) for place in places]
        assert first == "A1"
        assert max(rows) <= int(re.sub("[A-Z]", "", last)) < 60
        assert not book[name].row_breaks.brk
    for name in ("Loss", "Compare", "Gradient check"):
        setup = book[name].page_setup
        assert (setup.fitToHeight, book[name].sheet_properties.pageSetUpPr.fitToPage) == (1, True), name
    assert book["Loss"].page_setup.orientation == "portrait"
    for name in ("pets", "kitchen"):  # the maps side by side, below those of other sentences
        maps = [f"Compare.{name}.Softmax.{end}" for end in ("Before", "After", "Difference")]
        cells = [book.defined_names[one].attr_text.split("!")[1].split("$")[1:3] for one in maps]
        assert [column for column, _ in cells] == ["B", "I", "P"]
        assert len({row for _, row in cells}) == 1
    formula = str(book["Overview"]["A2"].value)
    assert formula.startswith('="Attention(Q, K, V) = softmax(Q × Kᵀ"&IF(Temperature=1,')
