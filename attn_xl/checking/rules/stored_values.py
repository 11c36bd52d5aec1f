"""Comparing stored values with those that an engine computes, cell by cell."""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attn_xl.checking.blocks.block_cells import values_at
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.addresses import quoted
from attn_xl.spreadsheets.blocks.dependents import cells_with, made_from, using
from attn_xl.spreadsheets.blocks.references import Lookup, keys_within, rectangles_of, uses
from attn_xl.spreadsheets.blocks.templates import Coordinates, Forms, Template, as_typed, names
from attn_xl.spreadsheets.engines import SMALLEST, Value, recalculated_by_libreoffice
from attn_xl.spreadsheets.formulas import (
    ERROR,
    MISSING,
    NUMBER,
    TEXT,
    WIDTH,
    FormulaBook,
    Ints,
    SheetCells,
    read_formulas,
)
from attn_xl.spreadsheets.ironcalc_support import UNSTEADY, doubts_of
from attn_xl.spreadsheets.ranges import shortened_spans, spans
from attn_xl.spreadsheets.recalculate import Recalculated
from attn_xl.text import count, listed, shortened

CANCELLED = 1e-4
"""Fraction of a sheet's largest number below which a number counts as that large: it may be the
rounding error left by cancellation."""
LEFT_OVER = 1e-2
"""The same fraction, of the largest operand of a formula: rounding errors of several steps add up."""
INFINITE = 1e8
"""Numbers this large stand for infinity, as in masks, and do not indicate the scale of the others."""
_NO_ANSWER = ("#NAME?", "#N/IMPL!", "#ERROR!", "#SPILL!", "#CALC!")
"""Error values of an engine for formulas that it does not support, and for their dependents."""

_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#N/A", "#NUM!", "#NULL!", "#CIRC!")

_ROUGH = {"IronCalc": frozenset(["NORMSDIST", "NORM.S.DIST"])}
"""Functions that an engine computes to ten digits only; the error grows with each layer."""
ROUGHLY = 1e-6  # relative tolerance for cells that depend on these functions

_CIRCLE = "#CIRC!"
"""IronCalc's value for a circular reference, and for cells that depend on one."""
_SPREAD = names("""
    COVAR COVARIANCE.P COVARIANCE.S DEVSQ STDEV STDEV.P STDEV.S STDEVP VAR VAR.P VAR.S VARP
""")
"""Functions that IronCalc computes as a difference of sums of squares, which loses digits if the
numbers are large and close together."""
_DIGITS = re.compile(r"[0-9]+\.[0-9]{9,}")
"""A number within a text (`="a"&1/3`), which programs write with 15 or more digits."""

Compute = Callable[[str, Ints], Sequence[Value]]
"""Returns the values that an engine computes for cells of a sheet, given by their keys."""


def ironcalc_values(engine: Recalculated) -> Compute:
    """A function that returns what IronCalc computes."""

    def compute(sheet: str, keys: Ints) -> list[Value]:
        places = zip((keys // WIDTH).tolist(), (keys % WIDTH + 1).tolist())
        return engine.values(sheet, [*places]) if sheet in engine.sheets else [None] * len(keys)

    return compute


def frozen_cells(book: FormulaBook, forms: Forms) -> list[tuple[str, int, int, str]]:
    """The cells whose value differs from one calculation to the next (RAND, NOW), by sheet, row and
    column, with their stored number: while they keep it, the rest can be compared."""
    found = []
    for name, keys in cells_with(book, forms, UNSTEADY).items():
        sheet = book.sheets[name]
        for key, place in zip(keys, sheet.find(np.array(keys)).tolist()):
            if sheet.kinds[place] == NUMBER:
                number = f"{float(sheet.numbers[place])!r}"
                found.append((name, key // WIDTH, key % WIDTH + 1, number))
    return found


def fill_in(book: FormulaBook, compute: Compute) -> dict[str, Ints]:
    """Give formulas without a stored value what an engine computes; their cells by sheet."""
    missing = {}
    for sheet in book.sheets.values():
        places = np.flatnonzero(sheet.kinds == MISSING)
        for place, value in zip(places.tolist(), compute(sheet.name, sheet.keys[places])):
            if type(value) in (int, float):
                sheet.kinds[place], sheet.numbers[place] = NUMBER, value
            elif isinstance(value, str) and value not in _NO_ANSWER:
                sheet.kinds[place], sheet.texts[place] = ERROR if value in _ERRORS else TEXT, value
        if len(places):
            missing[sheet.name] = sheet.keys[places]
    return missing


def without_values(missing: dict[str, Ints]) -> list[Finding]:
    """The finding on formulas without a stored value, one for the workbook."""
    if not missing:
        return []
    name, keys = next(iter(missing.items()))
    many, sheets = sum(map(len, missing.values())), len(missing)
    what = f"{count(many, 'formula')} without a stored value"
    if sheets > 1:
        what += f" on {sheets} sheets"
    what += ": blank in previews and in programs that read values only"
    do = "Open the workbook in a spreadsheet program and save it."
    return [Finding(name, spans(keys), "no value", what, do)]


def gone(book: FormulaBook, forms: Forms) -> Iterator[Finding]:
    """Findings on formulas with a reference that is gone, whether or not they compute it."""
    for name, keys in cells_with(book, forms, "#REF!").items():
        sheet = book.sheets[name]
        (place,) = sheet.find(np.array(keys[:1]))
        text = as_typed(book.formulas[max(sheet.formulas[place], sheet.spilled[place])].text)
        what = f"={text} has a reference that is gone ({count(len(keys), 'cell')})"
        do = "Put the cell or the range that is meant in the place of #REF!."
        yield Finding(name, spans(np.array(keys)), "reference", what, do)


def libreoffice_values(path: Path) -> Compute:
    """A function that returns what LibreOffice computes.

    Raises:
        InputError: if LibreOffice is not installed, or does not convert the file.
    """
    with tempfile.TemporaryDirectory() as out:
        (result,) = recalculated_by_libreoffice([path], Path(out))
        book = read_formulas(result)

    def compute(name: str, keys: Ints) -> list[Value]:
        sheet = book.sheets.get(name)
        if sheet is None:
            return [None] * len(keys)
        return [sheet.stored(at) if at >= 0 else None for at in sheet.find(keys).tolist()]

    return compute


def origins_of_errors(book: FormulaBook, forms: Forms, lookup: Lookup) -> dict[str, Ints]:
    """The cells of each sheet whose error value does not come from another cell."""
    wrong = {name: sheet.keys[sheet.kinds == ERROR] for name, sheet in book.sheets.items()}
    made: dict[str, set[int]] = {name: set() for name in book.sheets}
    if any(len(keys) for keys in wrong.values()):
        for used in uses(book, forms):
            sheet, places = used[:2]
            if (sheet.kinds[places] == ERROR).any():
                made[sheet.name] |= set(sheet.keys[places[using(book, lookup, wrong, used)]].tolist())
    for name, sheet in book.sheets.items():
        of_wrong = np.isin(sheet.spilled, sheet.formulas[np.isin(sheet.keys, wrong[name])])
        made[name] |= set(sheet.keys[of_wrong & (sheet.spilled >= 0)].tolist())
    return {name: np.array(sorted({*keys.tolist()} - made[name])) for name, keys in wrong.items()}


def wrong_values(
    book: FormulaBook,
    forms: Forms,
    lookup: Lookup,
    compute: Compute | None,
    tolerance: float,
    engine: str,
) -> tuple[list[Finding], int]:
    """Findings on cells whose stored value is missing, an error, or not what the engine computes; and
    the number of values compared.

    Args:
        compute: returns the engine's values; None to examine the stored values only.
        tolerance: the largest accepted relative error; for a number left by cancellation, relative to
            its operands.
        engine: the name of the engine.
    """
    origins = origins_of_errors(book, forms, lookup)
    found = [finding for sheet in book.sheets.values() for finding in _errors(sheet, origins)]
    suspects: dict[str, dict[int, Value]] = {}
    checked = 0
    for sheet in book.sheets.values() if compute else ():
        computing = (sheet.formulas >= 0) | (sheet.spilled >= 0)
        places = np.flatnonzero(computing & ~np.isin(sheet.kinds, (MISSING, ERROR)))
        computed = compute(sheet.name, sheet.keys[places]) if compute else []
        checked += len(places)
        differ = _differing(sheet, places, computed, tolerance).tolist()
        suspects[sheet.name] = {int(places[n]): computed[n] for n in differ}
    if not any(suspects.values()):
        return found, checked
    doubts = doubts_of(book, forms, engine)

    def is_lost(sheet: SheetCells, place: int, value: Value) -> bool:
        formula = max(sheet.formulas[place], sheet.spilled[place])
        if value in _NO_ANSWER or (value == _CIRCLE and book.repeats) or doubts[formula]:
            return True
        spread = engine == "IronCalc" and _SPREAD & forms.templates[forms.template[formula]].functions
        return bool(spread) and _is_rounding(sheet, place, value, forms, lookup, tolerance)

    seeds = {
        name: [
            int(book.sheets[name].keys[place])
            for place, value in cells.items()
            if is_lost(book.sheets[name], place, value)
        ]
        for name, cells in suspects.items()
    }
    touched = made_from(book, forms, lookup, seeds)
    rough = made_from(book, forms, lookup, cells_with(book, forms, _ROUGH.get(engine, frozenset())))
    for name, cells in suspects.items():
        sheet = book.sheets[name]
        unsure = []
        for place, value in cells.items():
            key = int(sheet.keys[place])
            close = key in rough[name] and same(sheet, key, value, max(tolerance, ROUGHLY))
            if key in touched[name]:
                unsure.append(place)
            elif not close and not _is_rounding(sheet, place, value, forms, lookup, tolerance):
                found.append(_wrong_value(sheet, place, value, engine))
        checked -= len(unsure)
        found += _unchecked(sheet, doubts, np.array(unsure, dtype=np.int64), engine)
    return found, checked


def _errors(sheet: SheetCells, origins: dict[str, Ints]) -> Iterator[Finding]:
    """Findings on error values; where one does not arise in all of its cells, with where it begins."""
    errors: dict[str, list[int]] = defaultdict(list)
    for place in np.flatnonzero(sheet.kinds == ERROR).tolist():
        errors[sheet.texts.get(place, "#ERROR!")].append(int(sheet.keys[place]))
    for text, keys in errors.items():
        here, do = np.intersect1d(origins[sheet.name], keys), "Fix the cells it is computed from."
        begins = {"": here} if len(here) else {f"{quoted(n)}!": o for n, o in origins.items() if len(o)}
        if begins and len(here) < len(keys):
            name, cells = next(iter(begins.items()))
            text = f"{text}, which begins in {name}{shortened_spans(spans(cells))}"
        yield Finding(sheet.name, spans(np.array(keys)), "error", text, do)


def _differing(sheet: SheetCells, places: Ints, computed: Sequence[Value], tolerance: float) -> Ints:
    """The indices into `places` of the cells that differ, relative to the scale of the sheet."""
    numeric = sheet.kinds[places] == NUMBER
    numbers = np.array([x if type(x) in (float, int) else np.nan for x in computed], dtype=np.float64)
    stored = sheet.numbers[places]
    largest = _largest(sheet)
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(stored - numbers)
        size = np.maximum(np.maximum(np.abs(stored), np.abs(numbers)), CANCELLED * largest)
        same = numeric & ((gap <= tolerance * size) | (gap < SMALLEST))
    for place in np.flatnonzero(~same & ~(numeric & ~np.isnan(numbers))).tolist():
        ours, theirs = sheet.stored(int(places[place])), computed[place]
        if isinstance(ours, str) and isinstance(theirs, str):
            ours, theirs = (
                _DIGITS.sub(lambda digits: f"{float(digits[0]):.9g}", text) for text in (ours, theirs)
            )
        same[place] = ours == theirs or {ours, theirs} <= {"", None}
    return np.flatnonzero(~same)


def _largest(sheet: SheetCells) -> float:
    """The largest number that a sheet computes, apart from those that stand for infinity."""
    computed = ((sheet.formulas >= 0) | (sheet.spilled >= 0)) & (sheet.kinds == NUMBER)
    sizes = np.abs(sheet.numbers[computed])
    finite = sizes[sizes < INFINITE]
    return float((finite if len(finite) else sizes).max(initial=0.0))


def _is_rounding(
    sheet: SheetCells, place: int, value: Value, forms: Forms, lookup: Lookup, tolerance: float
) -> bool:
    """Whether a difference is within the rounding error that cancellation of the operands can leave: of
    products, that of the products; of a variance, that of sums of squares, also of their roots."""
    stored = sheet.stored(place)
    if type(stored) is not float or type(value) not in (float, int) or sheet.formulas[place] < 0:
        return False
    computed = float(value)  # type: ignore[arg-type]
    template = forms.templates[forms.template[sheet.formulas[place]]]
    sizes = _sizes(sheet, template, values_at(forms, sheet, np.array([place])), lookup)
    largest = float(sizes[sizes < INFINITE].max(initial=0.0))
    gap = abs(stored - computed)
    if not _SPREAD.isdisjoint(template.functions):
        largest = float(sizes.max(initial=0.0)) ** 2
        gap = min(gap, abs(stored * stored - computed * computed))
    elif template.is_product or "*" in template.operators:
        largest = max(largest, largest * largest)
    return gap <= tolerance * LEFT_OVER * largest


def _sizes(
    sheet: SheetCells, template: Template, values: Coordinates, lookup: Lookup
) -> NDArray[np.float64]:
    """The absolute values of the numbers that a formula refers to."""
    sizes = [np.empty(0)]
    for reference in template.references:
        target = lookup.sheet(reference.sheet, sheet)
        top, left, bottom, right = (int(x[0]) for x in rectangles_of(reference, values))
        if target is not None and (bottom - top + 1) * (right - left + 1) <= 1_000_000:
            at = target.find(keys_within(top, left, bottom, right))
            sizes.append(np.abs(target.numbers[at[at >= 0]]))
    numbers = np.concatenate(sizes)
    return np.asarray(numbers[~np.isnan(numbers)])


def same(sheet: SheetCells, key: int, computed: Value, tolerance: float) -> bool:
    """Whether a cell holds what an engine computes for it."""
    return not len(_differing(sheet, sheet.find(np.array([key])), [computed], tolerance))


def _wrong_value(sheet: SheetCells, place: int, value: Value, engine: str) -> Finding:
    cell = spans(sheet.keys[[place]])
    if value == _CIRCLE:
        what = "circular reference: depends on itself, or on a cell that does"
        return Finding(sheet.name, cell, "error", what, "Remove the cell from its own operands.")
    what = f"stored {_shown(sheet.stored(place))}, {engine} computes {_shown(value)}"
    do = "Recalculate the workbook (F9, in Excel Ctrl+Alt+F9) and save it."
    return Finding(sheet.name, cell, "value", what, do)


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return f"{value:.15g}"
    return "nothing" if value in (None, "") else repr(shortened(str(value)))


def _unchecked(
    sheet: SheetCells, doubts: list[frozenset[str]], places: Ints, engine: str
) -> Iterator[Finding]:
    if not len(places):
        return
    formulas = np.maximum(sheet.formulas[places], sheet.spilled[places])
    functions = sorted(frozenset[str]().union(*(doubts[formula] for formula in formulas.tolist())))
    why, do = f"{engine} does not compute this, or not as other programs do", "Use the other --engine."
    if functions and UNSTEADY.issuperset(functions):
        why, do = "different at each calculation", "Paste results that must not change as values."
    named = f" ({listed(functions, 6)})" if functions else ""
    what = f"{count(len(places), 'value')} not checked: {why}{named}"
    yield Finding(sheet.name, spans(sheet.keys[places]), "unchecked", what, do)
