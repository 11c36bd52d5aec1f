"""Fills the frames of an author's workbook with formulas that refer to the author's own cells."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.graph import Graph, walk
from attn_xl.graph.loops import Entered, Recomputed, loops_in, recompute
from attn_xl.graph.matrix import Matrix, Operation, cells_of, formula_size, operation_of
from attn_xl.graph.operations.elementwise import Copy, Divide, sqrt
from attn_xl.graph.terms import Operand, Reads
from attn_xl.models import steps
from attn_xl.models.softmax import softmax_scores
from attn_xl.spreadsheets.addresses import (
    Place,
    address,
    at_row,
    fixed,
    parse_area,
    quoted,
    unique,
    unquoted,
)
from attn_xl.spreadsheets.book import STEPS_NOTE
from attn_xl.spreadsheets.drawn import DrawnBook, DrawnSheet
from attn_xl.spreadsheets.formulas import references
from attn_xl.spreadsheets.numerals import NOT_STORED, ErrorValue, as_text, is_number
from attn_xl.tables.frames import Frame, Group, Title, box, values_in
from attn_xl.tables.names import names_width
from attn_xl.tables.own_names import FORMULA, WORDS
from attn_xl.workbook.layout.layout import rows_alike
from attn_xl.workbook.layout.page import Block, PlacedOperand, array_formula
from attn_xl.workbook.xlsx.splice import (
    ArraySize,
    Filled,
    FilledCells,
    FilledRow,
    FilledRun,
    Formulas,
    StoredValues,
    filled_at,
)

from .titles import Assigned

SHORT = 8
"""References and operations of a step that another step's formula can still contain."""
STEPS = "Steps"
AGREES = 1e-6
"""The largest difference, relative to the number, at which an author's own number is taken for ours."""


@dataclass
class Filling:
    """What `fill` writes, and what it found.

    Attributes:
        cells: the cells to fill, by the name of their sheet.
        steps: the sheet for matrices that the author's sheets do not show: its name and its cells.
        frames: for each frame its sentence, and how many of its cells were filled.
        differs: where the author's own numbers are not those of the paper, in words.
        closed: cells that cannot be written to, in words.
        unread: the cells of typed numbers that are no part of the model.
        blank: the blank rows and columns beside words whose title names no step, in words.
        left: what was recognized but not assigned, in words.
        values: what the author's formulas give now that read filled cells, by the name of their sheet.
        sentences: the sentences.
    """

    cells: dict[str, FilledCells] = field(default_factory=dict)
    steps: tuple[str, FilledCells] | None = None
    frames: list[tuple[Group, Frame, int]] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    blank: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    values: dict[str, StoredValues] = field(default_factory=dict)
    sentences: list[Sentence] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of cells filled on the author's sheets."""
        return sum(len(row) for rows in self.cells.values() for row in rows.values())

    def add(self, cells: Mapping[str, FilledCells], frames: Iterable[tuple[Group, Frame]]) -> None:
        """Add what has been filled in before: the cells, and their frames, which were blank."""
        for sheet, rows in cells.items():
            for row, line in rows.items():
                self.cells.setdefault(sheet, {}).setdefault(row, FilledRow()).add(line)
        self.frames += [
            (group, frame, frame.place.rows * frame.place.columns) for group, frame in frames
        ]


def fill(drawn: DrawnBook, made: Assigned, anew: bool = False) -> Filling:
    """The formulas for the frames of an author's workbook.

    Args:
        made: the frames.
        anew: whether every cell of them gets its formula, not only the blank ones.

    Raises:
        InputError: if there is no room for the labels of a tag.
    """
    filling = Filling(left=made.left, unread=made.unread, blank=made.blank)
    name = unique(STEPS, {sheet.casefold() for sheet in drawn.book.grids})
    behind = StepsSheet((anew and drawn.behind) or name, len(made.groups) > 1)
    hers = _functions(drawn, made)
    for number, (group, graph) in enumerate(zip(made.groups, made.graphs)):
        others = [frame.place for one in made.groups for frame in (*one.given, *one.frames)]
        sentence = Sentence(drawn, group, graph, behind, anew, hers, others)
        filling.sentences.append(sentence)
        for tag in (tag for tag, own in made.labels if own == number):
            _write(filling.cells.setdefault(tag.sheet, {}), _labels(sentence, tag))
    together = made.compares or any(group.learns for group in made.groups)
    for sentence in filling.sentences if together else ():
        sentence.join(filling.sentences)
    _note_changed(drawn, filling)
    for sentence in filling.sentences:
        _fill_group(sentence, filling)
    _check_lost(made, filling)
    return filling


def settle(filling: Filling) -> bool:
    """Fill in what follows from the author's formulas whose values have become known; returns whether
    there were any."""
    found = False
    for sentence in filling.sentences:
        before = sentence.shown
        if sentence.waits and sentence.read(filling.values):
            found = True
            same = {
                node for node in sentence.frames
                if np.array_equal(before.numbers(node), sentence.shown.numbers(node), True)
            }  # fmt: skip
            _write_group(sentence, filling, same)
            for node, frame in sentence.frames_behind():
                everywhere = np.ones(node.shape, bool)
                if node not in same:
                    _write(sentence.behind.cells, sentence.formulas(node, frame, everywhere))
    return found


def check(filling: Filling) -> None:
    """Say where the author's own cells do not hold what the paper computes; put what her sheets do not
    show on a sheet behind them."""
    for sentence in (one for one in filling.sentences if not one.anew):
        for node, frame in sentence.own_frames():
            filling.differs += _differences(sentence, node, frame)
    behind = filling.sentences[0].behind
    if (len(behind.cells) > 1 or behind.name == filling.sentences[0].drawn.behind) and filling.count:
        filling.steps = behind.name, behind.cells


def _note_changed(drawn: DrawnBook, filling: Filling) -> None:
    """Note the author's formulas without a stored value, or that read cells to fill in, or each
    other: a program that opens the file computes them, unless their values are known."""
    if drawn.references is None:
        return
    masks = [(frame.place, blank.T if frame.turned else blank)
             for sentence in filling.sentences for frame, blank in sentence.blanks.items()]  # fmt: skip
    labels = [
        (name, row, [*line]) for name, rows in filling.cells.items() for row, line in rows.items()
    ]
    changed: dict[str, np.ndarray] = {}
    for sheet in (one.name for one in drawn.sheets):
        ends = [(place.last_row, place.last_column) for place, _ in masks if place.sheet == sheet]
        ends += [(row, max(columns)) for name, row, columns in labels if name == sheet]
        ends += [*drawn.references.cells.get(sheet, ())]
        changed[sheet] = np.zeros(np.max([(0, 0), *ends], axis=0) + 1, bool)
    for place, blank in masks:
        rows, columns = (
            np.s_[place.row : place.last_row + 1],
            np.s_[place.column : place.last_column + 1],
        )
        changed[place.sheet][rows, columns] |= blank
    for name, row, filled in labels:
        changed[name][row, filled] = True
    for name, cells in drawn.not_stored.items():
        for cell in cells:
            changed[name][cell] = True
            filling.values.setdefault(name, {}).setdefault(cell, None)
    left = [
        (sheet, cell, areas)
        for sheet, own in drawn.references.cells.items()
        for cell, areas in own.items()
        if sheet in changed and not changed[sheet][cell]
    ]

    def reads_changed(areas: Sequence[Place]) -> bool:
        return any(
            changed[area.sheet][area.row : area.last_row + 1, area.column : area.last_column + 1].any()
            for area in areas
            if area.sheet in changed
        )

    before = -1
    while len(left) != before:
        before, still = len(left), []
        for sheet, cell, areas in left:
            if reads_changed(areas):
                changed[sheet][cell] = True
                filling.values.setdefault(sheet, {}).setdefault(cell, None)
            else:
                still.append((sheet, cell, areas))
        left = still[::-1]  # sums may run up a column as well as down


def _check_lost(made: Assigned, filling: Filling) -> None:
    frames = [len(group.frames) > len(group.known) for group in made.groups]
    seen = {frame.place for has, group in zip(frames, made.groups) if has for frame in group.given}
    for has, group in zip(frames, made.groups):
        if not has and group.input.place not in seen:
            filling.left.append(f"{group.input.where}: the input has no frame for any of its steps.")


class StepsSheet:
    """The sheet for the matrices that an author's sheets do not show, one below the other; of several
    sentences, each with its name."""

    def __init__(self, name: str, several: bool) -> None:
        self._several = several
        self.name, self.cells = name, {1: FilledRow({1: Filled(STEPS_NOTE)})}
        self._next = 3

    def place(self, node: Matrix) -> Place:
        """Room for a matrix with its labels, below those so far."""
        place = Place(self.name, self._next + 2, 2, *node.shape)
        self._next = place.last_row + 2
        return place

    def label(self, sentence: str, node: Matrix, place: Place) -> None:
        title = f"{node.name} = {node.words}" if node.words else node.name
        of = f"{sentence}: " * self._several
        self.cells[place.row - 2] = FilledRow({1: Filled(f"{of}{title}")})
        if node.shape != (1, 1):
            self.cells[place.row - 1] = FilledRow(
                dict(enumerate(map(Filled, node.columns), place.column))
            )
            for n, text in enumerate(node.rows, place.row):
                self.cells[n] = FilledRow({1: Filled(text)})
        for n, text in enumerate(node.texts or () if node.operation is None else (), place.row):
            self.cells.setdefault(n, FilledRow()).add(FilledRow({2: Filled(text)}))


class Sentence:
    """A sentence of an author's workbook, whose formulas refer to its frames.

    Attributes:
        frames: for each matrix its frames, that of the calculation first.
        entries: for each frame which cells are filled, and their numbers, with words in rows.
        blanks: for each frame which cells get a formula, with words in rows.
        closed: the frames that cannot be written to, and why; no formula refers to them.
        waits: how many of the author's formulas in them have no value yet.
    """

    def __init__(
        self,
        drawn: DrawnBook,
        group: Group,
        graph: Graph,
        behind: StepsSheet,
        anew: bool,
        hers: Mapping[str, frozenset[str]],
        others: Sequence[Place],
    ) -> None:
        self.anew, self.hers = anew, hers
        self.drawn, self.group, self.graph, self.behind = drawn, group, graph, behind
        self.sheets = {sheet.name: sheet for sheet in drawn.sheets}
        self.frames: dict[Matrix, list[Frame]] = {}
        self._clones: dict[Matrix, Matrix] = {}
        self._named: dict[Matrix, Matrix] = {}
        loops = loops_in(walk(graph.values()))
        self._in_loops = {node for loop in loops for node in loop.nodes}
        self.blanks: dict[Frame, np.ndarray] = {}
        self.entries: dict[Frame, Entered] = {}
        self.now: Mapping[str, StoredValues] = {}
        self.waits = 0
        self._give(self.graph[steps.INPUT.symbol], group.input)
        for name, (frame, _) in group.weights.items():
            source = name == steps.MEMORY.symbol and steps.SOURCE.symbol in graph  # a translation's
            name = steps.SOURCE.symbol if source else name
            if name in graph:
                self._give(graph[name], frame)
        for step in (steps.TARGET_WORDS.symbol, steps.LABELS.symbol):
            if group.answers and step in graph and len(graph[step].rows) == len(group.answers[2]):
                self._give(graph[step], group.answers[1])
        for frame in group.frames:
            self._give(graph[frame.step], frame)
        self._give_width(others)
        for node, several in self.frames.items():
            if node.operation is not None:  # of a given one, the frame with its numbers is first
                several.sort(key=lambda frame: self._away(node, frame))
        self._of = {frame: node for node, frames in self.frames.items() for frame in frames}
        for node, frame in ((node, frame) for frame, node in self._of.items()):
            own = frame in group.frames
            if frame.place.sheet and (own or (node.operation is not None and not node.scalar)):
                self._look(node, frame)
        self.closed = {
            frame: why
            for frame, blank in self.blanks.items()
            if blank.any() and (why := why_closed(self.sheets[frame.place.sheet], frame.place))
        }
        for frame in self.closed:
            self.blanks.pop(frame)
            self.entries.pop(frame, None)
            node = self._of[frame]
            self.frames[node].remove(frame)
            if not self.frames[node]:
                del self.frames[node]
        self.shown = Recomputed({}, {})
        self._joined: list[Sentence] = []

    def join(self, sentences: Sequence[Sentence]) -> None:
        """Let formulas refer to the frames of the other sentences, too, with which this one learns."""
        for one in sentences:
            if one is not self:
                self._joined.append(one)
                self.frames |= {n: own for n, own in one.frames.items() if n not in self.frames}

    def _give(self, node: Matrix, frame: Frame) -> None:
        self.frames.setdefault(node, []).append(frame)

    def _give_width(self, others: Sequence[Place]) -> None:
        """Let formulas refer to an author's cells for d_k and its root; one that is blank, with a
        border or a fill of its own, is filled in."""
        width = self.graph.get(steps.KEY_WIDTH.symbol)
        roots = (one for one in walk(self.graph.values()) if one.operation is sqrt)
        nodes = {"width": width, "root": next((one for one in roots if one.parents == (width,)), None)}
        for called, frame, value in self._widths():
            node = nodes.get(called)
            if node is None or node in self._named:
                continue
            blank = value is None and bool(frame.place.sheet)
            if blank and self._stands_alone(frame.place) and not any(map(frame.place.overlaps, others)):
                self.group.frames.append(frame)
            elif not is_number(value) or not math.isclose(value, node.values[0, 0], rel_tol=1e-14):
                continue
            self._named[node] = replace(node, name=called)
            self.frames[self._named[node]] = [frame]

    def _stands_alone(self, place: Place) -> bool:
        """Whether a cell has a border or a fill, and none beside it has but that of a text."""
        sheet, (row, column) = self.sheets[place.sheet], (place.row, place.column)
        beside = (row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)
        others = (cell for cell in beside if not isinstance(sheet.values.get(cell), str))
        return sheet.looks.frames((row, column)) and not any(map(sheet.looks.frames, others))

    def _widths(self) -> Iterator[tuple[str, Frame, Any]]:
        """The cells that names and labels call d_k or its root, each with what it holds."""
        for name, text in self.drawn.names.items():
            sheet, _, cells = text.replace("$", "").rpartition("!")
            area, there = parse_area(cells), self.sheets.get(unquoted(sheet))
            value = there.values.get(area[1][:2]) if area and there else None
            yield names_width(name), Frame(name, Place("", 0, 0, 1, 1), False, "its name"), value
        for there in self.drawn.sheets:
            labels = [(cell, text) for cell, text in there.values.items() if isinstance(text, str)]
            for (row, column), text in labels:
                for cell in ((row, column + 1), (row + 1, column)) if names_width(text) else ():
                    by = f"the label {text!r}"
                    frame = Frame(text, Place(there.name, *cell, 1, 1), False, by)
                    yield names_width(text), frame, there.values.get(cell)

    def _away(self, node: Matrix, frame: Frame) -> tuple[int, int, int]:
        """How far a frame is from those that its matrix is computed from."""
        near = [self.frames[p][0] for p in _operands(node) if p in self.frames and p is not node]
        return (
            sum(gap(frame.place, other.place) for other in near), frame.place.row, frame.place.column
        )  # fmt: skip

    def own_frames(self) -> Iterator[tuple[Matrix, Frame]]:
        """The frames of its steps on the author's sheets, each with its matrix."""
        for node, frames in [*self.frames.items()]:
            yield from ((node, frame) for frame in frames if frame in self.group.frames)

    def frames_behind(self) -> Iterator[tuple[Matrix, Frame]]:
        """The frames on the sheet of steps, each with its matrix."""
        for node, (frame, *_) in [*self.frames.items()]:
            if frame.place.sheet == self.behind.name:
                yield node, frame

    def _look(self, node: Matrix, frame: Frame) -> None:
        """Note which cells of a frame are filled, and their numbers."""
        if self.anew:
            self.blanks[frame] = np.ones(node.shape, bool)
            return
        filled, numbers = values_in(self.sheets[frame.place.sheet], frame.place, frame.turned)
        self.entries[frame], self.blanks[frame] = Entered(filled, numbers), ~filled

    def read(self, now: Mapping[str, StoredValues]) -> bool:
        """Compute every matrix from the numbers that the author's cells hold; `now` has her formulas
        that read cells to fill in, with their values, None while they are not known. Returns whether
        more of these are known than before."""
        entered, before, self.waits = dict[Matrix, Entered](), self.waits, 0
        self.now = now
        for frame, one in self.entries.items():
            sheet, own = self.sheets[frame.place.sheet], now.get(frame.place.sheet, {})
            known = one.cells & ~np.isnan(one.numbers)
            for i, j in np.argwhere(one.cells).tolist() if own or not known.all() else ():
                cell = frame.cell(i, j)
                if cell in own:
                    value = own[cell]
                    one.numbers[i, j] = value if is_number(value) else np.nan
                    self.waits += value is None
                    # What follows from one without a value has none, unless none was stored.
                    known[i, j] = value is not None or sheet.values.get(cell) is not NOT_STORED
                elif not known[i, j]:  # nor has what follows from an error
                    known[i, j] = sheet.values.get(cell, NOT_STORED) is not NOT_STORED
            node = self._of[frame]
            if frame is self.frames[node][0] and node.operation is not None and known.any():
                entered[node] = Entered(known, one.numbers)
        for other in self._joined:
            entered |= {
                other._of[frame]: Entered(known, one.numbers)
                for frame, one in other.entries.items()
                if (known := one.cells & ~np.isnan(one.numbers)).any()
                if frame is other.frames[other._of[frame]][0] and other._of[frame].operation is not None
            }
        self.shown = recompute(self.graph.values(), entered)
        for node, named in self._named.items():
            self.shown.shown[named] = self.shown.numbers(node)
        return self.waits < before

    @cached_property
    def _errors(self) -> dict[str, np.ndarray]:
        """Which cells of each sheet hold an error."""
        found = {name: np.zeros(sheet.looks.framed.shape, bool) for name, sheet in self.sheets.items()}
        for name, sheet in self.sheets.items():
            for cell, value in sheet.values.items():
                found[name][cell] = isinstance(value, ErrorValue) and value is not NOT_STORED
        return found

    def fails(self, sheet: DrawnSheet, cell: tuple[int, int]) -> bool:
        """Whether a formula gives an error that none of the cells it reads holds."""
        if not self._errors[sheet.name][cell]:
            return False
        return not any(
            self._errors[name or sheet.name][top : bottom + 1, left : right + 1].any()
            for name, (top, left, bottom, right) in references(sheet.formulas[cell], cell)
            if (name or sheet.name) in self._errors
        )

    # Formulas

    def _operand(self, node: Matrix, reads: Reads) -> Matrix:
        """A matrix as part of a formula: itself if it has cells, else its own formula; if that would be
        too long, or if the formula needs cells, it gets some on the sheet of steps."""
        if node in self.frames:
            return node
        if node in self._named:
            return self._named[node]
        looping = node in self._in_loops  # a formula cannot contain itself
        if node.operation is None or operation_of(node).reads_labels or looping:
            return self._behind(node)
        nameless = self._clone(node, nameless=True)
        if reads is Reads.number or node.scalar:
            small = formula_size(nameless) <= SHORT
        else:
            small = cells_of(nameless) is not None or (
                not node.name and operation_of(node).row_of(0) is not None
            )
        return nameless if small else self._behind(node)

    def _clone(self, node: Matrix, nameless: bool = False) -> Matrix:
        """A computed matrix whose operands are `_operand`s."""
        operation = operation_of(node)
        softmax = self._softmax(node)
        parents = tuple(
            self._operand(parent, operation.reads_of(number))
            for number, parent in enumerate(() if softmax else node.parents)
        )
        made = softmax or replace(node, parents=parents)
        return replace(made, name="") if nameless else made

    def _behind(self, node: Matrix) -> Matrix:
        """A matrix in cells of its own on the sheet of steps."""
        if not node.name:
            named = replace(node, name=operation_of(node).noun)
            self.shown.shown[named] = self.shown.numbers(node)
            self._named[node] = named
            node = named
        place = self.behind.place(node)
        for one in (self, *self._joined):
            one.frames[node] = [Frame(node.name, place, False, "no frame shows it")]
        self.behind.label(self.group.name, node, place)
        everywhere = np.full(node.shape, node.texts is None or node.operation is not None)
        _write(self.behind.cells, self.formulas(node, self.frames[node][0], everywhere))
        return node

    def _softmax(self, node: Matrix) -> Matrix | None:
        """A softmax whose exponentials and sums no frame shows, as one formula."""
        x = softmax_scores(node)
        if x is None or any(parent in self.frames for parent in node.parents):
            return None
        maximum = x is not node.parents[0].parents[0]
        divided = x.operation
        if x not in self.frames and isinstance(divided, Divide) and x.parents[1].shape == (1, 1):
            raw, divisor = x.parents
            return replace(
                node, operation=WholeSoftmax(maximum), parents=(self._operand(raw, Reads.row),
                                                         self._operand(divisor, Reads.number))
            )  # fmt: skip
        return replace(node, operation=WholeSoftmax(maximum), parents=(self._operand(x, Reads.row),))

    def _blocks(self, home: Place, own: Frame | None) -> dict[Matrix, Block]:
        """For each matrix the frame nearest to a place, as formulas there refer to it; a copy refers to
        the first."""
        blocks = {}
        for node, frames in self.frames.items():
            others = frames[:1] if own in frames[1:] else [f for f in frames if f is not own] or frames
            frame = min(others, key=lambda one: gap(one.place, home))
            name = fixed(frame.place.range)
            if node.scalar and not frame.place.sheet:
                name = frame.step
            elif frame.place.sheet != home.sheet:
                name = f"{quoted(frame.place.sheet)}!{name}"
            if node.scalar:
                name = name.partition(":")[0]
            blocks[node] = Block(node, frame.place, name, "", True, True, True, turned=frame.turned)
        return blocks

    def _labelled(self, block: Block) -> Block:
        """A matrix whose column labels do not stand right at its place, with those of another one."""

        def texts(place: Place) -> list[str]:
            values = self.sheets[place.sheet].values if place.sheet in self.sheets else {}
            return [as_text(values.get(cell, "")).casefold() for cell in place.cells()]

        def beside(place: Place, above: bool) -> Place:
            row, column = (place.row - 1, place.column) if above else (place.row, place.column - 1)
            rows, columns = (1, place.columns) if above else (place.rows, 1)
            return Place(place.sheet, row, column, rows, columns)

        wanted = [*map(str.casefold, block.node.columns)]
        if (
            block.place.sheet not in self.sheets
            or texts(beside(block.place, not block.turned)) == wanted
        ):
            return block
        frames = (frame for several in self.frames.values() for frame in several if frame.place.sheet)
        places = (beside(frame.place, above) for frame in frames for above in (True, False))
        return replace(block, labels=next((one for one in places if texts(one) == wanted), None))

    def formulas(
        self, node: Matrix, frame: Frame, wanted: np.ndarray
    ) -> Iterator[tuple[int, FilledRun]]:
        """The wanted cells of a matrix in a frame by rows of the sheet, each with its formula and its
        number."""
        home, numbers = frame.place, self.shown.numbers(node)
        clone: Matrix | None = None
        if frame is not self.frames[node][0]:
            clone = replace(node, operation=Copy(), parents=(node,))
        elif node.operation is not None:
            clone = self._clones.get(node) or self._clone(node)
            self._clones[node] = clone
        blocks = self._blocks(home, frame)
        if clone is not None:
            blocks[clone] = Block(clone, home, "", "", True, True, True, turned=frame.turned)
            for one in (
                (clone, *clone.parents) if node.texts or operation_of(clone).reads_labels else ()
            ):
                if one in blocks:
                    blocks[one] = self._labelled(blocks[one])
        plain = not frame.turned and not any(block.turned for block in blocks.values())
        kinds = (
            rows_alike(clone, range(node.shape[0]))
            if clone is not None and plain
            else range(node.shape[0])
        )
        hers = self.hers.get(frame.step, frozenset())
        arrays = [int(found[1]) for one in hers if (found := _WHOLE.fullmatch(one))]
        spills = self.drawn.spilled.get((home.sheet, home.row, home.column), max(arrays, default=0))
        alone, whole = node.values.size == 1 or node in self._in_loops, ""
        if (arrays or spills) and clone is not None and plain and wanted.all() and not alone:
            whole = array_formula(blocks, clone, home)
        patterns: dict[object, Formulas] = {}
        lines: list[Formulas] = []
        for i, kind in enumerate(kinds):
            if clone is None or whole or not wanted[i].any():
                lines.append((NONE,) * node.shape[1])
                continue
            if kind not in patterns:
                own = PlacedOperand(blocks, clone, home, i, {}, frame.turned)
                texts = map(own.formula, range(node.shape[1]))
                patterns[kind] = tuple(as_she_writes(text, hers) for text in texts)
            lines.append(patterns[kind])
        if whole:
            lines[0] = ((whole, ArraySize(*node.shape, spills)), *lines[0][1:])
        if frame.turned:
            numbers, wanted, lines = numbers.T, wanted.T, [*zip(*lines)]
        for i, line in enumerate(lines):
            edges = np.flatnonzero(np.diff(wanted[i], prepend=False, append=False)).tolist()
            for start, end in zip(edges[::2], edges[1::2]):
                values = numbers[i, start:end].tolist()
                if np.isnan(numbers[i, start:end]).any():
                    values = [None if math.isnan(one) else one for one in values]
                if node.texts:  # the columns with the largest numbers
                    labels = node.parents[0].columns
                    values = [None if one is None else labels[int(one) - 1] for one in values]
                yield home.row + i, FilledRun(home.column + start, values, line[start:end])


NONE = "", None
"""No formula."""
_WHOLE = re.compile(r"\{(\d+)\}")
"""One array formula for a whole matrix, and the metadata with which it spills; 0 if it does not."""
_OF_ROWS = re.compile(r"SUMPRODUCT\(([^(),]+),([^(),]+)\)")
_OF_BOTH = re.compile(r"SUM\(MMULT\(([^(),]+),([^(),]+)\)\)")
_CALL = re.compile(r"\b(SUMPRODUCT|SUM\(MMULT|MMULT)\(")


def _functions(drawn: DrawnBook, made: Assigned) -> dict[str, frozenset[str]]:
    """The functions with which an author writes the products of each step."""
    sheets = {sheet.name: sheet for sheet in drawn.sheets}
    found: dict[str, set[str]] = {}
    for frame in (frame for group in made.groups for frame in group.frames):
        place, formulas = frame.place, sheets[frame.place.sheet].formulas
        for cell in ((place.row, place.column), (place.last_row, place.last_column)):
            if cell in formulas:
                own = found.setdefault(frame.step, set())
                own.update(_CALL.findall(formulas[cell].text))
                own.update([f"{{{formulas[cell].spills}}}"] * (formulas[cell][1:5] == box(place)))
    return {step: frozenset(names) for step, names in found.items() if names}


def as_she_writes(formula: str, hers: frozenset[str]) -> tuple[str, ArraySize | None]:
    """A product in the function that an author uses for it elsewhere, and the size of the array formula
    that this takes."""
    hers = frozenset(one for one in hers if not _WHOLE.fullmatch(one))
    rows, both = _OF_ROWS.fullmatch(formula), _OF_BOTH.fullmatch(formula)
    if rows and hers == {"MMULT"}:
        first, _, last = rows[2].replace("$", "").rpartition("!")[2].partition(":")
        upright = first.rstrip("0123456789") == last.rstrip("0123456789")
        left, right = (
            (f"TRANSPOSE({rows[1]})", rows[2]) if upright else (rows[1], f"TRANSPOSE({rows[2]})")
        )
        return f"MMULT({left},{right})", ArraySize()
    if both and hers == {"MMULT"}:
        return f"MMULT({both[1]},{both[2]})", None
    if both and hers == {"SUMPRODUCT"}:
        return f"SUMPRODUCT({both[1]},TRANSPOSE({both[2]}))", ArraySize()
    return formula, None


class WholeSoftmax(Operation):
    """A softmax in one formula, of scores that a second operand may divide:
    `=EXP(B5-MAX($B5:$D5))/SUMPRODUCT(EXP($B5:$D5-MAX($B5:$D5)))`. It stands for the operations of a
    model's softmax, which have its numbers and its words."""

    def __init__(self, maximum: bool) -> None:
        self.maximum = maximum

    def formula(self, row: int, column: int, *operands: Operand) -> str:
        x, *divisor = operands
        one, several = x.cell(column), x.row()
        if self.maximum:
            one, several = f"{one}-MAX({x.row()})", f"{several}-MAX({x.row()})"
        if divisor:
            by = divisor[0].cell(0, binds=3)
            one, several = (
                f"({text})/{by}" if self.maximum else f"{text}/{by}" for text in (one, several)
            )
        return f"EXP({one})/SUMPRODUCT(EXP({several}))"

    def array(self, *operands: Operand) -> str:
        x = operands[0].array(3 if len(operands) > 1 else 2)
        x = f"{x}/{operands[1].array(3)}" if len(operands) > 1 else x
        powers = f"EXP({x}-MAX({x}))" if self.maximum else f"EXP({x})"
        return f"{powers}/MMULT({powers},TRANSPOSE(COLUMN({operands[0].array()})^0))"

    def reads_of(self, number: int) -> Reads:
        return Reads.number if number else Reads.row


def _operands(node: Matrix) -> Iterator[Matrix]:
    """The named matrices that a matrix is computed from, helpers looked through."""
    for parent in node.parents:
        if parent.name and not parent.helper:
            yield parent
        else:
            yield from _operands(parent)


def gap(a: Place, b: Place) -> int:
    """The cells between two places; places on other sheets are far away."""
    if a.sheet != b.sheet:
        return 10_000
    across = max(b.column - a.last_column, a.column - b.last_column, 0)
    return across + max(b.row - a.last_row, a.row - b.last_row, 0)


def _write(cells: FilledCells, rows: Iterable[tuple[int, Mapping[int, Filled]]]) -> None:
    for row, line in rows:
        cells.setdefault(row, FilledRow()).add(line)


def _fill_group(sentence: Sentence, filling: Filling) -> None:
    sentence.read(filling.values)
    for frame, why in sentence.closed.items():
        filling.closed.append(f"{frame.where}: {frame.step} is not filled in: {why}.")
        filling.frames.append((sentence.group, frame, 0))
    for _, frame in sentence.own_frames():
        if frame in sentence.group.known and any(
            one.step == frame.step
            and set(frame.place.cells()) <= {*one.place.cells()}
            and one.place.sheet == frame.place.sheet
            for _, one, _ in filling.frames
        ):  # keys may be those of two sentences, a query that of one of their words
            sentence.blanks[frame] = np.zeros_like(sentence.blanks[frame])
        else:
            filling.frames.append((sentence.group, frame, int(sentence.blanks[frame].sum())))
    _write_group(sentence, filling)
    for _, frame in sentence.own_frames():
        place, first = frame.place, (frame.place.row, frame.place.column)
        written = filled_at(filling.cells.get(place.sheet, {}), *first)
        if (place.sheet, *first) in sentence.drawn.spilled and written and not written.array:
            filling.closed.append(
                f"{frame.where}: {address(*first)}# is read, but each cell of {frame.step} has its own "
                f"formula. Write {place.range} instead."
            )


def _write_group(sentence: Sentence, filling: Filling, but: Collection[Matrix] = ()) -> None:
    for node, frame in sentence.own_frames():
        if node not in but and sentence.blanks[frame].any():
            cells = filling.cells.setdefault(frame.place.sheet, {})
            _write(cells, sentence.formulas(node, frame, sentence.blanks[frame]))


def _labels(sentence: Sentence, tag: Title) -> Iterator[tuple[int, dict[int, Filled]]]:
    """The cells of a tag for words, dimensions or a formula. Labels refer to those of the input, if it
    has some.

    Raises:
        InputError: if there is no room for them.
    """
    group, sheet = sentence.group, sentence.sheets[tag.sheet]
    if tag.step.startswith(FORMULA):
        here = Place(tag.sheet, tag.row, tag.column, 1, 1)
        frames = sorted(group.frames, key=lambda one: (one.place.row < tag.row, gap(one.place, here)))
        near = next(iter(frames), None)
        step = tag.step.partition(" ")[2] or (near.step if near else "")
        if step not in sentence.graph:
            raise InputError(
                f"{tag.where}: {tag.text} needs a frame, or the name of a step: "
                "{{ formula | Scores }}."
            )
        node = sentence.graph[step]
        yield tag.row, {tag.column: Filled(f"{node.name} = {node.words}")}
        return
    of_words, across = tag.step == WORDS, group.words_in == "columns"
    texts = group.table.rows if of_words else group.table.columns
    aside = tag.across if tag.across is not None else of_words == across
    place, own = group.input.place, sentence.sheets[group.input.place.sheet]
    for n, text in enumerate(texts):
        cell = (tag.row, tag.column + n) if aside else (tag.row + n, tag.column)
        if cell in sheet.values:
            raise InputError(
                f"{tag.where}: {tag.text} needs {len(texts)} cells, but {address(*cell)} is filled."
            )
        label = (place.row + n, place.column - 1) if of_words != across else (
            place.row - 1, place.column + n)  # fmt: skip
        there = own.values.get(label) == text and label != cell
        where = "" if own.name == sheet.name else f"{quoted(own.name)}!"
        formula = f"{where}{address(*label)}" if there else ""
        yield cell[0], {cell[1]: Filled(text, formula)}


def why_closed(sheet: DrawnSheet, place: Place) -> str:
    """Why nothing can be written to a place; "" if it is free."""
    for (top, left, bottom, right), why in sheet.closed:
        below, beside = top <= place.last_row, left <= place.last_column
        if below and beside and place.row <= bottom and place.column <= right:
            return why
    return ""


def _differences(sentence: Sentence, node: Matrix, frame: Frame) -> Iterator[str]:
    """Where an author's own cells do not hold what the paper computes from the cells that they read."""
    sheet = sentence.sheets[frame.place.sheet]
    entered, now = sentence.entries[frame], sentence.now.get(sheet.name, {})
    given = [*sentence.group.known, *sentence.group.given]
    copy = node.operation is None and all(frame.place != one.place for one in given)
    computed = (node.operation is not None or copy) and frame not in given
    filled, numbers = entered.cells & computed, entered.numbers  # given: hers
    if copy:
        filled &= ~np.isclose(numbers, node.values)
    if not filled.any():
        return
    expected = node.values if copy else sentence.shown.expected[node]
    typed, other = [], []
    for i, j in np.argwhere(filled).tolist():
        cell = frame.cell(i, j)
        if cell not in sheet.formulas:
            typed.append((cell, i, j))
            continue
        own, ours = numbers[i, j], expected[i, j]
        agrees = not np.isfinite(own) or abs(own - ours) <= AGREES * max(1.0, abs(ours))
        if not agrees or (cell not in now and sentence.fails(sheet, cell)):
            other.append((cell, i, j))
    for cells, more in ((other, "differ so"), (typed, "are typed")):
        if not cells:
            continue
        cell, i, j = cells[0]
        wanted = np.zeros(node.shape, bool)
        wanted[i, j] = True
        ((_, line),) = sentence.formulas(node, frame, wanted)
        if cells is typed:
            there = f"the number {numbers[i, j]:.4g} is typed where a formula belongs"
        else:
            own = sheet.formulas[cell]
            text = f"={own.text}" if (own.row, own.column) == cell else "the formula there"
            error = sheet.values.get(cell) if np.isnan(numbers[i, j]) else None
            there = f"{text} gives {error or f'{numbers[i, j]:.4g}'}"
        formula = at_row(line[cell[1]].formula, cell[0])
        yield (
            f"{quoted(sheet.name)}!{address(*cell)}: {there}; {frame.step} should be "
            f"{expected[i, j]:.4g}, ={formula}."
            + (f" {len(cells)} cells of {frame.step} {more}." if len(cells) > 1 else "")
        )
