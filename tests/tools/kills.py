"""Kills the program at random moments while it writes: every output is then the old one or the new one,
whole, and the next run leaves nothing of the killed one behind."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
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
"""What is killed; all write below `out`, or by way of the folder for temporary files."""


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


def run(folder: Path, arguments: Sequence[str]) -> tuple[float, float]:
    """Run it to its end; when it began to write, and when it ended, in seconds."""
    begun = time.monotonic()
    process = start(folder, arguments)
    first = 0.0
    while process.poll() is None:
        if not first and any(strays(folder)):
            first = time.monotonic() - begun
        time.sleep(0.002)
    _, said = process.communicate()
    assert process.returncode == 0, said.decode()
    ended = time.monotonic() - begun
    return first or ended / 2, ended


def strays(folder: Path) -> list[Path]:
    # os.walk, unlike rglob, passes over a folder that goes away meanwhile.
    return [
        Path(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".part")
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """All that was written, by name."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".part")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


class Killing:
    """One command, killed again and again over the same old outputs."""

    def __init__(self, command: str, folder: Path, chance: random.Random) -> None:
        self.folder, self.out = folder, folder / "out"
        self.arguments, self.chance = COMMANDS[command], chance
        self.out.mkdir(parents=True)
        run(folder, ["new", "--words", WORDS, "--dims", "16", "-o", "input.xlsx"])
        if command == "grade":
            run(folder, ["teach", *COMMANDS["class"][1:4], "-o", "class", "--answers", "key.xlsx"])
        self.first, self.ended = run(folder, self.arguments)
        self.new = contents(self.out)
        self.old = {name: b"what was there before: " + name.encode() for name in self.new}
        self.counts: Counter[str] = Counter()

    def kill(self) -> None:
        """Kill it once, and let it run once more if it left something."""
        for name, content in self.old.items():
            self.out.joinpath(name).write_bytes(content)
        process = start(self.folder, self.arguments)
        if self.chance.random() < 0.3:
            time.sleep(self.chance.uniform(0, 1.1 * self.ended))
        else:  # while it writes, however long it takes to get there
            while process.poll() is None and not strays(self.folder):
                time.sleep(0.001)
            time.sleep(self.chance.uniform(0, self.ended - self.first))
        process.kill()
        process.communicate()  # the processes that it began keep the pipe open until they end, too
        found = contents(self.out)
        assert found.keys() == self.old.keys(), sorted(found.keys() ^ self.old.keys())
        for name, content in found.items():
            assert content in (self.old[name], self.new[name]), (
                f"{name} is neither old nor new: {len(content)} bytes, not {len(self.new[name])}, "
                f"{content[:40]!r} ... {content[-40:]!r}"
            )
        replaced = sum(content == self.new[name] for name, content in found.items())
        self.counts["new" if replaced == len(found) else "some new" if replaced else "old"] += 1
        if strays(self.folder):
            self.counts["with a temporary file left"] += 1
            self.finish()

    def finish(self) -> None:
        """A run that nobody kills: all is new, and nothing else is there."""
        run(self.folder, self.arguments)
        found = contents(self.out)
        assert found == self.new, [name for name in self.new if found.get(name) != self.new[name]]
        assert not strays(self.folder)
