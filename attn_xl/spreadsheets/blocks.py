"""Blocks of formulas: the cells that copying one formula fills, and what their references mean."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .addresses import parse_area, split_address, unquoted
from .formulas import WIDTH, Formula, FormulaBook, Ints, SheetCells

Coordinates = NDArray[np.float64]

_PREFIX = re.compile(r"^(?:_XLFN\.|_XLWS\.|_XLUDF\.|_XLPM\.)+")

_FAST = re.compile(
    r"(?<![\w.$])(?:(\$?)([A-Z]{1,3})(\$?)([1-9][0-9]{0,6})(?![\w.(!])"
    r"|([0-9]+(?:\.[0-9]*)?(?:E[+-]?[0-9]+)?)(?![\w.(!:$]))"
)
_SHEET = r"(?:('(?:[^']|'')+'|[\w.]+)!)?"
_TOKENS = re.compile(
    r'\s*(?:("(?:[^"]|"")*")'
    rf"|{_SHEET}(\$?)([A-Z]{{1,3}})(\$?)([0-9]{{1,7}})(?:\s*:\s*(\$?)([A-Z]{{1,3}})(\$?)([0-9]{{1,7}}))?"
    r"(?![\w.(!])"
    r"|([^\W\d][\w.]*)\(|([0-9]+(?:\.[0-9]*)?(?:E[+-]?[0-9]+)?|\.[0-9]+)"
    rf"|{_SHEET}([^\W\d][\w.]*)|(\S))",
    re.IGNORECASE,
)
"""A text; a cell or a range, as `REFERENCE` has them; a function; a number; a name; a sign."""

Token = tuple[str, str]
"""Its kind, `ref`, `number`, `call`, `name`, `sign` or `other`, and its text: of a reference and of a
number, its place in the template."""


class Reference(NamedTuple):
    """A cell or a range in a template.

    Attributes:
        sheet: the sheet it names, or "" for the formula's own.
        at: where its coordinates begin: row, column, and of a range the last row and column.
        cells: 1 or a range's corners, 2.
        spills: whether it means what the formula in the cell spills: `A1#`.
    """

    sheet: str
    at: int
    cells: int
    spills: bool


@dataclass
class Template:
    """A formula without its coordinates.

    Attributes:
        roles: of each coordinate: row "r", column "c", number "n".
        alone: whether its references are single cells, multiplied and added, and nothing else.
    """

    tokens: tuple[Token, ...]
    roles: str
    references: tuple[Reference, ...]

    @cached_property
    def alone(self) -> bool:
        between = {token for token in self.tokens if token[0] not in ("ref", "number")}
        sums = {("sign", "*")} <= between <= {("sign", "*"), ("sign", "+")}
        return sums and all(r.cells == 1 for r in self.references)


class Forms:
    """All formulas of a book by template.

    Attributes:
        templates: each once; template: for each formula its template's place.
        items: for each formula the rows and columns that it fills.
    """

    def __init__(self, formulas: list[Formula]) -> None:
        self.templates: list[Template] = []
        self.template: Ints
        self._reader = _Reader(self.templates)
        places, starts, kinds = array("q"), array("q"), array("q")
        for formula in formulas:
            starts.append(len(self._reader.base))
            place, kind = self._reader.read(formula)
            places.append(place)
            kinds.append(kind)
        self.template = np.array(places, dtype=np.int64)
        self._starts = np.array(starts, dtype=np.int64)
        self._kinds = np.array(kinds, dtype=np.int64)
        self._base = np.array(self._reader.base, dtype=np.float64)
        self._moves = list(self._reader.moves)
        self._rows = np.array([f.row for f in formulas], dtype=np.int64)
        self._columns = np.array([f.column for f in formulas], dtype=np.int64)
        self.items = np.array([(f.rows, f.columns) for f in formulas], dtype=np.int64).reshape(-1, 2)

    def moves(self, formula: int) -> tuple[int, ...]:
        """How a formula's coordinates move when it is copied: with rows 1, with columns 2, else 0."""
        return self._moves[int(self._kinds[formula])]

    def coordinates(self, formulas: Ints, rows: Ints, columns: Ints) -> Coordinates:
        """The coordinates, (n, m), of n cells whose formulas have one template of m coordinates."""
        count = len(self.templates[int(self.template[formulas[0]])].roles)
        values = self._base[self._starts[formulas][:, None] + np.arange(count)]
        down, right = rows - self._rows[formulas], columns - self._columns[formulas]
        if down.any() or right.any():  # shared formulas
            kinds, which = np.unique(self._kinds[formulas], return_inverse=True)
            moves = np.array([self._moves[kind] for kind in kinds.tolist()], dtype=np.int8)[which]
            values = values + down[:, None] * (moves == 1) + right[:, None] * (moves == 2)
        return np.asarray(values)


class _Reader:
    """Formulas taken apart, each way of writing once: a pattern that is ten times as fast finds the
    coordinates of those that are written alike, where the two agree."""

    def __init__(self, templates: list[Template]) -> None:
        self.base = array("d")
        self.moves: dict[tuple[int, ...], int] = {}
        self._templates = templates
        self._known: dict[object, int] = {}
        self._fast: dict[tuple[str, ...], tuple[int, int] | None] = {}
        self._columns: dict[str, int] = {}

    def read(self, formula: Formula) -> tuple[int, int]:
        """The places of a formula's template and moves; its coordinates are added to `base`."""
        text = formula.text
        if formula.table or '"' in text or "'" in text or "[" in text or "{" in text:
            return self._slow(formula)
        parts = _FAST.split(text)
        alike = (*parts[::6], *parts[1::6], *parts[3::6])
        before = len(self.base)
        if alike not in self._fast:
            found = self._slow(formula)
            agreed = self.base[before:]
            del self.base[before:]
            self._append(parts)
            self._fast[alike] = found if self.base[before:] == agreed else None
            del self.base[before:]
        places = self._fast[alike]
        if places is None:
            return self._slow(formula)
        self._append(parts)
        return places

    def _append(self, parts: list[str]) -> None:
        columns, add = self._columns, self.base.append
        for place in range(1, len(parts), 6):
            row = parts[place + 3]
            if row is None:
                add(float(parts[place + 4]))
                continue
            name = parts[place + 1]
            if name not in columns:
                columns[name] = split_address(name + "1")[1]
            add(int(row))
            add(columns[name])

    def _slow(self, formula: Formula) -> tuple[int, int]:
        template, base, moves = _taken_apart(formula.text)
        key: object = template.tokens, template.references
        if formula.table:
            template, base, moves = Template((("other", ""),), "", ()), [], ()
            key = f"table {len(self._known)}"
        if key not in self._known:
            self._known[key] = len(self._templates)
            self._templates.append(template)
        self.base.extend(base)
        return self._known[key], self.moves.setdefault(moves, len(self.moves))


def _taken_apart(text: str) -> tuple[Template, list[float], tuple[int, ...]]:
    """The template of a formula, its coordinates and how they move when it is copied."""
    tokens: list[Token] = []
    base: list[float] = []
    moves: list[int] = []
    references: list[Reference] = []
    roles = ""
    for found in _TOKENS.finditer(text) if "[" not in text else ():  # not of other workbooks
        quoted, sheet, *corners, call, number, _, name, sign = found.groups()
        if corners[1] is not None:
            cells = 1 if corners[5] is None else 2
            spills = tokens[-1:] == [("call", "ANCHORARRAY")] or text[found.end() :].startswith("#")
            references.append(Reference(unquoted(sheet or ""), len(base), cells, spills))
            tokens.append(("ref", str(len(references) - 1)))
            for fixed_column, letters, fixed_row, digits in (corners[:4], corners[4:])[:cells]:
                base += split_address(letters.upper() + digits)
                moves += [0 if fixed_row else 1, 0 if fixed_column else 2]
                roles += "rc"
        elif number is not None:
            tokens.append(("number", str(len(base))))
            base.append(float(number))
            moves.append(0)
            roles += "n"
        elif call is not None:
            tokens.append(("call", _PREFIX.sub("", call.upper())))
        elif sign is not None or name is not None:
            tokens.append(("name", name) if sign is None else ("sign", sign))
        else:
            tokens.append(("other", quoted or ""))
    template = Template(tuple(tokens) or (("other", text),), roles, tuple(references))
    return template, base, tuple(moves)


Box = tuple[int, int, int, int]
"""The first row and column, the last row and column."""


class Lookup:
    """The sheets and defined names of a book, as formulas write them."""

    def __init__(self, book: FormulaBook) -> None:
        self._book = book
        self._sheets = {name.casefold(): sheet for name, sheet in book.sheets.items()}

    def sheet(self, name: str, own: SheetCells) -> SheetCells | None:
        """A sheet by its name; `own` where a formula names none."""
        return self._sheets.get(name.casefold()) if name else own

    def spilled(self, sheet: SheetCells, box: Box, reference: Reference) -> Box:
        """The range of `A1#`; any other box as it is."""
        if not reference.spills or reference.cells != 1:
            return box
        (place,) = sheet.find(np.array([box[0] * WIDTH + box[1] - 1])).tolist()
        if place < 0 or sheet.formulas[place] < 0:
            return box
        formula = self._book.formulas[int(sheet.formulas[place])]
        return box[0], box[1], box[0] + formula.rows - 1, box[1] + formula.columns - 1

    def area(self, name: str, own: SheetCells) -> tuple[SheetCells, Box] | None:
        """The sheet and the box of a defined name."""
        names = self._names
        area = names.get(f"{own.name}!{name}".casefold(), names.get(name.casefold()))
        sheet = self.sheet(area[0], own) if area else None
        return (sheet, area[1]) if area and sheet is not None else None

    @cached_property
    def _names(self) -> dict[str, tuple[str, Box]]:
        found = {}
        for name, text in self._book.names.items():
            area = parse_area(text)
            if area is not None and "[" not in (area[0] or ""):
                found[name.casefold()] = area[0] or "", area[1]
        return found


@dataclass
class FormulaBlock:
    """A rectangle of formulas of one template, whose coordinates go on as the cells do.

    Attributes:
        first: the cell of its first formula; item: the rows and columns of each.
        steps: how many formulas are below each other, and beside each other.
        coordinates: those of its first formula; down, right: how they change from one to the next.
    """

    sheet: SheetCells
    template: Template
    first: tuple[int, int]
    item: tuple[int, int]
    steps: tuple[int, int]
    coordinates: Coordinates
    down: Coordinates
    right: Coordinates


def blocks(sheet: SheetCells, forms: Forms) -> Iterator[FormulaBlock]:
    """The blocks of a sheet; each formula is in one."""
    where = np.flatnonzero(sheet.formulas >= 0)
    formulas = sheet.formulas[where]
    alike = np.column_stack([forms.template[formulas], forms.items[formulas]])
    _, kinds = np.unique(alike, axis=0, return_inverse=True)
    order = np.argsort(kinds.ravel(), kind="stable")
    cuts = np.flatnonzero(np.diff(kinds.ravel()[order])) + 1
    for places in np.split(where[order], cuts) if len(where) else ():
        keys, formulas = sheet.keys[places], sheet.formulas[places]
        template = forms.templates[int(forms.template[formulas[0]])]
        rows, columns = keys // WIDTH, keys % WIDTH + 1
        values = forms.coordinates(formulas, rows, columns)
        pattern = _Pattern(template, forms.moves(int(formulas[0])), forms.items[formulas[0]])
        found = pattern.rectangles(keys, values)
        if template.alone and len(found) > 1:
            ordered = _in_order(template, values, rows, columns)
            again = pattern.rectangles(keys, ordered)
            if len(again) < len(found):
                values, found = ordered, again
        for lines in found:
            here, (height, width) = lines[0][0], (len(lines), len(lines[0]))
            down = values[lines[1][0]] - values[here] if height > 1 else 0 * values[here]
            right = values[lines[0][1]] - values[here] if width > 1 else 0 * values[here]
            first, item = (int(rows[here]), int(columns[here])), pattern.item
            yield FormulaBlock(sheet, template, first, item, (height, width), values[here], down, right)


class _Pattern:
    """How the coordinates of a template go on from one formula to the next.

    Args:
        moves: how they move when a formula is copied, as its `$` say: see `Forms.moves`.
        item: the rows and columns of one formula.
    """

    def __init__(self, template: Template, moves: tuple[int, ...], item: Ints) -> None:
        self.item = int(item[0]), int(item[1])
        self._moves = np.array(moves, dtype=np.int64)
        self._ranges = [r.at for r in template.references if r.cells == 2]

    def rectangles(self, keys: Ints, values: Coordinates) -> list[list[list[int]]]:
        """The places of the cells of each rectangle, line by line, from the top left.

        Args:
            keys: of the cells, sorted; values: their coordinates, (n, m).
        """
        below, downward = self._next(keys, values, self.item[0] * WIDTH, self.item[0], 1)
        beside, onward = self._next(keys, values, self.item[1], self.item[1], 2)
        taken = [False] * len(keys)
        found = []
        for place in range(len(keys)):
            if taken[place]:
                continue
            line = [place]
            while (there := beside[line[-1]]) >= 0 and not taken[there]:
                if onward[line[-1]] != onward[place]:
                    break
                line.append(there)
            lines = [line]
            while True:
                under = [below[one] for one in lines[-1]]
                if any(one < 0 or taken[one] for one in under):
                    break
                if any(downward[one] != downward[place] for one in lines[-1]):
                    break
                lines.append(under)
            for one in (one for line in lines for one in line):
                taken[one] = True
            found.append(lines)
        return found

    def _next(
        self, keys: Ints, values: Coordinates, step: int, size: int, move: int
    ) -> tuple[list[int], list[Any]]:
        """For each cell the place of the next one, if its coordinates stay or go on as cells do and its
        ranges keep their size, or change it as the `$` say, else -1; and a key of the change."""
        found = np.minimum(np.searchsorted(keys, keys + step), len(keys) - 1)
        change = values[found] - values
        fine = (keys[found] == keys + step) & np.isin(change, (0, 1, size)).all(axis=1)
        off = change - size * (self._moves == move)
        for at in self._ranges:
            fine &= (off[:, at : at + 2] == off[:, at + 2 : at + 4]).all(axis=1)
        small = np.where(fine[:, None], change, 0).astype(np.int64)
        kinds = small.view(f"V{8 * small.shape[1]}").ravel() if small.size else np.zeros(len(keys))
        return np.where(fine, found, -1).tolist(), kinds.tolist()


def _in_order(template: Template, values: Coordinates, rows: Ints, columns: Ints) -> Coordinates:
    """The coordinates of sums of products of single cells, in an order that does not depend on the one
    they are typed in: in a product the cell of the same row first, then the one of the same column; the
    products by where they are. `C10*F7+F8*D10` and `C10*G7+D10*G8` are alike then.
    """
    terms: list[list[int]] = []
    place = 0
    for is_sign, term in groupby(template.tokens, key=("sign", "+").__eq__):
        if not is_sign:
            end = place + 2 * sum(kind == "ref" for kind, _ in term)
            terms.append(list(range(place, end, 2)))
            place = end
    if place != values.shape[1] or "n" in template.roles:
        return values
    out = np.empty_like(values)
    for i, (row, column) in enumerate(zip(rows.tolist(), columns.tolist())):
        line = values[i].tolist()
        products = []
        for places in terms:
            cells = [(line[k], line[k + 1]) for k in places]
            cells.sort(key=lambda cell: (cell[0] != row, cell[1] != column, cell))
            products.append(cells)
        products.sort(key=lambda cells: (len(cells), cells))
        out[i] = [x for cells in products for cell in cells for x in cell]
    return out
