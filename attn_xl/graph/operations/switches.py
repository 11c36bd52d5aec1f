"""Switches: cells that hold `on` or `off` and control formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
