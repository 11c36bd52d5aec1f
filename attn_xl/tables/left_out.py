"""Leaves out tables by name: `--without W_1`."""

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
    """The names given with --without; each text may hold several, separated by commas."""
    given = [without] if isinstance(without, str) else without
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def without_setting(settings: dict[str, Any]) -> list[str]:
    """The names that the sheet `Settings` leaves out. Removes them from `settings`, because they are
    not an option of the model."""
    keys = [key for key in settings if key.strip().lstrip("-").casefold() == SETTING]
    return [name for key in keys for name in without_option(str(settings.pop(key)))]


class LeftOut:
    """The names to leave out: weights (`W_1`), all weights of a layer (`Enc2`), parameters
    (`layers.1.linear1.weight`, `layers.1`), or sheets."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(dict.fromkeys(names))
        self._found: set[str] = set()

    def names_sheet(self, sheet: str) -> bool:
        """Whether the whole sheet is left out."""
        return self._any([sheet])

    def tables(self, sheets: Sequence[SheetFound]) -> None:
        """Mark the tables that are left out.

        Raises:
            CallError: if a name matches nothing.
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
        """The weights that are not left out, by name.

        Raises:
            CallError: if a name matches nothing.
        """
        kept = {name: weight for name, weight in weights.items() if not self._any([name])}
        self.check(weights)
        return kept

    def check(self, known: Iterable[str]) -> None:
        """Check that every name matched something.

        Raises:
            CallError: if a name matched nothing; the message suggests the nearest known name.
        """
        for name in self._names:
            if name not in self._found:
                raise CallError(f"--without: there are no weights {name!r}. {nearest(name, known)}")

    def _any(self, names: Iterable[str]) -> bool:
        folded = [name.casefold() for name in names]
        matched = [
            name
            for name in self._names
            if any(f == name.casefold() or f.startswith(f"{name.casefold()}.") for f in folded)
        ]
        self._found.update(matched)
        return bool(matched)


def _names_of(f: Found) -> list[str]:
    """The names by which a table can be left out; sentences go only by the name of their sheet."""
    if f.use == "sentence":
        return []
    names = [f.name, f.parameter] if f.use else [text for text, _ in f.names[:1]]
    return [name for name in names if name]


def quoted_argument(name: str) -> str:
    """A name quoted for the shell."""
    return shlex.quote(name)
