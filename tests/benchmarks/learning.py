"""How fast learning is: python tests/benchmarks/learning.py

Three figures, each from one run on one machine, each with its bound; it fails if one is broken:

- the 20 live steps of samples/learning.xlsx, written as a workbook: processor time, in times of that
  of importing numpy and openpyxl, at most 3. Best of some runs, each in a process of its own, by turns;
- 1,000 steps of the sample computed, against PyTorch's steps per second on the same model in one
  thread, at least a quarter (left out where PyTorch is not installed);
- 20 live steps of 300,000 formulas opened and recalculated by LibreOffice, in times of attention with
  as many formulas, at most 4 (left out where LibreOffice is not installed).

Options: --runs 5 --only writing|computing|libreoffice
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from engines import libreoffice, recalculated_by_libreoffice

import attn_xl
from attn_xl.settings import Settings
from attn_xl.workbook.write import write_workbook

ROOT = Path(__file__).parent.parent.parent
SAMPLE = ROOT / "samples" / "learning.xlsx"
MOST_WRITING, LEAST_COMPUTING, MOST_LIBREOFFICE = 3.0, 0.25, 4.0
STEPS, FORMULAS = 1000, 300_000

_IMPORT = "import time\nimport numpy, openpyxl\nprint(time.process_time())"
_WRITE = """
import gc, sys, time
from attn_xl.cli import main as _
from attn_xl import api
from attn_xl.workbook.write import write_workbook
gc.disable()  # as the command does
computation = api.learn(sys.argv[1], steps=20, live=20).computation
start = time.process_time()
write_workbook(computation, sys.argv[2], settings=computation.settings, record=True)
print(time.process_time() - start)
"""
_COMMAND = """
import sys, time
options = ["--steps", "20", "--live", "20", "--force", "-o", sys.argv[2]]
sys.argv = ["attn-xl", "learn", sys.argv[1], *options]
from contextlib import redirect_stdout
from io import StringIO
from attn_xl.cli.main import main
try:
    with redirect_stdout(StringIO()):
        main()
except SystemExit:
    pass
print(time.process_time())
"""


def seconds(code: str, *arguments: object) -> float:
    """The processor time that a program prints, in a process of its own."""
    call = [sys.executable, "-c", code, *map(str, arguments)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(ROOT)}
    return float(
        subprocess.run(call, check=True, capture_output=True, text=True, env=environment).stdout
    )


def writing(runs: int) -> bool:
    """Whether the sample is written fast enough."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.xlsx"
        for _ in range(runs + 1):  # the first makes the bytecode
            for name, code in (("imports", _IMPORT), ("written", _WRITE), ("command", _COMMAND)):
                best[name] = min(best.get(name, 1e9), seconds(code, SAMPLE, target))
    ratio = best["written"] / best["imports"]
    print(
        f"20 live steps of the sample written: {best['written']:.2f} s, {ratio:.2f} times the imports"
    )
    print(f"  the imports take {best['imports']:.2f} s, the whole command {best['command']:.2f} s, "
          f"{best['command'] / best['imports']:.2f} times")  # fmt: skip
    return ratio <= MOST_WRITING


def computing(runs: int) -> bool:
    """Whether steps are computed fast enough."""
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed")
        return True
    torch.set_num_threads(1)
    tables = attn_xl.read_tables(SAMPLE)
    given = {
        name: torch.tensor(one.values.copy(), requires_grad=True)
        for name, one in tables.weights.items()
    }
    classes = tables.weights["W_C"].columns
    sentences = [
        (torch.tensor(sentence.values), torch.tensor([classes.index(tables.labels[name][0])]))
        for name, sentence in tables.sentences.items()
    ]

    def by_pytorch() -> None:
        optimizer = torch.optim.SGD(list(given.values()), 0.1)
        for _ in range(STEPS):
            parts = []
            for x, right in sentences:
                q, k, v = (x @ given[f"W_{letter}"] for letter in "QKV")
                output = torch.softmax(q @ k.T / 2**0.5, dim=1) @ v
                logits = output[:1] @ given["W_C"]
                parts.append(torch.nn.functional.cross_entropy(logits, right))
            optimizer.zero_grad()
            (sum(parts) / len(parts)).backward()
            optimizer.step()

    def by_us() -> None:
        attn_xl.learn(tables, steps=STEPS, live=5, rate=0.1)

    best: dict[str, float] = {}
    for _ in range(runs):
        for name, run in (("ours", by_us), ("PyTorch", by_pytorch)):
            best[name] = min(best.get(name, 1e9), timed(run))
    ours, theirs = STEPS / best["ours"], STEPS / best["PyTorch"]
    print(
        f"{STEPS} steps computed: {ours:.0f} a second, PyTorch {theirs:.0f}, {ours / theirs:.2f} of it"
    )
    return ours >= LEAST_COMPUTING * theirs


def timed(run: Callable[[], object]) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def in_libreoffice(runs: int) -> bool:
    """Whether LibreOffice recalculates learning as fast as attention."""
    if libreoffice() is None:
        print("LibreOffice is not installed")
        return True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        books = {"learning": learning_book(folder), "attention": attention_book(folder)}
        empty = folder / "empty.xlsx"
        write_workbook(attn_xl.attend({"s": np.ones((2, 2))}), empty)
        best: dict[Path, float] = {}
        for _ in range(runs):
            for path in (empty, *(path for path, _ in books.values())):
                taken = timed(lambda: recalculated_by_libreoffice([path], folder / "out"))  # noqa: B023
                best[path] = min(best.get(path, 1e9), taken)
    own = {what: best[path] - best[empty] for what, (path, _) in books.items()}
    for what, (_, formulas) in books.items():
        print(f"{what}: LibreOffice recalculates {formulas:,} formulas in {own[what]:.1f} s")
    each = {what: own[what] / formulas for what, (_, formulas) in books.items()}
    ratio = each["learning"] / each["attention"]
    print(
        f"  {ratio:.2f} times as long, by formula; the {best[empty]:.1f} s of its start are taken off"
    )
    return ratio <= MOST_LIBREOFFICE


def learning_book(folder: Path) -> tuple[Path, int]:
    """20 live steps of a classifier of two sentences, and the number of its formulas."""
    words, dims = 22, 16
    numbers = np.random.default_rng(1)
    tables = {name: numbers.normal(size=(words, dims)).round(3) for name in ("first", "second")}
    labels = {"first": "animal", "second": "device"}
    settings = Settings(model="classify", steps=20, live=20)  # type: ignore[arg-type]
    computation = attn_xl.learn(tables, settings, labels=labels).computation
    return written(computation, settings, folder / "learning.xlsx")


def attention_book(folder: Path) -> tuple[Path, int]:
    """Self-attention of one sentence, and the number of its formulas."""
    x = np.random.default_rng(1).normal(size=(242, 64)).round(3)
    settings = Settings(random_weights=1)
    return written(attn_xl.attend({"s": x}, settings), settings, folder / "attention.xlsx")


def written(computation: attn_xl.Computation, settings: Settings, path: Path) -> tuple[Path, int]:
    layout = write_workbook(computation, path, settings=settings)
    return path, sum(block.node.values.size for block in layout.blocks.values() if block.live)


def main() -> None:
    checks = {"writing": writing, "computing": computing, "libreoffice": in_libreoffice}
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=checks)
    options = parser.parse_args()
    kept = [options.only] if options.only else [*checks]
    failed = [name for name in kept if not checks[name](options.runs)]
    if failed:
        sys.exit(f"too slow: {', '.join(failed)}")


if __name__ == "__main__":
    main()
