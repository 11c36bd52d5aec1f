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
from types import ModuleType
from typing import Annotated, Any, NoReturn, Optional

import typer
from typer._completion_shared import _completion_scripts

from attn_xl import __version__
from attn_xl.errors import AttnXlError, CallError, Interrupted
from attn_xl.settings import Model, Settings
from attn_xl.text import forward, ignore_warnings, say

from .check import check
from .explain import explain
from .grade import grade
from .inspect import inspect
from .new import new
from .options import (
    File,
    Files,
    Force,
    Jobs,
    Output,
    Plain,
    Template,
    computed,
    output_beside,
    with_settings,
)
from .teach import teach
from .vectors import VectorsCommand, vectors

app = typer.Typer(
    help="Attention, step by step, as live spreadsheet formulas.",
    epilog="Example:  attn-xl convert samples/mouse.xlsx",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


# As typer installs it, zsh's first Tab only loads the completion. This lets it complete, too.
_completion_scripts["zsh"] = _completion_scripts["zsh"].replace(
    "\ncompdef", '\n[[ $zsh_eval_context[-1] == loadautofunc ]] && %(complete_func)s "$@"\ncompdef'
)


def _import_help() -> None:
    """Import what typer renders help with, but not the two parsers that it would only need for help in
    Markdown and for tracebacks: they take a quarter of the time of `--help`."""
    unused = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
    stubs = {name: ModuleType(name) for name in unused if name not in sys.modules}
    for name, stub in stubs.items():
        setattr(stub, unused[name], type(unused[name], (), {}))
    sys.modules.update(stubs)
    try:
        import typer.rich_utils  # noqa: F401
    finally:
        for name in stubs:
            del sys.modules[name]


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
    file: Files,
    chosen: dict[str, Any],
    reading: dict[str, Any],
    output: Output = None,
    template: Template = "article",
    plain: Plain = False,
    jobs: Jobs = None,
    force: Force = False,
) -> None:
    """Write every matrix of attention as a sheet of live formulas."""
    chosen = {**chosen, "controls": not plain}
    _write(file, output, "attention", template, force, chosen, reading, jobs)


@app.command(epilog="Example:  attn-xl similarity samples/politics.xlsx -o angles.xlsx")
@with_settings(*(f.name for f in fields(Settings) if f.name not in ("decimals", "formulas", "layout")))
def similarity(
    file: Files,
    chosen: dict[str, Any],
    reading: dict[str, Any],
    output: Output = None,
    template: Template = "article",
    jobs: Jobs = None,
    force: Force = False,
) -> None:
    """Write dot product, magnitude, cosine and angle of every two words as sheets of live formulas."""
    chosen = {**chosen, "model": Model.similarity}
    _write(file, output, "similarity", template, force, chosen, reading, jobs)


def _write(
    files: list[Path],
    output: Path | None,
    tail: str,
    template: str,
    force: bool,
    chosen: dict[str, Any],
    reading: dict[str, Any],
    jobs: int | None,
) -> None:
    from attn_xl.outputs import check_ending, expanded, is_folder

    named, files = files, expanded(files)
    if not files:
        raise CallError(f"{named[0]}: no file matches.")
    one = len(files) == 1
    into_folder = output is not None and (not one or is_folder(output))
    if output is not None and not into_folder:
        check_ending(output, ".xlsx")
    Settings.check_call(chosen)  # a mistake in the call is said before anything is read
    from attn_xl.workbook.templates import find_template

    look = find_template(template)
    from .convert import Conversion, convert_file, convert_files, folder_for

    folder = folder_for(output) if output is not None and (into_folder or len(files) > 1) else None
    tasks = []
    for file in files:
        if folder is not None:
            path = folder / f"{file.stem}-{tail}.xlsx"
        else:
            path = output or output_beside(file, f"{tail}.xlsx")
        tasks.append(Conversion(file, path, look, chosen, reading, force))
    done = [convert_file(tasks[0])] if len(tasks) == 1 else convert_files(tasks, jobs)
    for result in done:
        for line in (*result.remarks, result.error):
            if line:
                say(f"attn-xl: {line}" if line == result.error else line, file=sys.stderr)
        if result.said:
            say(result.said)
    failed = sum(bool(result.error) for result in done)
    if len(tasks) != 1:
        print(f"{len(tasks) - failed} of {len(tasks)} files converted")
    if failed:
        raise typer.Exit(1)


@app.command(epilog="Example:  attn-xl show samples/mouse.xlsx --step Softmax --sheet cat")
@with_settings("formulas", "sheets_for", "controls", "layout")
def show(
    file: File,
    chosen: dict[str, Any],
    reading: dict[str, Any],
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
    Settings.check_call(chosen)
    if svg is not None:
        from attn_xl.outputs import check_output

        check_output(svg, force=force, sources=(file,))
    computation, settings = computed(file, chosen, reading, sheet)
    for remark in computation.remarks:
        say(remark, file=sys.stderr)
    wanted: dict[str, Any] = {"steps": step or (), "sheet": sheet}
    if json or csv:
        from attn_xl.views.export import to_csv, to_json

        text = (to_json if json else to_csv)(computation, **wanted, decimals=settings.decimals)
        text = forward(text) if sys.stdout.isatty() else text
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    from attn_xl.views import terminal

    wanted["decimals"] = terminal.DECIMALS if settings.decimals is None else settings.decimals
    if svg is None:
        terminal.show(computation, **wanted)
        return
    from attn_xl.outputs import writing

    picture = terminal.svg(computation, **wanted)
    with writing(svg) as temporary:
        temporary.write_text(picture, encoding="utf-8")
    say(str(svg))


app.command(epilog="Example:  attn-xl inspect samples/mouse.xlsx")(inspect)
app.command(
    epilog=r'Example:  attn-xl explain samples/mouse.xlsx "cat.Softmax\[mouse, cat]" --depth 2'
)(explain)
app.command(epilog='Example:  attn-xl new --words "the cat chased the mouse" --dims 4 --seed 7')(new)
app.command(
    epilog="Example:  attn-xl teach samples/mouse.xlsx -o lesson.xlsx --level 1 --answers key.xlsx"
)(teach)
app.command(
    cls=VectorsCommand,
    epilog="Example:  attn-xl vectors samples/vectors.txt --words florida california politics --pca 2",
)(vectors)
app.command(
    epilog="Example:  attn-xl grade class/*.xlsx -o grades.xlsx --answers class-answers.xlsx "
    "--feedback feedback"
)(grade)
app.command(epilog="Example:  attn-xl check samples/mouse-attention.xlsx homework/*.xlsx --json")(check)


STOPPED = "interrupted. Nothing was changed."


def main(args: Sequence[str] | None = None) -> None:
    """Run the program; always ends in SystemExit. Status 2 is a mistake in the call, 1 a file that
    cannot be used."""
    gc.disable()  # a run is short and leaves no garbage worth the search
    ignore_warnings()
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
    asked = sys.argv[1:] if args is None else args
    if not asked or {"-h", "--help"} & {*asked} or "_ATTN_XL_COMPLETE" in os.environ:
        _import_help()
    try:
        try:
            status = app(args, prog_name="attn-xl", standalone_mode=False)
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
        if caught and not isinstance(error, Interrupted):
            _fail(STOPPED, 128 + caught[0])
        stopped = 128 + caught[0] if caught else 0
        _fail(str(error), stopped or error.exit_status)
    except KeyboardInterrupt:
        _fail(STOPPED, 130)
    except MemoryError:
        _fail("not enough memory for a table of this size.", 1)
    except BrokenPipeError:  # the reader of the pipe has seen enough
        _discard_output()
        sys.exit(0)
    except OSError as error:
        _discard_output()
        what = f"{error.filename}: cannot be used" if error.filename else "the output cannot be written"
        _fail(f"{what} ({error.strerror or error}).", 1)
    except Exception as error:
        if caught:  # openpyxl makes an error of its own of whatever stops it
            _fail(STOPPED, 128 + caught[0])
        if not hasattr(error, "format_message"):  # not typer's own: a mistake in the call
            raise
        if not error.format_message():  # the help was asked for by saying nothing, and was printed
            sys.exit(getattr(error, "exit_code", 2))
        usage = getattr(error, "ctx", None)
        hint = f" Try '{usage.command_path} --help'." if usage else ""
        said = error.format_message()
        _fail(f"{said}{'' if said.endswith(('.', '?')) else '.'}{hint}", getattr(error, "exit_code", 2))
    finally:
        gc.freeze()  # nor is there any worth it at the end
        gc.enable()


def _fail(message: str, status: int) -> NoReturn:
    """Say what is wrong in one line, in which nothing of a file's name or words steers a terminal."""
    say(f"attn-xl: {message}", file=sys.stderr)
    sys.exit(status)


def _discard_output() -> None:
    """Let Python not try again, at its end, to print what could not be printed."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
