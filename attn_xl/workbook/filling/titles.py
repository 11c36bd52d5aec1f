"""What the titles of an author's sheets mean: of which head, layer or sentence, which of several steps
that they may name, and which settings they imply."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.graph.graph import Graph
from attn_xl.graph.step import Step
from attn_xl.models import steps
from attn_xl.spreadsheets.addresses import Place
from attn_xl.spreadsheets.drawn import DrawnBook
from attn_xl.tables.frames import (
    OF_ROWS,
    Frame,
    Group,
    Page,
    Title,
    box,
    cost,
    distance,
    step_called,
    tables_given,
    titles_of,
    values_in,
)
from attn_xl.tables.headings import OF_HEADS, headings_of, path_at
from attn_xl.tables.labels import Table
from attn_xl.tables.names import (
    ACROSS,
    names_weights_between,
    of_table,
    sentence_of,
    spaced,
    undecorated,
    weight_label,
)
from attn_xl.tables.own_names import names_of, sheets_named
from attn_xl.tables.survey import Tables

Compute = Callable[[Tables, Mapping[str, Any]], Graph]
"""Computes the model for the tables of one sentence, with settings that the frames imply."""
EUCLIDEAN, LENGTHS = "Euclidean", "Lengths"
"""The distance of each two words, and the product of their lengths."""
IMPLIES: dict[str, dict[str, Any]] = {
    steps.MASK.symbol: {"causal": True},
    steps.MASKED.symbol: {"causal": True},
    steps.POSITIONS.symbol: {"positions": "sinusoidal"},
    steps.EMBEDDED.symbol: {"positions": "sinusoidal"},
    f"{steps.NORM.symbol}.{steps.CENTRED.symbol}": {"worked": True},
    steps.ROTATED_QUERIES.symbol: {"positions": "rotary"},
    steps.ROTATED_KEYS.symbol: {"positions": "rotary"},
    steps.INFLUENCE.symbol: {"influence": True},
    steps.RESET_STATE.symbol: {"reset": "before"},
    **{
        name: {"model": "similarity"}
        for name in (
            EUCLIDEAN,
            LENGTHS,
            *(one.symbol for one in (steps.COSINE, steps.COSINES, steps.MAGNITUDE, steps.ANGLE)),
        )
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
OF_WORDS = {steps.VOCABULARY.symbol, steps.W_U.symbol}
"""Weights with which words are told from each other."""
GATED = {"silu": "swiglu", "gelu": "geglu"}
"""The setting for a network with a gate, by the function of this."""
OF_LAYER = re.compile(rf"({steps.SKIP.symbol}|{steps.NORM.symbol})(_1)?$")
"""Steps after an attention that need no network."""
OF_NETWORK = steps.HIDDEN.symbol, steps.ACTIVATED.symbol, steps.FEED_FORWARD.symbol
"""Steps of a feed-forward network."""
A = steps.GIVEN_ATTENTION.symbol
MOSTLY = 0.5
"""The share of right numbers by which a matrix below a sentence is recognized."""


@dataclass
class Assigned:
    """The sentences of an author's workbook with their graphs, and what was left.

    Attributes:
        groups: the sentences.
        graphs: the matrices of each.
        left: what was recognized but not assigned, in words, with its cells.
        untitled: the blank frames as large as a step, which no title names, in words.
        unread: the cells of typed numbers that are no part of the model.
        blank: the blank rows and columns beside words whose title names no step, in words.
        lacking: what was said of steps that titles name and that have no frame, with the step.
        missing: the steps that titles name and the model does not compute.
        unplaced: the error for a tag of such a step, unless the step tells what the model has.
        implied: the settings that the titles imply.
        labels: the tags for words, dimensions and formulas, with the number of their sentence.
        score: the evidence for the surest frame of scores or attention weights.
        done: the titles that have a frame.
        compares: whether frames compare words that several sentences share.
    """

    groups: list[Group] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    untitled: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    blank: list[str] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)
    unplaced: InputError | None = None
    lacking: dict[str, str] = field(default_factory=dict)
    implied: dict[str, Any] = field(default_factory=dict)
    labels: list[tuple[Title, int]] = field(default_factory=list)
    score: float = 0.0
    done: set[Title] = field(default_factory=set)
    compares: bool = False


def titles_in(
    drawn: DrawnBook, pages: Mapping[str, Page], tags: Sequence[Title], called: Mapping[str, str]
) -> list[Title]:
    """The tags, and the defined names, names of sheets and texts of a workbook that name steps."""
    titles = [*tags, *names_of(drawn, called), *sheets_named(drawn, pages, called)]
    for sheet in drawn.sheets:
        own = [*titles_of(sheet, called)]
        titles += _captions(pages[sheet.name], own) or own
    titles += [*_outputs_of_heads(pages, titles)]
    return products([*titles, *_of_each_head(pages, titles)])


def _captions(page: Page, titles: Sequence[Title]) -> list[Title]:
    """The titles with their places, if each stands below its numbers, nearer to them than to what is
    below it; else []."""
    places = [Place(page.sheet.name, *one) for one in (*page.blocks, *page.blanks, *page.labelled)]
    found = []
    for title in titles:
        over = [one for one in places if one.column - 1 <= title.column <= one.last_column]
        above = [one for one in over if 1 <= title.row - one.last_row <= 2]
        if above:
            last = max(above, key=lambda one: one.last_row)
            down = title.row + 1, title.column, title.row - last.last_row, 2
            if page.texts(*down) or page.framed(*down) or page.filled(*down):
                return []
            found.append(replace(title, place=replace(last, rows=0, columns=0)))
        elif any(distance(title, *box(one)) is not None for one in places):
            return []
        else:
            found.append(title)
    return found if sum(one.place is not None for one in found) > 1 else []


def numbered(
    titles: Sequence[Title],
    weights: Mapping[Title, tuple[Frame, Table]],
    inputs: Sequence[tuple[Frame, Table]],
    pages: Mapping[str, Page],
) -> tuple[list[Title], dict[Title, tuple[Frame, Table]]]:
    """The titles and the weights with their head and their layer, and without the number of their
    sentence."""
    titles, weights = _of_sentences(titles, weights, inputs)
    titles, weights = _under_heads(pages, titles, weights)
    titles, weights = _of_layers(titles, weights, pages)
    return _of_heads(titles, weights, inputs)


def of_gate(pages: Mapping[str, Page]) -> dict[str, str]:
    """What the results of a network with a gate are called beside its weights, `W_gate`, `W_up`, ..."""
    gated = any(
        weight_label(text) == steps.W_G.symbol for page in pages.values() for text in page.where
    )
    return {"up": steps.HIDDEN.symbol, "down": steps.FEED_FORWARD.symbol} if gated else {}


def as_meant(titles: Sequence[Title], made: Assigned, pages: Mapping[str, Page]) -> list[Title]:
    """The titles with the steps of the model that they mean, in reading order."""
    has = (_has_total, _has_words)
    titles = [one for one in titles if not any(of(pages[one.sheet], one) for of in has)]
    titles = [_as_computed(title, made, titles) for title in titles]
    titles = [
        one for one in titles if one.place or not _heads_sums(made, pages[one.sheet], one, titles)
    ]
    titles = _at_the_end(_in_reading_order(titles, made.graphs[0]), made.graphs[0])
    return _around_w_o(titles, made, pages)


def over_labels(
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    groups: Sequence[Group],
    called: Mapping[str, str],
) -> Iterator[Title]:
    """The names of steps of sheets without titles, as titles above the words there."""
    titled = {title.sheet for title in titles} | {group.input.place.sheet for group in groups}
    words = words_on(pages, groups)
    for name in (name for name in pages if name not in titled):
        cells = [(row, column) for sheet, row, column in words if sheet == name]
        if cells and (named := step_called(of_table(name), called)):
            row, column = map(min, zip(*cells))
            yield Title(name, row - 1, column, column, f"the sheet {name!r}", *named)


def _outputs_of_heads(pages: Mapping[str, Page], titles: Sequence[Title]) -> list[Title]:
    """The titles `Head 1`, `Head 2` of outputs, as the paper calls them, unless they are headings:
    other titles name the outputs, or they or typed numbers stand right below."""
    typed = {name: page.numbers - page.sheet.formulas.keys() for name, page in pages.items()}
    there = {(title.sheet, title.row, title.column) for title in titles}
    found = [
        Title(name, row, column, column, page.sheet.values[row, column], f"Output_{number}")
        for name, page in pages.items()
        for (row, column), number in _heads_on(page).items()
        if (name, row + 1, column) not in there and (row + 1, column) not in typed[name]
    ]
    steps_found = {title.step for title in found}
    return found if len(steps_found) > 1 and steps_found.isdisjoint(one.step for one in titles) else []


def _of_each_head(pages: Mapping[str, Page], titles: Sequence[Title]) -> Iterator[Title]:
    """The titles left of the blocks of several heads, again left of those below `Head 2`, `Head 3`, if
    no others stand there."""
    for name, page in pages.items():
        heads = sorted(_heads_on(page))
        if len(heads) < 2 or len({row for row, _ in heads}) > 1:
            continue
        (row, first), *others = heads
        below = [one for one in titles if one.sheet == name and one.row > row and _is_of_head(one)]
        for title in below if all(one.last_column < first for one in below) else ():
            for _, column in others:
                yield replace(title, column=column - 1, last_column=column - 1)


def _is_of_head(title: Title) -> bool:
    """Whether each head has its own of what a title without a place names."""
    return title.place is None and (title.step in OF_HEADS or title.step[2:] in ("Q", "K", "V"))


def products(titles: Sequence[Title]) -> list[Title]:
    """The titles; `Output projection` is the product with W_O where another title names W_O."""
    made = {one: "projection" in one.text.casefold() for one in titles}
    weights = {one.step for one in titles if not made[one]} & _PRODUCTS.keys()
    return [
        replace(one, step=_PRODUCTS[one.step]) if made[one] and one.step in weights else one
        for one in titles
    ]


_PRODUCTS = {
    steps.W_O.symbol: steps.ATTENTION.symbol,
    steps.W_1.symbol: steps.HIDDEN.symbol,
    steps.W_2.symbol: steps.FEED_FORWARD.symbol,
    steps.W_G.symbol: steps.GATE.symbol,
    **{weights: step for step, weights in PROJECTIONS.items()},
}
"""What weights make of their input."""


def as_given(
    drawn: DrawnBook, pages: Mapping[str, Page], titles: Sequence[Title], step: str, given: str
) -> list[Title]:
    """The titles; those of a step name a given matrix, if numbers are typed below each; those of
    attention weights are from 0 to 1."""
    named = {one: replace(one, step=given) for one in titles if one.step == step}
    renamed = [named.get(one, one) for one in titles]
    typed: set[Title] = set()
    for sheet in drawn.sheets:
        own = [title for title in renamed if title.sheet == sheet.name]
        with suppress(InputError):  # formulas without values
            found = tables_given(sheet, pages[sheet.name], own, str(drawn.path))
            typed |= {title for title, (frame, table) in found.items()
                      if sheet.formulas.keys().isdisjoint(frame.place.cells())
                      and (given != A or (table.values == table.values.clip(0, 1)).all())}  # fmt: skip
    return renamed if typed >= {*named.values()} else [*titles]


def plain_exponentials(group: Group) -> dict[str, Any]:
    """The setting for an author who shows e^x itself, without the maximum of the row; {} for others."""
    shown = {frame.step.rpartition(".")[2] for frame in group.frames}
    plain = steps.EXPONENTIALS.symbol in shown and steps.MAXIMUM.symbol not in shown
    return {"max": False} if plain else {}


TOTAL, DEVIATION, LAST, SHIFTED = ".Total", ".Deviation", ".Last", ".Shifted"
"""What the name of the sum of a row of attention weights adds to theirs, that of the root of a variance
to its norm, and that of the last row of logits to these; and scores less the maximum of their row."""


def nearest_sentence(made: Assigned, title: Title) -> int:
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
    paths = ((t, path_at(t.row, t.column, t.step, headings[t.sheet], t.text)) for t in named)
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


HEAD = re.compile(r"(?<!-)\bhead", re.IGNORECASE)


def counted_in(text: str) -> str:
    """The number of a sentence in a title or in what names a frame: `2` of `Scores 2`, `B` of `Scores,
    sentence B`; none of a head."""
    number = None if HEAD.search(text) else re.search(r"(?<![\d.])(\d{1,2})\W*$", text)
    return sentence_of(text) or (number[1] if number else "")


def _of_sentences(
    titles: Sequence[Title],
    weights: Mapping[Title, tuple[Frame, Table]],
    inputs: Sequence[tuple[Frame, Table]],
) -> tuple[list[Title], dict[Title, tuple[Frame, Table]]]:
    """The titles and the masks without the numbers of their sentences: `Scores 2`, where there are
    `Input 1` and `Input 2`, unless W_Q, W_K and W_V are numbered as heads are."""
    numbers = {number for frame, _ in inputs if (number := counted_in(frame.by))}
    if len(numbers) < 2 or any(
        re.fullmatch(r"W_[QKV]_\d+", frame.step) for frame, _ in weights.values()
    ):
        return [*titles], {**weights}
    ends = re.compile(rf"(?<=\w\w)_({'|'.join(numbers)})$")  # W_1 is of a network
    counted = (title for title in (*titles, *weights) if counted_in(title.text))
    return _renamed({t: replace(t, step=ends.sub("", t.step)) for t in counted}, titles, weights)


_HEADING_OF_HEAD = re.compile(r"(?:(?:self[\s-]*)?attention )?head ?[#_]?(\d{1,2})")


def _heads_on(page: Page) -> dict[tuple[int, int], str]:
    """The cells of the headings `Head 1`, `3. Head 2`, with the numbers of the heads."""
    told = ((_HEADING_OF_HEAD.fullmatch(undecorated(text)), page.where[text]) for text in page.where)
    return {cell: number[1] for number, cells in told if number for cell in cells}


def _under_heads(
    pages: Mapping[str, Page],
    titles: Sequence[Title],
    weights: Mapping[Title, tuple[Frame, Table]],
) -> tuple[list[Title], dict[Title, tuple[Frame, Table]]]:
    """The titles and the weights with the numbers of the headings `Head 1` and `Head 2` above or in
    their row, if these have the same steps below; what follows the heads is none of one head."""
    renamed: dict[Title, Title] = {}
    for name, page in pages.items():
        heads = _heads_on(page)
        own = [one for one in (*titles, *weights) if one.sheet == name and one.place is None]
        ends = [one.row for one in own if one.step in (steps.CONCAT.symbol, steps.W_O.symbol)]
        found: dict[Title, Title] = {}
        for title in own:
            at = title.row, title.column
            above = [cell for cell in heads if cell < at and cell[1] <= title.column + 2]
            of_head = _is_of_head(replace(title, step=title.step.partition(".")[0]))
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


def _in_reading_order(titles: Sequence[Title], graph: Graph) -> list[Title]:
    """Titles as they follow each other: row by row, or column by column if the steps whose titles stand
    once do so. Of two frames titled `Norm` the first is that of the first."""
    named = Counter(title.step for title in titles)
    order = {step: n for n, step in enumerate(graph)}
    means = {t: (in_layers(graph, t.step) or [t.step])[0] for t in titles if named[t.step] == 1}
    known = {title: order[step] for title, step in means.items() if step in order}

    if _reads_down(known):
        return sorted(titles, key=lambda one: (one.sheet, one.column, one.row))
    return [*titles]


_IN_LAYERS = re.compile(r"(?:Enc|Dec)\d*\.")
_OF_THE_END = re.compile(
    r"(?!.*(?:attention|head))(?:.*\bfinal\b|.*\b(?:encoder|layer|block)\b.*\boutput\b)"
)
"""Titles of the last step of a layer, or of all."""
_FINAL = re.compile(r"\b(?:final|last|ln[_ ]?f)\b")
_IN_ONE_LAYER, _OF_ONE_LAYER = re.compile(r"(?:Enc|Dec)\d"), re.compile(r"\b(?:block|layer)\b|\+")
"""Its name; and the titles of what the last norm, which follows all layers, has no part in."""


def _at_the_end(titles: Sequence[Title], graph: Graph) -> list[Title]:
    """Titles in reading order; an output behind the network of a layer is its last step, as is a `Final
    output`, and an `Encoder output` to fill in."""
    found, behind = [], False
    computed = (name for name, node in graph.items() if not (node.helper or node.operation is None))
    made = [one for one in computed if not one.endswith((TOTAL, DEVIATION, LAST, SHIFTED))]
    for title in titles:
        path, base, head = PARTED.findall(title.step)[0]
        told, output = title.text.casefold(), base == steps.OUTPUT.symbol and not head
        own = [name for name in made if _IN_LAYERS.match(name) and name.startswith(path)]
        if base == steps.INPUT.symbol and "output" in told:
            encoded = [name for name in own if name.startswith("Enc") and "encoder" in told]
            title = replace(title, step=(encoded or own or made)[-1])
        elif own and base == steps.NORM.symbol and not head and _FINAL.search(told):
            title = replace(title, step=own[-1])
        elif own and output and title.place is None and (behind or _OF_THE_END.match(told)):
            within = [name for name in own if _IN_ONE_LAYER.match(name)]
            title = replace(title, step=(within if _OF_ONE_LAYER.search(told) else own)[-1])
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
        path, base, head = PARTED.findall(title.step)[0]
        if base in (steps.OUTPUT.symbol, steps.ATTENTION.symbol) and not head and title.place is None:
            found.setdefault((nearest_sentence(made, title), path), []).append(title)
    named: dict[Title, str] = {}
    for (n, path), several in found.items():
        graph, own, end = made.graphs[n], path + _OF_ONE_HEAD, path + steps.ATTENTION.symbol
        before, behind = (in_layers(graph, step) for step in (own, end))
        if not behind:
            end = path + steps.OUTPUT.symbol
            behind = in_layers(graph, end)
        each, rest = divmod(len(several), len(before)) if before else (0, 0)
        shapes = {graph[one].shape for one in (*before, *behind)}
        if rest or each not in (1, 2) or len(before) != len(behind) or len(shapes) > 1:
            continue
        for number, title in enumerate(several):
            first = number % 2 == 0
            if each == 1:
                product = graph[before[number]].values
                first = bool(_OF_VALUES.search(title.text)) or holds(pages[title.sheet], title, product)
            named[title] = own if first else end
    return [replace(one, step=named[one]) if one in named else one for one in titles]


def holds(page: Page, title: Title, values: np.ndarray, share: float = 1) -> bool:
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


def of_missing_heads(made: Assigned, titles: Sequence[Title]) -> set[Title]:
    """The titles of several heads, `Scores, head 1` and `Scores, head 2`, where a model has none."""
    numbers: dict[str, set[str]] = {}
    for title in titles:
        base, _, number = title.step.rpartition("_")
        numbers.setdefault(base if number.isdecimal() else "", set()).add(number)
    several = {base for base, found in numbers.items() if base in OF_HEADS and len(found) > 1}
    if len(made.groups) > 1 or any(in_layers(made.graphs[0], f"{base}_1") for base in several):
        return set()
    joined = {steps.CONCAT.symbol} if several else set()
    return {t for t in titles if t.step.rpartition("_")[0] in several or t.step in joined}


def listed_titles(titles: Sequence[Title]) -> set[Title]:
    """The titles in a list of three or more below each other, such as a table of contents."""
    there = {(title.sheet, title.row, title.column): title for title in titles if title.place is None}
    cells = ([(sheet, row + n, column) for n in range(3)] for sheet, row, column in there)
    return {there[cell] for run in cells if {*run} <= there.keys() for cell in run}


def below_exponentials(titles: Sequence[Title], pages: Mapping[str, Page]) -> list[Title]:
    """The titles; a `Sum` at the end of a list's words is that at the end of its exponentials."""
    total, powers = (f"{steps.SOFTMAX.symbol}.{one.symbol}" for one in (steps.SUM, steps.EXPONENTIALS))
    listed = [one for one in titles if one.step == powers]

    def moved(title: Title) -> Title:
        page = pages[title.sheet]
        for one in (one for one in listed if one.sheet == title.sheet):
            down, across = title.row - one.row, title.column - one.column
            row, column = max(title.row, one.row), max(title.column, one.column)
            if down > 1 and across < 0:  # the words, and the names of steps, without a gap
                words = page.labels(one.row + 1, title.column, down - 1, 1)
                names = page.labels(one.row, title.column + 1, 1, -across)
            elif across > 1 and down < 0:
                words = page.labels(title.row, one.column + 1, 1, across - 1)
                names = page.labels(title.row + 1, one.column, -down, 1)
            else:
                continue
            if words and names and not page.texts(row, column, 1, 1):
                place = Place(title.sheet, row, column, 1, 1)
                return replace(title, place=place, written=title.written or title.text)
        return title

    return [moved(one) if one.step == total and one.place is None else one for one in titles]


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


def _has_words(page: Page, title: Title) -> bool:
    """Whether formulas near a title of the next word, or of a class, make it."""
    near = ((title.row + n, title.column + m) for n in range(4) for m in (0, 1))
    made = (isinstance(page.sheet.values.get(one), str) for one in near if one in page.sheet.results)
    return title.step.partition(".")[0] in (steps.NEXT.symbol, steps.CLASS.symbol) and any(made)


def words_on(pages: Mapping[str, Page], groups: Sequence[Group]) -> set[tuple[str, int, int]]:
    """The cells with the words, or the dimensions, of a sentence in a row or a column."""
    found = set()
    for labels in (labels for group in groups for labels in (group.table.rows, group.table.columns)):
        words = {spaced(label).casefold() for label in labels}
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
    steps.LOSS.symbol: (steps.LOSSES.symbol,),
    **{one.symbol: (one.symbol + LAST,) for one in (steps.LOGITS, steps.PROBABILITIES, steps.NEXT)},
    steps.SOFTMAX.symbol: (steps.ATTENTION.symbol, steps.PROBABILITIES.symbol),
    "Linear": (steps.HIDDEN.symbol, steps.FEED_FORWARD.symbol, steps.LOGITS.symbol),
    f"{steps.SOFTMAX.symbol}.{steps.SUM.symbol}": (
        steps.EMBEDDED.symbol, steps.SKIP.symbol, steps.OUTPUT.symbol
    ),
}  # fmt: skip
"""What a title of one head names of all of them, which a `Linear` layer may be, and a sum that is none
of exponentials."""
_MEAN = f"{steps.NORM.symbol}.{steps.MEAN.symbol}"
"""What any mean may be called; alone it tells no norm."""
OTHERWISE = {
    steps.SOFTMAX.symbol: steps.SHARES.symbol,
    steps.SCORES.symbol: steps.DOT.symbol,
    steps.PROBABILITIES.symbol: steps.SOFTMAX.symbol,
    steps.POOLED_MAXIMUM.symbol: steps.POOLED.symbol,
    steps.COSINES.symbol: steps.COSINE.symbol,
    steps.NORM.symbol: steps.MAGNITUDE.symbol,
    **dict.fromkeys((_MEAN, steps.LOSSES.symbol), steps.LOSS.symbol),
    steps.CLASS.symbol: steps.NEXT.symbol,
    steps.OUTPUT.symbol: steps.FEED_FORWARD.symbol,
    steps.ATTENTION.symbol: steps.OUTPUT.symbol,
    steps.NEW_STATE.symbol: steps.CANDIDATE.symbol,
    steps.CANDIDATE.symbol: steps.NEW_STATE.symbol,
    steps.BIASED.symbol: steps.MASKED.symbol,
}
"""What a title names in a model without the step: attention weights that no softmax makes, dot
products for a cosine, attention weights for probabilities, the cosine of words for that of positions,
the length of vectors for a norm, the result of a network for an output, a candidate for a new state,
the sum with typed numbers for one with penalties."""
ELSE = {"attention": steps.OUTPUT.symbol, "alignment": steps.SCORES.symbol}
"""What a title means where another one names the step that it names alone."""


def _as_computed(title: Title, made: Assigned, titles: Sequence[Title]) -> Title:
    """A title of a step, or of what the model has in its place; probabilities beside logits or a
    vocabulary are those of words; `Attention` beside other weights, without an output, is that."""
    base = title.step.partition("_")[0]
    own = title.text.casefold()
    others = [one for one in titles if one.place is None and one.text.casefold() != own]
    named = {one.step.partition("_")[0] for one in others}
    otherwise = ELSE.get(re.sub(r"^\W*\d*\W*", "", own))
    if otherwise and base in named and otherwise not in named:
        return replace(title, step=title.step.replace(base, otherwise))
    has_words = not OF_WORDS.isdisjoint(step for group in made.groups for step in group.weights)
    has_words = has_words or any(one.step == steps.LOGITS.symbol for one in titles)
    if base == steps.PROBABILITIES.symbol and has_words:
        return title
    other = OTHERWISE.get(base, base) + title.step[len(base) :]
    if base == steps.ACTIVATED.symbol and any(steps.CONVOLVED.symbol in graph for graph in made.graphs):
        other = steps.FEATURES.symbol
    has = [any(step in graph for graph in made.graphs) for step in (title.step, other)]
    return replace(title, step=other) if has == [False, True] else title


def settings_implied(made: Assigned, titles: Sequence[Title]) -> dict[str, Any]:
    """The settings for the steps that titles name and the model lacks, and for its heads."""
    shown = {frame.step for group in made.groups for frame in group.frames}
    attends = not shown.isdisjoint((steps.SOFTMAX.symbol, steps.OUTPUT.symbol))
    missing = {PARTED.findall(one)[0][1] for one in made.missing} | _hides_later(titles, made.graphs)
    texts = "\n".join(title.text.casefold() for title in titles)
    if "mask" not in texts:  # a bias of positions hides no words
        missing.discard(steps.MASK.symbol)
    weights = {step for group in made.groups for step in group.weights}
    given = steps.MASK.symbol in weights
    implied: dict[str, Any] = {"positions": "alibi"} if "alibi" in texts and not given else {}
    if attends and missing & {steps.LOGITS.symbol, steps.PROBABILITIES.symbol} and weights & OF_WORDS:
        implied |= {"model": "decoder-only", "feed_forward": False}
        group, w_v = made.groups[0], made.groups[0].weights.get(steps.W_V.symbol)
        if w_v and steps.W_O.symbol not in weights and len(w_v[1].columns) != len(group.table.columns):
            implied |= {"norm": "none", "skip": False}  # words have another width
    for step in missing & IMPLIES.keys():
        if not attends or "model" not in IMPLIES[step]:
            implied |= IMPLIES[step]
    layers = {int(n) for title in titles for n in re.findall(r"^Enc(\d+)\.", title.step)}
    stacked = any(in_layers(graph, f"Enc1.{ACROSS[-1]}") for graph in made.graphs)
    pools = missing & {steps.POOLED.symbol, steps.POOLED_MAXIMUM.symbol}
    pooled = bool(pools) and steps.W_C.symbol not in weights
    crosses = steps.MEMORY.symbol in weights and any(one.step.startswith("Dec1.") for one in titles)
    decodes = crosses and not any(in_layers(graph, "Dec1.Cross.Softmax") for graph in made.graphs)
    if pooled or decodes or (len(layers) > 1 and not stacked):  # without weights
        bases = {PARTED.findall(title.step)[0][1].partition("_")[0] for title in titles}
        network = not bases.isdisjoint(OF_NETWORK)
        model = "encoder-decoder" if decodes and layers else "decoder" if decodes else "encoder"
        count = {} if model == "decoder" else {"layers": max(layers, default=1)}
        implied |= {"model": model, "feed_forward": network, **count}
        implied |= {"pooling": "mean"} if pooled else {}
        if steps.NORM.symbol not in bases:
            implied |= {"norm": "none", "skip": steps.SKIP.symbol in bases}
    later = {title.step.partition("_")[0] for title in titles if _LATER.search(title.text)}
    if not given and later & {steps.MASK.symbol, steps.MASKED.symbol, *_MAY_HIDE}:
        implied["causal"] = True  # also beside a padding word, which has a mask
    return implied | _heads_named(titles, made.groups)


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
_LATER = re.compile(r"(?<!without )(?<!no )\b(?:causal|casual|look-?\s?ahead)\b", re.IGNORECASE)
_MAY_HIDE = steps.SOFTMAX.symbol, steps.OUTPUT.symbol


def _hides_later(titles: Iterable[Title], graphs: Sequence[Graph]) -> set[str]:
    """The step that hides later words, where titles tell it of attention weights or of outputs, as
    `Masked attention weights` does, and the model has no mask."""
    masked = steps.MASKED.symbol
    told = {t.step.partition("_")[0] for t in titles if _HIDDEN.search(t.text)}
    return (
        {masked}
        if told & {*_MAY_HIDE} and not any(in_layers(graph, masked) for graph in graphs)
        else set()
    )


def left_out(titles: Iterable[Title], graphs: Sequence[Graph]) -> dict[str, Any]:
    """The settings for layers of which titles name the attention and the network, if they have one, but
    no norm between them, or neither a skip connection nor a norm."""
    named = {re.sub(r"_\d+(?=\.|$)", "", PARTED.findall(one.step)[0][1]) for one in titles}
    sublayers = (ACROSS[-1], A, *JOINED[steps.OUTPUT.symbol], steps.OUTPUT.symbol), OF_NETWORK
    layered = any(in_layers(graph, steps.SKIP.symbol) for graph in graphs)
    network = any(in_layers(graph, steps.FEED_FORWARD.symbol) for graph in graphs)
    norms = steps.NORM.symbol, steps.GAMMA.symbol, steps.BETA.symbol
    normed = any(one.startswith(norms) for one in named - {_MEAN})
    if not layered or normed or any(named.isdisjoint(one) for one in sublayers[: 1 + network]):
        return {}
    return {"norm": "none"} | ({} if steps.SKIP.symbol in named else {"skip": False})


def functions_named(titles: Sequence[Title], graphs: Sequence[Graph]) -> dict[str, Any]:
    """The settings for the functions that titles name and the model has: `GELU`, `RMSNorm`, `Softmax
    (no scaling)`."""
    named = "\n".join(title.text.casefold() for title in titles)
    plain = _UNSCALED.search(named) or any(names_weights_between(title.text) for title in titles)
    gated = any(in_layers(graph, steps.GATED.symbol) for graph in graphs)
    activations = {
        GATED.get(one, one) if gated else one
        for name, one in ACTIVATIONS.items()
        if re.search(rf"\b{name}\b", named)
    }
    told: dict[Step, dict[str, Any]] = {
        steps.NORM: {"norm_type": "rms"} if re.search(r"\brms[\s-]?norm", named) else {},
        steps.SCALED: {"scale": False} if plain else {},
        steps.SOFTMAX: _temperature(titles),
        steps.POOLED: next(
            ({"pooling": one} for one, told in _POOLS.items() if told.search(named)), {}
        ),
        steps.ACTIVATED: {"activation": activations.pop()} if len(activations) == 1 else {},
    }
    has = {one for one in told if any(in_layers(graph, one.symbol) for graph in graphs)}
    return {name: value for one in has for name, value in told[one].items() if value != "relu"}


_UNSCALED = re.compile(
    r"\b(?:without|no) scaling\b|^(?!.*(?:√|sqrt|scal)).*\balignment scores?\b", re.DOTALL
)
"""What tells scores that are not divided by √d_k: Luong's alignment scores are not."""


_POOLS = {
    "first": re.compile(r"\bcls\b|\bfirst word\b"),
    "max": re.compile(r"\bmax(?:imum)?[ -]?pool"),
}
"""What tells how the vectors of words become one, if that is not their mean."""
_TEMPERATURE = re.compile(  # t = 2 is a time
    r"(?:\bT\s*[=:]|τ\s*[=:]|\b(?i:temp(?:erature|\.)?)\s*[=:]?)\s*(\d+(?:\.\d+)?)\b"
)


def temperature_in(title: Title) -> float:
    """The number by which scores are also divided, as the title of their softmax tells; 0 for none."""
    alone = title.step.partition("_")[0] == steps.SOFTMAX.symbol
    found = _TEMPERATURE.search(title.text) if alone else None
    return float(found[1]) if found else 0.0


def of_other_temperatures(titles: Iterable[Title]) -> dict[Title, float]:
    """The titles of softmaxes with several temperatures and, without 1, the usual one, these."""
    alone = (one for one in titles if one.step.partition("_")[0] == steps.SOFTMAX.symbol)
    named = {one: temperature_in(one) or 1.0 for one in alone}
    return {one: t for one, t in named.items() if len({*named.values()}) > 1 and t != 1.0}


def tempered(step: str, temperature: float) -> str:
    """The name of a softmax with another temperature than that of the others."""
    return f"{step}.T{temperature:g}"


def _temperature(titles: Iterable[Title]) -> dict[str, Any]:
    """The setting for the only temperature that titles name; {} if they name none, or several."""
    named = {temperature_in(title) for title in titles} - {0.0}
    return {"temperature": named.pop()} if len(named) == 1 else {}


def norm_first(group: Group, graph: Graph) -> dict[str, Any]:
    """The setting for a norm that stands before the queries, keys and values, or else before scores and
    attention weights, and no sum before it."""
    own = {PARTED.sub(r"\2\3", frame.step): frame for frame in group.frames[::-1]
           if "Cross." not in frame.step}  # fmt: skip
    norm, skip = own.get(f"{steps.NORM.symbol}_1"), own.get(f"{steps.SKIP.symbol}_1")
    if norm is None:
        return {}
    beside = {step: frame for step, frame in own.items() if frame.place.sheet == norm.place.sheet}
    projected, compared = (
        [frame for step, frame in beside.items() if step.partition("_")[0] in names]
        for names in (PROJECTIONS, ACROSS)
    )
    order = {step: n for n, step in enumerate(graph)}
    down = _reads_down({one.place: order[one.step] for one in beside.values() if one is not norm})
    if skip is not None and _precedes(skip.place, norm.place, down):
        return {}
    embedded = beside.get(steps.EMBEDDED.symbol)
    if embedded is not None and _precedes(norm.place, embedded.place, down):
        return {}
    later = projected or compared
    first = bool(later) and all(_precedes(norm.place, one.place, down) for one in later)
    return {"norm": "pre"} if first else {}


def _precedes(one: Place, other: Place, down: bool) -> bool:
    """Whether a place is read before another: it is above it, or left of it in the same rows; the other
    way round if the sheet is read `down`."""
    above = one.last_row < other.row, one.row > other.last_row
    left = one.last_column < other.column, one.column > other.last_column
    first, second = (left, above) if down else (above, left)
    return one.sheet == other.sheet and (first[0] or (second[0] and not first[1]))


PARTED = re.compile(r"^((?:(?:Enc|Dec)\d+\.)?(?:(?:Self|Cross)\.)?)(.*?)((?:_\d+)?)$")
"""The place in the model that a name has, the step, and the number of its head."""


def in_layers(graph: Graph, step: str) -> list[str]:
    """The matrices that a step is called without its layer or, if there is none, without its number: of
    `Norm`, `Enc1.Norm_1`, `Enc1.Norm_2` and a last `Enc.Norm`; of `Norm.Mean`, `Enc1.Norm_1.Mean` and
    so on."""
    prefixes = {name: "" if "." in step else node.part.prefix for name, node in graph.items()}
    names = {name: f".{name.removeprefix(prefix)}" for name, prefix in prefixes.items()}
    alone = "." not in step  # the part of a helper has no layer

    def means(own: str) -> bool:
        return own == f".{step}" if alone else own.endswith(f".{step}")

    found = [name for name, own in names.items() if means(own) and step != steps.NORM.symbol]
    return found or [name for name, own in names.items() if means(re.sub(r"_\d+(?=\.|$)", "", own))]


def among_labels(place: Place, title: Title) -> bool:
    """Whether a text stands where the labels of a frame's rows and columns do."""
    above = title.row == place.row - 1 and place.column <= title.column <= place.last_column
    beside = title.column == place.column - 1 and place.row <= title.row <= place.last_row
    return title.sheet == place.sheet and (above or beside)


def meets_one(place: Place, taken: Iterable[Place]) -> bool:
    return any(place.overlaps(other) for other in taken)
