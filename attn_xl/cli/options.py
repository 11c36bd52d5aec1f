"""Shared by the commands: option types, an option for every setting, and the steps from an input file
to a computation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import Field, fields, replace
from enum import Enum
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attn_xl.errors import CallError, InputError
from attn_xl.settings import Settings

if TYPE_CHECKING:
    from attn_xl.models.computation import Computation
    from attn_xl.tables.survey import Tables

FILE_HELP = (
    "A spreadsheet (.xlsx, .xlsm, .xlsb, .xls, .ods), .csv or .tsv; - reads standard "
    "input. The table has one word per row and one dimension per column, anywhere "
    "on a sheet. Weights are found by a label or sheet name W_Q, W_K or W_V."
)
File = Annotated[Path, typer.Argument(metavar="FILE", help=FILE_HELP)]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="One or more spreadsheets. Each sheet holds a table with one word per row and one "
        "dimension per column; optional sheets W_Q, W_K and W_V hold weights.",
    ),
]
Jobs = Annotated[
    int | None, typer.Option(help="Number of files to process in parallel. Default: one per core.")
]


class Direction(str, Enum):
    """Whether the words of a sentence are in rows or in columns."""

    rows = "rows"
    columns = "columns"

    def __str__(self) -> str:  # from Python 3.11 on, format() would include the class name
        return self.value


Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="The workbook to write; with several inputs, the folder. Default: NAME-attention.xlsx or "
        "NAME-similarity.xlsx beside the input.",
    ),
]


def template_names() -> list[str]:
    from attn_xl.workbook.templates import shipped

    return list(shipped())


Template = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="The look of the workbook: article, print, or the path of your own template.",
        autocompletion=template_names,
    ),
]
Plain = Annotated[bool, typer.Option("--plain", help="Omit the Controls sheet and all charts.")]
Range = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="RANGE",
        help="The range of a sentence, labels included: 'Sheet!B3:F9', or the name of a range or "
        "table. 'W_Q=Sheet!B3:F9' gives the range of a weight. May be repeated.",
    ),
]
WordsIn = Annotated[
    Direction | None,
    typer.Option(
        "--words-in",
        help="Whether words are in rows or in columns. Default: detected from labels or weights.",
    ),
]
Sheets = Annotated[
    list[str] | None,
    typer.Option(
        "--sheet",
        metavar="NAME",
        help="Use only the sentences and weights of this sheet. May be repeated.",
    ),
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without",
        metavar="NAME",
        help="Ignore these weights: W_1, or Enc2 for all weights of a layer. May be repeated.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The encoding of a text file: windows-1251, gbk, ... Default: detected, or Windows-1252.",
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="TEXT",
        help="With the folder of a trained model as FILE: the text to compute. May be repeated.",
    ),
]
WeightsFile = Annotated[
    Path | None,
    typer.Option(
        "--weights",
        metavar="PATH",
        help="Take the weights from a .safetensors file, or from the folder of a trained model; a "
        "config.json there gives the settings.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing output file.")]
Command = Callable[..., None]


def with_settings(*leave_out: str) -> Callable[[Command], Command]:
    """Add an option for every setting to a command, which receives their values as `options`.

    A command with a parameter `reading` also gets the options of `read_tables`, collected there:
    --range, --words-in, --without, --encoding, --text, --weights and, unless the command defines its
    own, --sheet.

    Args:
        leave_out: settings that do not become options.
    """

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters
        settings = [f for f in fields(Settings) if f.name not in leave_out and "options" in own]
        reads = (
            {
                "range": Range,
                "words_in": WordsIn,
                "sheet": Sheets,
                "without": Without,
                "encoding": Encoding,
                "text": Text,
                "weights": WeightsFile,
            }
            if "reading" in own
            else {}
        )
        if "sheet" in own:
            reads.pop("sheet", None)

        @wraps(command)
        def run(**given: Any) -> None:
            if "reading" in own:
                values = {option: given.pop(option) for option in reads}
                given["reading"] = {name: value for name, value in values.items() if value}
            if "options" in own:
                given["options"] = {f.name: given.pop(f.name) for f in settings}
            command(**given)

        setting_options = [
            inspect.Parameter(
                f.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(f)
            )
            for f in settings
        ]
        reading_options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for name, option in reads.items()
        ]
        kept = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in own.values()
            if p.name not in ("options", "reading")
        ]
        run.__signature__ = inspect.Signature(kept + reading_options + setting_options)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in kept + reading_options + setting_options}
        return run

    return decorate


def given_options(context: typer.Context) -> dict[str, str]:
    """The options on the command line as they are typed, by the names of their parameters."""
    found = {}
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if parameter.param_type_name == "option" and source and source.name == "COMMANDLINE":
            is_off = context.params.get(name) is False and parameter.secondary_opts
            found[name] = (parameter.secondary_opts if is_off else parameter.opts)[0]
    return found


@cache  # several commands have the same options
def _option(setting: Field[Any]) -> Any:
    """The option for a setting; its help ends with the default."""
    kind, name = setting.metadata["kind"], setting.name.replace("_", "-")
    default = setting.default.value if isinstance(setting.default, Enum) else setting.default
    text = setting.metadata["help"]
    if kind is bool:
        flags = f"--{name}/--no-{name}"
        text += f" Default: {'on' if default else 'off'}."
    else:
        flags = f"--{name}"
        text += f" Default: {default}." if default not in (None, "none", "") else ""
    return Annotated[kind | None, typer.Option(flags, help=text)]


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
    fits: Callable[[Computation, Settings], object] | None = None,
    steps: Sequence[str] = (),
) -> tuple[Computation, Settings]:
    """Compute the model for a file; returns the computation and the settings used. Options of the call
    take precedence over the file's own settings.

    Args:
        fits: called before the computation; raises an error if a matrix is too large.
        steps: the steps to return. If only the model with switches, or with its influence, has them,
            these are added.
    """
    from attn_xl.models.build import attend, foresee
    from attn_xl.views.selection import has_steps

    if options.get("attention"):
        reading = {**reading, "attention": options["attention"]}
    tables = read_file_tables(file, reading, sheet)
    if steps:
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
    if fits is not None:
        fits(foreseen, settings)
    return attend(tables, settings), settings


def output_beside(file: Path, tail: str) -> Path:
    """The default path of an output: beside the input.

    Raises:
        CallError: if the input is standard input.
    """
    if str(file) == "-":
        raise CallError("the input is standard input. Give the output a name with -o.")
    stem = file.resolve().name if file.is_dir() else file.stem
    return file.parent / f"{stem}-{tail}"
