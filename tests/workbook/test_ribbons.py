"""Attention as a graph: ribbons from a word that is chosen, as thick as its weights."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, make_input, thorough, verify
from judges import Editable

import attn_xl

TOP, LEFT = 12, 12
"""The cell `word` below the weights of five words."""


def ribbons(book: Editable, sheet: str, words: int) -> list[float]:
    return [book.value(sheet, TOP + 1 + i, LEFT + 1) for i in range(words)]


@thorough
def test_a_ribbon_is_as_thick_as_its_weight(tmp_path: Path) -> None:
    path = tmp_path / "m.xlsx"
    attn_xl.write_workbook(attn_xl.attend(SAMPLES / "mouse.xlsx", controls=True), path)
    verify(path)
    weights = attn_xl.attend(SAMPLES / "mouse.xlsx")["pets"]["Softmax"]
    book = Editable(path)
    assert book.value("pets.Softmax", TOP, LEFT + 1) == "mouse"
    assert ribbons(book, "pets.Softmax", 5) == pytest.approx(weights.values[0].tolist())
    book.enter([("pets.Softmax", TOP, LEFT + 1, "cat")])
    assert ribbons(book, "pets.Softmax", 5) == pytest.approx(weights.values[2].tolist())
    book.enter([("pets.Softmax", TOP, LEFT + 1, None)])
    assert ribbons(book, "pets.Softmax", 5) == pytest.approx(weights.values.mean(axis=0).tolist())
    with zipfile.ZipFile(path) as archive:
        charts = [archive.read(one).decode() for one in archive.namelist() if "/chart" in one]
    (drawn,) = [one for one in charts if "areaChart" in one and ">pets.Softmax!" in one]
    assert drawn.count("<a:noFill/>") >= 5  # the room below the ribbons and between them
    cells = {f"pets.Softmax!$M${row}:$N${row}" for row in range(TOP + 1, TOP + 6)}
    assert all(f"<f>{cell}</f>" in drawn for cell in cells)


@thorough
def test_a_word_that_stands_twice_is_chosen_by_its_number(tmp_path: Path) -> None:
    rows = [["", "a", "b"], ["the", 1, 0], ["cat", 0, 2], ["the", 1, 1]]
    source = make_input(tmp_path / "in.xlsx", {"s": rows})
    path = tmp_path / "out.xlsx"
    attn_xl.write_workbook(attn_xl.attend(source, controls=True, causal=True), path)
    verify(path)
    sheet = openpyxl.load_workbook(path, data_only=True)["Softmax"]
    (word,) = [c for row in sheet.iter_rows(min_row=9) for c in row if c.value == "row"]
    assert sheet.cell(word.row, word.column + 1).value == 3  # the last one sees all
    (choice,) = sheet.data_validations.dataValidation
    assert choice.formula1 == '"1,2,3"'
    values = attn_xl.attend(source, causal=True)["s"]["Softmax"].values[2]
    shown = [sheet.cell(word.row + 1 + i, word.column + 1).value for i in range(3)]
    assert np.allclose(shown, values)


@thorough
def test_many_words_have_no_ribbons(tmp_path: Path) -> None:
    rows = [["", "a"], *([f"w{i}", i / 10] for i in range(17))]
    path = tmp_path / "out.xlsx"
    attn_xl.write_workbook(
        attn_xl.attend(make_input(tmp_path / "in.xlsx", {"s": rows}), controls=True), path
    )
    assert not openpyxl.load_workbook(path)["Softmax"]._charts
