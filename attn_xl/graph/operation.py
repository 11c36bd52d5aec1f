"""What an operation is: what it does to numbers, what a spreadsheet writes for it, how people say it.

Knows no file format: a formula is text about operands, which say themselves where they stand; a
calculation is text about terms, which say themselves what they are called or what their numbers are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

import numpy as np

from .node import MadeBy, Node, Numbers, walk

ATOM = 9  # binds tighter than any operator: a cell, a number, a function call


class NoArray(Exception):
    """A step that has no formula for the whole matrix at once."""


class Operand:
    """How a formula speaks of a matrix. `column` counts from 0; the row is the formula's own,
    unless it is given."""

    shape: tuple[int, int]

    @property
    def is_transposed(self) -> bool:
        """Whether a column of it is a row of cells, and a row of it a column of cells."""
        raise NotImplementedError

    def cell(self, column: int, *, row: int | None = None, binds: int = 0) -> str:
        """One number; in parentheses if it is a formula that binds less tightly than `binds`."""
        raise NotImplementedError

    def row(self) -> str:
        """The formula's row, all columns."""
        raise NotImplementedError

    def column(self, column: int) -> str:
        """One column, all rows."""
        raise NotImplementedError

    def whole(self) -> str:
        """All of it, by name."""
        raise NotImplementedError

    def array(self, binds: int = 0) -> str:
        """All of it in a formula over whole matrices: by name, or by its formula, in parentheses if
        that binds less tightly than `binds`.

        Raises:
            NoArray: if a part of it has no such formula.
        """
        raise NotImplementedError

    def part(self, start: int, stop: int) -> str:
        """Some neighbouring columns, all rows."""
        raise NotImplementedError

    def literal(self, text: str) -> str:
        """A text as a formula holds it."""
        raise NotImplementedError

    def heading(self, column: int) -> str:
        """The cell with the label of a column."""
        raise NotImplementedError

    def headings(self) -> str:
        """The cells with the labels of all columns."""
        raise NotImplementedError

    def column_number(self, column: int) -> str:
        """The number of a column, from 0."""
        raise NotImplementedError

    def row_number(self) -> str:
        """The number of the formula's row, from 0."""
        raise NotImplementedError

    def picked(self, row: Operand, column: int) -> str:
        """The number in a column, of the row whose number, from 1, is `row`."""
        raise NotImplementedError


class Said(NamedTuple):
    """A piece of a calculation, and how tightly it binds."""

    text: str
    binds: int = ATOM

    def within(self, binds: int) -> str:
        """The text; in parentheses if it binds less tightly than `binds`."""
        return f"({self.text})" if self.binds < binds else self.text


class Term:
    """How a calculation speaks of a matrix: of its cells by name, or with the numbers put in. Rows and
    columns count from 0."""

    shape: tuple[int, int]
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def at(self, row: int, column: int) -> Said:
        """One number; of a single row or column, or a scalar, the one that goes with each."""
        raise NotImplementedError

    def value(self, row: int, column: int) -> float:
        """What it is."""
        raise NotImplementedError

    def whole(self) -> str:
        """All of it, by name."""
        raise NotImplementedError

    def number(self, value: float, word: str) -> Said:
        """A number that stands in no cell: itself, or by name `word`."""
        raise NotImplementedError

    def several(self, count: int, part: Callable[[int], str], between: str) -> str:
        """`part(0)`, `part(1)`, ...; those in the middle may be left out."""
        raise NotImplementedError

    def total(self, count: int, part: Callable[[int], str]) -> Said:
        """The sum of parts that bind at least as tightly as a sum."""
        return Said(self.several(count, part, " + "), 1)

    def listed(self, row: int) -> str:
        """A row's numbers."""
        return self.several(self.shape[1], lambda column: self.at(row, column).text, ", ")


class Reads(Enum):
    """What a formula reads of an operand, and so what the operand must be.

    Attributes:
        number: one number in the same place: a formula may stand there in place of a cell.
        row, column: cells of one row, or of one column: it has cells, or is part of a matrix that has.
        table: all of it by name, or its labels: it has cells of its own.
    """

    number = "number"
    row = "row"
    column = "column"
    table = "table"


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The cells where the numbers of a matrix stand: all of its own, or a part of another matrix's.

    Attributes:
        node: the matrix that has cells.
        shape: how many rows and columns are read, as the reader sees them.
        row, column: the first cell's, within `node`, from 0.
        turned: they are read with rows and columns swapped.
    """

    node: Node
    shape: tuple[int, int]
    row: int = 0
    column: int = 0
    turned: bool = False


class Operation(MadeBy, ABC):
    """A primitive: all that is ever asked of it, in one class.

    In this order: `numbers`, from arrays to an array; `formula`, of one cell; `array`, the formula of
    the whole matrix at once; `words`, the step as a textbook has it; `worked`, how one cell was
    computed. Its derivative, written in the same operations, has its place after these.

    Attributes:
        noun: what its result is called where it needs cells and was given no name.
        binds: how tightly its formula binds.
        reads: what its formula reads of each operand; the last one holds for all further ones.
        repeats: how often its formula holds an operand's.
        reads_one: each of its cells reads one operand only.
        same_in_every_row: whether the rows of its formulas differ in their numbers only.
        reads_labels: its formula needs to know its own row and column: it has cells of its own, and
            gets itself as the last operand.
        reads_texts: an operand may hold words: a switch, a chosen word.
    """

    noun: ClassVar[str]
    binds: ClassVar[int] = ATOM
    reads: ClassVar[tuple[Reads, ...]] = (Reads.number,)
    repeats: ClassVar[int] = 1
    reads_one: ClassVar[bool] = False
    same_in_every_row: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = False

    @abstractmethod
    def numbers(self, *operands: Numbers) -> Numbers: ...

    @abstractmethod
    def formula(self, row: int, column: int, *operands: Operand) -> str:
        """The formula of one cell, without the equals sign. `row` matters only where
        `same_in_every_row` is False."""

    def array(self, *operands: Operand) -> str:
        """The formula of the whole matrix at once, without the equals sign.

        Raises:
            NoArray: if spreadsheets have none that all of them compute: its cells have their own.
        """
        raise NoArray

    @abstractmethod
    def words(self, *operands: str) -> str:
        """The whole step, with the operands' symbols."""

    @abstractmethod
    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        """How one cell came about, said in the terms of the operands. `own` is the result."""

    def cells(self, of: Cells) -> Cells | None:
        """Where its numbers stand among the cells `of` its operand; None if it computes new ones."""
        return None

    def reads_of(self, number: int) -> Reads:
        """What its formula reads of an operand; `number` counts from 0."""
        return self.reads[min(number, len(self.reads) - 1)]


def operation_of(node: Node) -> Operation:
    """What made a computed matrix."""
    assert isinstance(node.operation, Operation)
    return node.operation


def formula_size(node: Node) -> int:
    """How many references and operations the formula of a cell that reads `node` holds for it."""
    if node.name or node.operation is None:
        return 1
    operation = operation_of(node)
    sizes = [formula_size(parent) for parent in node.parents]
    return 1 + operation.repeats * (max(sizes) if operation.reads_one else sum(sizes))


def cells_of(node: Node) -> Cells | None:
    """The cells where a matrix stands: its own if it has a name; those of another that it is only a
    part or a view of; None if a formula has to compute it."""
    if node.name:
        return Cells(node, node.shape)
    if node.operation is None or len(node.parents) != 1:
        return None
    of = cells_of(node.parents[0])
    return operation_of(node).cells(of) if of else None


@dataclass(frozen=True, eq=False, repr=False)
class Entered:
    """Numbers that were put into some cells of a matrix in place of its own.

    Attributes:
        cells: which, of the matrix's shape.
        numbers: of the same shape; NaN for a blank.
    """

    cells: np.ndarray
    numbers: Numbers


@dataclass(frozen=True, eq=False, repr=False)
class Recomputed:
    """What follows when some cells have other numbers.

    Attributes:
        expected: for every matrix what its operation gives, made from what its operands show.
        shown: the same with what was entered in its place.
    """

    expected: dict[Node, Numbers]
    shown: dict[Node, Numbers]


def recompute(results: Iterable[Node], entered: Mapping[Node, Entered]) -> Recomputed:
    """The numbers of every node that leads to `results`, if some cells have other numbers.

    Not a number (NaN) stands for what is not there: a blank, what is made from one, and what cannot be
    computed, such as a division by 0.
    """
    expected: dict[Node, Numbers] = {}
    shown: dict[Node, Numbers] = {}
    changed: set[Node] = set()
    with np.errstate(all="ignore"):
        for node in walk(results):
            if changed.isdisjoint(node.parents):
                expected[node] = node.values
            else:
                made = operation_of(node).numbers(*(shown[parent] for parent in node.parents))
                expected[node] = np.where(np.isfinite(made), made + 0.0, np.nan)
                changed.add(node)
            shown[node] = expected[node]
            if node in entered:
                put = entered[node]
                shown[node] = np.where(put.cells, put.numbers, expected[node])
                changed.add(node)
    return Recomputed(expected, shown)


def follows(results: Iterable[Node], changed: Iterable[Node]) -> set[Node]:
    """Which of the nodes that lead to `results` are made from one of `changed`."""
    found = set(changed)
    for node in walk(results):
        if not found.isdisjoint(node.parents):
            found.add(node)
    return found - set(changed)
