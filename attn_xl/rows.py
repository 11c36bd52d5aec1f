"""The rows of a sheet as XML: labels, numbers, formulas with their values.

A row's XML is made once as a template, in which only the row's number and the values change from row
to row: that is what makes a million formulas a matter of a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import orjson

from .cells import address, letters, row_offsets, row_token
from .layout import HEADER_ROW, Block, Layout, Sheet

_CODE_LIKE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


@dataclass(frozen=True, eq=False, repr=False)
class Looks:
    """The style number of each kind of cell, `numbers` by defined name; and how high headings are."""

    label: int
    heading: int
    caption: int
    heading_height: float | None
    numbers: dict[str, int]


def spreadsheet_text(text: str) -> str:
    """`text` so that no program takes `_x0041_` in it for the code of a letter."""
    return _CODE_LIKE.sub("_x005F_", text)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text_cell(cell: str, text: str, style: int) -> str:
    """A cell that holds text, whatever the text looks like."""
    text = _escaped(spreadsheet_text(text))
    return f'<c r="{cell}" s="{style}" t="inlineStr"><is><t>{text}</t></is></c>'


def sheet_rows(sheet: Sheet, layout: Layout, looks: Looks, live: bool) -> Iterator[bytes]:
    """The `<row>` elements of a sheet, from the row of the column labels down; with `live`, computed
    cells are formulas with their values, without it they are the values."""
    # Blocks that begin in the same row stand side by side; those below each other come in turn.
    for first_row, side_by_side in groupby(sheet.blocks, key=lambda block: block.place.row):
        blocks = list(side_by_side)
        header = "".join(_header(block, first_row - 1, looks) for block in blocks if block.headed)
        if header:
            height = looks.heading_height
            size = f' ht="{height:g}" customHeight="1"' if height else ""
            yield f'<row r="{first_row - 1}"{size}>{header}</row>'.encode()
        yield from _numbers(blocks, layout, looks, live)


def caption_above(block: Block) -> tuple[int, int] | None:
    """Where the caption of a block without row labels stands: the row above its column labels, which
    say enough where there is one column."""
    if block.labelled or block.place.columns == 1:
        return None
    return HEADER_ROW - 1, block.place.column


def _header(block: Block, row: int, looks: Looks) -> str:
    first = block.place.column
    columns = block.node.columns
    if block.node.scalar and not block.labelled:
        columns = (block.name.rpartition(".")[2],)
    cells = [(first + i, label, looks.heading) for i, label in enumerate(columns)]
    if block.labelled:
        cells.insert(0, (first - 1, block.caption, looks.caption))
    return "".join(_text_cell(address(row, column), text, style) for column, text, style in cells)


def _numbers(blocks: list[Block], layout: Layout, looks: Looks, live: bool) -> Iterator[bytes]:
    first = blocks[0].place.row
    last = max(block.place.last_row for block in blocks)
    uniform = all(not block.live or layout.same_in_every_row(block.node) for block in blocks)
    template: _RowTemplate | None = None
    for row in range(first, last + 1):
        here = [block for block in blocks if row <= block.place.last_row]
        if template is None or not uniform or len(here) != len(template.blocks):
            template = _RowTemplate(here, row - first, layout, looks, live)
        values: list[bytes] = []
        for block in here:
            if block.labelled:
                values.append(_escaped(spreadsheet_text(block.node.rows[row - first])).encode())
            if block.node.texts:
                values.append(_escaped(spreadsheet_text(block.node.texts[row - first])).encode())
                continue
            line = np.ascontiguousarray(block.node.values[row - first])
            values += orjson.dumps(line, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")
        yield template.at(row, values)


class _RowTemplate:
    """One row of some blocks with holes for the row's number and its values."""

    def __init__(
        self, blocks: list[Block], index: int, layout: Layout, looks: Looks, live: bool
    ) -> None:
        self.blocks = blocks
        own = row_token(0)
        parts = [f'<row r="{own}">']
        for block in blocks:
            first, style = block.place.column, looks.numbers[block.name]
            if block.labelled:
                parts.append(
                    f'<c r="{letters(first - 1)}{own}" s="{looks.label}" t="inlineStr">'
                    "<is><t>%b</t></is></c>"
                )
            formulas = [""] * block.place.columns
            if live and block.live:
                patterns = layout.patterns(block, index)
                formulas = [f"<f>{_escaped(pattern).replace('%', '%%')}</f>" for pattern in patterns]
            for column, formula in enumerate(formulas):
                cell = f"{letters(first + column)}{own}"
                kind = ' t="str"' if block.node.texts else ""
                parts.append(f'<c r="{cell}" s="{style}"{kind}>{formula}<v>%b</v></c>')
        parts.append("</row>")
        text = "".join(parts)
        self._tokens = [(row_token(offset).encode(), offset) for offset in row_offsets(text)]
        self._text = text.encode()

    def at(self, row: int, values: list[bytes]) -> bytes:
        text = self._text
        for token, offset in self._tokens:
            text = text.replace(token, b"%d" % (row + offset))
        return text % tuple(values)
