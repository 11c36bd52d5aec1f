"""Masks, which hide words, and switches between two matrices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import Operand, Operation, Said, Term

from .elementwise import CHOICE

if TYPE_CHECKING:
    from attn_xl.graph.matrix import Matrix


ON, OFF = "on", "off"
"""Texts of a switch; its number is 1 or 0."""


class When(Operation):
    """One number if a switch is on, another if it is off: `=IF(Scale="on",SQRT(d_k),1)`."""

    noun = "Choice"
    reads_texts = True

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
        return self.of(switch, d, 0) if number == 1 else self.of(switch, 0, d)


HIDDEN = -1e9
"""Added to a score, it leaves an attention weight of exactly 0."""


@dataclass(frozen=True, eq=False, repr=False)
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
