"""Slips planted into workbooks, in memory or as files, for the tests of `check`."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xlsxwriter

from attn_xl.checking.blocks.block_cells import text_at
from attn_xl.checking.check import look_over
from attn_xl.checking.findings import Finding
from attn_xl.checking.rules.blank_operands import ADDING, CAREFUL
from attn_xl.spreadsheets.addresses import parse_area, quoted, split_address
from attn_xl.spreadsheets.blocks.blocks import FormulaBlock, blocks
from attn_xl.spreadsheets.blocks.pieces import Pieces, Read
from attn_xl.spreadsheets.blocks.references import Lookup, keys_within, rectangles_of, uses
from attn_xl.spreadsheets.blocks.templates import Forms, Reference
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


def refers_to_blank(lookup: Lookup, template: Any, values: Any, own: SheetCells) -> bool:
    """Whether one formula, with these coordinates (1, m), uses a blank cell."""
    for reference in template.references:
        sheet = lookup.sheet(reference.sheet, own)
        corners = rectangles_of(reference, values)
        top, left, bottom, right = (int(x[0]) for x in corners)
        if top > bottom or left > right or sheet is None:
            return True
        area = (bottom - top + 1) * (right - left + 1)
        if int(lookup.filled(sheet).filled(corners)[0]) < area:
            return True
    return False


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

    def operand(
        self,
        block: FormulaBlock,
        key: int,
        reference: Reference,
        change: Callable[[np.ndarray], None] = lambda values: None,
    ) -> str:
        """A reference of a cell's formula as it is written, without its sheet."""
        values = block.predicted(key // WIDTH, key % WIDTH + 1).copy()
        change(values)
        place = int(block.sheet.find(np.array([key]))[0])
        text = self.forms.operand(int(block.sheet.formulas[place]), reference, values)
        return text.rpartition("!")[2]

    def computable(self, block: FormulaBlock) -> bool:
        """Whether no formula of a block uses a blank cell."""
        return not any(
            refers_to_blank(
                self.lookup,
                block.template,
                block.predicted(key // WIDTH, key % WIDTH + 1).reshape(1, -1),
                block.sheet,
            )
            for key in block.keys.tolist()
        )

    def read_by(self, block: FormulaBlock) -> dict[str, set[int]]:
        """The cells that a block reads, by sheet."""
        found: dict[str, set[int]] = {}
        for reference in block.template.references:
            sheet = self.lookup.sheet(reference.sheet, block.sheet)
            if sheet is not None:
                top, left, bottom, right = self.reach(block, reference)
                cells = keys_within(top, left, bottom, right).tolist()
                found.setdefault(sheet.name, set()).update(cells)
        return found

    @staticmethod
    def reach(block: FormulaBlock, reference: Reference) -> tuple[int, int, int, int]:
        """The rectangle that a reference goes over in all cells of a block."""
        ends = np.array([block.predicted(r, c) for r in block.box[::2] for c in block.box[1::2]])
        top, left, bottom, right = rectangles_of(reference, ends)
        return int(top.min()), int(left.min()), int(bottom.max()), int(right.max())

    @cached_property
    def areas(self) -> dict[str, tuple[str, int, int, int, int]]:
        """The defined names' sheet, first row and column, number of rows and columns."""
        found = {}
        for name, text in self.book.names.items():
            area = parse_area(text)
            if area and area[0] and "!" not in name:
                top, left, bottom, right = area[1]
                found[name] = (area[0], top, left, bottom - top + 1, right - left + 1)
        return found

    def area(self, area: tuple[str, int, int]) -> set[int]:
        """The cells of a named area that begins there."""
        (whole,) = {a for a in self.areas.values() if a[:3] == area}
        _, top, left, rows, columns = whole
        return set(keys_within(top, left, top + rows - 1, left + columns - 1).tolist())

    def is_copy(self, area: tuple[str, int, int], other: tuple[str, int, int]) -> bool:
        """Whether what a named area computes is what another holds: no one sees which is read."""
        at = [self.book.sheets[a[0]].find(np.array(sorted(self.area(a)))) for a in (area, other)]
        sheets = [self.book.sheets[a[0]] for a in (area, other)]
        made = any((sheet.formulas[k] >= 0).any() for sheet, k in zip(sheets, at))
        return made and np.array_equal(*(sheet.numbers[k] for sheet, k in zip(sheets, at)))

    @cached_property
    def pieces(self) -> Pieces:
        return Pieces(self.book, self.forms, self.lookup)

    def depends(self, area: tuple[str, int, int, int, int], block: FormulaBlock) -> bool:
        """Whether a named area is computed from a block, or is the block."""
        name, top, left, rows, columns = area
        box = top, left, top + rows - 1, left + columns - 1
        own = next(p for p in self.pieces.pieces if p.place == (block.sheet.name, block.box))
        there = self.pieces.over(Read(self.book.sheets[name], box, None))
        return any(p is own or p in own.later for p in there)

    def name_read(self, block: FormulaBlock, reference: Reference) -> str:
        """The name of exactly the area, or of the one around the area, that a reference goes over."""
        sheet = self.lookup.sheet(reference.sheet, block.sheet)
        return self._named(sheet.name, self.reach(block, reference)) if sheet else ""

    def name_of(self, block: FormulaBlock) -> str:
        """The name of the area that a block is in."""
        return self._named(block.sheet.name, block.box)

    def _named(self, sheet: str, box: tuple[int, int, int, int]) -> str:
        around = [
            (rows * columns, name)
            for name, (where, top, left, rows, columns) in self.areas.items()
            if where == sheet and top <= box[0] and left <= box[1]
            and box[2] < top + rows and box[3] < left + columns
        ]  # fmt: skip
        return min(around)[1] if around else ""


@dataclass(frozen=True)
class Planted:
    """A slip in a copy of a book.

    Attributes:
        cells: the cells of each sheet that a finding may name: the slip's own, and those that nothing
            reads any more because of it.
        own: the sheet and the cells that were changed.
    """

    book: FormulaBook
    cells: dict[str, set[int]]
    own: tuple[str, set[int]]

    def named(self, finding: Finding) -> bool:
        """Whether a finding is about this slip."""
        return bool(self.cells.get(finding.sheet, set()) & cells_of(finding.cells))


class Nowhere(Exception):
    """A book has no place for a slip of this kind."""


def cells_of(text: str) -> set[int]:
    """The keys of cells written as ranges: `B5:D9, C7`."""
    found = set()
    for first, last in re.findall(r"([A-Z]+[0-9]+)(?::([A-Z]+[0-9]+))?", text):
        (top, left), (bottom, right) = split_address(first), split_address(last or first)
        found |= {r * WIDTH + c for r in range(top, bottom + 1) for c in range(left - 1, right)}
    return found


def _of(book: FormulaBook, block: FormulaBlock, cells: set[int], **also: set[int]) -> Planted:
    named = dict(also)
    named[block.sheet.name] = named.get(block.sheet.name, set()) | cells
    return Planted(book, named, (block.sheet.name, cells))


def _one(places: Places, found: list[Any]) -> Any:
    if not found:
        raise Nowhere
    return places.chance.choice(found)


def _moved(places: Places, block: FormulaBlock, at: list[int], by: int) -> Planted:
    """A block in all of whose formulas some coordinates are moved."""
    book = copy(places.book)

    def change(values: np.ndarray) -> None:
        values[at] += by

    for key in block.keys.tolist():
        put(book, block.sheet.name, key, places.formula(block, key, change))
    return _of(book, block, set(block.keys.tolist()))


def shifted(places: Places) -> Planted:
    """A formula with a reference that is one or two rows or columns off."""
    block = _one(places, places.large())
    key = places.cell(block)
    reference = places.chance.choice(block.template.references)
    axis, by = places.chance.choice((0, 1)), places.chance.choice((-2, -1, 1, 2))

    def change(values: np.ndarray) -> None:
        at = [reference.at + axis + 2 * corner for corner in range(reference.cells)]
        values[at] += by if values[at].min() + by > 0 else abs(by)

    book = copy(places.book)
    put(book, block.sheet.name, key, places.formula(block, key, change))
    return _of(book, block, {key})


def short(places: Places) -> Planted:
    """A range of one formula that ends a row or a column too early or too late."""
    block = _one(places, places.large(lambda b: any(r.cells == 2 for r in b.template.references)))
    key = places.cell(block)
    ranges = [r for r in block.template.references if r.cells == 2]
    reference, axis = places.chance.choice(ranges), places.chance.choice((0, 1))
    by = places.chance.choice((-1, 1))

    def change(values: np.ndarray) -> None:
        last = reference.at + 2 + axis
        values[last] += by if values[last] > 1 else 1

    book = copy(places.book)
    put(book, block.sheet.name, key, places.formula(block, key, change))
    return _of(book, block, {key})


def other(places: Places) -> Planted:
    """Another calculation in the midst of a block."""
    block = _one(places, places.large())
    key = places.cell(block)
    text = places.text(block, key)
    book = copy(places.book)
    changed = places.chance.choice([f"{text}+1", f"ROUND({text},2)", f"2*({text})", f"-{text}"])
    put(book, block.sheet.name, key, changed)
    return _of(book, block, {key})


def line(places: Places) -> Planted:
    """A copied row or column that looks up the wrong ones."""
    axis = places.chance.choice((0, 1))
    block = _one(places, places.large(lambda b: b.extents[axis] >= 4 and b.extents[1 - axis] >= 2))
    lines = block.keys // WIDTH if axis == 0 else block.keys % WIDTH
    chosen = places.chance.choice(sorted(set(lines.tolist())))
    cells = set(block.keys[lines == chosen].tolist())
    side, by = places.chance.choice((0, 1)), places.chance.choice((1, 2))
    reference = places.chance.choice(block.template.references)

    def change(values: np.ndarray) -> None:
        for corner in range(reference.cells):
            values[reference.at + side + 2 * corner] += by

    book = copy(places.book)
    for key in cells:
        put(book, block.sheet.name, key, places.formula(block, key, change))
    return _of(book, block, cells)


def _typed(places: Places, block: FormulaBlock, cells: set[int]) -> Planted:
    book = copy(places.book)
    sheet = book.sheets[block.sheet.name]
    for place in sheet.find(np.array(sorted(cells))).tolist():
        sheet.formulas[place] = -1
        sheet.kinds[place], sheet.numbers[place] = NUMBER, round(places.chance.random(), 2)
    return _of(book, block, cells)


def constant(places: Places) -> Planted:
    """A number typed over a formula."""
    block = _one(places, places.large(places.computable))
    return _typed(places, block, {places.cell(block)})


def typed_row(places: Places) -> Planted:
    """A whole row of attention weights, or of another block, typed."""
    found = places.large(lambda b: b.extents[0] >= 3 and b.extents[1] >= 3 and places.computable(b))
    block = _one(
        places,
        [b for b in found if "Exponentials" in b.template.text or "/" in b.template.text] or found,
    )
    rows = block.keys // WIDTH
    row = places.chance.choice(sorted(set(rows.tolist())))
    return _typed(places, block, set(block.keys[rows == row].tolist()))


def hole(places: Places) -> Planted:
    """A formula that is gone."""
    block = _one(places, places.large(places.computable))
    key = places.cell(block)
    book = copy(places.book)
    clear(book, block.sheet.name, key)
    return _of(book, block, {key})


def _operands(
    places: Places, fits: Callable[[FormulaBlock], bool]
) -> Iterator[tuple[FormulaBlock, int]]:
    for block in places.large(lambda b: not b.flat and fits(b)):
        for axis in (0, 1):
            if block.moving(axis).any():
                yield block, axis


def fixed(places: Places) -> Planted:
    """A $ by which a whole block of products uses one row or column of an operand."""
    block, axis = _one(places, list(_operands(places, lambda b: b.template.is_product)))
    book = copy(places.book)
    first = block.box[axis]
    for key in block.keys.tolist():

        def change(values: np.ndarray, key: int = key) -> None:
            cell = [key // WIDTH, key % WIDTH + 1]
            cell[axis] = first
            values[:] = block.predicted(*cell)

        put(book, block.sheet.name, key, places.formula(block, key, change))
    # The rows of the operand that nothing reads any more may be named instead.
    return _of(book, block, set(block.keys.tolist()), **places.read_by(block))


def sliding(places: Places) -> Planted:
    """A $ forgotten: an operand of a product slides along the side that is added up."""
    found = []
    for block in places.large(lambda b: not b.flat and b.template.is_product):
        values = block.predicted(block.box[0], block.box[1])
        for r in block.template.references:
            if r.cells == 1:
                continue
            top, left, bottom, right = values[r.at : r.at + 4]
            if (top == bottom) != (left == right):
                found.append((block, r.at + (0 if left == right else 1)))
    block, along = _one(places, found)
    axis = places.chance.choice((0, 1))
    book = copy(places.book)
    for key in block.keys.tolist():

        def change(values: np.ndarray, key: int = key) -> None:
            step = (key // WIDTH, key % WIDTH + 1)[axis] - block.box[axis]
            values[[along, along + 2]] += step

        put(book, block.sheet.name, key, places.formula(block, key, change))
    return _of(book, block, set(block.keys.tolist()), **places.read_by(block))


def columns(places: Places) -> Planted:
    """A block that reads its neighbours' columns (or rows): a pair of columns is one off throughout."""
    found = [
        (b, r)
        for b in places.large()
        for r in b.template.references
        if r.cells == 1 or b.template.is_product or "SUM" in b.template.functions
    ]
    block, reference = _one(places, found)
    axis = places.chance.choice((0, 1))
    at = [reference.at + axis + 2 * corner for corner in range(reference.cells)]
    made = _moved(places, block, at, 1)
    return _of(made.book, block, made.own[1], **places.read_by(block))


def leaves_out(places: Places) -> Planted:
    """Sums of a whole block that leave out the last rows or columns of what they add up."""
    found = []
    for block in places.large():
        values = block.predicted(block.box[0], block.box[1])
        ranges = [r for r in block.template.references if r.cells == 2]
        for axis in (0, 1):
            at = [r.at + 2 + axis for r in ranges if values[r.at + 2 + axis] - values[r.at + axis] >= 2]
            if at and len(ranges) == 1 and block.template.functions & {"SUM", "AVERAGE", "MAX"}:
                found.append((block, at))
    block, at = _one(places, found)
    made = _moved(places, block, at, -1)
    return _of(made.book, block, made.own[1], **places.read_by(block))


def _retargeted(
    places: Places,
    block: FormulaBlock,
    reference: Any,
    to: tuple[str, int, int],
    area: tuple[str, int, int],
) -> Planted:
    """A block whose reference to one named area leads to another."""
    book = copy(places.book)
    down, right = to[1] - area[1], to[2] - area[2]
    old = f"{quoted(reference.sheet)}!" if reference.sheet else ""
    new = f"{quoted(to[0])}!" if to[0] != block.sheet.name else ""
    for key in block.keys.tolist():

        def change(values: np.ndarray) -> None:
            for corner in range(reference.cells):
                values[reference.at + 2 * corner] += down
                values[reference.at + 1 + 2 * corner] += right

        before = places.operand(block, key, reference)
        after = places.operand(block, key, reference, change)
        text = places.text(block, key)
        if (old + before) not in text:
            raise Nowhere
        put(book, block.sheet.name, key, text.replace(old + before, new + after))
    unread = places.area(area)
    also = {area[0]: unread}
    return _of(book, block, set(block.keys.tolist()), **also)


def _siblings(places: Places, fits: Callable[[str], bool]) -> list[Any]:
    """Blocks of one head or layer that read something of their own, and the same of another head."""
    areas = places.areas
    found = []
    for block in places.large(lambda b: True):
        own = places.name_of(block)
        for reference in block.template.references:
            name = places.name_read(block, reference)
            if not name or not fits(name):
                continue
            for other_name, area in areas.items():
                same_kind = re.sub(r"[0-9]+", "#", other_name) == re.sub(r"[0-9]+", "#", name)
                digits = re.findall(r"[0-9]+", name)
                # The block itself belongs to one of several: it has the number that its operand has.
                if places.depends(area, block):
                    continue
                own_number = set(digits) & set(re.findall(r"[0-9]+", own))
                alike = same_kind and other_name != name and areas[name][3:] == area[3:]
                if alike and own_number and not places.is_copy(area[:3], areas[name][:3]):
                    found.append((block, reference, area[:3], areas[name][:3]))
    return found


def wrong_head(places: Places) -> Planted:
    """One head or layer that reads the weights, a bias or another table of its sibling."""
    return _retargeted(places, *_one(places, _siblings(places, lambda name: True)))


def wrong_bias(places: Places) -> Planted:
    """One head or layer that reads the bias or the parameters of another."""
    found = _siblings(places, lambda name: re.search(r"(^|[.])(b|beta|gamma|W)_", name) is not None)
    return _retargeted(places, *_one(places, found))


def skip(places: Places) -> Planted:
    """A sum of two tables that adds the one that another layer adds."""
    found = []
    for block in places.large(lambda b: not b.template.functions and "+" in b.template.operators):
        if len(block.template.references) != 2 or any(r.cells > 1 for r in block.template.references):
            continue
        own = places.name_of(block)
        twins = [
            b
            for b in places.blocks
            if places.name_of(b) != own
            and re.sub(r"c[0-9]", "", places.name_of(b)) == re.sub(r"c[0-9]", "", own)
        ]
        for reference in block.template.references:
            for twin in twins:
                for theirs in twin.template.references:
                    mine_name, name = places.name_read(block, reference), places.name_read(twin, theirs)
                    if not mine_name or not name or name == mine_name:
                        continue
                    there, mine = places.areas[name], places.areas[mine_name]
                    if there[3:] == mine[3:] and not places.depends(there, block):
                        found.append((block, reference, there[:3], mine[:3]))
    return _retargeted(places, *_one(places, found))


def unread(places: Places) -> Planted:
    """A product that uses a table of the same size in place of one that nothing else reads."""
    readers: dict[str, list[Any]] = {}
    for block in places.blocks:
        for reference in block.template.references:
            name = places.name_read(block, reference)
            if name and "COLUMNS" not in block.template.functions:
                readers.setdefault(name, []).append((block, reference))
    found = []
    for name, using in readers.items():
        if len(using) > 1 or not using[0][0].template.is_product or len(using[0][0].places) < 6:
            continue
        area = places.areas[name]
        for other_name, there in places.areas.items():
            alike = other_name != name and there[3:] == area[3:] and there[3] * there[4] > 1
            same = alike and places.is_copy(there[:3], area[:3])
            if alike and not same and not places.depends(there, using[0][0]):
                found.append((*using[0], there[:3], area[:3]))
    return _retargeted(places, *_one(places, found))


def activation(places: Places) -> Planted:
    """One head or layer with another function, or a function left out."""
    swaps = {
        "EXP(": "SINH(",
        "MAX(": "MIN(",
        "SUM(": "MAX(",
        "SQRT(": "ABS(",
        "TANH(": "SIN(",
        "AVERAGE(": "MEDIAN(",
    }
    found = []
    for block in places.large():
        text = places.text(block, int(block.keys[0]))
        twins = [
            b
            for b in places.blocks
            if b is not block
            and b.extents == block.extents
            and b.template.general == block.template.general
        ]
        if "MMULT" not in text and "SUMPRODUCT" not in text:
            found += [(block, old, new, twins) for old, new in swaps.items() if old in text and twins]
    block, old, new, twins = _one(places, found)
    book = copy(places.book)
    for key in block.keys.tolist():
        put(book, block.sheet.name, key, places.text(block, key).replace(old, new))
    twin = {twins[0].sheet.name: set(twins[0].keys.tolist())} if len(twins) == 1 else {}
    return _of(book, block, set(block.keys.tolist()), **twin)  # of two, either is unlike the other


def lost(places: Places) -> Planted:
    """A reference that is gone from a formula."""
    block = _one(places, places.large())
    key = places.cell(block)
    reference = places.chance.choice(block.template.references)
    book = copy(places.book)
    text = places.text(block, key).replace(places.operand(block, key, reference), "#REF!")
    put(book, block.sheet.name, key, text)
    return _of(book, block, {key})


def nothing(places: Places) -> Planted:
    """A cell that formulas use, emptied or made a text."""
    inputs: dict[tuple[str, int], dict[str, set[int]]] = {}
    for own, at, template, values in uses(places.book, places.forms):
        if template.functions & CAREFUL:
            continue
        for r in template.references:
            target = places.lookup.sheet(r.sheet, own)
            if target is None or not (r.operand or r.function in ADDING):
                continue
            box = np.stack(rectangles_of(r, values), axis=1)
            for place, (top, left, bottom, right) in zip(at.tolist(), box.tolist()):
                if (bottom - top + 1) * (right - left + 1) > 400:
                    continue
                for y in range(top, bottom + 1):
                    for x in range(left - 1, right):
                        users = inputs.setdefault((target.name, y * WIDTH + x), {})
                        users.setdefault(own.name, set()).add(int(own.keys[place]))
    used = []
    for (name, key), users in sorted(inputs.items()):
        sheet = places.book.sheets[name]
        (place,) = sheet.find(np.array([key])).tolist()
        if place >= 0 and sheet.formulas[place] < 0 and sheet.kinds[place] == NUMBER:
            used.append((name, key, users))
    name, key, users = _one(places, used)
    book = copy(places.book)
    if places.chance.random() < 0.5:
        clear(book, name, key)
    else:
        changed = book.sheets[name]
        changed.kinds[int(changed.find(np.array([key]))[0])] = TEXT
    cells = {sheet: set(keys) for sheet, keys in users.items()}
    cells.setdefault(name, set()).add(key)
    return Planted(book, cells, (name, {key}))


KINDS = [
    shifted, short, other, line, constant, typed_row, hole, fixed, sliding, columns, leaves_out,
    wrong_head, wrong_bias, skip, unread, activation, lost, nothing,
]  # fmt: skip


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
