"""Workbooks of other people, whose formulas tell what their tables are."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT
from made_by_hand import WORKBOOKS

import attn_xl
from attn_xl.cli.main import main

PEERS = [
    path for name in ("Self-Attention", "Multihead-Attention")
    if (path := ROOT.parent / "shared" / "peers" / f"{name}.xlsx").is_file()
]  # fmt: skip
Made = Callable[[Path], np.ndarray]
by_workbook = pytest.mark.parametrize("made", WORKBOOKS, ids=lambda made: made.__name__)


@by_workbook
def test_the_formulas_tell_what_the_tables_are(made: Made, tmp_path: Path) -> None:
    expected = made(tmp_path / "theirs.xlsx")
    tables = attn_xl.read_tables(tmp_path / "theirs.xlsx")
    (graph,) = attn_xl.attend(tables).values()
    np.testing.assert_allclose(graph["Output"].values, expected, rtol=1e-9)
    assert any("that attn-xl computes" in remark for remark in tables.remarks)


def proposed(path: Path, capsys: Any) -> list[list[str]]:
    """The commands that `inspect` proposes for a file."""
    assert main(["inspect", str(path)]) == 0
    return [
        shlex.split(line)[1:]
        for line in capsys.readouterr().out.split("\n")
        if line.startswith("  attn-xl ")
    ]


@pytest.mark.parametrize("path", PEERS, ids=lambda path: path.stem)
def test_every_command_proposed_for_a_peer_succeeds(path: Path, tmp_path: Path, capsys: Any) -> None:
    commands = proposed(path, capsys)
    assert len(commands) == (3 if path.stem == "Self-Attention" else 1)
    for number, command in enumerate(commands):
        assert main([*command, "-o", str(tmp_path / f"{number}.xlsx")]) == 0
