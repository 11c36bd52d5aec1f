"""Reads how the cells of an .xlsx workbook are drawn: which have a border or a fill, which are merged,
and which are not free to be written to."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from attn_xl.errors import InputError
from attn_xl.settings import LABELS, SETTINGS

from .addresses import Corners, address, parse_area, split_address
from .book import Book, book_of
from .boxes import rectangles
from .formulas import Formula, References, formulas_in
from .ooxml import DAMAGED, Malformed, Package, content_of, damaged, parse

ROW = re.compile(rb"<((?:\w+:)?)row\b([^>]*?)(/>|>(.*?)</(?:\w+:)?row>)", re.DOTALL)
"""A row of a sheet: the prefix of its tags, its attributes, and its cells."""
CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.DOTALL)
"""A cell of a row: its attributes and its content."""
CELL_START = re.compile(
    rb"""<(?:\w+:)?c(?=[\s/>])(?:\s+(?:r=["']([A-Z]+)(\d+)["']|s=["'](\d+)["']|[\w:]+=["'][^"']*["']))*"""
)
"""The start of a cell: the letters of its column, its row, and its style if it has one."""
_OPTIONS = (SETTINGS.casefold(), LABELS.casefold())
"""The sheets of options and answers, where no matrix stands."""
STEPS_NOTE = "What the sheets before do not show. attn-xl fill writes this sheet."
"""The first cell of the sheet that `fill` adds."""
MOST_OUTLINES = 20_000
"""Cells with a border or a fill among which outlines are looked for."""
_EDGES = ("left", "right", "top", "bottom")


@dataclass
class DrawnSheet:
    """A sheet as its author drew it. Rows and columns count from 1.

    Attributes:
        name, part: the sheet, and the part of the package that holds it.
        values: of its nonblank cells: numbers, texts, error values, `NOT_STORED`.
        formulas: of its formula cells; cells that share a formula have that of the first.
        styles: of the cells that have one, by its number.
        framed: the cells with a border or a fill.
        merged: its merged cells.
        closed: ranges where nothing can be written, each with the reason.
        held: blank cells that count as if they held a number, until one is put there.
    """

    name: str
    part: str
    values: dict[tuple[int, int], Any] = field(default_factory=dict)
    formulas: dict[tuple[int, int], Formula] = field(default_factory=dict)
    styles: dict[tuple[int, int], int] = field(default_factory=dict)
    framed: set[tuple[int, int]] = field(default_factory=set)
    merged: list[Corners] = field(default_factory=list)
    closed: list[tuple[Corners, str]] = field(default_factory=list)
    held: set[tuple[int, int]] = field(default_factory=set)

    def at(self, row: int, column: int) -> str:
        """`'My sheet'!B5`, as messages name a cell."""
        return f"{self.name}!{address(row, column)}"


@dataclass
class DrawnBook:
    """A workbook as its author drew it.

    Attributes:
        path, content: the file and its bytes.
        sheets: the visible worksheets, in order, without those of options and answers and `behind`.
        book: its values.
        names: its defined names, with what each refers to.
        behind: the name of the sheet that `fill` added to it, or "".
    """

    path: Path
    content: bytes
    book: Book
    sheets: list[DrawnSheet] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    behind: str = ""

    @cached_property
    def package(self) -> Package:
        return Package(zipfile.ZipFile(io.BytesIO(self.content)))

    @cached_property
    def references(self) -> References | None:
        """What its formulas read; None if it has none."""
        computed = any(b"<f" in self.package.read(part) for part in self.book.marks.parts())
        found = formulas_in(self.content) if computed else None
        return References(found) if found else None


def read_drawn(path: Path, content: bytes | None = None) -> DrawnBook:
    """Read a workbook with its looks, from its file or its bytes.

    Raises:
        InputError: if it is no .xlsx workbook, or cannot be read.
    """
    content = content_of(path) if content is None else content
    book = book_of(path, content)
    drawn = DrawnBook(path, content, book)
    try:
        package = drawn.package
        if not content.startswith(b"PK") or not package.main.endswith(".xml"):
            raise InputError(
                f"{path}: is no .xlsx workbook. Save it as .xlsx in a spreadsheet program."
            )
        drawn.names = {name["name"]: text for name, text in package.workbook.names}
        formulas = drawn.references.formulas if drawn.references else {}
        _refuse_signed(path, package)
        framed = _framed_styles(package)
        for name, part in book.marks.sheets().items():
            if name not in book.grids or name in book.hidden or name.casefold() in _OPTIONS:
                continue
            if book.grids[name][:1] and STEPS_NOTE in book.grids[name][0]:
                drawn.behind = name
                continue
            sheet = DrawnSheet(name, part)
            sheet.values = {
                (row, column): value
                for row, values in enumerate(book.grids[name], 1)
                for column, value in enumerate(values, 1)
                if not (isinstance(value, str) and not value.strip())
            }
            sheet.formulas = formulas.get(name, {})
            _look_at(sheet, package.read(part), framed, package)
            drawn.sheets.append(sheet)
    except (Malformed, ExpatError, *DAMAGED, LookupError) as error:
        raise damaged(path, str(error)) from None
    return drawn


def _refuse_signed(path: Path, package: Package) -> None:
    if any(kind == "origin" for kind, _ in package.relations("").values()):
        raise InputError(
            f"{path}: is signed, and any change would break the signature. Remove it, or use a copy."
        )


def _look_at(sheet: DrawnSheet, xml: bytes, framed: frozenset[int], package: Package) -> None:
    start, end = data_of(xml)
    columns: dict[bytes, int] = {}
    for letters, row, style in CELL_START.findall(xml, start, end):
        if not style:
            continue
        if letters not in columns:
            columns[letters] = split_address(f"{letters.decode()}1")[1]
        sheet.styles[int(row), columns[letters]] = int(style)
    sheet.framed = {cell for cell, style in sheet.styles.items() if style in framed}
    sheet.framed.update([*_enclosed(sheet.framed)])
    for reference in re.findall(rb'<(?:\w+:)?mergeCell [^>]*?ref="([^"]+)"', xml[end:]):
        if area := parse_area(reference.decode()):
            sheet.merged.append(area[1])
            sheet.closed.append((area[1], "merged cells"))
    for table, _ in package.tables(sheet.part):
        if area := parse_area(table.get("ref", "")):
            sheet.closed.append((area[1], "a table"))
    for formula in {id(one): one for one in sheet.formulas.values()}.values():
        if formula.rows * formula.columns > 1 or formula.table:
            last = formula.row + formula.rows - 1, formula.column + formula.columns - 1
            for row in range(formula.row, last[0] + 1):
                for column in range(formula.column, last[1] + 1):
                    sheet.formulas.setdefault((row, column), formula)
            sheet.closed.append(((formula.row, formula.column, *last), "an array formula"))
    protected = re.search(rb"<(?:\w+:)?sheetProtection\b([^>]*)>", xml[end:])
    if protected and attribute(protected[1], b"sheet") in (b"1", b"true"):
        sheet.closed.append(((1, 1, 1 << 20, 1 << 14), "a protected sheet"))


def _enclosed(cells: Set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The cells within rectangles of which the edges alone have borders."""
    for row, column, rows, columns in rectangles(cells) if len(cells) <= MOST_OUTLINES else ():
        whole = {*product(range(row, row + rows), range(column, column + columns))}
        inside = {*product(range(row + 1, row + rows - 1), range(column + 1, column + columns - 1))}
        if whole - inside <= cells:
            yield from inside


def attribute(attributes: bytes, name: bytes) -> bytes:
    """An attribute of a tag, "" if it has none."""
    found = _attribute(name).search(attributes)
    return found[1] if found else b""


@cache
def _attribute(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb'(?:^|\s)%b\s*=\s*["\']([^"\']*)' % name)


def data_of(xml: bytes) -> tuple[int, int]:
    """Where the rows of a sheet begin and end in its XML.

    Raises:
        Malformed: if it has none.
    """
    first = re.search(rb"<(?:\w+:)?sheetData\s*>", xml)
    if first is None:
        empty = re.search(rb"<(?:\w+:)?sheetData\s*/>", xml)
        if empty is None:
            raise Malformed("it has a sheet without cells")
        return empty.end(), empty.end()
    last = re.compile(rb"</(?:\w+:)?sheetData\s*>").search(xml, first.end())
    if last is None:
        raise Malformed("it has a sheet without an end")
    return first.end(), last.start()


def _framed_styles(package: Package) -> frozenset[int]:
    """The numbers of the styles with a border or a fill."""
    part = next((part for kind, part in package.links.values() if kind == "styles"), "")
    if part not in package.parts:
        return frozenset()
    borders: list[bool] = []
    fills: list[bool] = []
    framed: list[int] = []
    inside: list[str] = []
    styles = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal styles
        if tag == "border" and inside[-1:] == ["borders"]:
            borders.append(False)
        elif tag in _EDGES and "borders" in inside and attributes.get("style", "none") != "none":
            borders[-1] = True
        elif tag == "fill" and inside[-1:] == ["fills"]:
            fills.append(False)
        elif tag == "patternFill" and "fills" in inside:
            fills[-1] = attributes.get("patternType", "none") not in ("none", "gray125")
        elif tag == "xf" and inside[-1:] == ["cellXfs"]:
            border, fill = int(attributes.get("borderId", 0)), int(attributes.get("fillId", 0))
            if (border < len(borders) and borders[border]) or (fill < len(fills) and fills[fill]):
                framed.append(styles)
            styles += 1
        inside.append(tag)

    parse(
        package.read(part),
        start,
        lambda tag, text: inside.__delitem__(-1),
    )
    return frozenset(framed)
