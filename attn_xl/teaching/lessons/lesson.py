"""Lay out a lesson and write it to a file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from attn_xl.models.build import attend, foresee
from attn_xl.models.computation import Computation
from attn_xl.settings import COMPARE, OVERVIEW, SETTINGS, Settings
from attn_xl.spreadsheets.numerals import as_text
from attn_xl.tables.survey import Tables
from attn_xl.teaching.answer_key import CHECKS, SOLVED
from attn_xl.workbook.arrange import arrange, check_sizes
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import NOTHING
from attn_xl.workbook.layout.settings_sheet import (
    digest,
    record_lines,
    sources,
    table_digest,
    with_record,
)
from attn_xl.workbook.templates import DEFAULT
from attn_xl.workbook.write import write_layouts

from .blanks import Lesson, with_blanks
from .pages import with_pages

LESSON, TABLE, BLANK = "lesson", "lesson table", "blank"


def lesson_layout(computation: Computation, settings: Settings, lesson: Lesson) -> Layout:
    """All sheets of a lesson.

    Raises:
        CallError: if there is nothing to fill in, or a step to leave blank does not exist.
    """
    return _lesson_layout(computation, settings, lesson)


def _lesson_layout(computation: Computation, settings: Settings, lesson: Lesson) -> Layout:
    if lesson.exam and f"{COMPARE}.Output.Components" in computation.plane:
        # A projection fitted to the outputs would reveal them.
        kept = {name: node for name, node in computation.plane.items() if node.sheet != COMPARE}
        computation = replace(computation, plane=kept)
    blank = arrange(computation, settings, lambda layout: with_blanks(layout, computation, lesson))
    named = computation.title
    title = f"Exam: {named}" if lesson.exam else f"Lesson: {named}"
    made = with_pages(blank, lesson, title)
    lines = [*record(made, computation, settings, lesson)]
    lines.append((CHECKS, _checks(record_lines(made, computation, settings, lines))))
    complete = with_record(made, computation, settings, lines)
    return replace(complete, sheets=tuple(_for_print(sheet, lesson.exam) for sheet in complete.sheets))


def _for_print(sheet: Sheet, exam: bool) -> Sheet:
    """A sheet without pages if on paper it would be one too many: tables and charts that wait for the
    student's numbers, and the record, which marking reads. An exam hides nothing on the screen."""
    if sheet.name in (OVERVIEW, COMPARE, SETTINGS):
        hidden = sheet.name == SETTINGS and not exam
        return replace(sheet, extras=replace(sheet.extras, hidden=hidden, print_to=NOTHING))
    return sheet


def _checks(lines: Sequence[tuple[Any, ...]]) -> str:
    """The checksums of the lines of a record, which show later what was edited."""
    return " ".join(map(check_of, lines))


def check_of(line: Sequence[Any]) -> str:
    """A short checksum of a line, however programs change its types."""
    texts = [as_text(part).strip().casefold() for part in line]
    return hashlib.sha256("\0".join(texts).rstrip("\0").encode()).hexdigest()[:6]


def record(
    layout: Layout, computation: Computation, settings: Settings, lesson: Lesson
) -> Iterator[tuple[Any, ...]]:
    """The lines on the `Settings` sheet that identify a lesson and let it be graded."""
    yield f"{LESSON} kind", "exam" if lesson.exam else "lesson"
    yield f"{LESSON} tolerance", lesson.tolerance
    if lesson.student:
        yield f"{LESSON} student", lesson.student
        yield f"{LESSON} name", lesson.name
    yield f"{LESSON} inputs", digest(computation, settings)
    for source in sources(layout, computation, settings):
        yield f"{TABLE} {source.defined or source.name}", table_digest(source.node)
    for node, cells in layout.blanks.open.items():
        block = layout.blocks[node]
        if cells.all():
            yield f"{BLANK} {block.name}", "all", block.place.absolute
        else:
            places = ((row + 1, column + 1) for row, column in np.argwhere(cells).tolist())
            cell_list = "; ".join(f"{row},{column}" for row, column in places)
            yield f"{BLANK} {block.name}", cell_list, block.place.absolute


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
    computation = attend(tables, settings)
    layout = lesson_layout(computation, settings, lesson)
    source = "" if lesson.exam else Path(tables.path).name
    made = {Path(path): layout}
    if answers is not None:
        own = [*record(layout, computation, settings, lesson), (SOLVED, "all")]
        solved = arrange(computation, settings)
        made[Path(answers)] = with_record(solved, computation, settings, own)
    write_layouts(made, template=template, settings=settings, source=source)
    return layout
