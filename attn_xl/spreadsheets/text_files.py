"""Text in, cells out: CSV and TSV, whose encoding, delimiter and decimal sign are told from the text;
and what our own text needs to stay text there. Knows nothing of tables."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from attn_xl.errors import InputError

from .addresses import MAX_COLUMNS, MAX_ROWS, address
from .numerals import ErrorValue, NumberText, numeral

DELIMITERS = ",;\t|"
ERRORS = ("#N/A", "#DIV/0!", "#REF!", "#NAME?", "#NUM!", "#VALUE!", "#NULL!")
_LOOKED_AT = 200
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*%?\s*", re.ASCII)
_THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*%?\s*", re.ASCII)
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+(?:[eE][+-]?\d+)?\s*%?\s*", re.ASCII)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FORMULA_LIKE = re.compile(
    rf"'*\s*([=+@＝＋－＠-]|({'|'.join(map(re.escape, ERRORS))})\s*$)|\s*[\t\r\n]", re.IGNORECASE
)
_CONTROL = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f]")


def decoded(content: bytes) -> str:
    """The text of a file: by its byte order mark, else UTF-8, else Windows-1252."""
    marked = (encoding for bom, encoding in _BOMS if content.startswith(bom))
    encoding = next(marked, None) or _without_bom(content)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def is_text(text: str) -> bool:
    """Whether there is no control character in it, as there is in what was no text; those with which
    text is coloured, underlined or rung out on terminals may be."""
    return not _CONTROL.search(text)


def _without_bom(content: bytes) -> str:
    """UTF-16 without its mark has a zero in every other byte."""
    start = content[:400]
    if len(start) > 3 and start.count(0) > len(start) // 4:
        return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    return "utf-8"


def read_text(text: str, where: str) -> list[list[Any]]:
    """The cells of delimited text: numbers where the text is one, "" where blank.

    Args:
        where: the file, for an error's message.

    Raises:
        InputError: if it cannot be told whether a comma parts decimals or thousands, or there is more
            than a sheet holds.
    """
    rows = [fields for _, fields in lines(text, where)]
    check_size(rows, where)
    comma = _decimal_comma(rows, where)
    return [[_value(field, comma) for field in row] for row in rows]


def lines(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line of delimited text, with the number of the line where they begin.

    Raises:
        InputError: if it is none; it names the line.
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
            f"{where}, line {line}: cannot be read as CSV ({error}). Is a quotation mark open? If not, "
            "save it as .xlsx."
        ) from None


def check_size(rows: Sequence[Sequence[Any]], where: str) -> None:
    """Refuse what no sheet could hold.

    Raises:
        InputError: if there are more rows or columns than a sheet has.
    """
    width = max(map(len, rows), default=0)
    if len(rows) > MAX_ROWS or width > MAX_COLUMNS:
        raise InputError(
            f"{where}: has {len(rows):,} rows and {width:,} columns, and at most {MAX_ROWS:,} rows and "
            f"{MAX_COLUMNS:,} columns, those of a sheet, are read. Keep what is needed."
        )


def _announced(text: str) -> tuple[str | None, str]:
    """The delimiter that Excel's first line `sep=;` names, and the text after it."""
    first, _, rest = text.partition("\n")
    match = re.fullmatch(r'"?sep=(.)"?\s*', first.rstrip("\r"))
    return (match[1], rest) if match else (None, text)


def _delimiter(text: str) -> str:
    """The one that splits most lines into the same number of fields, more than one."""
    sample = "\n".join([line for line in text.splitlines()[:_LOOKED_AT] if line.strip()])
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
        if score > best_score:  # what parts words may stand in a number as a decimal comma, too
            best, best_score = delimiter, score
    return best


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
            f"{where}, cell {address(r + 1, c + 1)}: {rows[r][c].strip()!r} has a decimal comma, other "
            "numbers of the file a decimal point. Use one of them throughout."
        )
    raise InputError(
        f"{where}, cell {address(r + 1, c + 1)}: {rows[r][c].strip()!r} may be a number with three "
        "decimals or with thousands. Write it without the comma, or save the table as .xlsx."
    )


def harmless(text: str) -> str:
    """A text that no spreadsheet program takes for a formula when it opens it as CSV: an apostrophe is
    put before one that begins like a formula, with `=`, `+`, `-`, `@` or a tab, and before `#REF!` and
    the like. `read_text` takes it away again."""
    return f"'{text}" if _FORMULA_LIKE.match(text) else text


def _value(field: str, comma: bool) -> Any:
    field = field.strip()
    if not field:
        return ""
    if field[0] == "'" and _FORMULA_LIKE.match(field[1:]):
        return field[1:]
    value = numeral(field, comma)
    if value is not None:
        return value if field == f"{value:g}" else NumberText(value, field, marked=False)
    if field.upper() in ERRORS:
        return ErrorValue(field.upper())
    return field
