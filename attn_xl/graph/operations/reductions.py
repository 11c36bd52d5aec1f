"""Operations that reduce each row, or each column, to one number.

Sums run from left to right, as in spreadsheet programs, so that the numbers agree to the last bit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attn_xl.graph.matrix import Matrix, Numbers, Operation
from attn_xl.graph.operations.selection import Columns
from attn_xl.graph.step import Recipe
from attn_xl.graph.terms import ATOM, Operand, Reads, Said, Term
from attn_xl.records import record

MOST_ARGUMENTS = 30
"""Arguments of a function; older spreadsheet programs take no more."""


@record(frozen=True, eq=False, repr=False)
class Reduction(Operation):
    """One number from each row, `=MAX(B5:G5)`, or from each column, `=MAX(B$5:B$9)`; of several
    operands, from their rows side by side or their columns below each other.

    A subclass adds the spreadsheet's `function`, `what` it gives in words, the `heading` of its
    results, `along`, from an array and an axis, `worked_with` and `slope`.
    """

    function = ""
    heading = ""
    what = ""
    columns: bool = False

    @property
    def axis(self) -> int:
        """The axis along which the numbers of a line lie."""
        return 0 if self.columns else 1

    def reads_of(self, number: int) -> Reads:
        return Reads.column if self.columns else Reads.row

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        x, heading = operands[0], [self.heading]
        return (heading, x.columns) if self.columns else (x.rows, heading)

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(self.along(np.concatenate(operands, self.axis), self.axis))

    @abstractmethod
    def along(self, x: Numbers, axis: int) -> Numbers: ...

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        lines = (one.column(column) if self.columns else one.row() for one in operands)
        return f"{self.function}({','.join(lines)})"

    def words(self, *operands: str) -> str:
        line = "column" if self.columns else "row"
        return f"the {self.what} of each {line} of {' and '.join(dict.fromkeys(operands))}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        places = [(term, k) for term in terms for k in range(term.shape[self.axis])]

        def at(k: int) -> tuple[int, int]:
            return (k, column) if self.columns else (row, k)

        line = Line(
            own,
            [term.value(*at(k)) for term, k in places],
            lambda number: places[number][0].at(*at(places[number][1])),
            f"mean of column {terms[0].columns[column]}" if self.columns else "mean",
        )
        return self.worked_with(line)

    @abstractmethod
    def worked_with(self, line: Line) -> Said: ...

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix | None:
        return self.slope(d, operands[number], sum(one.shape[self.axis] for one in operands))

    @abstractmethod
    def slope(self, d: Matrix, x: Matrix, count: int) -> Matrix:
        """How a loss changes with `x`, from how it changes with the result; `count` numbers are in a
        line."""

    def _mean(self, x: Matrix) -> Matrix:
        return Mean(self.columns)(x).in_cells


class Line(NamedTuple):
    """The numbers of a row or a column, as a calculation refers to them.

    Attributes:
        own: the result; values: the numbers; at: one of them as it is said; mean: what their mean is
            called.
    """

    own: Term
    values: Sequence[float]
    at: Callable[[int], Said]
    mean: str

    def total(self, part: Callable[[Said], str]) -> Said:
        return self.own.total(len(self.values), lambda k: part(self.at(k)))

    def squared_distances(self) -> str:
        """The squared distances of the numbers from their mean, added up."""
        values = np.array(self.values).reshape(-1, 1)
        mean = self.own.number(float(_mean(values, 0)[0, 0]), self.mean).within(2)
        return self.total(lambda x: f"({x.within(1)} - {mean})²").within(ATOM)


class Maximum(Reduction):
    """The largest number of each row or column."""

    noun = "Maximum"
    function, what, heading = "MAX", "largest", "maximum"

    def along(self, x: Numbers, axis: int) -> Numbers:
        return np.asarray(x.max(axis=axis, keepdims=True))

    def worked_with(self, line: Line) -> Said:
        listed = line.own.several(len(line.values), lambda k: line.at(k).text, ", ")
        return Said(f"the largest of {listed}", 0)

    def slope(self, d: Matrix, x: Matrix, count: int) -> Matrix:
        return Largest()(x.T).T * d if self.columns else d * Largest()(x)


class Largest(Operation):
    """1 where the largest number of each row stands, the first of equal ones, else 0."""

    noun = "Largest"
    reads = (Reads.table,)
    reads_labels = True

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
    """The sum of each row or column."""

    noun = "Sum"
    function, what, heading = "SUM", "sum", "sum"

    def along(self, x: Numbers, axis: int) -> Numbers:
        return _sum(x, axis)

    def worked_with(self, line: Line) -> Said:
        return line.total(lambda x: x.within(1))

    def slope(self, d: Matrix, x: Matrix, count: int) -> Matrix:
        return d

    def recipe(self, *operands: Matrix) -> Recipe:
        if not self.columns:
            return super().recipe(*operands)
        return Recipe(
            do="Add up the column of {a}.",
            hint="Common mistake: adding up a row.",
        )


class Mean(Reduction):
    """The mean of each row or column."""

    noun = "Mean"
    function, what, heading = "AVERAGE", "mean", "mean"

    def along(self, x: Numbers, axis: int) -> Numbers:
        return _mean(x, axis)

    def worked_with(self, line: Line) -> Said:
        total = line.total(lambda x: x.within(1))
        return Said(f"{total.within(ATOM)} / {len(line.values)}", 2)

    def slope(self, d: Matrix, x: Matrix, count: int) -> Matrix:
        return d / count


@record(frozen=True, eq=False, repr=False)
class Variance(Reduction):
    """The variance of each row or column; of a `sample`, with one less than their number as divisor."""

    noun = "Variance"
    heading = "variance"
    sample: bool = False

    @property
    def function(self) -> str:  # type: ignore[override]
        return "VAR" if self.sample else "VARP"

    @property
    def what(self) -> str:  # type: ignore[override]
        return "sample variance" if self.sample and not self.columns else "variance"

    def along(self, x: Numbers, axis: int) -> Numbers:
        centred = x - _mean(x, axis)
        return np.asarray(_sum(centred * centred, axis) / (x.shape[axis] - self.sample))

    def worked_with(self, line: Line) -> Said:
        return Said(f"{line.squared_distances()} / {len(line.values) - self.sample}", 2)

    def slope(self, d: Matrix, x: Matrix, count: int) -> Matrix:
        return d * (x - self._mean(x)) * (2 / (count - self.sample))


class Squares(Reduction):
    """The sum of the squares of each row or column."""

    noun = "Squares"
    function, what, heading = "SUMSQ", "sum of the squares", "magnitude"

    def along(self, x: Numbers, axis: int) -> Numbers:
        return _sum(x * x, axis)

    def worked_with(self, line: Line) -> Said:
        return line.total(lambda x: f"{x.within(ATOM)}²")

    def slope(self, d: Matrix, x: Matrix, count: int) -> Matrix:
        return 2 * d * x


class RunningSum(Operation):
    """The sum of each number and those to its left in its row: `=SUM($B5:C5)`."""

    noun = "Running"
    reads = (Reads.row,)

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.asarray(np.cumsum(operands[0], axis=1))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        (x,) = operands
        first, last = x.row(stop=column + 1).partition(":")[0], x.cell(column).rpartition("!")[2]
        return f"SUM({first}:{last})"

    def words(self, *operands: str) -> str:
        return f"the numbers of each row of {operands[0]}, added up from the left"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].total(column + 1, lambda k: terms[0].at(row, k).within(1))

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return Sum()(d).in_cells - self(d) + d


@record(frozen=True, eq=False, repr=False)
class BlockNorms(Operation):
    """In row i, the norm of each row of `each` operands together, from the operand i · each on:
    `=SQRT(SUMSQ(Jacobian!$B20:$D20,Jacobian!$B60:$D60))`."""

    noun = "Norms"
    reads = (Reads.rows,)
    same_in_every_row = False
    each: int

    def numbers(self, *operands: Numbers) -> Numbers:
        squares = [_sum(x * x, 1)[:, 0] for x in operands]
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
        return x * Columns(row, row + 1)(ratio)


class Best(Operation):
    """The label of the column with the largest number in each row; its number is the column's."""

    noun = "Best"
    reads = (Reads.table,)

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[0].rows, ["word"]

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        best = np.where(np.isnan(x).any(axis=1), np.nan, x.argmax(axis=1) + 1.0)
        return best.reshape(-1, 1)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        x = operands[0]
        return x.heading_at(f"MATCH(MAX({x.row()}),{x.row()},0)")

    def words(self, *operands: str) -> str:
        return f"the column with the largest number of each row of {operands[0]}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return Said(f"the column with the largest of {terms[0].listed(row)}", 0)


class Width(Operation):
    """The number of columns of a matrix: `=COLUMNS(K)`."""

    noun = "Width"
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


def _sum(x: Numbers, axis: int) -> Numbers:
    return np.cumsum(x, axis=axis).take([-1], axis=axis)


def _mean(x: Numbers, axis: int) -> Numbers:
    return np.asarray(_sum(x, axis) / x.shape[axis])
