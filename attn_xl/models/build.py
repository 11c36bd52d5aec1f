"""Build the graphs of a model from tables: assign tables to its parts and check that they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from attn_xl.errors import InputError, MissingWeightsError, NotFinite
from attn_xl.graph.extent import HIDES
from attn_xl.graph.graph import Graph, walk
from attn_xl.graph.loops import loops_in
from attn_xl.graph.matrix import Matrix, foresees, shapes_only
from attn_xl.graph.step import WHOLE, Scope
from attn_xl.settings import (
    BATCH,
    BLOCKS,
    CELLS,
    Formulas,
    Model,
    Settings,
)
from attn_xl.tables.survey import Tables
from attn_xl.text import listed

from . import steps
from .attention import (
    compare,
)
from .computation import Computation
from .parts import described
from .run import Run
from .similarity import moves

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
            from .unused import use_for

            raise use_for(tables, settings, _used_with, error) from None
        except InputError as error:
            message = str(error)
            if message.startswith(str(tables.path)):
                raise
            cell = tables.sentences[name].largest()
            hint = f" The largest is in cell {cell}." if "too large" in message else ""
            raise InputError(f"{tables.path}, sheet {name!r}: {message}{hint}") from None
        if settings.influence:
            from .influence import influence

            found, remark = influence(_enters(x, end), end)
            output, by_row = [*output, found], [*by_row, *[f"{name}: {remark}"] * bool(remark)]
        outputs[name] = output
        ends[name] = run.live.of_words(x), end
    run.check_hidden()
    used = run.weights.used | run.replaced
    if settings.model.kind not in WEIGHTLESS and not tables.weights.keys() <= used:
        from .unused import refuse_unused

        refuse_unused(tables, settings, used, _used_with)
    title = _title(run, outputs)
    if settings.steps:
        from .learning import learned

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
    from .losses import mean_loss

    loss = mean_loss(losses, WHOLE.within(Scope(BATCH, "batch")), BATCH)
    parents = (parent for parent in loss.parents)
    return {matrix.name: matrix for matrix in (*parents, loss)}


def _enters(x: Matrix, end: Matrix) -> Matrix:
    """What the final vectors of a sentence are computed from with formulas: its words, or what layers
    that are not written give."""
    entered = [node for node in walk([end]) if node.is_step(steps.ENTERED)]
    return entered[-1] if entered else x


def _about(tables: Tables, settings: Settings, graphs: Mapping[str, Graph]) -> str:
    """What of a model is formulas, and what all of it would take; nothing while only shapes are
    wanted."""
    if foresees():
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


def _title(run: Run, sentences: Iterable[str]) -> str:
    """The title: what is computed, and for which sentences."""
    s, named = run.settings, ", ".join(sentences)
    what = TITLES.get(s.model, str(s.model))
    if s.model is Model.attention:
        several = max(s.heads or 1, len(run.given)) > 1
        what = ATTENTION_TITLES[run.memory is not None, several]
    if s.memory:
        return f"{what}: {named}, attending to {s.memory}"
    return f"{what}: {named}"


def _unless_too_large(
    what: str, make: Callable[[Ends], list[Matrix]], ends: Ends
) -> tuple[list[Matrix], str]:
    """Optional matrices and no remark; or none and a remark if their numbers are too large."""
    try:
        return make(ends), ""
    except NotFinite:
        return [], f"Left out: {what}. The numbers are too large to compute it."


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
