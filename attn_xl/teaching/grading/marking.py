"""Reading what students entered, and marking it against the right numbers and against what follows from
the student's own earlier numbers."""

from __future__ import annotations

import datetime
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import isfinite, isnan
from typing import Any

import numpy as np

from attn_xl.graph.extent import HIDES
from attn_xl.graph.graph import walk
from attn_xl.graph.loops import Entered, Recomputed, loops_in, recompute
from attn_xl.graph.matrix import Matrix, Numbers
from attn_xl.spreadsheets.numerals import NOT_STORED, ErrorValue, numeral
from attn_xl.teaching.lessons.blanks import is_updated, unit_of
from attn_xl.text import clean, shortened


@dataclass(frozen=True)
class Entry:
    """What a student entered in a cell.

    Attributes:
        number: the number, None if the cell holds no number.
        shown: the cell's content as text; "" for a blank cell.
        remark: what is unusual about the entry; "" if nothing.
    """

    number: float | None = None
    shown: str = ""
    remark: str = ""

    @property
    def blank(self) -> bool:
        return not self.shown


def read_entry(value: Any) -> Entry:
    """Read the content of a cell as a number.

    Numbers typed as text are read by the same rules as inputs (`numeral`), and get a remark.
    """
    if value is None or (isinstance(value, str) and not value.strip(" \t\n\r\u00a0\u202f'")):
        return Entry()
    if isinstance(value, ErrorValue):
        error = "" if value == NOT_STORED else "the error value "
        return Entry(None, str(value), f"{error}{value}")
    if isinstance(value, bool):
        text = str(value).upper()
        return Entry(None, text, f"{text} instead of a number")
    if isinstance(value, (int, float)):
        if isfinite(value):
            return Entry(float(value), f"{value:.10g}")
        return Entry(None, str(value), "an infinite number")
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        text = str(value)
        remark = f"the date or time {text} (was a number turned into a date?)"
        return Entry(None, text, remark)
    text = clean(value)
    number, why = _read_text(text)
    shown = shortened(text)
    if number is None:
        return Entry(None, shown, f"the text “{shown}”")
    remark = why.format(text=f"“{shown}”", number=f"{number:.10g}")
    return Entry(number, shown, remark)


HIDDEN, HIDING = -1e9, -100.0
"""What `-inf` is read as; and the largest number that hides a word as well as any smaller one."""
_MINUS = str.maketrans("−–", "--")


def _read_text(text: str) -> tuple[float | None, str]:
    """The number that a text stands for, and a remark on it with `{text}` and `{number}`. In the
    ambiguous `1,234` the comma is a decimal comma, since the numbers of lessons are small."""
    plain = "".join(str(unicodedata.decimal(one, one)) for one in text).lstrip("=≈~ ")
    if plain.lower().translate(_MINUS) in ("-inf", "-infinity", "-∞"):
        return HIDDEN, _ODD[False, False]
    parts = [numeral(part.strip()) for part in plain.split("/")]
    if len(parts) == 2 and None not in parts and parts[1]:
        return parts[0] / parts[1], _ODD[False, False]  # type: ignore[operator]
    text = plain
    number = numeral(text)
    if number is not None and isnan(number):
        number = numeral(text, comma=True)
    if number is None or not isfinite(number):
        return None, ""
    return number, _ODD["%" in text, "," in text]


_ODD = {
    (False, False): "{text} read as {number}",
    (True, False): "the percentage {text} read as {number}",
    (False, True): "{text}, with a comma, read as {number}",
    (True, True): "the percentage {text}, with a comma, read as {number}",
}
"""Remarks on numbers written as text, by whether they have a percent sign and a comma."""


# Marking


Entries = list[list[Entry]]


class Verdict(str, Enum):
    """The mark of a cell."""

    right = "right"
    """the right number"""
    followed = "followed"
    """follows from the student's own earlier numbers, some of which are wrong"""
    wrong = "wrong"
    """neither right nor a consequence of earlier numbers"""
    blank = "blank"
    """nothing was entered"""
    not_a_number = "not a number"
    """something other than a number was entered"""

    @property
    def credit(self) -> int:
        """Points for the cell: 1 for `right` and `followed`, otherwise 0."""
        return int(self in (Verdict.right, Verdict.followed))


@dataclass(frozen=True, eq=False, repr=False)
class Marking:
    """The marks of one submission.

    Attributes:
        opened: for each matrix, a mask of the cells to fill in.
        entries: for each matrix, what was entered, in the matrix's shape.
        verdicts: for each matrix, the marks in its shape; None for cells that were not blank.
        numbers: what follows from the student's entries.
    """

    opened: Mapping[Matrix, np.ndarray]
    entries: Mapping[Matrix, Entries]
    verdicts: dict[Matrix, list[list[Verdict | None]]]
    numbers: Recomputed

    def points(self, node: Matrix) -> tuple[int, int]:
        """The points for a matrix, and the number of its cells."""
        verdicts = [verdict for row in self.verdicts[node] for verdict in row if verdict]
        return sum(verdict.credit for verdict in verdicts), len(verdicts)


def mark(
    results: Iterable[Matrix],
    opened: Mapping[Matrix, np.ndarray],
    entries: Mapping[Matrix, Entries],
    tolerance: float,
) -> Marking:
    """Mark a student's entries.

    A cell is `right` if |entered − right| ≤ tolerance · max(u, |right|), the rule of the live marks in
    a lesson; u is `unit_of` the matrix, 1 unless all of its numbers are small. Of updated weights, u
    alone counts. Otherwise it `followed` if it is that close to what its operation gives for the
    student's own earlier numbers. If one of those is blank, only the right number counts; a wrong
    matrix of one repeated number is blank. In a recurrent step, a mistake that is made in every row
    counts in the first.

    Args:
        results: the matrices of a computation.
        opened: for each matrix, a mask (n, m) of the cells to fill in.
        entries: for each matrix, n rows of m entries.
        tolerance: relative tolerance, above 0.

    Raises:
        ValueError: if the entries of a matrix do not have its shape.
    """
    entered = {}
    for node, cells in opened.items():
        numbers = np.array(
            [
                [np.nan if entry.number is None else entry.number for entry in row]
                for row in entries[node]
            ]
        )
        if numbers.shape != node.shape:
            raise ValueError(
                f"{node.name} has shape {node.shape}, its entries have shape {numbers.shape}"
            )
        entered[node] = Entered(cells, numbers)
    nodes = list(results)
    found = recompute(nodes, entered)
    following, nothing = _following(nodes, entered, tolerance)
    verdicts = {
        node: [
            [
                _verdict(
                    entries[node][row][column],
                    _Near(node, tolerance, rounded=node not in nothing),
                    float(node.values[row, column]),
                    float(following[node][row, column]),
                )
                if cells[row, column]
                else None
                for column in range(node.shape[1])
            ]
            for row in range(node.shape[0])
        ]
        for node, cells in opened.items()
    }
    for loop in loops_in(walk(nodes)):
        for node in (one for one in loop.nodes if one in opened):
            _forgive_repeated(verdicts[node], node, nodes, entered, tolerance)
    return Marking(opened, entries, verdicts, found)


def _forgive_repeated(
    verdicts: list[list[Verdict | None]],
    node: Matrix,
    results: Sequence[Matrix],
    entered: Mapping[Matrix, Entered],
    tolerance: float,
) -> None:
    """Count a mistake that a recurrent step repeats in every row once: all rows follow from the
    student's own rows if a weight or bias is left out, or the outer function."""
    wrong = [row for row, found in enumerate(verdicts) if Verdict.wrong in found]
    if len(wrong) < 2:
        return
    own = entered[node]
    givens = [one for one in walk([node]) if one.operation is None and not one.scalar]
    left_out = ({**entered, one: Entered(np.ones(one.shape, bool), one.values * 0)} for one in givens)
    variants = [recompute(results, changed).expected[node] for changed in left_out]
    variants += [recompute(results, entered).expected[one] for one in node.parents[:1] if not one.name]
    if any(
        _agrees(own, variant, node, tolerance) for variant in variants if variant.shape == node.shape
    ):
        for row in wrong[1:]:
            changed_to = {Verdict.wrong: Verdict.followed}
            verdicts[row] = [changed_to.get(one, one) if one else None for one in verdicts[row]]


def _following(
    results: Sequence[Matrix], entered: Mapping[Matrix, Entered], tolerance: float
) -> tuple[Mapping[Matrix, Numbers], set[Matrix]]:
    """What follows from the entries, and the matrices that are taken for blank: a wrong matrix of one
    repeated number took no calculation, unless it follows itself from entries that are not blank."""
    nothing = {node for node, one in entered.items() if _repeats(one)}
    right: Mapping[Matrix, Numbers] = {node: node.values for node in entered}
    while True:
        nothing = {n for n in nothing if not _agrees(entered[n], right[n], n, tolerance, rounded=False)}
        kept = {
            node: Entered(one.cells, np.full(node.shape, np.nan)) if node in nothing else one
            for node, one in entered.items()
        }
        following = recompute(results, kept).expected
        if not any(_agrees(entered[n], following[n], n, tolerance, rounded=False) for n in nothing):
            return following, nothing
        right = following


def _repeats(entered: Entered) -> bool:
    """Whether the cells to fill in of a matrix hold one number throughout; of a single row or column,
    0, since another number may well repeat in it."""
    numbers = entered.numbers[entered.cells]
    if numbers.size == 1:
        return bool(numbers[0] == 0 and entered.cells.all())
    takes_none = numbers[0] == 0 or 1 not in entered.cells.shape
    return bool(takes_none and (numbers == numbers[0]).all())


def _agrees(
    entered: Entered, right: Numbers, node: Matrix, tolerance: float, *, rounded: bool = True
) -> bool:
    """Whether every entry of a matrix is near the right number."""
    pairs = zip(entered.numbers[entered.cells].tolist(), right[entered.cells].tolist())
    is_near = _Near(node, tolerance, rounded=rounded)
    return all(is_near(number, known) for number, known in pairs)


class _Near:
    """`near`, of the cells of a matrix."""

    def __init__(self, node: Matrix, tolerance: float, *, rounded: bool) -> None:
        self._tolerance, self._unit = tolerance, unit_of(node, rounded=rounded)
        self._relative = not is_updated(node)

    def __call__(self, entered: float, right: float) -> bool:
        return near(entered, right, self._tolerance, self._unit, relative=self._relative)


def near(
    entered: float, right: float, tolerance: float, unit: float = 1.0, *, relative: bool = True
) -> bool:
    """Whether a number is within the tolerance of the right one, by the rule of the live marks; of a
    masked score, any number that hides the word is right."""
    if max(entered, right) <= HIDING and right <= HIDES:
        return True
    size = max(unit, abs(right)) if relative else unit
    return round(abs(entered - right) - tolerance * size, 12) <= 0


def _verdict(entry: Entry, is_near: _Near, right: float, follows: float) -> Verdict:
    if entry.number is None:
        return Verdict.blank if entry.blank else Verdict.not_a_number
    if is_near(entry.number, right):
        return Verdict.right
    return Verdict.followed if is_near(entry.number, follows) else Verdict.wrong


def no_entries(node: Matrix) -> Entries:
    """The entries of a matrix in which nothing was filled in."""
    return [[Entry()] * node.shape[1] for _ in range(node.shape[0])]
