"""Sheets with the attention weights of all heads of a layer, as a grid of small heat maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, sqrt

from attn_xl.spreadsheets.addresses import (
    MAX_COLUMNS,
    MAX_SHEET_NAME,
    Place,
    address,
    quoted,
    sheet_name,
    unique,
)
from attn_xl.text import clean, shortened, text_width

from .layout import FIRST_COLUMN, FIRST_ROW, OVERVIEW, Layout, Sheet
from .page import Cell, Extras
from .placed import Block

NOTE = (
    "How much each word (row) looks at each word (column), in every head: the darker, the "
    "more. Click the name of a head to go to its formulas."
)
NAME = "Heads"
LONGEST_LABEL = 12
"""Characters of a word beside a map."""
LONGEST_HEADING = 7
"""Characters of a word above a column."""
GAP = 2


def with_head_maps(layout: Layout) -> Layout:
    """A layout with a sheet for each layer that has several heads, before the sheet with the first
    head."""
    maps: dict[str, list[Block]] = {}
    for sheet in layout.steps or layout.sheets:
        for block in sheet.blocks:
            part = block.node.part
            several = block.place.rows > 1  # not a single new word
            if block.node.role == "attention" and part.layer and part.head and several:
                prefix = f"{sheet.group}." if sheet.group else ""
                maps.setdefault(prefix + part.prefix, []).append(layout.blocks[block.node])
    taken = {OVERVIEW.casefold(), *(sheet.name.casefold() for sheet in layout.sheets)}
    sheets = [*layout.sheets]
    for prefix, blocks in maps.items():
        wide = max(block.place.columns for block in blocks)
        if len(blocks) < 2 or (wide + GAP) * ceil(sqrt(len(blocks))) >= MAX_COLUMNS:
            continue
        name = unique(sheet_name(f"{prefix}{NAME}"), taken, MAX_SHEET_NAME)
        taken.add(name.casefold())
        spoken = blocks[0].node.part.of_head(0).words
        title = f"{spoken}: the attention weights of {len(blocks)} heads"
        sheet = Sheet(name, NAME, "", title[0].upper() + title[1:], NOTE, (), _grid(blocks, layout))
        first = next(i for i, one in enumerate(sheets) if one.name == blocks[0].place.sheet)
        sheets.insert(first, sheet)
    return replace(layout, sheets=tuple(sheets))


def _grid(blocks: Sequence[Block], layout: Layout) -> Extras:
    tall = max(block.place.rows for block in blocks)
    wide = max(block.place.columns for block in blocks)
    longest = max(text_width(_short(word)) for block in blocks for word in block.node.rows)
    cells: list[Cell] = []
    scales: list[str] = []
    across = ceil(sqrt(len(blocks)))
    widths: dict[int, float] = {}
    for number, block in enumerate(blocks):
        down, along = divmod(number, across)
        row = FIRST_ROW + 1 + down * (tall + GAP + 1)
        column = FIRST_COLUMN + along * (wide + GAP)
        widths |= {column - 1: longest + 2.0, column + wide: 2.0}
        widths |= dict.fromkeys(range(column, column + wide), 7.0)
        cells += _map(block, row, column, layout)
        scales.append(Place("", row, column, block.place.rows, block.place.columns).range)
    return Extras(cells=tuple(cells), scales=tuple(scales), widths=widths)


def _map(block: Block, row: int, column: int, layout: Layout) -> Iterator[Cell]:
    """The cells of one map, whose first number is at `row` and `column`."""
    node, place = block.node, block.place
    yield Cell(
        row - 2,
        column - 1,
        f"head {node.part.head}: {node.name}",
        style="attn link",
        link=place.sheet,
        link_cell=address(place.row, place.column),
    )
    for j, word in enumerate(node.columns):
        yield Cell(row - 1, column + j, shortened(clean(word), LONGEST_HEADING), style="attn heading")
    values = layout.values(node).tolist()
    for i, (word, numbers) in enumerate(zip(node.rows, values)):
        yield Cell(row + i, column - 1, _short(word), style="attn label", align="right", indent=1)
        for j, number in enumerate(numbers):
            source = f"{quoted(place.sheet)}!{address(place.row + i, place.column + j)}"
            yield Cell(
                row + i,
                column + j,
                number,
                source,
                style="attn attention",
                number_format="0.00",
            )


def _short(word: str) -> str:
    return shortened(clean(word), LONGEST_LABEL)
