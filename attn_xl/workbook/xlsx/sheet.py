"""Adds a sheet of a layout to an openpyxl workbook: titles, links, widths, colours, charts, pages."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import groupby
from typing import Any

import numpy as np
from openpyxl.formatting.rule import ColorScale, FormatObject, Rule
from openpyxl.styles.colors import Color
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.dimensions import ColumnDimension
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.properties import PageSetupProperties

from attn_xl.models.steps import MOVED, POSITIONS
from attn_xl.records import changed
from attn_xl.spreadsheets.addresses import (
    MAX_LITERAL,
    address,
    cut,
    letters,
    quoted,
    split_address,
)
from attn_xl.text import text_width
from attn_xl.workbook.canvas.drawing import A4, CHARACTER, FONT, LEAST, PAPERS, spread
from attn_xl.workbook.canvas.panels import NUMBER_ROOM
from attn_xl.workbook.layout.layout import (
    FIRST_COLUMN,
    FIRST_ROW,
    HEADER_ROW,
    LABEL_COLUMN,
    LINK_ROW,
    NOTE_ROW,
    TITLE_ROW,
    Layout,
    Sheet,
)
from attn_xl.workbook.layout.page import NOTHING, Block, Cell, look_of

from .package import Rows
from .rows import CellStyles, FreeCells, caption_above, sheet_rows, spreadsheet_text
from .styles import Styles, set_text

MOST_HEADING, MOST_LABEL = 14, 28
"""Characters: the widest columns and row labels; longer headings wrap."""
WIDEST = 255.0
"""Characters: the widest column that Excel opens without repairing the file."""
TO_COME = 11
"""Characters: the width of a column of answers, which must not show how long they are."""
MOST_PROMPT_TITLE, MOST_PROMPT = 32, 255
"""UTF-16 units: Excel's limits."""
PAGE_CHARACTERS = 260
"""Characters across a landscape page that are still readable."""
LEGIBLE = 8.0
"""The size, in points, of the smallest numbers on paper where steps share a sheet."""
MOST_PAGES = 4
"""Pages: of a picture with the steps of an earlier one that needs more, the first is printed."""
CENTIMETRE = 72 / 2.54
"""Points."""
DARK = 0.85
"""The share of a colour scale from which numbers are white."""
AROUND_ZERO = MOVED, POSITIONS
"""Steps with a colour scale on both sides of 0."""
LESS_TO_MORE = "FF2166AC", "FFFFFFFF", "FFB35806"
"""Blue for less, orange for more: told apart by colour-blind readers, too."""
MOST_SHRUNK = 1.4
"""A text that is this many pages high when it fills the width is printed on one page, smaller."""


def add_sheet(
    book: Any,
    page: Any,
    layout: Layout,
    sheet: Sheet,
    styles: Styles,
    live: bool,
    dynamic: bool = False,
) -> Rows:
    """Add a sheet to an openpyxl workbook, and return its rows, to be streamed.

    Args:
        page: the template's sheet whose page setup is copied.
        live: write formulas with their values, not values alone.
        dynamic: write array formulas that spill.
    """
    return _SheetWriter(book, page, layout, sheet, styles).rows(live, dynamic)


def defined_names(layout: Layout) -> dict[str, str]:
    """The cells of each matrix by its defined name."""
    # IronCalc's MATCH and INDEX accept only ranges, even for one cell; a scalar is a single cell
    return {
        block.name: block.place.absolute if block.node.scalar else block.place.absolute_range
        for block in layout.blocks.values()
    }


class _SheetWriter:
    def __init__(self, book: Any, page: Any, layout: Layout, sheet: Sheet, styles: Styles) -> None:
        self._book, self._page, self._layout, self._styles = book, page, layout, styles
        self._sheet, self._extras = sheet, sheet.extras
        self._ws = book.create_sheet(sheet.name)

    def rows(self, live: bool, dynamic: bool) -> Rows:
        sheet, extras, ws = self._sheet, self._extras, self._ws
        places = [block.place for block in sheet.blocks]
        rows = [*(cell.row for cell in extras.cells), *(place.last_row for place in places)]
        columns = [cell.column + cell.across - 1 for cell in extras.cells]
        columns += [place.last_column for place in places]
        last_row, last_column = max(rows, default=1), max(columns, default=1)
        group = f"{sheet.group}: " if sheet.group else ""
        self._text(TITLE_ROW, LABEL_COLUMN, group + sheet.title, "attn title")
        if sheet.note:
            self._text(NOTE_ROW, LABEL_COLUMN, self._note(), "attn note")
        for block in sheet.blocks:
            self._block(block)
        widths = self._widths()
        self._links(widths)
        last_column = max(last_column, ws.max_column)  # links may run on to the right
        if sheet.blocks and not extras.canvas:
            frozen_to = HEADER_ROW if sheet.main.node.sheet else FIRST_ROW
            ws.freeze_panes = address(frozen_to, FIRST_COLUMN)
        ws.sheet_properties.tabColor = self._tab_colour()
        ws.sheet_state = "hidden" if extras.hidden else "visible"
        printed = len(widths)
        if extras.print_to:  # marks beside it are not on paper
            printed = split_address(extras.print_to.rpartition(":")[2])[1]
        self._page_setup(widths[:printed], last_row)
        self._add_extras()
        styles = self._styles
        beside = Cell(1, 1, "word", style="attn label", align="right", indent=1)
        cell_styles = CellStyles(
            label=styles.free(beside) if extras.canvas else styles.number("attn label", text=True),
            heading=styles.number("attn heading", text=True),
            caption=styles.number("attn label", text=True),
            numbers={block.name: self._style_of(block) for block in sheet.blocks},
            blanks={
                block.name: styles.of_matrix(block.node, blank=True)
                for block in sheet.blocks
                if block.node in self._layout.blanks.open
            },
            heading_height=None if extras.canvas else self._heading_height(),
            heights=extras.heights,
            dynamic=dynamic,
        )
        cells = f"A1:{address(last_row, last_column)}"
        return Rows(cells, sheet_rows(sheet, self._layout, cell_styles, live, self._free_cells()))

    def _free_cells(self) -> FreeCells:
        """The cells besides the matrices by row."""
        free: dict[int, list[tuple[Cell, int]]] = {}
        captions = [
            Cell(*place, block.caption)
            for block in self._sheet.blocks
            if not self._extras.canvas and (place := caption_above(block)) and place[0] >= HEADER_ROW
        ]
        for cell in (*self._extras.cells, *captions):
            style = self._styles.free(self._as_shown(cell))
            spanned = [Cell(cell.row, cell.column + i) for i in range(1, cell.across)]
            free.setdefault(cell.row, []).extend((part, style) for part in (cell, *spanned))
        return free

    def _as_shown(self, cell: Cell) -> Cell:
        """A cell that repeats a number, with the number format of its matrix, unless it has its own and
        no decimals are asked for."""
        if not cell.like or (cell.number_format and self._styles.decimals is None):
            return cell
        return changed(cell, number_format=self._styles.number_format(self._layout.named[cell.like]))

    def _note(self) -> str:
        note = self._sheet.note
        if self._sheet.blocks and self._scaled(self._sheet.main):
            around_zero = self._sheet.main.node.step in AROUND_ZERO
            what = "number furthest from 0" if around_zero else "largest number"
            note += f" The darkest cell holds the {what}."
        return note

    def _text(self, row: int, column: int, text: str, style: str) -> Any:
        cell = self._ws.cell(row, column)
        set_text(cell, text)
        cell.style = self._styles.named(style).name
        return cell

    def _block(self, block: Block) -> None:
        caption = None if self._extras.canvas else caption_above(block)
        if caption and caption[0] < HEADER_ROW:
            self._text(*caption, block.caption, "attn note")
        blanks = self._layout.blanks  # a colour scale would hide the marks of a corrected exercise
        if self._scaled(block) and not (blanks.filled and block.node in blanks.open):
            end, diverging = self._layout.scale_end(block.node), block.node.step in AROUND_ZERO
            self._colour_scale(block.place.range, end, diverging=diverging)

    def _scaled(self, block: Block) -> bool:
        """Whether it has a colour scale; not where its colours mark right and wrong answers."""
        return (block.node.role == "attention" or block.node.step in AROUND_ZERO) and not any(
            tint.range == block.place.range for tint in self._extras.tints
        )

    def _style_of(self, block: Block) -> int:
        node = block.node
        to_choose = node.role == "input" and node.texts is not None and node.scalar
        if to_choose:
            return self._styles.number("attn input", text=True)
        return self._styles.of_matrix(node)

    def _links(self, widths: list[float]) -> None:
        sheet, layout = self._sheet, self._layout

        def short(name: str) -> str:
            return name.removeprefix(f"{sheet.group}.") if sheet.group else name

        links = [(layout.home, layout.home)]
        if not self._extras.canvas and not sheet.shared:
            links += [(f"← {short(name)}", name) for name in layout.sources[sheet.name]]
            links += [(f"→ {short(name)}", name) for name in layout.targets[sheet.name]]

        def end(column: int, text: str) -> int:
            """The column after those that a text takes: a long one runs over into the next."""
            room = 0.0
            while room < len(text) + 1:
                room += widths[column - 1] if column <= len(widths) else 8.4
                column += 1
            return column

        above = ((caption_above(block), block.caption) for block in sheet.blocks)
        captions = sorted((at[1], text) for at, text in above if at and at[0] == LINK_ROW)
        column = LABEL_COLUMN
        for text, target in links:
            if target == sheet.name:
                continue
            for first, caption in () if self._extras.canvas else captions:
                if column < end(first, caption) and end(column, text) > first:
                    column = end(first, caption)
            cell = self._text(LINK_ROW, column, text, "attn link")
            cell.hyperlink = _link(cell.coordinate, target, text)
            cell.style = "attn link"
            column = end(column, text)

    def _colour_scale(
        self, cells: str, end: float = 1.0, when: str = "", *, diverging: bool = False
    ) -> None:
        low, high = (
            self._styles.fill(f"attn scale {end}") or Color(rgb=default)
            for end, default in (("low", "FFFFFFFF"), ("high", "FF888888"))
        )
        ends = [FormatObject(type="num", val=0), FormatObject(type="num", val=end)]
        colours = [low, high]
        if diverging:
            ends.insert(0, FormatObject(type="num", val=-end))
            colours = [Color(rgb=rgb) for rgb in LESS_TO_MORE]
        if when:  # until then, all numbers are below the scale
            ends = [
                FormatObject(type="formula", val=f"IF({when},0,9)"),
                FormatObject(type="formula", val=f"IF({when},{end:g},10)"),
            ]
        scale = ColorScale(cfvo=ends, color=colours)
        rule = Rule(type="colorScale", colorScale=scale)
        self._ws.conditional_formatting.add(cells, rule)
        if not when:
            dark = f"ABS({cells.partition(':')[0]})>={DARK * end:g}"
            look = self._styles.differential("attn dark")
            self._ws.conditional_formatting.add(
                cells, Rule(type="expression", formula=[dark], dxf=look)
            )

    def _tab_colour(self) -> Any:
        if not self._sheet.blocks or self._extras.canvas:
            return None
        node = self._sheet.main.node
        return self._styles.fill("attn scale high" if node.role == "attention" else look_of(node))

    def _widths(self) -> list[float]:
        """Set the widths of the columns in use, and return them."""
        widths: dict[int, float] = dict(self._extras.widths)
        canvas = self._extras.canvas

        def widen(column: int, width: float) -> None:
            if canvas or column not in self._extras.widths:
                widths[column] = max(widths.get(column, 0.0), width)

        for block in () if canvas else self._sheet.blocks:
            place, node = block.place, block.node
            number = max(7, self._styles.shown_width(node) + 2)
            if not np.isfinite(self._layout.seen(node)).all():
                number = max(number, TO_COME)  # an answer may be wider than the numbers shown
            headings = node.columns if any(node.columns) else (block.name.rpartition(".")[2],)
            for column, heading in enumerate(headings, place.column):
                widen(column, max(number, min(text_width(heading) + 2, MOST_HEADING)))
            if block.labelled:
                labels = [*node.rows, block.caption if block.headed else ""]
                widest = max(map(text_width, labels))
                widen(place.column - 1, max(10, min(widest + 3, MOST_LABEL)))
        if canvas:
            for block in self._sheet.blocks:
                shown = self._styles.shown_width(block.node)
                for column in range(block.place.column, block.place.last_column + 1):
                    widen(column, shown + NUMBER_ROOM)
        if canvas or self._styles.decimals is not None:
            for column, like in {(cell.column, cell.like) for cell in self._extras.cells if cell.like}:
                width = self._styles.shown_width(self._layout.named[like]) + NUMBER_ROOM
                widths[column] = max(widths.get(column, 0.0), width)
        sizes = [self._styles.named(name).font.sz or 11 for name in ("attn value", "Normal")]
        scale = max(1.0, sizes[0] / sizes[1])  # columns are measured in digits of Normal
        last = max(widths, default=1)
        wide = [min(WIDEST, widths.get(column, 3.0) * scale) for column in range(1, last + 1)]
        all_widths = [round(width, 1) for width in wide]
        first = 1
        for width, run in groupby(all_widths):
            last = first + len(list(run)) - 1
            self._ws.column_dimensions[letters(first)] = ColumnDimension(
                self._ws, index=letters(first), min=first, max=last, width=width, customWidth=True
            )
            first = last + 1
        return all_widths

    def _heading_height(self) -> float | None:
        """The height, in points, of headings that need several lines; None if one line is enough."""
        headings = [heading for block in self._sheet.blocks for heading in block.node.columns]
        longest = max(map(text_width, headings), default=0)
        lines = min(4, -(-(longest + 2) // MOST_HEADING))
        one = float(self._page.sheet_format.defaultRowHeight or 15)
        return one * lines if lines > 1 else None

    def _page_setup(self, widths: list[float], last_row: int) -> None:
        width = sum(widths)
        page, ws, extras = self._page, self._ws, self._extras
        ws.sheet_view.showGridLines = page.sheet_view.showGridLines
        ws.sheet_view.zoomScale = extras.zoom or page.sheet_view.zoomScale
        ws.sheet_format, ws.page_margins = copy(page.sheet_format), page.page_margins
        ws.sheet_format.defaultRowHeight = extras.row_height or page.sheet_format.defaultRowHeight
        ws.print_options, ws.HeaderFooter = page.print_options, page.HeaderFooter
        ws.page_setup.orientation = page.page_setup.orientation
        ws.page_setup.paperSize = page.page_setup.paperSize
        ws.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
        if extras.print_to == NOTHING:  # not even the titles of pages
            return
        if extras.canvas or extras.starts:
            self._picture_setup(width, last_row, len(widths))
            return
        if self._sheet.shared and (upright := self._fits_upright(widths, last_row)) is not None:
            ws.page_setup.orientation = "portrait" if upright else "landscape"
            ws.page_setup.fitToWidth = ws.page_setup.fitToHeight = 1
            return
        if self._divide(widths):
            return
        ws.page_setup.fitToWidth = max(1, round(width / PAGE_CHARACTERS))
        ws.page_setup.fitToHeight = int(self._fits_a_page(width, last_row))
        if not self._sheet.blocks:
            return
        # Only for several pages, and never both: with row and column titles together, LibreOffice takes
        # ten times as long to open the workbook of an encoder layer of width 384.
        if ws.page_setup.fitToWidth > 1:
            ws.print_title_cols = f"{letters(LABEL_COLUMN)}:{letters(LABEL_COLUMN)}"
        elif not ws.page_setup.fitToHeight:
            ws.print_title_rows = f"{HEADER_ROW}:{HEADER_ROW}"

    def _divide(self, widths: Sequence[float]) -> bool:
        """Divide the steps that share a sheet beside each other among pages, each with the row labels,
        if they are too small to read on one; returns whether they were divided."""
        ws, room = self._ws, self._room()[0] / CHARACTER
        font = self._styles.named("attn value").font.sz or FONT
        least = min(1.0, LEGIBLE / font)
        if self._extras.charts or not self._sheet.shared or sum(widths) * least <= room:
            return False
        firsts = {block.place.column - block.labelled for block in self._sheet.blocks}
        starts = sorted(max(first, LABEL_COLUMN + 1) for first in firsts)
        ends = [*(start - 1 for start in starts[1:]), len(widths)]
        pages, breaks = [sum(widths[: ends[0]])], []
        for start, end in zip(starts[1:], ends[1:]):
            here = sum(widths[start - 1 : end])
            if (pages[-1] + here) * least > room:
                breaks.append(start - 1)
                pages.append(sum(widths[:LABEL_COLUMN]))
            pages[-1] += here
        if max(pages) * least > room:
            return False  # a matrix that is too wide by itself
        ws.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=False)
        ws.page_setup.scale = int(100 * min(1.0, room / max(pages)))
        ws.print_title_cols = f"{letters(LABEL_COLUMN)}:{letters(LABEL_COLUMN)}"
        for column in breaks:
            ws.col_breaks.append(Break(id=column))
        return True

    def _fits_upright(self, widths: list[float], last_row: int) -> bool | None:
        """Whether the numbers and charts of a sheet that fits a page are larger on one that stands
        upright; None if they do not fit."""
        one = self._ws.sheet_format.defaultRowHeight or 15
        across, down = sum(widths) * CHARACTER, float(last_row * one)
        for chart in self._extras.charts:
            before = sum(widths[: chart.column - 1]) + 8.4 * max(0, chart.column - 1 - len(widths))
            across = max(across, before * CHARACTER + chart.width * CENTIMETRE)
            down = max(down, (chart.row - 1) * one + chart.height * CENTIMETRE)
        rooms = self._room(), self._room("portrait")
        lying, upright = (min(1.0, wide / across, high / down) for wide, high in rooms)
        font = self._styles.named("attn value").font.sz or FONT
        return upright > lying if max(lying, upright) * font >= LEAST else None

    def _fits_a_page(self, width: float, last_row: int) -> bool:
        """Whether a sheet that is fitted to the width of its paper is readable on one page."""
        if not self._extras.heights:
            return last_row <= 60
        one = self._ws.sheet_format.defaultRowHeight or 15
        height = sum(self._extras.heights.get(row, one) for row in range(1, last_row + 1))
        across, down = self._room()
        return bool(height * across / (width * CHARACTER) <= MOST_SHRUNK * down)

    def _room(self, orientation: str = "landscape") -> tuple[float, float]:
        """The width and height, in points, that a page leaves for cells."""
        paper, margins = self._ws.page_setup.paperSize, self._page.page_margins
        across, down = PAPERS.get(int(paper or A4), PAPERS[A4])
        if orientation == "landscape":
            across, down = down, across
        return across - 72 * (margins.left + margins.right), down - 72 * (margins.top + margins.bottom)

    def _picture_setup(self, width: float, last_row: int, last_column: int) -> None:
        """Print a picture on one page, or on several that end between steps; of one that repeats the
        steps of an earlier one on many pages, the first."""
        ws, extras = self._ws, self._extras
        ws.page_setup.orientation = "landscape"
        heights = [extras.heights.get(row, extras.row_height) for row in range(1, last_row + 1)]
        font = self._styles.named("attn value").font.sz or FONT
        pages = spread(width * CHARACTER, heights, extras.starts, extras.sections, self._room(), font)
        if not pages.breaks and pages.whole:
            ws.page_setup.fitToWidth = ws.page_setup.fitToHeight = 1
            return
        if extras.again and len(pages.breaks) >= MOST_PAGES:
            ws.print_area = f"A1:{address(pages.breaks[0] - 1, last_column)}"
            ws.page_setup.fitToWidth = ws.page_setup.fitToHeight = 1
            return
        # Programs ignore page breaks on a sheet that is fitted to pages.
        ws.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=False)
        ws.page_setup.scale = int(round(100 * pages.scale, 6))
        for row in pages.breaks:
            ws.row_breaks.append(Break(id=row - 1))

    def _add_extras(self) -> None:
        ws, extras = self._ws, self._extras
        for cell in (one for one in self._extras.cells if one.link or one.across > 1):
            here = address(cell.row, cell.column)
            if cell.link:
                ws._hyperlinks.append(_link(here, cell.link, str(cell.value), cell.link_cell))
            if cell.across > 1:
                last = address(cell.row, cell.column + cell.across - 1)
                ws.merged_cells.add(f"{here}:{last}")
        for choice in extras.choices:
            made = DataValidation(
                type="list" if choice.options else None,
                formula1=choice.options.removeprefix("=") or None,
                allow_blank=True,
                showErrorMessage=bool(choice.options),
                showInputMessage=bool(choice.prompt),
                promptTitle=cut(spreadsheet_text(choice.title), MOST_PROMPT_TITLE) or None,
                prompt=cut(spreadsheet_text(choice.prompt), MOST_PROMPT) or None,
            )
            for cells in choice.range.split():
                made.add(cells)
            ws.add_data_validation(made)
        for scale in extras.scales:
            self._colour_scale(scale.range, scale.end, diverging=scale.diverging)
        for tint in extras.tints:
            look = self._styles.differential(tint.style)
            rule = Rule(type="expression", formula=[tint.formula], dxf=look)
            ws.conditional_formatting.add(tint.range, rule)
        for heat in extras.heats:
            self._colour_scale(heat.range, when=heat.formula)
        if extras.charts:
            from .charts import add_chart

            for chart in extras.charts:
                add_chart(ws, chart)
        if self._layout.protected:
            ws.protection.sheet = True
            ws.protection.formatColumns = ws.protection.formatRows = False
        if extras.freeze:
            ws.freeze_panes = extras.freeze
        if extras.print_to:
            ws.print_area = extras.print_to


def _link(cell: str, sheet: str, text: str, target: str = "A1") -> Any:
    shown = spreadsheet_text(text)[:MAX_LITERAL]
    return Hyperlink(ref=cell, location=f"{quoted(sheet)}!{target}", display=shown)
