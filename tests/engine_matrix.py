"""Every variant of attention in every formula style, recalculated by every engine there is.

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
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from conftest import CANCELLED
from python_calamine import CalamineWorkbook

import attn_xl
from attn_xl.cells import address, split_address
from attn_xl.components import components, components_layout
from attn_xl.engines import (
    IronCalc,
    Value,
    libreoffice,
    quiet,
    recalculated_by_libreoffice,
    relative_error,
)
from attn_xl.formulas_in import WIDTH, read_formulas
from attn_xl.settings import Activation, Arrangement, Formulas, Model, Norm, Normalize, Positions
from attn_xl.sheets import Layout
from attn_xl.tables import Table, Tables
from attn_xl.workbook import write_layout

STYLES = (Formulas.cell, Formulas.array, Formulas.dynamic)
WRONG = "-98765"
"""What stands in a spoilt cell."""
Cells = dict[str, dict[str, Value]]
"""Values by sheet and cell."""


# The variants


def table(name: str, values: Any, words: str = "") -> Table:
    """A table as if it stood on a sheet of its own."""
    x = np.asarray(values, float)
    rows = tuple(words.split()) or tuple(f"r{i + 1}" for i in range(len(x)))
    columns = tuple(f"d{j + 1}" for j in range(x.shape[1]))
    return Table(name, x, rows, columns, (bool(words), bool(words)), "x.xlsx", name, 1, 1)


def sentence(name: str, words: str, d: int = 4) -> Table:
    """Embeddings of three decimals; the same for the same sentence."""
    n = len(words.split())
    rng = np.random.default_rng([d, *words.encode()])
    return table(name, rng.normal(size=(n, d)).round(3), words)


def tables(*sentences: Table, weights: Sequence[Table] = ()) -> Tables:
    return Tables(Path("x.xlsx"), {t.name: t for t in sentences}, {t.name: t for t in weights})


CAT, CHAT = sentence("en", "the cat sat"), sentence("fr", "le chat")
HEADS: dict[str, Any] = {"random_weights": 3, "heads": 2}
LAYERS: dict[str, Any] = {"random_weights": 3, "hidden": 3}

VARIANTS: dict[str, tuple[Tables, dict[str, Any]]] = {
    "dot-product attention": (tables(CAT), {"scale": False}),
    "scaled dot-product attention": (tables(CAT), {}),
    "learned projections with biases": (
        tables(CAT, weights=[table(f"b_{p}", [[0.1, -0.2, 0.3, 0.4]]) for p in "QKV"]),
        {"random_weights": 3},
    ),
    "temperature": (tables(CAT), {"temperature": 0.7}),
    "division by the plain sum": (tables(CAT), {"normalize": Normalize.sum}),
    "causal mask": (tables(CAT), {"causal": True}),
    "padding mask": (tables(sentence("en", "the cat <PAD> mat")), {"padding": "mat"}),
    "additive mask of one's own": (
        tables(CAT, weights=[table("Mask", [[0, -1, 0.5], [0, 0, -1e9], [2, 0, 0]])]),
        {},
    ),
    "dropout": (tables(CAT), {"dropout": 0.25, "seed": 3}),
    "switches, words to choose from": (tables(CAT), {"controls": True}),
    "the same, words with * or ?": (tables(sentence("en", "what is * ?")), {"controls": True}),
    "two sentences compared": (
        tables(CAT, sentence("de", "the katze sat")),
        {"controls": True, "causal": True},
    ),
    "cross-attention": (tables(CAT, CHAT), {"memory": "fr", "random_weights": 3}),
    "multi-head attention": (tables(CAT), HEADS),
    "sinusoidal positions": (tables(CAT), {"positions": Positions.sinusoidal}),
    "encoder, post-norm, ReLU": (tables(CAT), {"model": Model.encoder, "layers": 2, **HEADS}),
    "encoder, pre-norm, GELU by tanh": (
        tables(CAT),
        {"model": Model.encoder, "norm": Norm.pre, "activation": Activation.gelu_tanh, **LAYERS},
    ),
    "encoder, exact GELU": (
        tables(CAT),
        {"model": Model.encoder, "activation": Activation.gelu, **LAYERS},
    ),
    "decoder": (tables(CAT, CHAT), {"model": Model.decoder, "memory": "fr", **LAYERS}),
    "encoder-decoder": (
        tables(CAT, CHAT),
        {"model": Model.encoder_decoder, "memory": "fr", "positions": Positions.sinusoidal, **LAYERS},
    ),
    "language model": (
        tables(CAT, weights=[sentence("Vocabulary", "the cat dog sat .")]),
        {"model": Model.decoder_only, **LAYERS},
    ),
    "cosine similarity and angles": (tables(CAT), {"model": Model.similarity}),
    "principal components of word vectors": (tables(sentence("en", "cat dog texas truth")), {}),
    "multi-head attention on one sheet": (tables(CAT), {"layout": Arrangement.canvas, **HEADS}),
}
COMPONENTS = "principal components of word vectors"


@dataclass(frozen=True, eq=False)
class Case:
    """One variant in one formula style, as a workbook.

    Attributes:
        given: the workbook, its stored values spoilt.
        expected: what each formula cell is, by the computation.
    """

    variant: str
    style: Formulas
    given: Path
    expected: Cells


def laid_out(variant: str, style: Formulas, path: Path) -> Layout:
    """Write a variant's workbook."""
    source, options = VARIANTS[variant]
    settings = attn_xl.Settings(formulas=style, **options)
    if variant != COMPONENTS:
        return attn_xl.write_workbook(attn_xl.attend(source, settings), path, settings=settings)
    (words,) = source.sentences.values()
    layout = components_layout(components(words, 2), variant)
    write_layout(layout, path, settings=settings)
    return layout


def expected(layout: Layout) -> Cells:
    """The value of every formula cell, from the matrices."""
    found: Cells = {sheet.name: {} for sheet in layout.all_sheets}
    for node, block in layout.blocks.items():
        for i, j in np.ndindex(*node.shape) if block.live else ():
            cell = address(block.place.row + i, block.place.column + j)
            found[block.place.sheet][cell] = node.texts[i] if node.texts else float(node.values[i, j])
    for sheet in layout.all_sheets:
        for free in sheet.extras.cells:
            if free.formula:
                found[sheet.name][address(free.row, free.column)] = free.value
    return found


def spoil(written: Path, spoilt: Path) -> set[tuple[str, str]]:
    """A copy of a workbook in which every value of a formula is wrong; which cells those are."""
    made = {
        sheet.name: {where(key) for key in sheet.keys[(sheet.formulas >= 0) | (sheet.spilled >= 0)]}
        for sheet in read_formulas(written).sheets.values()
    }
    parts = {f"xl/worksheets/sheet{i}.xml": cells for i, cells in enumerate(made.values(), 1)}
    with zipfile.ZipFile(written) as given, zipfile.ZipFile(spoilt, "w") as copy:
        for name in given.namelist():
            copy.writestr(name, without_values(given.read(name).decode(), parts.get(name, set())))
    return {(sheet, cell) for sheet, cells in made.items() for cell in cells}


def without_values(xml: str, cells: set[str]) -> str:
    """A sheet with a wrong number in these cells."""
    value = r'(<c r="([A-Z]+\d+)"[^>]*>(?:<f[^>]*>[^<]*</f>)?<v>)[^<]*'
    return re.sub(value, lambda m: f"{m[1]}{WRONG}" if m[2] in cells else m[0], xml)


def where(key: int) -> str:
    return address(key // WIDTH, key % WIDTH + 1)


def workbook(variant: str, style: Formulas, folder: Path) -> Case:
    """A variant's workbook in a formula style, in a folder."""
    number = list(VARIANTS).index(variant)
    written, given = folder / "written.xlsx", folder / f"{number:02}-{style.value}.xlsx"
    cells = expected(laid_out(variant, style, written))
    spoilt = spoil(written, given)
    assert spoilt == {(sheet, cell) for sheet in cells for cell in cells[sheet]}
    return Case(variant, style, given, cells)


# The engines


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
        quick: whether all workbooks take it a few seconds.
    """

    run: Callable[[Sequence[Path], Path], Iterator[Cells]]
    version: Callable[[], str]
    quick: bool = False


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
    "IronCalc": Engine(by_ironcalc, lambda: package("ironcalc"), quick=True),
    "LibreOffice": Engine(by_libreoffice, lambda: program(libreoffice() or "soffice")),
    "Gnumeric": Engine(by_gnumeric, lambda: program("ssconvert")),
    "HyperFormula": Engine(by_hyperformula, hyperformula, quick=True),
    "formulas": Engine(by_formulas, lambda: package("formulas")),
}
LIMITS = {
    ("IronCalc", "encoder, exact GELU"): "its `NORMSDIST` has ten digits: 1e-9 here",
    ("HyperFormula", "encoder, exact GELU"): "its `NORMSDIST` asks for two arguments",
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
