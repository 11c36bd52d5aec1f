"""Marking one submission: its owner, its points, and remarks on everything unusual about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from attn_xl.errors import AttnXlError, InputError, unforeseen
from attn_xl.graph.graph import walk
from attn_xl.graph.matrix import Matrix, Numbers
from attn_xl.outputs import SPREADSHEETS, check_output
from attn_xl.settings import Settings
from attn_xl.spreadsheets.numerals import as_text
from attn_xl.tables.written import WrittenBook, read_record, shown_choice, switches
from attn_xl.teaching.lessons.answer_key import AnswerKey, is_key, key_in, read_key
from attn_xl.teaching.lessons.blanks import results_of
from attn_xl.teaching.lessons.pages import COVER
from attn_xl.teaching.roster import Student, file_name
from attn_xl.text import clean, listed
from attn_xl.views.cell_names import CellNames, Element
from attn_xl.views.explanation import figure, worked_with
from attn_xl.workbook.templates import DEFAULT

from .assignment import Assignment, assigned, changed_inputs
from .feedback import is_feedback, write_feedback
from .grades import CellMark, Graded, Status, is_grades
from .marking import Entries, Entry, Marking, Verdict, mark, no_entries, read_entry

DECIMALS, MOST_TERMS, MOST_LISTED = 4, 12, 5
_AS_TEXT = "Numbers typed as text: {cells}."
_NO_NUMBERS = "Not numbers: {cells}."


@dataclass(frozen=True)
class Submission:
    """A file to mark.

    Attributes:
        path: the file; key: the answer key of its class.
        feedback: the path of its marked copy; template: the look of that copy.
        named: whether the call named it; otherwise files of other formats are skipped.
        force: whether to replace an existing marked copy.
    """

    path: Path
    key: Path | None = None
    feedback: Path | None = None
    template: str | Path = DEFAULT
    named: bool = True
    force: bool = False


def grade_one(submission: Submission) -> Graded:
    """Mark one file. Whatever is wrong with the file becomes a remark, not an exception."""
    path = submission.path
    try:
        return _graded(submission)
    except AttnXlError as error:
        reason = str(error).removeprefix(f"{path}").lstrip(":, ")
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in a reader is not an Exception
        reason = f"{clean(unforeseen(error))}."
    remark = f"Not marked: {reason}"
    return Graded(path, Status.failed, remarks=(remark,))


def _graded(submission: Submission) -> Graded:
    path = submission.path
    if path.name.startswith(("~$", ".~lock.")):
        return _skipped(path, "a lock file of a spreadsheet program")
    if not submission.named and path.suffix.lower() not in SPREADSHEETS:
        return _skipped(path, "not a spreadsheet. Ask for the .xlsx")
    book = WrittenBook.read(path)
    for known, what in (
        (is_key, "an answer key"),
        (is_grades, "grades from an earlier run"),
        (is_feedback, "feedback from an earlier run"),
    ):
        if known(book):
            return _skipped(path, what)
    return _graded_book(submission, book)


def _graded_book(submission: Submission, book: WrittenBook) -> Graded:
    path = submission.path
    lines = read_record(book.grids)
    record = {name: value for name, value, _ in lines or ()}
    student = Student(clean(_student_id(record)), clean(record.get("lesson name", "")), "")
    remarks: list[str] = []
    key = _key(submission.key) if submission.key else None
    owner = _in_key(key, student.id, path) if key else None
    if key and key.students and not owner:
        whose = f"“{student.id}”, who is not in the key" if student.id else "nobody in the key"
        remarks.append(f"This lesson belongs to {whose}; marked by its own record.")
        key = None
    if key:
        assignment = _assignment(key.path, owner)
        if lines is None:
            remarks.append("The sheet “Settings” is missing; marked by the key.")
            if not any(one.place.sheet in book.grids for one in assignment.exercises):
                raise InputError(f"{path}: is not a lesson: it has none of the lesson's sheets.")
        elif owner and not student.id:
            remarks.append(
                "The sheet “Settings” does not name the student; identified by the file name."
            )
        remarks += changed_inputs(book, assignment)
        student = owner or student
    else:
        assignment = assigned(key_in(book))
        if record.get("lesson inputs") != assignment.made.fingerprint:
            remarks.append(
                "GIVEN NUMBERS, WORDS OR SETTINGS WERE CHANGED: marked with the changed ones. Only an "
                "answer key (--answers) has the originals."
            )
    remarks += _switches(book, assignment.made.settings)
    if not student.id:
        student = replace(student, name=_written_name(book))
    entries, unmarked, odd = _entries(book, assignment)
    opened_cells = {one.block.node: one.cells for one in assignment.exercises}
    marking = mark(
        results_of(assignment.computation), opened_cells, entries, assignment.made.lesson.tolerance
    )
    cells = tuple(mark for mark in _cell_marks(assignment, marking) if mark.step not in unmarked)
    steps = {
        one.block.name: marking.points(one.block.node)
        for one in assignment.exercises
        if one.block.name not in unmarked
    }
    if all(entry.blank for rows in entries.values() for row in rows for entry in row):
        remarks.append("Nothing was filled in.")
    graded = Graded(
        path=path,
        status=Status.marked,
        id=student.id,
        name=student.name,
        steps=steps,
        cells=cells,
        remarks=(*remarks, *odd),
        unmarked=unmarked,
    )
    if submission.feedback is None:
        return graded
    try:
        check_output(submission.feedback, force=submission.force)
        write_feedback(graded, assignment, marking, submission.feedback, submission.template)
    except AttnXlError as error:
        return replace(graded, remarks=(*graded.remarks, f"No feedback: {error}"))
    return replace(graded, feedback=submission.feedback.name)


def _skipped(path: Path, what: str) -> Graded:
    return Graded(path, Status.skipped, remarks=(f"Skipped: {what}.",))


@lru_cache(maxsize=4)
def _key(path: Path) -> AnswerKey:
    return read_key(path)


@lru_cache(maxsize=2)
def _assignment(path: Path, student: Student | None) -> Assignment:
    return assigned(_key(path), student)


def _student_id(record: Mapping[str, object]) -> str:
    return as_text(record.get("lesson student", ""))


def _in_key(key: AnswerKey, student: str, path: Path) -> Student | None:
    """The student in the key who owns the lesson, by its record or, failing that, by the file name."""
    for one in key.students:
        if one.id == student:
            return one
    return None if student else named_after(path, key.students)


def named_after(path: Path, students: Sequence[Student]) -> Student | None:
    """The student whom a file is named after or, failing that, its folder."""
    for text in (path.stem, path.parent.name):
        folded = text.casefold()
        meant = [one for one in students if _expected(one).casefold() in folded]
        meant = meant or [one for one in students if _begins(folded, one.id, one.name)]
        if meant:
            return max(meant, key=lambda one: len(one.id) + len(one.name))
    return None


def _expected(student: Student) -> str:
    return Path(student.file or file_name(student.id, student.name, set())).stem


def _begins(text: str, *beginnings: str) -> bool:
    """Whether a text begins with one of these as a whole word."""
    folded = [start.casefold() for start in beginnings if start]
    return any(
        text == start or (text.startswith(start) and not text[len(start)].isalnum()) for start in folded
    )


def _written_name(book: WrittenBook) -> str:
    """The name that a student wrote on the first page."""
    named = [row for row in range(3, 9) if book.text(COVER, row, 1)]  # after the title and its note
    return book.text(COVER, named[0], 2)[:100] if named else ""


def _switches(book: WrittenBook, settings: Settings) -> list[str]:
    """Remarks on switches that the student changed."""
    remarks = []
    for switch in switches(book, settings):
        was = shown_choice(switch.was)
        if switch.trouble:
            remarks.append(f"{switch.trouble} Marked with the original setting, {was}.")
        elif switch.now != switch.was:
            remarks.append(
                f"{switch.name} was set to {switch.shown}; marked with the original setting, {was}."
            )
    return remarks


# Entries


def _entries(
    book: WrittenBook, assignment: Assignment
) -> tuple[dict[Matrix, Entries], tuple[str, ...], list[str]]:
    """The student's entries, the steps that were not found, and remarks on what is unusual."""
    missing: list[str] = []
    found: dict[Matrix, Entries] = {}
    odd: dict[str, list[str]] = {}
    gone: list[str] = []
    for one in assignment.exercises:
        node, block = one.block.node, one.block
        entries = found[node] = no_entries(node)
        labelled = block.labelled and block.headed
        at = book.find(block.name, one.place, node.rows, node.columns, labelled=labelled)
        if at is None:
            gone.append(one.place.sheet)
            missing.append(block.name)
            continue
        for row, column in np.argwhere(one.cells).tolist():
            entry = read_entry(book.value(at.sheet, at.row + row, at.column + column))
            entries[row][column] = entry
            if entry.remark:
                odd.setdefault(_kind(entry), []).append(f"{one.cell(row, column)}: {entry.remark}")
    remarks = [kind.format(cells=listed(cells, MOST_LISTED, "; ")) for kind, cells in odd.items()]
    if gone:
        remarks.insert(0, f"Not found, so not marked, and no total: {', '.join(dict.fromkeys(gone))}.")
    return found, tuple(missing), remarks


def _kind(entry: Entry) -> str:
    """A remark on such entries, with `{cells}`."""
    return _AS_TEXT if entry.number is not None else _NO_NUMBERS


# Results by cell


def _cell_marks(assignment: Assignment, marking: Marking) -> list[CellMark]:
    """The cells that are not right, each with its calculation."""
    names = CellNames(assignment.computation, assignment.layout)
    own = marking.numbers.shown
    truth = {node: node.values for node in walk(results_of(assignment.computation))}
    cell_marks = []
    for one in assignment.exercises:
        node = one.block.node
        expected = marking.numbers.expected[node]
        for row, column in np.argwhere(one.cells).tolist():
            verdict = marking.verdicts[node][row][column]
            if verdict is None or verdict is Verdict.right:
                continue
            follows = float(expected[row, column])
            known = bool(np.isfinite(follows))
            entry = marking.entries[node][row][column]
            cell = Element(node, row, column)
            numbers = own if known else truth
            cell_marks.append(
                CellMark(
                    step=one.block.name,
                    cell=one.cell(row, column),
                    name=names.name(cell),
                    verdict=verdict,
                    entered=entry.shown,
                    number=entry.number,
                    right=float(node.values[row, column]),
                    follows=follows if known else None,
                    worked=_worked(cell, names, numbers, verdict),
                )
            )
    return cell_marks


def _worked(
    cell: Element, names: CellNames, numbers: Mapping[Matrix, Numbers], verdict: Verdict
) -> str:
    """The calculation with the values substituted: `2·2.6 + 1.9·0.1 = 5.39`."""
    if verdict is Verdict.blank:
        return ""
    calculation = worked_with(cell, names, numbers, decimals=DECIMALS, most=MOST_TERMS)
    operands = [numbers[parent] for parent in cell.node.parents]
    with np.errstate(all="ignore"):
        value = float(np.asarray(cell.node.operation.numbers(*operands))[cell.row, cell.column])  # type: ignore[union-attr]
    result = figure(value, DECIMALS)
    return f"{calculation} = {result}" if calculation != result else calculation
