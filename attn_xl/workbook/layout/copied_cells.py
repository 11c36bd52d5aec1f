"""The cells of a sheet that is like another: the same cells with other names and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import overload

from attn_xl.graph.node import Node
from attn_xl.records import changed

from .page import Cell

_NAME_IN_TEXT = re.compile(r"([\w.]+(?:\^\d+)?)")
_NAME_IN_FORMULA = re.compile(r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'!|[\w.$\x00]+(?:[!(]|\^\d+)?")
"""A text literal, a quoted sheet name, or a word, with the sign that makes it a sheet or a function and
with its power: `Beta1^2`."""


@dataclass(frozen=True, eq=False, repr=False)
class Names:
    """What the names on one sheet are on a sheet like it.

    Attributes:
        texts: whole texts, such as a title; words: names of matrices within texts.
        sheets: names of sheets; references: the same as formulas write them, and defined names.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    sheets: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """A caption with the names of the other sheet."""
        if text in self.texts:
            return self.texts[text]
        pieces = _pieces(text)
        return "".join(map(self.words.get, pieces, pieces))

    def formula(self, formula: str) -> str:
        """A formula, or a pattern of formulas, with the references of the other sheet."""
        return in_formula(formula, lambda name: self.references.get(name, name))


@lru_cache(1 << 14)  # the captions of a picture serve all pictures like it
def _pieces(text: str) -> list[str]:
    """The words of a text that may be names, and what stands between them."""
    return _NAME_IN_TEXT.split(text)


def in_formula(formula: str, change: Callable[[str], str]) -> str:
    """A formula with its sheet names, such as `Step1!`, and its other words changed."""
    return _NAME_IN_FORMULA.sub(lambda name: change(name[0]), formula)


@dataclass(frozen=True, eq=False, repr=False)
class CopiedCells(Sequence[Cell]):
    """The cells of `original` with other names and numbers, made when they are first read.

    Attributes:
        like: the name of the other sheet.
        names: what the names in them become.
        nodes: the matrices of this sheet, by those of the other.
        shown: the matrices whose numbers are repeated, by their defined names on this sheet.
    """

    original: tuple[Cell, ...]
    like: str
    names: Names
    nodes: Mapping[Node, Node]
    shown: Mapping[str, Node]

    def copy_of(self, cell: Cell) -> Cell:
        """The cell of this sheet for one of the other sheet."""
        if cell.like:
            name, names = self.names.references.get(cell.like, cell.like), self.names
            row, column = cell.shows
            node = self.shown[name]
            value = node.texts[row] if node.texts else float(node.values[row, column])
            return changed(cell, value=value, formula=names.formula(cell.formula), like=name)
        if isinstance(cell.value, str):
            link = self.names.sheets.get(cell.link, cell.link)
            text = self.names.text(cell.value)
            if text != cell.value or link != cell.link:
                return changed(cell, value=text, link=link)
        return cell

    @cached_property
    def _cells(self) -> tuple[Cell, ...]:
        return tuple(map(self.copy_of, self.original))

    @overload
    def __getitem__(self, index: int) -> Cell: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Cell]: ...
    def __getitem__(self, index: int | slice) -> Cell | Sequence[Cell]:
        return self._cells[index]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self.original)
