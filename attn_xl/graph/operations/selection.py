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
    joins: ClassVar[bool] = True
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
