"""Operands that stay or move where they should not: a `$` too many or too few, in a whole block, so
that no cell of it differs from its neighbours. Knows blocks, and what a matrix product needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .findings import Finding
from .formula_blocks import Block
from .formula_slips import text_at
from .formulas_in import WIDTH
from .patterns import Forms, Reference, spans
from .references import Lookup

ROW, COLUMN = 0, 1
LINES = ("row", "column")


class Operands:
    """Finds the blocks whose operands are out of place.

    Args:
        forms: the formulas taken apart; found: the blocks; lookup: the sheets.
    """

    def __init__(self, forms: Forms, found: list[Block], lookup: Lookup) -> None:
        self.forms, self.blocks, self.lookup = forms, found, lookup

    def all(self) -> Iterator[Finding]:
        """Blocks of which an operand does not move where it should, or moves where it should not."""
        alike: dict[str, list[Block]] = defaultdict(list)
        at: dict[tuple[str, int], Block] = {}
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
                if long and self._is_fixed(block, axis, alike[block.template.general], at):
                    yield self._fixed_finding(block, axis)
            yield from self._sliding(block)

    def _is_fixed(
        self, block: Block, axis: int, alike: list[Block], at: dict[tuple[str, int], Block]
    ) -> bool:
        template = block.template
        if not template.references:
            return False
        if not block.moving(axis).any():
            if template.is_product:
                return True
            if block.flat:
                return False
            others = [b for b in alike if b is not block and b.extents[axis] > 1 and not b.flat]
            moved = all(b.moving(axis).any() for b in others)
            if (template.functions or template.operators) and len(others) >= 2 and moved:
                return True
            return self._one_line_of_a_block(block, axis, at)
        return self._unlike_those_beside(block, axis, alike)

    def _one_line_of_a_block(self, block: Block, axis: int, at: dict[tuple[str, int], Block]) -> bool:
        """Whether all lines of a block use the first line of a block that has just as many."""
        values = block.predicted(block.box[0], block.box[1])
        for reference in block.template.references:
            target = self.lookup.sheet(reference.sheet, block.sheet)
            if reference.cells == 1 and target is not None and self._moves(block, reference, 1 - axis):
                key = int(values[reference.at]) * WIDTH + int(values[reference.at + 1]) - 1
                source = at.get((target.name, key))
                if source is not None and source.extents == block.extents:
                    return True
        return False

    @staticmethod
    def _moves(block: Block, reference: Reference, axis: int) -> bool:
        place = reference.at
        return bool(block.moving(axis)[place : place + 2 * reference.cells].any())

    def _unlike_those_beside(self, block: Block, axis: int, alike: list[Block]) -> bool:
        """Whether an operand stays where those of two or more blocks beside this one move."""
        if block.flat or not (block.template.operators or block.template.functions):
            return False
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
        return len(beside) >= 2 and any(
            not self._moves(block, reference, axis)
            and all(self._moves(b, reference, axis) for b in beside)
            for reference in block.template.references
        )

    def _fixed_finding(self, block: Block, axis: int) -> Finding:
        line = LINES[axis]
        first = text_at(self.forms, block.sheet, int(block.places[0]))
        if block.moving(axis).any():
            what = f"an operand of ={first} stays where it moves in the blocks beside this one"
        else:
            what = (
                f"every {line} has the same formulas, ={first}, ...: no operand moves with the {line}s"
            )
        return Finding(
            block.sheet.name,
            spans(block.keys),
            "fixed",
            what,
            f"Take the $ before the {line} from the operand that should move, and copy.",
        )

    def _sliding(self, block: Block) -> Iterator[Finding]:
        """A range of a product that slides along the side that is added up."""
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
            slides = [a for a in (ROW, COLUMN) if block.extents[a] > 1 and block.moving(a)[along]]
            # A window that slides over a fixed range is a convolution.
            if slides and any(self._moves(block, o, a) for o in others for a in (ROW, COLUMN)):
                first = text_at(self.forms, block.sheet, int(block.places[0]))
                name = LINES[along - reference.at]
                yield Finding(
                    block.sheet.name,
                    spans(block.keys),
                    "sliding",
                    f"in ={first}, ... a range slides along its {name}s from cell to cell, and leaves "
                    "its matrix",
                    f"Put a $ before its {name}s, and copy.",
                )
                return
