"""Blocks of formulas: the cells that copying one formula fills, and what their references mean."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .addresses import REFERENCE, parse_area, split_address, unquoted
from .formulas import WIDTH, Formula, FormulaBook, Ints, SheetCells

if TYPE_CHECKING:
    from openpyxl.formula.tokenizer import Token


Coordinates = NDArray[np.float64]

_PREFIX = re.compile(r"^(?:_xlfn\.|_xlws\.|_xludf\.)+", re.IGNORECASE)

_FAST = re.compile(
    r"(?<![\w.$])(?:(\$?)([A-Z]{1,3})(\$?)([1-9][0-9]{0,6})(?![\w.(!])"
    r"|([0-9]+(?:\.[0-9]*)?(?:E[+-]?[0-9]+)?)(?![\w.(!:$]))"
)


TRANSPARENT = frozenset(["TRANSPOSE", "(", "SINGLE", "ABS"])
"""Functions that pass a reference on to the function around them."""


@dataclass(frozen=True)
class Reference:
    """A cell or a range in a template.

    Attributes:
        sheet: the sheet it names, or "" for the formula's own.
        at: where its coordinates begin: row, column, and of a range the last row and column.
        cells: 1 or a range's corners, 2.
        function: the function it is an argument of, "" outside of all.
    """

    sheet: str
    at: int
    cells: int
    function: str


@dataclass
class Template:
    """A formula's text without its coordinates.

    Attributes:
        pieces: the text between the coordinates' places.
        roles: of each coordinate: row "r", column "c", number "n".
        alone: whether its references are single cells, multiplied and added, and nothing else.
    """

    pieces: tuple[str, ...]
    roles: str
    references: tuple[Reference, ...]

    @property
    def text(self) -> str:
        return "§".join(self.pieces)

    @cached_property
    def general(self) -> str:
        """The text without the names of sheets."""
        return "§".join([*map(_without_sheet, self.pieces[:-1]), self.pieces[-1]])

    @cached_property
    def alone(self) -> bool:
        between = re.sub(r"[§*+ 0-9.]", "", self.text)
        return not between and "*" in self.text and all(r.cells == 1 for r in self.references)


class Forms:
    """All formulas of a book by template.

    Attributes:
        templates: each once; template: for each formula its template's place.
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
    """Formulas taken apart by openpyxl's tokenizer, each way of writing once: a pattern that is ten
    times as fast finds the coordinates of those that are written alike, where the two agree."""

    def __init__(self, templates: list[Template]) -> None:
        self.base = array("d")
        self.moves: dict[tuple[int, ...], int] = {}
        self._templates = templates
        self._known: dict[tuple[tuple[str, ...], str], int] = {}
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
        pieces, roles, base, moves, tokens = _taken_apart(formula.text)
        key = pieces, roles
        if formula.table:
            key = ("{=TABLE()}",), f"table {len(self._known)}"
            roles, base, moves, tokens = "", (), (), []
        if key not in self._known:
            self._known[key] = len(self._templates)
            self._templates.append(_template(key[0], roles, tokens))
        self.base.extend(base)
        return self._known[key], self.moves.setdefault(moves, len(self.moves))


def _taken_apart(
    text: str,
) -> tuple[tuple[str, ...], str, tuple[float, ...], tuple[int, ...], list[Token]]:
    from openpyxl.formula import Tokenizer
    from openpyxl.formula.tokenizer import Token, TokenizerError

    try:
        tokens = Tokenizer("=" + text).items
    except (TokenizerError, IndexError):
        return (text,), "", (), (), []
    pieces, roles = [""], ""
    base: list[float] = []
    moves: list[int] = []
    for token in tokens:
        value = token.value
        if token.type == Token.OPERAND and token.subtype == Token.RANGE:
            found = REFERENCE.fullmatch(value)
            if found and (not found[1] or "[" not in found[1]):
                pieces[-1] += found[1] or ""
                for mark in (2, 6):
                    if found[mark + 1] is not None:
                        row, column = split_address(found[mark + 1].upper() + found[mark + 3])
                        base += [row, column]
                        moves += [0 if found[mark + 2] else 1, 0 if found[mark] else 2]
                        roles += "rc"
                        pieces.append(":" if mark == 2 and found[7] else "")
                continue
        elif token.type == Token.OPERAND and token.subtype == Token.NUMBER:
            base.append(float(value))
            moves.append(0)
            roles += "n"
            pieces.append("")
            continue
        elif token.type == Token.WSPACE:
            value = ""
        pieces[-1] += value
    return tuple(pieces), roles, tuple(base), tuple(moves), tokens


def _template(pieces: tuple[str, ...], roles: str, tokens: list[Token]) -> Template:
    from openpyxl.formula.tokenizer import Token

    references: list[Reference] = []
    around: list[str] = []
    place = 0
    for token in tokens:
        if token.type in (Token.FUNC, Token.PAREN, Token.ARRAY):
            if token.subtype == Token.OPEN:
                name = _PREFIX.sub("", token.value[:-1]).upper() if token.type == Token.FUNC else "("
                around.append(name)
            elif around:
                around.pop()
        elif token.type == Token.OPERAND and token.subtype == Token.NUMBER:
            place += 1
        elif token.type == Token.OPERAND and token.subtype == Token.RANGE:
            found = REFERENCE.fullmatch(token.value)
            if not found or (found[1] and "[" in found[1]):
                continue
            cells = 2 if found[7] else 1
            function = next((name for name in reversed(around) if name not in TRANSPARENT), "")
            sheet = unquoted((found[1] or "")[:-1])
            references.append(Reference(sheet, place, cells, function))
            place += 2 * cells
    return Template(pieces, roles, tuple(references))


def _without_sheet(piece: str) -> str:
    """What stands before a cell, without the name of its sheet."""
    start = len(piece) - 1
    if not piece.endswith("!"):
        return piece
    if not piece.endswith("'!"):
        while start and (piece[start - 1].isalnum() or piece[start - 1] in "._"):
            start -= 1
        return piece[:start]
    start -= 1
    while (start := piece.rfind("'", 0, start)) > 0 and piece[start - 1] == "'":
        start -= 1  # two are one that is meant
    return piece[: max(start, 0)]


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
        if reference.function != "ANCHORARRAY" or reference.cells != 1:
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


ROUNDS = 8  # adjacent blocks of one template that are separated, at most
SMALL = 10_000  # coordinates that are compared at once; more take too much memory
LAGS = (1, 2, 3)
"""Distances between the cells whose differences give the slopes: if one of four lines is odd, the other
three agree."""

Mask = NDArray[np.bool_]


@dataclass
class FormulaBlock:
    """Cells of one template that follow one pattern.

    Attributes:
        places: the cells, by their places in the sheet; keys: by their keys.
        slopes: (m, 2): how each coordinate moves with the row and with the column; start: its value at
            row 0, column 0.
        box: the first and last row and column.
    """

    sheet: SheetCells
    template: Template
    places: Ints
    keys: Ints
    slopes: Coordinates
    start: Coordinates
    box: tuple[int, int, int, int]

    def predicted(self, row: int, column: int) -> Coordinates:
        """The coordinates that a formula of this block would have in a cell."""
        return np.asarray(self.start + self.slopes @ np.array([row, column], dtype=np.float64))


def blocks(sheet: SheetCells, forms: Forms) -> Iterator[FormulaBlock]:
    """The blocks of a sheet; each formula is in at most one."""
    where = np.flatnonzero(sheet.formulas >= 0)
    if not len(where):
        return
    templates = np.full(len(sheet.keys), -1)
    templates[where] = forms.template[sheet.formulas[where]]
    for region in _regions(sheet, templates, where):
        template = forms.templates[int(templates[region[0]])]
        rows, columns = sheet.keys[region] // WIDTH, sheet.keys[region] % WIDTH + 1
        values = forms.coordinates(sheet.formulas[region], rows, columns)
        notation = forms.moves(int(sheet.formulas[region[0]]))
        yield from _separate_blocks(sheet, template, region, rows, columns, values, notation)


def _regions(sheet: SheetCells, templates: Ints, where: Ints) -> list[Ints]:
    """Regions of one template: cells that are adjacent or separated by one filled cell."""
    keys = sheet.keys
    links = []
    for step in (1, WIDTH):
        for far in (1, 2):
            partner = sheet.find(keys[where] + far * step)
            same = (partner >= 0) & (templates[where] == templates[partner])
            if far == 2:
                same &= sheet.find(keys[where] + step) >= 0
            links.append((where[same], partner[same]))
    return linked(np.arange(len(keys)), links, where)


def linked(items: Ints, links: list[tuple[Ints, Ints]], where: Ints | None = None) -> list[Ints]:
    """Groups of items, or of those at the places `where`, that links between places join."""
    labels = np.arange(len(items))
    changed = True
    while changed:
        before = labels.copy()
        for first, second in links:
            least = np.minimum(labels[first], labels[second])
            np.minimum.at(labels, first, least)
            np.minimum.at(labels, second, least)
        labels = labels[labels]
        changed = not np.array_equal(before, labels)
    where = np.arange(len(items)) if where is None else where
    order = np.argsort(labels[where], kind="stable")
    cuts = np.flatnonzero(np.diff(labels[where][order])) + 1
    return np.split(items[where][order], cuts) if len(where) else []


def _separate_blocks(
    sheet: SheetCells,
    template: Template,
    region: Ints,
    rows: Ints,
    columns: Ints,
    values: Coordinates,
    notation: tuple[int, ...],
) -> Iterator[FormulaBlock]:
    left = np.arange(len(region))
    for _ in range(ROUNDS):
        if not len(left):
            return
        r, c, v = rows[left], columns[left], values[left]
        slopes, start = _fitted(r, c, v, notation)
        if len(left) == 2 and _resizes(template, slopes, said := _slopes_by_dollar_signs(notation)):
            slopes, start = said, v[0] - said @ np.array([r[0], c[0]], dtype=np.float64)
        fits = _agree(r, c, v, slopes, start)
        if template.alone and not fits.all():
            slopes, start, fits = _fitted_in_any_order(template, r, c, v, notation)
        if not fits.any():
            # As many sums of rows as of columns: what is most common of each coordinate, none has.
            slopes = _slopes_by_dollar_signs(notation)
            rest = v - np.outer(r, slopes[:, 0]) - np.outer(c, slopes[:, 1])
            found, counts = np.unique(rest, axis=0, return_counts=True)
            start = found[np.argmax(counts)]
            fits = _agree(r, c, v, slopes, start)
        if not fits.any():
            return  # a number in it is infinite
        fits = _without_lone(r, c, fits)
        places = region[left[fits]]
        box = int(r[fits].min()), int(c[fits].min()), int(r[fits].max()), int(c[fits].max())
        yield FormulaBlock(sheet, template, places, sheet.keys[places], slopes, start, box)
        left = left[~fits]


def _resizes(template: Template, slopes: Coordinates, said: Coordinates) -> bool:
    """Whether a range has another size in the second of two formulas than copying the first gives it:
    through two cells some slope leads always."""
    off = slopes - said
    ranges = [r.at for r in template.references if r.cells == 2]
    return any((off[at : at + 2] != off[at + 2 : at + 4]).any() for at in ranges)


def _without_lone(r: Ints, c: Ints, fits: Mask) -> Mask:
    """What fits, but for a cell that does not touch the one line that all others are: through two
    places some slope leads always."""
    for line in (r, c) if np.count_nonzero(fits) > 3 else ():
        lines, counts = np.unique(line[fits], return_counts=True)
        if len(lines) == 2 and counts.min() == 1 and counts.max() > 2 and lines[1] - lines[0] > 1:
            return np.asarray(fits & (line == lines[np.argmax(counts)]))
    return fits


def _fitted_in_any_order(
    template: Template, r: Ints, c: Ints, v: Coordinates, notation: tuple[int, ...]
) -> tuple[Coordinates, Coordinates, Mask]:
    """The fit of sums of products that are typed now in one order, now in another: as they are typed or
    as `_in_order` has them, whichever more cells follow."""
    ordered = _in_order(template, v, r, c)
    found = []
    for values in (v, ordered):
        slopes, start = _fitted(r, c, values, notation)
        expected = start + np.outer(r, slopes[:, 0]) + np.outer(c, slopes[:, 1])
        expected = _in_order(template, expected, r, c)
        fits = (np.abs(ordered - expected) < 1e-6).all(axis=1)
        found.append((slopes, start, np.asarray(fits)))
    return max(found, key=lambda fit: int(fit[2].sum()))


def _agree(r: Ints, c: Ints, v: Coordinates, slopes: Coordinates, start: Coordinates) -> Mask:
    if v.size <= SMALL:
        rest = v - np.outer(r, slopes[:, 0]) - np.outer(c, slopes[:, 1]) - start
        return np.asarray((np.abs(rest) < 1e-6).all(axis=1))
    fits = np.ones(len(r), dtype=np.bool_)
    for j in range(v.shape[1]):
        fits &= np.abs(v[:, j] - slopes[j, 0] * r - slopes[j, 1] * c - start[j]) < 1e-6
    return fits


def _fitted(
    r: Ints, c: Ints, v: Coordinates, notation: tuple[int, ...]
) -> tuple[Coordinates, Coordinates]:
    """The pattern of most of the cells: slopes (m, 2) and start (m,).

    The slopes that the `$` give are tried first; they hold in every block filled by copying.
    """
    said = _slopes_by_dollar_signs(notation)
    start = v[0] - said @ np.array([r[0], c[0]], dtype=np.float64)
    if len(r) == 1 or _agree(r, c, v, said, start).all():
        return said, start
    slopes = said.copy()
    for axis, keys in enumerate((c * (WIDTH * 128) + r, r * WIDTH + c)):
        differences = _differences(keys, v)
        if differences is not None:
            for j in range(v.shape[1]):
                slopes[j, axis] = _mode(differences[:, j], said[j, axis])
    rest = v - np.outer(r, slopes[:, 0]) - np.outer(c, slopes[:, 1])
    return slopes, np.array([_mode(rest[:, j], rest[0, j]) for j in range(v.shape[1])])


def _slopes_by_dollar_signs(notation: tuple[int, ...]) -> Coordinates:
    """The slopes that the `$` of a formula give."""
    moves = [[move == 1, move == 2] for move in notation]
    return np.array(moves, dtype=np.float64).reshape(-1, 2)


def _differences(keys: Ints, v: Coordinates) -> Coordinates | None:
    """v's change for a step, between cells up to three apart whose keys are so."""
    order = np.argsort(keys)
    keys, v = keys[order], v[order]
    parts = []
    for lag in LAGS:
        at = np.minimum(np.searchsorted(keys, keys + lag), len(keys) - 1)
        there = keys[at] == keys + lag
        if there.any():
            parts.append((v[at[there]] - v[there]) / lag)
    return np.concatenate(parts) if parts else None


def _mode(numbers: Coordinates, preferred: float) -> float:
    """The most frequent number; of several, the preferred one, then the one nearest to 0."""
    found, counts = np.unique(np.round(numbers, 9), return_counts=True)
    best = found[counts == counts.max()]
    if preferred in best:
        return preferred
    return float(best[np.argmin(np.abs(best))])


def _in_order(template: Template, values: Coordinates, rows: Ints, columns: Ints) -> Coordinates:
    """The coordinates of sums of products of single cells, in an order that does not depend on the one
    they are typed in: in a product the cell of the same row first, then the one of the same column; the
    products by where they are. `C10*F7+F8*D10` and `C10*G7+D10*G8` are alike then.
    """
    terms: list[list[int]] = []
    place = 0
    for term in template.text.split("+"):
        end = place + 2 * term.count("§")
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


def rectangles(keys: Ints) -> list[tuple[int, int, int, int]]:
    """Group cells into rectangles (top, left, bottom, right) of adjacent rows with the same columns."""
    keys = np.sort(keys)
    breaks = np.flatnonzero(np.diff(keys) != 1) + 1
    starts = np.concatenate([[0], breaks]).astype(np.int64)
    ends = np.concatenate([breaks, [len(keys)]]).astype(np.int64) - 1
    open_: dict[tuple[int, int], list[int]] = {}
    done = []
    for first, last in zip(keys[starts].tolist(), keys[ends].tolist()):
        row, left, right = first // WIDTH, first % WIDTH + 1, last % WIDTH + 1
        above = open_.get((left, right))
        if above is not None and above[2] == row - 1:
            above[2] = row
            continue
        open_[left, right] = rectangle = [row, left, row, right]
        done.append(rectangle)
    return [(r[0], r[1], r[2], r[3]) for r in done]
