"""Assigns the frames of an author's sheets: which sentence each belongs to, and which matrix of the
model goes into it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product as every
from operator import add
from typing import Any

import numpy as np

from attn_xl.errors import AttnXlError, InputError
from attn_xl.graph.functions import best, distances, exp, gather, option, row_sum, sqrt, tanh
from attn_xl.graph.gradients import gradient_step, gradients_from
from attn_xl.graph.graph import Graph, walk
from attn_xl.graph.matrix import Matrix, operation_of
from attn_xl.graph.operations.elementwise import NegativeLog, constant
from attn_xl.graph.operations.products import Additive, Product
from attn_xl.models import steps
from attn_xl.models.softmax import softmax, softmax_scores
from attn_xl.spreadsheets.addresses import Place, address, quoted
from attn_xl.spreadsheets.boxes import Box
from attn_xl.spreadsheets.drawn import DrawnBook
from attn_xl.spreadsheets.numerals import ErrorValue
from attn_xl.tables.frames import (
    ARROWS,
    ELSEWHERE,
    ENOUGH,
    OF_ROWS,
    Candidate,
    Frame,
    Group,
    Page,
    Shape,
    Title,
    axes_on,
    beside,
    box,
    candidates,
    ends,
    evidence,
    is_beyond,
    labels_of,
    may_end,
    page_of,
    shifted,
    step_called,
    values_in,
)
from attn_xl.tables.headings import OF_ATTENTION, OF_HEADS, is_heading
from attn_xl.tables.names import (
    ACROSS,
    ENERGIES,
    LEARNED,
    SPELLINGS,
    spaced,
    spoken_of,
    step_told,
    told_of_gates,
)
from attn_xl.tables.own_names import (
    DIMENSIONS,
    FORMULA,
    WORDS,
    called_in,
    tags_of,
)
from attn_xl.tables.roles import WordsIn
from attn_xl.tables.survey import Tables
from attn_xl.text import clean

from .sentences import OF_LOSSES, PERPLEXITY, RATE, find_sentences, is_of_learning
from .titles import (
    DEVIATION,
    EUCLIDEAN,
    HEAD,
    IMPLIES,
    JOINED,
    LAST,
    LENGTHS,
    MOSTLY,
    OF_LAYER,
    PARTED,
    PROJECTIONS,
    SHIFTED,
    TOTAL,
    A,
    Assigned,
    Compute,
    among_labels,
    as_meant,
    below_exponentials,
    counted_in,
    functions_named,
    holds,
    in_layers,
    left_out,
    listed_titles,
    meets_one,
    nearest_sentence,
    norm_first,
    of_gate,
    of_missing_heads,
    of_other_temperatures,
    over_labels,
    plain_exponentials,
    settings_implied,
    tempered,
    titles_in,
    words_on,
)
from .two_words import titles_of_two_words, with_two_words

MOST_ASKED = 12
"""Words of a sentence, each with a list of steps of its own."""
NEARLY = 0.8
"""The share of right numbers by which a matrix without a title is recognized."""
ENOUGH_FOR_A_COPY = 3
"""Evidence that a second frame of a matrix needs."""


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
    called = {**called_in(drawn, called), **called}
    tags = [tag for sheet in drawn.sheets for tag in tags_of(sheet, file, called)]
    pages = {sheet.name: page_of(sheet, called) for sheet in drawn.sheets}
    called = {**of_gate(pages), **called}
    found = find_sentences(drawn, pages, titles_in(drawn, pages, tags, called), called, words_in)
    made, titles = Assigned(found.groups), found.titles
    titles += over_labels(pages, titles, made.groups, called)
    single = {(one.sheet, one.row, one.column): one for one in titles_of_two_words(pages, made.groups)}
    titles = [one for one in titles if (one.sheet, one.row, one.column) not in single]
    titles += single.values()
    titles = below_exponentials(titles, pages)
    for tag in tags:
        if tag.step in (WORDS, DIMENSIONS) or tag.step.startswith(FORMULA):
            made.labels.append((tag, nearest_sentence(made, tag)))
    labels = {tag for tag, _ in made.labels}
    titles = [title for title in titles if title not in labels]
    others = of_other_temperatures(titles)
    titles = [replace(t, step=tempered(t.step, others[t])) if t in others else t for t in titles]
    for group in made.groups:
        group.temperatures = {*others.values()}
    made.graphs = _computed(drawn, made.groups, compute, {})
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
    _imply(made, drawn, titles, compute)
    if made.implied:  # a step's name is enough
        _assign_anew(made, drawn, pages, titles, compute)
    if first := norm_first(made.groups[0], made.graphs[0]):
        made.implied |= first
        _assign_anew(made, drawn, pages, titles, compute)
    if made.unplaced and not made.implied:
        raise made.unplaced
    _assign(made, pages, told := [*_told(made, pages, called)], copies=False)
    placed = {one.step for one in told if one in made.done}
    _by_numbers(made, pages)
    for group in made.groups:  # totals of a budget are no attention
        if all(frame.step.endswith(OF_ROWS) for frame in group.frames if frame not in group.known):
            group.frames = [*group.known]
    _by_rhythm(made, pages)
    shown = ({frame.step for frame in group.frames} for group in made.groups)
    placed |= set.intersection(*shown)  # one title is for all sentences
    made.left = [line for line in made.left if made.lacking.get(line) not in placed]
    made.left += _again(made, pages)
    made.left += [*_asked(made, pages, called), *_beyond(made, pages, called)]
    looked_in = [frame.place for frame in found.looked_in]
    made.unread = [*unread(made, pages, [*looked_in, *_read_by_given(drawn, made)])]
    plain = [plain_exponentials(group) for group in made.groups]
    if any(plain):
        made.graphs = _computed(
            drawn, made.groups, compute, *({**made.implied, **one} for one in plain)
        )
    return made


def _assign_anew(
    made: Assigned,
    drawn: DrawnBook,
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    compute: Compute,
) -> None:
    """Assign the frames by the model that the titles imply."""
    made.left, made.done = [], set()
    for group in made.groups:
        group.frames = [*group.known]
    made.graphs = _computed(drawn, made.groups, compute, made.implied)
    _assign(made, pages, titles)


def _imply(made: Assigned, drawn: DrawnBook, titles: Sequence[Title], compute: Compute) -> None:
    """Note the settings that the titles imply; those of a layer, if its attention has titles or weights
    too."""
    made.implied |= settings_implied(made, titles)
    if made.implied.get("model") in ("decoder-only", "encoder"):
        made.graphs = _computed(drawn, made.groups, compute, made.implied)
    named = {title.step for title in titles} | {*made.groups[0].weights}
    attends = any(one.partition("_")[0] in OF_ATTENTION for one in named)
    network = {steps.SOFTMAX.symbol, steps.SCORES.symbol} & made.missing and any(
        steps.FEED_FORWARD.symbol in graph for graph in made.graphs
    )
    if network or (attends and any(map(OF_LAYER.match, made.missing))):
        layer = {**made.implied, "model": "encoder", "feed_forward": bool(network)}
        with suppress(InputError):  # it needs W_O
            made.graphs = _computed(drawn, made.groups, compute, layer)
            made.implied = layer
    elif steps.NORM.symbol in made.missing and not attends and "model" not in made.implied:
        made.implied["model"] = "norm"  # of the input, if no title names what is between
        made.graphs = _computed(drawn, made.groups, compute, made.implied)
    made.implied |= left_out(titles, made.graphs)
    if made.implied.get("model") != "similarity":
        made.implied |= functions_named(titles, made.graphs)
    if any(in_layers(graph, steps.RESET.symbol) for graph in made.graphs):
        texts = (text for sheet in drawn.sheets for text in sheet.values.values())
        made.implied |= told_of_gates(texts)


def _told(made: Assigned, pages: Mapping[str, Page], called: Mapping[str, str]) -> Iterator[Title]:
    """The sentences over frames that tell of a step: over blank ones, and over those that hold most of
    its numbers."""
    for _, text in _unnamed(made, pages, called):
        if step_called(text.text, called) is None and (step := step_told(text.text)):
            yield replace(text, step=step)
    for _, text in _unnamed(made, pages, called, computed=True):
        step = step_told(text.text)
        known = [graph[step].values for graph in made.graphs if step in graph]
        if any(holds(pages[text.sheet], text, values, MOSTLY) for values in known):
            yield replace(text, step=step)


def _read_by_given(drawn: DrawnBook, made: Assigned) -> Iterator[Place]:
    """What formulas of the input and of weights read."""
    reads = drawn.references.cells if drawn.references else {}
    for place in (frame.place for group in made.groups for frame in group.given):
        own = reads.get(place.sheet, {})
        yield from (area for cell in place.cells() for area in own.get(cell, ()))


def unread(made: Assigned, pages: Mapping[str, Page], others: Iterable[Place]) -> Iterator[str]:
    """The cells of typed numbers that are neither the input nor weights nor steps nor in others."""
    read = [frame.place for group in made.groups for frame in (*group.given, *group.frames)]
    read += dict.fromkeys(others)
    for name, page in pages.items():
        for place in (Place(name, *block) for block in page.blocks):
            typed = page.sheet.formulas.keys().isdisjoint(place.cells())
            if place.rows * place.columns > 1 and typed and not meets_one(place, read):
                yield place.where


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
        blanks, axes = (*page.blanks, *_between(page, made.groups)), axes_on(page.sheet)
        for row, column, rows, columns in dict.fromkeys(page.blocks if computed else blanks):
            place = Place(name, row, column, rows, columns)
            if meets_one(place, taken):
                continue
            first = 2 if page.labels(row - 1, column, 1, columns) else 1
            left = 2 + bool(page.labels(row, column - 1, rows, 1))
            away = [*every(range(first, 5), range(1 - columns, left)), *every((0, 1, -1), range(1, 4))]
            near = [
                (row - n, column - m) for n, m in sorted(away, key=lambda one: one[0] + abs(one[1]))
            ]
            several = min(rows, columns) > 1  # a title may stand right beside a single row
            if several:
                near += [*every((row, row + 1), range(column + columns, column + columns + 3))]
            values = ((cell, page.sheet.values.get(cell)) for cell in near)
            texts = ((c, v) for c, v in values if isinstance(v, str) and not isinstance(v, ErrorValue))
            told = ((cell, clean(text)) for cell, text in texts if text not in ARROWS)
            own = {label for side, _ in labels_of(page, place) for label in side if several} | labels
            texts_near = [(c, v) for c, v in told if page.sheet.spelled(v) not in own and c not in axes]
            corner = row - 1, column - 1
            texts_near.sort(key=lambda one: (not step_told(one[1]), one[0] == corner))
            for cell, text in texts_near[:1]:
                names = (rows, columns) in shapes or step_called(text, called)
                if names and repr(text) not in said:
                    yield place, Title(name, *cell, cell[1], text, "")


def _between(page: Page, groups: Sequence[Group]) -> Iterator[Box]:
    """The blank rectangles between words or dimensions of a sentence, with borders or without."""
    for group in groups:
        sides = group.table.rows, group.table.columns
        for left, above in every(sides, sides):
            for row, column in page.where.get(spaced(left[0]).casefold(), ()):
                box = row, column + 1, len(left), len(above)
                if (
                    page.labels(row, column, len(left), 1) == left
                    and page.labels(row - 1, column + 1, 1, len(above)) == above
                    and not (page.texts(*box) or page.filled(*box))
                ):
                    yield box


def _asked(made: Assigned, pages: Mapping[str, Page], called: Mapping[str, str]) -> Iterator[str]:
    """What is to be said of the blank frames whose text brings no matrix there, in words."""
    shown = {frame.step for group in made.groups for frame in group.frames} | {steps.INPUT.symbol}
    open_steps = [
        (own, {node.shape, node.shape[::-1]})
        for graph in made.graphs
        for name, node in [*graph.items()][::-1]
        if "." not in (own := name.removeprefix(node.part.prefix))
        and name not in shown
        and node.operation is not None
    ]
    told_of, asked = set[Title](), set[Place]()
    words = {labels for group in made.groups for labels in (group.table.rows, group.table.columns)}
    for place, title in _unnamed(made, pages, called):
        asked.add(place)
        named, name = step_called(title.text, called), title.text.partition("=")[0].strip()
        fitting = (step for step, shapes in open_steps if (place.rows, place.columns) in shapes)
        told = step_told(title.text)
        guess = told if told and told not in shown else next(fitting, "STEP")
        what = f'names no step. Say which: --call "{name}={guess}"'
        if named is None and 1 in (place.rows, place.columns):
            if not words.isdisjoint(labels for labels, _ in labels_of(pages[place.sheet], place)):
                made.blank.append(f"{place.where}: stays blank; {title.spelled} names no step.")
            continue
        if named is not None:
            means = {one for graph in made.graphs for one in in_layers(graph, named[0])}
            at, sheet = (place.row, place.column - 1), pages[place.sheet].sheet
            filled = isinstance(sheet.values.get(at), str) and sheet.looks.frames(at)
            if place.rows == 1 and filled and means & shown:
                continue  # the line below a text, or its fill
            there = "has another place" if means & shown else "does not fit there"
            why = there if means else "the model does not compute"
            if named[0] in OF_LOSSES:
                why += next((one.without_loss for one in made.groups if one.without_loss), "")
            what = f"names {named[0]}, which {why}"
        if title not in told_of:
            yield f"{place.where}: is blank, and {title.spelled} {what}."
        told_of.add(title)
    taken = [frame.place for group in made.groups for frame in (*group.given, *group.frames)]
    words |= {
        labels
        for graph in made.graphs
        for node in graph.values()
        for labels in (node.rows, node.columns)
    }
    known = {"", *(word for labels in words for word in labels)}
    for name, page in pages.items():
        sides = ((box, labels_of(page, Place(name, *box))) for box in page.blanks)
        framed = (box for box, (left, above) in sides if {left[0], above[0]} & words)
        for row, column, rows, columns in dict.fromkeys((*framed, *_between(page, made.groups))):
            place = Place(name, row, column, rows, columns)
            guess = next((step for step, shapes in open_steps if (rows, columns) in shapes), "")
            near = (*every(range(row - 4, row), range(column - 2, column + columns)),
                    (row, column - 2), (row, column - 3))  # fmt: skip
            values = (page.sheet.values.get(cell, "") for cell in near)
            texts = [page.sheet.spelled(clean(value)) for value in values if isinstance(value, str)]
            if meets_one(place, taken) or place in asked:
                continue
            if guess and known.issuperset(texts):
                made.untitled.append(
                    f"{place.where}: is blank, and no title names its step, such as {guess}."
                )
            beside_it = {"", *(label for side, _ in labels_of(page, place) for label in side)}
            heads = [text for text in reversed(texts) if text not in beside_it]
            if not guess:
                text = min(heads, key=known.__contains__, default="")
                why = f"{text!r} names no step" if text else "it has no title"
                made.blank.append(f"{place.where}: stays blank; {why}.")


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
        if blank and not meets_one(cell, taken):
            where = f"{quoted(place.sheet)}!{address(row, column)}"
            yield (
                f"{where}: is blank; {clean(text)!r} is no word of the sentence, whose {frame.step} "
                "ends before it."
            )


def _again(made: Assigned, pages: Mapping[str, Page]) -> Iterator[str]:
    """The steps of a sentence that several blank frames have, as those of a second layer would."""
    for group in made.groups:
        places: dict[str, list[Frame]] = {}
        for one in group.frames:
            blank = not pages[one.place.sheet].filled(*box(one.place))
            if blank and one.step in OF_HEADS.difference(PROJECTIONS):
                places.setdefault(one.step, []).append(one)
        several = [step for step, frames in places.items() if len(frames) > 1]
        if len(several) > 1:
            first, second, *_ = places[several[0]]
            what = f"{', '.join(several[:-1])} and {several[-1]}"
            yield (
                f"{second.where}: {what} are the same as from {first.where} on. If they are of another "
                "layer or sentence, say so: write Layer 2 above them, or its words."
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


def _computed(
    drawn: DrawnBook, groups: Sequence[Group], compute: Compute, *implied: Mapping[str, Any]
) -> list[Graph]:
    """The matrices of each sentence, by the settings implied for all or for each, and what authors show
    besides."""
    each = implied * len(groups) if len(implied) == 1 else implied
    graphs = [_of_model(drawn, group, compute, own) for group, own in zip(groups, each)]
    learning = _learned(groups, graphs)
    shown = [_shown_of(group, graph) for group, graph in zip(groups, graphs)]
    for n, (new, others) in learning.items():
        shown[n] = Graph(*shown[n].values(), *new, without=others)
    return shown


def _of_model(drawn: DrawnBook, group: Group, compute: Compute, implied: Mapping[str, Any]) -> Graph:
    """The matrices of a sentence and, with right answers, of its loss."""
    weights = {name: table for name, (_, table) in group.weights.items()}
    sentences, memory = {group.name: group.table}, weights.pop(steps.MEMORY.symbol, None)
    if memory is not None:
        sentences[memory.name] = memory
        implied = {**implied, "memory": memory.name}
    if steps.W_P.symbol in weights:
        implied = {**implied, "positions": "learned"}
    if A in weights:
        implied = {**implied, "attention": A}
    implied = {**implied, **group.settings}
    target = {steps.TARGET.symbol: weights.pop(steps.TARGET.symbol, None)}
    weights.pop(RATE, None)
    graph = compute(Tables(drawn.path, sentences, weights), implied)
    if group.compared:
        try:
            weights |= {name: table for name, table in target.items() if table}
            labels = {group.name: group.answers[2]} if group.answers else {}
            tables = Tables(drawn.path, sentences, weights, labels=labels)
            graph = compute(tables, {**implied, "loss": True})
            group.without_loss = ""
        except InputError as error:  # of another model, which titles imply
            group.without_loss = f": {str(error).partition(': ')[2].partition('. ')[0].rstrip('.')}"
    return graph


def _shown_of(group: Group, graph: Graph) -> Graph:
    """The matrices of a sentence, with what authors show besides. Its weights take their names: W_O may
    be W_o, of an output gate."""
    graph = as_shown(_plain_losses(graph), group.temperatures)
    names = {name.casefold(): name for name in graph}
    group.weights = {names.get(name.casefold(), name): own for name, own in group.weights.items()}
    looks_alone = steps.MEMORY.symbol in group.weights and len(group.table.rows) == 1
    return _with_weighted_values(graph) if looks_alone else graph


VARIANCE = f".{steps.VARIANCE.symbol}"
_OF_FIRST_HEAD = re.compile(r"((?:.*\.)?)([QKV])_1")


def as_shown(graph: Graph, temperatures: Iterable[float] = ()) -> Graph:
    """The matrices, and what authors show besides: the sums (n, 1) of the rows of attention weights
    (n, m), as a check; the weights with other temperatures; standard deviations (n, 1); the queries,
    keys and values of all heads side by side."""
    shown = [
        row_sum(node).named(name + TOTAL, "the sum of each row")
        for name, node in graph.items()
        if node.role == "attention"
    ]
    shown += [
        softmax(scores / constant(t)).named(tempered(name, t), f"the softmax with temperature {t:g}")
        for name, node in graph.items()
        for t in temperatures
        if node.role == "attention" and (scores := softmax_scores(node)) is not None
    ]
    shown += [
        sqrt(node).named(name.removesuffix(VARIANCE) + DEVIATION, "the root of the variance")
        for name, node in graph.items()
        if name.endswith(VARIANCE)
    ]
    shown += [
        node.parents[0].named(
            name.replace(f".{steps.EXPONENTIALS.symbol}", SHIFTED), "less its row's maximum"
        )
        for name, node in graph.items()
        if name.endswith(f".{steps.EXPONENTIALS.symbol}") and len(node.parents[0].parents) == 2
    ]
    if steps.COSINE.symbol in graph:
        apart = distances(graph[steps.INPUT.symbol])
        shown.append(apart.named(EUCLIDEAN, "the distance of each two words"))
        lengths = graph[steps.COSINE.symbol].parents[1]
        shown.append(lengths.named(LENGTHS, "the product of the lengths of each two words"))
    if steps.LOSS.symbol in graph:
        shown.append(exp(graph[steps.LOSS.symbol]).named(PERPLEXITY, "e to the loss"))
    shown += _after_the_last(graph)
    for own in filter(None, map(_OF_FIRST_HEAD.fullmatch, graph)):
        first, name, weights = graph[own[0]], own[1] + own[2], graph.get(f"{own[1]}W_{own[2]}")
        if weights is None or name in graph or not isinstance(first.operation, Product):
            continue
        if first.shape[1] < weights.shape[1]:
            shown.append((first.parents[0] @ weights).named(name, first.note))
    return with_two_words(Graph(*graph.values(), *shown))


def _after_the_last(graph: Graph) -> list[Matrix]:
    """The logits (1, v) after the last of several words, their probabilities, and the word that they
    make next."""
    logits = graph.get(steps.LOGITS.symbol)
    if logits is None or len(logits.rows) == 1:
        return []
    last = of_last_row(logits).named(steps.LOGITS.symbol + LAST, "those of the last word")
    shares = softmax(last).named(steps.PROBABILITIES.symbol + LAST, "those after the last word")
    word = best(shares).named(steps.NEXT.symbol + LAST, "the most probable next word")
    return [last, shares, word]


def of_last_row(node: Matrix) -> Matrix:
    """The last row (1, m) of a matrix (n, m) that is computed row by row, from the last rows of what it
    is computed from."""

    def last(x: Matrix) -> Matrix:
        if x.rows != node.rows:
            return x
        named = x.name or x.operation is None
        return gather([(x, len(x.rows) - 1)], x.rows[-1:]) if named else of_last_row(x)

    return operation_of(node)(*map(last, node.parents))


def _learned(
    groups: Sequence[Group], graphs: Sequence[Graph]
) -> dict[int, tuple[list[Matrix], set[Matrix]]]:
    """For each sentence that learns, by its number: its weights after a step, and the matrices of other
    sentences that these are computed from. Sentences with weights in common have the gradients of the
    mean of their losses in common, too."""
    weights = {
        n: {_placed(group, w): w for w in graph.values() if w.role == "weight"}
        for n, (group, graph) in enumerate(zip(groups, graphs))
        if group.learns and steps.LOSS.symbol in graph
    }
    sums: dict[tuple[str, Place], dict[int, Matrix]] = {}
    for n, own in weights.items():
        together = sum(not own.keys().isdisjoint(others) for others in weights.values())
        names = {w.part.name(gradient_step(w).symbol) for w in own.values()}

        def part(d: Matrix, names: set[str] = names, several: bool = together > 1) -> Matrix:
            return replace(d, name="", step=None) if several and d.name in names else d

        seed = constant(1) / together if together > 1 else constant(1)
        found = gradients_from(graphs[n][steps.LOSS.symbol], seed, [*own.values()], part)
        for at, d in zip(own, found):
            sums.setdefault(at, {})[n] = d
    whole = {at: w for own in weights.values() for at, w in own.items()}
    totals = {at: reduce(add, ds.values()) for at, ds in sums.items()}
    totals = {
        at: d if d.name else d.as_step(gradient_step(whole[at]), whole[at].part)
        for at, d in totals.items()
    }
    learned = {}
    for n, own in weights.items():
        rate = option(groups[n].learns, RATE, "")
        new = [(w - rate * totals[at]).named(f"{LEARNED}{w.name}", "") for at, w in own.items()]
        others = (d for at in own for m, d in sums[at].items() if m != n)
        learned[n] = new, {*walk(others)} - {*walk(graphs[n].values())}
    return learned


def _placed(group: Group, w: Matrix) -> tuple[str, Place]:
    """The name of weights, and where they stand."""
    frames = {name.casefold(): frame for name, (frame, _) in group.weights.items()}
    return w.name, frames.get(w.name.casefold(), group.input).place


def _plain_losses(graph: Graph) -> Graph:
    """The matrices, with losses -ln(p) as authors write them: without what stands for the logarithm of
    a probability that is almost 0."""
    logs = [node for node in graph.values() if isinstance(node.operation, NegativeLog)]
    plain = {node: replace(node, parents=node.parents[:1]) for node in logs}
    means = (node for node in graph.values() if not plain.keys().isdisjoint(node.parents))
    plain |= {node: replace(node, parents=tuple(plain[one] for one in node.parents)) for node in means}
    return Graph(*(plain.get(node, node) for node in graph.values())) if plain else graph


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
        alone.graphs = _computed(drawn, alone.groups, compute, {})
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
    attention weights, (m, d_v); and what additive scores are made of, tanh(q + K), (m, d_k)."""
    output, scores = graph.get(steps.OUTPUT.symbol), graph.get(steps.SCORES.symbol)
    shown = []
    if output is not None and isinstance(output.operation, Product):
        weights, values = output.parents
        shown.append((values * weights.T).as_step(steps.WEIGHTED_VALUES))
    if scores is not None and isinstance(scores.operation, Additive):
        query, keys, _ = scores.parents
        shown.append(tanh(keys.T + query).named(ENERGIES, "what v_a multiplies"))
    return Graph(*graph.values(), *shown)


def _counted_words(made: Assigned, titles: Sequence[Title]) -> dict[Title, tuple[int, Title]]:
    """The titles of steps of one word of the only sentence (`query_2`, `attn_scores_2`) with its number
    from 0, and what they are without it; {} if they count several words, or heads or layers."""
    names = {name for graph in made.graphs for name in graph}
    parts = {one: one.step.rpartition("_") for one in titles if one.step not in names}
    counted = {
        one: (int(n) - 1, replace(one, step=base))
        for one, (base, _, n) in parts.items()
        if base in names and n.isdecimal() and n in one.text and not HEAD.search(one.text)
    }
    numbers = {n for n, _ in counted.values()}
    words = [range(len(group.table.rows)) for group in made.groups]
    return counted if len(words) == len(numbers) == 1 and numbers <= {*words[0]} else {}


def _asked_about(
    made: Assigned, pages: Mapping[str, Page], counted: Mapping[Title, tuple[int, Title]]
) -> list[tuple[Group, Place]]:
    """The words that texts name or titles count, each as a sentence of its own, with the cell that
    tells it; [] unless each sentence has some."""
    labels = words_on(pages, made.groups)
    texts = [Title(name, *at, at[1], text, "") for name, page in pages.items()
             for at, text in page.sheet.values.items()
             if isinstance(text, str) and spoken_of(text) and (name, *at) not in labels]  # fmt: skip
    asked = []
    for number, group in enumerate(made.groups):
        near = {
            spoken_of(one.text): one for one in texts[::-1] if nearest_sentence(made, one) == number
        }
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
    words = words_on(pages, made.groups)
    titles = [one for one in titles if one.place or (one.sheet, one.row, one.column) not in words]
    titles = [
        one for one in titles if one.place or not any(among_labels(place, one) for place in given)
    ]
    titles = as_meant(titles, made, pages)
    headless = of_missing_heads(made, titles)
    placed = [title for title in titles if title not in headless]
    offers = sorted(_offers(made, pages, placed, taken), key=lambda offer: offer.rank)
    contents = listed_titles(titles)
    done = made.done
    for again in (False, True)[: 1 + copies]:
        for offer in offers:
            group, one, step = made.groups[offer.group], offer.candidate, offer.step
            has = step == steps.INPUT.symbol or any(frame.step == step for frame in group.frames)
            if offer.title in done or meets_one(one.place, taken):
                continue
            if offer.title.place is None and any(among_labels(place, offer.title) for place in taken):
                continue
            if not one.signs and offer.title in contents:
                continue
            if has and (not again or one.score < ENOUGH_FOR_A_COPY):
                continue
            if has and _is_of_others(pages[offer.title.sheet], one, group, step):
                continue
            if step == steps.INPUT.symbol and one.signs == ("labels",):  # what a row of words heads
                continue
            done.add(offer.title)
            taken.append(one.place)
            if offer.title.step.partition("_")[0] in ACROSS:
                made.score = max(made.score, -offer.rank[0])
            signs = f" and its {', '.join(one.signs)}" if one.signs else " and its size"
            said = offer.title.place and not offer.title.written
            by = offer.title.text if said else f"the title {offer.title.spelled}{signs}"
            group.frames.append(Frame(step, one.place, one.turned, by))
    for group, graph in zip(made.groups, made.graphs):
        made.left += _settle_sums(group, graph, pages)
    named: set[tuple[int, str]] = set()
    for title in titles:
        if title in done or (
            title.place is None and any(among_labels(place, title) for place in taken)
        ):
            continue
        if is_heading(title.text):
            continue
        if title.step in _WORDS_MADE and title.place is None:  # there may be words
            continue
        n = nearest_sentence(made, title)
        if len(made.groups) > 1 and _shows(made.groups[n], title.step):
            n = next((m for m, one in enumerate(made.groups) if not _shows(one, title.step)), n)
        group, graph = made.groups[n], made.graphs[n]
        if title.text.startswith("{{"):
            made.unplaced = InputError(
                f"{title.where}: {title.text} has no matrix here. The model has {', '.join(graph)}."
            )
            tells = title.step in {*IMPLIES, *_OF_RESULTS} or OF_LAYER.match(title.step)
            if made.implied or not tells:
                raise made.unplaced
        made.missing |= {title.step} - graph.keys()
        known = {frame.step for frame in group.frames} | group.weights.keys()
        known |= {steps.INPUT.symbol, steps.KEY_WIDTH.symbol}
        known |= {step for number, step in named if number == n}
        named.add((n, title.step))
        page = pages[title.sheet]
        listed = title.place is None and page.lists(title.row, title.column)
        ours = title.step in SPELLINGS or title.step in graph or title in headless
        means = [title.step] if title.step in graph else in_layers(graph, title.step)
        if known.isdisjoint((title.step, *means)) and not listed and ours:
            why = "which the model does not compute"
            if title in headless:
                why = "but heads need W_Q, W_K and W_V"
            if means:
                shape = graph[means[0]].shape
                rows, columns = shape[::-1] if group.words_in == "columns" else shape
                why = f"but no frame of {rows} x {columns} cells is near"
                marks = (at[0] for at in page.where.values() if _fill_one(at, rows, columns))
                if mark := next(marks, None):
                    text = clean(page.sheet.values[mark])
                    why += f"; cells that hold {text!r} are not blank: clear them"
            hides = next(filter(_MINUS_INFINITY.fullmatch, page.where), "")
            if title.step == steps.MASK.symbol and hides:
                why = f"but no formula can add the text {hides!r}: type -1E9 in its place"
            elif title.step == steps.MASK.symbol and {"true", "false"} <= page.where.keys():
                why = "but no formula can add TRUE or FALSE: type 1 or 0 in its place"
            line = f"{title.where}: {title.spelled} names {title.step}, {why}."
            made.lacking[line] = title.step
            made.left.append(line)


def _fill_one(cells: Collection[tuple[int, int]], rows: int, columns: int) -> bool:
    """Whether some cells fill a rectangle of several cells."""
    there = {*cells} if len(cells) >= rows * columns > 1 else set()
    return any({*every(range(r, r + rows), range(c, c + columns))} <= there for r, c in there)


_WORDS_MADE = steps.NEXT.symbol, steps.CLASS.symbol
_OF_RESULTS = {*OF_LOSSES, *_WORDS_MADE, steps.LOGITS.symbol, steps.PROBABILITIES.symbol}
"""Steps that tell, beside weights or a target, what the model has."""


def _settle_sums(group: Group, graph: Graph, pages: Mapping[str, Page]) -> Iterator[str]:
    """Sums and maxima beside another matrix than theirs: a sum beside attention weights, or behind them
    where no exponentials are shown, is a check of these; others stay blank, and this is said."""
    names = {id(node): name for name, node in graph.items()}
    shown = {frame.step: frame for frame in group.frames}
    for frame in [one for one in group.frames if one.step.endswith((".Sum", ".Maximum"))]:
        row, column, rows, columns = box(frame.place)
        of = names.get(id(graph[frame.step].parents[0]))
        weights = shown.get(frame.step.removesuffix(".Sum"))
        here = weights and of not in shown and weights.place.sheet == frame.place.sheet
        behind = weights and here and box(weights.place) < box(frame.place)
        if (
            weights
            and behind
            and not _OF_EXPONENTIALS.search(frame.by)
            and (frame.turned == weights.turned or not _is_below(frame, weights, pages))
        ):
            group.frames[group.frames.index(frame)] = replace(frame, step=weights.step + TOTAL)
            continue
        for other in (one for one in group.frames if one.place.sheet == frame.place.sheet):
            place = other.place
            beside = (place.row, place.rows) == (row, rows) and 1 <= column - place.last_column <= 2
            below = _is_below(frame, other, pages)
            if (beside or below) and other.step != of and other is not frame:
                total = other.step + TOTAL
                if total in graph and (below if other.turned else beside):
                    own = replace(frame, step=total, turned=other.turned)
                    group.frames[group.frames.index(frame)] = own
                    break
                group.frames.remove(frame)
                others = f"of {of}, not of {other.step} beside it"
                if pages[frame.place.sheet].filled(*box(frame.place)) < rows * columns:
                    yield f"{frame.where}: stays blank; {frame.step} is {others}."
                break


def _is_below(frame: Frame, other: Frame, pages: Mapping[str, Page]) -> bool:
    """Whether a frame has the columns of another one above it, at most a blank row between them."""
    row, column, _, columns = box(frame.place)
    same = (column, columns) == (other.place.column, other.place.columns)
    labelled = pages[frame.place.sheet].texts(row - 1, column, 1, columns)
    return same and 1 <= row - other.place.last_row <= 2 - bool(labelled)


_OF_EXPONENTIALS = re.compile(r"exp|e\^|denominator|normali", re.IGNORECASE)
_MINUS_INFINITY = re.compile(r"[-−–]\s*(?:inf\w*|∞)", re.IGNORECASE)


def _shows(group: Group, step: str) -> bool:
    return step in group.weights or any(frame.step == step for frame in group.frames)


_OF_ROWS = re.compile(r"row|column|exp|total|denominator|normali", re.IGNORECASE)
"""A sum of exponentials, no other."""


def _is_of_others(page: Page, one: Candidate, group: Group, step: str) -> bool:
    """Whether labels stand where a place has the words of a sentence or, of its input, the dimensions,
    and are others; `q1`, `q2` number these."""
    sides = [labels for labels, _ in labels_of(page, one.place)]
    own = [(sides[one.turned], group.table.rows)]
    own += [(sides[not one.turned], group.table.columns)] * (step == steps.INPUT.symbol)
    return any(
        not all(re.fullmatch(r"[A-Za-z]+_?\d+", label) for label in labels)
        and {*map(str.casefold, labels)}.isdisjoint(map(str.casefold, known))
        for labels, known in own[: 1 + group.table.labelled[1]]
    )


def _offers(
    made: Assigned, pages: Mapping[str, Page], titles: Sequence[Title], taken: Sequence[Place]
) -> Iterator[Offer]:
    known = [one for one in titles if any(in_layers(graph, one.step) for graph in made.graphs)]
    elsewhere: dict[tuple[str, str, frozenset[int]], list[tuple[Title, list[Offer]]]] = {}
    numbers = [counted_in(group.input.by) for group in made.groups]
    for number, title in enumerate(titles):
        away = [group.away(title) for group in made.groups]
        order = sorted(range(len(away)), key=lambda n: away[n])
        if (own := title.step[-1:].isalpha() and counted_in(title.text)) and numbers.count(own) == 1:
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
        by = f"the title {title.spelled}"
        meant = [n for n in groups if made.groups[n].input.by == by]
        if len(meant) != 1:
            meant = [groups[number]] if len(groups) == len(alike) else [*groups]
        if len(meant) > 1:
            names = " or ".join(made.groups[n].name for n in meant)
            made.left.append(
                f"{title.where}: {title.spelled} may belong to {names}. Move it to the sheet of its "
                "input."
            )
        yield from (offer for offer in offers if [offer.group] == meant)


_LEARNS = re.compile(rf"^{LEARNED}|\bd(?=[A-Zbg])")


def _is_turned(group: Group, step: str) -> bool:
    """Whether a sheet shows the transpose of a step: where words are in columns. Gradients of weights,
    and new ones, stand as the weights do."""
    weights = group.weights.get(_LEARNS.sub("", step)) if is_of_learning(step) else None
    return weights[0].turned if weights else group.words_in == "columns"


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
        path, base, head = PARTED.findall(title.step)[0]
        of_rows = _OF_ROWS.search(title.text) if base.endswith(".Sum") else _is_mean(title)
        joined = [path + one for one in JOINED.get(base, ()) if not of_rows]
        tried = (title.step, path + base, *(one + head for one in joined), *joined)
        if head and path + base not in made.graphs[n] and in_layers(made.graphs[n], title.step):
            tried = (title.step, *tried[2:])  # of its head, not of the first that has no frame
        meant = [(name, *in_layers(made.graphs[n], name)) for name in tried]
        if title.place is not None:  # a tag means the first that there is, no other
            meant = [names for names in meant if made.graphs[n].keys() & {*names}][:1]
        for step in dict.fromkeys(name for names in meant for name in names):
            node = made.graphs[n].get(step)
            if node is None or node.scalar:
                continue
            shape, turned = Shape(node.rows, node.columns), _is_turned(made.groups[n], step)
            try:
                best = candidates(pages[title.sheet], title, shape, turned, taken)
            except InputError:  # a tag has no room for it
                if rank == 0:
                    raise
                continue
            page = pages[title.sheet]
            cell = title.row, title.last_column + 1, 1, 1
            single = page.framed(*cell) and not page.filled(*cell)
            draws = single or any(min(frame[2:]) > 1 for frame in page.blanks)
            others = {group.table.rows for group in made.groups} - {node.rows, node.columns}
            for one in best:
                if not others.isdisjoint(labels for labels, _ in labels_of(page, one.place)):
                    continue
                if title.place is None and is_beyond(page, one.place, title):
                    continue
                if node.role == "weight" and "numbers" in one.signs:
                    continue  # not its own: the model was computed without them
                if base.endswith(".Sum") and _goes_on(made.groups[n], one.place):
                    continue  # a sum of the column's numbers
                bare = draws and not one.signs and min(one.place.rows, one.place.columns) > 1
                natural = not bare and _is_natural(one, title, made.groups[n])
                natural = natural or (bool(single) and box(one.place) == cell)
                if one.score >= ENOUGH or (natural and not rank and one.score >= 0):
                    rated = one.score + (4 if one.agrees else 0) - 3 * rank + _is_beside(one, title)
                    yield Offer((-rated, one.away, number), title, n, one, step)


def _goes_on(group: Group, place: Place) -> bool:
    """Whether a place continues the columns of given numbers, or their rows."""
    row, column, rows, columns = box(place)
    return any(
        (row, column, columns) == (one.last_row + 1, one.column, one.columns)
        or (row, column, rows) == (one.row, one.last_column + 1, one.rows)
        for one in (frame.place for frame in group.given if frame.place.sheet == place.sheet)
    )


def _is_mean(title: Title) -> bool:
    """Whether a title is that of the mean of losses, not of one of each word."""
    mean = re.search(r"\bmean\b|\baverage\b|\bmse\b|\btotal\b", title.text, re.IGNORECASE)
    return title.step == steps.LOSS.symbol and bool(mean)


_SELF = re.compile(r"\bself\b", re.IGNORECASE)


def _is_beside(one: Candidate, title: Title) -> bool:
    """Whether a place is a single row, and its title stands just left of it."""
    there = (one.place.row, one.place.column) == (title.row, title.last_column + 1)
    return there and one.place.rows == 1 < one.place.columns


def _is_natural(one: Candidate, title: Title, group: Group) -> bool:
    """Whether a place needs no evidence: just below its title or, for a row, beside it or below
    its labels, which the title is above; on the sheet of its input, and blank, if it is a row or a
    column."""
    rows, columns = one.place.rows, one.place.columns
    away = one.place.row - title.row, one.place.column - title.column
    if 1 not in (rows, columns):
        return away == (1, 0)
    blank = "numbers" not in one.signs and title.sheet == group.input.place.sheet
    if rows > 1:
        return blank and away == (1, 0)
    labelled = bool(one.signs) and away in every((1, 2), range(1 - columns, 2))
    return blank and columns > 1 and (_is_beside(one, title) or labelled)


def _is_of_another(offer: Offer, titles: Sequence[Title]) -> bool:
    """Whether another title stands over further columns of a place, or beside it."""
    own, one, place = offer.title, offer.candidate, offer.candidate.place
    others = [t for t in titles if t.sheet == place.sheet and t.place is None and t is not own]
    alike = own.step if place.rows == place.columns == 1 else ""  # Loss, and `mean` beside it
    others = [
        t for t in others if t.step != alike and not (one.agrees and among_labels(place, t))
    ]  # a word spelled like a step
    over = (t.row == place.row - 1 and place.column < t.column <= place.last_column for t in others)
    return (not one.agrees and any(over)) or any(beside(own, t, *box(place)[:2]) for t in others)


def _lists_steps(offer: Offer, titles: Sequence[Title], graph: Graph) -> bool:
    """Whether the columns or the rows of a place are those of several steps, which titles head; its
    labels (`maximum`, `sentence`) head none."""
    own, place, node = offer.title, offer.candidate.place, graph[offer.step]
    labels = {*node.rows, *node.columns} if offer.candidate.agrees else set[str]()
    others = [t for t in titles if t.place is None and t is not own and t.sheet == place.sheet]
    others = [t for t in others if t.step != steps.INPUT.symbol or not among_labels(place, t)]
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


def _by_numbers(made: Assigned, pages: Mapping[str, Page]) -> None:
    """Give what formulas compute without a title, as in a filled sheet of tags, to the matrix whose
    numbers nearly all of them hold."""
    taken = [frame.place for group in made.groups for frame in (*group.given, *group.frames)]
    blocks = [Place(name, *block) for name, page in pages.items() for block in page.blocks]
    for place in (
        one for one in blocks if min(one.rows, one.columns) > 1 and not meets_one(one, taken)
    ):
        sheet = pages[place.sheet].sheet
        size = place.rows * place.columns
        if len(sheet.formulas.keys() & {*place.cells()}) < NEARLY * size:
            continue
        for group, graph in zip(made.groups, made.graphs):
            turned = group.words_in == "columns"
            _, numbers = values_in(sheet, place, turned)
            shown = {frame.step for frame in group.frames}
            found = [
                step
                for step, node in graph.items()
                if node.operation is not None and step not in shown and node.shape == numbers.shape
                and np.isclose(node.values, numbers).mean() >= NEARLY
            ]  # fmt: skip
            if found:
                group.frames.append(Frame(found[0], place, turned, "its numbers"))
                break


def _by_rhythm(made: Assigned, pages: Mapping[str, Page]) -> None:
    """Give a sentence without titles the frames of one with titles, as far from its input; of some of
    them, recognized by their numbers, the others."""
    taken = [frame.place for group in made.groups for frame in (*group.given, *group.frames)]
    for group, like in every(made.groups, made.groups):
        down = group.input.place.row - like.input.place.row
        across = group.input.place.column - like.input.place.column
        own = {one.step: one.place for one in group.frames if one not in group.known}
        theirs = {one.step: one for one in like.frames if one not in like.known}
        theirs = {
            step: one for step, one in theirs.items() if _LEARNS.sub("", step) not in group.weights
        }
        frames = [one for step, one in theirs.items() if step not in own]
        places = {step: shifted(one.place, down, across) for step, one in theirs.items()}
        apart = any(places.get(step) != place for step, place in own.items())
        if apart or not frames or group.input.place.sheet != like.input.place.sheet:
            continue
        graph = made.graphs[made.groups.index(group)]
        moved = []
        for frame in frames:
            place, node = shifted(frame.place, down, across), graph.get(frame.step)
            if node is None or place.sheet != group.input.place.sheet:
                break
            form = Shape(node.rows, node.columns)
            score, _, _ = evidence(pages[place.sheet], place, form.turn() if frame.turned else form)
            fits = (place.rows, place.columns) == (node.shape[::-1] if frame.turned else node.shape)
            free = not pages[place.sheet].texts(*box(place)) and not meets_one(place, taken)
            if not (fits and free and score >= ENOUGH):
                break
            moved.append(
                Frame(frame.step, place, frame.turned, f"the place of {frame.where} beside it")
            )
        else:
            group.frames += moved
            taken += [frame.place for frame in moved]
