"""Reads the formulas and stored values of a workbook, fast and whichever program wrote it.

openpyxl rejects files that every spreadsheet program opens, keeps a Python object for each cell and
reads formulas and values in two passes; here a single expat pass fills a few arrays.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from .addresses import MAX_COLUMNS, MAX_ROWS, split_address
from .ooxml import Malformed, Package, new_parser
from .unpack import DAMAGED

WIDTH = MAX_COLUMNS
"""A cell's key is row * WIDTH + column - 1: one number that sorts by row, then by column."""

NUMBER, TEXT, BOOLEAN, ERROR, MISSING = range(5)
"""Kinds of cell; MISSING is a formula without a stored value."""

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
        keys, kinds, numbers: one entry per cell; the number of a non-numeric cell is NaN.
        texts: texts by index into the arrays; shared strings are included only for cells with formulas
            (as Gnumeric stores them).
        formulas: for each cell the index of its formula in the book's list, or -1.
        spilled: the same for cells filled by an array formula in another cell.
    """

    name: str
    keys: Ints
    kinds: NDArray[np.int8]
    numbers: NDArray[np.float64]
    texts: dict[int, str]
    formulas: Ints
    spilled: Ints

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
            book.sheets[name] = _sheet(name, package.read(part), book.formulas, package)
    for defined, text in workbook.names:
        local = defined.get("localSheetId", "")
        where = f"{sheets[int(local)]}!" if local and int(local) < len(sheets) else ""
        book.names[where + defined["name"]] = text
    return book


MOST_MISSING = 100_000  # cells of an array formula without a value
_KINDS = {"n": NUMBER, "b": BOOLEAN, "e": ERROR}


class _Cells:
    """The cells of a sheet while it is parsed."""

    def __init__(self, formulas: list[Formula]) -> None:
        self.keys: list[int] = []
        self.kinds: list[int] = []
        self.numbers: list[float] = []
        self.texts: dict[int, str] = {}
        self.places: list[int] = []
        self.arrays: list[tuple[int, Formula]] = []
        self.incomplete: list[Formula] = []
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
        if rows * columns > 1:
            self.arrays.append((place, formula))
        return place


def _sheet(name: str, xml: bytes, formulas: list[Formula], package: Package) -> SheetCells:
    parser, cells = new_parser(), _Cells(formulas)
    text: list[str] = []
    cell: dict[str, str] = {}
    formula: dict[str, str] | None = None
    written, value, inside = "", "", False
    keys, kinds, numbers, places = cells.keys, cells.kinds, cells.numbers, cells.places

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
        number = float("nan")
        kind = _KINDS.get(cell.get("t", "n"), TEXT)
        if value == "" and kind != TEXT:
            kind = MISSING
        elif kind in (NUMBER, BOOLEAN):
            number = float(value)
        elif cell.get("t") != "s":
            cells.texts[len(keys)] = value
        elif place >= 0 and value:
            cells.texts[len(keys)] = package.shared_texts[int(value)]
        if kind == MISSING and cells.arrays and cells.arrays[-1][0] == place:
            cells.incomplete.append(cells.arrays[-1][1])
        keys.append(row * WIDTH + column - 1)
        kinds.append(kind)
        numbers.append(number)
        places.append(place)

    def characters(data: str) -> None:
        if inside:
            text.append(data)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.Parse(xml, True)
    return _sorted_cells(name, cells)


def _check_place(row: int, column: int) -> None:
    if not (0 < row <= MAX_ROWS and 0 < column <= MAX_COLUMNS):
        raise Malformed("it has cells outside the limits of a sheet")


def _add_missing(cells: _Cells) -> None:
    """The cells that array formulas without a value fill: programs that compute nothing leave them out.
    Those that are there stay, since the first of equal keys does."""
    for formula in cells.incomplete:
        if formula.rows * formula.columns <= MOST_MISSING:
            rows = np.arange(formula.row, formula.row + formula.rows) * WIDTH
            columns = np.arange(formula.columns) + formula.column - 1
            keys = np.add.outer(rows, columns).ravel().tolist()
            cells.keys += keys
            cells.kinds += [MISSING] * len(keys)
            cells.numbers += [float("nan")] * len(keys)
            cells.places += [-1] * len(keys)


def _sorted_cells(name: str, cells: _Cells) -> SheetCells:
    _add_missing(cells)
    keys = np.array(cells.keys, dtype=np.int64)
    order = np.arange(len(keys))
    texts = cells.texts
    if len(keys) and not (np.diff(keys) > 0).all():  # rows or cells out of order or repeated
        _, order = np.unique(keys, return_index=True)
        texts = {new: texts[old] for new, old in enumerate(order.tolist()) if old in texts}
    sheet = SheetCells(
        name,
        keys[order],
        np.array(cells.kinds, dtype=np.int8)[order],
        np.array(cells.numbers, dtype=np.float64)[order],
        texts,
        np.array(cells.places, dtype=np.int64)[order],
        np.full(len(order), -1),
    )
    for place, formula in cells.arrays:
        for row in range(formula.row, formula.row + formula.rows):
            first = row * WIDTH + formula.column - 1
            low, high = np.searchsorted(sheet.keys, (first, first + formula.columns))
            if low < high:
                sheet.spilled[low:high] = place
            elif row > sheet.keys[-1] // WIDTH:
                break
    sheet.spilled[sheet.formulas >= 0] = -1
    return sheet
