"""Matrices that record how they were computed, and the graph that they form.

Every renderer reads a `Node`: numbers, labels, a name, and the operation and parents that produced
it. `attn_xl.graph.matrix.Matrix` adds the arithmetic.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from attn_xl.errors import CallError, NotFinite, ShapeError, nearest, wrong_type
from attn_xl.labelled import Labelled, first_and_last
from attn_xl.text import clean

from .extent import HIDES, Extent, extent_of
from .step import WHOLE, Part, Role, Scope, Step

if TYPE_CHECKING:
    from .matrix import Matrix

Numbers = NDArray[np.float64]
N = TypeVar("N", bound="Node")

LONGEST_OPERAND = 60
"""Characters of an unnamed step's words, at most, to include in the words of the next step."""
_made = itertools.count()
_scopes: ContextVar[tuple[Scope, ...]] = ContextVar("scopes of new steps", default=())


@contextmanager
def inside(*scopes: Scope) -> Iterator[None]:
    """In the block, steps are made inside these scopes: `pets.Scores`."""
    before = _scopes.set(scopes)
    try:
        yield
    finally:
        _scopes.reset(before)


def created() -> int:
    """The next number in the order of creation."""
    return next(_made)


class MadeBy:
    """The interface of a node to the operation that produced it."""

    def words(self, *operands: str) -> str:
        raise NotImplementedError


@dataclass(frozen=True, eq=False, repr=False)
class Node(Labelled):
    """A matrix, its labels, and how it was computed; immutable.

    Attributes:
        values: shape (rows, columns), float64, read-only.
        rows, columns: a label for each row and column.
        operation: the operation that produced it, or None if it was given.
        parents: the operands, in order.
        name: the symbol (`Scores`), or "" for a step inside a larger formula.
        note: a plain sentence on what it shows.
        role: what it is to the reader: an input to edit, a learned weight, a computed value, or
            attention weights.
        sheet: the sheet it is shown on, if not its own.
        helper: whether it is shown beside the step that uses it (a row's maximum beside the softmax).
        scalar: whether it is one number, belongs to no word and appears in formulas by name: `d_k`.
        texts: words that its single column shows instead of numbers.
        description: the step in words, if more precise than the operation's own.
        noun: its name if it needs cells but has no name, if more precise than the operation's own
            noun: `Softmax`, not `Quotient`.
        unnamed: whether its name was generated because it needs cells.
        step: its step of a model; None for a matrix outside models.
        part: its place in the model: layer and head.
        rules: its own rules for gradients, by the matrix that they are for: see
            `Matrix.differentiated`.
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
    rules: Mapping[Node, Callable[[Any, Any], Any]] | None = None
    order: int = field(default_factory=created)

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
            object.__setattr__(self, "rows", _clean(tuple(self.rows)))
            object.__setattr__(self, "columns", _clean(tuple(self.columns)))
        self._check_finite()

    def _check_finite(self) -> None:
        values = self.values
        seen = values if any(values.strides) else values[:1, :1]  # one number everywhere
        if not np.isfinite(seen).all():
            row, column = np.argwhere(~np.isfinite(seen))[0]
            why = (
                "0 / 0, the root of a negative number and numbers that are too large give no result"
                if np.isnan(values[row, column])
                else "the numbers are too large to compute with, or were divided by 0"
            )
            raise NotFinite(
                f"{self.words or self.name or 'a step'} gives {values[row, column]} at "
                f"[{self.rows[row]}, {self.columns[column]}]: {why}. Change the embeddings or "
                "weights, or make them smaller."
            )

    def fill(self, values: Numbers) -> None:
        """Set the numbers of a matrix that was made without them, in a loop.

        Raises:
            NotFinite: if one is infinite or NaN.
        """
        values = values + 0.0
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        self._check_finite()

    def _title(self) -> str:
        name = self.name or "matrix"
        return f"{name} = {self.words}" if self.words else name

    def _cells(self) -> NDArray[Any]:
        return super()._cells() if self.texts is None else np.array([[text] for text in self.texts])

    def is_step(self, *steps: Step) -> bool:
        """Whether it is one of these steps, in any layer and head and with any recipe."""
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
        """The largest absolute value of its numbers."""
        return float(max(self.values.max(), -self.values.min()))

    @property
    def hides(self) -> bool:
        """Whether any of its numbers is low enough to hide a word."""
        return bool((self.values <= HIDES).any())

    @property
    def may_hide(self) -> bool:
        """Whether it is a mask or has one added, so that low numbers hide words, now or after a switch
        changes."""
        return self.step is not None and self.step.hides

    def extent(self, seen: Numbers | None = None) -> Extent:
        """How far its numbers reach, or those of `seen` in their place."""
        if seen is None or seen is self.values:
            return self._extent
        return self._extent_of(seen)

    @cached_property
    def _extent(self) -> Extent:
        return self._extent_of(self.values)

    def _extent_of(self, values: Numbers) -> Extent:
        return extent_of(values, hides=self.may_hide, shares=self.role == "attention")

    @cached_property
    def words(self) -> str:
        """How it was computed, in the symbols of a textbook: `Q × Kᵀ`."""
        if self.description or self.operation is None:
            return self.description
        return self.operation.words(*[parent.as_operand for parent in self.parents])

    @cached_property
    def as_operand(self) -> str:
        """The text for it in the words of a step that reads it: its name, or its own words."""
        named = self.name and not (self.unnamed and 0 < len(self.words) <= LONGEST_OPERAND)
        return self.name if named else self.words

    def named(
        self: N,
        name: str,
        note: str = "",
        *,
        role: Role | None = None,
        sheet: str = "",
        helper: bool = False,
    ) -> N:
        """The same matrix under a name, which gives it its own cells in a workbook."""
        return replace(
            self,
            name=name,
            note=note,
            role=role or self.role,
            sheet=sheet,
            helper=helper,
            unnamed=False,
            order=created(),
        )

    def as_step(self: N, step: Step, part: Part = WHOLE, *, note: str = "", sheet: str = "") -> N:
        """The same matrix as a step of a model, named after the step's symbol and its part.

        Args:
            step: the step.
            part: its layer and head.
            note: what it shows, if that differs from the step's own note.
            sheet: the sheet it is shown on, if that is not its own.
        """
        name = part.name(step.symbol)
        for scope in reversed(_scopes.get()):
            part = part.around(scope)
        if self.scalar or not step.helper:  # another helper is named after the step beside it
            name = part.name(step.symbol)
        matrix = self.named(name, note or step.note, role=step.role, sheet=sheet, helper=step.helper)
        return replace(matrix, step=step, part=part)

    def described(self: N, words: str, noun: str = "") -> N:
        """The same matrix with a different description of how it was computed."""
        return replace(self, description=words, noun=noun)


@lru_cache(256)  # the weights of all layers have the same labels
def _clean(labels: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(map(clean, labels))


class Graph(Mapping[str, "Matrix"]):
    """The named matrices that lead to some results, by name, in the order of their creation.

    `graph["Softmax"].values` is an array; the name of a helper includes its step:
    `graph["Softmax.Sum"]`.
    """

    def __init__(self, *results: Node) -> None:
        self._nodes: dict[str, Node] = {}
        self._owners: dict[Node, Node] = {}
        self._full_names: dict[Node, str] = {}
        for result in results:
            if not isinstance(result, Node):
                raise wrong_type("a result", result, "a matrix that a model returned")
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
        """`Softmax.Sum` for a helper, `Softmax.Sum_2` for a second one of that name; for a scalar and
        every other matrix, its own name."""
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
        """A line for each matrix: its name, its shape, how it was computed."""
        width = max((len(name) for name in self), default=0)
        shapes = [f"{n} x {m}" for n, m in (node.shape for node in self.values())]
        wide = max(map(len, shapes), default=0)
        return [
            f"  {name:{width}}  {shape:{wide}}  {node.words}".rstrip()
            for (name, node), shape in zip(self.items(), shapes)
        ]


class UnknownStepError(CallError, KeyError):
    """A step that does not exist in the model."""

    __str__ = Exception.__str__


def referred_to(node: Node) -> Iterator[Node]:
    """The named matrices in a node's formula, in order."""
    for parent in node.parents:
        if parent.name:
            yield parent
        else:
            yield from referred_to(parent)


def walk(
    results: Iterable[Node], operands: Callable[[Node], Iterable[Node]] = lambda node: node.parents
) -> list[Node]:
    """Every node that leads to `results`, once, in the order of creation."""
    seen: set[Node] = set()
    waiting = list(results)
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting.extend(operands(node))
    return sorted(seen, key=lambda node: node.order)
