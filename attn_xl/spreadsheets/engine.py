"""Computes formulas that an author wrote, with IronCalc, a spreadsheet engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .addresses import Place, parse_area, place_of
from .formulas import Formula, formula_in, tokens_of
from .numerals import NumberText

Key = tuple[str, int, int]
"""A cell: the name of its sheet, its row and its column."""
Value = float | str | bool
MOST_READ = 1_000_000
"""Cells that the formulas may read; more would take seconds."""
OF_RANGES = {*re.findall(r"\S+", """
    AND AVEDEV AVERAGE AVERAGEIF AVERAGEIFS COLUMNS CONCAT CORREL COUNT COUNTA COUNTBLANK COUNTIF
    COUNTIFS DEVSQ GEOMEAN HARMEAN HLOOKUP INDEX LARGE MATCH MAX MAXIFS MEDIAN MIN MINIFS MMULT OR
    PEARSON PRODUCT RANK RANK.AVG RANK.EQ ROWS SMALL STDEV STDEV.P STDEV.S STDEVP SUM SUMIF SUMIFS
    SUMPRODUCT SUMSQ SUMX2MY2 SUMX2PY2 SUMXMY2 TEXTJOIN VAR VAR.P VAR.S VARP VLOOKUP XOR
""")}  # fmt: skip
"""Functions that take a range whole. Others take the cell of it in their own row or column, unless they
stand in an array formula; the engine takes all cells."""
OF_ARRAYS = {"BYCOL", "BYROW", "COLUMN", "LAMBDA", "LET", "ROW", "TRANSPOSE"}
"""Functions that an array formula may have, too."""
OF_VALUES = {*re.findall(r"\S+", """
    ABS ACOS ASIN ATAN ATAN2 CEILING CHAR CHOOSE COLUMN CONCATENATE COS COSH DEGREES ERF EVEN EXACT
    EXP FACT FIXED FLOOR IF IFERROR IFNA IFS INT ISBLANK ISNUMBER LEFT LEN LN LOG LOG10 LOWER MID MOD
    MROUND N NORM.S.DIST NORMSDIST NOT ODD PI POWER QUOTIENT RADIANS RIGHT ROUND ROUNDDOWN ROUNDUP
    ROW SIGN SIN SINH SQRT SUBSTITUTE SWITCH TAN TANH TRIM TRUNC UPPER VALUE
""")}  # fmt: skip
_NORMAL = "0.5+0.5*SIGN(z_)*CHISQ.DIST(z_*z_,1,TRUE)"
REWRITTEN = {
    "ERF": ("LET(z_,", ",", ",SIGN(z_)*CHISQ.DIST(2*z_*z_,1,TRUE))"),
    "NORMSDIST": ("LET(z_,", ",", f",{_NORMAL})"),
    "NORM.S.DIST": ("LET(z_,", ",k_,", f",IF(k_,{_NORMAL},PHI(z_)))"),
}
"""Functions that the engine has to eleven digits only, and what gives sixteen: the start, what stands
between two arguments, and the end."""
OF_NUMBERS = {*re.findall(r"\S+", """
    ABS ACOS ASIN ATAN COS DEGREES EXP INT LN LOG10 RADIANS SIGN SIN SQRT TAN TANH
""")}  # fmt: skip
"""Functions of one number. Of a bare range in SUMPRODUCT, the engine gives them one cell; an expression
it computes as an array."""


class InArray(str):
    """The formula of a cell that is computed as an array formula is."""


def formula_of(formula: Formula, cell: tuple[int, int]) -> str:
    """What gives the value of a cell that holds a formula, or one of an array's."""
    if not formula.array:
        return formula_in(formula, cell)
    if formula.is_of_one_cell:
        return InArray(formula.text)
    row, column = cell[0] - formula.row + 1, cell[1] - formula.column + 1
    return InArray(f"INDEX({formula.text},{row},{column})")


def computed(
    formulas: Mapping[Key, str],
    sheets: Sequence[str],
    names: Mapping[str, str],
    value_at: Callable[[str, int, int], tuple[Any, bool]],
) -> dict[Key, Value]:
    """What formulas give. Those are left out that have other functions than these, give an error, or
    read cells whose value is not known.

    Args:
        formulas: without the equals sign.
        sheets: the names of all sheets; names: what each defined name refers to.
        value_at: the value of a cell that holds none of the formulas, None or "" if it is blank; and
            whether it is new.
    """
    try:
        import ironcalc
    except ImportError:  # it has no wheels for some systems
        return {}
    named = {name.casefold(): text for name, text in names.items()}
    folded = {sheet.casefold(): sheet for sheet in sheets}
    reads: dict[Key, list[Place]] = {}
    asked: dict[Key, str] = {}
    for key, text in formulas.items():
        with suppress(_NotKnown):
            reads[key], asked[key] = _understood(text, key[0], folded, named)
    areas = {area for own in reads.values() for area in own}
    if sum(area.rows * area.columns for area in areas) > MOST_READ:
        return {}
    unknown: set[Key] = {*formulas} - reads.keys()
    try:
        model = ironcalc.create("values", "en", "UTC", "en")
        model.rename_sheet(0, sheets[0])
        for sheet in sheets[1:]:
            model.add_sheet(sheet)
        for name, text in names.items():
            with suppress(ironcalc.WorkbookError):
                model.new_defined_name(name, None, text)
        number = {sheet: n for n, sheet in enumerate(sheets)}
        put: dict[type, Callable[[int, int, int, Any], None]] = {
            float: model.update_cell_with_number,
            bool: model.update_cell_with_bool,
            str: model.update_cell_with_text,
        }
        for area in areas:
            for row, column in area.cells():
                value, key = value_at(area.sheet, row, column)[0], (area.sheet, row, column)
                if value is None or value == "" or key in formulas:
                    continue
                if isinstance(value, NumberText):
                    value = value.text
                if type(value) in put:
                    put[type(value)](number[area.sheet], row, column, value)
                else:
                    unknown.add(key)
        cells = {key: (number[key[0]], *key[1:]) for key in _without(reads, unknown)}
        for key, at in cells.items():
            model.update_cell_with_formula(*at, f"={asked[key]}")
        model.evaluate()
        given = {key: model.get_cell_value(*at) for key, at in cells.items()
                 if model.get_cell_type(*at) != ironcalc.CellType.ErrorValue}  # fmt: skip
        return {key: value for key, value in given.items() if value is not None}
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # a panic in the engine is not an Exception
        return {}


class _NotKnown(ValueError):
    """A formula has functions, or reads cells, in a way not known here."""


def _understood(
    text: str, host: str, sheets: Mapping[str, str], names: Mapping[str, str]
) -> tuple[list[Place], str]:
    """The cells that a formula on a sheet reads, and the formula as the engine takes it.

    Raises:
        _NotKnown: if it has other functions, or `A:A`, `Table[Sum]`, cells of another workbook.
    """
    if not text:
        raise _NotKnown(text)
    tokens = [one for one in tokens_of(text) if one.type != "WHITE-SPACE"]
    ends = [("FUNC", "OPEN"), ("FUNC", "CLOSE"), ("SEP", "ARG")]
    in_array_formula = isinstance(text, InArray)
    within, read = ["SUMPRODUCT"] * in_array_formula, list[Place]()
    of_ranges = OF_RANGES | OF_ARRAYS if in_array_formula else OF_RANGES
    for n, token in enumerate(tokens):
        if token.subtype == "OPEN":
            within.append(token.value[:-1].upper().replace("_XLFN.", ""))
            if token.type not in ("FUNC", "PAREN") or within[-1] not in {"", *of_ranges, *OF_VALUES}:
                raise _NotKnown(token.value)
            token.value = REWRITTEN.get(within[-1], (token.value,))[0]
        elif token.subtype == "CLOSE":
            token.value = REWRITTEN.get(within.pop(), (token.value,))[-1]
        elif token.subtype == "ARG" and within[-1] in REWRITTEN:
            token.value = REWRITTEN[within[-1]][1]
        elif token.value.startswith("_xlpm.") and in_array_formula:  # of LAMBDA, or LET
            token.value = token.value.removeprefix("_xlpm.")
        elif token.type == "OPERAND" and token.subtype == "RANGE":
            area = parse_area(names.get(token.value.casefold(), token.value))
            sheet = sheets.get((area[0] or host).casefold()) if area else None
            if area is None or sheet is None:
                raise _NotKnown(token.value)
            place = place_of(sheet, *area[1])
            near = [(one.type, one.subtype) for one in (*tokens[n - 1 : n], *tokens[n + 1 : n + 2])]
            alone = bool(within) and len(near) == 2 and {*near} <= {*ends}
            if place.rows * place.columns > 1 and not (alone and within[-1] in of_ranges):
                in_array = any(kind == "OPERATOR-INFIX" for kind, _ in near)
                if "SUMPRODUCT" not in within:
                    raise _NotKnown(token.value)
                if alone and within[-1] in OF_NUMBERS:
                    token.value = f"({token.value}*1)"
                elif not in_array and any(within[len(within) - within[::-1].index("SUMPRODUCT") :]):
                    raise _NotKnown(token.value)
            read.append(place)
    return read, "".join(token.value for token in tokens).replace("_xlfn.", "")


def _without(reads: Mapping[Key, Sequence[Place]], unknown: set[Key]) -> list[Key]:
    """The formulas that read no unknown cell, nor one that does; `unknown` takes in the others."""
    left, areas = dict(reads), {area for own in reads.values() for area in own}
    ends: dict[str, list[tuple[int, int]]] = {}
    for sheet, row, column in unknown | reads.keys():
        ends.setdefault(sheet, []).append((row, column))
    marks = {sheet: np.zeros(np.max(cells, axis=0) + 1, bool) for sheet, cells in ends.items()}
    inside = {
        area: marks[area.sheet][area.row : area.last_row + 1, area.column : area.last_column + 1]
        for area in areas
        if area.sheet in marks
    }
    while True:
        for sheet, row, column in unknown:
            marks[sheet][row, column] = True
        met = {area for area, marked in inside.items() if marked.any()}
        gone = {key for key, own in left.items() if not met.isdisjoint(own)}
        if not gone:
            return [*left]
        unknown |= gone
        left = {key: own for key, own in left.items() if key not in gone}
