"""Inputs looked up: each word of a blank frame in a table of more words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from attn_xl.models import steps
from attn_xl.spreadsheets.addresses import Place, address, fixed, letters, quoted
from attn_xl.spreadsheets.drawn import DrawnBook, read_drawn
from attn_xl.tables.frames import Frame, Page, box, distance, labels_of, page_of, titles_of
from attn_xl.tables.names import of_encoder
from attn_xl.workbook.xlsx.splice import Filled, FilledCells, FilledRow, spliced

from .fill import why_closed

_WILDCARDS = frozenset("*?~")
"""Characters that stand for others in MATCH."""


class _Words(NamedTuple):
    """A place of embeddings with the labels of its words, which are above it if it is turned."""

    page: Page
    place: Place
    turned: bool
    words: Sequence[str]
    away: int

    def cell(self, word: int, dim: int) -> tuple[int, int]:
        """The cell of a number; `-away` is the dimension of the labels."""
        down, across = (dim, word) if self.turned else (word, dim)
        return self.place.row + down, self.place.column + across

    @property
    def width(self) -> int:
        return self.place.rows if self.turned else self.place.columns


def with_lookups(
    drawn: DrawnBook, called: Mapping[str, str]
) -> tuple[DrawnBook, dict[str, FilledCells], list[Frame]]:
    """The workbook in which each blank input looks its words up in a table that has them and others,
    what was filled in, and the frames of these inputs."""
    pages = [page_of(sheet, called) for sheet in drawn.sheets]
    tables = [one for page in pages for block in page.blocks for one in _with_words(page, block)]
    cells: dict[str, FilledCells] = {}
    frames: list[Frame] = []
    for own, by in (one for page in pages for one in _inputs(page, called) if tables):
        there = next((table for table in tables if _has(table, own)), None)
        taken = any(own.place.overlaps(frame.place) for frame in frames)
        if there and not (taken or why_closed(own.page.sheet, own.place)):
            frames.append(Frame(steps.INPUT.symbol, own.place, own.turned, by))
            rows = cells.setdefault(own.place.sheet, {})
            for (row, column), filled in _lookups(own, there):
                rows.setdefault(row, FilledRow()).add({column: filled})
    return (read_drawn(drawn.path, spliced(drawn, cells)) if frames else drawn), cells, frames


def _with_words(page: Page, block: tuple[int, int, int, int]) -> Iterator[_Words]:
    place = Place(page.sheet.name, *block)
    for turned, (labels, away) in enumerate(labels_of(page, place)):
        if labels and _WILDCARDS.isdisjoint("".join(labels)):
            yield _Words(page, place, bool(turned), [*map(str.casefold, labels)], away)


def _inputs(page: Page, called: Mapping[str, str]) -> Iterator[tuple[_Words, str]]:
    """The blank frames whose nearest title, which is no label of theirs, names the input, and it."""
    titles = [*titles_of(page.sheet, called)]
    for block in dict.fromkeys((*page.blanks, *page.labelled)):
        beside = labels_of(page, Place(page.sheet.name, *block))
        labels = {label for labels, _ in beside if len(labels) > 1 for label in labels}
        near = [
            (away, n)
            for n, one in enumerate(titles)
            if (one.written or one.text) not in labels and (away := distance(one, *block)) is not None
        ]
        title = titles[min(near)[1]] if near and not page.filled(*block) else None
        if title and title.step == steps.INPUT.symbol and not of_encoder(title.text):
            for own in _with_words(page, block):
                yield own, f"the title {title.spelled}, a lookup of each word"


def _has(table: _Words, own: _Words) -> bool:
    """Whether a table has all words of a frame, and others or another order, in vectors as long."""
    row, column, rows, columns = box(table.place)
    full = table.page.filled(row, column, rows, columns) == rows * columns
    fits = (table.turned, table.width) == (own.turned, own.width)
    return full and fits and table.words != own.words and {*own.words} <= {*table.words}


def _lookups(own: _Words, table: _Words) -> Iterator[tuple[tuple[int, int], Filled]]:
    """Each cell of a frame with `INDEX(B$3:B$9,MATCH($A13,$A$3:$A$9,0))` and its value."""
    last = len(table.words) - 1
    sheet = "" if table.place.sheet == own.place.sheet else f"{quoted(table.place.sheet)}!"
    among = sheet + fixed(":".join(address(*table.cell(n, -table.away)) for n in (0, last)))
    for number, word in enumerate(own.words):
        label = _locked(own.cell(number, -own.away), not own.turned)
        for dim in range(own.width):
            line = sheet + ":".join(_locked(table.cell(n, dim), table.turned) for n in (0, last))
            value = table.page.sheet.values[table.cell(table.words.index(word), dim)]
            formula = f"INDEX({line},MATCH({label},{among},0))"
            yield own.cell(number, dim), Filled(value, formula)


def _locked(cell: tuple[int, int], column: bool) -> str:
    """An address of which the column, or the row, stays when it is copied: `$A13`, `B$3`."""
    row, letter = cell[0], letters(cell[1])
    return f"${letter}{row}" if column else f"{letter}${row}"
