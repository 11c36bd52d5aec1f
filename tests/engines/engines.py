"""Recalculates workbooks with other programs: IronCalc and LibreOffice."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from openpyxl.cell.cell import ERROR_CODES

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import split_address
from attn_xl.spreadsheets.numerals import quiet

SMALLEST = 2.2250738585072014e-308
"""The smallest normal float64: smaller numbers lose digits, and some programs make them 0."""

Value = float | str | bool | None


class IronCalc:
    """A workbook recalculated by IronCalc, an independent spreadsheet engine (pip install ironcalc).

    Args:
        called: the file name for error messages, if it differs from the path.

    Raises:
        InputError: if IronCalc cannot read the file.
    """

    def __init__(self, path: str | os.PathLike[str], called: str | None = None) -> None:
        import ironcalc

        try:
            with quiet():
                self._model = ironcalc.load_from_xlsx(os.fspath(path), "en", "UTC", "en")
                self._model.evaluate()
        except BaseException as error:  # a panic in the engine is not an Exception
            if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
                raise
            blame = "" if isinstance(error, Exception) else "a bug in IronCalc: "
            why = f"{blame}{str(error)[:200]}"
            message = f"{called or path}: IronCalc cannot recalculate this workbook ({why})."
            raise InputError(message) from None
        self.sheets = [sheet["name"] for sheet in self._model.get_worksheets_properties()]

    def value(self, sheet: str, row: int, column: int) -> Value:
        """The computed value of a cell; error values such as `#N/A` are text."""
        return self._model.get_cell_value(self.sheets.index(sheet), row, column)

    def set_formula(self, sheet: str, row: int, column: int, formula: str) -> None:
        """Write a formula into a cell; `evaluate` computes it."""
        self._model.update_cell_with_formula(self.sheets.index(sheet), row, column, f"={formula}")

    def evaluate(self) -> None:
        """Recalculate the workbook."""
        self._model.evaluate()

    def has_formula(self, sheet: str, row: int, column: int) -> bool:
        return self._model.get_cell_formula(self.sheets.index(sheet), row, column) is not None

    def size(self, sheet: str) -> tuple[int, int]:
        """The last row and the last column in use."""
        _, last_row, _, last_column = self._model.get_sheet_dimensions(self.sheets.index(sheet))
        return last_row, last_column


_AT_ONCE = 40
"""Workbooks for one start of LibreOffice, whose memory grows with each."""
_SECONDS = 300
"""What one start may take."""

_ALWAYS_RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
"""


def libreoffice() -> str | None:
    """The path of the LibreOffice program; None if it is not installed."""
    import shutil

    return shutil.which("soffice") or shutil.which("libreoffice")


def recalculated_by_libreoffice(paths: list[Path], out: Path, to: str = "xlsx") -> list[Path]:
    """Recalculate workbooks with LibreOffice and save them in the folder `out`.

    LibreOffice trusts stored values unless its profile says otherwise, so it runs with a temporary
    profile that always recalculates.

    Raises:
        InputError: if LibreOffice is not installed or does not convert a file.
    """
    program = libreoffice()
    if program is None:
        raise InputError("LibreOffice (soffice) is not installed.")
    written = [out / f"{path.stem}.{to}" for path in paths]
    for first in range(0, len(paths), _AT_ONCE):
        _convert(program, paths[first : first + _AT_ONCE], out, to)
    for path, result in zip(paths, written):
        # A document that a start did not come to, because of another one, has a start of its own.
        error = "" if result.exists() else _convert(program, [path], out, to)
        if not result.exists():
            raise InputError(f"{path}: LibreOffice did not convert it. {error}")
    return written


def _convert(program: str, paths: list[Path], out: Path, to: str) -> str:
    """Start LibreOffice once; returns what it complained of."""
    import subprocess
    import tempfile

    filters = {"xlsx": "xlsx:Calc MS Excel 2007 XML"}
    with tempfile.TemporaryDirectory() as profile:
        (Path(profile) / "user").mkdir()
        (Path(profile) / "user" / "registrymodifications.xcu").write_text(_ALWAYS_RECALCULATE)
        profile_option = f"-env:UserInstallation={Path(profile).as_uri()}"
        options = ["--headless", "--convert-to", filters.get(to, to), "--outdir", str(out)]
        try:
            done = subprocess.run(
                [program, profile_option, *options, *map(str, paths)],
                capture_output=True,
                text=True,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return f"It took more than {_SECONDS} seconds."
    return f"Exit status {done.returncode}. {done.stderr.strip()}"


_FORMULA_CELL = re.compile(r'<c r="([A-Z]+[0-9]+)"([^>]*)>(<f[^>]*>[^<]*</f>)<v\s*/?>(?:</v>)?</c>')


def store_values(path: Path) -> Path:
    """Put the values that IronCalc computes into a workbook of openpyxl, as a spreadsheet program does
    when it saves it."""
    engine = IronCalc(path)
    with zipfile.ZipFile(path) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    for number, sheet in enumerate(engine.sheets, 1):

        def stored(cell: re.Match[str], sheet: str = sheet) -> str:
            place, attributes, formula = cell.groups()
            value = engine.value(sheet, *split_address(place))
            value = "" if value is None else value
            kind = "n"
            if isinstance(value, str):
                kind = "e" if value in ERROR_CODES else "str"
            elif isinstance(value, bool):
                kind, value = "b", int(value)
            attributes = re.sub(r' t="\w+"', "", attributes)
            return f'<c r="{place}"{attributes} t="{kind}">{formula}<v>{escape(str(value))}</v></c>'

        part = f"xl/worksheets/sheet{number}.xml"
        parts[part] = _FORMULA_CELL.sub(stored, parts[part].decode()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, content)
    return path
