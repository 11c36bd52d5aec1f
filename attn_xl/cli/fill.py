"""The command `attn-xl fill`: completes an author's own sheet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from attn_xl.errors import CallError, InputError
from attn_xl.text import say

from .options import (
    NOT_FILLED,
    READ,
    Call,
    Force,
    called,
    option,
    output_beside,
    read_file_tables,
    with_settings,
)

NEEDS_A_LOOK = 3
"""The exit status if something was left that a person has to look at."""
Sheet = Annotated[
    Path,
    typer.Argument(
        metavar="SHEET.xlsx",
        help="A workbook with titled frames: Input with its numbers, and blank frames for the steps.",
    ),
]


@with_settings(
    "heads", "scale", "causal",
    leave_out=NOT_FILLED,
)  # fmt: skip
def fill(
    file: Sheet,
    options: dict[str, Any],
    reading: dict[str, Any],
    input: Annotated[
        Path | None,
        option(
            "--input",
            help="Put the words of this file into the frames, which grow or shrink.",
            panel=READ,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        option("-o", "--output", help="The workbook to write. Default: SHEET-filled.xlsx."),
    ] = None,
    call: Call = None,
    force: Force = False,
) -> None:
    from attn_xl.outputs import check_output, writing
    from attn_xl.workbook.filling.author import fill_file

    own = file.suffix.lower() if file.suffix.lower() == ".xlsm" else ".xlsx"
    path = output or output_beside(file, f"filled{own}")
    check_output(path, own, force=force, sources=(file, *([input] if input else [])))
    words: Any = reading.pop("words_in", None) if input is None else None
    if reading and input is None:
        raise CallError(f"--{next(iter(reading)).replace('_', '-')} needs --input.")
    tables = read_file_tables(input, reading) if input else None
    filled = fill_file(file, options, called(call), words, tables)
    if not filled.filling.frames:
        raise InputError(
            f"{file}: has no frame to fill in. Write the name of a step, such as Scores, above one."
            + "".join(f" {line}" for line in filled.attention[:1])
        )
    with writing(path) as temporary:
        temporary.write_bytes(filled.content)
    for line in filled.report():
        say(line)
    for line in filled.attention:
        say(line, file=sys.stderr)
    say(f"{path}: {filled.summary}")
    if filled.attention:
        raise typer.Exit(NEEDS_A_LOOK)
