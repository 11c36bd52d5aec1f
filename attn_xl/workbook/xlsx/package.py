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
from xml.sax.saxutils import escape

from isal import isal_zlib
from openpyxl.chart._chart import ChartBase
from openpyxl.drawing.spreadsheet_drawing import SpreadsheetDrawing
from openpyxl.packaging.relationship import RelationshipList
from openpyxl.worksheet._writer import WorksheetWriter
from openpyxl.worksheet.dimensions import SheetDimension
from openpyxl.writer.excel import ExcelWriter
from openpyxl.xml.constants import ARC_STYLE, ARC_WORKBOOK
from openpyxl.xml.functions import tostring

_EPOCH = (1980, 1, 1, 0, 0, 0)
_END_OF_ROWS = b"</sheetData>"
_BUFFER = 1 << 20
_WINDOW = 9
"""The power of two of the distance, in bytes, over which repeated text is searched for. 512 bytes hold
the last few cells, whose tags repeat; further back only digits repeat by chance, and such references
take more bits than the digits. Files are 8 to 12 percent smaller than with the usual 32 KB."""
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


class SteadyCompressor:
    """ISA-L's deflate at level 1 over a small window, with the same bytes from the same data.

    ISA-L (2.32.1) stores the position of the third byte under a hash of a memory address instead of the
    data (`write_first_byte` in igzip_icf_body_h1_gr_bt.asm), so that in about one part in a thousand a
    match is found or missed at random. Its routine for the end of the data does not have this bug, so
    it also compresses the start.
    """

    _START = 16  # bytes; more than the few that the routine handles without searching for matches

    def __init__(self) -> None:
        self._stream = isal_zlib.compressobj(1, isal_zlib.DEFLATED, -_WINDOW)
        self._started = False

    def compress(self, data: bytes) -> bytes:
        """The compressed data available so far."""
        if self._started:
            return self._stream.compress(data)
        self._started = True
        start = self._stream.compress(data[: self._START]) + self._stream.flush(isal_zlib.Z_SYNC_FLUSH)
        return start + self._stream.compress(data[self._START :])

    def flush(self) -> bytes:
        """The rest of the compressed data."""
        return self._stream.flush()


class _Archive(zipfile.ZipFile):
    """A zip file with fixed times, compressed by ISA-L: zlib's format at several times its speed.

    With `dynamic`, it includes the metadata that makes array formulas spill, and the links to it.
    `names` are the workbook's defined names, of which openpyxl needs a multiple of the time.
    """

    def __init__(self, file: IO[bytes], names: Mapping[str, str], *, dynamic: bool) -> None:
        super().__init__(file, "w", zipfile.ZIP_DEFLATED)
        self._names = names
        self._links = _LINKS if dynamic else {}
        if dynamic:
            self.writestr(_METADATA, _DYNAMIC)

    def part(self, name: str) -> Any:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        part = self.open(info, "w")
        # If zipfile lacks this attribute, zlib compresses the part, more slowly.
        if hasattr(part, "_compressor"):
            part._compressor = SteadyCompressor()
        return part

    def writestr(self, zinfo_or_arcname: Any, data: Any, *_: Any, **__: Any) -> None:
        if str(zinfo_or_arcname) == ARC_STYLE:
            data = _order_fonts(data)
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


class _ShellWriter(WorksheetWriter):  # type: ignore[misc]
    """openpyxl's writer of a sheet, with the range of the whole sheet as its dimension."""

    def __init__(self, sheet: Any, cells: str) -> None:
        self._cells = cells
        links = list(sheet._hyperlinks)  # the links of streamed cells, which openpyxl would drop
        super().__init__(sheet, io.BytesIO())
        sheet._hyperlinks = links

    def write_dimensions(self) -> None:
        self.xf.send(SheetDimension(self._cells).to_tree())

    def write_header(self) -> None:
        """The header and footer, which all sheets share."""
        if footer := self.ws.HeaderFooter:
            if not hasattr(footer, "tree"):
                footer.tree = footer.to_tree()
            self.xf.send(footer.tree)


def _order_fonts(styles: bytes) -> bytes:
    """`xl/styles.xml`, as openpyxl writes it, with the children of every font in the schema's order."""

    def ordered(font: re.Match[bytes]) -> bytes:
        parts = sorted(_FONT_PART.finditer(font[1]), key=lambda part: _FONT_PARTS.index(part[1]))
        return b"<font>%b</font>" % b"".join(part[0] for part in parts)

    return _FONT.sub(ordered, styles)


def _with_names(workbook: bytes, names: Mapping[str, str]) -> bytes:
    """`xl/workbook.xml`, as openpyxl writes it, with these defined names before those of its sheets."""
    defined = "".join(
        f'<definedName name="{name}">{escape(cells)}</definedName>' for name, cells in names.items()
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
        # In memory: openpyxl's temporary file would remain after a killed run.
        writer = _ShellWriter(ws, rows.range) if rows else WorksheetWriter(ws, io.BytesIO())
        writer.write()
        ws._rels = writer._rels or RelationshipList()
        head, end, tail = writer.read().partition(_END_OF_ROWS)
        assert end, "openpyxl wrote no rows to put the matrix after"
        with self._archive.part(ws.path[1:]) as part:
            part.write(head)
            for piece in rows.xml if rows else ():
                part.write(piece)
            part.write(end + tail)
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
