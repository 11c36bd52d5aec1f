"""Tables that a call leaves out by name: `--without W_1`. Knows tables found, and no files."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from attn_xl.errors import CallError, nearest

from .find import SheetFound
from .roles import Found

LEFT_OUT = "left out by --without"
SETTING = "without"


def without_option(without: str | Sequence[str]) -> list[str]:
    """The names that are given, each of which may be several with commas between."""
    given = [without] if isinstance(without, str) else without
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def without_setting(settings: dict[str, Any]) -> list[str]:
    """The names that the sheet `Settings` leaves out. Takes them out of `settings`: what is read is no
    choice of a model."""
    said = [key for key in settings if key.strip().lstrip("-").casefold() == SETTING]
    return [name for key in said for name in without_option(str(settings.pop(key)))]


class LeftOut:
    """The names of a call: of weights (`W_1`), of all weights of a layer (`Enc2`), of parameters
    (`layers.1.linear1.weight`, `layers.1`), or of sheets."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(dict.fromkeys(names))
        self._found: set[str] = set()

    def names_sheet(self, sheet: str) -> bool:
        """Whether a whole sheet is left out."""
        return self._any([sheet])

    def tables(self, sheets: Sequence[SheetFound]) -> None:
        """Mark the tables that are left out.

        Raises:
            CallError: for a name that nothing has.
        """
        known: dict[str, None] = {}
        for sheet in sheets:
            for i, f in enumerate(sheet.found):
                names = _names_of(f)
                known.update(dict.fromkeys(names[:1]))
                if self._any(names):
                    sheet.found[i] = replace(f, use="", why=LEFT_OUT)
            if sheet.found and all(f.why == LEFT_OUT for f in sheet.found):
                sheet.trouble = None
        self.check(known or [sheet.name for sheet in sheets])

    def without(self, weights: Mapping[str, Any]) -> dict[str, Any]:
        """Weights by name, but those that are left out.

        Raises:
            CallError: for a name that nothing has.
        """
        kept = {name: weight for name, weight in weights.items() if not self._any([name])}
        self.check(weights)
        return kept

    def check(self, known: Iterable[str]) -> None:
        """Refuse a name that named nothing.

        Raises:
            CallError: with the nearest of the `known`.
        """
        for name in self._names:
            if name not in self._found:
                raise CallError(f"--without: there are no weights {name!r}. {nearest(name, known)}")

    def _any(self, names: Iterable[str]) -> bool:
        folded = [name.casefold() for name in names]
        asked = [
            name
            for name in self._names
            if any(f == name.casefold() or f.startswith(f"{name.casefold()}.") for f in folded)
        ]
        self._found.update(asked)
        return bool(asked)


def _names_of(f: Found) -> list[str]:
    """What a table may be called in the call; sentences only go by the name of their sheet."""
    if f.use == "sentence":
        return []
    names = [f.name, f.parameter] if f.use else [text for text, _ in f.names[:1]]
    return [name for name in names if name]


def quoted_argument(name: str) -> str:
    """A name as a shell takes it."""
    return shlex.quote(name)
