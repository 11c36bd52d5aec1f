"""Text for people and programs in which nothing steers a terminal. Knows nothing of the program."""

from __future__ import annotations

import json
import re
from typing import Any, TextIO

# Beside the control characters, among them the beginnings of escape sequences, those that turn the
# direction of what follows; and what XML cannot hold.
_HIGH = "\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff"
_CONTROL = re.compile(f"[\x00-\x1f{_HIGH}]")
_NOT_IN_JSON = re.compile(f"[{_HIGH}]")  # what is below, JSON writes so itself
_BREAK = re.compile("\r\n|[\t\n\v\f\r\x85\u2028\u2029]")


def plain(text: str) -> str:
    """A text as one line: line breaks and tabs are spaces, what would steer a terminal is U+FFFD."""
    return _CONTROL.sub("\ufffd", _BREAK.sub(" ", text))


def clean(label: object) -> str:
    """A label as one plain line, without spaces around it."""
    return plain(str(label)).strip()


def say(line: str, file: TextIO | None = None) -> None:
    """Print one line, whatever the names in it are; to the standard output if None."""
    print(plain(line), file=file)


def as_json(what: Any, indent: int = 1) -> str:
    """A JSON text as it is read, but for what would steer a terminal, which is written `\\u009b`."""
    text = json.dumps(what, ensure_ascii=False, indent=indent, default=str)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
