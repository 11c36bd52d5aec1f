"""Words, names and answers that look like formulas, links, markup or orders to a terminal are text: in
every format, from every command."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, make_input, thorough
from ooxml import violations

import attn_xl
from attn_xl.cli.main import main
from attn_xl.spreadsheets.text_files import harmless
from attn_xl.text import clean

HIDDEN = "\xad\u061c\u200b\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff\U000e0041"
ESCAPES = [
    "a\x1b[31mb", "a\x1b]8;;http://x\x07b", "a\x9b2Jb", "a\x08b\x85c", *(f"a{c}b" for c in HIDDEN),
]  # fmt: skip
WORDS = [
    "=1+1", "+1+cmd|'/C calc'!A0", "-2+3", "@SUM(1)", '=HYPERLINK("http://x","y")', "＝1+1", "-5",
    "'=x", "''=x", "'tis", "'", "http://example.org/x", "mailto:a@b.c", r"\\server\share",
    "[bold]x[/bold]", "[link=http://x]y[/link]", "<script>alert(1)</script>", "</text><a href='x'>",
    "a&b<c>\"d'", "&A&P",
    "_x0041_", "_x005F_", "_x001B_x", "{title}", "{steps}", "%s %d {0}", "#REF!", "#n/a", "TRUE", "007",
    "1-2", "1e5", "`x`", "a|b", "$x$", "a*b?c~d", "\\input{x}", "👩‍👩‍👧", "w" * 300,
    *ESCAPES,
]  # fmt: skip
LABELS = ("=a", "<b>", "@c\x1b[1m")
NAMES = ("=1+1 &A", "<b>'s e\u202e")
FORMULA = ("1+1", "cmd|", "SUM(1)", "HYPERLINK", "2+3")
SAID = [clean(word) for word in WORDS]
SENTENCES = SAID[:28], SAID[27:]  # with one word in common


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An input in which everything that can be named is."""
    folder = tmp_path_factory.mktemp("nasty")
    values = np.random.default_rng(0).normal(size=(len(WORDS), len(LABELS))).round(2).tolist()
    rows = {clean(word): [word, *line] for word, line in zip(WORDS, values)}
    sheets = {
        name: [["", *LABELS], *map(rows.__getitem__, words)] for name, words in zip(NAMES, SENTENCES)
    }
    return make_input(folder / "input.xlsx", sheets)


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert end.value.code in (0, None), said.err
    return said.out + said.err


def steers(text: str) -> set[str]:
    """What in a text would steer a terminal, but for the colours that the program itself gives."""
    text = re.sub("\x1b\\[[0-9;]*m", "", text)
    return {
        letter
        for letter in text
        if letter != "\n" and (letter < " " or "\x7f" <= letter <= "\x9f" or letter in HIDDEN)
    }


def check_workbook(path: Path) -> None:
    """No word is a formula, no link leads out of the workbook, nothing needs to be repaired."""
    assert not violations(path)
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            xml = package.read(name).decode()
            assert "External" not in xml, name
            for link in re.findall("<hyperlink [^>]*>", xml):
                assert " location=" in link
            for formula in re.findall("<(?:f|formula1|definedName)[ >][^<]*", xml):
                bare = re.sub("\"[^\"]*\"|'(?:[^']|'')*'!", "", formula.replace("&quot;", '"'))
                assert not any(text in bare for text in FORMULA), formula
    for sheet in openpyxl.load_workbook(path):
        for cells in sheet.iter_rows():
            for cell in cells:
                if cell.value in (*SAID, *map(clean, LABELS)):
                    assert cell.data_type in "sn", cell


@thorough
@alike
@pytest.mark.parametrize(
    "options",
    [
        ["convert"],
        ["convert", "--plain"],
        ["convert", "--layout", "canvas"],
        ["convert", "--formulas", "dynamic"],
        ["similarity"],
        ["teach"],
        ["teach", "--exam"],
    ],
    ids=" ".join,
)
def test_workbooks(
    options: list[str], source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = call(capsys, options[0], source, "-o", tmp_path / "o.xlsx", *options[1:])
    assert not steers(said)
    check_workbook(tmp_path / "o.xlsx")
    if options[0] == "convert":
        back = attn_xl.read_tables(tmp_path / "o.xlsx").sentences
        assert [list(table.rows) for table in back.values()] == [*SENTENCES]


@alike
@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize(
    "command",
    [
        ["inspect"],
        ["inspect", "--json"],
        ["show"],
        ["show", "--json"],
        ["show", "--csv"],
        ["explain", f"{clean(NAMES[0])}.Softmax!D6", "--depth", "3"],
        ["explain", f"{clean(NAMES[0])}.Softmax!D6", "--json"],
    ],
    ids=" ".join,
)
def test_terminals(
    command: list[str],
    color: bool,
    source: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if color:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "150")
    said = call(capsys, command[0], source, *command[1:])
    if "--csv" not in command:
        assert not steers(said)
    else:  # elsewhere than on a terminal, a table for programs has what turns a line as it is
        assert steers(said) <= {*HIDDEN}
    if "--json" in command:
        json.loads(said)
    elif not color:
        assert "\x1b" not in said
        assert command[0] != "show" or "[bold]x[/bold]" in said


@thorough
@pytest.mark.parametrize("letter", HIDDEN)
def test_remarks_name_what_they_like(
    letter: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [["", f"a{letter}", "b"], [f"c{letter}t", 1, 2], ["sat", 3, 4]]
    others = [["", "a", "b", "c"], ["hat", 1, 2, 3]]
    tables = {f"one{letter}": rows, f"two{letter}": others, f"W_X{letter}": [["", "x"], ["y", 1]]}
    path = make_input(tmp_path / f"in{letter}.xlsx", tables)
    reports = []
    for command in (
        ["show"],
        ["convert", "-o", "o.xlsx"],
        ["teach", "-o", "t.xlsx"],
        ["similarity", "-o", "s.xlsx"],
        ["explain", "Softmax[1, 1]"],
        ["inspect"],
    ):
        with pytest.raises(SystemExit):
            main([command[0], str(path), *command[1:]])
        said = capsys.readouterr()
        assert not steers(said.out + said.err), command
        reports.append(said.out + said.err)
    assert sum("\ufffd" in report for report in reports) >= 3


@alike
@pytest.mark.parametrize("name", [*NAMES, *WORDS])
def test_errors_name_what_they_like(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for call_ in (["show", name], ["show", SAMPLES / "mouse.xlsx", f"--step={name}"]):
        with pytest.raises(SystemExit):
            main(list(map(str, call_)))
        said = capsys.readouterr()
        assert not steers(said.err + said.out)
        assert said.err.count("\n") == 1


def test_csv_holds_no_formula_and_is_read_back(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = call(capsys, "show", source, "--csv")
    for row in csv.reader(io.StringIO(said)):
        for field in row:
            if not re.fullmatch(r"-?[\d.]+(e[-+]\d+)?", field):
                assert field[:1] not in tuple("=+-@\t\r\n＝"), field
    one = call(capsys, "show", source, "--csv", "--step", "Input", "--sheet", clean(NAMES[0]))
    (tmp_path / "back.csv").write_text(one, encoding="utf-8")
    (table,) = attn_xl.read_tables(tmp_path / "back.csv").sentences.values()
    assert list(table.rows) == SENTENCES[0]
    assert table.columns == tuple(map(clean, LABELS))
    np.testing.assert_array_equal(
        table.values, attn_xl.read_tables(source).sentences[clean(NAMES[0])].values
    )


def test_csv_with_a_coloured_word_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "coloured.csv"
    path.write_bytes(b",a,b\n\x1b[31mred\x1b[0m,1,2\nbell\x07,3,4\n")
    said = call(capsys, "show", path)
    assert "\ufffd[31mred\ufffd[0m" in said
    assert "bell\ufffd" in said
    assert not {"\x1b", "\x07"} & set(said)


@pytest.mark.parametrize("text", ["=x", "'=x", "''=x", "-", "'-1", "#REF!", "'#REF!", "+ 1", "@"])
def test_an_apostrophe_more_is_put_before_each_and_taken_away(text: str) -> None:
    from attn_xl.spreadsheets.text_files import read_text

    assert harmless(text) == f"'{text}"
    assert read_text(f"a,{harmless(text)}\nb,1\n", "x")[0] == ["a", text]


def test_notebooks_hold_tables_alone(source: Path) -> None:
    tags: set[str] = set()

    class Tags(html.parser.HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            tags.add(tag)

    for table in attn_xl.read_tables(source).sentences.values():
        Tags().feed(table._repr_html_())
    assert tags <= {"table", "caption", "tr", "th", "td", "p"}


@thorough
@alike
@pytest.mark.parametrize("name", ["=1+1", '=HYPERLINK("http://x")', "[bold]x", "<b>&A", "@SUM(1)"])
def test_students_and_their_answers(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    quoted = name.replace('"', '""')
    Path("class.csv").write_text(f'id,name\n"s1","{quoted}"\n"{quoted}","Ada"\n', encoding="utf-8")
    said = call(capsys, "teach", SAMPLES / "by-hand.xlsx", "--roster", "class.csv", "-o", "class",
                "--layout", "sheets")  # fmt: skip
    for path in (*Path("class").iterdir(), Path("class-answers.xlsx")):
        check_workbook(path)
    lesson = sorted(Path("class").iterdir())[0]
    book = openpyxl.load_workbook(lesson)
    for cell, text in zip(("B5", "C5", "D5"), (name, "a_x001B_[31mb", "\x9b\u202e")):
        book["Scores"][cell].value = text
        book["Scores"][cell].data_type = "s"
    book.save(lesson)
    shutil.copy(lesson, "class/=1+1 [bold]\x1b[31m.xlsx")
    said += call(
        capsys, "grade", "class", "--answers", "class-answers.xlsx", "-o", "grades.xlsx", "--csv",
        "grades.csv", "--feedback", "feedback",
    )  # fmt: skip
    assert not steers(said)
    for path in (*Path("feedback").iterdir(), Path("grades.xlsx")):
        check_workbook(path)
    for row in csv.reader(io.StringIO(Path("grades.csv").read_text(encoding="utf-8-sig"))):
        assert not any(field.startswith(("=", "+", "-", "@")) for field in row)


def test_words_out_of_a_workbook_are_read_as_they_stand(tmp_path: Path) -> None:
    path = make_input(tmp_path / "i.xlsx", {"s": [["", "d"], ["_x0041_", 1.0], ["_x001B_x", 2.0]]})
    (table,) = attn_xl.read_tables(path).sentences.values()
    assert not steers("".join(table.rows))


CODES = ("_x0041_", "_x005F_x0041_", "_xD83D_", "a_x000a_b")


def test_what_looks_like_the_code_of_a_letter_is_escaped_everywhere_and_read_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [["", "_x0041_", "b"], *([word, i, 1.5] for i, word in enumerate(CODES))]
    path = tmp_path / "o.xlsx"
    source = make_input(tmp_path / "input.xlsx", {"_x0041_": rows, "z_x0042_": rows})
    call(capsys, "convert", source, "-o", path)
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            if name.startswith("xl/"):  # a title of a chart is text of DrawingML, which has no codes
                xml = re.sub("<a:t>[^<]*", "", package.read(name).decode())
                assert not re.findall("(?<!_x005F)_x00(?!5F)[0-9A-F]{2}_", xml), name
    for table in attn_xl.read_tables(path).sentences.values():
        assert (*table.rows,) == CODES
        assert table.columns == ("_x0041_", "b")
    assert not violations(path)
