"""Shared by the commands: option types, an option for every setting, and the steps from an input file
to a computation."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import Field, fields, replace
from difflib import get_close_matches
from enum import Enum
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attn_xl.errors import CallError, InputError
from attn_xl.settings import Settings, read_value
from attn_xl.text import say

if TYPE_CHECKING:
    from attn_xl.models.computation import Computation
    from attn_xl.tables.survey import Tables

NOT_FILLED = ("formulas", "sheets_for", "controls", "switches", "canvas", "layout", "decimals")
"""Settings of a workbook of our own, which an author's sheet has no place for."""

OUTPUT, READ, MODEL = "What to write", "What to read", "What to compute"
"""Headings of the help."""
OF_OUTPUT = "decimals", "formulas", "layout", "canvas"
"""Settings of how results look."""
File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A spreadsheet (.xlsx, .xlsm, .xlsb, .xls, .ods), .csv or .tsv; - reads standard input. "
        "One word per row, one dimension per column, anywhere on a sheet.",
    ),
]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Spreadsheets. Each sheet holds a table with one word per row and one dimension per "
        "column; sheets W_Q, W_K and W_V hold weights.",
    ),
]


class Direction(str, Enum):
    """Whether the words of a sentence are in rows or in columns."""

    rows = "rows"
    columns = "columns"

    def __str__(self) -> str:  # from Python 3.11 on, format() would include the class name
        return self.value


def template_names() -> list[str]:
    from attn_xl.workbook.templates import shipped

    return list(shipped())


def option(
    *names: str, help: str, panel: str = OUTPUT, metavar: str | None = None, complete: Any = None
) -> Any:
    """An option of a command line, under a heading of its help."""
    return typer.Option(
        *names, help=help, metavar=metavar, autocompletion=complete, rich_help_panel=panel
    )


Output = Annotated[
    Path | None,
    option(
        "-o",
        "--output",
        help="The workbook, or the folder of several. Default: beside the input.",
    ),
]
Template = Annotated[
    str,
    option(
        help="A look (article, print), a figure (one-sentence, ...), or your own workbook.",
        metavar="FILE",
        complete=template_names,
    ),
]
Plain = Annotated[bool, option("--plain", help="Omit switches and charts.")]
Force = Annotated[bool, option("--force", help="Replace an existing output.")]
READING = {
    "range": Annotated[
        list[str] | None,
        option("--range", metavar="RANGE", panel=READ,
               help="Where a sentence is: 'Sheet!B3:F9'; or weights: 'W_Q=Sheet!B3:F9'."),
    ],
    "sheet": Annotated[
        list[str] | None,
        option("--sheet", metavar="NAME", panel=READ, help="Use only this sheet. May be repeated."),
    ],
    "words_in": Annotated[
        Direction | None,
        option("--words-in", panel=READ, help="Where words are: rows or columns. Default: detected."),
    ],
    "without": Annotated[
        list[str] | None,
        option("--without", metavar="NAME", panel=READ, help="Ignore these weights: W_1, or Enc2."),
    ],
    "weights": Annotated[
        Path | None,
        option("--weights", metavar="PATH", panel=READ,
               help="Weights: a .safetensors file, or a trained model's folder."),
    ],
    "text": Annotated[
        list[str] | None,
        option("--text", metavar="TEXT", panel=READ, help="For a trained model as FILE: the text."),
    ],
    "encoding": Annotated[
        str | None,
        option("--encoding", metavar="NAME", panel=READ,
               help="Encoding of a text file. Default: detected, or Windows-1252."),
    ],
}  # fmt: skip
"""The options of `read_tables`."""
Set = Annotated[
    list[str] | None,
    option(
        "--set",
        metavar="NAME=VALUE",
        panel=MODEL,
        help="Any other setting; see attn-xl settings.",
    ),
]
Call = Annotated[
    list[str] | None,
    option("--call", metavar="NAME=STEP", panel=READ, help="What a name of yours means: Blend=Output."),
]
Command = Callable[..., None]


def with_settings(*own: str, leave_out: Sequence[str] = ()) -> Callable[[Command], Command]:
    """Give a command the settings, whose values it receives as `options`: `own` as options of their
    own, all others by --set NAME=VALUE.

    A command with a parameter `reading` also gets the options of `read_tables`, collected there:
    --range, --words-in, --without, --encoding, --text, --weights and, unless the command defines its
    own, --sheet.

    Args:
        own: the settings with options, in the order of the help.
        leave_out: settings that the command does not take.
    """

    def decorate(command: Command) -> Command:
        parameters = inspect.signature(command, eval_str=True).parameters
        takes = "options" in parameters
        settings = {f.name: f for f in fields(Settings) if takes and f.name not in leave_out}
        reads = dict(READING) if "reading" in parameters else {}
        if "sheet" in parameters:
            reads.pop("sheet", None)

        @wraps(command)
        def run(**given: Any) -> None:
            if "reading" in parameters:
                values = {option: given.pop(option) for option in reads}
                given["reading"] = {name: value for name, value in values.items() if value}
            if takes:
                others = _set(given.pop("set"), settings)
                given["options"] = {**dict.fromkeys(settings), **others}
                given["options"] |= {
                    name: value for name in own if (value := given.pop(name)) is not None
                }
                Settings.check_call(given["options"])  # before anything is read
            command(**given)

        added = {**reads, **{name: _option(settings[name]) for name in own}}
        if takes:
            added["set"] = Set
        kept = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in parameters.values()
            if p.name not in ("options", "reading")
        ]
        kept += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for name, option in added.items()
        ]
        run.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in kept}
        run.settings = {  # type: ignore[attr-defined]
            name.replace("_", "-"): f.metadata["kind"] is bool
            for name, f in settings.items()
            if name not in own
        }
        return run

    return decorate


def _set(given: Sequence[str] | None, settings: dict[str, Field[Any]]) -> dict[str, Any]:
    """The settings given as NAME=VALUE.

    Raises:
        CallError: for an unknown setting, or a value of the wrong type.
    """
    found = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        known = name.strip().replace("-", "_")
        if known not in settings:
            close = get_close_matches(name, [one.replace("_", "-") for one in settings], n=1)
            meant = f" Did you mean {close[0]!r}?" if close else ""
            raise CallError(
                f"--set {text}: there is no such setting here.{meant} attn-xl settings lists all."
            )
        if not equals:
            raise CallError(f"--set {text}: give it a value: --set {name}=VALUE.")
        found[known] = read_value(settings[known], value)
    return found


@cache  # several commands have the same options
def _option(setting: Field[Any]) -> Any:
    """The option for a setting; its help is the first sentence of the setting's, with its values."""
    kind, name = setting.metadata["kind"], setting.name.replace("_", "-")
    text = setting.metadata["help"].partition(". ")[0].removesuffix(".")
    if issubclass(kind, Enum):
        text += f": {', '.join(one.value for one in kind)}"
    elif kind in (int, float) and setting.default:
        text += f". Default: {setting.default}"
    flags = f"--{name}/--no-{name}" if kind is bool else f"--{name}"
    panel = OUTPUT if setting.name in OF_OUTPUT else MODEL
    metavar = "NAME" if issubclass(kind, Enum) else None
    return Annotated[
        kind | None, typer.Option(flags, help=f"{text}.", metavar=metavar, rich_help_panel=panel)
    ]


def read_file_tables(file: Path, reading: dict[str, Any], sheet: str | None = None) -> Tables:
    """Read the tables of a file.

    Args:
        reading: keyword arguments for `read_tables`.
        sheet: the only sentence needed. If reading the whole file fails, only this sheet is read.
    """
    from attn_xl.tables.read import read_tables

    try:
        return read_tables(file, **reading)
    except InputError:
        if sheet is None or "sheet" in reading:
            raise
        try:
            return read_tables(file, **reading, sheet=sheet)
        except CallError:
            pass
        raise


def compute_file(
    file: Path,
    options: dict[str, Any],
    reading: dict[str, Any],
    sheet: str | None = None,
    fits: Callable[[Computation, Settings], str] | None = None,
    steps: Sequence[str] = (),
    call: Sequence[str] | None = None,
) -> tuple[Computation, Settings]:
    """Compute the model for a file; returns the computation and the settings used. Options of the call
    take precedence over the file's own settings.

    Args:
        fits: called before the computation; raises an error if a matrix is too large, or returns what
            a large workbook costs, which is printed.
        steps: the steps to return. If only the model with switches, or with its influence, has them,
            these are added.
        call: what is given with --call.
    """
    from attn_xl.models.build import attend, foresee

    if options.get("attention"):
        reading = {**reading, "attention": options["attention"]}
    tables = read_file_tables(file, reading, sheet)
    tables = replace(tables, called={**tables.called, **called(call)})
    if steps:
        from attn_xl.views.selection import has_steps

        plain = Settings.resolve(options, tables.settings, f"{file}, sheet 'Settings'")
        if not has_steps(foresee(tables, plain), steps, sheet):
            for option in ("controls", "influence"):
                changed: dict[str, Any] = {option: True}
                other = replace(plain, **changed)
                try:
                    found = not other.why_idle(option) and has_steps(
                        foresee(tables, other), steps, sheet
                    )
                except InputError:  # too large, and it may have no such step either
                    if any(option in step.casefold() for step in steps):
                        raise
                    continue
                if found:
                    options = {**options, option: True}
                    break
    settings = Settings.resolve(options, tables.settings, f"{file}, sheet 'Settings'")
    foreseen = foresee(tables, settings)
    if fits is not None and (cost := fits(foreseen, settings)):
        say(cost, file=sys.stderr)
    return attend(tables, settings), settings


def called(given: Sequence[str] | None) -> dict[str, str]:
    """The names given with --call, in lower case, and the steps they stand for.

    Raises:
        CallError: if one is not NAME=STEP.
    """
    found = {}
    for text in given or ():
        name, equals, step = text.partition("=")
        if not (equals and name.strip() and step.strip()):
            raise CallError(f"--call {text}: give it as NAME=STEP: --call Blend=Output.")
        found[name.strip().casefold()] = step.strip()
    return found


def output_beside(file: Path, tail: str) -> Path:
    """The default path of an output: beside the input.

    Raises:
        CallError: if the input is standard input.
    """
    if str(file) == "-":
        raise CallError("the input is standard input. Give the output a name with -o.")
    stem = file.resolve().name if file.is_dir() else file.stem
    return file.parent / f"{stem}-{tail}"
