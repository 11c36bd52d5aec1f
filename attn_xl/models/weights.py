"""Where models get what was learned: from the sheets of a workbook, if it fits, or made up, small and
readable."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from attn_xl.errors import InputError, MissingWeightsError
from attn_xl.graph.matrix import Matrix, given
from attn_xl.tables.survey import Table, Tables

from . import notes
from .attention import Weights

READABLE = (-1.0, -0.5, 0.0, 0.5, 1.0)


class SheetWeights(Weights):
    """The weights of a workbook, by name, each made a matrix once.

    `Enc1.W_Q` is looked for under its own name, then as `W_Q`, which then serves every layer.
    """

    def __init__(self, tables: Tables, seed: int | None) -> None:
        self._tables, self._seed = tables, seed
        self._made: dict[str, Matrix] = {}
        self.used: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self._table(name) is not None

    def matrix(self, name: str, rows: Sequence[str], width: int) -> Matrix:
        """The weights `name`, one row for each of `rows`.

        Raises:
            InputError: if they are not given, nor to be made up, or have another number of rows.
        """
        table = self._table(name)
        if table is None and self._seed is None:
            raise MissingWeightsError(
                f"{self._tables.path}: the sheet {name} is missing: {len(rows)} x {width}, a "
                f"row for each of {_listed(rows)}. Add it, or make up what is missing: "
                "--random-weights SEED."
            )
        if table is not None and len(table.rows) != len(rows):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: {name} is {len(table.rows)} x "
                f"{len(table.columns)}, but needs {len(rows)} rows, one for each of {_listed(rows)}."
            )
        made = self._matrix(name, table, rows, [f"{_letter(name)}{j + 1}" for j in range(width)])
        if len(made.rows) != len(rows):
            raise InputError(
                f"{name}, made up for the sentences before, has {len(made.rows)} rows, but needs "
                f"{len(rows)} here, one for each of {_listed(rows)}. Give all sentences as many "
                "dimensions, or take this one alone: --sheet."
            )
        return made

    def row(self, name: str, columns: Sequence[str]) -> Matrix | None:
        """A single row for `columns`: a bias or None, gamma (1 where not given), beta (0).

        Raises:
            InputError: if it has another width.
        """
        table = self._table(name)
        kind = _kind(name)
        if table is None and kind not in ("gamma", "beta"):
            return None
        if table is not None and table.shape != (1, len(columns)):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: {name} is {len(table.rows)} x "
                f"{len(table.columns)}, but needs 1 x {len(columns)}: one row for {_listed(columns)}."
            )
        return self._matrix(name, table, [kind], columns)

    def _matrix(
        self, name: str, table: Table | None, rows: Sequence[str], columns: Sequence[str]
    ) -> Matrix:
        key = table.name if table else name
        if key not in self._made:
            values = table.values if table else self._made_up(name, len(rows), len(columns))
            if table and table.labelled[1]:
                columns = table.columns
            elif table:
                one_row = len(table.rows) == 1 and len(columns) == len(table.columns)
                columns = (
                    columns if one_row else [f"{_letter(name)}{j + 1}" for j in range(table.shape[1])]
                )
            if table and table.labelled[0]:
                rows = table.rows
            note = notes.WEIGHTS.get(_kind(name), notes.BIAS)
            if table and table.turned:
                note += notes.TURNED
            self._made[key] = given(values, rows, columns, key, note, "weight")
        return self._made[key]

    def _table(self, name: str) -> Table | None:
        for key in (name, name.rpartition(".")[2]):
            if key in self._tables.weights:
                self.used.add(key)
                return self._tables.weights[key]
        return None

    def _made_up(self, name: str, rows: int, columns: int) -> np.ndarray:
        kind = _kind(name)
        if kind in ("gamma", "beta"):
            return np.full((rows, columns), 1.0 if kind == "gamma" else 0.0)
        rng = np.random.default_rng([self._seed or 0, zlib.crc32(name.encode())])
        return rng.choice(READABLE, size=(rows, columns))


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


def _kind(name: str) -> str:
    """`Enc1.gamma_2` is a gamma, `W_Q_1` a W_Q."""
    base = name.rpartition(".")[2]
    return base.partition("_")[0] if base[0] in "gb" and base[1] != "_" else base[:3]


def _letter(name: str) -> str:
    """What the columns of weights are called by: q of W_Q, h (hidden) of W_1."""
    letter = _kind(name)[-1].lower()
    return {"1": "h", "2": "f"}.get(letter, letter)


def _listed(labels: Sequence[str], most: int = 4) -> str:
    return ", ".join(labels[:most]) + (", ..." if len(labels) > most else "")
