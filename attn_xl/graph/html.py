"""A matrix as an HTML table, for notebooks. Knows numbers and labels, no more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

MOST = 60
"""So many rows and columns are shown."""


def html_table(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: NDArray[np.float64],
    *,
    shaded: bool = False,
) -> str:
    """A matrix as an HTML table; with `shaded`, the numbers from 0 to 1 are a heat map."""
    from html import escape  # loaded only where there is a notebook

    def cell(value: float) -> str:
        strength = 0.6 * max(0.0, min(1.0, value))
        shade = f' style="background: rgba(0, 114, 178, {strength:.2f})"' if shaded else ""
        return f"<td{shade}>{value:.3f}</td>"

    def line(label: str, cells: Iterable[str]) -> str:
        return f"<tr><th>{escape(label)}</th>{''.join(cells)}{dots}</tr>"

    n, m = len(rows), len(columns)
    dots = "<td>…</td>" if m > MOST else ""
    head = line("", (f"<th>{escape(column)}</th>" for column in columns[:MOST]))
    body = [line(row, map(cell, numbers)) for row, numbers in zip(rows[:MOST], values[:, :MOST])]
    left_out = f"<p>{n} × {m}; shown: {min(n, MOST)} × {min(m, MOST)}</p>" if max(n, m) > MOST else ""
    return f"<table><caption>{escape(title)}</caption>{head}{''.join(body)}</table>{left_out}"
