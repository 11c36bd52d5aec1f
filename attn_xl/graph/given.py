"""Matrices that are given, not computed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from attn_xl.errors import InputError, wrong_type

from .matrix import Matrix
from .operations import elementwise as elementwise  # for the arithmetic of matrices
from .operations import products as products
from .step import WHOLE, Part, Role, Step


def check_matrices(**given: object) -> None:
    """Check that all arguments are matrices or None.

    Raises:
        WrongTypeError: if one is not; the message has its name.
    """
    for name, what in given.items():
        if what is not None and not isinstance(what, Matrix):
            raise wrong_type(
                name, what, "a matrix: attn_xl.given(values, rows, columns, name) creates one"
            )


def given(
    values: Any,
    rows: Iterable[object],
    columns: Iterable[object],
    name: str,
    note: str = "",
    role: Role = "input",
) -> Matrix:
    """A matrix that is given, not computed.

    Args:
        values: anything that NumPy accepts, of shape (rows, columns).
        rows, columns: their labels.
        name: its symbol.
        note: a plain sentence on what it shows.
        role: "input" for numbers that a reader edits, "weight" for learned ones.

    Raises:
        ShapeError: if the labels do not fit the shape. It is a CallError and a ValueError.
        InputError: if a value is not a number, infinite or NaN.

    Example:
        >>> import attn_xl
        >>> x = attn_xl.given([[1, 0], [0, 2]], rows=["cat", "sat"], columns=["a", "b"], name="X")
        >>> 2 * x @ x.T
        matrix = (2 · X) × Xᵀ, 2 x 2
             cat  sat
        cat    2    0
        sat    0    8
    """
    try:
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "fiubO":
            raise TypeError(f"they are of {numbers.dtype}")
        numbers = numbers.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"the values of {name} are not numbers in rows and columns: {error}."
        ) from None
    return Matrix(
        numbers, tuple(map(_text, rows)), tuple(map(_text, columns)), name=name, note=note, role=role
    )


def _text(label: object) -> str:
    """A label as a text; a message stays one."""
    return label if isinstance(label, str) else str(label)


def given_step(
    values: Any,
    rows: Iterable[object],
    columns: Iterable[object],
    step: Step,
    part: Part = WHOLE,
    *,
    note: str = "",
) -> Matrix:
    """A matrix that is given, not computed, as a step of a model: the input, weights.

    Raises:
        ValueError, InputError: as `given`.
    """
    return given(values, rows, columns, step.symbol).as_step(step, part, note=note)
