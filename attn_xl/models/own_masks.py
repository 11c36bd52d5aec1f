"""Which attention each mask of a file is for: by its name, then by its words, then by its shape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from attn_xl.errors import InputError
from attn_xl.tables.survey import Table, Tables

MASK = "Mask"
_NUMBER = re.compile(r"\d+(?=\.)")


class Attended(NamedTuple):
    """One attention of a run, in all layers of its stack alike.

    Attributes:
        stack: `Enc.`, `Dec.Self.`; "" where there are no layers.
        layers: how many; 0 where there are none.
        rows, columns: the words that look, and those that are looked at.
    """

    stack: str
    layers: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def names(self) -> set[str]:
        """The names under which a mask serves it."""
        ats = [self.stack.replace(".", f"{layer}.", 1) for layer in range(1, self.layers + 1)]
        return {name for at in (self.stack, *ats) for name in _names(at)}


def stack_of(at: str) -> str:
    """`Dec.Self.` of `Dec1.Self.`."""
    return _NUMBER.sub("", at)


def _names(at: str) -> Iterator[str]:
    """What a mask for a place in the model may be called, the most specific first."""
    yield f"{at}{MASK}"
    yield f"{stack_of(at)}{MASK}"
    part = at.split(".")[-2] if at.count(".") > 1 else ""
    if part:
        yield f"{part}.{MASK}"
    yield MASK


class OwnMasks:
    """The masks that a file gives, each with the attentions that it is for.

    `Enc1.Mask` serves one layer, `Enc.Mask` all of a stack, `Self.Mask` and `Cross.Mask` one kind of
    attention of a decoder, `Mask` whatever it fits. The most specific one that there is wins.

    Args:
        attended: every attention of the run.

    Raises:
        InputError: for a mask that fits no attention, or more than one kind without naming it.
    """

    def __init__(self, tables: Tables, attended: Sequence[Attended]) -> None:
        self._serves: dict[str, list[Attended]] = {}
        self._tables: Mapping[str, Table] = tables.weights
        for name in self.given(tables):
            self._serves[name] = _served(name, tables.weights[name], attended)

    @staticmethod
    def given(tables: Tables) -> list[str]:
        """The names of the masks in a file."""
        return [name for name in tables.weights if name.rpartition(".")[2] == MASK]

    def __bool__(self) -> bool:
        return bool(self._serves)

    def of(self, at: str, rows: Sequence[str], columns: Sequence[str]) -> tuple[str, Table] | None:
        """The mask for a place in the model and its words, with its name; None if there is none."""
        words = (stack_of(at), tuple(rows), tuple(columns))
        for name in _names(at):
            if any((one.stack, one.rows, one.columns) == words for one in self._serves.get(name, ())):
                return name, self._tables[name]
        return None


def _served(name: str, table: Table, attended: Sequence[Attended]) -> list[Attended]:
    """The attentions that a mask is for."""
    where = f"{table.file}, sheet {table.sheet!r}"
    named = [one for one in attended if name in one.names]
    if not named:
        known = dict.fromkeys(f"{one.stack}{MASK}" for one in attended)
        raise InputError(
            f"{where}: {name} names no attention of this model. Call the mask {' or '.join(known)}"
            f"{', or by its layer' if attended[0].layers else ''}."
        )
    if all(table.labelled):
        said = [one for one in named if (one.rows, one.columns) == (table.rows, table.columns)]
        if said:
            return _of_one_kind(name, said, where)
    fitting = [one for one in named if one.shape == table.shape]
    kinds = {one.stack for one in (_of_one_kind(name, fitting, where) if fitting else named)}
    wrong = [one for one in named if one.stack in kinds and one.shape != table.shape]
    if wrong:
        shapes = [f"{one.shape[0]} x {one.shape[1]}{_of(one)}" for one in wrong]
        raise InputError(
            f"{where}: the mask is {table.shape[0]} x {table.shape[1]}, but the scores are "
            f"{' or '.join(dict.fromkeys(shapes))}. Give it a row for each word that looks and a "
            "column for each word that is looked at. Labelled with words, it serves their sentence "
            "alone."
        )
    return fitting


def _of_one_kind(name: str, found: list[Attended], where: str) -> list[Attended]:
    kinds = list(dict.fromkeys(one.stack for one in found))
    if len(kinds) > 1:
        names = [f"{kind}{MASK}" for kind in kinds]
        raise InputError(
            f"{where}: {name} fits several attentions of this model. Name the one that it is for: "
            f"{', '.join(names[:-1])} or {names[-1]}."
        )
    return found


def _of(one: Attended) -> str:
    return f" in {one.stack[:-1]}" if one.stack else ""
