"""The sentences of an author's sheets: their inputs, their weights and what they look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from attn_xl.errors import InputError
from attn_xl.models import steps
from attn_xl.settings import CELLS, Settings
from attn_xl.spreadsheets.addresses import Place, address, quoted
from attn_xl.spreadsheets.drawn import DrawnBook
from attn_xl.spreadsheets.numerals import is_number, numeral
from attn_xl.tables.frames import (
    ELSEWHERE,
    Frame,
    Group,
    Page,
    Shape,
    Title,
    box,
    candidates,
    cost,
    direction,
    distance,
    labels_of,
    nearest_to,
    of_sheet,
    oriented,
    tables_given,
    untitled_tables,
)
from attn_xl.tables.headings import headings_on
from attn_xl.tables.labels import Table, is_one_hot, looked_up, selects
from attn_xl.tables.names import ACROSS, LEARNED, of_encoder, undecorated
from attn_xl.tables.roles import BY_DEFAULT, MEMORIES, WordsIn
from attn_xl.tables.survey import one_hot

from .titles import MOSTLY, PROJECTIONS, A, as_given, counted_in, numbered

SCORED = {
    steps.SCORES.symbol: "W_Q", steps.SCALED.symbol: "W_Q", A: "W_Q", steps.VALUES.symbol: "W_V",
}  # fmt: skip
"""Steps that may be given without an input, and the weights that give them for one-hot words."""
OF_SOFTMAX = {
    *PROJECTIONS, *PROJECTIONS.values(), *SCORED, steps.MASK.symbol, steps.MASKED.symbol,
} - {steps.VALUES.symbol, "W_V"}  # fmt: skip
"""What attention weights are computed from; without any of it, typed ones are given."""

RATE = CELLS["rate"]
PERPLEXITY = "Perplexity"
"""e to the mean loss: between how many words a model hesitates."""
OF_LOSSES = {steps.LOSS.symbol, steps.LOSSES.symbol, steps.ERRORS.symbol, PERPLEXITY}
"""Steps that compare with a target; without any, it is no part of the model."""


class Sentences(NamedTuple):
    """The sentences of an author's sheets, the titles that name neither their inputs nor their weights,
    and the inputs in which the words of another are looked up."""

    groups: list[Group]
    titles: list[Title]
    looked_in: list[Frame]


def find_sentences(
    drawn: DrawnBook,
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    called: Mapping[str, str],
    words_in: WordsIn | None,
) -> Sentences:
    """The sentences of an author's sheets, each with its weights.

    Raises:
        InputError: if there is no input.
    """
    file, titles = str(drawn.path), _starting(drawn, pages, titles)
    given: dict[Title, tuple[Frame, Table]] = {}
    untitled: list[tuple[Frame, Table]] = []
    for sheet in drawn.sheets:
        page, there = pages[sheet.name], [title for title in titles if title.sheet == sheet.name]
        own = of_sheet(page, there, called)
        titles = [*(one for one in titles if one not in there), *own]
        found = tables_given(sheet, page, own, file)
        given |= found
        untitled += untitled_tables(sheet, page, own, found, file)
    learns = any(is_of_learning(title.step) for title in titles)
    compares = learns or any(title.step in OF_LOSSES for title in titles)
    if not compares:
        given = {title: one for title, one in given.items() if one[0].step != steps.TARGET.symbol}
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
    titles, weights = numbered(titles, weights, inputs, pages)
    positions = [table for frame, table in weights.values() if frame.step == steps.W_P.symbol]
    copies, looked_in = _repeated(drawn, inputs, positions)
    inputs = [one for one in inputs if one[0] not in copies and one[0] not in looked_in]
    places, groups = [frame.place for frame, _ in inputs], []
    for frame, table in sorted(inputs, key=lambda one: _order(drawn, one[0].place)):
        near = nearest_to(frame.place, places, titles)
        group = _group(drawn, pages, frame, table, weights, places, near, words_in)
        group.known = tuple(
            replace(copy, step=step, turned=group.input.turned != across)
            for copy, (place, step, across) in copies.items()
            if place == frame.place
        )
        group.frames = [*group.known]
        groups.append(group)
    for group in projected:
        others = {frame.step: (frame, table) for frame, table in weights.values()}
        group.weights = {**others, **group.weights}
    groups = _looking_at_each_other([*groups, *projected], pages, titles)
    for group in groups if compares else ():
        group.compared, group.answers = True, _answers(pages, group, groups)
        if learns:
            group.learns = _rate(group, pages)
    used = {*given, *weights, *typed}
    answered = {(t.sheet, t.row, t.column) for t, *_ in (g.answers for g in groups if g.answers)}
    for group in groups:  # numbers beside a list of right words are none of a target
        for t, (frame, _) in given.items():
            if (t.sheet, t.row, t.column) in answered and frame.step == steps.TARGET.symbol:
                group.weights.pop(frame.step, None)
    titles = [t for t in titles if t not in used and (t.sheet, t.row, t.column) not in answered]
    return Sentences(groups, titles, looked_in)


_OF_ANSWERS = re.compile(
    r"(?:(?:true|right|correct|actual|expected|target|next|gold)\s+)+(?:words?|tokens?|class(?:es)?"
    r"|labels?|answers?)|targets?|labels?",
    re.IGNORECASE,
)
"""Titles of the words that come next, or of the class of a sentence."""


def _answers(
    pages: Mapping[str, Page], group: Group, groups: Sequence[Group]
) -> tuple[Title, Frame, tuple[str, ...]] | None:
    """The right words, as typed beside or below a title of them: one for each word of the sentence, or
    one. Each labels a row or a column of its weights."""
    weights = {**group.weights}
    if target := weights.pop(steps.TARGET.symbol, None):
        place = target[0].place
        if pages[place.sheet].sheet.formulas.keys().isdisjoint(place.cells()):
            return None  # its labels are no answers
    tables = [table for _, table in weights.values()]
    known = {label.casefold() for one in tables for label in (*one.rows, *one.columns)}
    n = len(group.table.rows)
    for name, page in pages.items():
        for text, cells in page.where.items() if name == group.input.place.sheet else ():
            for row, column in cells if _OF_ANSWERS.fullmatch(undecorated(text)) else ():
                title = Title(name, row, column, column, text, steps.LABELS.symbol)
                under = [(row + down, column + across) for down in (1, 2) for across in (0, 1)]
                starts = (row, column + 1), *under
                boxes = [(*start, *shape) for start in starts for shape in ((n, 1), (1, n), (1, 1))]
                own = min(groups, key=lambda one: one.away(title)) is group
                for one in boxes if own else ():
                    words, place = page.labels(*one), Place(name, *one)
                    typed = page.sheet.results.isdisjoint(place.cells())  # not predicted
                    if typed and words and known.issuperset(map(str.casefold, words)):
                        beyond = (one[0], one[1] + 1) if one[0] == row else (one[0] + 1, one[1])
                        more = page.labels(*beyond, 1, 1)
                        if len(words) < n and more and more[0].casefold() in known:
                            return None  # of some words only
                        by = f"the title {text!r}"
                        return title, Frame(title.step, place, place.columns > 1, by), words
    return None


_OF_RATE = re.compile(
    r"(?:the )?(?:(?:learning rate|step size)(?: ?\(?(?:η|α|lr|eta|alpha)\)?)?|η|α|lr|eta|alpha|rate)"
    r"(?:\s*[:=]\s*(?P<value>\d*\.?\d+)?)?",
    re.IGNORECASE,
)


def is_of_learning(step: str) -> bool:
    """Whether a step is a gradient, or weights after a step of learning."""
    return step.startswith(LEARNED) or bool(re.match(r"d[A-Zbg]", step.rpartition(".")[2]))


def _rate(group: Group, pages: Mapping[str, Page]) -> float:
    """The learning rate as typed right of or below its name, which formulas then refer to, or in
    `η = 0.1`; or else the usual one."""
    for name, page in pages.items():
        for text, cells in page.where.items():
            if (found := _OF_RATE.fullmatch(text)) and found["value"]:
                return float(found["value"])
            for row, column in cells if found else ():
                for place in (Place(name, *at, 1, 1) for at in ((row, column + 1), (row + 1, column))):
                    value = page.sheet.values.get((place.row, place.column))
                    if is_number(value) and box(place) in page.blocks:
                        at = group.table.file, name, place.row, place.column
                        table = Table(RATE, np.array([[value]]), ("",), ("",), (False, False), *at)
                        group.weights[RATE] = Frame(RATE, place, False, f"the title {text!r}"), table
                        return float(value)
    return Settings().rate


def _starting(drawn: DrawnBook, pages: Mapping[str, Page], titles: Sequence[Title]) -> Sequence[Title]:
    """The titles; without an input, those of what a sentence starts from name it."""
    named = {title.step for title in titles if len(title.text) > 1}  # x may be a label
    if steps.INPUT.symbol not in named:
        if not named.isdisjoint(MEMORIES):
            looks = steps.TARGET.symbol
            titles = [replace(t, step=steps.INPUT.symbol) if t.step == looks else t for t in titles]
        titles = as_given(drawn, pages, titles, steps.EMBEDDED.symbol, steps.INPUT.symbol)
        if named.isdisjoint(
            (steps.VOCABULARY.symbol, steps.W_U.symbol, steps.SCORES.symbol, steps.OUTPUT.symbol)
        ):
            logits, scores = steps.LOGITS.symbol, steps.SCORES.symbol  # of a softmax alone
            titles = [replace(t, step=scores) if t.step == logits else t for t in titles]
    if not any(re.sub(r"_\d+$", "", title.step) in OF_SOFTMAX for title in titles):
        titles = as_given(drawn, pages, titles, steps.SOFTMAX.symbol, A)
    return titles


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
        rest = [title for title in titles if title.step not in stand_for]
        own = [title for title in (*named, *rest) if title.sheet == sheet.name]
        there = tables_given(sheet, pages[sheet.name], own, str(drawn.path))
        found = {title: one for title, one in there.items() if title in named}
        for title, (frame, table) in sorted(found.items(), key=lambda one: (one[0].row, one[0].column)):
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
    if len(found) == 1 and table.shape[1] == 1 and not asked:
        words, why = "columns", "the softmax of a column runs down it"
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
        v = group.weights["W_V"][1]
        if len(v.rows) != len(q.columns):
            raise InputError(
                f"{q.file}, sheet {q.sheet!r}: the scores in {scores.place.range} are {q.shape[0]} x "
                f"{q.shape[1]}, but the values in {frame.place.range} are {v.shape[0]} x {v.shape[1]}. "
                "Give scores a column, and values a row, for each word that is looked at."
            )
        keys = replace(one_hot(v, "W_K"), columns=q.columns)
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
    which the words of another are looked up, or that select its words."""
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
        elif looked_up(table, like) or (
            not (equal or turned)
            and (is_one_hot(like.values) or selects(table.values, like.values))
            and _reads(cells.get(own.place.sheet, {}), own.place, other.place)
        ):
            tables.append(other)
        if equal or turned:
            found.setdefault(own, (other.place, steps.INPUT.symbol, not equal))
    return found, tables


def _reads(cells: Mapping[tuple[int, int], Sequence[Place]], place: Place, other: Place) -> bool:
    """Whether formulas in a place read another one."""
    return any(area.overlaps(other) for cell in place.cells() for area in cells.get(cell, ()))


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
                return f"{where} {held}, where {title.spelled} needs a number."
    for sheet in drawn.sheets:
        texts = [
            cell for cell, v in sheet.values.items() if isinstance(v, str) and numeral(v) is not None
        ]
        if len(texts) > sum(map(is_number, sheet.values.values())):
            where = f"{quoted(sheet.name)}!{address(*texts[0])}"
            held = f"holds the text {sheet.values[texts[0]]!r}, with which formulas cannot compute"
            return f"{where} {held}. Turn such texts into numbers."
    for title in (title for title in titles if title.step == steps.INPUT.symbol):
        below = (title.row + 1, title.column) in pages[title.sheet].numbers
        has = "a single column of" if below else "no"
        do = "Type those of each word there, or give a file that has them with --input."
        return f"{title.where}: {title.spelled} has {has} numbers. {do}"
    return "Write Input above the numbers of the words, one word per row or per column."


def _looking_at_each_other(
    groups: list[Group], pages: Mapping[str, Page], titles: Sequence[Title]
) -> list[Group]:
    """The sentences, without those that another one looks at, which keeps them among its weights: a
    frame of scores or attention weights whose labels are the words of one and of the other says so.
    What is looked at stays a sentence if another frame has its words on both sides."""
    seen: set[Place] = set()
    pairs = sorted(permutations(groups, 2), key=lambda two: _apart(*(one.input.place for one in two)))
    taken = [group.input.place for group in groups]
    for title in (title for title in titles if title.step in ACROSS and title.place is None):
        near = min(groups, key=lambda group: group.away(title))
        for own, other in pairs:
            free = steps.MEMORY.symbol not in own.weights and own.input.place not in seen
            there = near in (own, other) and free
            if there and _is_across(pages[title.sheet], title, own, other, taken):
                seen.add(other.input.place)
                own.weights[steps.MEMORY.symbol] = (
                    other.input,
                    replace(other.table, name=other.input.where),
                )
                _orient_weights(own)
                break
    across = [one for one in titles if one.step in ACROSS and one.place is None]
    return [
        group
        for group in groups
        if group.input.place not in seen
        or any(_looks_at_itself(pages[one.sheet], one, group, taken) for one in across)
    ]


def _looks_at_itself(page: Page, title: Title, group: Group, taken: Sequence[Place]) -> bool:
    """Whether a title has a place whose labels are the words of a sentence on both sides, or on one and
    whose borders fit."""
    words, turned = group.table.rows, group.words_in == "columns"
    for one in candidates(page, title, Shape(words, words), turned, taken)[:1]:
        (left, _), (above, _) = labels_of(page, one.place)
        sides = {left, above} - {()}
        return sides == {words} and (left == above or "borders" in one.signs)
    return False


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
            squares = (
                square
                for words in (shape.rows, shape.columns)
                for square in candidates(page, title, Shape(words, words), turned, taken)[:1]
            )
            nearer = any("borders" in two.signs and two.away < one.away for two in squares)
            same = "borders" in one.signs and not nearer
        return not go_on and one.turned == turned and same
    return False


def _apart(one: Place, other: Place) -> float:
    """How far two inputs are from each other."""
    away = abs(one.row - other.row) + abs(one.column - other.column)
    return away if one.sheet == other.sheet else ELSEWHERE


def _order(drawn: DrawnBook, place: Place) -> tuple[int, int, int]:
    names = [sheet.name for sheet in drawn.sheets]
    return names.index(place.sheet), place.row, place.column


def _untitled_inputs(
    inputs: Sequence[tuple[Frame, Table]],
    untitled: Sequence[tuple[Frame, Table]],
    given: Iterable[tuple[Frame, Table]],
) -> list[tuple[Frame, Table]]:
    """The tables without a title that are inputs: those beside or below a titled one that are as large;
    without any titled one, every labelled table, the one that fits the weights, or the only one."""
    several = (one for one in untitled if one[1].values.size > 1)  # not the version of a sheet
    untitled = [one for one in several if any(one[1].labelled) or not inputs]
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
            and not ((table.values != 0).sum(axis=1) == 1).all()  # a 1 for each word
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
        numbered = counted_in(title.text) not in ("", counted_in(frame.by))
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
    dimension of what it looks at. Weights of words in rows may be as in PyTorch, Q = X W^T, if none of
    Q, K and V fits otherwise."""
    seen = group.weights.get(steps.MEMORY.symbol, (group.input, group.table))[1]
    given = {
        step: (frame, table.turn() if frame.turned else table)
        for step, (frame, table) in group.weights.items()
        if step != steps.MEMORY.symbol
    }
    dims = {step: (seen if step in ("W_K", "W_V") else group.table).columns for step in given}
    shapes = [(len(dims[step]), *table.shape) for step, (_, table) in given.items()
              if step[:3] in ("W_Q", "W_K", "W_V")]  # fmt: skip
    from_left = group.words_in == "rows" and any(rows != d for d, rows, _ in shapes)
    from_left &= all(columns == d for d, _, columns in shapes)
    for step, (frame, table) in given.items():
        d = len(dims[step])
        made = step.startswith(("W_Q", "W_K", "W_V", "W_1", "W_G"))  # from words, W_O and W_2 for them
        if from_left and (made or (step in ("W_O", "W_2") and len(table.rows) == d)):
            table, turned = table.turn(), True
        else:
            table, turned = oriented(table, step, group.words_in, dims[step])
        if step in ("W_Q", "W_K", "W_V") and not table.labelled[0] and len(table.rows) == d:
            table = replace(table, rows=dims[step])
        group.weights[step] = replace(frame, turned=turned), replace(table, name=step)
