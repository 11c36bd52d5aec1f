"""Slips in gradients and in the steps of recurrent networks: each is planted with NumPy alone, and only
its own phrase is named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from conftest import SAMPLES

import attn_xl
from attn_xl.graph.node import Node, Numbers, walk
from attn_xl.graph.operations.catalogue import ADD
from attn_xl.teaching.grading.first_difference import first_difference
from attn_xl.teaching.grading.known_slips import slips

Made = Callable[[dict[str, Numbers]], Numbers]


@cache
def nodes_of(sample: str) -> dict[str, Node]:
    """The matrices of a sample; of `by-hand`, with the gradients of a step of learning."""
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    settings = None
    if sample in ("by-hand", "encoder"):
        sentence = next(iter(tables.sentences.values()))
        target = replace(sentence, name="Target", values=np.eye(*sentence.values.shape))
        tables = replace(tables, weights={**tables.weights, "Target": target})
        settings = attn_xl.Settings(**{**tables.settings, "loss": True, "steps": 1})
    computation = attn_xl.attend(tables, settings)
    return {name: node for graph in computation.graphs.values() for name, node in graph.items()}


def guesses(sample: str, step: str, made: Made) -> set[str]:
    """The slips named for a student whose whole matrix is computed that way."""
    nodes = nodes_of(sample)
    node = nodes[step]
    numbers = {one: one.values for one in walk(nodes.values())}
    entered = made({name: one.values for name, one in nodes.items()})
    wrong = np.abs(entered - node.values) > 0.01 * np.maximum(1, np.abs(node.values))
    assert wrong.sum() > 3
    cells = {(i, j): (float(entered[i, j]), numbers) for i, j in np.argwhere(wrong).tolist()}
    return set(slips(node, cells).values())


def above(x: Numbers) -> Numbers:
    return np.vstack([np.zeros_like(x[:1]), x[:-1]])


def sigmoid(x: Numbers) -> Numbers:
    return np.asarray(1 / (1 + np.exp(-x)))


def inside(n: dict[str, Numbers], gate: str) -> Numbers:
    return n["Input"] @ n[f"W_{gate}"] + above(n["Hidden"]) @ n[f"U_{gate}"]


CASES: list[tuple[str, str, Made, str]] = [
    (
        "by-hand", "Step1.dScaled", lambda n: n["Step1.Softmax"] * n["Step1.dSoftmax"],
        "leaving out the sum of each row of Step1.dSoftmax · Step1.Softmax",
    ),
    (
        "by-hand", "Step1.dErrors", lambda n: 2 * n["Step1.dLosses"] * n["Step1.Errors"],
        "not dividing by the number of columns of Step1.Errors",
    ),
    ("by-hand", "Step1.dErrors", lambda n: n["Step1.dErrors"] / 2, "leaving out 2"),
    (
        "by-hand", "Step1.dK", lambda n: n["Step1.dScores"] @ n["Step1.Q"],
        "forgetting to transpose Step1.dScores",
    ),
    (
        "by-hand", "Step1.dQ", lambda n: n["Step1.dScores"].T @ n["Step1.K"],
        "using the transpose of Step1.dScores",
    ),
    ("by-hand", "Step1.dV", lambda n: -n["Step1.dV"], "wrong sign"),
    ("by-hand", "Step1.dScores", lambda n: n["Step1.dScaled"], "forgetting to scale"),
    (
        "rnn", "Hidden", lambda n: sigmoid(inside(n, "h") + n["b_h"]),
        "using the sigmoid instead of tanh",
    ),
    ("rnn", "Hidden", lambda n: np.tanh(inside(n, "h")), "leaving out b_h"),
    ("rnn", "Hidden", lambda n: inside(n, "h") + n["b_h"], "leaving out tanh"),
    (
        "rnn", "Hidden", lambda n: np.tanh(n["Input"] @ n["W_h"] + n["b_h"]),
        "leaving out Hidden[t−1] × U_h",
    ),
    (
        "lstm", "Forget", lambda n: np.tanh(inside(n, "f") + n["b_f"]),
        "using tanh instead of the sigmoid",
    ),
    (
        "lstm", "Forget", lambda n: sigmoid(n["Input"] @ n["W_f"] + n["Hidden"] @ n["U_f"] + n["b_f"]),
        "using the same row of Hidden instead of the row before",
    ),
    (
        "lstm", "InputGate",
        lambda n: sigmoid(n["Input"] @ n["W_o"] + above(n["Hidden"]) @ n["U_i"] + n["b_i"]),
        "using W_o instead of W_i",
    ),
    ("lstm", "Cell", lambda n: n["InputGate"] * n["Candidate"], "leaving out Forget · Cell[t−1]"),
    (
        "gru", "Hidden", lambda n: (1 - n["Update"]) * n["New"] + above(n["Hidden"]),
        "leaving out Update",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("sample", "step", "made", "slip"), CASES)
def test_the_slip_is_named_and_no_other(sample: str, step: str, made: Made, slip: str) -> None:
    assert guesses(sample, step, made) == {slip}


def test_the_other_path_of_a_matrix_that_is_used_twice() -> None:
    nodes = nodes_of("encoder")
    step = next(name for name, node in nodes.items() if ".d" in name and node.operation is ADD)
    first, second = (parent.values for parent in nodes[step].parents)
    for left, missing in ((first, 1), (second, 0)):
        node = nodes[step].parents[missing]
        assert guesses("encoder", step, lambda n: left) == {f"leaving out {node.name or node.words}"}  # noqa: B023


def test_exchanged_weights_are_named_only_where_they_fit() -> None:
    tables = attn_xl.read_tables(SAMPLES / "rnn.xlsx")
    square = replace(tables.weights["W_h"], values=np.array([[0.5, 1, 0], [0, -1, 1], [1, 0, 0.5]]),
                     rows=tuple("abc"))  # fmt: skip
    name, sentence = next(iter(tables.sentences.items()))
    three = replace(sentence, values=sentence.values[:, :3], columns=tuple("abc"))
    computation = attn_xl.attend(
        replace(tables, sentences={name: three}, weights={**tables.weights, "W_h": square})
    )
    nodes = {n: node for graph in computation.graphs.values() for n, node in graph.items()}
    n = {one: node.values for one, node in nodes.items()}
    weights = {node.name: node for node in walk(nodes.values()) if node.role == "weight"}
    entered = np.tanh(
        three.values @ weights["U_h"].values
        + above(n["Hidden"]) @ weights["W_h"].values
        + weights["b_h"].values
    )
    numbers = {one: one.values for one in walk(nodes.values())}
    cells = {(i, j): (float(entered[i, j]), numbers) for i, j in np.ndindex(*entered.shape)}
    assert set(slips(nodes["Hidden"], cells).values()) == {"exchanging W_h and U_h"}


# What no slip explains


def product(x: list[float], y: list[float]) -> tuple[Node, dict[Node, Numbers]]:
    a = attn_xl.given([x], ["row"], [f"d{k}" for k in range(len(x))], "A")
    b = attn_xl.given([[number] for number in y], [f"d{k}" for k in range(len(y))], ["c"], "B")
    node = (a @ b).named("C")
    return node, {one: one.values for one in walk([node])}


@pytest.mark.parametrize(
    ("entered", "said"),
    [
        (2 * 3 + 5 * 8 + 4 * 9, "Only product 2 differs: 5·7 = 35, but your number has 40 there."),
        (2 * 3 + 5 * 7 + 0, "Only product 3 differs: 4·9 = 36, but your number has 0 there."),
        (2.0 + 5 * 7 + 4 * 9, "Only product 1 differs: 2·3 = 6, but your number has 2 there."),
        (123.456, "Compare product by product; the first is 2·3 = 6."),
    ],
)
def test_the_first_product_that_differs(entered: float, said: str) -> None:
    node, numbers = product([2.0, 5.0, 4.0], [3.0, 7.0, 9.0])
    if said.startswith("Only product 2"):
        node, numbers = product([2.0, 5.0, 4.0], [8.0, 7.0, 9.0])
        entered = 2 * 8 + 5 * 8 + 4 * 9
    assert first_difference(node, 0, 0, entered, numbers) == said


def test_a_product_is_not_named_if_two_would_explain_the_number() -> None:
    node, numbers = product([2.0, 2.0, 4.0], [3.0, 3.0, 9.0])
    assert first_difference(node, 0, 0, 42.0 - 6, numbers).startswith("Compare product by product")
