"""The commands and what `attn-xl --help` prints of each. The module of a command is imported, and its
options are made, only when it is called."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from attn_xl.errors import CallError
from attn_xl.records import record

WORDS = '"WORD ..."'
"""The placeholder for several words in the help."""
WIDEST, MOST_LEFT = 100, 24
"""Columns of a help page, and of the options on its left."""
MISTAKEN = {"--only": "--step", "--mask": "--causal"}
"""Options that people try, and those that they mean."""
METAVARS = {"int": "N", "integer": "N", "float": "X", "path": "FILE"}


class Command(TyperCommand):
    """A command of attn-xl.

    Attributes:
        several: the options that take several values.
        joined: whether these form one value, separated by spaces.
        settings: whether each setting without an option of its own is on or off, by its name.
    """

    several: tuple[str, ...] = ()
    joined = False
    settings: Mapping[str, bool] = {}

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options = {
            name: getattr(parameter, "is_flag", False)
            for parameter in self.params
            for name in (*parameter.opts, *parameter.secondary_opts)
            if name.startswith("-")
        }
        for wrong, meant in MISTAKEN.items():
            if wrong in args and meant in options:
                raise CallError(f"there is no option {wrong}. Did you mean {meant}?")
        once = {
            name: parameter.opts[0]
            for parameter in self.params
            for name in parameter.opts
            if name in options and not options[name] and not getattr(parameter, "multiple", False)
        }
        args = with_set(args, options, self.settings, once)
        takes_value = {name: name in self.several for name, is_flag in options.items() if not is_flag}
        return super().parse_args(ctx, spread_words(args, takes_value, joined=self.joined))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        arguments = [_left(one) for one in self.params if one.param_type_name == "argument"]
        lines = [f"Usage: {' '.join([ctx.command_path, *arguments, '[OPTIONS]'])}", ""]
        lines += [*wrapped(self.help or ""), ""]
        panels: dict[str, list[tuple[str, str]]] = {"": []}
        for parameter in self.params:
            named = "Options" if parameter.param_type_name == "option" else ""
            panel = getattr(parameter, "rich_help_panel", None) or named
            text = getattr(parameter, "help", None) or ""
            panels.setdefault(panel, []).append((_left(parameter), text))
        for panel, rows in panels.items():
            lines += [f"{panel}:"] * bool(panel) + [*_rows(rows)] + [""] * bool(rows)
        formatter.write("\n".join([*lines, *wrapped(self.epilog or "")]) + "\n")


def _left(parameter: Any) -> str:
    """An option or argument as the help page names it."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar)
    if parameter.secondary_opts:
        return f"--[no-]{parameter.opts[0].removeprefix('--')}"
    short_first = ", ".join(sorted(parameter.opts, key=len))
    is_flag = getattr(parameter, "is_flag", False)
    metavar = "" if is_flag else parameter.metavar or METAVARS.get(parameter.type.name, "NAME")
    return f"{short_first} {metavar}".rstrip()


def wrapped(text: str, indent: str = "") -> list[str]:
    """A text in lines as wide as the terminal."""
    width = min(shutil.get_terminal_size().columns, WIDEST)
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _rows(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Options on the left, what they do on the right."""
    left = min(max(len(name) for name, _ in rows), MOST_LEFT) if rows else 0
    for name, text in rows:
        lines = wrapped(text, " " * (left + 4))
        if len(name) <= left and lines:
            lines[0] = f"  {name:{left}}{lines[0][left + 2 :]}"
        else:
            yield f"  {name}"
        yield from lines


def with_set(
    args: list[str],
    options: Mapping[str, bool],
    settings: Mapping[str, bool],
    once: Mapping[str, str],
) -> list[str]:
    """The arguments with `--rotary-base 100` written as `--set rotary-base=100`, for settings without
    an option of their own.

    Args:
        options: whether each of the command's own options is a flag, by its name.
        settings: whether each setting is on or off, by its name.
        once: the options that take a single value: the first spelling of each.

    Raises:
        CallError: if one of these is given twice.
    """
    made: list[str] = []
    given_once: set[str] = set()
    rest = iter(args)
    for arg in rest:
        name, equals, value = arg.partition("=")
        setting = name.removeprefix("--")
        switched = setting.removeprefix("no-")
        if arg == "--":
            return [*made, arg, *rest]
        if name in once:
            if once[name] in given_once:
                raise CallError(f"{name} is given twice, but takes one value. Give it once.")
            given_once.add(once[name])
        if name in options or not arg.startswith("--"):
            made.append(arg)
            if options.get(name) is False and not equals:
                made += [one for one in (next(rest, None),) if one is not None]
        elif settings.get(switched) and not equals:
            made += ["--set", f"{switched}={'on' if switched == setting else 'off'}"]
        elif setting in settings:
            given = value if equals else next(rest, None)
            made += ["--set", setting if given is None else f"{setting}={given}"]
        else:
            made.append(arg)
    return made


def spread_words(args: list[str], takes_value: dict[str, bool], *, joined: bool = False) -> list[str]:
    """The arguments with `--words a b c` written as `--words a --words b --words c` or, if `joined`, as
    `--words "a b c"`.

    The words end at the next option. If no other argument can be the file, the last word is the file;
    a command that joins the words has no file argument.

    Args:
        takes_value: the options that take a value; True for those that take several words.
    """
    spread: list[str] = []
    option = ""
    many = value = alone = False
    last = 0  # index of the last word in `spread`
    for place, arg in enumerate(args):
        if arg == "--":
            return spread + args[place:]
        if value:
            spread.append(arg)
            value = False
            many = many and not (arg.startswith("-") and arg.strip("-"))  # no word follows --words
        elif arg.startswith("-") and arg.strip("-"):  # a lone dash is a word
            name, equals, _ = arg.partition("=")
            many, option = takes_value.get(name, False), name
            value = name in takes_value and not equals
            spread.append(arg)
        elif many and joined:
            spread[-1] += f" {arg}"
        elif many:
            spread += [option, arg]
            last = len(spread) - 1
        else:
            spread.append(arg)
            alone = True
    if last and not alone:
        del spread[last - 1]
    return spread


SETTINGS = {"help_option_names": ["-h", "--help"]}


@record(frozen=True)
class ListedCommand:
    """A command as `--help` lists it.

    Attributes:
        module: the module of this folder with the command's function, if its name is another.
        several, joined: see `Command`.
    """

    help: str
    example: str
    module: str = ""
    several: tuple[str, ...] = ()
    joined: bool = False


COMMANDS = {
    "convert": ListedCommand(
        "Write every matrix of attention as a sheet of live formulas.",
        "samples/mouse.xlsx -o mouse.xlsx --template print",
    ),
    "fill": ListedCommand(
        "Complete your own sheet: formulas for its blank frames.",
        "samples/authors/two-contexts.xlsx -o filled.xlsx",
    ),
    "similarity": ListedCommand(
        "Compare every two words: dot product, magnitudes, cosine, angle.",
        "samples/politics.xlsx -o angles.xlsx",
        module="convert",
    ),
    "learn": ListedCommand(
        "Train a model step by step, with every gradient.",
        "samples/learning.xlsx --steps 20 --rate 1",
        several=("--train",),
    ),
    "compare": ListedCommand(
        "Compare models on the same sentences: how far each can see.",
        "samples/rnn.xlsx --models cnn rnn lstm gru attention",
        several=("--models",),
    ),
    "model": ListedCommand(
        "Write a trained model and a text: BERT, GPT-2, Llama, ...",
        'samples/tiny-model --text "the cat chased the mouse and the"',
        several=("--layers", "--heads", "--rows"),
    ),
    "show": ListedCommand(
        "Print matrices in the terminal.",
        "samples/mouse.xlsx Softmax --sheet pets",
    ),
    "explain": ListedCommand(
        "Explain how a number, or a row, was computed.",
        'samples/mouse.xlsx "pets.Softmax[mouse, cat]" --depth 2',
    ),
    "inspect": ListedCommand(
        "List the tables of a file, and what each is used for.",
        "samples/mouse.xlsx",
    ),
    "teach": ListedCommand(
        "Write a lesson with blanks that marks what students fill in.",
        "samples/mouse.xlsx -o lesson.xlsx --level 1 --answers key.xlsx",
    ),
    "grade": ListedCommand(
        "Mark the lessons that students submitted.",
        "class -o grades.xlsx --answers class-answers.xlsx --feedback feedback",
    ),
    "new": ListedCommand(
        "Write an input whose numbers are easy to compute with by hand.",
        '--words "the cat chased the mouse" --dims 4 --seed 7',
        several=("--words",),
        joined=True,
    ),
    "vectors": ListedCommand(
        "Pick words from GloVe, word2vec or fastText files.",
        'samples/vectors.txt --words "florida california truth" --pca 2',
        several=("--words",),
    ),
    "settings": ListedCommand(
        "List every setting, with its values.",
        "rotary",
    ),
}
GROUPS = {
    "Workbooks": ("convert", "fill", "similarity", "learn", "compare", "model"),
    "Look closer": ("show", "explain", "inspect"),
    "Teach": ("teach", "grade"),
    "Inputs": ("new", "vectors", "settings"),
}


class Commands(TyperGroup):
    """The group of all commands; only the one that is called has options. A file in place of a command
    is converted."""

    def __init__(self, **attributes: Any) -> None:
        listed = {name: Command(name, help=entry.help) for name, entry in COMMANDS.items()}
        super().__init__(**{**attributes, "commands": listed})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        if args[0] not in self.commands and (args[0] == "-" or set("./\\") & set(args[0])):
            args = ["convert", *args]
        if args[0] not in self.commands and " " in args[0] and args[0][0] != "-":
            advice = f'attn-xl new --words "{args[0]}" writes an input with these words'
            raise CallError(f"{args[0]!r} is neither a file nor a command. {advice}.")
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(str(command.name)), rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        lines = ["Attention, step by step, as live spreadsheet formulas.", ""]
        lines += ["  attn-xl FILE   writes every matrix of a spreadsheet's sentences as formulas", ""]
        for group, names in GROUPS.items():
            lines += [f"{group}:", *(f"  {name:10}  {COMMANDS[name].help}" for name in names)]
        lines += ["", "attn-xl COMMAND --help lists its options; attn-xl --version prints the version."]
        formatter.write("\n".join(lines) + "\n")


def load(name: str) -> Command:
    """A command with its options."""
    entry = COMMANDS[name]
    module = import_module(f".{entry.module or name}", __package__)
    app = typer.Typer(add_completion=False, context_settings=SETTINGS)
    function = getattr(module, name)
    epilog = f"Example:  attn-xl {name} {entry.example}"
    app.command(name, cls=Command, help=entry.help, epilog=epilog)(function)
    command = get_command(app)
    assert isinstance(command, Command)
    command.settings = getattr(function, "settings", {})
    command.several, command.joined = entry.several, entry.joined
    return command
