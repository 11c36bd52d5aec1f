"""Checking a workbook: runs every check and sorts the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from attn_xl.checking.function_support import VOLATILE, lacking
from attn_xl.checking.rules.blank_operands import asked_about, computed_with_nothing
from attn_xl.checking.rules.coverage import uncovered
from attn_xl.checking.rules.shares import not_one
from attn_xl.checking.rules.stored_values import (
    Compute,
    fill_in,
    frozen_cells,
    gone,
    ironcalc_values,
    libreoffice_values,
    same,
    without_values,
    wrong_values,
)
from attn_xl.checking.rules.twins import unlike_twins
from attn_xl.checking.rules.unlike_block import Overwritten, Slips
from attn_xl.errors import AttnXlError, CallError, InputError, Interrupted, unforeseen
from attn_xl.parallel import in_parallel
from attn_xl.settings import Engine
from attn_xl.spreadsheets.blocks.dependents import cells_with
from attn_xl.spreadsheets.blocks.pieces import Pieces
from attn_xl.spreadsheets.blocks.references import Lookup
from attn_xl.spreadsheets.blocks.templates import Forms
from attn_xl.spreadsheets.formulas import WIDTH, FormulaBook, read_formulas
from attn_xl.spreadsheets.ironcalc_support import formulas_to_reenter
from attn_xl.spreadsheets.ranges import spans
from attn_xl.spreadsheets.recalculate import Recalculated

from .findings import KINDS, Finding, cells_of

TOLERANCE = 1e-9
_ENGINE_NAMES = {Engine.ironcalc: "IronCalc", Engine.libreoffice: "LibreOffice"}


@dataclass(frozen=True)
class Report:
    """The result of checking one file.

    Attributes:
        formulas: number of formulas; checked: number of values that were recalculated and compared.
        error: why the file could not be checked, "" if it was.
    """

    file: Path
    findings: tuple[Finding, ...] = ()
    formulas: int = 0
    checked: int = 0
    error: str = ""

    def count(self, severity: str) -> int:
        """The number of findings of a severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def empty(self) -> bool:
        """Whether the file was read and has no formulas, so that there was nothing to check."""
        return not self.error and not self.formulas

    def fails(self, strict: bool = False) -> bool:
        """Whether checking failed or found an error or a warning; with `strict`, also a note."""
        return bool(self.error) or any(strict or f.severity != "note" for f in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """The report as a dictionary for JSON."""
        return {
            "file": str(self.file),
            "formulas": self.formulas,
            "checked": self.checked,
            "error": self.error or None,
            "findings": [finding.as_dict() for finding in self.findings],
        }


@np.errstate(all="ignore")  # a number in a formula may be infinite
def check_workbook(
    path: Path, *, engine: Engine = Engine.ironcalc, tolerance: float = TOLERANCE
) -> Report:
    """Recalculate a workbook, whoever wrote it, and look for mistakes.

    Args:
        path: an .xlsx or .xlsm file.
        engine: the engine that recalculates.
        tolerance: the largest accepted relative error of a stored value.

    Raises:
        CallError: if the tolerance is not at least 0 and below 1.
        InputError: if the file cannot be read, or LibreOffice is requested but not installed.
    """
    if not 0 <= tolerance < 1:
        raise CallError(f"--tolerance is {tolerance}; it must be at least 0 and below 1.")
    book = read_formulas(path)
    found: list[Finding] = []
    forms, lookup = Forms(book.formulas), Lookup(book)
    engine = Engine(engine)
    model, compute = _engine(book, forms, engine, found)
    missing = fill_in(book, compute) if compute else {}
    wrong, checked = wrong_values(book, forms, lookup, compute, tolerance, _ENGINE_NAMES[engine])
    seen, overwritten = look_over(book, forms, lookup, tolerance)
    if overwritten and engine is Engine.libreoffice:
        with suppress(InputError):  # comparing with LibreOffice would start it once for each constant
            model = _ironcalc(book, forms)
    found += without_values(missing) + wrong + _mark_frozen(seen, overwritten, book, model, tolerance)
    checked -= sum(map(len, missing.values())) + len(frozen_cells(book, forms))
    return Report(path, tuple(_sorted(book, found)), len(book.formulas), max(checked, 0))


def look_over(
    book: FormulaBook, forms: Forms, lookup: Lookup, tolerance: float = TOLERANCE
) -> tuple[list[Finding], Overwritten]:
    """The findings that need no recalculation, and the formulas that overwritten cells should hold.

    Args:
        book: the workbook; forms: its formulas as templates; lookup: its sheets; tolerance: largest
            accepted deviation of sums.
    """
    pieces = Pieces(book, forms, lookup)
    asked = asked_about(book, forms, lookup)
    slips = Slips(pieces, asked)
    found = list(slips.all())
    asked |= cells_of([f for f in found if f.kind == "hole"])  # one cause, one finding
    partly, known = list(uncovered(pieces)), cells_of(found)
    twins = list(unlike_twins(pieces, cells_of(partly)))
    meant = {f.sheet: f"{f.what} {f.do}" for f in twins}
    partly = [f for f in partly if not cells_of([f]) <= known]
    partly = [f for f in partly if f.kind != "unused" or f.cells not in meant.get(f.sheet, "")]
    found += [*partly, *twins]
    found += gone(book, forms)
    found += not_one(pieces, tolerance, cells_of(found))
    found += computed_with_nothing(pieces, asked)
    return [*found, *_functions(book, forms)], slips.overwritten


def _engine(
    book: FormulaBook, forms: Forms, engine: Engine, found: list[Finding]
) -> tuple[Recalculated | None, Compute | None]:
    """The engine. If it cannot recalculate the file, its message becomes a finding."""
    path = book.path
    if engine is Engine.libreoffice:
        return None, libreoffice_values(path)
    try:
        model = _ironcalc(book, forms)
    except InputError as error:
        what = str(error).removeprefix(f"{path}: ").rstrip(".")
        found.append(Finding("", "", "unread", what, "Use --engine libreoffice."))
        return None, None
    return model, ironcalc_values(model)


def _ironcalc(book: FormulaBook, forms: Forms) -> Recalculated:
    model = Recalculated(book.path)
    again = formulas_to_reenter(book, forms) + frozen_cells(book, forms)
    if again:
        model.change(again)
    return model


def _mark_frozen(
    found: list[Finding],
    overwritten: Overwritten,
    book: FormulaBook,
    model: Recalculated | None,
    tolerance: float,
) -> list[Finding]:
    """The findings, with each constant among formulas marked as frozen if it equals the formula's
    current result."""
    if model is None or not overwritten:
        return found
    entered = [
        (finding.sheet, key // WIDTH, key % WIDTH + 1, formula)
        for finding, cells in overwritten.items()
        for key, formula in cells
    ]
    try:
        model.change(entered)
    except InputError:
        return found
    out = []
    for finding in found:
        keys = [key for key, _ in overwritten.get(finding, [])]
        places = [(key // WIDTH, key % WIDTH + 1) for key in keys]
        computed = model.values(finding.sheet, places) if places else []
        other = [
            value
            for key, value in zip(keys, computed)
            if not same(book.sheets[finding.sheet], key, value, tolerance)
        ]
        if keys and not other:
            what = f"{finding.what}, which currently gives the same"
            finding = replace(finding, kind="frozen", what=what)
        elif other and isinstance(other[0], (int, float)):
            finding = replace(finding, what=f"{finding.what}, which gives {other[0]:.6g}")
        out.append(finding)
    return out


def _functions(book: FormulaBook, forms: Forms) -> Iterator[Finding]:
    """Findings on volatile functions and on functions that some programs lack."""
    used = frozenset[str]().union(*(template.functions for template in forms.templates))
    special = lacking(used)
    for function in sorted(used & VOLATILE | special.keys()):
        for name, keys in cells_with(book, forms, frozenset([function])).items():
            cells = spans(np.array(keys))
            if function in VOLATILE:
                what = f"{function} is recalculated whenever anything in the workbook changes"
                do = "Do not use it for results that must stay the same."
                yield Finding(name, cells, "volatile", what, do)
            if function in special:
                typed = "A1#" if function == "ANCHORARRAY" else function
                what = f"{typed} is not available in {', '.join(special[function])}"
                do = "Use another function if the workbook must run there."
                yield Finding(name, cells, "function", what, do)


def _sorted(book: FormulaBook, found: list[Finding]) -> list[Finding]:
    """The findings by severity, sheet and kind. Text that causes #VALUE! errors on its sheet comes
    first."""
    severities, kinds, sheets = ["error", "warning", "note"], list(KINDS), list(book.sheets)
    spoilt = {f.sheet for f in found if f.kind == "error" and f.what.startswith("#VALUE!")}
    return sorted(
        dict.fromkeys(found),
        key=lambda f: (
            f.kind != "text" or f.sheet not in spoilt,
            severities.index(f.severity),
            sheets.index(f.sheet) if f.sheet in sheets else -1,
            kinds.index(f.kind),
        ),
    )


def check_files(
    files: Sequence[Path], *, engine: Engine, tolerance: float, jobs: int | None
) -> list[Report]:
    """Check several files in parallel. A file that cannot be read does not stop the others.

    Raises:
        CallError: if the tolerance or `jobs` is out of range.
    """
    check = partial(_check_file, engine=engine, tolerance=tolerance)
    done = dict(in_parallel(check, files, jobs=jobs, label="Checking"))
    return [done[number] for number in range(len(files))]


def _check_file(file: Path, engine: Engine, tolerance: float) -> Report:
    try:
        return check_workbook(file, engine=engine, tolerance=tolerance)
    except (Interrupted, CallError):
        raise
    except AttnXlError as error:
        return Report(file, error=str(error))
    except Exception as error:  # one file must not stop the others
        return Report(file, error=f"{file}: cannot be checked ({unforeseen(error)}).")
