"""Nine more students of the scripted class, with ramps, gradients and recurrent steps: what each did
and what it costs stands here first; then the submissions come in one .zip and go back."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openpyxl
import pytest
from conftest import make_input, table, thorough, verify
from test_grade_ramp import ALL, hand_in

import attn_xl
from attn_xl.settings import Settings
from attn_xl.teaching.grading.grade_class import grade_class
from attn_xl.teaching.grading.results import Graded, Status
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson

RNG = np.random.default_rng(19)
X, TARGET = RNG.normal(size=(2, 3, 2)).round(1)
WORDS = ["mouse", "and", "cat"]
SHEETS: dict[str, dict[str, Any]] = {
    "gradients": {
        "pets": table(X, WORDS),
        "Target": table(TARGET, WORDS),
        "Settings": [["random weights", 3]],
    },
    "recurrent": {"pets": table(X, WORDS), "Settings": [["random weights", 3], ["model", "rnn"]]},
}
pytestmark = thorough
Slip = Callable[[np.ndarray], np.ndarray]


class Case(NamedTuple):
    """A step that went wrong, how, and the number of its cells that are not worth a point."""

    kind: str
    step: str
    slip: Slip
    lost: int
    guess: str = ""


def one_off(values: np.ndarray) -> np.ndarray:
    values[1, 0] += 2.5
    return values


def first_row_blank(values: np.ndarray) -> np.ndarray:
    values[0] = np.nan
    return values


CASES = [
    Case("gradients", "Step1.dOutput", one_off, 1),
    Case("gradients", "Step1.dSoftmax", first_row_blank, 3),
    Case("gradients", "Step1.dW_V", np.negative, 4, "wrong sign"),
    Case("recurrent", "Hidden", one_off, 1),
    Case("recurrent", "Hidden", first_row_blank, 2),
    # The second number of later words follows from their own first one, whose weights are alike.
    Case("recurrent", "Hidden", np.negative, 3),
]
RAMPS: list[tuple[str, dict[int, object], int]] = [
    ("Dot product", {0: 1000, 1: None, 2: "many"}, 3),
    ("One word's attention", {-3: 9, -2: 1, -1: 0}, 3),
    ("Weighted mean", {0: "0,5"}, 1),
]


def fill_in(lesson: Path, path: Path, graph: dict[str, Any], case: Case) -> dict[str, int]:
    """Fill in a lesson rightly but for one step, and return the number of cells of each step."""
    book = openpyxl.load_workbook(lesson)
    asked: dict[str, int] = {}
    for name, node in graph.items():
        if name not in book.defined_names or node.texts:
            continue
        sheet, _, cells = book.defined_names[name].attr_text.replace("'", "").partition("!")
        rows = book[sheet][cells.replace("$", "")]
        rows = rows if isinstance(rows, tuple) else ((rows,),)
        values = np.array(node.values)
        if name == case.step:
            values = case.slip(values)
        for (i, j), value in np.ndenumerate(values):
            if rows[i][j].value is None:
                rows[i][j].value = None if np.isnan(value) else float(value)
                asked[name] = asked.get(name, 0) + 1
    book.save(path)
    return asked


@pytest.fixture(scope="module")
def class_of_nine(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, int]]]:
    folder = tmp_path_factory.mktemp("nine")
    asked, graphs = [], {}
    with zipfile.ZipFile(folder / "class.zip", "w") as export:
        for kind, sheets in SHEETS.items():
            source = make_input(folder / f"{kind}.xlsx", sheets)
            tables = attn_xl.read_tables(source)
            steps = {"steps": 1} if kind == "gradients" else {}
            settings = Settings.resolve(steps, tables.settings, "")
            write_lesson(tables, folder / f"{kind}-lesson.xlsx", settings=settings, lesson=Lesson())
            (graphs[kind],) = attn_xl.attend(tables, **steps).values()  # type: ignore[arg-type]
        for number, case in enumerate(CASES):
            copy = folder / "one.xlsx"
            asked.append(fill_in(folder / f"{case.kind}-lesson.xlsx", copy, graphs[case.kind], case))
            export.write(copy, f"class/student{number}_LATE_{number}_77_{case.kind}.xlsx")
        for number, (page, change, _) in enumerate(RAMPS):
            copy = folder / "ramp.xlsx"
            own = {at % ALL[page]: value for at, value in change.items()}
            hand_in(copy, {page: own})
            export.write(copy, f"Ada-{number} Lovelace_{number}_assignsubmission_file_/ramp.xlsx")
    return folder / "class.zip", asked


@pytest.fixture(scope="module")
def graded(class_of_nine: tuple[Path, list[dict[str, int]]]) -> list[Graded]:
    path, _ = class_of_nine
    found = grade_class([path], feedback=path.with_name("back.zip"), jobs=1)
    # All ramps are one student's, of which the best counts.
    assert {one.status for one in found} == {Status.marked, Status.repeated}
    return found


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_marks_are_those_written_down(
    class_of_nine: tuple[Path, list[dict[str, int]]], graded: list[Graded], number: int
) -> None:
    case, one, asked = CASES[number], graded[number], class_of_nine[1][number]
    assert (one.id, one.name) == (str(number), f"student{number}")
    assert asked[case.step] >= case.lost
    wanted = {name: (most - case.lost * (name == case.step), most) for name, most in asked.items()}
    assert one.steps == wanted
    if case.guess:
        assert {cell.guess for cell in one.cells} == {case.guess}


@pytest.mark.parametrize("number", range(len(RAMPS)))
def test_ramps_among_them(graded: list[Graded], number: int) -> None:
    page, _, lost = RAMPS[number]
    one = graded[len(CASES) + number]
    assert one.steps == {name: (most - lost * (name == page), most) for name, most in ALL.items()}


@pytest.mark.parametrize("number", range(len(CASES) + len(RAMPS)))
def test_their_marked_copies_compute(
    class_of_nine: tuple[Path, list[dict[str, int]]], graded: list[Graded], number: int, tmp_path: Path
) -> None:
    path, _ = class_of_nine
    with zipfile.ZipFile(path) as sent, zipfile.ZipFile(path.with_name("back.zip")) as back:
        assert back.namelist() == sent.namelist()
        copy = tmp_path / "copy.xlsx"
        copy.write_bytes(back.read(back.namelist()[number]))
    verify(copy)
    page = openpyxl.load_workbook(copy, data_only=True)["Feedback"]
    assert page["B4"].value == pytest.approx(graded[number].share)
