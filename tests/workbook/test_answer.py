"""The first sheet: what it draws is what the steps hold, whatever word is chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, make_input, table, verify
from judges import Editable

import attn_xl
from attn_xl.settings import Settings


def written(source: Path, path: Path, **options: object) -> attn_xl.Computation:
    tables = attn_xl.read_tables(source)
    settings = Settings.resolve({"controls": True, **options}, tables.settings, "")
    computation = attn_xl.attend(tables, settings)
    attn_xl.write_workbook(computation, path, settings=settings)
    return computation


def test_the_sample_opens_on_its_answer(tmp_path: Path) -> None:
    written(SAMPLES / "mouse.xlsx", tmp_path / "w.xlsx")
    book = openpyxl.load_workbook(tmp_path / "w.xlsx", data_only=True)
    first = book.worksheets[0]
    assert first["A4"].value == "mouse: with cat it becomes animal 2.05 > tech 1.45"
    assert first["A5"].value == "mouse: with keyboard it becomes tech 1.95 > animal 1.56"
    looks = first._charts[0]
    assert (looks.y_axis.scaling.min, looks.y_axis.scaling.max) == (0, 1)  # shares
    linked = {cell.hyperlink.location for row in first.iter_rows() for cell in row if cell.hyperlink}
    assert {f"{name}!A1" for name in book.sheetnames[1:] if name != "Settings"} <= linked
    assert sum(map(float, [first.column_dimensions[letter].width for letter in "ABCDEFGHIJKLM"])) < 120


@pytest.mark.parametrize("word", range(3))
def test_another_word_moves_its_row_and_the_finding(word: int, tmp_path: Path) -> None:
    x = np.array([[2.0, 0.5], [0.3, 1.9], [1.2, -0.7]])
    source = make_input(tmp_path / "in.xlsx", {"s": table(x, ["red", "fox", "ran"])})
    computation = written(source, tmp_path / "w.xlsx")
    verify(tmp_path / "w.xlsx")
    graph = next(iter(computation.values()))
    engine = Editable(tmp_path / "w.xlsx")
    chosen = openpyxl.load_workbook(tmp_path / "w.xlsx").defined_names["Word"].attr_text
    row = int(chosen.rpartition("$")[2])
    engine.enter([("Controls", row, 1, ["red", "fox", "ran"][word])])
    shown = [engine.value("Controls", row, column) for column in range(2, 12)]
    numbers = [value for value in shown if isinstance(value, float)]
    expected = [*x[word], *graph["Softmax"].values[word], *graph["Output"].values[word]]
    assert numbers == pytest.approx(expected, rel=1e-12)
    arrows = [engine.value("Controls", row - 5 + i, 4) for i in range(3)]
    assert arrows == ["→" if i == word else "" for i in range(3)]
    weights, output = graph["Softmax"].values[word], graph["Output"].values[word]
    other = np.argsort(weights)[-2 if weights.argmax() == word else -1]
    assert str(engine.value("Controls", 4, 1)).startswith(
        f"{['red', 'fox', 'ran'][word]}: with {['red', 'fox', 'ran'][other]} it becomes "
        f"{graph['Output'].columns[output.argmax()]} "
    )


def test_larger_models_begin_with_an_overview(tmp_path: Path) -> None:
    for sample in ("multi-head", "encoder"):
        written(SAMPLES / f"{sample}.xlsx", tmp_path / f"{sample}.xlsx")
        assert openpyxl.load_workbook(tmp_path / f"{sample}.xlsx").sheetnames[0] == "Overview"
