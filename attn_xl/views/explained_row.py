"""A row of a product, explained as a sum of rows: `0.747·V[mouse] + 0.013·V[and] + ...`."""

from __future__ import annotations

from attn_xl.errors import CallError
from attn_xl.graph.operation import cells_of, operation_of
from attn_xl.models.computation import Computation

from .cell_names import CellNames
from .explanation import figure, layout_of


def explained_row(
    computation: Computation, row: str, sheet: str | None, *, decimals: int
) -> list[str] | None:
    """The lines that explain a row of a matrix product, `Output[mouse]`: its numbers, and the rows that
    they are the sum of; None if the text names no row of a product.

    Source: Vaswani et al., "Attention Is All You Need" (2017), equation 1: the output is a weighted sum
    of the values.
    """
    layout = layout_of(computation)
    names = CellNames(computation, layout, sheet)
    text = row.strip()
    try:
        found = names.find(f"{text.removesuffix(']')}, 1]")[0] if text.endswith("]") else None
    except CallError:
        return None
    if found is None or found.node.operation is None or not operation_of(found.node).is_product:
        return None
    node, left = found.node, found.node.parents[0]
    there = cells_of(node.parents[1])
    if there is None or there.turned:
        return None
    right, block = there.node, layout.blocks[node]
    weights = left.values[min(found.row, left.shape[0] - 1)]
    numbers = node.values[found.row]
    label = node.rows[found.row]
    terms = (f"{figure(w, decimals)}·{right.name}[{name}]" for w, name in zip(weights, right.rows))
    shown = (f"{name} {figure(value, decimals)}" for name, value in zip(node.columns, numbers))
    return [f"{block.name}[{label}]: {', '.join(shown)}", f"  {node.note}", f"  = {' + '.join(terms)}"]
