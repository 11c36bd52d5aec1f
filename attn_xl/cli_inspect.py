"""The command `attn-xl inspect`: options in, one call, print."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .options import File, with_settings
from .saying import say


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
    for line in (as_json if json else as_text)(str(file), made, reading).split("\n"):
        say(line)
