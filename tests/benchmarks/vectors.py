"""How fast words are picked out of word vectors: python tests/benchmarks/vectors.py

A file of 400,000 words in 100 dimensions, as GloVe's, is made in a temporary folder. Then words are
picked out of it by attn_xl.read_vectors, which stops at the last of them; by grep, for lines that begin
with them; and by pandas.read_csv, which loads it. They are five common words among the first 10,000,
where GloVe, whose words are sorted by frequency, has them; and five that are spread over the file, the
last one in its last line. Each has a process of its own, all in one run. What is timed of attn_xl and
pandas is the call, without the start of Python; of grep, all of it; for comparison, the whole of
`attn-xl vectors`, and reading every byte and doing nothing with it.

It fails unless the common words take a twentieth of the time of pandas, the spread ones a fifth, both
at most three times that of grep, and the whole command at most 100 MB of memory.

Options: --words 400000 --dims 100 --times 5 --no-limits. Needs grep; without pandas it is not compared.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

COMMON = ["politics", "florida", "texas", "california", "truth"]
SPREAD = ["thawing", "gerbil", "sestina", "oblate", "zymurgy"]
ATTN_XL = """
import sys, time
from attn_xl import read_vectors
begun = time.perf_counter()
table = read_vectors(sys.argv[1], sys.argv[2:])
print(time.perf_counter() - begun, table.values[:, 0].tolist())
"""
PANDAS = """
import csv, sys, time
import pandas
begun = time.perf_counter()
frame = pandas.read_csv(sys.argv[1], sep=" ", header=None, quoting=csv.QUOTE_NONE)
print(time.perf_counter() - begun, len(frame))
"""
MEMORY = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
unit = 2**20 if sys.platform == "darwin" else 2**10
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / unit)
"""


def generate(path: Path, count: int, dims: int) -> None:
    """Random words and numbers of five digits."""
    draw = np.random.default_rng(0)
    numbers = np.array([f"{x:.5g}" for x in draw.normal(0, 0.4, 1 << 16)], dtype=object)
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    places = {min(count, 10_000) * (i + 1) // 5 - 2: word for i, word in enumerate(COMMON)}
    places |= {count * (i + 1) // 5 - 1: word for i, word in enumerate(SPREAD)}
    with open(path, "w", encoding="utf-8") as file:
        for first in range(0, count, 1000):
            for i in range(first, min(first + 1000, count)):
                spelled = "".join(letters[draw.integers(0, 26, 2 + i % 7)])
                word = places.get(i) or f"{spelled}{i}"
                file.write(f"{word} {' '.join(numbers[draw.integers(0, 1 << 16, dims)])}\n")


def seconds(line: list[str]) -> tuple[float, str]:
    """What a script says it took, and what else it says."""
    said = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    taken, _, rest = said.partition(" ")
    return float(taken), rest.strip()


def whole(line: list[str], **more: object) -> tuple[float, str]:
    """How long a process takes, and what it prints."""
    begun = perf_counter()
    done = subprocess.run(line, check=True, capture_output=True, text=True, **more)  # type: ignore[call-overload]
    return perf_counter() - begun, done.stdout


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--words", type=int, default=400_000)
    options.add_argument("--dims", type=int, default=100)
    options.add_argument("--times", type=int, default=5)
    options.add_argument("--no-limits", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vectors.txt")
        generate(path, chosen.words, chosen.dims)
        print(f"{chosen.words:,} words x {chosen.dims}, {path.stat().st_size / 1e6:,.0f} MB")
        measure(path, chosen.times, limits=not chosen.no_limits)


def measure(path: Path, times: int, *, limits: bool) -> None:
    """Time all, one after the other, so often; print medians; hold them against the limits."""
    taken: dict[str, list[float]] = {}
    for _ in range(times):
        for name, words in (("common words", COMMON), ("spread words", SPREAD)):
            mine, found = seconds([sys.executable, "-c", ATTN_XL, str(path), *words])
            theirs, lines = whole(
                [shutil.which("grep") or "grep", "-E", f"^({'|'.join(words)}) ", str(path)],
                env={**os.environ, "LC_ALL": "C"},
            )
            by_word = {line.split()[0]: float(line.split()[1]) for line in lines.splitlines()}
            assert found == str([by_word[word] for word in words]), "not what grep finds"
            taken.setdefault(name, []).append(mine)
            taken.setdefault("grep", []).append(theirs)
        taken.setdefault("reading, nothing else", []).append(only_read(path))
        taken.setdefault("the whole command", []).append(whole(command(path))[0])
        if find_spec("pandas") and len(taken.get("pandas.read_csv", [])) < 3:
            said = seconds([sys.executable, "-c", PANDAS, str(path)])
            taken.setdefault("pandas.read_csv", []).append(said[0])
    typical = {name: median(every) for name, every in taken.items()}
    for name, time in typical.items():
        print(f"{name:24} {time:7.3f} s")
    memory = float(whole([sys.executable, "-c", MEMORY, *command(path)])[1])
    print(f"{'memory of the command':24} {memory:5.0f} MB")
    common, spread, grep = (typical[name] for name in ("common words", "spread words", "grep"))
    print(f"as long as grep:  common {common / grep:.2f} times, spread {spread / grep:.2f} times")
    pandas = typical.get("pandas.read_csv")
    if pandas:
        print(f"faster than pandas: common {pandas / common:.0f}, spread {pandas / spread:.0f} times")
    if limits:
        assert max(common, spread) <= 3 * grep, "more than 3 times as long as grep"
        assert memory <= 100, "more than 100 MB"
        assert pandas is None or pandas >= 20 * common, "not 20 times faster than pandas.read_csv"
        assert pandas is None or pandas >= 5 * spread, "not 5 times faster than pandas.read_csv"


def command(path: Path) -> list[str]:
    output = str(path.with_name("words.xlsx"))
    line = ["attn_xl", "vectors", str(path), "--words", " ".join(SPREAD), "-o", output, "--force"]
    return [sys.executable, "-m", *line]


def only_read(path: Path) -> float:
    """How long it takes to read every byte."""
    buffer = bytearray(1 << 18)
    begun = perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return perf_counter() - begun


if __name__ == "__main__":
    main()
