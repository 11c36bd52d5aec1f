"""Texts in which a spreadsheet fills in numbers of its own: translated whole, then taken apart."""

from __future__ import annotations

import re

_NAME = re.compile(r"(\{\w+\})")
MOST_LITERAL = 250
"""Characters of a text in a formula: Excel's limit is 255."""


def literal(text: str) -> str:
    """A text as it stands in a formula."""
    pieces = [text[at : at + MOST_LITERAL] for at in range(0, len(text), MOST_LITERAL)]
    return "&".join('"' + piece.replace('"', '""') + '"' for piece in pieces) or '""'


def formula_of_text(text: str, **formulas: str) -> str:
    """The formula, without the equals sign, of a text in which the results of formulas take the place
    of names in braces."""
    return "&".join(
        formulas.get(part.strip("{}"), literal(part)) if _NAME.fullmatch(part) else literal(part)
        for part in _NAME.split(text)
        if part
    )
