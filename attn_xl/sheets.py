"""What a workbook is made of, and what its formulas are where they stand: frozen records, no file
format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np

from .cells import (
    Place,
    at_row,
    letters,
    quoted,
    row_token,
)
from .matrix import Node, Numbers
from .operation import Operand, operation_of
from .page import Extras
from .parts import layer_and_head
from .primitives import Transpose
from .settings import Formulas, Settings

TITLE_ROW, NOTE_ROW, LINK_ROW, HEADER_ROW, FIRST_ROW = 1, 2, 3, 4, 5
LABEL_COLUMN, FIRST_COLUMN = 1, 2
OVERVIEW, COMPARE = "Overview", "Compare"
OPTIONS_NOTE = "Choices that the formulas obey: change one and watch."


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
    """

    open: dict[Node, np.ndarray] = field(default_factory=dict)
    numbers: dict[Node, Numbers] = field(default_factory=dict)
    follow: frozenset[Node] = frozenset()
    fixed: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """One matrix in its place.

    Attributes:
        node: the matrix.
        place: where its numbers stand.
        name: its defined name.
        caption: what stands above or beside its column labels.
        labelled: whether its row labels stand in the column to its left.
        headed: whether its column labels stand in the row above.
        live: whether it has formulas: it is computed, and all that they refer to is there.
        unlocked: it may be edited where its sheet is protected.
    """

    node: Node
    place: Place
    name: str
    caption: str
    labelled: bool
    headed: bool
    live: bool
    unlocked: bool = False


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
    def part(self) -> str:
        """The layer and the head it belongs to: `Enc1, head 2`; "" for neither."""
        layer, head = layer_and_head(self.symbol)
        return ", ".join([layer] * bool(layer) + [f"head {head}"] * bool(head))


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """All sheets of a workbook in their order, and what each formula is.

    Attributes:
        title: of the whole.
        sentences: each sentence's name, as its sheets carry it, and its words.
        sheets: after the Overview, in the order they are made.
        blanks: what is left to be filled in.
        cover: a page before the Overview.
        overview: whether there is an Overview.
        protected: whether only open cells can be edited.
    """

    title: str
    sentences: dict[str, tuple[str, ...]]
    sheets: tuple[Sheet, ...]
    blanks: Blanks = Blanks()
    cover: Sheet | None = None
    overview: bool = True
    protected: bool = False

    @property
    def all_sheets(self) -> tuple[Sheet, ...]:
        """With the cover, without the Overview."""
        return (*([self.cover] if self.cover else []), *self.sheets)

    @property
    def home(self) -> str:
        """The sheet that every other one links to."""
        return self.cover.name if self.cover else OVERVIEW

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
        cells = sum(block.node.values.size for block in self.blocks.values() if block.live)
        return f"{sheets}, {cells:,} formulas"

    def values(self, node: Node) -> Numbers:
        """What the cells of a matrix show; NaN for nothing."""
        return self.blanks.numbers.get(node, node.values)

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
        return [
            State.blank if is_open else State.waits if not np.isfinite(number) else state
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

    def needs(self, block: Block, row: int, column: int) -> tuple[str, str]:
        """The formula of a cell, and the condition under which what it needs is not all there: ""
        where nothing of it can be missing."""
        own = _Operand(self, block.node, block.place, row, {})
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
    return node.operation is None or (
        operation_of(node).same_in_every_row
        and all(_same_in_every_row(parent) for parent in node.parents if not parent.name)
    )


def referred_to(node: Node) -> Iterator[Node]:
    """The named matrices in a node's formula."""
    for parent in node.parents:
        if parent.name:
            yield parent
        else:
            yield from referred_to(parent)


class _Operand(Operand):
    """How a formula at `home` speaks of `node`: by its place or, if it has none, by its formula."""

    def __init__(
        self,
        layout: Layout,
        node: Node,
        home: Place,
        index: int,
        read: dict[str, tuple[Node, int]],
    ) -> None:
        self._layout, self._node, self._home, self._index = layout, node, home, index
        self.read = read
        """The cells that the formula reads: whose they are, and how many."""
        self.shape = node.shape
        self._transposed = not node.name and isinstance(node.operation, Transpose)

    @property
    def is_transposed(self) -> bool:
        return self._transposed

    @cached_property
    def _block(self) -> Block:
        return self._layout.blocks[self._node]

    @cached_property
    def _parents(self) -> list[_Operand]:
        parents = [
            _Operand(self._layout, node, self._home, self._index, self.read)
            for node in self._node.parents
        ]
        return [*parents, self] if operation_of(self._node).reads_labels else parents

    def formula(self, column: int) -> str:
        """What makes a cell of the matrix, as it would stand at home."""
        return operation_of(self._node).formula(self._index, column, *self._parents)

    @property
    def _sheet(self) -> str:
        place = self._block.place
        return "" if place.sheet == self._home.sheet else quoted(place.sheet) + "!"

    def _row_number(self) -> str:
        return row_token(self._block.place.row - self._home.row)

    def _reads(self, text: str, cells: int) -> str:
        self.read[text] = (self._node, cells)
        return text

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        node = self._node
        if self.is_transposed:  # a column, read as a row
            return self._parents[0]._fixed_row(column).partition(":")[0]
        if not node.name:
            text = self.formula(column)
            return f"({text})" if operation_of(node).binds < binds else text
        if node.scalar:
            return self._reads(self._block.name, 1)
        place = self._block.place
        one_column = self.shape[1] == 1 < self._home.columns
        column_text = f"${letters(place.column)}" if one_column else letters(place.column + column)
        if row is not None:
            row_text = str(place.row + row)
        elif self.shape[0] == 1 < self._home.rows:
            row_text = f"${place.row}"
        else:
            row_text = self._row_number()
        return self._reads(f"{self._sheet}{column_text}{row_text}", 1)

    def row(self) -> str:
        place, number = self._block.place, self._row_number()
        text = f"{self._sheet}${letters(place.column)}{number}:${letters(place.last_column)}{number}"
        return self._reads(text, place.columns)

    def column(self, column: int) -> str:
        if self.is_transposed:
            return self._parents[0]._fixed_row(column)
        place = self._block.place
        letter = letters(place.column + column)
        return self._reads(f"{self._sheet}{letter}${place.row}:{letter}${place.last_row}", place.rows)

    def _fixed_row(self, row: int) -> str:
        place = self._block.place
        number = place.row + row
        text = f"{self._sheet}${letters(place.column)}${number}:${letters(place.last_column)}${number}"
        return self._reads(text, place.columns)

    def picked(self, row: Operand, column: int) -> str:
        return self._reads(f"INDEX({self._block.name},{row.cell(0)},{column + 1})", 1)

    def whole(self) -> str:
        return self._block.name

    def heading(self, column: int) -> str:
        place = self._block.place
        return f"{letters(place.column + column)}${place.row - 1}"

    def headings(self) -> str:
        place, row = self._block.place, self._block.place.row - 1
        return f"{self._sheet}${letters(place.column)}${row}:${letters(place.last_column)}${row}"

    def column_number(self, column: int) -> str:
        place = self._block.place
        return f"COLUMNS(${letters(place.column)}${place.row - 1}:{self.heading(column)})"

    def row_number(self) -> str:
        place = self._block.place
        label = letters(place.column - 1)
        return f"ROWS(${label}${place.row}:${label}{row_token(0)})"
