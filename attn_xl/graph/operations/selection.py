"""Operations that select rows, columns or numbers, or place matrices side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attn_xl.graph.loops import Loop, Looping
from attn_xl.graph.matrix import Cells, Matrix, Numbers, Operation
from attn_xl.graph.step import Recipe
from attn_xl.graph.terms import Operand, Reads, Said, Term
from attn_xl.records import record


@record(frozen=True, eq=False, repr=False)
class RowsOf(Operation):
    """Rows of other matrices: row i is row `picks[i][1]` of operand `picks[i][0]`."""

    passes_on = True
    reads_one = True
    reads = (Reads.rows,)
    same_in_every_row = False
    picks: tuple[tuple[int, int], ...]

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.array([operands[which][row] for which, row in self.picks])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        which, source_row = self.picks[row]
        return operands[which].cell(column, row=source_row)

    def cells(self, of: Cells) -> Cells | None:
        """Those of its operand, if it takes neighbouring rows in their order."""
        first = self.picks[0][1]
        if self.picks != tuple((0, first + i) for i in range(len(self.picks))):
            return None
        shape = len(self.picks), of.shape[1]
        if of.turned:
            return replace(of, shape=shape, column=of.column + first)
        return replace(of, shape=shape, row=of.row + first)

    def words(self, *operands: str) -> str:
        return f"the word's row of {' and '.join([*dict.fromkeys(operands)])}"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        which, source_row = self.picks[row]
        return terms[which].at(source_row, column)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        rows = operands[number].rows
        uses = tuple(
            tuple(place for place, pick in enumerate(self.picks) if pick == (number, row))
            for row in range(len(rows))
        )
        return AddedRows(uses)(d, rows=rows)

    def row_of(self, row: int) -> tuple[int, int]:
        return self.picks[row]


class Gather(RowsOf):
    """Chosen rows of several matrices."""

    noun = "Rows"


@record(frozen=True, eq=False, repr=False)
class Moved(RowsOf):
    """The rows of a matrix, moved: row t is its row t + `offset`; where it has none, the single row of
    the second operand. Formulas read the original cells."""

    noun = "Moved"
    offset: int

    @property
    def when(self) -> str:
        """`[t-1]`: the position of a row relative to the formula's own."""
        return f"[t{self.offset:+}]"

    def kind_of_row(self, row: int) -> int:
        return self.picks[row][0]


class Shift(Moved):
    """The rows around each row: `=SUM(MMULT(Input!$B4:$D4,W_before!B$5:B$7))`."""

    @classmethod
    def by(cls, offset: int, rows: int) -> Shift:
        """The shift of a matrix with this number of rows."""
        return cls(shifted_rows(offset, rows), offset)

    def words(self, *operands: str) -> str:
        return f"({operands[0]}){self.when}" if " " in operands[0] else f"{operands[0]}{self.when}"


@record(frozen=True, eq=False, repr=False)
class Previous(Moved, Looping):
    """The row above of a matrix that is made later, `source`; above the first row is the initial one:
    `=TANH(SUM(MMULT(Hidden!$B4:$D4,U_h!B$5:B$7)))`."""

    source: str
    loop: Loop

    def words(self, *operands: str) -> str:
        return f"{self.source}{self.when}"


def shifted_rows(offset: int, rows: int) -> tuple[tuple[int, int], ...]:
    """For each row, the operand and the row of `Moved`."""
    return tuple((0, t + offset) if 0 <= t + offset < rows else (1, 0) for t in range(rows))


@record(frozen=True, eq=False, repr=False)
class AddedRows(Operation):
    """Sums of chosen rows: row i is the sum of the rows `uses[i]`, or 0: the opposite of Gather."""

    noun = "Rows"
    binds = 1
    reads = (Reads.rows,)
    same_in_every_row = False
    uses: tuple[tuple[int, ...], ...]

    def numbers(self, *operands: Numbers) -> Numbers:
        (x,) = operands
        nothing = np.zeros(x.shape[1])
        return np.array([sum((x[place] for place in places), nothing) for places in self.uses])

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return "+".join(operands[0].cell(column, row=place) for place in self.uses[row]) or "0"

    def words(self, *operands: str) -> str:
        return f"the rows of {operands[0]} that use each row, added up"

    def recipe(self, *operands: Matrix) -> Recipe:
        return Recipe(
            do="Add up the rows of {a} that were computed from this row; write 0 if there is none.",
            hint="Common mistake: taking a row that was computed from another one.",
        )

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        places = self.uses[row]
        if not places:
            return own.number(0, "0: no row uses it")
        return own.total(len(places), lambda k: terms[0].at(places[k], column).within(1))

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        rows = operands[0].rows
        uses = tuple(
            tuple(row for row, places in enumerate(self.uses) for used in places if used == place)
            for place in range(len(rows))
        )
        return AddedRows(uses)(d, rows=rows)


@record(frozen=True, eq=False, repr=False)
class Columns(Operation):
    """Neighbouring columns: `=W_Q!D5`. Formulas read the original cells unless they have a name."""

    noun = "Columns"
    passes_on = True
    start: int
    stop: int

    def numbers(self, *operands: Numbers) -> Numbers:
        return operands[0][:, self.start : self.stop]

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(self.start + column)

    def array(self, *operands: Operand) -> str:
        return operands[0].part(self.start, self.stop)

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[0].rows, operands[0].columns[self.start : self.stop]

    def words(self, *operands: str) -> str:
        first, last = self.start + 1, self.stop
        text = "columns {first} to {last} of {x}" if first < last else "column {first} of {x}"
        return text.format(first=first, last=last, x=operands[0])

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].at(row, self.start + column)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        x = operands[0]
        return Placed((self.start,), x.shape[1])(d, columns=x.columns)

    def cells(self, of: Cells) -> Cells:
        shape = of.shape[0], self.stop - self.start
        if of.turned:
            return replace(of, shape=shape, row=of.row + self.start)
        return replace(of, shape=shape, column=of.column + self.start)


@record(frozen=True, eq=False, repr=False)
class Placed(Operation):
    """Matrices side by side, the first column of each in column `starts[i]`, 0 elsewhere: the opposite
    of Columns."""

    noun = "Columns"
    passes_on = True
    reads_one = True
    starts: tuple[int, ...]
    width: int

    def numbers(self, *operands: Numbers) -> Numbers:
        whole = np.zeros((operands[0].shape[0], self.width))
        for start, part in zip(self.starts, operands):
            whole[:, start : start + part.shape[1]] = part
        return whole

    def _place(self, column: int, widths: Sequence[int]) -> tuple[int, int] | None:
        """The operand that stands in a column, and its own column there."""
        for number, (start, width) in enumerate(zip(self.starts, widths)):
            if start <= column < start + width:
                return number, column - start
        return None

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        place = self._place(column, [operand.shape[1] for operand in operands])
        return operands[place[0]].cell(place[1]) if place else "0"

    def words(self, *operands: str) -> str:
        text = "{x} side by side" if len(operands) > 1 else "{x} in its columns, else 0"
        return text.format(x=", ".join(operands))

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        place = self._place(column, [term.shape[1] for term in terms])
        return terms[place[0]].at(row, place[1]) if place else own.number(0, "0, outside its columns")

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        start, part = self.starts[number], operands[number]
        return Columns(start, start + part.shape[1])(d, columns=part.columns)


@record(frozen=True, eq=False, repr=False)
class Repeated(Operation):
    """A single row, a single column or one number, repeated to a full matrix."""

    noun = "Repeated"
    passes_on = True
    rows: int
    columns: int

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.broadcast_to(operands[0], (self.rows, self.columns)).copy()

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        return operands[0].cell(column)

    def words(self, *operands: str) -> str:
        return operands[0]

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        return terms[0].at(row, column)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        return d


class Concat(Operation):
    """Matrices side by side."""

    noun = "Concat"
    passes_on = True
    joins = True
    reads_one = True

    def numbers(self, *operands: Numbers) -> Numbers:
        return np.hstack(operands)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        for operand in operands:
            if column < operand.shape[1]:
                return operand.cell(column)
            column -= operand.shape[1]
        raise IndexError(column)

    def labels(self, *operands: Matrix) -> tuple[Sequence[str], Sequence[str]]:
        return operands[0].rows, [label for operand in operands for label in operand.columns]

    def words(self, *operands: str) -> str:
        return f"{', '.join(operands)} side by side"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        for term in terms:
            if column < term.shape[1]:
                return term.at(row, column)
            column -= term.shape[1]
        raise IndexError(column)

    def gradient(self, number: int, own: Matrix, d: Matrix, *operands: Matrix) -> Matrix:
        start = sum(operand.shape[1] for operand in operands[:number])
        part = operands[number]
        return Columns(start, start + part.shape[1])(d, columns=part.columns)


@record(frozen=True, eq=False, repr=False)
class OneHot(Operation):
    """1 in the column whose label is the text in a column of texts, 0 elsewhere:
    `=IF(Labels!$B5=B$4,1,0)`.

    Attributes:
        headings: its columns; the number of a text is its column, from 1.
        row: the row of the text, from 0; None for each row its own.
    """

    noun = "Target"
    reads_texts = True
    reads_labels = True
    headings: tuple[str, ...]
    row: int | None = None

    def numbers(self, *operands: Numbers) -> Numbers:
        chosen = operands[0] if self.row is None else operands[0][self.row : self.row + 1]
        return np.where(np.isnan(chosen), np.nan, chosen == np.arange(1, len(self.headings) + 1))

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        texts, own = operands
        text, heading = texts.cell(0, row=self.row), own.heading(column)
        if len({label.casefold() for label in self.headings}) < len(self.headings):  # Cat and cat
            return f"IF(EXACT({text},{heading}),1,0)"
        return f"IF({text}={heading},1,0)"

    def words(self, *operands: str) -> str:
        return f"1 in the column labelled as in {operands[0]}, 0 elsewhere"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        chosen = own.value(row, column)
        is_right = "is" if chosen else "is not"
        return own.number(chosen, f"the column {own.columns[column]} {is_right} the right one")


@record(frozen=True, eq=False, repr=False)
class Chosen(Operation):
    """1 in one cell, chosen by the numbers of a matrix, a row and a column, from 1; 0 elsewhere.

    Attributes:
        number: of this matrix.
    """

    noun = "Chosen"
    reads_labels = True
    number: int
    shape: tuple[int, int]

    def numbers(self, *operands: Numbers) -> Numbers:
        matrix, row, column = (float(operand[0, 0]) for operand in operands)
        places = np.indices(self.shape) + 1.0
        return np.asarray((matrix == self.number) & (places[0] == row) & (places[1] == column), float)

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        *numbers, own = operands
        matrix, at_row, at_column = (number.cell(0) for number in numbers)
        return (
            f"IF(AND({matrix}={self.number},{own.row_number()}+1={at_row},"
            f"{own.column_number(column)}+1={at_column}),1,0)"
        )

    def words(self, *operands: str) -> str:
        return f"1 in the chosen cell, if {operands[0]} is {self.number}; 0 elsewhere"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        chosen = own.value(row, column)
        return own.number(chosen, ("this cell is chosen" if chosen else "this cell is not chosen"))
