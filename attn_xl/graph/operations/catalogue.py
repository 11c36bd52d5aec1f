"""A shared instance of each operation without parameters."""

from __future__ import annotations

from .elementwise import (
    Acos,
    Add,
    Cos,
    Divide,
    Exp,
    Gelu,
    GeluTanh,
    Multiply,
    NegativeLog,
    NextDraw,
    Relu,
    Sigmoid,
    Silu,
    Sin,
    Sqrt,
    Subtract,
    Tanh,
)
from .reductions import (
    Maximum,
    Mean,
    SampleVariance,
    Squares,
    Sum,
    Variance,
)

ADD, SUBTRACT, MULTIPLY, DIVIDE = Add(), Subtract(), Multiply(), Divide()
EXP, NEGATIVE_LOG, SQRT, ACOS = Exp(), NegativeLog(), Sqrt(), Acos()
RELU, GELU, GELU_TANH, SILU = Relu(), Gelu(), GeluTanh(), Silu()
SIN, COS, TANH, SIGMOID = Sin(), Cos(), Tanh(), Sigmoid()
NEXT_DRAW = NextDraw()
MAXIMUM, SUM, MEAN, SQUARES = Maximum(), Sum(), Mean(), Squares()
VARIANCE, SAMPLE_VARIANCE = Variance(), SampleVariance()
