"""`attn-xl check` on lines of formulas: totals, moving means, runs of three, and what stands among them
or at their ends; each with the values that its formulas give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_check import kinds
from test_check_blocks import Rows, stored

Found = dict[str, str]


def numbers(rows: int, columns: int, start: int = 0) -> Rows:
    """Numbers without a pattern."""
    return [
        [((r * 37 + c * 23 + start) * 41 % 97) / 4 + 1 for c in range(columns)] for r in range(rows)
    ]


@pytest.mark.parametrize(
    ("column", "total", "found"),
    [
        ("=A{r}/B{r}", "=A5/B5", {}), ("=A{r}+B{r}", "=MAX(C1:C4)", {"pattern": "C5"}),
        (7, "=D5/B5", {}), (7, "=D2/B2", {"pattern": "C5"}), (7, "sum", {}),
    ],
)  # fmt: skip
def test_what_stands_among_totals(column: Any, total: str, found: Found, tmp_path: Path) -> None:
    """A column of quotients goes on, a mean price comes from the totals, a label is one."""
    rows: Rows = numbers(4, 6)
    for r, row in enumerate(rows, 1):
        row[2] = column.format(r=r) if isinstance(column, str) else column + r
    rows.append([f"=SUM({c}1:{c}4)" for c in "ABCDEF"])
    rows[4][2] = total
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == found


@pytest.mark.parametrize("first", [None, 3.5])
def test_moving_means_begin_later(first: Any, tmp_path: Path) -> None:
    """Three rows are taken before there are five; the header is no number."""
    rows: Rows = [["value", "three", "five"], *([*row, None, None] for row in numbers(12, 1))]
    for r in range(3, 13):
        rows[r - 1][1] = f"=AVERAGE(A{r - 1}:A{r + 1})"
    for r in range(4, 12):
        rows[r - 1][2] = f"=AVERAGE(A{r - 2}:A{r + 2})"
    rows[2][2] = first
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {}


def test_a_window_that_is_shorter_at_first(tmp_path: Path) -> None:
    rows: Rows = [["value", "mean"], *([*row, None] for row in numbers(9, 1))]
    rows[1][1] = "=A2"
    for r in range(3, 11):
        rows[r - 1][1] = f"=AVERAGE(A{max(r - 2, 2)}:A{r})"
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {}


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        ("=SUMPRODUCT(INDEX($A$1:$D$5,ROW(),0),$A$1:$D$1)", {}),
        ("=SUMPRODUCT(INDEX($A$1:$D$5,3,0),$A$1:$D$1)", {"fixed": "F1:F5"}),
    ],
)  # fmt: skip
def test_formulas_that_move_by_themselves(formula: str, found: Found, tmp_path: Path) -> None:
    rows: Rows = [[*row, None, formula] for row in numbers(5, 4)]
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == found


@pytest.mark.parametrize(("last", "found"), [(0, set()), (2, {"constant", "frozen"})])
def test_the_diagonal_of_a_table_of_distances(last: int, found: set[str], tmp_path: Path) -> None:
    rows: Rows = [[*row, None] for row in numbers(5, 2)]
    for r in range(5):
        rows[r] += [f"=ABS($A{r + 1}-$A${c + 1})" if c > r else 0 if c == r else None for c in range(5)]
    rows[3][6] = last
    assert set(kinds(stored(tmp_path / "a.xlsx", rows))) == found


def test_a_rate_that_changes(tmp_path: Path) -> None:
    rows: Rows = [[row[0], f"=B{r}", f"=A{r + 1}*B{r + 1}"] for r, row in enumerate(numbers(9, 1))]
    rows[0][1], rows[5][1] = 0.03, 0.035
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {"restart": "B6"}
    rows[5][1] = 0.03
    assert kinds(stored(tmp_path / "b.xlsx", rows)) == {"frozen": "B6"}


@pytest.mark.parametrize(("other", "found"), [("=SUM(C1:C3)", {}), ("=SUM(C1:C2)", {"pattern": "C4"})])
def test_a_sum_written_in_two_ways(other: str, found: Found, tmp_path: Path) -> None:
    rows = numbers(3, 5)
    rows.append([other if c == "C" else f"={c}1+{c}2+{c}3" for c in "ABCDE"])
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == found


@pytest.mark.parametrize(("mark", "found"), [(None, {"constant": "E3"}), (6.5, {"constant": "E3"})])
def test_a_constant_where_a_mark_is_missing(mark: Any, found: Found, tmp_path: Path) -> None:
    rows: Rows = [[*row, f"=AVERAGE(A{r}:D{r})"] for r, row in enumerate(numbers(6, 4), 1)]
    rows[2][1], rows[2][4] = mark, 99
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == found
