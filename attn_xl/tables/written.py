"""Reads back a workbook that attn-xl wrote: its record, its tables and settings as they are now.

`workbook/layout/settings_sheet.py` writes the record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from attn_xl.errors import CallError, InputError
from attn_xl.records import record
from attn_xl.settings import CELLS, OPTIONS, OVERVIEW, SETTINGS, Model, Settings, Switch
from attn_xl.spreadsheets.addresses import Place, address, parse_place
from attn_xl.spreadsheets.book import Book, read_book
from attn_xl.spreadsheets.numerals import Grid, as_text, is_number
from attn_xl.text import OFF, ON, clean, shortened

from .survey import Table, Tables

NOTE = "How this workbook was made. attn-xl reads it back by these lines: leave them as they are."
"""The first line of a record."""
NOT_KEPT = ("controls", "formulas", "random_weights", "hidden", "decimals")
SENTENCE, WEIGHTS, GIVEN, ANSWERS = "sentence", "weights", "given", "answers"
KEPT = "kept"
CONTROLS_LINE, LABELS = "controls", "labels"
NO_CHOICES = tuple(
    f"{kind} " for kind in (SENTENCE, WEIGHTS, GIVEN, ANSWERS, KEPT, LABELS, "lesson", "blank")
)
"""Prefixes of the lines of a record that are not settings."""


def drawn_before(number: int) -> str:
    """The name in the tables for the dropout mask number `number` that a workbook already has; no sheet
    of an input has such a name."""
    return f"DropoutMask#{number}"


def entered_name(name: str, sentence: str) -> str:
    """The name in the tables for values entered for a step of a sentence."""
    return f"{name}@{sentence}"


def chosen_lines(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Yield the settings that differ from their defaults, as lines of a record."""
    for choice in fields(Settings):
        value = getattr(settings, choice.name)
        if choice.name in NOT_KEPT or value == choice.default:
            continue
        shown = value.value if isinstance(value, Enum) else value
        if isinstance(shown, bool):
            shown = "TRUE" if shown else "FALSE"
        yield choice.name.replace("_", "-"), shown


def model_lines(settings: Settings) -> dict[str, Any]:
    """The settings of the model itself that differ from their defaults: not of its learning, nor of how
    it is shown."""
    own = {"model"}
    for choice in fields(Settings):
        general = choice.metadata["models"] == tuple(Model)
        of_learning = choice.name == "steps" or choice.metadata["needs"] == ("steps",)
        if not general and not of_learning:
            own.add(choice.name.replace("_", "-"))
    return {name: value for name, value in chosen_lines(settings) if name in own}


def _is_record(grid: list[list[Any]]) -> bool:
    """Whether a sheet is a record, in any language: it says so, or has the title and lines of one."""
    if any(row and row[0] == NOTE for row in grid[:3]):
        return True
    lines = [str(row[0]) for row in grid[4:] if row]
    return bool(grid and grid[0] and grid[0][0] == SETTINGS) and any(
        line.startswith(NO_CHOICES) for line in lines
    )


def read_record(grids: Mapping[str, list[list[Any]]]) -> list[tuple[str, Any, str]] | None:
    """The lines (name, value, place) of a `Settings` sheet written by attn-xl; None if there is no
    such sheet."""
    grid = grids.get(SETTINGS)
    if grid is None or not _is_record(grid):
        return None
    lines = []
    for row in grid[4:]:
        name, value, place = (*row, "", "", "")[:3]
        if name != "":
            lines.append((str(name), value, str(place)))
    return lines


@record(frozen=True, eq=False, repr=False)
class WrittenBook:
    """The values of a workbook by sheet, and its defined names.

    Attributes:
        names: cells by case-folded name; None for names whose cells were deleted.
    """

    path: Path
    grids: dict[str, Grid]
    names: dict[str, Place | None]

    @classmethod
    def read(cls, path: Path) -> WrittenBook:
        """Read a workbook of any format.

        Raises:
            InputError: if it cannot be read.
        """
        return cls.of(read_book(path))

    @classmethod
    def of(cls, book: Book) -> WrittenBook:
        """Build it from a book that was read."""
        names = {n.casefold(): parse_place(to) for n, to in book.marks.references().items()}
        return cls(book.path, book.grids, names)

    def value(self, sheet: str, row: int, column: int) -> Any:
        """The value of a cell; "" if blank."""
        grid = self.grids.get(sheet, [])
        line = grid[row - 1] if 0 < row <= len(grid) else []
        return line[column - 1] if 0 < column <= len(line) else ""

    def text(self, sheet: str, row: int, column: int) -> str:
        """The value of a cell as a label."""
        return clean(as_text(self.value(sheet, row, column)))

    def place(self, name: str, recorded: Place | None) -> tuple[Place | None, bool]:
        """The cells of a defined name, or else the recorded cells; and whether the name was found."""
        now = self.names.get(name.casefold()) if name else None
        if now is not None and now.sheet in self.grids:
            return now, True
        return (recorded if recorded and recorded.sheet in self.grids else None), False

    def find(
        self,
        name: str,
        recorded: Place,
        rows: Sequence[str],
        columns: Sequence[str],
        *,
        labelled: bool = True,
    ) -> Place | None:
        """The cells of a matrix: those of its defined name or, without one, those recorded; None if it
        is not there.

        Args:
            name: its defined name; recorded: its recorded place; rows, columns: its labels.
            labelled: whether labels stand beside it and above it.
        """
        place, by_name = self.place(name, recorded)
        if place is None or (place.rows, place.columns) != (recorded.rows, recorded.columns):
            return None
        beside, above = self.labels(place)
        moved = labelled and not by_name and beside != tuple(rows) and above != tuple(columns)
        return None if moved else place

    def labels(self, place: Place) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The labels to the left of a range and above it."""
        rows = range(place.row, place.last_row + 1)
        columns = range(place.column, place.last_column + 1)
        return (
            tuple(self.text(place.sheet, row, place.column - 1) for row in rows),
            tuple(self.text(place.sheet, place.row - 1, column) for column in columns),
        )


Line = tuple[str, Any, str]
KINDS = (SENTENCE, WEIGHTS, GIVEN)
ENTER = {
    "temperature": "a number above 0",
    "dropout": "a share above 0 and below 1",
    "residual_dropout": "a share above 0 and below 1",
    "epsilon": "a small number above 0",
    "rate": "a number above 0",
    **dict.fromkeys(("momentum", "beta1", "beta2", "decay"), "a number of at least 0 and below 1"),
    "adam_epsilon": "a small number above 0",
    "rotary_base": "a number above 1",
    "window": "a whole number above 0",
    "word_temperature": "a number above 0",
    "seed": "a whole number of at least 0",
}
"""Values to enter for numeric settings; the others are on or off."""


@record(frozen=True, eq=False, repr=False)
class Reopened:
    """A written workbook, read back.

    Attributes:
        tables: sentences (n, d), weights and masks, with their current numbers and words.
        recorded: the model and its settings when the workbook was written.
        lines: the other lines of its record: name, value, place.
        remarks: messages about what could not be read back.
        book: its cells.
    """

    tables: Tables
    recorded: Settings
    lines: tuple[Line, ...]
    remarks: tuple[str, ...]
    book: WrittenBook

    @property
    def settings(self) -> Settings:
        """The model and its settings, with the current positions of the switches.

        Raises:
            InputError: if a switch has a value that no run supports.
        """
        return current_settings(self.book, self.recorded)


def reopened(book: WrittenBook) -> Reopened:
    """Read back a workbook that attn-xl wrote, whichever program saved it since.

    A table is located by its defined name, which moves with its cells, or else by the address in the
    record; its numbers and labels are those in the cells now.

    Raises:
        InputError: if the workbook has no record, or a table is missing or incomplete.
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
                f"{called} is in several places with different numbers; those on sheet "
                f"{into[called].sheet!r} are used."
            )
        other = into.get(called)
        if other is not None and (other.rows, other.columns) != (table.rows, table.columns):
            into[called] = replace(other, labelled=(False, False))  # a mask shared by several sentences
        into.setdefault(called, table)
    if not sentences:
        raise InputError(
            f"{book.path}, sheet '{SETTINGS}': names no sentence. Undo edits to this sheet."
        )
    rest = [line for line in lines if line[0].startswith(("lesson ", "blank "))]
    tables = Tables(book.path, sentences, weights, labels=_answers(book, lines, sentences))
    return Reopened(tables, recorded, tuple(rest), tuple(remarks), book)


def record_of(book: WrittenBook) -> list[Line]:
    """The lines of the record in a workbook.

    Raises:
        InputError: if there is no record.
    """
    lines = read_record(book.grids)
    if lines is None:
        raise InputError(
            f"{book.path}: has no sheet '{SETTINGS}' written by attn-xl. Give a workbook that attn-xl "
            "wrote, with all of its sheets."
        )
    return lines


def recorded_settings(path: Path, lines: Sequence[Line]) -> Settings:
    """The settings in a record.

    Raises:
        InputError: if a setting or its value is unknown.
    """
    written = {name: value for name, value, _ in lines if not name.startswith(NO_CHOICES)}
    controls = str(written.pop(CONTROLS_LINE, True)).upper() != "FALSE"
    try:
        return Settings.resolve(
            {"controls": controls}, written, f"{path}, sheet '{SETTINGS}'", strict=False
        )
    except CallError as error:
        raise InputError(str(error)) from None


@record(frozen=True)
class SwitchCell:
    """A setting that a reader can change in a workbook, and its current value.

    Attributes:
        name: `Scale`; cell: its cell, `sheet 'Controls', cell B5`.
        field: the field of `Settings`; was: its value in the record.
        now: the value the workbook computes with now; None if no run supports it.
        shown: the text of the cell; needs: what to enter.
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
        """What is wrong with the value; "" if nothing is."""
        return f"{self.name} is {self.shown}; enter {self.needs}." if self.now is None else ""


def switches(book: WrittenBook, recorded: Settings) -> Iterator[SwitchCell]:
    """Yield every switch of a workbook."""
    for field, place in _setting_cells(book):
        value = book.value(place.sheet, place.row, place.column)
        cell = f"sheet {place.sheet!r}, cell {address(place.row, place.column)}"
        needs = ENTER.get(field, f"{ON} or {OFF}")
        now = _understood(field, value)
        if field == "causal" and recorded.model.always_causal:
            needs = f"{ON}: a {recorded.model.value} always hides later words"
            now = now or None
        shown = _entered(value) if now is None else shown_choice(now)
        yield SwitchCell(CELLS[field], cell, field, _recorded(field, recorded), now, shown, needs)


def current_settings(book: WrittenBook, recorded: Settings) -> Settings:
    """The settings with the current positions of a workbook's switches.

    Raises:
        InputError: if a switch has a value that no run supports.
    """
    changed: dict[str, Any] = {}
    for switch in switches(book, recorded):
        if switch.now is None:
            raise InputError(f"{book.path}, {switch.cell}: {switch.trouble}")
        if switch.field == "causal" and not switch.now:
            changed["switches"] = Switch.causal  # the workbook keeps its switch
        if switch.now != switch.was:
            at_one = switch.field == "temperature" and switch.now == 1
            changed[switch.field] = None if at_one else switch.now
    return replace(recorded, **changed)


def _setting_cells(book: WrittenBook) -> Iterator[tuple[str, Place]]:
    """Yield each setting that has a cell, with the cell: by its name, or else beside or below its
    label."""
    for field, name in CELLS.items():
        place, _ = book.place(name, None)
        if place is None:
            for sheet in (OVERVIEW, OPTIONS):
                for row, cells in enumerate(book.grids.get(sheet, []), 1):
                    if name in cells and place is None:
                        column = cells.index(name) + 1
                        beside = sheet == OPTIONS and column == 1
                        place = Place(sheet, row + (not beside), column + beside, 1, 1)
        if place is not None:
            yield field, place


def _recorded(field: str, settings: Settings) -> Any:
    """The value of a setting's cell when the workbook was written."""
    if field == "temperature":
        return settings.temperature or 1.0
    if field == "causal":
        return settings.causal or settings.model.always_causal
    return getattr(settings, field)


def _understood(field: str, value: Any) -> Any:
    """The value that the formulas of a workbook read from a setting's cell; None if it is not allowed.
    They accept only the text `on`, in upper or lower case, as on; TRUE and `yes` are not on."""
    if field not in ENTER:
        return {ON: True, OFF: False}.get(value.lower()) if isinstance(value, str) else None
    if not is_number(value):
        return None
    if "whole" in ENTER[field] and value != int(value):
        return None
    most = 1.0 if "below 1" in ENTER[field] or "small" in ENTER[field] else np.inf
    least = 1.0 if "above 1" in ENTER[field] else 0.0
    allowed = least < value < most or (value == 0 and "at least 0" in ENTER[field])
    return float(value) if allowed else None


def shown_choice(value: Any) -> str:
    """Format the value of a setting."""
    return (ON if value else OFF) if isinstance(value, bool) else f"{value:g}"


def _entered(value: Any) -> str:
    """Format the value of a cell for a message."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return repr(shortened(str(value))) if str(value) else "blank"


# Tables


def _table(book: WrittenBook, name: str, defined: str, recorded: str, labelled: bool) -> Table:
    """Read a table listed in the record; one without a name is located by the labels beside it."""
    where = f"{book.path}, sheet '{SETTINGS}'"
    if not defined:
        return unpacked(name, recorded, where)
    place, by_name = book.place(defined, parse_place(recorded))
    if place is None:
        missing = parse_place(recorded)
        sheet = f" (sheet {missing.sheet!r})" if missing else ""
        raise InputError(f"{book.path}: the table {defined}{sheet} is missing. Put it back.")
    return table_at(book, name, place if by_name or not labelled else _located(book, place))


def _answers(
    book: WrittenBook, lines: Sequence[Line], sentences: Mapping[str, Table]
) -> dict[str, tuple[str, ...]]:
    """The right answers for each sentence: all texts of its cells; of cells that sentences share, its
    own row. Words at the end of a sentence without an answer have a blank one."""
    found: dict[str, list[str]] = {}
    for name, defined, _ in lines:
        kind, _, sentence = name.partition(" ")
        if kind == ANSWERS:
            found.setdefault(str(defined), []).append(sentence)
    answers: dict[str, tuple[str, ...]] = {}
    places = {str(defined): parse_place(place) for _, defined, place in lines}
    for defined, names in found.items():
        cells, _ = book.place(defined, places[defined])
        if cells is None:
            raise InputError(f"{book.path}: the labels {defined} are missing. Put them back.")
        texts = [book.text(cells.sheet, cells.row + i, cells.column) for i in range(cells.rows)]
        if len(names) > 1 or len(texts) == 1:
            answers |= {name: (text,) for name, text in zip(names, texts)}
        for name in names if len(names) == 1 and len(texts) > 1 else ():
            words = sentences[name].rows if name in sentences else ()
            answers[name] = (*texts, *[""] * (len(words) - len(texts)))
    return answers


def _relabelled(table: Table, packed: tuple[str, str] | None, path: Path) -> Table:
    """Label a table with the words in the record, if they are not beside the table."""
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
    """Read a table that the record stores as JSON.

    Raises:
        InputError: if the record does not contain it.
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
            "read back. Use the input it was made from."
        ) from None
    return Table(name, values, rows, columns, (True, True), where, SETTINGS, 1, 1)


def table_at(book: WrittenBook, name: str, place: Place) -> Table:
    """Read a table from a range of cells, with the labels beside and above them.

    Raises:
        InputError: if a cell is not a finite number.
    """
    rows, columns = book.labels(place)
    values = np.full((len(rows), len(columns)), np.nan)
    blank = np.zeros(values.shape, bool)
    for i, j in np.ndindex(*values.shape):
        value = book.value(place.sheet, place.row + i, place.column + j)
        blank[i, j] = value == "" or value is None
        if is_number(value):
            values[i, j] = value
    # Inserted rows and columns that were left empty are skipped.
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


def _located(book: WrittenBook, place: Place) -> Place:
    """The current position of a table without a name: its recorded place, or a table near it."""
    steps = sorted(
        ((r, c) for r in range(-4, 30) for c in range(-1, 10)), key=lambda s: abs(s[0]) + abs(s[1])
    )
    for down, right in steps:
        moved = replace(place, row=place.row + down, column=place.column + right)
        if moved.row > 1 and moved.column > 1 and _is_table(book, moved):
            return moved
    return place


def _is_table(book: WrittenBook, place: Place) -> bool:
    """Whether all cells are numbers with labels to their left and above."""
    for row in range(place.row, place.last_row + 1):
        for column in range(place.column, place.last_column + 1):
            if not is_number(book.value(place.sheet, row, column)):
                return False
    rows, columns = book.labels(place)
    return all(rows) and all(columns)
