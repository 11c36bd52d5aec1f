"""Reads CSV and TSV, detecting encoding, delimiter and decimal separator from the text; escapes text
that a spreadsheet program would take for a formula."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from attn_xl.errors import CallError, InputError
from attn_xl.text import inert, without_hidden

from .addresses import MAX_COLUMNS, MAX_ROWS, address
from .numerals import ErrorValue, NumberText, numeral

DELIMITERS = ",;\t|"
ERRORS = ("#N/A", "#DIV/0!", "#REF!", "#NAME?", "#NUM!", "#VALUE!", "#NULL!")
_LOOKED_AT = 200
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*%?\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*%?\s*", re.ASCII)
_SPACED = re.compile(r"\S+(?: +[+-]?[\d.]+(?:[eE][+-]?\d+)?)+ *$", re.ASCII)
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*%?\s*", re.ASCII)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
USUAL = ("windows-1251", "gbk", "windows-1250", "shift_jis", "big5", "euc-kr", "koi8-r", "windows-1253")
"""Encodings that a remark tries on a file that is not UTF-8."""
_WORD = re.compile(rb"[^\s,;|\"0-9.]+")
_FORMULA_LIKE = re.compile(
    rf"'*\s*([=+@＝＋－＠-]|({'|'.join(map(re.escape, ERRORS))})\s*$)|\s*[\t\r\n]", re.IGNORECASE
)
_CONTROL = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f]")


def decoded(content: bytes, encoding: str | None = None, where: str = "") -> tuple[str, str]:
    """Decode a file as asked, or by its byte order mark, else as UTF-8, else as Windows-1252; also
    returns a remark if Windows-1252 is only assumed.

    No detection by statistics: on tables of a few short words the library tried (charset-normalizer)
    was wrong about every second file.

    Raises:
        CallError: if there is no such encoding.
        InputError: if the file is not in the encoding asked for.
    """
    if encoding is not None:
        return _decoded_as(content, encoding, where), ""
    marked = (encoding for bom, encoding in _BOMS if content.startswith(bom))
    try:
        return content.decode(next(marked, None) or _without_bom(content)), ""
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
        return text, _assumed(content, where) if is_text(text) else ""


def _decoded_as(content: bytes, encoding: str, where: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        return content.decode("utf-8-sig" if name == "utf-8" else name)
    except LookupError:
        raise CallError(
            f"--encoding: there is no encoding {encoding!r}. Examples: {', '.join(USUAL)}."
        ) from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where}, line {line}: the text is not in the encoding {encoding}.") from None


def _assumed(content: bytes, where: str) -> str:
    """The remark on a file that may be in any encoding but UTF-8: how other encodings would read its
    first foreign word."""
    word = next(found for found in _WORD.findall(content) if max(found) > 127)[:40]
    readings: dict[str, str] = {}
    for name in USUAL:
        with suppress(UnicodeDecodeError):
            reading = word.decode(name)
            if reading.isalpha() and reading not in readings.values():
                readings[name] = reading
    shown = word.decode("cp1252", "replace")
    others = [f"{name} {text!r}" for name, text in readings.items() if text != shown]
    wrong = f"; --encoding reads it otherwise: {', '.join(others)}" if others else ""
    return f"{where} is not UTF-8; it is read as Windows-1252, {shown!r}{wrong}."


def is_text(text: str) -> bool:
    """Whether a decoded file is text: it has no control characters except those of terminal output
    (colour, underline, bell)."""
    return not _CONTROL.search(text)


def _without_bom(content: bytes) -> str:
    """Guess the encoding; UTF-16 without a byte order mark has a zero in every other byte."""
    start = content[:400]
    if len(start) > 3 and start.count(0) > len(start) // 4:
        return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    return "utf-8"


def read_text(text: str, where: str) -> list[list[Any]]:
    """The cells of delimited text, with numbers parsed and "" where blank.

    Args:
        where: the file name for error messages.

    Raises:
        InputError: if a comma may be a decimal or a thousands separator, or the text exceeds the size
            of a sheet.
    """
    rows = [fields for _, fields in lines(text, where)]
    check_size(rows, where)
    comma = _decimal_comma(rows, where)
    cells = [[_value(field, comma) for field in row] for row in rows]
    if len({len(row) - 1 for row in cells[1:]}) == 1 and len(cells[0]) == len(cells[1]) - 1 > 0:
        texts = [isinstance(value, str) for value in (*cells[0], cells[1][0])]
        if all(texts) and not isinstance(cells[1][1], str):
            cells[0].insert(0, "")  # R leaves out the corner
    return cells


def lines(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each record of delimited text, with the number of the line where it starts.

    Raises:
        InputError: if the text is malformed; the message names the line.
    """
    delimiter, body = _announced(text)
    reader = _reader(body, delimiter or _delimiter(body))
    before = 1 if delimiter else 0
    line = before + 1
    try:
        for fields in reader:
            yield line, fields
            line = before + reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{where}, line {line}: cannot be read as CSV ({error}). Close any open quotation mark, "
            "or save the table as .xlsx."
        ) from None


def check_size(rows: Sequence[Sequence[Any]], where: str) -> None:
    """Check that a table fits on a sheet.

    Raises:
        InputError: if there are more rows or columns than a sheet has.
    """
    width = max(map(len, rows), default=0)
    if len(rows) > MAX_ROWS or width > MAX_COLUMNS:
        raise InputError(
            f"{where}: has {len(rows):,} rows and {width:,} columns; a sheet holds at most "
            f"{MAX_ROWS:,} rows and {MAX_COLUMNS:,} columns. Delete the data you do not need."
        )


def _announced(text: str) -> tuple[str | None, str]:
    """The delimiter in Excel's first line `sep=;`, and the rest of the text."""
    first, _, rest = text.partition("\n")
    match = re.fullmatch(r'"?sep=(.)"?\s*', first.rstrip("\r"))
    return (match[1], rest) if match else (None, text)


def _delimiter(text: str) -> str:
    """The delimiter that splits most lines into the same number of fields (at least two); a space, if
    none does, where each line has numbers behind its first field."""
    lines = [line for line in text.splitlines()[:_LOOKED_AT] if line.strip()]
    sample = "\n".join(lines)
    best, best_score = ",", (0.0, 0.0)
    for delimiter in DELIMITERS:
        counts = []
        with suppress(csv.Error):
            counts = [len(row) for row in _reader(sample, delimiter) if row]
        several = [count for count in counts if count > 1]
        if not several:
            continue
        usual = max(set(several), key=lambda count: (several.count(count), count))
        score = several.count(usual) / len(counts), float(delimiter != ",")
        if score > best_score:  # on a tie the comma loses: it may be a decimal comma
            best, best_score = delimiter, score
    spaced = best_score == (0.0, 0.0) and len(lines) > 1 and all(map(_SPACED.match, lines[1:]))
    return " " if spaced else best


def _reader(text: str, delimiter: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)


def _decimal_comma(rows: list[list[str]], where: str) -> bool:
    commas = [
        (r, c)
        for r, row in enumerate(rows)
        for c, field in enumerate(row)
        if "," in field and _WITH_COMMA.fullmatch(field)
    ]
    if not commas:
        return False
    certain = any(not _THOUSANDS.fullmatch(rows[r][c]) for r, c in commas)
    points = any("." in field and _WITH_POINT.fullmatch(field) for row in rows for field in row)
    if certain and not points:
        return True
    if points and not certain:
        return False
    r, c = commas[0]
    if certain:
        raise InputError(
            f"{where}, cell {address(r + 1, c + 1)}: {rows[r][c].strip()!r} has a decimal comma, but "
            "other numbers in the file have a decimal point. Use one of them throughout."
        )
    raise InputError(
        f"{where}, cell {address(r + 1, c + 1)}: {rows[r][c].strip()!r} may have three decimals or a "
        "thousands separator. Write it without the comma, or save the table as .xlsx."
    )


def harmless(text: str) -> str:
    """Escape a text so that no spreadsheet program takes it for a formula when it opens a CSV file.

    Texts that begin like a formula (`=`, `+`, `-`, `@`, a tab, also behind invisible characters) or are
    error values such as `#REF!` get a leading apostrophe, which `read_text` removes. Characters that
    steer a terminal become U+FFFD."""
    text = inert(text)
    return f"'{text}" if _is_formula_like(text) else text


def _is_formula_like(text: str) -> bool:
    return _FORMULA_LIKE.match(without_hidden(text)) is not None


def _value(field: str, comma: bool) -> Any:
    field = field.strip()
    if not field:
        return ""
    if field[0] == "'" and _is_formula_like(field[1:]):
        return field[1:]
    value = numeral(field, comma)
    if value is not None:
        return value if field == f"{value:g}" else NumberText(value, field, marked=False)
    if field.upper() in ERRORS:
        return ErrorValue(field.upper())
    return field
