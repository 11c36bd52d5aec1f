"""The command `attn-xl grade`: marks the lessons of a class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attn_xl.errors import CallError, InputError, OutputError
from attn_xl.settings import Settings
from attn_xl.text import say

from .options import Force, Template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attn_xl.teaching.grading.grades import Graded


def grade(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="The workbooks that students submitted, or folders of them.",
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
            help="A folder for marked copies, which show each wrong cell and its calculation."
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", help="Also write the table of grades as CSV.")
    ] = None,
    template: Template = "article",
    force: Force = False,
) -> int:
    from attn_xl.outputs import check_output
    from attn_xl.teaching.grading.grade_class import grade_class, submitted, summary
    from attn_xl.teaching.grading.grades import Status, print_grades
    from attn_xl.workbook.templates import find_template

    targets = [output, *([csv] if csv else [])]
    if len({target.resolve() for target in targets}) < len(targets):
        raise CallError(
            f"{output}: the grades and the --csv table cannot be the same file. Give each its own name."
        )
    template_path = find_template(template)
    paths = [path for path in submitted(files) if not _is_earlier_output(path, targets)]
    sources = [*paths, template_path, *([answers] if answers else [])]
    for target in targets:
        endings = (".csv",) if target is csv else (".xlsx", ".csv")
        check_output(target, *endings, force=force, sources=sources)
    graded = grade_class(paths, answers=answers, feedback=feedback, template=template_path, force=force)
    print_grades(graded)
    if not any(one.status is Status.marked for one in graded):
        raise InputError("no file could be marked, so no grades were written.")
    try:
        for target in targets:
            _write(graded, target, template_path)
    except OutputError as error:
        written = f" The marked copies in {feedback} are complete." if feedback else ""
        raise OutputError(f"{error}{written}") from None
    for target in targets:
        say(f"{target}: {summary(graded)}")
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
    from attn_xl.tables.written import WrittenBook
    from attn_xl.teaching.grading.grades import is_grades

    try:
        return is_grades(WrittenBook.read(path))
    except InputError:
        return False


def _write(graded: Sequence[Graded], target: Path, template_path: Path) -> None:
    from attn_xl.teaching.grading.grades import grades_csv, grades_layout
    from attn_xl.workbook.write import write_layout

    if target.suffix.lower() == ".csv":
        _write_text(grades_csv(graded), target, "utf-8-sig")  # Excel reads UTF-8 by the byte order mark
    else:
        settings = Settings()
        write_layout(grades_layout(graded), target, template=template_path, settings=settings)


def _write_text(text: str, target: Path, encoding: str = "utf-8") -> None:
    from attn_xl.outputs import writing

    with writing(target) as temporary:
        temporary.write_text(text, encoding=encoding, newline="")
