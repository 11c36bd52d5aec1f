"""The layout of a workbook: its sheets, the places of its matrices and their formulas, as frozen
records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from enum import Enum
from functools import cached_property

import numpy as np

from attn_xl.graph.graph import referred_to, walk
from attn_xl.graph.loops import loops_in
from attn_xl.graph.matrix import Matrix, Numbers, Operation, cells_of, operation_of
from attn_xl.graph.terms import Reads
from attn_xl.records import record
from attn_xl.settings import OVERVIEW, Formulas, Settings
from attn_xl.spreadsheets.addresses import (
    at_row,
)

from .page import Block, Extras, PlacedOperand, array_formula

TITLE_ROW, NOTE_ROW, LINK_ROW, HEADER_ROW, FIRST_ROW = 1, 2, 3, 4, 5
LABEL_COLUMN, FIRST_COLUMN = 1, 2
OPTIONS_NOTE = "Options that the formulas use: change one and watch the numbers."


class State(Enum):
    """The content of a cell of a matrix."""

    live = "a formula and its number"
    fixed = "a number"
    waits = "a formula that is empty until the cells it needs are filled in"
    blank = "nothing yet: the student fills it in"

    @property
    def formula(self) -> bool:
        return self in (State.live, State.waits)


@record(frozen=True, eq=False, repr=False)
class Blanks:
    """The cells of a workbook that a student fills in.

    Attributes:
        open: a mask of these cells for each matrix that has some.
        numbers: of every matrix, NaN where a cell is open or waits for an open one.
        follow: the matrices that are computed from an open one.
        fixed: the other cells of an open matrix hold numbers instead of formulas.
        filled: open cells show their number where it is known.
    """

    open: dict[Matrix, np.ndarray] = field(default_factory=dict)
    numbers: dict[Matrix, Numbers] = field(default_factory=dict)
    follow: frozenset[Matrix] = frozenset()
    fixed: bool = False
    filled: bool = False


@record(frozen=True, eq=False, repr=False)
class Sheet:
    """One sheet.

    Attributes:
        name: unique in the workbook.
        symbol: the matrix it shows (`Softmax`), without the sentence.
        group: the sentence it belongs to; "" if all sentences share it.
        title, note: its first two lines.
        blocks: the matrices on it, the main one first.
        extras: everything else on it.
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
        """Whether it collects matrices that have no sheet of their own."""
        return self.name == OVERVIEW or (bool(self.blocks) and bool(self.main.node.sheet))

    @property
    def parts(self) -> tuple[str, ...]:
        """The layer and the head it belongs to: `Enc1`, `Enc1, head 2`; none for neither."""
        if not self.blocks:
            return ()
        part = self.main.node.part
        layer, head = part.layer, part.head
        if not head:
            return (layer,) if layer else ()
        spoken = f"head {head}"
        return (layer, f"{layer}, {spoken}") if layer else (spoken,)


@record(frozen=True, eq=False, repr=False)
class Layout:
    """All sheets of a workbook in their order, and their formulas.

    Attributes:
        title: of the workbook.
        in_words: the computation as a formula in words.
        finding: what the first sheet shows, in a line.
        sentences: the words of each sentence, by the prefix of its sheet names.
        sheets: the Overview, if there is one, and the others in the order of their creation.
        blanks: the cells to fill in.
        cover: a page before them.
        arrays: whether a matrix has a single array formula, where one is possible.
        protected: whether only open cells can be edited.
        about: what of the model is formulas, if not all of it.
        steps: the matrices as the Overview lists them, where they do not have a sheet each.
        copies: matrices that only repeat another one, in its cells: Q, K and V without weights. They
            have a defined name there, and no sheet.
    """

    title: str
    sentences: dict[str, tuple[str, ...]]
    sheets: tuple[Sheet, ...]
    blanks: Blanks = Blanks()
    cover: Sheet | None = None
    arrays: bool = False
    protected: bool = False
    steps: tuple[Sheet, ...] = ()
    copies: tuple[Block, ...] = ()
    finding: str = ""
    in_words: str = ""
    about: str = ""

    def __repr__(self) -> str:
        return f"<workbook of {len(self.all_sheets)} sheets>"

    @property
    def all_sheets(self) -> tuple[Sheet, ...]:
        """The cover and the sheets."""
        return (*([self.cover] if self.cover else []), *self.sheets)

    @property
    def home(self) -> str:
        """The sheet that every other sheet links to."""
        return self.all_sheets[0].name

    @cached_property
    def blocks(self) -> dict[Matrix, Block]:
        placed = {block.node: block for sheet in self.sheets for block in sheet.blocks}
        return self.with_copies(placed)

    def original(self, node: Matrix) -> Matrix:
        """The matrix in whose cells a matrix stands: the one that it copies, or itself."""
        return node.parents[0] if any(copy.node is node for copy in self.copies) else node

    def with_copies(self, placed: dict[Matrix, Block]) -> dict[Matrix, Block]:
        """Blocks by their matrices, and the copies of these in the same cells."""
        there = ((copy, placed.get(copy.node.parents[0])) for copy in self.copies)
        return placed | {c.node: replace(c, place=of.place) for c, of in there if of is not None}

    def scale_end(self, node: Matrix) -> float:
        """The number with the darkest colour: 1 for weights of attention, so that all can be compared;
        the largest for other shares, such as influences."""
        return self._largest.get(_compared(node), 1.0)

    @cached_property
    def _largest(self) -> dict[str, float]:
        """The largest number of the matrices with a colour scale, by what they are compared with."""
        largest: dict[str, float] = {}
        for node in self.blocks:
            if node.role == "attention":
                seen = node.values[np.isfinite(node.values)]
                own = float(np.round(seen.max(initial=1.0), 9))
                largest[_compared(node)] = max(own, largest.get(_compared(node), 1.0))
        return largest

    @cached_property
    def named(self) -> dict[str, Matrix]:
        """The matrices by their defined names."""
        return {block.name: node for node, block in self.blocks.items()}

    @cached_property
    def sources(self) -> dict[str, list[str]]:
        """For each sheet, the sheets that its formulas refer to."""
        sources: dict[str, list[str]] = {}
        for sheet in self.all_sheets:
            live = [block.node for block in sheet.blocks if block.live]
            cells = [parent for node in live for parent in referred_to(node)]
            names = [self.blocks[node].place.sheet for node in cells]
            sources[sheet.name] = [name for name in dict.fromkeys(names) if name != sheet.name]
        return sources

    @cached_property
    def targets(self) -> dict[str, list[str]]:
        """For each sheet, the sheets whose formulas refer to it."""
        targets: dict[str, list[str]] = {sheet.name: [] for sheet in self.all_sheets}
        for name, sources in self.sources.items():
            for source in sources:
                targets[source].append(name)
        return targets

    def summary(self, settings: Settings) -> str:
        """The number of sheets and formulas, and what the first sheet shows: `14 sheets, 337 formulas;
        the first says “mouse: with cat it becomes animal 2.05 > tech 1.45”`."""
        sheets = f"{len(self.all_sheets)} sheets"
        if settings.formulas is Formulas.none:
            return f"{sheets}, values only"
        cells = sum(
            1 if self.array(block) else block.node.values.size
            for block in self.blocks.values()
            if block.live
        )
        first = f"; the first says “{self.finding}”" if self.finding else ""
        return f"{sheets}, {cells:,} formulas{first}"

    def values(self, node: Matrix) -> Numbers:
        """The numbers that the cells of a matrix show; NaN for an empty cell."""
        return self.blanks.numbers.get(node, node.values)

    def waits(self, node: Matrix) -> bool:
        """Whether a matrix has cells to fill in, or cells that wait for them."""
        return node in self.blanks.open or node in self.blanks.follow

    def seen(self, node: Matrix) -> Numbers:
        """The numbers that its formatting may depend on; NaN for the answers of an exam."""
        return self.values(node) if self.blanks.fixed else node.values

    def states(self, block: Block, row: int) -> list[State]:
        """The content of each cell in a row of `block`; `row` counts from 0."""
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
        """The formulas of a row of `block`, without the equals sign; row numbers are
        tokens (`addresses.row_token`). `row` counts from 0, and matters only where the operation's
        formulas differ from row to row.

        A cell that is computed from cells to fill in is empty until they are filled in.
        """
        formulas = []
        own = PlacedOperand(self.blocks, block.node, block.place, row, {})
        for column in range(block.place.columns):
            formula, needed = self._needs(own, column)
            formulas.append(f'IF({needed},"",{formula})' if needed else formula)
        return formulas

    def formula(self, block: Block, row: int, column: int) -> str:
        """One cell's formula, without the equals sign; `row` and `column` count from 0."""
        return at_row(self.needs(block, row, column)[0], block.place.row + row)

    def array(self, block: Block) -> str:
        """The array formula of a matrix, without the equals sign; "" where each cell has a formula."""
        node = block.node
        if not (self.arrays and block.live) or node.values.size == 1 or self.waits(node):
            return ""
        if node in self._looping:  # it would refer to itself
            return ""
        return array_formula(self.blocks, node, block.place)

    @cached_property
    def _looping(self) -> set[Matrix]:
        """The matrices that are computed row by row."""
        return {node for loop in loops_in(walk(self.blocks)) for node in loop.nodes}

    def needs(self, block: Block, row: int, column: int) -> tuple[str, str]:
        """The formula of a cell, and a condition that is true while cells it needs are empty; "" if it
        needs no cell to fill in."""
        own = PlacedOperand(self.blocks, block.node, block.place, row, {})
        return self._needs(own, column)

    def _needs(self, own: PlacedOperand, column: int) -> tuple[str, str]:
        own.read.clear()
        formula = own.formula(column)
        waiting = self.blanks.follow | self.blanks.open.keys()
        needed = {text: count for text, (node, count) in own.read.items() if node in waiting}
        return formula, f"COUNT({','.join(needed)})<{sum(needed.values())}" if needed else ""

    def kinds_of_rows(self, block: Block) -> Sequence[object]:
        """For each row of a matrix a value that is the same where one pattern serves the rows."""
        rows = range(block.place.rows)
        if self.waits(block.node):
            return rows
        return rows_alike(block.node, rows) if block.live else [()] * len(rows)


def rows_alike(node: Matrix, rows: range) -> Sequence[object]:
    """For each row of a computed matrix a value that is the same where its formulas differ only in row
    numbers."""
    varying = list(_varying(node))
    if None in varying:
        return rows
    return [tuple(made.kind_of_row(row) for made in varying if made) for row in rows]


def _varying(node: Matrix) -> Iterator[Operation | None]:
    """The operations in a matrix's formula whose own formulas differ between rows in more than row
    numbers; None for an operand that is another column in each row."""
    if node.operation is None:
        return
    operation = operation_of(node)
    if not operation.same_in_every_row:
        yield operation
    for number, parent in enumerate(node.parents):
        if not parent.name:
            cells = cells_of(parent)
            if not (cells and cells.turned):
                yield from _varying(parent)
            elif parent.shape[0] > 1 and operation.reads_of(number) is not Reads.column:
                yield None


def _compared(node: Matrix) -> str:
    """What a reader compares a matrix with: those on its sheet, or those of its step."""
    return node.sheet or (node.step.symbol if node.step else "")
