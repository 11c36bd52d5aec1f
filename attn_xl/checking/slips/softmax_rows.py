"""Attention weights that do not sum to 1.

In workbooks of attn-xl the weights are found by their defined names, in other workbooks by their
formulas: a block of quotients whose dividend is an exponential and whose divisor is a sum (or, by
mistake, a mean), written as a cell, a range or a name; or one array formula that divides exponentials
by their sum. The weights of one word are the cells along which the divisor stays the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from attn_xl.checking.blocks.blocks import FormulaBlock, blocks
from attn_xl.checking.blocks.references import Lookup, keys_within, rectangles_of
from attn_xl.checking.blocks.templates import Coordinates, Forms, Reference, Template
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.addresses import split_address
from attn_xl.spreadsheets.formulas import NUMBER, WIDTH, FormulaBook, Ints, SheetCells
from attn_xl.spreadsheets.ranges import spans

_NAMED = re.compile(r"(?:.*[.!])?Softmax(?:_[0-9]+)?")
_RANGE = re.compile(r"(.+)!\$([A-Z]+)\$([0-9]+)(?::\$([A-Z]+)\$([0-9]+))?")
_SHARE = re.compile(
    r"§/(?:(?:SUM|AVERAGE)\(|\()?§(?:[:+]§)*\)?$"
    r"|EXP\([^()]*(?:\([^()]*\))?\)/(?:SUM|SUMPRODUCT|AVERAGE)?\((?:EXP\([^()]*(?:\([^()]*\))?\)[+,]?)+\)$"
)
"""A cell divided by a cell or a sum, or an exponential divided by a sum of exponentials."""
_ARRAY = re.compile(r"(?P<x>EXP\(.+\))/(?:SUM|AVERAGE|MAX)\((?P=x)\)")
"""Exponentials divided by one number."""
_SUM = re.compile(r"(?:SUM|AVERAGE)\(§:§\)(?:[+*/]§)?|§(?:\+§)+")
_ADDS = re.compile(r"(?:SUM|SUMPRODUCT|AVERAGE)\(")
EPSILON = 1e-4  # may be added to a sum to avoid division by 0
LONGEST = 8_192  # characters: the limit of spreadsheet programs for a formula
MOST_SUMMED = 1_000_000
_EXPONENTIAL = re.compile(
    r"EXP\(.*\)|POWER\([^,]*,[^,]*\)|[^+\-*/]+\^[^+\-*/]+|(?:IF|ROUND)\(.*EXP\(.*\)"
)


def not_one(
    book: FormulaBook, forms: Forms, found: list[FormulaBlock], lookup: Lookup, tolerance: float
) -> list[Finding]:
    """Findings on lines of attention weights whose stored values do not sum to 1."""
    seen: set[tuple[str, int]] = set()
    wrong: dict[str, list[tuple[Ints, float]]] = defaultdict(list)
    whole = [(sheet, keys, 1e-9) for sheet, keys in (*_named(book, lookup), *_arrays(book))]
    spelt = _spelt_out(book)
    if spelt is not None:
        others = Forms(spelt.formulas)
        more = [block for sheet in spelt.sheets.values() for block in blocks(sheet, others)]
        whole += _divided(others, more, lookup)
    for sheet, keys, least in [*whole, *_divided(forms, found, lookup)]:
        at = sheet.find(keys)
        if (at < 0).any() or (sheet.name, int(keys[0])) in seen:
            continue
        kinds = sheet.kinds[at]
        seen.add((sheet.name, int(keys[0])))
        total = float(sheet.numbers[at].sum())
        if (kinds != NUMBER).any() or abs(total - 1) <= max(tolerance, least):
            continue
        wrong[sheet.name].append((keys, total))
    return [
        Finding(
            name,
            spans(np.concatenate([keys for keys, _ in lines])),
            "softmax",
            f"these attention weights sum to {lines[0][1]:.12g}, not 1"
            + f" ({len(lines)} lines like this)" * (len(lines) > 1),
            "Divide by the sum of exactly their exponentials.",
        )
        for name, lines in wrong.items()
    ]


def _named(book: FormulaBook, lookup: Lookup) -> Iterator[tuple[SheetCells, Ints]]:
    """The rows of the matrices with the defined name Softmax."""
    for name, text in book.names.items():
        found = _RANGE.fullmatch(text) if _NAMED.fullmatch(name) else None
        if not found:
            continue
        sheet = lookup.sheet(found[1].strip("'").replace("''", "'"))
        if sheet is None:
            continue
        top, left = split_address(found[2] + found[3])
        bottom, right = split_address(found[4] + found[5]) if found[4] else (top, left)
        if (bottom - top + 1) * (right - left + 1) > len(sheet.keys):
            continue  # some of it is blank
        for row in range(top, bottom + 1):
            yield sheet, row * WIDTH + np.arange(left - 1, right)


def _arrays(book: FormulaBook) -> Iterator[tuple[SheetCells, Ints]]:
    """The rows of array formulas that divide exponentials by their sum; a row belongs to one word."""
    masters = {
        n
        for n, f in enumerate(book.formulas)
        if f.array and len(f.text) < LONGEST and _ARRAY.fullmatch(f.text)
    }
    for sheet in book.sheets.values() if masters else ():
        for place in np.flatnonzero(np.isin(sheet.formulas, list(masters))).tolist():
            top, left = divmod(int(sheet.keys[place]), WIDTH)
            number = int(sheet.formulas[place])
            cells = np.append(sheet.keys[sheet.spilled == number], sheet.keys[place])
            bottom, right = int(cells.max()) // WIDTH, int((cells % WIDTH).max())
            if right > left:
                for row in range(top, bottom + 1):
                    yield sheet, row * WIDTH + np.arange(left, right + 1)


def _spelt_out(book: FormulaBook) -> FormulaBook | None:
    """The workbook with the names in divisors replaced by their cells and ranges; None if there are no
    such names."""
    cells = {
        name: text for name, text in book.names.items() if "!" not in name and _RANGE.fullmatch(text)
    }
    if not cells:
        return None
    known = {name.casefold(): text for name, text in cells.items()}
    named = "|".join(map(re.escape, cells))
    divisor = re.compile(rf"(?<=/)((?:SUM|AVERAGE)?\(?)({named})(?![\w.(!'])", re.IGNORECASE)
    formulas = list(book.formulas)
    changed = [n for n, f in enumerate(formulas) if "/" in f.text and divisor.search(f.text)]
    for number in changed:
        text = divisor.sub(lambda found: found[1] + known[found[2].casefold()], formulas[number].text)
        formulas[number] = replace(formulas[number], text=text)
    sheets = {
        name: sheet
        for name, sheet in book.sheets.items()
        if changed and np.isin(sheet.formulas, changed).any()
    }
    return FormulaBook(book.path, sheets, formulas) if sheets else None


def _divided(
    forms: Forms, found: list[FormulaBlock], lookup: Lookup
) -> Iterator[tuple[SheetCells, Ints, float]]:
    """Lines of quotients of exponentials, and how far from 1 their sum may be."""
    for block in found:
        if not _SHARE.match(block.template.general) or len(block.keys) < 2:
            continue
        if len(block.template.references) < 2 or block.template.roles[0] == "n":
            continue  # =A1/2, =2/(A1+B1)
        above, *below = block.template.references
        if above.cells != 1 or not _is_exponential(forms, block, lookup):
            continue
        moving = [
            [
                any(block.moving(axis)[r.at : r.at + 2 * r.cells].any() for r in references)
                for references in ([above], below)
            ]
            for axis in (0, 1)
        ]
        lines = [axis for axis in (0, 1) if moving[axis] == [True, False] and block.extents[axis] > 1]
        if not lines:
            continue
        first = block.predicted(*block.box[:2]).reshape(1, -1)
        sums, _ = _formula_at(forms, block, below[0], first, lookup)
        exact = len(below) > 1 or sums is None or sums.general in ("SUM(§:§)", "§+§")
        least = 1e-9 if exact and "n" not in block.template.roles else EPSILON
        # One divisor for all cells is taken as their sum.
        number = (block.keys // WIDTH, block.keys % WIDTH, 0 * block.keys)[
            2 if len(lines) == 2 else 1 - lines[0]
        ]
        order = np.argsort(number, kind="stable")
        for keys in np.split(block.keys[order], np.flatnonzero(np.diff(number[order])) + 1):
            if not _is_part(forms, block, keys, lookup):
                yield block.sheet, keys, least


def _formula_at(
    forms: Forms, block: FormulaBlock, reference: Reference, values: Coordinates, lookup: Lookup
) -> tuple[Template | None, Coordinates]:
    """The template and the coordinates of the formula in the cell that a block's formula refers to."""
    sheet = lookup.sheet(reference.sheet, block.sheet)
    row, column, _, _ = rectangles_of(reference, values)
    place = int(sheet.find(row * WIDTH + column - 1)[0]) if sheet is not None else -1
    if sheet is None or place < 0 or sheet.formulas[place] < 0:
        return None, values
    formula = sheet.formulas[place : place + 1]
    return forms.templates[int(forms.template[formula[0]])], forms.coordinates(formula, row, column)


def _is_exponential(forms: Forms, block: FormulaBlock, lookup: Lookup) -> bool:
    """Whether the dividend is an exponential and the divisor a sum."""
    values = block.predicted(int(block.keys[0]) // WIDTH, int(block.keys[0]) % WIDTH + 1).reshape(1, -1)
    text = block.template.general
    above, below = (
        _formula_at(forms, block, reference, values, lookup)[0]
        for reference in block.template.references[:2]
    )
    divided = text.startswith("EXP(") or (
        above is not None and bool(_EXPONENTIAL.fullmatch(above.text))
    )
    added = text if below is None else f"{text} {below.text}"
    return divided and bool(_ADDS.search(added) or "+" in text)


def _is_part(forms: Forms, block: FormulaBlock, keys: Ints, lookup: Lookup) -> bool:
    """Whether the cells cover only a part of what is summed; then they need not sum to 1."""
    above, *below = block.template.references
    values = np.array([block.predicted(key // WIDTH, key % WIDTH + 1) for key in keys.tolist()])
    top, left, _, _ = rectangles_of(above, values)
    divided = set((top * WIDTH + left - 1).tolist())
    summed, numbers, own = below, values[:1], block.sheet
    if len(below) == 1 and below[0].cells == 1:
        template, numbers = _formula_at(forms, block, below[0], values[:1], lookup)
        if template is None or not _SUM.fullmatch(template.general):
            return True
        if template.general.endswith("+§") and "n" in template.roles and numbers[0, -1] > EPSILON:
            return True  # an extra term without a weight
        summed, own = list(template.references), lookup.sheet(below[0].sheet, block.sheet) or own
    source = lookup.sheet(above.sheet, block.sheet)
    if any(lookup.sheet(r.sheet, own) is not source for r in summed):
        return True  # a sum of copies elsewhere
    cells: set[int] = set()
    for reference in summed:
        first, start, last, end = (int(x[0]) for x in rectangles_of(reference, numbers))
        if (last - first + 1) * (end - start + 1) > MOST_SUMMED:
            return True
        cells.update(keys_within(first, start, last, end).tolist())
    return divided < cells and not _has_others(forms, block, above, divided, cells, lookup)


def _has_others(
    forms: Forms,
    block: FormulaBlock,
    above: Reference,
    divided: set[int],
    cells: set[int],
    lookup: Lookup,
) -> bool:
    """Whether something other than exponentials is summed with them, such as their maximum."""
    sheet = lookup.sheet(above.sheet, block.sheet)
    if sheet is None:
        return False
    kinds = []
    for keys in (divided, cells - divided):
        at = sheet.find(np.array(sorted(keys), dtype=np.int64))
        formulas = sheet.formulas[at[at >= 0]]
        kinds.append(set(forms.template[formulas[formulas >= 0]].tolist()))
    others = [forms.templates[kind] for kind in kinds[1] - kinds[0]]
    return bool(kinds[0]) and any("EXP" not in template.functions for template in others)
