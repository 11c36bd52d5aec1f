"""The answer key of a class: the right answer for each cell and each student's inputs, written as a
workbook and read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from attn_xl.errors import CallError, InputError
from attn_xl.graph.node import Node
from attn_xl.models.computation import Computation
from attn_xl.settings import Settings
from attn_xl.spreadsheets.addresses import MAX_COLUMNS, Place, address, parse_place, too_long
from attn_xl.spreadsheets.numerals import as_text, is_number
from attn_xl.tables.survey import Table, Tables
from attn_xl.tables.written.record import SENTENCE, read_record
from attn_xl.tables.written.written_book import WrittenBook
from attn_xl.text import count
from attn_xl.workbook.layout.layout import Layout, Sheet
from attn_xl.workbook.layout.page import Cell, Extras
from attn_xl.workbook.layout.settings_sheet import digest, record_lines, sources

from .roster import Student

KEY_COLUMNS = ("id", "name", "file", "inputs")
ANSWERS, INPUTS, LESSON = "Answers", "Inputs", "Lesson"
NOTES = {
    ANSWERS: "What belongs in each cell.",
    INPUTS: "What each student was given.",
    LESSON: "How the lessons were made. attn-xl grade goes by this, not by the record in a lesson.",
}
SOLVED, CHECKS = "lesson solved", "lesson checks"
OWN_LINES = ("lesson student", "lesson name", "lesson inputs", "lesson table ", SOLVED, CHECKS)
"""Lines of the record that differ from student to student."""


@dataclass(frozen=True)
class Key:
    """One student's entry in the answer key.

    Attributes:
        inputs: digest of all inputs.
        answers, given: the right answers and the given numbers, by cell (`Scores!B5`).
        lines: the lines of the record that all students share; tables include their labels.
    """

    inputs: str
    answers: dict[str, float]
    given: dict[str, float]
    lines: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True)
class Keys:
    """The answer key of a class, as read from its workbook.

    Attributes:
        students: in the order of the roster.
        keys: each student's key, by student id.
        lines: the record that all lessons share.
        solved: whether it is the solved workbook of a lesson for all, without students.
    """

    path: Path
    students: tuple[Student, ...]
    keys: dict[str, Key]
    lines: tuple[tuple[Any, ...], ...] = field(default=(), repr=False)
    solved: bool = False


def key_of(
    computation: Computation, layout: Layout, settings: Settings, more: Sequence[tuple[Any, ...]]
) -> Key:
    """The answer key of one lesson; `more` holds the lines that only lessons have in their record."""
    answers: dict[str, float] = {}
    for node, cells in layout.blanks.open.items():
        place = layout.blocks[node].place
        for row, column in np.argwhere(cells).tolist():
            answers[_cell(place, row, column)] = float(node.values[row, column])
    given: dict[str, float] = {}
    labels: dict[str, Node] = {}
    for source in sources(layout, computation, settings):
        name = f"{source.kind} {source.name}"
        if not source.defined:  # --sheets-for left it out
            name = f"{name}|left out"
        labels.setdefault(f"{name}|{source.defined}", source.node)
        place = _place_of(source.name, source.place, source.node)
        for row, column in np.ndindex(*source.node.shape):
            given[_cell(place, row, column)] = float(source.node.values[row, column])
    lines: list[tuple[Any, ...]] = []
    for line in record_lines(layout, computation, settings, more):
        name, value, *_ = line
        left_out = labels.get(f"{name}|left out|")
        table = labels.get(f"{name}|{value}") or left_out
        if name.startswith(OWN_LINES):
            continue
        if table is None:
            lines.append(line)
            continue
        shown = _place_of(name.partition(" ")[2], "" if table is left_out else line[2], table).absolute
        lines.append((name, value, shown, json.dumps(table.rows), json.dumps(table.columns)))
    return Key(digest(computation, settings), answers, given, tuple(lines))


def _place_of(name: str, place: str, node: Node) -> Place:
    """The place of a table; a table without a sheet is placed on an imaginary sheet of its own name."""
    return parse_place(place) or Place(name, 5, 2, *node.shape)


def _cell(place: Place, row: int, column: int) -> str:
    return f"{place.sheet}!{address(place.row + row, place.column + column)}"


def key_layout(students: Sequence[Student], keys: Sequence[Key]) -> Layout:
    """The layout of the key: a sheet of right answers and a sheet of inputs, each with one row per
    student, and a sheet that records how the lessons were made.

    Raises:
        CallError: if the lesson has more cells than a sheet has columns.
    """
    sheets = []
    for name in (ANSWERS, INPUTS):
        numbers = [key.answers if name == ANSWERS else key.given for key in keys]
        columns = list(dict.fromkeys(cell for found in numbers for cell in found))
        if len(columns) + len(KEY_COLUMNS) > MAX_COLUMNS:
            raise CallError(
                f"the lesson has {len(columns):,} cells per student, more than the key has columns; "
                "use a shorter sentence or fewer blanks."
            )
        cells = _headings((*KEY_COLUMNS, *columns))
        cells += _rows(students, keys, numbers, columns)
        widths = {1: 14.0, 2: 26.0, 3: 34.0, 4: 18.0}
        widths |= {len(KEY_COLUMNS) + n: max(9.0, len(c) + 2.0) for n, c in enumerate(columns, 1)}
        extras = Extras(tuple(cells), widths=widths, zoom=100, freeze="C5")
        title = f"{name} of {count(len(students), 'student')}"
        sheets.append(Sheet(name, name, "", title, NOTES[name], (), extras))
    lines = _all_lines(keys)
    if too_long(text for line in lines for text in line if isinstance(text, str)):
        raise CallError("the words of a sentence are too long for the key; use a shorter sentence.")
    heads = ("setting", "value", "place", "rows")
    cells = _headings((*heads, "columns"))
    cells += [
        Cell(row, column, value, style="attn text", align="left")
        for row, line in enumerate(lines, 5)
        for column, value in enumerate(line, 1)
    ]
    widths = {1: 30.0, 2: 30.0, 3: 30.0, 4: 40.0, 5: 40.0}
    sheets.append(
        Sheet(
            LESSON,
            LESSON,
            "",
            "Lesson",
            NOTES[LESSON],
            (),
            Extras(tuple(cells), widths=widths),
        )
    )
    return Layout("Answers", {}, tuple(sheets))


def _headings(names: Sequence[str]) -> list[Cell]:
    return [
        Cell(4, column, head, style="attn heading", align="left")
        for column, head in enumerate(names, 1)
    ]


def _all_lines(keys: Sequence[Key]) -> list[tuple[Any, ...]]:
    """The lines of all lessons, without duplicates. The blanks may differ between students; the answers
    show which cells are blank."""
    found: dict[Any, tuple[Any, ...]] = {}
    for key in keys:
        for line in key.lines:
            found.setdefault(line[:2] if not line[0].startswith("blank ") else line[0], line)
    return list(found.values())


def _rows(
    students: Sequence[Student],
    keys: Sequence[Key],
    numbers: Sequence[dict[str, float]],
    columns: Sequence[str],
) -> Iterator[Cell]:
    for row, (student, key, found) in enumerate(zip(students, keys, numbers), 5):
        texts = (student.id, student.name, student.file, key.inputs)
        for column, text in enumerate(texts, 1):
            yield Cell(row, column, text, style="attn text", align="left")
        for column, cell in enumerate(columns, 1 + len(KEY_COLUMNS)):
            if cell in found:
                yield Cell(row, column, found[cell], style="attn value")


# Reading


def is_key(book: WrittenBook) -> bool:
    """Whether a workbook is the answer key of a class."""
    grids = [book.grids.get(name, []) for name in (ANSWERS, INPUTS)]
    return all(len(grid) > 3 and "!" in str([*grid[3], ""][len(KEY_COLUMNS)]) for grid in grids)


def is_solved(book: WrittenBook) -> bool:
    """Whether a workbook is a lesson's answers, as `teach --answers` writes them."""
    return any(name == SOLVED for name, *_ in read_record(book.grids) or ())


def read_keys(path: Path) -> Keys:
    """Read the answer key of a class, or the solved workbook of a lesson for all.

    Raises:
        InputError: if the file cannot be read or is not an answer key.
    """
    book = WrittenBook.read(path)
    if is_solved(book):
        return Keys(path, (), {}, tuple(read_record(book.grids) or ()), solved=True)
    if not is_key(book):
        found = f"{path}: is not an answer key that attn-xl teach --roster wrote"
        if read_record(book.grids) is None:
            raise InputError(f"{found}.")
        raise InputError(
            f"{found}. For a lesson for all, give the workbook that teach --answers wrote; without "
            "one, leave out --answers: such lessons hold their own answers."
        )
    lines = tuple(
        tuple(line) for line in book.grids.get(LESSON, [])[4:] if line and line[0] not in ("", None)
    )
    if not any(str(line[0]).startswith(f"{SENTENCE} ") for line in lines):
        raise InputError(f"{path}: the sheet {LESSON!r}, which grading needs, is missing.")
    given = _numbers(book, INPUTS)
    students, keys = [], {}
    for row, (texts, answers) in _numbers(book, ANSWERS).items():
        student = Student(*texts[:3])
        students.append(student)
        keys[student.id] = Key(texts[3], answers, given.get(row, ((), {}))[1])
    if not students:
        raise InputError(f"{path}: the key has no students.")
    return Keys(path, tuple(students), keys, lines)


def _numbers(book: WrittenBook, sheet: str) -> dict[str, tuple[tuple[str, ...], dict[str, float]]]:
    """The texts and the numbers of each row, by student id."""
    grid = book.grids[sheet]
    heads = [str(head) for head in (grid[3] if len(grid) > 3 else [])]
    found = {}
    for row in range(5, len(grid) + 1):
        texts = tuple(book.text(sheet, row, column) for column in range(1, len(KEY_COLUMNS) + 1))
        if not texts[0]:
            continue
        values = grid[row - 1][len(KEY_COLUMNS) :]
        found[texts[0]] = (
            texts,
            {
                cell: float(value)
                for cell, value in zip(heads[len(KEY_COLUMNS) :], values)
                if is_number(value)
            },
        )
    return found


def key_tables(keys: Keys, key: Key) -> tuple[Tables, list[tuple[str, str, str]]]:
    """The tables that a student was given, and the lines of the record in the form a lesson has them.

    Raises:
        InputError: if the key is incomplete.
    """
    sentences: dict[str, Table] = {}
    weights: dict[str, Table] = {}
    plain: list[tuple[str, str, str]] = []
    drawn = 0
    for line in keys.lines:
        name, value, shown, rows, columns = (*map(as_text, line), "", "", "", "")[:5]
        plain.append((name, value, shown))
        kind, _, called = name.partition(" ")
        if not rows or kind not in ("sentence", "weights", "given"):
            continue
        if kind == "given":
            drawn += 1
            called = f"DropoutMask#{drawn}"
        table = _key_table(keys.path, key, called, shown, rows, columns)
        (sentences if kind == SENTENCE else weights).setdefault(called, table)
    return Tables(keys.path, sentences, weights), plain


def _key_table(path: Path, key: Key, name: str, shown: str, rows: str, columns: str) -> Table:
    place = parse_place(shown)
    try:
        labels = tuple(json.loads(rows)), tuple(json.loads(columns))
        assert place is not None
        shape = len(labels[0]), len(labels[1])
        values = np.array(
            [key.given[_cell(place, row, column)] for row, column in np.ndindex(*shape)]
        ).reshape(shape)
    except (ValueError, KeyError, AssertionError, TypeError):
        raise InputError(f"{path}: the key lacks numbers of {name}. Was it edited?") from None
    made = Table(name, values, *labels, (True, True), str(path), place.sheet, place.row, place.column)
    return replace(made, rows=tuple(map(str, made.rows)), columns=tuple(map(str, made.columns)))
