"""Matrices as tables in a terminal, or as the picture of one. Computes nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import StringIO
from itertools import accumulate
from typing import TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from .arithmetic import Matrix
from .computation import Computation, as_computation
from .matrix import HIDES, Graph, Node
from .saying import forward
from .selection import Chosen, select

DECIMALS = 3
MOST_LABEL = 24
MOST_HEADING = 12
MOST_ROWS = 60
SVG_WIDTH = 120

HEAT = ((247, 252, 250), (0, 96, 88))  # no attention, all attention

# Rich's own frame would load a font from the network. At this size the letters of DejaVu Sans Mono are
# as wide as Rich counts on. Spaces at the front of a text are kept in every viewer by xml:space.
_SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
 font-size: 20.26px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
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
<g class="{unique_id}-matrix" xml:space="preserve">
{matrix}
</g>
</g>
</svg>
"""


def show(
    computation: Computation | Graph | Matrix,
    *,
    steps: Sequence[str] | str = (),
    sheet: str | None = None,
    decimals: int = DECIMALS,
    file: TextIO | None = None,
) -> None:
    """Print matrices as tables: all, or those of some steps and one sheet.

    On a terminal a table is cut to its width, with a word on what is left out; elsewhere, and with
    NO_COLOR set, the text is plain, and it is whole unless COLUMNS says how wide it may be.

    Args:
        computation: what `attend` made, or a graph, or the matrix that a model returned.
        steps: names such as `Softmax`; sheet: a sentence.
        decimals: digits after the point.
        file: where to print; standard output if None.

    Raises:
        CallError: for a step or a sheet that there is not.
    """
    chosen = select(as_computation(computation), steps, sheet)
    plain = bool(os.environ.get("NO_COLOR"))
    file = file or sys.stdout
    console = Console(file=file, highlight=False, color_system=None if plain else "auto")
    width: int | None = console.width
    if not console.is_terminal and "COLUMNS" not in os.environ:
        width = None
        console.width = _needed_width(chosen, decimals)
    with console.capture() as text:
        _print(console, chosen, decimals, width, framed=console.is_terminal)
    file.write(forward(text.get()))


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
    chosen = select(computation, steps, sheet)
    width = min(SVG_WIDTH, _needed_width(chosen, decimals) + 2)
    console = recording(width)
    _print(console, chosen, decimals, width, framed=True)
    return picture(console)


def recording(width: int) -> Console:
    """A terminal, so many letters wide, that keeps what is printed on it."""
    return Console(
        file=StringIO(),
        record=True,
        width=width,
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        legacy_windows=False,
    )


def picture(console: Console) -> str:
    """What was printed on a recording terminal, as SVG."""
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME

    return forward(
        console.export_svg(
            theme=DEFAULT_TERMINAL_THEME, code_format=_SVG, unique_id="attn-xl", title=""
        )
    )


def _print(
    console: Console, chosen: Sequence[Chosen], decimals: int, width: int | None, *, framed: bool
) -> None:
    for number, one in enumerate(chosen):
        if number:
            console.print()
        console.print(Text(_formula(one), "bold"))
        if one.node.scalar:
            continue
        if one.node.note and not one.node.helper:
            console.print(Text(one.node.note, "dim"))
        table, left_out = _table(one, decimals, width, framed)
        console.print(table)
        if left_out:
            console.print(Text(left_out, "italic"))


def _formula(one: Chosen) -> str:
    node = one.node
    if node.scalar:
        return f"{one.title} = {node.words} = {node.values[0, 0]:g}"
    return f"{one.title} = {node.words}" if node.words else one.title


def _table(one: Chosen, decimals: int, width: int | None, framed: bool) -> tuple[Table, str]:
    """The table, and what to say of the part that was left out."""
    node = one.node
    n, m = node.shape
    columns, rows = m, n
    if width is not None:
        room = width - _label_width(one, width)
        columns = _how_many(_column_widths(one, decimals), room)
        if columns < m:  # the dots need room, too
            columns = _how_many(_column_widths(one, decimals), room - 3)
        columns = max(1, columns)
        rows = n if n <= MOST_ROWS else MOST_ROWS - 10
    table = Table(
        box=box.SIMPLE_HEAD if framed else None,
        show_edge=False,
        pad_edge=False,
        padding=(0, 0, 0, 1 if framed else 2),  # the frame brings a space of its own
        header_style="",
    )
    most_label = _label_width(one, width) if width is not None else None
    most_cell = max(MOST_HEADING, _number_width(one, decimals)) if width is not None else None
    table.add_column("", no_wrap=True, overflow="ellipsis", max_width=most_label)
    for heading in node.columns[:columns]:
        table.add_column(
            Text(heading),
            justify="right",
            no_wrap=True,
            overflow="ellipsis",
            max_width=most_cell,
        )
    if columns < m:
        table.add_column("…")
    for row, (label, values) in enumerate(zip(node.rows[:rows], node.values[:rows, :columns])):
        if node.texts:
            cells = [Text(node.texts[row])]
        else:
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
    text = _number(one.node, value, decimals)
    if one.node.role != "attention":
        return Text(text)
    share = max(0.0, min(1.0, value))
    red, green, blue = (round(low + (high - low) * share) for low, high in zip(*HEAT))
    ink = "#000000" if share < 0.55 else "#ffffff"
    return Text(text, Style.parse(f"{ink} on rgb({red},{green},{blue})"))


def _number(node: Node, value: float, decimals: int) -> str:
    if node.may_hide and value <= HIDES:
        return f"{value:.0e}"
    return f"{value:.{decimals}{'e' if node.needs_exponent(decimals) else 'f'}}"


def _number_width(one: Chosen, decimals: int) -> int:
    if one.node.texts:
        return max(map(cell_len, one.node.texts))
    values = one.node.values
    return max(len(_number(one.node, float(end), decimals)) for end in (values.max(), values.min()))


def _column_widths(one: Chosen, decimals: int) -> list[int]:
    """Each column's, with the space before it."""
    number = _number_width(one, decimals)
    return [2 + max(number, min(cell_len(heading), MOST_HEADING)) for heading in one.node.columns]


def _how_many(widths: list[int], room: int) -> int:
    return sum(total <= room for total in accumulate(widths))


def _label_width(one: Chosen, width: int) -> int:
    return min(MOST_LABEL, max(6, width // 3), max(map(cell_len, one.node.rows)))


def _needed_width(chosen: Sequence[Chosen], decimals: int) -> int:
    """The width in which nothing is cut."""
    lines = [cell_len(line) for one in chosen for line in (_formula(one), one.node.note)]
    return max([_table_width(one, decimals) for one in chosen] + lines, default=0)


def _table_width(one: Chosen, decimals: int) -> int:
    labels = max(map(cell_len, one.node.rows))
    number = _number_width(one, decimals)
    return labels + sum(2 + max(number, cell_len(heading)) for heading in one.node.columns) + 2
