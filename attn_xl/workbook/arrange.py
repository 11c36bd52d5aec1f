"""Arranges a computation as the layout of a workbook: each matrix in its place, texts and charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attn_xl.models import steps
from attn_xl.models.computation import Computation
from attn_xl.models.parts import FILE_BYTES, OPEN_BYTES, size
from attn_xl.settings import Arrangement, Formulas, Model, Settings
from attn_xl.spreadsheets.addresses import address
from attn_xl.text import ON
from attn_xl.workbook.canvas.canvas import draw, draw_layers, prefers_layers, with_canvas
from attn_xl.workbook.layout.compare_sheet import with_charts
from attn_xl.workbook.layout.curve import with_curve
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.overview import with_overview
from attn_xl.workbook.layout.page import Cell
from attn_xl.workbook.layout.place import lay_out
from attn_xl.workbook.layout.vectors_sheet import with_vectors

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
    return with_overview(layout, live=settings.controls and settings.model is not Model.similarity)


def _annotated(layout: Layout) -> Layout:
    """A layout with the sum of each row of attention beside it, which is 1, and with what the divisor
    of the scores is at present: `= √d_k`."""
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
        sheets.append(replace(sheet, extras=replace(sheet.extras, cells=tuple(cells))))
    return replace(layout, sheets=tuple(sheets))
