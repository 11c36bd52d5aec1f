"""Rewrites a workbook so that IronCalc can read it: sheets, shared strings, names and tables, in the
parts and namespaces that it looks for, without formatting.

IronCalc opens what Excel writes. It rejects or misreads equally valid packages from other programs:
without styles, theme or cell styles (Gnumeric), with parts in other folders, in Strict Open XML, or
with cells that have no address.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from xml.parsers import expat

from .addresses import address, split_address
from .ooxml import LINKS, MAIN, PACKAGE, Attributes, Package, is_true, parse

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
STRINGS = "xl/sharedStrings.xml"
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts>'
    '<fills count="1"><fill/></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="1"><xf/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
)
"""Minimal: number formats do not affect computed values."""
_THEME = (
    f'{_HEAD}<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" name="Office">'
    "<a:themeElements/></a:theme>"
)
_OF_TABLE = ("id", "name", "displayName", "ref", "totalsRowCount", "headerRowCount")
_EPOCHS = {False: datetime(1899, 12, 30), True: datetime(1904, 1, 1)}
_BLANK_NUMBER = re.compile(rb"""<c\b[^<>]*\st=["']n["'][^<>]*(?:/>|>\s*</c>)""")
"""A cell of type "n", a number, without a value."""


class Unreadable(Exception):
    """The package has no workbook, or its workbook is not valid XML."""


def misread(path: Path) -> bool:
    """Whether IronCalc would read a valid package wrongly: it knows only one name for shared strings,
    without which all texts are blank, and takes a blank cell of type "n" (openpyxl) for 0."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if STRINGS not in names and any("strings" in name.lower() for name in names):
                return True
            sheets = (name for name in names if "worksheets/" in name and name.endswith(".xml"))
            return any(_BLANK_NUMBER.search(archive.read(name)) for name in sheets)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError):
        return False  # IronCalc, or repacking, says what is wrong


def repack(path: Path, to: Path) -> None:
    """Rewrite the workbook `path` as `to`.

    Raises:
        Unreadable: if the package contains no readable workbook.
    """
    try:
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w", zipfile.ZIP_STORED) as new:
            _Repacked(old, new).write()
    except (expat.ExpatError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise Unreadable(f"it is not a valid workbook package: {error}") from None


class _Repacked:
    def __init__(self, old: zipfile.ZipFile, new: zipfile.ZipFile) -> None:
        self._old, self._new = Package(old), new
        self._strings: list[str] = []
        self._places: dict[str, int] = {}
        self._epoch = _EPOCHS[False]
        self._tables = 0

    def write(self) -> None:
        links, workbook = self._old.links, self._old.workbook
        self._strings = list(self._old.shared_texts)
        self._epoch = _EPOCHS[workbook.since_1904]
        entries, relations = [], []
        for number, sheet in enumerate(workbook.sheets, 1):
            kind, part = links.get(sheet.get("id", ""), ("", ""))
            kind = kind if part in self._old.parts else "chartsheet"  # which IronCalc skips
            if kind == "worksheet":
                self._sheet(part, number)
            kept = _kept(sheet, "name", "state")
            entries.append(_tag("sheet", {**kept, "sheetId": str(number), "r:id": f"rId{number}"}))
            relations.append((kind, f"worksheets/sheet{number}.xml"))
        names = [
            _text("definedName", text, _kept(name, "name", "localSheetId"))
            for name, text in workbook.names
        ]
        self._put(
            "xl/workbook.xml",
            f'{_HEAD}<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{"".join(entries)}</sheets>'
            f"<definedNames>{''.join(names)}</definedNames></workbook>",
        )
        self._put_links("xl/workbook.xml", relations)
        strings = "".join(f"<si>{_text('t', text)}</si>" for text in self._strings)
        self._put(STRINGS, f'{_HEAD}<sst xmlns="{MAIN}">{strings}</sst>')
        self._put("xl/styles.xml", _STYLES)
        self._put("xl/theme/theme1.xml", _THEME)

    def _sheet(self, part: str, number: int) -> None:
        name = f"xl/worksheets/sheet{number}.xml"
        relations = []
        for kind, table in self._old.relations(part).values():
            if kind == "table" and table in self._old.parts:
                self._tables += 1
                self._put(f"xl/tables/table{self._tables}.xml", _table(self._old.read(table)))
                relations.append((kind, f"../tables/table{self._tables}.xml"))
        if relations:
            self._put_links(name, relations)
        with self._new.open(name, "w") as out:
            out.write(f'{_HEAD}<worksheet xmlns="{MAIN}"><sheetData>'.encode())
            self._rows(self._old.read(part), lambda piece: out.write(piece.encode()))
            out.write(b"</sheetData></worksheet>")

    def _rows(self, xml: bytes, out: Callable[[str], object]) -> None:
        row = column = 0
        cell: Attributes = {}
        of_formula: Attributes = {}
        formula = value = ""
        texts: list[str] = []
        aside = False

        def start(tag: str, attributes: Attributes) -> None:
            nonlocal row, column, cell, of_formula, formula, value, aside
            if tag == "row":
                row, column = int(attributes.get("r", row + 1)), 0
                hidden = ' hidden="1"' if is_true(attributes.get("hidden")) else ""
                out(f'<row r="{row}"{hidden}>')
            elif tag == "c":
                cell, formula, value = attributes, "", ""
                texts.clear()
            elif tag == "f":
                of_formula = attributes
            elif tag == "rPh":
                aside = True

        def end(tag: str, text: str) -> None:
            nonlocal column, formula, value, aside
            if tag == "v":
                value = text
            elif tag == "f":
                formula = _formula(of_formula, text)
            elif tag == "t" and not aside:
                texts.append(text)
            elif tag == "rPh":
                aside = False
            elif tag == "row":
                out("</row>")
            elif tag == "c":
                column = split_address(cell["r"])[1] if "r" in cell else column + 1
                at = cell.get("r") or address(row, column)
                out(self._cell(at, cell.get("t", "n"), formula, value, "".join(texts)))

        parse(xml, start, end)

    def _cell(self, at: str, kind: str, formula: str, value: str, text: str) -> str:
        if kind == "d":
            kind, value = "n", self._serial(value)
        if formula:
            if kind in ("s", "inlineStr"):
                kind, value = "str", text or self._shared(value)
        elif kind in ("str", "inlineStr"):
            kind, value = "s", str(self._filed(value or text))
        from xml.sax.saxutils import escape  # loads urllib, http and ssl, which few runs need

        shown = f"<v>{escape(value)}</v>" if value else ""
        return f'<c r="{at}" t="{kind}">{formula}{shown}</c>' if formula or shown else ""

    def _filed(self, text: str) -> int:
        """The index of a text in the shared strings, added if missing."""
        if text not in self._places:
            self._places[text] = len(self._strings)
            self._strings.append(text)
        return self._places[text]

    def _shared(self, place: str) -> str:
        return self._strings[int(place)] if place else ""

    def _serial(self, date: str) -> str:
        """A date of Strict Open XML as a spreadsheet's serial number."""
        moment = datetime.fromisoformat(date.removesuffix("Z"))
        days = moment.replace(tzinfo=None) - self._epoch
        return repr(days.total_seconds() / 86400)

    def _put(self, name: str, text: str) -> None:
        self._new.writestr(name, text)

    def _put_links(self, part: str, relations: list[tuple[str, str]]) -> None:
        folder, file = posixpath.split(part)
        lines = [
            _tag("Relationship", {"Id": f"rId{n}", "Type": f"{LINKS}/{kind}", "Target": target})
            for n, (kind, target) in enumerate(relations, 1)
        ]
        text = f'{_HEAD}<Relationships xmlns="{PACKAGE}">{"".join(lines)}</Relationships>'
        self._put(f"{folder}/_rels/{file}.rels", text)


def _formula(attributes: Attributes, text: str) -> str:
    if attributes.get("t") == "dataTable":  # what-if tables, which no other program computes
        return ""
    kept = _kept(attributes, "t", "ref", "si")
    return _text("f", text, kept) if text or "si" in kept else ""


def _table(xml: bytes) -> str:
    out = [_HEAD]

    def start(tag: str, attributes: Attributes) -> None:
        kept = _kept(attributes, *_OF_TABLE)
        if tag == "table":
            kept.setdefault("name", attributes.get("displayName", ""))
            out.append(_tag("table", {"xmlns": MAIN, **kept}, closed=False) + "<tableColumns>")
        elif tag == "tableColumn":
            out.append(_tag("tableColumn", kept))

    parse(xml, start)
    return "".join(out) + "</tableColumns></table>"


def _kept(attributes: Attributes, *names: str) -> Attributes:
    return {name: attributes[name] for name in names if name in attributes}


def _tag(name: str, attributes: Mapping[str, str], *, closed: bool = True) -> str:
    from xml.sax.saxutils import quoteattr

    written = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"<{name}{written}{'/' if closed else ''}>"


def _text(name: str, text: str, attributes: Mapping[str, str] | None = None) -> str:
    from xml.sax.saxutils import escape

    return f"{_tag(name, attributes or {}, closed=False)}{escape(text)}</{name}>"
