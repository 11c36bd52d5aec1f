"""A new attention variant is one function and one record, those of the page on architecture: its
workbook, canvas, explanation, lesson and grading come with them, without any other change.

The variant: each score is lowered by a slope times the distance of the two words, as in Press, Smith,
Lewis, "Train Short, Test Long: Attention with Linear Biases" (2022).
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import ROOT, SAMPLES, thorough, verify

import attn_xl
from attn_xl import settings
from attn_xl.cli.main import main
from attn_xl.graph.functions import column_sum, row_sum
from attn_xl.graph.given import given
from attn_xl.graph.gradients import gradients
from attn_xl.models.build import attend
from attn_xl.models.run import BUILDERS
from attn_xl.settings import Settings
from attn_xl.teaching.grading.grade_file import Submission, grade_one
from attn_xl.teaching.grading.grades import Status
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.views.explanation import explain
from attn_xl.workbook.write import write_workbook

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module", autouse=True)
def page() -> Iterator[dict[str, Any]]:
    """The names that the code of the page on architecture defines."""
    names: dict[str, Any] = {}
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, names)
    yield names
    del BUILDERS[names["near"]], settings._ADDED["near"], settings._KINDS[names["near"]]


def test_the_page_names_modules_that_are_there() -> None:
    named = re.findall(r"^\| `([a-z/_]+\.py)` \|", PAGE, re.MULTILINE)
    assert len(named) == 8
    assert all((ROOT / "attn_xl" / module).is_file() for module in named)


def test_its_operation(page: dict[str, Any]) -> None:
    """Its numbers, its formulas and its derivative, which is compared with a central difference."""
    softplus, numbers = page["softplus"], np.array([[-2.0, 0.0], [0.5, 3.0]])
    x = given(numbers, "ab", "cd", "X")
    assert np.allclose(softplus(x).values, np.log1p(np.exp(numbers)), atol=1e-12)
    assert softplus(x).words == "softplus(X)"
    total = column_sum(row_sum(softplus(x)))
    (slope,) = gradients(total, [x])
    nudged = (np.log1p(np.exp(numbers + h)) for h in (1e-6, -1e-6))
    assert np.allclose(slope.values, np.subtract(*nudged) / 2e-6, atol=1e-8)


def test_its_numbers() -> None:
    x = attn_xl.read_tables(SAMPLES / "politics.xlsx").sentences["politics"].values
    scores = x @ x.T - 0.5 * np.abs(np.subtract.outer(*2 * [np.arange(len(x))]))
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    graph = attn_xl.attend(SAMPLES / "politics.xlsx", model="near")["politics"]  # type: ignore[call-arg]
    assert np.allclose(graph["Output"].values, shares @ x, atol=1e-12)


@thorough
@pytest.mark.parametrize("layout", ["sheets", "canvas"])
@pytest.mark.parametrize("formulas", ["cell", "array"])
def test_its_workbook_and_canvas(
    layout: str, formulas: str, tmp_path: Path, page: dict[str, Any]
) -> None:
    path = tmp_path / "near.xlsx"
    settings = Settings(model="near", layout=layout, formulas=formulas)  # type: ignore[arg-type]
    tables = attn_xl.read_tables(SAMPLES / "politics.xlsx")
    write_workbook(attend(tables, settings), path, settings=settings)
    verify(path)
    book = openpyxl.load_workbook(path)
    assert {"Distances", "Nearer"} <= set(book.defined_names)
    if layout == "sheets":
        assert book["Nearer"]["A2"].value == page["NEARER"].note


def test_its_explanation(page: dict[str, Any]) -> None:
    computation = attn_xl.attend(SAMPLES / "politics.xlsx", model="near")  # type: ignore[call-arg]
    row, column = computation["politics"]["Nearer"].rows[:2]
    why = explain(computation, f"Nearer[{row}, {column}]")
    assert why.note == page["NEARER"].note
    assert "0.5" in why.numbers


@thorough
def test_its_lesson_and_its_grade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = attn_xl.read_tables(SAMPLES / "politics.xlsx")
    settings = Settings(model="near", controls=False)  # type: ignore[arg-type]
    lesson, answers = tmp_path / "lesson.xlsx", tmp_path / "answers.xlsx"
    write_lesson(tables, lesson, settings=settings, lesson=Lesson(level=2), answers=answers)
    verify(lesson)
    with zipfile.ZipFile(lesson) as package:
        text = "".join(package.read(name).decode() for name in package.namelist() if "xml" in name)
    assert "=cell of Scores-0.5*cell of Distances" in text
    assert "Subtract half of the distance" in text
    assert "Which word loses most in the row of" in text

    book = openpyxl.load_workbook(lesson)
    solved = openpyxl.load_workbook(answers, data_only=True)
    for name in ("Scores", "Nearer", "Softmax", "Output"):
        for row in solved[name].iter_rows(min_row=5, min_col=2):
            for cell in row:
                if isinstance(cell.value, float) and book[name][cell.coordinate].value is None:
                    book[name][cell.coordinate].value = cell.value
    done = tmp_path / "done.xlsx"
    book.save(done)
    graded = grade_one(Submission(done))
    assert graded.status is Status.marked, graded.remarks
    assert graded.points == graded.most > 0
    wrong = openpyxl.load_workbook(done)
    wrong["Nearer"]["B5"].value = 99.0
    wrong.save(done)
    assert grade_one(Submission(done)).points < graded.points
    main_status(["grade", str(done), "-o", str(tmp_path / "grades.xlsx")])
    assert "done.xlsx" in capsys.readouterr().out


def main_status(call: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(call)
