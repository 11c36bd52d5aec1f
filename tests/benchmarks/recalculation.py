"""How fast our formulas are recalculated: python tests/benchmarks/recalculation.py

IronCalc and LibreOffice (where it is installed) open and recalculate self-attention of 256 words in 32
dimensions, written by us in each of the three styles of formulas, and written the obvious way: a
row-long MAX and a row-long SUM inside each cell that needs them. All in one run, the engines' own start
taken off; both workbooks have the same attention weights.

Small sizes are lost in the noise of LibreOffice's start: --engine IronCalc leaves it out.

Options: --words 256 --dims 32 --runs 3 --engine IronCalc
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from engines import IronCalc, libreoffice, recalculated_by_libreoffice
from self_attention import make_input
from writers import read_input

import attn_xl
from attn_xl.settings import Formulas, Settings
from attn_xl.spreadsheets.addresses import letters
from attn_xl.workbook.write import write_workbook


def write_the_obvious_way(source: Path, target: Path) -> None:
    """The same self-attention as many a hand-made workbook has it."""
    import xlsxwriter

    x, words, _ = read_input(source)
    n, d = x.shape
    last_word, last_dim, end = letters(n + 1), letters(d + 1), n + 4
    formulas = {
        "Q": (d, "Input!{c}{r}"),
        "K": (d, "Input!{c}{r}"),
        "V": (d, "Input!{c}{r}"),
        "Scores": (n, f"SUMPRODUCT(Q!$B{{r}}:${last_dim}{{r}},K!$B${{k}}:${last_dim}${{k}})"),
        "Scaled": (n, f"Scores!{{c}}{{r}}/SQRT({d})"),
        "Exponentials": (n, f"EXP(Scaled!{{c}}{{r}}-MAX(Scaled!$B{{r}}:${last_word}{{r}}))"),
        "Softmax": (n, f"Exponentials!{{c}}{{r}}/SUM(Exponentials!$B{{r}}:${last_word}{{r}})"),
        "Output": (d, f"SUM(MMULT(Softmax!$B{{r}}:${last_word}{{r}},V!{{c}}$5:{{c}}${end}))"),
    }
    book = xlsxwriter.Workbook(target)
    given = book.add_worksheet("Input")
    for i, line in enumerate(x.tolist()):
        given.write_row(i + 4, 0, [words[i], *line])
    for name, (columns, formula) in formulas.items():
        sheet = book.add_worksheet(name)
        for i in range(n):
            for j in range(columns):
                text = formula.format(c=letters(j + 2), r=i + 5, k=j + 5)
                sheet.write_formula(i + 4, j + 1, f"={text}")
    book.close()


def clock() -> float:
    """Processor time of this process and of those it ended; where the system does not tell the latter,
    time on the wall."""
    return perf_counter() if os.name == "nt" else sum(os.times()[:4])


def ironcalc(path: Path) -> float:
    start = clock()
    IronCalc(path)
    return clock() - start


def through_libreoffice(path: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        start = clock()
        recalculated_by_libreoffice([path], Path(folder), "csv")  # one small sheet is saved
        return clock() - start


def weights(path: Path, n: int) -> np.ndarray:
    book = IronCalc(path)
    return np.array([[book.value("Softmax", i + 5, j + 2) for j in range(n)] for i in range(n)], float)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=256)
    parser.add_argument("--dims", type=int, default=32)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--engine", choices=["IronCalc", "LibreOffice"], help="only this one")
    options = parser.parse_args()
    engines: dict[str, Callable[[Path], float]] = {"IronCalc": ironcalc}
    if libreoffice():
        engines["LibreOffice"] = through_libreoffice
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = make_input(folder, options.words, options.dims)
        computation = attn_xl.attend(attn_xl.read_tables(source))
        books = {}
        for style in (Formulas.cell, Formulas.array, Formulas.dynamic):
            books[style.value] = folder / f"{style.value}.xlsx"
            write_workbook(computation, books[style.value], settings=Settings(formulas=style))
        books["the obvious way"] = folder / "obvious.xlsx"
        write_the_obvious_way(source, books["the obvious way"])
        ours, obvious = (weights(books[key], options.words) for key in ("cell", "the obvious way"))
        assert np.allclose(ours, obvious, rtol=1e-12, atol=0), "the two are not the same attention"
        empty = folder / "empty.xlsx"
        write_workbook(attn_xl.attend(attn_xl.read_tables(make_input(folder, 2, 2))), empty)

        print(
            f"{options.words} words x {options.dims} dimensions, open and recalculate, processor time:"
        )
        for engine, time in engines.items():
            if options.engine not in (None, engine):
                continue
            start = min(time(empty) for _ in range(options.runs))
            seconds = {
                key: min(time(book) for _ in range(options.runs)) - start for key, book in books.items()
            }
            for key, value in seconds.items():
                print(f"{engine:12} {key:16} {value:7.2f} s, {value / seconds['cell']:5.2f} of ours")
            assert seconds["cell"] < 1.2 * seconds["the obvious way"], "ours is the slower one"


if __name__ == "__main__":
    main()
