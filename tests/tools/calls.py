"""Calls that write files, and the program at work on one of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SAMPLES = ROOT / "samples"
WORDS = " ".join(f"word{n}" for n in range(90))

COMMANDS = {
    "convert": ["convert", "input.xlsx", "-o", "out/words.xlsx", "--force"],
    "canvas": ["convert", "input.xlsx", "-o", "out/words.xlsx", "--layout", "canvas", "--force"],
    "several": ["convert", "input.xlsx", str(SAMPLES / "mouse.xlsx"), "-o", "out", "--force"],
    "new": ["new", "--words", WORDS, "--dims", "64", "-o", "out/words.xlsx", "--force"],
    "lesson": ["teach", str(SAMPLES / "encoder.xlsx"), "-o", "out/lesson.xlsx", "--answers",
               "out/key.xlsx", "--force"],
    "class": ["teach", str(SAMPLES / "by-hand.xlsx"), "--roster", str(SAMPLES / "class.csv"), "-o",
              "out/class", "--answers", "out/key.xlsx", "--force"],
    "grade": ["grade", "class", "--answers", "key.xlsx", "-o", "out/grades.xlsx", "--csv",
              "out/grades.csv", "--feedback", "out/feedback", "--force"],
    "show": ["show", "input.xlsx", "--step", "Softmax", "--svg", "out/words.svg", "--force"],
    "vectors": ["vectors", str(SAMPLES / "vectors.txt"), "--words", "cat", "dog", "truth", "--pca", "2",
                "-o", "out/words.xlsx", "--force"],
    "pipe": ["vectors", str(SAMPLES / "vectors.txt"), "--words", "cat", "dog", "-o", "-"],
}  # fmt: skip
"""All write below `out`, or by way of the folder for temporary files."""


def start(folder: Path, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    """The program, at work in a folder."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder / "out"))
    return subprocess.Popen(
        [sys.executable, "-m", "attn_xl", *arguments],
        cwd=folder,
        env={**os.environ, **places, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
