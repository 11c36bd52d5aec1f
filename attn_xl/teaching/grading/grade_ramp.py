"""Marking the pages of a ramp: a spreadsheet engine computes the conditions of a fresh copy of the
pages, with what the student entered, so that of several right answers each counts and a changed mark
does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attn_xl.languages import in_a_row, speaking, translate
from attn_xl.spreadsheets.addresses import address
from attn_xl.spreadsheets.engines import IronCalc
from attn_xl.spreadsheets.numerals import ErrorValue
from attn_xl.tables.written.written_book import WrittenBook
from attn_xl.teaching.lessons.pages import RIGHT
from attn_xl.teaching.lessons.ramp import Answer, Page, ramp_pages
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Cell
from attn_xl.workbook.write import write_layout

from .marking import Verdict, read_entry
from .results import CellMark

Entered = dict[str, dict[tuple[int, int], float | str]]
"""What stands in each page's cells to fill in."""
Mark = tuple[str, tuple[int, int]]
"""A page and the place of a mark on it."""


@dataclass(frozen=True, eq=False, repr=False)
class RampMarks:
    """The marks of a ramp.

    Attributes:
        steps: for each page, its points and the number of its answers.
        cells: the answers that are not right; remarks: what is unusual about the workbook.
        sheets: the pages with the student's entries and their marks.
        unmarked: the pages that were not found.
    """

    steps: dict[str, tuple[int, int]]
    cells: tuple[CellMark, ...]
    remarks: tuple[str, ...]
    sheets: tuple[Sheet, ...]
    unmarked: tuple[str, ...]


def mark_ramp(book: WrittenBook, seed: int, student: str, language: str) -> RampMarks:
    """Mark the pages of a ramp.

    Args:
        book: what was handed in.
        seed, student, language: as the pages were written with.
    """
    with speaking(language):
        pages = list(ramp_pages(seed, student))
        fresh = [page.sheet() for page in pages]
    entered = {page.name: dict(_entries(book, page)) for page in pages if page.name in book.grids}
    sheets = [_with_entries(sheet, entered.get(sheet.name, {})) for sheet in fresh]
    computed = _computed(sheets, pages)
    right = {key for key, mark in computed.items() if mark == RIGHT} | set(
        _right_by_itself(fresh, pages, entered, computed)
    )
    computed |= dict.fromkeys(right, RIGHT)
    for page in pages:
        computed[page.name, SCORE] = float(sum((page.name, one.mark) in right for one in page.asked))
    steps: dict[str, tuple[int, int]] = {}
    wrong: list[CellMark] = []
    gone = [page.name for page in pages if page.name not in book.grids]
    for page in pages:
        if page.name in gone:
            continue
        points = 0
        for answer in page.asked:
            is_right = (page.name, answer.mark) in right
            points += is_right
            if not is_right:
                value = entered.get(page.name, {}).get(answer.cell)
                wrong.append(_cell_mark(page, answer, value))
        steps[page.name] = points, len(page.asked)
    remarks = []
    if gone:
        remarks.append(
            translate(
                "Not found, so not marked, and no total: {sheets}.",
                sheets=in_a_row(gone),
            )
        )
    marked = tuple(_with_marks(sheet, computed) for sheet in sheets)
    return RampMarks(steps, tuple(wrong), tuple(remarks), marked, tuple(gone))


def _right_by_itself(
    fresh: list[Sheet], pages: list[Page], entered: Entered, computed: Mapping[Mark, Any]
) -> Iterator[Mark]:
    """The marks that are wrong only because an answer to an earlier problem, on which their conditions
    build, is: each problem once more, with right answers to all others."""
    tried = {
        answer.problem
        for page in pages
        for answer in page.asked
        if answer.cell in entered.get(page.name, {}) and computed[page.name, answer.mark] != RIGHT
    }
    for problem in sorted(tried):
        mixed = []
        for sheet, page in zip(fresh, pages):
            own = entered.get(page.name, {})
            others = {a.cell: a.solution for a in page.asked if a.problem != problem}
            mixed.append(_with_entries(sheet, own | others))
        again = _computed(mixed, pages)
        for page in pages:
            for answer in page.asked:
                key = page.name, answer.mark
                if answer.problem == problem and again[key] == RIGHT:
                    yield key


def _entries(book: WrittenBook, page: Page) -> Iterator[tuple[tuple[int, int], float | str]]:
    """What stands in the cells to fill in: numbers, also those typed as text, and words."""
    for answer in page.asked:
        value = book.value(page.name, *answer.cell)
        entry = read_entry(value)
        if entry.blank:
            continue
        is_word = isinstance(value, str) and not isinstance(value, ErrorValue)
        number = None if is_word and isinstance(answer.solution, str) else entry.number
        yield answer.cell, entry.shown if number is None else number


def _with_entries(sheet: Sheet, entered: Mapping[tuple[int, int], float | str]) -> Sheet:
    cells = [
        replace(cell, value=entered[cell.row, cell.column])
        if cell.open and (cell.row, cell.column) in entered
        else cell
        for cell in sheet.extras.cells
    ]
    return replace(sheet, extras=replace(sheet.extras, cells=tuple(cells)))


def _with_marks(sheet: Sheet, computed: Mapping[tuple[str, tuple[int, int]], Any]) -> Sheet:
    def shown(cell: Cell) -> Cell:
        key = sheet.name, (cell.row, cell.column)
        return replace(cell, value=computed[key]) if cell.formula and key in computed else cell

    made = tuple(shown(cell) for cell in sheet.extras.cells)
    return replace(sheet, extras=replace(sheet.extras, cells=made))


def _computed(sheets: list[Sheet], pages: list[Page]) -> dict[tuple[str, tuple[int, int]], Any]:
    """The value of each mark and of each page's score."""
    with TemporaryDirectory(prefix="attn-xl-") as folder:
        path = Path(folder, "ramp.xlsx")
        write_layout(Layout("Ramp", {}, tuple(sheets), overview=False), path)
        engine = IronCalc(path)
        found = {
            (page.name, answer.mark): engine.value(page.name, *answer.mark)
            for page in pages
            for answer in page.asked
        }
        return found | {(page.name, SCORE): engine.value(page.name, *SCORE) for page in pages}


SCORE = (4, 2)
"""The cell of a page's score."""


def _cell_mark(page: Page, answer: Answer, value: float | str | None) -> CellMark:
    right = answer.solution
    if value is None:
        verdict = Verdict.blank
    elif isinstance(value, str) and not isinstance(right, str):
        verdict = Verdict.not_a_number
    else:
        verdict = Verdict.wrong
    return CellMark(
        step=page.name,
        cell=f"{page.name}!{address(*answer.cell)}",
        name=translate("problem {number}", number=answer.problem),
        verdict=verdict,
        entered="" if value is None else f"{value:.10g}" if isinstance(value, float) else value,
        number=value if isinstance(value, float) else None,
        right=right,
        follows=None,
        worked="",
    )
