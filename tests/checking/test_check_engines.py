"""What IronCalc computes as LibreOffice does: the lists of `ironcalc_support.py`, tried out. Where the
two differ, `attn-xl check` must not call a stored value wrong."""

from __future__ import annotations

import datetime
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from conftest import by_libreoffice
from openpyxl.worksheet.formula import ArrayFormula
from test_check import cells_of, kinds, numbered

from attn_xl.checking.check import check_workbook
from attn_xl.checking.function_support import lacking
from attn_xl.spreadsheets.engines import recalculated_by_libreoffice
from attn_xl.spreadsheets.ironcalc_support import ALIKE, EACH

DAYS = [datetime.date(2024, 1, 31) + datetime.timedelta(days=40 * i) for i in range(5)]
COLUMNS: dict[str, list[Any]] = {
    "n": [1.25, -2.5, 3.75, 4.5, 5.125],
    "i": [3, 8, 2, 10, 5],
    "t": ["abc", "x yz", " Pq ", "12", "abc"],
    "d": DAYS,
    "p": [0.1, 0.25, 0.5, 0.75, 0.9],
    "m": [3, 1, 2, 2, 3],
    "s": ["1", "2.5", "3", "4", "-5"],
    "x": [1, "a", None, 2.5, 7],
    "w": [1, 2, 4, 8, 16],
}
"""Numbers, whole ones, texts, days, shares, ones to choose by, numbers as text, a mixture, weights;
in A1 to I5."""
# fmt: off
CALLS = re.split(r" \| |\n", """\
ABS(n) | ACOS(p) | ACOSH(i) | ACOT(n) | ADDRESS(i,1) | ASIN(p) | ASINH(n) | ATAN(n) | ATAN2(n,i)
ATANH(p) | BASE(i,2) | BESSELJ(p,1) | BIN2DEC(10+m*0) | BINOMDIST(2,i,p,FALSE) | BITAND(i,3)
BITLSHIFT(i,1) | BITOR(i,3) | BITXOR(i,3) | CEILING(n,0.5) | CEILING.MATH(n) | CHAR(i+60)
CHIDIST(p,2) | CHOOSE(m,"a","b","c") | CLEAN(t) | CODE(t) | COMBIN(i+3,2) | COMBINA(i,2)
COMPLEX(i,1) | CONCATENATE(t,i) | CONVERT(n,"m","km") | COS(n) | COSH(n) | COT(n) | CSC(n)
DATE(2024,i,m) | DATEDIF(d,$D$5,"d") | DATEVALUE("2024-01-0"&m) | DAY(d) | DAYS(d,$D$1)
DAYS360(d,$D$5) | DEC2BIN(i) | DEC2HEX(i) | DEGREES(n) | DELTA(i,3) | EDATE(d,1) | EFFECT(p,i)
EOMONTH(d,1) | ERF(p) | ERFC(p) | EVEN(n) | EXACT(t,"abc") | EXP(n) | EXPON.DIST(p,1,TRUE)
EXPONDIST(p,2,TRUE) | FACT(i) | FACTDOUBLE(i) | FDIST(i,2,4) | FIND("b",t&"b") | FISHER(p)
FISHERINV(p) | FIXED(n,1) | FLOOR(p,0.1) | FLOOR.MATH(n) | FV(0.1,i,-1) | GAMMA(i) | GAMMALN(i)
GAUSS(p) | GCD(i,4) | GESTEP(i,4) | HEX2DEC(i) | HLOOKUP($B$1,$B$1:$C$5,m,FALSE) | HOUR(p)
IF(i>3,n,m) | IFERROR(1/(i-3),0) | IFNA(i,0) | IFS(m>2,1,TRUE,2) | INT(n) | ISBLANK(x)
ISERR(1/(i-3)) | ISERROR(1/(i-3)) | ISEVEN(i) | ISLOGICAL(x) | ISNA(x) | ISNONTEXT(x) | ISNUMBER(x)
ISODD(i) | ISOWEEKNUM(d) | ISTEXT(x) | LCM(i,4) | LEFT(t,1) | LEFT(t,m) | LEN(t) | LN(p) | LOG(p)
LOG(p,2) | LOG10(p) | LOWER(t) | MID(t,2,2) | MID(t,m,i) | MINUTE(p) | MOD(i,3) | MONTH(d)
MROUND(i,2) | N(x) | NETWORKDAYS(d,$D$5) | NOMINAL(p,i) | NORM.DIST(n,0,1,TRUE) | NORM.INV(p,0,1)
NORM.S.DIST(n,TRUE) | NORM.S.INV(p) | NORMDIST(n,0,1,TRUE) | NORMINV(p,0,1) | NORMSDIST(n)
NORMSINV(p) | NOT(i>3) | NPER(0.01,-1,i) | NUMBERVALUE(s,".") | OCT2DEC(m) | ODD(n) | PERMUT(i,2)
PHI(n) | PMT(0.1,i,-1) | POISSON(i,2,FALSE) | POWER(n,2) | POWER(i,m) | PROPER(t) | PV(0.1,i,-1)
QUOTIENT(i,3) | RADIANS(n) | RATE(i+9,-100,800) | REPLACE(t,1,1,"z") | REPT(t,2) | RIGHT(t,1)
ROMAN(i) | ROUND(n,0) | ROUNDDOWN(n,0) | ROUNDUP(n,0) | SEARCH("B",t&"b") | SEC(n) | SECOND(p)
SIGN(n) | SIN(n) | SINH(n) | SLN(100,10,i) | SQRT(i) | SQRTPI(i) | STANDARDIZE(n,1,2)
SUBSTITUTE(t,"b","z") | SWITCH(m,1,"a",2,"b","c") | SYD(100,10,5,m) | T(x) | T.DIST(p,2,TRUE) | TAN(n)
TANH(n) | TDIST(p,2,2) | TEXT(p/2,"0.00") | TIME(m,0,0)*24 | TIMEVALUE("1"&m&":00") | TINV(p,2)
TRIM(t) | TRUNC(n) | UNICHAR(i+60) | UNICODE(t) | UPPER(t) | VALUE(s) | WEEKDAY(d) | WEEKDAY(d,2)
WEEKNUM(d) | WORKDAY(d,1) | XOR(m>1,TRUE) | YEAR(d) | YEARFRAC(d,$D$5) | INDEX($A$1:$A$5,m)
LARGE($B$1:$B$5,m) | SMALL($B$1:$B$5,m) | LOOKUP(m,$I$1:$I$5) | MATCH(i,$B$1:$B$5,0)
XMATCH(i,$B$1:$B$5) | VLOOKUP(i,$B$1:$C$5,2,FALSE) | XLOOKUP(i,$B$1:$B$5,$A$1:$A$5)
COUNTIF($F$1:$F$5,m) | COUNTIF($B$1:$B$5,">"&i) | COUNTIFS($F$1:$F$5,m) | SUMIF($F$1:$F$5,m,$A$1:$A$5)
SUMIFS($A$1:$A$5,$F$1:$F$5,m) | AVERAGEIF($F$1:$F$5,m,$A$1:$A$5) | MAXIFS($A$1:$A$5,$F$1:$F$5,m)
PERCENTILE($B$1:$B$5,p) | RANK(i,$B$1:$B$5) | QUARTILE($B$1:$B$5,m) | FORECAST(i,$A$1:$A$5,$B$1:$B$5)
n+i | n*i | n-i | n/i | n^2 | -n | n% | t&"x" | (n>2)*1 | (t="abc")*1""")
"""Functions of single values, and such of ranges and single values."""
WHOLE = re.split(r" \| |\n", """\
COUNTIF(H1:H5,"") | COUNTIF(H1:H5,"=") | COUNTIF(H1:H5,"<>") | COUNTIF(H1:H5,"<>a")
COUNTIF(C1:C5,"a*") | COUNTIF(C1:C5,"?bc") | COUNTIF(C1:C5,"ABC") | COUNTIF(B1:B5,"3")
COUNTIF(B1:B5,">="&B1) | COUNTIF(B1:B5,"<>3") | COUNTIFS(H1:H5,"<>a")
COUNTIFS(B1:B5,">2",B1:B5,"<9") | SUMIF(H1:H5,"<>a",A1:A5) | SUMIF(H1:H5,"",A1:A5)
SUMIFS(A1:A5,H1:H5,"<>a") | SUMIFS(A1:A5,H1:H5,"") | AVERAGEIF(H1:H5,"<>a",A1:A5)
MAXIFS(A1:A5,H1:H5,"<>a") | AVERAGEIFS(A1:A5,H1:H5,"<>a") | AVERAGEIFS(A1:A5,B1:B5,">2")
MINIFS(A1:A5,B1:B5,">2") | SUMIF(B1:B5,">2",A1) | SUMIF(B1:B5,">2")
COUNTIF(D1:D5,">="&DATE(2024,3,1)) | LOOKUP(2,1/(B1:B5=8),A1:A5) | MATCH(9,I1:I5)
MATCH("a*",C1:C5,0) | VLOOKUP(9,I1:I5,1) | VLOOKUP("ABC",C1:E5,3,FALSE) | SUM(INDEX(A1:B5,0,2))
INDEX(A1:B5,MATCH(10,B1:B5,0),1) | "a"="A" | H3="" | H3=0 | H3&"x" | 1/3&"" | "share "&2/3 | "5"+1
"5"*"2" | "a">1 | AVERAGE(A1:A5) | AVERAGEA(A1:A5) | MAX(C1:C5) | MIN(B1:B5) | MAXA(A1:A5)
COUNT(A1:I5) | COUNTA(H1:H5) | -2^2 | 2^3^2 | COUNTBLANK(H1:H5) | MOD(-7,3) | MOD(7,-3)
ROUND(-2.5,0) | ROUND(1.005,2) | ROUND(1234.5,-2) | INT(-2.5) | VALUE(" 12 ") | VALUE("1,234")
VALUE("50%") | TEXT(0.125,"0.00") | TEXT(2.5,"0") | TEXT(1234567.891,"#,##0.00") | FIXED(1234.567,1)
TEXT(D1,"dd.mm.yyyy") | IFERROR(FIND("q","abc"),0) | IFERROR(VLOOKUP(99,B1:C5,2,FALSE),"none")
AND(A1>0,B1>0) | SUBTOTAL(9,A1:A5) | SUBTOTAL(3,C1:C5) | OR(A1>5,B1>2) | SUM(CHOOSE(2,A1:A5,B1:B5))
SUM(OFFSET(A1,0,0,3,1)) | SUM(INDIRECT("A1:A3")) | SUMPRODUCT(A1:A5,B1:B5)
SUMPRODUCT(A1:A5,--(B1:B5>2)) | SUMPRODUCT(A1:A5/B1:B5) | SUMPRODUCT((C1:C5="abc")*(B1:B5>2)*A1:A5)
SUMPRODUCT((A1:A5-B1:B5)^2) | SUMPRODUCT(A1:A5*(B1:B5=MAX(B1:B5))) | SUMPRODUCT((H1:H5<>"")*1)
SUMPRODUCT(--(H1:H5="")) | SUMPRODUCT(1/COUNTIF(F1:F5,F1:F5)) | SUM({1,2,3}*{4,5,6})
SUMPRODUCT((C1:C5<>"")/COUNTIF(C1:C5,C1:C5&"")) | SUMPRODUCT(A1:B2*{1,2;3,4})
SUM(LARGE(B1:B5,{1,2})) | SUMPRODUCT(LARGE(B1:B5,{1,2,3})) | SUMPRODUCT(LARGE(B1:B5,ROW(1:3)))
SUMPRODUCT(ROW(A1:A5)*A1:A5) | SUMPRODUCT((MOD(ROW(A1:A5),2)=0)*A1:A5)
SUMPRODUCT(A1:B2*TRANSPOSE(A1:B2)) | SUM(MMULT(A1:B2,A1:B2)) | SUMPRODUCT(COUNTIF(F1:F5,{1,2}))
SUM(COUNTIF(F1:F5,{1,2})) | SUM(SUMIF(F1:F5,{1,2},A1:A5)) | SUMPRODUCT(SUMIF(F1:F5,B1:B5,A1:A5))
SUMPRODUCT(ISNUMBER(SEARCH("b",C1:C5))*A1:A5) | SUMPRODUCT(--ISNUMBER(MATCH(B1:B5,F1:F5,0)))
SUMPRODUCT((TEXT(D1:D5,"yyyy-mm")="2024-03")*A1:A5) | SUMPRODUCT(--(LEN(TRIM(C1:C5))>2))
SUMPRODUCT(--(YEAR(D1:D5)=2024),A1:A5) | SUMPRODUCT(A1:A5*IF(B1:B5>4,1,0))
SUMPRODUCT(ROUND(EXP(A1:A5),1)) | SUMPRODUCT(EXP(ROUND(A1:A5,1))) | SUMPRODUCT(ABS(INDEX(A1:B5,0,1)))
SUMPRODUCT(MONTH(OFFSET(D1,0,0,5,1))) | SUMPRODUCT(ROUND(OFFSET(A1,0,0,5,1),0))
SUMPRODUCT(MAX((B1:B5>2)*A1:A5)) | RANK(B1,B1:B5,1) | RANK.EQ(F1,F1:F5) | RANK.AVG(F1,F1:F5)
MEDIAN(A1:A5) | MODE(F1:F5) | STDEV(A1:A5) | STDEVP(A1:A5) | STDEV.S(A1:A5) | STDEV.P(A1:A5)
VAR(A1:A5) | VARP(A1:A5) | VAR.S(A1:A5) | VAR.P(A1:A5) | PERCENTILE.INC(B1:B5,0.3)
PERCENTILE.EXC(B1:B5,0.3) | QUARTILE.EXC(B1:B5,1) | PERCENTRANK(B1:B5,5) | CORREL(A1:A5,B1:B5)
SLOPE(A1:A5,B1:B5) | INTERCEPT(A1:A5,B1:B5) | PEARSON(A1:A5,B1:B5) | RSQ(A1:A5,B1:B5)
STEYX(A1:A5,B1:B5) | COVAR(A1:A5,B1:B5) | COVARIANCE.P(A1:A5,B1:B5) | COVARIANCE.S(A1:A5,B1:B5)
SKEW(A1:A5) | KURT(A1:A5) | GEOMEAN(B1:B5) | HARMEAN(B1:B5) | AVEDEV(A1:A5) | DEVSQ(A1:A5)
SUMSQ(A1:A5) | SUMXMY2(A1:A5,B1:B5) | SUMX2MY2(A1:A5,B1:B5) | SUMX2PY2(A1:A5,B1:B5) | PRODUCT(A1:A5)
MULTINOMIAL(2,3) | MDETERM(A1:B2) | INDEX(MINVERSE(A1:B2),1,1) | NPV(0.1,B1:B5)
XNPV(0.1,A1:A5,D1:D5) | IRR(J1:J5) | IPMT(0.05,1,10,800) | PPMT(0.05,1,10,800)
CUMIPMT(0.05,10,800,1,3,0) | CUMPRINC(0.05,10,800,1,3,0) | DB(1000,100,5,1) | DDB(1000,100,5,1)
RATE(10,-100,800) | CONFIDENCE(0.05,2,10) | CONCAT(C1:C5) | PI() | ROW() | COLUMN()
TEXTJOIN(",",TRUE,C1:C5) | ROWS(A1:B5) | COLUMNS(A1:B5) | ISNA(NA()) | NUMBERVALUE("2,5",",") | TRUE()
FALSE() | CHISQ.DIST.RT(3,2) | BINOM.DIST(2,5,0.4,TRUE) | WEEKNUM(D1,2) | DATE(2024,2,30) | ATAN2(1,2)
SUM(A1:A5,10)""")
"""Functions of whole ranges, and ways to use them that are common or treacherous."""


# fmt: on


def put(call: str, row: int | None = None) -> str:
    """A call with the cells of a row of COLUMNS, or with the columns as ranges."""
    rows = f"{{0}}{row}" if row else "{0}1:{0}5"
    return re.sub(
        r'(?<![A-Za-z"$.])[nitdpmsxw](?![A-Za-z"(:.])',
        lambda found: rows.format("ABCDEFGHI"[[*COLUMNS].index(found[0])]),
        call,
    )


def as_in_files(formula: str) -> str:
    newer = set(re.findall(r"([A-Z.0-9]+)\(", formula))
    for name in sorted(name for name in newer if "Excel 2007" in str(lacking([name])) or "." in name):
        formula = re.sub(rf"(?<![A-Z.]){re.escape(name)}\(", f"_xlfn.{name}(", formula)
    for name in ("IFS", "SWITCH", "CONCAT", "TEXTJOIN", "MAXIFS", "MINIFS", "XLOOKUP", "XMATCH"):
        formula = re.sub(rf"(?<![A-Z.]){name}\(", f"_xlfn.{name}(", formula)
    return "=" + formula


@by_libreoffice
def test_no_value_that_libreoffice_computes_is_called_wrong(tmp_path: Path) -> None:
    """Each function with single values, in SUMPRODUCT, in array formulas of five cells and of one."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "s"
    for column, values in enumerate([*COLUMNS.values(), [-9, 3, 4, 5, 2]], 1):
        for row, value in enumerate(values, 1):
            sheet.cell(row, column, value)
    at: dict[str, str] = {}
    for row, call in enumerate(WHOLE, 1):
        sheet.cell(row, 27, as_in_files(call))
        at[f"AA{row}"] = call
    for number, call in enumerate(CALLS):
        many = ArrayFormula(f"AD{6 * number + 1}:AD{6 * number + 5}", as_in_files(put(call)))
        sheet[f"AD{6 * number + 1}"] = many
        for k in range(1, 6):
            cells = [f"{column}{6 * number + k}" for column in ("AB", "AC", "AD", "AE")]
            same = f"({put(call)}={put(call, k)})*$I$1:$I$5)"
            sheet[cells[0]] = as_in_files(put(call, k))
            sheet[cells[1]] = as_in_files(f"SUMPRODUCT({same}")
            sheet[cells[3]] = ArrayFormula(cells[3], as_in_files(f"SUM({same}"))
            at |= dict.fromkeys(cells, call)
    book.save(tmp_path / "in.xlsx")
    (path,) = recalculated_by_libreoffice([tmp_path / "in.xlsx"], tmp_path / "out")
    found: dict[str, set[str]] = defaultdict(set)
    report = check_workbook(path)
    for finding in report.findings:
        cells = cells_of(finding.cells)
        found[finding.kind] |= {f"{cell} {call}" for cell, call in at.items() if cells_of(cell) & cells}
    assert report.checked > 0.6 * report.formulas
    assert not found["value"]
    tried = set(re.findall(r"([A-Z][A-Z0-9.]*)\(", " ".join([*CALLS, *WHOLE])))
    assert {"SINGLE"} >= ALIKE - tried
    assert EACH <= ALIKE


@pytest.mark.parametrize(
    ("formula", "stale"),
    [
        ("=SUMPRODUCT((MONTH(A1:A3)=2)*B1:B3)", True), ("=SUMPRODUCT(ROUND(EXP(B1:B3),1))", False),
        ("=SUMPRODUCT(1/COUNTIF(B1:B3,B1:B3))", False), ('=COUNTIF(C1:C3,"<>x")', False),
        ('=COUNTIF(C1:C3,"x")', True), ("=1/(B1-B1)", True), ('=_xlfn.NUMBERVALUE("2,5",",")', False),
        ("=SUM(LARGE(B1:B3,{1,2}))", False), ("=LARGE(B1:B3,2)", True),
    ],
)  # fmt: skip
def test_what_ironcalc_may_compute_otherwise_proves_nothing(
    formula: str, stale: bool, tmp_path: Path
) -> None:
    rows = [[45300, 1, "x", formula, "=D1*2", "=B1*3"], [45330, 2, None], [45340, 3, "y"]]
    path = numbered(rows, {"D1": 77.0, "E1": 154.0, "F1": 3.0}, tmp_path / "a.xlsx")
    found = kinds(path)
    found.pop("function", None)
    assert found == ({"value": "D1"} if stale else {"unchecked": "D1:E1"})


def test_what_is_made_from_a_value_in_doubt_that_is_right_is_checked(tmp_path: Path) -> None:
    rows = [[1.0, 2.0, '=_xlfn.NUMBERVALUE("2.5",".")', "=C1*2"]]
    assert kinds(numbered(rows, {"C1": 2.5, "D1": 6.0}, tmp_path / "a.xlsx"))["value"] == "D1"


@pytest.mark.parametrize(("text", "found"), [("a0.333333333333333", []), ("a0.33", ["value"])])
def test_the_digits_of_numbers_within_texts(text: str, found: list[str], tmp_path: Path) -> None:
    """Programs write 15 digits of a number that they join to a text, IronCalc 16."""
    book = xlsxwriter.Workbook(str(tmp_path / "a.xlsx"))
    sheet = book.add_worksheet("s")
    sheet.write_row(0, 0, [1, 3])
    sheet.write_formula(0, 2, '="a"&A1/B1', None, text)
    book.close()
    assert [*kinds(tmp_path / "a.xlsx")] == found
