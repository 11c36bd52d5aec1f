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
_QUESTION = "will the first number of {own} be larger or smaller than in the step before, and which sign tells you?"
_COMPUTE = Recipe(
    do="Compute {made}, cell by cell, from the numbers in the same row and column.",
    hint="Refer to one cell of each matrix. Common mistake: adding in place of subtracting, which climbs.",
    prompt="{made}, from the cells in the same row and column",
)
UPDATED = Step(
    "",
    note="Learned: {symbol} after step {step}. Compare with the step before: how far did each number move?",
    purpose=_UPDATE,
    question=_QUESTION,
    recipe=_COMPUTE,
    role="weight",
)
FIRST_MOMENT = Step(
    ".m",
    note="The running mean of the gradients of {symbol}. Compare with the gradient: it changes more slowly.",
    purpose="A mean over this and earlier gradients, so that the steps do not zigzag.",
    question="where does {own} differ in sign from the gradient, and what does that say about it?",
    recipe=_COMPUTE,
)
SECOND_MOMENT = Step(
    ".v",
    note="The running mean of the squared gradients of {symbol}. Look for the largest: what moves most.",
    purpose="The usual size of each gradient, by whose root the step is divided: all numbers move alike.",
    question="can a number of {own} be negative?",
    recipe=_COMPUTE,
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
    note="The mean probability of the right answers. Compare with the loss: one rises as the other falls.",
    purpose="How much probability the model gives to what is right, step by step.",
    question="can {own} rise while the loss rises too?",
)


def of_weights(step: Step, symbol: str, number: int) -> Step:
    """A step of learning for the weights `symbol`, after step `number`."""
    note = step.note.format(symbol=symbol, step=number)
    return replace(step, symbol=f"{symbol}{step.symbol}", note=note)
