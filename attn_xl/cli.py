"""The command line: options in, one call, print. Here errors become exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, NoReturn, Optional

import typer

from . import __version__
from .cli_explain import explain
from .cli_new import new
from .cli_teach import teach
from .errors import AttnXlError, CallError
from .options import File, Force, Output, Plain, Template, computed, with_settings
from .settings import Model, Settings

app = typer.Typer(
    help="Attention, step by step, as live spreadsheet formulas.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


@app.command(epilog="Example:  attn-xl convert samples/mouse.xlsx -o mouse.xlsx --template print")
@with_settings("controls")
def convert(
    file: File,
    chosen: dict[str, Any],
    output: Output = None,
    template: Template = "article",
    plain: Plain = False,
    force: Force = False,
) -> None:
    """Write every matrix of attention as a sheet of live formulas."""
    _write(file, output, "attention", template, force, {**chosen, "controls": not plain})


@app.command(epilog="Example:  attn-xl similarity samples/politics.xlsx -o angles.xlsx")
@with_settings(*(f.name for f in fields(Settings) if f.name not in ("decimals", "formulas")))
def similarity(
    file: File,
    chosen: dict[str, Any],
    output: Output = None,
    template: Template = "article",
    force: Force = False,
) -> None:
    """Write dot product, magnitude, cosine and angle of every two words as sheets of live formulas."""
    _write(file, output, "similarity", template, force, {**chosen, "model": Model.similarity})


def _write(
    file: Path, output: Path | None, tail: str, template: str, force: bool, chosen: dict[str, Any]
) -> None:
    path = output or file.parent / f"{file.stem}-{tail}.xlsx"
    if path.suffix.lower() != ".xlsx":
        raise CallError(f"{path}: the output is an .xlsx workbook; give it a name that ends in .xlsx.")
    Settings.chosen(chosen, {}, "")  # a mistake in the call is said before anything is read
    from .files import check_output
    from .templates import find_template

    look = find_template(template)
    check_output(path, force=force, sources=(file, look))
    computation, settings = computed(file, chosen)
    from .workbook import write_workbook

    layout = write_workbook(computation, path, template=look, settings=settings, source=file.name)
    for remark in computation.remarks:
        print(remark, file=sys.stderr)
    print(f"{path}: {layout.summary(settings)}")


@app.command(epilog="Example:  attn-xl show samples/mouse.xlsx --step Softmax --sheet cat")
@with_settings("formulas", "sheets_for", "controls")
def show(
    file: File,
    chosen: dict[str, Any],
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
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    svg: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Save a picture of what would be shown.", show_default=False),
    ] = None,
    force: Force = False,
) -> None:
    """Print the matrices of attention in the terminal."""
    if json + csv + (svg is not None) > 1:
        raise CallError("--json, --csv and --svg exclude each other: choose one.")
    Settings.chosen(chosen, {}, "")
    if svg is not None:
        from .files import check_output

        check_output(svg, force=force, sources=(file,))
    computation, settings = computed(file, chosen)
    wanted: dict[str, Any] = {"steps": step or (), "sheet": sheet}
    if json or csv:
        from .export import to_csv, to_json

        text = (to_json if json else to_csv)(computation, **wanted, decimals=settings.decimals)
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    from . import terminal

    wanted["decimals"] = terminal.DECIMALS if settings.decimals is None else settings.decimals
    if svg is None:
        terminal.show(computation, **wanted)
        return
    from .files import writing

    picture = terminal.svg(computation, **wanted)
    with writing(svg) as temporary:
        temporary.write_text(picture, encoding="utf-8")
    print(svg)


app.command(
    epilog=r'Example:  attn-xl explain samples/mouse.xlsx "cat.Softmax\[mouse, cat]" --depth 2'
)(explain)
app.command(epilog='Example:  attn-xl new --words "the cat chased the mouse" --dims 4 --seed 7')(new)
app.command(
    epilog="Example:  attn-xl teach samples/mouse.xlsx -o lesson.xlsx --level 1 --answers key.xlsx"
)(teach)


STOPPED = "interrupted. Nothing was changed."


def main(args: Sequence[str] | None = None) -> None:
    """Run the program; always ends in SystemExit. Status 2 is a mistake in the call, 1 a file that
    cannot be used."""
    gc.disable()  # a run is short and leaves no garbage worth the search
    caught: list[int] = []

    def stop(number: int, _: object) -> NoReturn:
        caught.append(number)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # so that unfinished files are removed
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), stop)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a letter gets a stand-in
            stream.reconfigure(errors="replace")
    if sys.stdout is None:  # closed by whoever called
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        try:
            status = app(args, standalone_mode=False)
        except SystemExit:
            if caught:
                _fail(STOPPED, 128 + caught[0])
            raise
        finally:
            sys.stdout.flush()
        if caught:  # typer ends quietly
            _fail(STOPPED, 128 + caught[0])
        sys.exit(status if isinstance(status, int) else 0)
    except AttnXlError as error:
        if caught:
            _fail(STOPPED, 128 + caught[0])
        _fail(str(error), error.exit_status)
    except KeyboardInterrupt:
        _fail(STOPPED, 130)
    except MemoryError:
        _fail("not enough memory for a table of this size.", 1)
    except BrokenPipeError:  # the reader of the pipe has seen enough
        _discard_output()
        sys.exit(0)
    except OSError as error:
        _discard_output()
        _fail(f"the output cannot be written ({error.strerror or error}).", 1)
    except Exception as error:
        if caught:  # openpyxl makes an error of its own of whatever stops it
            _fail(STOPPED, 128 + caught[0])
        if not hasattr(error, "format_message"):  # not typer's own: a mistake in the call
            raise
        if not error.format_message():  # the help was asked for by saying nothing, and was printed
            sys.exit(getattr(error, "exit_code", 2))
        usage = getattr(error, "ctx", None)
        hint = f" Try '{usage.command_path} --help'." if usage else ""
        _fail(f"{error.format_message().rstrip('.')}.{hint}", getattr(error, "exit_code", 2))
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
