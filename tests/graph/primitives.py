"""One of every operation."""

from __future__ import annotations

from attn_xl.graph.loops import Loop
from attn_xl.graph.matrix import Operation
from attn_xl.graph.operations.elementwise import (
    ADD,
    DIVIDE,
    MULTIPLY,
    NEGATIVE_LOG,
    NEXT_DRAW,
    SUBTRACT,
    AtMost,
    Constant,
    Copy,
    Function,
    Power,
    angle,
    cos,
    exp,
    gelu,
    gelu_slope,
    gelu_tanh,
    positive,
    relu,
    rounded,
    sigmoid,
    silu,
    sin,
    sqrt,
    tanh,
)
from attn_xl.graph.operations.positions import Angle, Count, Distance, Mask, QuarterTurn, Sinusoid, When
from attn_xl.graph.operations.products import Additive, Apart, Dot, Product, Transpose
from attn_xl.graph.operations.reductions import (
    Best,
    BlockNorms,
    Largest,
    Maximum,
    Mean,
    Reduction,
    RunningSum,
    Squares,
    Sum,
    Variance,
    Width,
)
from attn_xl.graph.operations.selection import (
    AddedRows,
    Chosen,
    Columns,
    Concat,
    Gather,
    OneHot,
    Placed,
    Previous,
    Repeated,
    Shift,
)

NAMED: dict[str, Operation] = {
    "Copy": Copy(),
    "Transpose": Transpose(),
    "Product": Product(),
    "Dot": Dot(),
    "Additive": Additive(),
    "Apart": Apart(),
    "Add": ADD,
    "Subtract": SUBTRACT,
    "Multiply": MULTIPLY,
    "Divide": DIVIDE,
    "Constant": Constant(1.0),
    "Exp": exp,
    "NegativeLog": NEGATIVE_LOG,
    "Power": Power(2),
    "Sqrt": sqrt,
    "Acos": angle,
    "Round": rounded,
    "Relu": relu,
    "Gelu": gelu,
    "GeluTanh": gelu_tanh,
    "Silu": silu,
    "Sin": sin,
    "Cos": cos,
    "NextDraw": NEXT_DRAW,
    "AtMost": AtMost(),
    "Positive": positive,
    "GeluSlope": gelu_slope,
    "Tanh": tanh,
    "Sigmoid": sigmoid,
    "Maximum": Maximum(),
    "Largest": Largest(),
    "Sum": Sum(),
    "Mean": Mean(),
    "Variance": Variance(),
    "SampleVariance": Variance(sample=True),
    "Squares": Squares(),
    "RunningSum": RunningSum(),
    "Width": Width(),
    "Gather": Gather(((0, 0),)),
    "Shift": Shift.by(-1, 1),
    "Previous": Previous(((1, 0),), -1, "Hidden", Loop()),
    "AddedRows": AddedRows(((0,),)),
    "Columns": Columns(0, 1),
    "Placed": Placed((0,), 1),
    "Repeated": Repeated(1, 1),
    "Concat": Concat(),
    "Best": Best(),
    "BlockNorms": BlockNorms(1),
    "Mask": Mask(1, ("w",), True, ("<PAD>",)),
    "Sinusoid": Sinusoid(),
    "Angle": Angle(1, 2, True),
    "QuarterTurn": QuarterTurn(True),
    "Distance": Distance(),
    "Count": Count(1, 1),
    "When": When(),
    "OneHot": OneHot(("w",)),
    "Chosen": Chosen(1, (1, 1)),
    "ColumnMaximum": Maximum(columns=True),
    "ColumnSum": Sum(columns=True),
    "ColumnMean": Mean(columns=True),
    "ColumnVariance": Variance(columns=True, sample=True),
}
"""By the names of their cases in the tests."""
PRIMITIVES = tuple(NAMED.values())


def called(operation: object) -> str:
    """The name of an operation's case."""
    if type(operation) is Function or isinstance(operation, Reduction):
        return next((name for name, one in NAMED.items() if _alike(one, operation)), "")
    return type(operation).__name__


def _alike(a: object, b: object) -> bool:
    return type(a) is type(b) and vars(a) == vars(b)
