"""The command `attn-xl show`: prints the matrices of attention in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from attn_xl.errors import CallError
from attn_xl.text import emit, say

from .options import Call, File, Force, compute_file, with_settings


@with_settings(
    "model", "heads", "causal", "decimals",
    leave_out=("formulas", "sheets_for", "controls", "switches", "canvas", "layout"),
)  # fmt: skip
def show(
    file: File,
    options: dict[str, Any],
    reading: dict[str, Any],
    steps: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STEP...]",
            help="Print these matrices: Scores, Softmax (of all heads), Enc1.Softmax_2, Compare, ... "
            "Without them, the attention of each sentence and what became of shared words.",
        ),
    ] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", metavar="STEP", help="The same as an option.")
    ] = None,
    all_steps: Annotated[bool, typer.Option("--all", help="Print every matrix.")] = False,
    sheet: Annotated[str | None, typer.Option(help="Print only this sentence.")] = None,
    call: Call = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    numbers: Annotated[
        bool,
        typer.Option(
            "--numbers",
            help="Print numbers even for a long sentence, which is otherwise drawn as a map.",
        ),
    ] = False,
    svg: Annotated[
        Path | None, typer.Option(help="Write the output to this file as an SVG picture.")
    ] = None,
    force: Force = False,
) -> None:
    from attn_xl.views.selection import answer_of

    if json + csv + (svg is not None) > 1:
        raise CallError("--json, --csv and --svg cannot be combined. Choose one.")
    if svg is not None:
        from attn_xl.outputs import check_output

        check_output(svg, force=force, sources=(file,))
    wanted_steps = [*(steps or ()), *(step or ())]
    computation, settings = compute_file(file, options, reading, sheet, steps=wanted_steps, call=call)
    for remark in computation.remarks:
        say(remark, file=sys.stderr)
    if not (wanted_steps or all_steps or json or csv):
        wanted_steps = answer_of(computation)
    wanted: dict[str, Any] = {"steps": wanted_steps, "sheet": sheet}
    if json or csv:
        from attn_xl.views.export import to_csv, to_json

        text = (to_json if json else to_csv)(computation, **wanted, decimals=settings.decimals)
        emit(text if text.endswith("\n") else text + "\n")
        return
    from attn_xl.views import terminal

    wanted["numbers"] = numbers
    wanted["decimals"] = terminal.DECIMALS if settings.decimals is None else settings.decimals
    if svg is None:
        by_page = sys.stdout.isatty() and sys.stdin is not None and sys.stdin.isatty()
        terminal.show(computation, **wanted, paged=by_page)
        return
    from attn_xl.outputs import writing

    picture = terminal.svg(computation, **wanted)
    with writing(svg) as temporary:
        temporary.write_text(picture, encoding="utf-8")
    say(str(svg))
