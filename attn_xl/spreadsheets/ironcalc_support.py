"""Functions, and uses of functions, for which IronCalc agrees with other programs, as tested against
LibreOffice (tests/checking/test_check_engines.py). Results of other functions are not evidence of a
mistake."""

from __future__ import annotations

import re

import numpy as np

from .blocks.dependents import made_from
from .blocks.references import Lookup
from .blocks.templates import ARRAYS, CONSTANT, Forms, Template, names
from .formulas import WIDTH, FormulaBook

UNSTEADY = names("NOW TODAY RAND RANDBETWEEN RANDARRAY CELL INFO")
"""Functions whose value differs from one calculation to the next."""

DATED = names("""
    DATE DATEDIF DATEVALUE DAY DAYS360 EDATE EOMONTH ISOWEEKNUM MONTH NETWORKDAYS TEXT WEEKDAY
    WEEKNUM WORKDAY YEAR YEARFRAC
""")
"""Functions of dates; their results depend on the date system, 1900 or 1904."""

ALIKE = names("""
    ABS ACOS ACOSH ACOT ADDRESS AND ASIN ASINH ATAN ATAN2 ATANH AVEDEV AVERAGE AVERAGEA AVERAGEIF
    AVERAGEIFS BASE BESSELJ BIN2DEC BINOMDIST BITAND BITLSHIFT BITOR BITXOR CEILING CEILING.MATH
    CHAR CHIDIST CHOOSE CLEAN CODE COLUMN COLUMNS COMBIN COMBINA COMPLEX CONCAT CONCATENATE
    CONFIDENCE CONVERT CORREL COS COSH COT COUNT COUNTA COUNTBLANK COUNTIF COUNTIFS COVAR
    COVARIANCE.P COVARIANCE.S CSC CUMIPMT CUMPRINC DATE DATEDIF DATEVALUE DAY DAYS DAYS360 DB DDB
    DEC2BIN DEC2HEX DEGREES DELTA DEVSQ EDATE EFFECT EOMONTH ERF ERFC EVEN EXACT EXP EXPON.DIST
    EXPONDIST FACT FACTDOUBLE FALSE FDIST FIND FISHER FISHERINV FIXED FLOOR FLOOR.MATH FORECAST FV
    GAMMA GAMMALN GAUSS GCD GEOMEAN GESTEP HARMEAN HEX2DEC HLOOKUP HOUR IF IFERROR IFNA IFS INDEX
    INDIRECT INT INTERCEPT IPMT ISBLANK ISERR ISERROR ISEVEN ISLOGICAL ISNA ISNONTEXT ISNUMBER ISODD
    ISOWEEKNUM ISTEXT KURT LARGE LCM LEFT LEN LN LOG LOG10 LOOKUP LOWER MATCH MAX MAXA MAXIFS
    MDETERM MEDIAN MID MIN MINIFS MINUTE MINVERSE MMULT MOD MONTH MROUND MULTINOMIAL N NA
    NETWORKDAYS NOMINAL NORM.DIST NORM.INV NORM.S.DIST NORM.S.INV NORMDIST NORMINV NORMSDIST
    NORMSINV NOT NPER NPV OCT2DEC ODD OFFSET OR PEARSON PERCENTILE PERCENTILE.EXC PERCENTILE.INC
    PERMUT PHI PI PMT POISSON POWER PPMT PRODUCT PROPER PV QUARTILE QUARTILE.EXC QUOTIENT RADIANS
    RANK RANK.AVG RANK.EQ RATE REPLACE REPT RIGHT ROMAN ROUND ROUNDDOWN ROUNDUP ROW ROWS RSQ SEARCH
    SEC SECOND SIGN SIN SINGLE SINH SKEW SLN SLOPE SMALL SQRT SQRTPI STANDARDIZE STDEV STDEV.P
    STDEV.S STDEVP STEYX SUBSTITUTE SUBTOTAL SUM SUMIF SUMIFS SUMPRODUCT SUMSQ SUMX2MY2 SUMX2PY2
    SUMXMY2 SWITCH SYD T T.DIST TAN TANH TDIST TEXTJOIN TIME TIMEVALUE TINV TRANSPOSE TRIM TRUE
    TRUNC UNICHAR UNICODE UPPER VALUE VAR VAR.P VAR.S VARP VLOOKUP WEEKDAY WEEKNUM WORKDAY XLOOKUP
    XMATCH XNPV XOR YEAR YEARFRAC
""")
"""Functions that agree if each argument has the kind they expect, a single value or a range."""
EACH = names("""
    ABS ACOS ACOSH ACOT ASIN ASINH ATAN ATANH CHOOSE CLEAN COS COSH COT CSC DATE DAY DEGREES EVEN
    EXACT EXP FACT FIND IF IFERROR INT ISOWEEKNUM LEFT LEN LN LOG10 LOWER MID MONTH ODD POWER PROPER
    RADIANS REPLACE REPT RIGHT SEARCH SEC SIGN SIN SINH SQRT SUBSTITUTE TAN TANH TRIM UPPER WEEKDAY
    YEAR
""")
"""Functions of single values that also agree when applied to each cell of an array."""
_WHOLE = names("""
    AND AVEDEV AVERAGE AVERAGEA COLUMNS CONCAT CORREL COUNT COUNTA COUNTBLANK COVAR COVARIANCE.P
    COVARIANCE.S DEVSQ GEOMEAN HARMEAN INTERCEPT KURT MAX MAXA MDETERM MEDIAN MIN OR PEARSON PRODUCT
    ROWS RSQ SKEW SLOPE STDEV STDEV.P STDEV.S STDEVP STEYX SUBTOTAL SUM SUMPRODUCT SUMSQ SUMX2MY2
    SUMX2PY2 SUMXMY2 TEXTJOIN VAR VAR.P VAR.S VARP
""")
"""Functions that reduce a whole array to one value."""
_THROUGH = frozenset(["TRANSPOSE", "MMULT", "MINVERSE", "ROW", "COLUMN", "SINGLE", CONSTANT])
"""Functions from arrays to arrays. INDEX is one in its first argument."""
_OF_FIRST = names("COUNTIF LARGE PERCENTILE PERCENTILE.EXC PERCENTILE.INC QUARTILE QUARTILE.EXC SMALL")
_OF_SECOND = names("HLOOKUP MATCH RANK RANK.AVG RANK.EQ VLOOKUP XMATCH")
_RANGES = {
    **{name: {0} for name in _OF_FIRST},
    **{name: {1} for name in _OF_SECOND},
    **{name: {0, 2} for name in ("AVERAGEIF", "SUMIF")},
    **{name: {1, 2} for name in ("FORECAST", "LOOKUP", "XLOOKUP")},
    **{name: {0, *range(1, 254, 2)} for name in names("AVERAGEIFS MAXIFS MINIFS SUMIFS")},
    "COUNTIFS": set(range(0, 254, 2)),
}
"""Functions that compute one value from ranges and single values; the numbers are those of the range
arguments."""
_ELSEWHERE = re.compile(r"\[[^\]]*\][^!\[\]]*!")
"""The file and the sheet in a reference to another workbook."""
_EXCEPTIONS = (
    # Blank cells differ from "x" and do count.
    (
        re.compile(r'\b(?:COUNT|SUM|AVERAGE|MAX|MIN)IFS?\([^()]*"<>[^"&]'),
        names("COUNTIF COUNTIFS SUMIF SUMIFS AVERAGEIF AVERAGEIFS MAXIFS MINIFS"),
    ),
    # The sum range is extended to the size of the criterion's range.
    (re.compile(r"\bSUMIF\([^()]*,[^()]*,[^():,]*§\)"), names("SUMIF")),
    # Without a third argument, the FALSE is skipped by AVERAGE.
    (re.compile(r"\bIF\((?:[^(),]|\([^()]*\))*,(?:[^(),]|\([^()]*\))*\)"), names("IF")),
    # A list picks several values.
    (re.compile(r"\bCHOOSE\(\{"), names("CHOOSE")),
    # Errors are skipped.
    (re.compile(r"\bLOOKUP\([^,]*,[^,]*/"), names("LOOKUP")),
)  # fmt: skip
"""Uses of functions in ALIKE on arrays for which IronCalc differs."""


def doubtful(template: Template, array: bool) -> frozenset[str]:
    """The functions of a formula for which IronCalc's result is unreliable.

    Args:
        array: whether the formula is an array formula, where every function computes with arrays.
    """
    found = template.functions - ALIKE
    on_arrays = {name for chain in template.arrays for name, _ in chain}
    for use, of in _EXCEPTIONS:
        if not on_arrays.isdisjoint(of) and use.search(template.text):
            found |= of & on_arrays
    return found.union(*(_of_each(chain, array) - EACH for chain in template.arrays))


def must_be_entered(template: Template) -> bool:
    """Whether IronCalc, reading the formula from a file, would reduce an array in it to one cell."""
    return any(_of_each(chain, False) for chain in template.arrays)


def _of_each(chain: tuple[tuple[str, int], ...], array: bool) -> frozenset[str]:
    """The functions of single values that are applied to each cell of the array inside `chain`."""
    around = {name for name, _ in chain}
    if not array and CONSTANT not in around and ARRAYS.isdisjoint(around):
        return frozenset()
    found = set()
    for name, argument in chain:
        if name in _WHOLE or argument in _RANGES.get(name, ()):
            break
        if name not in _THROUGH and (name, argument) != ("INDEX", 0):
            found.add(name)
    return frozenset(found)


def formulas_to_reenter(book: FormulaBook, forms: Forms) -> list[tuple[str, int, int, str]]:
    """The formulas that IronCalc must be given again after loading, by sheet, row and column, with
    their text. When it loads `SUMPRODUCT(EXP(B5:F5))` from a file, it reduces the range to one
    cell, unlike every other program; when the formula is entered, it does not."""
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


def doubts_of(book: FormulaBook, forms: Forms, engine: str) -> list[frozenset[str]]:
    """For each formula, its functions whose value varies from one calculation to the next, or that
    engines, or this engine, do not compute reliably."""
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


def uncertain_cells(book: FormulaBook, forms: Forms, lookup: Lookup) -> dict[str, set[int]]:
    """The cells, by sheet, whose value IronCalc may compute unlike other programs, and those that
    depend on them; values that differ from one calculation to the next are left out."""
    doubts = doubts_of(book, forms, "IronCalc")
    bad = [n for n, functions in enumerate(doubts) if functions - UNSTEADY]
    seeds = {
        name: sheet.keys[np.isin(np.maximum(sheet.formulas, sheet.spilled), bad)].tolist()
        for name, sheet in book.sheets.items()
    }
    return made_from(book, forms, lookup, seeds)
