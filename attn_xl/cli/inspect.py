"""The command `attn-xl inspect`: lists the tables of a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from attn_xl.text import say

from .options import File, with_settings


@with_settings()
def inspect(
    file: File,
    reading: dict[str, Any],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from attn_xl.tables.read import survey
    from attn_xl.views.inspection import as_json, as_text

    tables_found = survey(file, **reading)
    for line in (as_json if json else as_text)(str(file), tables_found, reading).split("\n"):
        say(line)
    if not json:
        from attn_xl.workbook.filling.author import frames_in

        for line in frames_in(file):
            say(line)
