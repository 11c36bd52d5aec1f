"""Every primitive operation by name: those that work number by number, those that make one number of a
row, and `PRIMITIVES`, which has one of each kind. Knows no matrix.
"""

from __future__ import annotations

import math

import numpy as np

from attn_xl.graph.node import Numbers
from attn_xl.graph.operation import ATOM, Operation, Said, Term

from .chosen import ColumnMean, ColumnVariance, Find, Mask, Picked, Sinusoid, When
from .primitives import (
    Apply,
    Best,
    Columns,
    Concat,
    Constant,
    Copy,
    Elementwise,
    Gather,
    Product,
    Reduce,
    Transpose,
    Width,
)


def _mean(x: Numbers) -> Numbers:
    return np.asarray(np.cumsum(x, axis=1)[:, -1] / x.shape[1])


def _variance(x: Numbers) -> Numbers:
    centred = x - _mean(x)[:, None]
    return _mean(centred * centred)


def _sample_variance(x: Numbers) -> Numbers:
    centred = x - _mean(x)[:, None]
    return np.asarray(np.cumsum(centred * centred, axis=1)[:, -1] / (x.shape[1] - 1))


def _largest(row: int, x: Term) -> Said:
    return Said(f"the largest of {x.listed(row)}", 0)


def _total(row: int, x: Term) -> Said:
    return x.total(x.shape[1], lambda column: x.at(row, column).within(1))


def _average(row: int, x: Term) -> Said:
    return Said(f"{_total(row, x).within(ATOM)} / {x.shape[1]}", 2)


def _spread(row: int, x: Term, less: int = 0) -> Said:
    """The squared distances from the mean, added up and divided by their number, or one `less`."""
    values = [x.value(row, column) for column in range(x.shape[1])]
    mean = x.number(float(_mean(np.array([values]))[0]), "mean").within(2)
    squares = x.total(len(values), lambda column: f"({x.at(row, column).within(1)} − {mean})²")
    return Said(f"{squares.within(ATOM)} / {len(values) - less}", 2)


def _sample_spread(row: int, x: Term) -> Said:
    return _spread(row, x, 1)


def _squares(row: int, x: Term) -> Said:
    return x.total(x.shape[1], lambda column: f"{x.at(row, column).within(ATOM)}²")


ADD = Elementwise("+", "+", np.add, 1)
SUBTRACT = Elementwise("-", "−", np.subtract, 1)
MULTIPLY = Elementwise("*", "·", np.multiply, 2)
DIVIDE = Elementwise("/", "/", np.divide, 2)
EXP = Apply("EXP({x})", math.exp, "e^({})", "e^({x})", for_array="EXP({x})")
SQRT = Apply("SQRT({x})", math.sqrt, "√{}", "√{atom}", for_array="SQRT({x})")
ACOS = Apply(
    "ACOS(ROUND({x},14))*180/PI()",  # what is left of 1 after rounding errors is 1
    lambda x: math.acos(round(x, 14)) * 180 / math.pi,
    "arccos({}) in degrees",
    "arccos(round({x}, 14)) · 180 / π",
    2,
)
RELU = Apply(
    "MAX(0,{x})", lambda x: max(x, 0.0), "max(0, {})", "max(0, {x})", for_array="IF({x}>0,{x},0)"
)
GELU = Apply(
    "{x}*NORMSDIST({x})",
    lambda x: x * math.erfc(-x / math.sqrt(2)) / 2,
    "GELU({})",
    "{atom} · Φ({x})",
    2,
)
GELU_TANH = Apply(
    "0.5*{x}*(1+TANH(SQRT(2/PI())*({x}+0.044715*{x}^3)))",
    lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "GELU({}), by tanh",
    "0.5 · {atom} · (1 + tanh(√(2 / π) · ({atom} + 0.044715 · {atom}³)))",
    2,
    "0.5*{x}*(1+TANH(SQRT(2/PI())*({x}+0.044715*{x}^3)))",
)
MAXIMUM = Reduce("MAX", lambda x: x.max(axis=1), "the largest of each row of {}", _largest)
SUM = Reduce("SUM", lambda x: np.cumsum(x, axis=1)[:, -1], "the sum of each row of {}", _total)
MEAN = Reduce("AVERAGE", _mean, "the mean of each row of {}", _average)
VARIANCE = Reduce("VARP", _variance, "the variance of each row of {}", _spread)
SAMPLE_VARIANCE = Reduce(
    "VAR", _sample_variance, "the sample variance of each row of {}", _sample_spread
)
SQUARES = Reduce(
    "SUMSQ",
    lambda x: np.cumsum(x * x, axis=1)[:, -1],
    "the sum of the squares of each row of {}",
    _squares,
)


PRIMITIVES: tuple[Operation, ...] = (
    Copy(),
    Transpose(),
    Product(),
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    Constant(1.0),
    EXP,
    SQRT,
    ACOS,
    RELU,
    GELU,
    GELU_TANH,
    MAXIMUM,
    SUM,
    MEAN,
    VARIANCE,
    SAMPLE_VARIANCE,
    SQUARES,
    Width(),
    Gather(((0, 0),)),
    Columns(0, 1),
    Concat(),
    Best(),
    Mask(1, ("w",), True, ("<PAD>",)),
    Sinusoid(),
    When(),
    Find(True),
    Picked(),
    ColumnMean(),
    ColumnVariance(),
)
