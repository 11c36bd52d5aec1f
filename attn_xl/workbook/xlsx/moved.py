"""Moves the rows and columns of an author's workbook apart, or together, in one pass over everything
that names a cell."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from html import unescape
from typing import Any, NamedTuple

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import (
    MAX_COLUMNS,
    MAX_ROWS,
    Corners,
    address,
    letters,
    parse_area,
    split_address,
)
from attn_xl.spreadsheets.drawn import CELL, DrawnBook, DrawnSheet, attribute, data_of, rows_in
from attn_xl.spreadsheets.formulas import Formula, formula_in, tokens_of, with_areas
from attn_xl.spreadsheets.ooxml import tag_of

from .author_charts import with_series
from .rows import escaped, with_texts
from .splice import (
    FORMULAS,
    packed,
    recalculating,
    with_merges,
    without_calculation_chain,
)  # fmt: skip
from .table_columns import with_columns

_MAPPED = {
    "drawing", "comments", "vmlDrawing", "threadedComment", "hyperlink", "printerSettings", "table",
}  # fmt: skip
"""What may hang from a sheet that grows: these are mapped, or name no cell."""
_UNKNOWN = {
    b"scenario": "scenarios",
    b"dataRef": "consolidated data",
    b"oleObject": "embedded objects",
    b"customSheetView": "custom views",
}
"""What names cells in a sheet and is not mapped."""
_SHARED = re.compile(rb'<((?:\w+:)?f)\b[^>]*\bt="shared"[^>]*?(?:/>|>[^<]*</\1>)')
_NAME = re.compile(r"[^\W\d][\w.]*")
_ENDS = re.compile(r"(\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7})|(\$?)([A-Za-z]{1,3})|(\$?)([0-9]{1,7})")


@dataclass
class Moves:
    """Where the rows of a sheet go, or its columns; they count from 1.

    Attributes:
        inserted: how many copies follow a row.
        removed: the rows that go.
        ends: rows that stood for a whole frame: a range that ends there takes the copies in.
    """

    inserted: dict[int, int] = field(default_factory=dict)
    removed: set[int] = field(default_factory=set)
    ends: set[int] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.inserted or self.removed)

    def point(self, place: int) -> int:
        """Where a row goes; one that is removed, where the next one goes."""
        before = sum(count for after, count in self.inserted.items() if after < place)
        return place + before - sum(gone < place for gone in self.removed)

    def span(self, first: int, last: int, grows: bool = True) -> tuple[int, int]:
        """Where a range goes; `grows` says whether it takes in the copies of a last row that stood for
        a whole frame."""
        end = last
        while end in self.removed and end > first:
            end -= 1
        more = self.inserted.get(end, 0) if grows and end in self.ends else 0
        return self.point(first), self.point(end) + more


class Both(NamedTuple):
    """The moves of the rows and of the columns of a sheet.

    Attributes:
        frames: places whose ranges end where the place ends: the first and the last row and column, and
            the new numbers of rows and columns.
    """

    rows: Moves
    columns: Moves
    frames: tuple[tuple[Corners, tuple[int, int]], ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything moves, or a frame has another size."""
        sizes = (
            (bottom - top + 1, right - left + 1) != size
            for (top, left, bottom, right), size in self.frames
        )
        return bool(self.rows or self.columns) or any(sizes)


def moved(drawn: DrawnBook, moves: Mapping[str, Both]) -> bytes:
    """The bytes of the workbook after rows and columns of some sheets have moved. `B5#` becomes a
    range: the array formula there may become one in each cell.

    Raises:
        InputError: if a sheet that moves has something that names cells in a way not known here.
    """
    moves = {name: both for name, both in moves.items() if both.changes}
    package, sheets = drawn.package, drawn.book.marks.sheets()
    if not (moves or any(b"ANCHORARRAY(" in package.read(part) for part in sheets.values())):
        return drawn.content
    by_folded = {name.casefold(): both for name, both in moves.items()}
    changed: dict[str, bytes] = {}

    def edit(part: str, change: Callable[[bytes], bytes]) -> None:
        before = changed.get(part) or package.read(part)
        after = change(before)
        if after != before:
            changed[part] = after

    written = drawn.references.formulas if drawn.references else {}
    for name, part in sheets.items():

        def formulas(xml: bytes, name: str = name) -> bytes:
            def location(found: re.Match[bytes]) -> bytes:  # of a link within the workbook
                text = unescape(found[2].decode())
                return found[1] + escaped(formula_moved(text, name, by_folded)).encode() + b'"'

            plain = _unshared(xml, written.get(name, {}))
            new = re.sub(rb'(\slocation=")([^"]+)"', location, plain)
            new = with_texts(
                new,
                FORMULAS,
                lambda text: formula_moved(with_areas(text, name, written), name, by_folded),
            )
            return xml if new == plain and name not in moves else new

        try:
            for one in (part, *(table for _, table in package.tables(part))):
                edit(one, formulas)
        except InputError as error:
            raise InputError(f"{drawn.path}, sheet {name!r}: {error}") from None
    for sheet in drawn.sheets:
        if sheet.name in moves:
            _check(drawn, sheet, moves[sheet.name])
            edit(sheet.part, partial(_sheet, sheet=sheet, both=moves[sheet.name]))
            for kind, part in package.relations(sheet.part).values():
                _hanging(kind, part, moves[sheet.name], edit)

    def follow(text: str) -> str:
        return formula_moved(text, "", by_folded)

    for part in package.parts:
        if re.match(r".*/charts/[^/]*\.xml$", part):
            edit(part, lambda xml: with_series(xml, follow))

    def names(xml: bytes) -> bytes:
        return recalculating(with_texts(xml, b"definedName", follow))

    edit(package.main, names)
    types, links, dropped = without_calculation_chain(package)
    return packed(drawn.content, {**changed, types[0]: types[1], links[0]: links[1]}, dropped)


def _check(drawn: DrawnBook, sheet: DrawnSheet, both: Both) -> None:
    """Refuse what names cells and is not known here."""
    where = f"{drawn.path}, sheet {sheet.name!r}"
    for kind, _ in drawn.package.relations(sheet.part).values():
        if kind not in _MAPPED:
            raise InputError(
                f"{where}: cannot grow, because of its {kind}. Remove that, or make the frames as "
                "large as the input needs."
            )
    start, end = data_of(xml := drawn.package.read(sheet.part))
    rest = xml[:start] + xml[end:]
    for tag, what in _UNKNOWN.items():
        if b"<" + tag in rest:
            raise InputError(
                f"{where}: cannot grow, because of its {what}. Make the frames as large as the input "
                "needs, or remove that."
            )
    rows, columns, _ = both
    last, wide = sheet.looks.styles.shape
    if rows.point(last - 1) > MAX_ROWS or columns.point(wide - 1) > MAX_COLUMNS:
        raise InputError(
            f"{where}: would be larger than a sheet can be. Use fewer words or dimensions."
        )


def formula_moved(text: str, host: str, moves: Mapping[str, Both]) -> str:
    """A formula after rows and columns of some sheets have moved.

    Args:
        text: without the equals sign.
        host: the sheet that it stands on, "" for none.
        moves: by the name of the sheet in lower case.
    """
    if not text or not re.search(r"[A-Za-z]\$?\d|\d:|[A-Za-z]:", text):
        return text
    tokens = tokens_of(text)
    for before, token in zip([None, *tokens], tokens):
        if _is_indirect(before) and token.subtype == "TEXT" and parse_area(token.value[1:-1]):
            token.value = f'"{formula_moved(token.value[1:-1], host, moves)}"'
        elif token.type == "OPERAND" and token.subtype == "RANGE":
            before, mark, cells = token.value.rpartition("!")
            sheet = before[1:-1].replace("''", "'") if before.startswith("'") else before
            both = moves.get((sheet or host).casefold())
            if ":" in sheet:
                raise InputError(
                    f"={text}: reads the same cells of several sheets, which cannot follow if frames "
                    "grow or shrink. Read them one by one."
                )
            if both is not None and not before.startswith("["):
                token.value = f"{before}{mark}{reference_moved(cells, both)}"
    return "".join(token.value for token in tokens)


def names_cells_by_text(text: str) -> bool:
    """Whether a formula puts together the address of a cell, which cannot follow when cells move:
    `INDIRECT("B"&ROW())`."""
    tokens = tokens_of(text) if "INDIRECT(" in text.upper() else []
    after = (tokens[n + 1 : n + 3] for n, one in enumerate(tokens) if _is_indirect(one))
    return any(
        value.subtype != "TEXT"
        or end.subtype != "CLOSE"
        or not (parse_area(value.value[1:-1]) or _NAME.fullmatch(value.value[1:-1]))
        for value, end in after
    )


def _is_indirect(token: Any) -> bool:
    return token is not None and token.value.upper() == "INDIRECT("


def reference_moved(cells: str, both: Both, grows: bool = False) -> str:
    """An address after rows and columns have moved: `B5`, `$B$5:D9`, `A:C`, `1:3`; names stay.

    Args:
        grows: whether a range of one cell that stood for a whole frame takes in its copies.
    """
    rows, columns, _ = both
    if cells.startswith(":") or cells.endswith(":"):  # INDEX(...):C5
        return ":".join(reference_moved(end, both) for end in cells.split(":"))
    ends = [_ENDS.fullmatch(end) for end in cells.split(":")]
    if not ends or len(ends) > 2 or None in ends:
        return cells
    first, last = ends[0], ends[-1]
    assert first is not None
    assert last is not None
    if len(ends) == 1 and not first[4]:
        return cells  # a name such as tax
    a, b = _corner(first), _corner(last)
    if a[0] and a[1] and b[0] and b[1]:
        corners = (min(a[0], b[0]), min(a[1], b[1])), (max(a[0], b[0]), max(a[1], b[1]))
        for (top, left, bottom, right), size in both.frames:
            if corners[0] < (top, left) or not (corners[1][0] <= bottom and corners[1][1] <= right):
                continue
            if corners[0][1] < left or ((top, left) == (bottom, right) and grows):
                continue
            spelled = [
                _spelled(
                    end,
                    _within(at[0], top, bottom, size[0], rows),
                    _within(at[1], left, right, size[1], columns),
                )
                for end, at in ((first, (a[0], a[1])), (last, (b[0], b[1])))
            ]
            return ":".join(spelled[: len(ends)])
    range_grows = len(ends) == 2 or grows
    low, high = sorted((a[0] or 0, b[0] or 0)), sorted((a[1] or 0, b[1] or 0))
    new_rows = rows.span(low[0], low[1], range_grows) if a[0] else (0, 0)
    new_columns = columns.span(high[0], high[1], range_grows) if a[1] else (0, 0)
    if len(ends) == 1 and new_rows[0] == new_rows[1] and new_columns[0] == new_columns[1]:
        return _spelled(first, new_rows[0], new_columns[0])
    if (a[0] or 0) > (b[0] or 0):  # B5:A1 stays as it was written
        new_rows = new_rows[::-1]
    if (a[1] or 0) > (b[1] or 0):
        new_columns = new_columns[::-1]
    start = _spelled(first, new_rows[0], new_columns[0])
    return f"{start}:{_spelled(last, new_rows[1], new_columns[1])}"


def _within(at: int, start: int, end: int, size: int, moves: Moves) -> int:
    """Where a row of a frame goes: its last row stays its last one."""
    first = moves.point(start)
    return first + size - 1 if at == end > start else min(moves.point(at), first + size - 1)


@lru_cache(4096)
def _column(text: str) -> int:
    return split_address(f"{text.upper()}1")[1]


def _corner(end: re.Match[str]) -> tuple[int | None, int | None]:
    """The row and the column of an end of a range, None where it has none."""
    if end[4]:
        return int(end[4]), _column(end[2])
    return (int(end[8]), None) if end[8] else (None, _column(end[6]))


def _spelled(end: re.Match[str], row: int, column: int) -> str:
    if end[4]:
        return f"{end[1]}{letters(column)}{end[3]}{row}"
    return f"{end[7]}{row}" if end[8] else f"{end[5]}{letters(column)}"


def _unshared(xml: bytes, formulas: Mapping[tuple[int, int], Formula]) -> bytes:
    """The XML of a sheet with the formulas that cells share written out."""

    def one(found: re.Match[bytes]) -> bytes:
        shared = _SHARED.search(found[0])
        cell = split_address(attribute(found[1], b"r").decode()) if shared else (0, 0)
        formula = formulas.get(cell)
        if shared is None or formula is None:
            return found[0]
        text = escaped(formula_in(formula, cell)).encode()
        own = b"<%b>%b</%b>" % (shared[1], text, shared[1])
        return found[0][: shared.start()] + own + found[0][shared.end() :]

    return CELL.sub(one, xml) if b't="shared"' in xml else xml


def _sheet(xml: bytes, sheet: DrawnSheet, both: Both) -> bytes:
    start, end = data_of(xml)
    head, body, tail = xml[:start], xml[start:end], xml[end:]
    return _head(head, both) + _rows(body, sheet, both) + _tail(tail, both)


def _references(text: str, both: Both) -> str:
    return " ".join(reference_moved(one, both, grows=True) for one in text.split(" "))


def _attributes(xml: bytes, both: Both) -> bytes:
    """The XML with the addresses in its attributes moved."""

    def one(found: re.Match[bytes]) -> bytes:
        points = found[1] in (b"topLeftCell", b"activeCell")
        text = found[2].decode()
        new = reference_moved(text, both) if points else _references(text, both)
        return b' %b="%b"' % (found[1], new.encode())

    return re.sub(rb'\s(ref|sqref|topLeftCell|activeCell)="([A-Z0-9:$ ]+)"', one, xml)


def _head(xml: bytes, both: Both) -> bytes:
    rows, columns, _ = both

    def column(found: re.Match[bytes]) -> bytes:
        low, high = int(attribute(found[0], b"min")), int(attribute(found[0], b"max"))
        while high in columns.removed and high >= low:
            high -= 1
        if high < low:
            return b""
        new = columns.point(low), min(columns.point(high) + columns.inserted.get(high, 0), MAX_COLUMNS)
        tag = re.sub(rb'\smin="\d+"', b' min="%d"' % new[0], found[0])
        return re.sub(rb'\smax="\d+"', b' max="%d"' % new[1], tag)

    def pane(found: re.Match[bytes]) -> bytes:
        if b"frozen" not in found[0]:
            return found[0]
        tag = found[0]
        for name, own in ((b"xSplit", columns), (b"ySplit", rows)):
            if count := attribute(tag, name):
                split = own.point(int(float(count)) + 1) - 1
                tag = re.sub(rb'\s%b="[^"]*"' % name, b' %b="%d"' % (name, split), tag)
        return tag

    xml = re.sub(rb"<(?:\w+:)?col\b[^>]*>", column, xml)
    return _attributes(re.sub(rb"<(?:\w+:)?pane\b[^>]*>", pane, xml), both)


def _tail(xml: bytes, both: Both) -> bytes:
    rows, columns, _ = both

    def breaks(found: re.Match[bytes]) -> bytes:
        own = rows if b"rowBreaks" in found[0][:20] else columns

        def one(tag: re.Match[bytes]) -> bytes:
            return b' id="%d"' % (own.point(int(tag[1]) + 1) - 1)

        return re.sub(rb'\sid="(\d+)"', one, found[0])

    xml = re.sub(rb"<(?:\w+:)?(row|col)Breaks\b.*?</(?:\w+:)?\1Breaks>", breaks, xml, flags=re.DOTALL)
    sqref = with_texts(xml, b"sqref", lambda text: _references(text, both))
    merged = dict.fromkeys(re.findall(rb'<(?:\w+:)?mergeCell\b[^>]*?ref="([^"]+)"', xml))
    return with_merges(_attributes(sqref, both), lambda _: _merges([*merged], both))


def _merges(references: Sequence[bytes], both: Both) -> Iterator[bytes]:
    """The merged cells where they go: none in rows or columns that are removed; those that stand in two
    rows on end, or columns, stand in the copies between, too."""
    areas = {area[1] for one in references if (area := parse_area(one.decode()))}
    for top, left, bottom, right in sorted(areas):
        gone = {*range(top, bottom + 1)} <= both.rows.removed
        if gone or {*range(left, right + 1)} <= both.columns.removed:
            continue
        text = f"{address(top, left)}:{address(bottom, right)}"
        yield reference_moved(text, both, grows=True).encode()
        rows = both.rows.inserted.get(top, 0) if (top + 1, left, bottom + 1, right) in areas else 0
        columns = (
            both.columns.inserted.get(left, 0) if (top, left + 1, bottom, right + 1) in areas else 0
        )
        (top, bottom), (left, right) = both.rows.span(top, bottom), both.columns.span(left, right)
        for down, across in [(n, 0) for n in range(1, rows + 1)] + [
            (0, n) for n in range(1, columns + 1)
        ]:
            first, last = address(top + down, left + across), address(bottom + down, right + across)
            yield f"{first}:{last}".encode()


def _table(xml: bytes, both: Both) -> bytes:
    """A table where it goes; a column that is inserted becomes one of the table."""
    area = parse_area(tag_of(xml, "table").get("ref", ""))
    assert area is not None
    _, left, _, right = area[1]
    columns = []
    for column in range(left, right + 1):
        if column not in both.columns.removed:
            copies = column < right or column in both.columns.ends
            columns += [column - left, *[-1] * both.columns.inserted.get(column, 0) * copies]
    return _attributes(with_columns(xml, columns), both)


def _rows(body: bytes, sheet: DrawnSheet, both: Both) -> bytes:
    """The rows of a sheet where they go, with the copies of some."""
    rows = both.rows
    pieces = []
    for found in rows_in(body):
        number = int(attribute(found.attributes, b"r"))
        if number in rows.removed:
            continue
        attributes = re.sub(rb'\s+spans="[^"]*"', b"", found.attributes)
        for copy in range(rows.inserted.get(number, 0) + 1):
            new = rows.point(number) + copy
            cells = [_cells(cell, sheet, new, bool(copy), both) for cell in CELL.finditer(found.cells)]
            own = re.sub(rb'(^|\s)r="\d+"', b'\\1r="%d"' % new, attributes, count=1)
            inner = b"".join(cells)
            pieces.append(b"<%brow%b>%b</%brow>" % (found.prefix, own, inner, found.prefix))
    return b"".join(pieces)


def _cells(found: re.Match[bytes], sheet: DrawnSheet, row: int, copy: bool, both: Both) -> bytes:
    """A cell where it goes, with the copies of its column; a copy has the look and no content. One
    beyond the edge of an outline or a fill has no look either."""
    columns = both.columns
    old = split_address(attribute(found[1], b"r").decode())
    if old[1] in columns.removed:
        return b""
    prefix = re.match(rb"<(\w+:)?c", found[0])
    p = prefix[1] or b"" if prefix else b""
    style = attribute(found[1], b"s")
    look = b' s="%b"' % style if style else b""
    below, right = (sheet.looks.frames((old[0] + down, old[1] + 1 - down)) for down in (1, 0))
    framed = sheet.looks.frames(old)
    if copy and framed and not below:
        look = b""
    new = columns.point(old[1])
    empties = [
        b'<%bc r="%b"%b/>' % (p, address(row, new + n).encode(), b"" if framed and not right else look)
        for n in range(1, columns.inserted.get(old[1], 0) + 1)
    ]
    place = address(row, new).encode()
    if copy:
        return b"".join([b'<%bc r="%b"%b/>' % (p, place, look), *empties])
    own = re.sub(rb'(^|\s)r="[A-Z]+\d+"', b'\\1r="%b"' % place, found[1], count=1)
    start = b"<%bc%b" % (p, own.rstrip(b"/"))
    if found[2] is None:
        return b"".join([start, b"/>", *empties])
    return b"".join([start, b">", _attributes(found[2], both), b"</%bc>" % p, *empties])


def _hanging(
    kind: str, part: str, both: Both, edit: Callable[[str, Callable[[bytes], bytes]], None]
) -> None:
    """What hangs from a sheet: drawings, notes, tables."""
    rows, columns, _ = both
    tags = {b"row": rows, b"col": columns, b"Row": rows, b"Column": columns}

    def counted(found: re.Match[bytes]) -> bytes:
        new = tags[found[2]].point(int(found[3]) + 1) - 1
        return b"%b%d" % (found[1], new)

    def anchor(found: re.Match[bytes]) -> bytes:
        numbers = [int(number) for number in found[2].split(b",")]
        for n, own in ((0, columns), (2, rows), (4, columns), (6, rows)):
            numbers[n] = own.point(numbers[n] + 1) - 1
        return found[1] + b", ".join(b"%d" % number for number in numbers)

    if kind == "drawing":
        edit(part, lambda xml: re.sub(rb"(<(?:\w+:)?(row|col)>)(\d+)", counted, xml))
    elif kind == "vmlDrawing":
        edit(part, lambda xml: re.sub(rb"(<(?:\w+:)?(Row|Column)>)(\d+)", counted, xml))
        edit(part, lambda xml: re.sub(rb"(<(?:\w+:)?Anchor>)([\d,\s-]+)", anchor, xml))
    elif kind == "table":
        edit(part, lambda xml: _table(xml, both))
    elif posixpath.basename(part).startswith(("comments", "comment", "threadedComment")):
        edit(part, lambda xml: _attributes(xml, both))
