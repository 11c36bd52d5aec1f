"""Workbooks in OpenDocument format: their numbers tell what their tables are, too."""

from __future__ import annotations

import re
import zipfile
from contextlib import suppress
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pytest
from conftest import ROOT, alike
from made_by_hand import columns_from_the_left, row_arrays, three_heads

from attn_xl.cli.main import main
from attn_xl.spreadsheets.book import read_book
from attn_xl.spreadsheets.formulas import formulas_in
from attn_xl.spreadsheets.metadata import Marks
from attn_xl.tables.read import read_tables

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text")
)


def to_ods(source: Path) -> Path:
    """The values and formulas of an .xlsx file, as LibreOffice stores them."""
    book, tables = formulas_in(source.read_bytes()), []
    assert book is not None
    for name, grid in read_book(source).grids.items():
        rows: dict[int, dict[int, str]] = {}
        filled = (
            (r, c, v) for r, values in enumerate(grid, 1) for c, v in enumerate(values) if v != ""
        )
        for row, column, content in filled:
            marks = ""
            if formula := book.sheets[name].get((row, column + 1)):
                opened = re.sub(
                    r"(?:('[^']+'|\w+)!)?(\$?[A-Z]+\$?\d+)(?::(\$?[A-Z]+\$?\d+))?(?!\()",
                    lambda m: f"[{m[1] or ''}.{m[2]}" + (f":.{m[3]}" if m[3] else "") + "]",
                    formula.text,
                )
                marks = f" table:formula={quoteattr('of:=' + opened.replace(',', ';'))}"
                if formula.array:
                    marks += f' table:number-matrix-rows-spanned="{formula.rows}"'
                    marks += f' table:number-matrix-columns-spanned="{formula.columns}"'
            text, number = str(content), isinstance(content, float)
            value = (
                f' office:value-type="float" office:value="{text}"'
                if number
                else ' office:value-type="string"'
            )
            cell = f"<table:table-cell{marks}{value}><text:p>{escape(text)}</text:p></table:table-cell>"
            rows.setdefault(row, {})[column] = cell
        lines = []
        for row in range(1, max(rows, default=0) + 1):
            cells = rows.get(row, {})
            line = [cells.get(c, "<table:table-cell/>") for c in range(max(cells, default=-1) + 1)]
            lines.append(f"<table:table-row>{''.join(line) or '<table:table-cell/>'}</table:table-row>")
        tables.append(f"<table:table table:name={quoteattr(name)}>{''.join(lines)}</table:table>")
    path = source.with_suffix(".ods")
    body = f"<office:spreadsheet>{''.join(tables)}</office:spreadsheet>"
    content = f"<office:document-content {NAMES}><office:body>{body}</office:body>"
    namespace = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", f"{content}</office:document-content>")
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{namespace}"/>')
    return path


@alike
@pytest.mark.parametrize("layout", [row_arrays, columns_from_the_left, three_heads])
def test_the_formulas_tell_the_tables(layout: object, tmp_path: Path) -> None:
    source = tmp_path / "made.xlsx"
    layout(source)  # type: ignore[operator]
    ours, theirs = read_tables(to_ods(source)), read_tables(source)
    assert [*ours.weights] == [*theirs.weights]
    assert [*ours.sentences] == [*theirs.sentences]
    for name, table in theirs.weights.items():
        np.testing.assert_allclose(ours.weights[name].values, table.values)
    assert ours.settings == theirs.settings


def test_numbers_tell_the_tables_where_formulas_cannot_be_read() -> None:
    """The workbook of `row_arrays`, saved as .xls by LibreOffice."""
    tables = read_tables(ROOT / "tests" / "data" / "inputs" / "attention.xls")
    assert {name: table.row for name, table in tables.weights.items()} == dict.fromkeys(
        ("W_Q", "W_K", "W_V"), 4
    )
    assert tables.sentences["Sheet1"].rows == ("the", "cat", "sat", "down")


def test_formats_whose_formulas_cannot_be_read_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    for name, expected in (
        ("libreoffice.xls", True),
        ("libreoffice.xlsx", False),
        ("attention.xls", False),
    ):
        with suppress(SystemExit):
            main(["inspect", str(ROOT / "tests" / "data" / "inputs" / name)])
        assert ("save it as .xlsx" in capsys.readouterr().out) == expected


def test_names_of_ranges_are_read(tmp_path: Path) -> None:
    path = tmp_path / "named.ods"
    where = "$'my data'.$B$2:.$E$6"
    content = (
        f"<office:document-content {NAMES}><office:body><office:spreadsheet>"
        '<table:table table:name="my data"><table:table-row><table:table-cell/></table:table-row>'
        "</table:table><table:named-expressions>"
        f'<table:named-range table:name="X" table:cell-range-address={quoteattr(where)}/>'
        "</table:named-expressions></office:spreadsheet></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
    assert Marks(path.read_bytes()).names() == [("X", ("my data", 2, 2, 6, 5))]
