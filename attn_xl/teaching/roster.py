"""Reading a class roster, with a safe file name for each student."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attn_xl.errors import InputError
from attn_xl.outputs import SPREADSHEETS
from attn_xl.spreadsheets.addresses import unique
from attn_xl.spreadsheets.book import read_book
from attn_xl.spreadsheets.numerals import ErrorValue, as_text
from attn_xl.spreadsheets.text_files import decoded, lines
from attn_xl.text import clean, shortened

IDS = (
    "id", "student id", "studentid", "student number", "student no", "student nr", "number", "no", "nr",
    "matrikel", "matrikelnummer", "matrikelnr", "matrikel nr", "matr nr", "matriculation number",
    "matriculation no", "sis user id", "sis id", "id number", "idnumber", "user id", "userid",
    "user name", "username", "login",
)  # fmt: skip
NAMES = ("name", "full name", "fullname", "student name", "student", "display name", "names")
FIRST = ("first name", "firstname", "first", "given name", "given names", "forename", "vorname")
LAST = ("last name", "lastname", "last", "surname", "family name", "nachname", "familienname")
MOST_LETTERS, MOST_CHARACTERS = 40, 255
"""Letters of an id and of a name in the name of a file, and characters of each in the list."""

Lines = Iterator[tuple[int, list[str]]]


@dataclass(frozen=True)
class Student:
    """A student: a unique id, a name or "", and the name of their file."""

    id: str
    name: str
    file: str


def read_roster(path: str | os.PathLike[str]) -> list[Student]:
    """Read the students of a class from a CSV file or from the first sheet of a spreadsheet.

    The columns are identified by headings in the first row (`id`, `student id`, `number`, `matrikel`,
    ...; `name`, or `first name` and `last name`). Without headings, the first column has the ids and
    the second the names.

    Args:
        path: a CSV file with commas, semicolons or tabs, in UTF-8, UTF-16 with a byte order mark, or
            Windows-1252; or any spreadsheet.

    Raises:
        InputError: if the file cannot be read or lists no students, or if an id is missing or occurs
            twice, ignoring case. The message names the file and the line.
    """
    path = Path(path)
    listed = [
        (number, [clean(text) for text in fields])
        for number, fields in _lines(path)
        if any(map(clean, fields))
    ]
    if not listed:
        raise InputError(f"{path}: lists no students. Put an id and a name on each line.")
    id_column, name_columns, headed = _columns(path, *listed[0])
    students: list[Student] = []
    seen: dict[str, tuple[int, str]] = {}
    files: set[str] = set()
    for line, fields in listed[headed:]:
        student = _at(fields, id_column)
        if not student:
            raise InputError(f"{path}, line {line}: this student has no id. Fill it in.")
        key = unicodedata.normalize("NFC", student).casefold()
        if key in seen:
            first, spelled = seen[key]
            twice = repr(student) if spelled == student else f"{spelled!r} and {student!r}"
            raise InputError(
                f"{path}, line {line}: the id {twice} is already on line {first}. Each student "
                "needs a unique id."
            )
        seen[key] = line, student
        name = " ".join(filter(None, (_at(fields, column) for column in name_columns)))
        longest = max(student, name, key=len)
        if len(longest) > MOST_CHARACTERS:
            raise InputError(
                f"{path}, line {line}: {shortened(longest, 20)!r} has {len(longest):,} characters; an "
                f"id or a name has at most {MOST_CHARACTERS}. Shorten it."
            )
        students.append(Student(student, name, file_name(student, name, files)))
    if not students:
        raise InputError(f"{path}: has headings, but lists no students below them.")
    return students


def _at(fields: list[str], column: int) -> str:
    return fields[column] if column < len(fields) else ""


def _columns(path: Path, line: int, fields: list[str]) -> tuple[int, list[int], int]:
    """The column of the ids, the columns of the names, and the number of heading rows: 0 or 1.

    Raises:
        InputError: if there are headings, but none names an id column.
    """
    headings = [" ".join(re.findall(r"\w+", text.replace("_", " ").casefold())) for text in fields]

    def column(known: tuple[str, ...]) -> list[int]:
        return [headings.index(name) for name in known if name in headings][:1]

    ids, names = column(IDS), column(NAMES)
    parts = column(FIRST) + column(LAST)
    if not ids and not names and not parts:
        return 0, [1], 0
    if not ids:
        raise InputError(
            f"{path}, line {line}: none of the columns {', '.join(map(repr, fields))} holds ids. Name "
            "the id column 'id'."
        )
    return ids[0], parts if len(parts) == 2 or not names else names, 1


# The lines of a file


def _lines(path: Path) -> Lines:
    """The fields of each line or row, with its number."""
    try:
        content = path.read_bytes()
    except OSError:
        return _rows(path)  # reports what is wrong
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return _rows(path)
    if not content or path.suffix.casefold() in SPREADSHEETS:
        return _rows(path)
    text, _ = decoded(content)
    if "\0" in text:
        raise InputError(f"{path}: is neither a CSV file nor a spreadsheet.")
    return lines(text, str(path))


def _rows(path: Path) -> Lines:
    grid = next(iter(read_book(path).grids.values()), [])
    for number, row in enumerate(grid, 1):
        if row.count("") < len(row):  # one distant cell adds many empty rows and columns
            last = max(i for i, value in enumerate(row, 1) if value != "")
            yield number, [_text(path, number, value) for value in row[:last]]


def _text(path: Path, row: int, value: Any) -> str:
    """The text of a cell. Numeric ids come without a decimal point."""
    if isinstance(value, ErrorValue):
        raise InputError(f"{path}, line {row}: a cell has the error value {value}.")
    return as_text(value)


# Names of files


def file_name(student: str, name: str, taken: set[str]) -> str:
    """A file name that is not yet taken, as `s017-Ada_Lovelace.xlsx`: letters and digits of all scripts
    are kept, everything else becomes `_`. The folded name is added to `taken`."""
    parts = (_safe(text)[:MOST_LETTERS].strip("_-") for text in (student, name))
    stem = unique("-".join(filter(None, parts)) or "student", taken)
    taken.add(stem.casefold())
    return f"{stem}.xlsx"


def _safe(text: str) -> str:
    letters = unicodedata.normalize("NFC", text)
    kept = (c if c == "-" or unicodedata.category(c)[0] in "LNM" else "_" for c in letters)
    return re.sub("_+", "_", "".join(kept)).strip("_-")
