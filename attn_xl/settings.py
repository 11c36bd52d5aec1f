"""The choices of a run, frozen, checked when made. Knows nothing of files or matrices."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .errors import CallError


class Formulas(str, Enum):
    """How a computed cell is written."""

    cell = "cell"
    """a live formula in every cell, with its value"""
    none = "none"
    """the value alone"""


@dataclass(frozen=True)
class Settings:
    """What is computed and how it is shown.

    Attributes:
        scale: divide the scores by the square root of d_k.
        decimals: digits shown after the point; None leaves that to the template
            (or, in the terminal, to 3). Full precision is kept whatever is shown.
        formulas: live formulas, or values only.

    Raises:
        CallError: for a choice that cannot be carried out.
    """

    scale: bool = True
    decimals: int | None = None
    formulas: Formulas = Formulas.cell

    def __post_init__(self) -> None:
        if self.decimals is not None and not 0 <= self.decimals <= 15:
            raise CallError(
                f"--decimals is {self.decimals}; a spreadsheet number has 0 to 15 digits "
                "after the point."
            )
