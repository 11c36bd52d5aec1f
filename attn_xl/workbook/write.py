"""Writes a layout as an .xlsx file in the styles of a template."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from openpyxl.workbook.properties import CalcProperties
from openpyxl.worksheet.hyperlink import Hyperlink

from attn_xl import __version__
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.node import Graph
from attn_xl.models.computation import Computation, as_computation
from attn_xl.outputs import writing_all
from attn_xl.settings import Formulas, Settings
from attn_xl.spreadsheets.addresses import address, letters, quoted
from attn_xl.text import clean, text_width
from attn_xl.workbook.canvas.picture import layer_of
from attn_xl.workbook.layout.layout import OVERVIEW, Layout, Sheet
from attn_xl.workbook.layout.settings_sheet import with_record
from attn_xl.workbook.xlsx.package import Rows, save
from attn_xl.workbook.xlsx.rows import spreadsheet_text
from attn_xl.workbook.xlsx.sheet import add_sheet, defined_names
from attn_xl.workbook.xlsx.styles import Styles, set_text

from .arrange import arrange
from .templates import COVER, DEFAULT, MATRIX, find_template, load_template

CALCULATION_ID = 191029
"""The calculation engine of Excel 2019 and 365. With a lower number, they recalculate on loading and
ask to save."""


MOST_ROWS = 60
"""Rows of an Overview that is printed on one page."""
MOST_LINES = 100
"""An Overview of more lines is folded: it shows its headings, and their steps once unfolded."""


def write_workbook(
    computation: Computation | Graph | Matrix,
    path: str | os.PathLike[str],
    *,
    template: str | os.PathLike[str] = DEFAULT,
    settings: Settings = Settings(),
    source: str = "",
    record: bool = False,
) -> Layout:
    """Write every matrix of a computation as a sheet of live formulas with their values.

    Args:
        computation: the result of `attend`, a graph, or the matrix that a model returned.
        path: the .xlsx to write. An existing file is replaced once the new one is complete.
        template: a template's file, or the name of a shipped template.
        settings: live formulas or values only; decimals shown.
        source: the origin of the numbers, for the Overview.
        record: add a sheet `Settings` that records how the workbook was made, so that it can be read
            back. A workbook with controls always has one.

    Returns:
        The layout: the place of every matrix.

    Raises:
        CallError: if the template does not exist.
        InputError: if the template is not usable, or a matrix is too large for a sheet.
        OutputError: if the file cannot be written; an existing file is left unchanged.
    """
    computation = as_computation(computation)
    layout = arrange(computation, settings)
    if computation.settings is not None and (record or computation.settings.controls):
        layout = with_record(layout, computation, computation.settings)
    write_layout(layout, path, template=template, settings=settings, source=source)
    return layout


def write_layout(
    layout: Layout,
    path: str | os.PathLike[str],
    *,
    template: str | os.PathLike[str] = DEFAULT,
    settings: Settings = Settings(),
    source: str = "",
) -> None:
    """Write a workbook from its layout; otherwise as `write_workbook`."""
    write_layouts({Path(path): layout}, template=template, settings=settings, source=source)


def write_layouts(
    layouts: Mapping[Path, Layout],
    *,
    template: str | os.PathLike[str] = DEFAULT,
    settings: Settings = Settings(),
    source: str = "",
) -> None:
    """Write several workbooks; none replaces an existing file before all are complete."""
    with writing_all([*layouts]) as temporaries:
        for layout, temporary in zip(layouts.values(), temporaries):
            book = load_template(find_template(template))
            rows = _Writer(book, layout, settings, source).prepare()
            dynamic = settings.formulas is Formulas.dynamic
            save(book, temporary, rows, defined_names(layout), dynamic=dynamic)


class _Writer:
    """Writes a layout into a template's workbook."""

    def __init__(self, book: Any, layout: Layout, settings: Settings, source: str) -> None:
        self._book, self._layout, self._settings = book, layout, settings
        self._source = clean(source)
        self._page = book[MATRIX]
        self._live = settings.formulas is not Formulas.none
        self._dynamic = settings.formulas is Formulas.dynamic

    def prepare(self) -> dict[str, Rows]:
        """Add all sheets to the workbook; the rows to stream, by sheet."""
        book, cover = self._book, self._book[COVER]
        for sheet in list(book.worksheets):
            if sheet is not cover and sheet is not self._page:
                book.remove(sheet)
        cover.title = OVERVIEW
        layout, styles = self._layout, Styles(book, self._page, self._settings, self._layout.seen)
        rows = {
            sheet.name: add_sheet(book, self._page, layout, sheet, styles, self._live, self._dynamic)
            for sheet in layout.all_sheets
        }
        if layout.cover:
            book.move_sheet(layout.cover.name, -book.sheetnames.index(layout.cover.name))
        if layout.overview:
            self._cover(cover)
        else:
            book.remove(cover)
        book.remove(self._page)
        book.active = 0
        book.calculation = CalcProperties(calcId=CALCULATION_ID, fullCalcOnLoad=False)
        properties = book.properties
        properties.title, properties.creator = clean(self._layout.title), f"attn-xl {__version__}"
        properties.lastModifiedBy = None
        properties.created = properties.modified = datetime(1980, 1, 1)  # no clock
        return rows

    # The cover

    @property
    def _listed(self) -> tuple[Sheet, ...]:
        layout = self._layout
        pages = tuple(sheet for sheet in layout.sheets if not sheet.blocks)
        return (*layout.steps, *pages) if layout.steps else layout.sheets

    def _cover(self, ws: Any) -> None:
        """Fill the placeholders of the cover; `{steps}` becomes the table of all steps."""
        sentences = "; ".join(" ".join(words[:20]) for words in self._layout.sentences.values())
        about, _, cost = self._layout.about.partition("\n")
        texts = {
            "{title}": clean(self._layout.title),
            "{formula}": clean(self._layout.in_words),
            "{source}": self._source,
            "{sentences}": f"{sentences}. {about}" if about else sentences,
        }
        start: Any = None
        for cell in list(ws._cells.values()):
            if not isinstance(cell.value, str):
                continue
            if "{" not in cell.value:
                continue
            if cell.value == "{steps}":
                start = cell
                continue
            text = cell.value
            below = ws.cell(cell.row + 1, cell.column) if "{sentences}" in text and cost else None
            if below is not None and below.value is None:
                set_text(below, cost)
                below._style = copy.copy(cell._style)
            for placeholder, value in texts.items():
                text = text.replace(placeholder, value)
            if text:
                set_text(cell, text)
            else:
                cell.value = None
        if start is not None:
            self._steps(ws, start)
        if self._layout.protected:
            ws.protection.sheet = True

    def _steps(self, ws: Any, start: Any) -> None:
        looks = [copy.copy(ws.cell(start.row, start.column + i)._style) for i in range(4)]
        row = start.row
        ws.sheet_properties.outlinePr.summaryBelow = False
        letter = letters(start.column)
        names = [text_width(sheet.name) + 2 for sheet in self._listed]
        ws.column_dimensions[letter].width = max(ws.column_dimensions[letter].width, *names)
        lines = [] if len(self._listed) > MOST_LINES else list(self._step_rows())
        if folds := not lines or len(lines) > MOST_LINES:
            lines = list(self._step_rows(brief=True))
        for (sheet, texts, level), (_, _, below) in zip(lines, [*lines[1:], (None, "", 0)]):
            for i, text in enumerate(texts):
                cell = ws.cell(row, start.column + i)
                cell._style = copy.copy(looks[i])
                if text:
                    set_text(cell, text)
            if level:
                ws.row_dimensions[row].outlineLevel = level
                ws.row_dimensions[row].hidden = folds
                ws.sheet_format.outlineLevelRow = max(level, ws.sheet_format.outlineLevelRow or 0)
            ws.row_dimensions[row].collapsed = folds and below > level
            if sheet:
                cell = ws.cell(row, start.column)
                location = _home_of(sheet)
                cell.hyperlink = Hyperlink(
                    ref=cell.coordinate, location=location, display=spreadsheet_text(texts[0])
                )
                cell._style = copy.copy(looks[0])
            else:
                ws.cell(row, start.column).style = "attn label"
            row += 1
        hidden = sum(bool(level) for *_, level in lines) if folds else 0
        if row - hidden <= MOST_ROWS:
            ws.page_setup.fitToHeight = 1

    def _step_rows(
        self, *, brief: bool = False
    ) -> Iterator[tuple[Sheet | None, tuple[str, str, str, str], int]]:
        """The lines of the Overview with their outline levels: sheets, below headings for sentences,
        layers and heads. If it is `brief`, a heading links to the sheet of its layer; of a stack, the
        layers after the first are headings alone."""
        sheets = {sheet.name: sheet for sheet in self._layout.sheets} if brief else {}
        group, parts = "", tuple[str, ...]()
        for sheet in self._listed:
            if sheet.group != group:
                group, parts = sheet.group, ()
                words = self._layout.sentences.get(group, ())
                title = f"{group}: {' '.join(words)}" if group else "All sentences"
                yield None, (title, "", "", ""), 0
            level = int(bool(group))
            kept = [old for old, new in zip(parts, sheet.parts) if old == new]
            parts = sheet.parts
            home = sheets.get(sheet.main.place.sheet) if sheet.blocks else None
            layer = layer_of(sheet) if home else None
            later = layer is not None and layer.layer > 1
            for number, part in enumerate(parts):
                if part not in kept and not (number and later):
                    yield home, (f"{'   ' * (number + 1)}{part}", "", "", ""), level + number
            if later:
                continue
            level += len(parts)
            if not sheet.blocks:
                yield sheet, (sheet.name, "", "", sheet.note), level
                continue
            node = sheet.main.node
            shape = f"{node.shape[0]} × {node.shape[1]}" if not node.sheet else ""
            yield sheet, (sheet.name, node.words if not node.sheet else "", shape, sheet.note), level


def _home_of(step: Sheet) -> str:
    """The target of a step's link: its sheet, or its cells on a sheet of several steps."""
    if not step.blocks:
        return f"{quoted(step.name)}!A1"
    place = step.main.place
    if place.sheet == step.name:
        return f"{quoted(step.name)}!A1"
    return f"{quoted(place.sheet)}!{address(place.row, place.column)}"
