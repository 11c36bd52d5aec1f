"""How one number came about: the arithmetic that is shown gives the number, in every step."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, Part, alike, is_note, table, thorough
from graph.test_composition import CASES as EVERY
from primitives import NAMED
from test_composition import CASES as EACH

import attn_xl
from attn_xl import CallError, Explanation, explain, given
from attn_xl.cli.main import main
from attn_xl.graph.functions import (
    NEXT_DRAW,
    Angle,
    Distance,
    Power,
    QuarterTurn,
    Sinusoid,
    activation,
    angle,
    at_most,
    best,
    column_mean,
    column_variance,
    columns,
    concat,
    copy,
    cos,
    counted,
    exp,
    gather,
    mask,
    negative_log,
    option,
    rounded,
    row_maximum,
    row_mean,
    row_squares,
    row_sum,
    row_variance,
    running_sum,
    sin,
    sqrt,
    switch,
    tanh,
    when,
    width,
)
from attn_xl.graph.matrix import Matrix, Operation
from attn_xl.views.explanation import figure
from attn_xl.views.explanation_text import print_tree
from attn_xl.workbook.write import write_workbook

MOUSE = SAMPLES / "mouse.xlsx"
FILES = sorted(path for path in SAMPLES.glob("*.xlsx") if not path.stem.endswith("-attention"))
WITH = {
    "exp": math.exp, "ln": math.log, "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos,
    "tanh": math.tanh,
    "arccos": math.acos, "pi": math.pi, "max": max, "round": round,
    "first_largest": lambda row: row.index(max(row)) + 1,
    "phi": lambda x: math.erfc(-x / math.sqrt(2)) / 2,
}  # fmt: skip


def computed(numbers: str) -> float:
    """What the arithmetic that is shown gives."""
    text = re.sub(r"^the largest of (.*)$", r"max([\1])", numbers)
    text = re.sub(r"^1 if (.*) is the largest of (.*), else 0$", r"\1 == max([\2])", text)
    text = re.sub(r"^1 if (.*), else 0$", r"\1", text)
    text = re.sub(r"^the column with the largest of (.*)$", r"first_largest([\1])", text)
    text = re.sub(r"^1 if (.*) is the largest of (.*), else 0$", r"(\1) == max([\2])", text)
    text = re.sub(r"^1 if (.*) > 0, else 0$", r"(\1) > 0", text)
    text = re.sub(r"√([0-9.e]+)", r"sqrt(\1)", text).replace("√(", "sqrt(").replace("e^(", "exp(")
    for said, python in (
        ("·", "*"),
        ("²", "**2"),
        ("³", "**3"),
        ("^", "**"),
        ("π", "pi"),
        ("Φ", "phi"),
        ("mod", "%"),
    ):
        text = text.replace(said, python)
    return float(eval(text, dict(WITH)))


def agrees(one: Explanation) -> bool:
    if isinstance(one.value, str):
        names = re.findall(r"\[(?:[^,\]]*, )?(?:\"([^\"]*)\"|([^\]]*))\]", one.words)
        return one.value == re.sub(r"#\d+$", "", "".join(names[int(computed(one.numbers)) - 1]))
    return abs(computed(one.numbers) - one.value) <= 1e-9 * max(1, abs(one.value))


def mouse() -> attn_xl.Computation:
    return attn_xl.attend(attn_xl.read_tables(MOUSE))


def x_(values: Any, name: str = "X") -> Matrix:
    values = np.array(values, float)
    n, m = values.shape
    return given(values, [f"r{i}" for i in range(n)], [f"c{j}" for j in range(m)], name)


@alike
@pytest.mark.parametrize(
    "path",
    [pytest.param(p, marks=[thorough] * (p.stem == "encoder-decoder"), id=p.stem) for p in FILES],
)
def test_what_is_shown_gives_the_number_and_stands_in_the_workbook(path: Path, tmp_path: Path) -> None:
    computation = attn_xl.attend(attn_xl.read_tables(path))
    write_workbook(computation, tmp_path / "o.xlsx")
    book = openpyxl.load_workbook(tmp_path / "o.xlsx")
    steps = [
        (f"{sentence}.{name}", node)
        for sentence, graph in computation.items()
        for name, node in graph.items()
    ] + list(computation.comparison.items())
    covered: set[str] = set()
    for name, node in reversed(steps):  # the last ones lead to most others
        for row, column in dict.fromkeys([(1, 1), node.shape]):
            cell = name if node.scalar else f"{name}[{row}, {column}]"
            root = explain(computation, cell)
            assert explain(computation, root.name).address == root.address
            copied = not root.formula and root.ends != "given"  # it stands in its input's cells
            assert copied or explain(computation, root.address).name == root.name
            if root.step not in covered:
                root = explain(computation, cell, depth=None)
            for _, one in root.all():
                sheet, _, address = one.address.rpartition("!")
                written = book[sheet.strip("'").replace("''", "'")][address].value
                is_copy = one.step.rpartition(".")[2] in ("Q", "K", "V") and not one.formula
                assert is_copy or written == (one.formula or one.value)
                assert is_copy or bool(one.formula) == (one.ends != "given")
                assert bool(one.numbers) == (not one.ends)
                if not one.ends:
                    assert agrees(one), one
                covered.add(one.step)
    assert len(covered) == len({node for _, node in steps})


X = x_([[0.5, -1.25, 3.0], [-2.0, 0.25, 1e-6]])
Y = x_([[2.0, -0.5, 0.125], [1.5, 4.0, -3.0]], "Y")
CASES: dict[str, Callable[[], Matrix]] = {
    "Copy": lambda: copy(X),
    "Copy, unnamed": lambda: copy(X) * Y,
    "Transpose": lambda: X @ Y.T,
    "Transpose, elementwise": lambda: row_sum(X) * row_sum(X).named("S").T,
    "Product": lambda: X @ x_([[1.0, 2], [-3, 4], [5, -6]], "W"),
    "Product, unnamed": lambda: (X @ Y.T.named("", "")) / 3,
    "+": lambda: X + Y,
    "-": lambda: X - (Y - 1),
    "*": lambda: (X + Y) * (X - Y) * 2,
    "/": lambda: X / (Y / (X + 7)),
    "Constant": lambda: 1 - (X - -2.5),  # type: ignore[operator]
    "EXP": lambda: exp(X - row_maximum(X).named("M")),
    "NEGATIVE_LOG": lambda: 2 - negative_log(X * X + 1),
    "POWER": lambda: 2 * Power(3)(X - Y),
    "SQRT": lambda: sqrt(X + 2) * sqrt(row_squares(Y)),
    "ACOS": lambda: angle((X @ X.T) / 20),
    "Round": lambda: rounded(X / 7 - Y),
    "RELU": lambda: activation(X, "relu"),
    "GELU": lambda: activation(X, "gelu"),
    "GELU_TANH": lambda: activation(X - Y, "gelu-tanh"),
    "SILU": lambda: activation(X, "silu"),
    "SIN": lambda: sin(X),
    "COS": lambda: cos(X - Y),
    "TANH": lambda: tanh(X),
    "AtMost": lambda: at_most(X, option(0.25, "Most", "")),
    "NextDraw": lambda: NEXT_DRAW(option(7.0, "Seed", "")),
    "RunningSum": lambda: running_sum(X) * 2,
    "Count": lambda: counted(3, X.rows),
    "Angle": lambda: Angle(2, 4, False, 3)(option(50.0, "Base", ""), rows=X.rows),
    "QuarterTurn": lambda: QuarterTurn(True)(columns(X, 0, 2) * 2),
    "Distance": lambda: Distance()(X),
    "Mask, window": lambda: mask(X.rows, X.columns, causal=True, window=option(1.0, "Window", "")),
    "MAXIMUM": lambda: row_maximum(X),
    "SUM": lambda: row_sum(X),
    "MEAN": lambda: row_mean(X),
    "VARIANCE": lambda: row_variance(X),
    "SAMPLE_VARIANCE": lambda: row_variance(X, sample=True),
    "SQUARES": lambda: row_squares(X),
    "Width": lambda: X / sqrt(width(Y)),
    "Gather": lambda: gather([(X, 1), (Y, 0)], ["a", "b"]) - gather([(Y, 1), (X, 0)], ["a", "b"]),
    "Columns": lambda: columns(X, 1, 3),
    "Concat": lambda: concat(X, Y),
    "Best": lambda: best(X),
    "Mask": lambda: mask(X.rows, [*X.columns, "<PAD>"], causal=True, padding=["<pad>"]),
    "Sinusoid": lambda: Sinusoid()(X),
    "When": lambda: X * when(switch(True, "On", "", sheet="S"), 2, width(X)),
    "When, off": lambda: X * when(switch(False, "Off", "", sheet="S"), 2, width(X)),
    "Mask, switched": lambda: mask(X.rows, X.columns, causal=switch(True, "On", "", sheet="S")),
    "ColumnMean": lambda: column_mean(X, Y),
    "ColumnVariance": lambda: column_variance(X),
}
CASES |= {case: make for case, (make, _) in EVERY.items() if case not in CASES}


ALONE = {f"{name}, alone": make for name, (make, _) in EACH.items()}
LITERAL = {"Constant", "AddedRows", "Placed", "When"}
"""Alone, they give a number of the formula itself, so there is nothing to substitute."""


@alike
@pytest.mark.parametrize("case", [*CASES, *ALONE])
def test_each_primitive_shows_arithmetic_that_gives_its_number(case: str) -> None:
    result = {**CASES, **ALONE}[case]().named("Result")
    for row, column in np.ndindex(*result.shape):
        one = explain(result, "Result" if result.scalar else f"Result[{row + 1}, {column + 1}]")
        assert agrees(one), one
        assert one.words
        assert one.words != one.numbers or case.removesuffix(", alone") in LITERAL


def test_every_primitive_says_how_one_cell_came_about() -> None:
    assert set(EACH) == NAMED.keys()
    for primitive in NAMED.values():
        assert type(primitive).worked is not Operation.worked


@pytest.mark.parametrize(
    ("cell", "words", "numbers"),
    [
        ("pets.Input[mouse, animal]", "", ""),
        ("pets.Q[mouse, tech]", "Input[mouse, tech]", "1.9"),
        (
            "pets.Scores[mouse, cat]",
            "Q[mouse, animal]·K[cat, animal] + Q[mouse, tech]·K[cat, tech] + "
            "Q[mouse, grammar]·K[cat, grammar]",
            "2·2.6 + 1.9·0.1 + 0.1·0.1",
        ),
        ("pets.d_k", "the number of columns of K", "3"),
        ("pets.Scaled[mouse, cat]", "Scores[mouse, cat] / √d_k", "5.4 / √3"),
        (
            "pets.Softmax.Maximum[mouse]",
            "the largest of Scaled[mouse, mouse], Scaled[mouse, and], Scaled[mouse, cat], "
            "Scaled[mouse, are], Scaled[mouse, friends]",
            "the largest of 4.399, 0.318, 3.118, 0.312, 0.814",
        ),
        (
            "pets.Softmax.Exponentials[mouse, cat]",
            "e^(Scaled[mouse, cat] - Softmax.Maximum[mouse])",
            "e^(3.118 - 4.399)",
        ),
        (
            "pets.Softmax[mouse, cat]",
            "Softmax.Exponentials[mouse, cat] / Softmax.Sum[mouse]",
            "0.278 / 1.339",
        ),
        ("Compare.mouse.Input[in desk, tech]", "desk.Input[mouse, tech]", "1.9"),
    ],
)
def test_words_and_numbers_of_the_sample(cell: str, words: str, numbers: str) -> None:
    one = explain(mouse(), cell, decimals=3)
    assert (one.name, one.words, one.numbers) == (cell, words, numbers)


def test_negative_numbers_stand_in_parentheses_and_numbers_are_short() -> None:
    assert explain((X @ Y.T).named("R"), "R[r0, r0]", decimals=2).numbers == (
        "0.5·2 + (-1.25)·(-0.5) + 3·0.12"
    )
    assert explain(sqrt(X + 2).named("R"), "R[r1, c2]").numbers == "√(1e-6 + 2)"
    assert explain(row_squares(X).named("R"), "R[r1]").numbers == "(-2)² + 0.25² + (1e-6)²"
    assert [figure(n, 3) for n in (5.4, 7.0, 0.0, 100, -0.25, 0.0004, 0.0006, 12345678)] == [
        "5.4", "7", "0", "100", "-0.25", "4e-4", "0.001", "1.235e7",
    ]  # fmt: skip
    assert [figure(n, 0) for n in (10.0, 0.2, -1e9)] == ["10", "2e-1", "-1e9"]
    assert [figure(n) for n in (0.1, 1 / 3, 1e-5, -3.0, 1e16)] == [
        "0.1", "0.3333333333333333", "1e-5", "-3", "1e16",
    ]  # fmt: skip


def test_a_mask_says_why() -> None:
    hides = mask(["we", "go"], ["we", "go", "<PAD>"], causal=True, padding=["<pad>"]).named("Mask")
    said = {
        cell: explain(hides, f"Mask[{cell}]").words
        for cell in ("we, go", "go, <PAD>", "go, we", "we, we")
    }
    assert said == {
        "we, go": "column 2, go, is later than row 1, we, so it is hidden",
        "go, <PAD>": "column 3, <PAD>, is later than row 2, go, so it is hidden",
        "go, we": "row 2, go, may look at column 1, we",
        "we, we": "row 1, we, may look at column 1, we",
    }
    hides = mask(["go"], ["go", "<PAD>"], padding=["<pad>"]).named("Mask")
    assert explain(hides, "Mask[<PAD>]").words == (
        "column 2, <PAD>, only fills up the sentence, so it is hidden"
    )
    assert explain(hides, "Mask[<PAD>]").numbers == "-1000000000"


def test_sources_go_down_as_far_as_asked() -> None:
    computation = mouse()
    one = explain(computation, "pets.Softmax[mouse, cat]")
    assert [(s.name, s.ends, s.words) for s in one.sources] == [
        ("pets.Softmax.Exponentials[mouse, cat]", "depth", ""),
        ("pets.Softmax.Sum[mouse]", "depth", ""),
    ]
    two = explain(computation, "pets.Softmax[mouse, cat]", depth=2)
    assert [(s.ends, bool(s.sources)) for s in two.sources] == [("", True)] * 2
    assert max(level for level, _ in two.all()) == 2
    whole = explain(computation, "pets.Softmax[mouse, cat]", depth=None)
    assert {one.ends for _, one in whole.all()} == {"", "given", "above"}
    explained = [one.name for _, one in whole.all() if not one.ends]
    assert len(explained) == len(set(explained))
    seen: set[str] = set()
    for _, one in whole.all():  # a cell refers back only to what stands above it
        assert one.ends != "above" or one.name in seen
        seen |= {one.name} if not one.ends else set()


def test_a_step_goes_by_the_title_that_authors_give_it() -> None:
    title = "pets.Attention weights α[mouse, cat]"
    assert explain(mouse(), title).name == "pets.Softmax[mouse, cat]"


REFUSALS = [
    ("Softmax[mouse, dog]", "is in none of these: pets.Softmax, desk.Softmax. pets.Softmax has no"),
    ("Softmax", "in several sentences: pets.Softmax, desk.Softmax. pets.Softmax has 5 x 5 numbers."),
    (
        "pets.Softmax",
        "pets.Softmax has 5 x 5 numbers. Name one of them, as in pets.Softmax[mouse, mouse].",
    ),
    ("pets.Softmax[mouse]", "names 1 label, but it takes a row and a column"),
    ("pets.Softmax[mouse, cat, are]", "names 3 labels, but it takes a row and a column"),
    ("Softmax(mouse, cat)", "in square brackets: write Softmax[mouse, cat]."),
    ("pets.softmax (1, 3)", "in square brackets: write pets.softmax[1, 3]."),
    ("pets.Softmax[mouse, cat", "the bracket is not closed"),
    ("pets.Softmax[mouse, cta]", "pets.Softmax has no column 'cta'. Did you mean 'cat'?"),
    ("pets.Softmax[mosue, cat]", "pets.Softmax has no row 'mosue'. Did you mean 'mouse'?"),
    ("pets.Softmax[mouse#2, cat]", "has no row 'mouse#2'. Did you mean 'mouse'?"),
    ("pets.Softmax[0, 1]", "pets.Softmax has rows 1 to 5, but no row 0."),
    ("pets.Softmax[1, 6]", "pets.Softmax has columns 1 to 5, but no column 6."),
    ("pets.Sotfmax[mouse, cat]", "no step 'pets.Sotfmax'. Did you mean 'pets.Softmax'?"),
    ("Sotfmax[mouse, cat]", "no step 'Sotfmax'. Did you mean 'Softmax'?"),
    ("", "there is no step ''."),
    ("pets.d_k[1]", "pets.d_k is a single number: write pets.d_k."),
    ("pets.Softmax!N4", "holds no number of a matrix. The numbers are in M5:Q9 (pets.Softmax),"),
    ("pets.Softmax!a7", "pets.Softmax!A7 holds no number of a matrix."),
    ("Overview!A1", "Overview!A1 holds "),
]


@pytest.mark.parametrize(("cell", "said"), REFUSALS)
def test_a_cell_that_there_is_not_is_refused(cell: str, said: str) -> None:
    with pytest.raises(CallError) as error:
        explain(mouse(), cell)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "cell",
    [
        "pets.Softmax[mouse, cat]", "PETS.softmax[Mouse, CAT]", " pets.Softmax [ mouse ,cat ] ",
        'pets.Softmax["mouse", "cat"]', "pets.Softmax[1, 3]",
        "pets.Softmax!O5", "'pets.Softmax'!$O$5", "PETS.SOFTMAX!o5",
    ],
)  # fmt: skip
def test_ways_to_name_a_cell(cell: str) -> None:
    assert explain(mouse(), cell).name == "pets.Softmax[mouse, cat]"


def test_other_names() -> None:
    c = mouse()
    assert explain(c, "pets.Softmax.Sum[mouse, sum]").name == "pets.Softmax.Sum[mouse]"
    assert explain(c, "pets.Softmax!B6").name == "pets.Softmax.Maximum[and]"
    assert explain(c, "pets.Scaled!H5").name == "pets.d_k"
    assert explain(c, "Softmax[mouse, cat]", sheet="pets").name == "pets.Softmax[mouse, cat]"
    assert explain(c, "Compare!C6").name == "Compare.mouse.Input[in desk, tech]"
    projections = attn_xl.attend(attn_xl.read_tables(SAMPLES / "projections.xlsx"))
    sentence = next(iter(projections))
    first = explain(projections, "W_Q[1, 1]")
    assert first.address.startswith("W_Q!")
    assert explain(projections, f"{sentence}.W_Q[1, 1]").name == first.name
    row = given([[1.0, 2.0]], ["b"], ["p", "q"], "b_Q")
    assert explain(row, "b_Q[q]").name == explain(row, "b_Q[b, q]").name == "b_Q[q]"


WORDS = ["the", "a, b", "The", "the", 'say "x"', "3", "[y]", "the#2", "x", "X"]


@thorough
def test_labels_that_repeat_or_hold_commas_and_brackets() -> None:
    x = given(np.arange(100).reshape(10, 10), WORDS, WORDS, "X")
    for row in range(10):
        for column in range(10):
            assert (
                explain(copy(x).named("Y"), f"Y!{chr(66 + column)}{row + 5}").value == 10 * row + column
            )
    found = {
        "the#1": 0, '"a, b"': 1, "The": 2, '"the"#2': 3, '"say ""x"""': 4, "3": 5, "[y]": 6,
        '"[y]"': 6, "the#2": 7, '"the#2"': 7, "x": 8, "X": 9,
    }  # fmt: skip
    for label, place in found.items():
        assert explain(x, f"X[{label}, {label}]").value == 11 * place, label
    with pytest.raises(CallError, match=r'several rows \'the\'. Choose one: the#1 \(row 1\), "the"#2'):
        explain(x, "X[the, x]")
    with pytest.raises(CallError, match=r"several columns 'THE'. Choose one: .*The \(column 3\)"):
        explain(x, "X[x, THE]")
    with pytest.raises(CallError, match=r"has no row '4'. There are: the"):
        explain(x, 'X["4", x]')
    y = given(np.eye(3), ["0", "1", "2"], ["a", "b", "c"], "Y")
    assert explain(y, "Y[2, 3]").value == 1  # the row called 2, the third column
    with pytest.raises(CallError, match=r'Did you mean .*"the"#2'):
        explain(x, 'X["the"#3, x]')
    many = given(np.zeros((40, 2)), [f"w{i}" for i in range(40)], "ab", "X")
    with pytest.raises(CallError, match=r"Did you mean 'w39'\? There are 40 rows.$"):
        explain(many, "X[ww39, a]")


def test_a_depth_below_one_is_refused() -> None:
    with pytest.raises(CallError, match="depth is 0; it takes"):
        explain(mouse(), "pets.d_k", depth=0)


def test_a_cell_of_the_workbook_does_not_go_with_a_sentence() -> None:
    with pytest.raises(CallError, match=r"--sheet cannot be combined with pets\.Softmax!O5"):
        explain(mouse(), "pets.Softmax!O5", sheet="pets")


def test_what_is_given_says_so() -> None:
    one = explain(mouse(), "pets.Input[mouse, animal]", depth=None)
    assert (one.ends, one.formula, one.sources, one.value) == ("given", "", (), 2.0)
    assert repr(explain(mouse(), "pets.d_k")) == "<pets.d_k = the number of columns of K = 3 = 3.0>"


# The command


class Run:
    """What a call of `attn-xl explain` said, and its status."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *args: object) -> None:
        with pytest.raises(SystemExit) as end:
            main(["explain", *map(str, args)])
        self.status = end.value.code or 0
        self.out, self.err = capsys.readouterr()


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    monkeypatch.delenv("COLUMNS", raising=False)
    return lambda *args: Run(capsys, *args)


def test_the_tree(run: Callable[..., Run]) -> None:
    done = run(MOUSE, "pets.Scaled[mouse, cat]", "--depth", 2, "--plain")
    assert done.status == 0
    assert done.out.splitlines() == [
        "pets.Scaled[mouse, cat] = 3.118   pets.Scaled!D5  =pets.Scores!D5/SQRT(pets.d_k)",
        "  The scores, scaled down to keep the softmax soft. Compare with the scores: the order within "
        "a row stays the same, the differences shrink.",
        "  = Scores[mouse, cat] / √d_k",
        "  = 5.4 / √3",
        "  pets.Scores[mouse, cat] = 5.4   pets.Scores!D5  "
        "=SUMPRODUCT(pets.Input!$B5:$D5,pets.Input!$B$7:$D$7)",
        "    How well the query of each word (row) matches the key of each word (column). Look for the "
        "largest number in a row: its best match.",
        "    = Q[mouse, animal]·K[cat, animal] + Q[mouse, tech]·K[cat, tech] + "
        "Q[mouse, grammar]·K[cat, grammar]",
        "    = 2·2.6 + 1.9·0.1 + 0.1·0.1",
        "    pets.Q[mouse, animal] = 2     pets.Input!B5",
        "    pets.K[cat, animal] = 2.6     pets.Input!B7",
        "    pets.Q[mouse, tech] = 1.9     pets.Input!C5",
        "    pets.K[cat, tech] = 0.1       pets.Input!C7",
        "    pets.Q[mouse, grammar] = 0.1  pets.Input!D5",
        "    pets.K[cat, grammar] = 0.1    pets.Input!D7",
        "  pets.d_k = 3                    pets.Scaled!H5  =COLUMNS(pets.K)",
        "    the width of the queries and keys",
        "    = the number of columns of K",
    ]


def test_depth_all_goes_down_to_the_inputs(run: Callable[..., Run]) -> None:
    out = run(MOUSE, "pets.Softmax[mouse, cat]", "--depth", "all").out
    assert "pets.Input[mouse, animal] = 2" in out
    assert "(explained above)" in out
    assert out.count("The scores, scaled down") == 1
    assert len(run(MOUSE, "pets.Softmax[mouse, cat]").out.splitlines()) == 6


@alike
@pytest.mark.parametrize("options", [[], ["--plain"]])
@pytest.mark.parametrize("sample", ["mouse", "encoder", "plain-sum", "cross"])
def test_the_formulas_are_those_of_the_workbook_that_convert_writes(
    run: Callable[..., Run], sample: str, options: list[str], tmp_path: Path, part: Part
) -> None:
    source = SAMPLES / f"{sample}.xlsx"
    with pytest.raises(SystemExit):
        main(["convert", str(source), "-o", str(tmp_path / "o.xlsx"), *options])
    book = openpyxl.load_workbook(tmp_path / "o.xlsx")
    seen = 0
    for sheet in part(book.worksheets) if sample == "encoder" else book.worksheets:
        cells = [c for row in sheet.iter_rows() for c in row if str(c.value).startswith("=")]
        cells = [c for c in cells if not is_note(c)]
        for cell in cells[-1:] if sheet.title != "Overview" else ():
            address = f"'{sheet.title}'!{cell.coordinate}"
            out = run(source, address, "--json", *options).out
            found = json.loads(out[out.index("{") :])
            one = found["cells"][found["cell"]]
            if sheet.title == "Canvas":  # it shows the cell that is explained
                assert one["address"].replace("$", "") == cell.value[1:], address
            else:
                assert one["formula"] == cell.value, address
            seen += 1
    assert seen > 5 or sample == "encoder"


def test_what_is_played_with_is_explained(run: Callable[..., Run]) -> None:
    assert "Scale = on  Overview!A8" in run(MOUSE, "Overview!A8").out
    assert "pets.Softmax[mouse, mouse] = 0.747" in run(MOUSE, "Overview!F14").out
    masked = run(MOUSE, "pets.Masked!C5", "--switches", "causal").out
    assert "= Scaled[mouse, and] + Mask[mouse, and]" in masked
    assert "Compare.Components[animal, 1st] = 0.633" in run(MOUSE, "Compare!B25").out
    assert "pets.Softmax!S5 holds no number of a matrix." in run(MOUSE, "pets.Softmax!S5").err
    assert "Settings has no numbers." in run(MOUSE, "Settings!B5").err


def test_decimals_and_settings(run: Callable[..., Run]) -> None:
    assert "= 5.4 / 1.7" in run(MOUSE, "pets.Scaled[1, 3]", "--decimals", 1).out
    assert "pets.Scaled[mouse, cat] = 3.1 " in run(MOUSE, "pets.Scaled[1, 3]", "--decimals", 1).out
    causal = run(MOUSE, "Masked[mouse, cat]", "--sheet", "pets", "--causal", "--depth", 2).out
    assert "= column 3, cat, is later than row 1, mouse, so it is hidden" in causal
    assert "e^(1.039" in run(MOUSE, "pets.Softmax.Exponentials[1,3]", "--temperature", 3).out


def test_json_has_all_of_it_in_full_precision(run: Callable[..., Run]) -> None:
    done = run(MOUSE, "Softmax[mouse, cat]", "--sheet", "pets", "--json", "--depth", "all")
    found = json.loads(done.out)
    cells = found["cells"]
    assert (found["cell"], found["cut"]) == ("pets.Softmax[mouse, cat]", False)
    top = cells["pets.Softmax[mouse, cat]"]
    assert top["value"] == mouse()["pets"]["Softmax"].values[0, 2]
    assert (top["address"], top["formula"]) == ("pets.Softmax!O5", "=F5/$J5")
    assert computed(top["numbers"]) == pytest.approx(top["value"], abs=1e-12)
    assert top["note"].startswith("The attention weights")
    assert {source for cell in cells.values() for source in cell["sources"]} < set(cells)
    assert {cell["ends"] for cell in cells.values()} == {None, "given"}
    rounded = run(MOUSE, "pets.Softmax[mouse, cat]", "--json", "--decimals", 2)
    assert json.loads(rounded.out)["cells"]["pets.Softmax[mouse, cat]"]["value"] == 0.21
    assert '"numbers": "0.28 / 1.34"' in rounded.out


def test_long_sums_and_long_rows_of_sources_are_shortened(
    run: Callable[..., Run], make: Callable[..., Path]
) -> None:
    source = make({"s": table(np.tile([0.5, -1.0], (2, 20)))})
    out = run(source, "Scores[1, 1]").out
    assert "= 0.5·0.5 + (-1)·(-1) + 0.5·0.5 + (-1)·(-1) + … (40 terms) + 0.5·0.5 + (-1)·(-1)\n" in out
    assert "  … (72 more; --json lists them all)\n" in out
    assert len(out.splitlines()) == 4 + 9
    whole = json.loads(run(source, "Scores[1, 1]", "--json").out)["cells"]["Scores[word1, word1]"]
    assert whole["numbers"].count("·") == 40
    assert "…" not in whole["numbers"] + whole["words"]
    assert len(whole["sources"]) == 80


@pytest.mark.parametrize(
    ("args", "status", "said"),
    [
        (["nowhere.xlsx", "d_k"], 1, "nowhere.xlsx: no such file."),
        ([MOUSE], 2, "Missing argument 'CELL'."),
        (
            [MOUSE, "pets.d_k", "--depth", "0"],
            2,
            "--depth is '0'; it takes a whole number of at least 1, or all.",
        ),
        ([MOUSE, "pets.d_k", "--depth", "deep"], 2, "--depth is 'deep'; it takes a whole number"),
        (["nowhere.xlsx", "d_k", "--heads", "0"], 2, "--heads is 0; it takes a whole number from 1 to"),
        (
            [MOUSE, "d_k", "--sheet", "dog"],
            2,
            "there is no sheet 'dog' with a sentence. There are: pets",
        ),
        ([MOUSE, "pets.d_k", "--sheet", "desk"], 2, "there is no step 'pets.d_k'."),
        ([MOUSE, "Scores"], 2, "Scores is in several sentences: pets.Scores, desk.Scores."),
    ],
)
def test_refusals_of_the_command(
    run: Callable[..., Run], args: list[object], status: int, said: str
) -> None:
    done = run(*args)
    assert (done.status, done.out) == (status, "")
    assert said in done.err


def test_words_of_the_user_do_not_steer_the_terminal(
    run: Callable[..., Run], make: Callable[..., Path]
) -> None:
    source = make({"s": table(np.eye(2), ["[red]x[/red]", "=1+1"])})
    out = run(source, "Q[1, 1]").out
    assert out.startswith('Q["[red]x[/red]", d1] = 1')


def test_on_a_terminal_lines_are_folded_under_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    one = explain(mouse(), "pets.Softmax[mouse, cat]", depth=2, decimals=3)
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setenv("TERM", "xterm-256color")
    print_tree(one, file=terminal)
    assert "\x1b[1m" in terminal.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = io.StringIO()
    print_tree(one, file=plain)
    lines = plain.getvalue().splitlines()
    assert "\x1b" not in plain.getvalue()
    assert max(map(len, lines)) <= 60
    assert lines == [line.rstrip() for line in lines]
    folded = lines.index("    the sum of the exponentials") + 1
    assert lines[folded].startswith("    = Softmax.Exponentials[mouse, mouse] +")
    assert lines[folded + 1].startswith("      Softmax.Exponentials[mouse, and] +")


def test_a_name_in_one_sentence_means_that_one(run: Callable[..., Run]) -> None:
    done = run(MOUSE, "Softmax[mouse, cat]")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("pets.Softmax[mouse, cat] = ")
    assert "Of the same name" not in done.out
    done = run(MOUSE, "Softmax[mouse, are]")
    assert done.out.startswith("pets.Softmax[mouse, are] = ")
    last = done.out.splitlines()[-1]
    assert last == "Of the same name: desk.Softmax[mouse, are]. Write its name to explain another."


def test_a_row_is_explained_as_a_sum_of_rows(run: Callable[..., Run]) -> None:
    said = run(MOUSE, "pets.Output[mouse]").out.splitlines()
    assert said[0] == "pets.Output[mouse]: animal 2.046, tech 1.446, grammar 0.141"
    assert said[2] == (
        "  = 0.747·V[mouse] + 0.013·V[and] + 0.207·V[cat] + 0.013·V[are] + 0.021·V[friends]"
    )
    learned = run(SAMPLES / "projections.xlsx", "Q[cat]", "--decimals", 1).out
    assert re.search(r"= -?[0-9.]+·W_Q\[", learned)
    assert "takes a row and a column" in run(MOUSE, "pets.Scaled[mouse]").err
    assert "takes a row and a column" in run(MOUSE, "pets.Output[mouse]", "--json").err
