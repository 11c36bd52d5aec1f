"""Any spreadsheet in, labelled tables out, what each is for, and where it was found. Knows nothing of
attention but the names of its weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from attn_xl.errors import CallError, InputError
from attn_xl.labelled import first_and_last
from attn_xl.settings import SETTINGS
from attn_xl.spreadsheets.addresses import unique
from attn_xl.spreadsheets.book import Book, wrote_this
from attn_xl.spreadsheets.numerals import ErrorValue
from attn_xl.text import clean, listed
from attn_xl.text import plain as on_a_line

from .boxes import Grid, is_blank
from .find import UNKNOWN, SheetFound, asked_ranges, known_sheet, tables_of_sheet
from .labels import Table, described
from .left_out import LEFT_OUT, LeftOut, quoted_argument, without_option, without_setting
from .pytorch import parameter_of, parts_of, says_weights, weights_of_parameters
from .roles import Found, WordsIn, to_turn, weight_label, words_of

__all__ = ["Survey", "Table", "Tables", "survey_book"]


@dataclass(frozen=True, repr=False)
class Tables:
    """What a workbook holds: embedding tables by sheet, weights by name, settings as written.

    Attributes:
        path: the file.
        sentences: (n, d) each, a word a row, by name.
        weights: by name, `W_Q`.
        settings: as the sheet `Settings` has them.
        remarks: what a reader should know of how the file was read.
    """

    path: Path
    sentences: dict[str, Table]
    weights: dict[str, Table]
    settings: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        lines = [f"Tables of {self.path}"]
        for what, tables in (("sentence", self.sentences), ("weights", self.weights)):
            lines += [
                f"  {what} {name}: {len(t.rows)} x {len(t.columns)}" for name, t in tables.items()
            ]
        lines += [f"  setting {name}: {value}" for name, value in self.settings.items()]
        return "\n".join(
            map(on_a_line, (*first_and_last(lines), *(f"  {remark}" for remark in self.remarks)))
        )


@dataclass
class Survey:
    """Everything that was seen in a file, and what was made of it.

    Attributes:
        path: the file.
        sheets: in their order, with their tables.
        tables: what is to be computed with; None if that cannot be told.
        trouble: why it cannot be told, or None.
    """

    path: Path
    sheets: list[SheetFound] = field(default_factory=list)
    tables: Tables | None = None
    trouble: InputError | None = None


def survey_book(
    book: Book,
    *,
    range: str | Sequence[str] = (),
    words_in: WordsIn | None = None,
    sheet: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
) -> Survey:
    """Everything that is found in some cells, and what it is taken for; arguments as for `read_tables`.

    What cannot be decided is not an error here but the result's `trouble`.

    Raises:
        InputError: for a workbook that attn-xl wrote and that cannot be read in this way.
        CallError: for a range or a sheet that there is not.
    """
    if words_in not in (None, "rows", "columns"):
        raise CallError(f"--words-in is {words_in!r}; it is rows or columns.")
    made = Survey(book.path)
    if "Overview" in book.grids and wrote_this(book.path):
        do = f"its sheet {SETTINGS!r}, which says how, is gone. Give the one it was made from."
        if SETTINGS in book.grids and (range or words_in):
            do = "leave out --range and --words-in, and it is read back as a whole."
        raise InputError(f"{book.path}: attn-xl wrote this workbook; {do}")
    names: dict[str, str] = {}
    for original in book.grids:
        names[unique(clean(original), {name.casefold() for name in names})] = original
    ranges = [range] if isinstance(range, str) else list(range)
    asked = asked_ranges(book, ranges, names)
    only = {known_sheet(s, names, "--sheet") for s in ([sheet] if isinstance(sheet, str) else sheet)}
    if any(not weight_label(a.name) for a in asked) and not only:
        only = {a.area[0] for a in asked}
    settings: dict[str, Any] = {}
    for plain, original in names.items():
        if plain.casefold() == SETTINGS.casefold():
            settings = _read_settings(book.grids[original], f"{book.path}, sheet {plain!r}")
    leave_out = LeftOut([*without_option(without), *without_setting(settings)])
    for plain, original in names.items():
        here = [a for a in asked if a.area[0] == original]
        if plain.casefold() == SETTINGS.casefold():
            made.sheets.append(SheetFound(plain, passed="options"))
        elif leave_out.names_sheet(plain):
            made.sheets.append(SheetFound(plain, passed=LEFT_OUT))
        elif why := _passed(plain, original, book, only, bool(here) or bool(parameter_of(plain))):
            made.sheets.append(SheetFound(plain, passed=why))
        else:
            one = tables_of_sheet(book, original, plain, here, wanted=original in only)
            _note_hidden(one, book, original)
            made.sheets.append(one)
    _name_parameters(made)
    leave_out.tables(made.sheets)
    for found in made.sheets:
        _refuse_unknown_weights(made, found, names[found.name] in only)
    try:
        made.tables = _assembled(made, settings, words_in)
    except InputError as error:
        made.trouble = error
    return made


def _passed(plain: str, original: str, book: Book, only: set[str], asked: bool) -> str:
    """Why a sheet is passed over, or ""."""
    if asked or original in only or weight_label(plain):
        return ""
    if only:
        return "another sheet is asked for"
    return f"hidden; --sheet {plain!r} would read it" if original in book.hidden else ""


def _name_parameters(made: Survey) -> None:
    """Call parameters of PyTorch by the weights they hold, which depends on what others there are."""
    names = {f.name: f for sheet in made.sheets for f in sheet.found if f.parameter}
    weights = weights_of_parameters(names)
    for sheet in made.sheets:
        try:
            sheet.found = [
                one
                for f in sheet.found
                for one in (parts_of(f, weights[f.name]) if f.parameter else (f,))
            ]
        except InputError as error:
            sheet.trouble = sheet.trouble or error


def _refuse_unknown_weights(made: Survey, sheet: SheetFound, wanted: bool) -> None:
    """No table is a sentence whose name is that of weights, unless the call names its sheet."""
    strange = [f.names[0][0] for f in sheet.found if f.why == UNKNOWN and f.names]
    own = sheet.name != made.path.stem and says_weights(sheet.name)
    if own and any(f.use == "sentence" for f in sheet.found):
        strange = [sheet.name]
    if wanted or not strange or sheet.trouble is not None:
        return
    name = strange[0]
    where = "" if name == sheet.name else f", sheet {sheet.name!r}"
    sheet.trouble = InputError(
        f"{made.path}{where}: {name!r} is called as weights are, but as none that attn-xl knows. Call "
        f"it W_Q, W_K, W_V, ..., or leave it out with --without {quoted_argument(name)}. If it is a "
        f"sentence, --sheet {quoted_argument(sheet.name)} reads it."
    )


def _note_hidden(sheet: SheetFound, book: Book, original: str) -> None:
    """Say which tables have hidden rows and columns, which are read like the others."""
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
            note = "hidden rows or columns of it are read like the others"
            sheet.found[i] = replace(f, notes=(*f.notes, note))


def _assembled(made: Survey, settings: dict[str, Any], words_in: WordsIn | None) -> Tables:
    """Sentences and weights as they are computed with; the records of `made` say what became of each.

    Raises:
        InputError: if that cannot be told, or a table that is needed has a wrong cell.
    """
    path = made.path
    for sheet in made.sheets:
        if sheet.trouble is not None:
            raise sheet.trouble
    weights = _weights(made)
    sentences: dict[str, Table] = {}
    conventions: list[tuple[WordsIn, Table]] = []
    for sheet, i, f in _used(made, "sentence"):
        table = _readable(f)
        raw = [
            (name, w.table.turn() if w.table and w.turned else w.table)
            for name, w in weights.items()
            if name[:3] in ("W_Q", "W_K", "W_V")
        ]
        corner = next((text for text, at in f.names if at == "in its corner"), "")
        known = [(name, t) for name, t in raw if t is not None]
        where, why = words_of(table, corner, known, words_in)
        name = unique(f.name or sheet.name, {name.casefold() for name in sentences})
        sentences[name] = replace(table.turn() if where == "columns" else table, name=name)
        conventions.append((where, sentences[name]))
        sheet.found[i] = replace(f, name=name, words_in=where, why_words=why, turned=where == "columns")
    if not sentences and weights:
        raise InputError(
            f"{path}: only weights found ({', '.join(weights)}). Add a sheet with a sentence: the "
            "words in its first column, the names of the dimensions in its first row."
        )
    if not sentences:
        raise InputError(
            f"{path}: no table of numbers found. Put the words in the first column, the names of the "
            "dimensions in the first row, and a number in every cell between."
        )
    columns = all(where == "columns" for where, _ in conventions)
    turned: dict[str, Table] = {}
    for sheet, i, f in _used(made, "weights"):
        table = replace(_readable(f), name=f.name)
        turn = f.turned or (
            columns and not f.parameter and to_turn(f.name, table, conventions[0][1].columns, "columns")
        )
        turned[f.name] = table.turn() if turn else table
        sheet.found[i] = replace(f, turned=turn)
    return Tables(path, sentences, turned, settings, tuple(_remarks(made)))


def _used(made: Survey, use: str) -> Iterator[tuple[SheetFound, int, Found]]:
    for sheet in made.sheets:
        for i, f in enumerate(sheet.found):
            if f.use == use:
                yield sheet, i, f


def _readable(f: Found) -> Table:
    if f.table is None:
        raise InputError(f.problem)
    return f.table


def _weights(made: Survey) -> dict[str, Found]:
    """The weights by name, each once: copies made by formulas give way to what they are copies of."""
    weights: dict[str, Found] = {}
    for sheet, i, f in list(_used(made, "weights")):
        other = weights.get(f.name)
        if other is None:
            weights[f.name] = f
        elif f.computed and not other.computed:
            sheet.found[i] = replace(f, use="", why=f"computed by formulas; {f.name} is {other.where}")
        elif "sheet is called" in f.why and "sheet is called" in other.why:
            raise InputError(
                f"{made.path}: sheets {other.place.sheet!r} and {f.place.sheet!r} are both {f.name}; "
                "keep one."
            )
        elif other.place.sheet != f.place.sheet:
            raise InputError(
                f"{made.path}: {f.name} is on the sheets {other.place.sheet!r} and {f.place.sheet!r}. "
                f"--sheet {_quoted(other.place.sheet)} says which one is to be computed."
            )
        else:
            raise InputError(
                f"{made.path}: {other.where} and {f.where} are both {f.name}. --range "
                f'"{f.name}={other.where}" says which.'
            )
    return weights


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"'{name}'"


def _remarks(made: Survey) -> Iterator[str]:
    """What a reader should know: what was passed over beside a sentence, what was turned, and so on."""
    for sheet in made.sheets:
        if sheet.passed.startswith("hidden"):
            yield f"The sheet {sheet.name!r} is hidden and passed over."
        used = [f for f in sheet.found if f.use]
        over = [
            f for f in sheet.found if not f.use and f.why not in ("--range names another", LEFT_OUT)
        ]
        if used and over:
            what = "table is" if len(over) == 1 else "tables are"
            yield (
                f"On the sheet {sheet.name!r}, {_uses(used)}; {len(over)} other {what} passed over "
                "(attn-xl inspect says why)."
            )
        for_columns = [f for f in used if f.turned and not f.parameter]
        turned = [f.name for f in for_columns if f.use == "weights"]
        if for_columns:
            yield (
                f"On the sheet {sheet.name!r}, words stand in columns: the numbers are transposed, a "
                f"word a row{', and so are ' + ', '.join(turned) if turned else ''}."
            )
        for f in used:
            for note in f.notes:
                yield f"{f.where}: {note}."
    parameters = [(f.parameter, f.name) for s in made.sheets for f in s.found if f.use and f.parameter]
    if parameters:
        sheets, weights = (list(dict.fromkeys(names)) for names in zip(*parameters))
        yield (
            f"{listed(sheets, 6)}: read as {listed(weights, 6)} of PyTorch, whose matrices are out x "
            "in, and so transposed. How many heads they are for is not in them: --heads says it."
        )


def _uses(used: Sequence[Found]) -> str:
    sentences = [f.place.range for f in used if f.use == "sentence"]
    weights = [f"{f.name}" for f in used if f.use == "weights"]
    parts = [f"the sentence is {', '.join(sentences)}"] if sentences else []
    return " beside ".join([*parts, *([", ".join(weights)] if weights else [])])


def _read_settings(grid: Grid, where: str) -> dict[str, Any]:
    """The names in the first column with the values to their right."""
    settings: dict[str, Any] = {}
    for row, values in enumerate(grid):
        filled = [value for value in values if not is_blank(value)]
        said = tuple(str(v).strip().casefold() for v in filled[:2])
        if not filled or said in [(name, "value") for name in ("setting", "option", "name")]:
            continue
        if len(filled) < 2 or isinstance(filled[0], ErrorValue) or isinstance(filled[1], ErrorValue):
            raise InputError(
                f"{where}, row {row + 1}: a setting has a name and, beside it, a value; here is "
                f"{described(filled[0])}."
            )
        settings[clean(filled[0])] = filled[1]
    return settings
