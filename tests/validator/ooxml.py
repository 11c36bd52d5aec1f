"""Whether Excel would open a workbook without "We found a problem with some content": `violations`.

These are the rules that a schema does not know: limits, and what one part says of another. Microsoft's
SDK checks the order and the types of elements (tests/workbook/test_sdk.py). Sources: ECMA-376 parts 1
and 2; [MS-OI29500]; Microsoft's "Excel specifications and limits".
"""

from __future__ import annotations

import io
import posixpath
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ooxml_formulas import MAX_COLUMNS, MAX_ROWS, Names, area, inside, split_address, units

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#SPILL!", "#CALC!")
_NAME = re.compile(r"[^\W\d][\w.?\\]*|\\[\w.?\\]*")
_R1C1 = re.compile(r"[Rr]([0-9]*[Cc])?[0-9]*|[Cc][0-9]*")
_RESERVED = ("_xlnm.print_area", "_xlnm.print_titles", "_xlnm._filterdatabase")
_BRACKETS = re.compile(
    r"\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?[0-9]{1,2}"
    r"|(?:<=|>=|<>|<|>|=)-?[0-9]+(?:\.[0-9]+)?(?:E[+-]?[0-9]+)?|\$[^\]]*|h+|m+|s+|DBNum[1-4])\]",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?:General|[0#?.,%/:@$()+\-!^&'~{}<>= ]|E[+-]|[ymdhsYMDHS]+|AM/PM|A/P|[_*\\].)+")
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([Ee][-+]?[0-9]{1,3})?")

Area = tuple[int, int, int, int]


class Report(list[str]):
    """What was found: `rule: where: what`."""

    def add(self, rule: str, where: str, what: object) -> None:
        if len(self) < 200:  # a broken workbook needs no longer list
            self.append(f"{rule}: {where}: {what}")


def violations(path: str | Path) -> Report:
    """What in a workbook breaks the rules, each as `rule: part: what`; empty for a good one."""
    report = Report()
    try:
        with zipfile.ZipFile(path) as archive:
            _Package(archive, report).check()
    except (
        OSError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
    ) as error:
        report.add("zip", str(path), error)
    except ElementTree.ParseError as error:
        report.add("xml", str(path), error)
    except LookupError as error:
        report.add("required-parts", str(path), error)
    return report


class _Package:
    def __init__(self, archive: zipfile.ZipFile, report: Report) -> None:
        self.archive, self.report = archive, report
        self.names = [info.filename for info in archive.infolist()]
        self.values: dict[tuple[str, str], str] = {}
        self.trees: dict[str, Any] = {}

    def tree(self, part: str) -> Any:
        if part not in self.trees:
            self.trees[part] = ElementTree.fromstring(self.bytes(part))
        return self.trees[part]

    def bytes(self, part: str) -> bytes:
        data = self.archive.read(part)
        if b"<!DOCTYPE" in data[:4096]:
            self.report.add("dtd", part, "<!DOCTYPE")
        return data

    def check(self) -> None:
        add = self.report.add
        if len({name.casefold() for name in self.names}) < len(self.names):
            add("zip-names", "package", "a name twice")
        if any(info.compress_type not in (0, 8) for info in self.archive.infolist()):
            add("zip", "package", "compressed otherwise than by deflate")
        self.relations = {
            rels.replace("_rels/", "").removesuffix(".rels"): self._related(rels)
            for rels in self.names
            if rels.endswith(".rels")
        }
        reached = {target for found in self.relations.values() for _, target in found.values()}
        types = self.tree("[Content_Types].xml")
        typed = {element.get("Extension", element.get("PartName", "")).casefold() for element in types}
        if len(typed) < len(types) or {t for t in typed if t[:1] == "/"} - {
            f"/{name}".casefold() for name in self.names
        }:
            add("content-overrides", "[Content_Types].xml", "twice, or of no part")
        for name in self.names:
            if (
                name[0] != "["
                and not {f"/{name}".casefold(), name.rpartition(".")[2].casefold()} & typed
            ):
                add("content-types", name, "has none")
            if name not in reached and name[0] != "[" and not name.endswith((".rels", "/")):
                add("orphans", name, "nothing refers to it")
        (book,) = self.targets("", "officeDocument") or [""]
        self._workbook(book)
        for name in self.names:
            if name.endswith(".xml") and "/worksheets/" not in name:
                self.tree(name)

    def _related(self, rels: str) -> dict[str, tuple[str, str]]:
        folder, found = rels.rpartition("_rels/")[0], {}
        for relation in self.tree(rels):
            target, kind = relation.get("Target"), relation.get("Type").rpartition("/")[2]
            part = (
                target[1:] if target[0] == "/" else posixpath.normpath(posixpath.join(folder, target))
            )
            if relation.get("TargetMode") == "External":
                self.report.add("external", rels, target)
            elif part not in self.names or relation.get("Id") in found:
                self.report.add("relationships", rels, f"{relation.get('Id')} goes to {target}")
            found[relation.get("Id")] = kind, part
        return found

    def targets(self, part: str, kind: str) -> list[str]:
        return [target for one, target in self.relations.get(part, {}).values() if one == kind]

    # The workbook

    def _workbook(self, part: str) -> None:
        def add(rule: str, what: object) -> None:
            self.report.add(rule, part, what)

        root = self.tree(part)
        sheets = list(root.iterfind(f"{_MAIN}sheets/*"))
        names = [sheet.get("name") for sheet in sheets]
        for name in names:
            bad = re.search(r"[\[\]:*?/\\\x00-\x1f]", name) or name.strip("'") != name
            if bad or not 1 <= units(name) <= 31 or name.casefold() == "history":
                add("sheet-names", repr(name))
        if len({name.upper().casefold() for name in names}) < len(names):
            add("sheet-names", "one of them twice")
        if len({sheet.get("sheetId") for sheet in sheets}) < len(sheets):
            add("sheet-ids", "one of them twice")
        parts = [self.relations[part].get(sheet.get(_ID), ("", ""))[1] for sheet in sheets]
        if len(set(parts) & set(self.targets(part, "worksheet"))) < len(sheets):
            add("sheet-parts", parts)
        view = root.find(f"{_MAIN}bookViews/{_MAIN}workbookView")
        active = int(view.get("activeTab", "0")) if view is not None else 0
        if active >= len(sheets) or sheets[active].get("state", "visible") != "visible":
            add("active-tab", f"{active} of {len(sheets)} sheets")
        defined = list(root.iterfind(f"{_MAIN}definedNames/*"))
        self.known = Names(
            {name.casefold() for name in names}, {name.get("name").casefold() for name in defined}
        )
        self._defined(part, defined, names)
        (styles,) = self.targets(part, "styles") or [""]
        self.formats, self.differentials = _styles(self.report, styles, self.tree(styles))
        strings = self.targets(part, "sharedStrings")
        self.strings = [
            "".join(text.text or "" for text in item.iter(_MAIN + "t"))
            for item in (self.tree(strings[0]) if strings else ())
        ]
        for number, (name, sheet) in enumerate(zip(names, parts)):
            if sheet in self.names:
                _Sheet(self, sheet, name, number == active).check()
        for sheet in parts:
            for drawing in self.targets(sheet, "drawing"):
                for chart in self.targets(drawing, "chart"):
                    self._chart(chart)

    def _defined(self, part: str, defined: list[Any], sheets: list[str]) -> None:
        seen: set[tuple[str, str | None]] = set()
        for element in defined:
            name, scope, formula = element.get("name"), element.get("localSheetId"), element.text or ""
            own = name.casefold() in _RESERVED
            if not own and (not _NAME.fullmatch(name) or name.casefold().startswith("_xl")):
                self.report.add("names", part, repr(name))
            if units(name) > 255 or _like_cell(name) or (name.casefold(), scope) in seen:
                self.report.add("names", part, repr(name))
            seen.add((name.casefold(), scope))
            if scope is not None and int(scope) >= len(sheets):
                self.report.add("names", part, f"{name}: sheet {scope} of {len(sheets)}")
            elif own:
                for one in re.findall(r"(?:[^,']|'(?:[^']|'')*')+", formula):
                    sheet, _, cells = one.rpartition("!")
                    sheet = sheet[1:-1].replace("''", "'") if sheet[:1] == "'" else sheet
                    ranges = r"\$[A-Z]+\$[0-9]+(:\$[A-Z]+\$[0-9]+)?|\$[A-Z]+:\$[A-Z]+|\$[0-9]+:\$[0-9]+"
                    if sheet != sheets[int(scope)] or not re.fullmatch(ranges, cells):
                        self.report.add("names", part, f"{name}: {formula}")
            else:
                self.known.check(formula, lambda rule, what: self.report.add("names", part, what))

    # Charts

    def _chart(self, part: str) -> None:
        """What a chart stores of its ranges is what their cells hold."""
        for holder in self.tree(part).iter():
            if holder.tag not in (_CHART + "numRef", _CHART + "strRef"):
                continue
            formula = holder.findtext(_CHART + "f") or ""
            self.known.check(
                formula, lambda rule, what: self.report.add("chart-references", part, what)
            )
            sheet, _, cells = formula.rpartition("!")
            sheet = sheet[1:-1].replace("''", "'") if sheet[:1] == "'" else sheet
            r1, c1, r2, c2 = area(cells.replace("$", ""))
            places = [(r, c) for r in range(r1, r2 + 1) for c in range(c1, c2 + 1)]
            cache = next((child for child in holder if child.tag.endswith("Cache")), None)
            if cache is None:
                continue
            count = cache.find(_CHART + "ptCount")
            stored = {
                int(point.get("idx")): point.findtext(_CHART + "v")
                for point in cache.iter(_CHART + "pt")
            }
            if (
                count is None
                or count.get("val") != str(len(places))
                or max(stored, default=0) >= len(places)
            ):
                self.report.add("chart-values", part, f"{formula}: ptCount is not {len(places)}")
            for index, (row, column) in enumerate(places):
                here = self.values.get((sheet, f"{_letters(column)}{row}"), "")
                there = stored.get(index, "") or ""
                same = _decoded(here) in (there, _decoded(there))
                if not same and not (
                    here and is_number(here) and is_number(there) and float(here) == float(there)
                ):
                    self.report.add("chart-values", part, f"{formula}: {here!r}, stored {there!r}")


def _like_cell(name: str) -> bool:
    if _R1C1.fullmatch(name) or name.upper() in ("TRUE", "FALSE"):
        return True
    return bool(re.fullmatch("[A-Za-z]{1,3}[0-9]+", name)) and inside(name)


def _letters(column: int) -> str:
    text = ""
    while column:
        column, digit = divmod(column - 1, 26)
        text = chr(65 + digit) + text
    return text


def _decoded(text: str) -> str:
    """A text with the letters that are written as codes: `_x0041_` (ST_Xstring)."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda code: chr(int(code[1], 16)), text)


def is_number(text: str) -> bool:
    """Whether a text is a finite number as XML Schema's double has it."""
    return bool(_NUMBER.fullmatch(text)) and abs(float(text)) < float("inf")


# The styles


def _styles(report: Report, part: str, root: Any) -> tuple[int, int]:
    """Check the styles; how many cell formats and differential formats there are."""
    groups = {child.tag.removeprefix(_MAIN): child for child in root}
    sizes = {name: len(group) for name, group in groups.items()}
    for name, most in (("cellXfs", 65430), ("fonts", 512), ("numFmts", 250)):
        if sizes.get(name, 0) > most:
            report.add("style-limits", part, f"{sizes[name]} in <{name}>")
    for name, group in groups.items():
        if group.get("count") not in (None, str(len(group))):
            report.add("style-counts", part, f"{len(group)} in <{name}>, counted {group.get('count')}")
    formats = [int(one.get("numFmtId")) for one in groups.get("numFmts", ())]
    if len(set(formats)) < len(formats) or min(formats, default=164) < 164:
        report.add("number-formats", part, f"ids {formats}")
    for one in groups.get("numFmts", ()):
        wrong = wrong_number_format(one.get("formatCode"))
        if wrong:
            report.add("number-formats", part, f"{one.get('formatCode')}: {wrong}")
    counted = {"fontId": "fonts", "fillId": "fills", "borderId": "borders", "xfId": "cellStyleXfs"}
    for xf in groups["cellXfs"]:
        number = int(xf.get("numFmtId", "0"))
        if any(int(xf.get(key, "0")) >= sizes.get(group, 0) for key, group in counted.items()) or (
            number >= 164 and number not in formats
        ):
            report.add("style-indices", part, xf.attrib)
    for font in root.iter(_MAIN + "font"):
        size = font.find(_MAIN + "sz")
        if size is not None and not 1 <= float(size.get("val")) <= 409:
            report.add("fonts", part, f"size {size.get('val')}")
    names = [style.get("name", "").casefold() for style in groups.get("cellStyles", ())]
    if len(set(names)) < len(names) or any(not 1 <= units(name) <= 255 for name in names):
        report.add("cell-style-names", part, names)
    return sizes["cellXfs"], sizes.get("dxfs", 0)


def wrong_number_format(code: str) -> str:
    """What is wrong with the code of a number format; "" for nothing."""
    if not 1 <= units(code) <= 255:
        return f"{units(code)} characters"
    bare = re.sub(r'"[^"]*"', "", re.sub(r"[_*\\].", "", code))
    conditions = len(re.findall(r"\[[<>=]", bare))
    bare = _BRACKETS.sub("", bare)
    sections = bare.split(";")
    if len(sections) > 4 or conditions > 2:
        return f"{len(sections)} sections, {conditions} conditions"
    wrong = [section for section in sections if section and not _CODE.fullmatch(section)]
    return f"{wrong[0]!r}" if wrong else ""


# The sheets


class _Sheet:
    """One worksheet, read row by row, so that a large one takes little memory."""

    def __init__(self, package: _Package, part: str, name: str, active: bool) -> None:
        self.package, self.part, self.name, self.active = package, part, name, active
        self.relations = package.relations.get(part, {})
        self.arrays: list[Area] = []
        self.used = [MAX_ROWS, MAX_COLUMNS, 0, 0]

    def add(self, rule: str, what: object) -> None:
        self.package.report.add(rule, self.part, what)

    def formula(self, text: str, where: str = "") -> None:
        self.package.known.check(text, lambda rule, what: self.add(rule, f"{where} {what}"))

    def check(self) -> None:
        events = ElementTree.iterparse(io.BytesIO(self.package.bytes(self.part)))
        last = 0
        for _, element in events:
            if element.tag == _MAIN + "row":
                last = self._row(element, last)
                element.clear()
        self.root: Any = events.root  # type: ignore[attr-defined]
        self._places()
        self._views()
        self._conditional()
        self._validations()
        self._links()
        setup = self.root.find(_MAIN + "pageSetup")
        if setup is not None and not 10 <= int(setup.get("scale", "100")) <= 400:
            self.add("page-setup", setup.attrib)
        for text in self.root.iterfind(f"{_MAIN}headerFooter/*"):
            if units(text.text or "") > 255:
                self.add("header-footer", f"{units(text.text)} characters")
        for path, kind in (("drawing", "drawing"), ("legacyDrawing", "vmlDrawing")):
            for element in self.root.iterfind(_MAIN + path):
                if self.relations.get(element.get(_ID), ("",))[0] != kind:
                    self.add("sheet-relations", f"<{path}> {element.get(_ID)}")

    def _row(self, row: Any, last: int) -> int:
        number, column = int(row.get("r", "0")), 0
        if not last < number <= MAX_ROWS or not 0 <= float(row.get("ht", "15")) <= 409.5:
            self.add("rows", f"{row.attrib} after {last}")
        for cell in row:
            here = cell.get("r", "")
            place = split_address(here) if re.fullmatch("[A-Z]{1,3}[1-9][0-9]*", here) else (0, 0)
            if place[0] != number or not column < place[1] <= MAX_COLUMNS:
                self.add("cell-place", f"{here!r} in row {number} after column {column}")
            column = place[1]
            self.used = [*map(min, self.used[:2], place), *map(max, self.used[2:], place)]
            if int(cell.get("s", "0")) >= self.package.formats:
                self.add("cell-style", f"{here}: {cell.get('s')}")
            self._cell(cell, here, place)
        return number

    def _cell(self, cell: Any, here: str, place: tuple[int, int]) -> None:
        kind = cell.get("t", "n")
        formula, stored, inline = (cell.find(_MAIN + tag) for tag in ("f", "v", "is"))
        value = None if stored is None else stored.text or ""
        if formula is not None:
            if formula.get("t") == "shared":
                self.add("formula-shared", here)
            if formula.get("t") == "array":
                reference = area(formula.get("ref"))
                self.arrays.append(reference)
                if reference[:2] != place:
                    self.add("formula-array", f"{here}: {formula.get('ref')}")
            self.formula(formula.text or "", here)
        if inline is not None:
            texts = list(inline.iter(_MAIN + "t"))
            value = "".join(text.text or "" for text in texts)
            if any(
                (text.text or "").strip() != (text.text or "") and text.get(_SPACE) != "preserve"
                for text in texts
            ):
                self.add("text-space", f"{here}: {value[:40]!r}")
        right = {
            "n": value is None or is_number(value) or (value == "" and formula is not None),
            "b": value in ("0", "1"),
            "e": value in _ERRORS,
            "s": kind == "s" and int(value or 0) < len(self.package.strings),
            "str": formula is not None and value is not None,
            "inlineStr": inline is not None,
        }.get(kind, False)
        if not right or (inline is not None) != (kind == "inlineStr"):
            self.add("cell-value", f"{here}: {kind} {value!r}")
        elif value is not None:
            text = self.package.strings[int(value)] if kind == "s" else value
            plain = re.sub("_x[0-9A-Fa-f]{4}_", "x", text)
            if units(plain) > 32767 or plain.count("\n") > 253:
                self.add("cell-text", f"{here} has {units(plain)} characters")
            self.package.values[self.name, here] = text

    def _places(self) -> None:
        found = self.root.find(_MAIN + "dimension")
        r1, c1, r2, c2 = area(found.get("ref")) if found is not None else (1, 1, MAX_ROWS, MAX_COLUMNS)
        top, left, bottom, right = self.used
        if bottom and (r1 > top or c1 > left or r2 < bottom or c2 < right):
            self.add("dimension", f"{(r1, c1, r2, c2)}, but there are cells {self.used}")
        last = 0
        for col in self.root.iterfind(f"{_MAIN}cols/*"):
            first, end = int(col.get("min")), int(col.get("max"))
            if not last < first <= end <= MAX_COLUMNS or not 0 <= float(col.get("width", "8")) <= 255:
                self.add("columns", f"{col.attrib} after {last}")
            last = end
        merged = [area(merge.get("ref")) for merge in self.root.iterfind(f"{_MAIN}mergeCells/*")]
        if any(place[:2] == place[2:] for place in merged):
            self.add("merges", "a single cell")
        for pair in _clashes(merged):
            self.add("merges", pair)
        for pair in _clashes([*merged, *self.arrays]):
            if set(pair) & set(self.arrays):
                self.add("formula-array", pair)

    def _views(self) -> None:
        for view in self.root.iterfind(f"{_MAIN}sheetViews/*"):
            if not 10 <= int(view.get("zoomScale", "100")) <= 400:
                self.add("views", f"zoom {view.get('zoomScale')}")
            if view.get("tabSelected") in ("1", "true") and not self.active:
                self.add("views", "selected, but not active")
            pane = view.find(_MAIN + "pane")
            if pane is None:
                continue
            x, y = (float(pane.get(key, "0")) for key in ("xSplit", "ySplit"))
            row, column = split_address(pane.get("topLeftCell", "A1"))
            there = {"bottomRight" if x and y else "topRight" if x else "bottomLeft"}
            if pane.get("activePane") not in there or row <= y or column <= x:
                self.add("views", pane.attrib)

    def _conditional(self) -> None:
        priorities: set[str] = set()
        for rule in self.root.iterfind(f"{_MAIN}conditionalFormatting/{_MAIN}cfRule"):
            formulas = [element.text or "" for element in rule.iterfind(_MAIN + "formula")]
            scale, priority = rule.find(_MAIN + "colorScale"), rule.get("priority", "0")
            if (rule.get("type") in ("expression", "cellIs")) > bool(formulas) or (
                scale is not None
                and len({len(scale.findall(_MAIN + name)) for name in ("cfvo", "color")}) > 1
            ):
                self.add("conditional", rule.attrib)
            if priority == "0" or priority in priorities:
                self.add("conditional", f"priority {priority}")
            priorities.add(priority)
            if int(rule.get("dxfId", "0")) >= max(1, self.package.differentials):
                self.add("conditional", f"dxf {rule.get('dxfId')} of {self.package.differentials}")
            for formula in formulas:
                self.formula(formula)

    def _validations(self) -> None:
        places: list[Area] = []
        for one in self.root.iterfind(f"{_MAIN}dataValidations/*"):
            for key, most in (("promptTitle", 32), ("errorTitle", 32), ("prompt", 255), ("error", 224)):
                if units(one.get(key, "")) > most:
                    self.add("validations", f"{key} has {units(one.get(key))} characters")
            formulas = [element.text or "" for element in one]
            if one.get("type", "none") != "none" and not formulas:
                self.add("validations", f"{one.attrib} without a formula")
            for formula in formulas:
                if formula[:1] != '"':
                    self.formula(formula)
                elif not 3 <= units(formula) <= 257:
                    self.add("validations", formula)
            places += map(area, one.get("sqref").split())
        for pair in _clashes(places):
            self.add("validations", pair)

    def _links(self) -> None:
        links = list(self.root.iterfind(f"{_MAIN}hyperlinks/*"))
        if len(links) > 65530 or len({link.get("ref") for link in links}) < len(links):
            self.add("hyperlinks", f"{len(links)} links, or two in one cell")
        for link in links:
            location = link.get("location", "")
            _, mark, cell = location.rpartition("!")
            if any(units(link.get(key, "")) > 255 for key in ("display", "tooltip", "location")):
                self.add("hyperlinks", f"{link.get('ref')}: too long")
            if mark and not re.fullmatch(r"\$?[A-Z]+\$?[0-9]+(:\$?[A-Z]+\$?[0-9]+)?", cell):
                self.add("hyperlinks", location)
            elif location:
                self.package.known.check(location, lambda rule, what: self.add("hyperlinks", what))
            elif not link.get(_ID):
                self.add("hyperlinks", f"{link.get('ref')} goes nowhere")


def _clashes(places: list[Area]) -> Iterator[tuple[Area, Area]]:
    """Pairs that overlap, found from top to bottom."""
    above: list[Area] = []
    for place in sorted(places):
        above = [other for other in above if other[2] >= place[0]]
        for other in above:
            if place[1] <= other[3] and other[1] <= place[3]:
                yield other, place
        above.append(place)


if __name__ == "__main__":
    wrong = {path: found for path in sys.argv[1:] if (found := violations(path))}
    for path, found in wrong.items():
        print(path, *found, sep="\n  ")
    sys.exit(bool(wrong))
