"""What marking one file came to: frozen records that travel between processes. Knows no matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from attn_xl.tables.written.written_book import WrittenBook
from attn_xl.text import clean

from .marking import Verdict

GRADES, CELLS = "Grades", "Cells"
GRADES_NOTE = "What was handed in, marked: points for each step, and what share of all cells they are."


class Status(str, Enum):
    """What became of a file, or of a student."""

    marked = "marked"
    failed = "failed"
    """it could not be marked"""
    skipped = "skipped"
    """it is not for marking: a key, a lock file"""
    repeated = "repeated"
    """it was marked, but another file of the same student counts"""
    missing = "missing"
    """a student of the key who handed nothing in"""


@dataclass(frozen=True)
class CellMark:
    """A cell that is not right.

    Attributes:
        step: its matrix; cell: `Scores!B5`; name: `Scores[the, cat]`.
        entered: what stands there; number: as a number, None for none.
        right: the right number; follows: what follows from the student's own, if all are there.
        worked: how it comes about, with the numbers put in.
        guess: by what slip one gets what was entered.
    """

    step: str
    cell: str
    name: str
    verdict: Verdict
    entered: str
    number: float | None
    right: float
    follows: float | None
    worked: str
    guess: str = ""

    @property
    def why(self) -> str:
        """The reasons in a line."""
        guess = f"What was entered is what you get by {self.guess}." if self.guess else ""
        return ". ".join(filter(None, (self.worked, guess)))


@dataclass(frozen=True)
class Graded:
    """What marking one file came to.

    Attributes:
        id, name: of the student; "" where nothing says.
        steps: for each step the points, and for how many cells.
        cells: all that are not right.
        feedback: the name of the marked copy.
    """

    path: Path | None
    status: Status
    id: str = ""
    name: str = ""
    steps: dict[str, tuple[int, int]] = field(default_factory=dict)
    cells: tuple[CellMark, ...] = ()
    remarks: tuple[str, ...] = ()
    feedback: str = ""

    @property
    def points(self) -> int:
        """How many cells earned credit."""
        return sum(points for points, _ in self.steps.values())

    @property
    def most(self) -> int:
        """How many cells there were."""
        return sum(cells for _, cells in self.steps.values())

    @property
    def share(self) -> float | None:
        """Points by cells; None where nothing was marked."""
        return self.points / self.most if self.most else None

    @property
    def file(self) -> str:
        return clean(self.path.name) if self.path else ""


def is_grades(book: WrittenBook) -> bool:
    """Whether a workbook is one of grades."""
    return any(line and line[0] == GRADES_NOTE for line in book.grids.get(GRADES, [])[:3])
