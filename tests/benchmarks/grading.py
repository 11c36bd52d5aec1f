"""Marking a class of 300 with feedback: processor time in one process, with one lesson for all and its
key, and with a roster's lessons and theirs.

    python tests/benchmarks/grading.py [STUDENTS]

The submissions hold right numbers, but one in each step that is not. Every formula has a stored value,
as spreadsheet programs save it. The lessons have the sheets of controls and their charts.
"""

from __future__ import annotations

import gc
import re
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np

import attn_xl
from attn_xl.tables.written.reopen import reopened
from attn_xl.tables.written.written_book import WrittenBook
from attn_xl.teaching.answer_key import read_keys
from attn_xl.teaching.grading.assignment import Assignment, from_key, from_record
from attn_xl.teaching.grading.grade_class import grade_class
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.class_lessons import write_class
from attn_xl.teaching.lessons.lesson import write_lesson

SAMPLE = Path(__file__).parents[2] / "samples" / "by-hand.xlsx"


def hand_in(lesson: Path, to: Path, assignment: Assignment, slip: int) -> None:
    """Fill in a lesson; the cell at place `slip` of each step is wrong by 1.37."""
    numbers: dict[str, dict[str, float]] = {}
    for one in assignment.exercises:
        sheet = numbers.setdefault(one.place.sheet, {})
        for row, column in np.argwhere(one.cells).tolist():
            wrong = row * one.place.columns + column == slip % one.cells.size
            cell = one.cell(row, column).rpartition("!")[2]
            sheet[cell] = float(one.block.node.values[row, column]) + 1.37 * wrong
    with zipfile.ZipFile(lesson) as source:
        parts = {info.filename: source.read(info) for info in source.infolist()}
    names = re.findall(r'<sheet [^>]*?name="([^"]+)"', parts["xl/workbook.xml"].decode())
    for number, name in enumerate(names, 1):
        own = numbers.get(name, {})
        part = f"xl/worksheets/sheet{number}.xml"
        text, filled = parts[part].decode(), 0
        for found in reversed([*re.finditer(r'<c r="([A-Z]+[0-9]+)" s="([0-9]+)"\s*/>', text)]):
            if found[1] in own:
                cell = f'<c r="{found[1]}" s="{found[2]}"><v>{own[found[1]]!r}</v></c>'
                text = text[: found.start()] + cell + text[found.end() :]
                filled += 1
        assert filled == len(own), f"{name}: {filled} of {len(own)} cells were blank"
        parts[part] = text.encode()
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in parts.items():
            target.writestr(name, data)


def measure(files: list[Path], key: Path, feedback: Path) -> str:
    gc.disable()  # as `attn-xl grade` does
    begun = time.process_time()
    graded = grade_class(files, answers=key, feedback=feedback, jobs=1)
    spent = time.process_time() - begun
    gc.enable()
    assert all(one.feedback for one in graded), "a submission was not marked"
    return f"{len(graded)} students: {spent:.1f} s of processor time"


def main(students: int) -> None:
    tables = attn_xl.read_tables(SAMPLE)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        one, key = folder / "lesson.xlsx", folder / "key.xlsx"
        write_lesson(tables, one, answers=key)
        assignment = from_record(reopened(WrittenBook.read(key)))
        files = []
        for number in range(students):
            files.append(folder / f"s{number:03}.xlsx")
            hand_in(one, files[-1], assignment, number)
        print("one lesson:", measure(files, key, folder / "feedback-one"))
        roster = folder / "roster.csv"
        roster.write_text("id,name\n" + "\n".join(f"s{i},Student {i}" for i in range(students)))
        owners, key = write_class(
            tables, roster, folder / "class", settings=attn_xl.Settings(controls=True), lesson=Lesson()
        )
        keys = read_keys(key)
        for number, owner in enumerate(owners):
            path = folder / "class" / owner.file
            hand_in(path, path, from_key(keys, keys.keys[owner.id]), number)
        files = [folder / "class" / owner.file for owner in owners]
        print("a roster:  ", measure(files, key, folder / "feedback-roster"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
