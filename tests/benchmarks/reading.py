"""How fast a large table is read: python tests/benchmarks/reading.py

A table of 20 000 words in 100 dimensions from an .xlsx file, by `read_tables` and by openpyxl in its
read-only mode (values only), each to an array of numbers and a list of words, each in a process of its
own, in one run. Asserts that the program is at least five times as fast, and that both read the same.

Options: --words 20000 --dims 100 --times 3
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

AT_LEAST = 5.0

OURS = """
import attn_xl
table = attn_xl.read_tables(path).sentences["words"]
words, values = table.rows, table.values
"""
OPENPYXL = """
import numpy, openpyxl
rows = openpyxl.load_workbook(path, read_only=True)["words"].iter_rows(values_only=True, min_row=2)
words, lines = [], []
for row in rows:
    words.append(row[0])
    lines.append(row[1:])
values = numpy.array(lines)
"""
MEASURED = """
import resource, sys, time
import numpy, openpyxl, python_calamine, attn_xl.tables.survey  # what is imported is not measured
path = sys.argv[1]
start = time.perf_counter()
{}
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(seconds, peak, float(abs(values).sum()), values.shape[0], words[-1])
"""


def make(path: Path, words: int, dims: int) -> None:
    """Write the table."""
    import xlsxwriter

    x = np.random.default_rng(0).normal(size=(words, dims)).round(6)
    book = xlsxwriter.Workbook(path, {"constant_memory": True})
    sheet = book.add_worksheet("words")
    sheet.write_row(0, 0, ["", *(f"d{j + 1}" for j in range(dims))])
    for i, row in enumerate(x.tolist()):
        sheet.write_row(i + 1, 0, [f"word{i + 1}", *row])
    book.close()


def measure(program: str, path: Path) -> tuple[float, float, list[str]]:
    """Seconds, megabytes at the most, and what was read."""
    command = [sys.executable, "-c", MEASURED.format(program), str(path)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(out[0]), float(out[1]), out[2:]


def main() -> None:
    """Measure, print, assert."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--dims", type=int, default=100)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words.xlsx")
        make(path, options.words, options.dims)
        results = {"attn-xl": [], "openpyxl": []}
        for _ in range(options.times):  # in turn, so that both meet the same machine
            results["attn-xl"].append(measure(OURS, path))
            results["openpyxl"].append(measure(OPENPYXL, path))
        best = {name: min(runs) for name, runs in results.items()}
        for name, (seconds, peak, _) in best.items():
            print(f"{name:9} {seconds:6.2f} s  {peak:5.0f} MB")
        assert best["attn-xl"][2] == best["openpyxl"][2], "they read different numbers"
        ratio = best["openpyxl"][0] / best["attn-xl"][0]
        print(f"{ratio:.1f} times as fast as openpyxl's read-only mode")
        assert ratio >= AT_LEAST, f"less than {AT_LEAST} times as fast"


if __name__ == "__main__":
    main()
