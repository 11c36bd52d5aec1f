"""Masks, which are added to scores to hide words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import Operand, Operation, Said, Term

from .switches import ON

HIDDEN = -1e9
"""Added to a score, it leaves an attention weight of exactly 0."""


@dataclass(frozen=True, eq=False, repr=False)
class Mask(Operation):
    """0 where a word may look, a large negative number where it may not: at later words (causal), at
    words that fill up a sentence (padding). A switch as operand turns causal on or off."""

    noun: ClassVar[str] = "Mask"
    reads_texts: ClassVar[bool] = True
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
            conditions.append(f"{own.heading(column)}={own.literal(word)}")
        test = conditions[0] if len(conditions) == 1 else f"OR({','.join(conditions)})"
        return f"IF({test},{HIDDEN:.0f},0)"  # not every program reads 1E+9

    def words(self, *operands: str) -> str:
        later = "later words, if Causal is on" if operands else "later words"
        kinds = [later] * (self.causal or bool(operands)) + [", ".join(self.padding)] * bool(
            self.padding
        )
        return f"{HIDDEN:.0e} hides {' and '.join(kinds)}".replace("e+0", "e")

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        there, here = own.columns[column], own.rows[row]
        causal = terms[0].value(0, 0) == 1 if terms else self.causal
        if causal and column > row:
            why = f"column {column + 1}, {there}, is later than row {row + 1}, {here}, so it is hidden"
        elif there.casefold() in {word.casefold() for word in self.padding}:
            why = f"column {column + 1}, {there}, only fills up the sentence, so it is hidden"
        else:
            why = f"row {row + 1}, {here}, may look at column {column + 1}, {there}"
        return own.number(own.value(row, column), why)
