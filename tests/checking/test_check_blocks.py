"""`attn-xl check` on slips that a whole block shares, and on what only looks like one: each with the
values that its formulas give, as a spreadsheet program stores them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from planting import to_file
from test_check import call, kinds, table, written

from attn_xl.checking.check import check_workbook
from attn_xl.spreadsheets.engines import IronCalc
from attn_xl.spreadsheets.formulas import ERROR, NUMBER, WIDTH, read_formulas

Rows = list[list[Any]]
L = "ABCDEFGHIJKL"


def stored(path: Path, rows: Rows, arrays: dict[str, str] | None = None) -> Path:
    """A table whose formulas have the values that IronCalc gives them when they are entered. `arrays`:
    array formulas by their ranges."""
    from openpyxl.worksheet.formula import ArrayFormula

    table(path, rows)
    book = openpyxl.load_workbook(path)
    for cells, text in (arrays or {}).items():
        book["s"][cells.partition(":")[0]] = ArrayFormula(cells, text)
        for row in book["s"][cells]:
            for cell in row:
                if cell.coordinate != cells.partition(":")[0]:
                    cell.value = 0
    book.save(path)
    engine, read = IronCalc(path), read_formulas(path)
    sheet = read.sheets["s"]
    for place in np.flatnonzero(sheet.formulas >= 0).tolist():
        key = int(sheet.keys[place])
        formula = read.formulas[int(sheet.formulas[place])]
        if formula.rows * formula.columns == 1:
            engine.set_formula("s", key // WIDTH, key % WIDTH + 1, formula.text)
    engine.evaluate()
    for place in np.flatnonzero((sheet.formulas >= 0) | (sheet.spilled >= 0)).tolist():
        key = int(sheet.keys[place])
        value = engine.value("s", key // WIDTH, key % WIDTH + 1)
        if isinstance(value, (int, float)):
            sheet.kinds[place], sheet.numbers[place] = NUMBER, value
        else:
            sheet.kinds[place], sheet.texts[place] = ERROR, str(value)
    return to_file(read, path)


def grid(formula: str, rows: int = 5, columns: int = 4, first: int = 1) -> Rows:
    """A block of one formula from F1 on, beside numbers in A1:D5; {c} and {r} are a number's column and
    row, {f} the block's column."""
    out: Rows = []
    for r in range(first, first + rows):
        numbers: list[Any] = [((r * 7 + c * 5) % 11) / 4 - 1 for c in range(4)]
        cells = [formula.format(c=L[c], r=r, f=L[5 + c]) for c in range(columns)]
        out.append([*numbers, None, *cells])
    return out


def under(rows: Rows, formula: str, count: int = 5, columns: int = 4) -> Rows:
    """Blank, and another block, from A7 on."""
    lines = [
        [formula.format(c=L[c], r=r, f=L[5 + c]) for c in range(columns)] for r in range(1, count + 1)
    ]
    return [*rows, [], *lines]


@pytest.mark.parametrize("sample", ["multi-head", "projections"])
@pytest.mark.parametrize("formulas", ["cell", "array"])
def test_nothing_is_found_on_a_canvas(sample: str, formulas: str, tmp_path: Path) -> None:
    path = written(tmp_path, sample, controls=True, layout="canvas", formulas=formulas)
    assert not check_workbook(path).findings


@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        ("=SUMPRODUCT(EXP(A1:D1))", ""), ("=SUM(MMULT(A1:D1,EXP(A2:A5)))", ""),
        ("=SUMPRODUCT(ROUND(A1:D1,1))", "unchecked"), ("=SUMPRODUCT(--ISNUMBER(A1:D1))", "unchecked"),
    ],
)  # fmt: skip
def test_functions_of_each_cell_of_an_array(formula: str, kind: str, tmp_path: Path) -> None:
    """IronCalc reads them otherwise in a file than when they are entered, or not at all."""
    rows: Rows = [[0.5, 1.5, -1.0, 2.0, None, formula], [0.1], [0.2], [0.3], [0.4]]
    path = stored(tmp_path / "a.xlsx", rows)
    if kind:
        book = read_formulas(path)
        at = np.flatnonzero(book.sheets["s"].formulas >= 0)
        book.sheets["s"].kinds[at], book.sheets["s"].numbers[at] = NUMBER, 4.0
        to_file(book, path)
    assert kinds(path) == ({kind: "F1"} if kind else {})
    if not kind:
        book = read_formulas(path)
        book.sheets["s"].numbers[book.sheets["s"].formulas >= 0] += 0.1
        assert kinds(to_file(book, path)) == {"value": "F1"}


@pytest.mark.parametrize(
    ("formula", "fixed"),
    [
        ("={c}{r}-$K$1", True), ("={c}{r}-$K{r}", False),  # the means beside the block
        ("={c}{r}+{c}$7", False), ("={c}{r}+$A$7", True),  # a bias under it, as many columns
        ("={c}{r}+{c}$9", True),  # a table as large as the block
        ("={c}{r}-{c}$1", False), ("={c}{r}/$A$1", False),  # the first for a measure
        ("=EXP({c}{r}-MAX($A$1:$D$1))", True), ("=EXP({c}{r}-MAX($A{r}:$D{r}))", False),
        ("={c}{r}*$L$1", False), ("=VLOOKUP($L{r},$A$1:$D$5,2,FALSE)", True),
    ],
)  # fmt: skip
def test_a_dollar_too_many_in_a_whole_block(formula: str, fixed: bool, tmp_path: Path) -> None:
    """Beside the means in K of five words; under it a bias, and a table as large as the words."""
    rows = grid(formula)
    for r, row in enumerate(rows, 1):
        row += [None, f"=AVERAGE(A{r}:D{r})", 0.5 if r == 1 else None]
        if "VLOOKUP" in formula:
            row[-1] = row[0]
    rows += [[], [1, 2, 3, 4], []]
    rows += [[((r * 3 + c) % 7) / 2 for c in range(4)] for r in range(5)]
    found = kinds(stored(tmp_path / "a.xlsx", rows))
    assert found == ({"fixed": "F1:I5"} if fixed else {})


@pytest.mark.parametrize(
    ("powers", "shares", "wrong"),
    [
        ("=EXP({c}{r})", "={f}{r}/SUM($F{r}:$I{r})", ""),
        ("=EXP({c}{r})", "={f}{r}/SUM($F$1:$I$5)", ""),
        ("=EXP({c}{r})", "={f}{r}/(SUM($F{r}:$I{r})+0.000001)", ""),
        ("=EXP({c}{r})", "={f}{r}/($F{r}+$G{r}+$H{r}+$I{r})", ""),
        ("=EXP({c}{r})", "={f}{r}/($F{r}+$G{r}+$H{r}+$I{r}+0.000001)", ""),
        ("=EXP({c}{r})", "=2/({f}{r}+$G{r})", ""),
        ("=EXP({c}{r})", "={f}{r}/SUM($F{r}:$H{r})", "A7:D11"),
        ("=EXP({c}{r})", "={f}{r}/($F{r}+$G{r}+$H{r})", "A7:D11"),
        ("=EXP({c}{r})", "={f}{r}/SUM($F$1:$I$1)", "A7:D11"),
        ("={c}{r}", "=EXP({f}{r})/SUMPRODUCT(EXP($F{r}:$I{r}))", ""),
        ("={c}{r}", "=EXP({f}{r})/(EXP($F{r})+EXP($G{r})+EXP($H{r})+EXP($I{r}))", ""),
        ("={c}{r}", "=EXP({f}{r})/SUMPRODUCT(EXP($F{r}:$H{r}))", "A7:D11"),
        ("={c}{r}", "=EXP({f}{r})/(EXP($F{r})+EXP($G{r})+EXP($H{r}))", "A7:D11"),
        ("={c}{r}", "=EXP({f}{r})/(EXP({f}{r})+1)", ""),  # a sigmoid
        ("={c}{r}", "=EXP({f}{r})/SUM(EXP($F{r}),EXP($G{r}),EXP($H{r}),EXP($I{r}))", ""),
        ("={c}{r}", "=EXP({f}{r})/SUM(EXP($F{r}),EXP($G{r}),EXP($H{r}))", "A7:D11"),
        ("=IF({c}{r}>-1,EXP({c}{r}),0)", "={f}{r}/($F{r}+$G{r}+$H{r}+$I{r})", ""),
        ("=IF({c}{r}>-1,EXP({c}{r}),0)", "={f}{r}/($F{r}+$G{r}+$H{r})", "A8:D11"),
        ("=ROUND(EXP({c}{r}),3)", "={f}{r}/($F{r}+$G{r}+$H{r})", "A7:D11"),
    ],
)
def test_shares_of_exponentials(powers: str, shares: str, wrong: str, tmp_path: Path) -> None:
    found = kinds(stored(tmp_path / "a.xlsx", under(grid(powers), shares)))
    assert bool({"softmax", "short", "fixed"} & set(found)) == bool(wrong)
    assert wrong or not found


@pytest.mark.parametrize(("times", "wrong"), [("", ""), ("*1.02", "A7:D11"), ("+0.000001", "")])
def test_a_sum_that_is_not_quite_one(times: str, wrong: str, tmp_path: Path) -> None:
    rows = grid("=EXP({c}{r})")
    for r, row in enumerate(rows, 1):
        row += [None, f"=SUM(F{r}:I{r}){times}"]
    found = kinds(stored(tmp_path / "a.xlsx", under(rows, "={f}{r}/$K{r}")))
    assert found == ({"softmax": wrong} if wrong else {})


@pytest.mark.parametrize(("row", "column"), [(0, 5), (2, 7), (4, 8)])
def test_a_blank_cell_among_formulas(row: int, column: int, tmp_path: Path) -> None:
    rows = grid("={c}{r}*2")
    rows[row][column] = None
    cell = f"{L[column]}{row + 1}"
    assert kinds(stored(tmp_path / "hole.xlsx", rows)) == {"hole": cell}
    asked = [*rows, [], [f'=IF(ISBLANK({cell}),1,0)']]  # fmt: skip
    assert kinds(stored(tmp_path / "asked.xlsx", asked)) == {}
    rows[row][column - 5] = None
    assert "hole" not in kinds(stored(tmp_path / "given.xlsx", rows))


def test_what_is_blank_by_half_has_no_holes(tmp_path: Path) -> None:
    """A triangle, as masked scores are drawn."""
    rows = grid("={c}{r}*2")
    for r, row in enumerate(rows):
        row[6 + r :] = []
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {}


@pytest.mark.parametrize(("last", "found"), [("=SUM(F1:F4)", False), ("=EXP(A9)", True)])
def test_the_end_of_a_line(last: str, found: bool, tmp_path: Path) -> None:
    rows: Rows = [[0.5 + r, None, None, None, None, f"=EXP(A{r + 1})"] for r in range(5)]
    rows[4][5] = last
    rows += [[], [], [], [1]]
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == ({"pattern": "F5"} if found else {})


@pytest.mark.parametrize(
    ("typed", "after", "kind"),
    [
        (0.6, "=A{r}/F{r}", "constant"), (1.5**2, "=A{r}/F{r}", "frozen"), (0.6, "=F{r}+1", "constant"),
        (0.6, "=SUM(F$1:F$5)", "constant"), (0.6, "", "constant"), (1, "", ""),
    ],
)  # fmt: skip
def test_a_constant_at_the_end_of_a_line(typed: float, after: str, kind: str, tmp_path: Path) -> None:
    """It is one of the line where other formulas use it as they use the line."""
    rows: Rows = [[1.5 + r, None, None, None, None, f"=A{r + 1}^2"] for r in range(5)]
    for r, row in enumerate(rows, 1):
        row += [after.format(r=r)] if after else []
    rows[0][5] = typed
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == ({kind: "F1"} if kind else {})


def test_the_first_of_a_series_is_given(tmp_path: Path) -> None:
    rows: Rows = [[0.5 + r, f"=B{r}*2+A{r}", f"=B{r + 1}/3"] for r in range(6)]
    rows[0][1] = 7
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {}


def test_a_line_under_a_block_of_copies_is_something_else(tmp_path: Path) -> None:
    """A bias under weights, both drawn again; what stands under the weights is blank."""
    rows: Rows = [[r, r + 1, None, f"=A{r}", f"=B{r}"] for r in range(1, 5)]
    rows += [[None, None, None, "=A8", "=B8"], [], [], [7, 8]]
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {}


@pytest.mark.parametrize(("off", "found"), [(1e-8, {}), (1e-4, {"value": "B1"})])
def test_what_an_engine_computes_roughly(off: float, found: dict[str, str], tmp_path: Path) -> None:
    """IronCalc's normal distribution has ten digits; what is made from it may have fewer."""
    path = stored(tmp_path / "a.xlsx", [["=NORMSDIST(-1.3)", "=A1-0.0967", "=2*3"]])
    book = read_formulas(path)
    book.sheets["s"].numbers[1] *= 1 + off
    assert kinds(to_file(book, path)) == found
    book.sheets["s"].numbers[2] *= 1 + 1e-8
    assert kinds(to_file(book, path))["value"] == found.get("value", "C1")


def test_where_errors_begin(tmp_path: Path) -> None:
    rows = under(grid("={c}{r}*2"), "={f}{r}+1")
    rows[1][6] = "=B2/0"
    found = check_workbook(stored(tmp_path / "a.xlsx", rows)).findings
    said = {f.what for f in found if f.kind == "error"}
    assert said == {"#DIV/0!, which begins in G2"}


def test_json_names_every_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows: Rows = [["=1/0" if (r + c) % 2 else None for c in range(6)] for r in range(6)]
    path = stored(tmp_path / "a.xlsx", rows)
    assert call("check", path, "--json") == 1
    (finding,) = json.loads(capsys.readouterr().out)[0]["findings"]
    assert len(finding["cells"].split(", ")) == 18
    assert call("check", path) == 1
    assert "A2 and 14 more: " in capsys.readouterr().out


def test_a_block_that_uses_an_empty_sheet(tmp_path: Path) -> None:
    book = openpyxl.load_workbook(table(tmp_path / "a.xlsx", grid("={c}{r}*gamma!$B$5")))
    book.create_sheet("gamma")
    book.save(tmp_path / "a.xlsx")
    assert kinds(tmp_path / "a.xlsx")["blank"] == "F1:I5"
