"""Every step of the models: its symbol, note, purpose, question and recipe.

Renderers, lessons and `explain` read these texts from the node, so each is written once, in the files
of `words/`. Plain text, without matrices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attn_xl.graph.step import Recipe, Scope, Step
from attn_xl.models import recipes

_OF_MODELS = ("steps", "encoder_steps", "recurrent_steps")


def _step(entry: dict[str, Any]) -> Step:
    base = NAMED[entry.pop("like")] if "like" in entry else Step("")
    recipe = entry.get("recipe", base.recipe)
    if isinstance(recipe, dict):
        recipe = Recipe(**recipe)
    elif isinstance(recipe, str):
        recipe = recipes.NAMED[recipe] if recipe else None
    return replace(base, **{**entry, "recipe": recipe})


NAMED = recipes.Words(_step, *_OF_MODELS, "loss_steps", "learning_steps", "influence_steps")


def __getattr__(name: str) -> Step:
    return NAMED.as_attribute(name)


def of_models() -> list[Step]:
    """The steps of models, without those of a loss and of learning."""
    return NAMED.of_files(*_OF_MODELS)


def of_losses() -> list[Step]:
    """The steps of a loss."""
    return NAMED.of_files("loss_steps")


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


MASK_WORDS = ("[MASK]", "<mask>")
"""The words that a masked language model predicts, as its text has them."""

POOLER = Scope("Pooler", "pooler")
"""The layer that BERT trained for the first word: `Pooler.W_1`, `Pooler.b_1`."""
TRANSFORM = Scope("Transform", "prediction layer")
"""The layer before the words of a masked language model: `Transform.W_1`, `Transform.gamma`, ..."""


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
    return replace(NAMED["W_1"], symbol=f"W_{letter}", note=note)


def from_above(letter: str, gate: str) -> Step:
    """`U_f`: the weights from the row above to a gate."""
    note = (
        f"Learned: from the hidden state of the row above to {GATES[gate]}. Compare sizes: small "
        "numbers let the past fade, large ones let it explode."
    )
    return replace(NAMED["W_1"], symbol=f"U_{letter}", note=note)


def bias(letter: str) -> Step:
    """`b_f`, or `b_Uf` for PyTorch's second bias, which belongs to U_f."""
    return replace(NAMED["BIAS"], symbol=f"b_{letter}")


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
    return replace(NAMED["W_1"], symbol=f"W_{where}", note=note)


# Learning

FIRST = Scope("Step", "step", 1, unit="")
"""The first step of learning."""
LEARNING = "Learning"
"""The name of the graph of several sentences that are learned together."""

# Influence

JACOBIAN = "Jacobian"
"""The sheet of the gradients."""
JACOBIAN_NOTE = (
    "How each number of the output changes with every matrix that it was computed from, back "
    "to the input: one gradient after the other."
)
