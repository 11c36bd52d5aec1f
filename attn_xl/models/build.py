"""From tables to graphs: which table plays which part in the model, and whether they fit together."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from attn_xl.errors import CallError, InputError, nearest
from attn_xl.graph.functions import option
from attn_xl.graph.matrix import Matrix, given_step, shapes_only
from attn_xl.graph.node import HIDES, Graph
from attn_xl.graph.step import WHOLE
from attn_xl.settings import CELLS, Model, Normalize, Positions, Settings
from attn_xl.tables.survey import Table, Tables
from attn_xl.text import count

from . import steps
from .attention import compare, positioned, self_attention
from .computation import Computation
from .explorer import explorer, moves
from .masking import Scoring
from .multi_head import multi_head_attention
from .parts import chosen_parts
from .similarity import similarity
from .transformer import Architecture, decoder, encoder, next_words
from .weights import SheetWeights, check_fit

TITLES = {
    Model.attention: "Self-attention",
    Model.encoder: "Encoder",
    Model.decoder: "Decoder",
    Model.encoder_decoder: "Encoder-decoder",
    Model.decoder_only: "Language model",
    Model.similarity: "Similarity",
}


def attend(tables: Tables, settings: Settings | None = None) -> Computation:
    """Compute a model for every sentence of a workbook, with its weights where it has them.

    Args:
        tables: what `read_tables` found: sentences (n, d), weights by name.
        settings: the model and its choices; those written in the workbook if None.

    Raises:
        InputError: if a weight is missing or does not fit a sentence or another weight.
        CallError: for a sheet or a combination of choices that there is not.
    """
    if settings is None:
        settings = Settings.chosen({}, tables.settings, f"{tables.path}, sheet 'Settings'")
    run = _Run(tables, settings)
    graphs: dict[str, Graph] = {}
    ends: dict[str, tuple[Matrix, Matrix]] = {}
    for name, x in run.inputs.items():
        try:
            *output, end = run.output(name, x)
        except InputError as error:
            said = str(error)
            if said.startswith(str(tables.path)):
                raise
            cell = tables.sentences[name].largest()
            hint = f" The largest is in cell {cell}." if "too large" in said else ""
            raise InputError(f"{tables.path}, sheet {name!r}: {said}{hint}") from None
        graphs[name] = Graph(*output)
        ends[name] = x, end
    if settings.model is Model.similarity:
        title = f"{TITLES[settings.model]}: {', '.join(graphs)}"
        return Computation(
            title, graphs, {}, remarks=(*tables.remarks, *run.unused()), settings=settings
        )
    comparable, remarks = _comparable(ends)
    return Computation(
        title=f"{TITLES[settings.model]}: {', '.join(graphs)}",
        graphs=graphs,
        comparison={matrix.name: matrix for matrix in compare(comparable)},
        controls=_controls(graphs, ends, comparable, settings) if settings.controls else {},
        remarks=(*tables.remarks, *remarks, *_not_to_be_masked(graphs), *run.unused()),
        settings=settings,
    )


def foresee(tables: Tables, settings: Settings) -> Computation:
    """What `attend` will make of the tables, in its shapes, before anything is computed: all numbers
    that are not given are 1. Takes hardly any time or memory.

    Raises:
        InputError, CallError: as `attend`; and if there would be too many numbers.
    """
    with shapes_only():
        return attend(tables, settings)


class _Run:
    """One model over the sentences of one workbook."""

    def __init__(self, tables: Tables, settings: Settings) -> None:
        self.tables, self.settings = tables, settings
        self.weights = SheetWeights(tables, settings.random_weights)
        tables_of_words = dict(tables.sentences)
        self.memory = self._memory(tables_of_words)
        self.inputs = {
            name: given_step(
                table.values,
                table.rows,
                table.columns,
                steps.INPUT,
                note=steps.INPUT.note + (steps.TURNED if table.turned else ""),
            )
            for name, table in tables_of_words.items()
        }
        self._scoring = Scoring(tables, settings, self.weights.used)
        self._vocabulary: Matrix | None = None
        self._check()

    def _memory(self, tables_of_words: dict[str, Table]) -> Matrix | None:
        """The sentence that the others attend to, taken out of `tables_of_words`."""
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
            raise CallError(f"--memory: {name!r} is the only sentence; another one is to attend to it.")
        step = steps.SOURCE if self.settings.model is Model.encoder_decoder else steps.MEMORY
        note = step.note.format(name)
        return given_step(table.values, table.rows, table.columns, step, note=note)

    def _check(self) -> None:
        s = self.settings
        if self.memory is not None and s.model is Model.similarity:
            raise CallError("--memory does not go with --model similarity.")
        needs_memory = s.model in (Model.decoder, Model.encoder_decoder)
        if needs_memory and self.memory is None:
            raise CallError(
                f"--model {s.model.value} needs --memory SHEET: the sentence that the others attend to."
            )
        if self.memory is not None and s.model in (Model.encoder, Model.decoder_only):
            raise CallError(
                f"--memory does not go with --model {s.model.value}, which attends to itself."
            )
        projections = [step.symbol for step in (steps.W_Q, steps.W_K, steps.W_V)]
        if s.model is Model.attention and not set(projections) & {*self.tables.weights}:
            layered = [
                n for n in self.tables.weights if n.endswith(tuple(f".{p}" for p in projections))
            ]
            if layered:
                raise InputError(
                    f"{self.tables.path}: its weights are of layers ({layered[0]}, ...), which "
                    "--model encoder, decoder, encoder-decoder or decoder-only computes with. For "
                    "attention alone, keep those of one layer."
                )
        if s.normalize is Normalize.sum and (
            s.causal or s.padding or steps.MASK.symbol in self.weights
        ):
            raise CallError(
                "--normalize sum does not go with a mask, which only a softmax turns into 0."
            )

    def output(self, name: str, x: Matrix) -> tuple[Matrix, ...]:
        """The results of the model for one sentence, and last what its words have become."""
        s = self.settings
        if s.positions is Positions.sinusoidal:
            x = positioned(x)
        if s.model is Model.similarity:
            return similarity(x), x
        if s.model is Model.attention:
            output = self._attention(name, x, self._attended)
            return output, output
        a = self._architecture
        if s.model is Model.encoder:
            output = encoder(x, a)
        elif s.model is Model.decoder_only:
            output = decoder(x, None, a)
            return *self._next_words(output), output
        else:
            output = decoder(x, self._attended, a)
        return output, output

    @cached_property
    def _attended(self) -> Matrix | None:
        """What the other sentences attend to: made once, for all of them."""
        memory = self.memory
        if memory is not None and self.settings.positions is Positions.sinusoidal:
            memory = positioned(memory)
        if memory is not None and self.settings.model is Model.encoder_decoder:
            memory = encoder(memory, self._architecture)
        return memory

    def _attention(self, name: str, x: Matrix, memory: Matrix | None) -> Matrix:
        s, weights = self.settings, self.tables.weights
        how = self._scoring.attending(causal=s.causal, switchable=memory is None or s.causal)
        if s.heads is not None or steps.W_O.symbol in weights:
            source = x if memory is None else memory
            return multi_head_attention(
                x, source, self.weights, s.heads or 1, attending=how, result=steps.MIXED_OUTPUT
            )
        other = x if memory is None else memory
        sources = {steps.W_Q: x, steps.W_K: other, steps.W_V: other}
        wanted = {step.symbol: len(source.columns) for step, source in sources.items()}
        check_fit(self.tables.sentences[name], weights, wanted)
        made = {
            step: self.weights.matrix(step, WHOLE, source.columns, len(source.columns))
            for step, source in sources.items()
            if step.symbol in self.weights or s.random_weights is not None
        }
        w_q, w_k, w_v = (made.get(step) for step in sources)
        biases = [
            self.weights.row(
                steps.BIASES[step], WHOLE, made[step].columns if step in made else source.columns
            )
            for step, source in sources.items()
        ]
        return self_attention(x, w_q, w_k, w_v, biases=biases, memory=memory, attending=how)

    @cached_property
    def _architecture(self) -> Architecture:
        s = self.settings
        return Architecture(
            weights=self.weights,
            epsilon=option(
                s.epsilon,
                CELLS["epsilon"],
                "it keeps a norm from dividing by 0.",
                sheet=self._scoring.sheet,
            ),
            heads=s.heads or 1,
            layers=s.layers,
            hidden=s.hidden or 0,
            norm=s.norm.value,
            activation=s.activation.value,
            attending=self._scoring.attending(
                causal=s.causal and s.model is Model.encoder, switchable=s.model is Model.encoder
            ),
            causal=self._scoring.attending(causal=True, switchable=True),
        )

    def _next_words(self, x: Matrix) -> tuple[Matrix, ...]:
        """Probabilities over the vocabulary, whose sheet has a word a row, as embeddings do."""
        table = self.tables.weights.get(steps.VOCABULARY.symbol)
        d = len(x.columns)
        if table is None:
            raise InputError(
                f"{self.tables.path}: the sheet Vocabulary is missing: a word a row with its "
                f"embedding in {count(d, 'dimension')}, as the sentences have them."
            )
        if table.shape[1] != d:
            raise InputError(
                f"{table.file}, sheet {table.sheet!r}: Vocabulary is {table.shape[0]} x "
                f"{table.shape[1]}, but the sentences have {count(d, 'dimension')}."
            )
        self.weights.used.add(table.name)
        if self._vocabulary is None:
            self._vocabulary = given_step(table.values, table.rows, table.columns, steps.VOCABULARY)
        return next_words(x, self._vocabulary)

    def unused(self) -> tuple[str, ...]:
        """A remark on weights that the model has no place for."""
        unused = [name for name in self.tables.weights if name not in self.weights.used]
        if not unused:
            return ()
        return (f"Not used by this model: {', '.join(unused)}.",)


def _controls(
    graphs: Mapping[str, Graph],
    ends: Mapping[str, tuple[Matrix, Matrix]],
    comparable: Mapping[str, tuple[Matrix, Matrix]],
    settings: Settings,
) -> dict[str, Matrix]:
    made: list[Matrix] = []
    parts = [node.part for graph in graphs.values() for node in graph.values()]
    kept = chosen_parts(settings.sheets_for, parts) if settings.sheets_for else set(parts)
    for name, (x, output) in ends.items():
        nodes = graphs[name].values()
        attention = [node for node in nodes if node.role == "attention" and node.part in kept]
        if attention:
            made += explorer(name if len(ends) > 1 else "", x, output, attention)
    return {matrix.name: matrix for matrix in (*made, *moves(comparable))}


def _not_to_be_masked(graphs: Mapping[str, Graph]) -> tuple[str, ...]:
    """A remark on the sentences whose later words the switch Causal, if turned on, would not hide."""
    large = [
        name
        for name, graph in graphs.items()
        if CELLS["causal"] in graph
        for node in graph.values()
        if node.is_step(steps.SCALED) and node.largest > -HIDES
    ]
    names = ", ".join(map(repr, dict.fromkeys(large)))
    return (f"Leave Causal off: the scores of {names} are too large to be masked.",) if large else ()


def _comparable(
    ends: dict[str, tuple[Matrix, Matrix]],
) -> tuple[dict[str, tuple[Matrix, Matrix]], tuple[str, ...]]:
    """The sentences with the dimensions of the first, and a remark on those that have others."""
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
