"""The values of an author's own formulas are those that other programs compute."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from authors import DIMS, PETS, AuthorSheet, numbers
from conftest import by_libreoffice, differences_libreoffice, thorough

from attn_xl.spreadsheets.engine import OF_RANGES, OF_VALUES, computed, formula_of
from attn_xl.spreadsheets.formulas import Formula
from attn_xl.workbook.filling.author import fill_file

FORMULAS = """
AVERAGE(R) AVERAGEIF(R,">1") COLUMNS(R) CONCAT(B14:B16) CORREL(R,T) COUNT(R) COUNTA(R) COUNTBLANK(R)
COUNTIF(R,">1") DEVSQ(R) GEOMEAN(C4:E4) HLOOKUP("cat",C13:G18,3,FALSE) INDEX(R,1,2) LARGE(R,2)
MATCH("cat",B14:B18,0) MAX(R) MEDIAN(R) MIN(R) MMULT(R,C14:C18) OR(C14>0,D14>0) PRODUCT(R)
RANK(C14,R) RANK.AVG(C14,R) RANK.EQ(C14,R,1) ROWS(R) SMALL(R,2) STDEV(R) STDEV.P(R) STDEV.S(R)
STDEVP(R) SUM(R) SUMIF(B14:B18,"cat",C14:C18) SUMPRODUCT((R>1)*T) SUMSQ(R) SUMX2MY2(R,T)
SUMX2PY2(R,T) SUMXMY2(R,T) TEXTJOIN("-",TRUE,B14:B18) VAR(R) VAR.P(R) VAR.S(R) VARP(R)
VLOOKUP("cat",B14:G18,2,FALSE) ABS(C14) ACOS(UNIT) ASIN(UNIT) ATAN(UNIT)
CEILING(C14,0.5) CHAR(65+C14) CONCATENATE("a",B14) COS(UNIT) DEGREES(UNIT) EXP(UNIT)
FIXED(-C14,1) FLOOR(C14,0.5)
IF(C14>D14,"a","b") IFERROR(1/(C14-C14),7) IFNA(C14,1) INT(C14) ISNUMBER(C14) LEFT(B14,2) LEN(B14)
LN(C14) LOG(C14) LOG10(C14) LOWER(B14) MID(B14,2,2) MOD(C14,2) NOT(C14>1) PI() POWER(C14,2)
ATAN2(UNIT,C14) AVEDEV(R) AVERAGEIFS(R,T,">1") CHOOSE(2,C14,D14) COLUMN(C14) COSH(UNIT)
COUNTIFS(R,">1",T,">1") ERF(D14/9) EVEN(C14) EXACT(B14,B15) FACT(3) HARMEAN(C4:E4) IFS(C14>0,C14,TRUE,0)
ISBLANK(C14) MAXIFS(R,T,">1") MINIFS(R,T,">1") MROUND(C14,0.5) N(C14) NORM.S.DIST(C14/9,TRUE)
NORM.S.DIST(-D14/9,FALSE) NORMSDIST(-C14/9) ODD(C14) PEARSON(R,T) QUOTIENT(C14,2) ROW(C14) SINH(UNIT)
SUBSTITUTE(B14,"a","b") SUMIFS(R,T,">1") SWITCH(1,1,C14,D14) VALUE("2") XOR(C14>0,D14>0)
RADIANS(UNIT) RIGHT(B14,2) ROUND(C14,2) ROUNDDOWN(C14,1) ROUNDUP(C14,1) SIGN(D14) SIN(UNIT) SQRT(C14)
TAN(UNIT) TANH(UNIT) TRIM(B14) TRUNC(C14,1) UPPER(B14) AND(C14>0,D14>0)
"""
"""One of each function, of cells that are blank before: R, T: rows of scores; UNIT: below 1."""


@thorough
@by_libreoffice
def test_libreoffice_agrees_on_each_function(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, numbers(PETS))
    sheet.block(12, 2, "Scores", PETS, PETS)
    names = {"R": "C14:G14", "T": "C15:G15", "UNIT": "(C14/100)"}
    texts = [re.sub(r"\b(R|T|UNIT)\b", lambda found: names[found[0]], one) for one in FORMULAS.split()]
    assert {text.partition("(")[0] for text in texts} == OF_RANGES | OF_VALUES
    for row, text in enumerate(texts, 30):
        name = text.partition("(")[0]
        new = "." in name or name in (
            "CONCAT",
            "IFNA",
            "IFS",
            "MAXIFS",
            "MINIFS",
            "SWITCH",
            "TEXTJOIN",
            "XOR",
        )
        made.active.cell(row, 20, f"=IF(C14=C14,{'_xlfn.' * new}{text})")
    made.save(tmp_path / "own.xlsx")
    book, out = fill_file(tmp_path / "own.xlsx", {}), tmp_path / "out.xlsx"
    out.write_bytes(book.content)
    shown = openpyxl.load_workbook(out, data_only=True).active
    assert [text for row, text in enumerate(texts, 30) if shown.cell(row, 20).value is None] == []
    found = differences_libreoffice([out], 1e-12)
    assert not any(found.values()), found


def test_what_is_not_certain_is_left_to_the_program() -> None:
    """An array in a plain formula is one cell of it in Excel; other functions may be unknown."""
    texts = (
        "A1:A3*2", "SUMPRODUCT(EXP(A1:A3))", "SUMPRODUCT(EXP(-A1:A3))", "SUMPRODUCT(LEN(A1:A3))",
        "SUM(IF(A1:A3>1,1,0))", "IFERROR(NEW(A1),0)", "B1+1", "SUM(A:A)", "TODAY()",
        "SUM(Table[a])", "[2]Other!A1", "A4+1", "A1+1", "SUMPRODUCT((A1:A3>1)*A1:A3)",
    )  # fmt: skip
    formulas = {("S", row, 2): text for row, text in enumerate(texts, 1)}
    cells = {(1, 1): 1.0, (2, 1): 2.0, (3, 1): 3.0, (4, 1): object()}
    found = computed(formulas, ["S"], {}, lambda sheet, *at: (cells.get(at), False))
    given = {texts[row - 1]: value for (_, row, _), value in found.items()}
    arrays = ["A1:A3*2", "TRANSPOSE(A1:A3)-1", "MMULT(TRANSPOSE(A1:A3),A1:A3)", "NEW(A1:A3)"]
    third = {("S", row, 2): formula_of(Formula(text, row, 1, 1, 3, array=True), (row, 3))
             for row, text in enumerate(arrays, 1)}  # fmt: skip
    found = computed(third, ["S"], {}, lambda sheet, *at: (cells.get(at), False))
    assert {arrays[row - 1]: value for (_, row, _), value in found.items()} == {
        "TRANSPOSE(A1:A3)-1": 2.0
    }
    assert given == {
        "A1+1": 2.0, "SUMPRODUCT((A1:A3>1)*A1:A3)": 5.0,
        "SUMPRODUCT(EXP(A1:A3))": pytest.approx(sum(map(math.exp, (1, 2, 3)))),
    }  # fmt: skip


def test_array_formulas_of_excel_365_are_computed() -> None:
    x = np.random.default_rng(0).normal(size=(3, 3))
    powers = np.exp(x)
    weights = powers / powers.sum(axis=1, keepdims=True)
    by_row = "_xlfn.BYROW({0},_xlfn.LAMBDA(_xlpm.r,SUM(_xlpm.r)))"
    let = "_xlfn.LET(_xlpm.s,EXP(A1:C3),_xlpm.s/{})".format(by_row.format("_xlpm.s"))
    arrays = {
        "EXP(A1:C3)/MMULT(EXP(A1:C3),TRANSPOSE(COLUMN(A1:C3)^0))": weights,
        "EXP(A1:C3)/" + by_row.format("EXP(A1:C3)"): weights,
        let: weights,
        "A1:C3-_xlfn.BYCOL(A1:C3,_xlfn.LAMBDA(_xlpm.c,MAX(_xlpm.c)))": x - x.max(axis=0),
        "A1:C3*(ROW(A1:C3)>=COLUMN(A1:C3))": np.tril(x),
    }
    cells = {(row + 1, column + 1): float(value) for (row, column), value in np.ndenumerate(x)}
    for text, wanted in arrays.items():
        one = Formula(text, 5, 1, 3, 3, array=True)
        asked = {("S", *cell): formula_of(one, cell) for cell in one.cells()}
        found = computed(asked, ["S"], {}, lambda sheet, *at: (cells[at], False))
        shown = np.array([found[("S", *cell)] for cell in one.cells()]).reshape(3, 3)
        np.testing.assert_allclose(shown, wanted, rtol=1e-13, err_msg=text)
