"""Matrices as tables in a terminal, or as the picture of one. Computes nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import StringIO
from typing import TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from .models import Computation
from .selection import Chosen, select

DECIMALS = 3
MOST_LABEL = 24
MOST_HEADING = 14
MOST_ROWS = 60
SVG_WIDTH = 120

HEAT = ((247, 252, 250), (0, 96, 88))  # no attention, all attention

# Rich's own frame would load a font from the network.
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
 font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
<rect fill="#ffffff" x="0" y="0" width="{width}" height="{height}" />
<g transform="translate({terminal_x}, 8)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def show(
    computation: Computation,
    *,
    steps: Sequence[str] = (),
    sheet: str | None = None,
    decimals: int = DECIMALS,
    file: TextIO | None = None,
) -> None:
    """Print matrices as tables: all, or those of some steps and one sheet.

    On a terminal a table is cut to its width, with a word on what is left out; elsewhere, and with
    NO_COLOR set, the text is plain, and it is whole unless COLUMNS says how wide it may be.

    Args:
        steps: names such as `Softmax`; sheet: a sentence.
        decimals: digits after the point.
        file: where to print; standard output if None.

    Raises:
        CallError: for a step or a sheet that there is not.
    """
    chosen = select(computation, steps, sheet)
    plain = bool(os.environ.get("NO_COLOR"))
    console = Console(file=file or sys.stdout, highlight=False, color_system=None if plain else "auto")
    on_terminal = console.is_terminal
    bounded = on_terminal or "COLUMNS" in os.environ
    _print(console, chosen, decimals, console.width if bounded else None, on_terminal)


def svg(
    computation: Computation,
    *,
    steps: Sequence[str] = (),
    sheet: str | None = None,
    decimals: int = DECIMALS,
) -> str:
    """What `show` prints, as an SVG picture without links to anything outside it.

    Raises:
        CallError: for a step or a sheet that there is not.
    """
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME

    chosen = select(computation, steps, sheet)
    needed = max((_table_width(c, decimals) for c in chosen), default=0)
    lines = max((cell_len(line) for c in chosen for line in (_formula(c), c.node.note)), default=0)
    width = min(SVG_WIDTH, max(needed, lines) + 2)
    console = Console(
        file=StringIO(),
        record=True,
        width=width,
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        legacy_windows=False,
    )
    _print(console, chosen, decimals, width, True)
    return console.export_svg(
        theme=DEFAULT_TERMINAL_THEME, code_format=_SVG, unique_id="attn-xl", title=""
    )


def _print(
    console: Console, chosen: Sequence[Chosen], decimals: int, width: int | None, framed: bool
) -> None:
    for number, one in enumerate(chosen):
        if number:
            console.print()
        console.print(Text(_formula(one), "bold"), soft_wrap=True)
        if one.node.is_scalar:
            continue
        if one.node.note:
            console.print(Text(one.node.note, "dim"), soft_wrap=width is None)
        table, left_out = _table(one, decimals, width, framed)
        console.print(table, width=width or _table_width(one, decimals), crop=False)
        if left_out:
            console.print(Text(left_out, "italic"), soft_wrap=width is None)


def _formula(one: Chosen) -> str:
    node = one.node
    if node.is_scalar:
        return f"{one.title} = {node.words} = {node.values[0, 0]:g}"
    return f"{one.title} = {node.words}" if node.words else one.title


def _table(one: Chosen, decimals: int, width: int | None, framed: bool) -> tuple[Table, str]:
    """The table, and what to say of the part that was left out."""
    node = one.node
    n, m = node.shape
    columns, rows = m, n
    if width is not None:
        column_width = _column_width(one, decimals)
        columns = min(m, max(1, (width - _label_width(one)) // column_width))
        if columns < m:  # one column's room is for the dots
            columns = max(1, min(columns, (width - _label_width(one) - 3) // column_width))
        rows = n if n <= MOST_ROWS else MOST_ROWS - 10
    table = Table(
        box=box.SIMPLE_HEAD if framed else None,
        show_edge=False,
        pad_edge=False,
        padding=(0, 0, 0, 2),
        header_style="",
    )
    table.add_column("", no_wrap=True, overflow="ellipsis", max_width=MOST_LABEL)
    for heading in node.columns[:columns]:
        table.add_column(
            Text(heading),
            justify="right",
            no_wrap=True,
            overflow="ellipsis",
            max_width=_cell_width(one, decimals),
        )
    if columns < m:
        table.add_column("…")
    for label, values in zip(node.rows[:rows], node.values[:rows, :columns]):
        cells = [_cell(one, float(value), decimals) for value in values]
        table.add_row(Text(label), *cells, *(["…"] if columns < m else []))
    left_out = [
        f"{shown} of {there} {what}"
        for shown, there, what in ((rows, n, "rows"), (columns, m, "columns"))
        if shown < there
    ]
    if not left_out:
        return table, ""
    return table, f"Shown: {' and '.join(left_out)}. All of them: --csv, --json or convert."


def _cell(one: Chosen, value: float, decimals: int) -> Text:
    text = _number(value, decimals)
    if one.node.role != "attention":
        return Text(text)
    share = max(0.0, min(1.0, value))
    red, green, blue = (round(low + (high - low) * share) for low, high in zip(*HEAT))
    ink = "black" if share < 0.55 else "white"
    return Text(text, Style.parse(f"{ink} on rgb({red},{green},{blue})"))


def _number(value: float, decimals: int) -> str:
    if value and not 10.0**-decimals / 2 <= abs(value) < 1e9:
        return f"{value:.{decimals}e}"
    return f"{value:.{decimals}f}"


def _cell_width(one: Chosen, decimals: int) -> int:
    values = one.node.values
    ends = (float(values.max()), float(values.min()), float(abs(values).min()))
    numbers = max(len(_number(value, decimals)) for value in ends)
    headings = max(map(cell_len, one.node.columns))
    return max(numbers, min(headings, MOST_HEADING))


def _column_width(one: Chosen, decimals: int) -> int:
    return _cell_width(one, decimals) + 2


def _label_width(one: Chosen) -> int:
    return min(MOST_LABEL, max(map(cell_len, one.node.rows)))


def _table_width(one: Chosen, decimals: int) -> int:
    return _label_width(one) + len(one.node.columns) * _column_width(one, decimals) + 2
