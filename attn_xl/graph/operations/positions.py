"""Positions of words: sinusoidal, and the angles of rotary ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import ATOM, Operand, Operation, Reads, Said, Term


class Sinusoid(Operation):
    """sin(pos / 10000^(2i/d)) in even columns, cos in odd ones; pos and i count from 0."""

    noun: ClassVar[str] = "Positions"
    reads = (Reads.table,)
    reads_labels: ClassVar[bool] = True

    def numbers(self, *operands: Numbers) -> Numbers:
        x = operands[0]
        n, d = x.shape
        return np.array(
            [
                [(math.cos if j % 2 else math.sin)(pos / 10000 ** (2 * (j // 2) / d)) for j in range(d)]
                for pos in range(n)
            ]
        )

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        x, own = operands
        function, first = ("COS", "-1") if column % 2 else ("SIN", "")
        exponent = f"({own.column_number(column)}{first})/COLUMNS({x.whole()})"
        return f"{function}(({own.row_number()})/10000^({exponent}))"

    def words(self, *operands: str) -> str:
        return "sin or cos of position / 10000^(2i / d)"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        wave = "cos" if column % 2 else "sin"
        position = own.number(row, "position").text
        i, d = own.number(column // 2, "i").text, own.number(own.shape[1], "d").text
        return Said(f"{wave}({position} / 10000^(2·{i} / {d}))")


@dataclass(frozen=True, eq=False, repr=False)
class Angle(Operation):
    """pos / base^(2i/r) for the pair i of each column, in radians; pos and i count from 0. The base is
    an operand.

    Attributes:
        rows: number of words.
        width: r, an even number of columns.
        neighbours: whether columns 2i and 2i + 1 are pair i, instead of columns i and r/2 + i.
        first: the position of the first word.
    """

    noun: ClassVar[str] = "Angle"
    reads_labels: ClassVar[bool] = True
    rows: int
    width: int
    neighbours: bool
    first: int = 0

    def pair(self, column: int) -> tuple[int, int]:
        """The pair of a column, and what to subtract from the column's number: 2i or i is left."""
        half = self.width // 2
        if self.neighbours:
            return column // 2, column % 2
        return column % half, column // half * half

    def numbers(self, *operands: Numbers) -> Numbers:
        base = float(operands[0][0, 0])
        pairs = [self.pair(column)[0] for column in range(self.width)]
        rates = [base ** (2 * i / self.width) for i in pairs]
        places = range(self.first, self.first + self.rows)
        return np.array([[place / rate for rate in rates] for place in places])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        base, own = operands
        beyond = self.pair(column)[1]
        i = own.column_number(column) + (f"-{beyond}" if beyond else "")
        exponent = f"({i})/{self.width}" if self.neighbours else f"2*({i})/{self.width}"
        place = own.row_number() + (f"+{self.first}" if self.first else "")
        return f"({place})/{base.cell(0, binds=ATOM)}^({exponent})"

    def words(self, *operands: str) -> str:
        return f"position / {operands[0]}^(2i / {self.width})"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        position = own.number(self.first + row, "position").text
        i = own.number(self.pair(column)[0], "i").text
        base = terms[0].at(0, 0).within(ATOM)
        return Said(f"{position} / {base}^(2·{i} / {self.width})", 2)


class Distance(Operation):
    """How many words apart the word of the row and that of the column stand."""

    noun: ClassVar[str] = "Distance"
    reads = (Reads.table,)
    reads_labels: ClassVar[bool] = True

    def numbers(self, *operands: Numbers) -> Numbers:
        n, m = operands[0].shape
        return np.abs(np.arange(float(m)) - np.arange(float(n))[:, None])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        own = operands[-1]
        return f"ABS({own.column_number(column)}-({own.row_number()}))"

    def words(self, *operands: str) -> str:
        return "how many words apart"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return Said(f"|{row + 1} − {column + 1}|")
