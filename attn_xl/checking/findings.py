"""What a check finds: a record for each finding, and the kinds there are. Does not know how."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]

KINDS: dict[str, tuple[Severity, str]] = {
    "value": ("error", "the stored value is not what the formula gives"),
    "error": ("error", "an error value"),
    "constant": ("error", "a constant where its neighbours have formulas"),
    "frozen": ("warning", "a constant that is what its neighbours' formula gives, now"),
    "restart": ("warning", "a constant where its neighbours repeat the cell before them"),
    "hole": ("warning", "a blank cell where its neighbours have formulas"),
    "pattern": ("error", "a formula that differs from the others of its block"),
    "fixed": ("error", "a $ too many: a whole block uses one row or column of an operand"),
    "sliding": ("error", "a $ too few: an operand of a product slides out of place"),
    "short": ("warning", "a range that leaves out the number next to it"),
    "terms": ("warning", "a sum whose terms do not go together"),
    "array": ("warning", "an array formula that fills fewer cells than it computes"),
    "softmax": ("error", "attention weights that do not sum to 1"),
    "no value": ("warning", "a formula without a stored value"),
    "blank": ("warning", "a formula that uses blank cells"),
    "text": ("warning", "a formula that computes with text"),
    "unread": ("warning", "the engine cannot recalculate the workbook"),
    "volatile": ("note", "a function that changes by itself"),
    "function": ("note", "a function that some spreadsheet programs lack"),
    "sparse": ("note", "a formula over a table that is filled here and there"),
    "unchecked": ("note", "a value that the engine cannot compute"),
}
"""Each kind's severity and what it is."""


@dataclass(frozen=True)
class Finding:
    """Something found in a workbook.

    Attributes:
        sheet: where, "" for the workbook as a whole; cells: `B5`, `B5:D9`, `B5, C7`.
        kind: one of KINDS.
        what: what was found; do: what to do.
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
        """For JSON."""
        return {"severity": self.severity, **asdict(self)}
