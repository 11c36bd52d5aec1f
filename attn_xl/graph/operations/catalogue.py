"""Every operation: a shared instance of each without parameters, and `PRIMITIVES`, one of each."""

from __future__ import annotations

from attn_xl.graph.operation import Operation

from .elementwise import (
    Acos,
    Add,
    Constant,
    Copy,
    Divide,
    Exp,
    Gelu,
    GeluTanh,
    Multiply,
    NegativeLog,
    Relu,
    Sqrt,
    Subtract,
)
from .masks import Mask
from .positions import Sinusoid
from .products import Product, Transpose
from .reductions import (
    Best,
    ColumnMean,
    ColumnVariance,
    Maximum,
    Mean,
    RowDot,
    SampleVariance,
    Squares,
    Sum,
    Variance,
    Width,
)
from .selection import Columns, Concat, Find, Gather, OneHot, Picked
from .switches import When

ADD, SUBTRACT, MULTIPLY, DIVIDE = Add(), Subtract(), Multiply(), Divide()
EXP, NEGATIVE_LOG, SQRT, ACOS = Exp(), NegativeLog(), Sqrt(), Acos()
RELU, GELU, GELU_TANH = Relu(), Gelu(), GeluTanh()
MAXIMUM, SUM, MEAN, SQUARES = Maximum(), Sum(), Mean(), Squares()
VARIANCE, SAMPLE_VARIANCE, ROW_DOT = Variance(), SampleVariance(), RowDot()

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
    NEGATIVE_LOG,
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
    ROW_DOT,
    Width(),
    Gather(((0, 0),)),
    Columns(0, 1),
    Concat(),
    Best(),
    Mask(1, ("w",), True, ("<PAD>",)),
    Sinusoid(),
    When(),
    OneHot(("w",)),
    Find(True),
    Picked(),
    ColumnMean(),
    ColumnVariance(),
)
