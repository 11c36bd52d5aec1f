"""Parts that are alike, such as steps of learning: drawn alike, written from one template."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES, thorough
from openpyxl import Workbook

import attn_xl
from attn_xl import Computation
from attn_xl.settings import Settings
from attn_xl.workbook.arrange import arrange
from attn_xl.workbook.canvas import alike
from attn_xl.workbook.canvas.paging import CHARACTER, PAGE
from attn_xl.workbook.layout.layout import OVERVIEW
from attn_xl.workbook.write import write_workbook
from attn_xl.workbook.xlsx.sheet import Likes


def computed(case: str) -> Computation:
    if case in ("sgd", "adam"):
        sample = SAMPLES / "learning.xlsx"
        return attn_xl.learn(sample, steps=5, optimizer=case).computation  # type: ignore[arg-type]
    if case == "encoder":
        return attn_xl.attend(SAMPLES / "encoder.xlsx", layers=4, heads=2, random_weights=3)
    if case == "two words":
        return attn_xl.learn(
            {"a": [[1, 0.5], [0, 2]], "b": [[0.2, 1], [1, 1]]}, model="classify",
            labels={"a": "yes", "b": "no"}, steps=5,
        ).computation  # fmt: skip
    raise ValueError(case)


def contents(path: Path) -> dict[str, list[object]]:
    """Everything in the cells of each sheet, and its widths, links and pages."""
    book = openpyxl.load_workbook(path)
    values = openpyxl.load_workbook(path, data_only=True)
    found: dict[str, list[object]] = {}
    for ws in book.worksheets[1:]:  # the Overview says which are alike
        found[ws.title] = [
            (
                cell.coordinate, cell.value, values[ws.title][cell.coordinate].value,
                cell.number_format,
                cell.fill.fgColor.rgb, cell.font.b, cell.font.sz, cell.alignment.horizontal,
                cell.border.left and cell.border.left.style, cell.border.top and cell.border.top.style,
                cell.protection.locked,
                cell.hyperlink and cell.hyperlink.location,
            )
            for row in ws.iter_rows()
            for cell in row
        ]  # fmt: skip
        found[ws.title] += [(key, one.width) for key, one in ws.column_dimensions.items()]
        found[ws.title] += [(key, one.height) for key, one in ws.row_dimensions.items()]
        found[ws.title] += [ws.page_setup.scale, *(one.id for one in ws.row_breaks.brk)]
    found["names"] = [(name, one.attr_text) for name, one in book.defined_names.items()]
    return found


CASES = ["two words", *(pytest.param(case, marks=thorough) for case in ("adam", "sgd", "encoder"))]


@pytest.mark.parametrize("case", CASES)
def test_a_sheet_from_a_template_is_the_sheet_written_by_itself(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computation = computed(case)
    settings = computation.settings or Settings()
    first, moulds = tmp_path / "first.xlsx", []
    with monkeypatch.context() as patch:
        mould = Likes.mould
        patch.setattr(Likes, "mould", lambda *given: moulds.append(mould(*given)) or moulds[-1])
        write_workbook(computation, first, settings=settings)
    assert any(moulds)  # some sheets are from templates
    cells_copied, all_drawn = tmp_path / "copied.xlsx", tmp_path / "drawn.xlsx"
    monkeypatch.setattr(Likes, "of", lambda *_: [])
    write_workbook(computation, cells_copied, settings=settings)
    monkeypatch.setattr(alike.Part, "drawn", lambda *_: object())
    write_workbook(computation, all_drawn, settings=settings)
    expected = contents(all_drawn)
    assert len(expected) > 5
    for path in (cells_copied, first):
        found = contents(path)
        assert found.keys() == expected.keys()
        for sheet, cells in expected.items():
            assert found[sheet] == cells, (path.name, sheet)


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Workbook:
    """A workbook of five steps."""
    computation = attn_xl.learn(SAMPLES / "learning.xlsx", steps=5).computation
    assert computation.settings is not None
    path = tmp_path_factory.mktemp("run") / "run.xlsx"
    write_workbook(computation, path, settings=computation.settings)
    return openpyxl.load_workbook(path)


def test_every_step_of_learning_has_its_matrices_in_the_same_cells() -> None:
    """However wide their numbers are, as the gradients become smaller."""
    computation = attn_xl.learn(SAMPLES / "learning.xlsx", steps=12, controls=False).computation
    assert computation.settings is not None
    places: dict[str, dict[str, str]] = {}
    for block in arrange(computation, computation.settings).blocks.values():
        step, _, name = block.name.partition(".")
        places.setdefault(step, {})[name] = block.place.range
    for step in range(4, 13):
        assert places[f"Step{step}"] == places["Step3"]
    assert len(places["Step3"]) > 100


def test_a_step_of_learning_is_printed_a_page_wide(book: Workbook) -> None:
    """With numbers of at least 6 points."""
    for name in ("Step1", "Step2", "Step5"):
        ws = book[name]
        assert not ws.col_breaks.brk
        columns = ws.column_dimensions.values()
        width = sum(one.width * (one.max - one.min + 1) for one in columns)
        scale = ws.page_setup.scale or 55  # the first page of a repeated step fits with at least that
        assert scale >= 55
        assert width * CHARACTER * scale / 100 <= PAGE[0]


def test_the_overview_of_a_run_is_a_page_to_unfold(book: Workbook) -> None:
    """A line for each step, which links to its sheet; below it, folded, its matrices."""
    ws = book[OVERVIEW]
    seen = [row for row in range(1, ws.max_row + 1) if not ws.row_dimensions[row].hidden]
    assert len(seen) < 60
    lines = {str(ws.cell(row, 1).value).strip(): row for row in seen}
    for step in range(1, 7):
        row = lines[f"Step{step}"]
        assert ws.cell(row, 1).hyperlink.location == f"Step{step}!A1"
        same = str(ws.cell(row, 2).value or "")
        assert ws.row_dimensions[row].collapsed is not bool(same)  # the matrices, or where to see them
    assert same == ""
    assert ws.cell(lines["Step5"], 2).value == "the same steps as in Step3"
    below = [ws.cell(lines["Step1"] + i, 1) for i in range(1, 100)]
    assert all(ws.row_dimensions[cell.row].outlineLevel == 1 for cell in below)
    assert "Step1.pets.Softmax" in [cell.value for cell in below]
