"""Every operation: a shared instance of each without parameters, and `PRIMITIVES`, one of each."""

from __future__ import annotations

from attn_xl.graph.loops import Loop
from attn_xl.graph.operation import Operation

from .elementwise import (
    Acos,
    Add,
    Constant,
    Copy,
    Divide,
    Exp,
    Gelu,
    GeluSlope,
    GeluTanh,
    Multiply,
    Positive,
    Relu,
    Sigmoid,
    Sqrt,
    Subtract,
    Tanh,
)
from .masks import Mask
from .positions import Sinusoid
from .products import Dot, Product, Transpose
from .reductions import (
    Best,
    ColumnMaximum,
    ColumnMean,
    ColumnSum,
    ColumnVariance,
    Largest,
    Maximum,
    Mean,
    SampleVariance,
    Squares,
    Sum,
    Variance,
    Width,
)
from .selection import (
    AddedRows,
    Columns,
    Concat,
    Find,
    Gather,
    Here,
    Picked,
    Placed,
    Previous,
    Repeated,
    Shift,
)
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
    Dot(),
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
    Positive(),
    GeluSlope(),
    Tanh(),
    SIGMOID,
    MAXIMUM,
    Largest(),
    SUM,
    MEAN,
    VARIANCE,
    SAMPLE_VARIANCE,
    SQUARES,
    Width(),
    Gather(((0, 0),)),
    Shift.by(-1, 1),
    Previous(((1, 0),), -1, "Hidden", Loop()),
    AddedRows(((0,),)),
    Columns(0, 1),
    Placed((0,), 1),
    Repeated(1, 1),
    Concat(),
    Best(),
    Mask(1, ("w",), True, ("<PAD>",)),
    Sinusoid(),
    When(),
    Find(True),
    Picked(),
    ColumnMaximum(),
    Here(1),
    ColumnSum(),
    ColumnMean(),
    ColumnVariance(),
)
