"""Brings the values that an author's charts keep up to date with the cells that they show."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

from attn_xl.spreadsheets.addresses import parse_area, place_of
from attn_xl.spreadsheets.numerals import as_text, is_number
from attn_xl.spreadsheets.ooxml import Package

from .rows import escaped

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
