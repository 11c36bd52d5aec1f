"""Every prediction of a lesson is answered from the workbook's numbers once its step is right."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, thorough

import attn_xl.models
from attn_xl import read_tables
from attn_xl.graph.node import Node, referred_to
from attn_xl.graph.step import Step
from attn_xl.languages import LANGUAGES, in_quotes, shown, shown_all, speaking, translate
from attn_xl.models import recipes
from attn_xl.settings import Arrangement, Language, Model, Settings
from attn_xl.tables.survey import Tables
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.teaching.lessons.pages import WIDTHS, row_height
from attn_xl.workbook.layout.layout import Layout

pytest.importorskip("ironcalc", reason="lessons are recalculated by IronCalc")

ANSWER, DONE, QUESTION = 9, 5, 3
"""Columns of the first page."""
NAMES = {
    *("own", "word", "a", "b", "top", "look", "other", "nearest"),
    *("most", "least", "span", "before", "zeros", "below", "width", "wide"),
}
NEVER_BLANK = {
    f"learning_steps.{name}"
    for name in ["CURVE", "CHECKED_GRADIENT", "CENTRAL_DIFFERENCE", "GAP", "BEFORE", "AFTER", "MOVED"]
}
"""On sheets of their own, which no lesson asks for."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def declared() -> Iterator[tuple[str, Step]]:
    for found in pkgutil.iter_modules(attn_xl.models.__path__):
        module = importlib.import_module(f"attn_xl.models.{found.name}")
        for name, value in vars(module).items():
            values: Sequence[Any] = (value,)
            if isinstance(value, dict):
                values = list(value.values())
            elif isinstance(value, tuple):
                values = value
            yield from ((f"{found.name}.{name}", one) for one in values if isinstance(one, Step))


def test_every_step_that_asks_has_an_answer() -> None:
    """Given numbers and texts are never blank, nor are steps without a question of their own."""
    asking = [(name, step) for name, step in declared() if step.question != Step("").question]
    assert len(asking) > 150
    for name, step in asking:
        exempt = recipes.GIVEN, recipes.FIND_LARGEST_COLUMN
        assert step.answer or name in NEVER_BLANK or step.role == "input" or step.recipe in exempt, name
        assert set(re.findall(r"{(\w*)", step.answer)) <= NAMES, name


def test_no_choice_is_left_from_another_question() -> None:
    """A step made from another has the choices of its own question."""
    choices: dict[str, set[tuple[str, ...]]] = {}
    for _, step in declared():
        choices.setdefault(step.question, set()).add(step.choices)
    assert all(len(of_question) == 1 for of_question in choices.values())
    for question, ((*offered,),) in choices.items():
        if question.startswith(("which word", "which other", "how many", "suppose", "by how much")):
            assert not {"no", "yes", "the same as before"} & set(offered), question


class Solved:
    """A lesson filled in with the right numbers, and recalculated."""

    def __init__(self, tables: Tables, folder: Path, settings: Settings, level: int) -> None:
        from ironcalc import load_from_xlsx

        self.layout: Layout = write_lesson(
            tables, folder / "l.xlsx", settings=settings, lesson=Lesson(level=level)
        )
        book = openpyxl.load_workbook(folder / "l.xlsx")
        self.sheets = book.sheetnames
        for node, cells in self.layout.blanks.open.items():
            place = self.layout.blocks[node].place
            for row, column in np.argwhere(cells).tolist():
                cell = book[place.sheet].cell(place.row + row, place.column + column)
                cell.value = float(node.values[row, column])
        book.save(folder / "l.xlsx")
        self.model = load_from_xlsx(str(folder / "l.xlsx"), "en", "UTC", "en")
        self.model.evaluate()
        sheets = self.layout.sheets
        opened = self.layout.blanks.open
        self.nodes = [block.node for sheet in sheets for block in sheet.blocks if block.node in opened]
        self.cover = book["Lesson"]
        linked = [row for row in range(1, 40) if self.cover.cell(row, 1).hyperlink]
        self.first = linked[0]

    def said(self, number: int) -> str:
        return str(self.model.get_formatted_cell_value(0, self.first + number, ANSWER))

    def height(self, number: int) -> float:
        return float(self.cover.row_dimensions[self.first + number].height)

    def enter(self, node: Node, value: str) -> None:
        """Another number in the first blank cell of a matrix."""
        place = self.layout.blocks[node].place
        row, column = np.argwhere(self.layout.blanks.open[node])[0].tolist()
        self.model.set_user_input(
            self.sheets.index(place.sheet), place.row + row, place.column + column, value
        )
        self.model.evaluate()


def joined(labels: Sequence[str], row: np.ndarray, extreme: float) -> str:
    tied = dict.fromkeys(label for label, one in zip(labels, row) if round(abs(extreme - one), 6) == 0)
    return " / ".join(translate(in_quotes(label.replace(",", ";"))) for label in tied)


def expected(node: Node) -> str:
    """The answer, with what NumPy finds in the matrices."""
    assert node.step is not None
    used = list(referred_to(node))
    before = used[0] if used else node
    row, last = node.values[0], before.values[0]
    labels, word = list(shown_all(node.columns)), str(shown(node.rows[0])) if node.rows else ""
    there = [i for i, label in enumerate(labels) if label != word]
    beside = [labels[i] for i in there], row[there]
    values: dict[str, Any] = {
        "own": node.name,
        "word": translate(in_quotes(word)),
        "a": before.name if used else "",
        "b": used[1].name if len(used) > 1 else "",
        "top": joined(labels, row, row.max()),
        "look": joined(shown_all(before.columns), last, last.max()),
        "other": joined(*beside, beside[1].max()) if there else "",
        "nearest": joined(*beside, beside[1].min()) if there else "",
        "most": row.max(),
        "least": row.min(),
        "span": row.max() - row.min(),
        "before": last.max() - last.min(),
        "zeros": (row == 0).sum(),
        "below": (last < 0).sum(),
        "width": len(row),
        "wide": len(last),
    }
    numbers = {name: f"{one:f}" for name, one in values.items() if not isinstance(one, str)}
    return translate(node.step.answer, **values | numbers)


def assert_all_answered(solved: Solved) -> None:
    for number, node in enumerate(solved.nodes):
        assert node.step is not None
        said, meant = solved.said(number), expected(node)
        about = f"{node.name}: {said!r}, not {meant!r}"
        assert NUMBER.sub("#", said) == NUMBER.sub("#", meant), about
        for here, there in zip(NUMBER.findall(said), NUMBER.findall(meant)):
            assert abs(float(here) - float(there)) <= 0.00501, about
        assert row_height(said, WIDTHS[ANSWER]) <= solved.height(number), node.name


def solved_sample(sample: str, folder: Path, level: int, /, **changes: Any) -> Solved:
    tables = read_tables(SAMPLES / f"{sample}.xlsx")
    settings = replace(Settings.resolve({}, tables.settings, ""), **changes)
    return Solved(tables, folder, settings, level)


def test_an_answer_appears_once_all_cells_are_right(tmp_path: Path) -> None:
    solved = solved_sample("by-hand", tmp_path, 3)
    assert_all_answered(solved)
    for number, node in enumerate(solved.nodes):
        solved.enter(node, "1000")
        assert solved.said(number) == ""
        solved.enter(node, repr(float(node.values[tuple(np.argwhere(np.isfinite(node.values))[0])])))
        assert solved.said(number) != ""


FAMILIES: dict[str, list[dict[str, Any]]] = {
    "alibi": [{}],
    "mouse": [{}, {"model": Model.similarity}, {"layout": Arrangement.layers}],
    "by-hand": [{"model": Model.similarity}, {"controls": True}, {"scale": False}],
    "temperature": [{}],
    "masks": [{}],
    "multi-head": [{}],
    "encoder": [{}],
    "encoder-decoder": [{}],
    "decoder": [{}],
    "dropout": [{}],
    "residual-dropout": [{}],
    "experts": [{}],
    "generate": [{}, {"sample": True}],
    "latent": [{}],
    "learned-positions": [{}],
    "language-model": [{}],
    "llama": [{}],
    "norm": [{}],
    "parallel": [{}],
    "plain-sum": [{}],
    "rotary": [{}],
    "soft-cap": [{}],
    "window": [{}],
    "sentence-vector": [{}],
    "masked-words": [{}],
    "learning": [{}],
    "cnn": [{}],
    "rnn": [{}],
    "gru": [{}],
    "lstm": [{}],
}


@alike
@pytest.mark.parametrize(
    ("sample", "changes"),
    [(sample, changes) for sample, all_of_them in FAMILIES.items() for changes in all_of_them],
)
def test_every_blank_step_of_a_sample_is_answered(
    sample: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    assert_all_answered(solved_sample(sample, tmp_path, 3, **changes))


TABLES = {
    "one word": "word,a,b\ncat,1,2\n",
    "negative": "word,a,b,c\ncat,-1,-2,-3\ndog,-3,-1,-2\nfox,-0.5,-4,-1\n",
    "ties": "word,a,b\ncat,2,2\ndog,2,2\nfox,2,2\n",
    "zeros": "word,a,b\ncat,0,0\ndog,0,0\n",
    "commas": 'word,a,b\n"a, b",1,2\n"say ""no""",3,1\ncat,1,1\n',
}


@thorough
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"causal": True, "temperature": 0.5},
        {"random_weights": 3, "heads": 2, "causal": True},
        {"random_weights": 3, "model": Model.encoder},
        {"model": Model.norm},
    ],
    ids=["plain", "causal", "heads", "encoder", "norm"],
)
def test_any_input_is_answered(table: str, changes: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLES[table], encoding="utf-8")
    if table == "negative" and changes.get("heads"):
        changes = changes | {"heads": 1}
    assert_all_answered(Solved(read_tables(path), tmp_path, Settings(**changes), 3))


@thorough
def test_no_formula_is_too_long_for_excel(tmp_path: Path) -> None:
    """Of 40 long words, `Masked` would name the largest of two rows in 8,200 characters."""
    path = tmp_path / "t.csv"
    words = [f"{'w' * 36}{i:03d}" for i in range(40)]
    path.write_text("word,a,b\n" + "".join(f"{word},{i % 7},1\n" for i, word in enumerate(words)))
    settings = Settings(causal=True, heads=2, random_weights=1)
    layout = write_lesson(read_tables(path), path.with_suffix(".xlsx"), settings=settings)
    assert layout.cover
    lengths = [len(cell.formula) for cell in layout.cover.extras.cells if cell.formula]
    assert 4_000 < max(lengths) < 8_192


@thorough
@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != "en"])
@pytest.mark.parametrize("sample", ["by-hand", "experts"])
def test_answers_in_every_language_have_room(language: str, sample: str, tmp_path: Path) -> None:
    with speaking(language):
        assert_all_answered(solved_sample(sample, tmp_path, 3, language=Language(language)))
