"""The words of a lesson: for every step of every model, and for what no model has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import ironcalc
import pytest
from conftest import SAMPLES, alike
from test_notes import FILES

import attn_xl
from attn_xl.graph.functions import activation, exp, sqrt
from attn_xl.graph.matrix import Matrix, cells_of
from attn_xl.graph.operations.positions import QuarterTurn
from attn_xl.graph.operations.reductions import RunningSum
from attn_xl.graph.operations.selection import AddedRows, Concat, Gather, OneHot, Placed
from attn_xl.models.computation import Computation, sentence_of
from attn_xl.settings import Model
from attn_xl.spreadsheets.addresses import Place, address, quoted
from attn_xl.teaching.lessons.guide import (
    LONGEST_PROMPT,
    Guide,
    general_form,
    guide,
    name_of_operand,
    names_in,
)

SETTINGS = {
    "mouse": [{"model": Model.similarity}, {"temperature": 2.0}, {"scale": False}],
    "politics": [
        {"causal": True},
        {"padding": "texas"},
        {"causal": True, "padding": "texas"},
        {"model": Model.norm},
        {"model": Model.norm, "norm_epsilon": "outside"},
        {"model": Model.norm, "norm_type": "rms"},
    ],
    "multi-head": [{"heads": 2, "heads_as_sheets": True}],
    "rms-norm": [{"model": Model.norm, "norm_type": "rms", "norm_epsilon": "outside"}],
    "window": [
        {
            "random_weights": 1,
            "heads": 2,
            "positions": "rotary",
        }
    ],
    "language-model": [
        {
            "model": Model.decoder_only,
            "random_weights": 1,
            "generate": 1,
            "controls": True,
            "activation": "silu",
        }
    ],
}


def computations(path: Path) -> Iterator[Computation]:
    tables = attn_xl.read_tables(path)
    yield attn_xl.attend(tables)
    for options in SETTINGS.get(path.stem, []):
        yield attn_xl.attend(tables, attn_xl.Settings(**options))  # type: ignore[arg-type]
    if "Vocabulary" in tables.weights:
        words = tables.weights["Vocabulary"]
        bias = replace(words, name="b_U", values=words.values.T[:1], rows=("b",), columns=words.rows)
        yield attn_xl.attend(replace(tables, weights={**tables.weights, "b_U": bias}))


def texts(words: Guide) -> list[str]:
    return [words.what, words.do, words.hint, words.prompt, words.question]


def check(words: Guide) -> None:
    for text in texts(words):
        assert text
        assert text == text.strip()
        assert "\n" not in text
        assert not set("{}") & set(text)
        assert "None" not in text
        assert "  " not in text
        assert text[0] not in "=+-@", text
    assert max(len(words.what), len(words.do), len(words.question)) <= 400
    assert len(words.hint) <= 450
    assert len(words.prompt) <= LONGEST_PROMPT
    assert "?" in words.question
    assert words.question[0] == words.question[0].upper()
    assert words.do.endswith(".")
    assert words.hint.endswith(".")
    assert words.what[-1] in ".!?"


def telling(node: Matrix) -> set[str]:
    """Its numbers, as they would be written out, where nobody would write them by chance."""
    if node.operation is None:
        return set()
    written = {f"{abs(value):.{digits}g}" for value in node.values.flat for digits in (3, 4, 5, 6)}
    return {text for text in written if len(re.sub(r"^0\.0*|\.|e.*", "", text).rstrip("0")) >= 3}


@alike
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_step_of_every_sample_has_a_guide(path: Path) -> None:
    for computation in computations(path):
        for graph in computation.values():
            words = sentence_of(graph)
            questions: dict[str, str] = {}
            for name, node in [*graph.items(), *computation.comparison.items()]:
                made = guide(node, sentence=words, pick=words[-1])
                check(made)
                assert made.question not in questions, f"{name} and {questions[made.question]}"
                questions[made.question] = name
                for number in telling(node):
                    for text in texts(made):
                        found = re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", text)
                        assert not found or number in node.words, text


def steps(sample: str, **options: object) -> attn_xl.Graph:
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    settings = attn_xl.Settings(**options) if options else None  # type: ignore[arg-type]
    return next(iter(attn_xl.attend(tables, settings).values()))


def about(node: Matrix, pick: str, sentence: Sequence[str] = ()) -> Guide:
    return guide(node, sentence=sentence or node.rows, pick=pick)


MIXED = (Gather, AddedRows, Concat, Placed, QuarterTurn, RunningSum, OneHot)
"""Operations whose cells read other rows and columns than their own."""


def named_operands(node: Matrix, names: Mapping[Matrix, str]) -> Iterator[tuple[str, Matrix]]:
    """The matrices that the formula of a node reads, under the names that a hint gives them."""
    for parent in node.parents:
        if cells_of(parent):
            yield name_of_operand(parent, names), parent
        else:
            yield from named_operands(parent, names)


def mixed(node: Matrix) -> bool:
    return isinstance(node.operation, MIXED) or any(mixed(p) for p in node.parents if not p.name)


def typed(
    node: Matrix, row: int, column: int, places: dict[Matrix, Place], names: Mapping[Matrix, str]
) -> str:
    """The general form of a cell's formula, with addresses in place of its words."""
    names = names_in(node, names)
    operands = dict(named_operands(node, names))
    operands.update({name_of_operand(node, names): node} if node.operation.reads_labels else {})  # type: ignore[union-attr]

    def put(match: re.Match[str]) -> str:
        what, name, beside = match.groups()
        cells = cells_of(operands[name])
        assert cells is not None
        place, (rows, columns) = places[cells.node], cells.shape
        at = min(row + {" in the row above": -1, " in the row below": 1}.get(beside, 0), rows - 1)
        across = min(column, columns - 1)
        if what == "cell":
            area = (at, across, 1, 1)
        elif (what == "row") != cells.turned:
            area = (at, 0, 1, columns)
        else:
            area = (0, across, rows, 1)
        top, left, high, wide = (area[1], area[0], area[3], area[2]) if cells.turned else area
        where = replace(
            place, row=place.row + cells.row + top, column=place.column + cells.column + left
        )
        return f"{quoted(place.sheet)}!{replace(where, rows=high, columns=wide).range}"

    text = general_form(node, row, column, names)
    known = "|".join(sorted(map(re.escape, operands), key=len, reverse=True))
    text = re.sub(
        rf"(cell|row|column) of ({known})(?!\w)( in the row above| in the row below|)", put, text
    )
    text = re.sub(
        r"number of the column (\d+) to the left", lambda left: str(column - int(left[1])), text
    )
    text = text.replace("number of the column", str(column)).replace("number of the row", str(row))
    if "heading" in text:
        own = places[node]
        heading = f"{quoted(own.sheet)}!{address(own.row - 1, own.column + column)}"
        text = text.replace("heading of the column", heading)
    return f"={text}"


@alike
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_formula_of_a_hint_typed_into_a_sheet_gives_the_number(path: Path, tmp_path: Path) -> None:
    tables = attn_xl.read_tables(path)
    computation = (
        attn_xl.learn(tables, steps=2, optimizer="adam").computation
        if path.stem == "learning"
        else attn_xl.attend(tables)
    )
    layout = attn_xl.write_workbook(computation, tmp_path / "w.xlsx")
    blocks = [block for sheet in layout.sheets for block in sheet.blocks if block.live]
    places = {node: block.place for node, block in layout.blocks.items()}
    names = {node: block.name for node, block in layout.blocks.items()}
    model = ironcalc.load_from_xlsx(str(tmp_path / "w.xlsx"), "en", "UTC", "en")
    model.add_sheet("Typed")
    expected = []
    for node in dict.fromkeys(block.node for block in blocks if block.node.name):
        if mixed(node) or node.texts:
            continue
        for row in {0, node.shape[0] // 2, node.shape[0] - 1}:
            for column in {0, node.shape[1] - 1}:
                formula = typed(node, row, column, places, names)
                if "headings" not in formula:
                    expected.append((formula, node.values[row, column]))
    sheet = len(model.get_worksheets_properties()) - 1
    for number, (formula, _) in enumerate(expected, 1):
        model.set_user_input(sheet, number, 1, formula)
    model.evaluate()
    assert expected
    for number, (formula, value) in enumerate(expected, 1):
        computed = model.get_cell_value(sheet, number, 1)
        assert computed == pytest.approx(value, rel=1e-6, abs=1e-8), formula


def test_the_words_follow_how_a_step_was_made() -> None:
    plain, learned = steps("politics"), steps("projections")
    assert "Copy" in about(plain["K"], "texas").do
    assert "=SUM(MMULT(row of Input,column of W_K))" in about(learned["K"], "cat").hint
    assert "=SUMPRODUCT(row of Q,row of K)" in about(plain["Scores"], "texas").hint
    assert "=cell of Scores/SQRT(d_k)" in about(plain["Scaled"], "texas").hint
    assert "square root" in about(plain["Scaled"], "texas").hint
    assert "=EXP(cell of Scaled-cell of Maximum)" in about(plain["Softmax.Exponentials"], "texas").hint
    assert "=cell of Exponentials/cell of Sum" in about(plain["Softmax"], "texas").hint
    assert "down the columns" in about(plain["Softmax"], "texas").hint
    tempered = steps("politics", temperature=2.0)
    assert "SQRT(d_k)/Temperature" in about(tempered["Scaled"], "texas").hint
    unscaled = steps("politics", temperature=2.0, scale=False)
    assert "=cell of Scores/Temperature" in about(unscaled["Scaled"], "texas").hint
    assert "dial" in about(unscaled["Scaled"], "texas").what


def test_masks_say_what_they_hide() -> None:
    causal = steps("politics", causal=True)
    assert "later" in about(causal["Mask"], "texas").do
    assert "fills up" not in about(causal["Mask"], "texas").do
    padded = steps("politics", padding="texas")
    assert "fills up" in about(padded["Mask"], "texas").do
    assert "later" not in about(padded["Mask"], "texas").do
    both = about(steps("politics", causal=True, padding="texas")["Mask"], "texas").do
    assert "fills up" in both
    assert "later" in both
    assert "cell of Scaled+cell of Mask" in about(causal["Masked"], "texas").prompt


def test_questions_ask_about_the_word_in_its_layer_and_head() -> None:
    graph = steps("decoder")
    words = about(graph["Dec1.Cross.Softmax_2"], "chat")
    assert words.question.startswith("Decoder layer 1, cross-attention, head 2: which word")
    assert "“chat”" in words.question
    helper = about(graph["Dec1.Cross.Softmax_2.Maximum"], "chat")
    assert helper.question.startswith("Decoder layer 1, cross-attention, head 2: ")
    assert about(graph["Dec1.Cross.d_k_2"], "chat").question.startswith(
        "Decoder layer 1, cross-attention, head 2: "
    )
    assert about(graph["Dec1.Norm_2"], "chat").question.startswith("Decoder layer 1: ")
    assert about(graph["Dec1.Sum_2"], "chat").what.startswith("The skip connection")


def test_steps_that_no_model_has_get_words_too() -> None:
    x = attn_xl.given([[1.0, 2.0], [3.0, 4.0]], ["cat", "sat"], ["a", "b"], "Input")
    y = (x * 2 + x).named("Scores")
    made: list[Matrix] = [
        y,
        (x @ y @ y).named("Twice"),
        (x @ y).named("Mean"),
        (x @ y).named("FeedForward"),
        (x / y).named("Ratio", "one over the other"),
        (x - y).named("Attention"),
        exp(x).named("Exp"),
        sqrt(x).named("Root"),
        sqrt(x + y).named("Norm"),
        activation(x, "relu").named("Step"),
        (1 - x).named("One", helper=True),
        x * x,
        y.named("N" * 300) + x,
        (y.named("N" * 300) @ x).named("M" * 300),
    ]
    for node in made:
        words = about(node, "cat")
        assert all(texts(words))
        assert len(words.prompt) <= LONGEST_PROMPT
        assert not any(set("{}") & set(text) for text in texts(words))
    assert about(made[4], "cat").what == "One over the other."
    assert "Twice = Input × Scores × Scores" in about(made[1], "cat").question
    alone = attn_xl.given([[1.0, 2.0]], ["cat"], ["a", "b"], "Input")
    check(about(attn_xl.models.similarity.similarity(alone), "cat"))
