"""From a computation to a settled workbook: every matrix in its place, with what is around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from attn_xl.models.computation import Computation
from attn_xl.settings import Arrangement, Formulas, Settings
from attn_xl.workbook.canvas.canvas import MOST_MATRICES, draw, draw_layers, matrices, with_canvas
from attn_xl.workbook.layout.controls_sheet import staged
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.place import lay_out


def check_sizes(foreseen: Computation, settings: Settings) -> None:
    """Refuse what no sheet or no workbook holds; before anything is computed, if it is asked with what
    `foresee` made.

    Raises:
        CallError, InputError: as `arranged`.
    """
    lay_out(foreseen, settings.sheets_for)


def arranged(
    computation: Computation,
    settings: Settings,
    blanked: Callable[[Layout], Layout] = lambda layout: layout,
) -> Layout:
    """All matrices of a computation in their places: a sheet each, or drawn on one; with charts.

    Args:
        blanked: leaves cells blank. Charts and what is drawn again keep what their cells show, so
            this comes before them.

    Raises:
        CallError: if `sheets_for` names a layer or a head that there is not.
        InputError: if a matrix does not fit a sheet.
    """
    layout = blanked(lay_out(computation, settings.sheets_for))
    if settings.formulas in (Formulas.array, Formulas.dynamic):
        layout = replace(layout, arrays=True)
    arrangement, blank = settings.layout, bool(layout.blanks.open)
    if arrangement is None and len(matrices(layout)) >= MOST_MATRICES and not blank:
        arrangement = Arrangement.layers
    if arrangement is Arrangement.canvas:
        layout = draw(layout, settings.decimals)
    elif arrangement is Arrangement.layers:
        layout = draw_layers(layout, settings.decimals)
    elif settings.canvas and not blank:  # a picture would tell what is to be filled in
        layout = with_canvas(layout, settings.decimals)
    return staged(layout)
