"""The whole computation on one sheet: the same cells as with a sheet for each matrix, well placed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import ROOT, SAMPLES, alike, table

import attn_xl
from attn_xl.cli.main import main
from attn_xl.graph.functions import option, sqrt, width
from attn_xl.graph.matrix import operation_of
from attn_xl.models.computation import as_computation
from attn_xl.settings import Arrangement, Model
from attn_xl.spreadsheets.addresses import at_row, split_address
from attn_xl.text import text_width
from attn_xl.workbook.canvas import canvas as canvas_module
from attn_xl.workbook.canvas.canvas import CANVAS, arranged, draw
from attn_xl.workbook.canvas.drawing import bold, figure_of
from attn_xl.workbook.canvas.panels import Figures
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Block
from attn_xl.workbook.layout.place import lay_out
from attn_xl.workbook.write import write_workbook

Write = Callable[..., Path]
NAMES = sorted(path.stem for path in SAMPLES.glob("*.xlsx") if "-attention" not in path.stem)
OTHER: dict[str, dict[str, object]] = {
    "similarity": {"model": Model.similarity},
    "one head only": {"sheets_for": "head2"},
}
CASES = [*NAMES, *OTHER, "long names of dimensions"]


@cache
def both(case: str) -> tuple[Layout, Layout]:
    """A sample's layout with a sheet for each matrix, and on one sheet."""
    if case.startswith("long"):
        names = ["liveliness", "a" * 19, "b" * 20]
        x = attn_xl.given(np.eye(2, 3), "uv", names, "Input")
        weights = [attn_xl.given(np.eye(3), names, "123", f"W_{p}", role="weight") for p in "QKV"]
        sheets = lay_out(as_computation(attn_xl.self_attention(x, *weights)))
        return sheets, draw(sheets)
    sample = case if case in NAMES else "multi-head" if case.startswith("one") else "politics"
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    options = OTHER.get(case, {})
    settings = attn_xl.Settings.resolve(options, tables.settings, "")
    sheets = lay_out(attn_xl.attend(tables, settings), settings.sheets_for)
    return sheets, draw(sheets)


def the_canvas(layout: Layout) -> Sheet:
    return next(sheet for sheet in layout.sheets if sheet.name == CANVAS)


REFERENCE = re.compile(
    r"(?:('(?:[^']|'')+'|[A-Za-z_][\w.]*)!)?(?<![\w.])(\$?[A-Z]{1,3}\$?\d+)"
    r"(?::(\$?[A-Z]{1,3}\$?\d+))?(?![\w.(])"
)


@cache
def cells_of(layout: Layout) -> dict[tuple[str, int, int], str]:
    """The names of matrices, headings and labels by their addresses."""
    where: dict[tuple[str, int, int], str] = {}
    for block in layout.blocks.values():
        place = block.place
        for i in range(place.rows):
            where.setdefault((place.sheet, place.row + i, place.column - 1), f"{block.name}.label{i}")
            for j in range(place.columns):
                where[place.sheet, place.row + i, place.column + j] = f"{block.name}[{i},{j}]"
        for j in range(place.columns):
            where.setdefault((place.sheet, place.row - 1, place.column + j), f"{block.name}.head{j}")
    return where


def named(layout: Layout, home: Block, formula: str) -> str:
    """A formula with the names of matrices, headings and labels in place of addresses."""
    where = cells_of(layout)

    def said(match: re.Match[str]) -> str:
        sheet = (match[1] or home.place.sheet).strip("'").replace("''", "'")
        cells = [cell.replace("$", "") for cell in match.groups()[1:] if cell]
        return ":".join(where[(sheet, *split_address(cell))] for cell in cells)

    return REFERENCE.sub(said, formula)


def formulas(layout: Layout, block: Block) -> Iterator[str]:
    for i in range(block.place.rows):
        for text in layout.patterns(block, i):
            yield named(layout, block, at_row(text, block.place.row + i))


@alike
@pytest.mark.parametrize("case", CASES)
def test_the_formulas_are_the_same_but_for_their_addresses(case: str) -> None:
    sheets, canvas = both(case)
    assert set(canvas.blocks) == set(sheets.blocks)
    compared = 0
    for node, block in sheets.blocks.items():
        moved = canvas.blocks[node]
        assert (moved.name, moved.live) == (block.name, block.live)
        if block.live and node.values.size < 400:
            compared += 1
            assert list(formulas(canvas, moved)) == list(formulas(sheets, block)), block.name
    assert compared


def occupied(layout: Layout) -> list[tuple[int, int, str]]:
    """Every cell of the canvas that shows something: row, column, what."""
    sheet = the_canvas(layout)
    cells = []
    for block in sheet.blocks:
        place = block.place
        columns = range(place.column, place.last_column + 1)
        rows = range(place.row, place.last_row + 1)
        cells += [(row, column, "number") for row in rows for column in columns]
        if block.labelled:
            cells += [(r, place.column - 1, label) for r, label in zip(rows, block.node.rows)]
        if block.headed:
            cells += [(place.row - 1, column, "heading") for column in columns]
    for cell in sheet.extras.cells:
        if cell.value is None:  # the edge of a frame, over which a text may run
            continue
        cells += [(cell.row, cell.column + i, str(cell.value)) for i in range(cell.across)]
    return cells


@alike
@pytest.mark.parametrize("case", CASES)
def test_nothing_stands_on_anything_else(case: str) -> None:
    _, canvas = both(case)
    seen: dict[tuple[int, int], str] = {}
    for row, column, what in occupied(canvas):
        assert (row, column) not in seen, f"{what} on {seen[row, column]}"
        assert min(row - 3, column) >= 1
        seen[row, column] = what


@alike
@pytest.mark.parametrize("case", CASES)
def test_no_text_is_cut(case: str) -> None:
    _, canvas = both(case)
    sheet = the_canvas(canvas)
    widths, taken = sheet.extras.widths, {(row, column) for row, column, _ in occupied(canvas)}
    for cell in sheet.extras.cells:
        if isinstance(cell.value, str) and cell.align == "left" and cell.across == 1:
            column, room = cell.column + 1, widths[cell.column]
            while (cell.row, column) not in taken and column <= max(widths):
                room += widths[column]
                column += 1
            end = column > max(widths)  # nothing follows
            assert end or min(text_width(cell.value), bold(cell.value)) <= room, cell.value
    labels = [
        (block.place.row + i, block.place.column - 1, label)
        for block in sheet.blocks
        for i, label in enumerate(block.node.rows if block.labelled else ())
    ]
    labels += [(c.row, c.column, str(c.value)) for c in sheet.extras.cells if c.align == "right"]
    for row, last, label in labels:
        column, room = last - 1, widths[last]
        while column and (row, column) not in taken:
            room += widths[column]
            column -= 1
        assert text_width(label) + 1 <= room, label


@alike
@pytest.mark.parametrize("case", CASES)
def test_a_product_stands_where_its_factors_meet(case: str) -> None:
    sheets, canvas = both(case)
    shows: dict[tuple[int, int], tuple[str, int, int]] = {}
    for block in the_canvas(canvas).blocks:
        for i, j in np.ndindex(*block.node.shape):
            shows[block.place.row + i, block.place.column + j] = (block.name, i, j)
    original = dict(shows)
    for cell in the_canvas(canvas).extras.cells:
        if cell.like:
            shows[cell.row, cell.column] = original[split_address(cell.formula)]
    names = {node: canvas.blocks[canvas.original(node)].name for node in canvas.blocks}
    products = 0
    for sheet in sheets.sheets:
        if sheet.main.node.sheet:
            continue
        figure = figure_of(sheet, sheets.original)
        factors = [operand for operand in figure.above if operand.factor]
        if not factors or not {o.node for o in figure.operands} <= set(names):
            continue
        products += 1
        place = canvas.blocks[figure.node].place
        for left in figure.left:
            for i in range(place.rows):
                here = [shows.get((place.row + i, column)) for column in range(1, place.column)]
                node, row = left.node, i
                if left.moved and (picked := operation_of(left.moved).row_of(i)):
                    node, row = left.moved.parents[picked[0]], picked[1]
                assert_within([(names[node], row, k) for k in range(node.shape[1])], here)
        for factor in factors:
            for j in range(place.columns):
                here = [shows.get((row, place.column + j)) for row in range(1, place.row)]
                inner = factor.node.shape[factor.turned]
                cells = [(j, k) if factor.turned else (k, j) for k in range(inner)]
                assert_within([(names[factor.node], *cell) for cell in cells], here)
    without = ("similarity", "softmax", "norm", "rms-norm", "spread")
    assert products or case in without or case.startswith("one")


def assert_within(part: list[object], whole: list[object]) -> None:
    assert any(whole[i : i + len(part)] == part for i in range(len(whole))), (part, whole)


def values(path: Path) -> dict[str, list[list[object]]]:
    book = openpyxl.load_workbook(path, data_only=True)
    found = {}
    for name, defined in book.defined_names.items():
        ((sheet, cells),) = defined.destinations
        ref = book[sheet][cells.replace("$", "")]
        rows = ref if isinstance(ref, tuple) else ((ref,),)
        found[name] = [[cell.value for cell in row] for row in rows]
    return found


def test_the_overview_leads_to_each_step(write: Write) -> None:
    book = openpyxl.load_workbook(
        write(SAMPLES / "mouse.xlsx", settings={"layout": Arrangement.canvas})
    )
    overview = book["Overview"]
    links = {
        cell.value: cell.hyperlink.location
        for row in overview.iter_rows()
        for cell in row
        if cell.hyperlink
    }
    first = book.defined_names["desk.Softmax"].attr_text.partition(":")[0].replace("$", "")
    assert first in {
        cell.hyperlink.location for cell in overview["H"] + overview["J"] if cell.hyperlink
    } or (first in links.values())
    assert links["Compare"] == "Compare!A1"
    assert book.sheetnames == ["Overview", CANVAS, "Compare"]


def test_what_is_drawn_again_follows_what_it_repeats(write: Write) -> None:
    path = write(SAMPLES / "politics.xlsx", settings={"layout": Arrangement.canvas, "decimals": 5})
    sheet = openpyxl.load_workbook(path)[CANVAS]
    again = [cell for row in sheet.iter_rows() for cell in row if cell.style == "attn echo"]
    numbers = [cell for cell in again if str(cell.value).startswith("=")]
    assert len(numbers) >= 2 * 5 * 2  # K turned, V
    for cell in numbers:
        assert cell.number_format == sheet[cell.value[1:]].number_format == "0.00000"


def test_values_only(write: Write) -> None:
    settings = {"layout": Arrangement.canvas, "formulas": attn_xl.Formulas.none}
    sheet = openpyxl.load_workbook(write(SAMPLES / "politics.xlsx", settings=settings))[CANVAS]
    assert not any(str(cell.value).startswith("=") for row in sheet.iter_rows() for cell in row)


def test_what_no_sheet_holds_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sheets, _ = both("politics")
    monkeypatch.setattr(canvas_module, "MAX_COLUMNS", 8)
    with pytest.raises(attn_xl.InputError, match="Use --layout sheets"):
        draw(sheets)


def test_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "drawn.xlsx"
    with pytest.raises(SystemExit) as end:
        main(["convert", str(SAMPLES / "mouse.xlsx"), "-o", str(output), "--layout", "canvas"])
    assert end.value.code == 0
    assert "4 sheets" in capsys.readouterr().out
    for command, status in (("similarity", 0), ("show", 2)):
        arguments = [command, str(SAMPLES / "politics.xlsx"), "--layout", "canvas"]
        if command == "similarity":
            arguments += ["-o", str(tmp_path / "similar.xlsx")]
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == status


def test_the_numbers_that_a_step_goes_by_stand_above_it(tmp_path: Path, keep: Write) -> None:
    """As with a switch for the scaling: a divisor of the step's own, made from d_k and an option."""
    x = attn_xl.given([[1, 2], [3, 4], [5, 7]], "abc", "de", "Input")
    d_k = width(x).named("d_k", "the width", helper=True)
    temperature = option(2.0, "Temperature", "the scores are divided by it.")
    divisor = (sqrt(d_k) * temperature).named("Divisor", "what the scores are divided by", helper=True)
    scaled = (x / divisor).named("Scaled")
    path = tmp_path / "divisor.xlsx"
    settings = attn_xl.Settings(layout=Arrangement.canvas)
    layout = write_workbook(scaled, path, settings=settings)
    keep(path)
    places = {block.name: block.place for block in layout.blocks.values()}
    assert places["Temperature"].sheet == "Options"
    for number, name in enumerate(("d_k", "Divisor")):
        assert places[name].column == places["Scaled"].column + number
        assert places[name].row < places["Scaled"].row - 2
    (formula,) = layout.patterns(layout.blocks[divisor], 0)
    assert formula == "SQRT(d_k)*Temperature"


def test_weights_that_sentences_share_are_given_once(make: Write, write: Write) -> None:
    rng = np.random.default_rng(8)
    sheets = {name: table(rng.normal(size=(3, 2)).round(2)) for name in ("one", "two", "three")}
    weights = table(rng.normal(size=(2, 2)).round(2))
    path = write(make({**sheets, "W_V": weights}), settings={"layout": Arrangement.canvas})
    sheet = openpyxl.load_workbook(path)[CANVAS]
    cells = [cell for row in sheet.iter_rows() for cell in row]
    assert len([cell for cell in cells if cell.style == "attn weight"]) == 4 + 1  # and the legend's
    captions = [cell.style for cell in cells if cell.value == "W_V"]
    assert sorted(captions) == ["attn echo", "attn echo", "attn step"]


def test_an_arrow_leads_from_the_input_to_each_of_q_k_and_v() -> None:
    (canvas,) = [sheet for sheet in both("projections")[1].sheets if sheet.name == CANVAS]
    texts = [cell.value for cell in canvas.extras.cells]
    assert texts.count("Input →") == 2  # to K and V; Q stands right beside it


@alike
@pytest.mark.parametrize("case", [*NAMES, "learned with Adam"])
def test_what_is_drawn_as_an_equation_can_be_computed(case: str) -> None:
    if case in NAMES:
        layout = both(case)[0]
    else:
        tables = attn_xl.read_tables(SAMPLES / "learning.xlsx")
        layout = lay_out(attn_xl.learn(tables, steps=2, optimizer="adam").computation)
    sheets = canvas_module.matrices(layout)
    drawing = arranged(Figures(layout, sheets, None), sheets)
    assert "\N{MINUS SIGN}" not in " ".join(text.text for text in drawing.texts)  # cells have "-"
    signs = {(text.row, text.column): text.text for text in drawing.texts if text.large}
    for result in drawing.matrices:
        shown, operand, read = result, result, ""
        before = signs.get((result.row + (result.shape[0] - 1) // 2, result.column - 2), "")
        if before != "=":
            continue
        terms: list[np.ndarray] = []
        while before in ("=", *"+-·/,"):
            assert before != ","
            left = [
                drawn
                for drawn in drawing.matrices
                if drawn.row == operand.row and drawn.column + drawn.shape[1] <= operand.column - 2
            ]
            if not left:  # the line begins on the one above
                break
            operand = max(left, key=lambda drawn: drawn.column)
            read = f"t[{len(terms)}]{'' if before == '=' else before}{read}"
            terms.append(operand.node.values)
            rows = operand.shape[0]
            before = signs.get((operand.row + (rows - 1) // 2, operand.column - 2), "")
        else:
            formula = read.replace("·", "*")
            assert np.allclose(eval(formula, {"t": terms}), shown.node.values), (shown.node.name, read)


@pytest.mark.parametrize("template", ["article", "print"])
def test_the_templates_have_the_looks(template: str) -> None:
    book = openpyxl.load_workbook(ROOT / "templates" / f"{template}.xlsx")
    assert {"attn echo", "attn step"} <= set(book.named_styles)


def test_a_word_keeps_its_row_where_a_sentence_fits_a_page(write: Write) -> None:
    path = write(SAMPLES / "mouse.xlsx", settings={"layout": Arrangement.canvas})
    book = openpyxl.load_workbook(path)
    for sentence in ("pets", "desk"):
        names = ("Input", "Scores", "Scaled", "Softmax", "Output")
        places = [book.defined_names[f"{sentence}.{name}"].attr_text for name in names]
        assert len({re.findall(r"\d+", place.partition("!")[2])[0] for place in places}) == 1
    assert book[CANVAS].page_setup.fitToHeight == 1  # both on one page


def test_arrows_stand_in_the_middle_and_corners_have_names(write: Write) -> None:
    book = openpyxl.load_workbook(write(SAMPLES / "mouse.xlsx"))
    signs = [cell for row in book[CANVAS].iter_rows() for cell in row if cell.value in ("→", "↓")]
    assert len(signs) > 10
    assert {cell.alignment.horizontal for cell in signs} == {"center"}
    for name, corner in {"Input": "A4", "Scores": "A4", "Softmax": "L4", "Output": "A4"}.items():
        assert book[f"pets.{name}"][corner].value == name
