"""Each primitive: numbers against a plain loop, and that none lacks a formula or words."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import alike
from primitives import PRIMITIVES

from attn_xl import InputError, Matrix, Settings, explain, given, softmax
from attn_xl.graph.functions import additive, exp, gather, row_maximum, row_sum, sqrt, width
from attn_xl.graph.graph import Graph
from attn_xl.graph.loops import Entered, recompute
from attn_xl.graph.matrix import Operation
from attn_xl.graph.operations.elementwise import Function
from attn_xl.graph.operations.products import Product
from attn_xl.graph.operations.reductions import Best
from attn_xl.workbook.write import write_workbook


def matrix(values, name="X", **labels):  # type: ignore[no-untyped-def]
    values = np.array(values, float)
    rows = labels.get("rows", [f"r{i}" for i in range(values.shape[0])])
    columns = labels.get("columns", [f"c{j}" for j in range(values.shape[1])])
    return given(values, rows, columns, name)


def operations(base: type[Operation] = Operation) -> set[type[Operation]]:
    """Every kind of operation that models are made of."""
    below = [one for one in base.__subclasses__() if one.__module__.startswith("attn_xl.graph.")]
    return set().union(*map(operations, below)) if below else {base}


def test_the_catalogue_has_every_operation() -> None:
    assert {type(primitive) for primitive in PRIMITIVES} == operations() | {Function}
    assert all(primitive.binds in (1, 2, 9) for primitive in PRIMITIVES)


@pytest.mark.parametrize(("k", "m"), [(1, 1), (9, 1), (64, 2), (129, 3), (1000, 65)])
def test_a_product_of_one_row_adds_from_left_to_right(k: int, m: int) -> None:
    rng = np.random.default_rng(k)
    row, right = rng.normal(size=(1, k)), np.asfortranarray(rng.normal(size=(k, m)))
    total = np.zeros(m)
    for number, line in zip(row[0], right):
        total = total + number * line
    assert (Product().numbers(row, right)[0] == total).all()


def test_product_adds_from_left_to_right() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(7, 50)), rng.normal(size=(50, 3))
    result = (matrix(a) @ matrix(b, rows=[f"c{j}" for j in range(50)])).values
    for i in range(7):
        for j in range(3):
            total = 0.0
            for k in range(50):
                total += a[i, k] * b[k, j]
            assert result[i, j] == total  # to the last bit, as a spreadsheet adds


def test_product_with_transposed() -> None:
    a, b = matrix([[1, 2], [3, 4]]), matrix([[5, 6], [7, 8], [9, 10]])
    product = a @ b.T
    assert product.values.tolist() == [[17, 23, 29], [39, 53, 67]]
    assert product.columns == ("r0", "r1", "r2")


def test_elementwise_and_reductions() -> None:
    x = matrix([[1.0, 4.0], [9.0, 16.0]])
    assert sqrt(x).values.tolist() == [[1, 2], [3, 4]]
    assert exp(x).values[0, 0] == math.e
    assert row_maximum(x).values.tolist() == [[4], [16]]
    assert row_sum(x).values.tolist() == [[5], [25]]
    assert (x - row_maximum(x)).values.tolist() == [[-3, 0], [-7, 0]]
    assert (x / row_sum(x)).values.tolist() == [[0.2, 0.8], [0.36, 0.64]]
    assert width(x).values.tolist() == [[2]]
    assert gather([(x, 1), (x, 0), (x, 1)], ["a", "b", "c"]).values.tolist() == [
        [9, 16],
        [1, 4],
        [9, 16],
    ]


@pytest.mark.parametrize("scores", [[[1e6, -1e6, 0.0]], [[-1e6, -1e6]], [[5.0]], [[1e-300, 0.0]]])
def test_softmax_is_finite_and_sums_to_one(scores: list[list[float]]) -> None:
    weights = softmax(matrix(scores)).values
    assert np.isfinite(weights).all()
    assert weights.sum() == pytest.approx(1, abs=1e-15)


def test_softmax_keeps_its_steps() -> None:
    graph = Graph(softmax(matrix([[0.0, math.log(3)]], "Scores")).named("Softmax"))
    assert list(graph) == [
        "Scores",
        "Softmax.Maximum",
        "Softmax.Exponentials",
        "Softmax.Sum",
        "Softmax",
    ]
    assert graph["Softmax"].values.tolist() == [[pytest.approx(0.25), pytest.approx(0.75)]]
    assert graph["Softmax"].words == "softmax(Scores)"
    assert graph["Softmax.Exponentials"].words == "e^(Scores - Maximum)"


def test_shapes_must_fit() -> None:
    with pytest.raises(ValueError, match="cannot multiply"):
        matrix([[1, 2]]) @ matrix([[1, 2]])
    with pytest.raises(ValueError, match="differ in width"):
        additive(matrix([[1, 2]]), matrix([[1, 2]]), matrix([[1]]))
    with pytest.raises(ValueError, match="row and"):
        given([[1, 2]], ["a"], ["x"], "X")


def test_numbers_too_large_are_refused_by_name() -> None:
    x = matrix([[1e200, 1e200]])
    with pytest.raises(InputError, match="too large"):
        x @ x.T
    with pytest.raises(InputError, match="too large"):
        exp(x)


def test_what_cannot_be_computed_is_said_as_it_is() -> None:
    x = matrix([[1.0, -4.0]])
    with pytest.raises(InputError, match=r"X / 0 gives inf at \[r0, c0\]: .* divided by 0"):
        x / 0
    with pytest.raises(InputError, match=r"√X gives nan at \[r0, c1\]: .* root of a negative"):
        sqrt(x)
    with pytest.raises(InputError, match=r"^Y gives nan at"):
        matrix([[math.nan]], "Y")


def test_arithmetic_with_plain_numbers_on_either_side() -> None:
    x = matrix([[1.0, 4.0]])
    for made, values, words in (
        (2 * x, [2, 8], "2 · X"),
        (1 + x, [2, 5], "1 + X"),
        (1 - x, [0, -3], "1 - X"),
        (2 / x, [2, 0.5], "2 / X"),
        (-x, [-1, -4], "-1 · X"),
        (np.float64(2) * x, [2, 8], "2 · X"),
        (x * np.int64(2), [2, 8], "X · 2"),
    ):
        assert (made.values.tolist(), made.words) == ([values], words)
    for wrong in (lambda: x @ [[1], [2]], lambda: x + "1", lambda: [1, 2] * x, lambda: x - np.ones(2)):
        with pytest.raises(TypeError):
            wrong()


def test_what_cannot_be_computed_from_what_was_entered_is_not_there() -> None:
    x, y = matrix([[6.0, 8.0]]), matrix([[2.0, 4.0]], "Y")
    ratio = (x / y).named("Ratio")
    blank = Entered(np.array([[True, False]]), np.array([[0.0, 0.0]]))
    expected = recompute([ratio], {y: blank}).expected[ratio]
    assert np.isnan(expected[0, 0])
    assert expected[0, 1] == 2
    assert np.isnan(Best().numbers(np.array([[math.nan, 1], [1, 2]]))[0, 0])
    assert Best().numbers(np.array([[math.nan, 1], [1, 2]]))[1, 0] == 2


A, B, C = (matrix([[x, 2 * x]], name) for x, name in ((7.0, "A"), (3.0, "B"), (2.0, "C")))


@alike
@pytest.mark.parametrize(
    ("made", "value", "words"),
    [
        (A - (B - C), 6, "A - (B - C)"),
        (A - (B + C), 2, "A - (B + C)"),
        (A - B - C, 2, "A - B - C"),
        (A + (B - C), 8, "A + B - C"),
        (A / (B / C), 7 / 1.5, "A / (B / C)"),
        (A / (B * C), 7 / 6, "A / (B · C)"),
        (A / B / C, 7 / 6, "A / B / C"),
        (A * (B / C), 10.5, "A · B / C"),
        (A * (B - C), 7, "A · (B - C)"),
        ((A - B) / C, 2, "(A - B) / C"),
    ],
)
@pytest.mark.parametrize("formulas", ["cell", "array"])
def test_parentheses_stand_where_they_must(
    made: Matrix, value: float, words: str, formulas: str, tmp_path: Path, keep: Callable[[Path], Path]
) -> None:
    result = made.named("R")
    assert (result.values[0, 0], result.words) == (value, words)
    path = tmp_path / "r.xlsx"
    write_workbook(result, path, settings=Settings(formulas=formulas))  # type: ignore[arg-type]
    keep(path)
    worked = explain(result, "R[r0, c0]", decimals=3).numbers
    assert eval(worked.replace("·", "*")) == pytest.approx(value)


def test_a_matrix_cannot_be_changed() -> None:
    x = matrix([[1, 2]])
    with pytest.raises(ValueError, match="read-only"):
        x.values[0, 0] = 5
    with pytest.raises(AttributeError):
        x.name = "Y"  # type: ignore[misc]


def test_negative_zero_becomes_zero() -> None:
    assert math.copysign(1, matrix([[-0.0]]).values[0, 0]) == 1


def test_labels_are_one_clean_line() -> None:
    x = given([[1.0]], ["a\nb\x1b[31m"], ["  c\td\u00a0e "], "X")
    assert x.rows == ("a b\ufffd[31m",)
    assert x.columns == ("c d\u00a0e",)


def test_a_graph_of_two_thousand_steps_is_walked() -> None:
    x = matrix([[1.0]])
    step = x
    for number in range(2000):
        step = (step - x).named(f"S{number}")
    assert len(Graph(step)) == 2001


def test_an_unknown_step_suggests_the_nearest() -> None:
    graph = Graph(softmax(matrix([[1.0]], "Scores")).named("Softmax"))
    with pytest.raises(KeyError, match=r"Did you mean 'Softmax'"):
        graph["Sotfmax"]
