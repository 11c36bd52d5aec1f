"""Attention as a graph: from a word, a ribbon to each word that it looks at, as thick as the weight."""

from __future__ import annotations

from dataclasses import replace

from attn_xl.spreadsheets.addresses import Place, address, fixed
from attn_xl.text import clean, shortened

from .layout import FIRST_COLUMN, Layout, Sheet
from .page import Block, Cell, Chart, Choice, Series

MOST_WORDS, LONGEST_NAME = 16, 30
"""Ribbons that are drawn, and characters of their names."""
BETWEEN, LEAST = 0.6, 0.08
"""The room between all ribbons, and the least between two, as shares of their thickness together."""
COLOUR = "8CC4BC"
LONGEST_LIST = 255
"""Characters of a list of choices that is not in cells."""
TITLE = "What the word looks at: ribbons as thick as the weights"


def can_be_drawn(block: Block) -> bool:
    """Whether attention weights, (n, m), are few enough."""
    return 1 < block.node.shape[1] <= MOST_WORDS and block.labelled


def with_ribbons(sheet: Sheet, block: Block, layout: Layout) -> Sheet:
    """The sheet of some attention weights with a drawing below them, for a word that is chosen or, if
    the cell is cleared, for the mean of all words."""
    place, values = block.place, layout.values(block.node)
    rows = tuple(map(clean, block.node.rows))
    named = len({row.casefold() for row in rows}) == len(rows)  # else one is chosen by number
    word = int((values != 0).sum(axis=1).argmax())  # the first one that looks at the most
    top, left = place.last_row + 3, place.column - 1
    labels = fixed(replace(place, column=left, columns=1).range)
    chosen, at = (fixed(address(top, left + step)) for step in (1, 2))
    match = f"MATCH({chosen},{labels},0)" if named else chosen
    cells = [
        Cell(top, left, "word" if named else "row", align="right", indent=1),
        Cell(top, left + 1, rows[word] if named else word + 1.0, style="attn input", open=True),
        Cell(top, left + 2, word + 1.0, f'IF({chosen}="","",{match})', "attn echo", number_format="0"),
    ]
    names = block.node.columns
    room = max(BETWEEN / (len(names) - 1), LEAST)
    ends: list[tuple[float, float]] = [(float(w), float(w)) for w in values[word]]
    ends += [(round(room * (len(names) - 1) / 2, 12), 0.0), (0.0, room)]
    series = []
    for row, (name, numbers) in enumerate(zip((*names, "below", "between"), ends), top + 1):
        cells.append(Cell(row, left, clean(name), style="attn label", align="right"))
        formulas = ["", ""]
        if row <= top + len(names):
            column = fixed(replace(place, column=place.column + row - top - 1, columns=1).range)
            weight = f'IF({at}="",AVERAGE({column}),INDEX({column},{at}))'
            formulas = [weight, address(row, left + 1)]
        cells += [
            Cell(row, left + 1 + step, number, formula, "attn echo", number_format="0.000")
            for step, (number, formula) in enumerate(zip(numbers, formulas))
        ]
        title = shortened(clean(name), LONGEST_NAME) if formulas[0] else ""
        there = Place(sheet.name, row, left + 1, 1, 2)
        series.append(Series(title, there, there, numbers, numbers))
    *ribbons, below, between = series
    drawn = [one for ribbon in reversed(ribbons) for one in (ribbon, between)][:-1]
    chart = Chart("ribbons", TITLE, top, FIRST_COLUMN, (below, *drawn), width=11,
                  height=max(7.5, 0.65 * len(names)),
                  legend=False, colours=(COLOUR,))  # fmt: skip
    prompt = "Choose one, or clear the cell for the mean of all words."
    counted = ",".join(str(number) for number in range(1, len(rows) + 1))
    options = f"={labels}" if named else f'"{counted}"' if len(counted) <= LONGEST_LIST else ""
    choice = Choice(chosen.replace("$", ""), options, title="Look from", prompt=prompt)
    extras = sheet.extras
    extras = replace(
        extras,
        cells=(*extras.cells, *cells),
        choices=(*extras.choices, choice),
        charts=(*extras.charts, chart),
    )
    return replace(sheet, extras=extras)
