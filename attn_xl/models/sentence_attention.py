"""Attention of a sentence to itself or to another one: one head, several, or given weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attn_xl.errors import CallError, InputError
from attn_xl.graph.functions import concat
from attn_xl.graph.given import given_step
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Step
from attn_xl.settings import (
    Normalize,
)
from attn_xl.tables.survey import Table, heads_told

from . import steps
from .attention import (
    Attending,
    given_attention,
    projected,
    self_attention,
)
from .run import Results, Run, both
from .weights import check_fit


def build(run: Run, name: str, x: Matrix) -> Results:
    """The output of attention (n, d_v)."""
    return both(attention(run, name, x))


def attention(run: Run, name: str, x: Matrix) -> Matrix:
    """Attention of one sentence to itself, or to the memory."""
    s, weights, memory = run.settings, run.tables.weights, run.attended
    wants_switch = s.causal or s.switches is not None
    how = run.attending(causal=s.causal, switchable=memory is None or wants_switch)
    if run.given:
        return with_given(run, x if memory is None else memory, x.rows, how)
    told, missing = heads_told(weights)
    if s.heads is None and missing:
        raise InputError(
            f"{run.tables.path}: the names of the weights do not tell the number of heads: there "
            f"are weights of head {told}, but no {missing}. Add it, or give --heads N."
        )
    if s.heads is not None or steps.W_O.symbol in weights:
        from .multi_head import multi_head_attention

        source = x if memory is None else memory
        return multi_head_attention(
            x,
            source,
            run.weights,
            s.heads or 1,
            kv_heads=s.kv_heads,
            attending=how,
            result=steps.MIXED_OUTPUT,
            mixes=run.weights.gives(steps.W_O, WHOLE),
        )
    other = x if memory is None else memory
    sources = {steps.W_Q: x, steps.W_K: other, steps.W_V: other}
    wanted = {step.symbol: len(source.columns) for step, source in sources.items()}
    check_fit(run.tables.sentences[name], weights, wanted)
    made = {
        step: run.weights.matrix(step, WHOLE, source.columns, len(source.columns))
        for step, source in sources.items()
        if step.symbol in run.weights or run.seed is not None
    }
    w_q, w_k, w_v = (made.get(step) for step in sources)
    biases = [
        run.weights.row(
            steps.BIASES[step], WHOLE, made[step].columns if step in made else source.columns
        )
        for step, source in sources.items()
    ]
    v_a = run.weights.row(steps.V_A, WHOLE, x.columns if w_q is None else w_q.columns)
    if v_a is not None:
        how = replace(how, additive=v_a, scale=False)
    return self_attention(x, w_q, w_k, w_v, biases=biases, memory=memory, attending=how)


def with_given(
    run: Run,
    memory: Matrix,
    words: Sequence[str],
    how: Attending | None,
    part: Part = WHOLE,
    result: Step = steps.MIXED_OUTPUT,
) -> Matrix:
    """Attention with given weights: V and A of each head and their product, mixed by W_O if it is
    given; without it, the products of several heads stand side by side."""
    many = len(run.given)
    heads = max(run.settings.heads or 1, heads_told(run.tables.weights)[0])
    if many < heads:
        its = run.settings.attention
        raise CallError(
            f"--attention: there are {heads} heads, but attention weights for {many}. Give those "
            f"of every head, {its}_1 to {its}_{heads}, each as a sheet or a range: "
            f'--range "{its}_{heads}=Sheet!B3:F9".'
        )
    mixer = part.name(steps.W_O.symbol)
    mixes = many > 1 or mixer in run.weights
    names = [one.name(steps.W_V.symbol) for one in (part, part.of_head(1))]
    values, generated = None, run.settings.random_weights is not None
    if generated or any(name in run.weights for name in names[:many]):
        from .multi_head import PerHead

        width = len(memory.columns) // many or 1
        values = PerHead(steps.W_V, part, run.weights, many, memory.columns, width)
    outputs = []
    for h, table in enumerate(run.given, 1):
        here = part.of_head(h) if mixes else part
        w_v = values.of(h) if values is not None else None
        bias = (
            values.bias(h)
            if values is not None
            else run.weights.row(steps.BIASES[steps.W_V], part, memory.columns)
        )
        key = run.weights.sentence, h
        if key not in run.given_weights:  # all layers share them
            its_part = WHOLE.of_head(h) if many > 1 else WHOLE
            run.given_weights[key] = _given_for(run, table, words, memory.rows, its_part)
        a = run.given_weights[key]
        outputs.append(given_attention(a, memory, w_v, bias, attending=how, part=here))
    if not mixes:
        return outputs[0]
    if mixer not in run.weights and not generated:
        return concat(*outputs).as_step(steps.JOINED_OUTPUT, part)
    together = concat(*outputs).as_step(steps.CONCAT, part)
    w_o = run.weights.matrix(steps.W_O, part, together.columns, len(memory.columns))
    b_o = run.weights.row(steps.BIASES[steps.W_O], part, w_o.columns)
    return projected(together, w_o, b_o, result, part)


def _given_for(
    run: Run, table: Table, rows: Sequence[str], columns: Sequence[str], part: Part
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
    if run.settings.normalize is Normalize.sum:
        scores = given_step(table.values, rows, columns, steps.GIVEN_SCORES, part)
        return Attending(normalize="sum").normalized(scores, part)
    return given_step(table.values, rows, columns, steps.GIVEN_ATTENTION, part)
