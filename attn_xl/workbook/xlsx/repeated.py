"""Repeats an area of an author's sheet further down or to the right, with its looks and texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import Corners, address, parse_area
from attn_xl.spreadsheets.drawn import ROW, DrawnBook, DrawnSheet, attribute, data_of
from attn_xl.spreadsheets.formulas import formula_in

from .splice import Filled, FilledCells, FilledRow, packed, spliced, with_merges

_COL = re.compile(rb"<((?:\w+:)?)col\b[^>]*>")


def repeated(drawn: DrawnBook, sheet: DrawnSheet, area: Corners, step: tuple[int, int]) -> bytes:
    """The bytes of the workbook with an area of a sheet once more, some rows down or columns across.

    Raises:
        InputError: if something stands where the copy goes.
    """
    down, across = step
    top, left, _, right = area
    cells: FilledCells = {}
    for cell in _cells(sheet, area):
        there = cell[0] + down, cell[1] + across
        if there in sheet.values or there in sheet.formulas:
            raise InputError(
                f"{drawn.path}, sheet {sheet.name!r}: the frames for one more sentence would begin at "
                f"{address(top + down, left + across)}, but {address(*there)} is filled. Move that."
            )
        cells.setdefault(there[0], FilledRow())[there[1]] = _copy(sheet, cell, there)
    content = spliced(drawn, {sheet.name: cells})
    xml = _part(content, drawn, sheet)
    start, end = data_of(xml)
    body = _heights(xml[start:end], area, down) if down else xml[start:end]
    head = _widths(xml[:start], left, right, across) if across else xml[:start]
    return packed(content, {sheet.part: head + body + _rules(xml[end:], area, step)}, set())


def _part(content: bytes, drawn: DrawnBook, sheet: DrawnSheet) -> bytes:
    return DrawnBook(drawn.path, content, drawn.book).package.read(sheet.part)


def _cells(sheet: DrawnSheet, area: Corners) -> Iterator[tuple[int, int]]:
    top, left, bottom, right = area
    there = sheet.looks.styles[top : bottom + 1, left : right + 1] >= 0
    yield from ((top + row, left + column) for row, column in np.argwhere(there).tolist())


def _copy(sheet: DrawnSheet, cell: tuple[int, int], there: tuple[int, int]) -> Filled:
    """What a copied cell holds: a text or a number as it is, a formula with its references moved."""
    style, formula = sheet.looks.style(cell), sheet.formulas.get(cell)
    if formula is not None and not formula.array:
        return Filled(None, formula_in(formula, there), style=style)
    value = sheet.values.get(cell)
    return Filled(value if isinstance(value, (str, int, float)) else None, style=style)


def _widths(head: bytes, left: int, right: int, across: int) -> bytes:
    """The columns of a sheet, with the widths of some repeated where none are set."""
    columns: dict[int, bytes] = {}
    for tag in _COL.finditer(head):
        low, high = int(attribute(tag[0], b"min")), int(attribute(tag[0], b"max"))
        columns |= dict.fromkeys(range(low, min(high, low + 1000) + 1), tag[0])
    for column in range(left, right + 1):
        if column in columns:
            columns[column + across] = columns[column]
    tags = [
        re.sub(rb'\smax="\d+"', b' max="%d"' % n, re.sub(rb'\smin="\d+"', b' min="%d"' % n, columns[n]))
        for n in sorted(columns)
    ]
    found = list(_COL.finditer(head))
    return head[: found[0].start()] + b"".join(tags) + head[found[-1].end() :] if found else head


def _heights(body: bytes, area: Corners, down: int) -> bytes:
    """The rows of a sheet, of which some have the heights of others."""
    heights: dict[int, bytes] = {}
    for found in ROW.finditer(body):
        row = int(attribute(found[2], b"r"))
        if area[0] <= row <= area[2] and (height := attribute(found[2], b"ht")):
            heights[row + down] = height

    def one(found: re.Match[bytes]) -> bytes:
        height = heights.get(int(attribute(found[2], b"r")))
        if height is None or attribute(found[2], b"ht"):
            return found[0]
        tag = len(b"<%brow" % found[1])
        return found[0][:tag] + b' ht="%b" customHeight="1"' % height + found[0][tag:]

    return ROW.sub(one, body)


def _rules(tail: bytes, area: Corners, step: tuple[int, int]) -> bytes:
    """Merged cells and conditional formats, with those of the area repeated."""

    def shifted(reference: bytes) -> bytes:
        found = parse_area(reference.decode())
        if found is None:
            return b""
        top, left, bottom, right = found[1]
        if not (area[0] <= top and bottom <= area[2] and area[1] <= left and right <= area[3]):
            return b""
        first = address(top + step[0], left + step[1])
        last = address(bottom + step[0], right + step[1])
        return (first if first == last else f"{first}:{last}").encode()

    def format_(found: re.Match[bytes]) -> bytes:
        more = [new for one in found[2].split() if (new := shifted(one))]
        return found[1] + b" ".join([found[2], *more]) + b'"'

    tail = re.sub(rb'(<(?:\w+:)?conditionalFormatting\b[^>]*?\ssqref=")([^"]*)"', format_, tail)
    return with_merges(tail, lambda all_: [*all_, *(new for one in all_ if (new := shifted(one)))])
