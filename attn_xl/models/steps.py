"""Every step of the models: its symbol, note, purpose, question and recipe.

Renderers, lessons and `explain` read these texts from the node, so each is written here once. Plain
text, without matrices.
"""

from __future__ import annotations

from dataclasses import replace

from attn_xl.graph.step import Scope, Step

from . import recipes
from .words.read import read_words

NAMED: dict[str, Step] = read_words("steps", recipes)
globals().update(NAMED)


def __getattr__(name: str) -> Step:
    raise AttributeError(f"steps.toml has no [{name}]")


ENCODER, DECODER = Scope("Enc", "encoder"), Scope("Dec", "decoder")
SELF = Scope("Self", "self-attention")
CROSS = Scope("Cross", "cross-attention")
TURNED = "In the file, rows and columns are swapped."

# Attention

COPIED = {NAMED[name]: NAMED[f"{name}_COPIED"] for name in ("QUERIES", "KEYS", "VALUES")}
"""Each projection without weights: the embeddings are copied unchanged."""


def columns_of_head(weights: Step, name: str, head: int) -> Step:
    """The step that selects a head's columns of the weights `name`."""
    note = NAMED["COLUMNS_OF_HEAD"].note.format(name=name, head=head)
    return replace(NAMED["COLUMNS_OF_HEAD"], symbol=weights.symbol, note=note)


COMPARED_ENDS = tuple(
    replace(NAMED["COMPARED"], symbol=end.symbol) for end in (NAMED["INPUT"], NAMED["OUTPUT"])
)
"""The input and the output of a word that sentences share; the word is the last scope of its part."""
ENDS = {"Input": "input", "Output": "output"}
"""The same two in words."""

# The sheet Compare; the sentence is the last scope of a step's part


# The transformer

DRAWING = Scope("Drawing", "drawing")
NEW = Scope("New", "new word", unit="", again=True)


# Learned weights

BIASES = {
    weights: replace(NAMED["BIAS"], symbol=weights.symbol.replace("W", "b"))
    for weights in (
        *(
            NAMED["W_Q"],
            NAMED["W_K"],
            NAMED["W_V"],
            NAMED["W_O"],
            NAMED["W_1"],
            NAMED["W_G"],
            NAMED["W_2"],
            NAMED["W_U"],
            NAMED["W_C"],
        ),
    )
}
"""The bias that belongs to each of the weights."""

# Parts of a model that are not written

ALL_OTHERS = "(all others)"
"""The column of the words that are not shown."""
INPUT_OF_MODEL = (
    "The embeddings of the tokens. The layers that read them are not written, so nothing "
    "here depends on these numbers."
)
