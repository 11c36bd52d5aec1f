"""Whether Excel would open a workbook without complaint: `violations`. The rules are in `ooxml_rules`;
this file has those of the package and of the workbook, and goes through the parts.
"""

from __future__ import annotations

import posixpath
import re
import sys
import zipfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

from ooxml_charts import Cached, check_chart, check_drawing, compare
from ooxml_formulas import Names, split_address
from ooxml_rules import Report, units
from ooxml_schema import MAIN, PACKAGE, RELATIONS, misplaced, whole
from ooxml_sheets import Book, check_sheet
from ooxml_styles import check_styles

_N = f"{{{MAIN}}}"
_RID = f"{{{RELATIONS}}}id"
_TYPES, _RELS = f"{{{PACKAGE}/content-types}}", f"{{{PACKAGE}/relationships}}"
_SML = "application/vnd.openxmlformats-officedocument.spreadsheetml."
CONTENT = {
    "officeDocument": (_SML + "sheet.main+xml",),
    "worksheet": (_SML + "worksheet+xml",),
    "styles": (_SML + "styles+xml",),
    "sharedStrings": (_SML + "sharedStrings+xml",),
    "sheetMetadata": (_SML + "sheetMetadata+xml",),
    "table": (_SML + "table+xml",),
    "theme": ("application/vnd.openxmlformats-officedocument.theme+xml",),
    "drawing": ("application/vnd.openxmlformats-officedocument.drawing+xml",),
    "chart": ("application/vnd.openxmlformats-officedocument.drawingml.chart+xml",),
    "core-properties": ("application/vnd.openxmlformats-package.core-properties+xml",),
    "extended-properties": ("application/vnd.openxmlformats-officedocument.extended-properties+xml",),
    "image": ("image/png", "image/jpeg", "image/gif"),
}
"""The content types of a part, by the end of its relationship's type."""
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_NAME = re.compile(r"[^\W\d][\w.?\\]*|\\[\w.?\\]*")
_R1C1 = re.compile(r"[Rr]([0-9]*[Cc])?[0-9]*|[Cc][0-9]*")
_RESERVED = ("_xlnm.print_area", "_xlnm.print_titles", "_xlnm._filterdatabase")
_PRINT = re.compile(r"\$[A-Z]+\$[0-9]+(:\$[A-Z]+\$[0-9]+)?|\$[A-Z]+:\$[A-Z]+|\$[0-9]+:\$[0-9]+")
WORKBOOK_KIND = f"{RELATIONS}/officeDocument"


def violations(path: str | Path) -> list[str]:
    """What in a workbook breaks the rules, each as `rule: part: what`; empty for a good one."""
    report = Report()
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        report.add("zip", str(path), str(error))
        return report
    with archive:
        try:
            _Package(archive, report).check()
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
            report.add("zip", str(path), str(error))
        except _NotXml:
            pass
    return report


class _NotXml(Exception):
    """A part without which nothing else can be checked is not well-formed; it was said."""


class _Package:
    def __init__(self, archive: zipfile.ZipFile, report: Report) -> None:
        self._archive, self._report = archive, report
        self._names = [info.filename for info in archive.infolist()]
        self._relations: dict[str, dict[str, tuple[str, str]]] = {}
        self._read: set[str] = set()

    def check(self) -> None:
        self._entries()
        for name in self._names:
            if name.endswith(".rels"):
                self._rels(name)
        self._content_types()
        self._reached()
        books = [target for kind, target in self._of("").values() if kind == WORKBOOK_KIND]
        if len(books) != 1 or books[0] not in self._names:
            self._report.add("required-parts", "_rels/.rels", f"workbooks: {books}")
            return
        self._workbook(books[0])
        self._properties()
        for name in self._names:  # what is left is at least XML
            if name not in self._read and name.endswith((".xml", ".rels", ".vml")):
                self._tree(name)

    # The package

    def _entries(self) -> None:
        for name, times in Counter(name.casefold() for name in self._names).items():
            if times > 1:
                self._report.add("zip-names", name, f"{times} times")
        for info in self._archive.infolist():
            name = info.filename
            if (
                name.startswith("/")
                or "\\" in name
                or "//" in name
                or not name.isascii()
                or ".." in name
            ):
                self._report.add("zip-names", name, "is no name of a part")
            if info.flag_bits & 1 or info.compress_type not in (
                zipfile.ZIP_STORED,
                zipfile.ZIP_DEFLATED,
            ):
                self._report.add("zip", name, "encrypted, or compressed otherwise than by deflate")

    def _tree(self, name: str) -> Any:
        self._read.add(name)
        data = self._archive.read(name)
        self._declared(name, data[:4096])
        try:
            return ElementTree.fromstring(data)
        except ElementTree.ParseError as error:
            self._report.add("xml", name, str(error))
            raise _NotXml from None

    def _declared(self, name: str, start: bytes) -> None:
        if b"<!DOCTYPE" in start:
            self._report.add("dtd", name, "<!DOCTYPE")
        said = re.search(rb'encoding=["\']([^"\']+)', start[:200])
        if start[:2] in (b"\xff\xfe", b"\xfe\xff") or (said and said[1].lower() != b"utf-8"):
            self._report.add("xml", name, "is not in UTF-8")

    def _rels(self, name: str) -> None:
        folder, _, file = name.rpartition("_rels/")
        source = folder + file.removesuffix(".rels")
        found: dict[str, tuple[str, str]] = {}
        for relation in self._tree(name).iter(_RELS + "Relationship"):
            key, target = relation.get("Id", ""), relation.get("Target", "")
            if key in found or not re.fullmatch(r"[^\W\d][\w.-]*", key):
                self._report.add("relationships", name, f"id {key!r} twice, or no id")
            kind = relation.get("Type", "")
            if relation.get("TargetMode", "Internal") != "Internal":
                self._report.add("external", name, target)
                found[key] = kind, ""
                continue
            whole = target[1:] if target[:1] == "/" else posixpath.join(folder, target)
            part = unquote(posixpath.normpath(whole))
            if part not in self._names:
                self._report.add("relationships", name, f"{key} goes to {target}")
            found[key] = kind, part
        if source and source not in self._names:
            self._report.add("relationships", name, f"there is no {source}")
        self._relations[source] = found

    def _of(self, part: str) -> dict[str, tuple[str, str]]:
        return self._relations.get(part, {})

    def _content_types(self) -> None:
        name = "[Content_Types].xml"
        if name not in self._names:
            self._report.add("content-types", name, "is not there")
            return
        defaults: dict[str, str] = {}
        overrides: dict[str, str] = {}
        for element in self._tree(name):
            given, key = (
                (defaults, "Extension")
                if element.tag == _TYPES + "Default"
                else (overrides, "PartName")
            )
            what = element.get(key, "").casefold()
            if what in given:
                self._report.add("content-overrides", name, f"{what} twice")
            given[what] = element.get("ContentType", "")
        folded = {f"/{part}".casefold() for part in self._names}
        for part in overrides.keys() - folded:
            self._report.add("content-overrides", name, f"{part} is not there")
        self._types = {}
        for part in self._names:
            ending = part.rpartition(".")[2].casefold()
            kind = overrides.get(f"/{part}".casefold()) or defaults.get(ending)
            if kind is None and part != name:
                self._report.add("content-types", name, f"none for {part}")
            self._types[part] = kind or ""
        for relations in self._relations.values():
            for kind, part in relations.values():
                wanted = CONTENT.get(kind.rpartition("/")[2])
                if wanted and part and self._types.get(part, wanted[0]) not in wanted:
                    self._report.add("content-type-right", part, self._types[part])

    def _reached(self) -> None:
        reached = {part for relations in self._relations.values() for _, part in relations.values()}
        for part in self._names:
            if part not in reached and not part.endswith((".rels", "/")) and part[0] != "[":
                self._report.add("orphans", part, "nothing refers to it")

    def _properties(self) -> None:
        for kind, part in self._of("").values():
            if part not in self._names:
                continue
            if kind.endswith("/core-properties"):
                elements = list(self._tree(part))
                for tag, times in Counter(element.tag for element in elements).items():
                    if times > 1:
                        self._report.add("core-properties", part, f"{tag} {times} times")
                for element in elements:
                    if element.tag.endswith(("}created", "}modified")):
                        typed = element.get("{http://www.w3.org/2001/XMLSchema-instance}type")
                        if typed != "dcterms:W3CDTF" or not _DATE.fullmatch(element.text or ""):
                            self._report.add("core-properties", part, f"{element.text} is {typed}")
            elif kind.endswith("/extended-properties"):
                for element in self._tree(part):
                    text = element.text or ""
                    if element.tag.endswith("}AppVersion") and not re.fullmatch(
                        r"\d{1,2}\.\d{1,4}", text
                    ):
                        self._report.add("app-version", part, text)

    # The workbook

    def _workbook(self, part: str) -> None:
        report, root = self._report, self._tree(part)
        for kind, what in misplaced("workbook", root):
            report.add(f"workbook-{kind}", part, what)
        if root.tag != _N + "workbook":
            report.add("workbook-order", part, f"it begins with {root.tag}")
            return
        sheets = list(root.iterfind(f"{_N}sheets/{_N}sheet"))
        names = [sheet.get("name", "") for sheet in sheets]
        parts = self._sheets(part, sheets)
        _sheet_names(report, part, names)
        shown = [sheet.get("state", "visible") == "visible" for sheet in sheets]
        views = list(root.iterfind(f"{_N}bookViews/{_N}workbookView"))
        active = whole(views[0].get("activeTab", "0")) if views else 0
        if not any(shown):
            report.add("sheet-visible", part, "all sheets are hidden")
        firsts = [whole(view.get(key, "0")) for view in views for key in ("activeTab", "firstSheet")]
        if max(firsts, default=0) >= len(sheets) or not shown[active]:
            report.add("active-tab", part, f"{firsts} of {len(sheets)} sheets")
        defined = list(root.iterfind(f"{_N}definedNames/{_N}definedName"))
        folded = {name.get("name", "").casefold() for name in defined}
        known = Names({name.casefold() for name in names}, folded)
        _defined_names(report, part, defined, names, known)
        by_kind = {kind.rpartition("/")[2]: target for kind, target in self._of(part).values()}
        if by_kind.get("styles") not in self._names:
            report.add("required-parts", part, "no styles")
            return
        formats, differentials = check_styles(report, by_kind["styles"], self._tree(by_kind["styles"]))
        book = Book(
            names, active, len(views), known, formats, differentials,
            self._strings(by_kind.get("sharedStrings")), self._metadata(by_kind.get("sheetMetadata")),
        )  # fmt: skip
        cached = self._drawings(parts, known)
        for one in cached:
            book.wanted.setdefault(one.sheet, set()).update(one.cells)
        for number, sheet in enumerate(parts):
            if sheet not in self._names or sheet in parts[:number]:
                continue
            self._read.add(sheet)
            with self._archive.open(sheet) as stream:
                self._declared(sheet, stream.peek(4096)[:4096])
                kinds = {key: kind for key, (kind, _) in self._of(sheet).items()}
                try:
                    check_sheet(report, sheet, stream, book, number, kinds)
                except ElementTree.ParseError as error:
                    report.add("xml", sheet, str(error))
        for one in cached:
            compare(report, one, book.values)

    def _sheets(self, part: str, sheets: list[Any]) -> list[str]:
        ids: set[int] = set()
        parts: list[str] = []
        for sheet in sheets:
            number = whole(sheet.get("sheetId", "0"))
            if number in ids or not 1 <= number <= 65534:
                self._report.add("sheet-ids", part, f"{sheet.get('name')}: {number}")
            ids.add(number)
            kind, target = self._of(part).get(sheet.get(_RID, ""), ("", ""))
            if kind.rpartition("/")[2] != "worksheet" or target in parts:
                self._report.add("sheet-parts", part, f"{sheet.get('name')}: {kind} {target}")
            parts.append(target)
        if not sheets:
            self._report.add("required-parts", part, "no sheets")
        return parts

    def _strings(self, part: str | None) -> list[str] | None:
        if part not in self._names:
            return None
        return ["".join(t.text or "" for t in si.iter(_N + "t")) for si in self._tree(str(part))]

    def _metadata(self, part: str | None) -> tuple[int, int]:
        if part not in self._names:
            return 0, 0
        root = self._tree(str(part))
        cells, values = (
            len(list(root.iterfind(f"{_N}{n}/*"))) for n in ("cellMetadata", "valueMetadata")
        )
        return cells, values

    def _drawings(self, sheets: list[str], known: Names) -> list[Cached]:
        found: list[Cached] = []
        charts: dict[str, str] = {}
        for sheet in sheets:
            for kind, part in self._of(sheet).values():
                if kind.rpartition("/")[2] == "drawing" and part in self._names:
                    kinds = {key: f"{kind} {target}" for key, (kind, target) in self._of(part).items()}
                    check_drawing(self._report, part, self._tree(part), charts, kinds)
        for chart in charts:
            if chart in self._names:
                found += check_chart(self._report, chart, self._tree(chart), known)
        return found


def _sheet_names(report: Report, part: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not 1 <= units(name) <= 31:
            report.add("sheet-name-length", part, repr(name))
        if re.search(r"[\[\]:*?/\\\x00-\x1f]", name):
            report.add("sheet-name-letters", part, repr(name))
        if name[:1] == "'" or name[-1:] == "'":
            report.add("sheet-name-apostrophe", part, repr(name))
        if name.casefold() == "history":
            report.add("sheet-name-history", part, repr(name))
        if name.casefold() in seen or name.upper().casefold() in seen:
            report.add("sheet-name-unique", part, repr(name))
        seen |= {name.casefold(), name.upper().casefold()}


def _defined_names(
    report: Report, part: str, defined: list[Any], sheets: list[str], known: Names
) -> None:
    seen: set[tuple[str, str | None]] = set()
    for element in defined:
        name, scope, formula = element.get("name", ""), element.get("localSheetId"), element.text or ""
        own = name.casefold().startswith("_xlnm.")
        if (own and name.casefold() not in _RESERVED) or (
            not own and name.casefold().startswith("_xl")
        ):
            report.add("name-reserved", part, name)
        if not _NAME.fullmatch(name):
            report.add("name-syntax", part, repr(name))
        if not 1 <= units(name) <= 255:
            report.add("name-length", part, f"{units(name)} characters")
        if _like_cell(name):
            report.add("name-cell", part, name)
        if (name.casefold(), scope) in seen:
            report.add("name-unique", part, name)
        seen.add((name.casefold(), scope))
        if scope is not None and not (scope.isdigit() and int(scope) < len(sheets)):
            report.add("name-scope", part, f"{name}: sheet {scope} of {len(sheets)}")
            continue
        if own and scope is not None:
            _print_ranges(report, part, name, formula, sheets[int(scope)])
        else:
            known.check(formula, lambda rule, what: report.add("name-formula", part, f"{rule}: {what}"))


def _like_cell(name: str) -> bool:
    if _R1C1.fullmatch(name) or name.upper() in ("TRUE", "FALSE"):
        return True
    if not re.fullmatch("[A-Za-z]{1,3}[0-9]+", name):
        return False
    row, column = split_address(name)
    return 1 <= row <= 1_048_576 and column <= 16_384


def _print_ranges(report: Report, part: str, name: str, formula: str, sheet: str) -> None:
    for one in re.findall(r"(?:'(?:[^']|'')*'|[^',])+", formula):
        place, _, cells = one.rpartition("!")
        spelled = place[1:-1].replace("''", "'") if place[:1] == "'" else place
        if spelled != sheet or not _PRINT.fullmatch(cells):
            report.add("name-print", part, f"{name} of {sheet!r} is {formula}")


if __name__ == "__main__":
    for file in sys.argv[1:]:
        print(file, *violations(file), sep="\n  ")
