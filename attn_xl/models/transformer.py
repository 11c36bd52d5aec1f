"""The transformer as in the paper: layers of attention and feed-forward, each with a skip connection
and a norm.

Shapes: n words of a sentence, m words of another; d the model's width.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3; pre-norm as in Xiong et al., "On
Layer Normalization in the Transformer Architecture" (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from attn_xl.graph.functions import activation, best, row_dot, row_mean, row_variance, sqrt
from attn_xl.graph.matrix import Matrix
from attn_xl.graph.step import WHOLE, Part

from . import recipes, steps
from .attention import Attending, Dropout, Weights, dropped, projected
from .multi_head import multi_head_attention
from .softmax import softmax

Sublayer = Callable[[Matrix], Matrix]


@dataclass(frozen=True, eq=False, repr=False)
class Architecture:
    """The options that all layers share.

    Attributes:
        weights: source of the learned weights.
        heads, layers: the number of each.
        encoder_layers, decoder_layers: the number of layers of each stack; `layers` if None.
        hidden: width of the feed-forward network if its weights are generated.
        norm: "post" (the paper's): after the sum; "pre": before each sublayer.
        norm_variance: "population", divided by n, or "sample", by n − 1.
        norm_epsilon: where to add epsilon: "inside" the root, to the variance, or "outside".
        activation: "relu", "gelu" or "gelu-tanh".
        epsilon: the scalar that keeps a norm from dividing by 0.
        attending: how scores become weights.
        causal: the same, with later words hidden.
        dropout: sets some numbers of each sublayer's output to 0, before the skip connection.
    """

    weights: Weights
    epsilon: Matrix
    heads: int = 1
    layers: int = 1
    encoder_layers: int | None = None
    decoder_layers: int | None = None
    hidden: int = 0
    norm: Literal["post", "pre"] = "post"
    norm_variance: Literal["population", "sample"] = "population"
    norm_epsilon: Literal["inside", "outside"] = "inside"
    activation: str = "relu"
    attending: Attending | None = None
    causal: Attending | None = None
    dropout: Dropout | None = None


def layer_norm(x: Matrix, a: Architecture, part: Part, which: str) -> Matrix:
    """(x − mean) / √(variance + ε) · γ + β, separately for each row.

    The variance is that of the population, or of a sample; ε may stand outside the root:
    (x − mean) / (√variance + ε) · γ + β.

    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016). Its gradient, with y the normed numbers
    before γ and β and g = dNorm · γ: (g − mean(g) − y · mean(g · y)) / √(variance + ε).
    """
    gamma = a.weights.row(steps.GAMMA, part, x.columns)
    beta = a.weights.row(steps.BETA, part, x.columns)
    note = steps.NORM.note.format(which=which, how=_how(a))
    return _normed(x, a, gamma, beta, part, note)


def norm_alone(x: Matrix, a: Architecture) -> Matrix:
    """The norm of a table (n, d), with gamma and beta if given. Source: as `layer_norm`."""
    if steps.GAMMA.symbol in a.weights or steps.BETA.symbol in a.weights:
        return layer_norm(x, a, WHOLE, "Norm")
    return _normed(x, a, None, None, WHOLE, steps.NORM_ALONE.note.format(how=_how(a)))


def _normed(
    x: Matrix, a: Architecture, gamma: Matrix | None, beta: Matrix | None, part: Part, note: str
) -> Matrix:
    sample, outside = a.norm_variance == "sample", a.norm_epsilon == "outside"
    mean = row_mean(x).as_step(steps.MEAN)  # (n, 1)
    variance = row_variance(x, sample=sample)  # (n, 1)
    variance = variance.as_step(steps.SAMPLE_VARIANCE if sample else steps.VARIANCE)
    spread = sqrt(variance) + a.epsilon if outside else sqrt(variance + a.epsilon)
    normed = (x - mean) / spread  # (n, d)
    if not sample and not outside:
        normed = normed.differentiated(
            {
                x: lambda y, d: (d - row_mean(d).in_cells - y * _mean_product(d, y)) / spread,
                a.epsilon: lambda y, d: d * y / spread / spread / -2,
            }
        )
    if gamma is not None:
        normed = normed * gamma
    if beta is not None:
        normed = normed + beta
    how = ["sample variance"] * sample + ["ε outside the root"] * outside
    normed = normed.described(f"norm({x.name}){', ' if how else ''}{', '.join(how)}")
    step = steps.NORM.by(recipes.NORMS[outside, gamma is not None and beta is not None])
    return normed.as_step(step, part, note=note)


def _mean_product(x: Matrix, y: Matrix) -> Matrix:
    """(n, 1): the mean of each row of x ∘ y."""
    return (row_dot(x, y) / len(x.columns)).in_cells


def _how(a: Architecture) -> str:
    """A remark on how the norm is computed, if not in the usual way."""
    sample, outside = a.norm_variance == "sample", a.norm_epsilon == "outside"
    how = ["sample, n − 1"] * sample + ["epsilon outside the root"] * outside
    return f" ({'; '.join(how)})" if how else ""


def feed_forward(x: Matrix, a: Architecture, part: Part = WHOLE) -> Matrix:
    """Two layers of neurons, separately for each word: activation(x W_1 + b_1) W_2 + b_2.

    Source: Vaswani et al. (2017), 3.3.
    """
    w_1 = a.weights.matrix(steps.W_1, part, x.columns, a.hidden or 2 * len(x.columns))
    b_1 = a.weights.row(steps.BIASES[steps.W_1], part, w_1.columns)
    inner = projected(x, w_1, b_1, steps.HIDDEN, part)  # (n, hidden)
    activated = steps.ACTIVATED.by(recipes.ACTIVATIONS[a.activation])
    active = activation(inner, a.activation).as_step(activated, part)
    w_2 = a.weights.matrix(steps.W_2, part, active.columns, len(x.columns))
    b_2 = a.weights.row(steps.BIASES[steps.W_2], part, w_2.columns)
    return projected(active, w_2, b_2, steps.FEED_FORWARD, part)  # (n, d)


def _sublayer(x: Matrix, run: Sublayer, a: Architecture, part: Part, number: int) -> Matrix:
    """A sublayer with its skip connection and norm. Post: norm(x + run(x)). Pre: x + run(norm(x)).
    Dropout is of what `run` makes."""
    here = part.numbered(number)
    made = run(layer_norm(x, a, here, "Norm before the step") if a.norm == "pre" else x)
    made = dropped(made, a.dropout, steps.RESIDUAL_MASK, steps.RESIDUAL, here)
    total = (x + made).as_step(steps.SKIP, here)
    return total if a.norm == "pre" else layer_norm(total, a, here, "Add and norm")


def encoder_layer(x: Matrix, a: Architecture, part: Part) -> Matrix:
    """(n, d) to (n, d): self-attention, then feed-forward. Source: Vaswani et al. (2017), 3.1."""

    def attend(y: Matrix) -> Matrix:
        return multi_head_attention(y, y, a.weights, a.heads, attending=a.attending, part=part)

    x = _sublayer(x, attend, a, part, 1)
    return _sublayer(x, lambda y: feed_forward(y, a, part), a, part, 2)


def decoder_layer(x: Matrix, memory: Matrix | None, a: Architecture, part: Part) -> Matrix:
    """(n, d) to (n, d): masked self-attention, attention to the encoder's output (m, d) if
    there is one, then feed-forward. Source: Vaswani et al. (2017), 3.1."""

    def attend(y: Matrix) -> Matrix:
        here = part if memory is None else part.within(steps.SELF)
        return multi_head_attention(y, y, a.weights, a.heads, attending=a.causal, part=here)

    def cross(y: Matrix) -> Matrix:
        assert memory is not None
        here = part.within(steps.CROSS)
        return multi_head_attention(y, memory, a.weights, a.heads, attending=a.attending, part=here)

    x = _sublayer(x, attend, a, part, 1)
    if memory is not None:
        x = _sublayer(x, cross, a, part, 2)
    return _sublayer(x, lambda y: feed_forward(y, a, part), a, part, 2 if memory is None else 3)


def encoder(x: Matrix, a: Architecture) -> Matrix:
    """All layers of the encoder, (n, d) to (n, d)."""
    for layer in range(a.encoder_layers or a.layers):
        x = encoder_layer(x, a, WHOLE.within(steps.ENCODER._replace(layer=layer + 1)))
    return _last_norm(x, a, WHOLE.within(steps.ENCODER))


def decoder(x: Matrix, memory: Matrix | None, a: Architecture) -> Matrix:
    """All layers of the decoder, (n, d) and the encoder's output (m, d) to (n, d)."""
    for layer in range(a.decoder_layers or a.layers):
        x = decoder_layer(x, memory, a, WHOLE.within(steps.DECODER._replace(layer=layer + 1)))
    return _last_norm(x, a, WHOLE.within(steps.DECODER))


def _last_norm(x: Matrix, a: Architecture, stack: Part) -> Matrix:
    """The norm after the last layer, with pre-norm or if its weights are given."""
    if a.norm == "pre" or stack.name(steps.GAMMA.symbol) in a.weights:
        return layer_norm(x, a, stack, "Norm after the last layer")
    return x


def transformer(source: Matrix, target: Matrix, a: Architecture) -> Matrix:
    """Encoder and decoder: from source (m, d) and target (n, d) to (n, d)."""
    return decoder(target, encoder(source, a), a)


def next_words(
    x: Matrix, vocabulary: Matrix | None, w_u: Matrix | None = None, b_u: Matrix | None = None
) -> tuple[Matrix, Matrix]:
    """The probability that each word of a vocabulary comes next, after each word of a sentence.

    Args:
        x: output of a decoder, (n, d).
        vocabulary: an embedding for each of v words, (v, d), used as the last weights without `w_u`.
        w_u: the last weights, (d, v).
        b_u: bias row to add, (1, v).

    Returns:
        The probabilities, (n, v), each row of which sums to 1; and the most probable words, (n, 1).

    Source: Vaswani et al. (2017), 3.4, with the embeddings as the last weights, or with others.
    """
    step, bias = steps.LOGITS, recipes.MATCH_AND_ADD
    if w_u is None:
        assert vocabulary is not None
        w_u = vocabulary.T
    else:
        step, bias = steps.LOGITS.by(recipes.PROJECT), recipes.PROJECT_AND_ADD
    product = x @ w_u
    if b_u is not None:
        product, step = product + b_u, step.by(bias)
    logits = product.as_step(step)
    probabilities = softmax(logits).as_step(steps.PROBABILITIES)
    return probabilities, best(probabilities).as_step(steps.NEXT)
