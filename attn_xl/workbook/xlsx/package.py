"""Writes the xlsx package: openpyxl writes everything but the rows of the matrices, which are streamed.

All dependencies on the internals of openpyxl's writer (3.1) are in this module. The same content gives
the same bytes: no clock, no random names.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from openpyxl.chart._chart import ChartBase
from openpyxl.drawing.spreadsheet_drawing import SpreadsheetDrawing
from openpyxl.packaging.extended import ExtendedProperties
from openpyxl.packaging.relationship import RelationshipList
from openpyxl.styles.stylesheet import write_stylesheet
from openpyxl.workbook._writer import WorkbookWriter
from openpyxl.worksheet._writer import WorksheetWriter
from openpyxl.writer.excel import ExcelWriter
from openpyxl.writer.theme import theme_xml
from openpyxl.xml.constants import (
    ARC_APP,
    ARC_CORE,
    ARC_CUSTOM,
    ARC_ROOT_RELS,
    ARC_STYLE,
    ARC_THEME,
    ARC_WORKBOOK,
    ARC_WORKBOOK_RELS,
    CPROPS_TYPE,
)
from openpyxl.xml.functions import tostring

from .rows import escaped

_EPOCH = (1980, 1, 1, 0, 0, 0)
_BUFFER = 1 << 20
_FONT, _FONT_PART = re.compile(rb"<font>(.*?)</font>", re.DOTALL), re.compile(rb"<(\w+)[^>]*/>")
_FONT_PARTS = (
    b"b", b"i", b"strike", b"condense", b"extend", b"outline", b"shadow", b"u", b"vertAlign", b"sz",
    b"color", b"name", b"family", b"charset", b"scheme",
)  # fmt: skip
"""The children of `<font>` in the order of CT_Font; openpyxl writes them in a different order."""


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The streamed rows of a sheet.

    Attributes:
        range: the cells of the whole sheet, `A1:D8`.
        xml: the `<row>` elements, in pieces, all below the rows that openpyxl holds.
    """

    range: str
    xml: Iterator[bytes]


_DIMENSION = re.compile(rb'(<dimension ref=)"[^"]*"')
_METADATA = "xl/metadata.xml"
_DYNAMIC = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    '<metadata xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:xda="http://schemas.microsoft.com/office/spreadsheetml/2017/dynamicarray">'
    '<metadataTypes count="1"><metadataType name="XLDAPR" minSupportedVersion="120000" copy="1" '
    'pasteAll="1" pasteValues="1" merge="1" splitFirst="1" rowColShift="1" clearFormats="1" '
    'clearComments="1" assign="1" coerce="1" cellMeta="1"/></metadataTypes>'
    '<futureMetadata name="XLDAPR" count="1"><bk><extLst>'
    '<ext uri="{bdbb8cdc-fa1e-496e-a857-3c3f30c029c3}">'
    '<xda:dynamicArrayProperties fDynamic="1" fCollapsed="0"/></ext></extLst></bk></futureMetadata>'
    '<cellMetadata count="1"><bk><rc t="1" v="0"/></bk></cellMetadata></metadata>'
)
"""The metadata that `cm="1"` refers to: the cell's array formula spills (MS-XLSX 2.2.4.8, 2.3.10)."""
_LINKS = {
    "[Content_Types].xml": (
        "</Types>",
        f'<Override PartName="/{_METADATA}" ContentType="application/vnd.openxmlformats-'
        'officedocument.spreadsheetml.sheetMetadata+xml"/>',
    ),
    "xl/_rels/workbook.xml.rels": (
        "</Relationships>",
        '<Relationship Id="rIdMetadata" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/sheetMetadata" Target="metadata.xml"/>',
    ),
}


class _Archive(zipfile.ZipFile):
    """A zip file with fixed times, compressed by zlib at level 1: large sheets take half the time of
    level 6, and are little larger.

    With `dynamic`, it includes the metadata that makes array formulas spill, and the links to it.
    `names` are the workbook's defined names, of which openpyxl needs a multiple of the time.
    """

    def __init__(self, file: IO[bytes], names: Mapping[str, str], *, dynamic: bool) -> None:
        super().__init__(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        self._names = names
        self._links = _LINKS if dynamic else {}
        if dynamic:
            self.writestr(_METADATA, _DYNAMIC)

    def part(self, name: str) -> Any:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        info._compresslevel = self.compresslevel  # type: ignore[attr-defined]
        return self.open(info, "w")

    def writestr(self, zinfo_or_arcname: Any, data: Any, *_: Any, **__: Any) -> None:
        if str(zinfo_or_arcname) == ARC_WORKBOOK:
            data = _with_names(data, self._names)
        if str(zinfo_or_arcname) in self._links:
            end, link = self._links[str(zinfo_or_arcname)]
            text = data.decode() if isinstance(data, bytes) else data
            data = text.replace(end, link + end)
        with self.part(str(zinfo_or_arcname)) as part:
            part.write(data.encode() if isinstance(data, str) else data)

    def write(self, filename: Any, arcname: Any = None, *_: Any, **__: Any) -> None:
        self.writestr(arcname, Path(filename).read_bytes())


class WrittenChart(ChartBase):  # type: ignore[misc]
    """A chart whose XML is made already, with its size in centimetres."""

    def __init__(self, xml: bytes, width: float, height: float) -> None:
        self.xml, self.width, self.height = xml, width, height


def _written(part: Any) -> bytes:
    """A part of openpyxl's as XML."""
    tree = part.to_tree()
    return b"" if tree is None else bytes(tostring(tree))


def _order_fonts(styles: bytes) -> bytes:
    """`xl/styles.xml`, as openpyxl writes it, with the children of every font in the schema's order."""

    def ordered(font: re.Match[bytes]) -> bytes:
        parts = sorted(_FONT_PART.finditer(font[1]), key=lambda part: _FONT_PARTS.index(part[1]))
        return b"<font>%b</font>" % b"".join(part[0] for part in parts)

    return _FONT.sub(ordered, styles)


class _Custom:
    """The entry of a template's own document properties in the manifest."""

    path, mime_type = f"/{ARC_CUSTOM}", CPROPS_TYPE


def _with_names(workbook: bytes, names: Mapping[str, str]) -> bytes:
    """`xl/workbook.xml`, as openpyxl writes it, with these defined names before those of its sheets."""
    defined = "".join(
        f'<definedName name="{name}">{escaped(cells)}</definedName>' for name, cells in names.items()
    ).encode()
    if not defined:
        return workbook
    workbook = workbook.replace(b"<definedNames />", b"<definedNames></definedNames>")
    start, tag, end = workbook.partition(b"<definedNames>")
    assert tag, "openpyxl wrote no list to put the defined names in"
    return start + tag + defined + end


class _Writer(ExcelWriter):  # type: ignore[misc]
    def __init__(self, workbook: Any, archive: _Archive, rows: Mapping[str, Rows]) -> None:
        super().__init__(workbook, archive)
        self._rows = rows

    def write_data(self) -> None:
        """Write all parts, as openpyxl does, but those that our workbooks never have."""
        archive, book = self._archive, self.workbook
        archive.writestr(ARC_APP, _written(ExtendedProperties()))
        archive.writestr(ARC_CORE, _written(book.properties))
        archive.writestr(ARC_THEME, book.loaded_theme or theme_xml)
        if len(book.custom_doc_props):
            archive.writestr(ARC_CUSTOM, tostring(book.custom_doc_props.to_tree()))
            self.manifest.append(_Custom)
        self._write_worksheets()
        self._write_chartsheets()
        self._write_images()
        self._write_charts()
        archive.writestr(ARC_STYLE, _order_fonts(tostring(write_stylesheet(book))))
        writer = WorkbookWriter(book)
        archive.writestr(ARC_ROOT_RELS, writer.write_root_rels())
        archive.writestr(ARC_WORKBOOK, writer.write())
        archive.writestr(ARC_WORKBOOK_RELS, writer.write_rels())
        self.manifest._write(archive, book)

    def _write_charts(self) -> None:
        for chart in self._charts:
            xml = chart.xml if isinstance(chart, WrittenChart) else tostring(chart._write())
            self._archive.writestr(chart.path[1:], xml)
            self.manifest.append(chart)

    def write_worksheet(self, ws: Any) -> None:
        rows = self._rows.get(ws.title)
        ws._drawing = None
        if ws._charts or ws._images:
            ws._drawing = SpreadsheetDrawing()
            ws._drawing.charts, ws._drawing.images = ws._charts, ws._images
        links = [*ws._hyperlinks]
        # In memory: openpyxl's temporary file would remain after a killed run.
        writer = WorksheetWriter(ws, io.BytesIO())
        ws._hyperlinks += links  # those of the streamed rows, which the writer forgets
        writer.write()
        ws._rels = writer._rels or RelationshipList()
        before, end, after = writer.read().partition(b"</sheetData>")
        if rows is not None:
            before = _DIMENSION.sub(rb'\1"%b"' % rows.range.encode(), before, count=1)
        with self._archive.part(ws.path[1:]) as part:
            part.write(before)
            for piece in rows.xml if rows else ():
                part.write(piece)
            part.write(end + after)
        self.manifest.append(ws)


def save(
    workbook: Any,
    path: Path,
    rows: Mapping[str, Rows],
    names: Mapping[str, str] | None = None,
    *,
    dynamic: bool = False,
) -> None:
    """Write an openpyxl workbook with the streamed rows of its sheets, by sheet name, and the cells of
    defined names; `dynamic` if it has formulas that spill.

    Every sheet in `rows` must have at least one cell in openpyxl, above the streamed rows.
    """
    with (
        open(path, "w+b", buffering=_BUFFER) as file,
        _Archive(file, names or {}, dynamic=dynamic) as archive,
    ):
        _Writer(workbook, archive, rows).write_data()
