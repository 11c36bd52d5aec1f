"""Assign each mask of a file to an attention: by its name, then by its words, then by its shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from attn_xl.errors import InputError
from attn_xl.graph.step import WHOLE, Part
from attn_xl.tables.survey import Table, Tables

from .steps import MASK


class Attended(NamedTuple):
    """One attention of a run, the same in all layers of its stack.

    Attributes:
        part: its place in every layer: `Enc.`, `Dec.Self.`; the whole model without layers.
        layers: the number of layers; 0 without layers.
        rows: the words that look.
        columns: the words that are looked at.
    """

    part: Part
    layers: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def names(self) -> dict[str, Part]:
        """The names of masks that apply to it, and the part of the model that each name means."""
        parts = [self.part, *(self.part.in_layer(layer) for layer in range(1, self.layers + 1))]
        return {name: there for part in parts for name, there in _names(part)}


def _names(part: Part) -> Iterator[tuple[str, Part]]:
    """The possible names of a mask for a part of the model, the most specific first."""
    kind = part.scopes[1:]
    for there in (part, part.every_layer, *([Part(kind)] if kind else []), WHOLE):
        yield there.name(MASK.symbol), there


class OwnMasks:
    """The masks of a file, each with the attentions that it applies to.

    `Enc1.Mask` applies to one layer, `Enc.Mask` to a whole stack, `Self.Mask` and `Cross.Mask` to one
    kind of attention in a decoder, `Mask` to whatever it fits. The most specific mask wins.

    Args:
        attended: every attention of the run.

    Raises:
        InputError: if a mask fits no attention, or fits several kinds and does not name one.
    """

    def __init__(self, tables: Tables, attended: Sequence[Attended]) -> None:
        self._attentions: dict[str, list[Attended]] = {}
        self._tables: Mapping[str, Table] = tables.weights
        for name in self.given(tables):
            self._attentions[name] = _attentions_for(name, tables.weights[name], attended)

    @staticmethod
    def given(tables: Tables) -> list[str]:
        """The names of the masks in a file."""
        return [name for name in tables.weights if name.rpartition(".")[2] == MASK.symbol]

    def __bool__(self) -> bool:
        return bool(self._attentions)

    def of(self, part: Part, rows: Sequence[str], columns: Sequence[str]) -> tuple[Part, Table] | None:
        """The mask for a part of the model and its words, with the part that it applies to, or
        None."""
        words = (part.every_layer, tuple(rows), tuple(columns))
        for name, there in _names(replace(part, head=0)):
            if any(
                (one.part, one.rows, one.columns) == words for one in self._attentions.get(name, ())
            ):
                return there, self._tables[name]
        return None


def _attentions_for(name: str, table: Table, attended: Sequence[Attended]) -> list[Attended]:
    """The attentions that a mask applies to."""
    where = f"{table.file}, sheet {table.sheet!r}"
    named = [one for one in attended if name in one.names]
    if not named:
        known = dict.fromkeys(one.part.name(MASK.symbol) for one in attended)
        raise InputError(
            f"{where}: {name} names no attention of this model. Name the mask {' or '.join(known)}"
            f"{', or by its layer' if attended[0].layers else ''}."
        )
    if all(table.labelled):
        same_words = [one for one in named if (one.rows, one.columns) == (table.rows, table.columns)]
        if same_words:
            return _of_one_kind(name, same_words, where)
    fitting = [one for one in named if one.shape == table.shape]
    kinds = {one.part for one in (_of_one_kind(name, fitting, where) if fitting else named)}
    wrong = [one for one in named if one.part in kinds and one.shape != table.shape]
    if wrong:
        shapes = [f"{one.shape[0]} x {one.shape[1]}{_of(one)}" for one in wrong]
        raise InputError(
            f"{where}: the mask is {table.shape[0]} x {table.shape[1]}, but the scores are "
            f"{' or '.join(dict.fromkeys(shapes))}. Give it a row for each word that looks and a "
            "column for each word that is looked at. With words as labels, it applies to their "
            "sentence only."
        )
    return fitting


def _of_one_kind(name: str, attended: list[Attended], where: str) -> list[Attended]:
    kinds = list(dict.fromkeys(one.part for one in attended))
    if len(kinds) > 1:
        names = [kind.name(MASK.symbol) for kind in kinds]
        raise InputError(
            f"{where}: {name} fits several attentions of this model. Name the one that it applies to: "
            f"{', '.join(names[:-1])} or {names[-1]}."
        )
    return attended


def _of(one: Attended) -> str:
    return f" in {one.part.prefix[:-1]}" if one.part.prefix else ""
