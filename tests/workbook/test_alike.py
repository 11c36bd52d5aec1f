"""Parts that are alike, such as steps of learning: drawn alike, written from one template."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES, thorough

import attn_xl
from attn_xl import Computation
from attn_xl.settings import Settings
from attn_xl.workbook.canvas import canvas
from attn_xl.workbook.write import write_workbook
from attn_xl.workbook.xlsx.sheet import Likes


def computed(case: str) -> Computation:
    if case in ("sgd", "adam"):
        sample = SAMPLES / "learning.xlsx"
        return attn_xl.learn(sample, steps=5, optimizer=case).computation  # type: ignore[arg-type]
    if case == "encoder":
        return attn_xl.attend(SAMPLES / "encoder.xlsx", layers=4, heads=2, random_weights=3)
    if case == "gru":
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
    for ws in book.worksheets:
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


CASES = ["adam", *(pytest.param(case, marks=thorough) for case in ("sgd", "encoder", "gru"))]


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
    monkeypatch.setattr(canvas, "Likeness", lambda *_: None)
    write_workbook(computation, all_drawn, settings=settings)
    expected = contents(all_drawn)
    assert len(expected) > 5
    for path in (cells_copied, first):
        found = contents(path)
        assert found.keys() == expected.keys()
        for sheet, cells in expected.items():
            assert found[sheet] == cells, (path.name, sheet)


def test_every_step_of_learning_has_its_matrices_in_the_same_cells(tmp_path: Path) -> None:
    """However wide their numbers are, as the gradients become smaller."""
    computation = attn_xl.learn(SAMPLES / "learning.xlsx", steps=12).computation
    assert computation.settings is not None
    layout = write_workbook(computation, tmp_path / "run.xlsx", settings=computation.settings)
    places: dict[str, dict[str, str]] = {}
    for block in layout.blocks.values():
        step, _, name = block.name.partition(".")
        places.setdefault(step, {})[name] = block.place.range
    for step in range(4, 13):
        assert places[f"Step{step}"] == places["Step3"]
    assert len(places["Step3"]) > 100
