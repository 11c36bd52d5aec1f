"""A graph computed by PyTorch: each operation by a function of PyTorch's own, row by row where a
recurrence is, so that its gradients are those of autograd.

That the forward numbers are those of PyTorch's modules is shown in models/test_torch.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from attn_xl.graph.loops import Loop, loop_turns
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.node import Node, walk
from attn_xl.graph.operation import Reads, operation_of


def gelu(x: Any, how: str) -> Any:
    return torch.nn.functional.gelu(x, approximate=how)


def picked(operation: Any, *parts: Any) -> Any:
    return torch.stack([parts[which][row] for which, row in operation.picks])


def quarter_turn(operation: Any, x: Any) -> Any:
    if operation.neighbours:
        return torch.stack([-x[:, 1::2], x[:, ::2]], dim=2).reshape(x.shape)
    half = x.shape[1] // 2
    return torch.cat([-x[:, half:], x[:, :half]], dim=1)


def angles(operation: Any, base: Any) -> Any:
    exponents = torch.tensor(
        [2 * operation.pair(j)[0] / operation.width for j in range(operation.width)]
    )
    return torch.arange(operation.rows)[:, None] / base ** exponents.to(torch.float64)


IN_TORCH: dict[str, Callable[..., Any]] = {
    "Copy": lambda o, x: x.clone(),
    "Constant": lambda o: torch.tensor([[o.value]], dtype=torch.float64),
    "Add": lambda o, x, y: x + y,
    "Subtract": lambda o, x, y: x - y,
    "Multiply": lambda o, x, y: x * y,
    "Divide": lambda o, x, y: x / y,
    "Exp": lambda o, x: torch.exp(x),
    "Sqrt": lambda o, x: torch.sqrt(x),
    "Acos": lambda o, x: torch.acos(x.clamp(-1, 1)) * 180 / math.pi,
    "Relu": lambda o, x: torch.relu(x),
    "Gelu": lambda o, x: gelu(x, "none"),
    "GeluTanh": lambda o, x: gelu(x, "tanh"),
    "Silu": lambda o, x: torch.nn.functional.silu(x),
    "Sin": lambda o, x: torch.sin(x),
    "Cos": lambda o, x: torch.cos(x),
    "QuarterTurn": quarter_turn,
    "Angle": angles,
    "Product": lambda o, x, y: x @ y,
    "Transpose": lambda o, x: x.T,
    "Maximum": lambda o, x: x.max(dim=1, keepdim=True).values,
    "Sum": lambda o, x: x.sum(dim=1, keepdim=True),
    "Mean": lambda o, x: x.mean(dim=1, keepdim=True),
    "Variance": lambda o, x: x.var(dim=1, keepdim=True, correction=0),
    "SampleVariance": lambda o, x: x.var(dim=1, keepdim=True),
    "Squares": lambda o, x: (x * x).sum(dim=1, keepdim=True),
    "ColumnSum": lambda o, x: x.sum(dim=0, keepdim=True),
    "Columns": lambda o, x: x[:, o.start : o.stop],
    "Concat": lambda o, *parts: torch.cat(parts, dim=1),
    "Gather": picked,
    "Shift": picked,
    "Tanh": lambda o, x: torch.tanh(x),
    "Sigmoid": lambda o, x: torch.sigmoid(x),
    "ColumnMaximum": lambda o, x: x.max(dim=0, keepdim=True).values,
    "NegativeLog": lambda o, x, *shares: torch.log(shares[0]) + shares[1] if shares else -torch.log(x),
    "Dot": lambda o, x, y: (x * y).sum(dim=1, keepdim=True),
    "ColumnMean": lambda o, *parts: torch.cat(parts).mean(dim=0, keepdim=True),
    "Rank": lambda o, x: (1 + x.argsort(dim=1, descending=True, stable=True).argsort(dim=1)).double(),
    "AtMost": lambda o, x, most: (x <= most).double().requires_grad_(),
    "When": lambda o, on, x, y: x if on[0, 0] == 1 else y,
}


class Stacked:
    """The rows of a matrix of a loop, each with its gradient."""

    def __init__(self, rows: dict[int, Any]) -> None:
        self.rows = [rows[t] for t in sorted(rows)]

    @property
    def grad(self) -> Any:
        found = [torch.zeros_like(row) if row.grad is None else row.grad for row in self.rows]
        return torch.cat(found)


def loop_through_torch(loop: Loop, tensors: dict[Node, Any]) -> None:
    """The matrices of a loop, row by row."""
    n = len(loop.nodes[0].rows)
    rows: dict[Node, dict[int, Any]] = {node: {} for node in loop.nodes}
    for t in reversed(range(n)) if loop.reverse else range(n):
        for node in loop.nodes:
            operation = operation_of(node)
            pick = operation.row_of(t)
            if pick is not None:
                parent = node.parents[pick[0]]
                one = rows[parent][pick[1]] if parent in rows else tensors[parent][pick[1]][None]
                rows[node][t] = one.clone()
            else:
                operands = [
                    rows[parent][t]
                    if parent in rows
                    else tensors[parent][t : t + 1]
                    if operation.reads_of(i) in (Reads.number, Reads.row) and len(parent.rows) == n
                    else tensors[parent]
                    for i, parent in enumerate(node.parents)
                ]
                rows[node][t] = IN_TORCH[type(operation).__name__](operation, *operands)
            rows[node][t].retain_grad()
    for node in loop.nodes:
        tensors[node] = torch.cat([rows[node][t] for t in range(n)])
        tensors[node].stacked = Stacked(rows[node])


def through_torch(loss: Matrix, given: Mapping[Node, Any] | None = None) -> tuple[dict[Node, Any], Any]:
    """Every matrix that leads to the loss, computed by PyTorch, ready for its gradients; `given` has
    tensors in place of some matrices."""
    tensors: dict[Node, Any] = {**(given or {})}
    nodes = walk([loss])
    turns = loop_turns(nodes)
    for node in nodes:
        if node in tensors:
            continue
        if node in turns:
            loop = turns[node]
            if loop is not None:
                loop_through_torch(loop, tensors)
            continue
        kind = type(node.operation).__name__
        if node.operation is None or kind not in IN_TORCH:
            tensor = torch.tensor(node.values.copy(), requires_grad=True)
        else:
            tensor = IN_TORCH[kind](node.operation, *(tensors[parent] for parent in node.parents))
        if tensor.requires_grad:
            tensor.retain_grad()
        tensors[node] = tensor
    return tensors, tensors[loss]
