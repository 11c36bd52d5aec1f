"""The rows of a sheet as XML: labels, numbers, formulas with their values.

The XML of a row is built once as a template in which only the row's number and the values change, so
that a million formulas take about a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape

import numpy as np
import orjson

from attn_xl.spreadsheets.addresses import CODE_LIKE, address, letters, row_offsets, row_token
from attn_xl.workbook.layout.layout import Layout, Sheet, State
from attn_xl.workbook.layout.page import Block, Cell

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKS = bytes([*range(1, 9), *range(14, 32)])
"""Bytes that no XML has: they stand for row numbers in templates, since a single byte is replaced at
several times the speed of two."""


@dataclass(frozen=True, eq=False, repr=False)
class CellStyles:
    """The style number of each kind of cell (`numbers` and `blanks` by defined name), the height of
    headings, and `heights` of other rows by row number."""

    label: int
    heading: int
    caption: int
    heading_height: float | None
    numbers: Mapping[str, int]
    blanks: Mapping[str, int] = field(default_factory=dict)
    heights: Mapping[int, float] = field(default_factory=dict)
    dynamic: bool = False


FreeCells = Mapping[int, Sequence[tuple[Cell, int]]]
"""The cells besides the matrices by row, each with its style number."""


def spreadsheet_text(text: str) -> str:
    """`text` with `_x0041_` escaped, which programs would read as a character code, and characters that
    XML cannot hold replaced by U+FFFD."""
    return CODE_LIKE.sub("_x005F_", _NOT_IN_XML.sub("\ufffd", text))


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def with_texts(xml: bytes, tag: bytes, change: Callable[[str], str]) -> bytes:
    """The XML with the text of every tag of a name changed; what stays the same keeps its bytes."""

    def one(found: re.Match[bytes]) -> bytes:
        text = unescape(found[2].decode())
        new = change(text)
        return found[0] if new == text else found[1] + escaped(new).encode() + found[3]

    return re.sub(rb"(<(?:\w+:)?%b\b[^>]*(?<!/)>)([^<]*)(</)" % tag, one, xml)


def _text_cell(cell: str, text: str, style: int) -> str:
    """A cell of type text, even if the text looks like a number or a formula."""
    return text_cell(cell, spreadsheet_text(text), style)


def text_cell(cell: str, text: str, style: int) -> str:
    """A cell of type text, from what `spreadsheet_text` gives."""
    space = ' xml:space="preserve"' if text != text.strip() else ""
    return f'<c r="{cell}" s="{style}" t="inlineStr"><is><t{space}>{escaped(text)}</t></is></c>'


def sheet_rows(
    sheet: Sheet,
    layout: Layout,
    cell_styles: CellStyles,
    live: bool,
    cells: FreeCells,
) -> Iterator[bytes]:
    """The `<row>` elements of a sheet; with `live`, computed cells are formulas with their values,
    otherwise values alone.

    Args:
        cells: the cells besides the matrices.
    """
    rows = [row for block in sheet.blocks for row in (block.place.row - 1, block.place.last_row)]
    rows += [*cells, *cell_styles.heights]
    kinds = {block: layout.kinds_of_rows(block) for block in sheet.blocks}
    template: _RowTemplate | None = None
    alone: dict[Block, _RowTemplate] = {}

    def only(block: Block, row: int) -> bytes:
        """The row of one block, where several blocks or cells share the row."""
        if block not in alone or not alone[block].serves([block], row):
            alone[block] = _RowTemplate([block], row, layout, cell_styles, live, kinds)
        return alone[block].at(row)

    begins: dict[int, list[Block]] = {}
    for block in sheet.blocks:
        begins.setdefault(block.place.row, []).append(block)
    spans = [(block.place.row, block.place.last_row, block) for block in sheet.blocks]
    ends = {last for _, last, _ in spans}
    here: list[Block] = []
    for row in range(min(rows), max(rows) + 1):
        headed = [block for block in begins.get(row + 1, ()) if block.headed]
        if row in begins or row - 1 in ends:
            here = [block for first, last, block in spans if first <= row <= last]
        free = cells.get(row, ())
        height = cell_styles.heights.get(row) or (cell_styles.heading_height if headed else None)
        if here and not headed and not free and not height:
            if template is None or not template.serves(here, row):
                template = _RowTemplate(here, row, layout, cell_styles, live, kinds)
            yield b'<row r="%d">%b</row>' % (row, template.at(row))
            continue
        pieces = [(block.place.column, _header(block, row, cell_styles)) for block in headed]
        pieces += [(block.place.column, only(block, row)) for block in here]
        pieces += [(cell.column, _free_cell(cell, style, live)) for cell, style in free]
        if pieces or height:
            size = f' ht="{height:g}" customHeight="1"' if height else ""
            joined = b"".join(xml for _, xml in sorted(pieces, key=lambda piece: piece[0]))
            yield b'<row r="%d"%b>%b</row>' % (row, size.encode(), joined)


def caption_above(block: Block) -> tuple[int, int] | None:
    """The cell above the column labels that holds the caption of a block without row labels; None for a
    single column, whose label is enough."""
    if block.labelled or block.place.columns == 1:
        return None
    return block.place.row - 2, block.place.column


def _header(block: Block, row: int, cell_styles: CellStyles) -> bytes:
    first = block.place.column
    columns = block.node.columns
    if block.node.scalar and not block.labelled:
        columns = (block.name.rpartition(".")[2],)
    cells = [(first + i, label, cell_styles.heading) for i, label in enumerate(columns)]
    if block.labelled and block.caption:
        cells.insert(0, (first - 1, block.caption, cell_styles.caption))
    return "".join(
        _text_cell(address(row, column), text, style) for column, text, style in cells
    ).encode()


def _free_cell(cell: Cell, style: int, live: bool) -> bytes:
    place = f'r="{address(cell.row, cell.column)}" s="{style}"'
    formula = f"<f>{escaped(cell.formula)}</f>" if cell.formula and live else ""
    if isinstance(cell.value, str):
        if not formula:
            return _text_cell(address(cell.row, cell.column), cell.value, style).encode()
        text = escaped(spreadsheet_text(cell.value))
        return f'<c {place} t="str">{formula}<v>{text}</v></c>'.encode()
    if cell.value is None:
        return f"<c {place}/>".encode()
    return f"<c {place}>{formula}<v>{cell.value!r}</v></c>".encode()


class RowPattern:
    """The XML of cells with placeholders for row numbers."""

    def __init__(self, text: str) -> None:
        line = text.encode()
        self._places: list[tuple[bytes, int]] = []
        for number, offset in enumerate(sorted(row_offsets(line))):
            token = row_token(offset).encode()
            mark = _MARKS[number : number + 1] or token
            line = line.replace(token, mark)
            self._places.append((mark, offset))
        self._line = line

    def at(self, row: int) -> bytes:
        line = self._line
        for mark, offset in self._places:
            line = line.replace(mark, b"%d" % (row + offset))
        return line


class _RowTemplate:
    """A row of some blocks with placeholders for the row's number and values."""

    def __init__(
        self,
        blocks: list[Block],
        row: int,
        layout: Layout,
        cell_styles: CellStyles,
        live: bool,
        kinds: Mapping[Block, Sequence[object]],
    ) -> None:
        self._blocks, self._layout, self._row = blocks, layout, row
        self._arrays = False
        self._kinds = [(block.place.row, kinds[block]) for block in blocks]
        own = row_token(0)
        parts: list[str] = []
        for block in sorted(blocks, key=lambda block: block.place.column):
            first = block.place.column
            if block.labelled:
                parts.append(
                    f'<c r="{letters(first - 1)}{own}" s="{cell_styles.label}" t="inlineStr">'
                    "<is><t>%b</t></is></c>"
                )
            index = row - block.place.row
            states = layout.states(block, index)
            formulas = [""] * block.place.columns
            array = layout.array(block) if live else ""
            if array and index == 0:
                reference = f't="array" ref="{block.place.range}"'
                formulas[0] = f"<f {reference}>{escaped(array).replace('%', '%%')}</f>"
                self._arrays = True
            elif array:
                pass
            elif live and block.live and any(state.formula for state in states):
                patterns = layout.patterns(block, index)
                formulas = [f"<f>{escaped(pattern).replace('%', '%%')}</f>" for pattern in patterns]
            for column, (formula, state) in enumerate(zip(formulas, states)):
                style = (
                    cell_styles.blanks[block.name]
                    if state is State.blank
                    else cell_styles.numbers[block.name]
                )
                cell = f'r="{letters(first + column)}{own}" s="{style}"'
                if array and formula and cell_styles.dynamic:
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
        self._line = RowPattern("".join(parts))

    def serves(self, blocks: list[Block], row: int) -> bool:
        """Whether the template is valid for a row below."""
        if blocks != self._blocks or self._arrays:
            return False
        return all(kinds[self._row - top] == kinds[row - top] for top, kinds in self._kinds)

    def at(self, row: int) -> bytes:
        return self._line.at(row) % tuple(self._values(row))

    def _values(self, row: int) -> list[bytes]:
        values: list[bytes] = []
        for block in sorted(self._blocks, key=lambda block: block.place.column):
            index = row - block.place.row
            if block.labelled:
                values.append(escaped(spreadsheet_text(block.node.rows[index])).encode())
            if block.node.texts:
                values.append(escaped(spreadsheet_text(block.node.texts[index])).encode())
                continue
            line = np.ascontiguousarray(self._layout.values(block.node)[index])
            values += orjson.dumps(line, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")
        return values
