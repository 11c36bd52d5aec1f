"""Grades as a table for the terminal and as CSV."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from typing import Literal, TextIO

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from attn_xl.console import console as console_on
from attn_xl.console import print_unpadded
from attn_xl.spreadsheets.text_files import harmless
from attn_xl.text import shortened

from .grade_sheets import GOOD, POOR, steps_of
from .results import Graded, Status

MOST_STEPS, LEAST_REMARK = 10, 24


def grades_csv(found: Sequence[Graded]) -> str:
    """The table of grades as CSV, totals in percent. No text in it can run as a spreadsheet formula."""
    steps = steps_of(found)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = [
        "id", "name", "file", "status",
        "total %", "points", "cells",
    ]  # fmt: skip
    writer.writerow(map(harmless, [*heads, *steps, "remarks"]))
    for one in found:
        total = "" if one.share is None else f"{100 * one.share:.1f}"
        points = [one.points, one.most] if one.share is not None else ["", ""]
        each = [one.steps[step][0] if step in one.steps else "" for step in steps]
        texts = [harmless(text) for text in (one.id, one.name, one.file, one.status.value)]
        writer.writerow([*texts, total, *points, *each, harmless(" ".join(one.remarks))])
    return out.getvalue()


def print_grades(found: Sequence[Graded], file: TextIO | None = None) -> None:
    """Print the table of grades: fitted to the terminal, or in full as plain text elsewhere."""
    file = file or sys.stdout
    console = console_on(file)
    steps = steps_of(found)
    if not console.is_terminal:
        console.width = 10_000
        print_unpadded(console, [_table(found, steps, None)])
        return
    shown = steps
    while shown and _needed(found, shown) + LEAST_REMARK > console.width:
        shown = shown[:-1]
    if len(shown) < len(steps):
        shown = []
    room = console.width - _needed(found, shown)
    console.print(_table(found, shown, max(LEAST_REMARK, room)))
    if shown != steps:
        console.print(Text("The points for each step are in the workbook.", "dim"))


def _needed(found: Sequence[Graded], steps: Sequence[str]) -> int:
    """The width of the table without its remarks."""
    widths = [max(map(cell_len, ["id", *(one.id for one in found)]))]
    widths.append(max(map(cell_len, ["name", *(_who(one) for one in found)])))
    widths += [7, *(max(5, len(step)) for step in steps)]
    return sum(width + 2 for width in widths) + 2


def _who(one: Graded) -> str:
    return one.name or one.file


def _table(found: Sequence[Graded], steps: Sequence[str], room: int | None) -> Table:
    table = Table(box=box.SIMPLE_HEAD if room else None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("id", "name"):
        table.add_column(head, no_wrap=True)
    table.add_column("total", justify="right", no_wrap=True)
    for step in steps:
        table.add_column(step, justify="right", no_wrap=True)
    overflow: Literal["fold", "ellipsis"] = "fold" if room is None else "ellipsis"
    table.add_column("remarks", no_wrap=room is None, overflow=overflow, max_width=room,
                     style="dim" if room else "")  # fmt: skip
    for one in found:
        remarks = " ".join(one.remarks)
        if room is not None:
            remarks = shortened(remarks, 3 * room)
        cells = [Text(one.id), Text(_who(one)), _total(one)]
        cells += [
            Text(f"{one.steps[step][0]}/{one.steps[step][1]}" if step in one.steps else "")
            for step in steps
        ]
        table.add_row(*cells, Text(remarks))
    return table


def _total(one: Graded) -> Text:
    if one.share is None:
        if one.status in (Status.failed, Status.missing):
            return Text(one.status.value, "red")
        return Text("–", "dim")
    style = "green" if one.share >= GOOD else "red" if one.share < POOR else ""
    return Text(f"{100 * one.share:.1f} %", style)
