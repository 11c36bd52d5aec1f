"""Blank cells where a formula is missing: inside the rectangle of a block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attn_xl.checking.blocks.block_cells import (
    cannot_compute,
    entered,
    formula_for,
    groups,
)
from attn_xl.checking.blocks.blocks import FormulaBlock
from attn_xl.checking.blocks.number_lines import NumberLines
from attn_xl.checking.blocks.references import Lookup
from attn_xl.checking.blocks.templates import Forms
from attn_xl.checking.findings import Finding
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
