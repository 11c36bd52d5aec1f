"""Operations that reduce each row, or each column, to one number.

Sums run from left to right, as in spreadsheet programs, so that the numbers agree to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from attn_xl.graph.node import Node, Numbers
from attn_xl.graph.operation import ATOM, Operand, Operation, Reads, Said, Term
from attn_xl.graph.operations.selection import Columns
from attn_xl.graph.step import Recipe

if TYPE_CHECKING:
    from attn_xl.graph.matrix import Matrix


MOST_ARGUMENTS = 30
"""Arguments of a function; older spreadsheet programs take no more."""


class Reduction(Operation):
    """One number from each row: `=MAX(B5:G5)`.

    A subclass adds the spreadsheet's `function`, `in_words` with `{x}` for the operand, `numbers` and
    `worked`.
    """

    reads = (Reads.row,)
    function: ClassVar[str]
    in_words: ClassVar[str]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{self.function}({operands[0].row()})"

    def words(self, *operands: str) -> str:
        return self.in_words.format(x=operands[0])


class Maximum(Reduction):
    """The largest number of each row."""

    noun: ClassVar[str] = "Maximum"
    function = "MAX"
    in_words = "the largest of each row of {x}"

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(operands[0].max(axis=1, keepdims=True))

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return Said(f"the largest of {terms[0].listed(row)}", 0)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d * Largest().of(operands[0])


class Largest(Operation):
    """1 where the largest number of each row stands, the first of equal ones, else 0."""

    noun: ClassVar[str] = "Largest"
    reads = (Reads.table,)
    reads_labels: ClassVar[bool] = True

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        found = np.asarray(np.arange(x.shape[1]) == x.argmax(axis=1)[:, None], dtype=float)
        return np.where(np.isnan(x).any(axis=1, keepdims=True), np.nan, found)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        x, own = operands
        place = f"MATCH(MAX({x.row()}),{x.row()},0)"
        return f"IF({own.column_number(column)}+1={place},1,0)"

    def words(self, *operands: str) -> str:
        return f"1 at the largest of each row of {operands[0]}, else 0"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        (x,) = terms
        number, numbers = x.at(row, column).text, x.listed(row)
        text = f"1 if {number} is the largest of {numbers}, else 0"
        return Said(text, 0)


class Sum(Reduction):
    """The sum of each row."""

    noun: ClassVar[str] = "Sum"
    function = "SUM"
    in_words = "the sum of each row of {x}"

    def numbers(self, *operands: Numbers) -> Numbers:
        return _row_sum(operands[0])

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        (x,) = terms
        return x.total(x.shape[1], lambda k: x.at(row, k).within(1))

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d


class Mean(Reduction):
    """The mean of each row."""

    noun: ClassVar[str] = "Mean"
    function = "AVERAGE"
    in_words = "the mean of each row of {x}"

    def numbers(self, *operands: Numbers) -> Numbers:
        return _row_mean(operands[0])

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        (x,) = terms
        total = x.total(x.shape[1], lambda k: x.at(row, k).within(1))
        return Said(f"{total.within(ATOM)} / {x.shape[1]}", 2)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d / operands[0].shape[1]


class Variance(Reduction):
    """The population variance of each row."""

    noun: ClassVar[str] = "Variance"
    function = "VARP"
    in_words = "the variance of each row of {x}"

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        centred = x - _row_mean(x)
        return _row_mean(centred * centred)

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return Said(f"{_squared_distances(row, terms[0])} / {terms[0].shape[1]}", 2)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        x = operands[0]
        return d * (x - Mean().of(x, columns=["mean"]).in_cells) * (2 / x.shape[1])


class SampleVariance(Reduction):
    """The variance of each row, with m - 1 as divisor."""

    noun: ClassVar[str] = "Variance"
    function = "VAR"
    in_words = "the sample variance of each row of {x}"

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        centred = x - _row_mean(x)
        return np.asarray(_row_sum(centred * centred) / (x.shape[1] - 1))

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return Said(f"{_squared_distances(row, terms[0])} / {terms[0].shape[1] - 1}", 2)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        x = operands[0]
        return d * (x - Mean().of(x, columns=["mean"]).in_cells) * (2 / (x.shape[1] - 1))


class Squares(Reduction):
    """The sum of the squares of each row."""

    noun: ClassVar[str] = "Squares"
    function = "SUMSQ"
    in_words = "the sum of the squares of each row of {x}"

    def numbers(self, *operands: Numbers) -> Numbers:
        return _row_sum(operands[0] * operands[0])

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        (x,) = terms
        return x.total(x.shape[1], lambda k: f"{x.at(row, k).within(ATOM)}²")

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return 2 * d * operands[0]


class RunningSum(Operation):
    """The sum of each number and those to its left in its row: `=SUM($B5:C5)`."""

    noun: ClassVar[str] = "Running"
    reads = (Reads.row,)

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(np.cumsum(operands[0], axis=1))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        (x,) = operands
        first, last = x.row().partition(":")[0], x.cell(column).rpartition("!")[2]
        return f"SUM({first}:{last})"

    def words(self, *operands: str) -> str:
        return f"the numbers of each row of {operands[0]}, added up from the left"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].total(column + 1, lambda k: terms[0].at(row, k).within(1))

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return Sum().of(d, columns=["sum"]).in_cells - self.of(d) + d


@dataclass(frozen=True, eq=False, repr=False)
class BlockNorms(Operation):
    """In row i, the norm of each row of `each` operands together, from the operand i · each on:
    `=SQRT(SUMSQ(Jacobian!$B20:$D20,Jacobian!$B60:$D60))`."""

    noun: ClassVar[str] = "Norms"
    reads = (Reads.rows,)
    same_in_every_row: ClassVar[bool] = False
    each: int

    def numbers(self, *operands: Numbers) -> Numbers:
        squares = [_row_sum(x * x)[:, 0] for x in operands]
        groups = [squares[i : i + self.each] for i in range(0, len(squares), self.each)]
        return np.sqrt([np.add.accumulate(group)[-1] for group in groups])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        blocks = [operand.row(column) for operand in operands[row * self.each : (row + 1) * self.each]]
        groups = [blocks[i : i + MOST_ARGUMENTS] for i in range(0, len(blocks), MOST_ARGUMENTS)]
        sums = [f"SUMSQ({','.join(group)})" for group in groups]
        return f"SQRT({'+'.join(sums)})"

    def words(self, *operands: str) -> str:
        shown = operands[:2] if len(operands) > 3 else operands
        more = ["..."] if len(operands) > 3 else []
        return f"the norms of the rows of {', '.join([*shown, *more])}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        blocks = terms[row * self.each : (row + 1) * self.each]
        places = [(block, k) for block in blocks for k in range(block.shape[1])]
        total = own.total(
            len(places), lambda k: f"{places[k][0].at(column, places[k][1]).within(ATOM)}²"
        )
        return Said(f"√({total.text})")

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        x, row = operands[number], number // self.each
        ratio = (d / own).T
        return x * Columns(row, row + 1).of(ratio, columns=own.rows[row : row + 1])


class Best(Operation):
    """The label of the column with the largest number in each row; its number is the column's."""

    noun: ClassVar[str] = "Best"
    reads = (Reads.table,)

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


class Width(Operation):
    """The number of columns of a matrix: `=COLUMNS(K)`."""

    noun: ClassVar[str] = "Width"
    reads = (Reads.table,)

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([[float(operands[0].shape[1])]])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"{'ROWS' if operands[0].is_transposed else 'COLUMNS'}({operands[0].whole()})"

    def array(self, *operands: Operand) -> str:
        return self.formula(0, 0, *operands)

    def words(self, *operands: str) -> str:
        return f"the number of columns of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        x = terms[0]
        return own.number(x.shape[1], f"the number of columns of {x.whole()}")


class ColumnMaximum(Operation):
    """The largest number of each column: `=MAX(Output!B$5:B$9)`."""

    noun: ClassVar[str] = "Maximum"
    reads = (Reads.column,)

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(operands[0].max(axis=0, keepdims=True))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"MAX({operands[0].column(column)})"

    def words(self, *operands: str) -> str:
        return f"the largest of each column of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        (x,) = terms
        listed = own.several(x.shape[0], lambda i: x.at(i, column).text, ", ")
        return Said(f"the largest of {listed}", 0)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return Largest().of(operands[0].T).T * d


class ColumnSum(Operation):
    """The sum of each column: `=SUM(dQ!B$5:B$9)`."""

    noun: ClassVar[str] = "Sum"
    reads = (Reads.column,)

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(np.cumsum(operands[0], axis=0)[-1:])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"SUM({operands[0].column(column)})"

    def words(self, *operands: str) -> str:
        return f"the sum of each column of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        (x,) = terms
        return own.total(x.shape[0], lambda i: x.at(i, column).within(1))

    def recipe(self, *operands: Node) -> Recipe:
        return Recipe(
            do="Add up the column of {a}.",
            hint="Common mistake: adding up a row.",
        )

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d


class ColumnMean(Operation):
    """The mean of each column over the rows of all operands: `=AVERAGE(Input!B$5:B$9)`."""

    noun: ClassVar[str] = "Mean"
    reads = (Reads.column,)

    def numbers(self, *operands: Numbers) -> Numbers:
        x = np.vstack(operands)
        return np.asarray(np.cumsum(x, axis=0)[-1] / len(x)).reshape(1, -1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"AVERAGE({','.join(operand.column(column) for operand in operands)})"

    def words(self, *operands: str) -> str:
        return f"the mean of each column of {' and '.join([*dict.fromkeys(operands)])}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        places = [(term, i) for term in terms for i in range(term.shape[0])]
        total = own.total(len(places), lambda k: places[k][0].at(places[k][1], column).within(1))
        return Said(f"{total.within(ATOM)} / {len(places)}", 2)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d / sum(operand.shape[0] for operand in operands)


class ColumnVariance(Operation):
    """The variance of each column, with n - 1 as divisor: `=VAR(Input!B$5:B$9)`."""

    noun: ClassVar[str] = "Variance"
    reads = (Reads.column,)

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        mean = np.cumsum(x, axis=0)[-1] / len(x)
        return np.asarray(np.cumsum((x - mean) ** 2, axis=0)[-1] / (len(x) - 1)).reshape(1, -1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return f"VAR({operands[0].column(column)})"

    def words(self, *operands: str) -> str:
        return f"the variance of each column of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        (x,) = terms
        n = x.shape[0]
        mean = sum(x.value(i, column) for i in range(n)) / n
        mean_text = own.number(mean, f"mean of column {x.columns[column]}").within(2)
        total = own.total(n, lambda i: f"({x.at(i, column).within(1)} - {mean_text})²")
        return Said(f"{total.within(ATOM)} / {n - 1}", 2)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        x = operands[0]
        mean = ColumnMean().of(x, rows=["mean"]).in_cells
        return d * (x - mean) * (2 / (x.shape[0] - 1))


def _squared_distances(row: int, x: Term) -> str:
    """The squared distances of a row's numbers from their mean, added up."""
    n = x.shape[1]
    values = np.array([[x.value(row, k) for k in range(n)]])
    mean = x.number(float(_row_mean(values)[0, 0]), "mean").within(2)
    return x.total(n, lambda k: f"({x.at(row, k).within(1)} - {mean})²").within(ATOM)


def _row_sum(x: Numbers) -> Numbers:
    return np.asarray(np.cumsum(x, axis=1)[:, -1:])


def _row_mean(x: Numbers) -> Numbers:
    return np.asarray(_row_sum(x) / x.shape[1])
