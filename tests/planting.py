"""Slips planted into workbooks, in memory or as files, for the tests of `check`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import xlsxwriter

from attn_xl.checking.blocks.blocks import FormulaBlock, blocks
from attn_xl.checking.blocks.references import ADDING, CAREFUL, Lookup, rectangles_of, uses
from attn_xl.checking.blocks.templates import Forms
from attn_xl.checking.check import look_over
from attn_xl.checking.findings import Finding
from attn_xl.checking.slips.odd_cells import text_at
from attn_xl.spreadsheets.formulas import NUMBER, TEXT, WIDTH, Formula, FormulaBook, SheetCells


def looked_over(book: FormulaBook) -> list[Finding]:
    """What is found without recalculating."""
    return look_over(book, Forms(book.formulas), Lookup(book))[0]


def copy(book: FormulaBook) -> FormulaBook:
    """A copy whose cells can be changed."""
    sheets = {
        name: replace(s, kinds=s.kinds.copy(), numbers=s.numbers.copy(), formulas=s.formulas.copy())
        for name, s in book.sheets.items()
    }
    return replace(book, sheets=sheets, formulas=list(book.formulas))


def put(book: FormulaBook, sheet: str, key: int, formula: str) -> None:
    """Write a formula into a cell that has one; its value stays."""
    cells = book.sheets[sheet]
    place = int(cells.find(np.array([key]))[0])
    book.formulas.append(Formula(formula, key // WIDTH, key % WIDTH + 1))
    cells.formulas[place] = len(book.formulas) - 1


def clear(book: FormulaBook, sheet: str, key: int) -> None:
    """Make a cell blank."""
    cells = book.sheets[sheet]
    keep = cells.keys != key
    book.sheets[sheet] = SheetCells(
        cells.name,
        cells.keys[keep],
        cells.kinds[keep],
        cells.numbers[keep],
        {},
        cells.formulas[keep],
        cells.spilled[keep],
    )


class Places:
    """Where slips of a kind can be seen: the blocks of a book that are large enough."""

    def __init__(self, book: FormulaBook, chance: random.Random) -> None:
        self.book, self.chance = book, chance
        self.forms, self.lookup = Forms(book.formulas), Lookup(book)
        self.blocks = [b for s in book.sheets.values() for b in blocks(s, self.forms)]

    def large(self, fits: Callable[[FormulaBlock], bool] = lambda block: True) -> list[FormulaBlock]:
        """Blocks of four cells or more in a line, six or more in a rectangle, without holes."""
        return [
            b
            for b in self.blocks
            if len(b.places) >= (4 if b.flat else 6)
            and len(b.places) >= b.extents[0] * b.extents[1]
            and b.template.references
            and fits(b)
        ]

    def cell(self, block: FormulaBlock) -> int:
        """Any cell of a block; of a line none of its ends, where something else may begin."""
        keys = np.sort(block.keys)
        return int(self.chance.choice((keys[1:-1] if block.flat else keys).tolist()))

    def formula(self, block: FormulaBlock, key: int, change: Callable[[np.ndarray], None]) -> str:
        """The formula of a cell with other coordinates."""
        values = block.predicted(key // WIDTH, key % WIDTH + 1).copy()
        change(values)
        place = int(block.sheet.find(np.array([key]))[0])
        return self.forms.written(int(block.sheet.formulas[place]), values)

    def text(self, block: FormulaBlock, key: int) -> str:
        return text_at(self.forms, block.sheet, int(block.sheet.find(np.array([key]))[0]))


Planted = tuple[FormulaBook, str, set[int], set[str]]
"""The book with the slip, its sheet, its cells, and the kinds that may name it."""


def shifted(places: Places) -> Planted:
    """A formula with a reference that is one or two rows or columns off."""
    block = places.chance.choice(places.large())
    key = places.cell(block)
    reference = places.chance.choice(block.template.references)
    axis, by = places.chance.choice((0, 1)), places.chance.choice((-2, -1, 1, 2))

    def change(values: np.ndarray) -> None:
        at = [reference.at + axis + 2 * corner for corner in range(reference.cells)]
        values[at] += by if values[at].min() + by > 0 else abs(by)

    book = copy(places.book)
    put(book, block.sheet.name, key, places.formula(block, key, change))
    return book, block.sheet.name, {key}, {"pattern"}


def short(places: Places) -> Planted:
    """A range that ends a row or a column too early or too late."""
    block = places.chance.choice(
        places.large(lambda b: any(r.cells == 2 for r in b.template.references))
    )
    key = places.cell(block)
    ranges = [r for r in block.template.references if r.cells == 2]
    reference, axis = places.chance.choice(ranges), places.chance.choice((0, 1))

    def change(values: np.ndarray) -> None:
        last = reference.at + 2 + axis
        values[last] += places.chance.choice((-1, 1)) if values[last] > 1 else 1

    book = copy(places.book)
    put(book, block.sheet.name, key, places.formula(block, key, change))
    return book, block.sheet.name, {key}, {"pattern"}


def other(places: Places) -> Planted:
    """Another calculation in the midst of a block."""
    block = places.chance.choice(places.large())
    key = places.cell(block)
    text = places.text(block, key)
    book = copy(places.book)
    changed = places.chance.choice([f"{text}+1", f"ROUND({text},2)", f"2*({text})", f"-{text}"])
    put(book, block.sheet.name, key, changed)
    return book, block.sheet.name, {key}, {"pattern"}


def row(places: Places) -> Planted:
    """A copied row or column that looks up the wrong ones."""
    axis = places.chance.choice((0, 1))
    block = places.chance.choice(
        places.large(lambda b: b.extents[axis] >= 4 and b.extents[1 - axis] >= 2)
    )
    lines = block.keys // WIDTH if axis == 0 else block.keys % WIDTH
    line = places.chance.choice(sorted(set(lines.tolist())))
    cells = set(block.keys[lines == line].tolist())
    side, by = places.chance.choice((0, 1)), places.chance.choice((1, 2))
    reference = places.chance.choice(block.template.references)

    def change(values: np.ndarray) -> None:
        for corner in range(reference.cells):
            values[reference.at + side + 2 * corner] += by

    book = copy(places.book)
    for key in cells:
        put(book, block.sheet.name, key, places.formula(block, key, change))
    return book, block.sheet.name, cells, {"pattern"}


def constant(places: Places) -> Planted:
    """A number typed over a formula."""

    def computable(block: FormulaBlock) -> bool:
        return not any(
            places.lookup.refers_to_blank(
                block.template,
                block.predicted(key // WIDTH, key % WIDTH + 1).reshape(1, -1),
                block.sheet,
            )
            for key in block.keys.tolist()
        )

    block = places.chance.choice(places.large(computable))
    key = places.cell(block)
    book = copy(places.book)
    cells = book.sheets[block.sheet.name]
    place = int(cells.find(np.array([key]))[0])
    cells.formulas[place] = -1
    cells.kinds[place], cells.numbers[place] = NUMBER, places.chance.random()
    return book, block.sheet.name, {key}, {"constant"}


def _operands(
    places: Places, fits: Callable[[FormulaBlock], bool]
) -> Iterator[tuple[FormulaBlock, int]]:
    for block in places.large(lambda b: not b.flat and fits(b)):
        for axis in (0, 1):
            if block.moving(axis).any():
                yield block, axis


def fixed(places: Places) -> Planted:
    """A $ by which a whole block of products uses one row or column of an operand."""
    block, axis = places.chance.choice(list(_operands(places, lambda b: b.template.is_product)))
    book = copy(places.book)
    first = block.box[axis]
    for key in block.keys.tolist():

        def change(values: np.ndarray, key: int = key) -> None:
            cell = [key // WIDTH, key % WIDTH + 1]
            cell[axis] = first
            values[:] = block.predicted(*cell)

        put(book, block.sheet.name, key, places.formula(block, key, change))
    return book, block.sheet.name, set(block.keys.tolist()), {"fixed"}


def sliding(places: Places) -> Planted:
    """A $ forgotten: an operand of a product slides along the side that is added up."""
    found = []
    for block in places.large(lambda b: not b.flat and "MMULT" in b.template.functions):
        values = block.predicted(block.box[0], block.box[1])
        for r in block.template.references:
            if r.cells == 1:
                continue
            top, left, bottom, right = values[r.at : r.at + 4]
            if (top == bottom) != (left == right):
                found.append((block, r.at + (0 if left == right else 1)))
    block, along = places.chance.choice(found)
    axis = places.chance.choice((0, 1))
    book = copy(places.book)
    for key in block.keys.tolist():

        def change(values: np.ndarray, key: int = key) -> None:
            step = (key // WIDTH, key % WIDTH + 1)[axis] - block.box[axis]
            values[[along, along + 2]] += step

        put(book, block.sheet.name, key, places.formula(block, key, change))
    return book, block.sheet.name, set(block.keys.tolist()), {"sliding"}


def nothing(places: Places) -> Planted:
    """A cell that formulas use, emptied or made a text."""
    sheet = places.chance.choice([s for s in places.book.sheets.values() if (s.formulas >= 0).any()])
    makers: dict[int, set[int]] = {}
    for own, at, template, values in uses(places.book, places.forms):
        if own is not sheet or template.functions & CAREFUL:
            continue
        for r in template.references:
            if r.sheet or not (r.operand or r.function in ADDING):
                continue
            box = np.stack(rectangles_of(r, values), axis=1)
            for place, (top, left, bottom, right) in zip(at.tolist(), box.tolist()):
                for y in range(top, bottom + 1):
                    for x in range(left - 1, right):
                        makers.setdefault(y * WIDTH + x, set()).add(int(sheet.keys[place]))
    inputs = set(sheet.keys[(sheet.formulas < 0) & (sheet.kinds == NUMBER)].tolist())
    used = sorted((key, cells) for key, cells in makers.items() if key in inputs)
    key, cells = places.chance.choice(used)
    book = copy(places.book)
    kind = places.chance.choice(("blank", "text"))
    if kind == "blank":
        clear(book, sheet.name, key)
    else:
        changed = book.sheets[sheet.name]
        changed.kinds[int(changed.find(np.array([key]))[0])] = TEXT
    return book, sheet.name, cells, {kind}


KINDS = [shifted, short, other, row, constant, fixed, sliding, nothing]


def to_file(book: FormulaBook, path: Path) -> Path:
    """The book as an xlsx with its stored values and no looks; texts of the shared table are `x`."""
    forms = Forms(book.formulas)
    out = xlsxwriter.Workbook(str(path))
    for sheet in book.sheets.values():
        page = out.add_worksheet(sheet.name)
        for place, key in enumerate(sheet.keys.tolist()):
            row, column = key // WIDTH - 1, key % WIDTH
            value = sheet.stored(place)
            if sheet.formulas[place] >= 0:
                formula = book.formulas[int(sheet.formulas[place])]
                text = "=" + text_at(forms, sheet, place)
                if formula.rows * formula.columns > 1:
                    last = row + formula.rows - 1, column + formula.columns - 1
                    page.write_array_formula(row, column, *last, f"{{{text}}}", None, value)
                else:
                    page.write_formula(row, column, text, None, "" if value is None else value)
            elif sheet.kinds[place] == TEXT:
                page.write_string(row, column, str(value or "x"))
            elif sheet.spilled[place] < 0:
                page.write(row, column, value)
    for name, text in book.names.items():
        if "[" not in text and "#" not in text and "_xlnm" not in name:
            out.define_name(name, "=" + text)
    out.close()
    return path
