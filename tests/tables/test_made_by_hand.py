"""Workbooks of other people, whose formulas tell what their tables are."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, alike, thorough
from made_by_hand import (
    WORKBOOKS,
    Hand,
    Head,
    area,
    large_canvas,
    no_intermediate_step,
    numbers,
    one_formula,
    one_word_at_a_time,
    rows_typed_one_by_one,
    two_layers,
)

import attn_xl
from attn_xl.cli.main import main
from attn_xl.tables.read import survey

PEERS = [  # beside a checkout, or beside its worktrees
    path for name in ("Self-Attention", "Multihead-Attention") for folder in ROOT.parents[:2]
    if (path := folder / "shared" / "peers" / f"{name}.xlsx").is_file()
]  # fmt: skip
Made = Callable[[Path], np.ndarray]
by_workbook = pytest.mark.parametrize("made", WORKBOOKS, ids=lambda made: made.__name__)


@by_workbook
def test_the_formulas_tell_what_the_tables_are(made: Made, tmp_path: Path) -> None:
    expected = made(tmp_path / "theirs.xlsx")
    tables = attn_xl.read_tables(tmp_path / "theirs.xlsx")
    (graph,) = attn_xl.attend(tables).values()
    np.testing.assert_allclose(graph["Output"].values, expected, rtol=1e-9)
    alone = made in (one_word_at_a_time, one_formula, no_intermediate_step)  # no matrix of weights
    assert alone or any("attention weights of attn-xl equal" in remark for remark in tables.remarks)


def test_words_keep_their_labels_where_the_formulas_read_copies(tmp_path: Path) -> None:
    rows_typed_one_by_one(tmp_path / "copies.xlsx")
    (words,) = attn_xl.read_tables(tmp_path / "copies.xlsx").sentences.values()
    assert (words.rows, words.columns) == (("Ann", "Bob", "Cem"), ("height", "weight", "age"))
    two_layers(tmp_path / "sums.xlsx")
    tables = attn_xl.read_tables(tmp_path / "sums.xlsx")
    assert tables.sentences["net"].rows == ("a", "b", "c")
    assert any("1 more attention in the formulas" in remark for remark in tables.remarks)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    return int(end.value.code or 0)


def proposed(path: Path, capsys: Any) -> list[list[str]]:
    """The commands that `inspect` proposes for a file."""
    assert run("inspect", str(path)) == 0
    lines = capsys.readouterr().out.split("\n")
    return [shlex.split(line)[1:] for line in lines if line.startswith("  attn-xl ")]


def succeed(commands: list[list[str]], folder: Path) -> None:
    for number, command in enumerate(commands):
        assert run(*command, "-o", str(folder / f"{number}.xlsx")) == 0


@pytest.mark.parametrize("path", PEERS, ids=lambda path: path.stem)
def test_every_command_proposed_for_a_peer_succeeds(path: Path, tmp_path: Path, capsys: Any) -> None:
    commands = proposed(path, capsys)
    assert len(commands) == (3 if path.stem == "Self-Attention" else 1)
    succeed(commands, tmp_path)


@by_workbook
@alike
def test_every_command_proposed_succeeds(made: Made, tmp_path: Path, capsys: Any) -> None:
    made(tmp_path / "theirs.xlsx")
    commands = proposed(tmp_path / "theirs.xlsx", capsys)
    assert len(commands) == 1
    succeed(commands, tmp_path)


def two_on_one(path: Path) -> None:
    """Two attentions with their own words and weights on one sheet, and one on another sheet."""
    hand = Hand()
    for sheet, top in (("a", 1), ("a", 31), ("b", 1)):
        x, w = numbers(top, 3, 2), [numbers(top + n + len(sheet), 2, 2) for n in (1, 2, 3)]
        h = Head(x, w)
        hand.given(sheet, top, 1, x)
        for n, m in enumerate((h.q, h.k, h.v)):
            hand.given(sheet, top, 5 + 4 * n, w[n])
            source = area(top, 1, x)
            hand.array(sheet, top + 6, 5 + 4 * n, m, f"MMULT({source},{area(top, 5 + 4 * n, w[n])})")
        q, k, v = (area(top + 6, 5 + 4 * n, h.q) for n in range(3))
        hand.array(sheet, top + 12, 1, h.scaled, f"MMULT({q},TRANSPOSE({k}))/SQRT(2)")
        one = area(top + 12, 1, h.a)
        hand.array(sheet, top + 12, 6, h.a, f"_xlfn.SOFTMAX({one})")
        hand.array(sheet, top + 12, 11, h.o, f"MMULT({area(top + 12, 6, h.a)},{v})")
    hand.save(path)


def test_an_attention_is_chosen_by_its_words(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "several.xlsx"
    two_on_one(path)
    with pytest.raises(
        attn_xl.InputError, match=r"3 attentions .* Choose one with --range \"a!A1:B3\""
    ):
        attn_xl.read_tables(path)
    commands = proposed(path, capsys)
    assert commands
    succeed(commands, tmp_path)
    for words, first in (("a!A31:B33", 31), ("b!A1:B3", 1)):
        tables = attn_xl.read_tables(path, range=words)
        assert {table.row for table in tables.weights.values()} == {first}
    assert attn_xl.read_tables(path, sheet="b").weights["W_Q"].sheet == "b"


def test_a_table_of_formulas_is_a_result_whatever_it_is_called(tmp_path: Path) -> None:
    hand, x, w = Hand(), numbers(1, 4, 3), numbers(2, 3, 3)
    hand.given("s", 1, 1, [["Input", "", ""]])
    hand.given("s", 2, 1, x)
    hand.given("s", 2, 6, w)
    hand.given("s", 9, 1, [["Wq", "", ""]])
    hand.array("s", 10, 1, x @ w, "MMULT(A2:C5,F2:H4)")
    hand.save(tmp_path / "step.xlsx")
    found = survey(tmp_path / "step.xlsx")
    (step,) = [f for f in found.sheets[0].found if f.numbers == "A10:C13"]
    assert (step.use, step.why) == ("", "computed by formulas")
    assert (
        "W_Q" in attn_xl.read_tables(tmp_path / "step.xlsx", range=["s!A1:C5", "W_Q=s!A10:C13"]).weights
    )


def test_copies_and_random_numbers_are_no_results(tmp_path: Path) -> None:
    hand, x, w = Hand(), numbers(1, 4, 3), numbers(2, 3, 3)
    hand.given("s", 2, 1, x)
    hand.given("s", 1, 6, [["W_Q"]])
    hand.cells("s", 2, 6, w, lambda r, c: "RANDBETWEEN(-3,3)")
    hand.given("far", 1, 1, w)
    hand.given("s", 1, 11, [["W_K"]])
    hand.cells("s", 2, 11, w, lambda r, c: f"far!{chr(65 + c - 11)}{r - 1}")
    hand.save(tmp_path / "random.xlsx")
    weights = attn_xl.read_tables(tmp_path / "random.xlsx", sheet="s").weights
    assert {*weights} == {"W_Q", "W_K"}
    np.testing.assert_array_equal(weights["W_K"].values, w)


def test_a_range_wins_over_a_label(make: Any, capsys: Any, tmp_path: Path) -> None:
    rows = [
        ["", "a", "b", "", "W_Q", "", "", "W_K", ""],
        ["x", 1, 2, "", 1, 0, "", 5, 6],
        ["y", 3, 4, "", 0, 1, "", 7, 8],
    ]
    path = make({"s": rows})
    assert attn_xl.read_tables(path).weights["W_K"].values.tolist() == [[5, 6], [7, 8]]
    tables = attn_xl.read_tables(path, range="W_Q=s!H2:I3")
    assert tables.weights["W_Q"].values.tolist() == [[5, 6], [7, 8]]
    rows[0] = ["", "a", "b", "", "W_Q", "", "", "W_Q", ""]
    path = make({"s": rows}, "twice.xlsx")
    with pytest.raises(attn_xl.InputError, match='--range "W_Q=s!E2:F3"'):
        attn_xl.read_tables(path)
    assert attn_xl.read_tables(path, range="W_Q=s!E2:F3").weights["W_Q"].values.tolist() == [
        [1, 0],
        [0, 1],
    ]
    succeed(proposed(path, capsys), tmp_path)


def test_the_names_of_weights_tell_the_number_of_heads(make: Any, tmp_path: Path) -> None:
    x = [["", "a", "b"], ["x", 1, 2], ["y", 3, 4]]
    names = [f"W_{letter}_{head}" for letter in "QKV" for head in (1, 2)]
    mixing = {"W_O": np.eye(4).tolist()}
    path = make({"s": x, **{name: [[1, 0], [1, 1]] for name in names}, **mixing})
    assert attn_xl.read_tables(path).settings == {"heads": 2}
    assert run("convert", str(path), "-o", str(tmp_path / "two.xlsx")) == 0
    path = make({"s": x, **{name: [[1, 0], [1, 1]] for name in names[1:]}}, "gap.xlsx")
    assert attn_xl.read_tables(path).settings == {}
    with pytest.raises(
        attn_xl.InputError, match=r"weights of head 2, but no W_Q_1\. Add it, or give heads"
    ):
        attn_xl.attend(attn_xl.read_tables(path))


@pytest.mark.parametrize("attention", [True, False])
@pytest.mark.parametrize("formulas", [1_000, pytest.param(8_744, marks=thorough)])
def test_a_large_canvas_is_read_in_one_pass(
    attention: bool, formulas: int, tmp_path: Path, capsys: Any
) -> None:
    """8,744 formulas in about 5,000 tables: under 3 s each, with a page of output."""
    path = large_canvas(tmp_path / "canvas.xlsx", formulas, attention=attention)
    before = process_time()
    assert run("inspect", str(path)) == 0
    assert process_time() - before < max(1.0, 3 * formulas / 8_744)
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) < 90
    before = process_time()
    assert run("convert", str(path), "-o", str(tmp_path / "out.xlsx")) == (0 if attention else 1)
    assert process_time() - before < max(1.0, 3 * formulas / 8_744)


def test_formulas_that_read_each_other_again_and_again_end(tmp_path: Path) -> None:
    """A chain of tables, each of which is the sum of the two before, times itself: 2^60 ways back."""
    hand = Hand()
    for n in range(60):
        if n < 2:
            hand.given("s", 1 + 4 * n, 1, numbers(n, 3, 3))
        else:
            hand.cells(
                "s", 1 + 4 * n, 1, np.ones((3, 3)),
                lambda r, c: f"EXP({chr(64 + c)}{r - 4})+{chr(64 + c)}{r - 8}",
            )  # fmt: skip
    hand.array("s", 1, 10, np.ones((3, 3)), "MMULT(A237:C239,A233:C235)")
    hand.cells("s", 1, 15, np.ones((1, 1)), lambda r, c: "+".join(["A1*B1"] * 1_500))
    hand.save(tmp_path / "chain.xlsx")
    before = process_time()
    survey(tmp_path / "chain.xlsx")
    assert process_time() - before < 1


def test_a_page_lists_the_likely_inputs_first(tmp_path: Path, capsys: Any) -> None:
    hand, s = Hand(), "s"
    for n in range(60):
        hand.given(s, 1 + 4 * n, 1, numbers(n, 2, 3))
    hand.array(s, 1, 10, numbers(1, 2, 2), "MMULT(A237:C238,TRANSPOSE(A233:C234))")
    hand.save(tmp_path / "many.xlsx")
    run("inspect", str(tmp_path / "many.xlsx"))
    lines = capsys.readouterr().out.split("\n")
    assert [line.split()[0] for line in lines[4:6]] == ["A233:C234", "A237:C238"]
    assert len(lines) < 50
