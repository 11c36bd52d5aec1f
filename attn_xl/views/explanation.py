"""Explains how one number was computed, with the values substituted, down to the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal
from weakref import finalize

from attn_xl.errors import CallError, wrong_type
from attn_xl.graph.graph import Graph
from attn_xl.graph.matrix import Matrix, Numbers, cells_of, operation_of
from attn_xl.graph.terms import ATOM, Said, Term
from attn_xl.models.computation import Computation, as_computation
from attn_xl.settings import Settings
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.write import arrange

from .cell_names import CellNames, Element

Ends = Literal["", "given", "above", "depth", "limit"]
MOST_CELLS = 2000
"""Known cells at which an explanation stops adding more."""
_HEAD, _TAIL = 4, 2
_LAST: dict[int, tuple[Layout, dict[str | None, CellNames]]] = {}
"""The layout of the last computation, by its id: making one takes longer than explaining a cell."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """How one number was computed.

    Attributes:
        name: `pets.Softmax[mouse, cat]`.
        address: its cell in the workbook that `convert` writes, `pets.Softmax!D5`.
        formula: the formula in that cell, `=L5/$P5`; "" for a given number.
        value: the number, or the text of a cell that holds text.
        words: the calculation with names, `Softmax.Exponentials[mouse, cat] / Softmax.Sum[mouse]`.
        numbers: the calculation with values substituted, `0.277 / 1.339`.
        note: the note of the step.
        step: the step it belongs to, `pets.Softmax`.
        sources: the named numbers it was computed from, in order.
        others: the names of other numbers that the name asked for may mean, as in other sentences.
        ends: why its calculation and `sources` are missing: it is `given`, it was explained `above`,
            or the `depth` or the `limit` of cells is reached. "" if they are not missing.
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
    others: tuple[str, ...] = ()

    def __repr__(self) -> str:
        calculation = "".join(f" = {text}" for text in (self.words, self.numbers) if text)
        return f"<{self.name}{calculation} = {self.value}>"

    def all(self) -> Iterator[tuple[int, Explanation]]:
        """This explanation and those of its sources, depth first, each with its level from 0."""
        waiting = [(0, self)]
        while waiting:
            level, one = waiting.pop()
            yield level, one
            waiting.extend((level + 1, source) for source in reversed(one.sources))


def figure(value: float, decimals: int | None = None) -> str:
    """A number as text: at most `decimals` digits after the point, or full precision if None; an
    exponent where it would show as 0 or be very long."""
    if decimals is None:
        text = repr(float(value))
    elif value and not 0.5 * 10.0**-decimals <= abs(value) < 1e7:
        text = f"{value:.{decimals}e}"
    else:
        text = f"{value:.{decimals}f}"
    digits, e, power = text.partition("e")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return digits + (f"e{int(power)}" if e else "")


class _Voice:
    """How a calculation writes a named cell, and a number without a name. This one writes nothing and
    records the cells that the calculation reads."""

    most: int | None = None

    def __init__(self) -> None:
        self.cells: dict[Element, None] = {}

    def cell(self, cell: Element) -> Said:
        self.cells[cell] = None
        return Said("")

    def number(self, value: float, word: str) -> Said:
        return Said("")

    def value(self, node: Matrix, row: int, column: int) -> float:
        return float(node.values[row, column])


class _Names(_Voice):
    def __init__(self, names: CellNames, home: Matrix, most: int | None) -> None:
        self._names, self._home, self.most = names, home, most

    def cell(self, cell: Element) -> Said:
        return Said(self._names.name(cell, self._home))

    def number(self, value: float, word: str) -> Said:
        return Said(word)


class _Numbers(_Voice):
    def __init__(
        self,
        decimals: int | None,
        most: int | None,
        others: Mapping[Matrix, Numbers] | None = None,
    ) -> None:
        self._decimals, self.most = decimals, most
        self._others = others or {}

    def cell(self, cell: Element) -> Said:
        return self.number(self.value(*cell), "")

    def value(self, node: Matrix, row: int, column: int) -> float:
        return float(self._others.get(node, node.values)[row, column])

    def number(self, value: float, word: str) -> Said:
        text = figure(value, self._decimals)
        return Said(text, 0 if value < 0 else ATOM - ("e" in text))


class _Term(Term):
    """A matrix in the calculation of a cell of `home`: the voice writes its cells; if it has no name,
    their calculation replaces them."""

    def __init__(self, node: Matrix, voice: _Voice, names: CellNames, home: Matrix) -> None:
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
            return self._voice.cell(Element(self._node, row, column))
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
    """Builds an explanation in which each cell is explained once."""

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
        self._explained: set[Element] = set()
        self._named: dict[tuple[Element, Ends], Explanation] = {}
        self._known: set[Element] = set()

    def of(self, root: Element) -> Explanation:
        """The explanation of a cell and, depth first, of its sources."""
        if root.node.operation is None:
            return self._record(root, (), "given")
        # A loop instead of recursion: a model may have more steps than Python allows frames.
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

    def _ends(self, cell: Element, level: int) -> Ends:
        if cell.node.operation is None:
            return "given"
        if cell in self._explained:
            return "above"
        if self._depth is not None and level >= self._depth:
            return "depth"
        return "limit" if len(self._known) >= MOST_CELLS else ""

    def _sources(self, cell: Element) -> Iterator[Element]:
        self._explained.add(cell)
        seen = _Voice()
        self._calculation(cell, seen)
        self._known.update(seen.cells)
        return iter(seen.cells)

    def _calculation(self, cell: Element, voice: _Voice) -> str:
        return _Term(cell.node, voice, self._names, cell.node).worked(cell.row, cell.column).text

    def _record(self, cell: Element, sources: tuple[Explanation, ...], ends: Ends) -> Explanation:
        node = cell.node
        value = node.texts[cell.row] if node.texts else float(node.values[cell.row, cell.column])
        words = numbers = formula = ""
        if node.operation is not None and self._layout.original(node) is node:
            formula = "=" + self._layout.formula(self._layout.blocks[node], cell.row, cell.column)
        if not ends:
            words = self._calculation(cell, _Names(self._names, node, self._most))
            numbers = self._calculation(cell, _Numbers(self._decimals, self._most))
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
    """How one number was computed, with the values substituted.

    Args:
        computation: the result of `attend`, a graph, or the matrix that a model returned.
        cell: the number's name, `Softmax[mouse, cat]`, `pets.Softmax[1, 3]`, `Softmax[the#2, "a, b"]`,
            `d_k`; or its cell in the workbook that `convert` writes, `pets.Softmax!D5`.
        sheet: the sentence, where `cell` does not name it.
        depth: how many levels of calculations; None for all, down to the inputs.
        decimals: digits after the point, at most; full precision if None.
        most: terms of a sum above which its middle is left out; None to keep all.

    Returns:
        The number's explanation, whose `sources` explain the numbers it was computed from. Each number
        is explained once, and the explanation stops at 2,000 numbers. Where several sentences, layers
        or heads have a number of that name, the first is explained, and `others` names the rest.

    Raises:
        CallError: for an unknown cell, a label that is there twice, or a depth below 1.

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
        raise CallError(f"depth is {depth}; it takes a whole number of at least 1, or None for all.")
    computation = as_computation(computation)
    if not isinstance(cell, str):
        raise wrong_type("cell", cell, "the name of one number: 'Softmax[mouse, cat]'")
    layout, names = named(computation, sheet)
    found, *others = names.find(cell)
    explanation = _Explaining(layout, names, depth, decimals, most).of(found)
    return replace(explanation, others=tuple(map(names.name, others)))


def named(computation: Computation, sheet: str | None) -> tuple[Layout, CellNames]:
    """The layout of the workbook that `convert` writes, and the names of its cells; those of the last
    computation are kept."""
    key = id(computation)
    if key not in _LAST:
        settings = replace(computation.settings or Settings(), sheets_for=None)
        _LAST.clear()
        _LAST[key] = arrange(computation, settings), {}
        finalize(computation, _LAST.pop, key, None)
    layout, names = _LAST[key]
    if sheet not in names:
        names[sheet] = CellNames(computation, layout, sheet)
    return layout, names[sheet]


def worked_with(
    cell: Element,
    names: CellNames,
    numbers: Mapping[Matrix, Numbers],
    *,
    decimals: int | None = None,
    most: int | None = None,
) -> str:
    """The calculation of a cell with other values substituted: `2·2.6 + 1.9·0.1`.

    Args:
        numbers: the values by matrix, each of its shape; other matrices keep their own.
        decimals, most: as for `explain`.
    """
    voice = _Numbers(decimals, most, numbers)
    return _Term(cell.node, voice, names, cell.node).worked(cell.row, cell.column).text


def explained_row(
    computation: Computation, row: str, sheet: str | None, *, decimals: int
) -> list[str] | None:
    """The lines that explain a row of a matrix product, `Output[mouse]`: its numbers, and the rows that
    they are the sum of; None if the text names no row of a product.

    Source: Vaswani et al., "Attention Is All You Need" (2017), equation 1: the output is a weighted sum
    of the values.
    """
    layout, names = named(computation, sheet)
    text = row.strip()
    try:
        found = names.find(f"{text.removesuffix(']')}, 1]")[0] if text.endswith("]") else None
    except CallError:
        return None
    if found is None or found.node.operation is None or not operation_of(found.node).is_product:
        return None
    node, left = found.node, found.node.parents[0]
    there = cells_of(node.parents[1])
    if there is None or there.turned:
        return None
    right, block = there.node, layout.blocks[node]
    weights = left.values[min(found.row, left.shape[0] - 1)]
    numbers = node.values[found.row]
    label = node.rows[found.row]
    terms = (f"{figure(w, decimals)}·{right.name}[{name}]" for w, name in zip(weights, right.rows))
    shown = (f"{name} {figure(value, decimals)}" for name, value in zip(node.columns, numbers))
    return [f"{block.name}[{label}]: {', '.join(shown)}", f"  {node.note}", f"  = {' + '.join(terms)}"]
