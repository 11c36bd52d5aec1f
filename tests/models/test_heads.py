"""Each head reads its columns of W_Q where they stand; or, if asked, on a sheet of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, naive_attention, table, thorough, verify

import attn_xl
from attn_xl.settings import Arrangement, Formulas, Settings
from attn_xl.workbook.write import write_workbook

HEADS = SAMPLES / "multi-head.xlsx"


def computed(**options: object) -> tuple[attn_xl.Computation, Settings]:
    tables = attn_xl.read_tables(HEADS)
    settings = Settings.resolve(options, tables.settings, "")
    return attn_xl.attend(tables, settings), settings


@alike
@pytest.mark.parametrize("layout", Arrangement)
@pytest.mark.parametrize("style", [Formulas.cell, Formulas.array, Formulas.dynamic])
def test_a_head_refers_to_its_columns(
    style: Formulas, layout: Arrangement, tmp_path: Path, keep: Callable[[Path], Path]
) -> None:
    computation, settings = computed(formulas=style, layout=layout)
    written = write_workbook(computation, tmp_path / "o.xlsx", settings=settings)
    keep(tmp_path / "o.xlsx")
    (graph,) = computation.values()
    assert not [name for name in graph if name.startswith(("W_Q_", "b_Q_"))]
    block = written.blocks[graph["Q_2"]]
    if layout is Arrangement.sheets:
        formula = written.formula(block, 0, 0)
        assert formula == "SUM(MMULT(Input!$B5:$E5,W_Q!D$5:D$8))+b_Q!D$5"
        if style is not Formulas.cell:
            assert written.array(block) == "MMULT(Input,W_Q!$D$5:$E$8)+b_Q!$D$5:$E$5"


def test_explain_names_the_cell_of_the_whole_matrix() -> None:
    computation, _ = computed()
    explained = attn_xl.explain(computation, "Q_2[1, 1]")
    assert "W_Q[living, q3]" in explained.words
    assert next(one.address for one in explained.sources if one.step == "W_Q") == "W_Q!D5"
    assert explained.step == "Q_2"


def test_the_canvas_says_which_columns_a_head_takes(tmp_path: Path) -> None:
    computation, settings = computed(layout="canvas")
    write_workbook(computation, tmp_path / "o.xlsx", settings=settings)
    sheet = openpyxl.load_workbook(tmp_path / "o.xlsx")["Canvas"]
    texts = {cell.value: cell for row in sheet.iter_rows() for cell in row if cell.value}
    caption = texts["columns 3 to 4 of W_Q"]
    drawn = sheet.cell(caption.row + 2, caption.column)
    whole = texts["W_Q"]
    assert drawn.value == f"={sheet.cell(whole.row + 2, whole.column + 2).coordinate}"
    assert "Q_2 = Input × W_Q + b_Q" in texts


@thorough
def test_heads_as_sheets_gives_each_head_matrices_of_its_own(tmp_path: Path) -> None:
    computation, settings = computed(heads_as_sheets=True)
    by_reference, _ = computed()
    (graph,), (other,) = computation.values(), by_reference.values()
    assert np.array_equal(graph["Output"].values, other["Output"].values)
    assert graph["W_Q_2"].values.tolist() == graph["W_Q"].values[:, 2:4].tolist()
    written = write_workbook(computation, tmp_path / "o.xlsx", settings=settings, record=True)
    verify(tmp_path / "o.xlsx")
    block = written.blocks[graph["W_Q_2"]]
    assert written.formula(block, 0, 0) == "W_Q!D5"
    again = attn_xl.read_tables(tmp_path / "o.xlsx")
    assert again.settings["heads-as-sheets"] in (True, "TRUE")
    (back,) = attn_xl.attend(again).values()
    assert "W_Q_2" in back


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    computation, settings = computed()
    write_workbook(computation, tmp_path / "o.xlsx", settings=settings, record=True)
    (back,) = attn_xl.attend(attn_xl.read_tables(tmp_path / "o.xlsx")).values()
    (graph,) = computation.values()
    assert list(back) == list(graph)
    assert np.array_equal(back["Output"].values, graph["Output"].values)


@thorough
def test_without_w_o_the_outputs_stay_side_by_side(make: Callable[..., Path], tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    x, w_q, w_k, w_v = (rng.integers(-9, 10, shape) / 10 for shape in ((3, 4), (4, 4), (4, 4), (4, 6)))
    sheets = {"s": table(x), "W_Q": w_q.tolist(), "W_K": w_k.tolist(), "W_V": w_v.tolist()}
    path = make(sheets)
    wanted = [
        naive_attention(x @ w_q[:, 2 * h : 2 * h + 2], x @ w_k[:, 2 * h : 2 * h + 2],
                        x @ w_v[:, 3 * h : 3 * h + 3])[1]
        for h in (0, 1)
    ]  # fmt: skip
    computation = attn_xl.attend(path, heads=2)
    output = computation["Output"]
    np.testing.assert_allclose(output.values, np.hstack(wanted), rtol=1e-12)
    assert "there is no W_O" in output.note
    attn_xl.write_workbook(computation, tmp_path / "out.xlsx")
    verify(tmp_path / "out.xlsx")
