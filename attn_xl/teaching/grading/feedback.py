"""Feedback: a copy of a student's lesson with a mark for each cell and a reason for each mistake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from attn_xl.graph.loops import follows
from attn_xl.spreadsheets.addresses import Place, address
from attn_xl.tables.written import WrittenBook
from attn_xl.teaching.lessons.blanks import results_of
from attn_xl.teaching.lessons.pages import COVER, MARK_WIDTH, make_room, row_height
from attn_xl.text import count, listed
from attn_xl.workbook.layout.drawings import with_charts
from attn_xl.workbook.layout.layout import Blanks, Layout, Sheet
from attn_xl.workbook.layout.overview import with_overview
from attn_xl.workbook.layout.page import Block, Cell, Extras, Tint, row_of
from attn_xl.workbook.write import write_layout

from .assignment import Assignment
from .grades import CellMark, Graded, number_format
from .marking import Marking, Verdict

FEEDBACK = "Feedback"
MARKS = {
    Verdict.right: "✓",
    Verdict.followed: "(✓)",
    Verdict.wrong: "✗",
    Verdict.blank: "–",
    Verdict.not_a_number: "#",
}
WIDTHS = {1: 22.0, 2: 34.0, 3: 13.0, 4: 18.0, 5: 13.0, 6: 2.0, 7: 56.0, 8: 30.0}
NUMERIC = (3, 4, 5)
MOST_ROWS = 2000
MOST_LISTED, MOST_LINES = 8, 4
"""Further cells that a line lists; wrong cells of a step with lines of their own."""


def write_feedback(
    graded: Graded,
    assignment: Assignment,
    marking: Marking,
    path: Path,
    template: str | Path,
) -> None:
    """Write the marked copy of a submission.

    Raises:
        OutputError: if the file cannot be written.
    """
    layout = feedback_layout(graded, assignment, marking)
    settings = assignment.made.settings
    write_layout(layout, path, template=template, settings=settings, source=graded.file)


def feedback_layout(graded: Graded, assignment: Assignment, marking: Marking) -> Layout:
    """The layout of a marked copy: a page of feedback, then the sheets of the lesson with the student's
    entries and their marks."""
    results = results_of(assignment.computation)
    opened = dict(marking.opened)
    blanks = Blanks(
        opened,
        marking.numbers.shown,
        frozenset(follows(results, opened)),
        assignment.made.lesson.exam,
        filled=True,
    )
    layout = with_overview(with_charts(replace(assignment.layout, blanks=blanks)))
    sheets = tuple(_marked(sheet, marking) for sheet in layout.sheets)
    blocks = layout.blocks
    places = {e.block.name: blocks[e.block.node].place.sheet for e in assignment.exercises}
    return replace(layout, sheets=sheets, cover=_feedback_page(graded, places))


def _marked(sheet: Sheet, marking: Marking) -> Sheet:
    """A sheet with the marks of its cells added to the right of its content."""
    blocks = [block for block in sheet.blocks if block.node in marking.verdicts]
    if not blocks:
        return sheet
    last = max(block.place.last_column for block in sheet.blocks)
    last = max([last, *(cell.column + cell.across - 1 for cell in sheet.extras.cells)])
    cells, tints = list(sheet.extras.cells), list(sheet.extras.tints)
    widths = dict(sheet.extras.widths)
    heads: dict[tuple[int, int], Cell] = {}
    for block in blocks:
        marks = replace(block.place, column=block.place.column + last)
        head = marks.row - 1, marks.column
        heads[head] = Cell(*head, "marks")
        cells += _marks(block, marks, marking)
        tints += _tints(block, marks)
        widths.update(dict.fromkeys(range(marks.column, marks.last_column + 1), MARK_WIDTH + 1))
    make_room([*heads.values()], widths)
    made = (*cells, *heads.values())
    extras = replace(sheet.extras, cells=made, tints=tuple(tints), widths=widths)
    return replace(sheet, extras=extras)


def _marks(block: Block, marks: Place, marking: Marking) -> list[Cell]:
    found = []
    for row, column in np.argwhere(marking.opened[block.node]).tolist():
        verdict = marking.verdicts[block.node][row][column]
        if verdict:
            at = marks.row + row, marks.column + column
            found.append(Cell(*at, MARKS[verdict], align="center"))
    return found


def _tints(block: Block, marks: Place) -> list[Tint]:
    mark, there = address(marks.row, marks.column), block.place.range
    good = f'OR({mark}="{MARKS[Verdict.right]}",{mark}="{MARKS[Verdict.followed]}")'
    bad = f'OR({mark}="{MARKS[Verdict.wrong]}",{mark}="{MARKS[Verdict.not_a_number]}")'
    return [Tint(there, good, "attn right"), Tint(there, bad, "attn wrong")]


# The feedback page


def _feedback_page(graded: Graded, places: Mapping[str, str]) -> Sheet:
    """The page of feedback; `places` has the sheet of each step that is not named after it."""
    cells: list[Cell] = []
    heights: dict[int, float] = {}
    share = graded.share or 0.0
    who = " ".join(filter(None, (graded.name, f"({graded.id})" if graded.id else "")))
    total = f"{graded.points} of {count(graded.most, 'cell')}"
    legend = (
        "✓ right   (✓) follows from your own earlier numbers: full credit   ✗ wrong   – blank   "
        "# not a number"
    )
    cells += [
        Cell(4, 1, "total", style="attn label"),
        Cell(4, 2, share, style="attn step", number_format="0 %", align="left"),
        Cell(4, 3, total, style="attn text"),
        Cell(5, 2, legend),
    ]
    row = 7
    heads = ("step", "", "points", "cells", "share")
    cells += _heads(row, heads)
    for number, (step, (points, most)) in enumerate(graded.steps.items(), row + 1):
        cells += [
            Cell(number, 1, step, style="attn link", link=places.get(step, step)),
            Cell(number, 3, float(points), style="attn text", number_format="0"),
            Cell(number, 4, float(most), style="attn text", number_format="0"),
            Cell(number, 5, points / most, style="attn text", number_format="0 %"),
        ]
    row += len(graded.steps) + 2
    for remark in graded.remarks:
        cells.append(Cell(row, 1, "note", style="attn label"))
        cells.append(Cell(row, 2, remark, style="attn text", wrap=True, across=6))
        heights[row] = row_height(remark, sum(WIDTHS[column] for column in range(2, 8)))
        row += 1
    row += bool(graded.remarks)
    cells += _mistakes(graded, places, row, heights)
    extras = Extras(tuple(cells), widths=dict(WIDTHS), heights=heights, zoom=100)
    title = f"Feedback: {who or graded.file}"
    note = "Your marks. On each sheet they stand beside what you entered."
    return Sheet(FEEDBACK, FEEDBACK, "", title, note, (), extras)


def _mistakes(
    graded: Graded, places: Mapping[str, str], row: int, heights: dict[int, float]
) -> list[Cell]:
    """The table of mistakes: of each step the first few, the rest in one line. Blank cells are not
    listed."""
    mistakes = by_step(graded.cells)
    if not mistakes:
        blank = any(one.verdict is Verdict.blank for one in graded.cells)
        text = "No mistakes; some cells are blank." if blank else "No mistakes. Well done!"
        return [Cell(row, 1, text, style="attn step")]
    heads = (
        "cell", "name", "you entered", "from your numbers",
        "right", "", "calculation", "other cells",
    )  # fmt: skip
    cells = _heads(row, heads)
    for number, alike in enumerate(mistakes[:MOST_ROWS], row + 1):
        one = alike[0]
        rest = listed([other.cell.rpartition("!")[2] for other in alike[1:]], MOST_LISTED)
        rest = f"Also wrong: {rest}." if rest else ""
        entered: float | str = one.entered if one.number is None else one.number
        link = places.get(one.step, one.step)
        cells.append(Cell(number, 1, one.cell, style="attn link", wrap=True, link=link))
        values = (entered, "?" if one.follows is None else one.follows, one.right)
        for column, value in zip(NUMERIC, values):
            style = "attn wrong" if column == NUMERIC[0] else "attn text"
            shown = number_format(value)
            cells.append(
                Cell(number, column, value, "", style, False, True, number_format=shown, align="right")
            )
        for column, text in ((2, one.name), (7, one.worked), (8, rest)):
            cells.append(Cell(number, column, text, style="attn text", wrap=True))
        texts = ((one.name, 2), (one.worked, 7), (rest, 8))
        heights[number] = max(row_height(text, WIDTHS[column]) for text, column in texts)
    if len(mistakes) > MOST_ROWS:
        cells.append(Cell(row + MOST_ROWS + 1, 1, f"and {len(mistakes) - MOST_ROWS} more"))
    return cells


def by_step(cells: Sequence[CellMark]) -> list[list[CellMark]]:
    """The wrong cells; those of a step are together after the first few."""
    groups: dict[tuple[str, int], list[CellMark]] = {}
    wrong: Counter[str] = Counter()
    for one in cells:
        if one.verdict in (Verdict.wrong, Verdict.not_a_number):
            wrong[one.step] += 1
            groups.setdefault((one.step, min(wrong[one.step], MOST_LINES)), []).append(one)
    return list(groups.values())


def _heads(row: int, heads: tuple[str, ...]) -> list[Cell]:
    return row_of(row, heads, right=NUMERIC, style="attn heading")


def is_feedback(book: WrittenBook) -> bool:
    """Whether a workbook is a marked copy written by `write_feedback`."""
    return FEEDBACK in book.grids and COVER not in book.grids
