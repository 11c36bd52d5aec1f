"""Every operation: a shared instance of each without parameters, and `PRIMITIVES`, one of each."""

from __future__ import annotations

from attn_xl.graph.operation import Loop, Operation

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
    Relu,
    Sigmoid,
    Sqrt,
    Subtract,
    Tanh,
)
from .masks import Mask
from .positions import Sinusoid
from .products import Product, Transpose
from .reductions import (
    Best,
    ColumnMaximum,
    ColumnMean,
    ColumnVariance,
    Maximum,
    Mean,
    SampleVariance,
    Squares,
    Sum,
    Variance,
    Width,
)
from .selection import Columns, Concat, Find, Gather, Picked, Previous, Shift
from .switches import When

ADD, SUBTRACT, MULTIPLY, DIVIDE = Add(), Subtract(), Multiply(), Divide()
EXP, SQRT, ACOS = Exp(), Sqrt(), Acos()
RELU, GELU, GELU_TANH = Relu(), Gelu(), GeluTanh()
TANH, SIGMOID = Tanh(), Sigmoid()
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
    TANH,
    SIGMOID,
    MAXIMUM,
    SUM,
    MEAN,
    VARIANCE,
    SAMPLE_VARIANCE,
    SQUARES,
    Width(),
    Gather(((0, 0),)),
    Shift.by(-1, 1),
    Previous(((1, 0),), -1, "Hidden", Loop()),
    Columns(0, 1),
    Concat(),
    Best(),
    Mask(1, ("w",), True, ("<PAD>",)),
    Sinusoid(),
    When(),
    Find(True),
    Picked(),
    ColumnMaximum(),
    ColumnMean(),
    ColumnVariance(),
)
