"""Grades: the result of each submission, as a table for the terminal, as CSV and as a workbook."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from attn_xl.console import console as console_on
from attn_xl.console import print_unpadded
from attn_xl.spreadsheets.addresses import MAX_COLUMNS, address, literal
from attn_xl.spreadsheets.text_files import harmless
from attn_xl.tables.written import WrittenBook
from attn_xl.teaching.lessons.pages import row_height
from attn_xl.text import clean, count, shortened
from attn_xl.views.explanation import figure
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Cell, Extras, Tint, row_of

from .marking import Verdict

GRADES, CELLS = "Grades", "Cells"
DECIMALS = 4


class Status(str, Enum):
    """The outcome for a file, or for a student without one."""

    marked = "marked"
    failed = "failed"
    """it could not be marked"""
    skipped = "skipped"
    """it is not a submission, but an answer key, a lock file, or the like"""
    repeated = "repeated"
    """it was marked, but another submission of the same lesson counts"""
    missing = "missing"
    """a student in the key who handed nothing in"""


@dataclass(frozen=True)
class CellMark:
    """A cell that is not right.

    Attributes:
        step: its matrix; cell: `Scores!B5`; name: `Scores[the, cat]`.
        entered: the cell's content; number: its number, None if it holds none.
        right: the right number, or a word; follows: what follows from the student's earlier numbers,
            None if one of them is blank.
        worked: the calculation with the values substituted.
    """

    step: str
    cell: str
    name: str
    verdict: Verdict
    entered: str
    number: float | None
    right: float | str
    follows: float | None
    worked: str


@dataclass(frozen=True)
class Graded:
    """The result of marking one file.

    Attributes:
        id, name: of the student; "" if unknown.
        steps: for each step, its points and the number of its cells.
        cells: the cells that are not right.
        unmarked: the steps that were not found in the file.
        feedback: the name of the marked copy.
    """

    path: Path | None
    status: Status
    id: str = ""
    name: str = ""
    steps: dict[str, tuple[int, int]] = field(default_factory=dict)
    cells: tuple[CellMark, ...] = ()
    remarks: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()
    feedback: str = ""

    @property
    def points(self) -> int:
        """The number of cells that earned credit."""
        return sum(points for points, _ in self.steps.values())

    @property
    def most(self) -> int:
        """The number of cells to fill in."""
        return sum(cells for _, cells in self.steps.values())

    @property
    def share(self) -> float | None:
        """Points divided by cells; None if nothing was marked or a sheet was not found."""
        return self.points / self.most if self.most and not self.unmarked else None

    @property
    def file(self) -> str:
        return clean(self.path.name) if self.path else ""


def is_grades(book: WrittenBook) -> bool:
    """Whether a workbook is a table of grades written by attn-xl."""
    return GRADES in book.grids and CELLS in book.grids


HEADS = (
    "id", "name", "file", "status", "total",
    "points", "cells",
)  # fmt: skip
LAST = "remarks"
CELL_HEADS = (
    "id", "name", "cell", "name of cell", "mark",
    "entered", "right", "from their numbers", "", "calculation",
)  # fmt: skip
STATUS, TOTAL, POINTS, MOST = range(4, 8)
FIRST_ROW, FIRST_STEP = 6, 8
OF_ROW = 5
MOST_CELLS = 100_000
REMARKS_WIDTH, WHY_WIDTH = 80.0, 80.0
GOOD, POOR = 0.85, 0.5


def grades_layout(found: Sequence[Graded]) -> Layout:
    """The layout of the workbook of grades."""
    sheets = (_grades(found), _cells(found))
    return Layout("Grades", {}, sheets)


def steps_of(found: Sequence[Graded]) -> list[str]:
    """The names of all steps, in order."""
    return list(dict.fromkeys(step for one in found for step in one.steps))


def _grades(found: Sequence[Graded]) -> Sheet:
    steps = steps_of(found)[: MAX_COLUMNS - FIRST_STEP - 1]
    remarks_at = FIRST_STEP + len(steps) + 1  # after a gap
    heads = (*HEADS, *steps, "")
    cells = row_of(4, heads, right=range(TOTAL, remarks_at), style="attn heading")
    cells.append(Cell(4, remarks_at, LAST, style="attn heading", align="left"))
    cells.append(Cell(OF_ROW, 3, "points possible", style="attn note", align="right"))
    of = {step: _of(step, found) for step in steps}
    for column, step in enumerate(steps, FIRST_STEP):
        most = of[step]
        if most is not None:
            cells.append(Cell(OF_ROW, column, float(most), style="attn note", number_format="0"))
    heights: dict[int, float] = {}
    for row, one in enumerate(found, FIRST_ROW):
        cells += _row(one, row, steps, remarks_at)
        heights[row] = row_height(" ".join(one.remarks), 1.2 * REMARKS_WIDTH)
    last = FIRST_ROW + len(found) - 1
    cells += _means(found, steps, of, last)
    widths = {
        1: 12.0,
        2: 24.0,
        3: 34.0,
        STATUS: 10.0,
        TOTAL: 9.0,
        POINTS: 8.0,
        MOST: 8.0,
        remarks_at - 1: 2.0,
        remarks_at: REMARKS_WIDTH,
    }
    widths |= {column: max(9.0, len(step) + 2.0) for column, step in enumerate(steps, FIRST_STEP)}
    extras = Extras(
        tuple(cells),
        tints=tuple(_tints(steps, of, last)),
        widths=widths,
        heights=heights,
        zoom=100,
        freeze="D6",
    )
    marked = sum(one.status is Status.marked for one in found)
    title = f"Grades of {count(marked, 'submission')}"
    note = "What was handed in, marked: points for each step, and what share of all cells they are."
    return Sheet(GRADES, GRADES, "", title, note, (), extras)


def _of(step: str, found: Sequence[Graded]) -> int | None:
    """The points possible for a step; None if they differ between students."""
    counts = {one.steps[step][1] for one in found if step in one.steps}
    return counts.pop() if len(counts) == 1 else None


def _row(one: Graded, row: int, steps: Sequence[str], remarks_at: int) -> list[Cell]:
    who = [text or None for text in (one.id, one.name, one.file)]
    cells = row_of(row, who, style="attn text", wrap=True)
    bad = one.status in (Status.failed, Status.missing)
    style = "attn wrong" if bad else "attn text"
    cells.append(Cell(row, STATUS, one.status.value, style=style, wrap=True, align="left"))
    if one.share is not None:
        points, most = address(row, POINTS), address(row, MOST)
        each = f"{address(row, FIRST_STEP)}:{address(row, FIRST_STEP + len(steps) - 1)}"
        numbers = [
            (TOTAL, one.share, f"{points}/{most}"),
            (POINTS, one.points, f"SUM({each})"),
            (MOST, one.most, ""),
            *(
                (column, one.steps[step][0], "")
                for column, step in enumerate(steps, FIRST_STEP)
                if step in one.steps
            ),
        ]
        cells += [
            Cell(row, column, float(number), formula, "attn text", wrap=True, align="right",
                 number_format="0.0 %" if column == TOTAL else "0")
            for column, number, formula in numbers
        ]  # fmt: skip
    cells.append(Cell(row, remarks_at, " ".join(one.remarks), style="attn text", wrap=True))
    return cells


def _means(
    found: Sequence[Graded], steps: Sequence[str], of: dict[str, int | None], last: int
) -> list[Cell]:
    """The row of means, in total and by step. Its formulas select the rows by status, since submissions
    that do not count are listed as well."""
    marked = [one for one in found if one.status is Status.marked and one.share is not None]
    if not marked:
        return []
    row = last + 2
    status = f"${address(FIRST_ROW, STATUS)}:${address(last, STATUS)}"

    def mean(column: int, values: Sequence[float], out_of: int | None, number_format: str) -> Cell:
        cells = f"{address(FIRST_ROW, column)}:{address(last, column)}"
        formula = f"AVERAGEIF({status},{literal(Status.marked.value)},{cells})"
        value = sum(values) / len(values)
        if out_of:
            formula, value = f"{formula}/{address(OF_ROW, column)}", value / out_of
        return Cell(row, column, value, formula, "attn text", wrap=True, align="right",
                    number_format=number_format)  # fmt: skip

    text = f"mean of {len(marked)} marked"
    cells = [Cell(row, 3, text, style="attn label")]
    cells.append(mean(TOTAL, [one.share or 0.0 for one in marked], None, "0.0 %"))
    for column, step in enumerate(steps, FIRST_STEP):
        points = [float(one.steps[step][0]) for one in marked if step in one.steps]
        if points:
            cells.append(mean(column, points, of[step], "0 %" if of[step] else "0.0"))
    return cells


def _tints(steps: Sequence[str], of: dict[str, int | None], last: int) -> list[Tint]:
    """Colors for high totals, low totals and low steps."""
    first = address(FIRST_ROW, TOTAL)
    there = f"{first}:{address(last, TOTAL)}"
    tints = [
        Tint(there, f"AND(ISNUMBER({first}),{first}>={GOOD})", "attn right"),
        Tint(there, f"AND(ISNUMBER({first}),{first}<{POOR})", "attn wrong"),
    ]
    for column, step in enumerate(steps, FIRST_STEP):
        if of[step]:
            cell, most = address(FIRST_ROW, column), address(OF_ROW, column).replace("5", "$5")
            there = f"{cell}:{address(last, column)}"
            tints.append(Tint(there, f"AND(ISNUMBER({cell}),{cell}<{POOR}*{most})", "attn wrong"))
    return tints


def _cells(found: Sequence[Graded]) -> Sheet:
    cells = row_of(4, CELL_HEADS, right=(6, 7, 8), style="attn heading")
    row = 5
    left_out = max(0, sum(len(one.cells) for one in found) - MOST_CELLS)
    for one in found:
        for mark in one.cells:
            if row - 5 >= MOST_CELLS:
                break
            entered: float | str = mark.entered if mark.number is None else mark.number
            numbers = (entered, mark.right, mark.follows)
            texts = (one.id, one.name or one.file, mark.cell, mark.name, mark.verdict.value)
            cells += row_of(row, [text or None for text in texts], style="attn text")
            cells += [
                Cell(row, column, value, style="attn text", number_format=number_format(value),
                     align="right")
                for column, value in enumerate(numbers, 6)
                if value is not None and value != ""
            ]  # fmt: skip
            if mark.worked:
                cells.append(Cell(row, 10, mark.worked, style="attn text"))
            row += 1
    if left_out:
        cells.append(Cell(row, 1, f"and {left_out} more"))
    widths = {
        1: 12.0,
        2: 24.0,
        3: 18.0,
        4: 34.0,
        5: 11.0,
        6: 14.0,
        7: 14.0,
        8: 18.0,
        9: 2.0,
        10: WHY_WIDTH,
    }
    extras = Extras(tuple(cells), widths=widths, zoom=100, freeze="E5")
    note = "Every cell that is not right: what was entered, the right number, and its calculation."
    return Sheet(CELLS, CELLS, "", "Cells that are not right", note, (), extras)


LEAST_REMARK, MOST_REMARK = 24, 120
"""Characters of the remarks on a terminal."""


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
    console, steps = console_on(file or sys.stdout), steps_of(found)
    if not console.is_terminal:
        console.width = 10_000
        print_unpadded(console, [_table(found, steps)])
        return
    bare = _table([replace(one, remarks=()) for one in found], steps, fitted=True)
    needed = console.measure(bare, options=console.options.update(max_width=10_000)).maximum
    fits = needed <= console.width
    console.print(_table(found, steps if fits else [], fitted=True))
    if not fits:
        console.print(Text("The points for each step are in the workbook.", "dim"))


def _who(one: Graded) -> str:
    return one.name or one.file


def _table(found: Sequence[Graded], steps: Sequence[str], *, fitted: bool = False) -> Table:
    table = Table(box=box.SIMPLE_HEAD if fitted else None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("id", "name"):
        table.add_column(head, no_wrap=True)
    for head in ("total", *steps):
        table.add_column(head, justify="right", no_wrap=True)
    style = "dim" if fitted else ""
    table.add_column("remarks", no_wrap=not fitted, style=style, min_width=LEAST_REMARK)
    for one in found:
        remarks = " ".join(one.remarks)
        cells = [Text(one.id), Text(_who(one)), _total(one)]
        cells += [
            Text(f"{one.steps[step][0]}/{one.steps[step][1]}" if step in one.steps else "")
            for step in steps
        ]
        table.add_row(*cells, Text(shortened(remarks, MOST_REMARK) if fitted else remarks))
    return table


def _total(one: Graded) -> Text:
    if one.share is None:
        if one.status in (Status.failed, Status.missing):
            return Text(one.status.value, "red")
        return Text("–", "dim")
    style = "green" if one.share >= GOOD else "red" if one.share < POOR else ""
    return Text(f"{100 * one.share:.1f} %", style)


def number_format(value: float | str) -> str:
    """The number format that shows a number with the decimals it needs, at most four."""
    if isinstance(value, str):
        return ""
    digits = figure(value, DECIMALS)
    if "e" in digits:
        return "0.0E+00"
    decimals = len(digits.partition(".")[2])
    return f"0.{'0' * decimals}" if decimals else "0"
