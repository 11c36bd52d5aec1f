"""Operations on each number, and on two numbers in the same place.

Exponentials are the C library's, as in spreadsheet programs, so that the numbers agree to the last bit.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import ATOM, Cells, NoArray, Operand, Operation, Said, Term

if TYPE_CHECKING:
    from attn_xl.graph.matrix import Matrix

SUMS, PRODUCTS = (" + ", " - ", " if "), (" · ", " / ")
"""The signs that bind less tightly than a product, and those that do as a quotient does."""
LEAST_KEPT = 1e-300
"""Every spreadsheet program keeps all digits of a number above this; some round 1e-308 to 0."""
CHOICE = "{if_on} if {switch} is on, else {if_off}"


class Copy(Operation):
    """The same numbers: `=Input!B5`. Formulas read the original cells unless the copy has a name."""

    noun: ClassVar[str] = "Copy"
    passes_on: ClassVar[bool] = True

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

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d

    def cells(self, of: Cells) -> Cells:
        return of


@dataclass(frozen=True, eq=False, repr=False)
class Constant(Operation):
    """A number written into the formula."""

    noun: ClassVar[str] = "Number"
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


class Elementwise(Operation):
    """Two matrices, number by number; a single row, a single column or a scalar is repeated.

    A subclass adds `numbers`, the operator in a formula (`symbol`) and in words (`sign`), and how
    tightly it binds.
    """

    symbol: ClassVar[str]

    @property
    def _right(self) -> int:
        """How tightly the right operand must bind: a - (b + c), a / (b · c)."""
        return self.binds + (self.symbol in "-/")

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        return left.cell(column, binds=self.binds) + self.symbol + right.cell(column, binds=self._right)

    def array(self, *operands: Operand) -> str:
        left, right = operands
        return left.array(self.binds) + self.symbol + right.array(self._right)

    def words(self, *operands: str) -> str:
        left, right = operands
        if self.binds > 1:
            left = in_parentheses(left, SUMS)
            right = in_parentheses(right, SUMS + PRODUCTS * (self.symbol == "/"))
        elif self.symbol == "-":
            right = in_parentheses(right, SUMS)
        return f"{left} {self.sign} {right}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        left, right = (term.at(row, column) for term in terms)
        return Said(f"{left.within(self.binds)} {self.sign} {right.within(self._right)}", self.binds)


def in_parentheses(words: str, signs: Iterable[str]) -> str:
    """The words, in parentheses if they contain one of these signs outside parentheses."""
    outside, inner = words, None if "(" in words else words
    while inner != outside:
        inner, outside = outside, re.sub(r"\([^()]*\)", "", outside)
    return f"({words})" if any(sign in outside for sign in signs) else words


class Add(Elementwise):
    """`=B5+Positions!B5`."""

    noun: ClassVar[str] = "Total"
    symbol, sign, binds = "+", "+", 1

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.add(*operands)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d


class Subtract(Elementwise):
    """`=Scores!B5-$J5`."""

    noun: ClassVar[str] = "Difference"
    symbol, sign, binds = "-", "-", 1

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.subtract(*operands)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return -d if number else d


class Multiply(Elementwise):
    """`=Softmax!B5*DropoutMask!B5`."""

    noun: ClassVar[str] = "Product"
    symbol, sign, binds = "*", "·", 2

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.multiply(*operands)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * operands[1 - number]


class Divide(Elementwise):
    """`=L5/$P5`."""

    noun: ClassVar[str] = "Quotient"
    symbol, sign, binds = "/", "/", 2

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.divide(*operands)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        right = operands[1]
        return -(d * own / right) if number else d / right


class Function(Operation):
    """A function of each number: `=EXP(B5)`.

    A subclass adds `of_one`, the function of one number, and four texts in which the operand replaces
    `{x}`: `in_cell` and `in_array`, its formulas ("" where not every program's function takes
    an array); `in_words`, the step; `in_full`, the calculation of one cell, with `{atom}` where the
    number stands beside an operator.
    """

    in_cell: ClassVar[str]
    in_array: ClassVar[str] = ""
    in_words: ClassVar[str]
    in_full: ClassVar[str]

    @staticmethod
    @abstractmethod
    def of_one(x: float, /) -> float: ...

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        numbers = x.ravel().tolist()
        try:
            flat = np.fromiter(map(self.of_one, numbers), np.float64, x.size)
        except (OverflowError, ValueError):
            flat = np.fromiter(map(self._one, numbers), np.float64, x.size)
        return flat.reshape(x.shape)

    def _one(self, x: float) -> float:
        try:
            return self.of_one(x)
        except OverflowError:
            return math.inf
        except ValueError:  # the root of a negative number
            return math.nan

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return self.in_cell.format(x=operands[0].cell(column, binds=_binds_in(self.in_cell)))

    def array(self, *operands: Operand) -> str:
        if not self.in_array:
            raise NoArray
        return self.in_array.format(x=operands[0].array(_binds_in(self.in_array)))

    def words(self, *operands: str) -> str:
        (x,) = operands
        x = f"({x})" if " " in x and self.in_words.endswith("{x}") else x
        return self.in_words.format(x=x)

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        x = terms[0].at(row, column)
        return Said(self.in_full.format(x=x.text, atom=x.within(ATOM)), self.binds)


def _binds_in(template: str) -> int:
    """How tightly the substituted operand must bind: not at all as an argument."""
    return 0 if re.fullmatch(r"-?\w+\(\{x\}(,\d+)?\)", template) else ATOM


class Exp(Function):
    """e to the power of each number."""

    noun: ClassVar[str] = "Exponentials"
    in_cell = in_array = "EXP({x})"
    in_words = in_full = "e^({x})"

    of_one = staticmethod(math.exp)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * own


class NegativeLog(Function):
    """The negative natural logarithm of each number: how surprising an event of that probability is.

    Of a probability p = e^(-gap) / total, it may take total and gap as well. The logarithm is then
    ln(total) + gap where p is too small for a spreadsheet to keep: where it is 0, or almost.
    """

    noun: ClassVar[str] = "Losses"
    binds = 1
    in_cell = in_array = "-LN({x})"
    in_words = in_full = "-ln({x})"

    @staticmethod
    def of_one(x: float) -> float:
        return -math.log(x) if x else math.inf

    def numbers(self, *operands: Numbers) -> Numbers:
        x, *shares = operands
        if not shares:
            return super().numbers(x)
        total, gap = shares
        kept = super().numbers(np.where(x > LEAST_KEPT, x, 1))
        return np.where(x > LEAST_KEPT, kept, gap - super().numbers(total))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        usual = super().formula(row, column, operands[0])
        if len(operands) == 1:
            return usual
        return _if_kept(usual, *(operand.cell(column) for operand in operands))

    def array(self, *operands: Operand) -> str:
        usual = super().array(operands[0])
        if len(operands) == 1:
            return usual
        return _if_kept(usual, *(operand.array() for operand in operands))

    def words(self, *operands: str) -> str:
        return super().words(operands[0])

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        x, *shares = terms
        if not shares or x.value(row, column) > LEAST_KEPT:
            return super().worked(row, column, own, x)
        total, gap = (term.at(row, column).text for term in shares)
        return Said(f"ln({total}) + {gap}", self.binds)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix | None:
        return None if number else -(d / operands[0])


def _if_kept(usual: str, x: str, total: str, gap: str) -> str:
    return f"IF({x}>10^{math.log10(LEAST_KEPT):.0f},{usual},LN({total})+{gap})"


@dataclass(frozen=True, eq=False, repr=False)
class Power(Operation):
    """Each number to the power of a whole number: `=Beta1^3`."""

    noun: ClassVar[str] = "Powers"
    binds: ClassVar[int] = 2
    exponent: int

    @property
    def suffix(self) -> str:
        return f"^{self.exponent}"

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(operands[0] ** self.exponent)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{operands[0].cell(column, binds=ATOM)}^{self.exponent}"

    def array(self, *operands: Operand) -> str:
        return f"{operands[0].array(ATOM)}^{self.exponent}"

    def words(self, *operands: str) -> str:
        return f"{in_parentheses(operands[0], (*SUMS, *PRODUCTS))}^{self.exponent}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return Said(f"{terms[0].at(row, column).within(ATOM)}^{self.exponent}", self.binds)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * self.exponent * Power(self.exponent - 1).of(operands[0])


class Sqrt(Function):
    """The square root of each number."""

    noun: ClassVar[str] = "Roots"
    in_cell = in_array = "SQRT({x})"
    in_words, in_full = "√{x}", "√{atom}"

    @staticmethod
    def of_one(x: float) -> float:
        return math.sqrt(x)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d / (2 * own)


class Acos(Function):
    """The angle, in degrees, whose cosine each number is; rounding errors around 1 are removed."""

    noun: ClassVar[str] = "Angles"
    binds = 2
    in_cell = "ACOS(ROUND({x},14))*180/PI()"
    in_words, in_full = "arccos({x}) in degrees", "arccos(round({x}, 14)) · 180 / π"

    @staticmethod
    def of_one(x: float) -> float:
        return math.acos(round(x, 14)) * 180 / math.pi

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        x = operands[0]
        return d * (-180 / math.pi) / Sqrt().of(1 - x * x)


class Round(Function):
    """Each number to seven decimals: what cancelling leaves behind them differs between programs."""

    noun: ClassVar[str] = "Rounded"
    in_cell = "ROUND({x},7)"
    in_words = in_full = "round({x}, 7)"

    @staticmethod
    def of_one(x: float) -> float:
        return round(x, 7)


class Relu(Function):
    """max(0, x). Source: Nair, Hinton, "Rectified Linear Units" (2010)."""

    noun: ClassVar[str] = "Activated"
    in_cell, in_array = "MAX(0,{x})", "IF({x}>0,{x},0)"
    in_words = in_full = "max(0, {x})"

    @staticmethod
    def of_one(x: float) -> float:
        return max(x, 0.0)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * Positive().of(operands[0])


class Positive(Function):
    """1 where a number is positive, else 0: the derivative of ReLU, which is taken as 0 at 0."""

    noun: ClassVar[str] = "Slopes"
    in_cell = in_array = "IF({x}>0,1,0)"
    in_words = "1 where {x} > 0, else 0"
    in_full = "1 if {x} > 0, else 0"

    @staticmethod
    def of_one(x: float) -> float:
        return float(x > 0)


class Gelu(Function):
    """x Φ(x), with Φ the normal distribution. Source: Hendrycks, Gimpel, "GELUs" (2016)."""

    noun: ClassVar[str] = "Activated"
    repeats = binds = 2
    in_cell = "{x}*NORMSDIST({x})"
    in_words, in_full = "GELU({x})", "{atom} · Φ({x})"

    @staticmethod
    def of_one(x: float) -> float:
        return x * math.erfc(-x / math.sqrt(2)) / 2

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * GeluSlope().of(operands[0])


class GeluSlope(Function):
    """Φ(x) + x φ(x), the derivative of GELU, with φ the density of the normal distribution."""

    noun: ClassVar[str] = "Slopes"
    binds, repeats = 1, 3
    in_cell = "NORMSDIST({x})+{x}*EXP(0-{x}*{x}/2)/SQRT(2*PI())"
    in_words, in_full = "GELU′({x})", "Φ({x}) + {atom} · e^(-{atom}² / 2) / √(2 · π)"

    @staticmethod
    def of_one(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2 + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        x = operands[0]
        return d * (2 - x * x) * Exp().of(x * x / -2) / math.sqrt(2 * math.pi)


class GeluTanh(Function):
    """GELU, approximated by tanh. Source: Hendrycks, Gimpel, "GELUs" (2016)."""

    noun: ClassVar[str] = "Activated"
    binds, repeats = 2, 3
    in_cell = in_array = "0.5*{x}*(1+TANH(SQRT(2/PI())*({x}+0.044715*{x}^3)))"
    in_words = "GELU({x}), by tanh"
    in_full = "0.5 · {atom} · (1 + tanh(√(2 / π) · ({atom} + 0.044715 · {atom}³)))"

    @staticmethod
    def of_one(x: float) -> float:
        return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        x = operands[0]
        tanh = Tanh().of((x + 0.044715 * x * x * x) * math.sqrt(2 / math.pi)).in_cells
        slope = (1 + 3 * 0.044715 * x * x) * math.sqrt(2 / math.pi)
        return d * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * slope)


class Tanh(Function):
    """The hyperbolic tangent of each number."""

    noun: ClassVar[str] = "Tanh"
    in_cell = in_array = "TANH({x})"
    in_words = in_full = "tanh({x})"

    of_one = staticmethod(math.tanh)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * (1 - own * own)


class Sigmoid(Function):
    """The logistic function, 1 / (1 + e^-x), from 0 to 1."""

    noun: ClassVar[str] = "Sigmoid"
    binds = 2
    in_cell = in_array = "1/(1+EXP(0-{x}))"
    in_words, in_full = "σ({x})", "1 / (1 + e^(-{atom}))"

    @staticmethod
    def of_one(x: float) -> float:
        return 1 / (1 + math.exp(-x))

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * own * (1 - own)


class Silu(Function):
    """x times its logistic function. Source: Hendrycks, Gimpel, "GELUs" (2016), section 4."""

    noun: ClassVar[str] = "Activated"
    binds, repeats = 2, 2
    in_cell = in_array = "{x}/(1+EXP(-{x}))"
    in_words, in_full = "SiLU({x})", "{atom} / (1 + e^(-{atom}))"

    @staticmethod
    def of_one(x: float) -> float:
        return x / (1 + math.exp(-x))

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        slope = Sigmoid().of(operands[0]).in_cells
        return d * (slope + own * (1 - slope))


class Sin(Function):
    """The sine of each angle, in radians."""

    noun: ClassVar[str] = "Sines"
    in_cell = in_array = "SIN({x})"
    in_words = in_full = "sin({x})"

    @staticmethod
    def of_one(x: float) -> float:
        return math.sin(x)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * Cos().of(operands[0])


class Cos(Function):
    """The cosine of each angle, in radians."""

    noun: ClassVar[str] = "Cosines"
    in_cell = in_array = "COS({x})"
    in_words = in_full = "cos({x})"

    @staticmethod
    def of_one(x: float) -> float:
        return math.cos(x)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return -(d * Sin().of(operands[0]))


class NextDraw(Function):
    """The next number of a sequence that looks random: 16807 · x modulo 2³¹ - 1, exact in every
    program.

    Source: Park, Miller, "Random Number Generators: Good Ones Are Hard to Find" (1988).
    """

    noun: ClassVar[str] = "Draw"
    in_cell = in_array = "MOD(16807*{x},2147483647)"
    in_words = "16807 · {x} modulo 2147483647"
    in_full = "16807 · {atom} mod 2147483647"

    @staticmethod
    def of_one(x: float) -> float:
        return math.fmod(16807 * x, 2147483647)


class AtMost(Operation):
    """1 where a number is at most another, 0 elsewhere: `=IF(Ranks!B5<=top_k,1,0)`."""

    noun: ClassVar[str] = "Chosen"

    def numbers(self, *operands: Numbers) -> Numbers:
        missing = np.isnan(operands[0]) | np.isnan(operands[1])
        return np.where(missing, np.nan, np.less_equal(*operands))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        return f"IF({left.cell(column, binds=1)}<={right.cell(column, binds=1)},1,0)"

    def array(self, *operands: Operand) -> str:
        left, right = operands
        return f"IF({left.array(1)}<={right.array(1)},1,0)"

    def words(self, *operands: str) -> str:
        return f"1 if {operands[0]} ≤ {operands[1]}, else 0"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        left, right = (term.at(row, column) for term in terms)
        return own.number(
            own.value(row, column),
            f"1 if {left.text} ≤ {right.text}, else 0",
        )
