"""Words that several sentences share: their vectors in each, before and after attention, and how these
differ."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import NamedTuple

from attn_xl.graph.functions import gather
from attn_xl.graph.graph import Graph, walk
from attn_xl.graph.matrix import Matrix
from attn_xl.models import steps
from attn_xl.settings import COMPARE
from attn_xl.spreadsheets.addresses import Place
from attn_xl.tables.frames import Frame, Group, Page, labels_of
from attn_xl.tables.roles import OF_SENTENCES

from .titles import Assigned

_DIFFERENCE = re.compile(r"differ|change|shift|\bdelta\b|\bdiff\b|Δ|\s[-−–]\s", re.IGNORECASE)
_BEFORE = re.compile(r"\b(?:inputs?|before|original|embeddings?)\b", re.IGNORECASE)
_NUMBERED = (r"left|first|1|a", r"right|second|2|b", r"third|3|c", r"fourth|4|d")
"""How an author may call the sentences, in their order."""


class _Line(NamedTuple):
    """A row of a frame: the vector of a word in a sentence, less the one in another if `less` is not
    None.

    Attributes:
        of, less: the number of the sentence.
        word: in lower case.
        end: the step that has the vector.
    """

    word: str
    end: str
    of: int
    less: int | None = None


def add_shared_words(made: Assigned, pages: Sequence[Page]) -> None:
    """Give the blank frames for words that several sentences share, as their texts and the labels of
    their rows tell, to the first sentence."""
    shared = _shared(made)
    first = min((numbers[0] for numbers in shared.values()), default=0)
    frames = [(frame, group) for group in made.groups for frame in (*group.given, *group.frames)]
    found: list[Matrix] = []
    for page in pages if shared else ():
        for box in dict.fromkeys((*page.blanks, *page.labelled)):
            place = Place(page.sheet.name, *box)
            if page.filled(*box) or page.texts(*box):
                continue
            met = [(one, group) for one, group in frames if one.place.overlaps(place)]
            for text, lines, turned in _told(made, first, page, place, shared):
                labels = {label for side, _ in labels_of(page, place) for label in side}
                if any(
                    repr(text) not in one.by
                    or not (_is_alone(group) or labels.isdisjoint(group.table.rows))
                    for one, group in met
                ):
                    break
                for one, group in met:  # the same text told that it is of a single word, or a copy
                    group.frames.remove(one)
                by, own = f"the text {text!r}", made.groups[first]
                for start, node in _matrices(made.graphs, lines, {one.name for one in found}):
                    row, column = (0, start) if turned else (start, 0)
                    size = node.shape[::-1] if turned else node.shape
                    part = Place(place.sheet, place.row + row, place.column + column, *size)
                    own.frames.append(Frame(node.name, part, turned, by))
                    frames.append((own.frames[-1], own))
                    found.append(node)
                for said in (made.left, made.untitled, made.blank):
                    said[:] = [one for one in said if not one.startswith(f"{place.where}: ")]
    if found:
        known = {*walk(made.graphs[first].values())}
        others = {*walk(one for graph in made.graphs for one in graph.values())} - known
        made.graphs[first] = Graph(*made.graphs[first].values(), *found, without=others)
        made.compares = True
        kept = [n for n, group in enumerate(made.groups) if group.frames or not _is_alone(group)]
        made.labels = [(tag, kept.index(n)) for tag, n in made.labels if n in kept]
        made.groups = [made.groups[n] for n in kept]
        made.graphs = [made.graphs[n] for n in kept]


def _is_alone(group: Group) -> bool:
    """Whether the words of a sentence look at those of another one, as a single word may."""
    return steps.MEMORY.symbol in group.weights


def _shared(made: Assigned) -> dict[str, list[int]]:
    """The words that stand once in several sentences, in lower case, with the numbers of these, whose
    inputs and outputs are as wide as those of the first one."""
    found: dict[str, list[int]] = {}
    width: tuple[int, ...] = ()
    for n, (group, graph) in enumerate(zip(made.groups, made.graphs)):
        ends = [graph.get(step.symbol) for step in (steps.INPUT, steps.OUTPUT)]
        if _is_alone(group) or any(one is None or one.rows != group.table.rows for one in ends):
            continue
        own = tuple(len(one.columns) for one in ends if one)
        width = width or own
        words = [*map(str.casefold, group.table.rows)]
        for word in words if own == width else ():
            if words.count(word) == 1:
                found.setdefault(word, []).append(n)
    return {word: numbers for word, numbers in found.items() if len(numbers) > 1}


def _told(
    made: Assigned, first: int, page: Page, place: Place, shared: Mapping[str, list[int]]
) -> Iterator[tuple[str, list[_Line], bool]]:
    """The text that tells what a blank frame is for, its rows, and whether these stand in columns;
    nothing if no text does."""
    graph = made.graphs[first]
    ends = [graph[step.symbol].columns for step in (steps.INPUT, steps.OUTPUT)]
    sides = [labels for labels, _ in labels_of(page, place)]
    in_columns = made.groups[first].words_in == "columns"
    size, names = (place.rows, place.columns)[not in_columns], sides[not in_columns]
    if size != len(ends[1]) or (names and names not in ends):
        return
    labels = sides[in_columns] or ("",) * (place.rows, place.columns)[in_columns]
    above, width = 1 + bool(sides[1]), place.columns
    cells = [
        *(
            (place.row - away, place.column + aside)
            for away in (above, 1, 3)
            for aside in range(-1 - bool(sides[0]), width)
        ),
        *((place.row - up, place.column - 2) for up in (0, 1)),
    ]
    values = (page.sheet.values.get(cell) for cell in cells)
    for text in (one for one in values if isinstance(one, str) and one not in (*sides[0], *sides[1])):
        lines = _lines(text, labels, shared)
        if len(lines) > 1 or any(line.less is not None for line in lines):
            yield text, lines, in_columns
            return


def _lines(text: str, labels: Sequence[str], shared: Mapping[str, list[int]]) -> list[_Line]:
    """What the rows of a frame are; [] if its text and its labels do not tell."""
    end = steps.INPUT.symbol if _BEFORE.search(text) else steps.OUTPUT.symbol
    words = [*map(str.casefold, labels)]
    differs = bool(_DIFFERENCE.search(text))
    if {*words} <= shared.keys():
        pairs = [_pair(text, shared[word]) for word in words]
        return [_Line(word, end, *pair) for word, pair in zip(words, pairs)] if differs else []
    named = [label for label in words if not _DIFFERENCE.search(label)]
    said = [one for one in shared if _names(one, text)] or [
        one for one in shared if named and all(_names(one, label) for label in named)
    ]
    if len(said) != 1:
        return []
    ((word,), numbers, found) = said, shared[said[0]], list[_Line]()
    for label in labels:
        own = steps.INPUT.symbol if _BEFORE.search(label) else end
        left = [n for n in numbers if _Line(word, own, n) not in found]
        if _DIFFERENCE.search(label) or (differs and len(labels) == 1) or (not label and not left):
            found.append(_Line(word, own, *_pair(label or text, numbers)))
            continue
        if not left:
            return []
        found.append(_Line(word, own, next((n for n in left if _mentions(label, n)), left[0])))
    return found


def _names(word: str, text: str) -> bool:
    """Whether a text names a word; `the` and its like only where no word follows."""
    spoken = word == "a" or OF_SENTENCES.fullmatch(word)
    end = r"(?=\s*(?:[^\w\s]|$|in\b))" if spoken else r"(?!\w)"
    return bool(re.search(rf"(?<!\w){re.escape(word)}{end}", text.casefold()))


def _mentions(label: str, number: int) -> bool:
    """Whether a label calls a sentence by its place among all."""
    name = _NUMBERED[number] if number < len(_NUMBERED) else "$."
    return bool(re.search(rf"\b(?:{name})\b", label.casefold()))


def _pair(text: str, numbers: Sequence[int]) -> tuple[int, int]:
    """The sentences of a difference: the second less the first, unless a text says otherwise."""
    first, *_, last = numbers
    before, _, after = re.sub("[−–]", "-", text).partition(" - ")
    return (first, last) if _mentions(before, first) and _mentions(after, last) else (last, first)


def _matrices(
    graphs: Sequence[Graph], lines: Sequence[_Line], names: Collection[str]
) -> Iterator[tuple[int, Matrix]]:
    """The matrices of neighbouring rows of a frame, each with the number of its first one; others have
    the `names`."""
    known: dict[_Line, tuple[Matrix, int]] = {}

    def vectors(own: Sequence[_Line]) -> Matrix:
        """The rows of the frame, if they are there, or of the sentences."""
        picks = []
        for line in own:
            words = [*map(str.casefold, graphs[line.of][line.end].rows)]
            there = graphs[line.of][line.end], words.index(line.word)
            picks.append(known.get(line, there))
        return gather(picks, [line.word for line in own])

    start = 0
    for differs, group in groupby(lines, lambda line: line.less is not None):
        own = [*group]
        node = vectors([line._replace(less=None) for line in own])
        if differs:
            node = node - vectors([line._replace(of=line.less or 0, less=None) for line in own])
        parts = [COMPARE, *{line.word: 0 for line in own}, *{line.end: 0 for line in own}]
        name = ".".join([*parts, *[steps.COMPARED_DIFFERENCE.symbol] * differs])
        numbered = (f"{name}_{n}" for n in count(2))
        node = node.named(name if name not in names else next(n for n in numbered if n not in names))
        known.update({line: (node, n) for n, line in enumerate(own)})
        yield start, node
        start += len(own)
