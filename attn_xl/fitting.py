"""Whether the weights of single-head attention fit a sentence and each other."""

from __future__ import annotations

from collections.abc import Mapping

from .errors import InputError
from .tables import Table


def check_fit(sentence: Table, weights: dict[str, Table], wanted: Mapping[str, int]) -> None:
    """Refuse the weights of single-head attention that do not fit; `wanted` rows by name."""
    for name, table in weights.items():
        if name not in wanted:
            continue
        d = wanted[name]
        rows, columns = table.shape
        if rows != d:
            turned = " It fits when turned: swap its rows and columns." if columns == d else ""
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: {name} is {rows} x {columns}, but sheet "
                f"{sentence.sheet!r} has {count(d, 'dimension')} (it is {sentence.shape[0]} x {d}). "
                f"{name} needs {count(d, 'row')}.{turned}"
            )
        if table.rows != sentence.columns and sorted(table.rows) == sorted(sentence.columns):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: the rows of {name} are labelled "
                f"{', '.join(table.rows)}, but the dimensions of sheet {sentence.sheet!r} are "
                f"{', '.join(sentence.columns)}. Put them in the same order."
            )
    widths = {
        name: weights[name].shape[1] if name in weights else wanted[name] for name in ("W_Q", "W_K")
    }
    if widths["W_Q"] != widths["W_K"]:
        said = [
            f"{name} is {weights[name].shape[0]} x {weights[name].shape[1]}"
            if name in weights
            else f"there is no {name}, so the {what} keep {count(wanted[name], 'dimension')}"
            for name, what in (("W_Q", "queries"), ("W_K", "keys"))
        ]
        raise InputError(
            f"{sentence.file}: {' but '.join(said)}. Queries and keys are multiplied with each other: "
            "give W_Q and W_K the same number of columns."
        )


def count(number: int, thing: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
