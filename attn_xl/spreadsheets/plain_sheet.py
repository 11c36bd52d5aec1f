"""Reads large sheets of plain numbers and shared strings straight from their XML, faster than a
general-purpose library. Sheets with formulas, dates, errors or anything unusual are left to the
library."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from .addresses import MAX_COLUMNS, MAX_ROWS, split_address

WORTH_IT = 2_000_000
"""Bytes of XML; the gain is not noticeable below this."""
MOST_MIXED = 100
"""Rows read cell by cell (headings, notes); with more of them the library is faster."""
_ROW = re.compile(rb'\s*<row r="(\d{1,7})"[^>]*>')
_VALUES = re.compile(rb"<v>([^<]*)</v>")
_CELL = re.compile(
    rb'<c r="([A-Z]{1,3}\d{1,7})"( s="\d+")?( t="s"| t="n"| t="inlineStr")?'
    rb"(?:/>|>(?:<v>([^<]*)</v>|<is><t(?: xml:space=\"preserve\")?>([^<]*)</t></is>)?</c>)"
)
_STYLED = re.compile(rb' s="(\d+)"')
_STRING = re.compile(rb"<si><t(?: xml:space=\"preserve\")?>([^<]*)</t></si>|<si><t/></si>")
_FORMATS = re.compile(rb'<numFmt [^>]*?numFmtId="(\d+)"[^>]*?formatCode="([^"]*)"')
_STYLE = re.compile(rb'<xf [^>]*?numFmtId="(\d+)"')
_NUMERIC = re.compile(r"[0#?.,%+Ee()\[\]\-_\\;\"$€£¥ *@]*|General")
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}


def plain_rows(xml: bytes, strings: bytes, styles: bytes) -> list[list[Any]] | None:
    """The values of a plain sheet: rows of equal length, "" where blank; None if it is not plain.

    A sheet is plain if every column holds numbers, except that the first may hold words.

    Args:
        xml, strings, styles: the XML of the sheet, of the shared strings and of the styles.
    """
    start, end = xml.find(b"<sheetData>"), xml.rfind(b"</sheetData>")
    if start < 0 or end < 0 or b"<f" in xml:
        return None
    texts = _shared(strings)
    if texts is None or (b' s="' in xml and not _no_dates(set(_STYLED.findall(xml)), styles)):
        return None
    lines = xml[start + 11 : end].split(b"</row>")
    if lines.pop().strip():
        return None
    rows: list[list[Any]] = []
    mixed = 0
    try:
        for line in lines:
            head = _ROW.match(line)
            if head is None or not len(rows) < int(head[1]) <= MAX_ROWS:
                return None
            while len(rows) < int(head[1]) - 1:
                rows.append([])
            values = _fast(line, texts)
            mixed += values is None and b"<c " in line
            if mixed > MOST_MIXED:
                return None
            rows.append(_any(line, len(rows) + 1, texts) if values is None else values)
    except (ValueError, IndexError):
        return None
    width = max(map(len, rows), default=0)
    return [row if len(row) == width else row + [""] * (width - len(row)) for row in rows]


def _fast(line: bytes, texts: list[str]) -> list[Any] | None:
    """The values of a row of numbers, the first of which may be a text; None for other rows."""
    numbers: list[Any] = _VALUES.findall(line)
    cells = line.count(b"<c ")
    last = line.rfind(b'<c r="') + 6
    strings = line.count(b' t="')
    if strings > 1 or not cells:
        return None
    if split_address(line[last : line.find(b'"', last)].decode())[1] != cells:
        return None
    if not strings:
        return [*map(float, numbers)] if len(numbers) == cells else None
    first = _CELL.search(line)  # the only text is in the first cell, or this is another kind of row
    if first is None or first[3] not in (b' t="s"', b' t="inlineStr"'):
        return None
    if first[3] == b' t="s"' and len(numbers) == cells:
        return [texts[int(numbers[0])], *map(float, numbers[1:])]
    return [_text(first[5]), *map(float, numbers)] if len(numbers) == cells - 1 else None


def _any(line: bytes, number: int, texts: list[str]) -> list[Any]:
    """Read a row cell by cell.

    Raises:
        ValueError: if the row is not plain.
    """
    row: list[Any] = []
    count = 0
    for cell, _, kind, value, text in _CELL.findall(line):
        at, column = split_address(cell.decode())
        if at != number or not len(row) < column <= MAX_COLUMNS:
            raise ValueError
        row += [""] * (column - 1 - len(row))
        if kind == b' t="inlineStr"':
            row.append(_text(text))
        else:
            row.append("" if not value else texts[int(value)] if kind == b' t="s"' else float(value))
        count += 1
    if count != line.count(b"<c "):
        raise ValueError
    return row


def _shared(strings: bytes) -> list[str] | None:
    """The shared strings; None if any is formatted or otherwise unusual."""
    if b"_x" in strings:
        return None
    texts = _STRING.findall(strings)
    if len(texts) != strings.count(b"<si>") + strings.count(b"<si/>") + strings.count(b"<si "):
        return None
    return [*map(_text, texts)]


def _text(text: bytes) -> str:
    """Decode a string from the XML.

    Raises:
        ValueError: if it contains one of Excel's own escapes.
    """
    if b"_x" in text:
        raise ValueError
    return unescape(text.decode()) if b"&" in text else text.decode()


def _no_dates(used: set[bytes], styles: bytes) -> bool:
    """Whether none of the used styles formats numbers as dates."""
    own = {int(number): unescape(code.decode()) for number, code in _FORMATS.findall(styles)}
    before, _, cells = styles.partition(b"<cellXfs")
    formats = [int(number) for number in _STYLE.findall(cells.partition(b"</cellXfs>")[0])]
    if not before:
        return False
    for style in used:
        if int(style) >= len(formats):
            return False
        number = formats[int(style)]
        code = own.get(number)
        if (code is None and number in _DATES) or (code is not None and not _NUMERIC.fullmatch(code)):
            return False
    return True
