"""Arranges a computation as a layout, and writes it as an .xlsx file in the styles of a template."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from openpyxl.workbook.properties import CalcProperties

from attn_xl import __version__
from attn_xl.graph.graph import Graph
from attn_xl.graph.matrix import Matrix
from attn_xl.models import steps
from attn_xl.models.computation import Computation, as_computation
from attn_xl.models.parts import FILE_BYTES, OPEN_BYTES, size
from attn_xl.outputs import writing_all
from attn_xl.settings import Arrangement, Formulas, Settings
from attn_xl.spreadsheets.addresses import address
from attn_xl.text import ON, clean
from attn_xl.workbook.canvas.canvas import draw, draw_layers, prefers_layers, with_canvas
from attn_xl.workbook.layout.drawings import can_be_drawn, with_charts, with_curve, with_ribbons
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.overview import with_overview
from attn_xl.workbook.layout.page import Cell
from attn_xl.workbook.layout.place import lay_out
from attn_xl.workbook.layout.settings_sheet import with_record
from attn_xl.workbook.layout.vectors_sheet import with_vectors
from attn_xl.workbook.xlsx.package import Rows, save
from attn_xl.workbook.xlsx.sheet import add_sheet, defined_names
from attn_xl.workbook.xlsx.styles import Styles

from .templates import DEFAULT, MATRIX, find_template, load_template

UNSCALED = ", unscaled"
BY, DEGREE = f'IF(Scale="{ON}","√d_k","1")', 'IF(Temperature=1,""," · "&Temperature)'
DIVISOR_IN_WORDS = f'"= "&{BY}&{DEGREE}&IF(Scale="{ON}","","{UNSCALED}")'
"""What the scores are divided by, as the switches are."""
MANY = 50_000
"""Formulas, above which it is said beforehand what they cost."""


def check_sizes(foreseen: Computation, settings: Settings) -> str:
    """Refuse a computation that is too large for a sheet or a workbook.

    Args:
        foreseen: the result of `foresee`, so that the check comes before anything is computed.

    Returns:
        What a large workbook costs, in a sentence; "" for a small one.

    Raises:
        CallError, InputError: as `arrange`.
    """
    blocks = lay_out(foreseen, settings.sheets_for).blocks.values()
    cells = sum(block.node.values.size for block in blocks if block.live)
    if cells <= MANY or settings.formulas is Formulas.none:
        return ""
    file, memory = size(cells * FILE_BYTES), size(cells * OPEN_BYTES)
    return (
        f"{cells:,} formulas will be written: about {file}, and {memory} of memory to open them. "
        "--formulas none writes values alone; attn-xl show prints them."
    )


def arrange(
    computation: Computation,
    settings: Settings,
    blanked: Callable[[Layout], Layout] = lambda layout: layout,
) -> Layout:
    """The layout of a computation, with charts: a sheet for each matrix, or one picture of all.

    Args:
        blanked: returns the layout with some cells blank. It runs before charts and repeated matrices
            are created, because they copy the numbers of cells.

    Raises:
        CallError: if `sheets_for` names a layer or head that does not exist.
        InputError: if a matrix is too large for a sheet.
    """
    return _arranged(computation, settings, blanked)


def _arranged(
    computation: Computation, settings: Settings, blanked: Callable[[Layout], Layout]
) -> Layout:
    layout = blanked(lay_out(computation, settings.sheets_for))
    if settings.formulas in (Formulas.array, Formulas.dynamic):
        layout = replace(layout, arrays=True)
    arrangement, blank = settings.layout, bool(layout.blanks.open)
    if arrangement is None and not blank and (settings.steps or prefers_layers(layout)):
        arrangement = Arrangement.layers
    if arrangement is Arrangement.canvas:
        layout = draw(layout, settings.decimals)
    elif arrangement is Arrangement.layers:
        layout = draw_layers(layout, settings.decimals)
    elif settings.canvas and not blank:  # a picture would give the answers away
        layout = with_canvas(layout, settings.decimals)
    layout = with_curve(with_charts(layout))
    if settings.controls and not blank:
        layout = _annotated(with_vectors(layout))
    return with_overview(layout, live=settings.controls)


def _annotated(layout: Layout) -> Layout:
    """A layout with the sum of each row of attention beside it, which is 1, and a drawing of it below,
    and with what the divisor of the scores is at present: `= √d_k`."""
    sheets = []
    for sheet in layout.sheets:
        cells = [*sheet.extras.cells]
        for block in () if sheet.shared or sheet.extras.canvas else sheet.blocks:
            place, values = block.place, layout.values(block.node)
            if block.node.is_step(steps.SOFTMAX) and block.live:
                column = place.last_column + 2
                cells.append(Cell(place.row - 1, column, "row sum", style="attn heading"))
                for row, total in enumerate(values.sum(axis=1).tolist(), place.row):
                    across = f"{address(row, place.column)}:{address(row, place.last_column)}"
                    cells.append(
                        Cell(row, column, total, f"SUM({across})", "attn echo", number_format="0.000")
                    )
            if block.node.is_step(steps.DIVISOR) and {"Scale", "Temperature"} <= layout.named.keys():
                scaled = (layout.named["Scale"].texts or (ON,))[0] == ON
                degree = float(layout.named["Temperature"].values[0, 0])
                by = "√d_k" if scaled else "1"
                said = f"= {by}{f' · {degree:g}' * (degree != 1)}{UNSCALED * (not scaled)}"
                cells.append(Cell(place.row + 1, place.column, said, DIVISOR_IN_WORDS, align="right"))
        sheet = replace(sheet, extras=replace(sheet.extras, cells=tuple(cells)))
        main = sheet.main if sheet.blocks and not (sheet.shared or sheet.extras.canvas) else None
        if main and main.node.is_step(steps.SOFTMAX) and main.live and can_be_drawn(main):
            sheet = with_ribbons(sheet, main, layout)
        sheets.append(sheet)
    return replace(layout, sheets=tuple(sheets))


CALCULATION_ID = 191029
"""The calculation engine of Excel 2019 and 365. With a lower number, they recalculate on loading and
ask to save."""


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
        source: the origin of the numbers, for the properties of the file.
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
        book = self._book
        for sheet in list(book.worksheets):
            if sheet is not self._page:
                book.remove(sheet)
        self._page.title = f"{MATRIX} of the template"[:31]
        layout, styles = self._layout, Styles(book, self._page, self._settings, self._layout.seen)
        rows = {
            sheet.name: add_sheet(book, self._page, layout, sheet, styles, self._live, self._dynamic)
            for sheet in layout.all_sheets
        }
        if layout.cover:
            book.move_sheet(layout.cover.name, -book.sheetnames.index(layout.cover.name))
        book.remove(self._page)
        book.active = 0
        book.calculation = CalcProperties(calcId=CALCULATION_ID, fullCalcOnLoad=False)
        properties = book.properties
        properties.title, properties.creator = clean(self._layout.title), f"attn-xl {__version__}"
        properties.description = f"made from {self._source}" if self._source else None
        properties.lastModifiedBy = None
        properties.created = properties.modified = datetime(1980, 1, 1)  # no clock
        return rows
