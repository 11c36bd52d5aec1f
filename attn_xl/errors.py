"""The errors that users can act on: a base class and its subclasses."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_BEGINNING, _END = 2000, 500  # characters kept of an overlong message


class AttnXlError(Exception):
    """An error that the user can fix. Its message says what was found, where, and what to do.

    `exit_status` is the exit status of the command line. The middle of a very long message, such as one
    with a name of ten thousand characters, is left out.
    """

    exit_status = 1

    def __str__(self) -> str:
        text = super().__str__()
        short = len(text) <= _BEGINNING + _END
        return text if short else f"{text[:_BEGINNING]} … {text[-_END:]}"


class InputError(AttnXlError):
    """A file that cannot be used as it is: missing, damaged, or with tables that do not match."""


class NotFinite(InputError):
    """A computation whose result is infinite or NaN."""


class TooLargeError(InputError):
    """A computation that does not fit a workbook."""


class MissingWeightsError(InputError):
    """Weights that the model needs and the file does not contain."""


class OutputError(AttnXlError):
    """A file that cannot be written."""


class CallError(AttnXlError):
    """A mistake in the call: an option, name or path that is invalid for this input."""

    exit_status = 2


class WrongTypeError(CallError, TypeError):
    """An argument of a type that the function does not accept."""


class ShapeError(CallError, ValueError):
    """Matrices or labels whose shapes do not match."""


def unforeseen(error: BaseException) -> str:
    """The message for an unexpected error in one of several files, which must not stop the others."""
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"a bug in attn-xl; please report it: {type(error).__name__}: {error}"


def wrong_type(where: str, given: object, takes: str) -> WrongTypeError:
    """The error for an argument `where` of the wrong type: names the type given and those accepted."""
    name = type(given).__name__
    article = "an" if name[0].lower() in "aeio" or name == "ndarray" else "a"
    found = "None" if given is None else f"{article} {name}"
    return WrongTypeError(f"{where} is {found}; it takes {takes}.")


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint at the end of an error about an unknown name: the closest match, then all known
    names."""
    known = list(known)
    by_folded = {k.casefold(): k for k in known}
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    hint = f"Did you mean {by_folded[close[0]]!r}? " if close else ""
    more = f" and {len(known) - 60} more" if len(known) > 60 else ""
    return f"{hint}There are: {', '.join(known[:60])}{more}."
