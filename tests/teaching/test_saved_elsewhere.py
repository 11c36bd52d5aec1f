"""The same work, saved by other programs: without defined names, as values."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES, thorough
from openpyxl.utils.cell import range_boundaries

import attn_xl
from attn_xl.settings import Arrangement
from attn_xl.teaching.grading.grade_file import Submission, grade_one
from attn_xl.teaching.grading.grades import Graded
from attn_xl.teaching.lessons.lesson import write_lesson


@pytest.fixture(scope="module")
def perfect(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lesson on a canvas with every number right."""
    folder = tmp_path_factory.mktemp("elsewhere")
    tables = attn_xl.read_tables(SAMPLES / "by-hand.xlsx")
    layout = write_lesson(
        tables, folder / "lesson.xlsx", settings=attn_xl.Settings(layout=Arrangement.layers)
    )
    book = openpyxl.load_workbook(folder / "lesson.xlsx")
    for node in layout.blanks.open:
        sheet, _, cells = book.defined_names[node.name].attr_text.replace("$", "").rpartition("!")
        left, top, _, _ = range_boundaries(cells)
        for row, numbers in enumerate(node.values.tolist()):
            for column, number in enumerate(numbers):
                book[sheet.strip("'")].cell(top + row, left + column).value = number
    book.save(folder / "lesson.xlsx")
    return folder / "lesson.xlsx"


def nameless(path: Path, to: Path) -> None:
    """Paste the values alone, without defined names."""
    book = openpyxl.Workbook()
    del book["Sheet"]
    for source in openpyxl.load_workbook(path, data_only=True):
        copy = book.create_sheet(source.title)
        for cell in (cell for row in source.iter_rows() for cell in row if cell.value is not None):
            copy[cell.coordinate] = cell.value
    book.save(to)


@thorough
def test_perfect_work_is_perfect_if_only_its_values_were_saved(perfect: Path, tmp_path: Path) -> None:
    nameless(perfect, tmp_path / "one.xlsx")
    assert graded(tmp_path / "one.xlsx").share == 1


def test_what_is_not_found_has_no_marks(perfect: Path, tmp_path: Path) -> None:
    book = openpyxl.load_workbook(perfect)
    del book["Canvas"]
    book.save(tmp_path / "one.xlsx")
    one = graded(tmp_path / "one.xlsx")
    assert one.share is None
    assert "Canvas" in one.remarks[-1]


def graded(path: Path) -> Graded:
    return grade_one(Submission(path))
