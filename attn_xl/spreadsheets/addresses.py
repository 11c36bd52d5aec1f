"""Cell addresses, ranges, and the rules for sheet names and defined names.

Rows and columns count from 1, as a spreadsheet shows them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator
from functools import cache
from itertools import product

from attn_xl.records import record
from attn_xl.text import pattern

MAX_ROWS = 1_048_576
MAX_COLUMNS = 16_384
MAX_SHEET_NAME = 31
MAX_NAME = 255
MAX_TEXT = 32_767
MAX_LITERAL = 255
MOST_CELLS = 20_000_000
"""Numbers in a workbook; about the most that spreadsheet programs can open."""

_CELL_LIKE = pattern(r"[A-Za-z]{1,3}[0-9]+(\..*)?", re.DOTALL)
_R1C1_LIKE = pattern(r"[RrCc]|[Rr][Cc]|([Rr]|[Rr]?[Cc])[0-9].*", re.DOTALL)
_BARE_SHEET = pattern(r"[A-Za-z_][A-Za-z0-9_.]*")
_NOT_IN_SHEET = pattern(r"[\[\]:*?/\\\x00-\x1f!#]")
CODE_LIKE = pattern(r"_(?=x[0-9A-Fa-f]{4}_)")
"""The start of a character escape in Open XML text: `_x0041_` is read as `A`."""
_LONGEST_ADDRESS = 20
_NOT_IN_NAME = pattern(r"[^A-Za-z0-9_.]")
_PLAIN_NAME = pattern(r"[A-Za-z]{4}[A-Za-z0-9.]*(_[A-Z0-9][A-Za-z0-9.]*)?")
"""Nearly all names: nothing in them has to be changed."""


@cache
def letters(column: int) -> str:
    """The letters of a column: 1 is A, 28 is AB."""
    text = ""
    while column:
        column, digit = divmod(column - 1, 26)
        text = chr(65 + digit) + text
    return text


def split_address(cell: str) -> tuple[int, int]:
    """The row and the column of an address: B5 is (5, 2).

    Raises:
        ValueError: if the text is not an address.
    """
    if len(cell) > _LONGEST_ADDRESS:  # a damaged file may have a million characters here
        raise ValueError(cell[:_LONGEST_ADDRESS])
    name = cell.rstrip("0123456789")
    column = 0
    for letter in name:
        column = 26 * column + ord(letter) - 64
    return int(cell[len(name) :]), column


def address(row: int, column: int) -> str:
    """A cell's address: (5, 2) is B5."""
    return f"{letters(column)}{row}"


@cache
def quoted(sheet: str) -> str:
    """A sheet name as a formula needs it, quoted if it

    1. has characters other than ASCII letters, digits, `_` and `.`, or starts with a digit or a dot,
    2. looks like a cell address (`Q1`, `RC`) or starts like an R1C1 one (`R2D2`, `c3po`), or
    3. is TRUE or FALSE.
    """
    if (
        _BARE_SHEET.fullmatch(sheet)
        and not _looks_like_cell(sheet)
        and sheet.upper() not in ("TRUE", "FALSE")
    ):
        return sheet
    return "'" + sheet.replace("'", "''") + "'"


def _looks_like_cell(name: str) -> bool:
    return bool(_CELL_LIKE.fullmatch(name) or _R1C1_LIKE.fullmatch(name))


def unique(name: str, taken: Container[str], longest: int = MAX_NAME) -> str:
    """`name`, cut to `longest` characters and numbered if `taken` (case-folded) contains it.

    Lengths are counted in UTF-16 units, as in Excel: an emoji has two.
    """
    short, number = cut(name, longest).rstrip(), 1
    while short.casefold() in taken:
        number += 1
        tail = f"_{number}"
        short = cut(name, longest - len(tail)).rstrip() + tail
    return short


def cut(text: str, longest: int) -> str:
    """The beginning of a text, at most `longest` UTF-16 units."""
    return (
        text if 2 * len(text) <= longest else _units(text)[: 2 * longest].decode("utf-16-le", "ignore")
    )


def too_long(texts: Iterable[str]) -> str | None:
    """The first text that does not fit in a cell, or None."""
    return next((t for t in texts if 2 * len(t) > MAX_TEXT and len(_units(t)) > 2 * MAX_TEXT), None)


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def sheet_name(text: str) -> str:
    """`text` as a sheet name, with characters replaced that are not allowed (`[ ] : * ? / \\`) or that
    some engines cannot read in a formula (`! # '`). Character escapes are changed too, because only
    some programs decode them in formulas, and `History`, which Excel reserves."""
    name = _NOT_IN_SHEET.sub("_", CODE_LIKE.sub("-", text)).replace("'", "\u2019").strip() or "_"
    return f"{name}_" if name.casefold() == "history" else name


def defined_name(text: str) -> str:
    """`text` as a defined name: letters, digits, `_` and `.`; no leading digit; unlike a cell address.

    Accents are removed, and letters of other scripts become `_`, because some engines reject them.
    """
    if _PLAIN_NAME.fullmatch(text):
        return text
    plain = unicodedata.normalize("NFKD", text)
    name = _NOT_IN_NAME.sub("_", "".join(c for c in plain if not unicodedata.combining(c)))
    name = CODE_LIKE.sub(".", name)
    reserved = name.casefold().startswith("_xl")  # Excel's own names begin like this
    plain_start = re.match("[A-Za-z_]", name) and not reserved
    return name if plain_start and not _looks_like_cell(name) else "_" + name


def literal(text: str) -> str:
    """A text as a formula literal: quoted, in pieces of at most 255 characters."""
    pieces: list[str] = []
    while text or not pieces:
        piece = cut(text, MAX_LITERAL)
        pieces.append('"' + piece.replace('"', '""') + '"')
        text = text[len(piece) :]
    return "&".join(pieces)


REFERENCE = pattern(
    r"((?:'(?:[^']|'')+'|[^'!]+)!)?(\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7})"
    r"(?:\s*:\s*(\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7}))?"
)
"""A cell or a range: the sheet with its `!`; then `$`, letters, `$` and digits of each corner."""
Corners = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 1."""


def unquoted(sheet: str) -> str:
    """A sheet name without the quotes of a formula: `'it''s'` is `it's`."""
    return sheet[1:-1].replace("''", "'") if sheet.startswith("'") else sheet


def parse_area(text: str) -> tuple[str | None, Corners] | None:
    """The sheet (if given) and the corners of `'My sheet'!$B$3:F9`; None if the text is not a range."""
    before, mark, cells = text.strip().rpartition("!")
    match = REFERENCE.fullmatch(f"{before}{mark}{cells.strip()}")
    if match is None:
        return None
    rows, columns = zip(
        split_address(match[3].upper() + match[5]),
        split_address((match[7] or match[3]).upper() + (match[9] or match[5])),
    )
    if min(rows) < 1 or max(rows) > MAX_ROWS or max(columns) > MAX_COLUMNS:
        return None
    sheet = unquoted(match[1][:-1]) if match[1] else None
    return sheet, (min(rows), min(columns), max(rows), max(columns))


_ROW_TOKEN = pattern("\x00(-?[0-9]+)\x00")


def row_token(offset: int) -> str:
    """A placeholder in a formula pattern for the number of the row `offset` below the formula's own."""
    return f"\x00{offset}\x00"


def fixed(cells: str) -> str:
    """A range with absolute references: `$B$5:$D$8` of `B5:D8`."""
    return re.sub(r"([A-Z]+)(\d+)", r"$\1$\2", cells)


_BRACED = pattern(r"(\{\w+\})")


def formula_of_text(text: str, **formulas: str) -> str:
    """The formula, without the equals sign, of a text in which the results of formulas take the place
    of names in braces."""
    return "&".join(
        formulas.get(part.strip("{}"), literal(part)) if _BRACED.fullmatch(part) else literal(part)
        for part in _BRACED.split(text)
        if part
    )


def at_row(pattern: str, row: int) -> str:
    """The formula that a pattern gives in a row."""
    return _ROW_TOKEN.sub(lambda token: str(row + int(token[1])), pattern)


def row_offsets(pattern: bytes) -> set[int]:
    """The offsets of the rows whose numbers a pattern has placeholders for."""
    return {int(offset) for offset in re.findall(rb"\x00(-?\d+)\x00", pattern)}


@record(frozen=True)
class Place:
    """The cells of a matrix's numbers, without labels: sheet, top-left cell, size."""

    sheet: str
    row: int
    column: int
    rows: int
    columns: int

    @property
    def last_row(self) -> int:
        return self.row + self.rows - 1

    @property
    def last_column(self) -> int:
        return self.column + self.columns - 1

    def cells(self) -> Iterator[tuple[int, int]]:
        """Its cells by row and column, row after row."""
        return product(range(self.row, self.last_row + 1), range(self.column, self.last_column + 1))

    def overlaps(self, b: Place) -> bool:
        return (
            self.sheet == b.sheet and self.row <= b.last_row and b.row <= self.last_row
            and self.column <= b.last_column and b.column <= self.last_column
        )  # fmt: skip

    @property
    def range(self) -> str:
        """`B5:D8`"""
        return f"{address(self.row, self.column)}:{address(self.last_row, self.last_column)}"

    @property
    def cells_shown(self) -> str:
        """`B5:D8`, or `B5` for a single cell."""
        return self.range.partition(":")[0] if self.rows == self.columns == 1 else self.range

    @property
    def where(self) -> str:
        """`small!J4:M10`; of a single cell, `small!J4`."""
        return f"{quoted(self.sheet)}!{self.cells_shown}"

    @property
    def absolute(self) -> str:
        """`Scores!$B$5:$D$8`, or `Overview!$B$5` for a single cell."""
        one = self.rows == self.columns == 1
        return self.absolute_range.rpartition(":")[0] if one else self.absolute_range

    @property
    def absolute_range(self) -> str:
        """`Scores!$B$5:$D$8`, or `Scores!$B$5:$B$5` for a single cell."""
        first, last = letters(self.column), letters(self.last_column)
        return f"{quoted(self.sheet)}!${first}${self.row}:${last}${self.last_row}"


def parse_place(text: str) -> Place | None:
    """The cells of an address with a sheet, `'cat.Scores'!$B$5:$D$8`; None if it is not one."""
    area = parse_area(text)
    if area is None or area[0] is None:
        return None
    return place_of(area[0], *area[1])


def place_of(sheet: str, top: int, left: int, bottom: int, right: int) -> Place:
    """The cells between two corners."""
    return Place(sheet, top, left, bottom - top + 1, right - left + 1)
