"""The matrix product and the transpose.

Sums run from left to right, as in spreadsheet programs, so that the numbers agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from attn_xl.errors import ShapeError
from attn_xl.graph.matrix import ARITHMETIC, Cells, Matrix, Numbers, Operation
from attn_xl.graph.step import Recipe
from attn_xl.graph.terms import Operand, Reads, Said, Term

from .elementwise import PRODUCTS, SUMS, in_parentheses, tanh
from .reductions import Sum
from .selection import Gather


def _recipe(left: bool, right: bool) -> Recipe:
    """How a product is computed by hand, of factors that are transposed or not."""
    first, second = ("column" if left else "row"), ("row" if right else "column")
    return Recipe(
        do=f"{first.title()} of {{a}} times {second} of {{b}}: multiply pair by pair and add up the "
        f"products. The cell's row gives the {first} of {{a}}, its column the {second} of {{b}}.",
        hint="Common mistakes: mixing up rows and columns; no $ before what must not move when you "
        "copy.",
    )


RECIPES = {(left, right): _recipe(left, right) for left in (False, True) for right in (False, True)}
"""The recipes by whether the left and the right factor are transposed."""


class Product(Operation):
    """The matrix product, (n, k) by (k, m) to (n, m): `=SUM(MMULT(Input!$B5:$D5,W_Q!B$5:B$7))`; of two
    rows, or of two columns, `=SUMPRODUCT(Q!$B5:$D5,K!$B$6:$D$6)`."""

    noun = "Product"
    reads = (Reads.row, Reads.column)
    is_product = True

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[0].rows, operands[1].columns

    def numbers(self, *operands: Numbers) -> Numbers:
        left, right = operands
        if len(left) == 1 < right.shape[1]:  # numpy adds up whole rows from the first to the last
            return np.asarray(
                np.add.reduce(left.T * np.ascontiguousarray(right), axis=0, keepdims=True)
            )
        total = np.zeros((left.shape[0], right.shape[1]))
        term = np.empty_like(total)
        for left_column, right_row in zip(left.T, np.ascontiguousarray(right)):
            np.multiply(left_column[:, None], right_row, out=term)
            total += term
        return total

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        if left.is_transposed and right.is_transposed:
            return f"SUM(MMULT({right.column(column)},{left.row()}))"
        if left.is_transposed or right.is_transposed:
            return f"SUMPRODUCT({left.row()},{right.column(column)})"
        return f"SUM(MMULT({left.row()},{right.column(column)}))"

    def array(self, *operands: Operand) -> str:
        left, right = operands
        return f"MMULT({left.array()},{right.array()})"

    def words(self, *operands: str) -> str:
        left, right = (in_parentheses(words, (*SUMS, *PRODUCTS)) for words in operands)
        return f"{left} × {right}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        left, right = terms
        return own.total(
            left.shape[1],
            lambda k: f"{left.at(row, k).within(2)}·{right.at(k, column).within(3)}",
        )

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        left, right = operands
        return left.T @ d if number else d @ right.T

    def recipe(self, *operands: Matrix) -> Recipe:
        left, right = (
            isinstance(operand.operation, Transpose) and not operand.name for operand in operands
        )
        return RECIPES[left, right]


class Dot(Operation):
    """The dot product of each row with the same row of another matrix:
    `=SUMPRODUCT($B5:$D5,Softmax!$B5:$D5)`."""

    noun = "Products"
    reads = (Reads.row,)

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[0].rows, ["product"]

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(np.cumsum(np.multiply(*operands), axis=1)[:, -1:])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        if left.is_transposed == right.is_transposed:
            return f"SUMPRODUCT({left.row()},{right.row()})"
        flat, upright = (right, left) if left.is_transposed else (left, right)
        return f"SUM(MMULT({flat.row()},{upright.row()}))"

    def words(self, *operands: str) -> str:
        left, right = (in_parentheses(words, (*SUMS, *PRODUCTS)) for words in operands)
        return f"the sum of each row of {left} · {right}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        left, right = terms
        return own.total(
            left.shape[1], lambda k: f"{left.at(row, k).within(2)}·{right.at(row, k).within(3)}"
        )

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * operands[1 - number]


class Additive(Operation):
    """Each row q of one matrix, (n, d), and each column k of another, (d, m), compared by a row v,
    (1, d): the sum of v · tanh(q + k), (n, m):
    `=SUMPRODUCT(v_a!$B$5:$D$5,TANH(Q!$B5:$D5+K!$B$6:$D$6))`.

    Source: Bahdanau, Cho, Bengio, "Neural Machine Translation by Jointly Learning to Align and
    Translate" (2015), A.1.2.
    """

    noun = "Comparisons"
    reads = (Reads.row, Reads.column, Reads.rows)

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[0].rows, operands[1].columns

    def numbers(self, *operands: Numbers) -> Numbers:
        q, k, v = operands
        total = np.zeros((len(q), k.shape[1]))
        for factor, own, other in zip(v[0], q.T, k):
            total += factor * np.tanh(np.add.outer(own, other))
        return total

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        q, k, v = operands
        key, factor = k.column(column), v.row(0)
        if k.is_transposed == q.is_transposed:
            key = f"TRANSPOSE({key})"
        sums = f"TANH({q.row()}+{key})"
        if v.is_transposed == q.is_transposed:
            return f"SUMPRODUCT({factor},{sums})"
        return f"SUMPRODUCT(MMULT({f'{factor},{sums}' if q.is_transposed else f'{sums},{factor}'}))"

    def words(self, *operands: str) -> str:
        q, k, v = (in_parentheses(words, SUMS) for words in operands)
        return f"{v} · tanh({q} + {k.removesuffix('ᵀ')})"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        q, k, v = terms
        return own.total(
            q.shape[1],
            lambda j: f"{v.at(0, j).within(2)}·tanh({q.at(row, j).text} + {k.at(j, column).within(1)})",
        )

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        q, k, v = operands
        parts = []
        for row, word in enumerate(q.rows):
            own_d, own_q = (Gather(((0, row),))(one, rows=[word]) for one in (d, q))
            sums = tanh(k.T + own_q)  # (m, d)
            parts.append(own_d @ sums if number == 2 else (own_d.T @ v) * (1 - sums * sums))
        if number:
            return reduce(add, parts) if number == 2 else reduce(add, parts).T
        rows = [Sum(columns=True)(part) for part in parts]
        return Gather(tuple((row, 0) for row in range(len(rows))))(*rows, rows=q.rows)


class Apart(Operation):
    """The Euclidean distance of each row of one matrix, (n, d), from each column of another, (d, m):
    (n, m): `=SQRT(SUMPRODUCT(($B5:$D5-$B$6:$D$6)^2))`."""

    noun = "Distances"
    reads = (Reads.row, Reads.column)

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[0].rows, operands[1].columns

    def numbers(self, *operands: Numbers) -> Numbers:
        left, right = operands
        total = np.zeros((len(left), right.shape[1]))
        for own, other in zip(left.T, right):
            total += np.subtract.outer(own, other) ** 2
        return np.asarray(np.sqrt(total))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        left, right = operands
        other = right.column(column)
        if left.is_transposed == right.is_transposed:
            other = f"TRANSPOSE({other})"
        return f"SQRT(SUMPRODUCT(({left.row()}-{other})^2))"

    def words(self, *operands: str) -> str:
        left, right = (in_parentheses(words, SUMS) for words in operands)
        return f"the distance of each row of {left} from each row of {right.removesuffix('ᵀ')}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        left, right = terms
        parts = own.total(
            left.shape[1],
            lambda k: f"({left.at(row, k).text} - {right.at(k, column).within(2)})²",
        )
        return Said(f"√({parts.text})")

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        left, right = operands
        shares = d / own
        if number:
            return right * Sum(columns=True)(shares) - left.T @ shares
        return left * Sum()(shares) - shares @ right.T


class Transpose(Operation):
    """Rows become columns. Formulas read the original cells; if named, cells repeat them: `=X!C5`."""

    noun = "Transposed"
    passes_on = True
    same_in_every_row = False
    reads = (Reads.rows,)

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[0].columns, operands[0].rows

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0].T

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(row, row=column)

    def array(self, *operands: Operand) -> str:
        return f"TRANSPOSE({operands[0].array()})"

    def words(self, *operands: str) -> str:
        return f"({operands[0]})ᵀ" if " " in operands[0] else f"{operands[0]}ᵀ"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].at(column, row)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d.T

    def cells(self, of: Cells) -> Cells:
        return Cells(of.node, of.shape[::-1], of.row, of.column, not of.turned)


def product(left: Matrix, right: Matrix) -> Matrix:
    """(n, k) times (k, m).

    Raises:
        ShapeError: if the numbers of columns and rows differ.
    """
    if len(left.columns) != len(right.rows):
        raise ShapeError(
            f"cannot multiply {left.shape} by {right.shape}: the number of columns of the first "
            "differs from the number of rows of the second."
        )
    return Product()(left, right)


def transposed(x: Matrix) -> Matrix:
    """(n, m) to (m, n)."""
    if isinstance(x.operation, Transpose) and not x.name:
        return x.parents[0]
    if isinstance(x.operation, Product) and not x.name:  # (A B)ᵀ = Bᵀ Aᵀ needs no cells
        left, right = x.parents
        return right.T @ left.T
    return Transpose()(x)


ARITHMETIC.update({"@": product, "T": transposed})
