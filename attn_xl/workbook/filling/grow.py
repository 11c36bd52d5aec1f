"""Puts other words, and other numbers of words and dimensions, into the arrangement of an author's
workbook."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.extent import HIDES
from attn_xl.labelled import Labelled
from attn_xl.models import steps
from attn_xl.settings import COMPARE
from attn_xl.spreadsheets.addresses import Corners, Place, address, quoted
from attn_xl.spreadsheets.drawn import ARRAY, DrawnBook, DrawnSheet, read_drawn
from attn_xl.spreadsheets.formulas import formula_in, relative
from attn_xl.tables.frames import (
    FURTHEST,
    Frame,
    Group,
    Page,
    Title,
    box,
    distance,
    labels_of,
    of_sheet,
    page_of,
    tables_given,
    titles_of,
)
from attn_xl.tables.headings import OF_HEADS
from attn_xl.tables.labels import Table, words_seen
from attn_xl.tables.names import weight_label
from attn_xl.tables.own_names import DIMENSIONS, WORDS, called_in, names_of, sheets_named, tags_of
from attn_xl.tables.survey import Tables, heads_of, heads_told
from attn_xl.text import count, listed
from attn_xl.workbook.xlsx.moved import Both, Moves, moved, names_cells_by_text
from attn_xl.workbook.xlsx.repeated import repeated
from attn_xl.workbook.xlsx.splice import (
    ArraySize,
    Filled,
    FilledCells,
    FilledRow,
    StoredValues,
    arrays_in,
)

from .groups import as_shown
from .sentences import OF_LOSSES, is_of_learning
from .titles import Assigned, Compute, plain_exponentials
from .two_words import OF_TWO_WORDS
from .words_apart import is_of_another_word

_COUNTED = re.compile(r"(.*?)(\d+)")
BLANK = Filled(None)
Cell = tuple[int, int]


class Lines(NamedTuple):
    """Columns of formulas beside a frame, and rows of them below it: the cells of each."""

    columns: list[list[Cell]]
    rows: list[list[Cell]]


@dataclass
class Grown:
    """An author's workbook with room for other sentences.

    Attributes:
        drawn: the workbook after its frames have grown.
        made: its frames, in their new places and sizes.
        cells: what the frames of the input and of weights, and all labels, hold now, by sheet.
        styles: the look of each cell of a frame, by sheet.
        labels: where the input of a sentence has its labels: the sheet, 0 for rows or 1 for columns,
            the first of these, and the cell where the first label stood.
    """

    drawn: DrawnBook
    made: Assigned
    cells: dict[str, FilledCells] = field(default_factory=dict)
    styles: dict[str, dict[Cell, int]] = field(default_factory=dict)
    labels: dict[tuple[int, tuple[str, ...]], tuple[str, int, int, Cell]] = field(default_factory=dict)

    def with_formulas(self, formulas: Mapping[str, FilledCells]) -> dict[str, FilledCells]:
        """Everything to write, by sheet, with its look."""
        written: dict[str, FilledCells] = {}
        for sheet in self.drawn.sheets:
            styles, cells = self.styles.get(sheet.name, {}), written.setdefault(sheet.name, {})
            for part in (self.cells.get(sheet.name, {}), formulas.get(sheet.name, {})):
                for row, line in part.items():
                    cells.setdefault(row, FilledRow()).maps[0].update(
                        (column, Filled(*one[:3], styles.get((row, column))))
                        for column, one in line.singly().items()
                    )
        return written

    def note_formulas(
        self, written: Mapping[str, FilledCells], values: dict[str, StoredValues]
    ) -> None:
        """Note the author's formulas: their values belong to other words, and some are repeated."""
        formulas = self.drawn.references.formulas if self.drawn.references else {}
        for sheet in formulas.keys() | written.keys():
            own = values.setdefault(sheet, {})
            own.update(dict.fromkeys(formulas.get(sheet, {})))
            for row, line in written.get(sheet, {}).items():
                for column, one in line.items():
                    own.pop((row, column), None)
                    if one.formula and one.value is None:
                        own[row, column] = None
            for array in arrays_in(written.get(sheet, {})):
                if (array.row, array.column) in own:
                    own.update(dict.fromkeys(array.cells()))


def grown(
    drawn: DrawnBook,
    tables: Tables,
    assign: Callable[[DrawnBook, Mapping[str, str]], Assigned],
    compute: Compute,
    called: Mapping[str, str],
) -> Grown:
    """Make room for sentences in an author's workbook, and put their words and numbers there.

    Args:
        tables: the sentences, one for each group of frames, and weights that replace the author's.
        assign: finds the frames of a workbook.
        compute: computes the model for the tables of one sentence.
        called: an author's own names, in lower case, and the steps they stand for.

    Raises:
        InputError: if there is no place for a sentence, or the workbook has something that cannot grow.
    """
    sentences = list(tables.sentences.items())
    names = _hold_places(drawn, called, tables)
    old = assign(drawn, names)
    for group in old.groups:
        if group.settings or any(frame.step == steps.QUERIES.symbol for frame in group.known):
            raise InputError(
                f"{drawn.path}: no input is given, which other words could replace. "
                "Type their numbers into the sheet, then fill it."
            )
        for name, has in (
            (steps.MEMORY.symbol, "looks at the words of"),
            (steps.GIVEN_ATTENTION.symbol, "has the attention weights of"),
            (next(filter(is_of_another_word, group.weights), ""), "stands beside the words of"),
        ):
            if seen := group.weights.get(name):
                raise InputError(
                    f"{drawn.path}: {group.input.where} {has} {seen[0].where}, which other words "
                    "cannot replace. Type them into the sheet, then fill it."
                )
        if _by_one_hot(drawn, group.input.place):
            raise InputError(
                f"{drawn.path}: {group.input.where} is made of one-hot vectors, which other words do "
                "not have. Type these vectors into the sheet, then fill it."
            )
        compared = {one.step for one in group.frames if is_of_learning(one.step)} | OF_LOSSES
        of_shared = {one.step for one in group.frames if one.step.startswith(COMPARE)} | {*OF_TWO_WORDS}
        for frame in (one for one in group.frames if one.step in of_shared | compared):
            what = "the right answers for" if frame.step in compared else "the words of"
            raise InputError(
                f"{drawn.path}: {frame.where} compares {what} {group.input.where}, which other "
                "words cannot replace. Type them into the sheet, then fill it."
            )
    while len(old.groups) < len(sentences):
        room = len(old.groups)
        drawn = read_drawn(drawn.path, _with_one_more(drawn, old, names))
        names |= _hold_places(drawn, called, tables)
        old = assign(drawn, names)
        if len(old.groups) <= room:
            raise InputError(
                f"{drawn.path}: has room for {room} of {len(sentences)} sentences. Choose some with "
                f"--sheet {sentences[0][0]!r}, or add frames with titles for the others."
            )
    called = names
    made = Assigned(labels=old.labels, left=[f"In the template, {line}" for line in old.left])
    for group, before, (name, table) in zip(old.groups, old.graphs, sentences):
        fit = len(table.columns) == len(group.table.columns)
        theirs = {
            step: replace(own, rows=table.columns) if own.rows == group.table.columns else own
            for step, (_, own) in group.weights.items()
            if fit or step == steps.MASK.symbol
        }
        if steps.MASK.symbol in theirs:
            theirs[steps.MASK.symbol] = _for_words(theirs[steps.MASK.symbol], table.rows)
        cut = _cut_into_heads(tables.weights, group.weights)
        given = Tables(tables.path, {name: table}, {**theirs, **cut})
        implied = {**old.implied, **group.implied, **plain_exponentials(group)}
        heads = heads_of({step: table for step, (_, table) in group.weights.items()})
        if heads and group.weights.keys().isdisjoint(given.weights):
            given = _with_weights_of_heads(given, group, compute, {**implied, **heads})
        graph = as_shown(compute(given, implied), group.temperatures)
        for step, (frame, there) in group.weights.items():
            if step in before and step not in graph:
                of_words = step in (steps.W_P.symbol, steps.MASK.symbol, steps.TARGET.symbol)
                long = (len(table.rows), "word") if of_words else (len(table.columns), "dimension")
                raise InputError(
                    f"{frame.where}: {step} of the template is {there.shape[0]} x {there.shape[1]}, "
                    f"but {name!r} has {count(*long)}. Give {step} in the input, or generate it: --set "
                    "random-weights=1."
                )
        for frame in (one for one in group.frames if one.step not in graph):
            others = [one for one in graph if one.startswith(frame.step)]
            raise InputError(
                f"{frame.where}: the model of {name!r} has no {frame.step}"
                + (f", but {listed(others, 4)}." if others else ".")
            )
        used: dict[str, tuple[Frame, Any]] = {
            step: (frame, graph.get(step, own)) for step, (frame, own) in group.weights.items()
        }
        made.groups.append(replace(group, name=name, table=table, weights=used))
        made.graphs.append(graph)
    places = [_frames(old, n) for n in range(len(old.groups))]
    sizes = {
        frame: _size(made, n, frame)
        for n in range(len(made.groups))
        for frame in places[n]
        if frame.step in made.graphs[n]
    }
    alike = {frame.step: size for frame, size in sizes.items()}
    for n, frames in enumerate(places):
        for frame in (frame for frame in frames if frame not in sizes):
            size = frame.place.rows, frame.place.columns
            sizes[frame] = alike.get(frame.step, size) if n < len(made.groups) else size
    hers = _like_frames(drawn, sizes)
    for frame, like in hers.items():
        sizes[frame] = sizes[like]
        next(frames for frames in places if like in frames).append(frame)
    lines = {frame: _lines(drawn, frame, sizes) for frame in sizes}
    moves = _moves(drawn, sizes, _label_bands(made), lines)
    _refuse_texts(drawn, [*sizes], moves)
    after = read_drawn(drawn.path, moved(drawn, moves))
    result = Grown(after, made)
    pages = {sheet.name: page_of(sheet, {}) for sheet in drawn.sheets}
    for n, frames in enumerate(places):
        for frame in frames:
            _relabel(result, drawn, pages, moves, old, n, frame)
            _restyle(result, drawn, moves, frame, sizes[frame])
            rows, columns = sizes[frame]
            repeated = [([*frame.place.cells()], (rows, columns))] if frame in hers else []
            repeated += [(line, (rows, 1)) for line in lines[frame].columns]
            repeated += [(line, (1, columns)) for line in lines[frame].rows]
            for line, size in repeated:
                _repeat(result, frame.place.sheet, moves[frame.place.sheet], line, size)
    called_in(after, called)
    for sheet in after.sheets:
        list(tags_of(sheet, str(drawn.path), called))
    _move(made, moves, sizes)
    new = [frame.place for group in made.groups for frame in group.frames]
    for sheet in after.sheets:  # their arrays make way for new ones
        sheet.closed = [one for one in sheet.closed if not _is_array_in(sheet.name, *one, new)]
    for group in made.groups:
        for frame, table in [(group.input, group.table), *group.weights.values()]:
            cells = result.cells.setdefault(frame.place.sheet, {})
            values = table.values.T if frame.turned else table.values
            for row, line in enumerate(values.tolist(), frame.place.row):
                own = cells.setdefault(row, FilledRow())
                own.update(enumerate(map(Filled, map(float, line)), frame.place.column))
    return result


def _refuse_texts(drawn: DrawnBook, frames: Iterable[Frame], moves: Mapping[str, Both]) -> None:
    """Refuse formulas outside frames that put addresses together, if cells move."""
    inside = {(frame.place.sheet, *cell) for frame in frames for cell in frame.place.cells()}
    formulas = drawn.references.formulas if drawn.references else {}
    for sheet, own in formulas.items() if any(both.changes for both in moves.values()) else ():
        for cell, one in own.items():
            if (sheet, *cell) not in inside and names_cells_by_text(one.text):
                where = f"{drawn.path}, {quoted(sheet)}!{address(*cell)}"
                raise InputError(
                    f"{where}: ={one.text} names cells by a text, which cannot follow if frames grow "
                    "or shrink. Name them without INDIRECT."
                )


def _is_array_in(sheet: str, area: Corners, why: str, frames: Iterable[Place]) -> bool:
    """Whether nothing can be written to some cells because they are an array formula within a frame."""
    inside = (
        frame.row <= area[0] and frame.column <= area[1] and area[2] <= frame.last_row
        and area[3] <= frame.last_column for frame in frames if frame.sheet == sheet
    )  # fmt: skip
    return why == ARRAY and any(inside)


def _for_words(mask: Table, words: Sequence[str]) -> Table:
    """A mask for other words, if it depends on the distance of two words alone: one that hides later
    words or those outside a window, or a bias that falls steadily. Any other stays as it is."""
    last = len(mask.rows) - 1
    by_distance = {j - i: value for (i, j), value in np.ndenumerate(mask.values)}
    same = all(value == by_distance[j - i] for (i, j), value in np.ndenumerate(mask.values))
    if not same or mask.shape[0] != mask.shape[1]:
        return mask
    fall = {0: 0.0}
    for side in (-1, 1):
        own = [by_distance[side * n] for n in range(last + 1)]
        hides = words_seen(mask.values) is not None or own[-1] <= HIDES
        if not hides and not np.allclose(np.diff(own), np.diff(own[:2])):
            return mask
        fall[side] = 0.0 if hides or last == 0 else own[-1] - own[-2]
    values = [
        [
            by_distance[max(-last, min(last, away))] + fall[np.sign(away)] * max(abs(away) - last, 0)
            for away in range(-row, len(words) - row)
        ]
        for row in range(len(words))
    ]
    return replace(mask, values=np.array(values), rows=tuple(words), columns=tuple(words))


def _cut_into_heads(given: Mapping[str, Table], wanted: Iterable[str]) -> dict[str, Table]:
    """The given weights; those of all heads side by side cut into those of each that are wanted."""
    made = dict(given)
    heads, _ = heads_told(wanted)
    names = [f"{kind}_{letter}" for kind in "Wb" for letter in "QKV"] if heads else []
    for name in (one for one in names if one in given):
        whole, width = made.pop(name), len(given[name].columns) // heads
        for h in range(heads):
            part = whole.part(slice(None), slice(h * width, (h + 1) * width))
            made[f"{name}_{h + 1}"] = replace(part, name=f"{name}_{h + 1}")
    return made


def _with_weights_of_heads(
    given: Tables, group: Group, compute: Compute, implied: Mapping[str, Any]
) -> Tables:
    """The tables with weights for each head, cut from those that are generated for all heads."""
    with suppress(InputError):  # none are
        graph = compute(given, {**implied, "heads_as_sheets": True})
        made = {
            step: Table(step, one.values, one.rows, one.columns, (True, True), "", step, 1, 1)
            for step in group.weights
            if (one := graph.get(step)) is not None
        }
        return replace(given, weights={**given.weights, **made})
    return given


def _with_one_more(drawn: DrawnBook, made: Assigned, called: Mapping[str, str]) -> bytes:
    """The workbook with the frames of its last sentence once more: as far from that as it is from the
    one before it, or below it if it is the only one. Weights that stand apart serve all sentences."""
    last = made.groups[-1]
    place = last.input.place
    sheet = next(one for one in drawn.sheets if one.name == place.sheet)
    page = page_of(sheet, {})
    before = [group.input.place for group in made.groups[:-1] if group.input.place.sheet == sheet.name]
    own = [last.input, *last.frames]
    apart = [frame for frame, _ in last.weights.values() if not _is_among(frame, own)]
    frames = [frame for frame in _frames(made, len(made.groups) - 1) if frame not in apart]
    others = [frame.place for n in range(len(made.groups) - 1) for frame in _frames(made, n)]
    others += [frame.place for frame in apart if frame.place.sheet == sheet.name]
    above_it = max((one.last_row for one in others if one.last_row < place.row), default=0)
    tags = [tag for tag, n in made.labels if n == len(made.groups) - 1]
    titles = [
        title
        for title in titles_of(sheet, called)
        if any(distance(title, *box(frame.place)) is not None for frame in frames)
        and title.row >= place.row - FURTHEST
        and title.row > above_it
    ]
    nearest = [one for one in titles if last.away(one) == min(g.away(one) for g in made.groups)]
    beside = [[away if texts else 0 for texts, away in labels_of(page, f.place)] for f in frames]
    rows = [frame.place.row - away for frame, (_, away) in zip(frames, beside)]
    columns = [frame.place.column - away for frame, (away, _) in zip(frames, beside)]
    top = min([*rows, *(title.row for title in (*tags, *titles))])
    left = min([*columns, *(title.column for title in nearest)])
    bottom = max(frame.place.last_row for frame in frames)
    right = max(frame.place.last_column for frame in frames)
    if before and before[-1].row == place.row:
        step = 0, max(place.column - before[-1].column, right - left + 2)
        area = top, left, len(sheet.looks.styles) - 1, left + step[1] - 1
    else:
        step = max(place.row - before[-1].row, bottom - top + 2) if before else bottom - top + 3, 0
        shared = any(one.last_row >= top and one.row <= bottom for one in others)
        first, end = (left, right) if shared else (1, sheet.looks.styles.shape[1] - 1)
        area = top, first, top + step[0] - 1, end
    return repeated(drawn, sheet, area, step)


def _is_among(frame: Frame, others: Sequence[Frame]) -> bool:
    """Whether a frame stands in the rows and the columns that others take up."""
    places = [one.place for one in others if one.place.sheet == frame.place.sheet]
    rows = [n for one in places for n in (one.row, one.last_row)]
    columns = [n for one in places for n in (one.column, one.last_column)]
    own = frame.place
    return bool(places) and (
        min(rows) <= own.row <= max(rows) and min(columns) <= own.column <= max(columns)
    )


def _by_one_hot(drawn: DrawnBook, place: Place) -> bool:
    """Whether each cell of a place has a formula that reads a one-hot vector."""
    cells = drawn.references.cells.get(place.sheet, {}) if drawn.references else {}
    values = {sheet.name: sheet.values for sheet in drawn.sheets}

    def is_one_hot(area: Place) -> bool:
        if min(area.rows, area.columns) > 1:
            return False
        line = [values.get(area.sheet, {}).get(cell) for cell in area.cells()]
        return len(line) > 1 and line.count(1) == 1 and line.count(0) == len(line) - 1

    return all(any(map(is_one_hot, cells.get(cell, ()))) for cell in place.cells())


def _hold_places(drawn: DrawnBook, called: Mapping[str, str], tables: Tables) -> dict[str, str]:
    """Put a number into each blank cell of a titled or tagged frame for an input or weights, so that it
    is found; the sizes of all other frames follow from these. A mask is computed, unless the `tables`
    have one. Returns the author's own names."""
    own = {**called_in(drawn, called), **called}
    values = {sheet.name: dict(sheet.values) for sheet in drawn.sheets}
    outright = [tag for sheet in drawn.sheets for tag in tags_of(sheet, str(drawn.path), own)]
    pages = {sheet.name: page_of(sheet, own) for sheet in drawn.sheets}
    outright += [*names_of(drawn, own), *sheets_named(drawn, pages, own)]
    named = [one for sheet in drawn.sheets for one in titles_of(sheet, own)]
    sentences = Counter(one.step for one in named if one.step in OF_HEADS)
    inputs, most = list[Title](), max(sentences.values(), default=len(named))
    for sheet in drawn.sheets:
        kept, cells = values[sheet.name], pages[sheet.name]
        there = [title for title in outright if title.sheet == sheet.name]
        titles = [*there, *of_sheet(cells, [*titles_of(sheet, own)], own)]
        given = [frame for frame, _ in tables_given(sheet, cells, titles, "").values()]
        for frame in given:
            computed = _is_mask(frame.step) and frame.step not in tables.weights
            inside = {*frame.place.cells()} if computed else set()
            if inside and inside <= sheet.formulas.keys():  # a mask that was filled in
                for cell in inside:
                    kept.pop(cell, None)
                    del sheet.formulas[cell]
                sheet.kept.clear()
        filled = {frame.step for frame in given}
        for title in (one for one in titles if one.step not in filled or one.text.startswith("{{")):
            if title.step == steps.INPUT.symbol and title.place is None:
                if title.turned or len(inputs) >= most:
                    continue  # a copy of it
                inputs.append(title)
            mask = _is_mask(title.step) and title.step not in tables.weights
            wanted = title.step == steps.INPUT.symbol or weight_label(title.step) is not None
            if mask or not wanted or (title.place is None and _in_labels(cells, title)):
                continue
            region = _blank_region(sheet, cells, title)
            sheet.held.update(region)
            kept.update((cell, 1.0) for cell in region if cell not in kept)
        sheet.values = kept
        sheet.kept.clear()
    return own


def _is_mask(step: str) -> bool:
    return bool(re.fullmatch(rf"(?:.*\.)?{steps.MASK.symbol}(?:_\d+)?", step))


def _in_labels(cells: Page, title: Title) -> bool:
    """Whether a text is among the labels beside or above a frame: a word spelled like weights."""
    row, column = title.row, title.column

    def inside(r: int, c: int) -> bool:
        return cells.framed(r, c, 1, 1) + cells.filled(r, c, 1, 1) > 0

    beside = cells.texts(row - 1, column, 1, 1) + cells.texts(row + 1, column, 1, 1) > 0
    above = cells.texts(row, column - 1, 1, 1) + cells.texts(row, column + 1, 1, 1) > 0
    return (beside and inside(row, column + 1)) or (above and inside(row + 1, column))


def _blank_region(sheet: DrawnSheet, cells: Page, title: Title) -> list[Cell]:
    """The framed blank cells that belong to a title or a tag; for a tag without any, its own cell."""

    def free(row: int, column: int) -> bool:
        return sheet.looks.frames((row, column)) and (row, column) not in sheet.values

    if title.place is not None:
        start: Cell | None = (title.row, title.column)
    else:
        start = next(
            (
                (row, column)
                for row in range(title.row + 1, title.row + FURTHEST + 1)
                for column in range(title.column, title.column + 3)
                if free(row, column)
            ),
            None,
        )
    if start is None:  # only labels show it
        blank = [one for one in cells.labelled if not (cells.texts(*one) or cells.filled(*one))]
        away = {one: far for one in blank if (far := distance(title, *one)) is not None}
        return [*Place("", *min(away, key=lambda one: away[one])).cells()] if away else []

    rows = columns = 1
    while free(start[0] + rows, start[1]):
        rows += 1
    while free(start[0], start[1] + columns):
        columns += 1
    if title.place is not None and not sheet.looks.frames(start):
        return [start]
    return [(start[0] + r, start[1] + c) for r in range(rows) for c in range(columns)]


def _frames(made: Assigned, n: int) -> list[Frame]:
    group = made.groups[n]
    return [*group.given, *group.frames]


def _matrix(made: Assigned, n: int, frame: Frame) -> Labelled | None:
    """What a frame holds, weights that the model does not use included; None if a model without its
    weights does not have it."""
    group = made.groups[n]
    if frame is group.input:
        return group.table
    return made.graphs[n].get(frame.step, group.weights.get(frame.step, (frame, None))[1])


def _size(made: Assigned, n: int, frame: Frame) -> tuple[int, int]:
    """How many rows and columns of a sheet a frame needs now."""
    matrix = _matrix(made, n, frame)
    assert matrix is not None
    rows, columns = matrix.values.shape
    return (columns, rows) if frame.turned else (rows, columns)


Band = tuple[int, int, int]
"""The first row of a frame, how many it has, and how many it needs."""


def _label_bands(made: Assigned) -> list[tuple[str, Band | None, Band | None]]:
    """The rows and the columns that the labels of tags need, by sheet."""
    bands: list[tuple[str, Band | None, Band | None]] = []
    for tag, n in made.labels:
        if tag.step not in (WORDS, DIMENSIONS) or n >= len(made.groups):
            continue
        group, of_words = made.groups[n], tag.step == WORDS
        count = len(group.table.rows if of_words else group.table.columns)
        across = tag.across if tag.across is not None else of_words == (group.words_in == "columns")
        band = (tag.column if across else tag.row, 1, count)
        bands.append((tag.sheet, None if across else band, band if across else None))
    return bands


def _moves(
    drawn: DrawnBook,
    sizes: Mapping[Frame, tuple[int, int]],
    labels: Sequence[tuple[str, Band | None, Band | None]],
    lines: Mapping[Frame, Lines],
) -> dict[str, Both]:
    """One map of rows and one of columns for each sheet, such that every frame has room."""
    found = {}
    for sheet in drawn.sheets:
        own = [(frame.place, size) for frame, size in sizes.items() if frame.place.sheet == sheet.name]
        rows = [(place.row, place.rows, size[0]) for place, size in own]
        columns = [(place.column, place.columns, size[1]) for place, size in own]
        rows += [band for name, band, _ in labels if band and name == sheet.name]
        columns += [band for name, _, band in labels if band and name == sheet.name]
        frames = {frame.place: lines[frame] for frame in sizes if frame.place.sheet == sheet.name}
        page = page_of(sheet, {})
        own += [one for place, size in own for one in _of_labels(page, place, size)]
        boxes = (((p.row, p.column, p.last_row, p.last_column), size) for p, size in own)
        moves = _axis(rows, _kept(page, frames, 0)), _axis(columns, _kept(page, frames, 1))
        found[sheet.name] = Both(*moves, tuple(boxes))
    return found


def _of_labels(
    page: Page, place: Place, size: tuple[int, int]
) -> Iterator[tuple[Place, tuple[int, int]]]:
    """The labels of the rows and of the columns of a frame, and how many rows and columns they take."""
    (_, left), (_, above) = labels_of(page, place)
    if left:
        yield replace(place, column=place.column - left, columns=1), (size[0], 1)
    if above:
        yield replace(place, row=place.row - above, rows=1), (1, size[1])


def _kept(page: Page, frames: Mapping[Place, Lines], axis: int) -> set[int]:
    """The rows, or columns, that hold something besides frames, their labels and lines."""
    near: set[Cell] = set()
    for place, lines in frames.items():
        (_, left), (_, above) = labels_of(page, place)
        near |= {
            (row, column)
            for row in range(place.row - above * axis, place.last_row + 1)
            for column in range(place.column - left * (1 - axis), place.last_column + 1)
        }
        near.update(*lines[axis])
    cells = [*page.sheet.values, *page.sheet.formulas]
    return {cell[axis] for cell in cells if cell not in near}


def _axis(bands: Sequence[Band], kept: set[int]) -> Moves:
    """The moves with which each band has the rows that it needs: bands that overlap share new rows,
    which part no frame from its labels and no texts beside them if possible, and rows that no band
    needs any more are removed if nothing else stands in them."""
    moves = Moves()
    for start, size, needs in sorted(set(bands), key=lambda band: (-(band[2] - band[1]), band)):
        inside = range(start, start + size - 1) if size > 1 else range(start, start + 1)
        have = size + sum(moves.inserted.get(row, 0) for row in inside)
        if needs <= have:
            continue
        others = [band for band in bands if band[2] <= band[1]]

        def cost(row: int, others: list[Band] = others, start: int = start) -> tuple[int, ...]:
            spoiled = sum(first <= row < first + wide for first, wide, _ in others)
            shared = -sum(first <= row < first + wide - 1 for first, wide, need in bands if need > wide)
            headed = sum(first == row + 1 for first, _, _ in bands)
            return spoiled, shared, headed, row + 1 in kept, abs(row - start - 1)

        at = min(inside, key=cost)
        moves.inserted[at] = moves.inserted.get(at, 0) + needs - have
        if size == 1:
            moves.ends.add(start)
    for start, size, needs in bands:
        for row in range(start + size - 2, start, -1):
            if size - sum(start <= gone < start + size for gone in moves.removed) <= needs:
                break
            wanted = any(
                first <= row < first + wide
                and wide - sum(first <= gone < first + wide for gone in moves.removed) <= need
                for first, wide, need in bands
            )
            if not wanted and row not in kept and row not in moves.inserted:
                moves.removed.add(row)
    return moves


def _move(made: Assigned, moves: Mapping[str, Both], sizes: Mapping[Frame, tuple[int, int]]) -> None:
    """Give all frames and tags their new places."""

    def there(frame: Frame) -> Frame:
        rows, columns, _ = moves[frame.place.sheet]
        place = frame.place
        corner = Place(place.sheet, rows.point(place.row), columns.point(place.column), *sizes[frame])
        return replace(frame, place=corner)

    for group in made.groups:
        group.input = there(group.input)
        group.weights = {step: (there(frame), one) for step, (frame, one) in group.weights.items()}
        group.frames = [there(frame) for frame in group.frames]
    made.labels = [
        (
            replace(
                tag,
                row=moves[tag.sheet][0].point(tag.row),
                column=moves[tag.sheet][1].point(tag.column),
            ),
            n,
        )
        for tag, n in made.labels
        if n < len(made.groups)
    ]


def _relabel(
    result: Grown,
    drawn: DrawnBook,
    pages: Mapping[str, Page],
    moves: Mapping[str, Both],
    old: Assigned,
    n: int,
    frame: Frame,
) -> None:
    """Clear a frame, and write the labels of its matrix where its labels stood."""
    place, sheet = frame.place, frame.place.sheet
    rows, columns, _ = moves[sheet]
    formulas = next(one.formulas for one in drawn.sheets if one.name == sheet)
    cells = result.cells.setdefault(sheet, {})
    high, wide = rows.span(place.row, place.last_row), columns.span(place.column, place.last_column)
    for row in range(high[0], high[1] + 1):
        cells.setdefault(row, FilledRow()).update(dict.fromkeys(range(wide[0], wide[1] + 1), BLANK))
    page = pages[sheet]
    before = _labels_now(old, n, frame)
    after = _labels_now(result.made, n, frame) if n < len(result.made.groups) else ((), ())
    for axis in (0, 1):
        written, away = labels_of(page, place)[axis]
        if not written:
            continue
        texts = _renamed(written, before[axis], after[axis])
        first, last = high if axis == 0 else wide
        old_cell = (place.row, place.column - away) if axis == 0 else (place.row - away, place.column)
        known = result.labels.get((n, tuple(texts)))
        if frame is old.groups[n].input:
            known = result.labels[n, tuple(texts)] = (sheet, axis, first, old_cell)
            linked = False
        else:
            linked = known is not None and old_cell in formulas
        if axis == 0 and away > 1 and not page.arrows(place.row, place.column - 1, place.rows, 1):
            for row in range(first, last + 1):  # what is said of the old words
                cells.setdefault(row, FilledRow())[columns.point(place.column - 1)] = BLANK
        for number in range(last - first + 1):
            cell = _along(axis, first + number, old_cell, rows, columns)
            text = texts[number] if number < len(texts) else None
            formula = ""
            if linked and known and text is not None:
                there, own, start, input_cell = known
                at = _along(own, start + number, input_cell, *moves[there][:2])
                formula = address(*at) if there == sheet else f"{quoted(there)}!{address(*at)}"
            cells.setdefault(cell[0], FilledRow())[cell[1]] = Filled(text, formula)


def _along(axis: int, at: int, cell: Cell, rows: Moves, columns: Moves) -> Cell:
    """The cell of a label: `at` along the frame, beside it where the label in `cell` stood."""
    return (at, columns.point(cell[1])) if axis == 0 else (rows.point(cell[0]), at)


def _restyle(
    result: Grown, drawn: DrawnBook, moves: Mapping[str, Both], frame: Frame, size: tuple[int, int]
) -> None:
    """Give the cells of a frame their looks: the first and the last row and column keep theirs, those
    between repeat the second one; beyond the matrix there is none."""
    place, (rows, columns, _) = frame.place, moves[frame.place.sheet]
    own = next(sheet.looks for sheet in drawn.sheets if sheet.name == place.sheet)
    high = rows.span(place.row, place.last_row)
    wide = columns.span(place.column, place.last_column)
    styles = result.styles.setdefault(place.sheet, {})
    looks = {cell: own.style(cell) for cell in place.cells()}
    down = [place.row + _patch(r, size[0], place.rows) for r in range(size[0])]
    across = [place.column + _patch(c, size[1], place.columns) for c in range(size[1])]
    for r in range(high[1] - high[0] + 1):
        for c in range(wide[1] - wide[0] + 1):
            inside = r < size[0] and c < size[1]
            styles[high[0] + r, wide[0] + c] = looks[down[r], across[c]] if inside else 0


def _like_frames(drawn: DrawnBook, frames: Collection[Frame]) -> dict[Frame, Frame]:
    """The author's own matrices of like formulas, such as the difference of two frames; each with a
    frame as large, which it reads cell by cell, or as a whole if it is one array formula."""
    found: dict[Frame, Frame] = {}
    places = [frame.place for frame in frames]
    for sheet in drawn.sheets if drawn.references else ():
        reads = drawn.references.cells[sheet.name] if drawn.references else {}
        for block in page_of(sheet, {}).blocks:
            place = Place(sheet.name, *block)
            own = [sheet.formulas.get(cell) for cell in place.cells()]
            alike = {relative(one) if one else "" for one in own}
            if min(block[2:]) < 2 or len(alike) > 1 or any(map(place.overlaps, places)):
                continue
            whole = own[0] is not None and own[0][1:5] == block
            for frame in frames:
                there = frame.place
                first = there if whole else replace(there, rows=1, columns=1)
                if "" not in alike and box(there)[2:] == block[2:] and first in reads[block[:2]]:
                    found[replace(frame, place=place)] = frame
                    break
    return found


def _lines(drawn: DrawnBook, frame: Frame, frames: Collection[Frame]) -> Lines:
    """The columns of like formulas beside a frame, and the rows of them below it, that read the frame,
    such as its sums."""
    place, found = frame.place, Lines([], [])
    own = next(sheet.formulas for sheet in drawn.sheets if sheet.name == place.sheet)
    reads = drawn.references.cells[place.sheet] if drawn.references else {}
    for axis, first, last in (0, place.row, place.last_row), (1, place.column, place.last_column):
        for cell in (cell for cell in own if cell[axis] == first):
            here = Place(place.sheet, *cell, 1, 1)
            framed = any(one.place.overlaps(here) for one in frames)
            if framed or not any(area.overlaps(place) for area in reads[cell]):
                continue
            line = [(cell[0], at) if axis else (at, cell[1]) for at in range(first, last + 1)]
            size = (1, len(line)) if axis else (len(line), 1)
            if own[cell][3:5] not in ((1, 1), size):
                continue  # a part of an array formula
            if {relative(own[one]) if one in own else "" for one in line} == {relative(own[cell])}:
                found[axis].append(line)
    return found


def _repeat(
    result: Grown, sheet: str, moves: Both, cells: Sequence[Cell], size: tuple[int, int]
) -> None:
    """Repeat the formula in the first of some cells in as many rows and columns as there are now; an
    array formula for all of them takes that size."""
    after = next(one.formulas for one in result.drawn.sheets if one.name == sheet)
    (top, bottom), (left, right) = (
        axis.span(cells[0][n], cells[-1][n]) for n, axis in enumerate(moves[:2])
    )
    formula = after[top, left]
    for row, column in product(range(top, bottom + 1), range(left, right + 1)):
        inside = row - top < size[0] and column - left < size[1]
        if formula[3:5] != (1, 1):
            inside = (row, column) == (top, left)
        sized = ArraySize(*size) if formula[3:5] != (1, 1) else ArraySize()
        array = sized._replace(spills=formula.spills) if formula.array else None
        held = Filled(None, formula_in(formula, (row, column)), array) if inside else BLANK
        result.cells[sheet].setdefault(row, FilledRow())[column] = held


def _patch(at: int, size: int, old: int) -> int:
    """Which of `old` rows the row `at` of `size` looks like."""
    if at == 0 or old == 1:
        return 0
    return old - 1 if at == size - 1 else min(at, max(old - 2, 1), old - 1)


def _labels_now(made: Assigned, n: int, frame: Frame) -> tuple[Sequence[str], Sequence[str]]:
    matrix = _matrix(made, n, frame)
    if matrix is None:
        return (), ()
    return (matrix.columns, matrix.rows) if frame.turned else (matrix.rows, matrix.columns)


def _renamed(written: Sequence[str], before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """The labels of a frame: those of its matrix, or an author's own if these count: q1, q2, ..."""
    same = [label.casefold() for label in written] == [label.casefold() for label in before]
    counted = [_COUNTED.fullmatch(label) for label in written]
    prefixes = {one[1] if one else "" for one in counted}
    if same or len(prefixes) != 1 or not all(counted):
        return after
    prefix = prefixes.pop()
    return [f"{prefix}{number}" for number in range(1, len(after) + 1)]
