"""Labelled matrices with numpy's conventions: indexing by position or label, iteration, conversion to
arrays and frames, a readable repr. Converting to a frame imports pandas or polars."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from .errors import CallError, nearest
from .text import plain

if TYPE_CHECKING:
    import pandas
    import polars


MOST_LISTED = 30
"""Labels listed in an error; more would bury the message."""
_NEEDS_QUOTES = re.compile(r'^$|[\[\],"]')


class LabelError(CallError, KeyError):
    """A label that a matrix does not have or has more than once."""

    __str__ = Exception.__str__


class PositionError(CallError, IndexError):
    """A row or column number out of range, or an invalid index."""


def unambiguous(labels: Sequence[str]) -> list[str]:
    """The labels as unique names: repeated ones are numbered (`the#1`), special characters quoted
    (`"a, b"`)."""
    folded = {label.casefold() for label in labels}
    repeated = {label for label, times in Counter(labels).items() if times > 1}
    seen: dict[str, int] = {}
    names = []
    for label in labels:
        seen[label] = number = seen.get(label, 0) + 1
        tail = f"#{number}" if label in repeated else ""
        if _NEEDS_QUOTES.search(label) or (tail and (label + tail).casefold() in folded):
            label = '"' + label.replace('"', '""') + '"'
        names.append(label + tail)
    return names


def position_of(label: str, labels: Sequence[str], what: str, title: str) -> int:
    """The position of a label, counted from 0. A repeated label needs its number: `the#2`.

    Args:
        what: "row" or "column", for errors.
        title: the name of the matrix, for errors.

    Raises:
        LabelError: if no label matches, or more than one.
    """
    same = [i for i, known in enumerate(labels) if known == label]
    if len(same) == 1:
        return same[0]
    names = unambiguous(labels)
    if same:
        choices = [f"{names[i]!r} (or {i})" for i in same[:MOST_LISTED]]
        more = ", ..." if len(same) > MOST_LISTED else ""
        raise LabelError(
            f"{title} has {len(same)} {what}s labelled {label!r}. Say which one: "
            f"{', '.join(choices)}{more}."
        )
    if label in names:
        return names.index(label)
    hint = nearest(label, dict.fromkeys(labels))
    if len(labels) > MOST_LISTED:
        hint = f"{hint.partition('There are')[0]}There are {len(labels)} {what}s."
    raise LabelError(f"{title} has no {what} labelled {label!r}. {hint}")


MAX_SHOWN = 60
"""Rows and columns shown in a notebook; more make it slow."""
MAX_ROWS, ENDS = 20, 5
"""Rows shown as text; of a longer matrix, rows shown at each end."""
MAX_LABEL_WIDTH = 24
HUGE = 1e7


def html_table(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: NDArray[np.float64],
) -> str:
    """A matrix as an HTML table, for notebooks."""
    from html import escape  # needed only in a notebook

    def cell(value: float) -> str:
        return f"<td>{value:.3f}</td>"

    def line(label: str, cells: Iterable[str]) -> str:
        return f"<tr><th>{escape(label)}</th>{''.join(cells)}{dots}</tr>"

    n, m = len(rows), len(columns)
    dots = "<td>…</td>" if m > MAX_SHOWN else ""
    head = line("", (f"<th>{escape(column)}</th>" for column in columns[:MAX_SHOWN]))
    body = [
        line(row, map(cell, numbers)) for row, numbers in zip(rows[:MAX_SHOWN], values[:, :MAX_SHOWN])
    ]
    left_out = (
        f"<p>{n} × {m}; shown: {min(n, MAX_SHOWN)} × {min(m, MAX_SHOWN)}</p>"
        if max(n, m) > MAX_SHOWN
        else ""
    )
    return f"<table><caption>{escape(title)}</caption>{head}{''.join(body)}</table>{left_out}"


def text_table(
    rows: Sequence[str], columns: Sequence[str], cells: NDArray[Any], *, width: int = 80
) -> str:
    """Labelled numbers or texts as lines of text, as in pandas. Of many rows it shows the first and
    last; of many columns, as many from both ends as fit the width."""
    from rich.cells import cell_len, set_cell_size  # takes 10 ms

    def cut(label: str) -> str:
        label = plain(label)
        return (
            label
            if cell_len(label) <= MAX_LABEL_WIDTH
            else set_cell_size(label, MAX_LABEL_WIDTH - 1) + "…"
        )

    def right(text: str, size: int) -> str:
        return " " * (size - cell_len(text)) + text

    n, m = len(rows), len(columns)
    down = [*range(n)] if n <= MAX_ROWS else [*range(ENDS), *range(n - ENDS, n)]
    # More columns never fit: each takes at least 3 characters.
    across = [*range(m)] if m <= width else [*range(width // 2), *range(m - width // 2, m)]
    shown = cells[np.ix_(down, across)]
    form = _form(shown) if shown.dtype.kind == "f" else str
    texts = {column: [form(value) for value in shown[:, i]] for i, column in enumerate(across)}
    heads = {column: cut(columns[column]) for column in across}
    sizes = {
        column: max(map(cell_len, (heads[column], *texts[column])), default=1) for column in across
    }
    labels = [cut(rows[row]) for row in down]
    first = max(map(cell_len, labels), default=0)
    room = width - first
    kept = across
    if len(across) < m or sum(2 + size for size in sizes.values()) > room:
        room -= 2 + len("...")
        order = [c for pair in zip(across, reversed(across)) for c in pair]
        fitting: list[int] = []
        for column in dict.fromkeys(order):
            room -= 2 + sizes[column]
            if room < 0 and fitting:
                break
            fitting.append(column)
        kept = sorted(fitting)

    def line(label: str, cells: dict[int, str]) -> str:
        text = label + " " * (first - cell_len(label))
        for before, column in zip((-1, *kept), kept):
            text += (
                ("  ..." if column > before + 1 else "") + "  " + right(cells[column], sizes[column])
            )
        return text + ("  ..." if kept and kept[-1] < m - 1 else "")

    lines = [line("", heads)] if any(heads.values()) else []
    for i, label in enumerate(labels):
        if n > MAX_ROWS and i == ENDS:
            lines.append("...")
        lines.append(line(label, {column: texts[column][i] for column in kept}))
    return "\n".join(lines)


def _form(values: NDArray[np.float64]) -> Callable[[float], str]:
    """A function that formats all values alike: integers without decimals, tiny and huge values with an
    exponent."""
    usual = np.abs(values[np.abs(values) < HUGE])
    whole = not (usual % 1).any()
    form = ".0f" if whole else ".3f" if usual.max() >= 0.005 else ".2e"
    return lambda value: format(value, form if abs(value) < HUGE else ".4g")


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
