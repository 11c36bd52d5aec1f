"""The transformer as the paper has it: layers of attention and feed-forward, each with a skip
connection and a norm. Knows nothing of files or sheets.

Shapes: n words of a sentence, m words of another; d the model's width.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3; pre-norm as in Xiong et al., "On
Layer Normalization in the Transformer Architecture" (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from attn_xl.graph.functions import activation, best, row_mean, row_variance, softmax, sqrt
from attn_xl.graph.matrix import Matrix

from . import notes
from .attention import Attending, Dropout, Weights, dropped
from .multi_head import multi_head_attention

Sublayer = Callable[[Matrix], Matrix]


@dataclass(frozen=True, eq=False, repr=False)
class Architecture:
    """What all layers have in common.

    Attributes:
        weights: where the layers get what was learned.
        heads, layers: how many of each.
        encoder_layers, decoder_layers: how many layers each has; `layers` if None.
        hidden: how wide the feed-forward network is where weights are made up.
        norm: "post" (the paper's): norm after the sum; "pre": norm before each sublayer.
        norm_variance: "population", divided by n, or "sample", by n − 1.
        norm_epsilon: where epsilon is added: "inside" the root, to the variance, or "outside".
        activation: "relu", "gelu" or "gelu-tanh".
        epsilon: the scalar that keeps a norm from dividing by 0.
        attending, causal: how scores become weights, and the same with later words hidden.
        dropout: drops some numbers of each sublayer's output, before it is added to what went in.
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


def layer_norm(x: Matrix, a: Architecture, name: str, which: str) -> Matrix:
    """(x − mean) / √(variance + ε) · γ + β, each row by itself.

    The variance is that of the population, or of a sample; ε may stand outside the root:
    (x − mean) / (√variance + ε) · γ + β.

    Source: Ba, Kiros, Hinton, "Layer Normalization" (2016).
    """
    gamma = a.weights.row(name.replace("Norm", "gamma"), x.columns)
    beta = a.weights.row(name.replace("Norm", "beta"), x.columns)
    return _normed(x, a, gamma, beta).named(name, notes.NORM.format(which=which, how=_how(a)))


def norm_alone(x: Matrix, a: Architecture) -> Matrix:
    """The norm of a table (n, d), with gamma and beta where they are given. Source: as `layer_norm`."""
    if "gamma" in a.weights or "beta" in a.weights:
        return layer_norm(x, a, "Norm", "Norm")
    return _normed(x, a, None, None).named("Norm", notes.NORM_ALONE.format(how=_how(a)))


def _normed(x: Matrix, a: Architecture, gamma: Matrix | None, beta: Matrix | None) -> Matrix:
    sample, outside = a.norm_variance == "sample", a.norm_epsilon == "outside"
    said = "the sample variance of the row" if sample else "the variance of the row"
    mean = row_mean(x).named("Mean", "the mean of the row", helper=True)  # (n, 1)
    variance = row_variance(x, sample=sample).named("Variance", said, helper=True)  # (n, 1)
    spread = sqrt(variance) + a.epsilon if outside else sqrt(variance + a.epsilon)
    normed = (x - mean) / spread  # (n, d)
    if gamma is not None:
        normed = normed * gamma
    if beta is not None:
        normed = normed + beta
    how = ["sample variance"] * sample + ["ε outside the root"] * outside
    return normed.described(f"norm({x.name}){', ' if how else ''}{', '.join(how)}")


def _how(a: Architecture) -> str:
    """In which way a norm is computed, where that is not the usual one."""
    sample, outside = a.norm_variance == "sample", a.norm_epsilon == "outside"
    how = ["a sample's, by n − 1"] * sample + ["epsilon outside the root"] * outside
    return f" ({'; '.join(how)})" if how else ""


def feed_forward(x: Matrix, a: Architecture, at: str = "") -> Matrix:
    """Two layers of neurons, each word by itself: activation(x W_1 + b_1) W_2 + b_2.

    Source: Vaswani et al. (2017), 3.3.
    """
    w_1 = a.weights.matrix(f"{at}W_1", x.columns, a.hidden or 2 * len(x.columns))
    b_1 = a.weights.row(f"{at}b_1", w_1.columns)
    inner = x @ w_1 if b_1 is None else x @ w_1 + b_1
    inner = inner.named(f"{at}Hidden", notes.HIDDEN)
    active = activation(inner, a.activation).named(f"{at}Activated", notes.ACTIVATED)
    w_2 = a.weights.matrix(f"{at}W_2", active.columns, len(x.columns))
    b_2 = a.weights.row(f"{at}b_2", w_2.columns)
    outer = active @ w_2 if b_2 is None else active @ w_2 + b_2
    return outer.named(f"{at}FeedForward", notes.FEED_FORWARD)


def _sublayer(x: Matrix, run: Sublayer, a: Architecture, at: str, number: int) -> Matrix:
    """A sublayer with its skip connection and norm. Post: norm(x + run(x)). Pre: x + run(norm(x)).
    Dropout is of what `run` makes."""
    name = f"{at}Norm_{number}"
    made = run(layer_norm(x, a, name, "Norm before the step") if a.norm == "pre" else x)
    made = dropped(made, a.dropout, f"{at}ResidualMask_{number}", f"{at}Residual_{number}")
    total = (x + made).named(f"{at}Sum_{number}", notes.SKIP)
    return total if a.norm == "pre" else layer_norm(total, a, name, "Add and norm")


def encoder_layer(x: Matrix, a: Architecture, at: str) -> Matrix:
    """(n, d) to (n, d): self-attention, then feed-forward. Source: Vaswani et al. (2017), 3.1."""

    def attend(y: Matrix) -> Matrix:
        return multi_head_attention(y, y, a.weights, a.heads, attending=a.attending, at=at)

    x = _sublayer(x, attend, a, at, 1)
    return _sublayer(x, lambda y: feed_forward(y, a, at), a, at, 2)


def decoder_layer(x: Matrix, memory: Matrix | None, a: Architecture, at: str) -> Matrix:
    """(n, d) to (n, d): masked self-attention, attention to the encoder's output (m, d) if
    there is one, then feed-forward. Source: Vaswani et al. (2017), 3.1."""

    def attend(y: Matrix) -> Matrix:
        scope = f"{at}Self." if memory is not None else at
        return multi_head_attention(y, y, a.weights, a.heads, attending=a.causal, at=scope)

    def cross(y: Matrix) -> Matrix:
        assert memory is not None
        return multi_head_attention(
            y, memory, a.weights, a.heads, attending=a.attending, at=f"{at}Cross."
        )

    x = _sublayer(x, attend, a, at, 1)
    if memory is not None:
        x = _sublayer(x, cross, a, at, 2)
    return _sublayer(x, lambda y: feed_forward(y, a, at), a, at, 2 if memory is None else 3)


def encoder(x: Matrix, a: Architecture) -> Matrix:
    """All layers of the encoder, (n, d) to (n, d)."""
    for layer in range(a.encoder_layers or a.layers):
        x = encoder_layer(x, a, f"Enc{layer + 1}.")
    return _last_norm(x, a, "Enc")


def decoder(x: Matrix, memory: Matrix | None, a: Architecture) -> Matrix:
    """All layers of the decoder, (n, d) and the encoder's output (m, d) to (n, d)."""
    for layer in range(a.decoder_layers or a.layers):
        x = decoder_layer(x, memory, a, f"Dec{layer + 1}.")
    return _last_norm(x, a, "Dec")


def _last_norm(x: Matrix, a: Architecture, stack: str) -> Matrix:
    """A norm after the last layer: with pre-norm, and wherever its weights are given."""
    if a.norm == "pre" or f"{stack}.gamma" in a.weights:
        return layer_norm(x, a, f"{stack}.Norm", "Norm after the last layer")
    return x


def transformer(source: Matrix, target: Matrix, a: Architecture) -> Matrix:
    """Encoder and decoder: source (m, d) and target (n, d) to (n, d)."""
    return decoder(target, encoder(source, a), a)


def next_words(
    x: Matrix, vocabulary: Matrix | None, w_u: Matrix | None = None, b_u: Matrix | None = None
) -> tuple[Matrix, Matrix]:
    """The probability of each word of a vocabulary to come next, after each word of a sentence.

    Args:
        x: what a decoder made, (n, d).
        vocabulary: an embedding for each of v words, (v, d), which are the last weights where `w_u` is
            not given.
        w_u: the last weights, (d, v).
        b_u: a row to add, (1, v).

    Returns:
        The probabilities, (n, v), each row of which sums to 1; and the most probable words, (n, 1).

    Source: Vaswani et al. (2017), 3.4, with the embeddings as the last weights, or with others.
    """
    if w_u is None:
        assert vocabulary is not None
        w_u = vocabulary.T
    product = x @ w_u
    logits = (product if b_u is None else product + b_u).named("Logits", notes.LOGITS)
    probabilities = softmax(logits).named("Probabilities", notes.PROBABILITIES, role="attention")
    return probabilities, best(probabilities).named("Next", notes.NEXT)
