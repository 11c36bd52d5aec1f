"""The command `attn-xl check`: any workbook recalculated and looked over. Knows no check."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from attn_xl.errors import CallError
from attn_xl.settings import Engine
from attn_xl.text import say

from .options import Jobs


def check(
    file: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Workbooks, .xlsx or .xlsm.", show_default=False),
    ],
    engine: Annotated[
        Engine, typer.Option(help="What recalculates: LibreOffice must be installed.")
    ] = Engine.ironcalc,
    tolerance: Annotated[
        float, typer.Option(help="The largest relative error of a stored value.")
    ] = 1e-9,
    strict: Annotated[
        bool, typer.Option("--strict", help="Notes, too, make the exit status 1.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, with every finding.")] = False,
    jobs: Jobs = None,
) -> None:
    """Recalculate any workbook, and find what is wrong in it."""
    from attn_xl.outputs import expanded

    files = expanded(file)
    if Path("-") in files:
        raise CallError("check reads no standard input: save the workbook to a file, and name that.")
    if not 0 <= tolerance < 1:
        raise CallError(f"--tolerance is {tolerance}; it takes a number from 0, below 1.")
    from attn_xl.checking import report as check_text
    from attn_xl.checking.check import check_files

    reports = check_files(files, engine=engine, tolerance=tolerance, jobs=jobs)
    for report in reports:
        if report.error:
            say(f"attn-xl: {report.error}", file=sys.stderr)
    if json:
        print(check_text.to_json(reports))
    else:
        check_text.show(reports)
    if any(report.fails(strict) for report in reports):
        raise typer.Exit(1)
