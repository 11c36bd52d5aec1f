"""What the commands share: the types of their options, an option for every setting, and the way from a
file to what is computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import Field, fields, replace
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from attn_xl.errors import CallError, InputError
from attn_xl.settings import Settings

if TYPE_CHECKING:
    from attn_xl.models.computation import Computation
    from attn_xl.tables.survey import Tables

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A spreadsheet (.xlsx, .xlsm, .xlsb, .xls, .ods), .csv, .tsv, .npy, .npz or .json; "
        "- is the standard input. A table with one word a row, one dimension a column, anywhere on a "
        "sheet; weights are found by W_Q, W_K, W_V as a label or a sheet's name.",
        show_default=False,
    ),
]
Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="One or more spreadsheets: on each sheet a table with one word a row and one dimension a "
        "column; optional sheets W_Q, W_K, W_V hold weights.",
        show_default=False,
    ),
]
Jobs = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        help="Of several files, so many at a time. Without it, one for each core.", show_default=False
    ),
]


class Direction(str, Enum):
    """Where the words of a sentence stand."""

    rows = "rows"
    columns = "columns"

    def __str__(self) -> str:  # in a sentence, Python 3.11 and later would name the class, too
        return self.value


Output = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads it at run time
    typer.Option(
        "-o",
        "--output",
        help="The workbook to write, or the folder for several; without it, NAME-attention.xlsx "
        "(NAME-similarity.xlsx) beside the input.",
        show_default=False,
    ),
]


def _looks() -> list[str]:
    from attn_xl.workbook.templates import shipped

    return list(shipped())


Template = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="The look: article, print, or a template workbook of your own.",
        autocompletion=_looks,
    ),
]
Plain = Annotated[bool, typer.Option("--plain", help="Leave out the sheet Controls and all charts.")]
Range = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--range",
        metavar="RANGE",
        help="Where the sentence stands, labels included: 'Sheet!B3:F9', or the name of a range or "
        "table; once more for each further one. 'W_Q=Sheet!B3:F9' is for weights.",
        show_default=False,
    ),
]
WordsIn = Annotated[
    Optional[Direction],  # noqa: UP045
    typer.Option(
        "--words-in",
        help="Where the words of a sentence stand: in rows, or in columns. Without it, labels tell.",
        show_default=False,
    ),
]
Sheets = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--sheet",
        metavar="NAME",
        help="Only this sheet's sentences and weights; once more for each further sheet.",
        show_default=False,
    ),
]
Without = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--without",
        metavar="NAME",
        help="Leave out these weights: W_1, or Enc2 for those of a layer; once more for each further "
        "name.",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
Command = Callable[..., None]


def with_settings(*leave_out: str) -> Callable[[Command], Command]:
    """Give a command an option for every setting; it gets those that the call names, as `chosen`.

    Where it takes `reading`, it gets the options of `read_tables`, too, in that: --range, --words-in,
    --without and, unless it has one of its own, --sheet.
    """

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters
        settings = [f for f in fields(Settings) if f.name not in leave_out and "chosen" in own]
        reads = (
            {"range": Range, "words_in": WordsIn, "sheet": Sheets, "without": Without}
            if "reading" in own
            else {}
        )
        if "sheet" in own:
            reads.pop("sheet", None)

        @wraps(command)
        def run(**given: Any) -> None:
            if "reading" in own:
                asked = {option: given.pop(option) for option in reads}
                given["reading"] = {name: value for name, value in asked.items() if value}
            if "chosen" in own:
                given["chosen"] = {f.name: given.pop(f.name) for f in settings}
            command(**given)

        options = [
            inspect.Parameter(
                f.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(f)
            )
            for f in settings
        ]
        how = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
            for name, option in reads.items()
        ]
        kept = [
            p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for p in own.values()
            if p.name not in ("chosen", "reading")
        ]
        run.__signature__ = inspect.Signature(kept + how + options)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in kept + how + options}
        return run

    return decorate


def _option(setting: Field[Any]) -> Any:
    """A setting as an option; what its value is without it stands in the help."""
    kind, name = setting.metadata["kind"], setting.name.replace("_", "-")
    default = setting.default.value if isinstance(setting.default, Enum) else setting.default
    text = setting.metadata["help"]
    if kind is bool:
        flags = f"--{name}/--no-{name}"
        text += f" Without it: {'yes' if default else 'no'}."
    else:
        flags = f"--{name}"
        text += f" Without it: {default}." if default not in (None, "none", "") else ""
    return Annotated[Optional[kind], typer.Option(flags, help=text, show_default=False)]  # noqa: UP045


def tables_of(file: Path, reading: dict[str, Any], sheet: str | None = None) -> Tables:
    """The tables of a file, read as the call says.

    Args:
        reading: the options of `read_tables` that the call has.
        sheet: the sentence that is wanted in the end. Where it cannot be told what to do with all
            sheets, that one is enough.
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


def computed(
    file: Path,
    chosen: dict[str, Any],
    reading: dict[str, Any],
    sheet: str | None = None,
    fits: Callable[[Computation, Settings], object] | None = None,
    steps: Sequence[str] = (),
) -> tuple[Computation, Settings]:
    """What the model makes of a file, and the settings: those of the call, then the file's own.

    Args:
        fits: refuses what will be too large, before anything is computed.
        steps: those that are wanted. Where only the model with its switches has them, as `explain` and
            `convert` compute it, that is what is returned.
    """
    from attn_xl.models.build import attend, foresee
    from attn_xl.views.selection import has_steps

    tables = tables_of(file, reading, sheet)
    if steps:
        plain = Settings.chosen(chosen, tables.settings, f"{file}, sheet 'Settings'")
        switched = replace(plain, controls=True)
        if not has_steps(foresee(tables, plain), steps, sheet) and has_steps(
            foresee(tables, switched), steps, sheet
        ):
            chosen = {**chosen, "controls": True}
    settings = Settings.chosen(chosen, tables.settings, f"{file}, sheet 'Settings'")
    foreseen = foresee(tables, settings)
    if fits is not None:
        fits(foreseen, settings)
    return attend(tables, settings), settings


def output_beside(file: Path, tail: str) -> Path:
    """Where an output goes if the call does not say.

    Raises:
        CallError: if the input is no file beside which it could be.
    """
    if str(file) == "-":
        raise CallError("the input comes from the standard input: name the output with -o.")
    return file.parent / f"{file.stem}-{tail}"
