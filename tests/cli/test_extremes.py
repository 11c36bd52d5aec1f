"""Numbers at the ends of what a number can be: every command ends, soon, with success or one message,
and without a warning of numpy's."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from conftest import alike, make_input

from attn_xl import attend, read_tables
from attn_xl.cli.main import main
from attn_xl.settings import Settings

HUGE, LARGE, SMALL, TINY = 1.7e308, 1e300, 1e-300, 5e-324
D = ("d1", "d2", "d3")


def words(values: Sequence[Sequence[float]]) -> list[list[object]]:
    return [["", *D], *([word, *row] for word, row in zip(("cat", "sat", "mat"), values))]


def weights(letter: str, values: Sequence[Sequence[float]]) -> list[list[object]]:
    return [["", *(f"{letter}{i}" for i in (1, 2, 3))], *([d, *row] for d, row in zip(D, values))]


NOTHING = [[0.0] * 3] * 3
EYE = np.eye(3).tolist()
MIXED = [[HUGE, LARGE, TINY], [SMALL, -HUGE, 1.0], [LARGE, 1.0, -TINY]]
BLIND = {"W_Q": weights("q", NOTHING), "W_K": weights("k", NOTHING)}
TABLES = {
    "refused": {"s": words(MIXED)},
    "mixed": {"s": words(MIXED), **BLIND},
    "large values": {"s": words(EYE), **BLIND, "W_V": weights("v", MIXED)},
    "huge values": {"s": words(EYE), **BLIND, "W_V": weights("v", [[HUGE, HUGE, 0.0]] * 3)},
    "two sentences": {"s": words(MIXED), "t": words(MIXED[::-1]), **BLIND},
    "opposite": {"s": words([[HUGE, -HUGE, 0.0]] * 3), "t": words([[-HUGE, HUGE, 0.0]] * 3), **BLIND},
    "large scores": {"s": words([[1e154, 1.0, 0.0], [-1e154, 2.0, 0.0], [0.0, 1e150, 1e-160]])},
    "tiny": {"s": words([[TINY, -TINY, 0.0], [SMALL, TINY, -SMALL], [0.0, 0.0, TINY]])},
}
OUT = ("-o", "out.xlsx", "--force")
CALLS = [
    ("show", "FILE"),
    ("show", "FILE", "--csv", "--decimals", "15"),
    ("show", "FILE", "--json", "--decimals", "2"),
    ("show", "FILE", "--svg", "out.svg"),
    ("explain", "FILE", "s.Softmax[1,1]", "--depth", "all"),
    ("explain", "FILE", "s.Output[1,1]", "--depth", "all", "--decimals", "3"),
    ("convert", "FILE", *OUT),
    ("convert", "FILE", *OUT, "--layout", "canvas", "--formulas", "array"),
    ("convert", "FILE", *OUT, "--formulas", "dynamic", "--decimals", "9"),
    ("convert", "FILE", *OUT, "--formulas", "none", "--causal"),
    ("convert", "FILE", *OUT, "--plain", "--normalize", "sum"),
    ("convert", "FILE", *OUT, "--model", "encoder", "--random-weights", "1"),
    ("similarity", "FILE", *OUT),
    ("inspect", "FILE"),
    ("teach", "FILE", *OUT),
    ("teach", "FILE", *OUT, "--exam", "--level", "1"),
    ("vectors", "words.txt", "--words", "cat", "sat", "mat", *OUT),
    ("vectors", "words.txt", "--words", "cat", "sat", "mat", "--pca", "2", *OUT),
]


@alike
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_every_command_ends(
    kind: str,
    call: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    make_input(Path("table.xlsx"), TABLES[kind])
    rows = (" ".join(map(repr, row[1:])) for row in TABLES[kind]["s"][1:])
    text = "".join(f"{word} {row}\n" for word, row in zip(("cat", "sat", "mat"), rows))
    Path("words.txt").write_text(text)
    calls = [[{"FILE": "table.xlsx"}.get(arg, arg) for arg in call]]
    if call[0] == "teach":
        calls.append(["grade", "out.xlsx", "-o", "g.xlsx"])
    begun = time.process_time()
    for one in calls:
        if "out.xlsx" in one[1] and not Path("out.xlsx").exists():
            continue
        with pytest.raises(SystemExit) as end:
            main(one)
        said = capsys.readouterr()
        assert end.value.code in (0, None, 1, 3), said.err
        if end.value.code == 1 and one[0] != "grade":
            assert said.err.startswith(f"attn-xl: {one[1]}"), said.err
        assert "Warning" not in said.err
        assert one[0] not in ("show", "explain") or not re.search(r"\b(inf|nan)\b", said.out, re.I)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("kind", ["huge values", "opposite"])
def test_what_no_model_needs_is_left_out(kind: str, tmp_path: Path) -> None:
    path = make_input(tmp_path / "table.xlsx", TABLES[kind])
    made = attend(read_tables(path), Settings(controls=True))
    assert any(remark.startswith("Left out: the chart") for remark in made.remarks)
    assert not any(name.startswith("Compare.") and name.endswith("Moves") for name in made.plane)
