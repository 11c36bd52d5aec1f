# ruff: noqa: E501
"""How to break each rule: in which workbook and which part, the pattern to look for, and what to put in
its place. `+NAME` adds a part, `-NAME` takes one away."""

from __future__ import annotations

BOOK, STYLES, TYPES = "xl/workbook.xml", "xl/styles.xml", "[Content_Types].xml"
LESSON, CONTROLS, SCALED = (f"xl/worksheets/sheet{n}.xml" for n in (1, 2, 8))
WEIGHTS = "xl/worksheets/sheet8.xml"
BARS, MOVES, GIVEN, DRAWN = (
    *(f"xl/charts/chart{n}.xml" for n in (1, 3, 4)), "xl/drawings/drawing1.xml"
)  # fmt: skip
ONE = "xl/worksheets/sheet1.xml"
SUM = r"<f>COLUMNS\(pets.K\)</f>"
X, EMOJI = "x" * 33_000, "\U0001f600"


def formula(text: str) -> tuple[str, str, str, str]:
    """A formula in the place of a good one."""
    return "lesson", SCALED, SUM, f"<f>{text}</f>"


BROKEN: dict[str, list[tuple[str, str, str, str]]] = {
    # workbook, part, pattern, what stands there instead
    "zip-names": [("lesson", "+xl/Styles.xml", "", "<a/>"), ("lesson", "+/xl/x.xml", "", "<a/>")],
    "content-types": [("lesson", "+xl/media/image1.png", "", "x"), ("lesson", f"-{TYPES}", "", "")],
    "content-overrides": [
        ("lesson", TYPES, 'PartName="/xl/theme/theme1.xml"', 'PartName="/xl/theme/theme2.xml"'),
        ("lesson", TYPES, '(<Default Extension="xml"[^>]*>)', r"\1\1"),
    ],
    "content-type-right": [("lesson", TYPES, r"spreadsheetml\.worksheet\+xml", "spreadsheetml.styles+xml")],
    "relationships": [
        ("lesson", "xl/_rels/workbook.xml.rels", "theme1.xml", "theme9.xml"),
        ("lesson", "xl/_rels/workbook.xml.rels", 'Id="rId2"', 'Id="rId1"'),
        ("lesson", "xl/worksheets/_rels/sheet2.xml.rels", "drawing1", "drawing7"),
    ],
    "external": [
        ("lesson", "xl/_rels/workbook.xml.rels", "</Relationships>",
         f'<Relationship Id="x" Type="{"t"}" Target="http://a.b/" TargetMode="External"/></Relationships>'),
    ],
    "orphans": [("lesson", "+xl/worksheets/sheet99.xml", "", "<worksheet/>")],
    "required-parts": [
        ("lesson", "_rels/.rels", "relationships/officeDocument", "relationships/other"),
        ("lesson", "xl/_rels/workbook.xml.rels", "relationships/styles", "relationships/other"),
    ],
    "xml": [
        ("lesson", "xl/theme/theme1.xml", "</a:theme>", ""), ("lesson", LESSON, "</worksheet>", "\x07"),
        ("lesson", BARS, "^", '<?xml version="1.0" encoding="latin-1"?>'),
    ],
    "dtd": [("lesson", BOOK, "^", "<!DOCTYPE workbook>"), ("lesson", LESSON, "^", "<!DOCTYPE a>")],
    "core-properties": [
        ("lesson", "docProps/core.xml", "1980-01-01T00:00:00Z", "1980-01-01 00:00"),
        ("lesson", "docProps/core.xml", "(<dc:title>[^<]*</dc:title>)", r"\1\1"),
    ],
    "app-version": [("lesson", "docProps/app.xml", "<AppVersion>3.1", "<AppVersion>3.1.5")],
    "workbook-order": [("lesson", BOOK, "(<sheets>.*)(<calcPr[^>]*>)", r"\2\1"), ("lesson", BOOK, "<sheets>", "<calcPr/><sheets>")],
    "workbook-attributes": [("lesson", BOOK, 'activeTab="0"', 'activeTab="first"')],
    "sheet-ids": [("lesson", BOOK, 'sheetId="2"', 'sheetId="1"'), ("lesson", BOOK, 'sheetId="2"', 'sheetId="65535"')],
    "sheet-parts": [("lesson", BOOK, 'r:id="rId2"', 'r:id="rId1"'), ("lesson", BOOK, 'r:id="rId2"', 'r:id="rId99"')],
    "sheet-name-length": [("lesson", BOOK, 'name="Hints"', f'name="{"x" * 32}"'), ("lesson", BOOK, 'name="Hints"', 'name=""')],
    "sheet-name-letters": [("lesson", BOOK, 'name="Hints"', f'name="Hi{letter}ts"') for letter in ("[", "]", ":", "*", "?", "/", "\\\\")],
    "sheet-name-apostrophe": [("lesson", BOOK, 'name="Hints"', 'name="\'Hints"'), ("lesson", BOOK, 'name="Hints"', 'name="Hints\'"')],
    "sheet-name-history": [("lesson", BOOK, 'name="Hints"', 'name="hISTORY"')],
    "sheet-name-unique": [("lesson", BOOK, 'name="Hints"', 'name="LESSON"'), ("lesson", BOOK, 'name="Hints"', 'name="SETTINGS"')],
    "sheet-visible": [("lesson", BOOK, 'state="visible"', 'state="hidden"')],
    "active-tab": [("lesson", BOOK, 'activeTab="0"', 'activeTab="99"'), ("lesson", BOOK, 'state="visible" r:id="rId1"', 'state="hidden" r:id="rId1"')],
    "name-syntax": [("lesson", BOOK, 'Name name="pets.Q"', f'Name name="{name}"') for name in ("1st", "a b", "a-b", ".a", "")],
    "name-length": [("lesson", BOOK, 'Name name="pets.Q"', f'Name name="{"n" * 256}"')],
    "name-cell": [("lesson", BOOK, 'Name name="pets.Q"', f'Name name="{name}"') for name in ("Q1", "xfd1048576", "R1C1", "rc", "R", "c", "TRUE")],
    "name-unique": [("lesson", BOOK, 'Name name="pets.Q"', 'Name name="PETS.k"')],
    "name-reserved": [("lesson", BOOK, 'Name name="pets.Q"', 'Name name="_xlnm.Mine"')],
    "name-scope": [("input", BOOK, 'localSheetId="0"', 'localSheetId="44"')],
    "name-formula": [
        ("lesson", BOOK, "pets.Q!", "Gone!"), ("lesson", BOOK, "pets.Q!", "=pets.Q!"), ("lesson", BOOK, r"pets\.Q!", "R2D2!"),
    ],
    "name-print": [("input", BOOK, r"\$1:\$1", "1:1"), ("input", BOOK, "'Sentence'!", "'W_Q'!"), ("wide", BOOK, r"\$4:\$4", "4")],
    "worksheet-order": [
        ("lesson", LESSON, "(<sheetProtection[^>]*/>)(.*</mergeCells>)", r"\2\1"),
        ("lesson", SCALED, "<pageMargins", "<printOptions/><pageMargins left='1'/><pageMargins"),
        ("lesson", SCALED, "</sheetData>", "</sheetData><unknown/>"),
        ("lesson", SCALED, '<row r="5">', '<row r="5"><x/>'),
    ],
    "worksheet-attributes": [
        ("lesson", SCALED, '<sheetView ', '<sheetView colour="1" '), ("lesson", LESSON, 'zoomScale="100"', 'zoomScale="big"'),
        ("lesson", SCALED, '<c r="B5"', '<c x="1" r="B5"'), ("lesson", SCALED, '<row r="5"', '<row h="1" r="5"'),
        ("lesson", SCALED, 'orientation="landscape"', 'orientation="askew"'),
        ("lesson", SCALED, 'sqref="B5:F9"', 'sqref="B5,F9"'),
    ],
    "dimension": [("lesson", SCALED, 'dimension ref="[^"]*"', 'dimension ref="A1:B2"')],
    "panes": [
        ("lesson", SCALED, 'topLeftCell="B5"', 'topLeftCell="A1"'), ("lesson", SCALED, 'xSplit="1"', ""),
        ("input", ONE, 'pane="topRight"', 'pane="bottomLeft"'), ("lesson", SCALED, 'ySplit="4"', ""),
    ],
    "zoom": [("lesson", LESSON, 'zoomScale="100"', 'zoomScale="401"'), ("lesson", SCALED, 'workbookViewId="0"', 'workbookViewId="1"')],
    "tab-selected": [("lesson", SCALED, "<sheetView ", '<sheetView tabSelected="1" ')],
    "columns": [
        ("lesson", LESSON, 'min="2" max="2"', 'min="2" max="1"'), ("lesson", LESSON, 'min="2" max="2"', 'min="2" max="3"'),
        ("lesson", LESSON, 'min="7" max="7"', 'min="7" max="16385"'),
    ],
    "column-width": [("lesson", LESSON, 'col width="[0-9.]+"', 'col width="256"'), ("lesson", LESSON, 'col width="[0-9.]+"', 'col outlineLevel="8"')],
    "rows": [
        ("lesson", SCALED, '<row r="6"', '<row r="5"'), ("lesson", SCALED, '<row r="9"', '<row r="1048577"'),
        ("lesson", SCALED, '<row r="6"', "<row"),
    ],
    "row-height": [("lesson", LESSON, ' ht="[0-9.]+"', ' ht="410"'), ("lesson", LESSON, ' ht="[0-9.]+"', ' ht="nan"')],
    "cell-place": [
        ("lesson", SCALED, 'r="C5"', 'r="B5"'), ("lesson", SCALED, 'r="C5"', 'r="C6"'), ("lesson", SCALED, 'r="C5"', 'r="5C"'),
        ("lesson", SCALED, 'r="C5"', 'r="XFE5"'), ("lesson", SCALED, ' r="C5"', ""),
    ],
    "cell-style": [
        ("lesson", SCALED, 'r="C5" s="[0-9]+"', 'r="C5" s="9999"'), ("lesson", LESSON, '<col ', '<col style="9999" '),
        ("lesson", SCALED, '<row r="5"', '<row s="9999" r="5"'),
    ],
    "cell-type": [
        ("lesson", SCALED, 't="inlineStr"><is><t>', 't="inlineStr"><v>1</v><is><t>'), ("lesson", SCALED, 't="inlineStr"', 't="str"'),
        ("lesson", SCALED, 't="inlineStr"', 't="text"'), ("arrays", ONE, "<v>1</v>", "<v></v>"),
        ("arrays", "xl/worksheets/sheet2.xml", "<v>0</v>", "<v>7</v>"), ("arrays", ONE, '<c r="B1">', '<c r="B1" t="b">'),
        ("arrays", ONE, '<c r="A1">', '<c r="A1" t="e">'),
    ],
    "cell-number": [("lesson", SCALED, "<v>[0-9.]+</v>", f"<v>{number}</v>") for number in ("nan", "inf", "1,5", "1e999", "0x1", "1_0")],
    "cell-text": [("lesson", LESSON, "Read this page first", X), ("lesson", LESSON, "Read this page first", "&#10;" * 260)],
    "text-space": [("lesson", CONTROLS, ' xml:space="preserve"', ""), ("lesson", LESSON, "Read this page", " Read this page")],
    "merges": [
        ("lesson", LESSON, 'mergeCell ref="B7:D7"', 'mergeCell ref="B6:D7"'), ("lesson", LESSON, 'mergeCell ref="B7:D7"', 'mergeCell ref="B7"'),
        ("lesson", LESSON, 'mergeCells count="[0-9]+"', 'mergeCells count="1"'),
    ],
    "conditional": [
        ("lesson", SCALED, "<formula>[^<]*</formula>", ""), ("wide", WEIGHTS, '<cfvo type="num" val="1"[^>]*/>', ""),
        ("wide", WEIGHTS, '<cfvo type="num" val="0"', '<cfvo type="num"'), ("wide", WEIGHTS, 'type="colorScale"', 'type="aboveAverage"'),
    ],
    "conditional-priority": [("lesson", SCALED, 'priority="2"', 'priority="1"'), ("lesson", SCALED, 'priority="2"', 'priority="0"')],
    "conditional-dxf": [("lesson", SCALED, 'dxfId="1"', 'dxfId="99"')],
    "validation-count": [("lesson", CONTROLS, 'dataValidations count="[0-9]+"', 'dataValidations count="99"')],
    "validation-text": [
        ("lesson", SCALED, 'promptTitle="[^"]*"', f'promptTitle="{"t" * 33}"'), ("lesson", SCALED, 'prompt="[^"]*"', f'prompt="{EMOJI * 128}"'),
        ("lesson", SCALED, 'prompt="[^"]*"', f'error="{"e" * 225}"'), ("lesson", SCALED, 'prompt="[^"]*"', f'errorTitle="{"e" * 33}"'),
    ],
    "validation-list": [
        ("lesson", CONTROLS, "<formula1>[^<]*</formula1>", ""), ("lesson", CONTROLS, '"on,off"', f'"{"o," * 128}"'),
        ("lesson", CONTROLS, '"on,off"', '""'),
    ],
    "validation-overlap": [("lesson", SCALED, "(<dataValidation )(.*)</dataValidations>", r'\1\2<dataValidation sqref="A1:Z99"/></dataValidations>')],
    "hyperlinks": [
        ("lesson", LESSON, 'location="[^"]*"', 'location="Gone!A1"'), ("lesson", LESSON, 'location="[^"]*"', 'location="pets.Q!A1048577"'),
        ("lesson", LESSON, 'location="[^"]*"', 'location="nowhere"'), ("lesson", LESSON, ' location="[^"]*"', ""),
    ],
    "hyperlink-limits": [
        ("lesson", SCALED, 'hyperlink ref="B3"', 'hyperlink ref="A3"'), ("lesson", SCALED, 'display="Lesson"', f'display="{"d" * 256}"'),
        ("lesson", SCALED, "</hyperlinks>", '<hyperlink ref="A1" location="Scale"/>' * 65_530 + "</hyperlinks>"),
    ],
    "page-setup": [
        ("lesson", SCALED, 'fitToHeight="1"', 'fitToHeight="32768"'), ("lesson", SCALED, "<pageSetup ", '<pageSetup scale="9" '),
        ("lesson", SCALED, 'pageMargins left="0.5"', 'pageMargins left="-1"'),
    ],
    "header-footer": [("lesson", SCALED, "<oddFooter>", "<oddFooter>" + "f" * 256)],
    "sheet-relations": [("lesson", CONTROLS, r'(<drawing [^>]*id)="[^"]*"', r'\1="rId77"')],
    "formula-syntax": [formula(text) for text in (
        "=COLUMNS(pets.K)", "COLUMNS(pets.K", "COLUMNS(pets.K))", '"a', "1+", "*1", "1 2", "A1:", "", "SUM(1;2)", "{1,2;3}", "'a", "@A1", "A1#",
        "SUM(A1!)", "1&lt;&lt;2",
    )] + [("lesson", CONTROLS, "<formula1>pets", "<formula1>=pets")],
    "formula-length": [formula("1+" * 4096 + "1")],
    "formula-size": [formula("A1+" * 2000 + "1")],
    "formula-nesting": [formula("ABS(" * 65 + "1" + ")" * 65), formula("(" * 65 + "1" + ")" * 65)],
    "formula-text": [formula(f'LEN("{"t" * 256}")')],
    "formula-arguments": [formula("ABS(1,2)"), formula("PI(1)"), formula("IF()"), formula("SUM(" + ",".join("1" * 256) + ")")],
    "formula-functions": [formula("GELU(1)"), formula("ROUND_(1)")],
    "formula-prefix": [formula("SEQUENCE(3)"), formula("FILTER(A1:A2,A1:A2)"), formula("_xlfn.SUM(1)")],
    "formula-names": [formula("pets.Kay+1")],
    "formula-limits": [formula("XFE1"), formula("A1048577"), formula("A0"), formula("SUM(A1:A9999999)")],
    "formula-sheets": [formula("Gone!A1"), formula("'a b'!A1"), formula("SUM('it''s'!A1:B2)")],
    "formula-quotes": [("arrays", ONE, "'R2D2'!", "R2D2!")],
    "formula-shared": [("arrays", ONE, "<f>A2\\+1</f>", '<f t="shared" si="5"/>')],
    "formula-array": [
        ("arrays", ONE, 't="array" ref="A3:C3"', 't="array" ref="A4:C4"'), ("arrays", ONE, 't="array" ref="A3:C3"', 't="array"'),
        ("arrays", ONE, 't="array" ref="A3:C3"', 't="array" ref="A3:C6"'), ("arrays", ONE, '(<c r="B3">)', r"\1<f>1</f>"),
        ("arrays", ONE, "</sheetData>", '</sheetData><mergeCells><mergeCell ref="B3:B4"/></mergeCells>'),
    ],
    "cell-metadata": [("arrays", ONE, 'cm="1"', 'cm="2"'), ("arrays", ONE, 'cm="1"', 'vm="1"')],
    "styles-order": [("lesson", STYLES, "(<fonts.*</fonts>)(<fills.*</fills>)", r"\2\1"), ("lesson", STYLES, "<fill><patternFill />", "<fill>")],
    "styles-attributes": [("lesson", STYLES, 'patternType="solid"', 'patternType="dotted"'), ("lesson", STYLES, 'rgb="FF1F2A37"', 'rgb="red"')],
    "style-counts": [("lesson", STYLES, f'<{name} count="[0-9]+"', f'<{name} count="99"') for name in ("fonts", "cellXfs", "dxfs")]
    + [("lesson", STYLES, "<fills.*</fills>", "")],
    "style-indices": [("lesson", STYLES, f'(<cellXfs.*?){key}="0"', rf'\1{key}="999"') for key in ("fontId", "fillId", "borderId", "xfId", "numFmtId")],
    "style-limits": [("lesson", STYLES, "</fonts>", "<font/>" * 512 + "</fonts>"), ("lesson", STYLES, "</cellXfs>", "<xf/>" * 65_430 + "</cellXfs>")],
    "fonts": [
        ("lesson", STYLES, '<sz val="15" />', '<sz val="410" />'), ("lesson", STYLES, '<name val="Calibri" />', f'<name val="{"n" * 32}" />'),
        ("lesson", STYLES, '<sz val="15" />', '<sz val="15" /><sz val="15" />'),
    ],
    "fills": [("lesson", STYLES, "gray125", "solid")],
    "number-format-ids": [("lesson", STYLES, 'numFmt numFmtId="164"', 'numFmt numFmtId="163"'), ("lesson", STYLES, 'numFmt numFmtId="165"', 'numFmt numFmtId="164"')],
    "number-format-codes": [
        ("lesson", STYLES, 'formatCode="0.000"', f'formatCode="{code}"')
        for code in ("0;0;0;0;0", "0&quot;", "[Pink]0", "0[", "x", "0" * 256, "[&lt;1]0;[&lt;2]0;[&lt;3]0;0")
    ],
    "cell-style-names": [
        ("lesson", STYLES, 'name="attn note"', 'name="ATTN title"'), ("lesson", STYLES, 'name="attn note"', f'name="{"n" * 256}"'),
        ("lesson", STYLES, '(cellStyle name="attn note" xfId=")2"', r'\g<1>1"'), ("lesson", STYLES, '(cellStyle name="attn note" xfId=")2"', r'\g<1>99"'),
    ],
    "colours": [("lesson", STYLES, 'color theme="1"', 'color theme="12"'), ("lesson", STYLES, 'color theme="1"', 'color indexed="66"')],
    "drawing-order": [("lesson", DRAWN, "<clientData />", ""), ("lesson", DRAWN, "<xfrm />", "")],
    "drawing-attributes": [("lesson", DRAWN, ' name="Chart 1"', "")],
    "anchors": [
        ("lesson", DRAWN, "<row>7</row>", "<row>1048576</row>"), ("lesson", DRAWN, "<col>[0-9]+</col>", "<col>-1</col>"),
        ("lesson", DRAWN, "<oneCellAnchor>(.*?)<ext[^>]*/>(.*?)</oneCellAnchor>",
         r"<twoCellAnchor>\1<to><col>0</col><colOff>0</colOff><row>0</row><rowOff>0</rowOff></to>\2</twoCellAnchor>"),
    ],
    "drawing-ids": [("lesson", DRAWN, 'cNvPr id="2"', 'cNvPr id="1"')],
    "drawing-charts": [("lesson", DRAWN, 'r:id="rId1"', 'r:id="rId9"'), ("lesson", DRAWN, 'chart r:id="rId2"', 'chart r:id="rId1"')],
    "chart-order": [
        ("lesson", BARS, '(<idx val="0" />)(<order val="0" />)', r"\2\1"), ("lesson", BARS, "(<cat>.*?</cat>)(<val>.*?</val>)", r"\2\1"),
        ("lesson", BARS, "(<catAx>.*</valAx>)", r"\1<barChart/>"), ("lesson", MOVES, "<marker>", "<smooth/><marker>"),
    ],
    "chart-attributes": [("lesson", BARS, 'barDir val="col"', 'barDir val="up"'), ("lesson", BARS, 'srgbClr val="0072B2"', 'srgbClr val="blue"')],
    "chart-axes": [
        ("lesson", BARS, '<crossAx val="100" />', '<crossAx val="10" />'), ("lesson", BARS, '<axId val="100" /></barChart>', '<axId val="101" /></barChart>'),
        ("lesson", BARS, '<valAx><axId val="100" />', '<valAx><axId val="10" />'), ("lesson", BARS, "(<)catAx(>.*</)catAx(>)", r"\1valAx\2valAx\3"),
    ],
    "chart-series": [
        ("lesson", MOVES, '<ser><idx val="1" />', '<ser><idx val="0" />'), ("lesson", MOVES, '<order val="1" />', '<order val="0" />'),
        ("lesson", BARS, "(<val>.*?</val>)", ""), ("lesson", BARS, "<(/?)val>", r"<\1yVal>"),
    ],
    "chart-points": [
        ("lesson", BARS, '<ptCount val="5" />', '<ptCount val="4" />'), ("lesson", BARS, '<pt idx="1">', '<pt idx="0">'),
        ("lesson", BARS, '<pt idx="4">', '<pt idx="5">'), ("lesson", GIVEN, '(<numCache>[^v]*val="[0-9]+" /><pt idx="0"><v>)[^<]*', r"\1word"),
    ],
    "chart-references": [
        ("lesson", BARS, "<f>Controls!", "<f>Gone!"), ("lesson", BARS, r"<f>Controls!\$A\$12:\$A\$16", "<f>Controls!A13:A17"),
        ("lesson", BARS, "<f>Controls!", "<f>="),
    ],
    "chart-values": [("lesson", BARS, "<v>mouse</v>", "<v>house</v>")],
}  # fmt: skip
