"""Ctrl-C ends every command at any moment, with one line and no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest
from conftest import SAMPLES, make_input, table, thorough

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the processes in /proc")
COMMANDS = ["convert", "grade", "teach"]


def arguments(command: str, folder: Path) -> list[str]:
    """A call on six files."""
    files = [
        str(make_input(folder / f"{n}.xlsx", {"s": table(np.eye(3) + n)}))
        for n in range(6 if command == "convert" else 0)
    ]
    roster = folder / "class.csv"
    roster.write_text("id,name\n" + "".join(f"s{n},Name {n}\n" for n in range(6)))
    source = str(SAMPLES / "by-hand.xlsx")
    teach = ["teach", source, "--roster", str(roster), "-o", str(folder / "class")]
    if command == "grade":
        subprocess.run([sys.executable, "-m", "attn_xl", *teach], check=True, capture_output=True)
        files = [str(path) for path in (folder / "class").glob("*.xlsx")]
    given = {
        "convert": ["convert", *files, "-o", str(folder / "out"), "--force"],
        "grade": ["grade", *files, "-o", str(folder / "grades.xlsx"), "--force"],
        "teach": [*teach, "--force"],
    }
    return given[command]


def interrupted(call: list[str], wait: float) -> tuple[int, str]:
    """The exit status and the last words of a run whose processes all get Ctrl-C, as on a terminal."""
    run = subprocess.Popen(
        [sys.executable, "-m", "attn_xl", *call],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while run.poll() is None and not _started(run.pid):
        time.sleep(0.0005)
    time.sleep(wait)
    try:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=30)
    finally:
        run.poll() is None and os.killpg(run.pid, signal.SIGKILL)
    return run.returncode, said


def _started(process: int) -> bool:
    """Whether the program has begun to handle signals: Python itself leaves SIGTERM alone."""
    status = Path(f"/proc/{process}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_ctrl_c_while_modules_are_imported_is_not_lost() -> None:
    call = ["show", str(SAMPLES / "encoder.xlsx")]
    status, said = interrupted(call, 0.02)
    assert status in (130, -2), (status, said)
    assert said.splitlines()[-1] == "attn-xl: interrupted. No unfinished file is left."


@thorough
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_at_every_moment_ends_the_run(command: str, tmp_path: Path) -> None:
    """`test_ctrl_c...[command]` six times; raise the range for a longer sweep."""
    call, chance = arguments(command, tmp_path), Random(command)
    for _ in range(6):
        status, said = interrupted(call, chance.uniform(0, 1.0))
        assert "Traceback" not in said
        # -2 is how a shell's 130 is told to Python.
        assert status == 0 or (status in (130, -2) and "interrupted" in said), (status, said)


def test_ctrl_c_in_a_callback_that_python_ignores_prints_one_line() -> None:
    code = """
import os, signal, weakref
from attn_xl.cli import main as entry

class Thing: pass

def interrupt(_):
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(1000))

def run(*_, **__):
    thing = Thing()
    kept = weakref.ref(thing, interrupt)
    del thing

entry.app = run
entry.main([])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "attn-xl: interrupted. No unfinished file is left.\n"
    assert done.returncode == 130
