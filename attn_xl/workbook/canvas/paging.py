"""Spreads a picture over printed pages: its scale and its page breaks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil

LEAST = 6.0
"""Points: the smallest size at which numbers are printed."""
FONT = 10.0
"""Points: the size of numbers before they are scaled."""
CHARACTER = 5.6
"""Points: the width of a character of a column, with a margin: 5.25 in Excel, 5.55 in LibreOffice."""
PAPERS = {1: (612.0, 792.0), 9: (595.3, 841.9)}
"""Points: Letter and A4, upright, by their numbers in a workbook."""
A4 = 9
PAGE = 770.0, 490.0
"""Points: the room on a landscape page of A4 with the margins of the shipped templates."""
LIMIT = 229.0
"""Characters of a line: what a landscape page holds where numbers have 6 points."""


@dataclass(frozen=True)
class Spread:
    """A picture on its pages.

    Attributes:
        scale: 1 for the size on the screen.
        breaks: the rows, from 1, that begin a new page.
        whole: whether every step fits on one page.
    """

    scale: float
    breaks: tuple[int, ...] = ()
    whole: bool = True


def spread(
    width: float,
    heights: Sequence[float],
    starts: Collection[int],
    sections: Collection[int],
    page: tuple[float, float] = PAGE,
    font: float = FONT,
) -> Spread:
    """The print of a picture as wide as a page, with page breaks between steps only.

    Args:
        width: of the picture, in points; heights: of its rows, from row 1.
        starts: the rows where a step begins; sections: those of them that begin a layer or a sentence.
        page: the room on a page, width and height, in points.
        font: the size of the numbers, in points.

    Returns:
        One page if numbers are at least 6 points there; otherwise several pages. The printing program
        splits a step that is too large for a page.
    """
    across, down = page
    least = min(1.0, ceil(100 * LEAST / font) / 100)  # spreadsheet programs take whole percents
    one = min(1.0, across / width, down / sum(heights))
    if one >= least:
        return Spread(one)
    top, rows = [0.0, *accumulate(heights)], sorted(starts)
    edges = [1, *rows[1:], len(top)]  # what stands above the first step goes with it
    tallest = max(top[end - 1] - top[start - 1] for start, end in pairwise(edges))
    scale = max(least, min(1.0, across / width, down / tallest))
    breaks, whole = _breaks(top, rows, sections, down / scale)
    return Spread(scale, breaks, whole and across / width >= least)


def _breaks(
    top: Sequence[float], starts: Sequence[int], sections: Collection[int], room: float
) -> tuple[tuple[int, ...], bool]:
    """The rows that begin a page, and whether every step fits on one page.

    Args:
        top: the height of all rows before each row and, last, of all rows.
    """
    ends = [*starts[1:], len(top)]
    section_ends = [*(row for row in starts if row in sections), len(top)]
    breaks: list[int] = []
    begun, whole = 0.0, True
    for start, end in zip(starts, ends):
        here, below = top[start - 1], top[end - 1]
        fits = below - begun <= room
        if fits and start in sections:  # a section stays together unless that leaves half a page empty
            section_end = top[min(row for row in section_ends if row > start) - 1]
            fits = section_end - begun <= room or section_end - here > room or here - begun < room / 2
        if not fits and here > begun and (breaks or start != starts[0]):
            breaks.append(start)
            begun = here
        whole = whole and below - begun <= room
    return tuple(breaks), whole
