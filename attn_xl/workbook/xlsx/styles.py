"""The styles and number formats of cells, from the named styles of a template."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from openpyxl.cell.cell import Cell
from openpyxl.styles import Alignment, Border, Protection, Side
from openpyxl.styles.differential import DifferentialStyle

from attn_xl.graph.extent import HIDES
from attn_xl.graph.matrix import Matrix, Numbers
from attn_xl.settings import Settings
from attn_xl.spreadsheets.addresses import MAX_TEXT, cut
from attn_xl.text import text_width
from attn_xl.workbook.layout.page import Cell as PageCell
from attn_xl.workbook.layout.page import look_of
from attn_xl.workbook.templates import STAND_INS

from .rows import spreadsheet_text

HIDDEN_TEXT = "-1E+09"
"""The text shown for masked numbers where no number is masked yet."""
LARGE = 1.3
"""Factor on the size of text, for arrows and signs."""


class Styles:
    """The style numbers of a workbook by kind of cell."""

    def __init__(
        self, book: Any, page: Any, settings: Settings, seen: Callable[[Matrix], Numbers]
    ) -> None:
        """`seen` gives the numbers that a matrix's format may depend on; NaN for hidden answers."""
        self._book, self._page, self._settings, self._seen = book, page, settings, seen
        self.decimals = settings.decimals
        self._numbers: dict[Any, int] = {}
        self._formats: dict[tuple[Matrix, bool], str] = {}
        self._shown: dict[Matrix, int] = {}
        self._named = {named.name: named for named in book._named_styles}
        self._differential: dict[str, Any] = {}

    def named(self, name: str) -> Any:
        """A style of the template, or its stand-in if the template lacks it."""
        while name not in self._named:
            name = STAND_INS[name]
        return self._named[name]

    def fill(self, name: str) -> Any:
        """The fill colour of a style, from the theme or its own; None for no fill."""
        fill = self.named(name).fill
        return fill.fgColor if fill.patternType == "solid" else None

    def differential(self, name: str) -> Any:
        """A style for conditional formatting, made once."""
        if name not in self._differential:
            self._differential[name] = self._made_differential(name)
        return self._differential[name]

    def _made_differential(self, name: str) -> Any:
        named = self.named(name)
        font = named.font.__copy__()
        font.name = font.sz = font.scheme = font.family = font.charset = None
        fill = named.fill.__copy__()
        if fill.patternType == "solid":
            fill.bgColor = fill.fgColor
        return DifferentialStyle(font=font, fill=fill)

    def number(
        self, name: str, *, text: bool = False, number_format: str = "", unlocked: bool = False
    ) -> int:
        """The number of a style; with `text`, an edited cell stays text."""
        key = (name, text, number_format, unlocked)
        if key not in self._numbers:
            cell = Cell(self._page)
            cell.style = self.named(name).name
            if text:
                cell.number_format, cell.quotePrefix = "@", True
            if number_format:
                cell.number_format = number_format
            if unlocked:
                cell.protection = Protection(locked=False)
            self._numbers[key] = int(cell.style_id)
        return self._numbers[key]

    def free(self, page_cell: PageCell) -> int:
        """The number of the style of a cell that belongs to no matrix."""
        key = (
            page_cell.style, page_cell.open, page_cell.wrap, page_cell.number_format, page_cell.align,
            page_cell.indent, page_cell.large, page_cell.turned, page_cell.edges,
            bool(page_cell.formula), isinstance(page_cell.value, str),
        )  # fmt: skip
        if key not in self._numbers:
            cell = Cell(self._page)
            cell.style = self.named(page_cell.style).name
            if page_cell.number_format:
                cell.number_format = page_cell.number_format
            elif isinstance(page_cell.value, str) and not page_cell.formula:
                cell.number_format, cell.quotePrefix = "@", True
            if page_cell.open:
                cell.protection = Protection(locked=False)
            elif page_cell.formula:
                cell.protection = Protection(locked=True, hidden=True)
            if page_cell.wrap or page_cell.align:
                own = cell.alignment
                cell.alignment = Alignment(
                    horizontal=page_cell.align or own.horizontal,
                    vertical="top" if page_cell.wrap else own.vertical,
                    wrap_text=page_cell.wrap or None,
                    indent=page_cell.indent,
                    text_rotation=90 * page_cell.turned,
                )
            if page_cell.large:
                font = copy(cell.font)
                font.sz, font.b = round(LARGE * (font.sz or 11)), True
                cell.font = font
            if page_cell.edges:
                line = Side(style="medium", color=self.named("attn step").font.color)
                sides = ("left", "right", "top", "bottom")
                cell.border = Border(**{side: line for side in sides if side[0] in page_cell.edges})
            self._numbers[key] = int(cell.style_id)
        return self._numbers[key]

    def of_matrix(self, node: Matrix, *, blank: bool = False) -> int:
        """The style number of a matrix's numbers or, with `blank`, of its cells to fill in."""
        number_format = self.number_format(node, blank=blank)
        if blank:
            return self.number("attn blank", number_format=number_format, unlocked=True)
        return self.number(look_of(node), number_format=number_format)

    def number_format(self, node: Matrix, *, blank: bool = False) -> str:
        """The number format of a matrix, computed once."""
        key = node, blank
        if key not in self._formats:
            self._formats[key] = self._format(node, blank=blank)
        return self._formats[key]

    def _format(self, node: Matrix, *, blank: bool) -> str:
        """The number format of a matrix: the template's or that of --decimals, with an exponent where
        the numbers need one. Cells to fill in, of which no number may be seen, show what is typed."""
        decimals, extent = self._settings.decimals, node.extent(self._seen(node))
        own = str(self.named(look_of(node)).number_format)
        if node.texts or (node.scalar and node.operation is None):
            return "General"
        plain = not own.strip("0.#,")
        if decimals is None:
            decimals = len(own.partition(".")[2]) if plain else 3
            hidden = blank and not node.may_hide and not np.isfinite(self._seen(node)).any()
            if plain and (hidden or extent.whole):
                own = "0" if node.may_hide else "General"
        else:
            own = f"0.{'0' * decimals}" if decimals else "0"
        if extent.needs_exponent(decimals):
            own = f"0.{'0' * max(decimals, 1)}E+00"
        return hiding(own, self._hidden_text(node)) if node.may_hide else own

    def _hidden_text(self, node: Matrix) -> str:
        """The text shown for masked numbers: their value, if all have the same."""
        values = self._seen(node)
        hidden = {f"{value:.0E}" for value in np.unique(values[values <= HIDES])}
        return hidden.pop() if len(hidden) == 1 else f"<={HIDES:.0E}" if hidden else HIDDEN_TEXT

    def shown_width(self, node: Matrix) -> int:
        """The width of a matrix's widest number, in characters, computed once."""
        if node not in self._shown:
            self._shown[node] = self._width(node)
        return self._shown[node]

    def _width(self, node: Matrix) -> int:
        """The width of a matrix's widest number, in characters."""
        values = self._seen(node)
        if node.texts:
            there = np.isfinite(values[:, 0])
            return max(
                (text_width(text) for text, is_there in zip(node.texts, there) if is_there), default=0
            )
        number_format = self.number_format(node).rpartition(";")[2]
        decimals = len(number_format.partition("E")[0].partition(".")[2])
        if "E" in number_format:
            return decimals + 8
        hidden = len(self._hidden_text(node)) if node.may_hide else 0
        return node.extent(values).width(decimals, hidden)


def hiding(own: str, hidden: str) -> str:
    """A number format that shows masked numbers as the text `hidden`, and other numbers as `own`.

    A section with a condition drops the sign, and so does the last section in some programs. The minus
    sign is therefore written out, for numbers that do not round to zero.
    """
    if "E" in own:
        negative = "[<0]"
    else:
        decimals = len(own.partition(".")[2])
        negative = f"[<=-{5 * 10.0 ** -(decimals + 1):.{decimals + 1}f}]"
    return f'[<={HIDES:.0f}]"{hidden}";{negative}-{own};{own}'


def set_text(cell: Any, text: str) -> None:
    """Set an openpyxl cell to a text, even if it looks like a number or a formula."""
    cell.value = cut(spreadsheet_text(text), MAX_TEXT)
    cell.data_type = "s"
