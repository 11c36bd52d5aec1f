"""Keeps the tables of a spreadsheet program (Insert > Table) valid: each column is called as its header
cell says, also in formulas (`Words[d2]`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape, unescape

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import parse_area, unique
from attn_xl.spreadsheets.drawn import DrawnBook, DrawnSheet, read_drawn
from attn_xl.spreadsheets.formulas import tokens_of

from .rows import spreadsheet_text, with_texts
from .splice import FORMULAS, Filled, FilledCells, FilledRow, filled_at, packed

_COLUMN = re.compile(rb"<((?:\w+:)?)tableColumn\b(?:[^>]*/>|.*?</\1tableColumn>)", re.DOTALL)
_COUNT = re.compile(rb'(<(?:\w+:)?tableColumns\b[^>]*?\scount=")\d+')
_NAME = re.compile(rb'(<(?:\w+:)?tableColumn\b[^>]*?\sname=")([^"]*)')
_ID = re.compile(rb'<(?:\w+:)?tableColumn\b[^>]*?\sid="(\d+)"')
_BRACKETED = re.compile(r"\[((?:[^\[\]']|'.)+)\]")
_ESCAPED = re.compile(r"'(.)")
_MARK = re.compile(r"(?=['\[\]#@])")


def with_columns(xml: bytes, columns: Sequence[int]) -> bytes:
    """The XML of a table with other columns: of each the number of the old one, or -1 for a new one."""
    old = list(_COLUMN.finditer(xml))
    if list(columns) == list(range(len(old))):
        return xml
    last = max(map(int, _ID.findall(xml)))
    tags = []
    for number, column in enumerate(columns, last + 1):
        new = b'<%btableColumn id="%d" name="Column %d"/>' % (old[0][1], number, number)
        tags.append(old[column][0] if column >= 0 else new)
    xml = xml[: old[0].start()] + b"".join(tags) + xml[old[-1].end() :]
    return _COUNT.sub(rb"\g<1>%d" % len(columns), xml)


def with_header_names(drawn: DrawnBook, cells: dict[str, FilledCells]) -> DrawnBook:
    """The workbook with the columns of its tables called as their header cells will say.

    Args:
        cells: what will be filled in, by the name of its sheet; a header cell that would be blank gets
            the name of its column.

    Raises:
        InputError: if two columns of a table would have the same name.
    """
    changed: dict[str, bytes] = {}
    renamed: dict[str, dict[str, str]] = {}
    for sheet in drawn.sheets:
        for table, part in drawn.package.tables(sheet.part):
            xml = drawn.package.read(part)
            names = [unescape(name.decode()) for _, name in _NAME.findall(xml)]
            headers = _headers(drawn, sheet, table, names, cells)
            if headers != names:
                tags = (escape(name).encode() for name in headers)
                changed[part] = _NAME.sub(lambda one, tags=tags: one[1] + next(tags), xml)  # type: ignore[misc]
                renamed[table["displayName"].casefold()] = dict(zip(map(str.casefold, names), headers))
    if not changed:
        return drawn

    def formula(text: str) -> str:
        return _renamed(text, renamed)

    for part in {*drawn.book.marks.sheets().values(), *changed}:
        changed[part] = with_texts(changed.get(part) or drawn.package.read(part), FORMULAS, formula)
    names_part = drawn.package.main
    changed[names_part] = with_texts(drawn.package.read(names_part), b"definedName", formula)
    return read_drawn(drawn.path, packed(drawn.content, changed, set()))


def _headers(
    drawn: DrawnBook,
    sheet: DrawnSheet,
    table: Mapping[str, str],
    names: list[str],
    cells: dict[str, FilledCells],
) -> list[str]:
    """The names of the columns of a table, after its header cells."""
    area = parse_area(table["ref"])
    if area is None or table.get("headerRowCount") == "0":
        return names
    (row, left, _, _), headers = area[1], list(names)
    for n in range(len(names)):
        written = filled_at(cells.get(sheet.name, {}), row, left + n)
        text = written.value if written else sheet.values.get((row, left + n))
        if text is None:
            text = unique("Column", {*map(str.casefold, headers[:n] + names[n + 1 :])})
            cells.setdefault(sheet.name, {}).setdefault(row, FilledRow())[left + n] = Filled(text)
            headers[n] = text
        elif written:
            headers[n] = spreadsheet_text(str(text))
    folded = [name.casefold() for name in headers]
    for n, name in enumerate(folded):
        if name in folded[:n]:
            raise InputError(
                f"{drawn.path}, sheet {sheet.name!r}: the columns of the table {table['displayName']} "
                f"must differ, but two would be called {headers[n]!r}. Turn it into a range."
            )
    return headers


def _renamed(formula: str, tables: Mapping[str, Mapping[str, str]]) -> str:
    """A formula with the new names of the columns of tables."""
    if "[" not in formula:
        return formula
    tokens = tokens_of(formula)
    for token in tokens:
        columns = tables.get(token.value.partition("[")[0].casefold(), {})

        def one(found: re.Match[str], columns: Mapping[str, str] = columns) -> str:
            new = columns.get(_ESCAPED.sub(r"\1", found[1]).casefold())
            return "[" + _MARK.sub("'", new) + "]" if new else found[0]

        token.value = _BRACKETED.sub(one, token.value)
    return "".join(token.value for token in tokens)
