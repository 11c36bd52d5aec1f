"""Writes formulas into the blank cells of an author's workbook, and leaves every other byte of its
parts as it is."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from functools import cache

from attn_xl.errors import InputError
from attn_xl.records import record
from attn_xl.spreadsheets.addresses import address, parse_area, split_address
from attn_xl.spreadsheets.drawn import CELL, ROW, DrawnBook, attribute, data_of
from attn_xl.spreadsheets.ooxml import Package

from .rows import escaped

_CALC = re.compile(rb"<((?:\w+:)?)calcPr\b([^>]*?)/?>")
_BEFORE_CALC = ("sheets", "functionGroups", "externalReferences", "definedNames")
_BLANK = re.compile(rb'<c r="([A-Z]+)\d+"(?: s="(\d+)")?(?: t="n")? ?/>')
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"


@record(frozen=True)
class Filled:
    """What a cell gets: a number or a text, and the formula that gives it; None leaves it blank.

    Attributes:
        style: the number of another style for the cell; None keeps its own.
        array: whether it is an array formula, which Excel 2010 computes with Ctrl+Shift+Enter.
    """

    value: float | str | None
    formula: str = ""
    style: int | None = None
    array: bool = False


Cells = Mapping[tuple[int, int], Filled]
"""By row and column, from 1."""


def spliced(
    drawn: DrawnBook, cells: Mapping[str, Cells], added: tuple[str, Cells] | None = None
) -> bytes:
    """The bytes of the workbook with some cells filled in.

    Args:
        cells: the cells to fill, by the name of their sheet.
        added: a sheet to add at the end, with its cells.

    Raises:
        InputError: if a sheet cannot be edited without changing more of it.
    """
    if not any(cells.values()) and added is None:
        return drawn.content
    package = drawn.package
    changed: dict[str, bytes] = {}
    for sheet in drawn.sheets:
        if cells.get(sheet.name):
            where = f"{drawn.path}, sheet {sheet.name!r}"
            changed[sheet.part] = _sheet(package.read(sheet.part), cells[sheet.name], where)
    book = recalculating(package.read(package.main))
    (types_part, types), (links_part, links), dropped = without_calculation_chain(package)
    if added is not None:
        name, content = added
        folder = package.main.rpartition("/")[0]
        part = next(
            one
            for n in range(1, 1_000_000)
            if (one := f"{folder}/worksheets/sheet{n}.xml") not in package.parts
        )
        changed[part] = _new_sheet(content)
        book, link = _with_sheet(book, name, links)
        relation = (
            f'<Relationship xmlns="{_PACKAGE}/relationships" Id="{link}" Type="http://schemas.openxmlformats.'
            f'org/officeDocument/2006/relationships/worksheet" Target="/{part}"/>'
        )
        links = _before_end(links, "Relationships", relation)
        override = (
            f'<Override xmlns="{_PACKAGE}/content-types" PartName="/{part}" ContentType="{_SHEET}"/>'
        )
        types = _before_end(types, "Types", override)
    changed |= {package.main: book, types_part: types, links_part: links}
    return packed(drawn.content, changed, dropped)


def without_calculation_chain(
    package: Package,
) -> tuple[tuple[str, bytes], tuple[str, bytes], set[str]]:
    """The list of content types and the workbook's relationships without the calculation chain, each
    with its part; and the parts to drop. Programs make the chain, a list of formula cells, anew."""
    links_part = re.sub(r"([^/]+)$", r"_rels/\1.rels", package.main)
    types, links = package.read("[Content_Types].xml"), package.read(links_part)
    dropped = {part for kind, part in package.links.values() if kind == "calcChain"}
    if dropped:
        types = re.sub(rb"<(?:\w+:)?Override\b[^>]*calcChain[^>]*?/>", b"", types)
        links = re.sub(rb"<(?:\w+:)?Relationship\b[^>]*/calcChain\"[^>]*?/>", b"", links)
    return ("[Content_Types].xml", types), (links_part, links), dropped


def _before_end(xml: bytes, tag: str, text: str) -> bytes:
    """The XML with a text before the end of its outermost tag."""
    end = xml.rindex(b"</", 0, xml.rindex(tag.encode()))
    return xml[:end] + text.encode() + xml[end:]


def packed(content: bytes, changed: Mapping[str, bytes], dropped: set[str]) -> bytes:
    """The package with some parts changed, added or dropped; the others keep their bytes and times."""
    made = io.BytesIO()
    left = dict(changed)
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            if entry.filename not in dropped:
                data = left.pop(entry.filename, None)
                new.writestr(entry, old.read(entry) if data is None else data)
        for name, data in left.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, data)
    return made.getvalue()


def recalculating(book: bytes) -> bytes:
    """The workbook part with the wish to be recalculated when it is opened."""
    found = _CALC.search(book)
    if found:
        kept = re.sub(rb'\s*\bfullCalcOnLoad="[^"]*"', b"", found[2])
        tag = b'<%bcalcPr%b fullCalcOnLoad="1"' % (found[1], kept)
        return (
            book[: found.start()]
            + tag
            + book[found.start() + 1 + len(found[1] + b"calcPr" + found[2]) :]
        )
    prefix = re.search(rb"<(\w+:)?workbook\b", book)
    tag = b'<%bcalcPr fullCalcOnLoad="1"/>' % (prefix[1] or b"" if prefix else b"")
    last = 0
    for name in _BEFORE_CALC:
        for end in re.finditer(
            rb"</(?:\w+:)?%b\s*>|<(?:\w+:)?%b\s*/>" % (name.encode(), name.encode()), book
        ):
            last = max(last, end.end())
    return book[:last] + tag + book[last:]


def _with_sheet(book: bytes, name: str, links: bytes) -> tuple[bytes, str]:
    """The workbook part with one more sheet, and the id of its relationship."""
    ids = {int(number) for number in re.findall(rb'sheetId="(\d+)"', book)}
    taken = set(re.findall(rb'Id="([^"]+)"', links))
    link = next(one for n in range(1, 1_000_000) if (one := f"rId{n}").encode() not in taken)
    end = re.search(rb"</((?:\w+:)?)sheets\s*>", book)
    assert end is not None
    tag = (
        f'<{end[1].decode()}sheet xmlns:attn="http://schemas.openxmlformats.org/officeDocument/2006/'
        f'relationships" name="{escaped(name)}" sheetId="{max(ids, default=0) + 1}" attn:id="{link}"/>'
    )
    return book[: end.start()] + tag.encode() + book[end.start() :], link


def _new_sheet(cells: Cells) -> bytes:
    empty = (
        b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="http://schemas.'
        b'openxmlformats.org/spreadsheetml/2006/main"><sheetData></sheetData></worksheet>'
    )
    return _sheet(empty, cells, "")


def _sheet(xml: bytes, cells: Cells, where: str) -> bytes:
    """The XML of a sheet with some cells filled in."""
    start, end = data_of(xml)
    body = xml[start:end]
    prefix = re.findall(rb"<(\w+:)?sheetData", xml)[0].decode()
    if b"<!--" in body or b"<![CDATA[" in body:
        raise InputError(f"{where}: its XML has comments. Save it once in a spreadsheet program.")
    by_row: dict[int, dict[int, Filled]] = {}
    for (row, column), cell in cells.items():
        by_row.setdefault(row, {})[column] = cell
    columns = _styles_of_columns(xml[:start])
    pieces: list[bytes] = []
    waiting = sorted(by_row)
    done = last = 0
    for found in ROW.finditer(body):
        number = int(attribute(found[2], b"r") or 0)
        if number <= last:
            raise InputError(
                f"{where}: its rows have no numbers. Save it once in a spreadsheet program."
            )
        last = number
        while waiting and waiting[0] < number:
            row = waiting.pop(0)
            pieces += [body[done : found.start()], _row(row, by_row[row], prefix, columns)]
            done = found.start()
        if waiting and waiting[0] == number:
            waiting.pop(0)
            pieces += [
                body[done : found.start()],
                _edited(found, by_row[number], prefix, columns, where),
            ]
            done = found.end()
    pieces.append(body[done:])
    pieces += [_row(row, by_row[row], prefix, columns) for row in waiting]
    return _spanning(xml[:start], cells) + b"".join(pieces) + xml[end:]


def _spanning(head: bytes, cells: Cells) -> bytes:
    """What stands before the cells of a sheet, with a span that includes the filled ones."""
    found = re.search(rb'(<(?:\w+:)?dimension\s+ref=")([^"]*)"', head)
    area = parse_area(found[2].decode()) if found else None
    if found is None or area is None:
        return head
    rows, columns = ({cell[axis] for cell in (*cells, area[1][:2], area[1][2:])} for axis in (0, 1))
    span = f"{address(min(rows), min(columns))}:{address(max(rows), max(columns))}"
    if parse_area(span) == area:
        return head
    return head[: found.start(2)] + span.encode() + head[found.end(2) :]


def _row(row: int, cells: Mapping[int, Filled], prefix: str, columns: Mapping[int, bytes]) -> bytes:
    made = "".join(
        _cell(row, column, cell, prefix, columns.get(column, b""))
        for column, cell in sorted(cells.items())
    )
    return f'<{prefix}row r="{row}">{made}</{prefix}row>'.encode()


def _edited(
    found: re.Match[bytes],
    cells: Mapping[int, Filled],
    prefix: str,
    columns: Mapping[int, bytes],
    where: str,
) -> bytes:
    """A row with some cells filled in; the others keep their bytes."""
    row = int(attribute(found[2], b"r"))
    own = attribute(found[2], b"s") if attribute(found[2], b"customFormat") in (b"1", b"true") else b""
    inner, pieces = found[4] or b"", list[bytes]()
    left = dict(cells)

    def blank(cell: re.Match[bytes]) -> bytes:
        filled = left.pop(_column(cell[1]), None)
        if filled is None:
            return cell[0]
        return _cell(row, _column(cell[1]), filled, prefix, cell[2] or b"").encode()

    if not prefix and inner.count(b"/>") >= len(cells):
        replaced = _BLANK.sub(blank, inner)
        if not left:  # each has an empty cell of its own
            attributes = re.sub(rb'\s+spans="[^"]*"', b"", found[2])
            return b"<row%b>%b</row>" % (attributes, replaced)
    waiting = sorted(cells)
    done = last = 0

    def made(column: int, style: bytes) -> bytes:
        return _cell(row, column, cells[column], prefix, style).encode()

    for cell in CELL.finditer(inner):
        place = attribute(cell[1], b"r")
        column = _column(place.rstrip(b"0123456789"))
        if column <= last:
            raise InputError(
                f"{where}: its cells have no order. Save it once in a spreadsheet program."
            )
        last = column
        pieces.append(inner[done : cell.start()])
        done = cell.start()
        while waiting and waiting[0] < column:
            new = waiting.pop(0)
            pieces.append(made(new, own or columns.get(new, b"")))
        if waiting and waiting[0] == column:
            waiting.pop(0)
            pieces.append(made(column, attribute(cell[1], b"s")))
            done = cell.end()
    pieces.append(inner[done:])
    pieces += [made(column, own or columns.get(column, b"")) for column in waiting]
    # The span is a hint, which a new cell may exceed.
    attributes = re.sub(rb'\s+spans="[^"]*"', b"", found[2])
    return b"<%brow%b>%b</%brow>" % (found[1], attributes, b"".join(pieces), found[1])


def _cell(row: int, column: int, cell: Filled, prefix: str, style: bytes) -> str:
    place, p = address(row, column), prefix
    look = style.decode() if cell.style is None else str(cell.style or "")
    start = f'<{p}c r="{place}"' + (f' s="{look}"' if look else "")
    if cell.value is None:
        return f"{start}><{p}f>{escaped(cell.formula)}</{p}f></{p}c>" if cell.formula else f"{start}/>"
    if not cell.formula and isinstance(cell.value, str):
        text = f'<{p}t xml:space="preserve">{escaped(cell.value)}</{p}t>'
        return f'{start} t="inlineStr"><{p}is>{text}</{p}is></{p}c>'
    kind = ' t="str"' if isinstance(cell.value, str) else ""
    value = escaped(cell.value) if isinstance(cell.value, str) else _number(cell.value)
    array = f' t="array" ref="{place}"' if cell.array else ""
    formula = f"<{p}f{array}>{escaped(cell.formula)}</{p}f>" if cell.formula else ""
    return f"{start}{kind}>{formula}<{p}v>{value}</{p}v></{p}c>"


@cache
def _column(letters: bytes) -> int:
    return split_address(f"{letters.decode()}1")[1] if letters else 0


def _number(value: float) -> str:
    return repr(float(value)).removesuffix(".0")


def _styles_of_columns(head: bytes) -> dict[int, bytes]:
    """The style of each column that has one."""
    styles: dict[int, bytes] = {}
    for tag in re.findall(rb"<(?:\w+:)?col\b([^>]*)>", head):
        style = attribute(tag, b"style")
        if style and style != b"0":
            first, last = int(attribute(tag, b"min") or 1), int(attribute(tag, b"max") or 1)
            styles |= dict.fromkeys(range(first, min(last, 16384) + 1), style)
    return styles
