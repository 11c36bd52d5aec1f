"""Options in combination, by PyTorch: every two values of every two options of a model come together in
some case, which tests/models/test_torch.py holds against attn_xl.

    python tests/data/make_torch_products.py

writes `products.npz` beside this file: the outputs, and the shapes of what goes in, which is drawn
again from the case's name. The reference is written in torch's own functions, float64; it knows nothing
of attn_xl but the names of its settings, weights and steps. What `nn.Transformer` has, too,
`make_torch_data.py` compares with that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from make_torch_data import Array, Case, Draw, Weights

if TYPE_CHECKING:
    from torch import Tensor

PATH = Path(__file__).parent / "products.npz"
D, MOST_TRIES = 6, 40
Choices = dict[str, Any]

SCORING: dict[str, Sequence[Any]] = {
    "n": (4, 5),
    "m": (5, 3),
    "heads": (1, 2, 3),
    "padded": (0, 1),
    "own_mask": ("", "plain", "named"),
    "positions": ("none", "sinusoidal"),
    "scale": (True, False),
    "temperature": (None, 1.75, 0.5),
    "dropout": (0.0, 0.25),
    "bias": (True, False),
}
LAYERS: dict[str, Sequence[Any]] = {
    **SCORING,
    "own_mask": ("", "stack", "layer"),
    "norm": ("post", "pre"),
    "final": (False, True),
    "norm_variance": ("population", "sample"),
    "norm_epsilon": ("inside", "outside"),
    "epsilon": (1e-5, 0.01),
    "activation": ("relu", "gelu", "gelu-tanh"),
    "hidden": (5, 9),
    "residual_dropout": (0.0, 0.25),
    "encoder_layers": (1, 2),
    "decoder_layers": (1, 2),
}
FACTORS: dict[str, dict[str, Sequence[Any]]] = {
    "attention": {
        **SCORING,
        "heads": (None, 1, 2),
        "memory": (False, True),
        "causal": (False, True),
        "normalize": ("softmax", "sum"),
        "projected": (True, False),
    },
    "encoder": {**LAYERS, "causal": (False, True), "decoder_layers": (0,)},
    "decoder": {**LAYERS, "padded_target": (0, 1), "encoder_layers": (0,)},
    "encoder-decoder": {**LAYERS, "padded_target": (0, 1)},
    "decoder-only": {
        **LAYERS, "own_mask": ("", "plain", "layer"), "encoder_layers": (0,),
        "unembedding": ("tied", "tied and bias", "W_U", "W_U and bias"),
    },
    "softmax": {"n": (4,), "temperature": (None, 0.5), "normalize": ("softmax", "sum")},
    "norm": {
        "n": (4,),
        "stretched": ("", "gamma", "beta", "gamma beta"),
        **{name: LAYERS[name] for name in ("norm_variance", "norm_epsilon", "epsilon")},
    },
    "feed-forward": {
        "n": (4,), **{name: LAYERS[name] for name in ("activation", "hidden", "bias")}
    },
    "positions": {"n": (4, 5)},
}  # fmt: skip


OPTIONS = (
    "heads", "normalize", "positions", "scale", "temperature", "dropout", "norm", "norm_variance",
    "norm_epsilon", "epsilon", "activation", "residual_dropout", "causal", "encoder_layers",
    "decoder_layers",
)  # fmt: skip
"""The factors that are settings of attn_xl."""


def possible(c: Choices) -> bool:
    """Whether attn_xl takes a combination: a plain sum goes with no mask."""
    masked = c.get("causal") or c.get("padded") or c.get("own_mask")
    return not (c.get("normalize") == "sum" and masked) or "heads" not in c


def every_pair(factors: Mapping[str, Sequence[Any]], seed: str) -> Iterator[Choices]:
    """Cases in which every possible two values of two options come together, greedily few."""
    rng = np.random.default_rng(list(seed.encode()))
    names = list(factors)
    if len(names) == 1:
        yield from ({names[0]: value} for value in factors[names[0]])
        return
    left = {
        ((a, i), (b, j))
        for a, b in combinations(names, 2)
        for i, j in product(range(len(factors[a])), range(len(factors[b])))
    }
    given_up = 0
    while left and given_up < MOST_TRIES:
        best: tuple[int, dict[str, int]] = (0, {})
        first = sorted(left)[int(rng.integers(len(left)))]
        for _ in range(MOST_TRIES):
            drawn = {name: int(rng.integers(len(factors[name]))) for name in names} | dict(first)
            if possible({name: factors[name][i] for name, i in drawn.items()}):
                new = sum(pair in left for pair in _pairs(drawn))
                best = max(best, (new, drawn), key=lambda one: one[0])
        if not best[0]:
            given_up += 1
            left.discard(first)
            continue
        left -= set(_pairs(best[1]))
        yield {name: factors[name][i] for name, i in best[1].items()}


def _pairs(drawn: Mapping[str, int]) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    return combinations(drawn.items(), 2)


def drawn(case: str, name: str, shape: Sequence[int], positive: bool = False) -> Array:
    """A table that goes into a case, by both names: always the same."""
    draw, base = Draw(f"{case}/{name}"), name.rpartition(".")[2]
    if base.startswith("DropoutMask"):
        return np.asarray((draw(*shape) > -0.5).astype(float))
    learned = base not in ("target", "source", "Mask")
    gamma = base.startswith("gamma")
    numbers = draw(*shape, scale=0.5 if learned else 1.0, around=float(gamma))
    return np.abs(numbers) if positive else numbers


class Given:
    """What goes into a case: settings, sentences, weights, and masks of dropout in the order in which
    they are used."""

    def __init__(self, name: str, model: str, choices: Choices) -> None:
        self.name, self.model, self.c = name, model, choices
        c = choices
        self.memory = bool(c.get("memory")) or model in ("decoder", "encoder-decoder")
        self.x = self._drawn("target", c["n"], D)
        self.source = self._drawn("source", c["m"], D) if self.memory else None
        self.weights: Weights = {}
        self._masks = 0
        self.settings: Choices = {"model": model} | {
            option: c[option]
            for option in OPTIONS
            if c.get(option) is not None and not (option.endswith("layers") and not c[option])
        }
        if self.memory:
            self.settings["memory"] = "source"

    def _drawn(self, name: str, *shape: int) -> Array:
        return drawn(self.name, name, shape, positive(self.c))

    def weight(self, name: str, *shape: int) -> Tensor:
        """A weight, drawn when it is first asked for."""
        import torch

        if name not in self.weights:
            self.weights[name] = self._drawn(name, *shape)
        return torch.from_numpy(self.weights[name])

    def bias(self, name: str, width: int) -> Tensor | float:
        return self.weight(name, 1, width) if self.c.get("bias") else 0.0

    def dropped(self, x: Tensor, share: float) -> Tensor:
        """x with a share of it dropped by a mask that attn_xl is given, too."""
        if not share:
            return x
        self._masks += 1
        return x * self.weight(f"DropoutMask#{self._masks}", *x.shape) / (1 - share)


def positive(choices: Choices) -> bool:
    """Whether all numbers are, so that no plain sum is near 0."""
    return choices.get("normalize") == "sum"


class Reference:
    """The models in torch's functions."""

    def __init__(self, given: Given) -> None:
        self.g, self.c = given, given.c

    def positioned(self, x: Tensor) -> Tensor:
        """As in torch's own tutorials."""
        import torch

        if self.c.get("positions") != "sinusoidal" and self.g.model != "positions":
            return x
        n, d = x.shape
        place = torch.arange(n, dtype=torch.float64)[:, None]
        rate = torch.exp(torch.arange(0, d, 2, dtype=torch.float64) * (-math.log(10000.0) / d))
        waves = torch.zeros(n, d, dtype=torch.float64)
        waves[:, 0::2], waves[:, 1::2] = torch.sin(place * rate), torch.cos(place * rate)
        return self.g.dropped(x + waves, self.c.get("residual_dropout", 0.0))

    def weights_of(self, scores: Tensor) -> Tensor:
        if self.c.get("normalize") == "sum":
            return scores / scores.sum(-1, keepdim=True)
        return scores.softmax(-1)

    def own_mask(self, at: str, n: int, m: int) -> Tensor | float:
        """Drawn once for all that it serves."""
        kind = self.c["own_mask"]
        if not kind:
            return 0.0
        stack = at.replace("1.", ".").replace("2.", ".")
        name = {"plain": "Mask", "named": "Mask", "stack": f"{stack}Mask", "layer": f"{at}Mask"}[kind]
        return self.g.weight(name, n, m)

    def attention(
        self, x: Tensor, memory: Tensor, at: str, causal: bool, padded: int, heads: int | None
    ) -> Tensor:
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        n, m, g = len(x), len(memory), self.g
        mask = torch.zeros(n, m, dtype=torch.float64) + self.own_mask(at, n, m)
        if causal:
            mask = mask.masked_fill(torch.ones(n, m, dtype=torch.bool).triu(1), -math.inf)
        if padded:
            mask = mask.masked_fill((torch.arange(m) >= m - padded)[None], -math.inf)
        q, k, v = x, memory, memory
        if heads is not None or self.c.get("projected", True):
            q = x @ g.weight(f"{at}W_Q", D, D) + g.bias(f"{at}b_Q", D)
            k = memory @ g.weight(f"{at}W_K", D, D) + g.bias(f"{at}b_K", D)
            v = memory @ g.weight(f"{at}W_V", D, D) + g.bias(f"{at}b_V", D)
        parts = []
        for q_h, k_h, v_h in zip(*(y.chunk(heads or 1, -1) for y in (q, k, v))):
            factor = (k_h.shape[-1] ** -0.5 if self.c["scale"] else 1.0) / (self.c["temperature"] or 1)
            if not self.c["dropout"] and self.c.get("normalize") != "sum":
                parts.append(scaled_dot_product_attention(q_h, k_h, v_h, attn_mask=mask, scale=factor))
                continue
            weights = self.weights_of(q_h @ k_h.T * factor + mask)
            parts.append(g.dropped(weights, self.c["dropout"]) @ v_h)
        if heads is None:
            return parts[0]
        return torch.cat(parts, -1) @ g.weight(f"{at}W_O", D, D) + g.bias(f"{at}b_O", D)

    def norm(self, x: Tensor, name: str) -> Tensor:
        from torch.nn.functional import layer_norm

        gamma = self.g.weight(name.replace("Norm", "gamma"), 1, D)
        beta = self.g.weight(name.replace("Norm", "beta"), 1, D)
        c = self.c
        if c["norm_variance"] == "population" and c["norm_epsilon"] == "inside":
            return layer_norm(x, (D,), gamma[0], beta[0], c["epsilon"])
        return self.normed(x) * gamma + beta

    def normed(self, x: Tensor) -> Tensor:
        c, centred = self.c, x - x.mean(-1, keepdim=True)
        sample = c["norm_variance"] == "sample"
        if c["norm_epsilon"] == "outside":
            return centred / (x.std(-1, unbiased=sample, keepdim=True) + c["epsilon"])
        return centred * (x.var(-1, unbiased=sample, keepdim=True) + c["epsilon"]).rsqrt()

    def feed_forward(self, x: Tensor, at: str = "") -> Tensor:
        from torch.nn.functional import gelu, linear, relu

        g, width = self.g, self.c["hidden"]
        inner = linear(x, g.weight(f"{at}W_1", D, width).T) + g.bias(f"{at}b_1", width)
        kind = self.c["activation"]
        active = (
            relu(inner)
            if kind == "relu"
            else gelu(inner, approximate="tanh" if kind == "gelu-tanh" else "none")
        )
        return linear(active, g.weight(f"{at}W_2", width, D).T) + g.bias(f"{at}b_2", D)

    def sublayer(self, x: Tensor, run: Any, at: str, number: int) -> Tensor:
        name, share = f"{at}Norm_{number}", self.c["residual_dropout"]
        if self.c["norm"] == "pre":
            return x + self.g.dropped(run(self.norm(x, name)), share)
        return self.norm(x + self.g.dropped(run(x), share), name)

    def stack(
        self, x: Tensor, memory: Tensor | None, kind: str, layers: int, causal: bool,
        padded: int, padded_memory: int,
    ) -> tuple[Tensor, str]:  # fmt: skip
        """What a stack makes of x, and the step that it is."""
        heads = self.c["heads"]
        for layer in range(1, layers + 1):
            at = f"{kind}{layer}."
            inner = f"{at}Self." if memory is not None else at
            x = self.sublayer(
                x, lambda y, at=inner: self.attention(y, y, at, causal, padded, heads), at, 1
            )
            number = 2
            if memory is not None:
                x = self.sublayer(
                    x,
                    lambda y, at=f"{at}Cross.": self.attention(
                        y, memory, at, False, padded_memory, heads
                    ),
                    at,
                    2,
                )
                number = 3
            x = self.sublayer(x, lambda y, at=at: self.feed_forward(y, at), at, number)
        last = f"{kind}{layers}.{'Sum' if self.c['norm'] == 'pre' else 'Norm'}_{number}"
        if self.c["norm"] == "pre" or self.c["final"]:
            return self.norm(x, f"{kind}.Norm"), f"{kind}.Norm"
        return x, last


def run(name: str, model: str, choices: Choices) -> Case:
    """A case with torch's outputs."""
    import torch

    g = Given(name, model, choices)
    r, c = Reference(g), choices
    outputs: dict[str, Tensor] = {}
    padded, padded_target = c.get("padded", 0), c.get("padded_target", 0)
    x = torch.from_numpy(g.x)
    memory = None if g.source is None else torch.from_numpy(g.source)
    if model == "softmax":
        name_of = "Weights" if c["normalize"] == "sum" else "Softmax"
        outputs[name_of] = r.weights_of(x / (c["temperature"] or 1))
    elif model == "norm":
        stretched = c["stretched"].split()
        y = r.normed(x)
        y = y * g.weight("gamma", 1, D) if "gamma" in stretched else y
        outputs["Norm"] = y + g.weight("beta", 1, D) if "beta" in stretched else y
    elif model == "feed-forward":
        outputs["FeedForward"] = r.feed_forward(x)
    else:
        x = r.positioned(x)
    if model == "positions":
        outputs["Embedded"] = x
    elif model == "attention":
        memory = r.positioned(memory) if memory is not None else x
        outputs["Output"] = r.attention(x, memory, "", c["causal"], padded, c["heads"])
    elif model == "encoder":
        outputs = _named(*r.stack(x, None, "Enc", c["encoder_layers"], c["causal"], padded, 0)[::-1])
    elif model == "decoder-only":
        y, step = r.stack(x, None, "Dec", c["decoder_layers"], True, padded, 0)
        outputs = _named(step, y)
        vocabulary = g.weight("W_U", D, 7) if "W_U" in c["unembedding"] else None
        logits = y @ (g.weight("Vocabulary", 7, D).T if vocabulary is None else vocabulary)
        logits = logits + g.weight("b_U", 1, 7) if "bias" in c["unembedding"] else logits
        outputs |= {"Logits": logits, "Probabilities": logits.softmax(-1)}
    elif model in ("decoder", "encoder-decoder"):
        assert memory is not None
        if model == "encoder-decoder":
            memory = r.positioned(memory)
            memory, step = r.stack(memory, None, "Enc", c["encoder_layers"], False, padded, 0)
            outputs |= _named(step, memory)
        y, step = r.stack(x, memory, "Dec", c["decoder_layers"], True, padded_target, padded)
        outputs |= _named(step, y)
    sentences = {"target": g.x} | ({} if g.source is None else {"source": g.source})
    where = {"source": padded, "target": padded_target} if g.memory else {"target": padded}
    arrays = {step: np.asarray(y.detach().numpy()) for step, y in outputs.items()}
    return Case(g.settings, sentences, g.weights, arrays, where)


def _named(step: str, y: Tensor) -> dict[str, Tensor]:
    return {step: y}


PRODUCTS: dict[str, tuple[str, Choices]] = {
    f"{model}-{number}": (model, choices)
    for model, factors in FACTORS.items()
    for number, choices in enumerate(every_pair(factors, model), 1)
}
"""Every case: its model and its choices, by name."""


def load(name: str) -> Case:
    """A case with the outputs that are kept; without torch."""
    with np.load(PATH) as arrays:
        told = json.loads(str(arrays["told"]))[name]
        outputs = {
            key.partition("/")[2]: arrays[key] for key in arrays.files if key.startswith(f"{name}/")
        }
    parts = [
        {key: drawn(name, key, shape, positive(told["settings"])) for key, shape in told[part].items()}
        for part in ("sentences", "weights")
    ]
    return Case(told["settings"], parts[0], parts[1], outputs, told["padded"])


def main() -> None:
    """Write the outputs of every case, and the shapes of what goes in."""
    made: dict[str, Any] = {}
    told = {}
    for name, (model, choices) in PRODUCTS.items():
        case = run(name, model, choices)
        made |= {f"{name}/{step}": y for step, y in case.outputs.items()}
        told[name] = {
            "settings": case.settings,
            "padded": case.padded,
            "sentences": {key: x.shape for key, x in case.sentences.items()},
            "weights": {key: x.shape for key, x in case.weights.items()},
        }
    np.savez_compressed(PATH, told=np.array(json.dumps(told)), **made)


if __name__ == "__main__":
    main()
