"""The command `attn-xl teach`: writes a lesson, or one for each student of a class."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attn_xl.errors import CallError
from attn_xl.settings import Arrangement, Formulas, Settings
from attn_xl.text import count, say

from .options import (
    File,
    Force,
    Plain,
    Template,
    output_beside,
    read_file_tables,
    with_settings,
)

if TYPE_CHECKING:
    from attn_xl.tables.survey import Tables
    from attn_xl.teaching.lessons.blanks import Lesson


@with_settings(
    "model", "heads", "causal", "layout", "seed", leave_out=("controls", "formulas", "canvas")
)
def teach(
    options: dict[str, Any],
    reading: dict[str, Any],
    file: File,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The lesson to write; with --roster, the folder for the class. Default: "
            "NAME-lesson.xlsx or NAME-class beside the input.",
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(
            help="What is blank: 1 a few cells per step, 2 whole matrices, 3 all after the input. "
            "Default: at most 40 cells, each kind of step once or twice.",
        ),
    ] = None,
    blank: Annotated[
        str | None,
        typer.Option(help="Leave these steps blank: Scores,Softmax, ..., or all (as --level 2)."),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            help="Largest error accepted as correct, above 1 as a share of the number. Default: 0.01."
        ),
    ] = 0.01,
    exam: Annotated[
        bool, typer.Option("--exam", help="Write a file without marks, hints or answers.")
    ] = False,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Also write the solved workbook; with --roster, the answer key of the class."
        ),
    ] = None,
    roster: Annotated[
        Path | None,
        typer.Option(help="A list of students (id, name); each gets a lesson with different numbers."),
    ] = None,
    template: Template = "article",
    plain: Plain = False,
    force: Force = False,
) -> None:
    from attn_xl.teaching.lessons.blanks import SHORT, Lesson

    steps = tuple(filter(None, (step.strip() for step in (blank or "").split(","))))
    if blank == "all":
        level, steps = level or 2, ()
    elif blank is not None and not steps:
        raise CallError("--blank names no steps. List them: --blank Scores,Softmax.")
    shows_controls = not plain and not exam  # switches invite to change numbers
    options = {**options, "controls": shows_controls, "formulas": Formulas.cell}
    lesson = Lesson(level or SHORT, steps, tolerance, exam, options["seed"] or 0)
    if roster is not None:
        _teach_class(file, roster, output, options, reading, lesson, answers, template, force)
        return
    from attn_xl.outputs import check_output
    from attn_xl.workbook.templates import find_template

    path = output or output_beside(file, "lesson.xlsx")
    template_path = find_template(template)
    for target in (path, answers):
        if target is not None:
            check_output(target, ".xlsx", force=force, sources=(file, template_path))
    if answers is not None and answers.resolve() == path.resolve():
        raise CallError(f"{path}: the lesson and its answers cannot be the same file.")
    from attn_xl.teaching.lessons.lesson import write_lesson

    tables = read_file_tables(file, reading)
    settings = _settings(file, tables, options)
    layout = write_lesson(
        tables, path, settings=settings, lesson=lesson, template=template_path, answers=answers
    )
    steps_open = layout.blanks.open
    cells = sum(int(mask.sum()) for mask in steps_open.values())
    say(f"{path}: {count(len(steps_open), 'step')}, {count(cells, 'cell')} to fill in")
    if answers is not None:
        say(f"{answers}: the answers")


def _settings(file: Path, tables: Tables, options: dict[str, Any]) -> Settings:
    """The settings of a lesson, which also uses the seed to draw its blank cells."""
    where = f"{file}, sheet 'Settings'"
    settings = Settings.resolve(options, tables.settings, where, own=("seed",))
    return settings if settings.layout else replace(settings, layout=Arrangement.layers)


def _teach_class(
    file: Path,
    roster: Path,
    output: Path | None,
    options: dict[str, Any],
    reading: dict[str, Any],
    lesson: Lesson,
    answers: Path | None,
    template: str,
    force: bool,
) -> None:
    from attn_xl.teaching.lessons.class_lessons import write_class

    tables = read_file_tables(file, reading)
    settings = _settings(file, tables, options)
    folder = output or output_beside(file, "class")
    students, key = write_class(
        tables, roster, folder, settings=settings, lesson=lesson, answers=answers, template=template,
        force=force,
    )  # fmt: skip
    say(f"{folder}: {count(len(students), 'lesson')}")
    say(f"{key}: the answers")
