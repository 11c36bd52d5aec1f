"""The steps of learning: the weights of the next step, moments, and the cells that control them."""

from __future__ import annotations

from dataclasses import replace

from attn_xl.graph.step import Recipe, Scope, Step

from . import recipes

STEP = Scope("Step", "step", unit="")
_UPDATE = (
    "Learning itself: every weight takes a small step in the direction in which the loss falls, like a "
    "walker in fog who feels which way is down."
)
_QUESTION = "where all gradients so far are positive, do they push a number of {own} up or down?"
_DESCEND = Recipe(
    do="Compute {made}, cell by cell, from the numbers in the same row and column.",
    hint="Common mistake: adding in place of subtracting, which climbs.",
)
UPDATED = Step(
    "",
    note="Learned: {symbol} after step {step}. Compare with the step before: how far did each "
    "number move?",
    purpose=_UPDATE,
    question=_QUESTION,
    recipe=_DESCEND,
    role="weight",
)
FIRST_MOMENT = Step(
    ".m",
    note="The running mean of the gradients of {symbol}. Compare with the gradient: it changes "
    "more slowly.",
    purpose="A mean over this and earlier gradients, so that the steps do not zigzag.",
    question="where does {own} differ in sign from the gradient, and what does that say about it?",
)
SECOND_MOMENT = Step(
    ".v",
    note="The running mean of the squared gradients of {symbol}. Look for the largest: what moves "
    "most.",
    purpose="The usual size of each gradient, by whose root the step is divided: all numbers move "
    "alike.",
    question="can a number of {own} be negative?",
)
CURVE = Step(
    "Loss",
    note="The loss after each number of steps. Look down the column: does it fall, or climb?",
    purpose="How wrong the model is, step by step: the curve of learning.",
    question="after which step will the loss fall least?",
    recipe=recipes.TAKE_ROWS,
)
KEPT = replace(
    CURVE,
    symbol="Kept",
    note="The steps without formulas. Compare with the live steps before and after them.",
    recipe=recipes.GIVEN,
    source="kept",
)
CERTAINTY = replace(
    CURVE,
    symbol="Certainty",
    note="The mean probability of the right answers. Compare with the loss: one rises as the other "
    "falls.",
    purpose="How much probability the model gives to what is right, step by step.",
    question="can {own} rise while the loss rises too?",
)


PLUS, MINUS = (
    Scope(symbol, words, -1, unit="", again=True)
    for symbol, words in (
        ("Plus", "one weight nudged up"),
        ("Minus", "one weight nudged down"),
    )
)
PLACE = Step(
    "Chosen",
    note="Look for the 1: the weight that is nudged. Change the choice on the sheet Controls.",
    recipe=recipes.GIVEN,
    is_read_off=True,
)
NUDGED = replace(UPDATED, note="The weights, one of them nudged. Compare with those of step 1.")
CHECK_SHEET = "Gradient check"
CHECKED_GRADIENT = Step(
    "Gradient",
    note="The gradient of the chosen weight in step 1. Compare with the central difference below.",
    purpose="How the loss changes with the chosen weight, by the backward pass.",
    question="must {own} and the central difference agree to the last digit?",
)
CENTRAL_DIFFERENCE = replace(
    CHECKED_GRADIENT,
    symbol="CentralDifference",
    note="(loss with the weight nudged up − nudged down) / (2 · nudge). Watch it as the nudge shrinks.",
    purpose="How the loss changes with the chosen weight, by trying it out.",
)
GAP = replace(
    CHECKED_GRADIENT,
    symbol="Gap",
    note="The difference of the two. Look for a number close to 0.",
    purpose="Whether the backward pass tells the truth.",
)
LEARNED_NOTE = "Attention before learning, after it, and the difference. Look for what has moved."
BEFORE = Step(
    "Before",
    note="before learning",
    purpose="Where the words looked before anything was learned.",
    question="where will attention grow?",
    recipe=recipes.COPY,
    role="attention",
)
AFTER = replace(BEFORE, symbol="After", note="after learning")
MOVED = replace(
    BEFORE, symbol="Difference", note="the difference", role="value",
)  # fmt: skip


def of_weights(step: Step, symbol: str, number: int) -> Step:
    """A step of learning for the weights `symbol`, after step `number`."""
    note = step.note.format(symbol=symbol, step=number)
    return replace(step, symbol=f"{symbol}{step.symbol}", note=note)
