"""Attention weights that are given in place of the softmax."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SAMPLES, table, verify

import attn_xl
from attn_xl import CallError, InputError, Settings, attend, read_tables

Make = Callable[..., Path]
WORDS = ["a", "b", "c"]
X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
A = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-2.0, 0.5, 3.0]])
W_V = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])
GIVEN: dict[str, list[list[Any]]] = {
    "s": table(X, WORDS),
    "A": [["", *WORDS], *([w, *row] for w, row in zip(WORDS, A.tolist()))],
}


def output(path: Path, **options: Any) -> np.ndarray:
    tables = read_tables(path)
    (graph,) = attend(
        tables, Settings.resolve({"attention": "A", **options}, tables.settings, "")
    ).values()
    return np.asarray(graph["Output"].values)


def test_the_output_is_the_product_with_the_values(make: Make) -> None:
    np.testing.assert_allclose(output(make(GIVEN)), A @ X)
    with_weights = make({**GIVEN, "W_V": W_V.tolist(), "b_V": [[1, 2, 3]]})
    np.testing.assert_allclose(output(with_weights), A @ (X @ W_V + [1, 2, 3]))
    mixed = make({**GIVEN, "W_O": [[2, 0], [1, 1]]})
    np.testing.assert_allclose(output(mixed), A @ X @ [[2, 0], [1, 1]])


def test_the_words_may_look_at_others(make: Make) -> None:
    path = make({**GIVEN, "A": [[1, 2], [0, 1], [3, 4]], "m": table(X[:2], ["y", "z"])})
    np.testing.assert_allclose(output(path, memory="m"), np.array([[1, 2], [0, 1], [3, 4]]) @ X[:2])


def test_queries_and_keys_are_not_used(make: Make) -> None:
    path = make({**GIVEN, "W_Q": np.eye(2).tolist(), "W_K": np.eye(2).tolist()})
    computation = attend(read_tables(path), Settings(attention="A"))
    assert "Not used by this model: W_Q, W_K." in computation.remarks
    assert [*computation["s"]] == ["Input", "A", "V", "Output"]


def test_a_range_gives_the_weights(make: Make) -> None:
    rows = [[*one, "", *other] for one, other in zip(GIVEN["s"], GIVEN["A"])]
    tables = read_tables(make({"all": rows}), range=["X=all!A1:C4", "A=all!E1:H4"])
    (graph,) = attend(tables, Settings(attention="A")).values()
    np.testing.assert_allclose(graph["Output"].values, A @ X)


@pytest.mark.parametrize(
    "options",
    [{"causal": True}, {"scale": False}, {"temperature": 2.0}, {"heads": 2},
     {"padding": "a"}],
    ids=lambda options: next(iter(options)),
)  # fmt: skip
def test_options_of_scores_are_refused(options: dict[str, Any], make: Make) -> None:
    with pytest.raises(CallError, match="no effect with --attention"):
        output(make(GIVEN), **options)


def test_what_does_not_fit_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match="are 2 x 3, but need 3 x 3"):
        output(make({**GIVEN, "A": A[:2].tolist()}))
    turned = [["", "b", "a", "c"], *GIVEN["A"][1:]]
    with pytest.raises(InputError, match="labelled b, a, c, but the words are a, b, c"):
        output(make({**GIVEN, "A": turned}))
    with pytest.raises(CallError, match="there is no table 'B'"):
        output(make(GIVEN), attention="B")
    with pytest.raises(CallError, match="belongs to --model attention"):
        output(make(GIVEN), model="decoder-only")


def test_all_layers_of_an_encoder_take_them(make: Make) -> None:
    w_1, w_2 = W_V, W_V.T
    path = make({**GIVEN, "W_1": w_1.tolist(), "W_2": w_2.tolist()})
    settings = Settings(model="encoder", attention="A", layers=2, norm="none")
    graph = attend(read_tables(path), settings)["s"]
    x = X
    for _ in range(2):
        x = x + A @ x
        x = x + np.maximum(0, x @ w_1) @ w_2
    np.testing.assert_allclose([*graph.values()][-1].values, x)
    assert "Enc1.Scores" not in graph


@pytest.mark.parametrize("controls", [True, False])
def test_a_workbook_is_written_and_read_back(controls: bool, write: Any) -> None:
    settings = {"attention": "depends", "controls": controls}
    path = write(SAMPLES / "given-weights.xlsx", settings=settings, record=True)
    before = attend(read_tables(SAMPLES / "given-weights.xlsx"))["sentence"]["Output"]
    tables = read_tables(path)
    assert tables.settings["attention"] == "depends"
    np.testing.assert_array_equal(attend(tables)["sentence"]["Output"].values, before.values)
    assert "depends" in tables.weights
    assert attn_xl.attend(SAMPLES / "given-weights.xlsx")["sentence"]["A"].step.role == "attention"


def test_several_heads_have_weights_of_their_own(make: Make, tmp_path: Path) -> None:
    others = A.T.copy()
    w_o = np.arange(10.0).reshape(5, 2)
    heads = {"A_1": A.tolist(), "A_2": others.tolist(), "W_O": w_o.tolist()}
    sheets = {"s": GIVEN["s"], **heads, "W_V_1": W_V.tolist(), "W_V_2": X[:2].tolist()}
    made = np.hstack([A @ (X @ W_V), others @ (X @ X[:2])])
    np.testing.assert_allclose(output(make(sheets)), made @ w_o)
    both = {"s": GIVEN["s"], **heads, "W_O": w_o[:4].tolist()}  # values are the words themselves
    np.testing.assert_allclose(output(make(both)), np.hstack([A @ X, others @ X]) @ w_o[:4])
    apart = {"s": GIVEN["s"], "A_1": heads["A_1"], "A_2": heads["A_2"]}
    np.testing.assert_allclose(output(make(apart)), np.hstack([A @ X, others @ X]))


def test_typed_scores_become_weights_and_a_mixed_vector(make: Make, tmp_path: Path) -> None:
    scores = np.array([[5.0, 3, 4], [1, 2, 1], [2, 2, 4]])
    path = make({"s": GIVEN["s"], "Scores": scores.tolist()})
    options: dict[str, Any] = {"attention": "Scores", "normalize": "sum", "controls": True}
    settings = attn_xl.Settings.resolve(options, {}, "")
    made = attend(read_tables(path), settings)
    graph = next(iter(made.values()))
    assert graph["Weights"].values[0].round(2).tolist() == [0.42, 0.25, 0.33]
    np.testing.assert_allclose(graph["Output"].values, scores / scores.sum(1, keepdims=True) @ X)
    attn_xl.write_workbook(made, tmp_path / "w.xlsx", settings=settings)
    verify(tmp_path / "w.xlsx")
    again = next(iter(attend(read_tables(tmp_path / "w.xlsx")).values()))
    np.testing.assert_array_equal(again["Output"].values, graph["Output"].values)
