"""The formulas of an OpenDocument spreadsheet (.ods), written as other programs write them."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .addresses import quoted
from .formulas import WIDTH, Formula, FormulaBook, SheetCells
from .metadata import UNREADABLE

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
            book.sheets[name] = _sheet(name, table, book.formulas)
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


def _sheet(name: str, table: Any, formulas: list[Formula]) -> SheetCells:
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
