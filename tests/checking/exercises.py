"""Exercises as teachers lay them out by hand, each right or with one slip: brackets beside matrices,
merged headings, arrays that were never computed, words in columns, heads side by side, biases."""

from __future__ import annotations

import openpyxl
from networks import fill, numbers
from openpyxl.utils import get_column_letter as letter
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.worksheet import Worksheet
from ordinary import put


def array(sheet: Worksheet, cells: str, text: str) -> None:
    """An array formula; openpyxl writes its first cell only, without a value."""
    sheet[cells.partition(":")[0]] = ArrayFormula(cells, f"={text}")


def words_in_columns(book: openpyxl.Workbook, slip: str) -> None:
    """Each word a column, weights at the left in brackets, every product one array."""
    s = book.active
    s["B1"] = "Self-attention by hand"
    s.merge_cells("B1:L1")
    put(s, "I3", [["the", "cat", "sat", "down"], *numbers(5, 4)])
    for row, name in ((10, "Q"), (15, "K"), (20, "V")):
        put(s, f"B{row - 1}", [[f"W_{name}"]])
        s.merge_cells(f"B{row - 1}:F{row - 1}")
        for i, line in enumerate(numbers(3, 5)):
            put(s, f"A{row + i}", [["[", *line, "]"]])
        array(s, f"I{row}:L{row + 2}", f"MMULT(B{row}:F{row + 2},I4:L8)")
        s[f"N{row}"] = name
    array(s, "P10:S13", "MMULT(TRANSPOSE(I15:L17),I10:L12)")
    fill(s, "P16", 4, 4, "={c}{r-6}/SQRT(3)")
    fill(s, "P22", 4, 4, "=EXP({c}{r-6})")
    fill(s, "P26", 1, 4, "=SUM({c}22:{c}25)")
    if slip == "sum":
        s["R26"] = "=SUM(R22:R24)"
    fill(s, "P28", 4, 4, "={c}{r-6}/{c}$26")
    array(s, "I28:L30", f"MMULT({'I15:L17' if slip == 'values' else 'I20:L22'},P28:S31)")


def heads_side_by_side(book: openpyxl.Workbook, slip: str) -> None:
    """Two heads written term by term, and a layer whose biases stand under its weights."""
    s = book.active
    put(s, "B4", numbers(3, 4))
    for x in (2, 15):
        q, k, v = letter(x), letter(x + 4), letter(x + 8)
        s[f"{q}8"] = "Head"
        s.merge_cells(f"{q}8:{letter(x + 9)}8")
        for column in (q, k, v):
            put(s, f"{column}10", numbers(4, 2))
            terms = "+".join(f"${letter(2 + m)}{{r-12}}*{{c}}${10 + m}" for m in range(4))
            fill(s, f"{column}16", 3, 2, f"={terms}")
        keys = 2 if slip == "head" else x
        for j in range(3):
            key = f"${letter(keys + 4)}${16 + j}:${letter(keys + 5)}${16 + j}"
            product = f"=SUMPRODUCT(${q}{{r-5}}:${letter(x + 1)}{{r-5}},{key})/SQRT(2)"
            fill(s, f"{letter(x + j)}21", 3, 1, product)
        fill(s, f"{k}21", 3, 3, "=EXP({c-4}{r})")
        fill(s, f"{v}21", 3, 3, f"={{c-4}}{{r}}/SUM(${k}{{r}}:${letter(x + 6)}{{r}})")
        terms = "+".join(f"${letter(x + 8 + m)}{{r-5}}*{{c+8}}${16 + m}" for m in range(3))
        fill(s, f"{q}26", 3, 2, f"={terms}")
    for column, source in (("B", "B"), ("D", "O")):
        fill(s, f"{column}31", 3, 2, f"={{c{'+11' if source == 'O' else ''}}}{{r-5}}")
    put(s, "H31", numbers(5, 4))
    bias = 33 if slip == "bias" else 35
    fill(s, "B37", 3, 4, f"=SUM(MMULT($B{{r-6}}:$E{{r-6}},{{c+6}}$31:{{c+6}}$34))+{{c+6}}${bias}")


def masked(book: openpyxl.Workbook, slip: str) -> None:
    """Scores, masked scores and weights side by side, a softmax in one formula."""
    s = book.active
    put(s, "A2", numbers(4, 4))
    put(s, "F2", numbers(4, 4))
    put(s, "K2", numbers(4, 4))
    for j in range(4):
        fill(s, f"{letter(1 + j)}9", 4, 1, f"=SUMPRODUCT($A{{r-7}}:$D{{r-7}},$F${2 + j}:$I${2 + j})/2")
    fill(s, "F9", 4, 4, "=IF(COLUMN({c}9)-6>ROW()-9,-1E9,{c-5}{r})")
    own, first, last = ("{c-10}", "A", "D") if slip == "mask" else ("{c-5}", "F", "I")
    fill(s, "K9", 4, 4, f"=EXP({own}{{r}})/SUMPRODUCT(EXP(${first}{{r}}:${last}{{r}}))")
    fill(s, "A16", 4, 4, "=SUM(MMULT($K{r-7}:$N{r-7},{c+10}$2:{c+10}$5))")
