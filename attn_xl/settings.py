"""The settings of a run, immutable and validated on creation, and the choices that they take.

The `metadata` of each field describes it: the command line builds its options from the fields, and the
`Settings` sheet of a workbook may set them by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from .errors import CallError, nearest


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
    max = "max"
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


class ResetGate(str, Enum):
    """Where the reset gate of a GRU multiplies: the state above, or its product with U_n."""

    before = "before"
    after = "after"


class UpdateGate(str, Enum):
    """What the update gate of a GRU is the share of: the state above, or the new one."""

    old = "old"
    new = "new"


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


NORMED = ("norm=post", "norm=pre")
"""What the choices of a norm need: that there is one."""
IN_ATTENTION = (Positions.learned, Positions.rotary, Positions.alibi)
"""Positions for models with attention only."""
OVERVIEW, OPTIONS, COMPARE, CANVAS, BATCH = "Overview", "Options", "Compare", "Canvas", "Batch"
CURVES = "Loss"
"""Names of the shared sheets: the cells a reader changes, the settings that formulas refer to, the
comparison of sentences, the drawing of all matrices, the losses of several sentences, and the curves
of learning."""
LABELS = "Labels"
"""Name of the sheet of an input with the right answers: a sentence and its class or words."""
SETTINGS = "Settings"
INFLUENCES = "Influences"
"""Name of the settings sheet: optional in an input; in a written workbook it holds the record."""
VOCABULARIES = re.compile(r"all|used|top:[1-9]\d{0,4}")


_AS_VALUES = "live_layers", "live_heads", "live_rows", "live_network", "vocabulary"
"""Settings by which some of the model enters as values."""
_OF_SCORES = (
    "heads", "heads_as_sheets", "padding", "causal", "normalize", "max", "scale", "temperature",
    "switches",
)  # fmt: skip
"""Settings of the scores and of the heads that compute them."""


class Bounds(NamedTuple):
    """The numbers that a setting takes: from `low` or above it, to `high` or below it."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False

    def holds(self, value: float) -> bool:
        """Whether a number is within them; NaN is not."""
        above = self.low < value if self.open_low else self.low <= value
        return above and (value < self.high if self.open_high else value <= self.high)

    def __str__(self) -> str:
        low = f"above {self.low:g}" if self.open_low else f"of at least {self.low:g}"
        if self.high == INF:
            return low
        if self.open_high:
            return f"{low} and below {self.high:g}"
        return f"from {self.low:g} to {self.high:,.0f}"


INF = float("inf")
COUNT, SHARE, BETWEEN = Bounds(1, 1000), Bounds(0, 1, open_high=True), Bounds(0, 1, True, True)
POSITIVE = Bounds(0, INF, True, True)
SEED = Bounds(0, INF)


def _choice(
    default: Any,
    help: str,
    kind: type | None = None,
    models: tuple[Model, ...] = tuple(Model),
    needs: tuple[str, ...] = (),
    cell: str = "",
    within: Bounds | None = None,
) -> Any:
    """A field of `Settings`.

    Args:
        default, help, kind: the default value, the help text and the type of the option.
        models: the models that the setting applies to.
        needs: other settings (`dropout`), perhaps with a value (`norm=pre`); without one of them the
            setting has no effect.
        cell: the name of the workbook cell that holds the setting, or "".
        within: the bounds of a number.
    """
    about = {
        "help": help,
        "kind": kind or type(default),
        "models": models,
        "needs": needs,
        "cell": cell,
        "within": within,
    }
    return field(default=default, metadata=about)


_ADAM = (Optimizer.adam, Optimizer.adamw)
READ_BY = {
    "momentum": (Optimizer.momentum,),
    "beta1": _ADAM,
    "beta2": _ADAM,
    "adam_epsilon": _ADAM,
    "decay": (Optimizer.adamw,),
}
"""The optimizers that read a setting, where not all do."""
MOST_STEPS = 1_000_000
LEARNING = (*ATTENTION, Model.softmax, Model.norm, Model.feed_forward, Model.cnn, *RECURRENT)
"""Models with a loss."""


@dataclass(frozen=True, repr=False)
class Settings:
    """What to compute and how to show it; see the help of each field. Values of an enumeration may be
    given by name: `Settings(model="encoder")`.

    Raises:
        CallError: for an unknown or invalid value.
    """

    model: Model = _choice(Model.attention, "The model to compute.")
    heads: int | None = _choice(None, "Number of heads.", int, models=ATTENTION, within=COUNT)
    kv_heads: int | None = _choice(
        None,
        "Number of heads of keys and values, each shared by a group of heads (grouped-query "
        "attention); 1 for multi-query attention.",
        int,
        models=ATTENTION,
        needs=("heads",),
        within=COUNT,
    )
    cross_heads: int | None = _choice(
        None,
        "Number of heads of the attention to the encoder's output (cross-attention), if not --heads.",
        int,
        models=(Model.decoder, Model.encoder_decoder),
        within=COUNT,
    )
    heads_as_sheets: bool = _choice(
        False,
        "Give each head its own sheets for its columns of W_Q, W_K and W_V, instead of referring to "
        "the columns of the whole matrices.",
        models=ATTENTION,
    )
    backbone: Backbone = _choice(
        Backbone.attention,
        "What a classifier reads a sentence with: one self-attention, an encoder, or a recurrent "
        "network.",
        models=(Model.classify,),
    )
    pooling: Pooling | None = _choice(
        None,
        "One vector for the sentence. The mean of its words' vectors, their largest numbers (max), the "
        "first word's, the last word's, or the first word's through a layer of its own (pooler). A "
        "classifier takes the mean by default, or the last word's of a recurrent network; an encoder "
        "adds none.",
        Pooling,
        models=(Model.classify, Model.encoder),
    )
    unit_length: bool = _choice(
        False,
        "Divide the sentence's vector by its length.",
        models=(Model.encoder,),
        needs=("pooling",),
    )
    transform: Transform = _choice(
        Transform.gelu,
        "The activation function of the layer before the words of a masked language model.",
        models=(Model.masked,),
    )
    layers: int = _choice(
        1,
        "Number of layers, or of encoder and decoder layers each.",
        models=(*STACKS, *RECURRENT),
        within=COUNT,
    )
    encoder_layers: int | None = _choice(
        None, "Number of encoder layers; overrides --layers.", int,
        models=(Model.encoder, Model.encoder_decoder, Model.classify, Model.masked), within=COUNT,
    )  # fmt: skip
    decoder_layers: int | None = _choice(
        None, "Number of decoder layers; overrides --layers.", int,
        models=(Model.decoder, Model.encoder_decoder, Model.decoder_only), within=COUNT,
    )  # fmt: skip
    memory: str | None = _choice(
        None,
        "The sheet with the words that the others attend to (cross-attention).",
        str,
        models=(Model.attention, Model.decoder, Model.encoder_decoder),
    )
    attention: str | None = _choice(
        None,
        "The sheet with given attention weights, in place of softmax. A stands for A_1, A_2, "
        "... if there is a sheet for each head.",
        str,
        models=(Model.attention, Model.encoder),
    )
    causal: bool = _choice(False, "Hide later words from each word.", models=ATTENTION, cell="Causal")
    padding: str | None = _choice(
        None,
        "The padding word, which no word attends to. <PAD> and [PAD] are always recognized.",
        str,
        models=ATTENTION,
    )
    positions: Positions = _choice(
        Positions.none,
        "How positions enter. They are added to the embeddings (sinusoidal; learned, from W_P), "
        "rotate queries and keys (rotary), or are a penalty on distant words (alibi).",
        models=(*ATTENTION, Model.similarity),
    )
    rotary_pairs: RotaryPairs = _choice(
        RotaryPairs.half,
        "Dimensions that rotary positions turn together: dimension i with i + d/2 (half), or 1 with "
        "2, 3 with 4, ... (neighbours).",
        models=ATTENTION,
        needs=("positions=rotary",),
    )
    rotary_base: float = _choice(
        10_000.0,
        "The base of rotary positions: the larger, the more slowly the last pairs turn.",
        models=ATTENTION,
        needs=("positions=rotary",),
        cell="rotary_base",
        within=Bounds(1, INF, True, True),
    )
    window: int | None = _choice(
        None,
        "How many words each word sees. In attention, itself and those just before it; without "
        "a causal mask, as many after it. In a convolution, the number of neighbouring words, "
        "by default 3.",
        int,
        models=(*ATTENTION, Model.cnn),
        cell="Window",
        within=COUNT,
    )
    normalize: Normalize = _choice(
        Normalize.softmax,
        "How scores are turned into weights that sum to 1.",
        models=(*ATTENTION, Model.softmax),
    )
    max: bool = _choice(
        True,
        "Subtract each row's maximum in the softmax, which keeps large scores from overflowing.",
        models=(*ATTENTION, Model.softmax),
        needs=("normalize=softmax",),
    )
    scale: bool = _choice(
        True, "Divide the scores by the square root of d_k.", models=ATTENTION, cell="Scale"
    )
    temperature: float | None = _choice(
        None,
        "Also divide the scores by this number.",
        float,
        models=(*ATTENTION, Model.softmax),
        cell="Temperature",
        within=POSITIVE,
    )
    dropout: float = _choice(
        0.0,
        "Share of the attention weights to set to 0.",
        models=ATTENTION,
        cell="p_dropout",
        within=SHARE,
    )
    residual_dropout: float = _choice(
        0.0,
        "Share of each sublayer's output, and of the embeddings with positions, to set to 0.",
        models=STACKS,
        cell="p_residual",
        within=SHARE,
    )
    generate: int | None = _choice(
        None,
        "Number of words that a language model then writes. Each is computed alone, with the "
        "keys and values of earlier words kept (KV cache).",
        int,
        models=(Model.decoder_only,),
        within=COUNT,
    )
    sample: bool = _choice(
        False,
        "Draw new words by their probability. Otherwise the most probable one is taken.",
        models=(Model.decoder_only,),
        needs=("generate",),
        cell="Sample",
    )
    word_temperature: float = _choice(
        1.0,
        "Divide the logits by this number before a new word is drawn.",
        models=(Model.decoder_only,),
        needs=("generate",),
        cell="word_temperature",
        within=POSITIVE,
    )
    seed: int = _choice(
        0,
        "Random seed. It is used for dropout, for new words, and for the initial weights of "
        "learning that are not given.",
        models=LEARNING,
        needs=("dropout", "residual_dropout", "generate", "steps"),
        cell="Seed",
        within=SEED,
    )
    norm: Norm = _choice(
        Norm.post,
        "The norm's place: after a sublayer or before it, or none.",
        models=STACKS,
    )
    skip: bool = _choice(
        True, "Add what a sublayer reads to what it makes (skip connection).", models=STACKS
    )
    feed_forward: bool = _choice(
        True, "Follow attention with a feed-forward network in each layer.", models=STACKS
    )
    norm_type: NormType = _choice(
        NormType.layer,
        "Subtract the mean and divide by the standard deviation (layer), or divide by the root mean "
        "square (rms).",
        models=(*STACKS, Model.norm),
        needs=NORMED,
    )
    norm_variance: NormVariance = _choice(
        NormVariance.population,
        "Divide the variance in a norm by n (population) or by n - 1 (sample).",
        models=(*STACKS, Model.norm),
        needs=NORMED,
    )
    norm_epsilon: NormEpsilon = _choice(
        NormEpsilon.inside,
        "Add epsilon to the variance (inside the root) or to the standard deviation (outside).",
        models=(*STACKS, Model.norm),
        needs=NORMED,
    )
    worked: bool = _choice(
        False,
        "Show a norm step by step: what is left without the mean, and that divided by its spread.",
        models=(*STACKS, Model.norm),
        needs=NORMED,
    )
    activation: Activation = _choice(
        Activation.relu,
        "The feed-forward network's function. swiglu, geglu and geglu-tanh multiply by a gate, W_G.",
        models=(*STACKS, Model.feed_forward),
        needs=("feed_forward",),
    )
    bidirectional: bool = _choice(
        False, "Read the sentence from both ends, and place the states side by side.", models=RECURRENT
    )
    nonlinearity: Nonlinearity = _choice(
        Nonlinearity.tanh, "The function that gives the hidden state.", models=(Model.rnn,)
    )
    reset: ResetGate = _choice(
        ResetGate.after,
        "The reset gate multiplies the state before U_n, as in the paper, or after it, as in PyTorch.",
        models=(Model.gru,),
    )
    update: UpdateGate = _choice(
        UpdateGate.old,
        "The update gate is the share of the old state, as in PyTorch, or of the new one.",
        models=(Model.gru,),
    )
    hidden: int | None = _choice(
        None,
        "Width of random hidden layers. With --random-weights, the width of the feed-forward "
        "network or of the hidden state, or the number of filters.",
        int,
        models=(*STACKS, Model.feed_forward, Model.cnn, *RECURRENT),
        needs=("random_weights", "steps"),
        within=Bounds(1, 16_384),
    )
    epsilon: float = _choice(
        1e-5,
        "A small number that keeps a norm from dividing by 0.",
        models=(*STACKS, Model.norm),
        needs=NORMED,
        cell="epsilon",
        within=BETWEEN,
    )
    random_weights: int | None = _choice(
        None,
        "Generate missing weights from this seed. They are small and readable.",
        int,
        models=(*ATTENTION, Model.feed_forward, Model.cnn, *RECURRENT),
        within=SEED,
    )
    loss: bool = _choice(
        False,
        "Also compute the loss: cross-entropy with the next words of a language model, or with the "
        "masked words or the classes on the sheet Labels; otherwise the mean squared error to the "
        "sheet Target.",
        models=LEARNING,
    )
    steps: int = _choice(
        0,
        "Number of steps of learning. Each has its gradients; 0 does not learn.",
        models=LEARNING,
        within=Bounds(0, MOST_STEPS),
    )
    optimizer: Optimizer = _choice(
        Optimizer.sgd,
        "How gradients change the weights.",
        models=LEARNING,
        needs=("steps",),
    )
    rate: float = _choice(
        0.1, "The learning rate.", models=LEARNING, needs=("steps",), cell="Rate", within=POSITIVE
    )
    momentum: float = _choice(
        0.9, "Share of the earlier gradients that --optimizer momentum keeps.",
        models=LEARNING, needs=("steps",), cell="Momentum", within=SHARE)  # fmt: skip
    beta1: float = _choice(
        0.9, "Share of the earlier gradients that Adam keeps.",
        models=LEARNING, needs=("steps",), cell="Beta1", within=SHARE)  # fmt: skip
    beta2: float = _choice(
        0.999, "Share of the earlier squared gradients that Adam keeps.",
        models=LEARNING, needs=("steps",), cell="Beta2", within=SHARE)  # fmt: skip
    adam_epsilon: float = _choice(
        1e-8, "A small number that keeps Adam from dividing by 0.",
        models=LEARNING, needs=("steps",), cell="AdamEpsilon", within=BETWEEN)  # fmt: skip
    decay: float = _choice(
        0.01, "Share of the weights, times the rate, that AdamW takes away at each step.",
        models=LEARNING, needs=("steps",), cell="Decay", within=SHARE)  # fmt: skip
    live: int = _choice(
        20,
        "Steps with live formulas, the first and the last. The losses of the others are kept as "
        "numbers.",
        models=LEARNING,
        needs=("steps",),
        within=Bounds(1, MOST_STEPS),
    )
    train: str | None = _choice(
        None,
        "Learn only these weights: W_Q,W_K. Default: all.",
        str,
        models=LEARNING,
        needs=("steps",),
    )
    live_layers: str | None = _choice(
        None,
        "Layers to write as formulas, counted from 0: 0,3-5. The others are computed, and what they "
        "give enters as values.",
        str,
        models=STACKS,
    )
    live_heads: str | None = _choice(
        None,
        "Heads to write as formulas, counted from 0. What the others give enters as values.",
        str,
        models=STACKS,
    )
    live_rows: str | None = _choice(
        None,
        "Words whose rows to write as formulas, counted from 0, from the scores on: 0,3-5. What layers "
        "give of all words enters as values.",
        str,
        models=(Model.encoder, Model.decoder_only, Model.masked),
    )
    live_network: bool = _choice(
        True,
        "Write feed-forward networks as formulas. Otherwise what they give enters as values.",
        models=STACKS,
    )
    vocabulary: str = _choice(
        "all",
        "Words to choose from: all, used (in the text), top:50. The others enter as one number, "
        "so that the probabilities stay exact.",
        str,
        models=(*LANGUAGE, Model.encoder_decoder),
    )
    head_switches: bool = _choice(
        False,
        "Add a cell for each head that removes it. The cell on the Overview is 1; 0 removes what "
        "the head gives.",
        models=STACKS,
    )
    sheets_for: str | None = _choice(
        None, "Write sheets only for these layers and heads: Enc1,Dec2,head1.", str
    )
    decimals: int | None = _choice(
        None, "Decimal places to show. Cells keep full precision.", int, within=Bounds(0, 15)
    )
    influence: bool = _choice(
        False,
        "Add a sheet of how words depend on each other. Influence: how strongly each word of "
        "the output depends on each word of the input.",
        models=(*ATTENTION, Model.cnn, *RECURRENT),
    )
    controls: bool = _choice(False, "Add cells for scale, temperature and mask to the Overview.")
    switches: Switch | None = _choice(
        None,
        "Add a switch for a mask. It is initially off, and hides later words.",
        Switch,
        models=ATTENTION,
    )
    layout: Arrangement | None = _choice(
        None,
        "How matrices are arranged. One sheet per matrix (sheets), one diagram per layer "
        "(layers), or one sheet for all matrices (canvas). Default: sheets, or layers from 40 "
        "matrices on.",
        Arrangement,
    )
    canvas: bool = _choice(
        True,
        "Also draw all matrices on one sheet. With one sheet per matrix, they are drawn on the "
        "sheet Canvas, if they fit.",
    )
    formulas: Formulas = _choice(
        Formulas.cell,
        "What cells hold. A live formula in every cell (cell); one formula per matrix, as an "
        "array formula (array) or as one that spills in Excel 365 (dynamic); or values only "
        "(none).",
    )

    def __post_init__(self) -> None:
        for choice in fields(self):
            value = getattr(self, choice.name)
            if value is not None or choice.default is not None:
                object.__setattr__(self, choice.name, read_value(choice, value))

            bounds = choice.metadata["within"]
            if value is not None and bounds and not bounds.holds(getattr(self, choice.name)):
                raise _out_of_range(choice, getattr(self, choice.name))
        if self.switches is not None and self.normalize is Normalize.sum:
            raise CallError(
                f"--switches is {self.switches.value}; it needs --normalize softmax: only a softmax "
                "turns masked scores into 0."
            )
        if not VOCABULARIES.fullmatch(self.vocabulary):
            raise CallError(
                f"--vocabulary is {self.vocabulary!r}; it takes all, used, or top: and a number."
            )
        if self.kv_heads and self.heads and self.heads % self.kv_heads:
            raise CallError(
                f"--kv-heads is {self.kv_heads}; it takes a divisor of --heads {self.heads}."
            )

    def __repr__(self) -> str:
        changed = [
            (f.name, value) for f in fields(self) if (value := getattr(self, f.name)) != f.default
        ]
        texts = [f"{name}={(v.value if isinstance(v, Enum) else v)!r}" for name, v in changed]
        return f"Settings({', '.join(texts)})"

    @classmethod
    def resolve(
        cls,
        given: Mapping[str, Any],
        written: Mapping[str, Any],
        where: str,
        *,
        own: Sequence[str] = (),
        strict: bool = True,
    ) -> Settings:
        """The settings of a run: the options `given` in the call override the settings `written` in
        the workbook.

        A written setting must have an effect under the written model. If the call selects another
        model, written settings that do not apply to it are ignored. A given option must have an effect
        in the run.

        Args:
            given: options of the call by field name; None means not given.
            written: settings of the workbook by name.
            where: the place of the written settings, for error messages.
            own: options that the command itself uses; ignored if the model has no use for them.
            strict: raise an error for a setting without effect; otherwise ignore it.

        Raises:
            CallError: for an unknown name, an invalid value, or a setting without effect.
        """
        known = {f.name: f for f in fields(cls)}
        from_workbook: dict[str, Any] = {}
        for written_name, value in written.items():
            name = written_name.strip().lstrip("-").replace("-", "_").replace(" ", "_").lower()
            if name not in known:
                names = [n.replace("_", "-") for n in known]
                raise CallError(
                    f"{where}: there is no setting {written_name!r}. "
                    f"{nearest(name.replace('_', '-'), names)}"
                )
            from_workbook[name] = read_value(known[name], value, where)
        given = {name: value for name, value in given.items() if value is not None}
        as_written, result = cls(**from_workbook), cls(**{**from_workbook, **given})
        idle: set[str] = set()
        for name in {**from_workbook, **given}:
            if name in given:
                why = result.why_idle(name)
                subject = f"--{name.replace('_', '-')}"
            else:
                waits = _field(name).metadata["needs"] == ("steps",)  # for a run that learns
                why = "" if waits else result.why_idle(name) and as_written.why_idle(name)
                subject = f"{where}: the setting {name.replace('_', '-')}"
            if why and strict and name not in own:
                raise CallError(f"{subject} {why}")
            if result.why_idle(name):
                idle.add(name)
        result = cls(
            **{name: value for name, value in {**from_workbook, **given}.items() if name not in idle}
        )
        if result.formulas is Formulas.none or result.model.kind in BLOCKS:
            result = replace(result, controls=False)  # no formula would refer to them
        if given.get("switches") is not None and not result.controls:
            raise CallError(
                f"--switches {result.switches.value if result.switches else ''} adds a switch to the "
                "Overview, which --plain and --formulas none omit. Drop one of the options."
            )
        return result

    @classmethod
    def check_call(cls, given: Mapping[str, Any]) -> None:
        """Validate the options of a call before any file is read. Whether they have an effect may
        depend on the file's own settings and is checked later.

        Raises:
            CallError: for an invalid value.
        """
        cls(**{name: value for name, value in given.items() if value is not None})

    @property
    def body(self) -> Model:
        """The model that computes a vector for each word: a classifier's backbone, the encoder of a
        masked language model, or the model."""
        if self.model.kind is Model.masked:
            return Model.encoder
        return Model(self.backbone.value) if self.model.kind is Model.classify else self.model

    def why_idle(self, name: str) -> str:
        """Why a setting has no effect in this run, as the predicate of a sentence: "belongs to ...";
        "" if it has an effect.

        Args:
            name: a field of the settings.
        """
        choice = _field(name)
        models: tuple[Model, ...] = choice.metadata["models"]
        reads = self.body in RECURRENT and self.body in models  # of a classifier, too
        if self.model.kind not in models and not reads:
            return f"belongs to --model {_either(models)}, not to --model {self.model}."
        if self.model.kind is Model.classify and self.body not in models:
            backbones = [one.value for one in Backbone if Model(one.value) in models]
            if backbones and name != "pooling":
                return f"has no effect without --backbone {_either(backbones)}."
        typed = name == "normalize" and self.normalize is Normalize.sum  # of scores
        if self.attention is not None and name in _OF_SCORES and not typed:
            return "has no effect with --attention: the weights are given, and no scores are computed."
        if name == "causal" and not self.causal and self.model.always_causal:
            return f"is off, but --model {self.model} always hides later words."
        if self.steps and name == "influence":
            return "has no effect with --steps."
        if self.steps and name in _AS_VALUES:
            return "does not go with --steps: what enters as values would not follow the weights."
        if self.steps and self.optimizer not in READ_BY.get(name, tuple(Optimizer)):
            return f"has no effect without --optimizer {_either(READ_BY[name])}."
        needs: tuple[str, ...] = choice.metadata["needs"]
        if needs and not any(map(self._meets, needs)):
            options = [need.replace("_", "-").replace("=", " ") for need in needs]
            return f"has no effect without --{_either(options, '--')}."
        if name == "positions" and self.model.kind not in ATTENTION and self.positions in IN_ATTENTION:
            return f"is {self.positions.value}, which belongs to --model {_either(ATTENTION)}."
        if name in ("norm_variance", "worked") and self.norm_type is NormType.rms:
            return "has no effect with --norm-type rms, which subtracts no mean."
        stacks = [f"{stack}_layers" for stack in ("encoder", "decoder")]
        own = [stack for stack in stacks if self.model.kind in _field(stack).metadata["models"]]
        if name == "layers" and own and all(map(self._differs, own)):
            return f"has no effect beside --{' and --'.join(own)}.".replace("_", "-")
        return ""

    def refuse_idle(self) -> None:
        """Raise an error if a setting that differs from its default has no effect.

        Raises:
            CallError: naming the setting and the models it belongs to.
        """
        for choice in fields(self):
            if self._differs(choice.name) and (why := self.why_idle(choice.name)):
                raise CallError(f"--{choice.name.replace('_', '-')} {why}")

    def _meets(self, need: str) -> bool:
        """Whether a setting is on, has the value in `name=value`, or differs from its default."""
        name, _, wanted = need.partition("=")
        value = getattr(self, name)
        if isinstance(value, bool):
            return value
        return value == wanted if wanted else self._differs(name)

    def _differs(self, name: str) -> bool:
        """Whether a setting differs from its default."""
        return bool(getattr(self, name) != _field(name).default)


def _out_of_range(choice: Field[Any], value: float) -> CallError:
    whole = "whole " if choice.metadata["kind"] is int else ""
    name = choice.name.replace("_", "-")
    return CallError(f"--{name} is {value}; it takes a {whole}number {choice.metadata['within']}.")


@cache
def _field(name: str) -> Field[Any]:
    return next(f for f in fields(Settings) if f.name == name)


def _either(names: Sequence[object], before: str = "") -> str:
    """`encoder, decoder or decoder-only`."""
    first, *more = [str(name) for name in names]
    listed = [first, *(before + name for name in more)]
    return " or ".join([", ".join(listed[:-1]), listed[-1]] if more else listed)


CELLS = {choice.name: choice.metadata["cell"] for choice in fields(Settings) if choice.metadata["cell"]}
"""Names of the workbook cells that hold settings, by setting."""


def read_value(setting: Field[Any], value: Any, where: str = "") -> Any:
    """Convert a value, possibly a text, number or boolean of a spreadsheet, to the type of a setting.
    `where` is its place for error messages, or "" for the call."""
    kind = setting.metadata["kind"]
    if type(value) is kind:
        return value
    text = str(value).strip()
    try:
        if value is None:
            raise ValueError
        if kind is bool:
            return {"true": True, "yes": True, "on": True, "1": True, "1.0": True, "false": False,
                    "no": False, "off": False, "0": False, "0.0": False}[text.lower()]  # fmt: skip
        if kind is int:
            number = float(text)
            if number != int(number):
                raise ValueError
            return int(number)
        return kind(text.lower() if issubclass(kind, Enum) else text)
    except (KeyError, ValueError, OverflowError):
        wants = {bool: "TRUE or FALSE", int: "a whole number", float: "a number"}.get(
            kind, "one of: " + ", ".join(e.value for e in kind) if issubclass(kind, Enum) else "text"
        )
        name = setting.name.replace("_", "-")
        subject = f"{where}: the setting {name} is {text!r}" if where else f"--{name} is {text}"
        raise CallError(f"{subject}; it takes {wants}.") from None
