"""`attn-xl fill` on sheets whose formulas spill, in Excel 365, and read each other as `B5#`."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from authors import DIMS, PETS, AuthorSheet, numbers
from conftest import naive_attention, verify
from openpyxl.worksheet.formula import ArrayFormula

from attn_xl.spreadsheets.addresses import Place
from attn_xl.spreadsheets.drawn import read_drawn
from attn_xl.tables.frames import values_in
from attn_xl.tables.labels import Table
from attn_xl.tables.survey import Tables
from attn_xl.workbook.filling.author import fill_file
from attn_xl.workbook.xlsx.splice import packed

WORDS, X = PETS[:3], numbers(PETS[:3])
STEPS = {
    "Scores": (10, 5, "MMULT(C4:E6,TRANSPOSE(C4:E6))"),
    "Scaled": (18, 5, "_xlfn.ANCHORARRAY(C11)/SQRT(3)"),
    "Softmax": (26, 5, "EXP({0})/_xlfn.BYROW(EXP({0}),_xlfn.LAMBDA(_xlpm.r,SUM(_xlpm.r)))"),
    "Output": (34, 5, "MMULT(_xlfn.ANCHORARRAY(C27),C4:E6)"),
}
"""The row before the numbers of each step, their last column, and the formula that spills there."""


def sheet_without(path: Path, gone: str, across: bool = False, borders: bool = True) -> Path:
    """A sheet of spilling formulas from which an exercise was made: a step was deleted, and what reads
    it has collapsed to an error."""
    book = openpyxl.Workbook()
    made, sheet = AuthorSheet(book.active, across=across, borders=borders), book.active
    made.block(2, 2, "Input", WORDS, DIMS, X)
    weights, output = naive_attention(X, X, X)
    numbers_of = {"Scores": X @ X.T, "Scaled": X @ X.T / 3**0.5, "Softmax": weights, "Output": output}
    dead = [*STEPS][[*STEPS].index(gone) :]
    for step, (row, last, text) in STEPS.items():
        made.block(row - 1, 2, step, WORDS, DIMS if step == "Output" else WORDS,
                   numbers_of[step] if step not in dead else None)  # fmt: skip
        place = f"C{row + 1}" if step in dead else f"C{row + 1}:{'CDE'[last - 3]}{row + 3}"
        if step != gone:
            text = text.format("_xlfn.ANCHORARRAY(C19)")
            sheet[f"C{row + 1}"] = ArrayFormula(place, f"={text}")
    book.save(path)
    with zipfile.ZipFile(path) as package:
        xml = package.read(part := "xl/worksheets/sheet1.xml").decode()
    xml = re.sub(r'(<c r="\w+"(?: s="\d+")?)( t="\w+")?(><f t="array")', r'\1 cm="1"\3', xml)
    path.write_bytes(packed(path.read_bytes(), {part: xml.encode()}, set()))
    return path


def with_ranges(path: Path) -> Path:
    """The workbook with ranges for `C11#`, which IronCalc does not know, and without metadata."""
    with zipfile.ZipFile(path) as package:
        xml = package.read(part := "xl/worksheets/sheet1.xml").decode()
    xml = re.sub(r"_xlfn.ANCHORARRAY\(C(\d+)\)", lambda m: f"C{m[1]}:E{int(m[1]) + 2}", xml)
    ranges = path.with_name("ranges.xlsx")
    changed = {part: xml.replace(' cm="1"', "").encode()}
    ranges.write_bytes(packed(path.read_bytes(), changed, set()))
    return ranges


@pytest.mark.parametrize("borders", [True, False])
@pytest.mark.parametrize("gone", STEPS)
def test_a_deleted_formula_spills_again(gone: str, borders: bool, tmp_path: Path) -> None:
    book = fill_file(sheet_without(tmp_path / "own.xlsx", gone, borders=borders), {})
    (tmp_path / "out.xlsx").write_bytes(book.content)
    assert not book.attention
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    for step, (row, _, text) in STEPS.items():
        own = sheet[f"C{row + 1}"].value
        if step != gone:  # hers
            assert (own.ref, own.text) == (
                f"C{row + 1}:E{row + 3}", "=" + text.format("_xlfn.ANCHORARRAY(C19)"),
            )  # fmt: skip
        elif step != "Output":  # nothing reads it as a whole
            assert own.ref == f"C{row + 1}:E{row + 3}"
    xml = zipfile.ZipFile(tmp_path / "out.xlsx").read("xl/worksheets/sheet1.xml").decode()
    assert xml.count(' cm="1"') == (3 if gone == "Output" else 4)
    verify(with_ranges(tmp_path / "out.xlsx"))
    (drawn,) = read_drawn(tmp_path / "out.xlsx").sheets
    for row, wanted in zip((27, 35), naive_attention(X, X, X)):
        _, shown = values_in(drawn, Place(drawn.name, row, 3, 3, 3), False)
        np.testing.assert_allclose(shown, wanted, rtol=1e-12)


def test_a_matrix_without_such_a_formula_is_named(tmp_path: Path) -> None:
    """With words in columns, each cell has a formula."""
    book = fill_file(sheet_without(tmp_path / "own.xlsx", "Scores", across=True), {})
    said = "C11# is read, but each cell of Scores has its own formula. Write C11:E13 instead."
    assert f"Sheet!C11:E13: {said}" in book.attention


def test_formulas_of_a_template_spill_for_other_words(tmp_path: Path) -> None:
    words, x = tuple(PETS), numbers(PETS, seed=4)
    table = Table("", x, words, DIMS, (True, True), "new.xlsx", "new", 2, 2)
    tables = Tables(Path("new.xlsx"), {"new": table}, {})
    book = fill_file(sheet_without(tmp_path / "own.xlsx", "Output"), {}, tables=tables)
    (tmp_path / "out.xlsx").write_bytes(book.content)
    xml = zipfile.ZipFile(tmp_path / "out.xlsx").read("xl/worksheets/sheet1.xml").decode()
    assert re.findall(r'<c r="(\w+)"[^>]* cm="1"><f t="array" ref="([^"]+)"', xml) == [
        ("C13", "C13:G17"), ("C23", "C23:G27"), ("C33", "C33:G37"),
    ]  # fmt: skip
    assert "ANCHORARRAY" not in xml
    verify(with_ranges(tmp_path / "out.xlsx"))
    (drawn,) = read_drawn(tmp_path / "out.xlsx").sheets
    for place, wanted in zip((Place(drawn.name, 33, 3, 5, 5), Place(drawn.name, 43, 3, 5, 3)),
                             naive_attention(x, x, x)):  # fmt: skip
        np.testing.assert_allclose(values_in(drawn, place, False)[1], wanted, rtol=1e-12)
