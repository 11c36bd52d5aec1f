"""What no sheet, cell or workbook holds is said before anything is computed, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SAMPLES, alike, make_input, thorough

import attn_xl
from attn_xl import InputError, Settings, attend, read_tables
from attn_xl.cli.main import main
from attn_xl.graph.given import given
from attn_xl.graph.matrix import shapes_only
from attn_xl.graph.operations.products import Product
from attn_xl.models.build import foresee
from attn_xl.models.softmax import softmax
from attn_xl.settings import Model


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever multiplies matrices fails."""

    def work(*_: object) -> None:
        raise AssertionError("something is computed")

    monkeypatch.setattr(Product, "numbers", work)


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """What is said of a table of ones of some size, by some command, which writes nothing."""
    monkeypatch.chdir(tmp_path)

    def run(words: int, dimensions: int, command: str, *options: str) -> str:
        Path("input.csv").write_text((",".join("1" * dimensions) + "\n") * words)
        with pytest.raises(SystemExit) as end:
            main([command, "input.csv", *options])
        assert end.value.code in (1, 2)
        assert [path.name for path in Path().iterdir()] == ["input.csv"]
        return capsys.readouterr().err

    return run


COMMANDS = [
    ["convert"],
    ["convert", "--causal", "--dropout", "0.1", "--layout", "canvas"],
    ["convert", "--model", "encoder", "--heads", "2", "--random-weights", "1", "--hidden", "1000"],
    ["similarity"],
    ["show"],
    ["explain", "Softmax[1, 2]"],
    ["teach"],
    ["teach", "--roster", str(SAMPLES / "class.csv"), "-o", "class"],
]


@thorough
@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_more_numbers_than_memory_holds(command: list[str], refused: Callable[..., str]) -> None:
    said = refused(20_000, 4, *command)
    assert "20,000 x 20,000 numbers" in said
    assert "the most is 100,000,000. Use fewer words (--range selects part of a table)" in said


@thorough
@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("command", [c for c in COMMANDS if c[0] in ("convert", "teach")], ids=" ".join)
def test_more_numbers_than_programs_open(command: list[str], refused: Callable[..., str]) -> None:
    said = refused(2_300, 4, *command)
    assert "more than the 20,000,000 or so that spreadsheet programs can open" in said
    assert "--sheets-for" in said


@alike
@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("command", [["convert"], ["teach"], ["convert", "--layout", "canvas"]])
def test_more_columns_than_a_sheet_has(command: list[str], refused: Callable[..., str]) -> None:
    said = refused(3, 16_384, *command)
    assert "needs cells up to XFE7, but a sheet ends at XFD1048576" in said
    assert "fewer dimensions" in said


@pytest.mark.usefixtures("idle")
def test_more_rows_than_a_sheet_has(
    monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.setattr("attn_xl.workbook.layout.place.MAX_ROWS", 10)
    said = refused(8, 2, "convert", "--plain")
    assert "Input has 8 x 2 numbers and needs cells up to C12, but a sheet ends at XFD10" in said


@thorough
def test_a_lesson_with_more_cells_than_the_key_has_columns(refused: Callable[..., str]) -> None:
    roster = str(SAMPLES / "class.csv")
    said = refused(70, 2, "teach", "--roster", roster, "-o", "class", "--level", "3")
    assert "cells per student, more than the key has columns; use a shorter sentence" in said


@pytest.mark.parametrize("letters", [32_768, 100_000])
def test_text_that_no_cell_holds(
    letters: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "i.csv"
    path.write_text(f",d\n{'w' * letters},1\nx,2\n")
    with pytest.raises(SystemExit):
        main(["convert", str(path)])
    said = capsys.readouterr().err
    assert f"cell A2: the word 'wwwwwwwwwwwwwwwwwww…' has {letters:,} characters" in said
    assert "a cell of a workbook holds 32,767. Shorten it." in said


def test_names_of_students_that_no_cell_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "class.csv").write_text(f"id,name\ns1,{'n' * 40_000}\n")
    with pytest.raises(SystemExit):
        main(
            ["teach", str(SAMPLES / "by-hand.xlsx"), "--roster", str(tmp_path / "class.csv"), "-o",
             str(tmp_path / "class")]
        )  # fmt: skip
    assert "line 2: 'nnnnnnnnnnnnnnnnnnn…' has 40,000 " in capsys.readouterr().err
    assert not (tmp_path / "class").exists()


@thorough
def test_names_of_sentences_that_no_sheet_holds(
    tmp_path: Path, keep: Callable[[Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [["", "d1", "d2"], ["a", 1, 2], ["b", 2, 3]]
    names = [
        "A very long name of a sentence",
        "a very long name of a sentence2",
        "plain",
    ]
    path = make_input(tmp_path / "i.xlsx", dict.fromkeys(names, rows))
    with pytest.raises(SystemExit) as end:
        main(["convert", str(path)])
    assert not end.value.code
    book = attn_xl.read_tables(keep(tmp_path / "i-attention.xlsx"))
    assert len(book.sentences) == len(names)
    assert capsys.readouterr().err == (
        "Sheet names are limited to 31 characters and cannot hold every character: "
        "sheets of 'A very long name of a sentence' begin with 'A very long name of a', "
        "sheets of 'a very long name of a sentence2' begin with 'a very long name of_2'. Rename the "
        "sentences to choose other names.\n"
    )


@alike
@pytest.mark.parametrize(
    ("sample", "settings"),
    [
        *((path.stem, {}) for path in sorted(SAMPLES.glob("*.xlsx"))),
        ("mouse", {"controls": True, "causal": True, "dropout": 0.5}),
        ("plain-sum", {"controls": True}),
        ("mouse", {"model": Model.similarity}),
    ],
)
def test_shapes_are_foreseen(sample: str, settings: dict[str, Any]) -> None:
    tables = read_tables(SAMPLES / f"{sample}.xlsx")
    chosen = Settings.resolve(settings, tables.settings, "")
    seen, made = foresee(tables, chosen), attend(tables, chosen)
    assert seen.title == made.title
    for name, graph in made.items():
        assert {step: node.shape for step, node in seen[name].items()} == {
            step: node.shape for step, node in graph.items()
        }
    for kind in ("comparison", "plane"):
        assert {n: m.shape for n, m in getattr(seen, kind).items()} == {
            n: m.shape for n, m in getattr(made, kind).items()
        }


def test_what_is_foreseen_takes_no_memory_and_ends_with_the_block() -> None:
    x = given(np.ones((9_000, 1)), range(9_000), "d", "x")
    with shapes_only():
        y = x @ x.T
        assert y.shape == (9_000, 9_000)
        assert y.values.strides == (0, 0)
        with pytest.raises(InputError, match="162,018,000 to compute"):
            softmax(y)
    assert (x.T @ x).values.tolist() == [[9_000.0]]


def test_a_matrix_that_is_too_large_is_refused_without_foresight_too() -> None:
    x = given(np.ones((20_000, 1)), range(20_000), "d", "x")
    with pytest.raises(InputError, match="the step 'x × xᵀ' has 20,000 x 20,000 numbers"):
        x @ x.T
