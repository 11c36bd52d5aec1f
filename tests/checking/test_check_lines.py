"""`attn-xl check` on lines of formulas: totals, moving means, runs of three, and what stands among them
or at their ends; each with the values that its formulas give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_check import kinds, table
from test_check_blocks import L, Rows, stored

from attn_xl.checking.check import check_workbook

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


@pytest.mark.parametrize(("mark", "found"), [(None, {"constant": "E3"}), (6.5, {"constant": "E3"})])
def test_a_constant_where_a_mark_is_missing(mark: Any, found: Found, tmp_path: Path) -> None:
    rows: Rows = [[*row, f"=AVERAGE(A{r}:D{r})"] for r, row in enumerate(numbers(6, 4), 1)]
    rows[2][1], rows[2][4] = mark, 99
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == found


@pytest.mark.parametrize(
    ("first", "formula", "left_out"),
    [
        (None, "=SUM({c}2:{c}5)", ""),
        (None, "=SUM({c}2:{c}4)", "A5:E5"),  # between the range and its sum
        (None, "=SUM({c}3:{c}5)", ""),  # nobody knows what stands in the first row
        (None, "=AVERAGE({c}3:{c}5)", "A2:E2"),  # shares of the whole are computed
        (2020, "=SUM({c}2:{c}5)", ""),  # years
    ],
)
def test_sums_that_leave_out_a_number(first: Any, formula: str, left_out: str, tmp_path: Path) -> None:
    rows: Rows = [[first and first + c for c in range(5)], *numbers(4, 5)]
    rows.append([formula.format(c=c) for c in "ABCDE"])
    if left_out == "A2:E2":
        rows += [[], *([f"={c}{r}/{c}$6" for c in "ABCDE"] for r in range(2, 6))]
    if first:
        rows += [[], *([f"={c}{r}*1" for c in "ABCDE"] for r in range(1, 6))]
    book = check_workbook(stored(tmp_path / "a.xlsx", rows))
    assert {(f.kind, f.cells) for f in book.findings} == ({("short", "A6:E6")} if left_out else set())
    assert all(f", {left_out}, of" in f.what for f in book.findings)


@pytest.mark.parametrize(
    ("after", "found"), [("=MAX(A{r}:C{r})", {}), ("=D{r}*2", {}), ("", {"short": "E1:E5"})]
)  # fmt: skip
def test_a_number_beside_a_sum_that_is_something_else(after: str, found: Found, tmp_path: Path) -> None:
    """Others leave it out too, or use it for itself: a bonus."""
    rows: Rows = [[*row, f"=SUM(A{r}:C{r})"] for r, row in enumerate(numbers(5, 4), 1)]
    for r, row in enumerate(rows, 1):
        row += [after.format(r=r)] if after else []
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == found


def test_shares_of_too_small_a_sum(tmp_path: Path) -> None:
    rows: Rows = [[*row, f"=A{r}/SUM(A$2:A$6)"] for r, row in enumerate(numbers(6, 1), 1)]
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {"short": "B1:B6"}
    rows = [[*row, f"=A{r}/SUM(A$2:A$6)"] for r, row in enumerate(numbers(6, 1)[:3], 1)]
    assert "short" not in kinds(stored(tmp_path / "b.xlsx", rows))


@pytest.mark.parametrize(
    ("formula", "fixed"),
    [
        ("=A$1*$F$1+1", True), ("=$A$1*$F$1+1", False),  # meant to stay
        ("=SUM(A$1:D$1)", True), ("=AVERAGE(A$1:A$6)", False),  # a line of means in a chart
        ("=A{r}-B$1", True), ("=A{r}/A$1", False),  # compared with the first
        ("=A{r}*F$1", False), ("=A{r}*I$1", False),  # a parameter; a base that others are made from
    ],
)  # fmt: skip
def test_a_dollar_too_many_in_a_line(formula: str, fixed: bool, tmp_path: Path) -> None:
    rows: Rows = [[*row, None, None, formula.format(r=r)] for r, row in enumerate(numbers(6, 4), 1)]
    rows[0][5] = 3
    for row in rows:
        row += [None, "=I1"]
    rows[0][8] = 2
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == ({"fixed": "G1:G6"} if fixed else {})


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (5, 4), (4, 5), (8, 5), (8, 8)])
@pytest.mark.parametrize("of_rows", [True, False])
def test_a_short_sum_where_rows_and_columns_are_summed(
    rows: int, columns: int, of_rows: bool, tmp_path: Path
) -> None:
    table = numbers(rows, columns)
    last = "ABCDEFGH"[columns - 1]
    for r, row in enumerate(table, 1):
        row.append(f"=SUM(A{r}:{last}{r})")
    table.append([f"=SUM({c}1:{c}{rows})" for c in "ABCDEFGHI"[: columns + 1]])
    assert kinds(stored(tmp_path / "good.xlsx", table)) == {}
    if of_rows:
        table[1][columns] = f"=SUM(B2:{last}2)"
    else:
        table[rows][1] = f"=SUM(B2:B{rows})"
    wrong = f"{'ABCDEFGHI'[columns]}2" if of_rows else f"B{rows + 1}"
    assert kinds(stored(tmp_path / "a.xlsx", table)) == {"pattern": wrong}


@pytest.mark.parametrize(
    ("formula", "at", "typed", "found"),
    [
        ("=A{r}*B{r}", 1, 7.5, "constant"), ("=A{r}*B{r}", 7, 7.5, "constant"),
        ("=A{r}*B{r}", 1, 1, ""),  # a usual first value
        ("=A{r}*B{r}+C{q}", 1, 7.5, ""),  # a recurrence
        ("=A{r}/A$1*100", 1, 100, ""), ("=A{r}/A$1*100", 7, 90, "constant"),  # compared with the first
    ],
)  # fmt: skip
def test_a_number_typed_at_the_end_of_a_line(
    formula: str, at: int, typed: float, found: str, tmp_path: Path
) -> None:
    rows: Rows = [[*row, formula.format(r=r, q=r - 1)] for r, row in enumerate(numbers(7, 2), 1)]
    rows[0][2] = 2 if "{q}" in formula else rows[0][2]
    rows[at - 1][2] = typed
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == ({found: f"C{at}"} if found else {})


def test_a_number_under_a_line_that_ends(tmp_path: Path) -> None:
    """What it would be computed from goes on, or ended before it."""
    rows: Rows = [[*row, f"=A{r}*B{r}"] for r, row in enumerate(numbers(8, 2), 1)]
    rows[6][2], rows[7][2] = 7.5, None
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {}


def test_formulas_by_turns_are_no_slips(tmp_path: Path) -> None:
    rows: list[list[Any]] = [[n / 4, f"=A{n}*2" if n % 2 else f"=A{n}+1"] for n in range(1, 10)]
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {}
    rows = [
        [0.1, *range(1, 9)],
        [2.5, *(f"={'COS' if n % 2 else 'SIN'}($A2*{L[n]}1)" for n in range(1, 9))],
    ]
    assert kinds(stored(tmp_path / "b.xlsx", rows)) == {}


@pytest.mark.parametrize("formula", ["=RAND()*$A$1", "=INDEX($A$1:$A$5,RANDBETWEEN(1,5))"])
def test_random_numbers_need_no_operand_that_moves(formula: str, tmp_path: Path) -> None:
    rows: list[list[Any]] = [[n, None, formula] for n in range(1, 6)]
    assert "fixed" not in kinds(table(tmp_path / "a.xlsx", rows))


@pytest.mark.parametrize(("wide", "found"), [(7, {}), (3, {"sliding": "A10:C12"})])
def test_windows_within_their_numbers(wide: int, found: dict[str, str], tmp_path: Path) -> None:
    """Three filters go over a row of seven numbers; or three rows of weights over a row of three."""
    rows: list[list[Any]] = [[n % 5 + 0.5 for n in range(wide)], []]
    rows += [[r + c / 2 for c in range(3)] for r in range(3)]
    rows += [[] for _ in range(4)]
    rows += [[f"=SUMPRODUCT({L[c]}$1:{L[c + 2]}$1,$A{r}:$C{r})" for c in range(3)] for r in (3, 4, 5)]
    said = kinds(stored(tmp_path / "a.xlsx", rows))
    assert {kind: cells for kind, cells in said.items() if kind == "sliding"} == found


def test_a_formula_of_an_infinite_number(tmp_path: Path) -> None:
    kinds(table(tmp_path / "a.xlsx", [["=A5+9E999"], ["=A6+1000"]]))


@pytest.mark.parametrize(("sums", "wrong"), [("=SUM(A6:C6)", False), ("=SUM(A6:D6)", True)])
def test_shares_of_a_sum_that_takes_in_the_maximum(sums: str, wrong: bool, tmp_path: Path) -> None:
    rows: Rows = [[x / 9 for x in row] for row in numbers(4, 3)]
    rows.append([])
    for r in range(1, 5):
        rows.append([*(f"=EXP({c}{r})" for c in "ABC"), f"=MAX(A{r + 5}:C{r + 5})"])
        rows[-1].append(sums.replace("6", str(r + 5)))
    rows += [[], *([f"={c}{r}/$E{r}" for c in "ABC"] for r in range(6, 10))]
    found = kinds(stored(tmp_path / "a.xlsx", rows))
    assert ("softmax" in found) == wrong


@pytest.mark.parametrize(
    ("at", "other", "rows", "found"),
    [
        (3, "=SUM(D1:D2)", 3, {}),  # the sum of both
        (3, "=ROUND(SUM(A3:C3),0)", 3, {}),
        (3, 99, 4, {}),  # the numbers go on
    ],
)  # fmt: skip
def test_an_end_of_three_cells(at: int, other: Any, rows: int, found: Found, tmp_path: Path) -> None:
    table: Rows = [[*row, f"=SUM(A{r}:C{r})"] for r, row in enumerate(numbers(rows, 3), 1)]
    table[at - 1][3], table[3:] = other, [row[:3] for row in table[3:]]
    assert kinds(stored(tmp_path / "a.xlsx", table)) == found


def test_two_columns_apart_are_two_blocks(tmp_path: Path) -> None:
    """Through two columns that differ some slope leads always: the `$` is seen all the same."""
    rows: Rows = [[*row, f"=A{r}-B$1", None, f"=D{r}-C{r}"] for r, row in enumerate(numbers(6, 3), 1)]
    for r, row in enumerate(rows, 1):
        row[4] = f"=A{r}*2"
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {"fixed": "D1:D6"}


@pytest.mark.parametrize(
    ("line", "gaps", "found"),
    [
        ("=A{r}*B{r}", [4], {"hole": "C4"}),
        ("=A{r}*B{r}", [3, 6], {"hole": "C3"}),
        ("=A{r}*B{r}", [5], {"hole": "C5"}),  # in the middle, and nothing before the first
        ("=A{r}*B{r}", [1, 6], {}),  # sections, each without its first
        ("=A{r}*B{r}", [2, 4, 6, 8], {}),  # every second
        ("=IF(ISBLANK(C4),1,A{r}*B{r})", [4], {}),  # to be filled in
    ],
)  # fmt: skip
def test_a_hole_in_a_line(line: str, gaps: list[int], found: Found, tmp_path: Path) -> None:
    for turned in (False, True):
        rows: Rows = [
            [*row, None if r in gaps else line.format(r=r)] for r, row in enumerate(numbers(9, 2), 1)
        ]
        if turned and "ISBLANK" not in line and "$" not in line:
            rows = [[row[k] for row in rows] for k in range(3)]
            cells = "ABCDEFGHI"
            rows[2] = [None if x is None else f"={c}1*{c}2" for c, x in zip(cells, rows[2])]
            found = dict.fromkeys(found, f"{cells[gaps[0] - 1]}3")
        assert kinds(stored(tmp_path / "a.xlsx", rows)) == found


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        ("=SUM(B1:B4)", {"short": "B7"}),  # C7 sums all six
        ("=SUM(B1:B6)", {}),
        ("=SUM(B1:B2)", {}),  # a part of them
    ],
)
def test_a_total_beside_others_that_stops_short(formula: str, wanted: Found, tmp_path: Path) -> None:
    rows: Rows = [[f"x{r}", *pair, f"=B{r}-C{r}"] for r, pair in enumerate(numbers(6, 2), 1)]
    assert kinds(stored(tmp_path / "a.xlsx", [*rows, ["total", formula, "=SUM(C1:C6)"]])) == wanted


@pytest.mark.parametrize("sign", ["+3", "-0.5"])
def test_a_number_that_one_formula_adds_is_a_warning(sign: str, tmp_path: Path) -> None:
    rows: Rows = [[*pair, f"=A{r}*B{r}"] for r, pair in enumerate(numbers(6, 2), 1)]
    rows[3][2] += sign
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {"adjusted": "C4"}


@pytest.mark.parametrize("formula", ["=-5", "=+5"])
def test_a_number_typed_as_a_formula_is_no_adjustment(formula: str, tmp_path: Path) -> None:
    rows: Rows = [[*pair, f"=A{r}*B{r}"] for r, pair in enumerate(numbers(6, 2), 1)]
    rows[3][2] = formula
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {"pattern": "C4"}


def test_a_typed_line_that_the_block_below_reads_is_an_operand(tmp_path: Path) -> None:
    years, first, second = [1.0, 2.0, 3.0, 4.0], *numbers(2, 4, 5)
    net: Rows = [[f"={c}{r}*(1-$F$1)" for c in "ABCD"] for r in (2, 3)]
    assert kinds(stored(tmp_path / "a.xlsx", [[*years, None, 0.2], first, second, *net])) == {}
