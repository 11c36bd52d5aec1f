"""Parts of a workbook that are alike: the same steps of the same shapes, labels and formulas, such as
the steps of learning and the layers of a stack. They get the same picture, with every matrix in the
same cells, and it is drawn once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from attn_xl.graph.loops import Loop
from attn_xl.graph.node import Node
from attn_xl.graph.operation import operation_of
from attn_xl.records import changed
from attn_xl.spreadsheets.addresses import quoted
from attn_xl.workbook.layout.copied_cells import CopiedCells, Names
from attn_xl.workbook.layout.layout import Sheet
from attn_xl.workbook.layout.page import Extras
from attn_xl.workbook.layout.placed import Block

from .drawing import Drawing
from .figures import is_drawn_at_first_use
from .measures import Figures
from .picture import layer_of, layer_title

Blocks = Mapping[Node, Block]
_PLAIN = frozenset({bool, int, float, type(None)})
"""The types of most fields of operations, which are compared as they are."""


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """What is drawn on a sheet.

    Attributes:
        name, title: of the sheet.
        sheets: a sheet for each matrix, as `lay_out` makes them.
        heading: the heading of its layer in the picture.
        nodes: the matrices that its formulas read and make, in the order of reading.
        words: their names as captions write them; "" for a matrix without a name.
        kind: the number of its kind: that of all parts that are alike but for names, numbers and the
            places of other matrices.
    """

    name: str
    title: str
    sheets: list[Sheet]
    heading: str
    nodes: tuple[Node, ...]
    words: tuple[str, ...]
    kind: int

    @classmethod
    def of(cls, figures: Figures, name: str, title: str, sheets: list[Sheet]) -> Part:
        """The part of a workbook that some sheets would show."""
        layer = next(filter(None, map(layer_of, sheets)), None)
        reader = _Reader(figures, f"{layer.name}." if layer else "")
        kind = tuple(reader.sheet(sheet) for sheet in sheets)
        nodes, words = tuple(reader.numbers), tuple(map(reader.short_name, reader.numbers))
        known: dict[str, str] = {}
        same = tuple(known.setdefault(word, f"#{number}") for number, word in enumerate(words))
        captions = Names(words=known)
        texts = tuple(captions.text(text) for text in reader.texts)
        whole = kind, texts, same, sheets[0].group, layer is None
        number = figures.kinds.setdefault(whole, len(figures.kinds))
        return cls(name, title, sheets, layer_title(layer), nodes, words, number)

    def drawn(self, there: set[Node]) -> Hashable:
        """The kind, and which matrices are drawn already: all that its picture depends on."""
        first = (node in there or (is_drawn_at_first_use(node),) for node in self.nodes)
        return self.kind, tuple(first)

    def reads(self, blocks: Blocks) -> Hashable:
        """Where its formulas read matrices of other sheets: where this is equal, formulas of the same
        picture differ in names only."""
        own = {block.node for sheet in self.sheets for block in sheet.blocks}
        sheets: dict[str, int] = {self.name: 0}
        places: list[object] = []
        for node in self.nodes:
            if node.name and node not in own:
                if node not in blocks:
                    return object()  # not yet known
                place = blocks[node].place
                number = sheets.setdefault(place.sheet, len(sheets))
                places.append((number, place.row, place.column))
        return tuple(places)


class _Reader:
    """Reads what a picture depends on; matrices are numbered as they are met."""

    def __init__(self, figures: Figures, scope: str) -> None:
        self._figures, self._scope = figures, scope
        self._blocks = figures.layout.blocks
        self.numbers: dict[Node, int] = {}
        self.texts: list[str] = []
        """The texts that captions are made of, shortened as in captions."""

    def short_name(self, node: Node) -> str:
        """Its name in captions, or that of `Beta1^2`; "" if it has none."""
        if suffix_of(node):
            return node.words
        return node.name.replace(self._scope, "") if self._scope else node.name

    def _text(self, text: str) -> None:
        self.texts.append(text.replace(self._scope, "") if self._scope else text)

    def sheet(self, sheet: Sheet) -> Hashable:
        """The matrices of a sheet."""
        return (
            self._figures.is_drawn_at_first_use(sheet),
            sheet.main.node.part.head,
            layer_of(sheet) is None,
            tuple(self._made(block.node) for block in sheet.blocks),
        )

    def _made(self, node: Node) -> Hashable:
        """A matrix with its formula."""
        seen, block = self._seen(node), self._blocks[node]
        self._text(node.words)
        self._text(node.note if node.helper else "")
        return seen, block.live, block.unlocked, self._formula(node)

    def _seen(self, node: Node) -> Hashable:
        """A matrix as others read it: its number, once it is known."""
        if node in self.numbers:
            return self.numbers[node]
        self.numbers[node] = len(self.numbers)
        block = self._blocks.get(node)
        facts = (
            node.rows, node.columns, node.role, node.helper, node.scalar, bool(node.texts),
            bool(node.sheet), node.may_hide, block and block.name.rpartition(".")[2] * node.scalar,
            self._figures.runs.get(node),
        )  # fmt: skip
        if node.name:
            return facts
        self._text(node.words)
        return facts, self._formula(node)

    def _formula(self, node: Node) -> Hashable:
        if node.operation is None:
            return None if node.name else node.values.tobytes()
        operation = operation_of(node)
        if suffix_of(node):
            return type(operation), self._seen(node.parents[0])
        facts = tuple((name, self._fact(value)) for name, value in vars(operation).items())
        return type(operation), facts, tuple(map(self._seen, node.parents))

    def _fact(self, value: Any) -> Hashable:
        """A field of an operation."""
        if type(value) in _PLAIN:
            return value  # type: ignore[no-any-return]
        if isinstance(value, Loop):
            return value.reverse
        if isinstance(value, np.ndarray):
            return value.shape, value.tobytes()
        if isinstance(value, str):
            self._text(value)
            return None
        if isinstance(value, tuple | list):
            return tuple(map(self._fact, value))
        return value if isinstance(value, Hashable) else object()


def suffix_of(node: Node) -> str:
    """`^2` of `Beta1^2`, which is like a name of its own; "" for other matrices."""
    if node.name or len(node.parents) != 1 or not node.parents[0].scalar or not node.parents[0].name:
        return ""
    return operation_of(node).suffix


def share_widths(figures: Figures, parts: Sequence[Part]) -> None:
    """Give the same matrix of all parts that are alike the same width, that of the widest, so that it
    stands in the same cells everywhere."""
    groups: dict[int, list[Part]] = {}
    for part in parts:
        groups.setdefault(part.kind, []).append(part)
    same: dict[Node, list[Node]] = {}
    for alike in groups.values():
        for nodes in zip(*(part.nodes for part in alike)) if len(alike) > 1 else ():
            sets = {id(found): found for node in nodes for found in [same.get(node) or [node]]}
            joined = [node for found in sets.values() for node in found]
            if len(sets) > 1:
                same |= dict.fromkeys(joined, joined)
    for joined in {id(nodes): nodes for nodes in same.values()}.values():
        figures.share_width(joined)


@dataclass(frozen=True, eq=False, repr=False)
class Likeness:
    """How a part differs from one that is drawn already, or from itself."""

    part: Part
    original: Part

    @cached_property
    def nodes(self) -> dict[Node, Node]:
        """Its matrices, by those of the other."""
        return dict(zip(self.original.nodes, self.part.nodes))

    @property
    def _captions(self) -> Names:
        changed = {
            old: new for old, new in zip(self.original.words, self.part.words) if old and old != new
        }
        return Names({self.original.heading: self.part.heading}, changed)

    def drawing(self, drawing: Drawing) -> Drawing:
        """Its picture, from that of the other."""
        if self.part is self.original:
            return drawing
        nodes, captions = self.nodes, self._captions
        return Drawing(
            [
                changed(drawn, node=nodes[drawn.node], moved=drawn.moved and nodes[drawn.moved])
                for drawn in drawing.matrices
            ],
            [
                changed(text, node=text.node and nodes[text.node], text=captions.text(text.text))
                for text in drawing.texts
            ],
            drawing.frames,
            drawing.starts,
            drawing.sections,
            drawing.thin,
        )

    def extras(
        self, extras: Extras, figures: Figures, picture: Callable[[], Drawing], blocks: Blocks
    ) -> Extras:
        """The cells of its picture, from those of the other."""
        assert isinstance(extras.cells, tuple)
        nodes, captions = self.nodes, self._captions
        sheets = {self.original.name: self.part.name}
        references: dict[str, str] = {}
        shown: dict[str, Node] = {}
        for old, new in nodes.items():
            if suffix_of(old):
                power, other = (blocks[one.parents[0]].name + suffix_of(one) for one in (old, new))
                references[power] = other
            elif old in blocks:
                references[blocks[old].name] = blocks[new].name
                sheets[blocks[old].place.sheet] = blocks[new].place.sheet
                shown[blocks[new].name] = new
        references |= {f"{quoted(old)}!": f"{quoted(new)}!" for old, new in sheets.items()}
        names = replace(captions, sheets=sheets, references=references)
        cells = CopiedCells(extras.cells, self.original.name, names, nodes, shown)
        widths = figures.known_widths(picture, (self.original, *map(len, captions.words.values())))
        return replace(extras, cells=cells, widths=widths)
