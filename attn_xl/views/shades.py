"""Attention weights as a map of shades, one or two characters per number, for tables that are wider
than the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text

from attn_xl.graph.node import Node

DOTS = "…"
SHADES = "·░▒▓█"
"""From the smallest weights to the largest; a weight of 0 is blank. They need no colour."""
_INK = Style.parse("rgb(0,150,136)")  # stands out from a white ground, and from a black one
FEWEST_LETTERS = 8
"""Characters to which longer labels are cut where that makes room for columns."""
MOST_WORDS = 100
"""Column labels listed above the legend."""
Ends = list[int | None]


def shaded(node: Node, rows: Ends, most_label: int, width: int) -> tuple[list[Text], int]:
    """The lines of a map, and the number of columns in it.

    A row is labelled by its number and word, a column by its number, with one digit per line.

    Args:
        node: (n, m), the weights.
        rows: the rows to show, None for dots.
        most_label: characters of a word, at most.
        width: of the terminal.
    """
    m = len(node.columns)
    digits = len(str(max(node.shape)))
    longest = min(most_label, max(map(cell_len, node.rows)))
    room = width - digits - 2
    label = max(min(longest, FEWEST_LETTERS), min(longest, room - m))
    size = 2 if 2 * m <= room - longest else 1
    label = longest if size == 2 else label
    many = max(1, (room - label) // size)
    columns = ends(m, many if many >= m else max(1, many - 1))  # the dots need room, too
    lines = [*_heading(columns, digits, digits + 2 + label, size, m)]
    largest = float(node.values.max())
    for row in rows:
        if row is None:
            lines.append(Text(DOTS))
            continue
        line = Text(f"{row + 1:{digits}} {_cut(node.rows[row], label)} ")
        values = node.values[row].tolist()
        cells = [DOTS if c is None else shade(values[c], largest) for c in columns]
        line.append("".join(cell * size if cell != DOTS else cell for cell in cells), _INK)
        lines.append(line)
    return lines, sum(column is not None for column in columns)


def shade(value: float, largest: float) -> str:
    """The shade of a weight: one for each quarter of the largest weight, and one below an eighth."""
    if value <= 0 or largest <= 0:
        return " "
    share = value / largest
    return SHADES[0] if share < 1 / 8 else SHADES[min(4, 1 + int(4 * share * (1 - 1e-12)))]


def legend(node: Node, decimals: int) -> list[str]:
    """The weights that the shades stand for, and the column labels where they differ from the rows'."""
    largest = float(node.values.max())
    bounds = (1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)
    shades = ", ".join(
        f"{letter} to {largest * bound:.{decimals}f}" for letter, bound in zip(SHADES, bounds)
    )
    lines = [f"Shades: {shades}; blank is 0. For numbers: --numbers, --csv or a wider terminal."]
    if node.columns != node.rows:
        words = ", ".join(f"{i} {word}" for i, word in enumerate(node.columns[:MOST_WORDS], 1))
        more = f", ... ({len(node.columns):,})" if len(node.columns) > MOST_WORDS else ""
        lines.insert(0, f"Columns: {words}{more}.")
    return lines


def ends(count: int, most: int) -> Ends:
    """The first and last of `count` indices, `most` in all, with None for those between."""
    if count <= most:
        return [*range(count)]
    first = (most + 1) // 2
    return [*range(first), None, *range(count - most + first, count)]


def _heading(columns: Sequence[int | None], digits: int, left: int, size: int, m: int) -> list[Text]:
    """The column numbers, one line per digit."""
    shown = len(str(m))
    lines = []
    for digit in range(shown):
        cells = [
            (DOTS if digit == shown - 1 else " ")
            if column is None
            else f"{column + 1:{shown}}"[digit].ljust(size)
            for column in columns
        ]
        lines.append(Text(" " * left + "".join(cells), "bold"))
    return lines


def _cut(label: str, width: int) -> str:
    if cell_len(label) <= width:
        return set_cell_size(label, width)
    return set_cell_size(label, width - 1) + DOTS
