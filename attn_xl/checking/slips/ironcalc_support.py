"""Where IronCalc computes what other programs do: functions and ways to use them, as tried against
LibreOffice (tests/test_check_engines.py). What is not here may be right, but proves nothing wrong."""

from __future__ import annotations

import re

from attn_xl.checking.blocks.templates import ARRAYS, CONSTANT, Template


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALIKE = _names("""
    ABS
    ACOS
    ACOSH
    ACOT
    ADDRESS
    AND
    ASIN
    ASINH
    ATAN
    ATAN2
    ATANH
    AVEDEV
    AVERAGE
    AVERAGEA
    AVERAGEIF
    AVERAGEIFS
    BASE
    BESSELJ
    BIN2DEC
    BINOMDIST
    BITAND
    BITLSHIFT
    BITOR
    BITXOR
    CEILING
    CEILING.MATH
    CHAR
    CHIDIST
    CHOOSE
    CLEAN
    CODE
    COLUMN
    COLUMNS
    COMBIN
    COMBINA
    COMPLEX
    CONCAT
    CONCATENATE
    CONFIDENCE
    CONVERT
    CORREL
    COS
    COSH
    COT
    COUNT
    COUNTA
    COUNTBLANK
    COUNTIF
    COUNTIFS
    COVAR
    COVARIANCE.P
    COVARIANCE.S
    CSC
    CUMIPMT
    CUMPRINC
    DATE
    DATEDIF
    DATEVALUE
    DAY
    DAYS
    DAYS360
    DB
    DDB
    DEC2BIN
    DEC2HEX
    DEGREES
    DELTA
    DEVSQ
    EDATE
    EFFECT
    EOMONTH
    ERF
    ERFC
    EVEN
    EXACT
    EXP
    EXPON.DIST
    EXPONDIST
    FACT
    FACTDOUBLE
    FALSE
    FDIST
    FIND
    FISHER
    FISHERINV
    FIXED
    FLOOR
    FLOOR.MATH
    FORECAST
    FV
    GAMMA
    GAMMALN
    GAUSS
    GCD
    GEOMEAN
    GESTEP
    HARMEAN
    HEX2DEC
    HLOOKUP
    HOUR
    IF
    IFERROR
    IFNA
    IFS
    INDEX
    INDIRECT
    INT
    INTERCEPT
    IPMT
    ISBLANK
    ISERR
    ISERROR
    ISEVEN
    ISLOGICAL
    ISNA
    ISNONTEXT
    ISNUMBER
    ISODD
    ISOWEEKNUM
    ISTEXT
    KURT
    LARGE
    LCM
    LEFT
    LEN
    LN
    LOG
    LOG10
    LOOKUP
    LOWER
    MATCH
    MAX
    MAXA
    MAXIFS
    MDETERM
    MEDIAN
    MID
    MIN
    MINIFS
    MINUTE
    MINVERSE
    MMULT
    MOD
    MONTH
    MROUND
    MULTINOMIAL
    N
    NA
    NETWORKDAYS
    NOMINAL
    NORM.DIST
    NORM.INV
    NORM.S.DIST
    NORM.S.INV
    NORMDIST
    NORMINV
    NORMSDIST
    NORMSINV
    NOT
    NPER
    NPV
    OCT2DEC
    ODD
    OFFSET
    OR
    PEARSON
    PERCENTILE
    PERCENTILE.EXC
    PERCENTILE.INC
    PERMUT
    PHI
    PI
    PMT
    POISSON
    POWER
    PPMT
    PRODUCT
    PROPER
    PV
    QUARTILE
    QUARTILE.EXC
    QUOTIENT
    RADIANS
    RANK
    RANK.AVG
    RANK.EQ
    RATE
    REPLACE
    REPT
    RIGHT
    ROMAN
    ROUND
    ROUNDDOWN
    ROUNDUP
    ROW
    ROWS
    RSQ
    SEARCH
    SEC
    SECOND
    SIGN
    SIN
    SINGLE
    SINH
    SKEW
    SLN
    SLOPE
    SMALL
    SQRT
    SQRTPI
    STANDARDIZE
    STDEV
    STDEV.P
    STDEV.S
    STDEVP
    STEYX
    SUBSTITUTE
    SUBTOTAL
    SUM
    SUMIF
    SUMIFS
    SUMPRODUCT
    SUMSQ
    SUMX2MY2
    SUMX2PY2
    SUMXMY2
    SWITCH
    SYD
    T
    T.DIST
    TAN
    TANH
    TDIST
    TEXTJOIN
    TIME
    TIMEVALUE
    TINV
    TRANSPOSE
    TRIM
    TRUE
    TRUNC
    UNICHAR
    UNICODE
    UPPER
    VALUE
    VAR
    VAR.P
    VAR.S
    VARP
    VLOOKUP
    WEEKDAY
    WEEKNUM
    WORKDAY
    XLOOKUP
    XMATCH
    XNPV
    XOR
    YEAR
    YEARFRAC
""")
"""Functions that agree when each argument is what they take: a single value, or a range."""
EACH = _names("""
    ABS
    ACOS
    ACOSH
    ACOT
    ASIN
    ASINH
    ATAN
    ATANH
    CHOOSE
    CLEAN
    COS
    COSH
    COT
    CSC
    DATE
    DAY
    DEGREES
    EVEN
    EXACT
    EXP
    FACT
    FIND
    IF
    IFERROR
    INT
    ISOWEEKNUM
    LEFT
    LEN
    LN
    LOG10
    LOWER
    MID
    MONTH
    ODD
    POWER
    PROPER
    RADIANS
    REPLACE
    REPT
    RIGHT
    SEARCH
    SEC
    SIGN
    SIN
    SINH
    SQRT
    SUBSTITUTE
    TAN
    TANH
    TRIM
    UPPER
    WEEKDAY
    YEAR
""")
"""Functions of single values that agree, too, when they compute each cell of an array."""
_WHOLE = _names("""
    AND
    AVEDEV
    AVERAGE
    AVERAGEA
    COLUMNS
    CONCAT
    CORREL
    COUNT
    COUNTA
    COUNTBLANK
    COVAR
    COVARIANCE.P
    COVARIANCE.S
    DEVSQ
    GEOMEAN
    HARMEAN
    INTERCEPT
    KURT
    MAX
    MAXA
    MDETERM
    MEDIAN
    MIN
    OR
    PEARSON
    PRODUCT
    ROWS
    RSQ
    SKEW
    SLOPE
    STDEV
    STDEV.P
    STDEV.S
    STDEVP
    STEYX
    SUBTOTAL
    SUM
    SUMPRODUCT
    SUMSQ
    SUMX2MY2
    SUMX2PY2
    SUMXMY2
    TEXTJOIN
    VAR
    VAR.P
    VAR.S
    VARP
""")
"""Functions that make one value from a whole array."""
_THROUGH = frozenset(["TRANSPOSE", "MMULT", "MINVERSE", "ROW", "COLUMN", "SINGLE", CONSTANT])
"""What takes a whole array and gives one; INDEX does, of its first argument."""
_OF_FIRST = _names("""
    COUNTIF
    LARGE
    PERCENTILE
    PERCENTILE.EXC
    PERCENTILE.INC
    QUARTILE
    QUARTILE.EXC
    SMALL
""")
_OF_SECOND = _names("""
    HLOOKUP
    MATCH
    RANK
    RANK.AVG
    RANK.EQ
    VLOOKUP
    XMATCH
""")
_RANGES = {
    **{name: {0} for name in _OF_FIRST},
    **{name: {1} for name in _OF_SECOND},
    **{name: {0, 2} for name in ("AVERAGEIF", "SUMIF")},
    **{name: {1, 2} for name in ("FORECAST", "LOOKUP", "XLOOKUP")},
    **{name: {0, *range(1, 254, 2)} for name in _names("AVERAGEIFS MAXIFS MINIFS SUMIFS")},
    "COUNTIFS": set(range(0, 254, 2)),
}
"""Functions that make one value from ranges, the arguments with these numbers, and single values."""
_OTHERWISE = (
    # Blank cells are not "x", and do count.
    (
        re.compile(r'\b(?:COUNT|SUM|AVERAGE|MAX|MIN)IFS?\([^()]*"<>[^"&]'),
        _names("COUNTIF COUNTIFS SUMIF SUMIFS AVERAGEIF AVERAGEIFS MAXIFS MINIFS"),
    ),
    # The sum's range is as large as the criterion's.
    (re.compile(r"\bSUMIF\([^()]*,[^()]*,[^():,]*§\)"), _names("SUMIF")),
    # Where no other value is given, FALSE is none to AVERAGE.
    (re.compile(r"\bIF\((?:[^(),]|\([^()]*\))*,(?:[^(),]|\([^()]*\))*\)"), _names("IF")),
    # A list picks several.
    (re.compile(r"\bCHOOSE\(\{"), _names("CHOOSE")),
    # Errors are passed over.
    (re.compile(r"\bLOOKUP\([^,]*,[^,]*/"), _names("LOOKUP")),
)  # fmt: skip
"""Ways to use functions that are ALIKE on arrays in which IronCalc does otherwise."""


def doubtful(template: Template, array: bool) -> frozenset[str]:
    """The functions of a formula for which IronCalc proves nothing.

    Args:
        array: whether it is an array formula, in which all compute with arrays.
    """
    found = template.functions - ALIKE
    on_arrays = {name for chain in template.arrays for name, _ in chain}
    for way, names in _OTHERWISE:
        if not on_arrays.isdisjoint(names) and way.search(template.text):
            found |= names & on_arrays
    return found.union(*(_of_each(chain, array) - EACH for chain in template.arrays))


def must_be_entered(template: Template) -> bool:
    """Whether IronCalc would take one cell of an array in a formula that it reads from a file."""
    return any(_of_each(chain, False) for chain in template.arrays)


def _of_each(chain: tuple[tuple[str, int], ...], array: bool) -> frozenset[str]:
    """The functions of single values that get an array, which stands in `chain`, cell by cell."""
    names = {name for name, _ in chain}
    if not array and CONSTANT not in names and ARRAYS.isdisjoint(names):
        return frozenset()
    found = set()
    for name, argument in chain:
        if name in _WHOLE or argument in _RANGES.get(name, ()):
            break
        if name not in _THROUGH and (name, argument) != ("INDEX", 0):
            found.add(name)
    return frozenset(found)
