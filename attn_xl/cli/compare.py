"""The command `attn-xl compare`: the same sentences through several models."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from attn_xl.settings import Settings
from attn_xl.text import say

from .options import File, Force, Template, output_beside, read_file_tables, with_settings

SHOWN = ("decimals", "layout", "canvas", "formulas")
"""The settings that say how a workbook looks, not what it computes."""


@with_settings(
    "heads", "layers", "causal", "window", "positions", "hidden", "random_weights", "seed", *SHOWN,
    leave_out=("model", "influence", "controls", "switches", "steps", "sheets_for"),
)  # fmt: skip
def compare(
    file: File,
    options: dict[str, Any],
    reading: dict[str, Any],
    models: Annotated[
        list[str],
        typer.Option(
            metavar='"MODEL ..."',
            help="The models to compare, separated by spaces: cnn rnn lstm gru attention encoder ...",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The workbook to write. Default: NAME-compared.xlsx beside the input.",
        ),
    ] = None,
    template: Template = "article",
    force: Force = False,
) -> None:
    from attn_xl.models.compare_models import compare_models, models_of
    from attn_xl.outputs import check_output
    from attn_xl.workbook.templates import find_template
    from attn_xl.workbook.write import check_sizes, write_workbook

    template_path = find_template(template)
    chosen = models_of(" ".join(models).replace(",", " ").split())
    path = output or output_beside(file, "compared.xlsx")
    check_output(path, ".xlsx", force=force, sources=(file, template_path))
    tables = read_file_tables(file, reading)
    computation = compare_models(tables, chosen, options)
    for remark in computation.remarks:
        say(remark, file=sys.stderr)
    source = "standard input" if str(file) == "-" else file.name
    shown = {name: options[name] for name in SHOWN if options[name] is not None}
    settings = Settings(**shown)
    if cost := check_sizes(computation, settings):
        say(cost, file=sys.stderr)
    layout = write_workbook(computation, path, template=template_path, settings=settings, source=source)
    say(f"{path}: {layout.summary(settings)}")
