"""Sinusoidal positions of words."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import Operand, Operation, Reads, Said, Term


class Sinusoid(Operation):
    """sin(pos / 10000^(2i/d)) in even columns, cos in odd ones; pos and i count from 0."""

    noun: ClassVar[str] = "Positions"
    reads = (Reads.table,)
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
        function, first = ("COS", "-1") if column % 2 else ("SIN", "")
        exponent = f"({own.column_number(column)}{first})/COLUMNS({x.whole()})"
        return f"{function}(({own.row_number()})/10000^({exponent}))"

    def words(self, *operands: str) -> str:
        return "sin or cos of position / 10000^(2i / d)"

    def worked(self, row: int, column: int, own: Term, *terms: Term) -> Said:
        wave = "cos" if column % 2 else "sin"
        position = own.number(row, "position").text
        i, d = own.number(column // 2, "i").text, own.number(own.shape[1], "d").text
        return Said(f"{wave}({position} / 10000^(2·{i} / {d}))")
