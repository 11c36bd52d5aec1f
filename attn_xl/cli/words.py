"""Options that take several values, separated by spaces, quoted or not: `--words the cat sat`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

WORDS = '"WORD ..."'
"""The placeholder for its value in the help."""


class WordsCommand(TyperCommand):
    """A command whose `--words` takes several words, each as a separate value.

    Attributes:
        several: the options that take several values.
        joined: whether they form one value, separated by spaces.
    """

    several: tuple[str, ...] = ("--words",)
    joined = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes_value = {
            name: any(option in self.several for option in parameter.opts)
            for parameter in self.params
            for name in parameter.opts
            if name.startswith("-") and not getattr(parameter, "is_flag", False)
        }
        return super().parse_args(ctx, spread_words(args, takes_value, joined=self.joined))


class ModelsCommand(WordsCommand):
    """A command whose `--models` takes several models."""

    several = ("--models",)


class LayersCommand(WordsCommand):
    """A command whose `--layers`, `--heads` and `--rows` take several numbers."""

    several = ("--layers", "--heads", "--rows")


class WeightsCommand(WordsCommand):
    """A command whose `--train` takes several weights."""

    several = ("--train",)


class SentencesCommand(WordsCommand):
    """A command whose `--words` takes several words as one sentence."""

    joined = True


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
