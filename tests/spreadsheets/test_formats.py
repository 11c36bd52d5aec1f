"""The parts of a written package against ECMA-376: the order of elements, limits of lengths, and that
formulas fit every program."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pytest
from conftest import SAMPLES, alike, make_input, table

from attn_xl import read_tables
from attn_xl.models.build import attend
from attn_xl.settings import Settings
from attn_xl.teaching.lessons.blanks import Lesson
from attn_xl.teaching.lessons.lesson import write_lesson
from attn_xl.workbook.write import write_workbook

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
IN_A_SHEET = [
    "sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "sheetCalcPr",
    "sheetProtection", "protectedRanges", "scenarios", "autoFilter", "sortState", "dataConsolidate",
    "customSheetViews", "mergeCells", "phoneticPr", "conditionalFormatting", "dataValidations",
    "hyperlinks", "printOptions", "pageMargins", "pageSetup", "headerFooter", "rowBreaks", "colBreaks",
    "customProperties", "cellWatches", "ignoredErrors", "smartTags", "drawing", "legacyDrawing",
    "legacyDrawingHF", "picture", "oleObjects", "controls", "webPublishItems", "tableParts", "extLst",
]  # fmt: skip
"""CT_Worksheet, ECMA-376 part 1, 18.3.1.99."""


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def depth(formula: str) -> int:
    """How deep its functions are nested."""
    most = now = 0
    for letter in re.sub(r'"[^"]*"', "", formula):
        now += (letter == "(") - (letter == ")")
        most = max(most, now)
    return most


def arguments(formula: str) -> int:
    """The most arguments that any function of a formula has."""
    plain = re.sub(r"\"[^\"]*\"|'[^']*'", "", formula)
    most, open_ = 0, [0]
    for letter in plain:
        if letter == "(":
            open_.append(1)
        elif letter == ",":
            open_[-1] += 1
            most = max(most, open_[-1])
        elif letter == ")":
            open_.pop()
    return most


def check_package(path: Path) -> int:
    """Every part is XML in its order and within the limits; how many formulas there were."""
    count = 0
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert len(names) == len(set(names))
        parts = {
            n: ElementTree.fromstring(archive.read(n)) for n in names if n.endswith((".xml", ".rels"))
        }
    types = parts["[Content_Types].xml"]
    declared = {e.get("PartName", "").lstrip("/") for e in types if "PartName" in e.attrib}
    assert declared <= set(names)
    for name, root in parts.items():
        if name.endswith(".rels"):
            folder = Path(name).parent.parent
            for link in root:
                if link.get("TargetMode") != "External":
                    target = str(link.get("Target"))
                    whole = target.lstrip("/") if target.startswith("/") else str(folder / target)
                    assert re.sub(r"[^/]+/\.\./", "", whole) in names, (name, target)
    styles = parts["xl/styles.xml"]
    dxfs = len(list(styles.iter(f"{MAIN}dxf")))
    looks = styles.find(f"{MAIN}cellXfs")
    assert looks is not None
    for name, root in parts.items():
        if not name.startswith("xl/worksheets/sheet"):
            continue
        order = [IN_A_SHEET.index(child.tag.removeprefix(MAIN)) for child in root]
        assert order == sorted(order), name
        once = [child.tag for child in root if not child.tag.endswith("conditionalFormatting")]
        assert len(once) == len(set(once))
        last_row = 0
        for row in root.iter(f"{MAIN}row"):
            assert int(row.get("r", 0)) > last_row
            last_row = int(row.get("r", 0))
            columns = [openpyxl.utils.cell.coordinate_from_string(c.get("r", ""))[0] for c in row]
            numbers = [openpyxl.utils.column_index_from_string(c) for c in columns]
            assert numbers == sorted(set(numbers)), (name, last_row)
            for cell in row:
                assert int(cell.get("s", 0)) < len(looks)
                text = "".join(cell.itertext())
                assert units(text) <= 32767
        for formula in [f.text or "" for f in root.iter(f"{MAIN}f")]:
            count += 1
            assert not formula.startswith("=")
            assert units(formula) <= 8192
            assert depth(formula) <= 64
            assert arguments(formula) <= 255
            assert all(units(text) <= 255 for text in re.findall(r'"((?:[^"]|"")*)"', formula))
        merged = [m.get("ref") for m in root.iter(f"{MAIN}mergeCell")]
        assert len(merged) == len(set(merged))
        for rule in root.iter(f"{MAIN}cfRule"):
            assert rule.get("type") != "expression" or int(rule.get("dxfId", dxfs)) < dxfs
        checks = list(root.iter(f"{MAIN}dataValidation"))
        assert len(checks) <= 65534
        for check in checks:
            assert units(check.get("promptTitle", "")) <= 32
            assert units(check.get("prompt", "")) <= 255
            formula = check.findtext(f"{MAIN}formula1") or ""
            assert units(formula) <= 255
            assert not formula.startswith("=")
            assert check.get("type", "none") == ("list" if formula else "none")
    book = parts["xl/workbook.xml"]
    names_there = [str(n.get("name")).casefold() for n in book.iter(f"{MAIN}definedName")
                   if not n.get("localSheetId")]  # fmt: skip
    assert len(names_there) == len(set(names_there))
    openpyxl.load_workbook(path)
    return count


@alike
@pytest.mark.parametrize(
    "sample", ["mouse", "multi-head", "encoder", "masks", "language-model", "projections"]
)
def test_packages_are_in_order(sample: str, tmp_path: Path) -> None:
    tables = read_tables(SAMPLES / f"{sample}.xlsx")
    settings = Settings.resolve({"controls": True}, tables.settings, "")
    write_workbook(attend(tables, settings), tmp_path / "c.xlsx", settings=settings)
    assert check_package(tmp_path / "c.xlsx") > 100
    for level in (1, 3):
        for exam in (False, True):
            write_lesson(
                tables, tmp_path / "l.xlsx", settings=settings, lesson=Lesson(level, exam=exam)
            )
            assert check_package(tmp_path / "l.xlsx") > 20


def test_long_and_strange_words(tmp_path: Path) -> None:
    words = ["w" * 300, "🐭" * 150, 'a"b', "a & b", "<x>", "it's", "=1", "the", "the"]
    rng = np.random.default_rng(1)
    sheets: dict[str, Any] = {
        "🐭" * 14: table(rng.normal(size=(9, 3)).round(1), words),
        "it's": table(rng.normal(size=(9, 3)).round(1), words),
    }
    tables = read_tables(make_input(tmp_path / "in.xlsx", sheets))
    for level in (1, 2, 3):
        write_lesson(tables, tmp_path / "l.xlsx", settings=Settings(controls=True),
                     lesson=Lesson(level),
                     answers=tmp_path / "k.xlsx")  # fmt: skip
        assert check_package(tmp_path / "l.xlsx") > check_package(tmp_path / "k.xlsx") / 3


def test_a_large_lesson(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    import time

    n = 200 if pytestconfig.getoption("--thorough") else 80
    rng = np.random.default_rng(0)
    sheets = {"s": table(rng.normal(size=(n, 64)).round(2))}
    sheets |= {f"W_{p}": table((rng.normal(size=(64, 64)) / 8).round(2)) for p in "QKV"}
    tables = read_tables(make_input(tmp_path / "in.xlsx", sheets))
    start = time.process_time()
    path = tmp_path / "l.xlsx"
    layout = write_lesson(tables, path, settings=Settings(controls=True), lesson=Lesson(2))
    assert time.process_time() - start < 20
    assert path.stat().st_size < 12e6
    assert sum(int(cells.sum()) for cells in layout.blanks.open.values()) == 3 * n * n + 4 * n * 64
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.startswith("xl/worksheets/"):
                continue
            formulas = set(re.findall(r"<f>([^<]*)</f>", archive.read(name).decode()))
            for formula in sorted(formulas, key=len)[-50:]:
                assert units(formula) <= 8192
                assert arguments(formula) <= 255
                assert depth(formula) <= 64


def test_links_of_streamed_cells_are_there(tmp_path: Path) -> None:
    """openpyxl forgets links that no cell of its own has."""
    tables = read_tables(SAMPLES / "mouse.xlsx")
    layout = write_lesson(tables, tmp_path / "l.xlsx", settings=Settings(controls=True))
    book = openpyxl.load_workbook(tmp_path / "l.xlsx")
    for name in ("Lesson", "Hints"):
        links = [
            cell.hyperlink.location for row in book[name].iter_rows() for cell in row if cell.hyperlink
        ]
        assert len(links) == len(layout.blanks.open) + (name == "Hints")
        for link in links:
            assert link.rpartition("!")[0].strip("'") in book.sheetnames


def test_marks_and_the_colour_scale_do_not_mix(tmp_path: Path) -> None:
    tables = read_tables(SAMPLES / "politics.xlsx")
    for blank, exam, kinds in (
        ("Softmax", False, {"expression", "colorScale"}),
        ("Scores", False, {"colorScale"}),
        ("Softmax", True, {"colorScale"}),
    ):
        write_lesson(tables, tmp_path / "l.xlsx", lesson=Lesson(blank=(blank,), exam=exam))
        rules = openpyxl.load_workbook(tmp_path / "l.xlsx")["Softmax"].conditional_formatting
        assert {rule.type for one in rules for rule in one.rules} == kinds
        if len(kinds) > 1:  # the scale begins once all cells are right, and never covers a mark
            (scale,) = (rule for one in rules for rule in one.rules if rule.type == "colorScale")
            others = [rule for one in rules for rule in one.rules if rule is not scale]
            assert scale.priority > max(rule.priority for rule in others)
            low, high = (end.val for end in scale.colorScale.cfvo)
            assert low.startswith("IF(COUNTIF($")
            assert low.endswith(",0,9)")
            assert high.endswith(",10)")
            assert any("NOT(COUNTIF(" in rule.formula[0] for rule in others)
