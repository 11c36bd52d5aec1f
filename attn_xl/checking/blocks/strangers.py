"""What stands in the rectangle of a block and is not of it. Knows blocks, and not what is right or
wrong."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attn_xl.spreadsheets.formulas import WIDTH, Ints, SheetCells

from .blocks import FormulaBlock, Mask


def groups(keys: Ints) -> list[Ints]:
    """Cells that touch, together."""
    left, groups = set(keys.tolist()), []
    for key in keys.tolist():
        if key not in left:
            continue
        left.remove(key)
        group, waiting = [], [key]
        while waiting:
            cell = waiting.pop()
            group.append(cell)
            for other in beside(cell):
                if other in left:
                    left.remove(other)
                    waiting.append(other)
        groups.append(np.array(sorted(group)))
    return groups


def beside(key: int) -> Iterable[int]:
    return key - 1, key + 1, key - WIDTH, key + WIDTH


def strangers(block: FormulaBlock) -> Ints:
    """The places of filled cells in a block's rectangle that are not of its template."""
    top, left, bottom, right = block.box
    area = block.extents[0] * block.extents[1]
    if area > 2 * len(block.places) or area == len(block.places):
        return np.empty(0, dtype=np.int64)
    starts = np.arange(top, bottom + 1) * WIDTH + left - 1
    sheet = block.sheet
    lows = np.searchsorted(sheet.keys, starts)
    highs = np.searchsorted(sheet.keys, starts + right - left + 1)
    if int((highs - lows).sum()) == len(block.places):
        return np.empty(0, dtype=np.int64)
    inside = np.concatenate([np.arange(low, high) for low, high in zip(lows, highs)])
    known = np.concatenate([block.places, block.odd])
    inside = inside[~np.isin(inside, known)]
    return np.asarray(inside[sheet.spilled[inside] < 0])


def has_its_line(block: FormulaBlock, group: Ints) -> bool:
    """Whether a group has a line of the block for itself; in a block that is one, several cells."""
    if block.flat:
        return len(group) > 1
    rows, columns = group // WIDTH, group % WIDTH
    return not (np.isin(rows, block.keys // WIDTH).all() and np.isin(columns, block.keys % WIDTH).all())


def are_in_its_lines(block: FormulaBlock, keys: Ints) -> Mask:
    """Where lines of another kind stand between those of a block, by turns: whether cells stand in the
    block's own."""
    out = np.zeros(len(keys), dtype=np.bool_)
    for own, others, extent in (
        (block.keys // WIDTH, keys // WIDTH, block.extents[0]),
        (block.keys % WIDTH, keys % WIDTH, block.extents[1]),
    ):
        lines = np.unique(own)
        if len(lines) < extent:
            out |= np.isin(others, lines)
    return out


def is_diagonal(block: FormulaBlock, sheet: SheetCells, places: Ints) -> bool:
    """Whether numbers are all the same, on a diagonal of a rectangle, from edge to edge of it: how far
    each is from itself."""
    if len(places) < 2 or (sheet.numbers[places] != sheet.numbers[places[0]]).any():
        return False
    rows, columns = sheet.keys[places] // WIDTH, sheet.keys[places] % WIDTH + 1
    top, left, bottom, right = block.box
    return bool(
        (np.diff(rows) == 1).all()
        and (np.diff(columns) == 1).all()
        and (rows[0] == top or columns[0] == left)
        and (rows[-1] == bottom or columns[-1] == right)
    )
