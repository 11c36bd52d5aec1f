"""Enumerations of the settings, and groups of models with common properties."""

from __future__ import annotations

from enum import Enum


class Formulas(str, Enum):
    """The content of computed cells."""

    cell = "cell"
    """a live formula in every cell, with its value"""
    array = "array"
    """one array formula per matrix, which refers to other matrices by name"""
    dynamic = "dynamic"
    """the same as a formula that spills, for Excel 365"""
    none = "none"
    """values only"""


class Arrangement(str, Enum):
    """How matrices are arranged on sheets."""

    sheets = "sheets"
    """one sheet per matrix"""
    layers = "layers"
    """one sheet per layer, drawn as a diagram"""
    canvas = "canvas"
    """all matrices on one sheet, drawn as a diagram"""


class Model(str, Enum):
    """The model to compute."""

    attention = "attention"
    encoder = "encoder"
    decoder = "decoder"
    encoder_decoder = "encoder-decoder"
    decoder_only = "decoder-only"
    softmax = "softmax"
    norm = "norm"
    feed_forward = "feed-forward"
    positions = "positions"
    classify = "classify"
    masked = "masked-language-model"
    similarity = "similarity"
    spread = "spread"
    cnn = "cnn"
    rnn = "rnn"
    lstm = "lstm"
    gru = "gru"

    def __str__(self) -> str:
        return self.value

    @property
    def always_causal(self) -> bool:
        """Whether the model hides later words regardless of the settings."""
        return self.kind in (Model.decoder, Model.encoder_decoder, Model.decoder_only)

    @property
    def kind(self) -> Model:
        """The model whose options apply: the model itself, unless it was registered with `add`."""
        return _KINDS.get(self, self)

    @classmethod
    def add(cls, name: str, like: Model) -> Model:
        """Register another model, which takes the options of the model `like`."""
        model = str.__new__(cls, name)
        model._name_ = model._value_ = name
        _ADDED[name], _KINDS[model] = model, like.kind
        return model

    @classmethod
    def _missing_(cls, value: object) -> Model | None:
        return Model.decoder_only if value == "language-model" else _ADDED.get(str(value))


_ADDED: dict[str, Model] = {}
_KINDS: dict[Model, Model] = {}


ATTENTION = (
    Model.attention,
    Model.encoder,
    Model.decoder,
    Model.encoder_decoder,
    Model.decoder_only,
    Model.classify,
    Model.masked,
)
"""Models that contain attention."""
STACKS = ATTENTION[1:]
"""Models made of layers."""
RECURRENT = (Model.rnn, Model.lstm, Model.gru)
"""Models that read word after word."""
LANGUAGE = (Model.decoder_only, Model.masked)
"""Models that predict words."""
BLOCKS = (Model.softmax, Model.norm, Model.feed_forward, Model.positions, Model.spread)
"""Models of a single step."""


class Backbone(str, Enum):
    """The model that a classifier reads a sentence with."""

    attention = "attention"
    encoder = "encoder"
    rnn = "rnn"
    gru = "gru"  # not lstm, whose W_c has the name of a classifier's W_C


class Pooling(str, Enum):
    """How the vectors of all words become one for the sentence."""

    mean = "mean"
    first = "first"
    last = "last"
    pooler = "pooler"
    """the first word's through a layer of its own: tanh(x W_pool + b_pool)"""


class Optimizer(str, Enum):
    """How learning turns gradients into new weights."""

    sgd = "sgd"
    """the weights minus rate · gradient"""
    momentum = "momentum"
    """the same with a running sum of gradients"""
    adam = "adam"
    adamw = "adamw"
    """Adam that also shrinks the weights (weight decay)"""

    def __str__(self) -> str:
        return self.value


class Norm(str, Enum):
    """The position of the norm in a layer: after each sublayer, before it, or nowhere."""

    post = "post"
    pre = "pre"
    none = "none"


class NormVariance(str, Enum):
    """The divisor of the variance in a norm."""

    population = "population"
    """n, the number of values"""
    sample = "sample"
    """n - 1"""


class NormEpsilon(str, Enum):
    """Where a norm adds epsilon."""

    inside = "inside"
    """to the variance: √(variance + ε)"""
    outside = "outside"
    """to the standard deviation: √variance + ε"""


class NormType(str, Enum):
    """What a norm does with a row."""

    layer = "layer"
    """subtract its mean and divide by its standard deviation"""
    rms = "rms"
    """divide by its root mean square"""


class RotaryPairs(str, Enum):
    """Which two dimensions rotary positions turn together."""

    half = "half"
    """the first with the first of the second half"""
    neighbours = "neighbours"
    """the first with the second"""


class Activation(str, Enum):
    """The activation function of the feed-forward network; of its gate, if it has one."""

    relu = "relu"
    gelu = "gelu"
    gelu_tanh = "gelu-tanh"
    silu = "silu"
    swiglu = "swiglu"
    geglu = "geglu"
    geglu_tanh = "geglu-tanh"

    @property
    def gated(self) -> bool:
        """Whether the hidden layer is multiplied by a gate."""
        return "glu" in self.value

    @property
    def function(self) -> str:
        """The function of a single number."""
        gates = {"swiglu": "silu", "geglu": "gelu", "geglu-tanh": "gelu-tanh"}
        return gates.get(self.value, self.value)


class Transform(str, Enum):
    """The activation function before the words of a masked language model."""

    relu = "relu"
    gelu = "gelu"
    gelu_tanh = "gelu-tanh"
    silu = "silu"


class Normalize(str, Enum):
    """How scores are turned into weights that sum to 1."""

    softmax = "softmax"
    sum = "sum"


class Nonlinearity(str, Enum):
    """The function of a plain recurrent network."""

    tanh = "tanh"
    relu = "relu"


class Switch(str, Enum):
    """Switches that a workbook contains only on request."""

    causal = "causal"


class Positions(str, Enum):
    """The positional encoding."""

    none = "none"
    sinusoidal = "sinusoidal"
    learned = "learned"
    rotary = "rotary"
    alibi = "alibi"
