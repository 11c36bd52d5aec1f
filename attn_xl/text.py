"""Text for people and programs in which nothing steers a terminal. Knows nothing of the program."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TextIO

ON, OFF = "on", "off"
"""What a cell that is a switch holds."""
_HIGH = "\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_FORMAT = (
    "\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0001-\U000e007f"
)
"""What has no shape of its own: marks that turn the direction of a line, spaces without width, tags.
Not the joiners U+200C and U+200D, which Persian words and joined emoji are spelled with."""
_CONTROL = re.compile(f"[\x00-\x1f{_HIGH}]")
_HIDDEN = re.compile(f"[{_FORMAT}]")
_NOT_IN_JSON = re.compile(f"[{_HIGH}{_FORMAT}]")  # control characters below, JSON writes so itself
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
    """A text in which nothing is hidden and nothing turns the direction of what follows on its line."""
    return _HIDDEN.sub("\ufffd", text)


def plain(text: str) -> str:
    """A text as one line for a terminal, which nothing in it steers."""
    return forward(_one_line(text))


def say(line: str, file: TextIO | None = None) -> None:
    """Print one line, whatever the names in it are; to the standard output if None. On a narrower
    terminal it goes on below, and no word of it, such as a path, is broken unless it alone is wider."""
    file = file or sys.stdout
    text = plain(line)
    if file is not None and file.isatty():
        text = folded(text, _width(file))
    print(text, file=file)


def _width(terminal: TextIO) -> int:
    try:
        return int(os.environ.get("COLUMNS", "")) or 80
    except ValueError:
        pass
    try:
        return os.get_terminal_size(terminal.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def folded(text: str, width: int) -> str:
    """A text on as many lines as it needs, broken only at spaces."""
    from rich.cells import cell_len  # loaded only where there is a terminal

    lines: list[str] = []
    indent = len(text) - len(text.lstrip(" "))
    for word in text[indent:].split(" "):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(" " * indent + word if not lines else word)
    return "\n".join(lines)


def ignore_warnings() -> None:
    """Keep what libraries warn of from people, to whom it says nothing; filters that are set already go
    first, so that `python -W error` finds them."""
    warnings.filterwarnings("ignore", append=True)


def as_json(what: Any, indent: int = 1) -> str:
    """A JSON text as it is read, but for what would steer a terminal, which is written `\\u009b`."""
    text = json.dumps(what, ensure_ascii=False, indent=indent, default=str)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
