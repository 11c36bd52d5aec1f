"""The command `attn-xl check`: recalculates any workbook and reports what is wrong in it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from attn_xl.errors import CallError
from attn_xl.settings import Engine
from attn_xl.text import emit, say

from .options import Jobs

NOTHING_TO_CHECK = 3
"""The exit status if a file has no formulas."""


def check(
    file: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Workbooks to check: .xlsx or .xlsm.")
    ],
    engine: Annotated[
        Engine, typer.Option(help="The engine that recalculates. libreoffice must be installed.")
    ] = Engine.ironcalc,
    tolerance: Annotated[
        float, typer.Option(help="The largest relative error allowed in a stored value.")
    ] = 1e-9,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with status 1 for notes as well.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print every finding as JSON.")] = False,
    jobs: Jobs = None,
) -> None:
    from attn_xl.outputs import expanded

    files = expanded(file)
    if Path("-") in files:
        raise CallError(
            "check does not read standard input. Save the workbook to a file and give its name."
        )
    from attn_xl.checking import report as check_text
    from attn_xl.checking.check import check_files

    reports = check_files(files, engine=engine, tolerance=tolerance, jobs=jobs)
    for report in reports:
        if report.error:
            say(f"attn-xl: {report.error}", file=sys.stderr)
    if json:
        emit(f"{check_text.to_json(reports)}\n")
    else:
        check_text.show(reports)
    if any(report.fails(strict) for report in reports):
        raise typer.Exit(1)
    if any(report.empty for report in reports):
        raise typer.Exit(NOTHING_TO_CHECK)
