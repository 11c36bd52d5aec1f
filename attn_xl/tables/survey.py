"""Surveys a spreadsheet: its labelled tables, what each is for, and where it was found."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from attn_xl.errors import CallError, InputError, nearest
from attn_xl.labelled import first_and_last
from attn_xl.settings import INFLUENCES, LABELS, OVERVIEW, SETTINGS
from attn_xl.spreadsheets.addresses import Place, place_of, unique
from attn_xl.spreadsheets.book import STEPS_NOTE, Book, wrote_this
from attn_xl.spreadsheets.numerals import ErrorValue, as_text
from attn_xl.text import clean, listed
from attn_xl.text import plain as on_a_line

from .find import (
    UNKNOWN,
    SheetFound,
    add_labelled,
    asked_ranges,
    every_table,
    known_sheet,
    tables_of_sheet,
)
from .headings import Heading, headings_of, is_heading, path_at, texts_of
from .labels import Table, described, is_one_hot
from .names import names_memory, names_step, step_named, weight_label
from .pytorch import parameter_of, parts_of, says_weights, weights_of_parameters
from .regions import Grid, is_blank
from .roles import BY_DEFAULT, NOT_READ, RESULT, Found, Reading, WordsIn, to_turn, words_of

PROJECTED = {"Q": "W_Q", "K": "W_K", "V": "W_V"}
"""Given queries, keys and values: the weights that give them for one-hot words."""
GIVEN = "they are given, without an input"
LEFT_OUT = "left out by --without"
SETTING = "without"


def without_option(without: str | Sequence[str]) -> list[str]:
    """The names given with --without; each text may hold several, separated by commas."""
    given = [without] if isinstance(without, str) else without
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def without_setting(settings: dict[str, Any]) -> list[str]:
    """The names that the sheet `Settings` leaves out. Removes them from `settings`, because they are
    not an option of the model."""
    keys = [key for key in settings if key.strip().lstrip("-").casefold() == SETTING]
    return [name for key in keys for name in without_option(str(settings.pop(key)))]


class LeftOut:
    """The names to leave out: weights (`W_1`), all weights of a layer (`Enc2`), parameters
    (`layers.1.linear1.weight`, `layers.1`), or sheets."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(dict.fromkeys(names))
        self._found: set[str] = set()

    def names_sheet(self, sheet: str) -> bool:
        """Whether the whole sheet is left out."""
        return self._any([sheet])

    def tables(self, sheets: Sequence[SheetFound]) -> None:
        """Mark the tables that are left out.

        Raises:
            CallError: if a name matches nothing.
        """
        known: dict[str, None] = {}
        for sheet in sheets:
            for i, f in enumerate(sheet.found):
                names = _names_of(f)
                known.update(dict.fromkeys(names[:1]))
                if self._any(names):
                    sheet.found[i] = replace(f, use="", why=LEFT_OUT)
            if sheet.found and all(f.why == LEFT_OUT for f in sheet.found):
                sheet.trouble = None
        self.check(known or [sheet.name for sheet in sheets])

    def without(self, weights: Mapping[str, Any]) -> dict[str, Any]:
        """The weights that are not left out, by name.

        Raises:
            CallError: if a name matches nothing.
        """
        kept = {name: weight for name, weight in weights.items() if not self._any([name])}
        self.check(weights)
        return kept

    def check(self, known: Iterable[str]) -> None:
        """Check that every name matched something.

        Raises:
            CallError: if a name matched nothing; the message suggests the nearest known name.
        """
        for name in self._names:
            if name not in self._found:
                raise CallError(f"--without: there are no weights {name!r}. {nearest(name, known)}")

    def _any(self, names: Iterable[str]) -> bool:
        folded = [name.casefold() for name in names]
        matched = [
            name
            for name in self._names
            if any(f == name.casefold() or f.startswith(f"{name.casefold()}.") for f in folded)
        ]
        self._found.update(matched)
        return bool(matched)


def _names_of(f: Found) -> list[str]:
    """The names by which a table can be left out; sentences go only by the name of their sheet."""
    if f.use == "sentence":
        return []
    names = [f.name, f.parameter] if f.use else [text for text, _ in f.names[:1]]
    return [name for name in names if name]


__all__ = ["Survey", "Table", "Tables", "survey_book"]


MOST_FORMULAS = 400_000
"""Formulas of a workbook in which attention is looked for."""
SQUARE = "Scores", "Scaled", "Softmax"
"""Steps with a row and a column for each word."""
DRAWN, MOST_TEXTS = (".xlsx", ".xlsm"), 2_000
"""The files whose frames are looked for, and the texts of a sheet that may be their titles."""
LABEL_CORNERS = ("", "sentence", "sentences", "sheet", "name", "text")
"""First cells of the row of headings on the sheet `Labels`."""


@dataclass(frozen=True, repr=False)
class Tables:
    """The input in a workbook: embedding tables by sheet, weights by name, settings as written.

    Attributes:
        path: the file.
        sentences: tables (n, d) by name, one word per row.
        weights: tables by name, such as `W_Q`.
        settings: the settings on the sheet `Settings`.
        remarks: notes about how the file was read.
        labels: the right answers for a sentence, by its name: its class, or its next words.
        optional: the weights that a model need not use.
        longer: returns the weights for texts that go on for some words; None if they are the same.
        called: an author's own names, in lower case, and the steps they stand for.
    """

    path: Path
    sentences: dict[str, Table]
    weights: Mapping[str, Table]
    settings: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    longer: Callable[[int], Mapping[str, Table]] | None = None
    called: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        lines = [f"Tables of {self.path}"]
        for what, tables in (("sentence", self.sentences), ("weights", self.weights)):
            lines += [
                f"  {what} {name}: {len(t.rows)} x {len(t.columns)}" for name, t in tables.items()
            ]
        lines += [f"  label of {name}: {', '.join(texts)}" for name, texts in self.labels.items()]
        lines += [f"  setting {name}: {value}" for name, value in self.settings.items()]
        return "\n".join(
            map(on_a_line, (*first_and_last(lines), *(f"  {remark}" for remark in self.remarks)))
        )


@dataclass
class Survey:
    """Everything found in a file, and how it is used.

    Attributes:
        path: the file.
        sheets: the sheets in order, with their tables.
        tables: the tables to compute with; None if they cannot be determined.
        trouble: why they cannot be determined, or None.
        book: the file's contents.
        joined: whether its formulas leave the outputs of several heads side by side, without W_O.
        instead: the ranges to give with --attention A, where attn-xl does not compute the attention
            weights of the formulas.
    """

    path: Path
    sheets: list[SheetFound] = field(default_factory=list)
    tables: Tables | None = None
    trouble: InputError | None = None
    book: Book | None = field(default=None, repr=False)
    joined: bool = False
    instead: Sequence[str] = ()


def survey_book(
    book: Book,
    *,
    range: str | Sequence[str] = (),
    words_in: WordsIn | None = None,
    sheet: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
    attention: str | None = None,
) -> Survey:
    """Find all tables of a book and what each is for; arguments as for `read_tables`.

    An ambiguity is not raised but stored as the result's `trouble`.

    Raises:
        InputError: if attn-xl wrote the workbook and it cannot be read as an input.
        CallError: if a range or a sheet does not exist.
    """
    if words_in not in (None, "rows", "columns"):
        raise CallError(f"--words-in is {words_in!r}; give rows or columns.")
    survey = Survey(book.path, book=book)
    if OVERVIEW in book.grids and wrote_this(book.path):
        do = f"its sheet {SETTINGS!r} is missing. Give the file it was made from."
        if SETTINGS in book.grids and (range or words_in):
            do = "leave out --range and --words-in to read it back as a whole."
        if INFLUENCES in book.grids and SETTINGS not in book.grids:
            raise InputError(
                f"{book.path}: attn-xl compare wrote this workbook, which compares models. Give the "
                "file it was made from, with --model for one of them."
            )
        raise InputError(f"{book.path}: attn-xl wrote this workbook; {do}")
    names: dict[str, str] = {}
    for original in book.grids:
        names[unique(clean(original), {name.casefold() for name in names})] = original
    ranges = [range] if isinstance(range, str) else list(range)
    settings: dict[str, Any] = {}
    labels: dict[str, tuple[str, ...]] = {}
    for plain, original in names.items():
        if plain.casefold() == SETTINGS.casefold():
            settings = read_settings(book.grids[original], f"{book.path}, sheet {plain!r}")
    given = str(attention or settings.get("attention") or "")
    asked = asked_ranges(book, ranges, names, given)
    only = {known_sheet(s, names, "--sheet") for s in ([sheet] if isinstance(sheet, str) else sheet)}
    if any(not a.weights for a in asked) and not only:
        only = {a.area[0] for a in asked}
    leave_out = LeftOut([*without_option(without), *without_setting(settings)])
    plain_of = {original: plain for plain, original in names.items()}
    said = Reading()
    if _may_compute(book) and not names_model(settings) and not _headings(book):
        from .computed_attention import read_attention  # few inputs have formulas

        tables_of = {o: every_table(book, o, p)[2] for o, p in plain_of.items()}
        words = [place_of(*a.area) for a in asked if not a.weights]
        said = read_attention(book, tables_of, only, words, plain_of)
        if not words and _in_layers(said, tables_of):
            said = Reading()
    survey.trouble, survey.instead, survey.joined = said.trouble, said.instead, said.joined
    settings = {**said.settings, **settings}
    roles = said.roles or {}
    for plain, original in names.items():
        here = [a for a in asked if a.area[0] == original]
        if plain.casefold() == SETTINGS.casefold():
            survey.sheets.append(SheetFound(plain, passed="options"))
        elif plain.casefold() == LABELS.casefold():
            labels |= _read_labels(book.grids[original], f"{book.path}, sheet {plain!r}", names)
            survey.sheets.append(SheetFound(plain, passed="right answers, for a loss"))
        elif leave_out.names_sheet(plain):
            survey.sheets.append(SheetFound(plain, passed=LEFT_OUT))
        elif why := _passed(
            plain, original, book, only, bool(here or parameter_of(plain) or roles.get(original))
        ):
            survey.sheets.append(SheetFound(plain, passed=why))
        else:
            one = tables_of_sheet(
                book, original, plain, here, said, wanted=original in only, attention=given,
            )  # fmt: skip
            _note_hidden(one, book, original)
            if book.grids[original][:1] and STEPS_NOTE in map(str, book.grids[original][0]):
                one.found = [  # with words in rows, whatever the author's sheets have
                    replace(f, use="" if f.use == "sentence" else f.use, certain=True)
                    for f in one.found
                ]
                one.trouble = None
            survey.sheets.append(one)
    if said.roles is not None:
        add_labelled({names[one.name]: one for one in survey.sheets}, book, said)
    _name_parameters(survey)
    leave_out.tables(survey.sheets)
    for found in survey.sheets:
        _refuse_unknown_weights(survey, found, names[found.name] in only)
    if survey.trouble is not None:
        return survey
    _take_word(survey)
    _take_projected(survey)
    _leave_results(survey)
    _leave_repeated(survey)
    if apart := _words_apart(survey):
        survey.trouble = InputError(
            f"{survey.path}: {apart[0].where} and {apart[1].where} may be two words of a sentence. Put "
            "them below each other, one word per row; attn-xl fill completes the sheet as it is."
        )
        return survey
    try:
        tables = _assembled(survey, settings, words_in)
        unread = names.keys() - tables.sentences.keys()
        survey.tables = replace(
            tables,
            labels={name: right for name, right in labels.items() if name not in unread},
            called=_called(book),
        )
    except InputError as error:
        survey.trouble = error
    return survey


def _take_word(survey: Survey) -> None:
    """Take a file's only table for a sentence if it is a row whose label merely resembles the name of
    weights: the word `w1`."""
    places = [(sheet, f) for sheet in survey.sheets for f in sheet.found]
    if len(places) == 1:
        (sheet, f) = places[0]
        label = next((text for text, at in f.names if at == "left of it"), "")
        if f.use == "weights" and f.shape[0] == 1 and label not in ("", f.name):
            sheet.found[0] = replace(f, use="sentence", name="", why="it is the only table")


def _take_projected(survey: Survey) -> None:
    """Take tables called Q, K and V, if no other may be a sentence, for the weights of one-hot words:
    what these project are the tables."""
    tables = defaultdict(list)
    may_be = [
        (sheet, n, f)
        for sheet in survey.sheets
        for n, f in enumerate(sheet.found)
        if f.use == "sentence" or f.why.startswith("may be")
    ]
    for sheet, n, f in may_be if len(may_be) > 2 else ():
        above = [text for text, at in f.names if at == "above it"]
        title = f.title or next(iter(above), sheet.name)
        step, _ = step_named(title) or ("", False)
        name = PROJECTED.get(step, "")
        tables["result" if f.computed else name].append((sheet, n, f))
    results = tables.pop("result", [])
    if {name: len(some) for name, some in tables.items()} != {"W_Q": 1, "W_K": 1, "W_V": 1}:
        return
    for name, ((sheet, n, f),) in tables.items():
        sheet.found[n] = replace(f, use="weights", name=name, why=GIVEN)
        sheet.trouble = None
    for sheet, n, f in results:
        sheet.found[n] = replace(f, use="", why=RESULT)
        sheet.trouble = None


def _leave_results(survey: Survey) -> None:
    """Leave out, beside a typed sentence, what formulas compute below the title of a step, and what may
    be a sentence beside weights."""
    if all(f.computed for _, _, f in _used(survey, "sentence")):
        return
    for sheet in survey.sheets:
        weighted = any(f.use == "weights" for f in sheet.found)
        for n, f in enumerate(sheet.found):
            unclear = f.why.startswith("may be")
            computed = f.computed and not (f.certain or _is_asked(f))
            if (
                computed
                and (unclear or f.use == "sentence")
                and ((unclear and weighted) or names_step(f.title or sheet.name))
            ):
                sheet.found[n], sheet.trouble = replace(f, use="", why=RESULT), None


def _leave_repeated(survey: Survey) -> None:
    """Leave out the sentences that formulas repeat, and tables in which they look up words, or whose
    rows one-hot vectors select."""
    sentences = [*_used(survey, "sentence")]
    others = [one for one in _used(survey, "") if one[2].why == NOT_READ]
    for (sheet, n, f), (there, m, other) in product(sentences, [*sentences, *others]):
        if not f.computed or not _is_given(other) or f.table is None or other.table is None:
            continue
        if np.array_equal(f.table.values, other.table.values):
            sheet.found[n] = replace(f, use="", why=f"{RESULT}; it repeats {other.where}")
        elif f.looked_up_in(other):
            there.found[m] = replace(other, use="", why=f"{f.where} looks up words there")
    given = [(there, m, other) for there in survey.sheets for m, other in enumerate(there.found)
             if other.table is not None and _is_given(other)]  # fmt: skip
    vectors = [one for one in given if one[2].table and is_one_hot(one[2].table.values)]
    for (_, _, f), hot, every in product(sentences, vectors, given):
        if f.computed and _selected(*(one.table for one in (f, hot[2], every[2]) if one.table)):
            for there, m, other in (hot, every):
                there.found[m] = replace(other, use="", why=f"{f.where} is a product of it")


def _selected(x: Table, hot: Table, every: Table) -> bool:
    """Whether a table has the vectors (v, d) that one-hot vectors (n, v) select from another table."""
    ways = product((hot.values, hot.values.T), (every.values, every.values.T))
    return any(a.shape[1] == b.shape[0] and np.array_equal(a @ b, x.values) for a, b in ways)


def _words_apart(survey: Survey) -> list[Found]:
    """A sentence of one word that nobody asked for, and typed numbers of its size in its row, which
    nothing uses."""
    for sheet, _, f in _used(survey, "sentence"):
        here = [
            one for one in sheet.found
            if (one.place.row, one.shape) == (f.place.row, f.shape) and not (one.use or one.computed)
        ]  # fmt: skip
        if f.shape[0] == 1 and here and not _is_asked(f):
            return [f, here[0]]
    return []


def names_model(settings: Mapping[str, Any]) -> bool:
    """Whether the sheet `Settings` names a model, so that tables are assigned by their labels."""
    return any(name.strip().lstrip("-").casefold() == "model" for name in settings)


def _may_compute(book: Book) -> bool:
    """Whether a book has formulas, and not too many to follow."""
    known = sum(len(book.marks.formulas(sheet) or ()) for sheet in book.grids)
    return 0 < known <= MOST_FORMULAS or book.hides_formulas


def _in_layers(said: Reading, tables: Mapping[str, Sequence[Found]]) -> bool:
    """Whether the words of the attention that a book computes are results, as those after a norm are,
    and labels name the weights of such layers."""
    read = (f for found in (said.roles or {}).values() for f in found if f.use == "sentence")
    labels = (
        weight_label(text) or "" for found in tables.values() for f in found for text, _ in f.names
    )
    return any(f.computed for f in read) and any(map(_OF_LAYER.match, labels))


_OF_LAYER = re.compile(r"gamma|beta|W_[12]")


def _passed(plain: str, original: str, book: Book, only: set[str], asked: bool) -> str:
    """Why a sheet is skipped, or ""."""
    if asked or original in only or weight_label(plain):
        return ""
    if only:
        return "another sheet was requested"
    return f"hidden; --sheet {plain!r} reads it" if original in book.hidden else ""


def _name_parameters(survey: Survey) -> None:
    """Rename PyTorch parameters to the weights they hold, which depends on the other parameters."""
    names = {f.name: f for sheet in survey.sheets for f in sheet.found if f.parameter}
    weights = weights_of_parameters(names, {name: f.shape for name, f in names.items()})
    for sheet in survey.sheets:
        try:
            sheet.found = [
                one
                for f in sheet.found
                for one in (parts_of(f, weights[f.name]) if f.parameter else (f,))
            ]
        except InputError as error:
            sheet.trouble = sheet.trouble or error


def _refuse_unknown_weights(survey: Survey, sheet: SheetFound, wanted: bool) -> None:
    """Report tables whose name looks like that of weights, unless --sheet names their sheet."""
    strange = [f.names[0][0] for f in sheet.found if f.why == UNKNOWN and f.names]
    own = sheet.name != survey.path.stem and says_weights(sheet.name)
    if own and any(f.use == "sentence" for f in sheet.found):
        strange = [sheet.name]
    if wanted or not strange or sheet.trouble is not None:
        return
    name = strange[0]
    where = "" if name == sheet.name else f", sheet {sheet.name!r}"
    sheet.trouble = InputError(
        f"{survey.path}{where}: {name!r} looks like the name of weights, but attn-xl does not know it. "
        f"Rename it to W_Q, W_K, W_V, ..., or leave it out with --without {shlex.quote(name)}. If "
        f"it is a sentence, --sheet {shlex.quote(sheet.name)} reads it."
    )


def _note_hidden(sheet: SheetFound, book: Book, original: str) -> None:
    """Note which tables have hidden rows or columns, which are read like the others."""
    if not any(f.use for f in sheet.found):
        return
    rows, columns = book.marks.hidden(original)
    if not rows and not columns:
        return
    for i, f in enumerate(sheet.found):
        place = f.place
        inside = [r for r in rows if place.row <= r <= place.last_row]
        inside += [c for c in columns if place.column <= c <= place.last_column]
        if inside and f.use:
            note = "its hidden rows or columns are read like the others"
            sheet.found[i] = replace(f, notes=(*f.notes, note))


def _assembled(survey: Survey, settings: dict[str, Any], words_in: WordsIn | None) -> Tables:
    """The sentences and weights to compute with; updates the records of the survey with their use.

    Raises:
        InputError: if the use of a table is ambiguous, or a needed table has an invalid cell.
    """
    path = survey.path
    for sheet in survey.sheets:
        if sheet.trouble is not None:
            raise sheet.trouble
    weights = _weights(survey)
    sentences: dict[str, Table] = {}
    conventions: list[tuple[WordsIn, Table]] = []
    if "W_Q" in weights and weights["W_Q"].why == GIVEN:
        q, k = (_readable(weights[name]) for name in ("W_Q", "W_K"))
        where, why = words_of(q, "", (), words_in)
        if why == BY_DEFAULT and survey.book is not None:
            f = weights["W_Q"]
            where, why = _as_frames_show(survey.book, f, q, (), [f.place]) or (where, why)
        q, k = (one.turn() if where == "columns" else one for one in (q, k))
        sentences["Queries"] = one_hot(q, "Queries")
        if q.rows != k.rows:
            sentences["Keys"] = one_hot(k, "Keys")
            settings = {"memory": "Keys", **settings}
        conventions.append((where, sentences["Queries"]))
    for sheet, i, f in _used(survey, "sentence"):
        table = _readable(f)
        raw = [
            (name, w.table.turn() if w.table and w.turned else w.table) for name, w in weights.items()
        ]
        corner = next((text for text, at in f.names if at == "in its corner"), "")
        known = [(name, t) for name, t in raw if t is not None]
        others = [one for _, _, one in _used(survey, "sentence") if one is not f]
        if len(others) == 1 and names_memory(f.title) != names_memory(others[0].title):
            known += [("Memory", one.table) for one in others if one.table]
        where, why = (
            (f.words_in, f.why_words)
            if f.certain and words_in is None
            else words_of(table, corner, known, words_in)
        )
        if why == BY_DEFAULT and survey.book is not None:
            inputs = [one.place for _, _, one in _used(survey, "sentence")]
            where, why = _as_frames_show(survey.book, f, table, known, inputs) or (where, why)
        start, several = 0, f.sentences if where == "rows" else ()
        for part, count in several or ((f.name or sheet.name, len(table.rows)),):
            name = unique(part, {name.casefold() for name in sentences})
            rows = table.part(slice(start, start + count), slice(None)) if several else table
            sentences[name] = replace(rows.turn() if where == "columns" else rows, name=name)
            conventions.append((where, sentences[name]))
            start += count
        sheet.found[i] = replace(f, name=name, words_in=where, why_words=why, turned=where == "columns")
    if not sentences and weights:
        raise InputError(
            f"{path}: only weights found ({', '.join(weights)}). Add a sheet with a sentence: the "
            "words in its first column, the names of the dimensions in its first row."
        )
    if not sentences and survey.book and survey.book.lacks_values:
        raise InputError(
            f"{path}: its formulas have no stored values, as a program that does not calculate leaves "
            "them. Open the file in a spreadsheet program and save it."
        )
    if not sentences:
        raise InputError(
            f"{path}: no table of numbers found. Put the words in the first column, the names of the "
            "dimensions in the first row, and a number in every cell between."
        )
    memory = _memory(survey) if "memory" not in settings else None
    settings = {**settings, "memory": memory} if memory else settings
    looked_at = sentences.get(str(settings.get("memory")))
    dims = next((own.columns for _, own in conventions if own is not looked_at), ())
    columns = all(where == "columns" for where, _ in conventions)
    in_columns: WordsIn = "columns" if columns else "rows"
    turned: dict[str, Table] = {}
    for sheet, i, f in _used(survey, "weights"):
        table = replace(_readable(f), name=f.name)
        own = looked_at.columns if looked_at and f.name.endswith(("W_K", "W_V")) else dims
        turn = f.turned or (
            not (f.parameter or f.certain)
            and ((columns and f.why == GIVEN) or to_turn(f.name, table, own, in_columns))
        )
        turned[f.name] = table.turn() if turn else table
        sheet.found[i] = replace(f, turned=turn)
    heads = {} if "heads" in settings else heads_of(turned)
    told = [f for _, _, f in _used(survey, "sentence")]
    words = (f.name for _, _, f in _used(survey, "weights") if any(one.looked_up_in(f) for one in told))
    optional = frozenset(words)  # a vocabulary
    remarks = tuple(_remarks(survey))
    return Tables(path, sentences, turned, {**settings, **heads}, remarks, optional=optional)


def _memory(survey: Survey) -> str | None:
    """The name of the sentence that the only other one looks at, if its title says so and no formulas
    tell; a table of --range has no title."""
    used = [*_used(survey, "sentence")]
    titled = [one for one in used if names_memory(one[2].title)]
    if (len(used), len(titled)) != (2, 1) or any(f.certain for _, _, f in used):
        return None
    ((sheet, i, f),) = titled
    note = "the other sentence looks at it, if the model has a --memory"
    sheet.found[i] = replace(f, notes=(*f.notes, note))
    return f.name


def one_hot(table: Table, name: str) -> Table:
    """The words of a table, each with a dimension of its own."""
    values = np.eye(len(table.rows))
    return replace(table, name=name, values=values, columns=table.rows, labelled=(True, True))


def _called(book: Book) -> dict[str, str]:
    """An author's own names for steps, if a table of them may be there."""
    if not any(text.strip().casefold() == "step" for text in book.texts):
        return {}
    from .own_names import called_on

    return called_on(book.grids)


def _as_frames_show(
    book: Book,
    f: Found,
    table: Table,
    weights: Sequence[tuple[str, Table]],
    inputs: Sequence[Place],
) -> tuple[WordsIn, str] | None:
    """Whether the words of a sentence are in rows or in columns, and why, as an author's frames for the
    steps on its sheet show it; None if there are none."""
    grid = book.grids.get(f.place.sheet, [])
    texts = [value for row in grid for value in row if isinstance(value, str)]
    if book.path.suffix.lower() not in DRAWN or len(texts) > MOST_TEXTS:
        return None

    if not any((named := step_named(text)) and named[0] in SQUARE for text in texts):
        return None
    from attn_xl.spreadsheets.drawn import read_drawn

    from .frames import Page, direction, nearest_to, titles_of

    if "drawn" not in book.kept:
        try:
            book.kept["drawn"] = read_drawn(book.path, book.marks.content).sheets
        except InputError:  # it can be read, but not be filled in: it is signed, for example
            book.kept["drawn"] = []
    for sheet in (one for one in book.kept["drawn"] if one.name == f.place.sheet):
        titles = [one for one in titles_of(sheet, {}) if not is_heading(one.text)]
        near = nearest_to(f.place, inputs, titles)
        return direction(Page(sheet), table, dict(weights), near, None)
    return None


def heads_told(names: Iterable[str]) -> tuple[int, str]:
    """The number of heads that `W_Q_1`, `W_Q_2`, ... tell, 0 for none, and the first name that is
    missing among them."""
    names = set(names)
    numbers = {(m[1], int(m[2])) for name in names if (m := re.fullmatch(r"W_([QKV])_(\d+)", name))}
    heads = max((number for _, number in numbers), default=0)
    wanted = [f"W_{letter}_{n}" for letter in "QKV" for n in range(1, min(heads, 1000) + 1)
              if letter in {letter for letter, _ in numbers}]  # fmt: skip
    return heads, next((name for name in wanted if name not in names), "")


def heads_of(weights: Mapping[str, Table]) -> dict[str, Any]:
    """The settings for the number of heads that the names of weights tell, of each layer the same, and
    for that of keys and values that these share; {} if they tell none."""
    layers: dict[str, list[str]] = {}
    for name in weights:
        layer, _, own = name.rpartition(".")
        layers.setdefault(layer, []).append(own)
    told = {heads_told(names) for names in layers.values()} - {(0, "")}
    heads, missing = next(iter(told)) if len(told) == 1 else (0, "")
    if not heads or missing:
        return {}
    queries, keys = (
        next((len(one.columns) for name, one in weights.items() if name.endswith(end)), 0)
        for end in ("W_Q_1", "W_K")
    )
    shared = keys // queries if queries and keys % queries == 0 else heads
    return {"heads": heads} | ({"kv_heads": shared} if 0 < shared < heads else {})


def _used(survey: Survey, use: str) -> Iterator[tuple[SheetFound, int, Found]]:
    for sheet in survey.sheets:
        for i, f in enumerate(sheet.found):
            if f.use == use:
                yield sheet, i, f


def _readable(f: Found) -> Table:
    if f.table is None:
        raise InputError(f.problem)
    return f.table


def _weights(survey: Survey) -> dict[str, Found]:
    """The weights by name, each once: those given with --range take precedence, then originals over
    copies made by formulas."""
    for sheet in survey.sheets:
        _name_layers(survey, sheet)
        _number_heads(sheet)
    named: dict[str, list[tuple[SheetFound, int, Found]]] = {}
    for sheet, i, f in list(_used(survey, "weights")):
        named.setdefault(f.name, []).append((sheet, i, f))
    weights: dict[str, Found] = {}
    for name, tables in named.items():
        left = tables
        for preferred, why in (
            (_is_asked, "--range says otherwise:"),
            (_is_given, "computed by formulas;"),
        ):
            kept = [one for one in left if preferred(one[2])]
            if kept and len(kept) < len(left):
                first = kept[0][2].where
                for sheet, i, f in left:
                    if not preferred(f):
                        sheet.found[i] = replace(f, use="", why=f"{why} {name} is {first}")
                left = kept
        weights[name] = left[0][2]
        for sheet, i, f in left[1:]:
            if _readable(f).values.tolist() == _readable(weights[name]).values.tolist():
                why = f"its numbers are those of {name} in {weights[name].where}"
                sheet.found[i] = replace(f, use="", why=why)
        left = [one for one in left if one[0].found[one[1]].use]
        if len(left) > 1:
            raise _twice(survey, name, left[0][2], left[1][2])
    return weights


def _headings(book: Book) -> dict[str, list[Heading]]:
    """The headings on each sheet, by its name without control characters, if they tell several W_Q
    apart."""
    if "headings" not in book.kept:
        texts = {clean(name): texts_of(grid) for name, grid in book.grids.items()}
        few = sum(map(len, texts.values())) <= MOST_TEXTS
        book.kept["headings"] = headings_of(texts) if few else {}
    found: dict[str, list[Heading]] = book.kept["headings"]
    return found


def _name_layers(survey: Survey, sheet: SheetFound) -> None:
    """Give the weights below headings their place in the model: `Dec1.Self.W_Q`."""
    weights = [i for i, f in enumerate(sheet.found) if f.use == "weights" and not _is_asked(f)]
    several = sum(sheet.found[i].name.startswith("W_Q") for i in weights) > 1
    book = survey.book
    layered = _headings(book) if book is not None and (several or len(survey.sheets) > 1) else {}
    for i in weights if layered else ():
        f, headings = sheet.found[i], layered.get(sheet.name, ())
        path = path_at(f.place.row, f.place.column, f.name, headings)
        sheet.found[i] = replace(f, name=f"{path}{f.name}")


def _number_heads(sheet: SheetFound) -> None:
    """Number the weights that stand as often as W_Q, W_K and W_V on the sheet of one sentence, from the
    top left: they are those of its heads."""
    where: dict[str, list[int]] = {}
    for i, f in sorted(enumerate(sheet.found), key=lambda one: (one[1].place.row, one[1].place.column)):
        if f.use == "weights" and not _is_asked(f):
            where.setdefault(f.name, []).append(i)
    numbers = [len(where.get(name, ())) for name in ("W_Q", "W_K", "W_V")]
    of_heads = {name: places for name, places in where.items() if [len(places)] * 3 == numbers}
    tables = [[sheet.found[i].table for i in places] for places in of_heads.values()]
    differ = any(len({str(one and one.values.tolist()) for one in some}) > 1 for some in tables)
    if differ and sum(f.use == "sentence" for f in sheet.found) == 1:
        for name, places in of_heads.items():
            for n, i in enumerate(places, 1):
                sheet.found[i] = replace(sheet.found[i], name=f"{name}_{n}")


def _twice(survey: Survey, name: str, a: Found, b: Found) -> InputError:
    if "sheet is called" in a.why and "sheet is called" in b.why:
        return InputError(
            f"{survey.path}: sheets {a.place.sheet!r} and {b.place.sheet!r} are both {name}; keep one."
        )
    if a.place.sheet != b.place.sheet:
        return InputError(
            f"{survey.path}: {name} is on the sheets {a.place.sheet!r} and {b.place.sheet!r}. Choose "
            f"one with --sheet {shlex.quote(a.place.sheet)}."
        )
    return InputError(
        f"{survey.path}: {a.where} and {b.where} are both {name}. Choose one with --range "
        f'"{name}={a.where}".'
    )


def _is_asked(f: Found) -> bool:
    return f.why.startswith("--range ")


def _is_given(f: Found) -> bool:
    return not f.computed


def _remarks(survey: Survey) -> Iterator[str]:
    """Yield notes for the reader: tables skipped beside a sentence, transposed tables, and so on."""
    if survey.book is not None:
        yield from survey.book.remarks
    across = any(f.turned for _, _, f in _used(survey, "sentence"))
    for sheet in survey.sheets:
        if sheet.passed.startswith("hidden"):
            yield f"The sheet {sheet.name!r} is hidden and was skipped."
        used = [f for f in sheet.found if f.use]
        over = [
            f for f in sheet.found if not f.use and f.why not in ("--range names another", LEFT_OUT)
        ]
        if used and over:
            what = "table was" if len(over) == 1 else "tables were"
            yield (
                f"On the sheet {sheet.name!r}, {_uses(used)}; {len(over)} other {what} skipped "
                "(attn-xl inspect says why)."
            )
        for_columns = [f for f in used if across and f.turned and not f.parameter]
        turned = [f.name for f in for_columns if f.use == "weights"]
        if for_columns:
            yield (
                f"On the sheet {sheet.name!r}, words are in columns: the numbers are transposed to one "
                f"word per row{', also of ' + ', '.join(turned) if turned else ''}."
            )
        for f in used:
            for note in f.notes:
                yield f"{f.where}: {note}."
            if f.use == "sentence" and names_step(f.title):
                yield f"{f.where} is titled {f.title!r}, but is read as an input."
        for f in sheet.found:
            if f.why == NOT_READ and f.input_title and not f.computed:
                yield f"{f.where} is titled {f.input_title!r}, but {NOT_READ}."
    if any(f.why == GIVEN for sheet in survey.sheets for f in sheet.found):
        yield (
            "Queries, keys and values are given without an input. So each word of the input has a 1 of "
            "its own, and W_Q, W_K and W_V are the given tables."
        )
    if survey.joined:
        yield "The formulas leave the heads' outputs side by side, without W_O."
    found = [f for sheet in survey.sheets for f in sheet.found]
    parameters = [(f.parameter, f.name) for f in found if f.use and f.parameter]
    if parameters:
        sheets, weights = (list(dict.fromkeys(names)) for names in zip(*parameters))
        of_heads = any(name.rpartition(".")[2] in OF_HEADS for name in weights)
        heads = " They do not record the number of heads: set it with --heads." if of_heads else ""
        yield (
            f"{listed(sheets, 6)}: read as {listed(weights, 6)} of PyTorch and transposed, because its "
            f"matrices are out x in.{heads}"
        )


OF_HEADS = ("W_Q", "W_K", "W_V", "W_O")
"""Weights that several heads may share."""


def _uses(used: Sequence[Found]) -> str:
    sentences = [f.place.range for f in used if f.use == "sentence"]
    weights = [f"{f.name}" for f in used if f.use == "weights"]
    are = "sentences are" if len(sentences) > 1 else "sentence is"
    parts = [f"the {are} {listed(sentences, 6)}"] if sentences else []
    named = [", ".join(weights)] if sentences else [f"there are {listed(weights)}"]
    return " beside ".join([*parts, *(named if weights else [])])


def _read_labels(grid: Grid, where: str, sheets: Container[str]) -> dict[str, tuple[str, ...]]:
    """Read labels: sentences in the first column, their right answers to the right. A first row that
    names no sentence, or one that has a row of its own, has headings."""
    labels: dict[str, tuple[str, ...]] = {}
    lines = [[clean(as_text(value)) for value in values] for values in grid]
    firsts = [texts[0] for texts in lines if texts]
    for row, (values, texts) in enumerate(zip(grid, lines)):
        while texts and not texts[-1]:
            texts.pop()
        if not texts:
            continue
        heads = texts[0].casefold() in LABEL_CORNERS
        if not labels and heads and (texts[0] not in sheets or firsts.count(texts[0]) > 1):
            firsts.remove(texts[0])
            continue
        if not texts[0] or len(texts) < 2:
            raise InputError(
                f"{where}, row {row + 1}: a label needs the name of a sentence and, beside it, its "
                "class "
                "or the word that follows; found "
                f"{described(next(v for v in values if not is_blank(v)))}."
            )
        if texts[0] in labels:
            raise InputError(f"{where}, row {row + 1}: {texts[0]!r} has a label above; keep one.")
        labels[texts[0]] = tuple(texts[1:])
    return labels


def read_settings(grid: Grid, where: str) -> dict[str, Any]:
    """Read settings: names in the first column, values to their right."""
    settings: dict[str, Any] = {}
    for row, values in enumerate(grid):
        filled = [value for value in values if not is_blank(value)]
        first = tuple(str(v).strip().casefold() for v in filled[:2])
        if not filled or first in [(name, "value") for name in ("setting", "option", "name")]:
            continue
        if len(filled) < 2 or isinstance(filled[0], ErrorValue) or isinstance(filled[1], ErrorValue):
            raise InputError(
                f"{where}, row {row + 1}: a setting needs a name and, beside it, a value; found "
                f"{described(filled[0])}."
            )
        settings[clean(filled[0])] = filled[1]
    return settings
