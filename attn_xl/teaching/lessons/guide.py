"""The words of a lesson: what a step is for, how its cells are worked out, what to ask before. Knows
no file.

What a step is for goes by its name (`phrases.py`); how it is worked out, by its operation (`ways.py`,
`recipes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attn_xl.graph.node import Node, referred_to
from attn_xl.models.phrases import STEPS
from attn_xl.models.step_names import layer_and_head
from attn_xl.text import clean

from .recipes import RECIPES
from .ways import way_of

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
_LEAD = {"Enc": "encoder", "Dec": "decoder", "Self": "self-attention", "Cross": "cross-attention"}
_HEAD = re.compile(r"_(\d+)$")
_NUMBERED = re.compile(r"[Wb]_\d")


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
    way = way_of(node)
    symbol = _symbol(node, way)
    phrases, recipe = STEPS[symbol], RECIPES[way]
    used = [parent.name for parent in referred_to(node)]
    word = pick if pick in node.rows or not node.rows else node.rows[0]
    given = {
        "own": node.name or "this matrix",
        "made": node.words or "this step",
        "note": _sentence(node.note or f"this step is {node.words or 'given'}"),
        "rest": " and of ".join(used[1:]),
        "plus": "".join(f"+cell of {name}" for name in used[1:]),
        "word": f"“{_cut(word)}”",
        "words": _listed(node.columns),
        "others": _listed([one for one in node.columns if one != word]) or "any",
        "text": _quoted(sentence if pick in node.rows else node.rows),
        **dict(zip("abcdef", [*used, *["the matrix before"] * 6])),
    }
    return Guide(
        what=phrases.what.format(**given),
        do=recipe.do.format(**given),
        hint=recipe.hint.format(**given),
        prompt=_cut(recipe.prompt.format(**given), LONGEST_PROMPT),
        question=_led(_lead(node), phrases.question.format(**given)),
    )


def _symbol(node: Node, way: str) -> str:
    """Which of the `STEPS` a matrix is: by its name, and by what it was made from."""
    base = _base(node.name)
    if way == "given":
        return "Given"
    if node.sheet == "Compare":
        return "Compare"
    if base.endswith("Mask"):
        base = "Mask"
    if base == "Sum":
        base = (
            ("Sum" if way_of(node.parents[0]) == "exponential" else "Plain sum")
            if node.helper
            else "Skip"
        )
    if way == "columns":
        base = "Columns"
    if base in ("Q", "K", "V") and way == "copy":
        base += " copied"
    if base == "Scaled" and way in ("temper", "scale and temper"):
        base = "Scaled, tempered"
    if base == "Output" and way != "mix":
        base = "Attention"
    return base if base in STEPS and way in _FITTING.get(base, {way}) else "Step"


_FITTING = {
    "Q": {"project", "project and add"},
    "K": {"project", "project and add"},
    "V": {"project", "project and add"},
    "Attention": {"project", "project and add"},
    "FeedForward": {"project", "project and add"},
    "Mean": {"mean"},
    "Skip": {"add"},
    "Given": set(),
    "Step": set(),
    "Compare": set(),
}
"""The ways in which a step must be made for its words to be true, where its name does not settle it."""


def _base(name: str) -> str:
    """`Scores` of `Dec1.Self.Scores_2`; `W_1` and `b_1` keep their numbers."""
    last = name.rpartition(".")[2]
    return last if _NUMBERED.fullmatch(last) else _HEAD.sub("", last)


def _lead(node: Node) -> str:
    """The layer and the head that a matrix belongs to, in words; a helper's are its step's."""
    while node.helper and not node.scalar and (used := list(referred_to(node))):
        node = used[0]
    if node.sheet == "Compare":
        return ""
    parts = []
    for part in node.name.split(".")[:-1]:
        stack, number = part[:3], part[3:]
        layer = stack in _LEAD and number.isdigit()
        parts.append(f"{_LEAD[stack]} layer {number}" if layer else _LEAD.get(part, part))
    head = layer_and_head(node.name.replace("d_k", "K"))[1]
    return ", ".join([*parts, *[f"head {head}"] * bool(head)])


def _led(lead: str, question: str) -> str:
    text = f"{lead}: {question}" if lead else question
    return text[:1].upper() + text[1:]


def _cut(text: str, longest: int = LONGEST_WORD) -> str:
    """One line of at most so many characters."""
    text = clean(text)
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _sentence(text: str) -> str:
    text = clean(text)
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _listed(words: Sequence[str]) -> str:
    """`cat, dog or mouse`; as many as there is room for."""
    shown: list[str] = []
    for word in map(_cut, dict.fromkeys(words)):
        if len(", ".join([*shown, word])) > LONGEST_LIST and shown:
            return f"{', '.join(shown)} or another"
        shown.append(word)
    return f"{', '.join(shown[:-1])} or {shown[-1]}" if len(shown) > 1 else "".join(shown)


def _quoted(words: Sequence[str]) -> str:
    return f"“{_cut(' '.join(map(_cut, words)), LONGEST_LIST)}”"
