"""The cells beside the two ends of a line of formulas: a total, a given first value, or a cell of the
line with something else in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attn_xl.spreadsheets.formulas import NUMBER, WIDTH

from .blocks import FormulaBlock
from .number_lines import NO_NUMBER, STEPS, NumberLines, key_of
from .references import Lookup, rectangles_of
from .templates import Coordinates, Forms, Template


class LineEnds:
    """Finds the cells beside the ends of lines that should continue the line.

    Args:
        forms: the formulas of a book, taken apart; lookup: its sheets; lines: its numbers.
    """

    def __init__(self, forms: Forms, lookup: Lookup, lines: NumberLines) -> None:
        self.forms, self.lookup, self.lines = forms, lookup, lines

    def odd(self, block: FormulaBlock) -> Iterator[tuple[int, bool]]:
        """The keys of such cells of a line, and whether each holds a constant.

        A formula is one if it computes otherwise with just what the line's formula would use there, as
        no total does; a number, if others use it as they use the cells of the line.
        """
        if not block.flat:
            return
        sheet = block.sheet
        step = WIDTH if block.extents[0] > 1 else 1
        for key in (int(block.keys.min()) - step, int(block.keys.max()) + step):
            (place,) = sheet.find(np.array([key]))
            if place < 0:
                continue
            row, column = np.array([key // WIDTH]), np.array([key % WIDTH + 1])
            expected = block.predicted(key // WIDTH, key % WIDTH + 1).reshape(1, -1)
            if sheet.formulas[place] < 0:
                if sheet.kinds[place] == NUMBER and self._belongs(block, key, expected):
                    yield key, True
                continue
            formula = sheet.formulas[place : place + 1]
            template = self.forms.templates[int(self.forms.template[formula[0]])]
            values = self.forms.coordinates(formula, row, column)
            operands = _operands(template, values)
            alike = operands == _operands(block.template, expected)
            if not operands or not alike or template is block.template or self._by_turns(block, key):
                continue
            if len(block.places) > 2 or block.template.text not in template.text:
                yield key, False  # of two alone, the third may well be rounded

    def _by_turns(self, block: FormulaBlock, key: int) -> bool:
        """Whether a formula is one of others that stand among those of the line: SIN, COS, SIN, COS."""
        (number,) = self.lines.of(block.sheet, np.array([key])).tolist()
        if not 0 <= number < len(self.lines.blocks):
            return False
        keys = self.lines.blocks[number].keys
        return bool(keys.min() < block.keys.max() and keys.max() > block.keys.min())

    def _belongs(self, block: FormulaBlock, key: int, expected: Coordinates) -> bool:
        """Whether a cell is one of a line's: the line's formula can compute it, none of the line
        computes from it, and formulas use just the line and it; or none uses the line without it, and
        what the line is computed from ends with it."""
        if self.lookup.refers_to_blank(block.template, expected, block.sheet):
            return False
        along = 0 if block.extents[0] > 1 else 1
        for reference in block.template.references:
            target = self.lookup.sheet(reference.sheet, block.sheet)
            box = rectangles_of(reference, expected)
            if target is None or self.lookup.filled(target).texts(box).any():
                return False
            top, left, bottom, right = self.lines.used_by(block, reference)
            row, column = key // WIDTH, key % WIDTH + 1
            if target is block.sheet and top <= row <= bottom and left <= column <= right:
                return False
        used, owners = self.lines.used(block.sheet)
        used = used[owners != self.lines.number(block)]
        low, high = np.array(block.box[:2]), np.array(block.box[2:])
        across = (used[:, 1 - along] <= low[1 - along]) & (used[:, 3 - along] >= high[1 - along])
        without = (used[:, along] == low[along]) & (used[:, 2 + along] == high[along])
        at = (key // WIDTH, key % WIDTH + 1)[along]
        low[along], high[along] = min(low[along], at), max(high[along], at)
        just = (used[:, along] == low[along]) & (used[:, 2 + along] == high[along])
        if (across & just).any():
            return True
        return not (across & without).any() and self._ends_with(block, key, expected, along)

    def _ends_with(self, block: FormulaBlock, key: int, expected: Coordinates, along: int) -> bool:
        """Whether a cell is computed from the last, or the first, of the numbers of which the line's
        other cells are; and is none of the usual first values, and not compared with itself."""
        (place,) = block.sheet.find(np.array([key]))
        operands = _operands(block.template, expected)
        if block.sheet.numbers[place] in (0, 1) or len(set(operands)) < len(operands):
            return False
        step = 1 if key > block.keys.max() else -1
        ends = []
        for reference in block.template.references:
            target = self.lookup.sheet(reference.sheet, block.sheet)
            corner = reference.at + (2 if reference.cells == 2 and step > 0 else 0)
            if target is None or block.slopes[corner + along, along] != 1:
                continue
            cell = expected[0, corner : corner + 2].astype(np.int64)
            cells = key_of(cell) + STEPS[along] * step * np.arange(-1, 2)
            before, own, after = self.lines.of(target, cells).tolist()
            if own == NO_NUMBER or before != own:
                return False
            ends.append(after != own)
        return any(ends)


def _operands(template: Template, values: Coordinates) -> list[tuple[str, tuple[float, ...]]]:
    """What a formula uses, in order: sheets and corners."""
    return [(r.sheet, tuple(values[0, r.at : r.at + 2 * r.cells])) for r in template.references]
