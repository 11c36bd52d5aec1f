"""Attention weights that should sum to 1: found by their defined names in our workbooks, by their
formulas in anybody's. Knows blocks and stored values.

Anybody's: a block of divisions of one cell by another, where what is divided is an exponential and what
divides is a sum. The weights of a word are the cells of a line along which what divides stays the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from .cells import split_address
from .findings import Finding
from .formula_blocks import Block
from .formulas_in import NUMBER, WIDTH, FormulaBook, Ints, Sheet
from .patterns import Forms, spans
from .references import Lookup, rectangles_of

_NAMED = re.compile(r"(?:.*[.!])?Softmax(?:_[0-9]+)?")
_RANGE = re.compile(r"(.+)!\$([A-Z]+)\$([0-9]+)(?::\$([A-Z]+)\$([0-9]+))?")
_EXPONENTIAL = re.compile(r"EXP\(.*\)|POWER\([^,]*,[^,]*\)|[^+\-*/]+\^[^+\-*/]+")


def not_one(
    book: FormulaBook, forms: Forms, found: list[Block], lookup: Lookup, tolerance: float
) -> list[Finding]:
    """The lines of attention weights whose stored values do not sum to 1."""
    seen: set[tuple[str, int]] = set()
    wrong: dict[str, list[tuple[Ints, float]]] = defaultdict(list)
    for sheet, keys in [*_named(book, lookup), *_divided(forms, found, lookup)]:
        at = sheet.find(keys)
        if (at < 0).any() or (sheet.name, int(keys[0])) in seen:
            continue
        kinds = sheet.kinds[at]
        seen.add((sheet.name, int(keys[0])))
        total = float(sheet.numbers[at].sum())
        if (kinds != NUMBER).any() or abs(total - 1) <= max(tolerance, 1e-9):
            continue
        wrong[sheet.name].append((keys, total))
    return [
        Finding(
            name,
            spans(np.concatenate([keys for keys, _ in lines])),
            "softmax",
            f"these attention weights sum to {lines[0][1]:.12g}, not to 1"
            + f" ({len(lines)} lines like this)" * (len(lines) > 1),
            "Look at what they are divided by: the sum of all their exponentials, and of no others.",
        )
        for name, lines in wrong.items()
    ]


def _named(book: FormulaBook, lookup: Lookup) -> Iterator[tuple[Sheet, Ints]]:
    """The rows of the matrices that are named Softmax."""
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


def _divided(forms: Forms, found: list[Block], lookup: Lookup) -> Iterator[tuple[Sheet, Ints]]:
    for block in found:
        if block.template.text.replace("§:§", "§") not in ("§/§", "§/SUM(§)") or len(block.keys) < 2:
            continue
        if len(block.template.references) != 2:  # =A1/2: a constant is a § as well
            continue
        above, below = block.template.references
        if above.cells != 1 or not _is_exponential(forms, block, lookup):
            continue
        moving = [
            [block.moving(axis)[r.at : r.at + 2 * r.cells].any() for r in (above, below)]
            for axis in (0, 1)
        ]
        lines = [axis for axis in (0, 1) if moving[axis] == [True, False] and block.extents[axis] > 1]
        if len(lines) != 1:
            continue
        number = block.keys // WIDTH if lines[0] == 1 else block.keys % WIDTH
        order = np.argsort(number, kind="stable")
        for keys in np.split(block.keys[order], np.flatnonzero(np.diff(number[order])) + 1):
            if not _is_part(forms, block, keys, lookup):
                yield block.sheet, keys


def _is_exponential(forms: Forms, block: Block, lookup: Lookup) -> bool:
    """Whether what is divided is an exponential, and what divides a sum."""
    values = block.predicted(int(block.keys[0]) // WIDTH, int(block.keys[0]) % WIDTH + 1).reshape(1, -1)
    above, below = block.template.references
    texts = []
    for reference in (above, below):
        sheet = lookup.sheet(reference.sheet, block.sheet)
        top, left, _, _ = rectangles_of(reference, values)
        place = sheet.find(top * WIDTH + left - 1)[0] if sheet is not None else -1
        formula = sheet.formulas[place] if sheet is not None and place >= 0 else -1
        texts.append(forms.templates[int(forms.template[formula])].text if formula >= 0 else "")
    return bool(_EXPONENTIAL.fullmatch(texts[0])) and (
        "SUM(" in block.template.text or "SUM(" in texts[1]
    )


def _is_part(forms: Forms, block: Block, keys: Ints, lookup: Lookup) -> bool:
    """Whether these are the shares of some only of what is summed: then they need not sum to 1."""
    above, below = block.template.references
    values = np.array([block.predicted(key // WIDTH, key % WIDTH + 1) for key in keys.tolist()])
    top, left, _, _ = rectangles_of(above, values)
    divided = set((top * WIDTH + left - 1).tolist())
    sheet = lookup.sheet(below.sheet, block.sheet)
    reference, numbers = below, values[:1]
    if below.cells == 1 and sheet is not None:
        row, column, _, _ = rectangles_of(below, values[:1])
        place = sheet.find(row * WIDTH + column - 1)
        formula = sheet.formulas[place] if place[0] >= 0 else np.array([-1])
        if formula[0] < 0:
            return True
        template = forms.templates[int(forms.template[formula[0]])]
        if template.text.rpartition("!")[2] not in ("SUM(§:§)",) and template.general != "SUM(§:§)":
            return True
        reference, numbers = template.references[0], forms.coordinates(formula, row, column)
    summed = [int(x[0]) for x in rectangles_of(reference, numbers)]
    inside = sum(
        summed[0] <= key // WIDTH <= summed[2] and summed[1] <= key % WIDTH + 1 <= summed[3]
        for key in divided
    )
    area = (summed[2] - summed[0] + 1) * (summed[3] - summed[1] + 1)
    return bool(inside == len(divided) and area > inside)
