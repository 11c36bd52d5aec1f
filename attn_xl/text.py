"""Text for people and programs in which nothing steers a terminal. Knows nothing of the program."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TextIO

ON, OFF = "on", "off"
"""What a cell that is a switch holds."""
_HIGH = "\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_TURNS = "\u202a-\u202e\u2066-\u2069"
_CONTROL = re.compile(f"[\x00-\x1f{_HIGH}]")
_TURN = re.compile(f"[{_TURNS}]")
_NOT_IN_JSON = re.compile(f"[{_HIGH}{_TURNS}]")  # control characters below, JSON writes so itself
_BREAK = re.compile("\r\n|[\t\n\v\f\r\x85\u2028\u2029]")


def clean(label: object) -> str:
    """A label as one line of text, without spaces around it; control characters, which would reach a
    terminal or break XML, become U+FFFD, line breaks and tabs a space."""
    return _one_line(str(label)).strip()


def _one_line(text: str) -> str:
    return _CONTROL.sub("\ufffd", _BREAK.sub(" ", text))


def shortened(text: str, most: int = 40) -> str:
    """A text of at most `most` characters: where it has more, its beginning, which ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def listed(items: Sequence[str], most: int = 4, between: str = ", ") -> str:
    """The first of several items, and how many more there are: `a, b, c, d and 3 more`."""
    shown = between.join(items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown


def count(number: int, thing: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


@lru_cache(1 << 16)  # the same labels stand on every sheet
def text_width(text: str) -> int:
    """How many columns of a fixed-width font a text takes: East Asian letters take two."""
    from unicodedata import east_asian_width

    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def forward(text: str) -> str:
    """A text without what turns the direction of all that follows it on a line of a terminal."""
    return _TURN.sub("\ufffd", text)


def plain(text: str) -> str:
    """A text as one line for a terminal, which nothing in it steers."""
    return forward(_one_line(text))


def say(line: str, file: TextIO | None = None) -> None:
    """Print one line, whatever the names in it are; to the standard output if None."""
    print(plain(line), file=file)


def as_json(what: Any, indent: int = 1) -> str:
    """A JSON text as it is read, but for what would steer a terminal, which is written `\\u009b`."""
    text = json.dumps(what, ensure_ascii=False, indent=indent, default=str)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
