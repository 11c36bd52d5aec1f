"""`attn-xl check` on blank cells and text: slips are warnings, tables filled here and there notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import xlsxwriter
from test_check import call, table
from test_check_blocks import stored

from attn_xl.checking.check import check_workbook

Rows = list[list[Any]]


def found(path: Path) -> dict[str, str]:
    """Of the findings on blanks and text, the kind and the cells."""
    kinds = ("blank", "text", "sparse")
    return {f.kind: f.cells for f in check_workbook(path).findings if f.kind in kinds}


def register(paid: list[int], earned: list[int], lines: int = 9) -> Rows:
    """Lines with a payment in B, an income in C, both or none, and what is left in D."""
    rows: Rows = [["day", "paid", "earned", "left"], ["start", None, None, 100]]
    for row in range(3, lines + 3):
        first = 5 if row in paid else None
        rows.append([f"day {row}", first, 7 if row in earned else None, f"=D{row - 1}-B{row}+C{row}"])
    return rows


@pytest.mark.parametrize(
    ("paid", "earned", "kind", "cells"),
    [
        ([3, 5, 8, 11], [4, 6, 7, 9, 10], "sparse", "D3:D11"),  # by turns
        ([*range(3, 12)], [3, 4, 5, 6, 8, 9, 10, 11], "blank", "D7"),  # a lone one
        ([*range(3, 12)], [3, 4, 5, 6, 7], "blank", "D8:D11"),  # after the last
        ([*range(3, 12)], [], "blank", "D3:D11"),  # all
        ([3, 4, 5, 6, 7, 10, 11], [3, 4, 5, 6, 7, 10, 11], "sparse", "D8:D9"),  # free days
    ],
)
def test_a_register_is_filled_here_and_there(
    paid: list[int], earned: list[int], kind: str, cells: str, tmp_path: Path
) -> None:
    result = check_workbook(stored(tmp_path / "a.xlsx", register(paid, earned))).findings
    assert {f.kind for f in result} <= {kind, "fixed"}
    assert {f.severity for f in result if f.kind == kind} == {"note" if kind == "sparse" else "warning"}
    if kind == "sparse":
        assert [f.cells for f in result] == [cells]


def test_free_days_have_labels(tmp_path: Path) -> None:
    rows: Rows = [["day", "from", "to", "hours"]]
    rows += [[f"d{r}", 8, 16, f"=C{r}-B{r}"] for r in range(2, 7)]
    rows += [[f"d{r}", None, None, f"=C{r}-B{r}"] for r in (7, 8)]
    assert found(stored(tmp_path / "a.xlsx", rows)) == {"sparse": "D7:D8"}
    rows[6][0] = rows[7][0] = None
    assert set(found(stored(tmp_path / "b.xlsx", rows))) == {"blank"}


def test_the_edge_of_a_triangle(tmp_path: Path) -> None:
    rows: Rows = [["Pascal"]] + [
        [1, *(f"={'ABCDEFG'[c - 1]}{r - 1}+{'ABCDEFG'[c]}{r - 1}" for c in range(1, r - 1))]
        for r in range(2, 9)
    ]
    assert set(found(stored(tmp_path / "a.xlsx", rows))) == {"sparse"}


@pytest.mark.parametrize(
    ("cells", "formula", "expected"),
    [
        ([1, None, 3, None], "=SUM(A1:A4)", {"sparse": "C1"}),
        ([1, None, 3, None], "=SUMPRODUCT(A1:A4)", {"blank": "C1"}),
        ([1, None, None, None], "=SUM(A1:A4)", {"blank": "C1"}),
        ([None, None, None, None], "=AVERAGE(A1:A4)", {"blank": "C1"}),
        ([1, 2, "word", 3], "=SUM(A1:A4)", {"text": "C1"}),
        ([1, 2, 3, None], "=SUMPRODUCT((A1:A4=2)*1)", {}),
        (["a", "b", "a", "c"], '=SUMPRODUCT((A1:A4="a")*1)', {}),
        (["a", "b", "a", "c"], "=SUMPRODUCT(--(A1:A4=B1:B4))", {}),
        (["a", "b", "a", "c"], "=SUMPRODUCT((A1:A4=B2)*A1)", {"text": "C1"}),
        ([1, 2, 3, 4], "=SUMPRODUCT((A1:A4=D7)*A1:A4)", {"blank": "C1"}),
    ],
)
def test_ranges_and_what_is_only_compared(
    cells: list[Any], formula: str, expected: dict[str, str], tmp_path: Path
) -> None:
    rows: Rows = [[cell, "a"] for cell in cells]
    rows[0].append(formula)
    assert found(table(tmp_path / "a.xlsx", rows)) == expected


def test_a_sum_leaves_out_the_text_that_formulas_give(tmp_path: Path) -> None:
    """A plan whose last lines are not filled in yet."""
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    sheet = book.add_worksheet("s")
    for row in range(5):
        if row < 3:
            sheet.write(row, 0, row)
        sheet.write_formula(
            row, 1, f'=IF(A{row + 1}="","-",A{row + 1}*2)', None, row * 2 if row < 3 else "-"
        )
    sheet.write_formula("B7", "=SUM(B1:B5)", None, 6)
    assert not book.close()
    assert found(tmp_path / "a.xlsx") == {"sparse": "B7"}
    assert call("check", tmp_path / "a.xlsx") == 0
