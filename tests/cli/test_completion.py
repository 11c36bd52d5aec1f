"""Tab completes commands, options, their values and file names, in the shells that are installed."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import SAMPLES

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")

TYPED = {
    "con": "convert",
    "convert --layo": "convert|--layout",
    "convert --layout can": "convert|--layout|canvas",
    "convert --rang": "convert|--range",  # whose help has quotes, colons and an exclamation mark
    "convert --pad": "convert|--padding",  # and this one brackets
    "convert --model encoder-": "convert|--model|encoder-decoder",
    "convert --template pri": "convert|--template|print",
    "convert --template samples/mou": "convert|--template|samples/mouse.xlsx",
    "convert samples/mou": "convert|samples/mouse.xlsx",
    "explain samples/mouse.xlsx --dep": "explain|samples/mouse.xlsx|--depth",
}
"""What is typed after the program's name, and the words that stand there after Tab."""
SHELLS = ("bash", "zsh", "fish")
PATIENCE = 60
"""Seconds."""


class Typist:
    """Somebody at a shell in a terminal."""

    def __init__(self, shell: str, folder: Path) -> None:
        """Start it, at home in this folder."""
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.chdir(folder)
            os.execvpe(shell, [shell, "-i"], at_home(folder))
        self.said = ""

    def type(self, keys: str, until: str) -> str:
        """Press keys, and read what appears until the pattern does; return that."""
        os.write(self.terminal, keys.encode())
        start, end = len(self.said), time.monotonic() + PATIENCE
        while not (found := re.search(until, self.said[start:])):
            assert time.monotonic() < end, f"{until!r} is not in {self.said[start:]!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                seen = os.read(self.terminal, 65536).decode(errors="replace")
                self.said += re.sub(r"\x1b(\[[0-9;?>=]*[a-zA-Z]|[()].|[=>]|\][^\x07]*\x07)", "", seen)
        return found[0]

    def leave(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.terminal)


def at_home(folder: Path) -> dict[str, str]:
    """An environment with a home of its own, and the program on the path."""
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"), "ZDOTDIR": str(folder)}
    path = {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "TERM": "xterm"}
    return {**os.environ, **home, **path}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file to complete, and the program."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "samples").mkdir()
    shutil.copy(SAMPLES / "mouse.xlsx", tmp_path / "samples")
    program = tmp_path / "bin" / "attn-xl"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m attn_xl "$@"\n')
    program.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_once_it_is_installed(shell: str, folder: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    # "; true" keeps the shell from stepping aside for the program, which asks what it was called in.
    call = [shell, "-c", "attn-xl --install-completion; true"]
    done = subprocess.run(call, env=at_home(folder), capture_output=True, text=True, check=True)
    assert f"{shell} completion installed in" in done.stdout
    typist = Typist(shell, folder)
    try:
        typist.type("printf '%s|' read''y\n", r"ready\|")
        for typed, completed in TYPED.items():
            # To the front of the line, where a command prints its words in place of running it.
            keys = f"attn-xl {typed}\t\x01printf '%s|' \x05 end\n"
            said = typist.type(keys, r"attn-xl\|[^\n]*\|end\|")
            assert said == f"attn-xl|{completed}|end|"
    finally:
        typist.leave()


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_that_is_not_this_one_is_asked_for_by_name(shell: str, folder: Path) -> None:
    environment = {**at_home(folder), "_ATTN_XL_COMPLETE": f"source_{shell}"}
    said = subprocess.run(
        [folder / "bin" / "attn-xl"], env=environment, capture_output=True, text=True, check=True
    )
    assert f"_ATTN_XL_COMPLETE=complete_{shell}" in said.stdout
