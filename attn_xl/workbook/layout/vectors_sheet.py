"""Words as arrows from the origin, and the angle between two that are chosen: on the sheet `Vectors`,
and beside the input of attention."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from attn_xl.graph.matrix import Numbers
from attn_xl.models import steps
from attn_xl.models.similarity import ARROWS, DIGITS, principal_components
from attn_xl.spreadsheets.addresses import Place, address, fixed
from attn_xl.text import clean, shortened

from .layout import FIRST_ROW, HEADER_ROW, Layout, Sheet
from .page import Block, Cell, Chart, Choice, Series, share_labels

MOST_ARROWS, MOST_BESIDE, LONGEST_NAME = 60, 16, 30
"""Words that are drawn, those that are beside an input, and characters of their names."""
TINY = 1e-100
TITLE = "The words as arrows from the origin"
COLUMN = 7
"""Where the two words are chosen, to the right of the coordinates."""
ROWS_OF_TWO, ROWS_OF_ARROWS = 10, 24
"""Rows of the two words above the drawing, and of the drawing."""


Measure = tuple[str, str, float | str, tuple[str, tuple[int, int]]]
"""What is shown of two words: its name, its formula with the places of the words as `{one}` and
`{other}`, its number, and the matrix and the cell that have it; "" for no matrix."""


def with_vectors(layout: Layout) -> Layout:
    """A layout with a drawing on each sheet `Vectors` or, without one, on that of each input of few
    words."""
    own = any(is_vectors(sheet.main) for sheet in layout.sheets if sheet.blocks)
    return replace(layout, sheets=tuple(_drawn(sheet, layout, own) for sheet in layout.sheets))


def is_vectors(block: Block) -> bool:
    return block.node.is_step(steps.VECTORS)


def arrows_of(block: Block, layout: Layout, row: int, column: int) -> Chart:
    """The arrows of a matrix `Vectors`, (n, 4): from x, to x, from y, to y."""
    return _chart(block.node.rows, block.place, layout.values(block.node), row, column)


def _chart(words: Sequence[str], place: Place, values: Numbers, row: int, column: int) -> Chart:
    series = [
        _arrow(word, replace(place, row=place.row + i, rows=1), values[i].tolist())
        for i, word in enumerate(words[:MOST_ARROWS])
    ]
    shown = share_labels(series)
    longest = 1.1 * float(np.abs(values).max()) or 1.0  # room for longer arrows
    step = 10.0 ** math.floor(math.log10(longest))
    reach = float(f"{step * math.ceil(longest / step):.1g}")
    return Chart("moves", TITLE, row, column, shown, width=13, height=13, legend=False, reach=reach)


def _arrow(word: str, there: Place, numbers: list[float]) -> Series:
    x, y = replace(there, columns=2), replace(there, column=there.column + 2, columns=2)
    return Series(shortened(clean(word), LONGEST_NAME), y, x, tuple(numbers[2:]), tuple(numbers[:2]))


def _drawn(sheet: Sheet, layout: Layout, vectors: bool) -> Sheet:
    if not sheet.blocks or sheet.extras.canvas:
        return sheet
    block, group = sheet.main, sheet.group
    alone = not (vectors or sheet.shared) and len(sheet.blocks) == 1
    if alone and block.node.is_step(steps.INPUT) and _can_be_drawn(block, layout.values(block.node)):
        return _beside_input(sheet, layout)
    if not is_vectors(block):
        return sheet
    own = {b.node.base_name: b for s in layout.sheets if s.group == group for b in s.blocks}
    dot, size, cosine, angle = (
        own[step.symbol] for step in (steps.DOT, steps.MAGNITUDE, steps.COSINE, steps.ANGLE)
    )
    i, j = 0, min(1, len(block.node.rows) - 1)
    measures = [
        (name, f"INDEX({of.name},{index})", float(layout.values(of.node)[shows]), (of.name, shows))
        for name, of, shows, index in (
            ("dot product", dot, (i, j), "{one},{other}"),
            ("magnitude of the one", size, (i, 0), "{one}"),
            ("magnitude of the other", size, (j, 0), "{other}"),
            ("cosine", cosine, (i, j), "{one},{other}"),
            ("angle in degrees", angle, (i, j), "{one},{other}"),
        )
    ]
    values = layout.values(block.node)
    return _with_two(sheet, block.node.rows, block.place, values, (i, j), measures, block.name)


def _can_be_drawn(block: Block, values: Numbers) -> bool:
    n, d = values.shape
    several = len({clean(word).casefold() for word in block.node.rows}) > 1
    squared = TINY < np.abs(values).max() < 1 / TINY  # sums of squares are numbers above 0
    return bool(d > 1 and n <= MOST_BESIDE and several and block.labelled and block.headed and squared)


def _beside_input(sheet: Sheet, layout: Layout) -> Sheet:
    """The sheet of an input, (n, d), with its words in the plane: as they are, or projected on the two
    directions in which they are longest, which are fixed numbers."""
    block = sheet.main
    place, values = block.place, layout.values(block.node)
    top, left, given = place.last_row + 3, place.column, fixed(place.range)
    cells: list[Cell] = []
    axes = np.eye(2)
    if len(block.node.columns) > 2:
        axes = np.round(principal_components(values, 2, centred=False), DIGITS)
        for row, (name, axis) in enumerate(zip(("1st axis", "2nd axis"), axes.tolist()), top):
            cells.append(Cell(row, left - 1, name, style="attn label", align="right"))
            cells += [
                Cell(row, column, number, style="attn echo", number_format="0.000")
                for column, number in enumerate(axis, left)
            ]
        top += 3
    there = Place(sheet.name, top + 1, left, len(values), 4)
    cells += [Cell(top, column, name, style="attn heading") for column, name in enumerate(ARROWS, left)]
    arrows = np.zeros((len(values), 4))
    arrows[:, 1::2] = values @ axes.T
    for i, (word, numbers) in enumerate(zip(block.node.rows, arrows.tolist())):
        own = f"{address(place.row + i, left)}:{address(place.row + i, place.last_column)}"
        lines = [fixed(replace(place, row=place.last_row + 3 + k, rows=1).range) for k in (0, 1)]
        cells.append(Cell(there.row + i, left - 1, clean(word), style="attn label", align="right"))
        for k, number in enumerate(numbers):
            formula = ""
            if k % 2:
                formula = address(place.row + i, left + k // 2)
                if len(block.node.columns) > 2:
                    formula = f"SUMPRODUCT({own},{lines[k // 2]})"
            cells.append(
                Cell(there.row + i, left + k, number, formula, "attn echo", number_format=_form(arrows))
            )
    words = [clean(word).casefold() for word in block.node.rows]
    i, j = 0, next(n for n, word in enumerate(words) if word != words[0])
    a, b = values[i], values[j]
    sizes = float(np.sqrt(a @ a)), float(np.sqrt(b @ b))
    lengths = sizes[0] * sizes[1]
    cosine = float(a @ b) / lengths if lengths else None
    angle = None if cosine is None else float(np.degrees(np.arccos(round(cosine, 14))))
    of = {"{one}": f"INDEX({given},{{one}},0)", "{other}": f"INDEX({given},{{other}},0)"}
    size = {name: f"SQRT(SUMSQ({cells_of}))" for name, cells_of in of.items()}
    product = f"SUMPRODUCT({of['{one}']},{of['{other}']})"
    both = f"({size['{one}']}*{size['{other}']})"
    quotient = f'IF({both}=0,"",{product}/{both})'
    measures: list[Measure] = [
        ("dot product", product, float(a @ b), ("", (0, 0))),
        ("magnitude of the one", size["{one}"], sizes[0], ("", (0, 0))),
        ("magnitude of the other", size["{other}"], sizes[1], ("", (0, 0))),
        ("cosine", quotient, "" if cosine is None else cosine, ("", (0, 0))),
        ("angle in degrees", f'IF({both}=0,"",ACOS(ROUND({product}/{both},14))*180/PI())',
         "" if angle is None else angle, ("", (0, 0))),
    ]  # fmt: skip
    widths = sheet.extras.widths | dict.fromkeys(range(place.last_column + 1, left + 4), 9.0)
    extras = replace(sheet.extras, cells=(*sheet.extras.cells, *cells), widths=widths)
    column = max(COLUMN, place.last_column + 2)
    sheet, names = replace(sheet, extras=extras), block.node.rows
    return _with_two(sheet, names, there, arrows, (i, j), measures, "", labels=place, column=column)


def _form(values: Numbers) -> str:
    """The number format with which coordinates fit their columns."""
    largest = np.abs(values).max()
    return "0.000" if largest < 100 else "0.0" if largest < 10_000 else "0.0E+00"


def _with_two(
    sheet: Sheet,
    words: Sequence[str],
    arrows: Place,
    values: Numbers,
    chosen: tuple[int, int],
    measures: Sequence[Measure],
    like: str,
    labels: Place | None = None,
    column: int = COLUMN,
) -> Sheet:
    """A sheet with arrows, (n, 4), drawn, two words to choose, and what is shown of the two."""
    labelled = fixed(replace(labels or arrows, column=(labels or arrows).column - 1, columns=1).range)
    cells, choices, thick, fields = [*sheet.extras.cells], [*sheet.extras.choices], [], []
    form = "" if like else "0.000"
    for k, i in enumerate(chosen):
        row, numbers = FIRST_ROW + k, values[i].tolist()
        word, at = (fixed(address(row, column + step)) for step in (1, 2))
        fields.append(at)
        cells += [
            Cell(row, column, ("one word", "another word")[k]),
            Cell(row, column + 1, clean(words[i]), style="attn input", open=True),
            Cell(
                row, column + 2, i + 1.0, f"MATCH({word},{labelled},0)", "attn echo", number_format="0"
            ),
        ]
        choices.append(Choice(word.replace("$", ""), f"={labelled}"))
        for j, number in enumerate(numbers):
            formula = f"INDEX({like or fixed(arrows.range)},{at},{j + 1})"
            own = {"like": like, "shows": (i, j)} if like else {"number_format": _form(values)}
            cells.append(Cell(row, column + 3 + j, number, formula, "attn echo", **own))
        there = Place(sheet.name, row, column + 3, 1, 4)
        thick.append(replace(_arrow("", there, numbers), labelled=False))
    for row, (name, formula, value, (of, shows)) in enumerate(measures, FIRST_ROW + 3):
        formula = formula.replace("{one}", fields[0]).replace("{other}", fields[1])
        cells.append(Cell(row, column, name))
        cells.append(Cell(row, column + 1, value, formula, "attn value", number_format=form, like=of,
                          shows=shows))  # fmt: skip
    chart = _chart(words, arrows, values, HEADER_ROW + ROWS_OF_TWO, column)
    chart = replace(chart, series=(*chart.series, *thick))
    widths = {**sheet.extras.widths, column: 22.0, column + 1: 14.0}
    extras = replace(sheet.extras, cells=tuple(cells), choices=tuple(choices),
                     charts=(*sheet.extras.charts, chart), widths=widths)  # fmt: skip
    return replace(sheet, extras=extras)
