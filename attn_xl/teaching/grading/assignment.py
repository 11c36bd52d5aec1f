"""The assignment that a lesson sets, restored from the answer key of the class or from the lesson's own
record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.node import Node
from attn_xl.models.build import attend
from attn_xl.models.computation import Computation
from attn_xl.settings import SETTINGS, Settings
from attn_xl.spreadsheets.addresses import Place, address, parse_place
from attn_xl.spreadsheets.numerals import as_text, is_number
from attn_xl.tables.survey import Tables
from attn_xl.tables.written.record import NO_CHOICES
from attn_xl.tables.written.reopen import Reopened, recorded_settings
from attn_xl.tables.written.written_book import WrittenBook
from attn_xl.teaching.answer_key import CHECKS, Key, Keys, key_tables
from attn_xl.teaching.lessons.lesson import BLANK, LESSON, TABLE, check_of
from attn_xl.text import listed, shortened
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.layout.place import lay_out
from attn_xl.workbook.layout.placed import Block
from attn_xl.workbook.layout.settings_sheet import digest, sources, table_digest

MOST_LISTED = 6


@dataclass(frozen=True, eq=False, repr=False)
class Exercise:
    """A matrix to fill in: its original place in the lesson and a mask of its blank cells."""

    block: Block
    place: Place
    cells: np.ndarray

    def cell(self, row: int, column: int) -> str:
        """The address of a cell, as `Scores!B5`; row and column count from 0."""
        return f"{self.place.sheet}!{address(self.place.row + row, self.place.column + column)}"


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """What a lesson asks for, with the numbers that it was made with.

    Attributes:
        exercises: the matrices to fill in, in order.
        tolerance: relative tolerance of a right answer.
        exam: whether the lesson is an exam.
    """

    computation: Computation
    settings: Settings
    layout: Layout
    exercises: tuple[Exercise, ...]
    tolerance: float
    exam: bool


def from_key(keys: Keys, key: Key) -> Assignment:
    """The assignment of one student, from the answer key.

    Raises:
        InputError: if the key is incomplete.
    """
    tables, lines = key_tables(keys, key)
    settings = recorded_settings(keys.path, lines)
    computation, layout, blocks = _computed(tables, settings)
    exercises = []
    for name, _, where in lines:
        if not name.startswith(f"{BLANK} "):
            continue
        block, place = _block(blocks, name, f"{keys.path}"), parse_place(where)
        if place is None or (place.rows, place.columns) != block.node.shape:
            raise InputError(
                f"{keys.path}: {where!r} does not fit the matrix {block.name}. Was the key edited?"
            )
        one = Exercise(block, place, np.zeros(block.node.shape, bool))
        for row, column in np.ndindex(*block.node.shape):
            one.cells[row, column] = one.cell(row, column) in key.answers
        if one.cells.any():
            exercises.append(one)
    return _assignment(computation, settings, layout, exercises, lines, f"{keys.path}")


def from_record(opened: Reopened) -> Assignment:
    """The assignment that a lesson's own record describes, with the lesson's current inputs and its
    original switches.

    Raises:
        InputError: if the workbook is not a lesson, or its record is inconsistent.
    """
    where = f"{opened.book.path}, sheet '{SETTINGS}'"
    if not any(line[0].startswith(f"{BLANK} ") for line in opened.lines):
        raise InputError(f"{opened.book.path}: is not a lesson: it has no cells to fill in.")
    computation, layout, blocks = _computed(opened.tables, opened.recorded)
    exercises = []
    for name, value, place in opened.lines:
        if name.startswith(f"{BLANK} "):
            block = _block(blocks, name, where)
            cells = _blank_cells(str(value), block.node, where)
            exercises.append(Exercise(block, parse_place(place) or block.place, cells))
    return _assignment(computation, opened.recorded, layout, exercises, opened.lines, where)


def _computed(tables: Tables, settings: Settings) -> tuple[Computation, Layout, dict[str, Block]]:
    computation = attend(tables, settings)
    layout = lay_out(computation, settings.sheets_for)
    return computation, layout, {block.name: block for block in layout.blocks.values()}


def _block(blocks: dict[str, Block], name: str, where: str) -> Block:
    called = name.partition(" ")[2]
    if called not in blocks:
        raise InputError(f"{where}: there is no step {called!r} to fill in. Was the record edited?")
    return blocks[called]


def _blank_cells(text: str, node: Node, where: str) -> np.ndarray:
    """The mask of the cells that `all` or `1,2; 3,1` lists."""
    if text == "all":
        return np.ones(node.shape, bool)
    cells = np.zeros(node.shape, bool)
    try:
        for part in text.split(";"):
            row, column = (int(number) - 1 for number in part.split(","))
            if min(row, column) < 0:
                raise ValueError
            cells[row, column] = True
    except (ValueError, IndexError):
        raise InputError(f"{where}: {shortened(text)!r} is not a list of blank cells.") from None
    return cells


def _assignment(
    computation: Computation,
    settings: Settings,
    layout: Layout,
    exercises: Sequence[Exercise],
    lines: Sequence[tuple[str, object, str]],
    where: str,
) -> Assignment:
    record = {name: value for name, value, _ in lines}
    try:
        tolerance = float(str(record.get(f"{LESSON} tolerance")))
    except ValueError:
        tolerance = -1.0
    if not 0 < tolerance < 1:
        raise InputError(f"{where}: the tolerance is missing or not between 0 and 1.")
    exam = record.get(f"{LESSON} kind") == "exam"
    return Assignment(computation, settings, layout, tuple(exercises), tolerance, exam)


# Changes to a lesson


def changed_inputs(book: WrittenBook, assignment: Assignment) -> list[str]:
    """Remarks on inputs that differ from those in the key."""
    remarks = []
    for source in sources(assignment.layout, assignment.computation, assignment.settings):
        place = parse_place(source.place)
        if place is None:
            continue
        node = source.node
        found = book.find(source.defined, place, node.rows, node.columns)
        if found is None:
            remarks.append(
                f"The sheet “{place.sheet}” with given numbers is missing; marked with the numbers in "
                "the key."
            )
            continue
        changed = []
        for row, column in np.ndindex(*node.shape):
            at = found.rows[row], found.columns[column]
            value = book.value(found.sheet, *at) if None not in at else ""  # type: ignore[arg-type]
            number = float(node.values[row, column])
            if not _holds(value, number):
                now = "blank" if value == "" else shortened(_text(value), 20)
                cell = f"{found.sheet}!{address(place.row + row, place.column + column)}"
                changed.append(f"{cell} is {now}, was {number:g}")
        if changed:
            cells = listed(changed, MOST_LISTED, "; ")
            remarks.append(f"Given numbers were changed: {cells}. Marked with the original numbers.")
    return remarks


def _holds(value: object, number: float) -> bool:
    """Whether a cell holds a number, up to the 15 digits that some programs keep."""
    return is_number(value) and abs(value - number) <= 1e-9 * max(1.0, abs(number))


def changed_since(opened: Reopened, assignment: Assignment) -> list[str]:
    """A remark if the inputs, words or settings differ from those that the record has a digest of."""
    record = {name: value for name, value, _ in opened.lines}
    computation, settings = assignment.computation, assignment.settings
    if record.get(f"{LESSON} inputs") == digest(computation, settings):
        return []
    names = [
        source.defined or source.name
        for source in sources(assignment.layout, computation, settings)
        if record.get(f"{TABLE} {source.defined or source.name}") != table_digest(source.node)
    ]
    where = f" in {', '.join(names)}" if names else ""
    return [
        f"GIVEN NUMBERS OR WORDS WERE CHANGED{where}: marked with the changed ones. Only an answer key "
        "(--answers) has the originals."
    ]


def changed_record(lines: Sequence[tuple[str, object, str]], keys: Keys) -> list[str]:
    """Remarks on settings in the lesson's record that differ from those in the key."""
    in_key = {str(line[0]): _text(line[1]) for line in keys.lines if _is_choice(str(line[0]))}
    here = {name: _text(value) for name, value, _ in lines if _is_choice(name)}
    remarks = [
        f"The sheet “{SETTINGS}” has {name} = {here.get(name, 'nothing')}, the key has "
        f"{in_key.get(name, 'nothing')}; marked by the key."
        for name in dict.fromkeys([*in_key, *here])
        if in_key.get(name) != here.get(name)
    ]
    return remarks


def edited_record(lines: Sequence[tuple[str, object, str]]) -> list[str]:
    """A remark that names the lines of a lesson's record that are not as they were written."""
    record = {name: value for name, value, _ in lines}
    if CHECKS not in record:
        return []
    written = str(record[CHECKS]).split()
    kept = [line for line in lines if line[0] != CHECKS]
    edited = [f"{name} = {_text(value)}" for name, value, place in kept
              if check_of((name, value, place)) not in written]  # fmt: skip
    gone = len({*written} - {check_of(line) for line in kept}) - len(edited)
    if gone > 0:
        edited.append("a line is missing" if gone == 1 else f"{gone} lines are missing")
    if not edited:
        return []
    lines_edited = listed(edited, MOST_LISTED, "; ")
    return [f"The sheet “{SETTINGS}” was edited: {lines_edited}."]


def _is_choice(name: str) -> bool:
    shared = (f"{LESSON} kind", f"{LESSON} tolerance")
    return name in shared or not name.startswith(NO_CHOICES)


def _text(value: object) -> str:
    is_share = isinstance(value, float) and not value.is_integer()
    return f"{value:g}" if is_share else as_text(value)
