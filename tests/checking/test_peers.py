"""Attention against workbooks that somebody else made by hand, if they are there.

They are read where they lie and nothing of them is kept: only a checkout has them beside it.
They write words as columns and weights at the left, so all matrices are the transposes of ours.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from math import e, log
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import ROOT, TOLERANCE, make_input, table

import attn_xl
from attn_xl import Computation, Graph
from attn_xl.cli.main import main
from attn_xl.workbook.write import write_workbook

PEERS = ROOT.parent / "shared" / "peers"
SELF_ATTENTION, SOFTMAX = PEERS / "Self-Attention.xlsx", PEERS / "Softmax.xlsx"

if not (SELF_ATTENTION.is_file() and SOFTMAX.is_file()):
    pytest.skip("the workbooks of others are not there", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:DrawingML support:UserWarning")

STEPS = {
    "Scores": "K^T * Q",
    "Scaled": "r = K^T * Q / sqrt(dk)",
    "Softmax": "A = softmax(K^T * Q / sqrt(dk))",
    "Output": "z1",
}
"""Our matrices, and the label above theirs."""


def sheet_of(path: Path, name: str) -> Any:
    return openpyxl.load_workbook(path, data_only=True)[name]


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def labelled(sheet: Any, label: str) -> Iterator[tuple[int, int]]:
    """The row and the column of every cell with this text."""
    for row in sheet.iter_rows():
        for cell in row:
            if isinstance(cell.value, str) and cell.value.strip() == label:
                yield cell.row, cell.column


def block(sheet: Any, label: str) -> np.ndarray:
    """The numbers below a label, past an arrow between them; no label may be there twice."""
    ((row, left),) = labelled(sheet, label)
    row += 1
    row += sheet.cell(row, left).value == "↓"
    right = left
    while is_number(sheet.cell(row, right).value):
        right += 1
    rows: list[list[float]] = []
    while is_number(sheet.cell(row, left).value):
        rows.append([float(sheet.cell(row, column).value) for column in range(left, right)])
        row += 1
    return np.array(rows)


def assert_same(ours: np.ndarray, theirs: np.ndarray, what: str) -> None:
    """The same numbers up to a rounding error of the largest."""
    assert ours.shape == theirs.shape, what
    error = np.abs(ours - theirs).max()
    assert error <= TOLERANCE * max(1.0, np.abs(theirs).max()), f"{what}: differs by {error}"


@pytest.mark.parametrize(
    ("name", "words", "dims", "d_k", "d_v"),
    [("small", 4, 6, 3, 3), ("medium", 8, 6, 4, 6), ("large", 12, 6, 4, 6)],
)
def test_self_attention_made_by_hand(
    name: str, words: int, dims: int, d_k: int, d_v: int, tmp_path: Path, write: Callable[..., Path]
) -> None:
    sheet = sheet_of(SELF_ATTENTION, name)
    x, w_q, w_k, w_v = (block(sheet, label).T for label in ("x1", "Wq", "Wk", "Wv"))
    assert x.shape == (words, dims)
    assert [w.shape for w in (w_q, w_k, w_v)] == [(dims, d_k), (dims, d_k), (dims, d_v)]

    sentence = table(x, [f"x{i + 1}" for i in range(words)])
    weights = {"W_Q": w_q.tolist(), "W_K": w_k.tolist(), "W_V": w_v.tolist()}
    source = make_input(tmp_path / "input.xlsx", {name: sentence, **weights})
    graph = attn_xl.attend(attn_xl.read_tables(source))[name]
    for step, label in STEPS.items():
        assert_same(graph[step].values, block(sheet, label).T, step)
    write(source)


@pytest.mark.parametrize("base", [e, 3.0])
def test_softmax_made_by_hand(base: float, tmp_path: Path, keep: Callable[[Path], Path]) -> None:
    sheet = sheet_of(SOFTMAX, "Softmax")
    heading = "e^x" if base == e else "3^x"
    found = list(labelled(sheet, heading))
    assert len(found) == 3
    graphs = {}
    for number, (row, column) in enumerate(found, 1):
        # x stands two columns before its exponentials, softmax(x) two columns after them.
        x, theirs = (column_below(sheet, row, column + aside) for aside in (-2, 2))
        assert len(x) == len(theirs) > 3
        scores = attn_xl.given([x * log(base)], ["x"], range(len(x)), "Input")
        ours = attn_xl.softmax(scores).named("Softmax")
        assert_same(ours.values[0], theirs, f"{heading} {number}")
        graphs[f"x{number}"] = Graph(ours)
    path = tmp_path / "output.xlsx"
    write_workbook(Computation("Softmax", graphs, {}), path)
    keep(path)


def column_below(sheet: Any, row: int, column: int) -> np.ndarray:
    """The numbers below a cell, down to the first that is none."""
    numbers: list[float] = []
    while is_number(value := sheet.cell(row + 1 + len(numbers), column).value):
        numbers.append(float(value))
    return np.array(numbers)


@pytest.mark.parametrize("name", ["small", "medium", "large"])
def test_self_attention_is_read_as_it_is(
    name: str, tmp_path: Path, keep: Callable[[Path], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Words in columns, weights beside them and applied from the left: nothing is rearranged."""
    sheet = sheet_of(SELF_ATTENTION, name)
    tables = attn_xl.read_tables(SELF_ATTENTION, sheet=name)
    assert list(tables.weights) == ["W_Q", "W_K", "W_V"]
    assert tables.sentences[name].rows[:2] == ("x1", "x2")
    graph = attn_xl.attend(tables)[name]
    for step, label in STEPS.items():
        assert_same(graph[step].values, block(sheet, label).T, step)

    path = tmp_path / "output.xlsx"
    with pytest.raises(SystemExit) as stopped:
        main(["convert", str(SELF_ATTENTION), "--sheet", name, "-o", str(path)])
    assert stopped.value.code == 0
    assert "words are in columns" in capsys.readouterr().err
    written = openpyxl.load_workbook(keep(path), data_only=True)
    shown = [[cell.value for cell in row[1:]] for row in written["Output"].iter_rows(min_row=5)]
    values = np.array([[v for v in row if is_number(v)] for row in shown if is_number(row[0])])
    theirs = block(sheet, "z1").T
    assert_same(values[: theirs.shape[0], : theirs.shape[1]], theirs, "Output")


def inspected(path: Path, *options: str) -> dict[str, Any]:
    out = io.StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit) as stopped:
        main(["inspect", str(path), "--json", *options])
    assert stopped.value.code == 0
    return json.loads(out.getvalue())


def test_inspect_names_the_command_for_each_sheet() -> None:
    report = inspected(SELF_ATTENTION)
    assert report["commands"] == [
        f"attn-xl convert {SELF_ATTENTION} --sheet {name}" for name in ("small", "medium", "large")
    ]
    assert "--sheet" in report["trouble"]
    assert report["sheets"][3] == {"name": "LICENSE", "passed": "no numbers", "tables": []}
    (small,) = (s for s in report["sheets"] if s["name"] == "small")
    assert [(t["range"], t["use"], t["name"]) for t in small["tables"] if t["use"]] == [
        ("small!J4:M10", "sentence", "small"),
        ("small!C14:H16", "weights", "W_Q"),
        ("small!C19:H21", "weights", "W_K"),
        ("small!C37:H39", "weights", "W_V"),
    ]
    computed = [t["range"] for t in small["tables"] if t["formulas"]]
    assert len(computed) == 11


def test_inspect_tells_the_matrices_of_exercises_apart() -> None:
    report = inspected(PEERS / "W2_Matrix-Multiplication.xlsx")
    assert "tables may be the sentence" in report["trouble"]
    found = {t["range"]: t for s in report["sheets"] for t in s["tables"]}
    b = found["'Exercise 11-15'!F7:I8"]
    assert (b["title"], b["rows"], b["columns"], b["use"]) == ("B", 2, 4, None)
    a = found["'Exercise 21-25'!C12:F15"]
    assert (a["title"], a["rows"], a["columns"]) == ("A", 4, 4)


def test_a_workbook_that_openpyxl_refuses_is_read() -> None:
    path = PEERS / "W3_Linear-Layer.xlsx"
    with pytest.raises((TypeError, ValueError, KeyError)):
        openpyxl.load_workbook(path)
    found = {t["range"]: t for s in inspected(path)["sheets"] for t in s["tables"]}
    x = found["'Exrcise 1-5'!F6:F8"]
    assert (x["rows"], x["columns"], x["column_labels"]) == (2, 1, ["X"])
    tables = attn_xl.read_tables(path, range="'Exercise 11-15'!K10:M11")
    assert tables.sentences["Exercise 11-15"].values.tolist() == [[1, -1, 1], [1, 1, 1]]


def test_inspect_lists_the_columns_of_softmax() -> None:
    report = inspected(PEERS / "Softmax.xlsx")
    found = {t["range"]: t for s in report["sheets"] for t in s["tables"]}
    assert found["Softmax!N4:N14"]["column_labels"] == ["x"]
    assert (found["Softmax!N4:N14"]["rows"], found["Softmax!N4:N14"]["columns"]) == (10, 1)
    assert "--range" in report["commands"][0]
