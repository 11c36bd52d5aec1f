"""Keeps an author's charts right: their copies of values, and a series for each column of a frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from html import unescape
from typing import Any, NamedTuple

from attn_xl.spreadsheets.addresses import parse_area, place_of
from attn_xl.spreadsheets.numerals import as_text, is_number
from attn_xl.spreadsheets.ooxml import Package

from .rows import escaped, with_texts

_SHOWN = re.compile(
    rb"(<((?:\w+:)?)(num|str)Ref>\s*<\2f>([^<]*)</\2f>\s*<\2\3Cache>)(.*?)(</\2\3Cache>)", re.DOTALL
)
_FORMAT = re.compile(rb"\s*<((?:\w+:)?)formatCode>[^<]*</\1formatCode>")


MOST_POINTS = 32_000
"""Points of a series, of which Excel shows as many."""


def charts_showing(
    package: Package, value_at: Callable[[str, int, int], tuple[Any, bool]]
) -> Iterator[tuple[str, bytes]]:
    """The parts of charts that show changed cells, with the values of these.

    Args:
        value_at: the value of a cell by its sheet, row and column, None if it is blank or not known;
            and whether it has changed.
    """

    def kept(found: re.Match[bytes]) -> bytes:
        start, prefix, kind, reference, old, end = found.groups()
        sheet, corners = parse_area(unescape(reference.decode())) or ("", (1, 1, 1, 1))
        place = place_of(sheet or "", *corners)
        count = place.rows * place.columns
        cells = [value_at(place.sheet, *cell) for cell in place.cells()] if count <= MOST_POINTS else []
        if not any(changed for _, changed in cells):
            return found[0]
        shows = is_number if kind == b"num" else as_text
        points = {n: value for n, (value, _) in enumerate(cells) if shows(value)}
        p, form = prefix.decode(), _FORMAT.match(old)
        texts = [repr(v) if kind == b"num" else escaped(as_text(v)) for v in points.values()]
        made = f'<{p}ptCount val="{count}"/>' + "".join(
            f'<{p}pt idx="{n}"><{p}v>{text}</{p}v></{p}pt>' for n, text in zip(points, texts)
        )
        return b"".join([start, form[0] if form else b"", made.encode(), end])

    for part in sorted(package.parts):
        if re.match(r".*/charts/[^/]*\.xml$", part):
            xml = package.read(part)
            if (new := _SHOWN.sub(kept, xml)) != xml:
                yield part, new


_SERIES = re.compile(rb"<((?:\w+:)?)ser>.*?</\1ser>", re.DOTALL)
_VALUES = re.compile(rb"<(?:\w+:)?(?:val|yVal)>.*?<(?:\w+:)?f>([^<]*)<", re.DOTALL)
_NUMBER, _ORDER = (re.compile(rb'(<(?:\w+:)?%b\s+val=")(\d+)' % tag) for tag in (b"idx", b"order"))
_COLOUR = re.compile(rb'(srgbClr val=")[0-9A-Fa-f]{6}')
_ACCENT = re.compile(rb'"accent(\d)"')
_LOOK, _ID = (
    re.compile(rb"<((?:\w+:)?)%b>.*?</\1%b>" % (tag, tag), re.DOTALL) for tag in (b"spPr", b"extLst")
)


class _Line(NamedTuple):
    """The row (axis 0) or column (axis 1) of a sheet that a series shows, and from where to where."""

    sheet: str
    axis: int
    at: int
    ends: tuple[int, int]


def with_series(xml: bytes, follow: Callable[[str], str]) -> bytes:
    """The XML of a chart with a series for each column, or row, that its cells have now.

    Args:
        follow: a reference after rows and columns have moved.
    """

    def followed(part: bytes) -> bytes:
        return with_texts(part, b"f", follow)

    found = list(_SERIES.finditer(xml))
    lines = [_line(one[0]) for one in found]
    after = [_line(followed(one[0])) for one in found]
    goes = {old: new.at for old, new in zip(lines, after) if old and new}
    copies = []
    for line in lines:
        end = goes.get(line._replace(at=line.at + 1)) if line else None
        copies.append(end - goes[line] if line in goes and end is not None else 1)
    if {*copies} <= {1}:
        return followed(xml)
    pieces, done, number = [], 0, 0
    for one, line, several in zip(found, lines, copies):
        pieces.append(followed(xml[done : one.start()]))
        done = one.end()
        for copy in range(several):
            new = with_texts(one[0], b"f", partial(_beside, follow, line, copy))
            pieces.append(_numbered(new, number, bool(copy)))
            number += 1
    return b"".join([*pieces, followed(xml[done:])])


def _numbered(series: bytes, number: int, copied: bool) -> bytes:
    """A series with its number, and the colour of that if it had the one of its number before. A copy
    has another colour."""
    from .charts import COLOURS  # openpyxl takes a while to load

    before = _NUMBER.search(series)
    if before and {*_ACCENT.findall(series)} == {b"%d" % (int(before[2]) % 6 + 1)}:
        series = _ACCENT.sub(b'"accent%d"' % (number % 6 + 1), series)
    elif copied:
        colour = COLOURS[number % len(COLOURS)].encode()
        series = _LOOK.sub(lambda look: _COLOUR.sub(rb"\g<1>%b" % colour, look[0]), series)
    series = _ID.sub(b"", series) if copied else series
    return _ORDER.sub(rb"\g<1>%d" % number, _NUMBER.sub(rb"\g<1>%d" % number, series, 1), 1)


def _line(series: bytes) -> _Line | None:
    found = _VALUES.search(series)
    area = parse_area(unescape(found[1].decode())) if found else None
    if area is None:
        return None
    sheet, (top, left, bottom, right) = area
    if (top == bottom) == (left == right):
        return None
    if left == right:
        return _Line(sheet or "", 1, left, (top, bottom))
    return _Line(sheet or "", 0, top, (left, right))


def _beside(follow: Callable[[str], str], line: _Line | None, copy: int, reference: str) -> str:
    """Where a reference of a series goes in its copy: what stands in the same column moves along."""
    new, old, area = follow(reference), parse_area(reference), parse_area(follow(reference))
    if not copy or line is None or old is None or area is None:
        return new
    if not old[1][line.axis] == old[1][line.axis + 2] == line.at:
        return new
    place = place_of(area[0] or line.sheet, *area[1])
    down, across = (0, copy) if line.axis else (copy, 0)
    return replace(place, row=place.row + down, column=place.column + across).absolute
