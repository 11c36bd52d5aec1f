"""Operations on each number, and on two numbers in the same place.

Exponentials are the C library's, as in spreadsheet programs, so that the numbers agree to the last bit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Real

import numpy as np

from attn_xl.errors import ShapeError, wrong_type
from attn_xl.graph.matrix import ARITHMETIC, Cells, Matrix, Numbers, Operation, made
from attn_xl.graph.terms import ATOM, NoArray, Operand, Said, Term
from attn_xl.records import record

SUMS, PRODUCTS = (" + ", " - ", " if "), (" · ", " / ")
"""The signs that bind less tightly than a product, and those that do as a quotient does."""
LEAST_KEPT = 1e-300
"""Every spreadsheet program keeps all digits of a number above this; some round 1e-308 to 0."""
Slope = Callable[[Matrix, Matrix, Matrix], Matrix]
CHOICE = "{if_on} if {switch} is on, else {if_off}"


class Copy(Operation):
    """The same numbers: `=Input!B5`. Formulas read the original cells unless the copy has a name."""

    noun = "Copy"
    passes_on = True

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


@record(frozen=True, eq=False, repr=False)
class Constant(Operation):
    """A number written into the formula."""

    noun = "Number"
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

    symbol: str

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

    noun = "Total"
    symbol, sign, binds = "+", "+", 1

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.add(*operands)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d


class Subtract(Elementwise):
    """`=Scores!B5-$J5`."""

    noun = "Difference"
    symbol, sign, binds = "-", "-", 1

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.subtract(*operands)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return -d if number else d


class Multiply(Elementwise):
    """`=Softmax!B5*DropoutMask!B5`."""

    noun = "Product"
    symbol, sign, binds = "*", "·", 2

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.multiply(*operands)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * operands[1 - number]


class Divide(Elementwise):
    """`=L5/$P5`."""

    noun = "Quotient"
    symbol, sign, binds = "/", "/", 2

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.divide(*operands)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        right = operands[1]
        return -(d * own / right) if number else d / right


ADD, SUBTRACT, MULTIPLY, DIVIDE = Add(), Subtract(), Multiply(), Divide()


def _elementwise(operation: Elementwise, left: Matrix | float, right: Matrix | float) -> Matrix:
    for side in (left, right):
        if not isinstance(side, (Matrix, Real)):
            raise wrong_type("one side of an operation", side, "a matrix (attn_xl.given) or a number")
    left, right = (side if isinstance(side, Matrix) else constant(side) for side in (left, right))
    if operation is MULTIPLY and 1 in (number_in(left), number_in(right)):
        other = right if number_in(left) == 1 else left
        return made(Copy(), (other,), other.rows, other.columns, scalar=other.scalar)
    for n, m in zip(left.shape, right.shape):
        if n != m and 1 not in (n, m):
            raise ShapeError(f"{left.shape} does not go with {right.shape}, number by number.")
    if left.scalar:
        tall = wide = right
    else:
        tall = right if len(right.rows) > len(left.rows) else left
        wide = right if len(right.columns) > len(left.columns) else left
    scalar = left.scalar and right.scalar
    return made(operation, (left, right), tall.rows, wide.columns, scalar=scalar)


def constant(value: float) -> Matrix:
    """A number that is written into the formula."""
    return made(Constant(value), (), ("",), ("",), scalar=True)


def number_in(x: Matrix) -> float | None:
    """The number of an unnamed constant; None for any other matrix."""
    return x.operation.value if isinstance(x.operation, Constant) and not x.name else None


ARITHMETIC.update({one.symbol: partial(_elementwise, one) for one in (ADD, SUBTRACT, MULTIPLY, DIVIDE)})


@record(frozen=True, eq=False, repr=False)
class Function(Operation):
    """A function of each number: `=EXP(B5)`.

    Attributes:
        of_one: the function of one number.
        in_cell, in_array: its formulas, with `{x}` for the operand; "" where not every program's
            function takes an array.
        in_words, in_full: the step, and the calculation of one cell, with `{atom}` where the number
            stands beside an operator.
        slope: how a loss changes with x, from how it changes with the result, the result and x; None
            where it leaps.
    """

    noun: str
    of_one: Callable[[float], float]
    in_cell: str
    in_array: str
    in_words: str
    in_full: str
    slope: Slope | None = None
    binds: int = ATOM
    repeats: int = 1

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

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix | None:
        return self.slope(d, own, operands[0]) if self.slope else None


def _binds_in(template: str) -> int:
    """How tightly the substituted operand must bind: not at all as an argument."""
    return 0 if re.fullmatch(r"-?\w+\(\{x\}(,\d+)?\)", template) else ATOM


class NegativeLog(Function):
    """The negative natural logarithm of each number: how surprising an event of that probability is.

    Of a probability p = e^(-gap) / total, it may take total and gap as well. The logarithm is then
    ln(total) + gap where p is too small for a spreadsheet to keep: where it is 0, or almost.
    """

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
        return None if number else super().gradient(0, own, d, *operands)


def _if_kept(usual: str, x: str, total: str, gap: str) -> str:
    return f"IF({x}>10^{math.log10(LEAST_KEPT):.0f},{usual},LN({total})+{gap})"


@record(frozen=True, eq=False, repr=False)
class Power(Operation):
    """Each number to the power of a whole number: `=Beta1^3`."""

    noun = "Powers"
    binds = 2
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
        return d * self.exponent * Power(self.exponent - 1)(operands[0])


# A row for each function: name of results, function, formula of a cell, of an array, in words, in full

exp = Function(
    "Exponentials", math.exp, "EXP({x})", "EXP({x})", "e^({x})", "e^({x})",
    lambda d, y, x: d * y,
)  # fmt: skip
NEGATIVE_LOG = NegativeLog(
    "Losses", lambda x: -math.log(x) if x else math.inf, "-LN({x})", "-LN({x})", "-ln({x})", "-ln({x})",
    lambda d, y, x: -(d / x), binds=1,
)  # fmt: skip
sqrt = Function(
    "Roots", math.sqrt, "SQRT({x})", "SQRT({x})", "√{x}", "√{atom}",
    lambda d, y, x: d / (2 * y),
)  # fmt: skip
angle = Function(
    "Angles", lambda x: math.acos(round(x, 14)) * 180 / math.pi, "ACOS(ROUND({x},14))*180/PI()", "",
    "arccos({x}) in degrees", "arccos(round({x}, 14)) · 180 / π",
    lambda d, y, x: d * (-180 / math.pi) / sqrt(1 - x * x), binds=2,
)  # fmt: skip
"""The angle, in degrees, whose cosine each number is; rounding errors around 1 are removed."""
rounded = Function(
    "Rounded", lambda x: round(x, 7), "ROUND({x},7)", "", "round({x}, 7)", "round({x}, 7)",
)  # fmt: skip
"""Each number to seven decimals: what cancelling leaves behind them differs between programs."""
positive = Function(
    "Slopes", lambda x: float(x > 0), "IF({x}>0,1,0)", "IF({x}>0,1,0)",
    "1 where {x} > 0, else 0", "1 if {x} > 0, else 0",
)  # fmt: skip
"""The derivative of ReLU, which is taken as 0 at 0."""
relu = Function(
    "Activated", lambda x: max(x, 0.0), "MAX(0,{x})", "IF({x}>0,{x},0)", "max(0, {x})", "max(0, {x})",
    lambda d, y, x: d * positive(x),
)  # fmt: skip
"""Source: Nair, Hinton, "Rectified Linear Units" (2010)."""
gelu_slope = Function(
    "Slopes",
    lambda x: _normal(x) + x * math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    "NORMSDIST({x})+{x}*EXP(0-{x}*{x}/2)/SQRT(2*PI())", "",
    "GELU′({x})", "Φ({x}) + {atom} · e^(-{atom}² / 2) / √(2 · π)",
    lambda d, y, x: d * (2 - x * x) * exp(x * x / -2) / math.sqrt(2 * math.pi), binds=1, repeats=3,
)  # fmt: skip
"""Φ(x) + x φ(x), the derivative of GELU, with φ the density of the normal distribution."""
gelu = Function(
    "Activated", lambda x: x * _normal(x), "{x}*NORMSDIST({x})", "", "GELU({x})", "{atom} · Φ({x})",
    lambda d, y, x: d * gelu_slope(x), binds=2, repeats=2,
)  # fmt: skip
"""x Φ(x), with Φ the normal distribution. Source: Hendrycks, Gimpel, "GELUs" (2016)."""
gelu_tanh = Function(
    "Activated",
    lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "0.5*{x}*(1+TANH(SQRT(2/PI())*({x}+0.044715*{x}^3)))",
    "0.5*{x}*(1+TANH(SQRT(2/PI())*({x}+0.044715*{x}^3)))",
    "GELU({x}), by tanh", "0.5 · {atom} · (1 + tanh(√(2 / π) · ({atom} + 0.044715 · {atom}³)))",
    lambda d, y, x: d * _gelu_tanh_slope(x), binds=2, repeats=3,
)  # fmt: skip
"""GELU, approximated by tanh. Source: Hendrycks, Gimpel, "GELUs" (2016)."""
tanh = Function(
    "Tanh", math.tanh, "TANH({x})", "TANH({x})", "tanh({x})", "tanh({x})",
    lambda d, y, x: d * (1 - y * y),
)  # fmt: skip
sigmoid = Function(
    "Sigmoid", lambda x: 1 / (1 + math.exp(-x)), "1/(1+EXP(0-{x}))", "1/(1+EXP(0-{x}))",
    "σ({x})", "1 / (1 + e^(-{atom}))",
    lambda d, y, x: d * y * (1 - y), binds=2,
)  # fmt: skip
"""The logistic function, from 0 to 1."""
silu = Function(
    "Activated", lambda x: x / (1 + math.exp(-x)), "{x}/(1+EXP(-{x}))", "{x}/(1+EXP(-{x}))",
    "SiLU({x})", "{atom} / (1 + e^(-{atom}))",
    lambda d, y, x: d * _silu_slope(y, sigmoid(x).in_cells), binds=2, repeats=2,
)  # fmt: skip
"""x times its logistic function. Source: Hendrycks, Gimpel, "GELUs" (2016), section 4."""
sin = Function(
    "Sines", math.sin, "SIN({x})", "SIN({x})", "sin({x})", "sin({x})",
    lambda d, y, x: d * cos(x),
)  # fmt: skip
cos: Function = Function(
    "Cosines", math.cos, "COS({x})", "COS({x})", "cos({x})", "cos({x})",
    lambda d, y, x: -(d * sin(x)),
)  # fmt: skip
NEXT_DRAW = Function(
    "Draw", lambda x: math.fmod(16807 * x, 2147483647),
    "MOD(16807*{x},2147483647)", "MOD(16807*{x},2147483647)",
    "16807 · {x} modulo 2147483647", "16807 · {atom} mod 2147483647",
)  # fmt: skip
"""The next number of a sequence that looks random, exact in every program.

Source: Park, Miller, "Random Number Generators: Good Ones Are Hard to Find" (1988).
"""


def _normal(x: float) -> float:
    """Φ(x), the share of the normal distribution below x."""
    return math.erfc(-x / math.sqrt(2)) / 2


def _gelu_tanh_slope(x: Matrix) -> Matrix:
    bent = tanh((x + 0.044715 * x * x * x) * math.sqrt(2 / math.pi)).in_cells
    slope = (1 + 3 * 0.044715 * x * x) * math.sqrt(2 / math.pi)
    return 0.5 * (1 + bent) + 0.5 * x * (1 - bent * bent) * slope


def _silu_slope(y: Matrix, share: Matrix) -> Matrix:
    return share + y * (1 - share)


class AtMost(Operation):
    """1 where a number is at most another, 0 elsewhere: `=IF(Ranks!B5<=top_k,1,0)`."""

    noun = "Chosen"

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
