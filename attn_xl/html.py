"""A matrix as a table: HTML for notebooks, text for the Python prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_xl.text import plain

MAX_SHOWN = 60
"""Rows and columns shown in a notebook; more make it slow."""
MAX_ROWS, ENDS = 20, 5
"""Rows shown as text; of a longer matrix, rows shown at each end."""
MAX_LABEL_WIDTH = 24
HUGE = 1e7


def html_table(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: NDArray[np.float64],
) -> str:
    """A matrix as an HTML table, for notebooks."""
    from html import escape  # needed only in a notebook

    def cell(value: float) -> str:
        return f"<td>{value:.3f}</td>"

    def line(label: str, cells: Iterable[str]) -> str:
        return f"<tr><th>{escape(label)}</th>{''.join(cells)}{dots}</tr>"

    n, m = len(rows), len(columns)
    dots = "<td>…</td>" if m > MAX_SHOWN else ""
    head = line("", (f"<th>{escape(column)}</th>" for column in columns[:MAX_SHOWN]))
    body = [
        line(row, map(cell, numbers)) for row, numbers in zip(rows[:MAX_SHOWN], values[:, :MAX_SHOWN])
    ]
    left_out = (
        f"<p>{n} × {m}; shown: {min(n, MAX_SHOWN)} × {min(m, MAX_SHOWN)}</p>"
        if max(n, m) > MAX_SHOWN
        else ""
    )
    return f"<table><caption>{escape(title)}</caption>{head}{''.join(body)}</table>{left_out}"


def text_table(
    rows: Sequence[str], columns: Sequence[str], cells: NDArray[Any], *, width: int = 80
) -> str:
    """Labelled numbers or texts as lines of text, as in pandas. Of many rows it shows the first and
    last; of many columns, as many from both ends as fit the width."""
    from rich.cells import cell_len, set_cell_size  # takes 10 ms

    def cut(label: str) -> str:
        label = plain(label)
        return (
            label
            if cell_len(label) <= MAX_LABEL_WIDTH
            else set_cell_size(label, MAX_LABEL_WIDTH - 1) + "…"
        )

    def right(text: str, size: int) -> str:
        return " " * (size - cell_len(text)) + text

    n, m = len(rows), len(columns)
    down = [*range(n)] if n <= MAX_ROWS else [*range(ENDS), *range(n - ENDS, n)]
    # More columns never fit: each takes at least 3 characters.
    across = [*range(m)] if m <= width else [*range(width // 2), *range(m - width // 2, m)]
    shown = cells[np.ix_(down, across)]
    form = _form(shown) if shown.dtype.kind == "f" else str
    texts = {column: [form(value) for value in shown[:, i]] for i, column in enumerate(across)}
    heads = {column: cut(columns[column]) for column in across}
    sizes = {
        column: max(map(cell_len, (heads[column], *texts[column])), default=1) for column in across
    }
    labels = [cut(rows[row]) for row in down]
    first = max(map(cell_len, labels), default=0)
    room = width - first
    kept = across
    if len(across) < m or sum(2 + size for size in sizes.values()) > room:
        room -= 2 + len("...")
        order = [c for pair in zip(across, reversed(across)) for c in pair]
        fitting: list[int] = []
        for column in dict.fromkeys(order):
            room -= 2 + sizes[column]
            if room < 0 and fitting:
                break
            fitting.append(column)
        kept = sorted(fitting)

    def line(label: str, cells: dict[int, str]) -> str:
        text = label + " " * (first - cell_len(label))
        for before, column in zip((-1, *kept), kept):
            text += (
                ("  ..." if column > before + 1 else "") + "  " + right(cells[column], sizes[column])
            )
        return text + ("  ..." if kept and kept[-1] < m - 1 else "")

    lines = [line("", heads)] if any(heads.values()) else []
    for i, label in enumerate(labels):
        if n > MAX_ROWS and i == ENDS:
            lines.append("...")
        lines.append(line(label, {column: texts[column][i] for column in kept}))
    return "\n".join(lines)


def _form(values: NDArray[np.float64]) -> Callable[[float], str]:
    """A function that formats all values alike: integers without decimals, tiny and huge values with an
    exponent."""
    usual = np.abs(values[np.abs(values) < HUGE])
    whole = not (usual % 1).any()
    form = ".0f" if whole else ".3f" if usual.max() >= 0.005 else ".2e"
    return lambda value: format(value, form if abs(value) < HUGE else ".4g")
