"""Workbooks of other people, whose numbers tell what their tables are."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import openpyxl
import pytest
from conftest import ROOT, alike, thorough
from made_by_hand import (
    WORKBOOKS,
    Hand,
    Head,
    area,
    at_random,
    encoder_block,
    heads_on_sheets,
    no_intermediate_step,
    numbers,
    one_formula,
    one_word_at_a_time,
    rows_typed_one_by_one,
    softmax,
    two_layers,
)

import attn_xl
from attn_xl.cli.main import main
from attn_xl.spreadsheets.addresses import address
from attn_xl.tables.read import survey
from attn_xl.workbook.filling.author import fill_file

PEERS = [  # beside a checkout, or beside its worktrees
    path for name in ("Self-Attention", "Multihead-Attention") for folder in ROOT.parents[:2]
    if (path := folder / "shared" / "peers" / f"{name}.xlsx").is_file()
]  # fmt: skip
Made = Callable[[Path], np.ndarray]
by_workbook = pytest.mark.parametrize("made", WORKBOOKS, ids=lambda made: made.__name__)


@alike
@by_workbook
def test_the_formulas_tell_what_the_tables_are(made: Made, tmp_path: Path) -> None:
    expected = made(tmp_path / "theirs.xlsx")
    tables = attn_xl.read_tables(tmp_path / "theirs.xlsx")
    (graph,) = attn_xl.attend(tables).values()
    np.testing.assert_allclose(graph["Output"].values, expected, rtol=1e-9)
    alone = made in (one_word_at_a_time, one_formula, no_intermediate_step)  # no matrix of weights
    assert alone or any("attention weights of attn-xl equal" in remark for remark in tables.remarks)


@thorough
@pytest.mark.parametrize("first", [0, *(pytest.param(20 * n, marks=thorough) for n in range(1, 6))])
def test_the_numbers_of_any_attention_tell_what_its_tables_are(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 20):
        expected = at_random(seed, tmp_path / "made.xlsx")
        (graph,) = attn_xl.attend(attn_xl.read_tables(tmp_path / "made.xlsx")).values()
        np.testing.assert_allclose(
            graph["Output"].values, expected, rtol=1e-6, atol=1e-9, err_msg=str(seed)
        )


def test_another_divisor_is_told_where_later_words_are_hidden(tmp_path: Path) -> None:
    hand, s, x, w = Hand(), "s", numbers(1, 4, 3) / 2, [numbers(n, 3, 2) / 2 for n in (2, 3, 4)]
    hand.given(s, 2, 1, x)
    h = Head(x, w, scale=False)
    for n, (m, result) in enumerate(zip(w, (h.q, h.k, h.v))):
        hand.given(s, 2, 6 + 5 * n, m)
        hand.array(s, 8, 6 + 5 * n, result, f"MMULT(A2:C5,{area(2, 6 + 5 * n, m)})")
    hidden = np.where(np.triu(np.ones((4, 4)), 1) > 0, -np.inf, h.s / 3)
    looks = hand.array(s, 14, 6, softmax(hidden), "EXP(MMULT(F8:G11,TRANSPOSE(K8:L11))/3)")
    hand.array(s, 14, 12, looks @ h.v, "MMULT(F14:I17,P8:Q11)")
    hand.save(tmp_path / "hidden.xlsx")
    tables = attn_xl.read_tables(tmp_path / "hidden.xlsx")
    assert tables.settings == {"scale": False, "temperature": 3.0, "causal": True}


@thorough
def test_what_words_are_computed_from_is_found_in_time(tmp_path: Path) -> None:
    """Each of 768 numbers is the sum of two cells; to search all cells for each takes seconds."""
    hand, s, g = Hand(), "s", np.random.default_rng(0)
    given, places = g.normal(size=(48, 16)), g.normal(size=(48, 16))
    hand.given(s, 2, 1, [[f"w{n}"] for n in range(48)])
    hand.given(s, 2, 2, given)
    hand.given(s, 2, 22, places)
    x = given + places
    hand.cells(s, 2, 42, x, lambda r, c: f"{address(r, c - 40)}+{address(r, c - 20)}")
    h = Head(x)
    hand.cells(s, 60, 2, h.s, lambda r, c: f"SUMPRODUCT($AP{r - 58}:$BE{r - 58},$AP{c}:$BE{c})")
    hand.cells(s, 120, 2, h.a, lambda r, c: f"EXP({address(r - 60, c)})")
    hand.array(s, 180, 2, h.o, f"MMULT({area(120, 2, h.a)},{area(2, 42, x)})")
    hand.save(tmp_path / "sums.xlsx")
    before = process_time()
    (words,) = attn_xl.read_tables(tmp_path / "sums.xlsx").sentences.values()
    assert process_time() - before < 2
    assert words.rows[47] == "w47"


@thorough
def test_numbers_that_are_rounded_tell_it_too(tmp_path: Path) -> None:
    hand, s, g = Hand(), "s", np.random.default_rng(3)
    x, w = g.normal(size=(4, 3)).round(2), [g.normal(size=(3, 3)).round(2) for _ in range(3)]
    hand.given(s, 2, 1, x)
    products = []
    for n, m in enumerate(w):
        hand.given(s, 2, 6 + 5 * n, m)
        products.append((x @ m).round(2))
        formula = f"ROUND(MMULT(A2:C5,{area(2, 6 + 5 * n, m)}),2)"
        hand.array(s, 8, 6 + 5 * n, products[n], formula)
    q, k, v = products
    scores = hand.array(s, 14, 1, (q @ k.T).round(2), "ROUND(MMULT(F8:H11,TRANSPOSE(K8:M11)),2)")
    looks = hand.array(
        s, 14, 6, softmax(scores / np.sqrt(3)).round(2), "ROUND(SOFTMAX(A14:D17/3^0.5),2)"
    )
    hand.array(s, 14, 12, (looks @ v).round(2), "ROUND(MMULT(F14:I17,P8:R11),2)")
    hand.save(tmp_path / "rounded.xlsx")
    tables = attn_xl.read_tables(tmp_path / "rounded.xlsx")
    for name, values in zip(("W_Q", "W_K", "W_V"), w):
        np.testing.assert_array_equal(tables.weights[name].values, values)
    assert any("which are rounded" in remark for remark in tables.remarks)


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


@thorough
@pytest.mark.parametrize("path", PEERS, ids=lambda path: path.stem)
def test_every_command_proposed_for_a_peer_succeeds(path: Path, tmp_path: Path, capsys: Any) -> None:
    commands = proposed(path, capsys)
    assert len(commands) == (3 if path.stem == "Self-Attention" else 1)
    succeed(commands, tmp_path)


@pytest.mark.parametrize("path", PEERS, ids=lambda path: path.stem)
def test_the_complete_sheets_of_a_peer_stay_as_they_are(path: Path) -> None:
    book = fill_file(path, {})
    assert (book.attention, book.filling.count) == ([], 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", PEERS[:1], ids=lambda path: path.stem)
def test_without_stored_values_titles_tell_the_input_of_a_peer(path: Path, tmp_path: Path) -> None:
    """openpyxl saves the other cells of array formulas as numbers, which fit by chance."""
    made = openpyxl.load_workbook(path)
    made.save(tmp_path / "theirs.xlsx")
    (table,) = attn_xl.read_tables(tmp_path / "theirs.xlsx", sheet="medium").sentences.values()
    assert (table.rows[0], table.shape) == ("x1", (8, 6))


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


@thorough
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


@thorough
def test_examples_that_share_their_weights_are_sentences(tmp_path: Path, capsys: Any) -> None:
    hand, s, w = Hand(), "Examples", [numbers(n, 2, 2) for n in (1, 2, 3)]
    heads = [Head(numbers(n, 3, 2), w) for n in (4, 5, 6)]
    for n, m in enumerate(w):
        hand.given(s, 1, 1 + 4 * n, m)
    for number, h in enumerate(heads):
        top = 5 + 12 * number
        hand.given(s, top, 1, numbers(number + 4, 3, 2))
        for n, m in enumerate((h.q, h.k, h.v)):
            source = area(1, 1 + 4 * n, w[n])
            hand.array(s, top, 4 + 3 * n, m, f"MMULT({area(top, 1, m)},{source})")
        q, k, v = (area(top, 4 + 3 * n, h.q) for n in range(3))
        hand.array(s, top + 5, 1, h.a, f"SOFTMAX(MMULT({q},TRANSPOSE({k}))/SQRT(2))")
        hand.array(s, top + 5, 5, h.o, f"MMULT({area(top + 5, 1, h.a)},{v})")
    hand.save(tmp_path / "three.xlsx")
    graphs = attn_xl.attend(attn_xl.read_tables(tmp_path / "three.xlsx"))
    assert [*graphs] == ["Examples A5", "Examples A17", "Examples A29"]
    for graph, h in zip(graphs.values(), heads):
        np.testing.assert_allclose(graph["Output"].values, h.o)
    succeed(proposed(tmp_path / "three.xlsx", capsys), tmp_path)


def rounded(path: Path, heads: int) -> np.ndarray:
    """Attention weights rounded to one decimal; returns the outputs side by side."""
    hand, s, x, outputs = Hand(), "s", numbers(220, 3, 4), []
    hand.given(s, 2, 1, x)
    for head in range(heads):
        w, top = [numbers(221 + 3 * head + n, 4, 2) / 3 for n in range(3)], 2 + 20 * head
        h = Head(x, w)
        for n, m in enumerate((h.q, h.k, h.v)):
            hand.given(s, top, 6 + 3 * n, w[n])
            hand.array(s, top + 5, 6 + 3 * n, m, f"MMULT($A$2:$D$4,{area(top, 6 + 3 * n, w[n])})")
        q, k, v = (area(top + 5, 6 + 3 * n, h.q) for n in range(3))
        a = h.a.round(1)
        hand.array(s, top + 10, 1, a, f"ROUND(SOFTMAX(MMULT({q},TRANSPOSE({k}))/SQRT(2)),1)")
        outputs.append(hand.array(s, top + 10, 6, a @ h.v, f"MMULT({area(top + 10, 1, a)},{v})"))
    hand.save(path)
    return np.hstack(outputs)


@thorough
@pytest.mark.parametrize("heads", [1, 2])
def test_attention_weights_that_are_no_softmax_are_proposed_as_they_are(
    heads: int, tmp_path: Path, capsys: Any
) -> None:
    expected = rounded(path := tmp_path / "rounded.xlsx", heads)
    (command,) = proposed(path, capsys)
    succeed([command], tmp_path)
    assert command[-2:] == ["--attention", "A"]
    ranges = [value for option, value in pairwise(command) if option == "--range"]
    assert len(ranges) == heads
    tables = attn_xl.read_tables(path, range=ranges, attention="A")
    (graph,) = attn_xl.attend(tables, attention="A").values()
    np.testing.assert_allclose(graph["Output"].values, expected, rtol=1e-9)


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
        attn_xl.InputError, match=r"weights of head 2, but no W_Q_1\. Add it, or give --heads"
    ):
        attn_xl.attend(attn_xl.read_tables(path))


@thorough
def test_labels_tell_the_weights_after_the_attention_that_formulas_compute(
    tmp_path: Path, capsys: Any
) -> None:
    """The one option to add is named, and with it the block is that of the workbook."""
    end = encoder_block(tmp_path / "theirs.xlsx")
    assert run("inspect", str(tmp_path / "theirs.xlsx")) == 0
    assert "--model encoder" in capsys.readouterr().out
    (graph,) = attn_xl.attend(attn_xl.read_tables(tmp_path / "theirs.xlsx"), model="encoder").values()
    np.testing.assert_allclose(graph["Enc1.Norm_2"].values, end, rtol=1e-9)


def test_a_label_that_occurs_twice_or_that_nothing_reads_tells_nothing(tmp_path: Path) -> None:
    for rows in ((40,), (16, 40)):  # W_1 that nothing reads, and W_2 a second time

        def also(sheet: Any, rows: tuple[int, ...] = rows) -> None:
            sheet["I26"] = None
            for name in ("W_2",) * (len(rows) - 1) + ("W_1",):
                row = rows[0] + 10 * (name == "W_1")
                sheet.cell(row, 20, name)
                for n in range(4):
                    sheet.cell(row + 1 + n // 2, 20 + n % 2, n)

        encoder_block(path := tmp_path / f"{len(rows)}.xlsx", also)
        found = {f.name for s in survey(path).sheets for f in s.found if f.use == "weights"}
        assert "b_1" in found
        assert "W_1" not in found
        assert ("W_2" in found) is (len(rows) == 1)


def given(path: Path) -> None:
    """Attention weights of 0 and 1, typed, and W_V; the result is typed, too."""
    hand, x, a, w = Hand(), numbers(1, 3, 3), [[1, 0, 0], [0, 1, 0], [0, 1, 0]], numbers(2, 3, 2)
    hand.given("s", 2, 1, [[word, *row] for word, row in zip(("the", "cat", "sat"), x)])
    hand.given("s", 1, 6, [["A"]])
    hand.given("s", 2, 6, a)
    hand.given("s", 1, 10, [["W_V"]])
    hand.given("s", 2, 10, w)
    hand.array("s", 8, 1, a @ x @ w, "MMULT(F2:H4,MMULT(B2:D4,J2:K3))")
    hand.save(path)


def test_typed_attention_weights_are_told_by_their_product(tmp_path: Path, capsys: Any) -> None:
    """A transformer drawn by hand: words in columns, times a matrix of 0 and 1."""
    hand, x, s = Hand(), numbers(230, 3, 4), "Transformer"
    a = np.array([[1.0, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    hand.given(s, 2, 2, [["Features"]])
    hand.given(s, 4, 7, x)
    hand.given(s, 2, 12, [["Attention weight matrix"]])
    hand.given(s, 4, 12, a)
    hand.array(s, 10, 12, x @ a, "MMULT(G4:J6,L4:O7)")
    hand.given(s, 16, 7, w := numbers(231, 3, 3))
    hand.array(s, 16, 12, w @ x @ a, "MMULT(G16:I18,L10:O12)")
    hand.save(path := tmp_path / "drawn.xlsx")
    (graph,) = attn_xl.attend(attn_xl.read_tables(path)).values()
    np.testing.assert_allclose(graph["Output"].values, (x @ a).T)
    succeed(proposed(path, capsys), tmp_path)
    hand.given(s, 2, 12, [["Shift matrix"]])
    hand.save(path)
    assert "A" not in attn_xl.read_tables(path, range="Transformer!G4:J6").weights


def test_attention_is_given_by_its_label_a_range_or_a_sheet(tmp_path: Path, capsys: Any) -> None:
    given(path := tmp_path / "given.xlsx")
    assert run("inspect", str(path)) == 0
    assert "give --attention A" in capsys.readouterr().out
    for more in ({}, {"range": "A=s!F2:H4"}, {"range": ["s!A2:D4", "A=s!F2:H4"]}):
        tables = attn_xl.read_tables(path, attention="A", **more)
        (graph,) = attn_xl.attend(tables, attention="A").values()
        np.testing.assert_array_equal(graph["Output"].values[2], graph["Output"].values[1])
        assert tables.weights.keys() == {"A", "W_V"}
    heads_on_sheets(path := tmp_path / "heads.xlsx")
    out = str(tmp_path / "out.xlsx")
    ranges = [f.where for s in survey(path).sheets for f in s.found if f.shape == (4, 4)]
    assert run("convert", str(path), "--range", f"A_1={ranges[0]}", "--attention", "A", "-o", out) == 2
    assert (
        "heads, but attention weights for 1. Give those of every head, A_1 to A_"
        in capsys.readouterr().err
    )


@thorough
def test_many_sheets_are_a_page(tmp_path: Path, capsys: Any) -> None:
    hand = Hand()
    for n in range(12):
        s, x = f"Week {n + 1}", numbers(n, 3, 2)
        w = [numbers(n + i, 2, 2) for i in (31, 62, 93)]
        h = Head(x, w)
        hand.given(s, 1, 1, x)
        for i, m in enumerate((h.q, h.k, h.v)):
            hand.given(s, 1, 5 + 3 * i, w[i])
            hand.array(s, 6, 5 + 3 * i, m, f"MMULT(A1:B3,{area(1, 5 + 3 * i, w[i])})")
        hand.array(s, 11, 1, h.a, "SOFTMAX(MMULT(E6:F8,TRANSPOSE(H6:I8))/SQRT(2))")
        hand.array(s, 11, 5, h.o, "MMULT(A11:C13,K6:L8)")
    hand.save(tmp_path / "course.xlsx")
    assert run("inspect", str(tmp_path / "course.xlsx")) == 0
    lines = capsys.readouterr().out.split("\n")
    assert "Sheet 'Week 12': A1:B3, W_Q, W_K, W_V; 5 other tables" in lines
    assert len(lines) < 100


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
    hand.array(
        s, 1, 10, numbers(59, 2, 3) @ numbers(58, 2, 3).T, "MMULT(A237:C238,TRANSPOSE(A233:C234))"
    )
    hand.save(tmp_path / "many.xlsx")
    run("inspect", str(tmp_path / "many.xlsx"))
    lines = capsys.readouterr().out.split("\n")
    assert [line.split()[0] for line in lines[4:6]] == ["A233:C234", "A237:C238"]
    assert len(lines) < 50
