"""What a workbook says about its cells besides their values: names of ranges, which cells hold
formulas, which rows and columns are hidden. Knows .xlsx, .xlsm and .ods, and no
other format."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

from .addresses import MAX_COLUMNS, parse_area, split_address

_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_FORMULA_CELL = re.compile(
    rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3}\d{1,7})"[^>]*>\s*<(?:\w+:)?f(?:\s[^>]*)?[/>]'
)
_ARRAY = re.compile(rb'<(?:\w+:)?f [^>]*?\bref="([A-Z]{1,3}\d{1,7}):([A-Z]{1,3}\d{1,7})"')
_HIDDEN_ROW = re.compile(rb'<(?:\w+:)?row(?= )[^>]*? r="(\d+)"[^>]*? hidden="(?:1|true)"')
_HIDDEN_COLUMN = re.compile(rb"<(?:\w+:)?col [^>]*>")
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"

Area = tuple[str, int, int, int, int]
"""Sheet, first row, first column, last row, last column, from 1."""
Cells = set[tuple[int, int]]


class Marks:
    """The marks of one workbook, each read when it is asked for."""

    def __init__(self, content: bytes, plain: Collection[str] = ()) -> None:
        """Take a file, and the parts in which neither formulas nor anything hidden is."""
        self._content, self._plain = content, plain
        self._xml: dict[str, bytes] = {}
        self._parts: dict[str, str] | None = None
        self._names: list[tuple[str, Area]] | None = None
        self._archive: zipfile.ZipFile | None = None
        self._is_ods = content.startswith(b"PK") and b"opendocument" in content[:200]

    def names(self) -> list[tuple[str, Area]]:
        """The defined names and the tables (ListObjects) with the range each stands for; of names
        that belong to one sheet each, all."""
        if self._names is None:
            self._names = []
            if self._content.startswith(b"PK"):
                with suppress(*_UNREADABLE):
                    self._names = list(self._ods_names() if self._is_ods else self._xlsx_names())
        return self._names

    def references(self) -> dict[str, str]:
        """The defined names of the whole workbook, and what each refers to; of an xlsx only."""
        try:
            return {
                tag.get("name", ""): tag.text or ""
                for tag in self._tree("xl/workbook.xml").iter()
                if tag.tag.endswith("}definedName") and "localSheetId" not in tag.attrib
            }
        except _UNREADABLE:
            return {}

    def formulas(self, sheet: str) -> Cells | None:
        """The cells of a sheet with formulas, by row and column from 1; None if that is not known."""
        try:
            if self._is_ods:
                return {cell for cell, formula, _ in self._ods_cells(sheet) if formula}
            xml = self._sheet(sheet)
        except _UNREADABLE:
            return None
        if xml is None:
            return None
        found = {split_address(cell.decode()) for cell in _FORMULA_CELL.findall(xml)}
        for first, last in _ARRAY.findall(xml):
            (top, left), (bottom, right) = split_address(first.decode()), split_address(last.decode())
            if (bottom - top + 1) * (right - left + 1) <= 1_000_000:
                found |= {(r, c) for r in range(top, bottom + 1) for c in range(left, right + 1)}
        return found

    def hidden(self, sheet: str) -> tuple[set[int], set[int]]:
        """The hidden rows and the hidden columns of a sheet, from 1, as far as they are known."""
        try:
            if self._is_ods:
                return {cell[0] for cell, _, hidden in self._ods_cells(sheet) if hidden}, set()
            return self._hidden(self._sheet(sheet))
        except _UNREADABLE:
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

    def _part(self, name: str) -> bytes:
        if self._archive is None:
            self._archive = zipfile.ZipFile(io.BytesIO(self._content))
        if name not in self._xml:
            self._xml[name] = self._archive.read(name)
        return self._xml[name]

    def _tree(self, part: str) -> Any:
        from defusedxml.ElementTree import fromstring

        return fromstring(self._part(part))

    def _related(self, part: str) -> dict[str, tuple[str, str]]:
        """What a part refers to: the kind and the part, by id."""
        folder, _, file = part.rpartition("/")
        try:
            tree = self._tree(f"{folder}/_rels/{file}.rels")
        except KeyError:
            return {}
        return {
            link.get("Id"): (
                link.get("Type", "").rpartition("/")[2],
                posixpath.normpath(posixpath.join("/" + folder, link.get("Target", "")))[1:],
            )
            for link in tree
        }

    def sheets(self) -> dict[str, str]:
        """The part of each sheet of an xlsx, by the name of the sheet."""
        if self._parts is None:
            related = self._related("xl/workbook.xml")
            self._parts = {
                tag.get("name"): related[tag.get(_RELATED)][1]
                for tag in self._tree("xl/workbook.xml").iter()
                if tag.tag.endswith("}sheet") and tag.get(_RELATED) in related
            }
        return self._parts

    def parts(self) -> set[str]:
        """The parts that are sheets of an xlsx; none if that cannot be told."""
        try:
            return set(self.sheets().values())
        except _UNREADABLE:
            return set()

    def _sheet(self, sheet: str) -> bytes | None:
        if not self._content.startswith(b"PK"):
            return None
        part = self.sheets().get(sheet)
        if part in self._plain:
            return b""
        return self._part(part) if part and part.endswith(".xml") else None

    def _xlsx_names(self) -> Iterator[tuple[str, Area]]:
        for tag in self._tree("xl/workbook.xml").iter():
            if tag.tag.endswith("}definedName") and not tag.get("name", "_xl").startswith("_xl"):
                area = parse_area(tag.text or "")
                if area and area[0] in self.sheets():
                    yield tag.get("name"), (area[0], *area[1])
        for sheet, part in self.sheets().items():
            for kind, target in self._related(part).values():
                if kind == "table":
                    table = self._tree(target)
                    area = parse_area(table.get("ref", ""))
                    if area:
                        yield table.get("displayName") or table.get("name"), (sheet, *area[1])

    # OpenDocument

    def _ods_tables(self) -> Iterator[Any]:
        return (t for t in self._tree("content.xml").iter(f"{_TABLE}table"))

    def _ods_names(self) -> Iterator[tuple[str, Area]]:
        for tag in self._tree("content.xml").iter():
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
        """The cells that hold something: where, whether by a formula, whether in a hidden row."""
        for table in self._ods_tables():
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
                    if len(cell) and wide * again < 100_000:
                        for r in range(row + 1, row + again + 1):
                            for c in range(column + 1, column + wide + 1):
                                yield (r, c), formula, hidden
                    column += wide
                row += again


def _unreadable() -> tuple[type[BaseException], ...]:
    from xml.etree.ElementTree import ParseError

    return (LookupError, ValueError, ParseError, zipfile.BadZipFile, OSError, NotImplementedError,
            RuntimeError, EOFError, TypeError)  # fmt: skip


_UNREADABLE = _unreadable()
