"""Lessons of learning: the backward steps are blanks, and their answers are marked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, table, thorough, verify
from typer.testing import CliRunner

import attn_xl
from attn_xl.cli.main import app
from attn_xl.teaching.grading.grade_file import Submission, grade_one

WORDS = ["mouse", "and", "cat"]
RNG = np.random.default_rng(15)


def task(width: int, *settings: Any) -> dict[str, Any]:
    x, target = RNG.normal(size=(2, 3, width)).round(1)
    return {
        "pets": table(x, WORDS),
        "Target": table(target, WORDS),
        "Settings": [["random weights", 3], *map(list, settings)],
    }


LESSONS: dict[str, tuple[Any, dict[str, Any], set[str]]] = {
    "sample": (
        None,
        {"sheet": ["pets", "desk"]},
        {"desk.dLogits", "desk.dSoftmax", "pets.dScores", "dW_Q", "dW_C"},
    ),
    "encoder": (
        task(2, ("model", "encoder"), ("hidden", 2)),
        {},
        {"dErrors", "Enc1.dNorm_2", "Enc1.dgamma_1", "Enc1.dHidden", "Enc1.dScores_1", "Enc1.dW_O"},
    ),
    "rnn": (
        task(2, ("model", "rnn")),
        {},
        {"dLosses", "dHiddenAbove", "dHidden", "dU_h", "dW_h"},
    ),
    "gru": (task(2, ("model", "gru")), {}, {"dHidden", "dU_r", "dW_r"}),
}


@thorough
@alike
@pytest.mark.parametrize("lesson", LESSONS)
def test_backward_steps_are_filled_in_and_marked(
    lesson: str, make: Callable[..., Path], tmp_path: Path
) -> None:
    sheets, options, backward = LESSONS[lesson]
    source = make(sheets) if sheets else SAMPLES / "learning.xlsx"
    path = tmp_path / "lesson.xlsx"
    chosen = [f"--sheet={name}" for name in options.get("sheet", ())]
    arguments = ["teach", str(source), "--steps", "1", "--level", "2", "-o", str(path), *chosen]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    verify(path)
    tables = attn_xl.read_tables(source, **options)
    (graph,) = attn_xl.attend(tables, steps=1, controls=True).values()
    book = openpyxl.load_workbook(path)
    filled = 0
    for name, node in graph.items():
        if name not in book.defined_names or node.texts:
            continue
        sheet, _, cells = book.defined_names[name].attr_text.replace("'", "").partition("!")
        rows = book[sheet][cells.replace("$", "")]
        rows = rows if isinstance(rows, tuple) else ((rows,),)
        for (i, j), value in np.ndenumerate(node.values):
            if rows[i][j].value is None:
                rows[i][j].value = float(value)
                filled += 1
    book.save(path)
    asked = {row[0].value: row for row in book["Lesson"].iter_rows() if row[0].hyperlink}
    assert "Step1.dLoss" not in asked  # it is 1
    texts = [cell.value for row in book["Lesson"].iter_rows() for cell in row]
    attends = any(str(text).startswith("Attention lets every word") for text in texts)
    assert attends == any("Softmax" in name for name in asked)
    if lesson == "sample":
        assert "“mouse or keyboard are useful”" in asked["Step1.desk.Logits"][2].value
    backward = {f"Step1.{name}" for name in backward}
    spoiled = min(backward)
    sheet, _, cells = book.defined_names[spoiled].attr_text.replace("'", "").partition("!")
    book[sheet][cells.replace("$", "").partition(":")[0]].value += 1
    book.save(path)
    graded = grade_one(Submission(path))
    assert backward <= graded.steps.keys()
    assert not [name for name in graded.steps if name.startswith(("Plus", "Minus"))]
    lost = {name for name, (points, most) in graded.steps.items() if points < most}
    assert graded.most == filled
    assert lost == {spoiled}


@thorough
@pytest.mark.parametrize("entered", [0.0, 1.0])
def test_small_numbers_are_marked_in_proportion(
    make: Callable[..., Path], tmp_path: Path, entered: float
) -> None:
    """Where all scores are below 0.001, 0 is wrong, and so is a number that is 1 % of 0.001 away."""
    source = make({"pets": table(np.array([[0.01, 0.02], [0.015, 0.01], [-0.02, 0.01]]), WORDS)})
    path = tmp_path / "lesson.xlsx"
    arguments = ["teach", str(source), "--blank", "Scores", "--layout", "layers", "-o", str(path)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    (graph,) = attn_xl.attend(attn_xl.read_tables(source)).values()
    right = graph["Scores"].values
    assert 0 < abs(right).max() < 0.001
    book = openpyxl.load_workbook(path)
    sheet, _, cells = book.defined_names["Scores"].attr_text.replace("'", "").partition("!")
    for row, numbers in zip(book[sheet][cells.replace("$", "")], right + 0.9e-5):
        for cell, number in zip(row, numbers):
            cell.value = entered * float(number)
    book.save(path)
    from ironcalc import load_from_xlsx

    model = load_from_xlsx(str(path), "en", "UTC", "en")
    model.evaluate()
    (at,) = (row[0].row for row in book["Lesson"].iter_rows() if row[0].value == "Scores")
    marked = int(model.get_formatted_cell_value(0, at, 5).partition("/")[0])
    points, most = grade_one(Submission(path)).steps["Scores"]
    assert marked == points == (most if entered else np.count_nonzero(abs(right) < 1e-5))


@thorough
def test_the_check_of_a_gradient_is_never_asked(make: Callable[..., Path], tmp_path: Path) -> None:
    sheets, _, _ = LESSONS["rnn"]
    path = tmp_path / "lesson.xlsx"
    arguments = ["teach", str(make(sheets)), "--steps", "1", "--level", "3", "-o", str(path)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    names = [row[0].value for row in openpyxl.load_workbook(path)["Lesson"] if row[0].hyperlink]
    assert "Step1.dHidden" in names
    assert not [name for name in names if name.startswith("Gradient check")]
