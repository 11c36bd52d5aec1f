"""The option `--words`, which has the same form in every command: words with spaces between, in quotes
or not."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

WORDS = '"WORD ..."'
"""What the help shows as its value."""


class WordsCommand(TyperCommand):
    """Takes several words after one `--words`, each as a value of its own."""

    joined = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes_value = {
            name: "words" in parameter.opts[0]
            for parameter in self.params
            for name in parameter.opts
            if name.startswith("-") and not getattr(parameter, "is_flag", False)
        }
        return super().parse_args(ctx, spread_words(args, takes_value, joined=self.joined))


class SentencesCommand(WordsCommand):
    """Takes several words after one `--words`, as one sentence."""

    joined = True


def spread_words(args: list[str], takes_value: dict[str, bool], *, joined: bool = False) -> list[str]:
    """The arguments with `--words a b c` written as `--words a --words b --words c` or, if `joined`, as
    `--words "a b c"`.

    The words go on up to the next option. Where nothing else can be the file, the last of the words is;
    a command that joins them has no file.

    Args:
        takes_value: the options that take a value, and whether it is that of many words.
    """
    made: list[str] = []
    many = value = alone = False
    last = 0  # where the last word of several stands
    for place, arg in enumerate(args):
        if arg == "--":
            return made + args[place:]
        if value:
            made.append(arg)
            value = False
            many = many and not (arg.startswith("-") and arg.strip("-"))  # the words are missing
        elif arg.startswith("-") and arg.strip("-"):  # not a dash, which is a word
            name, equals, _ = arg.partition("=")
            many = takes_value.get(name, False)
            value = name in takes_value and not equals
            made.append(arg)
        elif many and joined:
            made[-1] += f" {arg}"
        elif many:
            made += ["--words", arg]
            last = len(made) - 1
        else:
            made.append(arg)
            alone = True
    if last and not alone:
        del made[last - 1]
    return made
