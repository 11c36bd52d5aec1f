"""Reads the cell values of any supported file: workbooks, delimited text."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attn_xl.errors import CallError, InputError
from attn_xl.records import record

from .addresses import MAX_COLUMNS, MAX_ROWS, address, split_address
from .metadata import Marks
from .numerals import NOT_STORED, OLE, ErrorValue, Grid, values
from .ooxml import DAMAGED, content_of, unpacked

if TYPE_CHECKING:
    from .formulas import FormulaBook

STEPS_NOTE = "What the sheets before do not show. attn-xl fill writes this sheet."
"""The first cell of the sheet that `fill` adds."""
MOST_SPANNED = 10_000_000
"""Cells, filled or blank, that the sheets of a book may span; mostly filled sheets may span more."""

# A cell whose formula has no stored value, or whose value is an error: calamine returns both as blank.
_NOT_STORED = re.compile(
    rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)"
    rb"\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
    rb"|\st=\"e\"[^>]*>(?:\s*<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>))?"
    rb"\s*<(?:\w+:)?v>([^<]*)"
)
_PLACE = re.compile(rb'\sr="([A-Z]{1,3}[0-9]{1,7})"')
_STORED = re.compile(rb"(</(?:\w+:)?f>)\s*<(?:\w+:)?v>([^<]*)</(?:\w+:)?v>")
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_RECALCULATE = re.compile(rb"fullCalcOnLoad=\"(?:1|true)\"")
# Unprefixed tags match fastest; files that prefix every tag are rare.
_ROW = re.compile(rb'<row[^>]*? r="(\d+)"')
_PREFIXED_ROW = re.compile(rb'<\w+:row[^>]*? r="(\d+)"')
_COLUMN = re.compile(rb' r="([A-Za-z]+)\d')
_FAR_ROW = re.compile(rb' r="[A-Za-z]+(\d{5,})"')


@record(frozen=True)
class Book:
    """The contents of a file.

    Attributes:
        path: the file, as error messages name it.
        grids: the values of every sheet: numbers, texts, booleans, dates, error values, "" where blank.
        hidden: the names of the hidden sheets.
        marks: defined names, formula cells, hidden rows and columns.
        remarks: notes about how the file was read.
        hides_formulas: whether it is in a format (.xls, .xlsb) whose formulas cannot be read.
        kept: what has been found in the book, so that it is found once.
    """

    path: Path
    grids: dict[str, Grid]
    hidden: frozenset[str] = frozenset()
    marks: Marks = field(default_factory=lambda: Marks(b""))
    remarks: tuple[str, ...] = ()
    hides_formulas: bool = False
    kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def written(self) -> FormulaBook | None:
        """Its formulas; None if they cannot be read."""
        if "written" not in self.kept:
            from .formulas import formulas_in  # few inputs have some

            self.kept["written"] = formulas_in(self.marks.content)
        found: FormulaBook | None = self.kept["written"]
        return found

    @property
    def texts(self) -> Sequence[str]:
        """The texts in its cells, each once, in their order."""
        if "texts" not in self.kept:
            rows = (dict.fromkeys(row) for grid in self.grids.values() for row in grid)
            found = dict.fromkeys(value for row in rows for value in row if isinstance(value, str))
            self.kept["texts"] = [text for text in found if text.strip()]
        found_before: list[str] = self.kept["texts"]
        return found_before

    @property
    def lacks_values(self) -> bool:
        """Whether a formula has no stored value."""
        return any(value is NOT_STORED for rows in self.grids.values() for row in rows for value in row)


def read_book(path: Path, encoding: str | None = None) -> Book:
    """Read the cells of a workbook or delimited text; `-` is standard input.

    The format is detected from the content. Of a formula, its stored value is read; `NOT_STORED` stands
    where it has none.

    Args:
        encoding: the encoding of delimited text; detected if None.

    Raises:
        InputError: if the file cannot be read; the message says why and what to do.
        CallError: if there is no such encoding, or the file is not text.
    """
    return book_of(path, content_of(path), encoding)


def book_of(path: Path, content: bytes, encoding: str | None = None) -> Book:
    """`read_book` of a file whose bytes have been read."""
    shown = Path("standard input") if str(path) == "-" else path
    parts = unpacked(shown, content, _is_looked_at) if content.startswith(b"PK") else {}
    grids: dict[str, Grid] | None = None
    remark = ""
    if not content.startswith((b"PK", OLE)):
        grids, remark = _from_text(shown, content, encoding)
    if encoding is not None and (grids is None or content.startswith(b"PK")):
        raise CallError(f"--encoding has no effect: {shown} is not a text file.")
    if grids is None:
        return _workbook(path, shown, content, parts)
    return Book(shown, grids, remarks=(remark,) if remark else ())


def _is_looked_at(part: str) -> bool:
    sheet = part.startswith("xl/worksheets/") and part.endswith(".xml")
    return sheet or part == "xl/workbook.xml"


def _workbook(path: Path, shown: Path, content: bytes, parts: dict[str, bytes]) -> Book:
    if not content.startswith(b"PK"):
        return Book(shown, *values(path, shown, content), hides_formulas=True)
    sheets = Marks(content).parts()
    spanned = 0
    for part, xml in parts.items():
        if part != "xl/workbook.xml":
            spanned = _check_span(shown, xml, spanned)
    grids, hidden = values(path, shown, content)
    untrusted = bool(_RECALCULATE.search(parts.get("xl/workbook.xml", b"")))
    names = {part: name for name, part in Marks(content).sheets().items()} if sheets else {}
    without_marks = set()
    for part, xml in parts.items():
        formulas = _has_formulas(xml)
        if not formulas and b'hidden="' not in xml:
            without_marks.add(part)
        if (formulas or b't="e"' in xml) and names.get(part) in grids:
            _mark_missing(xml, grids[names[part]], untrusted)
    binary = b"xl/workbook.bin" in content
    return Book(shown, grids, hidden, Marks(content, without_marks), hides_formulas=binary)


def _from_text(path: Path, content: bytes, encoding: str | None) -> tuple[dict[str, Grid] | None, str]:
    """The cells of a text file, and a remark on its encoding; None if it is not text or cannot contain
    a table."""
    from .text_files import decoded, is_text, read_text  # most files are workbooks

    text, remark = decoded(content, encoding, str(path))
    if not is_text(text) or text.lstrip()[:1] in ("<", "{", "["):
        return None, ""
    grid = read_text(text, str(path))
    known = path.suffix.lower() in (".csv", ".tsv", ".txt", ".tab") or str(path) == "standard input"
    if not known and not any(isinstance(value, float) for row in grid for value in row):
        return None, ""
    return {path.stem: grid}, remark


def wrote_this(path: Path) -> bool:
    """Whether attn-xl wrote the workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            return b">attn-xl " in archive.read("docProps/core.xml")
    except (KeyError, *DAMAGED):
        return False


def _has_formulas(xml: bytes) -> bool:
    prefixed = b"<sheetData" not in xml[:100_000] or b":sheetData" in xml[:100_000]
    return (b"<f" in xml or (prefixed and b":f" in xml)) and bool(_FORMULA.search(xml))


def _mark_missing(xml: bytes, grid: Grid, untrusted: bool) -> None:
    """Put error values, and a mark where a formula has no stored value, into the cells of a sheet.

    Args:
        untrusted: whether the file asks to be recalculated. A library that does not calculate then
            stores 0 for every formula, which says as much as no value.
    """
    if zeros := untrusted and {value for _, value in _STORED.findall(xml)} == {b"0"}:
        xml = _STORED.sub(rb"\1", xml)
    for found in _NOT_STORED.finditer(xml):
        start = xml.rfind(b"<", 0, found.start())
        cell = xml[start : xml.find(b">", start)]
        place = _PLACE.search(cell)
        if place is None or (b't="str"' in cell and b"<v" in found[0]):  # an empty text is a value
            continue
        row, column = split_address(place[1].decode())
        grid.extend([] for _ in range(row - len(grid)))
        values = grid[row - 1]
        values.extend([""] * (column - len(values)))
        if zeros or values[column - 1] == "":
            values[column - 1] = ErrorValue(found[1].decode()) if found[1] else NOT_STORED


def _check_span(path: Path, xml: bytes, before: int) -> int:
    """The number of cells the sheets span so far: `before` plus this sheet.

    Raises:
        InputError: if the sheets span too many cells, most of them blank.
    """
    rows = {*(_ROW if b"<row" in xml else _PREFIXED_ROW).findall(xml), *_FAR_ROW.findall(xml)}
    last_row = max((_place(b"A" + row)[0] for row in rows), default=0)
    last_column = max((_place(letters + b"1")[1] for letters in set(_COLUMN.findall(xml))), default=1)
    spanned = last_row * last_column
    if before + spanned > MOST_SPANNED or last_row > MAX_ROWS:
        cells = xml.count(b"<c ") + xml.count(b":c ")
        if spanned <= 10 * cells and last_row <= MAX_ROWS:
            return before  # filled
        raise InputError(
            f"{path}: a sheet has cells as far away as {address(last_row, last_column)}. Delete all "
            "rows and columns beyond the table and save the file."
        )
    return before + spanned


def _place(cell: bytes) -> tuple[int, int]:
    try:
        return split_address(cell.decode().upper())
    except ValueError:
        return MAX_ROWS + 1, MAX_COLUMNS
