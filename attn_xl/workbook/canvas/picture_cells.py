"""The cells of a picture besides its own matrices: captions, arrows, frames, repeated matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attn_xl.graph.node import Node
from attn_xl.graph.operation import cells_of, operation_of
from attn_xl.records import changed
from attn_xl.spreadsheets.addresses import MAX_COLUMNS, Place, address, quoted
from attn_xl.text import text_width
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.page import Cell, Choice, Extras, Scale, Tint
from attn_xl.workbook.layout.placed import Block, look_of

from .drawing import Drawing, Drawn
from .measures import FIRST_ROW, LINE, Figures, heights_of, starts_of, widths_of

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
    blocks: dict[Node, Block],
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


def _prompts(picture: Drawing, blocks: dict[Node, Block]) -> Iterator[Choice]:
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
    blocks: dict[Node, Block],
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
    figures: Figures, drawn: Drawn, blocks: dict[Node, Block], layout: Layout, sheet: str
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


def _row_shown(drawn: Drawn, row: int) -> tuple[Node, int]:
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
