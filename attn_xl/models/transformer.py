"""The transformer as in the paper: layers of attention and feed-forward, each with a skip connection
and a norm.

Shapes: n words of a sentence, m words of another; d the model's width.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3; pre-norm as in Xiong et al., "On
Layer Normalization in the Transformer Architecture" (2020).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from attn_xl.errors import InputError
from attn_xl.graph.functions import (
    activation,
    best,
    concat,
    row_dot,
    row_mean,
    row_squares,
    row_variance,
    sqrt,
    width,
)
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part, Step
from attn_xl.records import record
from attn_xl.settings import Activation, Model
from attn_xl.text import count

from . import recipes, steps
from .attention import (
    Attending,
    Dropout,
    Weights,
    dropped,
    projected,
    scaled_dot_product_attention,
)
from .multi_head import multi_head_attention
from .parts import ALL, Live, enter
from .sentence_attention import with_given
from .softmax import softmax

if TYPE_CHECKING:
    from .run import Run

Sublayer = Callable[[Matrix], Matrix]
_PROJECTS = re.compile(r"\bW_[QKVO](?:_\d+)?$", re.IGNORECASE)
"""The end of the name of an attention's weights."""


@record(frozen=True, eq=False, repr=False)
class Architecture:
    """The options that all layers share.

    Attributes:
        weights: source of the learned weights.
        heads, layers: the number of each.
        encoder_layers, decoder_layers: the number of layers of each stack; `layers` if None.
        hidden: width of the feed-forward network if its weights are generated.
        kv_heads: the number of heads of keys and values; `heads` if None.
        cross_heads: the number of heads of the attention to the encoder's output; `heads` if None.
        norm: "post" (the paper's): after the sum; "pre": before each sublayer; "none".
        skip, feed_forward: whether a sublayer adds what it reads, and whether a layer has a network.
        norm_type: "layer", or "rms": divided by the root mean square.
        norm_variance: "population", divided by n, or "sample", by n - 1.
        norm_epsilon: where to add epsilon: "inside" the root, to the variance, or "outside".
        worked: whether a norm is shown step by step.
        activation: the function of the hidden layer, or of its gate if it has one.
        projects: whether attentions have weights; without any, Q = X, and K = V = what it looks at.
        epsilon: the scalar that keeps a norm from dividing by 0.
        attending: how scores become weights.
        crossing: the same for attention to the encoder's output, which has no positions in its scores;
            `attending` if None.
        causal: the same as `attending`, with later words hidden.
        given: `with_given` of a run that has attention weights for an encoder.
        dropout: sets some numbers of each sublayer's output to 0, before the skip connection.
        live: the layers and heads that become formulas.
        after_layer: called with the result of each of these layers but the last.
    """

    weights: Weights
    epsilon: Matrix
    heads: int = 1
    kv_heads: int | None = None
    cross_heads: int | None = None
    layers: int = 1
    encoder_layers: int | None = None
    decoder_layers: int | None = None
    hidden: int = 0
    norm: Literal["post", "pre", "none"] = "post"
    skip: bool = True
    feed_forward: bool = True
    norm_type: Literal["layer", "rms"] = "layer"
    norm_variance: Literal["population", "sample"] = "population"
    norm_epsilon: Literal["inside", "outside"] = "inside"
    worked: bool = False
    activation: Activation = Activation.relu
    projects: bool = True
    attending: Attending | None = None
    crossing: Attending | None = None
    causal: Attending | None = None
    given: Callable[..., Matrix] | None = None
    dropout: Dropout | None = None
    live: Live = ALL
    after_layer: Callable[[Matrix, Part], object] | None = None


def norm(x: Matrix, a: Architecture, part: Part, which: str, learned: Part | None = None) -> Matrix:
    """(x - mean) / √(variance + ε) · γ + β, separately for each row; or x / √(mean square + ε) · γ.

    The variance is that of the population, or of a sample; ε may stand outside the root:
    (x - mean) / (√variance + ε) · γ + β.

    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016); Zhang, Sennrich, "Root Mean Square Layer
    Normalization" (2019). The gradient of the former, with y the normed numbers before γ and β and
    g = dNorm · γ: (g - mean(g) - y · mean(g · y)) / √(variance + ε); of the latter, the same without
    mean(g).
    """
    gamma, beta = _stretch(x, a, learned or part, (steps.GAMMA, steps.BETA))
    step = steps.RMS_NORM if a.norm_type == "rms" else steps.NORM
    return _normed(x, a, gamma, beta, step, part, step.note.format(which=which, how=_how(a)))


def norm_alone(x: Matrix, a: Architecture) -> Matrix:
    """The norm of a table (n, d), with gamma and beta if given. Source: as `norm`."""
    if steps.GAMMA.symbol in a.weights or steps.BETA.symbol in a.weights:
        return norm(x, a, WHOLE, "Norm")
    step = steps.RMS_NORM_ALONE if a.norm_type == "rms" else steps.NORM_ALONE
    return _normed(x, a, None, None, step, WHOLE, step.note.format(how=_how(a)))


def _stretch(
    x: Matrix, a: Architecture, part: Part, steps_of: tuple[Step, Step]
) -> tuple[Matrix | None, Matrix | None]:
    """Gamma and beta; beta is left out of an rms norm unless it is given."""
    gamma, beta = steps_of
    shifts = a.norm_type == "layer" or part.name(beta.symbol) in a.weights
    return (
        a.weights.row(gamma, part, x.columns),
        a.weights.row(beta, part, x.columns) if shifts else None,
    )


def _normed(
    x: Matrix,
    a: Architecture,
    gamma: Matrix | None,
    beta: Matrix | None,
    step: Step,
    part: Part,
    note: str,
) -> Matrix:
    sample, outside = a.norm_variance == "sample", a.norm_epsilon == "outside"
    rms = a.norm_type == "rms"
    if rms:
        centred = x
        variance = row_squares(x) / width(x)  # (n, 1)
        variance = variance.as_step(steps.MEAN_SQUARE)
        recipe = recipes.RMS_NORMS[outside, gamma is not None]
    else:
        centred = x - row_mean(x).as_step(steps.MEAN)  # (n, d)
        variance = row_variance(x, sample=sample)  # (n, 1)
        variance = variance.as_step(steps.SAMPLE_VARIANCE if sample else steps.VARIANCE)
        recipe = recipes.NORMS[outside, gamma is not None and beta is not None]
    if a.worked and not rms:
        centred = centred.as_step(steps.CENTRED)
    spread = sqrt(variance) + a.epsilon if outside else sqrt(variance + a.epsilon)
    normed = centred / spread  # (n, d)
    if not (sample and not rms) and not outside:
        # The mean is subtracted from the gradient, too.
        normed = normed.differentiated(
            {
                x: lambda y, d: (
                    ((d if rms else d - row_mean(d).in_cells) - y * _mean_product(d, y)) / spread
                ),
                a.epsilon: lambda y, d: d * y / spread / spread / -2,
            }
        )
    if a.worked and not rms:
        recipe = recipes.STRETCH if gamma is not None else recipes.DIVIDE_BY_SPREAD
        normed = normed.as_step(steps.NORMALIZED) if gamma is not None else normed
    if gamma is not None:
        normed = normed * gamma
    if beta is not None:
        normed = normed + beta
    how = ["sample variance"] * (sample and not rms)
    how += ["ε outside the root"] * outside
    name = "RMS norm" if rms else "norm"
    normed = normed.described(", ".join([f"{name}({x.name})", *how]))
    return normed.as_step(step.by(recipe), part, note=note)


def _mean_product(x: Matrix, y: Matrix) -> Matrix:
    """(n, 1): the mean of each row of x ∘ y."""
    return (row_dot(x, y) / len(x.columns)).in_cells


def _how(a: Architecture) -> str:
    """A remark on how the norm is computed, if not in the usual way."""
    sample, outside = a.norm_variance == "sample", a.norm_epsilon == "outside"
    sample = sample and a.norm_type == "layer"
    how = ["sample, n - 1"] * sample + ["epsilon outside the root"] * outside
    return f" ({'; '.join(how)})" if how else ""


def feed_forward(x: Matrix, a: Architecture, part: Part = WHOLE) -> Matrix:
    """Two layers of neurons, separately for each word: activation(x W_1 + b_1) W_2 + b_2. With a gate:
    (activation(x W_G + b_G) · (x W_1 + b_1)) W_2 + b_2.

    Source: Vaswani et al. (2017), 3.3; gates: Shazeer, "GLU Variants Improve Transformer" (2020).
    """
    hidden = a.hidden or 2 * len(x.columns)
    kind = a.activation
    activated = steps.ACTIVATED.by(recipes.ACTIVATIONS[kind.function])

    def inner(weights: Step, step: Step) -> Matrix:  # (n, hidden)
        w = a.weights.matrix(weights, part, x.columns, hidden)
        return projected(x, w, a.weights.row(steps.BIASES[weights], part, w.columns), step, part)

    if kind.gated:
        gate = inner(steps.W_G, steps.GATE)
        active = activation(gate, kind.function).as_step(activated, part)
        values = inner(steps.W_1, steps.HIDDEN)
        if len(active.columns) != len(values.columns):
            raise InputError(
                f"{part.name('W_G')} has {count(len(active.columns), 'column')}, but "
                f"{part.name('W_1')} has {len(values.columns)}. Each neuron needs a gate: give them "
                "the same number of columns."
            )
        active = replace(active * values, columns=values.columns).as_step(steps.GATED, part)
    else:
        active = activation(inner(steps.W_1, steps.HIDDEN), kind.function).as_step(activated, part)
    w_2 = a.weights.matrix(steps.W_2, part, active.columns, len(x.columns))
    b_2 = a.weights.row(steps.BIASES[steps.W_2], part, w_2.columns)
    return projected(active, w_2, b_2, steps.FEED_FORWARD, part)  # (n, d)


def network(x: Matrix, a: Architecture, part: Part = WHOLE) -> Matrix:
    """The feed-forward network (n, d) to (n, d); or the values it gives, if it does not become
    formulas."""
    there = None if a.live.network else a.weights.entered(steps.NETWORK_ENTERED, part)
    if there is not None:
        return there
    made = feed_forward(x, a, part)
    return made if a.live.network else enter(made, steps.NETWORK_ENTERED, part)


def _sublayer(x: Matrix, run: Sublayer, a: Architecture, part: Part, number: int) -> Matrix:
    """A sublayer with its skip connection and norm. Post: norm(x + run(x)). Pre: x + run(norm(x)).
    Without a skip connection: norm(run(x)). Dropout is of what `run` makes."""
    here = part.numbered(number)
    made = run(norm(x, a, here, "Norm before the step") if a.norm == "pre" else x)
    made = dropped(made, a.dropout, steps.RESIDUAL_MASK, steps.RESIDUAL, here)
    wide, needed = len(made.columns), len(x.columns)
    if a.skip and wide != needed:
        raise InputError(
            f"The attention gives {count(wide, 'column')}, but is added to {needed}. Give W_O, "
            f"{wide} x {needed}, or leave the sum out: --set skip=false."
        )
    total = (_beside(x, made, a) + made).as_step(steps.SKIP, here) if a.skip else made
    which = "Add and norm" if a.skip else "Norm after the step"
    return norm(total, a, here, which) if a.norm == "post" else total


def _beside(x: Matrix, made: Matrix, a: Architecture) -> Matrix:
    """The rows of x that stand beside those of a sublayer, which may be of some words only."""
    return x if len(x.rows) == len(made.rows) else a.live.of_words(x)


def attention(
    x: Matrix, memory: Matrix, a: Architecture, how: Attending | None, part: Part, heads: int = 0
) -> Matrix:
    """Multi-head attention of x (n, d) to memory (m, d); one head may do without W_O."""
    heads_here = heads or a.heads
    return multi_head_attention(
        x,
        memory,
        a.weights,
        heads_here,
        kv_heads=None if heads else a.kv_heads,
        attending=how,
        part=part,
        live=a.live,
        mixes=heads_here > 1 or a.weights.gives(steps.W_O, part),
    )


def _attention(
    x: Matrix, memory: Matrix, a: Architecture, how: Attending | None, part: Part, heads: int = 0
) -> Matrix:
    """Multi-head attention of x (n, d) to memory (m, d), which may be x; without any weights, Q = x and
    K = V = memory."""
    if (heads or a.heads) > 1 or a.projects:
        return attention(x, memory, a, how, part, heads)
    how = (how or Attending()).between(x.rows, memory.rows, part)
    q, k = how.prepared(x, part), how.prepared(memory, part)
    return scaled_dot_product_attention(a.live.of_words(q), k, memory, attending=how, part=part)


def encoder_layer(x: Matrix, a: Architecture, part: Part) -> Matrix:
    """(n, d) to (n, d): self-attention, then feed-forward. Source: Vaswani et al. (2017), 3.1."""

    def attend(y: Matrix) -> Matrix:
        if a.given is not None:
            return a.given(y, y.rows, a.attending, part, steps.ATTENTION)
        return _attention(y, y, a, a.attending, part)

    x = _sublayer(x, attend, a, part, 1)
    return _sublayer(x, lambda y: network(y, a, part), a, part, 2) if a.feed_forward else x


def decoder_layer(x: Matrix, memory: Matrix | None, a: Architecture, part: Part) -> Matrix:
    """(n, d) to (n, d): masked self-attention, attention to the encoder's output (m, d) if
    there is one, then feed-forward. Source: Vaswani et al. (2017), 3.1."""

    def attend(y: Matrix) -> Matrix:
        here = part if memory is None else part.within(steps.SELF)
        return _attention(y, y, a, a.causal, here)

    def cross(y: Matrix) -> Matrix:
        assert memory is not None
        here, how = part.within(steps.CROSS), a.crossing or a.attending
        return _attention(y, memory, a, how, here, a.cross_heads or 0)

    def think(y: Matrix) -> Matrix:
        return network(y, a, part)

    sublayers = [attend, *([cross] if memory is not None else []), *([think] if a.feed_forward else [])]
    for number, sublayer in enumerate(sublayers, 1):
        x = _sublayer(x, sublayer, a, part, number)
    return x


def encoder(x: Matrix, a: Architecture) -> Matrix:
    """All layers of the encoder, (n, d) to (n, d), after a norm of the embeddings if its weights are
    given."""
    stack = WHOLE.within(steps.ENCODER)
    if a.norm != "none" and a.weights.named(stack.numbered(1).name(steps.GAMMA.symbol)):
        x = norm(x, a, stack.numbered(1), "Norm of the embeddings")
    x = _layers(x, a.encoder_layers or a.layers, stack.in_layer, a, encoder_layer)
    return _last_norm(x, a, stack)


def decoder(x: Matrix, memory: Matrix | None, a: Architecture, part: Part = WHOLE) -> Matrix:
    """All layers of the decoder, (n, d) and the encoder's output (m, d) to (n, d)."""

    def place(number: int) -> Part:
        return part.within(steps.DECODER._replace(layer=number))

    def layer(y: Matrix, how: Architecture, here: Part) -> Matrix:
        return decoder_layer(y, memory, how, here)

    x = _layers(x, a.decoder_layers or a.layers, place, a, layer)
    return _last_norm(x, a, place(0))


def _layers(
    x: Matrix,
    count: int,
    place: Callable[[int], Part],
    a: Architecture,
    layer: Callable[[Matrix, Architecture, Part], Matrix],
) -> Matrix:
    """All layers of a stack, (n, d) to (n, d). What a layer gives that does not become formulas enters
    the next one as values.

    Args:
        place: returns the part of a layer; of the stack for 0.
    """
    for number in range(1, count + 1):
        if a.live.has(number):
            made = layer(x, a, place(number))
            if a.after_layer is not None and number < count:
                a.after_layer(made, place(number))
            if a.live.rows is None or number == count:
                x = made
                continue
        after = place(a.live.after(number, count))
        there = a.weights.entered(steps.ENTERED, after)
        if there is None:
            made = layer(x, replace(a, live=ALL), place(number))
            there = enter(a.live.of_words(made) if number == count else made, steps.ENTERED, after)
        x = there
    return x


def _last_norm(x: Matrix, a: Architecture, stack: Part) -> Matrix:
    """The norm after the last layer, with pre-norm or if its weights are given."""
    if a.norm == "pre" or (a.norm == "post" and a.weights.named(stack.name(steps.GAMMA.symbol))):
        return norm(x, a, stack, "Norm after the last layer")
    return x


class Predicting(NamedTuple):
    """The steps of a prediction of words: the logits, the probabilities, and the most probable word."""

    logits: Step
    probabilities: Step
    word: Step


NEXT_WORDS = Predicting(steps.LOGITS, steps.PROBABILITIES, steps.NEXT)
"""The words that come next."""


def next_words(
    x: Matrix,
    vocabulary: Matrix | None,
    w_u: Matrix | None = None,
    b_u: Matrix | None = None,
    others: Matrix | None = None,
    part: Part = WHOLE,
    predicting: Predicting = NEXT_WORDS,
) -> tuple[Matrix, Matrix, Matrix]:
    """The probability that each word of a vocabulary comes next, after each word of a sentence.

    Args:
        x: output of a decoder, (n, d); with other steps for `predicting`, that of an encoder.
        vocabulary: an embedding for each of v words, (v, d), used as the last weights without `w_u`.
        w_u: the last weights, (d, v).
        b_u: bias row to add, (1, v).
        others: the logit of all other words together, (n, 1), if these are not all.
        part: the part of the model that the steps belong to.
        predicting: the steps of the results.

    Returns:
        The logits, (n, v); the probabilities, (n, v), each row of which sums to 1; and the most
        probable words, (n, 1).

    Source: Vaswani et al. (2017), 3.4, with the embeddings as the last weights, or with others.
    """
    step, bias = predicting.logits, recipes.MATCH_AND_ADD
    if w_u is None:
        assert vocabulary is not None
        w_u = vocabulary.T
    else:
        step, bias = predicting.logits.by(recipes.PROJECT), recipes.PROJECT_AND_ADD
    product = x @ w_u
    if b_u is not None:
        product, step = product + b_u, step.by(bias)
    if others is not None:
        product = concat(product, others)
    logits = product.as_step(step, part)
    probabilities = softmax(logits).as_step(predicting.probabilities, part)
    return logits, probabilities, best(probabilities).as_step(predicting.word, part)


def architecture_of(run: Run) -> Architecture:
    """The architecture that the settings of a run tell."""
    s, option_of = run.settings, run.scoring.option_of
    cross = s.model in (Model.decoder, Model.encoder_decoder)
    return Architecture(
        weights=run.weights,
        epsilon=option_of("epsilon", s.epsilon, "it keeps a norm from dividing by 0."),
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
        dropout=run.scoring.residual,
        activation=s.activation,
        projects=run.seed is not None or any(map(_PROJECTS.search, run.tables.weights)),
        live=run.live,
        after_layer=None if run.live.whole else lambda y, _: run.after_layers.append(y),
        attending=run.attending(
            causal=s.causal and s.body is Model.encoder, switchable=s.body is Model.encoder
        ),
        given=partial(with_given, run) if run.given else None,
        crossing=run.scoring.attending(causal=False) if cross else None,
        causal=run.attending(causal=True, switchable=True),
    )


def build_decoder(run: Run, _: str, x: Matrix) -> tuple[Matrix, ...]:
    """The words' vectors (n, d) of a decoder."""
    return 2 * (decoder(x, run.attended, run.once(architecture_of)),)


def build_norm(run: Run, _: str, x: Matrix) -> tuple[Matrix, ...]:
    """Vectors (n, d), normalized."""
    return 2 * (norm_alone(x, run.once(architecture_of)),)


def build_network(run: Run, _: str, x: Matrix) -> tuple[Matrix, ...]:
    """What a feed-forward network makes of vectors (n, d)."""
    return 2 * (network(x, run.once(architecture_of)),)
