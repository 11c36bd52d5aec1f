"""What is in a cell of a block, and what the block's pattern would have there. Knows blocks, and what
is filled; not what is right or wrong."""

from __future__ import annotations

import numpy as np

from attn_xl.spreadsheets.formulas import WIDTH, Ints, SheetCells

from .blocks import FormulaBlock
from .references import Lookup, rectangles_of
from .templates import Coordinates, Forms


def values_at(forms: Forms, sheet: SheetCells, places: Ints) -> Coordinates:
    """The coordinates of cells of one template."""
    keys = sheet.keys[places]
    return forms.coordinates(sheet.formulas[places], keys // WIDTH, keys % WIDTH + 1)


def text_at(forms: Forms, sheet: SheetCells, place: int) -> str:
    """A cell's formula, as it reads there."""
    (values,) = values_at(forms, sheet, np.array([place]))
    return forms.written(int(sheet.formulas[place]), values)


def predicted(block: FormulaBlock, keys: Ints) -> list[Coordinates]:
    """The coordinates that a block's pattern has for cells."""
    return [block.predicted(key // WIDTH, key % WIDTH + 1) for key in keys.tolist()]


def formula_for(forms: Forms, block: FormulaBlock, key: int) -> str:
    """The formula that a block's pattern has for a cell."""
    nearest = int(block.places[np.argmin(np.abs(block.keys - key))])
    (values,) = predicted(block, np.array([key]))
    return forms.written(int(block.sheet.formulas[nearest]), values)


def cannot_compute(lookup: Lookup, block: FormulaBlock, key: int, typed: bool = False) -> bool:
    """Whether the block's formula could not compute a cell: it would use a blank one, or text where
    the cells of the block use none.

    Where a number is `typed`, a range among those of the block needs some number only: one of the
    marks may be missing.
    """
    values = block.predicted(key // WIDTH, key % WIDTH + 1).reshape(1, -1)
    ends = np.array(predicted(block, np.array([block.keys.min(), block.keys.max()])))
    for reference in block.template.references:
        target = lookup.sheet(reference.sheet, block.sheet)
        box, around = rectangles_of(reference, values), rectangles_of(reference, ends)
        area = int(((box[2] - box[0] + 1) * (box[3] - box[1] + 1))[0])
        if target is None or box[0] > box[2] or box[1] > box[3]:
            return True
        cells = lookup.filled(target)
        filled, texts = int(cells.filled(box)[0]), int(cells.texts(box)[0])
        among = all(low >= lows.min() for low, lows in zip(box[:2], around[:2])) and all(
            high <= highs.max() for high, highs in zip(box[2:], around[2:])
        )
        if typed and reference.cells == 2 and among:
            if filled == texts:
                return True
        elif filled < area or (texts and not cells.texts(around).any()):
            return True
    return False
