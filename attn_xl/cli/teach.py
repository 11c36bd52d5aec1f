"""The commands for classes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from attn_xl.errors import CallError
from attn_xl.settings import Formulas, Settings
from attn_xl.text import say

from .options import File, Force, Plain, Template, output_beside, tables_of, with_settings

if TYPE_CHECKING:
    from attn_xl.tables.survey import Tables
    from attn_xl.teaching.lessons.blanks import Lesson


@with_settings("controls", "formulas")
def teach(
    file: File,
    chosen: dict[str, Any],
    reading: dict[str, Any],
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            "-o",
            "--output",
            help="The lesson to write; with --roster, the folder for the class. Without it, "
            "NAME-lesson.xlsx beside the input.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[
        int,
        typer.Option(
            help="How much is left blank: 1 a few cells a step, 2 whole matrices, 3 everything after "
            "the input.",
        ),
    ] = 2,
    blank: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Leave just these steps blank: Scores,Softmax.Sum.", show_default=False),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(help="How far off a right number may be; its share, of one above 1.")
    ] = 0.01,
    exam: Annotated[
        bool, typer.Option("--exam", help="No marks, no hints, no answer anywhere in the file.")
    ] = False,
    answers: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Write the solved workbook, too; of a class, its key.", show_default=False),
    ] = None,
    roster: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="A class: a lesson for each student of this list (id, name), with numbers of their "
            "own.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="So many at a time, of a class. Without it, one for each core.", show_default=False
        ),
    ] = None,
    template: Template = "article",
    plain: Plain = False,
    force: Force = False,
) -> None:
    """Write a lesson that students fill in and that answers back."""
    from attn_xl.teaching.lessons.blanks import Lesson

    steps = tuple(filter(None, (step.strip() for step in (blank or "").split(","))))
    if blank is not None and not steps:
        raise CallError("--blank names no step. Say which: --blank Scores,Softmax.")
    if jobs is not None and roster is None:
        raise CallError(
            "--jobs goes with --roster: it says how many students' lessons are written at once."
        )
    chosen = {**chosen, "controls": not plain, "formulas": Formulas.cell}
    Settings.check_call(chosen)
    lesson = Lesson(level, steps, tolerance, exam, chosen["seed"] or 0)
    if roster is not None:
        _teach_class(file, roster, output, chosen, reading, lesson, answers, template, jobs, force)
        return
    from attn_xl.outputs import check_ending, check_output
    from attn_xl.workbook.templates import find_template

    path = output or output_beside(file, "lesson.xlsx")
    look = find_template(template)
    for target in (path, answers):
        if target is not None:
            check_ending(target, ".xlsx")
            check_output(target, force=force, sources=(file, look))
    if answers is not None and answers.resolve() == path.resolve():
        raise CallError(f"{path}: the lesson and its answers cannot be the same file.")
    from attn_xl.teaching.lessons.lesson import write_lesson

    tables = tables_of(file, reading)
    settings = _settings(file, tables, chosen)
    layout = write_lesson(
        tables, path, settings=settings, lesson=lesson, template=look, answers=answers
    )
    steps_open = layout.blanks.open
    cells = sum(int(mask.sum()) for mask in steps_open.values())
    say(f"{path}: {len(steps_open)} steps, {cells} cells to fill in")
    if answers is not None:
        say(f"{answers}: the answers")


def _settings(file: Path, tables: Tables, chosen: dict[str, Any]) -> Settings:
    """Those of a lesson, whose cells are drawn with the seed, too."""
    where = f"{file}, sheet 'Settings'"
    return Settings.chosen(chosen, tables.settings, where, own=("seed",))


def _teach_class(
    file: Path,
    roster: Path,
    output: Path | None,
    chosen: dict[str, Any],
    reading: dict[str, Any],
    lesson: Lesson,
    answers: Path | None,
    template: str,
    jobs: int | None,
    force: bool,
) -> None:
    from attn_xl.teaching.lessons.class_lessons import write_class

    tables = tables_of(file, reading)
    settings = _settings(file, tables, chosen)
    folder = output or output_beside(file, "class")
    students, key = write_class(
        tables, roster, folder, settings=settings, lesson=lesson, answers=answers, template=template,
        jobs=jobs, force=force,
    )  # fmt: skip
    say(f"{folder}: {len(students)} lessons")
    say(f"{key}: the answers")
