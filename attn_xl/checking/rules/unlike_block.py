"""Unlike its block: a cell that disagrees with the block it stands in, by its formula or by being a
typed constant or blank.

Limits: in a line of fewer than four cells, or a rectangle of fewer than six, the odd cell cannot be
identified; nor can it if more than a third of a block is odd.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from attn_xl.checking.blocks.block_cells import (
    are_in_its_lines,
    cannot_compute,
    fitting,
    formula_for,
    has_its_line,
    is_diagonal,
    other_cells,
    predicted,
    text_at,
    unlike,
    values_at,
)
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.blocks.blocks import FormulaBlock, groups
from attn_xl.spreadsheets.blocks.pieces import NO_NUMBER, Pieces
from attn_xl.spreadsheets.blocks.references import keys_within
from attn_xl.spreadsheets.blocks.templates import Coordinates, Template
from attn_xl.spreadsheets.formulas import NUMBER, TEXT, WIDTH, Ints, SheetCells

ROW, COLUMN = 0, 1
STEPS = (WIDTH, 1)
"""From a cell's key to that of the one below, and of the one to the right."""
MOST_ODD = 1 / 2  # odd cells per fitting cell, at most: one line of three is odd
_ADJUSTMENT = re.compile(r"[+-][0-9.]+")
"""A number that somebody adds to a formula once."""
Overwritten = dict[Finding, list[tuple[int, str]]]
"""For each finding of constants, the keys of the cells and the formulas that belong there."""
MOST_LINKS = 1_000  # of a block that are followed
MOST_SKIPPING = 4  # lines of links, of which the distance is chance
FEWEST_IN_LINE, FEWEST_IN_RECTANGLE = 3, 5  # fitting cells that make another one odd
MOST_BLANK = 1 / 3  # blank cells per formula; with more, the blanks look intended
FEWEST_AROUND_HOLE = 4  # formulas of a line


class Slips:
    """Finds the cells of a workbook that differ from their neighbours: formulas and constants unlike
    those of their block, and blank cells that its formula could compute.

    Args:
        pieces: the blocks of a workbook; asked: the cells (sheet and key) that formulas test for being
            blank, which are no holes.

    Attributes:
        overwritten: for each finding of constants, the cells and the formulas that belong there.
    """

    def __init__(self, pieces: Pieces, asked: set[tuple[str, int]]) -> None:
        self.forms, self.lookup, self.readers = pieces.forms, pieces.lookup, pieces.readers
        self.pieces, self.blocks = pieces, pieces.blocks
        self.asked = asked
        self.overwritten: Overwritten = {}

    def all(self) -> Iterator[Finding]:
        """All findings."""
        for block in self.blocks:
            if len(block.places) >= (FEWEST_IN_LINE if block.flat else FEWEST_IN_RECTANGLE):
                yield from self._odd_formulas(block)
                yield from self._other_cells(block)
                for line in self._typed_lines(block):
                    yield self._constant(block, line)
            if len(block.places) >= (FEWEST_AROUND_HOLE if block.flat else FEWEST_IN_RECTANGLE):
                yield from self._holes_within(block)
            if block.flat and len(block.places) > 1:
                yield from self._holes_beside(block)

    def _are_few(self, block: FormulaBlock, odd: Ints) -> bool:
        """Whether odd cells are few among those of a block."""
        return len(odd) <= max(1, MOST_ODD * len(block.places))

    def _odd_formulas(self, block: FormulaBlock) -> Iterator[Finding]:
        """Formulas of the block's template whose references do not follow the block."""
        if not len(block.odd):
            return
        odd = block.sheet.keys[block.odd]
        rows, columns = odd // WIDTH, odd % WIDTH + 1
        top, left, bottom, right = block.box
        near = (rows >= top - 1) & (rows <= bottom + 1) & (columns >= left - 1) & (columns <= right + 1)
        # Row totals are not slips among column totals.
        near &= [not self._crosses(block, key) for key in odd.tolist()]
        within = odd[near]
        if not self._are_few(block, within):
            return
        for group in groups(within):
            if self._is_slip(block, group):
                yield self._odd(block, group)

    def _owner(self, sheet: SheetCells, key: int) -> int:
        """The number of the piece or the table that has a cell."""
        row, column = key // WIDTH, key % WIDTH + 1
        return int([*self.pieces.owners(sheet, (row, column, row, column)), NO_NUMBER][0])

    def _crosses(self, block: FormulaBlock, key: int) -> bool:
        """Whether a cell in a line of formulas is of another line, which crosses it."""
        if not block.flat:
            return False
        step = STEPS[ROW if block.extents[ROW] == 1 else COLUMN]
        before, own, after = (self._owner(block.sheet, key + n * step) for n in (-1, 0, 1))
        return 0 <= own < len(self.blocks) and own in (before, after)

    def _is_slip(self, block: FormulaBlock, group: Ints) -> bool:
        rows, columns = group // WIDTH, group % WIDTH + 1
        top, left, bottom, right = block.box
        texts = (block.sheet.kinds[block.sheet.find(group)] == TEXT).all()
        if texts and "&" in block.template.text:
            return False  # ="of "&15, ="of "&20
        if self._is_step(block, group) or self._reads_what_others_do(block, group):
            return False
        in_row, in_column = bool((rows == rows[0]).all()), bool((columns == columns[0]).all())
        if (len(group) > 1) if block.flat else not (in_row or in_column):
            return False
        outside = (rows < top) | (rows > bottom) | (columns < left) | (columns > right)
        if not outside.any():
            return True
        if all(cannot_compute(self.lookup, block, key) for key in group.tolist()):
            return False  # the operands of the block end where it does
        if block.flat:
            return not block.template.copies
        whole_row = in_row and (columns.min(), columns.max()) == (left, right)
        whole_column = in_column and (rows.min(), rows.max()) == (top, bottom)
        return bool(outside.all()) and (whole_row or whole_column)

    def _is_step(self, block: FormulaBlock, group: Ints) -> bool:
        """Whether several cells at the end of a line refer to another setting than those before: a
        growth rate from some year on."""
        rows, columns = group // WIDTH, group % WIDTH + 1
        box = block.box
        for own, along, side in ((rows, columns, 1), (columns, rows, 0)):
            first, last = along.min() <= box[side], along.max() >= box[side + 2]
            if len(group) > 1 and (own == own[0]).all() and first != last:
                values = values_at(self.forms, block.sheet, block.sheet.find(group))
                odd = (values != np.array(predicted(block, group))).any(axis=0)
                moves = np.array(self.forms.moves(int(block.sheet.formulas[block.places[0]])))
                return not moves[odd].any()
        return False

    def _reads_what_others_do(self, block: FormulaBlock, group: Ints) -> bool:
        """Whether links lead to cells that are computed as those of their block's other links are, and
        the block's pattern would not: losses that stand almost as far from each other; or to what the
        cells meant copy. Of a few links that skip lines it is not known how many they skip."""
        if not block.template.copies:
            return False
        (reference,) = block.template.references
        if any(
            extent <= MOST_SKIPPING
            and np.abs(block.slopes[reference.at : reference.at + 2, axis]).max() > 1
            for axis, extent in enumerate(block.extents)
        ):
            return True
        target = self.lookup.sheet(reference.sheet, block.sheet)
        if target is None:
            return False

        def linked(values: Coordinates) -> tuple[set[str], Coordinates]:
            ends = values[:, reference.at : reference.at + 2].astype(np.int64)
            keys = ends[:, 0] * WIDTH + ends[:, 1] - 1
            owners = {self._owner(target, key) for key in keys.tolist()}
            texts = {self.pieces.by_number(n).text if n != NO_NUMBER else "" for n in owners}
            return texts, target.numbers[target.find(keys)]

        usual, _ = linked(values_at(self.forms, block.sheet, block.places[:MOST_LINKS]))
        own, numbers = linked(values_at(self.forms, block.sheet, block.sheet.find(group)))
        meant, copied = linked(np.array(predicted(block, group)))
        if meant == {"§"} and (copied == numbers).all():
            return True
        return own == usual and len(usual) == 1 and usual != {""} and not usual & meant

    def _typed_lines(self, block: FormulaBlock) -> Iterator[Ints]:
        """Whole lines of numbers beside a block, where it would go on as long as what it is computed
        from does."""
        sheet = block.sheet
        whole = len(block.places) == block.extents[0] * block.extents[1]
        for side, step in ((0, -1), (2, 1), (1, -1), (3, 1)) if whole else ():
            axis, box = side % 2, list(block.box)
            box[axis] = box[axis + 2] = box[side] + step
            if box[axis] < 1 or (block.flat and block.extents[axis] < FEWEST_IN_LINE):
                continue
            keys = keys_within(*box)
            at = sheet.find(keys)
            if (at < 0).any() or self._reads(block, box):
                continue
            typed = (sheet.formulas[at] < 0) & (sheet.spilled[at] < 0) & (sheet.kinds[at] == NUMBER)
            steps = np.diff(sheet.numbers[at])
            if not typed.all() or (len(steps) and (steps == steps[0]).all()):
                continue
            values = block.predicted(int(keys[0]) // WIDTH, int(keys[0]) % WIDTH + 1)
            cells = [(r.sheet, *values[r.at : r.at + 2 * r.cells]) for r in block.template.references]
            # The base of a series of ratios is given: it would be compared with itself.
            if block.flat and (sheet.numbers[at[0]] in (0, 1) or len(set(cells)) < len(cells)):
                continue
            if all(self._goes_on(block, key, axis, step) for key in keys.tolist()):
                yield keys

    def _reads(self, block: FormulaBlock, box: list[int]) -> bool:
        """Whether a block reads cells of a box on its sheet, so that they are what it is made from."""
        (piece,) = (piece for piece in self.pieces.pieces if piece.block is block)
        boxes = np.array([read.box for read in piece.reads if read.sheet is block.sheet]).reshape(-1, 4)
        apart = (boxes[:, :2] > box[2:]) | (boxes[:, 2:] < box[:2])
        return bool((~apart.any(axis=1)).any())

    def _goes_on(self, block: FormulaBlock, key: int, axis: int, step: int) -> bool:
        """Whether the operands that move with a block's lines are, beside it, of the same tables, which
        end there."""
        expected = block.predicted(key // WIDTH, key % WIDTH + 1).astype(np.int64)
        ends = []
        for reference in block.template.references:
            target = self.lookup.sheet(reference.sheet, block.sheet)
            if target is None or block.slopes[reference.at + axis, axis] != 1:
                continue
            row, column = expected[reference.at : reference.at + 2].tolist()
            key = row * WIDTH + column - 1
            before, own, after = (self._owner(target, key + STEPS[axis] * step * n) for n in (-1, 0, 1))
            if own == NO_NUMBER or before != own:
                return False
            ends.append(after != own)
        return any(ends)

    def _odd(self, block: FormulaBlock, group: Ints) -> Finding:
        text = text_at(self.forms, block.sheet, int(block.sheet.find(group[:1])[0]))
        usual = formula_for(self.forms, block, int(group[0]))
        if text.startswith(usual) and _ADJUSTMENT.fullmatch(text.removeprefix(usual)):
            what = f"={text} adds a number to the formulas of"
            return unlike(self.forms, block, group, "adjusted", what)
        return unlike(self.forms, block, group, "pattern", f"={text} breaks the pattern of")

    def _other_cells(self, block: FormulaBlock) -> Iterator[Finding]:
        """Constants and formulas of another kind among those of the block."""
        strange = other_cells(block)
        strange = strange[~fitting(self.forms, block, strange)]
        sheet = block.sheet
        given = [self._is_given(block, place) for place in strange.tolist()]
        strange = strange[~np.array(given, dtype=np.bool_)]
        if not self._are_few(block, sheet.keys[strange]):
            strange = strange[are_in_its_lines(block, sheet.keys[strange])]
        if not len(strange) or not self._are_few(block, sheet.keys[strange]):
            return
        formulas = sheet.formulas[strange] >= 0
        numbers = ~formulas & (sheet.kinds[strange] == NUMBER)
        if is_diagonal(sheet, strange[numbers]):
            numbers[:] = False
        texts = ~formulas & (sheet.kinds[strange] == TEXT)
        for group in groups(sheet.keys[strange[numbers]]):
            yield self._constant(block, group)
        for mask, kind in ((formulas, "pattern"), (texts, "constant")):
            for group in groups(sheet.keys[strange[mask]]):
                if has_its_line(block, group) or self._summarizes(block, int(group[0])):
                    continue
                if kind == "constant" and block.extents[0] == 1:
                    continue  # a label of the formulas to its right
                yield self._odd(block, group) if kind == "pattern" else self._constant(block, group)

    def _is_given(self, block: FormulaBlock, place: int) -> bool:
        """Whether a number is typed since the block's formula cannot compute it, or would compute it
        from a typed number, unlike the cells of the block: the zeros of a triangle."""
        key = int(block.sheet.keys[place])
        if block.sheet.formulas[place] >= 0 or block.sheet.kinds[place] != NUMBER:
            return False
        here, there = predicted(block, np.array([key, int(block.keys[0])]))
        for r in block.template.references:
            sheet = self.lookup.sheet(r.sheet, block.sheet)
            if sheet is not None and r.cells == 1 and block.slopes[r.at : r.at + 2].any():
                keys = (int(v[r.at] * WIDTH + v[r.at + 1]) - 1 for v in (here, there))
                own, usual = (self._owner(sheet, key) for key in keys)
                if 0 <= usual < len(self.blocks) <= own:
                    return True
        return cannot_compute(self.lookup, block, key, typed=True)

    def _summarizes(self, block: FormulaBlock, key: int) -> bool:
        """Whether a formula in a line is computed from other cells of the line, while those are not: a
        mean price among totals."""
        (place,) = block.sheet.find(np.array([key]))
        formula = int(block.sheet.formulas[place])
        if not block.flat or formula < 0:
            return False
        (values,) = values_at(self.forms, block.sheet, np.array([place]))
        template = self.forms.templates[int(self.forms.template[formula])]
        (expected,) = predicted(block, np.array([key]))
        return self._in_line(block, template, values) and not self._in_line(
            block, block.template, expected
        )

    def _in_line(self, block: FormulaBlock, template: Template, values: Coordinates) -> bool:
        """Whether a formula uses cells of a block only."""
        keys = [values[r.at] * WIDTH + values[r.at + 1] - 1 for r in template.references]
        single = all(r.cells == 1 and not r.sheet for r in template.references)
        return bool(keys) and single and bool(np.isin(keys, block.keys).all())

    def _constant(self, block: FormulaBlock, group: Ints) -> Finding:
        value = block.sheet.stored(int(block.sheet.find(group[:1])[0]))
        shown = f"{value:.6g}" if isinstance(value, float) else "text"
        many = f"{len(group)} constants" if len(group) > 1 else f"the constant {shown}"
        copied = block.template.copies and self._in_line(
            block, block.template, predicted(block, group)[0]
        )
        kind = "restart" if copied else "constant"
        finding = unlike(self.forms, block, group, kind, f"{many} among the formulas of")
        self.overwritten[finding] = [
            (key, formula_for(self.forms, block, key)) for key in group.tolist()
        ]
        return finding

    # Blank cells

    def _holes_within(self, block: FormulaBlock) -> Iterator[Finding]:
        # Lines of another kind may stand between its lines.
        rows, columns = np.unique(block.keys // WIDTH), np.unique(block.keys % WIDTH)
        missing = len(rows) * len(columns) - len(block.places)
        if not 0 < missing <= MOST_BLANK * len(block.places):
            return
        keys = np.add.outer(rows * WIDTH, columns).ravel()
        blank = groups(keys[block.sheet.find(keys) < 0])
        if not any(self._is_asked(block, group) for group in blank):
            for group in blank:
                if len(group) < max(block.extents):
                    yield from self._hole(block, group)

    def _holes_beside(self, block: FormulaBlock) -> Iterator[Finding]:
        """A blank cell at an end of a short line of numbers, which other formulas read, or after a line
        that goes on behind it."""
        sheet, step = block.sheet, STEPS[ROW if block.extents[ROW] > 1 else COLUMN]
        short = len(block.places) < FEWEST_AROUND_HOLE and (sheet.kinds[block.places] == NUMBER).all()
        before, after = int(block.keys.min()) - step, int(block.keys.max()) + step
        for key in (before, after):
            row, column = key // WIDTH, key % WIDTH + 1
            if row > 0 and not self._is_filled(sheet, key):
                read = short and self.readers(sheet, (row, column, row, column)).any()
                if read or (key == after and self._goes_on_behind(block, before, after, step)):
                    yield from self._hole(block, np.array([key]))

    def _goes_on_behind(self, block: FormulaBlock, before: int, gap: int, step: int) -> bool:
        """Whether a line goes on after a gap; sections, each without its first cell, do not."""
        behind = gap + step * np.arange(1, 1 + max(1, FEWEST_AROUND_HOLE - len(block.places)))
        at = block.sheet.find(behind)
        if (at < 0).any() or not fitting(self.forms, block, at).all():
            return False
        return self._is_filled(block.sheet, before) or cannot_compute(self.lookup, block, before)

    def _is_filled(self, sheet: SheetCells, key: int) -> bool:
        return bool(sheet.find(np.array([key]))[0] >= 0)

    def _is_asked(self, block: FormulaBlock, keys: Ints) -> bool:
        return any((block.sheet.name, key) in self.asked for key in keys.tolist())

    def _hole(self, block: FormulaBlock, group: Ints) -> Iterator[Finding]:
        blank = any(cannot_compute(self.lookup, block, key) for key in group.tolist())
        if not blank and not self._is_asked(block, group):
            yield unlike(self.forms, block, group, "hole", "blank among the formulas of")
