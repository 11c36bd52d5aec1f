"""The commands and what `attn-xl --help` prints of each. The module of a command is imported, and its
options are made, only when it is called."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from .words import LayersCommand, ModelsCommand, SentencesCommand, WeightsCommand, WordsCommand

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
    kind: type[TyperCommand] = TyperCommand


COMMANDS = {
    "convert": Entry(
        "Write every matrix of attention as a sheet of live formulas.",
        "samples/mouse.xlsx -o mouse.xlsx --template print",
    ),
    "similarity": Entry(
        "Write the dot product, magnitudes, cosine and angle of every pair of words as live formulas.",
        "samples/politics.xlsx -o angles.xlsx",
        module="convert",
    ),
    "learn": Entry(
        "Write every step of learning as live formulas: forward, loss, gradients and new weights.",
        "samples/learning.xlsx --steps 20 --rate 1",
        kind=WeightsCommand,
    ),
    "model": Entry(
        "Write a trained model and a text as a workbook of live formulas.",
        'samples/tiny-model --text "the cat chased the mouse and the"',
        kind=LayersCommand,
    ),
    "compare": Entry(
        "Write the same sentences through several models: how far each can see, and what it costs.",
        "samples/rnn.xlsx --models cnn rnn lstm gru attention",
        kind=ModelsCommand,
    ),
    "show": Entry(
        "Print the matrices of attention in the terminal.",
        "samples/mouse.xlsx --step Softmax --sheet pets",
    ),
    "inspect": Entry(
        "List the tables of a file, what each is used for and why, and the command that converts it.",
        "samples/mouse.xlsx",
    ),
    "explain": Entry(
        "Explain how one number was computed, with the values substituted.",
        r'samples/mouse.xlsx "pets.Softmax\[mouse, cat]" --depth 2',
    ),
    "new": Entry(
        "Write an input workbook whose numbers are easy to compute with by hand.",
        '--words "the cat chased the mouse" --dims 4 --seed 7',
        kind=SentencesCommand,
    ),
    "teach": Entry(
        "Write a lesson: a workbook with blanks that marks what students fill in.",
        "samples/mouse.xlsx -o lesson.xlsx --level 1 --answers key.xlsx",
    ),
    "vectors": Entry(
        "Extract words from pre-trained word vectors into an input workbook.",
        'samples/vectors.txt --words "florida california truth" --pca 2',
        kind=WordsCommand,
    ),
    "grade": Entry(
        "Mark the lessons that students submitted, each step from the student's own earlier numbers.",
        "class/*.xlsx -o grades.xlsx --answers class-answers.xlsx --feedback feedback",
    ),
}


class Commands(TyperGroup):
    """The group of all commands; only the one that is called has options."""

    def __init__(self, **attributes: Any) -> None:
        listed = {name: entry.kind(name, help=entry.help) for name, entry in COMMANDS.items()}
        super().__init__(**{**attributes, "commands": listed})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(str(command.name)), rest


def load(name: str) -> TyperCommand:
    """A command with its options."""
    entry = COMMANDS[name]
    module = import_module(f".{entry.module or name}", __package__)
    app = typer.Typer(add_completion=False, context_settings=SETTINGS)
    app.command(
        name, cls=entry.kind, help=entry.help, epilog=f"Example:  attn-xl {name} {entry.example}"
    )(getattr(module, name))
    command = get_command(app)
    assert isinstance(command, TyperCommand)
    return command
