"""Where each matrix sits, and what its formulas are there: frozen records, no file format.

One matrix, one sheet: numbers from B5, labels above and to the left, helpers to the right. Matrices
that share a sheet (`Compare`) stand below each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from . import notes
from .cells import (
    MAX_COLUMNS,
    MAX_NAME,
    MAX_ROWS,
    MAX_SHEET_NAME,
    Place,
    defined_name,
    letters,
    quoted,
    row_token,
    sheet_name,
    unique,
)
from .errors import InputError
from .matrix import Node, clean
from .models import Computation, sentence_of
from .operation import Operand, operation_of
from .parts import chosen_parts, layer_and_head
from .primitives import Transpose
from .settings import Formulas, Settings

TITLE_ROW, NOTE_ROW, LINK_ROW, HEADER_ROW, FIRST_ROW = 1, 2, 3, 4, 5
LABEL_COLUMN, FIRST_COLUMN = 1, 2
OVERVIEW, COMPARE = "Overview", "Compare"
OPTIONS_NOTE = "Choices that the formulas obey: change one and watch."


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
    """

    node: Node
    place: Place
    name: str
    caption: str
    labelled: bool
    headed: bool
    live: bool


@dataclass(frozen=True, eq=False, repr=False)
class Sheet:
    """One sheet: what it is called, what it shows, where it leads.

    Attributes:
        name: unique in the workbook.
        symbol: the matrix it shows (`Softmax`), without the sentence.
        group: the sentence it belongs to; "" for what all share.
        title, note: its first two lines.
        blocks: the matrices on it, main one first.
    """

    name: str
    symbol: str
    group: str
    title: str
    note: str
    blocks: tuple[Block, ...]

    @property
    def main(self) -> Block:
        return self.blocks[0]

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
    """

    title: str
    sentences: dict[str, tuple[str, ...]]
    sheets: tuple[Sheet, ...]

    @cached_property
    def blocks(self) -> dict[Node, Block]:
        return {block.node: block for sheet in self.sheets for block in sheet.blocks}

    @cached_property
    def sources(self) -> dict[str, list[str]]:
        """For each sheet, the sheets that its formulas refer to."""
        found: dict[str, list[str]] = {}
        for sheet in self.sheets:
            live = [block.node for block in sheet.blocks if block.live]
            cells = [parent for node in live for parent in _referred_to(node)]
            names = [self.blocks[node].place.sheet for node in cells]
            found[sheet.name] = [name for name in dict.fromkeys(names) if name != sheet.name]
        return found

    @cached_property
    def targets(self) -> dict[str, list[str]]:
        """For each sheet, the sheets whose formulas refer to it."""
        found: dict[str, list[str]] = {sheet.name: [] for sheet in self.sheets}
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

    def patterns(self, block: Block, row: int) -> list[str]:
        """The formulas of a row of `block`, without the equals sign, as they stand in every row: tokens
        (`cells.row_token`) stand for row numbers. `row` counts from 0, and matters only where the
        operation says that its rows differ.
        """
        own = _Operand(self, block.node, block.place, row)
        return [own.formula(column) for column in range(block.place.columns)]

    def same_in_every_row(self, node: Node) -> bool:
        """Whether one pattern serves all rows of a matrix."""
        return node.operation is None or (
            operation_of(node).same_in_every_row
            and all(self.same_in_every_row(parent) for parent in node.parents if not parent.name)
        )


def _referred_to(node: Node) -> Iterator[Node]:
    """The named matrices in a node's formula."""
    for parent in node.parents:
        if parent.name:
            yield parent
        else:
            yield from _referred_to(parent)


class _Operand(Operand):
    """How a formula at `home` speaks of `node`: by its place or, if it has none, by its formula."""

    def __init__(self, layout: Layout, node: Node, home: Place, index: int) -> None:
        self._layout, self._node, self._home, self._index = layout, node, home, index
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
        parents = [_Operand(self._layout, node, self._home, self._index) for node in self._node.parents]
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

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        node = self._node
        if self.is_transposed:  # a column, read as a row
            return self._parents[0]._fixed_row(column).partition(":")[0]
        if not node.name:
            text = self.formula(column)
            return f"({text})" if operation_of(node).binds < binds else text
        if node.scalar:
            return self._block.name
        place = self._block.place
        one_column = self.shape[1] == 1 < self._home.columns
        column_text = f"${letters(place.column)}" if one_column else letters(place.column + column)
        if row is not None:
            row_text = str(place.row + row)
        elif self.shape[0] == 1 < self._home.rows:
            row_text = f"${place.row}"
        else:
            row_text = self._row_number()
        return f"{self._sheet}{column_text}{row_text}"

    def row(self) -> str:
        place, number = self._block.place, self._row_number()
        return f"{self._sheet}${letters(place.column)}{number}:${letters(place.last_column)}{number}"

    def column(self, column: int) -> str:
        if self.is_transposed:
            return self._parents[0]._fixed_row(column)
        place = self._block.place
        letter = letters(place.column + column)
        return f"{self._sheet}{letter}${place.row}:{letter}${place.last_row}"

    def _fixed_row(self, row: int) -> str:
        place = self._block.place
        number = place.row + row
        return f"{self._sheet}${letters(place.column)}${number}:${letters(place.last_column)}${number}"

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


def lay_out(computation: Computation, only: str | None = None) -> Layout:
    """Give every matrix of a computation its sheet, its place and its defined name.

    Args:
        only: the layers and heads to write, `Enc1,head2`; the rest is left out, and what would refer
            to it has values in place of formulas.

    Raises:
        CallError: if `only` names a layer or a head that there is not.
        InputError: if a matrix does not fit a sheet (16,384 columns, 1,048,576 rows).
    """
    prefixes = _prefixes(computation)
    shared = computation.shared()
    contents: dict[tuple[str, str], list[tuple[Node, str]]] = {}  # (prefix, symbol): node, name
    for sentence, graph in computation.items():
        for full_name, node in graph.items():
            prefix = "" if node in shared else prefixes[sentence]
            owner = graph.owner(node)
            symbol = owner.sheet or owner.name
            contents.setdefault((prefix, symbol), []).append((node, full_name))
    for name, node in computation.comparison.items():
        contents.setdefault(("", node.sheet), []).append((node, name))

    if only:
        kept = chosen_parts(only, [symbol for _, symbol in contents])
        contents = {key: members for key, members in contents.items() if key[1] in kept}
    if len(computation) > 1:  # what all sentences share comes first, what compares them last
        rank = {True: 0, False: 1}
        contents = dict(
            sorted(
                contents.items(), key=lambda item: 2 if item[0][1] == COMPARE else rank[not item[0][0]]
            )
        )
    there = {node for members in contents.values() for node, _ in members}

    sheet_names: set[str] = {OVERVIEW.casefold()}
    names: set[str] = set()
    sheets: list[Sheet] = []
    for (prefix, symbol), members in contents.items():
        dotted = f"{prefix}." if prefix else ""
        name = _claimed(sheet_name(dotted + symbol), sheet_names, MAX_SHEET_NAME)
        members.sort(key=lambda member: member[0].helper)  # the main one first, helpers as made
        blocks: list[Block] = []
        for node, full_name in dict(members).items():
            defined = _claimed(defined_name(dotted + full_name), names)
            live = node.operation is not None and all(parent in there for parent in _referred_to(node))
            blocks.append(_placed(node, name, defined, blocks[-1] if blocks else None, live))
        main = blocks[0].node
        alone = not main.sheet
        sheets.append(
            Sheet(
                name=name,
                symbol=symbol,
                group=prefix,
                title=f"{symbol} = {main.words}" if alone and main.words else symbol,
                note=main.note if alone else _shared_note(symbol, blocks),
                blocks=tuple(blocks),
            )
        )
    words = {prefixes[name] or name: sentence_of(graph) for name, graph in computation.items()}
    return Layout(computation.title, words, tuple(sheets))


def _shared_note(symbol: str, blocks: list[Block]) -> str:
    if symbol == COMPARE:
        return notes.COMPARE
    return " ".join([OPTIONS_NOTE, *(f"{block.node.name}: {block.node.note}" for block in blocks)])


def _prefixes(computation: Computation) -> dict[str, str]:
    """Each sentence's name as its sheets carry it, short enough for `NAME.Softmax`; none where there
    is one sentence only."""
    if len(computation) == 1:
        return dict.fromkeys(computation, "")
    longest = max(
        len(node.name) for graph in computation.values() for node in graph.values() if not node.helper
    )
    prefixes: dict[str, str] = {}
    taken: set[str] = set()
    for sentence in computation:
        prefixes[sentence] = _claimed(sheet_name(clean(sentence)), taken, MAX_SHEET_NAME - 1 - longest)
    return prefixes


def _claimed(name: str, taken: set[str], longest: int = MAX_NAME) -> str:
    """`name` made unique, and remembered."""
    name = unique(name, taken, longest)
    taken.add(name.casefold())
    return name


def _placed(node: Node, sheet: str, name: str, before: Block | None, live: bool) -> Block:
    """A helper goes to the right of the block before, any other matrix below it."""
    row, column, headed = FIRST_ROW, FIRST_COLUMN, True
    if before is not None and node.helper:
        column = before.place.last_column + 2
    elif before is not None:
        # What is made from the matrix above, number under number, needs no labels of its own; nor
        # does one option below another.
        follows = before.node in _referred_to(node) or (node.scalar and before.node.scalar)
        headed = not follows or before.node.columns != node.columns
        row = before.place.last_row + (3 if headed else 1)
    place = Place(sheet, row, column, *node.shape)
    if place.last_row > MAX_ROWS or place.last_column > MAX_COLUMNS:
        raise InputError(
            f"{node.name} has {node.shape[0]} x {node.shape[1]} numbers and needs cells up to "
            f"{letters(place.last_column)}{place.last_row}, but a sheet ends at "
            f"{letters(MAX_COLUMNS)}{MAX_ROWS}. Use a shorter sentence."
        )
    caption = node.note if node.sheet or node.helper else node.name
    if node.scalar:
        caption = "option"
    return Block(node, place, name, caption, labelled=not node.helper, headed=headed, live=live)
