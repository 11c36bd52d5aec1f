"""The assignment that a lesson sets, and what a student changed of what was given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attn_xl.models.computation import Computation
from attn_xl.spreadsheets.addresses import Place, address, parse_place
from attn_xl.spreadsheets.numerals import as_text, is_number
from attn_xl.tables.written import WrittenBook
from attn_xl.teaching.lessons.answer_key import AnswerKey
from attn_xl.teaching.lessons.lesson import Made
from attn_xl.teaching.roster import Student
from attn_xl.text import listed, shortened
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.page import Block
from attn_xl.workbook.layout.place import lay_out
from attn_xl.workbook.layout.settings_sheet import sources

MOST_LISTED = 6


@dataclass(frozen=True, eq=False, repr=False)
class Exercise:
    """A matrix to fill in, at its place in the lesson, and a mask of its blank cells."""

    block: Block
    cells: np.ndarray

    @property
    def place(self) -> Place:
        return self.block.place

    def cell(self, row: int, column: int) -> str:
        """The address of a cell, as `Scores!B5`; row and column count from 0."""
        return f"{self.place.sheet}!{address(self.place.row + row, self.place.column + column)}"


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """What a lesson asks for, with the numbers that it was made with.

    Attributes:
        made: the lesson as it was handed out.
        layout: the layout of its feedback, with a sheet for each step.
        exercises: the matrices to fill in, in order.
    """

    made: Made
    layout: Layout
    exercises: tuple[Exercise, ...]

    @property
    def computation(self) -> Computation:
        return self.made.computation


def assigned(key: AnswerKey, student: Student | None = None) -> Assignment:
    """The assignment of a student, or of a lesson for all, made again from its key.

    Raises:
        InputError: if the key does not give this lesson.
    """
    made = key.make(student)
    lesson = made.layout
    exercises = tuple(
        Exercise(lesson.blocks[node], cells) for node, cells in lesson.blanks.open.items()
    )
    return Assignment(made, lay_out(made.computation, made.settings.sheets_for), exercises)


def changed_inputs(book: WrittenBook, assignment: Assignment) -> list[str]:
    """Remarks on given numbers that differ from those in the key."""
    remarks = []
    for source in sources(assignment.made.layout, assignment.computation, assignment.made.settings):
        place, node = parse_place(source.place), source.node
        if place is None:
            continue
        found = book.find(source.defined, place, node.rows, node.columns)
        if found is None:
            remarks.append(
                f"The given numbers of {source.defined} on “{place.sheet}” were not found; marked with "
                "the numbers in the key."
            )
            continue
        changed = []
        for (row, column), number in np.ndenumerate(node.values):
            at = found.row + row, found.column + column
            value = book.value(found.sheet, *at)
            if not _holds(value, float(number)):
                now = "blank" if value == "" else shortened(_text(value), 20)
                changed.append(f"{found.sheet}!{address(*at)} is {now}, was {number:g}")
        if changed:
            cells = listed(changed, MOST_LISTED, "; ")
            remarks.append(f"Given numbers were changed: {cells}. Marked with the original numbers.")
    return remarks


def _holds(value: object, number: float) -> bool:
    """Whether a cell holds a number, up to the 15 digits that some programs keep."""
    return is_number(value) and abs(value - number) <= 1e-9 * max(1.0, abs(number))


def _text(value: object) -> str:
    is_share = isinstance(value, float) and not value.is_integer()
    return f"{value:g}" if is_share else as_text(value)
