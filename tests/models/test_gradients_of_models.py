"""Gradients of whole models, of every weight and every step, against PyTorch's autograd."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import SAMPLES, alike

import attn_xl
from attn_xl.graph.functions import column_sum, row_squares, row_sum
from attn_xl.graph.matrix import Matrix, given
from attn_xl.graph.node import walk

pytest.importorskip("torch")
from torch_graph import through_torch


def square_error(output: Matrix) -> Matrix:
    target = given(np.cos(np.arange(output.values.size)).reshape(output.shape), output.rows,
                   output.columns, "Aim")  # fmt: skip
    squares = column_sum(row_squares(output - target))
    return (squares / output.values.size).named("Loss")


def weighed(output: Matrix) -> Matrix:
    weights = given(np.sin(np.arange(output.values.size)).reshape(output.shape), output.rows,
                    output.columns, "Weighing")  # fmt: skip
    return column_sum(row_sum(output * weights)).named("Loss")


def results(sample: str, **settings: Any) -> list[Matrix]:
    """The last matrix of numbers of each sentence."""
    computation = attn_xl.attend(SAMPLES / f"{sample}.xlsx", loss=False, **settings)
    return [[node for node in graph.values() if not node.texts][-1] for graph in computation.values()]


@alike
@pytest.mark.parametrize("loss_of", [square_error, weighed], ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "sample", sorted(p.stem for p in SAMPLES.glob("*.xlsx") if not p.stem.endswith("-attention"))
)
def test_every_gradient_is_that_of_pytorch(sample: str, loss_of: Callable[[Matrix], Matrix]) -> None:
    for output in results(sample):
        if output.operation is None:
            continue
        loss = loss_of(output)
        named = [node for node in walk([loss]) if node.name and not node.texts and not node.helper]
        tensors, total = through_torch(loss)
        assert np.allclose(total.detach().numpy(), loss.values, rtol=1e-12)
        total.backward()
        of = [node for node in named if isinstance(node, Matrix)]
        for node, d in zip(of, attn_xl.gradients(loss, of)):
            theirs = getattr(tensors[node], "stacked", tensors[node]).grad
            expected = np.zeros(node.shape) if theirs is None else theirs.numpy()
            scale = max(np.abs(expected).max(), 1e-6)
            assert np.allclose(d.values, expected, rtol=1e-9, atol=1e-9 * scale), (sample, node.name)
