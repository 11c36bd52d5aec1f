"""Where `attn-xl check` must not take its engine's word: what is left of squares, dates from 1904,
cells that refer to themselves, other workbooks; and constants, whichever engine recalculates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import needs_libreoffice, thorough
from openpyxl.worksheet.formula import ArrayFormula
from test_check import kinds, table
from test_tables import rewrite

import attn_xl
from attn_xl.checking.check import check_workbook
from attn_xl.settings import Engine
from attn_xl.workbook.write import write_workbook

WORKBOOK, SHEET = "xl/workbook.xml", "xl/worksheets/sheet1.xml"


def with_values(path: Path, values: dict[str, float]) -> Path:
    """A workbook whose formulas, in these cells, have these values."""

    def stored(xml: bytes) -> bytes:
        for cell, value in values.items():
            before, mark, after = xml.partition(f'<c r="{cell}"'.encode())
            assert mark
            formula, end, rest = after.partition(b"</f>")
            assert end
            rest = rest.removeprefix(b"<v />").removeprefix(b"<v/>").removeprefix(b"<v></v>")
            xml = before + mark + formula + end + f"<v>{value!r}</v>".encode() + rest
        return xml

    return rewrite(path, SHEET, stored)


LARGE = [1000000.1, 1000000.2, 1000000.3, 1000000.15]


@pytest.mark.parametrize("function", ["VAR", "VARP", "STDEV", "STDEVP", "DEVSQ"])
def test_squares_that_cancel(function: str, tmp_path: Path) -> None:
    exact = np.array(LARGE) - 1e6
    value = {
        "VAR": exact.var(ddof=1), "VARP": exact.var(), "STDEV": exact.std(ddof=1),
        "STDEVP": exact.std(), "DEVSQ": exact.var() * 4,
    }[function]  # fmt: skip
    rows: list[list[Any]] = [[x] for x in LARGE]
    rows += [[f"={function}(A1:A4)"], ["=A5*2"]]
    right = table(tmp_path / "right.xlsx", rows)
    right = with_values(right, {"A5": float(value), "A6": 2 * float(value)})
    assert kinds(right) == {"unchecked": "A5:A6"}
    stale = with_values(table(tmp_path / "stale.xlsx", rows), {"A5": 900.5, "A6": 1801.0})
    assert kinds(stale) == {"value": "A5"}


def test_norms_of_large_numbers_are_not_called_wrong(tmp_path: Path) -> None:
    x = np.array([[1e8, -1e8], [1.0, 2.0], [12345.678, -0.5]])
    tables = attn_xl.read_tables({"s": x})
    settings = attn_xl.Settings(model="encoder", random_weights=3)  # type: ignore[arg-type]
    write_workbook(attn_xl.attend(tables, settings), tmp_path / "o.xlsx", settings=settings)
    assert set(kinds(tmp_path / "o.xlsx")) == {"unchecked"}


def test_dates_from_1904(tmp_path: Path) -> None:
    path = table(tmp_path / "a.xlsx", [[43831.0, "=YEAR(A1)", "=A1*2"]])
    path = with_values(path, {"B1": 2024.0, "C1": 87662.0})
    assert kinds(path) == {"value": "B1"}
    path = rewrite(
        path, WORKBOOK, lambda xml: xml.replace(b"<workbookPr ", b'<workbookPr date1904="1" ')
    )
    assert kinds(path) == {"unchecked": "B1"}


def test_what_refers_to_itself(tmp_path: Path) -> None:
    path = with_values(
        table(tmp_path / "a.xlsx", [["=A1+1", "=A2/2"], ["=B1+2", "=A1*3"]]),
        {"A1": 0.0, "B1": 0.0, "A2": 0.0, "B2": 0.0},
    )
    found = check_workbook(path).findings
    assert {f.kind for f in found} == {"error"}
    assert {f.cells for f in found} == {"A1", "B1", "A2", "B2"}
    assert "circular reference" in found[0].what
    again = rewrite(path, WORKBOOK, lambda xml: xml.replace(b"<calcPr", b'<calcPr iterate="1"'))
    assert kinds(again) == {"unchecked": "A1:B2"}


@pytest.mark.parametrize("text", [r"='C:\x\[b.xlsx]S 1'!A1", "='[1]S 1'!A1+2", "=[1]S!A1"])
def test_other_workbooks_are_not_there_to_be_checked(text: str, tmp_path: Path) -> None:
    path = with_values(table(tmp_path / "a.xlsx", [[text, "=1+1"]]), {"A1": 5.0, "B1": 2.0})
    (found,) = check_workbook(path).findings
    assert (found.kind, found.cells) == ("unchecked", "A1")
    assert "another workbook" in found.what


@pytest.mark.parametrize(
    "engine", [Engine.ironcalc, pytest.param(Engine.libreoffice, marks=[thorough, needs_libreoffice])]
)
def test_a_right_constant_is_right_with_either_engine(engine: Engine, tmp_path: Path) -> None:
    rows: list[list[Any]] = [[n, f"=A{n}*2"] for n in range(1, 9)]
    rows[3][1] = 8
    path = table(tmp_path / "a.xlsx", rows)
    values = {f"B{n}": 2.0 * n for n in range(1, 9) if n != 4}
    assert kinds(with_values(path, values), engine=engine) == {"frozen": "B4"}


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("AVERAGE(IF(A1:A6>0,A1:A6))", 1.6875), ("MIN(IF(A1:A6>0,A1:A6))", 0.25),
        ('LOOKUP(2,1/(B1:B6="b"),A1:A6)', -0.5), ("SUM(CHOOSE({1,2},A1:A6,A1:A6))", 8.5),
    ],
)  # fmt: skip
def test_what_arrays_leave_out(formula: str, value: float, tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    for x, text in zip([1.5, -2.0, 3.0, -0.5, 0.25, 2.0], "abcbac"):
        book.worksheets[0].append([x, text])
    book.worksheets[0]["D1"] = ArrayFormula("D1", f"={formula}")
    book.save(path)
    assert set(kinds(with_values(path, {"D1": value}))) <= {"unchecked"}


@pytest.mark.parametrize("formula", ["=A1*2", "=VAR(A1:A2)"])
def test_numbers_whose_squares_are_infinite(formula: str, tmp_path: Path) -> None:
    path = table(tmp_path / "a.xlsx", [[1e200], [3e200], [formula]])
    assert kinds(with_values(path, {"A3": 7e199})) in ({"value": "A3"}, {"unchecked": "A3"})
