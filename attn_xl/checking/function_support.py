"""Lists of volatile functions and of functions that some spreadsheet programs lack.

Sources: for the version of Excel that introduced a function, Microsoft, "Excel functions
(alphabetical)" and "Lookup and reference functions (reference)", support.microsoft.com, by their
version markers, and the list of future functions in the documentation of XlsxWriter, "Working with
Formulas"; LibreOffice, the release notes of 24.8 and 25.8 and the history of sc/inc/scfuncs.hrc;
Google, "Google Sheets function list", support.google.com/docs/table/25273; Apple, "What's new in
Numbers" of 14.4 and "Formulas and Functions Help"; Gnumeric, tested in 1.12.55, which returns #NAME?.
The lists are limited to what these sources state; other functions may be missing in some programs as
well.
"""

from __future__ import annotations

from collections.abc import Iterable

from attn_xl.spreadsheets.blocks.templates import names

VOLATILE = names("NOW TODAY RAND RANDBETWEEN RANDARRAY OFFSET INDIRECT CELL INFO")
"""Functions that are recalculated whenever anything changes."""

_2010 = names("""
    AGGREGATE BETA.DIST BETA.INV BINOM.DIST BINOM.INV CEILING.PRECISE CHISQ.DIST CHISQ.DIST.RT
    CHISQ.INV CHISQ.INV.RT CHISQ.TEST CONFIDENCE.NORM CONFIDENCE.T COVARIANCE.P COVARIANCE.S
    ERF.PRECISE ERFC.PRECISE EXPON.DIST F.DIST F.DIST.RT F.INV F.INV.RT F.TEST FLOOR.PRECISE
    GAMMA.DIST GAMMA.INV GAMMALN.PRECISE HYPGEOM.DIST LOGNORM.DIST LOGNORM.INV MODE.MULT MODE.SNGL
    NEGBINOM.DIST NETWORKDAYS.INTL NORM.DIST NORM.INV NORM.S.DIST NORM.S.INV PERCENTILE.EXC
    PERCENTILE.INC PERCENTRANK.EXC PERCENTRANK.INC POISSON.DIST QUARTILE.EXC QUARTILE.INC RANK.AVG
    RANK.EQ STDEV.P STDEV.S T.DIST T.DIST.2T T.DIST.RT T.INV T.INV.2T T.TEST VAR.P VAR.S
    WEIBULL.DIST WORKDAY.INTL Z.TEST
""")
_2013 = names("""
    ACOT ACOTH ARABIC BASE BINOM.DIST.RANGE BITAND BITLSHIFT BITOR BITRSHIFT BITXOR CEILING.MATH
    COMBINA COT COTH CSC CSCH DAYS DECIMAL ENCODEURL FILTERXML FLOOR.MATH FORMULATEXT GAMMA GAUSS
    IFNA IMCOSH IMCOT IMCSC IMCSCH IMSEC IMSECH IMSINH IMTAN ISFORMULA ISOWEEKNUM MUNIT NUMBERVALUE
    PDURATION PERMUTATIONA PHI RRI SEC SECH SHEET SHEETS SKEW.P UNICHAR UNICODE WEBSERVICE XOR
""")
_2019 = names("""
    CONCAT FORECAST.ETS FORECAST.ETS.CONFINT FORECAST.ETS.SEASONALITY FORECAST.ETS.STAT
    FORECAST.LINEAR IFS MAXIFS MINIFS SWITCH TEXTJOIN
""")
_2021 = names("FILTER LET RANDARRAY SEQUENCE SORT SORTBY UNIQUE XLOOKUP XMATCH")
_LAMBDA = names("BYCOL BYROW ISOMITTED LAMBDA MAKEARRAY MAP REDUCE SCAN")
_SHAPING = names("CHOOSECOLS CHOOSEROWS DROP EXPAND HSTACK TAKE TOCOL TOROW VSTACK WRAPCOLS WRAPROWS")
_TEXT = frozenset(["TEXTAFTER", "TEXTBEFORE", "TEXTSPLIT"])
_365 = names("ARRAYTOTEXT GROUPBY PERCENTOF PIVOTBY STOCKHISTORY TRIMRANGE VALUETOTEXT")
_SPILL = frozenset(["ANCHORARRAY"])
"""A1#, the range that a formula spills into."""
_MODERN = _2021 | _LAMBDA | _SHAPING | _TEXT | _365 | _SPILL

LACKING: dict[str, frozenset[str]] = {
    "Excel 2007": _2010,
    "Excel 2010": _2013,
    "Excel 2016": _2019 - {n for n in _2019 if n.startswith("FORECAST")},
    "Excel 2019": _MODERN,
    "LibreOffice before 24.8": _2021,
    "LibreOffice before 25.8": _SHAPING | _TEXT,
    "LibreOffice": _LAMBDA | _365 | _SPILL,
    "Google Sheets": names("AGGREGATE DROP EXPAND FILTERXML INFO SORTBY TAKE WEBSERVICE")
    | _TEXT
    | _365
    | _SPILL,
    "Gnumeric": (_MODERN - {"SORT"}) | {"AGGREGATE", "FILTERXML", "WEBSERVICE"},
    "Numbers before 14.4": _LAMBDA | _SHAPING | (_2021 - {"XLOOKUP", "XMATCH"}),
}
"""The functions that each program lacks, according to its makers or to a test."""


def lacking(functions: Iterable[str]) -> dict[str, list[str]]:
    """The programs that lack each function; functions that no program lacks are left out.

    Of the versions of Excel, only the newest one that lacks it is named, as "Excel 2016 and older".
    """
    found: dict[str, list[str]] = {}
    for function in sorted(set(functions)):
        programs = [program for program, lacks in LACKING.items() if function in lacks]
        if programs:
            found[function] = [f"{p} and older" if p.startswith("Excel 201") else p for p in programs]
    return found
