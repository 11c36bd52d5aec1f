"""Each primitive operation once: its numbers, its formula, its words and one cell worked out.

Sums run from left to right and exponentials are the C library's, as in the spreadsheet programs, so
that the numbers agree with theirs to the last bit and cancellation cannot drive them apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import ATOM, NoArray, Operand, Operation, Said, Term


class Copy(Operation):
    """The same numbers again: `=Input!B5`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(column)

    def array(self, *operands: Operand) -> str:
        return operands[0].array()

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

    def array(self, *operands: Operand) -> str:
        return f"TRANSPOSE({operands[0].array()})"

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

    def array(self, *operands: Operand) -> str:
        left, right = operands
        return f"MMULT({left.array()},{right.array()})"

    def words(self, *operands: str) -> str:
        left, right = (_within(operand, (*SUMS, *PRODUCTS)) for operand in operands)
        return f"{left} × {right}"

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

    def array(self, *operands: Operand) -> str:
        left, right = operands
        tighter = self.binding + (self.symbol in "-/")
        return f"{left.array(self.binding)}{self.symbol}{right.array(tighter)}"

    def words(self, *operands: str) -> str:
        left, right = operands
        if self.binding > 1:
            left = _within(left, SUMS)
            right = _within(right, SUMS + PRODUCTS * (self.symbol == "/"))
        elif self.symbol == "-":
            right = _within(right, SUMS)
        return f"{left} {self.sign} {right}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        left, right = (term.at(row, column) for term in terms)
        tighter = self.binding + (self.symbol in "-/")
        text = f"{left.within(self.binding)} {self.sign} {right.within(tighter)}"
        return Said(text, self.binding)


SUMS, PRODUCTS = (" + ", " − ", " if "), (" · ", " / ")


def _within(said: str, signs: Iterable[str]) -> str:
    """What is said; in parentheses if it has one of these signs outside of any."""
    outside, inner = said, None
    while inner != outside:
        inner, outside = outside, re.sub(r"\([^()]*\)", "", outside)
    return f"({said})" if any(sign in outside for sign in signs) else said


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Operation):
    """A number written into the formula."""

    value: float

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([[self.value]])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{self.value:.17g}"

    def array(self, *operands: Operand) -> str:
        return self.formula(0, 0)

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
    for_array: str = ""
    """The template for a whole matrix; "" where not every program's function takes one."""

    @property
    def binds(self) -> int:  # type: ignore[override]
        return self.binding

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        numbers = x.ravel().tolist()
        try:
            flat = np.fromiter(map(self.compute, numbers), np.float64, x.size)
        except (OverflowError, ValueError):
            flat = np.fromiter(map(self._one, numbers), np.float64, x.size)
        return flat.reshape(x.shape)

    def _one(self, x: float) -> float:
        try:
            return self.compute(x)
        except OverflowError:
            return math.inf
        except ValueError:  # the root of a negative number
            return math.nan

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return self.template.format(x=operands[0].cell(column, binds=self._inner(self.template)))

    def array(self, *operands: Operand) -> str:
        if not self.for_array:
            raise NoArray
        return self.for_array.format(x=operands[0].array(self._inner(self.for_array)))

    def _inner(self, template: str) -> int:
        """How tightly the operand must bind where it is put in: not at all as the one argument."""
        return 0 if re.fullmatch(r"\w+\(\{x\}\)", template) else ATOM

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

    def array(self, *operands: Operand) -> str:
        return self.formula(0, 0, *operands)

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
        (x,) = operands
        best = np.where(np.isnan(x).any(axis=1), np.nan, x.argmax(axis=1) + 1.0)
        return best.reshape(-1, 1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        x = operands[0]
        return f"INDEX({x.headings()},1,MATCH(MAX({x.row()}),{x.row()},0))"

    def words(self, *operands: str) -> str:
        return f"the column with the largest number of each row of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return Said(f"the column with the largest of {terms[0].listed(row)}", 0)
