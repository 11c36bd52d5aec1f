"""Draws sentences, layers and heads as one picture, in lines as long as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from attn_xl.graph.step import Scope
from attn_xl.workbook.layout.layout import Sheet

from .drawing import COLUMN, Drawing, Text
from .measures import Figures, spread_of, widths_of
from .paging import LIMIT
from .panels import Panel

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
    drawing = _Picture(figures, sheets, LIMIT).drawing()
    if spread_of(figures, drawing).whole:
        return drawing
    return _Picture(figures, sheets, SHORTER * LIMIT).drawing()


class _Picture:
    """Draws sentences, layers and heads in lines."""

    def __init__(self, figures: Figures, sheets: list[Sheet], limit: float) -> None:
        self._figures, self._sheets, self._limit = figures, sheets, limit
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
        panel = Panel(
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
