"""The command `attn-xl settings`: lists what `--set` takes."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import Annotated

import typer

from attn_xl.errors import CallError
from attn_xl.settings import Model, Settings
from attn_xl.text import say

from .commands import wrapped


def settings(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="List only the settings with this in their name.")
    ] = "",
) -> None:
    wanted = name.lower().replace("-", "_")
    chosen = [f for f in fields(Settings) if wanted in f.name]
    if not chosen:
        raise CallError(f"no setting has {name!r} in its name. attn-xl settings lists all.")
    for setting in chosen:
        kind, about = setting.metadata["kind"], setting.metadata
        values = {bool: "on, off", int: "a whole number", float: "a number", str: "a text"}.get(
            kind, ""
        )
        if issubclass(kind, Enum):
            values = ", ".join(one.value for one in kind)
        default = setting.default.value if isinstance(setting.default, Enum) else setting.default
        shown = {True: "on", False: "off", None: "none", "": "none"}.get(default, default)
        say(setting.name.replace("_", "-"))
        lines = [about["help"], f"{values} {about['within'] or ''}".strip() + f"; default: {shown}"]
        if about["models"] != tuple(Model):
            lines.append(f"of {', '.join(one.value for one in about['models'])}")
        for line in lines:
            for piece in wrapped(line, "    "):
                say(piece)
