"""Each primitive operation once: its numbers, its formula and its words, side by side.

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
from .operation import ATOM, Operand, Operation


class Copy(Operation):
    """The same numbers again: `=Input!B5`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(column)

    def words(self, *operands: str) -> str:
        return operands[0]


class Transpose(Operation):
    """Rows become columns. Has no cells of its own: a product reads the rows as columns."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0].T

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        raise NotImplementedError("a transposed matrix is written only as the right factor")

    def words(self, *operands: str) -> str:
        return f"{operands[0]}ᵀ"


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


@dataclass(frozen=True, eq=False, repr=False)
class Apply(Operation):
    """A function of each number: `=EXP(B5)`. `template` has `{x}` where the number goes."""

    template: str
    compute: Callable[[float], float]
    saying: str
    binding: int = ATOM

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
        return self.template.format(x=operands[0].cell(column))

    def words(self, *operands: str) -> str:
        (x,) = operands
        return self.saying.format(f"({x})" if " " in x and self.saying.endswith("{}") else x)


@dataclass(frozen=True, eq=False, repr=False)
class Reduce(Operation):
    """One number from each row: `=MAX(B5:G5)`."""

    function: str
    compute: Callable[[Numbers], Numbers]
    saying: str

    def numbers(self, *operands: Numbers) -> Numbers:
        return self.compute(operands[0]).reshape(-1, 1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{self.function}({operands[0].row()})"

    def words(self, *operands: str) -> str:
        return self.saying.format(operands[0])


class Width(Operation):
    """How many columns a matrix has: `=COLUMNS(K)`."""

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([[float(operands[0].shape[1])]])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"COLUMNS({operands[0].whole()})"

    def words(self, *operands: str) -> str:
        return f"the number of columns of {operands[0]}"


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


class Best(Operation):
    """The label of the column with the largest number of each row; a text, so its number is that of
    the column."""

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        best = np.where(np.isnan(x).any(axis=1), np.nan, x.argmax(axis=1) + 1.0)
        return best.reshape(-1, 1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        x = operands[0]
        return f"INDEX({x.headings()},MATCH(MAX({x.row()}),{x.row()},0))"

    def words(self, *operands: str) -> str:
        return f"the column with the largest number of each row of {operands[0]}"


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
            quoted = word.replace('"', '""')
            conditions.append(f'{own.heading(column)}="{quoted}"')
        test = conditions[0] if len(conditions) == 1 else f"OR({','.join(conditions)})"
        return f"IF({test},{HIDDEN:.0E},0)".replace("E+0", "E+")

    def words(self, *operands: str) -> str:
        later = "later words, if Causal is on" if operands else "later words"
        kinds = [later] * (self.causal or bool(operands)) + [", ".join(self.padding)] * bool(
            self.padding
        )
        return f"{HIDDEN:.0e} hides {' and '.join(kinds)}".replace("e+0", "e")


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


ON, OFF = "on", "off"
"""What a switch shows; its number is 1 or 0."""
HIDDEN = -1e9
"""Added to a score, it leaves an attention weight of exactly 0."""


def _mean(x: Numbers) -> Numbers:
    return np.asarray(np.cumsum(x, axis=1)[:, -1] / x.shape[1])


def _variance(x: Numbers) -> Numbers:
    centred = x - _mean(x)[:, None]
    return _mean(centred * centred)


ADD = Elementwise("+", "+", np.add, 1)
SUBTRACT = Elementwise("-", "−", np.subtract, 1)
MULTIPLY = Elementwise("*", "·", np.multiply, 2)
DIVIDE = Elementwise("/", "/", np.divide, 2)
EXP = Apply("EXP({x})", math.exp, "e^({})")
SQRT = Apply("SQRT({x})", math.sqrt, "√{}")
ACOS = Apply(
    "ACOS(ROUND({x},14))*180/PI()",  # what is left of 1 after rounding errors is 1
    lambda x: math.acos(round(x, 14)) * 180 / math.pi,
    "arccos({}) in degrees",
    2,
)
RELU = Apply("MAX(0,{x})", lambda x: max(x, 0.0), "max(0, {})")
GELU = Apply("{x}*NORMSDIST({x})", lambda x: x * math.erfc(-x / math.sqrt(2)) / 2, "GELU({})", 2)
GELU_TANH = Apply(
    "0.5*{x}*(1+TANH(SQRT(2/PI())*({x}+0.044715*{x}^3)))",
    lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "GELU({}), by tanh",
    2,
)
MAXIMUM = Reduce("MAX", lambda x: x.max(axis=1), "the largest of each row of {}")
SUM = Reduce("SUM", lambda x: np.cumsum(x, axis=1)[:, -1], "the sum of each row of {}")
MEAN = Reduce("AVERAGE", _mean, "the mean of each row of {}")
VARIANCE = Reduce("VARP", _variance, "the variance of each row of {}")
SQUARES = Reduce(
    "SUMSQ", lambda x: np.cumsum(x * x, axis=1)[:, -1], "the sum of the squares of each row of {}"
)


PRIMITIVES: tuple[Operation, ...] = (
    Copy(),
    Transpose(),
    Product(),
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    Constant(1.0),
    EXP,
    SQRT,
    ACOS,
    RELU,
    GELU,
    GELU_TANH,
    MAXIMUM,
    SUM,
    MEAN,
    VARIANCE,
    SQUARES,
    Width(),
    Gather(((0, 0),)),
    Columns(0, 1),
    Concat(),
    Best(),
    Mask(1, ("w",), True, ("<PAD>",)),
    Sinusoid(),
)
