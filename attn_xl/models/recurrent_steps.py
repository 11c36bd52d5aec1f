"""The steps of recurrent and convolutional networks. Plain text, without matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attn_xl.graph.step import Scope, Step

from . import recipes, steps
from .words.read import read_words

NAMED: dict[str, Any] = read_words("recurrent_steps", recipes, steps)
globals().update(NAMED)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"recurrent_steps.toml has no [{name}]")


LAYER = Scope("Layer", "recurrent")
FORWARD, BACKWARD = Scope("Forward", "forward"), Scope("Backward", "backward")


GATES = {
    "h": "the hidden state",
    "i": "the input gate",
    "f": "the forget gate",
    "g": "the candidate",
    "o": "the output gate",
    "r": "the reset gate",
    "z": "the update gate",
    "n": "the new state",
}
"""What the weights of each letter compute; the letters are PyTorch's."""
SPELLINGS = {"g": ("g", "c"), "n": ("n", "h")}
"""Letters that textbooks use for some of them, besides PyTorch's."""


def from_words(letter: str, gate: str) -> Step:
    """`W_f`: the weights from the words to a gate."""
    note = f"Learned: from each word to {GATES[gate]}. Look down a column: what its number responds to."
    return replace(steps.W_1, symbol=f"W_{letter}", note=note)


def from_above(letter: str, gate: str) -> Step:
    """`U_f`: the weights from the row above to a gate."""
    note = (
        f"Learned: from the hidden state of the row above to {GATES[gate]}. Compare sizes: small "
        "numbers let the past fade, large ones let it explode."
    )
    return replace(steps.W_1, symbol=f"U_{letter}", note=note)


def bias(letter: str) -> Step:
    """`b_f`, or `b_Uf` for PyTorch's second bias, which belongs to U_f."""
    return replace(steps.BIAS, symbol=f"b_{letter}")


MADE_UP_BIAS = (
    "Made up: 1, so that the gate is open at first and notes are kept (Jozefowicz et al., "
    "2015). Set it to 0 and compare."
)


def filters(offset: int) -> Step:
    """`W_before`, `W_here`, `W_after`: the weights for the word at an offset of the window."""
    where = "before" if offset < 0 else "after" if offset else "here"
    note = "Learned: what each filter (column) looks for in the word itself. Look down a column."
    if offset > 0:
        note = (
            f"Learned: what each filter (column) looks for in the word {offset} after it. Look down a "
            "column."
        )
    elif offset:
        note = (
            f"Learned: what each filter (column) looks for in the word {-offset} before it. Look down "
            "a column."
        )
    return replace(steps.W_1, symbol=f"W_{where}", note=note)
