"""Reads the formulas and stored values of a workbook, fast and whichever program wrote it.

openpyxl rejects files that every spreadsheet program opens, keeps a Python object for each cell and
reads formulas and values in two passes; here a single expat pass fills a few arrays.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from .addresses import MAX_COLUMNS, MAX_ROWS, REFERENCE, Corners, quoted, split_address, unquoted
from .ooxml import DAMAGED, UNREADABLE, Malformed, Package, new_parser

WIDTH = MAX_COLUMNS
"""A cell's key is row * WIDTH + column - 1: one number that sorts by row, then by column."""

_TEXT = re.compile(r'"[^"]*"')
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula as written, and its cell; other cells may share it with shifted references."""

    text: str
    row: int
    column: int
    rows: int = 1
    columns: int = 1
    table: bool = False
    """Whether it is a what-if table (Data > What-If Analysis), which only Excel can compute."""
    array: bool = False
    """Whether it is an array formula, of one cell or more."""


@dataclass
class SheetCells:
    """The nonblank cells of a sheet, in the order of their keys.

    Attributes:
        keys: one for each cell, from its row and its column.
        formulas: for each cell the index of its formula in the book's list, or -1.
    """

    name: str
    keys: Ints
    formulas: Ints

    def find(self, keys: Ints) -> Ints:
        """The indices of cells given by key; -1 where a cell is blank."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, at, -1)


@dataclass
class FormulaBook:
    """A workbook: sheets by name, their formulas, and defined names (texts by name; names that belong
    to one sheet as `sheet!name`)."""

    path: Path
    sheets: dict[str, SheetCells] = field(default_factory=dict)
    formulas: list[Formula] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)


def formulas_in(content: bytes, path: Path) -> FormulaBook | None:
    """The formulas of an .xlsx file that is read for its values; None in other formats, and if they
    cannot be read."""
    if not content.startswith(b"PK"):
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _read(path, archive)
    except (_Other, Malformed, expat.ExpatError, *DAMAGED, LookupError):
        return None


class _Other(Exception):
    """The package is not Office Open XML."""


def _read(path: Path, archive: zipfile.ZipFile) -> FormulaBook:
    package = Package(archive)
    if "_rels/.rels" not in package.parts:
        raise _Other
    if package.main not in package.parts or not package.main.endswith(".xml"):
        raise _Other
    workbook = package.workbook
    book = FormulaBook(path)
    sheets = [sheet["name"] for sheet in workbook.sheets]
    for name, sheet in zip(sheets, workbook.sheets):
        kind, part = package.links[sheet.get("id", "")]
        if kind == "worksheet" and part in package.parts:
            book.sheets[name] = _sheet(name, package.read(part), book.formulas)
    for defined, text in workbook.names:
        local = defined.get("localSheetId", "")
        where = f"{sheets[int(local)]}!" if local and int(local) < len(sheets) else ""
        book.names[where + defined["name"]] = text
    return book


class _Cells:
    """The cells of a sheet while it is parsed."""

    def __init__(self, formulas: list[Formula]) -> None:
        self.keys: list[int] = []
        self.places: list[int] = []
        self.formulas = formulas
        self.shared: dict[str, int] = {}
        self.row = self.column = 0

    def formula(self, attributes: dict[str, str], text: str, row: int, column: int) -> int:
        """The index of a cell's formula in the list; -1 if the cell has none."""
        kind = attributes.get("t", "normal")
        if kind == "shared" and attributes.get("si", "") in self.shared and not text:
            return self.shared[attributes["si"]]
        if not text and kind != "dataTable":
            return -1
        rows = columns = 1
        if kind in ("array", "dataTable") and ":" in attributes.get("ref", ""):
            first, last = attributes["ref"].replace("$", "").split(":")
            (top, left), (bottom, right) = split_address(first), split_address(last)
            _check_place(bottom, right)
            rows, columns = bottom - top + 1, right - left + 1
        formula = Formula(text, row, column, rows, columns, kind == "dataTable", kind == "array")
        self.formulas.append(formula)
        place = len(self.formulas) - 1
        if kind == "shared":
            self.shared[attributes.get("si", "")] = place
        return place


def _sheet(name: str, xml: bytes, formulas: list[Formula]) -> SheetCells:
    parser, cells = new_parser(), _Cells(formulas)
    text: list[str] = []
    cell: dict[str, str] = {}
    formula: dict[str, str] | None = None
    written, value, inside = "", "", False

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal cell, formula, written, value, inside
        tag = tag[tag.rfind(" ") + 1 :]
        if tag in ("v", "f", "t"):
            text.clear()
            inside = True
            if tag == "f":
                formula = attributes
        elif tag == "c":
            cell, formula, written, value = attributes, None, "", ""
        elif tag == "row":
            cells.row = int(attributes.get("r", cells.row + 1))
            cells.column = 0

    def end(tag: str) -> None:
        nonlocal written, value, inside
        tag = tag[tag.rfind(" ") + 1 :]
        if tag == "v":
            value, inside = "".join(text), False
        elif tag == "f":
            written, inside = "".join(text), False
        elif tag == "t":
            value, inside = value + "".join(text), False
        elif tag == "c":
            close()

    def close() -> None:
        row, column = cells.row, cells.column + 1
        if "r" in cell:
            row, column = split_address(cell["r"])
        _check_place(row, column)
        cells.column = column
        place = -1 if formula is None else cells.formula(formula, written, row, column)
        if place < 0 and value == "" and cell.get("t") != "s":
            return
        cells.keys.append(row * WIDTH + column - 1)
        cells.places.append(place)

    def characters(data: str) -> None:
        if inside:
            text.append(data)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.Parse(xml, True)
    keys, order = np.unique(np.array(cells.keys, dtype=np.int64), return_index=True)
    return SheetCells(name, keys, np.array(cells.places, dtype=np.int64)[order])


def _check_place(row: int, column: int) -> None:
    if not (0 < row <= MAX_ROWS and 0 < column <= MAX_COLUMNS):
        raise Malformed("it has cells outside the limits of a sheet")


def references(formula: Formula, cell: tuple[int, int]) -> Iterator[tuple[str, Corners]]:
    """The cells and ranges that a formula reads in a cell, which may share it with others: the sheet
    ("" for the formula's own) and the corners."""
    down, across = (0, 0) if formula.array else (cell[0] - formula.row, cell[1] - formula.column)
    for found in REFERENCE.finditer(_TEXT.sub("", formula.text)):
        sheet, *ends = found.groups()
        corners = []
        for kept_column, letters, kept_row, digits in (ends[:4], ends[4:]):
            row, column = split_address((letters or ends[1]).upper() + (digits or ends[3]))
            corners += [row + (0 if kept_row else down), column + (0 if kept_column else across)]
        if not letters:
            corners[2:] = corners[:2]
        yield unquoted(sheet[:-1]) if sheet else "", (corners[0], corners[1], corners[2], corners[3])


# OpenDocument

_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
MOST_REPEATED = 100_000
"""Cells that one element may stand for; more are the blank rest of a sheet."""
_PARTS = re.compile(r'"(?:[^"]|"")*"|\[([^\[\]]*)\]|;')
_PLACE = re.compile(r"(?:\$?('(?:[^']|'')+'|[^'.:]*)\.)?(\$?[A-Z]+\$?[0-9]+)", re.IGNORECASE)


def ods_formulas(content: bytes, path: Path) -> FormulaBook | None:
    """The formulas and stored values of an .ods file; None if it is none or cannot be read."""
    from defusedxml.ElementTree import fromstring

    if not (content.startswith(b"PK") and b"opendocument" in content[:200]):
        return None
    book = FormulaBook(path)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            content_xml = fromstring(archive.read("content.xml"))
        for named in content_xml.iter(f"{_TABLE}named-range"):
            cells = as_in_excel(f"[{named.get(f'{_TABLE}cell-range-address', '')}]")
            book.names.setdefault(named.get(f"{_TABLE}name", ""), cells)
        for table in content_xml.iter(f"{_TABLE}table"):
            name = table.get(f"{_TABLE}name", "")
            book.sheets[name] = _ods_sheet(name, table, book.formulas)
    except UNREADABLE:
        return None
    return book


def as_in_excel(text: str) -> str:
    """An OpenFormula as Excel writes it: `of:=SUM([.A1:.B2];[Data.C3])` as `SUM(A1:B2,Data!C3)`."""

    def replaced(part: re.Match[str]) -> str:
        if part[0] == ";":
            return ","
        if part[1] is None:
            return part[0]
        cells = [_PLACE.fullmatch(one) for one in _ends(part[1])]
        if not cells or None in cells:
            return "#REF!"
        sheet = (cells[0][1] or "").strip("'").replace("''", "'")  # type: ignore[index]
        area = ":".join(cell[2] for cell in cells if cell)
        return f"{quoted(sheet)}!{area}" if sheet else area

    return _PARTS.sub(replaced, re.sub(r"^[a-z]+:=|^=", "", text))


def _ends(area: str) -> list[str]:
    """The first and the last cell of `.A1:.B2`."""
    return [one[0] for one in re.finditer(r"(?:'(?:[^']|'')+'|[^':])+", area)]


def _ods_sheet(name: str, table: Any, formulas: list[Formula]) -> SheetCells:
    keys: list[int] = []
    places: list[int] = []
    row = 0
    for line in table.iter(f"{_TABLE}table-row"):
        rows = int(line.get(f"{_TABLE}number-rows-repeated", 1))
        column = 0
        for cell in line:
            columns = int(cell.get(f"{_TABLE}number-columns-repeated", 1))
            formula = cell.get(f"{_TABLE}formula")
            filled = formula is not None or f"{_OFFICE}value" in cell.attrib or len(cell)
            if filled and rows * columns < MOST_REPEATED:
                height = int(cell.get(f"{_TABLE}number-matrix-rows-spanned", 1))
                width = int(cell.get(f"{_TABLE}number-matrix-columns-spanned", 1))
                array = f"{_TABLE}number-matrix-rows-spanned" in cell.attrib
                for r in range(row + 1, row + rows + 1):
                    for c in range(column + 1, column + columns + 1):
                        keys.append(r * WIDTH + c - 1)
                        places.append(-1)
                        if formula is not None:
                            places[-1] = len(formulas)
                            text = as_in_excel(formula)
                            formulas.append(Formula(text, r, c, height, width, array=array))
            column += columns
        row += rows
    return SheetCells(name, np.array(keys, dtype=np.int64), np.array(places, dtype=np.int64))
