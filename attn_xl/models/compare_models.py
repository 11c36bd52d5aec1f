"""The same sentence through several models: how far each can see, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attn_xl.errors import CallError, InputError, nearest
from attn_xl.graph.functions import (
    column_maximum,
    columns,
    concat,
    copy,
    gather,
    option,
    row_maximum,
    row_squares,
    sqrt,
)
from attn_xl.graph.gradients import gradients
from attn_xl.graph.graph import Graph
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.operations.elementwise import constant
from attn_xl.graph.step import WHOLE, Part, Scope
from attn_xl.settings import ATTENTION, INFLUENCES, RECURRENT, Backbone, Model, Norm, Settings
from attn_xl.tables.survey import Tables

from . import steps
from .computation import Computation
from .influence import influence
from .run import Run
from .weights import SheetWeights, by_width

DISTANCES, COSTS = "Distances", "Costs"
"""The sheets of the comparison, besides `INFLUENCES`."""

GRADIENTS = "Gradients"
COSTS_OF = (
    "steps",
    "path",
    "order",
    "multiplications",
    "parameters",
)
"""Sequential steps; the longest path between two words; operations as in the table of the source; all
multiplications; parameters."""


COMPARABLE = (*ATTENTION, Model.cnn, *RECURRENT)
"""Models whose output has a row for each word."""
WITH_MEMORY = (Model.decoder, Model.encoder_decoder)
FORGET_BIAS = 1.0
"""The bias of forget gates that are not given, so that notes are kept at first. Source: Jozefowicz,
Zaremba, Sutskever, "An Empirical Exploration of Recurrent Network Architectures" (2015)."""


def models_of(names: Sequence[str]) -> list[Model]:
    """The models to compare, by their names.

    Raises:
        CallError: if there are not two different ones, or one is unknown.
    """
    known = {model.value: model for model in COMPARABLE}
    for name in names:
        if name.lower() not in known:
            raise CallError(f"--models: {name!r} cannot be compared. {nearest(name, known)}")
    models = [known[name.lower()] for name in names]
    if len(set(models)) < 2 or len(set(models)) < len(models):
        raise CallError("--models needs at least two different models, such as --models rnn attention.")
    return models


def compare_models(
    tables: Tables, models: Sequence[Model], options: Mapping[str, Any] | None = None
) -> Computation:
    """The same sentences through several models of the same width, their influence and their costs.

    Weights that are not given are generated from `random_weights` or 0: uniformly between ±1/√d, and 1
    for the biases of forget gates.

    Args:
        tables: the sentences, and weights for the models whose names they have.
        models: at least two different ones.
        options: fields of `Settings`, of which each model takes those that belong to it.

    Raises:
        CallError: if there are not two models, or an option belongs to none of them.
        InputError: if weights do not fit, or there are too many numbers.
    """
    models_of([model.value for model in models])
    settings = _settings_of(models, tables, options or {})
    graphs: dict[str, Graph] = {}
    inputs: dict[str, Matrix] = {}
    maps: dict[str, dict[str, Matrix]] = {}
    learns: dict[str, dict[str, Matrix]] = {}
    remarks, used = list(tables.remarks), set[str]()
    others = {settings[model].memory for model in models}
    for model in models:
        run = Run(tables, settings[model], _weights(tables, settings[model]))
        for name in run.inputs:
            if name in others:  # what decoders attend to
                continue
            x = inputs.setdefault(name, run.inputs[name])
            try:
                *output, end = run.output(name, x)
                judged = run.settings.model is Model.classify
                if judged:
                    output.append(run.answers.loss(name, output[0]))
                    learns.setdefault(name, {})[model.value] = _by_word(output[-1], x)
                made, remark = influence(x, end)
            except InputError as error:
                said = str(error).removeprefix(f"{tables.path}: ")
                raise InputError(f"{tables.path}, --models {model}: {said}") from None
            maps.setdefault(name, {})[model.value] = made
            learned = [learns[name][model.value]] if judged else []
            graphs[f"{name}.{model}"] = Graph(*output, *learned, made)
            remarks += [f"{model}: {remark}"] * bool(remark and f"{model}: {remark}" not in remarks)
        used |= run.weights.used
    graphs = {f"{name}.{model}": graphs[f"{name}.{model}"] for name in maps for model in maps[name]}
    if len(maps) == 1:
        graphs = {key.rpartition(".")[2]: graph for key, graph in graphs.items()}
    unused = [weight for weight in tables.weights if weight not in used]
    remarks += [f"Not used by these models: {', '.join(unused)}."] * bool(unused)
    compared: list[Matrix] = []
    for name, of_models in maps.items():
        compared += _side_by_side(of_models, name if len(maps) > 1 else "")
    for name, of_models in maps.items():
        table, blind = _by_distance(of_models, name if len(maps) > 1 else "")
        compared += table
        remarks += [
            f"{model} is not on the sheet {DISTANCES}: no word of {name!r} has any influence on its "
            "last output, which is 0 or constant."
            for model in blind
        ]
    for name, of_models in learns.items():
        shares = replace(concat(*of_models.values()), columns=tuple(of_models))
        part = _part("", name if len(maps) > 1 else "")
        compared.append(shares.as_step(steps.LOSS_BY_WORD, part, sheet=GRADIENTS))
    longest = max(inputs.values(), key=lambda x: len(x.rows))
    memories = [len(tables.sentences[name].rows) for name in others if name is not None]
    costs, unknown = _costs(longest, max(memories, default=0), settings)
    compared += costs
    if unknown:
        remarks.append(f"The sheet {COSTS} has no row for {', '.join(unknown)}.")
    title = f"{', '.join(maps)}: {', '.join(map(str, models))}"
    return Computation(title, graphs, {one.name: one for one in compared}, remarks=tuple(remarks))


def _settings_of(
    models: Sequence[Model], tables: Tables, options: Mapping[str, Any]
) -> dict[Model, Settings]:
    """The settings of each model: the options that belong to it, and those written in the file."""
    given = {name: value for name, value in options.items() if value is not None}
    idle = {
        model: {
            name
            for name in given
            if Settings(**{"random_weights": 0, **given, "model": model}).why_idle(name)
        }
        for model in models
    }
    for model, names in idle.items():
        names |= {"memory"} & set(given) if model not in WITH_MEMORY else set()
        names |= {"window"} & set(given) if model in ATTENTION and Model.cnn in models else set()
    for name in given:
        if all(name in idle[model] for model in models):
            raise CallError(f"--{name.replace('_', '-')} belongs to none of these models.")
    found = {}
    for model in models:
        own = {name: value for name, value in given.items() if name not in idle[model]}
        own = {"random_weights": 0, **own, "model": model}
        made = Settings.resolve(own, tables.settings, f"{tables.path}, sheet 'Settings'")
        if _have_classes(tables) and model.value in list(Backbone):  # one task for all
            made = replace(made, model=Model.classify, backbone=Backbone(model.value), loss=True)
        found[model] = made if model in WITH_MEMORY else replace(made, memory=None)
    return found


def _have_classes(tables: Tables) -> bool:
    """Whether each sentence has one class, of at least two."""
    labels = [tables.labels.get(name, ()) for name in tables.sentences]
    return all(len(own) == 1 for own in labels) and len(set(labels)) > 1


def _by_word(loss: Matrix, x: Matrix) -> Matrix:
    """How much a loss changes with each word of x (n, d), as a share of the largest, (n, 1)."""
    (gradient,) = gradients(loss, [x])
    size = sqrt(row_squares(gradient)).in_cells
    return size / column_maximum(size)


def _weights(tables: Tables, settings: Settings) -> SheetWeights:
    own = {name.rpartition(".")[2].casefold() for name in tables.weights}
    made_up = settings.model is Model.lstm and "u_f" not in own
    return SheetWeights(
        tables,
        settings.random_weights,
        settings.heads_as_sheets,
        draw=by_width,
        biases={"b_f": FORGET_BIAS} if made_up else {},
    )


def _side_by_side(maps: Mapping[str, Matrix], sentence: str) -> list[Matrix]:
    """The maps of all models, on one sheet; (n, n) each."""
    found = []
    for number, (model, one) in enumerate(maps.items()):
        part = _part(INFLUENCES, sentence)
        step = replace(steps.SIDE_BY_SIDE, symbol=model, helper=number > 0)
        note = steps.SIDE_BY_SIDE.note if number == 0 else " ".join([model])
        found.append(copy(one).as_step(step, part, note=note, sheet=INFLUENCES))
    return found


def _by_distance(maps: Mapping[str, Matrix], sentence: str) -> tuple[list[Matrix], list[str]]:
    """The relative influence on the last word by distance, (n, number of models); and the models
    without any influence on it."""
    shares, names, blind = [], [], []
    for model, one in maps.items():
        n, rows = len(one.columns), len(one.rows)
        if not one.values[-1].any():
            blind.append(model)
            continue
        labels = [str(distance) for distance in range(n)]
        on_last = columns(one.T, rows - 1, rows)
        back = gather([(on_last, n - 1 - distance) for distance in range(n)], labels)
        shares.append(back / row_maximum(gather([(one, rows - 1)], ["last"])))
        names.append(model)
    if not shares:
        return [], blind
    table = replace(concat(*shares), columns=tuple(names))
    return [table.as_step(steps.DISTANCE, _part("", sentence), sheet=DISTANCES)], blind


def _part(sheet: str, sentence: str) -> Part:
    scopes = [Scope(sheet, "comparison")] if sheet else []
    return WHOLE.within(*scopes, *[Scope(sentence, sentence)] * bool(sentence))


def _costs(
    x: Matrix, memory: int, settings: Mapping[Model, Settings]
) -> tuple[list[Matrix], list[str]]:
    """What each model costs, (1, 5) each, as formulas of n, d and so on, which come first; and the
    models whose costs are not known.

    Args:
        memory: the number of words that decoders attend to.

    Source: Vaswani et al., "Attention Is All You Need" (2017), table 1.
    """
    n, d = len(x.rows), len(x.columns)
    sizes = {
        "n": option(n, "n", "the number of words.", sheet=COSTS),
        "d": option(d, "d", "the width of every word.", sheet=COSTS),
    }
    rows, unknown = [], []
    for model, own in settings.items():
        more = {
            "k": (own.window or 3, "the window of the convolution."),
            "m": (own.hidden or 2 * d, "the neurons of the feed-forward network."),
            "s": (memory, "the number of words that the decoder attends to."),
        }
        for name in NEEDED_SIZES.get(model, ""):
            value, note = more[name]
            sizes.setdefault(name, option(value, name, note, sheet=COSTS))
        costs = _costs_of(model, own, sizes)
        if costs is None:
            unknown.append(model.value)
            continue
        cells = [one if one.operation is not None else copy(one) for one in costs]
        row = replace(concat(*cells), rows=(model.value,), columns=COSTS_OF)
        part = WHOLE.within(Scope(COSTS, "costs"), Scope(model.value, model.value))
        rows.append(row.as_step(steps.COST, part, note="model", sheet=COSTS))
    return [*sizes.values(), *rows] if rows else [], unknown


NEEDED_SIZES = {Model.cnn: "k", Model.encoder: "m", Model.decoder: "ms", Model.encoder_decoder: "ms"}
"""The sizes besides n and d on which the costs of a model depend."""
GATES = {Model.rnn: 1, Model.gru: 3, Model.lstm: 4}
UNUSUAL = ("kv_heads", "norm_type", "attention")
"""Options that change what a layer costs."""


def _costs_of(model: Model, own: Settings, size: Mapping[str, Matrix]) -> list[Matrix] | None:
    """The costs of a model; None if they are not known. A recurrent network has a bias for each gate,
    the layers of a transformer have norms and no biases."""
    plain = Settings(model=model)
    if any(getattr(own, name) != getattr(plain, name) for name in UNUSUAL) or own.activation.gated:
        return None
    n, d, one = size["n"], size["d"], constant(1)
    if model is Model.attention:
        tables = 3 if own.heads is None else 4
        return [one, one, n * n * d, tables * n * d * d + 2 * n * n * d, tables * d * d]
    if model is Model.cnn:
        k = size["k"]
        return [one, n / k, k * n * d * d, k * n * d * d, k * d * d + d]
    if model in GATES:
        layers, directions, gates = own.layers, 1 + own.bidirectional, GATES[model]
        # The weights of a gate; further layers read the states of all directions.
        weights = directions * (2 + (layers - 1) * (directions + 1)) * d * d
        biases = d if layers * directions == 1 else layers * directions * d
        sequential = n if layers == 1 else n + (layers - 1)
        order = n * d * d if layers * directions == 1 else layers * directions * n * d * d
        return [sequential, n, order, gates * n * weights, gates * (weights + biases)]
    if model is Model.encoder:
        return [constant(own.encoder_layers or own.layers), one, *_stack(own, size, n)]
    if model in WITH_MEMORY:
        layers = own.decoder_layers or own.layers
        of_decoder = _stack(own, size, n, crossing=True)
        if model is Model.decoder:
            return [constant(layers), one, *of_decoder]
        before = own.encoder_layers or own.layers
        of_encoder = _stack(own, size, size["s"])
        return [constant(before + layers), one, *[a + b for a, b in zip(of_encoder, of_decoder)]]
    return None


def _stack(
    own: Settings, size: Mapping[str, Matrix], n: Matrix, *, crossing: bool = False
) -> list[Matrix]:
    """Operations, multiplications and parameters of the layers of an encoder over n words, or of a
    decoder."""
    d, m = size["d"], size["m"]
    layers = (own.decoder_layers if crossing else own.encoder_layers) or own.layers
    order, work, weights = n * n * d, 4 * n * d * d + 2 * n * n * d, 4 * d * d
    if own.feed_forward:
        order, work, weights = order + n * d * m, work + 2 * n * d * m, weights + 2 * d * m
    normed = own.norm is not Norm.none
    if normed:  # after each sublayer
        weights = weights + 2 * (1 + own.feed_forward) * d
    if crossing:
        s = size["s"]
        order, work = order + n * s * d, work + 2 * n * d * d + 2 * s * d * d + 2 * n * s * d
        weights = weights + 4 * d * d
        weights = weights + 2 * d if normed else weights
    last = 2 * d if own.norm is Norm.pre else None  # a norm after all layers
    each = [order, work, weights] if layers == 1 else [layers * x for x in (order, work, weights)]
    return each if last is None else [*each[:2], each[2] + last]
