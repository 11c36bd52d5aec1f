"""The command `attn-xl grade`: options in, one call, print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from attn_xl.errors import CallError, InputError
from attn_xl.text import say

from .options import Force, Template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attn_xl.teaching.grading.results import Graded


def grade(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="What the students handed in: workbooks, or folders of them.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="The grades: a workbook, or a table if it ends in .csv."),
    ] = Path("grades.xlsx"),
    answers: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="The key that teach --roster wrote: what was changed in a lesson does not count, and "
            "who is missing is listed.",
            show_default=False,
        ),
    ] = None,
    feedback: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="A folder for the marked copies: what was wrong in each cell, and why.",
            show_default=False,
        ),
    ] = None,
    csv: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--csv", help="Write the table of grades as CSV, too.", show_default=False),
    ] = None,
    jobs: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help="So many at a time. Without it, one for each core.", show_default=False),
    ] = None,
    template: Template = "article",
    force: Force = False,
) -> int:
    """Mark the lessons that students handed in; later steps by their own earlier numbers."""
    from attn_xl.outputs import check_ending, check_output
    from attn_xl.teaching.grading.grade_class import grade_class, submitted, summary
    from attn_xl.teaching.grading.grade_text import print_grades
    from attn_xl.teaching.grading.results import Status
    from attn_xl.workbook.templates import find_template

    check_ending(output, ".xlsx", ".csv")
    if csv is not None:
        check_ending(csv, ".csv")
    targets = [target for target in (output, csv) if target is not None]
    if len({target.resolve() for target in targets}) < len(targets):
        raise CallError(f"{output}: the grades and --csv cannot be the same file.")
    look = find_template(template)
    paths = [path for path in submitted(files) if not _earlier(path, targets)]
    sources = [*paths, look, *([answers] if answers else [])]
    for target in targets:
        check_output(target, force=force, sources=sources)
    found = grade_class(
        paths, answers=answers, feedback=feedback, template=look, jobs=jobs, force=force
    )
    print_grades(found)
    if not any(one.status is Status.marked for one in found):
        raise InputError("nothing could be marked, so no grades were written.")
    for target in targets:
        _write(found, target, look)
    for target in targets:
        say(f"{target}: {summary(found)}")
    if feedback is not None:
        copies = sum(bool(one.feedback) for one in found)
        say(f"{feedback}: {copies} marked {'copy' if copies == 1 else 'copies'}")
    return int(any(one.status is Status.failed for one in found))


def _earlier(path: Path, targets: Sequence[Path]) -> bool:
    """Whether a file is the grades of an earlier run, which are to be replaced."""
    if not any(target.exists() and path.exists() and path.samefile(target) for target in targets):
        return False
    from attn_xl.tables.written.written_book import WrittenBook
    from attn_xl.teaching.grading.results import is_grades

    try:
        return is_grades(WrittenBook.read(path))
    except InputError:
        return False


def _write(found: Sequence[Graded], target: Path, look: Path) -> None:
    from attn_xl.outputs import writing
    from attn_xl.teaching.grading.grade_sheets import grades_layout
    from attn_xl.teaching.grading.grade_text import grades_csv
    from attn_xl.workbook.write import write_layout

    if target.suffix.lower() == ".csv":
        with writing(target) as temporary:  # the mark tells Excel that it is UTF-8
            temporary.write_text(grades_csv(found), encoding="utf-8-sig", newline="")
    else:
        write_layout(grades_layout(found), target, template=look)
