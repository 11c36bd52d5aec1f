"""Reads how the cells of an .xlsx workbook are drawn: which have a border or a fill, which are merged,
and which are not free to be written to."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers.expat import ExpatError

import numpy as np

from attn_xl.errors import InputError
from attn_xl.settings import LABELS, SETTINGS
from attn_xl.text import clean

from .addresses import Corners, address, parse_area, split_address
from .book import STEPS_NOTE, Book, book_of
from .boxes import rectangles_of
from .engine import computed, formula_of
from .formulas import Formula, References, formulas_in, give_areas, spilled_in
from .numerals import NOT_STORED, ErrorValue
from .ooxml import DAMAGED, Malformed, Package, content_of, damaged, parse

ROW = re.compile(rb"<((?:\w+:)?)row\b([^>]*?)(/?)>")
"""The start of a row of a sheet: the prefix of its tags, its attributes, and whether it is all."""
CELL = re.compile(rb"<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)", re.DOTALL)
"""A cell of a row: its attributes and its content."""
CELL_START = re.compile(
    rb"""<(?:\w+:)?c(?=[\s/>])(?:\s+(?:r=["']([A-Z]+)(\d+)["']|s=["'](\d+)["']|[\w:]+=["'][^"']*["']))*"""
)
"""The start of a cell: the letters of its column, its row, and its style if it has one."""
_OPTIONS = (SETTINGS.casefold(), LABELS.casefold())
"""The sheets of options and answers, where no matrix stands."""
_BLANKS = rb'((?:<c r="[A-Z]+(\d+)" s="\d+"(?: t="n")? ?/>)+)'
"""Neighbouring blank cells, as most programs write them, and the row of the last one."""
_CELLS = re.compile(_BLANKS + b"|" + CELL_START.pattern)
_OF_BLANK = re.compile(rb'<c r="([A-Z]+)" s="(\d+)"(?: t="n")? ?/>')
ARRAY = "an array formula"
"""Why nothing can be written to the cells of one."""
_EDGES = ("left", "right", "top", "bottom")


class Looks(NamedTuple):
    """How the cells of a sheet look, by row and column.

    Attributes:
        styles: the number of each cell's style, -1 where the sheet has no cell.
        framed: whether a cell has a border or a fill, or stands inside an outline.
    """

    styles: np.ndarray
    framed: np.ndarray

    def frames(self, cell: tuple[int, int]) -> bool:
        """Whether a cell is framed."""
        rows, columns = self.framed.shape
        return cell[0] < rows and cell[1] < columns and bool(self.framed[cell])

    def style(self, cell: tuple[int, int]) -> int:
        """The number of the style of a cell; 0 if it has none."""
        rows, columns = self.styles.shape
        return max(int(self.styles[cell]), 0) if cell[0] < rows and cell[1] < columns else 0


NO_LOOKS = Looks(np.full((1, 1), -1), np.zeros((1, 1), bool))


@dataclass
class DrawnSheet:
    """A sheet as its author drew it. Rows and columns count from 1.

    Attributes:
        name, part: the sheet, and the part of the package that holds it.
        values: of its nonblank cells: numbers, texts, error values, `NOT_STORED`.
        formulas: of its formula cells; cells that share a formula have that of the first.
        results: these cells without those of texts that repeat another cell (`=B4`).
        spellings: see spelled(); by the text in lower case.
        looks: of its cells.
        merged: its merged cells.
        closed: ranges where nothing can be written, each with the reason.
        held: blank cells that count as if they held a number, until one is put there.
        kept: what has been found on it; who changes its cells clears it.
    """

    name: str
    part: str
    values: dict[tuple[int, int], Any] = field(default_factory=dict)
    formulas: dict[tuple[int, int], Formula] = field(default_factory=dict)
    results: set[tuple[int, int]] = field(default_factory=set)
    spellings: Mapping[str, str] = field(default_factory=dict)
    looks: Looks = NO_LOOKS
    merged: list[Corners] = field(default_factory=list)
    closed: list[tuple[Corners, str]] = field(default_factory=list)
    held: set[tuple[int, int]] = field(default_factory=set)
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def spelled(self, text: str) -> str:
        """A clean text as most of the book's that differ from it in case alone."""
        return self.spellings.get(text.casefold(), text)

    def at(self, row: int, column: int) -> str:
        """`'My sheet'!B5`, as messages name a cell."""
        return f"{self.name}!{address(row, column)}"


@dataclass
class DrawnBook:
    """A workbook as its author drew it.

    Attributes:
        path, content: the file and its bytes.
        sheets: the visible worksheets, in order, without those of options and answers and `behind`.
        book: its values.
        names: its defined names, with what each refers to.
        behind: the name of the sheet that `fill` added to it, or "".
        not_stored: its formula cells without a stored value, by the name of their sheet.
        spilled: the first cells of blank frames that formulas read as `B5#`, with the metadata by which
            a formula spills.
    """

    path: Path
    content: bytes
    book: Book
    sheets: list[DrawnSheet] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    behind: str = ""
    not_stored: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    spilled: dict[tuple[str, int, int], int] = field(default_factory=dict)

    @cached_property
    def package(self) -> Package:
        return Package(zipfile.ZipFile(io.BytesIO(self.content)))

    @cached_property
    def references(self) -> References | None:
        """What its formulas read; None if it has none."""
        computed = any(b"<f" in self.package.read(part) for part in self.book.marks.parts())
        found = formulas_in(self.content) if computed else None
        return References(found) if found else None


def read_drawn(path: Path, content: bytes | None = None) -> DrawnBook:
    """Read a workbook with its looks, from its file or its bytes.

    Raises:
        InputError: if it is no .xlsx workbook, or cannot be read.
    """
    content = content_of(path) if content is None else content
    book = book_of(path, content)
    drawn = DrawnBook(path, content, book)
    try:
        package = drawn.package
        if not content.startswith(b"PK") or not package.main.endswith(".xml"):
            raise InputError(
                f"{path}: is no .xlsx workbook. Save it as .xlsx in a spreadsheet program."
            )
        drawn.names = {name["name"]: text for name, text in package.workbook.names}
        formulas = drawn.references.formulas if drawn.references else {}
        _refuse_signed(path, package)
        edging = _edging(package)
        for name, part in book.marks.sheets().items():
            if name not in book.grids or name in book.hidden or name.casefold() in _OPTIONS:
                continue
            if book.grids[name][:1] and STEPS_NOTE in book.grids[name][0]:
                drawn.behind = name
                continue
            sheet = DrawnSheet(name, part)
            sheet.values = {
                (row, column): value
                for row, values in enumerate(book.grids[name], 1)
                for column, value in enumerate(values, 1)
                if value != "" and not (isinstance(value, str) and not value.strip())
            }
            sheet.formulas = formulas.get(name, {})
            where = f"{path}, sheet {name!r}"
            _close(sheet, package.read(part), package)
            sheet.looks = _looks(sheet, package.read(part), edging, where)
            drawn.sheets.append(sheet)
    except (Malformed, ExpatError, *DAMAGED, LookupError) as error:
        raise damaged(path, str(error)) from None
    _compute_missing(drawn)
    _spread(drawn, formulas)
    values = (value for sheet in drawn.sheets for value in sheet.values.values())
    spelled = Counter(clean(value) for value in values if isinstance(value, str)).most_common()
    spellings = {text.casefold(): text for text, _ in reversed(spelled)}
    for sheet in drawn.sheets:
        sheet.spellings = spellings
        texts = {cell for cell in sheet.formulas if isinstance(sheet.values.get(cell), str)}
        sheet.results = {*sheet.formulas} - {
            one for one in texts if parse_area(sheet.formulas[one].text)
        }
    return drawn


def _spread(drawn: DrawnBook, formulas: dict[str, dict[tuple[int, int], Formula]]) -> None:
    """Give formulas that spilled until what they read was deleted the blank frames where they begin;
    and note the blank frames that are read as `B5#`."""
    sheets = {sheet.name: sheet for sheet in drawn.sheets}
    whole = [
        (sheet, one._replace(rows=rows, columns=columns))
        for sheet in drawn.sheets
        for cell, one in sheet.formulas.items()
        if one.spills and one.is_of_one_cell and isinstance(sheet.values.get(cell), ErrorValue)
        for rows, columns in [_blank_from(sheet, cell)]
        if rows * columns > 1
    ]
    for sheet, one in whole:
        sheet.closed.append(((one.row, one.column, *[*one.cells()][-1]), ARRAY))
        for cell in one.cells():
            sheet.formulas[cell], sheet.values[cell] = one, NOT_STORED
        drawn.not_stored.setdefault(sheet.name, []).extend(one.cells())
    blank: dict[str, dict[tuple[int, int], Formula]] = {name: {} for name in formulas}
    for name, own in formulas.items():
        for one in own.values():
            for there, cell in spilled_in(one.text) if one.spills else ():
                read = sheets.get(there or name)
                if read is not None and cell not in read.formulas:
                    blank[read.name][cell] = Formula("", *cell, *_blank_from(read, cell))
                    drawn.spilled[read.name, cell[0], cell[1]] = one.spills
    give_areas(formulas, {name: {**own, **blank[name]} for name, own in formulas.items()})


def _blank_from(sheet: DrawnSheet, cell: tuple[int, int]) -> tuple[int, int]:
    """The rows and columns of the blank frame whose first cell may hold a formula: its cells have
    borders or fills, or else labels above and left of it."""
    row, column = cell

    def free(r: int, c: int) -> bool:
        labels = sheet.values.get((row - 1, c)), sheet.values.get((r, column - 1))
        labelled = not sheet.looks.frames(cell) and all(isinstance(one, str) for one in labels)
        blank = (r, c) not in sheet.values and (r, c) not in sheet.formulas
        return (sheet.looks.frames((r, c)) or labelled) and (blank or (r, c) == cell)

    columns = next(n for n in count(1) if not free(row, column + n))
    rows = next(n for n in count(1) if not all(free(row + n, column + c) for c in range(columns)))
    return rows, columns


def _compute_missing(drawn: DrawnBook) -> None:
    """Give formulas without a stored value theirs, where they read no blank cell: of words, of an
    input."""
    formulas = {
        (sheet.name, *cell): formula_of(one, cell)
        for sheet in drawn.sheets
        for cell, one in sheet.formulas.items()
        if sheet.values.get(cell) is NOT_STORED and not one.table
    }
    if not formulas:
        return
    for name, *cell in formulas:
        drawn.not_stored.setdefault(name, []).append((cell[0], cell[1]))
    grids = drawn.book.grids

    def value_at(sheet: str, row: int, column: int) -> tuple[Any, bool]:
        line = grids[sheet][row - 1] if row <= len(grids[sheet]) else []
        value = line[column - 1] if column <= len(line) else ""
        return NOT_STORED if value == "" else value, False

    sheets = {sheet.name: sheet for sheet in drawn.sheets}
    for (name, row, column), value in computed(formulas, [*grids], drawn.names, value_at).items():
        sheets[name].values[row, column] = grids[name][row - 1][column - 1] = value


def _refuse_signed(path: Path, package: Package) -> None:
    if any(kind == "origin" for kind, _ in package.relations("").values()):
        raise InputError(
            f"{path}: is signed, and any change would break the signature. Remove it, or use a copy."
        )


def _close(sheet: DrawnSheet, xml: bytes, package: Package) -> None:
    end = data_of(xml)[1]
    for reference in re.findall(rb'<(?:\w+:)?mergeCell [^>]*?ref="([^"]+)"', xml[end:]):
        if area := parse_area(reference.decode()):
            sheet.merged.append(area[1])
            sheet.closed.append((area[1], "merged cells"))
    for table, _ in package.tables(sheet.part):
        if area := parse_area(table.get("ref", "")):
            sheet.closed.append((area[1], "a table"))
    for formula in {id(one): one for one in sheet.formulas.values()}.values():
        if formula.rows * formula.columns > 1 or formula.table:
            last = formula.row + formula.rows - 1, formula.column + formula.columns - 1
            for cell in formula.cells():
                sheet.formulas.setdefault(cell, formula)
            sheet.closed.append(((formula.row, formula.column, *last), ARRAY))
    protected = re.search(rb"<(?:\w+:)?sheetProtection\b([^>]*)>", xml[end:])
    if protected and attribute(protected[1], b"sheet") in (b"1", b"true"):
        sheet.closed.append(((1, 1, 1 << 20, 1 << 14), "a protected sheet"))


def _looks(sheet: DrawnSheet, xml: bytes, edging: _Edging, where: str) -> Looks:
    """How the cells of a sheet look, some of whose formulas may be missing in its XML.

    Args:
        edging: the borders and fills of the styles.

    Raises:
        InputError: if cells have no addresses, or are not in order.
    """
    runs: dict[bytes, tuple[Sequence[int], Sequence[int]]] = {}
    rows, columns, styles = list[int](), list[Sequence[int]](), list[Sequence[int]]()
    last, ordered = (0, 0), True
    for blanks, of_blanks, letters, number, style in _CELLS.findall(xml, *data_of(xml)):
        if blanks:  # the same in many rows
            run, number = blanks.replace(of_blanks + b'" s', b'" s'), of_blanks
            if run not in runs:
                found = _OF_BLANK.findall(run)
                runs[run] = [column_at(one) for one, _ in found], [int(one) for _, one in found]
                ordered &= len(found) == run.count(b"<") and runs[run][0] == sorted({*runs[run][0]})
            across, looks = runs[run]
        else:
            across, looks = [column_at(letters)], [int(style or 0)]
        cell = int(number or 0), across[0]
        ordered &= 0 not in cell and last < cell
        last = cell[0], across[-1]
        rows.append(cell[0])
        columns.append(across)
        styles.append(looks)
    if not ordered:
        raise InputError(
            f"{where}: its cells have no addresses, or no order. Save it once in a spreadsheet program."
        )
    last = max(rows, default=0), max((across[-1] for across in columns), default=0)
    numbers = np.full(np.array([last, *sheet.formulas]).max(axis=0) + 1, -1, np.int32)
    of_rows = np.repeat(np.array(rows, int), [*map(len, columns)])
    numbers[of_rows, np.array([*chain(*columns)], int)] = [*chain(*styles)]
    marks = np.stack(edging[:2])[:, np.minimum(numbers, len(edging.fills) - 1)]
    marks[:, numbers < 0] = 0
    texts = {cell for cell, one in sheet.values.items()
             if isinstance(one, str) and not isinstance(one, ErrorValue)}  # fmt: skip
    paper = _paper(numbers, marks)
    if texts:
        marks *= marks != paper
    if paper[1] <= 0:  # white on white
        marks *= marks > 0
    outlined = np.any(marks != 0, axis=0, keepdims=True)[0]
    for row, column in texts:
        if marks[0, row, column] in (0, *edging.lines):
            for run in _beside_title(sheet, marks, row, column):
                outlined[row, run] = False
    _outline_between_lines(texts, marks[0] * (marks[1] == 0), edging, outlined)
    _outline_between_bands(texts, marks, outlined)
    for top, left, high, wide in rectangles_of(outlined):
        box = outlined[top : top + high, left : left + wide]
        box[:] |= box[[0, -1]].all() and box[:, [0, -1]].all()
    return Looks(numbers, outlined)


def _paper(numbers: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """The border and the fill, each 0 if there is none, that all cells along the edge of a sheet share:
    as if they were drawn on its paper, they show no frame."""
    rows, columns = (np.flatnonzero((numbers >= 0).any(axis=axis)) for axis in (1, 0))
    if not len(rows):
        return np.zeros((2, 1, 1), int)
    within = marks[:, rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    ends = [within[:, 0], within[:, -1], within[:, :, 0], within[:, :, -1]]
    edge = np.concatenate(ends, axis=1)
    return np.where((edge == edge[:, :1]).all(axis=1), edge[:, 0], 0)[:, None, None]


def _outline_between_lines(
    texts: Set[tuple[int, int]], borders: np.ndarray, edging: _Edging, outlined: np.ndarray
) -> None:
    """Outline the cells between two lines over the same columns, one of which is theirs, as tables in
    print have them; without words left of them, and blank cells around them that only have a line."""
    above, below = (
        np.isin(borders, [number for number, edges in edging.lines.items() if edge in edges])
        for edge in ("top", "bottom")
    )
    lines = np.pad(above, ((0, 1), (0, 0)))
    lines[1:] |= below
    plain = np.isin(borders, [0, *edging.lines])
    told = np.zeros(borders.shape, bool)
    told[tuple(np.array([*texts], int).reshape(-1, 2).T)] = True
    last: dict[tuple[int, int], tuple[int, bool]] = {}
    found = []
    for row in np.flatnonzero(lines.any(axis=1)).tolist():
        ends = np.flatnonzero(np.diff(lines[row], prepend=False, append=False)).tolist()
        for left, end in zip(ends[::2], ends[1::2]):
            top, closes = last.get((left, end), (row, False))
            last[left, end] = row, False
            if top == row:
                continue
            first = told[top:row, left]
            words = bool(first.all() or (first.sum() == 1 and not first[-1]))
            inside = slice(top, row), slice(left + words, end)
            if words == end - left or told[inside].any():
                continue
            own = below[inside][-1].all() or (above[inside][0].all() and not closes)
            heads = row - top == 1 and not outlined[inside].all()  # a line beside a title
            if own and plain[inside].all() and not heads:
                found.append(inside)
                last[left, end] = row, True
                outlined[top:row, left] &= not words
    for rows, columns in found:
        for row, own, other in ((rows.start - 1, below, above), (rows.stop, above, below)):
            around = slice(row, row + 1), columns
            outlined[around] &= other[around] | ~own[around]
    for inside in found:
        outlined[inside] = True


def _outline_between_bands(
    texts: Set[tuple[int, int]], marks: np.ndarray, outlined: np.ndarray
) -> None:
    """Outline the rows between those that have a fill, where every second row of a frame has one, and
    those before and after these that have labels, too."""
    plain, bands = marks == 0, outlined & (marks[0] == 0)
    bands[tuple(np.array([*texts], int).reshape(-1, 2).T)] = False
    rows_of: dict[tuple[int, int], set[int]] = {}
    for row in np.flatnonzero(bands.any(axis=1)).tolist():
        edges = np.flatnonzero(np.diff(bands[row], prepend=False, append=False)).tolist()
        for run in zip(edges[::2], edges[1::2]):
            rows_of.setdefault(run, set()).add(row)
    between, ends = [], []
    for (left, end), filled in rows_of.items():
        labelled = {row for row, column in texts if column == left - 1}
        inside = {row for row, column in texts if left <= column < end}
        free = {*np.flatnonzero(plain[..., left:end].all(axis=(0, 2))).tolist()} - inside
        around = [(row, row + n) for row in filled for n in (1, -1) if row + n in free]
        between += [
            (row, left, end)
            for before, row in around
            if {row - 1, row + 1} <= filled and (row in labelled) == (before in labelled)
        ]
        ends += [(row, left, end) for before, row in around if {row, before} <= labelled]
    for row, left, end in (*between, *ends) if between else ():
        outlined[row, left:end] = True


def _beside_title(
    sheet: DrawnSheet, marks: np.ndarray, row: int, column: int
) -> Iterator[Sequence[int]]:
    """The columns of blank cells right and left of a text that have its look, as a heading has a fill
    or a line over the width of what stands below it."""
    _, rows, columns = marks.shape

    def look(row: int, column: int) -> list[int]:
        return marks[:, row, column].tolist() if row < rows and column < columns else [0, 0]

    def blank(row: int, column: int) -> bool:
        free = (row, column) not in sheet.values and (row, column) not in sheet.formulas
        return free and column > 0 and look(row, column) == own

    def heads(row: int, column: int) -> bool:
        value, below = sheet.values.get((row + 1, column)), look(row + 1, column)
        if value is None and not any(below):  # a blank row may part them
            value, below = sheet.values.get((row + 2, column)), look(row + 2, column)
        return isinstance(value, str) or (below != own and (value is not None or any(below)))

    own = look(row, column)
    for step in (1, -1) if any(own) else ():
        run = [*takewhile(lambda c: blank(row, c), count(column + step, step))]
        if any(heads(row, c) for c in run) and not any(blank(row - 1, c) for c in run):
            yield run


@cache
def column_at(letters: bytes) -> int:
    """The number of a column; 0 for no letters."""
    return split_address(f"{letters.decode()}1")[1] if letters else 0


def attribute(attributes: bytes, name: bytes) -> bytes:
    """An attribute of a tag, "" if it has none."""
    found = _attribute(name).search(attributes)
    return found[1] if found else b""


@cache
def _attribute(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb'(?:^|\s)%b\s*=\s*["\']([^"\']*)' % name)


def data_of(xml: bytes) -> tuple[int, int]:
    """Where the rows of a sheet begin and end in its XML.

    Raises:
        Malformed: if it has none.
    """
    first = re.search(rb"<(?:\w+:)?sheetData\s*>", xml)
    if first is None:
        empty = re.search(rb"<(?:\w+:)?sheetData\s*/>", xml)
        if empty is None:
            raise Malformed("it has a sheet without cells")
        return empty.end(), empty.end()
    last = re.compile(rb"</(?:\w+:)?sheetData\s*>").search(xml, first.end())
    if last is None:
        raise Malformed("it has a sheet without an end")
    return first.end(), last.start()


class RowText(NamedTuple):
    """A row of a sheet in its XML: where it begins and ends, the prefix of its tags, its attributes,
    and its cells."""

    start: int
    end: int
    prefix: bytes
    attributes: bytes
    cells: bytes


def rows_in(xml: bytes) -> Iterator[RowText]:
    """The rows in the XML of a sheet."""
    end = 0
    while found := ROW.search(xml, end):
        start, first = found.span()
        last = end = first
        if not found[3]:
            closing = b"</%brow>" % found[1]
            last = xml.index(closing, first)  # faster than a lazy regular expression
            end = last + len(closing)
        yield RowText(start, end, found[1], found[2], xml[first:last])


_WHITE = frozenset({"white"})


class _Edging(NamedTuple):
    """What marks the cells of each style: a number for its border and one for its fill, equal for
    equal looks, 0 for none and -1 for white. The last entry is that of cells without a style."""

    borders: np.ndarray
    fills: np.ndarray
    lines: Mapping[int, frozenset[Any]]
    """The borders that are only above or below a cell."""


def _edging(package: Package) -> _Edging:
    """The borders and fills of the styles of a workbook."""
    part = next((part for kind, part in package.links.values() if kind == "styles"), "")
    borders: list[frozenset[Any]] = []
    fills: list[frozenset[Any]] = []
    styles: list[tuple[int, int]] = []
    inside: list[str] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag == "border" and inside[-1:] == ["borders"]:
            borders.append(frozenset())
        elif tag in _EDGES and "borders" in inside and attributes.get("style", "none") != "none":
            borders[-1] |= {tag, (tag, attributes["style"])}
        elif tag == "color" and "borders" in inside and _is_white(attributes):
            borders[-1] = _WHITE.union(one for one in borders[-1] if inside[-1] not in (one, one[0]))
        elif tag == "fill" and inside[-1:] == ["fills"]:
            fills.append(frozenset())
        elif tag == "patternFill" and "fills" in inside:
            kind = attributes.get("patternType", "none")
            fills[-1] = frozenset() if kind in ("none", "gray125") else frozenset({("", kind)})
        elif tag == "fgColor" and fills[-1:] != [frozenset()] and "fills" in inside:
            white = fills[-1] == {("", "solid")} and _is_white(attributes)
            fills[-1] = _WHITE if white else fills[-1] | attributes.items()
        elif tag == "xf" and inside[-1:] == ["cellXfs"]:
            styles.append((int(attributes.get("borderId", 0)), int(attributes.get("fillId", 0))))
        inside.append(tag)

    if part in package.parts:
        parse(package.read(part), start, lambda tag, text: inside.__delitem__(-1))
    numbers = [(_number(borders, border), _number(fills, fill)) for border, fill in styles]
    lines = {
        number: one
        for n, one in enumerate(borders)
        if (number := _number(borders, n)) > 0 and one.isdisjoint(("left", "right"))
    }
    of_styles = np.array([*numbers, (0, 0)]).T
    return _Edging(of_styles[0], of_styles[1], lines)


def _number(looks: Sequence[frozenset[Any]], at: int) -> int:
    """A number for one of the looks, the same for equal ones; 0 for none, -1 for white."""
    if at >= len(looks) or not looks[at]:
        return 0
    return -1 if looks[at] == _WHITE else looks.index(looks[at]) + 1


def _is_white(color: dict[str, str]) -> bool:
    named = color.get("theme") == "0" and not float(color.get("tint", 0))
    return named or color.get("indexed") == "9" or color.get("rgb", "")[-6:].upper() == "FFFFFF"
