"""Numbers that stand as text: one list for what an input holds and what a student enters."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import pytest
from openpyxl import Workbook

from attn_xl import read_tables
from attn_xl.errors import InputError
from attn_xl.spreadsheets.numerals import numeral
from attn_xl.spreadsheets.text_files import read_text
from attn_xl.teaching.grading.marking import read_entry

NUMBERS = {
    "1.5": 1.5, "1,5": 1.5, "-0,25": -0.25, "−3": -3.0, "–3": -3.0, "- 1.5": -1.5, "+2": 2.0,
    "1e-3": 0.001, "1,5e3": 1500.0, ".5": 0.5, ",5": 0.5, "50%": 0.5, "12,5 %": 0.125, "0,123": 0.123,
    "$3": 3.0, "$3.50": 3.5, "3,50 €": 3.5, "1,234.5": 1234.5, "1.234,5": 1234.5, "1 234,5": 1234.5,
    "1'234": 1234.0, "'1.5": 1.5,
    "1.234.567": 1234567.0, "1,234,567": 1234567.0, "-1.234.567,8": -1234567.8,
    "１２": 12.0, "－１．５": -1.5, "３，５": 3.5, "−１": -1.0, "１０％": 0.1, "＄3": 3.0,
    "(3)": None, "(4.5)": -4.5, "($1,234.50)": -1234.5, "(-4.5)": None, "（３）": None,
    "½": None, "10²": None, "③": None,
    "cat": None, "1_000": None, "nan": None, "inf": None, "1.2.3": None, "2024-01-02": None,
    "1,2,3": None, "--1": None, "e5": None, "12,34.5": None, "1.5,3.2": None, "1 2": None,
}  # fmt: skip
"""The number that each text is, None for none."""


def read_from_a_cell(text: str, path: Path) -> float | None:
    """What a table of an input has where the text stands in it."""
    book = Workbook()
    for row in (["word", "a", "b"], ["cat", 2.0, 3.0], ["dog", 4.0, text]):
        book.active.append(row)
    book.active["C3"].data_type = "s"
    book.save(path)
    try:
        (table,) = read_tables(path).sentences.values()
    except InputError:
        return None
    return float(table.values[1, 1])


@pytest.mark.parametrize(("text", "number"), NUMBERS.items())
def test_a_text_is_the_same_number_as_an_input_and_when_it_is_graded(
    text: str, number: float | None, tmp_path: Path
) -> None:
    readers = [numeral(text), read_from_a_cell(text, tmp_path / "text.xlsx"), read_entry(text).number]
    assert readers == [number] * 3


@pytest.mark.parametrize("beside", ["2", "2.5", "2,5"])
@pytest.mark.parametrize("text", ["$3", "1'234", "1.234.567", "1.234,5", "1,234.5", "3,50 €", "'1.5"])
def test_a_text_is_the_same_number_in_a_csv_file(text: str, beside: str) -> None:
    """Whatever the decimal separator of the other numbers is."""
    (_, (_, value, _)) = read_text(f"word;a;b\ncat;{text};{beside}\n", "file.csv")
    assert value == NUMBERS[text] == read_entry(text).number


def test_a_comma_that_may_part_thousands(tmp_path: Path) -> None:
    """An input must say what it means; what a student enters has decimals, as all of a lesson has."""
    assert isnan(numeral("1,234") or 0)
    assert (numeral("1,234", comma=True), numeral("1,234", comma=False)) == (1.234, 1234)
    assert read_from_a_cell("1,234", tmp_path / "text.xlsx") is None
    assert read_entry("1,234").number == 1.234
