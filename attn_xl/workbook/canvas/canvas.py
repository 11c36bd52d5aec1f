"""A computation drawn as on paper: each product stands where its left factor and the right factor above
it meet. One sheet for all of it, or one for each layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from attn_xl.errors import InputError
from attn_xl.graph.matrix import Matrix, cells_of, operation_of
from attn_xl.graph.step import Scope
from attn_xl.records import changed
from attn_xl.settings import CANVAS, COMPARE, OVERVIEW, SETTINGS
from attn_xl.spreadsheets.addresses import (
    MAX_COLUMNS,
    MAX_ROWS,
    MAX_SHEET_NAME,
    Place,
    address,
    letters,
    quoted,
    sheet_name,
    unique,
)
from attn_xl.text import text_width
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Block, Cell, Choice, Extras, Scale, Tint, look_of

from .drawing import COLUMN, LIMIT, Drawing, Drawn, Text
from .panels import FIRST_ROW, LINE, DrawnMatrix, Figures, heights_of, spread_of, starts_of, widths_of

SHORTER = 0.8
"""The length of lines, as a share of a page's, where pages would cut longer ones."""


def layer_of(sheet: Sheet) -> Scope | None:
    """The layer that the matrix of a sheet belongs to."""
    return next((scope for scope in sheet.main.node.part.scopes if scope.layer), None)


def layer_title(layer: Scope | None) -> str:
    """`Encoder, layer 1`; `New word 1`."""
    if layer is None:
        return ""
    words = layer.spoken
    if layer.unit == "layer":
        words = f"{layer.words}, layer {layer.layer}"
    return f"{words[:1].upper()}{words[1:]}"


def by_layer(sheets: list[Sheet]) -> list[tuple[Scope | None, list[Sheet]]]:
    """Consecutive sheets grouped by layer. A matrix that all layers share, such as a mask, belongs to
    the layer around it."""
    layers = [layer_of(sheet) for sheet in sheets]
    last = {layer: number for number, layer in enumerate(layers)}
    runs: list[tuple[Scope | None, list[Sheet]]] = []
    for number, (sheet, layer) in enumerate(zip(sheets, layers)):
        before = runs[-1][0] if runs else None
        if not layer and last.get(before, 0) > number:
            layer = before
        if not runs or layer != before:
            runs.append((layer, []))
        runs[-1][1].append(sheet)
    return runs


def arranged(figures: Figures, sheets: list[Sheet]) -> Drawing:
    """The picture of some steps: each line as long as a landscape page, or shorter where a page would
    cut it, since all lines share their columns."""
    drawing = _Picture(figures, sheets).drawing()
    if figures.limit < LIMIT or spread_of(figures, drawing).whole:
        return drawing
    figures.limit = SHORTER * LIMIT
    return _Picture(figures, sheets).drawing()


class _Picture:
    """Draws sentences, layers and heads in lines."""

    def __init__(self, figures: Figures, sheets: list[Sheet]) -> None:
        self._figures, self._sheets, self._limit = figures, sheets, figures.limit
        self._layout = figures.layout
        self._there = set(figures.there)
        self._columns: dict[int, float] = {}

    def drawing(self) -> Drawing:
        groups = [list(members) for _, members in groupby(self._sheets, lambda sheet: sheet.group)]
        strips: list[Drawing] = []
        for sheets in groups:
            own = list(self._strips(sheets))
            if len(self._layout.sentences) > 1 and sheets[0].group and own:
                strips.append(_heading(self._title(sheets[0].group), "attn title"))
            strips += own
        return _stacked(strips)

    def _title(self, group: str) -> str:
        return f"{group}: {' '.join(self._layout.sentences.get(group, ())[:20])}"

    def _strips(self, sheets: Sequence[Sheet]) -> Iterator[Drawing]:
        """The lines of a sentence, with a frame and a heading around each layer."""
        shown = [sheet for sheet in sheets if not self._figures.is_drawn_at_first_use(sheet)]
        for layer, part in by_layer(shown):
            strips = list(self._layer(layer, part))
            if layer:
                title = layer_title(layer)
                strips = _framed([_heading(title, "attn title"), *strips], f"{part[0].group} {title}")
            yield from strips

    def _layer(self, layer: Scope | None, sheets: Sequence[Sheet]) -> Iterator[Drawing]:
        """The lines of a layer, heads side by side, each in a frame."""
        heads = groupby(sheets, lambda sheet: sheet.main.node.part.head)
        runs = groupby(((head, list(members)) for head, members in heads), lambda run: bool(run[0]))
        for in_heads, members in runs:
            panels = [(head, own[0].name, self._panel(layer, own)) for head, own in members]
            if not in_heads:
                for _, _, strips in panels:
                    yield from strips
                continue
            framed = [
                _framed([_heading(f"Head {head}", "attn label"), *strips], name)
                for head, name, strips in panels
            ]
            width = max(strip.width for strips in framed for strip in strips) + 1
            across = max(1, int(self._limit / COLUMN) // width)
            for first in range(0, len(framed), across):
                yield from _side_by_side(framed[first : first + across])

    def _panel(self, layer: Scope | None, sheets: list[Sheet]) -> list[Drawing]:
        panel = DrawnMatrix(
            self._limit,
            f"{layer.name}." if layer else "",
            self._there,
            self._layout.blocks,
            partial(widths_of, self._figures),
            self._columns,
            self._figures.runs,
        )
        for sheet in sheets:
            panel.add(self._figures.figures[sheet])
        return panel.strips()


def _heading(text: str, style: str) -> Drawing:
    return Drawing(texts=[Text(0, 0, text, style)], starts=[0], sections=[0])


def _framed(strips: Sequence[Drawing], name: str) -> list[Drawing]:
    """Lines with a frame around them all, and a thin row above its lower edge."""
    width = max(strip.width for strip in strips)
    lines = []
    for strip in (*strips, Drawing(thin=[0])):
        framed = Drawing()
        framed.put(strip, 0, 1)
        framed.frames[name] = 0, 0, max(strip.height, 1) - 1, width + 1
        lines.append(framed)
    return lines


def _side_by_side(panels: Sequence[list[Drawing]]) -> list[Drawing]:
    """Panels next to each other, with their lines aligned."""
    strips = [Drawing() for _ in range(max(map(len, panels)))]
    column = 0
    for panel in panels:
        for strip, drawing in zip(strips, panel):
            strip.put(drawing, 0, column)
        column += max(drawing.width for drawing in panel) + 1
    return strips


def _stacked(strips: Sequence[Drawing]) -> Drawing:
    """Lines one below the other. A page may break before any line, except between a heading and the
    next line, or between the last line in a frame and the frame's edge."""
    picture, row, headed = Drawing(), 0, False
    for strip in strips:
        settled = strip.settled()
        if headed or not (settled.matrices or settled.texts):
            settled.starts, settled.sections = [], []
        headed = not settled.matrices and bool(settled.texts)
        ends = not settled.matrices and not settled.texts
        picture.put(settled, row)
        row += settled.height
        if settled.matrices or ends:
            picture.thin += [row]
            row += 1
    return picture


LEGEND_ROW = 4
LEGEND = (
    ("attn input", "input"),
    ("attn weight", "weight"),
    ("attn value", "computed"),
    ("attn attention", "attention"),
    ("attn echo", "repeated"),
)
TYPED = "attn input", "attn weight"
"""The looks of numbers to edit."""


def extras_of(
    figures: Figures,
    picture: Drawing,
    blocks: dict[Matrix, Block],
    layout: Layout,
    *,
    name: str = "",
    linked: bool = False,
) -> Extras:
    """The cells of a picture besides its own matrices; all of its cells, if it is `linked`."""
    widths = widths_of(figures, picture)
    cells = [*_legend(widths, linked), *_cells(figures, picture, blocks, layout, name, linked)]
    attention = next(cell for cell in cells if cell.style == "attn attention")
    starts, sections = starts_of(picture)
    scaled = [
        Scale(Place("", FIRST_ROW + drawn.row, 1 + drawn.column, *drawn.shape).range)
        for drawn in picture.matrices
        if linked and not drawn.repeated and drawn.node.role == "attention"
    ]
    return Extras(
        cells=tuple(_with_frames(cells, picture)),
        choices=tuple(_prompts(picture, blocks) if linked else ()),
        tints=(Tint(address(attention.row, attention.column), "TRUE", "attn scale high"),),
        scales=tuple(scaled),
        widths=widths,
        row_height=LINE,
        heights=heights_of(figures, picture),
        starts=starts,
        sections=sections,
        canvas=True,
        zoom=100,
    )


def _prompts(picture: Drawing, blocks: dict[Matrix, Block]) -> Iterator[Choice]:
    """Prompts on given numbers that say where to change them."""
    for drawn in picture.matrices:
        block = blocks.get(drawn.node)
        if block is not None and not drawn.repeated and not block.live:
            place = Place("", FIRST_ROW + drawn.row, 1 + drawn.column, *drawn.shape)
            prompt = f"This cell is a link. Change the number on the sheet {block.place.sheet}."
            yield Choice(place.range, title="Linked", prompt=prompt)


def _legend(widths: dict[int, float], linked: bool) -> Iterator[Cell]:
    """Each style with its name, merged over the columns that the name needs."""
    column = 1
    for style, meaning in LEGEND:
        if linked and style in TYPED:
            continue
        text = meaning
        across, room = 0, 0.0
        while room < text_width(text) + 3 and column + across < MAX_COLUMNS:
            room += widths.get(column + across, 8.0)
            across += 1
        yield Cell(LEGEND_ROW, column, text, style=style, align="center", across=across)
        column += across


def _cells(
    figures: Figures,
    picture: Drawing,
    blocks: dict[Matrix, Block],
    layout: Layout,
    name: str,
    linked: bool,
) -> Iterator[Cell]:
    for text in picture.texts:
        row, column = FIRST_ROW + text.row, 1 + text.column
        beside = text.align == "right"
        block = blocks.get(text.node) if text.node else None
        elsewhere = block.place.sheet if block and block.place.sheet != name else ""
        yield Cell(
            row,
            column,
            text.text,
            style=text.style,
            align=text.align,
            indent=beside,
            large=text.large,
            link=elsewhere,
        )
    for drawn in picture.matrices:
        if drawn.repeated or linked:
            yield from _copy_of_matrix(figures, drawn, blocks, layout, name)


def _copy_of_matrix(
    figures: Figures, drawn: Drawn, blocks: dict[Matrix, Block], layout: Layout, sheet: str
) -> Iterator[Cell]:
    """A copy of a matrix, or of a part of one, on `sheet`: cells that refer to those of its block, and
    are empty while those are."""
    row, column = FIRST_ROW + drawn.row, 1 + drawn.column
    style = look_of(drawn.node)
    if drawn.repeated or style in TYPED:  # here, typing would replace a formula
        style = "attn echo"
    if drawn.headed:
        for j, text in enumerate(figures.headings(drawn)):
            yield Cell(row - 1, column + j, text, style="attn heading")
    for i, label in enumerate(drawn.labels):
        if drawn.labelled:
            yield Cell(row + i, column - 1, label, style="attn label", align="right", indent=1)
        node, line = _row_shown(drawn, i)
        part, waits, values = cells_of(node), layout.waits(node), layout.values(node)
        block = blocks.get(layout.original(part.node)) if part else None
        elsewhere = f"{quoted(block.place.sheet)}!" if block and block.place.sheet != sheet else ""
        for j in range(drawn.shape[1]):
            at = (j, line) if drawn.turned else (line, j)
            number, formula = float(values[at]), ""
            down, right = at[::-1] if part is not None and part.turned else at
            if block is not None and part is not None:
                down, right = part.row + down, part.column + right
                formula = elsewhere + address(block.place.row + down, block.place.column + right)
                formula = f'IF(COUNT({formula})<1,"",{formula})' if waits else formula
            value = number if number == number else ""
            yield Cell(
                row + i,
                column + j,
                node.texts[at[0]] if node.texts else value,
                formula,
                style=style,
                like=block.name if block else "",
                shows=(down, right),
            )


def _row_shown(drawn: Drawn, row: int) -> tuple[Matrix, int]:
    """The matrix, and its row, that a row of a drawing shows."""
    picked = operation_of(drawn.moved).row_of(row) if drawn.moved is not None else None
    if drawn.moved is None or picked is None:
        return drawn.node, row
    return drawn.moved.parents[picked[0]], picked[1]


def _with_frames(cells: Sequence[Cell], picture: Drawing) -> Iterator[Cell]:
    """The cells with the edges of frames, and blank cells for the rest of the frames."""
    edges: dict[tuple[int, int], set[str]] = {}
    for top, left, bottom, right in picture.frames.values():
        for row in range(top, bottom + 1):
            edges.setdefault((row, left), set()).add("l")
            edges.setdefault((row, right), set()).add("r")
        for column in range(left, right + 1):
            edges.setdefault((top, column), set()).add("t")
            edges.setdefault((bottom, column), set()).add("b")
    for cell in cells:
        own = edges.pop((cell.row - FIRST_ROW, cell.column - 1), None)
        yield changed(cell, edges="".join(sorted(own))) if own else cell
    for (row, column), own in edges.items():
        yield Cell(FIRST_ROW + row, 1 + column, style="attn step", edges="".join(sorted(own)))


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
    blocks: dict[Matrix, Block] = {}
    drawings = []
    again = []
    for name, _, sheets in parts:
        again.append(any(layer and layer.again for layer in map(layer_of, sheets)))
        if not again[-1]:  # the steps of learning have lines as long as those of the first
            figures.limit = LIMIT
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
    for (name, title, _), drawing, once_more in zip(parts, drawings, again):
        own = tuple(blocks[one.node] for one in drawing.matrices if not one.repeated)
        extras = extras_of(figures, drawing, layout.with_copies(blocks), layout, name=name)
        extras = replace(extras, again=once_more)
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
