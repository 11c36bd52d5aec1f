"""An author's workbook, filled in: from the file to the bytes of the new one, and a report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from attn_xl.errors import AttnXlError, CallError, InputError, nearest
from attn_xl.graph.graph import Graph
from attn_xl.graph.step import Step
from attn_xl.models import steps
from attn_xl.models.build import attend
from attn_xl.models.computation import Computation
from attn_xl.models.unused import UnusedWeights
from attn_xl.settings import SETTINGS, Settings
from attn_xl.spreadsheets.addresses import address, quoted
from attn_xl.spreadsheets.book import wrote_this
from attn_xl.spreadsheets.drawn import DrawnBook, DrawnSheet, read_drawn
from attn_xl.spreadsheets.engine import Key, computed, formula_of
from attn_xl.spreadsheets.numerals import NOT_STORED
from attn_xl.tables.frames import Frame, Group, page_of, step_called, titles_of
from attn_xl.tables.labels import Table, looked_up
from attn_xl.tables.names import LEARNED, SPELLINGS, of_compared, spaced, step_named, step_told
from attn_xl.tables.own_names import names_told, says_where, spoken_in, tags_of
from attn_xl.tables.roles import BY_DEFAULT, WordsIn
from attn_xl.tables.survey import Tables, heads_of, names_model, read_settings
from attn_xl.tables.written import read_record
from attn_xl.text import clean, listed
from attn_xl.workbook.xlsx.splice import FilledCells, Now, StoredValues, arrays_in, filled_at, spliced
from attn_xl.workbook.xlsx.table_columns import with_header_names

from .areas import has_tags, lacks_weights, ways_to_read
from .fill import Filling, check, fill, gap, settle
from .groups import assigned
from .grow import grown
from .lookups import with_lookups
from .sentences import RATE
from .shared_words import add_shared_words
from .titles import OF_WORDS, PROJECTIONS, Assigned, in_layers
from .words_apart import words_apart


@dataclass(frozen=True, repr=False)
class FilledBook:
    """A filled workbook.

    Attributes:
        content: its bytes.
        filling: what was filled in and found.
        sheets: the names of its sheets, in order.
        linked: whether it refers to other workbooks.
    """

    content: bytes
    filling: Filling
    sheets: tuple[str, ...]
    linked: bool

    def __repr__(self) -> str:
        return f"<{self.summary}>"

    @property
    def summary(self) -> str:
        """`95 cells filled in 8 frames`."""
        filling = self.filling
        frames = sum(bool(count) for _, _, count in filling.frames)
        text = f"{filling.count:,} cells filled in {frames} of {len(filling.frames)} frames"
        if filling.steps:
            text += f"; what they do not show is on the sheet {filling.steps[0]}"
        return text

    @property
    def attention(self) -> list[str]:
        """What a person has to look at."""
        return [*self.filling.differs, *self.filling.closed, *self.filling.left]

    @property
    def notes(self) -> list[str]:
        """What was left alone, and what formulas do where books or titles differ."""
        notes = ["Its links to other workbooks were kept; nothing was read there."] * self.linked
        if self.filling.unread:
            notes.append(f"{listed(self.filling.unread, 6)}: these numbers are not read.")
        notes += self.filling.blank
        for sheet, values in self.filling.values.items():
            open_ = [address(*cell) for cell, value in sorted(values.items()) if value is None]
            if open_:
                notes.append(
                    f"{quoted(sheet)}!{listed(open_, 3)}: computed when a spreadsheet program opens "
                    "the file, from cells that were blank."
                )
        return [*notes, *_unlike_titles(self.filling), *_conventions(self.filling)]

    def report(self) -> list[str]:
        """The notes, and a line for each frame: where it is, its step, what was done, how it was
        recognized."""
        frames = sorted(self.filling.frames, key=lambda one: (one[1].place.row, one[1].place.column))
        frames.sort(key=lambda one: self.sheets.index(one[1].place.sheet))
        rows = [
            (frame.where, _spoken(frame), _done(frame, count), frame.by) for _, frame, count in frames
        ]
        widths = [max((len(row[n]) for row in rows), default=0) for n in range(3)]
        return self.notes + [
            "  ".join([*(text.ljust(width) for text, width in zip(row, widths)), row[3]])
            for row in rows
        ]


_OF_INPUT = r"(?:Input|[XE])(?![a-z])"
_MULTIPLIES = {
    steps.SCORES.symbol: (rf"=\s*{_OF_INPUT}\s*[×x*·⋅@]\s*{_OF_INPUT}", steps.W_Q, "W_Q and W_K make"),
    steps.OUTPUT.symbol: (rf"=[^=]+[×x*·⋅@]\s*{_OF_INPUT}", steps.W_V, "W_V makes"),
}
"""What titles of a step without weights show, the weights, and what these make."""


def _unlike_titles(filling: Filling) -> Iterator[str]:
    """The titles that name the softmax of plain scores, though formulas divide these by √d_k, or a
    product of the input, though they multiply what weights make of it."""
    shown = {frame.step.partition("_")[0] for _, frame, _ in filling.frames}
    graphs = [one.graph for one in filling.sentences]
    for _, frame, count in filling.frames:
        of = re.search(r"softmax(?:\s*\(|\s+of\s+)([^()'/√]+)", frame.by, re.IGNORECASE)
        plain = of is not None and step_named(of[1]) == (steps.SCORES.symbol, False)
        scales = any(steps.SCALED.symbol in graph for graph in graphs)
        if count and plain and scales and steps.SCALED.symbol not in shown:
            yield (
                f"{frame.where}: its title shows no √d_k, but its formulas divide by it, as the paper "
                "does. To leave it out: --no-scale."
            )
        base = frame.step.rpartition(".")[2].partition("_")[0]
        product, weights, made = _MULTIPLIES.get(base, ("(?!)", steps.W_Q, ""))
        if count and re.search(product, frame.by) and any(in_layers(g, weights.symbol) for g in graphs):
            yield f"{frame.where}: its title multiplies the input, but its formulas what {made} of it."


def _conventions(filling: Filling) -> Iterator[str]:
    """What formulas do where books differ, and no title tells: attention weights hide later words,
    because the next ones are predicted; a GRU keeps z of its state; a sentence has the weights of
    another one, or does without those of another sheet; a square input has its words in rows; weights
    move by a tenth of their gradients."""
    groups = [one.group for one in filling.sentences]
    projected = {one.input.where: one.weights.keys() & {*PROJECTIONS.values()} for one in groups}
    weighted = {one.input.place.sheet for one in groups if projected[one.input.where]}
    for group in groups:
        place = group.input.place
        if group.why == BY_DEFAULT and place.rows == place.columns > 1 and not group.settings:
            yield f"{place.where}: its words are taken to be in rows; if not: --words-in columns."
    for group in groups if weighted else ():
        if not projected[group.input.where] and group.input.place.sheet not in weighted:
            yield f"{group.input.where}: is computed without the weights of {listed(sorted(weighted))}."
    for group in (one for one in groups if steps.W_Q.symbol in one.weights):
        place = group.weights[steps.W_Q.symbol][0].place
        away = {one.input.where: gap(one.input.place, place) for one in groups}
        nearest_one = min(away, key=away.__getitem__)
        projects = any(one.step.partition("_")[0] in PROJECTIONS for one in group.frames)
        if nearest_one != group.input.where and place.sheet == group.input.place.sheet and not projects:
            yield f"{group.input.where}: is computed with the weights beside {nearest_one}."
    names = (step.rpartition(".")[2] for one in filling.sentences for step in one.graph)
    has = {name.partition("_")[0] for name in names}
    every = (node for one in filling.sentences for node in one.graph.values())
    told = any(node.is_step(steps.RESET_STATE) or node.step == steps.BLENDED_NEW for node in every)
    usual = Settings().rate
    new = [
        frame.where
        for group, frame, count in filling.frames
        if count and frame.step.startswith(LEARNED) and RATE not in group.weights
        if group.learns == usual
    ]
    if new:
        yield f"{listed(new, 3)}: the learning rate is taken to be {usual:g}."
    for _, frame, count in filling.frames:
        step = frame.step.rpartition(".")[2].partition("_")[0]
        softmax = step == steps.SOFTMAX.symbol and not re.search(
            r"mask|causal", frame.by, re.IGNORECASE
        )
        if count and softmax and has >= {steps.LOGITS.symbol, steps.MASKED.symbol}:
            yield f"{frame.where}: its formulas hide later words, because the next words are predicted."
        if count and step == steps.HIDDEN_STATE.symbol and steps.UPDATE.symbol in has and not told:
            gates = "h = (1 - z) · new + z · h before, new = tanh(x W + r · (h before · U))"
            otherwise = "--model gru --set update=new --set reset=before"
            yield f"{frame.where}: {gates}, as in PyTorch. If not: {otherwise}."


def _spoken(frame: Frame) -> str:
    return f"{frame.step}, words in columns" if frame.turned else frame.step


def _done(frame: Frame, count: int) -> str:
    size = frame.place.rows * frame.place.columns
    if not count:
        return "kept"
    return f"{count} filled" if count == size else f"{count} of {size} filled"


OF_VOCABULARY = OF_WORDS | {steps.BIASES[steps.W_U].symbol}
"""Weights that alone tell no language model: words may be looked up there."""


def fill_file(
    file: Path,
    options: Mapping[str, Any],
    called: Mapping[str, str] | None = None,
    words_in: WordsIn | None = None,
    tables: Tables | None = None,
    drawn: DrawnBook | None = None,
) -> FilledBook:
    """Fill the frames of an author's workbook.

    Args:
        options: the settings given in the call.
        called: an author's own names, in lower case, and the steps they stand for.
        words_in: where words are; detected if None.
        tables: sentences to put into the frames in place of the author's; these grow or shrink.
        drawn: the workbook, if it has been read.

    Raises:
        InputError: if the workbook cannot be read, has no input, or is ambiguous.
    """
    if file.suffix.lower() in (".xls", ".xlsb", ".ods", ".csv", ".tsv"):
        raise InputError(
            f"{file}: only .xlsx can be filled in. Save it as .xlsx in a spreadsheet program."
        )
    drawn = drawn or read_drawn(file)
    if read_record(drawn.book.grids) is not None:
        raise InputError(
            f"{file}: is a workbook that attn-xl wrote, which has all its formulas already."
        )
    where = f"{file}, sheet {SETTINGS!r}"
    on_sheet = read_settings(drawn.book.grids[SETTINGS], where) if SETTINGS in drawn.book.grids else {}

    if tables is not None:
        on_sheet |= tables.settings

    known = {name: step.symbol for step in _steps() for name in _spelled(step)}
    known |= {name: _step(step, known) for name, step in (called or {}).items()}
    model = partial(_Model, options, on_sheet, where)
    drawn, lookups, inputs = with_lookups(drawn, known)
    if tables is None:
        known = {**names_told(drawn, known), **known}
        made = _assigned(drawn, model, known, words_in)
        filling = fill(drawn, made)
        filling.add(lookups, [(made.groups[0], frame) for frame in inputs])
        written = filling.cells
    else:
        larger = grown(
            drawn,
            tables,
            lambda drawn, names: _assigned(drawn, partial(model, example=True), names, words_in),
            lambda tables, implied: model().compute(tables, implied),
            known,
        )
        drawn, filling = larger.drawn, fill(larger.drawn, larger.made, anew=True)
        written = larger.with_formulas(filling.cells)
        larger.note_formulas(written, filling.values)
    _compute(drawn, written, filling.values)
    while settle(filling):
        _compute(drawn, written, filling.values)
    check(filling)
    if tables is None and not filling.count:
        filling.values = {}  # a complete sheet stays as it is
    drawn = with_header_names(drawn, written)
    names = tuple(sheet.name for sheet in drawn.sheets)
    linked = any("externalLinks/" in part for part in drawn.package.parts)
    return FilledBook(spliced(drawn, written, filling.steps, filling.values), filling, names, linked)


_SCORES = steps.SCORES.symbol
_OTHER_SCORES = re.compile(r"=.*(?:\btanh\b|\bW_?a\b)", re.IGNORECASE)
"""Additive scores, v tanh(W s + U h), and those of sᵀ W_a h, in a title."""


def _refuse_other_scores(drawn: DrawnBook, groups: Sequence[Group] | None = None) -> None:
    """Refuse titles of such scores if no weights are called as there, or the sentences lack one."""
    vector = steps.V_A.symbol
    named = of_compared(text for sheet in drawn.sheets for text in sheet.values.values()).values()
    lacks = groups and vector in named and not any(vector in group.weights for group in groups)
    for sheet in drawn.sheets if lacks or not named else ():
        for cell, text in sheet.values.items():
            if isinstance(text, str) and _OTHER_SCORES.search(text) and step_told(text) == _SCORES:
                raise InputError(
                    f"{drawn.path}: {quoted(sheet.name)}!{address(*cell)} is {clean(text)!r}, but "
                    "there are no weights as named there: put them on the sheet, each with its name."
                )


@dataclass
class _Model:
    """Computes what weights, options and the sheet of options tell, and notes the weights that it does
    not use; of the example of a template, which is replaced, it generates those that are missing."""

    options: Mapping[str, Any]
    on_sheet: Mapping[str, Any]
    where: str
    example: bool = False
    by_weights: dict[str, Any] = field(default_factory=dict)
    unused: dict[str, tuple[Table, UnusedWeights]] = field(default_factory=dict)

    def compute(self, tables: Tables, implied: Mapping[str, Any]) -> Graph:
        """The matrices for one sentence.

        Raises:
            UnusedWeights: if other weights are missing.
        """
        try:
            return self._computed(tables, implied)
        except InputError:
            if not self.example:
                raise
            return self._computed(tables, {"random_weights": 0, **implied})

    def _computed(self, tables: Tables, implied: Mapping[str, Any]) -> Graph:
        if implied.get("model", model := self.by_weights.get("model")) != model:
            self.by_weights.clear()  # titles tell another model
        told = {**heads_of(tables.weights), **self.by_weights, **implied, **self.on_sheet}
        settings = Settings.resolve(dict(self.options), told, self.where)
        try:
            return _first(attend(tables, settings))
        except UnusedWeights as error:
            told_model = self.options.get("model") or names_model(self.on_sheet)
            without = [{**error.change, "feed_forward": False}] * ("model" in error.change)
            for change in (error.change, *without):
                told_else = "model" in implied or OF_VOCABULARY.issuperset(tables.weights)
                if change and not told_model and not ("model" in change and told_else):
                    with suppress(InputError, CallError):  # the weights tell the model
                        made = attend(tables, replace(settings, **change))
                        self.by_weights.update(change)
                        return _first(made)
            if not error.names:
                raise
            self.unused.update({name: (tables.weights[name], error) for name in error.names})
            used = {name: one for name, one in tables.weights.items() if name not in error.names}
            return _first(attend(replace(tables, weights=used), settings))


def _assigned(
    drawn: DrawnBook, model: Callable[[], _Model], known: Mapping[str, str], words_in: WordsIn | None
) -> Assigned:
    """The frames of a workbook.

    Raises:
        InputError: if it has no input, or is ambiguous.
    """
    made = _of_areas(drawn, model, known, words_in)
    for sheet in filter(has_tags, drawn.sheets):
        list(tags_of(sheet, str(drawn.path), known))
    add_shared_words(made, [page_of(sheet, known) for sheet in drawn.sheets])
    made.left += made.untitled
    return made


def _of_areas(
    drawn: DrawnBook, model: Callable[[], _Model], told: Mapping[str, str], words_in: WordsIn | None
) -> Assigned:
    """The frames of a workbook: those of each area by itself, as in a course whose sheets have models
    of their own, if nothing is left over there or if that leaves less.

    Raises:
        InputError: if it has no input, or is ambiguous.
    """
    known = {**spoken_in(drawn), **told}
    seen: dict[tuple[int, ...], tuple[Sequence[DrawnSheet], Assigned | AttnXlError]] = {}

    def of_area(*area: DrawnSheet) -> Assigned | AttnXlError:
        """The frames of an area by itself, or why it cannot be read."""
        key = tuple(map(id, area))
        if key not in seen:
            alone = _with_tags(drawn, area)
            try:
                seen[key] = area, _of_sheets(alone, model(), {**spoken_in(alone), **told}, words_in)
            except AttnXlError as why:
                seen[key] = area, why
        return seen[key][1]

    def of_areas(areas: Sequence[Sequence[DrawnSheet]]) -> Assigned | None:
        """The frames of several areas, each by itself; None if one of them needs others."""
        parts = []
        for area in areas:
            own = of_area(*area)
            if isinstance(own, Assigned):
                parts += [own] if own.groups else []
            elif any(any(titles_of(one, known)) or has_tags(one) for one in area):
                return None
        filled = all(any(group.frames for group in part.groups) for part in parts)
        return _joined(parts) if parts and filled else None

    areas: list[Sequence[DrawnSheet]] = []
    rest: list[DrawnSheet] = []
    for sheet in drawn.sheets:
        best: tuple[Assigned, list[DrawnSheet]] | None = None
        ways = ways_to_read(sheet, known)
        for way in ways if len(drawn.sheets) + len(ways) > 2 else ():
            found = of_areas([[part] for part in way])
            if found and (best is None or _is_better(found, best[0])):
                best = found, way
            if best and not best[0].left:
                break
        if best:
            areas += [[part] for part in best[1]]
        elif any(titles_of(sheet, known)):
            if not rest:
                areas.append(rest)
            rest.append(sheet)
    needed = lacks_weights(title for sheet in rest for title in titles_of(sheet, known))
    apart = of_areas(areas) if len(areas) > 1 and not needed else None
    if apart and not apart.left:
        return apart
    whole = of_area(*drawn.sheets)
    if isinstance(whole, Assigned) and not (whole.left or _takes_steps(whole)):
        return whole
    each = [one for area in areas for one in ([[s] for s in rest] if area is rest else [area])]
    sheets = of_areas(each) if len(each) > 1 else None
    if isinstance(whole, AttnXlError):
        tagged = any(map(has_tags, drawn.sheets))
        others = [one for one in (apart, sheets) if one and not tagged]
        if not others:
            raise whole
        return min(others, key=_left_over)
    for other in (apart, sheets):
        if other and _is_better(other, whole):
            whole = other
    return whole


def _left_over(made: Assigned) -> tuple[int, int]:
    return len(made.left), len(made.unread)


def _is_better(made: Assigned, other: Assigned) -> bool:
    """Whether one reading leaves less than another, and no sentence without its weights."""
    return _left_over(made) < _left_over(other) and not _lacks_weights(made, other)


def _with_tags(drawn: DrawnBook, sheets: Sequence[DrawnSheet]) -> DrawnBook:
    """The workbook with some sheets alone; what reads their tags takes them out of copies."""
    alone = copy(drawn)
    alone.sheets = [replace(one, values=dict(one.values)) if has_tags(one) else one for one in sheets]
    return alone


def _takes_steps(made: Assigned) -> bool:
    """Whether steps of a sentence stand on another sheet, beside a sentence without any, or beside
    typed numbers that nothing reads."""
    sheets = {
        frame.place.sheet
        for group in made.groups
        for frame in group.frames
        if frame.place.sheet != group.input.place.sheet
    }
    unread = (one.startswith(f"{sheet}!") for sheet in map(quoted, sheets) for one in made.unread)
    bare = (group for group in made.groups if not group.frames)
    return any(unread) or any(group.input.place.sheet in sheets for group in bare)


def _lacks_weights(made: Assigned, whole: Assigned) -> bool:
    """Whether a sentence lacks weights of its sheet that it has, besides frames, if all are read
    together; those of another head are the same."""

    def named(one: Group) -> set[str]:
        here = one.input.place.sheet
        return {re.sub(r"_\d+$", "", n) for n, (w, _) in one.weights.items() if w.place.sheet == here}

    weighted = {one.input.place: named(one) for one in whole.groups if one.frames}
    return any(named(one) < weighted.get(one.input.place, set()) for one in made.groups)


def _joined(parts: Sequence[Assigned]) -> Assigned:
    """What was found in several areas; each sentence keeps the settings that its area implies."""
    if len(parts) == 1:
        return parts[0]
    made = Assigned()
    for part in parts:
        made.labels += [(tag, len(made.groups) + number) for tag, number in part.labels]
        made.groups += [
            replace(group, implied={**part.implied, **group.implied}) for group in part.groups
        ]
        made.graphs += part.graphs
        made.left += part.left
        made.untitled += part.untitled
        made.unread += part.unread
        made.blank += part.blank
    return made


def _of_sheets(
    drawn: DrawnBook, model: _Model, known: Mapping[str, str], words_in: WordsIn | None
) -> Assigned:
    """The frames of some sheets, which have one model.

    Raises:
        InputError: if they have no input, or are ambiguous.
    """
    _refuse_other_scores(drawn)
    parts, rest = [], copy(drawn)
    for sheet in drawn.sheets:
        if beside := words_apart(sheet, known, str(drawn.path)):
            parts.append(beside)
            rest.sheets = [one for one in rest.sheets if one is not sheet]
    if not parts or any(any(titles_of(sheet, known)) for sheet in rest.sheets):
        parts.append(assigned(rest, model.compute, known, words_in))
    made = _joined(parts)
    _refuse_other_scores(drawn, made.groups)
    made.implied = {**model.by_weights, **made.implied}
    made.left += (
        f"{quoted(one.sheet)}!{address(one.row, one.column)}: {name} stands here, which the model "
        "does not use."
        for name, (one, _) in model.unused.items()
        if not any(name in graph for graph in made.graphs)
        and not any(looked_up(group.table, one) for group in made.groups)
    )
    if model.unused and not any(group.frames for group in made.groups):
        raise next(iter(model.unused.values()))[1]
    return made


def _first(computation: Computation) -> Graph:
    return next(iter(computation.graphs.values()))


def _compute(
    drawn: DrawnBook, written: Mapping[str, FilledCells], values: Mapping[str, StoredValues]
) -> None:
    """Give an author's formulas that read filled cells their values, which programs that do not compute
    show."""
    formulas: dict[Key, str] = {}
    for sheet, own in values.items():
        known = drawn.references.formulas.get(sheet, {}) if drawn.references else {}
        arrays = {cell: one for one in arrays_in(written.get(sheet, {})) for cell in one.cells()}
        for row, column in own:
            filled = filled_at(written.get(sheet, {}), row, column)
            hers = arrays.get((row, column)) or (None if filled else known.get((row, column)))
            text = filled.formula if filled else ""
            if hers is not None and not hers.table:
                text = formula_of(hers, (row, column))
            formulas[sheet, row, column] = text
    now = Now(drawn, written, values)

    def value_at(sheet: str, row: int, column: int) -> tuple[Any, bool]:
        filled = filled_at(written.get(sheet, {}), row, column)
        unknown = filled is not None and bool(filled.formula) and filled.value is None
        return (NOT_STORED, True) if unknown else now.at(sheet, row, column)

    found = computed(formulas, [*drawn.book.grids], drawn.names, value_at) if formulas else {}
    for (sheet, row, column), value in found.items():
        values[sheet][row, column] = value
        if filled := filled_at(written.get(sheet, {}), row, column):
            written[sheet][row][column] = filled._replace(value=value)


def _steps() -> Iterator[Step]:
    """The steps whose titles are read as they are spelled here."""
    every = (*steps.of_models(), *steps.of_losses(), steps.INFLUENCE)
    return (step for step in every if len(step.symbol) > 1)


def _spelled(step: Step) -> list[str]:
    """How a title names a step: after the name of its layer or, of a helper, of its step; and alone if
    that means no other step."""
    names = {step.symbol.casefold(), spaced(step.symbol).casefold()}
    alone = () if step.helper or step_named(step.symbol) else names
    return [*(f".{name}" for name in names), *alone]


def _step(name: str, known: Mapping[str, str]) -> str:
    """The step that the right side of --call names.

    Raises:
        CallError: if there is none.
    """
    found = step_called(name, known)
    if found is None:
        raise CallError(f"--call: there is no step {name!r}. {nearest(name, SPELLINGS)}")
    return found[0]


def frames_in(file: Path) -> list[str]:
    """What `attn-xl fill` finds in a file, a line each; empty if it has no frames, or if attn-xl wrote
    it."""
    if file.suffix.lower() not in (".xlsx", ".xlsm") or wrote_this(file):
        return []
    try:
        drawn = read_drawn(file)
        if not says_where(drawn):
            return []
        found = fill_file(file, {}, drawn=drawn)
    except InputError as error:
        return ["", f"attn-xl fill cannot complete it: {error}"]
    if not any(count for _, _, count in found.filling.frames):
        return []
    lines = [line.replace(" filled  ", " blank   ") for line in found.report()]
    return [
        "",
        "Frames that attn-xl fill completes:",
        *(f"  {line}" for line in lines),
        *found.attention,
    ]
