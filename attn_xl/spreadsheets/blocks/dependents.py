"""Dependents of cells across all sheets: what an uncertain value affects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attn_xl.spreadsheets.addresses import parse_area
from attn_xl.spreadsheets.blocks.references import Filled, Lookup, rectangles_of, uses
from attn_xl.spreadsheets.blocks.templates import Coordinates, Forms, Template
from attn_xl.spreadsheets.formulas import WIDTH, FormulaBook, Ints, SheetCells


def made_from(
    book: FormulaBook, forms: Forms, lookup: Lookup, seeds: dict[str, list[int]]
) -> dict[str, set[int]]:
    """Cells and all cells that depend on them, by sheet."""
    touched = {name: set(seeds.get(name, ())) for name in book.sheets}
    if not any(touched.values()):
        return touched
    used = list(uses(book, forms))
    grown = True
    while grown:
        grown = False
        keys = {n: np.array(sorted(cells), dtype=np.int64) for n, cells in touched.items()}
        for sheet, places, template, values in used:
            hit = using(book, lookup, keys, (sheet, places, template, values))
            cells = set(sheet.keys[places[hit]].tolist()) - touched[sheet.name]
            touched[sheet.name] |= cells
            grown = grown or bool(cells)
    return touched


def using(
    book: FormulaBook,
    lookup: Lookup,
    keys: dict[str, Ints],
    used: tuple[SheetCells, Ints, Template, Coordinates],
) -> NDArray[np.bool_]:
    """Which cells of one template use one of the cells `keys`, by sheet."""
    sheet, places, template, values = used
    hit = np.zeros(len(places), dtype=np.bool_)
    for reference in template.references:
        target = lookup.sheet(reference.sheet, sheet)
        if target is not None and len(keys[target.name]):
            hit |= Filled.count(keys[target.name], rectangles_of(reference, values)) > 0
    for name in template.names:
        hit |= _names_one(book, sheet, name, keys)
    return hit


def _names_one(book: FormulaBook, sheet: SheetCells, name: str, keys: dict[str, Ints]) -> bool:
    """Whether a defined name means one of these cells."""
    text = book.names.get(f"{sheet.name}!{name}", book.names.get(name, ""))
    area = parse_area(text)
    if area is None:
        return False
    top, left, bottom, right = area[1]
    here = keys.get(area[0] or "", np.empty(0, dtype=np.int64))
    rows, columns = here // WIDTH, here % WIDTH + 1
    return bool(((rows >= top) & (rows <= bottom) & (columns >= left) & (columns <= right)).any())
