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
    FILE_HELP,
    Force,
    Plain,
    Template,
    given_options,
    output_beside,
    read_file_tables,
    with_settings,
)

if TYPE_CHECKING:
    from attn_xl.tables.survey import Tables
    from attn_xl.teaching.lessons.blanks import Lesson

OF_RAMP = ("ramp", "output", "seed", "roster", "answers", "exam", "template", "language", "force")
"""Parameters that matter for the pages of a ramp without a lesson."""
NOT_IN_BANKS = ("output", "exam", "ramp", "answers", "roster", "jobs", "template", "plain")
"""Parameters of lessons that questions for export do not have."""
OptionalFile = Annotated[Path | None, typer.Argument(metavar="FILE", help=FILE_HELP)]


@with_settings("controls", "formulas", "canvas")
def teach(
    context: typer.Context,
    options: dict[str, Any],
    reading: dict[str, Any],
    file: OptionalFile = None,
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
        int,
        typer.Option(
            help="How much is left blank: 1 for a few cells per step, 2 for whole matrices, 3 for "
            "everything after the input."
        ),
    ] = 2,
    blank: Annotated[
        str | None, typer.Option(help="Leave only these steps blank: Scores,Softmax, ...")
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            help="Largest error accepted as correct; relative for numbers above 1, absolute otherwise."
        ),
    ] = 0.01,
    exam: Annotated[
        bool, typer.Option("--exam", help="Write a file without marks, hints or answers.")
    ] = False,
    ramp: Annotated[
        bool,
        typer.Option(
            "--ramp",
            help="Begin with pages of small problems, from the dot product to attention; without FILE, "
            "write these pages alone.",
        ),
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            help="Write a bank of numerical questions instead of a lesson: Moodle XML (.xml) or a QTI "
            "2.1 package (.zip)."
        ),
    ] = None,
    variants: Annotated[
        int,
        typer.Option(help="How many questions, with numbers of their own, --export makes of a step."),
    ] = 3,
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
    jobs: Annotated[
        int | None,
        typer.Option(
            help="Number of lessons to write in parallel, with --roster. Default: one per core."
        ),
    ] = None,
    template: Template = "article",
    plain: Plain = False,
    force: Force = False,
) -> None:
    from attn_xl.teaching.lessons.blanks import Lesson

    steps = tuple(filter(None, (step.strip() for step in (blank or "").split(","))))
    if blank is not None and not steps:
        raise CallError("--blank names no steps. List them: --blank Scores,Softmax.")
    if jobs is not None and roster is None:
        raise CallError(
            "--jobs has no effect without --roster: it sets how many lessons of a class are written in "
            "parallel."
        )
    given = given_options(context)
    if export is not None:
        for name in given:
            if name in NOT_IN_BANKS:
                raise CallError(f"{given[name]} has no effect with --export, which writes no lesson.")
    elif "variants" in given:
        raise CallError("--variants has no effect without --export. Leave it out.")
    if file is None:
        if not ramp:
            raise CallError("give the FILE to make a lesson of, or --ramp for pages that need none.")
        for name in given:
            if name not in OF_RAMP:
                raise CallError(
                    f"{given[name]} has no effect on the pages of --ramp alone. Leave it out, or give "
                    "a FILE to write a lesson after these pages."
                )
        from attn_xl.languages import ENGLISH, speaking

        language = options["language"]
        with speaking(language.value if language else ENGLISH):
            _teach_ramp(output, options["seed"] or 0, roster, answers, exam, template, force)
        return
    shows_controls = not plain and not exam  # switches invite to change numbers
    options = {**options, "controls": shows_controls, "formulas": Formulas.cell}
    Settings.check_call(options)
    lesson = Lesson(level, steps, tolerance, exam, options["seed"] or 0, ramp=ramp)
    if export is not None:
        _export(file, export, options, reading, lesson, variants, force)
        return
    if roster is not None:
        _teach_class(file, roster, output, options, reading, lesson, answers, template, jobs, force)
        return
    from attn_xl.outputs import check_ending, check_output
    from attn_xl.workbook.templates import find_template

    path = output or output_beside(file, "lesson.xlsx")
    template_path = find_template(template)
    for target in (path, answers):
        if target is not None:
            check_ending(target, ".xlsx")
            check_output(target, force=force, sources=(file, template_path))
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


def _export(
    file: Path,
    path: Path,
    options: dict[str, Any],
    reading: dict[str, Any],
    lesson: Lesson,
    variants: int,
    force: bool,
) -> None:
    """Write a question bank."""
    from attn_xl.languages import speaking
    from attn_xl.outputs import check_ending, check_output
    from attn_xl.teaching.lessons.question_bank import MOODLE, QTI, questions, write_bank

    check_ending(path, MOODLE, QTI)
    check_output(path, force=force, sources=(file,))
    tables = read_file_tables(file, reading)
    settings = _settings(file, tables, options)
    bank = list(questions(tables, settings, lesson, variants))
    with speaking(settings.language.value):
        write_bank(bank, path, file.stem)
    say(f"{path}: {len(bank)} questions")


def _teach_ramp(
    output: Path | None,
    seed: int,
    roster: Path | None,
    answers: Path | None,
    exam: bool,
    template: str,
    force: bool,
) -> None:
    """Write the pages of the ramp: one workbook, or one for each student of a class."""
    from attn_xl.outputs import check_ending, check_output
    from attn_xl.teaching.lessons.ramp import ramp_layout
    from attn_xl.teaching.roster import Student, read_roster
    from attn_xl.workbook.templates import find_template
    from attn_xl.workbook.write import write_layouts

    if answers and output and answers.resolve() == output.resolve():
        raise CallError(f"{output}: the ramp and its answers cannot be the same file.")
    students = read_roster(roster) if roster else [Student("", "", "ramp.xlsx")]
    if roster and answers:
        raise CallError("--answers has no effect with --ramp --roster: a ramp marks itself.")
    look = find_template(template)
    layouts = {}
    for student in students:
        one = output or Path("ramp" if roster else "ramp.xlsx")
        path = one / student.file if roster else one
        layouts[path] = ramp_layout(seed, student.id, name=student.name, exam=exam)
    if answers:
        layouts[answers] = ramp_layout(seed, solved=True)
    for path in layouts:
        check_ending(path, ".xlsx")
        check_output(path, force=force, sources=[look, *filter(None, [roster])])
        if roster:
            path.parent.mkdir(parents=True, exist_ok=True)
    write_layouts(layouts, template=look)
    for path in [output or Path("ramp")] if roster else layouts:
        say(f"{path}: {count(len(students), 'ramp') if roster else '45 problems'}")


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
    jobs: int | None,
    force: bool,
) -> None:
    from attn_xl.teaching.lessons.class_lessons import write_class

    tables = read_file_tables(file, reading)
    settings = _settings(file, tables, options)
    folder = output or output_beside(file, "class")
    students, key = write_class(
        tables, roster, folder, settings=settings, lesson=lesson, answers=answers, template=template,
        jobs=jobs, force=force,
    )  # fmt: skip
    say(f"{folder}: {len(students)} lessons")
    say(f"{key}: the answers")
