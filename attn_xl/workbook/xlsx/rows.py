"""The rows of a sheet as XML: labels, numbers, formulas with their values.

A row's XML is made once as a template, in which only the row's number and the values change from row
to row: that is what makes a million formulas a matter of a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import orjson

from attn_xl.spreadsheets.addresses import CODE_LIKE, address, letters, row_offsets, row_token
from attn_xl.workbook.layout.layout import HEADER_ROW, Layout, Sheet, State
from attn_xl.workbook.layout.page import Cell
from attn_xl.workbook.layout.placed import Block

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, eq=False, repr=False)
class Looks:
    """The style number of each kind of cell, `numbers` and `blanks` by defined name; how high headings
    are, and other rows by their number."""

    label: int
    heading: int
    caption: int
    heading_height: float | None
    numbers: dict[str, int]
    blanks: Mapping[str, int] = field(default_factory=dict)
    heights: Mapping[int, float] = field(default_factory=dict)
    dynamic: bool = False


def spreadsheet_text(text: str) -> str:
    """`text` so that no program takes `_x0041_` in it for the code of a letter; what XML cannot hold
    becomes U+FFFD."""
    return CODE_LIKE.sub("_x005F_", _NOT_IN_XML.sub("\ufffd", text))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text_cell(cell: str, text: str, style: int) -> str:
    """A cell that holds text, whatever the text looks like."""
    space = ' xml:space="preserve"' if text != text.strip() else ""
    text = _escaped(spreadsheet_text(text))
    return f'<c r="{cell}" s="{style}" t="inlineStr"><is><t{space}>{text}</t></is></c>'


def sheet_rows(
    sheet: Sheet,
    layout: Layout,
    looks: Looks,
    live: bool,
    cells: Mapping[int, Sequence[tuple[Cell, int]]],
) -> Iterator[bytes]:
    """The `<row>` elements of a sheet; with `live`, computed cells are formulas with their values,
    without it they are the values.

    Args:
        cells: what stands in a row besides the matrices, each with the number of its style.
    """
    rows = [row for block in sheet.blocks for row in (block.place.row - 1, block.place.last_row)]
    rows += [*cells, *looks.heights]
    template: _RowTemplate | None = None
    alone: dict[Block, _RowTemplate] = {}

    def only(block: Block, row: int) -> bytes:
        """The row of one of several things that stand beside each other."""
        if block not in alone or not alone[block].serves([block]):
            alone[block] = _RowTemplate([block], row, layout, looks, live)
        return alone[block].at(row)

    for row in range(min(rows), max(rows) + 1):
        headed = [b for b in sheet.blocks if b.headed and b.place.row - 1 == row]
        here = [b for b in sheet.blocks if b.place.row <= row <= b.place.last_row]
        free = cells.get(row, ())
        height = looks.heights.get(row) or (looks.heading_height if headed else None)
        if here and not headed and not free and not height:
            if template is None or not template.serves(here):
                template = _RowTemplate(here, row, layout, looks, live)
            yield b'<row r="%d">%b</row>' % (row, template.at(row))
            continue
        pieces = [(block.place.column, _header(block, row, looks)) for block in headed]
        pieces += [(block.place.column, only(block, row)) for block in here]
        pieces += [(cell.column, _free_cell(cell, style, live)) for cell, style in free]
        if pieces or height:
            size = f' ht="{height:g}" customHeight="1"' if height else ""
            joined = b"".join(xml for _, xml in sorted(pieces, key=lambda piece: piece[0]))
            yield b'<row r="%d"%b>%b</row>' % (row, size.encode(), joined)


def caption_above(block: Block) -> tuple[int, int] | None:
    """Where the caption of a block without row labels stands: the row above its column labels, which
    say enough where there is one column."""
    if block.labelled or block.place.columns == 1:
        return None
    return HEADER_ROW - 1, block.place.column


def _header(block: Block, row: int, looks: Looks) -> bytes:
    first = block.place.column
    columns = block.node.columns
    if block.node.scalar and not block.labelled:
        columns = (block.name.rpartition(".")[2],)
    cells = [(first + i, label, looks.heading) for i, label in enumerate(columns)]
    if block.labelled and block.caption:
        cells.insert(0, (first - 1, block.caption, looks.caption))
    return "".join(
        _text_cell(address(row, column), text, style) for column, text, style in cells
    ).encode()


def _free_cell(cell: Cell, style: int, live: bool) -> bytes:
    place = f'r="{address(cell.row, cell.column)}" s="{style}"'
    formula = f"<f>{_escaped(cell.formula)}</f>" if cell.formula and live else ""
    if isinstance(cell.value, str):
        if not formula:
            return _text_cell(address(cell.row, cell.column), cell.value, style).encode()
        text = _escaped(spreadsheet_text(cell.value))
        return f'<c {place} t="str">{formula}<v>{text}</v></c>'.encode()
    if cell.value is None:
        return f"<c {place}/>".encode()
    return f"<c {place}>{formula}<v>{cell.value!r}</v></c>".encode()


class _RowTemplate:
    """One row of some blocks with holes for the row's number and its values."""

    def __init__(self, blocks: list[Block], row: int, layout: Layout, looks: Looks, live: bool) -> None:
        self._blocks, self._layout = blocks, layout
        self._uniform = all(layout.same_in_every_row(block) for block in blocks)
        own = row_token(0)
        parts: list[str] = []
        for block in sorted(blocks, key=lambda block: block.place.column):
            first = block.place.column
            if block.labelled:
                parts.append(
                    f'<c r="{letters(first - 1)}{own}" s="{looks.label}" t="inlineStr">'
                    "<is><t>%b</t></is></c>"
                )
            index = row - block.place.row
            states = layout.states(block, index)
            formulas = [""] * block.place.columns
            array = layout.array(block) if live else ""
            if array and index == 0:
                reference = f't="array" ref="{block.place.range}"'
                formulas[0] = f"<f {reference}>{_escaped(array).replace('%', '%%')}</f>"
                self._uniform = False
            elif array:
                pass
            elif live and block.live and any(state.formula for state in states):
                patterns = layout.patterns(block, index)
                formulas = [f"<f>{_escaped(pattern).replace('%', '%%')}</f>" for pattern in patterns]
            for column, (formula, state) in enumerate(zip(formulas, states)):
                style = looks.blanks[block.name] if state is State.blank else looks.numbers[block.name]
                cell = f'r="{letters(first + column)}{own}" s="{style}"'
                if array and formula and looks.dynamic:
                    cell += ' cm="1"'
                if state is State.blank:
                    parts.append(f"<c {cell}/>%.0b")
                elif state is State.waits:
                    parts.append(f'<c {cell} t="str">{formula}<v></v></c>%.0b')
                elif block.node.texts and not formula:
                    parts.append(f'<c {cell} t="inlineStr"><is><t>%b</t></is></c>')
                else:
                    kind = ' t="str"' if block.node.texts else ""
                    shown = formula if state.formula else ""
                    parts.append(f"<c {cell}{kind}>{shown}<v>%b</v></c>")
        text = "".join(parts)
        self._tokens = [(row_token(offset).encode(), offset) for offset in row_offsets(text)]
        self._text = text.encode()

    def serves(self, blocks: list[Block]) -> bool:
        """Whether it does for the next row, too."""
        return self._uniform and blocks == self._blocks

    def at(self, row: int) -> bytes:
        text = self._text
        for token, offset in self._tokens:
            text = text.replace(token, b"%d" % (row + offset))
        return text % tuple(self._values(row))

    def _values(self, row: int) -> list[bytes]:
        values: list[bytes] = []
        for block in sorted(self._blocks, key=lambda block: block.place.column):
            index = row - block.place.row
            if block.labelled:
                values.append(_escaped(spreadsheet_text(block.node.rows[index])).encode())
            if block.node.texts:
                values.append(_escaped(spreadsheet_text(block.node.texts[index])).encode())
                continue
            line = np.ascontiguousarray(self._layout.values(block.node)[index])
            values += orjson.dumps(line, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")
        return values
