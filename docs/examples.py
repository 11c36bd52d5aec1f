"""The workbooks that the pages quote and the pictures show, each made by a call of attn-xl, and a
digest of what a reader sees of them."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from shutil import copy
from unittest.mock import patch
from zipfile import ZipFile

import openpyxl
import typer.rich_utils  # noqa: F401 - it reads the environment when it is imported, so not within call

from attn_xl.cli.main import main
from attn_xl.teaching.lessons.answer_key import answers_of, read_key

HERE = Path(__file__).parent
LINKED = HERE / "workbooks"
"""The folder of those that the pages quote and link to."""


@contextmanager
def at_home() -> Iterator[None]:
    """In the folder of the repository, where the examples are called."""
    before = Path.cwd()
    os.chdir(HERE.parent)
    try:
        yield
    finally:
        os.chdir(before)


def call(*arguments: object, **environment: str) -> str:
    """The standard output of a call of attn-xl, as for a pipe unless the environment says otherwise."""
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    out = io.StringIO()
    changed = patch.dict(os.environ, {**kept, **environment}, clear=True)
    with at_home(), changed, redirect_stdout(out), redirect_stderr(io.StringIO()), suppress(SystemExit):
        main([str(argument) for argument in arguments])
    return "\n".join(line.rstrip() for line in out.getvalue().strip("\n").splitlines())


def half_done(folder: Path) -> Path:
    """A lesson in which a student has filled in the queries, with one slip."""
    made, key = folder / "lesson.xlsx", folder / "key.xlsx"
    call("teach", "samples/by-hand.xlsx", "-o", made, "--answers", key, "--layout", "sheets")
    lesson, answers = openpyxl.load_workbook(made), openpyxl.load_workbook(key, data_only=True)
    blanks = [cell for row in lesson["Q"].iter_rows() for cell in row if not cell.protection.locked]
    for cell in blanks:
        cell.value = answers["Q"][cell.coordinate].value
    blanks[1].value += 1
    lesson["Lesson"]["B4"] = "Ada Lovelace"
    lesson.save(folder / "filled.xlsx")
    return folder / "filled.xlsx"


@cache
def marked(around: Path) -> tuple[Path, Path]:
    """The grades of a small class with some mistakes, and the feedback for one student."""
    folder = around / "marked"
    lessons, key, grades = folder / "class", folder / "key.xlsx", folder / "grades.xlsx"
    roster = ("--roster", "samples/class.csv", "-o", lessons, "--answers", key)
    roster = (*roster, "--layout", "sheets")
    call("teach", "samples/by-hand.xlsx", *roster)
    answers = read_key(key)
    for number, student in enumerate(answers.students):
        book = openpyxl.load_workbook(lessons / student.file)
        for cell, value in answers_of(answers.make(student)).items():
            sheet, _, there = cell.rpartition("!")
            if number == 1 and sheet == "Scaled":
                value = value / 2  # divided by d_k = 4 in place of its root
            if number == 1 and sheet == "Scores" and there == "C6":
                value += 1
            if number == 2 and sheet in ("Softmax", "Output"):
                continue
            if number == 0 and sheet == "Softmax":
                value = f"{value:.3f}".replace(".", ",")
            book[sheet][there] = value
        book.save(lessons / student.file)
    (lessons / answers.students[3].file).unlink()
    call("grade", lessons, "-o", grades, "--answers", key, "--feedback", folder / "feedback")
    return grades, folder / "feedback" / answers.students[1].file


def of(*arguments: str) -> Callable[[Path], Path]:
    """A workbook that one call writes."""

    def write(folder: Path) -> Path:
        call(*arguments, "-o", folder / "book.xlsx")
        return folder / "book.xlsx"

    return write


NUMBER = re.compile(r"(?<![\w.#$-])-?\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])")
TOPICS = ("cat", "dog", "mouse", "keyboard", "florida", "texas", "truth")
WORKBOOKS: dict[str, Callable[[Path], Path]] = {
    "compared-models": of(
        "compare", "samples/rnn.xlsx", "--models", "cnn", "rnn", "lstm", "gru", "attention"
    ),
    "tiny-model": of("model", "samples/tiny-model", "--text", "the cat chased the mouse and the"),
    "canvas": of("convert", "samples/projections.xlsx", "--layout", "canvas"),
    "encoder": of("convert", "samples/encoder.xlsx"),
    "own-sheet": lambda folder: Path(
        copy(HERE.parent / "samples" / "authors" / "two-contexts.xlsx", folder / "book.xlsx")
    ),
    "own-sheet-filled": of("fill", "samples/authors/two-contexts.xlsx"),
    "feedback": lambda folder: marked(folder.parent)[1],
    "grades": lambda folder: marked(folder.parent)[0],
    "heads-canvas": of("convert", "samples/multi-head.xlsx", "--layout", "canvas"),
    "learning": of("learn", "samples/learning.xlsx", "--steps", "20", "--live", "2"),
    "lesson": half_done,
    "masks": of("convert", "samples/masks.xlsx", "--plain"),
    "mouse": of("convert", "samples/mouse.xlsx", "--plain"),
    "mouse-controls": of("convert", "samples/mouse.xlsx"),
    "multi-head": of("convert", "samples/multi-head.xlsx", "--plain"),
    "new": of("new", "--words", "the cat chased the mouse", "--dims", "4", "--seed", "7"),
    "print": of("convert", "samples/projections.xlsx", "--template", "print"),
    "projections": of("convert", "samples/projections.xlsx", "--plain"),
    "similarity": of("similarity", "samples/politics.xlsx"),
    "vectors": of("vectors", "samples/vectors.txt", "--words", " ".join(TOPICS), "--pca", "2"),
}
"""The function that makes each, in an empty folder, by name."""
QUOTED = ("encoder", "masks", "mouse", "mouse-controls", "multi-head", "projections")
"""Those that the pages link to; they are kept in `LINKED`."""


def workbook(name: str, folder: Path) -> Path:
    """Make one, in a folder of its own."""
    (folder / name).mkdir()
    return WORKBOOKS[name](folder / name)


def seen(path: Path, sheets: tuple[str, ...] = ()) -> str:
    """A digest of what a reader sees on these sheets, or on all: formulas, values, charts, styles.

    Numbers count to six digits after the decimal point, because their last digits may differ between
    machines. Compression, author and time of the file do not count.
    """
    book = openpyxl.load_workbook(path)
    with ZipFile(path) as package:
        parts = [f"xl/worksheets/sheet{book.sheetnames.index(sheet) + 1}.xml" for sheet in sheets]
        found = hashlib.sha256()
        for part in sorted(package.namelist()):
            always = re.match(r"xl/(styles|sharedStrings|charts/)", part)
            if always or part in parts or (not sheets and part.startswith("xl/worksheets/sheet")):
                text = package.read(part).decode()
                found.update(NUMBER.sub(_rounded, text).encode())
    return found.hexdigest()


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 6) + 0.0}"  # + 0.0 makes 0 of -0
