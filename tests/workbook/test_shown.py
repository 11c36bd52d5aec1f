"""What a reader sees is what is stored: sign, digits and blanks of every cell of every workbook.

A number format can drop a minus sign or round a value to nothing while the stored value is perfect. So
each cell's value and number format are rendered here, and by the programs that are installed: Gnumeric
and LibreOffice open the workbook; ssf and numfmt, which model Excel, get the formats and the values.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import floor, log10
from pathlib import Path

import openpyxl
import pytest
from conftest import ROOT, alike, thorough
from corpus import KINDS, Corpus, covering
from engines import libreoffice
from shown import Shown, cells, misshown, shown

import attn_xl
from attn_xl import Settings
from attn_xl.tables.survey import Table, Tables
from attn_xl.workbook.xlsx.styles import hiding

AS_SHOWN = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,true,false,false,-1"
"""LibreOffice's filter: commas, quotes, UTF-8, cells as they are shown, a file for each sheet."""
AT_ONCE = 40
"""So many workbooks LibreOffice gets in one call."""
Text = Callable[[Shown], str]
"""What a program shows in a cell."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


# The programs


def by_gnumeric(paths: Sequence[Path], folder: Path) -> Iterator[Text]:
    for path in paths:
        out = folder / path.stem
        out.mkdir()
        how = ["-S", "-T", "Gnumeric_stf:stf_assistant", "-O", "format=preserve separator=,"]
        subprocess.run(["ssconvert", *how, path, out / "%n.csv"], check=True, capture_output=True)
        sheets = openpyxl.load_workbook(path, read_only=True).sheetnames
        yield from_files({name: out / f"{number}.csv" for number, name in enumerate(sheets)})


def by_libreoffice(paths: Sequence[Path], folder: Path) -> Iterator[Text]:
    profile = (folder / "profile").as_uri()
    how = [libreoffice() or "", f"-env:UserInstallation={profile}", "--headless"]
    for first in range(0, len(paths), AT_ONCE):
        some = paths[first : first + AT_ONCE]
        subprocess.run(
            [*how, "--convert-to", AS_SHOWN, "--outdir", folder, *some], check=True, capture_output=True
        )
    for path in paths:
        sheets = openpyxl.load_workbook(path, read_only=True).sheetnames
        yield from_files({name: folder / f"{path.stem}-{name}.csv" for name in sheets})


def from_files(files: dict[str, Path]) -> Text:
    rows = {
        name: [*csv.reader(file.open(encoding="utf-8", newline=""))] for name, file in files.items()
    }

    def text(cell: Shown) -> str:
        there = rows[cell.sheet]
        row = there[cell.row - 1] if cell.row <= len(there) else []
        return row[cell.column - 1] if cell.column <= len(row) else ""

    return text


def by_package(name: str) -> Callable[[Sequence[Path], Path], Iterator[Text]]:
    def run(paths: Sequence[Path], folder: Path) -> Iterator[Text]:
        numbers = (key(cell) for path in paths for cell in cells(path) if is_number(cell))
        texts = packaged(name, [*dict.fromkeys(numbers)], folder)
        for _ in paths:
            yield lambda cell: texts[key(cell)] if is_number(cell) else cell.value or ""

    return run


def is_number(cell: Shown) -> bool:
    return isinstance(cell.value, (int, float))


def key(cell: Shown) -> tuple[str, float]:
    return cell.code, float(cell.value)


def packaged(
    name: str, pairs: Sequence[tuple[str, float]], folder: Path
) -> dict[tuple[str, float], str]:
    """What an npm package shows for each number format with a value."""
    given = folder / f"{name}.json"
    given.write_text(json.dumps(pairs))
    program = ROOT / "tests" / "engines" / "ssf_numfmt.mjs"
    environment = {**os.environ, "NODE_PATH": str(packages(name))}
    done = subprocess.run(
        ["node", program, name, given], check=True, capture_output=True, text=True, env=environment
    )
    return dict(zip(pairs, json.loads(done.stdout)))


def packages(name: str) -> Path | None:
    """The folder of npm packages that has one; None where there is none."""
    folders = filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep))
    there = (Path(folder) for folder in folders if Path(folder, name).is_dir())
    return next(there, None) if shutil.which("node") else None


@dataclass(frozen=True)
class Program:
    """A program that shows workbooks.

    Attributes:
        run: what it shows in each of some workbooks; the folder is for what it writes.
        there: whether it is installed.
        cannot: parts of number formats that it cannot show and Excel can.
    """

    run: Callable[[Sequence[Path], Path], Iterator[Text]]
    there: Callable[[], object]
    cannot: tuple[str, ...] = ()


PROGRAMS = {
    "Gnumeric": Program(by_gnumeric, lambda: shutil.which("ssconvert")),
    "LibreOffice": Program(by_libreoffice, libreoffice),
    "numfmt": Program(by_package("numfmt"), lambda: packages("numfmt")),
    "ssf": Program(by_package("ssf"), lambda: packages("ssf"), ("0 %", ".0000000")),
}


def wrongly_shown(path: Path, text: Text, cannot: Sequence[str] = ()) -> list[str]:
    able = (cell for cell in cells(path) if not any(part in cell.code for part in cannot))
    pairs = ((cell, text(cell)) for cell in able)
    found = ((cell, said, misshown(cell.value, cell.code, said)) for cell, said in pairs)
    return [
        f"{path.stem}: {cell.sheet}!{cell.cell} = {cell.value!r} as {cell.code}: {said!r} {why}"
        for cell, said, why in found
        if why
    ]


Look = tuple[str, bool, int | None]
"""A number format, whether the number is negative, and the power of ten of its first digit."""


@cache
def looks(path: Path) -> frozenset[Look]:
    """How the numbers of a workbook look. A program shows a look in one workbook as in another."""
    numbers = ((cell.code, float(cell.value)) for cell in cells(path) if is_number(cell))
    return frozenset((c, n < 0, floor(log10(abs(n))) if n else None) for c, n in numbers)


# What they show


@alike
@pytest.mark.parametrize("kind", KINDS)
def test_every_number_is_shown_with_its_sign_and_digits(kind: str, corpus: Corpus) -> None:
    for path in corpus[kind]:
        looks(path)  # kept for the programs, while the cells are at hand
        wrong = wrongly_shown(path, lambda cell: shown(cell.value, cell.code))
        assert not wrong, "\n".join(wrong[:5])
        narrow = [
            f"{path.stem}: {cell.sheet}!{cell.cell}: {text!r} in {cell.width:.1f} characters"
            for cell in cells(path)
            if is_number(cell) and cell.code != "General"
            for text in [shown(cell.value, cell.code)]
            if len(text) > cell.width
        ]
        assert not narrow, "\n".join(narrow[:5])


@thorough
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_shows_the_same(name: str, corpus: Corpus, tmp_path: Path) -> None:
    program = PROGRAMS[name]
    if not program.there():
        pytest.skip(f"{name} is not installed")
    paths = covering(corpus.all(), looks)
    for path, text in zip(paths, program.run(paths, tmp_path)):
        wrong = wrongly_shown(path, text, program.cannot)
        assert not wrong, "\n".join(wrong[:5])


CODES = [
    "0", "0.0", "0.000", "0.000000", "0.0E+00", "0.000E+00", "0 %", "0.0 %", "0;;", ";;;", '0" / 12"',
    "General",
    *(hiding(own, text) for own in ("0", "0.0", "0.000", "0.000000", "0.0E+00", "0.000E+00")
      for text in ("-1E+09", "<=-1E+08")),
]  # fmt: skip
VALUES = [
    0.0, 0.297, 12.3456, 1.00051, 99.9996, 123456.78, 0.00012, 2e-7, 0.9996, 5.0, 0.49, 0.51, 0.0501,
    1e8, 4e10, -1e9 - 0.297,
]  # fmt: skip


@pytest.mark.parametrize("name", ["numfmt", "ssf"])
def test_number_formats_are_rendered_as_excels_models_render_them(name: str, tmp_path: Path) -> None:
    if not packages(name):
        pytest.skip(f"{name} is not installed")
    pairs = [(code, value * sign) for code in CODES for value in VALUES for sign in (1, -1)]
    able = [p for p in pairs if not any(part in p[0] for part in PROGRAMS[name].cannot)]
    texts = packaged(name, able, tmp_path)
    wrong = [f"{pair}: {text!r}, here {shown(pair[1], pair[0])!r}" for pair, text in texts.items()
             if text != shown(pair[1], pair[0])]  # fmt: skip
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (-0.297, "[<=-100000000]0E+00;0.000", "0.297"),
        (-1e9, "[<=-100000000]0E+00;0.000", "1E+09"),
        (-0.297, "0.000", "0.297"),
        (0.297, "0.000", "-0.297"),
        (0.2976, "0.000", "0.297"),
        (0.0006, "0.000", "0.000"),
        (-0.0001, "0.000", "-0.000"),
        (0.297, "0.000", ""),
        (0.297, "0.000", "###"),
        (-3e38, hiding("0.000", "-1E+09"), "-1E+09"),
        (5.0, ";;;", "5"),
        (-5.0, "0;;", "-5"),
        ("cat", "@", "dog"),
        (None, "General", "0"),
    ],
)
def test_what_is_shown_wrong_is_noticed(value: object, code: str, text: str) -> None:
    assert misshown(value, code, text)


@thorough
def test_a_dropped_sign_is_noticed_in_a_workbook(tmp_path: Path) -> None:
    attn_xl.write_workbook(attn_xl.attend(ROOT / "samples" / "masks.xlsx"), tmp_path / "masks.xlsx")
    book = openpyxl.load_workbook(tmp_path / "masks.xlsx")
    for cells_ in book["first.Masked"].iter_rows():
        for cell in cells_:
            if cell.number_format.startswith("[<="):
                cell.number_format, cell.value = "[<=-100000000]0E+00;0.000", -0.297
    book.save(tmp_path / "wrong.xlsx")
    assert wrongly_shown(tmp_path / "wrong.xlsx", lambda cell: shown(cell.value, cell.code))


@alike
@pytest.mark.parametrize(
    ("hidden", "text"),
    [([-1e9, -1e9], "-1E+09"), ([-3e38, 0], "-3E+38"), ([-1e9, -2e9], "<=-1E+08"), ([0, 0], "-1E+09")],
)
def test_what_a_mask_hides_is_shown_as_it_is(hidden: list[float], text: str, tmp_path: Path) -> None:
    import numpy as np

    def table(name: str, values: list[list[float]]) -> Table:
        return Table(name, np.array(values), ("a", "b"), ("c", "d"), (True, True), "x.xlsx", name, 1, 1)

    masks = table("Mask", [[0, hidden[0]], [hidden[1], 0]])
    tables = Tables(tmp_path / "x.xlsx", {"s": table("s", [[1, -2], [-3, 1]])}, {"Mask": masks})
    attn_xl.write_workbook(attn_xl.attend(tables, Settings()), tmp_path / "o.xlsx")
    of_masked = [
        cell for cell in cells(tmp_path / "o.xlsx") if cell.sheet == "Masked" and is_number(cell)
    ]
    assert of_masked
    for cell in of_masked:
        if cell.value <= -1e8:
            assert shown(cell.value, cell.code) == text
        else:
            assert not misshown(cell.value, cell.code, shown(cell.value, cell.code))
    assert len({cell.code for cell in of_masked if ";" in cell.code}) == 1
