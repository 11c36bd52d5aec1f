"""The command `attn-xl model`: write the workbook of a trained model and a text."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from attn_xl.errors import InputError, TooLargeError
from attn_xl.settings import LANGUAGE, Settings

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
        raise TooLargeError(_with_choice(str(error), folder, options, reading)) from None


def _with_choice(error: str, folder: Path, options: dict[str, Any], reading: dict[str, Any]) -> str:
    """An error about size, with a choice of layers and heads that fits."""
    from attn_xl.models.build import foresee
    from attn_xl.tables.read import read_tables
    from attn_xl.workbook.write import check_sizes

    tables = read_tables(folder, **reading)
    whole = Settings.resolve(options, tables.settings, str(folder))
    last = str(
        (whole.live_layers or str(whole.layers - 1)).replace(",", " ").split()[-1].split("-")[-1]
    )
    choices: list[tuple[str, dict[str, Any]]] = [
        (f"--layers {last}", {"live_layers": last}),
        (f"--layers {last} --heads 0", {"live_layers": last, "live_heads": "0", "live_network": False}),
    ]
    if whole.vocabulary == "all" and whole.model.kind in LANGUAGE:
        few = "top:50"
        choices = [("--vocabulary top:50", {"vocabulary": few})] + [
            (f"{text} --vocabulary {few}", {**change, "vocabulary": few}) for text, change in choices
        ]
    for text, change in choices:
        settings = replace(whole, **change)
        try:
            foreseen = foresee(tables, settings)
            check_sizes(foreseen, settings)
        except InputError:
            continue
        numbers = sum(node.values.size for graph in foreseen.values() for node in graph.values())
        fact = error.partition(". ")[0].partition(", more than")[0]
        return f"{folder}: {fact}, more than fits. Choose less: {text} writes {numbers:,} numbers."
    return error
