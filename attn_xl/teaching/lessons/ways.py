"""The way a step was made, told from its operation and how operations fit into each other. Knows no
name of a model and no words for people.
"""

from __future__ import annotations

from attn_xl.graph.node import Node, referred_to
from attn_xl.graph.operation import operation_of
from attn_xl.graph.operations.catalogue import (
    ACOS,
    ADD,
    DIVIDE,
    EXP,
    GELU,
    GELU_TANH,
    MAXIMUM,
    MEAN,
    MULTIPLY,
    RELU,
    SQRT,
    SQUARES,
    SUBTRACT,
    SUM,
    VARIANCE,
)
from attn_xl.graph.operations.elementwise import Copy
from attn_xl.graph.operations.masks import Mask
from attn_xl.graph.operations.positions import Sinusoid
from attn_xl.graph.operations.products import Product, Transpose
from attn_xl.graph.operations.reductions import Best, Width
from attn_xl.graph.operations.selection import Columns, Concat, Gather

_APPLY = {
    RELU: "relu", GELU: "gelu", GELU_TANH: "gelu-tanh", ACOS: "angle", MAXIMUM: "largest",
    SUM: "add up", MEAN: "mean", VARIANCE: "variance", SQUARES: "squares",
}  # fmt: skip
_MADE = {
    Copy: "copy", Width: "width", Gather: "gather", Columns: "columns", Concat: "side by side",
    Best: "best", Sinusoid: "waves",
}  # fmt: skip


def way_of(node: Node) -> str:
    """Which of the `RECIPES` a matrix was made in; "arithmetic" if it is none of the others."""
    if node.operation is None:
        return "given"
    operation = operation_of(node)
    if isinstance(operation, Mask):
        kinds = ["later words"] * operation.causal + ["padding"] * bool(operation.padding)
        return " and ".join(kinds) or "arithmetic"
    if isinstance(operation, Product):
        return _product(node)
    simple = _APPLY.get(operation) or _MADE.get(type(operation))
    return simple or _composed(node)


def _product(node: Node) -> str:
    left, right = node.parents
    if not right.name and isinstance(right.operation, Transpose):
        same = list(referred_to(right)) == [left]
        return "match among themselves" if same else "match"
    if not (left.name and right.name):
        return "arithmetic"
    return "mix" if left.role == "attention" or left.symbol == "Dropped" else "project"


def _composed(node: Node) -> str:
    """A step that is written with several operations, told from how they fit into each other."""
    used = list(referred_to(node))
    outer, inner = node.operation, [parent.operation for parent in node.parents if not parent.name]
    count = len(used)
    if outer is ADD:
        if count == 3 and isinstance(inner[0] if inner else None, Product):
            return "project and add"
        if any(one.symbol.endswith("Mask") for one in used[1:]):
            return "hide"
        if count == 6 and node.description.startswith("norm("):
            return "norm"
        return "add" if count == 2 and not inner else "arithmetic"
    if outer is DIVIDE:
        if inner == [SQRT] and count == 2:
            return "scale"
        if inner == [DIVIDE] and count == 3:
            return "scale and temper" if way_of(node.parents[0]) == "scale" else "arithmetic"
        if inner == [MULTIPLY] and count == 3:
            return "cosine" if used[1] is used[2] else "arithmetic"
        if not inner and count == 2:
            return "share" if used[1].operation is SUM else "temper" if used[1].scalar else "arithmetic"
        return "drop" if inner[:1] == [MULTIPLY] and count == 3 else "arithmetic"
    if outer is EXP and inner == [SUBTRACT] and count == 2:
        return "exponential"
    if outer is SQRT and inner == [SQUARES]:
        return "magnitude"
    if outer is SUBTRACT and inner and all(isinstance(one, Gather) for one in inner):
        return "difference"
    return "arithmetic"
