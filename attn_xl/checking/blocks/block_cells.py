"""The cells within a block: what they hold, what the block's pattern predicts for them, and which
of them do not belong to it."""

from __future__ import annotations

import numpy as np

from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.blocks.blocks import FormulaBlock, Mask
from attn_xl.spreadsheets.blocks.references import Lookup, keys_within, rectangles_of
from attn_xl.spreadsheets.blocks.templates import Coordinates, Forms
from attn_xl.spreadsheets.formulas import WIDTH, Ints, SheetCells
from attn_xl.spreadsheets.ranges import shortened_spans, spans


def values_at(forms: Forms, sheet: SheetCells, places: Ints) -> Coordinates:
    """The coordinates of cells of one template."""
    keys = sheet.keys[places]
    return forms.coordinates(sheet.formulas[places], keys // WIDTH, keys % WIDTH + 1)


def text_at(forms: Forms, sheet: SheetCells, place: int) -> str:
    """The formula of a cell."""
    (values,) = values_at(forms, sheet, np.array([place]))
    return forms.written(int(sheet.formulas[place]), values)


def predicted(block: FormulaBlock, keys: Ints) -> list[Coordinates]:
    """The coordinates that a block's pattern predicts for cells."""
    return [block.predicted(key // WIDTH, key % WIDTH + 1) for key in keys.tolist()]


def fitting(forms: Forms, block: FormulaBlock, places: Ints) -> Mask:
    """Which cells have the formula that a block has there."""
    formulas = block.sheet.formulas[places]
    own = forms.template[block.sheet.formulas[block.places[0]]]
    fits = (formulas >= 0) & (forms.template[formulas] == own)
    if fits.any():
        values = values_at(forms, block.sheet, places[fits])
        fits[fits] = (values == np.array(predicted(block, block.sheet.keys[places[fits]]))).all(axis=1)
    return np.asarray(fits)


def formula_for(forms: Forms, block: FormulaBlock, key: int) -> str:
    """The formula that a block's pattern predicts for a cell."""
    nearest = int(block.places[np.argmin(np.abs(block.keys - key))])
    (values,) = predicted(block, np.array([key]))
    return forms.written(int(block.sheet.formulas[nearest]), values)


def copies(forms: Forms, block: FormulaBlock) -> bool:
    """Whether copying a cell of a block gives its other formulas: their `$` say how they move."""
    moves = forms.moves(int(block.sheet.formulas[block.places[0]]))
    said = np.array([[move == 1, move == 2] for move in moves], dtype=np.float64).reshape(-1, 2)
    sides = [axis for axis in (0, 1) if block.extents[axis] > 1]
    return bool((said[:, sides] == block.slopes[:, sides]).all())


def unlike(forms: Forms, block: FormulaBlock, group: Ints, kind: str, what: str) -> Finding:
    """The finding about cells that should have a block's formula."""
    formula, others = formula_for(forms, block, int(group[0])), ""
    if len(group) > 1:
        again = " and copy it to" if copies(forms, block) else ", and the like in"
        others = f" in {spans(group[:1])}{again} the others"
    what = f"{what} {shortened_spans(block.spans)}; their formula here is ={formula}"
    return Finding(block.sheet.name, spans(group), kind, what, f"Enter ={formula}{others}.")


def cannot_compute(lookup: Lookup, block: FormulaBlock, key: int, typed: bool = False) -> bool:
    """Whether the block's formula cannot compute a cell because it would use a blank cell, or text
    where the rest of the block uses none.

    If the cell holds a `typed` number, a range within those of the block needs only one number, since
    others may be missing.
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
        lows, highs = np.min(around[:2], axis=1), np.max(around[2:], axis=1)
        among = (np.ravel(box[:2]) >= lows).all() and (np.ravel(box[2:]) <= highs).all()
        if typed and reference.cells == 2 and among:
            if filled == texts:
                return True
        elif filled < area or (texts and not cells.texts(around).any()):
            return True
    return False


# Other cells among those of a block


def other_cells(block: FormulaBlock) -> Ints:
    """The places of filled cells in a block's rectangle that do not have its template."""
    sheet, area = block.sheet, block.extents[0] * block.extents[1]
    if not len(block.places) < area <= 2 * len(block.places):
        return np.empty(0, dtype=np.int64)
    inside = sheet.find(keys_within(*block.box))
    known = np.concatenate([block.places, block.odd, [-1]])
    return np.asarray(inside[~np.isin(inside, known) & (sheet.spilled[inside] < 0)])


def has_its_line(block: FormulaBlock, group: Ints) -> bool:
    """Whether a group fills lines of its own; in a block of one line, whether it has several cells."""
    if block.flat:
        return len(group) > 1
    rows, columns = group // WIDTH, group % WIDTH
    return not (np.isin(rows, block.keys // WIDTH).all() and np.isin(columns, block.keys % WIDTH).all())


def are_in_its_lines(block: FormulaBlock, keys: Ints) -> Mask:
    """Whether each cell stands in a line of the block, if lines of another kind alternate with them."""
    out = np.zeros(len(keys), dtype=np.bool_)
    for own, others, extent in (
        (block.keys // WIDTH, keys // WIDTH, block.extents[0]),
        (block.keys % WIDTH, keys % WIDTH, block.extents[1]),
    ):
        lines = np.unique(own)
        if len(lines) < extent:
            out |= np.isin(others, lines)
    return out


def is_diagonal(sheet: SheetCells, places: Ints) -> bool:
    """Whether equal numbers form a diagonal, as in a table of distances."""
    keys, numbers = sheet.keys[places], sheet.numbers[places]
    return len(places) > 1 and bool(
        (np.diff(keys) == WIDTH + 1).all() and (numbers == numbers[0]).all()
    )
