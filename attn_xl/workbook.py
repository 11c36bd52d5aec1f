"""A layout in, an xlsx out: sheets dressed by the template, names, links, page setup."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from openpyxl.cell.cell import Cell
from openpyxl.formatting.rule import ColorScale, FormatObject, Rule
from openpyxl.styles.colors import Color
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.workbook.properties import CalcProperties
from openpyxl.worksheet.dimensions import ColumnDimension
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.properties import PageSetupProperties

from . import __version__
from .cells import address, letters, quoted
from .files import writing
from .layout import (
    FIRST_COLUMN,
    FIRST_ROW,
    HEADER_ROW,
    LABEL_COLUMN,
    LINK_ROW,
    NOTE_ROW,
    OVERVIEW,
    TITLE_ROW,
    Block,
    Layout,
    Sheet,
    lay_out,
)
from .matrix import Graph, Node, clean
from .models import Computation, as_computation
from .operations import Matrix
from .package import Rows, save
from .rows import Looks, caption_above, sheet_rows, spreadsheet_text
from .settings import Formulas, Settings
from .templates import COVER, DEFAULT, MATRIX, find_template, load_template

CALCULATION_ID = 191029
"""That of Excel 2019 and 365: a lower one makes them recalculate on loading, and ask to save."""
MOST_HEADING, MOST_LABEL = 14, 28
"""So many characters wide are columns and row labels at the most; longer headings take more lines."""
PAGE_CHARACTERS = 260
"""What is still readable across a landscape page."""


def write_workbook(
    computation: Computation | Graph | Matrix,
    path: str | os.PathLike[str],
    *,
    template: str | os.PathLike[str] = DEFAULT,
    settings: Settings = Settings(),
    source: str = "",
) -> Layout:
    """Write every matrix of a computation as a sheet of live formulas with their values.

    Args:
        computation: what `attend` made, or a graph, or the matrix that a model returned.
        path: the .xlsx to write; what stands there is replaced when the new one is complete.
        template: a template's file, or the name of a shipped one.
        settings: live formulas or values only; decimals shown.
        source: where the numbers came from, for the Overview.

    Returns:
        Where everything was put.

    Raises:
        CallError: if there is no such template.
        InputError: if the template or the size of a matrix does not do.
        OutputError: if the file cannot be written; then nothing was changed.
    """
    layout = lay_out(as_computation(computation), settings.sheets_for)
    book = load_template(find_template(template))
    writer = _Writer(book, layout, settings, source)
    with writing(Path(path)) as temporary:
        save(book, temporary, writer.prepare())
    return layout


class _Writer:
    """Puts a layout into a template's workbook."""

    def __init__(self, book: Any, layout: Layout, settings: Settings, source: str) -> None:
        self._book, self._layout, self._settings = book, layout, settings
        self._source = clean(source)
        self._page = book[MATRIX]
        self._live = settings.formulas is Formulas.cell

    def prepare(self) -> dict[str, Rows]:
        """Dress all sheets; the rows that are left to stream, by sheet."""
        book, cover = self._book, self._book[COVER]
        for sheet in list(book.worksheets):
            if sheet is not cover and sheet is not self._page:
                book.remove(sheet)
        cover.title = OVERVIEW
        rows = {sheet.name: self._sheet(sheet) for sheet in self._layout.sheets}
        self._cover(cover)
        book.remove(self._page)
        book.active = 0
        book.calculation = CalcProperties(calcId=CALCULATION_ID, fullCalcOnLoad=False)
        properties = book.properties
        properties.title, properties.creator = clean(self._layout.title), f"attn-xl {__version__}"
        properties.lastModifiedBy = None
        properties.created = properties.modified = datetime(1980, 1, 1)  # no clock
        return rows

    # One matrix sheet

    def _sheet(self, sheet: Sheet) -> Rows:
        ws = self._book.create_sheet(sheet.name)
        last_row = max(block.place.last_row for block in sheet.blocks)
        last_column = max(block.place.last_column for block in sheet.blocks)
        group = f"{sheet.group}: " if sheet.group else ""
        self._text(ws, TITLE_ROW, LABEL_COLUMN, group + sheet.title, "attn title")
        note = sheet.note
        if sheet.main.node.role == "attention":
            note += " The darkest cell has the largest."
        self._text(ws, NOTE_ROW, LABEL_COLUMN, note, "attn note")
        for block in sheet.blocks:
            self._define(block)
            caption = caption_above(block)
            if caption:
                self._text(ws, *caption, block.caption, "attn note")
            if block.node.role == "attention":
                self._colour_scale(ws, block)
        widths = self._widths(ws, sheet)
        self._links(ws, sheet, widths)
        frozen_to = HEADER_ROW if sheet.main.node.sheet else FIRST_ROW
        ws.freeze_panes = address(frozen_to, FIRST_COLUMN)
        ws.sheet_properties.tabColor = self._tab_colour(sheet.main.node)
        self._page_setup(ws, sum(widths), last_row)
        looks = Looks(
            label=self._style("attn label", text=True),
            heading=self._style("attn heading", text=True),
            caption=self._style("attn label", text=True),
            numbers={block.name: self._number_style(block.node) for block in sheet.blocks},
            heading_height=self._heading_height(sheet),
        )
        xml = sheet_rows(sheet, self._layout, looks, self._live)
        return Rows(f"A1:{address(last_row, last_column)}", xml)

    def _text(self, ws: Any, row: int, column: int, text: str, style: str) -> Any:
        cell = ws.cell(row, column)
        _set_text(cell, text)
        cell.style = style
        return cell

    def _link(self, ws: Any, row: int, column: int, text: str, sheet: str) -> None:
        cell = self._text(ws, row, column, text, "attn link")
        cell.hyperlink = Hyperlink(ref=cell.coordinate, location=f"{quoted(sheet)}!A1", display=text)
        cell.style = "attn link"

    def _links(self, ws: Any, sheet: Sheet, widths: list[float]) -> None:
        def short(name: str) -> str:
            return name.removeprefix(f"{sheet.group}.") if sheet.group else name

        links = [(OVERVIEW, OVERVIEW)]
        links += [(f"← {short(name)}", name) for name in self._layout.sources[sheet.name]]
        links += [(f"→ {short(name)}", name) for name in self._layout.targets[sheet.name]]
        column = LABEL_COLUMN
        for text, target in links:
            self._link(ws, LINK_ROW, column, text, target)
            room = 0.0  # a link that is longer than its column is wide runs on into the next
            while room < len(text) + 1:
                room += widths[column - 1] if column <= len(widths) else 8.4
                column += 1

    def _define(self, block: Block) -> None:
        self._book.defined_names[block.name] = DefinedName(block.name, attr_text=block.place.absolute)

    def _colour_scale(self, ws: Any, block: Block) -> None:
        low, high = (
            self._fill(f"attn scale {end}") or Color(rgb=default)
            for end, default in (("low", "FFFFFFFF"), ("high", "FF888888"))
        )
        scale = ColorScale(
            cfvo=[FormatObject(type="num", val=0), FormatObject(type="max")], color=[low, high]
        )
        ws.conditional_formatting.add(block.place.range, Rule(type="colorScale", colorScale=scale))

    def _fill(self, style: str) -> Any:
        """The colour of a style, of the theme or its own, or None."""
        fill = self._named(style).fill
        return fill.fgColor if fill.patternType == "solid" else None

    def _named(self, style: str) -> Any:
        return next(named for named in self._book._named_styles if named.name == style)

    def _tab_colour(self, node: Node) -> Any:
        return self._fill("attn scale high" if node.role == "attention" else f"attn {node.role}")

    # Styles

    def _style(self, name: str, *, text: bool = False, number_format: str = "") -> int:
        cell = Cell(self._page)
        cell.style = name
        if text:  # stays text when it is edited, too
            cell.number_format, cell.quotePrefix = "@", True
        if number_format:
            cell.number_format = number_format
        return int(cell.style_id)

    def _number_style(self, node: Node) -> int:
        name = f"attn {node.role}"
        return self._style(name, number_format=self._number_format(node))

    def _number_format(self, node: Node) -> str:
        """The template's, or what --decimals asks for; with an exponent where it needs one."""
        decimals = self._settings.decimals
        own = str(self._named(f"attn {node.role}").number_format)
        if node.scalar or node.texts or node.hides:
            return "General"
        if decimals is None:
            decimals = len(own.partition(".")[2]) if set(own) <= set("0.#,") else 3
        else:
            own = f"0.{'0' * decimals}" if decimals else "0"
        if node.needs_exponent(decimals):
            return f"0.{'0' * max(decimals, 1)}E+00"
        return own

    def _widths(self, ws: Any, sheet: Sheet) -> list[float]:
        """Make the columns just wide enough; the width of each column in use."""
        widths: dict[int, float] = {}

        def widen(column: int, width: float) -> None:
            widths[column] = max(widths.get(column, 0.0), width)

        for block in sheet.blocks:
            place, node = block.place, block.node
            number = max(8, self._shown_width(node) + 2)
            headings = node.columns if any(node.columns) else (block.name.rpartition(".")[2],)
            for column, heading in enumerate(headings, place.column):
                widen(column, max(number, min(_text_width(heading) + 2, MOST_HEADING)))
            if block.labelled:
                labels = [*node.rows, block.caption if block.headed else ""]
                widen(LABEL_COLUMN, max(11, min(max(map(_text_width, labels)) + 3, MOST_LABEL)))
        scale = (self._named("attn value").font.sz or 11) / 11
        all_widths = [round(widths.get(column, 3.0) * scale, 1) for column in range(1, max(widths) + 1)]
        first = 1
        for width, run in groupby(all_widths):
            last = first + len(list(run)) - 1
            ws.column_dimensions[letters(first)] = ColumnDimension(
                ws, index=letters(first), min=first, max=last, width=width, customWidth=True
            )
            first = last + 1
        return all_widths

    def _heading_height(self, sheet: Sheet) -> float | None:
        """That of headings which do not fit on one line, in points; None where all do."""
        longest = max(_text_width(heading) for block in sheet.blocks for heading in block.node.columns)
        lines = min(4, -(-(longest + 2) // MOST_HEADING))
        one = float(self._page.sheet_format.defaultRowHeight or 15)
        return one * lines if lines > 1 else None

    def _shown_width(self, node: Node) -> int:
        if node.texts:
            return max(map(_text_width, node.texts))
        if node.hides:
            return 8
        number_format = self._number_format(node)
        decimals = len(number_format.partition("E")[0].partition(".")[2])
        ends = (float(node.values.min()), float(node.values.max()))
        if "E" in number_format:
            return decimals + 8
        return max(len(f"{value:.{decimals}f}") for value in ends)

    # The page

    def _page_setup(self, ws: Any, width: float, last_row: int) -> None:
        page = self._page
        ws.sheet_view.showGridLines = page.sheet_view.showGridLines
        ws.sheet_view.zoomScale = page.sheet_view.zoomScale
        ws.sheet_format, ws.page_margins = page.sheet_format, page.page_margins
        ws.print_options, ws.HeaderFooter = page.print_options, page.HeaderFooter
        ws.page_setup.orientation = page.page_setup.orientation
        ws.page_setup.paperSize = page.page_setup.paperSize
        ws.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
        ws.page_setup.fitToWidth = max(1, round(width / PAGE_CHARACTERS))
        ws.page_setup.fitToHeight = 1 if last_row <= 60 else 0
        if ws.page_setup.fitToWidth > 1 or not ws.page_setup.fitToHeight:
            ws.print_title_rows = f"{HEADER_ROW}:{HEADER_ROW}"
            ws.print_title_cols = f"{letters(LABEL_COLUMN)}:{letters(LABEL_COLUMN)}"

    # The cover

    def _cover(self, ws: Any) -> None:
        """Fill the placeholders of the cover; `{steps}` becomes the table of all steps."""
        sentences = "; ".join(" ".join(words[:20]) for words in self._layout.sentences.values())
        texts = {
            "{title}": clean(self._layout.title),
            "{source}": self._source,
            "{sentences}": sentences,
        }
        start: Any = None
        for cells in list(ws.iter_rows()):
            for cell in cells:
                if not isinstance(cell.value, str) or "{" not in cell.value:
                    continue
                if cell.value == "{steps}":
                    start = cell
                    continue
                text = cell.value
                for placeholder, value in texts.items():
                    text = text.replace(placeholder, value)
                _set_text(cell, text)
        if start is not None:
            self._steps(ws, start)

    def _steps(self, ws: Any, start: Any) -> None:
        looks = [copy.copy(ws.cell(start.row, start.column + i)._style) for i in range(4)]
        row = start.row
        ws.sheet_properties.outlinePr.summaryBelow = False
        letter = letters(start.column)
        names = [_text_width(sheet.name) + 2 for sheet in self._layout.sheets]
        ws.column_dimensions[letter].width = max(ws.column_dimensions[letter].width, *names)
        for sheet, texts in self._step_rows():
            for i, text in enumerate(texts):
                cell = ws.cell(row, start.column + i)
                cell._style = copy.copy(looks[i])
                if text:
                    _set_text(cell, text)
            if sheet:
                if sheet.part:
                    ws.row_dimensions[row].outlineLevel = 1
                cell = ws.cell(row, start.column)
                location = f"{quoted(sheet.name)}!A1"
                cell.hyperlink = Hyperlink(ref=cell.coordinate, location=location, display=texts[0])
                cell._style = copy.copy(looks[0])
            else:
                ws.cell(row, start.column).style = "attn label"
            row += 1

    def _step_rows(self) -> Iterator[tuple[Sheet | None, tuple[str, str, str, str]]]:
        """The lines of the Overview: sheets, under headings for sentences, layers and heads."""
        group = part = ""
        for sheet in self._layout.sheets:
            if sheet.group != group:
                group, part = sheet.group, ""
                words = self._layout.sentences.get(group, ())
                title = f"{group}: {' '.join(words)}" if group else "All sentences"
                yield None, (title, "", "", "")
            if sheet.part != part:
                part = sheet.part
                if part:
                    yield None, (f"   {part}", "", "", "")
            node = sheet.main.node
            shape = f"{node.shape[0]} × {node.shape[1]}" if not node.sheet else ""
            yield sheet, (sheet.name, node.words if not node.sheet else "", shape, sheet.note)


def _set_text(cell: Any, text: str) -> None:
    cell.value = spreadsheet_text(text)
    cell.data_type = "s"  # whatever it looks like


@lru_cache(1 << 16)  # the same labels stand on every sheet
def _text_width(text: str) -> int:
    """How many columns of a fixed-width font a text takes: East Asian letters take two."""
    from unicodedata import east_asian_width

    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
