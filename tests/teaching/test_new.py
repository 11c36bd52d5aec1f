"""attn-xl new: an input workbook out of words. Every option, every refusal, and what is in the file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import thorough

import attn_xl
from attn_xl.cli.main import main
from attn_xl.errors import OutputError
from attn_xl.teaching.pleasant_numbers import pleasant
from attn_xl.workbook.write_input import write_tables

CAT = "the cat chased the mouse"
NASTY = [
    "=1+1", "-5", "TRUE", "007", "@x", "+cmd|'/C'!A0", "1e5", "2024-01-01", "<b>&amp;", "_x0041_",
    "日本語", "🐭", "'quoted", '"', "#N/A", "setting", "\u202eabc", "1/2", "50%", "word",
]  # fmt: skip


@pytest.fixture
def new(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., tuple[int, str, Path]]:
    """Run the command; its status, what it said, and the file."""

    def run(*args: object, output: str = "in.xlsx") -> tuple[int, str, Path]:
        path = tmp_path / output
        with pytest.raises(SystemExit) as end:
            main(["new", *map(str, args), "-o", str(path)])
        said = capsys.readouterr()
        return int(end.value.code or 0), said.out + said.err, path

    return run


New = Callable[..., tuple[int, str, Path]]


@thorough
def test_an_input_that_converts(new: New, write: Callable[..., Path]) -> None:
    status, said, path = new("--words", CAT, "--dims", 4, "--seed", 7)
    assert status == 0
    assert said == f"{path}: Sentence 5 × 4, W_Q 4 × 4, W_K 4 × 4, W_V 4 × 4\n"
    tables = attn_xl.read_tables(path)
    assert list(tables.sentences) == ["Sentence"]
    assert list(tables.sentences["Sentence"].rows) == CAT.split()
    assert tables.sentences["Sentence"].columns == ("d1", "d2", "d3", "d4")
    assert list(tables.weights) == ["W_Q", "W_K", "W_V"]
    assert tables.weights["W_K"].columns == ("k1", "k2", "k3", "k4")
    write(path)


@thorough
def test_several_sentences_and_heads(new: New, write: Callable[..., Path]) -> None:
    args = ["--words", CAT, "--words", "a mouse runs", "--heads", 2, "--dims", 6]
    status, said, path = new(*args, "--d-k", 2, "--d-v", 1)
    assert status == 0
    assert "W_O 2 × 6" in said
    tables = attn_xl.read_tables(path)
    first, second = tables.sentences["sentence 1"], tables.sentences["sentence 2"]
    assert np.array_equal(first.values[4], second.values[1])
    assert np.array_equal(first.values[0], first.values[3])
    assert {name: table.shape for name, table in tables.weights.items()} == {
        "W_Q": (6, 4), "W_K": (6, 4), "W_V": (6, 2), "W_O": (2, 6),
    }  # fmt: skip
    assert tables.settings == {"heads": 2}
    computation = attn_xl.attend(tables)
    assert computation["sentence 1"]["Softmax_2"].shape == (5, 5)
    options: dict[str, Any] = {"settings": {"heads": 2}}
    write(path, **options)


def test_no_weights(new: New) -> None:
    status, said, path = new("--words", CAT, "--no-weights")
    assert (status, said) == (0, f"{path}: Sentence 5 × 4\n")
    assert attn_xl.read_tables(path).weights == {}


@thorough
def test_the_seed_decides_and_the_bytes_are_the_same(new: New) -> None:
    made = [
        new("--words", CAT, "--heads", 2, "--seed", seed, output=f"{i}.xlsx")[2].read_bytes()
        for i, seed in enumerate((3, 3, 4))
    ]
    assert made[0] == made[1] != made[2]


def test_without_o_it_is_input_xlsx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["new", "--words", "a b"])
    assert [path.name for path in tmp_path.iterdir()] == ["input.xlsx"]


@thorough
def test_an_output_that_exists_is_refused_without_force(new: New) -> None:
    *_, path = new("--words", CAT)
    before = path.read_bytes()
    status, said, _ = new("--words", "others")
    assert (status, path.read_bytes()) == (2, before)
    assert "exists already. Use --force" in said
    assert new("--words", "others", "--force")[0] == 0
    assert path.read_bytes() != before


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--dims", "3"], "Missing option '--words'"),
        (["--words", " "], "--words is empty"),
        (["--words", "a", "--words", ""], "--words is empty"),
        (["--words", "a", "--dims", "0"], "--dims is 0; it must be at least 1"),
        (["--words", "a", "--dims", "two"], "two"),
        (["--words", "a", "--d-k", "0"], "--d-k is 0"),
        (["--words", "a", "--d-v", "-1"], "--d-v is -1"),
        (["--words", "a", "--heads", "0"], "--heads is 0"),
        (["--words", "a", "--heads", "1001", "--dims", "1001"], "--heads is 1001"),
        (["--words", "a", "--seed", "-1"], "--seed is -1"),
        (["--words", "a", "--heads", "3"], "--dims 4 does not split into --heads 3"),
        (["--words", "a", "--heads", "3", "--d-k", "2"], "or set --d-k and --d-v"),
        (["--words", "a", "--heads", "8"], "does not split"),
        (
            ["--words", "a", "--no-weights", "--heads", "2"],
            "--heads cannot be combined with --no-weights",
        ),
        (["--words", "a", "--no-weights", "--d-k", "2"], "--d-k cannot be combined with --no-weights"),
        (["--words", "a", "--no-weights", "--d-v", "2"], "--d-v cannot be combined with --no-weights"),
        (["--words", "a", "--dims", "16384", "--no-weights"], "16,384 columns does not fit a sheet"),
        (["--words", "a", "--dims", "9000"], "does not fit"),
        (["--words", "a " * 1_048_576, "--dims", "1"], "a table of 1,048,576 rows"),
    ],
)
def test_refusals(new: New, args: list[str], said: str) -> None:
    begun = time.perf_counter()
    status, text, path = new(*args)
    assert status == 2
    assert said in text
    assert not path.exists()
    assert time.perf_counter() - begun < 5  # before any work


@pytest.mark.parametrize(
    ("output", "status", "said"),
    [("in.csv", 2, "ends in .xlsx"), ("no/such/in.xlsx", 1, "no such folder")],
)
def test_outputs_that_are_refused(new: New, output: str, status: int, said: str) -> None:
    found, text, path = new("--words", "a b", output=output)
    assert found == status
    assert said in text
    assert not path.exists()


def test_words_are_text_whatever_they_look_like(new: New) -> None:
    *_, path = new("--words", "\t".join(NASTY), "--dims", 3)
    assert list(attn_xl.read_tables(path).sentences["Sentence"].rows) == NASTY
    cells = [row[0] for row in openpyxl.load_workbook(path)["Sentence"].iter_rows(min_row=2)]
    for cell, word in zip(cells, NASTY):
        assert cell.data_type == "s"
        assert cell.value in (word, word.replace("_x", "_x005F_x"))
        assert (cell.number_format, cell.quotePrefix, cell.font.b) == ("@", True, True)


# Writing tables that were read


def _assert_same(found: attn_xl.Tables, tables: attn_xl.Tables) -> None:
    assert found.settings == tables.settings
    for mine, theirs in ((found.sentences, tables.sentences), (found.weights, tables.weights)):
        assert list(mine) == list(theirs)
        for one, other in zip(mine.values(), theirs.values()):
            assert (one.rows, one.columns) == (other.rows, other.columns)
            assert one.labelled == other.labelled
            assert np.array_equal(one.values, other.values)


@thorough
@pytest.mark.parametrize("labelled", [(True, True), (True, False), (False, True), (False, False)])
def test_labels_are_written_where_there_were_some(tmp_path: Path, labelled: tuple[bool, bool]) -> None:
    tables = pleasant([["a", "b"]], 3, weights=False)
    rows = ("a", "b") if labelled[0] else ("word 1", "word 2")
    columns = ("x", "y", "z") if labelled[1] else ("dim 1", "dim 2", "dim 3")
    values = np.array([[0.25, -1.5, 2], [3, 1e-3, 5]])
    table = replace(
        tables.sentences["Sentence"], rows=rows, columns=columns, labelled=labelled, values=values
    )
    tables = replace(tables, sentences={"Sentence": table})
    write_tables(tables, tmp_path / "t.xlsx")
    _assert_same(attn_xl.read_tables(tmp_path / "t.xlsx"), tables)
    cell = openpyxl.load_workbook(tmp_path / "t.xlsx")["Sentence"].cell(
        1 + labelled[1], 1 + labelled[0]
    )
    assert (cell.value, cell.number_format) == (0.25, "0.000")


@pytest.mark.parametrize("first", [[0, 1, 2], [1, 2, 3]])
def test_a_first_row_of_counts_is_not_taken_for_headings(tmp_path: Path, first: list[int]) -> None:
    table = pleasant([["a", "b"]], 3, weights=False).sentences["Sentence"]
    table = replace(table, labelled=(True, False), values=np.array([first, [4.0, 5, 6]]))
    write_tables(attn_xl.Tables(Path("x"), {"s": table}, {}), tmp_path / "t.xlsx")
    found = attn_xl.read_tables(tmp_path / "t.xlsx").sentences["s"]
    assert np.array_equal(found.values, table.values)
    assert found.rows == ("a", "b")


def test_names_that_a_sheet_cannot_have(tmp_path: Path) -> None:
    table = pleasant([["a"]], 2, weights=False).sentences["Sentence"]
    names = ["a/b", "x" * 40, "x" * 41, "settings", "'"]
    settings = {"memory": "a/b", "causal": True, "temperature": 0.5, "padding": "a/b"}
    tables = attn_xl.Tables(Path("x"), dict.fromkeys(names, table), {}, settings)
    write_tables(tables, tmp_path / "t.xlsx")
    found = attn_xl.read_tables(tmp_path / "t.xlsx")
    assert list(found.sentences) == ["a_b", "x" * 31, "x" * 29 + "_2", "settings_2", "_"]
    assert found.settings == {**settings, "memory": "a_b"}


def test_a_sentence_called_overview_can_be_read(tmp_path: Path) -> None:
    table = pleasant([["a"]], 2, weights=False).sentences["Sentence"]
    write_tables(attn_xl.Tables(Path("x"), {"Overview": table}, {}), tmp_path / "t.xlsx")
    assert list(attn_xl.read_tables(tmp_path / "t.xlsx").sentences) == ["Overview"]


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no such folder"):
        write_tables(pleasant([["a"]], 1), tmp_path / "no" / "t.xlsx")


@thorough
def test_words_need_no_quotes(new: Callable[..., tuple[int, str, Path]]) -> None:
    quoted = new("--words", "the cat sat", "--words", "a mouse", output="q.xlsx")[2].read_bytes()
    bare = ["--words", "the", "cat", "sat", "--dims", 4, "--words", "a", "mouse"]
    assert new(*bare, output="b.xlsx")[2].read_bytes() == quoted
    assert (
        new("--words=the", "cat", "sat", "--words=a mouse", output="e.xlsx")[2].read_bytes() == quoted
    )
    status, *_ = new("--words", "--no-weights", "x")
    assert status == 2
