"""The choices of a run, frozen, checked when made. Knows nothing of files or matrices.

Each field's `metadata` says it in words: the command line makes its options of them, and a workbook's
`Settings` sheet may name them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from enum import Enum
from typing import Any

from .choices import (
    ATTENTION,
    BLOCKS,
    STACKS,
    Activation,
    Arrangement,
    Engine,
    Formulas,
    Model,
    Norm,
    Normalize,
    NormEpsilon,
    NormVariance,
    Positions,
    Switch,
)
from .errors import CallError, nearest

__all__ = [
    "ATTENTION",
    "BLOCKS",
    "CANVAS",
    "CELLS",
    "COMPARE",
    "CONTROLS",
    "OPTIONS",
    "STACKS",
    "Activation",
    "Arrangement",
    "Engine",
    "Formulas",
    "Model",
    "Norm",
    "NormEpsilon",
    "NormVariance",
    "Normalize",
    "Positions",
    "Settings",
    "Switch",
]

CONTROLS, OPTIONS, COMPARE, CANVAS = "Controls", "Options", "Compare", "Canvas"
"""The sheets that matrices share: what a reader plays with, what the formulas obey, what compares
sentences; and the one that draws them all."""
SETTINGS = "Settings"
"""The sheet with the choices: an input may have one, what this program wrote has its record there."""


FORMULAS_HELP = (
    "A live formula in every cell; or one for a matrix: an array formula, or a dynamic one, which "
    "spills in Excel 365; or values only."
)


def _choice(
    default: Any,
    help: str,
    kind: type | None = None,
    models: tuple[Model, ...] = tuple(Model),
    needs: tuple[str, ...] = (),
    cell: str = "",
) -> Any:
    """A choice: its default, its help and its type; the models that it belongs to, and other choices,
    one of which it needs to have an effect; the name of the cell that stands for it in a workbook, if
    one does."""
    about = {
        "help": help,
        "kind": kind or type(default),
        "models": models,
        "needs": needs,
        "cell": cell,
    }
    return field(default=default, metadata=about)


@dataclass(frozen=True, repr=False)
class Settings:
    """What is computed and how it is shown; each field's help says more. A choice out of several may be
    given by its name: `Settings(model="encoder")`.

    Raises:
        CallError: for a choice that there is not, or that cannot be carried out.
    """

    model: Model = _choice(Model.attention, "What to compute.")
    heads: int | None = _choice(
        None, "Multi-head attention with this number of heads.", int, models=ATTENTION
    )
    heads_as_sheets: bool = _choice(
        False,
        "Give each head's columns of W_Q, W_K and W_V a sheet, in place of reading them there.",
        models=ATTENTION,
    )
    layers: int = _choice(1, "Layers of the encoder and of the decoder.", models=STACKS)
    encoder_layers: int | None = _choice(
        None, "Layers of the encoder, in place of --layers.", int,
        models=(Model.encoder, Model.encoder_decoder),
    )  # fmt: skip
    decoder_layers: int | None = _choice(
        None, "Layers of the decoder, in place of --layers.", int,
        models=(Model.decoder, Model.encoder_decoder, Model.decoder_only),
    )  # fmt: skip
    memory: str | None = _choice(
        None,
        "The sheet whose words the others attend to (the source of an encoder-decoder).",
        str,
        models=(Model.attention, Model.decoder, Model.encoder_decoder),
    )
    causal: bool = _choice(False, "Hide later words from each word.", models=ATTENTION, cell="Causal")
    padding: str | None = _choice(
        None,
        "A word that fills up a sentence: nobody attends to it. <PAD> and <PADDING> are such.",
        str,
        models=ATTENTION,
    )
    positions: Positions = _choice(
        Positions.none,
        "Add positions to the embeddings.",
        models=(*ATTENTION, Model.similarity),
    )
    normalize: Normalize = _choice(
        Normalize.softmax,
        "How scores become weights that sum to 1.",
        models=(*ATTENTION, Model.softmax),
    )
    scale: bool = _choice(
        True, "Divide the scores by the square root of d_k.", models=ATTENTION, cell="Scale"
    )
    temperature: float | None = _choice(
        None,
        "Divide the scores by this, too.",
        float,
        models=(*ATTENTION, Model.softmax),
        cell="Temperature",
    )
    dropout: float = _choice(
        0.0, "The share of attention weights to set to 0.", models=ATTENTION, cell="p_dropout"
    )
    residual_dropout: float = _choice(
        0.0,
        "The share of each sublayer's output, and of embeddings with positions, to set to 0.",
        models=STACKS,
        cell="p_residual",
    )
    seed: int = _choice(
        0, "Random seed for dropout.", models=ATTENTION, needs=("dropout", "residual_dropout")
    )
    norm: Norm = _choice(
        Norm.post, "Norm after the sum of a layer's step, or before the step.", models=STACKS
    )
    norm_variance: NormVariance = _choice(
        NormVariance.population,
        "The variance in a norm: divided by n, or by n - 1.",
        models=(*STACKS, Model.norm),
    )
    norm_epsilon: NormEpsilon = _choice(
        NormEpsilon.inside,
        "Where a norm adds epsilon: inside the root, to the variance; or outside, to the standard "
        "deviation.",
        models=(*STACKS, Model.norm),
    )
    activation: Activation = _choice(
        Activation.relu,
        "The function of the feed-forward network.",
        models=(*STACKS, Model.feed_forward),
    )
    hidden: int | None = _choice(
        None,
        "Width of the feed-forward network, for --random-weights.",
        int,
        models=(*STACKS, Model.feed_forward),
        needs=("random_weights",),
    )
    epsilon: float = _choice(
        1e-5, "What keeps a norm from dividing by 0.", models=(*STACKS, Model.norm), cell="epsilon"
    )
    random_weights: int | None = _choice(
        None,
        "Make up the weights that are not given, from this seed: small and readable.",
        int,
        models=(*ATTENTION, Model.feed_forward),
    )
    sheets_for: str | None = _choice(None, "Write only these layers and heads: Enc1,Dec2,head1.", str)
    decimals: int | None = _choice(None, "Digits shown after the point; full precision is kept.", int)
    controls: bool = _choice(False, "Switches for scale, temperature and mask as cells.")
    switches: Switch | None = _choice(
        None,
        "Add a switch for a mask that hides later words; it is off at first.",
        Switch,
        models=ATTENTION,
    )
    layout: Arrangement | None = _choice(
        None,
        "A sheet for each matrix; one for each layer, drawn as on paper; or one for all. Without it: "
        "sheets, and layers from 40 matrices on.",
        Arrangement,
    )
    canvas: bool = _choice(
        True, "With a sheet for each matrix, draw them all on a second sheet, Canvas, where they fit."
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
        counts = dict.fromkeys(("heads", "layers", "encoder_layers", "decoder_layers"), 1000)
        for name, most in {**counts, "hidden": 16_384}.items():  # a sheet has that many columns
            value = getattr(self, name)
            if value is not None and not 1 <= value <= most:
                why = f"it takes a whole number from 1 to {most:,}."
                refuse(name.replace("_", "-"), value, why)
        if self.temperature is not None and not 0 < self.temperature < float("inf"):
            refuse("temperature", self.temperature, "it takes a number above 0.")
        if self.switches is not None and self.normalize is Normalize.sum:
            refuse("switches", self.switches.value, "only a softmax turns masked scores into 0.")
        for name in ("dropout", "residual_dropout"):
            if not 0 <= getattr(self, name) < 1:
                why = "it takes a share of at least 0, below 1."
                refuse(name.replace("_", "-"), getattr(self, name), why)
        if not 0 < self.epsilon < 1:
            refuse("epsilon", self.epsilon, "it takes a small number above 0.")
        for name in ("seed", "random_weights"):
            if (getattr(self, name) or 0) < 0:
                refuse(name.replace("_", "-"), getattr(self, name), "it takes a number from 0.")

    def __repr__(self) -> str:
        chosen = [
            (f.name, value) for f in fields(self) if (value := getattr(self, f.name)) != f.default
        ]
        said = [f"{name}={(v.value if isinstance(v, Enum) else v)!r}" for name, v in chosen]
        return f"Settings({', '.join(said)})"

    @classmethod
    def chosen(
        cls,
        given: Mapping[str, Any],
        written: Mapping[str, Any],
        where: str,
        *,
        own: Sequence[str] = (),
        strict: bool = True,
    ) -> Settings:
        """The settings of a run: those that are given (an option of the call) win over those that are
        written in the workbook (`where`), by name.

        What is written has to have an effect under the model that is written; where the call asks for
        another model, settings that do not belong to that one are left aside. What is given has to have
        an effect in the run.

        Args:
            own: options that the command itself has a use for: left aside where the model has none.
            strict: refuse what has no effect; otherwise all of it is left aside.

        Raises:
            CallError: for a name or a value that there is not, or a setting that has no effect.
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
        given = {name: value for name, value in given.items() if value is not None}
        alone, made = cls(**found), cls(**{**found, **given})
        idle: set[str] = set()
        for name in {**found, **given}:
            if name in given:
                why = made.why_idle(name)
                said = f"--{name.replace('_', '-')}"
            else:
                why = made.why_idle(name) and alone.why_idle(name)
                said = f"{where}: the setting {name.replace('_', '-')}"
            if why and strict and name not in own:
                raise CallError(f"{said} {why}")
            if made.why_idle(name):
                idle.add(name)
        made = cls(**{name: value for name, value in {**found, **given}.items() if name not in idle})
        if made.formulas is Formulas.none or made.model.kind in (*BLOCKS, Model.similarity):
            made = replace(made, controls=False)  # nothing would follow them
        if given.get("switches") is not None and not made.controls:
            raise CallError(
                f"--switches {made.switches.value if made.switches else ''} puts a switch on the sheet "
                "Controls, which --plain and --formulas none leave out. Leave one of them out."
            )
        return made

    @classmethod
    def check_call(cls, given: Mapping[str, Any]) -> None:
        """Refuse a wrong value in a call before any file is read; whether the options have an effect
        may depend on the file's own settings.

        Raises:
            CallError: for a value that there is not.
        """
        cls(**{name: value for name, value in given.items() if value is not None})

    def why_idle(self, name: str) -> str:
        """Why a choice has no effect in this run, as what follows its name in a sentence: "" if it has
        one.

        Args:
            name: a field of the settings.
        """
        choice = _field(name)
        models: tuple[Model, ...] = choice.metadata["models"]
        if self.model.kind not in models:
            return f"belongs to --model {_either(models)}, not to --model {self.model}."
        if name == "causal" and not self.causal and self.model.always_causal:
            return f"is off, but --model {self.model} always hides later words."
        needs: tuple[str, ...] = choice.metadata["needs"]
        if needs and not any(self._differs(need) for need in needs):
            return f"has no effect without --{_either([n.replace('_', '-') for n in needs], '--')}."
        stacks = [f"{stack}_layers" for stack in ("encoder", "decoder")]
        own = [stack for stack in stacks if self.model.kind in _field(stack).metadata["models"]]
        if name == "layers" and all(map(self._differs, own)):
            return f"has no effect beside --{' and --'.join(own)}.".replace("_", "-")
        return ""

    def refuse_idle(self) -> None:
        """Refuse a choice that was made and has no effect.

        Raises:
            CallError: naming the choice and what it belongs to.
        """
        for choice in fields(self):
            if self._differs(choice.name) and (why := self.why_idle(choice.name)):
                raise CallError(f"--{choice.name.replace('_', '-')} {why}")

    def _differs(self, name: str) -> bool:
        """Whether a choice is other than without saying anything."""
        return bool(getattr(self, name) != _field(name).default)


def _field(name: str) -> Field[Any]:
    return next(f for f in fields(Settings) if f.name == name)


def _either(names: Sequence[object], before: str = "") -> str:
    """`encoder, decoder or decoder-only`."""
    first, *more = [str(name) for name in names]
    listed = [first, *(before + name for name in more)]
    return " or ".join([", ".join(listed[:-1]), listed[-1]] if more else listed)


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
