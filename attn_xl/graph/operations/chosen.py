"""The primitives that look at more than numbers: at words and their places, and at what a reader has
chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import ATOM, Operand, Operation, Said, Term
from attn_xl.spreadsheets.addresses import literal
from attn_xl.text import ON

HIDDEN = -1e9
"""Added to a score, it leaves an attention weight of exactly 0."""


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

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        switch, if_on, if_off = terms
        return (if_on if switch.value(0, 0) == 1 else if_off).at(row, column)


@dataclass(frozen=True, eq=False, repr=False)
class Find(Operation):
    """Where a chosen word stands in a list of words, from 1: `=MATCH(Word,Words,0)`."""

    plain: bool
    """No word has a letter that stands for others in a search (* ? ~), or is too long for one."""

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

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        matrix, which = terms
        return matrix.at(int(which.value(0, 0)) - 1, row)


class ColumnMean(Operation):
    """The mean of each column: `=AVERAGE(Input!B$5:B$9)`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        x = np.vstack(operands)
        return np.asarray(np.cumsum(x, axis=0)[-1] / len(x)).reshape(1, -1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"AVERAGE({','.join(operand.column(column) for operand in operands)})"

    def words(self, *operands: str) -> str:
        return f"the mean of each column of {' and '.join(operands)}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        places = [(term, i) for term in terms for i in range(term.shape[0])]
        total = own.total(len(places), lambda k: places[k][0].at(places[k][1], column).within(1))
        return Said(f"{total.within(ATOM)} / {len(places)}", 2)


class ColumnVariance(Operation):
    """The variance of each column, with n − 1 as divisor: `=VAR(Input!B$5:B$9)`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        mean = np.cumsum(x, axis=0)[-1] / len(x)
        return np.asarray(np.cumsum((x - mean) ** 2, axis=0)[-1] / (len(x) - 1)).reshape(1, -1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"VAR({operands[0].column(column)})"

    def words(self, *operands: str) -> str:
        return f"the variance of each column of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        x = terms[0]
        n = x.shape[0]
        mean = sum(x.value(i, column) for i in range(n)) / n
        said = own.number(mean, f"mean of column {x.columns[column]}").within(2)
        total = own.total(n, lambda i: f"({x.at(i, column).within(1)} − {said})²")
        return Said(f"{total.within(ATOM)} / {n - 1}", 2)


@dataclass(frozen=True, eq=False, repr=False)
class Mask(Operation):
    """0 where a word may look, a large negative number where it may not: at later words (causal), at
    words that fill up a sentence (padding). With a switch as operand, that one decides on causal."""

    reads_labels: ClassVar[bool] = True
    rows: int
    headings: tuple[str, ...]
    causal: bool
    padding: tuple[str, ...]

    def numbers(self, *operands: Numbers) -> Numbers:
        padded = {word.casefold() for word in self.padding}
        hidden = np.array([[word.casefold() in padded for word in self.headings]] * self.rows)
        if operands[0][0, 0] if operands else self.causal:
            hidden |= np.triu(np.ones(hidden.shape, dtype=bool), 1)
        return np.where(hidden, HIDDEN, 0.0)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        *switch, own = operands
        later = f"{own.column_number(column)}>{own.row_number()}"
        conditions = [later] if self.causal else []
        if switch:
            conditions = [f'AND({switch[0].cell(0)}="{ON}",{later})']
        for word in self.padding:
            conditions.append(f"{own.heading(column)}={literal(word)}")
        test = conditions[0] if len(conditions) == 1 else f"OR({','.join(conditions)})"
        return f"IF({test},{HIDDEN:.0f},0)"  # not every program reads 1E+9

    def words(self, *operands: str) -> str:
        later = "later words, if Causal is on" if operands else "later words"
        kinds = [later] * (self.causal or bool(operands)) + [", ".join(self.padding)] * bool(
            self.padding
        )
        return f"{HIDDEN:.0e} hides {' and '.join(kinds)}".replace("e+0", "e")

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        there, here = own.columns[column], own.rows[row]
        causal = terms[0].value(0, 0) == 1 if terms else self.causal
        if causal and column > row:
            why = f"column {column + 1}, {there}, is later than row {row + 1}, {here}, so it is hidden"
        elif there.casefold() in {word.casefold() for word in self.padding}:
            why = f"column {column + 1}, {there}, only fills up the sentence, so it is hidden"
        else:
            why = f"row {row + 1}, {here}, may look at column {column + 1}, {there}"
        return own.number(own.value(row, column), why)


class Sinusoid(Operation):
    """sin(pos / 10000^(2i/d)) in even columns, cos in odd ones; pos and i count from 0."""

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
