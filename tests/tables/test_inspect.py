"""attn-xl inspect, and the options that say where a sentence stands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from conftest import ROOT, SAMPLES, thorough

from attn_xl import read_tables
from attn_xl.cli.main import main
from attn_xl.errors import InputError

INPUTS = ROOT / "tests" / "data" / "inputs"
Make = Callable[..., Path]
GOOD: list[list[Any]] = [["", "a", "b"], ["cat", 1.5, 2], ["dog", 3, -4.25]]
BESIDE = [[*row, None, *other] for row, other in zip(GOOD, ([1], [2], [3]))]


def run(*args: str, capsys: pytest.CaptureFixture[str], status: int = 0) -> tuple[str, str]:
    with pytest.raises(SystemExit) as stopped:
        main(args)
    captured = capsys.readouterr()
    assert stopped.value.code == status, captured.err
    return captured.out, captured.err


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run("inspect", str(INPUTS / "messy.xlsx"), capsys=capsys)
    assert "C4:E7  3 x 2  sentence 'lesson'" in out
    assert "H4:I6  2 x 2  W_Q" not in out  # the title is no part of the table
    assert "H5:I6  2 x 2  W_Q, titled 'Query weights'\n    because 'Query weights' is above it" in out
    assert "row labels: cat, Füße, dog" in out
    assert out.rstrip().endswith(f"To convert it:\n  attn-xl convert {INPUTS / 'messy.xlsx'}")


def test_the_report_of_columns_says_what_is_transposed(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run("inspect", str(INPUTS / "columns.xlsx"), capsys=capsys)
    assert "words in columns: the rows are labelled dim 1, ..., as dimensions are" in out
    assert out.count("a left factor in the file, so it is transposed") == 2


def test_a_doubt_is_told_with_the_command_that_settles_it(
    make: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    source = make({"my 'pets'": BESIDE})
    out, _ = run("inspect", str(source), capsys=capsys)
    assert "2 tables may be the sentence: A1:C3 (2 x 2), E1:E3 (3 x 1)" in out
    assert "A1:C3  2 x 2  - may be the sentence, like others on its sheet" in out
    command = shlex.split(out.rstrip().rpartition("\n")[2])
    assert command[:2] == ["attn-xl", "convert"]
    run(*command[1:], "-o", str(tmp_path / "out.xlsx"), capsys=capsys)
    assert openpyxl.load_workbook(tmp_path / "out.xlsx")["Input"]["B5"].value == 1.5
    _, err = run("convert", str(source), capsys=capsys, status=1)
    assert "--range" in err


def test_json_and_text_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    source = str(INPUTS / "names.xlsx")
    out, _ = run("inspect", source, "--range", "First", "--json", capsys=capsys)
    report = json.loads(out)
    used = [(t["range"], t["use"], t["name"]) for t in report["sheets"][0]["tables"] if t["use"]]
    assert used == [("all!B2:D5", "sentence", "all"), ("all!H2:I3", "weights", "W_V")]
    assert report["commands"] == [f"attn-xl convert {source} --range First"]
    text, _ = run("inspect", source, "--range", "First", capsys=capsys)
    assert "its defined name is 'W_V'" in text
    assert "B8:D10  2 x 2  - --range names another" in text.replace("'two' ", "")


def test_what_the_model_says_against_it_is_told(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run("inspect", str(make({"s": GOOD, "W_V": [[1], [2], [3]]})), capsys=capsys)
    assert "These tables cannot be computed:\n  sheet 'W_V': W_V is 3 x 1" in out


def test_words_in_columns_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run("inspect", str(INPUTS / "comma.csv"), "--words-in", "columns", capsys=capsys)
    assert "    words in columns: --words-in columns" in out.splitlines()


@thorough
def test_every_command_has_the_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(INPUTS / "comma.csv")
    where = ["--range", "A1:C4", "--words-in", "columns"]
    out, _ = run("show", source, *where, "--step", "Input", capsys=capsys)
    assert ["cat", "Füße", "dog"] in [line.split() for line in out.splitlines()]
    out, _ = run("explain", source, "Scores[1, 2]", *where, capsys=capsys)
    assert "Scores[a, b]" in out
    for command in ("convert", "similarity", "teach"):
        path = tmp_path / f"{command}.xlsx"
        run(command, source, *where, "--layout", "sheets", "-o", str(path), capsys=capsys)
        assert [c.value for c in openpyxl.load_workbook(path)["Input"]["A"]][4:6] == ["a", "b"]
        run(
            command,
            str(SAMPLES / "mouse.xlsx"),
            "--sheet",
            "pets",
            "--layout",
            "sheets",
            "-o",
            str(path),
            "--force",
            capsys=capsys,
        )
        assert "Input" in openpyxl.load_workbook(path).sheetnames  # one sentence: no prefix


def test_show_takes_a_sheet_that_alone_is_clear(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(make({"pets": GOOD, "doubt": BESIDE}))
    run("show", source, capsys=capsys, status=1)
    out, _ = run("show", source, "--sheet", "pets", "--step", "Input", capsys=capsys)
    assert "cat" in out
    _, err = run("show", source, "--sheet", "nothing", capsys=capsys, status=1)
    assert "tables may be the sentence" in err
    out, _ = run(
        "show", str(SAMPLES / "mouse.xlsx"), "--sheet", "pets", "--step", "Output", capsys=capsys
    )
    assert out.startswith("pets.Output")


def test_two_sentences_on_a_sheet_by_their_titles(make: Make) -> None:
    for top in (0, 1):  # with and without labels of the columns
        rows = [["First"], *GOOD[top:], [], ["Second"], *GOOD[top:2]]
        assert list(read_tables(make({"s": rows})).sentences) == ["First", "Second"]


def test_two_inputs_need_no_labels_and_equal_weights_no_choice(make: Make) -> None:
    x, w = [[1.5, 2], [3, 4]], [[1, 0], [0, 1]]
    rows = [["Input"], *x, [], ["Input"], *x[::-1], [], ["W_Q"], *w]
    tables = read_tables(make({"s": rows, "t": [["X"], *x, [], ["Wq"], *w]}))
    assert (len(tables.sentences), set(tables.weights)) == (3, {"W_Q"})
    with pytest.raises(InputError, match="W_Q is on the sheets 's' and 't'"):
        read_tables(make({"s": rows, "t": [["X"], *x, [], ["Wq"], *w[::-1]]}))


@pytest.mark.parametrize(
    ("heading", "numbers", "kept"),
    [("", (1, 2), True), ("#", (0, 1), True), ("ID", (2054, 101), True), ("age", (7, 4), False)],
)
def test_a_column_that_numbers_the_words_is_left_out(
    make: Make, heading: str, numbers: tuple[int, int], kept: bool
) -> None:
    rows = [[n, *row] for n, row in zip((heading, *numbers), GOOD)]
    rows[0][1] = "word"
    if not kept:
        with pytest.raises(InputError, match="B2: the text 'cat' where a number is needed"):
            read_tables(make({"s": rows}))
        return
    tables = read_tables(make({"s": rows}))
    assert tables.sentences["s"].rows == ("cat", "dog")
    assert "column A numbers the words and is left out" in tables.remarks[0]


def test_a_column_of_texts_after_the_numbers_is_left_out(make: Make) -> None:
    rows = [[*row, text] for row, text in zip(GOOD, ("kind", "pet", "dog"))]
    tables = read_tables(make({"s": rows}))
    assert tables.sentences["s"].shape == (2, 2)
    assert tables.remarks == ("s!A1:C3: column D, 'kind', has texts and is left out.",)
    rows[2][3] = ""
    for rows[0][3] in ("", "Notes"):
        assert read_tables(make({"s": rows})).sentences["s"].shape == (2, 2)
    rows[0][3] = "d3"  # it may be a number that is mistyped
    with pytest.raises(InputError, match="D2: the text 'pet' where a number is needed"):
        read_tables(make({"s": rows}))


@pytest.mark.parametrize(
    ("heads", "words", "remark"),
    [
        (("word", "kind"), ("x1", "y1"), "column B, 'kind', is left out; the words are in column A"),
        (("Satz", "Wort"), ("x2", "y2"), "column A, 'Satz', is left out; the words are in column B"),
        (
            ("a", "Token", "kind"),
            ("x2", "y2"),
            "column C, 'kind', is left out; the words are in column B",
        ),
        (("id", "word", "kind"), ("x2", "y2"), "column A numbers the words and is left out"),
        (
            ("Token", "pos", "id"),
            ("x1", "y1"),
            "column C, 'id', is left out; the words are in column A",
        ),
        (("", "id"), ("x1", "y1"), "column B, 'id', is left out; the words are in column A"),
    ],
)
def test_a_column_that_describes_the_words_is_left_out(
    make: Make, heads: tuple[str, ...], words: tuple[str, ...], remark: str
) -> None:
    rows = [[*heads, "d1", "d2"]]
    for n, row in enumerate("xy", 1):
        rows.append(
            [
                *(n if head in ("id", "pos") else f"{row}{k}" for k, head in enumerate(heads, 1)),
                0.5,
                0.25,
            ]
        )
    tables = read_tables(make({"s": rows}))
    assert tables.sentences["s"].rows == words
    assert any(remark in one for one in tables.remarks)


def test_titles_stand_over_words_that_others_part_from_the_numbers(make: Make) -> None:
    heads, row = ["word", "kind", "d1", "d2"], ["noun", 1, 2]
    rows = [["Input", "", "", "", "", "Input"], [*heads, "", *heads]]
    rows += [[f"a{n}", *row, "", f"b{n}", *row] for n in (1, 2)]
    found = read_tables(make({"s": rows})).sentences.values()
    assert [one.rows for one in found] == [("a1", "a2"), ("b1", "b2")]


def test_an_empty_column_may_part_the_words_from_the_numbers(make: Make) -> None:
    rows = [["", "", "d1", "d2", "", "", "", "k1"], ["cat", "", 1, 2, "", "note", "", 5]]
    rows.append(["dog", "", 3, 4, "", "this", "", 6])
    found = read_tables(make({"s": rows}), range=["s!A1:D3"]).sentences["s"]
    assert (found.rows, found.columns) == (("cat", "dog"), ("d1", "d2"))


@pytest.mark.parametrize("gap", [0, 1])
def test_a_title_may_stand_over_labels_that_a_table_does_not_have(make: Make, gap: int) -> None:
    rows = [
        ["Input", "", "", "", "", "W_Q"],
        *[[]] * gap,
        *([*row, "", "", "", *(1, 2)] for row in GOOD),
    ]
    assert set(read_tables(make({"s": rows})).weights) == {"W_Q"}


@pytest.mark.parametrize("labelled", [True, False])
def test_titles_may_stand_right_of_tables_in_a_row(make: Make, labelled: bool) -> None:
    rows: list[list[Any]] = [["", *"de", "", "", *"kl", "", "", *"kl", "", "", *"vw"]] * labelled
    for n, names in enumerate((("X", "Wq", "Wk", "Wv"), [""] * 4)):
        parts = [[n + 4 * m, n + 4 * m + 2, name, ""] for m, name in enumerate(names)]
        rows.append([f"cat {n}", *(value for part in parts for value in part)])
    found = read_tables(make({"s": rows}))
    assert {name: one.values[0, 0] for name, one in found.weights.items()} == {
        "W_Q": 4, "W_K": 8, "W_V": 12,
    }  # fmt: skip
    assert [one.rows for one in found.sentences.values()] == [("cat 0", "cat 1")]


@pytest.mark.parametrize(
    ("rows", "kept", "why"),
    [
        ([["X"], *GOOD, [], ["Scores"], *GOOD], "A2:C4", "its title names a step"),
        ([["Embeddings"], *GOOD, [], ["Other"], *GOOD], "A2:C4", "not titled as the input"),
        ([*GOOD, [], ["Temperature", 2]], "A1:C3", "a single number"),
        (
            [["Input", "", "", "", "Legend"], [*GOOD[0], "", 0, 0.5, 1], *GOOD[1:]],
            "A2:C4",
            "not titled as the input",
        ),
        ([*GOOD, ["Note: the year"], ["", 2024]], "A1:C3", "a single number"),
        ([*GOOD, [], ["", "a", "b"], ["cat", "==B2*2", "==C2*2"]], "A1:C3", "computed by formulas"),
        ([*GOOD, [], [1, 2, 3], [], ["W_V"], [1, 0], [0, 1]], "A1:C3", "does not fit the weights"),
    ],
)
def test_what_is_passed_over_and_why(
    make: Make, rows: list[list[Any]], kept: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = make({"s": rows})
    out, _ = run("inspect", str(source), "--json", capsys=capsys)
    (sheet,) = json.loads(out)["sheets"]
    assert [t["range"] for t in sheet["tables"] if t["use"] == "sentence"] == [f"s!{kept}"]
    assert why in [t["why"] for t in sheet["tables"] if not t["use"]]
    assert "skipped" in " ".join(read_tables(source).remarks)


@pytest.mark.parametrize("gap", [[], [[]]])
def test_two_tables_titled_as_inputs_are_two_sentences(make: Make, gap: list[Any]) -> None:
    rows = [["Input"], *gap, *GOOD, [], ["Input"], *gap, *GOOD]
    assert len(read_tables(make({"s": rows})).sentences) == 2


def test_show_says_the_remarks(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    _, said = run("show", str(make({"s": [*GOOD, ["A note"]]})), "--step", "Input", capsys=capsys)
    assert said == "s!A1:C3: 'A note' in A4 has no numbers beside it and is taken for a note.\n"


def test_weights_twice_are_refused_unless_one_is_computed(make: Make) -> None:
    rows = [*GOOD, [], ["W_V"], [1, 0], [0, 1]]
    again = [["W_V"], ["==A6", "==B6"], ["==A7", "==B7"]]
    assert list(read_tables(make({"s": [*rows, [], *again]})).weights) == ["W_V"]
    with pytest.raises(Exception, match=r'--range "W_V=s!A6:B7"'):
        read_tables(make({"s": [*rows, [], ["Wv"], [1, 0], [0, 2]]}))


def test_names_of_sheets_do_not_steer_a_terminal(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    source = make({"s": [["", "a\x9b31m"], ["cat\u202e", 1]]})
    out, _ = run("inspect", str(source), capsys=capsys)
    assert all(letter.isprintable() or letter == "\n" for letter in out)
