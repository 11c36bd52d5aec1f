"""A model over the sentences of a workbook: tables assigned to its parts, and what models share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attn_xl.errors import CallError, nearest
from attn_xl.graph.functions import option
from attn_xl.graph.given import given_step
from attn_xl.graph.matrix import Matrix, inside
from attn_xl.graph.step import WHOLE, Part, Scope
from attn_xl.settings import (
    ATTENTION,
    OVERVIEW,
    RECURRENT,
    Model,
    Normalize,
    Positions,
    RotaryPairs,
    Settings,
)
from attn_xl.tables.survey import Table, Tables

from . import steps
from .attention import (
    Attending,
    Cache,
    positioned,
    softmax_alone,
)
from .masking import Attended, OwnMasks, Scoring
from .parts import Live, without_new
from .weights import SheetWeights, readable, xavier

if TYPE_CHECKING:
    from .losses import Answers
    from .relative import Alibi, Rotary

IN_SCORES = (Positions.rotary, Positions.alibi)
"""Positions that attention sees in its scores."""
Results = tuple[Matrix, ...]
"""The results of a model for a sentence, followed by the final vectors of its words."""
Builder = Callable[["Run", str, Matrix], Results]
"""The function of a model: it takes a run, the name of a sentence and its words (n, d)."""


Made = TypeVar("Made")


class Run:
    """One model over the sentences of one workbook."""

    def __init__(self, tables: Tables, settings: Settings, weights: SheetWeights | None = None) -> None:
        if settings.generate is not None and tables.longer is not None:
            tables = replace(tables, weights=tables.longer(settings.generate))
        self.tables, self.settings = tables, settings
        self.seed = settings.random_weights
        draw = readable
        if self.seed is None and settings.steps > 0:
            self.seed, draw = settings.seed, xavier
        self.weights = weights or SheetWeights(tables, self.seed, settings.heads_as_sheets, draw=draw)
        tables_of_words = dict(tables.sentences)
        self.given = self._given(tables_of_words)
        self.given_weights: dict[tuple[str, int], Matrix] = {}
        """The same as matrices, by their sentence and the number of their head."""
        self.memory = self._memory(tables_of_words)
        self._target: Table | None = None
        if settings.loss or settings.steps:
            from .losses import take_target

            self._target = take_target(tables_of_words)
        self.is_batch = settings.steps > 0 and len(tables_of_words) > 1
        self.inputs: dict[str, Matrix] = {}
        note = steps.INPUT.note if Live.of(settings).has(1) else steps.INPUT_OF_MODEL
        for name, table in tables_of_words.items():
            with self.within(name):
                about = " ".join([note, steps.TURNED]) if table.turned else note
                self.inputs[name] = given_step(
                    table.values, table.rows, table.columns, steps.INPUT, note=about
                )
        self._check()
        self.live = Live.of(settings)
        self.scoring = Scoring(tables, settings, self.weights.used, list(self._attended_words()))
        self.after_layers: list[Matrix] = []
        """What layers of the present sentence give, if the next one may not be written."""
        self._head_switches: dict[Part, Matrix] = {}
        self.cache = None if settings.generate is None else Cache()
        self._made: dict[Callable[[Run], Any], Any] = {}

    def once(self, make: Callable[[Run], Made]) -> Made:
        """What a function makes for this run, which is made once."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(Made, self._made[make])

    @cached_property
    def answers(self) -> Answers:
        """The right answers, for a loss."""
        from .losses import Answers

        return Answers(self.tables, self.weights.used, self.inputs, self._target)

    def within(self, name: str) -> AbstractContextManager[None]:
        """A context in which steps belong to a sentence, if all are computed as one batch."""
        return inside(*[Scope(name, name)] * self.is_batch)

    def _given(self, tables_of_words: dict[str, Table]) -> list[Table]:
        """The attention weights of each head, given in place of the softmax; removed from
        `tables_of_words`."""
        name = self.settings.attention
        if name is None:
            return []
        known = {**self.tables.weights, **tables_of_words}
        heads = [f"{name}_{h}" for h in range(1, len(known) + 1)]
        if name not in known and heads[0] in known:
            heads = [*takewhile(known.__contains__, heads)]
            self.weights.used.update(heads)
            for head in heads:
                tables_of_words.pop(head, None)
            return [known[head] for head in heads]
        if name not in known or (name in tables_of_words and len(tables_of_words) == 1):
            raise CallError(
                f"--attention: there is no table {name!r} beside the sentence. Give it a sheet with "
                f'this name, or its range: --range "{name}=Sheet!B3:F9"; of several heads, one each: '
                f"{name}_1, {name}_2. {nearest(name, [n for n in known if n != name])}"
            )
        self.weights.used.add(name)
        return [tables_of_words.pop(name, None) or self.tables.weights[name]]

    def _memory(self, tables_of_words: dict[str, Table]) -> Matrix | None:
        """The sentence that the others attend to; it is removed from `tables_of_words`."""
        name = self.settings.memory
        if name is None:
            return None
        if name not in tables_of_words:
            raise CallError(
                f"--memory: there is no sheet {name!r} with a sentence. "
                f"{nearest(name, tables_of_words)}"
            )
        table = tables_of_words.pop(name)
        if not tables_of_words:
            raise CallError(
                f"--memory: {name!r} is the only sentence; it needs another one that attends to it."
            )
        step = steps.SOURCE if self.settings.model is Model.encoder_decoder else steps.MEMORY
        note = step.note.format(sentence=f"“{name}”")
        return given_step(table.values, table.rows, table.columns, step, note=note)

    def _check(self) -> None:
        s = self.settings
        needs_memory = s.model in (Model.decoder, Model.encoder_decoder)
        if needs_memory and self.memory is None:
            raise CallError(
                f"--model {s.model.value} needs --memory SHEET: the sentence that the others attend to."
            )
        if self.memory is not None and s.model.kind is Model.attention:
            within = f"--positions {s.positions.value}" if s.positions in IN_SCORES else ""
            within = "--window" if s.window is not None else within
            if within:
                raise CallError(
                    f"{within} compares positions within one sentence; it does not work with --memory."
                )
        if s.generate is not None and (s.dropout or s.residual_dropout or OwnMasks.given(self.tables)):
            raise CallError(
                "--generate does not work with dropout or with a mask of your own: they have no rows "
                "for new words."
            )
        if s.normalize is Normalize.sum and (
            s.causal or s.padding or s.window or OwnMasks.given(self.tables)
        ):
            raise CallError(
                "--normalize sum does not work with a mask: only a softmax gives hidden words weight 0."
            )

    def output(self, name: str, x: Matrix) -> Results:
        """The results of the model for one sentence, followed by the final vectors of its words."""
        s = self.settings
        self.weights.sentence = name
        if self.alibi is not None:
            self.alibi.begin_sentence()
        if self.cache is not None:
            self.cache.kept.clear()  # of another sentence
        x = positioned(x) if s.model is Model.positions else self.positioned(x)
        return self.computed(s.model, name, x)

    def computed(self, model: Model, name: str, x: Matrix) -> Results:
        """The results of a model for the words (n, d) of a sentence."""
        build = BUILDERS[model]
        if isinstance(build, str):
            module, _, function = build.partition(".")
            build = getattr(import_module(f".{module}", __package__), function)
        return build(self, name, x)

    def positioned(self, x: Matrix, part: Part | None = None, first: int = 0) -> Matrix:
        """The embeddings (n, d) with positions, if these are added to them; the first word stands at
        `first`."""
        positions = self.settings.positions
        if positions not in (Positions.sinusoidal, Positions.learned):
            return x
        if not self.live.has(1) and steps.W_P.symbol not in self.weights and self._enters:
            return x  # of a written workbook, whose first layers are not there
        learned = None
        if positions is Positions.learned:
            learned = self.weights.at_positions(x, first + len(x.rows), self.settings.generate or 0)
        segment = self.weights.row(steps.SEGMENT, WHOLE, x.columns)
        return positioned(x, self.scoring.residual, learned, segment=segment, part=part, first=first)

    @property
    def _enters(self) -> bool:
        """Whether a file has what the layers before the live ones give."""
        places = (name.partition("@")[0].rpartition(".")[2] for name in self.tables.weights)
        return steps.ENTERED.symbol in places

    @cached_property
    def attended(self) -> Matrix | None:
        """The words that the other sentences attend to, with positions. Those of a decoder are the
        output of an encoder, which has already seen positions; a translation encodes them first."""
        memory = self.memory
        if memory is None or self.settings.model is Model.decoder:
            return memory
        return self.positioned(memory)

    def _attended_words(self) -> Iterator[Attended]:
        """Every attention of the run, with the words that look and the words that are looked at."""
        s, memory = self.settings, self.memory
        looked_at = memory.rows if memory is not None else ()
        encoder_layers, decoder_layers = s.encoder_layers or s.layers, s.decoder_layers or s.layers
        encoder, decoder = WHOLE.within(steps.ENCODER), WHOLE.within(steps.DECODER)
        if s.model is Model.encoder_decoder:
            yield Attended(encoder, encoder_layers, looked_at, looked_at)
        for x in self.inputs.values():
            if s.body in RECURRENT:
                continue
            if s.body.kind is Model.attention:
                yield Attended(WHOLE, 0, x.rows, looked_at or x.rows)
            elif s.body is Model.encoder:
                yield Attended(encoder, encoder_layers, x.rows, x.rows)
            elif s.model is Model.decoder_only:
                yield Attended(decoder, decoder_layers, x.rows, x.rows)
            elif s.model in ATTENTION:
                yield Attended(decoder.within(steps.SELF), decoder_layers, x.rows, x.rows)
                yield Attended(decoder.within(steps.CROSS), decoder_layers, x.rows, looked_at)

    @property
    def replaced(self) -> set[str]:
        """The weights that given attention weights stand in for."""
        kinds = (steps.W_Q, steps.W_K, steps.BIASES[steps.W_Q], steps.BIASES[steps.W_K])
        parts = WHOLE, *(WHOLE.of_head(h) for h in range(1, len(self.given) + 1))
        return {part.name(kind.symbol) for kind in kinds for part in parts if self.given}

    def check_hidden(self) -> None:
        """Refuse --hidden if the weights that it is the width of are given.

        Raises:
            CallError: if none of them was generated.
        """
        first = {Model.rnn: "W_h", Model.lstm: "W_i", Model.gru: "W_r", Model.cnn: "W_here"}
        name = first.get(self.settings.model.kind, steps.W_1.symbol)
        if self.settings.hidden is not None and name not in {
            one.symbol for one in self.weights.made_up
        }:
            raise CallError(f"--hidden has no effect: {name} is given, and its columns set the width.")

    def attending(self, *, causal: bool, switchable: bool) -> Attending:
        """How scores become weights, with the positions of queries and keys."""
        s, how = self.settings, self.scoring.attending(causal=causal, switchable=switchable)
        kept = self._head_switch if s.head_switches and s.controls else None
        return replace(how, rotary=self._rotary, alibi=self.alibi, kept=kept, cache=self.cache)

    def _head_switch(self, part: Part) -> Matrix:
        """The cell that removes what a head gives, made once; new words have no other."""
        part = without_new(part)
        if part not in self._head_switches:
            name = part.name(steps.HEAD_SWITCH.symbol).replace(".", "_")
            cell = option(self.weights.cell(name, 1.0), name, "", sheet=OVERVIEW)
            note = steps.HEAD_SWITCH.note.format(part=part.words)
            made = cell.as_step(steps.HEAD_SWITCH, part, note=note, sheet=OVERVIEW)
            self._head_switches[part] = replace(made, name=name)
        return self._head_switches[part]

    @cached_property
    def _rotary(self) -> Rotary | None:
        s = self.settings
        if s.positions is not Positions.rotary:
            return None
        from .relative import Rotary

        note = "the larger it is, the more slowly the last pairs turn."
        base = self.scoring.option_of("rotary_base", s.rotary_base, note)
        return Rotary(
            base,
            s.rotary_pairs is RotaryPairs.neighbours,
            lambda columns: self.weights.row(steps.ROTARY_FACTORS, WHOLE, columns),
        )

    @cached_property
    def alibi(self) -> Alibi | None:
        if self.settings.positions is not Positions.alibi:
            return None
        from .relative import Alibi

        return Alibi(self.settings.heads or 1)

    def unused(self) -> tuple[str, ...]:
        """A remark on weights that the model does not use."""
        unused = [name for name in self.tables.weights if name not in self.weights.used]
        if not unused:
            return ()
        return (f"Not used by this model: {', '.join(unused)}.",)


def both(output: Matrix) -> Results:
    """The results of a model whose output is the final vectors of the words."""
    return output, output


BUILDERS: dict[Model, Builder | str] = {
    Model.attention: "sentence_attention.build",
    Model.encoder: "classify.build_encoder",
    Model.decoder: "transformer.build_decoder",
    Model.encoder_decoder: "language_model.build_translation",
    Model.decoder_only: "language_model.build",
    Model.masked: "language_model.build",
    Model.softmax: lambda run, _, x: both(softmax_alone(x, run.scoring.alone)),
    Model.norm: "transformer.build_norm",
    Model.feed_forward: "transformer.build_network",
    Model.positions: lambda run, _, x: both(x),
    Model.similarity: "similarity.build",
    Model.spread: "spread.build",
    Model.classify: "classify.build",
    Model.cnn: "convolution.build",
    Model.rnn: "recurrent.build_rnn",
    Model.lstm: "recurrent.build_lstm",
    Model.gru: "recurrent.build_gru",
}
"""What computes each model: a function, or its module and name, which are loaded when they are used."""


def add_model(
    name: str, function: Callable[[Run, Matrix], Matrix], like: Model = Model.attention
) -> Model:
    """Add your own model: workbooks, explanations, lessons and grading then accept its name.

    Args:
        name: the name for `Settings(model=name)`.
        function: takes a run, with its weights and settings, and a sentence (n, d); returns the result.
        like: the model whose options it accepts.
    """
    model = Model.add(name, like)
    BUILDERS[model] = lambda run, _, x: both(function(run, x))
    return model
