"""What the commands share: the types of their options, an option for every setting, and the way from a
file to what is computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from .settings import Settings

if TYPE_CHECKING:
    from .models import Computation

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A spreadsheet: on each sheet a table with one word a row and one dimension a column; "
        "optional sheets W_Q, W_K, W_V hold weights.",
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
Output = Annotated[
    Optional[Path],  # noqa: UP045 - typer reads it at run time
    typer.Option(
        "-o",
        "--output",
        help="The workbook to write, or the folder for several; without it, NAME-attention.xlsx beside "
        "the input.",
        show_default=False,
    ),
]
Template = Annotated[
    str,
    typer.Option(metavar="FILE", help="The look: article, print, or a template workbook of your own."),
]
Plain = Annotated[bool, typer.Option("--plain", help="Leave out the sheet Controls and all charts.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
Command = Callable[..., None]


def with_settings(*leave_out: str) -> Callable[[Command], Command]:
    """Give a command an option for every setting; it gets those that the call names, as `chosen`."""

    def decorate(command: Command) -> Command:
        settings = [f for f in fields(Settings) if f.name not in leave_out]

        @wraps(command)
        def run(**given: Any) -> None:
            chosen = {f.name: given.pop(f.name) for f in settings}
            command(**given, chosen=chosen)

        own = inspect.signature(command, eval_str=True).parameters.values()
        options = [
            inspect.Parameter(
                f.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(f)
            )
            for f in settings
        ]
        kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.name != "chosen"]
        run.__signature__ = inspect.Signature(kept + options)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in kept + options}
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


def computed(file: Path, chosen: dict[str, Any]) -> tuple[Computation, Settings]:
    """What the model makes of a file, and the settings: those of the call, then the file's own."""
    from .models import attend
    from .tables import read_tables

    tables = read_tables(file)
    settings = Settings.chosen(chosen, tables.settings, f"{file}, sheet 'Settings'")
    return attend(tables, settings), settings
