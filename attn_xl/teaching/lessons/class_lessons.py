"""Lessons for a class: a workbook for each student, with numbers of their own, and a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path

from attn_xl.errors import CallError, Interrupted, OutputError
from attn_xl.models.build import attend, foresee
from attn_xl.outputs import check_ending, check_output
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
    check_ending(key, ".xlsx")
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
    check_sizes(foresee(tables, settings), settings)
    key_layout(students[:1], [_made(tasks[0])[1]])  # refuses a lesson that is too large for the key
    with _all_or_none(folder, targets):
        if not key.parent.is_dir():
            raise OutputError(f"{key}: cannot be written (there is no such folder).")
        keys: dict[int, Key] = dict(
            in_parallel(
                write_one, tasks, jobs=jobs, label="Writing lessons", file_of=attrgetter("path")
            )
        )
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
        if isinstance(error, Interrupted):
            raise Interrupted("interrupted. Nothing was changed.") from None
        if isinstance(error, OSError):
            raise OutputError(f"{folder}: cannot be made ({error.strerror or error}).") from None
        raise


def write_one(task: Task) -> Key:
    """Write one student's lesson; what its key says."""
    layout, key = _made(task)
    source = "" if task.lesson.exam else Path(task.tables.path).name
    write_layout(layout, task.path, template=task.template, settings=task.settings, source=source)
    return key


def _made(task: Task) -> tuple[Layout, Key]:
    settings, lesson = task.settings, task.lesson
    tables = varied(task.tables, task.student.id, lesson.seed, replace(settings, controls=False))
    computation = attend(tables, settings)
    layout = lesson_layout(computation, settings, lesson)
    more = list(record(layout, computation, settings, lesson))
    return layout, key_of(computation, layout, settings, more)
