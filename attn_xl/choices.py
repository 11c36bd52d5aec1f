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
    layers = "layers"
    """one layer, one sheet, as one draws it"""
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

    @property
    def always_causal(self) -> bool:
        """Whether it hides later words whatever is chosen."""
        return self.kind in (Model.decoder, Model.encoder_decoder, Model.decoder_only)

    @property
    def kind(self) -> Model:
        """The model whose options it takes: itself, unless it was added."""
        return _KINDS.get(self, self)

    @classmethod
    def add(cls, name: str, like: Model) -> Model:
        """A model besides these, which takes the options of another one."""
        model = str.__new__(cls, name)
        model._name_ = model._value_ = name
        _ADDED[name], _KINDS[model] = model, like.kind
        return model

    @classmethod
    def _missing_(cls, value: object) -> Model | None:
        return _ADDED.get(str(value))


_ADDED: dict[str, Model] = {}
_KINDS: dict[Model, Model] = {}


ATTENTION = (Model.attention, Model.encoder, Model.decoder, Model.encoder_decoder, Model.decoder_only)
"""The models with attention in them."""
STACKS = ATTENTION[1:]
"""The models made of layers."""
BLOCKS = (Model.softmax, Model.norm, Model.feed_forward, Model.positions)
"""A single step, computed by itself."""
"""The models whose words never look at later ones."""


class Engine(str, Enum):
    """What recalculates a workbook that is checked."""

    ironcalc = "ironcalc"
    libreoffice = "libreoffice"


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


class Switch(str, Enum):
    """A switch that a workbook has only if it is asked for."""

    causal = "causal"


class Positions(str, Enum):
    """What tells the model where a word stands."""

    none = "none"
    sinusoidal = "sinusoidal"
