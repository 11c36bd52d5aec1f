"""What was put into a cell where a number belongs: which number it is, and what is odd about it."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from math import isfinite
from typing import Any

from attn_xl.spreadsheets.numerals import ErrorValue
from attn_xl.text import clean, shortened

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?")
_MINUS = str.maketrans("\u2212\u2013\u2012\ufe63\uff0d", "-----")


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

    A decimal comma, a percent sign, a true minus and spaces in a text are understood, and remarked.
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
    """The number that a text is meant as, and what is odd about it."""
    odd = []
    plain = re.sub(r"\s", "", text).strip("'").translate(_MINUS)
    if plain.endswith("%"):
        plain, percent = plain[:-1], 100.0
        odd.append("a percentage")
    else:
        percent = 1.0
    if "," in plain:
        plain = _with_a_point(plain)
        odd.append("a number with a comma")
    if not _NUMBER.fullmatch(plain):
        return None, ""
    number = float(plain) / percent
    return (number, " and ".join(odd) or "a number as text") if isfinite(number) else (None, "")


def _with_a_point(text: str) -> str:
    """A number with commas, without them: of comma and point, the one that comes last is the decimal
    one, if there is one only; the other parts thousands. "" if the parts are others."""
    last = max(",.", key=text.rfind)
    point, between = (last, ",.".replace(last, "")) if text.count(last) == 1 else ("", last)
    whole, _, rest = text.partition(point) if point else (text, "", "")
    if between in whole and not re.fullmatch(rf"[+-]?\d{{1,3}}({re.escape(between)}\d{{3}})+", whole):
        return ""
    return f"{whole.replace(between, '')}.{rest}"
