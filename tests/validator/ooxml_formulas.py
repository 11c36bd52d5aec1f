"""Whether a formula is one that Excel can read: its grammar and its limits. Knows no file.

Source: ECMA-376 part 1, 18.17; [MS-XLSX] 2.2.2; Microsoft's "Excel specifications and limits".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field

LONGEST, LARGEST, DEEPEST, LONGEST_TEXT, MOST_ARGUMENTS = 8192, 16384, 64, 255, 255
MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384

_M = MOST_ARGUMENTS
_ARGUMENTS = f"""
ABS 1 ACOS 1 ACOSH 1 ADDRESS 2-5 AND 1-{_M} ASIN 1 ASINH 1 ATAN 1 ATAN2 2 ATANH 1 AVERAGE 1-{_M}
AVERAGEA 1-{_M} AVERAGEIF 2-3 CEILING 2 CHAR 1 CHOOSE 2-{_M} CODE 1 COLUMN 0-1 COLUMNS 1
CONCATENATE 1-{_M} COS 1 COSH 1 COUNT 1-{_M} COUNTA 1-{_M} COUNTBLANK 1 COUNTIF 2 COUNTIFS 2-{_M}
DATE 3 DEGREES 1 DEVSQ 1-{_M} ERF 1-2 ERFC 1 ERROR.TYPE 1 EVEN 1 EXACT 2 EXP 1 FACT 1 FALSE 0 FIND 2-3
FIXED 1-3 FLOOR 2 FREQUENCY 2 GEOMEAN 1-{_M} HLOOKUP 3-4 HYPERLINK 1-2 IF 1-3 IFERROR 2 INDEX 2-4
INDIRECT 1-2 INT 1 ISBLANK 1 ISERR 1 ISERROR 1 ISEVEN 1 ISLOGICAL 1 ISNA 1 ISNONTEXT 1 ISNUMBER 1
ISODD 1 ISREF 1 ISTEXT 1 LARGE 2 LEFT 1-2 LEN 1 LN 1 LOG 1-2 LOG10 1 LOOKUP 2-3 LOWER 1 MATCH 2-3
MAX 1-{_M} MAXA 1-{_M} MDETERM 1 MEDIAN 1-{_M} MID 3 MIN 1-{_M} MINVERSE 1 MMULT 2 MOD 2 N 1 NA 0
NORMDIST 4 NORMSDIST 1 NOT 1 NOW 0 ODD 1 OFFSET 3-5 OR 1-{_M} PI 0 POWER 2 PRODUCT 1-{_M} PROPER 1
QUOTIENT 2 RADIANS 1 RAND 0 RANDBETWEEN 2 RANK 2-3 REPLACE 4 REPT 2 RIGHT 1-2 ROUND 2 ROUNDDOWN 2
ROUNDUP 2 ROW 0-1 ROWS 1 SEARCH 2-3 SIGN 1 SIN 1 SINH 1 SMALL 2 SQRT 1 STDEV 1-{_M} STDEVP 1-{_M}
SUBSTITUTE 3-4 SUBTOTAL 2-{_M} SUM 1-{_M} SUMIF 2-3 SUMIFS 3-{_M} SUMPRODUCT 1-{_M} SUMSQ 1-{_M}
SUMX2MY2 2 SUMX2PY2 2 SUMXMY2 2 T 1 TAN 1 TANH 1 TEXT 2 TODAY 0 TRANSPOSE 1 TRIM 1 TRUE 0 TRUNC 1-2
UPPER 1 VALUE 1 VAR 1-{_M} VARP 1-{_M} VLOOKUP 3-4
_xlfn.ANCHORARRAY 1 _xlfn.BYCOL 2 _xlfn.BYROW 2 _xlfn.CHOOSECOLS 2-{_M} _xlfn.CHOOSEROWS 2-{_M}
_xlfn.CONCAT 1-{_M} _xlfn.DROP 2-3 _xlfn.ERF.PRECISE 1 _xlfn.EXPAND 2-4 _xlfn.FORMULATEXT 1
_xlfn.HSTACK 1-{_M} _xlfn.IFNA 2 _xlfn.IFS 2-{_M} _xlfn.LAMBDA 1-254 _xlfn.LET 3-253
_xlfn.MAKEARRAY 3 _xlfn.MAP 2-{_M} _xlfn.MUNIT 1 _xlfn.NORM.DIST 4 _xlfn.NORM.S.DIST 2
_xlfn.REDUCE 2-3 _xlfn.SCAN 2-3 _xlfn.SEQUENCE 1-4 _xlfn.SINGLE 1 _xlfn.STDEV.P 1-{_M}
_xlfn.STDEV.S 1-{_M} _xlfn.SWITCH 3-{_M} _xlfn.TAKE 2-3 _xlfn.TEXTJOIN 3-{_M} _xlfn.TOCOL 1-3
_xlfn.TOROW 1-3 _xlfn.VAR.P 1-{_M} _xlfn.VAR.S 1-{_M} _xlfn.VSTACK 1-{_M} _xlfn.WRAPCOLS 2-3
_xlfn.WRAPROWS 2-3 _xlfn.XLOOKUP 3-6 _xlfn.XMATCH 2-4 _xlfn._xlws.FILTER 2-3 _xlfn._xlws.SORT 1-4
_xlfn.UNIQUE 1-3 _xlfn.SORTBY 2-{_M} _xlfn.RANDARRAY 0-5 _xlfn.ISFORMULA 1 _xlfn.XOR 1-{_M}
"""
FUNCTIONS = {
    name: (int(count.split("-")[0]), int(count.split("-")[-1]))
    for name, count in re.findall(r"(\S+) (\d+(?:-\d+)?)", _ARGUMENTS)
}
_NEW = {name.rpartition(".")[2] if "._xlws." in name else name.removeprefix("_xlfn."): name
        for name in FUNCTIONS if name.startswith("_xlfn.")}  # fmt: skip

_CELL = r"\$?[A-Za-z]{1,3}\$?[0-9]+"
_TOKEN = re.compile(
    rf"""(?P<space>[ \n]+)
    |(?P<text>"(?:[^"]|"")*")
    |(?P<error>\#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A))
    |(?P<sheet>(?:'(?:[^']|'')+'|[^\W\d][\w.]*)!)
    |(?P<ref>(?:{_CELL}(?::{_CELL})?|\$?[0-9]+:\$?[0-9]+|\$?[A-Za-z]{{1,3}}:\$?[A-Za-z]{{1,3}})(?![\w.(!]))
    |(?P<function>[A-Za-z_][\w.]*\()
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?(?![\w.]))
    |(?P<name>[^\W\d][\w.?\\]*)
    |(?P<op><=|>=|<>|[-+*/^&=<>:%,;(){{}}])""",
    re.VERBOSE,
)
_BINARY = frozenset(["+", "-", "*", "/", "^", "&", "=", "<", ">", "<=", ">=", "<>", ":"])
_SIZES = {"ref": 13, "number": 9, "name": 5, "function": 4, "op": 1, "error": 2, "sheet": 2}
_BARE_SHEET = re.compile(r"[^\W\d][\w.]*")
_LIKE_CELL = re.compile(r"[A-Z]{1,3}[0-9]+|R|C|RC|(R|R?C)[0-9].*", re.IGNORECASE | re.DOTALL)
"""What Excel takes for a cell: in A1, or what begins like one in R1C1."""

Says = Callable[[str, str], None]


class _Wrong(Exception):
    """The formula cannot be read on."""


def units(text: str) -> int:
    """The length of a text as Excel counts it: in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def split_address(cell: str) -> tuple[int, int]:
    """Row and column of `$B$5`."""
    plain = cell.replace("$", "").upper()
    name = plain.rstrip("0123456789")
    column = 0
    for letter in name:
        column = 26 * column + ord(letter) - 64
    return int(plain[len(name) :] or 0), column


def area(reference: str) -> tuple[int, int, int, int]:
    """First row and column, last row and column of `$B$5:$D$8`, `B5`, `4:4` or `A:A`."""
    first, _, last = reference.partition(":")
    (r1, c1), (r2, c2) = split_address(first), split_address(last or first)
    return r1 or 1, c1 or 1, r2 or MAX_ROWS, c2 or MAX_COLUMNS


def inside(reference: str) -> bool:
    """Whether a reference is within a sheet."""
    r1, c1, r2, c2 = area(reference)
    zero = re.search(r"(?<![0-9])0", reference)
    return not zero and max(r1, r2) <= MAX_ROWS and max(c1, c2) <= MAX_COLUMNS


def needs_quotes(sheet: str) -> bool:
    """Whether a sheet's name must be in quotes in a formula."""
    bare = _BARE_SHEET.fullmatch(sheet) and not _LIKE_CELL.fullmatch(sheet)
    return not bare or sheet.upper() in ("TRUE", "FALSE")


@dataclass
class Names:
    """What a formula may speak of.

    Attributes:
        sheets: the names of all sheets, case-folded.
        names: the defined names, case-folded.
        seen: formulas that were right, with every row's number made 1.
    """

    sheets: Container[str]
    names: Container[str]
    seen: set[str] = field(default_factory=set)

    def check(self, formula: str, says: Says) -> None:
        """Say what is wrong with a formula, as (rule, what). Formulas that differ in rows only are
        read once."""
        rows = _ROWS_AND_QUOTED if "'" in formula else _ROWS
        key = rows.sub(lambda found: found[1] or "1", formula)
        if key in self.seen:
            return
        found: list[str] = []

        def say(rule: str, what: str) -> None:
            found.append(rule)
            says(rule, f"{what} in ={formula[:120]}")

        _Reader(formula, self, say).read()
        if not found and len(formula) < LONGEST // 2:
            self.seen.add(key)


_ROWS = re.compile(r"(?<=[A-Z$])()[1-9][0-9]{0,5}(?![\w.!'(])")
_ROWS_AND_QUOTED = re.compile(r"('(?:[^']|'')+'!)|" + _ROWS.pattern.replace("()", ""))


class _Reader:
    def __init__(self, formula: str, known: Names, says: Says) -> None:
        self._formula, self._known, self._says = formula, known, says
        self._at = self._depth = self._size = 0
        self._tokens: list[tuple[str, str]] = []
        self._local: set[str] = set()

    def read(self) -> None:
        formula = self._formula
        if units(formula) > LONGEST:
            self._says("formula-length", f"{units(formula)} characters")
        try:
            self._split()
            self._expression()
            if self._peek()[0]:
                raise _Wrong(f"{self._peek()[1]!r} is not expected")
        except _Wrong as error:
            self._says("formula-syntax", str(error))
            return
        except RecursionError:
            self._says("formula-nesting", "nested too deeply")
        if self._size > LARGEST:
            self._says("formula-size", f"about {self._size} bytes")

    def _split(self) -> None:
        at, formula = 0, self._formula
        if not formula:
            raise _Wrong("empty")
        while at < len(formula):
            found = _TOKEN.match(formula, at)
            if found is None:
                raise _Wrong(f"{formula[at : at + 10]!r} is no part of a formula")
            kind, text = str(found.lastgroup), found[0]
            at = found.end()
            if kind == "text":
                self._size += 3 + 2 * units(text)
                if units(text[1:-1].replace('""', '"')) > LONGEST_TEXT:
                    self._says("formula-text", f"a text of {len(text) - 2} characters")
            self._size += _SIZES.get(kind, 0)
            if kind != "space":
                self._tokens.append((kind, text))

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("", "the end")

    def _take(self, wanted: str = "") -> tuple[str, str]:
        token = self._peek()
        if wanted and token[1] != wanted:
            raise _Wrong(f"{token[1]!r} where {wanted!r} should be")
        self._at += 1
        return token

    def _expression(self) -> None:
        while True:
            while self._peek()[1] in ("+", "-"):
                self._take()
            self._operand()
            while self._peek()[1] == "%":
                self._take()
            if self._peek()[1] not in _BINARY or self._peek()[0] != "op":
                return
            self._take()

    def _operand(self) -> None:
        kind, text = self._take()
        if kind in ("text", "number", "error"):
            return
        if kind == "sheet":
            self._sheet(text[:-1])
            kind, text = self._take()
            if kind not in ("ref", "name", "error"):
                raise _Wrong(f"{text!r} after the name of a sheet")
            if kind == "name":
                return
        if kind == "ref":
            if not inside(text) and text.casefold() not in self._known.names:
                self._says("formula-limits", text)
        elif kind == "name":
            folded = text.casefold()
            if folded not in ("true", "false", *self._local) and folded not in self._known.names:
                self._says("formula-names", text)
        elif kind == "function":
            self._function(text[:-1])
        elif text == "(":
            self._deeper()
            self._expression()
            while self._peek()[1] == ",":  # a union of ranges
                self._take()
                self._expression()
            self._take(")")
            self._depth -= 1
        elif text == "{":
            self._array()
        else:
            raise _Wrong(f"{text!r} where an operand should be")

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth == DEEPEST + 1:
            self._says("formula-nesting", f"more than {DEEPEST} levels")

    def _sheet(self, text: str) -> None:
        quoted = text[0] == "'"
        name = text[1:-1].replace("''", "'") if quoted else text
        if name.casefold() not in self._known.sheets:
            self._says("formula-sheets", name)
        if not quoted and needs_quotes(name):
            self._says("formula-quotes", name)

    def _function(self, name: str) -> None:
        self._deeper()
        count = 0
        binds = name in ("_xlfn.LET", "_xlfn.LAMBDA")
        if self._peek()[1] != ")":
            while True:
                count += 1
                if binds and self._peek()[1].startswith("_xlpm."):
                    self._local.add(self._peek()[1].casefold())
                if self._peek()[1] not in (",", ")"):  # an argument may be left out
                    self._expression()
                if self._peek()[1] != ",":
                    break
                self._take()
        self._take(")")
        self._depth -= 1
        if name in FUNCTIONS:
            least, most = FUNCTIONS[name]
            if not least <= count <= most:
                self._says("formula-arguments", f"{name} with {count}")
        elif name in _NEW:
            self._says("formula-prefix", f"{name} is stored as {_NEW[name]}")
        elif name.startswith("_xlfn."):
            self._says("formula-prefix", f"{name} is none of the known new functions")
        else:
            self._says("formula-functions", name)

    def _array(self) -> None:
        """`{1,2;3,4}`: constants, all rows of the same length."""
        lengths, length = set(), 0
        while True:
            if self._peek()[1] in ("+", "-"):
                self._take()
            kind, text = self._take()
            if kind not in ("text", "number", "error") and text.upper() not in ("TRUE", "FALSE"):
                raise _Wrong(f"{text!r} in an array of constants")
            length += 1
            separator = self._take()[1]
            if separator != ",":
                lengths.add(length)
                length = 0
            if separator == "}":
                break
            if separator not in (",", ";"):
                raise _Wrong(f"{separator!r} in an array of constants")
        if len(lengths) != 1:
            raise _Wrong("rows of different lengths in an array of constants")
