"""Ranges that leave out the adjacent number in every formula of a line: for example, a sum that begins
one row too late.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attn_xl.checking.blocks.block_cells import text_at
from attn_xl.checking.blocks.blocks import FormulaBlock
from attn_xl.checking.blocks.number_lines import COLUMN, CONSTANT, NO_NUMBER, ROW, NumberLines
from attn_xl.checking.blocks.references import ADDING, Lookup, rectangles_of
from attn_xl.checking.blocks.templates import Forms, Reference
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.formulas import WIDTH, Ints, SheetCells
from attn_xl.spreadsheets.ranges import spans

SUMMING = ADDING | {"COUNT", "COUNTA", "COUNTIF", "LARGE", "SMALL", "RANK"}
"""Functions of any number of arguments."""


class ShortRanges:
    """Finds blocks whose range is one number too short.

    The adjacent number belongs to the range if it is of the same block or array; if other formulas use
    exactly the range with it, or the block's formulas use one cell of the longer range each; if it
    stands between the range and its sum; or if the block stands beside the range, one formula for each
    number including this one. It does not if other formulas use exactly the range without it.

    Args:
        forms: the formulas of a workbook as templates; lookup: its sheets; lines: its numbers and
            blocks.
    """

    def __init__(self, forms: Forms, lookup: Lookup, lines: NumberLines) -> None:
        self.forms, self.lookup, self.lines = forms, lookup, lines

    def all(self) -> Iterator[Finding]:
        """All findings."""
        for block in self.lines.blocks:
            ranges = [r for r in block.template.references if r.cells == 2]
            if len(block.places) > 1 and len(ranges) == 1 and ranges[0].function in SUMMING:
                left_out = self._left_out(block, ranges[0])
                if left_out is not None:
                    first = text_at(self.forms, block.sheet, int(block.places[0]))
                    yield Finding(
                        block.sheet.name,
                        spans(block.keys),
                        "short",
                        f"={first}, ... leaves out {spans(left_out)} beside its range",
                        "Include it in the range, or leave a blank line between them.",
                    )

    def _left_out(self, block: FormulaBlock, reference: Reference) -> Ints | None:
        """The cells beside the ranges of a block that the ranges should include, if any."""
        sheet = self.lookup.sheet(reference.sheet, block.sheet)
        one = rectangles_of(reference, block.predicted(*block.box[:2]).reshape(1, -1))
        sides = int((one[2] - one[0])[0]), int((one[3] - one[1])[0])
        if sheet is None or (sides[0] > 0) == (sides[1] > 0):
            return None
        along = 0 if sides[0] else 1
        ends = [reference.at + along, reference.at + 2 + along]
        if any(block.slopes[ends, axis].any() for axis in (ROW, COLUMN) if block.extents[axis] > 1):
            return None  # a moving or growing window
        box = np.array(self.lines.used_by(block, reference))
        for step, end in ((-1, box[along]), (1, box[2 + along])):
            cells = [_line(box, along, end + step * far) for far in range(3)]
            if cells[1].min() < WIDTH or (end + step < 1):
                continue
            inner, left_out, beyond = (self.lines.of(sheet, line) for line in cells)
            if (
                (left_out != NO_NUMBER).all()
                and (left_out == inner).all()
                and (beyond != left_out).all()
                and not np.isin(cells[1], block.keys).any()
                and not _counts(sheet, cells[1], left_out)
                and self._is_of_the_range(block, sheet, box, along, step, left_out)
            ):
                return cells[1]
        return None

    def _is_of_the_range(
        self, block: FormulaBlock, sheet: SheetCells, box: Ints, along: int, step: int, tables: Ints
    ) -> bool:
        used, owners = self.lines.used(sheet)
        used = used[owners != self.lines.number(block)]
        low, high, across = along, 2 + along, 1 - along
        whole = box.copy()
        whole[low if step < 0 else high] += step
        left_out = whole[low if step < 0 else high]
        if self._goes_over(block, sheet, whole):
            return True
        beside = (used[:, across] <= box[2 + across]) & (used[:, 2 + across] >= box[across])
        if (beside & (used[:, low] == box[low]) & (used[:, high] == box[high])).any():
            return False
        if (beside & (used[:, low] == whole[low]) & (used[:, high] == whole[high])).any():
            return True
        if block.sheet is sheet and block.box[low] == whole[low] and block.box[high] == whole[high]:
            return True
        if (tables != CONSTANT).all():
            return True
        touches = (used[:, low] <= left_out) & (used[:, high] >= left_out)
        return (
            block.sheet is sheet
            and block.box[low] == block.box[high] == left_out + step
            and not (touches & beside).any()
        )

    def _goes_over(self, block: FormulaBlock, sheet: SheetCells, box: Ints) -> bool:
        """Whether each formula of the block refers to one cell of exactly this rectangle."""
        return any(
            r.cells == 1
            and self.lookup.sheet(r.sheet, block.sheet) is sheet
            and self.lines.used_by(block, r) == tuple(box.tolist())
            for r in block.template.references
        )


def _counts(sheet: SheetCells, keys: Ints, tables: Ints) -> bool:
    """Whether constants are mere counters, as years above a table."""
    steps = np.diff(sheet.numbers[sheet.find(keys)])
    if (tables != CONSTANT).any() or not len(steps) or (steps != steps[0]).any():
        return False
    return bool(steps[0] != 0 if len(steps) > 1 else abs(steps[0]) == 1)


def _line(box: Ints, along: int, at: int) -> Ints:
    """The keys of one line across a rectangle."""
    top, left, bottom, right = box.tolist()
    if along == 0:
        return np.asarray(at * WIDTH + np.arange(left - 1, right))
    return np.asarray(np.arange(top, bottom + 1) * WIDTH + at - 1)
