"""Text utilities: safe terminal output, cleaned labels, shortened lists, JSON."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TextIO, cast


class _Pattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, found)  # the next use is as fast as that of a compiled one
        return found


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled when it is first used."""
    return cast("re.Pattern[str]", _Pattern(source, flags))


ON, OFF = "on", "off"
"""Values of a switch cell."""
_HIGH = "\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_FORMAT = (
    "\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0001-\U000e007f"
)
"""Invisible characters: direction marks, zero-width spaces and tags. The joiners U+200C and U+200D are
not among them, since Persian words and combined emoji need them."""
_CONTROL = pattern(f"[\x00-\x1f{_HIGH}]")
_STEERING = pattern(f"[\x00-\x08\x0b\x0c\x0e-\x1f{_HIGH}]")
_HIDDEN = pattern(f"[{_FORMAT}]")
_NOT_IN_JSON = pattern(f"[{_HIGH}{_FORMAT}]")  # json.dumps escapes the control characters below
_BREAK = re.compile("\r\n|[\t\n\v\f\r\x85\u2028\u2029]")


def clean(label: object) -> str:
    """A label as one line without surrounding spaces. Line breaks and tabs become spaces; control
    characters, which affect terminals and are invalid in XML, become U+FFFD."""
    return _one_line(str(label)).strip()


def _one_line(text: str) -> str:
    return _CONTROL.sub("\ufffd", _BREAK.sub(" ", text))


def capitalized(text: str) -> str:
    """A text whose first letter is a capital, also behind an opening mark: `¿Puede ...?`."""
    first = next((i for i, character in enumerate(text) if character not in "¿¡"), 0)
    return text[:first] + text[first : first + 1].upper() + text[first + 1 :]


def shortened(text: str, most: int = 40) -> str:
    """A text cut to at most `most` characters; a cut text ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def listed(items: Sequence[str], most: int = 4, between: str = ", ") -> str:
    """The first `most` items and the number of the rest: `a, b, c, d and 3 more`."""
    shown = between.join(items[:most])
    return f"{shown} and {len(items) - most} more" if len(items) > most else shown


def distinct(words: Sequence[str]) -> tuple[str, ...]:
    """The words, with numbers that distinguish equal ones: `the (1)`, `the (4)`."""
    texts = list(words)
    while True:  # a numbered word may equal another word: `the (1)`
        times = Counter(text.casefold() for text in texts)
        alike = [i for i, text in enumerate(texts) if times[text.casefold()] > 1 or not text]
        if not alike:
            return tuple(texts)
        for i in alike:
            texts[i] = f"{texts[i]} ({i + 1})".strip()


def count(number: int, thing: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


@lru_cache(1 << 16)  # labels repeat on every sheet
def text_width(text: str) -> int:
    """The width of a text in columns of a fixed-width font; East Asian characters take two."""
    from unicodedata import east_asian_width

    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def forward(text: str) -> str:
    """A text with every invisible character, such as a direction mark, replaced by U+FFFD."""
    return _HIDDEN.sub("\ufffd", text)


def plain(text: str) -> str:
    """A text as one line that is safe to print to a terminal."""
    return forward(_one_line(text))


def inert(text: str) -> str:
    """A text in which every character that steers a terminal, but tabs and line ends, is U+FFFD."""
    return _STEERING.sub("\ufffd", text)


def without_hidden(text: str) -> str:
    """A text without its invisible characters."""
    return _HIDDEN.sub("", text)


def emit(text: str, file: TextIO | None = None) -> None:
    """Write a text of several lines to a stream, standard output by default. On a terminal, nothing in
    it takes effect. Whatever a user reads leaves here, by `say`, or through a `console`."""
    file = file or sys.stdout
    if file is not None:
        file.write(forward(inert(text)) if file.isatty() else inert(text))


def say(line: str, file: TextIO | None = None) -> None:
    """Print one line safely to a stream, standard output by default. On a terminal, a long line wraps
    at spaces only, so that a path stays whole unless it is wider than the terminal."""
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
    """A text wrapped at spaces to lines of at most `width` columns."""
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
    """Hide warnings of libraries, which mean nothing to users. Existing filters take precedence, so
    that `python -W error` still works."""
    warnings.filterwarnings("ignore", append=True)


def as_json(what: Any, indent: int = 1) -> str:
    """A JSON text as it is read, but for what would steer a terminal, which is written `\\u009b`."""
    text = json.dumps(what, ensure_ascii=False, indent=indent, default=str)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
