"""The choices of a run, frozen, checked when made. Knows nothing of files or matrices.

Each field's `metadata` says it in words: the command line makes its options of them, and a workbook's
`Settings` sheet may name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from enum import Enum
from typing import Any

from .errors import CallError, nearest

CONTROLS, OPTIONS, COMPARE = "Controls", "Options", "Compare"
"""The sheets that matrices share: what a reader plays with, what the formulas obey, what compares
sentences."""
SETTINGS = "Settings"
"""The sheet with the choices: an input may have one, what this program wrote has its record there."""


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


FORMULAS_HELP = (
    "A live formula in every cell; or one for a matrix: an array formula, or a dynamic one, which "
    "spills in Excel 365; or values only."
)


class Model(str, Enum):
    """What is computed."""

    attention = "attention"
    encoder = "encoder"
    decoder = "decoder"
    encoder_decoder = "encoder-decoder"
    decoder_only = "decoder-only"
    similarity = "similarity"

    @property
    def always_causal(self) -> bool:
        """Whether later words are hidden, whatever is chosen."""
        return self in (Model.decoder, Model.encoder_decoder, Model.decoder_only)


class Norm(str, Enum):
    """Where a layer's norm stands."""

    post = "post"
    pre = "pre"


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


class Engine(str, Enum):
    """What recalculates a workbook that is checked."""

    ironcalc = "ironcalc"
    libreoffice = "libreoffice"


def _choice(default: Any, help: str, kind: type | None = None, *, cell: str = "") -> Any:
    """A setting; `cell` is the name of the cell that stands for it in a workbook, if one does."""
    metadata = {"help": help, "kind": kind or type(default), "cell": cell}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """What is computed and how it is shown; each field's help says more. A choice out of several may be
    given by its name: `Settings(model="encoder")`.

    Raises:
        CallError: for a choice that there is not, or that cannot be carried out.
    """

    model: Model = _choice(Model.attention, "What to compute.")
    heads: int | None = _choice(None, "Multi-head attention with so many heads.", int)
    layers: int = _choice(1, "Layers of an encoder or a decoder.")
    memory: str | None = _choice(
        None, "The sheet whose words the others attend to (the source of an encoder-decoder).", str
    )
    causal: bool = _choice(False, "Hide later words from each word.", cell="Causal")
    padding: str | None = _choice(
        None,
        "A word that fills up a sentence: nobody attends to it. <PAD> and <PADDING> are such.",
        str,
    )
    positions: Positions = _choice(Positions.none, "Add positions to the embeddings.")
    normalize: Normalize = _choice(Normalize.softmax, "How scores become weights that sum to 1.")
    scale: bool = _choice(True, "Divide the scores by the square root of d_k.", cell="Scale")
    temperature: float | None = _choice(
        None, "Divide the scores by this, too.", float, cell="Temperature"
    )
    dropout: float = _choice(0.0, "The share of attention weights to set to 0.", cell="p_dropout")
    seed: int = _choice(0, "What the dropout is drawn with.")
    norm: Norm = _choice(Norm.post, "Norm after the sum of a layer's step, or before the step.")
    activation: Activation = _choice(Activation.relu, "The function of the feed-forward network.")
    hidden: int | None = _choice(None, "Width of the feed-forward network, for --random-weights.", int)
    epsilon: float = _choice(1e-5, "What keeps a norm from dividing by 0.", cell="epsilon")
    random_weights: int | None = _choice(
        None, "Make up the weights that are not given, from this seed: small and readable.", int
    )
    sheets_for: str | None = _choice(None, "Write only these layers and heads: Enc1,Dec2,head1.", str)
    decimals: int | None = _choice(None, "Digits shown after the point; full precision is kept.", int)
    controls: bool = _choice(False, "Switches for scale, temperature and mask as cells.")
    layout: Arrangement = _choice(
        Arrangement.sheets, "A sheet for each matrix, or all on one sheet as one draws them."
    )
    formulas: Formulas = _choice(
        Formulas.cell,
        FORMULAS_HELP,
    )

    def __post_init__(self) -> None:
        for choice in fields(self):
            value = getattr(self, choice.name)
            if value is not None or choice.default is not None:
                object.__setattr__(self, choice.name, _read(choice, value))

        def refuse(name: str, value: object, why: str) -> None:
            raise CallError(f"--{name} is {value}; {why}")

        if self.decimals is not None and not 0 <= self.decimals <= 15:
            refuse(
                "decimals", self.decimals, "a spreadsheet number has 0 to 15 digits after the point."
            )
        for name in ("heads", "layers", "hidden"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= 1000:
                refuse(name, value, "it takes a whole number from 1 to 1,000.")
        if self.temperature is not None and not 0 < self.temperature < float("inf"):
            refuse("temperature", self.temperature, "it takes a number above 0.")
        if not 0 <= self.dropout < 1:
            refuse("dropout", self.dropout, "it takes a share from 0 up to, but not, 1.")
        if not 0 < self.epsilon < 1:
            refuse("epsilon", self.epsilon, "it takes a small number above 0.")
        for name in ("seed", "random_weights"):
            if (getattr(self, name) or 0) < 0:
                refuse(name.replace("_", "-"), getattr(self, name), "it takes a number from 0.")

    @classmethod
    def chosen(cls, given: Mapping[str, Any], written: Mapping[str, Any], where: str) -> Settings:
        """The settings of a run: those that are given (an option of the call) win over those that are
        written in the workbook (`where`), by name.

        Raises:
            CallError: for a name or a value that there is not.
        """
        known = {f.name: f for f in fields(cls)}
        found: dict[str, Any] = {}
        for written_name, value in written.items():
            name = written_name.strip().lstrip("-").replace("-", "_").replace(" ", "_").lower()
            if name not in known:
                names = [n.replace("_", "-") for n in known]
                raise CallError(
                    f"{where}: there is no setting {written_name!r}. "
                    f"{nearest(name.replace('_', '-'), names)}"
                )
            found[name] = _read(known[name], value, where)
        found.update({name: value for name, value in given.items() if value is not None})
        made = cls(**found)
        if made.formulas is Formulas.none or made.model is Model.similarity:
            return replace(made, controls=False)  # nothing would follow them
        return made


CELLS = {choice.name: choice.metadata["cell"] for choice in fields(Settings) if choice.metadata["cell"]}
"""The names of the cells that stand for settings in a workbook, by the setting."""


def _read(setting: Field[Any], value: Any, where: str = "") -> Any:
    """A setting's value, which may be as a spreadsheet has it: text, a number, TRUE. `where` it stands:
    "" for the call itself."""
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
            kind, "one of: " + ", ".join(e.value for e in kind) if issubclass(kind, Enum) else "a text"
        )
        name = setting.name.replace("_", "-")
        said = f"{where}: the setting {name} is {text!r}" if where else f"--{name} is {text}"
        raise CallError(f"{said}; it takes {wants}.") from None
