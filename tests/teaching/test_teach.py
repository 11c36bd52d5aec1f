"""Lessons: what is blank, what is marked how, what is locked; right, wrong, blank and strange answers
in each cell, in two engines, against numpy."""

from __future__ import annotations

import itertools
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, by_libreoffice, make_input, table, thorough, verify
from engines import recalculated_by_libreoffice
from judges import Editable, stored_formulas

from attn_xl import CallError, read_tables
from attn_xl.graph.graph import walk
from attn_xl.graph.loops import Entered, recompute
from attn_xl.graph.matrix import Matrix
from attn_xl.settings import Activation, Model, Settings
from attn_xl.spreadsheets.addresses import address
from attn_xl.teaching.lessons.blanks import Lesson, results_of
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.teaching.lessons.pages import NO_NUMBER, RIGHT, WAITS, WRONG

Keep = Callable[[Path], Path]
ALL = sorted(
    path.stem for path in SAMPLES.glob("*.xlsx") if not path.stem.endswith(("-attention", "-lesson"))
)
ANSWER = dict[tuple[Matrix, int, int], Any]


class Taught:
    """A written lesson, how it was made, and where its marks are."""

    def __init__(self, source: Path, path: Path, lesson: Lesson | None = None, **chosen: Any) -> None:
        self.tables, self.path = read_tables(source), path
        self.lesson = lesson or Lesson(level=2)
        self.settings = Settings.resolve({"controls": True, **chosen}, self.tables.settings, "")
        self.layout = write_lesson(self.tables, path, settings=self.settings, lesson=self.lesson)
        self.open = self.layout.blanks.open
        self.nodes = [node for node in walk(self.layout.blocks) if node in self.open]
        self.cells = [(n, int(i), int(j)) for n in self.nodes for i, j in np.argwhere(self.open[n])]

    def at(self, node: Matrix, i: int, j: int) -> tuple[str, int, int]:
        place = self.layout.blocks[node].place
        return place.sheet, place.row + i, place.column + j

    def named(self, node: Matrix) -> str:
        """What the cover calls a step."""
        (sheet,) = [s for s in self.layout.sheets if any(b.node is node for b in s.blocks)]
        if node.helper and not node.scalar:
            return f"{sheet.name}.{node.name}"
        return f"{sheet.group}.{node.name}".lstrip(".") if node.scalar else sheet.name

    @property
    def steps(self) -> list[Matrix]:
        """In the order of the cover."""
        return [b.node for s in self.layout.sheets for b in s.blocks if b.node in self.open]

    def marks(self) -> dict[tuple[Matrix, int, int], tuple[str, int, int]]:
        """The cell with the mark of each open cell: found in the file, by what its formula asks."""
        found = {}
        formulas: dict[tuple[str, str], tuple[str, int, int]] = {}
        for sheet, row, column, formula, _ in stored_formulas(self.path):
            if match := re.match(r"IF\(ISBLANK\(([A-Z]+[0-9]+)\),", formula):
                formulas[sheet, match[1]] = sheet, row, column
        for node, i, j in self.cells:
            sheet, row, column = self.at(node, i, j)
            found[node, i, j] = formulas.pop((sheet, address(row, column)))
        assert not formulas
        return found

    def entered(self, answers: ANSWER) -> dict[Matrix, Entered]:
        made = {}
        for node in self.nodes:
            numbers = np.full(node.shape, np.nan)
            for i, j in np.argwhere(self.open[node]):
                value = answers.get((node, int(i), int(j)))
                if isinstance(value, (int, float)) and not isinstance(value, bool):
                    numbers[i, j] = value
            made[node] = Entered(self.open[node], numbers)
        return made

    def follow(self, answers: ANSWER) -> Any:
        return recompute(results_of(self.computation), self.entered(answers))

    @property
    def computation(self) -> Any:
        if not hasattr(self, "_computation"):
            self._computation = _Same(self)
        return self._computation

    def expected_marks(self, answers: ANSWER, typed: Mapping[Any, Any]) -> dict[Any, str]:
        """What numpy says. `answers` has the number of each cell, `typed` what was typed in."""
        expected = self.follow(answers).expected
        marks = {}
        for node, i, j in self.cells:
            wanted, value = expected[node][i, j], answers.get((node, i, j))
            if typed.get((node, i, j)) is None:
                mark = ""
            elif not np.isfinite(wanted):
                mark = WAITS
            elif not isinstance(value, (int, float)) or isinstance(value, bool):
                mark = NO_NUMBER
            else:
                off = abs(value - wanted) - self.lesson.tolerance * max(1, abs(wanted))
                near = round(off, 12) <= 0
                mark = RIGHT if near else WRONG
            marks[node, i, j] = mark
        return marks

    def check(
        self, value: Callable[[str, int, int], Any], answers: ANSWER, typed: Mapping[Any, Any]
    ) -> int:
        """All marks, all that follows and the cover, as a program shows them; how many cells."""
        marks, where = self.expected_marks(answers, typed), self._where
        for cell, mark in marks.items():
            assert (value(*where[cell]) or "") == mark, (cell[0].name, cell[1:], typed.get(cell), mark)
        shown = self.follow(answers).shown
        count = len(marks)
        for node in self.layout.blanks.follow:
            block = self.layout.blocks.get(node)
            if block is None or not block.live:
                continue
            for i, j in np.ndindex(*node.shape):
                if node in self.open and self.open[node][i, j]:
                    continue
                cell, wanted = value(*self.at(node, i, j)), shown[node][i, j]
                if not np.isfinite(wanted):
                    assert cell in ("", None) or str(cell).startswith("#"), (node.name, i, j, cell)
                elif not node.texts:
                    assert cell == pytest.approx(wanted, rel=1e-8, abs=1e-9), (node.name, i, j)
                count += 1
        self._check_cover(value, marks)
        return count

    @property
    def _where(self) -> Any:
        if not hasattr(self, "_marks"):
            self._marks = self.marks()
        return self._marks

    def _check_cover(self, value: Callable[[str, int, int], Any], marks: Mapping[Any, str]) -> None:
        column = [str(value("Lesson", row, 1) or "") for row in range(1, 40 + len(self.steps))]
        top, first = column.index("progress") + 1, column.index("step") + 2
        right = sum(mark == RIGHT for mark in marks.values())
        assert value("Lesson", top, 3) == f"{right} of {len(marks)} cells"
        bar = str(value("Lesson", top, 2))
        assert len(bar) == 20
        assert abs(bar.count("█") - 20 * right / len(marks)) <= 0.5 + 1e-9
        slips = []
        for row, node in enumerate(self.steps, first):
            own = [mark for (n, _, _), mark in marks.items() if n is node]
            assert value("Lesson", row, 1) == self.named(node)
            assert value("Lesson", row, 5) == own.count(RIGHT)
            assert value("Lesson", row, 6) == own.count(WRONG) + own.count(NO_NUMBER)
            if own.count(WRONG) + own.count(NO_NUMBER):
                slips.append(self.named(node))
        said = value("Lesson", top + 1, 2)
        if right == len(marks):
            assert said == "All done. Well done!"
        else:
            assert said == (
                f"Start with the first ✗ in: {slips[0]}" if slips else "Nothing to fix so far."
            )


class _Same:
    """The results of the computation that a lesson was laid out from: its own matrices."""

    def __init__(self, taught: Taught) -> None:
        nodes = {node.name: node for node in taught.layout.blocks}
        self.graphs: dict[str, Any] = {"": dict(enumerate(taught.layout.blocks))}
        self.comparison: dict[str, Any] = {}
        self.plane: dict[str, Any] = {}
        assert nodes


def enter(engine: Editable, book: Taught, typed: Mapping[Any, Any]) -> None:
    engine.enter([(*book.at(*cell), content) for cell, content in typed.items()], formulas=True)


def right(book: Taught, slip: ANSWER | None = None) -> ANSWER:
    """The right answers; after a slip, what follows from it."""
    slip = slip or {}
    entered = {}
    for (node, i, j), number in slip.items():
        one = entered.setdefault(node, Entered(np.zeros(node.shape, bool), np.full(node.shape, np.nan)))
        one.cells[i, j], one.numbers[i, j] = True, number
    shown = recompute(results_of(book.computation), entered).shown
    return {(n, i, j): float(shown[n][i, j]) for n, i, j in book.cells}


SMALL = {"activation": Activation.relu}


@alike
@pytest.mark.parametrize(
    ("sample", "level"),
    [
        pytest.param(name, (1, 3, 2)[i % 3], marks=[thorough] * (name == "translation"))
        for i, name in enumerate(ALL)
    ],
)
def test_right_answers_are_right_and_nothing_is_said_before(
    sample: str, level: int, tmp_path: Path, keep: Keep
) -> None:
    chosen = SMALL if sample == "encoder" else {}
    book = Taught(SAMPLES / f"{sample}.xlsx", tmp_path / "l.xlsx", Lesson(level=level), **chosen)
    (keep if sample in ("mouse", "multi-head", "language-model") else verify)(book.path)
    engine = Editable(book.path)
    book.check(engine.value, {}, {})  # as it is written
    answers = right(book)
    enter(engine, book, answers)
    assert set(book.expected_marks(answers, answers).values()) == {RIGHT}
    assert book.check(engine.value, answers, answers) >= len(book.cells)
    # With 15 digits, as a person may copy them; then half the tolerance off, in the same direction.
    rounded = {cell: float(f"{number:.6g}") for cell, number in answers.items()}
    enter(engine, book, rounded)
    book.check(engine.value, rounded, rounded)
    wrong = {cell: number + 0.5 * max(1.0, number) for cell, number in answers.items()}
    enter(engine, book, wrong)
    book.check(engine.value, wrong, wrong)
    enter(engine, book, dict.fromkeys(answers))
    book.check(engine.value, {}, {})


@thorough
@pytest.mark.parametrize("sample", ["politics", "masks", "multi-head", "mouse", "cross", "dropout"])
def test_one_slip_with_consistent_work_marks_that_cell_alone(sample: str, tmp_path: Path) -> None:
    level = 3 if sample in ("politics", "masks") else 2
    book = Taught(SAMPLES / f"{sample}.xlsx", tmp_path / "l.xlsx", Lesson(level=level))
    engine = Editable(book.path)
    correct = right(book)
    seen = 0
    for cell in book.cells if sample == "politics" else book.cells[:: max(1, len(book.cells) // 25)]:
        node = cell[0]
        slip = {cell: correct[cell] + 0.5 * max(1.0, abs(correct[cell]))}
        answers = right(book, slip)
        if not all(np.isfinite(list(answers.values()))):
            continue
        enter(engine, book, answers)
        marks = book.expected_marks(answers, answers)
        assert [c for c, mark in marks.items() if mark != RIGHT] == [cell], node.name
        book.check(engine.value, answers, answers)
        seen += 1
    assert seen >= 20


STRANGE: dict[str, tuple[str, float | None]] = {
    "text": ("mouse", None),
    "decimal comma": ("0,5", None),
    "number as text": ("0.5 ", None),
    "empty formula": ('=""', None),
    "error": ("=1/0", None),
    "not available": ("=NA()", None),
    "a missing sheet": ("=INDEX(A1:A2,9)", None),
    "formula": ("=1/3", 1 / 3),
    "sum of formula": ("=SUM(0.25,0.5)", 0.75),
}


def mixed(book: Taught, seed: int) -> tuple[ANSWER, dict[Any, Any]]:
    """Each cell right, wrong, blank or strange, at random, as somebody might fill it in from the first
    step to the last: the number each counts as, and what is typed."""
    rng = np.random.default_rng(seed)
    answers: ANSWER = {}
    typed: dict[Any, Any] = {}
    kinds = rng.permutation([*STRANGE])
    number = 0
    share = rng.choice([0.02, 0.15, 0.5])
    for node in book.nodes:
        expected = book.follow(answers).expected[node]
        for i, j in np.argwhere(book.open[node]).tolist():
            cell = node, i, j
            what = rng.random()
            number += 1
            if what < share / 3:
                continue
            if what < 2 * share / 3:
                typed[cell], answers[cell] = STRANGE[kinds[number % len(kinds)]]
            elif what < share or not np.isfinite(expected[i, j]):
                typed[cell] = answers[cell] = float(np.round(0.1 + abs(rng.normal()) * 3, 2))
            elif what < share + 0.3:
                value = float(expected[i, j])
                typed[cell], answers[cell] = f"={value!r}+0", value
            else:
                typed[cell] = answers[cell] = float(expected[i, j])
    return answers, typed


@thorough
@pytest.mark.parametrize(
    "sample", ["politics", "mouse", "multi-head", "masks", "positions", "language-model"]
)
def test_every_kind_of_answer(sample: str, tmp_path: Path) -> None:
    seen: set[str] = set()
    for level in (1, 2, 3):
        book = Taught(SAMPLES / f"{sample}.xlsx", tmp_path / f"l{level}.xlsx", Lesson(level=level))
        engine = Editable(book.path)
        for seed in range(4):
            answers, typed = mixed(book, seed)
            enter(engine, book, {cell: typed.get(cell) for cell in book.cells})
            book.check(engine.value, answers, typed)
            seen |= set(book.expected_marks(answers, typed).values())
    assert seen == {"", RIGHT, WRONG, WAITS, NO_NUMBER}


@alike
@pytest.mark.parametrize(
    "blank", ["Scores", "Softmax.Sum,Output", "Divisor", "d_k", "Softmax", "desk.Scaled"]
)
def test_chosen_steps_alone_are_blank(blank: str, tmp_path: Path, keep: Keep) -> None:
    book = Taught(SAMPLES / "mouse.xlsx", tmp_path / "l.xlsx", Lesson(blank=tuple(blank.split(","))))
    names = {book.layout.blocks[node].name for node in book.open}
    wanted = blank.split(",")
    assert names == {f"{s}.{w}" if "." not in w or w == "Softmax.Sum" else w
                     for s in ("pets", "desk") for w in wanted}  # fmt: skip
    assert all(cells.all() for cells in book.open.values())
    engine = Editable(keep(book.path))
    for seed in range(3):
        answers, typed = mixed(book, seed)
        enter(engine, book, {cell: typed.get(cell) for cell in book.cells})
        book.check(engine.value, answers, typed)


@by_libreoffice
def test_libreoffice_marks_the_same(tmp_path: Path) -> None:
    books, paths = [], []
    for number, ((sample, seed), level) in enumerate(
        itertools.product((("mouse", 11), ("masks", 12)), (1, 2, 3))
    ):
        book = Taught(SAMPLES / f"{sample}.xlsx", tmp_path / "l.xlsx", Lesson(level=level))
        book._where  # noqa: B018 - the file is written over
        answers, typed = mixed(book, seed)
        if seed == 12:  # all right
            answers = right(book)
            typed = dict(answers)
        filled = openpyxl.load_workbook(book.path)
        for cell, content in typed.items():
            sheet, row, column = book.at(*cell)
            filled[sheet].cell(row, column, content)
        paths.append(tmp_path / f"filled{number}.xlsx")
        filled.save(paths[-1])
        books.append((book, answers, typed))
    (tmp_path / "lo").mkdir()
    for (book, answers, typed), path in zip(
        books, recalculated_by_libreoffice(paths, tmp_path / "lo"), strict=True
    ):
        shown = openpyxl.load_workbook(path, data_only=True)
        book.check(lambda s, r, c, b=shown: b[s].cell(r, c).value, answers, typed)  # type: ignore[misc]


@alike
@pytest.mark.parametrize("tolerance", [0.5, 0.01, 0.001])
def test_the_tolerance_is_that_of_the_right_number(tolerance: float, tmp_path: Path) -> None:
    source = make_input(tmp_path / "in.xlsx", {"s": table(np.array([[10.0, 0.5], [3.0, 0.25]]))})
    book = Taught(source, tmp_path / "l.xlsx", Lesson(blank=("Scores",), tolerance=tolerance))
    engine = Editable(book.path)
    (scores,) = book.nodes
    where = book.marks()
    for i, j in np.ndindex(2, 2):
        value = float(scores.values[i, j])
        room = tolerance * max(1, abs(value))
        for off, mark in ((room, RIGHT), (-room, RIGHT), (1.01 * room, WRONG), (-1.01 * room, WRONG)):
            enter(engine, book, {(scores, i, j): value + off})
            assert engine.value(*where[scores, i, j]) == mark
    small = Taught(
        make_input(tmp_path / "s.xlsx", {"s": table(np.array([[0.5], [1.0]]))}),
        tmp_path / "s-l.xlsx", Lesson(blank=("Scores",), tolerance=0.01),
    )  # fmt: skip
    engine = Editable(small.path)
    enter(engine, small, {(small.nodes[0], 0, 1): 0.51})  # 0.5 + 0.01, which is a little more
    assert engine.value(*small.marks()[small.nodes[0], 0, 1]) == RIGHT


@thorough
def test_levels(tmp_path: Path) -> None:
    few, whole, all_ = (
        Taught(SAMPLES / "multi-head.xlsx", tmp_path / "l.xlsx", Lesson(level=level))
        for level in (1, 2, 3)
    )
    assert all(cells.sum() == min(3, cells.size) for cells in few.open.values())
    assert all(len(set(np.argwhere(c)[:, 0])) == 3 for n, c in few.open.items() if n.shape[0] >= 3)
    assert all(cells.all() for cells in whole.open.values())
    names = [{book.layout.blocks[n].name for n in book.open} for book in (few, whole, all_)]
    assert names[0] == names[1] < names[2]
    assert {"Scores_1", "Softmax_2", "Concat", "Output", "Q_1"} <= names[1]
    assert {"Softmax_1.Sum", "d_k_1", "Divisor_1"} <= names[2]
    other = Taught(SAMPLES / "multi-head.xlsx", tmp_path / "m.xlsx", Lesson(level=1, seed=5))
    assert [c.tolist() for c in other.open.values()] != [c.tolist() for c in few.open.values()]


@alike
@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("exam", [False, True])
@pytest.mark.parametrize("template", ["article", "print"])
def test_everything_but_what_is_to_be_filled_in_is_locked(
    level: int, exam: bool, template: str, tmp_path: Path
) -> None:
    path = tmp_path / "l.xlsx"
    tables = read_tables(SAMPLES / "mouse.xlsx")
    layout = write_lesson(
        tables, path, settings=Settings(controls=True), lesson=Lesson(level=level, exam=exam),
        template=template,
    )  # fmt: skip
    wanted = set()
    for node, cells in layout.blanks.open.items():
        place = layout.blocks[node].place
        wanted |= {
            (place.sheet, place.row + i, place.column + j) for i, j in np.argwhere(cells).tolist()
        }
    book = openpyxl.load_workbook(path)
    assert book.sheetnames[0] == "Lesson"
    assert ("Hints" in book.sheetnames) is not exam
    found, others = set(), []
    for sheet in book.worksheets:
        assert sheet.protection.sheet, sheet.title
        for row in sheet.iter_rows():
            for cell in row:
                if not cell.protection.locked:
                    (found.add if (sheet.title, cell.row, cell.column) in wanted else others.append)(
                        (sheet.title, cell.row, cell.column)
                    )
                    assert cell.value is None or sheet.title == "Overview"
    assert found == wanted
    steps = len(layout.blanks.open)
    assert sum(sheet == "Lesson" for sheet, *_ in others) == steps + 1  # predictions, and the name
    assert len(others) == steps + 1
    fills = {book[s].cell(r, c).fill.fgColor.rgb for s, r, c in wanted}
    assert len(fills) == 1
    for sheet, row, column in wanted:  # marked: they look like nothing else on their sheets
        assert book[sheet].cell(row, column).value is None
        assert book[sheet].cell(row, column).border.left.style


@thorough
def test_words_of_a_lesson(tmp_path: Path) -> None:
    book = Taught(SAMPLES / "mouse.xlsx", tmp_path / "l.xlsx")
    written = openpyxl.load_workbook(book.path)
    cover = written["Lesson"]
    texts = [str(c.value) for row in cover.iter_rows() for c in row if c.value is not None]
    assert any("within 0.01" in text for text in texts)
    for node in book.steps:
        name, sheet = book.layout.blocks[node].name, book.layout.blocks[node].place.sheet
        (row,) = (r for r in range(1, 80) if cover.cell(r, 1).value == name)
        assert cover.cell(row, 3).value.endswith(("?", "."))  # the question
        assert not cover.cell(row, 4).protection.locked  # and the place for the answer
        assert cover.cell(row, 1).hyperlink.location.endswith("!A1")
        prompts = [dv for dv in written[sheet].data_validations.dataValidation if dv.prompt]
        assert prompts
        assert all(len(dv.prompt) <= 255 and len(dv.promptTitle) <= 32 for dv in prompts)
        assert str(written[sheet]["A2"].value).startswith("To fill in: ")
    hints = [str(c.value) for row in written["Hints"].iter_rows() for c in row if c.value]
    assert sum("=SUMPRODUCT(row of" in text for text in hints) == 2
    exam = Taught(SAMPLES / "mouse.xlsx", tmp_path / "e.xlsx", Lesson(exam=True))
    written = openpyxl.load_workbook(exam.path)
    assert not any(dv.prompt for s in written.worksheets for dv in s.data_validations.dataValidation)
    formulas = [formula for *_, formula, _ in stored_formulas(exam.path)]
    assert not any(mark in formula for formula in formulas for mark in (RIGHT, WRONG, "ISBLANK"))


@thorough
def test_answers_are_the_solved_workbook(tmp_path: Path, keep: Keep) -> None:
    tables = read_tables(SAMPLES / "mouse.xlsx")
    path, key = tmp_path / "l.xlsx", tmp_path / "key.xlsx"
    layout = write_lesson(
        tables, path, settings=Settings(controls=True), lesson=Lesson(exam=True), answers=key
    )
    book = openpyxl.load_workbook(keep(key), data_only=True)
    for node in layout.blanks.open:
        place = layout.blocks[node].place
        for i, j in np.ndindex(*node.shape):
            assert book[place.sheet].cell(place.row + i, place.column + j).value == node.values[i, j]


@thorough
def test_the_same_lesson_gives_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for number in range(2):
        path = tmp_path / f"{number}.xlsx"
        lesson = Lesson(level=1, seed=3, exam=bool(number < 0))
        write_lesson(
            read_tables(SAMPLES / "masks.xlsx"), path, lesson=lesson, answers=tmp_path / "k.xlsx"
        )
        made.append((path.read_bytes(), (tmp_path / "k.xlsx").read_bytes()))
    assert made[0] == made[1]


@thorough
@pytest.mark.parametrize(
    ("parts", "heads"), [("head1", {"1"}), ("head2", {"2"}), ("head1,head2", {"1", "2"})]
)
def test_a_lesson_on_some_heads(parts: str, heads: set[str], tmp_path: Path, keep: Keep) -> None:
    for exam in (False, True):
        book = Taught(
            SAMPLES / "multi-head.xlsx", tmp_path / "l.xlsx", Lesson(2, exam=exam), sheets_for=parts
        )
        names = {book.layout.blocks[n].name for n in book.open}
        assert {name.rpartition("_")[2] for name in names if "_" in name} == heads
        assert ("Output" in names) is (len(heads) == 2)
        keep(book.path)
        if not exam:
            engine = Editable(book.path)
            answers = right(book)
            enter(engine, book, answers)
            book.check(engine.value, answers, answers)


def test_plain_lessons_have_neither_controls_nor_charts(tmp_path: Path, keep: Keep) -> None:
    book = Taught(SAMPLES / "mouse.xlsx", tmp_path / "l.xlsx", controls=False)
    engine = Editable(keep(book.path))
    assert "Overview" not in engine.sheets
    with zipfile.ZipFile(book.path) as archive:
        assert not any("chart" in name for name in archive.namelist())
    answers, typed = mixed(book, 1)
    enter(engine, book, typed)
    book.check(engine.value, answers, typed)


def test_a_lesson_on_similarity(tmp_path: Path, keep: Keep) -> None:
    book = Taught(SAMPLES / "mouse.xlsx", tmp_path / "l.xlsx", Lesson(level=3), model=Model.similarity)
    keep(book.path)
    engine = Editable(book.path)
    answers = right(book)
    enter(engine, book, answers)
    book.check(engine.value, answers, answers)


@pytest.mark.parametrize("decimals", [0, 5])
def test_decimals(decimals: int, tmp_path: Path) -> None:
    book = Taught(SAMPLES / "politics.xlsx", tmp_path / "l.xlsx", decimals=decimals)
    sheet = openpyxl.load_workbook(book.path)["Scores"]
    assert sheet["B5"].number_format == ("0" if not decimals else "0.00000")
    assert sheet.column_dimensions["B"].width >= decimals + 4


@alike
@pytest.mark.parametrize("exam", [False, True])
@pytest.mark.parametrize("sample", ["mouse", "encoder", "masks"])
def test_a_lesson_asks_each_idea_once_or_twice(sample: str, exam: bool, tmp_path: Path) -> None:
    book = Taught(SAMPLES / f"{sample}.xlsx", tmp_path / "l.xlsx", Lesson(exam=exam))
    assert len(right(book)) <= 40
    symbols = {node.base_name for node in book.open}
    assert symbols >= {"Scores", "Softmax"}
    if not exam:
        assert all(cells.any(axis=1).sum() <= 3 for cells in book.open.values())
        assert len(symbols) == len(book.open)


# Refusals


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"level": 4}, "--level is 4; use 1, 2 or 3"),
        ({"tolerance": 0}, "--tolerance is 0; use a number above 0 and below 1"),
        ({"tolerance": 1}, "--tolerance is 1"),
        ({"tolerance": float("nan")}, "--tolerance is nan"),
        ({"tolerance": -0.1}, "--tolerance is -0.1"),
        ({"seed": -1}, "--seed is -1"),
        ({"blank": ("Scors",)}, "--blank: there is no step 'Scors'."),
        ({"blank": ("Input",)}, "--blank: pets.Input is given; only computed matrices can be blank"),
        ({"blank": ("Compare",)}, "no step 'Compare'"),
        ({"blank": ("Scores", "nope")}, "no step 'nope'"),
    ],
)  # fmt: skip
def test_refusals(choices: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(CallError, match=said):
        Taught(SAMPLES / "mouse.xlsx", tmp_path / "l.xlsx", Lesson(**choices))
    assert not list(tmp_path.iterdir())


def test_words_cannot_be_left_blank(tmp_path: Path) -> None:
    with pytest.raises(CallError, match="holds words; only numbers can be blank"):
        Taught(SAMPLES / "language-model.xlsx", tmp_path / "l.xlsx", Lesson(blank=("Next",)))


@pytest.mark.parametrize(
    ("options", "said", "status"),
    [
        (["--level", "5"], "--level is 5; use 1, 2 or 3", 2),
        (["--tolerance", "2"], "--tolerance is 2.0", 2),
        (["--blank", " , "], "--blank names no steps", 2),
        (["--blank", "Scors"], "no step 'Scors'", 2),
        (["--answers", "{t}/l.xlsx"], "the lesson and its answers cannot be the same file", 2),
        (["--answers", "{t}/key.ods"], "ends in .xlsx", 2),
        (["--answers", "{t}/no/key.xlsx"], "there is no such folder", 1),
        (["--answers", "{mouse}"], "never overwritten", 2),
        (["--template", "nope"], "no such template", 2),
        (["--sheets-for", "head7"], "no layer or head 'head7'", 2),
        (["--memory", "dog"], "no sheet 'dog'", 2),
        (["--temperature", "0"], "--temperature is 0.0", 2),
        (["--decimals", "99"], "--decimals is 99", 2),
        (["--seed", "-3"], "--seed is -3", 2),
        (["--formulas", "none"], "No such option", 2),
    ],
)
def test_refusals_of_the_command(
    options: list[str], said: str, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from attn_xl.cli.main import main

    mouse = str(SAMPLES / "mouse.xlsx")
    options = [option.format(t=tmp_path, mouse=mouse) for option in options]
    with pytest.raises(SystemExit) as end:
        main(["teach", mouse, "-o", str(tmp_path / "l.xlsx"), *options])
    out, err = capsys.readouterr()
    assert (out, end.value.code) == ("", status)
    assert said in err
    assert len(err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from attn_xl.cli.main import main

    source = make_input(
        tmp_path / "my.xlsx",
        {"a b": table(np.eye(3)), "it's": table(np.eye(3)), "Settings": [["formulas", "none"]]},
    )

    def run(*options: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["teach", str(source), *options])
        return (int(end.value.code or 0), *capsys.readouterr())

    status, out, err = run("--answers", str(tmp_path / "key.xlsx"))
    assert (status, err) == (0, "")
    assert out.startswith(f"{tmp_path / 'my-lesson.xlsx'}: 4 steps, 24 cells to fill in\n")
    assert out.endswith("key.xlsx: the answers\n")
    assert list(stored_formulas(tmp_path / "my-lesson.xlsx"))  # though the settings say otherwise
    before = (tmp_path / "my-lesson.xlsx").read_bytes()
    status, _, err = run("--level", "1")
    assert status == 2
    assert "exists already" in err
    assert (tmp_path / "my-lesson.xlsx").read_bytes() == before
    status, _, err = run(
        "--level", "1", "--answers", str(tmp_path / "key.xlsx"), "-o", str(tmp_path / "n.xlsx")
    )
    assert "key.xlsx: exists already" in err
    assert not (tmp_path / "n.xlsx").exists()
    status, out, _ = run(
        "--force", "--blank", "Scores, Softmax.Sum", "--exam", "--plain", "--tolerance", "0.1"
    )
    assert (status, out) == (0, f"{tmp_path / 'my-lesson.xlsx'}: 4 steps, 24 cells to fill in\n")
    status, out, _ = run("--force", "--blank", "all")
    assert out == f"{tmp_path / 'my-lesson.xlsx'}: 8 steps, 72 cells to fill in\n"
    status, _, err = run("-o", str(tmp_path / "l.csv"))
    assert "ends in .xlsx" in err
