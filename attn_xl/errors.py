"""What a user can mend: one base error, a few children. Knows nothing of the rest of the program."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_BEGINNING, _END = 2000, 500  # letters of a text that is too long


class AttnXlError(Exception):
    """Something that the user can mend; its text says what was found, where, and what to do.

    `exit_status` is what the command line answers with. Of a very long text, as with a name of ten
    thousand letters, the middle is left out.
    """

    exit_status = 1

    def __str__(self) -> str:
        text = super().__str__()
        short = len(text) <= _BEGINNING + _END
        return text if short else f"{text[:_BEGINNING]} … {text[-_END:]}"


class InputError(AttnXlError):
    """A file that cannot be used as it is: missing, damaged, or with a table that does not fit."""


class NotFinite(InputError):
    """Numbers whose result is infinite, or no number."""


class OutputError(AttnXlError):
    """A file that cannot be written."""


class CallError(AttnXlError):
    """A mistake in the call: an option, a name or a path that does not go with this input."""

    exit_status = 2


class WrongTypeError(CallError, TypeError):
    """An object of a type that a function does not take."""


class ShapeError(CallError, ValueError):
    """Matrices or labels whose shapes do not fit each other."""


class Interrupted(AttnXlError):
    """Stopped while several things were done; what is finished is whole."""

    exit_status = 130


def unforeseen(error: BaseException) -> str:
    """What to say of an error that nobody foresaw, where one file must not stop the others."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"a mistake in attn-xl; please report it: {type(error).__name__}: {error}"


def wrong_type(where: str, given: object, takes: str) -> WrongTypeError:
    """The error that names what was given, and what `where` takes instead."""
    name = type(given).__name__
    article = "an" if name[0].lower() in "aeio" or name == "ndarray" else "a"
    said = "None" if given is None else f"{article} {name}"
    return WrongTypeError(f"{where} is {said}; it takes {takes}.")


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint that ends an error about an unknown name: the nearest one, then all of them."""
    known = list(known)
    by_folded = {k.casefold(): k for k in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    hint = f"Did you mean {by_folded[close[0]]!r}? " if close else ""
    return f"{hint}There are: {', '.join(known)}."
