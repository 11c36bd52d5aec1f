"""Every text that a student or a teacher reads can be translated: in a language that brackets each
text of the catalogue, nothing but names, numbers and the input's own words stands without brackets."""

from __future__ import annotations

import re
from gettext import NullTranslations
from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES

import attn_xl
from attn_xl import languages
from attn_xl.choices import Language
from attn_xl.settings import Arrangement
from attn_xl.teaching.grading.grade_class import grade_class, summary
from attn_xl.teaching.grading.grade_sheets import grades_layout
from attn_xl.teaching.grading.results import Status
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.teaching.lessons.question_bank import questions
from attn_xl.teaching.lessons.ramp import PAGES, ramp_layout
from attn_xl.text import capitalized
from attn_xl.workbook.write import write_layout

ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
GERMAN = attn_xl.Settings(language=Language.de, controls=True, layout=Arrangement.sheets)
TABLES = attn_xl.read_tables(SAMPLES / "by-hand.xlsx")


class Bracketed(NullTranslations):
    """A language in which each text stands in brackets."""

    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


@pytest.fixture(autouse=True)
def bracketed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_catalogue", lambda language: Bracketed())


def outside(text: str) -> str:
    """A text without what stands in brackets."""
    while (shorter := re.sub(r"⟦[^⟦⟧]*⟧", "", text)) != text:
        text = shorter
    return text


def plain_texts(path: Path, *sheets: str) -> list[str]:
    """The texts in a workbook's own pages, formulas and prompts included, with English outside of
    brackets."""
    book = openpyxl.load_workbook(path)
    found = []
    for sheet in book:
        if sheet.title not in (sheets or book.sheetnames):
            continue
        found += [str(cell.value) for row in sheet.iter_rows() for cell in row if cell.value]
        for choice in sheet.data_validations.dataValidation:
            found += [choice.prompt or "", choice.promptTitle or ""]
    return [text for text in found if ENGLISH.search(outside(text))]


@pytest.mark.parametrize("exam", [False, True])
def test_a_lesson(tmp_path: Path, exam: bool) -> None:
    path = tmp_path / "lesson.xlsx"
    write_lesson(TABLES, path, settings=GERMAN, lesson=Lesson(exam=exam, level=3))
    assert plain_texts(path, "Lesson", "Hints") == []


def test_a_ramp(tmp_path: Path) -> None:
    with languages.speaking("de"):
        write_layout(ramp_layout(1, solved=True), tmp_path / "ramp.xlsx", settings=GERMAN)
    assert {*plain_texts(tmp_path / "ramp.xlsx")} <= {name for name, _ in PAGES}  # links to sheets


def test_marks_feedback_and_grades(tmp_path: Path) -> None:
    lesson, marked = tmp_path / "in" / "one.xlsx", tmp_path / "back"
    lesson.parent.mkdir()
    write_lesson(TABLES, lesson, settings=GERMAN)
    book = openpyxl.load_workbook(lesson)
    for cells in book["Scores"]["B5:F6"]:
        for cell in cells:
            cell.value = 7.25
    book["Scores"]["B7"] = "seven"
    book["Lesson"]["D20"] = "something"
    book.save(lesson)
    graded = grade_class([lesson.parent], feedback=marked, jobs=1)
    assert {one.status for one in graded} == {Status.marked}
    assert not [r for one in graded for r in one.remarks if ENGLISH.search(outside(r))]
    with languages.speaking("de"):
        assert ENGLISH.search(outside(summary(graded))) is None
    assert plain_texts(marked / "one.xlsx", "Feedback") == []
    with languages.speaking("de"):
        write_layout(grades_layout(graded), tmp_path / "grades.xlsx", settings=GERMAN)
    assert plain_texts(tmp_path / "grades.xlsx") == []


def test_questions() -> None:
    for question in questions(TABLES, GERMAN, Lesson(), 1):
        assert not ENGLISH.search(outside(re.sub("<[^>]*>", " | ", question.html)))


def test_a_question_begins_with_a_capital_behind_its_opening_mark() -> None:
    assert capitalized("¿puede una palabra?") == "¿Puede una palabra?"
    assert [capitalized(text) for text in ("", "¿", "welches Wort", "词")] == [
        "",
        "¿",
        "Welches Wort",
        "词",
    ]
