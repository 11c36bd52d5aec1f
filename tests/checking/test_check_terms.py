"""`attn-xl check` on slips that stand in every cell of a block: terms that do not go together, ranges
that slide out of their table, columns by turns; each with the values that its formulas give."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import by_libreoffice
from test_check import kinds
from test_check_blocks import L, Rows, stored
from test_check_lines import Found, numbers

from attn_xl.checking.check import check_workbook, look_over
from attn_xl.spreadsheets.blocks.references import Lookup
from attn_xl.spreadsheets.blocks.templates import Forms
from attn_xl.spreadsheets.engines import IronCalc, recalculated_by_libreoffice
from attn_xl.spreadsheets.formulas import NUMBER, WIDTH, Formula, read_formulas


def product(formula: str, tmp_path: Path, rows: int = 4) -> Found:
    """Numbers in A1:D4, weights in F1:G5, and a block of the formula in I1:J4 ({r} its row, {c} the
    column of its weights)."""
    book: Rows = [[*row, None, *weights] for row, weights in zip(numbers(5, 4), numbers(5, 2, 7))]
    for r in range(1, rows + 1):
        book[r - 1] += [None, *(formula.format(r=r, c=c) for c in "FG")]
    book[4] = [None, *book[4][1:]] if len(book[4]) == 7 else book[4]
    return kinds(stored(tmp_path / "a.xlsx", book))


FOUR = "=$A{r}*{c}$1+$B{r}*{c}$2+$C{r}*{c}$3+$D{r}*{c}$4"
WRONG = {"terms": "I1:J4"}


@pytest.mark.parametrize(
    ("formula", "found"),
    [
        (FOUR, {"short": "I1:J4"}),  # the fifth number is read by nothing
        (f"{FOUR}+{{c}}$5", {}),
        (f"=TANH(({FOUR[1:]})/SQRT(4))", {}),
        (FOUR.replace("$C{r}", "$C$1"), WRONG),
        (FOUR.replace("$D{r}", "$C{r}"), WRONG),  # twice
        (f"=TANH(({FOUR[1:]})/SQRT(4))".replace("$B{r}", "$A{r}"), WRONG),
        (FOUR.replace("{c}$4", "{c}$3"), WRONG),
        ("=$A{r}*{c}$1+$B{r}*{c}$2+$B{r}*{c}$2", WRONG),  # a whole term twice
        ("=AVERAGE($A{r},$B{r},$B{r},$D{r})*{c}$1", WRONG),
        ("=SUM($A{r},$B{r},$C{r},$D{r})*{c}$1", {}),
        (f"{FOUR}+{{c}}$4", {"twin": "I1:J4"}),  # the bias is in the next row
        ("=($A{r}+$B{r}+$C{r}+$C{r})*{c}$1", WRONG),
        ("=($A{r}+$B{r}+$B{r}+$C{r})*{c}$1", {}),  # twice the middle one
        ("=$A{r}-$A{r}+0*{c}$1", {}),
        ("=$A{r}*{c}$1*2+$B{r}*{c}$2*2+$C{r}*{c}$3*2", {"short": "I1:J4"}),
    ],
)
def test_terms_of_a_sum(formula: str, found: Found, tmp_path: Path) -> None:
    assert product(formula, tmp_path) == found


def test_what_is_said_of_a_term(tmp_path: Path) -> None:
    rows: Rows = [[*row, f"=A{r}*F$1+B{r}*F$2+C{r}*F$2"] for r, row in enumerate(numbers(3, 3), 1)]
    for row, weight in zip(rows, (0.5, 0.25, 2)):
        row += [None, weight]
    (found,) = check_workbook(stored(tmp_path / "a.xlsx", rows)).findings
    assert (found.kind, found.cells) == ("terms", "D1:D3")
    assert found.what == (
        "=A1*F$1+B1*F$2+C1*F$2, ... has F$2 where its other terms lead to F3 (3 cells)"
    )


@pytest.mark.parametrize(
    ("formula", "found"), [("=A{r}-A{r}", WRONG), ("=A{r}/A{r}", WRONG), ("=A{r}-B{r}", {})]
)
def test_a_cell_from_itself(formula: str, found: Found, tmp_path: Path) -> None:
    rows: Rows = [[*row, formula.format(r=r)] for r, row in enumerate(numbers(4, 2), 1)]
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == ({"twin": "C1:C4"} if found else {})


@pytest.mark.parametrize("at", [0, 4, 8])
@pytest.mark.parametrize("turned", [False, True])
def test_a_constant_in_columns_by_turns(at: int, turned: bool, tmp_path: Path) -> None:
    """A column of one kind of formula, one of another, and so on."""
    rows: Rows = []
    for r, (x, y) in enumerate(numbers(9, 2), 1):
        pairs = [(f"=$A{r}*{L[c]}$10", f"=$B{r}-{L[c + 1]}$10") for c in (3, 5, 7)]
        rows.append([x, y, None, *(cell for pair in pairs for cell in pair)])
    rows.append([None] * 3 + numbers(1, 6)[0])
    rows[at][5] = 123.0
    if turned:
        rows = [[None if isinstance(x, str) else x for x in column] for column in zip(*rows)]
        for c in range(9):
            for k in range(3, 9):
                first, sign = (f"{L[c]}$1", "*") if k % 2 else (f"{L[c]}$2", "-")
                rows[k][c] = f"={first}{sign}$J{k + 1}"
        rows[5][at] = 123.0
    cell = f"{L[at]}6" if turned else f"F{at + 1}"
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {"constant": cell}


@pytest.mark.parametrize(
    ("formula", "more", "found"),
    [
        ('=IF(A{r}=MAX(A{r}:A{s}),"<--","")', 0, True),
        ('=IF(A{r}=MAX(A$1:A$5),"<--","")', 0, False),
        ('=IF(A{r}=MAX(A{r}:A{s}),"<--","")', 4, False),  # a window over what follows
        ("=COUNTIF(A{r}:A{s},A$1)", 0, True),
    ],
)
def test_a_range_that_slides_out_of_its_table(
    formula: str, more: int, found: bool, tmp_path: Path
) -> None:
    rows: Rows = [["score"], *numbers(5 + more, 1)]
    for r in range(2, 7):
        rows[r - 1].append(formula.format(r=r, s=r + 4))
    said = kinds(stored(tmp_path / "a.xlsx", rows))
    assert said.get("sliding") == ("B2:B6" if found else None)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("=2*C$2-1", "=C$2", {}),  # copies of it
        ("=A{r}*$C$2", 7, {"fixed": "D2:D9"}),  # nothing uses the others
        ("=A{r}*$C$2", None, {}),
        ("=A{r}*$C$2+0*SUM(C$2:C$9)", 7, {}),
    ],
)
def test_a_line_that_stays_on_the_first_number(
    first: str, second: Any, found: Found, tmp_path: Path
) -> None:
    rows: Rows = [["a", "b", "c", "d"], *numbers(8, 4)]
    for r in range(2, 10):
        rows[r - 1][1] = None
        rows[r - 1][3] = first.format(r=r)
        if r > 2:
            text = second.format(q=r - 1) if isinstance(second, str) else second and second + r * r
            rows[r - 1][2] = text
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == found


def weighted(path: Path, formulas: list[list[Any]], names: dict[str, str], arrays: Any = None) -> Found:
    """Scores in A1:C3, their exponentials in A5:C7 with sums in D5:D7, and formulas in A9:C11."""
    rows: Rows = [[x / 9 for x in row] for row in numbers(3, 3)]
    rows.append([])
    for r in range(1, 4):
        rows.append([*(f"=EXP({c}{r})" for c in "ABC"), f"=SUM(A{r + 4}:C{r + 4})"])
    rows += [[], *formulas]
    written = stored(path, rows, arrays)
    if names or arrays:
        from openpyxl.workbook.defined_name import DefinedName

        book = openpyxl.load_workbook(written)
        for name, cells in names.items():
            book.defined_names[name] = DefinedName(name, attr_text=cells)
        book.save(written)
        (again,) = recalculated_by_libreoffice([written], path.parent / "again")
        written = again
    return kinds(written)


@pytest.mark.parametrize(
    ("formula", "wrong"),
    [
        ("={c}{e}/SUM($A{e}:$C{e})", False),
        ("={c}{e}/AVERAGE($A{e}:$C{e})", True),
        ("=EXP({c}{s})/AVERAGE(EXP($A{s}),EXP($B{s}),EXP($C{s}))", True),
        ("={c}{e}/$D{e}", False),
    ],
)
def test_weights_divided_by_a_mean(formula: str, wrong: bool, tmp_path: Path) -> None:
    rows = [[formula.format(c=c, e=r + 4, s=r) for c in "ABC"] for r in range(1, 4)]
    assert ("softmax" in weighted(tmp_path / "a.xlsx", rows, {})) == wrong


@by_libreoffice
@pytest.mark.parametrize(
    ("formula", "names", "wrong"),
    [
        ("={c}5/Total", {"Total": "s!$D$5"}, False),
        ("={c}5/SUM(Exps)", {"Exps": "s!$A$5:$C$5"}, False),
        ("={c}5/SUM(Exps)", {"Exps": "s!$B$5:$C$5"}, True),
        ("={c}5/SUM(A$5:C$5)/Exps", {"Exps": "s!$A$1"}, False),
    ],
)
def test_weights_divided_by_a_name(
    formula: str, names: dict[str, str], wrong: bool, tmp_path: Path
) -> None:
    rows = [[formula.format(c=c) for c in "ABC"]]
    assert ("softmax" in weighted(tmp_path / "a.xlsx", rows, names)) == wrong


@by_libreoffice
@pytest.mark.parametrize(
    ("formula", "wrong"),
    [
        ("=EXP(A1:C3)/SUM(EXP(A1:C3))", False),  # over all rows, which is not looked for
        ("=EXP(A1:C3)/D5:D7", False),
    ],
)
def test_weights_of_one_array_formula(formula: str, wrong: bool, tmp_path: Path) -> None:
    arrays = {"A9:C11": formula}
    assert ("softmax" in weighted(tmp_path / "a.xlsx", [[0] * 3] * 3, {}, arrays)) == wrong
    arrays = {"A9:C9": "=EXP(A1:C1)/SUM(EXP(A1:C1))"}
    assert "softmax" not in weighted(tmp_path / "b.xlsx", [[0] * 3], {}, arrays)


@pytest.mark.parametrize(("sums", "wrong"), [("=SUM(A{r}:D{r})", False), ("=SUM(B{r}:D{r})", True)])
def test_causal_weights_with_typed_zeros(sums: str, wrong: bool, tmp_path: Path) -> None:
    rows: Rows = [[x / 9 for x in row] for row in numbers(4, 4)]
    rows.append([])
    for r in range(1, 5):
        cells: list[Any] = [f"=EXP({c}{r})" if k < r else 0 for k, c in enumerate("ABCD")]
        rows.append([*cells, sums.format(r=r + 5)])
    rows.append([])
    rows += [
        [f"={c}{r + 5}/$E{r + 5}" if k < r else 0 for k, c in enumerate("ABCD")] for r in range(2, 5)
    ]
    assert ("softmax" in kinds(stored(tmp_path / "a.xlsx", rows))) == wrong


@pytest.mark.parametrize(
    ("sums", "wrong"),
    [("=SUM(A{r}:C{r})", False), ("=SUM(A{r}:D{r})", True), ("=SUM(A{r}:B{r})", True)],
)
def test_weights_on_a_sheet_of_their_own(sums: str, wrong: bool, tmp_path: Path) -> None:
    rows: Rows = [[x / 9 for x in row] for row in numbers(4, 4)]
    rows.append([])
    for r in range(1, 5):
        cells = [f"=EXP({c}{r})" for c in "ABC"]
        rows.append([*cells, f"=MAX(A{r + 5}:C{r + 5})", sums.format(r=r + 5)])
    path = stored(tmp_path / "a.xlsx", rows)
    book = openpyxl.load_workbook(path)
    sheet = book.create_sheet("Weights")
    for r in range(6, 10):
        for k, c in enumerate("ABC", 1):
            sheet.cell(r, k, f"=s!{c}{r}/s!$E{r}")
    book.save(path)
    engine, read = IronCalc(path), read_formulas(path)
    for name, found in read.sheets.items():
        for place in np.flatnonzero(found.formulas >= 0).tolist():
            row, column = divmod(int(found.keys[place]), WIDTH)
            found.numbers[place] = engine.value(name, row, column + 1)
            found.kinds[place] = NUMBER
    said = {finding.kind for finding in look_over(read, Forms(read.formulas), Lookup(read))[0]}
    assert bool({"softmax", "short"} & said) == wrong


def test_a_formula_of_very_long_words_takes_no_time() -> None:
    begun = process_time()
    texts = ["A1+" + "a" * 200_000, "A1+" + "'" * 20_001 + "!A2", "EXP(" + "1/SUM(" * 20_000]
    forms = Forms([Formula(text, 1, c + 1, array=True) for c, text in enumerate(texts)])
    assert [template.general[:3] for template in forms.templates] == ["§+a", "A1+", "EXP"]
    assert process_time() - begun < 5


@pytest.mark.parametrize(
    ("text", "general"),
    [
        ("SUM(Q!A1:B2)", "SUM(§:§)"),
        ("'it''s'!A1+'a b'!B2*x.y!C3", "§+§*§"),
        ("Größe!A1-A1", "§-§"),
    ],
)
def test_a_formula_without_the_names_of_sheets(text: str, general: str) -> None:
    assert Forms([Formula(text, 1, 1)]).templates[0].general == general


@pytest.mark.parametrize(("more", "wrong"), [("", False), ("+1", False), ("+0.00001", False)])
def test_a_quiet_softmax(more: str, wrong: bool, tmp_path: Path) -> None:
    rows: Rows = [[x / 9 for x in row] for row in numbers(4, 3)]
    rows.append([])
    for r in range(1, 5):
        rows.append([*(f"=EXP({c}{r})" for c in "ABC"), f"=SUM(A{r + 5}:C{r + 5}){more}"])
    rows += [[], *([f"={c}{r}/$D{r}" for c in "ABC"] for r in range(6, 10))]
    assert ("softmax" in kinds(stored(tmp_path / "a.xlsx", rows))) == wrong


@pytest.mark.parametrize("cell", ["B3", "D2", "D4"])
def test_a_hole_in_columns_by_turns(cell: str, tmp_path: Path) -> None:
    """A value and its share, three times."""
    given = numbers(6, 3)
    rows: Rows = [[x for v, c in zip(row, "ACE") for x in (v, f"={c}{r}/{c}$7")]
                  for r, row in enumerate(given, 1)]  # fmt: skip
    rows.append([x for c in "ACE" for x in (f"=SUM({c}1:{c}6)", None)])
    rows[int(cell[1]) - 1]["ABCDEF".index(cell[0])] = None
    assert kinds(stored(tmp_path / "a.xlsx", rows)) == {"hole": cell}
