"""The steps of learning: the weights of the next step, moments, and the cells that control them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attn_xl.graph.step import Scope, Step

from . import recipes
from .words.read import read_words

NAMED: dict[str, Any] = read_words("learning_steps", recipes)
globals().update(NAMED)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"learning_steps.toml has no [{name}]")


STEP = Scope("Step", "step", unit="")
LEARNED = Scope("Learned", "after learning", -1, unit="", again=True)

PLUS, MINUS = (
    Scope(symbol, words, -1, unit="", again=True)
    for symbol, words in (
        ("Plus", "one weight nudged up"),
        ("Minus", "one weight nudged down"),
    )
)
CHECK_SHEET = "Gradient check"
LEARNED_NOTE = "Attention before learning, after it, and the difference. Look for what has moved."


def of_weights(step: Step, symbol: str, number: int) -> Step:
    """A step of learning for the weights `symbol`, after step `number`."""
    note = step.note.format(symbol=symbol, step=number)
    return replace(step, symbol=f"{symbol}{step.symbol}", note=note)
