"""How fast an encoder is written: python tests/benchmarks/encoder.py

The whole program, from the input file with all weights to the finished workbook: an encoder with two
layers and four heads on 64 words of 64 dimensions, 256 hidden, every matrix. In the same run,
self-attention with about as many formula cells, and the small sample, whose time is that of starting.

With --large instead: six layers, twelve heads, 16 words of 384 dimensions, 1536 hidden, made-up
weights, a sheet for each matrix; once as it is, where each head reads its columns of W_Q where they
stand, and once with them copied (--heads-as-sheets).

Options: --words 64 --dims 64 --hidden 256 --layers 2 --heads 4 --runs 5 --large
"""

from __future__ import annotations

import argparse
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from self_attention import CONVERT, SAMPLE, formula_cells, make_input, timed


@dataclass(frozen=True)
class Result:
    """What a conversion took, and what it wrote."""

    seconds: float
    peak: float
    formulas: int
    numbers: int
    sheets: int
    size: int

    def rate(self, started: float = 0.0) -> float:
        """Formula cells a second, without the time that starting takes."""
        return self.formulas / (self.seconds - started)

    def number_rate(self, started: float = 0.0) -> float:
        return self.numbers / (self.seconds - started)


def make_encoder(folder: Path, words: int, dims: int, hidden: int, layers: int) -> Path:
    """An input workbook with a sentence and the weights of every layer, each on its sheet."""
    import xlsxwriter

    rng = np.random.default_rng(words)
    shapes = {
        **{f"W_{letter}": (dims, dims) for letter in "QKVO"},
        "W_1": (dims, hidden),
        "b_1": (1, hidden),
        "W_2": (hidden, dims),
        "b_2": (1, dims),
    }
    path = folder / "encoder.xlsx"
    book = xlsxwriter.Workbook(path)
    sheet = book.add_worksheet("sentence")
    sheet.write_row(0, 1, [f"d{j + 1}" for j in range(dims)])
    for i, row in enumerate(rng.normal(size=(words, dims)).round(4).tolist(), 1):
        sheet.write_row(i, 0, [f"word{i}", *row])
    for layer in range(1, layers + 1):
        for name, (rows, columns) in shapes.items():
            sheet = book.add_worksheet(f"Enc{layer}.{name}")
            weights = rng.normal(size=(rows, columns)) / np.sqrt(max(rows, 2))
            for i, row in enumerate(weights.round(4).tolist()):
                sheet.write_row(i, 0, row)
    book.close()
    return path


def words_for(formulas: int, dims: int) -> int:
    """The words whose self-attention has about so many formulas.

    Q, K, V and Output have a formula for each number of the input; scores, scaled scores, exponentials
    and weights one for every two words; maximum and sum one for each word.
    """
    linear = 4 * dims + 2
    return round((np.sqrt(linear**2 + 16 * formulas) - linear) / 8)


def number_cells(path: Path) -> int:
    """The cells of a workbook that hold a number, with a formula or without; texts have no `<v>`."""
    with zipfile.ZipFile(path) as book:
        sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/sheet")]
        parts = map(book.read, sheets)
        return sum(part.count(b"<v>") - part.count(b' t="s"') for part in parts)


def measured(source: Path, out: Path, runs: int, *options: str) -> Result:
    """Convert a file some times, and count what came out."""
    cost = timed([*CONVERT, str(source), "-o", str(out), *options, "--force"], runs)
    with zipfile.ZipFile(out) as book:
        sheets = sum(name.startswith("xl/worksheets/sheet") for name in book.namelist())
    counts = formula_cells(out), number_cells(out), sheets, out.stat().st_size
    return Result(cost.processor, cost.memory, *counts)


def show(label: str, result: Result, started: float) -> None:
    print(
        f"{label}\n"
        f"  {result.seconds:.2f} s, {result.peak:.0f} MB at the peak, {result.sheets} sheets, "
        f"{result.size / 1e6:.1f} MB file\n"
        f"  {result.formulas:9,} formula cells: {result.rate():9,.0f} a second, "
        f"{result.rate(started):9,.0f} without starting\n"
        f"  {result.numbers:9,} number cells:  {result.number_rate():9,.0f} a second, "
        f"{result.number_rate(started):9,.0f} without starting"
    )


def large(runs: int) -> None:
    """An encoder of many heads: with their weights where they stand, and copied."""
    words, dims, hidden, layers, heads = 16, 384, 1536, 6, 12
    model = ("--model", "encoder", "--layers", layers, "--heads", heads, "--hidden", hidden)
    options = (*map(str, model), "--random-weights", "0", "--layout", "sheets")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, out = make_input(folder, words, dims), folder / "out.xlsx"
        by_reference = measured(source, out, runs, *options)
        copied = measured(source, out, runs, *options, "--heads-as-sheets")
    size = f"{layers} layers, {heads} heads, {words} words x {dims} dimensions, {hidden} hidden"
    show(f"encoder, {size}, heads read W_Q", by_reference, 0.0)
    show("the same, heads have copies of their columns", copied, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in (("words", 64), ("dims", 64), ("hidden", 256), ("layers", 2), ("heads", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--large", action="store_true")
    o = parser.parse_args()
    if o.large:
        large(o.runs)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "out.xlsx"
        started = timed([*CONVERT, str(SAMPLE), "-o", str(out), "--force"], 9).processor
        source = make_encoder(folder, o.words, o.dims, o.hidden, o.layers)
        model = ("--model", "encoder", "--layers", str(o.layers), "--heads", str(o.heads))
        encoder = measured(source, out, o.runs, *model)
        words = words_for(encoder.formulas, o.dims)
        attention = measured(make_input(folder, words, o.dims), out, o.runs)
    print(f"starting, as the small sample takes it: {started:.2f} s")
    size = (
        f"{o.layers} layers, {o.heads} heads, {o.words} words x {o.dims} dimensions, {o.hidden} hidden"
    )
    show(f"encoder, {size}", encoder, started)
    show(f"self-attention, {words} words x {o.dims} dimensions", attention, started)
    print(
        "encoder's rate to self-attention's: "
        f"formula cells {encoder.rate() / attention.rate():.2f} "
        f"({encoder.rate(started) / attention.rate(started):.2f} without starting), "
        f"number cells {encoder.number_rate() / attention.number_rate():.2f} "
        f"({encoder.number_rate(started) / attention.number_rate(started):.2f})"
    )


if __name__ == "__main__":
    main()
