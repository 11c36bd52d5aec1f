"""Makes `docs/slips.xlsx`, a workbook with slips: `python tests/slips/make_slips.py`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.extend(map(str, Path(__file__).parents[1].glob("**")))

import numpy as np
from conftest import ROOT, SAMPLES
from planting import copy, put, to_file

import attn_xl
from attn_xl.spreadsheets.addresses import split_address
from attn_xl.spreadsheets.blocks.templates import Forms
from attn_xl.spreadsheets.engines import IronCalc
from attn_xl.spreadsheets.formulas import NUMBER, WIDTH, FormulaBook, read_formulas
from attn_xl.spreadsheets.ironcalc_support import formulas_to_reenter
from attn_xl.workbook.write import write_workbook


def key(cell: str) -> int:
    """A cell's key."""
    row, column = split_address(cell)
    return row * WIDTH + column - 1


def recalculated(book: FormulaBook, path: Path) -> FormulaBook:
    """The book with the values that IronCalc computes."""
    path = to_file(book, path)
    again = read_formulas(path)
    engine = IronCalc(path)
    for cell in formulas_to_reenter(again, Forms(again.formulas)):
        engine.set_formula(*cell)
    engine.evaluate()
    for name, sheet in book.sheets.items():
        for place in np.flatnonzero((sheet.formulas >= 0) | (sheet.spilled >= 0)).tolist():
            at = int(sheet.keys[place])
            value = engine.value(name, at // WIDTH, at % WIDTH + 1)
            if isinstance(value, float):
                sheet.numbers[place] = value
    return book


def slips(folder: Path) -> FormulaBook:
    """The attention of a sample with five slips in it."""
    path = folder / "politics.xlsx"
    computation = attn_xl.attend(SAMPLES / "politics.xlsx")
    write_workbook(computation, path, settings=attn_xl.Settings(canvas=False))
    book = copy(read_formulas(path))
    put(book, "Scores", key("D6"), "SUMPRODUCT(Q!$B6:$C6,K!$B$8:$C$8)")
    for row in range(5, 10):
        put(book, "Softmax", key(f"P{row}"), f"SUM($K{row}:$N{row})")
        for column in "BCDEF":
            put(book, "Scaled", key(f"{column}{row}"), f"Scores!{column}$5/SQRT(d_k)")
    book = recalculated(book, folder / "recalculated.xlsx")
    output = book.sheets["Output"]
    place = int(output.find(np.array([key("C7")]))[0])
    output.formulas[place], output.kinds[place], output.numbers[place] = -1, NUMBER, 2.5
    scores = book.sheets["Scores"]
    scores.numbers[int(scores.find(np.array([key("F9")]))[0])] += 1
    return book


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        to_file(slips(Path(folder)), ROOT / "docs" / "slips.xlsx")
