"""Matrices that remember how they were made, and the graph they leave. Knows no operation.

A `Node` is what every renderer sees: numbers, labels, a name, and the operation and parents it came
from. `attn_xl.graph.matrix.Matrix` adds the arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from attn_xl.errors import CallError, NotFinite, ShapeError, nearest, wrong_type
from attn_xl.html import html_table
from attn_xl.labelled import Labelled, first_and_last
from attn_xl.text import clean

from .step import WHOLE, Part, Role, Step

if TYPE_CHECKING:
    from .matrix import Matrix

Numbers = NDArray[np.float64]
N = TypeVar("N", bound="Node")

HIDES = -1e8
"""Scores below this are hidden by a mask."""
LONGEST_OPERAND = 60
"""Letters of a step without a name of its own that are put into the words of the next."""
_made = itertools.count()


class MadeBy:
    """What a node asks of the operation that made it."""

    def words(self, *operands: str) -> str:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Node(Labelled):
    """A matrix, its labels, and how it was made; never changed after it is made.

    Attributes:
        values: shape (rows, columns), float64, read-only.
        rows, columns: a label for each row and column.
        operation: what made it, or None if it was given.
        parents: the operands, in order.
        name: the symbol (`Scores`), or "" for a step inside a larger formula.
        note: one plain sentence on what it shows.
        role: what it is to the reader: an input to edit, a learned weight, a computed value, or
            attention weights.
        sheet: the sheet it is shown on, where that is not its own.
        helper: it is shown beside the step it was made for (a row's maximum beside the softmax).
        scalar: one number that belongs to no word and goes by its name in formulas: `d_k`.
        texts: what its single column shows in place of numbers: words.
        description: the step in words, where the operation's own would say less.
        noun: what it is called where it needs cells and was given no name, if the operation's own
            noun would say less: `Softmax`, not `Quotient`.
        unnamed: its name was made up, since it needs cells.
        step: what step of a model it is; None for a matrix that belongs to none.
        part: where in the model it stands: its layer, its head.
    """

    values: Numbers
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    operation: MadeBy | None = None
    parents: tuple[Node, ...] = ()
    name: str = ""
    note: str = ""
    role: Role = "value"
    sheet: str = ""
    helper: bool = False
    scalar: bool = False
    texts: tuple[str, ...] | None = None
    description: str = ""
    noun: str = ""
    unnamed: bool = False
    step: Step | None = None
    part: Part = WHOLE
    order: int = field(default_factory=lambda: next(_made))

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.flags.writeable:
            # Adding 0.0 copies, and turns -0.0, which spreadsheets do not have, into 0.0.
            values = values + 0.0
        if values.ndim != 2 or values.shape != (len(self.rows), len(self.columns)):
            raise ShapeError(
                f"{self.name or 'a matrix'} has values of shape {values.shape} but "
                f"{len(self.rows)} row and {len(self.columns)} column labels"
            )
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        if self.operation is None:
            object.__setattr__(self, "rows", tuple(map(clean, self.rows)))
            object.__setattr__(self, "columns", tuple(map(clean, self.columns)))
        seen = values if any(values.strides) else values[:1, :1]  # one number everywhere
        if not np.isfinite(seen).all():
            row, column = np.argwhere(~np.isfinite(seen))[0]
            why = (
                "no number comes of 0 / 0, of the root of a negative number, or of numbers too large"
                if np.isnan(values[row, column])
                else "the numbers are too large to compute with, or divided by 0"
            )
            raise NotFinite(
                f"{self.words or self.name or 'a step'} gives {values[row, column]} at "
                f"[{self.rows[row]}, {self.columns[column]}]: {why}. Change the embeddings or "
                "weights, or make them smaller."
            )

    def _title(self) -> str:
        name = self.name or "matrix"
        return f"{name} = {self.words}" if self.words else name

    def _cells(self) -> NDArray[Any]:
        return super()._cells() if self.texts is None else np.array([[text] for text in self.texts])

    def is_step(self, *steps: Step) -> bool:
        """Whether it is one of these steps, in whatever layer and head, and however it was computed."""
        return self.step is not None and self.step.symbol in {step.symbol for step in steps}

    @property
    def base_name(self) -> str:
        """Its name without layer and head: `Scores` of `Enc1.Scores_2`, `Norm_1` of `Enc1.Norm_1`."""
        return (
            self.step.symbol + (f"_{self.part.number}" if self.part.number else "")
            if self.step
            else self.name
        )

    @property
    def largest(self) -> float:
        """The largest of its numbers, without their signs."""
        return float(max(self.values.max(), -self.values.min()))

    @property
    def hides(self) -> bool:
        """Whether some of its numbers are such as a mask puts where a word may not look."""
        return bool((self.values <= HIDES).any())

    @property
    def may_hide(self) -> bool:
        """Whether it is a mask, or has one added, so that such numbers hide something: now, or once a
        switch is turned."""
        return self.step is not None and self.step.hides

    def needs_exponent(self, decimals: int, seen: Numbers | None = None) -> bool:
        """Whether, with so many digits after the point, it would show as nothing but zeros, or as
        rows of digits that no column holds; not counting what a mask hides. With `seen`, going by
        those numbers only, without NaN."""
        values = self.values if seen is None else seen
        counted = values[values > HIDES] if self.may_hide else values[~np.isnan(values)]
        largest = float(np.abs(counted).max(initial=0.0))
        return largest >= 1e7 or 0 < largest < 10.0 ** (1 - decimals) / 2

    def is_whole(self, seen: Numbers | None = None) -> bool:
        """Whether all of its numbers, or all of `seen`, are whole."""
        values = self.values if seen is None else seen
        return not self.texts and all(np.array_equal(row, np.rint(row)) for row in values)

    @property
    def words(self) -> str:
        """How it was made, in the symbols of a textbook: `Q × Kᵀ`."""
        if self.description or self.operation is None:
            return self.description
        return self.operation.words(*(parent.as_operand for parent in self.parents))

    @cached_property
    def as_operand(self) -> str:
        """What the words of a step that reads it call it: its name, or how it was made."""
        if self.name and not (self.unnamed and 0 < len(self.words) <= LONGEST_OPERAND):
            return self.name
        return self.words

    def named(
        self: N,
        name: str,
        note: str = "",
        *,
        role: Role | None = None,
        sheet: str = "",
        helper: bool = False,
    ) -> N:
        """The same matrix under a name, which gives it cells of its own in a workbook."""
        return replace(
            self,
            name=name,
            note=note,
            role=role or self.role,
            sheet=sheet,
            helper=helper,
            unnamed=False,
            order=next(_made),
        )

    def as_step(self: N, step: Step, part: Part = WHOLE, *, note: str = "", sheet: str = "") -> N:
        """The same matrix as a step of a model, named by its symbol and where it stands.

        Args:
            step: what it is.
            part: the layer and head that it belongs to.
            note: what it shows, where that differs from the step's own note.
            sheet: the sheet it is shown on, where that is not its own.
        """
        name = part.name(step.symbol)
        made = self.named(name, note or step.note, role=step.role, sheet=sheet, helper=step.helper)
        return replace(made, step=step, part=part)

    def described(self: N, words: str, noun: str = "") -> N:
        """The same matrix with the step that made it put in other words."""
        return replace(self, description=words, noun=noun)

    def _repr_html_(self) -> str:
        return self.html(self.name)

    def html(self, name: str) -> str:
        """The matrix as an HTML table, for notebooks."""
        title = f"{name} = {self.words}" if self.words else name
        shaded = self.role == "attention"
        return html_table(title, self.rows, self.columns, self.values, shaded=shaded)


class Graph(Mapping[str, "Matrix"]):
    """The named matrices that lead to some results, by name, in the order they were made.

    `graph["Softmax"].values` is an array; helpers go by their step: `graph["Softmax.Sum"]`.
    """

    def __init__(self, *results: Node) -> None:
        self._nodes: dict[str, Node] = {}
        self._owners: dict[Node, Node] = {}
        self._full_names: dict[Node, str] = {}
        for result in results:
            if not isinstance(result, Node):
                raise wrong_type("a result", result, "the matrix that a model returned")
        nodes = [node for node in walk(results) if node.name]
        for node in nodes:
            if not node.helper:
                self._adopt(node)
        for node in nodes:
            name = self.full_name(node)
            if name in self._nodes and node.helper:  # of several softmaxes beside one step
                name = next(f"{name}_{n}" for n in itertools.count(2) if f"{name}_{n}" not in self)
            if name in self._nodes:
                raise ValueError(f"two matrices are named {name}")
            self._nodes[name] = node
            self._full_names[node] = name

    def _adopt(self, owner: Node) -> None:
        """Give `owner` the helpers that lead to it and belong to no earlier step."""
        waiting, seen = list(owner.parents), set[Node]()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.helper and node not in self._owners:
                self._owners[node] = owner
            if node.helper or not node.name:
                waiting.extend(node.parents)

    def owner(self, node: Node) -> Node:
        """The step beside which `node` is shown: itself, unless it is a helper."""
        return self._owners.get(node, node)

    def full_name(self, node: Node) -> str:
        """`Softmax.Sum` for a helper, `Softmax.Sum_2` for a second one of that name; a scalar and every
        other matrix go by their own name."""
        if node in self._full_names:
            return self._full_names[node]
        if node.helper and not node.scalar:
            return f"{self.owner(node).name}.{node.name}"
        return node.name

    def __getitem__(self, name: str) -> Matrix:
        try:
            return cast("Matrix", self._nodes[name])
        except KeyError:
            raise UnknownStepError(f"there is no step {name!r}. {nearest(name, self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    def __repr__(self) -> str:
        return "\n".join([f"Graph of {len(self)} matrices", *first_and_last(self.lines())])

    def lines(self) -> list[str]:
        """A line for each matrix: its name, its shape, how it was made."""
        width = max((len(name) for name in self), default=0)
        shapes = [f"{n} x {m}" for n, m in (node.shape for node in self.values())]
        wide = max(map(len, shapes), default=0)
        return [
            f"  {name:{width}}  {shape:{wide}}  {node.words}".rstrip()
            for (name, node), shape in zip(self.items(), shapes)
        ]

    def _repr_html_(self) -> str:
        return "".join(node.html(name) for name, node in self.items())


class UnknownStepError(CallError, KeyError):
    """A step that the model does not have."""

    __str__ = Exception.__str__


def referred_to(node: Node) -> Iterator[Node]:
    """The named matrices in a node's formula, in their order."""
    for parent in node.parents:
        if parent.name:
            yield parent
        else:
            yield from referred_to(parent)


def walk(results: Iterable[Node]) -> list[Node]:
    """Every node that leads to `results`, once, in the order they were made."""
    seen: set[Node] = set()
    waiting = list(results)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(node.parents)
    return sorted(seen, key=lambda node: node.order)
