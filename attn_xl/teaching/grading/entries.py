"""What was put into a cell where a number belongs: which number it is, and what is odd about it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

from attn_xl.spreadsheets.numerals import ErrorValue, numeral
from attn_xl.text import clean, shortened


@dataclass(frozen=True)
class Entry:
    """What was entered.

    Attributes:
        number: the number, None for none.
        shown: as it stands in the cell; "" for a blank.
        remark: what is odd about it, in plain words.
    """

    number: float | None = None
    shown: str = ""
    remark: str = ""

    @property
    def blank(self) -> bool:
        return not self.shown


def read_entry(value: Any) -> Entry:
    """Read what a cell holds: a number, or a text that is meant as one.

    A text is read as one of an input is (`numeral`), and remarked.
    """
    if value is None or (isinstance(value, str) and not value.strip(" \t\n\r\u00a0\u202f'")):
        return Entry()
    if isinstance(value, ErrorValue):
        return Entry(None, str(value), f"the error value {value}")
    if isinstance(value, bool):
        text = str(value).upper()
        return Entry(None, text, f"{text} is no number")
    if isinstance(value, (int, float)):
        if isfinite(value):
            return Entry(float(value), f"{value:.10g}")
        return Entry(None, str(value), "an infinite number")
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        text = str(value)
        return Entry(
            None, text, f"the date or time {text} (a number that the program took for a date?)"
        )
    text = clean(value)
    number, why = _read_text(text)
    shown = shortened(text)
    if number is None:
        return Entry(None, shown, f"the text {shown!r}")
    return Entry(number, shown, f"the text {shown!r}, {why}, read as {number:.10g}")


def _read_text(text: str) -> tuple[float | None, str]:
    """The number that a text is meant as, and what is odd about it. `1,234`, which may have decimals or
    thousands, has decimals, as the numbers of lessons do."""
    plain = text.strip("'")
    number = numeral(plain)
    if number is not None and isnan(number):
        number = numeral(plain, comma=True)
    if number is None or not isfinite(number):
        return None, ""
    odd = {"%": "a percentage", ",": "a number with a comma"}
    return number, " and ".join(
        said for sign, said in odd.items() if sign in text
    ) or "a number as text"
