"""Every kind of workbook that the program writes, each by the calls that a user makes."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SAMPLES

from attn_xl.cli.main import main

ALL = sorted(path.stem for path in SAMPLES.glob("*.xlsx"))
LAYOUTS, TEMPLATES, STYLES = ("sheets", "canvas"), ("article", "print"), ("array", "dynamic", "none")
Make = Callable[[Path], list[Path]]
"""Writes workbooks into an empty folder."""


def run(*arguments: object) -> None:
    """One call of attn-xl, which must succeed."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    assert end.value.code in (0, None), arguments


def of(*arguments: object) -> Make:
    """The workbook that one call writes."""

    def make(folder: Path) -> list[Path]:
        run(*arguments, "-o", folder / "book.xlsx")
        return [folder / "book.xlsx"]

    return make


def lesson_and_answers(*arguments: object) -> Make:

    def make(folder: Path) -> list[Path]:
        made, key = folder / "lesson.xlsx", folder / "answers.xlsx"
        run("teach", *arguments, "-o", made, "--answers", key)
        return [made, key]

    return make


def graded(folder: Path) -> list[Path]:
    """The lessons of a class with right, wrong and missing numbers, its grades and the feedback."""
    grades, _ = runpy.run_path(str(ROOT / "docs" / "examples.py"))["marked"](folder)
    around = grades.parent
    return [grades, around / "key.xlsx", *sorted((around / "feedback").iterdir())]


def from_words(*arguments: object) -> Make:
    return of("vectors", SAMPLES / "vectors.txt", *arguments, "--words", "cat", "dog", "texas", "truth")


def _kinds() -> dict[str, Make]:
    kinds: dict[str, Make] = {}
    for number, name in enumerate(ALL):  # layouts, templates, styles of formulas and lessons in turn
        sample, turn = SAMPLES / f"{name}.xlsx", number // 2
        layout, template = LAYOUTS[number % 2], TEMPLATES[turn % 2]
        looks = ("--layout", layout, "--template", template)
        kinds[f"{name} {layout} {template}"] = of("convert", sample, *looks)
        if number % 3 == 0:
            decimals = (0, 2, 6, 15)[turn % 4]
            kinds[f"{name} plain"] = of("convert", sample, "--plain", "--decimals", decimals)
        elif number % 3 == 1:
            style, layout = STYLES[turn % 3], LAYOUTS[1 - number % 2]
            looks = ("--layout", layout, "--formulas", style)
            kinds[f"{name} {style}"] = of("convert", sample, *looks)
        else:
            kinds[f"{name} lesson"] = of("teach", sample, "--level", turn % 3 + 1)
    for template in TEMPLATES:
        look = ("--template", template)
        kinds[f"exam {template}"] = lesson_and_answers(SAMPLES / "mouse.xlsx", "--exam", *look)
        kinds[f"similarity {template}"] = of("similarity", SAMPLES / "projections.xlsx", *look)
    kinds["similarity of one sentence"] = of("similarity", SAMPLES / "politics.xlsx")
    kinds["grades and feedback"] = graded
    kinds["new"] = of("new", "--words", "the cat chased the mouse", "--heads", 2)
    kinds["new without weights"] = of("new", "--words", "the cat sat", "--no-weights", "--dims", 3)
    kinds["vectors"] = from_words()
    kinds["vectors --pca"] = from_words("--pca", 2)
    return kinds


KINDS = _kinds()
"""Every kind by its name: sample x layout x template x style of formulas, lessons, and the rest."""


def covering(paths: Sequence[Path], parts: Callable[[Path], Set[Any]]) -> list[Path]:
    """Few workbooks that have together all parts that these have: the one with the most new parts comes
    next. What a program says of a part in one of them it says in another."""
    found = {path: parts(path) for path in paths}
    seen: set[Any] = set()
    chosen: list[Path] = []
    while new := max((found[path] - seen for path in paths), key=len):
        chosen.append(next(path for path in paths if found[path] - seen == new))
        seen |= new
    return chosen


class Corpus:
    """Workbooks of each kind, written when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: dict[str, list[Path]] = {}

    def __getitem__(self, kind: str) -> list[Path]:
        """The workbooks of a kind; no two in the corpus have the same name."""
        if kind not in self._made:
            name = kind.replace(" ", "-")
            folder = self._folder / name
            folder.mkdir()
            made = KINDS[kind](folder)
            self._made[kind] = [path.rename(folder / f"{name}-{path.name}") for path in made]
        return self._made[kind]

    def all(self) -> list[Path]:
        """The workbooks of every kind."""
        return [path for kind in KINDS for path in self[kind]]
