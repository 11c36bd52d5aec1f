"""Lessons for a class: a workbook for each student, with different numbers, and an answer key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from attn_xl.errors import CallError, Interrupted, OutputError
from attn_xl.models.build import attend, foresee
from attn_xl.outputs import SPREADSHEETS, check_ending, check_output
from attn_xl.parallel import check_jobs, in_parallel
from attn_xl.settings import Settings
from attn_xl.tables.survey import Tables
from attn_xl.teaching.answer_key import Key, key_layout, key_of
from attn_xl.teaching.roster import Student, read_roster
from attn_xl.workbook.arrange import check_sizes
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.templates import find_template
from attn_xl.workbook.write import write_layout

from .blanks import Lesson
from .lesson import lesson_layout, record
from .variants import varied


@dataclass(frozen=True)
class Task:
    """One student's lesson to write."""

    tables: Tables
    student: Student
    path: Path
    settings: Settings
    lesson: Lesson
    template: Path


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
    """Write a lesson for each student on a list, each with different numbers, and one answer key.

    Args:
        tables: what `read_tables` returned; each student gets its numbers in a different arrangement.
        roster: the list of students, with ids and names.
        folder: the folder for the lessons; created if missing.
        settings, lesson, template: as for one lesson.
        answers: the answer key; by default FOLDER-answers.xlsx next to the folder.
        jobs: number of lessons to write in parallel.
        force: replace existing files.

    Returns:
        The students and the path of the answer key.

    Raises:
        CallError: if a file already exists, or the lesson has nothing to fill in; then nothing is
            written.
        InputError: if the list or the tables cannot be used.
        OutputError: if the folder or a file cannot be written.
    """
    students = read_roster(roster)
    look = find_template(template)
    key = answers or folder.parent / f"{folder.name}-answers.xlsx"
    check_ending(key, ".xlsx")
    if folder.suffix.lower() in SPREADSHEETS or (folder.exists() and not folder.is_dir()):
        raise CallError(f"{folder}: names a file; with --roster, -o takes a folder: -o {folder.stem}")
    targets = [folder / student.file for student in students]
    for target in (key, *targets):
        check_output(target, force=force, sources=(Path(tables.path), roster, look))
        if target is not key and target.resolve() == key.resolve():
            raise CallError(
                f"{key}: is the lesson of a student; choose another file for the answer key."
            )
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
    check_sizes(foresee(tables, settings), settings)
    key_layout(
        students[:1], [_layout_and_key(tasks[0])[1]]
    )  # refuses a lesson that is too large for the key
    with _all_or_none(folder, targets):
        if not key.parent.is_dir():
            raise OutputError(f"{key}: cannot be written (there is no such folder).")
        keys: dict[int, Key] = dict(in_parallel(write_one, tasks, jobs=jobs, label="Writing lessons"))
        made = key_layout(students, [keys[i] for i in range(len(students))])
        write_layout(made, key, template=look)
    return students, key


@contextmanager
def _all_or_none(folder: Path, targets: Sequence[Path]) -> Iterator[None]:
    """Create the folder for the block; if the block fails or is interrupted, remove all new files."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    new = [target for target in targets if not target.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=folder not in made)
        yield
    except CallError:  # files appeared in the meantime: another run's are among them
        raise
    except BaseException as error:
        for target in new:
            with suppress(OSError):
                target.unlink()
        for one in made:
            with suppress(OSError):
                one.rmdir()
        if isinstance(error, Interrupted):
            raise Interrupted("interrupted. No new file is left.") from None
        if isinstance(error, OSError):
            raise OutputError(f"{folder}: cannot be created ({error.strerror or error}).") from None
        raise


def write_one(task: Task) -> Key:
    """Write one student's lesson and return its answer key."""
    layout, key = _layout_and_key(task)
    source = "" if task.lesson.exam else Path(task.tables.path).name
    write_layout(layout, task.path, template=task.template, settings=task.settings, source=source)
    return key


def _layout_and_key(task: Task) -> tuple[Layout, Key]:
    settings, lesson = task.settings, task.lesson
    draw = f"{task.student.id}\0exam" if lesson.exam else task.student.id  # practice has other numbers
    tables = varied(task.tables, draw, lesson.seed, replace(settings, controls=False))
    computation = attend(tables, settings)
    layout = lesson_layout(computation, settings, lesson)
    more = list(record(layout, computation, settings, lesson))
    return layout, key_of(computation, layout, settings, more)
