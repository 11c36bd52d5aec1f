"""What an operation is: what it does to numbers, what a spreadsheet writes for it, how people say it.

Knows no file format: a formula is text about operands, which say themselves where they stand; a
calculation is text about terms, which say themselves what they are called or what their numbers are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
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
        """Whether a column of it is a row of cells."""
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


class Operation(MadeBy, ABC):
    """A primitive: what it does to numbers, what a spreadsheet writes for it, how people say it."""

    binds: ClassVar[int] = ATOM
    same_in_every_row: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = False
    """Its formula needs to know its own row and column: it gets itself as the last operand."""

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


def operation_of(node: Node) -> Operation:
    """What made a computed matrix."""
    assert isinstance(node.operation, Operation)
    return node.operation


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
