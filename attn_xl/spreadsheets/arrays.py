"""Files of arrays in, cells out: .npy, .npz and .json; and what is a number in a table."""

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
    """The one array of a .npy file, or those of an .npz, by name.

    Raises:
        InputError: if it is damaged, holds objects, or an array is not of numbers in rows and columns.
    """
    try:
        loaded = np.load(io.BytesIO(content), allow_pickle=False)
        arrays = {"": loaded} if isinstance(loaded, np.ndarray) else dict(loaded)
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("a part of it is no array")
    except MemoryError:
        raise
    except Exception as error:  # numpy has many ways of saying that a file is damaged
        said = str(error).partition("\n")[0]
        raise InputError(f"{where}: cannot be read as arrays of numbers ({said}).") from None
    return {
        name: array_rows(array, f"{where}, array {name!r}" if name else where)
        for name, array in arrays.items()
    }


def from_json(text: str, where: str) -> dict[str, Rows]:
    """The tables of a JSON file.

    Taken are a list of lists; `{"words": [...], "dims": [...], "values": [[...], ...]}`; a word with
    its vector each, `{"cat": [1, 2], ...}`; a column with a number for each word, as pandas writes it,
    `{"a": {"cat": 1, ...}, ...}`; a list of records, `[{"word": "cat", "a": 1}, ...]`; and a name with
    one of these each, `{"sentence": ..., "W_Q": ...}`.

    Raises:
        InputError: if it is none of them, or a word lacks a number; it names the word.
    """
    try:
        loaded = json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: is no JSON ({error}).") from None
    table = json_table(loaded, where)
    if table is not None:
        return {"": table}
    found: dict[str, Rows] = {}
    if isinstance(loaded, dict):
        for name, value in loaded.items():
            table = _json_settings(name, value) or json_table(value, f"{where}, {name!r}")
            if table is None:
                break
            found[name] = table
        else:
            if found:
                return found
    raise InputError(
        f"{where}: is JSON, but no table. It may hold a list of rows, a vector for each word "
        '({"cat": [1, 2], ...}), {"words": [...], "dims": [...], "values": [...]}, or a name for each '
        "of several."
    )


def _whole(digits: str) -> float:
    """A whole number; one that is larger than any float is infinite, which a table refuses."""
    return int(digits) if len(digits) < 300 else float(digits)


def is_finite(value: Any) -> bool:
    real = isinstance(value, (Number, np.number)) and not isinstance(value, (bool, np.bool_))
    return real and not isinstance(value, (complex, np.complexfloating)) and isfinite(value)


def wrong_number(value: Any) -> str:
    """What stands where a finite number is needed."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return "there is no number (a missing value, NaN)"
    if isinstance(value, str):
        return f"there is the text {value[:40]!r}"
    if isinstance(value, (Number, np.number)) and not isinstance(value, (bool, np.bool_)):
        return f"there is {value}"
    return f"there is {str(value)[:40]} ({type(value).__name__})"


def plain_cell(value: Any) -> Any:
    """A value as a spreadsheet would have it; what is missing is blank."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (Number, np.number)) and not isinstance(value, complex):
        number = float(value)  # type: ignore[arg-type]
        return "" if number != number else number
    return value


def array_rows(array: Any, where: str, *, row: bool = True) -> Rows:
    """The rows of an array; a 1-D one is a single row, if there may be such.

    Raises:
        InputError: if it is not of finite numbers in rows and columns.
    """
    if array.dtype.kind == "O" and array.ndim == 2 and all(map(is_finite, array.flat)):
        array = array.astype(np.float64)  # decimals, fractions, huge whole numbers
    if array.ndim == 1 and row:
        array = array[None, :]
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.size:
        size = f"1-D, {len(array)}" if array.ndim == 1 else " x ".join(map(str, array.shape))
        do = " One word alone is [[...]]." if array.ndim == 1 else ""
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
    """Whether it is a list of numbers, of which some may be missing."""
    return isinstance(value, list) and any(map(is_number, value)) and _are_numbers(value)


def _is_column(value: Any) -> bool:
    """Whether it has a number for each word, of which some may be missing."""
    return isinstance(value, dict) and bool(value) and _are_numbers(value.values())


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(value is None or is_number(value) for value in values)


def _words(numbers: Mapping[str, Mapping[Any, Any]], prefix: str, where: str) -> Rows:
    """A word a row, with the names of the first one's numbers above.

    Raises:
        InputError: if a word has not all of the numbers.
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
    made: Rows = [[plain_cell(cell) for cell in row] for row in values]
    if isinstance(rows, list):
        made = [[str(word), *row] for word, row in zip([*rows, *[""] * (len(made) - len(rows))], made)]
        if not isinstance(columns, list):
            columns = [f"dim {i}" for i in range(1, max(map(len, made), default=1))]
    if isinstance(columns, list):
        made = [[*([""] if isinstance(rows, list) else []), *map(str, columns)], *made]
    return made


def _records(records: list[dict[str, Any]]) -> Rows:
    """One row a record, one column a name; the first name's values are the words if they are text."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return [names, *([plain_cell(record.get(name, "")) for name in names] for record in records)]
