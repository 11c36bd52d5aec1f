# ruff: noqa: E501
"""Every rule that a written workbook keeps, in words and with its source. Knows no file.

Sources: "P1" is ECMA-376 part 1 with the transitional schemas, "P2" part 2 (Open Packaging Conventions),
"OI" Microsoft's [MS-OI29500], what Office requires beyond the standard, by the clause of part 1 it is
about, "limits" Microsoft's "Excel specifications and limits".
"""

from __future__ import annotations

RULES: dict[str, dict[str, tuple[str, str]]] = {
    "The package": {
        "zip": ("it is a zip whose entries can all be read, stored or deflated, not encrypted", "P2 7.3"),
        "zip-names": ("names of parts are unique whatever their case, relative, without `\\`", "P2 6.2.2"),
        "content-types": ("every part has a content type", "P2 6.2.3"),
        "content-overrides": ("content types are given once, and for parts that are there", "P2 6.2.3"),
        "content-type-right": ("a part's content type is that of its relationship", "P1 12.3"),
        "relationships": ("their ids are unique, their targets are parts that are there", "P2 6.5.3"),
        "external": ("nothing lies outside the file: no link, picture or data", "this program's own"),
        "orphans": ("every part is reached by a relationship", "P2 6.5.3"),
        "required-parts": ("a workbook, its styles and its sheets are there", "P1 12.3"),
        "xml": ("every part is well-formed XML in UTF-8, of allowed characters", "P2 6.2.5"),
        "dtd": ("no part has a document type declaration", "P2 6.2.5"),
        "core-properties": ("each at most once; dates are W3CDTF", "P2 8.3"),
        "app-version": ("AppVersion is XX.YYYY", "P1 22.2.2.3"),
    },
    "The workbook": {
        "workbook-order": ("elements are in the order of CT_Workbook", "P1 18.2.27"),
        "workbook-attributes": ("attributes exist and have the type they should", "P1 18.2"),
        "sheet-ids": ("sheetId is unique, from 1 to 65534", "OI 18.2.19"),
        "sheet-parts": ("r:id of every sheet is a worksheet, of no other sheet", "P1 18.2.19"),
        "sheet-name-length": ("a sheet's name has 1 to 31 UTF-16 units", "OI 18.2.19"),
        "sheet-name-letters": ("and none of `: \\ / ? * [ ]`, no control character", "P1 18.17.2.2"),
        "sheet-name-apostrophe": ("and neither begins nor ends with an apostrophe", "P1 18.17.2.2"),
        "sheet-name-history": ("and is not History, which Excel reserves", "OI 18.2.19"),
        "sheet-name-unique": ("and is unique, whatever its case", "OI 18.2.19"),
        "sheet-visible": ("at least one sheet is visible", "P1 18.18.68"),
        "active-tab": ("the active tab is a visible sheet that is there", "P1 18.2.30"),
        "name-syntax": ("a defined name begins with a letter or `_`, has letters, digits, `_ . \\ ?`",
                        "P1 18.2.5"),
        "name-length": ("and 1 to 255 characters", "OI 18.2.5"),
        "name-cell": ("and reads like no cell, in A1 or R1C1, nor TRUE or FALSE", "P1 18.2.5"),
        "name-unique": ("and is unique in its scope, whatever its case", "P1 18.2.5"),
        "name-reserved": ("_xlnm. is for Excel's own: print areas, print titles", "P1 18.2.5"),
        "name-scope": ("localSheetId is the place of a sheet", "P1 18.2.5"),
        "name-formula": ("what it stands for is a formula that is right", "OI 18.2.5"),
        "name-print": ("print areas and titles are ranges of their own sheet", "P1 18.2.5"),
    },
    "Sheets": {
        "worksheet-order": ("elements are in the order of CT_Worksheet", "P1 18.3.1.99"),
        "worksheet-attributes": ("attributes exist and have the type they should", "P1 18.3.1"),
        "dimension": ("it covers every cell", "P1 18.3.1.35"),
        "panes": ("frozen panes: topLeftCell, activePane and selections fit the split", "P1 18.3.1.66"),
        "zoom": ("from 10 to 400; the view is one of the workbook's", "P1 18.3.1.87"),
        "tab-selected": ("no sheet but the active one is selected", "P1 18.3.1.87"),
        "columns": ("min ≤ max ≤ 16384, ascending, not overlapping", "OI 18.3.1.13"),
        "column-width": ("0 to 255 characters; outline level up to 7", "OI 18.3.1.13"),
        "rows": ("numbered, ascending, each once, up to 1048576", "P1 18.3.1.73"),
        "row-height": ("0 to 409.5 points; outline level up to 7", "limits"),
        "cell-place": ("cells stand in their row, ascending, each once", "P1 18.3.1.4"),
        "cell-style": ("s of cells, rows and columns is below the number of cell formats", "P1 18.8.10"),
        "cell-type": ("t and what is in the cell fit: is, v, shared strings", "P1 18.18.11"),
        "cell-number": ("a number is a finite double", "P1 18.3.1.96"),
        "cell-text": ("at most 32,767 UTF-16 units, 253 line breaks", "limits"),
        "text-space": ("text with spaces at its ends has xml:space=preserve", "P1 22.9.2.19"),
        "merges": ("of several cells, not overlapping, counted", "P1 18.3.1.55"),
        "conditional": ("a rule has what its type needs: formulas, as many colours as values",
                        "P1 18.3.1.10"),
        "conditional-priority": ("1 or more, unique on its sheet", "P1 18.3.1.10"),
        "conditional-dxf": ("dxfId is below the number of differential formats", "P1 18.3.1.10"),
        "validation-count": ("count is that of the data validations", "P1 18.3.1.33"),
        "validation-text": ("titles ≤ 32, prompt ≤ 255, error ≤ 224 UTF-16 units", "OI 18.3.1.32"),
        "validation-list": ("a list has a formula, or words of at most 255 characters", "limits"),
        "validation-overlap": ("no cell has two", "OI 18.3.1.32"),
        "hyperlinks": ("a link goes to a sheet and a cell, or a name, that is there", "P1 18.3.1.47"),
        "hyperlink-limits": ("at most 65,530 on a sheet; texts ≤ 255, no two at one cell", "limits"),
        "page-setup": ("scale 10 to 400, pages 0 to 32767, margins from 0 to 49 inches", "OI 18.3.1.63"),
        "header-footer": ("at most 255 characters", "OI 18.3.1.57"),
        "sheet-relations": ("r:id of drawings and tables is a relationship of that type", "P1 12.3.24"),
    },
    "Formulas": {
        "formula-syntax": ("no leading =, balanced quotes and parentheses, operators between operands",
                           "P1 18.17.2"),
        "formula-length": ("at most 8,192 characters", "limits"),
        "formula-size": ("at most 16,384 bytes as Excel keeps it, estimated", "limits"),
        "formula-nesting": ("at most 64 levels", "limits"),
        "formula-text": ("a text in it has at most 255 characters", "limits"),
        "formula-arguments": ("a function has as many arguments as it takes", "P1 18.17.7"),
        "formula-functions": ("functions are known", "P1 18.17.7"),
        "formula-prefix": ("those that came after 2007 have _xlfn., and no others", "MS-XLSX 2.2.2"),
        "formula-names": ("names in it are defined", "P1 18.17.2.5"),
        "formula-limits": ("references end at XFD1048576", "limits"),
        "formula-sheets": ("sheets in it are there", "P1 18.17.2.2"),
        "formula-quotes": ("and in quotes where their name needs them", "P1 18.17.2.2"),
        "formula-shared": ("a shared formula has a first cell that spells it out", "P1 18.3.1.40"),
        "formula-array": ("an array formula stands in the first cell of its range, alone there",
                          "P1 18.3.1.40"),
        "cell-metadata": ("cm and vm are numbers of entries of the metadata part", "P1 18.9"),
    },
    "Styles": {
        "styles-order": ("elements are in the order of CT_Stylesheet", "P1 18.8.39"),
        "styles-attributes": ("attributes exist and have the type they should", "P1 18.8"),
        "style-counts": ("counts are right", "P1 18.8"),
        "style-indices": ("font, fill, border, number format and style of a format are there",
                          "P1 18.8.45"),
        "style-limits": ("at most 65,430 formats, 512 fonts, 250 number formats", "OI 18.8.10, limits"),
        "fonts": ("each property once; size 1 to 409, name at most 31 characters", "P1 18.8.22"),
        "fills": ("the first two are none and gray125", "P1 18.8.21"),
        "number-format-ids": ("own ones from 164, each once", "P1 18.8.30"),
        "number-format-codes": ("at most 255 characters and 4 sections, quotes and brackets closed",
                                "P1 18.8.31"),
        "cell-style-names": ("unique whatever their case, 1 to 255 characters, a style each",
                             "OI 18.8.7"),
        "colours": ("theme colours are 0 to 11, indexed ones 0 to 65, or 81", "P1 18.8.19"),
    },
    "Drawings and charts": {
        "drawing-order": ("elements are in the order of CT_Drawing", "P1 20.5.2.35"),
        "drawing-attributes": ("attributes exist and have the type they should", "P1 20.5.2"),
        "anchors": ("within the sheet, the end after the beginning, sizes from 0", "P1 20.5.2.24"),
        "drawing-ids": ("ids of the shapes of a drawing are unique", "P1 20.1.2.2.8"),
        "drawing-charts": ("r:id of a chart is a chart, of no other frame", "P1 12.3.4"),
        "chart-order": ("elements are in the order of CT_ChartSpace", "P1 21.2.2.29"),
        "chart-attributes": ("attributes exist and have the type they should", "P1 21.2.2"),
        "chart-axes": ("the axes of a chart are there, each once, and cross each other", "P1 21.2.2.9"),
        "chart-series": ("idx and order are unique; a series has what its kind takes", "P1 21.2.2.170"),
        "chart-points": ("points are in order, below ptCount, which is the size of the range",
                         "P1 21.2.2.151"),
        "chart-references": ("the ranges of a series are there, and right as formulas", "P1 21.2.2.64"),
        "chart-values": ("stored values are those of the cells", "P1 21.2.2.123"),
    },
}  # fmt: skip
NAMES = [rule for group in RULES.values() for rule in group]


class Report(list[str]):
    """What was found: `rule: where: what`."""

    def add(self, rule: str, where: str, what: str) -> None:
        assert rule in NAMES, rule
        if len(self) < 200:  # a broken workbook needs no longer list
            self.append(f"{rule}: {where}: {what}")


def units(text: str) -> int:
    """The length of a text as Excel counts it: in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
