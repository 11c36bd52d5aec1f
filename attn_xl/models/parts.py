"""Parts of a model: its layers and heads, and which of them are formulas."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from attn_xl.errors import CallError, nearest
from attn_xl.graph.functions import gather
from attn_xl.graph.given import given_step
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Scope, Step
from attn_xl.models import steps
from attn_xl.records import record
from attn_xl.settings import COMPARE, Settings

COMPARISON = WHOLE.within(Scope(COMPARE, "comparison"))
"""The part whose steps stand on the sheet `Compare`; a word or a sentence is a scope within it."""


def chosen_parts(wanted: str, parts: Iterable[Part]) -> set[Part]:
    """The parts of a model in the wanted layers and heads, and those outside any layer or head.

    Args:
        wanted: layers and heads, such as `Enc1,head2`.
        parts: all parts of the model.

    Raises:
        CallError: for a layer or head that the model does not have.
    """
    parts = list(dict.fromkeys(parts))
    layers = {part.layer.casefold(): part.layer for part in parts if part.layer}
    heads = {f"head{part.head}": part.head for part in parts if part.head}
    chosen_layers, chosen_heads = set(), set()
    for word in wanted.replace(" ", "").split(","):
        key = word.casefold()
        if key in layers:
            chosen_layers.add(layers[key])
        elif key in heads:
            chosen_heads.add(heads[key])
        else:
            known = [*layers.values(), *heads]
            raise CallError(
                f"--sheets-for: there is no layer or head {word!r}. "
                + (nearest(word, known) if known else "This model has neither layers nor heads.")
            )
    return {
        part
        for part in parts
        if (not part.layer or not chosen_layers or part.layer in chosen_layers)
        and (not part.head or not chosen_heads or part.head in chosen_heads)
    }


MOST_ROWS = 10_000
"""Words of a text whose rows can be chosen."""
_NUMBERS = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")


@record(frozen=True)
class Live:
    """The part of a model that becomes formulas.

    Attributes:
        layers: the numbers of the layers, from 1; None for all.
        heads: the numbers of the heads, from 1; None for all.
        network: whether feed-forward networks belong to it.
        rows: the words whose rows are computed from the scores on, from 0; None for all.
    """

    layers: frozenset[int] | None = None
    heads: tuple[int, ...] | None = None
    network: bool = True
    rows: tuple[int, ...] | None = None

    @classmethod
    def of(cls, settings: Settings) -> Live:
        """The part that settings choose.

        Raises:
            CallError: for layers or heads that the model does not have.
        """
        s = settings
        counts = [s.encoder_layers or s.layers, s.decoder_layers or s.layers]
        layers = numbers(s.live_layers, max(counts), "layer") if s.live_layers else None
        heads = numbers(s.live_heads, s.heads or 1, "head") if s.live_heads else None
        if heads is not None and len(heads) == s.heads:
            heads = None
        rows = None
        if s.live_rows:
            if s.generate is not None:
                raise CallError(
                    "--rows does not work with --generate, whose new words look at all others. Leave "
                    "out --rows."
                )
            rows = tuple(number - 1 for number in numbers(s.live_rows, MOST_ROWS, "row"))
        return cls(None if layers is None else frozenset(layers), heads, s.live_network, rows)

    @property
    def whole(self) -> bool:
        """Whether all of the model becomes formulas."""
        return self.layers is None and self.heads is None and self.network and self.rows is None

    def has(self, layer: int) -> bool:
        """Whether a layer becomes formulas."""
        return self.layers is None or layer in self.layers

    def of_words(self, x: Matrix) -> Matrix:
        """The rows of the chosen words, of a matrix with a row for each word.

        Raises:
            CallError: for a row that it does not have.
        """
        if self.rows is None:
            return x
        if self.rows[-1] >= len(x.rows):
            raise CallError(
                f"--rows {self.rows[-1]}: the text has rows 0 to {len(x.rows) - 1}, one for each word."
            )
        return gather([(x, row) for row in self.rows], [x.rows[row] for row in self.rows])

    def after(self, layer: int, last: int) -> int:
        """The next layer that becomes formulas; 0 if there is none up to the last one."""
        return next((n for n in range(layer + 1, last + 1) if self.has(n)), 0)


ALL = Live()
"""All of a model."""


def numbers(text: str, count: int, what: str) -> tuple[int, ...]:
    """The numbers in `0 3-5`, raised by 1: checkpoints count from 0, models from 1.

    Raises:
        CallError: if the text has another form, or a number is `count` or more.
    """
    found: set[int] = set()
    for word in text.replace(",", " ").split():
        match = _NUMBERS.fullmatch(word)
        if match is None:
            raise CallError(
                f"--{what}s is {text!r}; it takes numbers and ranges, counted from 0: 0 3-5."
            )
        first, last = int(match[1]), int(match[2] or match[1])
        if max(first, last) >= count:
            has = f"only {what} 0" if count == 1 else f"{what}s 0 to {count - 1}"
            raise CallError(f"--{what}s {word}: the model has {has}.")
        found |= {*range(first + 1, last + 2)}
    if not found:
        raise CallError(f"--{what}s is empty; it takes numbers and ranges, counted from 0: 0 3-5.")
    return tuple(sorted(found))


def enter(x: Matrix, step: Step, part: Part) -> Matrix:
    """The numbers of a matrix as values, without how they were computed."""
    return given_step(x.values, x.rows, x.columns, step, part)


FILE_BYTES, OPEN_BYTES = 14, 230
"""Bytes for each number in a file, and in the memory of LibreOffice that has opened it; measured with a
layer of width 384, two million numbers."""


def described(settings: Settings, now: int, whole: int | None) -> str:
    """What of a model is formulas, and what it would take to have all of it.

    Args:
        now: how many numbers there are; whole: how many there would be, if known.
    """
    s = settings
    what = []
    layers = s.encoder_layers or s.decoder_layers or s.layers
    for thing, text, of in (
        ("layer", s.live_layers, f" of {layers}"),
        ("head", s.live_heads, f" of {s.heads or 1}"),
        ("row", s.live_rows, ""),
    ):
        if text:
            chosen = " ".join(text.replace(",", " ").split())
            what.append(f"{thing}{'' if chosen.isdecimal() else 's'} {chosen}{of}")
    if not s.live_network:
        what.append("no feed-forward network")
    line = f"Formulas (counted from 0): {', '.join(what)}; what the rest gives enters as values."
    if whole is None or whole <= now:
        return line
    file, memory = size(whole * FILE_BYTES), size(whole * OPEN_BYTES)
    cost = (
        f"This is {now:,} numbers; all would be {whole:,}, about {file} in a file and {memory} of "
        "memory to open it."
    )
    return f"{line}\n{cost}"


def size(number: float) -> str:
    """A number of bytes, as one reads it."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"


def without_new(part: Part) -> Part:
    """The same place in the model that reads the first words."""
    return replace(part, scopes=tuple(s for s in part.scopes if s.symbol != steps.NEW.symbol))
