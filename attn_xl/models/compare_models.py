"""The same sentence through several models: how far each can see, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attn_xl.errors import CallError, InputError
from attn_xl.graph.functions import columns, concat, copy, gather, option, row_maximum
from attn_xl.graph.matrix import Matrix, constant
from attn_xl.graph.node import Graph
from attn_xl.graph.step import WHOLE, Recipe, Scope, Step
from attn_xl.languages import joined, message
from attn_xl.settings import Model, Settings
from attn_xl.tables.survey import Tables

from . import recipes
from .build import Run
from .computation import Computation
from .influence import influence

INFLUENCES, DISTANCES, COSTS = "Influences", "Distances", "Costs"
"""The sheets of the comparison."""

SIDE_BY_SIDE = Step(
    "Influences",
    note="How much the output at each word (row) changes with the input at each word (column), for "
    "each "
    "model. Compare how far back the rows reach.",
    recipe=recipes.COPY,
    role="attention",
)
DISTANCE = Step(
    "Distance",
    note="The influence of each word on the last word, as a share of the largest, by the number of "
    "words "
    "between them. Compare the columns: which model forgets, and how fast?",
    recipe=Recipe(
        do="Take the number of the last row of the model's influence, that many columns before the "
        "last, "
        "and divide it by the largest of that row.",
        hint="Use =cell/MAX(last row). Common mistake: counting from the first word.",
        prompt="Influence that many words back, divided by the largest of the last row: =cell/MAX(row)",
    ),
)
COST = Step(
    "Cost",
    note="What each model pays for n words of d numbers. Change n, d or k and compare.",
)
COSTS_OF = (
    message("steps"),
    message("path"),
    message("order"),
    message("multiplications"),
    message("parameters"),
)
"""Sequential steps; the longest path between two words; operations as in the table of the source; all
multiplications; parameters."""


def compare_models(tables: Tables, models: Sequence[Model], settings: Settings) -> Computation:
    """One sentence through several models of the same width, their influence and their costs.

    Args:
        tables: the sentence, and weights for the models whose names they have.
        models: at least two different ones.
        settings: the options, of which each model takes those that belong to it; weights that are not
            given are generated, from `random_weights` or 0.

    Raises:
        CallError: if there are not two models, or several sentences.
        InputError: if weights do not fit, or there are too many numbers.
    """
    if len(set(models)) < 2 or len(set(models)) < len(models):
        raise CallError("--models needs at least two different models, such as --models rnn attention.")
    if len(tables.sentences) > 1:
        names = ", ".join(tables.sentences)
        raise CallError(f"the file has several sentences: {names}. Choose one with --sheet.")
    (name,) = tables.sentences
    graphs: dict[str, Graph] = {}
    maps: dict[str, Matrix] = {}
    x, remarks, used = None, list(tables.remarks), set[str]()
    for model in models:
        run = Run(tables, _settings_of(model, settings))
        x = x or run.inputs[name]
        try:
            *output, end = run.output(name, x)
            maps[model.value], remark = influence(x, end)
        except InputError as error:
            raise InputError(f"{tables.path}, --model {model}: {error}") from None
        graphs[model.value] = Graph(*output, maps[model.value])
        remarks += [f"{model}: {remark}"] * bool(remark)
        used |= run.weights.used
    unused = [weight for weight in tables.weights if weight not in used]
    remarks += [f"Not used by these models: {', '.join(unused)}."] * bool(unused)
    assert x is not None
    compared = [*_side_by_side(maps), _by_distance(maps), *_costs(x, models, settings.window or 3)]
    title = f"{name}: {', '.join(maps)}"
    return Computation(title, graphs, {one.name: one for one in compared}, remarks=tuple(remarks))


def _settings_of(model: Model, settings: Settings) -> Settings:
    """The options that belong to a model."""
    chosen = replace(settings, model=model, random_weights=settings.random_weights or 0)
    plain = Settings(model=model)
    idle = {
        field: getattr(plain, field)
        for field in ("layers", "bidirectional", "nonlinearity", "window", "heads", "causal", "hidden",
                      "positions", "padding")
        if chosen.why_idle(field)
    }  # fmt: skip
    return replace(chosen, **idle)


def _side_by_side(maps: dict[str, Matrix]) -> list[Matrix]:
    """The maps of all models, on one sheet; (n, n) each."""
    found = []
    for number, (model, one) in enumerate(maps.items()):
        part = WHOLE.within(Scope(INFLUENCES, message("comparison")))
        step = replace(SIDE_BY_SIDE, symbol=model, helper=number > 0)
        note = SIDE_BY_SIDE.note if number == 0 else joined([model])
        found.append(copy(one).as_step(step, part, note=note, sheet=INFLUENCES))
    return found


def _by_distance(maps: dict[str, Matrix]) -> Matrix:
    """The relative influence on the last word by distance, (n, number of models)."""
    shares = []
    for one in maps.values():
        n, rows = len(one.columns), len(one.rows)
        labels = [str(distance) for distance in range(n)]
        on_last = columns(one.T, rows - 1, rows)
        back = gather([(on_last, n - 1 - distance) for distance in range(n)], labels)
        shares.append(back / row_maximum(gather([(one, rows - 1)], [message("last")])))
    table = replace(concat(shares), columns=tuple(maps))
    return table.as_step(DISTANCE, sheet=DISTANCES)


def _costs(x: Matrix, models: Sequence[Model], window: int) -> list[Matrix]:
    """What each model costs, (1, 5) each, as formulas of n, d and k, which come first.

    Source: Vaswani et al., "Attention Is All You Need" (2017), table 1.
    """
    n = option(len(x.rows), "n", message("the number of words."), sheet=COSTS)
    d = option(len(x.columns), "d", message("the width of every word."), sheet=COSTS)
    k = option(window, "k", message("the window of the convolution."), sheet=COSTS)
    one = constant(1)
    weights = 2 * d * d  # of a gate, from the word and from the row above

    def recurrent(gates: int) -> list[Matrix]:
        return [n, n, n * d * d, gates * n * weights, gates * (weights + d)]

    known = {
        Model.attention: [one, one, n * n * d, 3 * n * d * d + 2 * n * n * d, 3 * d * d],
        Model.cnn: [one, n / k, k * n * d * d, k * n * d * d, k * d * d + d],
        Model.rnn: recurrent(1),
        Model.gru: recurrent(3),
        Model.lstm: recurrent(4),
    }
    rows = []
    for model in models:
        if model in known:
            cells = [cell if cell.operation is not None else copy(cell) for cell in known[model]]
            row = replace(concat(cells), rows=(model.value,), columns=COSTS_OF)
            part = WHOLE.within(Scope(COSTS, message("costs")), Scope(model.value, model.value))
            rows.append(row.as_step(COST, part, note=message("model"), sheet=COSTS))
    return [n, d, k, *rows] if rows else []
