"""Gradients and whole runs of learning by PyTorch, which tests/models/test_learning_data.py holds
against attn_xl: each model with its loss.

`learning.npz` beside this file has what goes into each case, the loss and its gradient by every weight
and every named step before learning, and for each optimizer the losses of 20 steps and the weights
after them, all in float64, as torch.autograd and torch.optim gave them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attn_xl.tables.survey import Table, Tables

FILE = Path(__file__).parent / "learning.npz"
STEPS = 20
OPTIMIZERS = {"sgd": 0.05, "momentum": 0.02, "adam": 0.03, "adamw": 0.03}
"""The rate of each."""
WORDS = ["cat", "sat", "mat", "on", "<end>"]
PAIR, ALONE = {"one": 3, "two": 2}, {"one": 3}
CASES: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    # mean squared error
    "attention": ({"causal": True}, PAIR),
    "cross-attention": ({"memory": "source"}, {"one": 3, "source": 4}),
    "heads": ({"heads": 2, "temperature": 0.5}, PAIR),
    "grouped heads": ({"heads": 2, "kv_heads": 1, "positions": "rotary"}, PAIR),
    "alibi in a window": ({"heads": 2, "positions": "alibi", "window": 2}, ALONE),
    "plain sum": ({"normalize": "sum"}, ALONE),
    "dropout": ({"dropout": 0.25, "positions": "learned"}, ALONE),
    "encoder": (
        {"model": "encoder", "heads": 2, "norm": "pre", "activation": "gelu", "hidden": 3}, PAIR
    ),
    "encoder, post": ({"model": "encoder", "layers": 2, "hidden": 3, "residual_dropout": 0.25}, ALONE),
    "encoder, rms": (
        {"model": "encoder", "norm": "pre", "norm_type": "rms", "activation": "swiglu", "hidden": 3},
        ALONE,
    ),
    "decoder": (
        {"model": "decoder", "memory": "source", "activation": "gelu-tanh", "hidden": 3},
        {"one": 3, "source": 4},
    ),
    "encoder-decoder": (
        {"model": "encoder-decoder", "memory": "source", "hidden": 2, "heads": 2},
        {"one": 3, "source": 4},
    ),
    "feed-forward": ({"model": "feed-forward", "hidden": 5, "activation": "geglu"}, PAIR),
    "norm": ({"model": "norm", "norm_epsilon": "outside", "norm_variance": "sample"}, PAIR),
    "cnn": ({"model": "cnn", "window": 2, "hidden": 3}, PAIR),
    "rnn": ({"model": "rnn", "hidden": 3, "bidirectional": True}, PAIR),
    "lstm": ({"model": "lstm", "hidden": 3}, PAIR),
    "gru": ({"model": "gru", "hidden": 3, "layers": 2}, ALONE),
    # cross-entropy with the next word
    "language model": ({"model": "decoder-only", "heads": 2, "norm": "pre", "hidden": 3}, PAIR),
    "language model, end": (
        {"model": "decoder-only", "positions": "sinusoidal", "hidden": 3}, ALONE
    ),
    # cross-entropy with the words in place of masks
    "masked words": ({"model": "masked-language-model", "heads": 2, "hidden": 3}, PAIR),
    # cross-entropy with the class
    "classify": ({"model": "classify"}, PAIR),
    "classify by heads": ({"model": "classify", "heads": 2, "positions": "sinusoidal"}, PAIR),
    "classify by encoder": (
        {"model": "classify", "backbone": "encoder", "pooling": "first", "norm": "pre", "hidden": 3},
        PAIR,
    ),
}  # fmt: skip


def table(name: str, values: Any, rows: list[str] | None = None) -> Table:
    """An array as read from a sheet."""
    x = np.array(values, dtype=float)
    labels = [f"{letter}{i + 1}" for letter, size in zip("rc", x.shape) for i in range(size)]
    return Table(
        name, x, tuple(rows or labels[: len(x)]), tuple(labels[len(x) :]), (rows is not None, False),
        "x.xlsx", name, 1, 1,
    )  # fmt: skip


def tables(case: str, numbers: dict[str, Any]) -> Tables:
    """The input of a case: its sentences, then whatever else it needs."""
    settings, sentences = CASES[case]
    model = settings.get("model")
    labels: dict[str, tuple[str, ...]] = {}
    if model == "classify":
        labels = {"one": ("animal",), "two": ("device",)}
    elif case == "masked words":
        labels = {"one": ("cat", "sat", "mat"), "two": ("on", "cat")}
    elif case == "language model, end":
        labels = {"one": ("<end>",)}
    if not numbers.keys() <= {*sentences, "Vocabulary"}:  # the weights tell
        settings = {name: value for name, value in settings.items() if name != "hidden"}
    weights = {}
    for name, values in numbers.items():
        if name not in sentences:
            weights[name] = table(name, values, WORDS if name == "Vocabulary" else None)
            if name == "W_C":
                object.__setattr__(weights[name], "columns", ("animal", "device"))
                object.__setattr__(weights[name], "labelled", (False, True))
    words = {
        name: table(name, numbers[name], [f"s{i}" for i in range(n)] if name == "source" else WORDS[:n])
        for name, n in sentences.items()
    }
    return Tables(Path("x.xlsx"), words, weights, settings, labels=labels)


@cache
def stored() -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """What `main` wrote: by case, what goes in and what PyTorch makes of it."""
    with np.load(FILE) as arrays:
        told = json.loads(str(arrays["told"]))
        flat = [iter(arrays[part]) for part in ("given", "made")]

    def taken(numbers: Iterator[float], shapes: dict[str, list[int]]) -> dict[str, Any]:
        return {
            name: np.array([next(numbers) for _ in range(math.prod(shape))]).reshape(shape)
            for name, shape in shapes.items()
        }

    return {
        case: (taken(flat[0], shapes[0]), taken(flat[1], shapes[1])) for case, shapes in told.items()
    }
