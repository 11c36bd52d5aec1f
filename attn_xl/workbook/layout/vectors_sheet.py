"""The sheet `Vectors`: words as arrows from the origin, and the angle between two that are chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attn_xl.models import steps
from attn_xl.spreadsheets.addresses import Place, address, fixed
from attn_xl.text import clean, shortened

from .layout import FIRST_ROW, HEADER_ROW, Layout, Sheet
from .page import Block, Cell, Chart, Choice, Series, share_labels

MOST_ARROWS, LONGEST_NAME = 60, 30
"""Words that are drawn, and characters of their names."""
TITLE = "The words as arrows from the origin"
COLUMN = 7
"""Where the two words are chosen, to the right of the coordinates."""
ROWS_OF_TWO, ROWS_OF_ARROWS = 10, 24
"""Rows of the two words above the drawing, and of the drawing."""


def with_vectors(layout: Layout) -> Layout:
    """A layout with a drawing on each sheet `Vectors`; one without is returned unchanged."""
    return replace(layout, sheets=tuple(_drawn(sheet, layout) for sheet in layout.sheets))


def is_vectors(block: Block) -> bool:
    return block.node.is_step(steps.VECTORS)


def arrows_of(block: Block, layout: Layout, row: int, column: int) -> Chart:
    """The arrows of a matrix `Vectors`, (n, 4): from x, to x, from y, to y."""
    place, values = block.place, layout.values(block.node)
    series = [
        _arrow(word, replace(place, row=place.row + i, rows=1), values[i].tolist())
        for i, word in enumerate(block.node.rows[:MOST_ARROWS])
    ]
    shown = share_labels(series)
    reach = float(f"{1.2 * np.abs(values).max():.1g}")  # room for longer arrows
    return Chart("moves", TITLE, row, column, shown, width=13, height=13, legend=False, reach=reach)


def _arrow(word: str, there: Place, numbers: list[float]) -> Series:
    x, y = replace(there, columns=2), replace(there, column=there.column + 2, columns=2)
    return Series(shortened(clean(word), LONGEST_NAME), y, x, tuple(numbers[2:]), tuple(numbers[:2]))


def _drawn(sheet: Sheet, layout: Layout) -> Sheet:
    if not sheet.blocks or not is_vectors(sheet.main):
        return sheet
    block, group = sheet.main, sheet.group
    labels = fixed(replace(block.place, column=block.place.column - 1, columns=1).range)
    own = {b.node.base_name: b for s in layout.sheets if s.group == group for b in s.blocks}
    node, chosen = block.node, (0, min(1, len(block.node.rows) - 1))
    cells, choices, thick = [], [], []
    for k, i in enumerate(chosen):
        row, numbers = FIRST_ROW + k, layout.values(node)[i].tolist()
        word, at = (fixed(address(row, COLUMN + step)) for step in (1, 2))
        cells += [
            Cell(row, COLUMN, ("one word", "another word")[k]),
            Cell(row, COLUMN + 1, clean(node.rows[i]), style="attn input", open=True),
            Cell(row, COLUMN + 2, i + 1.0, f"MATCH({word},{labels},0)", "attn echo", number_format="0"),
        ]
        choices.append(Choice(word.replace("$", ""), f"={labels}"))
        for j, number in enumerate(numbers):
            formula = f"INDEX({block.name},{at},{j + 1})"
            look = Cell(
                row, COLUMN + 3 + j, number, formula, "attn echo", like=block.name, shows=(i, j)
            )
            cells.append(look)
        there = Place(sheet.name, row, COLUMN + 3, 1, 4)
        thick.append(replace(_arrow("", there, numbers), labelled=False))
    one, other = (fixed(address(FIRST_ROW + k, COLUMN + 2)) for k in (0, 1))
    (i, j), sizes = chosen, own[steps.MAGNITUDE.symbol]
    row = FIRST_ROW + 3
    for name, of, shows, index in (
        ("dot product", own[steps.DOT.symbol], (i, j), f"{one},{other}"),
        ("magnitude of the one", sizes, (i, 0), one),
        ("magnitude of the other", sizes, (j, 0), other),
        ("cosine", own[steps.COSINE.symbol], (i, j), f"{one},{other}"),
        ("angle in degrees", own[steps.ANGLE.symbol], (i, j), f"{one},{other}"),
    ):
        value, formula = float(layout.values(of.node)[shows]), f"INDEX({of.name},{index})"
        cells.append(Cell(row, COLUMN, name))
        cells.append(Cell(row, COLUMN + 1, value, formula, "attn value", like=of.name, shows=shows))
        row += 1
    chart = arrows_of(block, layout, HEADER_ROW + ROWS_OF_TWO, COLUMN)
    chart = replace(chart, series=(*chart.series, *thick))
    widths = {COLUMN: 22.0, COLUMN + 1: 14.0}
    extras = replace(sheet.extras, cells=tuple(cells), choices=tuple(choices), charts=(chart,),
                     widths={**sheet.extras.widths, **widths})  # fmt: skip
    return replace(sheet, extras=extras)
