"""Whether a formula is one that Excel can read: its limits, and what it refers to. Knows no file; that
it computes, the engines show.

Source: ECMA-376 part 1, 18.17; [MS-XLSX] 2.2.2; Microsoft's "Excel specifications and limits".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from dataclasses import dataclass, field

from openpyxl.formula import Tokenizer
from openpyxl.formula.tokenizer import Token, TokenizerError
from openpyxl.utils import FORMULAE

LONGEST, DEEPEST, LONGEST_TEXT = 8192, 64, 255
MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384
_NEW = """
ANCHORARRAY BYCOL BYROW CHOOSECOLS CHOOSEROWS CONCAT DROP ERF.PRECISE EXPAND FILTER FORMULATEXT HSTACK
IFNA IFS ISFORMULA LAMBDA LET MAKEARRAY MAP MUNIT NORM.DIST NORM.S.DIST REDUCE SCAN SEQUENCE SINGLE SORT
STDEV.P STDEV.S SWITCH TAKE TEXTJOIN TOCOL TOROW UNIQUE VAR.P VAR.S VSTACK WRAPCOLS WRAPROWS XLOOKUP
XMATCH XOR
"""
NEW = {f: f"_xlfn.{'_xlws.' * (f in ('FILTER', 'SORT'))}{f}" for f in re.findall(r"\S+", _NEW)}
"""Functions of Excel 2010 and later, as a file spells them."""
_AREA = r"\$?[A-Za-z]{1,3}\$?[0-9]+(?::\$?[A-Za-z]{1,3}\$?[0-9]+)?"
_REFERENCE = re.compile(
    rf"(?:(?P<sheet>'(?:[^']|'')+'|[^\W\d][\w.]*)!)?"
    rf"(?:(?P<area>{_AREA}|\$?[A-Za-z]{{1,3}}:\$?[A-Za-z]{{1,3}}|\$?[0-9]+:\$?[0-9]+)"
    rf"|(?P<name>[^\W\d][\w.?\\]*))"
)
_LIKE_CELL = re.compile(r"[A-Z]{1,3}[0-9]+|R|C|RC|(R|R?C)[0-9].*|TRUE|FALSE", re.IGNORECASE | re.DOTALL)
"""What Excel takes for a cell: in A1, or what begins like one in R1C1."""
_ROWS = re.compile(r"('(?:[^']|'')+'!)|(?<=[A-Z$])[1-9][0-9]{0,5}(?![\w.!'(])")

Says = Callable[[str, str], None]


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
        key = _ROWS.sub(lambda found: found[1] or "1", formula)
        if key in self.seen:
            return
        found: list[str] = []

        def say(rule: str, what: str) -> None:
            found.append(rule)
            says(rule, f"{what} in ={formula[:120]}")

        self._read(formula, say)
        if not found and len(formula) < LONGEST // 2:
            self.seen.add(key)

    def _read(self, formula: str, says: Says) -> None:
        if units(formula) > LONGEST:
            says("formula-length", f"{units(formula)} characters")
        try:
            tokens = [token for token in Tokenizer(f"={formula}").items if token.type != Token.WSPACE]
        except (TokenizerError, IndexError) as error:
            says("formula-syntax", str(error))
            return
        around: list[str] = []
        before = Token.OP_IN
        for token in tokens:
            opens, closes = token.subtype == Token.OPEN, token.subtype == Token.CLOSE
            begins = before in (Token.OP_IN, Token.OP_PRE, Token.SEP, Token.OPEN)
            if (token.type == Token.OPERAND or opens) > begins or (
                token.type == Token.OP_IN and begins
            ):
                says("formula-syntax", f"{token.value!r} is not expected")
            if token.type == Token.SEP and token.value == ";" and Token.ARRAY not in around:
                says("formula-syntax", "a semicolon outside of an array")
            if opens:
                around.append(token.type)
            elif closes:
                around.pop()
            if len(around) == DEEPEST + 1 and opens:
                says("formula-nesting", f"more than {DEEPEST} levels")
            if opens and token.type == Token.FUNC:
                self._function(token.value[:-1], says)
            elif token.type == Token.OPERAND:
                self._operand(token, says)
            before = Token.OPEN if opens else Token.CLOSE if closes else token.type
        if not tokens or around or before in (Token.OP_IN, Token.OP_PRE):
            says("formula-syntax", "it ends too early")

    def _operand(self, token: Token, says: Says) -> None:
        if token.subtype == Token.TEXT and units(token.value[1:-1].replace('""', '"')) > LONGEST_TEXT:
            says("formula-text", f"a text of {len(token.value) - 2} characters")
        if token.subtype != Token.RANGE or token.value.startswith("_xlpm."):
            return
        found = _REFERENCE.fullmatch(token.value)
        if found is None:
            says("formula-syntax", token.value)
            return
        sheet, cells, name = found["sheet"], found["area"], found["name"]
        if sheet:
            plain = sheet[1:-1].replace("''", "'") if sheet[0] == "'" else sheet
            if plain.casefold() not in self.sheets:
                says("formula-sheets", plain)
            if sheet[0] != "'" and _LIKE_CELL.fullmatch(plain):
                says("formula-quotes", plain)
        if cells and not inside(cells) and cells.casefold() not in self.names:
            says("formula-limits", cells)
        if name and not sheet and name.casefold() not in self.names:
            says("formula-names", name)

    def _function(self, name: str, says: Says) -> None:
        if name in NEW:
            says("formula-prefix", f"{name} is stored as {NEW[name]}")
        elif name.startswith("_xlfn.") and name not in NEW.values():
            says("formula-prefix", f"{name} is none of the known new functions")
        elif not name.startswith("_xlfn.") and name not in FORMULAE:
            says("formula-functions", name)
