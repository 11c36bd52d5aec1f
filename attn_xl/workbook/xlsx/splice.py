"""Writes formulas into the blank cells of an author's workbook, and leaves every other byte of its
parts as it is."""

from __future__ import annotations

import io
import re
import zipfile
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
import orjson

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import (
    MAX_COLUMNS,
    address,
    letters,
    parse_area,
    row_token,
)
from attn_xl.spreadsheets.drawn import (
    CELL,
    CELL_START,
    NO_LOOKS,
    DrawnBook,
    Looks,
    RowText,
    attribute,
    data_of,
    rows_in,
)
from attn_xl.spreadsheets.formulas import Formula
from attn_xl.spreadsheets.ooxml import Package

from .author_charts import charts_showing
from .rows import RowPattern, escaped, spreadsheet_text

_CALC = re.compile(rb"<((?:\w+:)?)calcPr\b([^>]*?)/?>")
_MERGES = re.compile(rb"<((?:\w+:)?)mergeCells\b[^>]*>(.*?)</(?:\w+:)?mergeCells>", re.DOTALL)
_FORMULA = re.compile(rb"<((?:\w+:)?)f[\s/>]")
_VALUE = re.compile(rb"<(?:\w+:)?v\s*/>|<((?:\w+:)?v)>[^<]*</\1>")
FORMULAS = rb"(?:f|formula[12]?|calculatedColumnFormula|totalsRowFormula)"
"""The tags whose text is a formula."""
_KINDS = {str: b' t="str"', bool: b' t="b"'}
"""How a cell says that it holds a text or a truth value."""
_BEFORE_CALC = ("sheets", "functionGroups", "externalReferences", "definedNames")
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"


class ArraySize(NamedTuple):
    """The rows and columns of an array formula, and the number of the metadata with which it spills; 0
    for one that Excel 2010 computes with Ctrl+Shift+Enter."""

    rows: int = 1
    columns: int = 1
    spills: int = 0


class Filled(NamedTuple):
    """What a cell gets: a number or a text, and the formula that gives it; None leaves it blank.

    Attributes:
        formula: may have placeholders for row numbers, as `at_row` replaces them.
        array: the size of the array formula that begins there; None if it is not one.
        style: the number of another style for the cell; None keeps its own.
    """

    value: float | str | bool | None
    formula: str = ""
    array: ArraySize | None = None
    style: int | None = None


Formulas = tuple[tuple[str, ArraySize | None], ...]
"""Of neighbouring cells the formula, and the size of the array formula that begins there."""


class FilledRun(Mapping[int, Filled]):
    """Neighbouring cells of a row by column: one object, since a matrix may have a million cells."""

    def __init__(self, column: int, numbers: Sequence[float | None], formulas: Formulas) -> None:
        self.columns = range(column, column + len(numbers))
        self.numbers, self.formulas = numbers, formulas

    def __getitem__(self, column: int) -> Filled:
        if column not in self.columns:
            raise KeyError(column)
        number = column - self.columns[0]
        return Filled(self.numbers[number], *self.formulas[number])

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __iter__(self) -> Iterator[int]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)


class FilledRow(ChainMap[int, Filled]):
    """What the cells of a row get, by column from 1; behind the first of its `maps` may be runs."""

    def add(self, cells: Mapping[int, Filled]) -> None:
        """Add cells, which are read and not changed, in place of the same ones if they are there."""
        others = [one for one in self.maps[1:] if one.keys() != cells.keys()]
        self.maps[1:] = [cells, *others]  # type: ignore[list-item]

    def singly(self) -> dict[int, Filled]:
        """All cells, none of them in a run."""
        found: dict[int, Filled] = {}
        for part in reversed(self.maps):
            if isinstance(part, FilledRun):
                found.update(zip(part, map(Filled, part.numbers, *zip(*part.formulas))))
            else:
                found.update(part)
        return found


FilledCells = dict[int, FilledRow]
"""By row, from 1."""


def filled_at(cells: FilledCells, row: int, column: int) -> Filled | None:
    """What a cell gets; None if it is not filled in."""
    parts = cells[row].maps if row in cells else []
    return next((part[column] for part in parts if column in part), None)


def arrays_in(cells: FilledCells) -> Iterator[Formula]:
    """The array formulas of several cells among cells that are filled in one by one."""
    for row, line in cells.items():
        for part in (one for one in line.maps if not isinstance(one, FilledRun)):
            for column, one in part.items():
                if one.array and one.array.rows * one.array.columns > 1:
                    yield Formula(one.formula, row, column, *one.array[:2], array=True)


StoredValues = dict[tuple[int, int], float | str | bool | None]
"""What formulas give now; None leaves it to the program that opens the file."""


def spliced(
    drawn: DrawnBook,
    cells: Mapping[str, FilledCells],
    added: tuple[str, FilledCells] | None = None,
    changed_values: Mapping[str, StoredValues] | None = None,
) -> bytes:
    """The bytes of the workbook with some cells filled in.

    Args:
        cells: the cells to fill, by the name of their sheet.
        added: a sheet to add at the end, or to write anew, with its cells.
        changed_values: of formulas that read filled cells, by the name of their sheet.

    Raises:
        InputError: if a sheet cannot be edited without changing more of it.
    """
    if not any(cells.values()) and added is None:
        return drawn.content
    package = drawn.package
    changed: dict[str, bytes] = {}
    looks = {sheet.name: sheet.looks for sheet in drawn.sheets}
    formulas = drawn.references.formulas if drawn.references else {}
    for name, part in drawn.book.marks.sheets().items():
        values = (changed_values or {}).get(name)
        filled = cells.get(name, {})
        if values:
            changed[part] = _revalued(package.read(part), values, formulas.get(name, {}))
            filled = _with_spilled(filled, values, looks[name]) if name in looks else filled
        if filled:
            where = f"{drawn.path}, sheet {name!r}"
            xml = changed.get(part) or package.read(part)
            changed[part] = _sheet(xml, filled, looks[name], where)
    changed |= charts_showing(package, Now(drawn, cells, changed_values or {}).at)
    book = recalculating(package.read(package.main))
    (types_part, types), (links_part, links), dropped = without_calculation_chain(package)
    if added is not None and added[0] in drawn.book.grids:
        changed[drawn.book.marks.sheets()[added[0]]] = _new_sheet(added[1])
    elif added is not None:
        name, content = added
        folder = package.main.rpartition("/")[0]
        part = next(
            one
            for n in range(1, 1_000_000)
            if (one := f"{folder}/worksheets/sheet{n}.xml") not in package.parts
        )
        changed[part] = _new_sheet(content)
        book, link = _with_sheet(book, name, links)
        relation = (
            f'<Relationship xmlns="{_PACKAGE}/relationships" Id="{link}" Type="http://schemas.openxmlformats.'
            f'org/officeDocument/2006/relationships/worksheet" Target="/{part}"/>'
        )
        links = _before_end(links, "Relationships", relation)
        override = (
            f'<Override xmlns="{_PACKAGE}/content-types" PartName="/{part}" ContentType="{_SHEET}"/>'
        )
        types = _before_end(types, "Types", override)
    changed |= {package.main: book, types_part: types, links_part: links}
    return packed(drawn.content, changed, dropped)


class Now:
    """What the cells of a filled workbook show: what is filled in, else the new values of formulas,
    else what they held."""

    def __init__(
        self,
        drawn: DrawnBook,
        cells: Mapping[str, FilledCells],
        changed_values: Mapping[str, StoredValues],
    ) -> None:
        self._sheets = {
            name.casefold(): (cells.get(name, {}), changed_values.get(name, {}), grid)
            for name, grid in drawn.book.grids.items()
        }

    def at(self, sheet: str, row: int, column: int) -> tuple[Any, bool]:
        """The value of a cell, None if it is blank or not known; and whether it is new."""
        filled, values, grid = self._sheets.get(sheet.casefold(), _NO_SHEET)
        one = filled_at(filled, row, column)
        if one is not None:
            return one.value, True
        if (row, column) in values:
            return values[row, column], True
        there = row <= len(grid) and column <= len(grid[row - 1])
        return grid[row - 1][column - 1] if there else None, False


_NO_SHEET: tuple[FilledCells, StoredValues, list[list[Any]]] = ({}, {}, [])


def _revalued(xml: bytes, values: StoredValues, formulas: Mapping[tuple[int, int], Formula]) -> bytes:
    """The XML of a sheet with other values of some formulas: of an array formula, in each cell, which
    may spill into more than before."""
    start, end = data_of(xml)
    known = {address(*cell).encode(): value for cell, value in values.items()}
    arrays = {
        address(*cell).encode(): f"{address(*cell)}:{address(*last)}".encode()
        for cell in values
        if (formula := formulas.get(cell)) and formula.spills and formula[1:3] == cell
        for *_, last in [formula.cells()]
    }

    def one(found: re.Match[bytes]) -> bytes:
        if (name := attribute(found[1], b"r")) not in known:
            return found[0]
        tag, value = found[0][1 : found[0].index(b"c") + 1], known[name]
        attributes = re.sub(rb'\st="\w+"', b"", found[1].rstrip(b" /")) + _KINDS.get(type(value), b"")
        inner = _VALUE.sub(b"", found[2] or b"")
        if name in arrays:
            inner = re.sub(rb'\sref="[^"]*"', b' ref="%b"' % arrays[name], inner, count=1)
        if value is not None:
            inner += b"<%bv>%b</%bv>" % (tag[:-1], _values([value])[0], tag[:-1])
        return b"<%b%b>%b</%b>" % (tag, attributes, inner, tag)

    return xml[:start] + CELL.sub(one, xml[start:end]) + xml[end:]


def _with_spilled(cells: FilledCells, values: StoredValues, looks: Looks) -> FilledCells:
    """The cells to fill in, with those that the sheet lacks and into which formulas spill."""
    rows, columns = looks.styles.shape
    made = dict(cells)
    for (row, column), value in values.items():
        lacks = row >= rows or column >= columns or looks.styles[row, column] < 0
        if lacks and value is not None and filled_at(cells, row, column) is None:
            made[row] = FilledRow({column: Filled(value)}, *(made[row].maps if row in made else ()))
    return made


def with_merges(xml: bytes, change: Callable[[list[bytes]], Iterable[bytes]]) -> bytes:
    """The XML of a sheet with other merged cells."""
    found = _MERGES.search(xml)
    if found is None:
        return xml
    p, references = found[1], [*change(re.findall(rb'ref="([^"]+)"', found[2]))]
    tags = b"".join(b'<%bmergeCell ref="%b"/>' % (p, one) for one in references)
    whole = b'<%bmergeCells count="%d">%b</%bmergeCells>' % (p, len(references), tags, p)
    return xml[: found.start()] + whole * bool(references) + xml[found.end() :]


def without_calculation_chain(
    package: Package,
) -> tuple[tuple[str, bytes], tuple[str, bytes], set[str]]:
    """The list of content types and the workbook's relationships without the calculation chain, each
    with its part; and the parts to drop. Programs make the chain, a list of formula cells, anew."""
    links_part = re.sub(r"([^/]+)$", r"_rels/\1.rels", package.main)
    types, links = package.read("[Content_Types].xml"), package.read(links_part)
    dropped = {part for kind, part in package.links.values() if kind == "calcChain"}
    if dropped:
        types = re.sub(rb"<(?:\w+:)?Override\b[^>]*calcChain[^>]*?/>", b"", types)
        links = re.sub(rb"<(?:\w+:)?Relationship\b[^>]*/calcChain\"[^>]*?/>", b"", links)
    return ("[Content_Types].xml", types), (links_part, links), dropped


def _before_end(xml: bytes, tag: str, text: str) -> bytes:
    """The XML with a text before the end of its outermost tag."""
    end = xml.rindex(b"</", 0, xml.rindex(tag.encode()))
    return xml[:end] + text.encode() + xml[end:]


def packed(content: bytes, changed: Mapping[str, bytes], dropped: set[str]) -> bytes:
    """The package with some parts changed, added or dropped; the others keep their bytes and times."""
    made = io.BytesIO()
    left = dict(changed)
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            if entry.filename not in dropped:
                data = left.pop(entry.filename, None)
                new.writestr(entry, old.read(entry) if data is None else data, compresslevel=1)
        for name, data in left.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, data, compresslevel=1)
    return made.getvalue()


def recalculating(book: bytes) -> bytes:
    """The workbook part with the wish to be recalculated when it is opened."""
    found = _CALC.search(book)
    if found:
        kept = re.sub(rb'\s*\bfullCalcOnLoad="[^"]*"', b"", found[2])
        tag = b'<%bcalcPr%b fullCalcOnLoad="1"' % (found[1], kept)
        return (
            book[: found.start()]
            + tag
            + book[found.start() + 1 + len(found[1] + b"calcPr" + found[2]) :]
        )
    prefix = re.search(rb"<(\w+:)?workbook\b", book)
    tag = b'<%bcalcPr fullCalcOnLoad="1"/>' % (prefix[1] or b"" if prefix else b"")
    last = 0
    for name in _BEFORE_CALC:
        for end in re.finditer(
            rb"</(?:\w+:)?%b\s*>|<(?:\w+:)?%b\s*/>" % (name.encode(), name.encode()), book
        ):
            last = max(last, end.end())
    return book[:last] + tag + book[last:]


def _with_sheet(book: bytes, name: str, links: bytes) -> tuple[bytes, str]:
    """The workbook part with one more sheet, and the id of its relationship."""
    ids = {int(number) for number in re.findall(rb'sheetId="(\d+)"', book)}
    taken = set(re.findall(rb'Id="([^"]+)"', links))
    link = next(one for n in range(1, 1_000_000) if (one := f"rId{n}").encode() not in taken)
    end = re.search(rb"</((?:\w+:)?)sheets\s*>", book)
    assert end is not None
    tag = (
        f'<{end[1].decode()}sheet xmlns:attn="http://schemas.openxmlformats.org/officeDocument/2006/'
        f'relationships" name="{escaped(name)}" sheetId="{max(ids, default=0) + 1}" attn:id="{link}"/>'
    )
    return book[: end.start()] + tag.encode() + book[end.start() :], link


def _new_sheet(cells: FilledCells) -> bytes:
    empty = (
        b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="http://schemas.'
        b'openxmlformats.org/spreadsheetml/2006/main"><sheetData></sheetData></worksheet>'
    )
    return _sheet(empty, cells, NO_LOOKS, "")


def _sheet(xml: bytes, cells: FilledCells, looks: Looks, where: str) -> bytes:
    """The XML of a sheet with some cells filled in."""
    start, end = data_of(xml)
    body = xml[start:end]
    prefix = re.findall(rb"<(\w+:)?sheetData", xml)[0].decode()
    if b"<!--" in body or b"<![CDATA[" in body:
        raise InputError(f"{where}: its XML has comments. Save it once in a spreadsheet program.")
    columns = _styles_of_columns(xml[:start])

    def edited(row: int, found: RowText | None) -> bytes:
        return _row(row, found, cells[row], prefix, columns, looks)

    pieces: list[bytes] = []
    waiting = sorted(row for row in cells if cells[row])
    done = 0
    for found in rows_in(body):
        number = int(attribute(found.attributes, b"r") or 0)
        while waiting and waiting[0] < number:
            row = waiting.pop(0)
            pieces += [body[done : found.start], edited(row, None)]
            done = found.start
        if waiting and waiting[0] == number:
            waiting.pop(0)
            pieces += [body[done : found.start], edited(number, found)]
            done = found.end
    pieces.append(body[done:])
    pieces += [edited(row, None) for row in waiting]
    return _spanning(xml[:start], cells) + b"".join(pieces) + xml[end:]


def _spanning(head: bytes, cells: FilledCells) -> bytes:
    """What stands before the cells of a sheet, with a span that includes the filled ones."""
    found = re.search(rb'(<(?:\w+:)?dimension\s+ref=")([^"]*)"', head)
    area = parse_area(found[2].decode()) if found else None
    if found is None or area is None:
        return head
    top, left, bottom, right = area[1]
    parts = [part for line in cells.values() for part in line.maps]
    rows = {top, bottom, *cells}
    columns = {left, right}.union(*((one[0], one[-1]) for part in parts if (one := _columns(part))))
    span = f"{address(min(rows), min(columns))}:{address(max(rows), max(columns))}"
    if parse_area(span) == area:
        return head
    return head[: found.start(2)] + span.encode() + head[found.end(2) :]


def _row(
    row: int, found: RowText | None, cells: FilledRow, prefix: str,
    columns: np.ndarray, looks: Looks,
) -> bytes:  # fmt: skip
    """A row with some cells filled in; the others keep their bytes.

    Args:
        found: the row as it is; None if the sheet has none.
        columns: the styles of the columns.
    """
    attributes, inner = (found.attributes, found.cells) if found else (b' r="%d"' % row, b"")
    custom = attribute(attributes, b"customFormat") in (b"1", b"true")
    own = int(attribute(attributes, b"s") or 0) if custom else 0
    line = looks.styles[row] if row < len(looks.styles) else looks.styles[0]
    there = np.flatnonzero(line >= 0)
    pieces, done = list[bytes](), 0
    for filled, values, formulas, chosen in _runs(cells):
        span = slice(filled[0], filled[-1] + 1)
        held, others = line[span], columns[span]
        shown = np.full(len(filled), own) if own else others.copy()
        np.copyto(shown[: len(held)], held, where=held >= 0)
        styles = shown.tolist()
        if chosen:
            styles = [own if other is None else other for own, other in zip(styles, chosen)]
        pattern = _pattern(prefix, filled, tuple(map(type, values)), formulas, tuple(styles))
        written = pattern.at(row) % tuple(_values(values))
        start, end = np.searchsorted(there, (filled[0], filled[-1] + 1))
        pieces += [inner[done : _offset(inner, row, there[start:])], written]
        done = _offset(inner, row, there[end:])
    pieces.append(inner[done:])
    # The span is a hint, which a new cell may exceed.
    attributes = re.sub(rb'\s+spans="[^"]*"', b"", attributes)
    tag = f"{prefix}row".encode()
    return b"<%b%b>%b</%b>" % (tag, attributes, b"".join(pieces), tag)


def _columns(cells: Mapping[int, Filled]) -> Sequence[int]:
    """The columns of some cells of a row, in order."""
    return cells.columns if isinstance(cells, FilledRun) else sorted(cells)


_Neighbours = tuple[range, Sequence[Any], Formulas, Sequence[int | None]]


def _runs(cells: FilledRow) -> list[_Neighbours]:
    """The neighbouring cells of a row: their columns, values, formulas and other styles."""
    runs = [run for run in cells.maps if isinstance(run, FilledRun)]
    single = dict(ChainMap(*(one for one in cells.maps if not isinstance(one, FilledRun))))
    ends = sorted((run.columns[0], run.columns[-1]) for run in runs)
    if any(a[1] >= b[0] for a, b in pairwise(ends)) or any(c in run for c in single for run in runs):
        runs, single = [], cells.singly()  # a cell has been changed since
    found: list[_Neighbours] = [(run.columns, run.numbers, run.formulas, ()) for run in runs]
    for _, group in groupby(enumerate(sorted(single)), lambda one: one[1] - one[0]):
        own = [column for _, column in group]
        values, formulas, arrays, styles = zip(*map(single.__getitem__, own))
        found.append((range(own[0], own[-1] + 1), values, (*zip(formulas, arrays),), styles))
    return sorted(found, key=lambda one: one[0][0])


@lru_cache(maxsize=64)
def _pattern(
    p: str, run: range, kinds: tuple[type, ...], formulas: Formulas, styles: tuple[int, ...]
) -> RowPattern:
    """The XML of neighbouring cells with placeholders for the number of the row and for what they hold:
    numbers, texts, truth values, nothing."""
    parts = []
    for column, kind, (formula, array), style in zip(run, kinds, formulas, styles):
        place = f"{letters(column)}{row_token(0)}"
        start = f'<{p}c r="{place}"' + (f' s="{style}"' if style else "")
        rows, columns, spills = array or ArraySize()
        start += f' cm="{spills}"' if spills else ""
        last = f":{letters(column + columns - 1)}{row_token(rows - 1)}" if rows * columns > 1 else ""
        reference = f' t="array" ref="{place}{last}"' if array else ""
        written = f"<{p}f{reference}>{escaped(formula)}</{p}f>".replace("%", "%%") if formula else ""
        if kind is str and not formula:
            parts.append(
                f'{start} t="inlineStr"><{p}is><{p}t xml:space="preserve">%b</{p}t></{p}is></{p}c>'
            )
        elif kind in _KINDS:
            parts.append(f"{start}{_KINDS[kind].decode()}>{written}<{p}v>%b</{p}v></{p}c>")
        elif kind is type(None):
            parts.append(f"{start}>{written}</{p}c>%.0b" if formula else f"{start}/>%.0b")
        else:
            parts.append(f"{start}>{written}<{p}v>%b</{p}v></{p}c>")
    return RowPattern("".join(parts))


def _values(values: Sequence[float | str | bool | None]) -> list[bytes]:
    """The values of cells as XML."""
    if {*map(type, values)} == {float}:
        return orjson.dumps(values)[1:-1].split(b",")
    numbers = [0.0 if value is None or isinstance(value, str) else float(value) for value in values]
    written = orjson.dumps(numbers)[1:-1].split(b",")
    for n, value in enumerate(values):
        if isinstance(value, str):
            written[n] = escaped(spreadsheet_text(value)).encode()
        elif isinstance(value, bool):
            written[n] = b"%d" % value
    return written


def _offset(inner: bytes, row: int, columns: np.ndarray) -> int:
    """Where the first of some cells of a row begins; the end of the row for none."""
    name = f"{letters(columns[0])}{row}" if len(columns) else ""
    for there in (f'r="{name}"'.encode(), f"r='{name}'".encode()) if name else ():
        at = inner.find(there)
        while at >= 0:
            start = inner.rfind(b"<", 0, at)
            if (cell := CELL_START.match(inner, start)) and cell.end() > at:  # no text that says so
                return start
            at = inner.find(there, at + 1)
    return len(inner)


def _styles_of_columns(head: bytes) -> np.ndarray:
    """The style of each column, counted from 1."""
    styles = np.zeros(MAX_COLUMNS + 1, np.int32)
    for tag in re.findall(rb"<(?:\w+:)?col\b([^>]*)>", head):
        first, last = int(attribute(tag, b"min") or 1), int(attribute(tag, b"max") or 1)
        styles[first : last + 1] = int(attribute(tag, b"style") or 0)
    return styles
