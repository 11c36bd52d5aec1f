"""Make a lesson, and write it to a file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from attn_xl.errors import CallError, InputError
from attn_xl.models.build import attend, foresee
from attn_xl.models.computation import Computation
from attn_xl.settings import COMPARE, OVERVIEW, SETTINGS, Settings
from attn_xl.spreadsheets.numerals import as_text
from attn_xl.tables.survey import Tables
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import NOTHING
from attn_xl.workbook.layout.settings_sheet import digest, with_record
from attn_xl.workbook.templates import DEFAULT
from attn_xl.workbook.write import arrange, check_sizes, write_layouts

from .blanks import Lesson, with_blanks
from .pages import with_pages

LEVEL, SOLVED = "lesson level", "lesson solved"


@dataclass(frozen=True, eq=False, repr=False)
class Made:
    """A lesson that was made from its tables: all sheets of its workbook, with their blank cells."""

    computation: Computation
    settings: Settings
    lesson: Lesson
    layout: Layout

    @property
    def fingerprint(self) -> str:
        """A fingerprint of the given numbers, words and settings, and of what is asked."""
        return fingerprint(self.computation, self.settings, self.lesson)


def make_lesson(tables: Tables, settings: Settings, lesson: Lesson) -> Made:
    """A lesson with these numbers; equal arguments give an equal lesson.

    Raises:
        CallError: if there is nothing to fill in, or a step to leave blank does not exist.
        InputError: if the tables do not fit the model.
    """
    computation = attend(tables, settings)
    return Made(computation, settings, lesson, lesson_layout(computation, settings, lesson))


def lesson_layout(computation: Computation, settings: Settings, lesson: Lesson) -> Layout:
    """All sheets of a lesson.

    Raises:
        CallError: if there is nothing to fill in, or a step to leave blank does not exist.
    """
    if lesson.exam and f"{COMPARE}.Output.Components" in computation.plane:
        # A projection fitted to the outputs would reveal them.
        kept = {name: node for name, node in computation.plane.items() if node.sheet != COMPARE}
        computation = replace(computation, plane=kept)
    blank = arrange(computation, settings, lambda layout: with_blanks(layout, computation, lesson))
    named = computation.title
    title = f"Exam: {named}" if lesson.exam else f"Lesson: {named}"
    made = with_pages(blank, lesson, title)
    complete = with_record(made, computation, settings, record(computation, settings, lesson))
    return replace(complete, sheets=tuple(_for_print(sheet, lesson.exam) for sheet in complete.sheets))


def solved_layout(computation: Computation, settings: Settings, lesson: Lesson) -> Layout:
    """The solved workbook of a lesson, from which the lesson can be made again."""
    lines = [*record(computation, settings, lesson), (SOLVED, "all")]
    return with_record(arrange(computation, settings), computation, settings, lines)


def _for_print(sheet: Sheet, exam: bool) -> Sheet:
    """A sheet without pages if on paper it would be one too many: tables and charts that wait for the
    student's numbers, and the record, which marking reads. An exam hides nothing on the screen."""
    if sheet.name in (OVERVIEW, COMPARE, SETTINGS):
        hidden = sheet.name == SETTINGS and not exam
        return replace(sheet, extras=replace(sheet.extras, hidden=hidden, print_to=NOTHING))
    return sheet


# The record of a lesson


def record(computation: Computation, settings: Settings, lesson: Lesson) -> Iterator[tuple[Any, ...]]:
    """The lines on the `Settings` sheet from which a lesson is made again."""
    yield from _asked(lesson)
    if lesson.student:
        yield "lesson student", lesson.student
        yield "lesson name", lesson.name
    yield "lesson inputs", fingerprint(computation, settings, lesson)


def _asked(lesson: Lesson) -> Iterator[tuple[str, Any]]:
    yield "lesson kind", "exam" if lesson.exam else "lesson"
    yield LEVEL, lesson.level
    yield "lesson blank", ",".join(lesson.blank)
    yield "lesson tolerance", lesson.tolerance
    yield "lesson seed", str(lesson.seed)


def recorded_lesson(record: Mapping[str, object], where: str) -> Lesson:
    """The options of a lesson, from the lines of its record by name.

    Raises:
        InputError: if it is no lesson, or an option is out of range.
    """
    if LEVEL not in record:
        raise InputError(
            f"{where}: is not a lesson that this version of attn-xl wrote: its sheet '{SETTINGS}' does "
            f"not say what is to be filled in ({LEVEL})."
        )
    said = {name.partition(" ")[2]: as_text(value) for name, value in record.items()}
    try:
        return Lesson(
            level=int(said["level"]),
            blank=tuple(filter(None, said.get("blank", "").split(","))),
            tolerance=float(said.get("tolerance", "")),
            exam=said.get("kind") == "exam",
            seed=int(said.get("seed", "")),
            student=said.get("student", ""),
            name=said.get("name", ""),
        )
    except (ValueError, CallError) as error:
        raise InputError(
            f"{where}, sheet '{SETTINGS}': a line of the lesson was changed ({error})."
        ) from None


def fingerprint(computation: Computation, settings: Settings, lesson: Lesson) -> str:
    """A fingerprint of all given numbers, words and settings of a lesson, and of what it asks."""
    text = f"{digest(computation, settings)} {sorted(_asked(lesson))}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write_lesson(
    tables: Tables,
    path: str | os.PathLike[str],
    *,
    settings: Settings | None = None,
    lesson: Lesson | None = None,
    template: str | os.PathLike[str] = DEFAULT,
    answers: str | os.PathLike[str] | None = None,
) -> Layout:
    """Write a lesson for students to fill in.

    Args:
        tables: what `read_tables` found.
        path: the .xlsx to write.
        settings: the model and its choices.
        lesson: which cells are blank, and how they are marked.
        template: as for `write_workbook`.
        answers: also write the solved workbook to this path.

    Returns:
        The layout that was written.

    Raises:
        CallError: if there is nothing to fill in, or a step to leave blank does not exist.
        InputError: if the tables do not fit the model.
        OutputError: if a file cannot be written; then none is written.
    """
    settings, lesson = settings or Settings(controls=True), lesson or Lesson()
    check_sizes(foresee(tables, settings), settings)
    made = make_lesson(tables, settings, lesson)
    source = "" if lesson.exam else Path(tables.path).name
    files = {Path(path): made.layout}
    if answers is not None:
        files[Path(answers)] = solved_layout(made.computation, settings, lesson)
    write_layouts(files, template=template, settings=settings, source=source)
    return made.layout
