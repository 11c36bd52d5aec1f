"""Every operation: a shared instance of each without parameters, and `PRIMITIVES`, one of each."""

from __future__ import annotations

from attn_xl.graph.loops import Loop
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
    GeluSlope,
    GeluTanh,
    Multiply,
    NegativeLog,
    NextDraw,
    Positive,
    Power,
    Relu,
    Round,
    Sigmoid,
    Silu,
    Sin,
    Sqrt,
    Subtract,
    Tanh,
)
from .masks import Mask
from .positions import Angle, Count, Distance, QuarterTurn, Sinusoid
from .products import Dot, Product, Transpose
from .reductions import (
    Best,
    BlockNorms,
    ColumnMaximum,
    ColumnMean,
    ColumnSum,
    ColumnVariance,
    Largest,
    Maximum,
    Mean,
    Rank,
    RunningSum,
    SampleVariance,
    Squares,
    Sum,
    Variance,
    Width,
)
from .selection import (
    AddedRows,
    Chosen,
    Columns,
    Concat,
    Find,
    Gather,
    Here,
    OneHot,
    Picked,
    Placed,
    Previous,
    Repeated,
    Shift,
)
from .switches import When

ADD, SUBTRACT, MULTIPLY, DIVIDE = Add(), Subtract(), Multiply(), Divide()
EXP, NEGATIVE_LOG, SQRT, ACOS = Exp(), NegativeLog(), Sqrt(), Acos()
RELU, GELU, GELU_TANH, SILU = Relu(), Gelu(), GeluTanh(), Silu()
SIN, COS, TANH, SIGMOID = Sin(), Cos(), Tanh(), Sigmoid()
NEXT_DRAW = NextDraw()
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
    NEGATIVE_LOG,
    Power(2),
    SQRT,
    ACOS,
    Round(),
    RELU,
    GELU,
    GELU_TANH,
    SILU,
    SIN,
    COS,
    NEXT_DRAW,
    AtMost(),
    Positive(),
    GeluSlope(),
    TANH,
    SIGMOID,
    MAXIMUM,
    Largest(),
    SUM,
    MEAN,
    VARIANCE,
    SAMPLE_VARIANCE,
    SQUARES,
    Rank(),
    RunningSum(),
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
    BlockNorms(1),
    Mask(1, ("w",), True, ("<PAD>",)),
    Sinusoid(),
    Angle(1, 2, True),
    QuarterTurn(True),
    Distance(),
    Count(1, 1),
    When(),
    OneHot(("w",)),
    Chosen(1, (1, 1)),
    Find(True),
    Picked(),
    ColumnMaximum(),
    Here(1),
    ColumnSum(),
    ColumnMean(),
    ColumnVariance(),
)
