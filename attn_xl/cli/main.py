"""The entry point: registers the commands and turns errors into messages and exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from attn_xl import __version__
from attn_xl.errors import AttnXlError
from attn_xl.text import ignore_warnings, say

from .commands import SETTINGS, Commands

app = typer.Typer(
    cls=Commands,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)


def _print_version(requested: bool) -> None:
    if requested:
        say(f"attn-xl {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


STOPPED = "interrupted. No unfinished file is left."


def main(args: Sequence[str] | None = None) -> None:
    """Run the program. Always raises SystemExit: status 2 for a mistake in the call, 1 for a file that
    cannot be used."""
    gc.disable()  # a run is too short for collecting garbage to pay off
    ignore_warnings()
    caught: list[int] = []

    def on_signal(number: int, _: object) -> NoReturn:
        caught.append(number)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    reported = sys.unraisablehook  # of a callback that Python ran when the signal came
    sys.unraisablehook = lambda what: None if caught else reported(what)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # unfinished files are removed on the way out
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), on_signal)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # characters that the terminal cannot encode become "?"
            stream.reconfigure(errors="replace")
    if sys.stdout is None:  # closed by the calling process
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    try:
        try:
            status = app(
                list(sys.argv[1:] if args is None else args) or ["--help"],
                prog_name="attn-xl",
                standalone_mode=False,
            )
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):  # typer makes it status 1
                raise end.__context__ from None
            if caught:
                _fail(STOPPED, 128 + caught[0])
            raise
        finally:
            sys.stdout.flush()
        if caught:  # typer swallows the interrupt
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
    except BrokenPipeError:  # the reader closed the pipe
        _discard_output()
        sys.exit(0)
    except OSError as error:
        _discard_output()
        what = f"{error.filename}: cannot be used" if error.filename else "the output cannot be written"
        _fail(f"{what} ({error.strerror or error}).", 1)
    except Exception as error:
        if caught:  # openpyxl wraps the exception that interrupts it
            _fail(STOPPED, 128 + caught[0])
        if not hasattr(error, "format_message"):  # only typer's own errors are mistakes in the call
            raise
        usage = getattr(error, "ctx", None)
        hint = f" Try '{usage.command_path} --help'." if usage else ""
        text = error.format_message()
        _fail(f"{text}{'' if text.endswith(('.', '?')) else '.'}{hint}", getattr(error, "exit_code", 2))
    finally:
        gc.freeze()  # skips the collection at exit, too
        gc.enable()


def _fail(message: str, status: int) -> NoReturn:
    """Print an error on one line, with control characters replaced, and exit."""
    say(f"attn-xl: {message}", file=sys.stderr)
    sys.exit(status)


def _discard_output() -> None:
    """Keep Python from flushing the unprintable output again at exit."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
