"""The result of marking one file, in frozen records that can be sent between processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from attn_xl.tables.written import WrittenBook
from attn_xl.text import clean

from .marking import Verdict

GRADES, CELLS = "Grades", "Cells"


class Status(str, Enum):
    """The outcome for a file, or for a student without one."""

    marked = "marked"
    failed = "failed"
    """it could not be marked"""
    skipped = "skipped"
    """it is not a submission, but an answer key, a lock file, or the like"""
    repeated = "repeated"
    """it was marked, but another submission of the same lesson counts"""
    missing = "missing"
    """a student in the key who handed nothing in"""


@dataclass(frozen=True)
class CellMark:
    """A cell that is not right.

    Attributes:
        step: its matrix; cell: `Scores!B5`; name: `Scores[the, cat]`.
        entered: the cell's content; number: its number, None if it holds none.
        right: the right number, or a word; follows: what follows from the student's earlier numbers,
            None if one of them is blank.
        worked: the calculation with the values substituted.
    """

    step: str
    cell: str
    name: str
    verdict: Verdict
    entered: str
    number: float | None
    right: float | str
    follows: float | None
    worked: str


@dataclass(frozen=True)
class Graded:
    """The result of marking one file.

    Attributes:
        id, name: of the student; "" if unknown.
        steps: for each step, its points and the number of its cells.
        cells: the cells that are not right.
        unmarked: the steps that were not found in the file.
        feedback: the name of the marked copy.
    """

    path: Path | None
    status: Status
    id: str = ""
    name: str = ""
    steps: dict[str, tuple[int, int]] = field(default_factory=dict)
    cells: tuple[CellMark, ...] = ()
    remarks: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()
    feedback: str = ""

    @property
    def points(self) -> int:
        """The number of cells that earned credit."""
        return sum(points for points, _ in self.steps.values())

    @property
    def most(self) -> int:
        """The number of cells to fill in."""
        return sum(cells for _, cells in self.steps.values())

    @property
    def share(self) -> float | None:
        """Points divided by cells; None if nothing was marked or a sheet was not found."""
        return self.points / self.most if self.most and not self.unmarked else None

    @property
    def file(self) -> str:
        return clean(self.path.name) if self.path else ""


def is_grades(book: WrittenBook) -> bool:
    """Whether a workbook is a table of grades written by attn-xl."""
    return GRADES in book.grids and CELLS in book.grids
