"""The progress bar of a long run of learning: on a terminal only."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, SAMPLES, thorough

import attn_xl
from attn_xl.models.learning import followed_by


def learn(folder: Path, stderr: int) -> bytes:
    """What a short run of learning prints on stderr, if that is piped."""
    command = [
        sys.executable,
        "-m",
        "attn_xl",
        "learn",
        str(SAMPLES / "learning.xlsx"),
        "--steps",
        "40",
    ]
    command += ["--live", "3", "-o", str(folder / "run.xlsx"), "--force"]
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, stderr=stderr, stdout=subprocess.PIPE, check=True, env=environment)
    return run.stdout + (run.stderr or b"")


@thorough
def test_a_terminal_gets_a_progress_bar_and_a_pipe_none(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    learn(tmp_path, theirs)
    shown = os.read(ours, 100_000)
    os.close(theirs)
    os.close(ours)
    for part in (b"learning", b"%"):
        assert part in shown
    piped = learn(tmp_path, subprocess.PIPE)
    assert b"after 40 steps" in piped
    for part in (b"%", b"\x1b"):
        assert part not in piped


@pytest.mark.parametrize("live", [3, 20])
def test_every_step_is_reported_once(live: int) -> None:
    """Live steps and steps without formulas."""
    seen: list[tuple[int, int]] = []
    with followed_by(lambda done, total: seen.append((done, total))):
        attn_xl.learn(SAMPLES / "learning.xlsx", steps=9, live=live)
    assert seen == [(step, 9) for step in range(1, 10)]
