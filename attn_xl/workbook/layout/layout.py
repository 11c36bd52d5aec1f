"""What a workbook is made of, and what its formulas are where they stand: frozen records, no file
format."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

import numpy as np

from attn_xl.graph.node import Node, Numbers, referred_to
from attn_xl.graph.operation import NoArray, Reads, cells_of, operation_of
from attn_xl.settings import Formulas, Settings
from attn_xl.spreadsheets.addresses import (
    at_row,
)

from .page import Extras
from .placed import Block, PlacedOperand

TITLE_ROW, NOTE_ROW, LINK_ROW, HEADER_ROW, FIRST_ROW = 1, 2, 3, 4, 5
LABEL_COLUMN, FIRST_COLUMN = 1, 2
OVERVIEW = "Overview"
OPTIONS_NOTE = "Options that the formulas use: change one and watch the numbers."


class State(Enum):
    """What a cell of a matrix holds."""

    live = "a formula and its number"
    fixed = "a number"
    waits = "a formula that shows nothing until what it needs is there"
    blank = "nothing: it is to be filled in"

    @property
    def formula(self) -> bool:
        return self in (State.live, State.waits)


@dataclass(frozen=True, eq=False, repr=False)
class Blanks:
    """The cells of a workbook that are left to be filled in.

    Attributes:
        open: for each matrix with such cells where they are, of its shape.
        numbers: of every matrix, NaN where a cell is open or waits for one.
        follow: the matrices that are made from an open one.
        fixed: the rest of an open matrix has numbers in place of formulas.
        filled: open cells whose number is known show it.
    """

    open: dict[Node, np.ndarray] = field(default_factory=dict)
    numbers: dict[Node, Numbers] = field(default_factory=dict)
    follow: frozenset[Node] = frozenset()
    fixed: bool = False
    filled: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Sheet:
    """One sheet: what it is called, what it shows, where it leads.

    Attributes:
        name: unique in the workbook.
        symbol: the matrix it shows (`Softmax`), without the sentence.
        group: the sentence it belongs to; "" for what all share.
        title, note: its first two lines.
        blocks: the matrices on it, main one first.
        extras: what else is on it.
    """

    name: str
    symbol: str
    group: str
    title: str
    note: str
    blocks: tuple[Block, ...]
    extras: Extras = Extras()

    @property
    def main(self) -> Block:
        return self.blocks[0]

    @property
    def shared(self) -> bool:
        """Whether its matrices have no sheet of their own."""
        return bool(self.blocks) and bool(self.main.node.sheet)

    @property
    def parts(self) -> tuple[str, ...]:
        """The layer and the head it belongs to: `Enc1`, `Enc1, head 2`; none for neither."""
        if not self.blocks:
            return ()
        part = self.main.node.part
        layer, head = part.layer, part.head
        of_layer = f"{layer}, " if layer else ""
        return (*([layer] if layer else []), *([f"{of_layer}head {head}"] if head else []))


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """All sheets of a workbook in their order, and what each formula is.

    Attributes:
        title: of the whole.
        in_words: what is computed, as a formula in words.
        sentences: each sentence's name, as its sheets carry it, and its words.
        sheets: after the Overview, in the order they are made.
        blanks: what is left to be filled in.
        cover: a page before the Overview.
        overview: whether there is an Overview.
        arrays: whether a matrix has one formula, where there is one for all of it.
        protected: whether only open cells can be edited.
        steps: the matrices as the Overview lists them, where they are not each on a sheet of its own.
    """

    title: str
    sentences: dict[str, tuple[str, ...]]
    sheets: tuple[Sheet, ...]
    blanks: Blanks = Blanks()
    cover: Sheet | None = None
    overview: bool = True
    arrays: bool = False
    protected: bool = False
    steps: tuple[Sheet, ...] = ()
    in_words: str = ""

    def __repr__(self) -> str:
        return f"<workbook of {len(self.sheets) + self.overview} sheets>"

    @property
    def all_sheets(self) -> tuple[Sheet, ...]:
        """With the cover, without the Overview."""
        return (*([self.cover] if self.cover else []), *self.sheets)

    @property
    def home(self) -> str:
        """The sheet that every other one links to."""
        if self.cover or self.overview:
            return self.cover.name if self.cover else OVERVIEW
        return self.sheets[0].name

    @cached_property
    def blocks(self) -> dict[Node, Block]:
        return {block.node: block for sheet in self.sheets for block in sheet.blocks}

    @cached_property
    def sources(self) -> dict[str, list[str]]:
        """For each sheet, the sheets that its formulas refer to."""
        found: dict[str, list[str]] = {}
        for sheet in self.all_sheets:
            live = [block.node for block in sheet.blocks if block.live]
            cells = [parent for node in live for parent in referred_to(node)]
            names = [self.blocks[node].place.sheet for node in cells]
            found[sheet.name] = [name for name in dict.fromkeys(names) if name != sheet.name]
        return found

    @cached_property
    def targets(self) -> dict[str, list[str]]:
        """For each sheet, the sheets whose formulas refer to it."""
        found: dict[str, list[str]] = {sheet.name: [] for sheet in self.all_sheets}
        for name, sources in self.sources.items():
            for source in sources:
                found[source].append(name)
        return found

    def summary(self, settings: Settings) -> str:
        """What was written, in a line: how many sheets, and how many formulas."""
        sheets = f"{len(self.sheets) + 1} sheets"
        if settings.formulas is Formulas.none:
            return f"{sheets}, values only"
        cells = sum(
            1 if self.array(block) else block.node.values.size
            for block in self.blocks.values()
            if block.live
        )
        return f"{sheets}, {cells:,} formulas"

    def values(self, node: Node) -> Numbers:
        """What the cells of a matrix show; NaN for nothing."""
        return self.blanks.numbers.get(node, node.values)

    def waits(self, node: Node) -> bool:
        """Whether cells of a matrix are to be filled in, or wait for such."""
        return node in self.blanks.open or node in self.blanks.follow

    def seen(self, node: Node) -> Numbers:
        """What its look may depend on; NaN for what nobody is to know: the answers of an exam."""
        return self.values(node) if self.blanks.fixed else node.values

    def states(self, block: Block, row: int) -> list[State]:
        """What the cells of a row of `block` hold; `row` counts from 0."""
        node, open_cells = block.node, self.blanks.open.get(block.node)
        state = State.live if block.live else State.fixed
        if open_cells is None and node not in self.blanks.follow:
            return [state] * block.place.columns
        if open_cells is None:
            open_cells = np.zeros(node.shape, bool)
        elif self.blanks.fixed:
            state = State.fixed
        filled = State.fixed if self.blanks.filled else State.blank
        return [
            (filled if np.isfinite(number) else State.blank)
            if is_open
            else (state if np.isfinite(number) else State.waits)
            for is_open, number in zip(open_cells[row], self.values(node)[row])
        ]

    def patterns(self, block: Block, row: int) -> list[str]:
        """The formulas of a row of `block`, without the equals sign, as they stand in every row: tokens
        (`cells.row_token`) stand for row numbers. `row` counts from 0, and matters only where the
        operation says that its rows differ.

        What is made from cells that are left to be filled in shows nothing until they are.
        """
        found = []
        for column in range(block.place.columns):
            formula, needed = self.needs(block, row, column)
            found.append(f'IF({needed},"",{formula})' if needed else formula)
        return found

    def formula(self, block: Block, row: int, column: int) -> str:
        """One cell's formula, without the equals sign; `row` and `column` count from 0."""
        return at_row(self.needs(block, row, column)[0], block.place.row + row)

    def array(self, block: Block) -> str:
        """The formula of the whole matrix, without the equals sign; "" where cells have their own."""
        node = block.node
        if not (self.arrays and block.live) or node.values.size == 1 or self.waits(node):
            return ""
        own = PlacedOperand(self.blocks, replace(node, name=""), block.place, 0, {})
        try:
            return own.array()
        except NoArray:
            return ""

    def needs(self, block: Block, row: int, column: int) -> tuple[str, str]:
        """The formula of a cell, and the condition under which what it needs is not all there: ""
        where nothing of it can be missing."""
        own = PlacedOperand(self.blocks, block.node, block.place, row, {})
        formula = own.formula(column)
        waiting = self.blanks.follow | self.blanks.open.keys()
        needed = {text: count for text, (node, count) in own.read.items() if node in waiting}
        return formula, f"COUNT({','.join(needed)})<{sum(needed.values())}" if needed else ""

    def same_in_every_row(self, block: Block) -> bool:
        """Whether one pattern serves all rows of a matrix."""
        if block.node in self.blanks.open or block.node in self.blanks.follow:
            return False
        return not block.live or _same_in_every_row(block.node)


def _same_in_every_row(node: Node) -> bool:
    if node.operation is None:
        return True
    operation = operation_of(node)
    return operation.same_in_every_row and all(
        _read_alike(parent, operation.reads_of(number))
        for number, parent in enumerate(node.parents)
        if not parent.name
    )


def _read_alike(node: Node, reads: Reads) -> bool:
    """Whether every row of a formula speaks alike of an operand without a name."""
    cells = cells_of(node)
    if cells and cells.turned:  # another column for each row
        return node.shape[0] == 1 or reads is Reads.column
    return _same_in_every_row(node)
