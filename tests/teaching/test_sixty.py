"""A class of sixty with one lesson for all: what each student did and the marks it is worth are written
here first; then a folder of workbooks is marked."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, verify

import attn_xl
from attn_xl.teaching.grading.grade_class import grade_class
from attn_xl.teaching.grading.results import Graded, Status
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson

TABLES = attn_xl.read_tables(SAMPLES / "by-hand.xlsx")
X = next(iter(TABLES.sentences.values())).values
W_Q, W_K, W_V = (TABLES.weights[name].values for name in ("W_Q", "W_K", "W_V"))
STEPS = ("Q", "K", "V", "Scores", "Scaled", "Softmax", "Output")
Work = dict[str, np.ndarray]


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x)
    return powers / powers.sum(axis=1, keepdims=True)


MADE: dict[str, Callable[[Work], np.ndarray]] = {
    "Q": lambda w: X @ W_Q,
    "K": lambda w: X @ W_K,
    "V": lambda w: X @ W_V,
    "Scores": lambda w: w["Q"] @ w["K"].T,
    "Scaled": lambda w: w["Scores"] / 2,
    "Softmax": lambda w: softmax(w["Scaled"]),
    "Output": lambda w: w["Softmax"] @ w["V"],
}


def worked(step: str = "", slip: Callable[[Work], np.ndarray] | None = None) -> Work:
    """All steps in order; one of them with a slip, and those after it from what it gave."""
    work: Work = {}
    for name in STEPS:
        work[name] = slip(work) if slip and name == step else MADE[name](work)
    return work


RIGHT = worked()


def near(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.round(np.abs(a - b) - 0.01 * np.maximum(1, np.abs(b)), 12) <= 0


def points(work: Work) -> dict[str, int]:
    """The marks: a number is right, or follows from the student's own."""
    return {
        step: int((near(work[step], RIGHT[step]) | near(work[step], MADE[step](work))).sum())
        for step in STEPS
    }


class Case(NamedTuple):
    step: str = ""
    slip: Callable[[Work], np.ndarray] | None = None


def exchanged(step: str, i: int, j: int, axis: int) -> Callable[[Work], np.ndarray]:
    def slip(work: Work) -> np.ndarray:
        made = MADE[step](work)
        order = list(range(made.shape[axis]))
        order[i], order[j] = j, i
        return made.take(order, axis=axis)

    return slip


def changed(step: str, row: int, column: int, by: float) -> Callable[[Work], np.ndarray]:
    def slip(work: Work) -> np.ndarray:
        made = np.array(MADE[step](work))
        made[row, column] += by
        return made

    return slip


def without(k: int) -> Callable[[Work], np.ndarray]:
    """The scores with one product left out throughout."""
    return lambda w: w["Q"] @ w["K"].T - np.outer(w["Q"][:, k], w["K"][:, k])


def causal(work: Work) -> np.ndarray:
    powers = np.tril(np.exp(work["Scaled"]))
    return powers / powers.sum(axis=1, keepdims=True)


CASES = [
    *[Case() for _ in range(8)],
    *[Case(s, changed(s, r, c, 1.37)) for s in STEPS for r, c in ((0, 1), (1, 0), (2, 2), (4, 3))],
    *[Case(s, exchanged(s, 0, 2, 1)) for s in ("Q", "K", "V")],
    Case("Output", exchanged("Output", 1, 2, 0)),
    Case("Q", lambda w: X @ W_K),
    Case("K", lambda w: X @ W_Q),
    Case("V", lambda w: X @ W_Q),
    Case("Scores", without(1)),
    Case("Scores", without(2)),
    Case("Scores", without(0)),
    Case("Scores", without(3)),
    Case("Scaled", lambda w: w["Scores"]),
    Case("Scaled", lambda w: w["Scores"] / 4),
    Case("Scaled", lambda w: w["Scores"] * 2),
    Case("Softmax", causal),
    Case("Softmax", lambda w: softmax(w["Scaled"].T).T),
    Case("Softmax", lambda w: 100 * softmax(w["Scaled"])),
    Case("Output", lambda w: w["Softmax"].T @ w["V"]),
    Case("Output", lambda w: np.round(MADE["Output"](w))),
    Case("Output", lambda w: np.round(MADE["Output"](w), 1)),
    Case("Output", lambda w: -MADE["Output"](w)),
    *[Case("Softmax", changed("Softmax", r, c, 0.21)) for r, c in ((0, 0), (1, 1), (3, 3), (4, 4))],
]  # fmt: skip


def filled(lesson: Path, path: Path, work: Work) -> None:
    """A copy of a lesson with numbers in its cells, written into the XML as programs save them."""
    with zipfile.ZipFile(lesson) as source, zipfile.ZipFile(path, "w") as target:
        names = re.findall(r'<sheet [^>]*?name="([^"]+)"', source.read("xl/workbook.xml").decode())
        for info in source.infolist():
            text = source.read(info).decode("utf-8")
            found = re.fullmatch(r"xl/worksheets/sheet(\d+)\.xml", info.filename)
            name = names[int(found[1]) - 1] if found else ""
            if name in work:
                numbers = {
                    f"{'BCDEFG'[column]}{5 + row}": float(work[name][row, column])
                    for row, column in np.ndindex(*work[name].shape)
                }
                text, times = re.subn(
                    r'<c r="([B-G]\d+)" s="(\d+)"\s*/>',
                    lambda m: f'<c r="{m[1]}" s="{m[2]}"><v>{numbers[m[1]]!r}</v></c>',  # noqa: B023
                    text,
                )
                assert times == work[name].size, name
            target.writestr(info.filename, text)


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the lesson and its key, and in `class` what sixty students handed in."""
    folder = tmp_path_factory.mktemp("sixty")
    write_lesson(TABLES, folder / "lesson.xlsx", settings=attn_xl.Settings(), lesson=Lesson(),
                 answers=folder / "key.xlsx")  # fmt: skip
    (folder / "class").mkdir()
    for number, case in enumerate(CASES):
        copy = folder / "class" / f"{number:02}.xlsx"
        filled(folder / "lesson.xlsx", copy, worked(case.step, case.slip))
    (folder / "class" / "scan.pdf").write_bytes(b"%PDF")
    return folder


@pytest.fixture(scope="module")
def graded(handed: Path) -> dict[str, Graded]:
    found = grade_class([handed / "class"], answers=handed / "key.xlsx", jobs=1)
    return {one.file: one for one in found}


def test_there_are_sixty() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_marks_are_those_written_down(graded: dict[str, Graded], number: int) -> None:
    case, one = CASES[number], graded[f"{number:02}.xlsx"]
    marks = points(worked(case.step, case.slip))
    assert {step: given for step, (given, _) in one.steps.items()} == marks
    if case.step:
        assert marks[case.step] < RIGHT[case.step].size


def test_other_formats_are_named(graded: dict[str, Graded]) -> None:
    assert graded["scan.pdf"].status is Status.skipped
    assert "Ask for the .xlsx" in " ".join(graded["scan.pdf"].remarks)


def test_marked_copies_compute(handed: Path, graded: dict[str, Graded], tmp_path: Path) -> None:
    few = [handed / "class" / f"{number:02}.xlsx" for number in (0, 10, 42, 50)]
    grade_class(few, answers=handed / "key.xlsx", feedback=tmp_path, jobs=1)
    for path in few:
        verify(tmp_path / path.name)
        page = openpyxl.load_workbook(tmp_path / path.name, data_only=True)["Feedback"]
        assert page["B4"].value == pytest.approx(graded[path.name].share)


def test_the_key_alone_decides(handed: Path, tmp_path: Path) -> None:
    """A tolerance, a blank or a number that a student changed has no effect, and is said."""
    copy = tmp_path / "copy.xlsx"
    filled(handed / "lesson.xlsx", copy, worked("Q", changed("Q", 0, 0, 0.4)))
    book = openpyxl.load_workbook(copy)
    for row in book["Settings"].iter_rows(max_col=2):
        if row[0].value == "lesson tolerance":
            row[1].value = 0.9
        if row[0].value == "blank Q":
            row[0].value = None
    book["Input"]["B5"] = 77
    book.save(copy)
    (with_key,) = grade_class([copy], answers=handed / "key.xlsx", jobs=1)
    assert with_key.steps["Q"] == (19, 20)
    said = " ".join(with_key.remarks)
    assert "lesson tolerance = 0.9, the key has 0.01" in said
    assert "was edited: lesson tolerance = 0.9; a line is missing" in said
    assert "Input!B5 is 77" in said
    (alone,) = grade_class([copy], jobs=1)
    assert "was edited: lesson tolerance = 0.9" in " ".join(alone.remarks)
    (key,) = grade_class([handed / "key.xlsx"], jobs=1)
    assert key.status is Status.skipped


def test_nothing_in_the_lesson_for_all_is_left_to_chance(handed: Path) -> None:
    verify(handed / "lesson.xlsx")
    verify(handed / "key.xlsx")
