"""The steps of losses and of classification: symbols, notes, purposes, questions and recipes."""

from __future__ import annotations

from typing import Any

from . import recipes
from .words.read import read_words

NAMED: dict[str, Any] = read_words("loss_steps", recipes)
globals().update(NAMED)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"loss_steps.toml has no [{name}]")
