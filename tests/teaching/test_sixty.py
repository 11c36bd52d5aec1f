"""A class of sixty with one lesson for all: what each student did and the marks it is worth stand here
first; then the submissions come as the .zip of a learning platform, and everything goes back."""

from __future__ import annotations

import csv
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
from attn_xl.errors import CallError, InputError
from attn_xl.teaching.grading.feedback import by_cause
from attn_xl.teaching.grading.grade_class import grade_class
from attn_xl.teaching.grading.grade_sheets import grades_layout
from attn_xl.teaching.grading.grade_text import canvas_csv, moodle_csv, without_id
from attn_xl.teaching.grading.handed_in import owner_of
from attn_xl.teaching.grading.results import Graded, Status
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.workbook.write import write_layout

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
    guess: str = ""


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


COLUMNS = {"Q": "q1 q2 q3 q4", "K": "k1 k2 k3 k4", "V": "v1 v2 v3 v4"}
CASES = [
    *[Case() for _ in range(8)],
    *[Case(s, changed(s, r, c, 1.37)) for s in STEPS for r, c in ((0, 1), (1, 0), (2, 2), (4, 3))],
    *[Case(s, exchanged(s, 0, 2, 1), f"exchanging the columns {COLUMNS[s].split()[0]} and "
           f"{COLUMNS[s].split()[2]}") for s in ("Q", "K", "V")],
    Case("Output", exchanged("Output", 1, 2, 0), "exchanging the rows cat and chased"),
    Case("Q", lambda w: X @ W_K, "using W_K instead of W_Q"),
    Case("K", lambda w: X @ W_Q, "using W_Q instead of W_K"),
    Case("V", lambda w: X @ W_Q, "using W_Q instead of W_V"),
    Case("Scores", without(1), "leaving out product 2, as if it were 0"),
    Case("Scores", without(2), "leaving out product 3, as if it were 0"),
    Case("Scores", without(0), "leaving out the first product"),
    Case("Scores", without(3), "leaving out the last product"),
    Case("Scaled", lambda w: w["Scores"], "forgetting to scale"),
    Case("Scaled", lambda w: w["Scores"] / 4, "dividing by d_k instead of √d_k"),
    Case("Scaled", lambda w: w["Scores"] * 2, "multiplying instead of dividing"),
    Case("Softmax", causal, "hiding later words, as with a causal mask"),
    Case("Softmax", lambda w: softmax(w["Scaled"].T).T, "softmax over the column instead of the row"),
    Case("Softmax", lambda w: 100 * softmax(w["Scaled"]), "a percentage instead of a fraction"),
    Case("Output", lambda w: w["Softmax"].T @ w["V"], "using a column of Softmax instead of the row"),
    Case("Output", lambda w: np.round(MADE["Output"](w)), "rounding to whole numbers"),
    Case("Output", lambda w: np.round(MADE["Output"](w), 1), "rounding to one decimal"),
    Case("Output", lambda w: -MADE["Output"](w), "wrong sign"),
    *[Case("Softmax", changed("Softmax", r, c, 0.21)) for r, c in ((0, 0), (1, 1), (3, 3), (4, 4))],
]  # fmt: skip


FEW = (0, 10, 42, 50)
"""Students whose marked copies are recalculated."""


def filled(lesson: Path, path: Path, work: Work, texts: dict[str, str] | None = None) -> None:
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
            for cell, said in (texts or {}).items() if name == "Lesson" else ():
                said = f'<c r="{cell}" s="\\1" t="inlineStr"><is><t>{said}</t></is></c>'
                text, times = re.subn(rf'<c r="{cell}" s="(\d+)"\s*/>', said, text)
                assert times == 1, cell
            target.writestr(info.filename, text)


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lesson, its key, and what sixty students handed in, as Moodle exports it."""
    folder = tmp_path_factory.mktemp("sixty")
    few = zipfile.ZipFile(folder / "few.zip", "w")
    lesson = Lesson()
    write_lesson(TABLES, folder / "lesson.xlsx", settings=attn_xl.Settings(), lesson=lesson,
                 answers=folder / "key.xlsx")  # fmt: skip
    with zipfile.ZipFile(folder / "moodle.zip", "w") as export:
        for number, case in enumerate(CASES):
            copy = folder / "one.xlsx"
            predicted = {} if number % 3 else {"D22": "mouse" if number % 2 else "the"}
            filled(folder / "lesson.xlsx", copy, worked(case.step, case.slip), predicted)
            name = f"Student {number}_{1000 + number}_assignsubmission_file_/lesson.xlsx"
            export.write(copy, name)
            if number in FEW:
                few.write(copy, name)
        export.writestr("Late One_2000_assignsubmission_file_/scan.pdf", b"%PDF")
        export.writestr("Apple One_2001_assignsubmission_file_/lesson.numbers", b"x")
        export.writestr("__MACOSX/._lesson.xlsx", b"x")
    few.close()
    return folder


@pytest.fixture(scope="module")
def graded(handed: Path) -> dict[str, Graded]:
    found = grade_class([handed / "moodle.zip"], answers=handed / "key.xlsx", jobs=1)
    return {one.id: one for one in found if one.status is Status.marked} | {
        one.file: one for one in found if one.status is not Status.marked
    }


def test_there_are_sixty() -> None:
    assert len(CASES) >= 60


@pytest.mark.parametrize("number", range(len(CASES)))
def test_the_marks_are_those_written_down(graded: dict[str, Graded], number: int) -> None:
    case, one = CASES[number], graded[str(1000 + number)]
    assert one.name == f"Student {number}"
    marks = points(worked(case.step, case.slip))
    assert {step: given for step, (given, _) in one.steps.items()} == marks
    if case.step:
        assert marks[case.step] < RIGHT[case.step].size
    if case.guess:
        wrong = [cell for cell in one.cells if cell.step == case.step and cell.verdict.credit == 0]
        assert wrong
        assert {cell.guess for cell in wrong} == {case.guess}
        assert len(by_cause(one.cells)) == 1  # one line, however many cells


def test_other_formats_are_named(graded: dict[str, Graded]) -> None:
    for file, why in (("scan.pdf", "pages, not cells"), ("lesson.numbers", "Export To > Excel")):
        assert graded[file].status is Status.skipped
        assert why in " ".join(graded[file].remarks)
    assert "._lesson.xlsx" not in graded


def test_marked_copies_go_back_under_the_same_names(
    handed: Path, graded: dict[str, Graded], tmp_path: Path
) -> None:
    key, returned = handed / "key.xlsx", handed / "back.zip"
    grade_class([handed / "few.zip"], answers=key, feedback=returned, jobs=1)
    with zipfile.ZipFile(handed / "few.zip") as sent, zipfile.ZipFile(returned) as back:
        assert sent.namelist() == back.namelist()
        for number in FEW:
            name = f"Student {number}_{1000 + number}_assignsubmission_file_/lesson.xlsx"
            copy = tmp_path / f"{number}.xlsx"
            copy.write_bytes(back.read(name))
            verify(copy)
            page = openpyxl.load_workbook(copy, data_only=True)["Feedback"]
            assert page["B4"].value == pytest.approx(graded[str(1000 + number)].share)


def test_gradebooks_can_be_imported(graded: dict[str, Graded]) -> None:
    found = [graded[str(1000 + number)] for number in range(len(CASES))]
    missing = Graded(None, Status.missing, "9", "=Nobody")
    moodle = list(csv.DictReader(moodle_csv([*found, missing], "Email address").splitlines()))
    assert [row["Email address"] for row in moodle] == [*(one.id for one in found), "9"]
    assert moodle[0]["Grade"] == "100.00"
    assert (moodle[-1]["Grade"], moodle[-1]["Full name"]) == ("", "'=Nobody")
    nobody = Graded(Path("x.xlsx"), Status.marked, "", "Jean", {"Q": (1, 2)})
    assert without_id([*found, nobody]) == ["Jean"]
    assert moodle_csv([*found, nobody]) == moodle_csv(found)  # Moodle would import nothing
    canvas = list(csv.reader(canvas_csv(found, "SIS Login ID").splitlines()))
    assert canvas[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lesson"]
    assert canvas[1][0].strip() == "Points Possible"
    assert canvas[1][5] == "100"
    for row, one in zip(canvas[2:], found):
        assert row[:5] == [one.name, "", "", one.id, ""]
        assert float(row[5]) == pytest.approx(100 * (one.share or 0), abs=0.005)
    with pytest.raises(CallError, match="Canvas knows ID, SIS User ID, SIS Login ID"):
        canvas_csv(found, "Email")


def test_predictions_are_collected(graded: dict[str, Graded], tmp_path: Path) -> None:
    found = [one for one in graded.values() if one.status is Status.marked]
    write_layout(grades_layout(found), tmp_path / "g.xlsx")
    verify(tmp_path / "g.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "g.xlsx")["Predictions"]
    table = {row[0]: row[1:5] for row in sheet.iter_rows(5, 11, values_only=True)}
    asked = [number for number in range(len(CASES)) if not number % 3]
    best = RIGHT["Scores"][0].argmax()  # "the" looks for itself
    assert best == 0
    right = sum(number % 2 == 0 for number in asked)
    assert table["Scores"] == (right, len(asked) - right, 0, len(CASES) - len(asked))
    assert len(sheet._charts) == 1


@pytest.mark.parametrize(
    ("path", "name", "number"),
    [
        ("Ada Lovelace_123_assignsubmission_file_/lesson.xlsx", "Ada Lovelace", "123"),
        ("x/Ada Lovelace_123_assignsubmission_file_lesson.xlsx", "Ada Lovelace", "123"),
        ("x/lovelaceada_5511_778899_lesson.xlsx", "lovelaceada", "5511"),
        ("x/lovelaceada_LATE_5511_778899_lesson-1.xlsx", "lovelaceada", "5511"),
        ("x/Ada Lovelace - lesson.xlsx", "Ada Lovelace", ""),
        ("x/lesson.xlsx", "", ""),
        ("x/my_lesson_final.xlsx", "", ""),
        ("x/smith-jonesmary_LATE_55_77_lesson-2.xlsx", "smith-jonesmary", "55"),
        ("x/मोहन_55_66_lesson.xlsx", "मोहन", "55"),
        ("Ana-María Núñez_12_assignsubmission_file/Lección.xlsx", "Ana-María Núñez", "12"),
        ("x/Jean-Luc Picard - lesson.xlsx", "Jean-Luc Picard", ""),
        ("x/मोहन राव - lesson (1).xlsx", "मोहन राव", ""),
        ("x/Ada Lovelace - lesson - Copy.xlsx", "Ada Lovelace", ""),
        ("x/lesson - Copy (2).xlsx", "", ""),
        ("Ada Lovelace_123_assignsubmission_file_/my/work/lesson (1).xlsx", "Ada Lovelace", "123"),
        ("x/2026-11-22 - lesson.xlsx", "", ""),
    ],
)
def test_exports_name_the_student(path: str, name: str, number: str) -> None:
    found = owner_of(Path(path))
    assert (found.name, found.number) == (name, number)


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


def test_files_of_one_name_all_go_back(handed: Path, tmp_path: Path) -> None:
    """In one folder of a student, and in exports of two groups."""
    filled(handed / "lesson.xlsx", tmp_path / "one.xlsx", RIGHT)
    for group in ("a", "b"):
        with zipfile.ZipFile(tmp_path / f"{group}.zip", "w") as export:
            for name in ("lesson.xlsx", "lesson.xlsm"):
                export.write(tmp_path / "one.xlsx", f"Ada_1_assignsubmission_file_/{name}")
    exports, back = [tmp_path / "a.zip", tmp_path / "b.zip"], tmp_path / "back.zip"
    found = grade_class(exports, answers=handed / "key.xlsx", feedback=back, jobs=1)
    assert sum(bool(one.feedback) for one in found) == 4
    with zipfile.ZipFile(back) as archive:
        assert archive.namelist() == [
            f"Ada_1_assignsubmission_file_/lesson{number}.xlsx"
            for number in ("", " (2)", " (3)", " (4)")
        ]


def test_a_damaged_zip_is_an_error(tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("a/../../../x.xlsx", b"PK")
        archive.writestr("b.xlsx", b"not a workbook")
    found = grade_class([bad], jobs=1)
    assert [one.status for one in found] == [Status.failed, Status.failed]
    assert not (tmp_path.parent / "x.xlsx").exists()
    content = bytearray(bad.read_bytes())
    at = content.find(b"not a workbook")
    content[at : at + 3] = b"XXX"
    bad.write_bytes(content)
    with pytest.raises(InputError, match="cannot be unpacked"):
        grade_class([bad], jobs=1)


def test_nothing_in_the_lesson_for_all_is_left_to_chance(handed: Path) -> None:
    verify(handed / "lesson.xlsx")
    verify(handed / "key.xlsx")
