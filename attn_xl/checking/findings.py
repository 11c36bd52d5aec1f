"""The findings of `check`, and their kinds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from attn_xl.spreadsheets.addresses import split_address
from attn_xl.spreadsheets.formulas import WIDTH

Severity = Literal["error", "warning", "note"]

KINDS: dict[str, tuple[Severity, str]] = {
    "value": ("error", "the stored value is not what the formula gives"),
    "error": ("error", "an error value"),
    "reference": ("error", "a formula with a reference that is gone (#REF!)"),
    "constant": ("error", "a constant where its neighbours have formulas"),
    "frozen": ("warning", "a constant that currently equals the result of its neighbours' formula"),
    "restart": ("warning", "a constant in a line of formulas that copy the previous cell"),
    "hole": ("warning", "a blank cell where its neighbours have formulas"),
    "pattern": ("error", "a formula that breaks the pattern of its block"),
    "adjusted": ("warning", "a formula that adds a number to that of its neighbours"),
    "fixed": ("error", "one $ too many: a whole block uses the same row or column of an operand"),
    "sliding": ("error", "a missing $: an operand of a product slides out of place"),
    "off": ("error", "an operand that reads a table so many rows or columns off"),
    "short": ("warning", "a range that stops before its table does"),
    "twin": ("error", "a block that points or computes unlike the others made alike"),
    "terms": ("warning", "a term unlike the others of its sum"),
    "unused": ("warning", "a table that no formula reads, while another is read in its place"),
    "softmax": ("error", "attention weights that do not sum to 1"),
    "no value": ("warning", "a formula without a stored value"),
    "blank": ("warning", "a formula that uses blank cells"),
    "text": ("warning", "a formula that computes with text"),
    "unread": ("warning", "the engine cannot recalculate the workbook"),
    "unusual": ("note", "a number or a function that differs from those of blocks made alike"),
    "volatile": ("note", "a volatile function: recalculated at every change"),
    "function": ("note", "a function that some spreadsheet programs lack"),
    "sparse": ("note", "a formula over a sparsely filled table"),
    "unchecked": ("note", "a value that the engine cannot compute"),
}
"""The severity and the description of each kind."""


@dataclass(frozen=True)
class Finding:
    """Something found in a workbook.

    Attributes:
        sheet: the sheet, "" for the whole workbook; cells: `B5`, `B5:D9`, `B5, C7`.
        kind: one of KINDS.
        what: what was found; do: what to do about it.
    """

    sheet: str
    cells: str
    kind: str
    what: str
    do: str

    @property
    def severity(self) -> Severity:
        return KINDS[self.kind][0]

    def as_dict(self) -> dict[str, Any]:
        """The finding as a dictionary for JSON."""
        return {"severity": self.severity, **asdict(self)}


def cells_of(findings: list[Finding]) -> set[tuple[str, int]]:
    """The cells, by sheet and key, that findings name."""
    found: set[tuple[str, int]] = set()
    for finding in findings:
        for part in finding.cells.split(", ") if finding.cells else ():
            first, _, last = part.partition(":")
            (top, left), (bottom, right) = split_address(first), split_address(last or first)
            for row in range(top, min(bottom, top + 9_999) + 1):
                found.update(
                    (finding.sheet, row * WIDTH + column - 1) for column in range(left, right + 1)
                )
    return found
