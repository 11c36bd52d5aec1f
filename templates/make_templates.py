"""Makes the shipped templates: python templates/make_templates.py

They are ordinary workbooks: open one in a spreadsheet program, restyle it, save it, and use it with
--template. This script only spares you the clicking when both are to change together.
"""

from __future__ import annotations

from collections.abc import Iterable
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
    size: float = 10
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


INK, TEXT, MUTED, HAIRLINE, BLUE = "FF16212B", "FF3D4A57", "FF66727E", "FFD3D9DF", "FF1D5AA6"
ARTICLE = {
    "attn title": Role(INK, bold=True, size=18),
    "attn note": Role(MUTED, size=9),
    "attn link": Role(BLUE, underline="single", size=9),
    "attn label": Role(INK, bold=True, align="left"),
    "attn heading": Role(
        TEXT, align="right", wrap=True, border=rule(bottom="thin", colour=INK), size=8
    ),
    "attn input": Role(BLUE, "FFEAF2FB", border=box("thin", "FFC3D8EF"), number_format="0.00"),
    "attn weight": Role(
        "FF7A4100", "FFFFF1D6", italic=True, border=box("dotted", "FFC58A2B"), number_format="0.00"
    ),
    "attn value": Role(INK, border=rule(bottom="hair", colour=HAIRLINE), number_format="0.000"),
    "attn attention": Role(INK, border=box("medium", "FFFFFFFF"), number_format="0.000"),
    "attn scale low": Role(fill="FFEFF6F5"),
    "attn scale high": Role("FFFFFFFF", "FF0F766E"),
    "attn dark": Role("FFFFFFFF"),
    "attn text": Role(TEXT),
    "attn chosen": Role(INK, "FFE9EDF1", bold=True),
    "attn blank": Role(INK, "FFFFFBE0", border=box("medium", "FFC9A227"), number_format="0.000"),
    "attn answer": Role(BLUE, "FFFFFBE0", border=box("thin", "FFC9A227")),
    "attn right": Role("FF0B5D3B", "FFCFF0DE"),
    "attn wrong": Role("FF9B1C0E", "FFFBD9D0", bold=True),
    "attn echo": Role(MUTED, italic=True, number_format="0.000"),
    "attn step": Role(BLUE, bold=True),
    "attn sentence": Role(INK, bold=True, size=12, border=rule(bottom="thin", colour=INK)),
}

PRINT = {
    "attn title": Role(bold=True, size=18),
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
    "attn chosen": Role(fill="FFE6E6E6", bold=True),
    "attn text": Role(),
    "attn blank": Role(border=box("double", "FF000000"), number_format="0.000"),
    "attn answer": Role(border=box("dashed", "FF000000")),
    "attn right": Role(italic=True),
    "attn wrong": Role(fill="FFD9D9D9", bold=True),
    "attn echo": Role("FF7F7F7F", italic=True, number_format="0.000"),
    "attn step": Role(bold=True),
    "attn sentence": Role(bold=True, size=12, border=rule(bottom="thin")),
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


def matrix(sheet: Worksheet, names: Iterable[str]) -> None:
    sheet["A1"], sheet["A1"].style = "This sheet shows how each kind of cell looks.", "attn title"
    sheet["A2"], sheet["A2"].style = (
        "Restyle the cell styles (their names begin with attn) and the page: every matrix gets them.",
        "attn note",
    )
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
    book._named_styles["Normal"].font = Font(name=font, size=10)
    first.title = "Matrix"
    matrix(first, roles)
    book.properties.created = book.properties.modified = datetime(1980, 1, 1)  # no clock
    save(book, HERE / f"{name}.xlsx", {})


if __name__ == "__main__":
    make("article", ARTICLE, "Arial")
    make("print", PRINT, "Arial")
