"""Ramps that were handed in: whatever answer is right counts, and the marks go back."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES, verify
from pseudo import PSEUDO, pseudo_language

import attn_xl
from attn_xl.choices import Language
from attn_xl.languages import speaking
from attn_xl.spreadsheets.addresses import address
from attn_xl.teaching.grading.grade_class import grade_class
from attn_xl.teaching.grading.grade_sheets import grades_layout
from attn_xl.teaching.grading.results import Graded, Status
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.teaching.lessons.ramp import PAGES, Answer, ramp_layout, ramp_pages
from attn_xl.workbook.write import write_layout

ASKED = {page.name: page.asked for page in ramp_pages(7, "s01")}
ALL = {name: len(asked) for name, asked in ASKED.items()}


def hand_in(path: Path, change: dict[str, dict[int, object]], **options: object) -> Path:
    """A ramp filled in rightly but for some answers, by page and number of the answer."""
    write_layout(ramp_layout(7, "s01", name="Ada", **options), path)  # type: ignore[arg-type]
    fill_in(path, ASKED, change)
    return path


def fill_in(path: Path, asked: dict[str, list[Answer]], change: dict[str, dict[int, object]]) -> None:
    book = openpyxl.load_workbook(path)
    for name, answers in asked.items():
        for number, answer in enumerate(answers):
            own = change.get(name, {})
            book[name].cell(*answer.cell).value = own.get(number, answer.solution)
    book.save(path)


def graded(path: Path, **options: object) -> Graded:
    (one,) = grade_class([path], jobs=1, **options)  # type: ignore[arg-type]
    assert one.status is Status.marked, one.remarks
    return one


def test_all_right(tmp_path: Path) -> None:
    one = graded(hand_in(tmp_path / "ramp.xlsx", {}))
    assert (one.id, one.name, one.share, one.cells) == ("s01", "Ada", 1.0, ())
    assert one.steps == {name: (count, count) for name, count in ALL.items()}


CASES: list[tuple[str, dict[int, object], int]] = [
    ("Dot product", {0: 1000, 1: None, 2: "many"}, 3),
    ("Dot product", {0: "=1+1000"}, 1),
    ("Softmax of scores", {-2: 7, -1: 7}, 0),  # other scores that are equal
    ("Softmax of scores", {-2: 7, -1: 8}, 2),
    ("Exponentials and shares", {-2: 2, -1: 6}, 0),
    ("Exponentials and shares", {-2: 0, -1: 0}, 2),
    ("Attention of two words", {-2: -3, -1: -3}, 0),
    ("One word's attention", {-3: 1, -2: 9, -1: 0}, 0),
    ("One word's attention", {-3: 9, -2: 1, -1: 0}, 3),
    ("One word's attention", {-4: "nobody"}, 1),
    ("One word's attention", {-4: 3}, 1),
    ("Weighted mean", {0: "0,5"}, 1),
    ("One word's attention", {0: 50}, 1),  # the weights are right, but do not follow from it
    ("Attention of two words", {0: 50, 4: 35.355}, 1),  # the scaled score follows from it
]
"""Answers other than those of the solution, counted from the first or, below 0, from the last; and how
many marks they cost."""


@pytest.mark.parametrize(("page", "change", "lost"), CASES)
def test_what_an_answer_is_worth(
    page: str, change: dict[int, object], lost: int, tmp_path: Path
) -> None:
    count = ALL[page]
    one = graded(
        hand_in(tmp_path / "r.xlsx", {page: {at % count: value for at, value in change.items()}})
    )
    assert one.steps[page] == (count - lost, count)
    assert one.points == sum(ALL.values()) - lost
    assert len(one.cells) == lost
    assert {cell.step for cell in one.cells} <= {page}


def test_a_changed_mark_is_not_a_mark(tmp_path: Path) -> None:
    path = hand_in(tmp_path / "r.xlsx", {"Dot product": {0: 1000}})
    book = openpyxl.load_workbook(path)
    book["Dot product"].cell(*ASKED["Dot product"][0].mark).value = "✓"
    book.save(path)
    assert graded(path).steps["Dot product"][0] == ALL["Dot product"] - 1


def test_a_page_that_is_gone_is_named_and_not_marked(tmp_path: Path) -> None:
    path = hand_in(tmp_path / "r.xlsx", {})
    book = openpyxl.load_workbook(path)
    del book["Dot product"]
    book.save(path)
    one = graded(path)
    assert "Dot product" not in one.steps
    assert one.share is None
    assert one.remarks == ("Not found, so not marked, and no total: Dot product.",)


def test_an_exam_has_no_marks_but_is_marked(tmp_path: Path) -> None:
    path = hand_in(tmp_path / "r.xlsx", {"Dot product": {0: 1000}}, exam=True)
    assert graded(path).points == sum(ALL.values()) - 1


def test_the_marked_copy_and_the_grades(tmp_path: Path) -> None:
    path = hand_in(tmp_path / "r.xlsx", {"Dot product": {0: 1000, 1: None}})
    one = graded(path, feedback=tmp_path / "back")
    verify(tmp_path / "back" / "r.xlsx")
    book = openpyxl.load_workbook(tmp_path / "back" / "r.xlsx", data_only=True)
    texts = [
        cell.value for row in book["Feedback"].iter_rows() for cell in row if cell.value is not None
    ]
    first, second, third = ASKED["Dot product"][:3]
    assert {"Feedback: Ada (s01)", f"Dot product!{address(*first.cell)}", "problem 1"} <= {*texts}
    page = book["Dot product"]
    assert [page.cell(*one.mark).value for one in (first, second, third)] == ["✗", None, "✓"]
    assert page.cell(*first.cell).value == 1000
    write_layout(grades_layout([one]), tmp_path / "grades.xlsx")
    verify(tmp_path / "grades.xlsx")


def test_a_lesson_with_a_ramp(tmp_path: Path) -> None:
    tables = attn_xl.read_tables(SAMPLES / "by-hand.xlsx")
    path = tmp_path / "lesson.xlsx"
    write_lesson(tables, path, lesson=Lesson(ramp=True, seed=3, level=1))
    asked = {page.name: page.asked for page in ramp_pages(3, "")}
    fill_in(path, asked, {"Dot product": {0: 1000}})
    one = graded(path, feedback=tmp_path / "back")
    pages = {name: one.steps[name] for name, _ in PAGES}
    assert sum(points for points, _ in pages.values()) == sum(map(len, asked.values())) - 1
    assert one.steps["Q"] == (0, 3)
    verify(tmp_path / "back" / "lesson.xlsx")


def test_words_of_a_ramp_are_those_of_its_language(tmp_path: Path) -> None:
    path = tmp_path / "r.xlsx"
    with pseudo_language():
        with speaking(PSEUDO):
            layout = ramp_layout(7, "s01")
            asked = {page.name: page.asked for page in ramp_pages(7, "s01")}
        write_layout(layout, path, settings=attn_xl.Settings(language=Language(PSEUDO)))
        assert str([*asked.values()][-2][-4].solution).startswith("ж")
        fill_in(path, asked, {})
        assert graded(path).share == 1.0
