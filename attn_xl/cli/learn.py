"""`attn-xl learn`: a whole run of learning as live formulas."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from attn_xl.errors import CallError
from attn_xl.text import count, say

from .options import (
    File,
    Force,
    Output,
    Plain,
    Template,
    compute_file,
    output_beside,
    read_file_tables,
    with_settings,
)


@with_settings(
    "steps", "rate", "optimizer", "live", "momentum", "beta1", "beta2", "adam_epsilon", "decay", "seed",
    "model", "heads", "layers", "causal", "decimals",
    leave_out=("controls", "loss", "train"),
)  # fmt: skip
def learn(
    file: File,
    options: dict[str, Any],
    reading: dict[str, Any],
    output: Output = None,
    train: Annotated[
        list[str] | None,
        typer.Option(metavar="WEIGHT ...", help="Learn only these weights: W_Q W_K. Default: all."),
    ] = None,
    weights_out: Annotated[
        Path | None,
        typer.Option("--weights-out", help="Also write an input workbook with the trained weights."),
    ] = None,
    template: Template = "article",
    plain: Plain = False,
    force: Force = False,
) -> None:
    from attn_xl.outputs import check_output, writing
    from attn_xl.settings import Settings

    path = output or output_beside(file, "learning.xlsx")
    if weights_out is not None and weights_out.absolute() == path.absolute():
        raise CallError(f"--weights-out: {path} is the workbook of the run. Name another file.")
    options = {**options, "controls": not plain, "train": " ".join(train) if train else None}
    Settings.check_call(options)
    from attn_xl.console import progress_bar
    from attn_xl.models.learning import followed_by, losses, not_learned, trained
    from attn_xl.workbook.templates import find_template
    from attn_xl.workbook.write import check_sizes, write_workbook

    template_path = find_template(template)
    for target in (path, *([weights_out] if weights_out else [])):
        check_output(target, ".xlsx", force=force, sources=(file, template_path))
    tables = read_file_tables(file, reading)
    if options["steps"] is None and "steps" not in tables.settings:
        options["steps"] = DEFAULT_STEPS
    with progress_bar("learning") as progress, followed_by(progress):
        computation, settings = compute_file(file, options, reading, fits=check_sizes)
    curve = losses(computation)
    source = "standard input" if str(file) == "-" else file.name
    with writing(weights_out) if weights_out else nullcontext() as temporary:  # both files or none
        if temporary is not None:
            from attn_xl.models.losses import take_target
            from attn_xl.tables.written import model_lines
            from attn_xl.workbook.write_input import write_tables

            weights = {**not_learned(computation), **tables.weights, **trained(computation)}
            own = {**model_lines(settings), **tables.settings}
            if take_target(dict(tables.sentences)) is not None:
                own = {"loss": True, **own}  # without a loss, Target is a sentence
            write_tables(replace(tables, weights=weights, settings=own), temporary)
        layout = write_workbook(
            computation, path, template=template_path, settings=settings, source=source, record=True
        )
    for line in computation.remarks:
        say(line, file=sys.stderr)
    say(f"{path}: {layout.summary(settings)}")
    taken = count(settings.steps, "step")
    say(f"loss {curve[0]:.4g} before learning, {curve[-1]:.4g} after {taken}")


DEFAULT_STEPS = 20
