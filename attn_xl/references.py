"""What formulas refer to: whether it is filled, blank or text, and where they compute with none.

Counts cells of whole rectangles by binary search in sorted keys: nothing grows with what a sheet spans.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from .cells import MAX_COLUMNS, MAX_ROWS, address
from .findings import Finding
from .formulas_in import TEXT, WIDTH, FormulaBook, Ints, Sheet
from .patterns import Coordinates, Forms, Reference, Template, shortened, spans

HEIGHT = MAX_ROWS + 1
ADDING = frozenset(
    [
        "SUM",
        "SUMPRODUCT",
        "MMULT",
        "AVERAGE",
        "MAX",
        "MIN",
        "PRODUCT",
        "SUMSQ",
        "VAR",
        "VARP",
        "VAR.P",
        "VAR.S",
        "STDEV",
        "STDEVP",
        "STDEV.P",
        "STDEV.S",
        "EXP",
        "SQRT",
        "LN",
        "LOG",
        "LOG10",
        "POWER",
        "SIN",
        "COS",
        "TANH",
        "SUMXMY2",
        "SUMX2MY2",
        "MEDIAN",
        "MDETERM",
        "MINVERSE",
    ]
)
"""Functions of numbers: what is blank or text among their arguments is left out or taken for 0."""
CAREFUL = frozenset(
    [
        "IF",
        "IFS",
        "IFERROR",
        "IFNA",
        "ISBLANK",
        "ISNUMBER",
        "ISTEXT",
        "ISERROR",
        "ISERR",
        "ISNA",
        "COUNT",
        "COUNTA",
        "COUNTBLANK",
        "COUNTIF",
        "COUNTIFS",
        "SUMIF",
        "SUMIFS",
        "AVERAGEIF",
        "N",
        "T",
        "CHOOSE",
        "SWITCH",
        "AGGREGATE",
        "SUBTOTAL",
        "LET",
        "LAMBDA",
        "FILTER",
    ]
)
"""A formula with one of these may well have asked first whether there is a number."""
ASKING = frozenset(["ISBLANK", "ISNUMBER", "COUNT", "COUNTA", "COUNTBLANK"])

Rectangles = tuple[Ints, Ints, Ints, Ints]


class Filled:
    """Counts the cells of a sheet that are filled, or hold text, in rectangles."""

    def __init__(self, sheet: Sheet) -> None:
        self._all = self._both(sheet.keys)
        self._text = self._both(sheet.keys[sheet.kinds == TEXT])

    @staticmethod
    def _both(keys: Ints) -> tuple[Ints, Ints]:
        return keys, np.sort((keys % WIDTH) * HEIGHT + keys // WIDTH)

    def filled(self, rectangles: Rectangles) -> Ints:
        return self._count(self._all, rectangles)

    def texts(self, rectangles: Rectangles) -> Ints:
        return self._count(self._text, rectangles)

    @classmethod
    def count(cls, keys: Ints, rectangles: Rectangles) -> Ints:
        """How many of some cells, by their sorted keys, are in each rectangle."""
        return cls._count(cls._both(keys), rectangles)

    @staticmethod
    def _count(keys: tuple[Ints, Ints], rectangles: Rectangles) -> Ints:
        """Line by line, along the longer side of each rectangle."""
        whole = np.stack(rectangles, axis=1)
        once, which = np.unique(whole, axis=0, return_inverse=True)
        top, left, bottom, right = once.T
        height, width = bottom - top + 1, right - left + 1
        counts = np.zeros(len(once), dtype=np.int64)
        for by_rows in (True, False):
            mine = np.flatnonzero((height <= width) == by_rows)
            lines = height[mine] if by_rows else width[mine]
            line = 0
            while len(mine):
                if by_rows:
                    start = (top[mine] + line) * WIDTH + left[mine] - 1
                    length, sorted_keys = width[mine], keys[0]
                else:
                    start = (left[mine] + line - 1) * HEIGHT + top[mine]
                    length, sorted_keys = height[mine], keys[1]
                counts[mine] += np.searchsorted(sorted_keys, start + length)
                counts[mine] -= np.searchsorted(sorted_keys, start)
                line += 1
                mine, lines = mine[lines > line], lines[lines > line]
        return np.asarray(counts[which.reshape(-1)])


def rectangles_of(reference: Reference, values: Coordinates) -> Rectangles:
    """The rectangles (top, left, bottom, right) that a reference is in n formulas."""
    first = values[:, reference.at : reference.at + 2].astype(np.int64)
    last = first if reference.cells == 1 else values[:, reference.at + 2 : reference.at + 4]
    last = last.astype(np.int64)
    low, high = np.minimum(first, last), np.maximum(first, last)
    low = np.maximum(low, 1)
    high = np.minimum(high, [MAX_ROWS, MAX_COLUMNS])
    return low[:, 0], low[:, 1], high[:, 0], high[:, 1]


class Lookup:
    """The sheets of a book with what is filled in them, by name as formulas write it."""

    def __init__(self, book: FormulaBook) -> None:
        self._sheets = {name.casefold(): sheet for name, sheet in book.sheets.items()}
        self._filled: dict[str, Filled] = {}

    def sheet(self, name: str, own: Sheet | None = None) -> Sheet | None:
        """A sheet by its name; `own` where a formula names none."""
        return self._sheets.get(name.casefold()) if name else own

    def filled(self, sheet: Sheet) -> Filled:
        if sheet.name not in self._filled:
            self._filled[sheet.name] = Filled(sheet)
        return self._filled[sheet.name]

    def refers_to_blank(self, template: Template, values: Coordinates, own: Sheet) -> bool:
        """Whether one formula, with these coordinates (1, m), uses a blank cell."""
        for reference in template.references:
            sheet = self.sheet(reference.sheet, own)
            corners = rectangles_of(reference, values)
            top, left, bottom, right = (int(x[0]) for x in corners)
            if top > bottom or left > right or sheet is None:
                return True
            area = (bottom - top + 1) * (right - left + 1)
            if int(self.filled(sheet).filled(corners)[0]) < area:
                return True
        return False


def asked_about(book: FormulaBook, forms: Forms, lookup: Lookup) -> set[tuple[str, int]]:
    """The cells, by sheet and key, of which some formula asks whether they are blank (ISBLANK, COUNT):
    they are there to be filled in."""
    asked: set[tuple[str, int]] = set()
    for sheet, _, template, values in uses(book, forms):
        for reference in template.references:
            target = lookup.sheet(reference.sheet, sheet)
            if reference.function in ASKING and target is not None and reference.cells == 1:
                top, left, _, _ = rectangles_of(reference, values)
                asked.update((target.name, key) for key in (top * WIDTH + left - 1).tolist())
    return asked


def computed_with_nothing(
    book: FormulaBook, forms: Forms, lookup: Lookup, asked: set[tuple[str, int]]
) -> list[Finding]:
    """Formulas that compute with blank cells or with text.

    A blank cell that some formula asks about is there to be filled in, and a formula that asks (IF,
    COUNT, ...) is taken to know.
    """
    found: dict[tuple[str, str, str, str], list[Ints]] = defaultdict(list)
    for sheet, places, template, values in uses(book, forms):
        if template.functions & CAREFUL:
            continue
        for reference in template.references:
            target = lookup.sheet(reference.sheet, sheet)
            copied = template.text.rpartition("!")[2] in ("§", "§:§")
            adding = reference.function in ADDING and not reference.compared
            if target is None or not (reference.operand or adding or copied):
                continue
            corners = rectangles_of(reference, values)
            area = (corners[2] - corners[0] + 1) * (corners[3] - corners[1] + 1)
            if reference.cells == 2 and (area > 1_000_000).any():
                continue  # whole columns and rows are given for what may come
            cells = lookup.filled(target)
            for kind, bad in (
                ("blank", cells.filled(corners) < area),
                ("text", (cells.texts(corners) > 0) & (not copied)),
            ):
                for place in np.flatnonzero(bad).tolist():
                    box = [int(x[place]) for x in corners]
                    if kind == "blank" and (target.name, box[0] * WIDTH + box[1] - 1) in asked:
                        continue
                    said = _in_words(target, cells, box, kind, asked)
                    if said:
                        at = "" if target is sheet else target.name
                        found[sheet.name, kind, at, said].append(sheet.keys[places[place]])
    out = []
    for (name, kind, at, said), keys in found.items():
        there = f" of {at!r}" if at else ""
        if kind == "blank":
            what, do = f"uses {said}{there}, blank", "Fill it in, or take it out of the formula."
        else:
            what, do = f"computes with {said}{there}, text", "Refer to numbers only."
        out.append(Finding(name, spans(np.array(keys)), kind, what, do))
    return out


def uses(book: FormulaBook, forms: Forms) -> Iterator[tuple[Sheet, Ints, Template, Coordinates]]:
    """For each sheet and template that refers to something: the places of its cells, and their
    coordinates."""
    for sheet in book.sheets.values():
        where = np.flatnonzero(sheet.formulas >= 0)
        kinds = forms.template[sheet.formulas[where]]
        order = np.argsort(kinds, kind="stable")
        for places in np.split(where[order], np.flatnonzero(np.diff(kinds[order])) + 1):
            if len(places):
                template = forms.templates[int(forms.template[sheet.formulas[places[0]]])]
                if template.references or template.names:
                    rows, columns = sheet.keys[places] // WIDTH, sheet.keys[places] % WIDTH + 1
                    values = forms.coordinates(sheet.formulas[places], rows, columns)
                    yield sheet, places, template, values


def _in_words(
    sheet: Sheet, cells: Filled, box: list[int], kind: str, asked: set[tuple[str, int]]
) -> str:
    """Which cells of a rectangle are blank, or text; the rectangle itself where it is large."""
    top, left, bottom, right = box
    if (bottom - top + 1) * (right - left + 1) > 10_000:
        return f"cells of {address(top, left)}:{address(bottom, right)}"
    keys = np.add.outer(np.arange(top, bottom + 1) * WIDTH, np.arange(left - 1, right)).ravel()
    at = sheet.find(keys)
    bad = at < 0 if kind == "blank" else (at >= 0) & (sheet.kinds[at] == TEXT)
    named = [key for key in keys[bad].tolist() if kind == "text" or (sheet.name, key) not in asked]
    return shortened(spans(np.array(named))) if named else ""
