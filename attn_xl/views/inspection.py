"""Reports what `survey` found in a file and how each table is used, as text and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attn_xl.errors import AttnXlError
from attn_xl.settings import Settings
from attn_xl.tables.find import by_likelihood, sentence_candidates
from attn_xl.tables.read import survey_of
from attn_xl.tables.roles import Found
from attn_xl.tables.survey import Survey
from attn_xl.text import as_json as json_text
from attn_xl.text import clean, count, listed, shortened

MOST_LABELS = 6
MOST_OTHERS = 30
"""Tables that are not used which a report for people lists, over all sheets; at least two per sheet."""
MOST_LINES = 60
"""Lines after which further sheets take one line each."""
MOST_TRIED = 12
Given = Mapping[str, Any]


def commands(file: str, made: Survey, given: Given) -> list[str]:
    """The commands that convert a file, each tried: one if the file is unambiguous; otherwise one for
    each sheet that is unambiguous by itself or, failing that, one with the likeliest table as the
    sentence."""
    error = _fails_alone(made, {})
    if not error:
        ranges = [*_several(given.get("range", ())), *made.instead]
        instead: tuple[Given, Given] = {**given, "range": ranges}, {"attention": "A"}
        if made.instead and not _fails(made, *instead):
            return [_command(file, *instead)]
        return [_command(file, given, {})]
    if "sheet" not in given:
        alone: list[Given] = [{**given, "sheet": [s.name]} for s in made.sheets if s.found]
        found = [options for options in alone[:MOST_TRIED] if not _fails(made, options, {})]
        if found:
            return [_command(file, options, {}) for options in found]
    for f in _doubtful(made)[:MOST_TRIED]:
        option: tuple[Given, Given] = (
            {**given, "range": [*_several(given.get("range", ())), f.where]},
            {},
        )
        if not _fails(made, *option):
            return [_command(file, *option)]
    return []


def _several(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else list(value)


def _command(file: str, reading: Given, settings: Given) -> str:
    words = ["attn-xl", "convert", file]
    if file == "-":
        words += ["-o", "output.xlsx"]
    for option, value in {**reading, **settings}.items():
        for one in _several(value) if isinstance(value, (str, list, tuple)) else [value]:
            words += [f"--{option.replace('_', '-')}", str(getattr(one, "value", one))]
    return _joined(words)


def _fails(made: Survey, reading: Given, settings: Given) -> str:
    """The error of a conversion with these options; "" if it succeeds."""
    try:
        again = made  # a trained model has no book
        if made.book is not None:
            chosen = {k: v for k, v in reading.items() if k not in ("encoding", "weights")}
            again = survey_of(made.book, **chosen, attention=settings.get("attention"))
            if "weights" in reading:
                again.tables = made.tables
    except AttnXlError as error:
        return str(error)
    return _fails_alone(again, settings)


def _fails_alone(made: Survey, settings: Given) -> str:
    """The error of a conversion of what was found; "" if it succeeds."""
    from attn_xl.models.build import foresee

    if made.trouble is not None or made.tables is None:
        return str(made.trouble)
    try:
        where = f"{made.path}, sheet 'Settings'"
        foresee(made.tables, Settings.resolve(settings, made.tables.settings, where))
    except AttnXlError as error:
        return str(error)
    return ""


def _joined(words: Sequence[str]) -> str:
    """A shell command; names with single quotes are put in double quotes."""
    plain = [
        f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') - {"!"} else shlex.quote(word)
        for word in words
    ]
    return " ".join(plain).replace("\n", "'$'\\n''")  # a line break that a shell reads on one line


def _doubtful(made: Survey) -> list[Found]:
    return [f for sheet in made.sheets for f in sentence_candidates(sheet.found)]


def as_text(file: str, made: Survey, given: Mapping[str, Any]) -> str:
    """The report for people."""
    tables = sum(len(sheet.found) for sheet in made.sheets)
    lines = [
        f"{clean(made.path)}: {count(len(made.sheets), 'sheet')}, {count(tables, 'table')} of numbers"
    ]
    told = any(f.certain for sheet in made.sheets for f in sheet.found)  # by what formulas compute
    if made.book is not None and made.book.hides_formulas and not told:
        lines.append(
            "Formulas in this format cannot be read. If the workbook has any, open it in a spreadsheet "
            "program and save it as .xlsx: its formulas may tell what each table is."
        )
    most = max(2, MOST_OTHERS // max(1, sum(any(not f.use for f in s.found) for s in made.sheets)))
    for sheet in made.sheets:
        lines += ["", f"Sheet {sheet.name!r}" + (f": {sheet.passed}" if sheet.passed else "")]
        used = [f for f in sheet.found if f.use]
        over = [f for f in sheet.found if not f.use]
        if len(lines) > MOST_LINES and not sheet.passed:
            names = listed([f.name if f.use == "weights" else f.range for f in used], MOST_LABELS)
            lines[-2:] = [f"{lines[-1]}: {names or 'nothing used'}; {count(len(over), 'other table')}"]
            continue
        more = len(over) - most
        over = by_likelihood(over)[:most] if more > 1 else over
        for f in used:
            lines += list(_used(f))
        if over:
            width = max(len(f.range) for f in over)
            sizes = max(len(f.size) for f in over)
            lines += ["  Not used:"] if used else ["  Tables:"]
            for f in over:
                title = f" {f.title!r}" if f.title else ""
                lines.append(
                    f"    {f.range:{width}}  {f.size:{sizes}} {title} - {f.why or 'not needed'}"
                )
                if f.problem and not used:
                    lines.append(f"    {'':{width}}  would be refused: {_short(f, f.problem)}")
        if more > 1:
            lines.append(f"    ... and {more:,} more, the likely inputs first (--json lists all)")
    lines += [""]
    if made.trouble is not None:
        lines += [
            "attn-xl cannot tell what to compute:",
            f"  {_without_path(made, str(made.trouble))}",
            "",
        ]
    elif made.tables is not None:
        lines += [f"  {_without_path(made, remark)}" for remark in made.tables.remarks]
        problem = _trial(made)
        if problem:
            lines += ["These tables cannot be computed:", f"  {_without_path(made, problem)}"]
        lines += [""] if made.tables.remarks or problem else []
    found = commands(file, made, given)
    if found:
        lines += [
            "To convert it:" if made.tables else "For example:",
            *(f"  {command}" for command in found),
        ]
    return "\n".join(lines)


def _used(f: Found) -> Iterator[str]:
    what = f"sentence {f.name or f.place.sheet!r}" if f.use == "sentence" else f.name
    title = f", titled {f.title!r}" if f.title else ""
    yield f"  {f.range}  {f.size}  {what}{title}"
    yield f"    because {f.why}"
    if f.why_words:
        yield f"    words in {f.words_in}: {f.why_words}"
    table = f.table
    if table is not None:
        for kind, labels, labelled in zip(
            ("row", "column"), (table.rows, table.columns), table.labelled
        ):
            if labelled:
                yield f"    {kind} labels: {listed([*map(shortened, labels)], MOST_LABELS)}"
        missing = [kind for kind, there in zip(("row", "column"), table.labelled) if not there]
        if missing:
            yield f"    no {' or '.join(missing)} labels"
    if f.turned and f.use == "weights":
        yield "    a left factor in the file, so it is transposed"
    for note in f.notes:
        yield f"    {note}"
    if f.problem:
        yield f"    refused: {_short(f, f.problem)}"


def as_json(file: str, made: Survey, given: Mapping[str, Any]) -> str:
    """The report for programs."""
    report = {
        "file": str(made.path),
        "sheets": [
            {"name": sheet.name, "passed": sheet.passed, "tables": [_record(f) for f in sheet.found]}
            for sheet in made.sheets
        ],
        "settings": made.tables.settings if made.tables else {},
        "remarks": list(made.tables.remarks) if made.tables else [],
        "trouble": str(made.trouble) if made.trouble else _trial(made),
        "commands": commands(file, made, given),
    }
    return json_text(report, indent=2)


def _record(f: Found) -> dict[str, Any]:
    table = f.table
    return {
        "range": f.where,
        "numbers": f.numbers,
        "rows": f.shape[0],
        "columns": f.shape[1],
        "title": f.title,
        "row_labels": list(table.rows) if table and table.labelled[0] else None,
        "column_labels": list(table.columns) if table and table.labelled[1] else None,
        "formulas": f.computed,
        "use": f.use or None,
        "name": f.name or (f.place.sheet if f.use else None),
        "why": f.why,
        "words_in": f.words_in if f.use == "sentence" else None,
        "why_words_in": f.why_words or None,
        "transposed": f.turned,
        "notes": list(f.notes),
        "problem": f.problem or None,
    }


def _trial(made: Survey) -> str:
    """The error when the model is computed with the file's settings; "" if there is none."""
    from attn_xl.models.build import attend

    if made.tables is None or sum(t.values.size for t in made.tables.sentences.values()) > 100_000:
        return ""
    try:
        attend(made.tables)
    except AttnXlError as error:
        return str(error)
    return ""


def _short(f: Found, problem: str) -> str:
    _, _, after = problem.partition(f"sheet {f.place.sheet!r}")
    return (after or problem).lstrip(",: ")


def _without_path(made: Survey, text: str) -> str:
    text = text.removeprefix(f"{made.path}").lstrip(",: ")
    return text.replace(" (attn-xl inspect shows them all.)", "").replace(
        " (attn-xl inspect says why)", ""
    )
