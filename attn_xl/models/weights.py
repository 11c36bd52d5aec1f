"""Learned weights of a model: from the sheets of a workbook, or generated, small and readable."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from weakref import WeakValueDictionary

import numpy as np

from attn_xl.errors import InputError, MissingWeightsError
from attn_xl.graph.given import given_step
from attn_xl.graph.matrix import Matrix, foresees, inside
from attn_xl.graph.step import WHOLE, Part, Step
from attn_xl.tables.survey import Table, Tables
from attn_xl.tables.written import entered_name
from attn_xl.text import count, listed

from . import steps
from .attention import Weights

READABLE = (-1.0, -0.5, 0.0, 0.5, 1.0)
_MADE_UP = {steps.GAMMA: 1.0, steps.BETA: 0.0, steps.H_0: 0.0, steps.C_0: 0.0}
"""Scale and shift of a norm without learned weights; the state before the first word."""
_LETTERS = {steps.W_1: "h", steps.W_2: "f"}
"""Prefixes of column labels that are not the last letter of the weights' name."""


Draw = Callable[["np.random.Generator", int, int], np.ndarray]  # numpy.random takes a while to load
"""Generates weights with so many rows and columns."""


_OF_NORM = re.compile(r"(?:gamma|beta)_\d+$")


def readable(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Weights that are easy to compute with by hand."""
    return rng.choice(READABLE, size=(rows, columns))


def xavier(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """As `torch.nn.init.xavier_uniform_`. Source: Glorot, Bengio, "Understanding the difficulty of
    training deep feedforward neural networks" (2010)."""
    bound = np.sqrt(6 / (rows + columns))
    return rng.uniform(-bound, bound, size=(rows, columns))


def by_width(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Uniformly between ±1/√columns, as PyTorch starts recurrent networks; with two decimals."""
    bound = 1 / np.sqrt(columns)
    return rng.uniform(-bound, bound, size=(rows, columns)).round(2) + 0.0


class SheetWeights(Weights):
    """The weights of a workbook by name, each converted to a matrix once.

    `Enc1.Self.W_Q` is looked up by its own name, then as `Self.W_Q` and as `W_Q`, which then
    serve every layer; `Enc1.gamma_1` also as `gamma`, which serves every norm.

    Args:
        seed: of the weights that are not given; None if these are an error.
        draw: generates them.
        biases: biases that are generated, too, with their number, by name.
    """

    def __init__(
        self,
        tables: Tables,
        seed: int | None,
        heads_as_sheets: bool = False,
        *,
        draw: Draw = readable,
        biases: Mapping[str, float] | None = None,
    ) -> None:
        self._tables, self._seed, self._draw = tables, seed, draw
        self._biases = biases or {}
        self.heads_as_sheets = heads_as_sheets
        self._spelled = {name.casefold(): name for name in tables.weights}
        # Weights that no step needs any more, as those of a layer that is not written, leave the
        # memory.
        self._made: WeakValueDictionary[str, Matrix] = WeakValueDictionary()
        self.sentence = ""
        self.used: set[str] = set()
        self.made_up: set[Step] = set()

    def __contains__(self, name: str) -> bool:
        return self._key(name) is not None

    def gives(self, step: Step, part: Part) -> bool:
        return self._seed is not None or super().gives(step, part)

    def named(self, name: str) -> bool:
        return name.casefold() in self._spelled

    def matrix(
        self, step: Step, part: Part, rows: Sequence[str], width: int, columns: Sequence[str] = ()
    ) -> Matrix:
        """The weights of a step in a part of the model, one row for each of `rows`; `columns` are the
        labels for weights without labels, if their number matches.

        Raises:
            InputError: if they are neither given nor to be generated, or have a different number of
                rows.
        """
        name = part.name(step.symbol)
        table = self._table(name)
        if table is None and self._seed is None:
            of_layer = step == steps.W_1 and name.startswith(("Enc", "Dec"))
            without = " Or leave out the feed-forward layers: --no-feed-forward." * of_layer
            raise MissingWeightsError(
                f"{self._tables.path}: the sheet {name} is missing: {len(rows)} x {width}, a "
                f"row for each of {listed(rows)}. Add it, or generate missing weights: "
                f"--random-weights SEED.{without}"
            )
        if table is not None and len(table.rows) != len(rows):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: {name} is {len(table.rows)} x "
                f"{len(table.columns)}, but needs {len(rows)} rows, one for each of {listed(rows)}."
            )
        if len(columns) != (width if table is None else len(table.columns)):
            letter = columns[0].rstrip("0123456789") if columns else _letter(step)
            width = width if table is None else len(table.columns)
            columns = [f"{letter}{j + 1}" for j in range(width)]
        matrix = self._matrix(step, part, table, rows, columns)
        if len(matrix.rows) != len(rows):
            raise InputError(
                f"{name}, generated for earlier sentences, has {len(matrix.rows)} rows, but needs "
                f"{len(rows)} here, one for each of {listed(rows)}. Give all sentences the same "
                "number of dimensions, or select this one: --sheet."
            )
        return matrix

    def row(self, step: Step, part: Part, columns: Sequence[str]) -> Matrix | None:
        """A single row for `columns`: a bias or None, gamma (1 if not given), beta (0 if not given).

        Raises:
            InputError: if it has a different width.
        """
        name = part.name(step.symbol)
        table = self._table(name)
        if table is None and step not in _MADE_UP and step.symbol not in self._biases:
            return None
        if table is not None and table.shape != (1, len(columns)):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: {name} is {len(table.rows)} x "
                f"{len(table.columns)}, but needs 1 x {len(columns)}: one row for {listed(columns)}."
            )
        return self._matrix(step, part, table, [step.symbol], columns)

    def at_positions(self, x: Matrix, n: int, more: int) -> Matrix:
        """The learned position vectors, (p, d) with p at least n, for embeddings (m, d); generated ones
        are enough for `more` words after the longest sentence.

        Raises:
            InputError: if they are neither given nor to be generated, are too few, or of another width.
        """
        d = len(x.columns)
        table = self._table(steps.W_P.symbol)
        if table is None and self._seed is None:
            raise MissingWeightsError(
                f"{self._tables.path}: the sheet W_P is missing: {count(d, 'dimension')} for each of "
                f"{count(n, 'position')} or more. Add it, or generate missing weights: --random-weights"
                " SEED."
            )
        if table is not None and (table.shape[0] < n or table.shape[1] != d):
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: W_P is {table.shape[0]} x {table.shape[1]}, but "
                f"the sentence needs at least {count(n, 'position')} of {count(d, 'dimension')}."
            )
        longest = more + max(len(one.rows) for one in self._tables.sentences.values())
        rows = [f"position {place + 1}" for place in range(table.shape[0] if table else longest)]
        return self._matrix(steps.W_P, WHOLE, table, rows, x.columns)

    def _matrix(
        self,
        step: Step,
        part: Part,
        table: Table | None,
        rows: Sequence[str],
        columns: Sequence[str],
    ) -> Matrix:
        name = part.name(step.symbol)
        key = table.name if table else name
        matrix = self._made.get(key)
        if matrix is None:
            if table is None:
                self.made_up.add(step)
            if table is not None and foresees():
                values = np.broadcast_to(1.0, table.shape)
            else:
                values = table.values if table else self._made_up(step, name, len(rows), len(columns))
            if table and table.labelled[1]:
                columns = table.columns
            elif table:
                labels = len(columns) == len(table.columns)
                columns = (
                    columns if labels else [f"{_letter(step)}{j + 1}" for j in range(table.shape[1])]
                )
            if table and table.labelled[0]:
                rows = table.rows
            note = step.note
            if table and table.turned:
                note = " ".join([note, steps.TURNED])
            if table is None and step.symbol in self._biases:
                note = " ".join([note, steps.MADE_UP_BIAS])
            # A table that all layers share belongs to none of them, but may be that of one head.
            owners = (part, part.head_alone, WHOLE)
            owner = next((p for p in owners if p.name(step.symbol).casefold() == key.casefold()), None)
            with inside():  # no sentence: all share it
                matrix = given_step(values, rows, columns, step, owner or WHOLE, note=note)
            matrix = matrix if owner else replace(matrix, name=key)
            self._made[key] = matrix
        return matrix

    def entered(self, step: Step, part: Part) -> Matrix | None:
        """The values that a written workbook has for a step that is not written, in the present
        sentence."""
        key = entered_name(part.name(step.symbol), self.sentence)
        if key not in self._tables.weights:
            return None
        self.used.add(key)
        table = self._tables.weights[key]
        return given_step(table.values, table.rows, table.columns, step, part)

    def cell(self, name: str, default: float) -> float:
        """A single number that a written workbook may have."""
        if name not in self._tables.weights:
            return default
        self.used.add(name)
        return float(self._tables.weights[name].values[0, 0])

    def _key(self, name: str) -> str | None:
        scopes = name.split(".")
        wanted = [".".join(scopes[start:]) for start in range(len(scopes))]
        if _OF_NORM.match(scopes[-1]):
            wanted += [one.rpartition("_")[0] for one in wanted]
        for one in wanted:
            key = self._spelled.get(one.casefold())
            if key is not None:
                self.used.add(key)
                return key
        return None

    def _table(self, name: str) -> Table | None:
        key = self._key(name)
        return None if key is None else self._tables.weights[key]

    def _made_up(self, step: Step, name: str, rows: int, columns: int) -> np.ndarray:
        if step in _MADE_UP:
            return np.full((rows, columns), _MADE_UP[step])
        if step.symbol in self._biases:
            return np.full((rows, columns), self._biases[step.symbol])
        rng = np.random.default_rng([self._seed or 0, zlib.crc32(name.encode())])
        return self._draw(rng, rows, columns)


def check_fit(sentence: Table, weights: Mapping[str, Table], wanted: Mapping[str, int]) -> None:
    """Refuse weights of single-head attention that do not fit; `wanted` maps names to row counts."""
    for name, table in weights.items():
        if name not in wanted:
            continue
        d = wanted[name]
        rows, columns = table.shape
        if rows != d:
            turned = " It would fit transposed: swap its rows and columns." if columns == d else ""
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
        shapes = [
            f"{name} is {weights[name].shape[0]} x {weights[name].shape[1]}"
            if name in weights
            else f"there is no {name}, so the {what} keep {count(wanted[name], 'dimension')}"
            for name, what in (("W_Q", "queries"), ("W_K", "keys"))
        ]
        raise InputError(
            f"{sentence.file}: {' but '.join(shapes)}. Queries and keys are multiplied: "
            "give W_Q and W_K the same number of columns."
        )


def _letter(step: Step) -> str:
    """The prefix of column labels: q for W_Q, h (hidden) for W_1."""
    return _LETTERS.get(step, step.symbol[-1].lower())
