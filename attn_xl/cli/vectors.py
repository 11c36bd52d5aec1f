"""The command `attn-xl vectors`: words picked out of pre-trained vectors. Knows no arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from attn_xl.errors import CallError
from attn_xl.outputs import STANDARD_OUTPUT, check_ending, check_output
from attn_xl.text import listed, say

from .options import Force
from .words import WORDS

if TYPE_CHECKING:
    from attn_xl.tables.survey import Table
    from attn_xl.tables.vectors.byte_blocks import Progress

SOON = 0.5
"""So many seconds pass before there is a progress bar."""


def vectors(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Word vectors: GloVe text, word2vec text or binary, fastText .vec; gzip or not.",
            show_default=False,
        ),
    ],
    words: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar=WORDS,
            help="The words, as the file spells them, with spaces between; one that has a space in it "
            "needs a --words of its own. Each is taken once.",
            show_default=False,
        ),
    ] = None,
    sentence: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar="TEXT",
            help="A sentence, in quotes, with its order and repeats. Once more for each further one: a "
            "sheet each.",
            show_default=False,
        ),
    ] = None,
    pca: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            metavar="K",
            help="The first K principal components in place of the vectors, as live formulas, with a "
            "chart.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="The workbook to write; - is the standard output."),
    ] = Path("words.xlsx"),
    force: Force = False,
) -> None:
    """Pick words out of pre-trained word vectors, as an input workbook."""
    if bool(words) == bool(sentence):
        raise CallError("give either --words or --sentence: the words to pick out.")
    if not all(text.split() for text in (sentence or [" ".join(words or ())])):
        raise CallError(f"{'--sentence' if sentence else '--words'} is empty; it takes words.")
    if pca is not None and pca < 1:
        raise CallError(f"--pca is {pca}; it takes a whole number from 1.")
    _check(file, output, force)
    from attn_xl.tables.vectors.word_vectors import read_vectors, words_said

    sentences = [text.split() for text in sentence] if sentence else [words_said(file, words or ())]
    wanted = list(dict.fromkeys(word for said in sentences for word in said))
    with _bar() as progress:
        table = read_vectors(file, wanted, progress=progress)
    named = {}
    if sentence:
        one = len(sentences) == 1
        named = {"Sentence" if one else f"sentence {i}": s for i, s in enumerate(sentences, 1)}
    text = _write(table, named, pca, output)
    say(f"{output}: {text}", file=sys.stderr if output == STANDARD_OUTPUT else sys.stdout)


def _check(file: Path, output: Path, force: bool) -> None:
    """Refuse what cannot be written to, before anything is read."""
    if output == STANDARD_OUTPUT:
        if sys.stdout.isatty():
            raise CallError("-o -: a workbook is nothing for a terminal. Name a file, or use a pipe.")
        return
    check_ending(output, ".xlsx")
    check_output(output, force=force, sources=(file,))


def _write(table: Table, sentences: dict[str, list[str]], pca: int | None, path: Path) -> str:
    """Write the workbook; what is in it."""
    if pca is None:
        from attn_xl.tables.survey import Tables
        from attn_xl.tables.vectors.word_vectors import picked
        from attn_xl.workbook.write_input import write_tables

        tables = {name: picked(table, words) for name, words in sentences.items()} or {"Words": table}
        write_tables(Tables(path, tables, {}), path)
        return _shapes({name: one.shape for name, one in tables.items()})
    from attn_xl.workbook.layout.components_sheet import components, components_layout, explained_text
    from attn_xl.workbook.write import write_layout

    made = components(table, pca, sentences)
    layout = components_layout(made, f"Word vectors, {pca} principal component{'s' * (pca > 1)}")
    write_layout(layout, path, source=Path(table.file).name)
    shown = made.sentences or {"Projected": made.projected}
    return (
        f"{_shapes({name: one.shape for name, one in shown.items()})}; {explained_text(made.explained)}"
    )


def _shapes(shapes: dict[str, tuple[int, int]]) -> str:
    return listed([f"{name} {rows} × {columns}" for name, (rows, columns) in shapes.items()], 8)


@contextmanager
def _bar() -> Iterator[Progress | None]:
    """A progress bar for what takes long, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    begun = monotonic()
    shown: list[Any] = []

    def progress(done: int, total: int) -> None:
        if not shown and monotonic() - begun > SOON:
            from rich.console import Console
            from rich.progress import Progress as Bar

            bar = Bar(console=Console(file=sys.stderr), transient=True)
            bar.start()
            shown[:] = [bar, bar.add_task("looking for the words", total=total)]
        if shown:
            shown[0].update(shown[1], completed=done)

    try:
        yield progress
    finally:
        if shown:
            shown[0].stop()
