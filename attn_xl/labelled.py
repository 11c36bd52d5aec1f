"""Labelled matrices with numpy's conventions: indexing by position or label, iteration, conversion to
arrays and frames, a readable repr. Converting to a frame imports pandas or polars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from .errors import CallError
from .html import html_table, text_table
from .labels import LabelError, PositionError, position_of, unambiguous

if TYPE_CHECKING:
    import pandas
    import polars


class MissingLibraryError(CallError, ImportError):
    """An optional library that is not installed."""


class Labelled:
    """Numbers with a label for each row and column.

    Everything except arithmetic works as on the array `values`: `m[0, 2]`, `m[-1]`, `m[:, 1]`,
    `len(m)`, `for row in m`, `np.asarray(m)`, `np.mean(m, axis=1)`. Labels may replace positions:
    `m["mouse", "cat"]`, `m["mouse"]`, `m[:, "cat"]`, `m[["mouse", "cat"]]`. `m["the#2"]` selects the
    second row with the label `the`.

    Example:
        >>> import attn_xl
        >>> m = attn_xl.given([[1, 0], [0, 2]], ["cat", "sat"], ["a", "b"], "Input")
        >>> print(m[1, 1], m["sat", "b"], m[-1], m[:, "a"])
        2.0 2.0 [0. 2.] [1. 0.]

    Attributes:
        values: shape (rows, columns), float64.
        rows, columns: the labels.
        name: the symbol, or "".
    """

    values: NDArray[np.float64]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    name: str

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self.rows), len(self.columns)

    ndim = 2

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.rows) * len(self.columns)

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """The type of the values: float64."""
        return self.values.dtype

    def tolist(self) -> list[list[float]]:
        """The values as lists of Python floats, one list per row."""
        rows: list[list[float]] = self.values.tolist()
        return rows

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return True  # even without rows

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return iter(self.values)

    def __contains__(self, what: object) -> bool:
        if isinstance(what, str):
            return what in self.rows or what in self.columns
        return bool(np.any(self.values == what))

    @overload
    def __getitem__(
        self, key: tuple[SupportsIndex | str, SupportsIndex | str]
    ) -> np.float64: ...  # one number

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> NDArray[np.float64]: ...  # one row

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        keys = list(key) if isinstance(key, tuple) else [key]
        dots = next((place for place, one in enumerate(keys) if one is Ellipsis), len(keys))
        for place, one in enumerate(keys):
            axis = place if place < dots else 2 - len(keys) + place  # after `...`, from the end
            if place != dots and axis in (0, 1):
                keys[place] = self._position(one, axis)
        try:
            return self.values[tuple(keys)]
        except IndexError as error:
            raise PositionError(f"{self._called}: {error}.") from None

    def _position(self, key: Any, axis: int) -> Any:
        """A key with labels replaced by positions."""
        labels, what = ((self.rows, "row"), (self.columns, "column"))[axis]
        if isinstance(key, str):
            if axis == 0 and key not in self.rows and key in self.columns:
                raise LabelError(
                    f"{self._called} has no row labelled {key!r}, but it has such a column: "
                    f"write [:, {key!r}]."
                )
            return position_of(key, labels, what, self._called)
        if isinstance(key, slice) and any(isinstance(end, str) for end in (key.start, key.stop)):
            raise PositionError(
                f"{self._called}: a slice takes positions, from 0. To select labels, list them: "
                f"[[{labels[0]!r}, ...]]."
            )
        if isinstance(key, (int, np.integer)) and not -len(labels) <= key < len(labels):
            raise PositionError(
                f"{self._called} has {len(labels)} {what}{'s' * (len(labels) != 1)}, numbered from 0, "
                f"so there is no {what} {key}."
            )
        if isinstance(key, (list, np.ndarray)) and any(isinstance(one, str) for one in key):
            return [self._position(one, axis) for one in key]
        return key

    # numpy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        wanted = self.values.dtype if dtype is None else np.dtype(dtype)
        if copy is False and wanted != self.values.dtype:
            raise ValueError(f"{self._called} holds float64; converting to {wanted} needs a copy.")
        return self.values.astype(wanted, copy=bool(copy))

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """Apply a numpy function, such as `np.mean`, to the values; returns its plain result."""
        return function(*_numbers(args), **{name: _numbers(value) for name, value in kwargs.items()})

    # Frames

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with the row labels as its index and the column labels as its columns.

        Raises:
            MissingLibraryError: if pandas is not installed.
        """
        frame = _library("pandas").DataFrame
        converted: pandas.DataFrame = frame(
            self._cells(), index=list(self.rows), columns=list(self.columns)
        )
        return converted

    def to_polars(self) -> polars.DataFrame:
        """A polars frame: a first column `word` with the row labels, then one column per column label.
        Polars requires unique names, so a repeated label becomes `the#1`, `the#2`.

        Raises:
            MissingLibraryError: if polars is not installed.
        """
        library = _library("polars")
        first = "word"
        while first in self.columns:
            first += "_"
        cells = self._cells()
        names = self.columns
        if len(set(names)) < len(names):
            names = tuple(unambiguous(names))
        converted: polars.DataFrame = library.DataFrame(
            {first: list(self.rows), **{name: cells[:, column] for column, name in enumerate(names)}}
        )
        return converted

    # Representation

    @property
    def _called(self) -> str:
        return self.name or "the matrix"

    def _title(self) -> str:
        return self.name or "matrix"

    def _cells(self) -> NDArray[Any]:
        """A copy of the values; subclasses may return other cells to show."""
        return self.values.copy()

    def __repr__(self) -> str:
        n, m = self.shape
        title = f"{self._title()}, {n} x {m}"
        return f"{title}\n{text_table(self.rows, self.columns, self._cells())}"

    def _repr_html_(self) -> str:
        return html_table(self._title(), self.rows, self.columns, self.values)


def _numbers(what: Any) -> Any:
    if isinstance(what, Labelled):
        return what.values
    if type(what) in (list, tuple):
        return type(what)(map(_numbers, what))
    return what


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingLibraryError(
            f"to_{name}() needs {name}, which is not installed: pip install {name}"
        ) from None


def first_and_last(names: Sequence[str], most: int = 20) -> Iterator[str]:
    """The first and last lines of a repr, with the number of omitted lines between them."""
    if len(names) <= most:
        yield from names
        return
    yield from names[: most - 5]
    yield f"  ... {len(names) - most} more"
    yield from names[-5:]
