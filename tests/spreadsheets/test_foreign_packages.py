"""Workbooks put together otherwise than Excel does it: `check` recalculates them all the same."""

from __future__ import annotations

import posixpath
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import openpyxl
import pytest
from conftest import ROOT, thorough
from openpyxl.styles import PatternFill
from openpyxl.worksheet.table import Table

from attn_xl.checking.check import check_workbook
from attn_xl.errors import InputError
from attn_xl.spreadsheets.engines import IronCalc
from attn_xl.spreadsheets.recalculate import Recalculated
from attn_xl.spreadsheets.repack import repack

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
STRICT = {
    "main": "http://purl.oclc.org/ooxml/spreadsheetml/main",
    "links": "http://purl.oclc.org/ooxml/officeDocument/relationships",
}
WORDS = ["wörd & <tag>", "two"]
Cell = tuple[str, str, str, str]
"""Where it is, its type, its formula, its value."""
FIRST: list[list[Cell]] = [
    [("A1", "s", "", "0"), ("B1", "s", "", "1")],
    [("A2", "", "", "1.5"), ("B2", "b", "", "1"), ("C2", "b", "B2", "1")],
    [("A3", "str", 'A1&"!"', "wörd & <tag>!"), ("B3", "s", "B1", "1"), ("C3", "", "LEN(A1)", "12")],
    [("A4", "", "SUM(Other!A1:A2)", "10"), ("B4", "", "total*2", "3"), ("C4", "e", "1/0", "#DIV/0!")],
]
SECOND: list[list[Cell]] = [
    [("A1", "", "", "3")],
    [("A2", "", "", "7")],
    [("A3", "", "First!A4+1", "11")],
]


@pytest.fixture(autouse=True)
def no_process_for_ironcalc() -> None:
    """These tests need it."""


def package(
    path: Path,
    *,
    main: str = MAIN,
    links: str = LINKS,
    prefix: str = "",
    book: str = "xl/workbook.xml",
    sheet: str = "xl/worksheets/sheet{}.xml",
    strings: str = "xl/sharedStrings.xml",
    absolute: bool = False,
    inline: bool = False,
    places: bool = True,
    styles: bool = False,
    first: list[list[Cell]] = FIRST,
) -> Path:
    """A workbook of two sheets, written by hand."""
    p = f"{prefix}:" if prefix else ""
    space = f'xmlns{":" * bool(prefix)}{prefix}="{main}" xmlns:r="{links}"'
    folder, file = posixpath.split(book)

    def element(tag: str, inside: str, **attributes: str) -> str:
        said = "".join(f' {key}="{value}"' for key, value in attributes.items() if value)
        return f"<{p}{tag}{said}>{inside}</{p}{tag}>"

    def cell(at: str, kind: str, formula: str, value: str) -> str:
        inside = element("f", escape(formula)) if formula else ""
        if kind == "s" and inline and not formula:
            kind, inside = "inlineStr", element("is", element("t", escape(WORDS[int(value)])))
        else:
            inside += element("v", escape(value))
        return element("c", inside, r=at if places else "", t=kind)

    def rows(lines: list[list[Cell]]) -> str:
        inside = "".join(
            element("row", "".join(cell(*one) for one in line), r=line[0][0][1:] if places else "")
            for line in lines
        )
        return f"<{p}worksheet {space}>{element('sheetData', inside)}</{p}worksheet>"

    def relations(*parts: tuple[str, str, str]) -> str:
        lines = "".join(
            f'<Relationship Id="{name}" Type="{links}/{kind}" Target="{target}"/>'
            for name, kind, target in parts
        )
        space = "http://schemas.openxmlformats.org/package/2006/relationships"
        return f'<Relationships xmlns="{space}">{lines}</Relationships>'

    def target(part: str) -> str:
        return f"/{part}" if absolute else posixpath.relpath(part, folder)

    sheets = "".join(
        f'<{p}sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>'
        for n, name in enumerate(("First", "Other"), 1)
    )
    names = element("definedNames", element("definedName", "First!$A$2", name="total"))
    words = "".join(element("si", element("t", escape(word))) for word in WORDS)
    parts = {
        "_rels/.rels": relations(("rId1", "officeDocument", book)),
        book: f"<{p}workbook {space}>{element('sheets', sheets)}{names}</{p}workbook>",
        f"{folder}/_rels/{file}.rels": relations(
            ("rId1", "worksheet", target(sheet.format(1))),
            ("rId2", "worksheet", target(sheet.format(2))),
            ("rId3", "sharedStrings", target(strings)),
        ),
        sheet.format(1): rows(first),
        sheet.format(2): rows(SECOND),
        strings: f"<{p}sst {space}>{words}</{p}sst>",
    }
    if styles:
        parts["xl/styles.xml"] = (
            f'<styleSheet xmlns="{MAIN}"><fonts><font/></fonts><fills><fill/></fills><borders><border/>'
            "</borders><cellStyleXfs><xf/></cellStyleXfs><cellXfs><xf/></cellXfs><cellStyles>"
            '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
        )
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


WAYS: dict[str, dict[str, Any]] = {
    "without styles": {},
    "prefixes": {"prefix": "x"},
    "Strict": STRICT,
    "absolute targets": {"absolute": True},
    "sheets elsewhere": {"sheet": "content/s{}.xml"},
    "sheets at the top": {"sheet": "s{}.xml"},
    "all elsewhere": {"book": "b/main.xml", "sheet": "b/x/s{}.xml", "strings": "b/words.xml"},
    "texts elsewhere, with styles": {"strings": "xl/SharedStrings.xml", "styles": True},
    "texts in their cells": {"inline": True},
    "cells without places": {"places": False},
    "all at once": {**STRICT, "prefix": "x", "places": False, "inline": True, "sheet": "s/{}.xml"},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_value_of_another_writers_package_is_recalculated(way: str, tmp_path: Path) -> None:
    report = check_workbook(package(tmp_path / "other.xlsx", **WAYS[way]))
    assert [(f.kind, f.cells) for f in report.findings] == [("error", "C4")]
    assert (report.formulas, report.checked) == (8, 7)


def test_a_wrong_value_in_one_is_found(tmp_path: Path) -> None:
    """A text, too, which Gnumeric files among the shared ones."""
    wrong = [[("A1", "s", "", "0"), ("B1", "s", "", "1")], [("A2", "s", "B1", "0")]]
    report = check_workbook(package(tmp_path / "other.xlsx", first=wrong))
    assert [(f.kind, f.cells) for f in report.findings if f.sheet == "First"] == [("value", "A2")]


def test_coloured_blanks_of_openpyxl_are_blank(tmp_path: Path) -> None:
    """openpyxl writes them as `<c r="A2" s="1" t="n"/>`, which IronCalc takes for 0."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([1])
    sheet.append([None])
    sheet.append([3, "=COUNT(A1:A3)", "=AVERAGE(A1:A3)"])
    sheet["A2"].fill = PatternFill("solid", fgColor="FFF2CC")
    book.save(tmp_path / "o.xlsx")
    assert Recalculated(tmp_path / "o.xlsx").values("Sheet", [(3, 2), (3, 3)]) == [2, 2]


def test_dates_of_strict_files_are_numbers(tmp_path: Path) -> None:
    dates: list[list[Cell]] = [
        [("A1", "d", "", "2024-03-01"), ("B1", "d", "", "2024-03-02T12:00:00Z")],
        [("A2", "", "B1-A1", "1.5")],
    ]
    path = package(tmp_path / "strict.xlsx", first=dates, **STRICT)
    engine = Recalculated(path)
    assert engine.values("First", [(1, 1), (2, 1)]) == [45352, 1.5]
    engine.close()


def values(path: Path) -> dict[tuple[str, int, int], Any]:
    engine = IronCalc(path)
    found = {}
    for sheet in engine.sheets:
        rows, columns = engine.size(sheet)
        for row in range(1, rows + 1):
            for column in range(1, columns + 1):
                found[sheet, row, column] = engine.value(sheet, row, column)
    blank = (None, "", 0)  # it takes blank cells for 0 where they say that they are numbers
    return {place: value for place, value in found.items() if value not in blank}


@pytest.mark.parametrize("source", ["mouse", "rich"])
def test_repacking_changes_no_value(source: str, tmp_path: Path) -> None:
    path = ROOT / "docs" / "workbooks" / "mouse.xlsx" if source == "mouse" else rich(tmp_path)
    repack(path, tmp_path / "again.xlsx")
    assert values(tmp_path / "again.xlsx") == values(path)


def rich(folder: Path) -> Path:
    """A workbook with a table, a hidden row and a hidden sheet."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for line in (["a", "b c", "sum"], [1, 2, "=A2+B2"], [3, 4, "=SUM(T1[a])"]):
        sheet.append(line)
    sheet.add_table(Table(displayName="T1", ref="A1:C3"))
    sheet["E1"] = "=SUBTOTAL(109,A2:A3)"
    sheet.row_dimensions[3].hidden = True
    book.create_sheet("it's")["A1"] = '=Sheet!E1&"é <b> & ""q"""'
    book["it's"].sheet_state = "hidden"
    book.save(folder / "rich.xlsx")
    return folder / "rich.xlsx"


def test_sheets_with_a_chart_only_are_passed_over(tmp_path: Path) -> None:
    path = rich(tmp_path)
    book = openpyxl.load_workbook(path)
    book.create_chartsheet("Chart", 0)
    book.save(path)
    engine = Recalculated(path)
    assert engine.sheets == ["Sheet", "it's"]
    assert engine.values("it's", [(1, 1)]) == ['1é <b> & "q"']
    engine.close()


def test_what_cannot_be_put_together_either_says_why(tmp_path: Path) -> None:
    path = package(tmp_path / "other.xlsx", first=[[("A1", "", "", "1"), ("B?", "", "A1", "1")]])
    with pytest.raises(InputError, match=r"other\.xlsx: IronCalc cannot .* not a valid work"):
        Recalculated(path)


@thorough
@pytest.mark.skipif(not shutil.which("ssconvert"), reason="needs Gnumeric")
def test_what_gnumeric_saves_is_recalculated(tmp_path: Path) -> None:
    source, path = tmp_path / "g.csv", tmp_path / "g.xlsx"
    source.write_text('a,b\n1,2\n3,=A2+B2\nword,"=A4&"" two"""\n')
    subprocess.run(["ssconvert", source, path], check=True, capture_output=True)
    report = check_workbook(path)
    assert (report.findings, report.checked) == ((), 2)
