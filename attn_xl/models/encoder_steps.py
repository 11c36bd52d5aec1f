"""The steps of what stands on an encoder: one vector for the sentence, and the words that a masked
language model puts in place of its masks."""

from __future__ import annotations

from attn_xl.graph.step import Scope, Step

from . import loss_steps, recipes, steps
from .words.read import read_words

NAMED: dict[str, Step] = read_words("encoder_steps", recipes, steps, loss_steps)
globals().update(NAMED)


def __getattr__(name: str) -> Step:
    raise AttributeError(f"encoder_steps.toml has no [{name}]")


MASKED = ("[MASK]", "<mask>")
"""The words that a masked language model predicts, as its text has them."""

POOLER = Scope("Pooler", "pooler")
"""The layer that BERT trained for the first word: `Pooler.W_1`, `Pooler.b_1`."""
TRANSFORM = Scope("Transform", "prediction layer")
"""The layer before the words of a masked language model: `Transform.W_1`, `Transform.gamma`, ..."""
