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
from attn_xl.errors import AttnXlError, Interrupted
from attn_xl.text import ignore_warnings, say

from .check import check
from .compare import compare
from .convert import convert, similarity
from .explain import explain
from .grade import grade
from .inspect import inspect
from .learn import learn
from .model import ModelCommand, model
from .new import new
from .show import show
from .teach import teach
from .typer_patches import complete_on_first_tab, import_help
from .vectors import vectors
from .words import ModelsCommand, SentencesCommand, WordsCommand

complete_on_first_tab()

app = typer.Typer(
    help="Attention, step by step, as live spreadsheet formulas.",
    epilog="Example:  attn-xl convert samples/mouse.xlsx",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        print(f"attn-xl {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


app.command(epilog="Example:  attn-xl convert samples/mouse.xlsx -o mouse.xlsx --template print")(
    convert
)
app.command(epilog="Example:  attn-xl similarity samples/politics.xlsx -o angles.xlsx")(similarity)
app.command(epilog="Example:  attn-xl learn samples/learning.xlsx --steps 20 --rate 1")(learn)
app.command(
    cls=ModelCommand,
    epilog='Example:  attn-xl model samples/tiny-model --text "the cat chased the mouse and the"',
)(model)
app.command(
    cls=ModelsCommand,
    epilog="Example:  attn-xl compare samples/rnn.xlsx --models cnn rnn lstm gru attention",
)(compare)
app.command(epilog="Example:  attn-xl show samples/mouse.xlsx --step Softmax --sheet pets")(show)
app.command(epilog="Example:  attn-xl inspect samples/mouse.xlsx")(inspect)
app.command(
    epilog=r'Example:  attn-xl explain samples/mouse.xlsx "pets.Softmax\[mouse, cat]" --depth 2'
)(explain)
app.command(
    cls=SentencesCommand,
    epilog='Example:  attn-xl new --words "the cat chased the mouse" --dims 4 --seed 7',
)(new)
app.command(
    epilog="Example:  attn-xl teach samples/mouse.xlsx -o lesson.xlsx --level 1 --answers key.xlsx"
)(teach)
app.command(
    cls=WordsCommand,
    epilog='Example:  attn-xl vectors samples/vectors.txt --words "florida california truth" --pca 2',
)(vectors)
app.command(
    epilog="Example:  attn-xl grade class/*.xlsx -o grades.xlsx --answers class-answers.xlsx "
    "--feedback feedback"
)(grade)
app.command(epilog="Example:  attn-xl check samples/mouse-attention.xlsx homework/*.xlsx --json")(check)


STOPPED = "interrupted. Nothing was changed."


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

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # unfinished files are removed on the way out
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), on_signal)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # characters that the terminal cannot encode become "?"
            stream.reconfigure(errors="replace")
    if sys.stdout is None:  # closed by the calling process
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    arguments = sys.argv[1:] if args is None else args
    if not arguments or {"-h", "--help"} & {*arguments} or "_ATTN_XL_COMPLETE" in os.environ:
        import_help()
    try:
        try:
            status = app(args, prog_name="attn-xl", standalone_mode=False)
        except SystemExit:
            if caught:
                _fail(STOPPED, 128 + caught[0])
            raise
        finally:
            sys.stdout.flush()
        if caught:  # typer swallows the interrupt
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
        if not error.format_message():  # called without arguments: typer has printed the help
            sys.exit(getattr(error, "exit_code", 2))
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
