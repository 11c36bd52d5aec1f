"""The command `attn-xl grade`: marks the lessons of a class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attn_xl.errors import CallError, InputError
from attn_xl.languages import ENGLISH, current_language, speaking
from attn_xl.settings import Language, Settings
from attn_xl.text import listed, say

from .options import Force, Template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attn_xl.teaching.grading.results import Graded

MOST_LISTED = 8


def grade(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="The workbooks that students submitted, folders of them, or the .zip that Moodle, "
            "Canvas or Google Classroom exports.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The grades to write: a workbook, or a table if the name ends in .csv.",
        ),
    ] = Path("grades.xlsx"),
    answers: Annotated[
        Path | None,
        typer.Option(
            help="The answers that teach --roster or teach --answers wrote. With them, changes to the "
            "given cells or the settings of a lesson have no effect on the marks, and students of the "
            "roster without a submission are listed."
        ),
    ] = None,
    feedback: Annotated[
        Path | None,
        typer.Option(
            help="A folder for marked copies, which show what is wrong in each cell and why; or a "
            ".zip, to upload, where they have the names of the submissions."
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Also write the table of grades as CSV.")
    ] = None,
    moodle: Annotated[
        Path | None, typer.Option(help="Also write the marks as CSV for Moodle's gradebook.")
    ] = None,
    canvas: Annotated[
        Path | None, typer.Option(help="Also write the marks as CSV for Canvas's gradebook.")
    ] = None,
    id_column: Annotated[
        str,
        typer.Option(
            help="The gradebook's column with the ids. Default: 'ID number' in Moodle, 'SIS User ID' "
            "in Canvas.",
            show_default=False,
        ),
    ] = "",
    jobs: Annotated[
        int | None, typer.Option(help="Number of files to mark in parallel. Default: one per core.")
    ] = None,
    language: Annotated[
        Language | None,
        typer.Option(
            help="The language of grades, remarks and marked copies. Default: that of each lesson; of "
            "the grades, English.",
        ),
    ] = None,
    template: Template = "article",
    force: Force = False,
) -> int:
    from attn_xl.outputs import check_ending, check_output
    from attn_xl.teaching.grading.grade_class import grade_class, submitted, summary
    from attn_xl.teaching.grading.grade_text import canvas_csv, moodle_csv, print_grades, without_id
    from attn_xl.teaching.grading.results import Status
    from attn_xl.workbook.templates import find_template

    check_ending(output, ".xlsx", ".csv")
    tables = [table for table in (csv, moodle, canvas) if table is not None]
    for table in tables:
        check_ending(table, ".csv")
    if id_column and moodle is None and canvas is None:
        raise CallError("--id-column has no effect without --moodle or --canvas.")
    targets = [output, *tables]
    if len({target.resolve() for target in targets}) < len(targets):
        raise CallError(
            f"{output}: the grades and the --csv table cannot be the same file, nor two tables. Give "
            "each its own name."
        )
    template_path = find_template(template)
    paths = [path for path in submitted(files) if not _is_earlier_output(path, targets)]
    sources = [*paths, template_path, *([answers] if answers else [])]
    for target in targets:
        check_output(target, force=force, sources=sources)
    with speaking(language.value if language else ENGLISH):
        graded = grade_class(
            paths, answers=answers, feedback=feedback, template=template_path, jobs=jobs, force=force
        )
        print_grades(graded)
        if not any(one.status is Status.marked for one in graded):
            raise InputError("no file could be marked, so no grades were written.")
        gradebooks = {moodle: moodle_csv, canvas: canvas_csv}
        for target in targets:
            if target in gradebooks:
                _write_text(gradebooks[target](graded, id_column), target)
            else:
                _write(graded, target, template_path)
    for target in targets:
        say(f"{target}: {summary(graded)}")
    if moodle is not None and (nameless := without_id(graded)):
        say(f"{moodle}: without {listed(nameless, MOST_LISTED)}: no id. Enter these marks by hand.")
    if feedback is not None:
        copies = sum(bool(one.feedback) for one in graded)
        say(f"{feedback}: {copies} marked {'copy' if copies == 1 else 'copies'}")
    return int(any(one.status is Status.failed for one in graded))


def _is_earlier_output(path: Path, targets: Sequence[Path]) -> bool:
    """Whether a file holds the grades of an earlier run, which this run replaces."""
    if not any(target.exists() and path.exists() and path.samefile(target) for target in targets):
        return False
    if path.suffix.lower() == ".csv":
        return True
    from attn_xl.tables.written.written_book import WrittenBook
    from attn_xl.teaching.grading.results import is_grades

    try:
        return is_grades(WrittenBook.read(path))
    except InputError:
        return False


def _write(graded: Sequence[Graded], target: Path, template_path: Path) -> None:
    from attn_xl.teaching.grading.grade_sheets import grades_layout
    from attn_xl.teaching.grading.grade_text import grades_csv
    from attn_xl.workbook.write import write_layout

    if target.suffix.lower() == ".csv":
        _write_text(grades_csv(graded), target, "utf-8-sig")  # Excel reads UTF-8 by the byte order mark
    else:
        settings = Settings(language=Language(current_language()))
        write_layout(grades_layout(graded), target, template=template_path, settings=settings)


def _write_text(text: str, target: Path, encoding: str = "utf-8") -> None:
    from attn_xl.outputs import writing

    with writing(target) as temporary:
        temporary.write_text(text, encoding=encoding, newline="")
