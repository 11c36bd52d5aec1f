"""Prints matrices as tables in a terminal, or as an SVG picture of one."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import accumulate
from typing import TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.style import Style
from rich.text import Text

from attn_xl.console import console as console_on
from attn_xl.graph.extent import HIDES
from attn_xl.graph.graph import Graph
from attn_xl.graph.matrix import Matrix
from attn_xl.models.computation import Computation, as_computation
from attn_xl.text import emit, forward

from .selection import SelectedMatrix, select

DOTS = "…"
SHADES = "·░▒▓█"
"""From the smallest weights to the largest; a weight of 0 is blank. They need no colour."""
_INK = Style.parse("rgb(0,150,136)")  # stands out from a white ground, and from a black one
FEWEST_LETTERS = 8
"""Characters to which longer labels are cut where that makes room for columns."""
MOST_WORDS = 100
"""Column labels listed above the legend."""
Ends = list[int | None]


def shaded(node: Matrix, rows: Ends, most_label: int, width: int) -> tuple[list[Text], int]:
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


def legend(node: Matrix, decimals: int) -> list[str]:
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


DECIMALS = 3
MOST_LABEL = 24
MOST_HEADING = 12
MOST_ROWS, CUT_TO = 60, 50
MOST_CELLS = 1_000_000
"""Numbers: larger matrices are cut even in a file or a pipe."""
SVG_WIDTH = 120

HEAT = ((247, 252, 250), (0, 96, 88))  # no attention, all attention

# Rich's own frame would load a font from the network. At this size the characters of DejaVu Sans Mono
# have the width that Rich expects. xml:space keeps leading spaces in every viewer.
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
    numbers: bool = False,
    file: TextIO | None = None,
    paged: bool = False,
) -> None:
    """Print matrices as tables: all, or those of some steps and one sheet.

    On a terminal, a table is cut to the first and last columns that fit and to 50 rows, with a line on
    what is left out. Attention weights that do not fit become a map of shades. Elsewhere, tables are
    complete unless they have more than a million numbers or COLUMNS sets a width, and the text is
    plain, as it is wherever NO_COLOR is set.

    Args:
        computation: the result of `attend`, a graph, or the matrix that a model returned.
        steps: names such as `Softmax`; sheet: a sentence.
        decimals: digits after the point.
        numbers: print part of the numbers, instead of a map, where attention weights do not fit.
        file: where to print; standard output if None.
        paged: what is longer than the terminal is shown page by page.

    Raises:
        CallError: for an unknown step or sheet.

    Example:
        >>> import attn_xl
        >>> attn_xl.show(attn_xl.attend({"cat": [1, 0], "sat": [0, 2]}), steps="Softmax")
        Softmax = softmax(Scaled)
        ...
               cat    sat
        cat  0.670  0.330
        sat  0.056  0.944
    """
    matrices = select(as_computation(computation), steps, sheet)
    file = file or sys.stdout
    console = console_on(file)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        for line in _lines(matrices, decimals):
            emit(forward(line), file)
        return

    def draw() -> None:
        _print(console, matrices, decimals, console.width, numbers, framed=console.is_terminal)

    pager = shlex.split(os.environ.get("PAGER") or "less")
    if paged and pager and shutil.which(pager[0]):
        with console.capture() as printed:
            draw()
        text = printed.get()
        if text.count("\n") >= console.height:
            subprocess.run(pager, input=text.encode(), env={"LESS": "-R", **os.environ}, check=False)
            return
    draw()


def svg(
    computation: Computation,
    *,
    steps: Sequence[str] = (),
    sheet: str | None = None,
    decimals: int = DECIMALS,
    numbers: bool = False,
) -> str:
    """The output of `show` as a self-contained SVG picture.

    Raises:
        CallError: for an unknown step or sheet.
    """
    matrices = select(computation, steps, sheet)
    width = min(SVG_WIDTH, _needed_width(matrices, decimals) + 2)
    console = recording(width)
    _print(console, matrices, decimals, width, numbers, framed=True)
    return picture(console)


def recording(width: int) -> Console:
    """A terminal, `width` characters wide, that records its output."""
    return console_on(
        StringIO(),
        record=True,
        width=width,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )


def picture(console: Console) -> str:
    """The output of a recording terminal as SVG."""
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME

    return forward(
        console.export_svg(
            theme=DEFAULT_TERMINAL_THEME, code_format=_SVG, unique_id="attn-xl", title=""
        )
    )


def _print(
    console: Console,
    matrices: Sequence[SelectedMatrix],
    decimals: int,
    width: int,
    numbers: bool,
    *,
    framed: bool,
) -> None:
    for number, one in enumerate(matrices):
        if number:
            console.print()
        console.print(Text(_formula(one), "bold"))
        if one.node.scalar:
            continue
        if one.node.note and not one.node.helper:
            console.print(Text(one.node.note, "dim"))
        if not numbers and one.node.role == "attention" and _is_cut(one, decimals, width):
            _print_map(console, one, decimals, width)
            continue
        rows, columns = _fitting(one, decimals, width)
        most = _label_width(one, width), max(MOST_HEADING, _number_width(one, decimals))
        for number, (label, cells) in enumerate(_table(one, rows, columns, decimals, most)):
            line, row = Text(label), rows[number - 1] if number else None
            for column, cell in zip(columns, cells):
                heated = one.node.role == "attention" and row is not None and column is not None
                line.append("  ")
                line.append(cell, _heat(float(one.node.values[row, column])) if heated else None)
            console.print(line, no_wrap=True, overflow="crop")
            if framed and not number:
                console.print("─" * line.cell_len, no_wrap=True, overflow="crop")
        if left_out := _left_out(one, rows, columns):
            console.print(Text(left_out, "italic"))


def _print_map(console: Console, one: SelectedMatrix, decimals: int, width: int) -> None:
    n, m = one.node.shape
    rows = ends(n, n if n <= MOST_ROWS else CUT_TO)
    lines, shown = shaded(one.node, rows, MOST_LABEL, width)
    for line in lines:
        console.print(line, no_wrap=True, overflow="crop")
    for text in legend(one.node, decimals):
        console.print(Text(text, "dim"))
    left_out = _left_out(one, rows, ends(m, shown))
    if left_out:
        console.print(Text(left_out, "italic"))


def _is_cut(one: SelectedMatrix, decimals: int, width: int) -> bool:
    """Whether the table is wider than the terminal."""
    return sum(_column_widths(one, decimals)) > width - _label_width(one, width)


def _formula(one: SelectedMatrix) -> str:
    node = one.node
    if node.scalar:
        words = f" = {node.words}" if node.words else ""
        return f"{one.title}{words} = {node.values[0, 0]:g}"
    return f"{one.title} = {node.words}" if node.words else one.title


def _fitting(one: SelectedMatrix, decimals: int, width: int) -> tuple[Ends, Ends]:
    """The rows and columns of a table that fit the terminal."""
    n, m = one.node.shape
    room = width - _label_width(one, width)
    widths, columns = _column_widths(one, decimals), ends(m, m)
    if sum(widths) > room:  # the dots need room, too
        columns = ends(m, max(1, _count_fitting(widths, room - 3)))
    return ends(n, n if n <= MOST_ROWS else CUT_TO), columns


def _left_out(one: SelectedMatrix, rows: Ends, columns: Ends) -> str:
    left_out = [
        f"{len(shown) - 1} of {there} {what}"
        for shown, there, what in zip((rows, columns), one.node.shape, ("rows", "columns"))
        if None in shown
    ]
    if not left_out:
        return ""
    many = one.node.values.size > MOST_CELLS
    options = "--csv or --json with --step" if many else "--csv, --json or convert"
    return f"Shown: {' and '.join(left_out)}. For all of them: {options}."


def _lines(matrices: Sequence[SelectedMatrix], decimals: int) -> Iterator[str]:
    """The matrices as plain text; only very large ones are cut. Rich would measure every cell, and a
    sentence of 250 words has 400,000."""
    for number, one in enumerate(matrices):
        node = one.node
        if number:
            yield "\n"
        yield f"{_formula(one)}\n"
        if node.scalar:
            continue
        if node.note and not node.helper:
            yield f"{node.note}\n"
        cut = node.values.size > MOST_CELLS
        rows, columns = (ends(count, CUT_TO if cut else count) for count in node.shape)
        for label, cells in _table(one, rows, columns, decimals):
            yield f"{'  '.join([label, *cells])}\n"
        if cut:
            yield f"{_left_out(one, rows, columns)}\n"


def _table(
    one: SelectedMatrix, rows: Ends, columns: Ends, decimals: int, most: tuple[int, int] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """The lines of a table, first the headings: the label of each, and its cells, each as wide as its
    column. Labels and headings have at most as many characters as `most` says."""
    node, form = one.node, _form(one.node, decimals)
    labels = ["", *(DOTS if row is None else node.rows[row] for row in rows)]
    headings = [DOTS if column is None else node.columns[column] for column in columns]
    if most is not None:
        labels, headings = (
            [text if cell_len(text) <= width else _cut(text, width) for text in texts]
            for texts, width in zip((labels, headings), most)
        )
    cells = [[DOTS] * len(columns) if row is None else _row(one, row, columns, form) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(headings, *cells)]
    left = max(map(cell_len, labels))
    for label, line in zip(labels, [headings, *cells]):
        padded = [f"{' ' * (width - cell_len(cell))}{cell}" for cell, width in zip(line, widths)]
        yield set_cell_size(label, left), padded


def _row(one: SelectedMatrix, row: int, columns: Ends, form: str) -> list[str]:
    if one.node.texts:
        return [one.node.texts[row]]
    values = one.node.values[row].tolist()
    return [DOTS if column is None else _number(one.node, values[column], form) for column in columns]


def _heat(value: float) -> Style:
    """The colours of an attention weight."""
    share = max(0.0, min(1.0, value))
    red, green, blue = (round(low + (high - low) * share) for low, high in zip(*HEAT))
    ink = "#000000" if share < 0.55 else "#ffffff"
    return Style.parse(f"{ink} on rgb({red},{green},{blue})")


def _form(node: Matrix, decimals: int) -> str:
    """The format of all its numbers, found once: this takes as long as formatting many of them."""
    return f".{decimals}{'e' if node.extent().needs_exponent(decimals) else 'f'}"


def _number(node: Matrix, value: float, form: str) -> str:
    return format(value, ".0e" if node.may_hide and value <= HIDES else form)


def _number_width(one: SelectedMatrix, decimals: int) -> int:
    if one.node.texts:
        return max(map(cell_len, one.node.texts))
    values, form = one.node.values, _form(one.node, decimals)
    return max(len(_number(one.node, float(end), form)) for end in (values.max(), values.min()))


def _column_widths(one: SelectedMatrix, decimals: int) -> list[int]:
    """The width of each column, with the space before it."""
    number = _number_width(one, decimals)
    return [2 + max(number, min(cell_len(heading), MOST_HEADING)) for heading in one.node.columns]


def _count_fitting(widths: list[int], room: int) -> int:
    """The number of columns that fit, taken from both ends in turn."""
    in_turn = [width for ends in zip(widths, reversed(widths)) for width in ends][: len(widths)]
    return sum(total <= room for total in accumulate(in_turn))


def _label_width(one: SelectedMatrix, width: int) -> int:
    return min(MOST_LABEL, max(6, width // 3), max(map(cell_len, one.node.rows)))


def _needed_width(matrices: Sequence[SelectedMatrix], decimals: int) -> int:
    """The width at which nothing is cut."""
    lines = [cell_len(line) for one in matrices for line in (_formula(one), one.node.note)]
    return max([_table_width(one, decimals) for one in matrices] + lines, default=0)


def _table_width(one: SelectedMatrix, decimals: int) -> int:
    labels = max(map(cell_len, one.node.rows))
    number = _number_width(one, decimals)
    return labels + sum(2 + max(number, cell_len(heading)) for heading in one.node.columns) + 2
