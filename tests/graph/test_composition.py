"""Whatever can be computed can be written, explained and taught: random expressions of every operation.

The numbers are fractions of a power of two. More examples: pytest tests/graph --thorough
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from conftest import CANCELLED, alike, thorough, verify
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import differences_ironcalc
from ooxml import violations
from primitives import NAMED, called

import attn_xl
from attn_xl import softmax
from attn_xl.errors import InputError
from attn_xl.graph import functions as f
from attn_xl.graph.graph import Graph, walk
from attn_xl.graph.matrix import Matrix, Operation, operation_of
from attn_xl.graph.operations.elementwise import angle, gelu, gelu_slope, positive
from attn_xl.graph.operations.products import Apart
from attn_xl.graph.operations.reductions import Largest
from attn_xl.graph.operations.selection import AddedRows, Placed, Repeated
from attn_xl.graph.recurrence import recurrence
from attn_xl.models.computation import as_computation
from attn_xl.settings import Arrangement, Formulas, Settings
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import lesson_layout
from attn_xl.workbook.write import write_layout, write_workbook

STYLES = (Formulas.cell, Formulas.array, Formulas.dynamic)
LARGEST, DEEPEST = 1e4, 5
names, files = itertools.count(), itertools.count()


def matrix(values: Any, name: str) -> Matrix:
    values = np.array(values, float)
    n, m = values.shape
    return attn_xl.given(values, [f"r{i}" for i in range(n)], [f"c{j}" for j in range(m)], name)


X = matrix([[0.5, -1.25, 3.0], [-2.0, 0.25, 0.125]], "X")
Y = matrix([[2.0, -0.5, 0.125], [1.5, 4.0, -3.0]], "Y")
SQUARE = matrix([[0.5, -1.0, 0.25], [2.0, 0.75, -0.5], [1.5, -2.0, 1.0]], "S")


def recalculated(path: Path, computation: attn_xl.Computation) -> None:
    """Every formula agrees with IronCalc to 1e-12; to 1e-6 where its NORMSDIST, of ten digits, is
    among them, or an angle, whose cosine near 1 is rounded."""
    nodes = walk(node for graph in computation.values() for node in graph.values())
    if any(node.operation in (angle, gelu, gelu_slope) for node in nodes):
        assert not violations(path)
        assert not differences_ironcalc(path, 1e-6, CANCELLED)
    else:
        verify(path)


def written(
    result: Matrix, path: Path, style: Formulas, layout: Arrangement = Arrangement.sheets
) -> attn_xl.Computation:
    """Write a matrix, which is recalculated, and explain its last number."""
    computation = as_computation(result)
    chosen = Settings(formulas=style, layout=layout)
    write_workbook(computation, path, settings=chosen)
    recalculated(path, computation)
    *_, name = next(iter(computation.values()))
    node = next(iter(computation.values()))[name]
    cell = name if node.scalar else f"{name}[{node.shape[0]}, {node.shape[1]}]"
    explained = attn_xl.explain(computation, cell, depth=None)
    assert explained.formula.startswith("=")
    assert explained.sources or not list(node.parents) or node.operation is not None
    return computation


# Each operation

START = matrix([[0.25, -1.0, 2.0]], "Start")
CASES: dict[str, tuple[Callable[[], Matrix], bool]] = {
    "Copy": (lambda: f.copy(X), True),
    "Transpose": (lambda: X.T, True),
    "Product": (lambda: X @ SQUARE, True),
    "Dot": (lambda: f.row_dot(X, Y), False),
    "Additive": (lambda: f.additive(X, Y, START), False),
    "Apart": (lambda: Apart()(X, Y.T), False),
    "Add": (lambda: X + Y, True),
    "Subtract": (lambda: X - Y, True),
    "Multiply": (lambda: X * Y, True),
    "Divide": (lambda: X / Y, True),
    "Constant": (lambda: f.constant(2.5), True),
    "Exp": (lambda: f.exp(X), True),
    "NegativeLog": (lambda: f.negative_log(X * X), True),
    "Power": (lambda: f.Power(3)(X), True),
    "Sqrt": (lambda: f.sqrt(X + 3), True),
    "Acos": (lambda: f.angle(X / 4), False),
    "Round": (lambda: f.rounded(X / 7), False),
    "Relu": (lambda: f.activation(X, "relu"), True),
    "Gelu": (lambda: f.activation(X, "gelu"), False),
    "GeluTanh": (lambda: f.activation(X, "gelu-tanh"), True),
    "Silu": (lambda: f.activation(X, "silu"), True),
    "Sin": (lambda: f.sin(X), True),
    "Cos": (lambda: f.cos(X), True),
    "NextDraw": (lambda: f.NEXT_DRAW(f.option(7.0, "Seed", "")), True),
    "AtMost": (lambda: f.at_most(X, f.option(0.4, "Most", "")), True),
    "Positive": (lambda: positive(X), True),
    "GeluSlope": (lambda: gelu_slope(X), False),
    "Tanh": (lambda: f.tanh(X), True),
    "Sigmoid": (lambda: f.sigmoid(X), True),
    "Maximum": (lambda: f.row_maximum(X), False),
    "Largest": (lambda: Largest()(X), False),
    "Sum": (lambda: f.row_sum(X), False),
    "Mean": (lambda: f.row_mean(X), False),
    "Variance": (lambda: f.row_variance(X), False),
    "SampleVariance": (lambda: f.row_variance(X, sample=True), False),
    "Squares": (lambda: f.row_squares(X), False),
    "RunningSum": (lambda: f.running_sum(X), False),
    "Width": (lambda: f.width(X), True),
    "Gather": (lambda: f.gather([(X, 1), (Y, 0)], ["a", "b"]), False),
    "Shift": (lambda: f.shifted(X, -1, START), False),
    "Previous": (lambda: previous(), False),
    "AddedRows": (lambda: AddedRows(((1, 0), (), (1,)))(X, rows="abc"), False),
    "Columns": (lambda: f.columns(X, 1, 3), True),
    "Placed": (lambda: Placed((1,), 5)(X, columns="abcde"), False),
    "Repeated": (lambda: Repeated(2, 3)(f.columns(X, 0, 1), columns="abc"), False),
    "Concat": (lambda: f.concat(X, Y), False),
    "Best": (lambda: f.best(X), False),
    "BlockNorms": (lambda: f.block_norms([X, Y], 2, ["all"], X.rows), False),
    "Mask": (lambda: f.mask(X.rows, [*X.columns, "<PAD>"], causal=True, padding=["<pad>"]), False),
    "Sinusoid": (lambda: f.Sinusoid()(X), False),
    "Angle": (lambda: f.Angle(2, 4, True)(f.option(50.0, "Base", ""), rows=X.rows), False),
    "QuarterTurn": (lambda: f.QuarterTurn(True)(f.concat(X, Y)), False),
    "Distance": (lambda: f.Distance()(X), False),
    "Count": (lambda: f.counted(3, X.rows), False),
    "When": (lambda: f.when(f.switch(True, "On", "", sheet="S"), 2, f.width(X)), False),
    "OneHot": (lambda: f.one_hot(words(), ["c0", "c1"]), False),
    "Chosen": (
        lambda: f.one_in_cell(X, 2, *(f.option(2.0, name, "") for name in ("Matrix", "Row", "Column"))),
        False,
    ),
    "ColumnMaximum": (lambda: f.column_maximum(X), False),
    "ColumnSum": (lambda: f.column_sum(X), False),
    "ColumnMean": (lambda: f.column_mean(X, Y), False),
    "ColumnVariance": (lambda: f.column_variance(X), False),
}
"""An example of each operation, and whether it has a formula for the whole matrix."""


def window() -> Matrix:
    return f.option(2.0, "Window", "")


OF_GRADIENTS = {
    "BlockNorms",
    "Dot", "Positive", "GeluSlope", "Largest", "AddedRows", "Placed", "Repeated",
    "ColumnSum", "Chosen",
}  # fmt: skip


def previous() -> Matrix:
    """What a recurrence refers to."""
    (total,) = recurrence(X.rows, [("Total", START)], lambda t: [(X + t).named("Total")])
    return total.parents[1]


@cache
def words() -> Matrix:
    labels = ("c0", "c1")
    return Matrix(np.array([[1.0], [2.0]]), labels, ("words",), name="Vocabulary", texts=labels)


def test_the_table_has_every_operation() -> None:
    assert list(CASES) == list(NAMED)


@alike
@pytest.mark.parametrize("case", CASES)
def test_an_operation_has_all_that_is_asked_of_it(case: str, tmp_path: Path) -> None:
    make, has_array = CASES[case]
    result = make()
    operation = operation_of(result)
    kind = type(operation)
    assert called(operation) == case
    assert kind.__doc__ != Operation.__doc__
    assert operation.noun.isalpha()
    assert (
        kind.array is not Operation.array and getattr(operation, "in_array", "x") != ""
    ) is has_array
    assert result.words
    for style in STYLES if has_array else STYLES[:1]:
        computation = written(result.named("R"), tmp_path / f"{style.value}.xlsx", style)
    n, m = result.shape
    root = attn_xl.explain(computation, "R" if result.scalar else f"R[{n}, {m}]")
    assert root.words
    assert root.numbers
    if has_array and not result.scalar:
        formula = write_workbook(
            result.named("R"), tmp_path / "a.xlsx", settings=Settings(formulas=Formulas.array)
        )
        node = next(node for node in formula.blocks if node.name == "R")
        assert formula.array(formula.blocks[node])


# What is composed of them

EXAMPLES: dict[str, Callable[[], Matrix]] = {
    "softmax(x * y)": lambda: softmax(X * Y),
    "row_sum(x * y)": lambda: f.row_sum(X * Y),
    "(x * y) @ y.T": lambda: (X * Y) @ Y.T,
    "x.T @ y": lambda: X.T @ Y,
    "x.T.named": lambda: X.T.named("T"),
    "x @ (y.T * 2)": lambda: X @ (Y.T * 2),
    "x.T @ s.T": lambda: (X.T @ Y).T @ SQUARE.T,
    "two softmaxes": lambda: softmax(X) @ Y.T + softmax(Y) @ X.T,
    "a column for each": lambda: X + f.columns(Y, 1, 2),
    "a row's sum for each": lambda: SQUARE + f.row_sum(matrix([[1.0, 2.0]], "R")),
    "a function of products side by side": lambda: f.activation(f.concat(X * Y, Y), "gelu-tanh"),
    "a row of a step": lambda: f.gather([(X * 2, 1), (Y - X, 0)], ["a", "b"]),
    "columns of columns": lambda: X @ f.columns(f.columns(SQUARE, 0, 3), 1, 3),
    "columns of rows": lambda: f.columns(f.columns(SQUARE.T, 0, 2).T, 1, 3) @ f.columns(X, 0, 2).T,
    "positions": lambda: X + f.Sinusoid()(X * 2),
    "a rotation": lambda: f.QuarterTurn(False)(f.concat(X, X * 2)) @ f.concat(X, Y).T,
    "a window": lambda: softmax(SQUARE + f.mask(SQUARE.rows, SQUARE.columns, window=window())),
    "later words in a window": lambda: softmax(
        SQUARE + f.mask(SQUARE.rows, SQUARE.columns, causal=True, window=window())
    ),
    "a mask": lambda: softmax(SQUARE + f.mask(SQUARE.rows, SQUARE.columns, causal=True)),
    "the best of a step": lambda: f.best(X @ Y.T),
    "ten times itself": lambda: _doubled(X, 10),
    "a number on its own": lambda: attn_xl.given([[1.0, 2.0]], ["a"], ["b", "c"], "") * 2,
}


def _doubled(x: Matrix, times: int) -> Matrix:
    for _ in range(times):
        x = x * x / 1000 - x
    return x


@alike
@pytest.mark.parametrize("layout", Arrangement)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("example", EXAMPLES)
def test_what_is_composed_is_written(
    example: str, style: Formulas, layout: Arrangement, tmp_path: Path
) -> None:
    written(EXAMPLES[example](), tmp_path / "r.xlsx", style, layout)


def test_an_operand_that_needs_cells_gets_them_once(tmp_path: Path) -> None:
    both = X * Y
    graph = Graph((f.row_sum(both) + f.row_maximum(both) + both).named("R"))
    assert list(graph) == ["X", "Y", "R.Product", "R"]
    assert graph["R.Product"].note == "X · Y"
    assert graph["R"].words == (
        "the sum of each row of X · Y + the largest of each row of X · Y + X · Y"
    )
    layout = write_workbook(graph, tmp_path / "r.xlsx")
    formula = layout.formula(layout.blocks[graph["R"]], 0, 0)
    assert formula == "SUM($B5:$D5)+MAX($B5:$D5)+B5"


def test_helpers_of_one_name_are_told_apart() -> None:
    graph = Graph((softmax(X) + softmax(Y)).named("R"))
    assert [name for name in graph if "Sum" in name] == ["R.Sum", "R.Sum_2"]
    assert graph.full_name(graph["R.Sum_2"]) == "R.Sum_2"


def test_views_need_no_cells() -> None:
    assert list(Graph((X @ f.columns(SQUARE, 1, 3)).named("R"))) == ["X", "S", "R"]
    assert list(Graph((X.T @ Y).named("R"))) == ["X", "Y", "R"]


def test_nothing_is_computed_with_words() -> None:
    with pytest.raises(TypeError, match="holds words"):
        f.best(X) + 1


def test_a_formula_is_never_longer_than_a_spreadsheet_takes(tmp_path: Path) -> None:
    layout = write_workbook(_doubled(X, 40), tmp_path / "r.xlsx")
    for block in layout.blocks.values():
        if block.live:
            assert len(layout.formula(block, 0, 0)) < 2000


# Random expressions


@dataclass
class Expression:
    """An expression of some depth, drawn bottom up; what would be too large is left out."""

    draw: Any

    def of(self, depth: int) -> Matrix:
        if depth == 0:
            return self.given()
        x = self.of(depth - 1)
        try:
            made_of_it = self.step(x, depth)
        except InputError:  # too large, or no number
            return x
        if not np.abs(made_of_it.values).max() < LARGEST:
            return x
        if self.one_in(3):
            return made_of_it.named(f"M{next(names)}")
        return made_of_it

    def one_in(self, number: int) -> bool:
        return bool(self.draw(st.integers(1, number)) == number)

    def given(self, rows: int = 0, columns: int = 0) -> Matrix:
        shape = rows or self.draw(st.integers(1, 4)), columns or self.draw(st.integers(1, 4))
        seed = self.draw(st.integers(0, 2**20))
        values = np.random.default_rng(seed).integers(-200, 200, shape) / 64
        return matrix(values, f"G{next(names)}")

    def sized(self, rows: int, columns: int, depth: int) -> Matrix:
        """A second operand: given, or computed; sometimes turned round."""
        if self.one_in(3):
            return self.given(columns, rows).T
        other = self.given(rows, columns)
        return other if self.one_in(2) else other * self.given(rows, columns)

    def step(self, x: Matrix, depth: int) -> Matrix:
        n, m = x.shape
        if x.scalar:
            n = m = 1
        kind = self.draw(st.sampled_from(sorted(self.steps)))
        return self.steps[kind](self, x, n, m, depth)

    def elementwise(self, x: Matrix, n: int, m: int, depth: int) -> Matrix:
        shape = self.draw(st.sampled_from([(n, m), (1, m), (n, 1), (1, 1)]))
        other: Any = 1.5 if self.one_in(4) else self.sized(*shape, depth)
        sign = self.draw(st.sampled_from("+-*"))
        left, right = (x, other) if self.one_in(2) else (other, x)
        return left + right if sign == "+" else left - right if sign == "-" else left * right

    def divided(self, x: Matrix, n: int, m: int, depth: int) -> Matrix:
        return x / (f.row_squares(x) + 1) if self.one_in(2) else x / (f.width(x) + 1)

    def product(self, x: Matrix, n: int, m: int, depth: int) -> Matrix:
        k = self.draw(st.integers(1, 3))
        side = self.draw(st.integers(0, 3))
        if side == 0:
            return x @ self.sized(m, k, depth)
        if side == 1:
            return self.sized(k, n, depth) @ x
        if side == 2:
            return x.T @ self.sized(n, k, depth)
        return self.sized(k, m, depth) @ x.T

    def columns(self, x: Matrix, n: int, m: int, depth: int) -> Matrix:
        start = self.draw(st.integers(0, m - 1))
        return f.columns(x, start, self.draw(st.integers(start + 1, m)))

    def gathered(self, x: Matrix, n: int, m: int, depth: int) -> Matrix:
        other = self.sized(2, m, depth)
        picks = [(x, n - 1), (other, 1), (x, 0)]
        return f.gather(picks, ["a", "b", "c"])

    def masked(self, x: Matrix, n: int, m: int, depth: int) -> Matrix:
        return softmax(x + f.mask(x.rows, x.columns, causal=True))

    def chosen(self, x: Matrix, n: int, m: int, depth: int) -> Matrix:
        on = f.switch(self.one_in(2), f"O{next(names)}", "", sheet="Options")
        return x * f.when(on, 2, f.width(x))

    def recurrent(self, x: Matrix, n: int, m: int, depth: int) -> Matrix:
        start, u, name = self.sized(1, m, 0), self.sized(m, m, 0), f"H{next(names)}"
        reverse = self.one_in(2)

        def body(h: Matrix) -> list[Matrix]:
            return [f.tanh(x / 8 + h @ u / 8 + h).named(name)]

        return recurrence(x.rows, [(name, start)], body, reverse=reverse)[0]

    steps: ClassVar[dict[str, Callable[..., Matrix]]] = {}


Expression.steps = {
    "elementwise": Expression.elementwise,
    "divided": Expression.divided,
    "product": Expression.product,
    "additive": lambda self, x, n, m, depth: f.additive(
        x, self.sized(3, m, depth), self.sized(1, m, 0)
    ),
    "apart": lambda self, x, n, m, depth: Apart()(x, self.sized(m, 2, depth) * 64 + 1e3),
    "transposed": lambda self, x, n, m, depth: x.T,
    "columns": Expression.columns,
    "gathered": Expression.gathered,
    "concat": lambda self, x, n, m, depth: f.concat(x, self.sized(n, 2, depth), x),
    "exp": lambda self, x, n, m, depth: f.exp(x / 8),
    "negative log": lambda self, x, n, m, depth: f.negative_log(f.row_squares(x) + 1) - x,
    "power": lambda self, x, n, m, depth: f.Power(3)(x / 8),
    "sqrt": lambda self, x, n, m, depth: f.sqrt(f.row_squares(x)),
    "angle": lambda self, x, n, m, depth: f.angle(softmax(x) / 2),
    "relu": lambda self, x, n, m, depth: f.activation(x, "relu"),
    "gelu": lambda self, x, n, m, depth: f.activation(x, "gelu"),
    "gelu-tanh": lambda self, x, n, m, depth: f.activation(x, "gelu-tanh"),
    "tanh": lambda self, x, n, m, depth: f.tanh(x / 8),
    "sigmoid": lambda self, x, n, m, depth: f.sigmoid(x / 8),
    "shifted": lambda self, x, n, m, depth: x * f.shifted(x, -1, self.sized(1, m, 0)),
    "window": lambda self, x, n, m, depth: f.shifted(x, 1, self.sized(1, m, 0)) @ self.sized(m, 2, 0),
    "recurrent": Expression.recurrent,
    "column maximum": lambda self, x, n, m, depth: x - f.column_maximum(x),
    "silu": lambda self, x, n, m, depth: f.activation(f.tanh(x) * 8, "silu"),
    "waves": lambda self, x, n, m, depth: f.sin(x) + f.cos(x),
    "rotated": lambda self, x, n, m, depth: f.QuarterTurn(self.one_in(2))(f.concat(x, x)),
    "angles": lambda self, x, n, m, depth: (
        f.Angle(n, 2, self.one_in(2))(f.option(10.0, f"O{next(names)}", ""), rows=x.rows) * f.row_sum(x)
    ),
    "draw": lambda self, x, n, m, depth: x * f.NEXT_DRAW(f.option(5.0, f"O{next(names)}", "")) / 2**31,
    "running": lambda self, x, n, m, depth: f.running_sum(x) + f.counted(2, x.rows),
    "distance": lambda self, x, n, m, depth: x - f.Distance()(x) / 4,
    "the best few": lambda self, x, n, m, depth: x * f.at_most(x, f.option(2.0, f"O{next(names)}", "")),
    "softmax": lambda self, x, n, m, depth: softmax(x),
    "masked": Expression.masked,
    "maximum": lambda self, x, n, m, depth: x - f.row_maximum(x),
    "sum": lambda self, x, n, m, depth: f.row_sum(x),
    "mean": lambda self, x, n, m, depth: x - f.row_mean(x),
    "variance": lambda self, x, n, m, depth: x / f.sqrt(f.row_variance(x, sample=m > 1) + 1),
    "population": lambda self, x, n, m, depth: x / f.sqrt(f.row_variance(x) + 1),
    "column mean": lambda self, x, n, m, depth: x - f.column_mean(x, x),
    "column variance": lambda self, x, n, m, depth: (
        f.column_variance(f.concat(x.T, x.T).T) if n * m else x
    ),
    "positions": lambda self, x, n, m, depth: x + f.Sinusoid()(x),
    "copy": lambda self, x, n, m, depth: f.copy(x) @ f.copy(x).T,
    "chosen": Expression.chosen,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("composed")


@thorough
@settings(max_examples=20, derandomize=True)
@given(data=st.data())
def test_random_expressions_are_written_explained_and_taught(folder: Path, data: Any) -> None:
    result = Expression(data.draw).of(data.draw(st.integers(1, DEEPEST)))
    if result.operation is None:
        return
    result = result if result.name else result.named("Result")
    style = data.draw(st.sampled_from(STYLES))
    layout = data.draw(st.sampled_from(list(Arrangement)))
    path = folder / f"e{next(files)}.xlsx"
    computation = written(result, path, style, layout)
    if style is Formulas.cell and next(files) % 2:
        chosen = Settings(layout=layout)
        lesson = lesson_layout(computation, chosen, Lesson(level=2))
        write_layout(lesson, path, settings=chosen)
        recalculated(path, computation)


def test_the_random_expressions_have_every_operation() -> None:
    """All but those that need words: `OneHot` and `Best`, whose result is words; and `Round`,
    which leaps. Those made for gradients only are reached in test_gradients.py."""
    reached = {called(operation_of(node)) for node in _all_steps() if node.operation is not None}
    missing = NAMED.keys() - reached
    assert missing == {"OneHot", "Best", "Round", *OF_GRADIENTS}


def _all_steps() -> list[Any]:
    class Fixed(Expression):
        def one_in(self, number: int) -> bool:
            return False

    results = []
    for kind in Expression.steps:
        expression = Fixed(lambda strategy: _first(strategy))
        results.append(Expression.steps[kind](expression, SQUARE, 3, 3, 1))
    results += [X + Y, X - Y, X * Y]
    return walk(results)


def _first(strategy: Any) -> Any:
    from hypothesis import find

    return find(strategy, lambda _: True)
