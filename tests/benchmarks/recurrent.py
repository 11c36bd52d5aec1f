"""How fast recurrent networks are written: python tests/benchmarks/recurrent.py

A sentence of 200 words goes through attention, an LSTM, a GRU and a plain recurrent network, all of the
same width, and is written with a formula and its value in each computed cell. The time is that of
computing and writing, the best of some runs, taken by turns; cells are all numbers in the workbook. It
fails if a cell of the LSTM takes more than twice the time of a cell of attention.

Options: --words 200 --dims 64 --runs 7
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

import attn_xl
from attn_xl.settings import Settings
from attn_xl.workbook.write import write_workbook

MODELS = ("attention", "lstm", "gru", "rnn")
MOST = 2.0


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("words", 200), ("dims", 64), ("runs", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    x = np.random.default_rng(0).normal(size=(options.words, options.dims)) / 10
    tables = attn_xl.read_tables({"sentence": x})
    best: dict[str, float] = {}
    cells: dict[str, int] = {}
    gc.disable()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(options.runs):
            for model in MODELS:
                settings = Settings(model=model, random_weights=1, canvas=False, layout="sheets")  # type: ignore[arg-type]
                start = perf_counter()
                computation = attn_xl.attend(tables, settings)
                layout = write_workbook(computation, Path(folder) / f"{model}.xlsx", settings=settings)
                seconds = perf_counter() - start
                best[model] = min(best.get(model, seconds), seconds)
                cells[model] = sum(block.node.values.size for block in layout.blocks.values())
    print(f"{options.words} words x {options.dims} dimensions, computed and written:")
    for model in MODELS:
        each = 1e6 * best[model] / cells[model]
        print(f"  {model:10} {best[model]:6.3f} s  {cells[model]:9,} cells  {each:5.2f} µs a cell")
    ratio = best["lstm"] / cells["lstm"] / (best["attention"] / cells["attention"])
    print(f"  a cell of the LSTM takes {ratio:.2f} times as long as one of attention")
    if ratio > MOST:
        sys.exit(f"more than {MOST:g} times")


if __name__ == "__main__":
    main()
