"""Refuse weights that a model does not use, and suggest the options that would use them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from attn_xl.errors import AttnXlError, InputError
from attn_xl.models.steps import TARGET, W_G, W_P
from attn_xl.settings import Activation, Backbone, Model, Positions, Settings
from attn_xl.tables.names import weight_name
from attn_xl.tables.survey import Tables

_HEAD = re.compile(r"(?:.*\.)?[Wb]_[QKV]_(\d+)")
_LAYER = re.compile(r"(?:Enc|Dec)(\d+)\..*")
_WITH_MEMORY = (Model.decoder, Model.encoder_decoder)
MOST_NAMES = 6
_EXAMPLE = "SHEET"
Used = Callable[[Tables, Settings], set[str]]
Change = dict[str, Any]


class UnusedWeights(InputError):
    """Weights that a model does not use.

    Attributes:
        change: the settings that would use most of them; {} if there are none.
        names: the weights that nothing uses; () if the model lacks others.
    """

    def __init__(self, message: str, change: Change | None = None, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.change, self.names = change or {}, names


def refuse_unused(tables: Tables, settings: Settings, used: set[str], used_with: Used) -> None:
    """Refuse tables that are named like weights and that the model does not use.

    Args:
        used: the weights that were used.
        used_with: returns the weights that other settings would use.

    Raises:
        UnusedWeights: with the options that would use most of them, and with --without.
    """
    unused = [
        name for name in tables.weights if name not in used | tables.optional and _is_weight(name)
    ]
    if not unused:
        return
    change, left = _best(tables, settings, unused, used_with)
    names = [name for name in unused if name not in left]
    pronoun = "it" if len(unused) == 1 else "them"
    use = "Leave"
    if change:
        use = f"Use {pronoun if not left else _listed(names)} with {_options(change)}, or leave"
    raise _unused(
        f"{tables.path}: --model {settings.model.value} does not use {_described(tables, unused)}. "
        f"{use} {pronoun} out with --without {_arguments(tables, unused)}.",
        change,
        unused,
    )


def _is_weight(name: str) -> bool:
    """Whether a table is named like weights; a target is not, and waits for --loss."""
    return bool(weight_name(name)) and name.rpartition(".")[2] != TARGET.symbol


def use_for(tables: Tables, settings: Settings, used_with: Used, error: InputError) -> InputError:
    """The error for a model that lacks weights, with a hint on the options that would use those that
    the file has, if there are some."""
    used = used_with(tables, settings)
    unused = [name for name in tables.weights if name not in used and _is_weight(name)]
    change, left = _best(tables, settings, unused, used_with) if unused else ({}, set())
    names = _listed([name for name in unused if name not in left])
    hint = f" {_options(change)} would use the given {names}." if change else ""
    return _unused(f"{error}{hint}", change)


def _unused(message: str, change: Change, names: Sequence[str] = ()) -> UnusedWeights:
    return UnusedWeights(message, {} if change.get("memory") == _EXAMPLE else change, names)


def _best(
    tables: Tables, settings: Settings, unused: Sequence[str], used_with: Used
) -> tuple[Change, set[str]]:
    """The change of settings that leaves the fewest weights unused, and these weights; an empty change
    if none helps."""
    before = set(filter(_is_weight, tables.weights))
    best: tuple[Change, set[str]] = {}, set(unused)
    for change in _changes(tables, settings):
        there = tables
        if change.get("memory") == _EXAMPLE:
            there = replace(
                tables, sentences={_EXAMPLE: next(iter(tables.sentences.values())), **tables.sentences}
            )
        try:
            left = before - used_with(there, replace(settings, **change))
        except AttnXlError:
            continue
        if (len(left), len(change)) < (len(best[1]), len(best[0]) or 99) and left < set(unused):
            best = change, left
    return best


def _changes(tables: Tables, settings: Settings) -> Iterator[Change]:
    """The changes to try: numbers of heads and layers taken from the names, and other models."""
    heads = [int(m[1]) for m in map(_HEAD.fullmatch, tables.weights) if m]
    layers = [int(m[1]) for m in map(_LAYER.fullmatch, tables.weights) if m]
    many: list[Change] = [{}]
    for name, most in (("heads", max(heads, default=1)), ("layers", max(layers, default=1))):
        if most > (getattr(settings, name) or 1) and most <= 1000:
            many += [{**change, name: most} for change in many]
    if W_P.symbol in tables.weights and settings.positions is not Positions.learned:
        many += [{**change, "positions": Positions.learned} for change in many]
    if any(name.endswith(W_G.symbol) for name in tables.weights) and not settings.activation.gated:
        many += [{**change, "activation": Activation.swiglu} for change in many]
    # Of models that use the same weights, those come first that need no others.
    for model in (settings.model, Model.norm, Model.feed_forward, *Model):
        given = replace(settings, model=model).why_idle("attention") if settings.attention else ""
        if model is Model.similarity or given:
            continue
        other: Change = {} if model is settings.model else {"model": model}
        if model in _WITH_MEMORY:
            other |= {} if settings.memory else {"memory": _EXAMPLE}
        elif settings.memory is not None and model is not Model.attention:
            other |= {"memory": None}
        backbones: list[Change] = [
            {"backbone": one} for one in Backbone if one is not settings.backbone
        ]
        for change, backbone in product(many, [{}, *(backbones if model is Model.classify else ())]):
            if other or change or backbone:
                yield {**change, **other, **backbone}


def _options(change: Change) -> str:
    options = [
        f"--{name} {getattr(value, 'value', value)}"
        for name, value in sorted(change.items(), key=lambda item: item[0] != "model")
        if value is not None
    ]
    return " ".join(options) + (" without --memory" if change.get("memory", "") is None else "")


def _described(tables: Tables, unused: Sequence[str]) -> str:
    first = unused[0]
    where = tables.weights[first].sheet
    if len(unused) == 1 and where.casefold() != first.casefold():
        return f"{first} (sheet {where!r})"
    return _listed(unused)


def _listed(names: Sequence[str]) -> str:
    more = f", ... ({len(names)} weights)" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _arguments(tables: Tables, unused: Sequence[str]) -> str:
    """The shortest value of --without, with whole layers by name."""
    arguments: dict[str, None] = {}
    for name in unused:
        scope = name
        for parts in range(1, name.count(".") + 1):
            front = ".".join(name.split(".")[:parts])
            if all(other in unused for other in tables.weights if other.startswith(f"{front}.")):
                scope = front
                break
        arguments[scope] = None
    return shlex.quote(",".join(arguments))
