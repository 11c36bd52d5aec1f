"""A class whose mistakes are known, marked: each mark against the number written here."""

from __future__ import annotations

import csv
import datetime
import io
import math
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, make_input, thorough, verify
from engines import libreoffice, recalculated_by_libreoffice, store_values
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import differences_ironcalc
from typer.testing import CliRunner

import attn_xl
from attn_xl.cli.main import app, main
from attn_xl.errors import CallError, InputError, OutputError
from attn_xl.settings import Settings
from attn_xl.tables.survey import Table, Tables
from attn_xl.teaching.grading.grade_class import grade_class, submitted, summary, together
from attn_xl.teaching.grading.grade_file import Submission, grade_one, named_after
from attn_xl.teaching.grading.grades import Graded, Status
from attn_xl.teaching.grading.marking import Entry, Verdict, mark, near, read_entry
from attn_xl.teaching.lessons.answer_key import read_key
from attn_xl.teaching.lessons.blanks import Lesson, chosen_cells, results_of
from attn_xl.teaching.roster import Student
from attn_xl.workbook.layout.place import lay_out
from attn_xl.workbook.write import write_workbook

X = [["", "a", "b", "c", "d"], ["cat", 1, 0, 2, 1], ["sat", 0, 1, 1, 0], ["mat", 2, 1, 0, 0.5]]
N, D = 3, 4
CELLS = {"Scores": 9, "Scaled": 9, "Softmax": 9, "Output": 12}


class Filling:
    """A lesson that is filled in as a student would, with loops of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.book = openpyxl.load_workbook(path)
        sheet = self.book["Input"]
        self.x = [[float(sheet.cell(5 + i, 2 + j).value) for j in range(D)] for i in range(N)]
        self.scores = [[sum(a * b for a, b in zip(p, q)) for q in self.x] for p in self.x]
        self.follow()

    def follow(self, scaled: bool = True, softmax: bool = True) -> None:
        """The later steps from those before."""
        if scaled:
            self.scaled = [[s / 2 for s in row] for row in self.scores]
        if softmax:
            self.softmax = []
            for row in self.scaled:
                powers = [math.exp(s - max(row)) for s in row]
                self.softmax.append([p / sum(powers) for p in powers])
        self.output = [
            [sum(w * v[j] for w, v in zip(row, self.x)) for j in range(D)] for row in self.softmax
        ]

    def write(self, *, only: tuple[str, ...] = tuple(CELLS)) -> None:
        for step in only:
            first = 11 if step == "Softmax" else 2  # maximum, exponentials and sum are to its left
            for i, row in enumerate(getattr(self, step.lower())):
                for j, value in enumerate(row):
                    self.book[step].cell(5 + i, first + j).value = value

    def put(self, step: str, cell: str, value: Any) -> None:
        self.book[step][cell] = value

    def save(self) -> None:
        self.book.save(self.path)
        store_values(self.path)


Fill = Callable[[Filling], None]


class Case(NamedTuple):
    fill: Fill
    points: tuple[int, int, int, int]  # Scores, Scaled, Softmax, Output
    said: tuple[str, ...] = ()
    verdicts: dict[str, str] = {}  # noqa: RUF012


def right(f: Filling) -> None:
    f.write()


def slip_followed(f: Filling) -> None:
    f.scores[0][0] += 1
    f.follow()
    f.write()


def slip_then_truth(f: Filling) -> None:
    f.write()
    f.put("Scores", "B5", f.scores[0][0] + 1)


def slip_scaled_then_truth(f: Filling) -> None:
    f.scaled[1][2] += 3
    f.write()


def two_slips(f: Filling) -> None:
    f.scores[0][0] += 1
    f.follow()
    f.softmax[0][1] += 0.5
    f.follow(scaled=False, softmax=False)
    f.write()


def own_formulas(f: Filling) -> None:
    f.write(only=("Scaled", "Output"))
    for i in range(N):
        for j in range(N):
            cell = f"{'BCD'[j]}{5 + i}"
            f.put("Scores", cell, f"=SUMPRODUCT(Input!$B{5 + i}:$E{5 + i},Input!$B${5 + j}:$E${5 + j})")
            total = "+".join(f"EXP(Scaled!{letter}{5 + i})" for letter in "BCD")
            f.put("Softmax", f"{'KLM'[j]}{5 + i}", f"=EXP(Scaled!{cell})/({total})")


def own_wrong_formula(f: Filling) -> None:
    f.write()
    f.put("Scores", "C6", "=SUM(Input!B6:E6)+100")


def blanks(f: Filling) -> None:
    f.write(only=("Scores", "Scaled"))
    f.put("Scaled", "D7", None)


def blank_upstream_truth_after(f: Filling) -> None:
    f.write()
    for cell in ("B5", "C5", "D5"):
        f.put("Scores", cell, None)


def text(f: Filling) -> None:
    f.write()
    f.put("Scores", "B5", "twelve")
    f.put("Output", "B5", "=1+")


def decimal_commas(f: Filling) -> None:
    f.write()
    for i in range(N):
        for j in range(N):
            f.put("Softmax", f"{'KLM'[j]}{5 + i}", f"{f.softmax[i][j]:.4f}".replace(".", ","))


def percents_and_minus(f: Filling) -> None:
    f.write()
    f.put("Softmax", "K5", f"{100 * f.softmax[0][0]:.3f} %")
    f.put("Scores", "B5", f" {f.scores[0][0]:g}.0 ")
    f.put("Scores", "C5", f"\u2212{f.scores[0][1] + 5:g}")


def rounded(f: Filling) -> None:
    for name in ("softmax", "output", "scaled"):
        setattr(f, name, [[round(v, 2) for v in row] for row in getattr(f, name)])
    f.write()


def too_rounded(f: Filling) -> None:
    f.write()
    f.put("Softmax", "K5", round(f.softmax[0][0], 2) + 0.05)


def changed_input(f: Filling) -> None:
    f.write()
    f.put("Input", "C6", 55)


def switch(f: Filling) -> None:
    f.write()
    f.put("Overview", "A5", "off")
    f.put("Overview", "C5", 2)


def sheet_deleted(f: Filling) -> None:
    f.write()
    del f.book["Softmax"]
    del f.book.defined_names["Softmax"]


def input_deleted(f: Filling) -> None:
    f.write()
    del f.book["Input"]


def sheet_renamed(f: Filling) -> None:
    f.write()
    f.book["Scaled"].title = "My scaled"
    f.book.defined_names["Scaled"].attr_text = "'My scaled'!$B$5:$D$7"


def sheet_renamed_without_names(f: Filling) -> None:
    f.write()
    f.book["Scaled"].title = "My scaled"
    f.book.defined_names.clear()


def error_values(f: Filling) -> None:
    f.write()
    f.put("Scaled", "B5", "=1/0")
    f.put("Scaled", "C5", "#N/A")


def record_edited(f: Filling) -> None:
    f.write()
    f.put("Scores", "B5", f.scores[0][0] + 0.5)
    for row in f.book["Settings"].iter_rows(max_col=2):
        if row[0].value == "lesson tolerance":
            row[1].value = 0.9


def settings_deleted(f: Filling) -> None:
    f.write()
    del f.book["Settings"]


def like_google(f: Filling) -> None:
    """Names, document properties and all but 15 digits are lost."""
    slip_followed(f)
    f.book.defined_names.clear()
    f.book.properties.creator = "Google"
    for sheet in f.book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if isinstance(cell.value, float):
                    cell.value = float(f"{cell.value:.15g}")
                cell.style = "Normal"


def inserted(f: Filling) -> None:
    f.write()
    f.book["Output"].insert_rows(2, 3)
    f.book["Output"].insert_cols(1)
    f.book.defined_names["Output"].attr_text = "Output!$C$8:$F$10"


def inserted_without_names(f: Filling) -> None:
    inserted(f)
    f.book.defined_names.clear()


def row_deleted(f: Filling) -> None:
    f.write()
    f.book["Output"].delete_rows(6)
    f.book.defined_names["Output"].attr_text = "Output!$B$5:$E$6"


def a_date(f: Filling) -> None:
    f.write()
    f.put("Scores", "B5", datetime.date(2024, 2, 1))
    f.put("Scores", "C5", True)


def not_scaled(f: Filling) -> None:
    f.scaled = [[s / 4 for s in row] for row in f.scores]
    f.follow(scaled=False)
    f.write()


def over_columns(f: Filling) -> None:
    columns = list(zip(*f.scaled))
    f.softmax = [
        [math.exp(s) / sum(map(math.exp, columns[j])) for j, s in enumerate(row)] for row in f.scaled
    ]
    f.follow(scaled=False, softmax=False)
    f.write()


def nothing(f: Filling) -> None:
    pass


GOOGLE = {"Scores!B5": "wrong", "Scaled!B5": "followed", "Output!B5": "followed"}
CASES: dict[str, Case] = {
    "right": Case(right, (9, 9, 9, 12)),
    "slip, followed": Case(slip_followed, (8, 9, 9, 12), (), GOOGLE),
    "blanks": Case(blanks, (9, 8, 0, 0), (), {"Scaled!D7": "blank", "Output!E7": "blank"}),
    "not scaled": Case(not_scaled, (9, 0, 9, 12), (), {"Scaled!B5": "wrong", "Softmax!K5": "?"}),
    "text": Case(
        text,
        (8, 9, 9, 11),
        ("Not numbers: Scores!B5: the text “twelve”",),
        {"Scores!B5": "not a number", "Output!B5": "not a number"},
    ),
    "input changed": Case(
        changed_input, (9, 9, 9, 12), ("Given numbers were changed: Input!C6 is 55, was",)
    ),
    "switches": Case(
        switch,
        (9, 9, 9, 12),
        (
            "Scale was set to off; marked with the original setting, on.",
            "Temperature was set to 2; marked",
        ),
    ),
    "input deleted": Case(
        input_deleted, (9, 9, 9, 12), ("The given numbers of Input on “Input” were not found",)
    ),
    "record edited": Case(record_edited, (8, 9, 9, 12), (), {"Scores!B5": "wrong"}),
    "google": Case(like_google, (8, 9, 9, 12), (), GOOGLE),
    "slip, then true": Case(slip_then_truth, (8, 9, 9, 12), (), {"Scores!B5": "wrong"}),
    "slip scaled": Case(slip_scaled_then_truth, (9, 8, 9, 12), (), {"Scaled!D6": "wrong"}),
    "two slips": Case(
        two_slips, (8, 9, 8, 12), (), {"Scores!B5": "wrong", "Softmax!L5": "wrong", "Output!C5": "?"}
    ),
    "formulas": Case(own_formulas, (9, 9, 9, 12)),
    "a wrong formula": Case(own_wrong_formula, (8, 9, 9, 12), (), {"Scores!C6": "wrong"}),
    "blank, then true": Case(blank_upstream_truth_after, (6, 9, 9, 12), (), {"Scores!C5": "blank"}),
    "commas": Case(decimal_commas, (9, 9, 9, 12), ("Numbers typed as text: Softmax!K5: “0,",)),
    "percent": Case(
        percents_and_minus,
        (8, 9, 9, 12),
        ("the percentage ", "read as -"),
        {"Scores!C5": "wrong"},
    ),
    "rounded": Case(rounded, (9, 9, 9, 12)),
    "too rounded": Case(too_rounded, (9, 9, 8, 12), (), {"Softmax!K5": "wrong"}),
    "sheet deleted": Case(
        sheet_deleted,
        (9, 9, 0, 12),
        ("Not found, so not marked, and no total: Softmax.",),
    ),
    "sheet renamed": Case(sheet_renamed, (9, 9, 9, 12)),
    "renamed, no names": Case(
        sheet_renamed_without_names,
        (9, 0, 9, 12),
        ("Not found, so not marked, and no total: Scaled.",),
    ),
    "errors": Case(
        error_values,
        (9, 7, 9, 12),
        ("Scaled!B5: the error value #DIV/0!", "Scaled!C5: the error value #N/A"),
        {"Scaled!B5": "not a number"},
    ),
    "settings deleted": Case(settings_deleted, (9, 9, 9, 12), ("The sheet “Settings” is missing",)),
    "inserted": Case(inserted, (9, 9, 9, 12)),
    "inserted, no names": Case(
        inserted_without_names, (9, 9, 9, 0), ("Not found, so not marked, and no total: Output.",)
    ),
    "row deleted": Case(
        row_deleted, (9, 9, 9, 0), ("Not found, so not marked, and no total: Output.",)
    ),
    "a date": Case(a_date, (7, 9, 9, 12), ("the date or time 2024-02-01", "TRUE instead of a number")),
    "over columns": Case(  # the scores are symmetric, so on the diagonal it makes no difference
        over_columns, (9, 9, 3, 12), (), {"Softmax!K6": "wrong", "Softmax!L6": "right"}
    ),
    "nothing": Case(nothing, (0, 0, 0, 0), ("Nothing was filled in.",), {"Scores!B5": "blank"}),
    "libreoffice": Case(slip_followed, (8, 9, 9, 12), (), GOOGLE),
}
NOT_FOUND = [
    ("sheet deleted", "Softmax"),
    ("renamed, no names", "Scaled"),
    ("inserted, no names", "Output"),
    ("row deleted", "Output"),
]
"""Steps that are not where they were, nor have a name that tells where they are."""
FEW = 10
"""The students of a class without --thorough."""
EXTRA = ("absent", "twice", "another's", "broken")


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Path:
    """The class, filled in, in a folder."""
    folder = tmp_path_factory.mktemp("school")
    if not pytestconfig.getoption("--thorough"):
        for name in list(CASES)[FEW:]:
            del CASES[name]
    source = make_input(folder / "in.xlsx", {"s": X})
    names = [*CASES, *EXTRA]
    roster = folder / "roster.csv"
    lines = [f"s{n:02},{name.title().replace(',', '')}" for n, name in enumerate(names)]
    roster.write_text("id,name\n" + "\n".join(lines))
    teach(source, "--roster", roster, "-o", folder / "class")
    for number, case in enumerate(CASES.values()):
        filling = Filling(path_of(folder, number))
        case.fill(filling)
        filling.save()
    if pytestconfig.getoption("--thorough") and libreoffice():
        number = list(CASES).index("libreoffice")
        path = path_of(folder, number)
        (folder / "lo").mkdir()
        (made,) = recalculated_by_libreoffice([path], folder / "lo")
        shutil.copy(made, path)
    absent, twice, other, broken = (path_of(folder, len(CASES) + n) for n in range(len(EXTRA)))
    absent.unlink()
    for path in (twice, other):
        filling = Filling(path)
        filling.write()
        filling.save()
    shutil.copy(twice, folder / "class" / "again.xlsx")
    shutil.copy(path_of(folder, 0), other)  # the first one's lesson, under a name that is not theirs
    broken.write_bytes(b"PK\x03\x04 and no more")
    return folder


def path_of(folder: Path, number: int) -> Path:
    (path,) = (folder / "class").glob(f"s{number:02}-*.xlsx")
    return path


def teach(source: Path, *options: object) -> None:
    """Write lessons of whole matrices, each on a sheet, unless the options say otherwise."""
    if "--layout" not in options:
        options = (*options, "--layout", "sheets")
    if "--level" not in options and "--blank" not in options:
        options = (*options, "--blank", "all")
    with pytest.raises(SystemExit) as ended:
        main(["teach", str(source), *map(str, options), "--force"])
    assert ended.value.code == 0


class Grading(NamedTuple):
    """What `attn-xl grade` returned and printed for the class, and what it computed."""

    status: int
    printed: str
    results: list[Graded]


@pytest.fixture(scope="module")
def grading(school: Path) -> Grading:
    """The class graded by the command, with marked copies in `fb`."""
    results: list[Graded] = []

    def recorded(*args: Any, **options: Any) -> list[Graded]:
        results.extend(grade_class(*args, **options))
        return results

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attn_xl.teaching.grading.grade_class.grade_class", recorded)
        status, printed, _ = grade(
            school / "class", "-o", school / "grades.xlsx", "--csv", school / "grades.csv",
            "--answers", school / "class-answers.xlsx", "--feedback", school / "fb",
            "--template", "print",
        )  # fmt: skip
    return Grading(status, printed, results)


@pytest.fixture(scope="module")
def graded(grading: Grading) -> dict[str, list[Graded]]:
    by_id: dict[str, list[Graded]] = {}
    for one in grading.results:
        by_id.setdefault(one.id, []).append(one)
    return by_id


@thorough
@pytest.mark.parametrize("name", CASES)
def test_each_submission_is_marked_as_written_here(graded: dict[str, list[Graded]], name: str) -> None:
    case = CASES[name]
    one = graded[f"s{list(CASES).index(name):02}"][0]
    assert one.status is Status.marked, one.remarks
    points = dict(zip(CELLS, case.points))
    found = [step for step in CELLS if (name, step) not in NOT_FOUND]
    assert one.steps == {step: (points[step], CELLS[step]) for step in found}
    assert one.share == (sum(case.points) / 39 if len(found) == len(CELLS) else None)
    for said in case.said:
        assert any(said in remark for remark in one.remarks), one.remarks
    if not case.said and name != "right":
        assert one.remarks == ()
    verdicts = {cell.cell: cell.verdict.value for cell in one.cells}
    for cell, verdict in case.verdicts.items():
        assert verdicts.get(cell, "right") == verdict or (verdict == "?" and cell in verdicts)


def of(graded: dict[str, list[Graded]], name: str) -> dict[str, Any]:
    return {cell.cell: cell for cell in graded[f"s{list(CASES).index(name):02}"][0].cells}


@thorough
def test_why_a_cell_is_wrong_is_said_with_the_students_own_numbers(
    graded: dict[str, list[Graded]],
) -> None:
    slip = of(graded, "slip, followed")
    wrong, after = slip["Scores!B5"], slip["Scaled!B5"]
    assert (wrong.number, wrong.follows) == (wrong.right + 1, wrong.right)
    assert wrong.name == "Scores[cat, cat]"
    assert wrong.worked.count("·") == D
    assert wrong.worked.endswith(f" = {wrong.right:g}")
    assert (after.number, after.follows) == (wrong.number / 2, wrong.number / 2)
    assert after.right == wrong.right / 2
    assert after.worked == f"{wrong.number:g} / 2 = {wrong.number / 2:g}"
    blank = of(graded, "blanks")["Softmax!M7"]
    assert (blank.follows, blank.worked) == (None, "")


def test_who_is_missing_who_handed_in_twice_and_what_is_broken(
    graded: dict[str, list[Graded]], school: Path
) -> None:
    absent, twice, other, broken = (f"s{len(CASES) + n:02}" for n in range(len(EXTRA)))
    (one,) = graded[absent]
    assert (one.status, one.remarks) == (Status.missing, ("Nothing was handed in.",))
    both = graded[twice]
    assert {one.file for one in both} == {path_of(school, len(CASES) + 1).name, "again.xlsx"}
    assert [one.status for one in both] == [Status.marked, Status.repeated]
    assert both[0].remarks[0] == (
        f"The same lesson was also handed in as {both[1].file}. The best one counts: this one."
    )
    assert both[1].remarks[0].endswith(f"The best one counts: {both[0].file}.")
    first = graded["s00"]
    assert len(first) == 2
    (borrowed,) = [one for one in first if "Another" in one.file]
    assert borrowed.remarks[0] == (
        f"The file is named after {other} (Another'S), but it holds the lesson of s00."
    )
    (left,) = graded[other]
    assert left.status is Status.missing
    assert left.remarks == ("Nothing was handed in; the file with their name holds the lesson of s00.",)
    (failed,) = graded[""]
    assert failed.status is Status.failed
    assert failed.remarks[0].startswith("Not marked: is damaged or not a spreadsheet")
    (theirs,) = graded[broken]
    assert "could not be marked" in theirs.remarks[0]


def test_without_the_key_a_changed_input_is_said_loudly(school: Path) -> None:
    number = list(CASES).index("input changed")
    one = grade_one(Submission(path_of(school, number)))
    assert one.remarks == (
        "GIVEN NUMBERS, WORDS OR SETTINGS WERE CHANGED: marked with the changed ones. Only an "
        "answer key (--answers) has the originals.",
    )
    assert one.steps["Scores"][0] < 9
    same = grade_one(Submission(path_of(school, list(CASES).index("google"))))
    assert (same.points, same.remarks) == (38, ())
    switched = grade_one(Submission(path_of(school, list(CASES).index("switches"))))
    assert switched.points == 39
    assert "Scale was set to off" in switched.remarks[0]
    edited = grade_one(Submission(path_of(school, list(CASES).index("record edited"))))
    assert edited.points == 39  # without the key, the file is trusted
    assert "SETTINGS WERE CHANGED" in edited.remarks[0]
    deleted = grade_one(Submission(path_of(school, list(CASES).index("input deleted"))))
    assert deleted.status is Status.failed
    assert "the table Input" in deleted.remarks[0]


def test_feedback_is_right_and_says_why(school: Path, graded: dict[str, list[Graded]]) -> None:
    for name in ("slip, followed", "not scaled", "blanks", "text", "right"):
        path = school / "fb" / path_of(school, list(CASES).index(name)).name
        verify(path)
    book = openpyxl.load_workbook(school / "fb" / path_of(school, 1).name, data_only=True)
    assert book.sheetnames[0] == "Feedback"
    page = [[cell.value for cell in row] for row in book["Feedback"].iter_rows()]
    flat = [value for row in page for value in row if value is not None]
    assert "Feedback: Slip Followed (s01)" in flat
    assert "38 of 39 cells" in flat
    (mistake,) = [row for row in page if row[0] == "Scores!B5"]
    entered, by_own, true = mistake[2:5]
    assert (entered, by_own) == (true + 1, true)
    assert f" = {true:g}" in mistake[6]
    assert "(✓)" in [cell.value for row in book["Scaled"].iter_rows() for cell in row]
    assert "✗" in [cell.value for row in book["Scores"].iter_rows() for cell in row]
    assert book["Scores"]["B5"].value == entered
    missing = openpyxl.load_workbook(
        school / "fb" / path_of(school, list(CASES).index("blanks")).name, data_only=True
    )
    assert missing["Scaled"]["D7"].value is None
    assert not list((school / "fb").glob("*broken*"))


def grade(*options: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["grade", *map(str, options)], standalone_mode=False)
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    return int(result.return_value or 0), result.stdout, ""


def test_the_command_writes_what_it_says(
    school: Path, grading: Grading, graded: dict[str, list[Graded]]
) -> None:
    status, printed, _ = grading
    out, table = school / "grades.xlsx", school / "grades.csv"
    assert status == 1  # one could not be marked
    assert "1 not marked; 2 superseded; 3 missing" in printed
    assert printed.splitlines()[0].split() == ["id", "name", "total", *CELLS, "remarks"]
    assert "\x1b" not in printed
    verify(out)
    book = openpyxl.load_workbook(out)
    assert book.sheetnames == ["Grades", "Cells"]
    sheet = book["Grades"]
    assert [sheet.cell(4, c).value for c in range(1, 12)] == [
        "id", "name", "file", "status", "total", "points", "cells", *CELLS]  # fmt: skip
    assert (sheet["D6"].value, sheet["E6"].value) == ("marked", "=F6/G6")
    assert sheet["F6"].value == "=SUM(H6:K6)"
    values = openpyxl.load_workbook(out, data_only=True)["Grades"]
    assert values["E6"].value == 1
    verify(out)
    last = next(row[0].row for row in values.iter_rows(min_col=3, max_col=3)
                if str(row[0].value).startswith("mean of"))  # fmt: skip
    # Each student counts once: one of the lesson that came twice, none of a copy under another's name.
    shares = [sum(case.points) / 39 for name, case in CASES.items() if name not in dict(NOT_FOUND)]
    shares.append(1.0)
    assert values.cell(last, 5).value == pytest.approx(sum(shares) / len(shares))
    wrong = [row for row in book["Cells"].iter_rows(min_row=5, values_only=True) if row[0]]
    assert len(wrong) == sum(len(one.cells) for same in graded.values() for one in same)
    rows = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8-sig"))))
    assert rows[0]["total %"] == "100.0"
    assert {row["id"]: row["Scores"] for row in rows}["s01"] == "8"
    assert len(rows) == len(CASES) + 4 + 3  # twice: two; another's: of s00 two; broken: two
    assert len(list((school / "fb").glob("*.xlsx"))) == len(CASES) + 3


def test_nothing_is_overwritten_unasked(school: Path, tmp_path: Path) -> None:
    one = path_of(school, 0)
    out = tmp_path / "grades.xlsx"
    assert grade(one, "-o", out, "--feedback", tmp_path / "fb")[0] == 0
    before = out.read_bytes()
    with pytest.raises(CallError, match="exists already"):
        grade(one, "-o", out)
    with pytest.raises(CallError, match="exists already"):
        grade(one, "-o", tmp_path / "new.xlsx", "--feedback", tmp_path / "fb")
    with pytest.raises(OutputError, match=r"marked copies in .*fb are complete"):
        grade(one, "-o", tmp_path / "no" / "g.xlsx", "--feedback", tmp_path / "fb", "--force")
    assert grade(one, "-o", out, "--feedback", tmp_path / "fb", "--force")[0] == 0
    assert out.read_bytes() == before
    with pytest.raises(CallError, match="is the input"):
        grade(one, "-o", tmp_path / "g.csv", "--feedback", one.parent, "--force")
    with pytest.raises(CallError, match="is the input"):
        grade(one, "-o", one, "--force")
    # Grades in the folder of the lessons are no lesson, and are replaced when asked for.
    shutil.copytree(tmp_path / "fb", tmp_path / "all")
    shutil.copy(one, tmp_path / "all" / "lesson.xlsx")
    shutil.copy(out, tmp_path / "all")
    status, printed, _ = grade(tmp_path / "all", "-o", tmp_path / "all" / "grades.xlsx", "--force")
    assert status == 0
    assert "1 marked, mean 100.0 %; 1 skipped" in printed
    assert "Skipped: feedback from an earlier run." in printed


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["-o", "grades.txt"], "ends in .xlsx or .csv"),
        (["--csv", "grades.txt"], "ends in .csv"),
        (["-o", "a.csv", "--csv", "a.csv"], "cannot be the same file"),
        (["--template", "none"], "no such template"),
    ],
)
def test_mistakes_in_the_call(
    school: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], match: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CallError, match=match):
        grade(path_of(school, 0), *options)
    assert not list(tmp_path.iterdir())


def test_files_are_found(school: Path, tmp_path: Path) -> None:
    assert submitted([school / "class" / "s0*.xlsx"]) == submitted(
        sorted((school / "class").glob("s0*.xlsx"))
    )
    assert len(submitted([school / "class", school / "class"])) == len(CASES) + 4
    with pytest.raises(CallError, match="no spreadsheets in"):
        submitted([tmp_path])
    with pytest.raises(CallError, match="--feedback takes a folder"):
        grade_class([path_of(school, 0)], feedback=path_of(school, 1))
    with pytest.raises(InputError, match=r"is not an answer key.*leave out "):
        grade_class([path_of(school, 0)], answers=path_of(school, 1))
    with pytest.raises(InputError, match=r"is not an answer key"):
        grade_class([path_of(school, 0)], answers=SAMPLES / "mouse.xlsx")


def test_the_better_of_two_counts_whatever_its_name(school: Path, tmp_path: Path) -> None:
    better, worse = path_of(school, 0), path_of(school, list(CASES).index("blanks"))
    found = [grade_one(Submission(path)) for path in (worse, better)]
    one, other = together([replace(one, id="s1", path=Path(one.file)) for one in found])
    assert (one.status, other.status) == (Status.repeated, Status.marked)
    assert summary([one, other]) == "1 marked, mean 100.0 %; 1 superseded"


def test_without_anything_to_mark_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file could be marked, so no grades were written"):
        grade(tmp_path / "nosuch", "-o", tmp_path / "g.xlsx")
    assert not list(tmp_path.iterdir())


@thorough
def test_files_that_are_no_lessons_are_said_and_never_stop_the_rest(
    school: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    shutil.copy(path_of(school, 0), folder / "fine.xlsx")
    (folder / "empty.xlsx").write_bytes(b"")
    (folder / "text.xlsx").write_text("id,name")
    (folder / "~$fine.xlsx").write_bytes(b"\x05user")
    (folder / ".~lock.fine.xlsx").write_bytes(b",me")
    secret = bytes.fromhex("D0CF11E0A1B11AE1") + "EncryptedPackage".encode("utf-16-le")
    (folder / "secret.xlsx").write_bytes(secret)
    shutil.copy(school / "class-answers.xlsx", folder / "key.xlsx")
    shutil.copy(SAMPLES / "mouse.xlsx", folder / "mouse.xlsx")
    converted = attn_xl.attend(attn_xl.read_tables(SAMPLES / "politics.xlsx"), Settings(controls=True))
    write_workbook(converted, folder / "converted.xlsx", settings=Settings(controls=True))
    book = openpyxl.load_workbook(path_of(school, 0))
    lines = {row[0].value: row for row in book["Settings"].iter_rows()}
    lines["lesson tolerance"][1].value = "much"
    book.save(folder / "odd.xlsx")
    lines["lesson tolerance"][1].value = 0.01
    lines["lesson blank"][1].value = "Nothing"
    book.save(folder / "odd2.xlsx")
    lines["lesson level"][0].value = "lesson levels"
    book.save(folder / "odd3.xlsx")
    found = {one.file: one for one in grade_class([folder, folder / "none.xlsx"])}
    said = {name: (one.status.value, " ".join(one.remarks)) for name, one in found.items()}
    assert said["fine.xlsx"] == ("marked", "")
    for name, status, words in (
        ("empty.xlsx", "failed", "the file is empty"),
        ("text.xlsx", "failed", "is not a spreadsheet"),
        ("secret.xlsx", "failed", "protected by a password"),
        ("~$fine.xlsx", "skipped", "a lock file"),
        (".~lock.fine.xlsx", "skipped", "a lock file"),
        ("key.xlsx", "skipped", "an answer key"),
        ("mouse.xlsx", "failed", "has no sheet 'Settings'"),
        ("converted.xlsx", "failed", "is not a lesson"),
        ("odd.xlsx", "failed", "a line of the lesson was changed (could not convert"),
        ("odd2.xlsx", "failed", "there is no step 'Nothing'"),
        ("odd3.xlsx", "failed", "is not a lesson that this version of attn-xl wrote"),
        ("none.xlsx", "failed", "no such file"),
    ):
        assert said[name][0] == status, name
        assert words in said[name][1], said[name]
        assert str(folder) not in said[name][1]


def test_whatever_goes_wrong_is_a_remark(
    school: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import attn_xl.teaching.grading.grade_file

    def fail(*_: object) -> None:
        raise ZeroDivisionError("of a kind")

    monkeypatch.setattr(attn_xl.teaching.grading.grade_file, "read_record", fail)
    one = grade_one(Submission(path_of(school, 0)))
    assert (one.status, one.remarks) == (
        Status.failed,
        ("Not marked: a bug in attn-xl; please report it: ZeroDivisionError: of a kind.",),
    )


@thorough
def test_a_lesson_of_somebody_who_is_not_in_the_key(school: Path, tmp_path: Path) -> None:
    source = make_input(tmp_path / "in.xlsx", {"s": X})
    teach(source, "-o", tmp_path / "lesson.xlsx")
    filling = Filling(tmp_path / "lesson.xlsx")
    filling.write()
    filling.put("Lesson", "B4", "Kim =1+1")
    filling.save()
    key = school / "class-answers.xlsx"
    one = grade_one(Submission(tmp_path / "lesson.xlsx", key))
    assert (one.points, one.name, one.id) == (39, "Kim =1+1", "")
    assert one.remarks[0].startswith("This lesson belongs to nobody in the key")
    roster = tmp_path / "roster.csv"
    roster.write_text("id,name\nx1,Xaver")
    teach(source, "-o", tmp_path / "other", "--roster", roster)
    (other,) = grade_class([tmp_path / "other"], answers=key)[-1:]
    assert "belongs to “x1”, who is not in the key" in other.remarks[0]


def test_whose_file_it_is_shows_in_its_name_or_its_folder(school: Path, tmp_path: Path) -> None:
    key = school / "class-answers.xlsx"
    first = path_of(school, 0)
    for name, remark in (
        ("anything.xlsx", None),
        (f"upload_123_{first.name}", None),
        (f"{first.stem} (1).xlsx", None),
        ("Right_4711_assignsubmission_file/lesson.xlsx", None),
        ("Slip Followed_4711_assignsubmission_file/lesson.xlsx", "The file is named after s01"),
        ("s02 mine.xlsx", "The file is named after s02"),
        ("s021.xlsx", None),
        (path_of(school, 3).name, "The file is named after s03"),
    ):
        path = tmp_path / "names" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(first, path)
        one = next(one for one in grade_class([path], answers=key) if one.path)
        assert one.id == "s00"
        said = [text for text in one.remarks if text.startswith("The file is named after")]
        assert said[0].startswith(remark) if remark else not said, name


def test_a_name_is_known_however_its_letters_fold() -> None:
    students = [Student("s1", "Weiß", ""), Student("s2", "Wei", "")]
    assert named_after(Path("weiss-hw.xlsx"), students) == students[0]
    assert named_after(Path("WEIß_hw.xlsx"), students) == students[0]
    assert named_after(Path("Wei hw.xlsx"), students) == students[1]
    assert named_after(Path("weisser.xlsx"), students) is None


@thorough
@pytest.mark.parametrize(
    ("sample", "options"),
    [
        ("mouse", ["--level", 1]),
        pytest.param("multi-head", ["--level", 2, "--layout", "canvas"], marks=thorough),
        ("mouse", ["--blank", "Scores,Softmax.Sum", "--tolerance", 0.05]),
        pytest.param("multi-head", ["--level", 3, "--exam"], marks=thorough),
        pytest.param("multi-head", ["--sheets-for", "head1"], marks=thorough),
        ("masks", ["--level", 2]),
        pytest.param("dropout", ["--level", 3], marks=thorough),
        ("language-model", ["--level", 2, "--plain"]),
        ("cross", []),
        ("positions", ["--exam"]),
    ],
)
def test_every_kind_of_lesson(sample: str, options: list[Any], tmp_path: Path) -> None:
    """All right is 100 %; one wrong number costs one cell; by the key, and by the lesson itself."""
    roster = tmp_path / "roster.csv"
    roster.write_text("id,name\n1,Ada\n2,Bob")
    teach(SAMPLES / f"{sample}.xlsx", "--roster", roster, "-o", tmp_path / "class", *options)
    key = tmp_path / "class-answers.xlsx"
    answers = openpyxl.load_workbook(key)["Answers"]
    heads = [cell.value for cell in answers[4]]
    for row in (5, 6):
        path = tmp_path / "class" / answers.cell(row, 3).value
        book = openpyxl.load_workbook(path)
        cells = [(head, answers.cell(row, n).value) for n, head in enumerate(heads, 1) if n > 4]
        cells = [(head, value) for head, value in cells if value is not None]
        for head, value in cells:
            sheet, _, cell = head.rpartition("!")
            assert book[sheet][cell].value is None
            book[sheet][cell] = value
        book.save(path)
        for answer in (key, None):
            one = grade_one(Submission(path, answer, tmp_path / "fb.xlsx", force=True))
            assert one.status is Status.marked, one.remarks
            assert (one.share, one.most, one.remarks) == (1, len(cells), ())
        sheet, _, cell = cells[0][0].rpartition("!")
        book[sheet][cell] = cells[0][1] + 3
        book.save(path)
        one = grade_one(Submission(path, key, tmp_path / "fb.xlsx", force=True))
        assert one.points == len(cells) - 1
        assert not differences_ironcalc(tmp_path / "fb.xlsx", 1e-10, 1e-4)


def test_a_blank_stays_blank_whoever_saved_it(tmp_path: Path) -> None:
    """A cell that openpyxl writes as an empty number is not 0, also where formulas lack values."""
    source = make_input(tmp_path / "in.xlsx", {"s": X})
    teach(source, "-o", tmp_path / "lesson.xlsx")
    filling = Filling(tmp_path / "lesson.xlsx")
    filling.write()
    filling.put("Scores", "B5", None)
    filling.save()
    one = grade_one(Submission(tmp_path / "lesson.xlsx"))
    assert [(cell.cell, cell.verdict) for cell in one.cells] == [("Scores!B5", Verdict.blank)]


@pytest.mark.parametrize(
    ("value", "number", "remark"),
    [
        (None, None, ""),
        ("  \u00a0", None, ""),
        (0.5, 0.5, ""),
        (3, 3.0, ""),
        ("0,747", 0.747, "“0,747”, with a comma, read as 0.747"),
        ("0.747", 0.747, "“0.747” read as 0.747"),
        ("1.234,5", 1234.5, "with a comma"),
        ("1,234.5", 1234.5, "with a comma"),
        ("20,7 %", 0.207, "the percentage “20,7 %”, with a comma"),
        ("\u22121.5", -1.5, "read as -1.5"),
        ("- 1.5", -1.5, "read as -1.5"),
        ("1e-3", 0.001, "read as 0.001"),
        ("'2", 2.0, "read as 2"),
        ("1 234", 1234.0, "read as 1234"),
        ("abc", None, "the text “abc”"),
        ("1,2,3", None, "the text “1,2,3”"),
        ("1,234,567", 1234567.0, "with a comma, read as 1234567"),
        ("-1.234.567,8", -1234567.8, "with a comma"),
        ("1,234,567.8", 1234567.8, "with a comma"),
        (",5", 0.5, "read as 0.5"),
        ("1,5e3", 1500.0, "read as 1500"),
        ("12,34.5", None, "the text “12,34.5”"),
        ("1.5,3.2", None, "the text “1.5,3.2”"),
        (",", None, "the text “,”"),
        ("1/2", 0.5, "“1/2” read as 0.5"),
        ("1e999", None, "the text “1e999”"),
        ("x" * 99, None, "…"),
        (True, None, "TRUE instead of a number"),
        (float("inf"), None, "an infinite number"),
        (datetime.datetime(2024, 1, 2), None, "was a number turned into a date?"),
        (datetime.time(1, 2), None, "the date or time 01:02:00"),
    ],
)
def test_what_counts_as_a_number(value: Any, number: float | None, remark: str) -> None:
    entry = read_entry(value)
    assert entry.number == (None if number is None else pytest.approx(number, rel=1e-15))
    assert remark in entry.remark
    assert bool(entry.remark) == bool(remark)
    assert entry.blank == (number is None and not remark)


@pytest.mark.parametrize(
    ("entered", "right", "counts"),
    [(1.01, 1, True), (0.99, 1, True), (1.0101, 1, False), (99, 100, True), (98.9, 100, False),
     (0.01, 0, True), (-0.0101, 0, False)],
)  # fmt: skip
def test_how_near_counts_as_right(entered: float, right: float, counts: bool) -> None:
    assert near(entered, right, 0.01) is counts


@thorough
def test_the_key_keeps_what_was_drawn(tmp_path: Path) -> None:
    """Random masks are numbers of the key: no lesson draws them again."""
    roster = tmp_path / "roster.csv"
    roster.write_text("id,name\n1,Ada")
    teach(SAMPLES / "dropout.xlsx", "--roster", roster, "-o", tmp_path / "class")
    made = read_key(tmp_path / "class-answers.xlsx").make(Student("1", "Ada", ""))
    (mask,) = (one for one in made.layout.blocks.values() if one.node.name == "DropoutMask")
    (lesson,) = (tmp_path / "class").glob("*.xlsx")
    sheet = openpyxl.load_workbook(lesson)["DropoutMask"]
    n, m = mask.node.shape
    shown = [[sheet.cell(5 + i, 2 + j).value for j in range(m)] for i in range(n)]
    assert mask.node.values.tolist() == shown


def test_a_key_that_was_edited_marks_nobody(school: Path, tmp_path: Path) -> None:
    book = openpyxl.load_workbook(school / "class-answers.xlsx")
    book["Input"]["B5"].value += 1
    book.save(tmp_path / "key.xlsx")
    one = grade_one(Submission(path_of(school, 0), tmp_path / "key.xlsx"))
    assert one.status is Status.failed
    assert "no longer gives the lesson of s00. It was edited" in one.remarks[0]


def test_nothing_in_the_grades_is_a_formula(school: Path, tmp_path: Path) -> None:
    shutil.copy(path_of(school, 0), tmp_path / "=1+1.xlsx")
    shutil.copy(path_of(school, 1), tmp_path / "@x.xlsx")
    (tmp_path / "-2.xlsx").write_text("no")
    grade(tmp_path, "-o", tmp_path / "g.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "g.csv").read_text(encoding="utf-8-sig"))))
    assert {row["file"] for row in rows} == {"'=1+1.xlsx", "'@x.xlsx", "'-2.xlsx"}
    grade(tmp_path, "-o", tmp_path / "g.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "g.xlsx")["Grades"]
    formulas = [c.value for row in sheet.iter_rows(max_col=3) for c in row if c.data_type == "f"]
    assert formulas == []


numbers = st.one_of(
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["x", "0,5", "", 0, True]),
)


@thorough
@settings(deadline=None)
@given(st.data())
def test_marking_never_fails_and_right_is_all(data: st.DataObject) -> None:
    n, d = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    small = st.sampled_from([-1.0, 0.0, 1.0, 2.0, 0.5])
    values = np.array([[data.draw(small) for _ in range(d)] for _ in range(n)])
    words = tuple(f"w{i}" for i in range(n))
    columns = tuple(f"d{j}" for j in range(d))
    sentence = Table("s", values, words, columns, (True, True), "", "s", 2, 2)
    weights = {}
    if data.draw(st.booleans()):
        square = np.array([[data.draw(small) for _ in range(d)] for _ in range(d)])
        weights["W_Q"] = Table("W_Q", square, columns, columns, (True, True), "", "W_Q", 2, 2)
    tables = Tables(Path("in"), {"s": sentence}, weights)
    causal = data.draw(st.booleans())
    computation = attn_xl.attend(tables, Settings(controls=True, causal=causal))
    level = data.draw(st.integers(1, 3))
    opened = chosen_cells(lay_out(computation), Lesson(level, seed=data.draw(st.integers(0, 9))))
    results = results_of(computation)
    true = {node: [[Entry(v, "v") for v in row] for row in node.values.tolist()] for node in opened}
    marking = mark(results, opened, true, 0.01)
    assert all(points == cells for points, cells in map(marking.points, opened))
    entries = {
        node: [
            [read_entry(data.draw(numbers)) if data.draw(st.booleans()) else true[node][i][j]
             for j in range(node.shape[1])]
            for i in range(node.shape[0])
        ]
        for node in opened
    }  # fmt: skip
    marking = mark(results, opened, entries, 0.01)
    for node, cells in opened.items():
        points, most = marking.points(node)
        assert 0 <= points <= most == cells.sum()
        for i, j in np.argwhere(cells).tolist():
            verdict, entry = marking.verdicts[node][i][j], entries[node][i][j]
            assert (verdict is Verdict.blank) == entry.blank
            assert verdict is not None
            assert verdict.credit <= (entry.number is not None)
