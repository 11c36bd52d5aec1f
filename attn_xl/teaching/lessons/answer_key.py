"""The answer key of a lesson: the solved workbook and, of a class, its students. Each student's lesson
is made again from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from attn_xl.errors import CallError, InputError
from attn_xl.settings import Settings
from attn_xl.spreadsheets.addresses import MAX_COLUMNS, address
from attn_xl.tables.survey import Tables
from attn_xl.tables.written import WrittenBook, read_record, reopened
from attn_xl.teaching.roster import Student
from attn_xl.text import count
from attn_xl.workbook.layout.layout import Sheet
from attn_xl.workbook.layout.page import Cell, Extras, row_of

from .blanks import Lesson
from .lesson import SOLVED, Made, make_lesson, recorded_lesson
from .variants import varied

KEY_COLUMNS = ("id", "name", "file", "inputs")
ANSWERS, HEADINGS_ROW = "Answers", 4


@dataclass(frozen=True, eq=False, repr=False)
class AnswerKey:
    """What lessons are made from.

    Attributes:
        path: the workbook: an answer key, or a lesson that holds its own.
        tables: the sentences and weights; those of a class before they are varied.
        students: of a class, in the order of the roster; none for a lesson for all.
        fingerprints: of each student's lesson, by id.
    """

    path: Path
    tables: Tables
    settings: Settings
    lesson: Lesson
    students: tuple[Student, ...] = ()
    fingerprints: Mapping[str, str] = field(default_factory=dict)

    def make(self, student: Student | None = None) -> Made:
        """The lesson of one student, with numbers of their own, or the lesson for all.

        Raises:
            CallError, InputError: as `make_lesson` and `varied`; also if the lesson is no longer the
                one that the student was given.
        """
        if student is None:
            return make_lesson(self.tables, self.settings, self.lesson)
        lesson = replace(self.lesson, student=student.id, name=student.name)
        draw = f"{student.id}\0exam" if lesson.exam else student.id  # practice has other numbers
        plain = replace(self.settings, controls=False)
        made = make_lesson(varied(self.tables, draw, lesson.seed, plain), self.settings, lesson)
        if self.fingerprints.get(student.id, made.fingerprint) != made.fingerprint:
            raise InputError(
                f"{self.path}: no longer gives the lesson of {student.id}. It was edited, or another "
                "version of attn-xl wrote it."
            )
        return made


def answers_of(made: Made) -> dict[str, float]:
    """What belongs in each blank cell of a lesson (`Scores!B5`)."""
    answers = {}
    for node, cells in made.layout.blanks.open.items():
        place = made.layout.blocks[node].place
        for row, column in np.argwhere(cells).tolist():
            cell = f"{place.sheet}!{address(place.row + row, place.column + column)}"
            answers[cell] = float(node.values[row, column])
    return answers


def answers_sheet(
    students: Sequence[Student], made: Sequence[tuple[str, Mapping[str, float]]]
) -> Sheet:
    """The sheet `Answers` of a class: a row for each student, with what belongs in each cell.

    Args:
        made: the fingerprint and the answers of each student's lesson.

    Raises:
        CallError: if a lesson has more cells than a sheet has columns.
    """
    columns = list(dict.fromkeys(cell for _, answers in made for cell in answers))
    if len(columns) + len(KEY_COLUMNS) > MAX_COLUMNS:
        raise CallError(
            f"the lesson has {len(columns):,} cells per student, more than the key has columns; "
            "use a shorter sentence or fewer blanks."
        )
    cells = row_of(HEADINGS_ROW, (*KEY_COLUMNS, *columns), style="attn heading")
    at = {cell: column for column, cell in enumerate(columns, 1 + len(KEY_COLUMNS))}
    for row, (student, (inputs, answers)) in enumerate(zip(students, made), HEADINGS_ROW + 1):
        texts = (student.id, student.name, student.file, inputs)
        cells += row_of(row, texts, style="attn text")
        cells += [Cell(row, at[cell], value, style="attn value") for cell, value in answers.items()]
    widths = {1: 14.0, 2: 26.0, 3: 34.0, 4: 18.0}
    widths |= {column: max(9.0, len(cell) + 2.0) for cell, column in at.items()}
    extras = Extras(tuple(cells), widths=widths, zoom=100, freeze="C5")
    title = f"Answers of {count(len(students), 'student')}"
    note = "What belongs in each cell. The other sheets have the numbers that each student's vary."
    return Sheet(ANSWERS, ANSWERS, "", title, note, (), extras)


def is_key(book: WrittenBook) -> bool:
    """Whether a workbook has the answers of a lesson, as `teach` writes them."""
    return any(name == SOLVED for name, *_ in read_record(book.grids) or ())


def key_in(book: WrittenBook) -> AnswerKey:
    """The key that a workbook holds: an answer key, or a lesson, which has its own numbers.

    Raises:
        InputError: if the workbook is neither, or a table is missing.
    """
    opened = reopened(book)
    lesson = recorded_lesson({name: value for name, value, _ in opened.lines}, f"{book.path}")
    students, fingerprints = [], {}
    for row in range(HEADINGS_ROW + 1, len(book.grids.get(ANSWERS, [])) + 1 if is_key(book) else 0):
        student, name, file, inputs = (book.text(ANSWERS, row, column) for column in range(1, 5))
        if student:
            students.append(Student(student, name, file))
            fingerprints[student] = inputs
    return AnswerKey(book.path, opened.tables, opened.recorded, lesson, tuple(students), fingerprints)


def read_key(path: Path) -> AnswerKey:
    """Read an answer key.

    Raises:
        InputError: if the file cannot be read or is not an answer key.
    """
    book = WrittenBook.read(path)
    if is_key(book):
        return key_in(book)
    raise InputError(
        f"{path}: is not an answer key, which teach --answers or teach --roster writes. Without one, "
        "leave out --answers: a lesson has its own numbers."
    )
