"""Options crossed with sentences that are easy to forget: equal words, one word, one sentence."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from conftest import Sheets, alike, make_input, thorough, verify

from attn_xl.cli.main import main

DIMS = ["a", "b", "c", "d"]
SENTENCES = {
    "equal words": {"one": ["cat", "sat", "mat"], "two": ["cat", "sat", "mat"]},
    "one word twice": {"one": ["cat", "cat"], "two": ["cat", "cat"]},
    "one word": {"one": ["cat"], "two": ["dog"]},
    "one sentence": {"one": ["cat", "sat", "mat"]},
}
OPTIONS = [
    [], ["--positions", "alibi"], ["--positions", "rotary"], ["--positions", "sinusoidal"],
    ["--causal"], ["--window", "2"], ["--plain"], ["--controls"],
    ["--model", "encoder", "--layers", "2"],
    ["--model", "decoder-only", "--positions", "alibi"], ["--model", "gru"],
]  # fmt: skip
HEADS = [[f"W_{w}_{h}" for w in "QKV" for h in (1, 2)], []]
"""Sheets of weights for each head, without the name of a layer; or none at all."""


def source(path: Path, sentences: str, weights: list[str]) -> Path:
    rng = np.random.default_rng(5)

    def table(rows: list[str], columns: list[str]) -> list[list[object]]:
        numbers = rng.normal(size=(len(rows), len(columns))).round(2).tolist()
        return [["", *columns], *([row, *line] for row, line in zip(rows, numbers))]

    words = SENTENCES[sentences]
    sheets: Sheets = {name: table(own, DIMS) for name, own in words.items()}
    sheets |= {name: table(DIMS, ["x", "y"]) for name in weights}
    return make_input(path, sheets)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """A call that succeeds, or is refused with one line."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    if end.value.code not in (0, None):
        assert said.err.startswith("attn-xl: ")
        assert len(said.err.strip().splitlines()) == 1
        return ""
    return said.out


@alike
@pytest.mark.parametrize(
    ("sentences", "options", "weights"),
    [(*pair, HEADS[n % 2]) for n, pair in enumerate(product(SENTENCES, OPTIONS))],
    ids=lambda one: str(one),
)
def test_options_and_sentences(
    sentences: str,
    options: list[str],
    weights: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = source(tmp_path / "in.xlsx", sentences, weights)
    given = [*options, "--random-weights", "3", *(["--heads", "2"] if weights else [])]
    out = tmp_path / "out.xlsx"
    if run(capsys, "convert", path, *given, "-o", out):
        verify(out)
    run(capsys, "show", path, *(option for option in given if option != "--controls"))
    run(capsys, "explain", path, "one.Output[1, 1]", *given)
    run(capsys, "teach", path, *given, "-o", tmp_path / "lesson.xlsx")
    run(capsys, "learn", path, *given, "--loss", "squared", "--steps", "1", "-o", tmp_path / "l.xlsx")


@thorough
def test_two_sentences_of_equal_words_have_distances_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = source(tmp_path / "in.xlsx", "equal words", [])
    arguments = ["--positions", "alibi", "--random-weights", "3", "-o", tmp_path / "out.xlsx"]
    assert run(capsys, "convert", path, *arguments)
    verify(tmp_path / "out.xlsx")
