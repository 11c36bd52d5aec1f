"""The time LibreOffice takes for a large workbook: python tests/benchmarks/libreoffice.py

An encoder layer of width 384 with 12 heads, as it is written, and the same workbook with other print
titles: none, and for rows and columns together. Recalculation is in `recalculation.py`.

Options: --words 12 --dims 384 --heads 12 --most 300
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter as clock

import numpy as np
from engines import libreoffice

import attn_xl
from attn_xl import Settings
from attn_xl.tables.survey import Table, Tables

_TITLES = re.compile(
    r"(<definedName name=\"_xlnm.Print_Titles\" localSheetId=\"\d+\">)('[^<]*'!)[^<!]*</definedName>"
)


def write(path: Path, words: int, dims: int, heads: int) -> None:
    """The workbook of one encoder layer with random weights."""
    x = np.random.default_rng(1).normal(size=(words, dims)).round(3)
    rows, columns = (
        tuple(f"{letter}{i}" for i in range(n)) for letter, n in (("w", words), ("d", dims))
    )
    table = Table("s", x, rows, columns, (True, True), "x.xlsx", "s", 1, 1)
    settings = Settings(model="encoder", heads=heads, hidden=2 * dims, random_weights=1)
    computation = attn_xl.attend(Tables(Path("x.xlsx"), {"s": table}, {}), settings)
    attn_xl.write_workbook(computation, path, settings=settings)


def changed(source: Path, target: Path, change: Callable[[str], str]) -> Path:
    """A copy with another `workbook.xml`."""
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for name in given.namelist():
            data = given.read(name)
            made.writestr(name, change(data.decode()) if name == "xl/workbook.xml" else data)
    return target


def seconds(path: Path, folder: Path, to: str, most: float) -> float:
    """The time to open a workbook and to save it as xlsx, or one small sheet of it as csv."""
    start = clock()
    call = [libreoffice() or "soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            "--headless", "--convert-to", to, "--outdir", folder / "out", path]  # fmt: skip
    try:
        subprocess.run(call, check=True, capture_output=True, timeout=most)
    except subprocess.TimeoutExpired:
        return float("inf")
    return clock() - start


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, value in (("words", 12), ("dims", 384), ("heads", 12), ("most", 300)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = folder / "ours.xlsx"
        write(ours, options.words, options.dims, options.heads)
        none = changed(ours, folder / "none.xlsx", lambda xml: _TITLES.sub("", xml))
        both = r"\1\2$4:$4,\2$A:$A</definedName>"
        two = changed(ours, folder / "both.xlsx", lambda xml: _TITLES.sub(both, xml))
        seconds(none, folder, "csv", options.most)  # its profile is made
        base = seconds(none, folder, "csv", options.most)
        for what, path, to in (
            ("no print titles", none, "csv"), ("as written", ours, "csv"),
            ("rows and columns", two, "csv"), ("as written, saved as xlsx", ours, "xlsx"),
        ):  # fmt: skip
            taken = seconds(path, folder, to, options.most)
            print(f"{what:28} {taken:6.1f} s, {taken / base:5.2f} of no print titles", flush=True)


if __name__ == "__main__":
    main()
