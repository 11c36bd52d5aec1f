"""Where each matrix sits, and what its formulas are there: frozen records, no file format.

One matrix, one sheet: numbers from B5, labels above and to the left, helpers to the right. Matrices
that share a sheet (`Compare`) stand below each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .attention import COMPARE_NOTE
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
from .models import Computation
from .operations import Transpose, operation_of
from .settings import Formulas, Settings

TITLE_ROW, NOTE_ROW, LINK_ROW, HEADER_ROW, FIRST_ROW = 1, 2, 3, 4, 5
LABEL_COLUMN, FIRST_COLUMN = 1, 2
OVERVIEW = "Overview"


@dataclass(frozen=True)
class Block:
    """One matrix in its place.

    Attributes:
        node: the matrix.
        place: where its numbers stand.
        name: its defined name.
        caption: what stands above or beside its column labels.
        labelled: whether its row labels stand in the column to its left.
        headed: whether its column labels stand in the row above.
    """

    node: Node
    place: Place
    name: str
    caption: str
    labelled: bool
    headed: bool


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
            cells = [parent for block in sheet.blocks for parent in _referred_to(block.node)]
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
        cells = sum(
            block.node.values.size for block in self.blocks.values() if block.node.operation is not None
        )
        return f"{sheets}, {cells:,} formulas"

    def pattern(self, block: Block, row: int, column: int) -> str:
        """The formula of a cell of `block`, without the equals sign, as it stands in every row:
        `cells.at_row` puts the row's number in. `row` and `column` count from 0; `row` matters only
        where the operation says that its rows differ.
        """
        return self.formula(block.node, block.place, row, column)

    def formula(self, node: Node, home: Place, row: int, column: int) -> str:
        """The formula of `node` as it would stand at `home`."""
        operands = (_Operand(self, parent, home, row, node.shape) for parent in node.parents)
        return operation_of(node).formula(row, column, *operands)

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


class _Operand:
    """How a formula at `home` speaks of `node`: by its place or, if it has none, by its formula."""

    def __init__(
        self, layout: Layout, node: Node, home: Place, index: int, target: tuple[int, int]
    ) -> None:
        self._layout, self._node, self._home = layout, node, home
        self._index, self._target = index, target
        self.shape = node.shape
        self.is_transposed = not node.name and isinstance(node.operation, Transpose)

    @cached_property
    def _block(self) -> Block:
        return self._layout.blocks[self._node]

    @property
    def _sheet(self) -> str:
        place = self._block.place
        return "" if place.sheet == self._home.sheet else quoted(place.sheet) + "!"

    def _row_number(self) -> str:
        return row_token(self._block.place.row - self._home.row)

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        node = self._node
        if not node.name:
            text = self._layout.formula(node, self._home, self._index, column)
            return f"({text})" if operation_of(node).binds < binds else text
        if node.is_scalar:
            return self._block.name
        place = self._block.place
        one_column = self.shape[1] == 1 < self._target[1]
        column_text = f"${letters(place.column)}" if one_column else letters(place.column + column)
        if row is not None:
            row_text = str(place.row + row)
        elif self.shape[0] == 1 < self._target[0]:
            row_text = f"${place.row}"
        else:
            row_text = self._row_number()
        return f"{self._sheet}{column_text}{row_text}"

    def row(self) -> str:
        place, number = self._block.place, self._row_number()
        return f"{self._sheet}${letters(place.column)}{number}:${letters(place.last_column)}{number}"

    def column(self, column: int) -> str:
        if self.is_transposed:
            turned = self._node.parents[0]
            return _Operand(self._layout, turned, self._home, self._index, self.shape)._fixed_row(
                column
            )
        place = self._block.place
        letter = letters(place.column + column)
        return f"{self._sheet}{letter}${place.row}:{letter}${place.last_row}"

    def _fixed_row(self, row: int) -> str:
        place = self._block.place
        number = place.row + row
        return f"{self._sheet}${letters(place.column)}${number}:${letters(place.last_column)}${number}"

    def whole(self) -> str:
        return self._block.name


def lay_out(computation: Computation) -> Layout:
    """Give every matrix of a computation its sheet, its place and its defined name.

    Raises:
        InputError: if a matrix does not fit a sheet (16,384 columns, 1,048,576 rows).
    """
    prefixes = _prefixes(computation)
    shared = computation.shared()
    contents: dict[tuple[str, str], list[tuple[Node, str]]] = {}  # (prefix, symbol): node, name
    for sentence, graph in computation.items():
        for full_name, node in graph.items():
            prefix = "" if node in shared else prefixes[sentence]
            symbol = graph.owner(node).name
            contents.setdefault((prefix, symbol), []).append((node, full_name))
    for name, node in computation.comparison.items():
        contents.setdefault(("", node.sheet), []).append((node, name))

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
            blocks.append(_placed(node, name, defined, blocks[-1] if blocks else None))
        main = blocks[0].node
        alone = not main.sheet
        sheets.append(
            Sheet(
                name=name,
                symbol=symbol,
                group=prefix,
                title=f"{symbol} = {main.words}" if alone and main.words else symbol,
                note=main.note if alone else COMPARE_NOTE,
                blocks=tuple(blocks),
            )
        )
    words = {prefixes[name] or name: graph["Input"].rows for name, graph in computation.items()}
    return Layout(computation.title, words, tuple(sheets))


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


def _placed(node: Node, sheet: str, name: str, before: Block | None) -> Block:
    """A helper goes to the right of the block before, any other matrix below it."""
    row, column, headed = FIRST_ROW, FIRST_COLUMN, True
    if before is not None and node.helper:
        column = before.place.last_column + 2
    elif before is not None:
        # What is made from the matrix above, number under number, needs no labels of its own.
        headed = before.node not in _referred_to(node) or before.node.columns != node.columns
        row = before.place.last_row + (3 if headed else 1)
    place = Place(sheet, row, column, *node.shape)
    if place.last_row > MAX_ROWS or place.last_column > MAX_COLUMNS:
        raise InputError(
            f"{node.name} has {node.shape[0]} x {node.shape[1]} numbers and needs cells up to "
            f"{letters(place.last_column)}{place.last_row}, but a sheet ends at "
            f"{letters(MAX_COLUMNS)}{MAX_ROWS}. Use a shorter sentence."
        )
    caption = node.note if node.sheet or node.helper else node.name
    return Block(node, place, name, caption, labelled=not node.helper, headed=headed)
