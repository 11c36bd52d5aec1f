"""`attn-xl fill` on a course: each sheet of a workbook has a model of its own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from authors import DESK, PETS, AuthorSheet, numbers, saved
from conftest import alike, naive_attention, verify

from attn_xl.spreadsheets.addresses import Place
from attn_xl.spreadsheets.drawn import read_drawn
from attn_xl.tables.frames import values_in
from attn_xl.workbook.filling.author import fill_file

Shown = list[tuple[Place, np.ndarray]]
BLANK: list[Any] = [None] * 3
X, Y, DIMS = numbers(PETS[:3], 2), numbers(DESK[:4], 2, 5), ("a", "b")


def plain(sheet: AuthorSheet, name: str) -> Shown:
    weights, output = naive_attention(Y, Y, Y)
    sheet.block(2, 2, "Input", DESK[:4], DIMS, Y)
    sheet.block(10, 2, "Weights", DESK[:4], DESK[:4])
    sheet.block(20, 2, "Output", DESK[:4], DIMS)
    return [(Place(name, 12, 3, 4, 4), weights), (Place(name, 22, 3, 4, 2), output)]


def with_weights(sheet: AuthorSheet, name: str) -> Shown:
    w = np.random.default_rng(8).integers(-9, 10, (3, 2, 3)) / 10
    _, output = naive_attention(*(X @ own for own in w))
    for n, own in enumerate(w):
        sheet.block(2, 2 + 6 * n, f"W_{'QKV'[n]}", DIMS, "xyz", own)
    sheet.block(10, 2, "Input", PETS[:3], DIMS, X)
    sheet.block(20, 2, "Output", PETS[:3], "xyz")
    return [(Place(name, 22, 3, 3, 3), output)]


def of_one_word(sheet: AuthorSheet, name: str) -> Shown:
    weights, output = naive_attention(X[1:2], X, X)
    sheet.block(2, 2, "Embeddings", PETS[:3], DIMS, X)
    sheet.block(10, 2, f'Attention weights for "{PETS[1]}"', BLANK[:1], PETS[:3])
    sheet.block(16, 2, f'New vector for "{PETS[1]}"', BLANK[:1], DIMS)
    return [(Place(name, 12, 3, 1, 3), weights), (Place(name, 18, 3, 1, 2), output)]


def softmax_alone(sheet: AuthorSheet, name: str) -> Shown:
    powers = np.exp(numbers(PETS[:3], 3, 6))
    sheet.block(
        2, 2, "Model outputs (logits)", ["x1", "x2", "x3"], ["red", "green", "blue"], np.log(powers)
    )
    sheet.block(10, 2, "exp", BLANK, BLANK)
    sheet.block(18, 2, "Softmax", BLANK, BLANK)
    shares = powers / powers.sum(axis=1, keepdims=True)
    return [(Place(name, 12, 3, 3, 3), powers), (Place(name, 20, 3, 3, 3), shares)]


def recurrent(sheet: AuthorSheet, name: str) -> Shown:
    w, u, b = (np.random.default_rng(n).integers(-9, 10, (2, 2)) / 10 for n in (1, 2, 3))
    states, h = [], np.zeros(2)
    for x in X:
        h = np.tanh(x @ w + h @ u + b[0])
        states.append(h)
    sheet.block(2, 2, "Inputs x_t", PETS[:3], DIMS, X)
    for n, (title, own) in enumerate((("W_x", w), ("W_h", u), ("b", b[:1]))):
        sheet.block(2, 8 + 5 * n, title, BLANK[: len(own)], DIMS, own)
    sheet.block(10, 2, "Hidden states h_t = tanh(x_t W_x + h_{t-1} W_h + b)", PETS[:3], DIMS)
    return [(Place(name, 12, 3, 3, 2), np.array(states))]


def across(sheet: AuthorSheet, name: str) -> Shown:
    weights, output = naive_attention(Y[:2], X, X)
    sheet.block(2, 2, "Encoder hidden states", PETS[:3], DIMS, X)
    sheet.block(2, 8, "Decoder hidden states", DESK[:2], DIMS, Y[:2])
    sheet.block(10, 2, "Attention weights", DESK[:2], PETS[:3])
    sheet.block(18, 2, "Context vectors", DESK[:2], DIMS)
    return [(Place(name, 12, 3, 2, 3), weights), (Place(name, 20, 3, 2, 2), output)]


def tagged(sheet: AuthorSheet, name: str) -> Shown:
    weights, _ = naive_attention(X, X, X)
    sheet.block(2, 2, "Input", PETS[:3], DIMS, X)
    sheet.block(10, 2, "", PETS[:3], PETS[:3])
    sheet.sheet.cell(12, 3, "{{ Softmax }}")
    return [(Place(name, 12, 3, 3, 3), weights)]


def with_positions(sheet: AuthorSheet, name: str) -> Shown:
    positions = np.array([(np.sin(n), np.cos(n)) for n in range(3)])
    sheet.block(2, 2, "Input", PETS[:3], DIMS, X)
    sheet.block(10, 2, "Positional encoding", PETS[:3], DIMS)
    sheet.block(18, 2, "Input + positions", PETS[:3], DIMS)
    return [(Place(name, 12, 3, 3, 2), positions), (Place(name, 20, 3, 3, 2), X + positions)]


def masked_on_the_right(sheet: AuthorSheet, name: str) -> Shown:
    later = np.triu(np.full((3, 3), -np.inf), 1)
    shown = []
    for column, mask, title in ((2, 0 * X[:1, :1], "Weights"), (10, later, "Causal weights")):
        sheet.block(2, column, "Embeddings", PETS[:3], DIMS, X)
        sheet.block(10, column, title, PETS[:3], PETS[:3])
        powers = np.exp(X @ X.T / np.sqrt(2) + mask)
        shown += [(Place(name, 12, column + 1, 3, 3), powers / powers.sum(axis=1, keepdims=True))]
    return shown


def of_given_keys(sheet: AuthorSheet, name: str) -> Shown:
    weights, output = naive_attention(X[2:], X, X)
    sheet.block(2, 2, "Keys", PETS[:3], DIMS, X)
    sheet.block(2, 8, "Values", PETS[:3], DIMS, X)
    sheet.block(2, 14, "Query", BLANK[:1], DIMS, X[2:])
    sheet.block(10, 2, "Weights", BLANK[:1], PETS[:3])
    sheet.block(16, 2, "Result", BLANK[:1], DIMS)
    return [(Place(name, 12, 3, 1, 3), weights), (Place(name, 18, 3, 1, 2), output)]


def of_columns(sheet: AuthorSheet, name: str) -> Shown:
    weights, output = naive_attention(X, X, X)
    for n, title in enumerate(("Query (Q)", "Key (K)", "Value (V)")):
        sheet.block(2, 2 + 6 * n, title, DIMS, PETS[:3], X.T)
    sheet.block(10, 2, "Weights", PETS[:3], PETS[:3])
    sheet.block(18, 2, "Output", DIMS, PETS[:3])
    return [(Place(name, 12, 3, 3, 3), weights.T), (Place(name, 20, 3, 2, 3), output.T)]


KINDS = (
    plain, with_weights, of_one_word, softmax_alone, recurrent, across, tagged, with_positions,
    masked_on_the_right, of_given_keys, of_columns,
)  # fmt: skip
THREE = [
    (of_one_word, across, masked_on_the_right),
    (of_given_keys, tagged, of_columns),
    (masked_on_the_right, recurrent, of_given_keys),
    (across, masked_on_the_right, softmax_alone),
]


@alike
@pytest.mark.parametrize("kinds", [*product(KINDS, repeat=2), *THREE])
def test_each_sheet_has_a_model_of_its_own(
    kinds: tuple[Callable[..., Shown], ...], tmp_path: Path
) -> None:
    book, wanted = openpyxl.Workbook(), Shown()
    book.remove(book.active)
    for n, kind in enumerate(kinds, 1):
        wanted += kind(AuthorSheet(book.create_sheet(f"Part {n}")), f"Part {n}")
    result = fill_file(saved(book, tmp_path / "own.xlsx"), {})
    (tmp_path / "out.xlsx").write_bytes(result.content)
    verify(tmp_path / "out.xlsx")
    assert not result.attention
    assert not any("weights beside" in note for note in result.notes)
    sheets = {sheet.name: sheet for sheet in read_drawn(tmp_path / "out.xlsx").sheets}
    for place, values in wanted:
        _, shown = values_in(sheets[place.sheet], place, False)
        np.testing.assert_allclose(shown, values, rtol=1e-12)


def test_queries_on_a_sheet_without_weights_take_those_of_another(tmp_path: Path) -> None:
    book, w = openpyxl.Workbook(), np.random.default_rng(8).integers(-9, 10, (3, 2, 2)) / 10
    sheet = AuthorSheet(book.active)
    for n, own in enumerate(w):
        sheet.block(2, 2 + 6 * n, f"W_{'QKV'[n]}", DIMS, "xy", own)
    sheet.block(10, 2, "Input", PETS[:3], DIMS, X)
    sheet.block(20, 2, "Output", PETS[:3], "xy")
    sheet = AuthorSheet(book.create_sheet("Text 2"))
    sheet.block(2, 2, "Input", DESK[:4], DIMS, Y)
    sheet.block(10, 2, "Q", DESK[:4], "xy")
    sheet.block(20, 2, "Output", DESK[:4], "xy")
    result = fill_file(saved(book, tmp_path / "own.xlsx"), {})
    (tmp_path / "out.xlsx").write_bytes(result.content)
    (_, second) = read_drawn(tmp_path / "out.xlsx").sheets
    _, shown = values_in(second, Place("Text 2", 22, 3, 4, 2), False)
    np.testing.assert_allclose(shown, naive_attention(*(Y @ own for own in w))[1], rtol=1e-12)
