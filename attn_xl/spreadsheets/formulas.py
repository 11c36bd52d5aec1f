"""Reads the formulas of a workbook, whichever program wrote it: openpyxl rejects files that every
spreadsheet program opens."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import permutations
from itertools import product as every
from typing import Any, NamedTuple
from xml.parsers import expat

from .addresses import (
    MAX_COLUMNS,
    MAX_ROWS,
    REFERENCE,
    Corners,
    Place,
    address,
    parse_area,
    place_of,
    quoted,
    split_address,
    unquoted,
)
from .ooxml import DAMAGED, Malformed, Package, new_parser

_TEXT = re.compile(r'"[^"]*"')
_NAME = re.compile(r"[^\W\d][\w.]*")
_READ = re.compile(rf"(?<![\w.$])(?:{REFERENCE.pattern})(?![\w.(])".replace("[^'!]+", r"[\w.]+"))
"""A reference within a formula, where a sheet's name without quotes is a word."""
_WHOLE = re.compile(
    r"(?<![\w.$])((?:'(?:[^']|'')+'|[\w.]+)!)?"
    r"(?:\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})|\$?([0-9]{1,7}):\$?([0-9]{1,7}))(?![\w.(])"
)
"""Whole columns or rows: `C:D`, `Sheet1!$3:$4`."""
_SPILLED = re.compile(
    r"_xlfn\.ANCHORARRAY\(((?:'(?:[^']|'')+'|[\w.]+)!)?(\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7})\)"
)
"""All cells of an array formula, `B5#`."""
MOST_SPILLED = 1_000_000
"""Cells of an array formula that are followed; of a larger one, its first row."""


class Formula(NamedTuple):
    """A formula as written, and its cells: the first of an array; of one that others share with shifted
    references, its own."""

    text: str
    row: int
    column: int
    rows: int = 1
    columns: int = 1
    table: bool = False
    """Whether it is a what-if table (Data > What-If Analysis), which only Excel can compute."""
    array: bool = False
    """Whether it is an array formula, of one cell or more."""
    spills: int = 0
    """The number of the metadata with which it spills, in Excel 365; 0 if it does not."""

    @property
    def is_of_one_cell(self) -> bool:
        """Whether its value is a single number or text."""
        return not self.table and (self.rows, self.columns) == (1, 1)

    def cells(self) -> Iterator[tuple[int, int]]:
        """Its cells by row and column, row after row."""
        rows = range(self.row, self.row + self.rows)
        return every(rows, range(self.column, self.column + self.columns))


class FormulaBook(NamedTuple):
    """The formulas of each sheet by row and column, and the names of tables and defined ones: what each
    refers to, by name; those that belong to one sheet as `sheet!name`."""

    sheets: dict[str, dict[tuple[int, int], Formula]]
    names: dict[str, str]


def formulas_in(content: bytes) -> FormulaBook | None:
    """The formulas of an .xlsx file that is read for its values; None in other formats, and if they
    cannot be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _read(Package(archive))
    except (Malformed, expat.ExpatError, *DAMAGED, LookupError):
        return None


def _read(package: Package) -> FormulaBook | None:
    if "_rels/.rels" not in package.parts or not package.main.endswith(".xml"):
        return None
    names = [sheet["name"] for sheet in package.workbook.sheets]
    book = FormulaBook({}, {})
    for name, sheet in zip(names, package.workbook.sheets):
        kind, part = package.links[sheet.get("id", "")]
        if kind == "worksheet" and part in package.parts:
            book.sheets[name] = _sheet(package.read(part))
            for table, _ in package.tables(part):
                book.names[table.get("displayName", "")] = f"{quoted(name)}!{table.get('ref', '')}"
    for defined, text in package.workbook.names:
        local = defined.get("localSheetId", "")
        where = f"{names[int(local)]}!" if local and int(local) < len(names) else ""
        book.names[where + defined["name"]] = text
    give_areas(book.sheets, book.sheets)
    return book


def give_areas(
    sheets: Mapping[str, dict[tuple[int, int], Formula]],
    arrays: Mapping[str, Mapping[tuple[int, int], Formula]],
) -> None:
    """Give formulas `B5:D8` for `B5#`, where one of the `arrays` begins in B5."""
    for name, formulas in sheets.items():
        for cell, one in formulas.items():
            if "ANCHORARRAY(" in one.text:
                formulas[cell] = one._replace(text=with_areas(one.text, name, arrays))


def spilled_in(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The cells of each `B5#` in a formula: the name of a sheet, "" for its own, row and column."""
    for found in _SPILLED.finditer(text):
        sheet, _, letter, _, number = (one or "" for one in found.groups())
        yield unquoted(sheet[:-1]), split_address(f"{letter.upper()}{number}")


def with_areas(text: str, host: str, sheets: Mapping[str, Mapping[tuple[int, int], Formula]]) -> str:
    """A formula on a sheet with `B5:D8` for `B5#`, all cells of an array formula there, if it has more
    than one."""

    def area(found: re.Match[str]) -> str:
        sheet, column, letter, row, number = (one or "" for one in found.groups())
        start = split_address(f"{letter.upper()}{number}")
        array = sheets.get(unquoted(sheet[:-1]) or host, {}).get(start)
        if array is None or array.rows * array.columns == 1:
            return found[0]
        end = address(start[0] + array.rows - 1, start[1] + array.columns - 1)
        end = re.sub(r"([A-Z]+)", rf"{column}\1{row}", end)
        return f"{sheet}{column}{letter}{row}{number}:{end}"

    return _SPILLED.sub(area, text)


def _sheet(xml: bytes) -> dict[tuple[int, int], Formula]:
    parser, text = new_parser(), list[str]()
    found: dict[tuple[int, int], Formula] = {}
    shared: dict[str, Formula] = {}
    formula: dict[str, str] | None = None
    row = column = spills = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal formula, row, column, spills
        tag = tag[tag.rfind(" ") + 1 :]
        if tag == "row":
            row, column = int(attributes.get("r", row + 1)), 0
        elif tag == "c":
            row, column = split_address(attributes["r"]) if "r" in attributes else (row, column + 1)
            _check_place(row, column)
            spills = int(attributes.get("cm", 0))
        elif tag == "f":
            formula = attributes
            text.clear()

    def end(tag: str) -> None:
        nonlocal formula
        if formula is None or tag[tag.rfind(" ") + 1 :] != "f":
            return
        kind, number, written = formula.get("t", "normal"), formula.get("si", ""), "".join(text)
        rows = columns = 1
        if kind in ("array", "dataTable") and ":" in formula.get("ref", ""):
            first, last = formula["ref"].replace("$", "").split(":")
            (top, left), (bottom, right) = split_address(first), split_address(last)
            _check_place(bottom, right)
            rows, columns = bottom - top + 1, right - left + 1
        is_table, is_array = kind == "dataTable", kind == "array"
        one = Formula(written, row, column, rows, columns, is_table, is_array, spills * is_array)
        if kind == "shared":
            one = shared.setdefault(number, one) if not written else one
            shared[number] = one
        if one.text or one.table:
            found[row, column] = one
        formula = None

    def characters(data: str) -> None:
        if formula is not None:
            text.append(data)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.Parse(xml, True)
    return found


def _check_place(row: int, column: int) -> None:
    if not (0 < row <= MAX_ROWS and 0 < column <= MAX_COLUMNS):
        raise Malformed("it has cells outside the limits of a sheet")


def formula_in(formula: Formula, cell: tuple[int, int]) -> str:
    """A formula as it reads in another cell that shares it, or to which it is copied."""
    if formula[1:3] == cell:
        return formula.text
    from openpyxl.formula.translate import Translator

    origin = address(formula.row, formula.column)
    return str(Translator(f"={formula.text}", origin).translate_formula(address(*cell)))[1:]


def tokens_of(text: str) -> list[Any]:
    """The tokens of a formula without its equals sign; their values joined are the formula."""
    from openpyxl.formula import Tokenizer  # most workbooks that are filled in have no formulas

    return list(Tokenizer(f"={text}").items)


def references(formula: Formula, cell: tuple[int, int]) -> Iterator[tuple[str, Corners]]:
    """The cells and ranges that a formula reads in a cell, which may share it with others: the sheet
    ("" for the formula's own) and the corners."""
    down, across = (0, 0) if formula.array else (cell[0] - formula.row, cell[1] - formula.column)
    text = _TEXT.sub("", formula.text)
    for found in _WHOLE.finditer(text) if ":" in text else ():
        sheet, first, last, top, bottom = found.groups()
        rows = sorted((int(top), int(bottom))) if top else (1, MAX_ROWS)
        columns = (1, MAX_COLUMNS)
        if first:
            left, right = sorted(split_address(f"{one.upper()}1")[1] for one in (first, last))
            columns = (left, right)
        yield unquoted(sheet[:-1]) if sheet else "", (rows[0], columns[0], rows[1], columns[1])
    for found in _READ.finditer(text):
        sheet, *ends = found.groups()
        corners = []
        for kept_column, letters, kept_row, digits in (ends[:4], ends[4:]):
            row, column = split_address((letters or ends[1]).upper() + (digits or ends[3]))
            corners += [row + (0 if kept_row else down), column + (0 if kept_column else across)]
        if not letters:
            corners[2:] = corners[:2]
        yield unquoted(sheet[:-1]) if sheet else "", (corners[0], corners[1], corners[2], corners[3])


def relative(formula: Formula) -> str:
    """A formula with its references as distances from its cell: cells to which it was copied have the
    same."""

    def distance(kept: str, at: int, own: int) -> str:
        return f"{at}" if kept else f"[{at - own}]"

    def one(found: re.Match[str]) -> str:
        sheet, *ends = found.groups()
        text = sheet or ""
        for kept_column, letters, kept_row, digits in (ends[:4], ends[4:]):
            if letters and digits:
                row, column = split_address(letters.upper() + digits)
                text += f"R{distance(kept_row, row, formula.row)}"
                text += f"C{distance(kept_column, column, formula.column)}:"
        return text

    return _READ.sub(one, formula.text)


class References:
    """Which cells the formulas of a workbook refer to.

    Attributes:
        formulas: those of each sheet.
    """

    def __init__(self, book: FormulaBook) -> None:
        self.formulas = book.sheets
        self._sheets = {name.casefold(): name for name in book.sheets}
        areas = {name.casefold(): parse_area(text) for name, text in book.names.items()}
        self._named = {name: area for name, area in areas.items() if area and area[0]}

    @cached_property
    def cells(self) -> dict[str, dict[tuple[int, int], list[Place]]]:
        """For each sheet its formula cells, each with the areas that it reads; all of an array do."""
        found: dict[str, dict[tuple[int, int], list[Place]]] = {}
        for name, sheet in self.formulas.items():
            own = found.setdefault(name, {})
            for (row, column), one in sheet.items():
                if one.rows * one.columns > 1 and (row, column) != one[1:3]:
                    continue
                areas = [*self._areas(one, name, (row, column))]
                rows = range(row, row + (one.rows if one.rows * one.columns < MOST_SPILLED else 1))
                own |= {(r, c): areas for r in rows for c in range(column, column + one.columns)}
        return found

    def _areas(self, formula: Formula, own: str, cell: tuple[int, int]) -> Iterator[Place]:
        areas: list[tuple[str | None, Corners]] = [*references(formula, cell)]
        for name in _NAME.findall(formula.text) if self._named else ():
            area = self._named.get(f"{own}!{name}".casefold()) or self._named.get(name.casefold())
            areas += [area] if area else []
        for sheet, corners in areas:
            yield place_of(self._sheets.get((sheet or own).casefold(), sheet or own), *corners)

    def sources(self, place: Place) -> Iterator[Place]:
        """The areas that the formulas in cells refer to, nearest first, then those of these."""
        left, seen, done = [place], {place}, set[tuple[str, int, int]]()
        for one in left:
            own, rows = self.cells.get(one.sheet, {}), range(one.row, one.last_row + 1)
            columns = range(one.column, one.last_column + 1)
            few = len(rows) * len(columns) <= len(own)
            for r, c in every(rows, columns) if few else own:
                if (r, c) not in own or r not in rows or c not in columns or (one.sheet, r, c) in done:
                    continue
                done.add((one.sheet, r, c))
                for there in own[r, c]:
                    if there not in seen:
                        seen.add(there)
                        left.append(there)
                        yield there

    def areas(self) -> Iterator[Place]:
        """The areas that formulas read."""
        return (there for own in self.cells.values() for areas in own.values() for there in areas)

    def refers_to(self, place: Place) -> bool:
        return any(there.overlaps(place) for there in self.areas())

    def together(self, places: Sequence[Place]) -> set[tuple[int, int]]:
        """The numbers of each two of some places that one formula reads."""
        known: dict[Place, frozenset[int]] = {}
        pairs: set[tuple[int, int]] = set()
        for areas in (areas for own in self.cells.values() for areas in own.values()):
            for area in areas:
                if area not in known:
                    known[area] = frozenset(n for n, p in enumerate(places) if p.overlaps(area))
            pairs |= {*permutations(frozenset[int]().union(*(known[area] for area in areas)), 2)}
        return pairs
