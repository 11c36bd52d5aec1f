"""Inputs looked up: each word of a blank frame in a table of more words, or by its one-hot vector."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from attn_xl.models import steps
from attn_xl.spreadsheets.addresses import Place, address, fixed, letters, quoted
from attn_xl.spreadsheets.drawn import DrawnBook, read_drawn
from attn_xl.spreadsheets.numerals import is_number
from attn_xl.tables.frames import Frame, Page, box, distance, labels_of, page_of, titles_of
from attn_xl.tables.names import of_encoder
from attn_xl.workbook.xlsx.splice import Filled, FilledCells, FilledRow, spliced

from .fill import why_closed

_WILDCARDS = frozenset("*?~")
"""Characters that stand for others in MATCH."""
_ONE_HOT = re.compile(r"\bone[\s-]*hot\b", re.IGNORECASE)
_OF_ALL_WORDS = re.compile(r"embedd|vocabulary|look-?\s?up|\bw_?\{?e\b|^\W*e\W*$", re.IGNORECASE)
"""Names of the table whose rows one-hot vectors select."""
_OF_TARGET = re.compile(r"\b(?:target|label|truth|answer|next)", re.IGNORECASE)


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
    def shape(self) -> tuple[int, int]:
        """The number of its vectors, and their length."""
        rows, columns = self.place.rows, self.place.columns
        return (columns, rows) if self.turned else (rows, columns)

    @property
    def width(self) -> int:
        return self.shape[1]

    @property
    def numbers(self) -> np.ndarray:
        """The vectors, a row each; NaN where there is no number."""
        values = self.page.sheet.values
        found = [values[cell] for cell in self.place.cells()]
        x = np.array([one if is_number(one) else np.nan for one in found], float)
        x = x.reshape(self.place.rows, self.place.columns)
        return x.T if self.turned else x


def with_lookups(
    drawn: DrawnBook, called: Mapping[str, str]
) -> tuple[DrawnBook, dict[str, FilledCells], list[Frame]]:
    """The workbook in which each blank input looks its words up in a table that has them and others, or
    multiplies their one-hot vectors by it; what was filled in, and the frames of these inputs."""
    pages = [page_of(sheet, called) for sheet in drawn.sheets]
    tables = [one for page in pages for block in page.blocks for one in _with_words(page, block)]
    cells: dict[str, FilledCells] = {}
    frames: list[Frame] = []
    for own, by in (one for page in pages for one in _inputs(page, called)):
        there = next((table for table in tables if _has(table, own)), None)
        taken = any(own.place.overlaps(frame.place) for frame in frames)
        made, how = _selected(pages, own), "the product of its one-hot vectors"
        if not made and there:
            made, how = [*_lookups(own, there)], "a lookup of each word"
        if made and not (taken or why_closed(own.page.sheet, own.place)):
            frames.append(Frame(steps.INPUT.symbol, own.place, own.turned, f"{by}, {how}"))
            rows = cells.setdefault(own.place.sheet, {})
            for (row, column), filled in made:
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
            place = Place(page.sheet.name, *block)
            for own in [*_with_words(page, block)] or [_Words(page, place, False, (), 0)]:
                yield own, f"the title {title.spelled}"


def _has(table: _Words, own: _Words) -> bool:
    """Whether a table has all words of a frame, and others or another order, in vectors as long."""
    row, column, rows, columns = box(table.place)
    full = table.page.filled(row, column, rows, columns) == rows * columns
    fits = (table.turned, table.width) == (own.turned, own.width)
    words = table.words != own.words and {*own.words} <= {*table.words}
    return bool(full and fits and own.words and words)


def _lookups(own: _Words, table: _Words) -> Iterator[tuple[tuple[int, int], Filled]]:
    """Each cell of a frame with `INDEX(B$3:B$9,MATCH($A13,$A$3:$A$9,0))` and its value."""
    last = len(table.words) - 1
    sheet = _sheet(table, own)
    among = sheet + fixed(":".join(address(*table.cell(n, -table.away)) for n in (0, last)))
    for number, word in enumerate(own.words):
        label = _locked(own.cell(number, -own.away), not own.turned)
        for dim in range(own.width):
            line = sheet + ":".join(_locked(table.cell(n, dim), table.turned) for n in (0, last))
            value = table.page.sheet.values[table.cell(table.words.index(word), dim)]
            formula = f"INDEX({line},MATCH({label},{among},0))"
            yield own.cell(number, dim), Filled(value, formula)


def _selected(pages: Sequence[Page], own: _Words) -> list[tuple[tuple[int, int], Filled]]:
    """Each cell of a frame with `SUM(MMULT($B3:$D3,H$3:H$5))`, its word's one-hot vector by a column of
    the table of all words; [] without such vectors or without their table."""
    full = [
        _Words(page, Place(page.sheet.name, *block), own.turned, (), 0)
        for page in pages
        for block in page.blocks
        if page.filled(*block) == block[2] * block[3]
    ]
    hot = next((one for one in full if _is_one_hot(one, own)), None)
    fits = [one for one in full if hot and one is not hot and one.shape == (hot.width, own.width)]
    fits = [one for one in fits if _OF_ALL_WORDS.search(_title(one))] or fits
    if hot is None or len(fits) != 1:
        return []
    x, e = hot.numbers, fits[0].numbers
    made = []
    for number, dim in np.ndindex(own.shape):
        line = (hot.cell(number, n) for n in (0, hot.width - 1))
        across = (fits[0].cell(n, dim) for n in (0, hot.width - 1))
        vector = _sheet(hot, own) + ":".join(_locked(cell, not own.turned) for cell in line)
        column = _sheet(fits[0], own) + ":".join(_locked(cell, own.turned) for cell in across)
        factors = f"{column},{vector}" if own.turned else f"{vector},{column}"
        value = float(x[number] @ e[:, dim])
        made.append((own.cell(number, dim), Filled(value, f"SUM(MMULT({factors}))")))
    return made


def _is_one_hot(one: _Words, own: _Words) -> bool:
    """Whether a place is titled as one-hot vectors and has a frame's, whose words may be its labels."""
    title = _title(one)
    if not _ONE_HOT.search(title) or _OF_TARGET.search(title):
        return False
    x = one.numbers
    labels = labels_of(one.page, one.place)[own.turned][0]
    named = len(labels) < 2 or not own.words or [*map(str.casefold, labels)] == own.words
    ones = bool(np.isin(x, (0, 1)).all() and (x.sum(axis=1) == 1).all())
    return len(x) == own.shape[0] and named and ones


def _title(one: _Words) -> str:
    """The texts above a place and left of its first row, and the name of its sheet."""
    values, place = one.page.sheet.values, one.place
    near = product(range(place.row - 3, place.row + 1), range(place.column - 3, place.last_column + 1))
    texts = (text for cell in near if isinstance(text := values.get(cell), str))
    return "\n".join([place.sheet, *texts])


def _sheet(one: _Words, own: _Words) -> str:
    return "" if one.place.sheet == own.place.sheet else f"{quoted(one.place.sheet)}!"


def _locked(cell: tuple[int, int], column: bool) -> str:
    """An address of which the column, or the row, stays when it is copied: `$A13`, `B$3`."""
    row, letter = cell[0], letters(cell[1])
    return f"${letter}{row}" if column else f"{letter}${row}"
