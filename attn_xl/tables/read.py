"""Tables out of any file: one that people made, or one that this program wrote and that may have been
changed since."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attn_xl.errors import CallError, nearest
from attn_xl.spreadsheets.book import Book, read_book
from attn_xl.tables.written.edits import not_read
from attn_xl.tables.written.record import chosen_lines, read_record
from attn_xl.tables.written.reopen import reopened
from attn_xl.tables.written.written_book import WrittenBook

from .find import SheetFound
from .pytorch import says_weights
from .roles import WordsIn, weight_label
from .survey import Survey, Table, Tables, survey_book


def read_tables(
    path: Any,
    *,
    range: str | Sequence[str] = (),
    words_in: WordsIn | None = None,
    sheet: str | Sequence[str] = (),
) -> Tables:
    """Read the embedding tables and the weights of a file, a frame or an array.

    Taken are .xlsx, .xlsm, .xlsb, .xls, .ods, .csv, .tsv, .npy, .npz, .json. A table is found wherever
    it stands, with or without labels; weights by the name of their sheet or by a label such as `W_Q`
    beside them. A formula without a stored value is computed with IronCalc. What `attn-xl` wrote is
    read back with the numbers and the choices that it has now. `attn-xl inspect` shows what is found
    and why.

    Args:
        path: the file, whose content tells what it is; `-` is the standard input. Or a pandas or polars
            frame (index: words, columns: dimensions), an array, nested lists, a dictionary of vectors
            by word, a table, a matrix, or a dictionary of these by name.
        range: where the sentence stands, with its labels: `Sheet!B3:F9`, or the name of a range or
            table; several for several sentences. `W_Q=Sheet!B3:F9` is for weights.
        words_in: where the words of a sentence stand, "rows" or "columns"; told by labels if None.
        sheet: only the sentences, and weights, of these sheets; and sheets named as weights.

    Raises:
        InputError: if the file cannot be read, holds no table, a table has a cell that is not a finite
            number, or it cannot be told which table is meant; it names file, sheet and cell.
        CallError: for a range or a sheet that there is not; a WrongTypeError for another object.

    Example:
        >>> import attn_xl
        >>> tables = attn_xl.read_tables("samples/mouse.xlsx")
        >>> tables.sentences["cat"]["mouse"]
        array([2. , 1.9, 0.1])
    """
    made = survey(path, range=range, words_in=words_in, sheet=sheet)
    if made.trouble is not None:
        raise made.trouble
    assert made.tables is not None
    return made.tables


def survey(
    path: Any,
    *,
    range: str | Sequence[str] = (),
    words_in: WordsIn | None = None,
    sheet: str | Sequence[str] = (),
) -> Survey:
    """Everything that is found in a file, and what it is taken for; arguments as for `read_tables`.

    What cannot be decided is not an error here but the result's `trouble`.

    Raises:
        InputError: if the file cannot be read at all.
        CallError: for a range or a sheet that there is not.
    """
    book = _book_of(path)
    if range or words_in or read_record(book.grids) is None:
        return survey_book(book, range=range, words_in=words_in, sheet=sheet)
    tables = _tables(book, sheet)
    read = {table.sheet: name for name, table in (*tables.weights.items(), *tables.sentences.items())}
    sheets = [
        SheetFound(
            name, passed=f"read back: {read[name]}" if name in read else "computed, or written about it"
        )
        for name in book.grids
    ]
    return Survey(book.path, sheets, tables)


def _book_of(what: Any) -> Book:
    """The book of a file, a frame, an array, or a dictionary of these."""
    if isinstance(what, (str, os.PathLike)):
        return read_book(Path(what))
    return book_of_objects(what)


def book_of_objects(
    what: Any,
    words: Sequence[str] | str | None = None,
    dims: Sequence[str] | str | None = None,
) -> Book:
    """The book of a frame, an array, lists or a table, or of a dictionary of these."""
    from attn_xl.spreadsheets.objects import from_objects

    grids = from_objects(what, words=words, dims=dims, is_weight=_is_weight)
    return Book(Path("input"), {name or "Sentence": grid for name, grid in grids.items()})


def _is_weight(name: str) -> bool:
    return bool(weight_label(name)) or says_weights(name)


def _tables(book: Book, only: str | Sequence[str]) -> Tables:
    """With the choices as the sheet `Settings` of an input would have them; only some sentences, if
    they are named, by their own name or their sheet's."""
    opened = reopened(WrittenBook.of(book))
    settings = opened.settings
    written = dict(chosen_lines(settings))
    if settings.controls:
        written["controls"] = "TRUE"
    sentences = opened.tables.sentences
    wanted = {
        _sentence(name, sentences) for name in ([only] if isinstance(only, str) else only) if name
    }
    return replace(
        opened.tables,
        sentences={name: sentences[name] for name in sentences if not wanted or name in wanted},
        settings=written,
        remarks=(*opened.remarks, *not_read(opened, book.marks)),
    )


def _sentence(asked: str, sentences: Mapping[str, Table]) -> str:
    """The sentence that `--sheet` means.

    Raises:
        CallError: if there is none.
    """
    for name, table in sentences.items():
        if asked.casefold() in (name.casefold(), table.sheet.casefold()):
            return name
    raise CallError(f"--sheet: there is no sentence {asked!r}. {nearest(asked, sentences)}")
