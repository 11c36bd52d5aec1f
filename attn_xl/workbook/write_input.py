"""Writes tables as an input workbook, as a teacher would type it.

openpyxl writes the first row of a sheet; the rows below it are streamed, so that large inputs are
written as fast as they are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import orjson
from openpyxl import Workbook
from openpyxl.cell.cell import Cell
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from openpyxl.worksheet.dimensions import ColumnDimension
from openpyxl.worksheet.properties import PageSetupProperties

from attn_xl.graph.matrix import Numbers
from attn_xl.outputs import writing
from attn_xl.settings import LABELS, SETTINGS
from attn_xl.spreadsheets.addresses import CODE_LIKE, MAX_SHEET_NAME, address, letters, unique
from attn_xl.tables.survey import Table, Tables
from attn_xl.text import text_width
from attn_xl.workbook.xlsx.package import Rows, save
from attn_xl.workbook.xlsx.rows import spreadsheet_text

MOST_DECIMALS = 8
MOST_WIDTH = 40
"""Characters: the widest column of labels."""
_NOT_IN_SHEET = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_LINE = Side("thin", color="FF999999")
_BOLD = Font(name="Calibri", sz=11, family=2, scheme="minor", bold=True)
_GREY = PatternFill("solid", fgColor="FFEDEFF2")


def write_tables(tables: Tables, path: str | os.PathLike[str]) -> None:
    """Write tables as an input workbook: a sheet for each sentence and each weight, then `Settings`.

    `read_tables` reads the same tables back. Words are written as text, even if they look like numbers
    or formulas. The same tables give the same bytes.

    Args:
        tables: sentences, weights and settings.
        path: the .xlsx to write. An existing file is replaced once the new one is complete.

    Raises:
        OutputError: if the file cannot be written; an existing file is left unchanged.
    """
    book = Workbook()
    book.remove(book.worksheets[0])
    taken = {LABELS.casefold()} if tables.labels else set[str]()
    taken |= {SETTINGS.casefold()} if tables.settings else set()
    rows: dict[str, Rows] = {}
    renamed: dict[str, str] = {}
    named = [(n, t) for n, t in tables.sentences.items()]
    named += [(table.sheet or name, table) for name, table in tables.weights.items()]
    for name, table in named:
        title = unique(_title(name), taken, MAX_SHEET_NAME)
        taken.add(title.casefold())
        renamed.setdefault(name, title)
        sheet = book.create_sheet(title)
        rows[title] = _Sheet(sheet, table).write()
    if tables.labels:
        _write_labels(book.create_sheet(LABELS), tables.labels)
    if tables.settings:
        _write_settings(book.create_sheet(SETTINGS), tables.settings, renamed)
    book.active = 0
    properties = book.properties
    properties.creator, properties.lastModifiedBy = "attn-xl", None
    properties.created = properties.modified = datetime(1980, 1, 1)  # no clock
    with writing(Path(path)) as temporary:
        save(book, temporary, rows)


def _title(name: str) -> str:
    """`name` as a valid sheet name. Excel reserves `History`."""
    title = _NOT_IN_SHEET.sub("_", CODE_LIKE.sub("-", name)).strip("'") or "_"
    return f"{title}_" if title.casefold() == "history" else title


@dataclass
class _Sheet:
    """One table on its sheet."""

    sheet: Any
    table: Table

    def write(self) -> Rows:
        """The first row and the page; the rows that are left to stream."""
        table = self.table
        rows, columns = table.shape
        beside = int(table.labelled[0])
        above = int(table.labelled[1] or self._looks_numbered())
        sheet = self.sheet
        word, number = self._word(), self._number()
        if above:
            if beside:
                _heading(sheet.cell(1, 1), "left")
            for column, label in enumerate(table.columns, 1 + beside):
                _heading(_text(sheet, 1, column, label), "right")
            sheet.freeze_panes = address(2, 1 + beside)
        else:
            if beside:
                _text(sheet, 1, 1, table.rows[0])._style = word._style
            for column, value in enumerate(table.values[0].tolist(), 1 + beside):
                cell = sheet.cell(1, column, value)
                cell._value = repr(_plain(value))  # openpyxl would write only 16 digits
                cell._style = number._style
        self._widths(beside)
        _page(sheet)
        last = address(rows + above, columns + beside)
        return Rows(f"A1:{last}", self._rows(word.style_id, number.style_id, above, beside))

    def _looks_numbered(self) -> bool:
        """Whether the first row, without headings above it, would be read as headings: 0, 1, 2, ..."""
        first = self.table.values[0].tolist()
        counts = [*range(len(first))], [*range(1, len(first) + 1)]
        return self.table.labelled[0] and len(first) > 1 and first in counts

    def _word(self) -> Any:
        """A text cell: it stays text when edited, and in programs that would convert it to a number."""
        cell = Cell(self.sheet)
        cell.font, cell.number_format, cell.quotePrefix = _BOLD, "@", True
        cell.alignment = Alignment(horizontal="left")
        return cell

    def _number(self) -> Any:
        cell = Cell(self.sheet)
        cell.number_format = number_format(self.table.values)
        return cell

    def _rows(self, word: int, number: int, above: int, beside: int) -> Iterator[bytes]:
        """The `<row>` elements below the first row, in the styles of these numbers."""
        cells = [letters(column) for column in range(1 + beside, self.table.shape[1] + 1 + beside)]
        for i in range(1 - above, self.table.shape[0]):
            row = i + 1 + above
            xml = f'<row r="{row}">'
            if beside:
                label = escape(spreadsheet_text(self.table.rows[i]))
                xml += f'<c r="A{row}" s="{word}" t="inlineStr"><is><t>{label}</t></is></c>'
            values = map(_plain, self.table.values[i].tolist())
            texts = orjson.dumps(list(values))[1:-1].decode().split(",")
            xml += "".join(
                f'<c r="{cell}{row}" s="{number}"><v>{text}</v></c>' for cell, text in zip(cells, texts)
            )
            yield (xml + "</row>").encode()

    def _widths(self, beside: int) -> None:
        table, sheet = self.table, self.sheet
        shown = table.values.ravel()[:10_000].tolist()
        decimals = len(number_format(table.values).partition(".")[2])
        longest = max((len(f"{value:.{decimals}f}") for value in shown), default=1)
        headings = max(map(text_width, table.columns)) if table.labelled[1] else 0
        width = max(7, min(max(longest, headings) + 3, 24))
        if beside:
            labels = max(map(text_width, table.rows))
            sheet.column_dimensions["A"].width = max(14, min(1.1 * labels + 4, MOST_WIDTH))
        first, last = 1 + beside, table.shape[1] + beside
        sheet.column_dimensions[letters(first)] = ColumnDimension(
            sheet, index=letters(first), min=first, max=last, width=width, customWidth=True
        )


def number_format(values: Numbers) -> str:
    """A format with as many decimals as the numbers have: `0`, `0.00`; `General` for long numbers."""
    if np.abs(values).max() < 1e7:
        for decimals in range(MOST_DECIMALS + 1):
            if np.array_equal(np.round(values, decimals), values):
                return f"0.{'0' * decimals}" if decimals else "0"
    return "General"


def _plain(value: float) -> float:
    """A whole number as an int, as a person would type it."""
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


def _text(sheet: Any, row: int, column: int, text: str) -> Any:
    cell = sheet.cell(row, column)
    cell.value = spreadsheet_text(text)
    cell.data_type = "s"  # even if it looks like a number or a formula
    return cell


def _heading(cell: Any, side: str) -> None:
    cell.font, cell.fill, cell.border = _BOLD, _GREY, Border(bottom=_LINE)
    cell.number_format, cell.quotePrefix = "@", True
    cell.alignment = Alignment(horizontal=side)


def _page(sheet: Any) -> None:
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_setup.fitToHeight = 0
    sheet.print_title_rows = "1:1"


def _write_labels(sheet: Any, labels: dict[str, tuple[str, ...]]) -> None:
    """Write a sentence and its right answers per row."""
    for column, heading in enumerate(("sentence", "label"), 1):
        _heading(_text(sheet, 1, column, heading), "left")
    for row, (name, texts) in enumerate(labels.items(), 2):
        _text(sheet, row, 1, name).font = _BOLD
        for column, text in enumerate(texts, 2):
            if text:
                _text(sheet, row, column, text)
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 18, 18
    _page(sheet)


def _write_settings(sheet: Any, settings: dict[str, Any], renamed: dict[str, str]) -> None:
    """Write a setting per row; `memory` and `attention` name sheets as they are called in this
    workbook."""
    for column, heading in enumerate(("setting", "value"), 1):
        cell = _text(sheet, 1, column, heading)
        _heading(cell, "left")
    for row, (name, value) in enumerate(settings.items(), 2):
        _text(sheet, row, 1, name).font = _BOLD
        if isinstance(value, str):
            known = name.strip().lstrip("-").casefold() in ("memory", "attention")
            cell = _text(sheet, row, 2, renamed.get(value, value) if known else value)
        else:
            cell = sheet.cell(row, 2, _plain(value) if isinstance(value, float) else value)
        cell.alignment = Alignment(horizontal="left")
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 18, 18
    _page(sheet)
