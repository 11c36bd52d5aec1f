"""How fast a million formulas are written: python tests/benchmarks/self_attention.py

The whole program, from the input file to the finished workbook, against other writers doing the same
(writers.py): read the input, compute, write the same sheets with the same formulas and values, each in
a process of its own, all in one run. How many formulas have a value, and the most digits of one, is
read from each file; up to 128 words every formula and value is compared. Ratios are of processor time,
where the system tells it, and of runs by turns, so that others at work on the machine matter less. With
512 words or more it fails unless attn-xl is the fastest of those that store every value. Then: three
styles of formulas; the cost of a cell from 64 to 1024 words; and zlib level 6 on the same bytes.
startup.py has how long starting takes.

Options: --words 512 --dims 64 --runs 3 --writer kyrax (only this one) --quick (no other writers, up to
256 words)
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
from writers import WRITERS, Unavailable, read_input, sheets

SAMPLE = Path(__file__).parents[2] / "samples" / "mouse.xlsx"
CONVERT = [sys.executable, "-m", "attn_xl", "convert", "--plain"]


def make_input(folder: Path, words: int, dims: int) -> Path:
    import xlsxwriter

    path = folder / f"input-{words}.xlsx"
    x = np.random.default_rng(words).normal(size=(words, dims)).round(4)
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("sentence")
    sheet.write_row(0, 1, [f"d{j + 1}" for j in range(dims)])
    for i, row in enumerate(x.tolist(), 1):
        sheet.write_row(i, 0, [f"word{i}", *row])
    book.close()
    return path


@dataclass(frozen=True)
class Cost:
    """What a command took: seconds on the clock, seconds of the processor, peak memory in MB (0 where
    not known)."""

    seconds: float
    processor: float
    memory: float


def timed(command: list[str], runs: int = 3) -> Cost:
    """The cost of a command: medians of some runs, fewer where they take long; the largest memory."""
    return by_turns([command], runs)[0]


def by_turns(commands: list[list[str]], runs: int) -> list[Cost]:
    """The costs of commands that are run by turns, so that all meet the same machine."""
    costs: list[list[tuple[float, ...]]] = [[] for _ in commands]
    while len(costs[0]) < runs and sum(cost[0] for each in costs for cost in each) < 20:
        for command, each in zip(commands, costs):
            line = [sys.executable, "-S", "-c", TIMED, *command]
            done = subprocess.run(line, capture_output=True)
            assert done.returncode == 0, (command, done.stderr.decode())
            each.append(tuple(map(float, done.stdout.split()[-3:])))
    columns = [list(zip(*each)) for each in costs]
    return [Cost(median(seconds), median(processor), max(peak)) for seconds, processor, peak in columns]


# A process inherits the peak memory of the one that starts it, so a small one does.
TIMED = """
import os, subprocess, sys
from time import perf_counter
start = perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
if hasattr(os, "wait4"):
    _, status, usage = os.wait4(process.pid, 0)
    seconds = perf_counter() - start
    processor = usage.ru_utime + usage.ru_stime
    memory = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    code = os.waitstatus_to_exitcode(status)
else:
    code = process.wait()
    processor, memory = (seconds := perf_counter() - start), 0
print(seconds, processor, memory)
sys.exit(code)
"""

INSIDE = """
import gc, sys, time, attn_xl, attn_xl.workbook.write
from pathlib import Path
gc.disable()
times = []
for _ in range(5 if Path(sys.argv[1]).stat().st_size < 1_000_000 else 3):
    start = time.process_time()
    attn_xl.workbook.write.write_workbook(attn_xl.attend(attn_xl.read_tables(sys.argv[1])), sys.argv[2])
    times.append(time.process_time() - start)
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
peak = [int(line.split()[1]) for line in lines if "VmHWM" in line] or [0]
print(min(times), peak[0] / 1e3)
"""


def inside(source: Path, out: Path) -> tuple[float, float]:
    """The shortest processor time from input file to workbook in a process that has started, and its
    peak memory in MB (0 where not known)."""
    command = [sys.executable, "-c", INSIDE, str(source), str(out)]
    seconds, memory = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(seconds), float(memory)


def line(label: str, cost: Cost, file: Path) -> str:
    size = file.stat().st_size / 1e6 if file.exists() else 0
    return f"{label:30} {cost.seconds:7.2f} s {cost.memory:5.0f} MB {size:6.2f} MB file"


def worksheets(path: Path) -> Iterator[bytes]:
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if name.startswith("xl/worksheets/sheet"):
                yield book.read(name)


def formula_cells(path: Path) -> int:
    return sum(part.count(b"<f>") for part in worksheets(path))


def stored(path: Path) -> tuple[float, int]:
    """The share of formulas that have a value beside them, and the most digits that one has."""
    values = [value for part in worksheets(path) for value in re.findall(rb"</f><v>([^<]+)", part)]
    digits = (len(re.sub(rb"[eE].*|\D", b"", value).lstrip(b"0")) for value in values)
    return len(values) / formula_cells(path), max(digits, default=0)


def compare(path: Path, source: Path) -> None:
    """Fails unless a workbook has every formula that it should, and where it stores values, those."""
    import openpyxl

    formulas, values = (
        openpyxl.load_workbook(path, read_only=True, data_only=data_only) for data_only in (False, True)
    )
    stores = stored(path)[0] > 0
    for name, _, rows in sheets(*read_input(source)):
        read = (book[name].iter_rows(min_row=5, values_only=True) for book in (formulas, values))
        for row, texts, numbers in zip(rows, *read):
            expected = [("=" + formula, value) for formula, value in row if formula is not None]
            # Ours has the scalar d_k beside the scaled scores.
            found = [
                (text, number)
                for text, number in zip(texts, numbers)
                if isinstance(text, str) and text.startswith("=") and text != "=COLUMNS(K)"
            ]
            assert [text for text, _ in found] == [text for text, _ in expected], (name, found[:2])
            if stores and expected:
                np.testing.assert_allclose(
                    *([n for _, n in pairs] for pairs in (found, expected)), 1e-9
                )


def compare_writers(options: argparse.Namespace, source: Path, convert: list[str]) -> None:
    """Run each writer by turns with `convert`, and print what it took."""
    fastest = True
    for writer in WRITERS:
        if options.writer not in writer.label:
            continue
        target = source.with_name("other.xlsx")
        target.unlink(missing_ok=True)
        try:
            command = writer.command(source, target)
        except Unavailable as reason:
            print(f"{writer.label:30} skipped: {reason}")
            continue
        ours, cost = by_turns([convert, command], options.runs)
        ratio = cost.processor / ours.processor
        text = f"{line(writer.label, cost, target)} {ratio:5.1f} times as long"
        if target.exists():
            share, digits = stored(target)
            fastest &= share < 1 or ratio > 1
            text += f", {share:.0%} with values{f' of {digits} digits' * bool(digits)}"
            if options.words <= 128:
                compare(target, source)
        print(f"{text}  {writer.versions()}", flush=True)
    assert fastest or options.words < 512, "attn-xl is not the fastest that stores values"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=512)
    parser.add_argument("--dims", type=int, default=64)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--writer", default="", help="only those with this in their name")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, out = make_input(folder, options.words, options.dims), folder / "out.xlsx"
        command = [*CONVERT, str(source), "-o", str(out), "--force"]
        ours = timed(command, options.runs)
        first = out.rename(folder / "first.xlsx")
        share, digits = stored(first)
        print(
            f"{options.words} words x {options.dims} dimensions, {formula_cells(first):,} formula cells"
        )
        print(f"{line('attn-xl', ours, first)}, {share:.0%} with values of {digits} digits", flush=True)
        if options.words <= 128:
            compare(first, source)
        if not options.quick:
            compare_writers(options, source, command)
        for style in ("array", "dynamic"):
            styled = timed([*command, "--formulas", style])
            print(
                line(f"attn-xl --formulas {style}", styled, out),
                f"{styled.processor / ours.processor:5.2f} times as long",
            )
        fixed, _ = inside(SAMPLE, out)
        print(f"\ncost of a cell, without starting and less the {fixed:.3f} s of the small sample:")
        for words in (64, 128, 256) if options.quick else (64, 128, 256, 512, 1024):
            seconds, memory = inside(make_input(folder, words, options.dims), out)
            count = formula_cells(out)
            each = f"{(seconds - fixed) / count * 1e6:7.2f} µs a cell"
            print(f"{words:5} words {count:10,} formulas {seconds:7.3f} s {each} {memory:5.0f} MB")
        print("\nzlib level 6 on the same bytes alone:")
        seconds = 0.0
        with zipfile.ZipFile(first) as book:
            for part in book.namelist():
                content = book.read(part)
                start = process_time()
                zlib.compress(content, 6)
                seconds += process_time() - start
        print(f"{seconds:.2f} s, {seconds / ours.processor:.2f} times as long as the whole job")


if __name__ == "__main__":
    main()
