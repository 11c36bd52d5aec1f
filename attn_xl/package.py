"""The xlsx package: openpyxl writes everything but the rows of the matrices, which are streamed.

Here is what the program knows of openpyxl's writer, as it is in 3.1. The same content gives the same
bytes: no clock, no random names.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from isal import isal_zlib
from openpyxl.drawing.spreadsheet_drawing import SpreadsheetDrawing
from openpyxl.packaging.relationship import RelationshipList
from openpyxl.worksheet._writer import WorksheetWriter
from openpyxl.worksheet.dimensions import SheetDimension
from openpyxl.writer.excel import ExcelWriter

_EPOCH = (1980, 1, 1, 0, 0, 0)
_END_OF_ROWS = b"</sheetData>"
_BUFFER = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """The rows of a sheet that openpyxl does not hold.

    Attributes:
        range: the cells of the whole sheet, `A1:D8`.
        xml: `<row>` elements, below all rows that openpyxl holds, in pieces.
    """

    range: str
    xml: Iterator[bytes]


class _Archive(zipfile.ZipFile):
    """A zip with fixed times, compressed by ISA-L: zlib's format at several times its speed."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, "w", zipfile.ZIP_DEFLATED)

    def part(self, name: str) -> Any:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        part = self.open(info, "w")
        # Without this attribute of zipfile's, zlib would do the same, slower.
        if hasattr(part, "_compressor"):
            part._compressor = isal_zlib.compressobj(1, isal_zlib.DEFLATED, -15)
        return part

    def writestr(self, zinfo_or_arcname: Any, data: Any, *_: Any, **__: Any) -> None:
        with self.part(str(zinfo_or_arcname)) as part:
            part.write(data.encode() if isinstance(data, str) else data)

    def write(self, filename: Any, arcname: Any = None, *_: Any, **__: Any) -> None:
        self.writestr(arcname, Path(filename).read_bytes())


class _ShellWriter(WorksheetWriter):  # type: ignore[misc]
    """openpyxl's XML of a sheet, but for the range it claims to fill."""

    def __init__(self, sheet: Any, cells: str) -> None:
        self._cells = cells
        links = list(sheet._hyperlinks)  # of streamed cells: openpyxl would forget them
        super().__init__(sheet, io.BytesIO())
        sheet._hyperlinks += links

    def write_dimensions(self) -> None:
        self.xf.send(SheetDimension(self._cells).to_tree())


class _Writer(ExcelWriter):  # type: ignore[misc]
    def __init__(self, workbook: Any, archive: _Archive, rows: Mapping[str, Rows]) -> None:
        super().__init__(workbook, archive)
        self._rows = rows

    def write_worksheet(self, ws: Any) -> None:
        if ws.title not in self._rows:
            super().write_worksheet(ws)
            return
        rows = self._rows[ws.title]
        ws._drawing = None
        if ws._charts:
            ws._drawing = SpreadsheetDrawing()
            ws._drawing.charts = ws._charts
        writer = _ShellWriter(ws, rows.range)
        writer.write()
        ws._rels = writer._rels or RelationshipList()
        head, end, tail = writer.read().partition(_END_OF_ROWS)
        assert end, "openpyxl wrote no rows to put the matrix after"
        with self._archive.part(ws.path[1:]) as part:
            part.write(head)
            for piece in rows.xml:
                part.write(piece)
            part.write(end + tail)
        self.manifest.append(ws)


def save(workbook: Any, path: Path, rows: Mapping[str, Rows]) -> None:
    """Write an openpyxl workbook with the streamed rows of its sheets, by sheet name.

    Every sheet in `rows` must have at least one cell of its own, above the streamed ones.
    """
    with open(path, "w+b", buffering=_BUFFER) as file, _Archive(file) as archive:
        _Writer(workbook, archive, rows).write_data()
