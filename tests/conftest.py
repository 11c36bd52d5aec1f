"""What the tests share: small inputs made on the spot, and a check on every workbook they write."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from engines import libreoffice, store_values
from judges import differences_ironcalc, differences_libreoffice
from ooxml import violations

import attn_xl
from attn_xl.workbook.write import write_workbook

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "samples"
TOLERANCE = 1e-12
alike, thorough = pytest.mark.alike, pytest.mark.thorough
needs_libreoffice = pytest.mark.skipif(libreoffice() is None, reason="LibreOffice is not installed")
PART, THOROUGH, LEAST = 40, 3, 8
"""Of similar cases one in so many runs without --thorough, and with it, then at least so many."""
THOROUGHLY = False
"""Whether this is a run with --thorough."""
SKIPPED = "attn-xl/skipped"
"""Where pytest keeps which tests the last run skipped."""
CANCELLED = 1e-4
"""A number below this share of its sheet's largest is what cancelling left: it counts as that large."""

Sheets = dict[str, list[list[Any]]]
Part = Callable[[Sequence[Any]], Sequence[Any]]


def by_libreoffice(test: Any) -> Any:
    """Mark a test that starts LibreOffice: with --thorough, where it is installed."""
    return thorough(needs_libreoffice(test))


written: list[Path] = []
"""Workbooks for LibreOffice to recalculate at the end, all in one start: each has a kind of formula
that none before has, in any process. (IronCalc recalculates every workbook; LibreOffice is slower.)"""
_FORMULA = re.compile(r"<f(?= |>)([^>]*>[^<]*)")
_OPERAND = re.compile(
    r"""(?:'[^']*'!|\b[\w.]+!)?\$?\b[A-Z]{1,3}\$?[0-9]+\b(?!\()  # a cell
    |\b[\w.]+\b(?![\w.]*\()  # a name or a number
    |ref="[^"]*"|"[^"]*"|&quot;.*?&quot;""",
    re.VERBOSE,
)


def kinds_of_formulas(path: Path) -> set[str]:
    """A workbook's formulas without what they refer to, as `SUM(MMULT(_:_,_:_))`."""
    with zipfile.ZipFile(path) as package:
        sheets = [name for name in package.namelist() if name.startswith("xl/worksheets/sheet")]
        formulas = {f for name in sheets for f in _FORMULA.findall(package.read(name).decode())}
    return {
        f"{'array' if 't=' in kind else ''}={_OPERAND.sub('_', text)}"
        for kind, _, text in (formula.partition(">") for formula in formulas)
    }


def verify(path: Path) -> None:
    """Check a workbook's XML against the rules that Excel enforces, then recalculate it with IronCalc:
    every formula cell against its stored value."""
    broken = violations(path)
    assert not broken, "\n".join(broken[:5])
    found = differences_ironcalc(path, TOLERANCE, CANCELLED)
    assert not found, "\n".join(map(str, found[:5]))


def coded(text: str) -> str:
    """A text with control characters, and what looks like their codes, as a file writes them."""
    text = re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", text)
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f]", lambda found: f"_x{ord(found[0]):04X}_", text)


def make_input(path: Path, sheets: Sheets) -> Path:
    """An input workbook with these rows on these sheets; text stays text, unless it begins with ==:
    a formula, stored with its value."""
    calculated = False
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for r, row in enumerate(rows, 1):
            for c, value in enumerate(row, 1):
                if value is not None:
                    cell = sheet.cell(r, c)
                    if isinstance(value, str) and not value.startswith("=="):
                        cell.value, cell.data_type = coded(value), "s"
                    elif isinstance(value, str):
                        cell.value, calculated = value[1:], True
                    else:
                        cell.value = value
    book.save(path)
    return store_values(path) if calculated else path


def is_note(cell: Any) -> bool:
    """Whether a formula stands beside a matrix: the sum of a row, the divisor in words, a drawing."""
    above, sheet = cell.parent.cell(4, cell.column).value, cell.parent.title
    drawn = cell.style == "attn echo" and sheet not in ("Canvas", "Overview")
    beside = drawn or sheet.split(".")[-1] == "Input"
    return above == "row sum" or beside or str(cell.value).startswith('="= "')


def table(x: np.ndarray, words: list[str] | None = None) -> list[list[Any]]:
    """The rows of an embedding table."""
    n, d = x.shape
    words = words or [f"word{i + 1}" for i in range(n)]
    head: list[Any] = ["", *(f"d{j + 1}" for j in range(d))]
    return [head, *([word, *map(float, row)] for word, row in zip(words, x))]


def naive_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: bool = True) -> Any:
    """Attention by loops, after the paper's equation (1), sharing no code with the program."""
    import math

    scores = [[sum(a * b for a, b in zip(x, y)) for y in k.tolist()] for x in q.tolist()]
    if scale:
        scores = [[s / math.sqrt(k.shape[1]) for s in row] for row in scores]
    weights = []
    for row in scores:
        powers = [math.exp(s - max(row)) for s in row]
        weights.append([p / sum(powers) for p in powers])
    output = [[sum(w * x for w, x in zip(row, c)) for c in v.T.tolist()] for row in weights]
    return np.array(weights), np.array(output)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Make an input workbook from rows by sheet."""
    return lambda sheets, name="input.xlsx": make_input(tmp_path / name, sheets)


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


@pytest.fixture
def second_opinion(kept: Path, pytestconfig: pytest.Config) -> Callable[[Path], Path]:
    """Keep a written workbook for LibreOffice if none before has such formulas, in any process."""
    seen = (kept.parent.parent if "PYTEST_XDIST_WORKER" in os.environ else kept.parent) / "kinds"
    seen.mkdir(exist_ok=True)

    def is_new(kind: str) -> bool:
        try:
            (seen / f"{zlib.crc32(kind.encode()):08x}").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True

    def keep(path: Path) -> Path:
        if pytestconfig.getoption("--thorough") and any([*map(is_new, kinds_of_formulas(path))]):
            written.append(Path(shutil.copy(path, kept / f"{len(written):04}.xlsx")))
        return path

    return keep


@pytest.fixture
def keep(second_opinion: Callable[[Path], Path]) -> Callable[[Path], Path]:
    """Verify a written workbook, and keep it for LibreOffice."""

    def check(path: Path) -> Path:
        verify(path)
        return second_opinion(path)

    return check


@pytest.fixture
def write(tmp_path: Path, keep: Callable[[Path], Path]) -> Callable[..., Path]:
    """Compute a workbook's attention and write it; what was written is verified."""

    def convert(source: Path, name: str = "output.xlsx", **options: Any) -> Path:
        settings = attn_xl.Settings(**options.pop("settings", {}))
        computation = attn_xl.attend(attn_xl.read_tables(source), settings)
        path = tmp_path / name
        write_workbook(computation, path, settings=settings, source=source.name, **options)
        return keep(path)

    return convert


@pytest.fixture(scope="session", autouse=True)
def the_second_opinion(request: pytest.FixtureRequest) -> Iterator[None]:
    """With --thorough LibreOffice recalculates, at the end, the workbooks that were kept, where it is
    installed; each of several processes has its own."""
    yield
    if request.config.getoption("--thorough") and written and libreoffice() is not None:
        for file, found in differences_libreoffice(written, TOLERANCE).items():
            assert not found, f"{file.name}: " + "\n".join(map(str, found[:5]))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--thorough",
        action="store_true",
        help="run more: a third of many similar cases (all where a test is named), other spreadsheet "
        "programs, LibreOffice on every kind of formula, random inputs, killed processes",
    )
    parser.addoption(
        "--skipped", action="store_true", help="run what the last run skipped: a library was missing"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what only --thorough runs, and most of many similar cases, unless tests are named on the
    command line."""
    if config.getoption("--skipped"):
        skipped = {*config.cache.get(SKIPPED, [])}
        items[:] = [item for item in items if item.nodeid in skipped]
        return
    named = config.getoption("keyword") or any("::" in argument for argument in config.args)
    if named:
        return
    thoroughly = config.getoption("--thorough")
    part, least = (THOROUGH, LEAST) if thoroughly else (PART, 1)
    left_out = {item for item in items if item.get_closest_marker("thorough") and not thoroughly}
    similar: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("alike") and item not in left_out:
            similar[item.nodeid.partition("[")[0]].append(item)
    # In an order that mixes the parameters, and is the same everywhere.
    for some in similar.values():
        some.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
        left_out.update(some[max(-(-len(some) // part), least) :])
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Remember which tests were skipped."""
    if config.pluginmanager.hasplugin("cacheprovider"):
        skipped = terminalreporter.stats.get("skipped", ())
        config.cache.set(SKIPPED, [report.nodeid for report in skipped])


@pytest.fixture
def part(pytestconfig: pytest.Config) -> Part:
    """Of many similar ones a part; all with --thorough."""
    every = 1 if pytestconfig.getoption("--thorough") else PART // 3
    return lambda many: many[::every]


def pytest_configure(config: pytest.Config) -> None:
    from hypothesis import HealthCheck, settings

    global THOROUGHLY
    THOROUGHLY = bool(config.getoption("--thorough"))
    config.addinivalue_line("markers", "alike: of its cases a part is run; more with --thorough")
    config.addinivalue_line("markers", "thorough: run with --thorough only")
    settings.register_profile(
        "run",
        max_examples=40 if config.getoption("--thorough") else 20,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    settings.load_profile("run")
