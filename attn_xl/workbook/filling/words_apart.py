"""The words of a sentence beside each other, a vector each, with a row for each step: as in Alammar,
"The Illustrated Transformer" (2018)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

from attn_xl.graph.functions import copy, exp, row_dot, sqrt, width
from attn_xl.graph.graph import Graph
from attn_xl.graph.matrix import Matrix
from attn_xl.models import steps
from attn_xl.spreadsheets.addresses import Place
from attn_xl.spreadsheets.drawn import DrawnSheet
from attn_xl.tables.frames import (
    Frame,
    Group,
    Page,
    Title,
    box,
    page_of,
    step_called,
    tables_given,
    titles_of,
    values_in,
)
from attn_xl.tables.labels import Table
from attn_xl.tables.names import spoken_of, step_told, undecorated
from attn_xl.text import clean, distinct

from .groups import unread
from .titles import PROJECTIONS, Assigned

Given = Mapping[str, tuple[Frame, Table]]
_OF_TWO = (
    steps.SCORES.symbol,
    steps.SCALED.symbol,
    f"{steps.SOFTMAX.symbol}.{steps.EXPONENTIALS.symbol}",
    steps.SOFTMAX.symbol,
    steps.WEIGHTED_VALUES.symbol,
)
"""Steps of a word that looks, and of one that is looked at, in whose columns they stand."""


def words_apart(sheet: DrawnSheet, called: Mapping[str, str], file: str) -> Assigned | None:
    """The frames of a sheet whose input has a vector for each word in one row: those in the rows of
    steps below it. None for any other sheet."""
    page, titles = page_of(sheet, called), [*titles_of(sheet, called)]
    for title in (one for one in titles if one.step == steps.INPUT.symbol):
        if len(_vectors(page, title)) < 2:
            continue
        tables = tables_given(sheet, page, titles, file)
        given = {frame.step: (frame, table) for frame, table in tables.values()}
        others = [frame.place for step, (frame, _) in given.items() if step != title.step]
        vectors = [one for one in _vectors(page, title) if not any(map(one.overlaps, others))]
        if len(vectors) > 1 and len({one.columns for one in vectors}) == 1:
            made = _assigned(page, vectors, given, called, file)
            return made if made.groups[0].frames else None
    return None


def _vectors(page: Page, title: Title) -> list[Place]:
    """The runs of typed numbers right of a title, in its row alone."""
    row, typed = title.row, page.numbers - page.sheet.formulas.keys() - page.sheet.held
    columns = [c for r, c in sorted(typed) if r == row and c > title.last_column]
    starts = [c for c in columns if (row, c - 1) not in typed]
    ends = [c for c in columns if (row, c + 1) not in typed]
    runs = [Place(title.sheet, row, a, 1, b - a + 1) for a, b in zip(starts, ends) if b > a]
    return [run for run in runs if (row + 1, run.column) not in typed]


def _assigned(
    page: Page, vectors: Sequence[Place], given: Given, called: Mapping[str, str], file: str
) -> Assigned:
    words = distinct([_word(page, place) or f"word {n}" for n, place in enumerate(vectors, 1)])
    dims = tuple(f"dim {n + 1}" for n in range(vectors[0].columns))
    inputs: list[tuple[Frame, Table]] = []
    for word, place in zip(words, vectors):
        name = f"{steps.INPUT.symbol}[{word}]" if inputs else steps.INPUT.symbol
        _, values = values_in(page.sheet, place, False)
        at = file, place.sheet, place.row, place.column
        frame = Frame(name, place, False, "its row of vectors")
        inputs.append((frame, Table(name, values, (word,), dims, (True, False), *at)))
    weights = {step: one for step, one in given.items() if step in PROJECTIONS.values()}
    (first, table), *others = inputs
    group = Group(first.where, first, table, "rows", "a vector for each word", {
        **weights, **{frame.step: (frame, own) for frame, own in others}})  # fmt: skip
    graph = _graph([own for _, own in inputs], weights, words)
    group.frames = [*_frames(page, vectors, graph, words, called)]
    made = Assigned([group], [graph])
    made.unread = [*unread(made, {page.sheet.name: page}, ())]
    blank = (Place(page.sheet.name, *one) for one in page.blanks)
    taken = [frame.place for frame in group.frames]
    made.left = [
        f"{place.where}: is blank, and no text left of it names a step of its word."
        for place in blank
        if not any(map(place.overlaps, taken))
    ]
    return made


def is_of_another_word(name: str) -> bool:
    """Whether this is the input of a word beside the first one: `Input[Machines]`."""
    return name.startswith(f"{steps.INPUT.symbol}[")


def _word(page: Page, vector: Place) -> str:
    """The text above or left of a vector."""
    cells = [(vector.row - n, vector.column + m) for n in (1, 2) for m in range(vector.columns)]
    values = (page.sheet.values.get(cell) for cell in [*cells, (vector.row, vector.column - 1)])
    return next((clean(value) for value in values if isinstance(value, str)), "")


def _graph(inputs: Sequence[Table], weights: Given, words: Sequence[str]) -> Graph:
    """The steps of each word, or of each two, as matrices of a row: `Q[Thinking]` (1, d_k),
    `Scores[Thinking, Machines]` (1, 1)."""
    shown: list[Matrix] = [Matrix(one.values, one.rows, one.columns, name=one.name) for one in inputs]
    x = tuple(shown)
    given = {name: Matrix(t.values, t.rows, t.columns, name=name) for name, (_, t) in weights.items()}
    shown += given.values()

    def named(step: str, matrix: Matrix, *of: str) -> Matrix:
        shown.append(matrix.named(f"{step}[{', '.join(of)}]"))
        return shown[-1]

    q, k, v = (
        [named(step, one @ given[w] if w in given else copy(one), word) for one, word in zip(x, words)]
        for step, w in PROJECTIONS.items()
    )
    for query, who in zip(q, words):
        parts: list[list[Matrix]] = []
        for key, value, seen in zip(k, v, words):
            scores = named(_OF_TWO[0], row_dot(query, key), who, seen)
            scaled = named(_OF_TWO[1], scores / sqrt(width(k[0])), who, seen)
            parts.append([named(_OF_TWO[2], exp(scaled), who, seen), value])
        total = reduce(add, (power for power, _ in parts))
        weighted = []
        for (power, value), seen in zip(parts, words):
            share = named(_OF_TWO[3], power / total, who, seen)
            weighted.append(named(_OF_TWO[4], share * value, who, seen))
        named(steps.OUTPUT.symbol, reduce(add, weighted), who)
    return Graph(*shown)


def _frames(
    page: Page, vectors: Sequence[Place], graph: Graph, words: Sequence[str], called: Mapping[str, str]
) -> Iterator[Frame]:
    """The frames in the rows of steps: texts left of all vectors name these. A single number in the
    columns of a word is of the first word, or the one that the text names, and this one; as many as
    there are words are of this one and each."""
    for (row, column), text in sorted(page.sheet.values.items(), key=lambda one: one[0]):
        if not isinstance(text, str) or row <= vectors[0].row or column >= vectors[0].column:
            continue
        step, by = _step(text, called), f"the title {clean(text)!r}"
        asked = next((word for word in words if word.casefold() == spoken_of(text)), words[0])
        found: list[tuple[tuple[str, ...], Place]] = []
        for word, vector in zip(words, vectors):
            one = Place(page.sheet.name, row, vector.column, 1, 1)
            if step in _OF_TWO[:-1] and _stands(page, replace(one, columns=len(words))):
                found += [
                    ((word, seen), replace(one, column=one.column + n)) for n, seen in enumerate(words)
                ]
            else:
                found.append(((asked, word) if step in _OF_TWO else (word,), one))
        named = [(f"{step}[{', '.join(of)}]", place) for of, place in found]
        frames = [
            Frame(name, place, False, by)
            for name, one in named
            if name in graph and _stands(page, place := replace(one, columns=graph[name].shape[1]))
        ]
        if step == steps.OUTPUT.symbol and len(frames) == 1:
            frames = [replace(frames[0], step=f"{step}[{asked}]")]
        yield from frames


def _stands(page: Page, place: Place) -> bool:
    """Whether all cells of a place have a border or a fill, or a number."""
    return max(page.framed(*box(place)), page.filled(*box(place))) == place.columns


def _step(text: str, called: Mapping[str, str]) -> str:
    plain = undecorated(clean(text)).casefold()
    if re.match(r"sum\b", plain):
        return steps.OUTPUT.symbol
    if re.search(r"softmax\s*[x×·*]\s*v|weighted (?:v|values?)\b", plain):
        return steps.WEIGHTED_VALUES.symbol
    named = step_called(text, called)
    return named[0] if named else step_told(text)
