"""Where a workbook that this program wrote keeps its sentences, by what its sheet `Settings` says.
Knows cells, and nothing of tables."""

from __future__ import annotations

import re

from .cells import split_address
from .grids import Grid

SETTINGS = "Settings"
RECORD_NOTE = (
    "How this workbook was made. attn-xl reads it back by these lines: leave them as they are."
)
SENTENCE = "sentence"
_PLACE = re.compile(r"(.+)!\$([A-Z]+)\$(\d+)(?::\$([A-Z]+)\$(\d+))?")


def recorded_sentences(grids: dict[str, Grid]) -> dict[str, Grid] | None:
    """The sentences of a workbook whose `Settings` say where they stand and nothing else, such as one
    of word vectors; None for any other.

    Returns:
        For each sentence its sheet, with nothing left on it but the table: numbers, labels, headings.
    """
    settings = grids.get(SETTINGS, [])
    if not any(row and row[0] == RECORD_NOTE for row in settings[:3]):
        return None
    found: dict[str, Grid] = {}
    for line in settings[4:]:
        name, _, where = (*line, "", "", "")[:3]
        if name == "":
            continue
        kind, _, sentence = str(name).partition(" ")
        if kind in ("controls", "labels"):
            continue
        place = _PLACE.fullmatch(str(where))
        if kind != SENTENCE or place is None:
            return None
        sheet, left, top, right, bottom = place.groups()
        grid = grids.get(sheet.removeprefix("'").removesuffix("'").replace("''", "'"), [])
        found[sentence] = _only(grid, f"{left}{top}", f"{right or left}{bottom or top}")
    return found or None


def _only(grid: Grid, first: str, last: str) -> Grid:
    """A sheet with everything emptied but some numbers, the row above and the column beside them."""
    (top, left), (bottom, right) = split_address(first), split_address(last)
    return [
        [
            value if left - 1 <= column <= right and (row, column) != (top - 1, left - 1) else ""
            for column, value in enumerate(values, 1)
        ]
        if top - 1 <= row <= bottom
        else []
        for row, values in enumerate(grid, 1)
    ]
