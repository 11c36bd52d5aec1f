"""The primitives that obey what a reader has chosen: a switch, a word of the sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .matrix import Numbers
from .operation import Operand, Operation
from .primitives import ON


class When(Operation):
    """One number if a switch is on, another if it is off: `=IF(Scale="on",SQRT(d_k),1)`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        switch, if_on, if_off = operands
        return if_on if switch[0, 0] == 1 else if_off

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        switch, if_on, if_off = operands
        return f'IF({switch.cell(0)}="{ON}",{if_on.cell(column)},{if_off.cell(column)})'

    def words(self, *operands: str) -> str:
        switch, if_on, if_off = operands
        return f"{if_on} if {switch} is on, else {if_off}"


@dataclass(frozen=True, eq=False, repr=False)
class Find(Operation):
    """Where a chosen word stands in a list of words, from 1: `=MATCH(Word,Words,0)`."""

    plain: bool
    """No word has a letter that stands for others in a search (* ? ~)."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        word, words = operands
        if self.plain:
            return f"MATCH({word.cell(0)},{words.whole()},0)"
        rows = ";".join(str(number + 1) for number in range(words.shape[0]))
        return f"SUMPRODUCT(EXACT({words.whole()},{word.cell(0)})*{{{rows}}})"

    def words(self, *operands: str) -> str:
        return f"where {operands[0]} stands in {operands[1]}"


class Picked(Operation):
    """One row of a matrix, its numbers below each other: `=INDEX(Softmax,Row,3)`."""

    same_in_every_row: ClassVar[bool] = False

    def numbers(self, *operands: Numbers) -> Numbers:
        matrix, which = operands
        return np.asarray(matrix[int(which[0, 0]) - 1].reshape(-1, 1))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        matrix, which = operands
        return matrix.picked(which, row)

    def words(self, *operands: str) -> str:
        return f"row {operands[1]} of {operands[0]}"


class ColumnMean(Operation):
    """The mean of each column: `=AVERAGE(Input!B$5:B$9)`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        x = np.vstack(operands)
        return np.asarray(np.cumsum(x, axis=0)[-1] / len(x)).reshape(1, -1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"AVERAGE({','.join(operand.column(column) for operand in operands)})"

    def words(self, *operands: str) -> str:
        return f"the mean of each column of {' and '.join(operands)}"


CHOSEN: tuple[Operation, ...] = (When(), Find(True), Find(False), Picked(), ColumnMean())
