"""Templates of formulas: their text without cell addresses and numbers, and how the addresses move from
cell to cell of a block.

A formula is a template (`MMULT(§,§)`) and coordinates: the row and the column of each cell it refers
to, and the numbers in it. In a block that was filled by copying, each coordinate v is affine in the
cell's own row r and column c, v = a + b r + d c: with `$`, b = 0; without, b = 1; typed by hand
transposed, b and d change places. So one model reads `$` notation and typed formulas alike.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attn_xl.spreadsheets.addresses import REFERENCE, split_address, unquoted
from attn_xl.spreadsheets.formulas import Formula, Ints

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
