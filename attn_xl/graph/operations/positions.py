"""Where words are: masks that hide them, switches between two matrices, sinusoidal positions, and the
angles of rotary ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from attn_xl.graph.matrix import Matrix, Numbers, Operation
from attn_xl.graph.terms import ATOM, Operand, Reads, Said, Term
from attn_xl.records import record

from .elementwise import CHOICE, constant
from .selection import Concat

ON, OFF = "on", "off"
"""Texts of a switch; its number is 1 or 0."""


class When(Operation):
    """One number if a switch is on, another if it is off: `=IF(Scale="on",SQRT(d_k),1)`."""

    noun = "Choice"
    reads_texts = True

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[1].rows, operands[1].columns

    def numbers(self, *operands: Numbers) -> Numbers:
        switch, if_on, if_off = operands
        return if_on if switch[0, 0] == 1 else if_off

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        switch, if_on, if_off = operands
        return f'IF({switch.cell(0)}="{ON}",{if_on.cell(column)},{if_off.cell(column)})'

    def words(self, *operands: str) -> str:
        switch, if_on, if_off = operands
        return CHOICE.format(if_on=if_on, switch=switch, if_off=if_off)

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        switch, if_on, if_off = terms
        return (if_on if switch.value(0, 0) == 1 else if_off).at(row, column)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix | None:
        switch = operands[0]
        if number == 0:
            return None
        nothing = constant(0)
        operands = (switch, d, nothing) if number == 1 else (switch, nothing, d)
        return self(*operands, rows=d.rows, columns=d.columns)


HIDDEN = -1e9
"""Added to a score, it leaves an attention weight of exactly 0."""


@record(frozen=True, eq=False, repr=False)
class Mask(Operation):
    """0 where a word may look, a large negative number where it may not: at later words (causal), at
    words that fill up a sentence (padding), at words too far away (window). Operands: a switch that
    turns causal on or off, if `switched`; the width of the window, if `window`. `first` is the
    place of the first row's word, from 0."""

    noun = "Mask"
    reads_texts = True
    reads_labels = True
    rows: int
    headings: tuple[str, ...]
    causal: bool
    padding: tuple[str, ...]
    switched: bool = False
    window: bool = False
    first: int = 0

    def _hides_later(self, operands: tuple[Numbers, ...]) -> bool:
        return bool(operands[0][0, 0] == 1) if self.switched else self.causal

    def numbers(self, *operands: Numbers) -> Numbers:
        padded = {word.casefold() for word in self.padding}
        hidden = np.array([[word.casefold() in padded for word in self.headings]] * self.rows)
        if self._hides_later(operands):
            hidden |= np.triu(np.ones(hidden.shape, dtype=bool), 1 + self.first)
        if self.window:
            here = np.arange(self.rows)[:, None] + self.first
            hidden |= np.abs(here - np.arange(hidden.shape[1])) >= operands[-1][0, 0]
        return np.where(hidden, HIDDEN, 0.0)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        *given, own = operands
        there = own.column_number(column)
        here = own.row_number() + (f"+{self.first}" if self.first else "")
        later = f"{there}>{here}"
        conditions = [later] if self.causal else []
        if self.switched:
            conditions = [f'AND({given[0].cell(0)}="{ON}",{later})']
        for word in self.padding:
            conditions.append(f"{own.heading(column)}={own.literal(word)}")
        if self.window:
            conditions.append(f"ABS({there}-({here}))>={given[-1].cell(0)}")
        test = conditions[0] if len(conditions) == 1 else f"OR({','.join(conditions)})"
        return f"IF({test},{HIDDEN:.0f},0)"  # not every program reads 1E+9

    def words(self, *operands: str) -> str:
        later = "later words, if Causal is on" if self.switched else "later words"
        kinds = [later] * (self.causal or self.switched)
        kinds += [", ".join(self.padding)] * bool(self.padding)
        kinds += [f"words {operands[-1]} or more away"] if self.window else []
        hidden = f"{HIDDEN:.0e}".replace("e+0", "e")
        return f"{hidden} hides {' and '.join(kinds)}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        there, here = own.columns[column], own.rows[row]
        causal = terms[0].value(0, 0) == 1 if self.switched else self.causal
        if causal and column > row + self.first:
            why = "column {column}, {there}, is later than row {row}, {here}, so it is hidden"
        elif there.casefold() in {word.casefold() for word in self.padding}:
            why = "column {column}, {there}, only fills up the sentence, so it is hidden"
        elif own.value(row, column):
            why = "column {column}, {there}, is outside the window of row {row}, {here}"
        else:
            why = "row {row}, {here}, may look at column {column}, {there}"
        why = why.format(row=row + 1, here=here, column=column + 1, there=there)
        return own.number(own.value(row, column), why)


@record(frozen=True, eq=False, repr=False)
class Sinusoid(Operation):
    """sin(pos / 10000^(2i/d)) in even columns, cos in odd ones; pos and i count from 0. `first` is the
    position of the first word."""

    noun = "Positions"
    reads = (Reads.table,)
    reads_labels = True
    first: int = 0

    def numbers(self, *operands: Numbers) -> Numbers:
        x = operands[0]
        n, d = x.shape
        return np.array(
            [
                [(math.cos if j % 2 else math.sin)(pos / 10000 ** (2 * (j // 2) / d)) for j in range(d)]
                for pos in range(self.first, self.first + n)
            ]
        )

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        x, own = operands
        function, first = ("COS", "-1") if column % 2 else ("SIN", "")
        count = f"{'ROWS' if x.is_transposed else 'COLUMNS'}({x.whole()})"
        exponent = f"({own.column_number(column)}{first})/{count}"
        place = own.row_number() + (f"+{self.first}" if self.first else "")
        return f"{function}(({place})/10000^({exponent}))"

    def words(self, *operands: str) -> str:
        return "sin or cos of position / 10000^(2i / d)"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        wave = "cos" if column % 2 else "sin"
        position = own.number(self.first + row, "position").text
        i, d = own.number(column // 2, "i").text, own.number(own.shape[1], "d").text
        return Said(f"{wave}({position} / 10000^(2·{i} / {d}))")


@record(frozen=True, eq=False, repr=False)
class Angle(Operation):
    """pos / base^(2i/r) for the pair i of each column, in radians; pos and i count from 0. The base is
    an operand.

    Attributes:
        rows: number of words.
        width: r, an even number of columns.
        neighbours: whether columns 2i and 2i + 1 are pair i, instead of columns i and r/2 + i.
        first: the position of the first word.
    """

    noun = "Angle"
    reads_labels = True
    rows: int
    width: int
    neighbours: bool
    first: int = 0

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        """Both columns of a pair have the same angles: `1a` and `1b`."""
        pairs = [self.pair(column) for column in range(self.width)]
        return operands[0].rows, [f"{pair + 1}{'ab'[bool(beyond)]}" for pair, beyond in pairs]

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

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        base = operands[0]
        exponents = [2 * self.pair(column)[0] / self.width for column in range(self.width)]
        powers = [constant(exponent) for exponent in exponents]
        return -(d * own * Concat()(*powers, columns=own.columns)) / base


@record(frozen=True, eq=False, repr=False)
class QuarterTurn(Operation):
    """Each pair (a, b) of columns as (-b, a): `=-Q!C5`, `=Q!B5`. Pairs as in `Angle`."""

    noun = "Turned"
    binds = 1
    neighbours: bool

    def partner(self, column: int, width: int) -> tuple[int, bool]:
        """The other column of a pair, and whether it changes its sign here."""
        step = 1 if self.neighbours else width // 2
        is_first = column // step % 2 == 0
        return column + (step if is_first else -step), is_first

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        partners = [self.partner(column, x.shape[1]) for column in range(x.shape[1])]
        signs = [-1.0 if changes else 1.0 for _, changes in partners]
        return np.asarray(x[:, [column for column, _ in partners]] * signs)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        (x,) = operands
        partner, changes = self.partner(column, x.shape[1])
        return f"-{x.cell(partner, binds=ATOM)}" if changes else x.cell(partner, binds=1)

    def words(self, *operands: str) -> str:
        return f"(a, b) of {operands[0]} becomes (-b, a)"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        (x,) = terms
        partner, changes = self.partner(column, x.shape[1])
        number = x.at(row, partner)
        return Said(f"-{number.within(ATOM)}", 1) if changes else number

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return -self(d)


@record(frozen=True, eq=False, repr=False)
class Count(Operation):
    """`first`, `first` + 1, ..., one number in each row."""

    noun = "Count"
    reads_labels = True
    first: int
    rows: int

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.arange(self.first, self.first + self.rows, dtype=float).reshape(-1, 1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{operands[-1].row_number()}+{self.first}"

    def words(self, *operands: str) -> str:
        return f"{self.first}, {self.first + 1}, ..."

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return own.number(own.value(row, column), f"{self.first} and the rows above")


@record(frozen=True, eq=False, repr=False)
class Distance(Operation):
    """How many words apart the word of the row and that of the column stand. `first` is the place of
    the first row's word, from 0."""

    noun = "Distance"
    reads = (Reads.table,)
    reads_labels = True
    first: int = 0

    def numbers(self, *operands: Numbers) -> Numbers:
        n, m = operands[0].shape
        places = np.arange(float(m))
        return np.asarray(np.abs(places - np.arange(float(n))[:, None] - self.first))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        own = operands[-1]
        here = own.row_number() + (f"+{self.first}" if self.first else "")
        return f"ABS({own.column_number(column)}-({here}))"

    def words(self, *operands: str) -> str:
        return "how many words apart"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        here = row + self.first + 1
        steps = f"words from {own.rows[row]}, word {here}, to {own.columns[column]}, word {column + 1}"
        return own.number(own.value(row, column), steps)
