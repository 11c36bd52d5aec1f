"""Array formulas that fill fewer cells than they compute. The number of rows and columns of a formula
follows from the rules of matrix algebra.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from openpyxl.formula import Tokenizer
from openpyxl.formula.tokenizer import Token, TokenizerError

from attn_xl.checking.blocks.references import ADDING
from attn_xl.checking.blocks.templates import OF_ONE, Forms
from attn_xl.checking.findings import Finding
from attn_xl.spreadsheets.addresses import parse_area
from attn_xl.spreadsheets.formulas import WIDTH, FormulaBook, SheetCells
from attn_xl.spreadsheets.ranges import spans

Size = tuple[int, int]
"""Rows and columns."""
_LONGEST = 8192  # characters: the limit of spreadsheet programs for a formula
_OF_ALL = ADDING - OF_ONE - {"MMULT", "MINVERSE"} | {"COUNT", "COUNTA", "ROWS", "COLUMNS"}
"""Functions that reduce all their arguments to one number."""
_MATRIX = ("MMULT(", "TRANSPOSE(")


def too_small(book: FormulaBook, forms: Forms) -> Iterator[Finding]:
    """Array formulas that compute more rows or columns than they fill, and single cells that show only
    the first number of a matrix product; of cells with equal templates, only the first."""
    alike: set[int] = set()
    for sheet in book.sheets.values():
        for key, place in zip(sheet.keys.tolist(), sheet.formulas.tolist()):
            if place < 0:
                continue
            formula, kind = book.formulas[place], int(forms.template[place])
            if formula.rows * formula.columns == 1:
                if kind in alike or not forms.templates[kind].pieces[0].startswith(_MATRIX):
                    continue
                alike.add(kind)
            size = size_of(formula.text, book, sheet)
            if size and not formula.table and (size[0] > formula.rows or size[1] > formula.columns):
                down, right = np.arange(formula.rows) * WIDTH, np.arange(formula.columns)
                yield Finding(
                    sheet.name,
                    spans(key + np.add.outer(down, right).ravel()),
                    "array",
                    f"={formula.text} computes {size[0]} × {size[1]} numbers and fills "
                    f"{formula.rows} × {formula.columns} cells",
                    "Select that many cells and enter it again (Ctrl+Shift+Enter).",
                )


def size_of(text: str, book: FormulaBook, sheet: SheetCells) -> Size | None:
    """The number of rows and columns that a formula computes; None if unknown."""
    if len(text) > _LONGEST:
        return None
    try:
        tokens = [t for t in Tokenizer("=" + text).items if t.type != Token.WSPACE]
    except (TokenizerError, IndexError):
        return None
    try:
        size, left = _sum(tokens, book, sheet)
    except (_Unknown, IndexError, RecursionError):
        return None
    return None if left else size


class _Unknown(Exception):
    """The size of an expression is unknown."""


def _sum(tokens: list[Token], book: FormulaBook, sheet: SheetCells) -> tuple[Size, list[Token]]:
    """The size of a sequence of operands and operators, and the tokens after it. Single rows, columns
    and numbers are broadcast."""
    size = (1, 1)
    while True:
        while tokens[0].type == Token.OP_PRE:
            tokens = tokens[1:]
        one, tokens = _operand(tokens, book, sheet)
        size = max(size[0], one[0]), max(size[1], one[1])
        while tokens and tokens[0].type == Token.OP_POST:
            tokens = tokens[1:]
        if not tokens or tokens[0].type != Token.OP_IN:
            return size, tokens
        tokens = tokens[1:]


def _operand(tokens: list[Token], book: FormulaBook, sheet: SheetCells) -> tuple[Size, list[Token]]:
    token, tokens = tokens[0], tokens[1:]
    if token.type == Token.OPERAND:
        return (_range(token.value, book, sheet) if token.subtype == Token.RANGE else (1, 1)), tokens
    if token.type == Token.PAREN and token.subtype == Token.OPEN:
        size, tokens = _sum(tokens, book, sheet)
        return size, _closed(tokens)
    if token.type != Token.FUNC or token.subtype != Token.OPEN:
        raise _Unknown
    given: list[Size] = []
    while tokens[0].subtype != Token.CLOSE:
        if tokens[0].type == Token.SEP:
            tokens = tokens[1:]
        size, tokens = _sum(tokens, book, sheet)
        given.append(size)
    return _function(token.value[:-1].upper().removeprefix("_XLFN."), given), tokens[1:]


def _closed(tokens: list[Token]) -> list[Token]:
    if tokens[0].subtype != Token.CLOSE:
        raise _Unknown
    return tokens[1:]


def _function(name: str, given: list[Size]) -> Size:
    if name == "MMULT" and len(given) == 2:
        return given[0][0], given[1][1]
    if name == "TRANSPOSE" and len(given) == 1:
        return given[0][1], given[0][0]
    if name in OF_ONE and given:
        return max(rows for rows, _ in given), max(columns for _, columns in given)
    if name in _OF_ALL:
        return 1, 1
    raise _Unknown


def _range(text: str, book: FormulaBook, sheet: SheetCells) -> Size:
    named = book.names.get(f"{sheet.name}!{text}", book.names.get(text, ""))
    area = parse_area(text) or parse_area(named)
    if area is None or "[" in (area[0] or ""):
        raise _Unknown
    top, left, bottom, right = area[1]
    return bottom - top + 1, right - left + 1
