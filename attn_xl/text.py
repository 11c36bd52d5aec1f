"""Text for people and programs in which nothing steers a terminal. Knows nothing of the program."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any, TextIO

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


def forward(text: str) -> str:
    """A text in which nothing is hidden and nothing turns the direction of what follows on its line."""
    return _HIDDEN.sub("\ufffd", text)


def plain(text: str) -> str:
    """A text as one line for a terminal, which nothing in it steers."""
    return forward(_one_line(text))


def say(line: str, file: TextIO | None = None) -> None:
    """Print one line, whatever the names in it are; to the standard output if None."""
    print(plain(line), file=file)


def ignore_warnings() -> None:
    """Keep what libraries warn of from people, to whom it says nothing; filters that are set already go
    first, so that `python -W error` finds them."""
    warnings.filterwarnings("ignore", append=True)


def as_json(what: Any, indent: int = 1) -> str:
    """A JSON text as it is read, but for what would steer a terminal, which is written `\\u009b`."""
    text = json.dumps(what, ensure_ascii=False, indent=indent, default=str)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
