"""Blank cells where a formula is missing: inside the rectangle of a block, or between two parts of a
line.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attn_xl.checking.blocks.block_cells import (
    cannot_compute,
    entered,
    formula_for,
    groups,
    predicted,
    values_at,
)
from attn_xl.checking.blocks.blocks import FormulaBlock
from attn_xl.checking.blocks.number_lines import STEPS, NumberLines
from attn_xl.checking.blocks.references import Lookup
from attn_xl.checking.blocks.templates import Forms
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.addresses import MAX_COLUMNS, MAX_ROWS
from attn_xl.spreadsheets.formulas import WIDTH, Ints
from attn_xl.spreadsheets.ranges import shortened_spans, spans

MOST_BLANK = 1 / 3  # blank cells per formula; with more, the blanks look intended
FEWEST, FEWEST_IN_RECTANGLE = 4, 5  # formulas of a line or a rectangle that can have a hole


class Holes:
    """Finds blank cells that a block's formula could compute and that no formula tests for blanks.

    Args:
        forms: the formulas of a workbook as templates; lookup: its sheets; lines: its numbers and
            blocks; asked: the cells (sheet and key) that formulas test before they use them.
    """

    def __init__(
        self, forms: Forms, lookup: Lookup, lines: NumberLines, asked: set[tuple[str, int]]
    ) -> None:
        self.forms, self.lookup, self.lines, self.asked = forms, lookup, lines, asked

    def all(self) -> Iterator[Finding]:
        """All findings."""
        for block in self.lines.blocks:
            if len(block.places) >= (FEWEST if block.flat else FEWEST_IN_RECTANGLE):
                yield from self._in_rectangle(block)
        for axis in (0, 1):
            for line in self._lines(axis):
                yield from self._in_line(line, axis)

    def _in_rectangle(self, block: FormulaBlock) -> Iterator[Finding]:
        # Lines of another kind may stand between its lines.
        rows, columns = np.unique(block.keys // WIDTH), np.unique(block.keys % WIDTH)
        missing = len(rows) * len(columns) - len(block.places)
        if not 0 < missing <= MOST_BLANK * len(block.places):
            return
        keys = np.add.outer(rows * WIDTH, columns).ravel()
        blank = keys[block.sheet.find(keys) < 0]
        if not self._is_asked(block, blank):
            for group in groups(blank):
                if len(group) < max(block.extents):
                    yield from self._hole(block, group, block.keys)

    def _lines(self, axis: int) -> Iterator[list[FormulaBlock]]:
        """Successive blocks in one line, with the same template and one blank cell between them."""
        beginning: dict[tuple[str, int], FormulaBlock] = {}
        after: dict[int, FormulaBlock] = {}
        follows = set()
        for block in self.lines.blocks:
            if block.extents[1 - axis] == 1:
                beginning[block.sheet.name, int(block.keys.min())] = block
        for block in beginning.values():
            gap = int(block.keys.max()) + STEPS[axis]
            other = beginning.get((block.sheet.name, gap + STEPS[axis]))
            if (
                other is not None
                and other.template is block.template
                and block.sheet.find(np.array([gap]))[0] < 0
            ):
                after[id(block)] = other
                follows.add(id(other))
        for block in beginning.values():
            if id(block) in after and id(block) not in follows:
                line = [block]
                while id(line[-1]) in after:
                    line.append(after[id(line[-1])])
                yield line

    def _in_line(self, line: list[FormulaBlock], axis: int) -> Iterator[Finding]:
        longest = max(line, key=lambda block: len(block.places))
        sheet, step = longest.sheet, STEPS[axis]
        count = sum(len(block.places) for block in line)
        if len(longest.places) < 2 or count < FEWEST or len(line) - 1 > MOST_BLANK * count:
            return
        if not longest.moving(axis).any() or self._is_in_sections(line, axis):
            return
        for block in line:
            values = values_at(self.forms, sheet, block.places)
            if not np.array_equal(values, np.array(predicted(longest, block.keys))):
                return
        gaps = np.array([int(block.keys.max()) + step for block in line[:-1]])
        among = np.concatenate([block.keys for block in line])
        if not self._is_asked(longest, gaps):
            for gap in gaps:
                yield from self._hole(longest, gap[None], among)

    def _is_in_sections(self, line: list[FormulaBlock], axis: int) -> bool:
        """Whether the parts of a line have equal lengths, except for a shorter last one, and each
        begins after a blank cell: the first cell of a section has no predecessor to compare with."""
        first, *others = [len(block.places) for block in line]
        alike = all(length == first for length in others[:-1]) and others[-1] <= first
        return alike and (len(line) > 2 or self._begins_after_a_blank(line[0], axis))

    def _begins_after_a_blank(self, block: FormulaBlock, axis: int) -> bool:
        """Whether the line before a block is in use, but blank where it would continue the block."""
        top, left = block.box[:2]
        line = (top - 1, 1, top - 1, MAX_COLUMNS) if axis == 0 else (1, left - 1, MAX_ROWS, left - 1)
        a, b, c, d = (np.array([x]) for x in line)
        before = np.array([int(block.keys.min()) - STEPS[axis]])
        count = self.lookup.filled(block.sheet).filled((a, b, c, d))
        return block.box[axis] > 1 and block.sheet.find(before)[0] < 0 and bool(count[0])

    def _is_asked(self, block: FormulaBlock, keys: Ints) -> bool:
        return any((block.sheet.name, key) in self.asked for key in keys.tolist())

    def _hole(self, block: FormulaBlock, group: Ints, among: Ints) -> Iterator[Finding]:
        if not any(cannot_compute(self.lookup, block, key) for key in group.tolist()):
            yield Finding(
                block.sheet.name,
                spans(group),
                "hole",
                f"blank among the formulas of {shortened_spans(spans(among))}; their formula here is "
                f"={formula_for(self.forms, block, int(group[0]))}",
                entered(self.forms, block, group, formula_for(self.forms, block, int(group[0]))),
            )
