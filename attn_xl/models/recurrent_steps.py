"""The steps of recurrent and convolutional networks. Plain text, without matrices."""

from __future__ import annotations

from dataclasses import replace

from attn_xl.graph.step import Recipe, Scope, Step

from . import recipes, steps

LAYER = Scope("Layer", "recurrent")
FORWARD, BACKWARD = Scope("Forward", "forward"), Scope("Backward", "backward")

_SUM = (
    "Row of {a} times column of {b}, plus the row above of {c} times column of {e}: multiply pair by "
    "pair "
    "and add up. The first row has the row of {d} above it. Add the number of each bias in the column. "
)
_MISTAKES = (
    "Common mistakes: the same row of {c} instead of the row above; no $ before what must not move "
    "when you copy down."
)
SQUASHED = Recipe(
    do=_SUM + "Then take the hyperbolic tangent, which lies between -1 and 1.",
    hint=_MISTAKES,
)
RECTIFIED = Recipe(
    do=_SUM + "Then replace a negative number with 0.",
    hint=_MISTAKES,
)
GATE = Recipe(
    do=_SUM + "Then apply 1 / (1 + e^(-x)), which lies between 0 and 1.",
    hint=_MISTAKES,
)
KEEP_AND_ADD = Recipe(
    do="Number of {a} times the number of {b} in the row above, plus number of {d} times number of "
    "{e}. "
    "The first row has the row of {c} above it.",
    hint="Common mistake: the same row of {b} instead of the row above.",
)
OPEN = Recipe(
    do="Number of {a} times the hyperbolic tangent of the number of {b}.",
    hint="Common mistake: forgetting TANH.",
)
PROPOSE = Recipe(
    do="Row of {a} times column of {b}, added up, plus its bias. Then row above of the hidden state "
    "times "
    "column of U_n, added up, plus its bias; multiply that by the number of Reset. Add both, and "
    "take the "
    "hyperbolic tangent.",
    hint="Common mistakes: multiplying the row above by Reset before the product; the same row "
    "instead of the row above.",
)
BLEND = Recipe(
    do="(1 - the number of {a}) times the number of {b}, plus the number of {a} times the number of "
    "{own} "
    "in the row above. The first row has h_0 above it.",
    hint="Common mistake: exchanging the two shares.",
)
SLIDE = Recipe(
    do="Multiply the rows before, of and after the word by the columns of their filters, pair by "
    "pair, and "
    "add up all products and the bias. Beyond the sentence stands the row of Padding.",
    hint="Common mistakes: rows that do not go with their filters; forgetting the padding at the ends.",
)
LARGEST_OF_COLUMN = Recipe(
    do="Find the largest number in the column of {a}.",
    hint="Common mistake: a row instead of a column.",
)

HIDDEN = Step(
    "Hidden",
    note=(
        "What the network remembers after each word (row): computed from the word and the row above. "
        "Change the first word and watch the change run down, weaker with every row."
    ),
    purpose=(
        "The network's memory after each word, whispered on from word to word: what it heard before, "
        "the row above, and the new word make a new whisper."
    ),
    question="does the row of a word that is read late have more room than the row of the first?",
    recipe=SQUASHED,
)
FORGET = Step(
    "Forget",
    note="The forget gate: how much of the cell of the row above is kept. Look for numbers near 1, "
    "which keep "
    "all, and near 0, which erase.",
    purpose="An eraser for the notes of the row above: near 1 a note stays, near 0 it is wiped out.",
    question="if every number of {own} were 1, what would be forgotten of the row above?",
    recipe=GATE,
)
INPUT_GATE = replace(
    FORGET,
    symbol="InputGate",
    note="The input gate: how much of the candidate is written into the cell. Look for numbers near 1, "
    "which write all, and near 0, which write nothing.",
    purpose="A pen that presses hard or lightly: how much of what is new is written down.",
    question="if every number of {own} were 0, what would be written down of a word?",
)
CANDIDATE = Step(
    "Candidate",
    note="What could be written into the cell for this word, between -1 and 1. Compare with the "
    "input gate.",
    purpose="A draft of a note about the word, given what is remembered. The input gate decides "
    "about it.",
    question="can {own} be large for {word} and nothing be written all the same? What decides?",
    recipe=SQUASHED,
)
CELL = Step(
    "Cell",
    note=(
        "The notes: what the forget gate keeps of the row above, plus what the input gate lets in. "
        "Look "
        "down a column: some numbers last."
    ),
    purpose=(
        "The notebook, kept from word to word. A gate near 1 carries a note on almost unchanged, which "
        "is why an LSTM remembers longer."
    ),
    question="what would a column of {own} look like if {a} were 1 and {d} were 0 in every row?",
    recipe=KEEP_AND_ADD,
)
OUTPUT_GATE = replace(
    FORGET,
    symbol="OutputGate",
    note="The output gate: how much of the cell is shown. Look for numbers near 1, which show all, "
    "and near 0, "
    "which show nothing.",
    purpose="A curtain in front of the notebook: how much of each note is shown after this word.",
    question="can a note be kept and not be shown at {word}? Which gate does what?",
)
SHOWN = replace(HIDDEN, recipe=OPEN)
"""The hidden state of an LSTM."""
RESET = replace(
    FORGET,
    symbol="Reset",
    note=(
        "The reset gate: how much of the row above the new state may use; as in PyTorch, it multiplies "
        "(row above × weights), not the row above. Look for numbers near 0."
    ),
    purpose="How much of the past may speak when the new state is drafted: near 0, {word} starts "
    "afresh.",
    question="if {own} were 0 in the row of {word}, on what would the new state depend?",
)
UPDATE = replace(
    FORGET,
    symbol="Update",
    note="The update gate: the share of the row above that stays; the new state gets the rest. Look "
    "for small "
    "numbers: there the memory changes.",
    purpose="A slider between old and new: at 1 everything stays as it was, at 0 everything is new.",
    question="if {own} were 1 in the row of {word}, what would the hidden state be?",
)
NEW = Step(
    "New",
    note="The new state that is proposed for this word, between -1 and 1. Compare with Update.",
    purpose="A draft of the memory after the word, from the word and as much of the past as Reset "
    "allows.",
    question="in which row must {own} be independent of other words, whatever the weights?",
    recipe=PROPOSE,
)
BLENDED = replace(HIDDEN, recipe=BLEND)
"""The hidden state of a GRU."""
BOTH = Step(
    "Both",
    note="The states of both directions, side by side. Compare the halves: from the left, from the "
    "right.",
    purpose="One network read from the left, one from the right; here each word gets what both found.",
    question="on which words does the first column depend in the row of {word}, and on which the last?",
    recipe=recipes.SIDE_BY_SIDE,
)
CONVOLVED = Step(
    "Convolved",
    note=(
        "What each filter (column) finds around each word (row): the words of the window, each times "
        "its "
        "own weights. Change a word: only the rows whose window reaches it change."
    ),
    purpose="A magnifying glass that moves along the sentence and sees a few neighbouring words at a "
    "time.",
    question="which rows of {own} will change if the numbers of {word} change? Which cannot?",
    recipe=SLIDE,
)
FEATURES = Step(
    "Output",
    note="What the filters found, without negative numbers. Look for numbers above 0: there a filter "
    "fits.",
    purpose="Keeps what a filter found and drops what it did not, like a bell that rings or is silent.",
    question="what becomes of a negative number of {a}?",
    recipe=recipes.RELU,
)
POOLED = Step(
    "MaxPool",
    note="The largest number of each filter over all words. Look for the word that it comes from.",
    purpose="One number a filter for the whole sentence: whether it was found, no matter where.",
    question="would {own} change if only the rows of {a} changed places?",
    recipe=LARGEST_OF_COLUMN,
)
PADDING = Step(
    "Padding",
    note="What stands before the first word and after the last: zeros. Change one and watch the ends.",
    question=steps.INPUT.question,
    recipe=recipes.GIVEN,
    role="input",
)
H_0 = Step(
    "h_0",
    note="The hidden state before the first word: 0 unless given. Change it and watch.",
    question=steps.INPUT.question,
    recipe=recipes.GIVEN,
    role="input",
    source="weights",
)
C_0 = replace(
    H_0, symbol="c_0", note="The cell before the first word: 0 unless given. Change it and watch."
)
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


ALL_FILTERS = replace(
    steps.W_1,
    symbol="W_conv",
    note="Learned: the weights of the convolution as PyTorch has them, a row for each dimension and "
    "word of the "
    "window. Look down a column: one filter.",
)
FILTER_BIAS = bias("conv")
