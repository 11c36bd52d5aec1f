"""Reads a trained model and a text as tables: the tokens' embeddings as sentences, the weights under
the names that the models read, and the settings in `config.json`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_xl.errors import CallError, InputError
from attn_xl.tables.labels import Table
from attn_xl.tables.survey import Tables
from attn_xl.text import count, listed

from .families import ALL, FAMILIES, NOT_COMPUTED, REQUIRED, Family, Head, Key, check_keys, check_sizes
from .safetensors import Tensors, read_json
from .tokenizer import Tokenizer, distinct, read_tokenizer

CONFIG = "config.json"
VOCABULARY, FACTORS, SEGMENT = "Vocabulary", "RotaryFactors", "Segment"
MODULES = "modules.json"
POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_cls_token": "first",
}
"""How sentence-transformers makes one vector of a sentence, in our words."""
PADDED = 512
"""Embeddings beyond the vocabulary that are usual: matrices are filled up to a round number of rows."""
FEW_WORDS, MOST_PROBABLE = 500, "top:50"
"""A larger vocabulary is not shown whole, but its most probable words."""
Array = NDArray[Any]


@dataclass(frozen=True)
class _Place:
    """Where a weight lies: in which tensor, as which of how many stacked weights."""

    tensor: str
    part: int = 0
    parts: int = 1


class Checkpoint:
    """A trained model as the ecosystem ships it: a folder with `config.json`, `model.safetensors` or
    shards with their index, and `tokenizer.json`. Weights stay in their files until they are used.

    Args:
        weights: the file of weights; by default `model.safetensors` or its shards.
        reads_texts: whether texts have to be split into tokens; otherwise an encoder needs no
            tokenizer.

    Attributes:
        folder: the folder.
        settings: the settings in its config, by the names of attn-xl.
        weights: the weights by name.

    Raises:
        InputError: if a file is missing or damaged, the family is unknown, or tensors are missing, have
            other shapes or are left over.
        MissingLibraryError: if the tokenizer needs a library that is not installed.
    """

    def __init__(self, folder: Path, weights: Path | None = None, *, reads_texts: bool = True) -> None:
        self.folder = folder
        file = folder / CONFIG
        self._config = read_json(file)
        family, tensors = _family(self._config, file), Tensors(weights or folder)
        heads = _heads(family, tensors)
        family = replace(family, settings={**family.settings, **(heads[0].settings if heads else {})})
        for head in heads:
            family = replace(family, tensors={**family.tensors, **head.tensors})
        self.settings = _settings(family, self._config, file)
        self._window = _window(family, self._config, file)
        check_keys(self._config, family, self._window, file)
        if self.settings["layers"] > len(tensors):
            raise InputError(
                f"{file}: describes {self.settings['layers']:,} layers, but the weights have only "
                f"{count(len(tensors), 'tensor')}. Use the config that belongs to the weights."
            )
        self._remarks: tuple[str, ...] = ()
        if (folder / MODULES).is_file() and family.stack == "Enc":
            self._read_modules(folder)
        encodes = self.settings["model"] == "encoder"
        words: tuple[str, ...] = ()
        if reads_texts or not encodes:
            self._tokenizer = read_tokenizer(folder)
            words = distinct(self._tokenizer.words)
        self.weights = StoredWeights(tensors, family, self.settings, self._config, words)
        check_sizes(self._config, self.weights.sizes, self.weights.has, file)
        self.weights.stretch(self._config, self.settings, file)
        embeddings = self.weights.embeddings
        if len(words) > len(embeddings):
            raise InputError(
                f"{self._tokenizer.file}: has {len(words):,} tokens, but the model has embeddings for "
                f"{len(embeddings):,}. Use the tokenizer that belongs to the model."
            )
        if words and len(words) < len(embeddings) - PADDED:
            self._remarks += (
                f"The tokenizer has {len(words):,} tokens, and the model embeddings for "
                f"{len(embeddings):,}; the others are named [unused N].",
            )
        self.settings["head_switches"] = True
        if not encodes:
            few = len(words) <= FEW_WORDS
            self.settings["vocabulary"] = "all" if few else MOST_PROBABLE

    def _read_modules(self, folder: Path) -> None:
        """Take over how sentence-transformers makes one vector of a sentence.

        Raises:
            InputError: for a pooling that attn-xl does not compute.
        """
        modules = read_json(folder / MODULES, list)
        others = []
        for module in modules:
            kind = str(module.get("type") if isinstance(module, dict) else module).rpartition(".")[2]
            if kind == "Pooling":
                file = folder / Path(str(module.get("path"))).name / CONFIG
                modes = [
                    name
                    for name, on in read_json(file).items()
                    if on is True and name.startswith("pooling_mode_")
                ]
                if len(modes) != 1 or modes[0] not in POOLINGS:
                    raise InputError(
                        f"{file}: pools by {listed(modes) or 'nothing'}; attn-xl computes "
                        f"{listed([*POOLINGS])}."
                    )
                self.settings |= {"model": "encoder", "pooling": POOLINGS[modes[0]]}
                self.settings.pop("transform", None)
            elif kind == "Normalize":
                self.settings["unit_length"] = True
            elif kind != "Transformer":
                others.append(kind)
        if others:
            self._remarks = (f"Left out of {MODULES}: {listed(others)}.",)

    def tables(self, texts: Sequence[str]) -> Tables:
        """The model and texts as the tables of an input: each text becomes a sentence with one token
        per row.

        Raises:
            CallError: if there is no text, or one is longer than the model takes.
        """
        if not texts:
            raise CallError(
                f'{self.folder}: is a trained model, which needs a text: --text "the cat sat"'
            )
        tokenizer, embeddings = self._tokenizer, self.weights.embeddings
        encoded = [_encoded(tokenizer, text) for text in texts]
        longest = max(map(len, encoded))
        _check_length(longest, self._config, self.folder)
        sentences, remarks = {}, [*self._remarks]
        dims = tuple(f"d{j + 1}" for j in range(embeddings.shape[1]))
        file = str(self.folder)
        for number, (text, ids) in enumerate(zip(texts, encoded), 1):
            name = self.folder.resolve().name if len(texts) == 1 else f"text {number}"
            tokens = tuple(tokenizer.words[i] for i in ids)
            values = np.asarray(embeddings[ids], np.float64)
            sentences[name] = Table(name, values, tokens, dims, (True, True), file, name, 1, 1)
            if tokenizer.unknown in ids:
                word = tokenizer.words[tokenizer.unknown or 0]
                remarks.append(
                    f"In {text!r}, words outside the vocabulary of the model became {word!r}."
                )
        weights = self.weights.of_length(longest)
        return Tables(
            self.folder,
            sentences,
            weights,
            self.settings_of_length(longest),
            tuple(remarks),
            optional=self.weights.optional,
            longer=lambda more: self.longer(longest, more),
        )

    def settings_of_length(self, longest: int) -> dict[str, Any]:
        """The settings for a text of this many tokens: with the window, if it hides some of them."""
        return self.settings | ({"window": self._window} if longest > self._window else {})

    def longer(self, words: int, more: int) -> StoredWeights:
        """The weights for a text of this many tokens that goes on for some more.

        Raises:
            CallError: if it becomes longer than the model takes, or than its window.
        """
        _check_length(words + more, self._config, self.folder, "--generate")
        if words <= self._window < words + more:
            raise CallError(
                f"--generate: gives {words + more} tokens, and this model only attends to the last "
                f"{self._window} (sliding_window). Generate fewer words, or use a text of more than "
                f"{self._window} tokens."
            )
        return self.weights.of_length(words + more)


def _family(config: Mapping[str, Any], file: Path) -> Family:
    kind = config.get("model_type")
    for family in FAMILIES:
        if kind in family.types:
            return family
    known = ", ".join(name for family in FAMILIES for name in family.types)
    if isinstance(kind, str) and kind in NOT_COMPUTED:
        raise InputError(
            f"{file}: model_type is {kind!r}, which needs {NOT_COMPUTED[kind]}; attn-xl does not have "
            f"that. It knows: {known}."
        )
    if kind is None:
        raise InputError(f"{file}: model_type is missing. attn-xl knows: {known}.")
    raise InputError(
        f"{file}: model_type is {kind!r}, a family that attn-xl does not know. It knows: {known}."
    )


def _heads(family: Family, tensors: Tensors) -> list[Head]:
    """What stands on the layers of a checkpoint."""
    return [
        head
        for head in family.heads
        if any(
            name.startswith(f"{prefix}{head.start}") for name in tensors for prefix in family.prefixes
        )
    ]


def _settings(family: Family, config: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """The settings in a config, with the values that attn-xl gives them.

    Raises:
        InputError: for a missing key, or a value that attn-xl does not compute.
    """
    for name in ("rope_scaling", "rope_parameters"):
        if not isinstance(config.get(name), (dict, type(None))):
            raise InputError(f"{file}: {name} is {config[name]!r}; it takes an object with rope_type.")
    there = {**_rotary(config), **config}
    for name, values in family.must.items():
        value = there.get(name, values[0])
        if value not in [*values]:
            raise InputError(
                f"{file}: {name} is {value!r}, which attn-xl does not compute; it computes "
                f"{listed([repr(one) for one in values], len(values))}."
            )
    settings: dict[str, Any] = {}
    for name, key in family.settings.items():
        value = key
        if isinstance(key, Key):
            found = [there[one] for one in key.names if there.get(one) is not None]
            value = found[0] if found else key.default
            if value is REQUIRED:
                raise InputError(f"{file}: {key.names[0]} is missing.")
            if key.values and (type(value) not in (str, bool) or value not in key.values):
                raise InputError(
                    f"{file}: {key.names[0]} is {value!r}; attn-xl computes "
                    f"{', '.join(map(str, key.values))}."
                )
            value = key.values.get(value, value) if key.values else value
            _check_value(name, value, f"{file}: {key.names[0]}")
        settings[name] = value
    if settings["heads"] % settings.get("kv_heads", 1):
        raise InputError(
            f"{file}: num_key_value_heads is {settings['kv_heads']}, which does not divide the "
            f"{settings['heads']} heads."
        )
    if settings.get("kv_heads") == settings["heads"]:
        del settings["kv_heads"]
    return settings


_WHOLE = ("heads", "kv_heads", "layers")
_NUMBERS = ("epsilon", "rotary_base")
"""Settings from a config that are whole numbers of at least 1, and numbers above 0."""


def _check_value(name: str, value: Any, where: str) -> None:
    """Refuse a number in a config that no model can have."""
    if name in _WHOLE and (type(value) is not int or value < 1):
        raise InputError(f"{where} is {value!r}; it takes a whole number of at least 1.")
    if name in _NUMBERS and (type(value) not in (int, float) or not 0 < value < math.inf):
        raise InputError(f"{where} is {value!r}; it takes a number above 0.")


def _window(family: Family, config: Mapping[str, Any], file: Path) -> float:
    """How many tokens each token attends to; infinite without a window."""
    window = config.get("sliding_window", family.window) if family.window else None
    if window is None:
        return math.inf
    if type(window) is not int or window < 1:
        raise InputError(
            f"{file}: sliding_window is {window!r}; it takes a whole number of at least 1."
        )
    return window


def _rotary(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of rotary positions, which a config has under one of two names."""
    nested = config.get("rope_scaling") or config.get("rope_parameters")
    found = dict(nested) if isinstance(nested, dict) else {}
    return {**found, "rope_type": found.get("rope_type", found.get("type", "default"))}


def _number(scaling: Mapping[str, Any], name: str, file: Path) -> float | None:
    """A positive number of a config, or None without it."""
    number = scaling.get(name)
    if number is None:
        return None
    if type(number) not in (int, float) or not 0 < number < math.inf:
        raise InputError(f"{file}: {name} is {number!r}; it takes a number above 0.")
    return float(number)


def _rotary_factors(
    config: Mapping[str, Any], settings: Mapping[str, Any], width: int, file: Path
) -> Array | None:
    """The factors (1, width) of the angles of rotary positions; None if there are none.

    Source: "The Llama 3 Herd of Models" (2024), 3; `modeling_rope_utils.py` in transformers.
    """
    scaling = _rotary(config)
    kind = scaling["rope_type"]
    if settings.get("positions") != "rotary" or kind == "default":
        return None
    keys = ["factor"]
    if kind == "llama3":
        keys += ["low_freq_factor", "high_freq_factor", "original_max_position_embeddings"]
    numbers = [_number(scaling, key, file) for key in keys]
    if not all(numbers):
        raise InputError(f"{file}: the rotary positions of type {kind!r} need {', '.join(keys)}.")
    factor, *rest = (number or 1.0 for number in numbers)
    if kind == "linear":
        return np.full((1, width), 1 / factor)
    base, pairs = float(settings["rotary_base"]), np.arange(width // 2)
    low, high, longest = rest
    waves = 2 * np.pi * base ** (2 * pairs / width)  # words in a whole turn
    share = np.clip((longest / waves - low) / (high - low), 0, 1)  # of the unchanged angle
    return np.tile((1 - share) / factor + share, 2).reshape(1, -1)


def _encoded(tokenizer: Tokenizer, text: str) -> list[int]:
    ids = tokenizer.encode(text)
    if not ids:
        raise CallError(f"--text: {text!r} has no tokens. Write at least one word.")
    if max(ids) >= len(tokenizer.words):
        raise InputError(
            f"{tokenizer.file}: gives token {max(ids)}, which its vocabulary does not have."
        )
    return ids


def _check_length(length: int, config: Mapping[str, Any], folder: Path, option: str = "--text") -> None:
    for key in ("max_position_embeddings", "n_positions"):
        most = config.get(key)
        if type(most) is int and length > most:
            raise CallError(
                f"{option}: {'has' if option == '--text' else 'gives'} {length:,} tokens, but {folder} "
                f"takes {most:,} ({key}). Use a shorter text."
            )


class StoredWeights(Mapping[str, Table]):
    """The weights of a checkpoint by name. Each is read from its file whenever it is asked for, in the
    precision that it is stored in.

    Raises:
        InputError: if tensors are missing, have other shapes, or are left over.
    """

    def __init__(
        self,
        tensors: Tensors,
        family: Family,
        settings: Mapping[str, Any],
        config: Mapping[str, Any],
        labels: Sequence[str] = (),
    ) -> None:
        self._tensors, self._family, self._labels = tensors, family, labels
        self._heads, self._longest = int(settings["heads"]), 1
        self._finite: set[str] = set()
        self._factors: Array = np.ones((1, 0))
        self._prefix = max(
            family.prefixes, key=lambda start: f"{start}{family.words}.weight" in tensors
        )
        self._words = f"{self._prefix}{family.words}.weight"
        self._places = self._found(int(settings["layers"]))
        tied = config.get("tie_word_embeddings", family.tied)
        if family.stack == "Dec" or "Transform.W_1" in self._places:
            self._places[VOCABULARY] = _Place(self._words)
        if tied and "W_U" in self._places:
            self._check_tied(self._places.pop("W_U").tensor)
        if family.segments:
            self._places[SEGMENT] = _Place(f"{self._prefix}{family.segments}.weight")
        if family.positions:
            self._places["W_P"] = _Place(f"{self._prefix}{family.positions}.weight")
        self._require(int(settings["layers"]), tied)
        self._check_shapes(settings)

    def stretch(self, config: Mapping[str, Any], settings: Mapping[str, Any], file: Path) -> None:
        """Add the factors of rotary positions, if the config has some."""
        if settings.get("positions") != "rotary":
            return
        width = next(
            self._shape(name, place)[1] for name, place in self._places.items() if name.endswith("W_Q")
        )
        factors = _rotary_factors(config, settings, width // self._heads, file)
        if factors is not None:
            self._factors, self._places[FACTORS] = factors, _Place(CONFIG)

    def of_length(self, longest: int) -> StoredWeights:
        """The same weights, with positions for a text of this many tokens."""
        made = copy(self)
        made._longest = longest
        return made

    def _check_tied(self, tensor: str) -> None:
        """Refuse an output matrix that is not the embeddings, though the config says that it is.

        Raises:
            InputError: naming the tensor.
        """
        if not np.array_equal(self._tensors[tensor], self._tensors[self._words]):
            raise InputError(
                f"{self._tensors.file(tensor)}: {tensor} is not {self._words}, but {CONFIG} says that "
                "they are one (tie_word_embeddings). Set it to false if the weights are right."
            )

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes of the model, as the shapes of its tensors say them."""
        family, tensors = self._family, self._tensors
        words, d = tensors.shape(self._words)
        sizes = {"words": words, "d": d}
        for what, name in (("positions", family.positions), ("segments", family.segments)):
            if name:
                sizes[what] = tensors.shape(f"{self._prefix}{name}.weight")[0]
        for what, weight in (("hidden", "W_1"), ("head", "W_Q")):
            names = [name for name in self._places if re.fullmatch(rf"\w+\.{weight}", name)]
            for name in names[:1]:
                sizes[what] = self._shape(name, self._places[name])[1]
        sizes["head"] //= self._heads
        return sizes

    def has(self, weight: str) -> bool:
        """Whether some layer has a weight: `b_Q`."""
        return any(name.endswith(f".{weight}") for name in self._places)

    @property
    def optional(self) -> frozenset[str]:
        """The weights of what stands on the layers, which a model need not use."""
        own = ("Pooler.", "Transform.", "W_U", "b_U", VOCABULARY)
        return frozenset(name for name in self._places if name.startswith(own))

    def __getitem__(self, weight: str) -> Table:
        place = self._places[weight]
        if weight == FACTORS:
            labels = tuple(f"d{j + 1}" for j in range(self._factors.shape[1]))
            file = place.tensor
            return Table(weight, self._factors, (weight,), labels, (False, False), file, CONFIG, 1, 1)
        values, words = self._values(weight, place), self._labels
        file = str(self._tensors.file(place.tensor))
        if weight not in self._finite:
            if not np.isfinite(values).all():
                raise InputError(f"{file}: {place.tensor} has a number that is not finite.")
            self._finite.add(weight)
        n, m = values.shape
        columns = tuple(f"d{j + 1}" for j in range(m))
        rows, labelled = tuple(f"r{i + 1}" for i in range(n)), (False, False)
        if weight == VOCABULARY:
            rows, labelled = _padded(words, n), (True, True)
        elif weight == "W_U":
            columns, labelled = _padded(words, m), (False, True)
        return Table(weight, values, rows, columns, labelled, file, place.tensor, 1, 1)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, weight: object) -> bool:
        return weight in self._places

    @property
    def embeddings(self) -> Array:
        """The embedding of every token, (v, d), as it is stored."""
        return self._tensors[self._words]

    def _values(self, weight: str, place: _Place) -> Array:
        values = self._tensors[place.tensor]
        if weight == "W_P":
            first = self._family.first_position
            return values[first : first + self._longest]
        if weight == SEGMENT:
            return values[:1]  # a single text belongs to the first segment
        if weight == VOCABULARY:
            return values
        if place.parts > 1:
            values = self._part(values, place)
        if values.ndim == 1:
            return values.reshape(1, -1)
        return values.T if self._turned(weight) else values

    def _turned(self, weight: str) -> bool:
        """Whether a matrix is stored out x in; the output matrix is in every family."""
        return self._family.turned or weight == "W_U"

    def _part(self, values: Array, place: _Place) -> Array:
        """One of several stacked weights."""
        if not self._family.turned:  # side by side
            return np.split(values, place.parts, axis=-1)[place.part]
        return np.split(values, place.parts)[place.part]

    def _found(self, layers: int) -> dict[str, _Place]:
        """The place of every weight.

        Raises:
            InputError: if a tensor belongs to no part of the model.
        """
        family, found, left = self._family, dict[str, _Place](), []
        others = {f"{name}.weight" for name in (family.words, family.positions, family.segments)}
        for name in self._tensors:
            bare = name.removeprefix(self._prefix)
            path, _, kind = bare.rpartition(".")
            number = _NUMBER.search(path)
            roles = family.tensors.get(_NUMBER.sub(ALL, path, count=1), "").split()
            inside = number is None or int(number[0]) < layers
            if roles and inside and kind in ("weight", "bias"):
                layer = f"{family.stack}{int(number[0]) + 1}." if number else ""
                for i, role in enumerate(roles):
                    if kind == "bias":
                        role = role.replace("W_", "b_").replace("gamma", "beta")
                    found[layer + role] = _Place(name, i, len(roles))
            elif bare not in others and not any(part in f".{bare}" for part in family.ignored):
                left.append(name)
        if left:
            raise InputError(
                f"{self._tensors.path}: {listed(sorted(left), 3)} {'is' if len(left) == 1 else 'are'} "
                f"not part of a {family.types[0]} model with {count(layers, 'layer')}, as {CONFIG} "
                "describes it. Use the config that belongs to the weights."
            )
        return dict(sorted(found.items(), key=lambda item: _order(item[0])))

    def _require(self, layers: int, tied: bool) -> None:
        """Refuse a checkpoint that lacks a tensor: one that its family always has, or that another
        layer has.

        Raises:
            InputError: naming the tensor.
        """
        family = self._family
        names = [name for name in (family.words, family.positions, family.segments) if name]
        wanted = {f"{name}.weight" for name in names}
        for path, roles in family.tensors.items():
            head = roles == "W_U"
            for kind in ("bias",) if roles.startswith("b_") else ("weight", "bias"):
                there = [
                    f"{self._prefix}{path.replace(ALL, str(layer))}.{kind}" in self._tensors
                    for layer in range(layers if ALL in path else 1)
                ]
                always = kind == "weight" or family.biased
                if head:
                    always = not tied if kind == "weight" else family.biased_words
                if always or (any(there) and not head):
                    wanted |= {f"{path.replace(ALL, str(layer))}.{kind}" for layer in range(len(there))}
        missing = [
            name
            for name in sorted(wanted, key=_order)
            if name not in self._tensors and f"{self._prefix}{name}" not in self._tensors
        ]
        if missing:
            heads = {path for path, roles in family.tensors.items() if roles in ("W_U", "b_U")}
            what = "Download them again."
            if {name.rpartition(".")[0] for name in missing} <= heads:
                what = (
                    "The model was saved without its head, which gives the next words: save it from "
                    "AutoModelForCausalLM or AutoModelForMaskedLM."
                )
            raise InputError(
                f"{self._tensors.path}: {listed([self._prefix + name for name in missing], 3)} "
                f"{'is' if len(missing) == 1 else 'are'} missing from the weights. {what}"
            )

    def _check_shapes(self, settings: Mapping[str, Any]) -> None:
        """Refuse tensors whose shapes do not fit together.

        Raises:
            InputError: naming the tensor, its shape and the one it needs.
        """
        heads, d = self._heads, self._tensors.shape(self._words)[-1]
        kv_heads = int(settings.get("kv_heads", heads))
        sizes: dict[str, int] = {"d": d}
        for weight, place in self._places.items():
            stack, _, symbol = weight.rpartition(".")
            across = _SHAPES.get(symbol) or ("", _WIDTHS.get(symbol, "d"))
            shape = self._shape(weight, place)
            known = {**sizes, "": 1}
            needed = tuple(known.get(f"{stack}.{one}", known.get(one, size))
                           for one, size in zip(across, shape))  # fmt: skip
            if len(shape) != 2 or needed != shape:
                raise InputError(
                    f"{self._tensors.file(place.tensor)}: {place.tensor} is "
                    f"{_times(self._tensors.shape(place.tensor))}, which gives {weight} "
                    f"{_times(shape)} numbers; it needs {_times(needed)}. Use the {CONFIG} that "
                    "belongs to the weights."
                )
            sizes |= {
                f"{stack}.{one}": size for one, size in zip(across, shape) if one not in ("", "d")
            }
            for which, among in (("q", heads), ("k", kv_heads), ("v", kv_heads)):
                if which in across and sizes[f"{stack}.{which}"] % among:
                    raise InputError(
                        f"{self._tensors.file(place.tensor)}: {place.tensor} gives {weight} "
                        f"{sizes[f'{stack}.{which}']} columns, which do not split into the {among} "
                        f"heads of {CONFIG}."
                    )

            q, k = (sizes.get(f"{stack}.{which}", 0) for which in "qk")
            if q and k and q // heads != k // kv_heads:
                raise InputError(
                    f"{self._tensors.file(place.tensor)}: {place.tensor} gives the heads queries of "
                    f"{q // heads} dimensions, but keys of {k // kv_heads}. Use the {CONFIG} that "
                    "belongs to the weights."
                )

    def _shape(self, weight: str, place: _Place) -> tuple[int, ...]:
        """The shape of a weight, from the header of its file."""
        shape = self._tensors.shape(place.tensor)
        if weight == VOCABULARY or len(shape) > 2 or not shape:
            return shape
        if weight in ("W_P", SEGMENT):
            rows = self._longest if weight == "W_P" else 1
            return (rows, shape[1]) if len(shape) == 2 else shape
        if len(shape) == 1:
            return 1, shape[0] // place.parts
        rows, columns = shape[::-1] if self._turned(weight) else shape
        return rows, columns // place.parts


_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
_SHAPES = {"W_Q": "dq", "W_K": "dk", "W_V": "dv", "W_O": "od", "W_1": "dh", "W_G": "dh", "W_2": "hd",
           "W_U": "du", "W_P": "nd", VOCABULARY: "wd"}  # fmt: skip
"""Rows and columns of each weight; equal letters are equal in a layer, `d` in all of them."""
_WIDTHS = {"b_Q": "q", "b_K": "k", "b_V": "v", "b_1": "h", "b_G": "h", "b_U": "u"}
"""The columns of a row; `d` for all others."""


def _order(name: str) -> list[Any]:
    """A key that sorts layer 2 before layer 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _padded(words: Sequence[str], length: int) -> tuple[str, ...]:
    """The words of a vocabulary, with labels for the embeddings beyond it, which fill up the matrix."""
    return (*words[:length], *(f"[unused {i}]" for i in range(len(words), length)))


def _times(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape))
