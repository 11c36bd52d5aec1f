"""The command `attn-xl explain`: prints how one number was computed."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from attn_xl.errors import CallError
from attn_xl.text import emit, say

from .options import Call, File, compute_file, with_settings

DECIMALS = 3
MOST_TERMS = 12


@with_settings("model", "heads", "causal", "decimals", leave_out=("formulas", "sheets_for", "controls"))
def explain(
    file: File,
    cell: Annotated[
        str,
        typer.Argument(
            metavar="CELL",
            help='A number: "Softmax[mouse, cat]", "pets.Softmax[1, 3]", "Softmax.Sum[the#2]"; a row: '
            "\"Output[mouse]\"; or a cell of the workbook that convert writes: 'pets.Softmax!D5'.",
        ),
    ],
    options: dict[str, Any],
    reading: dict[str, Any],
    depth: Annotated[
        str,
        typer.Option(
            metavar="N|all", help="Levels of calculation to show; all goes down to the inputs."
        ),
    ] = "1",
    sheet: Annotated[str | None, typer.Option(help="The sentence, if CELL does not name one.")] = None,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Read CELL as a cell of the workbook that convert --plain writes."
        ),
    ] = False,
    call: Call = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    levels = _levels(depth)
    options = {**options, "controls": not plain}  # as in convert
    computation, settings = compute_file(file, options, reading, sheet, call=call)
    decimals = DECIMALS if settings.decimals is None else settings.decimals
    from attn_xl.views.explanation import explained_row

    if not json and (lines := explained_row(computation, cell, sheet, decimals=decimals)):
        for line in lines:
            say(line)
        return
    from attn_xl.views import explanation_text
    from attn_xl.views.explanation import explain

    if json:
        explanation = explain(computation, cell, sheet=sheet, depth=levels, decimals=settings.decimals)
        emit(explanation_text.to_json(explanation, decimals=settings.decimals) + "\n")
        return
    explanation = explain(
        computation, cell, sheet=sheet, depth=levels, decimals=decimals, most=MOST_TERMS
    )
    explanation_text.print_tree(explanation, decimals=decimals)


def _levels(depth: str) -> int | None:
    """The number of levels of calculation; None for all."""
    if depth.strip().lower() == "all":
        return None
    if not re.fullmatch("[1-9][0-9]{0,8}", depth):
        raise CallError(f"--depth is {depth!r}; it takes a whole number of at least 1, or all.")
    return int(depth)
