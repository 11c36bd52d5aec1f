"""Missing or superfluous `$` in the formulas of a whole block, where no cell differs from its
neighbours: an operand is fixed that should move, or moves that should be fixed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from attn_xl.checking.blocks.block_cells import text_at, values_at
from attn_xl.checking.blocks.blocks import FormulaBlock
from attn_xl.checking.blocks.number_lines import (
    COLUMN,
    CONSTANT,
    NO_NUMBER,
    ROW,
    STEPS,
    NumberLines,
    key_of,
)
from attn_xl.checking.blocks.references import ADDING, Lookup, keys_within, rectangles_of
from attn_xl.checking.blocks.templates import Forms, Reference
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.formulas import TEXT, WIDTH, Ints, SheetCells
from attn_xl.spreadsheets.ranges import spans

LINES = ("row", "column")
MOST_CELLS = 1_000_000  # of an operand; larger ones are not examined
LOOKING_UP = frozenset(["VLOOKUP", "HLOOKUP", "XLOOKUP", "LOOKUP", "INDEX"])
MOVING = frozenset(
    [
        "ROW",
        "COLUMN",
        "ROWS",
        "COLUMNS",
        "CELL",
        "INDIRECT",
        "OFFSET",
        "SEQUENCE",
        "RAND",
        "RANDBETWEEN",
        "RANDARRAY",
    ]
)
"""Functions that can vary from cell to cell without a moving operand: `INDEX(B$3:B$5,ROW()-8)`."""


class Operands:
    """Finds blocks with a missing or superfluous `$`.

    Args:
        forms: the formulas of a workbook as templates; lookup: its sheets; lines: its numbers and
            blocks.
    """

    def __init__(self, forms: Forms, lookup: Lookup, lines: NumberLines) -> None:
        self.forms, self.blocks, self.lookup, self.lines = forms, lines.blocks, lookup, lines

    def all(self) -> Iterator[Finding]:
        """All findings."""
        alike: dict[str, list[FormulaBlock]] = defaultdict(list)
        at: dict[tuple[str, int], FormulaBlock] = {}
        for block in self.blocks:
            if len(block.places) > 1:
                alike[block.template.general].append(block)
            if not block.flat:
                at[block.sheet.name, block.box[0] * WIDTH + block.box[1] - 1] = block
        for block in self.blocks:
            if len(block.places) < 3:
                continue
            for axis in (ROW, COLUMN):
                long = block.extents[axis] >= (3 if block.flat else 2)
                if not long or not block.template.references:
                    continue
                like = alike[block.template.general]
                moves = bool(block.moving(axis).any())
                if not moves and self._is_fixed(block, axis, like, at):
                    yield self._fixed_finding(block, axis)
                    continue
                if block.flat:
                    stays = self._half_fixed(block, axis)
                elif moves:
                    stays = self._fixed_unlike_neighbours(block, axis, like) or self._fixed_on_first(
                        block, axis
                    )
                else:
                    continue
                if stays:
                    yield self._fixed_finding(block, axis, stays)
            yield from list(self._sliding(block)) or self._slides_out(block)

    def _is_fixed(
        self,
        block: FormulaBlock,
        axis: int,
        alike: list[FormulaBlock],
        at: dict[tuple[str, int], FormulaBlock],
    ) -> bool:
        """Whether a block without a moving operand should have one."""
        template = block.template
        if MOVING & template.functions:
            return False
        if template.is_product or LOOKING_UP & template.functions:
            return True
        if block.flat:
            return False
        others = [b for b in alike if b is not block and b.extents[axis] > 1 and not b.flat]
        moved = all(b.moving(axis).any() for b in others)
        if (template.functions or template.operators) and len(others) >= 2 and moved:
            return True
        return self._one_line_of_a_block(block, axis, at)

    def _one_line_of_a_block(
        self, block: FormulaBlock, axis: int, at: dict[tuple[str, int], FormulaBlock]
    ) -> bool:
        """Whether all lines of a block use the first line of a block of the same size."""
        values = block.predicted(block.box[0], block.box[1])
        for reference in block.template.references:
            target = self.lookup.sheet(reference.sheet, block.sheet)
            if reference.cells == 1 and target is not None and self._moves(block, reference, 1 - axis):
                key = int(values[reference.at]) * WIDTH + int(values[reference.at + 1]) - 1
                source = at.get((target.name, key))
                if source is not None and source.extents == block.extents:
                    return True
        return False

    def _fixed_on_first(self, block: FormulaBlock, axis: int) -> Reference | None:
        """The operand that stays on the first of a series of numbers, one for each line of the block.
        The series stands beside the block, is computed, is part of a table of the block's size, or is
        used by nothing else.

        An operand is not reported if another one is a cell of the same series: then the numbers are
        compared with the first (`B5/B$5`), or they are the weights of a sum (`$B5*E$1+$C5*E$2`).
        """
        if block.flat:
            return None
        own = block.predicted(block.box[0], block.box[1]).astype(np.int64)
        for reference in block.template.references:
            sheet = self.lookup.sheet(reference.sheet, block.sheet)
            place = reference.at + axis
            ends = [place] if reference.cells == 1 else [place, place + 2]
            stays = not block.slopes[ends].any() and len({own[end] for end in ends}) == 1
            if not stays or sheet is None or not (reference.operand or reference.function in ADDING):
                continue
            first = own[reference.at : reference.at + 2]
            if not self.lines.begins(sheet, first, axis, block.extents[axis]):
                continue
            second, last = first.copy(), first.copy()
            second[axis] += 1
            last[axis] += block.extents[axis] - 1
            if reference.cells == 1 and (
                self._uses(block, sheet, (first, last), reference)
                or self._is_setting(block, sheet, first, axis, reference)
            ):
                continue
            beside = sheet is block.sheet and first[axis] == block.box[axis]
            if beside or self.lines.begins(sheet, first, 1 - axis, block.extents[1 - axis]):
                return reference
            if block.extents[axis] > 2 and (
                self._is_computed(sheet, first)
                or not any(self._uses(b, sheet, (second, last), reference) for b in self.blocks)
            ):
                return reference
        return None

    def _is_setting(
        self,
        block: FormulaBlock,
        sheet: SheetCells,
        first: Ints,
        axis: int,
        reference: Reference | None,
    ) -> bool:
        """Whether an operand with both `$` is one of a list of settings: a column of numbers, each with
        a label (`d_k`, `heads`)."""
        if axis == COLUMN or (reference and block.slopes[reference.at : reference.at + 2].any()):
            return False
        keys = key_of(first) + WIDTH * np.arange(block.extents[axis])
        at = sheet.find(keys - 1)
        named = bool((at >= 0).all() and (sheet.kinds[at] == TEXT).all())
        alone = self.lines.of(sheet, keys) == CONSTANT, self.lines.of(sheet, keys + 1) == NO_NUMBER
        return named and bool(np.all(alone))

    def _half_fixed(self, block: FormulaBlock, axis: int) -> Reference | None:
        """The operand of a line of formulas that stays on one cell, or one line of cells, of the
        adjacent numbers because its row or its column has a `$`.

        An operand with both `$` is fixed on purpose, unless nothing uses the other numbers. One that
        stays on the first of the numbers that another operand runs over is compared with them
        (`B5/B$5`).
        """
        own = block.predicted(block.box[0], block.box[1]).astype(np.int64)
        moves = self.forms.moves(int(block.sheet.formulas[block.places[0]]))
        for reference in block.template.references:
            sheet = self.lookup.sheet(reference.sheet, block.sheet)
            corners = range(reference.at, reference.at + 2 * reference.cells, 2)
            ends = [corner + axis for corner in corners]
            stays = all(not moves[c + axis] for c in corners)
            half = all(moves[c + 1 - axis] for c in corners)
            if sheet is None or not stays or block.slopes[ends, axis].any() or np.ptp(own[ends]):
                continue
            first = own[reference.at : reference.at + 2]
            line = sheet, first, axis, block.extents[axis]
            begins = self.lines.begins(*line)
            if not begins and not (first[axis] == block.box[axis] and self.lines.goes_on(*line)):
                continue
            last = own[corners[-1] : corners[-1] + 2].copy()
            last[axis] += block.extents[axis] - 1
            if self._are_all_equal(*line):
                continue
            if not half and not (begins and self._is_only_one_used(block, *line)):
                continue
            if not block.moving(axis).any() or not self._uses(block, sheet, (first, last), reference):
                return reference
        return None

    def _is_only_one_used(
        self, block: FormulaBlock, sheet: SheetCells, first: Ints, axis: int, count: int
    ) -> bool:
        """Whether, of the numbers beside a line of formulas, only the first is used, and only by that
        line."""
        second, last = first.copy(), first.copy()
        second[axis] += 1
        last[axis] += count - 1
        beside = sheet is block.sheet and first[axis] == block.box[axis]
        return (
            beside
            and bool(block.moving(axis).any())
            and not self._is_setting(block, sheet, first, axis, None)
            and not any(self._uses(b, sheet, (second, last), None) for b in self.blocks)
        )

    @staticmethod
    def _are_all_equal(sheet: SheetCells, first: Ints, axis: int, count: int) -> bool:
        """Whether all numbers equal the first, so that any of them serves."""
        numbers = sheet.numbers[sheet.find(key_of(first) + STEPS[axis] * np.arange(count))]
        return bool((numbers == numbers[0]).all())

    def _stays_within(self, block: FormulaBlock, reference: Reference) -> bool:
        """Whether everything that an operand runs over is one table of numbers."""
        sheet = self.lookup.sheet(reference.sheet, block.sheet)
        top, left, bottom, right = self.lines.used_by(block, reference)
        if sheet is None or (bottom - top + 1) * (right - left + 1) > MOST_CELLS:
            return False
        tables = self.lines.of(sheet, keys_within(top, left, bottom, right))
        return bool(tables[0] != NO_NUMBER and (tables == tables[0]).all())

    def _is_computed(self, sheet: SheetCells, cell: Ints) -> bool:
        return bool(self.lines.of(sheet, np.array([key_of(cell)]))[0] >= 0)

    def _uses(
        self, block: FormulaBlock, sheet: SheetCells, line: tuple[Ints, Ints], but: Reference | None
    ) -> bool:
        """Whether a block's formulas use a cell of a line through an operand other than `but`."""
        first, last = line
        ends = np.array([block.predicted(r, c) for r in block.box[::2] for c in block.box[1::2]])
        for other in block.template.references:
            if other is not but and self.lookup.sheet(other.sheet, block.sheet) is sheet:
                top, left, bottom, right = rectangles_of(other, ends)
                lows, highs = (top.min(), left.min()), (bottom.max(), right.max())
                if (lows <= last).all() and (highs >= first).all():
                    return True
        return False

    @staticmethod
    def _moves(block: FormulaBlock, reference: Reference, axis: int) -> bool:
        place = reference.at
        return bool(block.moving(axis)[place : place + 2 * reference.cells].any())

    def _fixed_unlike_neighbours(
        self, block: FormulaBlock, axis: int, alike: list[FormulaBlock]
    ) -> Reference | None:
        """The operand that is fixed here but moves in two or more adjacent blocks like this."""
        if block.flat or not (block.template.operators or block.template.functions):
            return None
        side = slice(axis, None, 2)
        beside = [
            b
            for b in alike
            if b is not block
            and b.template is block.template
            and b.sheet is block.sheet
            and b.extents == block.extents
            and (b.box[side] == block.box[side] or b.box[1 - axis :: 2] == block.box[1 - axis :: 2])
        ]
        if len(beside) < 2:
            return None
        stay = [r for r in block.template.references if not self._moves(block, r, axis)]
        return next((r for r in stay if all(self._moves(b, r, axis) for b in beside)), None)

    def _fixed_finding(self, block: FormulaBlock, axis: int, stays: Reference | None = None) -> Finding:
        line, sheet = LINES[axis], block.sheet
        first = text_at(self.forms, sheet, int(block.places[0]))
        if stays is not None:
            (values,) = values_at(self.forms, sheet, block.places[:1])
            operand = self.forms.operand(int(sheet.formulas[block.places[0]]), stays, values)
            what = f"{operand} in ={first}, ... stays the same in every {line}"
            do = f"Remove the $ before its {line} and copy the formula again."
        else:
            what = (
                f"every {line} has the same formulas, ={first}, ...: no operand moves with the {line}"
            )
            do = (
                f"Remove the $ before the {line} of the operand that should move, and copy the "
                "formula again."
            )
        return Finding(sheet.name, spans(block.keys), "fixed", what, do)

    def _sliding(self, block: FormulaBlock) -> Iterator[Finding]:
        """A range of a product that slides along the dimension that is summed."""
        template = block.template
        if not (template.is_product and {"SUMPRODUCT", "MMULT", "SUM"} & template.functions):
            return
        values = block.predicted(block.box[0], block.box[1])
        ranges = [r for r in template.references if r.cells == 2]
        for reference in ranges:
            others = [r for r in ranges if r is not reference]
            top, left, bottom, right = values[reference.at : reference.at + 4]
            if (top == bottom) == (left == right):
                continue
            along = reference.at + (ROW if left == right else COLUMN)
            slides = [
                a
                for a in (ROW, COLUMN)
                if block.extents[a] > 1 and (np.abs(block.slopes[[along, along + 2], a]) == 1).all()
            ]
            # A window that slides over a fixed range, or within its table, is a convolution.
            if (
                slides
                and any(self._moves(block, o, a) for o in others for a in (ROW, COLUMN))
                and not self._stays_within(block, reference)
            ):
                yield self._sliding_finding(block, along - reference.at, "and leaves its matrix")
                return

    def _slides_out(self, block: FormulaBlock) -> Iterator[Finding]:
        """A range that covers a whole table in the first line of a block and then slides off it, onto
        blank cells."""
        values = block.predicted(block.box[0], block.box[1]).astype(np.int64)
        for reference in block.template.references:
            sheet = self.lookup.sheet(reference.sheet, block.sheet)
            if reference.cells == 1 or sheet is None:
                continue
            first, last = (values[at : at + 2] for at in (reference.at, reference.at + 2))
            for axis in (ROW, COLUMN):
                ends = [reference.at + axis, reference.at + 2 + axis]
                further = block.extents[axis] - 1
                slides = further > 0 and bool((block.slopes[ends, axis] == 1).all())
                count = int(last[axis] - first[axis]) + 1
                if (
                    slides
                    and count > 1
                    and first[1 - axis] == last[1 - axis]
                    and self._is_whole(sheet, first, axis, count, further)
                ):
                    yield self._sliding_finding(block, axis, "out of its table")
                    return

    def _is_whole(self, sheet: SheetCells, first: Ints, axis: int, count: int, further: int) -> bool:
        """Whether a range is filled, with a heading or a blank before it and `further` blank cells
        after it."""
        keys = key_of(first) + STEPS[axis] * np.arange(-1, count + further)
        filled, numbers = sheet.find(keys) >= 0, self.lines.of(sheet, keys) != NO_NUMBER
        goes_before = numbers[0] and numbers[1]
        return bool(filled[1 : 1 + count].all() and not filled[1 + count :].any() and not goes_before)

    def _sliding_finding(self, block: FormulaBlock, axis: int, where: str) -> Finding:
        first, name = text_at(self.forms, block.sheet, int(block.places[0])), LINES[axis]
        return Finding(
            block.sheet.name,
            spans(block.keys),
            "sliding",
            f"in ={first}, ... a range slides along its {name}s from cell to cell {where}",
            f"Put a $ before its {name}s and copy the formula again.",
        )
