"""Assigns the tables of a workbook by its formulas: the attention they compute tells what each is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from attn_xl.errors import InputError
from attn_xl.spreadsheets.addresses import Place, Span, address
from attn_xl.spreadsheets.book import Book
from attn_xl.spreadsheets.numerals import NumberText, is_number
from attn_xl.text import clean, count, listed

from .labels import Table, table_at
from .regions import DECORATION, Grid, is_blank, kind_of
from .roles import Found

if TYPE_CHECKING:
    from .formula_attention import Attention, Role, Tracing

MOST_FORMULAS = 400_000
"""Cells with formulas in a workbook whose formulas are followed."""
NOT_READ = "the attention that the formulas compute does not read it"
RESULT = "computed by formulas"
_ATTENTION = re.compile(r"\battention\b", re.IGNORECASE)


@dataclass
class ByFormulas:
    """What the formulas of a book say.

    Attributes:
        attentions: each attention computed from words that are not the result of another.
        later: the number of attentions that read the results of others.
        tracing: the formulas; None if there are none.
    """

    attentions: list[Attention] = field(default_factory=list)
    later: int = 0
    tracing: Tracing | None = None

    def factors(self, sheet: str) -> list[Span]:
        """The cells of a sheet that matrix products of the formulas multiply."""
        return [one for one in self.tracing.factors() if one.sheet == sheet] if self.tracing else []

    def has_formulas(self, sheet: str, f: Found) -> bool:
        """Whether formulas compute numbers of a table."""
        return bool(self.tracing and self.tracing.blocks.at(span_of(sheet, f)))

    def leads_on(self, sheet: str, f: Found) -> bool:
        """Whether a typed table is read on the way to an attention, or in a step after it."""
        if self.tracing is None or self.has_formulas(sheet, f):
            return False
        span, outputs = (
            span_of(sheet, f),
            [h.output.block for one in self.attentions for h in one.heads],
        )
        readers = self.tracing.readers(span)
        return any(self.tracing.reads(block.span, outputs) for block in readers) or any(
            self.tracing.reads(block.span, readers) for block in outputs
        )

    def is_result(self, sheet: str, f: Found) -> bool:
        """Whether a table's numbers are all formulas that compute something from other cells."""
        if not f.computed or self.tracing is None:
            return False
        return self.tracing.computes(span_of(sheet, f))


def span_of(sheet: str, f: Found) -> Span:
    """The cells of a table's numbers, before transposing."""
    if f.table is not None:
        row, column = f.table.row, f.table.column
    else:
        row, column = f.place.row, f.place.column
    return Span(sheet, row, column, row + f.shape[0] - 1, column + f.shape[1] - 1)


def read_by_formulas(book: Book) -> ByFormulas:
    """Find the attention that the formulas of a book compute; nothing if they compute none, or if the
    file's format does not tell its formulas. A book is read once."""
    if "formulas" not in book.kept:
        book.kept["formulas"] = _read(book)
    said: ByFormulas = book.kept["formulas"]
    return said


def _read(book: Book) -> ByFormulas:
    cells = sum(len(book.marks.formulas(sheet) or ()) for sheet in book.grids)
    if not 0 < cells <= MOST_FORMULAS:
        return ByFormulas()
    from attn_xl.spreadsheets.formulas import formulas_in, ods_formulas

    from .formula_attention import find_attention, given_attention, settle

    content = book.marks.content
    formulas = formulas_in(content, book.path) or ods_formulas(content, book.path)
    if formulas is None:
        return ByFormulas()
    found, tracing = find_attention(formulas)
    found = found or given_attention(tracing, lambda span: _says_attention(book, span))
    outputs = [head.output.block for one in found for head in one.heads]
    first = [one for one in found if not tracing.reads(one.words.span, outputs)]
    for one in first:
        settle(one, lambda span: numbers_at(book.grids.get(span.sheet, []), span))
    return ByFormulas(first, len(found) - len(first), tracing)


def _says_attention(book: Book, span: Span) -> bool:
    """Whether a label at most two cells above or left of cells says that they are attention weights."""
    grid = book.grids.get(span.sheet, [])
    above = [(span.top - n, c) for n in (1, 2) for c in range(span.left - 1, span.right + 1)]
    beside = [(r, span.left - n) for n in (1, 2) for r in range(span.top, span.bottom + 1)]
    texts = (_value(grid, cell) for cell in above + beside)
    return any(isinstance(text, str) and _ATTENTION.search(text) for text in texts)


def numbers_at(grid: Grid, span: Span) -> np.ndarray | None:
    """The numbers in cells; None if one is missing."""
    rows = [row[span.left - 1 : span.right] for row in grid[span.top - 1 : span.bottom]]
    if len(rows) < span.shape[0] or any(len(row) < span.shape[1] for row in rows):
        return None
    if not all(is_number(value) for row in rows for value in row):
        return None
    return np.array(rows, dtype=np.float64)


def attentions_to_compute(
    said: ByFormulas, only: Collection[str], asked: Sequence[Span], hidden: Collection[str]
) -> list[Attention]:
    """The attentions to compute: those of the requested sheets, or those whose words were requested."""
    there = said.attentions
    if asked:
        return [one for one in there if any(span.overlaps(one.words.span) for span in asked)]
    if only:
        return [one for one in there if one.words.span.sheet in only]
    return [one for one in there if one.words.span.sheet not in hidden]


def conflict(book: Book, found: Sequence[Attention], plain: Mapping[str, str]) -> InputError | None:
    """The error for attentions that cannot be computed together; None if they can."""
    if len({tuple((name, role.span) for name, role in one.weights.items()) for one in found}) < 2:
        return None
    words = [one.words.span for one in found]
    sheets = [plain[span.sheet] for span in words]
    alone = len(set(sheets)) == len(sheets)
    shown = listed([f"{span}" for span in words])
    first = f"--sheet {_quoted(sheets[0])}" if alone else f'--range "{words[0]}"'
    return InputError(
        f"{book.path}: the formulas compute {len(found)} attentions with different weights, of the "
        f"words in {shown}. Choose one with {first}."
    )


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"'{name}'"


def by_sheet(
    book: Book, said: ByFormulas, attentions: Sequence[Attention], plain: Mapping[str, str]
) -> dict[str, list[Found]]:
    """The tables that the attentions are computed from, by sheet."""
    made: dict[tuple[str, Span], Found] = {}
    tracing = said.tracing
    if tracing is None:
        return {}
    for one in attentions:
        check = [*_check(one), *_further(said)]
        for use, name, role in (
            ("sentence", "", one.words),
            ("sentence", "memory", one.memory),
            *(("weights", name, role) for name, role in one.weights.items()),
        ):
            if role is None or (name, role.span) in made or role.span.sheet not in plain:
                continue
            further = further_labels(book, tracing, role.span) if use == "sentence" else ((), ())
            f = found_at(book, role, plain[role.span.sheet], further)
            if use == "sentence":
                name = _name(f, one, role, plain, [o.words.span.sheet for o in attentions])
                notes = (*f.notes, *check) if role is one.words else f.notes
                f = replace(f, use="sentence", name=name, why_words=_why_words(f, role), notes=notes)
            else:
                f = replace(f, use="weights", name=name)
            made[name, role.span] = f
    sheets: dict[str, list[Found]] = {}
    for (_, span), f in made.items():
        sheets.setdefault(span.sheet, []).append(f)
    return sheets


def memory_name(one: Attention, found: Mapping[str, Sequence[Found]]) -> str:
    """The name of the sentence that the words of an attention look at."""
    assert one.memory is not None
    span = one.memory.span
    return next(
        f.name for f in found[span.sheet] if f.use == "sentence" and span_of(span.sheet, f) == span
    )


def _name(f: Found, one: Attention, role: Role, plain: Mapping[str, str], sheets: Sequence[str]) -> str:
    name = plain[role.span.sheet]
    if role is one.memory:
        return name if one.words.span.sheet != role.span.sheet else f"{name} memory"
    return "" if sheets.count(role.span.sheet) == 1 else f"{name} {f.numbers.partition(':')[0]}"


def _why_words(f: Found, role: Role) -> str:
    return f"the formulas multiply its {'columns' if role.turned else 'rows'} by the weights"


def _further(said: ByFormulas) -> Iterator[str]:
    if said.later:
        yield (
            f"{count(said.later, 'more attention')} in the formulas, of the results of the first, "
            f"{'is' if said.later == 1 else 'are'} not read"
        )


def _check(one: Attention) -> tuple[str, ...]:
    if one.agrees is None or one.heads[0].weights is None:
        return ()
    where = one.heads[0].weights[0]
    if not one.agrees:
        given = "".join(f'--range "{name}" ' for name in ranges_of_weights(one))
        use = f"; {given}--attention A uses them as they are" if given else ""
        return (
            f"the attention weights in {where} are not those of these tables: the formulas do "
            f"something else between the scores and the weights{use}",
        )
    divisor = one.settings.get("temperature")
    unscaled = "the scores are not divided by the square root of d_k (--scale divides them)"
    if divisor:
        unscaled = f"the scores are divided by {divisor:.6g} in place of the square root of d_k"
    extra = [
        text
        for name, text in (
            ("scale", unscaled),
            ("causal", "later words are hidden (--no-causal shows them)"),
        )
        if name in one.settings
    ]
    return (f"the attention weights of attn-xl equal those in {where}", *extra)


def ranges_of_weights(one: Attention) -> list[str]:
    """The attention weights of each head, `A_1=Sheet1!F14:H16`, if attn-xl does not compute them from
    the other tables and they can be given in place of a softmax; otherwise none."""
    if one.agrees is not False:
        return []
    several = len(one.heads) > 1
    turned = "rows" if one.words.turned else "columns"
    spans = [head.weights[0] for head in one.heads if head.weights and head.weights[1] == turned]
    if len(spans) < len(one.heads):
        return []
    return [f"A_{n}={span}" if several else f"A={span}" for n, span in enumerate(spans, 1)]


def labels_of(book: Book, span: Span) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels above cells and to their left; () where there are none."""
    grid = book.grids.get(span.sheet, [])
    above = _labels(grid, [(span.top - 1, c) for c in range(span.left, span.right + 1)])
    lines = [[(r, span.left - n) for r in range(span.top, span.bottom + 1)] for n in (1, 2)]
    beside, further = (_labels(grid, cells) for cells in lines)
    empty = all(is_blank(_value(grid, cell)) for cell in lines[0])
    if further and (empty or _are_whole(grid, lines[0])):  # a word, its number in the vocabulary
        beside = further
    return above, beside


def further_labels(book: Book, tracing: Tracing, span: Span) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels of the rows and columns of the cells that a table is computed from number by number:
    of the embeddings, where positions are added."""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    for source, axis in tracing.sources(span, "columns"):
        above, beside = labels_of(book, source)
        if axis == "rows":
            above, beside = beside, above
        rows, columns = rows or beside, columns or above
    return rows, columns


def found_at(
    book: Book,
    role: Role,
    sheet: str,
    further: tuple[tuple[str, ...], tuple[str, ...]] = ((), ()),
) -> Found:
    """The table in the given cells, with the labels beside it, or else the `further` ones of its rows
    and columns."""
    span, grid = role.span, book.grids[role.span.sheet]
    where = f"{address(span.top, span.left)}:{address(span.bottom, span.right)}"
    above, beside = labels_of(book, span)
    place = Place(
        sheet, span.top - bool(above), span.left - bool(beside),
        span.shape[0] + bool(above), span.shape[1] + bool(beside),
    )  # fmt: skip
    table: Table | None = None
    problem = ""
    try:
        rows, columns = beside or further[0], above or further[1]
        table = table_at(grid, span[1:], rows, columns, str(book.path), sheet)
    except InputError as error:
        problem = str(error)
    return Found(
        place=place,
        numbers=where,
        shape=span.shape,
        table=table,
        problem=problem,
        why=role.why,
        turned=role.turned,
        words_in="columns" if role.turned else "rows",
        certain=True,
    )


def _are_whole(grid: Grid, cells: Sequence[tuple[int, int]]) -> bool:
    values = [_value(grid, cell) for cell in cells]
    return all(is_number(value) and float(value).is_integer() for value in values)


def _value(grid: Grid, cell: tuple[int, int]) -> Any:
    row, column = cell
    return (
        grid[row - 1][column - 1] if 0 < row <= len(grid) and 0 < column <= len(grid[row - 1]) else ""
    )


def _labels(grid: Grid, cells: Sequence[tuple[int, int]]) -> tuple[Any, ...]:
    """The texts, or consecutive whole numbers, in cells; () if they are not the labels of a line."""
    values = [_value(grid, cell) for cell in cells]
    if any(is_blank(value) for value in values):
        return ()
    texts = [isinstance(v, (str, NumberText)) for v in values]
    if all(texts):
        named = all(kind_of(str(v)) != DECORATION for v in values)
        return tuple(clean(str(v)) for v in values) if named else ()
    counts = len(values) > 1 and values in ([*range(len(values))], [*range(1, len(values) + 1)])
    return tuple(str(int(v)) for v in values) if counts else ()
