"""How fast the program starts, writes and reads: python tests/benchmarks/speed.py

Each job is compared with the same one done without attn-xl, in a process of its own, by turns, so that
both meet the same machine: ratios hold where seconds do not. Fails where a ratio exceeds its bound.

Options: --runs 3 --words 256
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import openpyxl
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Border, Side

SAMPLE = Path(__file__).parents[2] / "samples" / "mouse.xlsx"
READ = "import attn_xl; print(attn_xl.read_tables({path!r}).sentences['words'].values.sum())"
READ_BY_OPENPYXL = """
import numpy, openpyxl
rows = openpyxl.load_workbook({path!r}, read_only=True)["words"].iter_rows(values_only=True, min_row=2)
print(numpy.array([row[1:] for row in rows]).sum())
"""
WRITE_BY_OPENPYXL = """
import openpyxl
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Border, Side
book = openpyxl.Workbook(write_only=True)
for sheet in openpyxl.load_workbook({path!r}, read_only=True):
    copy = book.create_sheet(sheet.title)
    for row in sheet.iter_rows(values_only=True):
        copy.append(row)
book.save({path!r} + ".copy.xlsx")
"""


def make_table(path: Path, words: int, dims: int, *frames: str) -> None:
    """Write the embeddings of `words` words, drawn from a normal distribution; beside them blank
    frames, titled and labelled with the words, with a border around each cell."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("words")
    blank = WriteOnlyCell(sheet)
    blank.border = Border(*[Side("thin")] * 4)
    labels = [f"word{i + 1}" for i in range(words)]
    if frames:
        titles = [cell for frame in frames for cell in (None, frame, *[None] * words)]
        sheet.append(["Input", *[None] * dims, *titles])
    heads = [cell for _ in frames for cell in (None, None, *labels)]
    sheet.append(["", *(f"d{j + 1}" for j in range(dims)), *heads])
    for i, row in enumerate(np.random.default_rng(0).normal(size=(words, dims)).round(6).tolist()):
        beside = [cell for _ in frames for cell in (None, labels[i], *[blank] * words)]
        sheet.append([labels[i], *row, *beside])
    book.save(path)


def seconds(command: list[str]) -> float:
    """How long a command takes."""
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start


def compare(name: str, ours: list[str], other: list[str], at_most: float, runs: int) -> bool:
    """Run two commands by turns, print what they took, and tell whether ours keeps to its bound."""
    times = [(seconds(ours), seconds(other)) for _ in range(runs + 1)][1:]  # the first one compiles
    mine, theirs = map(min, zip(*times))  # a busy machine only adds
    print(f"{name:34} {mine:6.2f} s against {theirs:6.2f} s: {mine / theirs:.2f}, at most {at_most}")
    return mine / theirs <= at_most


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--words", type=int, default=256)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    python = [sys.executable, "-c"]
    with tempfile.TemporaryDirectory() as folder:
        small, large, out = (Path(folder, f"{name}.xlsx") for name in ("small", "large", "out"))
        sheet = Path(folder, "sheet.xlsx")
        make_table(sheet, options.words, 64, "Scores", "Scaled", "Softmax")
        make_table(small, options.words, 64)
        make_table(large, 2_000, 100)
        program = [sys.executable, "-m", "attn_xl"]
        convert = [*program, "convert", "-o", str(out), "--force", "--plain"]
        subprocess.run([*convert, str(small)], check=True, stdout=subprocess.DEVNULL)
        written = str(out.rename(Path(folder, "written.xlsx")))
        kept = [
            compare(*job, options.runs)
            for job in (
                ("--help, importing typer", [*program, "--help"], [*python, "import typer"], 3.0),
                (
                    "convert, importing openpyxl",
                    [*convert, str(SAMPLE)],
                    [*python, "import numpy, openpyxl"],
                    3.0,
                ),
                (
                    f"convert {options.words} words, copying",
                    [*convert, str(small)],
                    [*python, WRITE_BY_OPENPYXL.format(path=written)],
                    0.3,
                ),
                (
                    f"fill {options.words} words, converting them",
                    [*program, "fill", str(sheet), "-o", str(out), "--force"],
                    [*convert, str(small)],
                    3.0,
                ),
                (
                    "convert them beside blank frames",
                    [*convert, str(sheet)],
                    [*convert, str(small)],
                    2.0,
                ),
                (
                    "read 2,000 words",
                    [*python, READ.format(path=str(large))],
                    [*python, READ_BY_OPENPYXL.format(path=str(large))],
                    0.4,
                ),
            )
        ]
    assert all(kept), "slower than its bound"


if __name__ == "__main__":
    main()
