"""Operations that select rows, columns or numbers, or place matrices side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import Cells, Operand, Operation, Reads, Said, Term


@dataclass(frozen=True, eq=False, repr=False)
class Gather(Operation):
    """Rows selected from matrices: row i is row `picks[i][1]` of operand `picks[i][0]`."""

    noun: ClassVar[str] = "Rows"
    passes_on: ClassVar[bool] = True
    reads_one: ClassVar[bool] = True
    reads = (Reads.row,)
    same_in_every_row: ClassVar[bool] = False
    picks: tuple[tuple[int, int], ...]

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([operands[which][row] for which, row in self.picks])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        which, source_row = self.picks[row]
        return operands[which].cell(column, row=source_row)

    def cells(self, of: Cells) -> Cells | None:
        """Those of its operand, if it takes neighbouring rows in their order."""
        first = self.picks[0][1]
        if self.picks != tuple((0, first + i) for i in range(len(self.picks))):
            return None
        shape = len(self.picks), of.shape[1]
        if of.turned:
            return replace(of, shape=shape, column=of.column + first)
        return replace(of, shape=shape, row=of.row + first)

    def words(self, *operands: str) -> str:
        return "the word's row of " + " and ".join(dict.fromkeys(operands))

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        which, source_row = self.picks[row]
        return terms[which].at(source_row, column)


@dataclass(frozen=True, eq=False, repr=False)
class Columns(Operation):
    """Neighbouring columns: `=W_Q!D5`. Formulas read the original cells unless they have a name."""

    noun: ClassVar[str] = "Columns"
    passes_on: ClassVar[bool] = True
    start: int
    stop: int

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0][:, self.start : self.stop]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(self.start + column)

    def array(self, *operands: Operand) -> str:
        return operands[0].part(self.start, self.stop)

    def words(self, *operands: str) -> str:
        first, last = self.start + 1, self.stop
        return (
            f"columns {first} to {last} of {operands[0]}"
            if first < last
            else f"column {first} of {operands[0]}"
        )

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].at(row, self.start + column)

    def cells(self, of: Cells) -> Cells:
        shape = of.shape[0], self.stop - self.start
        if of.turned:
            return replace(of, shape=shape, row=of.row + self.start)
        return replace(of, shape=shape, column=of.column + self.start)


class Concat(Operation):
    """Matrices side by side."""

    noun: ClassVar[str] = "Concat"
    passes_on: ClassVar[bool] = True
    reads_one: ClassVar[bool] = True

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.hstack(operands)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        for operand in operands:
            if column < operand.shape[1]:
                return operand.cell(column)
            column -= operand.shape[1]
        raise IndexError(column)

    def words(self, *operands: str) -> str:
        return ", ".join(operands) + " side by side"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        for term in terms:
            if column < term.shape[1]:
                return term.at(row, column)
            column -= term.shape[1]
        raise IndexError(column)


@dataclass(frozen=True, eq=False, repr=False)
class OneHot(Operation):
    """1 in the column whose label is the text in a column of texts, 0 elsewhere:
    `=IF(Labels!$B5=B$4,1,0)`.

    Attributes:
        headings: its columns; the number of a text is its column, from 1.
        row: the row of the text, from 0; None for each row its own.
    """

    noun: ClassVar[str] = "Target"
    reads_texts: ClassVar[bool] = True
    reads_labels: ClassVar[bool] = True
    headings: tuple[str, ...]
    row: int | None = None

    def numbers(self, *operands: Numbers) -> Numbers:
        chosen = operands[0] if self.row is None else operands[0][self.row : self.row + 1]
        return np.where(np.isnan(chosen), np.nan, chosen == np.arange(1, len(self.headings) + 1))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        texts, own = operands
        text, heading = texts.cell(0, row=self.row), own.heading(column)
        if len({label.casefold() for label in self.headings}) < len(self.headings):  # Cat and cat
            return f"IF(EXACT({text},{heading}),1,0)"
        return f"IF({text}={heading},1,0)"

    def words(self, *operands: str) -> str:
        return f"1 in the column labelled as in {operands[0]}, 0 elsewhere"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        chosen = own.value(row, column)
        why = f"the column {own.columns[column]} is {'' if chosen else 'not '}the right one"
        return own.number(chosen, why)


@dataclass(frozen=True, eq=False, repr=False)
class Find(Operation):
    """The position of a chosen word in a list, from 1: `=MATCH(Word,Words,0)`."""

    noun: ClassVar[str] = "Place"
    reads = (Reads.number, Reads.table)
    reads_texts: ClassVar[bool] = True
    plain: bool
    """Whether MATCH can search for every word: none has a wildcard (* ? ~) or is too long."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        word, words = operands
        if self.plain:
            return f"MATCH({word.cell(0)},{words.whole()},0)"
        where = f"ROW({words.whole()})-MIN(ROW({words.whole()}))+1"
        return f"SUMPRODUCT(({words.whole()}={word.cell(0)})*({where}))"

    def words(self, *operands: str) -> str:
        return f"where {operands[0]} stands in {operands[1]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return own.number(own.value(0, 0), f"where {terms[0].whole()} stands")


class Picked(Operation):
    """One row of a matrix, as a column: `=INDEX(Softmax,Row,3)`."""

    noun: ClassVar[str] = "Picked"
    reads = (Reads.table, Reads.number)
    same_in_every_row: ClassVar[bool] = False

    def numbers(self, *operands: Numbers) -> Numbers:
        matrix, which = operands
        return np.asarray(matrix[int(which[0, 0]) - 1].reshape(-1, 1))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        matrix, which = operands
        return matrix.picked(which, row)

    def words(self, *operands: str) -> str:
        return f"row {operands[1]} of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        matrix, which = terms
        return matrix.at(int(which.value(0, 0)) - 1, row)
