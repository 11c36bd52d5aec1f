"""A class of four hundred submissions of kinds written down beforehand, each with the marks
that a fair teacher gives: answers that took no calculation earn what they happen to be right in, and at
most 5 % more; honest work with one early mistake loses that mistake alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from conftest import SAMPLES, thorough

import attn_xl
from attn_xl.graph.graph import walk
from attn_xl.graph.loops import Entered, recompute
from attn_xl.graph.matrix import Matrix
from attn_xl.models.build import attend
from attn_xl.models.computation import Computation
from attn_xl.settings import Settings
from attn_xl.teaching.grading.marking import Entry, mark, near, read_entry
from attn_xl.teaching.lessons.answer_key import read_key
from attn_xl.teaching.lessons.blanks import Lesson, chosen_cells, results_of, unit_of
from attn_xl.teaching.lessons.class_lessons import write_class
from attn_xl.teaching.roster import Student
from attn_xl.workbook.layout.place import lay_out

Answers = dict[Matrix, np.ndarray]
TOLERANCE, MOST_BEYOND = 0.01, 0.05


class Exercise(NamedTuple):
    computation: Computation
    opened: dict[Matrix, np.ndarray]

    @property
    def input(self) -> np.ndarray:
        return next(iter(next(iter(self.computation.values())).values())).values

    @property
    def cells(self) -> int:
        return sum(int(cells.sum()) for cells in self.opened.values())


@lru_cache
def exercise(sample: str, level: int, causal: bool) -> Exercise:
    tables = attn_xl.read_tables(SAMPLES / sample)
    options = {"causal": True} if causal else {}
    settings = Settings.resolve(options, tables.settings, sample)
    computation = attend(tables, settings)
    layout = lay_out(computation, settings.sheets_for)
    return Exercise(computation, chosen_cells(layout, Lesson(level=level)))


# Answers that took no calculation


def constant(number: float, weight: float | None = None) -> Callable[..., Answers]:
    def made(one: Exercise, _: np.random.Generator) -> Answers:
        own = number if weight is None else weight
        return {n: np.full(n.shape, own if n.role == "attention" else number) for n in one.opened}

    return made


def a_constant_each(one: Exercise, rng: np.random.Generator) -> Answers:
    return {node: np.full(node.shape, float(rng.integers(0, 9))) for node in one.opened}


EMPTY: dict[str, Callable[..., Answers]] = {
    "zeros": constant(0.0),
    "zeros, and 0.2 for weights": constant(0.0, 0.2),
    "ones": constant(1.0),
    "one half": constant(0.5),
    "a constant each": a_constant_each,
}


# Honest work: the marks that are lost


def honest(one: Exercise, rng: np.random.Generator, whole: bool) -> tuple[Answers, int]:
    """All numbers from the student's own, after one cell, or one matrix, was wrong."""
    node = [*one.opened][int(rng.integers(len(one.opened)))]
    wrong = one.opened[node].copy()
    if not whole:
        wrong[:] = False
        wrong.flat[int(rng.choice(np.flatnonzero(one.opened[node])))] = True
    entered = Entered(wrong, node.values + 1 + rng.random(node.shape))
    shown = recompute(results_of(one.computation), {node: entered}).shown
    hidden = (node.values <= -100) & (entered.numbers <= -100)  # of masked scores, any is right
    return {each: shown[each] for each in one.opened}, int((wrong & ~hidden).sum())


def right_cells(one: Exercise, answers: Answers) -> int:
    """The cells that happen to be right, by the rule of the lessons."""
    found = 0
    for node, cells in one.opened.items():
        size = np.maximum(unit_of(node), np.abs(node.values))
        found += int((cells & (np.abs(answers[node] - node.values) <= TOLERANCE * size + 1e-12)).sum())
    return found


def marks(one: Exercise, answers: Answers) -> int:
    entries = {
        node: [[Entry(float(x), str(x)) for x in row] for row in answers[node]] for node in one.opened
    }
    marking = mark(results_of(one.computation), one.opened, entries, TOLERANCE)
    return sum(marking.points(node)[0] for node in one.opened)


def unfair(one: Exercise, times: int) -> Iterator[str | None]:
    """For each submission of a class, its kind and marks if they are unfair; None if they are fair."""
    for seed in range(times):
        rng = np.random.default_rng(seed)
        for kind, made in EMPTY.items():
            answers = made(one, rng)
            earned, right = marks(one, answers), right_cells(one, answers)
            fair = right <= earned <= right + MOST_BEYOND * one.cells
            yield None if fair else f"{kind}: {earned} of {one.cells}, right {right}"
        for whole in (False, True):
            for _ in range(2):
                answers, lost = honest(one, rng, whole)
                earned = marks(one, answers)
                fair = abs(one.cells - lost - earned) <= 0.01 * one.cells
                yield None if fair else f"honest: {earned} of {one.cells}, lost {lost}"


QUICK = [("by-hand.xlsx", 2, False), ("by-hand.xlsx", 3, False), ("by-hand.xlsx", 2, True)]
MORE = [*QUICK, ("encoder.xlsx", 2, False), ("cross.xlsx", 2, False), ("multi-head.xlsx", 2, False)]


@thorough
def test_a_class_is_marked_fairly() -> None:
    found = [said for made in QUICK for said in unfair(exercise(*made), 15)]
    assert len(found) >= 400
    wrong = [said for said in found if said]
    assert len(wrong) <= 0.01 * len(found), wrong


@thorough
@pytest.mark.parametrize("made", MORE, ids=str)
def test_larger_classes_are_marked_fairly(made: tuple[str, int, bool]) -> None:
    found = [*unfair(exercise(*made), 30)]
    wrong = [said for said in found if said]
    assert len(wrong) <= 0.01 * len(found), wrong


def test_one_early_matrix_of_the_wrong_weights_loses_that_matrix() -> None:
    one = exercise("by-hand.xlsx", 2, False)
    q, k = (next(n for n in one.opened if n.name == name) for name in "QK")
    wrong = Entered(np.ones(q.shape, bool), k.values)
    shown = recompute(results_of(one.computation), {q: wrong}).shown
    answers = {node: shown[node] for node in one.opened}
    differ = np.abs(k.values - q.values) > TOLERANCE * np.maximum(1, np.abs(q.values))
    assert marks(one, answers) == one.cells - int(differ.sum())


@pytest.mark.parametrize(
    ("text", "number"),
    [("9/2", 4.5), ("=9/2", 4.5), ("≈0.418", 0.418), ("٤٫٥".replace("٫", "."), 4.5), ("−inf", -1e9)],
)
def test_numbers_are_read_as_students_write_them(text: str, number: float) -> None:
    assert read_entry(text).number == number


def test_any_number_that_hides_is_right_for_a_masked_score() -> None:
    assert near(-100, -1e9, TOLERANCE)
    assert not near(-10, -1e9, TOLERANCE)
    assert not near(-100, -50, TOLERANCE)


@thorough
def test_practice_and_exam_have_different_numbers(tmp_path: Path) -> None:
    roster = tmp_path / "class.csv"
    roster.write_text("id,name\ns1,Ada\n")
    tables = attn_xl.read_tables(SAMPLES / "by-hand.xlsx")
    inputs = []
    for exam in (False, True):
        _, key = write_class(
            tables, roster, tmp_path / str(exam), settings=Settings(), lesson=Lesson(exam=exam)
        )
        made = read_key(key).make(Student("s1", "Ada", ""))
        inputs.append(made.computation["Sentence"]["Input"].values.tolist())
    assert inputs[0] != inputs[1]


def lost(computation: Computation, answers: dict[str, np.ndarray]) -> dict[str, int]:
    """The cells lost in each step by a student who enters these matrices, and else what follows."""
    layout = lay_out(computation, computation.settings.sheets_for)  # type: ignore[union-attr]
    opened = chosen_cells(layout, Lesson(level=2))
    results = results_of(computation)
    entered = {
        node: Entered(np.ones(node.shape, bool), answers[node.name])
        for node in opened
        if node.name in answers
    }
    shown = recompute(results, entered).shown
    entries = {node: [[Entry(float(x), str(x)) for x in row] for row in shown[node]] for node in opened}
    marking = mark(results, opened, entries, TOLERANCE)
    points = {node.name: marking.points(node) for node in opened}
    return {name: most - earned for name, (earned, most) in points.items() if earned < most}


def test_a_mistake_that_a_recurrent_step_repeats_counts_in_one_row() -> None:
    computation = attend(attn_xl.read_tables(SAMPLES / "rnn.xlsx"), Settings(model="rnn"))  # type: ignore[arg-type]
    nodes = next(iter(computation.values()))
    x, w, u, b = (nodes[name].values for name in ("Input", "W_h", "U_h", "b_h"))

    def hidden(bias: np.ndarray, squashed: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        rows = [np.zeros(len(u))]
        for word in x:
            rows.append(squashed(word @ w + rows[-1] @ u + bias[0]))
        return np.array(rows[1:])

    assert lost(computation, {"Hidden": hidden(b, np.tanh)}) == {}
    for wrong in (hidden(0 * b, np.tanh), hidden(b, np.array)):
        assert 0 < lost(computation, {"Hidden": wrong})["Hidden"] <= len(u)


@thorough
@pytest.mark.parametrize("rate", [0.5, 3.0])
def test_an_updated_weight_is_marked_by_how_far_it_moved(rate: float) -> None:
    tables = attn_xl.read_tables(SAMPLES / "learning.xlsx")
    computation = attn_xl.learn(tables, steps=1, rate=rate, optimizer="sgd").computation
    nodes = {node.name: node.values for node in walk(results_of(computation))}
    before, after = nodes["Step1.W_Q"], nodes["Learned.W_Q"]
    for wrong in (2 * before - after, before + (after - before) / rate, before):
        assert lost(computation, {"Learned.W_Q": wrong})["Learned.W_Q"] >= 4
    gradients = {name: 0 * values for name, values in nodes.items() if ".d" in name}
    zeros = sum(int((values == 0).sum()) for values in gradients.values())
    cells = sum(values.size for values in gradients.values())
    assert sum(lost(computation, gradients).values()) > 0.9 * (cells - zeros) / 2
    rounded = {name: np.round(values, 3) for name, values in nodes.items()}
    assert lost(computation, rounded) == {}


def test_after_a_single_wrong_cell_the_rest_follows() -> None:
    one = exercise("by-hand.xlsx", 1, False)
    scores = next(node for node in one.opened if node.name == "Scores")
    alone = np.zeros(scores.shape, bool)
    alone[1, 2] = True
    softmax = next(node for node in one.opened if node.name == "Softmax")
    opened = {scores: alone, softmax: np.ones(softmax.shape, bool)}
    wrong = Entered(alone, scores.values + 2)
    shown = recompute(results_of(one.computation), {scores: wrong}).shown
    entries = {node: [[Entry(float(x), str(x)) for x in row] for row in shown[node]] for node in opened}
    marking = mark(results_of(one.computation), opened, entries, TOLERANCE)
    assert marking.points(scores) == (0, 1)
    assert marking.points(softmax) == (softmax.values.size, softmax.values.size)
