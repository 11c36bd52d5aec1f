"""Unlike its block: a cell that disagrees with the block it stands in, by its formula or by being a
typed constant or blank.

Limits: in a line of fewer than four cells, or a rectangle of fewer than six, the odd cell cannot be
identified; nor can it if more than a third of a block is odd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from attn_xl.checking.blocks.block_cells import (
    are_in_its_lines,
    cannot_compute,
    entered,
    formula_for,
    has_its_line,
    is_diagonal,
    other_cells,
    predicted,
    text_at,
    values_at,
)
from attn_xl.checking.blocks.number_lines import (
    COLUMN,
    CONSTANT,
    NO_NUMBER,
    ROW,
    STEPS,
    NumberLines,
    key_of,
)
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.blocks.blocks import FormulaBlock, groups
from attn_xl.spreadsheets.blocks.pieces import Box
from attn_xl.spreadsheets.blocks.references import Lookup
from attn_xl.spreadsheets.blocks.templates import Coordinates, Forms, Template
from attn_xl.spreadsheets.formulas import NUMBER, TEXT, WIDTH, Ints, SheetCells
from attn_xl.spreadsheets.ranges import shortened_spans, spans

MOST_ODD = 1 / 2  # odd cells per fitting cell, at most: one line of three is odd
Overwritten = dict[Finding, list[tuple[int, str]]]
"""For each finding of constants, the keys of the cells and the formulas that belong there."""
MOST_SKIPPING = 4  # lines of links, of which the distance is chance
FEWEST_IN_LINE, FEWEST_IN_RECTANGLE = 3, 5  # fitting cells that make another one odd


class Slips:
    """Finds the cells of a workbook that differ from their neighbours.

    Args:
        forms: the formulas of a workbook as templates; lookup: its sheets; lines: its numbers and
            blocks.

    Attributes:
        overwritten: for each finding of constants, the cells and the formulas that belong there.
    """

    def __init__(
        self,
        forms: Forms,
        lookup: Lookup,
        lines: NumberLines,
    ) -> None:
        self.forms, self.lookup, self.lines = forms, lookup, lines
        self.blocks = lines.blocks
        self.overwritten: Overwritten = {}

    def all(self) -> Iterator[Finding]:
        """All findings."""
        for block in self.blocks:
            if self._is_evidence(block):
                yield from self._odd_formulas(block)
                yield from self._other_cells(block)
                for line in self._typed_lines(block):
                    yield self._constant(block, line)

    def _is_evidence(self, block: FormulaBlock) -> bool:
        fewest = FEWEST_IN_LINE if block.flat else FEWEST_IN_RECTANGLE
        return len(block.places) >= fewest

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
        near &= [not self.lines.crosses(block, key) for key in odd.tolist()]
        within = odd[near]
        if not self._are_few(block, within):
            return
        for group in groups(within):
            if self._is_slip(block, group):
                yield self._odd(block, group)

    def _is_slip(self, block: FormulaBlock, group: Ints) -> bool:
        rows, columns = group // WIDTH, group % WIDTH + 1
        top, left, bottom, right = block.box
        in_row, in_column = len(set(rows.tolist())) == 1, len(set(columns.tolist())) == 1
        if (
            self._counts_in_text(block, group)
            or self._is_step(block, group)
            or self._reads_what_others_do(block, group)
        ):
            return False
        if block.flat:
            if len(group) > 1:
                return False
        elif not (in_row or in_column):
            return False
        outside = (rows < top) | (rows > bottom) | (columns < left) | (columns > right)
        if not outside.any():
            return True
        if block.flat:
            whole = block.template.general != "§"
        else:
            whole = bool(outside.all()) and (
                (in_row and (columns.min(), columns.max()) == (left, right))
                or (in_column and (rows.min(), rows.max()) == (top, bottom))
            )
        if all(cannot_compute(self.lookup, block, key) for key in group.tolist()):
            return False  # the operands of the block end where it does
        return whole

    def _is_step(self, block: FormulaBlock, group: Ints) -> bool:
        """Whether several cells at the end of a line refer to another setting than those before: a
        growth rate from some year on."""
        rows, columns = group // WIDTH, group % WIDTH + 1
        box = block.box
        for own, along, side in ((rows, columns, 1), (columns, rows, 0)):
            ends = along.max() >= box[side + 2] or along.min() <= box[side]
            whole = along.min() <= box[side] and along.max() >= box[side + 2]
            if len(group) > 1 and (own == own[0]).all() and ends and not whole:
                values = values_at(self.forms, block.sheet, block.sheet.find(group))
                odd = (values != np.array(predicted(block, group))).any(axis=0)
                moves = np.array(self.forms.moves(int(block.sheet.formulas[block.places[0]])))
                return not moves[odd].any()
        return False

    def _reads_what_others_do(self, block: FormulaBlock, group: Ints) -> bool:
        """Whether links lead to cells that are computed as those of their block's other links are, and
        the block's pattern would not: losses that stand almost as far from each other. Of a few links
        that skip lines it is not known how many they skip."""
        if block.template.general != "§":
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

        def at(values: Coordinates) -> Ints:
            ends = values[:, reference.at : reference.at + 2].astype(np.int64)
            return np.asarray(target.find(ends[:, 0] * WIDTH + ends[:, 1] - 1))

        def computed(places: Ints) -> Ints:
            formulas = np.where(places < 0, -1, target.formulas[places])
            return np.where(formulas < 0, -1, self.forms.template[formulas])

        usual = computed(at(values_at(self.forms, block.sheet, block.places)))
        own = at(values_at(self.forms, block.sheet, block.sheet.find(group)))
        meant = at(np.array(predicted(block, group)))
        if (linked := self._linked(target, meant)) is not None and (linked == own).all():
            return True
        alike = usual[0] >= 0 and (usual == usual[0]).all() and (computed(own) == usual[0]).all()
        return bool(alike and (computed(meant) != usual[0]).all())

    def _linked(self, sheet: SheetCells, places: Ints) -> Ints | None:
        """The places of the cells of a sheet to which other cells of it are links, if all are."""
        formulas = np.where(places < 0, -1, sheet.formulas[places])
        kinds = set(self.forms.template[formulas].tolist()) if (formulas >= 0).all() else set()
        if len(kinds) != 1:
            return None
        template = self.forms.templates[kinds.pop()]
        if template.general != "§" or template.references[0].sheet:
            return None
        start = template.references[0].at
        ends = values_at(self.forms, sheet, places)[:, start : start + 2].astype(np.int64)
        return sheet.find(ends[:, 0] * WIDTH + ends[:, 1] - 1)

    def _typed_lines(self, block: FormulaBlock) -> Iterator[Ints]:
        """Whole lines of numbers beside a block, where it would go on as long as what it is computed
        from does."""
        top, left, bottom, right = block.box
        if len(block.places) < block.extents[0] * block.extents[1]:
            return
        sheet = block.sheet
        for axis, line, step in ((0, top, -1), (0, bottom, 1), (1, left, -1), (1, right, 1)):
            if block.flat and block.extents[axis] < FEWEST_IN_LINE:
                continue
            across = np.arange(left - 1, right) if axis == 0 else np.arange(top, bottom + 1) * WIDTH
            keys = across + (line + step) * WIDTH if axis == 0 else across + line + step - 1
            at = sheet.find(keys)
            if keys.min() < WIDTH or line + step < 1 or (at < 0).any():
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

    def _goes_on(self, block: FormulaBlock, key: int, axis: int, step: int) -> bool:
        """Whether the operands that move with a block's lines are, beside it, of the same tables, which
        end there."""
        expected = block.predicted(key // WIDTH, key % WIDTH + 1).astype(np.int64)
        ends = []
        for reference in block.template.references:
            target = self.lookup.sheet(reference.sheet, block.sheet)
            if target is None or block.slopes[reference.at + axis, axis] != 1:
                continue
            cells = key_of(expected[reference.at : reference.at + 2]) + STEPS[axis] * step * np.arange(
                -1, 2
            )
            before, own, after = self.lines.of(target, cells).tolist()
            if own == NO_NUMBER or before != own:
                return False
            ends.append(after != own)
        return any(ends)

    def _counts_in_text(self, block: FormulaBlock, group: Ints) -> bool:
        """Whether text formulas differ only in the numbers they contain: `of 15`, `of 20`."""
        places = block.sheet.find(group)
        if "n" not in block.template.roles or (block.sheet.kinds[places] != TEXT).any():
            return False
        cells = np.array([role != "n" for role in block.template.roles])
        return all(
            np.array_equal(values[cells], expected[cells])
            for values, expected in zip(
                values_at(self.forms, block.sheet, places), predicted(block, group)
            )
        )

    def _odd(self, block: FormulaBlock, group: Ints) -> Finding:
        cells = spans(group)
        expected = formula_for(self.forms, block, int(group[0]))
        place = block.sheet.find(group[:1])[0]
        return Finding(
            block.sheet.name,
            cells,
            "pattern",
            f"={text_at(self.forms, block.sheet, int(place))} breaks the pattern of "
            f"{shortened_spans(block.spans)}; their formula here is ={expected}",
            entered(self.forms, block, group, expected),
        )

    def _other_cells(self, block: FormulaBlock) -> Iterator[Finding]:
        """Constants and formulas of another kind among those of the block."""
        strange = self._unlike_block(block, other_cells(block))
        sheet = block.sheet
        given = [
            int(sheet.keys[place])
            for place in strange[: len(block.places)].tolist()
            if int(sheet.formulas[place]) < 0
            and sheet.kinds[place] == NUMBER
            and (
                cannot_compute(self.lookup, block, int(sheet.keys[place]), typed=True)
                or self._is_of_typed(block, int(sheet.keys[place]))
            )
        ]
        strange = strange[~np.isin(sheet.keys[strange], given)]
        if not self._are_few(block, sheet.keys[strange]):
            strange = strange[are_in_its_lines(block, sheet.keys[strange])]
        if not len(strange) or not self._are_few(block, sheet.keys[strange]):
            return
        formulas = sheet.formulas[strange] >= 0
        numbers = ~formulas & (sheet.kinds[strange] == NUMBER)
        if is_diagonal(block, sheet, strange[numbers]):
            numbers[:] = False
        texts = ~formulas & (sheet.kinds[strange] == TEXT)
        for group in groups(sheet.keys[strange[numbers]]):
            if block.flat or len(group) <= max(block.extents):
                yield self._constant(block, group)
        for mask, kind in ((formulas, "pattern"), (texts, "constant")):
            for group in groups(sheet.keys[strange[mask]]):
                if has_its_line(block, group):
                    continue  # a line of its own
                if self.lines.crosses(block, int(group[0])) or self._summarizes(block, int(group[0])):
                    continue
                if kind == "constant" and block.extents[0] == 1:
                    continue  # a label of the formulas to its right
                yield self._odd(block, group) if kind == "pattern" else self._constant(block, group)

    def _is_of_typed(self, block: FormulaBlock, key: int) -> bool:
        """Whether a typed number would be computed from a typed one, unlike the cells of the block: the
        zeros of a triangle."""
        here, there = predicted(block, np.array([key, int(block.keys[0])]))
        for r in block.template.references:
            sheet = self.lookup.sheet(r.sheet, block.sheet)
            if sheet is not None and r.cells == 1 and block.slopes[r.at : r.at + 2].any():
                cells = [key_of(values[r.at : r.at + 2].astype(np.int64)) for values in (here, there)]
                own, usual = self.lines.of(sheet, np.array(cells)).tolist()
                if own == CONSTANT and usual >= 0:
                    return True
        return False

    def _unlike_block(self, block: FormulaBlock, places: Ints) -> Ints:
        """The cells whose formula differs from the one that the block has there."""
        sheet, forms = block.sheet, self.forms
        alike = np.zeros(len(places), dtype=np.bool_)
        for i, place in enumerate(places.tolist()):
            formula = int(sheet.formulas[place])
            if formula < 0:
                continue
            template = forms.templates[int(forms.template[formula])]
            (values,) = values_at(forms, sheet, places[i : i + 1])
            (expected,) = predicted(block, sheet.keys[places[i : i + 1]])
            alike[i] = template is block.template and np.array_equal(values, expected)
        return places[~alike]

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
        copied = block.template.text == "§" and self._in_line(
            block, block.template, predicted(block, group)[0]
        )
        finding = Finding(
            block.sheet.name,
            spans(group),
            "restart" if copied else "constant",
            f"{many} among the formulas of {shortened_spans(block.spans)}; their formula here is "
            f"={formula_for(self.forms, block, int(group[0]))}",
            entered(self.forms, block, group, formula_for(self.forms, block, int(group[0]))),
        )
        self.overwritten[finding] = [
            (key, formula_for(self.forms, block, key)) for key in group.tolist()
        ]
        return finding


# Blank cells

MOST_BLANK = 1 / 3  # blank cells per formula; with more, the blanks look intended
FEWEST_AROUND_HOLE = 4  # formulas of a line


class Holes:
    """Finds blank cells that a block's formula could compute and that no formula tests for blanks.

    Args:
        forms: the formulas of a workbook as templates; lookup: its sheets; lines: its numbers and
            blocks; asked: the cells (sheet and key) that formulas test before they use them; read: how
            many operands go over each cell of a box.
    """

    def __init__(
        self,
        forms: Forms,
        lookup: Lookup,
        lines: NumberLines,
        asked: set[tuple[str, int]],
        read: Callable[[SheetCells, Box], Ints],
    ) -> None:
        self.forms, self.lookup, self.lines, self.asked = forms, lookup, lines, asked
        self.read = read

    def all(self) -> Iterator[Finding]:
        """All findings."""
        for block in self.lines.blocks:
            if len(block.places) >= (FEWEST_AROUND_HOLE if block.flat else FEWEST_IN_RECTANGLE):
                yield from self._in_rectangle(block)
            yield from self._after(block)
            numbers = bool((block.sheet.kinds[block.places] == NUMBER).all())
            if numbers and block.flat and 1 < len(block.places) < FEWEST_AROUND_HOLE:
                yield from self._that_is_read(block)

    def _that_is_read(self, block: FormulaBlock) -> Iterator[Finding]:
        """A blank cell at an end of a short line, which other formulas read."""
        step = STEPS[ROW if block.extents[ROW] > 1 else COLUMN]
        for key in (int(block.keys.min()) - step, int(block.keys.max()) + step):
            row, column = key // WIDTH, key % WIDTH + 1
            blank = row > 0 and block.sheet.find(np.array([key]))[0] < 0
            read = self.read(block.sheet, (row, column, row, column)).any()
            if blank and read and not self._is_asked(block, np.array([key])):
                yield from self._hole(block, np.array([key]), block.keys)

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

    def _after(self, block: FormulaBlock) -> Iterator[Finding]:
        """A blank cell after a line that goes on behind it."""
        if not block.flat or len(block.places) < 2:
            return
        sheet, step = block.sheet, STEPS[ROW if block.extents[ROW] > 1 else COLUMN]
        gap = int(block.keys.max()) + step
        line = gap + step * np.arange(FEWEST_AROUND_HOLE)
        at = sheet.find(line)
        follows = at[1 : 1 + max(1, FEWEST_AROUND_HOLE - len(block.places))]
        if at[0] >= 0 or (follows < 0).any() or (sheet.formulas[follows] < 0).any():
            return
        before = int(block.keys.min()) - step
        if sheet.find(np.array([before]))[0] < 0 and not cannot_compute(self.lookup, block, before):
            return  # sections, each without its first
        for place in follows:
            template = self.forms.templates[int(self.forms.template[sheet.formulas[place]])]
            (values,) = values_at(self.forms, sheet, np.array([place]))
            (expected,) = predicted(block, sheet.keys[[place]])
            if template is not block.template or not np.array_equal(values, expected):
                return
        if not self._is_asked(block, np.array([gap])):
            yield from self._hole(block, np.array([gap]), block.keys)

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
