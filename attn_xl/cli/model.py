"""The command `attn-xl model`: write the workbook of a trained model and a text."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from attn_xl.errors import InputError, TooLargeError
from attn_xl.settings import Settings

from .convert import write_workbooks
from .options import Force, Plain, Template, option, with_settings

KEPT = (
    "generate", "sample", "word_temperature", "seed", "temperature", "vocabulary", "head_switches",
    "influence", "decimals", "formulas", "layout", "model", "pooling", "unit_length", "live_network",
    "canvas",
)  # fmt: skip
"""Settings that a trained model leaves open; the others are in its config."""


@with_settings(*KEPT[:11], leave_out=[f.name for f in fields(Settings) if f.name not in KEPT])
def model(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="A trained model: config.json, tokenizer.json, and model.safetensors or its shards.",
        ),
    ],
    options: dict[str, Any],
    text: Annotated[
        list[str] | None, option("--text", metavar="TEXT", help="A text to compute. May be repeated.")
    ] = None,
    layers: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N ...",
            help="Layers to write as formulas, counted from 0: 0 3-5. The others are computed, and "
            "what they give enters as values. Default: all.",
        ),
    ] = None,
    heads: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N ...",
            help="Heads to write as formulas, counted from 0. What the others and the feed-forward "
            "networks give enters as values. Default: all.",
        ),
    ] = None,
    rows: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N ...",
            help="Words whose rows to write as formulas, counted from 0, from the scores on. What "
            "layers give of all words enters as values. Default: all.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The workbook to write. Default: FOLDER-attention.xlsx beside the folder.",
        ),
    ] = None,
    template: Template = "article",
    plain: Plain = False,
    force: Force = False,
) -> None:
    if folder.is_file():
        raise InputError(
            f"{folder}: is no trained model, which is a folder with config.json, tokenizer.json and "
            f"model.safetensors. For a spreadsheet: attn-xl convert {folder}"
        )
    options = {
        **options,
        "controls": not plain,
        "live_layers": " ".join(layers) if layers else None,
        "live_heads": " ".join(heads) if heads else None,
        "live_rows": " ".join(rows) if rows else None,
    }
    if heads and options["live_network"] is None:
        options["live_network"] = False
    reading = {"text": text or ()}
    try:
        write_workbooks([folder], output, "attention", template, force, options, reading)
    except TooLargeError as error:
        less = "Write less of the model: --layers 0 --heads 0, or --vocabulary top:50."
        raise TooLargeError(f"{error} {less}") from None
