"""Two words of a sentence compared in single cells: their dot product, their lengths, the cosine and
the angle between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from attn_xl.graph.functions import angle, gather, row_dot, row_squares, sqrt
from attn_xl.graph.graph import Graph
from attn_xl.models import steps
from attn_xl.spreadsheets.addresses import Place
from attn_xl.tables.frames import Group, Page, Title
from attn_xl.tables.names import undecorated

_PAIR = {step: f"{step.symbol}.Pair" for step in (steps.DOT, steps.COSINE, steps.ANGLE)}
_LENGTHS = [f"{steps.MAGNITUDE.symbol}.{number}" for number in (1, 2)]
OF_TWO_WORDS = *_PAIR.values(), *_LENGTHS
"""The names of what two words are compared by."""
_NAMES = {
    steps.DOT: r"(?:dot|inner|scalar) product\b.*|{0}\s*[·⋅∙•*x×]\s*{1}|<\s*{0}\s*,\s*{1}\s*>",
    steps.COSINE: r"cos\b.*|cosine\b.*",
    steps.ANGLE: r"angle\b.*|θ.*",
}
_LENGTH = (
    r"(?:length|norm|magnitude|size)(?: of)?(?: the)?(?: word| vector)? [\"“'‘]?{0}[\"”'’]?"
    r"|[|‖]{{1,2}}{0}[|‖]{{1,2}}"
)


def titles_of_two_words(pages: Mapping[str, Page], groups: Sequence[Group]) -> Iterator[Title]:
    """The texts beside or above single cells that name what the two words of a sentence are compared
    by: `Dot product`, `a · b`, `Length of a`, `|a|`, `cos θ`."""
    for group in (group for group in groups if len(group.table.rows) == 2):
        page = pages[group.input.place.sheet]
        patterns = [*_patterns(group.table.rows)]
        if not group.table.values.any(axis=1).all():  # zeros have no direction
            del patterns[-2:]
        for text, cells in page.where.items():
            name = undecorated(text).rstrip(" :=")
            step = next((one for one, pattern in patterns if re.fullmatch(pattern, name)), "")
            for row, column in cells if step else ():
                by = f"the title {str(page.sheet.values[row, column])!r}"
                near = ((row, column + 1), (row + 1, column))
                for cell in [one for one in near if _is_single(page, (row, column), one)][:1]:
                    place = Place(page.sheet.name, *cell, 1, 1)
                    yield Title(page.sheet.name, row, column, column, by, step, place=place)


def _patterns(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What names each step, in lower case."""
    spelled = [
        f"(?:{re.escape(name)}|{re.escape(re.sub('^(?:word|vector) ', '', name))})"
        for name in map(str.casefold, words)
    ]
    for number, name in zip(_LENGTHS, spelled):
        yield number, _LENGTH.format(name)
    for step, pattern in _NAMES.items():
        yield _PAIR[step], pattern.format(*spelled)


def _is_single(page: Page, title: tuple[int, int], cell: tuple[int, int]) -> bool:
    """Whether a cell has a border or a number, and neither the one right of it has, nor, if it is not
    beside its title, the one below it; the one right of it may have, below another title."""

    def stands(row: int, column: int) -> bool:
        return bool(page.framed(row, column, 1, 1) or page.filled(row, column, 1, 1))

    row, column = cell
    below = row > title[0]
    other = below and page.texts(title[0], column + 1, 1, 1)
    more = [*[(row, column + 1)] * (not other), *[(row + 1, column)] * below]
    return stands(*cell) and not (page.texts(*cell, 1, 1) or any(stands(*one) for one in more))


def with_two_words(graph: Graph) -> Graph:
    """The matrices of a sentence and, of two words, what single cells show: numbers (1, 1)."""
    x = graph.get(steps.INPUT.symbol)
    if x is None or len(x.rows) != 2:
        return graph
    words = [gather([(x, n)], [name]) for n, name in enumerate(x.rows)]
    lengths = [sqrt(row_squares(word)).named(name, "") for word, name in zip(words, _LENGTHS)]
    dot = row_dot(*words).named(_PAIR[steps.DOT], "")
    if not x.values.any(axis=1).all():
        return Graph(*lengths, dot, *graph.values())
    cosine = (dot / (lengths[0] * lengths[1])).named(_PAIR[steps.COSINE], "")
    turned = angle(cosine).named(_PAIR[steps.ANGLE], "")
    return Graph(*lengths, dot, cosine, turned, *graph.values())
