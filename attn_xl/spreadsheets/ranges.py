"""Groups cells into rectangles."""

from __future__ import annotations

import numpy as np

from .formulas import WIDTH, Ints


def rectangles(keys: Ints) -> list[tuple[int, int, int, int]]:
    """Group cells into rectangles (top, left, bottom, right) of adjacent rows with the same columns."""
    keys = np.sort(keys)
    breaks = np.flatnonzero(np.diff(keys) != 1) + 1
    starts = np.concatenate([[0], breaks]).astype(np.int64)
    ends = np.concatenate([breaks, [len(keys)]]).astype(np.int64) - 1
    open_: dict[tuple[int, int], list[int]] = {}
    done = []
    for first, last in zip(keys[starts].tolist(), keys[ends].tolist()):
        row, left, right = first // WIDTH, first % WIDTH + 1, last % WIDTH + 1
        above = open_.get((left, right))
        if above is not None and above[2] == row - 1:
            above[2] = row
            continue
        open_[left, right] = rectangle = [row, left, row, right]
        done.append(rectangle)
    return [(r[0], r[1], r[2], r[3]) for r in done]
