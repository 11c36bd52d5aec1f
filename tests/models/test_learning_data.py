"""Gradients and runs of learning of every model with its loss, against numbers that PyTorch made.

tests/data/learning_data.py has the numbers, and says what they are.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import alike

import attn_xl
from attn_xl.settings import LEARNING, Model, Optimizer

sys.path.append(str(Path(__file__).parents[1] / "data"))
if TYPE_CHECKING:
    import learning_data as data
else:
    data = importlib.import_module("learning_data")


def differs(ours: np.ndarray, theirs: np.ndarray, relative: float) -> bool:
    """Whether numbers differ; those that are small beside the largest of their matrix count as a
    thousandth of it, since they are left of larger ones."""
    scale = np.maximum(np.abs(theirs), 1e-3 * max(np.abs(theirs).max(), 1e-6))
    return bool((np.abs(ours - theirs) > relative * scale).any())


@alike
@pytest.mark.parametrize("case", data.CASES)
def test_every_gradient_is_that_of_pytorch(case: str) -> None:
    """Of every weight and of every step between the weights and the loss, but for Probabilities,
    since softmax and cross-entropy have one derivative: dLogits = p - y."""
    numbers, made = data.stored()[case]
    (graph,) = attn_xl.learn(data.tables(case, numbers), steps=1).computation.values()
    assert graph["Step1.Loss"].values.item() == pytest.approx(made["Loss"].item(), rel=1e-12)
    seen = 0
    for name, expected in made.items():
        scope, _, symbol = name.rpartition(".")
        if not scope or " " in name:
            continue
        gradient = f"{scope}.d{symbol}"
        if symbol == "Probabilities":
            assert gradient not in graph
            continue
        assert not differs(graph[gradient].values, expected, 1e-9), gradient
        seen += 1
    assert seen >= 3


@alike
@pytest.mark.parametrize("optimizer", data.OPTIMIZERS)
@pytest.mark.parametrize("case", data.CASES)
def test_twenty_steps_are_those_of_pytorch(case: str, optimizer: str) -> None:
    numbers, made = data.stored()[case]
    given = data.tables(case, numbers)
    rate = data.OPTIMIZERS[optimizer]
    run = attn_xl.learn(given, steps=data.STEPS, optimizer=optimizer, rate=rate, live=1)
    assert np.allclose(run.losses, made[f"{optimizer} Loss"][:, 0], rtol=1e-8, atol=0)
    for name, weights in run.weights.items():
        assert not differs(weights.values, made[f"{optimizer} Step1.{name}"], 1e-8), name


def test_every_model_that_learns_and_every_optimizer_is_stored_in_a_small_file() -> None:
    models = {settings.get("model", "attention") for settings, _ in data.CASES.values()}
    without_weights = {Model.softmax, Model.positions}
    assert models == {model.value for model in {*LEARNING} - without_weights}
    assert data.OPTIMIZERS.keys() == {optimizer.value for optimizer in Optimizer}
    assert data.stored().keys() == data.CASES.keys()
    assert data.FILE.stat().st_size < 300_000
