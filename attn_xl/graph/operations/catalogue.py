"""Every operation: a shared instance of each without parameters, and `PRIMITIVES`, one of each."""

from __future__ import annotations

from attn_xl.graph.operation import Operation

from .elementwise import (
    Acos,
    Add,
    AtMost,
    Constant,
    Copy,
    Cos,
    Divide,
    Exp,
    Gelu,
    GeluTanh,
    Multiply,
    Relu,
    Silu,
    Sin,
    Sqrt,
    Subtract,
    Tanh,
)
from .masks import Mask
from .positions import Angle, Distance, Sinusoid
from .products import Product, Transpose
from .reductions import (
    Best,
    ColumnMean,
    ColumnVariance,
    Maximum,
    Mean,
    Rank,
    SampleVariance,
    Squares,
    Sum,
    Variance,
    Width,
)
from .selection import Columns, Concat, Find, Gather, Picked
from .switches import When

ADD, SUBTRACT, MULTIPLY, DIVIDE = Add(), Subtract(), Multiply(), Divide()
EXP, SQRT, ACOS = Exp(), Sqrt(), Acos()
RELU, GELU, GELU_TANH, SILU = Relu(), Gelu(), GeluTanh(), Silu()
SIN, COS, TANH = Sin(), Cos(), Tanh()
MAXIMUM, SUM, MEAN, SQUARES = Maximum(), Sum(), Mean(), Squares()
VARIANCE, SAMPLE_VARIANCE = Variance(), SampleVariance()

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
    SILU,
    SIN,
    COS,
    TANH,
    AtMost(),
    MAXIMUM,
    SUM,
    MEAN,
    VARIANCE,
    SAMPLE_VARIANCE,
    SQUARES,
    Rank(),
    Width(),
    Gather(((0, 0),)),
    Columns(0, 1),
    Concat(),
    Best(),
    Mask(1, ("w",), True, ("<PAD>",)),
    Sinusoid(),
    Angle(1, 2, True),
    Distance(),
    When(),
    Find(True),
    Picked(),
    ColumnMean(),
    ColumnVariance(),
)
