"""Decides what a table of numbers is for, and why: which of several tables is the sentence, and whether
its words are in rows or columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from attn_xl.errors import InputError
from attn_xl.records import record
from attn_xl.spreadsheets.addresses import Place

from .labels import Table, looked_up
from .names import names_input, names_memory, names_step, unnumbered

WordsIn = Literal["rows", "columns"]

_OF_WORDS = re.compile(r"(?:\w+\.)*W_(?:[QKV1Ghifgrzn]|before|here|after)(?:_\d+)?")
"""Weights that multiply the words: projections, a first layer, the gates of a recurrence."""
_OF_DIMENSIONS = re.compile(rf"{_OF_WORDS.pattern}|Vocabulary|W_[UC]")
"""Weights with a row or a column for each dimension."""
OF_SENTENCES = re.compile(
    r"[<\[]/?(?:pad|cls|sep|mask|unk|bos|eos|s)[>\]]"
    r"|the|an|is|are|was|were|and|or|not|of|on|in|to|at|by|for|with|from|it|he|she|we|you|they",
    re.IGNORECASE,
)
"""What stands in sentences and names no dimension: `<PAD>`, `[CLS]`, `the`."""
_DIMENSION = re.compile(
    r"(?:d|dim|dims|dimension|feature|feat|component|comp)[ _.-]?\d+", re.IGNORECASE
)
_WORD = re.compile(r"(?:word|token|tok)[ _.-]?\d+", re.IGNORECASE)


@record(frozen=True)
class Found:
    """A table of numbers, and what it is for.

    Attributes:
        place: its cells, labels included.
        numbers: the range of its numbers alone, `B2:D6`.
        shape: rows and columns of numbers, before transposing.
        title: the text that names it, or "".
        names: every text that may name it with its position, nearest first.
        table: the table before transposing; None if it cannot be read.
        problem: why it cannot be read, or "".
        computed: whether most of its numbers are formulas; None if unknown.
        factor: whether formulas multiply it as a matrix.
        use: `sentence`, `weights`, or "" if it is skipped.
        name: the name of the sentence or of the weights.
        why: the reason for `use`, or for skipping the table.
        words_in: whether the words of a sentence are in rows or columns; why_words: the reason.
        turned: whether it is transposed when it is read.
        certain: whether formulas, rather than labels, say what it is and whether it is transposed.
        parameter: the name of the PyTorch parameter, which is stored out x in; "" if it is none.
        notes: other notes for the reader.
        sentences: the sentences whose words follow each other in it, each with its number of rows.
    """

    place: Place
    numbers: str
    shape: tuple[int, int]
    title: str = ""
    names: tuple[tuple[str, str], ...] = ()
    table: Table | None = None
    problem: str = ""
    computed: bool | None = None
    factor: bool = False
    use: Literal["sentence", "weights", ""] = ""
    name: str = ""
    why: str = ""
    words_in: WordsIn = "rows"
    why_words: str = ""
    turned: bool = False
    certain: bool = False
    parameter: str = ""
    notes: tuple[str, ...] = ()
    sentences: tuple[tuple[str, int], ...] = ()

    @property
    def where(self) -> str:
        """`small!J4:M10`"""
        return self.place.where

    @property
    def range(self) -> str:
        """`J4:M10`; for a single cell, `J4`."""
        return self.place.cells_shown

    @property
    def size(self) -> str:
        """`6 x 4`"""
        return f"{self.shape[0]} x {self.shape[1]}"

    @property
    def input_title(self) -> str:
        """The text that names it as an input, or ""."""
        return next((text for text, _ in self.names if names_input(text)), "")

    def looked_up_in(self, other: Found) -> bool:
        """Whether formulas look up its words in another table, which is typed."""
        if not self.computed or other.computed or self.table is None or other.table is None:
            return False
        return looked_up(self.table, other.table)

    def cells(self, sheet: str) -> Place:
        """The cells of its numbers, on a sheet by its name in the file."""
        if self.table is None:
            return replace(self.place, sheet=sheet)
        return Place(sheet, self.table.row, self.table.column, *self.shape)


NOT_READ = "the attention that the formulas compute does not read it"


def are_computed(cells: Collection[tuple[int, int]], formulas: Container[tuple[int, int]]) -> bool:
    """Whether most of some cells have formulas: a student may have typed a few results."""
    return 2 * sum(cell in formulas for cell in cells) > len(cells)


RESULT = "computed by formulas"


@dataclass
class Reading:
    """What the numbers that a workbook computes say of its tables.

    Attributes:
        roles: by sheet, the tables that its attention is computed from; None if it computes none.
        settings: those with which attn-xl computes the same.
        trouble: why it cannot be computed, or None.
        instead: the ranges to give with --attention A, where attn-xl does not compute the attention
            weights.
        joined: whether the outputs of several heads stand side by side, without W_O.
        unfinished: whether the attention weights multiply nothing, so that no formula reads W_V.
        multiplied: the cells that products multiply; results: those that hold products.
        reads: whether a formula reads some cells.
    """

    roles: dict[str, list[Found]] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    trouble: InputError | None = None
    instead: Sequence[str] = ()
    joined: bool = False
    unfinished: bool = False
    multiplied: Sequence[Place] = ()
    results: Sequence[Place] = ()
    reads: Callable[[Place], bool] = lambda place: True

    def is_factor(self, sheet: str, f: Found) -> bool:
        """Whether a typed table is multiplied as a matrix."""
        return not f.computed and any(map(f.cells(sheet).overlaps, self.multiplied))

    def is_result(self, sheet: str, f: Found) -> bool:
        """Whether a table's numbers are the result of formulas that multiply others."""
        return bool(f.computed) and any(map(f.cells(sheet).overlaps, self.results))

    def is_read(self, sheet: str, f: Found) -> bool:
        """Whether a formula reads a typed table."""
        return not f.computed and self.reads(f.cells(sheet))


# Which is the sentence

Rule = tuple[Callable[[Found], bool], str, str]


def pick(found: Sequence[Found], weights: Mapping[str, Found]) -> list[Found]:
    """Choose the sentence among the tables of a sheet: one table, several similar ones, or none if the
    choice is ambiguous.

    Args:
        found: the tables of a sheet that are not weights.
        weights: the weights on the same sheet, by name.
    """
    left = list(found)
    if len(left) == 1:
        return [replace(left[0], use="sentence", why="it is the only table on its sheet")]
    why_not: dict[Place, str] = {}
    reasons: list[str] = []

    def several(found: Sequence[Found]) -> bool:
        return _alike(found) or _one_looks(found)

    rules: list[Rule] = [
        (lambda f: not any(one.looked_up_in(f) for one in found), "it looks up its words",
         "others look up words there"),
        (lambda f: f.computed is not True or any(map(f.looked_up_in, found)),
         "it is not computed by formulas", "computed by formulas"),
        (lambda f: not any(names_step(t) for t, _ in f.names[:1]), "its title does not name a step",
         "its title names a step"),
        (lambda f: f.shape != (1, 1) or not f.names, "it is more than one number", "a single number"),
        (lambda f: bool(f.input_title) or _one_looks(left), "it is titled {title}",
         "not titled as the input"),
        (lambda f: _one_looks(left) or fits(f, weights), f"it fits {', '.join(weights)}",
         "does not fit the weights"),
        (lambda f: names_input(f.title) or several(left), "it is titled {title}",
         "not titled as the input"),
    ]  # fmt: skip
    for keeps, why, why_no in rules:
        kept = [f for f in left if keeps(f)]
        if kept and len(kept) < len(left):
            reasons.append(why)
            places = {f.place for f in kept}
            why_not |= {f.place: why_no for f in left if f.place not in places}
            left = kept
        if len(left) == 1:
            break
    sentences = len(left) == 1 or several(left)
    picked = []
    for f in found:
        if f.place in why_not:
            picked.append(replace(f, why=why_not[f.place]))
        elif not sentences:
            picked.append(replace(f, why="may be the sentence, like others on its sheet"))
        else:
            own = unnumbered(f.title) != f.title.strip() or not names_input(f.title)
            name = f.title if len(left) > 1 and own else ""
            why = ", ".join(reasons[-2:]).format(title=repr(f.input_title or f.title)) or (
                "its title or that of the other says so"
                if _one_looks(left)
                else "each has a title and the same dimensions"
            )
            picked.append(replace(f, use="sentence", name=name, why=why))
    return picked


def _one_looks(found: Sequence[Found]) -> bool:
    """Whether the title of one of two tables says that the words of the other look at it."""
    return len(found) == 2 and sum(names_memory(f.title) for f in found) == 1


def _alike(found: Sequence[Found]) -> bool:
    """Whether tables are clearly sentences: each has words and the same dimensions, and a title of its
    own or that of an input; then words may be in columns."""
    tables = [f.table for f in found if f.table is not None]
    titles = {f.title for f in found if f.title}
    if len(tables) < len(found):
        return False
    same = len({table.columns for table in tables}) == 1
    if all(f.input_title for f in found):
        return bool(set.intersection(*map(_sides, tables)))
    if not same or not all(table.labelled[0] for table in tables):
        return False
    named = not any(names_input(title) or names_step(title) for title in titles)
    return len(titles) == len(found) and named


def _sides(table: Table) -> set[object]:
    """The labels of the rows and of the columns of a table; where there are none, their number."""
    sides = zip((table.rows, table.columns), table.labelled)
    return {labels if there else len(labels) for labels, there in sides}


def inputs_like(
    found: Sequence[Found], others: Sequence[Found], is_part: Callable[[Found], bool]
) -> list[Found]:
    """Other tables of a sheet that are sentences too: titled as inputs and with the dimensions of those
    that were found; `is_part` tells of which these are computed."""
    dims = {
        (f.words_in, f.table.rows if f.words_in == "columns" else f.table.columns): f
        for f in found
        if f.use == "sentence" and f.table and all(f.table.labelled)
    }

    def read(f: Found) -> Found:
        if f.table is None or f.computed or not (all(f.table.labelled) and f.input_title) or is_part(f):
            return f
        like = dims.get(("rows", f.table.columns)) or dims.get(("columns", f.table.rows))
        if like is None:
            return f
        why = f"it is titled {f.input_title!r} and has the same dimensions"
        f = replace(f, use="sentence", why=why, words_in=like.words_in, turned=like.turned)
        return replace(f, certain=like.certain, why_words=f"like {like.range}")

    return [read(f) for f in others]


def fits(f: Found, weights: Mapping[str, Found]) -> bool:
    """Whether the numbers have as many dimensions, in rows or columns, as the weights of words take."""
    projections = [w.shape for name, w in weights.items() if _OF_WORDS.fullmatch(name)]
    from_right = all(shape[0] == f.shape[1] for shape in projections)
    from_left = all(shape[1] == f.shape[0] for shape in projections)
    return not projections or from_right or from_left


# Rows or columns


BY_DEFAULT = "the default; no label says otherwise"


MEMORIES = "Memory", "Source"
"""What a sentence is called that another one looks at."""
_LINES = "b_", "gamma", "beta"
"""How the names of weights begin that are added to a word or multiplied with it."""


def words_of(
    table: Table, corner: str, weights: Iterable[tuple[str, Table]], asked: WordsIn | None
) -> tuple[WordsIn, str]:
    """Whether the words of a sentence are in its rows or its columns, and why.

    Args:
        table: the table before transposing.
        corner: the text above its row labels.
        weights: those on the sheets, and the other one of two sentences one of which looks at the other
            as `Memory`, before transposing.
        asked: the value of --words-in, or None.
    """
    if asked:
        return asked, f"--words-in {asked}"
    rows, columns = table.labelled
    if rows and _all(_DIMENSION, table.rows) and not (columns and _all(_DIMENSION, table.columns)):
        return "columns", f"the rows are labelled {table.rows[0]}, ..., as dimensions are"
    if rows and columns and _all(_DIMENSION, table.columns) and not _all(_DIMENSION, table.rows):
        return "rows", f"the columns are labelled {table.columns[0]}, ..., as dimensions are"
    if columns and _all(_WORD, table.columns) and not (rows and _all(_WORD, table.rows)):
        return "columns", f"the columns are labelled {table.columns[0]}, ..., as words are"
    corner = corner.strip().casefold()[:40]
    if corner.startswith(("dim", "feature", "component")):
        return "columns", f"the corner says {corner!r}"
    if corner.startswith(("word", "token")):
        return "rows", f"the corner says {corner!r}"
    across, down = (
        next(filter(OF_SENTENCES.fullmatch, side), "") for side in (table.columns, table.rows)
    )
    if bool(across) != bool(down):
        where: WordsIn = "columns" if across else "rows"
        return where, f"{across or down!r} labels a {where.removesuffix('s')}"
    weights = [*weights]
    for name, one in weights:
        both = all((*one.labelled, rows, columns)) and _OF_DIMENSIONS.fullmatch(name)
        alike = [side in (one.rows, one.columns) for side in (table.rows, table.columns)]
        if both and alike[0] != alike[1]:
            of = "rows" if alike[0] else "columns"
            return ("columns" if alike[0] else "rows"), f"{name} is labelled as its {of}"
    for _, one in ((name, one) for name, one in weights if name in MEMORIES and all(one.labelled)):
        same = one.rows == table.rows, one.columns == table.columns
        if rows and columns and same in ((True, False), (False, True)):
            return ("columns" if same[0] else "rows"), "another sentence has the same dimensions"
    for one in (one for name, one in weights if name == "A"):
        labelled = all((*one.labelled, rows, columns))
        sides = (one.rows, one.columns) if labelled else one.shape
        height, width = (table.rows, table.columns) if labelled else table.shape
        if width in sides and height not in sides:
            return "columns", "the attention weights have its columns"
    shapes = [(name, one.shape) for name, one in weights if _OF_WORDS.fullmatch(name)]
    from_right = all(shape[0] == table.shape[1] for _, shape in shapes)
    from_left = all(shape[1] == table.shape[0] for _, shape in shapes)
    certain = len(shapes) > 1 or not rows  # one matrix beside labelled words may be the wrong way round
    if shapes and certain and from_left and not from_right:
        name, (height, width) = shapes[0]
        return "columns", f"{name} ({height} x {width}) fits from the left: {name} × input"
    if shapes and certain and from_right and not from_left:
        return "rows", f"{shapes[0][0]} fits from the right: input × {shapes[0][0]}"
    if shapes and certain and all(shape[0] == table.shape[0] for _, shape in shapes) and not from_right:
        name, (height, width) = shapes[0]
        return "columns", f"{name} ({height} x {width}) has a row for each of its rows"
    values = [one.shape for name, one in weights if re.fullmatch(r"W_V(_\d+)?", name)]
    for one in (one for name, one in weights if name == "W_O" and values):
        heights, widths = map(sum, zip(*values))  # of all heads
        right, left = (widths, table.shape[1]), (table.shape[0], heights)
        if right != left and one.shape in (right, left):
            size, found = f"{one.shape[0]} x {one.shape[1]}", one.shape == right
            side = "right" if found else "left"
            return ("rows" if found else "columns"), f"W_O ({size}) fits the heads from the {side}"
    lines = [(name, one.shape) for name, one in weights if name.startswith(_LINES)]
    tall = next((name for name, shape in lines if shape[0] > shape[1]), "")
    return ("columns", f"{tall} is a column") if tall else ("rows", BY_DEFAULT)


def _all(pattern: re.Pattern[str], labels: Sequence[str]) -> bool:
    return all(pattern.fullmatch(label) for label in labels)


def to_turn(name: str, table: Table, dimensions: Sequence[str], words_in: WordsIn) -> bool:
    """Whether weights have to be transposed for words in rows.

    Where words are columns, weights are applied from the left (Q = W_Q × X), and biases are columns. A
    mask for all words may be a column anywhere.
    """
    rows, columns = table.shape
    base = name.rpartition(".")[2]
    if base in ("Mask", "v_a") and 1 in (rows, columns):
        return columns == 1 and rows > 1
    if base == "Vocabulary":
        return rows == len(dimensions) and (words_in == "columns" or rows != columns)
    if words_in == "rows":
        return False
    if base.startswith(_LINES):
        return columns == 1 and rows > 1
    if base[:3] in ("W_Q", "W_K", "W_V", "W_1", "W_G", "W_R", "W_D"):
        if rows == columns and table.labelled[0] and sorted(table.rows) == sorted(dimensions):
            return False
        return columns == len(dimensions)
    return True
