"""Gradients against central differences, for every operation and for random expressions of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import alike, thorough
from graph.test_composition import CASES, SQUARE, Expression, X, Y, matrix, written
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_xl import gradients, softmax
from attn_xl.errors import CallError, InputError
from attn_xl.graph import functions as f
from attn_xl.graph.graph import Graph, walk
from attn_xl.graph.loops import Entered, recompute
from attn_xl.graph.matrix import Matrix, Numbers, operation_of
from attn_xl.graph.operations.elementwise import angle, relu
from attn_xl.graph.operations.reductions import Maximum
from attn_xl.settings import Formulas

STEP = 2.0**-17
WITHOUT = {
    "Constant",
    "Width",
    "Best",
    "Mask",
    "Sinusoid",
    "Chosen",
    "OneHot",
    "Positive",
    "Largest",
    "AtMost",
    "Distance",
    "NextDraw",
    "Count",
    "Round",
}
"""Operations whose results follow no operand smoothly."""


def to_loss(x: Matrix) -> Matrix:
    """One number that depends on all numbers of a matrix, on each in another way."""
    n, m = x.shape
    weights = matrix(np.random.default_rng(n * 10 + m).integers(-64, 64, (n, m)) / 64, "Weighing")
    return f.column_sum(f.row_sum(x * weights)).named("Loss")


def givens(loss: Matrix) -> list[Matrix]:
    """The matrices of numbers that are given."""
    return [
        node
        for node in walk([loss])
        if isinstance(node, Matrix) and node.operation is None and node.texts is None
    ]  # fmt: skip


def central_differences(loss: Matrix, of: Matrix) -> Numbers:
    """How the loss changes with each number, by computing it anew a little to both sides."""
    slopes = np.zeros(of.shape)
    for place in np.ndindex(of.shape):
        here = np.zeros(of.shape, dtype=bool)
        here[place] = True
        high, low = (
            recompute([loss], {of: Entered(here, of.values + step)}).shown[loss][0, 0]
            for step in (STEP, -STEP)
        )
        slopes[place] = (high - low) / (2 * STEP)
    return slopes


def kinks(loss: Matrix) -> Iterator[float]:
    """How near the numbers of the graph come to where a slope jumps."""
    for node in walk([loss]):
        if node.operation is relu:
            yield float(np.abs(node.parents[0].values).min())
        elif isinstance(node.operation, Maximum):
            values = node.parents[0].values
            ordered = np.sort(values.T if node.operation.columns else values, axis=1)
            if ordered.shape[1] > 1:
                yield float((ordered[:, -1] - ordered[:, -2]).min())


def check(loss: Matrix) -> list[Matrix]:
    of = [one for one in givens(loss) if one.name != "Weighing"]
    if min(kinks(loss), default=1.0) < 1e-3:
        return []
    found = gradients(loss, of)
    for matrix_, d in zip(of, found):
        assert (d.rows, d.columns) == (matrix_.rows, matrix_.columns)
        expected = central_differences(loss, matrix_)
        scale = max(1.0, np.abs(expected).max())
        assert np.allclose(d.values, expected, rtol=2e-6, atol=2e-6 * scale), (matrix_.name, loss)
    return found


@pytest.mark.parametrize("case", [case for case in CASES if case not in WITHOUT])
def test_an_operation_has_its_derivative(case: str) -> None:
    made_ = CASES[case][0]()
    chosen = {"Which", "On"}  # a step to the side is no choice
    loss = to_loss(made_)
    of = [one for one in givens(loss) if one.name not in {"Weighing", *chosen}]
    for one, d in zip(of, gradients(loss, of)):
        assert np.allclose(d.values, central_differences(loss, one), rtol=1e-6, atol=1e-6)
    assert of


@pytest.mark.parametrize("case", sorted(WITHOUT - {"Constant"}))
def test_what_does_not_follow_has_no_derivative(case: str) -> None:
    made_ = CASES[case][0]()
    number = 0
    assert operation_of(made_).gradient(number, made_, f.constant(1), *made_.parents) is None


@pytest.mark.parametrize("kind", ["gelu", "gelu-tanh"])
def test_a_gradient_has_a_gradient(kind: str) -> None:
    (first,) = gradients(to_loss(f.activation(X, kind)), [X])
    check(to_loss(first))


EXAMPLES = {
    "softmax": lambda: softmax(X) @ Y.T,
    "a row for all": lambda: SQUARE * matrix([[1.5, -2.0, 0.5]], "R"),
    "a column for all": lambda: matrix([[1.5], [-2.0], [0.5]], "C") / (SQUARE + 4),
    "one number for all": lambda: SQUARE / f.option(2.0, "Temperature", ""),
    "used twice": lambda: SQUARE @ SQUARE + SQUARE.T * 3 - SQUARE,
    "heads": lambda: f.concat(f.columns(X, 0, 1) @ f.columns(X, 1, 2).T, f.columns(X, 1, 3)),
    "a mask": lambda: softmax(SQUARE + f.mask(SQUARE.rows, SQUARE.columns, causal=True)),
    "one number": lambda: softmax(matrix([[2.0]], "One") * 3),
    "rows of two": lambda: f.gather([(X, 1), (Y, 0), (X, 1)], "abc") @ SQUARE,
}


@alike
@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("style", [Formulas.cell, Formulas.array])
def test_gradients_are_right_and_written(example: str, style: Formulas, tmp_path: Path) -> None:
    loss = to_loss(EXAMPLES[example]())
    found = check(loss)
    assert found
    written(f.column_sum(f.row_sum(found[0])).named("All"), tmp_path / "g.xlsx", style)


def test_the_softmax_has_the_form_of_a_teacher() -> None:
    scores = matrix([[0.0, 1.0, 2.0]], "Scores")
    weights = softmax(scores).named("A")
    loss = f.row_dot(weights, matrix([[1.0, -1.0, 2.0]], "V")).named("Loss")
    (d,) = gradients(loss, [scores])
    assert d.words == "A · (dA - the sum of each row of dA · A)"
    assert list(Graph(d))[-3:] == ["dA", "dScores.Products", "dScores"]


def test_ties_and_kinks_follow_pytorch() -> None:
    torch = pytest.importorskip("torch")
    values = [[0.0, 1.0, 1.0], [2.0, 2.0, -1.0]]
    x = matrix(values, "X")
    y = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    (torch.relu(y - 1).sum() + torch.relu(y).sum() + y.max(dim=1).values.sum()).backward()
    loss = f.row_sum(f.activation(x - 1, "relu") + f.activation(x, "relu")) + f.row_maximum(x)
    (d,) = gradients(f.column_sum(loss), [x])
    assert np.array_equal(d.values, y.grad.numpy())


def test_what_is_refused() -> None:
    with pytest.raises(CallError, match="2 x 3, not one number"):
        gradients(X * 2, [X])
    with pytest.raises(CallError, match="was not computed from Y"):
        gradients(to_loss(X), [Y])


def test_the_loss_of_itself_is_one() -> None:
    loss = to_loss(X)
    assert gradients(loss, [loss])[0].values == 1


def test_words_say_what_a_positive_number_means() -> None:
    scores = (X @ Y.T).named("Scores")
    (d,) = gradients(to_loss(scores), [scores])
    assert d.name == "dScores"
    assert "raising that number of Scores a little raises the loss" in d.note


@thorough
@settings(max_examples=40, derandomize=True, deadline=None)
@given(data=st.data())
def test_random_expressions_have_their_gradients(data: Any) -> None:
    result = Expression(data.draw).of(data.draw(st.integers(1, 4)))
    result = f.gather([(result, 0)], ["first"]) if result.scalar else result
    nodes = walk([result])
    options = any(node.name.startswith("O") and node.operation is None for node in nodes)
    angles = any(node.operation is angle for node in nodes)
    if result.operation is None or options or angles:
        return
    if max(node.largest for node in nodes) > 100:  # central differences lose their digits
        return
    try:
        loss = to_loss(result)
    except InputError:
        return
    check(loss)
