"""Printing findings: as a table in a terminal, as plain lines in a pipe, or as JSON."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from attn_xl.console import console as console_on
from attn_xl.spreadsheets.addresses import quoted
from attn_xl.spreadsheets.ranges import shortened_spans
from attn_xl.text import as_json, emit, plain

from .check import Report
from .findings import Finding

MOST = 12  # findings printed per kind; JSON has all
TABLE_WIDTH = 72  # terminal columns; narrower terminals get lines, since four table columns need room
LOOKS = {"error": "bold red", "warning": "yellow", "note": "dim"}


def to_json(reports: Sequence[Report]) -> str:
    """The reports as JSON, with all findings."""
    return as_json([report.as_dict() for report in reports])


def show(reports: Sequence[Report], *, file: TextIO | None = None) -> None:
    """Print reports: a table per file on a terminal, otherwise lines that suit `grep`."""
    out = file or sys.stdout
    console = console_on(out)
    piped = not console.is_terminal or bool(os.environ.get("NO_COLOR"))
    for report in reports:
        if report.error:
            continue
        if piped:
            named = f"{plain(str(report.file))}: "
            emit("".join(f"{named}{line}\n" for line, _ in _lines(report)), out)
            emit(f"{_summary(report)}\n", out)
            continue
        if console.width < TABLE_WIDTH:
            for line, look in _lines(report):
                console.print(Text(line, style=look))
        elif report.findings:
            console.print(_table(report))
        console.print(Text(_summary(report)))


def _shown(report: Report) -> Iterator[tuple[Finding, str]]:
    """The findings to print, and after the last of a kind how many more there are."""
    of_kind = Counter(finding.kind for finding in report.findings)
    so_far: Counter[str] = Counter()
    for finding in report.findings:
        so_far[finding.kind] += 1
        if so_far[finding.kind] <= MOST:
            left = (of_kind[finding.kind] - MOST) * (so_far[finding.kind] == MOST)
            yield finding, f"and {left} more of this kind; --json lists all" if left > 0 else ""


def _where(finding: Finding) -> str:
    return f"{quoted(finding.sheet)}!{shortened_spans(finding.cells)}" if finding.sheet else "workbook"


def _lines(report: Report) -> Iterator[tuple[str, str]]:
    """A line for each finding, with its style."""
    for finding, more in _shown(report):
        what = f"{finding.severity}: {finding.what}. {finding.do} [{finding.kind}]"
        yield plain(f"{_where(finding)}: {what}"), LOOKS[finding.severity]
        if more:
            yield f"... {more}", "dim"


def _table(report: Report) -> Table:
    table = Table(box=box.SIMPLE_HEAD, title=Text(plain(str(report.file))), title_justify="left")
    for name in ("", "where", "what", "what to do"):
        table.add_column(name, overflow="fold")
    for finding, more in _shown(report):
        look = LOOKS[finding.severity]
        parts = finding.kind, _where(finding), finding.what, finding.do
        table.add_row(
            *(Text(plain(part), style=look if n == 0 else "") for n, part in enumerate(parts))
        )
        if more:
            table.add_row("", "", Text(more, style="dim"), "")
    return table


def _summary(report: Report) -> str:
    if report.empty:
        return f"{plain(str(report.file))}: nothing to check: it has no formulas"
    parts = []
    for severity in ("error", "warning", "note"):
        count = report.count(severity)
        if count:
            parts.append(f"{count} {severity}{'s' * (count > 1)}")
    return (
        f"{plain(str(report.file))}: {', '.join(parts) or 'nothing found'}; "
        f"{report.formulas:,} formulas, {report.checked:,} values recalculated"
    )
