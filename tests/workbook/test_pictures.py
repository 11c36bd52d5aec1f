"""The canvas as the second sheet, layers on a sheet each, and what both look like on paper."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, thorough

import attn_xl
from attn_xl.cli.main import main
from attn_xl.models.computation import as_computation
from attn_xl.settings import Arrangement, Formulas, Settings
from attn_xl.spreadsheets.addresses import split_address
from attn_xl.tables.read import read_tables
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.views.explanation import explain
from attn_xl.workbook.canvas.canvas import CANVAS, MOST_MATRICES
from attn_xl.workbook.canvas.drawing import CHARACTER, LEAST, PAGE, spread
from attn_xl.workbook.canvas.panels import FIRST_ROW
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.write import arrange

Write = Callable[..., Path]
SMALL = ["mouse", "by-hand", "projections", "multi-head", "politics", "masks", "positions", "cross"]
LARGE = ["encoder", "encoder-decoder", "language-model"]


@cache
def laid_out(sample: str, **chosen: Any) -> Layout:
    tables = read_tables(SAMPLES / f"{sample}.xlsx")
    settings = Settings.resolve({"controls": True, **chosen}, tables.settings, "")
    return arrange(attn_xl.attend(tables, settings), settings)


def pictures(layout: Layout) -> list[Sheet]:
    return [sheet for sheet in layout.sheets if sheet.extras.canvas]


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


# The second sheet


@alike
@pytest.mark.parametrize(("sample", "formulas"), [*zip(SMALL, [*Formulas, *Formulas])])
def test_the_canvas_is_the_second_sheet_and_has_links_only(
    sample: str, formulas: Formulas, tmp_path: Path, keep: Write
) -> None:
    tables = read_tables(SAMPLES / f"{sample}.xlsx")
    settings = Settings.resolve({"controls": True, "formulas": formulas}, tables.settings, "")
    path = tmp_path / "out.xlsx"
    layout = attn_xl.write_workbook(attn_xl.attend(tables, settings), path, settings=settings)
    keep(path)
    book, values = openpyxl.load_workbook(path), openpyxl.load_workbook(path, data_only=True)
    assert book.sheetnames[:2] == ["Overview", CANVAS]
    assert not [name for name, to in book.defined_names.items() if CANVAS in to.attr_text]
    shown = set()
    sheet = next(one for one in layout.sheets if one.name == CANVAS)
    for cell in sheet.extras.cells:
        if cell.like:
            block = next(b for b in layout.blocks.values() if b.name == cell.like)
            row, column = block.place.row + cell.shows[0], block.place.column + cell.shows[1]
            there = values[block.place.sheet].cell(row, column)
            here = book[CANVAS].cell(cell.row, cell.column)
            assert values[CANVAS].cell(cell.row, cell.column).value == there.value
            assert here.number_format == there.number_format
            if formulas is not Formulas.none:
                assert str(here.value).rpartition("!")[2] == there.coordinate
                assert there.parent.title in str(here.value)
            shown.add((cell.like, cell.shows))
    every = {
        (block.name, index)
        for block in (block for sheet in layout.sheets for block in sheet.blocks)
        if not block.node.sheet
        for index in np.ndindex(*block.node.shape)
    }
    assert shown == every
    linked = {(c.row, c.column) for c in sheet.extras.cells if c.like}
    formula_cells = {
        (c.row, c.column) for row in book[CANVAS].iter_rows() for c in row if c.data_type == "f"
    }
    assert formula_cells == (linked if formulas is not Formulas.none else set())


@thorough
def test_without_a_canvas(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    assert run("convert", SAMPLES / "mouse.xlsx", "-o", path, "--no-canvas") == 0
    assert openpyxl.load_workbook(path).sheetnames[:2] == ["Overview", "pets.Input"]
    again = tmp_path / "again.xlsx"
    assert run("convert", path, "-o", again) == 0  # the choice is kept
    assert CANVAS not in openpyxl.load_workbook(again).sheetnames
    assert run("similarity", SAMPLES / "mouse.xlsx", "-o", path, "--force", "--no-canvas") == 0


def test_a_number_on_the_canvas_is_explained() -> None:
    tables = read_tables(SAMPLES / "mouse.xlsx")
    computation = attn_xl.attend(tables, Settings(controls=True))
    layout = arrange(computation, Settings(controls=True))
    canvas = next(sheet for sheet in layout.sheets if sheet.name == CANVAS)
    cells = [c for c in canvas.extras.cells if c.like in ("pets.Scores", "pets.Input")]
    for cell in (cells[0], cells[-1]):
        where = f"Canvas!{openpyxl.utils.get_column_letter(cell.column)}{cell.row}"
        found = explain(computation, where)
        assert found.step == cell.like
        assert found.address.startswith(cell.like)
    with pytest.raises(attn_xl.CallError, match="holds no number"):
        explain(computation, "Canvas!A1")


@thorough
def test_a_lesson_has_no_canvas_beside_its_sheets(tmp_path: Path) -> None:
    tables = read_tables(SAMPLES / "politics.xlsx")
    path, answers = tmp_path / "lesson.xlsx", tmp_path / "answers.xlsx"
    for exam in (False, True):
        write_lesson(tables, path, lesson=Lesson(exam=exam), answers=answers)
        assert CANVAS not in openpyxl.load_workbook(path).sheetnames
        assert CANVAS in openpyxl.load_workbook(answers).sheetnames


# What numbers look like


@thorough
def test_whole_numbers_are_shown_as_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    assert run("convert", SAMPLES / "by-hand.xlsx", "-o", path) == 0
    book = openpyxl.load_workbook(path)
    for name in ("Input", "W_Q", "Q", "Scores"):
        assert book[name]["B5"].number_format == "General", name
    for name, cell in (("Scaled", "B5"), ("Softmax", "H5"), ("Output", "B5")):
        assert book[name][cell].number_format == "0.000", name
    assert run("convert", SAMPLES / "by-hand.xlsx", "-o", path, "--force", "--decimals", 2) == 0
    assert openpyxl.load_workbook(path)["Scores"]["B5"].number_format == "0.00"


def test_an_exam_does_not_tell_that_its_answers_are_whole(tmp_path: Path) -> None:
    """Whole or not, a cell shows what is typed into it."""
    path = tmp_path / "exam.xlsx"
    tables = read_tables(SAMPLES / "by-hand.xlsx")
    for step in ("Scores", "Scaled"):
        write_lesson(tables, path, lesson=Lesson(exam=True, blank=(step,)))
        assert openpyxl.load_workbook(path)[step]["B5"].number_format == "General"


# Arrows and frames


def signs(sheet: Sheet) -> dict[tuple[int, int], str]:
    return {(cell.row, cell.column): str(cell.value) for cell in sheet.extras.cells if cell.large}


@pytest.mark.parametrize("sample", ["by-hand", "multi-head"])
def test_an_arrow_leads_to_what_is_drawn_again(sample: str) -> None:
    layout = laid_out(sample, layout="canvas")
    (sheet,) = pictures(layout)
    led = 0
    for cell in sheet.extras.cells:
        if cell.style == "attn echo" and cell.value in ("Q", "Q_1", "Q_2"):
            above = [b.place for b in sheet.blocks if b.name.rpartition(".")[2] == cell.value]
            first = max(
                (p for p in above if p.row < cell.row), key=lambda place: place.row, default=None
            )
            if first is None:  # it repeats its input, in the same line
                led += 1
            elif cell.column == first.column:
                column = first.column + (first.columns - 1) // 2
                path = [signs(sheet).get((row, column)) for row in range(first.last_row + 2, cell.row)]
                assert path[-1] == "↓"
                assert set(path[:-1]) <= {"│"}
                led += 1
    assert led


@pytest.mark.parametrize(("sample", "frames"), [("multi-head", 2), ("encoder", 3), ("mouse", 0)])
def test_a_frame_around_each_head_and_layer(sample: str, frames: int) -> None:
    layout = laid_out(sample, layout="layers" if sample == "encoder" else "canvas")
    sheet = pictures(layout)[0]
    edges = {(c.row, c.column): c.edges for c in sheet.extras.cells if c.edges}
    corners = sorted(at for at, own in edges.items() if "l" in own and "t" in own)
    assert len(corners) == frames
    taken = {
        (row, column)
        for block in sheet.blocks
        for row in range(block.place.row, block.place.last_row + 1)
        for column in range(block.place.column, block.place.last_column + 1)
    }
    for row, column in corners:
        right = column
        while "t" in edges.get((row, right + 1), "") and "r" not in edges[row, right]:
            right += 1
        bottom = row
        while "l" in edges.get((bottom + 1, column), "") and "b" not in edges[bottom, column]:
            bottom += 1
        around = {(r, c) for r in range(row, bottom + 1) for c in (column, right)}
        around |= {(r, c) for c in range(column, right + 1) for r in (row, bottom)}
        assert not around & taken
        assert "r" in edges[bottom, right]
        assert "b" in edges[bottom, right]
        assert any(row < r < bottom and column < c < right for r, c in taken)
    head = {name: b.place for name, b in ((b.name, b) for b in sheet.blocks) if name.endswith("Q_1")}
    for place in head.values():
        assert any(r < place.row and c < place.column for r, c in corners)


# Pages


@alike
@pytest.mark.parametrize("sample", [*SMALL, *LARGE])
def test_pages_end_between_steps_and_print_no_number_below_6_points(
    sample: str, tmp_path: Path
) -> None:
    for layout in ("layers", "canvas"):
        path = tmp_path / f"{layout}.xlsx"
        assert run("convert", SAMPLES / f"{sample}.xlsx", "-o", path, "--layout", layout) == 0
        book = openpyxl.load_workbook(path)
        for sheet in pictures(laid_out(sample, layout=layout)):
            ws = book[sheet.name]
            scale = (ws.page_setup.scale or 100) / 100
            widths: dict[int, float] = {}
            for one in ws.column_dimensions.values():
                widths.update(dict.fromkeys(range(one.min, one.max + 1), one.width))
            width = CHARACTER * sum(widths.values())
            last = max(ws.max_row, max(sheet.extras.heights, default=0))
            if ws.print_area:  # of a picture like an earlier one, the first page
                assert sheet.extras.again
                last = int(ws.print_area.rpartition("$")[2])
            heights = [sheet.extras.heights.get(r, sheet.extras.row_height) for r in range(1, last + 1)]
            breaks = [one.id for one in ws.row_breaks.brk]
            if ws.sheet_properties.pageSetUpPr.fitToPage:
                assert not breaks
                scale = min(1.0, PAGE[0] / width, PAGE[1] / sum(heights))
            else:
                assert breaks
            assert 11 * scale >= LEAST
            assert width * scale <= PAGE[0] * 1.01
            paper = 595.3 - 72 * (ws.page_margins.top + ws.page_margins.bottom)
            for begun, end in zip([0, *breaks], [*breaks, last]):
                assert sum(heights[begun:end]) * scale <= paper
            for end in breaks:  # the row after which a page ends
                assert end + 1 in sheet.extras.starts
                for block in sheet.blocks:
                    assert not block.place.row - block.headed <= end < block.place.last_row


def test_pages() -> None:
    tall = [10.0] * 100
    one = spread(500, tall[:40], [6], [], (700, 400))
    assert (one.scale, one.breaks, one.whole) == (1.0, (), True)
    several = spread(500, tall, [6, 30, 50, 80], [], (700, 400))
    assert set(several.breaks) <= {30, 50, 80}
    assert several.whole
    assert several.scale >= LEAST / 11
    too_wide = spread(7000, tall, [6, 30], [], (700, 400))
    assert not too_wide.whole
    too_tall = spread(500, tall * 5, [6, 30], [], (700, 400))
    assert not too_tall.whole
    first = spread(500, tall, [55, 80], [], (700, 500))  # with what stands above it
    assert (first.scale, first.breaks, first.whole) == (500 / 790, (80,), True)
    section = spread(500, tall, [6, 40, 60, 80], [40], (700, 500))
    assert 60 not in section.breaks or 40 in section.breaks


# Layers


@thorough
@pytest.mark.parametrize("sample", LARGE)
def test_a_sheet_for_each_layer(sample: str) -> None:
    default, sheets = laid_out(sample), laid_out(sample, layout="sheets", canvas=False)
    assert [s.name for s in default.sheets] == [
        s.name for s in laid_out(sample, layout="layers").sheets
    ]
    assert {b.name for b in default.blocks.values()} == {b.name for b in sheets.blocks.values()}
    assert len([s for s in sheets.sheets if s.blocks and not s.main.node.sheet]) >= MOST_MATRICES
    assert CANVAS not in {sheet.name for sheet in default.sheets}
    layers = {b.name.partition(".")[0] for b in default.blocks.values() if b.name[:3] in ("Enc", "Dec")}
    for layer in layers - {"Enc", "Dec"}:
        own = [b for b in default.blocks.values() if b.name.startswith(f"{layer}.")]
        assert {b.place.sheet for b in own} == {layer}
    assert len(default.sheets) < 12


def test_few_matrices_have_a_sheet_each() -> None:
    assert {"Scores", "Softmax"} <= {sheet.name for sheet in laid_out("projections").sheets}


@thorough
@pytest.mark.parametrize("sample", ["encoder-decoder", "language-model"])
@pytest.mark.parametrize("formulas", [Formulas.cell, Formulas.array])
def test_layers_are_recalculated_and_read_back(
    sample: str, formulas: Formulas, tmp_path: Path, keep: Write
) -> None:
    path, again = tmp_path / "out.xlsx", tmp_path / "again.xlsx"
    options = ["--layout", "layers", "--formulas", formulas.value]
    assert run("convert", SAMPLES / f"{sample}.xlsx", "-o", path, *options) == 0
    keep(path)
    assert run("convert", path, "-o", again, "--formulas", formulas.value) == 0
    book, twin = (openpyxl.load_workbook(p, data_only=True) for p in (path, again))
    assert book.sheetnames == twin.sheetnames
    for name in book.sheetnames[1:-1]:
        assert [[c.value for c in r] for r in book[name].iter_rows()] == [
            [c.value for c in r] for r in twin[name].iter_rows()
        ]


def test_links_of_captions_lead_to_sheets() -> None:
    layout = laid_out("mouse")
    sheet = layout.sheets[0]
    names = {s.name for s in layout.sheets}
    links = {(str(c.value).partition(" ")[0], c.link) for c in sheet.extras.cells if c.link}
    assert {link for _, link in links} <= names
    assert {("Scores", "pets.Scores"), ("Scores", "desk.Scores")} <= links
    assert min(c.row for c in sheet.extras.cells if c.link) >= FIRST_ROW


def test_the_first_row_of_a_picture_is_below_the_legend() -> None:
    assert split_address("A6")[0] == FIRST_ROW
    assert Arrangement.layers.value == "layers"


def test_layers_are_the_default_only_where_matrices_are_small() -> None:
    x = attn_xl.given(np.ones((200, 2)), [f"w{i}" for i in range(200)], ["a", "b"], "Input")
    small = attn_xl.given(np.ones((3, 2)), ["a", "b", "c"], ["a", "b"], "Input")
    for words, default in ((x, False), (small, True)):
        result = words
        for number in range(45):
            result = (result + number).named(f"Step{number}")
        wide = (result @ words.T).named("Scores") if words is x else result
        wide = (wide * 2).named("Twice")
        layout = arrange(as_computation(wide), Settings())
        assert (len(layout.sheets) < 10) == default


def test_points_that_nearly_coincide_share_a_label() -> None:
    (sheet,) = (sheet for sheet in laid_out("mouse").sheets if sheet.name == "Compare")
    (moves,) = (chart for chart in sheet.extras.charts if chart.kind == "moves")
    labels = [series.title for series in moves.series if series.labelled]
    assert len(labels) == 8
    assert {"and (pets), are (pets)", "or (desk), are (desk)"} < {*labels}
