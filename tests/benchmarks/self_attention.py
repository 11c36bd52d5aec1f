"""How fast a million formulas are written: python tests/benchmarks/self_attention.py

The whole program, from the input file to the finished workbook, against openpyxl's write-only mode and
XlsxWriter doing the same: read the input, compute, write the same sheets with the same formulas and
styles (openpyxl cannot store their values), each in a process of its own, all in one run. Up to 128
words it is checked that the formulas are the same. Ratios are of processor time, where the system tells
it: others at work on the machine change the seconds, not it. Then: the three styles of formulas; the
cost of a cell from 64 to 1024 words; zlib level 6 on the same bytes; and converting the small sample
against importing numpy and openpyxl.

Options: --words 512 --dims 64 --quick (no openpyxl and XlsxWriter, up to 256 words)
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

from attn_xl.spreadsheets.addresses import letters

SAMPLE = Path(__file__).parents[2] / "samples" / "mouse.xlsx"
CONVERT = [sys.executable, "-m", "attn_xl", "convert", "--plain"]

Cell = tuple[str | None, object]  # formula, value


def sheets(
    x: np.ndarray, words: list[str], dims: list[str]
) -> Iterator[tuple[str, list[str], Iterator[list[Cell]]]]:
    """The sheets of self-attention as anybody would make them: name, column labels, rows from row 5."""
    n, d = x.shape
    column = [letters(j + 1) for j in range(2 * n + 10)]
    last_word, last_dim, end = column[n], column[d], n + 4
    scores = x @ x.T
    scaled = scores / np.sqrt(d)
    maximum = scaled.max(axis=1, keepdims=True)
    powers = np.exp(scaled - maximum)
    total = powers.sum(axis=1, keepdims=True)
    weights = powers / total
    output = weights @ x
    at_max, at_power, at_sum = n + 2, n + 4, 2 * n + 5

    def rows(values: np.ndarray, formula: Callable[[int, int], str] | None) -> Iterator[list[Cell]]:
        for i, line in enumerate(values.tolist()):
            yield [
                (None, words[i]),
                *((formula(i + 5, j) if formula else None, v) for j, v in enumerate(line)),
            ]

    def softmax() -> Iterator[list[Cell]]:
        parts = zip(weights.tolist(), maximum.tolist(), powers.tolist(), total.tolist())
        for i, (w, m, p, s) in enumerate(parts):
            r = i + 5
            top, bottom = f"${column[at_max]}{r}", f"${column[at_sum]}{r}"
            yield [
                (None, words[i]),
                *((f"{column[at_power + j]}{r}/{bottom}", v) for j, v in enumerate(w)),
                (None, ""),
                (f"MAX(Scaled!$B{r}:${last_word}{r})", m[0]),
                (None, ""),
                *((f"EXP(Scaled!{column[j + 1]}{r}-{top})", v) for j, v in enumerate(p)),
                (None, ""),
                (f"SUM(${column[at_power]}{r}:${column[at_sum - 2]}{r})", s[0]),
            ]

    yield "Input", dims, rows(x, None)
    for name in "QKV":
        yield name, dims, rows(x, lambda r, j: f"Input!{column[j + 1]}{r}")
    product = "SUMPRODUCT(Q!$B{0}:${2}{0},K!$B${1}:${2}${1})".format
    yield "Scores", words, rows(scores, lambda r, j: product(r, j + 5, last_dim))
    yield "Scaled", words, rows(scaled, lambda r, j: f"Scores!{column[j + 1]}{r}/SQRT(d_k)")
    yield "Softmax", [*words, "", "maximum", "", *words, "", "sum"], softmax()
    yield (
        "Output",
        dims,
        rows(
            output,
            lambda r, j: (
                f"SUM(MMULT(Softmax!$B{r}:${last_word}{r},V!{column[j + 1]}$5:{column[j + 1]}${end}))"
            ),
        ),
    )


def read_input(path: Path) -> tuple[np.ndarray, list[str], list[str]]:
    from python_calamine import CalamineWorkbook

    rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    return np.array([row[1:] for row in rows[1:]]), [row[0] for row in rows[1:]], rows[0][1:]


def write_with_openpyxl(source: Path, target: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import NamedStyle
    from openpyxl.workbook.defined_name import DefinedName

    book = Workbook(write_only=True)
    book.add_named_style(NamedStyle(name="value", number_format="0.000"))
    for name, labels, rows in sheets(*read_input(source)):
        sheet = book.create_sheet(name)
        for line in ([name], [], [], ["", *labels]):
            sheet.append(line)
        styled = WriteOnlyCell(sheet)
        styled.style = "value"
        for row in rows:
            made = []
            for formula, value in row:
                cell = WriteOnlyCell(sheet, value if formula is None else "=" + formula)
                cell._style = styled._style
                made.append(cell)
            sheet.append(made)
    book.defined_names["d_k"] = DefinedName("d_k", attr_text="Q!$A$1")
    book.save(target)


def write_with_xlsxwriter(source: Path, target: Path) -> None:
    import xlsxwriter

    book = xlsxwriter.Workbook(target)
    style = book.add_format({"num_format": "0.000"})
    for name, labels, rows in sheets(*read_input(source)):
        sheet = book.add_worksheet(name)
        sheet.write_string(0, 0, name)
        sheet.write_row(3, 1, labels)
        for r, row in enumerate(rows, 4):
            for c, (formula, value) in enumerate(row):
                if formula is not None:
                    sheet.write_formula(r, c, "=" + formula, style, value)
                elif isinstance(value, str):
                    sheet.write_string(r, c, value)
                else:
                    sheet.write_number(r, c, value, style)
    book.define_name("d_k", "=Q!$A$1")
    book.close()


PEERS = {"openpyxl": write_with_openpyxl, "XlsxWriter": write_with_xlsxwriter}


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
    """The cost of a command: medians of some runs, the largest memory."""
    times, processor, peak = [], [], 0.0
    for _ in range(runs):
        start = perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        if hasattr(__import__("os"), "wait4"):
            import os

            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            processor.append(usage.ru_utime + usage.ru_stime)
            divisor = 1e6 if sys.platform == "darwin" else 1e3
            peak = max(peak, usage.ru_maxrss / divisor)
        else:
            process.wait()
        times.append(perf_counter() - start)
        assert process.returncode == 0, command
    return Cost(median(times), median(processor or times), peak)


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
    size = file.stat().st_size / 1e6
    return f"{label:28} {cost.seconds:7.2f} s {cost.memory:5.0f} MB {size:7.2f} MB file"


def formula_cells(path: Path) -> int:
    with zipfile.ZipFile(path) as book:
        sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/sheet")]
        return sum(book.read(name).count(b"<f>") for name in sheets)


def formulas_differ(ours: Path, theirs: Path) -> str:
    """The first formula in which two workbooks differ, or nothing."""
    import openpyxl

    books = [openpyxl.load_workbook(path, read_only=True) for path in (ours, theirs)]
    for name in books[1].sheetnames:
        for row in zip(*(book[name].iter_rows(min_row=5, values_only=True) for book in books)):
            a, b = (
                [cell for cell in cells if isinstance(cell, str) and cell.startswith("=")]
                for cells in row
            )
            # Ours has the scalar d_k beside the scaled scores.
            if [cell for cell in a if cell != "=COLUMNS(K)"] != b:
                return f"{name}: {a[:2]} {b[:2]}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=512)
    parser.add_argument("--dims", type=int, default=64)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        PEERS[options.peer[0]](*map(Path, options.peer[1:]))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, out = make_input(folder, options.words, options.dims), folder / "out.xlsx"
        command = [*CONVERT, str(source), "-o", str(out), "--force"]
        ours = timed(command)
        first = out.rename(folder / "first.xlsx")
        print(
            f"{options.words} words x {options.dims} dimensions, {formula_cells(first):,} formula cells"
        )
        print(line("attn-xl", ours, first))
        for label in () if options.quick else PEERS:
            target = folder / "peer.xlsx"
            peer = timed([sys.executable, __file__, "--peer", label, str(source), str(target)], 1)
            print(line(label, peer, target), f"{peer.processor / ours.processor:5.1f} times as long")
            if options.words <= 128:
                assert not formulas_differ(first, target), formulas_differ(first, target)
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
        print("\nthe small sample:")
        times = 5 if options.quick else 15
        small = timed([*CONVERT, str(SAMPLE), "-o", str(out), "--force"], times)
        bare = timed([sys.executable, "-c", "import numpy, openpyxl"], times)
        ratio = f"{small.processor / bare.processor:.2f} times as long"
        print(f"convert {small.seconds:.3f} s, the imports {bare.seconds:.3f} s: {ratio}")


if __name__ == "__main__":
    main()
