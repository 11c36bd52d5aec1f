"""Finds the tables on the sheets of a book and what each is for, by position, labels, defined names, or
the ranges given with --range."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attn_xl.errors import CallError, InputError, nearest
from attn_xl.records import record
from attn_xl.spreadsheets.addresses import Place, address, parse_area
from attn_xl.spreadsheets.book import Book
from attn_xl.spreadsheets.boxes import Box, Places, rectangles
from attn_xl.spreadsheets.metadata import Area, CellSet
from attn_xl.text import clean, listed, shortened

from .labels import LabelsOnlyError, described, numbers_in, read_region
from .names import (
    is_matrix_name,
    names_step,
    of_compared,
    of_head,
    of_recurrence,
    step_named,
    undecorated,
    weight_label,
    weight_name,
)
from .pytorch import is_title_of_parameter, may_be_cut, parameter_of, whole_name
from .regions import Grid, Region, find_regions
from .roles import NOT_READ, RESULT, Found, Reading, are_computed, inputs_like, pick

UNKNOWN = "its name looks like that of weights, but attn-xl does not know it"
MOST_NOTES = 3
"""Lines below a table taken for notes that a message lists."""


@record(frozen=True)
class Asked:
    """A range given with --range: `W_Q=Sheet!B3:F9`, `words`.

    Attributes:
        text: the text as given.
        name: the part before the `=`, or "".
        area: the sheet and the corners.
        weights: the name of the weights that it gives; "" for a sentence.
    """

    text: str
    name: str
    area: Area
    weights: str = ""


@dataclass
class SheetFound:
    """What was found on a sheet.

    Attributes:
        name: the sheet's name, without control characters.
        found: its tables.
        passed: why the whole sheet is skipped, or "".
        trouble: why its tables cannot be used, or None.
    """

    name: str
    found: list[Found] = field(default_factory=list)
    passed: str = ""
    trouble: InputError | None = None


def is_given(text: str, attention: str) -> bool:
    """Whether a text names the given attention weights `attention`, or those of one head, `A_2`."""
    name, _, number = text.rpartition("_")
    return bool(attention) and (text == attention or (name == attention and number.isdecimal()))


def asked_ranges(
    book: Book, texts: Sequence[str], sheets: Mapping[str, str], attention: str = ""
) -> list[Asked]:
    """Parse the ranges given with --range: addresses, defined names, or tables of the file.

    Args:
        sheets: the original name of each sheet, by its name without control characters.
        attention: the name of given attention weights.

    Raises:
        CallError: if a range, a name or a sheet does not exist.
    """
    known = {name.casefold(): (name, area) for name, area in reversed(book.marks.names())}
    asked = []
    for text in texts:
        name, _, reference = text.rpartition("=")
        reference = reference.strip()
        if reference.casefold() in known:
            area = known[reference.casefold()][1]
        else:
            parsed = parse_area(reference)
            if parsed is None or (parsed[0] is None and "!" in reference):
                names = [name for name, _ in known.values()]
                hint = f" {nearest(reference, names)}" if names else ""
                raise CallError(
                    f"--range is {text!r}; give a range such as 'Sheet!B3:F9' or a defined name.{hint}"
                )
            area = (_sheet_of(parsed[0], text, sheets), *parsed[1])
        name = name.strip()
        given = name if is_given(name, attention) else weight_label(name) if name else None
        asked.append(Asked(text, name, area, given or ""))
    return asked


def known_sheet(name: str, sheets: Mapping[str, str], option: str) -> str:
    """The original name of a sheet, matched without regard to case.

    Raises:
        CallError: if there is no such sheet.
    """
    by_folded = {plain.casefold(): original for plain, original in sheets.items()}
    found = sheets.get(name) or by_folded.get(name.casefold())
    if found is None:
        raise CallError(f"{option}: there is no sheet {name!r}. {nearest(name, sheets)}")
    return found


def _sheet_of(name: str | None, text: str, sheets: Mapping[str, str]) -> str:
    if name is not None:
        return known_sheet(name, sheets, f"--range {text}")
    if len(sheets) == 1:
        return next(iter(sheets.values()))
    if not sheets:
        raise CallError(f"--range {text}: the file has no table.")
    raise CallError(
        f"--range {text}: the file has several sheets; name one: '{next(iter(sheets))}!{text}'. The "
        f"sheets are: {', '.join(sheets)}."
    )


def tables_of_sheet(
    book: Book,
    original: str,
    plain: str,
    asked: Sequence[Asked],
    said: Reading,
    *,
    wanted: bool = False,
    attention: str = "",
) -> SheetFound:
    """The tables of a sheet and what they are for; PyTorch parameters keep their own names.

    Args:
        original, plain: the sheet's name in the file, and without control characters.
        asked: the ranges given for this sheet; if one is a sentence, no other table of the sheet is.
        said: what the numbers say that the workbook computes.
        wanted: whether --sheet names the sheet, so that a table on it may be a sentence even if its
            name looks like that of weights.
        attention: the name of given attention weights.
    """
    sheet = SheetFound(plain)
    grid = book.grids[original]
    found = list(_asked_tables(book, grid, plain, asked))
    roles = None if said.roles is None else said.roles.get(original, [])
    if roles is not None:
        found = _with_roles(found, roles)
    taken = [f.place for f in found]
    titles, crops, tables = every_table(book, original, plain)
    tables = [replace(f, factor=True) if said.is_factor(original, f) else f for f in tables]
    found = [_titled(f, titles, crops) for f in found]
    places = Places([_box(place) for place in taken])
    left = [n for n, f in enumerate(tables) if not places.at(_box(f.place))]
    if attention:
        given = {n: one for n in left if (one := _named_attention(tables[n], attention)) is not None}
        found += given.values()
        left = [n for n in left if n not in given]
    others = [tables[n] for n in left]
    if roles is not None:
        if is_given(plain, attention) and len(others) == 1 and not found:
            why = f"its sheet is called {plain!r}"
            found, others = [replace(others[0], use="weights", name=plain, why=why)], []
        others = [replace(f, why=RESULT if f.computed else NOT_READ) for f in others]
        embedded = any(f.use == "sentence" and f.computed for f in found)
        others = inputs_like(found, others, lambda f: embedded and said.is_read(original, f))
        sheet.found = sorted([*found, *others], key=lambda f: (f.place.row, f.place.column))
        sheet.passed = "" if sheet.found else "no numbers"
        return sheet
    named = _named_tables(book, original, plain, said, tables)
    own = weight_name(plain) or weight_label(plain) or parameter_of(plain)
    # `Enc1.gamma_1` says more than the label of its one row, `gamma`.
    less = _short(own or "")
    others = [tables[n] if less and named[n].name == less else named[n] for n in left]
    labelled = [f for f in others if f.use == "weights"]
    rest = [f for f in others if not f.use and (f.why != UNKNOWN or wanted)]
    unknown = [f for f in others if not f.use and f.why == UNKNOWN and not wanted]
    if own and len(book.grids) == len(rest) == 1 and _heads_words(book, original, rest[0]):
        own = None  # a file called w1.csv with a table of words
    if not own and rest and may_be_cut(plain):
        try:
            own = whole_name(plain, rest[0].shape, str(book.path))
        except InputError as error:
            sheet.found, sheet.trouble = [*found, *labelled, *rest, *unknown], error
            return sheet
    if own:
        _whole_sheet(book, sheet, own, rest, [*found, *labelled, *unknown])
        return sheet
    if any(f.use == "sentence" for f in found):
        rest = [replace(f, why="--range names another") for f in rest]
    elif rest:
        weights = {f.name: f for f in [*found, *labelled] if f.use == "weights"}
        rest = pick(rest, weights)
        sheet.trouble = _undecided(book, plain, rest)
    sheet.found = sorted(
        [*found, *labelled, *rest, *unknown], key=lambda f: (f.place.row, f.place.column)
    )
    if not sheet.found:
        sheet.passed = "no numbers"
        sheet.trouble = _lists(book, plain, grid)
    return sheet


def every_table(book: Book, original: str, plain: str) -> tuple[list[str], Places, list[Found]]:
    """The titles and areas of all regions of a sheet, and the tables, by position; found once for all
    surveys of a book."""
    key = "tables", original
    if key not in book.kept:
        formulas, (grid, sums) = book.marks.formulas(original), _without_sums(book, original)
        regions = find_regions(grid, _is_matrix_name, f"{book.path}, sheet {plain!r}")
        tables = [f for r in regions if (f := _found(book, grid, r, plain, formulas, sums)) is not None]
        titles = [clean(region.title) for region in regions]
        book.kept[key] = titles, Places([region.crop for region in regions]), tables
    titles, crops, tables = book.kept[key]
    return titles, crops, tables


def _without_sums(book: Book, sheet: str) -> tuple[Grid, list[tuple[Place, str]]]:
    """The cells of a sheet without sums of numbers beside them, and their places with their labels."""
    grid = book.grids[sheet]
    written = book.written if book.marks.formulas(sheet) else None
    if written is None:
        return grid, []
    from attn_xl.spreadsheets.sums import sums_in

    def value(at: tuple[int, int]) -> Any:
        line = grid[at[0] - 1] if 0 < at[0] <= len(grid) else []
        return line[at[1] - 1] if 0 < at[1] <= len(line) else ""

    cells = sums_in(written.sheets.get(sheet, {}), value)
    if not cells:
        return grid, []
    lines: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for cell, across in cells.items():
        lines.setdefault((across, cell[across]), []).append(cell)
    found = []
    for (across, _), line in lines.items():
        for place in (Place(sheet, *box) for box in rectangles(line)):
            head = place.row - across, place.column - (1 - across)
            above = value(head)
            label = above.strip() if isinstance(above, str) and head not in cells else ""
            found.append((place, label, [*place.cells(), *[head] * bool(label)]))
    grid = [[*row] for row in grid]
    for row, column in (cell for *_, blank in found for cell in blank):
        grid[row - 1][column - 1 : column] = [""] * (column <= len(grid[row - 1]))
    return grid, [(place, label) for place, label, _ in found]


def _named_tables(
    book: Book, original: str, plain: str, said: Reading, tables: Sequence[Found]
) -> list[Found]:
    """All tables of a sheet, with the weights that labels name; kept for all surveys of a book."""
    key = "named", original
    if key not in book.kept:
        named = (_named(f, book, original, plain) for f in tables)
        book.kept[key] = [_unless_result(f, original, said) for f in named]
    found: list[Found] = book.kept[key]
    return found


def _with_roles(asked: Sequence[Found], roles: Sequence[Found]) -> list[Found]:
    """The tables given with --range and those that formulas name; where they are the same, formulas
    say how the table stands."""
    found = []
    for f in asked:
        same = next((r for r in roles if (r.numbers, r.use) == (f.numbers, f.use)), None)
        if same is not None:
            f = replace(same, why=f.why, name=f.name or same.name)
        found.append(f)
    places = [f.place for f in asked]
    names = {f.name for f in asked if f.use == "weights"}
    return [
        *found,
        *(r for r in roles if r.name not in names and not any(map(r.place.overlaps, places))),
    ]


def _titled(f: Found, titles: Sequence[str], crops: Places) -> Found:
    """A table named by formulas, with the title of the region that it is in."""
    own = crops.at(_box(f.place)) if f.certain and not f.title else []
    return replace(f, title=titles[own[0]]) if own else f


def _box(place: Place) -> Box:
    return place.row - 1, place.column - 1, place.last_row - 1, place.last_column - 1


def add_labelled(sheets: Mapping[str, SheetFound], book: Book, said: Reading) -> None:
    """Take the weights that a label names and that formulas read before or after the attention that
    they compute: an output projection, a feed-forward layer, layer norms. A name that occurs twice
    tells nothing; whether a mask is added to the scores, the formulas say.

    Args:
        sheets: the sheets by their original name; updated.
    """
    named: dict[str, list[tuple[str, int, Found]]] = {}
    for original, sheet in sheets.items():
        for i, f in enumerate(sheet.found):
            one = _named(f, book, original, sheet.name) if f.why == NOT_READ else f
            own = weight_label(sheet.name) if len(sheet.found) == 1 and not one.use else None
            if own and f.why == NOT_READ:
                one = replace(f, use="weights", name=own, why=f"its sheet is called {sheet.name!r}")
            if one.use == "weights" and (f.use or one.name not in ("Mask", "W_P")):
                named.setdefault(one.name, []).append((original, i, one))
    for (original, i, f), *others in named.values():
        follows = said.unfinished and f.name in ("W_V", "b_V", "W_O", "b_O")
        if not (others or sheets[original].found[i].use) and (follows or said.is_read(original, f)):
            sheets[original].found[i] = f


def _unless_result(f: Found, sheet: str, said: Reading) -> Found:
    """A table whose label names weights, unless its numbers are the result of formulas."""
    if f.use != "weights" or not said.is_result(sheet, f):
        return f
    return replace(f, use="", name="", parameter="", why=RESULT)


def _is_matrix_name(text: str) -> bool:
    return is_matrix_name(text) or parameter_of(text) is not None


def _lists(book: Book, sheet: str, grid: Grid) -> InputError | None:
    """The error for a sheet without numbers that has lists of numbers as text; None if it has none."""
    for row, values in enumerate(grid, 1):
        for column, value in enumerate(values, 1):
            if numbers_in(value):
                return InputError(
                    f"{book.path}, sheet {sheet!r}, cell {address(row, column)}: {described(value)} "
                    "where a number is needed."
                )
    return None


def _whole_sheet(
    book: Book, sheet: SheetFound, name: str, rest: list[Found], found: list[Found]
) -> None:
    """Assign the one table of a sheet that is named as weights."""
    if len(rest) > 1:
        rest = pick(rest, {})
        if not any(f.use for f in rest):
            sheet.trouble = _undecided(book, sheet.name, rest, name)
    sheet.found = [*found, *(
        replace(
            f, use="weights", name=name, why=f"its sheet is called {sheet.name!r}",
            parameter="" if weight_label(sheet.name) else name,
        )
        if f.use or len(rest) == 1 else f for f in rest
    )]  # fmt: skip
    if not sheet.found:
        sheet.trouble = InputError(
            f"{book.path}, sheet {sheet.name!r}: no numbers; fill in {name} or delete the sheet."
        )


def sentence_candidates(found: Sequence[Found]) -> list[Found]:
    """The candidates for the sentence of a sheet, the likely ones first."""
    return by_likelihood([f for f in found if f.why.startswith("may be")])


def by_likelihood(found: Sequence[Found]) -> list[Found]:
    """Tables, those that are likely inputs first: factors of matrix products, then labelled tables,
    then larger ones; results of formulas and attention weights last."""

    def rank(f: Found) -> tuple[int, ...]:
        labels = sum(f.table.labelled) if f.table else 0
        return bool(f.computed), _are_shares(f), not f.factor, -labels, -f.shape[0] * f.shape[1]

    return sorted(found, key=rank)


def _heads_words(book: Book, original: str, found: Found) -> bool:
    """Whether the corner of a table says that its rows are words."""
    corner = book.grids[original][found.place.row - 1][found.place.column - 1]
    return str(corner).strip().casefold() in ("word", "words", "token", "tokens")


MOST_RANGES = 3
"""Ranges that an error proposes."""


def _undecided(book: Book, sheet: str, found: Sequence[Found], name: str = "") -> InputError | None:
    if any(f.use for f in found):
        return None
    left = sentence_candidates(found)
    if not name and all(f.computed and names_step(f.title) for f in left):
        titles = listed([*dict.fromkeys(repr(f.title) for f in left)], 4)
        return InputError(
            f"{book.path}, sheet {sheet!r}: has {titles}, computed by formulas, but no input. Type its "
            f"numbers, or choose a table: --range {left[0].where!r}."
        )
    shown = [f"{f.range} ({f.size}{', ' + repr(f.title) if f.title else ''})" for f in left]
    ranges = [f'--range "{f"{name}=" if name else ""}{f.where}"' for f in left]
    given = [f for f in left if f.title and _are_shares(f)]
    hint = (
        f"If {given[0].range} has the attention weights to use in place of a softmax, give --attention "
        f"{shlex.quote(given[0].title)}. "
        if given and not name
        else ""
    )
    return InputError(
        f"{book.path}, sheet {sheet!r}: {len(left)} tables may be {name or 'the sentence'}: "
        f"{listed(shown)}. {hint}If they are one table, delete the empty rows or columns between them; "
        f"if not, choose one: {' or '.join(ranges[:MOST_RANGES])}. (attn-xl inspect shows them all.)"
    )


def _are_shares(f: Found) -> bool:
    """Whether a square table has rows that sum to 1, as attention weights do."""
    if f.table is None or f.shape[0] != f.shape[1]:
        return False
    values = f.table.values
    return bool((values >= 0).all() and np.allclose(values.sum(axis=1), 1))


def _asked_tables(book: Book, grid: Grid, plain: str, asked: Sequence[Asked]) -> Iterator[Found]:
    for ask in asked:
        _, top, left, bottom, right = ask.area
        first = left - 1
        part: Grid = [[] for _ in grid[: top - 1]]
        part += [[""] * len(row[:first]) + row[first:right] for row in grid[top - 1 : bottom]]
        regions = find_regions(part, _is_matrix_name)
        where = f"{plain}!{address(top, left)}:{address(bottom, right)}"
        if not regions:
            raise InputError(f"{book.path}: there are no numbers in the range {where}.")
        if len(regions) > 1:
            region = _largest_around(regions)
            if region is None:
                places = listed([r.place(plain).range for r in regions])
                raise InputError(
                    f"{book.path}: the range {where} holds {len(regions)} tables: {places}. Give one."
                )
            regions = [region]
        found = _found(book, part, regions[0], plain, None)
        if found is None:
            raise InputError(f"{book.path}: the range {where} holds labels without a table.")
        why = f"--range {ask.text}"
        if ask.weights:
            yield replace(found, use="weights", name=ask.weights, why=why)
        else:
            yield replace(found, use="sentence", name=ask.name, why=why)


def _largest_around(regions: Sequence[Region]) -> Region | None:
    """The region whose numbers and labels span all others; None if there is none."""
    for region in regions:
        top, left, bottom, right = region.crop
        if all(top <= r.box[0] and left <= r.box[1] and r.box[2] <= bottom and r.box[3] <= right
               for r in regions):  # fmt: skip
            return region
    return None


def _found(
    book: Book, grid: Grid, region: Region, sheet: str, formulas: CellSet | None,
    sums: Sequence[tuple[Place, str]] = (),
) -> Found | None:  # fmt: skip
    """Convert a region to a Found record; None if it contains only labels."""
    top, left, bottom, right = region.box
    numbers = f"{address(top + 1, left + 1)}:{address(bottom + 1, right + 1)}"
    table, problem, notes = None, "", []
    try:
        table, texts = read_region(grid, region, str(book.path), sheet)
        if texts:
            one = texts == 1
            what = "number is stored" if one else "numbers are stored"
            notes.append(f"{texts} {what} as text and read as {'a number' if one else 'numbers'}")
    except LabelsOnlyError:
        return None
    except InputError as error:
        problem = str(error)
    notes += region.aside
    for row, text in region.below[:MOST_NOTES]:
        at = address(row + 1, region.crop[1] + 1)
        notes.append(
            f"{shortened(clean(text))!r} in {at} has no numbers beside it and is taken for a note"
        )
    if len(region.below) > MOST_NOTES:
        notes.append(f"so are {len(region.below) - MOST_NOTES} more below it")
    for place, label in sums:
        if _sums_up(place, region.box):
            called = f", {label!r}," if label else ""
            notes.append(f"{place.range}{called} is computed from its numbers and is left out")
    shape = table.shape if table is not None else (bottom - top + 1, right - left + 1)
    if table is not None:
        first, last = (
            address(table.row, table.column),
            (table.row + shape[0] - 1, table.column + shape[1] - 1),
        )
        numbers = f"{first}:{address(*last)}"
    computed = None
    if formulas is not None:
        cells = [
            (r + 1, c + 1)
            for r in range(top, bottom + 1)
            for c, value in enumerate(grid[r][left : right + 1], left)
            if isinstance(value, (int, float))
        ]
        computed = are_computed(cells, formulas)
    return Found(
        place=region.place(sheet),
        numbers=numbers,
        shape=shape,
        title=clean(region.title),
        names=tuple((clean(text), at) for text, at in region.near),
        table=table,
        problem=problem,
        computed=computed,
        notes=tuple(notes),
        sentences=region.sentences,
    )


def _sums_up(place: Place, box: Box) -> bool:
    """Whether sums stand shortly after numbers, beside or below them."""
    from attn_xl.spreadsheets.sums import NEAR

    top, left, bottom, right = (edge + 1 for edge in box)
    beside = top <= place.row <= bottom and 0 < place.column - right <= NEAR
    return beside or (left <= place.column <= right and 0 < place.row - bottom <= NEAR)


def _named(f: Found, book: Book, original: str, plain: str) -> Found:
    """Mark a table as weights if a defined name or a label beside it says so."""
    for name, area in book.marks.names():
        if area[0] == original and weight_label(name) and _is_at(area, f):
            why = f"its defined name is {name!r}"
            return replace(f, use="weights", name=weight_label(name) or "", why=why)
    if f.names and "called" not in book.kept:
        own = of_compared(book.texts) or of_recurrence(book.texts)
        book.kept["called"] = {name: step for name, step in own.items() if weight_name(step)}
    for text, at in f.names:
        own = book.kept["called"].get(undecorated(text).casefold())
        name = of_head(own or weight_label(text) or "", plain)
        if name:
            return replace(f, use="weights", name=_in_full(name, f), why=f"{text!r} is {at}")
        name = parameter_of(text, "" if weight_label(plain) else plain) or ""
        if name:
            why = f"{text!r} is {at}"
            return replace(f, use="weights", name=name, why=why, parameter=name)
    if f.names and is_title_of_parameter(f.names[0][0]):
        return replace(f, why=UNKNOWN)
    if f.names and not f.computed and step_named(f.names[0][0]) == ("Positions", False):
        return replace(f, use="weights", name="W_P", why="{!r} is {}".format(*f.names[0]))
    return f


def _in_full(name: str, f: Found) -> str:
    """The name of weights with its place in the model, if a title of theirs has that."""
    names = (weight_label(text) or "" for text, _ in f.names)
    return next((one for one in names if _short(one) == name), name)


def _short(name: str) -> str:
    """`gamma` for `Enc1.gamma_1`."""
    return re.sub(r"_\d+$", "", name.rpartition(".")[2])


def _named_attention(f: Found, attention: str) -> Found | None:
    """A table as the given attention weights, if its label says so; it may be a result."""
    for text, at in f.names:
        name = text.rstrip(" :=")
        if is_given(name, attention):
            return replace(f, use="weights", name=name, why=f"{text!r} is {at}")
        if weight_label(text):
            break
    return None


def _is_at(area: Area, f: Found) -> bool:
    """Whether an area is the table, with or without its labels."""
    _, top, left, bottom, right = area
    place = f.place
    ends_there = (bottom, right) == (place.last_row, place.last_column)
    inner = f.numbers.partition(":")[0]
    return ends_there and ((top, left) == (place.row, place.column) or address(top, left) == inner)
