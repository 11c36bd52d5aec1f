"""Reads tables from any file: an input file, or a workbook that attn-xl wrote and that may have been
edited since."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attn_xl.errors import CallError, InputError, nearest
from attn_xl.outputs import no_such_file
from attn_xl.spreadsheets.book import Book, read_book

from .find import SheetFound
from .names import weight_label
from .pytorch import says_weights
from .roles import WordsIn
from .survey import LeftOut, Survey, Table, Tables, survey_book, without_option
from .written import WrittenBook, chosen_lines, read_record, reopened


def read_tables(
    path: Any,
    *,
    range: str | Sequence[str] = (),
    words_in: WordsIn | None = None,
    sheet: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
    attention: str | None = None,
    encoding: str | None = None,
    text: str | Sequence[str] = (),
    weights: str | os.PathLike[str] | None = None,
) -> Tables:
    """Read the embedding tables and the weights of a file, a frame or an array.

    Accepts .xlsx, .xlsm, .xlsb, .xls, .ods, .csv and .tsv. Tables are found anywhere
    on a sheet, with or without labels. If the workbook computes attention, its numbers tell what
    each table is; if not, weights are recognized by the name of their sheet or by a label beside them
    such as `W_Q`. Of a formula, the stored value is read. A workbook that `attn-xl` wrote is read back
    with its current numbers and settings. `attn-xl inspect` shows what is found and why.

    Args:
        path: the file, whose format is detected from its content; `-` is standard input. Or a pandas or
            polars frame (index: words, columns: dimensions), an array, nested lists, a dictionary of
            vectors by word, a table, a matrix, or a dictionary of these by name. Or the folder of a
            trained model, with `text`.
        range: the range of the sentence with its labels: `Sheet!B3:F9`, or the name of a range or
            table; several for several sentences. `W_Q=Sheet!B3:F9` gives weights.
        words_in: whether the words of a sentence are in "rows" or "columns"; detected from labels if
            None.
        sheet: read only the sentences and weights of these sheets, and sheets named as weights.
        without: weights to leave out, by name: `W_1`, `layers.1.linear1.weight`, or all weights of a
            layer, `Enc2`; or sheets.
        attention: the name of a table with attention weights to use in place of the softmax; of
            several heads, `A_1`, `A_2`, ...
        encoding: the encoding of a text file, such as "windows-1251" or "gbk"; detected if None.
        text: one or more texts for a trained model, whose folder `path` is: each becomes a sentence
            with one token per row.
        weights: a .safetensors file, or the folder of a trained model, whose weights replace those of
            the file. A `config.json` beside them gives the settings that the file does not have.

    Raises:
        InputError: if the file cannot be read, has no table, has a cell that is not a finite number, or
            is ambiguous; the message names file, sheet and cell.
        CallError: if a range, a sheet, weights or an encoding do not exist.
        WrongTypeError: for an object of another type.

    Example:
        >>> import attn_xl
        >>> tables = attn_xl.read_tables("samples/mouse.xlsx")
        >>> tables.sentences["pets"]["mouse"]
        array([2. , 1.9, 0.1])
    """
    result = survey(
        path,
        range=range,
        words_in=words_in,
        sheet=sheet,
        without=without,
        attention=attention,
        encoding=encoding,
        text=text,
        weights=weights,
    )
    if result.trouble is not None:
        raise result.trouble
    assert result.tables is not None
    return result.tables


def survey(
    path: Any,
    *,
    encoding: str | None = None,
    text: str | Sequence[str] = (),
    weights: str | os.PathLike[str] | None = None,
    **chosen: Any,
) -> Survey:
    """Find all tables of a file and what each is for; arguments as for `read_tables`.

    An ambiguity is not raised but stored as the result's `trouble`.

    Raises:
        InputError: if the file cannot be read at all.
        CallError: if a range, a sheet or weights do not exist.
    """
    is_path = isinstance(path, (str, os.PathLike))
    if is_path and Path(path).is_dir():
        made = _of_checkpoint(Path(path), [text] if isinstance(text, str) else text)
    elif text and is_path and not Path(path).exists():
        raise no_such_file(Path(path))
    elif text:
        from .checkpoints.safetensors import refuse_pickle

        if is_path:
            refuse_pickle(Path(path))
        raise CallError("--text needs the folder of a trained model, not a file.")
    else:
        made = survey_of(_book_of(path, encoding), **chosen)
    if weights is not None and made.tables is not None:
        made = replace(made, tables=_with_stored(made.tables, Path(weights)))
    return made


def survey_of(book: Book, **chosen: Any) -> Survey:
    """`survey` of a book that has been read."""
    if chosen.get("range") or chosen.get("words_in") or read_record(book.grids) is None:
        return survey_book(book, **chosen)
    tables = _tables(book, chosen.get("sheet") or (), chosen.get("without") or ())
    read = {table.sheet: name for name, table in (*tables.weights.items(), *tables.sentences.items())}
    sheets = [
        SheetFound(
            name, passed=f"read back: {read[name]}" if name in read else "computed, or explanatory text"
        )
        for name in book.grids
    ]
    return Survey(book.path, sheets, tables, book=book)


def _of_checkpoint(folder: Path, texts: Sequence[str]) -> Survey:
    from .checkpoints.checkpoint import CONFIG, Checkpoint  # only for trained models

    if not (folder / CONFIG).is_file():
        raise InputError(
            f"{folder}: is a folder without a {CONFIG}. Give a spreadsheet, or the folder of a trained "
            "model."
        )
    tables = Checkpoint(folder).tables(texts)
    tokens = sum(len(table.rows) for table in tables.sentences.values())
    files = {
        CONFIG: f"{len(tables.settings)} settings",
        "tokenizer.json": f"splits the text into {tokens} tokens",
        "model.safetensors": f"{len(tables.weights)} weights",
    }
    return Survey(folder, [SheetFound(name, passed=why) for name, why in files.items()], tables)


def _with_stored(tables: Tables, path: Path) -> Tables:
    """The tables with the weights of a checkpoint."""
    from .checkpoints.checkpoint import CONFIG, Checkpoint
    from .checkpoints.safetensors import Tensors

    folder = path if path.is_dir() else path.parent
    if (folder / CONFIG).is_file():
        stored = Checkpoint(folder, None if path.is_dir() else path, reads_texts=False)
        longest = max(len(sentence.rows) for sentence in tables.sentences.values())
        return replace(
            tables,
            weights=stored.weights.of_length(longest),
            settings={**stored.settings_of_length(longest), **tables.settings},
            optional=stored.weights.optional,
            longer=lambda more: stored.longer(longest, more),
        )
    tensors = Tensors(path)
    name, sentence = next(iter(tables.sentences.items()))
    found = read_tables({name: sentence, **{key: tensors[key] for key in tensors}})
    remarks = (*tables.remarks, *found.remarks)
    return replace(tables, weights={**tables.weights, **found.weights}, remarks=remarks)


def _book_of(what: Any, encoding: str | None = None) -> Book:
    """The book of a file, a frame, an array, or a dictionary of these."""
    if isinstance(what, (str, os.PathLike)):
        return read_book(Path(what), encoding)
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


def _tables(book: Book, only: str | Sequence[str], without: str | Sequence[str]) -> Tables:
    """Read back a written workbook, with its settings as the sheet `Settings` of an input gives them.
    If `only` is given, keeps the sentences with these names or on these sheets."""
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
        weights=LeftOut(without_option(without)).without(opened.tables.weights),
        settings=written,
        remarks=opened.remarks,
    )


def _sentence(asked: str, sentences: Mapping[str, Table]) -> str:
    """The name of the sentence that `--sheet` selects.

    Raises:
        CallError: if there is no such sentence.
    """
    for name, table in sentences.items():
        if asked.casefold() in (name.casefold(), table.sheet.casefold()):
            return name
    raise CallError(f"--sheet: there is no sentence {asked!r}. {nearest(asked, sentences)}")
