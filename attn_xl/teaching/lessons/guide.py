"""The words of a lesson: what a step is for, how its cells are worked out, what to ask before. Knows
no file.

All of it comes from the `Step` that a matrix carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attn_xl.graph.node import Node, referred_to
from attn_xl.graph.step import Step
from attn_xl.text import clean, shortened

INTRODUCTION = (
    "Attention lets every word of a sentence look at the others and take from each what matters to it: "
    "that is how “mouse” comes to mean an animal beside “cat”.",
    "Go through the sheets in their order and fill in the marked cells: with a number, or with a "
    "formula of your own that points at the sheets before.",
    "Before you compute, answer the question of the sheet: a guess that you can give reasons for is "
    "worth more than a number.",
    "Each cell is marked as you go: ✓ is right, ✗ is wrong, … waits for a step before it.",
    "Later steps follow from what you entered. So mend the first ✗ first: others may go with it.",
    "Keep as many decimals as you can. A number counts as right if it is within {tolerance} of the "
    "right one.",
    "Click on a cell for a hint. Save the workbook under the name it has.",
)
"""What a student is told before a lesson; `{tolerance}` is to be filled in."""

EXAM_INTRODUCTION = (
    "Attention lets every word of a sentence look at the others and take from each what matters to it.",
    "Go through the sheets in their order and fill in the marked cells: with a number, or with a "
    "formula of your own that points at the sheets before.",
    "No marks are shown while you work.",
    "Your later steps are marked by the numbers you entered: after a slip, carry on with what you "
    "have.",
    "Keep as many decimals as you can. A number counts as right if it is within {tolerance} of the "
    "right one.",
    "Do not rename, move or delete sheets, and do not change the numbers that are given.",
    "Save the workbook under the name it has.",
)
"""What a student is told before an exam; `{tolerance}` is to be filled in."""

LONGEST_WORD, LONGEST_LIST, LONGEST_PROMPT = 40, 90, 200
UNKNOWN = Step("")
"""What is said of a matrix that is no step of a model."""


@dataclass(frozen=True)
class Guide:
    """What a student and a teacher need to know of one step.

    Attributes:
        what: what the step is for, in everyday words.
        do: how any of its cells is worked out by hand.
        hint: what helps when stuck: the spreadsheet's function in general form, common mistakes.
        prompt: the shortest form of the hint, at most 200 characters.
        question: what to predict before computing.
    """

    what: str
    do: str
    hint: str
    prompt: str
    question: str


def guide(node: Node, *, sentence: Sequence[str], pick: str) -> Guide:
    """The words of a lesson on one matrix.

    No text gives away a number of the matrix.

    Args:
        node: a matrix of a computation; one of a name that no model uses gets plainer words.
        sentence: the words that are computed with.
        pick: the word to ask about; the matrix's first row if it has none of that name.

    Returns:
        Texts without line breaks; words of the sentence are cut to 40 characters.
    """
    step = node.step or UNKNOWN
    recipe = step.recipe
    used = [parent.name for parent in referred_to(node)]
    word = pick if pick in node.rows or not node.rows else node.rows[0]
    given = {
        "own": node.name or "this matrix",
        "made": node.words or "this step",
        "note": _sentence(node.note or f"this step is {node.words or 'given'}"),
        "rest": " and of ".join(used[1:]),
        "plus": "".join(f"+cell of {name}" for name in used[1:]),
        "word": f"“{_short(word)}”",
        "words": _alternatives(node.columns),
        "others": _alternatives([one for one in node.columns if one != word]) or "any",
        "text": _quoted(sentence if pick in node.rows else node.rows),
        **dict(zip("abcdef", [*used, *["the matrix before"] * 6])),
    }
    return Guide(
        what=step.purpose.format(**given),
        do=recipe.do.format(**given),
        hint=recipe.hint.format(**given),
        prompt=_short(recipe.prompt.format(**given), LONGEST_PROMPT),
        question=_led(_lead(node), step.question.format(**given)),
    )


def _lead(node: Node) -> str:
    """The layer and the head that a matrix belongs to, in words; a helper's are its step's."""
    while node.helper and not node.scalar and (used := list(referred_to(node))):
        node = used[0]
    return node.part.words


def _led(lead: str, question: str) -> str:
    text = f"{lead}: {question}" if lead else question
    return text[:1].upper() + text[1:]


def _short(text: str, longest: int = LONGEST_WORD) -> str:
    return shortened(clean(text), longest)


def _sentence(text: str) -> str:
    text = clean(text)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _alternatives(words: Sequence[str]) -> str:
    """`cat, dog or mouse`; as many as there is room for."""
    shown: list[str] = []
    for word in map(_short, dict.fromkeys(words)):
        if len(", ".join([*shown, word])) > LONGEST_LIST and shown:
            return f"{', '.join(shown)} or another"
        shown.append(word)
    return f"{', '.join(shown[:-1])} or {shown[-1]}" if len(shown) > 1 else "".join(shown)


def _quoted(words: Sequence[str]) -> str:
    return f"“{_short(' '.join(map(_short, words)), LONGEST_LIST)}”"
