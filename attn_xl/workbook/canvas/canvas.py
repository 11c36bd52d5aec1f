"""A computation drawn as it is by hand: left factor to the left, right factor above, product where they
meet. Everything on one sheet, or each layer on one. Knows no file format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.node import Node
from attn_xl.models.step_names import layer_and_head
from attn_xl.settings import SETTINGS
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
from attn_xl.workbook.layout.layout import COMPARE, OVERVIEW, Layout, Sheet
from attn_xl.workbook.layout.page import Cell, Choice, Extras, Tint
from attn_xl.workbook.layout.placed import Block

from .drawing import GAP, Drawing, Drawn, Text, bold, text_columns
from .figures import Figure, comes_with_its_use, figure_of, read_by
from .paging import CHARACTER, Spread, spread
from .panels import Panel

CANVAS = "Canvas"
FIRST_ROW = 6
LEGEND_ROW = 4
NOTE = (
    "Left factor to the left, right factor above, their product where they meet. Click a number to see "
    "its formula; change an input and watch."
)
LINKED_NOTE = (
    "Left factor to the left, right factor above, their product where they meet. Every matrix is "
    "linked to its own sheet: click its name to go there, change an input there and watch."
)
LEGEND = (
    ("attn input", "input"),
    ("attn weight", "weight"),
    ("attn value", "computed"),
    ("attn attention", "attention"),
    ("attn echo", "drawn again"),
)
LIMITS = range(12, 37)
"""So many columns wide may a line be: the one is taken with which the page is printed largest."""
LINE = 16.0
"""Points: the height of a row."""
THIN = 6.0
"""Points: the height of a row that only keeps a distance."""
TITLE_LINE = 24.0
NUMBER_ROOM = 1.3
"""Characters: what a column is wider than its widest number."""
LONG_HEADING = 13
"""A column label of more letters takes several lines."""
HEADS, SENTENCES = (1, 2, 3, 4), (1, 2)
"""So many stand side by side at the most: what prints larger."""
BREAK = 0.82
"""What a picture is worth for each line in it that would go on, and is broken."""
MANY = 4_000
"""From so many numbers on, one arrangement is made and no better one is looked for."""
MOST_MATRICES, MOST_NUMBERS = 40, 4_000
"""A workbook of so many matrices or numbers has no second picture of them all."""

STACKS = {"Enc": "Encoder", "Dec": "Decoder"}


def matrices(layout: Layout) -> list[Sheet]:
    """The sheets of a layout that show one matrix each."""
    return [sheet for sheet in layout.sheets if sheet.blocks and not sheet.main.node.sheet]


def draw(layout: Layout, decimals: int | None = None) -> Layout:
    """Bring the matrices of a layout together on one sheet; those with a sheet of their own stay there.

    Args:
        decimals: how many are shown, if that was chosen.

    Raises:
        InputError: if the picture does not fit a sheet (16,384 columns, 1,048,576 rows).
    """
    return _drawn(layout, [(CANVAS, layout.title, matrices(layout))], decimals)


def draw_layers(layout: Layout, decimals: int | None = None) -> Layout:
    """Bring the matrices of each layer together on a sheet, and those before, between and after layers;
    without layers, those of each sentence. The rest as `draw`."""
    sheets = matrices(layout)
    layered = any(layer_and_head(sheet.symbol)[0] for sheet in sheets)
    taken = {name.casefold() for name in (OVERVIEW, SETTINGS, COMPARE)}
    taken |= {sheet.name.casefold() for sheet in layout.sheets if sheet not in sheets}
    parts = []
    read = read_by([figure_of(sheet) for sheet in sheets])
    groups = groupby(sheets, lambda sheet: sheet.group)
    for group, layer, part in (
        (group, *run) for group, made in groups for run in _by_layer(list(made))
    ):
        shown = [sheet for sheet in part if not _comes_with_its_use(sheet, read)]
        if not shown:
            continue
        words = layer or (shown[0].symbol if layered else "" if group else CANVAS)
        name = unique(sheet_name(".".join(filter(None, (group, words)))), taken, MAX_SHEET_NAME)
        taken.add(name.casefold())
        title = _layer_title(layer) or (words if layered else layout.title)
        parts.append((name, title, part))
    return _drawn(layout, parts, decimals)


def with_canvas(layout: Layout, decimals: int | None = None) -> Layout:
    """Put a picture of all matrices before their sheets, with links to their cells, where every step of
    it fits a page on which no number is smaller than 6 points; else the layout as it is."""
    sheets = matrices(layout)
    numbers = sum(block.node.values.size for sheet in sheets for block in sheet.blocks)
    if not sheets or len(sheets) >= MOST_MATRICES or numbers > MOST_NUMBERS:
        return layout
    figures = _Figures(layout, sheets, decimals)
    picture, pages = _best(figures, sheets)
    if not pages.whole:
        return layout
    extras = _extras(figures, picture, layout.blocks, layout, linked=True)
    canvas = Sheet(CANVAS, CANVAS, "", layout.title, LINKED_NOTE, (), extras)
    return replace(layout, sheets=(canvas, *layout.sheets))


def _drawn(
    layout: Layout, parts: Sequence[tuple[str, str, list[Sheet]]], decimals: int | None
) -> Layout:
    """The matrices of a layout on as many sheets as there are parts: name, title, what is on it."""
    drawn = matrices(layout)
    kept = [sheet for sheet in layout.sheets if sheet not in drawn]
    figures = _Figures(layout, drawn, decimals)
    old = {block.node: block for sheet in drawn for block in sheet.blocks}
    blocks: dict[Node, Block] = {}
    pictures = []
    for name, title, sheets in parts:
        picture, _ = _best(figures, sheets)
        here = []
        for matrix in picture.matrices:
            figures.there.add(matrix.node)
            if not matrix.again:
                place = Place(name, FIRST_ROW + matrix.row, 1 + matrix.column, *matrix.node.shape)
                _check(place)
                blocks[matrix.node] = replace(
                    old[matrix.node],
                    place=place,
                    caption="",
                    labelled=matrix.labelled,
                    headed=matrix.headed,
                )
                here.append(matrix.node)
        pictures.append((name, title, here, picture))
    made = []
    for name, title, here, picture in pictures:
        extras = _extras(figures, picture, blocks, layout, name=name)
        own = tuple(blocks[node] for node in here)
        made.append(Sheet(name, name, "", title, NOTE, own, extras))
    moved = {
        sheet: replace(sheet, blocks=tuple(blocks[block.node] for block in sheet.blocks))
        for sheet in drawn
    }
    steps = tuple(moved.get(sheet, sheet) for sheet in layout.sheets)
    return replace(layout, sheets=(*made, *kept), steps=steps)


def _check(place: Place) -> None:
    if place.last_row > MAX_ROWS or place.last_column > MAX_COLUMNS:
        raise InputError(
            f"the picture needs cells up to {letters(place.last_column)}{place.last_row}, but a sheet "
            f"ends at {letters(MAX_COLUMNS)}{MAX_ROWS}. Use --layout sheets, or a shorter sentence."
        )


def _layer_title(layer: str) -> str:
    return f"{STACKS[layer[:3]]}, layer {layer[3:]}" if layer else ""


def _comes_with_its_use(sheet: Sheet, read: set[Node]) -> bool:
    return comes_with_its_use(sheet.main.node) and sheet.main.node in read


def _by_layer(sheets: list[Sheet]) -> list[tuple[str, list[Sheet]]]:
    """Sheets that follow each other, by layer; what all layers share, such as a mask, goes with the
    layer that it stands in."""
    layers = [layer_and_head(sheet.symbol)[0] for sheet in sheets]
    last = {layer: number for number, layer in enumerate(layers)}
    made: list[tuple[str, list[Sheet]]] = []
    for number, (sheet, layer) in enumerate(zip(sheets, layers)):
        before = made[-1][0] if made else ""
        if not layer and last.get(before, 0) > number:
            layer = before
        if not made or layer != before:
            made.append((layer, []))
        made[-1][1].append(sheet)
    return made


# How the lines are broken


@dataclass(eq=False, repr=False)
class _Figures:
    """What pictures are made of.

    Attributes:
        figures: how each step is drawn; read: all that steps show beside their results.
        there: the matrices that earlier pictures have.
        decimals: how many are shown, if that was chosen.
    """

    layout: Layout
    sheets: Sequence[Sheet]
    decimals: int | None
    there: set[Node] = field(default_factory=set)
    figures: dict[Sheet, Figure] = field(init=False)
    read: set[Node] = field(init=False)
    _widths: dict[Node, float] = field(default_factory=dict)
    _needs: dict[Node, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.figures = {sheet: figure_of(sheet) for sheet in self.sheets}
        self.read = read_by(list(self.figures.values()))

    def width(self, node: Node) -> float:
        """About how wide a column of a matrix is, in characters; its template may need more."""
        if node not in self._widths:
            if node.texts:
                shown = max(map(text_columns, node.texts), default=0)
            else:
                values = self.layout.seen(node)
                values = values[np.isfinite(values) & ~((values <= -1e8) & node.may_hide)]
                ends = (values.min(), values.max()) if values.size else (0.0,)
                decimals = 0 if node.is_whole(values) else 3
                decimals = decimals if self.decimals is None else self.decimals
                if node.needs_exponent(decimals, values):
                    shown = decimals + 8
                else:
                    shown = max([len(f"{end:.{decimals}f}") for end in ends] + [6] * node.may_hide)
            self._widths[node] = shown + NUMBER_ROOM
        return self._widths[node]

    def need(self, node: Node, heading: str) -> float:
        """The width of a column of a matrix with its heading."""
        return max(self.width(node), min(bold(heading) + 1.5, LONG_HEADING) if heading else 0.0)

    def needs(self, node: Node) -> Sequence[float]:
        """The widths of all of them."""
        if node not in self._needs:
            self._needs[node] = [self.need(node, heading) for heading in node.columns]
        return self._needs[node]

    def headings(self, drawn: Drawn) -> tuple[str, ...]:
        """What stands above the columns of a matrix."""
        if drawn.node.scalar:
            return (self.layout.blocks[drawn.node].name.rpartition(".")[2],)
        return drawn.headings


def _best(figures: _Figures, sheets: list[Sheet]) -> tuple[Drawing, Spread]:
    """The arrangement that landscape pages show largest, and how it is spread over them."""
    numbers = sum(block.node.values.size for sheet in sheets for block in sheet.blocks)
    heads = len({layer_and_head(sheet.symbol)[1] for sheet in sheets} - {""})
    widest = max(block.node.shape[1] for sheet in sheets for block in sheet.blocks)
    several = len({sheet.group for sheet in sheets} - {""})
    limits = [limit for limit in LIMITS if limit >= widest + 2] or [2 * widest + 6]
    if numbers > MANY:
        limits = limits[-1:]
    best: tuple[float, Drawing, Spread] | None = None
    seen: set[tuple[int, int, int]] = set()
    for sentences_across in sorted({min(max(several, 1), most) for most in SENTENCES}):
        for heads_across in sorted({min(heads, most) for most in HEADS}):
            for limit in limits:
                picture = _Picture(figures, sheets, limit, heads_across, sentences_across)
                drawing = picture.drawing()
                key = (
                    sentences_across,
                    heads_across,
                    hash(tuple((d.row, d.column) for d in drawing.matrices)),
                )
                if key in seen:
                    continue
                seen.add(key)
                pages = _spread(figures, drawing)
                worth = pages.worth * BREAK**picture.breaks
                if best is None or worth > best[0]:
                    best = worth, drawing, pages
    assert best is not None
    return best[1], best[2]


def _spread(figures: _Figures, drawing: Drawing) -> Spread:
    heights = _heights(figures, drawing)
    rows = [heights.get(row, LINE) for row in range(1, FIRST_ROW + drawing.height)]
    starts, sections = _starts(drawing)
    return spread(sum(_widths(figures, drawing).values()) * CHARACTER, rows, starts, sections)


def _starts(drawing: Drawing) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The rows where steps begin, and those where sentences and layers do."""
    starts, sections = (
        {FIRST_ROW + row for row in rows} for rows in (drawing.starts, drawing.sections)
    )
    return tuple(sorted(starts | sections)), tuple(sorted(sections))


class _Picture:
    """Sentences, layers and heads, with lines of up to so many columns."""

    def __init__(
        self, figures: _Figures, sheets: list[Sheet], limit: int, heads: int, sentences: int
    ) -> None:
        self._figures, self._sheets, self._limit = figures, sheets, limit
        self._layout = figures.layout
        self._heads_across, self._sentences_across = heads, sentences
        self._there = set(figures.there)
        self.breaks = 0
        """How often a panel breaks a line that would go on."""

    def drawing(self) -> Drawing:
        groups = [list(members) for _, members in groupby(self._sheets, lambda sheet: sheet.group)]
        several = len(self._layout.sentences) > 1
        strips: list[Drawing] = []
        panels: list[list[Drawing]] = []
        for sheets in groups:
            made = list(self._strips(sheets))
            if several and sheets[0].group and made:
                panels.append([_heading(self._title(sheets[0].group), "attn title"), *made])
            else:
                strips += made
        for first in range(0, len(panels), self._sentences_across):
            strips += _side_by_side(panels[first : first + self._sentences_across])
        return _stacked(strips)

    def _title(self, group: str) -> str:
        return f"{group}: {' '.join(self._layout.sentences.get(group, ())[:20])}"

    def _strips(self, sheets: Sequence[Sheet]) -> Iterator[Drawing]:
        """The lines of a sentence: a frame with a heading around each layer, heads side by side."""
        read = self._figures.read
        shown = [sheet for sheet in sheets if not _comes_with_its_use(sheet, read)]
        for layer, part in _by_layer(shown):
            strips = list(self._layer(layer, part))
            if layer:
                title = _layer_title(layer)
                strips = _framed([_heading(title, "attn title"), *strips], f"{part[0].group} {title}")
            yield from strips

    def _layer(self, layer: str, sheets: Sequence[Sheet]) -> Iterator[Drawing]:
        """The lines of a layer, heads side by side, each in a frame."""
        heads = groupby(sheets, lambda sheet: layer_and_head(sheet.symbol)[1])
        runs = groupby(((head, list(members)) for head, members in heads), lambda run: bool(run[0]))
        for in_heads, members in runs:
            panels = [(head, self._panel(layer, made)) for head, made in members]
            if not in_heads:
                for _, strips in panels:
                    yield from strips
                continue
            framed = [
                _framed(
                    [_heading(f"Head {head}", "attn label"), *strips],
                    f"{sheets[0].group} {layer} {head}",
                )
                for head, strips in panels
            ]
            for first in range(0, len(framed), self._heads_across):
                yield from _side_by_side(framed[first : first + self._heads_across])

    def _panel(self, layer: str, sheets: list[Sheet]) -> list[Drawing]:
        panel = Panel(
            self._limit,
            f"{layer}." if layer else "",
            self._there,
            self._layout.blocks,
            self._figures.needs,
        )
        for sheet in sheets:
            panel.add(self._figures.figures[sheet])
        self.breaks = max(self.breaks, panel.breaks)
        return panel.strips()


def _heading(text: str, style: str) -> Drawing:
    return Drawing(texts=[Text(0, 0, text, style)], starts=[0], sections=[0])


def _framed(strips: Sequence[Drawing], name: str) -> list[Drawing]:
    """Lines below a heading with a frame around them all, and room between it and what is in it."""
    width = max(strip.width for strip in strips)
    made = []
    for strip in (*strips, Drawing(thin=[0])):
        framed = Drawing()
        framed.put(strip, 0, 1)
        framed.frames[name] = 0, 0, max(strip.height, 1) - 1, width + 1
        made.append(framed)
    return made


def _side_by_side(panels: Sequence[list[Drawing]]) -> list[Drawing]:
    """Panels whose lines begin at the same height."""
    strips = [Drawing() for _ in range(max(map(len, panels)))]
    column = 0
    for panel in panels:
        for strip, drawing in zip(strips, panel):
            strip.put(drawing, 0, column)
        column += max(drawing.width for drawing in panel) + 1
    return strips


def _stacked(strips: Sequence[Drawing]) -> Drawing:
    """Lines below each other; a page may end before each, but not between a heading and what follows,
    nor between the last line in a frame and the frame."""
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


# What is on the sheet besides the matrices


def _extras(
    figures: _Figures,
    picture: Drawing,
    blocks: dict[Node, Block],
    layout: Layout,
    *,
    name: str = "",
    linked: bool = False,
) -> Extras:
    """All that a picture has besides its own matrices; of one that is `linked`, all of it."""
    widths = _widths(figures, picture)
    cells = [*_legend(widths), *_cells(figures, picture, blocks, layout, name, linked)]
    attention = next(cell for cell in cells if cell.style == "attn attention")
    starts, sections = _starts(picture)
    scaled = [
        Place("", FIRST_ROW + drawn.row, 1 + drawn.column, *drawn.shape).range
        for drawn in picture.matrices
        if linked and not drawn.again and drawn.node.role == "attention"
    ]
    return Extras(
        cells=tuple(_with_frames(cells, picture)),
        choices=tuple(_prompts(picture, blocks) if linked else ()),
        tints=(Tint(address(attention.row, attention.column), "TRUE", "attn scale high"),),
        scales=tuple(scaled),
        widths=widths,
        row_height=LINE,
        heights=_heights(figures, picture),
        starts=starts,
        sections=sections,
        canvas=True,
        zoom=100,
    )


def _prompts(picture: Drawing, blocks: dict[Node, Block]) -> Iterator[Choice]:
    """What is shown beside a number that is given where it is selected: where to change it."""
    for drawn in picture.matrices:
        block = blocks[drawn.node]
        if not drawn.again and not block.live:
            place = Place("", FIRST_ROW + drawn.row, 1 + drawn.column, *drawn.shape)
            prompt = f"Change this number on the sheet {block.place.sheet}. Here, it is a link."
            yield Choice(place.range, title="Linked", prompt=prompt)


def _legend(widths: dict[int, float]) -> Iterator[Cell]:
    """Each look with its name, over as many columns as that needs."""
    column = 1
    for style, text in LEGEND:
        across, room = 0, 0.0
        while room < text_columns(text) + 3 and column + across < MAX_COLUMNS:
            room += widths.get(column + across, 8.0)
            across += 1
        yield Cell(LEGEND_ROW, column, text, style=style, align="center", across=across)
        column += across


def _cells(
    figures: _Figures,
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
        if drawn.again or linked:
            yield from _again(figures, drawn, blocks.get(drawn.node), layout, name)


def _again(
    figures: _Figures, drawn: Drawn, block: Block | None, layout: Layout, sheet: str
) -> Iterator[Cell]:
    """A matrix whose own cells are elsewhere: cells that show those of its block, once they are there.
    `sheet` is the one that they stand on."""
    node = drawn.node
    waits = layout.waits(node)
    row, column = FIRST_ROW + drawn.row, 1 + drawn.column
    style = "attn echo" if drawn.again else f"attn {node.role}"
    if drawn.headed:
        for j, text in enumerate(figures.headings(drawn)):
            yield Cell(row - 1, column + j, text, style="attn heading")
    values = layout.values(node)
    values = values.T if drawn.turned else values
    elsewhere = f"{quoted(block.place.sheet)}!" if block and block.place.sheet != sheet else ""
    for i, line in enumerate(values.tolist()):
        if drawn.labelled:
            yield Cell(
                row + i, column - 1, drawn.labels[i], style="attn label", align="right", indent=1
            )
        for j, number in enumerate(line):
            formula = ""
            down, right = (j, i) if drawn.turned else (i, j)
            if block is not None:
                formula = elsewhere + address(block.place.row + down, block.place.column + right)
                formula = f'IF(COUNT({formula})<1,"",{formula})' if waits else formula
            value = number if number == number else ""
            yield Cell(
                row + i,
                column + j,
                node.texts[down] if node.texts else value,
                formula,
                style=style,
                like=block.name if block else "",
                shows=(down, right),
            )


def _with_frames(cells: Sequence[Cell], picture: Drawing) -> Iterator[Cell]:
    """The cells, with the edges of frames on those that are there already, and on blank ones."""
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
        yield replace(cell, edges="".join(sorted(own))) if own else cell
    for (row, column), own in edges.items():
        yield Cell(FIRST_ROW + row, 1 + column, style="attn step", edges="".join(sorted(own)))


def _widths(figures: _Figures, picture: Drawing) -> dict[int, float]:
    """Of all columns, in characters, as numbers and labels need it: what is written beside them and
    above them finds room in the blank columns."""
    widths = dict.fromkeys(range(1, picture.width + 1), GAP)
    used: dict[int, set[int]] = {}  # columns, by row
    for drawn in picture.matrices:
        headings = figures.headings(drawn) if drawn.headed else ()
        rows, columns = drawn.shape
        for column in range(1 + drawn.column, 1 + drawn.column + columns):
            need = figures.need(drawn.node, headings[column - 1 - drawn.column] if headings else "")
            widths[column] = max(widths.get(column, GAP), need)
        for row in range(drawn.row - drawn.headed, drawn.row + rows):
            used.setdefault(row, set()).update(range(1 + drawn.column, 1 + drawn.column + columns))
    beside = [
        (drawn.row + i, drawn.column, label)
        for drawn in picture.matrices
        if drawn.labelled
        for i, label in enumerate(drawn.labels)
    ]
    beside += [(t.row, 1 + t.column, t.text) for t in picture.texts if t.align == "right"]
    for text in picture.texts:
        if text.align != "right":
            used.setdefault(text.row, set()).add(1 + text.column)
    for row, column, label in beside:
        room, first = widths[column], column - 1
        while first and first not in used.get(row, ()):
            room += widths[first]
            first -= 1
        widths[column] += max(0.0, bold(label) + 1.5 - room)
        used.setdefault(row, set()).add(column)
    for top, left, bottom, right in picture.frames.values():
        for row in range(top, bottom + 1):
            used.setdefault(row, set()).update((1 + left, 1 + right))
    for text in picture.texts:
        if text.align == "left":
            column = 1 + text.column
            following = [other for other in used[text.row] if other > column]
            if following:
                last = min(following) - 1
                room = sum(widths[other] for other in range(column, last + 1))
                widths[last] += max(0.0, bold(text.text) + 0.5 - room)
    return widths


def _heights(figures: _Figures, picture: Drawing) -> dict[int, float]:
    """Of titles, of rows that only keep a distance, and of column labels that take several lines."""
    heights = dict.fromkeys((FIRST_ROW + row for row in picture.thin), THIN)
    for text in picture.texts:
        if text.style == "attn title":
            heights[FIRST_ROW + text.row] = TITLE_LINE
    for drawn in picture.matrices:
        if drawn.headed:
            longest = max(map(text_columns, figures.headings(drawn)), default=0)
            if longest + 2 > LONG_HEADING:
                row = FIRST_ROW + drawn.row - 1
                lines = min(4, -(-(longest + 2) // LONG_HEADING))
                heights[row] = max(heights.get(row, 0.0), lines * LINE)
    return heights
