"""Recurrent networks and convolutions: against PyTorch, in spreadsheets after edits, in lessons."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, by_libreoffice, thorough, verify
from engines import recalculated_by_libreoffice
from judges import Editable

import attn_xl
from attn_xl.errors import AttnXlError, InputError
from attn_xl.graph.functions import column_sum, row_sum
from attn_xl.graph.given import given
from attn_xl.graph.graph import Graph
from attn_xl.graph.loops import Entered, recompute
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.recurrence import recurrence
from attn_xl.settings import Settings
from attn_xl.tables.pytorch import weights_of_parameters
from attn_xl.teaching.grading.grade_file import Submission, grade_one
from attn_xl.teaching.grading.grades import Status
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.workbook.write import arrange, write_workbook

RECURRENT = ("rnn", "lstm", "gru")


def loss_of(output: Matrix) -> tuple[Matrix, np.ndarray]:
    weights = np.sin(1 + np.arange(output.values.size)).reshape(output.shape)
    weighing = given(weights, output.rows, output.columns, "Weighing")
    return column_sum(row_sum(output * weighing)).named("Loss"), weights


# PyTorch

CASES = [
    {"n": n, "d": d, "h": h, "layers": layers, "bidirectional": both, "bias": bias, "seed": seed}
    for seed, (n, d, h) in enumerate([(5, 3, 4), (1, 2, 3), (3, 1, 2), (2, 4, 1), (7, 2, 2)])
    for layers, both, bias in [(1, False, True), (2, False, False), (1, True, True), (2, True, True)]
]


@alike
@pytest.mark.parametrize("case", CASES, ids=lambda c: "-".join(map(str, c.values())))
@pytest.mark.parametrize("kind", [*RECURRENT, "relu"])
def test_numbers_and_gradients_are_those_of_pytorch(kind: str, case: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(case["seed"])
    model, options = ("rnn", {"nonlinearity": "relu"}) if kind == "relu" else (kind, {})
    network = getattr(torch.nn, model.upper())(
        case["d"], case["h"], case["layers"], bidirectional=case["bidirectional"], bias=case["bias"],
        dtype=torch.float64, **options,
    )  # fmt: skip
    x = torch.randn(case["n"], case["d"], dtype=torch.float64, requires_grad=True)
    theirs = network(x[:, None])[0][:, 0]
    parameters = dict(network.named_parameters())
    numbers = {name: value.detach().numpy() for name, value in parameters.items()}
    graph = attn_xl.attend(
        {"sentence": x.detach().numpy()}, weights=numbers, model=model, layers=case["layers"],
        bidirectional=case["bidirectional"], **options,
    )["sentence"]  # fmt: skip
    output = list(graph.values())[-1]
    assert np.allclose(output.values, theirs.detach().numpy(), rtol=0, atol=1e-12)

    loss, weights = loss_of(output)
    (theirs * torch.tensor(weights)).sum().backward()
    given_ones = [matrix for matrix in graph.values() if matrix.operation is None]
    ours = {m.name: d.values for m, d in zip(given_ones, attn_xl.gradients(loss, given_ones))}
    assert np.allclose(ours["Input"], x.grad.numpy(), rtol=0, atol=1e-9)
    shapes = {name: value.shape if value.ndim == 2 else (1, 1) for name, value in numbers.items()}
    for name, parts in weights_of_parameters(parameters, shapes).items():
        gradients = parameters[name].grad.chunk(len(parts))
        for part, expected in zip(parts, gradients):
            assert np.allclose(ours[part], expected.numpy().T, rtol=0, atol=1e-9), part


@pytest.mark.parametrize(("n", "d", "filters", "window"), [(5, 3, 4, 3), (1, 2, 2, 1), (4, 2, 3, 4)])
def test_a_convolution_is_that_of_pytorch(n: int, d: int, filters: int, window: int) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(window)
    layer = torch.nn.Conv1d(d, filters, window, padding="same", dtype=torch.float64)
    x = torch.randn(n, d, dtype=torch.float64, requires_grad=True)
    padded = torch.nn.functional.pad(x.T[None], ((window - 1) // 2, window // 2))
    theirs = torch.relu(torch.nn.functional.conv1d(padded, layer.weight, layer.bias))[0].T
    weights = {f"conv.{name}": value.detach().numpy() for name, value in layer.state_dict().items()}
    settings = Settings(model="cnn", window=window)  # type: ignore[arg-type]
    graph = attn_xl.attend({"s": x.detach().numpy()}, settings, weights=weights)["s"]
    assert np.allclose(graph["Output"].values, theirs.detach().numpy(), rtol=0, atol=1e-12)
    assert np.allclose(graph["MaxPool"].values, theirs.detach().numpy().max(axis=0), atol=1e-12)
    pooled, scale = loss_of(graph["MaxPool"])
    (theirs.max(dim=0).values * torch.tensor(scale[0])).sum().backward()
    dx, dw = (d.values for d in attn_xl.gradients(pooled, [graph["Input"], graph["W_conv"]]))
    assert np.allclose(dx, x.grad.numpy(), rtol=0, atol=1e-9)
    assert np.allclose(dw, layer.weight.grad.reshape(filters, -1).T.numpy(), rtol=0, atol=1e-9)


def test_textbook_names_mean_the_same_as_pytorchs() -> None:
    x = np.cos(np.arange(8)).reshape(4, 2)
    gates = {f"{kind}_{gate}": np.sin(i + np.arange(size)).reshape(-1, 2)
             for i, gate in enumerate("ifgo")
             for kind, size in (("W", 4), ("U", 4), ("b", 2))}  # fmt: skip
    stacked = {
        "weight_ih_l0": np.vstack([gates[f"W_{gate}"].T for gate in "ifgo"]),
        "weight_hh_l0": np.vstack([gates[f"U_{gate}"].T for gate in "ifgo"]),
        "bias_ih_l0": np.hstack([gates[f"b_{gate}"][0] for gate in "ifgo"]),
    }
    textbook = {name.replace("_g", "_c"): array for name, array in gates.items()}
    results = [
        attn_xl.attend({"s": x}, weights=weights, model="lstm")["s"]["Hidden"].values
        for weights in (gates, textbook, stacked)
    ]
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_an_initial_state_is_given_or_zero() -> None:
    x, weights = np.ones((2, 1)), {"W_h": [[1.0]], "U_h": [[1.0]], "h_0": [[3.0]]}
    states = attn_xl.attend({"s": x}, weights=weights, model="rnn")["s"]["Hidden"].values[:, 0]
    assert np.allclose(states, [np.tanh(4), np.tanh(1 + np.tanh(4))])
    del weights["h_0"]
    assert attn_xl.attend({"s": x}, weights=weights, model="rnn")["s"]["Hidden"][0, 0] == np.tanh(1)


# Workbooks


@alike
@pytest.mark.parametrize("model", [*RECURRENT, "cnn"])
@pytest.mark.parametrize("formulas", ["cell", "array", "dynamic"])
def test_an_edit_in_the_first_word_changes_what_follows(
    model: str, formulas: str, tmp_path: Path
) -> None:
    path = tmp_path / "out.xlsx"
    tables = attn_xl.read_tables(SAMPLES / f"{model}.xlsx")
    settings = Settings(model=model, formulas=formulas, canvas=False)  # type: ignore[arg-type]
    computation = attn_xl.attend(tables, settings)
    write_workbook(computation, path, settings=settings)
    verify(path)
    book = Editable(path)
    book.set("Input", 5, 2, 7.5)
    table = tables.sentences["sentence"]
    table.values[0, 0] = 7.5
    graph = attn_xl.attend(tables, settings)["sentence"]
    name = "Output" if model == "cnn" else "Hidden"
    for (i, j), number in np.ndenumerate(graph[name].values):
        assert abs(book.value(name, 5 + i, 2 + j) - number) <= 1e-12 * max(1, abs(number))
    moved = np.abs(graph[name].values - computation["sentence"][name].values).max(axis=1)
    assert (moved[:2] > 0).all()
    assert (moved[-1] > 0) == (model != "cnn")


@by_libreoffice
def test_libreoffice_follows_an_edit_in_the_first_word(tmp_path: Path) -> None:
    paths, expected = [], {}
    for model in (*RECURRENT, "cnn"):
        path = tmp_path / f"{model}.xlsx"
        tables = attn_xl.read_tables(SAMPLES / f"{model}.xlsx")
        settings = Settings(model=model, influence=True, canvas=False)  # type: ignore[arg-type]
        write_workbook(attn_xl.attend(tables, settings), path, settings=settings)
        book = openpyxl.load_workbook(path)
        book["Input"]["B5"].value = 7.5
        book.save(path)
        tables.sentences["sentence"].values[0, 0] = 7.5
        expected[model] = attn_xl.attend(tables, settings)["sentence"]
        paths.append(path)
    (tmp_path / "out").mkdir()
    for model, path in zip(expected, recalculated_by_libreoffice(paths, tmp_path / "out")):
        book = openpyxl.load_workbook(path, data_only=True)
        for name in ("Output" if model == "cnn" else "Hidden", "Influence"):
            for (i, j), number in np.ndenumerate(expected[model][name].values):
                value = book[name].cell(5 + i, 2 + j).value
                assert abs(value - number) <= 1e-12 * max(1, abs(number)), (model, name)


def test_a_formula_points_at_the_row_above(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    computation = attn_xl.attend(SAMPLES / "rnn.xlsx")
    write_workbook(computation, path)
    sheet = openpyxl.load_workbook(path)["Hidden"]
    word = "SUM(MMULT(Input!$B{0}:$E{0},W_h!B$5:B$8))"
    first = "SUM(MMULT(h_0!$B$5:$D$5,U_h!B$5:B$7))"
    above = "SUM(MMULT($B5:$D5,U_h!B$5:B$7))"
    assert sheet["B5"].value == f"=TANH({word.format(5)}+{first}+b_h!B$5)"
    assert sheet["B6"].value == f"=TANH({word.format(6)}+{above}+b_h!B$5)"
    why = attn_xl.explain(computation, "Hidden[that, h1]")
    assert "Hidden[cats, h2]·U_h[h2, h1]" in why.words
    assert computation["sentence"]["Hidden"].words == "tanh(Input × W_h + Hidden[t-1] × U_h + b_h)"


@pytest.mark.parametrize("settings", [{}, {"reset": "before", "update": "new"}])
def test_gradients_through_time_are_live_formulas(settings: dict[str, Any], tmp_path: Path) -> None:
    graph = attn_xl.attend(SAMPLES / "gru.xlsx", **settings)["sentence"]
    loss, _ = loss_of(graph["Hidden"])
    of = [graph["Input"], graph["U_n"], graph["h_0"]]
    found = attn_xl.gradients(loss, of)
    write_workbook(Graph(loss, *found), tmp_path / "out.xlsx")
    verify(tmp_path / "out.xlsx")
    up, down = (
        recompute([loss], {of[1]: Entered(np.eye(3) > 0, of[1].values + nudge)}).shown[loss]
        for nudge in (1e-6, -1e-6)
    )
    assert np.isclose((up - down)[0, 0] / 2e-6, np.trace(found[1].values), rtol=1e-6)


def test_time_runs_along_the_rows_of_a_picture() -> None:
    computation = attn_xl.attend(SAMPLES / "rnn.xlsx")
    layout = arrange(computation, Settings(model="rnn", layout="canvas"))  # type: ignore[arg-type]
    (sheet,) = (sheet for sheet in layout.sheets if sheet.name == "Canvas")
    place = next(block.place for block in sheet.blocks if block.node.name == "Hidden")
    texts = {(c.row, c.column): c.value for c in sheet.extras.cells if isinstance(c.value, str)}
    arrow = [texts.get((row, place.last_column + 1)) for row in range(place.row, place.last_row + 1)]
    assert arrow == ["│"] * 5 + ["↓"]


# Lessons


@thorough
def test_a_lesson_is_graded_row_by_row(tmp_path: Path) -> None:
    tables = attn_xl.read_tables(SAMPLES / "gru.xlsx")
    settings = Settings(model="gru", controls=False)  # type: ignore[arg-type]
    lesson, answers = tmp_path / "lesson.xlsx", tmp_path / "answers.xlsx"
    write_lesson(tables, lesson, settings=settings, lesson=Lesson(level=2), answers=answers)
    verify(lesson)
    book = openpyxl.load_workbook(lesson)
    graph = attn_xl.attend(tables, settings)["sentence"]
    gates = ("Reset", "Update", "New", "Hidden")
    slip = Entered(np.zeros((6, 3), bool), np.zeros((6, 3)))
    slip.cells[1, 0], slip.numbers[1, 0] = True, 5.0
    shown = recompute([graph["Hidden"]], {graph["Hidden"]: slip}).shown
    assert np.array_equal(shown[graph["Hidden"]][0], graph["Hidden"].values[0])
    assert not np.allclose(shown[graph["Hidden"]][-1], graph["Hidden"].values[-1])
    for name in gates:
        for (i, j), number in np.ndenumerate(shown[graph[name]]):
            book[name].cell(5 + i, 2 + j).value = float(number)
    done = tmp_path / "done.xlsx"
    book.save(done)
    graded = grade_one(Submission(done))
    assert graded.status is Status.marked, graded.remarks
    assert graded.points == graded.most - 1  # what follows from the slip earns credit


# The mechanism


def test_a_recurrence_refuses_steps_that_mix_rows() -> None:
    x = given(np.ones((3, 3)), "abc", "abc", "X")
    start = given(np.zeros((1, 3)), ["start"], "abc", "Start")
    with pytest.raises(TypeError, match="computed row by row"):
        recurrence(x.rows, [("H", start)], lambda h: [(x @ h).named("H")])
    with pytest.raises(TypeError, match="needs to be"):
        recurrence(x.rows, [("H", start)], lambda h: [(x + h).named("G")])


# Errors

BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "a gate is missing": ({"W_i": None}, "lstm", "the sheet W_i is missing: 4 x 3"),
    "a gate has another width": ({"W_g": (4, 2)}, "lstm", "W_g is 4 x 2, but needs 3 columns"),
    "a gate has other rows": ({"W_g": (5, 3)}, "lstm", "W_g is 5 x 3, but needs 4 rows"),
    "a recurrent weight is not square": ({"U_o": (2, 3)}, "lstm", "is 2 x 3, but needs 3 rows"),
    "a bias is too long": ({"b_f": (1, 4)}, "lstm", "b_f is 1 x 4, but needs 1 x 3"),
    "a filter is missing": ({"W_after": None}, "cnn", "the sheet W_after is missing: 4 x 3"),
    "a filter is too wide": ({"W_after": (4, 2)}, "cnn", "W_after is 4 x 2, but needs 3 columns"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_weights_are_one_line(case: str, tmp_path: Path) -> None:
    changes, model, message = BAD[case]
    book = openpyxl.load_workbook(SAMPLES / f"{model}.xlsx")
    for name, shape in changes.items():
        del book[name]
        if shape:
            sheet = book.create_sheet(name)
            for row in np.ones(shape).tolist():
                sheet.append(row)
    book.save(tmp_path / "in.xlsx")
    with pytest.raises(InputError) as caught:
        attn_xl.attend(tmp_path / "in.xlsx")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("model", RECURRENT)
def test_a_recurrent_network_predicts_the_next_word(model: str) -> None:
    w_u, b_u = np.arange(12).reshape(4, 3) / 7 - 1, np.array([[0.5, 0, -0.5]])
    weights = {"W_hy": w_u, "b_y": b_u}  # which tell the width of the others
    graph = attn_xl.attend(np.eye(3)[[0, 1, 1]], words="a b b", weights=weights, model=model,
                           random_weights=2)["Sentence"]  # fmt: skip
    powers = np.exp(graph["Hidden"].values @ w_u + b_u)
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(graph["Probabilities"].values, probabilities, rtol=1e-12)
    np.testing.assert_array_equal(graph["Next"].values[:, 0], probabilities.argmax(axis=1) + 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"model": "cnn", "window": 8},
            "the window of 8 words is longer than the sentence, which has 7",
        ),
        ({"model": "cnn", "window": 0}, "window"),
        ({"model": "rnn", "heads": 2}, "heads belongs to"),
        ({"model": "encoder", "bidirectional": True}, "bidirectional belongs to"),
    ],
)
def test_options_that_do_not_fit_are_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AttnXlError) as caught:
        attn_xl.attend(SAMPLES / "cnn.xlsx", random_weights=1, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_random_weights_have_the_width_that_is_asked_for() -> None:
    make: Callable[..., Any] = attn_xl.attend
    for model in ("rnn", "lstm", "gru", "cnn"):
        graph = make(SAMPLES / "politics.xlsx", model=model, random_weights=1, hidden=5)["politics"]
        assert graph["Output" if model == "cnn" else "Hidden"].shape == (5, 5)


def test_a_drawing_shows_the_rows_above_that_a_step_reads(tmp_path: Path) -> None:
    """Beside a gate stands Hidden[t-1]: the initial state in the first row, then the row above."""
    path = tmp_path / "canvas.xlsx"
    computation = attn_xl.attend(SAMPLES / "lstm.xlsx")
    attn_xl.write_workbook(computation, path, settings=attn_xl.Settings(layout="canvas"))
    sheet = openpyxl.load_workbook(path, data_only=True)["Canvas"]
    hidden = computation["sentence"]["Hidden"].values
    titles = [cell for row in sheet.iter_rows() for cell in row if cell.value == "Hidden[t-1]"]
    assert titles
    for title in titles:
        shown = [
            [sheet.cell(title.row + 2 + i, title.column + j).value for j in range(hidden.shape[1])]
            for i in range(len(hidden))
        ]
        assert np.allclose(shown[0], 0)
        assert np.allclose(shown[1:], hidden[:-1])
    verify(path)


def test_nothing_is_said_about_heads_where_there_are_none() -> None:
    x = np.eye(3)
    given = {"weight_ih_l0": np.ones((2, 3)), "weight_hh_l0": np.ones((2, 2))}
    remarks = " ".join(attn_xl.read_tables({"sentence": x, **given}).remarks)
    assert "read as W_h, U_h of PyTorch" in remarks
    assert "heads" not in remarks
    with_heads = attn_xl.read_tables({"sentence": x, "in_proj_weight": np.ones((9, 3))}).remarks
    assert "--heads" in " ".join(with_heads)
