"""The words of a lesson: for every step of every model, and for what no model has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest
from conftest import SAMPLES, alike, by_libreoffice
from engines import recalculated_by_libreoffice
from test_notes import FILES

import attn_xl
from attn_xl.graph.functions import activation, exp, sqrt
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.node import Node
from attn_xl.models.computation import Computation, sentence_of
from attn_xl.settings import Model
from attn_xl.teaching.lessons.guide import (
    LONGEST_PROMPT,
    Guide,
    guide,
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


def telling(node: Node) -> set[str]:
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
                        assert not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", text), text


def steps(sample: str, **options: object) -> attn_xl.Graph:
    tables = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx")
    settings = attn_xl.Settings(**options) if options else None  # type: ignore[arg-type]
    return next(iter(attn_xl.attend(tables, settings).values()))


def about(node: Node, pick: str, sentence: Sequence[str] = ()) -> Guide:
    return guide(node, sentence=sentence or node.rows, pick=pick)


@pytest.mark.parametrize(("sample", "needed"), [("projections", {"Q", "K", "V", "Output"}),
                                               ("politics", {"Output"})])  # fmt: skip
def test_hints_say_which_keys_a_formula_needs(sample: str, needed: set[str]) -> None:
    """TRANSPOSE is an array formula before Excel 2021; each other hint works with Enter."""
    said = {name: about(node, node.rows[0]).hint for name, node in steps(sample).items()}
    assert {name for name, hint in said.items() if "Ctrl+Shift+Enter" in hint} == needed
    assert {name for name, hint in said.items() if "TRANSPOSE(" in hint} == needed


@by_libreoffice
def test_a_hint_typed_as_it_is_gives_the_number(tmp_path: Path) -> None:
    """`=SUMPRODUCT(row, TRANSPOSE(column))` and the sum of products, entered as ordinary formulas."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in ([1, 2, 3, "", 7], ["", "", "", "", 8], ["", "", "", "", 9]):
        sheet.append([None if value == "" else value for value in row])
    sheet["A5"] = "=SUMPRODUCT(A1:C1,TRANSPOSE(E1:E3))"
    sheet["A6"] = "=A1*E1+B1*E2+C1*E3"
    book.save(tmp_path / "typed.xlsx")
    (path,) = recalculated_by_libreoffice([tmp_path / "typed.xlsx"], tmp_path / "out")
    made = openpyxl.load_workbook(path, data_only=True).active
    assert made["A5"].value == made["A6"].value == 50


def test_the_words_follow_how_a_step_was_made() -> None:
    plain, learned = steps("politics"), steps("projections")
    assert "Copy" in about(plain["K"], "texas").do
    assert "=SUMPRODUCT(row of Input, TRANSPOSE(column of W_K))" in about(learned["K"], "cat").hint
    assert "=SUMPRODUCT(row of Q, row of K)" in about(plain["Scores"], "texas").hint
    assert "=cell of Scores/SQRT(d_k)" in about(plain["Scaled"], "texas").hint
    assert "square root" in about(plain["Scaled"], "texas").hint
    assert "=EXP(cell of Scaled-Maximum" in about(plain["Softmax.Exponentials"], "texas").hint
    assert "=cell of Exponentials/Sum" in about(plain["Softmax"], "texas").hint
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
