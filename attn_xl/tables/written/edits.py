"""Finds entries in a written workbook that are ignored: numbers outside of its tables, and values that
replaced formulas."""

from __future__ import annotations

import numpy as np

from attn_xl.settings import CANVAS, CELLS
from attn_xl.spreadsheets.addresses import Place
from attn_xl.spreadsheets.formulas import WIDTH
from attn_xl.spreadsheets.metadata import Cells, Marks
from attn_xl.spreadsheets.numerals import is_number
from attn_xl.spreadsheets.ranges import shortened_spans, spans

from .record import ANSWERS, GIVEN, KEPT, SENTENCE, WEIGHTS
from .reopen import Reopened, record_of
from .written_book import WrittenBook

OTHERS = (
    "Word", "Words", "Components", "CheckedMatrix", "CheckedRow", "CheckedColumn", "Nudge",
)  # fmt: skip
CHOSEN = frozenset(name.casefold() for name in (*CELLS.values(), *OTHERS))
"""Last parts of defined names whose cells contain neither a formula nor an input table."""


def not_read(opened: Reopened, marks: Marks) -> tuple[str, ...]:
    """Remarks about entries that are ignored; none for a lesson, which is meant to be filled in, or for
    a file whose names and formulas are unknown."""
    book = opened.book
    named = {n: p for n, p in book.names.items() if p is not None and p.sheet in book.grids}
    formulas = {sheet: marks.formulas(sheet) or set() for sheet in {p.sheet for p in named.values()}}
    if opened.lines or not any(formulas.values()):
        return ()
    tables = {
        str(defined).casefold()
        for name, defined, _ in record_of(book)
        if name.partition(" ")[0] in (SENTENCE, WEIGHTS, GIVEN, ANSWERS, KEPT)
    }
    remarks = []
    for sheet in dict.fromkeys(p.sheet for n, p in named.items() if n in tables):
        inside = {c for p in named.values() if p.sheet == sheet for c in _cells(p)}
        beside = _numbers(book, sheet) - inside - formulas[sheet]
        if beside:
            remarks.append(
                f"Sheet {sheet!r}: the numbers in {_ranges(beside)} are outside of its table and are "
                "ignored. To add a word or a dimension, insert a row or a column inside the table."
            )
    for name, place in named.items():
        if name not in tables and name.rpartition(".")[2] not in CHOSEN:
            over = _cells(place) - formulas[place.sheet]
            if over:
                remarks.append(
                    f"Sheet {place.sheet!r}: {_ranges(over)} had a formula; the value there now is "
                    "ignored and computed again."
                )
    if CANVAS in book.grids and CANVAS not in formulas:
        over = _numbers(book, CANVAS) - (marks.formulas(CANVAS) or set())
        if over:
            remarks.append(
                f"Sheet {CANVAS!r}: {_ranges(over)} had a link to the sheet of its matrix; the value "
                "there now is ignored. Change the number on that sheet."
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


def _ranges(cells: Cells) -> str:
    return shortened_spans(
        spans(np.array([row * WIDTH + column - 1 for row, column in cells], dtype=np.int64))
    )
