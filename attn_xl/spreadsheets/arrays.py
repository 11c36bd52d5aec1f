"""Arrays and frames in, cells out: .npy, .npz and .json files, numpy arrays, pandas and polars frames.
Imports neither pandas nor polars: a frame is told by what it can do."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
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
        name: _array(array, f"{where}, array {name!r}" if name else where)
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
    table = _json_table(loaded, where)
    if table is not None:
        return {"": table}
    found: dict[str, Rows] = {}
    if isinstance(loaded, dict):
        for name, value in loaded.items():
            table = _json_settings(name, value) or _json_table(value, f"{where}, {name!r}")
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


def from_objects(what: Any) -> dict[str, Rows]:
    """The cells of frames and arrays: one, or several by name.

    Raises:
        InputError: if it is none, or an array is not of numbers in rows and columns.
    """
    if isinstance(what, Mapping) and not _is_frame(what):
        if not what:
            raise InputError("no table was given: the dictionary is empty.")
        return {str(name): _object(value, f"table {name!r}") for name, value in what.items()}
    return {"": _object(what, "the table")}


def _object(what: Any, where: str) -> Rows:
    if _is_frame(what):
        return _frame(what)
    try:
        return _array(np.asarray(what), where)
    except ValueError as error:
        raise InputError(f"{where}: is no table of numbers ({error}).") from None


def _is_frame(what: Any) -> bool:
    return hasattr(what, "columns") and (hasattr(what, "iloc") or hasattr(what, "iter_rows"))


def _frame(frame: Any) -> Rows:
    """A pandas frame with its index as words; of a polars frame, the first column if it is of text."""
    columns = [_text(name) for name in frame.columns]
    if hasattr(frame, "iloc"):  # pandas
        plain = type(frame.index).__name__ == "RangeIndex"
        rows = [[_plain(value) for value in row] for row in frame.to_numpy(dtype=object).tolist()]
        if plain:
            return (
                [columns, *rows]
                if rows and isinstance(rows[0][0], str)
                else [["", *columns], *(["word " + str(i), *row] for i, row in enumerate(rows, 1))]
            )
        return [["", *columns], *([_text(name), *row] for name, row in zip(frame.index, rows))]
    rows = [[_plain(value) for value in row] for row in frame.iter_rows()]
    if rows and isinstance(rows[0][0], str):
        return [["word", *columns[1:]], *rows]
    return [["", *columns], *(["word " + str(i), *row] for i, row in enumerate(rows, 1))]


def _text(label: Any) -> str:
    return " ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _plain(value: Any) -> Any:
    """A value as a spreadsheet would have it; what is missing is blank."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (Number, np.number)) and not isinstance(value, complex):
        number = float(value)  # type: ignore[arg-type]
        return "" if number != number else number
    return value


def _array(array: Any, where: str) -> Rows:
    if array.ndim == 1:
        array = array[None, :]
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.size:
        what = f"{' x '.join(map(str, array.shape)) or 'one value'} of {array.dtype}"
        raise InputError(f"{where}: is {what}; a table has rows and columns of numbers.")
    rows: Rows = array.astype(np.float64).tolist()
    return rows


def _json_table(value: Any, where: str) -> Rows | None:
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return [[_plain(cell) for cell in row] for row in value]
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
        return [[str(key), _plain(setting)] for key, setting in value.items()]
    return None


def _names_settings(name: str) -> bool:
    return name.casefold() == "settings"


def _named(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((cell for key, cell in value.items() if key.casefold() in names), None)


def _labelled(values: list[Any], rows: Any, columns: Any) -> Rows | None:
    if not all(isinstance(row, list) for row in values):
        return None
    made: Rows = [[_plain(cell) for cell in row] for row in values]
    if isinstance(rows, list):
        made = [[str(word), *row] for word, row in zip([*rows, *[""] * (len(made) - len(rows))], made)]
        if not isinstance(columns, list):
            columns = [f"dim {i}" for i in range(1, max(map(len, made)))]
    if isinstance(columns, list):
        made = [[*([""] if isinstance(rows, list) else []), *map(str, columns)], *made]
    return made


def _records(records: list[dict[str, Any]]) -> Rows:
    """One row a record, one column a name; the first name's values are the words if they are text."""
    names = list(dict.fromkeys(name for record in records for name in record))
    return [names, *([_plain(record.get(name, "")) for name in names] for record in records)]
