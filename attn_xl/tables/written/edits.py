"""What was entered into a written workbook and does not count: numbers outside of its tables, and what
stands where it had formulas. Knows where cells are, and nothing of how they are computed."""

from __future__ import annotations

import numpy as np

from attn_xl.settings import CANVAS, CELLS
from attn_xl.spreadsheets.addresses import Place
from attn_xl.spreadsheets.formulas import WIDTH
from attn_xl.spreadsheets.metadata import Cells, Marks
from attn_xl.spreadsheets.numerals import is_number
from attn_xl.spreadsheets.ranges import shortened_spans, spans

from .record import GIVEN, SENTENCE, WEIGHTS
from .reopen import Reopened, record_of
from .written_book import WrittenBook

CHOSEN = frozenset(name.casefold() for name in (*CELLS.values(), "Word", "Words", "Components"))
"""How the names of cells end that hold neither a formula nor a table that was given."""


def not_read(opened: Reopened, marks: Marks) -> tuple[str, ...]:
    """Remarks on what was entered and is not read; none on a lesson, which is to be filled in, nor on a
    file that does not say where its names and formulas are."""
    book = opened.book
    named = {n: p for n, p in book.names.items() if p is not None and p.sheet in book.grids}
    formulas = {sheet: marks.formulas(sheet) or set() for sheet in {p.sheet for p in named.values()}}
    if opened.lines or not any(formulas.values()):
        return ()
    tables = {
        str(defined).casefold()
        for name, defined, _ in record_of(book)
        if name.partition(" ")[0] in (SENTENCE, WEIGHTS, GIVEN)
    }
    remarks = []
    for sheet in dict.fromkeys(p.sheet for n, p in named.items() if n in tables):
        inside = {c for p in named.values() if p.sheet == sheet for c in _cells(p)}
        beside = _numbers(book, sheet) - inside - formulas[sheet]
        if beside:
            remarks.append(
                f"Sheet {sheet!r}: the numbers in {_said(beside)} stand outside of its table and are "
                "not read. To add a word or a dimension, insert a row or a column inside the table."
            )
    for name, place in named.items():
        if name not in tables and name.rpartition(".")[2] not in CHOSEN:
            over = _cells(place) - formulas[place.sheet]
            if over:
                remarks.append(
                    f"Sheet {place.sheet!r}: {_said(over)} had a formula; what stands there now does "
                    "not count, it is computed again."
                )
    if CANVAS in book.grids and CANVAS not in formulas:
        over = _numbers(book, CANVAS) - (marks.formulas(CANVAS) or set())
        if over:
            remarks.append(
                f"Sheet {CANVAS!r}: {_said(over)} had a link to the sheet of its matrix; what stands "
                "there now is not read. Change the number on that sheet."
            )
    return tuple(remarks)


def _cells(place: Place) -> Cells:
    rows = range(place.row, place.last_row + 1)
    columns = range(place.column, place.last_column + 1)
    return {(row, column) for row in rows for column in columns}


def _numbers(book: WrittenBook, sheet: str) -> Cells:
    return {
        (row, column)
        for row, line in enumerate(book.grids[sheet], 1)
        for column, value in enumerate(line, 1)
        if is_number(value)
    }


def _said(cells: Cells) -> str:
    return shortened_spans(
        spans(np.array([row * WIDTH + column - 1 for row, column in cells], dtype=np.int64))
    )
