"""What a teacher sees of a lesson and of an exam: names, texts, pages."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, by_libreoffice, thorough, verify
from engines import recalculated_by_libreoffice

from attn_xl import read_tables
from attn_xl.settings import Arrangement, Settings
from attn_xl.teaching.grading.grade_class import grade_class
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.text import text_width
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.page import NOTHING

CANVAS = Settings(layout=Arrangement.layers)
STEPS = ["Q", "K", "V", "Scores", "Scaled", "Softmax", "Output"]
FIRST = 19
"""The row of the first step on the first page."""

TABLES = read_tables(SAMPLES / "by-hand.xlsx")


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
    layout = write_lesson(TABLES, path, settings=CANVAS, lesson=Lesson(level=2))
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


@thorough
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


@thorough
def test_what_waits_for_numbers_and_the_record_are_not_printed(tmp_path: Path) -> None:
    """Their print areas are a blank cell, and no titles repeat; what is printed stands before them."""
    for path in lessons(tmp_path):
        sheets = openpyxl.load_workbook(path).worksheets
        unprinted = [s.title for s in sheets if s.print_area.endswith(f"${NOTHING[1:]}")]
        assert unprinted == [s.title for s in sheets][-len(unprinted) :]
        overview = ["Overview"] * (path.stem != "exam")
        assert unprinted == ["Compare", *overview, "Settings"]
        assert not any(s.print_title_rows or s.print_title_cols for s in sheets[-len(unprinted) :])


@by_libreoffice
def test_pages_that_libreoffice_prints(tmp_path: Path) -> None:
    """The cover, two sentences and the hints of a lesson; an exam has no hints."""
    printed = recalculated_by_libreoffice(lessons(tmp_path), tmp_path / "out", to="pdf")
    assert [len(re.findall(rb"/Type */Page\b", path.read_bytes())) for path in printed] == [4, 3]


def test_the_sample_prints_on_three_pages(tmp_path: Path) -> None:
    """Each sheet on one; `Settings` and what waits for numbers on none. The letters of the first page
    have more than 6 points."""
    path = tmp_path / "l.xlsx"
    settings = Settings(layout=Arrangement.layers, controls=True)
    write_lesson(TABLES, path, settings=settings, lesson=Lesson(level=2))
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


def cut_off(path: Path) -> set[str]:
    """The cells whose text ends at a cell beside them that is not blank."""
    found = set()
    for sheet in openpyxl.load_workbook(path).worksheets:
        widths = {
            number: column.width
            for column in sheet.column_dimensions.values()
            for number in range(column.min or 0, (column.max or 0) + 1)
        }
        merged = {(one.min_row, one.min_col): one.max_col for one in sheet.merged_cells.ranges}
        for row in sheet.iter_rows():
            for cell in row:
                aligned = cell.alignment
                if not isinstance(cell.value, str) or aligned.wrap_text or cell.value.startswith("="):
                    continue
                if aligned.horizontal == "right":
                    continue
                last = merged.get((cell.row, cell.column), cell.column)
                room = sum(widths.get(column, 8.43) for column in range(cell.column, last + 1))
                while last < sheet.max_column and sheet.cell(cell.row, last + 1).value is None:
                    last += 1
                    room += widths.get(last, 8.43)
                if last < sheet.max_column and text_width(cell.value) > room + 1.5:
                    found.add(f"{sheet.title}!{cell.coordinate}")
    return found


@thorough
@pytest.mark.parametrize("layout", [Arrangement.layers, Arrangement.sheets])
def test_no_text_is_cut_off_in_a_lesson_and_its_feedback(layout: Arrangement, tmp_path: Path) -> None:
    """Headings of marks stand beside each other, over columns that are narrow."""
    path, back = tmp_path / "lesson.xlsx", tmp_path / "back"
    settings = Settings(layout=layout, controls=True)
    write_lesson(read_tables(SAMPLES / "by-hand.xlsx"), path, settings=settings, lesson=Lesson(level=3))
    assert cut_off(path) == set()
    grade_class([path], feedback=back)
    assert cut_off(back / "lesson.xlsx") == set()
