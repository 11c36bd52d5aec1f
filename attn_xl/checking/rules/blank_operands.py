"""Formulas that compute with blank cells or with text.

Blanks are taken as intended where blanks and numbers alternate along the lines of a block, where a
labelled line is empty, at the edge of a triangle, and in ranges of functions that skip blanks. A single
blank, a blank that every formula of a block reads, and blanks after the last number, which a sliding
operand reads, are not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from attn_xl.checking.blocks.block_cells import values_at
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.addresses import address
from attn_xl.spreadsheets.blocks.blocks import FormulaBlock, Mask
from attn_xl.spreadsheets.blocks.pieces import Pieces
from attn_xl.spreadsheets.blocks.references import Lookup, Rectangles, keys_within, rectangles_of, uses
from attn_xl.spreadsheets.blocks.templates import Forms, Reference, names
from attn_xl.spreadsheets.formulas import TEXT, WIDTH, FormulaBook, Ints, SheetCells
from attn_xl.spreadsheets.ranges import shortened_spans, spans
from attn_xl.text import count

ADDING = names("""
    SUM SUMPRODUCT MMULT AVERAGE MAX MIN PRODUCT SUMSQ VAR VARP VAR.P VAR.S STDEV STDEVP STDEV.P
    STDEV.S EXP SQRT LN LOG LOG10 POWER SIN COS TANH SUMXMY2 SUMX2MY2 MEDIAN MDETERM MINVERSE
""")
"""Functions of numbers, which skip blank cells and text or take them as 0."""
CAREFUL = names("""
    IF IFS IFERROR IFNA ISBLANK ISNUMBER ISTEXT ISERROR ISERR ISNA COUNT COUNTA COUNTBLANK COUNTIF
    COUNTIFS SUMIF SUMIFS AVERAGEIF N T CHOOSE SWITCH AGGREGATE SUBTOTAL LET LAMBDA FILTER
""")
"""Functions that can test for a number; a formula with one of them may handle blanks."""
ASKING = names("ISBLANK ISNUMBER COUNT COUNTA COUNTBLANK")
SKIPPING = names("""
    SUM AVERAGE MAX MIN MEDIAN PRODUCT SUMSQ STDEV STDEVP STDEV.P STDEV.S VAR VARP VAR.P VAR.S
""")
"""Functions that skip the non-numeric cells of a range."""
FREE = 1 / 4  # blanks per line of a block, at least, in a sparsely filled table
_MOST = 1_000_000  # cells; larger ranges, as whole columns, leave room for future entries


@dataclass
class _Read:
    """One reference of a template's formulas, with the blank and the text cells it reads in each."""

    reference: Reference
    target: SheetCells
    corners: Rectangles
    blank: Mask
    text: Mask
    numbers: Ints

    @property
    def keys(self) -> Ints:
        return np.asarray(self.corners[0] * WIDTH + self.corners[1] - 1)


def asked_about(book: FormulaBook, forms: Forms, lookup: Lookup) -> set[tuple[str, int]]:
    """The cells, by sheet and key, that some formula tests for being blank (ISBLANK, COUNT): they are
    there to be filled in."""
    asked: set[tuple[str, int]] = set()
    for sheet, _, template, values in uses(book, forms):
        for reference in template.references:
            target = lookup.sheet(reference.sheet, sheet)
            if reference.function in ASKING and target is not None and reference.cells == 1:
                top, left, _, _ = rectangles_of(reference, values)
                asked.update((target.name, key) for key in (top * WIDTH + left - 1).tolist())
    return asked


def computed_with_nothing(pieces: Pieces, asked: set[tuple[str, int]]) -> Iterator[Finding]:
    """Formulas that compute with blank cells or with text.

    Blank cells that some formula tests (ISBLANK, COUNT) are there to be filled in, and formulas with a
    test (IF, COUNT, ...) are assumed to handle blanks; both are left out.
    """
    found: list[_Use] = []
    meant: dict[tuple[int, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    lookup, blocks = pieces.lookup, pieces.blocks
    for number, block in enumerate(blocks):
        reads = [] if block.template.functions & CAREFUL else _reads(pieces, block)
        if not any((read.blank | read.text).any() for read in reads):
            continue
        for read, free in zip(reads, _free(lookup, block, reads)):
            skips = read.reference.function in SKIPPING and not read.reference.operand
            free |= skips & (read.numbers >= (1 if len(block.places) > 2 else 2))
            for kind, bad in (("blank", read.blank), ("text", read.text)):
                for place in np.flatnonzero(bad).tolist():
                    if kind == "blank" and (read.target.name, int(read.keys[place])) in asked:
                        continue
                    box = [int(x[place]) for x in read.corners]
                    said, made = _in_words(read.target, box, kind, asked)
                    at = "" if read.target is block.sheet else f" of {read.target.name!r}"
                    key = int(block.keys[place])
                    if said and free[place] and (made or kind == "blank"):
                        meant[number, kind][said + at].append(key)
                    elif said:
                        found.append((kind, said + at, number, key))
    yield from (_cause(blocks, uses) for uses in _by_cause(found))
    for (number, kind), cells in meant.items():
        said = shortened_spans(", ".join(cells))
        what = f"uses the blank {said} in a sparsely filled table"
        if kind == "text":
            what = f"skips {said}, where formulas give text"
        where = spans(np.unique([key for keys in cells.values() for key in keys]))
        yield Finding(blocks[number].sheet.name, where, "sparse", what, "Nothing, if intended.")


_Use = tuple[str, str, int, int]
"""The kind, the blank cells or the texts in words; the block and the key that use them."""


def _by_cause(found: list[_Use]) -> list[list[_Use]]:
    """The uses of one cell, or by one block, together."""
    group_of: dict[tuple[str, str | int], list[_Use]] = {}
    for use in found:
        one, other = group_of.get(use[:2], []), group_of.get(use[::2], [])
        merged = one if one is other else one + other
        merged.append(use)
        for kind, what, number, _ in merged:
            group_of[kind, what] = group_of[kind, number] = merged
    return list({id(group): group for group in group_of.values()}.values())


def _cause(blocks: list[FormulaBlock], uses: list[_Use]) -> Finding:
    kind = uses[0][0]
    computing = [use for use in uses if not blocks[use[2]].template.copies] or uses
    name = Counter(blocks[use[2]].sheet.name for use in computing).most_common(1)[0][0]
    said = shortened_spans(", ".join(dict.fromkeys(use[1] for use in uses)))
    cells = {(blocks[number].sheet.name, key) for *_, number, key in uses}
    keys = np.array([key for sheet, key in cells if sheet == name])
    others = len(cells) - len(keys)
    many = f", as do {count(others, 'cell')} of other sheets" if others else ""
    if kind == "blank":
        what, do = f"uses the blank {said}{many}", "Fill it in or remove it from the formula."
    else:
        what, do = f"computes with the text in {said}{many}", "Refer to numbers only."
    return Finding(name, spans(keys), kind, what, do)


def _reads(pieces: Pieces, block: FormulaBlock) -> list[_Read]:
    """The references of a block's formulas that take part in computing."""
    out = []
    template, lookup = block.template, pieces.lookup
    values = values_at(pieces.forms, block.sheet, block.places)
    copied = template.copies
    for reference in template.references:
        target = lookup.sheet(reference.sheet, block.sheet)
        if target is None or not (reference.operand or reference.function in ADDING or copied):
            continue
        corners = rectangles_of(reference, values)
        area = (corners[2] - corners[0] + 1) * (corners[3] - corners[1] + 1)
        if reference.cells == 2 and (reference.compared or (area > _MOST).any()):
            continue
        cells = lookup.filled(target)
        filled, texts = cells.filled(corners), cells.texts(corners)
        text = (texts > 0) & (not (copied or reference.compared))
        out.append(_Read(reference, target, corners, filled < area, text, filled - texts))
    return out


def _free(lookup: Lookup, block: FormulaBlock, reads: list[_Read]) -> list[Mask]:
    """For each reference, which formulas of a block read a cell that is intentionally blank."""
    sheet, (height, width) = block.sheet, block.extents
    rows, columns = block.keys // WIDTH, block.keys % WIDTH + 1
    ones = np.ones(len(rows), dtype=np.int64)
    out = [np.zeros(len(rows), dtype=np.bool_) for _ in reads]
    own = []
    for free, read in zip(out, reads):
        if read.reference.cells == 1 and read.target is sheet:
            of_itself = np.isin(read.keys[~read.blank], block.keys)
            if len(block.places) < height * width and 2 * of_itself.sum() > len(of_itself):
                free |= read.blank  # the edge of a triangle
            in_row, in_column = ((a == b).all() for a, b in zip(read.corners, (rows, columns)))
            if in_row != in_column:
                before = (rows, ones, rows, columns) if in_row else (ones, columns, rows, columns)
                own.append((free, read.blank, before, read.corners[1 if in_row else 0]))
    blanks = [blank for _, blank, *_ in own]
    here_and_there = max(2, FREE * len(rows)) <= sum(int(blank.sum()) for blank in blanks)
    of_its_line = len(own) == sum(read.reference.cells == 1 for read in reads)
    for free, blank, before, lines in own:
        for line in np.unique(lines) if here_and_there else ():
            at = lines == line
            free[at] |= blank[at] & (np.count_nonzero(np.diff(blank[at])) > 1)
        if of_its_line and (~blank).sum() > 1:  # a line with a name, to be filled in
            free |= np.all(blanks, axis=0) & (lookup.filled(sheet).texts(before) > 0)
    return out


def _in_words(
    sheet: SheetCells, box: list[int], kind: str, asked: set[tuple[str, int]]
) -> tuple[str, bool]:
    """The blank cells, or the text cells, of a rectangle as text (for large rectangles, the rectangle
    itself), and whether formulas gave the text."""
    top, left, bottom, right = box
    if (bottom - top + 1) * (right - left + 1) > 10_000:
        return f"cells of {address(top, left)}:{address(bottom, right)}", False
    keys = keys_within(top, left, bottom, right)
    at = sheet.find(keys)
    bad = at < 0 if kind == "blank" else (at >= 0) & (sheet.kinds[at] == TEXT)
    named = [key for key in keys[bad].tolist() if kind == "text" or (sheet.name, key) not in asked]
    at = at[bad & (at >= 0)]
    made = bool(((sheet.formulas[at] >= 0) | (sheet.spilled[at] >= 0)).all())
    return (shortened_spans(spans(np.array(named))) if named else ""), made
