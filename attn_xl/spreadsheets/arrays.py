"""Converts array files (.npy, .npz, .json) to cells, and defines what counts as a number in a table."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from numbers import Number
from typing import Any

import numpy as np

from attn_xl.errors import InputError

from .numerals import is_number

Rows = list[list[Any]]
_ROWS = ("words", "tokens", "rows", "index", "labels")
_COLUMNS = ("dims", "dimensions", "columns", "features")
_VALUES = ("values", "data", "embeddings", "vectors")


def from_npy(content: bytes, where: str) -> dict[str, Rows]:
    """The arrays of an .npz file by name, or the one array of a .npy file.

    Raises:
        InputError: if the file is damaged or contains objects, or an array is not rows and columns of
            numbers.
    """
    try:
        loaded = np.load(io.BytesIO(content), allow_pickle=False)
        arrays = {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("it contains something that is not an array")
    except MemoryError:
        raise
    except Exception as error:  # numpy raises many kinds of errors for damaged files
        why = str(error).partition("\n")[0]
        raise InputError(f"{where}: cannot be read as arrays of numbers ({why}).") from None
    return {
        name: array_rows(array, f"{where}, array {name!r}" if name else where)
        for name, array in arrays.items()
    }


def from_json(text: str, where: str) -> dict[str, Rows]:
    """The tables of a JSON file.

    Accepts a list of lists; `{"words": [...], "dims": [...], "values": [[...], ...]}`; a vector for
    each word, `{"cat": [1, 2], ...}`; columns with a number for each word, as pandas writes them,
    `{"a": {"cat": 1, ...}, ...}`; a list of records, `[{"word": "cat", "a": 1}, ...]`; or several of
    these by name, `{"sentence": ..., "W_Q": ...}`.

    Raises:
        InputError: if the file has none of these forms, or a word lacks a number; the message names the
            word.
    """
    try:
        loaded = json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: is not valid JSON ({error}).") from None
    table = json_table(loaded, where)
    if table is not None:
        return {"": table}
    tables: dict[str, Rows] = {}
    if isinstance(loaded, dict):
        for name, value in loaded.items():
            table = _json_settings(name, value) or json_table(value, f"{where}, {name!r}")
            if table is None:
                break
            tables[name] = table
        else:
            if tables:
                return tables
    raise InputError(
        f"{where}: is JSON, but not a table. Give a list of rows, a vector for each word "
        '({"cat": [1, 2], ...}), {"words": [...], "dims": [...], "values": [...]}, or several tables '
        "by name."
    )


def _whole(digits: str) -> float:
    """Parse an integer; one larger than any float becomes infinity, which tables reject."""
    return int(digits) if len(digits) < 300 else float(digits)


def is_finite(value: Any) -> bool:
    real = isinstance(value, (Number, np.number)) and not isinstance(value, (bool, np.bool_))
    return real and not isinstance(value, (complex, np.complexfloating)) and isfinite(value)


def wrong_number(value: Any) -> str:
    """Describe a value found where a finite number is needed."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return "there is no number (a missing value, NaN)"
    if isinstance(value, str):
        return f"there is the text {value[:40]!r}"
    if isinstance(value, (Number, np.number)) and not isinstance(value, (bool, np.bool_)):
        return f"there is {value}"
    return f"there is {str(value)[:40]} ({type(value).__name__})"


def plain_cell(value: Any) -> Any:
    """Convert a value to a spreadsheet cell; missing values become blank."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (Number, np.number)) and not isinstance(value, complex):
        number = float(value)  # type: ignore[arg-type]
        return "" if number != number else number
    return value


def array_rows(array: Any, where: str, *, row: bool = True) -> Rows:
    """The rows of an array; a 1-D array is a single row if `row` allows it. The weights of a
    convolution, (filters, d, window), have a row for each filter.

    Raises:
        InputError: if the array is not rows and columns of finite numbers.
    """
    if array.dtype.kind == "O" and array.ndim == 2 and all(map(is_finite, array.flat)):
        array = array.astype(np.float64)  # decimals, fractions, huge whole numbers
    if array.ndim == 1 and row:
        array = array[None, :]
    if array.ndim == 3 and "conv" in where.casefold():  # (filters, d, window), as PyTorch has it
        array = array.reshape(len(array), -1)
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.size:
        size = f"1-D, {len(array)}" if array.ndim == 1 else " x ".join(map(str, array.shape))
        do = " Write a single word as [[...]]." if array.ndim == 1 else ""
        raise InputError(
            f"{where}: is {size or 'one value'} of {array.dtype}; a table has rows and columns of "
            f"numbers.{do}"
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{where}: {wrong_number(array[at])} at {list(at)}, counted from 0.")
    rows: Rows = array.tolist()
    return rows


def json_table(value: Any, where: str) -> Rows | None:
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return [[plain_cell(cell) for cell in row] for row in value]
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return _records(value)
    if isinstance(value, list) and value and all(map(is_number, value)):
        return [[float(cell) for cell in value]]
    if not isinstance(value, dict) or not value:
        return None
    values = _named(value, _VALUES)
    if isinstance(values, list) and set(map(str.casefold, value)) <= {*_ROWS, *_COLUMNS, *_VALUES}:
        return _labelled(values, _named(value, _ROWS), _named(value, _COLUMNS))
    if all(map(_is_vector, value.values())):
        return _words({word: dict(enumerate(row, 1)) for word, row in value.items()}, "dim ", where)
    if all(map(_is_column, value.values())) and not any(map(_names_settings, value)):
        words = dict.fromkeys(word for column in value.values() for word in column)
        by_word = {w: {name: column.get(w) for name, column in value.items()} for w in words}
        return _words(by_word, "", where)
    return None


def _is_vector(value: Any) -> bool:
    """Whether a value is a list of numbers; some may be missing."""
    return isinstance(value, list) and any(map(is_number, value)) and _are_numbers(value)


def _is_column(value: Any) -> bool:
    """Whether a value maps words to numbers; some may be missing."""
    return isinstance(value, dict) and bool(value) and _are_numbers(value.values())


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(value is None or is_number(value) for value in values)


def _words(numbers: Mapping[str, Mapping[Any, Any]], prefix: str, where: str) -> Rows:
    """Rows with one word each, under a heading with the dimension names of the first word.

    Raises:
        InputError: if a word lacks a number.
    """
    names = list(next(iter(numbers.values())))
    for word, row in numbers.items():
        if len(row) != len(names):
            first = next(iter(numbers))
            raise InputError(
                f"{where}: the word {word!r} has {len(row)} number{'s' * (len(row) != 1)}, but "
                f"{first!r} has {len(names)}."
            )
        for name in names:
            if row[name] is None:
                raise InputError(f"{where}: the word {word!r} has no number (null) for {prefix}{name}.")
    headings = ["", *(f"{prefix}{name}" for name in names)]
    return [headings, *([word, *(float(row[name]) for name in names)] for word, row in numbers.items())]


def _json_settings(name: str, value: Any) -> Rows | None:
    if _names_settings(name) and isinstance(value, dict):
        return [[str(key), plain_cell(setting)] for key, setting in value.items()]
    return None


def _names_settings(name: str) -> bool:
    return name.casefold() == "settings"


def _named(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((cell for key, cell in value.items() if key.casefold() in names), None)


def _labelled(values: list[Any], rows: Any, columns: Any) -> Rows | None:
    if not all(isinstance(row, list) for row in values):
        return None
    labelled: Rows = [[plain_cell(cell) for cell in row] for row in values]
    if isinstance(rows, list):
        labelled = [
            [str(word), *row]
            for word, row in zip([*rows, *[""] * (len(labelled) - len(rows))], labelled)
        ]
        if not isinstance(columns, list):
            columns = [f"dim {i}" for i in range(1, max(map(len, labelled), default=1))]
    if isinstance(columns, list):
        labelled = [[*([""] if isinstance(rows, list) else []), *map(str, columns)], *labelled]
    return labelled


def _records(records: list[dict[str, Any]]) -> Rows:
    """One row per record and one column per name; the first column holds the words if it is text."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return [names, *([plain_cell(record.get(name, "")) for name in names] for record in records)]
