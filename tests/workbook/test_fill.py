"""`attn-xl fill` completes an author's own sheet."""

from __future__ import annotations

import contextlib
import datetime
import io
import re
import sys
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from authors import (
    DESK,
    DIMS,
    EDGE,
    PETS,
    STEPS,
    AuthorSheet,
    numbers,
    saved,
    two_contexts,
    without_scaled,
)
from conftest import (
    ROOT,
    SAMPLES,
    THOROUGHLY,
    alike,
    by_libreoffice,
    differences_libreoffice,
    naive_attention,
    thorough,
    verify,
)
from engines import IronCalc, store_values
from judges import differences_ironcalc
from openpyxl.chart.data_source import NumData
from openpyxl.styles import Border, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.formula import ArrayFormula

import attn_xl
from attn_xl.cli.main import main
from attn_xl.errors import CallError, InputError
from attn_xl.spreadsheets.addresses import Place, address, at_row, quoted
from attn_xl.spreadsheets.drawn import read_drawn
from attn_xl.tables.frames import step_called, values_in
from attn_xl.tables.labels import Table
from attn_xl.tables.names import of_recurrence, step_named, step_told, weight_label
from attn_xl.tables.survey import Tables
from attn_xl.workbook.filling.author import FilledBook, fill_file, frames_in
from attn_xl.workbook.filling.fill import as_she_writes
from attn_xl.workbook.xlsx.splice import ArraySize

X, Y = numbers(PETS), numbers(DESK, seed=2)


def filled(path: Path, **how: Any) -> tuple[FilledBook, Path]:
    """A workbook filled in, recalculated, and compared with the original: nothing else has changed."""
    options = how.pop("options", {})
    book = fill_file(path, options, **how)
    out = path.with_name(f"{path.stem}-filled.xlsx")
    out.write_bytes(book.content)
    verify(out)
    before, after = read_drawn(path), {sheet.name: sheet for sheet in read_drawn(out).sheets}
    for sheet in before.sheets:
        for cell, value in sheet.values.items():
            if str(value).startswith("{{"):
                continue
            assert after[sheet.name].values[cell] == value
            assert after[sheet.name].formulas.get(cell) == sheet.formulas.get(cell)
    tags = any(str(value).startswith("{{") for one in before.sheets for value in one.values.values())
    if THOROUGHLY and not (tags or book.attention):  # a complete workbook stays as it is
        assert fill_file(out, options, **how).content == book.content
    return book, out


def filled_blocks(
    path: Path, blocks: Sequence[tuple[int, int, str, Any]], texts: dict[str, str] | None = None
) -> list[np.ndarray]:
    """The numbers of the blank blocks of a sheet, once filled in, in order. Each block has a cell, a
    title and its numbers, or the shape of what is to be filled in; nothing is labelled."""
    made = openpyxl.Workbook()
    sheet, blank = AuthorSheet(made.active, labels=False), []
    for row, column, title, content in blocks:
        given = content if isinstance(content, np.ndarray) else None
        rows, columns = content if given is None else content.shape
        at = sheet.block(row, column, title, [None] * rows, [None] * columns, given)
        blank += [Place("Sheet", *at, rows, columns)] if given is None else []
    for cell, text in (texts or {}).items():
        made.active[cell] = text
    book, out = filled(saved(made, path / "own.xlsx"))
    assert not book.attention
    drawn = read_drawn(out).sheets[0]
    return [values_in(drawn, place, False)[1] for place in blank]


def norm_of(x: np.ndarray) -> np.ndarray:
    """The layer norm of each row."""
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


def check(book: FilledBook, out: Path, *inputs: np.ndarray, frames: int = 4) -> None:
    """Each sentence's attention and output are those of loops over its input."""
    sheets = {sheet.name: sheet for sheet in read_drawn(out).sheets}
    groups = {id(group): group for group, _, _ in book.filling.frames}
    assert len(groups) == len(inputs)
    assert len(book.filling.frames) == frames * len(inputs)
    for group, x in zip(groups.values(), inputs):
        wanted = dict(zip(("Softmax", "Output"), naive_attention(x, x, x)))
        for one, frame, _ in book.filling.frames:
            if one is group and frame.step in wanted:
                _, values = values_in(sheets[frame.place.sheet], frame.place, frame.turned)
                np.testing.assert_allclose(values, wanted[frame.step], rtol=1e-12)


@alike
@pytest.mark.parametrize(
    ("left", "right", "looks"),
    [
        (["Scores"], [], {}),
        (STEPS[:2], [], {}),
        (STEPS, ["Scores"], {}),
        (STEPS[:3], STEPS[:3], {}),
        (["Scores"], [], {"titled": False}),
        (["Scores"], ["Scores"], {"titled": False}),
        ([], [], {"merged": True}),
        ([], [], {"labels": False}),
        ([], [], {"borders": False}),
        ([], [], {"across": True}),
        ([], [], {"across": True, "labels": False}),
        ([], [], {"titles": {"Attention": "A", "Scores": "Q·Kᵀ", "Scaled": "SS", "Output": "Z:"}}),
    ],
)
def test_every_state_of_two_sentences_side_by_side(
    left: list[str], right: list[str], looks: dict[str, Any], tmp_path: Path
) -> None:
    path = two_contexts(tmp_path / "own.xlsx", left, right, **looks)
    book, out = filled(path)
    check(book, out, X, Y)
    assert not book.attention
    again, _ = filled(out)
    assert again.content == out.read_bytes()  # a complete sheet stays as it is, byte for byte


def below(book: Any, **looks: Any) -> None:
    for row, words, x in ((2, PETS, X), (60, DESK, Y)):
        AuthorSheet(book.active, **looks).sentence(row, 2, words, x)


def on_two_sheets(book: Any, **looks: Any) -> None:
    AuthorSheet(book.active, **looks).sentence(2, 2, PETS, X)
    AuthorSheet(book.create_sheet("It's 2"), **looks).sentence(3, 3, DESK, Y)


def both_ways(book: Any, **looks: Any) -> None:
    AuthorSheet(book.active, **looks).sentence(2, 2, PETS, X)
    AuthorSheet(book.active, **{**looks, "across": True}).sentence(2, 12, DESK, Y)


@alike
@pytest.mark.parametrize("arrange", [below, on_two_sheets, both_ways])
@pytest.mark.parametrize("looks", [{}, {"across": True}, {"labels": False}])
def test_sentences_in_other_arrangements(arrange: Any, looks: dict[str, Any], tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    arrange(made, **looks)
    path = saved(made, tmp_path / "own.xlsx")
    read = [table.values.tolist() for table in attn_xl.read_tables(path).sentences.values()]
    assert read == [X.tolist(), Y.tolist()]
    check(*filled(path), X, Y)


@thorough
@alike
@pytest.mark.parametrize("words", [1, 3, 12])
@pytest.mark.parametrize("across", [False, True])
def test_any_number_of_words_even_if_they_are_spelled_like_steps(
    words: int, across: bool, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    names = ["key", "w1", "a", "max", "output", "sum", "x", "value", "w2", "q", "mask", "input"][:words]
    x = numbers(names)
    AuthorSheet(made.active, across=across).sentence(2, 2, names, x)
    check(*filled(saved(made, tmp_path / "own.xlsx")), x)


def test_counted_words_are_no_weights_beside_numbers_of_a_frame(tmp_path: Path) -> None:
    """Titles in the corners, and a frame that is filled in its first row."""
    made, words, x = openpyxl.Workbook(), ["w1", "w2"], X[:2, :2]
    made.active.append(["Input", "d1", "d2"])
    for word, row in zip(words, x.tolist()):
        made.active.append([word, *row])
    for n, (title, heads) in enumerate({"Scores": words, "Softmax": words, "Output": "ab"}.items()):
        for row, line in enumerate([[title, *heads], ["w1"], ["w2"]], 5 + 4 * n):
            for column, value in enumerate(line, 1):
                made.active.cell(row, column, value)
    made.active["B6"], made.active["C6"] = "=B2*B2+C2*C2", "=B2*B3+C2*C3"
    check(*filled(saved(made, tmp_path / "own.xlsx")), x, frames=3)


@thorough
def test_formulas_are_what_a_teacher_would_type_there(tmp_path: Path) -> None:
    book, _ = filled(two_contexts(tmp_path / "own.xlsx", []))
    cells = book.filling.cells["Attention"]
    assert [at_row(cells[row][4].formula, row) for row in (15, 24, 33, 42)] == [
        "SUMPRODUCT($C6:$E6,$C$7:$E$7)",
        "D15/SQRT(COLUMNS($C$6:$E$10))",
        "EXP(D24-MAX($C24:$G24))/SUMPRODUCT(EXP($C24:$G24-MAX($C24:$G24)))",
        "SUM(MMULT($C33:$G33,D$6:D$10))",
    ]
    book, _ = filled(two_contexts(tmp_path / "across.xlsx", [], across=True))
    cells = book.filling.cells["Attention"]
    assert [at_row(cells[row][4].formula, row) for row in (13, 22, 31, 40)] == [
        "SUMPRODUCT(D$6:D$8,$C$6:$C$8)",
        "D13/SQRT(ROWS($C$6:$G$8))",
        "EXP(D22-MAX(D$22:D$26))/SUMPRODUCT(EXP(D$22:D$26-MAX(D$22:D$26)))",
        "SUM(MMULT($C6:$G6,D$31:D$35))",
    ]


def test_what_the_sheet_does_not_show_stands_in_the_formula_or_on_a_sheet_behind(
    tmp_path: Path,
) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, ("a", "b", "c"), X)
    sheet.block(12, 2, "Attention", PETS, PETS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(book, out, X, frames=1)
    assert at_row(book.filling.cells["Sheet"][14][3].formula, 14) == (
        "EXP((Steps!B5-MAX(Steps!$B5:$F5))/SQRT(COLUMNS($C$4:$E$8)))"
        "/SUMPRODUCT(EXP((Steps!$B5:$F5-MAX(Steps!$B5:$F5))/SQRT(COLUMNS($C$4:$E$8))))"
    )
    assert book.summary.endswith("what they do not show is on the sheet Steps")


@pytest.mark.parametrize("across", [False, True])
def test_learned_weights_and_heads(across: bool, tmp_path: Path) -> None:
    made, sheet = openpyxl.Workbook(), None
    rng = np.random.default_rng(5)
    sheet = AuthorSheet(made.active, across=across)
    sheet.block(2, 2, "X", PETS, ("a", "b", "c"), X)
    weights = {}
    for n, name in enumerate(("W_Q", "W_K", "W_V")):
        weights[name] = rng.integers(-9, 10, (3, 2)) / 10
        sheet.block(2, 12 + 8 * n, name, ("a", "b", "c"), ("d1", "d2"), weights[name])
    places = {}
    for n, (step, wide) in enumerate((("Q", 2), ("K", 2), ("V", 2), ("Softmax", 5), ("Output", 2))):
        columns = PETS if wide == 5 else ("d1", "d2")
        places[step] = sheet.block(14 + 9 * n, 2, step, PETS, columns)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    q, k, v = (X @ weights[name] for name in weights)
    drawn = read_drawn(out).sheets[0]
    for _, frame, _ in book.filling.frames:
        wanted = {"Q": q, "K": k, "V": v}
        wanted |= dict(zip(("Softmax", "Output"), naive_attention(q, k, v)))
        _, values = values_in(drawn, frame.place, frame.turned)
        np.testing.assert_allclose(values, wanted[frame.step], rtol=1e-12, atol=1e-15)
    assert [frame.step for _, frame, _ in book.filling.frames] == [*places]


def test_weights_may_be_as_in_pytorch(tmp_path: Path) -> None:
    """A row for each dimension that they make: Q = X W^T, of W_O, which is square, as well."""
    rng = np.random.default_rng(6)
    w = {f"W_{kind}{h}": rng.integers(-9, 10, (2, 4)) / 10 for h in (1, 2) for kind in "QKV"}
    w_o, x = rng.integers(-9, 10, (4, 4)) / 10, numbers(PETS, 4)
    blocks: list[Any] = [(2, 2, "X", x), (2, 60, "W_O", w_o), (12, 2, "MultiHead", (5, 4))]
    blocks += [(2, 10 + 7 * n, name, one) for n, (name, one) in enumerate(w.items())]
    (shown,) = filled_blocks(tmp_path, blocks)
    heads = [naive_attention(*(x @ w[f"W_{kind}{h}"].T for kind in "QKV"))[1] for h in (1, 2)]
    np.testing.assert_allclose(shown, np.hstack(heads) @ w_o.T, rtol=1e-12, atol=1e-15)


def test_labels_of_such_weights_tell_where_the_words_of_a_square_input_are(tmp_path: Path) -> None:
    """W_Q (2 x 3) would fit from the left, but its columns are labelled as those of the input."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(6)
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS[:3], DIMS, X[:3])
    w = {kind: rng.integers(-9, 10, (2, 3)) / 10 for kind in "QKV"}
    for n, (kind, one) in enumerate(w.items()):
        sheet.block(2, 10 + 7 * n, f"W_{kind}", (f"{kind}1", f"{kind}2"), DIMS, one)
    sheet.block(12, 2, "Output", PETS[:3], ("V1", "V2"))
    (shown,) = shown_in(*filled(saved(made, tmp_path / "own.xlsx"))).values()
    wanted = naive_attention(*(X[:3] @ one.T for one in w.values()))[1]
    np.testing.assert_allclose(shown, wanted, rtol=1e-12, atol=1e-15)


def test_weights_of_gates_may_lack_their_underscore(tmp_path: Path) -> None:
    rng, weights = np.random.default_rng(3), {}
    blocks: list[Any] = [(2, 2, "Inputs", X[:, :2])]
    for n, gate in enumerate("zrh"):
        for m, kind in enumerate("WUb"):
            weights[f"{kind}_{gate}"] = rng.integers(-5, 6, (1 if kind == "b" else 2, 2)) / 10
            blocks += [(2 + 5 * m, 9 + 4 * n, f"{kind}{gate}", weights[f"{kind}_{gate}"])]
    (shown,) = filled_blocks(tmp_path, [*blocks, (19, 2, "Hidden states", (5, 2))])
    graph = attn_xl.attend(X[:, :2], weights=weights, model="gru")["Sentence"]
    np.testing.assert_allclose(shown, graph["Hidden"].values, rtol=1e-12)


@pytest.mark.parametrize(
    ("weights", "frames"),
    [
        (("W_xh", "W_hh", "b_h", "W_hy", "b_y"), ("h", "Output y", "p = softmax(y)")),
        (("U", "W", "b", "V", "c"), ("h_t = tanh(W h + U x + b)", "o", "ŷ = softmax(o)")),
        (("W_hx", "Whh", "bh", "W_yh", "by"), ("State", "y_t = Why h_t + by", "softmax(y_t)")),
        (
            ("Input weights", "Recurrent weights", "Hidden bias", "Output weights", "Output bias"),
            ("Hidden states", "Logits", "Predictions"),
        ),
    ],
)
@pytest.mark.parametrize("labels", [True, False])
def test_a_recurrent_network_of_characters(
    weights: Sequence[str], frames: Sequence[str], labels: bool, tmp_path: Path
) -> None:
    made, rng, hidden, letters = openpyxl.Workbook(), np.random.default_rng(3), ("1", "2", "3"), "helo"
    sheet = AuthorSheet(made.active)
    x, right = (np.array([[float(a == b) for b in letters] for a in word]) for word in ("hell", "ello"))
    sheet.block(2, 2, "Input", "hell", letters, x)
    sheet.block(2, 8, "Target", "hell", letters, right)
    sheet.labels = labels
    shapes = (letters, hidden), (hidden, hidden), ("", hidden), (hidden, letters), ("", letters)
    w, u, b, v, c = (
        rng.integers(-9, 10, (len(rows) or 1, len(columns))) / 10 for rows, columns in shapes
    )
    for n, (name, values, (rows, columns)) in enumerate(zip(weights, (w, u, b, v, c), shapes)):
        sheet.block(12, 2 + 7 * n, name, rows or [None], columns, values)
    sheet.labels = True
    for n, title in enumerate((*frames, "Losses")):
        sheet.block(22, 2 + 7 * n, title, "hell", (hidden, letters, letters, ("loss",))[n])
    h, states = np.zeros(3), []
    for row in x:
        h = np.tanh(row @ w + h @ u + b[0])
        states.append(h)
    logits = np.array(states) @ v + c
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    losses = -np.log((right * shares).sum(axis=1, keepdims=True))
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    wanted = {"Hidden": states, "Logits": logits, "Probabilities": shares, "Losses": losses}
    for step, found in shown_in(book, out).items():
        np.testing.assert_allclose(found, wanted.pop(step), rtol=1e-12)
    assert not wanted


def test_words_are_no_weights_of_a_recurrent_network() -> None:
    """Nor are trained weights those after a step of learning."""
    assert [weight_label(text) for text in ("Why", "by", "wy")] == [None] * 3
    assert of_recurrence(["u", "v", "w", "why", "by"]) == {}
    assert [step_called(text, {}) for text in ("Learned W_Q", "W_Q: trained")] == [("W_Q", False)] * 2


def test_what_no_label_tells_of_a_square_input_is_noted(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, labels=False)
    for n, title in enumerate(("Input", "Softmax")):
        sheet.block(2, 2 + 9 * n, title, "abc", "abc", X[:3] if n == 0 else None)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    note = "Sheet!C4:E6: its words are taken to be in rows; if not: --words-in columns."
    assert book.report()[0] == note
    asked = fill_file(tmp_path / "own.xlsx", {}, words_in="columns")
    assert note not in asked.report()


def test_w_o_tells_the_direction_of_square_weights(tmp_path: Path) -> None:
    """Two heads, words in columns: W_O is 3 x 6."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(6)
    sheet = AuthorSheet(made.active, labels=False)
    sheet.block(2, 2, "X", "abc", "abc", X[:3])
    names = [f"W_{kind}{head}" for head in (1, 2) for kind in "QKV"]
    weights = {name: rng.integers(-9, 10, (3, 3)) / 10 for name in names}
    weights["W_O"] = rng.integers(-9, 10, (3, 6)) / 10
    for n, (name, one) in enumerate(weights.items()):
        sheet.block(2, 9 + 8 * n, name, *("abcdef"[:k] for k in one.shape), one)
    sheet.block(12, 2, "Output", "abc", "abc")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    heads = [
        naive_attention(*(X[:3].T @ weights[f"W_{kind}{head}"].T for kind in "QKV"))[1]
        for head in (1, 2)
    ]
    _, values = values_in(read_drawn(out).sheets[0], book.filling.frames[0][1].place, False)
    np.testing.assert_allclose(values, weights["W_O"] @ np.hstack(heads).T, rtol=1e-12)


def test_titles_of_frames_tell_that_a_target_looks_at_a_source(tmp_path: Path) -> None:
    """Both have as many words; beside scores, `Alignment` means the attention weights."""
    made, words = openpyxl.Workbook(), ("le", "chat", "dort")
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Target", words, DIMS, X[:3] / 2)
    sheet.block(2, 9, "Source", PETS[:3], DIMS, X[:3])
    sheet.labels = False
    for n, title in enumerate(("Cross-attention scores", "Alignment")):
        sheet.block(10 + 8 * n, 2, title, words, words)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert ([frame.step for _, frame, _ in book.filling.frames], book.attention) == (
        ["Scores", "Softmax"], []
    )  # fmt: skip
    _, found = values_in(read_drawn(out).sheets[0], book.filling.frames[-1][1].place, False)
    np.testing.assert_allclose(found, naive_attention(X[:3] / 2, X[:3], X[:3])[0], rtol=1e-12)


def test_a_target_and_its_source_have_the_same_dimensions(tmp_path: Path) -> None:
    """Which tells where words are, though frames of 5 x 3 fit three words in columns, too."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input (decoder)", PETS, DIMS, X)
    sheet.block(10, 2, "Encoder outputs", DESK[:3], DIMS, Y[:3])
    sheet.labels = False
    for n, title in enumerate(("Scores", "Scaled", "Alignment", "Output = A V")):
        sheet.block(18 + 9 * n, 2, title, PETS, DIMS)
    path = saved(made, tmp_path / "own.xlsx")
    converted, shown = attn_xl.attend(path)["Sheet"]["Output"].values, shown_in(*filled(path))
    for output in (converted, shown["Output"]):
        np.testing.assert_allclose(output, naive_attention(X, Y[:3], Y[:3])[1], rtol=1e-12)


@alike
@pytest.mark.parametrize(
    ("scores", "names"),
    [
        ("Scores e = vᵀ tanh(W s + U h)", ("W", "U", "v")),
        ("Alignment scores = v_a^T tanh(U_a h_j + W_a s_{i-1})", ("Wa", "Uₐ", "v_a")),
        ("Scores = tanh(W_q · q + W_k · k) · w_v", ("W_q", "W_k", "w_v")),
        ("Energies (additive)", ("W_a", "U_a", "v_a")),
        ("Scores = s^T W_a h", ("W_a",)),
        ("Scores = hᵀ W s", ("W",)),
    ],
)
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("titles", [1, 2, 3, "left", "left of the words"])
def test_scores_of_encoder_and_decoder_states(
    scores: str, names: Sequence[str], across: bool, titles: int | str, tmp_path: Path
) -> None:
    """Additive ones, and those with weights between, as in Bahdanau et al. and in Luong et al., are not
    divided by a root. Titles stand some rows above the labels, or left of them."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(4)
    sheet, h, s = AuthorSheet(made.active, across=across), X, Y[:2]
    sheet.block(2, 2, "Encoder states", PETS, DIMS, h)
    sheet.block(2, 12, "Decoder states", DESK[:2], DIMS, s)
    shapes = ("abc", "123"), ("abc", "123"), ("123", "v")
    w, u, v = (rng.integers(-9, 10, (len(rows), len(columns))) / 10 for rows, columns in shapes)
    for n, (name, own, labels) in enumerate(zip(names, (w, u, v), shapes)):
        sheet.block(2, 22 + 8 * n, name, *labels, own)
    for n, title in enumerate((scores, "Attention weights α", "Context c = Σ α h")):
        sheet.block(14, 2 + 10 * n, title, DESK[:2], DIMS if n == 2 else PETS)
    wanted = np.array([[np.tanh(a @ w + b @ u) @ v[:, 0] for b in h] for a in s])
    for row in (15, 3) if titles in (2, 3) else ():
        made.active.insert_rows(row, int(titles) - 1)
    for cell in (*made.active[2], *made.active[14]) if isinstance(titles, str) else ():
        if cell.value:
            made.active.move_range(cell.coordinate, 2 * (titles == "left"), -1)
    if len(names) == 1:
        wanted = s @ w @ h.T if "s^T" in scores else (h @ w @ s.T).T
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    weights = np.exp(wanted) / np.exp(wanted).sum(1, keepdims=True)
    shown = shown_in(book, out)
    assert (book.attention, len(shown)) == ([], 3)
    for step, numbers_of in {"Scores": wanted, "Softmax": weights, "Output": weights @ h}.items():
        np.testing.assert_allclose(shown[step], numbers_of, rtol=1e-12)


def test_additive_scores_whose_vector_has_no_numbers_are_refused(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Encoder states", PETS, DIMS, X)
    sheet.block(2, 12, "Decoder states", DESK[:2], DIMS, Y[:2])
    for n, name in enumerate(("W_q", "W_k", "w_v")):
        sheet.block(2, 22 + 8 * n, name, "abc", "123", X[:3] if name != "w_v" else None)
    sheet.block(14, 2, "Scores = tanh(W_q q + W_k k) · w_v", DESK[:2], PETS)
    with pytest.raises(InputError, match=r"Sheet!B14 is .* no weights as named there"):
        fill_file(saved(made, tmp_path / "own.xlsx"), {})


def test_one_hot_rows_between_rows_with_a_fill_are_no_labels(tmp_path: Path) -> None:
    made, x = openpyxl.Workbook(), np.eye(3)
    sheet = AuthorSheet(made.active, borders=False)
    for n, (title, content) in enumerate({"Input": x, "Softmax": None, "Output": None}.items()):
        sheet.block(2 + 8 * n, 2, title, PETS[:3], "abc" if title != "Softmax" else PETS[:3], content)
    for row in (4, 6):
        for column in (3, 4, 5):
            made.active.cell(row, column).fill = PatternFill("solid", "DDEBF7")
    check(*filled(saved(made, tmp_path / "own.xlsx")), x, frames=2)


def test_what_additive_scores_of_one_state_are_made_of(tmp_path: Path) -> None:
    """Parts of the equation over the scores, as titles of further frames; a sum is asked about."""
    made, rng, s = openpyxl.Workbook(), np.random.default_rng(4), Y[:1]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Encoder hidden states h", PETS, DIMS, X)
    sheet.block(2, 9, "Decoder state s_{t-1}", ("s",), DIMS, s)
    w, u, v = (rng.integers(-9, 10, shape) / 10 for shape in ((3, 2), (3, 2), (2, 1)))
    for n, (name, own) in enumerate({"W_a": w, "U_a": u, "v_a": v}.items()):
        sheet.block(2, 16 + 8 * n, name, "abc"[: len(own)], "12"[: own.shape[1]], own)
    frames = {"W_a s_{t-1}": ("s",), "U_a h_j": PETS, "tanh(W_a s_{t-1} + U_a h_j)": PETS}
    for n, (title, words) in enumerate(frames.items()):
        sheet.block(12, 2 + 8 * n, title, words, "12")
    sheet.block(22, 2, "Scores e = v_a^T tanh(W_a s_{t-1} + U_a h_j)", ("s",), PETS)
    sheet.block(22, 18, "W_a s + U_a h", PETS, "12")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    (said,) = book.attention
    assert said.startswith("Sheet!S24:T28: is blank, and 'W_a s + U_a h' names no step. Say which:")
    shown = shown_in(book, out)
    wanted = s @ w, X @ u, np.tanh(s @ w + X @ u), (np.tanh(s @ w + X @ u) @ v).T
    assert [*shown] == ["Q", "K", "Energies", "Scores"]
    for found, numbers_of in zip(shown.values(), wanted):
        np.testing.assert_allclose(found, numbers_of, rtol=1e-12)


@pytest.mark.parametrize("scores", ["Scores = v tanh(W [s; h])", "Scores = s^T W_a h"])
def test_scores_whose_weights_are_not_there_are_refused(scores: str, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Encoder states", PETS, DIMS, X)
    sheet.block(2, 9, "Decoder states", DESK[:2], DIMS, Y[:2])
    sheet.block(12, 2, scores, DESK[:2], PETS)
    with pytest.raises(InputError, match="there are no weights as named there"):
        fill_file(saved(made, tmp_path / "own.xlsx"), {})


def test_a_sheet_may_be_that_of_a_head(tmp_path: Path) -> None:
    """`convert` reads the weights of each, too."""
    made, rng, wanted = openpyxl.Workbook(), np.random.default_rng(6), []
    AuthorSheet(made.active).block(2, 2, "X", PETS, DIMS, X)
    for name in ("Head 1", "head_2"):
        sheet = AuthorSheet(made.create_sheet(name))
        weights = [rng.integers(-9, 10, (3, 2)) / 10 for _ in range(3)]
        for n, (title, weight) in enumerate(zip(("W_Q", "W_K", "W_V"), weights)):
            sheet.block(2, 2 + 8 * n, title, DIMS, ("a", "b"), weight)
        sheet.block(10, 2, "Attention weights", PETS, PETS)
        sheet.block(20, 2, "Head output", PETS, ("a", "b"))
        wanted.append(naive_attention(*(X @ weight for weight in weights))[1])
    AuthorSheet(made.create_sheet("All")).block(2, 2, "Concatenated heads", PETS, ("a", "b", "c", "d"))
    path = saved(made, tmp_path / "own.xlsx")
    book, out = filled(path)
    found = {frame.step: frame.place for _, frame, _ in book.filling.frames}
    assert [*found] == ["Softmax_1", "Output_1", "Softmax_2", "Output_2", "Output"]
    sheets = {sheet.name: sheet for sheet in read_drawn(out).sheets}
    _, values = values_in(sheets["All"], found["Output"], False)
    np.testing.assert_allclose(values, np.hstack(wanted), rtol=1e-12)
    assert {"W_Q_1", "W_K_2"} < {*attn_xl.read_tables(path).weights}


@thorough
@pytest.mark.parametrize("with_values", [True, False])
def test_a_filled_sheet_is_converted_with_every_sentence_its_mask_and_typed_results(
    with_values: bool, tmp_path: Path
) -> None:
    made, rng = openpyxl.Workbook(), np.random.default_rng(5)
    sheet = AuthorSheet(made.active)
    w = {name: rng.integers(-2, 3, (3, 2)) / 2 for name in ("W_Q", "W_K", "W_V")}
    for n, (name, values) in enumerate(w.items()):
        whole = name == "W_V" and not with_values  # on a sheet of its own, which no formula reads
        own = AuthorSheet(made.create_sheet(name)) if whole else sheet
        own.block(1, 2 + 5 * n, "" if whole else name, DIMS, ("1", "2"), values)
    inputs = {PETS: X, DESK[:4]: Y[:4]}
    for row, (words, x) in zip((8, 17), inputs.items()):
        sheet.block(row, 2, "Input", words, DIMS, x)
        first = x[0] @ w["W_Q"]
        sheet.block(row, 8, "Queries", words, ("1", "2"), lambda i, j, q=first: None if i else q[j])
        for n, name in enumerate(("Keys", "Values")[: 1 + with_values]):
            sheet.block(row, 13 + 5 * n, name, words, ("1", "2"))
        for n, name in enumerate(("Scaled", "Masked scores", "Attention")):
            sheet.block(row, 23 + 8 * n, name, words, words)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert len(book.filling.frames) == 10 + 2 * with_values
    for x, graph in zip(inputs.values(), attn_xl.attend(out).values(), strict=True):
        q, k, v = (x @ w[name] for name in w)
        powers = np.tril(np.exp(q @ k.T / np.sqrt(2)))
        wanted = powers / powers.sum(axis=1, keepdims=True) @ v
        np.testing.assert_allclose(graph["Output"].values, wanted, rtol=1e-12)


@thorough
@pytest.mark.parametrize("typed", [None, np.eye(5, 3) / 4], ids=["sinusoidal", "learned"])
def test_positions_that_formulas_add_are_converted(typed: Any, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for n, step in enumerate(("Positions", "X + PE", "Softmax", "Output")):
        columns = PETS if step == "Softmax" else DIMS
        sheet.block(2 + 9 * n, 10, step, PETS, columns, typed if step == "Positions" else None)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    tables = attn_xl.read_tables(out)
    (own,), (graph,) = tables.sentences.values(), attn_xl.attend(tables).values()
    np.testing.assert_array_equal(own.values, X)
    assert tables.weights.keys() == ({"W_P"} if typed is not None else set())
    for _, frame, _ in book.filling.frames:
        _, values = values_in(read_drawn(out).sheets[0], frame.place, frame.turned)
        np.testing.assert_allclose(values, graph[frame.step].values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("apart", [True, False])
def test_scores_that_formulas_compute_are_no_sentence(apart: bool, tmp_path: Path) -> None:
    """Neither on a sheet of their own, nor of several on a sheet."""
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", PETS, DIMS, X)
    for n, step in enumerate(("Scores", "Scaled")):
        there = made.create_sheet(step) if apart or n == 0 else made["Scores"]
        AuthorSheet(there).block(2 + 9 * n, 2, step, PETS, PETS)
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert [*attn_xl.read_tables(out).sentences] == ["Sheet"]


@thorough
def test_of_two_equal_words_labels_tell_the_weights_and_nothing_is_hidden(tmp_path: Path) -> None:
    """Their attention weights are 1/2, whatever they are multiplied with and whatever is added."""
    made, rng, ab = openpyxl.Workbook(), np.random.default_rng(5), ("a", "b")
    sheet = AuthorSheet(made.active)
    w = {name: rng.integers(-9, 10, (3, 2)) / 10 for name in ("W_K", "W_Q", "W_V")}
    for n, (name, values) in enumerate(w.items()):
        sheet.block(2, 2 + 8 * n, name, DIMS, ab, values)
    words = {PETS: X, ("tick", "tock"): X[[1, 1]]}
    for row, (labels, x) in zip((10, 20), words.items()):
        sheet.block(row, 2, "Input", labels, DIMS, x)
        for n, name in enumerate(("Keys", "Queries", "Values")):
            sheet.block(row, 8 + 6 * n, name, labels, ab)
        sheet.block(row, 26, "Scores", labels, labels)
        sheet.block(row, 34, "Attention weights", labels, labels)
        sheet.block(row, 42, "Output", labels, ab)
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    made_again = attn_xl.attend(tables := attn_xl.read_tables(out))
    assert {*tables.weights} == {*w}
    for x, graph in zip(words.values(), made_again.values(), strict=True):
        wanted = naive_attention(*(x @ w[name] for name in ("W_Q", "W_K", "W_V")))[1]
        np.testing.assert_allclose(graph["Output"].values, wanted, rtol=1e-12)


@thorough
def test_attention_weights_are_no_words_and_an_input_that_no_formula_reads_is_named(
    tmp_path: Path,
) -> None:
    """Values of zeros and ones look like a mask of two words, which are the columns of the weights; the
    frames are labelled with the words of the first input, and nearer to the second."""
    made, dims, fish = openpyxl.Workbook(), ("1", "2"), ("le", "chat", "dort")
    sheet, memory, x = AuthorSheet(made.active), X[:2, :2] * 0, X[:3, :2] - 0.5
    memory[0] = 1.5, 1
    w = {"W_Q": [[0, -1], [-1, 0]], "W_K": [[1, 1], [1, 0.5]], "W_V": [[0, 0], [1, 1]]}
    w = {name: np.array(values, float) for name, values in w.items()}
    sheet.block(2, 2, "Input", fish, dims, x)
    sheet.block(2, 12, "Memory", PETS[:2], dims, memory)
    sheet.block(2, 22, "Input", DESK[:3], dims, Y[:3, :2])
    AuthorSheet(made.create_sheet("Later")).block(2, 2, "Input", DESK[:3], dims, Y[:3, :2])
    for n, (name, values) in enumerate(w.items()):
        sheet.block(10, 2 + 10 * n, name, dims, dims, values)
    for n, (name, rows, columns) in enumerate(
        [("Q", fish, dims), ("K", PETS[:2], dims), ("V", PETS[:2], dims), ("Scores", fish, PETS[:2]),
         ("Scaled", fish, PETS[:2]), ("Weights", fish, PETS[:2]), ("Output", fish, dims)]
    ):  # fmt: skip
        sheet.block(20, 2 + 10 * n, name, rows, columns)
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    tables = attn_xl.read_tables(out)
    graph, _ = attn_xl.attend(tables).values()
    wanted = naive_attention(x @ w["W_Q"], memory @ w["W_K"], memory @ w["W_V"])[1]
    np.testing.assert_allclose(graph["Output"].values, wanted, rtol=1e-12)
    assert "Later!B3:D6 is titled 'Input', but the attention that the" in " ".join(tables.remarks)


@thorough
@pytest.mark.parametrize("across", [False, True])
def test_inputs_that_formulas_repeat_are_no_further_sentences(across: bool, tmp_path: Path) -> None:
    """`convert` leaves them out, too; the formulas beside a copy refer to it, and it grows."""
    made = openpyxl.Workbook()
    made.active.title = "Words"
    sheet, inputs = AuthorSheet(made.active, across=across), (X, X + 1)
    for n, x in enumerate(inputs):
        sheet.block(2 + 10 * n, 2, "Embeddings", PETS, DIMS, x)
    for n in range(2):
        own = AuthorSheet(made.create_sheet(f"Sentence {n + 1}"), across=across)
        row, column = own.block(2, 2, "Embeddings", PETS, DIMS)
        shape = (3, 5) if across else (5, 3)
        for r, c in np.ndindex(shape):
            own.sheet.cell(
                row + r, column + c
            ).value = f"=Words!{get_column_letter(3 + c)}{row + 10 * n + r}"
        own.block(2, 12, "X^T", DIMS, PETS)
        own.block(12, 2, "Scores", PETS, PETS)
        own.block(22, 2, "Output", PETS, DIMS)
    path = saved(made, tmp_path / "own.xlsx")
    book, out = filled(path)
    assert (book.filling.count, book.attention) == (2 * (15 + 25 + 15), [])
    result = openpyxl.load_workbook(out)
    for n in (1, 2):
        assert "Words!" not in result[f"Sentence {n}"].cell(14, 3).value
        assert result[f"Sentence {n}"].cell(4, 13).value.startswith("=Words!")
    assert [*attn_xl.read_tables(path).sentences] == ["Words", "Words_2"]
    words, (a, b) = tuple(f"w{n}" for n in range(7)), np.arange(28).reshape(2, 7, 2) / 4
    new = {name: Table(name, x, words, ("c", "d"), (True, True), "", "", 1, 1) for name, x in
           (("a", a), ("b", b))}  # fmt: skip
    book = fill_file(path, {}, tables=Tables(path, new, {}))
    out.write_bytes(book.content)
    verify(out)
    check(book, out, a, b, frames=4)


@thorough
def test_words_that_an_input_looks_up_are_no_sentence(tmp_path: Path) -> None:
    made, y = openpyxl.Workbook(), np.arange(27).reshape(9, 3) / 10
    sheet, words = AuthorSheet(made.active), tuple("abcdefghi")
    sheet.block(2, 2, "Word embeddings", words, DIMS, y)
    inputs = ("fad", "hgfedcbai")
    for n, own in enumerate(inputs):
        row = 14 + 40 * n

        def look(i: int, j: int, row: int = row) -> str:
            return f"=VLOOKUP($B{row + 2 + i},$B$4:$E$12,{j + 2},FALSE)"

        sheet.block(row, 2, f"Sentence {n + 1}", own, DIMS, look)
        sheet.block(row + 12, 2, "Attention", own, own)
        sheet.block(row + 24, 2, "Output", own, DIMS)
    path = saved(made, tmp_path / "own.xlsx")
    book, out = filled(path)
    assert book.attention == []
    check(book, out, *(y[[words.index(word) for word in own]] for own in inputs), frames=2)
    assert [one.rows for one in attn_xl.read_tables(path).sentences.values()] == [*map(tuple, inputs)]


def test_an_input_with_positions_added_by_formulas_is_embedded(tmp_path: Path) -> None:
    made, p = openpyxl.Workbook(), np.arange(15).reshape(5, 3) / 7
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Token embeddings", PETS, DIMS, X)
    sheet.block(2, 12, "Positional encoding", PETS, DIMS, p)
    sheet.block(2, 22, "X = embeddings + positions", PETS, DIMS,
                lambda i, j: f"={'CDE'[j]}{4 + i}+{'MNO'[j]}{4 + i}")  # fmt: skip
    sheet.block(12, 2, "Attention", PETS, PETS)
    sheet.block(22, 2, "Output", PETS, DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (25 + 15, [])
    check(book, out, X + p, frames=3)


def test_what_differs_from_the_paper_stays_and_is_said(tmp_path: Path, capsys: Any) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores"])
    book = openpyxl.load_workbook(path)
    for row in range(24, 29):
        for column in range(3, 8):
            book.active.cell(row, column).value = f"={book.active.cell(row - 9, column).coordinate}"
    book.active["K15"] = 4.2
    filled_book, out = filled(saved(book, path))
    assert len(filled_book.attention) == 2
    first, second = filled_book.attention
    assert first.startswith("Attention!C24: =C15 gives 9.05; Scaled should be 5.225, =C15/SQRT(")
    assert first.endswith("25 cells of Scaled differ so.")
    assert second.startswith("Attention!K15: the number 4.2 is typed where a formula belongs; Scores ")
    with pytest.raises(SystemExit) as end:
        main(["fill", str(path), "-o", str(out), "--force"])
    assert end.value.code == 3
    said = capsys.readouterr()
    assert first in said.err
    assert said.out.splitlines()[-1] == f"{out}: 129 cells filled in 6 of 8 frames"


def test_an_error_is_said_and_what_follows_from_it_is_left_to_the_program(tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores"])
    book = openpyxl.load_workbook(path)
    book.active["C24"], book.active["C33"] = "=C15/0", "=EXP(C24)"  # which passes the error on
    result, out = fill_file(saved(book, path), {}), tmp_path / "out.xlsx"
    (said,) = result.attention
    assert said.startswith("Attention!C24: =C15/0 gives #DIV/0!; Scaled should be 5.225, =C15/SQRT(")
    out.write_bytes(result.content)
    shown = openpyxl.load_workbook(out, data_only=True).active
    assert [shown[cell].value is None for cell in ("D24", "D33", "C34", "C42", "C43")] == [
        False, True, False, True, False,
    ]  # fmt: skip


def test_every_other_part_keeps_its_bytes(tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores"])
    book = openpyxl.load_workbook(path)
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(book.active, min_col=3, min_row=15, max_row=19))
    book.active.add_chart(chart, "R2")
    book.active["B1"].comment = openpyxl.comments.Comment("mine", "me")
    book.active.conditional_formatting.add(
        "C33:G37", openpyxl.formatting.rule.ColorScaleRule("min", None, "FFFFFF", "max", None, "00FF00")
    )
    chart = openpyxl.chart.BarChart()
    chart.add_data(openpyxl.chart.Reference(book.active, min_col=3, min_row=33, max_row=37))
    chart.series[0].val.numRef.numCache = NumData(ptCount=5)
    book.active.add_chart(chart, "R20")
    book.create_sheet("Notes")["A1"] = "untouched"
    out = tmp_path / "out.xlsx"
    book.save(path)
    out.write_bytes(fill_file(path, {}).content)
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(out) as after:
        changed = {name for name in before.namelist() if before.read(name) != after.read(name)}
        assert before.namelist() == after.namelist()
    assert changed == {"xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/charts/chart2.xml"}
    kept = openpyxl.load_workbook(out).active._charts[1].series[0].val.numRef.numCache.pt
    shown = openpyxl.load_workbook(out, data_only=True).active
    assert [float(one.v) for one in kept] == [shown[f"C{row}"].value for row in range(33, 38)]
    book = openpyxl.load_workbook(out)
    assert book.active["C33"].border.left.style == "thin"


def test_cells_and_rows_that_do_not_exist_yet(tmp_path: Path) -> None:
    """Frames without borders have no cells in the file; a new one takes the look of its column."""
    made = openpyxl.Workbook()
    AuthorSheet(made.active, borders=False).sentence(2, 2, PETS, X)
    path = saved(made, tmp_path / "own.xlsx")
    _, out = filled(path)
    rows = openpyxl.load_workbook(out).active
    assert rows["C13"].value.startswith("=SUMPRODUCT")


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("columns", [False, True])
def test_blank_lines_may_part_labels_and_cells_without_borders(
    rows: int, columns: bool, across: bool, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    sheet = made.active
    AuthorSheet(sheet, borders=False, across=across).sentence(2, 2, PETS, X)
    first = [row for row in range(2, sheet.max_row) if sheet.cell(row - 1, 3).value in (*PETS, *DIMS)]
    for row in first[::-1] if rows else ():
        sheet.insert_rows(row, rows)
    if columns:
        sheet.insert_cols(3)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(book, out, X)
    for _, frame, _ in book.filling.frames:
        place = frame.place
        assert sheet.cell(place.row, 2).value in (*PETS, *DIMS)
        assert sheet.cell(place.row - 1 - rows, place.column).value in (*PETS, *DIMS)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            lambda s: s.merge_cells("C24:D24"),
            "Attention!C24:G28: Scaled is not filled in: merged cells.",
        ),
        (lambda s: s.protection.enable(), "Scaled is not filled in: a protected sheet."),
        (
            lambda s: s.add_table(openpyxl.worksheet.table.Table(displayName="T", ref="B23:G28")),
            "Scaled is not filled in: a table.",
        ),
    ],
)
def test_places_that_cannot_be_written_to_are_named(change: Any, why: str, tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores"])
    book = openpyxl.load_workbook(path)
    change(book.active)
    result, _ = filled(saved(book, path))  # formulas of other frames do not read the blank one
    assert any(why in line for line in result.attention)


@pytest.mark.parametrize(
    ("labels", "borders", "start"),
    [(True, False, ""), (False, True, ""), (True, True, "Blatt 1 - ")],  # as Numbers exports tables
)
def test_the_name_of_a_sheet_is_a_title_where_none_stands_on_it(
    labels: bool, borders: bool, start: str, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    made.active.title = "Notes"
    made.active["A1"] = "My lesson"
    for name in ("Embeddings", "Scores", "Softmax", "Output"):
        sheet = AuthorSheet(made.create_sheet(start + name), labels=labels, borders=borders)
        given = X if name == "Embeddings" else None
        sheet.block(2, 2, "", PETS, DIMS if name in ("Embeddings", "Output") else PETS, given)
    result, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(result, out, X, frames=3)
    assert {frame.by for _, frame, _ in result.filling.frames} == {
        f"the sheet {start + name!r}" for name in ("Scores", "Softmax", "Output")
    }
    assert quoted(f"{start}Scores") + "!C4:G8" in "".join(frames_in(tmp_path / "own.xlsx"))


def test_sheets_named_as_steps_tell_by_the_words_on_them(tmp_path: Path) -> None:
    """A note of the width is no title; what stands beside a sum is on its own sheet."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    for n, name in enumerate(("Input", "W_Q", "W_K", "W_V")):
        given = X if name == "Input" else np.eye(3)[:, :2]
        sheet.block(2 + 9 * n, 2, name, PETS if n == 0 else DIMS, DIMS if n == 0 else "ab", given)
    queries = made.create_sheet("Queries")
    for row, word in enumerate(PETS, 2):
        queries.cell(row, 1, word)
    AuthorSheet(made.create_sheet("Softmax")).block(2, 2, "", PETS, PETS)
    made["Softmax"]["H5"] = "dk = 2"
    AuthorSheet(made.create_sheet("Row sum")).block(2, 7, "", PETS, ("sum",))
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    assert {frame.place.where: frame.step for _, frame, _ in book.filling.frames} == {
        "Queries!B2:C6": "Q", "Softmax!C4:G8": "Softmax", "'Row sum'!H4:H8": "Softmax.Sum",
    }  # fmt: skip


@pytest.mark.parametrize("borders", [True, False])
def test_titles_may_stand_right_of_frames_in_a_row(borders: bool, tmp_path: Path) -> None:
    made, column = openpyxl.Workbook(), 2
    sheet = AuthorSheet(made.active, borders=borders)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for step in STEPS:
        top, left = sheet.block(11, column, "", PETS, DIMS if step == "Output" else PETS)
        column = left + (3 if step == "Output" else 5)
        made.active.cell(top, column, step)
        column += 2
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(book, out, X, frames=4)
    assert not book.attention


def test_a_table_of_contents_has_no_frames(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(12, 2, "Scores", PETS, PETS)
    contents = made.create_sheet("Contents", 0)
    for row, title in enumerate(("Input", "Scores", "Softmax", "Output"), 3):
        contents.cell(row, 2, title)
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    assert [(frame.step, frame.place.sheet) for _, frame, _ in book.filling.frames] == [
        ("Scores", "Sheet")
    ]


@pytest.mark.parametrize("away", [0, 1])
@pytest.mark.parametrize("label", ["Sum", "\u03a3", "Norm", ""])
def test_sums_beside_a_frame_are_the_author_s_own(away: int, label: str, tmp_path: Path) -> None:
    made = without_scaled(PETS[:3], X[:3])
    for top in (4, 18):
        made.active.cell(top - 1, 6 + away, label or None)
        for row in range(top, top + 3):
            made.active.cell(row, 6 + away, f"=SUM(C{row}:E{row})")
    for column in "CDE":
        made.active[f"{column}7"] = f"={column}4+{column}5+{column}6"
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Scores", "Softmax", "Output"]
    assert (book.filling.count, book.attention) == (27, [])
    assert book.filling.frames[0][0].input.place == Place("Sheet", 4, 3, 3, 3)


def test_sums_do_not_move_a_frame_without_labels(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, labels=False)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(12, 2, "Scores", PETS, PETS)
    sheet.block(22, 2, "Output", PETS, DIMS)
    for row in (*range(14, 19), *range(24, 29)):
        last, at = ("G", "H") if row < 20 else ("E", "F")
        made.active[f"{at}{row}"] = f"=MAX(C{row}:{last}{row})"
        made.active[f"{at}{row}"].border = EDGE
        made.active.cell(row, 9, f"=SQRT(SUMSQ(C{row}:{last}{row}))/$A$1")
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    assert [frame.place.range for _, frame, _ in book.filling.frames] == ["C14:G18", "C24:E28"]


def test_what_else_stands_around_frames(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, labels=False)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(12, 2, "Scores", PETS, PETS)
    sheet.block(22, 2, "Output", PETS, DIMS)
    for column, text in enumerate(("one", "two", "three", "four", "five"), 3):
        made.active.cell(13, column, text)
    made.active["F3"], made.active["H13"] = "Rank", "level"
    for row in range(5):
        made.active.cell(4 + row, 6, f"=RANK(C{4 + row},C$4:C$8)")
        made.active.cell(14 + row, 8, ("low", "high")[row % 2])
    made.active["J2"], made.active["K2"] = "Made on", datetime.date(2024, 5, 1)
    for row, text in enumerate(("1. dot products", "2. divide by the root", "3. softmax", "4. mix")):
        made.active.cell(6 + row, 10, text)
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    assert [frame.place.range for _, frame, _ in book.filling.frames] == ["C14:G18", "C24:E28"]
    assert book.filling.frames[0][0].input.place.range == "C4:E8"
    assert book.attention == []


def test_a_title_in_the_corner_does_not_say_where_the_words_are(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, across=True)
    for row, title, columns, x in (
        (2, "Word vectors", DIMS, X), (12, "Scores", PETS, None), (22, "Output", DIMS, None),
    ):  # fmt: skip
        sheet.block(row, 2, title, PETS, columns, x)
        made.active.delete_rows(row + 1)  # the words above
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    assert book.filling.frames[0][0].words_in == "columns"


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize(("corner", "dims"), [("", "xyz"), ("word", ("d1", "d2", "d3"))])
def test_blank_squares_and_labels_tell_where_the_words_are(
    corner: str, dims: Sequence[str], centered: bool, tmp_path: Path
) -> None:
    """Where no title names a step; `word` in a corner may be said of the row beside it."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, across=True, centered=centered)
    sheet.block(2, 2, "Input", PETS, dims, X)
    made.active["B3"] = corner or None
    sheet.block(12, 2, "Compare every two words", PETS, PETS)
    sheet.block(22, 2, "Turn them into percentages", PETS, PETS)
    sheet.block(32, 2, "Use these weights to mix the embeddings.", PETS, dims)
    check(*filled(saved(made, tmp_path / "own.xlsx")), X, frames=3)


def test_words_in_another_case_are_the_same(tmp_path: Path) -> None:
    """As labels in capitals, on another sheet; `The` and `the` are two words of a sentence."""
    made, words = openpyxl.Workbook(), ["The", "dog", "and", "the", "cat"]
    AuthorSheet(made.active).block(2, 2, "Input", words, DIMS, X)
    decoder, own, other = AuthorSheet(made.create_sheet("Decoder")), ["Le", "chien"], words
    decoder.block(2, 2, "Input", own, DIMS, Y[:2])
    own, other = ([one if one[1:] == "he" else one.upper() for one in side] for side in (own, other))
    decoder.block(12, 2, "Cross-attention scores", own, other)
    decoder.block(12, 10, "Output", own, ["DIM 1", "DIM 2", "DIM 3"])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not any(one.startswith("Decoder!") for one in book.attention)
    sheet, output = read_drawn(out).sheets[1], naive_attention(Y[:2], X, X)[1]
    for place, wanted in (((14, 3, 2, 5), Y[:2] @ X.T), ((14, 11, 2, 3), output)):
        shown = values_in(sheet, Place("Decoder", *place), False)[1]
        np.testing.assert_allclose(shown, wanted, rtol=1e-12)


def test_titles_left_of_the_words(tmp_path: Path) -> None:
    """In a column of their own, above: given scores, and sentences over frames."""
    made, scores = openpyxl.Workbook(), X @ X.T / np.sqrt(3)
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Scores", PETS, PETS, scores)
    sheet.block(12, 2, "Turn them into percentages", PETS, PETS)
    for row in (2, 12):
        made.active.move_range(f"B{row}", 0, -1)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    np.testing.assert_allclose(shown_in(book, out)["Softmax"], naive_attention(X, X, X)[0], rtol=1e-12)


def test_words_on_both_sides_of_a_square_are_those_of_the_input(tmp_path: Path) -> None:
    """In its columns, though `word` stands in each corner."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, across=True)
    sheet.sentence(2, 2, PETS, X)
    for row in (3, 10, 19, 28, 37):
        assert made.active.cell(row, 3).value == PETS[0]
        made.active.cell(row, 2, "word")
    check(*filled(saved(made, tmp_path / "own.xlsx")), X)


def test_a_sum_of_exponentials_is_the_step(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", words, DIMS, X[:3])
    for n, step in enumerate(("Scores", "Exponentials", "Softmax")):
        sheet.block(9 + 7 * n, 2, step, words, words)
    made.active["G17"] = "Sum"
    for row in (18, 19, 20):
        made.active[f"G{row}"] = f"=SUM(C{row}:E{row})"
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    places = {frame.step: frame.place.range for _, frame, _ in book.filling.frames}
    assert places["Softmax.Sum"] == "G18:G20"


@pytest.mark.parametrize("mark", ["?", "TODO"])
def test_a_frame_of_the_wrong_size_is_named(mark: str, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, ("a", "b", "c"), X)
    sheet.block(12, 2, "Scores", PETS[:4], PETS[:4])
    sheet.block(20, 2, "Output", PETS, ("a", "b", "c"))
    sheet.block(30, 2, "Softmax", PETS, PETS, lambda i, j: mark)
    made.active["B40"] = "Scores"
    made.active["B41"] = "and more"
    result = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    why = f"but no frame of 5 x 5 cells is near; cells that hold {mark!r} are not blank: clear them."
    assert result.attention[:2] == [
        f"Sheet!B12: 'Scores' names Scores, {why}",
        f"Sheet!B30: 'Softmax' names Softmax, {why}",
    ]


def test_call_gives_a_step_the_author_s_own_name(tmp_path: Path, capsys: Any) -> None:
    titles = {"Attention": "How much each word looks", "Output": "Blend = mixture"}
    path = two_contexts(tmp_path / "own.xlsx", [], titles=titles)
    out = tmp_path / "out.xlsx"
    calls = ["--call", "how much each word looks=Attention", "--call", "blend=Output"]
    main_ok(["fill", str(path), "-o", str(out), *calls])
    assert "180 cells filled in 8 of 8 frames" in capsys.readouterr().out
    for call, why in (("blend", "give it as NAME=STEP"), ("blend=Outptu", "Did you mean 'Output'?")):
        with pytest.raises(SystemExit) as end:
            main(["fill", str(path), "-o", str(out), "--force", "--call", call])
        assert end.value.code == 2
        assert why in capsys.readouterr().err


@pytest.mark.parametrize("output", ["Z", "Head "])  # head_i, as in the paper
def test_a_number_in_a_title_is_that_of_a_head(output: str, tmp_path: Path) -> None:
    """Labels such as `q1` and `a`, which are spelled like steps, stay labels."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    rng, weights = np.random.default_rng(0), {}
    for h, column in ((1, 2), (2, 24)):
        for n, (letter, own) in enumerate(zip("QKV", (("q1", "q2"), ("k1", "k2"), ("a", "b")))):
            w = weights[letter, h] = rng.integers(-4, 5, (3, 2)) / 2
            sheet.block(10, column + 4 * n, f"W{letter}{h}", DIMS, own, w)
            sheet.block(16, column + 4 * n, f"{letter}{h}", PETS, own)
        for row, title in ((24, "Scores"), (32, "Attention")):
            sheet.block(row, column, f"{title} {h}", PETS, PETS)
        sheet.block(40, column, f"{output}{h}", PETS, ("a", "b"))
    sheet.block(48, 2, "Concat", PETS, tuple("abcd"))
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    places = [frame.place for _, frame, _ in book.filling.frames]
    assert book.filling.count == sum(place.rows * place.columns for place in places)
    own = [[X @ weights[letter, h] for letter in "QKV"] for h in (1, 2)]
    outputs = [naive_attention(*projected)[1] for projected in own]
    (frame,) = [frame for _, frame, _ in book.filling.frames if frame.step == "Output"]
    _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
    np.testing.assert_allclose(values, np.hstack(outputs), rtol=1e-12)


def test_what_stands_beside_w_o_below_the_heads_is_of_all_of_them(tmp_path: Path) -> None:
    made, rng, outputs = openpyxl.Workbook(), np.random.default_rng(3), []
    sheet, ab = AuthorSheet(made.active), ("a", "b")
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for column in (2, 12):
        weights = rng.integers(-9, 10, (3, 3, 2)) / 10
        for n, name in enumerate(("W_Q", "W_K", "W_V")):
            sheet.block(10 + 7 * n, column, name, DIMS, ab, weights[n])
        sheet.block(32, column, "Output", PETS, ab)
        outputs.append(naive_attention(*(X @ one for one in weights))[1])
    w_o = rng.integers(-9, 10, (4, 2)) / 10
    sheet.block(42, 2, "W_O", "abcd", ab, w_o)
    sheet.block(42, 11, "MultiHead", PETS, ab)
    sheet.block(52, 2, "Concat", PETS, "abcd")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    found = {frame.step: frame for _, frame, _ in book.filling.frames}
    joined = np.hstack(outputs)
    steps = {"Output_1": outputs[0], "Output_2": outputs[1], "Output": joined @ w_o, "Concat": joined}
    assert {*found} == {*steps}
    for step, wanted in steps.items():
        frame = found[step]
        _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
        np.testing.assert_allclose(values, wanted, rtol=1e-12)


@thorough
@alike
@pytest.mark.parametrize("layered", [False, True])
@pytest.mark.parametrize(
    ("titles", "before"),
    [(("A V", "Output"), 1), (("Z", "Z x Wo"), 1), (("Output", "Output after W_O"), 1),
     (("Softmax x V",), 1), (("Multi-head output",), 0)],
)  # fmt: skip
def test_of_the_outputs_of_one_head_the_last_is_multiplied_with_w_o(
    titles: tuple[str, ...], before: int, layered: bool, tmp_path: Path
) -> None:
    made, rng = openpyxl.Workbook(), np.random.default_rng(8)
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    w = {name: rng.integers(-2, 3, (3, 3)) / 2 for name in ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2")}
    for n, name in enumerate([*w][: 4 + 2 * layered]):
        sheet.block(10, 2 + 8 * n, name, DIMS, DIMS, w[name])
    sheet.block(20, 2, "Softmax", PETS, PETS)
    for n, title in enumerate((*titles, "Skip connection", "Feed forward")[: None if layered else -2]):
        sheet.block(20, 12 + 10 * n, title, PETS, DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    output = naive_attention(*(X @ w[name] for name in ("W_Q", "W_K", "W_V")))[1]
    wanted = [output, output @ w["W_O"]][1 - before :][: len(titles)]
    frames = [frame for _, frame, _ in book.filling.frames]
    for frame, values in zip(frames[1:], [*wanted, X + output @ w["W_O"]][: len(titles) + layered]):
        _, shown = values_in(read_drawn(out).sheets[0], frame.place, False)
        np.testing.assert_allclose(shown, values, rtol=1e-12, atol=1e-12)
    made.active["L20"], first = "Output", naive_attention(*(X @ w[name] for name in [*w][:3]))[1]
    for (r, c), value in np.ndenumerate(first):
        made.active.cell(22 + r, 13 + c, float(value))  # as the author has computed it
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert all("15 cells of " in line and "Output_1 are typed" in line for line in book.attention)


@thorough
@pytest.mark.parametrize("typed", [True, False])
def test_a_layer_needs_no_network_and_what_is_not_read_is_said(typed: bool, tmp_path: Path) -> None:
    """The outputs of both heads are as wide as the words, as is their product with W_O."""
    x, rng = numbers(PETS, 4), np.random.default_rng(4)
    given = {f"W_{kind}_{n}": rng.integers(-9, 9, (4, 2)) / 10 for n in (1, 2) for kind in "QKV"}
    given |= {"W_O": rng.integers(-9, 9, (4, 4)) / 10, "Constants": rng.integers(1, 9, (1, 4)) / 4}
    given |= {"\u03b31": rng.integers(1, 9, (1, 4)) / 4, "\u03b21": np.ones((1, 4))} if typed else {}
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", PETS, "abcd", x)
    sheet = AuthorSheet(made.active, labels=False)
    for n, (name, table) in enumerate(given.items()):
        sheet.block(2, 9 + 7 * n, name, "abcd"[: len(table)], "abcd"[: table.shape[1]], table)
    if typed:  # what labels a row is no title of the next one
        made.active["BM4"] = "\u03b3"
        for column in ("BN", "BO", "BP", "BQ"):
            made.active[f"{column}3"], made.active[f"{column}8"] = column, 2.5
    for n, title in enumerate(("MultiHead", "Residual", "Add & Norm")):
        sheet.block(12 + 10 * n, 2, title, PETS, "abcd")
    AuthorSheet(made.active).block(12, 20, "My guess", PETS, [None])  # of no step
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    unread = ["Sheet!BG4:BJ4", "Sheet!BN8:BQ8"][: 1 + typed]
    assert (book.attention, book.filling.unread) == ([], unread)
    assert book.report()[0] == f"{', '.join(unread)}: these numbers are not read."
    assert book.report()[1] == "Sheet!U14:U18: stays blank; 'My guess' names no step."
    q, k, v = ([x @ given[f"W_{kind}_{n}"] for n in (1, 2)] for kind in "QKV")
    heads = [naive_attention(*own)[1] for own in zip(q, k, v)]
    both = np.hstack(heads) @ given["W_O"]
    norm = (x + both - (x + both).mean(1, keepdims=True)) / np.sqrt(
        (x + both).var(1, keepdims=True) + 1e-5
    )
    norm = norm * given.get("\u03b31", 1) + given.get("\u03b21", 0)
    for wanted, (_, frame, _) in zip((both, x + both, norm), book.filling.frames):
        _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
        np.testing.assert_allclose(values, wanted, rtol=1e-10)
    graph = attn_xl.attend(attn_xl.read_tables(out), model="encoder", feed_forward=False)["Sheet"]
    np.testing.assert_allclose(graph["Enc1.Norm_1"].values, norm, rtol=1e-10)
    assert "Enc.Norm" not in graph  # Enc1.gamma_1 on the sheet Steps is not that of another norm


@thorough
def test_sentences_side_by_side_have_heads_of_their_own(tmp_path: Path) -> None:
    """The same titles for each head and each sentence."""
    made, rng, wanted = openpyxl.Workbook(), np.random.default_rng(3), []
    sheet = AuthorSheet(made.active)
    for x, column in ((X, 2), (Y, 30)):
        sheet.block(2, column, "Input", PETS, DIMS, x)
        for row in (12, 32):
            weights = rng.integers(-9, 10, (3, 3, 2)) / 10
            for n, name in enumerate(("W_Q", "W_K", "W_V")):
                if row == 12:
                    sheet.block(row, column + 8 * n, name, DIMS, "ab", weights[n])
                    continue
                for down, line in enumerate([[name], *weights[n].tolist()]):  # which touch
                    for aside, value in enumerate(line):
                        made.active.cell(row + down, column + 2 * n + aside, value)
            sheet.block(row + 8, column, "Softmax", PETS, PETS)
            wanted.append(naive_attention(*(x @ w for w in weights))[0])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    frames = [frame for _, frame, _ in book.filling.frames]
    assert [frame.step for frame in frames] == ["Softmax_1", "Softmax_2"] * 2
    for frame, expected in zip(frames, wanted):
        _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
        np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_frames_beside_each_other_are_those_of_the_sentence_left_of_them(tmp_path: Path) -> None:
    """Without labels; the weights of the second one is no place of words that look at others."""
    made = openpyxl.Workbook()
    sheet, w = AuthorSheet(made.active, labels=False), np.eye(3)[:, :2]
    for n, kind in enumerate("QKV"):
        sheet.block(1, 1 + 4 * n, f"W_{kind}", DIMS, "ab", w)
    for row, x in ((7, X[:2]), (14, Y[:4])):
        sheet.block(row, 1, "Embeddings", "abcd"[: len(x)], DIMS, x)
        for n, title in enumerate(("Q", "K", "V", "softmax(QKᵀ/√d)", "Z")):
            width = len(x) if n == 3 else 2
            top, left = sheet.block(row, 5 + 3 * n + 2 * (n == 4), "", "abcd"[: len(x)], "abcd"[:width])
            made.active.cell(top - 1, left, title)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention) == (10, [])
    last, wanted = book.filling.frames[-1][1], naive_attention(*[Y[:4] @ w] * 3)[1]
    _, values = values_in(read_drawn(out).sheets[0], last.place, False)
    np.testing.assert_allclose(values, wanted, rtol=1e-12)


def test_a_number_in_a_title_may_be_that_of_a_sentence(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    for n, (words, x) in enumerate(((PETS, X), (DESK, Y)), 1):
        column = 2 + 9 * (n - 1)
        sheet.block(2, column, f"Input {n}", words, DIMS, x)
        for row, title in ((10, "Scores"), (18, "Scaled"), (26, "Softmax"), (34, "Output")):
            sheet.block(row, column, f"{title} {n}", words, DIMS if title == "Output" else words)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    check(book, out, X, Y)


@pytest.mark.parametrize("how", ["tag", "name"])
def test_a_tag_or_a_name_says_what_the_model_has(how: str, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    made.active["D26"] = "no output of three columns has room beside the sums"
    steps = {"Positions": DIMS, "Embedded": DIMS, "Softmax.Sum": ("sum",), "Mask": PETS, "Masked": PETS}
    for n, (step, columns) in enumerate(steps.items(), 1):
        top, left = sheet.block(2 + 8 * n, 2, "", PETS, columns)
        if how == "tag":
            made.active.cell(top, left, f"{{{{ {step} }}}}")
        else:
            cells = f"$C${top}:${get_column_letter(left + len(columns) - 1)}${top + 4}"
            made.defined_names[step] = DefinedName(step, attr_text=f"Sheet!{cells}")
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    assert {frame.step for _, frame, _ in book.filling.frames} == {*steps}


def test_influence_is_the_size_of_each_block_of_the_jacobian(tmp_path: Path) -> None:
    """Also if no option asks for it: by central differences."""
    x, nudge = X[:3], 1e-6
    (shown,) = filled_blocks(tmp_path, [(2, 2, "Input", x), (9, 2, "Influence", (3, 3))])
    squares = np.zeros((3, 3))
    for j, k in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[j, k] = nudge
        up, down = (naive_attention(*[one] * 3)[1] for one in (x + step, x - step))
        squares[:, j] += (((up - down) / (2 * nudge)) ** 2).sum(axis=1)
    np.testing.assert_allclose(shown, np.sqrt(squares), rtol=1e-6)


def test_numbers_with_positions_are_the_input_if_no_other_is_there(tmp_path: Path) -> None:
    made = without_scaled(PETS)
    made.active["B2"] = "Embeddings + positions"
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(book, out, numbers(PETS), frames=3)


@pytest.mark.parametrize("across", [False, True])
def test_frames_at_the_edges_of_a_sheet_count_their_rows_and_columns(
    across: bool, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    AuthorSheet(made.active, across=across).block(2, 2, "Input", PETS, ("d1", "d2", "d3"), X)
    for step, end in (("Positions", "$E$3" if across else "$C$5"), ("Mask", "$E$5")):
        made.create_sheet(step[0])
        made.defined_names[step] = DefinedName(step, attr_text=f"{step[0]}!$A$1:{end}")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (15 + 25, [])
    assert not differences_ironcalc(out, 1e-12)


@pytest.mark.parametrize("title", ["Causal mask", ""])
def test_a_mask_has_a_sheet_of_its_own(title: str, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", PETS, DIMS, X)
    for name in ("Mask", "Softmax"):
        own_title = title if name == "Mask" else ""
        AuthorSheet(made.create_sheet(name)).block(2, 2, own_title, PETS, PETS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    assert {frame.step for _, frame, _ in book.filling.frames} == {"Mask", "Softmax"}


def test_a_title_says_that_there_is_a_mask_or_a_sum(tmp_path: Path) -> None:
    """The label of a column, `sum`, has no frame of its own."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Step 0: Input", PETS, DIMS, X)
    for n, title in enumerate(("Scores", "Mask", "Masked", "exp(scores)", "Softmax"), 1):
        sheet.block(2 + 8 * n, 2, f"Step {n}: {title}", PETS, PETS)
    sheet.block(34, 10, "Sum", PETS, ("sum",))
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (5 * 25 + 5, [])
    scores = X @ X.T / 3**0.5
    expected = np.exp(np.where(np.triu(np.ones((5, 5)), 1) > 0, -np.inf, scores))
    (frame,) = [frame for _, frame, _ in book.filling.frames if frame.step == "Softmax"]
    _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
    np.testing.assert_allclose(values, expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
    tables = attn_xl.read_tables({"few": X[:3]})
    assert fill_file(tmp_path / "own.xlsx", {}, tables=tables).filling.count == 5 * 9 + 3


def test_a_blank_frame_whose_title_names_no_step_is_asked_about(tmp_path: Path, capsys: Any) -> None:
    """Also below a heading, which leaves the corner of the input its title; it may say `Word`, too."""
    made = openpyxl.Workbook()
    sheet, side = made.active, openpyxl.styles.Side("thin")
    for row in (
        ["Attention by hand"],
        [],
        ["Embeddings", "food", "mood"],
        ["I", 0, 1],
        ["eat", 2, 0.5],
    ):
        sheet.append(row)
    for title, column in (("Scores", 2), ("divided by √2", 5), ("Weights", 8), ("Mixed up", 11)):
        sheet.cell(8, column, title)
        for row, beside in ((r, c) for r in (9, 10) for c in (column, column + 1)):
            sheet.cell(row, beside).border = openpyxl.styles.Border(side, side, side, side)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Scores", "Scaled", "Softmax"]
    assert book.attention == [
        "Sheet!K9:L10: is blank, and 'Mixed up' names no step. Say which: --call \"Mixed up=Output\"."
    ]
    sheet["A3"], sheet["K8"] = "Word", "Logits"
    made.save(tmp_path / "own.xlsx")
    assert fill_file(tmp_path / "own.xlsx", {}).attention == [
        "Sheet!K9:L10: is blank, and 'Logits' names Logits, which the model does not compute."
    ]
    sheet["K8"] = "Mixed up"
    made.save(tmp_path / "own.xlsx")
    named, _ = filled(tmp_path / "own.xlsx", called={"mixed up": "Output"})
    assert (named.filling.count, named.attention) == (16, [])


def test_show_and_explain_know_the_author_s_own_names(tmp_path: Path, capsys: Any) -> None:
    book = openpyxl.load_workbook(SAMPLES / "mouse.xlsx")
    names = book.create_sheet("Names")
    for row in (("My name", "Step"), ("Blend", "Output"), ("Who looks", "Attention")):
        names.append(row)
    book.save(path := tmp_path / "named.xlsx")
    main_ok(["show", str(path), "Blend"])
    assert "pets.Output = " in capsys.readouterr().out
    main_ok(["explain", str(path), "pets.Who looks[mouse, cat]"])
    assert capsys.readouterr().out.startswith("pets.Softmax[mouse, cat] = 0.207")
    main_ok(["explain", str(path), "desk.Mix[or]", "--call", "mix=Output"])
    assert capsys.readouterr().out.startswith("desk.Output[or]: ")
    book["Names"]["B2"] = "Outptu"
    book.save(path)
    assert attn_xl.read_tables(path).called == {"who looks": "Softmax"}  # it may be another table
    with pytest.raises(InputError, match=r"Names!B2: 'Outptu' is no step\. Did you mean 'Output'\?"):
        fill_file(path, {})


def main_ok(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0


@thorough
def test_refusals_name_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"out\.xlsx: give it a name that ends in \.xlsm"):
        attn_xl.fill(tmp_path / "macros.xlsm", tmp_path / "out.xlsx")
    made = openpyxl.Workbook()
    made.active["B2"] = "Scores"
    made.save(tmp_path / "empty.xlsx")
    with pytest.raises(InputError, match="has no input to start from"):
        fill_file(tmp_path / "empty.xlsx", {})
    book = openpyxl.load_workbook(two_contexts(tmp_path / "text.xlsx", []))
    for sheet_cell in ("D7", "L7"):
        book.active[sheet_cell] = "abc"
    book.save(tmp_path / "text.xlsx")
    with pytest.raises(
        InputError, match="Attention!D7 holds the text 'abc', where 'Input' needs a number"
    ):
        fill_file(tmp_path / "text.xlsx", {})
    (tmp_path / "a.csv").write_text("a,1\n")
    with pytest.raises(InputError, match=r"only \.xlsx can be filled in"):
        fill_file(tmp_path / "a.csv", {})
    main_ok(["convert", str(SAMPLES / "mouse.xlsx"), "-o", str(tmp_path / "ours.xlsx")])
    with pytest.raises(InputError, match="is a workbook that attn-xl wrote"):
        fill_file(tmp_path / "ours.xlsx", {})
    link = b'<Relationship Id="rIdS" Type="http://x/digital-signature/origin" Target="s"/>'
    end = b"</Relationships>"
    own = two_contexts(tmp_path / "own.xlsx", [])
    signed = with_part(own, "_rels/.rels", lambda xml: xml.replace(end, link + end))
    with pytest.raises(InputError, match="is signed"):
        fill_file(signed, {})
    assert list(attn_xl.read_tables(signed).sentences)  # nothing is changed there
    unplaced = with_part(
        own, "xl/worksheets/sheet1.xml", lambda xml: re.sub(rb'<c r="[A-Z]+\d+"', b"<c", xml)
    )
    with pytest.raises(InputError, match="its cells have no addresses"):
        fill_file(unplaced, {})


def with_part(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """A copy of a workbook with another content of a part."""
    changed = path.with_stem(f"{path.stem} changed")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(old.read(name)) if name == part else old.read(name))
    return changed


@thorough
@by_libreoffice
def test_libreoffice_computes_the_same(tmp_path: Path) -> None:
    paths = []
    for name, looks in (("rows", {}), ("columns", {"across": True})):
        path = two_contexts(tmp_path / f"{name}.xlsx", [], **looks)
        paths.append(filled(path)[1])
    found = differences_libreoffice(paths, 1e-12)
    assert not any(found.values()), found


def tagged(path: Path, cells: dict[str, Any], x: np.ndarray = X) -> Path:
    """An input at B3 with labels, and these cells besides."""
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", PETS, ("a", "b", "c"), x)
    for cell, value in cells.items():
        made.active[cell] = value
    return saved(made, path)


def test_a_tag_needs_room_for_its_own_sentence(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS[:2], DIMS, X[:2])
    sheet.block(2, 10, "Input", PETS, DIMS, X)
    made.active["C12"] = made.active["K12"] = "{{ Scores }}"
    made.active["C15"] = "a note"
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.place.range for _, frame, _ in book.filling.frames] == ["C12:D13", "K12:O16"]


def test_tags_decide_and_none_is_left(tmp_path: Path) -> None:
    tags = {
        "C20": "{{ Scores }}", "I20": "{{ Softmax | words across }}", "C30": "{{output}}",
        "B20": "{{ words }}", "C19": "{{ words | across }}", "I19": "{{ words | across }}",
        "C29": "{{ dimensions }}", "C18": "{{ formula | Softmax }}", "C27": "{{ formula }}",
    }  # fmt: skip
    book, out = filled(tagged(tmp_path / "own.xlsx", {**tags, "P4": "Scores"}))
    check(book, out, X, frames=3)
    sheet = openpyxl.load_workbook(out).active
    assert not [c.value for row in sheet for c in row if "{{" in str(c.value)]
    assert sheet["B21"].value == "=B5"
    assert sheet["D29"].value == "=D3"
    assert sheet["C18"].value == "Softmax = softmax(Scaled)"
    assert sheet["C27"].value == "Output = Softmax × V"
    values = openpyxl.load_workbook(out, data_only=True).active
    assert [values.cell(20 + n, 2).value for n in range(5)] == [*PETS]
    weights, _ = naive_attention(X, X, X)
    assert values["J20"].value == pytest.approx(weights[1, 0], rel=1e-12)


@pytest.mark.parametrize(
    ("tag", "why"),
    [
        ("{{ Softmx }}", r"cell C20: \{\{ Softmx \}\} names no step. Did you mean 'Softmax'"),
        ("{{ Forget }}", r"C20: \{\{ Forget \}\} has no matrix here. The model has Input, "),
        ("{{ Scores | sideways }}", r"has the option 'sideways'; give one of head N, words across"),
        ("{{ words }}", r"needs 5 cells, but C22 is filled"),
        ("{{ formula }}", r"C20: \{\{ formula \}\} needs a frame, or the name of a step"),
        ("{{ Scores }}", r"needs the cells C20:G24 \(5 x 5\), but there is a text in them"),
    ],
)
def test_a_tag_that_cannot_be_filled_is_an_error_with_its_cell(
    tag: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=why):
        fill_file(tagged(tmp_path / "own.xlsx", {"C20": tag, "C22": "a note"}), {})


def test_a_defined_name_is_a_place_and_a_table_of_own_names_is_read(tmp_path: Path) -> None:
    path = tagged(tmp_path / "own.xlsx", {
        "B12": "Look", "B22": "Blend",
        "R1": "her name", "S1": "step", "R2": "look", "S2": "attention", "R3": "Blend", "S3": "Output",
    })  # fmt: skip
    book = openpyxl.load_workbook(path)
    for name, cells in (("Scores", "$C$40:$G$44"), ("Scaled", "$C$50:$D$51")):
        book.defined_names[name] = openpyxl.workbook.defined_name.DefinedName(
            name, attr_text=f"Sheet!{cells}"
        )
    book.save(path)
    result, out = filled(path)
    check(result, out, X, frames=3)
    assert result.filling.frames[0][1].by == "the name Scores"


@alike
@pytest.mark.parametrize(
    ("label", "number", "divisor"),
    [
        ("d_k =", "=COUNT(C4:E4)", "SQRT($J$2)"),
        ("Key dims (dk)", 3, "SQRT($J$2)"),
        ("Dimension of the keys", 3, "SQRT($J$2)"),
        ("Scaling factor", "=SQRT(3)", "$J$2"),
        ("\u221ad\u2096", "=SQRT(3)", "$J$2"),
        ("sqrt(d):", "=SQRT(3)", "$J$2"),
        ("sqrt(d):", 1.732, "SQRT(COLUMNS($C$4:$E$8))"),  # rounded
        ("d_k", 64, "SQRT(COLUMNS($C$4:$E$8))"),  # not that of this sheet
        ("r / sqrt(dk)", 3, "SQRT(COLUMNS($C$4:$E$8))"),
        ("d_k =", None, "SQRT($J$2)"),
        ("\u221ad\u2096", None, "$J$2"),
    ],
)
def test_a_labelled_cell_for_the_width_of_keys_is_used(
    label: str, number: object, divisor: str, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    AuthorSheet(made.active).sentence(2, 2, PETS, X)
    made.active["I2"], made.active["J2"] = label, number
    if number is None:
        made.active["J2"].border = made.active["I2"].border = EDGE
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    shown = openpyxl.load_workbook(out).active
    assert shown["C22"].value == f"=C13/{divisor}"
    if number is None:
        width = "COLUMNS($C$4:$E$8)"
        assert shown["J2"].value == (f"={width}" if label == "d_k =" else f"=SQRT({width})")


W_2 = {f"W_{kind}_{head}": (3, 2) for head in (1, 2) for kind in "QKV"}
MODELS: dict[str, tuple[dict[str, tuple[int, int]], list[str], dict[str, Any]]] = {
    "heads by their weights": (
        {**W_2, "W_O": (4, 3)}, ["Q_1", "Scores head 1", "Softmax, head 2", "Output_2", "Output"], {},
    ),
    "heads by an option": (
        {"W_Q": (3, 4), "W_K": (3, 4), "W_V": (3, 4), "W_O": (4, 3)}, ["Scores_2", "Output"],
        {"heads": 2},
    ),
    "a mask that is not shown": ({}, ["Softmax"], {"causal": True}),
    "a sum in place of the softmax": ({}, ["Softmax", "Output"], {"normalize": "sum"}),
    "a temperature": ({}, ["Scores", "Attention"], {"temperature": 2.0}),
}  # fmt: skip


@alike
@pytest.mark.parametrize("name", MODELS)
def test_whatever_convert_computes_can_be_filled(name: str, tmp_path: Path) -> None:
    weights, frames, options = MODELS[name]
    made, sheet = openpyxl.Workbook(), None
    sheet, rng = AuthorSheet(made.active), np.random.default_rng(7)
    x = np.abs(X) + 0.1
    sheet.block(2, 2, "Input", PETS, ("a", "b", "c"), x)
    given: dict[str, Any] = {}
    for n, (weight, (rows, columns)) in enumerate(weights.items()):
        given[weight] = rng.integers(-9, 10, (rows, columns)) / 10
        labels = [f"r{i}" for i in range(rows)], [f"c{i}" for i in range(columns)]
        sheet.block(2, 12 + 8 * n, weight, *labels, given[weight])
    told = {"heads": 2} if "W_Q_2" in given else {}
    graph = attn_xl.attend(x, words=PETS, dims="a b c", weights=given or None, **options, **told)
    computation = graph["Sentence"]
    steps = [(step_called(frame, {}) or (frame, False))[0] for frame in frames]
    steps = [step if step in computation else "Weights" for step in steps]
    for n, (frame, step) in enumerate(zip(frames, steps)):
        matrix = computation[step]
        sheet.block(14 + 10 * n, 2, frame, matrix.rows, matrix.columns)
    book, out = filled(saved(made, tmp_path / "own.xlsx"), options=options)
    assert not book.attention
    assert {frame.step for _, frame, _ in book.filling.frames} == {*steps}
    drawn = read_drawn(out).sheets[0]
    for _, frame, _ in book.filling.frames:
        _, values = values_in(drawn, frame.place, False)
        np.testing.assert_allclose(values, computation[frame.step].values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("settings", "candidate", "hidden"),
    [
        ({}, "Candidate state", "Hidden state h"),
        ({}, "New state n = tanh(W x + r ⊙ (U h_{t-1}))", "h_t = (1 - z) ⊙ n + z ⊙ h_{t-1}"),
        ({"reset": "before"}, "h̃ = tanh(W x + U (r_t ⊙ h_{t-1}))", "Hidden state"),
        ({"update": "new"}, "Candidate state", "h_t = (1 − z_t) ⊙ h_{t−1} + z_t ⊙ h̃_t"),
        (
            {"reset": "before", "update": "new"},
            "ĥ = tanh(W x + (h_{t-1} * r) U)",
            "h = z ĥ + (1 - z) h_prev",
        ),
    ],
)
def test_a_gru_follows_the_equations_over_its_frames(
    settings: dict[str, Any], candidate: str, hidden: str, tmp_path: Path
) -> None:
    """Without any it is PyTorch's, which is said."""
    made, rng, k = openpyxl.Workbook(), np.random.default_rng(3), ("1", "2")
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    w = {
        name: rng.integers(-9, 10, (2 + (name[0] == "W"), 2)) / 10
        for g in "rzh"
        for name in (f"W_{g}", f"U_{g}")
    }
    for n, (name, own) in enumerate(w.items()):
        sheet.block(10 + 6 * (n % 2), 2 + 4 * n, name, DIMS if name[0] == "W" else k, k, own)
    for n, title in enumerate(("Reset gate", "Update gate", candidate, hidden)):
        sheet.block(24, 2 + 6 * n, title, PETS, k)
    state, states = np.zeros(2), []
    for x in X:
        r, z = (1 / (1 + np.exp(-x @ w[f"W_{g}"] - state @ w[f"U_{g}"])) for g in "rz")
        above = (r * state) @ w["U_h"] if "reset" in settings else r * (state @ w["U_h"])
        new = np.tanh(x @ w["W_h"] + above)
        state = z * new + (1 - z) * state if "update" in settings else (1 - z) * new + z * state
        states.append((new, state))
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    shown = shown_in(book, out)
    graph = attn_xl.attend(X, weights=w, model="gru", **settings)["Sentence"]
    for n, step in enumerate(("New", "Hidden")):
        wanted = np.array([one[n] for one in states])
        np.testing.assert_allclose(shown[step], wanted, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(graph[step].values, wanted, rtol=1e-12, atol=1e-15)
    assert (book.attention, len(shown)) == ([], 4)
    told = [
        line for line in book.notes if "as in PyTorch. If not: --model gru --set update=new" in line
    ]
    assert len(told) == (not settings)
    other = fill_file(tmp_path / "own.xlsx", {"model": "gru", "update": "new"})
    assert (other.filling.count, other.notes) == (4 * 10, [])


QUICKLY = "cross", "sentence-vector"
OF_STEPS = [
    pytest.param(path, marks=() if path.stem in QUICKLY else thorough)
    for path in sorted(SAMPLES.glob("*.xlsx"))
    if path.stem not in ("learning", "given-weights", "spread", "masks", "generate")
]


@alike
@pytest.mark.parametrize("sample", OF_STEPS, ids=lambda path: path.stem)
@pytest.mark.parametrize("look", ["named", "left", "across"])
def test_every_step_is_filled_by_its_name(sample: Path, look: str, tmp_path: Path) -> None:
    """As in the workbook of its model, which has matrices of the same shape, or without the layer, left
    of the frame; also once half of the frames are empty again."""
    options = {name.replace("-", "_"): v for name, v in attn_xl.read_tables(sample).settings.items()}
    options.pop("memory", None)  # its title tells
    graph = next(iter(attn_xl.attend(sample).values()))
    layers = {name.partition(".")[0] for name in graph if re.match("(Enc|Dec)\\d", name)}
    made = openpyxl.Workbook()
    sheet, column = AuthorSheet(made.active, across=look == "across"), 2
    nodes = [one for one in graph.items() if 1 < max(one[1].shape) <= 60 and not one[1].texts]
    nodes = [one for one in nodes if not re.search("Residual_[12]$", one[0])]  # titles of sums, too
    for name, node in nodes:
        given = node.operation is None
        alone = re.sub("^(Enc|Dec)1.", "", name) if len(layers) == 1 and not given else name
        title = alone.replace("_", " ") if "." not in alone else alone
        title = title if look == "left" and not given else name
        above = "" if look == "left" else title
        row, left = sheet.block(
            2, column, above, node.rows, node.columns, node.values if given else None
        )
        if not above:
            made.active.cell(row, left - 2, title)
        column += 4 + max(node.shape)
    asked = "columns" if sheet.across and sample.stem == "softmax" else None  # nothing else tells
    own = saved(made, tmp_path / "own.xlsx")
    for _ in ("filled", "half of it emptied, and filled again")[: 1 + (look == "named")]:
        book = fill_file(own, options, words_in=asked)
        (out := tmp_path / "out.xlsx").write_bytes(book.content)
        assert not book.attention
        shown = {frame.step: frame for _, frame, _ in book.filling.frames}
        drawn = read_drawn(out).sheets[0]
        for name, node in nodes:
            if node.operation is not None and not (name.endswith("Mask") and name not in shown):
                _, values = values_in(drawn, shown[name].place, shown[name].turned)
                np.testing.assert_allclose(values, node.values, rtol=1e-9, atol=1e-12, err_msg=name)
        emptied = {address(*c) for one in [*shown.values()][::2] for c in one.place.cells()}
        own = with_part(out, "xl/worksheets/sheet1.xml", partial(without_content, cells=emptied))


HEADINGS = {
    "": "Transformer", "Enc1.": "Encoder layer 1", "Enc2.": "Encoder layer 2", "Dec1.": "Decoder",
    "Dec1.Self.": "Masked self-attention", "Dec1.Cross.": "Cross-attention",
}  # fmt: skip


@thorough
@pytest.mark.parametrize("look", ["below each other", "side by side", "on sheets"])
@pytest.mark.parametrize(
    "sample", ["encoder", "decoder", pytest.param("encoder-decoder", marks=thorough)]
)
def test_headings_tell_the_layer_and_the_attention(sample: str, look: str, tmp_path: Path) -> None:
    given = attn_xl.read_tables(SAMPLES / f"{sample}.xlsx").settings.items()
    options = {name.replace("-", "_"): value for name, value in given if name != "memory"}
    graph = next(iter(attn_xl.attend(SAMPLES / f"{sample}.xlsx").values()))
    paths = {name: re.match(r"((Enc|Dec)\d\.)?((Self|Cross)\.)?", name)[0] for name in graph}
    made, first, row, left = openpyxl.Workbook(), 2, 2, 2
    sheet, shown = AuthorSheet(made.active), {}
    for path, heading in HEADINGS.items():
        own = [name for name in graph if paths[name] == path and "." not in name.removeprefix(path)]
        own = [name for name in own if max(graph[name].shape) > 1]
        if own and re.fullmatch(r"(Enc|Dec)\d\.", path) and look != "below each other":
            row, left = first, left + 600 * (path != "Dec1." or "Enc1." in paths.values())
        if own and look == "on sheets" and heading.startswith(("Encoder", "Decoder")):
            sheet = AuthorSheet(made.create_sheet(heading))
        elif own:
            sheet.sheet.cell(row, left, heading)
        column = left
        for name in own:
            node, title = graph[name], name.removeprefix(path).replace("Attention", "Multi-head output")
            shown[name] = node
            values = node.values if node.operation is None else None
            sheet.block(row + 2, column, title, node.rows, node.columns, values)
            column += 4 + max(node.shape)
        row += 8 + max((max(graph[name].shape) for name in own), default=0)
        first = first if path else row
    book = fill_file(saved(made, tmp_path / "own.xlsx"), options)
    (out := tmp_path / "out.xlsx").write_bytes(book.content)
    assert not book.attention
    drawn = {one.name: one for one in read_drawn(out).sheets}
    found = {frame.step: frame for _, frame, _ in book.filling.frames}
    for name in (name for name in shown if shown[name].operation is not None):
        _, values = values_in(drawn[found[name].place.sheet], found[name].place, found[name].turned)
        np.testing.assert_allclose(values, shown[name].values, rtol=1e-9, atol=1e-12, err_msg=name)
    given = [name for name in shown if name.rpartition(".")[2].startswith(("W_", "b_", "gamma"))]
    if look == "on sheets":  # on which several results might be sentences
        return
    tables = attn_xl.read_tables(out)
    for name in given:
        assert tables.weights[name].values.tolist() == shown[name].values.tolist(), name
    if sample == "encoder":
        again = next(iter(attn_xl.attend(out, **options).values()))
        np.testing.assert_allclose(again["Enc2.Norm_2"].values, graph["Enc2.Norm_2"].values, rtol=1e-12)


@pytest.mark.parametrize(
    ("words", "frame"),
    [
        ("the cat <PAD>", []),
        ("le chat dort", [["W_V", "a", "b", "c"], ["v1", 1, 0, 2], ["v2", 0, 1, 1]]),
        ("le chat dort", [["Maximum"]]),
    ],
)
def test_words_in_columns_are_told_by(words: str, frame: list[list[Any]], tmp_path: Path) -> None:
    made, own = openpyxl.Workbook(), words.split()
    sheet = AuthorSheet(made.active, across=True, labels=False)
    sheet.block(2, 2, "Scores", own, own)
    AuthorSheet(made.active, across=True).block(2, 8, "Input", own, ("a", "b", "c"), X[:3])
    for row, line in enumerate(frame, 10):
        for column, text in enumerate(line, 2):
            made.active.cell(row, column, text)
    if frame == [["Maximum"]]:
        sheet.block(10, 2, "Maximum", own, ["maximum"])
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert {group.words_in for group, _, _ in book.filling.frames} == {"columns"}


def test_labels_of_weights_are_none_of_a_sentence(tmp_path: Path) -> None:
    """Of two sentences beside each other, with weights far above both."""
    made, sheet = openpyxl.Workbook(), None
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Enc1.gamma_1", ["gamma"], ["a", "b", "c"], np.ones((1, 3)))
    for column, words in ((2, PETS), (12, PETS[::-1])):
        sheet.block(108, column, "Input", words, ["a", "b", "c"], X)
        sheet.block(118, column, "Enc1.Norm_1", words, ["a", "b", "c"])
    options = {"model": "encoder", "random_weights": 1}
    book, _ = filled(saved(made, tmp_path / "own.xlsx"), options=options)
    assert not book.attention
    assert len(book.filling.frames) == 2


def without_content(xml: bytes, cells: set[str]) -> bytes:
    def empty(found: re.Match[bytes]) -> bytes:
        style = re.search(rb' s="\d+"', found[0])
        return found[0] if found[1].decode() not in cells else b'<c r="%b"%b/>' % (
            found[1], style[0] if style else b""
        )  # fmt: skip

    return re.sub(rb'<c r="([A-Z]+\d+)"[^>]*?(?:/>|>.*?</c>)', empty, xml)


@alike
@pytest.mark.parametrize(
    ("model", "frames", "looks"),
    [
        ("softmax", ["Softmax"], {}),  # as wide as the input
        ("cnn", ["Convolved", "MaxPool", "Output"], {"titles": {"Output": "ReLU"}}),
        ("rnn", ["Hidden"], {"across": True, "labels": False}),  # W_h tells the direction
        ("gru", ["Hidden", "Update"], {}),
        ("similarity", ["Dot", "Magnitude"], {"labels": False}),  # the title is not the column's label
        ("cnn", ["Convolved", "MaxPool"], {"across": True, "titles": {"MaxPool": "Max pooling"}}),
        ("positions", ["Embedded", "Positions"], {"across": True}),
        ("norm", ["Norm", "Norm.Mean", "Norm.Variance"], {"titles": {"Norm.Mean": "average"}}),
        ("similarity", ["Angle", "Cosine", "Dot", "Magnitude"], {"titles": {"Magnitude": "Length"}}),
    ],
)
def test_frames_of_models_without_attention(
    model: str, frames: list[str], looks: dict[str, Any], tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, **looks)
    given = {"random_weights": 1} if model in ("cnn", "rnn", "gru") else {}
    (graph,) = attn_xl.attend(X, words=PETS, dims="d1 d2 d3", model=model, **given).values()
    weights = [name for name, one in graph.items() if one.role == "weight" and given]
    for n, name in enumerate(("Input", *weights, *frames)):
        values = None if name in frames else graph[name].values
        title = sheet.titles.get(name, name)
        sheet.block(2 + 9 * n, 2, title, graph[name].rows, graph[name].columns, values)
        told = "cnn", "norm", "rnn", "gru", "similarity"
    options = {} if model in told else {"model": model}  # others ask
    book, out = filled(saved(made, tmp_path / "own.xlsx"), options=options)
    assert not book.attention
    assert any("as in PyTorch" in line for line in book.report()) == (model == "gru")
    assert sorted(frame.step for _, frame, _ in book.filling.frames) == frames
    for _, frame, _ in book.filling.frames:
        _, values = values_in(read_drawn(out).sheets[0], frame.place, frame.turned)
        np.testing.assert_allclose(values, graph[frame.step].values, rtol=1e-12)


@pytest.mark.parametrize("centered", [False, True])
def test_the_sheet_of_steps_has_words_in_rows_beside_words_in_columns(
    centered: bool, tmp_path: Path
) -> None:
    """Labels such as `b` part no block whose title stands over it."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, across=True, centered=centered)
    for n, (title, table) in enumerate({"Input": X, "W_x": X[:3, :2], "W_h": X[:2, :2]}.items()):
        labels = (PETS, ("d1", "d2", "d3")) if title == "Input" else ("abc"[: len(table)], "hi")
        sheet.block(2, 2 + 9 * n, title, *labels, table)
    sheet.block(12, 2, "Hidden states", PETS, "hi")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    tables = attn_xl.read_tables(out)
    assert tables.weights["h_0"].shape == (1, 2)
    ((_, frame, _),) = book.filling.frames
    _, values = values_in(read_drawn(out).sheets[0], frame.place, frame.turned)
    graph = attn_xl.attend(tables, model="rnn")["Sheet"]
    np.testing.assert_allclose(values, graph["Hidden"].values, rtol=1e-12)


@alike
@pytest.mark.parametrize(
    ("model", "shapes", "frames"),
    [
        (
            "encoder",
            {**{f"W_{kind}": (3, 3) for kind in "QKVO"}, "W_1": (3, 4), "W_2": (4, 3)},
            {"Q": "Q_1", "Attention": "Softmax_1", "Add": "Sum_1", "Layer norm": "Norm_1",
             "ReLU": "Activated", "Feed forward": "FeedForward", "Residual": "Sum_2",
             "Encoder output": "Norm_2"},
        ),
        (  # one head may do without W_O
            "encoder",
            {"W_Q": (3, 4), "W_K": (3, 4), "W_V": (3, 3), "W_1": (3, 4), "W_2": (4, 3)},
            {"Norm 1": "Norm_1", "Positional encoding": "Positions", "X + PE": "Embedded",
             "QKᵀ": "Scores_1", "Attention output": "Output_1", "Residual (Add)": "Sum_1",
             "FFN hidden (ReLU)": "Activated", "Add & Norm 2": "Norm_2"},
        ),
        (  # an encoder would need more
            "feed-forward",
            {"W_1": (3, 4), "W_2": (4, 3)},
            {"X W1": "Hidden", "ReLU": "Activated", "Output": "FeedForward"},
        ),
        ("rnn", {"W_h": (3, 2), "U_h": (2, 2)}, {"Hidden states h_t": "Hidden"}),
        ("rnn", {"W_h": (3, 2), "U_h": (2, 2), "b_h": (1, 2)}, {"Hidden states": "Hidden"}),
        (
            "lstm",
            {f"{kind}_{gate}": (3 if kind == "W" else 2, 2) for gate in "ifoc" for kind in "WU"},
            {"Input gate": "InputGate", "Forget gate": "Forget", "Cell state": "Cell"},
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("remark", ["", " (random)", " [learned]"])
def test_weights_tell_the_model_and_titles_need_no_layer(
    remark: str, model: str, shapes: dict[str, tuple[int, int]], frames: dict[str, str], tmp_path: Path
) -> None:
    made, rng = openpyxl.Workbook(), np.random.default_rng(3)
    sheet, given = AuthorSheet(made.active), dict[str, Any]()
    sheet.block(2, 2, "Input", PETS, ("a", "b", "c"), X)
    for n, (name, (rows, columns)) in enumerate(shapes.items()):
        given[name] = rng.integers(-9, 10, (rows, columns)) / 10
        title = re.sub("U_(?=.$)", "W_h", re.sub("W_(?=[ifoc]$)", "W_x", name))  # as in textbooks
        title = {"W_h": "W_x", "U_h": "W_h", "b_h": "b"}.get(name, title) if "b_h" in shapes else title
        sheet.block(2, 12 + 8 * n, title + remark, "rstu"[:rows], "sabc"[:columns], given[name])
    waves = {"positions": "sinusoidal"} if "X + PE" in frames else {}
    graph = attn_xl.attend(X, words=PETS, dims="a b c", weights=given, model=model, **waves)["Sentence"]
    frames = {t: step if step in graph else f"Enc1.{step}" for t, step in frames.items()}
    for n, (title, step) in enumerate(frames.items()):
        matrix = graph[step]
        sheet.block(14 + 10 * n, 2, title, matrix.rows, matrix.columns)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert attn_xl.read_tables(tmp_path / "own.xlsx").weights.keys() == given.keys()
    assert not book.attention
    found = [frame for _, frame, _ in book.filling.frames]
    steps = {frame.by.split("'")[1]: frame.step for frame in found}
    assert steps == frames
    for sheet in openpyxl.load_workbook(out).worksheets[1:]:  # her weights are not copied there
        assert not {str(cell.value).rpartition(": ")[2] for cell in sheet["A"]} & given.keys()
    again = fill_file(out, {})  # the encoder's output, which it computes, is none to look at
    assert (again.content, again.attention) == (out.read_bytes(), [])
    for frame in found:
        _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
        np.testing.assert_allclose(values, graph[frame.step].values, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("left", "right", "across"), [([], [], False), (STEPS, ["Scores"], False), ([], [], True)]
)
def test_convert_loses_no_sentence_of_such_a_sheet(
    left: list[str], right: list[str], across: bool, tmp_path: Path
) -> None:
    """Nor takes dimensions for words where the frames tell."""
    tables = attn_xl.read_tables(two_contexts(tmp_path / "own.xlsx", left, right, across=across))
    assert [table.rows for table in tables.sentences.values()] == [PETS, DESK]


def test_convert_takes_an_input_in_columns_whose_formulas_err(tmp_path: Path) -> None:
    """It is titled, and has the dimensions of another one, whose attention they compute."""
    (tmp_path / "own.xlsx").write_bytes(
        fill_file(two_contexts(tmp_path / "own.xlsx", [], across=True), {}).content
    )
    made = openpyxl.load_workbook(tmp_path / "own.xlsx")
    softmax = next(c for row in made.active.iter_rows() for c in row if "EXP(K" in str(c.value))
    softmax.value = 0.5
    tables = attn_xl.read_tables(saved(made, tmp_path / "own.xlsx"))
    assert [one.values.tolist() for one in tables.sentences.values()] == [X.tolist(), Y.tolist()]


def test_inspect_lists_the_frames_without_writing(tmp_path: Path, capsys: Any) -> None:
    main_ok(["inspect", str(two_contexts(tmp_path / "own.xlsx", ["Scores"]))])
    out = capsys.readouterr().out
    assert "Frames that attn-xl fill completes:" in out
    assert "Attention!C24:G28  Scaled   25 blank   the title 'Scaled = Scores / sqrt(d)' and its" in out
    assert not [path for path in tmp_path.iterdir() if "filled" in path.name]


def test_one_array_formula_for_a_matrix_is_written_where_the_author_has_one(tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", [])
    book = openpyxl.load_workbook(path)
    sheet, array = book.active, openpyxl.worksheet.formula.ArrayFormula
    x = numbers(PETS)
    for (i, j), value in np.ndenumerate(x @ x.T):
        sheet.cell(15 + i, 3 + j, value)
    sheet["C15"] = array("C15:G19", "=MMULT(C6:E10,TRANSPOSE(C6:E10))")
    sheet["U5"] = "Half"
    for row in range(6, 11):
        sheet.cell(row, 21, 0)
    sheet["U6"] = array("U6:U10", "=MMULT(C33:G37,C6:C10)/2")  # reads cells that are filled in
    book.save(path)
    result = fill_file(store_values(path), {})
    (tmp_path / "out.xlsx").write_bytes(result.content)
    verify(tmp_path / "out.xlsx")
    assert not result.attention
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert (sheet["K15"].value.ref, sheet["K15"].value.text) == (
        "K15:O19", "=MMULT($K$6:$M$10,TRANSPOSE($K$6:$M$10))",
    )  # fmt: skip
    shown = openpyxl.load_workbook(tmp_path / "out.xlsx", data_only=True).active
    _, output = naive_attention(x, x, x)
    half = [cell.value for (cell,) in shown["U6:U10"]]
    np.testing.assert_allclose(half, output[:, 0] / 2, rtol=1e-12)


@pytest.mark.parametrize("across", [False, True])
def test_products_are_written_as_the_author_writes_them(across: bool, tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", [], across=across)
    book = openpyxl.load_workbook(path)
    sheet, array = book.active, openpyxl.worksheet.formula.ArrayFormula
    scores, output = ("C13", "C40") if across else ("C15", "C42")
    x, y = ("TRANSPOSE(C6:C8),C6:C8", "C6:G6,C31:C35") if across else (
        "C6:E6,TRANSPOSE(C6:E6)", "C33:G33,C6:C10")  # fmt: skip
    sheet[scores] = array(scores, f"=MMULT({x})")
    sheet[output] = f"=MMULT({y})"
    book.save(path)
    result = fill_file(path, {})
    cells = result.filling.cells["Attention"]
    ours = [
        cells[row][column] for row, column in ([(13, 4), (40, 4)] if across else [(15, 4), (42, 4)])
    ]
    assert [(one.formula.partition("(")[0], one.array) for one in ours] == [
        ("MMULT", ArraySize()),
        ("MMULT", None),
    ]
    (tmp_path / "out.xlsx").write_bytes(result.content)
    engine = IronCalc(tmp_path / "out.xlsx")
    for row, column, one in ((row, *cell) for row, line in cells.items() for cell in line.items()):
        assert engine.value("Attention", row, column) == pytest.approx(one.value, rel=1e-12)
    assert as_she_writes("SUM(MMULT($C33:$G33,C$6:C$10))", frozenset({"SUMPRODUCT"})) == (
        "SUMPRODUCT($C33:$G33,TRANSPOSE(C$6:C$10))", ArraySize()
    )  # fmt: skip


@pytest.mark.parametrize("aside", [False, True])
def test_a_frame_may_be_an_outline(aside: bool, tmp_path: Path) -> None:
    """Below an arrow, or beside its title; that of a title that names no step is asked about."""
    made, thin = openpyxl.Workbook(), Side("thin")
    sheet, n = made.active, len(PETS)
    AuthorSheet(sheet).block(1, 1, "Input", PETS, ("d1", "d2", "d3"), X)
    for row, title in ((10, "Probabilities"), (20, "Mystery")):
        sheet.cell(row + 2 * aside, 1, title)
        sheet.cell(row + 1, 2, "↓")
        for i, j in np.ndindex(n, n):
            lines = {"left": j == 0, "right": j == n - 1, "top": i == 0, "bottom": i == n - 1}
            edges = {side: thin for side, there in lines.items() if there}
            sheet.cell(row + 2 + i, 2 + aside + j).border = Border(**edges)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    place = "C12:G16" if aside else "B12:F16"
    assert [(f.step, f.place.range) for _, f, _ in book.filling.frames] == [("Softmax", place)]
    (said,) = book.attention
    assert said.startswith(
        f"Sheet!{place.replace('12', '22').replace('16', '26')}: is blank, and 'Mystery'"
    )


def test_the_vector_of_a_sentence_is_filled_in(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet, w = AuthorSheet(made.active), numbers(DIMS, 2)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(2, 12, "W_C", DIMS, ("good", "bad"), w)
    sheet.block(12, 2, "Output", PETS, DIMS)
    sheet.block(22, 2, "Pooled", ["all"], DIMS)
    sheet.block(30, 2, "Logits", ["all"], ("good", "bad"))
    book, out = filled(saved(made, tmp_path / "own.xlsx"), options={"model": "classify"})
    pooled = naive_attention(X, X, X)[1].mean(axis=0)
    values = read_drawn(out).sheets[0].values
    assert [values[24, 3 + j] for j in range(3)] == pytest.approx(pooled)
    assert [values[32, 3 + j] for j in range(2)] == pytest.approx(pooled @ w)
    assert not book.attention


def test_a_sentence_that_begins_like_another_is_not_looked_at_by_it(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for name, words in (("long", PETS), ("short", PETS[:2])):
        sheet = AuthorSheet(made.create_sheet(name))
        sheet.sentence(2, 2, words, numbers(words))
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert [group.name for group, _, _ in book.filling.frames] == ["long"] * 4 + ["short"] * 4
    assert not book.attention


@pytest.mark.parametrize("same_words", [True, False])
def test_frames_on_a_sheet_of_their_own_belong_to_the_sentence_of_their_labels(
    same_words: bool, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    for words, name in ((PETS, "one"), (PETS if same_words else DESK, "two")):
        AuthorSheet(made.create_sheet(name)).block(2, 2, "Input", words, ("a", "b", "c"), X)
    AuthorSheet(made.create_sheet("Steps of two")).block(2, 2, "Scores", PETS if same_words else DESK,
                                                         PETS if same_words else DESK)  # fmt: skip
    result = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    if same_words:
        assert "'Steps of two'!B2: 'Scores' may belong to one or two. Move it" in result.attention[0]
        assert not result.filling.frames
    else:
        ((group, _, count),) = result.filling.frames
        assert (group.name, count) == ("two", 25)


@alike
@pytest.mark.parametrize("words", [(PETS[:3], DESK[:4]), (PETS, PETS)])
@pytest.mark.parametrize("looks", [{}, {"borders": False, "across": True}])
@pytest.mark.parametrize("title", ["The sentence: {}", "{}", ""])
def test_sentences_side_by_side_on_sheets_that_are_named_as_steps(
    words: tuple[tuple[str, ...], ...], looks: dict[str, bool], title: str, tmp_path: Path
) -> None:
    """The frames of the first do not say that the words of the second are in its columns."""
    made, inputs = openpyxl.Workbook(), [x[: len(own)] for own, x in zip(words, (X, Y))]
    for name in ("Input", "Softmax", "Output"):
        for n, (own, x) in enumerate(zip(words, inputs)):
            sheet = AuthorSheet(made[name] if n else made.create_sheet(name), **looks)
            shape, given = own if name == "Softmax" else "xyz", x if name == "Input" else None
            sheet.block(2, 2 + 9 * n, title.format(" ".join(own)), own, shape, given)
        made[name]["B20"], made[name]["C20"] = "Who", "Ann"  # no weights of an output gate
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(book, out, *inputs, frames=2)


@thorough
def test_sentences_have_titles_on_sheets_that_are_named_as_steps(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for name in ("Input", "Scores", "Softmax", "Output"):
        sheet = AuthorSheet(made.create_sheet(name))
        for n, x in enumerate((X, Y)):  # of the same words
            shape = PETS if name in ("Scores", "Softmax") else DIMS
            sheet.block(2 + 9 * n, 2, f"Sentence {n + 1}", PETS, shape, x if name == "Input" else None)
    path = saved(made, tmp_path / "own.xlsx")
    book, out = filled(path)
    check(book, out, X, Y, frames=3)
    assert fill_file(path, {}, tables=attn_xl.read_tables({"few": X[:3]})).filling.count == 27


@thorough
@alike
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("own_sheets", [False, True])
@pytest.mark.parametrize("queries", [PETS[:3], DESK[:2]])
def test_queries_keys_and_values_may_be_given(
    queries: tuple[str, ...], own_sheets: bool, across: bool, tmp_path: Path
) -> None:
    made, rng = openpyxl.Workbook(), np.random.default_rng(4)
    keys, dims, out_dims = PETS[:3], ("d1", "d2", "d3", "d4"), ("v1", "v2")
    q, k, v = (rng.normal(size=size).round(1) for size in ((len(queries), 4), (3, 4), (3, 2)))
    blocks = (
        ("Q", queries, dims, q), ("K", keys, dims, k), ("V", keys, out_dims, v),
        ("Scores", queries, keys, None), ("Attention weights", queries, keys, None),
        ("Output", queries, out_dims, None),
    )  # fmt: skip
    for n, (name, rows, columns, given) in enumerate(blocks):
        sheet = made.create_sheet(name) if own_sheets else made.active
        drawn = AuthorSheet(sheet, across=across)
        drawn.block(2 + 9 * n * (not own_sheets), 2, "" if own_sheets else name, rows, columns, given)
    path = saved(made, tmp_path / "own.xlsx")
    book, out = filled(path)
    assert not book.attention
    wanted = dict(zip(("Softmax", "Output"), naive_attention(q, k, v)))
    sheets = {sheet.name: sheet for sheet in read_drawn(out).sheets}
    frames = [frame for _, frame, _ in book.filling.frames]
    assert [frame.step for frame in frames] == ["Q", "K", "V", "Scores", "Softmax", "Output"]
    for frame in frames[-2:]:
        _, values = values_in(sheets[frame.place.sheet], frame.place, frame.turned)
        np.testing.assert_allclose(values, wanted[frame.step], rtol=1e-12)
    read = attn_xl.attend(out)["Queries"]["Output"].values  # by convert, whatever the sheets are called
    np.testing.assert_allclose(read, wanted["Output"], rtol=1e-12)
    scores = sheets[frames[3].place.sheet].formulas.values()
    assert not any("Steps" in formula.text for formula in scores)
    with pytest.raises(InputError, match="no input is given, which other words could replace"):
        fill_file(path, {}, tables=attn_xl.read_tables({"few": X[:3]}))


def test_scores_tell_that_words_of_given_queries_are_in_columns(tmp_path: Path) -> None:
    """The equal weights of a query of zeros fit any keys."""
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active, across=True)
    q, k, v = X[:3, :2] * [[0], [1], [1]], X[1:4, :2], X[2:5, :2]
    for n, (name, values) in enumerate((("Q", q), ("K", k), ("V", v))):
        sheet.block(2, 2 + 6 * n, name, words, [None] * 2, values)
    for n, step in enumerate(("Scores", "Softmax", "Output")):
        sheet.block(9 + 7 * n, 2, step, words, words if n < 2 else [None] * 2)
    _, out = filled(path := saved(made, tmp_path / "own.xlsx"))
    for file in (path, out):
        output = attn_xl.attend(file)["Queries"]["Output"]
        assert output.rows == words
        np.testing.assert_allclose(output.values, naive_attention(q, k, v)[1], rtol=1e-12)


@alike
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("words", [PETS[:3], DESK[:2]])
@pytest.mark.parametrize("values", [False, True])
def test_scores_may_be_given(
    values: bool, words: tuple[str, ...], across: bool, tmp_path: Path
) -> None:
    """Without values for a softmax alone; nothing is scaled."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(4)
    sheet, dims = AuthorSheet(made.active, across=across and values), ("v1", "v2")
    scores, v = rng.normal(size=(len(words), 3)).round(1), rng.normal(size=(3, 2)).round(1)
    sheet.block(2, 2, "Scaled scores" if across else "Scores", words, PETS[:3], scores)
    sheet.block(11, 2, "Softmax", words, PETS[:3])
    if values:
        sheet.block(20, 2, "V", PETS[:3], dims, v)
        sheet.block(29, 2, "Output", words, dims)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.attention, book.filling.steps) == ([], None)
    wanted = {"Softmax": np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)}
    wanted["Output"] = wanted["Softmax"] @ v
    frames = [frame for _, frame, _ in book.filling.frames if frame.step in wanted]
    assert len(frames) == 1 + values
    for frame in frames:
        _, found = values_in(read_drawn(out).sheets[0], frame.place, frame.turned)
        np.testing.assert_allclose(found, wanted[frame.step], rtol=1e-12)


@pytest.mark.parametrize("n", [2, 4])
def test_given_scores_and_values_are_for_as_many_words(n: int, tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Scores", words, words, X[:3])
    sheet.block(11, 2, "V", PETS[:n], ("v1", "v2"), X[:n, :2])
    sheet.block(20, 2, "Softmax", words, words)
    with pytest.raises(InputError, match=rf"the scores in C4:E6 are 3 x 3, .* are {n} x 2\. Give"):
        fill_file(saved(made, tmp_path / "own.xlsx"), {})


def test_queries_keys_and_values_may_be_given_for_each_sentence(tmp_path: Path) -> None:
    made, rng = openpyxl.Workbook(), np.random.default_rng(4)
    sheet, given = AuthorSheet(made.active), rng.normal(size=(2, 3, 5, 2)).round(1)
    for n, matrices in enumerate(given):
        for m, (name, own) in enumerate(zip("QKV", matrices)):
            sheet.block(2 + 9 * m, 2 + 10 * n, name, PETS, "ab", own)
        sheet.block(29, 2 + 10 * n, "Output", PETS, "ab")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (20, [])
    outputs = [frame for _, frame, _ in book.filling.frames if frame.step == "Output"]
    for frame, matrices in zip(outputs, given):
        _, found = values_in(read_drawn(out).sheets[0], frame.place, False)
        np.testing.assert_allclose(found, naive_attention(*matrices)[1], rtol=1e-12)


def test_an_input_without_numbers_is_named(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "X", PETS, DIMS)
    with pytest.raises(InputError, match="'X' has no numbers"):
        fill_file(saved(made, tmp_path / "own.xlsx"), {})


def test_an_input_beside_queries_keys_and_values_is_not_read(tmp_path: Path) -> None:
    """Nor is anything filled in beyond their columns."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(4)
    sheet, given = AuthorSheet(made.active), rng.normal(size=(3, 5, 2)).round(1)
    sheet.block(2, 2, "X", PETS, DIMS, X)
    for n, (name, own) in enumerate(zip("QKV", given)):
        sheet.block(2, 10 + 6 * n, name, PETS, "ab", own)
    sheet.block(12, 2, "Output", PETS, "ab")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (10, [])
    _, found = values_in(read_drawn(out).sheets[0], book.filling.frames[-1][1].place, False)
    np.testing.assert_allclose(found, naive_attention(*given)[1], rtol=1e-12)


def test_an_input_without_a_title_may_stand_beside_that_of_scores(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(1, 2, "", PETS, DIMS, X)
    sheet.block(1, 8, "Scores", PETS, PETS)
    sheet.block(11, 2, "Output", PETS, DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (25 + 15, [])
    check(book, out, X, frames=2)


def test_links_to_other_workbooks_are_kept_and_said(tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", [])
    with zipfile.ZipFile(path, "a") as package:
        package.writestr("xl/externalLinks/externalLink1.xml", "<externalLink/>")
    book = fill_file(path, {})
    assert book.report()[0] == "Its links to other workbooks were kept; nothing was read there."
    assert "externalLink1" in str(zipfile.ZipFile(io.BytesIO(book.content)).namelist())


def test_show_knows_the_names_that_authors_use(capsys: Any) -> None:
    main_ok(["show", str(SAMPLES / "mouse.xlsx"), "pets.Attention", "Z"])
    out = capsys.readouterr().out
    assert "pets.Softmax = softmax(" in out
    assert "desk.Output = Softmax" in out


def test_a_second_frame_of_a_matrix_refers_to_the_first(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Attention", PETS, PETS)
    sheet.block(2, 10, "X", PETS, ("a", "b", "c"))
    sheet.block(12, 2, "Input", PETS, ("a", "b", "c"), X)
    sheet.block(22, 2, "Output", PETS, ("a", "b", "c"))
    sheet.block(22, 10, "Z", PETS, ("a", "b", "c"))
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(book, out, X, frames=4)
    cells = book.filling.cells["Sheet"]
    assert [at_row(cells[row][column].formula, row) for row, column in [(4, 11), (24, 12)]] == [
        "C14",
        "D24",
    ]
    assert at_row(cells[24][3].formula, 24) == "SUM(MMULT($C4:$G4,C$14:C$18))"


def test_in_python(tmp_path: Path) -> None:
    path, out = two_contexts(tmp_path / "own.xlsx", []), tmp_path / "out.xlsx"
    assert repr(attn_xl.fill(path, out)) == "<180 cells filled in 8 of 8 frames>"
    with pytest.raises(attn_xl.CallError, match="Pass overwrite=True"):
        attn_xl.fill(path, out)
    with pytest.raises(attn_xl.CallError, match="is the input"):
        attn_xl.fill(path, path, overwrite=True)
    made = attn_xl.fill(path, out, {"one": X[:3], "two": Y[:4]}, overwrite=True, scale=False)
    assert made.filling.count == 2 * (9 + 16) + 3 * 7  # nothing is scaled
    assert "names Scaled, which the model does not compute" in made.attention[0]


def test_what_stands_in_a_corner_is_a_title_only_if_there_is_no_other(tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores"])
    book = openpyxl.load_workbook(path)
    for cell in ("B14", "J14", "B23", "B32", "B41"):
        book.active[cell] = "words"
    book.active["B4"], book.active["B5"] = None, "Input"
    check(*filled(saved(book, path)), X, Y)


def test_the_spellings_on_the_page_are_those_of_their_steps() -> None:
    page = (ROOT / "docs" / "own-sheet.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`(?:, `(\w+)`, `(\w+)`)? \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 5
    for *names, spellings in rows:
        for spelling in re.findall(r"`([^`]+)`", spellings):
            assert (step_called(spelling, {}) or ("",))[0] in names, spelling


@pytest.mark.parametrize("last", ["Norm", "Final output", "Output"])
def test_of_equal_titles_the_first_is_that_where_the_steps_follow_each_other(
    last: str, tmp_path: Path
) -> None:
    """Down one column, then down the next, whose `Norm` stands further up."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(6)
    sheet, weights = AuthorSheet(made.active), {}
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for n, (name, shape) in enumerate(
        (dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (3, 3)) | {"W_1": (3, 4), "W_2": (4, 3)}).items()
    ):
        weights[name] = rng.integers(-9, 10, shape) / 10
        sheet.block(2, 12 + 8 * n, name, *("abcd"[:k] for k in shape), weights[name])
    columns = (
        ("Scores", "Attention weights", "Output", "Output projection", "Norm"),
        ("Hidden", "Feed forward", last),
    )
    for n, titles in enumerate(columns):
        for m, title in enumerate(titles):
            wide = PETS if n == 0 and m < 2 else "abcd"[: 4 if title == "Hidden" else 3]
            sheet.block(12 + 9 * m, 2 + 12 * n, title, PETS, wide)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    found = {frame.step: frame.place.column for _, frame, _ in book.filling.frames}
    around = ("Output_1", "Attention", "Norm_1", "Norm_2")
    assert [found.get(f"Enc1.{step}") for step in around] == [3, 3, 3, 15]


def test_titles_tell_the_number_of_heads_and_the_model(tmp_path: Path) -> None:
    made, rng = openpyxl.Workbook(), np.random.default_rng(6)
    sheet, weights = AuthorSheet(made.active), {}
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for n, name in enumerate(("W_Q", "W_K", "W_V")):
        weights[name] = rng.integers(-9, 10, (3, 4)) / 10
        sheet.block(2, 12 + 8 * n, name, DIMS, "abcd", weights[name])
    titles = ("Head 1: Scores", "Scores of head 2", "Concatenated heads", "Q (all heads)")
    for n, title in enumerate(titles):
        sheet.block(12, 2 + 10 * n, title, PETS, "abcd" if n > 1 else PETS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (2 * 25 + 2 * 20, [])
    graph = attn_xl.attend(X, words=PETS, weights=weights, heads=2)["Sentence"]
    for _, frame, _ in book.filling.frames:
        _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
        step = "Output" if frame.step == "Concat" else frame.step
        wanted = X @ weights["W_Q"] if step == "Q" else graph[step].values
        np.testing.assert_allclose(values, wanted, rtol=1e-12)
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Vectors", PETS, DIMS, X)
    for n, title in enumerate(("Dot product", "Cosine similarity", "Logits", "Probabilities")):
        AuthorSheet(made.active).block(12, 2 + 10 * n, title, PETS, PETS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Dot", "Cosine"]
    assert all("which the model does not compute" in line for line in book.attention)
    AuthorSheet(made.active).block(22, 2, "Attention weights", PETS, PETS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Scores", "Softmax"]


@pytest.mark.parametrize(
    "title", ["Encoder output", "Memory", "Encoder hidden states", "Source (English)"]
)
def test_a_title_says_that_one_sentence_looks_at_another(title: str, tmp_path: Path) -> None:
    made, y = openpyxl.Workbook(), np.arange(9).reshape(3, 3) / 4
    sheet = AuthorSheet(made.active, labels=False)
    sheet.block(2, 2, title, PETS, DIMS, X)
    sheet.block(2, 12, "Target" if "Source" in title else "Decoder states", "abc", DIMS, y)
    sheet.block(12, 2, "Output", "abc", DIMS)
    sheet.block(12, 12, "Self-attention output", "abc", DIMS)  # of a decoder
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    ((_, frame, _),) = book.filling.frames
    assert "'Self-attention output' names Output, which has another place" in book.attention[0]
    _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
    np.testing.assert_allclose(values, naive_attention(y, X, X)[1], rtol=1e-12)


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("title", ["Encoder output", "Source (English)"])
def test_convert_reads_the_same_title(title: str, across: bool, tmp_path: Path) -> None:
    """The keys of the one have other dimensions than the queries of the other."""
    made, rng, dims = openpyxl.Workbook(), np.random.default_rng(4), ("d1", "d2", "d3")
    fish, y = ("le", "chat", "dort", "bien"), rng.integers(-9, 10, (4, 6)) / 10
    sheet, wide = AuthorSheet(made.active, across=across), (*dims, "d4", "d5", "d6")
    sheet.block(2, 2, title, PETS, dims, X)
    sheet.block(2, 12, "Target" if "Source" in title else "Decoder states", fish, wide, y)
    sheet.labels = False
    weights = [rng.integers(-9, 10, (size, 5)) / 10 for size in (6, 3, 3)]
    for n, (name, rows) in enumerate(zip(("W_Q", "W_K", "W_V"), (wide, dims, dims))):
        sheet.block(14, 2 + 10 * n, name, rows, "abcde", weights[n])
    tables = attn_xl.read_tables(saved(made, tmp_path / "own.xlsx"))
    (graph,) = attn_xl.attend(tables).values()
    wanted = naive_attention(y @ weights[0], X @ weights[1], X @ weights[2])[1]
    np.testing.assert_allclose(graph["Output"].values, wanted, rtol=1e-12)
    assert any("the other sentence looks at it, if" in one for one in tables.remarks)
    asked = [f"Sheet!{one}" for one in (("B3:G6", "L3:P9") if across else ("B3:E8", "L3:R7"))]
    assert "memory" not in attn_xl.read_tables(tmp_path / "own.xlsx", range=asked).settings


@alike
@pytest.mark.parametrize("across", [False, True])
def test_labels_say_that_one_sentence_looks_at_another(across: bool, tmp_path: Path) -> None:
    """Also twice beside each other, with the same words."""
    made, y = openpyxl.Workbook(), np.arange(9).reshape(3, 3) / 4
    sheet, fish = AuthorSheet(made.active, across=across), ("le", "chat", "dort")
    for x, column in ((X, 2), (X + 1, 32)):
        sheet.block(2, column, "Encoder output", PETS, DIMS, x)
        sheet.block(2, column + 10, "Decoder states", fish, DIMS, y)
        for n, (title, columns) in enumerate({"Scores": PETS, "Weights": PETS, "Output": DIMS}.items()):
            sheet.block(12 + 10 * n, column, title, fish, columns)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (2 * (15 + 15 + 9), [])
    frames = [frame for _, frame, _ in book.filling.frames if frame.step == "Output"]
    for frame, x in zip(frames, (X, X + 1)):
        _, expected = naive_attention(y, x, x)
        _, values = values_in(read_drawn(out).sheets[0], frame.place, across)
        np.testing.assert_allclose(values, expected, rtol=1e-12)
    with pytest.raises(InputError, match="which other words cannot replace"):
        fill_file(tmp_path / "own.xlsx", {}, tables=attn_xl.read_tables({"few": y}))


@alike
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("title", ["", "Decoder states"])
def test_borders_say_that_one_sentence_looks_at_another(
    title: str, across: bool, tmp_path: Path
) -> None:
    """Its keys may have other dimensions; the filled sheet is read in the same way."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(6)
    fish, dims = ("le", "chat", "dort", "bien"), ("d1", "d2", "d3")
    wide = dims if title else (*dims, "d4", "d5", "d6")
    y, out_dims = rng.integers(-9, 10, (4, len(wide))) / 10, ("1", "2")
    sheet = AuthorSheet(made.active, across=across)
    sheet.block(2, 2, "", PETS, dims, X)
    sheet.block(2, 12, title, fish, wide, y)
    sheet.labels = False
    weights = [rng.integers(-9, 10, (size, 2)) / 10 for size in (len(wide), 3, 3)]
    for n, (name, rows) in enumerate(zip(("W_Q", "W_K", "W_V"), (wide, dims, dims))):
        sheet.block(12, 2 + 10 * n, name, rows, out_dims, weights[n])
    for n, (name, columns) in enumerate({"Scores": PETS, "Weights": PETS, "Output": out_dims}.items()):
        sheet.block(22, 2 + 10 * n, name, fish, columns)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (2 * 20 + 8, [])
    output = book.filling.frames[-1][1]
    wanted = naive_attention(y @ weights[0], X @ weights[1], X @ weights[2])[1]
    _, values = values_in(read_drawn(out).sheets[0], output.place, across)
    np.testing.assert_allclose(values, wanted, rtol=1e-12)
    (graph,) = attn_xl.attend(out).values()
    np.testing.assert_allclose(graph["Output"].values, wanted, rtol=1e-12)


@pytest.mark.parametrize("across", [False, True])
def test_no_frame_is_filled_beyond_its_words(across: bool, tmp_path: Path) -> None:
    made, fish = openpyxl.Workbook(), ("le", "chat", "dort")
    sheet = AuthorSheet(made.active, across=across)
    sheet.block(2, 2, "Source", PETS, DIMS, X)
    sheet.block(2, 12, "Target", fish, DIMS, X[:3] / 2)
    sheet.block(12, 2, "Scores", fish, fish)  # of another attention
    sheet.block(22, 2, "Output", fish, DIMS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, len(book.attention)) == (9, 1)


def test_columns_labelled_as_dimensions_say_that_words_are_in_rows(tmp_path: Path) -> None:
    """Without borders, the blank cells below fit words in columns as well."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(4)
    sheet, dims = AuthorSheet(made.active, borders=False), ("d1", "d2", "d3", "d4")
    x, y = rng.normal(size=(4, 4)).round(1), rng.normal(size=(3, 4)).round(1)
    words = ("le", "chat", "dort")
    sheet.block(2, 2, "Encoder output", PETS[:4], dims, x)
    sheet.block(2, 9, "Decoder input", words, dims, y)
    for n, title in enumerate(("Scores", "Scaled scores", "Attention weights", "Context vectors")):
        sheet.block(11 + 8 * n, 2, title, words, dims if n == 3 else PETS[:4])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (4 * 12, [])
    _, found = values_in(read_drawn(out).sheets[0], book.filling.frames[-1][1].place, False)
    np.testing.assert_allclose(found, naive_attention(y, x, x)[1], rtol=1e-12)


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("answers", ["one-hot", "to fill in", "words", "last", "some", "none"])
def test_a_language_model_is_compared_with_the_words_that_come_next(
    answers: str, across: bool, tmp_path: Path
) -> None:
    made, words, x, w = openpyxl.Workbook(), PETS[:4], X[:4], numbers("abc", 5, seed=2) - 1
    sheet, known = AuthorSheet(made.active, across=across), (*words, "end")
    sheet.block(2, 2, "Input", words, DIMS, x)
    sheet.block(2, 12, "Unembedding", DIMS, known, w)  # as wide as words, where they are in rows
    sheet.block(2, 32, "Output", words, DIMS)
    sheet.block(12, 2, "Probabilities", words, known)
    if answers in ("one-hot", "to fill in"):
        target = np.eye(5)[1:] if answers == "one-hot" else None
        sheet.block(22, 2, "Ground truth (one-hot)", words, known, target)
    texts = {"last": known[-1:], "some": known[1:-1], "to fill in": known[1:], "words": known[1:]}
    for n, text in enumerate(("Next word", *texts.get(answers, ()))):
        made.active.cell(*((2, 22 + n) if across else (2 + n, 22)), text)
    compared = 3 if answers in ("some", "none") else 4  # with the words of the sentence itself
    losses = sheet.block(32, 2, "Loss per word", words[:compared], ["loss"])
    mean = sheet.block(42, 2, "Mean cross-entropy", ["mean"], ["loss"])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    looked = [naive_attention(x[i : i + 1], x[: i + 1], x[: i + 1])[1][0] for i in range(4)]
    powers = np.exp(np.array(looked) @ w)
    expected = -np.log((powers / powers.sum(axis=1, keepdims=True))[range(4), range(1, 5)])
    expected = expected[:compared]
    drawn = read_drawn(out).sheets[0]
    place = Place("Sheet", *losses, *((1, len(expected)) if across else (len(expected), 1)))
    np.testing.assert_allclose([drawn.values[cell] for cell in place.cells()], expected, rtol=1e-12)
    assert drawn.values[mean] == pytest.approx(expected.mean(), rel=1e-12)
    logs = {formula.text.partition("(")[0] for at, formula in drawn.formulas.items() if at == losses}
    assert logs == {"-LN"}  # no case for a probability of almost 0


LEARNS = (
    ("attention", ("d{}", "New {}"), {"W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 2)}),
    ("encoder", ("∂L/∂{}", "{} (updated)"), {"W_Q": (3, 3), "W_K": (3, 3), "W_V": (3, 3), "W_O": (3, 3),
                                             "W_1": (3, 4), "b_1": (1, 4), "W_2": (4, 3)}),
    ("rnn", ("Gradient of {}", "{} - η · gradient"), {"W_h": (3, 2), "U_h": (2, 2), "W_U": (2, 2)}),
)  # fmt: skip
"""Models, the titles of gradients and of new weights, and the shapes of weights."""


@alike
@pytest.mark.parametrize(("model", "titles", "shapes"), LEARNS)
@pytest.mark.parametrize("across", [False, True])
def test_gradients_and_weights_after_a_step_of_learning(
    model: str, titles: tuple[str, str], shapes: dict[str, Any], across: bool, tmp_path: Path
) -> None:
    """Against central differences of the loss."""
    made, rng, frames = openpyxl.Workbook(), np.random.default_rng(4), dict[str, tuple[int, int]]()
    sheet, names = AuthorSheet(made.active, across=across), "abcd"
    sheet.block(2, 2, "Input", PETS, names[:3], X)
    given = {name: rng.integers(-9, 10, shape) / 10 for name, shape in shapes.items()}
    target = np.eye(2)[[0, 1, 1, 0, 1]] if model == "rnn" else rng.integers(-9, 10, (5, len(Y[0]))) / 10
    target = target[:, :2] if model == "attention" else target
    sheet.block(2, 12, "Target", PETS, names[: target.shape[1]], target)
    if model == "rnn":
        sheet.block(2, 22, "Probabilities", PETS, names[:2])
    made.active["AJ2"], made.active["AK2"] = "Learning rate", 0.3
    for n, (name, (rows, columns)) in enumerate(shapes.items()):
        labels, of = (names[:rows], "pqrs"[:columns]), f"d{name}"
        sheet.block(12, 2 + 10 * n, name, *labels, given[name])
        frames[of] = sheet.block(22, 2 + 10 * n, titles[0].format(name), *labels)
        frames[name] = sheet.block(32, 2 + 10 * n, titles[1].format(name), *labels)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention

    def loss(weights: dict[str, np.ndarray]) -> float:
        tables = {"Sentence": X, **weights, "Target": target}
        return float(attn_xl.attend(tables, model=model, loss=True)["Sentence"]["Loss"].values[0, 0])

    values = read_drawn(out).sheets[0].values
    for name, weights in given.items():
        for i, j in np.ndindex(weights.shape):
            nudge = np.zeros(weights.shape)
            nudge[i, j] = 1e-5
            up, down = ({**given, name: weights + sign * nudge} for sign in (1, -1))
            gradient = (loss(up) - loss(down)) / 2e-5
            r, c = (j, i) if across else (i, j)
            places = frames[f"d{name}"], frames[name]
            found, new = (values[row + r, column + c] for row, column in places)
            assert found == pytest.approx(gradient, abs=1e-8)
            assert new == pytest.approx(weights[i, j] - 0.3 * found, abs=1e-12)


@pytest.mark.parametrize(("text", "rate"), [("η = 0.05", 0.05), ("", 0.1)])
def test_a_learning_rate_may_stand_in_a_text_or_is_the_usual_one(
    text: str, rate: float, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    for n, (title, content) in enumerate({"Input": X, "W_V": np.eye(3), "Target": X / 2}.items()):
        sheet.block(2, 2 + 9 * n, title, PETS[: len(content)], DIMS, content)
    sheet.block(12, 2, "dW_V", PETS[:3], DIMS)
    sheet.block(12, 12, "New W_V", PETS[:3], DIMS)
    made.active["B10"] = text or None
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    gradient, new = shown_in(book, out).values()
    np.testing.assert_allclose(new, np.eye(3) - rate * gradient, rtol=1e-12)
    assert ("Sheet!M14:O16: the learning rate is taken to be 0.1." in book.report()) == (not text)
    with pytest.raises(InputError, match="the right answers for Sheet!C4:E8, which other words cannot"):
        fill_file(tmp_path / "own.xlsx", {}, tables=attn_xl.read_tables({"one": X[:2]}))


@pytest.mark.parametrize(("across", "learned"), [(False, True), (True, True), (False, False)])
def test_sentences_with_weights_in_common_learn_together(
    across: bool, learned: bool, tmp_path: Path
) -> None:
    """Against central differences of the mean of their losses; each has gradients of its own steps. The
    weights are as far above their gradients as one sentence is above the other."""
    made, rng, own = openpyxl.Workbook(), np.random.default_rng(4), ("1", "2", "3")
    sheet, inputs = AuthorSheet(made.active, across=across), (X, Y)
    targets = [rng.integers(-9, 10, (5, 3)) / 10 for _ in inputs]
    for n, x in enumerate(inputs):
        blocks: list[Any] = [("Input", DIMS, x), ("Output", own, None), ("Target", own, targets[n])]
        for m, (title, columns, content) in enumerate([*blocks, ("dScores", PETS, None)]):
            row, column = (2 + 10 * n, 2 + 10 * m) if not across else (2 + 10 * m, 2 + 10 * n)
            sheet.block(row, column, title, PETS, columns, content)
    given = {name: rng.integers(-9, 10, (3, 3)) / 10 for name in ("W_Q", "W_K", "W_V")}
    for n, (name, weights) in enumerate(given.items()):
        for title, row in ((name, 52), (f"d{name}", 62), (f"New {name}", 72))[: 2 + learned]:
            sheet.block(row, 2 + 10 * n, title, DIMS, own, weights if title == name else None)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.attention, len(book.filling.frames)) == ([], 4 + 3 * (1 + learned))
    shown = shown_in(book, out)

    def loss(weights: dict[str, np.ndarray]) -> float:
        outputs = [naive_attention(*(x @ w for w in weights.values()))[1] for x in inputs]
        return float(np.mean([((o - t) ** 2).mean() for o, t in zip(outputs, targets)]))

    for name, (i, j) in ((name, place) for name in given for place in np.ndindex(3, 3)):
        nudge = np.zeros((3, 3))
        nudge[i, j] = 1e-5
        up, down = ({**given, name: given[name] + sign * nudge} for sign in (1, -1))
        assert shown[f"d{name}"][i, j] == pytest.approx((loss(up) - loss(down)) / 2e-5, abs=1e-8)
        new = given[name][i, j] - 0.1 * shown[f"d{name}"][i, j]
        assert shown.get(f"Learned.{name}", {(i, j): new})[i, j] == pytest.approx(new, abs=1e-12)


def test_attention_of_another_width_leads_to_logits(tmp_path: Path) -> None:
    """Nothing is added to it."""
    rng = np.random.default_rng(4)
    w = {f"W_{kind}": rng.integers(-9, 10, (3, 2)) / 10 for kind in "QKV"}
    w_u = rng.integers(-9, 10, (2, 4)) / 10
    blocks: list[Any] = [(2, 2, "Input", X[:3]), (2, 40, "W_U", w_u), (12, 2, "Output", (3, 2))]
    blocks += [(2, 10 + 8 * n, name, one) for n, (name, one) in enumerate(w.items())]
    output, logits = filled_blocks(tmp_path, [*blocks, (12, 20, "Logits", (3, 4))])
    q, k, v = (X[:3] @ one for one in w.values())
    wanted = [naive_attention(q[n : n + 1], k[: n + 1], v[: n + 1])[1][0] for n in range(3)]
    np.testing.assert_allclose(output, wanted, rtol=1e-12)
    np.testing.assert_allclose(logits, output @ w_u, rtol=1e-12)
    with pytest.raises(InputError, match="Give W_O, 2 x 3, or leave the sum out"):
        attn_xl.attend({"s": X[:3], **w, "W_U": w_u}, model="decoder-only", feed_forward=False)


@pytest.mark.parametrize("only_last", [False, True])
def test_the_next_word_is_a_text(only_last: bool, tmp_path: Path) -> None:
    """Of logits and probabilities there may be those of the last word alone."""
    made, words, w = openpyxl.Workbook(), PETS[:4], numbers("abc", 5, seed=2) - 1
    sheet, known = AuthorSheet(made.active), (*words, "end")
    sheet.block(2, 2, "Input", words, DIMS, X[:4])
    sheet.block(2, 12, "Output layer W_U", DIMS, known, w)
    sheet.block(2, 22, "Output", words, DIMS)
    asked = words[-1:] if only_last else words
    sheet.block(12, 2, "Logits", asked, known)
    sheet.block(12, 12, "Next token probabilities", asked, known)
    row, column = sheet.block(12, 22, "Predicted next word", asked, ["word"])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    looked = [naive_attention(X[i : i + 1], X[: i + 1], X[: i + 1])[1][0] for i in range(4)]
    best = [known[n] for n in (np.array(looked) @ w).argmax(axis=1)]
    drawn = read_drawn(out).sheets[0]
    assert [drawn.values[row + n, column] for n in range(len(asked))] == best[-len(asked) :]
    again = fill_file(out, {})
    assert (again.content, again.attention) == (out.read_bytes(), [])


@pytest.mark.parametrize("encodes", [True, False])
def test_an_encoder_and_a_decoder_need_no_weights(encodes: bool, tmp_path: Path) -> None:
    """Titles tell which attention each is of; a decoder's queries come from its own attention."""
    x, y = X[:4], Y[:3]
    memory = naive_attention(x, x, x) if encodes else (None, x)
    own = [naive_attention(y[n : n + 1], y[: n + 1], y[: n + 1]) for n in range(3)]
    weights = np.array([[*w[0], *[0.0] * (2 - n)] for n, (w, _) in enumerate(own)])
    mixed = np.concatenate([output for _, output in own])
    crossed = naive_attention(mixed, memory[1], memory[1])
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    wanted = {"Masked self-attention weights": weights, "Decoder self-attention output": mixed,
              "Cross-attention weights": crossed[0], "Cross-attention output": crossed[1]}  # fmt: skip
    made.active["A1"], made.active["L1"] = "Encoder", "Decoder"
    sheet.block(2, 2, "Encoder input" if encodes else "Encoder output", PETS[:4], DIMS, x)
    sheet.block(2, 12, "Decoder input", DESK[:3], DIMS, y)
    places = {}
    for n, title in enumerate(wanted):
        columns = DIMS if "output" in title else DESK[:3] if "self" in title else PETS[:4]
        places[title] = sheet.block(12 + 9 * n, 12, title, DESK[:3], columns)
    if encodes:
        wanted |= {"Encoder self-attention weights": memory[0], "Encoder output": memory[1]}
        for n, title in enumerate([*wanted][-2:]):
            columns = PETS[:4] if n == 0 else DIMS
            places[title] = sheet.block(12 + 9 * n, 2, title, PETS[:4], columns)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    for title, values in wanted.items():
        place = Place("Sheet", *places[title], *values.shape)
        shown = [read_drawn(out).sheets[0].values[cell] for cell in place.cells()]
        np.testing.assert_allclose(shown, values.ravel(), rtol=1e-12, err_msg=title)


def test_formulas_read_labels_where_they_stand(tmp_path: Path) -> None:
    """Frames without labels: those of the input, or of weights, tell a padding word and a class."""
    made, words, classes = openpyxl.Workbook(), ("the", "cat", "<PAD>"), ("bad", "good")
    sheet, bare = AuthorSheet(made.active), AuthorSheet(made.active, labels=False)
    sheet.block(2, 2, "Input", words, DIMS, X[:3])
    sheet.block(2, 12, "W_C", DIMS, classes, numbers(DIMS, 2))
    bare.block(12, 2, "Mask", words, words)
    bare.block(22, 2, "Attention weights", words, words)
    bare.block(12, 12, "Probabilities", "1", classes)
    bare.block(17, 12, "Target (one-hot)", "1", classes)
    bare.block(22, 12, "Predicted class", "1", "1")
    bare.block(27, 12, "Loss", "1", "1")
    made.active["L32"], made.active["M32"] = "True label", "good"
    made.active["A12"] = 2  # the number of the step is no mask
    book, out = filled(saved(made, tmp_path / "own.xlsx"))  # recalculated
    assert not book.attention
    values, formulas = read_drawn(out).sheets[0].values, read_drawn(out).sheets[0].formulas
    assert [values[14, 3 + n] for n in range(3)] == [0, 0, -1e9]
    assert formulas[14, 5].text == 'IF($B$6="<PAD>",-1000000000,0)'
    assert (values[19, 13], values[19, 14]) == (0, 1)
    assert formulas[19, 13].text == "IF($M32=$M$3,1,0)"
    best = classes[int(values[14, 14] > values[14, 13])]
    assert values[24, 13] == best
    assert values[29, 13] == pytest.approx(-np.log(values[14, 14]))


def compared_with(title: str, content: Any, at: tuple[int, int], tmp_path: Path) -> FilledBook:
    """A sheet of an attention whose output is compared, filled in."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, labels=False)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(12, 2, "Output", PETS, DIMS)
    if isinstance(content, str):
        made.active.cell(*at, title)
        made.active.cell(at[0], at[1] + 1, content)
        AuthorSheet(made.active).block(2, 22, "W_C", DIMS, ("bad", "good"), numbers(DIMS, 2))
        AuthorSheet(made.active).block(8, 22, "Probabilities", ["all"], ("bad", "good"))
    elif content is not None:
        sheet.block(*at, title, [""] * len(content), DIMS, content)
        sheet.block(22, 2, "Output - target", PETS, DIMS)
    made.active.cell(31, 3, "Loss")
    made.active.cell(32, 2, "Mean" if content is not None else "Loss")  # not that of a norm
    made.active.cell(32, 3).border = EDGE
    return fill_file(saved(made, tmp_path / "own.xlsx"), {})


def test_an_output_is_compared_with_numbers_and_a_class_with_its_label(tmp_path: Path) -> None:
    output = naive_attention(X, X, X)[1]
    loss = compared_with("Target", Y, (2, 12), tmp_path).filling.cells["Sheet"][32][3]
    assert loss.value == pytest.approx(((output - Y) ** 2).mean(), rel=1e-12)
    loss = compared_with("True label:", "good", (2, 12), tmp_path).filling.cells["Sheet"][32][3]
    powers = np.exp(output.mean(axis=0) @ numbers(DIMS, 2))
    assert loss.value == pytest.approx(-np.log(powers[1] / powers.sum()), rel=1e-12)


def test_a_list_of_words_with_their_losses_and_the_mean_below_stays_as_it_is(tmp_path: Path) -> None:
    made, words, known = openpyxl.Workbook(), PETS[:3], (*PETS[:3], "end")
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", words, DIMS, X[:3])
    sheet.block(2, 12, "W_U", DIMS, known, numbers("abc", 4, seed=2))
    sheet.block(12, 2, "Output", words, DIMS)
    sheet.block(12, 12, "Probabilities", words, known)
    for row, line in enumerate([("word", "target", "p(target)", "loss"), *zip(words, known[1:])], 22):
        for column, text in enumerate(line, 2):
            made.active.cell(row, column, text)
        made.active.cell(row, 5).border = EDGE if row > 22 else Border()
        made.active.cell(row, 4).border = EDGE if row > 22 else Border()
    made.active["D26"], made.active["E26"].border = "mean", EDGE
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    values = read_drawn(out).sheets[0].values
    shares = [values[14 + n, 14 + n] for n in range(3)]
    assert [values[23 + n, 4] for n in range(3)] == pytest.approx(shares)
    assert [values[23 + n, 5] for n in range(3)] == pytest.approx(-np.log(shares))
    assert values[26, 5] == pytest.approx(-np.log(shares).mean())
    again = fill_file(out, {})
    assert (again.content, again.attention) == (out.read_bytes(), [])


def test_tags_and_names_of_ones_own_tell_a_language_model_and_its_loss(tmp_path: Path) -> None:
    made, words, known = openpyxl.Workbook(), PETS[:3], (*PETS[:3], "end")
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", words, DIMS, X[:3])
    sheet.block(2, 12, "LM head", DIMS, known, numbers("abc", 4, seed=2))
    sheet.block(2, 22, "Ziel", words, known, np.eye(4)[1:])
    for cell, text in {"M12": "name", "N12": "step", "M13": "Ziel", "N13": "Target",
                       "C12": "{{ Softmax }}", "C18": "{{ Output }}", "G18": "{{ Logits }}",
                       "C24": "{{ Losses }}", "G24": "{{ Loss }}",
                       "J24": "Perplexity"}.items():  # fmt: skip
        made.active[cell] = text
    made.active["K24"].border = EDGE
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    values = read_drawn(out).sheets[0].values
    losses = [values[24 + n, 3] for n in range(3)]
    assert values[24, 7] == pytest.approx(np.mean(losses))
    assert values[24, 11] == pytest.approx(np.exp(np.mean(losses)))
    logits = np.array([[values[18 + n, 7 + m] for m in range(4)] for n in range(3)])
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(losses, -np.log(shares[range(3), range(1, 4)]), rtol=1e-12)


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    said = compared_with("Target", None, (2, 12), tmp_path).attention[-1]
    assert "'Loss' names Loss, which the model does not compute: Target is missing: 5 x 3, the" in said
    said = "".join(compared_with("Target", Y[:2], (2, 12), tmp_path).attention)
    assert "names Errors, which the model does not compute: Target is 2 x 3, but Output of" in said
    compared_with("Target", Y, (2, 12), tmp_path)
    with pytest.raises(InputError, match="the right answers for Sheet!C4:E8, which other words cannot"):
        fill_file(tmp_path / "own.xlsx", {}, tables=attn_xl.read_tables({"one": X[:2]}))


TITLES = {
    "W_U": "LM head | W_vocab | Unembedding W_U | W^U",
    "W_C": "Classifier weights | W_class | Classification head W_C",
    "b_C": "Classifier bias | Class bias",
    "Class": "Predicted label | Prediction",
    "Softmax.Shifted": "Scores - max | Minus the row maximum | x - max(x)",
    "Errors": "Output - target | Probabilities − one-hot",
    "Loss": "Average loss | MSE | NLL | Mean cross-entropy",
    "dW_Q": "∂L/∂W_Q | Gradient of W_Q | grad W_Q | dL/dWq | ∇W_Q | W_Q gradient",
    "dSoftmax": "dA | dA (gradient of the weights) | ∂L/∂A | Gradient of the attention weights",
    "Learned.W_Q": "New W_Q | W_Q (updated) | W_Q_new | W_Q - η · dW_Q | W_Q after one step",
    "Losses": "Loss per token | -log(p)",
    "Losses.Right": "P(target) | Probability of the right word",
    "Target": "One-hot labels | Ground truth | y_true",
    "K": "Keys k | K cache | Key projections | K transpose | Keys transposed | Transpose of K",
    "W_Q_2": "Wquery, head 2",
    "Mask": "Look-ahead mask | Masking matrix | Sliding-window mask | Casual mask | Key padding mask",
    "W_1": "Feed-forward weights W1 | First layer weights W1",
    "b_1": "Bias b1",
    "Cosine": "cos(θ) | Cos similarity",
    "Magnitude": "Euclidean length",
    "Q": "XW_Q | X W^Q | q of the new token | Queries (Q = X·Wq) | Query vectors | Queries Q",
    "Scores": "Score with “cat” | Scores 分数 | Affinity matrix | Scores K^T Q | Step 2: Scores (Q·Kᵀ) "
    "| Schritt 2: Bewertungen | Self-attention scores | (2) Scores | Q @ K.T | QKT | Q.K^T "
    "| Cross-attention scores | Q times K | attn scores "
    "| Relevance scores | Similarity matrix S | ① Scores | Scores ↓ | “Scores” | Scores [3×3] "
    "| Step two: compute the scores | Part B: Scores | 2.1 Scores | Unnormalized scores "
    "| unnormalized attention weights ω | Dot product of q and k gives the scores | MatMul 1 "
    "| Step 1 - MatMul: Q Kᵀ | MatMul(Q, K^T) | Multiply Q by K transposed "
    "| Gram matrix X Xᵀ | Word similarities | Unscaled scores | Pre-softmax scores | QKt",
    "Scores_1": "Q1K1^T | Q_1 · K_1ᵀ | Attention head 1: scores | Scores for head 1",
    "Masked": "+ mask | Scores + M | Add the mask | Scores after masking | Masked scaled scores "
    "| Scores with mask | Apply causal mask",
    "FeedForward": "FFN layer 2 | h W2 + b2 | FC 2 | Output of feed-forward network "
    "| Second layer | Feed forward output | FFN OUTPUT | ReLU(X W1 + b1) W2 + b2",
    "Activated": "max(0, xW1 + b1) | Feed forward hidden layer (ReLU) | Hidden = ReLU(X W1) "
    "| ReLU(X·W_1)",
    "Hidden": "X W1 + b1 | W1·x + b1 | Dense 1 | First layer | Feed-forward layer 1 | Z·W1 + b1",
    "Linear": "Linear layer",
    "Logits": "Output logits | Scores over the vocabulary | Class scores | Logits of the last word",
    "Positions": "P (positional encoding) | Positional encoding PE(pos, 2i) = sin(pos/10000^(2i/d)) "
    "| Sine/cosine positional encoding",
    "Attention": "Attention output projection | Linear projection of the heads",
    "Update": "Update gate z_t",
    "Candidate": "Candidate cell state c\u0303_t",
    "Probabilities": "Next-word probabilities | Probabilities over the vocabulary",
    "Scaled": "Scores divided by 8 | Scaled: divided by the root of 2 "
    "| ÷ √dk | Divide by sqrt(3) | Scores / √3 | Scaled dot products | b) Scaled | QKT ÷ √dₖ "
    "| Scale by 1/√d | Scores after scaling | Scaled Scores S' | Scores = QK^T/√d_k "
    "| Attention scores (QKᵀ/√d) | Normalized by √d | Divide by the square root of dk | Scaled logits "
    "| Scores ÷ 1.414 | S_scaled",
    "Scaled_1": "S1 = Q1K1ᵀ/√2",
    "Scores_2": "attention scores ω^(2)",
    "Softmax": "Normalized weights (softmax) | III. Softmax | After softmax | Row-wise softmax | α_ij "
    "| Softmax: each row sums to 1 | Alignment weights | Normalised scores | exp(s)/sum(exp(s)) "
    "| ÷ sum | ÷ ∑ | Weights α | e^x / row sum | Weights after the causal mask "
    "| Masked attention weights | Attn. weights | Softmax along each row | Attention coefficients α_ij "
    "| Poids d’attention | 注意力权重 "
    "| Importance weights | Attention softmax(QKᵀ/√d_k) "
    "| Weight matrix A | SOFTMAX: EACH ROW SUMS TO 1",
    "Softmax_2": "Head 2: Softmax | softmax(Q2 K2^T/√dk)",
    "Norm": "LN(x) | Norm(x + z) | After layer norm | Add & LayerNorm",
    "Pooled": "Mean pooling | Sentence vector | Average of outputs | Sentence vector (mean of outputs)",
    "Norm_1": "First add & norm | Layer norm after attention",
    "Norm_2": "Second layer norm | Add & Norm (2) | LayerNorm after the feed-forward",
    "Norm.Mean": "Mean μ",
    "Norm.Variance": "σ² | Variance (σ²)",
    "Norm.Deviation": "Std dev | Standard deviation",
    "Norm.Centred": "x - mean | x − μ | Subtract the mean | Centered",
    "Softmax.Maximum": "Max per row | Max score",
    "Softmax.Exponentials": "e^S | e^(x - max) | e^□ | exponentiate | Numerators "
    "| exp of scaled scores",
    "Softmax.Sum": "∑ | ∑ e^x | Denominator | Row totals | Sum of the exponentials "
    "| Normalizing factor",
    "Output": "Output: the new vectors | V' (mixed) | MultiHead = Concat · Wo | O = PV | Attn out "
    "| Sum = new vector for 'cat' | Task 3 - Contextualized embeddings | softmax(QK^T/√dk)V | AV "
    "| Output V A | Output A × V "
    "| New X | Attention(Q, K, V) | Softmax V | Weighted average | Updated word vectors "
    '| Multiply by V | V softmax(KTQ) | new embedding of "cat" | Multi-head attention output '
    "| Context-aware embeddings (4 × 3) | Output of masked self-attention | · V = Output: "
    "| 5. · V = Output | Step 5: 📤 Output embeddings "
    "| Attention = softmax(QKᵀ/√d) V | all_context_vecs | ΔE | weight × value "
    "| α·v | Salida | Matrix of outputs | MatMul with V | MatMul(A, V) | Matrix product A · V "
    "| Step 7: Multiply by V to get the output (Z)",
    "Output_2": "Head output 2 | Output of head 2 | Context vector (word 2)",
    "Concat": "Concat heads | Concatenated heads | Concat(head_1, head_2) | Step 7: Concatenate heads "
    "| [Z1, Z2] "
    "| Concatenation of the heads | Combined heads | Z = [Z1 Z2]",
    "Input": "Input X | • Input | Decoder state s_{t-1} | Embeddings e | Eingabe "
    "| X ∈ R^5x3 | The input | Original embeddings | Embedding vectors "
    "| Token representations | Xᵀ | Sentence embeddings | Input sequence X | The words as vectors "
    "| Embedded sentence x | Encoded values | Given: X | Word encodings",
    "Sum": "X + Z | Input + self-attention output | Residual connection values | E + ΔE "
    "| E' = E + ΔE | Output = x + z | X + MultiHead | Add residual",
    "Sum_1": "Residual stream after attention",
    "Sum_2": "2nd residual",
    "Embedded": "+ PE | Embeddings + Positional Encoding | Embeddings with positions | X + P "
    "| Input = Token + Position | Input embedding + position embedding | Token + position "
    "| Add positions | Final embeddings (word + position) | E + P",
    None: "3 x 4 | ##s | max % | The matrix | Note: Output | Attention / 2 | Weight matrix | ß | NEXT "
    "| KT Corp | Context A | Context c | Input a | Sentence c | Head 1 | Attention by hand "
    "| Output − Input "
    "| Change = Output - X | Score: 10/10 | Total: ____ / 18 points",  # ß is no SS
}


@pytest.mark.parametrize(
    ("title", "step"), [(one, step) for step, titles in TITLES.items() for one in titles.split(" | ")]
)
def test_titles_as_people_write_them(title: str, step: str | None) -> None:
    assert (step_called(title, {"new": "New"}) or (None,))[0] == step


SENTENCES = {
    "Q": "Project the embeddings to queries",
    "Scores": "How much does each word relate to the others? | Dot product of every pair of words "
    "| How similar are two words? "
    "| Multiply queries by keys | How much do words look like each other?",
    "Scaled": "Divide by the square root of the width, so that softmax is not too sharp "
    "| Scale the scores before softmax | ÷ 2",
    "Softmax.Exponentials": "Raise e to each score | Exponentiate each number | e^ of each number",
    "Softmax": "Turn the scores into probabilities | Who attends to whom? (%) "
    "| Normalize each row of scaled scores "
    "| Step 6: Divide by the sum | Divide by √2, then softmax along each row",
    "Masked": "Replace future scores by -infinity | Apply masking | Hide the future words",
    "Output": "Sum of softmax x value | Weighted sum of the embeddings "
    "| Multiply the attention weights by V "
    "| The new vectors of words | 4) Use these weights to mix the embeddings.",
    "": "Mixed up | Attention by hand | Score: 10/10 | Key takeaways | Check: rows sum to 1 "
    "| Values are rounded",
}


@pytest.mark.parametrize(
    ("text", "step"), [(one, step) for step, texts in SENTENCES.items() for one in texts.split(" | ")]
)
def test_sentences_over_frames_tell_of_steps(text: str, step: str) -> None:
    assert step_told(text) == step


@thorough
@alike
@pytest.mark.parametrize("way", ["columns", "rows", "words across"])
def test_a_list_of_steps_is_that_of_the_word_it_names(way: str, tmp_path: Path) -> None:
    """In each of two sentences. Its titles stand above columns, or left of rows, and that of the input
    to the right."""
    made, names = openpyxl.Workbook(), ["dot product", "scaled", "exp", "softmax of each row"]
    for sheet, words, x in ((made.active, PETS, X), (made.create_sheet("2"), DESK, Y)):
        cells = np.array([[None, *words], *([name, *[None] * 5] for name in names)], object)
        inputs = np.hstack([np.array([words], object).T, x.astype(object)])
        for n, line in enumerate((inputs.T if way == "words across" else inputs).tolist(), 1):
            for column, value in enumerate(line, 1):
                sheet.cell(n, column, value)
        sheet["H1"], sheet["A7"] = "← vectors", f'Attention for "{words[1]}"'
        for line in (cells.T if way == "columns" else cells).tolist():
            sheet.append(line)
        sheet.append([])
        sheet.append([f'new vector of "{words[1]}"'])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    for sheet, x in zip(read_drawn(out).sheets, (X, Y)):
        weights, output = naive_attention(x[1:2], x, x)
        own = [frame for _, frame, _ in book.filling.frames if frame.place.sheet == sheet.name]
        shown = {frame.step: values_in(sheet, frame.place, False)[1].ravel() for frame in own}
        assert {*shown} == {"Scores", "Scaled", "Softmax.Exponentials", "Softmax", "Output"}
        np.testing.assert_allclose(shown["Softmax"], weights[0], rtol=1e-12)
        np.testing.assert_allclose(shown["Output"], output[0], rtol=1e-12)
    again, _ = filled(out)
    assert again.content == out.read_bytes()
    with pytest.raises(InputError, match="looks at the words of"):
        fill_file(out, {}, tables=attn_xl.read_tables({"few": X}))


def test_tags_in_a_list_of_one_word(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    for line in [["Embeddings", *DIMS], *([word, *x] for word, x in zip(words, X.tolist()))]:
        made.active.append(line)
    made.active["A6"] = f'Attention for "{words[1]}"'
    for column, step in ((2, "Scores"), (3, "Softmax")):
        made.active.cell(7, column, f"{{{{ {step} | words across }}}}")
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    weights, _ = naive_attention(X[1:2], X[:3], X[:3])
    values = read_drawn(out).sheets[0].values
    np.testing.assert_allclose([values[row, 3] for row in (7, 8, 9)], weights[0], rtol=1e-12)


@pytest.mark.parametrize("centered", [False, True])
def test_rows_of_one_word_below_titles_of_their_own(centered: bool, tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active, centered=centered)
    sheet.block(2, 2, "Embeddings", words, [None] * 3, X[:3])
    for n, title in enumerate(("Scores", "Attention weights", "New vector")):
        sheet.block(10 + 5 * n, 2, f'{title} for "{words[1]}"', [None], DIMS if n == 2 else words)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (9, [])
    values = read_drawn(out).sheets[0].values
    _, output = naive_attention(X[1:2], X[:3], X[:3])
    np.testing.assert_allclose([values[22, n] for n in (3, 4, 5)], output[0], rtol=1e-12)


def test_a_list_may_stand_below_the_matrices_of_all_words(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    sheet.sentence(2, 2, words, X[:3])
    made.active["B45"] = 'Attention for "cat"'
    for row, text in enumerate(["word", *words], 46):
        made.active.cell(row, 2, text)
    made.active["C46"] = "weight"
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert "C47:C49" in [frame.place.range for _, frame, _ in book.filling.frames]
    values = read_drawn(out).sheets[0].values
    weights, _ = naive_attention(X[:3], X[:3], X[:3])
    shown = [values[row, 3] for row in (47, 48, 49)]
    np.testing.assert_allclose(shown, weights[words.index("cat")], rtol=1e-12)
    assert not book.attention


@alike
@pytest.mark.parametrize("given", [("Q", "K", "V"), ("Scores", "V")])
@pytest.mark.parametrize("across", [False, True])
def test_a_word_may_be_named_beside_given_queries_or_scores(
    across: bool, given: tuple[str, ...], tmp_path: Path
) -> None:
    """Formulas compute what the cells of that word hold: another engine computes each anew."""
    made, words = openpyxl.Workbook(), PETS[:3]
    numbers = {"Q": X[:3], "K": X[1:4], "V": X[:3, :2], "Scores": X[:3] @ X[1:4].T}
    sheet = AuthorSheet(made.active, across=across)
    for n, name in enumerate(given):
        columns = words if name == "Scores" else DIMS[: numbers[name].shape[1]]
        sheet.block(2, 2 + 8 * n, name, words, columns, numbers[name])
    made.active["B30"] = f'Attention for "{words[1]}"'
    made.active.append([None, None, *words])
    made.active.append([None, "exp"])
    made.active.append([None, "softmax"])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    scores = numbers["Scores"][1:2]
    weights = np.exp(scores / (np.sqrt(X.shape[1]) if "Q" in given else 1))
    cells = read_drawn(out).sheets[0].values
    shown = [cells[33, 3 + n] for n in range(3)]
    np.testing.assert_allclose(shown, (weights / weights.sum())[0], rtol=1e-12)
    assert not differences_ironcalc(out, 1e-12)


@pytest.mark.parametrize("across", [False, True])
def test_one_word_may_have_queries_keys_and_values_of_all(across: bool, tmp_path: Path) -> None:
    """As in the Illustrated Transformer, to what its output is the sum of; each Q, K and V once."""
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet, rng = AuthorSheet(made.active, across=across), np.random.default_rng(1)
    made.active["A1"] = f'Self-attention for "{words[0]}"'
    weights = {name: rng.integers(-2, 3, (3, 2)) / 4 for name in ("W_Q", "W_K", "W_V")}
    blocks = {"Embedding": X[:3], **weights, "Queries": (3, 2), "Keys": (3, 2), "Values": (3, 2),
              "Score": (1, 3), "Softmax": (1, 3), "Softmax x Value": (3, 2), "Sum": (1, 2)}  # fmt: skip
    for n, (name, one) in enumerate(blocks.items()):
        given = None if isinstance(one, tuple) else one
        rows, columns = one if given is None else given.shape
        labels = words if rows == 3 and name not in weights else [None] * rows
        sheet.block(4 + 8 * (n // 4), 2 + 9 * (n % 4), name, labels, [None] * columns, given)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    assert len(book.filling.frames) == 7
    q, k, v = (X[:3] @ weights[name] for name in weights)
    found = {frame.step: frame for _, frame, _ in book.filling.frames}["Weighted"]
    _, values = values_in(read_drawn(out).sheets[0], found.place, found.turned)
    np.testing.assert_allclose(values, naive_attention(q, k, v)[0][0][:, None] * v, rtol=1e-12)
    assert not differences_ironcalc(out, 1e-12)


def test_numbers_of_the_input_left_of_a_title_are_no_attention_weights(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), [f"w{n}" for n in range(6)]
    sheet = AuthorSheet(made.active)
    sheet.block(1, 2, "Embeddings", words, DIMS[:2], np.arange(12.0).reshape(6, 2))
    sheet.block(1, 8, "", words, words)
    made.active["G2"] = "Softmax"  # its frame is further right than its table is wide
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Softmax"]


def test_the_attention_of_two_sentences_is_that_of_each(tmp_path: Path) -> None:
    """Two titles `Attention` are not the weights and the output of one."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    for n in range(2):
        sheet.block(2 + 10 * n, 2, "Input", PETS[n : n + 3], DIMS, X[n : n + 3])
        sheet.block(2 + 10 * n, 8, "Attention", PETS[n : n + 3], PETS[n : n + 3])
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Softmax"] * 2


def test_weighted_values_may_stand_over_their_sum(tmp_path: Path) -> None:
    """Beside the list of a word with exponentials, whose graph is computed anew."""
    made, words = openpyxl.Workbook(), PETS[:4]
    sheet = AuthorSheet(made.active)
    sheet.block(1, 2, "Embeddings", words, DIMS, X[:4])
    made.active["B8"] = f'Attention for "{words[1]}"'
    sheet.block(9, 2, "", words, ["score", "exp", "softmax"])
    sheet.block(9, 8, "softmax x value", [*[None] * 4, "sum"], DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    frames = {frame.step: frame.place for _, frame, _ in book.filling.frames}
    values = values_in(read_drawn(out).sheets[0], frames["Weighted"], False)[1]
    weights, _ = naive_attention(X[1:2], X[:4], X[:4])
    np.testing.assert_allclose(values, weights.T * X[:4], rtol=1e-12)
    assert not differences_ironcalc(out, 1e-12)


@pytest.mark.parametrize("also_all", [False, True])
def test_a_title_may_count_its_word(also_all: bool, tmp_path: Path) -> None:
    """As in Raschka's book: attn_scores_2 is the row of the second word."""
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    for n, name in enumerate(("inputs", "attn_scores", "attn_weights", "context_vecs")):
        columns = DIMS if n in (0, 3) else words
        if also_all or n == 0:
            sheet.block(2, 2 + 8 * n, name, words, columns, X[:3] if n == 0 else None)
        if n > 0:
            sheet.block(12, 2 + 8 * n, f"{name.rstrip('s') if n > 2 else name}_2", ["and"], columns)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    assert len(book.filling.frames) == 3 * (1 + also_all)
    weights, output = naive_attention(X[:3], X[:3], X[:3])
    for _, frame, _ in book.filling.frames:
        if frame.place.rows == 1 and frame.step != "Scores":
            _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
            wanted = weights[1] if frame.step == "Softmax" else output[1]
            np.testing.assert_allclose(values[0], wanted, rtol=1e-12)
    assert not differences_ironcalc(out, 1e-12)


@pytest.mark.parametrize(("model", "blank"), [("rnn", "Hidden"), ("norm", "Norm")])
def test_a_word_may_be_named_beside_any_model(model: str, blank: str, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    given = {"random_weights": 1} if model == "rnn" else {}
    (graph,) = attn_xl.attend(X, words=PETS, dims="d1 d2 d3", model=model, **given).values()
    weights = [name for name, one in graph.items() if one.role == "weight"]
    for n, name in enumerate(("Input", *weights, blank)):
        values = None if name == blank else graph[name].values
        sheet.block(2 + 9 * n, 2, name, graph[name].rows, graph[name].columns, values)
    made.active["J2"] = 'Look at the row for "cat"'
    book, _ = filled(saved(made, tmp_path / "own.xlsx"), options={"model": model})
    assert [frame.step for _, frame, _ in book.filling.frames] == [blank]


@thorough
@pytest.mark.parametrize("across", [0, 5])
def test_each_word_of_a_sentence_may_have_a_list(across: int, tmp_path: Path) -> None:
    """Below each other or side by side."""
    made, words = openpyxl.Workbook(), PETS[:3]
    for line in [["Embeddings", *DIMS], *([word, *x] for word, x in zip(words, X.tolist()))]:
        made.active.append(line)
    for n, word in enumerate(words):
        row, column = (6, 1 + across * n) if across else (6 + 10 * n, 1)
        lines = [[f"Query: {word}"], ["word", "score", "weight"], *([one] for one in words), []]
        for down, line in enumerate([*lines, [f'output for "{word}"']]):
            for right, text in enumerate(line):
                made.active.cell(row + down, column + right, text)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    assert len(book.filling.frames) == 9
    wanted = dict(zip(("Softmax", "Output"), naive_attention(X[:3], X[:3], X[:3])))
    sheet = read_drawn(out).sheets[0]
    for group, frame, _ in book.filling.frames:
        if frame.step in wanted:
            shown = values_in(sheet, frame.place, False)[1].ravel()
            expected = wanted[frame.step][words.index(group.table.rows[0])]
            np.testing.assert_allclose(shown, expected, rtol=1e-12)


def test_formulas_without_stored_values_are_computed_and_checked(tmp_path: Path) -> None:
    """As openpyxl saves them; a complete sheet stays as it is."""
    made, path = openpyxl.Workbook(), tmp_path / "own.xlsx"
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    query = "SUMPRODUCT($C$4:$E$4,$C{}:$E{})"  # of the first word, in every row
    sheet.block(12, 2, "Scores", PETS, PETS, lambda i, j: f"={query.format(4 + j, 4 + j)}")
    sheet.block(22, 2, "Softmax", PETS, PETS)
    sheet.block(32, 2, "Output", PETS, DIMS)
    for row in range(34, 39):  # as fill writes them
        made.active[f"C{row}"] = ArrayFormula(
            f"C{row}", f"=SUM(MMULT($C{row - 10}:$G{row - 10},C$4:C$8))"
        )
    made.save(path)
    book = fill_file(path, {})
    (left,) = book.attention
    assert "C15: =SUMPRODUCT($C$4:$E$4,$C4:$E4) gives 9.05; Scores should be 4.95," in left
    path.write_bytes(book.content)
    engine, (drawn,) = IronCalc(path), read_drawn(path).sheets
    for row, column in drawn.formulas:
        assert engine.value("Sheet", row, column) == pytest.approx(drawn.values[row, column], rel=1e-12)
    made = openpyxl.load_workbook(path)
    made.save(path)
    complete = fill_file(path, {})
    assert complete.content == path.read_bytes()
    assert complete.attention == book.attention


def test_labels_may_be_formulas_or_count(tmp_path: Path) -> None:
    """Words taken from an input on another sheet, with columns x and y; numbered columns; squares."""
    made, path = openpyxl.Workbook(), tmp_path / "own.xlsx"
    made.active.title = "Data"
    for row in (["Word", "x", "y"], *([word, *line] for word, line in zip(PETS, X[:, :2].tolist()))):
        made.active.append(row)
    words = [f"=Data!A{row}" for row in range(2, 7)]
    sheet = AuthorSheet(made.create_sheet("Attention"), borders=False)
    for n, title in enumerate(("Scores", "Softmax", "Output")):
        sheet.block(2 + 9 * n, 2, title, words, words if n < 2 else ("=Data!B1", "=Data!C1"))
    made.save(path)
    check(*filled(path), X[:, :2], frames=3)
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, borders=False)
    sheet.block(2, 2, "X", PETS, (1, 2, 3), X)
    sheet.block(10, 2, "S", PETS, PETS)
    check(*filled(saved(made, path)), X, frames=1)
    made, counted = openpyxl.Workbook(), (1, 2, 3, 4, 5)
    sheet = AuthorSheet(made.active, borders=False)
    sheet.block(2, 2, "X", PETS, DIMS, X)
    for n, title in enumerate(("Scores", "Softmax")):
        sheet.block(10 + 9 * n, 2, title, counted, counted)
    check(*filled(saved(made, path)), X, frames=2)


@pytest.mark.parametrize("across", [False, True])
def test_labels_and_axes_are_no_titles(across: bool, tmp_path: Path) -> None:
    """`Query` above and `Key` left of a frame say that its columns are those of the words that look."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Embeddings", PETS, DIMS, X)
    sides = [[f"{letter}({word})" for word in PETS] for letter in "qk"]
    above, left = [["Key →", "Keys:"], ["Query ↓", "Queries:"]][:: -1 if across else 1]
    for n, title in enumerate(["Scores", "Softmax"]):
        sheet.block(10 + 10 * n, 4, title, *sides[:: -1 if across else 1])
        made.active.cell(10 + 10 * n, 5, above[n])
        made.active.cell(12 + 10 * n, 3, left[n])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    frames = [frame for _, frame, _ in book.filling.frames]
    assert [(one.step, one.turned) for one in frames] == [("Scores", across), ("Softmax", across)]
    _, found = values_in(read_drawn(out).sheets[0], frames[-1].place, across)
    np.testing.assert_allclose(found, naive_attention(X, X, X)[0], rtol=1e-12)


def test_a_word_of_a_frame_that_the_input_lacks_is_said(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Embeddings", PETS[:2], DIMS, X[:2])
    sheet.block(10, 2, "Output", PETS, DIMS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == [
        "Sheet!C14: is blank; 'cat' is no word of the sentence, whose Output ends before it."
    ]


def test_a_frame_that_is_larger_than_its_matrix_is_said(tmp_path: Path) -> None:
    """A single row of it is not filled in alone: a `Sum` as large as the output is that."""
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active, across=True)
    sheet.block(2, 2, "Input", words, DIMS, X[:3])
    sheet.block(2, 9, "Scores", (*words, None, None), words)
    sheet.block(11, 2, "Sum", words, [None] * len(DIMS))
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == [
        "Sheet!M4:N6: is blank; the frame is larger than the 3 x 3 cells of Scores."
    ]
    frame = next(frame for _, frame, _ in book.filling.frames if frame.step == "Output")
    _, found = values_in(read_drawn(out).sheets[0], frame.place, frame.turned)
    np.testing.assert_allclose(found, naive_attention(X[:3], X[:3], X[:3])[1], rtol=1e-12)


def test_a_sum_is_of_what_it_stands_beside(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Embeddings", PETS, DIMS, X)
    for n, title in enumerate(["Scores", "Exponentials", "Softmax"]):
        sheet.block(10 + 10 * n, 2, title, PETS, [*PETS, "Sum"])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == [
        "Scores", "Softmax.Exponentials", "Softmax", "Softmax.Sum", "Softmax.Total"
    ]  # fmt: skip
    (left,) = book.attention
    assert "stays blank; Softmax.Sum is of Softmax.Exponentials, not of Scores" in left
    *_, total = book.filling.frames
    place = total[1].place
    drawn = read_drawn(out).sheets[0]
    assert drawn.formulas[place.row, place.column].text == "SUM($C32:$G32)"


def test_titles_tell_of_a_mask_and_row_sums_are_no_output(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Embeddings", words, DIMS, X[:3])
    sheet.block(10, 2, "Masked attention weights", words, words)
    sheet.block(20, 2, "Row sums", words, DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Softmax"]
    _, found = values_in(read_drawn(out).sheets[0], book.filling.frames[0][1].place, False)
    graph = attn_xl.attend(X[:3], words=words, causal=True)["Sentence"]
    np.testing.assert_allclose(found, graph["Softmax"].values, rtol=1e-12)


@pytest.mark.parametrize("asked", ["", " for Machines", "each"])
def test_words_beside_each_other(asked: str, tmp_path: Path) -> None:
    """As the Illustrated Transformer draws them: each word's steps below it, the scores of the first
    word, of one that titles name, or of each with all."""
    made, words, x = openpyxl.Workbook(), ("Thinking", "Machines"), X[:2]
    w = np.random.default_rng(3).integers(-2, 3, (3, 3, 2)) / 2
    for n, kind in enumerate("QKV"):
        AuthorSheet(made.active).block(1, 12 + 5 * n, f"W{kind}", DIMS, "ab", w[n])
    each, n = asked == "each", int(asked == " for Machines")
    rows = ["Embedding", "Queries", "Keys", "Values", "Score", "Divide by √dk", "Softmax"]
    rows += ["Sum"] if each else ["Softmax x Value", "Sum"]
    for row, text in enumerate(rows, 2):
        made.active.cell(row, 1, text + (asked if row > 5 and not each else ""))
        for m, start in enumerate((3, 7)):
            size = 3 if row == 2 else 2 if each or row < 6 or row > 8 else 1
            for column in range(start, start + size if (each, m, row) != (False, 1, 10) else 0):
                made.active.cell(row, column).border = EDGE
    for m, start in enumerate((3, 7)):
        made.active.cell(1, start, words[m])
        for k in range(3):
            made.active.cell(2, start + k, x[m, k])
    q, k, v = (x @ own for own in w)
    weights, output = naive_attention(q, k, v)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    shown, who = shown_in(book, out), words[n]
    assert len(shown) == (20 if each else 15)
    np.testing.assert_allclose(shown[f"K[{words[1]}]"][0], k[1], rtol=1e-12)
    for m, word in enumerate(words):
        np.testing.assert_allclose(shown[f"Scores[{who}, {word}]"], q[n] @ k[m], rtol=1e-12)
        np.testing.assert_allclose(shown[f"Softmax[{who}, {word}]"], weights[n, m], rtol=1e-12)
    np.testing.assert_allclose(shown[f"Output[{who}]"][0], output[n], rtol=1e-12)
    with pytest.raises(InputError, match=r"C2:E2 and .*G2:I2 may be two words of a sentence"):
        attn_xl.read_tables(tmp_path / "own.xlsx")
    with pytest.raises(
        InputError, match=r"C2:E2 stands beside the words of .*G2:I2, which other words"
    ):
        attn_xl.fill(tmp_path / "own.xlsx", tmp_path / "new.xlsx", X[:2])
    other = AuthorSheet(made.create_sheet("Other"))  # whose input has no title
    other.block(2, 2, "", PETS, DIMS, X)
    other.block(12, 2, "Scores", PETS, PETS)
    again, _ = filled(saved(made, tmp_path / "two.xlsx"))
    assert len(again.filling.frames) == len(shown) + 1


@pytest.mark.parametrize(
    "axes", [{}, {"B11": "Q \\ K", "B21": "Q \\ K"}, {"A13": "Queries", "D10": "Keys", "A23": "Queries",
             "D20": "Keys"}]
)  # fmt: skip
def test_sentences_over_frames_are_read_again(axes: dict[str, str], tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:4]
    for cell, text in axes.items():
        made.active[cell] = text
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Three numbers for each word", words, DIMS, X[:4])
    sheet.block(10, 2, "How similar are two words?", words, words)
    sheet.block(20, 2, "Turn the scores into probabilities", words, words)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    again, _ = filled(out)
    assert [frame.place for _, frame, _ in again.filling.frames] == [
        frame.place for _, frame, _ in book.filling.frames
    ]
    assert (len(again.filling.frames), again.attention) == (2, [])


def test_one_labelled_word_that_looks_at_others(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Encoder hidden states", PETS, [None] * 3, X)
    sheet.block(2, 9, "Decoder hidden state", ["I"], [None] * 3, X[:1] / 2)
    sheet.block(12, 2, "Attention distribution", ["I"], PETS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (5, [])
    _, found = values_in(read_drawn(out).sheets[0], book.filling.frames[0][1].place, False)
    np.testing.assert_allclose(found, naive_attention(X[:1] / 2, X, X)[0], rtol=1e-12)


def test_a_mistake_in_a_copy_of_the_input_is_found(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(2, 9, "Input^T", DIMS, PETS, lambda i, j: f"={'CDE'[i]}{4 + j - (i == j == 2)}")
    sheet.block(12, 2, "Scores", PETS, PETS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    (said,) = book.attention
    assert said == "Sheet!L6: =E5 gives 0.4; Input should be 0.7, =$E$6."


def test_a_column_of_ids_is_no_dimension_and_a_total_of_points_no_sum(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    made.active.append(["Embeddings"])
    made.active.append(["Token", "ID", *DIMS, None, "points", 3])
    for n, word in enumerate(words):
        total = [None, "total", 7] if n == 0 else []
        made.active.append([word, (101, 2088, 345)[n], *X[n].tolist(), *total])
    AuthorSheet(made.active).block(8, 2, "Output", words, DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Output"]
    check(book, out, X[:3], frames=1)


def test_a_row_of_words_heads_no_copy_of_the_input(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    made.active.append(["Sentence"])
    made.active.append([None, *words])
    sheet = AuthorSheet(made.active)
    sheet.block(6, 1, "Embeddings", words, [None] * 3, X[:3])
    sheet.block(12, 1, "Output", words, DIMS)
    check(*filled(saved(made, tmp_path / "own.xlsx")), X[:3], frames=1)


def test_a_title_without_the_root_is_told_that_formulas_have_it(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Embeddings", words, DIMS, X[:3])
    sheet.block(10, 2, "Scores S = X Xᵀ", words, words)
    sheet.block(18, 2, "A = softmax(S)", words, words)
    path = saved(made, tmp_path / "own.xlsx")
    book, _ = filled(path)
    assert "C20:E22: its title shows no √d_k, but its formulas divide by it" in book.report()[0]
    assert not fill_file(path, {"scale": False}).report()[0].endswith("--no-scale.")


def test_totals_of_a_budget_and_points_of_a_class_stay_blank(tmp_path: Path) -> None:
    """A frame whose labels are no words of the sentence is no copy of its output, and one with other
    dimensions none of its input."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Budget", ["Rent", "Food"], ["Jan", "Feb"], X[:2, :2])
    sheet.block(2, 9, "Sum", ["Rent", "Food"], [None])
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, len(book.attention)) == (0, 2)
    assert "names Softmax.Sum, which does not fit there" in book.attention[0]
    made, words = openpyxl.Workbook(), PETS[:3]
    AuthorSheet(made.active).block(2, 2, "Embeddings", words, DIMS, X[:3])
    AuthorSheet(made.active).block(10, 2, "Output", words, DIMS)
    AuthorSheet(made.active).block(18, 2, "Vectors", words, "xyz")
    AuthorSheet(made.create_sheet("Class")).block(2, 2, "Output", ["Ann", "Bob", "Cid"], DIMS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.filling.count == 9


def test_a_maximum_is_no_row_of_a_frame_that_another_title_heads(tmp_path: Path) -> None:
    """`Masked scores` stands left of the first row; the model has a mask only because of it."""
    made, words = openpyxl.Workbook(), PETS[:3]
    AuthorSheet(made.active).block(10, 2, "Embeddings", words, DIMS, X[:3])
    for column, text in zip("CDEG", (*words, "Max")):
        made.active[f"{column}2"] = text
    made.active["B3"] = "Masked scores"
    for cell in (f"{column}{row}" for column in "CDEG" for row in (3, 4, 5)):
        made.active[cell].border = EDGE
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    found = {frame.step: frame.place.range for _, frame, _ in book.filling.frames}
    assert found == {"Masked": "C3:E5", "Softmax.Maximum": "G3:G5"}


def test_steps_of_layers_on_sheets_of_their_own_are_no_sentences(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    AuthorSheet(made.active).block(2, 2, "Embeddings", words, DIMS, X[:3])
    for layer in (1, 2):
        sheet = AuthorSheet(made.create_sheet(f"Layer {layer}"), labels=False)
        for n, name in enumerate(("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2")):
            sheet.block(2, 2 + 8 * n, name, DIMS, DIMS, np.eye(3) / (n + layer))
        for n, title in enumerate(("Add & Norm", "Feed-forward output", "Add & Norm")):
            sheet.block(10, 2 + 8 * n, title, words, DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (2 * 27, [])
    (graph,) = attn_xl.attend(out, model="encoder", layers=2).values()
    last = book.filling.frames[-1][1]
    _, found = values_in(read_drawn(out).sheets[2], last.place, False)
    np.testing.assert_allclose(found, graph["Enc2.Norm_2"].values, rtol=1e-12)


@pytest.mark.parametrize("titled", [True, False])
def test_a_typed_number_amid_products_is_found(titled: bool, tmp_path: Path) -> None:
    """The product below it is no sum; without a title, the other numbers tell the step."""
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Embeddings", words, [None] * 3, X[:3])
    sheet.block(8, 2, "Attention weights", words, words)
    sheet.block(14, 2, "Output", [None] * 3, [None] * 3)
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    made = openpyxl.load_workbook(out)
    made["Sheet"]["C17"] = 4.2
    made["Sheet"]["B14"] = "Output" if titled else None
    book, _ = filled(saved(made, tmp_path / "again.xlsx"))
    (said,) = book.attention
    assert said.startswith("Sheet!C17: the number 4.2 is typed where a formula belongs; Output should")


def test_a_list_of_pairs_has_no_frame(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for line in [["Embeddings", *DIMS], *([word, *x] for word, x in zip(PETS[:3], X.tolist())), []]:
        made.active.append(line)
    made.active.append(["query", "key", "dot product", "scaled", "exp", "weight"])
    for word in PETS[:3]:
        for other in PETS[:3]:
            made.active.append([word, other])
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    assert not book.filling.frames
    assert len(book.attention) == 7


def test_heads_without_weights_are_named_and_left_blank(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Embeddings", PETS, DIMS, X)
    sheet.block(10, 2, "Concat", PETS, DIMS)
    for head in (1, 2):
        sheet.block(10, 2 + 8 * head, f"Scores (head {head})", PETS, PETS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.filling.frames
    assert sum("but heads need W_Q, W_K and W_V" in line for line in book.attention) == 3


@pytest.mark.parametrize(
    ("positions", "both"),
    [("Position embeddings", "Token + position embeddings"), ("Position vectors", "Sum")],
)
def test_typed_positions_are_added_and_a_cell_elsewhere_is_no_frame(
    positions: str, both: str, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Token embeddings", PETS, DIMS, X)
    sheet.block(2, 10, positions, "01234", DIMS, X / 4)
    sheet.block(12, 2, both, PETS, DIMS)
    made.create_sheet("Summary").append(["largest", 3])
    made["Summary"].append(["max", 4])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    ((_, frame, _),) = book.filling.frames
    _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
    np.testing.assert_allclose(values, X + X / 4)
    assert not book.attention


def test_a_mask_that_is_begun_is_completed(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(12, 2, "Mask", PETS, PETS, lambda i, j: None if i else -1e9 * (j > 0))
    sheet.block(22, 2, "Softmax", PETS, PETS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.filling.count == 20 + 25
    assert book.filling.cells["Sheet"][15][5].value == -1e9


@pytest.mark.parametrize(
    ("seen", "hidden", "why"),
    [
        (0, "-inf", "the text '-inf': type -1E9 in its place."),
        (True, False, "TRUE or FALSE: type 1 or 0 in its place."),
    ],
)
def test_a_mask_without_numbers_is_named(seen: Any, hidden: Any, why: str, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.sentence(2, 2, PETS[:2], X[:2])
    sheet.block(2, 12, "Causal mask", PETS[:2], PETS[:2], lambda i, j: hidden if j > i else seen)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    (left,) = book.attention
    assert left.endswith(f"no formula can add {why}")


@thorough
@pytest.mark.parametrize("borders", [True, False])
def test_a_sentence_is_a_title_only_over_a_blank_frame_of_a_step_that_no_title_names(
    borders: bool, tmp_path: Path
) -> None:
    """W_U, which attention does not use, is said."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, borders=borders)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(2, 8, "W_U", DIMS, PETS, X.T)
    texts = (
        "Dot product of all pairs",
        "Divide by √d",
        "Softmax",
        "Chances of words",
        "Weighted sum of words",
    )
    for n, text in enumerate(texts):
        sheet.block(14 + 9 * n, 2, text, PETS, DIMS if n == 4 else PETS)
    sheet.sheet["K20"] = "A weighted sum is no dot product."
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    check(book, out, X)
    assert book.attention == [
        "Sheet!C43:G47: is blank, and 'Chances of words' names no step. Say which: --call "
        '"Chances of words=STEP".',
        "Sheet!I4: W_U stands here, which the model does not use.",
    ]
    made.active.delete_rows(13, 60)
    made.save(tmp_path / "own.xlsx")
    with pytest.raises(InputError, match="does not use W_U"):
        fill_file(tmp_path / "own.xlsx", {})


@pytest.mark.parametrize("across", [False, True])
def test_titles_beside_frames_that_nothing_labels(across: bool, tmp_path: Path) -> None:
    """Each has the frame beside it, not the one further down; frames tell where the words stand, though
    W_Q fits from both sides."""
    made, rng, row = openpyxl.Workbook(), np.random.default_rng(8), 1
    x, w = rng.integers(-3, 4, (2, 4)) / 2, rng.integers(-3, 4, (4, 2)) / 2
    weights = np.exp(x @ w @ (x @ w).T / 2**0.5)
    weights /= weights.sum(axis=1, keepdims=True)
    blocks = {"Input": x, "W_Q": w, "W_K": w, "W_V": w, "Attention": weights, "Output": weights @ x @ w}
    places = {}
    for title, block in blocks.items():
        shown = block.T if across else block
        made.active.cell(row, 1, title)
        for (i, j), value in np.ndenumerate(shown):
            cell = made.active.cell(row + i, 2 + j)
            cell.border = EDGE
            cell.value = None if title in ("Attention", "Output") else value
        places[title] = row, shown
        row += len(shown) + 1
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    for top, shown in (places["Attention"], places["Output"]):
        _, values = values_in(read_drawn(out).sheets[0], Place("", top, 2, *shown.shape), False)
        np.testing.assert_allclose(values, shown, rtol=1e-12, atol=1e-14)


def test_sentences_of_other_lengths_side_by_side_do_not_mislead_each_other(tmp_path: Path) -> None:
    """As many words in the first as dimensions: its frames do not say that the second lies across."""
    made, short = openpyxl.Workbook(), ("river", "mouse", "runs")
    sheet, dims = AuthorSheet(made.active, borders=False), ("d1", "d2", "d3", "d4", "d5")
    for column, words in ((1, PETS), (8, short)):
        sheet.block(2, column, "X", words, dims, numbers(words, 5))
        for n, (title, columns) in enumerate(
            {"Scores": words, "Weights": words, "Output": dims}.items(), 1
        ):
            sheet.block(2 + n * (len(words) + 3), column, title, words, columns)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (3 * 25 + 2 * 9 + 15, [])
    assert not any(frame.turned for _, frame, _ in book.filling.frames)


def test_a_softmax_of_a_column_of_numbers_is_no_attention(tmp_path: Path) -> None:
    """Nor is its first number a word of one dimension."""
    made = openpyxl.Workbook()
    rows = [[n, "", f"=EXP(A{n + 1})", "", f"=C{n + 1}/C$7"] for n in range(1, 5)]
    for row in (["x", "", "e^x", "", "Softmax(x)"], *rows, [], ["", "", "=SUM(C2:C5)"]):
        made.active.append(row)
    with pytest.raises(InputError, match="has no input to start from"):
        fill_file(saved(made, tmp_path / "own.xlsx"), {})


def test_numbers_that_are_texts_are_named(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for row in (["Input"], ["the", "1,5", "2"], ["cat", "0", "1"], ["Scores"]):
        made.active.append(row)
    with pytest.raises(InputError, match=r"no input to start from\. Sheet!B2 holds the text '1,5'"):
        fill_file(saved(made, tmp_path / "own.xlsx"), {})


@thorough
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("looks", ["at each other", "at others", "without labels"])
def test_attention_weights_may_be_given(looks: str, across: bool, tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, across=across, labels=looks != "without labels")
    words = DESK[:2] if looks == "at others" else PETS
    a = np.random.default_rng(3).integers(0, 2, (len(words), 5)) * 1.0
    values = "V" if looks != "without labels" else "X"
    sheet.block(2, 2, "Attention weights", words, PETS, a)
    sheet.block(12, 2, values, PETS, DIMS, X)
    sheet.block(22, 2, "Output", words, DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    ((_, frame, _),) = book.filling.frames
    _, shown = values_in(read_drawn(out).sheets[0], frame.place, frame.turned)
    np.testing.assert_allclose(shown, a @ X, rtol=1e-12)
    assert not book.attention
    assert not book.filling.steps
    with pytest.raises(InputError, match=r"attention weights of|looks at the words of"):
        fill_file(tmp_path / "own.xlsx", {}, tables=attn_xl.read_tables(SAMPLES / "mouse.xlsx"))


@thorough
@alike
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("between", ["nothing", "Residual", "Mean"])
def test_layers_without_a_norm_or_a_skip_connection(given: bool, between: str, tmp_path: Path) -> None:
    """The Transformer of "AI by Hand": attention, then a network, and nothing between them."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(3)
    sheet, hidden = AuthorSheet(made.active), ("h1", "h2")
    a = rng.integers(0, 2, (5, 5)) * 1.0 if given else naive_attention(X, X, X)[0]
    w_1, b_1, w_2 = (rng.integers(-5, 6, shape) / 10 for shape in ((3, 2), (1, 2), (2, 3)))
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(12, 2, "Attention weights", PETS, PETS, a if given else None)
    sheet.block(22, 2, "Z", PETS, DIMS)
    for row, (title, values) in enumerate((("W1", w_1), ("b1", b_1), ("W2", w_2))):
        labels = (DIMS, hidden)[:: 1 if title != "W2" else -1]
        sheet.block(2 + 8 * row, 10, title, labels[0][: len(values)], labels[1], values)
    z = a @ X
    if between != "nothing":
        sheet.block(32, 2, "X + Z", PETS, DIMS)
        z = z + X
    if between == "Mean":
        sheet.block(42, 2, "Mean", PETS, ("m",))
        sheet.block(42, 10, "LayerNorm", PETS, DIMS)
        mean = z.mean(1, keepdims=True)
        z = (z - mean) / np.sqrt(z.var(1, keepdims=True) + 1e-5)
    else:
        sheet.block(52, 10, "Sum of the row", PETS, ("sum",))  # no skip connection
    sheet.block(52, 2, "ReLU", PETS, hidden)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    shown = {}
    for _, frame, _ in book.filling.frames:
        _, shown[frame.step] = values_in(read_drawn(out).sheets[0], frame.place, frame.turned)
    np.testing.assert_allclose(shown["Enc1.Activated"], np.maximum(0, z @ w_1 + b_1), rtol=1e-12)
    if between == "Mean":
        np.testing.assert_allclose(shown["Enc1.Norm_1.Mean"], mean, rtol=1e-12, atol=1e-12)


def test_a_norm_before_scores_is_first_and_the_output_of_a_block_a_sum(tmp_path: Path) -> None:
    w_1, w_2 = np.eye(3, 2), np.ones((2, 3)) / 4
    titles = "LayerNorm 1", "Attention weights", "Attention output", "Residual 1", "LayerNorm 2"
    blocks: list[Any] = [(2, 2, "Input", X), (2, 9, "W1", w_1), (2, 16, "W2", w_2)]
    blocks += [(12 + 9 * n, 2, one, (5, 5 if n == 1 else 3)) for n, one in enumerate(titles)]
    blocks += [(12, 12, "ReLU(LN2 x W1)", (5, 2)), (21, 12, "Output of the block = Res + FFN", (5, 3))]
    *_, total = filled_blocks(tmp_path, blocks)
    y = X + naive_attention(*[norm_of(X)] * 3)[1]
    np.testing.assert_allclose(total, y + np.maximum(norm_of(y) @ w_1, 0) @ w_2, rtol=1e-9)


def test_three_heads_below_headings_in_their_rows(tmp_path: Path) -> None:
    blocks: list[Any] = [(1, 1, "Input", X)]
    weights = np.random.default_rng(5).integers(-9, 10, (3, 3, 3, 2)) / 10
    for n, own in enumerate(weights):
        blocks += [(10 + 9 * n, 3 + 4 * m, f"W{kind}", own[m]) for m, kind in enumerate("qkv")]
        blocks.append((10 + 9 * n, 20, "head output", (5, 2)))
    headings = {f"A{10 + 9 * n}": f"Head {n + 1}" for n in range(3)}
    shown = filled_blocks(tmp_path, [*blocks, (40, 1, "Concatenate", (5, 6))], headings)
    wanted = [naive_attention(*(X @ w for w in own))[1] for own in weights]
    np.testing.assert_allclose(np.hstack(shown), np.hstack([*wanted, *wanted]), rtol=1e-12, atol=1e-15)


def test_titles_left_of_the_blocks_of_all_heads(tmp_path: Path) -> None:
    """A column for each head below its heading, which is no title of the weights below it."""
    weights = np.random.default_rng(5).integers(-9, 10, (3, 3, 3, 2)) / 10
    blocks: list[Any] = [(1, 1, "", X)]
    for n, own in enumerate(weights):
        blocks += [(8 + 4 * m, 1 + 4 * n, "", w) for m, w in enumerate(own)]
        blocks.append((20, 1 + 4 * n, "", (5, 2)))
    texts = {f"{column}9": f"Head {n}" for n, column in enumerate("BFJ", 1)}
    texts |= {"A2": "X", "A10": "W_Q", "A14": "W_K", "A18": "W_V", "A22": "Z"}
    shown = filled_blocks(tmp_path, blocks, texts)
    wanted = [naive_attention(*(X @ w for w in own))[1] for own in weights]
    np.testing.assert_allclose(shown, wanted, rtol=1e-12, atol=1e-15)


def test_an_exercise_on_attention_gives_no_weights(tmp_path: Path) -> None:
    """Its heading stands over the input, and its questions, not the heading, name the steps."""
    blocks = [(4, 1, "", X), (12, 1, "a) Compute the dot products of all pairs of words.", (5, 5)),
              (20, 1, "b) Apply the softmax function to each row.", (5, 5))]  # fmt: skip
    texts = {"A1": "Exercise 3 \u2013 Attention", "A4": "Given are five word vectors:"}
    scores, weights = filled_blocks(tmp_path, blocks, texts)
    np.testing.assert_allclose(scores, X @ X.T, rtol=1e-12)
    np.testing.assert_allclose(weights, naive_attention(X, X, X)[0], rtol=1e-12)


def test_sin_and_cos_beside_each_other_are_labels(tmp_path: Path) -> None:
    blocks = [(2, 1, "Input", X), (1, 8, "Positional encoding PE(pos, i)", (5, 3))]
    (shown,) = filled_blocks(tmp_path, blocks, {"I2": "sin", "J2": "cos", "K2": "sin"})
    np.testing.assert_allclose(shown[1], [np.sin(1), np.cos(1), np.sin(1e4 ** (-2 / 3))], rtol=1e-12)


def test_heads_may_share_keys_and_a_plain_gamma_is_that_of_every_norm(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    w = {f"W_{name}": rng.integers(-5, 6, (3, 2)) / 4 for name in ("Q1", "Q2", "K", "V")}
    w |= {"W_O": np.eye(4, 3), "\u03b3": np.array([[1, 2, 0.5]]), "\u03b2": np.array([[0, 1, -1]])}
    blocks: list[Any] = [(2, 2, "X", X)]
    blocks += [(2, 8 + 5 * n, name, values) for n, (name, values) in enumerate(w.items())]
    titles = "Multi-head attention output", "X + Z", "LayerNorm(X + Z)"
    blocks += [(12 + 9 * n, 2, title, (5, 3)) for n, title in enumerate(titles)]
    *_, shown = filled_blocks(tmp_path, blocks)
    heads = [naive_attention(*(X @ w[name] for name in (q, "W_K", "W_V")))[1] for q in ("W_Q1", "W_Q2")]
    wanted = norm_of(X + np.hstack(heads) @ w["W_O"]) * w["\u03b3"] + w["\u03b2"]
    np.testing.assert_allclose(shown, wanted, rtol=1e-10)


def test_p_and_o_beside_s_are_weights_and_output(tmp_path: Path) -> None:
    shapes = {"Q": 3, "K": 3, "V": 3, "S": 5, "P": 5, "O": 3}
    blocks: list[Any] = [(1, 8 * n + 1, f"W{kind}", np.eye(3)) for n, kind in enumerate("qkv")]
    blocks += [(10, 8 * n + 1, title, (5, width)) for n, (title, width) in enumerate(shapes.items())]
    *_, p, o = filled_blocks(tmp_path, [(1, 30, "X", X), *blocks])
    for shown, wanted in zip((p, o), naive_attention(X, X, X), strict=True):
        np.testing.assert_allclose(shown, wanted, rtol=1e-12)


@pytest.mark.parametrize("title", ["Attention weights", "Causal attention weights"])
def test_no_word_looks_at_padding(tmp_path: Path, title: str) -> None:
    """Also where a title tells that later words are hidden, too."""
    made, words = openpyxl.Workbook(), ("the", "cat", "[PAD]")
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", words, DIMS, X[:3])
    sheet.block(10, 2, title, words, words)
    (shown,) = shown_in(*filled(saved(made, tmp_path / "own.xlsx"))).values()
    powers = np.exp(X[:3] @ X[:3].T / np.sqrt(3)) * [1, 1, 0]
    powers = np.tril(powers) if "Causal" in title else powers
    np.testing.assert_allclose(shown, powers / powers.sum(1, keepdims=True), rtol=1e-12)


def test_a_layer_of_llama(tmp_path: Path) -> None:
    """Its weights and its titles tell the gate, its function, the norms that stand first and the last;
    `Up` and `Down projection` are steps beside such weights."""
    rng = np.random.default_rng(4)
    kinds = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (3, 3))
    kinds |= {"W_gate": (3, 4), "up_proj": (3, 4), "W_down": (4, 3)}
    w = {name: rng.integers(-3, 4, shape) / 4 for name, shape in kinds.items()}
    blocks: list[Any] = [(2, 2, "X", X)]
    blocks += [(2, 8 + 5 * n, name, values) for n, (name, values) in enumerate(w.items())]

    def rms(x: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-5)

    h = rms(X)
    h = X + naive_attention(*(h @ w[name] for name in ("W_Q", "W_K", "W_V")))[1] @ w["W_O"]
    gate, up = rms(h) @ w["W_gate"], rms(h) @ w["up_proj"]
    gated = gate / (1 + np.exp(-gate)) * up
    last = h + gated @ w["W_down"]
    wanted = {"RMSNorm": rms(X), "Attention weights": naive_attention(*(rms(X) @ w[name] for name in
              ("W_Q", "W_K", "W_V")))[0], "Residual": h, "RMS norm": rms(h), "Gate": gate,
              "SiLU(gate)": gated / up, "Up": up, "SiLU(gate) \u2299 up": gated,
              "Down projection": gated @ w["W_down"], "Add": last, "Final norm": rms(last)}  # fmt: skip
    blocks += [(12 + 9 * n, 2, title, one.shape) for n, (title, one) in enumerate(wanted.items())]
    for shown, values in zip(filled_blocks(tmp_path, blocks), wanted.values(), strict=True):
        np.testing.assert_allclose(shown, values, rtol=1e-10)


def test_queries_and_keys_turned_by_their_positions(tmp_path: Path) -> None:
    x = X[:, :2]
    blocks: list[Any] = [(2, 8 + 5 * n, f"W_{kind}", np.eye(2)) for n, kind in enumerate("QKV")]
    titles = {"Rotated Q (RoPE)": 2, "Keys after RoPE": 2, "Scores": 5}
    blocks += [(12 + 9 * n, 2, title, (5, width)) for n, (title, width) in enumerate(titles.items())]
    q, k, scores = filled_blocks(tmp_path, [(2, 2, "X", x), *blocks])
    pairs = enumerate((x @ [1, 1j]).tolist())  # a pair of dimensions as one complex number
    turned = np.array([one * np.exp(1j * place) for place, one in pairs])
    np.testing.assert_allclose(q @ [1, 1j], turned, rtol=1e-12)
    np.testing.assert_allclose(k, q, rtol=1e-12)
    np.testing.assert_allclose(scores, q @ k.T, rtol=1e-12)


@pytest.mark.parametrize("title", ["Scaled scores + ALiBi", "Scores / \u221ad + bias"])
def test_a_bias_of_positions(tmp_path: Path, title: str) -> None:
    """Typed, it is added as a mask is; without it, that of ALiBi is."""
    bias = -np.abs(np.subtract.outer(range(5), range(5))) / (256 if "ALiBi" in title else 2)
    given = [] if "ALiBi" in title else [(2, 9, "Position bias", bias)]
    blocks = [(2, 2, "X", X), *given, (12, 2, title, (5, 5)), (20, 2, "Softmax", (5, 5))]
    shown, weights = filled_blocks(tmp_path, blocks)
    np.testing.assert_allclose(shown, X @ X.T / np.sqrt(3) + bias, rtol=1e-12)
    powers = np.exp(shown)
    np.testing.assert_allclose(weights, powers / powers.sum(1, keepdims=True), rtol=1e-12)


def test_a_class_called_pos_numbers_no_words(tmp_path: Path) -> None:
    """Titles tell that a classifier has the mean of the outputs."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(4)
    sheet, classes = AuthorSheet(made.active), ("pos", "neg")
    w_c, b_c = np.array([[0, -0.5], [1, 0.5], [2, 1]]), rng.integers(-2, 3, (1, 2)) / 4
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(2, 9, "W_C", DIMS, classes, w_c)
    sheet.block(10, 9, "b_C", ["b"], classes, b_c)
    sheet.block(20, 2, "Mean of the outputs", ["mean"], DIMS)
    sheet.block(26, 2, "Class probabilities", ["p"], classes)
    pooled, shown = shown_in(*filled(saved(made, tmp_path / "own.xlsx"))).values()
    np.testing.assert_allclose(pooled, [naive_attention(X, X, X)[1].mean(0)], rtol=1e-12)
    powers = np.exp(pooled @ w_c + b_c)
    np.testing.assert_allclose(shown, powers / powers.sum(), rtol=1e-12)
    assert attn_xl.read_tables(tmp_path / "own.xlsx").weights["W_C"].values.tolist() == w_c.tolist()


def test_numbers_beside_titles_count_the_steps(tmp_path: Path) -> None:
    """Also for `convert`; the frames stand right of the titles."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    for n, title in enumerate(("Input", *STEPS)):
        columns = DIMS if title in ("Input", "Output") else PETS
        sheet.block(9 * n + 2, 4, "", PETS, columns, None if n else X)
        for column, value in enumerate((n + 1, title), 1):
            made.active.cell(9 * n + 4, column, value)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention) == (4, [])
    tables = attn_xl.read_tables(tmp_path / "own.xlsx")
    assert [one.shape for one in tables.sentences.values()] == [X.shape]


def test_a_list_of_steps_right_of_the_input_is_no_part_of_it(tmp_path: Path) -> None:
    """Also once it is filled in, for `convert` too."""
    made = openpyxl.Workbook()
    made.active.append(["word", "x1", "x2", "x3", "score with mouse", "softmax"])
    for word, x in zip(PETS, X.tolist()):
        made.active.append([word, *x])
    made.active["A8"] = "output for mouse"
    for cell in (cell for place in ("E2:F6", "B8:D8") for row in made.active[place] for cell in row):
        cell.border = EDGE
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (13, [])
    assert [one.shape for one in attn_xl.read_tables(out).sentences.values()] == [X.shape]


def test_a_single_number_below_a_date_is_no_input(tmp_path: Path) -> None:
    """The scores are given, and no title tells of an input."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Scores", PETS, PETS, X @ X.T)
    sheet.block(10, 2, "Softmax", PETS, PETS)
    for row in (["Last update", datetime.date(2025, 3, 1)], ["Version", 1.2]):
        made.active.append([None, *row])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    e = np.exp(X @ X.T)
    np.testing.assert_allclose(shown_in(book, out)["Softmax"], e / e.sum(axis=1)[:, None], rtol=1e-12)


def test_texts_that_repeat_others_are_titles_and_labels(tmp_path: Path) -> None:
    """As formulas, which a template keeps for other words."""
    made = openpyxl.Workbook()
    texts = [title for title in STEPS if title != "Scaled"]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for n, title in enumerate(texts):
        sheet.block(9 * n + 11, 2, title, PETS, DIMS if title == "Output" else PETS)
        made.active.cell(9 * n + 11, 2, f"='My texts'!$A{n + 1}")
        for row in range(5):
            made.active.cell(9 * n + 13 + row, 2, f"=B{4 + row}")
    own = made.create_sheet("My texts")
    for title in texts:
        own.append([title])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    check(book, out, X, frames=3)
    words = ["a", "b", "c", "d", "e", "f", "g"]
    own = openpyxl.Workbook()
    for line in ([None, *DIMS], *([word, n, -n, 1] for n, word in enumerate(words))):
        own.active.append(line)
    command = [
        "convert",
        str(saved(own, tmp_path / "words.xlsx")),
        "--template",
        str(tmp_path / "own.xlsx"),
    ]
    with pytest.raises(SystemExit):
        main([*command, "-o", str(tmp_path / "grown.xlsx")])
    grown = openpyxl.load_workbook(tmp_path / "grown.xlsx").active
    assert [grown.cell(15 + n, 2).value for n in range(7)] == [f"=B{4 + n}" for n in range(7)]


def test_class_weights_that_do_not_fit_are_left_out_and_said(tmp_path: Path) -> None:
    made = without_scaled(PETS)
    AuthorSheet(made.active).block(2, 12, "W_C", "abcd", ("pos", "neg"), np.ones((4, 2)))
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), len(book.attention)) == (3, 1)
    assert book.attention[0].endswith("W_C stands here, which the model does not use.")


@pytest.mark.parametrize("title", ["Masked attention weights", "Attention weights"])
def test_next_words_after_attention_without_weights(title: str, tmp_path: Path) -> None:
    """The mask is told where no title does."""
    shapes = {title: (5, 5), "Context vectors": (5, 3), "Logits": (5, 4), "Probabilities": (5, 4)}
    blocks: list[Any] = [(2, 2, "Input", X), (2, 10, "Vocabulary", Y[:4])]
    blocks += [(12 + 9 * n, 2, name, shape) for n, (name, shape) in enumerate(shapes.items())]
    weights, output, logits, _ = filled_blocks(tmp_path, blocks)
    powers = np.tril(np.exp(X @ X.T / np.sqrt(3)))
    np.testing.assert_allclose(weights, powers / powers.sum(1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(output, weights @ X, rtol=1e-12)
    np.testing.assert_allclose(logits, output @ Y[:4].T, rtol=1e-12)
    says = fill_file(tmp_path / "own.xlsx", {}).report()[0].endswith("the next words are predicted.")
    assert says == ("Masked" not in title)


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("across", [False, True])
def test_two_words_are_compared_in_single_cells(across: bool, above: bool, tmp_path: Path) -> None:
    """Beside their titles, or below these in a row; a word that is all zeros has no direction."""
    made, vectors = openpyxl.Workbook(), X[:2]
    AuthorSheet(made.active, across=across).block(2, 2, "Vectors", ("king", "queen"), DIMS, vectors)
    (dot,), lengths = vectors[:1] @ vectors[1], np.sqrt((vectors**2).sum(1))
    cosine = dot / lengths.prod()
    titles = {"king · queen": dot, "|king|": lengths[0], "Length of queen:": lengths[1],
              "cos θ": cosine, "Angle": np.degrees(np.arccos(cosine))}  # fmt: skip
    for n, title in enumerate(titles):
        row, column = (11, 3 + n) if above else (12 + n, 2)
        made.active.cell(row, column, title)
        made.active.cell(row + above, column + (not above)).border = EDGE
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    cells = openpyxl.load_workbook(out, data_only=True).active["C12:G12" if above else "C12:C16"]
    np.testing.assert_allclose(
        [one.value for row in cells for one in row], [*titles.values()], rtol=1e-12
    )
    with pytest.raises(InputError, match=r"C12 compares the words of Sheet!C4:.* cannot replace"):
        fill_file(out, {}, tables=attn_xl.read_tables({"few": X[:2]}))
    for cell in ("C4", "C5", "C6") if across else ("C4", "D4", "E4"):
        made.active[cell] = 0
    with pytest.raises(InputError, match="the length of the embedding of 'king' is 0"):
        fill_file(saved(made, tmp_path / "zero.xlsx"), {})


def test_a_fill_beside_a_title_is_no_frame(tmp_path: Path) -> None:
    made = without_scaled(PETS[:3])
    for top in (2, 9, 16, 23):
        for cell in (cell for row in made.active[f"B{top}:E{top + 4}"] for cell in row):
            cell.fill = PatternFill("solid", "DDEBF7")
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention) == (3, [])


@pytest.mark.parametrize("gap", [0, 1])
@pytest.mark.parametrize("borders", [True, False])
@pytest.mark.parametrize("line", [True, False])
def test_a_fill_over_the_width_of_a_block_belongs_to_its_title(
    line: bool, gap: int, borders: bool, tmp_path: Path
) -> None:
    """Or a line; also over numbers, and with a blank row below. One beside a row of blank cells is its
    frame's. The corner of labels is no frame."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(2)
    sheet, w = AuthorSheet(made.active, borders=borders), rng.integers(-9, 10, (3, 3, 3)) / 10
    blocks: list[Any] = [(2, 2, "Input", PETS, X)]
    blocks += [(2, 8 + 6 * n, f"W_{name}", DIMS, one) for n, (name, one) in enumerate(zip("QKV", w))]
    blocks += [(12 + 10 * n, 2, name, PETS, None) for n, name in enumerate(("Softmax", "Output"))]
    for row, column, title, rows, content in blocks:
        columns = PETS if title == "Softmax" else DIMS
        sheet.block(row, column, "", rows, columns, content)
        made.active.cell(row - gap, column, title)
        for c in range(column, column + 1 + len(columns)):
            if line:
                made.active.cell(row - gap, c).border = Border(bottom=Side("medium"))
            else:
                made.active.cell(row - gap, c).fill = PatternFill("solid", "1F4E78")
        made.active.cell(row + 1, column).border = EDGE
    for c in range(2, 8):
        made.active.cell(32, c, "Means" if c == 2 else None).fill = PatternFill("solid", "FFF2CC")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention[:-1]) == (2, [])
    assert book.attention[-1].startswith("Sheet!C32:G32: ")
    output = naive_attention(*(X @ one for one in w))[1]
    np.testing.assert_allclose(shown_in(book, out)["Output"], output, rtol=1e-12)


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize(
    "paper",
    [PatternFill("solid", color) for color in ("FFFFFF", "DDEBF7", "1F2937")] + ["FFFFFF", "000000"],
    ids=["white", "blue", "dark", "white borders", "borders"],
)
def test_what_a_whole_sheet_has_is_no_frame(paper: Any, labels: bool, tmp_path: Path) -> None:
    """A fill, white borders over the grid, or borders of all cells, which leave the labels alone."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, labels=labels)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for n, (title, columns) in enumerate({"Scores": PETS, "Softmax": PETS, "Output": DIMS}.items()):
        sheet.block(10 + 8 * n, 2, title, PETS, columns)
    for cell in (cell for row in made.active["A1:K40"] for cell in row):
        if isinstance(paper, PatternFill):
            cell.fill = paper
            if paper.fgColor.rgb == "001F2937" and cell.border.left.style:
                white = Side("thin", color="FFFFFF")
                cell.border = Border(white, white, white, white)
        elif paper == "000000" or not cell.border.left.style:
            side = Side("thin", color=paper)
            cell.border = Border(side, side, side, side)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    if labels or paper != "000000":
        places = [frame.where for _, frame, _ in book.filling.frames]
        assert places == ["Sheet!C12:G16", "Sheet!C20:G24", "Sheet!C28:E32"]
        check(book, out, X, frames=3)


@pytest.mark.parametrize(
    ("words", "labels", "edges"),
    [(1, True, {1: "tb", 6: "b"}), (0, False, {2: "t", 6: "b"}), (0, False, {2: "t", 7: "t"}),
     (1, False, {2: "t", 6: "b"})],
    ids=["labels", "none", "drawn below", "titles left"],
)  # fmt: skip
def test_frames_between_two_lines(
    words: int, labels: bool, edges: dict[int, str], tmp_path: Path
) -> None:
    """As tables in print have them: over the words, too, and above and below those of columns."""
    made, line = openpyxl.Workbook(), Side("medium")
    sheet = AuthorSheet(made.active, labels=labels, borders=False)
    for n, title in enumerate(("Input", *(step for step in STEPS if step != "Scaled"))):
        row, columns = 9 * n + 2, DIMS if n in (0, 3) else PETS
        left = words > labels  # the title
        sheet.block(row, 2, "" if left else title, PETS, columns, None if n else X)
        if left:
            made.active.cell(row + 3, 2, title)
        for column in range(3 - words, 3 + len(columns)):
            for below, sides in edges.items():
                top, bottom = (line if side in sides else None for side in "tb")
                made.active.cell(row + below, column).border = Border(top=top, bottom=bottom)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    check(book, out, X, frames=3)


@pytest.mark.parametrize(
    ("words", "wide", "first", "labels"), [(3, 2, 0, True), (4, 1, 1, True), (5, 0, 0, False)],
    ids=["and a heading", "and labels", "no labels"],
)  # fmt: skip
def test_frames_whose_every_second_row_has_a_fill(
    words: int, wide: int, first: int, labels: bool, tmp_path: Path
) -> None:
    """Without borders."""
    made, own, x = openpyxl.Workbook(), PETS[:words], X[:words]
    sheet = AuthorSheet(made.active, labels=labels, borders=False)
    for n, title in enumerate(("Input", "Scores", "Softmax", "Output")):
        columns = DIMS if n in (0, 3) else own
        sheet.block(9 * n + 2, 2, title, own, columns, None if n else x)
        for row in (*(range(first, words, 2)), *[-1] * (wide > 1)):
            color = "8EA9DB" if row < 0 else "F3F3F3"
            for column in range(3 - (wide > 0), 3 + len(columns)):
                cell = made.active.cell(9 * n + 4 + row, column)
                cell.fill = PatternFill("solid", fgColor=color)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    frames = [frame.place for _, frame, _ in book.filling.frames]
    assert [(place.row, place.column) for place in frames] == [(13, 3), (22, 3), (31, 3)]
    check(book, out, x, frames=3)


def test_a_note_below_the_labels_of_a_frame_is_no_label(tmp_path: Path) -> None:
    """On a sheet that is named as the step; the cells right of the note have no borders."""
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", PETS, DIMS, X)
    AuthorSheet(made.create_sheet("Softmax")).block(2, 2, "", PETS, PETS)
    made["Softmax"].cell(9, 2, "Each row sums to 1")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    check(book, out, X, frames=1)


@pytest.mark.parametrize("boxed", [True, False])
def test_white_borders_round_a_frame_on_a_sheet_without_words(boxed: bool, tmp_path: Path) -> None:
    """The sheet's name is the title; the frame has boxes, or a line above and one below."""
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", PETS, DIMS, X)
    side = Side("thin", color="FFFFFF")
    for cell in (cell for row in made.create_sheet("Scores")["A1:K20"] for cell in row):
        framed = 3 <= cell.row <= 7 and 3 <= cell.column <= 7
        cell.border = EDGE if framed else Border(side, side, side, side)
        if framed and not boxed:
            top, bottom = (Side("thin") if cell.row == row else None for row in (3, 7))
            cell.border = Border(top=top, bottom=bottom)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.where for _, frame, _ in book.filling.frames] == ["Scores!C3:G7"]


@pytest.mark.parametrize("words", [PETS, [None] * 5])
@pytest.mark.parametrize("columns", [PETS, DIMS])
def test_a_blank_frame_of_the_words_without_a_title_is_said(
    columns: Any, words: Any, tmp_path: Path
) -> None:
    """Below numbers, too, labelled on one side, and in capitals."""
    made, capitals = openpyxl.Workbook(), [word.upper() for word in PETS]
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(10, 2, "Scores", capitals, capitals)
    sheet.block(18, 2, "", words, [word.upper() for word in columns])
    made.active["D17"] = 5
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    step, end = ("Softmax", "G24") if columns is PETS else ("Output", "E24")
    said = f"Sheet!C20:{end}: is blank, and no title names its step, such as {step}."
    assert (len(book.filling.frames), book.attention) == (1, [said])


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize(
    ("titles", "told"),
    [
        (["Softmax, temperature 2"], [2]),
        (["Softmax, temperature 2 (3 decimals)", "Softmax (temp. 3)"], [2, 3]),
        (["Softmax (T=2)", "Softmax (T=0.5)"], [2, 0.5]),
        (["Softmax", "Softmax (T=0.5)", "Softmax (T=2)"], [1, 0.5, 2]),
        (["Softmax", "Softmax (T=2)"], [1, 2]),
        (["Softmax at t = 3"], [1]),  # a time
    ],
)
def test_titles_tell_temperatures(
    titles: list[str], told: list[float], centered: bool, tmp_path: Path
) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, centered=centered)
    sheet.block(2, 2, "Scores", PETS, PETS, X @ X.T)
    for n, title in enumerate(titles, 1):
        sheet.block(2 + 8 * n, 2, title, PETS, PETS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    for temperature, shown in zip(told, shown_in(book, out).values(), strict=True):
        powers = np.exp(X @ X.T / temperature)
        np.testing.assert_allclose(shown, powers / powers.sum(1, keepdims=True), rtol=1e-12)


def test_the_vector_of_the_first_word_is_classified(tmp_path: Path) -> None:
    made, w_c = openpyxl.Workbook(), np.array([[0, -0.5], [1, 0.5], [2, 1]])
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(2, 9, "W_C", DIMS, ("pos", "neg"), w_c)
    sheet.block(12, 2, "[CLS] vector", ["s"], DIMS)
    sheet.block(18, 2, "Class probabilities", ["p"], ("pos", "neg"))
    sheet.block(30, 2, "Attention weights", PETS, PETS)
    made.active["B40"], made.active["C40"].border = "Cross-entropy loss", EDGE
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not any("hide" in line for line in book.report())
    assert "'Cross-entropy loss' names Loss, which the model" in book.attention[0]
    _, first, shown = shown_in(book, out).values()
    np.testing.assert_allclose(first, naive_attention(X, X, X)[1][:1], rtol=1e-12)
    powers = np.exp(first @ w_c)
    np.testing.assert_allclose(shown, powers / powers.sum(), rtol=1e-12)


@pytest.mark.parametrize("scaled", [False, True])
def test_alignment_scores_are_not_scaled(scaled: bool, tmp_path: Path) -> None:
    """As in Luong's attention, unless a title says so."""
    blocks = [
        (2, 2, "Input", X),
        (12, 2, "Alignment scores", (5, 5)),
        (20, 2, "Attention weights", (5, 5)),
    ]
    blocks += [(28, 2, "Scaled scores", (5, 5))] * scaled
    scores, weights, *_ = filled_blocks(tmp_path, blocks)
    powers = np.exp(scores / np.sqrt(3) ** scaled)
    np.testing.assert_allclose(weights, powers / powers.sum(1, keepdims=True), rtol=1e-12)


def test_a_norm_step_by_step(tmp_path: Path) -> None:
    titles = {"Mean": 1, "Variance": 1, "Standard deviation": 1, "x - mean": 3, "LayerNorm(x)": 3}
    blocks = [(12 + 9 * n, 2, title, (5, wide)) for n, (title, wide) in enumerate(titles.items())]
    _, variance, spread, centred, normed = filled_blocks(tmp_path, [(2, 2, "Input", X), *blocks])
    np.testing.assert_allclose(spread[:, 0], X.std(1), rtol=1e-12)
    np.testing.assert_allclose(centred, X - X.mean(1, keepdims=True), atol=1e-15)
    np.testing.assert_allclose(normed, centred / np.sqrt(variance + 1e-5), rtol=1e-12)


def test_the_softmax_of_a_column_alone_runs_down_it(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for row in (["Logits", "exp", "Softmax"], [0], [np.log(2)], [np.log(5)]):
        made.active.append(row)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    np.testing.assert_allclose(shown_in(book, out)["Softmax"], [[0.125, 0.25, 0.625]], rtol=1e-12)


@pytest.mark.parametrize("left", [False, True])
def test_logits_alone_have_a_softmax(left: bool, tmp_path: Path) -> None:
    names = "Logits", "exp", "Softmax"
    given = [np.log([[1.0, 2, 5]]), (1, 3), (1, 3)]
    blocks = [(2 * n + 1 + 4 * n * (not left), 1, "" if left else name, one)
              for n, (name, one) in enumerate(zip(names, given))]  # fmt: skip
    texts = {f"A{2 * n + 3}": name for n, name in enumerate(names) if left}
    *_, shown = filled_blocks(tmp_path, blocks, texts)
    np.testing.assert_allclose(shown, [[0.125, 0.25, 0.625]], rtol=1e-12)


@pytest.mark.parametrize("labels", [False, True])
def test_headings_part_the_columns_of_a_frame(labels: bool, tmp_path: Path) -> None:
    """The queries, keys and values stand beside each other, each below labels or not; and a title
    beside a single cell has no frame below it."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, labels=False)
    w = np.random.default_rng(4).integers(-5, 6, (3, 3, 2)) / 4
    sheet.block(1, 1, "X", PETS, DIMS, X)
    for n, kind in enumerate("QKV"):
        sheet.block(1, 7 + 3 * n, f"W_{kind}", DIMS, "ab", w[n])
        sheet.block(10, 1 + 2 * n, "", PETS, "ab")
        made.active.cell(11 - labels, 2 + 2 * n, kind)
        for m, label in enumerate("ab" if labels else ()):
            made.active.cell(11, 2 + 2 * n + m, label)
    made.active["A20"], made.active["B20"].border = "Softmax", EDGE
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Q", "K", "V"]
    for n, shown in enumerate(shown_in(book, out).values()):
        np.testing.assert_allclose(shown, X @ w[n], rtol=1e-12)
    assert len(book.attention) == 1


def test_frames_that_count_words_are_no_smaller_ones_of_dimensions(tmp_path: Path) -> None:
    made, dims, counts = openpyxl.Workbook(), (1, 2), (1, 2, 3)
    sheet: Any = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS[:3], dims, X[:3, :2])
    for n, title in enumerate(("Scores", "Softmax", "Output")):
        sheet.block(10 + 8 * n, 2, title, counts, dims if n == 2 else counts)
    check(*filled(saved(made, tmp_path / "own.xlsx")), X[:3, :2], frames=3)


def test_a_label_x_beside_y_is_no_title(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    AuthorSheet(made.active).block(2, 2, "Input", PETS, DIMS, X)
    AuthorSheet(made.active).block(12, 2, "Hidden", PETS, ("x", "y", "z", "u"))
    AuthorSheet(made.active).block(22, 2, "Output", PETS, DIMS)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, len(book.attention)) == (15, 1)


@thorough
@pytest.mark.parametrize("model", ["decoder", "decoder-only"])
def test_layers_without_a_network(model: str, tmp_path: Path) -> None:
    """Attention alone, twice, or before the words of a vocabulary."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(3)
    sheet, fish = AuthorSheet(made.active), ("le", "chat", "dort")
    weights = rng.integers(-5, 6, (2, 3, 3, 3)) / 10
    memory, y = X, numbers(fish, seed=4)
    if model == "decoder":
        sheet.block(2, 2, "Source embeddings", PETS, DIMS, memory)
    sheet.block(2, 12, "Target embeddings" if model == "decoder" else "Input", fish, DIMS, y)
    headings = "Masked multi-head attention", "Multi-head attention"  # as in the paper
    for n, (heading, keys) in enumerate(zip(headings, (fish, PETS))):
        if model == "decoder":
            made.active.cell(*((10, 2), (32, 1))[n], heading)  # above, or left of the weights
        for m, (kind, w) in enumerate(zip("QKV", weights[n])):
            sheet.block(12 + 20 * n, 2 + 8 * m, f"W_{kind}", DIMS, DIMS, w)
        sheet.block(20 + 20 * n, 2, "Softmax", fish, keys)
        sheet.block(20 + 20 * n, 12, "Output", fish, DIMS)
        if model == "decoder-only":
            sheet.block(40, 2, "Vocabulary", PETS, DIMS, memory)
            sheet.block(50, 2, "Logits", fish, PETS)
            break
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    _, *shown = (
        values_in(read_drawn(out).sheets[0], f.place, False)[1] for _, f, _ in book.filling.frames
    )
    (w_q, w_k, w_v), *_ = weights
    hidden = np.where(np.tri(3) == 1, (y @ w_q) @ (y @ w_k).T / 3**0.5, -np.inf)
    z = np.exp(hidden) / np.exp(hidden).sum(1, keepdims=True) @ y @ w_v
    np.testing.assert_allclose(shown[0], z, rtol=1e-12, atol=1e-15)
    if model == "decoder":
        z = naive_attention(z @ weights[1, 0], memory @ weights[1, 1], memory @ weights[1, 2])[1]
    else:
        z = z @ memory.T
    np.testing.assert_allclose(shown[-1], z, rtol=1e-12, atol=1e-15)


def shown_in(book: FilledBook, out: Path) -> dict[str, np.ndarray]:
    """The numbers of the frames of a filled sheet, by step."""
    sheet, frames = read_drawn(out).sheets[0], (frame for _, frame, _ in book.filling.frames)
    return {frame.step: values_in(sheet, frame.place, frame.turned)[1] for frame in frames}


def test_a_block_drawn_by_hand(tmp_path: Path) -> None:
    """Without labels, its titles right of the frames, biases right behind the weights, a heading."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(3)
    sheet = AuthorSheet(made.active, labels=False)
    x, w_1, w_2 = (rng.integers(-2, 3, shape) / 2 for shape in ((3, 4), (4, 4), (3, 5)))
    projections = rng.integers(-1, 2, (3, 3, 3))

    def block(row: int, column: int, shape: tuple[int, int], content: Any = None) -> None:
        sheet.block(row - 2, column - 1, "", "x" * shape[0], "x" * shape[1], content)

    block(3, 8, x.shape, x)
    for n, weights in enumerate(projections):
        block(6 + 4 * n, 3, (3, 3), weights)
        block(6 + 4 * n, 8, (3, 4))
    for row in (6, 12, 18, 25):
        block(row, 14, (4, 4))
    block(23, 14, (1, 4))
    block(19, 8, (3, 4))
    block(24, 3, w_1.shape, w_1)
    block(24, 8, (4, 4))
    block(29, 8, (4, 4))
    block(35, 3, w_2.shape, w_2)
    block(35, 8, (3, 4))
    titles = {
        "H2": "Features", "P1": "Self-attention", "B6": "WQ", "B10": "WK", "B14": "WV", "L6": "Q",
        "L10": "K", "L14": "V", "N5": "KT x Q", "S12": "÷ √dk", "S18": "e^□", "S23": "∑",
        "S25": "÷ sum", "L19": "Attention", "C23": "W1", "F23": "b1", "H23": "Linear", "M29": "ReLU",
        "C34": "W2", "G34": "b2", "M35": "Linear",
    }  # fmt: skip
    for cell, text in titles.items():
        made.active[cell] = text
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention) == (12, [])
    z = naive_attention(*(x.T @ weights.T for weights in projections))[1]
    hidden = np.maximum(z @ w_1[:, :3].T + w_1[:, 3], 0)
    shown = {step.rpartition(".")[2]: one for step, one in shown_in(book, out).items()}
    np.testing.assert_allclose(shown["Output_1"], z, rtol=1e-12, atol=1e-15)
    wanted = hidden @ w_2[:, :4].T + w_2[:, 4]
    np.testing.assert_allclose(shown["FeedForward"], wanted, rtol=1e-12, atol=1e-15)


@thorough
def test_titles_tell_the_norm_and_the_activation(tmp_path: Path) -> None:
    """A layer with the norm first: RMSNorm, SiLU, no scaling, positions that are added."""
    made, rng, words = openpyxl.Workbook(), np.random.default_rng(5), PETS[:3]
    sheet, row = AuthorSheet(made.active), 2
    weights = {f"W_{kind}": rng.normal(size=(3, 3)).round(1) for kind in "QKVO12"}
    x, positions = X[:3], rng.normal(size=(3, 3)).round(1)
    sheet.block(2, 2, "Token embeddings", words, DIMS, x)
    sheet.block(2, 12, "Position embeddings", words, DIMS, positions)
    for name, w in weights.items():
        row += 8
        sheet.block(row, 12, name, DIMS, DIMS, w)
    titles = ("Input = Token + Position", "RMSNorm 1", "Queries", "Keys", "Values", "Attention scores",
              "Weights (no scaling)", "Context vectors", "Residual 1", "RMSNorm 2", "Hidden", "SiLU",
              "MLP output", "Residual 2")  # fmt: skip
    for n, title in enumerate(titles):
        of_words = title in ("Attention scores", "Weights (no scaling)")
        sheet.block(12 + 8 * n, 2, title, words, words if of_words else DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention) == (len(titles), [])

    def norm(rows: np.ndarray) -> np.ndarray:
        return rows / np.sqrt((rows**2).mean(1, keepdims=True) + 1e-5)

    y = norm(x + positions)
    y = (
        x
        + positions
        + naive_attention(*(y @ weights[f"W_{k}"] for k in "QKV"), scale=False)[1] @ weights["W_O"]
    )
    h = norm(y) @ weights["W_1"]
    wanted = y + h / (1 + np.exp(-h)) @ weights["W_2"]
    shown = next(one for step, one in shown_in(book, out).items() if step.endswith("Sum_2"))
    np.testing.assert_allclose(shown, wanted, rtol=1e-9, atol=1e-12)
    with pytest.raises(InputError, match="with --model encoder --positions learned, or"):
        attn_xl.attend(out)
    told = {"positions": "learned", "norm": "pre", "norm_type": "rms", "activation": "silu"}
    again = next(iter(attn_xl.attend(out, model="encoder", scale=False, **told).values()))
    np.testing.assert_allclose(again["Enc1.Sum_2"].values, wanted, rtol=1e-9, atol=1e-12)


def test_functions_that_the_model_lacks_tell_nothing(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    for n, title in enumerate(("Input", "Length (no scaling)", "Cosine", "GELU")):
        columns = {"Cosine": PETS, "Length (no scaling)": ["length"]}.get(title, DIMS)
        sheet.block(2 + 10 * n, 2, title, PETS, columns, None if n else X)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Cosine", "Magnitude"]
    assert len(book.attention) == 1


def test_the_question_of_one_word_in_quotation_marks(tmp_path: Path) -> None:
    """Its frames are drawn for one column; the weighted vectors are those of all."""
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    made.active["A1"] = "Self-attention for the word 'and'"
    sheet.block(2, 2, "Word", words, DIMS, X[:3])
    steps = "dot product of 'and' with every word", "divide by √3", "softmax"
    for n, step in enumerate(steps):
        sheet.block(10 + 8 * n, 2, f"Step {n + 1}: {step}", words, [None])
    sheet.block(34, 2, "Step 4: weighted vectors", words, DIMS)
    sheet.block(42, 2, "Step 5: sum = new vector for 'and'", [None], DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.filling.count == 3 * 3 + 9 + 3
    assert not book.attention
    weights, output = naive_attention(X[1:2], X[:3], X[:3])
    shown = shown_in(book, out)
    np.testing.assert_allclose(shown["Weighted"], weights.T * X[:3], rtol=1e-12)
    np.testing.assert_allclose(shown["Softmax"], weights, rtol=1e-12)
    np.testing.assert_allclose(shown["Output"], output, rtol=1e-12)


def test_a_softmax_of_a_vector_is_none_of_words(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    made.active.append(["x", None, "3^x", "/∑", "Softmax(x)"])
    for row, x in enumerate((1, 0, 1, 5), 2):
        for column, value in ((1, x), (3, f"=POWER(3,A{row})"), (5, f"=C{row}/C$7")):
            made.active.cell(row, column, value)
    made.active["B7"], made.active["C7"] = "∑", "=SUM(C2:C5)"
    with pytest.raises(InputError, match="'x' has a single column of numbers"):
        fill_file(saved(made, tmp_path / "own.xlsx"), {})


def test_what_explains_a_frame_is_no_title_of_another(tmp_path: Path) -> None:
    """Though the sentence beside it has frames without titles."""
    path = two_contexts(tmp_path / "own.xlsx", STEPS, STEPS, titled=False)
    made = openpyxl.load_workbook(path)
    made.active["A15"], made.active["A42"] = "X · Xᵀ", "Softmax · X"
    book, _ = filled(saved(made, path))
    assert (book.attention, book.filling.count) == ([], 0)


def test_the_rest_of_a_box_around_a_text_is_no_frame(tmp_path: Path) -> None:
    """Whatever the nearest title is."""
    path = two_contexts(tmp_path / "own.xlsx", [])
    made = openpyxl.load_workbook(path)
    made.active["B12"] = "Step one"  # above the title Scores
    for cell in ("B12", "C12", "D12"):
        made.active[cell].border = EDGE
    book, _ = filled(saved(made, path))
    assert not book.attention


def test_heads_below_each_other_repeat_their_queries(tmp_path: Path) -> None:
    """A second frame of a head's Q is a copy; the line that goes on beside a title is no frame."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(2)
    sheet, weights = AuthorSheet(made.active), rng.integers(0, 9, (2, 3, 3, 2)) / 10
    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for n, of_head in enumerate(weights):
        row = 12 + 40 * n
        for m, (kind, w) in enumerate(zip("qkv", of_head)):
            sheet.block(row + 10 * m, 2, f"W{kind}", DIMS, ("a", "b"), w)
            sheet.block(row + 10 * m, 8, kind.upper(), PETS, ("a", "b"))
        sheet.block(row, 14, "Q", PETS, ("a", "b"))
        sheet.block(row + 10, 14, "Softmax", PETS, PETS)
        sheet.block(row + 20, 14, "V'", PETS, ("a", "b"))
        made.active.cell(row + 28, 2, "Softmax")
        for column in (2, 3, 4):
            made.active.cell(row + 28, column).border = Border(bottom=Side("thin"))
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    found = sorted(frame.step for _, frame, _ in book.filling.frames)
    assert found == sorted(
        f"{s}_{n}" for s in ("Q", "Q", "K", "V", "Softmax", "Output") for n in (1, 2)
    )
    wanted = naive_attention(*(X @ w for w in weights[1]))[1]
    np.testing.assert_allclose(shown_in(book, out)["Output_2"], wanted, rtol=1e-12)


@pytest.mark.parametrize("title", ["Padding mask", ""])
@pytest.mark.parametrize(
    ("mask", "refers"),
    [([[1, 0, 0], [1, 1, 0], [0, 1, 1]], "L4"), ([[0, 1, 1]], "L$4"), ([[0], [1], [1]], "$K$5")],
    ids=["square", "row", "column"],
)
def test_a_mask_of_zeros_and_ones_stays_as_it_is(
    mask: list[list[int]], refers: str, title: str, tmp_path: Path
) -> None:
    """Formulas refer to it; it is found by their numbers, too, without its title. A single row or
    column is for all words."""
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet, own = AuthorSheet(made.active), np.array(mask)
    sheet.block(2, 2, "Input", words, DIMS, X[:3])
    sheet.block(2, 10, "Padding mask", words[: len(own)], words[: own.shape[1]], own)
    own = own.T if len(own.T) == 1 else own
    for n, step in enumerate(("Scaled", "Masked", "Softmax", "Output")):
        sheet.block(10 + 8 * n, 2, step, words, DIMS if step == "Output" else words)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    hidden = np.where(own == 1, X[:3] @ X[:3].T / 3**0.5, -np.inf)
    wanted = np.exp(hidden) / np.exp(hidden).sum(1, keepdims=True)
    np.testing.assert_allclose(shown_in(book, out)["Softmax"], wanted, rtol=1e-12)
    typed = attn_xl.attend(tmp_path / "own.xlsx")["Sheet"]["Softmax"]  # by its title
    np.testing.assert_allclose(typed.values, wanted, rtol=1e-12)
    changed = openpyxl.load_workbook(out)
    assert changed.active["D20"].value == f"=D12+({refers}-1)*1000000000"
    changed.active["J2"] = title or None
    again = attn_xl.attend(saved(changed, tmp_path / "again.xlsx"))["Sheet"]
    np.testing.assert_allclose(again["Softmax"].values, wanted, rtol=1e-12)
    assert again["Mask"].values.tolist() == own.tolist()


def test_one_table_with_groups_of_columns(tmp_path: Path) -> None:
    """A row a word: its embedding, query, key and value, each below a heading of its own."""
    made, rng, words = openpyxl.Workbook(), np.random.default_rng(6), PETS[:4]
    page, weights = made.active, rng.integers(0, 9, (3, 3, 2)) / 10
    page.append(["Token", "Embedding", None, None, "Query", None, "Key", None, "Value"])
    page.append([None, "e1", "e2", "e3", "q1", "q2", "k1", "k2", "v1", "v2"])
    for word, x in zip(words, X.tolist()):
        page.append([word, *x])
    for n, (kind, w) in enumerate(zip("qkv", weights)):
        AuthorSheet(page, labels=False).block(2, 12 + 4 * n, "", "abc", "ab", w)
        page.cell(3, 13 + 4 * n, f"W{kind}")
    AuthorSheet(page).block(10, 2, "Output", words, ("v1", "v2"))
    blank = attn_xl.attend(path := saved(made, tmp_path / "own.xlsx"))["Sheet"]
    book, out = filled(path)
    assert (len(book.filling.frames), book.attention) == (4, [])
    wanted = naive_attention(*(X[:4] @ w for w in weights))[1]
    np.testing.assert_allclose(shown_in(book, out)["Output"], wanted, rtol=1e-12)
    for graph in (blank, attn_xl.attend(out)["Sheet"]):
        np.testing.assert_allclose(graph["Output"].values, wanted, rtol=1e-12)
        assert graph["Input"].columns == ("e1", "e2", "e3")


def test_weights_on_sheets_of_their_names(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet, weights = AuthorSheet(made.active), np.random.default_rng(4).integers(0, 9, (3, 3, 2)) / 10
    sheet.block(2, 2, "Input", PETS, ("a", "b", "c"), X)
    sheet.block(12, 2, "Output", PETS, ("v1", "v2"))
    for name, values in zip(("W_Q", "Wk", "Value weights"), weights):
        page = made.create_sheet(name)
        for row in values.tolist():
            page.append(row)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    ((_, frame, _),) = book.filling.frames
    _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
    wanted = naive_attention(*(X @ weight for weight in weights))[1]
    np.testing.assert_allclose(values, wanted, rtol=1e-12)


@alike
@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.xlsx")), ids=lambda path: path.stem)
def test_an_input_without_frames_is_left_alone(sample: Path) -> None:
    with contextlib.suppress(attn_xl.AttnXlError):  # of a model whose sentences need each other
        assert not fill_file(sample, {}).filling.frames


def test_stored_values_of_formulas_that_read_blank_cells_say_nothing(tmp_path: Path) -> None:
    path = two_contexts(tmp_path / "own.xlsx", ["Scores", "Attention"])  # Scaled is blank
    book = fill_file(path, {})
    assert not book.attention
    assert book.filling.count == 90 + 25 + 15
    (tmp_path / "out.xlsx").write_bytes(book.content)
    engine, (_, output) = IronCalc(tmp_path / "out.xlsx"), naive_attention(X, X, X)
    for i, j in np.ndindex(output.shape):
        assert engine.value("Attention", 42 + i, 3 + j) == pytest.approx(output[i, j], rel=1e-12)
        assert book.filling.cells["Attention"][42 + i][3 + j].value == pytest.approx(output[i, j])


def test_a_mistake_in_a_formula_that_reads_a_filled_cell_is_said(tmp_path: Path) -> None:
    """Its softmax runs down; what follows from it is right, and filled in with its numbers."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)

    def softmax(i: int, j: int) -> str:
        column = "CDEFG"[j]
        return f"=EXP({column}{14 + i}/SQRT(3))/SUMPRODUCT(EXP({column}$14:{column}$18/SQRT(3)))"

    def output(i: int, j: int) -> str | None:
        column, weights = "CDE"[j], [f"${'CDEFG'[k]}{24 + i}" for k in range(5)]
        return "=" + "+".join(f"{w}*{column}${4 + k}" for k, w in enumerate(weights)) if i else None

    sheet.block(2, 2, "Input", PETS, DIMS, X)
    sheet.block(12, 2, "Scores", PETS, PETS)
    sheet.block(22, 2, "Softmax", PETS, PETS, softmax)
    sheet.block(32, 2, "Output", PETS, DIMS, output)
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    (tmp_path / "out.xlsx").write_bytes(book.content)
    verify(tmp_path / "out.xlsx")
    (said,) = book.attention
    assert said.startswith("Sheet!D24: =EXP(D14/SQRT(3))/SUMPRODUCT(EXP(D$14:D$18/SQRT(3))) gives ")
    assert said.endswith(" 20 cells of Softmax differ so.")


def test_what_follows_from_her_formulas_on_the_sheet_behind_has_its_numbers(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)

    def softmax(i: int, j: int) -> str:
        row = [f"EXP({column}{14 + i})" for column in "CDEFG"]
        return f"={row[j]}/({'+'.join(row)})"

    sheet.block(2, 2, "Input", PETS, DIMS, X)
    for n, kind in enumerate("QKVO"):
        sheet.block(2, 12 + 6 * n, f"W_{kind}", DIMS, DIMS, numbers(DIMS, 3, n) / 4)
    sheet.block(12, 2, "Scaled", PETS, PETS)
    sheet.block(22, 2, "Softmax", PETS, PETS, softmax)
    sheet.block(32, 2, "Output", PETS, DIMS)
    book = fill_file(saved(made, tmp_path / "own.xlsx"), {"heads": 1})
    (tmp_path / "out.xlsx").write_bytes(book.content)
    verify(tmp_path / "out.xlsx")
    assert book.filling.steps
    assert not book.attention


def test_what_reads_a_filled_cell_is_computed_anew(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS, ("a", "b", "c"), X)
    sheet.block(12, 2, "Scores", PETS, PETS)
    sheet.block(22, 2, "Scaled", PETS, PETS, lambda i, j: f"={chr(67 + j)}{14 + i}/SQRT(3)")
    made.defined_names["top"] = DefinedName("top", attr_text="Sheet!$C$14:$G$14")
    computed = (
        "SUM(C24:G24)", "SUM(C4:E4)", "AVERAGE(top)", 'IF(J24>J26,"more","less")', "J24>J26",
        "INDEX(B14:B18,MATCH(MAX(top),top,0))", "SUM(C:C)", "J30+1", "1/(J24-J24)", "SUM(Mine[a])",
    )  # fmt: skip
    for row, formula in enumerate(computed, 24):
        made.active.cell(row, 10, f"={formula}")
    made.active.add_table(openpyxl.worksheet.table.Table(displayName="Mine", ref="L23:M28"))
    made.active["L23"], made.active["M23"] = "a", "b"
    for row in range(24, 29):
        made.active[f"L{row}"] = f"=C{row}"
    path = saved(made, tmp_path / "own.xlsx")
    book, out = fill_file(path, {}), tmp_path / "out.xlsx"
    out.write_bytes(book.content)
    assert book.report()[0].startswith("Sheet!J30, J31, J32 and 1 more: computed when")
    shown = openpyxl.load_workbook(out, data_only=True).active
    wanted = (X @ X[0]).sum() / np.sqrt(3), X[0].sum(), (X @ X[0]).mean()
    assert [shown[f"J{row}"].value for row in range(24, 27)] == pytest.approx(wanted)
    found = [shown[f"J{row}"].value for row in range(27, 34)]
    more, best = bool(wanted[0] > wanted[2]), PETS[int((X @ X[0]).argmax())]
    assert found == ["more" if more else "less", more, best, *[None] * 4]
    assert shown["D25"].value == pytest.approx(X[1] @ X[1] / np.sqrt(3))


def test_without_the_engine_formulas_wait_for_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = without_scaled(PETS[:3], X[:3])
    made.active["J14"] = "=SUM(C11:E11)"
    path = saved(made, tmp_path / "own.xlsx")
    monkeypatch.setitem(sys.modules, "ironcalc", None)
    book = fill_file(path, {})
    assert book.report()[0].startswith("Sheet!J14: computed when")


@pytest.mark.parametrize("title", ["{0} {1}", "{0}, sentence {2}", "Text {1}: {0}", "{0} #{1}"])
def test_titles_may_number_their_sentences(title: str, tmp_path: Path) -> None:
    """The numbers are not those of heads; each mask is that of its sentence."""
    made, masked = openpyxl.Workbook(), ("Scores", "Scaled", "Look-ahead mask", "Masked", "Softmax")
    sentences = [(PETS, X), (DESK[:3], Y[:3])]
    for n, (words, x) in enumerate(sentences):
        for row, step in enumerate(("Input", *masked, "Output")):
            columns, name = DIMS if row % 6 == 0 else words, title.format(step, n + 1, "AB"[n])
            place = 1 + row * (len(words) + 3), 1 + 9 * n
            AuthorSheet(made.active).block(*place, name, words, columns, None if row else x)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    assert len(book.filling.frames) == 2 * 6
    outputs = [frame for _, frame, _ in book.filling.frames if frame.step == "Output"]
    for frame, (_, x) in zip(outputs, sentences):
        _, values = values_in(read_drawn(out).sheets[0], frame.place, False)
        seen = [naive_attention(x[i : i + 1], x[: i + 1], x[: i + 1])[1][0] for i in range(len(x))]
        np.testing.assert_allclose(values, seen, rtol=1e-12)
    again, _ = filled(out)
    assert again.content == out.read_bytes()
    assert len(attn_xl.read_tables(out).sentences) == 2
    names = list(attn_xl.read_tables(tmp_path / "own.xlsx").sentences)
    assert names == [title.format("Input", *n) for n in ("1A", "2B")]


def test_a_step_is_of_the_input_left_of_it(tmp_path: Path) -> None:
    """Not of one that begins a few columns further; typed scores below an arrow are no input."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, labels=False)
    for n, (words, x) in enumerate(((PETS, X), (DESK, Y))):
        for step, column in (("Input", 1), ("Scores", 7), ("Softmax", 14), ("Output", 21)):
            scores = np.round(x @ x.T, 2) if step == "Scores" else None
            columns = DIMS if column % 20 == 1 else words
            top, left = sheet.block(
                2, column + 26 * n, step, words, columns, x if column == 1 else scores
            )
            made.active.cell(top - 1, left, "↓" if scores is not None else None)
            for row, word in enumerate(words if column == 1 else ()):
                made.active.cell(top + row, left - 1, word)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert all("typed where a formula belongs" in line for line in book.attention)
    outputs = [frame for _, frame, _ in book.filling.frames if frame.step == "Output"]
    assert [frame.place.column for frame in outputs] == [22, 48]


def test_a_row_below_its_title_and_labels_is_not_beside_the_title(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS
    sheet = AuthorSheet(made.active, across=True, borders=False)
    for row, step in ((1, "Input"), (7, "Scores"), (17, "Exponentials"), (32, "Softmax")):
        sheet.block(row, 1, step, words, words if row > 1 else DIMS, None if row > 1 else X)
    sheet.block(26, 1, "Sum", words, [None])
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    places = {frame.step: frame.place.range for _, frame, _ in book.filling.frames}
    assert places["Softmax.Sum"] == "B28:F28"


@thorough
def test_titled_inputs_are_no_weights_of_a_filled_sheet(tmp_path: Path) -> None:
    """Three sentences without attention weights might be three heads of a fourth matrix."""
    made, dims = openpyxl.Workbook(), [f"d{n}" for n in range(6)]
    random = np.random.default_rng(11)
    for n, name in enumerate(("WQ", "WK", "Value weights")):
        weights = random.integers(-2, 3, (6, 2)) / 2
        AuthorSheet(made.active, labels=False).block(1, 1 + 4 * n, name, dims, ["a", "b"], weights)
    for n in range(3):
        sheet = AuthorSheet(made.create_sheet(f"Text {n}") if n else made.active)
        words = [f"{word}{n}" for word in DESK]
        for row, step in enumerate(("Embeddings", "K", "V", "Scores", "Scaled", "Exp", "Row sum")):
            columns = [dims, ["a", "b"], ["a", "b"], *[words] * 3, [None]][row]
            given = random.integers(-3, 4, (5, 6)) / 2 if row == 0 else None
            sheet.block(12 + 8 * row, 1, step, words, columns, given)
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    tables = attn_xl.read_tables(out)
    assert list(tables.sentences) == ["Sheet", "Text 1", "Text 2"]
    assert list(tables.weights) == ["W_Q", "W_K", "W_V"]


@thorough
def test_layers_of_heads_with_the_norm_before_their_next_line(tmp_path: Path) -> None:
    """`Masked` tells that later words are hidden; read_tables finds the number of heads."""
    made, rng, words = openpyxl.Workbook(), np.random.default_rng(4), PETS[:4]
    sheet, y = AuthorSheet(made.active), X[:4]
    sheet.block(1, 1, "Input", words, DIMS, y)
    for n in (0, 1):
        top, weights = 8 + 50 * n, rng.integers(-3, 4, (2, 3, 3, 2)) / 2
        w_o = rng.integers(-3, 4, (4, 3)) / 2
        made.active.cell(top, 1, f"Layer {n + 1}")
        for head in (0, 1):
            for m, kind in enumerate("QKV"):
                name = f"W{kind} {head + 1}"
                sheet.block(top + 2 + 7 * head, 1 + 6 * m, name, DIMS, "ab", weights[head, m])
        sheet.block(top + 2, 20, "WO", "abcd", DIMS, w_o)
        sheet.block(top + 2, 27, "Norm", words, DIMS)
        for m, title in enumerate(("Q", "Masked")):
            for head in (1, 2):
                columns = words if m else "ab"
                sheet.block(top + 18 + 8 * m, 8 * head - 7, f"{title} (head {head})", words, columns)
        sheet.block(top + 34, 1, "Add", words, DIMS)
        x = (y - y.mean(1, keepdims=True)) / np.sqrt(y.var(1, keepdims=True) + 1e-5)
        for head in (0, 1):
            q, k, v = (x @ w for w in weights[head])
            scores = np.where(np.tri(4) == 1, q @ k.T / 2**0.5, -np.inf)
            z = np.exp(scores) / np.exp(scores).sum(1, keepdims=True) @ v
            y = y + z @ w_o[2 * head : 2 * head + 2]
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    shown = shown_in(book, out)
    np.testing.assert_allclose(shown["Enc2.Sum_1"], y, rtol=1e-9)
    how = {"model": "encoder", "layers": 2, "feed_forward": False, "norm": "pre", "causal": True}
    again = next(iter(attn_xl.attend(attn_xl.read_tables(out), **how).values()))
    np.testing.assert_allclose(again["Enc2.Sum_1"].values, y, rtol=1e-9)


@pytest.mark.parametrize("kind", ["words", "vectors"])
def test_titles_that_a_word_model_or_a_comparison_has(kind: str, tmp_path: Path) -> None:
    """`Scores` and `Softmax` as wide as the vocabulary are of its words; no option tells the model."""
    made, fish = openpyxl.Workbook(), ("le", "chat", "dort", "bien")
    sheet, y = AuthorSheet(made.active), X[:3]
    words = PETS[:3]
    titles = {"Input": DIMS, "Norm ||x||": [None], "cos": words, "Angles": words}
    if kind == "words":
        titles = {"Input": DIMS, "Softmax": words, "Output": DIMS, "Scores of the words": fish,
                  "Softmax (logits)": fish}  # fmt: skip
        sheet.block(20, 2, "Unembedding", fish, DIMS, Y[:4])
        for n, name in enumerate(("W_Q", "W_K", "W_V")):
            sheet.block(30, 2 + 9 * n, name, DIMS, DIMS, np.eye(3))
    for n, (title, columns) in enumerate(titles.items()):
        sheet.block(2, 2 + 9 * n, title, words, columns, y if n == 0 else None)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention) == (len(titles) - 1, [])
    last = shown_in(book, out)["Probabilities" if kind == "words" else "Angle"]
    if kind == "words":
        seen = [naive_attention(y[i : i + 1], y[: i + 1], y[: i + 1])[1][0] for i in range(3)]
        powers = np.exp(np.array(seen) @ Y[:4].T)
        np.testing.assert_allclose(last, powers / powers.sum(1, keepdims=True), rtol=1e-9)
    else:
        units = y / np.sqrt((y**2).sum(1, keepdims=True))
        np.testing.assert_allclose(last[0, 1:], np.degrees(np.arccos(units[0] @ units[1:].T)))


@pytest.mark.parametrize("steps", ["beside", "below", "right of the weights"])
def test_headings_tell_the_heads(steps: str, tmp_path: Path) -> None:
    """Of the steps below them, until the heads are joined; the weights stand apart, or below headings
    of their own."""
    made, rng, words = openpyxl.Workbook(), np.random.default_rng(2), PETS[:4]
    sheet, x, z = AuthorSheet(made.active), X[:4], []
    made.active["A1"] = "Multi-head attention"
    sheet.block(3, 1, "Step 1: Input", words, DIMS, x)
    for n in (0, 1):
        weights = rng.integers(-3, 4, (3, 3, 2)) / 2
        for m, kind in enumerate("QKV"):
            if steps == "right of the weights":
                sheet.block(12 + 24 * n + 7 * m, 1, f"W{kind}", DIMS, "ab", weights[m])
                continue
            name = f"W{kind} (weights) (head {n + 1})"
            sheet.block(3, 7 + 12 * m + 6 * n, name, DIMS, "ab", weights[m])
        top, left = (10 + 26 * n, 1) if steps == "below" else (10, 1 + 16 * n)
        if steps == "right of the weights":
            made.active.cell(11 + 24 * n, 1, f"Attention head {n + 1}:")
            top, left = 2, 9 + 9 * n
        made.active.cell(top, left, f"Attention head {n + 1}:")
        for row, step in enumerate(("2. Queries Q", "Scores (QKᵀ)", "Z = A V")):
            columns = words if row == 1 else "ab"
            sheet.block(top + 2 + 8 * row, left, step, words, columns)
        z.append(naive_attention(*(x @ w for w in weights))[1])
    w_o = rng.integers(-3, 4, (4, 3)) / 2
    sheet.block(64, 1, "Concat(head_1, head_2)", words, "abcd")
    sheet.block(64, 8, "W_O", "abcd", DIMS, w_o)
    sheet.block(64, 15, "Step 8: Final output", words, DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention) == (8, [])
    shown = shown_in(book, out)
    assert {"Q_1", "Q_2", "Scores_1", "Scores_2"} < shown.keys()
    np.testing.assert_allclose(shown["Concat"], np.hstack(z), rtol=1e-9)
    again = next(iter(attn_xl.attend(attn_xl.read_tables(out)).values()))
    np.testing.assert_allclose(again["Output"].values, np.hstack(z) @ w_o, rtol=1e-9)


@pytest.mark.parametrize(("labels", "centered"), [(True, False), (True, True), (False, False)])
def test_square_products_of_words_in_columns(labels: bool, centered: bool, tmp_path: Path) -> None:
    """Weights left of what they give, below the input: labels `q1`, `q2`, or none, count the words."""
    made, rng = openpyxl.Workbook(), np.random.default_rng(3)
    made.active.title = "Self-Attention"
    sheet, x = AuthorSheet(made.active, centered=centered), rng.integers(0, 4, (3, 3))
    w = {kind: rng.integers(-2, 3, (3, 3)) for kind in "QKV"}

    def block(row: int, column: int, name: str, letter: str, content: Any = None) -> None:
        across = [f"{letter}{n}" if labels and letter else None for n in (1, 2, 3)]
        sheet.block(row, column, name, [None] * 3, across, content)

    block(2, 8, "Input", "x", x)
    for n, (kind, name) in enumerate(zip("QKV", ("Queries", "Keys", "Values"))):
        block(8 + 6 * n, 2, f"W{kind}", "", w[kind])
        block(8 + 6 * n, 8, name, kind.lower())
    for n, name in enumerate(("Scores", "Softmax", "Output")):
        block(2 + 6 * n, 14, name, "q" if name == "Scores" else "")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (len(book.filling.frames), book.attention) == (6, [])
    q, k, v = (w[kind] @ x for kind in "QKV")
    shown = shown_in(book, out)
    np.testing.assert_allclose(shown["Q"].T, q)
    np.testing.assert_allclose(shown["Output"], naive_attention(q.T, k.T, v.T)[1], rtol=1e-9)


def test_labels_left_of_squares_on_other_sheets_tell_the_words(tmp_path: Path) -> None:
    made, x = openpyxl.Workbook(), numbers(PETS, 5)
    AuthorSheet(made.active, across=True).block(2, 2, "Input", PETS, "defgh", x)
    for name in ("Scores", "Softmax", "Output"):
        sheet = AuthorSheet(made.create_sheet(f"Step {name[:2]}"))
        sheet.block(2, 2, name, "defgh" if name == "Output" else PETS, [None] * 5)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    _, last, _ = book.filling.frames[-1]
    shown = values_in(read_drawn(out).sheets[3], last.place, last.turned)[1]
    np.testing.assert_allclose(shown, naive_attention(x, x, x)[1], rtol=1e-9)
    again = fill_file(out, {})
    assert (again.content, again.attention) == (out.read_bytes(), [])


def test_a_title_left_of_numbers_does_not_name_those_of_the_next_title(tmp_path: Path) -> None:
    """Titles left of their blocks, those of weights as high as the queries below them."""
    made, x, words, w = openpyxl.Workbook(), X[:4, :2], PETS[:4], np.array([[1.0, -2], [0.5, 1]])
    sheet = AuthorSheet(made.active)
    blocks: list[tuple[str, Sequence[str], Sequence[str], Any]] = [
        ("Wq", "de", "kl", w), ("X", words, "de", x), ("Wk", "de", "kl", w.T), ("Wv", "de", "vw", w),
        *((name, words, "kl", None) for name in ("Queries", "Keys", "Values")),
        *((name, words, words, None) for name in ("Scores", "Softmax")), ("Output", words, "kl", None),
    ]  # fmt: skip
    row = 2
    for n, (name, rows, columns, content) in enumerate(blocks):
        column, labels = 2 + 7 * (n % 2), rows if name == "X" else [None] * len(rows)
        sheet.block(row - 1, column, "", labels, columns, content)
        sheet.sheet.cell(row + 1, column - (name == "X"), name)
        row += (len(rows) + 2) * (n % 2)
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert fill_file(out, {}).content == out.read_bytes()


@pytest.mark.parametrize("labels", [True, False])
def test_titles_tell_heads_where_numbers_fit_by_chance(labels: bool, tmp_path: Path) -> None:
    """The values of the first head are equal, so that any attention weights give its output."""
    made, words = openpyxl.Workbook(), ["green", "and"]
    sheet, x = AuthorSheet(made.active), np.array([[2.0, -1, -2], [-1, 0, 2]])
    sheet.block(2, 1, "Input", words, DIMS, x)
    sheet.labels = labels
    first = [1.0, -1, 1], [-1, 0, -0.5], [-0.5, 0.5, -0.5]
    heads = first, ([0, -0.5, -1], [0.5, 0, 0.5], [0.5, 1, 0])
    for n, columns in enumerate(heads):
        for m, (kind, column) in enumerate(zip("QKV", columns)):
            given = np.array(column)[:, None]
            sheet.block(8 + 7 * n, 1 + 4 * m, f"Head {n + 1}: W_{kind}", DIMS, "a", given)
        for m, step in enumerate(("Q", "K", "V", "Scores", "Softmax", "Output")):
            across = words if step in ("Scores", "Softmax") else "a"
            sheet.block(8 + 7 * n, 13 + 5 * m, f"Head {n + 1}: {step}", words, across)
    sheet.block(22, 1, "Concat", words, "ab")
    _, out = filled(saved(made, tmp_path / "own.xlsx"))
    (graph,) = attn_xl.attend(attn_xl.read_tables(out)).values()
    z = [
        naive_attention(*(x @ np.array(column)[:, None] for column in columns))[1] for columns in heads
    ]
    np.testing.assert_allclose(graph["Output"].values, np.hstack(z), rtol=1e-9)


def test_scores_less_the_maximum_of_their_row_are_a_step(tmp_path: Path) -> None:
    blocks: list[Any] = [(2, 2, "Input", X), (12, 2, "Scaled", (5, 5)), (12, 9, "Row max", (5, 1))]
    blocks += [(12, 12, "Score - max", (5, 5)), (12, 19, "e^x", (5, 5))]
    scaled, maxima, less, powers = filled_blocks(tmp_path, blocks)
    np.testing.assert_allclose(less, scaled - maxima, rtol=1e-12)
    np.testing.assert_allclose(powers, np.exp(less), rtol=1e-12)


@pytest.mark.parametrize("sums", [True, False])
def test_a_softmax_may_lack_some_numbers(sums: bool, tmp_path: Path) -> None:
    """A quotient of a number and the sum of its column, or an exponential by their sum, is no sum."""
    made, words = openpyxl.Workbook(), PETS[: 2 if sums else 3]
    sheet = AuthorSheet(made.active, across=True, labels=False)
    sheet.block(1, 1, "Input", words, "de", X[: len(words), :2])
    names = ("Scores", "Exponentials", "Sum", "Softmax") if sums else ("Scores", "Scaled", "Softmax")
    rows = [6 + n * (len(words) + 2) for n in range(len(names))]
    for row, name in zip(rows, names):
        sheet.block(row, 1, "", words, [None] if name == "Sum" else words)
        made.active.cell(row + 1, 2, name)
    settings = {"scale": not sums}
    _, out = filled(saved(made, tmp_path / "own.xlsx"), options=settings)
    book = openpyxl.load_workbook(out)
    for n in range(1, len(words)):
        book.active.cell(rows[-1] + 2 + n, 2).value = None
    half = fill_file(saved(book, tmp_path / "half.xlsx"), settings)
    assert (half.filling.count, half.attention) == (len(words) - 1, [])


def test_the_mask_of_another_sentence_is_none_of_a_longer_one(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    for n, (words, x) in enumerate(((PETS[:2], X[:2]), (DESK[:4], Y[:4]))):
        mask = np.triu(np.full((2, 2), -1e9), 1) if n == 0 else None
        sheet.block(2 + 10 * n, 1, "Input", words, DIMS, x)
        for m, step in enumerate(("Scores", "Mask", "Masked", "Softmax")):
            sheet.block(2 + 10 * n, 8 + 8 * m, step, words, words, mask if step == "Mask" else None)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (3 * 4 + 4 * 16, [])


@pytest.mark.parametrize(("across", "behind"), [(False, False), (True, False), (False, True)])
def test_the_words_of_a_blank_input_are_looked_up(across: bool, behind: bool, tmp_path: Path) -> None:
    """In a table of all words, below their formulas or on a sheet of its own."""
    made, words = openpyxl.Workbook(), [PETS[n] for n in (4, 0, 2)]
    sheet = AuthorSheet(made.active, across=across)
    vocabulary = AuthorSheet(made.create_sheet("All words"), across=across) if behind else sheet
    vocabulary.block(20, 2, "Vocabulary" if behind else "Word embeddings", PETS, DIMS, X)
    for n, step in enumerate(("Input", "Scores", "Softmax", "Output")):
        sheet.block(2, 2 + 8 * n, step, words, words if 0 < n < 3 else DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.summary, book.attention) == ("36 cells filled in 4 of 4 frames", [])
    x, shown = X[[4, 0, 2]], shown_in(book, out)
    np.testing.assert_array_equal(shown["Input"], x)
    np.testing.assert_allclose(shown["Output"], naive_attention(x, x, x)[1], rtol=1e-12)
    frame = next(frame for _, frame, _ in book.filling.frames if frame.step == "Input")
    cell = frame.place.row, frame.place.column
    sheet_name = "'All words'!" if behind else ""
    assert read_drawn(out).sheets[0].formulas[cell].text == (
        "INDEX($C22:$G22,MATCH(C$3,$C$21:$G$21,0))" if across
        else f"INDEX({sheet_name}C$22:C$26,MATCH($B4,{sheet_name}$B$22:$B$26,0))"
    )  # fmt: skip
    (graph,) = attn_xl.attend(attn_xl.read_tables(out)).values()
    np.testing.assert_allclose(graph["Output"].values, shown["Output"], rtol=1e-12)
    attn_xl.fill(tmp_path / "own.xlsx", tmp_path / "new.xlsx", dict(zip(DESK, Y)))
    (graph,) = attn_xl.attend(attn_xl.read_tables(tmp_path / "new.xlsx")).values()
    np.testing.assert_allclose(graph["Output"].values, naive_attention(Y, Y, Y)[1], rtol=1e-12)


@pytest.mark.parametrize("scores", [False, True])
def test_a_sum_at_the_end_of_a_list_is_that_of_its_exponentials(scores: bool, tmp_path: Path) -> None:
    """As in a softmax by hand; the columns of the input have none."""
    made, words = openpyxl.Workbook(), PETS[:3]
    rows = [["word", "score", "exp", "softmax"], *([word, n + 1.0] for n, word in enumerate(words))]
    if not scores:
        rows = [
            ['Attention of "and"'],
            ["word", "d1", "d2", "score", "scaled", "exp", "softmax"],
            *([word, *x] for word, x in zip(words, X[:3, :2].tolist())),
        ]
    for row in [*rows, ["sum"]]:
        made.active.append(row)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (7 if scores else 13, [])
    formulas = read_drawn(out).sheets[0].formulas
    assert (formulas[5, 3].text, formulas[2, 4].text) == ("SUM($C$2:$C$4)", "$C2/$C$5") if scores else (
        formulas[6, 6].text, formulas[3, 7].text) == ("SUM($F$3:$F$5)", "$F3/$F$6")  # fmt: skip
    again = fill_file(out, {})
    assert (again.filling.count, again.attention, len(again.filling.frames)) == (
        0,
        [],
        3 if scores else 5,
    )


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize(
    ("labels", "behind", "title", "of_table"),
    [
        (True, False, "Embeddings = One-hot x W_E", "Embedding matrix W_E"),
        (True, True, "X", "Embedding table"),
        (False, False, "X", "W_E"),
        (False, False, "Input", "Embedding matrix"),
    ],
)
def test_one_hot_vectors_select_the_words_of_a_blank_input(
    across: bool, labels: bool, behind: bool, title: str, of_table: str, tmp_path: Path
) -> None:
    made, words = openpyxl.Workbook(), [PETS[n] for n in (4, 0, 2)]
    sheet = AuthorSheet(made.active, across=across)
    if labels:  # the next words, of which an input is none
        sheet.block(44, 2, "One-hot target", words, PETS, np.eye(5)[[0, 2, 1]])
    given = AuthorSheet(
        made.create_sheet("Words") if behind else made.active, across=across, labels=labels
    )
    given.block(24, 2, "One-hot vectors", words, PETS, np.eye(5)[[4, 0, 2]])
    given.block(24, 12, of_table, PETS, DIMS, X)
    for n, step in enumerate((title, "Scores", "Softmax", "Output")):
        sheet.block(2, 2 + 8 * n, step, words, words if 0 < n < 3 else DIMS)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    unread = ["these numbers are not read" in note for note in book.notes]
    assert (book.summary, unread) == ("36 cells filled in 4 of 4 frames", [True] * labels)
    x, shown = X[[4, 0, 2]], shown_in(book, out)
    np.testing.assert_array_equal(shown["Input"], x)
    np.testing.assert_allclose(shown["Output"], naive_attention(x, x, x)[1], rtol=1e-12)
    if not (across or behind):
        assert read_drawn(out).sheets[0].formulas[4, 3].text == "SUM(MMULT($C26:$G26,M$26:M$30))"
    assert fill_file(out, {}).filling.count == 0
    with pytest.raises(InputError, match="made of one-hot vectors, which other words do not have"):
        attn_xl.fill(tmp_path / "own.xlsx", tmp_path / "new.xlsx", dict(zip(DESK, Y)))
    if labels:
        (graph,) = attn_xl.attend(attn_xl.read_tables(out)).values()
        np.testing.assert_allclose(graph["Output"].values, shown["Output"], rtol=1e-12)


@pytest.mark.parametrize("name", ["Layer", "Pass", "Part"])
def test_layers_of_attention_without_weights(name: str, tmp_path: Path) -> None:
    """Steps that stand twice for no reason that is known are said."""
    made, words, x = openpyxl.Workbook(), PETS[:3], X[:3, :2]
    sheet = AuthorSheet(made.active)
    sheet.block(1, 2, "Input", words, "ab", x)
    for n in (0, 1):
        made.active.cell(9 + 10 * n, 1, f"{name} {n + 1}")
        for m, step in enumerate(("Scores", "Softmax", "Output")):
            sheet.block(10 + 10 * n, 2 + 7 * m, step, words, words if m < 2 else "ab")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    if name == "Part":
        assert "Softmax and Output are the same as from Sheet!C12:E14 on" in book.attention[0]
        return
    shown, x = shown_in(book, out), naive_attention(x, x, x)[1]
    np.testing.assert_allclose(shown["Enc1.Output"], x, rtol=1e-12)
    np.testing.assert_allclose(shown["Enc2.Scores"], x @ x.T, rtol=1e-12)
    np.testing.assert_allclose(shown["Enc2.Output"], naive_attention(x, x, x)[1], rtol=1e-12)


def test_distances_of_words_beside_their_cosines(tmp_path: Path) -> None:
    blocks: list[Any] = [(1, 1, "Embeddings", X), (10, 1, "Cosine similarity", (5, 5))]
    blocks += [(20, 1, "Euclidean distance", (5, 5)), (30, 1, "Product of lengths", (5, 5))]
    cosines, apart, product = filled_blocks(tmp_path, blocks)
    lengths = np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(product, np.outer(lengths, lengths), rtol=1e-12)
    np.testing.assert_allclose(cosines, X @ X.T / product, rtol=1e-12)
    np.testing.assert_allclose(apart, np.linalg.norm(X[:, None] - X, axis=2), rtol=1e-12, atol=1e-15)


POOLINGS = pytest.mark.parametrize(("pooling", "takes"), [("Mean", np.mean), ("Max", np.max)])


@POOLINGS
def test_classes_need_no_names(pooling: str, takes: Any, tmp_path: Path) -> None:
    w = np.array([[1, -1], [0.5, 2], [0, 1]])
    blocks: list[Any] = [(1, 1, "Input", X[:3]), (1, 8, "W_C", w), (8, 1, "Attention weights", (3, 3))]
    blocks += [(8, 8, f"{pooling} pooling", (1, 3)), (8, 14, "Logits", (1, 2))]
    _, pooled, logits = filled_blocks(tmp_path, blocks)
    vector = takes(naive_attention(*3 * [X[:3]])[1], axis=0, keepdims=True)
    np.testing.assert_allclose(pooled, vector, rtol=1e-12)
    np.testing.assert_allclose(logits, vector @ w, rtol=1e-12)


@POOLINGS
def test_a_vector_of_the_outputs_needs_no_classes(pooling: str, takes: Any, tmp_path: Path) -> None:
    w = np.random.default_rng(4).integers(-5, 6, (3, 3, 2)) / 4
    blocks: list[Any] = [(1, 7 + 5 * n, f"W_{kind}", w[n]) for n, kind in enumerate("QKV")]
    blocks += [(1, 1, "X", X), (10, 1, "Output", (5, 2)), (20, 1, f"{pooling} pooling", (1, 2))]
    output, pooled = filled_blocks(tmp_path, blocks)
    np.testing.assert_allclose(output, naive_attention(*(X @ own for own in w))[1], rtol=1e-12)
    np.testing.assert_allclose(pooled, takes(output, axis=0, keepdims=True), rtol=1e-12)


def test_beside_x_and_a_y_is_the_output(tmp_path: Path) -> None:
    """Unless it is a label; a letter left of the second row of a frame is said."""
    blocks: list[Any] = [(1, 1, "X", X), (10, 1, "A", (5, 5)), (20, 1, "Y", (5, 3))]
    np.testing.assert_allclose(filled_blocks(tmp_path, blocks)[1], naive_attention(X, X, X)[1])
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active, labels=False)
    sheet.block(1, 1, "X", PETS, DIMS, X)
    for row, letter in ((10, "A"), (20, "M")):
        sheet.block(row, 1, "", PETS, PETS if letter == "A" else DIMS)
        made.active.cell(row + 3, 1, letter)
    book, _ = filled(saved(made, tmp_path / "own.xlsx"))
    assert [frame.step for _, frame, _ in book.filling.frames] == ["Softmax"]
    assert "'M' names no step" in book.attention[0]


def test_captions_stand_below_their_frames(tmp_path: Path) -> None:
    made, words, x = openpyxl.Workbook(), PETS[:3], X[:3]
    sheet = AuthorSheet(made.active)
    for n, step in enumerate(("Input", "Scores", "Softmax", "Output")):
        sheet.block(1 + 8 * n, 1, "", words, words if n in (1, 2) else DIMS, None if n else x)
        made.active.cell(6 + 8 * n, 2, f"Figure {n + 1}: {step}")
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.summary, book.attention) == ("27 cells filled in 3 of 3 frames", [])
    shown = shown_in(book, out)
    np.testing.assert_allclose(shown["Scores"], x @ x.T, rtol=1e-12)
    np.testing.assert_allclose(shown["Output"], naive_attention(x, x, x)[1], rtol=1e-12)


def test_titles_beside_frames_are_no_captions_of_those_above(tmp_path: Path) -> None:
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active, labels=False)
    for n, step in enumerate(("Input", "Scores", "Row max", "Exponentials", "Row sum", "Softmax")):
        wide = [None] if step.startswith("Row") else words
        sheet.block(1 + 4 * n, 1, "", words, wide, X[:3] if n == 0 else None)
        made.active.cell(3 + 4 * n, 2 + len(wide), step)
    assert not filled(saved(made, tmp_path / "own.xlsx"))[0].attention


@pytest.mark.parametrize("other", ["weights", "causal", "positions", "similarity"])
def test_sheets_have_models_of_their_own(other: str, tmp_path: Path) -> None:
    """As in a course: the second sheet says nothing of the first, plain attention."""
    made, words, x = openpyxl.Workbook(), PETS[:3], X[:3, :2]
    sheet, second = AuthorSheet(made.active), AuthorSheet(made.create_sheet("Second"))
    sheet.block(2, 2, "Input", words, "ab", x)
    second.block(2, 2, "Input", DESK[:3], "ab", Y[:3, :2])
    for n, step in enumerate(("Scores", "Attention weights", "Output")):
        sheet.block(10 + 8 * n, 2, step, words, "ab" if n == 2 else words)
    w, y = np.random.default_rng(2).integers(-3, 4, (3, 2, 2)) / 2, Y[:3, :2]
    for n, kind in enumerate("QKV" if other == "weights" else ""):
        second.block(2, 10 + 5 * n, f"W_{kind}", "ab", "cd", w[n])
    title = {"causal": "Causal attention weights", "positions": "Positional encoding",
             "similarity": "Cosine similarity"}.get(other, "Scores")  # fmt: skip
    second.block(10, 2, title, DESK[:3], "ab" if other == "positions" else DESK[:3])
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert book.attention == []
    assert any("without the weights of Second" in line for line in book.report()) == (
        other == "weights"
    )
    sheets = {sheet.name: sheet for sheet in read_drawn(out).sheets}
    *_, output, last = [
        values_in(sheets[frame.place.sheet], frame.place, frame.turned)[1]
        for _, frame, _ in book.filling.frames
    ]
    lengths = np.sqrt((y**2).sum(1))
    wanted = {
        "weights": y @ w[0] @ (y @ w[1]).T,
        "causal": np.vstack([
            np.pad(naive_attention(y[n : n + 1], y[: n + 1], y[: n + 1])[0][0], (0, 2 - n))
            for n in range(3)
        ]),
        "positions": np.array([[np.sin(n), np.cos(n)] for n in range(3)]),
        "similarity": y @ y.T / np.outer(lengths, lengths),
    }  # fmt: skip
    np.testing.assert_allclose(output, naive_attention(x, x, x)[1], rtol=1e-12)
    np.testing.assert_allclose(last, wanted[other], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("right", ["Causal attention weights", "Attention weights (T = 2)"])
def test_sentences_have_titles_of_their_own(right: str, below: bool, tmp_path: Path) -> None:
    """A mask or a temperature that the title of one tells is not that of the other, with other words in
    the same arrangement, too."""
    made, words = openpyxl.Workbook(), PETS[:3]
    sheet = AuthorSheet(made.active)
    for n, title in enumerate(("Attention weights", right)):
        row, column = (1 + 20 * n, 1) if below else (1, 1 + 12 * n)
        sheet.block(row, column, "Input", words, "ab", X[:3, :2])
        sheet.block(row + 9, column, title, words, words)
    out = filled(saved(made, tmp_path / "own.xlsx"))[1]
    attn_xl.fill(tmp_path / "own.xlsx", tmp_path / "new.xlsx", {"a": X[:3, 1:], "b": X[:3, 1:]})
    for path, x in ((out, X[:3, :2]), (tmp_path / "new.xlsx", X[:3, 1:])):
        drawn = read_drawn(path).sheets[0]
        places = [Place("Sheet", 12 + 20 * n * below, 2 + 12 * n * (not below), 3, 3) for n in (0, 1)]
        plain, other = (values_in(drawn, place, False)[1] for place in places)
        np.testing.assert_allclose(plain, naive_attention(x, x, x)[0], rtol=1e-12)
        halved = naive_attention(x / np.sqrt(2), x / np.sqrt(2), x)[0]
        wanted = (
            halved if "T" in right else attn_xl.attend(x, causal=True)["Sentence"]["Softmax"].values
        )
        np.testing.assert_allclose(other, wanted, rtol=1e-12)


@pytest.mark.parametrize("said", [True, False])
def test_weights_beside_one_sentence_are_those_of_another(said: bool, tmp_path: Path) -> None:
    """Which is noted; unless a text says that it has none."""
    made, words, w = openpyxl.Workbook(), PETS[:3], np.array([[1, 2], [0.5, -1]])
    sheet = AuthorSheet(made.active)
    for n in (0, 1):
        sheet.block(2, 1 + 12 * n, "Input", words, "ab", X[:3, :2])
        sheet.block(10, 1 + 12 * n, "Scores", words, words)
    for n, kind in enumerate("QK"):
        sheet.block(2, 18 + 5 * n, f"W_{kind}", "ab", "cd", w)
    made.active["A1"] = "Without weights" if said else "First"
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    drawn, x = read_drawn(out).sheets[0], X[:3, :2]
    q = x if said else x @ w
    np.testing.assert_allclose(values_in(drawn, Place("Sheet", 12, 2, 3, 3), False)[1], q @ q.T)
    noted = "Sheet!B4:C6: is computed with the weights beside Sheet!N4:O6."
    assert (noted in book.report()) != said


@pytest.mark.parametrize("across", [False, True])
def test_weights_above_each_of_two_sentences_are_its_own(across: bool, tmp_path: Path) -> None:
    """Below each other, those of the second one are no second head of the first."""
    w = np.random.default_rng(7).integers(-3, 4, (2, 4, 2, 2)) / 2
    blocks: list[Any] = []
    for n, x in enumerate((X[:3, :2], Y[:4, :2])):
        row, left = (1, 18 * n) if across else (1 + 38 * n, 0)
        blocks += [(row, left + 1 + 4 * m, f"W_{kind}", w[n][m]) for m, kind in enumerate("QKVO")]
        blocks += [(row + 5, left + 1, "Input", x), (row + 12, left + 1, "Scores", (len(x), len(x)))]
        blocks += [(row + 20, left + 1, "Z = A V", x.shape)]
        blocks += [(row + 28, left + 1, "Output projection", x.shape)]
    shown = filled_blocks(tmp_path, blocks)
    for x, own, output, last in zip((X[:3, :2], Y[:4, :2]), w, shown[1::3], shown[2::3]):
        _, wanted = naive_attention(*(x @ one for one in own[:3]))
        np.testing.assert_allclose(output, wanted, rtol=1e-12)
        np.testing.assert_allclose(last, wanted @ own[3], rtol=1e-12)


def test_weights_above_two_sentences_are_those_of_both(tmp_path: Path) -> None:
    """Though W_V stands above the second one, they are not cut apart."""
    w = np.random.default_rng(6).integers(-3, 4, (3, 2, 2)) / 2
    blocks: list[Any] = [(1, 1 + 4 * n, f"W_{kind}", w[n]) for n, kind in enumerate("QKV")]
    inputs = X[:3, :2], Y[:3, :2]
    for n, x in enumerate(inputs):
        blocks += [(6, 1 + 8 * n, "Input", x), (13, 1 + 8 * n, "Output", (3, 2))]
    for x, shown in zip(inputs, filled_blocks(tmp_path, blocks)):
        np.testing.assert_allclose(shown, naive_attention(*(x @ own for own in w))[1], rtol=1e-12)


@pytest.mark.parametrize("across", [True, False])
def test_a_source_looks_at_its_own_words_too(across: bool, tmp_path: Path) -> None:
    """An encoder on one sheet, and a decoder that looks at it on another."""
    made, words, others, x, y = openpyxl.Workbook(), PETS[:3], DESK[:2], X[:3, :2], Y[:2, :2]
    encoder, decoder = AuthorSheet(made.active), AuthorSheet(made.create_sheet("Decoder"))
    encoder.block(2, 2, "Embeddings", words, "ab", x)
    decoder.block(2, 2, "Decoder states", others, "ab", y)
    for n, step in enumerate(("Scores", "Weights")):
        encoder.block(10 + 8 * n, 2, step, words, words if across else [None] * 3)
        decoder.block(10 + 8 * n, 2, f"Cross-attention {step.casefold()}", others, words)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert (book.filling.count, book.attention) == (30, [])
    for sheet, wanted in zip(
        read_drawn(out).sheets, (naive_attention(x, x, x), naive_attention(y, x, x))
    ):
        place = Place(sheet.name, 20, 3, len(wanted[0]), 3)
        np.testing.assert_allclose(values_in(sheet, place, False)[1], wanted[0], rtol=1e-12)


@pytest.mark.parametrize("headings", [("Head 1", "Head 2"), ("3. Head 1", "4. Head 2")])
def test_headings_of_as_many_heads_as_a_word_counts(headings: tuple[str, str], tmp_path: Path) -> None:
    """`Output` below `Head 2` is none of the second word."""
    rng = np.random.default_rng(4)
    x, *w = rng.integers(-2, 3, (3, 4)) / 2, *rng.integers(-2, 3, (4, 4, 4)) / 2
    blocks: list[Any] = [(1, 1, "X", x)]
    blocks += [
        (1, 7 + 6 * m, name, own) for m, (name, own) in enumerate(zip(("Wq", "Wk", "Wv", "Wo"), w))
    ]
    z = [naive_attention(*(x @ own[:, 2 * n : 2 * n + 2] for own in w[:3]))[1] for n in (0, 1)]
    for n in (0, 1):
        blocks += [(10 + 8 * n, 2, "Softmax", (3, 3)), (10 + 8 * n, 8, "Output", (3, 2))]
    blocks += [(26, 1, "Concat", (3, 4)), (26, 8, "Multi-head output", (3, 4))]
    shown = filled_blocks(tmp_path, blocks, dict(zip(("A9", "A17"), headings)))
    _, first, _, second, both, last = shown
    np.testing.assert_allclose(np.hstack([first, second]), np.hstack(z), rtol=1e-12)
    np.testing.assert_allclose(both, np.hstack(z), rtol=1e-12)
    np.testing.assert_allclose(last, np.hstack(z) @ w[3], rtol=1e-12)


def test_row_sums_behind_the_weights_are_their_check(tmp_path: Path) -> None:
    blocks: list[Any] = [(1, 1, "Input", X[:3]), (8, 1, "Softmax", (3, 3)), (15, 1, "Row sums", (3, 1))]
    *_, sums = filled_blocks(tmp_path, blocks)
    np.testing.assert_allclose(sums, np.ones((3, 1)), rtol=1e-12)


@pytest.mark.parametrize(("row", "is_filled"), [(15, False), (16, False), (17, True)])
def test_row_sums_in_a_row_are_no_column_sums(row: int, is_filled: bool, tmp_path: Path) -> None:
    """In a row of their own, they are filled in; right below the weights, they would be read as sums
    of the columns above, and stay blank."""
    made = openpyxl.Workbook()
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS[:3], DIMS, X[:3])
    sheet.block(10, 2, "Attention weights", PETS[:3], PETS[:3])
    made.active.cell(row, 2, "Row sums")
    for column in (3, 4, 5):
        made.active.cell(row, column).border = EDGE
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    places = [frame.where for _, frame, _ in book.filling.frames]
    if is_filled:
        assert (places, book.attention[1:]) == (["Sheet!C12:E14", f"Sheet!C{row}:E{row}"], [])
        np.testing.assert_allclose(shown_in(book, out)["Softmax.Total"], np.ones((3, 1)), rtol=1e-12)
    else:
        assert places == ["Sheet!C12:E14"]
        assert book.attention[0].startswith(f"Sheet!C{row}:E{row}: stays blank")


def test_a_colon_behind_a_title_changes_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    w, shown = rng.integers(-2, 3, (4, 2, 2)) / 2, []
    for end in ("", ":"):
        blocks: list[Any] = [(1, 1 + 5 * n, f"W_{kind}{end}", w[n]) for n, kind in enumerate("QKVC")]
        blocks += [(6, 1, f"Embeddings{end}", X[:3, :2]), (12, 1, f"Wichtigkeit{end}", (3, 3))]
        blocks += [(19, 1, f"Self-attention output{end}", (3, 2))]
        blocks += [(26, 1, f"Mean of the outputs{end}", (1, 2)), (30, 1, f"Logits{end}", (1, 2))]
        named = {"R1": "name", "S1": "step", "R2": "Wichtigkeit", "S2": "Softmax"}
        shown.append(filled_blocks(tmp_path, blocks, named))
    _, output = naive_attention(*(X[:3, :2] @ own for own in w[:3]))
    np.testing.assert_allclose(shown[0][-1], output.mean(axis=0, keepdims=True) @ w[3], rtol=1e-12)
    for plain, other in zip(*shown):
        np.testing.assert_array_equal(plain, other)


def snake_case(text: str) -> str:
    return re.sub(r"\W", "_", text.lower())


def camel_case(text: str) -> str:
    return re.sub(r"\W", "", text.title())


@pytest.mark.parametrize(
    "spelled",
    [
        str,
        str.title,
        str.upper,
        snake_case,
        camel_case,
        "– {}".format,
        "Step 7: {}".format,
        "{} (n x d_k)".format,
        "2. The {}".format,
        partial(re.sub, " ", "\n"),
        partial(re.sub, " ", "  "),
        "{} =".format,
    ],
)
@pytest.mark.parametrize(
    ("title", "step"),
    [
        ("Feed-forward output", "FeedForward"),
        ("Multi-head attention output", "Output"),
        ("Concatenated output", "Concat"),
        ("Context for decoder", "Output"),
        ("Scaled scores", "Scaled"),
        ("Attention weights after softmax", "Softmax"),
    ],
)
def test_capitals_and_numbers_do_not_matter_in_titles(
    title: str, step: str, spelled: Callable[[str], str]
) -> None:
    assert step_named(spelled(title)) == (step, False)


@pytest.mark.parametrize("spelled", [snake_case, camel_case, partial(re.sub, " ", "\u00a0")])
def test_titles_parted_otherwise_are_read_as_words(
    spelled: Callable[[str], str], tmp_path: Path
) -> None:
    """And are shown as they are written."""
    x, causal, output = map(spelled, ("Input embeddings", "Causal attention weights", "New vectors"))
    blocks: list[Any] = [(1, 1, x, X[:3, :2]), (8, 1, causal, (3, 3)), (15, 1, output, (3, 2))]
    weights, vectors = filled_blocks(tmp_path, blocks)
    wanted = attn_xl.attend(X[:3, :2], causal=True)["Sentence"]["Softmax"].values
    np.testing.assert_allclose(weights, wanted, rtol=1e-12)
    np.testing.assert_allclose(vectors, wanted @ X[:3, :2], rtol=1e-12)
    report = fill_file(tmp_path / "own.xlsx", {}).report()
    assert repr(causal) in report[0]


def test_numbered_contents_are_no_input(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    for line in ("Contents",), (1, "Input"), (2, "Scores"), (3, "Attention"), (4, "Output"):
        made.active.append(line)
    AuthorSheet(made.active).sentence(12, 2, PETS, X)
    check(*filled(saved(made, tmp_path / "own.xlsx")), X)


def test_steps_in_prose_on_a_sheet_of_its_own_tell_nothing(tmp_path: Path) -> None:
    made, weights = openpyxl.Workbook(), np.array([[1, 2, 0], [0, 1, 1], [2, 0, 1.0]])
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "Input", PETS[:3], [None] * 3, X[:3])
    sheet.block(2, 12, "W", [None] * 3, [None] * 3, weights)
    sheet.block(12, 2, "Softmax", [None] * 3, [None] * 3)
    before = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    notes = made.create_sheet("Notes")
    for line in (
        "Scores compare all queries and keys.",
        "LayerNorm(x)",
        "W_O",
        "Then all outputs are added up.",
    ):
        notes.append([line])
    after = fill_file(saved(made, tmp_path / "own.xlsx"), {})
    assert after.report() == before.report()
    assert after.attention == before.attention


@pytest.mark.parametrize(
    ("title", "text"), [("B1", ""), ("B1", "how similar are the words?"), ("A5", "")]
)
def test_a_line_may_stand_between_a_title_and_its_labels(title: str, text: str, tmp_path: Path) -> None:
    """Given scores with one, or with a title left of any row, are no untitled input beside another."""
    made, scores = openpyxl.Workbook(), np.log([[1, 2, 5], [4, 1, 3.0]])
    sheet = AuthorSheet(made.active)
    sheet.block(2, 2, "", ["x1", "x2"], ["red", "green", "blue"], scores)
    made.active[title], made.active["B2"] = "Scores", text or None
    sheet.block(10, 2, "Softmax", [None] * 2, [None] * 3)
    book, out = filled(saved(made, tmp_path / "own.xlsx"))
    assert not book.attention
    _, shown = values_in(read_drawn(out).sheets[0], Place("Sheet", 12, 3, 2, 3), False)
    np.testing.assert_allclose(shown, [[1 / 8, 2 / 8, 5 / 8], [4 / 8, 1 / 8, 3 / 8]], rtol=1e-12)
