"""The command `attn-xl inspect`: options in, one call, print."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from .options import File, with_settings


@with_settings()
def inspect(
    file: File,
    reading: dict[str, Any],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what tables a file holds, what each is used as and why, and how to convert it."""
    from .inspecting import as_json, as_text
    from .reading import survey

    made = survey(file, **reading)
    text = (as_json if json else as_text)(str(file), made, reading)
    plain = "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text)
    sys.stdout.write(plain + "\n")
