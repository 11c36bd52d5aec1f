"""Every spreadsheet engine there is, and how far its numbers are from the computation's.

An engine gets each workbook with all stored values of its formulas spoilt, so that what it gives back,
it has computed. `docs/make_engines.py` writes what comes out; `test_engines.py` holds it.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from conftest import CANCELLED
from engine_cases import Case, Cells, where
from judges import relative_error
from python_calamine import CalamineWorkbook

from attn_xl.settings import Formulas
from attn_xl.spreadsheets.addresses import address, split_address
from attn_xl.spreadsheets.engines import (
    IronCalc,
    Value,
    libreoffice,
    quiet,
    recalculated_by_libreoffice,
)
from attn_xl.spreadsheets.formulas import read_formulas


def by_ironcalc(paths: Sequence[Path], folder: Path) -> Iterator[Cells]:
    for path in paths:
        book = IronCalc(path)
        yield {
            sheet: {
                address(row, column): book.value(sheet, row, column)
                for row in range(1, book.size(sheet)[0] + 1)
                for column in range(1, book.size(sheet)[1] + 1)
            }
            for sheet in book.sheets
        }


def by_libreoffice(paths: Sequence[Path], folder: Path) -> Iterator[Cells]:
    return map(stored, recalculated_by_libreoffice(list(paths), folder))


def by_gnumeric(paths: Sequence[Path], folder: Path) -> Iterator[Cells]:
    for path in paths:
        saved = folder / path.name
        subprocess.run(["ssconvert", "--recalc", path, saved], check=True, capture_output=True)
        yield stored(saved)


def stored(path: Path) -> Cells:
    """The values that a workbook stores; an error is a blank."""
    book = CalamineWorkbook.from_path(path)
    return {
        name: {
            address(row, column): value
            for row, line in enumerate(book.get_sheet_by_name(name).to_python(skip_empty_area=False), 1)
            for column, value in enumerate(line, 1)
        }
        for name in book.sheet_names
    }


def by_hyperformula(paths: Sequence[Path], folder: Path) -> Iterator[Cells]:
    """HyperFormula reads no files: it gets the cells as they are typed."""
    given = folder / "given.json"
    given.write_text(json.dumps([typed(path) for path in paths]), encoding="utf-8")
    program = Path(__file__).with_name("hyperformula.cjs")
    done = subprocess.run(
        ["node", program, given], check=True, capture_output=True, text=True, env=node_environment()
    )
    yield from json.loads(done.stdout)


def typed(path: Path) -> dict[str, dict[str, Any]]:
    """A workbook's cells, by sheet, but for those that an array formula fills.

    HyperFormula does not see how large a name is where an array or COLUMNS asks, so it gets the range.
    It wants quotes around a sheet's name with a point, and takes a bare range for an array only with
    a sign before it.
    """
    book = read_formulas(path)
    sheets: dict[str, dict[str, Any]] = {name: {} for name in book.sheets}
    for name, sheet in book.sheets.items():
        for place, key in enumerate(sheet.keys):
            content: Any = sheet.stored(place)
            if isinstance(content, str):
                content = f"'{content}"
            if sheet.formulas[place] >= 0:
                formula = book.formulas[sheet.formulas[place]]
                ranges = _NAME.sub(lambda m: book.names.get(m[0], m[0]), formula.text)
                sign = "+" * (formula.rows * formula.columns > 1)
                content = f"={sign}{_SHEET.sub(_QUOTED, ranges)}"
            if sheet.spilled[place] < 0:
                sheets[name][where(key)] = content
    return sheets


_NAME = re.compile(r"""(?<![\w.!'$])[A-Za-z_][\w.]*(?![\w.(!'])|"[^"]*"|'[^']*'!""")
_SHEET = re.compile(r"(?<!['\w.])([A-Za-z_][\w.]*)!")
_QUOTED = r"'\1'!"


def node_environment() -> dict[str, str] | None:
    """Where node finds HyperFormula; None where it does not."""
    if not shutil.which("node") or not shutil.which("npm"):
        return None
    root = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True).stdout.strip()
    folders = [*os.environ.get("NODE_PATH", "").split(os.pathsep), root]
    there = [folder for folder in folders if (Path(folder) / "hyperformula").is_dir()]
    return {**os.environ, "NODE_PATH": there[0]} if there else None


def by_formulas(paths: Sequence[Path], folder: Path) -> Iterator[Cells]:
    import formulas

    for path in paths:
        sheets = {name.upper(): name for name in read_formulas(path).sheets}
        found: Cells = {name: {} for name in sheets.values()}
        with quiet():  # it counts aloud
            solution = formulas.ExcelModel().loads(str(path)).finish().calculate()
        for key, value in solution.items():
            where = re.fullmatch(r"'\[.*\](.*)'!([A-Z]+\d+)(:[A-Z]+\d+)?", str(key))
            if where and hasattr(value, "value"):
                top, left = split_address(where[2])
                for (i, j), one in np.ndenumerate(value.value):
                    found[sheets[where[1].replace("''", "'")]][address(top + i, left + j)] = plain(one)
        yield found


def plain(value: Any) -> Value:
    """A number or a text of `formulas` as Python's own."""
    return float(value) if isinstance(value, (int, float, np.number)) else str(value)


@dataclass(frozen=True, eq=False)
class Engine:
    """A spreadsheet program that recalculates.

    Attributes:
        run: the values of each of some workbooks; the folder is for what it writes.
        version: of what is at hand; "" where there is none.
        every: of all workbooks, the tests with --thorough give it one in so many, as it is slow.
    """

    run: Callable[[Sequence[Path], Path], Iterator[Cells]]
    version: Callable[[], str]
    every: int = 1


def package(name: str) -> str:
    """The version of a Python package."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def program(*call: str) -> str:
    """The version that a program says it has."""
    if not shutil.which(call[0]):
        return ""
    done = subprocess.run([*call, "--version"], capture_output=True, text=True)
    found = re.search(r"\d+(\.\d+)+", done.stdout + done.stderr)
    return found[0] if found else ""


def hyperformula() -> str:
    where = node_environment()
    if where is None:
        return ""
    about = Path(where["NODE_PATH"], "hyperformula", "package.json").read_text(encoding="utf-8")
    return str(json.loads(about)["version"])


ENGINES = {
    "IronCalc": Engine(by_ironcalc, lambda: package("ironcalc")),
    "LibreOffice": Engine(by_libreoffice, lambda: program(libreoffice() or "soffice"), every=2),
    "Gnumeric": Engine(by_gnumeric, lambda: program("ssconvert"), every=2),
    "HyperFormula": Engine(by_hyperformula, hyperformula),
    "formulas": Engine(by_formulas, lambda: package("formulas"), every=8),
}
EXACT_GELU = (
    "encoder, exact GELU", "encoder with learned positions and GEGLU", "every operation by itself",
)  # fmt: skip
LIMITS = {
    **{("IronCalc", v): "its `NORMSDIST` has ten digits: it agrees to 1e-8" for v in EXACT_GELU},
    **{("HyperFormula", v): "its `NORMSDIST` asks for two arguments" for v in EXACT_GELU},
    ("HyperFormula", "encoder with ALiBi and experts"): "it has no `RANK`",
}
"""What an engine does not do, of every style, and why."""


# The comparison


def largest_error(case: Case, computed: Cells) -> float:
    """The largest relative error of a workbook's formula cells; infinite where one has no number.
    What is below a ten-thousandth of its sheet's largest is compared as if it were that large."""
    worst = 0.0
    for sheet, cells in case.expected.items():
        numbers = [abs(value) for value in cells.values() if isinstance(value, float)]
        least = CANCELLED * max(numbers, default=0.0)
        for cell, value in cells.items():
            found = computed.get(sheet, {}).get(cell)
            worst = max(worst, relative_error(value, found, least))
    return worst


def measured(name: str, cases: Sequence[Case], folder: Path) -> dict[tuple[str, Formulas], float]:
    """The largest error of an engine in each of some cases."""
    computed = ENGINES[name].run([case.given for case in cases], folder)
    return {(c.variant, c.style): largest_error(c, cells) for c, cells in zip(cases, computed)}


def rounded_up(error: float) -> str:
    """The next power of ten; nothing is told apart below 1e-15, where machines differ."""
    return f"1e{math.ceil(math.log10(max(error, 1e-15)) - 1e-9)}"
