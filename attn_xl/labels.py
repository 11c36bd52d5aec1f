"""Labels of rows and columns: unique names, and the position of a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from .errors import CallError, nearest

MOST_LISTED = 30
"""Labels listed in an error; more would bury the message."""
_NEEDS_QUOTES = re.compile(r'^$|[\[\],"]')


class LabelError(CallError, KeyError):
    """A label that a matrix does not have or has more than once."""

    __str__ = Exception.__str__


class PositionError(CallError, IndexError):
    """A row or column number out of range, or an invalid index."""


def unambiguous(labels: Sequence[str]) -> list[str]:
    """The labels as unique names: repeated ones are numbered (`the#1`), special characters quoted
    (`"a, b"`)."""
    folded = {label.casefold() for label in labels}
    repeated = {label for label, times in Counter(labels).items() if times > 1}
    seen: dict[str, int] = {}
    names = []
    for label in labels:
        seen[label] = number = seen.get(label, 0) + 1
        tail = f"#{number}" if label in repeated else ""
        if _NEEDS_QUOTES.search(label) or (tail and (label + tail).casefold() in folded):
            label = '"' + label.replace('"', '""') + '"'
        names.append(label + tail)
    return names


def position_of(label: str, labels: Sequence[str], what: str, title: str) -> int:
    """The position of a label, counted from 0. A repeated label needs its number: `the#2`.

    Args:
        what: "row" or "column", for errors.
        title: the name of the matrix, for errors.

    Raises:
        LabelError: if no label matches, or more than one.
    """
    same = [i for i, known in enumerate(labels) if known == label]
    if len(same) == 1:
        return same[0]
    names = unambiguous(labels)
    if same:
        choices = [f"{names[i]!r} (or {i})" for i in same[:MOST_LISTED]]
        more = ", ..." if len(same) > MOST_LISTED else ""
        raise LabelError(
            f"{title} has {len(same)} {what}s labelled {label!r}. Say which one: "
            f"{', '.join(choices)}{more}."
        )
    if label in names:
        return names.index(label)
    hint = nearest(label, dict.fromkeys(labels))
    if len(labels) > MOST_LISTED:
        hint = f"{hint.partition('There are')[0]}There are {len(labels)} {what}s."
    raise LabelError(f"{title} has no {what} labelled {label!r}. {hint}")
