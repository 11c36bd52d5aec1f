"""The rows of a sheet as a template for the sheets that are like it, in which only numbers, styles and
names change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import orjson

from attn_xl.graph.node import Node
from attn_xl.records import changed
from attn_xl.workbook.layout.copied_cells import CopiedCells, Names, in_formula
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Cell

from .rows import CellStyles, Contents, FreeCells, escaped, sheet_rows, spreadsheet_text

_MARK = "\ufdd0"  # a noncharacter of Unicode, which no text has
_HOLE = re.compile(f"{_MARK}([0-9]+){_MARK}".encode())
_CHANGED = "\0"


@dataclass(frozen=True, eq=False, repr=False)
class Look:
    """The style numbers of a sheet: of the numbers of a matrix, and of other cells."""

    of_matrix: Callable[[Node], int | str]
    of_cell: Callable[[Cell], int]


class Mould:
    """The rows of a sheet, to be filled for the sheet itself and for the sheets like it.

    Args:
        likes: the cells of the sheets like it.
        look: the style numbers of the sheet.
        cells: the cells besides the matrices, given the style of each; otherwise as for `sheet_rows`.
    """

    def __init__(
        self,
        sheet: Sheet,
        layout: Layout,
        cell_styles: CellStyles,
        live: bool,
        cells: Callable[[Callable[[Cell], int | str]], FreeCells],
        look: Look,
        likes: Sequence[CopiedCells],
    ) -> None:
        self._layout, self._look = layout, look
        self._holes: dict[tuple[str, object], int] = {}
        """The place of what fills a hole: of the first number, for the numbers of a matrix."""
        self._repeats: dict[object, Cell] = {}
        """The first cell of each look that repeats a number."""
        self._size = 0
        changes = [like.names for like in likes]
        self._changed = Names(
            dict.fromkeys((text for names in changes for text in names.texts), _CHANGED),
            dict.fromkeys((word for names in changes for word in names.words), _CHANGED),
            references=dict.fromkeys(
                (name for names in changes for name in names.references), _CHANGED
            ),
        )
        styles = {block.name: self._hole("style", block.node) for block in sheet.blocks}
        contents = Contents(self._numbers, self._repeated, self._formula, self._text)
        marked = replace(cell_styles, numbers=styles)
        rows = sheet_rows(sheet, layout, marked, live, cells(self._style), contents)
        parts = _HOLE.split(b"".join(rows))
        self._fixed, self._order = parts[::2], list(map(int, parts[1::2]))

    # What the rows have in place of contents that change

    def _hole(self, kind: str, of: object, at: int = 0, size: int = 1) -> str:
        if (kind, of) not in self._holes:
            self._holes[kind, of] = self._size
            self._size += size
        return f"{_MARK}{self._holes[kind, of] + at}{_MARK}"

    def _numbers(self, node: Node, row: int) -> list[bytes]:
        width = node.shape[1]
        return [self._number(node, row * width + column).encode() for column in range(width)]

    def _number(self, node: Node, at: int) -> str:
        return self._hole("numbers", node, at, node.values.size)

    def _repeated(self, cell: Cell) -> str:
        node, (row, column) = self._layout.named[cell.like], cell.shows
        return self._number(node, row * node.shape[1] + column)

    def _formula(self, formula: str) -> str:
        changed = self._changed.references
        return in_formula(formula, lambda n: self._hole("reference", n) if n in changed else n)

    def _text(self, text: str) -> str:
        return self._hole("text", text) if self._changed.text(text) != text else text

    def _style(self, cell: Cell) -> int | str:
        if not cell.like:
            return self._look.of_cell(cell)
        look = cell.like, cell.style, cell.align, cell.indent, cell.edges, cell.open, bool(cell.formula)
        return self._hole("cell", self._repeats.setdefault(look, cell))

    # What fills them

    def filled(self, look: Look, like: CopiedCells | None = None) -> Iterator[bytes]:
        """The rows of the sheet, or of one like it.

        Args:
            look: the style numbers of the sheet.
        """
        nodes: Mapping[Node, Node] = like.nodes if like else {}
        names = like.names if like else Names()
        contents: list[bytes] = []
        for kind, of in self._holes:
            if isinstance(of, Node):
                node = nodes.get(of, of)
                if kind == "numbers":
                    contents += written_numbers(self._layout, node)
                else:
                    contents.append(str(look.of_matrix(node)).encode())
            elif isinstance(of, Cell):
                name = names.references.get(of.like, of.like)
                contents.append(b"%d" % look.of_cell(changed(of, like=name)))
            elif isinstance(of, str):
                new = names.references.get(of, of) if kind == "reference" else names.text(of)
                contents.append(escaped(spreadsheet_text(new) if kind == "text" else new).encode())
        pieces = [b""] * (len(self._fixed) + len(self._order))
        pieces[::2] = self._fixed
        pieces[1::2] = map(contents.__getitem__, self._order)
        yield b"".join(pieces)


def written_numbers(layout: Layout, node: Node) -> list[bytes]:
    """All numbers of a matrix, or its texts, as XML, row by row."""
    if node.texts:
        return [escaped(spreadsheet_text(text)).encode() for text in node.texts]
    numbers = np.ascontiguousarray(layout.values(node)).ravel()
    return orjson.dumps(numbers, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")
