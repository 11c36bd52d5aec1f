"""Makes the shipped templates: python templates/make_templates.py

They are ordinary workbooks: open one in a spreadsheet program, restyle it, save it, and use it with
--template. This script only spares you the clicking when both are to change together.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from openpyxl import Workbook
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side
from openpyxl.worksheet.worksheet import Worksheet

from attn_xl.workbook.xlsx.package import save

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Role:
    """How one kind of cell looks."""

    colour: str = "FF000000"
    fill: str | None = None
    bold: bool = False
    italic: bool = False
    border: Border | None = None
    align: str | None = None
    size: float = 11
    number_format: str = "General"
    underline: str | None = None
    wrap: bool = False


def box(style: str, colour: str) -> Border:
    side = Side(style=style, color=colour)
    return Border(left=side, right=side, top=side, bottom=side)


def rule(top: str | None = None, bottom: str | None = None, colour: str = "FF000000") -> Border:
    return Border(
        top=Side(style=top, color=colour) if top else None,
        bottom=Side(style=bottom, color=colour) if bottom else None,
    )


ARTICLE = {
    "attn title": Role("FF1F2A37", bold=True, size=15),
    "attn note": Role("FF5B6673", italic=True),
    "attn link": Role("FF0B63A5", underline="single"),
    "attn label": Role("FF1F2A37", bold=True, align="left"),
    "attn heading": Role(
        "FF1F2A37", bold=True, align="right", wrap=True, border=rule(bottom="medium", colour="FF1F2A37")
    ),
    "attn input": Role("FF0B4F8A", "FFE3F0FB", border=box("thin", "FF7FB2DE"), number_format="0.00"),
    "attn weight": Role(
        "FF7A4100", "FFFFF1D6", italic=True, border=box("dotted", "FFC58A2B"), number_format="0.00"
    ),
    "attn value": Role(
        "FF1F2A37", border=rule(bottom="hair", colour="FFB8C0C8"), number_format="0.000"
    ),
    "attn attention": Role(
        "FF102A2A", bold=True, border=box("thin", "FFFFFFFF"), number_format="0.000"
    ),
    "attn scale low": Role(fill="FFFFFFFF"),
    "attn scale high": Role(fill="FF4DB6A0"),
    "attn text": Role("FF1F2A37"),
    "attn blank": Role("FF1F2A37", "FFFFFBE0", border=box("medium", "FFC9A227"), number_format="0.000"),
    "attn answer": Role("FF0B4F8A", "FFFFFBE0", border=box("thin", "FFC9A227")),
    "attn right": Role("FF0B5D3B", "FFCFF0DE"),
    "attn wrong": Role("FF9B1C0E", "FFFBD9D0", bold=True),
    "attn echo": Role("FF6B7580", italic=True, number_format="0.000"),
    "attn step": Role("FF0B63A5", bold=True),
}

PRINT = {
    "attn title": Role(bold=True, size=15),
    "attn note": Role(italic=True),
    "attn link": Role(underline="single"),
    "attn label": Role(bold=True, align="left"),
    "attn heading": Role(bold=True, align="right", wrap=True, border=rule(top="thin", bottom="thin")),
    "attn input": Role(border=box("medium", "FF000000"), number_format="0.00"),
    "attn weight": Role(italic=True, border=box("mediumDashed", "FF000000"), number_format="0.00"),
    "attn value": Role(border=rule(bottom="hair"), number_format="0.000"),
    "attn attention": Role(bold=True, border=box("thin", "FF000000"), number_format="0.000"),
    "attn scale low": Role(fill="FFFFFFFF"),
    "attn scale high": Role(fill="FFA6A6A6"),
    "attn text": Role(),
    "attn blank": Role(border=box("double", "FF000000"), number_format="0.000"),
    "attn answer": Role(border=box("dashed", "FF000000")),
    "attn right": Role(italic=True),
    "attn wrong": Role(fill="FFD9D9D9", bold=True),
    "attn echo": Role("FF7F7F7F", italic=True, number_format="0.000"),
    "attn step": Role(bold=True),
}


def style(name: str, role: Role, font: str) -> NamedStyle:
    return NamedStyle(
        name=name,
        font=Font(
            name=font,
            size=role.size,
            bold=role.bold,
            italic=role.italic,
            underline=role.underline,
            color=role.colour,
        ),
        fill=PatternFill("solid", fgColor=role.fill) if role.fill else PatternFill(),
        border=role.border or Border(),
        alignment=Alignment(
            horizontal=role.align,
            vertical="center",
            wrap_text=role.wrap or None,
        ),
        number_format=role.number_format,
    )


def page(sheet: Worksheet) -> None:
    sheet.sheet_view.showGridLines = False
    sheet.sheet_view.zoomScale = 130
    sheet.sheet_format.defaultRowHeight, sheet.sheet_format.customHeight = 19, True
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = sheet.PAPERSIZE_A4
    sheet.page_margins.left = sheet.page_margins.right = 0.5
    sheet.page_margins.top, sheet.page_margins.bottom = 0.6, 0.7
    sheet.oddFooter.left.text = "&A"
    sheet.oddFooter.right.text = "&P / &N"
    for part in (sheet.oddFooter.left, sheet.oddFooter.right):
        part.size = 9


LEGEND = [
    ("attn input", 0.9, "given: change it and watch what follows"),
    ("attn weight", 0.5, "learned weights (also inputs)"),
    ("attn value", 1.234, "computed: click it to see its formula"),
    ("attn attention", 0.25, "attention weights: the darker the cell, the more attention"),
]


def cover(sheet: Worksheet, scale: str) -> None:
    for letter, width in zip("ABCD", (24, 40, 10, 96)):
        sheet.column_dimensions[letter].width = width
    sheet["A1"], sheet["A1"].style = "{title}", "attn title"
    sheet["A2"], sheet["A2"].style = "{formula}", "attn note"
    sheet["A3"], sheet["A3"].style = "made from {source}: {sentences}", "attn note"
    for row, (name, number, words) in enumerate(LEGEND, 5):
        swatch, said = sheet.cell(row, 1, number), sheet.cell(row, 2, words)
        swatch.style, said.style = name, "attn note"
        swatch.alignment, said.alignment = Alignment(horizontal="center"), Alignment("left", indent=1)
    swatch.fill = PatternFill("solid", fgColor=scale)
    for column, text in enumerate(("step", "how it is made", "shape", "what it shows"), 1):
        cell = sheet.cell(10, column, text)
        cell.style = "attn heading"
        cell.alignment = Alignment(horizontal="left")
        sheet.row_dimensions[1].height = 26
    sheet["A11"], sheet["A11"].style = "{steps}", "attn link"
    sheet["B11"].style = sheet["C11"].style = sheet["D11"].style = "attn note"
    for letter in "BCD":
        sheet[f"{letter}11"].font = Font(name=sheet["A1"].font.name, size=11, color="FF1F2A37")
    page(sheet)
    sheet.sheet_view.zoomScale = 100
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.page_setup.fitToHeight = 0
    sheet.print_title_rows = "10:10"


def matrix(sheet: Worksheet) -> None:
    sheet["A1"], sheet["A1"].style = "This sheet shows how each kind of cell looks.", "attn title"
    sheet["A2"], sheet["A2"].style = (
        "Restyle the cell styles (their names begin with attn) and the page: every matrix gets them.",
        "attn note",
    )
    names = [*ARTICLE]
    for row, name in enumerate(names, 4):
        sheet.cell(row, 1, name).style = "attn label"
        sheet.cell(row, 2, 0.5).style = name
    sheet.column_dimensions["A"].width = 24
    page(sheet)


def make(name: str, roles: dict[str, Role], font: str) -> None:
    book = Workbook()
    first = book.worksheets[0]
    for role_name, role in roles.items():
        book.add_named_style(style(role_name, role, font))
    book._named_styles["Normal"].font = Font(name=font, size=11)
    first.title = "Cover"
    cover(first, roles["attn scale high"].fill or "FFFFFFFF")
    matrix(book.create_sheet("Matrix"))
    book.properties.created = book.properties.modified = datetime(1980, 1, 1)  # no clock
    save(book, HERE / f"{name}.xlsx", {})


if __name__ == "__main__":
    make("article", ARTICLE, "Calibri")
    make("print", PRINT, "Calibri")
