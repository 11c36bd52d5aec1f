"""Each primitive operation once: its numbers, its formula, its words and one cell worked out.

Sums run from left to right and exponentials are the C library's, as in the spreadsheet programs, so
that the numbers agree with theirs to the last bit and cancellation cannot drive them apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .matrix import Numbers
from .operation import ATOM, Operand, Operation, Said, Term

HIDDEN = -1e9
"""Added to a score, it leaves an attention weight of exactly 0."""


class Copy(Operation):
    """The same numbers again: `=Input!B5`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(column)

    def words(self, *operands: str) -> str:
        return operands[0]

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].at(row, column)


class Transpose(Operation):
    """Rows become columns. Has no cells of its own: a product reads the rows as columns."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0].T

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        raise NotImplementedError("a transposed matrix is written only as the right factor")

    def words(self, *operands: str) -> str:
        return f"{operands[0]}ᵀ"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].at(column, row)


class Product(Operation):
    """The matrix product: (n, k) by (k, m) gives (n, m)."""

    def numbers(self, *operands: Numbers) -> Numbers:
        left, right = operands
        total = np.zeros((left.shape[0], right.shape[1]))
        term = np.empty_like(total)
        for left_column, right_row in zip(left.T, np.ascontiguousarray(right)):
            np.multiply(left_column[:, None], right_row, out=term)
            total += term
        return total

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        if right.is_transposed:
            return f"SUMPRODUCT({left.row()},{right.column(column)})"
        return f"SUM(MMULT({left.row()},{right.column(column)}))"

    def words(self, *operands: str) -> str:
        return f"{operands[0]} × {operands[1]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        left, right = terms
        return own.total(
            left.shape[1],
            lambda k: f"{left.at(row, k).within(2)}·{right.at(k, column).within(3)}",
        )


@dataclass(frozen=True, eq=False, repr=False)
class Elementwise(Operation):
    """Number by number; a single row, a single column or a scalar goes with each."""

    symbol: str
    sign: str
    compute: Callable[[Numbers, Numbers], Numbers]
    binding: int

    @property
    def binds(self) -> int:  # type: ignore[override]
        return self.binding

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(self.compute(*operands))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        tighter = self.binding + (self.symbol in "-/")
        first = left.cell(column, binds=self.binding)
        return f"{first}{self.symbol}{right.cell(column, binds=tighter)}"

    def words(self, *operands: str) -> str:
        left, right = operands
        if self.binding > 1:
            left, right = (f"({o})" if " + " in o or " − " in o else o for o in (left, right))
        return f"{left} {self.sign} {right}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        left, right = (term.at(row, column) for term in terms)
        tighter = self.binding + (self.symbol in "-/")
        text = f"{left.within(self.binding)} {self.sign} {right.within(tighter)}"
        return Said(text, self.binding)


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Operation):
    """A number written into the formula."""

    value: float

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([[self.value]])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{self.value:.17g}"

    def words(self, *operands: str) -> str:
        return f"{self.value:g}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return own.number(self.value, f"{self.value:g}")


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Operation):
    """A function of each number: `=EXP(B5)`. `template` has `{x}` where the number goes; `working` too,
    and `{atom}` where it stands beside an operator."""

    template: str
    compute: Callable[[float], float]
    saying: str
    working: str
    binding: int = ATOM

    @property
    def binds(self) -> int:  # type: ignore[override]
        return self.binding

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        try:
            flat = np.fromiter(map(self.compute, x.ravel().tolist()), np.float64, x.size)
        except OverflowError:
            return np.full_like(x, math.inf)
        return flat.reshape(x.shape)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return self.template.format(x=operands[0].cell(column))

    def words(self, *operands: str) -> str:
        (x,) = operands
        return self.saying.format(f"({x})" if " " in x and self.saying.endswith("{}") else x)

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        x = terms[0].at(row, column)
        return Said(self.working.format(x=x.text, atom=x.within(ATOM)), self.binding)


@dataclass(frozen=True, eq=False, repr=False)
class Reduce(Operation):
    """One number from each row: `=MAX(B5:G5)`."""

    function: str
    compute: Callable[[Numbers], Numbers]
    saying: str
    working: Callable[[int, Term], Said]

    def numbers(self, *operands: Numbers) -> Numbers:
        return self.compute(operands[0]).reshape(-1, 1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{self.function}({operands[0].row()})"

    def words(self, *operands: str) -> str:
        return self.saying.format(operands[0])

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return self.working(row, terms[0])


class Width(Operation):
    """How many columns a matrix has: `=COLUMNS(K)`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([[float(operands[0].shape[1])]])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"COLUMNS({operands[0].whole()})"

    def words(self, *operands: str) -> str:
        return f"the number of columns of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        x = terms[0]
        return own.number(x.shape[1], f"the number of columns of {x.whole()}")


@dataclass(frozen=True, eq=False, repr=False)
class Gather(Operation):
    """Rows picked out of matrices: row i is row `picks[i][1]` of operand `picks[i][0]`."""

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
    """Some neighbouring columns: `=W_Q!D5`."""

    start: int
    stop: int

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0][:, self.start : self.stop]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(self.start + column)

    def words(self, *operands: str) -> str:
        first, last = self.start + 1, self.stop
        return (
            f"columns {first} to {last} of {operands[0]}"
            if first < last
            else f"column {first} of {operands[0]}"
        )

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].at(row, self.start + column)


class Concat(Operation):
    """Matrices side by side."""

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


class Best(Operation):
    """The label of the column with the largest number of each row; a text, so its number is that of
    the column."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(operands[0].argmax(axis=1) + 1.0).reshape(-1, 1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        x = operands[0]
        return f"INDEX({x.headings()},MATCH(MAX({x.row()}),{x.row()},0))"

    def words(self, *operands: str) -> str:
        return f"the column with the largest number of each row of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return Said(f"the column with the largest of {terms[0].listed(row)}", 0)


@dataclass(frozen=True, eq=False, repr=False)
class Mask(Operation):
    """0 where a word may look, a large negative number where it may not: at later words (causal), at
    words that fill up a sentence (padding)."""

    reads_labels: ClassVar[bool] = True
    rows: int
    headings: tuple[str, ...]
    causal: bool
    padding: tuple[str, ...]

    def numbers(self, *operands: Numbers) -> Numbers:
        padded = {word.casefold() for word in self.padding}
        hidden = np.array([[word.casefold() in padded for word in self.headings]] * self.rows)
        if self.causal:
            hidden |= np.triu(np.ones(hidden.shape, dtype=bool), 1)
        return np.where(hidden, HIDDEN, 0.0)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        (own,) = operands
        conditions = [f"{own.column_number(column)}>{own.row_number()}"] if self.causal else []
        for word in self.padding:
            quoted = word.replace('"', '""')
            conditions.append(f'{own.heading(column)}="{quoted}"')
        test = conditions[0] if len(conditions) == 1 else f"OR({','.join(conditions)})"
        return f"IF({test},{HIDDEN:.0E},0)".replace("E+0", "E+")

    def words(self, *operands: str) -> str:
        kinds = ["later words"] * self.causal + [", ".join(self.padding)] * bool(self.padding)
        return f"{HIDDEN:.0e} hides {' and '.join(kinds)}".replace("e+0", "e")

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        there, here = own.columns[column], own.rows[row]
        if self.causal and column > row:
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
        function, pair = ("COS", 2) if column % 2 else ("SIN", 1)
        exponent = f"({own.column_number(column)}-{pair})/COLUMNS({x.whole()})"
        return f"{function}(({own.row_number()}-1)/10000^({exponent}))"

    def words(self, *operands: str) -> str:
        return "sin or cos of position / 10000^(2i / d)"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        wave = "cos" if column % 2 else "sin"
        position = own.number(row, "position").text
        i, d = own.number(column // 2, "i").text, own.number(own.shape[1], "d").text
        return Said(f"{wave}({position} / 10000^(2·{i} / {d}))")
