"""The corpus of input files in tests/data/inputs: python tests/data/make_inputs.py

Each file holds the same numbers in another format or place. openpyxl and XlsxWriter write workbooks,
LibreOffice (soffice) turns one of them into each of its formats, numpy writes arrays; text files are
written here byte by byte. tests/tables/test_inputs.py says what is to be found in each.
"""

from __future__ import annotations

import datetime
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import openpyxl
import xlsxwriter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

HERE = Path(__file__).parent / "inputs"
WORDS, DIMS = ["cat", "Füße", "dog"], ["a", "b"]
X = [[1.5, 2.0], [0.25, -1.0], [3.0, 4.5]]
W = [[1.0, 0.0], [0.5, 2.0]]
CLEAN: list[list[Any]] = [["", *DIMS], *([w, *row] for w, row in zip(WORDS, X))]


def put(sheet: Any, rows: list[list[Any]], top: int = 1, left: int = 1) -> None:
    for r, row in enumerate(rows, top):
        for c, value in enumerate(row, left):
            if value not in (None, ""):
                sheet.cell(r, c, value)


def with_openpyxl() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "lesson"
    put(sheet, [["My lesson on attention"]], 1, 2)
    sheet.merge_cells("B1:F1")
    put(sheet, CLEAN, 4, 3)
    put(sheet, [["→"], ["→"], ["→"]], 5, 6)
    put(sheet, [["Query weights"], W[0], W[1]], 4, 8)
    put(sheet, [["Wk"], W[0], W[1]], 9, 8)
    put(sheet, [["Source: nobody"]], 12, 3)
    book.save(HERE / "messy.xlsx")

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "s"
    put(sheet, CLEAN)
    sheet["B2"].number_format = "0%"
    sheet["B3"].number_format = '"$"#,##0.00'
    sheet["C2"] = "2.0"  # text
    sheet["C4"] = "4,5"
    sheet.row_dimensions[3].hidden = True
    hidden = book.create_sheet("old")
    put(hidden, CLEAN)
    hidden.sheet_state = "hidden"
    book.save(HERE / "formats.xlsx")

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "all"
    put(sheet, [["one", *DIMS], *CLEAN[1:]], 2, 2)
    put(sheet, [["two", *DIMS], *CLEAN[2:]], 8, 2)
    sheet.add_table(Table(displayName="First", ref="B2:D5"))
    book.defined_names["Second"] = DefinedName("Second", attr_text="all!$B$8:$D$10")
    put(sheet, W, 2, 8)
    book.defined_names["W_V"] = DefinedName("W_V", attr_text="all!$H$2:$I$3")
    book.save(HERE / "names.xlsx")

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "turned"
    put(sheet, [["", *WORDS], *([f"dim {i}", *col] for i, col in enumerate(zip(*X), 1))], 3, 2)
    put(sheet, [["W_V"], *map(list, zip(*W))], 8, 3)
    put(sheet, [["b_V"], [7], [8]], 8, 6)
    book.save(HERE / "columns.xlsx")

    for name, value in {
        "date": datetime.date(2024, 1, 2), "boolean": True, "error": "=NA()", "doubt": "1,234",
        "text": "many",
    }.items():  # fmt: skip
        book = openpyxl.Workbook()
        put(book.active, CLEAN)
        book.active.title = "s"
        book.active["C3"] = value
        book.save(HERE / f"refused-{name}.xlsx")


def with_xlsxwriter() -> None:
    book = xlsxwriter.Workbook(HERE / "xlsxwriter.xlsx")
    book.set_properties({"created": datetime.datetime(2024, 1, 1)})
    sheet = book.add_worksheet("s")
    for r, row in enumerate(CLEAN):
        for c, value in enumerate(row):
            if isinstance(value, float):
                sheet.write_formula(r, c, f"={value}")
            else:
                sheet.write(r, c, value)
    book.close()


def with_libreoffice() -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "libreoffice.xlsx")
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "s"
        put(sheet, CLEAN, 1, 1)
        sheet["B2"] = "=3/2"
        sheet["B3"].number_format = "0%"
        put(sheet, [["W_V"], *W], 1, 5)
        book.save(source)
        for kind in ("ods", "xls", "xlsx", "csv"):
            subprocess.run(
                ["soffice", "--headless", "--convert-to", kind, "--outdir", str(HERE), str(source)],
                check=True, capture_output=True,
            )  # fmt: skip


def as_text() -> None:
    def lines(delimiter: str, comma: bool) -> str:
        rows = [[str(v).replace(".", ",") if comma else str(v) for v in row] for row in CLEAN]
        return "".join(delimiter.join(row) + "\r\n" for row in rows)

    for name, content in {
        "comma.csv": lines(",", False).encode(),
        "semicolon.csv": lines(";", True).encode("cp1252"),
        "pipe.csv": ("sep=|\r\n" + lines("|", False)).encode("utf-8-sig"),
        "excel.csv": lines("\t", True).encode("utf-16"),
        "tab.tsv": lines("\t", False).encode(),
        "spaces.txt": lines(" ", False).encode(),
        "doubt.csv": b"word;a;b\ncat;1,234;2,345\ndog;3,456;4,567\n",
        "mixed.csv": b"word;a;b\ncat;1,5;2.5\n",
    }.items():
        (HERE / name).write_bytes(content)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    with_openpyxl()
    with_xlsxwriter()
    with_libreoffice()
    as_text()
