"""A computation drawn as on paper: each product stands where its left factor and the right factor above
it meet. One sheet for all of it, or one for each layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from attn_xl.errors import InputError
from attn_xl.graph.node import Node
from attn_xl.records import changed
from attn_xl.settings import CANVAS, COMPARE, OVERVIEW, SETTINGS
from attn_xl.spreadsheets.addresses import (
    MAX_COLUMNS,
    MAX_ROWS,
    MAX_SHEET_NAME,
    Place,
    letters,
    sheet_name,
    unique,
)
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.placed import Block

from .measures import FIRST_ROW, Figures, spread_of
from .picture import arranged, by_layer, layer_of, layer_title
from .picture_cells import extras_of

NOTE = (
    "Each product stands where its two factors meet: the left factor is to its left, the "
    "right factor above it. Click a number to see its formula; change an input and watch."
)
LINKED_NOTE = (
    "Each product stands where its two factors meet: the left factor is to its left, the "
    "right factor above it. Click the name of a matrix to go to its sheet; change an input "
    "there and watch."
)
MOST_MATRICES, MOST_NUMBERS = 40, 4_000
"""A workbook with at least this many matrices or numbers gets no canvas."""
MOST_IN_LAYERS = 60_000
"""Numbers; above that, each matrix has a sheet by default, since a picture repeats operands."""


def matrices(layout: Layout) -> list[Sheet]:
    """The sheets of a layout that show one matrix each."""
    return [sheet for sheet in layout.sheets if _shows_one(sheet)]


def _others(layout: Layout) -> list[Sheet]:
    return [sheet for sheet in layout.sheets if not _shows_one(sheet)]


def _shows_one(sheet: Sheet) -> bool:
    return bool(sheet.blocks) and not sheet.main.node.sheet


def prefers_layers(layout: Layout) -> bool:
    """Whether one picture for each layer is easier to read than a sheet for each matrix: there are many
    matrices, and they are small."""
    sheets = matrices(layout)
    numbers = sum(block.node.values.size for sheet in sheets for block in sheet.blocks)
    return len(sheets) >= MOST_MATRICES and numbers <= MOST_IN_LAYERS


def draw(layout: Layout, decimals: int | None = None) -> Layout:
    """Move the matrices of a layout to one sheet. Shared sheets, such as `Compare`, stay.

    Args:
        decimals: digits shown after the point; None for the template's.

    Raises:
        InputError: if the picture does not fit a sheet (16,384 columns, 1,048,576 rows).
    """
    sheets = matrices(layout)
    return _draw_parts(layout, Figures(layout, sheets, decimals), [(CANVAS, layout.title, sheets)])


def draw_layers(layout: Layout, decimals: int | None = None) -> Layout:
    """Move the matrices of each layer to a sheet, and those before, between and after layers to sheets
    of their own; without layers, those of each sentence. Otherwise as `draw`."""
    sheets = matrices(layout)
    layered = any(sheet.main.node.part.layer for sheet in sheets)
    taken = {name.casefold() for name in (OVERVIEW, SETTINGS, COMPARE)}
    taken |= {sheet.name.casefold() for sheet in _others(layout)}
    parts = []
    figures = Figures(layout, sheets, decimals)
    groups = groupby(sheets, lambda sheet: sheet.group)
    for group, layer, part in (
        (group, *run) for group, members in groups for run in by_layer(list(members))
    ):
        shown = [sheet for sheet in part if not figures.is_drawn_at_first_use(sheet)]
        if not shown:
            continue
        unlayered = shown[0].symbol if layered else "" if group else CANVAS
        words = layer.name if layer else unlayered
        name = unique(sheet_name(".".join(filter(None, (group, words)))), taken, MAX_SHEET_NAME)
        taken.add(name.casefold())
        title = layer_title(layer) or (words if layered else layout.title)
        parts.append((name, title, part))
    return _draw_parts(layout, figures, parts)


def with_canvas(layout: Layout, decimals: int | None = None) -> Layout:
    """Add a picture of all matrices, linked to their cells, before their sheets. The layout is returned
    unchanged if a step would not fit a page with numbers of at least 6 points."""
    sheets = matrices(layout)
    numbers = sum(block.node.values.size for sheet in sheets for block in sheet.blocks)
    if not sheets or len(sheets) >= MOST_MATRICES or numbers > MOST_NUMBERS:
        return layout
    figures = Figures(layout, sheets, decimals)
    picture = arranged(figures, sheets)
    if not spread_of(figures, picture).whole:
        return layout
    extras = extras_of(figures, picture, layout.blocks, layout, linked=True)
    canvas = Sheet(CANVAS, CANVAS, "", layout.title, LINKED_NOTE, (), extras)
    return replace(layout, sheets=(canvas, *layout.sheets))


def _draw_parts(
    layout: Layout, figures: Figures, parts: Sequence[tuple[str, str, list[Sheet]]]
) -> Layout:
    """Draw each part, (name, title, sheets), on a sheet of its own."""
    drawn, kept = matrices(layout), _others(layout)
    old = {block.node: block for sheet in drawn for block in sheet.blocks}
    blocks: dict[Node, Block] = {}
    drawings = []
    for name, _, sheets in parts:
        drawing = arranged(figures, sheets)
        drawings.append(drawing)
        for matrix in drawing.matrices:
            figures.there.add(matrix.node)
            if not matrix.repeated:
                place = Place(name, FIRST_ROW + matrix.row, 1 + matrix.column, *matrix.node.shape)
                _check(place)
                blocks[matrix.node] = changed(
                    old[matrix.node],
                    place=place,
                    caption="",
                    labelled=matrix.labelled,
                    headed=matrix.headed,
                )
    canvases = []
    for (name, title, sheets), drawing in zip(parts, drawings):
        own = tuple(blocks[one.node] for one in drawing.matrices if not one.repeated)
        layer = next(filter(None, map(layer_of, sheets)), None)
        extras = extras_of(figures, drawing, layout.with_copies(blocks), layout, name=name)
        extras = replace(extras, again=layer is not None and layer.again)
        canvases.append(Sheet(name, name, "", title, NOTE, own, extras))
    moved = {
        sheet: changed(sheet, blocks=tuple(blocks[block.node] for block in sheet.blocks))
        for sheet in drawn
    }
    steps = tuple(moved.get(sheet, sheet) for sheet in layout.sheets)
    return replace(layout, sheets=(*canvases, *kept), steps=steps)


def _check(place: Place) -> None:
    if place.last_row > MAX_ROWS or place.last_column > MAX_COLUMNS:
        raise InputError(
            f"the picture needs cells up to {letters(place.last_column)}{place.last_row}, but a sheet "
            f"ends at {letters(MAX_COLUMNS)}{MAX_ROWS}. Use --layout sheets, or a shorter sentence."
        )
