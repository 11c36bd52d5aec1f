"""What a student predicts before a step: the choices, what came out, and why."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from attn_xl.graph.node import Node, referred_to
from attn_xl.languages import in_quotes, shown, shown_all, translate
from attn_xl.spreadsheets.addresses import Place, address, quoted
from attn_xl.text import clean, shortened
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.placed import Block

from .guide import LONGEST_WORD, UNKNOWN
from .sentences import formula_of_text, held, literal

MOST_CHOICES, MOST_LIST = 40, 255
"""Words of a drop-down list, and its characters: Excel's limit."""
LONGEST_FORMULA = 8192
"""Characters of a formula with its equals sign: Excel's limit."""
BETWEEN, TIE = " / ", 6
"""What stands between words that tie, and the decimals to which their numbers are equal."""
SMALL = 0.01
"""Numbers below it have more than two decimals in a text, so that they are not shown as 0."""
WORDS, LOOKED_AT = "{top}", "{look}"
"""A choice of any column of the matrix, and of any of the matrix before it."""
_WORDS = ("top", "look", "other", "nearest")
_NUMBERS = ("most", "least", "span", "before", "zeros", "below", "width", "wide")
_OF_BEFORE = ("look", "before", "below", "wide")
"""What an answer may name: columns and numbers, some of the matrix before."""


def choices_of(node: Node) -> tuple[str, ...]:
    """The choices for a step's prediction, without commas; () where it is in a student's own words."""
    step = node.step or UNKNOWN
    words: Sequence[str] = tuple(map(translate, step.choices))
    if step.choices in ((WORDS,), (LOOKED_AT,)):
        words = shown_all(_asked(node).columns)
    labels = tuple(dict.fromkeys(map(_label, words)))
    fits = 1 < len(labels) <= MOST_CHOICES and len(",".join(labels)) <= MOST_LIST
    return tuple(sorted(labels)) if fits else ()


def came_out(node: Node) -> tuple[str, ...]:
    """The right choices for a step's prediction, several where numbers tie; () where there are no
    choices."""
    step = node.step or UNKNOWN
    if not choices_of(node):
        return ()
    if step.choices in ((WORDS,), (LOOKED_AT,)):
        asked = _asked(node)
        tied = np.round(asked.values[0].max() - asked.values[0], TIE) == 0
        words = shown_all(asked.columns)
        return tuple(dict.fromkeys(_label(words[i]) for i in np.flatnonzero(tied)))
    return (_label(translate(step.choices[0])),)


def answer_of(node: Node) -> str:
    """What happens and why, with names in braces for what is read from the workbook; "" if a step has
    no such text."""
    return translate((node.step or UNKNOWN).answer, **_names(node), **held(*_WORDS, *_NUMBERS))


def outcome(layout: Layout, block: Block, complete: str) -> str:
    """The formula of what happens and why, from the numbers in the workbook, without the equals sign;
    "" where the step has no such text, or too many long words for a formula.

    Args:
        complete: a condition that is true once the step is right; until then the text is empty.
    """
    node = block.node
    used = list(referred_to(node))
    before = layout.blocks.get(used[0]) if used else None
    formulas = {name: literal(text) for name, text in _names(node).items()}
    text = translate((node.step or UNKNOWN).answer, **held(*formulas, *_WORDS, *_NUMBERS))
    for name in (*_WORDS, *_NUMBERS):
        if f"{{{name}}}" not in text:
            continue
        source = before if name in _OF_BEFORE else block
        if source is None:
            return ""
        formulas[name] = _columns(name, source) if name in _WORDS else _number(name, source)
        if not formulas[name]:
            return ""
    formula = f'IF({complete},{formula_of_text(text, **formulas)},"")'
    return formula if text and len(formula) < LONGEST_FORMULA else ""


def _names(node: Node) -> dict[str, str]:
    """What an answer names whatever the numbers are: the step, its word, what it is computed from."""
    used = [one.name for one in referred_to(node)]
    return {
        "own": node.name,
        "word": translate(in_quotes(shortened(clean(_word(node)), LONGEST_WORD))),
        "a": used[0] if used else "",
        "b": used[1] if len(used) > 1 else "",
    }


def _word(node: Node) -> str:
    """The word of the first row, which an answer tells of."""
    return str(shown(node.rows[0])) if node.rows else ""


def _columns(name: str, block: Block) -> str:
    """The formula of the columns with the largest number in the first row of a matrix, or the smallest;
    "" where there are none, or too many."""
    sheet, first = quoted(block.place.sheet), _first_row(block.place)
    every = [f"{sheet}!{address(first.row, first.column + i)}" for i in range(first.columns)]
    cells: dict[str, list[str]] = {}
    for i, column in enumerate(shown_all(block.node.columns)):
        cells.setdefault(_label(column), []).append(every[i])
    row = f"{sheet}!{first.range}"
    if name in ("other", "nearest"):
        own = cells.pop(_label(_word(block.node)), ())
        parts = [[*part] for kept, part in groupby(every, lambda cell: cell not in own) if kept]
        row = ",".join(f"{part[0]}:{part[-1].rpartition('!')[2]}" for part in parts)
    if not cells or len(block.node.columns) > MOST_CHOICES:
        return ""
    extreme = f"{'MIN' if name == 'nearest' else 'MAX'}({row})"
    tied = "&".join(
        f"IF(OR({','.join(f'ROUND({extreme}-{cell},{TIE})=0' for cell in of_label)}),"
        f'{literal(BETWEEN + translate(in_quotes(label)))},"")'
        for label, of_label in cells.items()
    )
    return f"MID({tied},{len(BETWEEN) + 1},{MOST_LIST})"


def _number(name: str, block: Block) -> str:
    """The formula of a number in the first row of a matrix."""
    row = f"{quoted(block.place.sheet)}!{_first_row(block.place).range}"
    numbers = {
        "most": f"MAX({row})",
        "least": f"MIN({row})",
        "zeros": f"COUNTIF({row},0)",
        "below": f'COUNTIF({row},"<0")',
        "width": f"COLUMNS({row})",
        "wide": f"COLUMNS({row})",
    }
    value = numbers.get(name, f"MAX({row})-MIN({row})")
    if name in ("zeros", "below", "width", "wide"):
        return value
    return f"ROUND({value},IF(ABS({value})<{SMALL},6,2))"


def _first_row(place: Place) -> Place:
    return Place(place.sheet, place.row, place.column, 1, place.columns)


def _asked(node: Node) -> Node:
    """The matrix whose largest number the question asks for."""
    used = list(referred_to(node))
    asks_before = (node.step or UNKNOWN).choices == (LOOKED_AT,)
    return used[0] if asks_before and used else node


def _label(text: str) -> str:
    return shortened(clean(text), LONGEST_WORD).replace(",", ";")
