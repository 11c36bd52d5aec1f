"""`attn-xl check`: each kind of finding where it is, wherever it is planted, and nowhere else."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import ROOT, SAMPLES, alike, by_libreoffice
from exercises import heads_side_by_side, masked, words_in_columns
from imitations import imitated, names
from make_slips import key, slips
from networks import cases
from openpyxl.formula.translate import Translator
from openpyxl.worksheet.formula import ArrayFormula
from ordinary import ORDINARY, made
from planting import KINDS, Nowhere, Places, cells_of, clear, copy, looked_over, put, to_file

import attn_xl
from attn_xl.checking.check import check_workbook
from attn_xl.checking.findings import KINDS as FINDINGS
from attn_xl.checking.function_support import lacking
from attn_xl.checking.report import show
from attn_xl.cli.main import main
from attn_xl.errors import CallError, InputError
from attn_xl.settings import Engine
from attn_xl.spreadsheets.addresses import address
from attn_xl.spreadsheets.formulas import WIDTH, read_formulas
from attn_xl.workbook.write import write_workbook

PEERS = sorted((ROOT.parent / "shared" / "peers").glob("*.xlsx"))
REAL = {("'Exercise 21-25'", "I43"), ("'Exercise 21-25'", "U28")}
"""Numbers typed over formulas in a published workbook; I43 says 5, and A.B is 7 there."""


def call(*args: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    return int(end.value.code or 0)


def written(folder: Path, sample: str, **settings: Any) -> Path:
    path = folder / f"{sample}.xlsx"
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    chosen = attn_xl.Settings.resolve(settings, tables.settings, "")
    write_workbook(attn_xl.attend(tables, chosen), path, settings=chosen)
    return path


def table(path: Path, rows: list[list[Any]], name: str = "s") -> Path:
    book = openpyxl.Workbook()
    book.worksheets[0].title = name
    for row in rows:
        book.worksheets[0].append(row)
    book.save(path)
    return path


def kinds(path: Path, **options: Any) -> dict[str, str]:
    """The kinds found, and the cells of each first finding."""
    found: dict[str, str] = {}
    for finding in check_workbook(path, **options).findings:
        found.setdefault(finding.kind, finding.cells)
    return found


@alike
@pytest.mark.parametrize("source", ["multi-head", "encoder", "lstm", "positions", "Self-Attention"])
def test_planted_slips_are_found_and_nothing_else(source: str, tmp_path: Path) -> None:
    peers = {path.stem: path for path in PEERS}
    if source[0].isupper() and source not in peers:
        pytest.skip("the workbooks of others are not there")
    book = read_formulas(peers.get(source) or written(tmp_path, source))
    assert not [f for f in looked_over(book) if f.severity != "note"]
    places, missed, reports, wrong = Places(book, random.Random(6)), [], 0, []
    planted = 0
    for kind in KINDS:
        for _ in range(1):
            with suppress(Nowhere):
                slip = kind(places)
                found = [f for f in looked_over(slip.book) if f.severity != "note"]
                planted += 1
                reports += len(found)
                wrong += [(kind.__name__, f) for f in found if not slip.named(f)]
                if not any(slip.named(f) for f in found):
                    missed.append((kind.__name__, slip.own))
    assert planted >= 12
    assert len(missed) <= max(1, 0.05 * planted), missed
    assert len(wrong) <= max(1, 0.05 * reports), wrong


@pytest.mark.parametrize("maker", ORDINARY, ids=lambda maker: maker.__name__)
def test_ordinary_workbooks_are_let_be(maker: Any, tmp_path: Path) -> None:
    report = check_workbook(made(maker, tmp_path))
    assert report.formulas > 10
    assert not report.count("error")
    assert sum(f.severity == "warning" and f.kind != "no value" for f in report.findings) <= 1
    assert sum(f.kind == "no value" for f in report.findings) == 1


@alike
@pytest.mark.parametrize(
    ("maker", "slip", "cell"), list(cases()), ids=lambda x: getattr(x, "__name__", x)
)
def test_slips_in_networks_made_by_hand(maker: Any, slip: str, cell: str, tmp_path: Path) -> None:
    path = tmp_path / "network.xlsx"
    book = openpyxl.Workbook()
    maker(book, slip)
    book.save(path)
    alarms = [f for f in check_workbook(path).findings if f.severity != "note" and f.kind != "no value"]
    assert [f.cells.partition(":")[0] for f in alarms] == [cell] * bool(slip)


@alike
@pytest.mark.parametrize(("model", "slip"), names(), ids=lambda x: getattr(x, "__name__", x or "right"))
def test_slips_of_others_are_found_in_any_layout(model: Any, slip: str, tmp_path: Path) -> None:
    """The slip where it is, or nothing where there is none, in layouts drawn at random."""
    found = 0
    for seed in range(3):
        book, expected = imitated(model, slip, seed, tmp_path)
        alarms = [f for f in looked_over(book) if f.severity != "note"]
        right = [f for f in alarms if expected.get(f.sheet, set()) & cells_of(f.cells)]
        assert alarms == right, (seed, alarms)
        found += bool(right)
    assert found >= (2 if slip else 0)


@pytest.mark.parametrize("path", PEERS, ids=lambda path: path.stem)
def test_no_false_alarm_on_published_workbooks(path: Path) -> None:
    report = check_workbook(path)
    alarms = [finding for finding in report.findings if finding.severity != "note"]
    assert {(f"'{f.sheet}'", f.cells) for f in alarms} <= REAL
    assert report.checked >= report.formulas > 0


@pytest.mark.parametrize(
    ("exercise", "slip", "found", "do"),
    [
        (words_in_columns, "", "", ""),
        (words_in_columns, "sum", "R26", "=SUM(R22:R25)"),
        (heads_side_by_side, "", "", ""),
        (heads_side_by_side, "head", "O21:Q23", "=SUMPRODUCT($O16:$P16,$S$16:$T$16)/SQRT(2)"),
        (masked, "", "", ""),
    ],
)
def test_exercises_made_by_hand(exercise: Any, slip: str, found: str, do: str, tmp_path: Path) -> None:
    """Nothing, or the one slip and what to enter."""
    book = openpyxl.Workbook()
    exercise(book, slip)
    book.save(tmp_path / "in.xlsx")
    findings = [f for f in check_workbook(tmp_path / "in.xlsx").findings if f.kind != "no value"]
    assert [f.cells for f in findings] == [found] * bool(found)
    assert all(do in f.do for f in findings)


@alike
@pytest.mark.parametrize("sample", sorted(path.stem for path in SAMPLES.glob("*.xlsx")))
def test_nothing_is_found_in_what_convert_writes(sample: str, tmp_path: Path) -> None:
    if "-" in sample and sample.endswith(("attention", "similarity", "lesson")):
        pytest.skip("what a user made")
    report = check_workbook(written(tmp_path, sample, controls=True))
    assert not report.findings
    assert report.checked == report.formulas > 0


@alike
@pytest.mark.parametrize("sample", ["mouse", "encoder-decoder"])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_nothing_is_found_in_lessons(sample: str, level: int, tmp_path: Path) -> None:
    path = tmp_path / "lesson.xlsx"
    assert call("teach", SAMPLES / f"{sample}.xlsx", "-o", path, "--level", level) == 0
    assert not check_workbook(path).findings


@alike
@pytest.mark.parametrize(
    "call_of",
    [
        "learn learning --steps 3",
        "learn learning --steps 12",
        "convert learning --layout canvas",
        "compare rnn --models cnn rnn lstm gru attention --layout sheets",
        *(
            f"convert mouse --model {m} --random-weights 1 --layout layers"
            for m in ("rnn", "lstm", "gru")
        ),
    ],
)
def test_nothing_is_found_in_runs_comparisons_and_recurrences(call_of: str, tmp_path: Path) -> None:
    command, sample, *options = call_of.split()
    path = tmp_path / "out.xlsx"
    assert call(command, SAMPLES / f"{sample}.xlsx", *options, "-o", path) == 0
    assert not check_workbook(path).findings


@pytest.mark.parametrize(("third", "found"), [(33, False), (31, True)])
def test_links_to_what_is_computed_alike_need_no_equal_distances(
    third: int, found: bool, tmp_path: Path
) -> None:
    """Five totals stand ten rows apart, the third three rows too low: a link to it is right, one to a
    number above it is not."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for number, row in enumerate((10, 20, 33, 40, 50, 60), 1):
        for i in range(3):
            sheet.cell(row - 3 + i, 8, float(number + i * row))
        sheet.cell(row, 8, f"=SUM(H{row - 3}:H{row - 1})")
        sheet.cell(number, 1, f"=H{third if number == 3 else row}")
    book.save(tmp_path / "in.xlsx")
    patterns = [f.cells for f in check_workbook(tmp_path / "in.xlsx").findings if f.kind == "pattern"]
    assert patterns == (["A3"] if found else [])


def test_the_workbook_of_the_readme_has_its_slips(tmp_path: Path) -> None:
    made = to_file(slips(tmp_path), tmp_path / "slips.xlsx")
    expected = {
        "value": "F9", "pattern": "D6", "fixed": "B5:F9", "constant": "C7", "short": "P5:P9",
    }  # fmt: skip
    assert kinds(made) == kinds(ROOT / "docs" / "slips.xlsx") == expected


def numbered(rows: list[list[Any]], values: dict[str, float], path: Path, **names: str) -> Path:
    """A table whose formulas have these values, by cell; and defined names."""
    book = read_formulas(table(path, rows))
    sheet = book.sheets["s"]
    for cell, value in values.items():
        at = int(sheet.find(np.array([key(cell)]))[0])
        sheet.kinds[at], sheet.numbers[at] = 0, value
    book.names.update(names)
    return to_file(book, path)


@pytest.mark.parametrize(("off", "found"), [(5e-3, True), (5e-9, True), (1e-12, False)])
def test_attention_weights_sum_to_1_within_the_tolerance(
    off: float, found: bool, tmp_path: Path
) -> None:
    book = copy(read_formulas(written(tmp_path, "politics", controls=False)))
    softmax = book.sheets["Softmax"]
    softmax.numbers[int(softmax.find(np.array([key("C7")]))[0])] += off
    assert [f.cells for f in looked_over(book) if f.kind == "softmax"] == ["B7:F7"] * found
    to_file(book, tmp_path / "off.xlsx")
    assert "softmax" not in kinds(tmp_path / "off.xlsx", tolerance=0.01)


def test_weights_after_dropout_that_nothing_reads_are_found(tmp_path: Path) -> None:
    path = written(tmp_path, "dropout")
    assert not kinds(path)
    book = openpyxl.load_workbook(path)
    for row in book["Output"].iter_rows():
        for cell in row:
            if isinstance(cell.value, ArrayFormula):
                cell.value.text = cell.value.text.replace("Dropped!", "Scaled!")
            elif isinstance(cell.value, str) and cell.value.startswith("="):
                cell.value = cell.value.replace("Dropped!", "Scaled!")
    book.save(path)
    assert kinds(path)["unused"] == "B5:F9"


def test_the_shares_of_some_need_not_sum_to_1(tmp_path: Path) -> None:
    """Four words' exponentials and their sum, and the shares of two of them, then of all."""
    powers = [[np.exp(0.1 * i * j) for j in range(1, 5)] for i in range(1, 5)]
    for shown in (2, 4):
        rows: list[list[Any]] = []
        values = {}
        for i, row in enumerate(powers, 1):
            cells = [f"=EXP(0.1*{i}*{j})" for j in range(1, 5)]
            shares = [f"={'ABCD'[j]}{i}/$E{i}" for j in range(shown)]
            rows.append([*cells, f"=SUM(A{i}:D{i})", *shares])
            values |= {f"{'ABCD'[j]}{i}": row[j] for j in range(4)} | {f"E{i}": sum(row)}
            values |= {f"{'FGHI'[j]}{i}": row[j] / sum(row) for j in range(shown)}
        assert kinds(numbered(rows, values, tmp_path / "part.xlsx")) == {}
        values["F2"] += 0.01
        found = kinds(numbered(rows, values, tmp_path / "part.xlsx"))
        assert ("softmax" in found) == (shown == 4)


@pytest.mark.parametrize(
    ("formula", "wrong"),
    [("=SUMPRODUCT(A1:B1,C1:D1)", False), ("=A1*C1-B1*C1", False), ("=A1+B1+C1+D1-4000", True)],
)
def test_what_cancelling_leaves_of_products_is_as_large_as_they_are(
    formula: str, wrong: bool, tmp_path: Path
) -> None:
    path = numbered([[1000, 1000, 1000, -1000, formula]], {"E1": 1e-6}, tmp_path / "a.xlsx")
    if wrong:
        path = numbered([[1000, 1000, 1000, 1000, formula]], {"E1": 1e-6}, tmp_path / "a.xlsx")
    assert kinds(path) == ({"value": "E1"} if wrong else {})


def test_what_stands_for_infinity_excuses_nothing(tmp_path: Path) -> None:
    rows = [[1, "=A1*2", "=-A1*1E9"]]
    good = {"B1": 2.0, "C1": -1e9}
    assert kinds(numbered(rows, good, tmp_path / "a.xlsx")) == {}
    assert kinds(numbered(rows, {**good, "B1": 2.00001}, tmp_path / "a.xlsx")) == {"value": "B1"}


def test_what_is_made_from_a_volatile_cell_is_checked(tmp_path: Path) -> None:
    rows = [["=RAND()", "=Draw*2", "=2*3"]]
    values = {"A1": 0.5, "B1": 1.0, "C1": 6.0}
    path = numbered(rows, values, tmp_path / "a.xlsx", Draw="s!$A$1")
    assert set(kinds(path)) == {"volatile"}
    assert check_workbook(path).checked == 2
    values["B1"] = 1.5
    assert kinds(numbered(rows, values, path, Draw="s!$A$1"))["value"] == "B1"


def test_a_constant_that_is_right_is_told_apart(tmp_path: Path) -> None:
    book = copy(read_formulas(written(tmp_path, "politics", controls=False)))
    scores = book.sheets["Scores"]
    scores.formulas[int(scores.find(np.array([key("C7")]))[0])] = -1
    report = check_workbook(to_file(book, tmp_path / "frozen.xlsx"))
    assert [(f.kind, f.cells, f.severity) for f in report.findings] == [("frozen", "C7", "warning")]
    assert report.fails()


@pytest.mark.parametrize(("typed", "kind"), [(5e-10, "constant"), (8e-10, "frozen")])
def test_a_constant_is_compared_by_the_size_of_its_numbers(
    typed: float, kind: str, tmp_path: Path
) -> None:
    rows: list[list[Any]] = [[1e-10 * n, f"=A{n}*2"] for n in range(1, 9)]
    rows[3][1] = typed
    assert kinds(table(tmp_path / "small.xlsx", rows))[kind] == "B4"


def test_what_cancelling_left_is_no_other_constant(tmp_path: Path) -> None:
    numbers = [0.5, 0.7, 1.1, 0.1, 0.9, 2.0, 3.0, 4.0]
    rows: list[list[Any]] = [[x, 0.2, 0.3, f"=A{n}+B{n}-C{n}"] for n, x in enumerate(numbers, 1)]
    rows[3][3] = 0.0
    book = read_formulas(table(tmp_path / "a.xlsx", rows))
    sheet = book.sheets["s"]
    at = np.flatnonzero(sheet.formulas >= 0)
    sheet.kinds[at], sheet.numbers[at] = 0, [x + 0.2 - 0.3 for x in numbers if x != 0.1]
    assert kinds(to_file(book, tmp_path / "b.xlsx")) == {"frozen": "D4"}


def test_a_number_given_where_its_operand_is_unknown_is_no_slip(tmp_path: Path) -> None:
    rows: list[list[Any]] = [[1, 2, "=A1*B1"], [2, 3, "=A2*B2"], [3, None, 12]]
    rows += [[n, n, f"=A{n}*B{n}"] for n in range(4, 8)]
    assert "constant" not in kinds(table(tmp_path / "given.xlsx", rows))
    rows[2][1] = 4
    assert kinds(table(tmp_path / "typed.xlsx", rows))["frozen"] == "C3"


def test_totals_and_steps_are_no_slips(tmp_path: Path) -> None:
    rows: list[list[Any]] = [[n, n + 1, f"=SUM(A{n}:B{n})"] for n in range(1, 6)]
    rows.append(["=SUM(A1:A5)", "=SUM(B1:B5)", "=SUM(C1:C5)"])
    assert set(kinds(table(tmp_path / "totals.xlsx", rows))) == {"no value"}
    rows = [[f"=SIN({r}/2)", f"=COS({r}/2)", f"=SIN({r}/3)"] for r in range(1, 6)]
    assert set(kinds(table(tmp_path / "positions.xlsx", rows))) == {"no value"}


@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        ("=1/0", "error"), ("=NOW()", "volatile"), ("=A1+1", "text"), ("=C1*2", "blank"),
        ("=IF(C1=\"\",0,C1*2)", "no value"), ("=_xlfn.XLOOKUP(B1,B1:B2,B1:B2)", "function"),
        ("=SUM(B1:C1)", "blank"), ("=SUM(A1:B1)", "text"), ("=OFFSET(B1,1,0)", "volatile"),
    ],
)  # fmt: skip
def test_single_cells(formula: str, kind: str, tmp_path: Path) -> None:
    path = table(tmp_path / "one.xlsx", [["word", 2, None, formula], ["word", 3]])
    assert kinds(path)[kind] == "D1"
    unguarded = {"blank", "text"} & set(kinds(path))
    assert unguarded == ({kind} & {"blank", "text"})


def test_volatile_cells_keep_their_values_while_the_rest_is_recalculated(tmp_path: Path) -> None:
    book = read_formulas(
        table(tmp_path / "a.xlsx", [["=RAND()", "=A1*2", "=B1+1", "=2+2"], [1, 2, 3, 4]])
    )
    sheet = book.sheets["s"]
    sheet.kinds[:], sheet.numbers[:4] = 0, (0.5, 1, 2, 5)
    path = to_file(book, tmp_path / "b.xlsx")
    assert kinds(path) == {"value": "D1", "volatile": "A1"}
    assert check_workbook(path) == check_workbook(path)  # the same in every run


def test_a_reference_that_is_gone_is_found_though_nothing_computes_it(tmp_path: Path) -> None:
    found = check_workbook(table(tmp_path / "a.xlsx", [[1, "=IF(A1=1,2,#REF!)", "=A1+1"]])).findings
    assert [(f.kind, f.cells) for f in found if f.severity == "error"] == [("reference", "B1")]


def test_nothing_to_check_is_said_with_a_status_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path / "a.xlsx", [["x", 1], ["y", 2]])
    assert call("check", path) == 3
    assert capsys.readouterr().out == f"{path}: nothing to check: it has no formulas\n"
    other = table(tmp_path / "b.xlsx", [[1, "=1/0"]])
    assert call("check", path, other) == 1


def test_what_to_enter_is_a_formula_that_ends_the_finding(tmp_path: Path) -> None:
    """Of every slip found in a cell or a block, the formula that is proposed is entered and copied."""
    book = read_formulas(written(tmp_path, "multi-head"))
    places, tried = Places(book, random.Random(2)), 0
    for kind in (k for k in KINDS if k.__name__ in ("shifted", "short", "other", "fixed", "columns")):
        for _ in range(2):
            slip = kind(places)
            found = [f for f in looked_over(slip.book) if slip.named(f)]
            if not found:
                continue
            do, said = found[0].do, r"(?:Enter|enter) =(.+?)(?: in [A-Z0-9]+)?(?: and copy it.*)?\.$"
            enter = re.search(said, do)
            if enter is None or "the like" in do or found[0].sheet != slip.own[0]:
                continue
            keys = sorted(slip.own[1])
            rows, columns = keys[0] // WIDTH, keys[0] % WIDTH + 1
            for at in keys:
                text = Translator(f"={enter[1]}", address(rows, columns)).translate_formula(
                    address(at // WIDTH, at % WIDTH + 1)
                )
                put(slip.book, slip.own[0], at, text[1:])
            assert not [f for f in looked_over(slip.book) if f.severity != "note"], (enter[1], found[0])
            tried += 1
    assert tried > 5


def test_cancelled_terms_and_tolerance(tmp_path: Path) -> None:
    book = read_formulas(table(tmp_path / "a.xlsx", [[0.1, 0.2, 0.3, "=A1+B1-C1", "=A1*3"]]))
    sheet = book.sheets["s"]
    sheet.kinds[:], sheet.numbers[3:] = 0, (0.0, 0.3001)
    path = to_file(book, tmp_path / "b.xlsx")
    assert kinds(path) == {"value": "E1"}
    assert kinds(path, tolerance=0.01) == {}


def test_functions_and_programs() -> None:
    assert not lacking(["SUM", "MMULT", "VARP", "EXP"])
    assert "Gnumeric" in lacking(["LET"])["LET"]
    assert "Excel 2010 and older" in lacking(["IFNA"])["IFNA"]
    assert lacking(["VAR.P"]) == {"VAR.P": ["Excel 2007"]}


@by_libreoffice
def test_the_second_opinion(tmp_path: Path) -> None:
    assert kinds(ROOT / "docs" / "slips.xlsx", engine=Engine.libreoffice)["value"] == "F9"
    assert not kinds(written(tmp_path, "politics"), engine=Engine.libreoffice)


def test_the_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = written(tmp_path, "politics"), ROOT / "docs" / "slips.xlsx"
    assert call("check", good) == 0
    assert "nothing found" in capsys.readouterr().out
    assert call("check", good, bad, "--jobs", 2, "--json") == 1
    first, second = json.loads(capsys.readouterr().out)
    assert first["findings"] == []
    assert first["formulas"] == first["checked"]
    assert {f["kind"] for f in second["findings"]} <= set(FINDINGS)
    assert second["findings"][0]["sheet"] == "Scores"
    noted = table(tmp_path / "noted.xlsx", [[1]])
    book = read_formulas(table(tmp_path / "v.xlsx", [[1, "=OFFSET(A1,0,0)"]]))
    book.sheets["s"].kinds[:], book.sheets["s"].numbers[:] = 0, 1
    noted = to_file(book, tmp_path / "noted.xlsx")
    assert call("check", noted) == 0
    assert call("check", noted, "--strict") == 1
    assert call("check", good, "--tolerance", 2) == 2
    assert call("check", good, "--jobs", 0) == 2
    assert call("check", good, "--engine", "excel") == 2
    assert call("check", tmp_path / "nothing*.xlsx") == 2
    assert call("check", "-") == 2
    with pytest.raises(CallError):
        check_workbook(good, tolerance=-1)


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [None, 44, 100])
def test_a_line_each_in_a_pipe_and_a_table_where_there_is_room(
    width: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Screen() if width else io.StringIO()
    file = ROOT / "docs" / "slips.xlsx"
    show([check_workbook(file)], file=out)
    lines = re.sub("\x1b\\[[0-9;]*m", "", out.getvalue()).splitlines()
    if width is None:
        assert lines[0].startswith(f"{file}: Scores!F9: error: stored 24.09")
        assert lines[0].endswith("[value]")
        assert len(lines) == 6
    else:
        assert max(map(len, lines)) <= width
        assert ("Scores!F9: error:" in out.getvalue()) == (width < 72)
        assert ("what to do" in out.getvalue()) == (width > 72)


@pytest.mark.parametrize("formula", ["=A{}/2", "=1/A{}", "=6/3", "=1/SUM(A{}:B{})", "=A{}/two"])
def test_what_is_divided_by_a_constant_is_no_softmax(formula: str, tmp_path: Path) -> None:
    rows = [[r, r + 1, formula.format(r, r)] for r in range(1, 5)]
    found = check_workbook(table(tmp_path / "d.xlsx", rows)).findings
    assert {f.kind for f in found} <= {"no value", "name", "error"}


def test_the_text_that_error_values_come_of_is_said_before_them(tmp_path: Path) -> None:
    path = table(tmp_path / "t.xlsx", [["two", 1, 2], ["=A1*3", "=A2+1", "=B2+1"]])
    found = check_workbook(path).findings
    assert [(f.kind, f.cells) for f in found][:2] == [("text", "A2"), ("error", "A2:C2")]


@pytest.mark.parametrize("name", ["missing.xlsx", "text.xlsx", "cut.xlsx", "other.ods"])
def test_files_that_cannot_be_read(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, good = tmp_path / name, written(tmp_path, "politics")
    if name == "text.xlsx":
        path.write_text("no spreadsheet")
    elif name == "cut.xlsx":
        path.write_bytes(good.read_bytes()[:3000])
    elif name == "other.ods":
        shutil.make_archive(str(tmp_path / "other"), "zip", SAMPLES)
        (tmp_path / "other.zip").rename(path)
    with pytest.raises(InputError):
        check_workbook(path)
    assert call("check", path, good) == 1
    out, err = capsys.readouterr()
    assert f"attn-xl: {path}" in err
    assert "nothing found" in out


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    import zipfile

    good, path = written(tmp_path, "politics"), tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "xl/workbook.xml":
                content = b'<!DOCTYPE x [<!ENTITY a "b">]>' + content[content.index(b"<workbook") :]
            target.writestr(name, content)
    with pytest.raises(InputError, match="document type"):
        check_workbook(path)


def test_a_blank_that_is_asked_about_is_no_slip(tmp_path: Path) -> None:
    book = copy(read_formulas(written(tmp_path, "politics", controls=False)))
    clear(book, "Input", key("C6"))
    assert {f.kind for f in looked_over(book)} == {"blank"}
    put(book, "Output", key("B5"), "IF(ISBLANK(Input!C6),0,1)")
    assert not [f for f in looked_over(book) if f.kind == "blank" and f.sheet == "Q"]
