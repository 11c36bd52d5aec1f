"""How to compute a cell by hand, one `Recipe` for each kind of calculation: in words, with spreadsheet
functions, and with the common mistakes. Plain text, without matrices."""

from __future__ import annotations

import re
import sys
from collections import ChainMap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from attn_xl.graph.step import Recipe

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

WORDS = Path(__file__).with_name("words")
"""The words of the steps, as data: each table of a TOML file is a `Step` or a `Recipe`, so that an
author rewords a lesson without Python.

`like` names the step that a step differs from; `recipe` names a recipe, or holds its `do` and `hint`.
The placeholders in braces are those of `Step` and `Recipe`.
"""


Entry = TypeVar("Entry")


class Words(Generic[Entry]):
    """The steps or recipes of some files, by name. Each is read when it is first asked for.

    Args:
        made: makes one from its table.
        files: the names of the files, without `.toml`.
    """

    def __init__(self, made: Callable[[dict[str, Any]], Entry], *files: str) -> None:
        self._made = made
        self._known: dict[str, Entry] = {}
        self._texts = {
            file: dict(_ENTRY.findall((WORDS / f"{file}.toml").read_text(encoding="utf-8")))
            for file in files
        }

    def __getitem__(self, name: str) -> Entry:
        """The entry of a name; KeyError if there is none."""
        if name not in self._known:
            text = ChainMap(*self._texts.values())[name]
            self._known[name] = self._made(tomllib.loads(text)[name])
        return self._known[name]

    def as_attribute(self, name: str) -> Entry:
        """The entry as an attribute of a module."""
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no file of words has [{name}]") from None

    def of_files(self, *files: str) -> list[Entry]:
        """All entries of some files."""
        return [self[name] for file in files for name in self._texts[file]]


_ENTRY = re.compile(r"^(?=\[(\w+)\]\n)(\[.*?)(?=^\[\w+\]\n|\Z)", re.MULTILINE | re.DOTALL)
"""The name of an entry, and the text of its table."""
NAMED = Words(lambda entry: Recipe(**entry), "recipes")


def __getattr__(name: str) -> Recipe:
    return NAMED.as_attribute(name)


MASKS = {
    (True, False): NAMED["HIDE_LATER"],
    (False, True): NAMED["HIDE_PADDING"],
    (True, True): NAMED["HIDE_LATER_AND_PADDING"],
}
"""Keyed by (hides later words, hides padding)."""
ACTIVATIONS = {
    name.lower().replace("_", "-"): NAMED[name] for name in ("RELU", "GELU", "GELU_TANH", "SILU")
}
NORMS = {
    (False, False): NAMED["NORM"],
    (False, True): NAMED["NORM_STRETCHED"],
    (True, False): NAMED["NORM_OUTSIDE"],
    (True, True): NAMED["NORM_OUTSIDE_STRETCHED"],
}
"""Keyed by (epsilon is outside the root, gamma and beta are given)."""
RMS_NORMS = {
    (False, False): NAMED["RMS_NORM"],
    (False, True): NAMED["RMS_NORM_STRETCHED"],
    (True, False): NAMED["RMS_NORM_OUTSIDE"],
    (True, True): NAMED["RMS_NORM_OUTSIDE"],
}
"""Keyed by (epsilon is outside the root, gamma is given)."""
