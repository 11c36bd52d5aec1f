"""An exam has no answer anywhere in its file: every part of the package is searched for every answer,
in every rounding."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, thorough, verify

from attn_xl import CallError, read_tables
from attn_xl.graph.graph import referred_to
from attn_xl.graph.matrix import Matrix
from attn_xl.models.build import attend
from attn_xl.settings import Activation, Settings
from attn_xl.tables.survey import Tables
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.teaching.lessons.variants import varied
from attn_xl.workbook.layout.layout import Layout

Keep = Callable[[Path], Path]
ALL = sorted(
    path.stem for path in SAMPLES.glob("*.xlsx") if not path.stem.endswith(("-attention", "-lesson"))
)
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
FEWEST = 4
"""An answer of fewer significant digits may stand anywhere by chance."""


def digits(number: str) -> int:
    """How many significant digits a number is written with."""
    return len(re.sub(r"[eE].*|[-+.]", "", number).strip("0") or "0")


def numbers_in(path: Path) -> set[str]:
    """Every number in every part of a package, names of parts too, as it is written."""
    found: set[str] = set()
    with zipfile.ZipFile(path) as archive:
        assert archive.comment == b""
        for info in archive.infolist():
            assert not info.comment
            text = info.filename + " " + archive.read(info).decode("utf-8", "replace")
            # In cells, names, charts and texts; `Scores!$B$5` is none.
            found |= {n.lstrip("+") for n in NUMBER.findall(text.replace("&quot;", '"'))}
    return found


def answers_of(layout: Layout) -> dict[float, Matrix]:
    """Those of at least four significant digits, with the matrix they belong to."""
    found = {}
    for node, cells in layout.blanks.open.items():
        for value in node.values[cells].tolist():
            left_by_cancelling = abs(value) < 1e-12
            few = np.isclose(value, float(f"{value:.{FEWEST - 1}g}"), rtol=1e-9, atol=0)
            if not few and not left_by_cancelling:
                found[value] = node
    return found


def allowed(layout: Layout, node: Matrix) -> np.ndarray:
    """What may be there though it is an answer: given numbers, and those that the step copies."""
    steps = {parent.base_name for parent in referred_to(node)}
    shown = [
        layout.values(other).ravel() for other in layout.blocks
        if other.operation is None or other.base_name in steps
    ]  # fmt: skip
    values = np.concatenate(shown)
    return values[np.isfinite(values)]


def leaks(path: Path, layout: Layout, structure: set[str]) -> list[str]:
    """The answers that a package gives away; `structure`: numbers that have nothing to do with it."""
    tokens = numbers_in(path) - structure
    answers = answers_of(layout)
    ordered = np.array(sorted(answers))
    if not len(ordered):
        return []
    shown = np.concatenate([layout.values(node).ravel() for node in layout.blocks])
    shown = np.unique(shown[np.isfinite(shown)])
    found = []
    for token in tokens:
        value, places = float(token), digits(token)
        if places < 3 or (places == 3 and "." not in token):
            continue
        for sign in (1, -1):
            at = np.searchsorted(ordered, sign * value)
            for answer in ordered[max(0, at - 2) : at + 2].tolist():
                same = any(float(f"{answer:.{p}g}") == sign * value for p in range(3, 18))
                if not same:
                    continue
                exact = np.abs(shown - value).min(initial=np.inf) <= 1e-12 * abs(value)
                itself = abs(answer - sign * value) <= 1e-9 * abs(answer)
                if exact and not itself:
                    continue  # a number that is given, and looks like it when it is rounded
                may = allowed(layout, answers[answer])
                if np.isclose(may, answer, rtol=1e-9, atol=0).any():
                    continue
                found.append(f"{answers[answer].name}: {answer} as {token}")
    return found


def exam(tables: Tables, path: Path, settings: Settings, lesson: Lesson) -> Layout:
    return write_lesson(tables, path, settings=settings, lesson=lesson)


_twins: dict[Path, Tables] = {}


def searched(tables: Tables, path: Path, settings: Settings, lesson: Lesson) -> int:
    """Write an exam, search it; how many answers were searched for."""
    layout = exam(tables, path, settings, lesson)
    other = path.with_name("other.xlsx")
    # The same with other numbers: what both have in common is structure.
    if path not in _twins:
        plain = Settings(**{**vars(settings), "controls": False})
        _twins[path] = varied(tables, "another", settings=plain)
    exam(_twins[path], other, settings, lesson)
    found = leaks(path, layout, numbers_in(other))
    assert not found, found[:5]
    return len(answers_of(layout))


def sample(name: str) -> tuple[Tables, Settings]:
    tables = read_tables(SAMPLES / f"{name}.xlsx")
    chosen: dict[str, Any] = {"controls": True}
    if name == "encoder":
        chosen["activation"] = Activation.relu
    return tables, Settings.resolve(chosen, tables.settings, "")


@alike
@pytest.mark.parametrize(("name", "level"), [(name, (2, 3, 1)[i % 3]) for i, name in enumerate(ALL)])
def test_no_answer_in_any_sample(name: str, level: int, tmp_path: Path, keep: Keep) -> None:
    tables, settings = sample(name)
    path = tmp_path / "exam.xlsx"
    long = searched(tables, path, settings, Lesson(level=level, exam=True))
    round_numbers = ("cnn", "given-weights", "learned-positions")
    assert long >= (0 if name in round_numbers else 2)
    (keep if level == 2 and name in ("mouse", "multi-head", "masks") else verify)(path)


def steps_of(tables: Tables, settings: Settings) -> list[str]:
    """Every step that can be left blank, as it is called in all sentences and heads, and in one."""
    computation = attend(tables, settings)
    names: dict[str, None] = {}
    for sentence, graph in computation.items():
        for full, node in graph.items():
            if node.operation is not None and not node.texts and not node.sheet:
                names[full] = None
                if len(computation) > 1 and sentence == next(iter(computation)):
                    names[f"{sentence}.{full}"] = None
    return list(names)


@thorough
@pytest.mark.parametrize("name", ["mouse", "plain-sum", "masks"])
def test_no_answer_if_a_single_step_is_blank(name: str, tmp_path: Path) -> None:
    tables, settings = sample(name)
    count = 0
    for step in steps_of(tables, settings):
        try:
            count += searched(tables, tmp_path / "e.xlsx", settings, Lesson(blank=(step,), exam=True))
        except CallError:  # a block of weights that two sentences share has no such name
            continue
    assert count > (5 if name != "plain-sum" else 0)


@thorough
def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """A test of the test: an answer planted as a rounded text, in a part of its own, in a name."""
    tables, settings = sample("mouse")
    path, other = tmp_path / "exam.xlsx", tmp_path / "other.xlsx"
    layout = exam(tables, path, settings, Lesson(exam=True))
    exam(varied(tables, "x", settings=Settings()), other, settings, Lesson(exam=True))
    structure = numbers_in(other)
    assert not leaks(path, layout, structure)
    answer = next(a for a in answers_of(layout) if digits(f"{a:.3g}") == 3)
    for part, text in (
        ("docProps/app.xml", f"<x>{answer:.3g}</x>"),
        ("customXml/item1.xml", f"<x>{answer!r}</x>"),
        ("xl/hidden.xml", f'<x v="{-answer:.5f}"/>'),
    ):
        planted = tmp_path / "planted.xlsx"
        with zipfile.ZipFile(path) as given, zipfile.ZipFile(planted, "w") as made:
            for name in given.namelist():
                if name != part:
                    made.writestr(name, given.read(name))
            made.writestr(part, text)
        assert leaks(planted, layout, structure), part
    lesson = write_lesson(
        tables, path, settings=settings, lesson=Lesson(level=2), answers=tmp_path / "key.xlsx"
    )
    assert leaks(tmp_path / "key.xlsx", lesson, set())


@thorough
def test_nothing_that_follows_is_there(tmp_path: Path) -> None:
    """What is computed from a blank shows nothing, in cells and in charts."""
    for name in ("mouse", "multi-head", "projections"):
        tables, settings = sample(name)
        path = tmp_path / f"{name}.xlsx"
        layout = exam(tables, path, settings, Lesson(blank=("Scores",), exam=True))
        book = openpyxl.load_workbook(path, data_only=True)
        for node, block in layout.blocks.items():
            for i, j in np.ndindex(*node.shape):
                value = book[block.place.sheet].cell(block.place.row + i, block.place.column + j).value
                assert (value is None) == np.isnan(layout.values(node)[i, j]), (node.name, i, j)
                assert value is None or node not in layout.blanks.open
        with zipfile.ZipFile(path) as archive:
            for part in archive.namelist():
                if not part.startswith("xl/charts/chart"):
                    continue
                chart = archive.read(part).decode()
                for formula, cache in re.findall(r"<f>([^<]*)</f><numCache>(.*?)</numCache>", chart):
                    sheet, cells = formula.replace("$", "").replace("'", "").rsplit("!", 1)
                    there = book[sheet][cells]
                    there = there if isinstance(there, tuple) else ((there,),)
                    shown = [c.value for row in there for c in row if c.value is not None]
                    assert sorted(map(float, re.findall(r"<v>([^<]*)</v>", cache))) == pytest.approx(
                        sorted(shown)
                    )


def looks(path: Path, names: Iterable[str]) -> Any:
    book = openpyxl.load_workbook(path)
    found = []
    for name in names:
        sheet = book[name]
        widths = {key: d.width for key, d in sheet.column_dimensions.items()}
        formats = {c.coordinate: c.number_format for row in sheet["B5:Z9"] for c in row}
        heights = {key: d.height for key, d in sheet.row_dimensions.items()}
        found.append((widths, formats, heights))
    return found


@thorough
def test_an_exam_says_no_more_than_it_must(tmp_path: Path) -> None:
    tables, settings = sample("mouse")
    path = tmp_path / "e.xlsx"
    exam(tables, path, settings, Lesson(exam=True))
    book = openpyxl.load_workbook(path)
    assert "Hints" not in book.sheetnames
    assert all(sheet.sheet_state == "visible" for sheet in book.worksheets)
    text = " ".join(
        str(c.value) for s in book.worksheets for row in s.iter_rows() for c in row if c.value
    )
    assert "mouse.xlsx" not in text
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist()
                 if not name.startswith(("xl/worksheets", "xl/charts",
                 "xl/drawings", "_rels", "docProps"))]  # fmt: skip
    assert set(names) == {"[Content_Types].xml", "xl/workbook.xml", "xl/styles.xml",
                          "xl/theme/theme1.xml",
                          "xl/_rels/workbook.xml.rels"}  # fmt: skip
    assert book.properties.title == "Self-attention: pets, desk"


def test_a_symmetric_score_is_blank_both_ways(tmp_path: Path) -> None:
    """Without weights, the score of two words is the same the other way round."""
    write_lesson(
        read_tables(SAMPLES / "mouse.xlsx"), tmp_path / "exam.xlsx", lesson=Lesson(1, exam=True)
    )
    book = openpyxl.load_workbook(tmp_path / "exam.xlsx")
    for name in ("pets.Scores", "desk.Scores"):
        cells = [[cell.value for cell in row] for row in book[name]["B5:F9"]]
        blank = {(i, j) for i in range(5) for j in range(5) if cells[i][j] is None}
        assert blank
        assert blank == {(j, i) for i, j in blank}
