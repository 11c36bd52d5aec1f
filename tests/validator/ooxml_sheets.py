"""Whether a worksheet's XML keeps the rules: row by row, so that a large one takes little memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any
from xml.etree import ElementTree

from ooxml_formulas import MAX_COLUMNS, MAX_ROWS, Names, area, inside, split_address
from ooxml_rules import Report, units
from ooxml_schema import MAIN, RELATIONS, XML, is_number, misplaced, number, whole

MOST_TEXT, MOST_BREAKS, MOST_LINKS, HIGHEST, WIDEST = 32767, 253, 65530, 409.5, 255
ERRORS = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A", "#SPILL!", "#CALC!")
_N = f"{{{MAIN}}}"
_C, _F, _V, _IS, _T, _ROW = (_N + name for name in ("c", "f", "v", "is", "t", "row"))
_RID = f"{{{RELATIONS}}}id"
_CELL = re.compile(r"([A-Z]{1,3})([1-9][0-9]*)")
_CELL_KEYS = {"r", "s", "t", "cm", "vm", "ph"}
_ROW_KEYS = {
    "r", "spans", "s", "customFormat", "ht", "hidden", "customHeight", "outlineLevel", "collapsed",
    "thickTop", "thickBot", "ph",
}  # fmt: skip
_SPACED = re.compile(r"\s|.*\s\Z", re.DOTALL)

Area = tuple[int, int, int, int]


@dataclass
class Book:
    """What a sheet's rules depend on outside of it.

    Attributes:
        sheets: the names of the sheets, in order; active: the active one's number.
        names: defined names, case-folded, and what formulas may speak of.
        formats, differentials: how many cell formats and differential formats there are.
        strings: how many shared strings; metadata: entries for cells (`cm`) and values (`vm`).
        wanted: the cells whose values are to be kept, by sheet.
        values: what they hold.
    """

    sheets: list[str]
    active: int
    views: int
    known: Names
    formats: int
    differentials: int
    strings: list[str] | None
    metadata: tuple[int, int]
    wanted: dict[str, set[str]] = field(default_factory=dict)
    values: dict[tuple[str, str], str] = field(default_factory=dict)


def check_sheet(
    report: Report, where: str, stream: IO[bytes], book: Book, place: int, relations: dict[str, str]
) -> None:
    """Check one worksheet.

    Args:
        place: its number among the sheets.
        relations: the type of each of its relationships, by id.
    """
    _Sheet(report, where, book, place, relations).check(stream)


class _Sheet:
    def __init__(
        self, report: Report, where: str, book: Book, place: int, relations: dict[str, str]
    ) -> None:
        self._report, self._where, self._book = report, where, book
        self._number, self._name, self._relations = place, book.sheets[place], relations
        self._wanted = book.wanted.get(self._name, set())
        self._last = 0
        self._used = [MAX_ROWS, MAX_COLUMNS, 0, 0]
        self._columns: dict[str, int] = {}
        self._masters: set[str] = set()
        self._arrays: list[Area] = []
        self._formulas: list[tuple[int, int]] = []

    def _add(self, rule: str, what: str) -> None:
        self._report.add(rule, self._where, what)

    def check(self, stream: IO[bytes]) -> None:
        events = ElementTree.iterparse(stream)
        for _, element in events:
            if element.tag == _ROW:
                self._row(element)
                element.clear()
        root: Any = events.root  # type: ignore[attr-defined]
        for kind, what in misplaced("worksheet", root, skip="sheetData"):
            self._add(f"worksheet-{kind}", what)
        if root.tag != _N + "worksheet":
            self._add("worksheet-order", f"it begins with {root.tag}")
            return
        self._root = root
        self._dimension()
        self._views()
        self._cols()
        merged = self._merges()
        self._array_ranges(merged)
        self._conditional()
        self._validations()
        self._links()
        self._page()
        self._related()

    def _find(self, name: str) -> Any:
        return self._root.find(_N + name)

    def _all(self, path: str) -> Iterator[Any]:
        return iter(self._root.iterfind("/".join(_N + name for name in path.split("/"))))

    # Rows and cells

    def _row(self, row: Any) -> None:
        given = row.attrib
        if not given.keys() <= _ROW_KEYS:
            extra = [key for key in given.keys() - _ROW_KEYS if key[0] != "{"]
            if extra:
                self._add("worksheet-attributes", f"<row> has {extra}")
        text = given.get("r", "")
        number = int(text) if text.isdigit() else 0
        if not self._last < number <= MAX_ROWS:
            self._add("rows", f"row {text or 'without a number'} after {self._last}")
        self._last = max(number, self._last)
        height, level = given.get("ht", "0"), given.get("outlineLevel", "0")
        if not is_number(height) or not 0 <= float(height) <= HIGHEST or level not in "01234567":
            self._add("row-height", f"row {number}: {height}, level {level}")
        self._style("row", number, given.get("s"))
        last = 0
        for cell in row:
            if cell.tag == _C:
                last = self._cell(cell, number, last)
            elif cell.tag != _N + "extLst":
                self._add("worksheet-order", f"<row> has {cell.tag}")
        if last:
            used = self._used
            used[0], used[2] = min(used[0], number), number

    def _style(self, what: str, number: object, style: str | None) -> None:
        if style is not None and not (style.isdigit() and int(style) < self._book.formats):
            self._add("cell-style", f"{what} {number}: {style} of {self._book.formats}")

    def _cell(self, cell: Any, row: int, last: int) -> int:
        given = cell.attrib
        here = given.get("r", "")
        if not given.keys() <= _CELL_KEYS:
            extra = [key for key in given.keys() - _CELL_KEYS if key[0] != "{"]
            if extra:
                self._add("worksheet-attributes", f"<c> has {extra}")
        found = _CELL.fullmatch(here)
        column = 0
        if found:
            letters = found[1]
            column = self._columns.get(letters) or split_address(letters)[1]
            self._columns[letters] = column
        if not found or int(found[2]) != row or not last < column <= MAX_COLUMNS:
            self._add("cell-place", f"{here!r} in row {row} after column {last}")
        used = self._used
        used[1], used[3] = min(used[1], column), max(used[3], column)
        self._style("cell", here, given.get("s"))
        self._content(cell, here, row, column, given.get("t", "n"))
        for key, most in (("cm", self._book.metadata[0]), ("vm", self._book.metadata[1])):
            if key in given and not (given[key].isdigit() and 1 <= int(given[key]) <= most):
                self._add("cell-metadata", f"{here}: {key} {given[key]} of {most}")
        return max(column, last)

    def _content(self, cell: Any, here: str, row: int, column: int, kind: str) -> None:
        formula = value = inline = None
        order = ""
        for child in cell:
            tag = child.tag
            if tag == _F:
                formula, order = child, order + "f"
            elif tag == _V:
                value, order = child.text or "", order + "v"
            elif tag == _IS:
                inline, order = child, order + "i"
            else:
                order += "?" if tag != _N + "extLst" else ""
        if order not in ("", "f", "v", "fv", "i"):
            self._add("cell-type", f"{here} has {[child.tag for child in cell]}")
        if formula is not None:
            self._formula(formula, here, row, column)
        if inline is not None:
            value = "".join(self._texts(inline, here))
        if (kind == "inlineStr") != (inline is not None):
            self._add("cell-type", f"{here}: {kind} {'with' if inline is not None else 'without'} <is>")
        elif kind == "n":
            if value and not is_number(value):
                self._add("cell-number", f"{here}: {value!r}")
            elif value == "" and formula is None:
                self._add("cell-type", f"{here}: an empty number")
        elif not self._of_kind(kind, value, formula is not None):
            self._add("cell-type", f"{here}: {kind} {value!r}")
        if value and len(value) > 250 and kind in ("str", "inlineStr"):
            self._text(here, value)
        if here in self._wanted and value is not None:
            shared = self._book.strings or []
            if kind == "s" and value.isdigit() and int(value) < len(shared):
                value = shared[int(value)]
            self._book.values[self._name, here] = value

    def _of_kind(self, kind: str, value: str | None, computed: bool) -> bool:
        if kind == "b":
            return value in ("0", "1")
        if kind == "e":
            return value in ERRORS
        if kind == "s":
            return bool(value) and value.isdigit() and int(value) < len(self._book.strings or ())
        if kind == "str":
            return computed and value is not None
        return kind == "inlineStr"

    def _texts(self, inline: Any, here: str) -> Iterator[str]:
        for element in inline.iter(_T):
            text = element.text or ""
            if _SPACED.match(text) and element.get(f"{{{XML}}}space") != "preserve":
                self._add("text-space", f"{here}: {text[:40]!r}")
            yield text

    def _text(self, here: str, text: str) -> None:
        plain = re.sub("_x[0-9A-Fa-f]{4}_", "x", text)
        if units(plain) > MOST_TEXT or plain.count("\n") > MOST_BREAKS:
            self._add("cell-text", f"{here} has {units(plain)} characters")

    def _formula(self, formula: Any, here: str, row: int, column: int) -> None:
        kind, text = formula.get("t", "normal"), formula.text or ""
        self._formulas.append((row, column)) if kind in ("array", "dataTable") else None
        if kind == "shared":
            index = formula.get("si", "")
            if not text and index not in self._masters:
                self._add("formula-shared", f"{here}: si {index!r}")
            self._masters.add(index)
        elif kind == "array":
            reference = formula.get("ref", "")
            if not re.fullmatch(r"[A-Z]+[0-9]+(:[A-Z]+[0-9]+)?", reference):
                self._add("formula-array", f"{here}: ref {reference!r}")
            else:
                place = area(reference)
                if place[:2] != (row, column) or not inside(reference):
                    self._add("formula-array", f"{here}: ref {reference}")
                self._arrays.append(place)
        else:
            self._formulas.append((row, column)) if self._arrays else None
            if kind != "normal":
                self._add("cell-type", f"{here}: a formula of type {kind!r}")
        if text or kind != "shared":
            self._book.known.check(text, lambda rule, what: self._add(rule, f"{here}: {what}"))

    def _array_ranges(self, merged: list[Area]) -> None:
        for i, one in enumerate(self._arrays):
            for other in [*self._arrays[:i], *merged]:
                if _overlap(one, other):
                    self._add("formula-array", f"{one} overlaps {other}")
            for row, column in self._formulas if len(self._arrays) <= 100 else ():
                if (row, column) != one[:2] and one[0] <= row <= one[2] and one[1] <= column <= one[3]:
                    self._add("formula-array", f"a formula at {row}, {column} within {one}")

    # What stands before and after them

    def _dimension(self) -> None:
        found = self._find("dimension")
        if found is None or not self._used[2]:
            return
        reference = found.get("ref", "A1")
        if not inside(reference):
            self._add("dimension", reference)
            return
        r1, c1, r2, c2 = area(reference)
        top, left, bottom, right = self._used
        if r1 > top or c1 > left or r2 < bottom or c2 < right:
            self._add("dimension", f"{reference}, but there are cells {self._used}")

    def _views(self) -> None:
        for view in self._all("sheetViews/sheetView"):
            zoom, which = view.get("zoomScale", "100"), view.get("workbookViewId", "0")
            if not (zoom.isdigit() and 10 <= int(zoom) <= 400 and which.isdigit()):
                self._add("zoom", zoom)
            elif int(which) >= max(1, self._book.views):
                self._add("zoom", f"view {which} of {self._book.views}")
            if view.get("tabSelected", "0") in ("1", "true") and self._number != self._book.active:
                self._add("tab-selected", self._name)
            pane = view.find(_N + "pane")
            chosen = [s.get("pane", "topLeft") for s in view.iterfind(_N + "selection")]
            there = {"topLeft"}
            if pane is not None:
                there = self._pane(pane)
            if len(set(chosen)) < len(chosen) or not set(chosen) <= there:
                self._add("panes", f"selections of {chosen}")

    def _pane(self, pane: Any) -> set[str]:
        x, y = (number(pane.get(key, "0")) for key in ("xSplit", "ySplit"))
        there = {"topLeft"} | ({"topRight"} if x else set()) | ({"bottomLeft"} if y else set())
        there |= {"bottomRight"} if x and y else set()
        active = pane.get("activePane", "topLeft")
        if active not in there:
            self._add("panes", f"active is {active}, but there are {sorted(there)}")
        if pane.get("state") == "frozen":
            row, column = split_address(pane.get("topLeftCell", "A1"))
            whole = x == int(x) and y == int(y)
            if not whole or not (x or y) or row <= y or column <= x:
                self._add(
                    "panes",
                    f"{x:g} and {y:g} frozen, but the rest begins at row {row}, column {column}",
                )
        return there

    def _cols(self) -> None:
        last = 0
        for col in self._all("cols/col"):
            first, end = whole(col.get("min", "0")), whole(col.get("max", "0"))
            if not last < first <= end <= MAX_COLUMNS:
                self._add("columns", f"{first} to {end} after {last}")
            last = max(last, end)
            width, level = col.get("width", "0"), col.get("outlineLevel", "0")
            if not is_number(width) or not 0 <= float(width) <= WIDEST or whole(level) > 7:
                self._add("column-width", f"column {first}: {width}, level {level}")
            self._style("column", first, col.get("style"))

    def _merges(self) -> list[Area]:
        found = self._find("mergeCells")
        if found is None:
            return []
        places = [area(merge.get("ref", "A1")) for merge in found]
        if found.get("count") not in (None, str(len(places))):
            self._add("merges", f"{len(places)}, counted {found.get('count')}")
        for place in places:
            if place[:2] == place[2:]:
                self._add("merges", f"one cell: {place}")
        for one, other in _clashes(places):
            self._add("merges", f"{one} overlaps {other}")
        return places

    def _conditional(self) -> None:
        priorities: set[int] = set()
        for rule in self._all("conditionalFormatting/cfRule"):
            kind = rule.get("type", "")
            formulas = [element.text or "" for element in rule.iterfind(_N + "formula")]
            scale = rule.find(_N + "colorScale")
            needs = {"expression": 1, "cellIs": 1}.get(kind, 0)
            if rule.get("operator") in ("between", "notBetween"):
                needs = 2
            if len(formulas) < needs or (kind == "colorScale") != (scale is not None):
                self._add("conditional", f"{kind} with {len(formulas)} formulas")
            if scale is not None:
                values, colours = (len(scale.findall(_N + name)) for name in ("cfvo", "color"))
                if values != colours or not 2 <= values <= 3:
                    self._add("conditional", f"{values} values, {colours} colours")
                for value in scale.iterfind(_N + "cfvo"):
                    if value.get("type") not in ("min", "max") and not value.get("val"):
                        self._add("conditional", f"a value of type {value.get('type')} without val")
            priority = whole(rule.get("priority", "0"))
            if priority < 1 or priority in priorities:
                self._add("conditional-priority", str(priority))
            priorities.add(priority)
            dxf = rule.get("dxfId")
            if dxf is not None and whole(dxf) >= self._book.differentials:
                self._add("conditional-dxf", f"{dxf} of {self._book.differentials}")
            self._check_all(formulas)

    def _check_all(self, formulas: Iterable[str]) -> None:
        for formula in formulas:
            self._book.known.check(formula, self._add)

    def _validations(self) -> None:
        found = self._find("dataValidations")
        if found is None:
            return
        if found.get("count") not in (None, str(len(found))):
            self._add("validation-count", f"{len(found)}, counted {found.get('count')}")
        places: list[Area] = []
        for one in found:
            for key, most in (("promptTitle", 32), ("errorTitle", 32), ("prompt", 255), ("error", 224)):
                if units(one.get(key, "")) > most:
                    self._add("validation-text", f"{key} has {units(one.get(key, ''))} characters")
            formulas = [element.text or "" for element in one]
            if one.get("type", "none") != "none" and not formulas:
                self._add("validation-list", f"{one.get('sqref')}: {one.get('type')} without a formula")
            for formula in formulas:
                if one.get("type") == "list" and formula[:1] == '"':
                    if units(formula) > 257 or not formula.strip('"'):
                        self._add("validation-list", f"{one.get('sqref')}: {formula[:40]}")
                    self._book.known.check(formula[:256] + '"' * (len(formula) > 256), self._add)
                else:
                    self._book.known.check(formula.removeprefix("=") or formula, self._add)
                    if formula.startswith("="):
                        self._add("formula-syntax", f"{one.get('sqref')}: {formula[:40]} begins with =")
            places += map(area, one.get("sqref", "A1").split())
        for first, second in _clashes(places):
            self._add("validation-overlap", f"{first} and {second}")

    def _links(self) -> None:
        links = list(self._all("hyperlinks/hyperlink"))
        if len(links) > MOST_LINKS:
            self._add("hyperlink-limits", f"{len(links)} links")
        seen: set[str] = set()
        for link in links:
            reference, location = link.get("ref", ""), link.get("location")
            if reference in seen:
                self._add("hyperlink-limits", f"two at {reference}")
            seen.add(reference)
            for key in ("display", "tooltip", "location"):
                if units(link.get(key, "")) > 255:
                    self._add("hyperlink-limits", f"{reference}: {key} of {units(link.get(key, ''))}")
            if location is not None:
                self._location(reference, location)
            elif not link.get(_RID):
                self._add("hyperlinks", f"{reference} goes nowhere")

    def _location(self, reference: str, location: str) -> None:
        sheet, mark, cell = location.rpartition("!")
        if not mark:
            if cell.casefold() not in self._book.known.names:
                self._add("hyperlinks", f"{reference} goes to {location}")
            return
        self._book.known.check(location, self._add)
        if (
            not re.fullmatch(r"\$?[A-Z]+\$?[0-9]+(:\$?[A-Z]+\$?[0-9]+)?", cell)
            or not inside(cell)
            or sheet.strip("'").replace("''", "'").casefold() not in self._book.known.sheets
        ):
            self._add("hyperlinks", f"{reference} goes to {location}")

    def _page(self) -> None:
        setup, margins, texts = map(self._find, ("pageSetup", "pageMargins", "headerFooter"))
        if setup is not None:
            scale = whole(setup.get("scale", "100"))
            pages = [whole(setup.get(key, "1")) for key in ("fitToWidth", "fitToHeight")]
            if not 10 <= scale <= 400 or max(pages) > 32767:
                self._add("page-setup", f"scale {scale}, pages {pages}")
        for key, margin in margins.attrib.items() if margins is not None else ():
            if not 0 <= number(margin) < 49:
                self._add("page-setup", f"{key} {margin}")
        for text in texts if texts is not None else ():
            if units(text.text or "") > 255:
                self._add("header-footer", f"{units(text.text)} characters")

    def _related(self) -> None:
        for path, kind in (
            ("drawing", "drawing"),
            ("legacyDrawing", "vmlDrawing"),
            ("tableParts/tablePart", "table"),
            ("hyperlinks/hyperlink", "hyperlink"),
        ):
            for element in self._all(path):
                which = element.get(_RID)
                if which is not None and self._relations.get(which, "").rpartition("/")[2] != kind:
                    self._add("sheet-relations", f"<{path}> {which} is no {kind}")


def _overlap(one: Area, other: Area) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def _clashes(places: list[Area]) -> Iterator[tuple[Area, Area]]:
    """Pairs that overlap, found from top to bottom."""
    open_places: list[Area] = []
    for place in sorted(places):
        open_places = [other for other in open_places if other[2] >= place[0]]
        for other in open_places:
            if _overlap(place, other):
                yield other, place
        open_places.append(place)
