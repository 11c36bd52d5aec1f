"""`attn-xl fill` compares words that several sentences share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from authors import DESK, DIMS, PETS, AuthorSheet, numbers, saved
from conftest import naive_attention, verify
from openpyxl.styles import PatternFill

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import Place, at_row
from attn_xl.spreadsheets.drawn import read_drawn
from attn_xl.tables.frames import values_in
from attn_xl.tables.labels import Table
from attn_xl.tables.survey import Tables
from attn_xl.workbook.filling.author import fill_file

X, Y = numbers(PETS), numbers(DESK, seed=2)
LEFT, RIGHT = (naive_attention(x, x, x)[1] for x in (X, Y))
MOUSE = LEFT[0], RIGHT[0]
MOVED = RIGHT[0] - LEFT[0]


def sheet_with(path: Path, title: str, labels: list[str], **looks: bool) -> Path:
    """Two sentences side by side, and a blank frame below them."""
    book = openpyxl.Workbook()
    sheet = AuthorSheet(book.active, **looks)
    sheet.sentence(2, 2, PETS, X)
    sheet.sentence(2, 10, DESK, Y)
    sheet.block(60, 2, title, labels, DIMS)
    return saved(book, path)


@pytest.mark.parametrize("looks", [{}, {"across": True}, {"centered": True}])
@pytest.mark.parametrize(
    ("title", "labels", "wanted"),
    [
        ("mouse", ["context 1", "context 2", "difference"], [*MOUSE, MOVED]),
        ("mouse: output", ["in pets", "in desk"], MOUSE),
        ("Output of mouse", ["right", "left"], MOUSE[::-1]),
        ("mouse: input", ["left", "right"], [X[0], Y[0]]),
        ("Mouse in both contexts", ["before", "after left", "after right"], [X[0], *MOUSE]),
        ("Comparison", ["mouse (left)", "mouse (right)", "left - right"], [*MOUSE, -MOVED]),
        ("Difference", ["mouse", "are"], [MOVED, RIGHT[3] - LEFT[3]]),
        ("Output difference (left − right)", ["are", "mouse"], [LEFT[3] - RIGHT[3], -MOVED]),
    ],
)
def test_a_frame_compares_a_word_that_sentences_share(
    title: str, labels: list[str], wanted: Any, looks: dict[str, bool], tmp_path: Path
) -> None:
    across = "across" in looks
    book = fill_file(sheet_with(tmp_path / "own.xlsx", title, labels, **looks), {})
    (tmp_path / "out.xlsx").write_bytes(book.content)
    verify(tmp_path / "out.xlsx")
    assert not book.attention
    (sheet,) = read_drawn(tmp_path / "out.xlsx").sheets
    size = (len(DIMS), len(labels)) if across else (len(labels), len(DIMS))
    _, shown = values_in(sheet, Place(sheet.name, 62, 3, *size), across)
    np.testing.assert_allclose(shown, wanted, rtol=1e-12)


def test_every_second_row_of_a_comparison_may_have_a_fill(tmp_path: Path) -> None:
    labels = ["context 1", "context 2", "difference"]
    path = sheet_with(tmp_path / "own.xlsx", "mouse", labels, borders=False)
    made = openpyxl.load_workbook(path)
    for cell in (cell for row in (62, 64) for cell in made.active[f"C{row}:E{row}"][0]):
        cell.fill = PatternFill("solid", fgColor="DDEBF7")
    book = fill_file(saved(made, path), {})
    (tmp_path / "out.xlsx").write_bytes(book.content)
    shown = openpyxl.load_workbook(tmp_path / "out.xlsx", data_only=True).active["C62:E64"]
    np.testing.assert_allclose([[cell.value for cell in row] for row in shown], [*MOUSE, MOVED])


@pytest.mark.parametrize("cell", ["B60", "B61"])
def test_the_title_of_a_comparison_may_stand_left_of_its_labels(cell: str, tmp_path: Path) -> None:
    path = sheet_with(tmp_path / "own.xlsx", "", ["context 1", "context 2", "difference"])
    made = openpyxl.load_workbook(path)
    made.active.move_range("B61:E64", cols=1)
    made.active[cell] = "mouse"
    book = fill_file(saved(made, path), {})
    (tmp_path / "out.xlsx").write_bytes(book.content)
    shown = openpyxl.load_workbook(tmp_path / "out.xlsx", data_only=True).active["D62:F64"]
    np.testing.assert_allclose(
        [[one.value for one in row] for row in shown], [*MOUSE, MOVED], rtol=1e-12
    )


@pytest.mark.parametrize("second", [(60, 2), (10, 10)])
@pytest.mark.parametrize("title", ["Change of the output", ""])
def test_another_frame_takes_no_weights_away(
    title: str, second: tuple[int, int], tmp_path: Path
) -> None:
    """The sentences have weights in common, whatever stands below them."""
    book, dims = openpyxl.Workbook(), DIMS
    sheet, w = AuthorSheet(book.active), np.random.default_rng(5).integers(-9, 10, (3, 3, 3)) / 10
    for n, own in enumerate(w):
        sheet.block(2, 2 + 6 * n, f"W_{'QKV'[n]}", dims, dims, own)
    sheet.sentence(10, 2, PETS, X)
    sheet.sentence(*second, DESK, Y)
    sheet.block(110, 2, title, ["cat", "or", "so"], dims)
    result = fill_file(saved(book, tmp_path / "own.xlsx"), {})
    (tmp_path / "out.xlsx").write_bytes(result.content)
    (drawn,) = read_drawn(tmp_path / "out.xlsx").sheets
    for (row, column), x in (((10, 2), X), (second, Y)):
        _, wanted = naive_attention(*(x @ own for own in w))
        _, shown = values_in(drawn, Place(drawn.name, row + 38, column + 1, 5, 3), False)
        np.testing.assert_allclose(shown, wanted, rtol=1e-12)
    said = [*result.attention, *result.notes]
    assert any(line.startswith("Sheet!C112:E114: ") for line in said)


@pytest.mark.parametrize("text", ["Output of mouse", 'Output of "mouse"'])
def test_a_word_of_several_sentences_is_no_single_one(text: str, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    made = [AuthorSheet(book.active), AuthorSheet(book.create_sheet("Second"))]
    for sheet, words, x in zip(made, (PETS, DESK), (X, Y)):
        sheet.sentence(2, 2, words, x)
    made[0].block(60, 2, text, ["context 1", "context 2"], DIMS)
    result = fill_file(saved(book, tmp_path / "own.xlsx"), {})
    (tmp_path / "out.xlsx").write_bytes(result.content)
    assert not result.attention
    drawn = read_drawn(tmp_path / "out.xlsx").sheets[0]
    _, shown = values_in(drawn, Place(drawn.name, 62, 3, 2, 3), False)
    np.testing.assert_allclose(shown, MOUSE, rtol=1e-12)


def test_a_difference_reads_the_rows_above_it(tmp_path: Path) -> None:
    path = sheet_with(tmp_path / "own.xlsx", "mouse", ["in pets", "in desk", "difference"])
    cells = fill_file(path, {}).filling.cells["Sheet"]
    assert [at_row(cells[row][3].formula, row) for row in (62, 63, 64)] == ["C40", "K40", "C63-C62"]


@pytest.mark.parametrize(
    ("title", "labels"),
    [("cat", ["left", "right"]), ("My notes", ["one", "two"]), ("Difference of words", ["cat", "or"])],
)
def test_other_frames_stay_blank_and_are_named(title: str, labels: list[str], tmp_path: Path) -> None:
    book = fill_file(sheet_with(tmp_path / "own.xlsx", title, labels), {})
    assert any("Sheet!C62:E63" in line and title in line for line in book.report())
    assert book.filling.count == 180


def test_other_words_cannot_replace_those_that_are_compared(tmp_path: Path) -> None:
    path = sheet_with(tmp_path / "own.xlsx", "mouse", ["in pets", "in desk"])
    one = Table("", X, PETS, DIMS, (True, True), "new.xlsx", "new", 2, 2)
    with pytest.raises(InputError, match="compares the words of"):
        fill_file(path, {}, tables=Tables(Path("new.xlsx"), {"new": one}, {}))


def test_vectors_of_other_widths_are_not_compared(tmp_path: Path) -> None:
    book, rng = openpyxl.Workbook(), np.random.default_rng(9)
    sheets = [book.active, book.create_sheet("Second")]
    for sheet, words, x, wide in zip(sheets, (PETS, DESK), (X, Y), ("xy", "xyz")):
        made = AuthorSheet(sheet)
        for n, kind in enumerate("QKV"):
            made.block(2, 2 + 6 * n, f"W_{kind}", DIMS, wide, rng.integers(-9, 10, (3, len(wide))) / 10)
        made.block(10, 2, "Input", words, DIMS, x)
        made.block(20, 2, "Output", words, wide)
    AuthorSheet(sheets[0]).block(30, 2, "mouse", ["left", "right"], "xy")
    result = fill_file(saved(book, tmp_path / "own.xlsx"), {})
    assert [frame.step for _, frame, _ in result.filling.frames] == ["Output", "Output"]
    assert any(line.startswith("Sheet!C32:D33: ") for line in (*result.attention, *result.notes))


def test_an_article_names_no_shared_word(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = AuthorSheet(book.active)
    for column in (2, 10):
        sheet.sentence(2, column, ["the", "cat"], numbers(["the", "cat"], seed=column))
    sheet.block(60, 2, "Output of the network", [None, None], DIMS)
    result = fill_file(saved(book, tmp_path / "own.xlsx"), {})
    assert not any("Compare" in line for line in result.report())


def test_a_label_of_a_blank_output_is_no_title_of_an_input(tmp_path: Path) -> None:
    """X above a column would be the input, in which words of another sheet are looked up."""
    book = openpyxl.Workbook()
    book.active.title = "First"
    sheet = AuthorSheet(book.active)
    sheet.block(2, 2, "Input", PETS[:3], "XY", X[:3, :2])
    sheet.block(10, 2, "Output", PETS[:3], "XY")
    other = AuthorSheet(book.create_sheet("Second"))
    other.block(2, 2, "Values", PETS, "XY", Y[:, :2])
    result = fill_file(saved(book, tmp_path / "own.xlsx"), {})
    (tmp_path / "out.xlsx").write_bytes(result.content)
    shown = openpyxl.load_workbook(tmp_path / "out.xlsx")["First"]
    assert "INDEX" not in str(shown["C12"].value)
