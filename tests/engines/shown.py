"""What a cell shows, against what it stores: sign, digits and blanks.

`shown` renders the few number formats that the program writes, as the strictest of the programs does:
where a section has a condition, no sign but a written one is shown. `misshown` judges what any program
shows, knowing nothing of how a number format is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import openpyxl

HIDES_ALL, HIDES_NONE_ABOVE = ";;;", "0;;"
"""The formats that are meant to show nothing: helpers of a lesson, and a count of mistakes of 0."""
NOTHING = "\u00b7"
"""The sign of a share of 0."""
TIE = Decimal("1e-6")
"""Beside the half of a unit: programs round a half up, or to even, or as the binary number falls."""
LAST = Decimal("5e-15")
"""Beside that, as a share of the number: Excel, LibreOffice and others show 15 significant digits."""
_SECTION = re.compile(r"(?:\[(<=|<|=)(-?[\d.]+)\])?(.*)", re.DOTALL)
_NUMBER = re.compile(r'([-+]?)(0(?:\.(0+))?)?(E\+00)?((?: ?%|"[^"]*")*)')
_SHOWN = re.compile(r"(<=)?(-?)(\d+)(?:\.(\d+))?(?:E([+-]\d+))?( ?%| / \d+)?")


@dataclass(frozen=True, slots=True)
class Shown:
    """A cell: where it is, what it stores, its number format, how many characters its column holds."""

    sheet: str
    cell: str
    row: int
    column: int
    value: Any
    code: str
    width: float


@lru_cache(maxsize=64)  # what several programs show
def cells(path: Path) -> tuple[Shown, ...]:
    """Every cell of a workbook that has a value or a format, by sheet and row."""
    return tuple(_cells(openpyxl.load_workbook(path, data_only=True)))


def _cells(book: Any) -> Iterator[Shown]:
    for sheet in book.worksheets:
        widths = {
            number: column.width
            for column in sheet.column_dimensions.values()
            for number in range(column.min or 0, (column.max or 0) + 1)
        }
        merged = {start.start_cell.coordinate for start in sheet.merged_cells.ranges}
        for row in sheet.iter_rows():
            for cell in row:
                width = widths.get(cell.column, 8.43) if cell.coordinate not in merged else 255.0
                yield Shown(
                    sheet.title, cell.coordinate, cell.row, cell.column, cell.value,
                    cell.number_format, width,
                )  # fmt: skip


def shown(value: Any, code: str) -> str:
    """What a cell shows.

    Raises:
        ValueError: for a number format that the program is not known to write.
    """
    if value is None or isinstance(value, str):
        return "" if code == HIDES_ALL else value or ""
    if code == "General":
        return _general(float(value))
    number = Decimal(repr(float(value)))
    sections = [_SECTION.fullmatch(section) for section in _split(code)]
    if any(section[1] for section in sections):
        for section in sections:
            bound = Decimal(section[2] or 0)
            below = number < bound and section[1] != "="
            if not section[1] or below or (number == bound and section[1] != "<"):
                return _section(abs(number), section[3])
        raise ValueError(f"{code}: no section for {value}")
    texts = [section[3] for section in sections]
    if len(texts) > 2 and number == 0:
        return _section(number, texts[2])
    if len(texts) > 1 and number < 0:
        return _section(-number, texts[1])
    return _section(number, texts[0])


def _split(code: str) -> list[str]:
    return re.findall(r'(?:^|;)((?:"[^"]*"|[^;"])*)', code)


def _section(number: Decimal, code: str) -> str:
    match = _NUMBER.fullmatch(code)
    if match is None:
        raise ValueError(f"{code!r} is no number format that is known here")
    minus, digits, places, exponent, tail = match.groups()
    tail = tail.replace('"', "")
    if digits is None:
        return "0" if tail == NOTHING else minus + tail
    decimals = len(places or "")
    number *= 100 if "%" in tail else 1
    text = f"{_rounded(abs(number), decimals):f}"
    if exponent:
        mantissa, power = _scientific(abs(number), decimals)
        text = f"{mantissa:f}E{'-' if power < 0 else '+'}{abs(power):02}"
    sign = "-" if number < 0 and re.search("[1-9]", text.partition("E")[0]) else ""
    return minus + sign + text + tail


def _rounded(number: Decimal, decimals: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def _scientific(number: Decimal, decimals: int) -> tuple[Decimal, int]:
    power = number.adjusted() if number else 0
    mantissa = _rounded(number.scaleb(-power), decimals)
    return (_rounded(mantissa / 10, decimals), power + 1) if mantissa >= 10 else (mantissa, power)


def _general(value: float) -> str:
    """As many as eleven characters, as a wide enough cell shows."""
    if value and not 1e-9 <= abs(value) < 1e11:
        return re.sub(r"\.?0*E", "E", f"{value:.5E}")
    text = f"{Decimal(repr(value)):f}"
    whole, _, places = text.partition(".")
    if not places:
        return whole
    rounded = f"{_rounded(Decimal(text), max(0, 10 - len(whole.lstrip('-')))):f}"
    return rounded.rstrip("0").rstrip(".") if "." in rounded else rounded


def misshown(value: Any, code: str, text: str) -> str:
    """What is wrong with a text shown for a value; "" if it is right.

    A number shows its sign, and its digits rounded at the last one shown; nothing is blank that is not
    meant to be.
    """
    if code == HIDES_ALL:
        return "shows what is to be hidden" if text else ""
    if value is None or isinstance(value, str):
        return "" if text == (value or "") else "is another text"
    if code == HIDES_NONE_ABOVE and value <= 0:
        return "shows what is to be hidden" if text else ""
    match = _SHOWN.fullmatch(text.replace("\N{MINUS SIGN}", "-").replace(NOTHING, "0").lstrip("+"))
    if match is None:
        return "is no number" if text else "is blank"
    bound, minus, whole, places, power, tail = match.groups()
    number = Decimal(minus + whole + "." + (places or "0")).scaleb(int(power or 0))
    unit = Decimal(1).scaleb(int(power or 0) - len(places or ""))
    stored = Decimal(repr(float(value))) * (100 if tail and "%" in tail else 1)
    if bound:
        return "" if stored <= number else "is beyond its bound"
    if bool(minus) != (stored < 0) and (minus or number):
        return "has the wrong sign"
    if minus and not number:
        return "has a sign but no digit"
    half = unit / 2 * (1 + TIE) + abs(stored) * LAST
    return "has the wrong digits" if abs(number - stored) > half else ""
