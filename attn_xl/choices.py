"""The choices that are one of several, and which models have what in them. Knows nothing of files or
matrices."""

from __future__ import annotations

from enum import Enum


class Formulas(str, Enum):
    """How a computed cell is written."""

    cell = "cell"
    """a live formula in every cell, with its value"""
    array = "array"
    """one array formula for a matrix, with the names of the matrices in it"""
    dynamic = "dynamic"
    """the same as a formula that spills, of Excel 365"""
    none = "none"
    """the value alone"""


class Arrangement(str, Enum):
    """Where the matrices stand."""

    sheets = "sheets"
    """one matrix, one sheet"""
    canvas = "canvas"
    """all on one sheet, as one draws them"""


class Model(str, Enum):
    """What is computed."""

    attention = "attention"
    encoder = "encoder"
    decoder = "decoder"
    encoder_decoder = "encoder-decoder"
    decoder_only = "decoder-only"
    softmax = "softmax"
    norm = "norm"
    feed_forward = "feed-forward"
    positions = "positions"
    similarity = "similarity"

    def __str__(self) -> str:
        return self.value


ATTENTION = (Model.attention, Model.encoder, Model.decoder, Model.encoder_decoder, Model.decoder_only)
"""The models with attention in them."""
STACKS = ATTENTION[1:]
"""The models made of layers."""
BLOCKS = (Model.softmax, Model.norm, Model.feed_forward, Model.positions)
"""A single step, computed by itself."""
ALWAYS_CAUSAL = (Model.decoder, Model.encoder_decoder, Model.decoder_only)
"""The models whose words never look at later ones."""


class Norm(str, Enum):
    """Where a layer's norm stands."""

    post = "post"
    pre = "pre"


class NormVariance(str, Enum):
    """What the sum of squared distances from the mean is divided by in a norm."""

    population = "population"
    """by how many numbers there are"""
    sample = "sample"
    """by one less"""


class NormEpsilon(str, Enum):
    """Where a norm adds epsilon."""

    inside = "inside"
    """under the root: √(variance + ε)"""
    outside = "outside"
    """to the root: √variance + ε"""


class Activation(str, Enum):
    """The function of the hidden layer."""

    relu = "relu"
    gelu = "gelu"
    gelu_tanh = "gelu-tanh"


class Normalize(str, Enum):
    """How scores become weights that sum to 1."""

    softmax = "softmax"
    sum = "sum"


class Positions(str, Enum):
    """What tells the model where a word stands."""

    none = "none"
    sinusoidal = "sinusoidal"
