"""Sums with inconsistent terms: a `$` that only one term has or lacks, a cell or a sheet that is added
twice while the next one is left out, a cell subtracted from itself. Every cell of the block has the
same slip, so that none differs from its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from attn_xl.checking.blocks.block_cells import text_at
from attn_xl.checking.blocks.blocks import FormulaBlock
from attn_xl.checking.blocks.number_lines import key_of
from attn_xl.checking.blocks.references import Lookup
from attn_xl.checking.blocks.templates import Forms, Reference, Template
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.formulas import NUMBER, Ints, SheetCells
from attn_xl.spreadsheets.ranges import spans

_SUM = re.compile(r"(?<![§\w:^/!])§(?:\*§)*(?:\+§(?:\*§)*)+(?![\^:(])")
"""A sum of cells or of products of cells."""
_ARGUMENTS = re.compile(r"(?<=SUM\()§(?:,§)+(?=\))|(?<=AVERAGE\()§(?:,§)+(?=\))")
"""A list of cells as arguments of SUM or AVERAGE."""
FEWEST = 3  # terms; of two, neither is the odd one
Terms = list[list[Reference]]


class TermSlips:
    """Finds blocks whose formulas add inconsistent terms.

    Args:
        forms: the formulas of a workbook as templates; lookup: its sheets; found: its blocks.
    """

    def __init__(self, forms: Forms, lookup: Lookup, found: list[FormulaBlock]) -> None:
        self.forms, self.lookup, self.blocks = forms, lookup, found

    def all(self) -> Iterator[Finding]:
        """All findings."""
        for block in self.blocks:
            if block.template.general in ("§-§", "§/§") and self._of_itself(block):
                yield self._finding(
                    block,
                    "has the same cell on both sides",
                    "Replace one of them with the intended cell.",
                )
            for terms in _sums(block.template):
                slip = next(self._odd(block, terms), None)
                if slip:
                    yield self._finding(block, *slip)
                    break

    def _finding(self, block: FormulaBlock, what: str, do: str) -> Finding:
        first = text_at(self.forms, block.sheet, int(block.places[0]))
        more = ", ..." if len(block.places) > 1 else ""
        return Finding(block.sheet.name, spans(block.keys), "terms", f"={first}{more} {what}", do)

    def _of_itself(self, block: FormulaBlock) -> bool:
        references = block.template.references
        if len(references) != 2 or references[0].sheet != references[1].sheet:
            return False
        at, other = (slice(r.at, r.at + 2) for r in references)
        return bool(
            np.array_equal(block.start[at], block.start[other])
            and np.array_equal(block.slopes[at], block.slopes[other])
        )

    def _odd(self, block: FormulaBlock, terms: Terms) -> Iterator[tuple[str, str]]:
        factors = len(terms[0])
        alike = [term for term in terms if len(term) == factors]
        columns = [[term[k] for term in alike] for k in range(factors)]
        if len(alike) >= FEWEST:
            if factors == 1:
                yield from self._sheet_twice(block, columns[0])
            elif len(block.places) > 1:
                for column in columns:
                    yield from self._one_moves_differently(block, column)
            steps = [self._step(block, column) for column in columns]
            for column in columns:
                if factors == 1 or any(steps) or self._repeats(block, columns):
                    yield from self._twice(block, column)
        if factors > 1 and len(alike) == len(terms) - 1 and len(terms[-1]) == 1:
            for column in columns:
                if self._step(block, column):
                    yield from self._twice(block, [*column, *terms[-1]])

    def _repeats(self, block: FormulaBlock, columns: list[list[Reference]]) -> bool:
        """Whether a term equals the one before it."""
        same = [(np.diff(self._cells(block, column), axis=0) == 0).all(axis=1) for column in columns]
        return bool(np.all(same, axis=0).any())

    def _cells(self, block: FormulaBlock, column: list[Reference]) -> Ints:
        """The rows and columns (n, 2) of operands in the first formula."""
        values = block.predicted(*block.box[:2])
        return np.array([values[r.at : r.at + 2] for r in column]).astype(np.int64)

    def _step(self, block: FormulaBlock, column: list[Reference]) -> tuple[int, int] | None:
        """The step from each operand to the next, if they are adjacent cells in a line."""
        if len(column) < 2:
            return None
        steps = np.diff(self._cells(block, column), axis=0)
        one = tuple(steps[0].tolist())
        alike = len({r.sheet for r in column}) == 1 and bool((steps == steps[0]).all())
        return one if alike and abs(one[0]) + abs(one[1]) == 1 else None

    def _one_moves_differently(
        self, block: FormulaBlock, column: list[Reference]
    ) -> Iterator[tuple[str, str]]:
        """Adjacent operands of which exactly one moves differently with the rows or the columns."""
        if not self._step(block, column):
            return
        for axis in (0, 1):
            if block.extents[axis] < 2:
                continue
            slopes = [block.slopes[r.at : r.at + 2, axis].tolist() for r in column]
            odd = [k for k, slope in enumerate(slopes) if slopes.count(slope) == 1]
            if len(odd) == 1 and len({tuple(slope) for slope in slopes}) == 2:
                names = [self._name(block, r) for r in column]
                others = [name for k, name in enumerate(names) if k != odd[0]]
                yield (
                    f"moves {names[odd[0]]} differently from {', '.join(others)} beside it",
                    "Give it the same $ as the others and copy the formula again.",
                )

    def _twice(self, block: FormulaBlock, column: list[Reference]) -> Iterator[tuple[str, str]]:
        """Adjacent operands of which one occurs twice while the next one is left out."""
        if len(column) < FEWEST or len({r.sheet for r in column}) > 1:
            return
        cells = self._cells(block, column)
        for k in range(1, len(column)):
            if (cells[k] != cells[k - 1]).any():
                continue
            for odd, right in ((k, k - 1), (k - 1, k)):
                others = np.delete(np.arange(len(column)), odd)
                steps = np.diff(cells[others], axis=0) / np.diff(others)[:, None]
                if not (steps == steps[0]).all() or np.abs(steps[0]).sum() != 1:
                    continue
                meant = cells[right] + (odd - right) * steps[0].astype(np.int64)
                sheet = self.lookup.sheet(column[0].sheet, block.sheet)
                if (
                    sheet is not None
                    and not (cells == meant).all(axis=1).any()
                    and _number(sheet, meant)
                ):
                    name = self._name(block, column[odd])
                    left_out = spans(np.array([key_of(meant)]))
                    yield (
                        f"has {name} twice and leaves out {left_out}",
                        "Replace one with the other and copy the formula again.",
                    )

    def _sheet_twice(self, block: FormulaBlock, column: list[Reference]) -> Iterator[tuple[str, str]]:
        """The same cell of several sheets, where one sheet occurs twice and another is left out."""
        cells, names = self._cells(block, column), [r.sheet for r in column]
        if (cells != cells[0]).any() or len(set(names)) != len(names) - 1 or "" in names:
            return
        twice = next(name for name in names if names.count(name) == 2)
        own = block.sheet.name.casefold()
        known = {name.casefold() for name in names}
        for sheet in self.lookup.sheets():
            name = sheet.name.casefold()
            if name != own and name not in known and _number(sheet, cells[0]):
                yield (
                    f"adds {twice} twice and leaves out {sheet.name}",
                    "Replace one with the other and copy the formula again.",
                )

    def _name(self, block: FormulaBlock, reference: Reference) -> str:
        values = block.predicted(*block.box[:2])
        return self.forms.operand(int(block.sheet.formulas[block.places[0]]), reference, values)


def _number(sheet: SheetCells, cell: Ints) -> bool:
    place = int(sheet.find(np.array([key_of(cell)]))[0])
    return bool((cell > 0).all()) and place >= 0 and sheet.kinds[place] == NUMBER


def _sums(template: Template) -> list[Terms]:
    """The sums of a formula, as lists of terms; a term lists the cells that are multiplied."""
    return _sums_of(template.general, template.roles, template.references)


@lru_cache(maxsize=1024)
def _sums_of(text: str, roles: str, references: tuple[Reference, ...]) -> list[Terms]:
    by_place = {r.at: r for r in references if r.cells == 1}
    marks: list[Reference | None] = []
    place = 0
    while place < len(roles):
        marks.append(by_place.get(place))
        place += 1 if roles[place] == "n" else 2
    out = []
    for found in (*_SUM.finditer(text), *_ARGUMENTS.finditer(text)):
        at = text.count("§", 0, found.start())
        terms: list[list[Reference | None]] = []
        for term in re.split("[+,]", found[0]):
            count = term.count("§")
            terms.append(marks[at : at + count])
            at += count
        whole = [[r for r in term if r is not None] for term in terms]
        if [len(term) for term in whole] == [len(term) for term in terms]:
            out.append(whole)
    return out
