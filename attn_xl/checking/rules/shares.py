"""Attention weights that do not sum to 1: exponentials divided by their sum, in any form, each row or
each column of which has to sum to 1."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.blocks.pieces import Piece, Pieces, Read
from attn_xl.spreadsheets.blocks.references import keys_within
from attn_xl.spreadsheets.formulas import NUMBER, Ints
from attn_xl.spreadsheets.ranges import spans

_EXP = r"EXP\([^()]*(?:\([^()]*\))?\)"
_SHARE = re.compile(
    rf"(?:§|§:§)/(?:(?:SUM|AVERAGE)\()?\(?§(?:[:+]§)*\)*$|{_EXP}/(?:SUM|SUMPRODUCT|AVERAGE)?\((?:{_EXP}[+,]?)+\)$"
)
"""A cell divided by a cell or a sum, or an exponential divided by a sum of exponentials."""
_POWER = re.compile(r"EXP\(.*\)|POWER\([^,]*,[^,]*\)|[^+\-*/]+\^[^+\-*/]+|(?:IF|ROUND)\(.*EXP\(.*\)")
EPSILON = 1e-4  # may be added to a sum to avoid division by 0


def not_one(pieces: Pieces, tolerance: float, known: set[tuple[str, int]]) -> Iterator[Finding]:
    """Findings on rows or columns of shares whose stored values do not sum to 1.

    Args:
        tolerance: the largest deviation; known: the cells that have a finding, which may be the cause.
    """
    for piece in pieces.pieces:
        assert piece.block is not None
        below = summed(pieces, piece)
        if below is None or piece.size < 2 or piece.block.template.roles[:1] == "n":
            continue
        added = _added(pieces, piece)
        if added > EPSILON:
            continue
        least = max(tolerance, EPSILON if added else 1e-9)
        wrong = [(keys, total) for keys, total in _lines(piece) if abs(total - 1) > least]
        if not wrong or _is_part(pieces, piece, below):
            continue
        cells = np.concatenate([keys for keys, _ in wrong])
        sources = [*piece.reads, *below]
        near = {(read.sheet.name, key) for read in sources for key in keys_within(*read.box).tolist()}
        near |= {(piece.sheet.name, key) for key in cells.tolist()}
        if near & known:
            continue
        many = f" ({len(wrong)} lines like this)" if len(wrong) > 1 else ""
        yield Finding(
            piece.sheet.name,
            spans(cells),
            "softmax",
            f"these attention weights sum to {wrong[0][1]:.12g}, not 1{many}",
            "Divide by the sum of exactly their exponentials.",
        )


def summed(pieces: Pieces, piece: Piece) -> list[Read] | None:
    """What is summed below exponentials; None if a piece holds no shares of exponentials."""
    if not _SHARE.match(piece.text):
        return None
    if piece.text.startswith("EXP("):
        return piece.reads[1:] or piece.reads
    if len(piece.reads) < 2 or not any(_POWER.fullmatch(p.text) for p in pieces.over(piece.reads[0])):
        return None
    if "SUM(" in piece.text or "AVERAGE(" in piece.text or "+" in piece.text:
        return piece.reads[1:]
    sums = pieces.over(piece.reads[1])
    if not sums or not all(re.match(r"(?:SUM|SUMPRODUCT|AVERAGE)\(|§\+", p.text) for p in sums):
        return None
    return [read for p in sums for read in p.reads]


def _lines(piece: Piece) -> list[tuple[Ints, float]]:
    """The rows, the columns or all of a piece, as the divisor goes, with their sums; whichever sum to 1
    where it does not tell."""
    block, (rows, columns) = piece.block, piece.shape
    keys = keys_within(*piece.box).reshape(rows, columns)
    at = piece.sheet.find(keys.ravel())
    if (at < 0).any() or (piece.sheet.kinds[at] != NUMBER).any() or block is None:
        return []
    numbers = piece.sheet.numbers[at].reshape(rows, columns)
    ways = [
        [(keys[n], float(numbers[n].sum())) for n in range(rows)],
        [(keys[:, n], float(numbers[:, n].sum())) for n in range(columns)],
        [(keys.ravel(), float(numbers.sum()))],
    ]
    best = min(ways, key=lambda lines: sum(abs(total - 1) > 1e-6 for _, total in lines) / len(lines))
    if all(abs(total - 1) <= 1e-6 for _, total in best):
        return best
    below = [
        a for read in piece.reads[1:] for r in read.references for a in range(r.at, r.at + 2 * r.cells)
    ]
    stays = [axis for axis in (1, 0) if block.extents[axis] > 1 and not block.slopes[below, axis].any()]
    if len(stays) == 2:
        return ways[2]
    return ways[0 if stays[0] == 1 else 1] if stays else best


def _added(pieces: Pieces, piece: Piece) -> float:
    """The largest number that is added to what is summed, here or in the cell of the sum."""
    numbers = [0.0, *piece.numbers]
    if len(piece.reads) == 2:
        numbers += [n for p in pieces.over(piece.reads[1]) if "+" in p.text for n in p.numbers]
    return max(numbers)


def _is_part(pieces: Pieces, piece: Piece, summed: list[Read]) -> bool:
    """Whether the shares are those of a part of the exponentials that are summed; then they need not
    sum to 1."""
    above = piece.reads[0]
    if any(read.sheet is not above.sheet for read in summed):
        return True
    lows, highs = np.array([r.box[:2] for r in summed]), np.array([r.box[2:] for r in summed])
    low, high = lows.min(axis=0), highs.max(axis=0)
    box = above.box
    inside = (low <= box[:2]).all() and (high >= box[2:]).all()
    if not inside or not ((low < box[:2]).any() or (high > box[2:]).any()):
        return False
    others = {p for read in summed for p in pieces.over(read)} - set(pieces.over(above))
    return all(_POWER.fullmatch(p.text) or p.block is None for p in others)
