"""Reads the formulas and stored values of a workbook, fast and whichever program wrote it.

openpyxl rejects files that every spreadsheet program opens, keeps a Python object for each cell and
reads formulas and values in two passes; here a single expat pass fills a few arrays.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from .addresses import (
    MAX_COLUMNS,
    MAX_ROWS,
    REFERENCE,
    Corners,
    Place,
    parse_area,
    place_of,
    split_address,
    unquoted,
)
from .ooxml import DAMAGED, Malformed, Package, new_parser

WIDTH = MAX_COLUMNS
"""A cell's key is row * WIDTH + column - 1: one number that sorts by row, then by column."""

_TEXT = re.compile(r'"[^"]*"')
_NAME = re.compile(r"[^\W\d][\w.]*")
_READ = re.compile(rf"(?<![\w.$])(?:{REFERENCE.pattern})(?![\w.(])".replace("[^'!]+", r"[\w.]+"))
"""A reference within a formula, where a sheet's name without quotes is a word."""
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

    def cells_with_formulas(self) -> Iterator[tuple[int, int, int]]:
        """The row, the column and the index of the formula of each cell that has one."""
        for key, formula in zip(self.keys.tolist(), self.formulas.tolist()):
            if formula >= 0:
                yield key // WIDTH, key % WIDTH + 1, formula

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
    for found in _READ.finditer(_TEXT.sub("", formula.text)):
        sheet, *ends = found.groups()
        corners = []
        for kept_column, letters, kept_row, digits in (ends[:4], ends[4:]):
            row, column = split_address((letters or ends[1]).upper() + (digits or ends[3]))
            corners += [row + (0 if kept_row else down), column + (0 if kept_column else across)]
        if not letters:
            corners[2:] = corners[:2]
        yield unquoted(sheet[:-1]) if sheet else "", (corners[0], corners[1], corners[2], corners[3])


class References:
    """Which cells the formulas of a workbook refer to."""

    def __init__(self, book: FormulaBook) -> None:
        self._book = book
        self._sheets = {name.casefold(): name for name in book.sheets}
        areas = {name.casefold(): parse_area(text) for name, text in book.names.items()}
        self._named = {name: area for name, area in areas.items() if area and area[0]}

    @cached_property
    def cells(self) -> dict[str, list[tuple[Place, list[Place]]]]:
        """For each sheet its formula cells, each with the areas that it reads."""
        return {
            name: [
                (
                    Place(name, row, column, one.rows, one.columns),
                    [*self._areas(one, name, row, column)],
                )
                for row, column, formula in sheet.cells_with_formulas()
                for one in (self._book.formulas[formula],)
            ]
            for name, sheet in self._book.sheets.items()
        }

    def _areas(self, formula: Formula, own: str, row: int, column: int) -> Iterator[Place]:
        areas: list[tuple[str | None, Corners]] = [*references(formula, (row, column))]
        for name in _NAME.findall(formula.text) if self._named else ():
            area = self._named.get(f"{own}!{name}".casefold()) or self._named.get(name.casefold())
            areas += [area] if area else []
        for sheet, corners in areas:
            yield place_of(self._sheets.get((sheet or own).casefold(), sheet or own), *corners)

    def sources(self, place: Place) -> Iterator[Place]:
        """The areas that the formulas in cells refer to, nearest first, then those of these."""
        left, seen = [place], {place}
        for one in left:
            for here, areas in self.cells.get(one.sheet, ()):
                for there in areas if here.overlaps(one) else ():
                    if there not in seen:
                        seen.add(there)
                        left.append(there)
                        yield there

    def areas(self) -> Iterator[Place]:
        """The areas that formulas read."""
        return (there for own in self.cells.values() for _, areas in own for there in areas)

    def refers_to(self, place: Place) -> bool:
        return any(there.overlaps(place) for there in self.areas())

    def together(self, places: Sequence[Place]) -> set[tuple[int, int]]:
        """The numbers of each two of some places that one formula reads."""
        known: dict[Place, frozenset[int]] = {}
        pairs: set[tuple[int, int]] = set()
        for _, areas in (one for own in self.cells.values() for one in own):
            for area in areas:
                if area not in known:
                    known[area] = frozenset(n for n, p in enumerate(places) if p.overlaps(area))
            pairs |= {*permutations(frozenset[int]().union(*(known[area] for area in areas)), 2)}
        return pairs
