"""Stored values against what an engine computes, cell by cell. Knows engines, and nothing of slips."""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from attn_xl.checking.blocks.dependents import cells_with, made_from, origins_of_errors
from attn_xl.checking.blocks.references import Lookup, keys_within, rectangles_of
from attn_xl.checking.blocks.templates import Coordinates, Forms, Template
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.addresses import address, quoted
from attn_xl.spreadsheets.engines import SMALLEST, Value, recalculated_by_libreoffice
from attn_xl.spreadsheets.formulas import (
    ERROR,
    MISSING,
    NUMBER,
    WIDTH,
    FormulaBook,
    Ints,
    SheetCells,
    read_formulas,
)
from attn_xl.spreadsheets.ranges import shortened_spans, spans
from attn_xl.spreadsheets.recalculate import Recalculated
from attn_xl.text import listed, shortened

from .function_support import DATED, UNSTEADY
from .ironcalc_support import doubtful, must_be_entered

CANCELLED = 1e-4
"""A number below this share of its sheet's largest is what cancelling left: it counts as that large."""
LEFT_OVER = 1e-2
"""The same, where what the formula refers to is known: rounding errors of several steps add up."""
INFINITE = 1e8
"""Numbers from here on stand for infinity, in masks, and say nothing of how large the others are."""
_NO_ANSWER = ("#NAME?", "#N/IMPL!", "#ERROR!", "#SPILL!", "#CALC!")
"""What an engine says to what it does not know, and to what is made from that."""

_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#N/A", "#NUM!", "#NULL!", "#CIRC!")

_ROUGH = {"IronCalc": frozenset(["NORMSDIST", "NORM.S.DIST"])}
"""Functions that an engine computes to ten digits only; layers add to what is wrong in the last."""
ROUGHLY = 1e-6
"""How far from right a number may be that is made from them."""

_CIRCLE = "#CIRC!"
"""IronCalc's value of a cell that refers to itself, or to one that does."""
_ELSEWHERE = re.compile(r"\[[^\]]*\][^!\[\]]*!")
"""In a reference: the file that it leads to, and the sheet."""
_SPREAD = frozenset(
    [
        "COVAR",
        "COVARIANCE.P",
        "COVARIANCE.S",
        "DEVSQ",
        "STDEV",
        "STDEV.P",
        "STDEV.S",
        "STDEVP",
        "VAR",
        "VAR.P",
        "VAR.S",
        "VARP",
    ]
)
"""Functions of squares, whose sums IronCalc takes from each other: large numbers that hardly differ
leave it little."""
_DIGITS = re.compile(r"[0-9]+\.[0-9]{9,}")
"""A number within a text (`="a"&1/3`), of which programs write 15 digits or more."""

Compute = Callable[[str, Ints], Sequence[Value]]
"""The values that an engine has for cells of a sheet, by their keys."""


def ironcalc_values(engine: Recalculated) -> Compute:
    """What IronCalc computes."""

    def compute(sheet: str, keys: Ints) -> list[Value]:
        if sheet not in engine.sheets:
            return [None] * len(keys)
        rows, columns = (keys // WIDTH).tolist(), (keys % WIDTH + 1).tolist()
        return engine.values(sheet, [*zip(rows, columns)])

    return compute


def taken_apart_by_mistake(book: FormulaBook, forms: Forms) -> list[tuple[str, int, int, str]]:
    """The formulas that IronCalc reads otherwise than all other programs: of `SUMPRODUCT(EXP(B5:F5))`
    in a file it takes one cell of the range, and all if the formula is entered. By sheet, row and
    column, with the text."""
    found = []
    for sheet in book.sheets.values():
        where = np.flatnonzero(sheet.formulas >= 0)
        apart = np.array([must_be_entered(template) for template in forms.templates])
        where = where[apart[forms.template[sheet.formulas[where]]]] if len(where) else where
        for place in where.tolist():
            formula = int(sheet.formulas[place])
            if book.formulas[formula].rows * book.formulas[formula].columns == 1:
                row, column = int(sheet.keys[place]) // WIDTH, int(sheet.keys[place]) % WIDTH + 1
                at = np.array([formula]), np.array([row]), np.array([column])
                (values,) = forms.coordinates(*at)
                found.append((sheet.name, row, column, forms.written(formula, values)))
    return found


def libreoffice_values(path: Path) -> Compute:
    """What LibreOffice computes.

    Raises:
        InputError: if it is not there, or does not convert the file.
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


def wrong_values(
    book: FormulaBook,
    forms: Forms,
    lookup: Lookup,
    compute: Compute | None,
    tolerance: float,
    engine: str,
) -> tuple[list[Finding], int]:
    """The cells whose stored value is missing, an error, or not what the engine computes; and how many
    were computed.

    Args:
        compute: the engine, None if there is none: then only what is stored is looked at.
        tolerance: the largest relative error; of a number that cancelling left, in relation to what it
            was made from.
        engine: its name.
    """
    found, checked = [], 0
    origins = origins_of_errors(book, forms, lookup)
    suspects: list[tuple[SheetCells, Ints, list[Value]]] = []
    seeds: dict[str, list[int]] = defaultdict(list)
    for sheet in book.sheets.values():
        found += _stored(sheet, compute, origins)
        places = np.flatnonzero((sheet.formulas >= 0) | (sheet.spilled >= 0))
        places = places[(sheet.kinds[places] != MISSING) & (sheet.kinds[places] != ERROR)]
        if compute is None or not len(places):
            continue
        computed = compute(sheet.name, sheet.keys[places])
        checked += len(places)
        differ = _differing(sheet, places, computed, tolerance)
        suspects.append((sheet, places[differ], [computed[i] for i in differ.tolist()]))
    if any(len(places) for _, places, _ in suspects):
        doubts = _doubts(book, forms, engine)
        for sheet, places, values in suspects:
            formulas = np.maximum(sheet.formulas[places], sheet.spilled[places])
            lost = [
                bool(doubts[formula])
                or value in _NO_ANSWER
                or (value == _CIRCLE and book.repeats)
                or (
                    engine == "IronCalc"
                    and _lost_squares(sheet, place, value, forms, lookup, tolerance)
                )
                for formula, place, value in zip(formulas.tolist(), places.tolist(), values)
            ]
            seeds[sheet.name] += sheet.keys[places[np.array(lost, dtype=np.bool_)]].tolist()
        touched = made_from(book, forms, lookup, seeds)
        rough = made_from(book, forms, lookup, cells_with(book, forms, _ROUGH.get(engine, frozenset())))
        for sheet, places, values in suspects:
            unsure = np.isin(sheet.keys[places], np.array(sorted(touched[sheet.name]), dtype=np.int64))
            checked -= int(unsure.sum())
            found += _unchecked(sheet, doubts, places[unsure], engine)
            for place, value in zip(places[~unsure].tolist(), np.array(values, dtype=object)[~unsure]):
                key = int(sheet.keys[place])
                if key in rough[sheet.name] and same(sheet, key, value, max(tolerance, ROUGHLY)):
                    continue
                if not _cancelled(sheet, place, value, forms, lookup, tolerance):
                    found.append(_different(sheet, place, value, engine))
    return found, checked


def _stored(sheet: SheetCells, compute: Compute | None, origins: dict[str, Ints]) -> list[Finding]:
    """Errors, stored or computed where nothing is stored, and missing values."""
    out = []
    errors: dict[str, list[int]] = defaultdict(list)
    for place in np.flatnonzero(sheet.kinds == ERROR).tolist():
        errors[sheet.texts.get(place, "#ERROR!")].append(int(sheet.keys[place]))
    missing = sheet.keys[sheet.kinds == MISSING]
    if compute is not None and len(missing):
        for key, value in zip(missing.tolist(), compute(sheet.name, missing)):
            if isinstance(value, str) and value in _ERRORS:
                errors[value].append(key)
    for text, keys in errors.items():
        what = _error(sheet, text, keys, origins)
        out.append(
            Finding(sheet.name, spans(np.array(keys)), "error", what, "Mend what it is made from.")
        )
    if len(missing):
        out.append(
            Finding(
                sheet.name,
                spans(missing),
                "no value",
                f"{len(missing)} formula{'s' * (len(missing) > 1)} without a stored value: blank in "
                "previews, and for programs that read values",
                "Open it in a spreadsheet program and save it.",
            )
        )
    return out


def _differing(sheet: SheetCells, places: Ints, computed: Sequence[Value], tolerance: float) -> Ints:
    """Which of the cells (places in `places`) differ, by the sheet's size of numbers."""
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
            ours, theirs = _DIGITS.sub(_fewer, ours), _DIGITS.sub(_fewer, theirs)
        same[place] = ours == theirs or {ours, theirs} <= {"", None}
    return np.flatnonzero(~same)


def _fewer(digits: re.Match[str]) -> str:
    return f"{float(digits[0]):.9g}"


def _largest(sheet: SheetCells) -> float:
    """The largest of the numbers that a sheet computes, but for those that stand for infinity."""
    computed = ((sheet.formulas >= 0) | (sheet.spilled >= 0)) & (sheet.kinds == NUMBER)
    sizes = np.abs(sheet.numbers[computed])
    finite = sizes[sizes < INFINITE]
    return float((finite if len(finite) else sizes).max(initial=0.0))


def _cancelled(
    sheet: SheetCells, place: int, value: Value, forms: Forms, lookup: Lookup, tolerance: float
) -> bool:
    """Whether a difference is no larger than what cancelling leaves of what the formula refers to."""
    numbers = _numbers(sheet, place, value)
    if numbers is None:
        return False
    stored, computed = numbers
    template, values = _formula(sheet, place, forms)
    sizes = _sizes(sheet, template, values, lookup)
    largest = float(sizes[sizes < INFINITE].max(initial=0.0))
    if template.is_product or "*" in template.operators:
        largest = max(largest, largest * largest)
    return abs(stored - computed) <= tolerance * LEFT_OVER * largest


def _lost_squares(
    sheet: SheetCells, place: int, value: Value, forms: Forms, lookup: Lookup, tolerance: float
) -> bool:
    """Whether a difference, or that of the squares, is what sums of squares lose by cancelling."""
    numbers = _numbers(sheet, place, value)
    if numbers is None:
        return False
    stored, computed = numbers
    template, values = _formula(sheet, place, forms)
    if _SPREAD.isdisjoint(template.functions):
        return False
    largest = float(_sizes(sheet, template, values, lookup).max(initial=0.0))
    gap = min(abs(stored - computed), abs(stored * stored - computed * computed))
    return gap <= tolerance * LEFT_OVER * largest * largest


def _numbers(sheet: SheetCells, place: int, value: Value) -> tuple[float, float] | None:
    """The stored and the computed value of a cell with a formula of its own, if both are numbers."""
    stored = sheet.stored(place)
    if type(stored) is not float or type(value) not in (float, int) or sheet.formulas[place] < 0:
        return None
    return stored, float(value)  # type: ignore[arg-type]


def _formula(sheet: SheetCells, place: int, forms: Forms) -> tuple[Template, Coordinates]:
    formula, key = sheet.formulas[place : place + 1], sheet.keys[place : place + 1]
    values = forms.coordinates(formula, key // WIDTH, key % WIDTH + 1)
    return forms.templates[int(forms.template[formula[0]])], values


def _sizes(
    sheet: SheetCells, template: Template, values: Coordinates, lookup: Lookup
) -> NDArray[np.float64]:
    """The sizes of the numbers that a formula refers to."""
    sizes = [np.empty(0)]
    for reference in template.references:
        target = lookup.sheet(reference.sheet, sheet)
        top, left, bottom, right = (int(x[0]) for x in rectangles_of(reference, values))
        if target is None or (bottom - top + 1) * (right - left + 1) > 1_000_000:
            continue
        cells = keys_within(top, left, bottom, right)
        at = target.find(cells)
        sizes.append(np.abs(target.numbers[at[at >= 0]]))
    numbers = np.concatenate(sizes)
    return np.asarray(numbers[~np.isnan(numbers)])


def same(sheet: SheetCells, key: int, computed: Value, tolerance: float) -> bool:
    """Whether what a cell holds is what an engine computes for it."""
    return not len(_differing(sheet, sheet.find(np.array([key])), [computed], tolerance))


def _different(sheet: SheetCells, place: int, value: Value, engine: str) -> Finding:
    key = int(sheet.keys[place])
    cell = address(key // WIDTH, key % WIDTH + 1)
    stored = sheet.stored(place)
    if value == _CIRCLE:
        what = "refers to itself, or to a cell that does: no program computes it"
        return Finding(sheet.name, cell, "error", what, "Take it out of what it is made from.")
    return Finding(
        sheet.name,
        cell,
        "value",
        f"stored {_shown(stored)}, {engine} computes {_shown(value)}",
        "Recalculate and save it (F9, in Excel Ctrl+Alt+F9).",
    )


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return f"{value:.15g}"
    return "nothing" if value in (None, "") else repr(shortened(str(value)))


def _doubts(book: FormulaBook, forms: Forms, engine: str) -> list[frozenset[str]]:
    """For each formula the functions whose value is another one each time, or that no engine computes,
    or not this one."""
    known: dict[tuple[int, bool, bool], frozenset[str]] = {}
    out = []
    for formula, kind in zip(book.formulas, forms.template.tolist()):
        key = kind, formula.array, formula.table
        if key not in known:
            template = forms.templates[kind]
            doubts = template.functions & UNSTEADY
            if formula.table:
                doubts |= {"TABLE"}
            if any(_ELSEWHERE.search(name) for name in template.names):
                doubts |= {"another workbook"}
            if engine == "IronCalc":
                doubts |= doubtful(template, formula.array)
                doubts |= template.functions & DATED if book.since_1904 else frozenset()
            known[key] = doubts
        out.append(known[key])
    return out


def _error(sheet: SheetCells, text: str, keys: list[int], origins: dict[str, Ints]) -> str:
    """An error value in words: where it begins, if that is not all of the cells."""
    here = np.intersect1d(origins[sheet.name], np.array(keys))
    if len(here):
        return (
            text
            if len(here) == len(keys)
            else f"{text}, which begins in {shortened_spans(spans(here))}"
        )
    for name, cells in origins.items():
        if len(cells):
            return f"{text}, which begins in {quoted(name)}!{shortened_spans(spans(cells))}"
    return text


def _unchecked(
    sheet: SheetCells, doubts: list[frozenset[str]], places: Ints, engine: str
) -> list[Finding]:
    if not len(places):
        return []
    formulas = np.maximum(sheet.formulas[places], sheet.spilled[places])
    functions = sorted(frozenset[str]().union(*(doubts[formula] for formula in formulas.tolist())))
    named = f" ({listed(functions, 6)})" if functions else ""
    many = f"{len(places)} value{'s' * (len(places) > 1)}"
    cells = spans(sheet.keys[places])
    if functions and UNSTEADY.issuperset(functions):
        what = f"{many} not checked: another one each time{named}"
        return [Finding(sheet.name, cells, "unchecked", what, "Paste as a value what should stay.")]
    what = (
        f"{many} not checked: {engine} does not compute this as other programs do, or not at all{named}"
    )
    return [Finding(sheet.name, cells, "unchecked", what, "Try the other --engine.")]
