"""The workbook of grades: a sheet with a row per student, and a sheet with a row per cell that is not
right."""

from __future__ import annotations

from collections.abc import Sequence

from attn_xl.spreadsheets.addresses import MAX_COLUMNS, address, literal
from attn_xl.teaching.lessons.pages import row_height
from attn_xl.text import count
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Cell, Extras, Tint

from .feedback import number_format
from .results import CELLS, GRADES, Graded, Status

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
    cells = [
        Cell(4, column, head, style="attn heading", align="left" if column <= STATUS else "right")
        for column, head in enumerate(heads, 1)
    ]
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
    texts = (one.id, one.name, one.file)
    bad = one.status in (Status.failed, Status.missing)
    cells = [
        Cell(row, column, text, style="attn text", wrap=True, align="left")
        for column, text in enumerate(texts, 1)
        if text
    ]
    style = "attn wrong" if bad else "attn text"
    cells.append(Cell(row, STATUS, one.status.value, style=style, wrap=True, align="left"))
    if one.share is not None:
        first, last = address(row, FIRST_STEP), address(row, FIRST_STEP + len(steps) - 1)
        points, most = address(row, POINTS), address(row, MOST)
        cells += [
            Cell(
                row,
                TOTAL,
                one.share,
                f"{points}/{most}",
                "attn text",
                wrap=True,
                align="right",
                number_format="0.0 %",
            ),
            Cell(
                row,
                POINTS,
                float(one.points),
                f"SUM({first}:{last})",
                "attn text",
                wrap=True,
                align="right",
                number_format="0",
            ),
            Cell(
                row,
                MOST,
                float(one.most),
                style="attn text",
                number_format="0",
                wrap=True,
                align="right",
            ),
        ]
        cells += [
            Cell(
                row,
                column,
                float(one.steps[step][0]),
                style="attn text",
                wrap=True,
                align="right",
                number_format="0",
            )
            for column, step in enumerate(steps, FIRST_STEP)
            if step in one.steps
        ]
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
    cells = [
        Cell(4, column, head, style="attn heading", align="right" if column in (6, 7, 8) else "left")
        for column, head in enumerate(CELL_HEADS, 1)
    ]
    row = 5
    left_out = max(0, sum(len(one.cells) for one in found) - MOST_CELLS)
    for one in found:
        for mark in one.cells:
            if row - 5 >= MOST_CELLS:
                break
            entered: float | str = mark.entered if mark.number is None else mark.number
            numbers = (entered, mark.right, mark.follows)
            texts = (one.id, one.name or one.file, mark.cell, mark.name, mark.verdict.value)
            cells += [
                Cell(row, column, text, style="attn text", align="left")
                for column, text in enumerate(texts, 1)
                if text
            ]
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
