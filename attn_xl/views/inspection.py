"""Reports what `survey` found in a file and how each table is used, as text and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attn_xl.errors import AttnXlError, CallError
from attn_xl.tables.find import sentence_candidates
from attn_xl.tables.read import survey
from attn_xl.tables.roles import Found
from attn_xl.tables.survey import Survey
from attn_xl.text import as_json as json_text
from attn_xl.text import count, listed, shortened

MOST_LABELS = 6


def commands(file: str, survey: Survey, given: Mapping[str, Any]) -> list[str]:
    """The commands that convert a file: one if the file is unambiguous; otherwise one for each sheet
    that is unambiguous by itself or, failing that, one for a table as an example."""
    base = ["attn-xl", "convert", file]
    if file == "-":
        base += ["-o", "output.xlsx"]
    for option, value in given.items():
        for one in [value] if isinstance(value, str) else value:
            base += [f"--{option.replace('_', '-')}", str(getattr(one, "value", one))]
    if survey.tables is not None:
        return [_joined(base)]
    if file == "-" or "sheet" in given:
        return [_joined([*base, "--range", f.where]) for f in _doubtful(survey)[:1]]
    alone = []
    for sheet in survey.sheets:
        if sheet.found and _is_clear(file, given, sheet.name):
            alone.append(_joined([*base, "--sheet", sheet.name]))
    return alone or [_joined([*base, "--range", f.where]) for f in _doubtful(survey)[:1]]


def _is_clear(file: str, given: Mapping[str, Any], sheet: str) -> bool:
    """Whether a sheet is unambiguous by itself."""
    try:
        return survey(file, **given, sheet=sheet).tables is not None
    except CallError:  # what --without names is on another sheet
        return False


def _joined(words: Sequence[str]) -> str:
    """A shell command; names with single quotes are put in double quotes."""
    plain = [
        f'"{word}"' if "'" in word and not set(word) & set('"$`\\!') - {"!"} else shlex.quote(word)
        for word in words
    ]
    return " ".join(plain)


def _doubtful(survey: Survey) -> list[Found]:
    return [f for sheet in survey.sheets for f in sentence_candidates(sheet.found)]


def as_text(file: str, survey: Survey, given: Mapping[str, Any]) -> str:
    """The report for people."""
    tables = sum(len(sheet.found) for sheet in survey.sheets)
    lines = [
        f"{survey.path}: {count(len(survey.sheets), 'sheet')}, {count(tables, 'table')} of numbers"
    ]
    for sheet in survey.sheets:
        lines += ["", f"Sheet {sheet.name!r}" + (f": {sheet.passed}" if sheet.passed else "")]
        used = [f for f in sheet.found if f.use]
        over = [f for f in sheet.found if not f.use]
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
    lines += [""]
    if survey.trouble is not None:
        lines += [
            "attn-xl cannot tell what to compute:",
            f"  {_without_path(survey, str(survey.trouble))}",
            "",
        ]
    elif survey.tables is not None:
        lines += [f"  {_without_path(survey, remark)}" for remark in survey.tables.remarks]
        problem = _trial(survey)
        if problem:
            lines += ["These tables cannot be computed:", f"  {_without_path(survey, problem)}"]
        lines += [""] if survey.tables.remarks or problem else []
    calls = commands(file, survey, given)
    if calls:
        lines += [
            "To convert it:" if survey.tables else "For example:",
            *(f"  {command}" for command in calls),
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


def as_json(file: str, survey: Survey, given: Mapping[str, Any]) -> str:
    """The report for programs."""
    report = {
        "file": str(survey.path),
        "sheets": [
            {"name": sheet.name, "passed": sheet.passed, "tables": [_record(f) for f in sheet.found]}
            for sheet in survey.sheets
        ],
        "settings": survey.tables.settings if survey.tables else {},
        "remarks": list(survey.tables.remarks) if survey.tables else [],
        "trouble": str(survey.trouble) if survey.trouble else _trial(survey),
        "commands": commands(file, survey, given),
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


def _trial(survey: Survey) -> str:
    """The error when the model is computed with the file's settings; "" if there is none."""
    from attn_xl.models.build import attend

    if survey.tables is None or sum(t.values.size for t in survey.tables.sentences.values()) > 100_000:
        return ""
    try:
        attend(survey.tables)
    except AttnXlError as error:
        return str(error)
    return ""


def _short(f: Found, problem: str) -> str:
    _, _, after = problem.partition(f"sheet {f.place.sheet!r}")
    return (after or problem).lstrip(",: ")


def _without_path(survey: Survey, text: str) -> str:
    text = text.removeprefix(f"{survey.path}").lstrip(",: ")
    return text.replace(" (attn-xl inspect shows them all.)", "").replace(
        " (attn-xl inspect says why)", ""
    )
