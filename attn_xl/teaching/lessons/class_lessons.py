"""Lessons for a class: a workbook for each student, with different numbers, and an answer key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from attn_xl.console import tracked
from attn_xl.errors import CallError, OutputError
from attn_xl.models.build import attend, foresee
from attn_xl.outputs import SPREADSHEETS, check_output
from attn_xl.settings import Settings
from attn_xl.tables.survey import Tables
from attn_xl.tables.written import WrittenBook
from attn_xl.teaching.roster import Student, read_roster
from attn_xl.workbook.templates import find_template
from attn_xl.workbook.write import check_sizes, write_layout

from .answer_key import AnswerKey, answers_of, answers_sheet, key_in
from .blanks import Lesson
from .lesson import Made, solved_layout


@dataclass(frozen=True)
class Task:
    """One student's lesson to write."""

    key: AnswerKey
    student: Student
    path: Path
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
    force: bool = False,
) -> tuple[list[Student], Path]:
    """Write a lesson for each student on a list, each with different numbers, and one answer key.

    Args:
        tables: what `read_tables` returned; each student gets its numbers in a different arrangement.
        roster: the list of students, with ids and names.
        folder: the folder for the lessons; created if missing.
        settings, lesson, template: as for one lesson.
        answers: the answer key; by default FOLDER-answers.xlsx next to the folder.
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
    if folder.suffix.lower() in SPREADSHEETS or (folder.exists() and not folder.is_dir()):
        raise CallError(f"{folder}: names a file; with --roster, -o takes a folder: -o {folder.stem}")
    targets = [folder / student.file for student in students]
    for target in (key, *targets):
        check_output(target, ".xlsx", force=force, sources=(Path(tables.path), roster, look))
        if target is not key and target.resolve() == key.resolve():
            raise CallError(
                f"{key}: is the lesson of a student; choose another file for the answer key."
            )
    check_sizes(foresee(tables, settings), settings)
    original = _as_read_back(tables, settings, lesson)
    tasks = [Task(original, student, folder / student.file, look) for student in students]
    answers_sheet(students[:1], [_inputs_and_answers(original.make(students[0]))])  # refuses many cells
    with _all_or_none(folder, targets):
        if not key.parent.is_dir():
            raise OutputError(f"{key}: cannot be written (there is no such folder).")
        written = [write_one(task) for task in tracked(tasks, "Writing lessons")]
        answers_of_all = answers_sheet(students, written)
        own = original.settings
        solved = solved_layout(attend(original.tables, own), own, lesson)
        first, *others = solved.sheets
        solved = replace(solved, sheets=(first, answers_of_all, *others))
        write_layout(solved, key, template=look, settings=own)
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
        if isinstance(error, OSError):
            raise OutputError(f"{folder}: cannot be created ({error.strerror or error}).") from None
        raise


def write_one(task: Task) -> tuple[str, dict[str, float]]:
    """Write one student's lesson; its fingerprint and its answers."""
    key = task.key
    made = key.make(task.student)
    source = "" if key.lesson.exam else Path(key.path).name
    write_layout(made.layout, task.path, template=task.template, settings=key.settings, source=source)
    return _inputs_and_answers(made)


def _inputs_and_answers(made: Made) -> tuple[str, dict[str, float]]:
    return made.fingerprint, answers_of(made)


def _as_read_back(tables: Tables, settings: Settings, lesson: Lesson) -> AnswerKey:
    """The key with the tables as grading will read them from its file, so that both make the same
    lessons."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "key.xlsx"
        write_layout(solved_layout(attend(tables, settings), settings, lesson), path, settings=settings)
        key = key_in(WrittenBook.read(path))
    own = replace(key.settings, decimals=settings.decimals, formulas=settings.formulas)
    return replace(key, path=Path(tables.path), settings=own)
