"""Reads the cell values of any supported file: workbooks, delimited text, arrays, JSON."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Thread
from typing import Any, Literal

from attn_xl.errors import CallError, InputError

from .addresses import MAX_COLUMNS, MAX_ROWS, address, split_address
from .engines import Value
from .metadata import Marks
from .numerals import ErrorValue
from .plain_sheet import WORTH_IT, plain_rows
from .text_files import check_size, decoded, is_text, read_text
from .unpack import DAMAGED, content_of, unpacked
from .values import OLE, Grid, sandboxed_values, values

MOST_SPANNED = 10_000_000
"""Cells, filled or blank, that the sheets of a book may span; mostly filled sheets may span more."""

# A cell whose formula has no stored value, or whose value is an error: calamine returns both as blank.
_NOT_STORED = re.compile(
    rb"<(?:\w+:)?f(?:\s[^>]*)?(?:/>|>[^<]*</(?:\w+:)?f>)"
    rb"\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
    rb"|\st=\"e\""
)
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
_RECALCULATE = re.compile(rb"fullCalcOnLoad=\"(?:1|true)\"")
# Unprefixed tags match fastest; files that prefix every tag are rare.
_ROW = re.compile(rb'<row[^>]*? r="(\d+)"')
_PREFIXED_ROW = re.compile(rb'<\w+:row[^>]*? r="(\d+)"')
_COLUMN = re.compile(rb' r="([A-Za-z]+)\d')
_FAR_ROW = re.compile(rb' r="[A-Za-z]+(\d{5,})"')
_STRINGS = "xl/sharedStrings.xml"
_COUNT = re.compile(rb"ount\s*=\s*[\"']\s*\+?(\d+)")
_AFTER_TAG = (b" ", b">", b"/", b"\t", b"\n", b"\r")
_NPY = b"\x93NUMPY"


@dataclass(frozen=True)
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


def read_book(path: Path, encoding: str | None = None) -> Book:
    """Read the cells of a workbook, delimited text, arrays or JSON; `-` is standard input.

    The format is detected from the content. IronCalc computes formulas without a stored value, and all
    formulas if the workbook asks to be recalculated on loading.

    Args:
        encoding: the encoding of delimited text or JSON; detected if None.

    Raises:
        InputError: if the file cannot be read; the message says why and what to do.
        CallError: if there is no such encoding, or the file is not text.
    """
    content = content_of(path)
    shown = Path("standard input") if str(path) == "-" else path
    parts = unpacked(shown, content, _is_looked_at) if content.startswith(b"PK") else {}
    grids: dict[str, Grid] | None = None
    remark = ""
    if content.startswith(_NPY) or _is_npz(content):
        from .arrays import from_npy

        grids = _named(from_npy(content, str(shown)), shown)
    elif not content.startswith((b"PK", OLE)):
        grids, remark = _from_text(shown, content, encoding)
    if encoding is not None and (grids is None or content.startswith((b"PK", _NPY))):
        raise CallError(f"--encoding has no effect: {shown} is not a text file.")
    if grids is None:
        return _workbook(path, shown, content, parts)
    for rows in grids.values():
        check_size(rows, str(shown))
    return Book(shown, grids, remarks=(remark,) if remark else ())


def _is_looked_at(part: str) -> bool:
    sheet = part.startswith("xl/worksheets/") and part.endswith(".xml")
    return sheet or part in ("xl/workbook.xml", _STRINGS)


def _workbook(path: Path, shown: Path, content: bytes, parts: dict[str, bytes]) -> Book:
    if not content.startswith(b"PK"):
        return Book(shown, *sandboxed_values(path, shown, content), hides_formulas=True)
    strings = parts.pop(_STRINGS, b"")
    plain = _plain_sheets(content, parts, strings)
    sheets = Marks(content).parts()
    usual = bool(sheets) and sheets <= parts.keys() and _counts(strings) <= len(strings)
    spanned = 0
    for part, xml in parts.items():
        if part not in plain and part != "xl/workbook.xml":
            spanned = _check_span(shown, xml, spanned)
            usual = usual and _is_usual(xml)
    # The scan for formulas runs while the values are read, which takes longest.
    scan = _Scan(parts, plain)
    thread = Thread(target=scan.run)
    thread.start()
    try:
        read = values(path, shown, content, plain) if usual else sandboxed_values(path, shown, content)
        grids, hidden = read
    finally:
        thread.join()
    if scan.compute != "none":
        _compute(path, content, grids, everything=scan.compute == "all")
    binary = b"xl/workbook.bin" in content
    return Book(shown, grids, hidden, Marks(content, scan.plain), hides_formulas=binary)


def _plain_sheets(content: bytes, parts: dict[str, bytes], strings: bytes) -> dict[str, Grid]:
    """The values of large sheets of plain numbers, by part."""
    large = [name for name, xml in parts.items() if len(xml) > WORTH_IT]
    if not large:
        return {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        try:
            styles = archive.read("xl/styles.xml")
        except (*DAMAGED, KeyError):
            return {}
    values = {name: plain_rows(parts[name], strings, styles) for name in large}
    return {name: rows for name, rows in values.items() if rows is not None}


def _named(grids: dict[str, Grid], path: Path) -> dict[str, Grid]:
    """Name an unnamed table after its file."""
    return {name or path.stem: grid for name, grid in grids.items()}


def _is_npz(content: bytes) -> bool:
    """Whether the first file in a zip archive is an array."""
    length = int.from_bytes(content[26:28], "little")
    return content.startswith(b"PK") and content[30 : 30 + length].endswith(b".npy")


def _from_text(path: Path, content: bytes, encoding: str | None) -> tuple[dict[str, Grid] | None, str]:
    """The cells of a text file, and a remark on its encoding; None if it is not text or cannot contain
    a table."""
    text, remark = decoded(content, encoding, str(path))
    if not is_text(text) or text.lstrip()[:1] == "<":
        return None, ""
    if text.lstrip()[:1] in ("{", "["):
        from .arrays import from_json

        return _named(from_json(text, str(path)), path), remark
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


class _Scan:
    """Finds which formulas of an .xlsx file to compute: those without a stored value, or all of them
    if the file asks to be recalculated."""

    def __init__(self, parts: dict[str, bytes], known: Collection[str]) -> None:
        """Take the XML of the parts, and the parts known to have no formulas."""
        self.parts, self.known = parts, known
        self.plain: set[str] = set()
        self.compute: Literal["none", "missing", "all"] = "none"

    def run(self) -> None:
        missing = formulas = False
        recalculate = bool(_RECALCULATE.search(self.parts.pop("xl/workbook.xml", b"")))
        for name, xml in self.parts.items():
            if name in self.known:
                if b'hidden="' not in xml:
                    self.plain.add(name)
                continue
            prefixed = b"<sheetData" not in xml[:100_000] or b":sheetData" in xml[:100_000]
            has_formulas = (b"<f" in xml or (prefixed and b":f" in xml)) and bool(_FORMULA.search(xml))
            if not has_formulas and b'hidden="' not in xml:
                self.plain.add(name)
            formulas = formulas or has_formulas
            if has_formulas or b't="e"' in xml:
                missing = missing or _lacks_values(xml)
        if recalculate and formulas:
            self.compute = "all"
        elif missing:
            self.compute = "missing"


def _lacks_values(xml: bytes) -> bool:
    """Whether a sheet has a formula without a stored value. An empty text, `t="str"`, is a value."""
    for found in _NOT_STORED.finditer(xml):
        cell = xml[xml.rfind(b"<", 0, found.start()) : found.start()]
        if not (b't="str"' in cell and b"<v" in found[0]):
            return True
    return False


def _counts(strings: bytes) -> int:
    """The number of shared strings the file declares; calamine allocates memory for that many."""
    return max((int(digits[:20]) for digits in _COUNT.findall(strings)), default=0)


def _is_usual(xml: bytes) -> bool:
    """Whether rows and cells are written the usual way, so that `_check_span` sees all of them."""
    rows, cells = (sum(xml.count(b"<" + tag + end) for end in _AFTER_TAG) for tag in (b"row", b"c"))
    return (
        rows == xml.count(b'<row r="')
        and cells == xml.count(b'<c r="')
        and b":row" not in xml
        and b":c " not in xml
    )


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


@lru_cache(maxsize=1)  # inspecting a file reads it several times
def _computed(
    path: Path, content: bytes, sheets: frozenset[str]
) -> dict[str, list[tuple[int, int, Value, bool]]]:
    """The values IronCalc computes for a file. None if it cannot, and none of the cells whose values
    other programs compute otherwise: they stay blank, and a table that needs one reports it by
    address."""
    import tempfile

    from .blocks.references import Lookup
    from .blocks.templates import Forms
    from .formulas import WIDTH, formulas_in
    from .ironcalc_support import formulas_to_reenter, uncertain_cells  # few files need an engine
    from .recalculate import Recalculated

    with tempfile.TemporaryDirectory() as folder:
        if str(path) == "-":  # IronCalc reads files only
            path = Path(folder, "input.xlsx")
            path.write_bytes(content)
        try:
            engine = Recalculated(path)
            unsure: dict[str, set[int]] = {}
            if (book := formulas_in(content, path)) is not None:
                forms = Forms(book.formulas)
                if again := formulas_to_reenter(book, forms):
                    engine.change(again)
                unsure = uncertain_cells(book, forms, Lookup(book))
            values = {name: engine.computed(name) for name in engine.sheets if name in sheets}
        except InputError:
            return {}
    engine.close()
    return {
        name: [
            cell
            for cell in cells
            if cell[0] * WIDTH + cell[1] - 1 not in unsure.get(name, set())
            or str(cell[2]).startswith("#")
        ]
        for name, cells in values.items()
    }


def _compute(path: Path, content: bytes, grids: dict[str, Grid], *, everything: bool) -> None:
    """Fill blank cells, or all cells with formulas, with IronCalc's values."""
    for sheet, cells in _computed(path, content, frozenset(grids)).items():
        grid = grids[sheet]
        for row, column, value, formula in cells:
            grid.extend([] for _ in range(row - len(grid)))
            values = grid[row - 1]
            values.extend([""] * (column - len(values)))
            if values[column - 1] == "" or (everything and formula):
                is_error = isinstance(value, str) and value.startswith("#")
                values[column - 1] = ErrorValue(value) if is_error else "" if value is None else value
