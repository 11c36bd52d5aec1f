"""Typical slips, told from the number that somebody entered; and grades on a terminal."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attn_xl
from attn_xl import given
from attn_xl.graph import functions as op
from attn_xl.graph.node import Node, walk
from attn_xl.spreadsheets.text_files import harmless
from attn_xl.teaching.grading.grade_text import print_grades
from attn_xl.teaching.grading.known_slips import slips
from attn_xl.teaching.grading.results import Graded, Status

X = given([[1, 2, -1], [0.5, 0, 3], [2, 1, 1.5]], ["u", "v", "w"], ["a", "b", "c"], "Input")
Y = given([[0.3, 1.1, 2], [4, 0.7, 1], [0.2, 5, 0.9]], ["a", "b", "c"], ["k", "l", "m"], "W")
x, y = X.values, Y.values
GRAPH = attn_xl.Graph(attn_xl.self_attention(X))
SCORES, SCALED, SOFTMAX = (GRAPH[name] for name in ("Scores", "Scaled", "Softmax"))
POWERS, TOTAL, MAXIMUM = (GRAPH[f"Softmax.{n}"] for n in ("Exponentials", "Sum", "Maximum"))
s = SCALED.values
e = np.exp(s)
XY = (X @ Y).named("XY")
XYT = (X @ Y.T).named("XYT")
PRODUCT = (X * Y).named("Times")
MINUS = (X - Y).named("Minus")
PLUS = (X + Y).named("Plus")
MEAN = op.row_mean(X).named("Mean")
SPREAD = op.row_variance(X).named("Variance")
SQUARES = op.row_squares(X).named("Squares")
ROOT = op.sqrt(SQUARES).named("Root")


def slip(node: Node, row: int, column: int, entered: float, numbers: Mapping[Node, Any]) -> str:
    """What is said where one number alone is wrong."""
    return slips(node, {(row, column): (entered, numbers)})[row, column]


@pytest.mark.parametrize(
    ("node", "cell", "entered", "said"),
    [
        (XY, (0, 1), sum(x[0] + y[:, 1]), "adding instead of multiplying"),
        (XY, (0, 1), float(x[0] @ y[1]), "using a row instead of the column of the second matrix"),
        (XYT, (0, 1), float(x[0] @ y[:, 1]), "using a column instead of the row of the second"),
        (XY, (0, 1), float(x[0, :2] @ y[:2, 1]), "leaving out the last product"),
        (XY, (0, 1), float(x[0, 1:] @ y[1:, 1]), "leaving out the first product"),
        (XY, (0, 1), float(np.abs(x[0] * y[:, 1]).sum()), "ignoring the signs of the products"),
        (XY, (0, 1), float((x[0] * y[:, 1]) @ [1, -1, 1]), "wrong sign in product 2"),
        (XY, (1, 0), -float(x[1] @ y[:, 0]), "wrong sign"),
        (XY, (0, 1), float(x[1] @ y[:, 0]), "row and column swapped"),
        (XY, (0, 1), float(x[0] @ y[:, 2]), "the number from another column (m)"),
        (XY, (0, 1), float(x[2] @ y[:, 1]), "the number from another row (w)"),
        (XY, (0, 1), 10 * float(x[0] @ y[:, 1]), "decimal point one place off"),
        (XY, (0, 1), float(x[0] @ y[:, 1]) / 10, "decimal point one place off"),
        (SCALED, (0, 1), SCORES.values[0, 1] / 3, "dividing by d_k instead of √d_k"),
        (SCALED, (0, 1), SCORES.values[0, 1], "forgetting to scale"),
        (SCALED, (0, 1), SCORES.values[0, 1] * math.sqrt(3), "multiplying instead of dividing"),
        (SCALED, (0, 1), math.sqrt(3) / SCORES.values[0, 1], "dividing the other way round"),
        (SOFTMAX, (0, 1), e[0, 1] / e[:, 1].sum(), "softmax over the column instead of the row"),
        (SOFTMAX, (0, 1), POWERS.values[0, 1] / POWERS.values[:, 1].sum(), "the sum of the column"),
        (
            SOFTMAX,
            (0, 1),
            POWERS.values[0, 1] / POWERS.values.sum(),
            "dividing by the sum of the whole matrix",
        ),
        (SOFTMAX, (0, 1), POWERS.values[0, 1], "forgetting to divide by the sum"),
        (SOFTMAX, (0, 1), e[0, 1], "the exponential of the score, not divided by the sum"),
        (SOFTMAX, (0, 1), s[0, 1] / s[0].sum(), "dividing the scores themselves"),
        (SOFTMAX, (0, 1), 100 * SOFTMAX.values[0, 1], "a percentage instead of"),
        (POWERS, (0, 1), e[0, 1], "forgetting to subtract the maximum"),
        (POWERS, (0, 1), s[0, 1] - s[0].max(), "leaving out the exponential"),
        (POWERS, (0, 1), 10 ** (s[0, 1] - s[0].max()), "using 10 instead of e"),
        (POWERS, (0, 1), 2 ** (s[0, 1] - s[0].max()), "using 2 instead of e"),
        (POWERS, (0, 1), (s[0, 1] - s[0].max()) * math.e, "multiplying by e"),
        (MAXIMUM, (0, 0), s[0].min(), "the smallest instead of the largest"),
        (TOTAL, (0, 0), POWERS.values[0].mean(), "the mean instead of the sum"),
        (MEAN, (1, 0), x[1].sum(), "the sum instead of the mean"),
        (SPREAD, (1, 0), x[1].var() * 3 / 2, "sample variance"),
        (SPREAD, (1, 0), x[1].std(), "the standard deviation instead of the variance"),
        (SQUARES, (1, 0), x[1].sum(), "the sum instead of the sum of squares"),
        (ROOT, (1, 0), SQUARES.values[1, 0], "leaving out the square root"),
        (PLUS, (0, 0), 1 - 0.3, "subtracting instead of adding"),
        (PLUS, (0, 1), 2 * 1.1, "multiplying instead of adding"),
        (PLUS, (0, 1), 2.0, "leaving out W"),
        (MINUS, (0, 1), 3.1, "adding instead of subtracting"),
        (MINUS, (0, 1), 1.1 - 2, "subtracting the other way round"),
        (PRODUCT, (0, 1), 3.1, "adding instead of multiplying"),
        (SCALED, (0, 1), 123.456, ""),
        (XY, (0, 1), round(float(x[0] @ y[:, 1]) * 7.7777, 1), ""),
    ],
)
def test_the_slip_behind_a_number_is_found(
    node: Node, cell: tuple[int, int], entered: float, said: str
) -> None:
    numbers = {one: one.values for one in walk([node])}
    found = slip(node, *cell, float(entered), numbers)
    assert said in found
    assert bool(said) == bool(found)


def test_a_rounded_number_counts_from_two_decimals_on() -> None:
    numbers = {one: one.values for one in walk([SCALED])}
    third = float(SCORES.values[0, 1]) / 3
    assert slip(SCALED, 0, 1, round(third, 2), numbers) == "dividing by d_k instead of √d_k"
    assert slip(SCALED, 0, 1, round(third + 0.011, 2), numbers) == ""

    assert slip(SCALED, 0, 1, round(third, 1), numbers) == ""
    assert abs(round(third, 1) - third) < 0.05


@pytest.mark.parametrize(
    ("row", "said"),
    [([1.5, 7.25, 3], "the number from another column (b)"), ([1.5, 7.25, 7.25], ""),
     ([7.25, 7.25, 3], "")],
)  # fmt: skip
def test_a_number_that_stands_twice_tells_no_place(row: list[float], said: str) -> None:
    at = 2 if row[0] == 7.25 else 0
    across = op.copy(given([row], ["u"], ["a", "b", "c"], "X")).named("Y")
    assert slip(across, 0, at, 7.25, {one: one.values for one in walk([across])}) == said
    down = op.copy(given(np.transpose([row]), ["a", "b", "c"], ["u"], "X")).named("Y")
    said = said.replace("column", "row")
    assert slip(down, at, 0, 7.25, {one: one.values for one in walk([down])}) == said


def test_the_slip_goes_by_the_students_own_numbers() -> None:
    numbers = {one: one.values for one in walk([SCALED])}
    numbers[SCORES] = SCORES.values + 9
    entered = float(SCORES.values[0, 1] + 9)
    assert slip(SCALED, 0, 1, entered, numbers) == "forgetting to scale"


STEPS = walk([XY, XYT, PRODUCT, MINUS, PLUS, MEAN, SPREAD, ROOT, *GRAPH.values()])


@pytest.mark.parametrize("number", [0.0, -5.0, 1e308, -1e308, math.nan, math.inf])
def test_no_number_of_the_students_stops_the_marking(number: float) -> None:
    numbers = {one: np.full(one.shape, number) for one in STEPS}
    for node in STEPS:
        if node.operation is not None:
            for row, column in np.ndindex(*node.shape):
                assert slip(node, row, column, 0.123456, numbers) == ""


def test_one_slip_that_is_made_everywhere_is_said_everywhere() -> None:
    numbers = {one: one.values for one in walk([XYT])}
    made = XYT.values
    wrong = {(i, j): (float(made[i, i]), numbers) for i in range(3) for j in range(3) if i != j}
    said = set(slips(XYT, wrong).values())
    assert said == {"repeating the diagonal's number along the row (a fixed reference)"}
    turned = {(j, i): number for (i, j), number in wrong.items()}
    assert {"along the column" in said for said in slips(XYT, turned).values()} == {True}


def test_what_fits_one_of_many_wrong_numbers_is_a_coincidence_and_not_said() -> None:
    numbers = {one: one.values for one in walk([XY])}
    wrong = {(0, 0): (-float(XY.values[0, 0]), numbers)}
    wrong |= {(i, j): (123.456 + i + 10 * j, numbers) for i in range(3) for j in (1, 2)}
    assert slips(XY, dict(list(wrong.items())[:4]))[0, 0] == "wrong sign"
    assert slips(XY, dict(list(wrong.items())[:5]))[0, 0] == ""


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


FOUND = [
    Graded(Path("a.xlsx"), Status.marked, "s1", "Ada", {"Scores": (4, 4)}),
    Graded(Path("b.xlsx"), Status.marked, "s2", "Bob", {"Scores": (1, 4)}, remarks=("Long. " * 90,)),
    Graded(Path("c\x1b[31m.xlsx"), Status.failed, remarks=("Not marked: no [bold]lesson[/bold].",)),
    Graded(None, Status.missing, "s4", "Dan"),
]


@pytest.mark.parametrize("width", [60, 120])
def test_grades_fit_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    screen = Screen()
    print_grades(FOUND, screen)
    said = screen.getvalue()
    assert "\x1b[31m 25.0 %" in said or "25.0 %" in said
    assert "…" in said
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Screen()
    print_grades(FOUND, plain)
    assert max(map(len, plain.getvalue().splitlines())) <= width


def test_steps_that_do_not_fit_are_left_to_the_workbook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    many = [Graded(Path("a.xlsx"), Status.marked, "s1", "A", {f"Step{n}": (1, 2) for n in range(30)})]
    screen = Screen()
    print_grades(many, screen)
    assert "The points for each step are in the workbook." in screen.getvalue()
    assert "Step1" not in screen.getvalue()


def test_piped_it_is_plain_and_whole() -> None:
    out = io.StringIO()
    print_grades(FOUND, out)
    lines = out.getvalue().splitlines()
    assert lines[0].split() == ["id", "name", "total", "Scores", "remarks"]
    assert lines[2].endswith(("Long. " * 90).rstrip())
    assert "\x1b" not in out.getvalue()
    assert "no [bold]lesson[/bold]." in lines[3]


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\tx", "\rx"])
def test_text_that_could_be_a_formula_is_text_in_csv(text: str) -> None:
    assert harmless(text) == f"'{text}"
    assert harmless("a=1") == "a=1"
