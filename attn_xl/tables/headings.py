"""Headings that tell the place in a model of what stands below them: `Encoder`, `Layer 2`,
`Cross-attention`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attn_xl.text import clean

from .names import step_named, undecorated, weight_label

Heading = tuple[int, int, str, str, str]
"""Its row and column; `Enc` or `Dec`, the number of a layer, `Self` or `Cross`, each if it says so."""
Texts = Mapping[str, Sequence[tuple[int, int]]]
"""The texts of a sheet in lower case, with their cells."""
OF_HEADS = {"Q", "K", "V", "Scores", "Scaled", "Masked", "Softmax", "Output"}
"""Steps of which each head has its own."""
OF_ATTENTION = {*OF_HEADS, "Concat", "Attention", *(f"{kind}_{of}" for kind in "Wb" for of in "QKVO")}
"""Steps and weights of which each attention of a decoder has its own."""
OF_MODEL = {
    "Input", "Memory", "Source", "Target", "Positions", "Embedded", "W_P", "Mask", "Vocabulary",
    "Logits", "Probabilities",
}  # fmt: skip
"""Steps and weights that no layer has its own of."""
_HEADS = r"multi[\s-]*head(?:ed)?[\s-]*(?:self[\s-]*)?attention"
_MASKED = re.compile(rf"masked[\s-]*{_HEADS}")
_ATTENTIONS = {
    "Self": re.compile(rf"\bself[\s-]*attention\b|\b{_MASKED.pattern}"),
    "Cross": re.compile(r"\bcross[\s-]*attention\b|\bencoder[\s–-]*decoder[\s-]*attention\b"),
}
_LAYER = re.compile(
    r"(?:the |transformer )?(?:(encoder|decoder)(?: stack| side| part)?(?: ?(?:layer|block))? ?#?(\d*)"
    r"|(?:layer|block|pass|round|iteration) ?#?(\d+))"
)


def texts_of(grid: Sequence[Sequence[Any]]) -> Texts:
    """The texts in the cells of a sheet."""
    found: dict[str, list[tuple[int, int]]] = {}
    for row, line in enumerate(grid, 1):
        for column, value in enumerate(line, 1):
            if isinstance(value, str) and value:
                found.setdefault(clean(value).casefold(), []).append((row, column))
    return found


def is_heading(text: str) -> bool:
    """Whether a text names a layer or an attention, rather than what stands below it."""
    text = undecorated(text).casefold()
    return bool(_attention(text) or _LAYER.fullmatch(text) or re.fullmatch(_HEADS, text))


def _attention(text: str) -> str:
    """The attention that a heading names, or ""; `Self-attention output` and `Self-attention weights`
    are titles."""
    part = next((part for part, pattern in _ATTENTIONS.items() if pattern.search(text)), "")
    if not part or re.search(r"\b(?:weights?|matrix|map|pattern|probabilities)$", text):
        return ""
    return part if (step_named(text) or ("Softmax",))[0] == "Softmax" else ""


def headings_on(sheet: str, texts: Texts) -> Iterator[Heading]:
    """The headings on a sheet, whose name may be one, too."""
    masked = any(map(_MASKED.search, texts))
    for written, cells in {sheet.casefold(): [(0, 0)], **texts}.items():
        text = undecorated(written)
        layer = _LAYER.fullmatch(text)
        part = _attention(text)
        if masked and not part and re.fullmatch(_HEADS, text):
            part = "Cross"  # the paper's name for the other attention
        if layer:
            number = layer[2] or layer[3] or ""
            yield from ((*cell, (layer[1] or "")[:3].title(), number, "") for cell in cells)
        elif part:
            yield from ((*cell, "", "", part) for cell in cells)


def path_at(row: int, column: int, step: str, headings: Sequence[Heading], text: str = "") -> str:
    """The place in the model of a step, by the headings above or left of its title, `Dec1.Self.`, and
    by its text, which may say of which attention it is."""
    base = re.sub(r"_\d+$", "", step)
    if "." in base or base in OF_MODEL:
        return ""
    at = row, column  # those above, and those left of it in its row
    above = sorted(one for one in headings if one[:2] < at and one[1] <= column + 2 * (one[0] < row))
    for top in [one for one in above if one[2]][-1:]:
        above = [one for one in above if one >= top and one[1] >= top[1] - 2]
    stack, number, part = "", "", ""
    for _, _, named, count, attention in above:
        stack, number, part = named or stack, count or number * (not named), attention
    part = next((one for one, told in _ATTENTIONS.items() if told.search(text.casefold())), part)
    layer = f"{stack or 'Enc'}{number or 1}." if stack or number else ""
    own = f"{part}." if part and base in OF_ATTENTION and not layer.startswith("Enc") else ""
    return f"{layer}{own}"


def headings_of(sheets: Mapping[str, Texts]) -> dict[str, list[Heading]]:
    """The headings on each sheet, if they tell several W_Q apart, or the layers of several softmaxes
    without weights; else {}."""
    found = {name: [*headings_on(name, texts)] for name, texts in sheets.items()}
    if not any(found.values()):
        return {}
    labels = [
        (weight_label(text) or (step_named(text) or ("",))[0], name, cell, text)
        for name, texts in sheets.items()
        for text, cells in texts.items()
        for cell in cells
        if len(text) > 1  # a may be a label
    ]
    queries = [one for one in labels if one[0].startswith("W_Q")]
    told = [
        (path_at(*cell, label, found[name], text), label)
        for label, name, cell, text in queries or [one for one in labels if one[0] == "Softmax"]
    ]
    paths = {path for path, _ in told}
    whole = {*paths} >= {f"Dec1.{part}." for part in _ATTENTIONS} or all(p[:3] == "Enc" for p in paths)
    each = len({*told}) == len(told) if queries else whole
    return found if each and len(paths) > 1 and "" not in paths else {}
