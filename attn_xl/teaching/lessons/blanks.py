"""Which cells of a lesson are blank, and what the other cells show until they are filled in."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attn_xl.errors import CallError, nearest
from attn_xl.graph.extent import HIDES
from attn_xl.graph.graph import referred_to
from attn_xl.graph.loops import Entered, follows, recompute
from attn_xl.graph.matrix import Matrix
from attn_xl.models import recipes
from attn_xl.models.computation import Computation
from attn_xl.models.steps import MINUS, PLUS
from attn_xl.workbook.layout.layout import Blanks, Layout
from attn_xl.workbook.layout.page import Block

CELLS_A_STEP = 3
"""Blank cells of each step at level 1."""
SHORT, MOST_BLANK, MOST_ROWS = 0, 40, 2
"""The level of a lesson with `MOST_BLANK` cells or fewer, at most `MOST_ROWS` rows for each idea."""
TOLERANCE = 0.01
THREE_DECIMALS = 0.05
"""The unit of which the usual tolerance is half of the third decimal."""
SMALLEST_UNIT = -9
"""The power of ten of the smallest unit of a tolerance."""
FEW_DIGITS = 3
"""Significant digits; a number with no more reveals nothing, since many cells share it."""


@dataclass(frozen=True)
class Lesson:
    """The options of a lesson.

    Attributes:
        level: 1 for a few cells of each step, 2 for whole matrices, 3 for everything after the input;
            0 for at most 40 cells, which ask each kind of step once or twice.
        blank: the steps to leave blank, instead of a level: `Scores`, `Softmax.Sum`.
        tolerance: largest error of a correct number; relative for numbers above 1, else absolute, or
            a share of `unit_of` a matrix of small numbers.
        exam: whether to leave out marks, hints and every answer.
        seed: random seed for the cells of level 1.
        student, name: the id and name of the student; "" for a lesson for everyone.

    Raises:
        CallError: for a value out of range.
    """

    level: int = SHORT
    blank: tuple[str, ...] = ()
    tolerance: float = TOLERANCE
    exam: bool = False
    seed: int = 0
    student: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        if self.level not in (SHORT, 1, 2, 3):
            raise CallError(f"--level is {self.level}; use 1, 2 or 3.")
        if not 0 < self.tolerance < 1:
            raise CallError(f"--tolerance is {self.tolerance}; use a number above 0 and below 1.")
        if self.seed < 0:
            raise CallError(f"--seed is {self.seed}; use 0 or a larger number.")


def is_updated(node: Matrix) -> bool:
    """Whether it holds weights after a step of learning, which are marked by how far they moved."""
    return node.role == "weight" and node.operation is not None


def unit_of(node: Matrix, *, rounded: bool = True) -> float:
    """What the tolerance of a matrix is a share of: 1, or less where all of its numbers are below 0.1,
    as gradients may be; for updated weights, the same of how far they moved.

    Args:
        rounded: whether numbers with three decimals count as right; otherwise the unit is the power of
            ten that all numbers stay below, so that 0 does not count as right for each.
    """
    moved = node.values - node.parents[0].values if is_updated(node) else node.values
    largest = float(np.abs(moved).max(initial=0))
    if not 0 < largest < 0.1:
        return largest if is_updated(node) and largest else 1.0
    unit = float(f"1e{max(SMALLEST_UNIT, math.floor(math.log10(largest)) + 1)}")
    return max(unit, THREE_DECIMALS) if rounded and largest >= 0.001 else unit


def with_blanks(layout: Layout, computation: Computation, lesson: Lesson) -> Layout:
    """A layout with the cells of a lesson left blank; cells computed from them wait for an entry.

    In a lesson on some layers and heads (`Settings.sheets_for`), matrices that depend on its blanks
    through matrices without a sheet are left out as well.

    Raises:
        CallError: if a step to leave blank does not exist or is given.
    """
    opened = chosen_cells(layout, lesson)
    layout, opened = _without_dead_ends(layout, computation, opened)
    if not opened:
        raise CallError("there is nothing to fill in: this model computes nothing from its input.")
    return left_blank(layout, computation, opened, fixed=lesson.exam)


def left_blank(
    layout: Layout, computation: Computation, opened: dict[Matrix, np.ndarray], *, fixed: bool
) -> Layout:
    """A layout with these cells left blank: `opened` has a Boolean mask for each matrix."""
    results = results_of(computation)
    entered = {node: Entered(cells, np.full(node.shape, np.nan)) for node, cells in opened.items()}
    shown = recompute(results, entered).shown
    following = frozenset(follows(results, opened))
    return replace(layout, blanks=Blanks(opened, shown, following, fixed))


def _without_dead_ends(
    layout: Layout, computation: Computation, opened: dict[Matrix, np.ndarray]
) -> tuple[Layout, dict[Matrix, np.ndarray]]:
    """A layout without the matrices that depend on open cells but have no formulas, and without all
    that depends on these."""
    results = results_of(computation)
    following = follows(results, opened)
    dead = {node for node, b in layout.blocks.items() if node in following and not b.live}
    if not dead:
        return layout, opened
    dead |= follows(results, dead)
    sheets = []
    for sheet in layout.sheets:
        blocks = tuple(block for block in sheet.blocks if block.node not in dead)
        if blocks:
            sheets.append(replace(sheet, blocks=blocks))
    left = {node: cells for node, cells in opened.items() if node not in dead}
    return replace(layout, sheets=tuple(sheets)), left


def results_of(computation: Computation) -> list[Matrix]:
    """All matrices of a computation."""
    graphs = [node for graph in computation.graphs.values() for node in graph.values()]
    return [*graphs, *computation.comparison.values(), *computation.plane.values()]


def chosen_cells(layout: Layout, lesson: Lesson) -> dict[Matrix, np.ndarray]:
    """The cells to fill in: a Boolean mask for each matrix."""
    blocks = [block for sheet in layout.sheets for block in sheet.blocks]
    if lesson.blank:
        named = list(_named(layout, lesson.blank))
        found = {block.node: np.ones(block.node.shape, bool) for block in named}
        if lesson.exam:
            steps = {block.node.base_name for block in named}
            alike = [b.node for b in blocks if _computed(b) and b.node.base_name in steps]
            _add_equal_cells(found, alike)
        return found
    asked = [
        block
        for sheet in layout.sheets
        for block in (() if sheet.shared else sheet.blocks)
        if _computed(block)
        and _worth_doing(block.node)
        and (lesson.level == 3 or not _is_aside(block.node))
    ]
    if lesson.level == SHORT:
        return _short(asked, lesson)
    found = {
        block.node: _few(block, lesson) if lesson.level == 1 else np.ones(block.node.shape, bool)
        for block in asked
    }
    if lesson.exam:
        _add_equal_cells(found, list(found))
    return found


def _is_aside(node: Matrix) -> bool:
    """Whether it is a helper beside a step, or a copy."""
    return node.helper or (node.step is not None and node.step.recipe is recipes.COPY)


def _short(blocks: Sequence[Block], lesson: Lesson) -> dict[Matrix, np.ndarray]:
    """At most `MOST_BLANK` cells, which ask each idea once or twice: whole rows of the first step with
    it, or single cells where there are many ideas. In an exam, cells that would reveal one count."""
    ideas: dict[object, Block] = {}
    for block in blocks:
        ideas.setdefault(_idea(block.node), block)
    found: dict[Matrix, np.ndarray] = {}
    for most in (MOST_BLANK, *range(MOST_BLANK // 2, 0, -4)):
        share = max(1, most // max(1, len(ideas)))
        found = {block.node: _rows(block, share, lesson) for block in list(ideas.values())[:most]}
        if lesson.exam:
            _add_equal_cells(found, [block.node for block in blocks])
        if sum(int(cells.sum()) for cells in found.values()) <= MOST_BLANK:
            break
    return found


def _idea(node: Matrix) -> object:
    """What a step teaches: its recipe or, without one, its symbol without what it is of."""
    own = node.step and node.step.recipe
    return own or node.base_name.partition("_")[0]


def _rows(block: Block, share: int, lesson: Lesson) -> np.ndarray:
    """At most `share` cells of a matrix: whole rows, or some cells if no row is as short."""
    n, m = block.node.shape
    if share < m:
        return _few(block, lesson, min(share, CELLS_A_STEP))
    rng = np.random.default_rng([lesson.seed, zlib.crc32(block.name.encode())])
    cells = np.zeros((n, m), bool)
    cells[rng.permutation(n)[: min(MOST_ROWS, share // m)]] = True
    return cells


def _computed(block: Block) -> bool:
    return block.live and block.node.operation is not None and not block.node.sheet


def _worth_doing(node: Matrix) -> bool:
    """Whether its cells are computed, not read off: a mask, columns of given weights, a word, the 1
    that gradients start from; and not the model once more, with a weight nudged."""
    if node.part.scopes and node.part.scopes[0] in (PLUS, MINUS):
        return False
    if (
        node.texts
        or (node.step is not None and node.step.is_read_off)
        or not any(True for _ in referred_to(node))
    ):
        return False
    masks = [one for one in node.parents if one.may_hide and one.step and one.step.is_read_off]
    return not masks or any(mask.hides for mask in masks)


def _few(block: Block, lesson: Lesson, most: int = CELLS_A_STEP) -> np.ndarray:
    """Some cells of a matrix, in different rows where possible, and preferably not hidden by a mask."""
    rng = np.random.default_rng([lesson.seed, zlib.crc32(block.name.encode())])
    values = block.node.values
    n, m = values.shape
    count = min(most, n * m)
    rows = [int(row) for _ in range(-(-count // n)) for row in rng.permutation(n)][:count]
    cells = np.zeros((n, m), bool)
    for row in rows:
        free = ~cells[row]
        seen = free & (values[row] > HIDES) & (values[row] != 0)
        cells[row, rng.choice(np.flatnonzero(seen if seen.any() else free))] = True
    return cells


def _add_equal_cells(found: dict[Matrix, np.ndarray], nodes: Sequence[Matrix]) -> None:
    """Add to `found` every cell of `nodes` that holds the number of a blank cell and would reveal it: a
    cell of the same step for the same words, such as a repeated word's, also the other way round, where
    scores are symmetric; and any cell with a number of many digits, such as a sum with 0. Elsewhere,
    numbers of few digits reveal nothing."""
    asked = {key for node, cells in found.items() for key, cell in _keys(node) if cells[cell]}
    for node in nodes:
        alike = np.zeros(node.shape, bool)
        for key, cell in _keys(node):
            alike[cell] = key in asked
        if alike.any():
            found[node] = alike | found.get(node, np.zeros(node.shape, bool))
    answers = np.concatenate([node.values[cells] for node, cells in found.items()] or [[]])
    long = [a for a in answers.tolist() if not np.isclose(a, float(f"{a:.{FEW_DIGITS}g}"), rtol=1e-9)]
    answers = np.unique(long)
    # Cells added here hold the same numbers, so one round is enough, apart from rounding.
    for node in nodes if len(answers) else ():
        at = np.searchsorted(answers, node.values)
        near = [answers[np.clip(at + step, 0, len(answers) - 1)] for step in (-1, 0)]
        alike = np.any([np.isclose(node.values, one, rtol=1e-9, atol=1e-12) for one in near], axis=0)
        if alike.any():
            found[node] = alike | found.get(node, np.zeros(node.shape, bool))


def _keys(node: Matrix) -> Iterable[tuple[tuple[str, str, str, float], tuple[int, int]]]:
    """What identifies each cell's answer: its step, its words in any order, and its number; and the
    cell."""
    for row, column in np.ndindex(*node.shape):
        value = float(f"{node.values[row, column]:.12g}")
        first, second = sorted((node.rows[row], node.columns[column]))
        yield (node.base_name, first, second, value), (row, column)


def _named(layout: Layout, wanted: Sequence[str]) -> Iterable[Block]:
    """The matrices that the names mean, in every sentence, layer and head unless a name is specific."""
    sheets = layout.steps or layout.sheets
    owned = [(block, sheet.main.node) for sheet in sheets for block in sheet.blocks]
    names = {block: _names(block, owner) for block, owner in owned if not block.node.sheet}
    for name in wanted:
        folded = name.strip().casefold()
        meant = [block for block, own in names.items() if folded in own]
        if not meant:
            known = dict.fromkeys(block.name for block in names if _computed(block))
            raise CallError(f"--blank: there is no step {name!r}. {nearest(name, known)}")
        given = [block for block in meant if not _computed(block)]
        if given:
            raise CallError(f"--blank: {given[0].name} is given; only computed matrices can be blank.")
        if any(block.node.texts for block in meant):
            raise CallError(f"--blank: {meant[0].name} holds words; only numbers can be blank.")
        yield from meant


def _names(block: Block, owner: Matrix) -> set[str]:
    """The names that mean a matrix: in full, without the sentence, without layer and head; for a helper
    also after its `owner`."""
    full = block.name.lstrip("_")
    tail = full.split(".", 1)[1] if "." in full else full
    node = block.node
    if node.helper and not node.scalar:
        base = f"{owner.base_name}.{node.name}"
        return {name.casefold() for name in (block.name, full, tail, base)}
    return {name.casefold() for name in (block.name, full, tail, node.name, node.base_name)}
