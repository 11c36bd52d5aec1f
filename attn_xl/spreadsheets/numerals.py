"""Numbers and values of cells, as programs store them and as people write them."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import nan
from pathlib import Path
from typing import Any, TypeGuard

from attn_xl.errors import InputError

from .ooxml import damaged

_PLAIN = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_CURRENCY = re.compile(r"[$€£¥₹₩₽₺]|(?:USD|EUR|GBP|CHF|JPY|INR)\b|\b(?:USD|EUR|GBP|CHF|JPY|INR)")
_SPACES = "[ \u00a0\u2009\u202f'’]"
_BODY = re.compile(
    rf"""(?P<sign>[+-]?)(?:
        (?P<comma>\d*,\d+)                                   # 1,5 and 1,234: a decimal comma, or not
      | (?P<commas>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?)         # 1,234.5 and 1,234,567
      | (?P<points>\d{{1,3}}(?:\.\d{{3}})+(?:,\d+)?)         # 1.234,5 and 1.234.567, and 1.234
      | (?P<spaces>\d{{1,3}}(?:{_SPACES}\d{{3}})+(?:[.,]\d+)?)
      | (?P<plain>(?:\d+\.?\d*|\.\d+))
    )(?P<exponent>(?:[eE][+-]?\d+)?)""",
    re.ASCII | re.VERBOSE,
)
_PLAINER = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2013\u2012\ufe63", "-"),
        **{chr(c + 0xFEE0): chr(c) for c in range(33, 127)},
    }
)
"""Minus signs, and the full-width forms of Chinese and Japanese, as ASCII."""
_DOUBTFUL = re.compile(r"[1-9]\d{0,2},\d{3}", re.ASCII)
MOST_CHARACTERS = 40


class ErrorValue(str):
    """An error value in a cell, such as #N/A."""


NOT_STORED = ErrorValue("a formula without a stored value")
"""What stands in place of the value of a formula written by a program that does not calculate."""


class NumberText(float):
    """A number stored as text in its file.

    Attributes:
        text: the original text.
        marked: whether the file itself marks it as text: true in a workbook, false in CSV.
    """

    text: str
    marked: bool

    def __new__(cls, value: float, text: str, marked: bool = True) -> NumberText:
        """Create a number with its text."""
        self = super().__new__(cls, value)
        self.text, self.marked = text, marked
        return self


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number; TRUE and FALSE are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def as_text(value: object) -> str:
    """A cell's value as a label: 3.0 is `3`, as a spreadsheet shows it; a blank cell is ""."""
    if isinstance(value, NumberText):
        return value.text
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def numeral(text: str, comma: bool | None = None) -> float | None:
    """The number written in a text, or None if it is not a number.

    Accepts a sign, a currency, a percent sign (50 % is 0.5), spaces or apostrophes between thousands,
    full-width digits, and the apostrophe with which a spreadsheet marks text. A comma is a decimal
    comma unless it can separate thousands. `(4.5)` is -4.5, as accountants write it; `(3)` is none,
    since it may be a third label.

    Args:
        comma: whether the comma is the decimal separator; None if unknown. It decides only what is
            ambiguous: `1,234`, which is NaN if it is unknown, and `1.234`.
    """
    if _PLAIN.fullmatch(text) and not comma:
        return float(text)
    if len(text) > MOST_CHARACTERS:
        return None
    text = text.strip().strip("'").translate(_PLAINER)
    bare = _CURRENCY.sub("", text, count=1).strip()
    percent = bare.endswith("%")
    if percent:
        bare = bare[:-1].strip()
    if bare[:1] == "(" and bare[-1:] == ")" and not bare[1:-1].isdecimal():
        bare = f"-{bare[1:-1]}"
    if bare[:1] in "+-" and bare[1:2] == " ":
        bare = bare[0] + bare[1:].strip()
    match = _BODY.fullmatch(bare)
    if match is None:
        return None
    value = float(match["sign"] + _digits(match, comma) + match["exponent"])
    return value / 100 if percent else value


def _digits(match: re.Match[str], comma: bool | None) -> str:
    """The digits with a decimal point, whatever separators the text uses."""
    kind = match.lastgroup if match.lastgroup != "exponent" else None
    kind = kind or next(k for k in ("comma", "commas", "points", "spaces", "plain") if match[k])
    text = match[kind]
    if kind == "comma":
        if comma is None and _DOUBTFUL.fullmatch(text):
            return str(nan)
        thousands = comma is False and _DOUBTFUL.fullmatch(text)
        return text.replace(",", "" if thousands else ".")
    if kind == "commas":
        return text.replace(",", "")
    if kind == "points":
        if text.count(".") == 1 and "," not in text and not comma:
            return text
        return text.replace(".", "").replace(",", ".")
    if kind == "spaces":
        return re.sub(_SPACES, "", text).replace(",", ".")
    return text


Grid = list[list[Any]]
Grids = tuple[dict[str, Grid], frozenset[str]]

OLE = bytes.fromhex("D0CF11E0A1B11AE1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress whatever an engine prints to standard output and standard error."""
    kept = []
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()  # earlier output still reaches its stream
    for number in (1, 2):
        try:
            kept.append((number, os.dup(number)))
        except OSError:  # the stream does not exist
            continue
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), number)
    try:
        yield
    finally:
        for number, own in kept:
            os.dup2(own, number)
            os.close(own)


def values(path: Path, shown: Path, content: bytes) -> Grids:
    """The values of every sheet, and the names of the hidden sheets.

    Args:
        path: the file, or `-`; shown: as error messages name it; content: its bytes.

    Raises:
        InputError: if the file cannot be read.
    """
    from python_calamine import (
        CalamineError,
        CalamineWorkbook,
        PasswordError,
        SheetTypeEnum,
        SheetVisibleEnum,
    )

    try:
        if content.startswith(OLE) and _ENCRYPTED in content:
            raise PasswordError
        with quiet():
            try:
                book = CalamineWorkbook.from_filelike(io.BytesIO(content))
            except CalamineError:  # with the file extension, its message may be more precise
                if str(path) == "-":
                    raise
                book = CalamineWorkbook.from_path(str(path))
            sheets = [sheet for sheet in book.sheets_metadata if sheet.typ == SheetTypeEnum.WorkSheet]
            grids = {
                sheet.name: book.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False)
                for sheet in sheets
            }
            if not grids:
                raise CalamineError("it has no worksheet")
            hidden = (sheet.name for sheet in sheets if sheet.visible != SheetVisibleEnum.Visible)
            return grids, frozenset(hidden)
    except PasswordError:
        raise InputError(
            f"{shown}: is protected by a password. Open it in a spreadsheet program, remove the "
            "password and save it."
        ) from None
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic in the reader is not an Exception
        if content.startswith((b"PK", OLE)):
            raise damaged(shown, str(error) if isinstance(error, CalamineError) else "") from None
        raise InputError(
            f"{shown}: is not a spreadsheet. Save the table as .xlsx (or .xls, .xlsb, .ods, .csv)."
        ) from None
