"""Names of single numbers, `pets.Softmax[mouse, cat]` or `pets.Softmax!D5`, and the numbers that names
refer to.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from attn_xl.errors import CallError, nearest
from attn_xl.graph.matrix import Matrix
from attn_xl.labelled import MOST_LISTED, unambiguous
from attn_xl.models.computation import Computation
from attn_xl.settings import OVERVIEW, SETTINGS
from attn_xl.spreadsheets.addresses import Place, address, parse_place, quoted
from attn_xl.workbook.layout.layout import Layout

from .selection import SelectedMatrix, Steps, select

_LABEL = re.compile(r'\s*("(?:[^"]|"")*"(?:#[0-9]{1,9})?|[^,]*?)\s*(,|$)')
_POSITION = re.compile(r"[0-9]{1,9}")
MOST_TITLES = 12


class Element(NamedTuple):
    """One number of a matrix; row and column count from 0."""

    node: Matrix
    row: int
    column: int


class CellNames:
    """The names of all cells of a computation.

    Args:
        sheet: the sentence of names that do not include one.

    Raises:
        CallError: for an unknown sentence.
    """

    def __init__(self, computation: Computation, layout: Layout, sheet: str | None = None) -> None:
        self._layout = layout
        self._sheet = sheet
        controls = [SelectedMatrix("", name, node) for name, node in computation.plane.items()]
        self._selected = {one.node: one for one in (*select(computation), *controls)}
        scopes = (scope for node in self._selected for scope in node.part.scopes)
        self._ranks = {scope: rank for rank, scope in enumerate(dict.fromkeys(scopes))}
        self._labels: dict[tuple[str, ...], list[str]] = {}
        self._steps = Steps((*select(computation, (), sheet), *controls), computation)

    def name(self, cell: Element, home: Matrix | None = None) -> str:
        """`pets.Softmax[mouse, cat]`; without the sentence where it is that of `home`."""
        step = self.step(cell.node, home)
        if cell.node.scalar:
            return step
        n, m = cell.node.shape
        labels = []
        if n > 1 or m == 1:
            labels.append(self._all(cell.node.rows)[cell.row])
        if m > 1:
            labels.append(self._all(cell.node.columns)[cell.column])
        return f"{step}[{', '.join(labels)}]"

    def step(self, node: Matrix, home: Matrix | None = None) -> str:
        """`pets.Softmax`; without the sentence where it is that of `home`."""
        one = self._selected[node]
        same = home is not None and self._selected[home].sheet == one.sheet
        return one.name if same else one.title

    def address(self, cell: Element) -> str:
        """`pets.Softmax!D5`, in the workbook that `convert` writes."""
        place = self._layout.blocks[cell.node].place
        return f"{quoted(place.sheet)}!{address(place.row + cell.row, place.column + cell.column)}"

    def _all(self, labels: tuple[str, ...]) -> list[str]:
        """Each label in an unambiguous form: `the#1`, `"a, b"`."""
        if labels not in self._labels:
            self._labels[labels] = unambiguous(labels)
        return self._labels[labels]

    def find(self, text: str) -> list[Element]:
        """The cells that a name or an address may refer to, in the order of the computation: several
        where the same labels stand in several sentences, layers or heads.

        Raises:
            CallError: if there is none.
        """
        text = text.strip()
        place = parse_place(text)
        if place and place.rows == place.columns == 1 and not self._split(text):
            return [self._at(text, place)]
        parts = self._split(text)
        if not parts:
            raise self._unknown(text)
        name, inside = parts
        ones, found = sorted(self._steps.find(name), key=self._rank), []
        refusals: list[CallError] = []
        for one in ones:
            try:
                found.append(self._within(one, name if len(ones) == 1 else one.title, inside))
            except CallError as refusal:
                refusals.append(refusal)
        if found:
            return found
        if len(ones) == 1:
            raise refusals[0]
        titles = ", ".join(one.title for one in ones[:MOST_TITLES])
        more = f", ... ({len(ones)})" if len(ones) > MOST_TITLES else ""
        sentences = len({one.sheet for one in ones}) > 1
        several = "in several sentences" if sentences else "the name of several steps"
        raise CallError(
            f"{text} is {several if inside is None else 'in none of these'}: {titles}{more}. "
            f"{refusals[0]}"
        )

    def _rank(self, one: SelectedMatrix) -> list[int]:
        """The place of its layer or sentence among those of the computation."""
        return [self._ranks[scope] for scope in one.node.part.scopes]

    def _split(self, text: str) -> tuple[str, str | None] | None:
        """A known step's name and the text in the brackets after it; None for an unknown step."""
        if self._steps.known(text):
            return text, None
        for bracket in reversed([i for i, letter in enumerate(text) if letter == "["]):
            name = text[:bracket].strip()
            if self._steps.known(name):
                if not text.endswith("]"):
                    raise CallError(f"{text}: the bracket is not closed; write {text}].")
                return name, text[bracket + 1 : -1]
        return None

    def _unknown(self, text: str) -> CallError:
        name, bracket, inside = text.partition("(")
        if bracket and "[" not in name and self._steps.known(name.strip()):
            return CallError(
                f"{text}: put rows and columns in square brackets: write "
                f"{name.strip()}[{inside.strip().removesuffix(')')}]."
            )
        return self._steps.unknown(text.partition("[")[0].strip())

    def _within(self, one: SelectedMatrix, name: str, inside: str | None) -> Element:
        node = one.node
        n, m = node.shape
        example = self.name(Element(node, 0, 0))
        if inside is None:
            if n == m == 1:
                return Element(node, 0, 0)
            raise CallError(f"{name} has {n} x {m} numbers. Name one of them, as in {example}.")
        if node.scalar:
            raise CallError(f"{name} is a single number: write {example}.")
        labels = _labels(inside)
        if len(labels) == 1 and m == 1:
            return Element(node, self._index(labels[0], node.rows, "row", one), 0)
        if len(labels) == 1 and n == 1:
            return Element(node, 0, self._index(labels[0], node.columns, "column", one))
        if len(labels) != 2:
            raise CallError(
                f"{name}[{inside}] names {len(labels)} label{'s' * (len(labels) > 1)}, but it takes a "
                f"row and a column, as in {example}. Put a label with a comma in quotes."
            )
        row, column = labels
        return Element(
            node,
            self._index(row, node.rows, "row", one),
            self._index(column, node.columns, "column", one),
        )

    def _index(self, label: str, labels: tuple[str, ...], what: str, one: SelectedMatrix) -> int:
        """The index of the row or column that a label, a label with its number, `the#2`, or a position
        refers to."""
        bare = label[1:-1].replace('""', '"') if label[:1] == label[-1:] == '"' else label
        names = self._all(labels)
        for known, wanted in ((labels, bare), (names, label)):
            same = [i for i, there in enumerate(known) if there == wanted]
            folded = [i for i, there in enumerate(known) if there.casefold() == wanted.casefold()]
            places = same or folded
            if len(places) > 1:
                options = ", ".join(f"{names[i]} ({what} {i + 1})" for i in places)
                raise CallError(f"{one.title} has several {what}s {label!r}. Choose one: {options}.")
            if places:
                return places[0]
        if _POSITION.fullmatch(label) and not any(map(_POSITION.fullmatch, labels)):
            if 1 <= int(label) <= len(labels):
                return int(label) - 1
            raise CallError(f"{one.title} has {what}s 1 to {len(labels)}, but no {what} {label}.")
        hint = nearest(label, names)
        if len(labels) > MOST_LISTED:
            hint = f"{hint.partition('There are')[0]}There are {len(labels)} {what}s."
        raise CallError(f"{one.title} has no {what} {bare!r}. {hint}")

    def _at(self, text: str, address_given: Place) -> Element:
        """The number in a cell of the workbook that `convert` writes."""
        if self._sheet is not None:
            raise CallError(
                f"--sheet cannot be combined with {text}, which names a sheet. Leave it out."
            )
        name, row, column = address_given.sheet.strip(), address_given.row, address_given.column
        sheets = {sheet.name.casefold(): sheet for sheet in self._layout.sheets}
        if name.casefold() not in sheets:
            names = [sheet.name for sheet in sheets.values()]
            for about in (OVERVIEW, SETTINGS):
                if name.casefold() == about.casefold():
                    raise CallError(f"{text}: {about} has no numbers. {nearest(name, names)}")
            raise CallError(f"the workbook has no sheet {name!r}. {nearest(name, names)}")
        sheet = sheets[name.casefold()]
        for block in sheet.blocks:
            place = block.place
            if place.row <= row <= place.last_row and place.column <= column <= place.last_column:
                return Element(block.node, row - place.row, column - place.column)
        for there in sheet.extras.cells:
            if there.like and (there.row, there.column) == (row, column):  # it repeats a number
                block = next(one for one in self._layout.blocks.values() if one.name == there.like)
                return Element(block.node, *there.shows)
        repeated = (one for one in sheet.extras.cells if one.like)
        example = [f"{address(one.row, one.column)} ({one.like})" for one in repeated][:1]
        numbers = [f"{block.place.range} ({block.name})" for block in sheet.blocks] or example
        where = f"The numbers are in {', '.join(numbers)}." if numbers else "The sheet has no numbers."
        raise CallError(
            f"{quoted(sheet.name)}!{address(row, column)} holds no number of a matrix. {where}"
        )


def _labels(inside: str) -> list[str]:
    """The labels in the brackets, as they are typed."""
    labels, at = [], 0
    while True:
        found = _LABEL.match(inside, at)
        assert found is not None
        labels.append(found[1])
        if not found[2]:
            return labels
        at = found.end()
