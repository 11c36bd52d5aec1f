"""Writes a layout as an .xlsx file in the styles of a template."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from openpyxl.workbook.properties import CalcProperties

from attn_xl import __version__
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.node import Graph
from attn_xl.models.computation import Computation, as_computation
from attn_xl.outputs import writing_all
from attn_xl.settings import Formulas, Settings
from attn_xl.text import clean
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.settings_sheet import with_record
from attn_xl.workbook.xlsx.package import Rows, save
from attn_xl.workbook.xlsx.sheet import add_sheet, defined_names
from attn_xl.workbook.xlsx.styles import Styles

from .arrange import arrange
from .templates import DEFAULT, MATRIX, find_template, load_template

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
