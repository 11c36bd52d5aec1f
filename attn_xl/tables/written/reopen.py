"""A workbook that this program wrote, read back: the tables and choices it was made from, as they stand
in it now. Knows neither lessons nor marks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from attn_xl.errors import CallError, InputError
from attn_xl.settings import CELLS, CONTROLS, OPTIONS, SETTINGS, Settings
from attn_xl.settings import Switch as Asked
from attn_xl.spreadsheets.addresses import Place, address, parse_place
from attn_xl.spreadsheets.numerals import is_number
from attn_xl.tables.survey import Table, Tables
from attn_xl.text import OFF, ON, shortened

from .record import (
    CONTROLS_LINE,
    GIVEN,
    LABELS,
    NO_CHOICES,
    SENTENCE,
    WEIGHTS,
    drawn_before,
    read_record,
)
from .written_book import WrittenBook

Line = tuple[str, Any, str]
KINDS = (SENTENCE, WEIGHTS, GIVEN)
ENTER = {
    "temperature": "a number above 0",
    "dropout": "a share above 0 and below 1",
    "residual_dropout": "a share above 0 and below 1",
    "epsilon": "a small number above 0",
}
"""What the cell of a setting takes that is a number; the others are on or off."""


@dataclass(frozen=True, eq=False, repr=False)
class Reopened:
    """A written workbook, read back.

    Attributes:
        tables: sentences (n, d), weights and masks, with the numbers and words that stand there now.
        recorded: the model and its choices, as they were when it was written.
        lines: what else its record holds: name, value, place.
        remarks: what could not be taken over, in plain words.
        book: its cells.
    """

    tables: Tables
    recorded: Settings
    lines: tuple[Line, ...]
    remarks: tuple[str, ...]
    book: WrittenBook

    @property
    def settings(self) -> Settings:
        """The model and its choices, as the switches stand now.

        Raises:
            InputError: for a switch with which no run computes what the workbook does.
        """
        return current_settings(self.book, self.recorded)


def reopened(book: WrittenBook) -> Reopened:
    """Read back a workbook that this program wrote, wherever it was saved since.

    Where a table stands is told by its defined name, which moves with its cells, or else by the address
    in the record; what it holds, by its cells and the labels above them and to their left.

    Raises:
        InputError: if it has no record, or a table is not there or not whole.
    """
    lines = record_of(book)
    recorded = recorded_settings(book.path, lines)
    remarks: list[str] = []
    sentences: dict[str, Table] = {}
    weights: dict[str, Table] = {}
    drawn = 0
    labels = {name: (str(rows), columns) for name, rows, columns in lines}
    for name, value, place in lines:
        kind, _, called = name.partition(" ")
        if kind not in KINDS:
            continue
        if kind == GIVEN:
            drawn += 1
            called = drawn_before(drawn)
        packed = labels.get(f"{LABELS} {value}")
        table = replace(_table(book, called, str(value), place, packed is None), name=called)
        table = _relabelled(table, packed, book.path)
        into = sentences if kind == SENTENCE else weights
        if called in into and not np.array_equal(into[called].values, table.values):
            remarks.append(
                f"{called} stands in several places with different numbers; those on sheet "
                f"{into[called].sheet!r} are taken."
            )
        other = into.get(called)
        if other is not None and (other.rows, other.columns) != (table.rows, table.columns):
            into[called] = replace(
                other, labelled=(False, False)
            )  # a mask that serves several sentences
        into.setdefault(called, table)
    if not sentences:
        raise InputError(f"{book.path}, sheet '{SETTINGS}': names no sentence. Was it edited?")
    rest = [line for line in lines if line[0].startswith(("lesson ", "blank "))]
    tables = Tables(book.path, sentences, weights)
    return Reopened(tables, recorded, tuple(rest), tuple(remarks), book)


def record_of(book: WrittenBook) -> list[Line]:
    """The lines of the record in a workbook.

    Raises:
        InputError: if it has none.
    """
    lines = read_record(book.grids)
    if lines is None:
        raise InputError(
            f"{book.path}: has no sheet '{SETTINGS}' that says how attn-xl wrote it. Give a workbook "
            "that attn-xl wrote, with all of its sheets."
        )
    return lines


def recorded_settings(path: Path, lines: Sequence[Line]) -> Settings:
    """The choices in a record.

    Raises:
        InputError: if one is not a choice that there is.
    """
    written = {name: value for name, value, _ in lines if not name.startswith(NO_CHOICES)}
    controls = str(written.pop(CONTROLS_LINE, True)).upper() != "FALSE"
    try:
        return Settings.chosen(
            {"controls": controls}, written, f"{path}, sheet '{SETTINGS}'", strict=False
        )
    except CallError as error:
        raise InputError(str(error)) from None


@dataclass(frozen=True)
class Switch:
    """A choice that a reader can turn in a workbook, and how it stands there now.

    Attributes:
        name: `Scale`; cell: where it stands, `sheet 'Controls', cell B5`.
        field: the setting that it is; was: as the record has it.
        now: what the workbook computes with now; None where no run computes the same.
        shown: what stands there; needs: what to enter.
    """

    name: str
    cell: str
    field: str
    was: Any
    now: Any
    shown: str
    needs: str

    @property
    def trouble(self) -> str:
        """What is wrong with it, if anything is."""
        return f"{self.name} is {self.shown}; enter {self.needs}." if self.now is None else ""


def switches(book: WrittenBook, recorded: Settings) -> Iterator[Switch]:
    """Every switch of a workbook."""
    for field, place in _standing(book):
        value = book.value(place.sheet, place.row, place.column)
        cell = f"sheet {place.sheet!r}, cell {address(place.row, place.column)}"
        needs = ENTER.get(field, f"{ON} or {OFF}")
        now = _understood(field, value)
        if field == "causal" and recorded.model.always_causal:
            needs = f"{ON}: a {recorded.model.value} hides later words always"
            now = now or None
        shown = _entered(value) if now is None else shown_choice(now)
        yield Switch(CELLS[field], cell, field, _recorded(field, recorded), now, shown, needs)


def current_settings(book: WrittenBook, recorded: Settings) -> Settings:
    """The choices as the switches of a workbook stand now.

    Raises:
        InputError: for a switch with which no run computes what the workbook does.
    """
    changed: dict[str, Any] = {}
    for switch in switches(book, recorded):
        if switch.now is None:
            raise InputError(f"{book.path}, {switch.cell}: {switch.trouble}")
        if switch.field == "causal" and not switch.now:
            changed["switches"] = Asked.causal  # the workbook keeps its switch
        if switch.now != switch.was:
            at_one = switch.field == "temperature" and switch.now == 1
            changed[switch.field] = None if at_one else switch.now
    return replace(recorded, **changed)


def _standing(book: WrittenBook) -> Iterator[tuple[str, Place]]:
    """Each setting that has a cell, and its cell: by its name, or else beside its label."""
    for field, name in CELLS.items():
        place, _ = book.place(name, None)
        if place is None:
            for sheet in (CONTROLS, OPTIONS):
                labels = [row[0] if row else "" for row in book.grids.get(sheet, [])]
                if name in labels:
                    place = Place(sheet, labels.index(name) + 1, 2, 1, 1)
                    break
        if place is not None:
            yield field, place


def _recorded(field: str, settings: Settings) -> Any:
    """What the cell of a setting held when the workbook was written."""
    if field == "temperature":
        return settings.temperature or 1.0
    if field == "causal":
        return settings.causal or settings.model.always_causal
    return getattr(settings, field)


def _understood(field: str, value: Any) -> Any:
    """What the formulas of a workbook take the cell of a setting for; None if for nothing that can be
    chosen. To them only the text `on` is on, in capitals or not; TRUE and `yes` are not."""
    if field not in ENTER:
        return {ON: True, OFF: False}.get(value.lower()) if isinstance(value, str) else None
    if not is_number(value):
        return None
    return float(value) if 0 < value < (np.inf if field == "temperature" else 1.0) else None


def shown_choice(value: Any) -> str:
    """A choice in words."""
    return (ON if value else OFF) if isinstance(value, bool) else f"{value:g}"


def _entered(value: Any) -> str:
    """What stands in a cell, in words."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return repr(shortened(str(value))) if str(value) else "blank"


# Tables


def _table(book: WrittenBook, name: str, defined: str, recorded: str, labelled: bool) -> Table:
    """A table of a record; one without a name is found by the labels beside it, if it has any."""
    where = f"{book.path}, sheet '{SETTINGS}'"
    if not defined:
        return unpacked(name, recorded, where)
    place, told = book.place(defined, parse_place(recorded))
    if place is None:
        missing = parse_place(recorded)
        sheet = f" (sheet {missing.sheet!r})" if missing else ""
        raise InputError(f"{book.path}: the table {defined}{sheet} is not there any more. Put it back.")
    return table_at(book, name, place if told or not labelled else _settled(book, place))


def _relabelled(table: Table, packed: tuple[str, str] | None, path: Path) -> Table:
    """A table with the words that its record has, where they do not stand beside it."""
    if packed is None:
        return table
    try:
        rows, columns = (tuple(map(str, json.loads(text))) for text in packed)
    except (ValueError, TypeError):
        raise InputError(
            f"{path}, sheet '{SETTINGS}': the words of {table.name} are damaged."
        ) from None
    if (len(rows), len(columns)) != table.shape:
        return table
    return replace(table, rows=rows, columns=columns)


def unpacked(name: str, text: str, where: str) -> Table:
    """A table that a record holds as JSON.

    Raises:
        InputError: if it does not.
    """
    try:
        packed: Mapping[str, Any] = json.loads(text)
        values = np.array(packed["values"], np.float64)
        rows, columns = tuple(packed["rows"]), tuple(packed["columns"])
        if (
            values.shape != (len(rows), len(columns))
            or not np.isfinite(values).all()
            or not values.size
        ):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{where}: the table {name} was left out of this workbook (--sheets-for), so it cannot be "
            "read back. Use the input that it was made from."
        ) from None
    return Table(name, values, rows, columns, (True, True), where, SETTINGS, 1, 1)


def table_at(book: WrittenBook, name: str, place: Place) -> Table:
    """The table in some cells, with the labels beside and above them.

    Raises:
        InputError: for a cell in it that is not a finite number.
    """
    rows, columns = book.labels(place)
    values = np.full((len(rows), len(columns)), np.nan)
    blank = np.zeros(values.shape, bool)
    for i, j in np.ndindex(*values.shape):
        value = book.value(place.sheet, place.row + i, place.column + j)
        blank[i, j] = value == "" or value is None
        if is_number(value):
            values[i, j] = value
    # A row or column that was put in and left empty is none.
    kept_rows = [i for i, label in enumerate(rows) if label or not blank[i].all()]
    kept = [j for j, label in enumerate(columns) if label or not blank[:, j].all()]
    if not kept_rows or not kept:
        raise InputError(
            f"{book.path}, sheet {place.sheet!r}, cells {place.range}: blank where the table {name} "
            "was. Put it back."
        )
    for i in kept_rows:
        for j in kept:
            if not isfinite(values[i, j]):
                cell = address(place.row + i, place.column + j)
                text = book.text(place.sheet, place.row + i, place.column + j)
                found = f"the text {shortened(text)!r}" if text else "blank"
                raise InputError(
                    f"{book.path}, sheet {place.sheet!r}, cell {cell}: "
                    f"{found} where a number is needed."
                )
    return Table(
        name=name,
        values=values[np.ix_(kept_rows, kept)],
        rows=tuple(rows[i] or f"word {i + 1}" for i in kept_rows),
        columns=tuple(columns[j] or f"dim {j + 1}" for j in kept),
        labelled=(True, True),
        file=str(book.path),
        sheet=place.sheet,
        row=place.row,
        column=place.column,
    )


def _settled(book: WrittenBook, place: Place) -> Place:
    """Where a table without a name stands: where it stood or, if something else is there now, near."""
    steps = sorted(
        ((r, c) for r in range(-4, 30) for c in range(-1, 10)), key=lambda s: abs(s[0]) + abs(s[1])
    )
    for down, right in steps:
        moved = replace(place, row=place.row + down, column=place.column + right)
        if moved.row > 1 and moved.column > 1 and _is_table(book, moved):
            return moved
    return place


def _is_table(book: WrittenBook, place: Place) -> bool:
    """Whether all cells are numbers, and there are labels to their left and above."""
    for row in range(place.row, place.last_row + 1):
        for column in range(place.column, place.last_column + 1):
            if not is_number(book.value(place.sheet, row, column)):
                return False
    rows, columns = book.labels(place)
    return all(rows) and all(columns)
