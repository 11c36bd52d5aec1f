"""What a spreadsheet file says of its cells besides their values: names, hidden rows, formulas."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import product as every
from typing import Any

from .addresses import MAX_COLUMNS, parse_area, split_address
from .ooxml import UNREADABLE, Package

_FORMULA_CELL = re.compile(
    rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3}\d{1,7})"[^>]*>\s*<(?:\w+:)?f(?:\s[^>]*)?[/>]'
)
_ARRAY = re.compile(rb'<(?:\w+:)?f [^>]*?\bref="([A-Z]{1,3}\d{1,7}):([A-Z]{1,3}\d{1,7})"')
_HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row(?= )[^>]*? r="(\d+)"[^>]*? hidden="(?:1|true)"')
_HIDDEN_COLUMN = re.compile(rb"<(?:\w+:)?col [^>]*>")
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"

Area = tuple[str, int, int, int, int]
"""Sheet, first row, first column, last row, last column, from 1."""
CellSet = set[tuple[int, int]]


class Marks:
    """Defined names, formula cells and hidden rows and columns of one workbook, read on demand."""

    def __init__(self, content: bytes, plain: Collection[str] = ()) -> None:
        """Take a file's bytes, and the parts known to have no formulas and nothing hidden."""
        self.content, self._plain = content, plain
        self._formulas: dict[str, CellSet | None] = {}
        self._xml: dict[str, bytes] = {}
        self._parts: dict[str, str] | None = None
        self._names: list[tuple[str, Area]] | None = None
        self._is_ods = content.startswith(b"PK") and b"opendocument" in content[:200]

    def names(self) -> list[tuple[str, Area]]:
        """The defined names and tables (ListObjects), each with its range; includes the names that
        belong to a single sheet."""
        if self._names is None:
            self._names = []
            if self.content.startswith(b"PK"):
                with suppress(*UNREADABLE):
                    self._names = list(self._ods_names() if self._is_ods else self._xlsx_names())
        return self._names

    def references(self) -> dict[str, str]:
        """The workbook's global defined names and what each refers to; .xlsx only."""
        try:
            names = self._package.workbook.names
            return {name.get("name", ""): text for name, text in names if "localSheetId" not in name}
        except UNREADABLE:
            return {}

    def formulas(self, sheet: str) -> CellSet | None:
        """The formula cells of a sheet, by row and column from 1; None if unknown."""
        if sheet not in self._formulas:
            self._formulas[sheet] = self._formula_cells(sheet)
        return self._formulas[sheet]

    def _formula_cells(self, sheet: str) -> CellSet | None:
        try:
            if self._is_ods:
                return {cell for cell, formula, _ in self._ods_cells(sheet) if formula}
            xml = self._sheet(sheet)
        except UNREADABLE:
            return None
        if xml is None:
            return None
        cells = {split_address(cell.decode()) for cell in _FORMULA_CELL.findall(xml)}
        for first, last in _ARRAY.findall(xml):
            (top, left), (bottom, right) = split_address(first.decode()), split_address(last.decode())
            if (bottom - top + 1) * (right - left + 1) <= 1_000_000:
                cells |= {(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)}
        return cells

    def hidden(self, sheet: str) -> tuple[set[int], set[int]]:
        """The hidden rows and hidden columns of a sheet, from 1; empty if unknown."""
        try:
            if self._is_ods:
                return {cell[0] for cell, _, hidden in self._ods_cells(sheet) if hidden}, set()
            return self._hidden(self._sheet(sheet))
        except UNREADABLE:
            return set(), set()

    def _hidden(self, xml: bytes | None) -> tuple[set[int], set[int]]:
        if xml is None or b'hidden="' not in xml:
            return set(), set()
        columns: set[int] = set()
        for tag in _HIDDEN_COLUMN.findall(xml[: xml.find(b"sheetData")]):
            marks = dict(re.findall(rb'(\w+)="([^"]*)"', tag))
            if marks.get(b"hidden") in (b"1", b"true"):
                first, last = int(marks.get(b"min", 1)), int(marks.get(b"max", 1))
                columns |= set(range(first, min(last, MAX_COLUMNS) + 1))
        return {int(row) for row in _HIDDEN_ROW.findall(xml)}, columns

    # Open XML

    @cached_property
    def _package(self) -> Package:
        return Package(zipfile.ZipFile(io.BytesIO(self.content)))

    def _part(self, name: str) -> bytes:
        if name not in self._xml:
            self._xml[name] = self._package.read(name)
        return self._xml[name]

    def sheets(self) -> dict[str, str]:
        """The part of each sheet of an .xlsx file, by sheet name."""
        if self._parts is None:
            links, sheets = self._package.links, self._package.workbook.sheets
            self._parts = {
                sheet.get("name", ""): links[sheet["id"]][1]
                for sheet in sheets
                if sheet.get("id") in links
            }
        return self._parts

    def parts(self) -> set[str]:
        """The parts of an .xlsx file that are sheets; empty if unknown."""
        try:
            return set(self.sheets().values())
        except UNREADABLE:
            return set()

    def _sheet(self, sheet: str) -> bytes | None:
        if not self.content.startswith(b"PK"):
            return None
        part = self.sheets().get(sheet)
        if part in self._plain:
            return b""
        return self._part(part) if part and part.endswith(".xml") else None

    def _xlsx_names(self) -> Iterator[tuple[str, Area]]:
        for name, text in self._package.workbook.names:
            area = parse_area(text)
            if not name.get("name", "_xl").startswith("_xl") and area and area[0] in self.sheets():
                yield name["name"], (area[0], *area[1])
        for sheet, part in self.sheets().items():
            for table, _ in self._package.tables(part):
                if area := parse_area(table.get("ref", "")):
                    yield table.get("displayName") or table["name"], (sheet, *area[1])

    # OpenDocument

    def _ods_tags(self, name: str | None = None) -> Iterator[Any]:
        from defusedxml.ElementTree import fromstring

        return iter(fromstring(self._part("content.xml")).iter(name))

    def _ods_names(self) -> Iterator[tuple[str, Area]]:
        for tag in self._ods_tags():
            if tag.tag == f"{_TABLE}named-range":
                text, name = tag.get(f"{_TABLE}cell-range-address", ""), tag.get(f"{_TABLE}name")
            elif tag.tag == f"{_TABLE}database-range":
                text, name = tag.get(f"{_TABLE}target-range-address", ""), tag.get(f"{_TABLE}name")
            else:
                continue
            match = re.fullmatch(r"\$?('(?:[^']|'')+'|[^'.]+)\.([^:]+)(?::(?:.*\.)?([^.:]+))?", text)
            if match and name and not name.startswith("__"):
                area = parse_area(f"{match[1]}!{match[2]}:{match[3] or match[2]}")
                if area and area[0]:
                    yield name, (area[0], *area[1])

    def _ods_cells(self, sheet: str) -> Iterator[tuple[tuple[int, int], bool, bool]]:
        """The nonblank cells: position, whether there is a formula, whether the row is hidden."""
        for table in self._ods_tags(f"{_TABLE}table"):
            if table.get(f"{_TABLE}name") != sheet:
                continue
            row = 0
            for line in table.iter(f"{_TABLE}table-row"):
                hidden = line.get(f"{_TABLE}visibility") in ("collapse", "filter")
                again = int(line.get(f"{_TABLE}number-rows-repeated", 1))
                column = 0
                for cell in line:
                    wide = int(cell.get(f"{_TABLE}number-columns-repeated", 1))
                    formula = cell.get(f"{_TABLE}formula") is not None
                    high, across = (int(cell.get(f"{_TABLE}number-matrix-{axis}-spanned", 0))
                                    for axis in ("rows", "columns"))  # fmt: skip
                    for r, c in every(range(high), range(across)) if high * across < 1_000_000 else ():
                        yield (row + 1 + r, column + 1 + c), formula, hidden
                    if len(cell) and wide * again < 100_000:
                        for r in range(row + 1, row + again + 1):
                            for c in range(column + 1, column + wide + 1):
                                yield (r, c), formula, hidden
                    column += wide
                row += again
