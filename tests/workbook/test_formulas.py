"""Three ways to write a formula: the same numbers in all of them. That engines compute these is in
`test_engines.py`."""

from __future__ import annotations

import re
import zipfile
from itertools import cycle, product, repeat
from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES, alike, thorough
from ooxml import violations
from openpyxl.worksheet.formula import ArrayFormula

import attn_xl
from attn_xl.settings import Arrangement, Formulas
from attn_xl.workbook.write import write_workbook

FILES = sorted(
    path.stem
    for path in SAMPLES.glob("*.xlsx")
    if "-" not in path.stem
    or path.stem in ("by-hand", "encoder-decoder", "language-model", "multi-head", "plain-sum")
)


def written(
    sample: str, formulas: Formulas, path: Path, **more: object
) -> attn_xl.workbook.layout.layout.Layout:  # type: ignore[name-defined]
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    chosen = {"formulas": formulas, "controls": True, **more}
    settings = attn_xl.Settings.resolve(chosen, tables.settings, sample)
    return write_workbook(attn_xl.attend(tables, settings), path, settings=settings)


@alike
@pytest.mark.parametrize(
    ("sample", "formulas", "arrangement"),
    [
        *zip(FILES, cycle([Formulas.array, Formulas.dynamic]), repeat(Arrangement.sheets)),
        *product(["mouse"], [Formulas.array, Formulas.dynamic], [Arrangement.canvas]),
        ("multi-head", Formulas.array, Arrangement.layers),
    ],
)
def test_every_cell_has_its_value(
    sample: str, formulas: Formulas, arrangement: Arrangement, tmp_path: Path
) -> None:
    path = tmp_path / "out.xlsx"
    layout = written(sample, formulas, path, layout=arrangement)
    assert not violations(path)
    book = openpyxl.load_workbook(path, data_only=True)
    for node, block in layout.blocks.items():
        place = block.place
        for i in range(place.rows):
            for j in range(place.columns):
                value = book[place.sheet].cell(place.row + i, place.column + j).value
                assert value is not None
                if not node.texts:
                    assert value == node.values[i, j]


def test_the_formulas_are_those_of_a_textbook(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    written("projections", Formulas.array, path, causal=True)
    book = openpyxl.load_workbook(path)
    wanted = {
        "Q": "=MMULT(Input,W_Q)",
        "Scores": "=MMULT(Q,TRANSPOSE(K))",
        "Scaled": "=Scores/Divisor",
        "Masked": "=Scaled+Mask",
        "Softmax": "=Softmax.Exponentials/Softmax.Sum",
        "Output": "=MMULT(Softmax,V)",
    }
    for sheet, formula in wanted.items():
        cell = book[sheet]["M5" if sheet == "Softmax" else "B5"].value
        assert isinstance(cell, ArrayFormula)
        assert cell.text == formula
        assert isinstance(book[sheet]["M6" if sheet == "Softmax" else "B6"].value, float)
    assert book["Softmax"]["D5"].value.text == "=EXP(Masked-Softmax.Maximum)"
    assert str(book["Softmax"]["B5"].value).startswith("=MAX(")


@thorough
def test_every_array_covers_its_matrix_and_no_two_overlap(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    layout = written("encoder", Formulas.array, path)
    book = openpyxl.load_workbook(path)
    arrays = {
        f"{sheet.title}!{cell.value.ref}"
        for sheet in book
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell.value, ArrayFormula)
    }
    places = {f"{b.place.sheet}!{b.place.range}" for b in layout.blocks.values()}
    assert arrays <= places
    assert len(arrays) > 40


@thorough
def test_a_dynamic_formula_is_stored_as_excel_does(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    written("mouse", Formulas.dynamic, path)
    with zipfile.ZipFile(path) as book:
        sheet = next(
            xml
            for name in book.namelist()
            if "worksheets/sheet" in name
            for xml in [book.read(name).decode()]
            if "MMULT(Q" in xml or "MMULT(pets.Q" in xml
        )
        assert re.search(r'<c r="B5" s="\d+" cm="1"><f t="array" ref="B5:F9">MMULT\(', sheet)
        assert sheet.count('cm="1"') == 1
        metadata = book.read("xl/metadata.xml").decode()
        assert 'name="XLDAPR"' in metadata
        assert 'fDynamic="1"' in metadata
        assert 'PartName="/xl/metadata.xml"' in book.read("[Content_Types].xml").decode()
        assert 'Target="metadata.xml"' in book.read("xl/_rels/workbook.xml.rels").decode()
    written("mouse", Formulas.array, path)
    with zipfile.ZipFile(path) as book:
        assert "xl/metadata.xml" not in book.namelist()
        assert not any(b'cm="1"' in book.read(name) for name in book.namelist())
