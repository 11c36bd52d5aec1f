"""The commands and what `attn-xl --help` prints of each. The module of a command is imported, and its
options are made, only when it is called."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from .command import (
    Command,
    LayersCommand,
    ModelsCommand,
    SentencesCommand,
    WeightsCommand,
    WordsCommand,
)

SETTINGS = {"help_option_names": ["-h", "--help"]}


@dataclass(frozen=True)
class Entry:
    """A command as `--help` lists it.

    Attributes:
        module: the module of this folder with the command's function, if its name is another.
        kind: the class of the command.
    """

    help: str
    example: str
    module: str = ""
    kind: type[Command] = Command


COMMANDS = {
    "convert": Entry(
        "Write every matrix of attention as a sheet of live formulas.",
        "samples/mouse.xlsx -o mouse.xlsx --template print",
    ),
    "fill": Entry(
        "Complete your own sheet: formulas for its blank frames.",
        "samples/authors/two-contexts.xlsx -o filled.xlsx",
    ),
    "similarity": Entry(
        "Compare every two words: dot product, magnitudes, cosine, angle.",
        "samples/politics.xlsx -o angles.xlsx",
        module="convert",
    ),
    "learn": Entry(
        "Train a model step by step, with every gradient.",
        "samples/learning.xlsx --steps 20 --rate 1",
        kind=WeightsCommand,
    ),
    "compare": Entry(
        "Compare models on the same sentences: how far each can see.",
        "samples/rnn.xlsx --models cnn rnn lstm gru attention",
        kind=ModelsCommand,
    ),
    "model": Entry(
        "Write a trained model and a text: BERT, GPT-2, Llama, ...",
        'samples/tiny-model --text "the cat chased the mouse and the"',
        kind=LayersCommand,
    ),
    "show": Entry(
        "Print matrices in the terminal.",
        "samples/mouse.xlsx Softmax --sheet pets",
    ),
    "explain": Entry(
        "Explain how a number, or a row, was computed.",
        'samples/mouse.xlsx "pets.Softmax[mouse, cat]" --depth 2',
    ),
    "inspect": Entry(
        "List the tables of a file, and what each is used for.",
        "samples/mouse.xlsx",
    ),
    "teach": Entry(
        "Write a lesson with blanks that marks what students fill in.",
        "samples/mouse.xlsx -o lesson.xlsx --level 1 --answers key.xlsx",
    ),
    "grade": Entry(
        "Mark the lessons that students submitted.",
        "class -o grades.xlsx --answers class-answers.xlsx --feedback feedback",
    ),
    "new": Entry(
        "Write an input whose numbers are easy to compute with by hand.",
        '--words "the cat chased the mouse" --dims 4 --seed 7',
        kind=SentencesCommand,
    ),
    "vectors": Entry(
        "Pick words from GloVe, word2vec or fastText files.",
        'samples/vectors.txt --words "florida california truth" --pca 2',
        kind=WordsCommand,
    ),
    "settings": Entry(
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
        listed = {name: entry.kind(name, help=entry.help) for name, entry in COMMANDS.items()}
        super().__init__(**{**attributes, "commands": listed})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        if args[0] not in self.commands and (args[0] == "-" or set("./\\") & set(args[0])):
            args = ["convert", *args]
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
    app.command(name, cls=entry.kind, help=entry.help, epilog=epilog)(function)
    command = get_command(app)
    assert isinstance(command, Command)
    command.settings = getattr(function, "settings", {})
    return command
