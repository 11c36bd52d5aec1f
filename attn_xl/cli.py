"""The command line: options in, one call, print. Here errors become exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn, Optional

import typer

from . import __version__
from .errors import AttnXlError, CallError
from .settings import Formulas, Settings

app = typer.Typer(
    help="Attention, step by step, as live spreadsheet formulas.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A spreadsheet: on each sheet a table with one word a row and one dimension a column; "
        "optional sheets W_Q, W_K, W_V hold weights.",
        show_default=False,
    ),
]
Scale = Annotated[
    bool, typer.Option("--scale/--no-scale", help="Divide the scores by the square root of d_k.")
]


def _version(asked: bool) -> None:
    if asked:
        print(f"attn-xl {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(
    epilog="Example:  attn-xl convert samples/mouse.xlsx -o mouse.xlsx --template print",
)
def convert(
    file: File,
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it at run time
        typer.Option(
            "-o",
            "--output",
            help="The workbook to write; without it, NAME-attention.xlsx beside the input.",
            show_default=False,
        ),
    ] = None,
    scale: Scale = True,
    formulas: Annotated[
        Formulas, typer.Option(help="cell: a live formula in every cell. none: values only.")
    ] = Formulas.cell,
    template: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="The look: article, print, or a template workbook of your own."
        ),
    ] = "article",
    decimals: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Digits shown after the point; without it, as the template has it.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an output that exists.")] = False,
) -> None:
    """Write every matrix of attention as a sheet of live formulas."""
    settings = Settings(scale=scale, decimals=decimals, formulas=formulas)
    path = output or file.parent / f"{file.stem}-attention.xlsx"
    if path.suffix.lower() != ".xlsx":
        raise CallError(f"{path}: the output is an .xlsx workbook; give it a name that ends in .xlsx.")
    from .files import check_output
    from .templates import find_template

    look = find_template(template)
    check_output(path, force=force, sources=(file, look))
    computation = _computed(file, settings)
    from .workbook import write_workbook

    layout = write_workbook(computation, path, template=look, settings=settings, source=file.name)
    for remark in computation.remarks:
        print(remark, file=sys.stderr)
    print(f"{path}: {layout.summary(settings)}")


@app.command(epilog="Example:  attn-xl show samples/mouse.xlsx --step Softmax --sheet cat")
def show(
    file: File,
    step: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help="Only this matrix: Scores, Softmax, Softmax.Sum, Compare, ... May be repeated.",
            show_default=False,
        ),
    ] = None,
    sheet: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help="Only this sentence.", show_default=False),
    ] = None,
    scale: Scale = True,
    decimals: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Digits after the point; without it 3, and all there are in JSON and CSV.",
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    svg: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Save a picture of what would be shown.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a picture that exists.")] = False,
) -> None:
    """Print the matrices of attention in the terminal."""
    if json + csv + (svg is not None) > 1:
        raise CallError("--json, --csv and --svg exclude each other: choose one.")
    settings = Settings(scale=scale, decimals=decimals)
    if svg is not None:
        from .files import check_output

        check_output(svg, force=force, sources=(file,))
    computation = _computed(file, settings)
    chosen: dict[str, Any] = {"steps": step or (), "sheet": sheet}
    if json or csv:
        from .export import to_csv, to_json

        text = (to_json if json else to_csv)(computation, **chosen, decimals=decimals)
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    from . import terminal

    chosen["decimals"] = terminal.DECIMALS if decimals is None else decimals
    if svg is None:
        terminal.show(computation, **chosen)
        return
    from .files import writing

    picture = terminal.svg(computation, **chosen)
    with writing(svg) as temporary:
        temporary.write_text(picture, encoding="utf-8")
    print(svg)


def _computed(file: Path, settings: Settings) -> Any:
    from .models import attend
    from .tables import read_tables

    return attend(read_tables(file), settings)


def main(args: Sequence[str] | None = None) -> None:
    """Run the program; always ends in SystemExit. Status 2 is a mistake in the call, 1 a file that
    cannot be used."""
    gc.disable()  # a run is short and leaves no garbage worth the search
    for name in ("SIGTERM", "SIGHUP"):  # so that unfinished files are removed
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: sys.exit(128 + number))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a letter gets a stand-in
            stream.reconfigure(errors="replace")
    if sys.stdout is None:  # closed by whoever called
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        try:
            app(args)
        finally:
            sys.stdout.flush()
    except AttnXlError as error:
        _fail(str(error), error.exit_status)
    except MemoryError:
        _fail("not enough memory for a table of this size.", 1)
    except BrokenPipeError:  # the reader of the pipe has seen enough
        _discard_output()
        sys.exit(0)
    except OSError as error:
        _discard_output()
        _fail(f"the output cannot be written ({error.strerror or error}).", 1)
    finally:
        gc.freeze()  # nor is there any worth it at the end
        gc.enable()


def _fail(message: str, status: int) -> NoReturn:
    """Say what is wrong in one line, in which nothing of a file's name or words steers a terminal."""
    plain = "".join(letter if letter.isprintable() else "\ufffd" for letter in message)
    print(f"attn-xl: {plain}", file=sys.stderr)
    sys.exit(status)


def _discard_output() -> None:
    """Let Python not try again, at its end, to print what could not be printed."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
