"""Masks of attention: later words, padding, windows, and masks of your own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from attn_xl.errors import CallError, InputError, nearest
from attn_xl.graph.extent import HIDES
from attn_xl.graph.functions import option, switch
from attn_xl.graph.given import given_step
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.operations.positions import HIDDEN
from attn_xl.graph.step import WHOLE, Part, Step
from attn_xl.settings import CELLS, OPTIONS, OVERVIEW, Normalize, Settings
from attn_xl.tables.labels import words_seen
from attn_xl.tables.survey import Table, Tables
from attn_xl.tables.written import drawn_before

from . import steps
from .attention import Attending, Dropout, attention_mask
from .steps import MASK


class Attended(NamedTuple):
    """One attention of a run, the same in all layers of its stack.

    Attributes:
        part: its place in every layer: `Enc.`, `Dec.Self.`; the whole model without layers.
        layers: the number of layers; 0 without layers.
        rows: the words that look.
        columns: the words that are looked at.
    """

    part: Part
    layers: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    @property
    def names(self) -> dict[str, Part]:
        """The names of masks that apply to it, and the part of the model that each name means."""
        parts = [self.part, *(self.part.in_layer(layer) for layer in range(1, self.layers + 1))]
        return {name: there for part in parts for name, there in _names(part)}


def _names(part: Part) -> Iterator[tuple[str, Part]]:
    """The possible names of a mask for a part of the model, the most specific first."""
    kind = part.scopes[1:]
    for there in (part, part.every_layer, *([Part(kind)] if kind else []), WHOLE):
        yield there.name(MASK.symbol), there


class OwnMasks:
    """The masks of a file, each with the attentions that it applies to.

    `Enc1.Mask` applies to one layer, `Enc.Mask` to a whole stack, `Self.Mask` and `Cross.Mask` to one
    kind of attention in a decoder, `Mask` to whatever it fits. The most specific mask wins. A single
    row or column applies to every word that looks.

    Args:
        attended: every attention of the run.

    Raises:
        InputError: if a mask fits no attention, or fits several kinds and does not name one.
    """

    def __init__(self, tables: Tables, attended: Sequence[Attended]) -> None:
        self._attentions: dict[str, list[Attended]] = {}
        self._tables: dict[str, Table] = {}
        for name in self.given(tables):
            table = tables.weights[name]
            is_column = len(table.columns) == 1 < len(table.rows)
            self._tables[name] = table = table.turn() if is_column else table
            self._attentions[name] = _attentions_for(name, table, attended)

    @staticmethod
    def given(tables: Tables) -> list[str]:
        """The names of the masks in a file."""
        return [name for name in tables.weights if name.rpartition(".")[2] == MASK.symbol]

    def __bool__(self) -> bool:
        return bool(self._attentions)

    def of(self, part: Part, rows: Sequence[str], columns: Sequence[str]) -> tuple[Part, Table] | None:
        """The mask for a part of the model and its words, with the part that it applies to, or
        None."""
        words = (part.every_layer, tuple(rows), tuple(columns))
        for name, there in _names(replace(part, head=0)):
            if any(
                (one.part, one.rows, one.columns) == words for one in self._attentions.get(name, ())
            ):
                return there, self._tables[name]
        return None


def _attentions_for(name: str, table: Table, attended: Sequence[Attended]) -> list[Attended]:
    """The attentions that a mask applies to."""
    where = f"{table.file}, sheet {table.sheet!r}"
    named = [one for one in attended if name in one.names]
    if not named:
        known = dict.fromkeys(one.part.name(MASK.symbol) for one in attended)
        model = {"Enc": "encoder", "Dec": "decoder"}.get(name[:3], "")
        else_ = f", or give --model {model}" if model else ""
        raise InputError(
            f"{where}: {name} names no attention of this model. Name the mask {' or '.join(known)}"
            f"{', or by its layer' if attended[0].layers else else_}."
        )
    if all(table.labelled):
        same_words = [one for one in named if (one.rows, one.columns) == (table.rows, table.columns)]
        if same_words:
            return _of_one_kind(name, same_words, where)
    fitting = [one for one in named if table.shape in (one.shape, (1, one.shape[1]))]
    kinds = {one.part for one in (_of_one_kind(name, fitting, where) if fitting else named)}
    wrong = [one for one in named if one.part in kinds and one not in fitting]
    if wrong:
        shapes = [f"{one.shape[0]} x {one.shape[1]}{_of(one)}" for one in wrong]
        raise InputError(
            f"{where}: the mask is {table.shape[0]} x {table.shape[1]}, but the scores are "
            f"{' or '.join(dict.fromkeys(shapes))}. Give it a row for each word that looks, or one for "
            "all, and a column for each word that is looked at. With words as labels, it applies to "
            "their sentence only."
        )
    return fitting


def _of_one_kind(name: str, attended: list[Attended], where: str) -> list[Attended]:
    kinds = list(dict.fromkeys(one.part for one in attended))
    if len(kinds) > 1:
        names = [kind.name(MASK.symbol) for kind in kinds]
        raise InputError(
            f"{where}: {name} fits several attentions of this model. Name the one that it applies to: "
            f"{', '.join(names[:-1])} or {names[-1]}."
        )
    return attended


def _of(one: Attended) -> str:
    return f" in {one.part.prefix[:-1]}" if one.part.prefix else ""


PADDING = ("<PAD>", "[PAD]", "<PADDING>")
SCALE_NOTE = "on: the scores are divided by √d_k, which keeps the softmax soft."
WINDOW_NOTE = "the number of words that a word looks at: itself and those next to it."
ONE_SEES = "1 where a word may look, 0 where it may not. Change a number and watch."
ONE_HIDES = "0 where a word may look, 1 where it may not. Change a number and watch."
CAUSAL_NOTE = "on: no word looks at later ones."
TEMPERATURE = (
    CELLS["temperature"],
    "the scores are divided by it: below 1 is sharper, above 1 is softer.",
)


class Scoring:
    """Masks, temperature and dropout, each created once for all heads and layers that share them.

    Args:
        used: collects the names of the sheets used.
        attended: every attention of the run.

    Raises:
        InputError: if a mask fits no attention.
        CallError: if no attention looks at the padding word.
    """

    def __init__(
        self, tables: Tables, settings: Settings, used: set[str], attended: Sequence[Attended] = ()
    ) -> None:
        self._tables, self._settings, self._used = tables, settings, used
        self._own = OwnMasks(tables, attended) if attended else None
        _check_padding(settings.padding, attended)
        self._masks: dict[tuple[object, ...], Matrix] = {}
        self._dropouts = 0
        self._scale: bool | Matrix = settings.scale
        self._temperature = self._p = self._causal = self._p_residual = None
        if settings.controls:
            self._scale = switch(settings.scale, CELLS["scale"], SCALE_NOTE, sheet=OVERVIEW)
            self._temperature = self._option(settings.temperature or 1.0, *TEMPERATURE)
            hides = settings.causal or settings.model.always_causal
            if settings.normalize is Normalize.softmax and (hides or settings.switches):
                self._causal = switch(hides, CELLS["causal"], CAUSAL_NOTE, sheet=OVERVIEW)
        elif settings.temperature is not None:
            self._temperature = self._option(settings.temperature, *TEMPERATURE)
        self._window = None
        if settings.window is not None:
            self._window = self._option(float(settings.window), CELLS["window"], WINDOW_NOTE)
        if settings.dropout:
            note = "the share of weights that are set to 0."
            self._p = self._option(settings.dropout, CELLS["dropout"], note)
        if settings.residual_dropout:
            note = "the share of each sublayer's output that is set to 0."
            self._p_residual = self._option(settings.residual_dropout, CELLS["residual_dropout"], note)

    def _option(self, value: float, name: str, note: str) -> Matrix:
        return option(value, name, note, sheet=self.sheet)

    def option_of(self, field: str, value: float, note: str) -> Matrix:
        """The cell of a setting."""
        return self._option(value, CELLS[field], note)

    @property
    def alone(self) -> Attending:
        """How given scores become weights."""
        s = self._settings
        return Attending(temperature=self._temperature, normalize=s.normalize.value, maximum=s.max)

    @property
    def sheet(self) -> str:
        """The sheet with the options that formulas read."""
        return OVERVIEW if self._settings.controls else OPTIONS

    def attending(self, *, causal: bool, switchable: bool = False) -> Attending:
        """How scores become weights, with later words hidden or not; if `switchable` and there are
        controls, the switch decides."""
        s = self._settings
        hides = self._causal if switchable and self._causal is not None else causal
        return Attending(
            scale=self._scale,
            temperature=self._temperature,
            normalize=s.normalize.value,
            maximum=s.max,
            masks=lambda rows, columns, part: self._masks_for(rows, columns, part, hides),
            dropout=self._dropping(self._p, s.dropout),
        )

    def padding(self, words: Sequence[str]) -> tuple[str, ...]:
        """Those of the words that only fill up a sentence, each once."""
        known = {*PADDING, *([self._settings.padding] if self._settings.padding else [])}
        folded = {word.casefold() for word in known}
        return tuple(dict.fromkeys(word for word in words if word.casefold() in folded))

    def masks_of_new(self, words: Sequence[str]) -> Callable[..., list[Matrix]]:
        """The masks (1, m) for a new word, the last of `words`: for padding and for words outside the
        window."""
        padding = self.padding(words)

        def masks(rows: Sequence[str], _: Sequence[str], part: Part) -> list[Matrix]:
            if not padding and self._window is None:
                return []
            place, key = part.every_layer, (part.every_layer, tuple(words))
            if key not in self._masks:
                self._masks[key] = attention_mask(
                    rows,
                    words,
                    steps.MASK,
                    place,
                    causal=False,
                    padding=padding,
                    window=self._window,
                    first=len(words) - 1,
                )
            return [self._masks[key]]

        return masks

    def _masks_for(
        self, rows: Sequence[str], columns: Sequence[str], part: Part, causal: bool | Matrix
    ) -> list[Matrix]:
        """The user's mask for these words, and, unless it hides them already, the mask that hides
        later words and padding."""
        place = part.every_layer
        padding = self.padding(columns)
        masks = []
        own = self._own.of(part, rows, columns) if self._own else None
        if own is not None:
            masks.append(self._own_mask(*own, rows, columns))
        window = self._window if steps.CROSS not in part.scopes else None
        if causal is not False or padding or window is not None:
            key = (place, tuple(rows), tuple(columns), causal)
            if key not in self._masks:
                step = steps.COMPUTED_MASK if own else steps.MASK
                self._masks[key] = attention_mask(
                    rows, columns, step, place, causal=causal, padding=padding, window=window
                )
            hidden = self._masks[key].values <= HIDES
            live = isinstance(causal, Matrix) or window is not None  # a cell changes what it hides
            if not masks or live or (hidden & (masks[0].values > HIDES)).any():
                masks.append(self._masks[key])
        if masks and self._settings.normalize is Normalize.sum:
            raise InputError(
                "a mask hides words such as padding, but --normalize sum does not work with a mask: "
                "only a softmax gives hidden words weight 0. Remove the words, or use --normalize "
                "softmax."
            )
        if masks:
            added = np.zeros((len(rows), len(columns)))
            for mask in masks:
                added += mask.values
            for word, numbers in zip(rows, added):
                if (numbers <= HIDES).all():
                    raise InputError(
                        f"the mask hides every word from {word!r}, which leaves it nothing to look at. "
                        "Let it see at least one word."
                    )
        return masks

    def _own_mask(
        self, part: Part, table: Table, rows: Sequence[str], columns: Sequence[str]
    ) -> Matrix:
        self._used.add(table.name)
        key = ("own", table.name, tuple(rows), tuple(columns))
        if key not in self._masks:
            rows = rows if len(table.rows) == len(rows) else ("each word",)
            seen, step = words_seen(table.values), steps.OWN_MASK
            if seen is None:
                self._masks[key] = given_step(table.values, rows, columns, step, part)
            elif seen[table.values == 1].all():
                mask = given_step(table.values, rows, columns, replace(step, note=ONE_SEES), part)
                self._masks[key] = (mask - 1) * -HIDDEN
            else:
                mask = given_step(table.values, rows, columns, replace(step, note=ONE_HIDES), part)
                self._masks[key] = mask * HIDDEN
        return self._masks[key]

    @property
    def residual(self) -> Dropout | None:
        """Dropout for the outputs of sublayers; None without such dropout."""
        return self._dropping(self._p_residual, self._settings.residual_dropout)

    def _dropping(self, p: Matrix | None, share: float) -> Dropout | None:
        if p is None:
            return None
        return lambda x, step, part: (self._kept(x, step, part, share), p)

    def _kept(self, x: Matrix, step: Step, part: Part, share: float) -> Matrix:
        """A mask for `x` with this share of zeros: from the tables, or drawn at random."""
        rng = np.random.default_rng([self._settings.seed, self._dropouts])
        self._dropouts += 1
        own = self._tables.weights.get(drawn_before(self._dropouts))
        if own is not None and own.shape == x.shape:
            self._used.add(own.name)
            values = own.values
        else:
            values = (rng.random(x.shape) >= share).astype(float)
        return given_step(values, x.rows, x.columns, step, part)


def _check_padding(padding: str | None, attended: Sequence[Attended]) -> None:
    """Refuse a padding word that no attention looks at."""
    words = dict.fromkeys(word for one in attended for word in one.columns)
    if padding is not None and padding.casefold() not in {word.casefold() for word in words}:
        raise CallError(
            f"--padding: no sentence that words attend to has the word {padding!r}. "
            f"{nearest(padding, words)}"
        )
