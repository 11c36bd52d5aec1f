"""Finds the frames of an author's sheet: the places that titles, labels, borders and arrows give to the
matrices of attention, whether they are blank, partly filled or complete."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import count, product
from typing import Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.records import record
from attn_xl.spreadsheets.addresses import Place, address, place_of, quoted
from attn_xl.spreadsheets.boxes import rectangles, rectangles_of
from attn_xl.spreadsheets.drawn import DrawnSheet
from attn_xl.spreadsheets.formulas import references
from attn_xl.spreadsheets.numerals import NOT_STORED, ErrorValue, as_text, is_number
from attn_xl.spreadsheets.sums import sums_in
from attn_xl.text import clean

from .labels import Table
from .names import (
    ACROSS,
    SPELLINGS,
    of_head,
    of_learning,
    of_table,
    says_across,
    spaced,
    spoken_of,
    step_named,
    undecorated,
    weight_label,
)
from .regions import numbered_lines, numbers_words
from .roles import BY_DEFAULT, MEMORIES, WordsIn, to_turn, words_of

ARROWS = frozenset("↓→↑←⇒⇓|—-–/=+×·*")
FURTHEST = 4
"""Rows between a title and the numbers below it, at most."""
ENOUGH = 2
"""Evidence that a frame needs."""
WIDEST = 5
"""Columns between a title and the numbers beside it, at most."""
LONGEST = 12
"""Steps in a list with one row or column each, at most."""
NAMED = 4
"""The evidence of a text that names a word."""
OUTRIGHT = 1000
"""The evidence of a tag or a defined name."""
BESIDE = 10
"""The distance of a title to the right of its numbers, which is the weakest place for one."""
ELSEWHERE = 10_000
"""The distance of a title from an input on another sheet."""


@record(frozen=True)
class Title:
    """A text that names a step, and its cells.

    Attributes:
        row, column, last_column: its cells, which may be merged.
        text: as written.
        step: the step it names; turned: whether it names its transpose.
        place: the cells of the matrix, if it says so outright: of a tag the first cell, without a size.
        across: whether words stand in columns there; None if it does not say.
        written: its text in the cell, if that is spelled otherwise.
    """

    sheet: str
    row: int
    column: int
    last_column: int
    text: str
    step: str
    turned: bool = False
    place: Place | None = None
    across: bool | None = None
    written: str = ""

    @property
    def spelled(self) -> str:
        """Its text as written, in quotation marks."""
        return repr(self.written or self.text)

    @property
    def where(self) -> str:
        return f"{quoted(self.sheet)}!{address(max(self.row, 1), self.column)}"


@record(frozen=True)
class Frame:
    """The place of a matrix on an author's sheet.

    Attributes:
        step: the matrix.
        place: the cells of its numbers.
        turned: whether the sheet shows its transpose: words in columns.
        by: what it was recognized by.
    """

    step: str
    place: Place
    turned: bool
    by: str

    @property
    def where(self) -> str:
        return self.place.where

    def cell(self, row: int, column: int) -> tuple[int, int]:
        """The cell of a number of the matrix, counted from 0 with words in rows."""
        down, across = (column, row) if self.turned else (row, column)
        return self.place.row + down, self.place.column + across


Box = tuple[int, int, int, int]
"""First row, first column, rows, columns."""
Beside = tuple[tuple[str, ...], int]
"""Labels, and how many cells away they stand."""


class Page:
    """The cells of a sheet, counted: texts, arrows, numbers, framed ones, sums of those beside them;
    `called` maps an author's own names to steps."""

    def __init__(self, sheet: DrawnSheet, called: Mapping[str, str] | None = None) -> None:
        self.sheet, self.called = sheet, called or {}
        self.rows, self.columns = sheet.looks.framed.shape
        kinds = np.zeros((5, self.rows + 1, self.columns + 1), np.int32)
        self.numbers: set[tuple[int, int]] = set()
        self.where: dict[str, list[tuple[int, int]]] = {}
        """The cells with each text, `spaced` and in lower case."""
        for place, value in sheet.values.items():
            number = is_number(value) or isinstance(value, ErrorValue)
            if number and not (is_number(value) and self._counts(place)):
                self.numbers.add(place)
            elif str(value).strip() in ARROWS:
                kinds[1][place] = 1
            else:
                kinds[0][place] = 1
                self.where.setdefault(spaced(clean(as_text(value))).casefold(), []).append(place)
        self.numbers |= sheet.formulas.keys() - sheet.values.keys()
        self.sums = {*sums_in(sheet.formulas, sheet.values.get)}
        self.numbers -= self.sums
        for kind, places in ((2, self.numbers), (4, self.sums)):
            for place in places:
                kinds[kind][place] = 1
        kinds[3, :-1, :-1] = sheet.looks.framed
        kinds[3] *= (kinds[0] == 0) & (kinds[4] == 0)
        for axis in (1, 2):
            kinds = np.cumsum(kinds, axis=axis, dtype=kinds.dtype)
        # From a memoryview, single numbers are read in half the time.
        views: list[memoryview[int]] = [memoryview(one) for one in kinds]
        self._texts, self._arrows, self._numbers, self._framed, self._sums = views
        self._labels: dict[tuple[int, ...], tuple[str, ...]] = {}
        self.beside: dict[Box, tuple[Beside, Beside]] = {}
        """The labels of rectangles; see labels_of()."""
        self.near: dict[tuple[Title, Shape, bool], list[Candidate]] = {}
        """The places near titles; see candidates()."""

    @cached_property
    def _headed(self) -> set[tuple[int, int]]:
        """The numbers below the headings of columns that number the words, and those of steps."""
        values = self.sheet.values
        single = {
            (row, column): value
            for (row, column), value in values.items()
            if is_number(value)
            and isinstance(values.get((row, column + 1)), str)
            and not is_number(values.get((row, column - 1)))
        }
        found = numbered_lines(single)
        for (row, column), text in values.items():
            if not isinstance(text, str) or not is_number(values.get((row + 1, column))):
                continue
            end = next(r for r in count(row + 1) if not is_number(values.get((r, column))))
            run = range(row + 1, end)
            headings = text, values.get((row, column - 1)), values.get((row, column + 1))
            if numbers_words(headings, (values[r, column] for r in run)):
                found |= {(r, column) for r in run}
        return found

    def _counts(self, place: tuple[int, int]) -> bool:
        """Whether a number is a label: below a heading such as `ID`; or in a run, 0, 1, 2, without a
        frame beside one, in a line without a label before lines with one, or above or left of a square
        whose other side is numbered alike."""
        framed, values = self.sheet.looks.frames, self.sheet.values
        (row, column), value = place, values[place]
        if not float(value).is_integer() or place in self.sheet.formulas:
            return False
        if place in self._headed:
            return True
        if framed(place):
            return False
        for down, across in ((0, 1), (1, 0)):
            before, after = (row - down, column - across), (row + down, column + across)
            if values.get(before) != value - 1 and values.get(after) != value + 1:
                continue
            inside = framed((row - across, column - down))  # between rows with a fill
            if framed((row + across, column + down)) and not inside:
                return True
            for first in (0, 1):
                top, left = row - int(value - first) * down, column - int(value - first) * across
                corner = values.get((top - down, left - across))
                label = values.get((top - down + across, left - across + down))
                if values.get((top, left)) != first or is_number(corner):
                    continue
                if label == first:  # the other side of a square
                    return values.get((top - down + 2 * across, left - across + 2 * down)) == first + 1
                if corner is None and isinstance(label, str):
                    return is_number(values.get((top + across, left + down)))
        return False

    def _count(self, sums: memoryview[int], row: int, column: int, rows: int, columns: int) -> int:
        top, left, bottom, right = row - 1, column - 1, row + rows - 1, column + columns - 1
        if top < 0 or left < 0 or bottom > self.rows or right > self.columns:
            top, left, bottom, right = (
                max(top, 0),
                max(left, 0),
                min(bottom, self.rows),
                min(right, self.columns),
            )
            if bottom <= top or right <= left:
                return 0
        return sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]

    def texts(self, *box: int) -> int:
        return self._count(self._texts, *box)

    def arrows(self, *box: int) -> int:
        return self._count(self._arrows, *box)

    def filled(self, *box: int) -> int:
        return self._count(self._numbers, *box)

    def summed(self, *box: int) -> int:
        return self._count(self._sums, *box)

    def framed(self, *box: int) -> int:
        return self._count(self._framed, *box)

    def parts(self, line: Box, block: Box) -> bool:
        """Whether a row or column before a block has arrows, or is empty and no part of it: of a frame,
        of numbers, or of blank cells without borders in several rows and columns."""
        if line[2] * line[3] == self.arrows(*line):
            return True
        framed, size = self.framed(*block), block[2] * block[3]
        if self.framed(*line) or self.filled(*line) or self.texts(*line) or self.summed(*line):
            return False
        named = self.texts(min(line[0], block[0] - 1), min(line[1], block[1] - 1), 1, 1)
        is_open = not (framed or named) and min(block[2:]) > 1
        return is_open or size in (framed, self.filled(*block))

    def heads_sum(self, row: int, column: int) -> bool:
        """Whether sums stand below or right of a cell."""
        return not self.sums.isdisjoint({(row + 1, column), (row, column + 1)})

    def lists(self, row: int, column: int) -> bool:
        """Whether a text is a line of three or more below each other, beside which nothing stands."""

        def bare(*box: int) -> bool:
            return not (self.texts(*box) or self.filled(*box) or self.framed(*box))

        tops = (row - 2, row - 1, row)
        return any(self.texts(r, column, 3, 1) == 3 and bare(r, column + 1, 3, 1) for r in tops)

    def labels(self, *box: int) -> tuple[str, ...]:
        """The texts of a row or a column of cells, in one case throughout the book; () unless each
        has one."""
        row, column, rows, columns = box
        if row < 1 or column < 1 or self.texts(*box) < rows * columns:
            return ()
        if box not in self._labels:
            cells = product(range(row, row + rows), range(column, column + columns))
            own = [clean(as_text(self.sheet.values[cell])) for cell in cells]
            spelled = {text: self.sheet.spelled(text) for text in own}
            alike = Counter(spelled.values())  # `The` and `the` in one sentence
            self._labels[box] = tuple(
                spelled[text] if alike[spelled[text]] == 1 else text for text in own
            )
        return self._labels[box]

    @cached_property
    def blocks(self) -> list[Box]:
        """The rectangles that neighbouring numbers fill, without the steps that a list shows right of
        typed ones, each below its name, or that are computed below them, beside their name."""
        return [part for block in rectangles(self.numbers) for part in self._parted(block)]

    def _parted(self, block: Box) -> list[Box]:
        row, column, rows, columns = block
        for line, rest in (
            ((row + rows - 1, column, 1, columns), (row, column, rows - 1, columns)),
            ((row, column + columns - 1, rows, 1), (row, column, rows, columns - 1)),
        ):  # sums of some columns, or rows, of a list
            cells = {*Place(self.sheet.name, *line).cells()} & self.numbers
            there = Place(self.sheet.name, *rest)
            partial = min(rest[2:]) > 0 and len(cells) < line[2] * line[3]
            if partial and all(self._sums_up(cell, there) for cell in cells):
                return [*self._parted(rest), *((*cell, 1, 1) for cell in sorted(cells))]
        formulas, down = self.sheet.formulas.keys(), range(row, row + rows)
        first = next((c for c in range(column, column + columns)
                      if not formulas.isdisjoint((r, c) for r in down)), column)  # fmt: skip
        right = range(first, column + columns)
        named = first > column and any(_step_at(self.sheet, (row - 1, c)) for c in right)
        if named and formulas >= {*product(down, right)}:
            return [(row, column, rows, first - column), (row, first, rows, len(right))]
        across = range(column, column + columns)
        top = next((r for r in down if not formulas.isdisjoint((r, c) for c in across)), row)
        beside = (column - 2, column - 1, column + columns, column + columns + 1)
        below = range(top, row + rows)
        named = top > row and any(_step_at(self.sheet, (top, c)) for c in beside)
        if named and formulas >= {*product(below, across)}:
            return [(row, column, top - row, columns), (top, column, len(below), columns)]
        return [block]

    def _sums_up(self, cell: tuple[int, int], place: Place) -> bool:
        """Whether a cell has the sum of the numbers above it, or left of it, in a place."""
        if not self.sheet.formulas.get(cell, "") or not (read := self.read_by(cell)):
            return False
        down = (place.row, place.last_row, cell[1], cell[1])
        across = (cell[0], cell[0], place.column, place.last_column)
        area = (read[0].row, read[0].last_row, read[0].column, read[0].last_column)
        return self.sheet.formulas[cell].text.startswith("SUM(") and area in (down, across)

    def read_by(self, cell: tuple[int, int]) -> list[Place]:
        """What the formula in a cell reads on its sheet."""
        formula = self.sheet.formulas.get(cell)
        found = references(formula, cell) if formula else ()
        return [place_of(self.sheet.name, *area) for sheet, area in found if not sheet]

    @cached_property
    def labelled(self) -> list[Box]:
        """The rectangles between a row and a column of labels, each from its first cell."""
        numbers = self.numbers | self.sums
        texts = {
            at for at, value in self.sheet.values.items() if isinstance(value, str) or at not in numbers
        }
        starts = [
            (row, column + 1)
            for row, column in sorted(texts)
            if (row - 1, column + 1) in texts and (row, column + 1) not in texts
        ]
        found: list[Box] = []
        for row, column in starts:
            rows, columns = (self._labels_from(texts, row, column, *way) for way in ((1, 0), (0, 1)))
            if not found or min(rows, columns) > 1 or self.framed(row, column, rows, columns):
                found.append((row, column, rows, columns))
        return found

    def _labels_from(
        self, texts: Set[tuple[int, int]], row: int, column: int, down: int, across: int
    ) -> int:
        """How many labels stand beside or above cells; a text beside a cell without a border or fill,
        where the first one has that, is a note."""
        framed, number = self.framed(row, column, 1, 1), 0
        while self.framed(row, column, 1, 1) >= framed:
            label = row - across, column - down
            if label not in texts or (number and self.heads_sum(*label)):
                break
            row, column, number = row + down, column + across, number + 1
        return number

    @cached_property
    def is_text(self) -> bool:
        """Whether the sheet has texts alone, and no place for a matrix that borders or labels show."""
        everywhere = 1, 1, self.rows, self.columns
        return not (self.numbers or self.sums or self.framed(*everywhere) or self.labelled)

    @cached_property
    def blanks(self) -> list[Box]:
        """The rectangles of neighbouring blank cells with a border or a fill, if these fill them."""
        blank = self.sheet.looks.framed.copy()
        for cell in (*self.sheet.values, *self.sheet.formulas):
            blank[cell] = False
        for top, left, bottom, right in self.sheet.merged:  # of a title
            blank[top : bottom + 1, left : right + 1] = False
        boxes = (one for one in rectangles_of(blank) if self.framed(*one) == one[2] * one[3])
        return [one for one in boxes if not self._is_corner(*one)]

    def _is_corner(self, row: int, column: int, rows: int, columns: int) -> bool:
        """Whether a cell stands between the labels of a matrix, those right of it and those below."""
        labelled = self.texts(row, column + 1, 1, 1) and self.texts(row + 1, column, 1, 1)
        others = self.texts(row, column - 1, 1, 1) or self.texts(row + 1, column + 1, 1, 1)
        return rows == columns == 1 and bool(labelled and not others)

    @cached_property
    def blank_from(self) -> dict[tuple[int, int], tuple[int, int]]:
        """The rows and columns of each of them, by its first cell."""
        return {(row, column): (rows, columns) for row, column, rows, columns in self.blanks}


@dataclass
class Group:
    """A sentence on an author's sheets: its input, and the frames of its matrices.

    Attributes:
        name: as messages name it.
        input: the frame of its embeddings.
        table: these, one word per row.
        words_in: whether its words are in rows or columns; why: the reason.
        weights: its weights by name, each with its frame.
        frames: the frames of its steps.
        heading: the cell below and right of which its titles stand, if not its input.
        known: the frames that hold numbers already: Q, K and V without an input, copies of the input.
        settings: those that these imply.
        temperatures: those of other softmaxes than the usual one.
        implied: the settings that titles near it imply, where sentences have models of their own.
        compared: whether titles name a loss; without_loss: why it has none; "" if it has.
        learns: the learning rate, if titles name gradients, or weights after a step of learning; 0.
        answers: their title and their frame, and its class or its next words; None if it has none.
    """

    name: str
    input: Frame
    table: Table
    words_in: WordsIn
    why: str
    weights: dict[str, tuple[Frame, Table]] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    heading: Place | None = None
    known: tuple[Frame, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    temperatures: Collection[float] = ()
    implied: Mapping[str, Any] = field(default_factory=dict)
    compared: bool = False
    learns: float = 0.0
    without_loss: str = ""
    answers: tuple[Title, Frame, tuple[str, ...]] | None = None

    def away(self, title: Title) -> float:
        """How far a title is from its input or a copy of that, or from its heading."""
        place = self.heading
        if place is None or title.sheet != place.sheet:
            return min(cost(title, frame.place) for frame in (self.input, *self.known))
        apart = title.row - place.row, title.column - place.column
        return sum(n if n >= 0 else -100 * n for n in apart)

    @property
    def given(self) -> list[Frame]:
        """The frames of its input and of its weights."""
        return [self.input, *(frame for frame, _ in self.weights.values())]


OF_ROWS = ("Softmax.Sum", "Softmax.Maximum")
"""Steps that may stand in a column behind the one that they sum up."""
AXES = ("query", "queries"), ("key", "keys")
CORNERS = ("word", "words", "token", "tokens")
"""What stands in the corner of an input, and is the name of a step in a language model, too."""

LABELS = ("s", "ss", "a", "z")
"""Letters that are rather labels: of scores, attention and outputs, authors write large ones."""


def page_of(sheet: DrawnSheet, called: Mapping[str, str]) -> Page:
    """The cells of a sheet, counted once."""
    key = "page", frozenset(called.items())
    if key not in sheet.kept:
        sheet.kept[key] = Page(sheet, called)
    page: Page = sheet.kept[key]
    return page


def titles_of(sheet: DrawnSheet, called: Mapping[str, str]) -> tuple[Title, ...]:
    """The titles on a sheet, found once; `called` maps an author's own names to steps."""
    key = "titles", frozenset(called.items())
    if key not in sheet.kept:
        is_text = page_of(sheet, called).is_text
        found = _titles_of(sheet, called)
        sheet.kept[key] = (*(one for one in found if not (is_text and _in_prose(sheet, one))),)
    titles: tuple[Title, ...] = sheet.kept[key]
    return titles


def _titles_of(sheet: DrawnSheet, called: Mapping[str, str]) -> Iterator[Title]:
    ends = {(top, left): right for top, left, _, right in sheet.merged}
    axes, called_by = axes_on(sheet), cache(lambda text: step_called(text, called))
    for (row, column), value in sheet.values.items():
        if not isinstance(value, str) or (row, column) in sheet.results:
            continue
        if value.strip().casefold() in CORNERS or value.strip() in LABELS:
            continue
        step, turned = called_by(value) or ("", False)
        if not step or (row, column) in axes or _counts(sheet, row, column):
            continue
        if not _labels_vector(sheet, row, column, step):
            last = ends.get((row, column), column)
            step = of_head(step, sheet.name)
            near = (one for (r, c), one in axes.items() if 0 <= r - row <= 3 and abs(c - column) <= 3)
            across = True if step.partition("_")[0] in ACROSS and any(near) else None
            written, text = clean(value), spaced(clean(value))
            yield Title(sheet.name, row, column, last, text, step, turned, None, across, written)


def _in_prose(sheet: DrawnSheet, title: Title) -> bool:
    """Whether a sentence stands above, below or right of a title: they explain, and name no frame."""
    cells = [*_beside(title.row, title.column)]
    cells.remove((title.row, title.column - 1))
    return any(len(str(sheet.values.get(cell, "")).split()) > 3 for cell in cells)


def axes_on(sheet: DrawnSheet) -> dict[tuple[int, int], bool]:
    """The cells that say what the rows and the columns of a frame are, `Query` left of it and, further
    up and right, `Key`; and whether it is the other way round, with the words that look in columns."""
    texts = {
        at: undecorated(text).casefold() for at, text in sheet.values.items() if isinstance(text, str)
    }
    sides = [{at for at, text in texts.items() if text in names} for names in AXES]
    pairs = ((own, other, across) for across in (False, True)
             for own, other in product(*sides[:: -1 if across else 1])
             if 0 < own[0] - other[0] <= 3 and 0 < other[1] - own[1] <= 3)  # fmt: skip
    return {cell: across for *pair, across in pairs for cell in pair}


def _labels_vector(sheet: DrawnSheet, row: int, column: int, step: str) -> bool:
    """Whether a text is one of `q(the)`, `q(cat)` beside each other, the vector of a word; or one of
    `sin`, `cos`, a dimension of positions."""
    beside = [*_beside(row, column)]
    steps = {_step_at(sheet, cell).partition("_")[0] for cell in beside}
    waves = {str(sheet.values.get(cell)).strip().casefold() for cell in (*beside, (row, column))}
    return step[:1] in steps & {"Q", "K", "V"} or waves >= {"sin", "cos"}


def _counts(sheet: DrawnSheet, row: int, column: int) -> bool:
    """Whether a text is one of `w1`, `w2`, `w3`, ... beside each other, words rather than weights, or
    one of `Context 1`, `Context 2`, sentences rather than outputs; or of `x`, `y`, `z`."""
    if str(sheet.values.get((row, column))) in ("x", "e"):
        near = (str(sheet.values.get(cell, "")) for cell in _beside(row, column))
        return any(len(text) == 1 and text.islower() for text in near)
    found = re.fullmatch(
        r"([a-z]+_?|[Cc]ontext )(\d+)", str(sheet.values.get((row, column), "")).strip()
    )
    others = {f"{found[1]}{int(found[2]) + n}" for n in (-1, 1)} if found else set()
    return any(str(sheet.values.get(cell, "")).strip() in others for cell in _beside(row, column))


def _beside(row: int, column: int) -> Iterator[tuple[int, int]]:
    """The cells above, below, left and right of one."""
    yield from ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))


def _step_at(sheet: DrawnSheet, cell: tuple[int, int]) -> str:
    """The step that the text in a cell names, or ""."""
    return (step_named(str(sheet.values.get(cell, ""))) or ("",))[0]


def step_called(text: str, called: Mapping[str, str]) -> tuple[str, bool] | None:
    """The step that a title names by an author's own name or by ours, which may have its place in the
    model: `Enc1.Norm_2`; and whether it names its transpose."""
    name = undecorated(text).partition("=")[0].strip()
    for spelled in (name, re.sub(r"\s*\([^()]*\)$", "", name)) if name else ():
        if own := called.get(spelled.casefold()):
            return own, False
    if learning := of_learning(text, lambda inner: step_called(inner, called)):
        return learning, False
    counts = r"(?<=\w[A-Za-z])(?<!\b(?i:to|of|by))\s(?=\d{1,2}$)"  # not `each row sums to 1`
    name = re.sub(counts, "_", name)
    layer, number = (
        re.match(r"(?:[A-Za-z]{2,}\d*(?:_\d+)*\.(?=\S))*", name),
        re.search(r"(?:_\d+)*$", name),
    )
    base = name[layer.end() : number.start()] if layer and number else ""
    if layer and number and base and (layer[0] or number[0]):
        own = called.get(f".{base}".casefold(), "") if layer[0] else ""
        named = own or called.get(base.casefold()) or (step_named(base) or ("",))[0]
        if named and not weight_label(name):
            return (named if named == "Input" else f"{layer[0]}{named}{number[0]}"), False
    return step_named(text)


def distance(title: Title, row: int, column: int, rows: int, columns: int) -> float | None:
    """How far the numbers in a rectangle are from a title above, left or right of them; None if they
    are elsewhere."""
    end = column + columns - 1
    beside = row - 1 <= title.row <= row + rows - 1
    if 1 <= row - title.row <= FURTHEST and column - 2 <= title.last_column and title.column <= end:
        away = 0 if title.column in (column - 1, column) else abs(title.column - column)
        return row - title.row + 0.3 * away
    if beside and 1 <= column - title.last_column <= WIDEST:
        return 4 + (column - title.last_column) + abs(title.row - row)
    if beside and 1 <= title.column - end <= WIDEST:
        return BESIDE + (title.column - end) + abs(title.row - row)
    return None


def beside(own: Title, other: Title, row: int, column: int) -> bool:
    """Whether another title stands left of the first row of a rectangle, and its own further up."""
    away = column - other.last_column
    near = other.row in (row - 1, row) and 1 <= away <= other.row - row + 2
    return near and own.row < row - 1


def is_label(cells: Page, title: Title, row: int, column: int, rows: int, columns: int) -> bool:
    """Whether a text is one of the labels of a rectangle: a word that is spelled like a step."""
    (left, aside), (above, up) = labels_of(cells, Place("", row, column, rows, columns))
    over = bool(above) and title.row == row - up and column <= title.column < column + columns
    beside = bool(left) and title.column == column - aside and row <= title.row < row + rows
    if over or beside:
        if (columns if over else rows) > 1:
            return True
        around = product(range(row - 4, row + 1), range(column - 3, column + columns + 2))
        of_row = bool(left and above) or title.step in ("gamma", "beta")
        if of_row and any(_is_short_for(cells, title, cell) for cell in around):
            return True
        sentence = bool(left) and title.step == "Input"  # its name, where a title stands further left
        aside = -1 if beside else -aside - 1
        if sentence and _below_title(cells, title, (0, -1) if over else (0,), (aside,)):
            return True
        above_it = ((1, 2), (0,)), ((1, 2, 3), (-2, -1))
        near = (*above_it, ((-1,), (-2,))) if over else (((0,), (-1,)),)  # or left of it
        return any(_below_title(cells, title, up, across) for up, across in near)
    corner = left and above and (title.row, title.column) == (row - up, column - aside)
    return bool(corner) and _below_title(cells, title, (1, 2), (0, 1))


def _is_short_for(cells: Page, label: Title, cell: tuple[int, int]) -> bool:
    """Whether another cell has the full name of what a label names: `Enc1.gamma_1` for `gamma`."""
    step, _ = step_called(str(cells.sheet.values.get(cell, "")), cells.called) or ("", False)
    last = step.rpartition(".")[2]
    return cell != (label.row, label.column) and label.step in (last, re.sub(r"_\d+$", "", last))


def _below_title(cells: Page, title: Title, up: Iterable[int], across: Iterable[int]) -> bool:
    """Whether a text that names a step stands in some cells above or left of a title."""
    near = [(title.row - n, title.column + m) for n, m in product(up, across)]
    near = [cell for cell in near if not _counts(cells.sheet, *cell)]
    texts = (str(cells.sheet.values.get(cell, "")) for cell in near)
    return any(step_called(text, cells.called) and not spoken_of(text) for text in texts)


def ends(cells: Page, title: Title, boxes: Iterable[Box]) -> bool:
    """Whether a title touches one of some rectangles left of it, and nothing right of it."""
    beyond = title.row, title.last_column + 1, 1, 1
    touched = (
        column + columns == title.column and row <= title.row < row + rows
        for row, column, rows, columns in boxes
    )
    return any(touched) and not (cells.framed(*beyond) or cells.texts(*beyond) or cells.filled(*beyond))


def may_end(title: Title, row: int, column: int, rows: int, columns: int) -> bool:
    """Whether a rectangle is left of a title, or just below it."""
    return row - title.row in (1, 2) or column + columns <= title.column


def tables_given(
    sheet: DrawnSheet, cells: Page, titles: Sequence[Title], file: str
) -> dict[Title, tuple[Frame, Table]]:
    """The numbers that titles name as the input or as weights, as they stand on the sheet."""
    found: dict[Title, tuple[Frame, Table]] = {}
    pairs = []
    titles = [t for t in titles if t.place is not None or not cells.heads_sum(t.row, t.column)]
    titles = [t for t in titles if not re.fullmatch(r"Head_\d+", t.step)]  # which head what is below
    blocks = [part for block in cells.blocks for part in _by_titles(cells, block, titles)]
    for title in titles:
        if title.place is None and any(is_label(cells, title, *block) for block in blocks):
            continue
        column = (block for block in blocks if block[:2] == (title.row + 1, title.column))
        if title.step == "Input" and any(_is_vector(sheet, cells, block) for block in column):
            continue  # it heads a vector, as of a softmax
        left = title.place is None and ends(cells, title, (*blocks, *cells.blanks, *cells.labelled))
        for block in blocks:
            away = distance(title, *block) if title.place is None else _at(title.place, block)
            if away is None:
                continue
            if (left and not may_end(title, *block)) or (
                block[2:] == (1, 1) and block[1] < title.column
            ):
                continue  # the matrix of another title, or the number of this one
            others = (t for t in titles if t.place is None and beside(title, t, *block[:2]))
            others = (t for t in others if not is_label(cells, t, *block))
            if block[2] == 1 and cells.labels(block[0] - 1, block[1], 1, block[3]):
                others = (t for t in others if t.last_column < block[1] - 1)  # beside it stands a word
            if title.place is None and any(others):
                continue
            alone = title.step == "Input" and not title.place and _is_vector(sheet, cells, block)
            below = block[0] + block[2], block[1], 1, block[3]
            if (
                title.step.endswith("Mask")
                and cells.framed(*below) == block[3]
                and not cells.filled(*below)
            ):
                continue  # it is begun
            beyond = block[0], title.last_column + 1, block[2], WIDEST
            last = _given(title.step) and (left or not cells.filled(*beyond))
            if (away < BESIDE or last) and not alone and cells.filled(*block) == block[2] * block[3]:
                pairs.append((away, title.row, title.column, title, block))
    taken: set[tuple[int, int, int, int]] = set()
    for _, _, _, title, block in sorted(pairs, key=lambda pair: pair[:3]):
        inside = {*Place(sheet.name, *block).cells()}
        if title.turned and any(sheet.values.get(cell) is NOT_STORED for cell in inside):
            continue
        typed = sheet.formulas.keys().isdisjoint(inside)
        step = "W_P" if title.step == "Positions" and typed else title.step
        if title in found or block in taken or not _given(step):
            if not _given(step):
                taken.add(block)
            continue
        taken.add(block)
        by = f"the title {title.spelled}"
        found[title] = _given_table(sheet, cells, step, by, block, file)
    return found


def _by_titles(cells: Page, block: Box, titles: Sequence[Title]) -> list[Box]:
    """A block of numbers, or its parts that touch: weights, each below its title, a bias behind, or
    steps, each below its title and a row of headings."""
    row, column, rows, columns = block
    above = [title for title in titles if title.place is None and 0 < row - title.row <= 2]
    above = [title for title in above if not is_label(cells, title, *block)]
    named = {title.column: title.step for title in above
             if title.row < row - 1 or title.step.startswith(("W_", "b_"))}  # fmt: skip
    starts = [n for n in range(column, column + columns) if n in named]
    ends = [*starts[1:], column + columns]
    wide = (end - start > named[start].startswith("W_") for start, end in zip(starts, ends))
    if len(starts) < 2 or starts[0] > column or not all(wide):
        return [block]
    return [(row, start, rows, end - start) for start, end in zip(starts, ends)]


def of_sheet(page: Page, titles: Sequence[Title], called: Mapping[str, str]) -> Sequence[Title]:
    """The titles on a sheet; those of sentences (`Sentence 2`) name the step that the sheet is named
    as, if no title names one and no number is typed there."""
    named = step_called(of_table(page.sheet.name), called)
    typed = page.numbers - page.sheet.formulas.keys()
    if named is None or typed or any(t.step == named[0] or not _given(t.step) for t in titles):
        return titles
    labels = {one for box in page.labelled for one in titles if is_label(page, one, *box)}
    sentences = (title for title in titles if title.step == "Input" and title not in labels)
    return [replace(title, step=named[0]) for title in sentences]


def _is_vector(sheet: DrawnSheet, cells: Page, block: Box) -> bool:
    """Whether numbers are a single row or column that nothing labels: no words with dimensions."""
    (left, _), (above, _) = labels_of(cells, Place(sheet.name, *block))
    if block[2:] == (1, 1):
        return True
    sides = [(left, above)] * (block[3] == 1) + [(above, left)] * (block[2] == 1)
    words = ((along, [one for one in across if step_called(one, cells.called) is None])
             for along, across in sides)  # fmt: skip
    return any(not (along or word) for along, word in words)


def _at(place: Place, block: tuple[int, int, int, int]) -> float | None:
    """0 if a tag or a defined name stands for the numbers of a block; else None."""
    same = box(place) == block or (not place.rows and (place.row, place.column) == block[:2])
    return 0.0 if same else None


def _given(step: str) -> bool:
    return step in ("Input", "A", "Target", *MEMORIES) or weight_label(step) is not None


def _given_table(
    sheet: DrawnSheet, cells: Page, step: str, by: str, block: tuple[int, int, int, int], file: str
) -> tuple[Frame, Table]:
    row, column, rows, columns = block
    values = np.empty((rows, columns))
    for r in range(rows):
        for c in range(columns):
            value = sheet.values.get((row + r, column + c), NOT_STORED)
            if not is_number(value):
                raise InputError(
                    f"{file}, sheet {sheet.name!r}, cell {address(row + r, column + c)}: {step} needs "
                    "a number here; its formula has no stored value. Open the file in a spreadsheet "
                    "program and save it."
                )
            values[r, c] = float(value)
    place = Place(sheet.name, row, column, rows, columns)
    (left, _), (above, _) = labels_of(cells, place)
    table = Table(
        name=step,
        values=values,
        rows=left or tuple(f"word {n}" for n in range(1, rows + 1)),
        columns=above or tuple(f"dim {n}" for n in range(1, columns + 1)),
        labelled=(bool(left), bool(above)),
        file=file,
        sheet=sheet.name,
        row=row,
        column=column,
    )
    return Frame(step, place, False, by), table


def labels_of(cells: Page, place: Place) -> tuple[Beside, Beside]:
    """The labels left of a rectangle, and those above it, each with how many cells away they stand:
    arrows may separate them from it, and other texts the words, or an empty column that is no part of a
    frame."""
    there = box(place)
    if there not in cells.beside:
        cells.beside[there] = _labels_of(cells, *there)
    return cells.beside[there]


def _labels_of(cells: Page, row: int, column: int, rows: int, columns: int) -> tuple[Beside, Beside]:
    block = row, column, rows, columns
    before = [(row, column - n, rows, 1) for n in (1, 2)]
    above = [(row - n, column, 1, columns) for n in (1, 2, 3)]
    words = cells.labels(*before[1]) if _in_corner(cells, row, column - 1) else ()
    left = (words, 2) if words else _beside_block(cells, before, block)
    return left, _beside_block(cells, above, block)


def _beside_block(cells: Page, lines: Iterable[Box], block: Box) -> Beside:
    """The first labels in the lines next to a block, which others may part from it."""
    for away, line in enumerate(lines, 1):
        if labels := cells.labels(*line):
            return labels, away
        if not cells.parts(line, block):
            break
    return (), 0


def _listed(
    cells: Page, labels: Sequence[str], place: Place, title: Title | None, step: tuple[int, int]
) -> bool:
    """Whether labels stand left of, or above, the columns or rows of a list of steps, of which a title
    heads a place of a single line."""
    down, across = step
    row = place.row if down else place.row - 1
    if title is None or title.row != row or title.last_column != place.column - down:
        return False
    if cells.texts(*box(shifted(place, down, across))):
        return False  # the labels of another place

    def of_a_word(line: Place) -> bool:
        return not {*labels}.isdisjoint(cells.labels(line.row - across, line.column - down, 1, 1))

    sums = of_a_word(shifted(place, -down, -across))  # what is beside it
    for away in range(2, LONGEST + 1):
        line = shifted(place, -away * down, -away * across)
        if line.row < 1 or line.column < 1:
            return False
        if cells.framed(*box(line)) > cells.framed(*box(place)) or (of_a_word(line) and not sums):
            return False  # another frame is between
        if cells.texts(*box(line)):
            return cells.labels(*box(line)) == tuple(labels)
    return False


def _in_corner(cells: Page, row: int, column: int) -> bool:
    """Whether `word` stands in the corner above and left of a cell."""
    return str(cells.sheet.values.get((row - 1, column - 1), "")).strip().casefold() in CORNERS


def _labels_square(cells: Page, words: tuple[str, ...]) -> bool:
    """Whether words stand both left of a square and above it."""
    n, starts = len(words), cells.where.get(spaced(words[0]).casefold(), ())
    return any(
        cells.labels(row, column, n, 1) == words == cells.labels(row - 1, column + 1, 1, n)
        for row, column in starts
    )


def direction(
    cells: Page,
    table: Table,
    weights: Mapping[str, Table],
    titles: Sequence[Title],
    asked: WordsIn | None,
) -> tuple[WordsIn, str]:
    """Whether the words of an author's input are in its rows or in its columns, and why."""
    corner = "".join(cells.labels(table.row - 1, table.column - 1, 1, 1))
    if corner.casefold() not in CORNERS and step_named(corner):
        corner = ""  # the title
    if _labels_square(cells, table.columns) and not _labels_square(cells, table.rows):
        corner = ""  # said of the row beside it
    found, why = words_of(table, corner, weights.items(), asked)
    if why != BY_DEFAULT:
        return found, why
    place = Place(table.sheet, table.row, table.column, *table.shape)
    known = "Scores", "Scaled", "Softmax", "Softmax.Maximum", "Softmax.Sum", "Output"
    told = {*map(spoken_of, cells.where)}
    named = [any(text.casefold() in told for text in side) for side in (table.rows, table.columns)]
    near = [title for title in titles if title.step in known]
    if any(named):  # the sum may be that of the weighted values
        near = [title for title in near if title.step != "Softmax.Sum"]
    rows, columns = (
        _fit(cells, near, table, across, place, any(named)) + NAMED * named[across]
        for across in (False, True)
    )
    if abs(rows - columns) > 1:
        direct: WordsIn = "columns" if columns > rows else "rows"
        return direct, "the other frames fit that best"
    if any(says_across(title.text) for title in titles):
        return "columns", "the titles multiply from the left"
    over = range(table.column - 2, place.last_column + 1)
    products = [t.row for t in titles if t.step in ("Q", "K", "V") and t.column in over]
    left = [one for one in weights.values() if one.column + one.shape[1] <= table.column]
    if any(table.row + table.shape[0] <= row <= one.row <= row + 3 for one in left for row in products):
        return "columns", "the weights stand left of their products, below the input"
    return found, why


def _fit(
    cells: Page, titles: Sequence[Title], table: Table, across: bool, taken: Place, alone: bool
) -> float:
    """The evidence for the frames of a sentence whose words are in the rows of its input, or across;
    or for those of a word `alone`."""
    words, dims = (table.columns, table.rows) if across else (table.rows, table.columns)
    score = 0.0
    for title in titles:
        wide = [dims] if title.step == "Output" else [words, dims][: 1 + (title.step == "Softmax")]
        vector = "." in title.step  # it tells the direction also if all others are square
        wide = [words[:1]] if vector else wide
        forms = (Shape(rows, one) for rows in (words, words[:1])[: 1 + alone] for one in wide)
        found = (candidates(cells, title, form, across, [taken])[:1] for form in forms)
        score += (1 + vector) * max((one[0].score for one in found if one), default=0.0)
    return score


def oriented(table: Table, name: str, words_in: WordsIn, dims: Sequence[str]) -> tuple[Table, bool]:
    """A table with words in rows, or weights for these, and whether it was transposed."""
    turned = words_in == "columns" if name == "Input" else to_turn(name, table, dims, words_in)
    return (table.turn() if turned else table), turned


@record(frozen=True)
class Shape:
    """What a frame has to hold: the numbers of rows and columns of a matrix, and their labels."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def turn(self) -> Shape:
        return Shape(self.columns, self.rows)

    def unnumbered(self) -> Shape:
        """The shape without labels such as `q1`, which may number the queries as well as their
        dimensions."""
        rows, columns = (
            tuple(re.sub(r"^[a-z]\d+$", "", label) for label in side)
            for side in (self.rows, self.columns)
        )
        return Shape(rows, columns)


@record(frozen=True)
class Candidate:
    """A place where a matrix may be.

    Attributes:
        score: the evidence for it.
        away: its distance from the title.
        agrees: whether its labels are those of the matrix.
        signs: the evidence in words.
    """

    place: Place
    turned: bool
    score: float
    away: float
    agrees: bool
    signs: tuple[str, ...]


def candidates(
    cells: Page, title: Title, shape: Shape, turned: bool, taken: Sequence[Place]
) -> list[Candidate]:
    """The places near a title that can hold a matrix, best first.

    Args:
        shape: the matrix, with words in rows.
        turned: whether the sheet shows words in columns.
        taken: the places of other matrices.
    """
    turned = turned != title.turned if title.across is None else title.across
    if title.place is not None:
        return _outright(cells, title, shape, turned)
    asked = title, shape, turned
    if asked not in cells.near:
        cells.near[asked] = _near(cells, *asked)
    return [one for one in cells.near[asked] if not any(map(one.place.overlaps, taken))]


def _near(cells: Page, title: Title, shape: Shape, turned: bool) -> list[Candidate]:
    found = []
    forms = [(turned, 0.0), (not turned, 1.0)] if shape.rows != shape.columns else [(turned, 0.0)]
    for way, cost in forms:
        own = shape if way == turned else shape.unnumbered()
        form = own.turn() if way else own
        rows, columns = len(form.rows), len(form.columns)
        corners = {
            (row, column)
            for row in range(title.row + 1, title.row + FURTHEST + 1)
            for column in range(max(title.column - columns + 1, 1), title.last_column + 3)
        } | {
            (row, column)
            for row in range(max(title.row - rows + 1, 1), title.row + 2)
            for column in (
                *range(title.last_column + 1, title.last_column + WIDEST + 1),
                *range(max(title.column - columns - WIDEST + 1, 1), title.column - columns + 1),
            )
        }
        for row, column in corners:
            if cells.texts(row, column, rows, columns) or cells.arrows(row, column, rows, columns):
                continue
            away = distance(title, row, column, rows, columns)
            place = Place(title.sheet, row, column, rows, columns)
            if away is None:
                continue
            if is_label(cells, title, row, column, rows, columns):
                continue
            over = title.column == column - 1 or (title.column == column and columns > 1)
            if over and title.row == row - 1 and _in_corner(cells, row, title.column):
                continue  # it heads a single column beside words
            if row > title.row and not _clear(cells, title, row, column, columns):
                continue
            score, agrees, signs = evidence(cells, place, form, title)
            found.append(Candidate(place, way, score - cost, away, agrees, signs))
    return sorted(found, key=lambda one: (-one.score, one.away))


def _outright(cells: Page, title: Title, shape: Shape, turned: bool) -> list[Candidate]:
    """The place that a tag or a defined name gives to a matrix.

    Raises:
        InputError: if there is no room for it.
    """
    assert title.place is not None
    form = shape.turn() if turned else shape
    size = len(form.rows), len(form.columns)
    place = replace(title.place, rows=size[0], columns=size[1])
    if title.place.rows and (title.place.rows, title.place.columns) != size:
        if (title.place.columns, title.place.rows) != size or title.across is not None:
            return []
        turned, place = not turned, title.place
    if cells.texts(*box(place)) or cells.arrows(*box(place)):
        raise InputError(
            f"{title.where}: {title.text} needs the cells {place.range} ({size[0]} x {size[1]}), but "
            "there is a text in them. Move it, or the tag."
        )
    score, _, _ = evidence(cells, place, form, title)
    return [Candidate(place, turned, OUTRIGHT + score, 0, True, ())]


def _clear(cells: Page, title: Title, row: int, column: int, columns: int) -> bool:
    """Whether there are no numbers between a title and the cells below it."""
    between = row - title.row - 1
    return not between or not cells.filled(title.row + 1, column, between, columns)


def evidence(
    cells: Page, place: Place, form: Shape, title: Title | None = None
) -> tuple[float, bool, tuple[str, ...]]:
    """How much speaks for a matrix in these cells, whether its labels agree, and the signs in words. A
    title is no label."""
    row, column, rows, columns = place.row, place.column, place.rows, place.columns
    score, signs, agrees = 0.0, [], False
    (left, aside), (above, up) = labels_of(cells, place)
    if columns == 1 < rows and not left and _listed(cells, form.rows, place, title, (0, 1)):
        left = form.rows
    if rows == 1 < columns and not above and _listed(cells, form.columns, place, title, (1, 0)):
        above = form.columns
    own_title = (title.row, title.column) if title is not None else None
    if own_title == (row - up, column) or (columns == 1 and _names(cells, title, row - up, column)):
        above = ()
    if own_title == (row, column - aside) or (rows == 1 and _names(cells, title, row, column - aside)):
        left = ()
    top, bottom = (row - 1, column, 1, columns), (row + rows, column, 1, columns)
    before, after = (row, column - 1, rows, 1), (row, column + columns, rows, 1)
    sides: tuple[Box, ...] = (top, bottom, before, after)
    whole = cells.framed(*box(place)) == rows * columns
    for labels, own, ends in (
        (left, form.rows, (((row - 1, column - 1), top), ((row + rows, column - 1), bottom))),
        (above, form.columns, (((row - 1, column - 1), before), ((row - 1, column + columns), after))),
    ):
        if labels:
            same = tuple(label.casefold() for label in labels) == tuple(
                label.casefold() for label in own
            )
            more = (
                end
                for end, side in ends
                if end != own_title
                and not cells.heads_sum(*end)
                and _step_at(cells.sheet, end) not in OF_ROWS
                and not (whole and not cells.framed(*side))
            )
            repeated = {labels[0].casefold(), labels[-1].casefold()} if len(labels) > 1 else ()
            beyond = (cells.labels(*end, 1, 1) for end in more)
            goes_on = any(one and one[0].casefold() not in repeated for one in beyond)
            if len(own) == 1 < rows * columns and not same:
                others = form.columns if own is form.rows else form.rows
                score -= 4 * (goes_on or labels[0] in others)  # the line of another word
                continue
            same = same and not (goes_on and all(map(str.isdecimal, own)))  # 1, 2 of 1, 2, 3
            if same > (len(own) == 1) or not goes_on:
                score += 4 if same else 1.5
                agrees |= same
                signs.append("labels")
            else:
                score -= 4  # they go on: labels of something larger
    if rows * columns == 1 and score < 8:  # a single cell has texts beside it by chance
        score, agrees, signs = 0.0, False, []
    if cells.arrows(row, column - 1, rows, 1) == rows and not cells.arrows(
        row + rows, column - 1, 1, 1
    ):
        score += 3 if rows > 1 else 1
        signs.append("arrows")
    if cells.arrows(row - 1, column, 1, columns) == columns and not (
        cells.arrows(row - 1, column + columns, 1, 1) or cells.arrows(row - 1, column - 1, 1, 1)
    ):
        score += 3 if columns > 1 else 1
        signs.append("arrows")
    inside = cells.filled(*box(place)) + cells.summed(*box(place))
    if whole:
        parted = [not inside and cells.filled(*side) == side[2] * side[3] for side in sides]
        head = title.row if title and row - 2 <= title.row < row and title.column == column else 0
        if head and columns > 1 and not cells.texts(head, column + 1, 1, columns - 1):
            parted[2] = True  # a heading over some of the columns that one frame has
            parted[3] |= bool(cells.texts(head, column + columns, 1, 1))
        free = sum(apart or not cells.framed(*side) for apart, side in zip(parted, sides))
        score += 3 if free == 4 else 0.5 * free
        signs += ["borders"] if free == 4 or (free and 1 in (rows, columns)) else []
    elif not rows == columns == 1 and cells.framed(*box(place)):
        score -= 2  # across the edge of a frame
    if inside:
        score += 1 if inside < rows * columns else 2
        signs.append("numbers")
    if columns == 1 < rows and own_title == (row - 1, column):
        sides = top, bottom  # the steps of a list stand beside each other
    elif rows == 1 < columns and title and (title.row, title.last_column) == (row, column - 1):
        sides = before, after
    score -= 2 * sum(bool(inside and cells.filled(*side)) for side in sides)
    return score, agrees, tuple(dict.fromkeys(signs))


def _names(cells: Page, title: Title | None, row: int, column: int) -> bool:
    """Whether a cell holds another title of the same step, beside what is another's matrix."""
    if title is None or title.place is not None:
        return False
    return _step_at(cells.sheet, (row, column)) == title.step


def is_beyond(cells: Page, place: Place, title: Title) -> bool:
    """Whether a place goes on where a frame ends, or its labels do: its first cells have some, or any
    without borders; or is a single row or column of a frame, whose others no text heads."""
    row, column, rows, columns = box(place)
    high, wide = cells.blank_from.get((row, column), (0, 0))
    one_row, one_column = rows == 1 < columns == wide, columns == 1 < rows == high
    if one_row and rows < high and not cells.texts(row + 1, column - 1, high - 1, 1):
        return True
    if one_column and columns < wide and not cells.texts(row - 1, column + 1, 1, wide - 1):
        return True
    if 0 < high * wide == cells.framed(*box(place)) < rows * columns:
        return True
    is_open, own = not cells.framed(*box(place)), Place(title.sheet, title.row, title.column, 1, 1)
    lines = (row, column - 1, rows, 1), (row - 1, column, 1, columns)
    for (labels, _), line, further in zip(labels_of(cells, place), lines, ((0, -1), (-1, 0))):
        side = Place(title.sheet, *line)
        if is_open and not cells.texts(*line):
            side = shifted(side, *further)
        titled, first = side.overlaps(own), Place(side.sheet, side.row, side.column, 1, 1)
        begins = is_open or (first != own and cells.texts(*box(first)))
        if begins and not labels and titled < cells.texts(*box(side)) < max(line[2:]):
            return True
    return False


def box(place: Place) -> tuple[int, int, int, int]:
    return place.row, place.column, place.rows, place.columns


def shifted(place: Place, rows: int, columns: int) -> Place:
    row, column, *size = box(place)
    return Place(place.sheet, row + rows, column + columns, *size)


def cost(title: Title, place: Place) -> float:
    """How far a title is from the input of a sentence, below or beside which its titles stand."""
    if title.sheet != place.sheet:
        return ELSEWHERE
    # Rather right of it than left, where another sentence's may end, which ends there if in its rows.
    left = 10 if place.row - FURTHEST <= title.row <= place.last_row else 2
    across = max(left * (place.column - 1 - title.column), title.column - place.last_column, 0)
    down = max(title.row - place.last_row, 0)
    up = max(place.row - FURTHEST - title.row, 0)
    return across + down + 100 * up


def nearest_to(place: Place, inputs: Sequence[Place], titles: Sequence[Title]) -> list[Title]:
    """The titles of steps that no other input is nearer to; all of its sheet if there are none."""
    there = [title for title in titles if title.sheet == place.sheet and title.step in SPELLINGS]
    own = [t for t in there if cost(t, place) <= min((cost(t, other) for other in inputs), default=0)]
    return own or there


def values_in(sheet: DrawnSheet, place: Place, turned: bool) -> tuple[np.ndarray, np.ndarray]:
    """Which cells of a place are filled, and their numbers (NaN where there is none), with words in
    rows."""
    filled = np.zeros((place.rows, place.columns), bool)
    numbers = np.full((place.rows, place.columns), np.nan)
    for cell in (*sheet.values, *sheet.formulas):  # most frames are blank
        r, c = cell[0] - place.row, cell[1] - place.column
        if 0 <= r < place.rows and 0 <= c < place.columns:
            value: Any = sheet.values.get(cell)
            filled[r, c] = True
            numbers[r, c] = float(value) if is_number(value) else np.nan
    return (filled.T, numbers.T) if turned else (filled, numbers)


def untitled_tables(
    sheet: DrawnSheet,
    cells: Page,
    titles: Sequence[Title],
    given: Mapping[Title, tuple[Frame, Table]],
    file: str,
) -> list[tuple[Frame, Table]]:
    """The tables of typed numbers on a sheet that no title names."""
    named = {box(frame.place) for frame, _ in given.values()}
    found = []
    for block in cells.blocks:
        rows, columns = block[2:]
        typed = sheet.formulas.keys().isdisjoint(Place(sheet.name, *block).cells())
        if block in named or not typed or cells.filled(*block) < rows * columns:
            continue
        over = (title for title in titles if _over(cells, title, block))
        if all(title.place is None and is_label(cells, title, *block) for title in over):
            by = "its place beside another input"
            found.append(_given_table(sheet, cells, "Input", by, block, file))
    return found


def _over(cells: Page, title: Title, block: tuple[int, int, int, int]) -> bool:
    """Whether a title stands just above a block, over its first columns, the one left of its labels, or
    alone over any, also with a blank row or a line of text between it and labels, or left of these."""
    row, column, rows, columns = block
    between = any(_step_at(cells.sheet, (row - 2, at)) for at in (column - 1, column))
    parted = cells.labels(row - 1, column, 1, columns) and not between
    alone = cells.texts(title.row, column - 1, 1, columns + 1) == 1
    others = cells.texts(title.row, column - 1, 1, columns + 1) + cells.texts(row, column - 2, rows, 1)
    further = bool(cells.labels(row, column - 1, rows, 1)) and not others
    over = range(column - 1 - further, column + columns if alone else column + 1)
    above = 0 < row - title.row <= 2 + bool(parted) and title.column in over
    return above or (-1 <= title.row - row < rows and 1 <= column - title.last_column <= 2)
