"""What a student predicts before a step: the choices, what came out, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from attn_xl.graph.node import Node, referred_to
from attn_xl.spreadsheets.addresses import Place, quoted
from attn_xl.text import clean, shortened
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.placed import Block

from .guide import LONGEST_WORD, UNKNOWN

MOST_CHOICES, MOST_LIST = 40, 255
"""Words of a drop-down list, and its characters: Excel's limit."""
MOST_LITERAL = 250
WORDS, LOOKED_AT = "{top}", "{look}"
"""A choice of any column of the matrix, and of any of the matrix before it."""
_PLACEHOLDER = re.compile(r"(\{\w+\})")


def choices_of(node: Node) -> tuple[str, ...]:
    """The choices for a step's prediction, without commas; () where it is in a student's own words."""
    step = node.step or UNKNOWN
    words: Sequence[str] = step.choices
    if step.choices in ((WORDS,), (LOOKED_AT,)):
        words = _asked(node).columns
    shown = tuple(dict.fromkeys(_label(word) for word in words))
    fits = 1 < len(shown) <= MOST_CHOICES and len(",".join(shown)) <= MOST_LIST
    return tuple(sorted(shown)) if fits else ()


def came_out(node: Node) -> str:
    """The right choice for a step's prediction; "" where there are no choices."""
    step = node.step or UNKNOWN
    if not choices_of(node):
        return ""
    if step.choices in ((WORDS,), (LOOKED_AT,)):
        asked = _asked(node)
        return _label(asked.columns[int(np.argmax(asked.values[0]))])
    return _label(step.choices[0])


def outcome(layout: Layout, block: Block, word: str, complete: str) -> str:
    """The formula of what happens and why, from the numbers in the workbook, without the equals sign;
    "" where the step has no such text.

    Args:
        complete: a condition that is true once the step is right; until then the text is empty.
    """
    node = block.node
    step = node.step or UNKNOWN
    used = list(referred_to(node))
    before = layout.blocks.get(used[0]) if used else None
    given = {
        "{own}": node.name,
        "{word}": f"“{shortened(clean(word), LONGEST_WORD)}”",
        "{a}": used[0].name if used else "",
        "{b}": used[1].name if len(used) > 1 else "",
    }
    parts = []
    for text in filter(None, _PLACEHOLDER.split(step.answer)):
        if text in given:
            parts.append(_literal(given[text]))
        elif not text.startswith("{"):
            parts.append(_literal(text))
        else:
            source = before if text in (LOOKED_AT, "{before}") else block
            if source is None or len(source.node.columns) > MOST_CHOICES:
                return ""
            parts.append(_number(text, source))
    return f'IF({complete},{"&".join(parts)},"")' if parts else ""


def _number(placeholder: str, block: Block) -> str:
    """The formula of a number, or of a word, in the first row of a matrix."""
    row = f"{quoted(block.place.sheet)}!{_first_row(block.place).range}"
    if placeholder in (WORDS, LOOKED_AT):
        words = ",".join(_literal(f"“{_label(word)}”") for word in block.node.columns)
        return f"CHOOSE(MATCH(MAX({row}),{row},0),{words})"
    value = f"MAX({row})" if placeholder == "{most}" else f"MAX({row})-MIN({row})"
    return f"ROUND({value},2)"


def _first_row(place: Place) -> Place:
    return Place(place.sheet, place.row, place.column, 1, place.columns)


def _asked(node: Node) -> Node:
    """The matrix whose largest number the question asks for."""
    used = list(referred_to(node))
    asks_before = (node.step or UNKNOWN).choices == (LOOKED_AT,)
    return used[0] if asks_before and used else node


def _label(text: str) -> str:
    return shortened(clean(text), LONGEST_WORD).replace(",", ";")


def _literal(text: str) -> str:
    pieces = [text[at : at + MOST_LITERAL] for at in range(0, len(text), MOST_LITERAL)]
    return "&".join('"' + piece.replace('"', '""') + '"' for piece in pieces) or '""'
