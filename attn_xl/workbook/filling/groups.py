"""Assigns the frames of an author's sheets: which sentence each belongs to, and which matrix of the
model goes into it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations
from itertools import product as every
from operator import attrgetter
from typing import Any

import numpy as np

from attn_xl.errors import AttnXlError, InputError
from attn_xl.graph.functions import row_sum
from attn_xl.graph.graph import Graph
from attn_xl.graph.operations.products import Product
from attn_xl.graph.step import Step
from attn_xl.models import steps
from attn_xl.spreadsheets.addresses import Place, address, quoted
from attn_xl.spreadsheets.boxes import Box
from attn_xl.spreadsheets.drawn import DrawnBook
from attn_xl.spreadsheets.numerals import ErrorValue, is_number, numeral
from attn_xl.tables.frames import (
    ARROWS,
    ELSEWHERE,
    ENOUGH,
    MEMORIES,
    OF_ROWS,
    Candidate,
    Frame,
    Group,
    Page,
    Shape,
    Title,
    beside,
    box,
    candidates,
    cost,
    direction,
    distance,
    ends,
    evidence,
    is_beyond,
    labels_of,
    may_end,
    nearest_to,
    of_sheet,
    oriented,
    shifted,
    step_called,
    tables_given,
    titles_of,
    untitled_tables,
    values_in,
)
from attn_xl.tables.headings import OF_HEADS, headings_of, headings_on, is_heading, path_at
from attn_xl.tables.labels import Table, looked_up
from attn_xl.tables.names import (
    ACROSS,
    SPELLINGS,
    of_encoder,
    of_table,
    sentence_of,
    spoken_of,
    step_told,
)
from attn_xl.tables.own_names import (
    DIMENSIONS,
    FORMULA,
    WORDS,
    called_in,
    names_of,
    sheets_named,
    tags_of,
)
from attn_xl.tables.roles import BY_DEFAULT, WordsIn
from attn_xl.tables.survey import Tables, one_hot
from attn_xl.text import clean

Compute = Callable[[Tables, Mapping[str, Any]], Graph]
"""Computes the model for the tables of one sentence, with settings that the frames imply."""
IMPLIES: dict[str, dict[str, Any]] = {
    steps.MASK.symbol: {"causal": True},
    steps.MASKED.symbol: {"causal": True},
    steps.POSITIONS.symbol: {"positions": "sinusoidal"},
    steps.EMBEDDED.symbol: {"positions": "sinusoidal"},
    **{
        one.symbol: {"model": "similarity"}
        for one in (steps.COSINE, steps.COSINES, steps.MAGNITUDE, steps.ANGLE)
    },
}
"""The setting that a blank frame of a step implies."""
PROJECTIONS = {
    steps.QUERIES.symbol: "W_Q", steps.KEYS.symbol: "W_K", steps.VALUES.symbol: "W_V",
}  # fmt: skip
ACTIVATIONS = {
    "relu": "relu", "gelu": "gelu", "silu": "silu", "swish": "silu", "swiglu": "swiglu",
    "geglu": "geglu",
}  # fmt: skip
"""The names of activation functions, and the setting for each."""
_OF_LAYER = re.compile(rf"({steps.SKIP.symbol}|{steps.NORM.symbol})(_1)?$")
"""Steps after an attention that need no network."""
OF_NETWORK = steps.HIDDEN.symbol, steps.ACTIVATED.symbol, steps.FEED_FORWARD.symbol
"""Steps of a feed-forward network."""
A = steps.GIVEN_ATTENTION.symbol
SCORED = {
    steps.SCORES.symbol: "W_Q", steps.SCALED.symbol: "W_Q", A: "W_Q", steps.VALUES.symbol: "W_V",
}  # fmt: skip
"""Steps that may be given without an input, and the weights that give them for one-hot words."""
OF_SOFTMAX = {
    *PROJECTIONS, *PROJECTIONS.values(), *SCORED, steps.MASK.symbol, steps.MASKED.symbol,
} - {steps.VALUES.symbol, "W_V"}  # fmt: skip
"""What attention weights are computed from; without any of it, typed ones are given."""
MOST_ASKED = 12
"""Words of a sentence, each with a list of steps of its own."""
MOSTLY = 0.5
"""The share of right numbers by which a matrix below a sentence is recognized."""
ENOUGH_FOR_A_COPY = 3
"""Evidence that a second frame of a matrix needs."""


@dataclass
class Assigned:
    """The sentences of an author's workbook with their graphs, and what was left.

    Attributes:
        groups: the sentences.
        graphs: the matrices of each.
        left: what was recognized but not assigned, in words, with its cells.
        unread: the cells of typed numbers that are no part of the model.
        missing: the steps that titles name and the model does not compute.
        unplaced: the error for a tag of such a step, unless the step tells what the model has.
        implied: the settings that the titles imply.
        labels: the tags for words, dimensions and formulas, with the number of their sentence.
        score: the evidence for the surest frame of scores or attention weights.
        done: the titles that have a frame.
    """

    groups: list[Group] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    unplaced: InputError | None = None
    implied: dict[str, Any] = field(default_factory=dict)
    labels: list[tuple[Title, int]] = field(default_factory=list)
    score: float = 0.0
    done: set[Title] = field(default_factory=set)


def assigned(
    drawn: DrawnBook, compute: Compute, called: Mapping[str, str], words_in: WordsIn | None
) -> Assigned:
    """The frames of an author's workbook, each with its sentence and its matrix.

    Args:
        compute: computes the model for the tables of one sentence.
        called: an author's own names, in lower case, and the steps they stand for.
        words_in: where words are; detected if None.

    Raises:
        InputError: if there is no input, or a frame could be in two places.
    """
    file = str(drawn.path)
    called = {**called_in(drawn), **called}
    tags = [tag for sheet in drawn.sheets for tag in tags_of(sheet, file, called)]
    pages = {sheet.name: Page(sheet, called) for sheet in drawn.sheets}
    titles = [*tags, *names_of(drawn, called), *sheets_named(drawn, pages, called)]
    titles += [title for sheet in drawn.sheets for title in titles_of(sheet, called)]
    titles += _outputs_of_heads(pages, titles)
    titles = _products_with_w_o(titles)
    named = {title.step for title in titles if len(title.text) > 1}  # x may be a label
    if steps.INPUT.symbol not in named:
        if not named.isdisjoint(MEMORIES):
            looks = steps.TARGET.symbol
            titles = [replace(t, step=steps.INPUT.symbol) if t.step == looks else t for t in titles]
        titles = _as_given(drawn, pages, titles, steps.EMBEDDED.symbol, steps.INPUT.symbol)
    if not any(re.sub(r"_\d+$", "", title.step) in OF_SOFTMAX for title in titles):
        titles = _as_given(drawn, pages, titles, steps.SOFTMAX.symbol, A)
    given: dict[Title, tuple[Frame, Table]] = {}
    untitled: list[tuple[Frame, Table]] = []
    for sheet in drawn.sheets:
        page, there = pages[sheet.name], [title for title in titles if title.sheet == sheet.name]
        own = of_sheet(page, there, called)
        titles = [*(one for one in titles if one not in there), *own]
        found = tables_given(sheet, page, own, file)
        given |= found
        untitled += untitled_tables(sheet, page, own, found, file)
    headings = (one for page in pages.values() for one in headings_on(page.sheet.name, page.where))
    crosses = any(one[-1] == "Cross" for one in headings) or any(map(_tells_cross, titles))
    given = _with_memory(drawn, given, crosses)
    inputs = [(frame, table) for frame, table in given.values() if frame.step == steps.INPUT.symbol]
    weighted = any(frame.step.startswith("W_") for frame, _ in given.values())
    typed, projected = set[Title](), list[Group]()
    if not weighted:
        typed, projected = _projected(drawn, pages, titles, words_in, PROJECTIONS)
    inputs = [] if projected else [*inputs, *_untitled_inputs(inputs, untitled, given.values())]
    if not (inputs or weighted or projected):
        typed, projected = _projected(drawn, pages, titles, words_in, SCORED)
    if not (inputs or projected):
        raise InputError(f"{file}: has no input to start from. {_for_an_input(drawn, pages, titles)}")
    wrong = _wrong_copies(drawn, inputs)
    inputs = [one for one in inputs if one[0] not in wrong]
    given = {title: one for title, one in given.items() if one[0] not in wrong}
    weights = {t: one for t, one in given.items() if one[0].step != steps.INPUT.symbol}
    titles, weights = _of_sentences(titles, weights, inputs)
    titles, weights = _under_heads(pages, titles, weights)
    titles, weights = _of_layers(titles, weights, pages)
    titles, weights = _of_heads(titles, weights, inputs)
    made = Assigned()
    positions = [table for frame, table in weights.values() if frame.step == steps.W_P.symbol]
    copies, looked_in = _repeated(drawn, inputs, positions)
    inputs = [one for one in inputs if one[0] not in copies and one[0] not in looked_in]
    places = [frame.place for frame, _ in inputs]
    for frame, table in sorted(inputs, key=lambda one: _order(drawn, one[0].place)):
        near = nearest_to(frame.place, places, titles)
        group = _group(drawn, pages, frame, table, weights, places, near, words_in)
        group.known = tuple(
            replace(copy, step=step, turned=group.input.turned != across)
            for copy, (place, step, across) in copies.items()
            if place == frame.place
        )
        group.frames = [*group.known]
        made.groups.append(group)
    for group in projected:
        others = {frame.step: (frame, table) for frame, table in weights.values()}
        group.weights = {**others, **group.weights}
    made.groups += projected
    made.groups = _looking_at_each_other(made.groups, pages, titles)
    titles += _over_labels(pages, titles, made.groups, called)
    for tag in tags:
        if tag.step in (WORDS, DIMENSIONS) or tag.step.startswith(FORMULA):
            made.labels.append((tag, _nearest(made, tag)))
    labels = {tag for tag, _ in made.labels}
    used = {*given, *weights, *labels, *typed}
    titles = [title for title in titles if title not in used]
    made.graphs = [_computed(drawn, group, compute, {}) for group in made.groups]
    try:
        _assign(made, pages, titles)
    except InputError:  # a tag has no room for the matrix of all words
        made.score = 0.0
        alone = _with_single_words(made, drawn, pages, titles, compute)
        if alone is made:
            raise
        made = alone
    else:
        made = _with_single_words(made, drawn, pages, titles, compute)
    shown = {frame.step for group in made.groups for frame in group.frames}
    missing = {_PARTED.findall(one)[0][1] for one in made.missing}
    missing |= _hidden(titles, made.graphs)
    for step in missing & IMPLIES.keys():
        attends = not shown.isdisjoint((steps.SOFTMAX.symbol, steps.OUTPUT.symbol))
        if not attends or "model" not in IMPLIES[step]:
            made.implied |= IMPLIES[step]
    made.implied |= _heads_named(titles, made.groups)
    if any(map(_OF_LAYER.match, made.missing)):
        layer = {**made.implied, "model": "encoder", "feed_forward": False}
        with suppress(InputError):  # it needs W_O
            made.graphs = [_computed(drawn, group, compute, layer) for group in made.groups]
            made.implied = layer
    made.implied |= _left_out(titles, made.graphs)
    if made.implied.get("model") != "similarity":
        made.implied |= _functions(titles, made.graphs)
        made.implied |= _norm_first(made.groups[0], made.graphs[0])
    if made.implied:  # a step's name is enough
        made.left, made.done = [], set()
        for group in made.groups:
            group.frames = [*group.known]
        made.graphs = [_computed(drawn, group, compute, made.implied) for group in made.groups]
        _assign(made, pages, titles)
    elif made.unplaced:
        raise made.unplaced
    texts = [
        title for _, title in _unnamed(made, pages, called) if step_called(title.text, called) is None
    ]
    told = [replace(one, step=step) for one in texts if (step := step_told(one.text))]
    for _, text in _unnamed(made, pages, called, computed=True):
        step = step_told(text.text)
        known = [graph[step].values for graph in made.graphs if step in graph]
        if any(_holds(pages[text.sheet], text, values, MOSTLY) for values in known):
            told.append(replace(text, step=step))
    _assign(made, pages, told, copies=False)
    _by_rhythm(made, pages)
    made.left += [*_asked(made, pages, called), *_beyond(made, pages, called)]
    made.unread = [*_unread(made, pages, looked_in)]
    _check_gaps(file, made, pages)
    for n, group in enumerate(made.groups):
        if exponentials := plain_exponentials(group):
            made.graphs[n] = _computed(drawn, group, compute, {**made.implied, **exponentials})
    return made


def _over_labels(
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    groups: Sequence[Group],
    called: Mapping[str, str],
) -> Iterator[Title]:
    """The names of steps of sheets without titles, as titles above the words there."""
    titled = {title.sheet for title in titles} | {group.input.place.sheet for group in groups}
    words = _words(pages, groups)
    for name in (name for name in pages if name not in titled):
        cells = [(row, column) for sheet, row, column in words if sheet == name]
        if cells and (named := step_called(of_table(name), called)):
            row, column = map(min, zip(*cells))
            yield Title(name, row - 1, column, column, f"the sheet {name!r}", *named)


def _outputs_of_heads(pages: Mapping[str, Page], titles: Sequence[Title]) -> list[Title]:
    """The titles `Head 1`, `Head 2` of outputs, as the paper calls them, unless they are headings:
    other titles name the outputs, or stand right below."""
    there = {(title.sheet, title.row, title.column) for title in titles}
    found = [
        Title(name, row, column, column, page.sheet.values[row, column], f"Output_{number[1]}")
        for name, page in pages.items()
        for text, cells in page.where.items()
        if (number := re.fullmatch(r"head[\s_]*(\d{1,2})", text))
        for row, column in cells
        if (name, row + 1, column) not in there
    ]
    steps_found = {title.step for title in found}
    return found if len(steps_found) > 1 and steps_found.isdisjoint(one.step for one in titles) else []


def _products_with_w_o(titles: Sequence[Title]) -> list[Title]:
    """The titles; `Output projection` is the product with W_O where another title names W_O."""
    w_o = {one: "projection" in one.text.casefold() for one in titles if one.step == steps.W_O.symbol}
    both, product = {*w_o.values()} == {True, False}, steps.ATTENTION.symbol
    return [replace(one, step=product) if both and w_o.get(one) else one for one in titles]


def _as_given(
    drawn: DrawnBook, pages: Mapping[str, Page], titles: Sequence[Title], step: str, given: str
) -> list[Title]:
    """The titles; those of a step name a given matrix, if numbers are typed below each of them."""
    named = {one: replace(one, step=given) for one in titles if one.step == step}
    renamed = [named.get(one, one) for one in titles]
    typed: set[Title] = set()
    for sheet in drawn.sheets:
        own = [title for title in renamed if title.sheet == sheet.name]
        with suppress(InputError):  # formulas without values
            found = tables_given(sheet, pages[sheet.name], own, str(drawn.path))
            typed |= {title for title, (frame, _) in found.items()
                      if sheet.formulas.keys().isdisjoint(frame.place.cells())}  # fmt: skip
    return renamed if typed >= {*named.values()} else [*titles]


def _with_memory(
    drawn: DrawnBook, given: Mapping[Title, tuple[Frame, Table]], crosses: bool
) -> dict[Title, tuple[Frame, Table]]:
    """The given tables; of two inputs, one titled as an encoder's output is what the other looks at,
    unless formulas compute it from that, or as a source, if a heading says that one looks at the
    other."""
    inputs = [title for title, (frame, _) in given.items() if frame.step == steps.INPUT.symbol]
    places = {title: given[title][0].place for title in inputs}
    for title in filter(lambda one: of_encoder(one.text), inputs):
        read = drawn.references.sources(places[title]) if drawn.references else ()
        if any(one.overlaps(place) for one in read for place in places.values()):
            given = {t: one for t, one in given.items() if t != title}
    encoded = [one for one in inputs if of_encoder(one.text)]
    encoded = encoded or [one for one in inputs if crosses and _SOURCE.search(one.text)]
    found = {t for t, (frame, _) in given.items() if frame.step in MEMORIES}
    found |= {*encoded} if len(inputs) - len(encoded) == len(encoded) == 1 else set()
    return {
        title: (replace(frame, step=steps.MEMORY.symbol) if title in found else frame, table)
        for title, (frame, table) in given.items()
    }


def _tells_cross(title: Title) -> bool:
    """Whether a title tells that one sentence looks at another: `Cross-attention scores`, `Keys (from
    the encoder)`."""
    told = r"\bcross\b|\b(?:en|de)coder\b|\bsource\b|\btarget\b"
    pattern = told if title.step in PROJECTIONS else r"\bcross\b"
    return bool(re.search(pattern, title.text, re.IGNORECASE))


_SOURCE = re.compile(r"\bencoder\s+(?:inputs?|embeddings?)|\bsource\b", re.IGNORECASE)


def _projected(
    drawn: DrawnBook,
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    asked: WordsIn | None,
    stand_for: Mapping[str, str],
) -> tuple[set[Title], list[Group]]:
    """Sentences whose queries, keys and values are given, or whose scores, and the titles of these."""
    named = {replace(t, step=stand_for[t.step]): t for t in titles if t.step in stand_for}
    given: dict[str, list[tuple[Title, Frame, Table]]] = {step: [] for step in stand_for.values()}
    for sheet in drawn.sheets:
        own = [title for title in named if title.sheet == sheet.name]
        there = tables_given(sheet, pages[sheet.name], own, str(drawn.path))
        for title, (frame, table) in sorted(there.items(), key=lambda one: (one[0].row, one[0].column)):
            if sheet.formulas.keys().isdisjoint(frame.place.cells()):
                given[frame.step].append((named[title], frame, table))
    if len(given) == 2 and not given["W_V"] and not any(one.step == A for one in named.values()):
        del given["W_V"]
    used = {title for some in given.values() for title, _, _ in some}
    if not given["W_Q"] or len({len(some) for some in given.values()}) > 1:
        return set(), []
    groups = [_with_given(dict(zip(given, own)), pages, titles, asked) for own in zip(*given.values())]
    for group in groups if len(groups) > 1 else ():
        group.name += f" {group.input.place.range.partition(':')[0]}"
    return used, groups


def _with_given(
    found: Mapping[str, tuple[Title, Frame, Table]],
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    asked: WordsIn | None,
) -> Group:
    """A sentence of words that have a 1 of their own, with weights that project these to given queries,
    keys and values, or to given scores and values; of scores alone, their softmax."""
    title, frame, table = found["W_Q" if "W_K" in found else [*found][-1]]
    weights = {A: found["W_Q"][2]} if len(found) == 2 else {}
    words, why = direction(pages[title.sheet], table, weights, titles, asked)
    group = Group(title.sheet, replace(frame, step=steps.INPUT.symbol), table, words, why)
    for step, (title, frame, table) in found.items():
        turned = (words == "columns") != title.turned
        group.weights[step] = replace(frame, turned=turned), table.turn() if turned else table
        own = steps.SCORES.symbol if title.step == steps.SCALED.symbol else title.step
        group.frames.append(replace(frame, step=own, turned=turned))
    scores, q = group.weights["W_Q"]
    if len(found) == 1:
        group.input, group.table = replace(scores, step=steps.INPUT.symbol), q
        group.weights, group.frames, group.settings = {}, [], {"model": "softmax"}
        return group
    if found["W_Q"][0].step == A:
        group.frames, (values, v) = [], group.weights.pop("W_V")
        group.weights = {A: (scores, replace(q, name=A))}
        group.input, group.table = replace(values, step=steps.INPUT.symbol), v
        if q.rows != v.rows:
            group.weights[steps.MEMORY.symbol] = values, replace(v, name=values.where)
            group.input, group.table = replace(scores, step=steps.INPUT.symbol), one_hot(q, group.name)
        return group
    if len(found) == 2:
        keys = replace(one_hot(group.weights["W_V"][1], "W_K"), columns=q.columns)
        group.weights["W_K"], group.settings = (scores, keys), {"scale": False}
    other, k = group.weights["W_K"]
    group.table, group.known = one_hot(q, group.name), (*group.frames,)
    if q.rows != k.rows:
        group.weights[steps.MEMORY.symbol] = other, one_hot(k, other.where)
    return group


def _repeated(
    drawn: DrawnBook, inputs: Sequence[tuple[Frame, Table]], positions: Sequence[Table]
) -> tuple[dict[Frame, tuple[Place, str, bool]], list[Frame]]:
    """The inputs that are no sentences: those that repeat another one by formulas or transposed, or add
    positions to it, each with its place, their step, and whether they are transposed; and those in
    which the words of another are looked up."""
    cells = drawn.references.cells if drawn.references else {}
    computed = {
        frame.place
        for frame, _ in inputs
        if cells.get(frame.place.sheet, {}).keys() >= {*frame.place.cells()}
    }
    found: dict[Frame, tuple[Place, str, bool]] = {}
    tables = []
    for (n, (own, table)), (m, (other, like)) in permutations(enumerate(inputs), 2):
        if other.place in computed:
            continue
        equal, turned = (
            np.array_equal(table.values, values) for values in (like.values, like.values.T)
        )
        if own.place not in computed:
            equal, turned = False, turned and not equal and n > m
        elif any(
            np.allclose(table.values, like.values + one.values)
            for one in positions
            if {table.shape, like.shape} == {one.shape}
        ):
            found.setdefault(own, (other.place, steps.EMBEDDED.symbol, False))
        elif looked_up(table, like):
            tables.append(other)
        if equal or turned:
            found.setdefault(own, (other.place, steps.INPUT.symbol, not equal))
    return found, tables


def _wrong_copies(drawn: DrawnBook, inputs: Sequence[tuple[Frame, Table]]) -> list[Frame]:
    """The inputs that formulas repeat from another one, or from its transpose, with a mistake."""
    cells = drawn.references.cells if drawn.references else {}
    found = []
    for (own, table), (other, like) in permutations(inputs, 2):
        formulas = cells.get(own.place.sheet, {}).keys() & {*own.place.cells()}
        if len(formulas) <= MOSTLY * own.place.rows * own.place.columns or other in found:
            continue
        ways = [one for one in (like.values, like.values.T) if one.shape == table.shape]
        equal = max((np.isclose(table.values, one).mean() for one in ways), default=0.0)
        if MOSTLY <= equal < 1:
            found.append(own)
    return found


def _for_an_input(drawn: DrawnBook, pages: Mapping[str, Page], titles: Sequence[Title]) -> str:
    """What to do for an input."""
    for title in (title for title in titles if title.step == steps.INPUT.symbol):
        page = pages[title.sheet]
        for block in page.blocks:
            gaps = (cell for cell in Place("", *block).cells() if cell not in page.numbers)
            if distance(title, *block) is not None and (gap := next(gaps, None)):
                value = page.sheet.values.get(gap)
                held = "is blank" if value is None else f"holds the text {str(value)!r}"
                where = f"{quoted(title.sheet)}!{address(*gap)}"
                return f"{where} {held}, where {title.text!r} needs a number."
    for sheet in drawn.sheets:
        texts = [
            cell for cell, v in sheet.values.items() if isinstance(v, str) and numeral(v) is not None
        ]
        if len(texts) > sum(map(is_number, sheet.values.values())):
            where = f"{quoted(sheet.name)}!{address(*texts[0])}"
            held = f"holds the text {sheet.values[texts[0]]!r}, with which formulas cannot compute"
            return f"{where} {held}. Turn such texts into numbers."
    for title in (title for title in titles if title.step == steps.INPUT.symbol):
        return f"{title.where}: {title.text!r} has no numbers. Type them below or beside it."
    return "Write Input above the numbers of the words, one word per row or per column."


def _unread(made: Assigned, pages: Mapping[str, Page], looked_in: Sequence[Frame]) -> Iterator[str]:
    """The cells of typed numbers that are neither the input nor weights nor steps."""
    read = [frame.place for group in made.groups for frame in (*group.given, *group.frames)]
    read += [frame.place for frame in looked_in]
    for name, page in pages.items():
        for place in (Place(name, *block) for block in page.blocks):
            typed = page.sheet.formulas.keys().isdisjoint(place.cells())
            if place.rows * place.columns > 1 and typed and not _meets_one(place, read):
                yield place.where


def _check_gaps(file: str, made: Assigned, pages: Mapping[str, Page]) -> None:
    """Raise an InputError if the words of a sentence stand beside each other, one vector each."""
    for place in (group.input.place for group in made.groups if len(group.table.rows) == 1):
        blocks = (Place(place.sheet, *block) for block in pages[place.sheet].blocks)
        alike = (one for one in blocks if (one.row, one.rows) == (place.row, place.rows))
        for one in (one for one in alike if one.columns == place.columns and one.where in made.unread):
            raise InputError(
                f"{file}: {one.where} and {place.where} may be two words of a sentence. Put them below "
                "each other, one word per row, without blank lines between."
            )


def _unnamed(
    made: Assigned, pages: Mapping[str, Page], called: Mapping[str, str], *, computed: bool = False
) -> Iterator[tuple[Place, Title]]:
    """Blank frames, or what is `computed`, each below a text that brings no matrix there: it names a
    step, or they are as large as a matrix."""
    taken = [frame.place for group in made.groups for frame in (*group.given, *group.frames)]
    labels = {text for group in made.groups for text in (*group.table.rows, *group.table.columns)}
    shapes = {node.shape for graph in made.graphs for node in graph.values() if min(node.shape) > 1}
    shapes |= {(size, 1) for shape in shapes for size in shape}
    shapes |= {shape[::-1] for shape in shapes}
    said = "\n".join(made.left)
    for name, page in pages.items():
        blanks = (*page.blanks, *_between(page, made.groups))
        for row, column, rows, columns in dict.fromkeys(page.blocks if computed else blanks):
            place = Place(name, row, column, rows, columns)
            if _meets_one(place, taken):
                continue
            first = 2 if page.labels(row - 1, column, 1, columns) else 1
            away = [*every(range(first, 5), (0, 1)), *every((0, 1), range(1, 4))]
            near = [(row - n, column - m) for n, m in sorted(away, key=sum)]
            if min(rows, columns) > 1:
                near += [*every((row, row + 1), range(column + columns, column + columns + 3))]
            values = ((cell, page.sheet.values.get(cell)) for cell in near)
            texts = ((c, v) for c, v in values if isinstance(v, str) and not isinstance(v, ErrorValue))
            told = ((cell, clean(text)) for cell, text in texts if text not in ARROWS)
            texts_near = [one for one in told if one[1] not in labels]
            for cell, text in sorted(texts_near, key=lambda one: not step_told(one[1]))[:1]:
                names = (rows, columns) in shapes or step_called(text, called)
                if names and repr(text) not in said:
                    yield place, Title(name, *cell, cell[1], text, "")


def _between(page: Page, groups: Sequence[Group]) -> Iterator[Box]:
    """The blank rectangles between words or dimensions of a sentence, with borders or without."""
    for group in groups:
        sides = group.table.rows, group.table.columns
        for left, above in every(sides, sides):
            for row, column in page.where.get(left[0].casefold(), ()):
                box = row, column + 1, len(left), len(above)
                if (
                    page.labels(row, column, len(left), 1) == left
                    and page.labels(row - 1, column + 1, 1, len(above)) == above
                    and not (page.texts(*box) or page.filled(*box))
                ):
                    yield box


def _asked(made: Assigned, pages: Mapping[str, Page], called: Mapping[str, str]) -> Iterator[str]:
    """What is to be said of the blank frames whose text brings no matrix there, in words."""
    shown = {frame.step for group in made.groups for frame in group.frames}
    open_steps = [
        (name, {node.shape, node.shape[::-1]})
        for graph in made.graphs
        for name, node in [*graph.items()][::-1]
        if name not in shown and node.operation is not None and "." not in name
    ]
    told_of: set[Title] = set()
    for place, title in _unnamed(made, pages, called):
        named, name = step_called(title.text, called), title.text.partition("=")[0].strip()
        fitting = (step for step, shapes in open_steps if (place.rows, place.columns) in shapes)
        told = step_told(title.text)
        guess = told if told and told not in shown else next(fitting, "STEP")
        what = f'names no step. Say which: --call "{name}={guess}"'
        if named is None and 1 in (place.rows, place.columns):
            continue
        if named is not None:
            means = {one for graph in made.graphs for one in _in_layers(graph, named[0])}
            at, looks = (title.row, title.column), pages[place.sheet].sheet.looks
            beside = (place.row, place.column - 1) == at and place.rows == 1
            if beside and looks.frames(at) and means & shown:
                continue  # the line below a title, or its fill
            why = "has another place" if means else "the model does not compute"
            what = f"names {named[0]}, which {why}"
        if title not in told_of:
            yield f"{place.where}: is blank, and {title.text!r} {what}."
        told_of.add(title)


def _beyond(made: Assigned, pages: Mapping[str, Page], called: Mapping[str, str]) -> Iterator[str]:
    """Words of a frame that the sentence lacks: the matrix ends before a labelled blank cell; and what
    is left of a frame that is drawn larger than its matrix."""
    taken = [frame.place for group in made.groups for frame in (*group.given, *group.frames)]
    for frame in (frame for group in made.groups for frame in group.frames):
        place, page = frame.place, pages[frame.place.sheet]
        rest = _rest(page, place)
        if rest is not None and not any(map(rest.overlaps, taken)):
            size = f"{place.rows} x {place.columns} cells of {frame.step}"
            yield f"{rest.where}: is blank; the frame is larger than the {size}."
            continue
        row, column = place.last_row + 1, place.column
        label = row, column - 1
        if frame.turned:
            row, column = place.row, place.last_column + 1
            label = row - 1, column
        cell, text = Place(place.sheet, row, column, 1, 1), page.sheet.values.get(label)
        if not isinstance(text, str) or page.heads_sum(*label) or step_called(text, called):
            continue
        blank = page.framed(row, column, 1, 1) and not page.filled(row, column, 1, 1)
        if blank and not _meets_one(cell, taken):
            where = f"{quoted(place.sheet)}!{address(row, column)}"
            yield (
                f"{where}: is blank; {clean(text)!r} is no word of the sentence, whose {frame.step} "
                "ends before it."
            )


def _rest(page: Page, place: Place) -> Place | None:
    """What a frame has right of or below the place of its matrix, unless a text heads it."""
    rows, columns = page.blank_from.get((place.row, place.column), (place.rows, place.columns))
    if columns > place.columns:
        rest = Place(place.sheet, place.row, place.last_column + 1, rows, columns - place.columns)
        heads = rest.row - 1, rest.column, 1, rest.columns
    elif rows > place.rows:
        rest = Place(place.sheet, place.last_row + 1, place.column, rows - place.rows, columns)
        heads = rest.row, rest.column - 1, rest.rows, 1
    else:
        return None
    return None if page.texts(*heads) else rest


def plain_exponentials(group: Group) -> dict[str, Any]:
    """The setting for an author who shows e^x itself, without the maximum of the row; {} for others."""
    shown = {frame.step.rpartition(".")[2] for frame in group.frames}
    plain = steps.EXPONENTIALS.symbol in shown and steps.MAXIMUM.symbol not in shown
    return {"max": False} if plain else {}


def _computed(drawn: DrawnBook, group: Group, compute: Compute, implied: Mapping[str, Any]) -> Graph:
    """The matrices of a sentence, whose weights take their names: W_O may be W_o, of an output gate."""
    weights = {name: table for name, (_, table) in group.weights.items()}
    sentences, memory = {group.name: group.table}, weights.pop(steps.MEMORY.symbol, None)
    if memory is not None:
        sentences[memory.name] = memory
        implied = {**implied, "memory": memory.name}
    if steps.W_P.symbol in weights:
        implied = {**implied, "positions": "learned"}
    if A in weights:
        implied = {**implied, "attention": A}
    graph = as_shown(compute(Tables(drawn.path, sentences, weights), {**implied, **group.settings}))
    names = {name.casefold(): name for name in graph}
    group.weights = {names.get(name.casefold(), name): own for name, own in group.weights.items()}
    looks_alone = memory is not None and len(group.table.rows) == 1
    return _with_weighted_values(graph) if looks_alone else graph


_TOTAL = ".Total"
"""What the name of the sum of a row of attention weights adds to theirs."""
_OF_FIRST_HEAD = re.compile(r"((?:.*\.)?)([QKV])_1")


def as_shown(graph: Graph) -> Graph:
    """The matrices, and what authors show besides: the sums (n, 1) of the rows of attention weights
    (n, m), as a check; the queries, keys and values of all heads side by side."""
    shown = [
        row_sum(node).named(name + _TOTAL, "the sum of each row")
        for name, node in graph.items()
        if node.role == "attention"
    ]
    for own in filter(None, map(_OF_FIRST_HEAD.fullmatch, graph)):
        first, name, weights = graph[own[0]], own[1] + own[2], graph.get(f"{own[1]}W_{own[2]}")
        if weights is None or name in graph or not isinstance(first.operation, Product):
            continue
        if first.shape[1] < weights.shape[1]:
            shown.append((first.parents[0] @ weights).named(name, first.note))
    return Graph(*graph.values(), *shown)


def _looking_at_each_other(
    groups: list[Group], pages: Mapping[str, Page], titles: Sequence[Title]
) -> list[Group]:
    """The sentences, without those that another one looks at, which keeps them among its weights: a
    frame of scores or attention weights whose labels are the words of one and of the other says so."""
    seen: set[Place] = set()
    found: set[int] = set()
    pairs = sorted(permutations(groups, 2), key=lambda two: _apart(*(one.input.place for one in two)))
    taken = [group.input.place for group in groups]
    for title in (title for title in titles if title.step in ACROSS and title.place is None):
        near = min(groups, key=lambda group: group.away(title))
        for own, other in pairs:
            there = near in (own, other) and id(own) not in found
            if there and _is_across(pages[title.sheet], title, own, other, taken):
                seen.add(other.input.place)
                found.add(id(own))
                own.weights[steps.MEMORY.symbol] = (
                    other.input,
                    replace(other.table, name=other.input.where),
                )
                _orient_weights(own)
                break
    return [group for group in groups if group.input.place not in seen]


def _is_across(page: Page, title: Title, own: Group, other: Group, taken: Sequence[Place]) -> bool:
    """Whether a title has a place whose labels are the words of one sentence and of another, or whose
    borders have a row for each of the ones and a column for each of the others."""
    shape, turned = Shape(own.table.rows, other.table.rows), own.words_in == "columns"
    if shape.rows == shape.columns:
        return False
    for one in candidates(page, title, shape, turned, taken)[:1]:
        (left, _), (above, _) = labels_of(page, one.place)
        row, column, rows, columns = box(one.place)
        # The words of one sentence may begin like those of the other.
        go_on = page.texts(row + rows, column - 1, 1, 1) + page.texts(row - 1, column + columns, 1, 1)
        same = Shape(left, above) == (shape.turn() if turned else shape)
        if not (left or above) and len(shape.rows) != len(shape.columns):
            same = "borders" in one.signs
        return not go_on and one.turned == turned and same
    return False


def _apart(one: Place, other: Place) -> float:
    """How far two inputs are from each other."""
    away = abs(one.row - other.row) + abs(one.column - other.column)
    return away if one.sheet == other.sheet else ELSEWHERE


def _with_single_words(
    made: Assigned,
    drawn: DrawnBook,
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    compute: Compute,
) -> Assigned:
    """The attention of single words, which texts name (`Attention for "cat"`) or titles count
    (`attn_scores_2`) and which look at all words of their sentence, where the frames rather fit that
    than the attention of all, or besides."""
    counted = _counted_words(made, titles)
    titles = [counted.get(title, (0, title))[1] for title in titles]
    asked = _asked_about(made, pages, counted)
    if not asked:
        return made
    alone = Assigned([query for query, _ in asked], labels=made.labels)
    try:
        alone.graphs = [_computed(drawn, query, compute, {}) for query in alone.groups]
    except AttnXlError:  # a model without attention
        return made
    words = {query.table.rows[0].casefold() for query in alone.groups}
    output = steps.OUTPUT.symbol
    of_all = {title for title in made.done if title.step in PROJECTIONS}
    titles = [one for one in titles if one not in of_all]
    own = [one for one in titles if one.step == output or spoken_of(one.text) not in words]
    _assign(alone, pages, own)
    whole = made
    if alone.score > made.score:
        made = Assigned(labels=made.labels, done=of_all)
        for group, graph in zip(whole.groups, whole.graphs):
            if len(frames := [*_projections(group)]) > len(group.known):
                group.frames = frames
                made.groups.append(group)
                made.graphs.append(Graph(*(graph[frame.step] for frame in frames)))
        if not made.groups:
            return alone
    for query, heading in asked:
        query.frames, query.heading = [*query.known], heading
    both = Assigned([*made.groups, *alone.groups], [*made.graphs, *alone.graphs], labels=made.labels)
    _assign(both, pages, [title for title in titles if title not in made.done], copies=False)
    shown = [
        n
        for n, group in enumerate(both.groups)
        if len(group.frames) > len(group.known) or n < len(made.groups)
    ]
    both.groups, both.graphs = [both.groups[n] for n in shown], [both.graphs[n] for n in shown]
    return both if len(shown) > len(made.groups) else whole


def _projections(group: Group) -> Iterator[Frame]:
    """The frames of its queries, keys and values, and those that are known."""
    return (one for one in group.frames if one in group.known or one.step in PROJECTIONS)


def _with_weighted_values(graph: Graph) -> Graph:
    """The matrices of one word that looks at others, and what their sum consists of: V times its
    attention weights, (m, d_v)."""
    output = graph.get(steps.OUTPUT.symbol)
    if output is None or not isinstance(output.operation, Product):
        return graph
    weights, values = output.parents
    return Graph(*graph.values(), (values * weights.T).as_step(steps.WEIGHTED_VALUES))


def _counted_words(made: Assigned, titles: Sequence[Title]) -> dict[Title, tuple[int, Title]]:
    """The titles of steps of one word of the only sentence (`query_2`, `attn_scores_2`) with its number
    from 0, and what they are without it; {} if they count several words, or heads or layers."""
    names = {name for graph in made.graphs for name in graph}
    parts = {one: one.step.rpartition("_") for one in titles if one.step not in names}
    counted = {one: (int(n) - 1, replace(one, step=base)) for one, (base, _, n) in parts.items()
               if base in names and n.isdecimal() and not _HEAD.search(one.text)}  # fmt: skip
    numbers = {n for n, _ in counted.values()}
    words = [range(len(group.table.rows)) for group in made.groups]
    return counted if len(words) == len(numbers) == 1 and numbers <= {*words[0]} else {}


def _asked_about(
    made: Assigned, pages: Mapping[str, Page], counted: Mapping[Title, tuple[int, Title]]
) -> list[tuple[Group, Place]]:
    """The words that texts name or titles count, each as a sentence of its own, with the cell that
    tells it; [] unless each sentence has some."""
    labels = _words(pages, made.groups)
    texts = [Title(name, *at, at[1], text, "") for name, page in pages.items()
             for at, text in page.sheet.values.items()
             if isinstance(text, str) and spoken_of(text) and (name, *at) not in labels]  # fmt: skip
    asked = []
    for number, group in enumerate(made.groups):
        near = {spoken_of(one.text): one for one in texts[::-1] if _nearest(made, one) == number}
        words = [word.casefold() for word in group.table.rows]
        numbers = [words.index(word) for word in near if words.count(word) == 1]
        for title, (n, _) in counted.items():
            numbers, near[words[n]] = [n], title
        if not 0 < len(numbers) <= MOST_ASKED or steps.MEMORY.symbol in group.weights:
            return []
        for n in numbers:
            query, above = _one_word(group, n), near[words[n]]
            heading = Place(above.sheet, above.row, above.column, 1, 1)
            if len(numbers) > 1:
                query.name, query.heading = f"{group.name} {words[n]}", heading
            asked.append((query, heading))
    return asked


def _one_word(group: Group, number: int) -> Group:
    """A word of a sentence, by its number from 0, that looks at all of them."""
    row = _row_of(group.input, number)
    memory = group.input, replace(group.table, name=group.input.where)
    known = (
        frame if frame.step in (steps.KEYS.symbol, steps.VALUES.symbol) else _row_of(frame, number)
        for frame in _projections(group)
        if frame.step != steps.INPUT.symbol
    )
    query = replace(
        group,
        input=row,
        table=group.table.part(slice(number, number + 1), slice(None)),
        weights={**group.weights, steps.MEMORY.symbol: memory},
        known=tuple(known),
    )
    query.frames = [*query.known]
    return query


def _row_of(frame: Frame, number: int) -> Frame:
    """The part of a frame for one word."""
    down, across = (0, number) if frame.turned else (number, 0)
    place = shifted(frame.place, down, across)
    rows, columns = (place.rows, 1) if frame.turned else (1, place.columns)
    return replace(frame, place=replace(place, rows=rows, columns=columns))


def _order(drawn: DrawnBook, place: Place) -> tuple[int, int, int]:
    names = [sheet.name for sheet in drawn.sheets]
    return names.index(place.sheet), place.row, place.column


def _nearest(made: Assigned, title: Title) -> int:
    """The number of the sentence whose input is nearest to a title."""
    return min(range(len(made.groups)), key=lambda n: made.groups[n].away(title))


def _of_layers(
    titles: Sequence[Title], weights: Mapping[Title, tuple[Frame, Table]], pages: Mapping[str, Page]
) -> tuple[list[Title], dict[Title, tuple[Frame, Table]]]:
    """The titles and the weights with their place in the model, `Dec1.Self.W_Q`, where headings tell
    several W_Q apart."""
    headings = headings_of({name: page.where for name, page in pages.items()})
    parts = {(name, *one[:2]) for name, found in headings.items() for one in found if one[4]}
    titles = [t for t in titles if t.place or (t.sheet, t.row, t.column) not in parts]
    named = [t for t in (*titles, *weights) if t.place is None and t.sheet in headings]
    paths = ((t, path_at(t.row, t.column, t.step, headings[t.sheet])) for t in named)
    renamed = {title: replace(title, step=f"{path}{title.step}") for title, path in paths if path}
    return _renamed(renamed, titles, weights)


def _renamed(
    renamed: Mapping[Title, Title],
    titles: Sequence[Title],
    weights: Mapping[Title, tuple[Frame, Table]],
) -> tuple[list[Title], dict[Title, tuple[Frame, Table]]]:
    """The titles and the weights, some with another step."""
    return [renamed.get(title, title) for title in titles], {
        renamed.get(title, title): (
            replace(one, step=renamed[title].step) if title in renamed else one,
            table,
        )
        for title, (one, table) in weights.items()
    }


_HEAD = re.compile(r"(?<!-)\bhead", re.IGNORECASE)


def _counted(text: str) -> str:
    """The number of a sentence in a title or in what names a frame: `2` of `Scores 2`, `B` of `Scores,
    sentence B`; none of a head."""
    number = None if _HEAD.search(text) else re.search(r"(?<![\d.])(\d{1,2})\W*$", text)
    return sentence_of(text) or (number[1] if number else "")


def _of_sentences(
    titles: Sequence[Title],
    weights: Mapping[Title, tuple[Frame, Table]],
    inputs: Sequence[tuple[Frame, Table]],
) -> tuple[list[Title], dict[Title, tuple[Frame, Table]]]:
    """The titles and the masks without the numbers of their sentences: `Scores 2`, where there are
    `Input 1` and `Input 2`, unless W_Q, W_K and W_V are numbered as heads are."""
    numbers = {number for frame, _ in inputs if (number := _counted(frame.by))}
    if len(numbers) < 2 or any(
        re.fullmatch(r"W_[QKV]_\d+", frame.step) for frame, _ in weights.values()
    ):
        return [*titles], {**weights}
    ends = re.compile(rf"(?<=\w\w)_({'|'.join(numbers)})$")  # W_1 is of a network
    counted = (title for title in (*titles, *weights) if _counted(title.text))
    return _renamed({t: replace(t, step=ends.sub("", t.step)) for t in counted}, titles, weights)


_HEADING_OF_HEAD = re.compile(r"(?:(?:self[\s-]*)?attention )?head ?[#_]?(\d{1,2}):?")


def _under_heads(
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    weights: Mapping[Title, tuple[Frame, Table]],
) -> tuple[list[Title], dict[Title, tuple[Frame, Table]]]:
    """The titles and the weights with the numbers of the headings `Head 1` and `Head 2` above them, if
    these have the same steps below; what follows the heads is none of one head."""
    renamed: dict[Title, Title] = {}
    for name, page in pages.items():
        told = ((_HEADING_OF_HEAD.fullmatch(text), cells) for text, cells in page.where.items())
        heads = {cell: number[1] for number, cells in told if number for cell in cells}
        own = [one for one in (*titles, *weights) if one.sheet == name and one.place is None]
        ends = [one.row for one in own if one.step in (steps.CONCAT.symbol, steps.W_O.symbol)]
        found: dict[Title, Title] = {}
        for title in own:
            above = [cell for cell in heads if cell[0] < title.row and cell[1] <= title.column + 2]
            of_head = title.step.partition(".")[0] in OF_HEADS or title.step[2:] in ("Q", "K", "V")
            if not (above and of_head):
                continue
            own_heading = max(above, key=lambda cell: cell[::-1])  # rather right of others than below
            if not any(own_heading[0] < row <= title.row for row in ends):
                found[title] = replace(title, step=f"{title.step}_{heads[own_heading]}")
        if len({one.step for one in found.values()}) > len({one.step for one in found}):
            renamed |= found
            titles = [one for one in titles if one.sheet != name or (one.row, one.column) not in heads]
    return _renamed(renamed, titles, weights)


def _of_heads(
    titles: Sequence[Title],
    weights: Mapping[Title, tuple[Frame, Table]],
    inputs: Sequence[tuple[Frame, Table]],
) -> tuple[list[Title], dict[Title, tuple[Frame, Table]]]:
    """The titles and the weights with the numbers of their heads, where a sentence has the same
    queries, keys and values beside it several times."""
    renamed: dict[Title, Title] = {}
    places = [frame.place for frame, _ in inputs]

    def input_of(title: Title) -> Place:
        return min(places, key=lambda place: cost(title, place))

    for place in places:
        starts = [
            [one for one in weights if one.step == step.symbol and input_of(one) == place]
            for step in (steps.W_Q, steps.W_K, steps.W_V)
        ]
        there = all(one.sheet == place.sheet for one in starts[0])
        if not there or len(starts[0]) < 2 or len({len(one) for one in starts}) > 1:
            continue
        first = sorted(starts[0], key=lambda title: (title.row, title.column))
        down = first[0].row != first[-1].row
        below = [one.row for one in weights if one.step == steps.W_O.symbol and not down]
        for title in titles:
            if title.sheet != place.sheet or title.place is not None or title.step[-1].isdigit():
                continue
            if input_of(title) != place or any(first[-1].row < row <= title.row for row in below):
                continue
            at = title.row if down else title.column
            before = [
                n for n, one in enumerate(first, 1) if (one.row if down else one.column) <= at + 1
            ]
            if before and title.step not in (steps.W_O.symbol, steps.INPUT.symbol):
                renamed[title] = replace(title, step=f"{title.step}_{before[-1]}")
    return _renamed(renamed, titles, weights)


def _untitled_inputs(
    inputs: Sequence[tuple[Frame, Table]],
    untitled: Sequence[tuple[Frame, Table]],
    given: Iterable[tuple[Frame, Table]],
) -> list[tuple[Frame, Table]]:
    """The tables without a title that are inputs: those beside or below a titled one that are as large;
    without any titled one, every labelled table, the one that fits the weights, or the only one."""
    untitled = [one for one in untitled if any(one[1].labelled) or not inputs]
    if not inputs:
        widths = {
            size for frame, table in given for size in table.shape if frame.step == steps.W_Q.symbol
        }
        labelled = [one for one in untitled if all(one[1].labelled)]
        fitting = [one for one in untitled if widths & {*one[1].shape}]
        matrices = [one for one in untitled if min(one[1].shape) > 1]
        return labelled or next((some for some in (fitting, matrices) if len(some) == 1), [])
    return [
        (frame, table)
        for frame, table in untitled
        if any(
            (frame.place.sheet == own.place.sheet)
            and (table.shape == like.shape or table.rows == like.rows or table.columns == like.columns)
            and table.labelled == like.labelled
            and not (all(table.labelled) and table.rows == table.columns)  # of scores
            and (frame.place.row == own.place.row or frame.place.column == own.place.column)
            for own, like in inputs
        )
    ]


def _squares(pages: Mapping[str, Page], words: tuple[str, ...]) -> int:
    """How many squares that are blank or computed have these words on their sides, or nothing."""
    size, found = len(words), 0
    for page in pages.values():
        typed = page.numbers - page.sheet.formulas.keys()
        for row, column, *shape in {*page.blanks, *page.labelled, *page.blocks}:
            place = Place("", row, column, size, size)
            if shape == [size, size] and typed.isdisjoint(place.cells()):
                labels = page.labels(row, column - 1, size, 1), page.labels(row - 1, column, 1, size)
                found += {*labels} <= {(), words}
    return found


def _group(
    drawn: DrawnBook,
    pages: Mapping[str, Page],
    frame: Frame,
    table: Table,
    weights: Mapping[Title, tuple[Frame, Table]],
    inputs: Sequence[Place],
    near: Sequence[Title],
    asked: WordsIn | None,
) -> Group:
    """A sentence with the weights that stand nearest to it; `inputs` are the places of all sentences,
    `near` the titles that no other is nearer to."""
    place = frame.place

    def apart(title: Title) -> tuple[bool, float]:  # rather near it than near another sentence
        others = (cost(title, one) for one in inputs if one != place)
        numbered = _counted(title.text) not in ("", _counted(frame.by))
        return numbered, cost(title, place) - min(others, default=0)

    nearest: dict[str, Title] = {}
    for title in weights:
        step = weights[title][0].step
        if step not in nearest or apart(title) < apart(nearest[step]):
            nearest[step] = title
    own = {step: weights[title] for step, title in nearest.items()}
    if len(inputs) > 1:  # the mask of another sentence, if it is not as large
        fits = {*table.shape}
        masks = [step for step, (_, one) in own.items() if step.startswith(steps.MASK.symbol)]
        for step in (step for step in masks if fits.isdisjoint(own[step][1].shape)):
            del own[step]
    plain = {step: one for step, (_, one) in own.items()}
    words, why = direction(pages[place.sheet], table, plain, near, asked)
    if why == BY_DEFAULT:
        down, across = (_squares(pages, words) for words in (table.rows, table.columns))
        if across > down:
            words, why = "columns", "the blank frames have a row and a column for each of its columns"
    read, turned = oriented(table, steps.INPUT.symbol, words, ())
    several = sum(one.sheet == place.sheet for one in inputs) > 1
    name = f"{place.sheet} {place.range.partition(':')[0]}" if several else place.sheet
    group = Group(name, replace(frame, turned=turned), read, words, why)
    if memory := own.pop(steps.MEMORY.symbol, None):
        seen, flipped = oriented(memory[1], steps.INPUT.symbol, words, ())
        own[steps.MEMORY.symbol] = replace(memory[0], turned=flipped), seen
    group.weights = own
    _orient_weights(group)
    return group


def _orient_weights(group: Group) -> None:
    """Read the weights of a sentence for words in rows; those of keys and values have a row for each
    dimension of what it looks at."""
    seen = group.weights.get(steps.MEMORY.symbol, (group.input, group.table))[1]
    for step, (frame, table) in group.weights.items():
        if step == steps.MEMORY.symbol:
            continue
        dims = seen.columns if step in ("W_K", "W_V") else group.table.columns
        table = table.turn() if frame.turned else table
        table, turned = oriented(table, step, group.words_in, dims)
        if step in ("W_Q", "W_K", "W_V") and not table.labelled[0] and len(table.rows) == len(dims):
            table = replace(table, rows=dims)
        group.weights[step] = replace(frame, turned=turned), replace(table, name=step)


@dataclass(frozen=True)
class Offer:
    """A place that a title may give to a matrix of a sentence; the better one has the lower rank."""

    rank: tuple[float, float, int]
    title: Title
    group: int
    candidate: Candidate
    step: str


def _assign(
    made: Assigned, pages: Mapping[str, Page], titles: Sequence[Title], *, copies: bool = True
) -> None:
    """Give each title the place near it that has most evidence: first to each matrix one place, then to
    further titles of a matrix a place for a copy."""
    given = [frame.place for group in made.groups for frame in group.given]
    taken = [*given, *(frame.place for group in made.groups for frame in group.frames)]
    words = _words(pages, made.groups)
    titles = [one for one in titles if one.place or (one.sheet, one.row, one.column) not in words]
    titles = [one for one in titles if one.place or not any(_labels(place, one) for place in given)]
    titles = [one for one in titles if not _has_total(pages[one.sheet], one)]
    titles = [_as_computed(title, made.graphs, titles) for title in titles]
    titles = [
        one for one in titles if one.place or not _heads_sums(made, pages[one.sheet], one, titles)
    ]
    titles = _at_the_end(_in_reading_order(titles, made.graphs[0]), made.graphs[0])
    titles = _around_w_o(titles, made, pages)
    headless = _of_missing_heads(made, titles)
    placed = [title for title in titles if title not in headless]
    offers = sorted(_offers(made, pages, placed, taken), key=lambda offer: offer.rank)
    contents = _contents(titles)
    done = made.done
    for again in (False, True)[: 1 + copies]:
        for offer in offers:
            group, one, step = made.groups[offer.group], offer.candidate, offer.step
            has = step == steps.INPUT.symbol or any(frame.step == step for frame in group.frames)
            if offer.title in done or _meets_one(one.place, taken):
                continue
            if offer.title.place is None and any(_labels(place, offer.title) for place in taken):
                continue
            if not one.signs and offer.title in contents:
                continue
            if has and (not again or one.score < ENOUGH_FOR_A_COPY):
                continue
            if step == steps.INPUT.symbol and one.signs == ("labels",):  # what a row of words heads
                continue
            done.add(offer.title)
            taken.append(one.place)
            if offer.title.step.partition("_")[0] in ACROSS:
                made.score = max(made.score, -offer.rank[0])
            signs = f" and its {', '.join(one.signs)}" if one.signs else " and its size"
            by = offer.title.text if offer.title.place else f"the title {offer.title.text!r}{signs}"
            group.frames.append(Frame(step, one.place, one.turned, by))
    for group, graph in zip(made.groups, made.graphs):
        made.left += _settle_sums(group, graph)
    named: set[tuple[int, str]] = set()
    for title in titles:
        if title in done or (title.place is None and any(_labels(place, title) for place in taken)):
            continue
        if is_heading(title.text):
            continue
        n = _nearest(made, title)
        if len(made.groups) > 1 and _shows(made.groups[n], title.step):
            n = next((m for m, one in enumerate(made.groups) if not _shows(one, title.step)), n)
        group, graph = made.groups[n], made.graphs[n]
        if title.text.startswith("{{"):
            made.unplaced = InputError(
                f"{title.where}: {title.text} has no matrix here. The model has {', '.join(graph)}."
            )
            if made.implied or not (title.step in IMPLIES or _OF_LAYER.match(title.step)):
                raise made.unplaced
        made.missing |= {title.step} - graph.keys()
        known = {frame.step for frame in group.frames} | group.weights.keys()
        known |= {steps.INPUT.symbol, steps.KEY_WIDTH.symbol}
        known |= {step for number, step in named if number == n}
        named.add((n, title.step))
        page = pages[title.sheet]
        listed = title.place is None and page.lists(title.row, title.column)
        ours = title.step in SPELLINGS or title.step in graph or title in headless
        means = [title.step] if title.step in graph else _in_layers(graph, title.step)
        if known.isdisjoint((title.step, *means)) and not listed and ours:
            why = "which the model does not compute"
            if title in headless:
                why = "but heads need W_Q, W_K and W_V"
            if means:
                shape = graph[means[0]].shape
                rows, columns = shape[::-1] if group.words_in == "columns" else shape
                why = f"but no frame of {rows} x {columns} cells is near"
                marks = [text for text, cells in page.where.items() if len(cells) >= rows * columns > 1]
                if marks := [text for text in marks if not re.search(r"\w", text)]:
                    why += f"; cells that hold {marks[0]!r} are not blank: clear them"
            hides = next(filter(_MINUS_INFINITY.fullmatch, page.where), "")
            if title.step == steps.MASK.symbol and hides:
                why = f"but no formula can add the text {hides!r}: type -1E9 in its place"
            made.left.append(f"{title.where}: {title.text!r} names {title.step}, {why}.")


def _in_reading_order(titles: Sequence[Title], graph: Graph) -> list[Title]:
    """Titles as they follow each other: row by row, or column by column if the steps whose titles stand
    once do so. Of two frames titled `Norm` the first is that of the first."""
    named = Counter(title.step for title in titles)
    order = {step: n for n, step in enumerate(graph)}
    means = {t: (_in_layers(graph, t.step) or [t.step])[0] for t in titles if named[t.step] == 1}
    known = {title: order[step] for title, step in means.items() if step in order}

    if _reads_down(known):
        return sorted(titles, key=lambda one: (one.sheet, one.column, one.row))
    return [*titles]


_IN_LAYERS = re.compile(r"(?:Enc|Dec)\d*\.")
_OF_THE_END = re.compile(
    r"(?!.*(?:attention|head))(?:.*\bfinal\b|.*\b(?:encoder|layer|block)\b.*\boutput\b)"
)
"""Titles of the last step of a layer, or of all."""


def _at_the_end(titles: Sequence[Title], graph: Graph) -> list[Title]:
    """Titles in reading order; an output behind the network of a layer is its last step, as is a `Final
    output`, and an `Encoder output` to fill in."""
    found, behind = [], False
    made = [name for name, node in graph.items()
            if not (node.helper or node.operation is None or name.endswith(_TOTAL))]  # fmt: skip
    for title in titles:
        path, base, head = _PARTED.findall(title.step)[0]
        told, output = title.text.casefold(), base == steps.OUTPUT.symbol and not head
        own = [name for name in made if _IN_LAYERS.match(name) and name.startswith(path)]
        if base == steps.INPUT.symbol and "output" in told:
            title = replace(title, step=(own or made)[-1])
        elif own and output and title.place is None and (behind or _OF_THE_END.match(told)):
            title = replace(title, step=own[-1])
        behind = base in OF_NETWORK or (behind and base not in (*ACROSS, *PROJECTIONS))
        found.append(title)
    return found


def _reads_down(known: Mapping[Any, int]) -> bool:
    """Whether what stands on a sheet in a known order follows each other column by column, rather than
    row by row."""

    def falls(*sides: str) -> int:
        read = sorted(known, key=attrgetter("sheet", *sides))
        return sum(known[a] > known[b] for a, b in pairwise(read))

    return falls("column", "row") < falls("row", "column")


def _around_w_o(titles: Sequence[Title], made: Assigned, pages: Mapping[str, Page]) -> list[Title]:
    """Titles, those of outputs with their place: where one head has W_O, of two such titles in a layer
    the first is before it, and so is a product with the values, in the title or in the numbers there;
    any other single one is behind it."""
    found: dict[tuple[int, str], list[Title]] = {}
    for title in titles:
        path, base, head = _PARTED.findall(title.step)[0]
        if base in (steps.OUTPUT.symbol, steps.ATTENTION.symbol) and not head and title.place is None:
            found.setdefault((_nearest(made, title), path), []).append(title)
    named: dict[Title, str] = {}
    for (n, path), several in found.items():
        graph, own, end = made.graphs[n], path + _OF_ONE_HEAD, path + steps.ATTENTION.symbol
        before, behind = (_in_layers(graph, step) for step in (own, end))
        if not behind:
            end = path + steps.OUTPUT.symbol
            behind = _in_layers(graph, end)
        each, rest = divmod(len(several), len(before)) if before else (0, 0)
        shapes = {graph[one].shape for one in (*before, *behind)}
        if rest or each not in (1, 2) or len(before) != len(behind) or len(shapes) > 1:
            continue
        for number, title in enumerate(several):
            first = number % 2 == 0
            if each == 1:
                product = graph[before[number]].values
                first = bool(_OF_VALUES.search(title.text)) or _holds(
                    pages[title.sheet], title, product
                )
            named[title] = own if first else end
    return [replace(one, step=named[one]) if one in named else one for one in titles]


def _holds(page: Page, title: Title, values: np.ndarray, share: float = 1) -> bool:
    """Whether the numbers near a title, or this share of them, are those of a matrix, or of its
    transpose."""
    for block in page.blocks:
        if distance(title, *block) is not None and block[2:] in (values.shape, values.shape[::-1]):
            _, there = values_in(page.sheet, Place(title.sheet, *block), block[2:] != values.shape)
            ways = [one for one in (there, there.T) if one.shape == values.shape]
            if any(np.isclose(one, values).mean() >= share for one in ways):
                return True
    return False


_OF_ONE_HEAD = f"{steps.OUTPUT.symbol}_1"
_OF_VALUES = re.compile(r"\b(?:v|values)\b|(?<!-)\bhead\b", re.IGNORECASE)
"""The product with the values, or the output of a head; not `Multi-head output`."""


def _of_missing_heads(made: Assigned, titles: Sequence[Title]) -> set[Title]:
    """The titles of several heads, `Scores, head 1` and `Scores, head 2`, where a model has none."""
    numbers: dict[str, set[str]] = {}
    for title in titles:
        base, _, number = title.step.rpartition("_")
        numbers.setdefault(base if number.isdecimal() else "", set()).add(number)
    several = {base for base, found in numbers.items() if base in OF_HEADS and len(found) > 1}
    if len(made.groups) > 1 or any(_in_layers(made.graphs[0], f"{base}_1") for base in several):
        return set()
    joined = {steps.CONCAT.symbol} if several else set()
    return {t for t in titles if t.step.rpartition("_")[0] in several or t.step in joined}


def _settle_sums(group: Group, graph: Graph) -> Iterator[str]:
    """Sums and maxima beside another matrix than theirs: a sum beside attention weights is a check of
    these; others stay blank, and this is said."""
    names = {id(node): name for name, node in graph.items()}
    for frame in [one for one in group.frames if one.step.endswith((".Sum", ".Maximum"))]:
        row, column, rows, columns = box(frame.place)
        of = names.get(id(graph[frame.step].parents[0]))
        for other in (one for one in group.frames if one.place.sheet == frame.place.sheet):
            place = other.place
            beside = (place.row, place.rows) == (row, rows) and 1 <= column - place.last_column <= 2
            below = (place.column, place.columns) == (column, columns) and row == place.last_row + 1
            if (beside or below) and other.step != of and other is not frame:
                total = other.step + _TOTAL
                if total in graph and (below if other.turned else beside):
                    own = replace(frame, step=total, turned=other.turned)
                    group.frames[group.frames.index(frame)] = own
                    break
                group.frames.remove(frame)
                others = f"of {of}, not of {other.step} beside it"
                yield f"{frame.where}: stays blank; {frame.step} is {others}."
                break


_MINUS_INFINITY = re.compile(r"[-−–]\s*(?:inf\w*|∞)", re.IGNORECASE)


def _contents(titles: Sequence[Title]) -> set[Title]:
    """The titles in a list of three or more below each other, such as a table of contents."""
    there = {(title.sheet, title.row, title.column): title for title in titles if title.place is None}
    cells = ([(sheet, row + n, column) for n in range(3)] for sheet, row, column in there)
    return {there[cell] for run in cells if {*run} <= there.keys() for cell in run}


def _heads_sums(made: Assigned, page: Page, title: Title, titles: Sequence[Title]) -> bool:
    """Whether below or beside a title stand formulas of the author's that sum up another matrix than
    its step does: a `Sum` of the weights is a check, not the sum of the exponentials."""
    cells = (title.row + 1, title.column), (title.row, title.last_column + 1)
    cell = next((one for one in cells if one in page.sums), None)
    if cell is None or "EXP(" in page.sheet.formulas[cell].text.upper():
        return False
    areas = page.read_by(cell)
    given = (frame for group in made.groups for frame in group.given)
    read = {frame.step for frame in given if frame.place.overlaps(areas[0])}
    if not read:
        others = [one for one in titles if one != title and one.sheet == title.sheet]
        near = [
            (away, one.step) for one in others if (away := distance(one, *box(areas[0]))) is not None
        ]
        read = {min(near)[1]} if near else set()
    graph = next((graph for graph in made.graphs if title.step in graph), None)
    if graph is None or not read:
        return graph is None
    parents = [*map(id, graph[title.step].parents)]
    return read.isdisjoint(name for name, one in graph.items() if id(one) in parents)


def _has_total(page: Page, title: Title) -> bool:
    """Whether a sum or a maximum is typed right of a title: of points, or of other things."""
    beside = title.row, title.last_column + 1
    typed = beside in page.numbers and beside not in page.sheet.formulas
    return typed and title.place is None and title.step.startswith(OF_ROWS)


def _shows(group: Group, step: str) -> bool:
    return step in group.weights or any(frame.step == step for frame in group.frames)


def _words(pages: Mapping[str, Page], groups: Sequence[Group]) -> set[tuple[str, int, int]]:
    """The cells with the words, or the dimensions, of a sentence in a row or a column."""
    found = set()
    for labels in (labels for group in groups for labels in (group.table.rows, group.table.columns)):
        words = {label.casefold() for label in labels}
        for name, page in pages.items():
            cells = {cell for word in words for cell in page.where.get(word, ())}
            for down, across in ((1, 0), (0, 1)):
                for row, column in cells:
                    if (row - down, column - across) in cells:
                        continue
                    run = []
                    while (row, column) in cells:
                        run.append((name, row, column))
                        row, column = row + down, column + across
                    if len(run) >= len(labels):
                        found.update(run)
    return found


JOINED = {
    steps.OUTPUT.symbol: (
        steps.ATTENTION.symbol, steps.CONCAT.symbol, steps.WEIGHTED_VALUES.symbol
    ),
    steps.CONCAT.symbol: (steps.OUTPUT.symbol,),
    steps.SCORES.symbol: (steps.LOGITS.symbol,),
    steps.SOFTMAX.symbol: (steps.ATTENTION.symbol, steps.PROBABILITIES.symbol),
    "Linear": (steps.HIDDEN.symbol, steps.FEED_FORWARD.symbol, steps.LOGITS.symbol),
    f"{steps.SOFTMAX.symbol}.{steps.SUM.symbol}": (
        steps.EMBEDDED.symbol, steps.SKIP.symbol, steps.OUTPUT.symbol
    ),
}  # fmt: skip
"""What a title of one head names of all of them, which a `Linear` layer may be, and a sum that is none
of exponentials."""
_OF_ROWS = re.compile(r"row|column|exp|total|denominator|normali", re.IGNORECASE)
"""A sum of exponentials, no other."""
OTHERWISE = {
    steps.SOFTMAX.symbol: steps.SHARES.symbol,
    steps.SCORES.symbol: steps.DOT.symbol,
    steps.PROBABILITIES.symbol: steps.SOFTMAX.symbol,
    steps.COSINES.symbol: steps.COSINE.symbol,
    steps.NORM.symbol: steps.MAGNITUDE.symbol,
    steps.OUTPUT.symbol: steps.FEED_FORWARD.symbol,
    steps.ATTENTION.symbol: steps.OUTPUT.symbol,
    steps.NEW_STATE.symbol: steps.CANDIDATE.symbol,
    steps.CANDIDATE.symbol: steps.NEW_STATE.symbol,
}
"""What a title names in a model without the step: attention weights that no softmax makes, dot
products for a cosine, attention weights for probabilities, the cosine of words for that of positions,
the length of vectors for a norm, the result of a network for an output, a candidate for a new state."""


ELSE = {"attention": steps.OUTPUT.symbol, "alignment": steps.SCORES.symbol}
"""What a title means where another one names the step that it names alone."""


def _as_computed(title: Title, graphs: Sequence[Graph], titles: Sequence[Title]) -> Title:
    """A title of a step, or of what the model has in its place; probabilities beside logits are those
    of words; `Attention` beside other weights, without an output, is that."""
    base = title.step.partition("_")[0]
    own = title.text.casefold()
    others = [one for one in titles if one.place is None and one.text.casefold() != own]
    named = {one.step.partition("_")[0] for one in others}
    otherwise = ELSE.get(re.sub(r"^\W*\d*\W*", "", own))
    if otherwise and base in named and otherwise not in named:
        return replace(title, step=title.step.replace(base, otherwise))
    if base == steps.PROBABILITIES.symbol and any(one.step == steps.LOGITS.symbol for one in titles):
        return title
    other = OTHERWISE.get(base, base) + title.step[len(base) :]
    has = [any(step in graph for graph in graphs) for step in (title.step, other)]
    return replace(title, step=other) if has == [False, True] else title


def _heads_named(titles: Iterable[Title], groups: Sequence[Group]) -> dict[str, Any]:
    """The number of heads that titles count, where W_Q has the columns of all of them; {} if none."""
    named = [title.step.rpartition("_") for title in titles]
    numbers = {int(n) for base, _, n in named if base in OF_HEADS and n.isdecimal()}
    heads, given = len(numbers), groups[0].weights.get(steps.W_Q.symbol)
    counted = numbers == {*range(1, heads + 1)} and heads > 1 and len(groups) == 1
    fits = counted and given is not None and len(given[1].columns) % heads == 0
    return {"heads": heads} if fits else {}


_HIDDEN = re.compile(
    r"(?<!without )(?<!no )\b(?:causal|masked|mask(?:ing)?)\b(?!.*padding)", re.IGNORECASE
)


def _hidden(titles: Iterable[Title], graphs: Sequence[Graph]) -> set[str]:
    """The step that hides later words, where titles tell it of attention weights or of outputs, as
    `Masked attention weights` does, and the model has no mask."""
    masked = steps.MASKED.symbol
    told = {t.step.partition("_")[0] for t in titles if _HIDDEN.search(t.text)}
    tells = not told.isdisjoint((steps.SOFTMAX.symbol, steps.OUTPUT.symbol))
    return {masked} if tells and not any(_in_layers(graph, masked) for graph in graphs) else set()


def _left_out(titles: Iterable[Title], graphs: Sequence[Graph]) -> dict[str, Any]:
    """The settings for layers of which titles name the attention and the network, if they have one, but
    no norm between them, or neither a skip connection nor a norm."""
    named = {re.sub(r"_\d+(?=\.|$)", "", _PARTED.findall(one.step)[0][1]) for one in titles}
    sublayers = (ACROSS[-1], A, *JOINED[steps.OUTPUT.symbol], steps.OUTPUT.symbol), OF_NETWORK
    layered = any(_in_layers(graph, steps.SKIP.symbol) for graph in graphs)
    network = any(_in_layers(graph, steps.FEED_FORWARD.symbol) for graph in graphs)
    norms = steps.NORM.symbol, steps.GAMMA.symbol, steps.BETA.symbol
    normed = any(one.startswith(norms) for one in named)
    if not layered or normed or any(named.isdisjoint(one) for one in sublayers[: 1 + network]):
        return {}
    return {"norm": "none"} | ({} if steps.SKIP.symbol in named else {"skip": False})


def _functions(titles: Iterable[Title], graphs: Sequence[Graph]) -> dict[str, Any]:
    """The settings for the functions that titles name and the model has: `GELU`, `RMSNorm`, `Softmax
    (no scaling)`."""
    named = "\n".join(title.text.casefold() for title in titles)
    activations = [one for name, one in ACTIVATIONS.items() if re.search(rf"\b{name}\b", named)]
    told: dict[Step, dict[str, Any]] = {
        steps.NORM: {"norm_type": "rms"} if re.search(r"\brms[\s-]?norm", named) else {},
        steps.SCALED: {"scale": False} if re.search(r"\b(?:without|no) scaling\b", named) else {},
        steps.ACTIVATED: {"activation": activations[0]} if len(activations) == 1 else {},
    }
    has = {one for one in told if any(_in_layers(graph, one.symbol) for graph in graphs)}
    return {name: value for one in has for name, value in told[one].items() if value != "relu"}


def _norm_first(group: Group, graph: Graph) -> dict[str, Any]:
    """The setting for a norm that stands before the queries, keys and values, and no sum before it."""
    own = {_PARTED.sub(r"\2\3", frame.step): frame for frame in group.frames[::-1]
           if "Cross." not in frame.step}  # fmt: skip
    norm, skip = own.get(f"{steps.NORM.symbol}_1"), own.get(f"{steps.SKIP.symbol}_1")
    if norm is None:
        return {}
    beside = {step: frame for step, frame in own.items() if frame.place.sheet == norm.place.sheet}
    projected = [frame for step, frame in beside.items() if step.partition("_")[0] in PROJECTIONS]
    order = {step: n for n, step in enumerate(graph)}
    down = _reads_down({one.place: order[one.step] for one in beside.values() if one is not norm})
    if skip is not None and _precedes(skip.place, norm.place, down):
        return {}
    first = bool(projected) and all(_precedes(norm.place, one.place, down) for one in projected)
    return {"norm": "pre"} if first else {}


def _precedes(one: Place, other: Place, down: bool) -> bool:
    """Whether a place is read before another: it is above it, or left of it in the same rows; the other
    way round if the sheet is read `down`."""
    above = one.last_row < other.row, one.row > other.last_row
    left = one.last_column < other.column, one.column > other.last_column
    first, second = (left, above) if down else (above, left)
    return one.sheet == other.sheet and (first[0] or (second[0] and not first[1]))


def _offers(
    made: Assigned, pages: Mapping[str, Page], titles: Sequence[Title], taken: Sequence[Place]
) -> Iterator[Offer]:
    known = [one for one in titles if any(_in_layers(graph, one.step) for graph in made.graphs)]
    elsewhere: dict[tuple[str, str, frozenset[int]], list[tuple[Title, list[Offer]]]] = {}
    numbers = [_counted(group.input.by) for group in made.groups]
    for number, title in enumerate(titles):
        away = [group.away(title) for group in made.groups]
        order = sorted(range(len(away)), key=lambda n: away[n])
        if (own := title.step[-1:].isalpha() and _counted(title.text)) and numbers.count(own) == 1:
            order = [numbers.index(own)]
        near = [n for n in order if away[n] < ELSEWHERE]
        places = _places(made, pages, title, number, near or order, taken)
        offers = [offer for offer in places if not _is_of_another(offer, titles)]
        offers = [one for one in offers if not _lists_steps(one, known, made.graphs[one.group])]
        boxes = {one: box(one.candidate.place) for one in offers}
        if title.place is None and ends(pages[title.sheet], title, boxes.values()):
            offers = [one for one in offers if may_end(title, *boxes[one])]
        if near or len(order) == 1:
            yield from offers
        elif offers:
            found = [(one.candidate.score, one.group) for one in offers if one.candidate.agrees]
            best = max(found, default=(0.0, 0))[0]
            agreeing = frozenset(group for score, group in found if score == best)
            elsewhere.setdefault((title.sheet, title.step, agreeing), []).append((title, offers))
    for (_, _, agreeing), alike in elsewhere.items():
        yield from _in_order(made, sorted(agreeing) or [*range(len(made.groups))], alike)


def _in_order(
    made: Assigned, groups: Sequence[int], alike: Sequence[tuple[Title, list[Offer]]]
) -> Iterator[Offer]:
    """The offers of titles on a sheet without an input: each is of the sentence that its labels or its
    text name; of several sentences, in their order, if there are as many titles."""
    for number, (title, offers) in enumerate(alike):
        by = f"the title {title.text!r}"
        meant = [n for n in groups if made.groups[n].input.by == by]
        if len(meant) != 1:
            meant = [groups[number]] if len(groups) == len(alike) else [*groups]
        if len(meant) > 1:
            names = " or ".join(made.groups[n].name for n in meant)
            made.left.append(
                f"{title.where}: {title.text!r} may belong to {names}. Move it to the sheet of its "
                "input."
            )
        yield from (offer for offer in offers if [offer.group] == meant)


def _places(
    made: Assigned,
    pages: Mapping[str, Page],
    title: Title,
    number: int,
    groups: Sequence[int],
    taken: Sequence[Place],
) -> Iterator[Offer]:
    """The places near a title for its matrix in each of some sentences, the nearest sentence first."""
    for rank, n in enumerate(groups):
        crosses = steps.MEMORY.symbol in made.groups[n].weights
        crosses &= not any(".Self." in name for name in made.graphs[n])  # of a decoder
        if crosses and _SELF.search(title.text):
            continue
        # What stands among the steps of a head may be of all heads, or the heads side by side.
        path, base, head = _PARTED.findall(title.step)[0]
        of_rows = base.endswith(".Sum") and _OF_ROWS.search(title.text)
        joined = [path + one for one in JOINED.get(base, ()) if not of_rows]
        tried = (title.step, path + base, *(one + head for one in joined), *joined)
        if head and path + base not in made.graphs[n] and _in_layers(made.graphs[n], title.step):
            tried = (title.step, *tried[2:])  # of its head, not of the first that has no frame
        meant = [(name, *_in_layers(made.graphs[n], name)) for name in tried]
        if title.place is not None:  # a tag means the first that there is, no other
            meant = [names for names in meant if made.graphs[n].keys() & {*names}][:1]
        for step in dict.fromkeys(name for names in meant for name in names):
            node = made.graphs[n].get(step)
            if node is None or node.scalar:
                continue
            shape = Shape(node.rows, node.columns)
            turned = made.groups[n].words_in == "columns"
            try:
                best = candidates(pages[title.sheet], title, shape, turned, taken)
            except InputError:  # a tag has no room for it
                if rank == 0:
                    raise
                continue
            page = pages[title.sheet]
            draws = any(min(frame[2:]) > 1 for frame in page.blanks)
            others = {group.table.rows for group in made.groups} - {node.rows, node.columns}
            for one in best:
                if not others.isdisjoint(labels for labels, _ in labels_of(page, one.place)):
                    continue
                if title.place is None and is_beyond(page, one.place, title):
                    continue
                if node.role == "weight" and "numbers" in one.signs:
                    continue  # not its own: the model was computed without them
                bare = draws and not one.signs and min(one.place.rows, one.place.columns) > 1
                natural = not bare and _is_natural(one, title, made.groups[n])
                if one.score >= ENOUGH or (natural and not rank and one.score >= 0):
                    rated = one.score + (4 if one.agrees else 0) - 3 * rank + _is_beside(one, title)
                    yield Offer((-rated, one.away, number), title, n, one, step)


_PARTED = re.compile(r"^((?:(?:Enc|Dec)\d+\.)?(?:(?:Self|Cross)\.)?)(.*?)((?:_\d+)?)$")
"""The place in the model that a name has, the step, and the number of its head."""
_SELF = re.compile(r"\bself\b", re.IGNORECASE)


def _is_beside(one: Candidate, title: Title) -> bool:
    """Whether a place is a single row, and its title stands just left of it."""
    there = (one.place.row, one.place.column) == (title.row, title.last_column + 1)
    return there and one.place.rows == 1 < one.place.columns


def _is_natural(one: Candidate, title: Title, group: Group) -> bool:
    """Whether a place needs no evidence: just below its title or, for a row, beside it or below
    its labels; on the sheet of its input, and blank, if it is a row or a column."""
    rows, columns = one.place.rows, one.place.columns
    away = one.place.row - title.row, one.place.column - title.column
    if 1 not in (rows, columns):
        return away == (1, 0)
    blank = "numbers" not in one.signs and title.sheet == group.input.place.sheet
    if rows > 1:
        return blank and away == (1, 0)
    labelled = bool(one.signs) and away in every((1, 2), (0, 1))
    return blank and columns > 1 and (_is_beside(one, title) or labelled)


def _is_of_another(offer: Offer, titles: Sequence[Title]) -> bool:
    """Whether another title stands over further columns of a place, or beside it."""
    own, one, place = offer.title, offer.candidate, offer.candidate.place
    others = [t for t in titles if t.sheet == place.sheet and t.place is None and t is not own]
    others = [t for t in others if not (one.agrees and _labels(place, t))]  # a word spelled like a step
    over = (t.row == place.row - 1 and place.column < t.column <= place.last_column for t in others)
    return (not one.agrees and any(over)) or any(beside(own, t, *box(place)[:2]) for t in others)


def _lists_steps(offer: Offer, titles: Sequence[Title], graph: Graph) -> bool:
    """Whether the columns or the rows of a place are those of several steps, which titles head; its
    labels (`maximum`, `sentence`) head none."""
    own, place, node = offer.title, offer.candidate.place, graph[offer.step]
    labels = {*node.rows, *node.columns} if offer.candidate.agrees else set[str]()
    others = [t for t in titles if t.place is None and t is not own and t.sheet == place.sheet]
    others = [t for t in others if t.step != steps.INPUT.symbol or not _labels(place, t)]
    others = [t for t in others if t.text not in labels]
    over = [t for t in others if place.column <= t.column <= place.last_column and t.row < place.row]
    beside = [
        t for t in others if t.column == place.column - 1 and place.row <= t.row <= place.last_row
    ]
    heads = {(t.row, t.column) for t in others if t.step != own.step}
    if place.columns > 1 and own.row < place.row and (own.row, own.column - 1) in heads:
        return True
    lines = (
        ([t for t in over if t.row == place.row - 1], own.row == place.row - 1),
        ([t for t in over if t.row == own.row], True),
        (beside, own.column == place.column - 1),
    )
    whole = ([*line, *[own] * listed] for line, listed in lines if line)
    return any(len({t.step.partition("_")[0] for t in line}) > 1 for line in whole)


def _in_layers(graph: Graph, step: str) -> list[str]:
    """The matrices that a step is called without its layer or, if there is none, without its number: of
    `Norm`, `Enc1.Norm_1` and `Enc1.Norm_2`; of `Norm.Mean`, `Enc1.Norm_1.Mean` and so on."""
    prefixes = {name: "" if "." in step else node.part.prefix for name, node in graph.items()}
    names = {name: f".{name.removeprefix(prefix)}" for name, prefix in prefixes.items()}
    alone = "." not in step  # the part of a helper has no layer

    def means(own: str) -> bool:
        return own == f".{step}" if alone else own.endswith(f".{step}")

    found = [name for name, own in names.items() if means(own)]
    return found or [name for name, own in names.items() if means(re.sub(r"_\d+(?=\.|$)", "", own))]


def _labels(place: Place, title: Title) -> bool:
    """Whether a text stands where the labels of a frame's rows and columns do."""
    above = title.row == place.row - 1 and place.column <= title.column <= place.last_column
    beside = title.column == place.column - 1 and place.row <= title.row <= place.last_row
    return title.sheet == place.sheet and (above or beside)


def _meets_one(place: Place, taken: Iterable[Place]) -> bool:
    return any(place.overlaps(other) for other in taken)


def _by_rhythm(made: Assigned, pages: Mapping[str, Page]) -> None:
    """Give a sentence without titles the frames of one with titles, as far from its input."""
    taken = [group.input.place for group in made.groups]
    taken += [frame.place for group in made.groups for frame in group.frames]
    for group, like in every(made.groups, made.groups):
        frames = [frame for frame in like.frames if frame not in like.known]
        without = len(group.frames) == len(group.known)
        if not (without and frames) or group.input.place.sheet != like.input.place.sheet:
            continue
        down = group.input.place.row - like.input.place.row
        across = group.input.place.column - like.input.place.column
        graph = made.graphs[made.groups.index(group)]
        moved = []
        for frame in frames:
            place, node = shifted(frame.place, down, across), graph.get(frame.step)
            if node is None or place.sheet != group.input.place.sheet:
                break
            form = Shape(node.rows, node.columns)
            score, _, _ = evidence(pages[place.sheet], place, form.turn() if frame.turned else form)
            fits = (place.rows, place.columns) == (node.shape[::-1] if frame.turned else node.shape)
            free = not pages[place.sheet].texts(*box(place)) and not _meets_one(place, taken)
            if not (fits and free and score >= ENOUGH):
                break
            moved.append(
                Frame(frame.step, place, frame.turned, f"the place of {frame.where} beside it")
            )
        else:
            group.frames += moved
            taken += [frame.place for frame in moved]
