"""Everything that a class gets in another language: no English is left but names."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from html import unescape
from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES, alike, thorough
from pseudo import PSEUDO, Text, left_in_english, own_texts, pseudo_language

from attn_xl.cli.main import main
from attn_xl.cli.options import read_file_tables
from attn_xl.teaching.answer_key import read_keys
from attn_xl.text import capitalized

LESSONS = {
    "sheets": ("mouse", ["--layout", "sheets", "--level", "3"]),
    "layers": ("multi-head", ["--level", "2"]),
    "canvas": ("mouse", ["--layout", "canvas"]),
    "few": ("by-hand", ["--level", "1", "--ramp"]),
    "exam": ("mouse", ["--exam", "--layout", "sheets"]),
    "exam on a canvas": ("mouse", ["--exam", "--layout", "canvas"]),
    "encoder": ("encoder", []),
    "learning": ("learning", ["--steps", "1"]),
    "gru": ("gru", ["--level", "3"]),
    "masks": ("masks", ["--level", "3"]),
    "experts": ("experts", ["--level", "3"]),
    "generate": ("generate", []),
}


def call(*arguments: object) -> None:
    """Run a command in the language of tests."""
    with pseudo_language(), pytest.raises(SystemExit) as end:
        main([*map(str, arguments), "--language", PSEUDO])
    assert not end.value.code


def check(path: Path, sample: str = "", more: Iterable[str] = (), record: str = "Settings") -> None:
    """No English is left in a workbook."""
    own = own_texts(read_file_tables(SAMPLES / f"{sample}.xlsx", {})) if sample else set()
    left = left_in_english(path, {*own, *more, *OF_RAMP}, record=record)
    assert not left, "\n".join(f"{path.name}, {text.where}: {text.text}" for text in left)


@alike
@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_and_its_answers(name: str, tmp_path: Path) -> None:
    sample, options = LESSONS[name]
    lesson, answers = tmp_path / "lesson.xlsx", tmp_path / "answers.xlsx"
    call("teach", SAMPLES / f"{sample}.xlsx", "-o", lesson, "--answers", answers, *options)
    check(lesson, sample)
    check(answers, sample)


@alike
@pytest.mark.parametrize("options", [[], ["--exam"]])
def test_a_ramp(options: list[str], tmp_path: Path) -> None:
    ramp, answers = tmp_path / "ramp.xlsx", tmp_path / "answers.xlsx"
    call("teach", "--ramp", "-o", ramp, "--answers", answers, *options)
    check(ramp)
    check(answers)


@thorough
@pytest.mark.parametrize("kind", ["lesson", "ramp"])
def test_a_class_its_key_feedback_and_grades(kind: str, tmp_path: Path) -> None:
    """Three students: one with right numbers, one with slips, words and predictions, one who edited
    the record and handed in another file."""
    roster, folder, key = tmp_path / "class.csv", tmp_path / "class", tmp_path / "key.xlsx"
    names = {"s1": "Ada", "s2": "Bo", "s3": "Cy"}
    roster.write_text("id,name\n" + "\n".join(map(",".join, names.items())))
    source = [SAMPLES / "by-hand.xlsx", "--answers", key] if kind == "lesson" else ["--ramp"]
    call("teach", *source, "--roster", roster, "-o", folder)
    paths = sorted(folder.iterdir())
    more = {*names, *names.values(), *(path.name for path in paths), "scan.pdf", "seven", "mine"}
    more |= STEPS
    for path in paths[1:]:
        check(path, "by-hand", more)
    if kind == "lesson":
        check(key, "by-hand", more, "Lesson")
        answers = read_keys(key).keys
        for path, (one, found) in zip(paths, answers.items()):
            fill(path, found.answers, one)
    else:
        pages = openpyxl.load_workbook(paths[0]).sheetnames
        for path in paths:
            fill(path, {f"{pages[0]}!I8": 2.0, f"{pages[3]}!I8": 1.0}, path.stem[:2])
    (folder / "scan.pdf").write_bytes(b"%PDF")
    grades, marked = tmp_path / "grades.xlsx", tmp_path / "marked"
    given = ["--answers", key] if kind == "lesson" else []
    call("grade", folder, *given, "-o", grades, "--feedback", marked, "--jobs", 1)
    assert ("Predictions" in openpyxl.load_workbook(grades).sheetnames) == (kind == "lesson")
    for path in (grades, *marked.iterdir()):
        check(path, "by-hand", more)


def fill(path: Path, answers: dict[str, float], student: str) -> None:
    """Fill in a lesson, with the mistakes of one of the three students."""
    book = openpyxl.load_workbook(path)
    for number, (cell, value) in enumerate(answers.items()):
        sheet, _, at = cell.partition("!")
        slip = {"s1": 0, "s2": 1 + number % 3, "s3": -2 * value}[student]
        book[sheet][at] = "seven" if student == "s2" and number == 5 else value + slip
    if "Lesson" in book.sheetnames:
        for row in book["Lesson"].iter_rows(min_row=15):
            if row[2].value and row[3].value is None:  # a question
                row[3].value = "mine"
    if student == "s3" and "Lesson" in book.sheetnames:
        book["Settings"]["B5"] = "mine"
    book.save(path)


STEPS = {"Scores", "Scaled", "Softmax", "Output"}
OF_RAMP = ("a", "b", "x", "X", "W", "q", "K", "V", "v")
"""The names of a ramp's vectors and matrices."""


@pytest.mark.parametrize("ending", ["xml", "zip"])
def test_a_question_bank(ending: str, tmp_path: Path) -> None:
    source, bank = SAMPLES / "by-hand.xlsx", tmp_path / f"bank.{ending}"
    call("teach", source, "--export", bank, "--variants", 1)
    if ending == "zip":
        with zipfile.ZipFile(bank) as package:
            items = [package.read(name).decode() for name in package.namelist() if "item" in name]
        texts = [text for item in items for text in re.findall('title="([^"]*)"|>([^<]+)<', item)]
        said = ["".join(text) for text in texts]
    else:
        text = "\n".join(re.findall("<text>(.*?)</text>", bank.read_text(encoding="utf-8")))
        said = re.sub("<[^>]*>", "\n", unescape(text).replace("$course$/top/by-hand/", "")).splitlines()
    own = {*own_texts(read_file_tables(source, {})), *STEPS, "Input", "Exponentials", "Sum"}
    found = [Text("the bank", unescape(text)) for text in said]
    assert len(found) > 50
    assert left_in_english(source, own, found) == []


def test_a_question_begins_with_a_capital_behind_its_opening_mark() -> None:
    said = [capitalized(text) for text in ("", "¿", "¿puede una palabra?", "welches Wort", "词")]
    assert said == ["", "¿", "¿Puede una palabra?", "Welches Wort", "词"]
