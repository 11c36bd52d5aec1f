"""Build the graphs of a model from tables: assign tables to its parts and check that they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from typing import cast

import numpy as np

from attn_xl.errors import CallError, InputError, MissingWeightsError, NotFinite, nearest
from attn_xl.graph.extent import HIDES
from attn_xl.graph.functions import concat, option, switch
from attn_xl.graph.loops import loops_in
from attn_xl.graph.matrix import Matrix, foreseeing, given_step, shapes_only
from attn_xl.graph.node import Graph, inside, walk
from attn_xl.graph.step import WHOLE, Part, Scope
from attn_xl.settings import (
    ATTENTION,
    BATCH,
    BLOCKS,
    CELLS,
    OVERVIEW,
    RECURRENT,
    Formulas,
    Model,
    Normalize,
    Pooling,
    Positions,
    RotaryPairs,
    Settings,
)
from attn_xl.tables.survey import Table, Tables, heads_told
from attn_xl.text import listed

from . import steps
from .attention import (
    Attending,
    Cache,
    compare,
    given_attention,
    positioned,
    projected,
    self_attention,
    softmax_alone,
)
from .classify import classify, pooled, transformed, unit
from .computation import Computation
from .convolution import convolution
from .generation import Choosing, SameWeights, count_kept, new_word, without_new, word_of
from .influence import influence
from .learning import learned
from .losses import Answers, mean_loss, take_target
from .masking import Attended, OwnMasks, Scoring
from .multi_head import PerHead, multi_head_attention
from .parts import Live, described
from .recurrent import gru, lstm, recurrent, rnn
from .relative import Alibi, Rotary
from .similarity import moves, similarity, vectors
from .spread import spread
from .transformer import (
    NEXT_WORDS,
    Architecture,
    Predicting,
    decoder,
    encoder,
    network,
    norm_alone,
)
from .unused import refuse_unused, use_for
from .vocabulary import Vocabulary
from .weights import SheetWeights, check_fit, readable, xavier

TITLES = {
    Model.encoder: "Encoder",
    Model.decoder: "Decoder",
    Model.encoder_decoder: "Encoder-decoder",
    Model.decoder_only: "Language model",
    Model.softmax: "Softmax",
    Model.norm: "Layer norm",
    Model.feed_forward: "Feed-forward network",
    Model.positions: "Positions",
    Model.similarity: "Similarity",
    Model.spread: "The spread of dot products",
    Model.classify: "Classifier",
    Model.masked: "Masked language model",
    Model.cnn: "Convolution",
    Model.rnn: "Recurrent network",
    Model.lstm: "LSTM",
    Model.gru: "GRU",
}
ATTENTION_TITLES = {
    (False, False): "Self-attention",
    (False, True): "Multi-head self-attention",
    (True, False): "Cross-attention",
    (True, True): "Multi-head cross-attention",
}
"""The titles of attention by whether it looks at another sentence, and whether it has several heads."""
Ends = Mapping[str, tuple[Matrix, Matrix]]
"""The input and the output of each sentence, by its name."""


SAMPLE_NOTE = "on: new words are drawn by their probability; off: the most probable one is taken."
MASKED_WORDS = Predicting(steps.FILLED_LOGITS, steps.FILLED_PROBABILITIES, steps.FILLED)
"""The words that belong in each place."""
IN_SCORES = (Positions.rotary, Positions.alibi)
"""Positions that attention sees in its scores."""
WEIGHTLESS = (Model.similarity, Model.softmax, Model.positions, Model.spread)
"""Models without weights: weights in a file are ignored, with a remark."""


def attend(tables: Tables, settings: Settings | None = None) -> Computation:
    """Compute a model for every sentence of a workbook, with the workbook's weights if it has any.

    Args:
        tables: what `read_tables` returned: sentences (n, d), weights by name.
        settings: the model and its options; those written in the workbook if None.

    Raises:
        InputError: if a weight is missing or does not fit a sentence or another weight.
        CallError: for a sheet that does not exist, options that do not go together, or an option that
            has no effect.
    """
    if settings is None:
        settings = Settings.resolve({}, tables.settings, f"{tables.path}, sheet 'Settings'")
    settings.refuse_idle()
    return replace(_attend(tables, settings), tables=tables)


def _attend(tables: Tables, settings: Settings) -> Computation:
    run = Run(tables, settings)
    outputs: dict[str, list[Matrix]] = {}
    ends: dict[str, tuple[Matrix, Matrix]] = {}
    by_row: list[str] = []
    for name, x in run.inputs.items():
        try:
            with run.within(name):
                run.after_layers.clear()
                *output, end = run.output(name, x)
                output += run.after_layers
                if settings.loss or settings.steps:
                    output.append(run.answers.loss(name, output[0], run.scoring.padding(x.rows)))
        except MissingWeightsError as error:
            raise use_for(tables, settings, _used_with, error) from None
        except InputError as error:
            message = str(error)
            if message.startswith(str(tables.path)):
                raise
            cell = tables.sentences[name].largest()
            hint = f" The largest is in cell {cell}." if "too large" in message else ""
            raise InputError(f"{tables.path}, sheet {name!r}: {message}{hint}") from None
        if settings.influence:
            found, remark = influence(_enters(x, end), end)
            output, by_row = [*output, found], [*by_row, *[f"{name}: {remark}"] * bool(remark)]
        outputs[name] = output
        ends[name] = run.live.of_words(x), end
    run.check_hidden()
    if settings.model.kind not in WEIGHTLESS:
        refuse_unused(tables, settings, run.weights.used | run.replaced, _used_with)
    title = run.title(outputs)
    if settings.steps:
        remarks = (*tables.remarks, *run.unused())
        return learned(title, outputs, settings, run.scoring.sheet, str(tables.path), remarks)
    graphs = {name: Graph(run.inputs[name], *output) for name, output in outputs.items()}
    batch = _batch(graphs)
    by_row += _row_by_row(graphs, settings)
    if settings.model.kind in (*BLOCKS, Model.similarity):
        return Computation(
            title, graphs, batch, remarks=(*tables.remarks, *run.unused()), settings=settings
        )
    chosen = run.live.rows is not None  # of the other words there is nothing to compare with
    comparable, remarks = ({}, ()) if chosen else _comparable(ends)
    compared, no_comparison = _unless_too_large("the comparison of sentences", compare, comparable)
    plane, no_plane = list[Matrix](), ""
    if settings.controls and comparable:
        plane, no_plane = _unless_too_large("the chart of where words move", moves, comparable)
    left_out = [remark for remark in (no_comparison, no_plane) if remark]
    return Computation(
        title=title,
        graphs=graphs,
        comparison={**{matrix.name: matrix for matrix in compared}, **batch},
        plane={matrix.name: matrix for matrix in plane},
        remarks=(
            *tables.remarks,
            *remarks,
            *left_out,
            *_not_to_be_masked(graphs),
            *by_row,
            *run.unused(),
        ),
        settings=settings,
        about="" if run.live.whole else _about(tables, settings, graphs),
    )


def _batch(graphs: Mapping[str, Graph]) -> dict[str, Matrix]:
    """The losses of several sentences and their mean, by name; empty without losses."""
    losses = {name: graph["Loss"] for name, graph in graphs.items() if "Loss" in graph}
    if len(losses) < 2:
        return {}
    loss = mean_loss(losses, WHOLE.within(Scope(BATCH, "batch")), BATCH)
    parents = (cast(Matrix, parent) for parent in loss.parents)
    return {matrix.name: matrix for matrix in (*parents, loss)}


def _enters(x: Matrix, end: Matrix) -> Matrix:
    """What the final vectors of a sentence are computed from with formulas: its words, or what layers
    that are not written give."""
    entered = [node for node in walk([end]) if node.is_step(steps.ENTERED)]
    return cast(Matrix, entered[-1]) if entered else x


def _about(tables: Tables, settings: Settings, graphs: Mapping[str, Graph]) -> str:
    """What of a model is formulas, and what all of it would take; nothing while only shapes are
    wanted."""
    if foreseeing():
        return ""
    whole: int | None = None
    with suppress(InputError):  # a written workbook does not have the other weights
        changed = replace(
            settings, live_layers=None, live_heads=None, live_rows=None, live_network=True
        )
        whole = _size(foresee(tables, changed).graphs)
    return described(settings, _size(graphs), whole)


def _size(graphs: Mapping[str, Graph]) -> int:
    return sum(node.values.size for node in {n for graph in graphs.values() for n in graph.values()})


def _used_with(tables: Tables, settings: Settings) -> set[str]:
    """The weights that these settings would use if all other necessary weights were given."""
    settings.refuse_idle()
    run = Run(tables, replace(settings, random_weights=settings.random_weights or 0))
    with shapes_only():
        for name, x in run.inputs.items():
            try:
                run.output(name, x)
            except InputError:
                continue
    return run.weights.used


def foresee(tables: Tables, settings: Settings) -> Computation:
    """The result of `attend` in its shapes only: every computed number is 1. Takes hardly any time or
    memory.

    Raises:
        InputError, CallError: as `attend`, and if the model would have too many numbers.
    """
    with shapes_only():
        return attend(tables, settings)


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
        self.memory = self._memory(tables_of_words)
        target = take_target(tables_of_words) if settings.loss or settings.steps else None
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
        self.answers = Answers(tables, self.weights.used, self.inputs, target)
        predicting = MASKED_WORDS if settings.model.kind is Model.masked else NEXT_WORDS
        self._vocabulary = Vocabulary(tables, self.weights, settings.vocabulary, predicting)
        self.after_layers: list[Matrix] = []
        """What layers of the present sentence give, if the next one may not be written."""
        self._head_switches: dict[Part, Matrix] = {}
        self.cache: Cache | None = None

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

    def _given_for(
        self, table: Table, rows: Sequence[str], columns: Sequence[str], part: Part
    ) -> Matrix:
        """The given attention weights of words that look at other words, (n, m); with --normalize sum,
        scores are given, which become weights."""
        words = tuple(rows), tuple(columns)
        where = f"{table.file}, sheet {table.sheet!r}"
        if table.shape != (len(rows), len(columns)):
            raise InputError(
                f"{where}: the attention weights are {table.shape[0]} x {table.shape[1]}, but need "
                f"{len(rows)} x {len(columns)}: a row for each word that looks and a column for each "
                "word that is looked at."
            )
        for labelled, labels, own in zip(table.labelled, (table.rows, table.columns), words):
            if labelled and labels != own and sorted(labels) == sorted(own):
                raise InputError(
                    f"{where}: the attention weights are labelled {', '.join(labels)}, but the words "
                    f"are {', '.join(own)}. Put them in the same order."
                )
        if self.settings.normalize is Normalize.sum:
            scores = given_step(table.values, rows, columns, steps.GIVEN_SCORES, part)
            return Attending(normalize="sum").normalized(scores, part)
        return given_step(table.values, rows, columns, steps.GIVEN_ATTENTION, part)

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

    def output(self, name: str, x: Matrix) -> tuple[Matrix, ...]:
        """The results of the model for one sentence, followed by the final vectors of its words."""
        s = self.settings
        self.weights.sentence = name
        if self._alibi is not None:
            self._alibi.begin_sentence()
        if s.generate is not None:
            self.cache = Cache()
            vars(self).pop("architecture", None)  # which keeps the cache of another sentence
        x = positioned(x) if s.model is Model.positions else self._positioned(x)
        return MODELS[s.model](self, name, x)

    def _positioned(self, x: Matrix, part: Part | None = None, first: int = 0) -> Matrix:
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
        """What the other sentences attend to, computed once for all of them. For a decoder it is the
        output of an encoder, which has already seen positions."""
        memory, model = self.memory, self.settings.model
        if memory is None or model is Model.decoder:
            return memory
        memory = self._positioned(memory)
        if model is Model.encoder_decoder:
            memory = encoder(memory, self.architecture)
        return memory

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

    def title(self, sentences: Iterable[str]) -> str:
        """The title: what is computed, and for which sentences."""
        s, named = self.settings, ", ".join(sentences)
        what = TITLES.get(s.model, str(s.model))
        if s.model is Model.attention:
            several = max(s.heads or 1, len(self.given)) > 1
            what = ATTENTION_TITLES[self.memory is not None, several]
        if s.memory:
            return f"{what}: {named}, attending to {s.memory}"
        return f"{what}: {named}"

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
        return replace(how, rotary=self._rotary, alibi=self._alibi, kept=kept, cache=self.cache)

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
        note = "the larger it is, the more slowly the last pairs turn."
        base = self.scoring.option_of("rotary_base", s.rotary_base, note)
        return Rotary(
            base,
            s.rotary_pairs is RotaryPairs.neighbours,
            lambda columns: self.weights.row(steps.ROTARY_FACTORS, WHOLE, columns),
        )

    @cached_property
    def _alibi(self) -> Alibi | None:
        return Alibi(self.settings.heads or 1) if self.settings.positions is Positions.alibi else None

    def attention(self, name: str, x: Matrix) -> Matrix:
        """Attention of one sentence to itself, or to the memory."""
        s, weights, memory = self.settings, self.tables.weights, self.attended
        wants_switch = s.causal or s.switches is not None
        how = self.attending(causal=s.causal, switchable=memory is None or wants_switch)
        if self.given:
            return self._with_given(x if memory is None else memory, x.rows, how)
        told, missing = heads_told(weights)
        if s.heads is None and missing:
            raise InputError(
                f"{self.tables.path}: the names of the weights do not tell the number of heads: there "
                f"are weights of head {told}, but no {missing}. Add it, or give --heads N."
            )
        if s.heads is not None or steps.W_O.symbol in weights:
            source = x if memory is None else memory
            return multi_head_attention(
                x,
                source,
                self.weights,
                s.heads or 1,
                kv_heads=s.kv_heads,
                attending=how,
                result=steps.MIXED_OUTPUT,
                mixes=steps.W_O.symbol in self.weights or self.seed is not None,
            )
        other = x if memory is None else memory
        sources = {steps.W_Q: x, steps.W_K: other, steps.W_V: other}
        wanted = {step.symbol: len(source.columns) for step, source in sources.items()}
        check_fit(self.tables.sentences[name], weights, wanted)
        made = {
            step: self.weights.matrix(step, WHOLE, source.columns, len(source.columns))
            for step, source in sources.items()
            if step.symbol in self.weights or self.seed is not None
        }
        w_q, w_k, w_v = (made.get(step) for step in sources)
        biases = [
            self.weights.row(
                steps.BIASES[step], WHOLE, made[step].columns if step in made else source.columns
            )
            for step, source in sources.items()
        ]
        return self_attention(x, w_q, w_k, w_v, biases=biases, memory=memory, attending=how)

    def _with_given(self, memory: Matrix, words: Sequence[str], how: Attending) -> Matrix:
        """Attention with given weights: V and A of each head and their product, mixed by W_O if it is
        given; without it, the products of several heads stand side by side."""
        many = len(self.given)
        heads = max(self.settings.heads or 1, heads_told(self.tables.weights)[0])
        if many < heads:
            its = self.settings.attention
            raise CallError(
                f"--attention: there are {heads} heads, but attention weights for {many}. Give those "
                f"of every head, {its}_1 to {its}_{heads}, each as a sheet or a range: "
                f'--range "{its}_{heads}=Sheet!B3:F9".'
            )
        mixes = many > 1 or steps.W_O.symbol in self.weights
        names = (steps.W_V.symbol, WHOLE.of_head(1).name(steps.W_V.symbol))
        values, generated = None, self.settings.random_weights is not None
        if generated or any(name in self.weights for name in names[:many]):
            width = len(memory.columns) // many or 1
            values = PerHead(steps.W_V, WHOLE, self.weights, many, memory.columns, width)
        outputs = []
        for h, table in enumerate(self.given, 1):
            part = WHOLE.of_head(h) if mixes else WHOLE
            w_v = values.of(h) if values is not None else None
            bias = (
                values.bias(h)
                if values is not None
                else self.weights.row(steps.BIASES[steps.W_V], WHOLE, memory.columns)
            )
            a = self._given_for(table, words, memory.rows, part if many > 1 else WHOLE)
            outputs.append(given_attention(a, memory, w_v, bias, attending=how, part=part))
        if not mixes:
            return outputs[0]
        if steps.W_O.symbol not in self.weights and not generated:
            return concat(outputs).as_step(steps.JOINED_OUTPUT)
        together = concat(outputs).as_step(steps.CONCAT)
        w_o = self.weights.matrix(steps.W_O, WHOLE, together.columns, len(memory.columns))
        b_o = self.weights.row(steps.BIASES[steps.W_O], WHOLE, w_o.columns)
        return projected(together, w_o, b_o, steps.MIXED_OUTPUT)

    @cached_property
    def architecture(self) -> Architecture:
        s = self.settings
        cross = s.model in (Model.decoder, Model.encoder_decoder)
        return replace(
            self._norms,
            attending=self.attending(
                causal=s.causal and s.body is Model.encoder, switchable=s.body is Model.encoder
            ),
            crossing=self.scoring.attending(causal=False) if cross else None,
            causal=self.attending(causal=True, switchable=True),
        )

    @cached_property
    def _norms(self) -> Architecture:
        """The architecture without its attention."""
        s = self.settings
        return Architecture(
            weights=self.weights,
            epsilon=self.scoring.option_of("epsilon", s.epsilon, "it keeps a norm from dividing by 0."),
            heads=s.heads or 1,
            kv_heads=s.kv_heads,
            cross_heads=s.cross_heads,
            layers=s.layers,
            encoder_layers=s.encoder_layers,
            decoder_layers=s.decoder_layers,
            hidden=s.hidden or 0,
            norm=s.norm.value,
            skip=s.skip,
            feed_forward=s.feed_forward,
            norm_type=s.norm_type.value,
            norm_variance=s.norm_variance.value,
            norm_epsilon=s.norm_epsilon.value,
            worked=s.worked,
            dropout=self.scoring.residual,
            activation=s.activation,
            live=self.live,
            after_layer=None if self.live.whole else lambda y, _: self.after_layers.append(y),
        )

    def generated(self, x: Matrix, logits: Matrix) -> list[Matrix]:
        """The words that the model writes after a sentence (n, d), one at a time, and what the kept
        keys and values save; nothing without --generate.

        Raises:
            InputError: if the vocabulary has no embeddings, or there are too few learned positions.
        """
        s, cache = self.settings, self.cache
        if s.generate is None or cache is None:
            return []
        if not self.live.whole:
            raise CallError(
                "--generate works with all layers and heads only: what is entered as values has no "
                "rows for new words. Drop --generate, or the choice of layers and heads."
            )
        if s.vocabulary != "all":
            raise CallError(
                f"--generate works with all words only, not with --vocabulary {s.vocabulary}: any of "
                "them may come next. Give --vocabulary all."
            )
        vocabulary = self._vocabulary.embeddings(x)
        choosing, a = self.choosing, self.architecture
        state: Matrix | None = None
        results: list[Matrix] = []
        words = list(x.rows)
        for number in range(1, s.generate + 1):
            new, state = new_word(logits, choosing, state, vocabulary, number)
            results.append(word_of(new))
            words.append(new.rows[0])
            so_far = tuple(words)
            own = replace(a.causal or Attending(), cache=cache, first=len(words) - 1)
            own = replace(own, masks=self.scoring.masks_of_new(so_far))
            here = replace(a, weights=SameWeights(a.weights), causal=own)
            y = self._positioned(new, new.part, len(words) - 1)
            made = decoder(y, None, here, new.part)
            logits, probabilities, _ = self.next_words(made, new.part)
            results.append(probabilities)
        return [*results, count_kept(cache, len(x.rows), s.generate)]

    @cached_property
    def choosing(self) -> Choosing:
        """How the next word is chosen."""
        s, cell = self.settings, self.scoring.option_of
        sample: bool | Matrix = s.sample
        if s.controls:
            sample = switch(s.sample, CELLS["sample"], SAMPLE_NOTE, sheet=self.scoring.sheet)
        return Choosing(
            sample,
            cell(
                "word_temperature",
                s.word_temperature,
                "the logits are divided by it before a draw.",
            ),
            cell("seed", float(s.seed), "a whole number: where the draws start from."),
        )

    def next_words(self, x: Matrix, part: Part = WHOLE) -> tuple[Matrix, ...]:
        """Probabilities over the vocabulary after each word, and the most probable words."""
        return self._vocabulary.next_words(x, part, lambda: self._finals(x))

    def _finals(self, x: Matrix) -> list[np.ndarray]:
        """The final vectors of all sentences, of those words whose prediction matters; `x` are those of
        the present sentence."""
        here, found = self.weights.sentence, [self._awaited(x)]
        for name, other in self.inputs.items():
            if name != here:
                self.weights.sentence = name
                found.append(self._awaited(self.final(self._positioned(other))))
        self.weights.sentence = here
        return found

    def _awaited(self, x: Matrix) -> np.ndarray:
        """The rows of the last word of a language model, or of the masks; of all words of a
        translation, and of a sentence without masks."""
        if self.settings.model.kind is Model.decoder_only:
            return x.values[-1:]
        rows = [row for row, word in enumerate(x.rows) if word in steps.MASK_WORDS]
        return x.values[rows] if rows else x.values

    def final(self, x: Matrix) -> Matrix:
        """The vectors (n, d) that a language model compares with the vocabulary."""
        a = self.architecture
        if self.settings.model.kind is Model.masked:
            return transformed(encoder(x, a), a, self.settings.transform)
        return decoder(x, self.attended, a)

    def encoded(self, name: str, x: Matrix) -> tuple[Matrix, ...]:
        """The words' vectors (n, d) of an encoder, preceded by the sentence's if it is wanted; that
        needs all words."""
        words = encoder(x, self.architecture)
        if self.settings.pooling is None or self.live.rows is not None:
            return words, words
        vector = self._pooled(name, words, self.settings.pooling)
        return unit(vector) if self.settings.unit_length else vector, words, words

    def _pooled(self, name: str, words: Matrix, pooling: Pooling) -> Matrix:
        """The vector (1, d) of a sentence, without the words that fill it up."""
        padding = self.scoring.padding(words.rows)
        kept = [row for row, word in enumerate(words.rows) if word not in padding]
        return pooled(words, name, kept, pooling, self.weights)

    def classes(self, name: str, x: Matrix) -> tuple[Matrix, ...]:
        """The probabilities of the classes of a sentence and the most probable one, followed by the
        vectors of its words.

        Raises:
            InputError: if the classes have no names.
        """
        s = self.settings
        if s.body is Model.encoder:
            words = encoder(x, self.architecture)
        else:
            words = MODELS[s.body](self, name, x)[-1]
        usual = Pooling.last if s.body in RECURRENT else Pooling.mean
        known = self.answers.classes
        w_c = self.weights.matrix(steps.W_C, WHOLE, words.columns, len(known) or 2, known)
        table = self.tables.weights.get(steps.W_C.symbol)
        if table is not None and not table.labelled[1]:
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: the columns of W_C have no labels. Write "
                "the name "
                "of a class above each."
            )
        if table is None and not known:
            raise InputError(
                f"{self.tables.path}: the classes are unknown. Add W_C with a column for each class, "
                "or a sheet Labels: in each row a sentence and its class."
            )
        b_c = self.weights.row(steps.BIASES[steps.W_C], WHOLE, w_c.columns)
        return *classify(self._pooled(name, words, s.pooling or usual), w_c, b_c), words

    def convolution(self, x: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        """A convolution of one sentence: the pooled result, the result for each word, twice."""
        output, pooled = convolution(x, self.weights, self.settings.window or 3, self.settings.hidden)
        return pooled, output, output

    def recurrent(self, network: Callable[..., Matrix], x: Matrix, **options: str) -> Matrix:
        """A recurrent network over one sentence."""
        s, width = self.settings, self.settings.hidden
        classes = self.tables.weights.get(steps.W_C.symbol)
        if s.model.kind is Model.classify and classes is not None:  # which read the states
            width = width or classes.shape[0] // (1 + s.bidirectional)
        return recurrent(
            x, network, self.weights, layers=s.layers, bidirectional=s.bidirectional, width=width,
            **options,
        )  # fmt: skip

    def unused(self) -> tuple[str, ...]:
        """A remark on weights that the model does not use."""
        unused = [name for name in self.tables.weights if name not in self.weights.used]
        if not unused:
            return ()
        return (f"Not used by this model: {', '.join(unused)}.",)


def _unless_too_large(
    what: str, make: Callable[[Ends], list[Matrix]], ends: Ends
) -> tuple[list[Matrix], str]:
    """Optional matrices and no remark; or none and a remark if their numbers are too large."""
    try:
        return make(ends), ""
    except NotFinite:
        return [], f"Left out: {what}. The numbers are too large to compute it."


Results = tuple[Matrix, ...]
"""The results of a model for a sentence, followed by the final vectors of its words."""


def _both(output: Matrix) -> Results:
    return output, output


def _language_model(run: Run, name: str, x: Matrix) -> Results:
    output = run.final(x)
    logits, probabilities, *more = run.next_words(output)
    return probabilities, *more, *run.generated(x, logits), output


def _translation(run: Run, name: str, x: Matrix) -> Results:
    """The words (n, d) of a translation so far; with a vocabulary, the word that comes next in each
    place."""
    output = run.final(x)
    given = any(step.symbol in run.weights for step in (steps.VOCABULARY, steps.W_U))
    if not given and run.settings.vocabulary == "all":
        return _both(output)
    return *run.next_words(output)[1:], output


MODELS: dict[Model, Callable[[Run, str, Matrix], Results]] = {
    Model.attention: lambda run, name, x: _both(run.attention(name, x)),
    Model.encoder: lambda run, name, x: run.encoded(name, x),
    Model.decoder: lambda run, _, x: _both(decoder(x, run.attended, run.architecture)),
    Model.encoder_decoder: _translation,
    Model.decoder_only: _language_model,
    Model.masked: _language_model,
    Model.softmax: lambda run, _, x: _both(softmax_alone(x, run.scoring.alone)),
    Model.norm: lambda run, _, x: _both(norm_alone(x, run.architecture)),
    Model.feed_forward: lambda run, _, x: _both(network(x, run.architecture)),
    Model.positions: lambda run, _, x: _both(x),
    Model.similarity: lambda run, _, x: (*vectors(x), similarity(x), x),
    Model.spread: lambda run, _, x: (spread(x), x),
    Model.classify: lambda run, name, x: run.classes(name, x),
    Model.cnn: lambda run, _, x: run.convolution(x),
    Model.rnn: lambda run, _, x: _both(
        run.recurrent(rnn, x, nonlinearity=run.settings.nonlinearity.value)
    ),
    Model.lstm: lambda run, _, x: _both(run.recurrent(lstm, x)),
    Model.gru: lambda run, _, x: _both(run.recurrent(gru, x)),
}
"""The function of each model: it takes a run, the name of a sentence and its words (n, d)."""


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
    MODELS[model] = lambda run, _, x: _both(function(run, x))
    return model


def _not_to_be_masked(graphs: Mapping[str, Graph]) -> tuple[str, ...]:
    """A remark on sentences whose scores are too large for the switch Causal to hide later words."""
    large = [
        name
        for name, graph in graphs.items()
        if CELLS["causal"] in graph
        for node in graph.values()
        if node.is_step(steps.SCALED) and node.largest > -HIDES
    ]
    names = ", ".join(map(repr, dict.fromkeys(large)))
    return (f"Leave Causal off: the scores of {names} are too large to be masked.",) if large else ()


def _row_by_row(graphs: Mapping[str, Graph], settings: Settings) -> tuple[str, ...]:
    """A remark on matrices that cannot have one formula for all of their cells."""
    loops = [loop for graph in graphs.values() for loop in loops_in(walk(graph.values()))]
    if not loops or settings.formulas not in (Formulas.array, Formulas.dynamic):
        return ()
    nodes = [node for loop in loops for node in loop.nodes if node.name and not node.helper]
    names = list(dict.fromkeys(node.name for node in nodes))
    return (
        f"{listed(names, 6)} {'has' if len(names) == 1 else 'have'} a formula in each cell: each row "
        "needs the row above, and one formula for the whole matrix would refer to itself.",
    )


def _comparable(
    ends: dict[str, tuple[Matrix, Matrix]],
) -> tuple[dict[str, tuple[Matrix, Matrix]], tuple[str, ...]]:
    """The sentences with the same dimensions as the first, and a remark on the others."""
    first, (x, _) = next(iter(ends.items()))
    same = {name: end for name, end in ends.items() if end[0].columns == x.columns}
    others = [name for name in ends if name not in same]
    remark = (
        f"Not compared with {first!r}, since their dimensions differ: {', '.join(map(repr, others))}."
    )
    if others:
        return same, (remark,)
    words = [set(end[0].rows) for end in ends.values()]
    if len(words) > 1 and sum(map(len, words)) == len(set().union(*words)):
        return same, ("No word occurs in two sentences, so there is nothing to compare.",)
    return same, ()
