"""Arrays and frames in, cells out: .npy, .npz and .json files, numpy arrays, pandas and polars frames.
Imports neither pandas nor polars: a frame is told by what it can do."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from numbers import Number
from typing import Any

import numpy as np

from attn_xl.errors import CallError, InputError, wrong_type
from attn_xl.labelled import Labelled

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


TAKEN = (
    "a file, a pandas or polars frame, an array, nested lists, a dictionary of vectors by word, a "
    "table, a matrix, or a dictionary of these by name"
)


def from_objects(
    what: Any,
    *,
    words: Sequence[str] | str | None = None,
    dims: Sequence[str] | str | None = None,
    is_weight: Callable[[str], bool] = lambda name: False,
) -> dict[str, Rows]:
    """The cells of frames, arrays, lists, tables and matrices: one, or several by name.

    Args:
        words, dims: the labels of one array or of nested lists; a text is split at its spaces.
        is_weight: whether a name is that of weights, of which one row (a bias) may be 1-D.

    Raises:
        WrongTypeError: for an object of another type.
        InputError: if one of them is empty, or not of finite numbers in rows and columns.
        CallError: if the labels do not go with it.
    """
    if words is not None or dims is not None:
        return {"": _with_labels(what, words, dims)}
    if not isinstance(what, Mapping) or _is_frame(what):
        return {"": _object(what, "the table")}
    if not what:
        raise InputError("no table was given: the dictionary is empty.")
    if not any(is_weight(str(name)) for name in what) and all(map(_is_flat, what.values())):
        table = _json_table({str(word): _flat(row) for word, row in what.items()}, "the table")
        if table is not None:
            return {"": _finite(table, "the table")}
    return {
        str(name): _object(value, f"table {str(name)!r}", row=is_weight(str(name)))
        for name, value in what.items()
    }


def _object(what: Any, where: str, *, row: bool = False) -> Rows:
    if isinstance(what, Labelled):
        return [["", *what.columns], *([word, *cells] for word, cells in zip(what.rows, what.tolist()))]
    if _is_frame(what):
        return _frame(what, where)
    if isinstance(what, (list, tuple)) and _has_text(what):
        return [[_plain(cell) for cell in cells] for cells in what]
    return _array(_as_array(what, where), where, row=row)


def _is_flat(what: Any) -> bool:
    """Whether it is one row of numbers: a vector."""
    if isinstance(what, (list, tuple)):
        return bool(what) and all(isinstance(cell, Number) for cell in what)
    return (
        getattr(what, "ndim", None) == 1 and getattr(getattr(what, "dtype", None), "kind", "") in "fiu"
    )


def _flat(what: Any) -> list[Any]:
    return [float(cell) if not isinstance(cell, complex) else cell for cell in what]


def _has_text(rows: Iterable[Any]) -> bool:
    rows = list(rows)
    return all(isinstance(row, (list, tuple)) for row in rows) and any(
        isinstance(cell, str) for row in rows for cell in row
    )


def _as_array(what: Any, where: str) -> Any:
    """An array of what numpy takes for one.

    Raises:
        WrongTypeError: if that is nothing but an object.
        InputError: if its rows are not of one length.
    """
    if hasattr(what, "detach"):  # a tensor that is being trained
        what = what.detach().cpu()
    listed = isinstance(what, (list, tuple))
    if not listed and (isinstance(what, Number) or not hasattr(what, "__array__")):
        raise wrong_type(where, what, TAKEN)
    try:
        return np.asarray(what)
    except Exception as error:  # numpy's own, or what the object raises
        lengths = {len(row) if isinstance(row, (list, tuple)) else 0 for row in what} if listed else ()
        why = f"its rows have {_and(sorted(lengths))} cells" if len(lengths) > 1 else str(error)
        raise InputError(f"{where}: is no table of numbers ({why}).") from None


def _and(numbers: Sequence[int]) -> str:
    return " and ".join(map(str, numbers[:5])) + (" and more" if len(numbers) > 5 else "")


def _with_labels(what: Any, words: Any, dims: Any) -> Rows:
    """An array or lists of numbers with the labels that the call gives."""
    if isinstance(what, (Mapping, Labelled)) or _is_frame(what) or _has_text_inside(what):
        raise CallError(
            "words and dims label an array or lists of numbers; what was given "
            f"({type(what).__name__}) has labels of its own."
        )
    table = _array(_as_array(what, "the table"), "the table")
    n, m = len(table), len(table[0])
    rows, columns = _labels(words, n, "word"), _labels(dims, m, "dim")
    for name, labels, count, of in (("words", rows, n, "rows"), ("dims", columns, m, "columns")):
        if len(labels) != count:
            raise CallError(f"{name} has {len(labels)} labels, but the table has {count} {of}.")
    return [["", *columns], *([word, *cells] for word, cells in zip(rows, table))]


def _has_text_inside(what: Any) -> bool:
    return isinstance(what, (list, tuple)) and _has_text(what)


def _labels(labels: Any, count: int, prefix: str) -> list[str]:
    if labels is None:
        return [f"{prefix} {i}" for i in range(1, count + 1)]
    return labels.split() if isinstance(labels, str) else [str(label) for label in labels]


def _is_frame(what: Any) -> bool:
    return hasattr(what, "columns") and (hasattr(what, "iloc") or hasattr(what, "iter_rows"))


def _frame(frame: Any, where: str) -> Rows:
    """A pandas frame with its index as words; of a polars frame, the first column if it is of text."""
    columns = [_text(name) for name in frame.columns]
    pandas = hasattr(frame, "iloc")
    rows = frame.to_numpy(dtype=object).tolist() if pandas else [list(row) for row in frame.iter_rows()]
    if pandas and type(frame.index).__name__ != "RangeIndex":
        words = [_text(name) for name in frame.index]
    elif rows and columns and isinstance(rows[0][0], str):
        words, columns = [_text(row[0]) for row in rows], columns[1:]
        rows = [row[1:] for row in rows]
    else:
        words = [f"word {i}" for i in range(1, len(rows) + 1)]
    if not rows or not columns:
        raise InputError(
            f"{where}: the frame has {len(rows)} rows and {len(columns)} columns of numbers. A table "
            "has a word in each row and a dimension in each column."
        )
    for word, row in zip(words, rows):
        for column, value in zip(columns, row):
            if not _is_finite(value):
                raise InputError(f"{where}, column {column!r}: {_wrong(value)} for {word!r}. {_DO}")
    return [["", *columns], *([word, *map(float, row)] for word, row in zip(words, rows))]


_DO = "Every column takes finite numbers; words stand in the index, or in a first column of text."


def _is_finite(value: Any) -> bool:
    real = isinstance(value, (Number, np.number)) and not isinstance(value, (bool, np.bool_))
    return real and not isinstance(value, (complex, np.complexfloating)) and isfinite(value)


def _wrong(value: Any) -> str:
    """What stands where a finite number is needed."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return "there is no number (a missing value, NaN)"
    if isinstance(value, str):
        return f"there is the text {value[:40]!r}"
    if isinstance(value, (Number, np.number)) and not isinstance(value, (bool, np.bool_)):
        return f"there is {value}"
    return f"there is {str(value)[:40]} ({type(value).__name__})"


def _finite(rows: Rows, where: str) -> Rows:
    """Rows with a heading, of finite numbers.

    Raises:
        InputError: if one is not.
    """
    for row in rows[1:]:
        for name, value in zip(rows[0][1:], row[1:]):
            if not _is_finite(value):
                raise InputError(f"{where}: {_wrong(value)} for {row[0]!r}, {name}.")
    return rows


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


def _array(array: Any, where: str, *, row: bool = True) -> Rows:
    """The rows of an array; a 1-D one is a single row, if there may be such.

    Raises:
        InputError: if it is not of finite numbers in rows and columns.
    """
    if array.dtype.kind == "O" and array.ndim == 2 and all(map(_is_finite, array.flat)):
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
        raise InputError(f"{where}: {_wrong(array[at])} at {list(at)}, counted from 0.")
    rows: Rows = array.tolist()
    return rows


def _json_table(value: Any, where: str) -> Rows | None:
    if isinstance(value, list) and value and all(isinstance(row, list) for row in value):
        return [[_plain(cell) for cell in row] for row in value]
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return _records(value)
    if isinstance(value, list) and value and all(map(_is_json_number, value)):
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
    return isinstance(value, list) and any(map(_is_json_number, value)) and _are_numbers(value)


def _is_column(value: Any) -> bool:
    """Whether it has a number for each word, of which some may be missing."""
    return isinstance(value, dict) and bool(value) and _are_numbers(value.values())


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(value is None or _is_json_number(value) for value in values)


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


def _is_json_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


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
