"""How one number came about, with the numbers put in, down to the inputs: records, no output format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from attn_xl.errors import CallError, wrong_type
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.node import Graph, Node, Numbers
from attn_xl.graph.operation import ATOM, Said, Term, operation_of
from attn_xl.models.computation import Computation, as_computation
from attn_xl.settings import Settings
from attn_xl.workbook.arrange import arranged
from attn_xl.workbook.layout.layout import Layout

from .cell_names import Cell, CellNames

Ends = Literal["", "given", "above", "depth", "limit"]
MOST_CELLS = 2000
"""No more cells are explained once so many are known."""
_HEAD, _TAIL = 4, 2


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """How one number came about.

    Attributes:
        name: `pets.Softmax[mouse, cat]`.
        address: its cell in the workbook that `convert` writes, `pets.Softmax!D5`.
        formula: what stands in that cell, `=L5/$P5`; "" for what is given.
        value: the number, or the text of a cell that shows one.
        words: the calculation with names, `Softmax.Exponentials[mouse, cat] / Softmax.Sum[mouse]`.
        numbers: the same with the numbers put in, `0.277 / 1.339`.
        note: what the step shows.
        step: the step it belongs to, `pets.Softmax`.
        sources: the named numbers it was made from, in order.
        ends: why its own calculation is not here, and `sources` is empty: it is `given`; it was
            explained `above`; the `depth` or the `limit` of cells is reached. "" where it is here.
    """

    name: str
    address: str
    formula: str
    value: float | str
    words: str
    numbers: str
    note: str
    step: str
    sources: tuple[Explanation, ...] = ()
    ends: Ends = ""

    def __repr__(self) -> str:
        made = "".join(f" = {said}" for said in (self.words, self.numbers) if said)
        return f"<{self.name}{made} = {self.value}>"

    def all(self) -> Iterator[tuple[int, Explanation]]:
        """Itself and what it was made from, in the order of a tree, each with its level from 0."""
        waiting = [(0, self)]
        while waiting:
            level, one = waiting.pop()
            yield level, one
            waiting.extend((level + 1, source) for source in reversed(one.sources))


def figure(value: float, decimals: int | None = None) -> str:
    """A number in words: at most so many digits after the point, all that matter if None; a power of
    ten where it would be 0 or very long; with a true minus sign."""
    if decimals is None:
        text = repr(float(value))
    elif value and not 0.5 * 10.0**-decimals <= abs(value) < 1e7:
        text = f"{value:.{decimals}e}"
    else:
        text = f"{value:.{decimals}f}"
    digits, e, power = text.partition("e")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return (digits + (f"e{int(power)}" if e else "")).replace("-", "−")


class _Voice:
    """What is said of a cell that has a name, and of a number that has none. This one says nothing, and
    remembers the cells it was asked about."""

    most: int | None = None

    def __init__(self) -> None:
        self.cells: dict[Cell, None] = {}

    def cell(self, cell: Cell) -> Said:
        self.cells[cell] = None
        return Said("")

    def number(self, value: float, word: str) -> Said:
        return Said("")

    def value(self, node: Node, row: int, column: int) -> float:
        return float(node.values[row, column])


class _Names(_Voice):
    def __init__(self, names: CellNames, home: Node, most: int | None) -> None:
        self._names, self._home, self.most = names, home, most

    def cell(self, cell: Cell) -> Said:
        return Said(self._names.name(cell, self._home))

    def number(self, value: float, word: str) -> Said:
        return Said(word)


class _Numbers(_Voice):
    def __init__(
        self,
        decimals: int | None,
        most: int | None,
        others: Mapping[Node, Numbers] | None = None,
    ) -> None:
        self._decimals, self.most = decimals, most
        self._others = others or {}

    def cell(self, cell: Cell) -> Said:
        return self.number(self.value(*cell), "")

    def value(self, node: Node, row: int, column: int) -> float:
        return float(self._others.get(node, node.values)[row, column])

    def number(self, value: float, word: str) -> Said:
        text = figure(value, self._decimals)
        return Said(text, 0 if value < 0 else ATOM - ("e" in text))


class _Term(Term):
    """A matrix in the calculation of a cell of `home`: its cells by the voice or, where it has no name,
    by how they came about."""

    def __init__(self, node: Node, voice: _Voice, names: CellNames, home: Node) -> None:
        self._node, self._voice, self._names, self._home = node, voice, names, home
        self.shape, self.rows, self.columns = node.shape, node.rows, node.columns

    @cached_property
    def _terms(self) -> list[_Term]:
        return [_Term(parent, self._voice, self._names, self._home) for parent in self._node.parents]

    def worked(self, row: int, column: int) -> Said:
        return operation_of(self._node).worked(row, column, self, *self._terms)

    def at(self, row: int, column: int) -> Said:
        row, column = min(row, self.shape[0] - 1), min(column, self.shape[1] - 1)
        if self._node.name:
            return self._voice.cell(Cell(self._node, row, column))
        return self.worked(row, column)

    def value(self, row: int, column: int) -> float:
        return self._voice.value(self._node, row, column)

    def whole(self) -> str:
        node = self._node
        return self._names.step(node, self._home) if node.name else node.words

    def number(self, value: float, word: str) -> Said:
        return self._voice.number(value, word)

    def several(self, count: int, part: Callable[[int], str], between: str) -> str:
        most = self._voice.most
        if most is None or count <= max(most, _HEAD + _TAIL):
            return between.join(map(part, range(count)))
        head = [part(i) for i in range(_HEAD)]
        tail = [part(i) for i in range(count - _TAIL, count)]
        return between.join([*head, f"… ({count} terms)", *tail])


class _Explaining:
    """One explanation: each cell of it explained once."""

    def __init__(
        self,
        layout: Layout,
        names: CellNames,
        depth: int | None,
        decimals: int | None,
        most: int | None,
    ) -> None:
        self._layout, self._names = layout, names
        self._depth, self._decimals, self._most = depth, decimals, most
        self._explained: set[Cell] = set()
        self._named: dict[tuple[Cell, Ends], Explanation] = {}
        self._known: set[Cell] = set()

    def of(self, root: Cell) -> Explanation:
        """The explanation of a cell and, in the order of a tree, of what it was made from."""
        if root.node.operation is None:
            return self._record(root, (), "given")
        # By hand, not by recursion: a model may have more steps than Python has frames.
        open_cells = [(root, self._sources(root), list[Explanation]())]
        while True:
            cell, sources, records = open_cells[-1]
            source = next(sources, None)
            if source is None:
                open_cells.pop()
                record = self._record(cell, tuple(records), "")
                if not open_cells:
                    return record
                open_cells[-1][2].append(record)
                continue
            ends = self._ends(source, len(open_cells))
            if ends:
                key = source, ends
                if key not in self._named:
                    self._named[key] = self._record(source, (), ends)
                records.append(self._named[key])
            else:
                open_cells.append((source, self._sources(source), []))

    def _ends(self, cell: Cell, level: int) -> Ends:
        if cell.node.operation is None:
            return "given"
        if cell in self._explained:
            return "above"
        if self._depth is not None and level >= self._depth:
            return "depth"
        return "limit" if len(self._known) >= MOST_CELLS else ""

    def _sources(self, cell: Cell) -> Iterator[Cell]:
        self._explained.add(cell)
        seen = _Voice()
        self._said(cell, seen)
        self._known.update(seen.cells)
        return iter(seen.cells)

    def _said(self, cell: Cell, voice: _Voice) -> str:
        return _Term(cell.node, voice, self._names, cell.node).worked(cell.row, cell.column).text

    def _record(self, cell: Cell, sources: tuple[Explanation, ...], ends: Ends) -> Explanation:
        node = cell.node
        value = node.texts[cell.row] if node.texts else float(node.values[cell.row, cell.column])
        words = numbers = formula = ""
        if node.operation is not None:
            formula = "=" + self._layout.formula(self._layout.blocks[node], cell.row, cell.column)
        if not ends:
            words = self._said(cell, _Names(self._names, node, self._most))
            numbers = self._said(cell, _Numbers(self._decimals, self._most))
        return Explanation(
            name=self._names.name(cell),
            address=self._names.address(cell),
            formula=formula,
            value=value,
            words=words,
            numbers=numbers,
            note=node.note,
            step=self._names.step(node),
            sources=sources,
            ends=ends,
        )


def explain(
    computation: Computation | Graph | Matrix,
    cell: str,
    *,
    sheet: str | None = None,
    depth: int | None = 1,
    decimals: int | None = None,
    most: int | None = None,
) -> Explanation:
    """How one number came about, with the numbers put in.

    Args:
        computation: what `attend` made, or a graph, or the matrix that a model returned.
        cell: the number's name, `Softmax[mouse, cat]`, `pets.Softmax[1, 3]`, `Softmax[the#2, "a, b"]`,
            `d_k`; or its cell in the workbook that `convert` writes, `pets.Softmax!D5`.
        sheet: the sentence, where `cell` does not name it.
        depth: how many levels of calculations; None for all, down to the inputs.
        decimals: at most so many digits after the point; full precision if None.
        most: sums of more terms are shortened in the middle; None for none.

    Returns:
        The number's explanation; its `sources` are those of the numbers it was made from. Each number
        is explained once, and no more once 2,000 are known.

    Raises:
        CallError: for a cell that there is not, a name that means several, or a depth below 1.

    Example:
        >>> import attn_xl
        >>> computation = attn_xl.attend("samples/mouse.xlsx")
        >>> why = attn_xl.explain(computation, "pets.Softmax[mouse, cat]", decimals=3)
        >>> why.words
        'Softmax.Exponentials[mouse, cat] / Softmax.Sum[mouse]'
        >>> why.numbers
        '0.278 / 1.339'
    """
    if depth is not None and depth < 1:
        raise CallError(f"a depth of {depth} explains nothing; it takes a whole number from 1.")
    computation = as_computation(computation)
    if not isinstance(cell, str):
        raise wrong_type("cell", cell, "the name of one number: 'Softmax[mouse, cat]'")
    settings = replace(computation.settings or Settings(), sheets_for=None)
    layout = arranged(computation, settings)
    names = CellNames(computation, layout, sheet)
    return _Explaining(layout, names, depth, decimals, most).of(names.find(cell))


def worked_with(
    cell: Cell,
    names: CellNames,
    numbers: Mapping[Node, Numbers],
    *,
    decimals: int | None = None,
    most: int | None = None,
) -> str:
    """The calculation of a cell with other numbers than its own put in: `2·2.6 + 1.9·0.1`.

    Args:
        numbers: those of each matrix, of its shape; its own where there are none.
        decimals, most: as for `explain`.
    """
    voice = _Numbers(decimals, most, numbers)
    return _Term(cell.node, voice, names, cell.node).worked(cell.row, cell.column).text
