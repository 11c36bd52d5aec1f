"""The command `attn-xl vectors`: extracts words from pre-trained word vectors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attn_xl.errors import CallError
from attn_xl.outputs import STANDARD_OUTPUT, check_output
from attn_xl.text import listed, say

from .commands import WORDS
from .options import Force

if TYPE_CHECKING:
    from attn_xl.tables.survey import Table


def vectors(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Word vectors: GloVe text, word2vec text or binary, fastText .vec; plain or gzipped.",
        ),
    ],
    words: Annotated[
        list[str] | None,
        typer.Option(
            metavar=WORDS,
            help="The words to extract, spelled as in the file and separated by spaces; a word that "
            "contains a space needs its own --words. Duplicates are dropped.",
        ),
    ] = None,
    sentence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="A sentence in quotes; word order and repetitions are kept. May be repeated: each "
            "sentence gets a sheet.",
        ),
    ] = None,
    pca: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Write the first K principal components instead of the vectors, as live formulas with "
            "a chart.",
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The workbook to write; - writes to standard output.")
    ] = Path("words.xlsx"),
    force: Force = False,
) -> None:
    if bool(words) == bool(sentence):
        raise CallError("give either --words or --sentence to name the words to extract.")
    if not all(text.split() for text in (sentence or [" ".join(words or ())])):
        raise CallError(f"{'--sentence' if sentence else '--words'} is empty. Give at least one word.")
    if pca is not None and pca < 1:
        raise CallError(f"--pca is {pca}; it takes a whole number of at least 1.")
    _check_output(file, output, force)
    from attn_xl.console import progress_bar
    from attn_xl.tables.vectors import read_vectors, split_words

    sentences = [text.split() for text in sentence] if sentence else [split_words(file, words or ())]
    wanted = list(dict.fromkeys(word for words_of_one in sentences for word in words_of_one))
    with progress_bar("looking for the words") as progress:
        table = read_vectors(file, wanted, progress=progress)
    by_sheet = {}
    if sentence:
        one = len(sentences) == 1
        by_sheet = {"Sentence" if one else f"sentence {i}": s for i, s in enumerate(sentences, 1)}
    text = _write(table, by_sheet, pca, output)
    say(f"{output}: {text}", file=sys.stderr if output == STANDARD_OUTPUT else sys.stdout)


def _check_output(file: Path, output: Path, force: bool) -> None:
    """Raise an error if the output cannot be written, before anything is read."""
    if output == STANDARD_OUTPUT:
        if sys.stdout.isatty():
            raise CallError(
                "-o -: a workbook cannot be printed to a terminal. Name a file or use a pipe."
            )
        return
    check_output(output, ".xlsx", force=force, sources=(file,))


def _write(table: Table, sentences: dict[str, list[str]], pca: int | None, path: Path) -> str:
    """Write the workbook and return a summary of its contents."""
    if pca is None:
        from attn_xl.tables.survey import Tables
        from attn_xl.tables.vectors import rows_of
        from attn_xl.workbook.write_input import write_tables

        tables = {name: rows_of(table, words) for name, words in sentences.items()} or {"Words": table}
        write_tables(Tables(path, tables, {}), path)
        return _shapes({name: one.shape for name, one in tables.items()})
    from attn_xl.models.similarity import components
    from attn_xl.workbook.layout.components_sheet import components_layout, explained_text
    from attn_xl.workbook.write import write_layout

    analysis = components(table, pca, sentences)
    layout = components_layout(analysis, f"Word vectors, {pca} principal component{'s' * (pca > 1)}")
    write_layout(layout, path, source=Path(table.file).name)
    by_sheet = analysis.sentences or {"Projected": analysis.projected}
    shapes = _shapes({name: one.shape for name, one in by_sheet.items()})
    return f"{shapes}; {explained_text(analysis.explained)}"


def _shapes(shapes: dict[str, tuple[int, int]]) -> str:
    return listed([f"{name} {rows} × {columns}" for name, (rows, columns) in shapes.items()], 8)
