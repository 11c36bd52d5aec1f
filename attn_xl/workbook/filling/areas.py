"""The areas of a workbook that stand by themselves, as in a course: sheets, or parts of a sheet, each
with an input of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from attn_xl.models import steps
from attn_xl.spreadsheets.drawn import DrawnSheet
from attn_xl.tables.frames import Title, titles_of
from attn_xl.tables.names import names_memory

from .titles import PROJECTIONS, counted_in, products


def ways_to_read(sheet: DrawnSheet, called: Mapping[str, str]) -> list[list[DrawnSheet]]:
    """The ways to read a sheet by itself: uncut and, unless it has tags, in parts, if each has an input
    and, for queries, keys or values, weights; first in parts if its sentences share no weights."""
    if has_tags(sheet):
        return [[sheet]]
    parts = [
        part for part in _parts(sheet, [*titles_of(sheet, called)]) if any(titles_of(part, called))
    ]
    weights = [_weights([*titles_of(part, called)]) for part in parts]
    bare = [part for part, own in zip(parts, weights) if not own]
    told = len(bare) == len(parts) or all(map(_says_without, bare))
    alike = len({*weights} - {frozenset()}) < 2
    ways = [parts, [sheet]] if told and alike else [[sheet], parts]
    ways = [way for way in ways if all(_is_whole([*titles_of(part, called)]) for part in way)]
    return ways if len(parts) > 1 else ways[:1]


def has_tags(sheet: DrawnSheet) -> bool:
    """Whether cells have `{{` at their start."""
    return any(isinstance(value, str) and value.startswith("{{") for value in sheet.values.values())


def _is_whole(titles: Sequence[Title]) -> bool:
    named = _named(titles)
    inputs = [title for title in titles if title.step == steps.INPUT.symbol]
    looks = any(names_memory(one.text) for one in titles)
    if (looks and len(inputs) < 2) or any(counted_in(one.text) for one in inputs):
        return False
    return steps.INPUT.symbol in named and not lacks_weights(titles)


def lacks_weights(titles: Iterable[Title]) -> bool:
    """Whether titles name queries, keys or values of an input, and no weights."""
    named = _named(titles)
    return steps.INPUT.symbol in named and "W" not in named and not named.isdisjoint(PROJECTIONS)


def _weights(titles: Sequence[Title]) -> frozenset[str]:
    return frozenset(title.step for title in titles if title.step.startswith(("W_", "U_")))


def _says_without(sheet: DrawnSheet) -> bool:
    """Whether a text says that there are no weights."""
    texts = (value for value in sheet.values.values() if isinstance(value, str))
    return any(re.search(r"\b(?:without|no)\b.*\bweights?\b", text, re.IGNORECASE) for text in texts)


def _named(titles: Iterable[Title]) -> set[str]:
    return {title.step.rpartition(".")[2].partition("_")[0] for title in titles}


def _parts(sheet: DrawnSheet, titles: Sequence[Title]) -> list[DrawnSheet]:
    """A sheet cut at the blank columns, or else rows, before each of its inputs but the first, and
    before its weights, if those of each stand above it."""
    titles = products(titles)
    inputs = [title for title in titles if title.step == steps.INPUT.symbol]
    for axis in (1, 0):
        starts = sorted({(title.row, title.column)[axis] for title in inputs})
        if len(starts) < 2 or len(starts) < len(inputs):
            continue
        if axis == 0 and any(_is_weight(title) and title.row < starts[0] for title in titles):
            starts = [starts[0], *(_first_row(titles, *pair) for pair in pairwise(starts))]
        used = {cell[axis] for cell in (*sheet.values, *sheet.formulas)}
        used |= {*np.flatnonzero(sheet.looks.framed.any(axis=1 - axis)).tolist()}
        cuts = [next((n for n in range(start, 0, -1) if n - 1 not in used), 0) for start in starts[1:]]
        if all(start < cut for start, cut in zip(starts, cuts)):
            return [*_cut(sheet, axis, [0, *cuts, 1 << 21])]
    return [sheet]


def _is_weight(title: Title) -> bool:
    return title.step.startswith(("W_", "U_", "b_"))


def _first_row(titles: Sequence[Title], before: int, row: int) -> int:
    """The row of an input, or of the first weights above it that follow the steps of the one before."""
    between = [title for title in titles if before < title.row < row]
    last = max((title.row for title in between if not _is_weight(title)), default=row)
    return min((title.row for title in between if title.row > last), default=row)


def _cut(sheet: DrawnSheet, axis: int, ends: Sequence[int]) -> Iterator[DrawnSheet]:
    """The parts of a sheet between rows, or columns if `axis` is 1; cells keep their places."""
    for start, end in pairwise(ends):
        framed = np.zeros_like(sheet.looks.framed)
        band = (slice(start, end), slice(None)) if axis == 0 else (slice(None), slice(start, end))
        framed[band] = sheet.looks.framed[band]
        yield replace(
            sheet,
            values={cell: v for cell, v in sheet.values.items() if start <= cell[axis] < end},
            formulas={cell: f for cell, f in sheet.formulas.items() if start <= cell[axis] < end},
            looks=sheet.looks._replace(framed=framed),
            merged=[one for one in sheet.merged if start <= one[axis] < end],
        )
