"""What the program wrote, it reads: with the numbers and the choices that a workbook has now."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, Part, alike, is_note, thorough

import attn_xl
from attn_xl import CallError, attend, explain, read_tables
from attn_xl.cli.main import main
from attn_xl.workbook.write import write_workbook


def call(*args: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(arg) for arg in args])
    return int(end.value.code or 0)


def switch(book: Any, name: str) -> Any:
    """The cell of a switch, below its name."""
    sheet = book["Overview"]
    (above,) = [cell for row in sheet.iter_rows() for cell in row if cell.value == name]
    return sheet.cell(above.row + 1, above.column)


@thorough
def test_a_number_and_a_switch_that_were_changed_are_honoured(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    assert call("convert", SAMPLES / "mouse.xlsx", "-o", path, "--switches", "causal") == 0
    book = openpyxl.load_workbook(path)
    book["pets.Input"]["B5"] = 5.0
    for name, value in (("Scale", "off"), ("Temperature", 2), ("Causal", "on")):
        switch(book, name).value = value
    book.save(path)
    found = read_tables(path)
    assert found.sentences["pets"].values[0, 0] == 5
    given = read_tables(SAMPLES / "mouse.xlsx")
    x = given.sentences["pets"].values.copy()
    x[0, 0] = 5
    scores = np.where(np.triu(np.ones((5, 5)), 1) == 1, -np.inf, x @ x.T / 2)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    assert np.allclose(attend(found)["pets"]["Softmax"].values, weights, rtol=1e-12, atol=0)


@thorough
@pytest.mark.parametrize("option", [["--causal"], ["--switches", "causal"]])
def test_a_workbook_keeps_its_switch_for_the_mask(option: list[str], tmp_path: Path) -> None:
    path, again = tmp_path / "out.xlsx", tmp_path / "again.xlsx"
    assert call("convert", SAMPLES / "mouse.xlsx", "-o", path, *option) == 0
    book = openpyxl.load_workbook(path)
    switch(book, "Causal").value = "off"
    book.save(path)
    assert call("convert", path, "-o", again) == 0
    twin = openpyxl.load_workbook(again)
    assert twin.sheetnames == book.sheetnames
    assert switch(twin, "Causal").value == "off"


@thorough
@alike
@pytest.mark.parametrize("layout", ["sheets", "canvas"])
@pytest.mark.parametrize("sample", ["mouse", "multi-head"])
def test_every_cell_of_a_written_workbook_is_explained(
    sample: str, layout: str, tmp_path: Path, part: Part
) -> None:
    path = tmp_path / "out.xlsx"
    assert call("convert", SAMPLES / f"{sample}.xlsx", "-o", path, "--layout", layout) == 0
    tables = read_tables(path)
    settings = attn_xl.Settings.resolve({}, tables.settings, "here")
    computation = attend(tables, settings)
    book = openpyxl.load_workbook(path)
    stored = openpyxl.load_workbook(path, data_only=True)
    explained = 0
    for name in ("Compare", "Masked_1", "pets.Masked", "pets.Softmax"):
        if layout == "canvas" and name != "Compare":
            continue
        for row in book[name].iter_rows() if name in book.sheetnames else ():
            for cell in part([cell for cell in row if str(cell.value).startswith("=")]):
                if is_note(cell):
                    continue
                if cell.value and isinstance(stored[name][cell.coordinate].value, (int, float)):
                    one = explain(computation, f"'{name}'!{cell.coordinate}")
                    assert f"={one.formula.lstrip('=')}" == cell.value
                    value = stored[name][cell.coordinate].value
                    assert one.value == value or isinstance(value, str)
                    explained += 1
    assert explained > 8


def test_explain_on_a_written_workbook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.xlsx"
    assert call("convert", SAMPLES / "mouse.xlsx", "-o", path) == 0
    capsys.readouterr()
    assert call("explain", path, "pets.Scaled!B5", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["cell"] == "pets.Scaled[mouse, mouse]"
    assert call("explain", path, "Overview!A1") == 2
    with pytest.raises(CallError):
        explain(attend(read_tables(path)), "Nowhere!B5")


@alike
@pytest.mark.parametrize("options", [["--plain"], ["--formulas", "none"], ["--formulas", "array"]])
@pytest.mark.parametrize("sample", ["mouse", "multi-head", "decoder"])
def test_every_way_of_writing_is_read_back(sample: str, options: list[str], tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    assert call("convert", SAMPLES / f"{sample}.xlsx", "-o", path, *options) == 0
    given = attend(read_tables(SAMPLES / f"{sample}.xlsx"))
    again = attend(read_tables(path))
    for sentence, graph in given.items():
        for step, node in graph.items():
            if not node.scalar and step in again[sentence if sentence in again else "Input"]:
                there = again[sentence][step].values
                assert (there == node.values).all(), step


def test_without_its_record_a_written_workbook_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.xlsx"
    write_workbook(attend(read_tables(SAMPLES / "mouse.xlsx")), path)
    assert call("convert", path, "-o", tmp_path / "again.xlsx") == 1
    said = capsys.readouterr().err
    assert "attn-xl wrote this workbook" in said
    assert "'Settings' is missing. Give the file it was made from." in said


@pytest.mark.parametrize("options", [["--words-in", "rows"], ["--range", "Q!A4:D9"]])
def test_a_written_workbook_is_read_as_a_whole(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.xlsx"
    assert call("convert", SAMPLES / "politics.xlsx", "-o", path) == 0
    assert call("convert", path, *options, "-o", tmp_path / "again.xlsx") == 1
    assert "leave out --range and --words-in to read it back" in capsys.readouterr().err


def edited(path: Path, **entries: object) -> Path:
    """A written workbook with other things in some cells, `pets_Input__B5=2`."""
    book = openpyxl.load_workbook(path)
    for where, value in entries.items():
        sheet, _, cell = where.partition("__")
        book[sheet.replace("_", ".")][cell] = value
    book.save(path)
    return path


def test_a_written_workbook_is_piped_in_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.xlsx"
    assert call("convert", SAMPLES / "politics.xlsx", "-o", path) == 0
    book = openpyxl.load_workbook(path, data_only=True)
    book["Input"].insert_rows(6, 2)
    book.defined_names["Input"].attr_text = "Input!$B$5:$C$11"
    book.save(path)
    values = read_tables(path).sentences["politics"].values

    class Piped:
        buffer = io.BytesIO(path.read_bytes())

    monkeypatch.setattr(sys, "stdin", Piped)
    assert np.array_equal(read_tables("-").sentences["politics"].values, values)


@thorough
@pytest.mark.parametrize("options", [[], ["--layout", "canvas"], ["--formulas", "dynamic"]])
@pytest.mark.parametrize("sample", ["encoder-decoder", "language-model", "dropout", "positions"])
def test_nothing_is_remarked_on_what_nobody_changed(
    sample: str, options: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "out.xlsx"
    assert call("convert", SAMPLES / f"{sample}.xlsx", "-o", path, *options) == 0
    assert read_tables(path).remarks == ()


@thorough
def test_one_sentence_of_a_written_workbook(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.xlsx"
    assert call("convert", SAMPLES / "mouse.xlsx", "-o", path) == 0
    for name in ("desk", "Desk.Input"):
        assert list(read_tables(path, sheet=name).sentences) == ["desk"]
    with pytest.raises(CallError, match=r"no sentence 'dog'. There are: pets, desk"):
        read_tables(path, sheet="dog")
    edited(path, pets_Input__C6="0,5")
    for command in (["show"], ["explain", "Softmax[1, 1]"]):
        assert call(command[0], path, *command[1:], "--sheet", "pets") == 1
        assert "sheet 'pets.Input', cell C6: the text '0,5'" in capsys.readouterr().err
