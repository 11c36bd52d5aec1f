"""A computation once more: with other inputs, under other names; and as numbers only."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from conftest import verify
from graph.test_composition import SQUARE, X, Y, matrix

from attn_xl import Graph, softmax
from attn_xl.graph.copies import Replay, copied
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import Scope
from attn_xl.workbook.write import write_workbook

SECOND = Scope("Step", "step", 2)


def model(x: Matrix, w: Matrix) -> Matrix:
    shared = (Y * 2).named("Shared")
    q = (x @ w).named("Q")
    return (softmax(q).named("A") + shared).named("Out")


def test_a_copy_computes_with_other_inputs_under_other_names(tmp_path: Path) -> None:
    w = matrix(np.eye(3) * 3 - 1, "W")
    out = model(X, SQUARE)
    copies = copied([out], {SQUARE: w}, SECOND)
    again = copies[out]
    assert np.array_equal(again.values, model(X, w).values)
    graph = Graph(out, again)
    assert [name for name in graph if name.startswith("Step2.")] == [
        "Step2.Q", "Step2.A.Maximum", "Step2.A.Exponentials", "Step2.A.Sum", "Step2.A", "Step2.Out",
    ]  # fmt: skip
    assert graph["Step2.A"].words == "softmax(Step2.Q)"
    assert again.words == "Step2.A + Shared"  # what does not change is shared
    write_workbook(graph, tmp_path / "copies.xlsx")
    verify(tmp_path / "copies.xlsx")


def test_a_replay_gives_the_same_numbers_and_no_others() -> None:
    w = matrix(np.eye(3) * 3 - 1, "W")
    out = model(X, SQUARE)
    replay = Replay([out, SQUARE], [SQUARE])
    assert np.array_equal(replay([w.values])[0], model(X, w).values)
    first, given = replay([SQUARE.values])
    assert np.array_equal(first, out.values)
    assert np.array_equal(given, SQUARE.values)
    assert np.isnan(replay([SQUARE.values * np.inf])[0]).all()
