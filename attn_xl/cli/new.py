"""The command `attn-xl new`: writes an input workbook whose numbers suit computing by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attn_xl.text import listed, say

from .commands import WORDS
from .options import Force


def new(
    words: Annotated[
        list[str],
        typer.Option(
            metavar=WORDS,
            help="The words of a sentence, separated by spaces. Repeat the option for each further "
            "sentence; a word has the same embedding in all of them.",
        ),
    ],
    dims: Annotated[int, typer.Option(help="The number of dimensions of the embeddings.")] = 4,
    output: Annotated[Path, typer.Option("-o", "--output", help="The workbook to write.")] = Path(
        "input.xlsx"
    ),
    heads: Annotated[
        int | None,
        typer.Option(help="Write weights for this number of heads, plus W_O and a Settings sheet."),
    ] = None,
    d_k: Annotated[
        int | None,
        typer.Option(help="The width of the queries and keys of one head. Default: dims / heads."),
    ] = None,
    d_v: Annotated[
        int | None, typer.Option(help="The width of the values of one head. Default: dims / heads.")
    ] = None,
    no_weights: Annotated[
        bool, typer.Option("--no-weights", help="Write the sentences only, so that Q = K = V = Input.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed for the numbers.")] = 0,
    force: Force = False,
) -> None:
    from attn_xl.outputs import check_output

    check_output(output, ".xlsx", force=force)
    from attn_xl.teaching.pleasant_numbers import pleasant
    from attn_xl.workbook.write_input import write_tables

    sentences = [text.split() for text in words]
    tables = pleasant(sentences, dims, heads=heads, d_k=d_k, d_v=d_v, weights=not no_weights, seed=seed)
    write_tables(tables, output)
    by_name = {**tables.sentences, **tables.weights}
    shapes = [f"{name} {t.shape[0]} × {t.shape[1]}" for name, t in by_name.items()]
    say(f"{output}: {listed(shapes, 8)}")
