"""What a teacher sees of a lesson and of an exam: names, texts, pages, answers to predictions."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, by_libreoffice, verify
from test_languages import cut_off
from test_sixty import RIGHT, TABLES

from attn_xl import read_tables
from attn_xl.settings import Arrangement, Language, Settings
from attn_xl.spreadsheets.engines import recalculated_by_libreoffice
from attn_xl.teaching.grading.grade_class import grade_class
from attn_xl.teaching.grading.grade_sheets import grades_layout
from attn_xl.teaching.grading.results import Graded, Prediction, Status
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.teaching.lessons.pages import LINE
from attn_xl.teaching.lessons.predictions import came_out
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.page import NOTHING
from attn_xl.workbook.write import write_layout

CANVAS = Settings(layout=Arrangement.layers)
STEPS = ["Q", "K", "V", "Scores", "Scaled", "Softmax", "Output"]
FIRST = 19
"""The row of the first step on the first page."""


def texts(path: Path) -> list[str]:
    book = openpyxl.load_workbook(path)
    return [
        str(cell.value)
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, str)
    ]


def test_steps_of_a_canvas_go_by_their_own_names(tmp_path: Path) -> None:
    path = tmp_path / "l.xlsx"
    layout = write_lesson(TABLES, path, settings=CANVAS)
    cover = openpyxl.load_workbook(path)["Lesson"]
    found = [cover.cell(FIRST + i, 1) for i in range(len(STEPS))]
    assert [cell.value for cell in found] == STEPS
    for cell, node in zip(found, layout.blanks.open):
        place = layout.blocks[node].place
        assert cell.hyperlink.location == f"Canvas!{place.range.partition(':')[0]}"
    marks = [text for text in texts(path) if text.startswith("marks of ")]
    assert marks == [f"marks of {step}" for step in STEPS]


@alike
@pytest.mark.parametrize("sample", ["by-hand", "mouse", "masks", "encoder", "cross"])
@pytest.mark.parametrize("arrangement", [None, Arrangement.layers])
def test_an_exam_offers_no_marks_and_nothing_to_change(
    sample: str, arrangement: Arrangement | None, tmp_path: Path
) -> None:
    path = tmp_path / "e.xlsx"
    tables = read_tables(SAMPLES / f"{sample}.xlsx")
    settings = Settings.resolve({}, tables.settings, "")
    write_lesson(tables, path, settings=replace(settings, layout=arrangement), lesson=Lesson(exam=True))
    for text in texts(path):
        assert "Your marks" not in text
        assert "marks of" not in text
        assert "watch" not in text
        assert "Change " not in text, text
        assert "hange a" not in text, text


def shown_twice(layout: Layout) -> list[str]:
    """Cells whose answer a cell of the same step, for the same words, shows."""
    blank, shown = defaultdict(set), defaultdict(set)
    for node, cells in layout.blanks.open.items():
        for row, column in np.ndindex(*node.shape):
            key = node.base_name, node.rows[row], node.columns[column]
            value = round(float(node.values[row, column]), 9)
            (blank if cells[row, column] else shown)[key].add(value)
    return [str(key) for key in blank if blank[key] & shown[key]]


@pytest.mark.parametrize("level", [1, 2])
def test_a_repeated_word_does_not_answer_itself(level: int, tmp_path: Path) -> None:
    path = tmp_path / "e.xlsx"
    lesson = Lesson(level=level)
    assert bool(shown_twice(write_lesson(TABLES, path, lesson=lesson))) is (level == 1)
    for sample in ("by-hand", "mouse"):
        tables = read_tables(SAMPLES / f"{sample}.xlsx")
        layout = write_lesson(tables, path, lesson=replace(lesson, exam=True))
        assert not shown_twice(layout)
    verify(path)


def test_predictions_are_answered_once_a_step_is_right(tmp_path: Path) -> None:
    from ironcalc import load_from_xlsx

    path = tmp_path / "l.xlsx"
    write_lesson(TABLES, path, settings=Settings())
    book = openpyxl.load_workbook(path)
    for step in STEPS[:-1]:
        for row, column in np.ndindex(*RIGHT[step].shape):
            book[step].cell(5 + row, 2 + column).value = float(RIGHT[step][row, column])
    book.save(path)
    model = load_from_xlsx(str(path), "en", "UTC", "en")
    model.evaluate()
    said = {s: model.get_formatted_cell_value(0, FIRST + i, 9) for i, s in enumerate(STEPS)}
    assert said.pop("Output") == ""
    assert all(said.values())
    top = RIGHT["Softmax"][0].max()
    assert said["Softmax"].startswith(f"At “the”, with {top:.2f} of its attention.")
    scores, scaled = np.ptp(RIGHT["Scores"][0]), np.ptp(RIGHT["Scaled"][0])
    assert f"the largest was {scores:g} and is {scaled:g}. Why by √d_k?" in said["Scaled"]
    choices = {str(dv.sqref): dv.formula1 for dv in book["Lesson"].data_validations.dataValidation}
    assert choices[f"D{FIRST + 3}"] == '"cat,chased,mouse,the"'
    assert "same order; smaller differences" in choices[f"D{FIRST + 4}"]


def test_a_lesson_prints_on_few_pages(tmp_path: Path) -> None:
    """Its cover on one page, its steps on another."""
    path = tmp_path / "l.xlsx"
    write_lesson(TABLES, path, settings=CANVAS)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Lesson", "Canvas", "Hints", "Settings"]
    for title in ("Lesson", "Canvas", "Hints"):
        assert book[title].page_setup.fitToHeight == 1, title
    assert [sheet.title for sheet in book if sheet.sheet_state != "visible"] == ["Settings"]


def lessons(folder: Path) -> list[Path]:
    """A lesson and an exam with the sheets Controls and Compare."""
    tables, paths = read_tables(SAMPLES / "mouse.xlsx"), []
    for exam in (False, True):
        paths.append(folder / f"{'exam' if exam else 'lesson'}.xlsx")
        settings = Settings(layout=Arrangement.layers, controls=not exam)
        write_lesson(tables, paths[-1], settings=settings, lesson=Lesson(exam=exam))
    return paths


def test_what_waits_for_numbers_and_the_record_are_not_printed(tmp_path: Path) -> None:
    """Their print areas are a blank cell, and no titles repeat; what is printed stands before them."""
    for path in lessons(tmp_path):
        sheets = openpyxl.load_workbook(path).worksheets
        unprinted = [s.title for s in sheets if s.print_area.endswith(f"${NOTHING[1:]}")]
        assert unprinted == [s.title for s in sheets][-len(unprinted) :]
        assert [*unprinted] == ["Controls", "Compare", "Settings"][path.stem == "exam" :]
        assert not any(s.print_title_rows or s.print_title_cols for s in sheets[-len(unprinted) :])


@by_libreoffice
def test_pages_that_libreoffice_prints(tmp_path: Path) -> None:
    """The cover, two sentences and the hints of a lesson; an exam has no hints."""
    printed = recalculated_by_libreoffice(lessons(tmp_path), tmp_path / "out", to="pdf")
    assert [len(re.findall(rb"/Type */Page\b", path.read_bytes())) for path in printed] == [4, 3]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_sample_prints_on_three_pages(language: str, tmp_path: Path) -> None:
    """Each sheet on one; `Settings` and what waits for numbers on none; the answers to the predictions
    on none either, so that the first page fills its paper with letters of more than 6 points."""
    path = tmp_path / "l.xlsx"
    settings = Settings(layout=Arrangement.layers, controls=True, language=Language(language))
    write_lesson(TABLES, path, settings=settings)
    verify(path)
    book = openpyxl.load_workbook(path)
    printed = [sheet for sheet in book if not sheet.print_area.endswith(f"${NOTHING[1:]}")]
    assert [sheet.title for sheet in printed][::2] == ["Lesson", "Hints"]
    assert len(printed) == 3
    assert all((sheet.page_setup.fitToWidth or 1) == 1 for sheet in printed)
    assert all(sheet.page_setup.fitToHeight == 1 for sheet in printed)
    cover = printed[0]
    assert cover.print_area == f"'Lesson'!$A$1:$G${FIRST + len(STEPS) - 1}"
    characters = sum(cover.column_dimensions[letter].width for letter in "ABCDEFG")
    points = (cover["B6"].font.sz or 11) * 745 / (characters * 5.25)  # of 745 points across A4
    assert points > 6


def test_words_that_tie_are_all_right(tmp_path: Path) -> None:
    """Two words with equal numbers tie for the best match: the lesson names both, either is right."""
    from ironcalc import load_from_xlsx

    table = tmp_path / "tie.csv"
    table.write_text("word,a,b\nfox,1,0\ncat,3,2\ndog,3,2\n")
    settings = Settings(layout=Arrangement.layers, random_weights=3)
    path, key = tmp_path / "l.xlsx", tmp_path / "key.xlsx"
    layout = write_lesson(read_tables(table), path, settings=settings, answers=key)
    nodes = {node.name: node for node in layout.blanks.open}
    solved = openpyxl.load_workbook(key, data_only=True)
    book = openpyxl.load_workbook(path)
    for node in nodes.values():
        place = layout.blocks[node].place
        for cell in (c for row in book[place.sheet][place.range.replace("$", "")] for c in row):
            cell.value = solved[place.sheet][cell.coordinate].value
    book.save(path)
    model = load_from_xlsx(str(path), "en", "UTC", "en")
    model.evaluate()
    said = model.get_formatted_cell_value(0, FIRST + STEPS.index("Softmax"), 9)
    tied = came_out(nodes["Softmax"])
    assert len(tied) == 2
    assert said.startswith(f"At “{tied[0]}” / “{tied[1]}”, with ")


@pytest.mark.parametrize(
    ("expected", "outcome"),
    [
        ("no", "as it came out"),
        ("No, since equal rows give equal queries", "as it came out"),
        ("yes: the words differ", "otherwise"),
        ("not that I know", "in words"),
        ("nobody", "in words"),
        ("", "no prediction"),
    ],
)
def test_a_prediction_may_be_followed_by_its_reason(expected: str, outcome: str) -> None:
    assert Prediction(expected, ("no",), ("no", "yes")).outcome == outcome


def test_of_choices_that_begin_alike_the_longest_counts() -> None:
    given = Prediction(
        "same order; smaller differences",
        ("same order",),
        ("same order", "same order; smaller differences"),
    )
    assert given.outcome == "otherwise"


@alike
@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("layout", [Arrangement.layers, Arrangement.sheets])
def test_no_text_is_cut_off_in_a_lesson_and_its_feedback(
    layout: Arrangement, language: Language, tmp_path: Path
) -> None:
    """Headings of marks stand beside each other, over columns that are narrow."""
    path, back = tmp_path / "lesson.xlsx", tmp_path / "back"
    settings = Settings(layout=layout, language=language, controls=True)
    write_lesson(read_tables(SAMPLES / "by-hand.xlsx"), path, settings=settings, lesson=Lesson(level=3))
    assert cut_off(path) == set()
    grade_class([path], feedback=back, jobs=1)
    assert cut_off(back / "lesson.xlsx") == set()


def test_rows_of_predictions_hold_their_lines(tmp_path: Path) -> None:
    """An answer that takes several lines does not run into the next student's."""
    long = "each word by itself, and each of them as much as all the others"
    one = Graded(Path("one.xlsx"), Status.marked, predictions={"Q": Prediction(long, ("no",))})
    short = replace(one, predictions={"Q": Prediction("no", ("no",))})
    write_layout(grades_layout([one, short]), tmp_path / "grades.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "grades.xlsx")["Predictions"]
    (row,) = [cell.row for line in sheet for cell in line if cell.value == long]
    assert sheet.row_dimensions[row].height > 3 * LINE
    assert sheet.row_dimensions[row + 1].height < 2 * LINE
