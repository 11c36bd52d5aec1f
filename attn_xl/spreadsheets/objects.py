"""Converts Python objects to cells: pandas and polars frames, arrays, lists, dictionaries, matrices.

Imports neither pandas nor polars: a frame is recognized by its methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from numbers import Number
from typing import Any

import numpy as np

from attn_xl.errors import CallError, InputError, wrong_type
from attn_xl.labelled import Labelled
from attn_xl.text import count

Rows = list[list[Any]]
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
    """The cells of one frame, array, list, table or matrix, or of several by name.

    Args:
        words, dims: labels for an array or nested lists; a string is split at its spaces.
        is_weight: whether a name belongs to weights, which may be 1-D (a bias).

    Raises:
        WrongTypeError: for an object of another type.
        InputError: if a table is empty or does not consist of rows and columns of finite numbers.
        CallError: if the labels do not match the table.
    """
    if words is not None or dims is not None:
        return {"": _with_labels(what, words, dims)}
    if not isinstance(what, Mapping) or _is_frame(what):
        return {"": _object(what, "the table")}
    if not what:
        raise InputError("no table was given: the dictionary is empty.")
    if not any(is_weight(str(name)) for name in what) and all(map(_is_flat, what.values())):
        return {"": _vectors({str(word): _flat(row) for word, row in what.items()})}
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
        return [[plain_cell(cell) for cell in cells] for cells in what]
    return array_rows(_as_array(what, where), where, row=row)


def _is_flat(what: Any) -> bool:
    """Whether the object is a vector: a single row of numbers."""
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
    """Convert an object to a numpy array.

    Raises:
        WrongTypeError: if numpy cannot make an array of numbers of it.
        InputError: if its rows differ in length.
    """
    if hasattr(what, "detach"):  # a tensor that requires a gradient
        what = what.detach().cpu()
    listed = isinstance(what, (list, tuple))
    if not listed and (isinstance(what, Number) or not hasattr(what, "__array__")):
        raise wrong_type(where, what, TAKEN)
    try:
        return np.asarray(what)
    except Exception as error:  # from numpy or from the object itself
        lengths = {len(row) if isinstance(row, (list, tuple)) else 0 for row in what} if listed else ()
        why = f"its rows have {_and(sorted(lengths))} cells" if len(lengths) > 1 else str(error)
        raise InputError(f"{where}: is not a table of numbers ({why}).") from None


def _and(numbers: Sequence[int]) -> str:
    return " and ".join(map(str, numbers[:5])) + (" and more" if len(numbers) > 5 else "")


def _with_labels(what: Any, words: Any, dims: Any) -> Rows:
    """Label an array or lists of numbers with the labels from the call."""
    if isinstance(what, (Mapping, Labelled)) or _is_frame(what) or _has_text_inside(what):
        raise CallError(
            "words and dims label an array or lists of numbers, but this object "
            f"({type(what).__name__}) already has labels."
        )
    table = array_rows(_as_array(what, "the table"), "the table")
    n, m = len(table), len(table[0])
    rows, columns = _labels(words, n, "word"), _labels(dims, m, "dim")
    for name, labels, size, of in (("words", rows, n, "rows"), ("dims", columns, m, "columns")):
        if len(labels) != size:
            raise CallError(f"{name} has {len(labels)} labels, but the table has {size} {of}.")
    return [["", *columns], *([word, *cells] for word, cells in zip(rows, table))]


def _has_text_inside(what: Any) -> bool:
    return isinstance(what, (list, tuple)) and _has_text(what)


def _labels(labels: Any, size: int, prefix: str) -> list[str]:
    if labels is None:
        return [f"{prefix} {i}" for i in range(1, size + 1)]
    return labels.split() if isinstance(labels, str) else [str(label) for label in labels]


def _is_frame(what: Any) -> bool:
    return hasattr(what, "columns") and (hasattr(what, "iloc") or hasattr(what, "iter_rows"))


def _frame(frame: Any, where: str) -> Rows:
    """The rows of a frame. Words are the pandas index, or the first column if it holds text."""
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
            if not is_finite(value):
                raise InputError(
                    f"{where}, column {column!r}: {wrong_number(value)} for {word!r}. {_DO}"
                )
    return [["", *columns], *([word, *map(float, row)] for word, row in zip(words, rows))]


_DO = "Every column needs finite numbers; words go in the index or in a first column of text."


def _vectors(vectors: Mapping[str, list[Any]]) -> Rows:
    """The rows of a dictionary of vectors by word.

    Raises:
        InputError: if they differ in length, or a number is not finite.
    """
    first, width = next((word, len(row)) for word, row in vectors.items())
    for word, row in vectors.items():
        if len(row) != width:
            raise InputError(
                f"the table: the word {word!r} has {count(len(row), 'number')}, but {first!r} has "
                f"{width}."
            )
        for place, value in enumerate(row, 1):
            if not is_finite(value):
                raise InputError(f"the table: {wrong_number(value)} for {word!r}, dim {place}.")
    headings = ["", *(f"dim {place}" for place in range(1, width + 1))]
    return [headings, *([word, *row] for word, row in vectors.items())]


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


def _text(label: Any) -> str:
    return " ".join(map(str, label)) if isinstance(label, tuple) else str(label)
