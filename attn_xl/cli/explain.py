"""The command `attn-xl explain`: options in, one call, print."""

from __future__ import annotations

import re
import sys
from typing import Annotated, Any, Optional

import typer

from attn_xl.errors import CallError
from attn_xl.settings import Settings

from .options import File, computed, with_settings

DECIMALS = 3
MOST_TERMS = 12


@with_settings("formulas", "sheets_for", "controls")
def explain(
    file: File,
    cell: Annotated[
        str,
        typer.Argument(
            metavar="CELL",
            # The backslash keeps the help from taking what is in brackets for a colour.
            help=r'The number: "Softmax\[mouse, cat]", "cat.Softmax\[1, 3]", "Softmax.Sum\[the#2]"; '
            "or its cell in the workbook that convert writes: 'cat.Softmax!D5'.",
            show_default=False,
        ),
    ],
    chosen: dict[str, Any],
    reading: dict[str, Any],
    depth: Annotated[
        str,
        typer.Option(metavar="N|all", help="So many levels of calculations; all: down to the inputs."),
    ] = "1",
    sheet: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="The sentence, where CELL does not name it.", show_default=False),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="In the workbook that convert --plain writes.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say how one number came about, with the numbers put in."""
    levels = _levels(depth)
    chosen = {**chosen, "controls": not plain}  # as convert has it
    Settings.check_call(chosen)  # a mistake in the call is said before anything is read
    computation, settings = computed(file, chosen, reading, sheet)
    from attn_xl.views import explanation_text
    from attn_xl.views.explanation import explain

    if json:
        found = explain(computation, cell, sheet=sheet, depth=levels, decimals=settings.decimals)
        sys.stdout.write(explanation_text.to_json(found, decimals=settings.decimals) + "\n")
        return
    decimals = DECIMALS if settings.decimals is None else settings.decimals
    found = explain(computation, cell, sheet=sheet, depth=levels, decimals=decimals, most=MOST_TERMS)
    explanation_text.print_tree(found, decimals=decimals)


def _levels(depth: str) -> int | None:
    """How many levels of calculations; None for all."""
    if depth.strip().lower() == "all":
        return None
    if not re.fullmatch("[1-9][0-9]{0,8}", depth):
        raise CallError(f"--depth is {depth!r}; it takes a whole number from 1, or all.")
    return int(depth)
