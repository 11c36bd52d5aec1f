"""Lessons for a class: a workbook for each student, with numbers of their own, and a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .cells import MAX_COLUMNS, address
from .errors import CallError, OutputError
from .files import check_output
from .jobs import check_jobs, in_parallel
from .lessons import Lesson
from .models import Computation, attend
from .page import Cell, Extras
from .record import digest, sources
from .roster import Student, read_roster
from .settings import Settings
from .sheets import Layout, Sheet
from .tables import Tables
from .teaching import lesson_layout
from .templates import find_template
from .variants import varied
from .workbook import write_layout

KEY_COLUMNS = ("id", "name", "file", "inputs")
ANSWERS, INPUTS = "Answers", "Inputs"


@dataclass(frozen=True)
class Task:
    """One student's lesson to write."""

    tables: Tables
    student: Student
    path: Path
    settings: Settings
    lesson: Lesson
    template: Path


@dataclass(frozen=True)
class Key:
    """What a teacher needs to know of one student's lesson.

    Attributes:
        inputs: the digest of all that was given.
        answers, given: numbers by cell (`Scores!B5`).
    """

    inputs: str
    answers: dict[str, float]
    given: dict[str, float]


def write_class(
    tables: Tables,
    roster: Path,
    folder: Path,
    *,
    settings: Settings,
    lesson: Lesson,
    answers: Path | None = None,
    template: str | Path = "article",
    jobs: int | None = None,
    force: bool = False,
) -> tuple[list[Student], Path]:
    """Write a lesson for each student of a list, with numbers of their own, and the key to all of them.

    Args:
        tables: what `read_tables` found; each student gets its numbers in another arrangement.
        roster: the list, with ids and names.
        folder: where the lessons go; it is made if it is not there.
        settings, lesson, template: as for one lesson.
        answers: the key; without it, FOLDER-answers.xlsx beside the folder.
        jobs: so many at a time.
        force: replace what exists.

    Returns:
        The students, and where the key is.

    Raises:
        CallError: if something exists already, or the lesson has nothing to fill in; nothing is
            written then.
        InputError: if the list or the tables cannot be used.
        OutputError: if the folder or a file cannot be written.
    """
    students = read_roster(roster)
    look = find_template(template)
    key = answers or folder.parent / f"{folder.name}-answers.xlsx"
    if key.suffix.lower() != ".xlsx":
        raise CallError(f"{key}: the key is an .xlsx workbook; give it a name that ends so.")
    if folder.exists() and not folder.is_dir():
        raise CallError(f"{folder}: is a file; -o names the folder for the class.")
    targets = [folder / student.file for student in students]
    for target in (key, *targets):
        check_output(target, force=force, sources=(Path(tables.path), roster, look))
        if target is not key and target.resolve() == key.resolve():
            raise CallError(f"{key}: is the lesson of a student; name another file for the key.")
    if key.resolve() == folder.resolve():
        raise CallError(f"{key}: the key and the folder for the class cannot be the same.")
    check_jobs(jobs)
    tasks = [
        Task(
            tables,
            student,
            folder / student.file,
            settings,
            replace(lesson, student=student.id, name=student.name),
            look,
        )
        for student in students
    ]
    with _all_or_none(folder, targets):
        if not key.parent.is_dir():
            raise OutputError(f"{key}: cannot be written (there is no such folder).")
        keys: dict[int, Key] = dict(in_parallel(write_one, tasks, jobs=jobs, said="Writing lessons"))
        write_layout(key_layout(students, [keys[i] for i in range(len(students))]), key, template=look)
    return students, key


@contextmanager
def _all_or_none(folder: Path, targets: Sequence[Path]) -> Iterator[None]:
    """A folder that is made for the block; if that fails or is stopped, what is new goes again."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    new = [target for target in targets if not target.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException as error:
        for target in new:
            with suppress(OSError):
                target.unlink()
        for one in made:
            with suppress(OSError):
                one.rmdir()
        if isinstance(error, OSError):
            raise OutputError(f"{folder}: cannot be made ({error.strerror or error}).") from None
        raise


def write_one(task: Task) -> Key:
    """Write one student's lesson; what its key says."""
    tables = varied(
        task.tables, task.student.id, task.lesson.seed, replace(task.settings, controls=False)
    )
    computation = attend(tables, task.settings)
    layout = lesson_layout(computation, task.settings, task.lesson)
    source = "" if task.lesson.exam else Path(tables.path).name
    write_layout(layout, task.path, template=task.template, settings=task.settings, source=source)
    return key_of(computation, layout, task.settings)


def key_of(computation: Computation, layout: Layout, settings: Settings) -> Key:
    """The answers and the given numbers of a lesson, cell by cell; `layout` is its."""
    answers: dict[str, float] = {}
    for node, cells in layout.blanks.open.items():
        place = layout.blocks[node].place
        for row, column in np.argwhere(cells).tolist():
            cell = f"{place.sheet}!{address(place.row + row, place.column + column)}"
            answers[cell] = float(node.values[row, column])
    given: dict[str, float] = {}
    by_name = {block.name: block for block in layout.blocks.values()}
    for source in sources(layout, computation, settings):
        block = by_name[source.defined]
        for row, column in np.ndindex(*block.node.shape):
            cell = f"{block.place.sheet}!{address(block.place.row + row, block.place.column + column)}"
            given[cell] = float(block.node.values[row, column])
    return Key(digest(computation, settings), answers, given)


def key_layout(students: Sequence[Student], keys: Sequence[Key]) -> Layout:
    """A workbook with a row for each student: the right answers, and the numbers that were given."""
    sheets = []
    for name, note in (
        (ANSWERS, "What belongs in each cell."),
        (INPUTS, "What each student was given."),
    ):
        numbers = [key.answers if name == ANSWERS else key.given for key in keys]
        columns = list(numbers[0])
        if len(columns) + len(KEY_COLUMNS) > MAX_COLUMNS:
            raise CallError(
                f"the lesson has {len(columns)} cells a student, more than the key has columns: use a "
                "shorter sentence, or leave less blank."
            )
        cells = [
            Cell(4, number, head, style="attn heading", align="left")
            for number, head in enumerate((*KEY_COLUMNS, *columns), 1)
        ]
        cells += _rows(students, keys, numbers)
        widths = {1: 14.0, 2: 26.0, 3: 34.0, 4: 18.0}
        widths |= {len(KEY_COLUMNS) + n: max(9.0, len(c) + 2.0) for n, c in enumerate(columns, 1)}
        sheets.append(
            Sheet(name, name, "", f"{name} of {len(students)} students", note, (),
                  Extras(tuple(cells), widths=widths, zoom=100))
        )  # fmt: skip
    return Layout("Answers", {}, tuple(sheets), overview=False)


def _rows(
    students: Sequence[Student], keys: Sequence[Key], numbers: Sequence[dict[str, float]]
) -> Iterator[Cell]:
    for row, (student, key, found) in enumerate(zip(students, keys, numbers), 5):
        texts = (student.id, student.name, student.file, key.inputs)
        for column, text in enumerate(texts, 1):
            yield Cell(row, column, text, style="attn text", align="left")
        for column, number in enumerate(found.values(), 1 + len(KEY_COLUMNS)):
            yield Cell(row, column, number, style="attn value")
