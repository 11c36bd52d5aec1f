"""A matrix as an HTML table, for notebooks. Reads a node's numbers, labels and words, no more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .matrix import Node


def html_table(node: Node, name: str = "", most: int = 60) -> str:
    """A matrix as an HTML table, for notebooks; at most `most` rows and columns."""
    from html import escape  # loaded only where there is a notebook

    def row(tag: str, cells: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"

    rows, columns = node.rows[:most], node.columns[:most]
    more = [""] if len(node.columns) > most else []
    dots = ["…"] if more else []
    body = [
        f"<tr><th>{escape(label)}</th>"
        + "".join(_html_cell(node, value) for value in values)
        + "".join(f"<td>{d}</td>" for d in dots)
        + "</tr>"
        for label, values in zip(rows, node.values[:most, :most])
    ]
    made = f" = {node.words}" if node.words else ""
    left_out = (
        f"<p>{len(node.rows)} × {len(node.columns)}; shown: the first {len(rows)} × {len(columns)}</p>"
        if (len(rows), len(columns)) != node.shape
        else ""
    )
    return (
        f"<table><caption>{escape(name or node.name)}{escape(made)}</caption>"
        + row("th", ["", *columns, *dots])
        + "".join(body)
        + f"</table>{left_out}"
    )


def _html_cell(node: Node, value: float) -> str:
    shade = ""
    if node.role == "attention":
        shade = f' style="background: rgba(0, 114, 178, {0.6 * max(0.0, min(1.0, value)):.2f})"'
    return f"<td{shade}>{value:.3f}</td>"
