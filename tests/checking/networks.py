"""Small networks as teachers lay them out by hand, each right or with one slip that people make."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import openpyxl
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet.worksheet import Worksheet
from ordinary import put

Maker = Callable[[openpyxl.Workbook, str], None]
CHANCE = Random(3)


def numbers(rows: int, columns: int) -> list[list[float]]:
    return [[round(CHANCE.uniform(-1, 1), 2) for _ in range(columns)] for _ in range(rows)]


def fill(sheet: Worksheet, cell: str, rows: int, columns: int, text: str) -> None:
    """A formula in every cell: {r} and {c} are its row and column, {c+3} the third column to the right,
    {r-1} the row above; `$C` is column C whatever the cell."""
    first = sheet[cell]
    for i in range(rows):
        for j in range(columns):
            row, column = first.row + i, first.column + j
            names = {f"{{c+{n}}}": letter(column + n) for n in range(1, 20)}
            names |= {f"{{c-{n}}}": letter(max(column - n, 1)) for n in range(1, 20)}
            names |= {f"{{r{n:+}}}": str(row + n) for n in range(-16, 9)}
            names |= {"{r}": str(row), "{c}": letter(column)}
            formula = text
            for name, value in names.items():
                formula = formula.replace(name, value)
            sheet.cell(row, column, formula)


def attention(book: openpyxl.Workbook, slip: str) -> None:
    """Everything on one sheet, products typed term by term, sums of the weights beside the output."""
    s = book.active
    put(s, "A1", [["X"]])
    put(s, "B2", numbers(3, 4))
    for cell, name in (("B", "Q"), ("H", "K"), ("N", "V")):
        put(s, f"{cell}7", [[f"W{name}"]])
        put(s, f"{cell}8", numbers(4, 3))
        fill(s, f"{cell}15", 3, 3, "=$B{r-13}*{c}$8+$C{r-13}*{c}$9+$D{r-13}*{c}$10+$E{r-13}*{c}$11")
    for j, key in enumerate((15, 16, 17)):
        column = letter(2 + j)
        fill(s, f"{column}21", 3, 1, f"=SUMPRODUCT($B{{r-6}}:$D{{r-6}},$H${key}:$J${key})/SQRT(3)")
    fill(s, "H21", 3, 3, "=EXP({c-6}{r})")
    share = "{c-6}{r}/SUM({c-6}$21:{c-6}$22)" if slip == "sum" else "{c-6}{r}/SUM($H{r}:$J{r})"
    fill(s, "N21", 3, 3, f"={share}")
    a, b, c = "HIJ" if slip == "exponentials" else "NOP"
    v = "{c+6}" if slip == "values" else "{c+12}"
    fill(s, "B27", 3, 3, f"=${a}{{r-6}}*{v}$15+${b}{{r-6}}*{v}$16+${c}{{r-6}}*{v}$17")
    fill(s, "H27", 3, 1, "=SUM(N{r-6}:P{r-6})")
    if slip == "scale":
        s["C22"] = "=SUMPRODUCT($B16:$D16,$H$16:$J$16)"
    if slip == "typed":
        s["C16"] = 0.4


def recurrent(book: openpyxl.Workbook, slip: str) -> None:
    """An RNN whose states are rows, with a loss below the errors."""
    s = book.active
    for cell, size in (("B2", (5, 2)), ("E2", (2, 3)), ("E6", (3, 3)), ("E11", (1, 3)), ("N3", (3, 1))):
        put(s, cell, numbers(*size))
    put(s, "J2", [[0, 0, 0]])
    inputs = "SUMPRODUCT($B{r-1}:$C{r-1},TRANSPOSE({c-5}$2:{c-5}$3))"
    state = "$J{r-1}*{c-5}$6+$K{r-1}*{c-5}$7+$L{r-1}*{c-5}$8"
    fill(s, "J3", 5, 3, f"=TANH({inputs}+{state}+{{c-5}}$11)")
    last = "K" if slip == "term" else "L"
    fill(s, "P3", 5, 1, f"=J{{r}}*$N$3+K{{r}}*$N$4+{last}{{r}}*$N$5")
    put(s, "R3", numbers(5, 1))
    fill(s, "S3", 5, 1, "=(P{r}-R{r})^2")
    s["S9"] = "=AVERAGE(S3:S6)" if slip == "loss" else "=AVERAGE(S3:S7)"
    if slip == "bias":
        for row in range(3, 8):
            s.cell(row, 11, s.cell(row, 11).value.replace("F$11", "E$11"))
    if slip == "state":
        s["K5"] = s["K5"].value.replace("$K4", "$K3")


def convolution(book: openpyxl.Workbook, slip: str) -> None:
    """Two kernels with a bias cell each, ReLU, pooling, a dense layer and its softmax."""
    s = book.active
    put(s, "A2", [[CHANCE.randint(0, 1) for _ in range(6)] for _ in range(6)])
    for kernel, left, bias in (("I2", "A", "J6"), ("N2", "G", "O6")):
        put(s, kernel, numbers(3, 3))
        s[bias] = CHANCE.random()
        there = {"A": "$I$2:$K$4", "G": "$N$2:$P$4"}[left]
        at, to = ("{c}", "{c+2}") if left == "A" else ("{c-6}", "{c-4}")
        added = "$J$6" if slip == "bias" else f"${bias[0]}$6"
        fill(s, f"{left}10", 4, 4, f"=SUMPRODUCT({at}{{r-8}}:{to}{{r-6}},{there})+{added}")
        source = "{c-6}" if slip == "relu" and left == "G" else "{c}"
        fill(s, f"{left}16", 4, 4, f"=MAX(0,{source}{{r-6}})")
        start = 1 if left == "A" else 7
        for i in range(2):
            for j in range(2):
                c, r = start + 2 * j, 16 + 2 * i
                s.cell(22 + i, start + j, f"=MAX({letter(c)}{r}:{letter(c + 1)}{r + 1})")
    flat = [f"={left}{row}" for left in "ABGH" for row in (22, 23)]
    put(s, "E26", [[one] for one in flat])
    put(s, "A26", numbers(8, 2))
    last = 31 if slip == "features" else 33
    fill(s, "G26", 1, 2, f"=SUMPRODUCT($E$26:$E${last},{{c-6}}$26:{{c-6}}${last})")
    fill(s, "G27", 1, 2, "=EXP({c}26)")
    fill(s, "G28", 1, 2, "={c}27/SUM($G$27:$H$27)")


def heads(book: openpyxl.Workbook, slip: str) -> None:
    """Three heads on sheets of their own, joined, mixed and added to the words."""
    s = book.active
    s.title = "Heads"
    put(s, "B2", numbers(4, 6))
    put(s, "B15", numbers(6, 6))
    for h in (1, 2, 3):
        t = book.create_sheet(f"Head {h}")
        wrong = h == 3
        for left in "AEI":
            put(t, f"{left}2", numbers(6, 2))
            put(t, f"{left}9", numbers(1, 2))
            bias = "'Head 2'!" if wrong and slip == "bias" and left == "E" else ""
            fill(t, f"{left}12", 4, 2,
                 f"=SUM(MMULT(Heads!$B{{r-10}}:$G{{r-10}},{{c}}$2:{{c}}$7))+{bias}{{c}}$9")  # fmt: skip
        for j in range(4):
            fill(t, f"{letter(1 + j)}18", 4, 1,
                 f"=SUMPRODUCT($A{{r-6}}:$B{{r-6}},$E${12 + j}:$F${12 + j})/SQRT(2)")  # fmt: skip
        fill(t, "G18", 4, 4, "=EXP({c-6}{r})/SUMPRODUCT(EXP($A{r}:$D{r}))")
        v = "{c-8}" if wrong and slip == "values" else "{c-4}"
        fill(t, "M18", 4, 2, f"=SUMPRODUCT($G{{r}}:$J{{r}},TRANSPOSE({v}$12:{v}$15))")
        source = 2 if wrong and slip == "joined" else h
        for j in range(2):
            for i in range(4):
                s.cell(9 + i, 2 * h + j, f"='Head {source}'!{'MN'[j]}{18 + i}")
    skip = "{c}$2" if slip == "skip" else "{c}{r-21}"
    for i in range(4):
        for j in range(6):
            column = letter(2 + j)
            there = skip.replace("{c}", column).replace("{r-21}", str(2 + i))
            text = f"=SUM(MMULT($B{9 + i}:$G{9 + i},{column}$15:{column}$20))+{there}"
            s.cell(23 + i, 2 + j, text)


NETWORKS: dict[Maker, dict[str, str]] = {
    attention: {"sum": "N21", "exponentials": "N21", "values": "N15", "scale": "C22", "typed": "C16"},
    recurrent: {"term": "P3", "loss": "S9", "bias": "K3", "state": "K5"},
    convolution: {"bias": "G10", "relu": "G16", "features": "G26"},
    heads: {"bias": "E12", "values": "M18", "joined": "F9", "skip": "B23"},
}
"""The slips of each network, and the first cell that a finding about it names."""


def cases() -> Iterator[tuple[Any, str, str]]:
    for maker, slips in NETWORKS.items():
        yield maker, "", ""
        for slip, cell in slips.items():
            yield maker, slip, cell
