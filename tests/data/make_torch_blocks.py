"""The blocks of today's language models, by PyTorch: every two values of every two options come
together in some case, which tests/models/test_blocks.py holds against attn_xl.

    python tests/data/make_torch_blocks.py

writes `blocks.npz` beside this file: the outputs, and the shapes of what goes in, which is drawn again
from the case's name. Attention is torch's `scaled_dot_product_attention` with `enable_gqa` where its
scores are plain, norms are its `rms_norm` and `layer_norm`, activations its own. Rotations, slopes,
and windows are plain loops over numbers.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from make_torch_data import Array, Case, Weights
from make_torch_products import Choices, drawn, every_pair

if TYPE_CHECKING:
    from torch import Tensor

PATH = Path(__file__).parent / "blocks.npz"
D, WORDS = 8, 5

SCORING: dict[str, Sequence[Any]] = {
    "heads": (1, 2, 4),
    "kv_heads": (1, 2, None),
    "positions": ("none", "learned", "rotary", "alibi", "sinusoidal"),
    "rotary_pairs": ("half", "neighbours"),
    "rotary_base": (10000.0, 50.0),
    "window": (None, 2, 3),
    "temperature": (None, 0.5),
    "bias": (False, True),
}
NETWORK: dict[str, Sequence[Any]] = {
    "activation": ("silu", "swiglu", "geglu", "geglu-tanh", "gelu"),
    "bias": (False, True),
}
LAYERS: dict[str, Sequence[Any]] = {
    **SCORING,
    **NETWORK,
    "layers": (1, 2),
    "norm": ("pre", "post"),
    "norm_type": ("rms", "layer"),
    "norm_epsilon": ("inside", "outside"),
    "epsilon": (1e-5, 0.01),
}
FACTORS: dict[str, dict[str, Sequence[Any]]] = {
    "attention": {**SCORING, "causal": (False, True)},
    "encoder": {**LAYERS, "causal": (False, True)},
    "decoder-only": {**LAYERS, "tied": (True, False)},
    "feed-forward": {**NETWORK},
    "norm": {
        "norm_type": ("rms",), "norm_epsilon": ("inside", "outside"), "epsilon": (1e-5, 0.01),
        "stretched": ("", "gamma", "gamma beta"),
    },
}  # fmt: skip
NEEDS = {"rotary_pairs": "positions", "rotary_base": "positions"}
"""Options that have an effect only beside another."""
WANTED = {"positions": "rotary"}
OWN = ("bias", "tied", "stretched")
"""Factors that are no settings of attn_xl."""


def has_effect(c: Choices, name: str) -> bool:
    """Whether an option has an effect beside the others."""
    need = NEEDS.get(name)
    return need is None or bool(c[need] == WANTED[need])


def settled(choices: Choices) -> Choices:
    """The choices without those that have no effect, or that do not go together."""
    c = dict(choices)
    if c.get("kv_heads") and c["heads"] % c["kv_heads"]:
        c["kv_heads"] = None
    for name, values in {**LAYERS, **FACTORS["decoder-only"]}.items():
        if name in c and not has_effect(c, name):
            c[name] = values[0]
    return c


class Reference:
    """The models in torch's functions, and the weights that they ask for."""

    def __init__(self, name: str, choices: Choices) -> None:
        self.name, self.c = name, choices
        self.weights: Weights = {}
        self.x = drawn(name, "target", (WORDS, D))

    def w(self, name: str, *shape: int) -> Tensor:
        import torch

        if name not in self.weights:
            self.weights[name] = drawn(self.name, name, shape)
        return torch.from_numpy(self.weights[name])

    def linear(self, x: Tensor, name: str, width: int) -> Tensor:
        y = x @ self.w(name, x.shape[-1], width)
        return y + self.w(name.replace("W_", "b_"), 1, width) if self.c["bias"] else y

    def normed(self, x: Tensor, kind: str, gamma: Tensor | None, beta: Tensor | None) -> Tensor:
        from torch.nn.functional import layer_norm, rms_norm

        epsilon, shape = self.c["epsilon"], (x.shape[-1],)
        row = None if gamma is None else gamma[0]
        if self.c.get("norm_epsilon") == "outside":
            if kind == "rms":
                y = x / (x.square().mean(-1, keepdim=True).sqrt() + epsilon)
            else:
                centred = x - x.mean(-1, keepdim=True)
                y = centred / (x.std(-1, unbiased=False, keepdim=True) + epsilon)
            y = y if row is None else y * row
        elif kind == "rms":
            y = rms_norm(x, shape, row, epsilon)
        else:
            y = layer_norm(x, shape, row, None, epsilon)
        return y if beta is None else y + beta

    def norm(self, x: Tensor, at: str, number: str) -> Tensor:
        kind = self.c["norm_type"]
        gamma = self.w(f"{at}gamma{number}", 1, D)
        shifts = kind == "layer" or self.c["bias"]
        return self.normed(x, kind, gamma, self.w(f"{at}beta{number}", 1, D) if shifts else None)

    def rotated(self, x: Tensor) -> Tensor:
        """Number by number, as the paper has it."""
        if self.c["positions"] != "rotary":
            return x
        r = x.shape[-1]
        y = x.clone()
        for place in range(len(x)):
            for i in range(r // 2):
                a, b = (2 * i, 2 * i + 1) if self.c["rotary_pairs"] == "neighbours" else (i, i + r // 2)
                angle = place * self.c["rotary_base"] ** (-2 * i / r)
                cosine, sine = math.cos(angle), math.sin(angle)
                y[place, a] = x[place, a] * cosine - x[place, b] * sine
                y[place, b] = x[place, b] * cosine + x[place, a] * sine
        return y

    def bias_of_scores(self, head: int) -> Tensor:
        """0 or -inf by the masks, less the slope times the distance."""
        import torch

        c = self.c
        made = torch.zeros(WORDS, WORDS, dtype=torch.float64)
        for i in range(WORDS):
            for j in range(WORDS):
                far = c["window"] and abs(i - j) >= c["window"]
                if far or (c.get("causal", True) and j > i):
                    made[i, j] = -math.inf
                elif c["positions"] == "alibi":
                    made[i, j] = -abs(i - j) * 2.0 ** (-8 * head / c["heads"])
        return made

    def attended(self, qs: list[Tensor], ks: list[Tensor], vs: list[Tensor]) -> Tensor:
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        c = self.c
        factor = 1 / math.sqrt(qs[0].shape[-1]) / (c["temperature"] or 1.0)
        biases = torch.stack([self.bias_of_scores(h + 1) for h in range(len(qs))])
        q, k, v = (torch.stack(parts) for parts in (qs, ks, vs))
        out = scaled_dot_product_attention(
            q[None], k[None], v[None], attn_mask=biases, scale=factor, enable_gqa=len(ks) < len(qs)
        )[0]
        return torch.cat(list(out), -1)

    def attention(self, x: Tensor, at: str) -> Tensor:
        import torch

        c = self.c
        heads, groups = c["heads"], c["kv_heads"] or c["heads"]
        d_k = D // heads
        qs = self.linear(x, f"{at}W_Q", D).chunk(heads, -1)
        ks = self.linear(x, f"{at}W_K", groups * d_k).chunk(groups, -1)
        vs = self.linear(x, f"{at}W_V", groups * d_k).chunk(groups, -1)
        qs = [self.rotated(q) for q in qs]
        ks = [self.rotated(k) for k in ks]
        torch.set_grad_enabled(True)
        return self.linear(self.attended(qs, ks, list(vs)), f"{at}W_O", D)

    def feed_forward(self, x: Tensor, at: str) -> Tensor:
        from torch.nn.functional import gelu, silu

        kind = self.c["activation"]
        function = {"silu": silu, "swiglu": silu, "gelu": gelu, "geglu": gelu}.get(
            kind, lambda y: gelu(y, approximate="tanh")
        )
        inner = self.linear(x, f"{at}W_1", 6)
        gate = self.linear(x, f"{at}W_G", 6) if "glu" in kind else None
        active = function(inner) if gate is None else function(gate) * inner
        return self.linear(active, f"{at}W_2", D)

    def layer(self, x: Tensor, at: str) -> Tensor:
        c = self.c
        for run, number in ((self.attention, "_1"), (self.feed_forward, "_2")):
            if c["norm"] == "pre":
                x = x + run(self.norm(x, at, number), at)
            else:
                x = self.norm(x + run(x, at), at, number)
        return x

    def positioned(self, x: Tensor) -> Tensor:
        import torch

        if self.c["positions"] == "learned":
            return x + self.w("W_P", WORDS + 2, D)[:WORDS]
        if self.c["positions"] == "sinusoidal":
            waves = [
                [(math.cos if j % 2 else math.sin)(i / 10000 ** (j // 2 * 2 / D)) for j in range(D)]
                for i in range(WORDS)
            ]
            return x + torch.tensor(waves, dtype=torch.float64)
        return x


def run(name: str, model: str, choices: Choices) -> Case:
    """A case with torch's outputs."""
    import torch

    c = settled(choices)
    if model == "decoder-only":
        c["causal"] = True
    r = Reference(name, c)
    x = torch.from_numpy(r.x)
    outputs: dict[str, Tensor] = {}
    if model == "attention":
        outputs["Output"] = r.attention(r.positioned(x), "")
    elif model == "feed-forward":
        outputs["FeedForward"] = r.feed_forward(x, "")
    elif model == "norm":
        gamma = r.w("gamma", 1, D) if "gamma" in c["stretched"] else None
        beta = r.w("beta", 1, D) if "beta" in c["stretched"] else None
        outputs["Norm"] = r.normed(x, "rms", gamma, beta)
    else:
        stack = "Enc" if model == "encoder" else "Dec"
        x = r.positioned(x)
        for layer in range(c["layers"]):
            x = r.layer(x, f"{stack}{layer + 1}.")
        if c["norm"] == "pre":
            x = r.norm(x, f"{stack}.", "")
            outputs[f"{stack}.Norm"] = x
        else:
            outputs[f"{stack}{c['layers']}.Norm_2"] = x
    if model == "decoder-only":
        vocabulary = r.w("Vocabulary", 6, D).T if c["tied"] else r.w("W_U", D, 6)
        logits = x @ vocabulary + (r.w("b_U", 1, 6) if c["bias"] else 0.0)
        outputs["Probabilities"] = logits.softmax(-1)
    settings = {"model": model}
    for key, value in c.items():
        default = (
            {**LAYERS, **FACTORS["decoder-only"], "causal": (False,)}[key][0] if key not in OWN else 0
        )
        plain = value is None or key in OWN or (key in NEEDS and value == default)
        if not plain and not (key == "causal" and model == "decoder-only"):
            settings[key] = value
    arrays = {step: np.asarray(y.detach().numpy()) for step, y in outputs.items()}
    return Case(settings, {"target": r.x}, r.weights, arrays)


BLOCKS: dict[str, tuple[str, Choices]] = {
    f"{model}-{number}": (model, choices)
    for model, factors in FACTORS.items()
    for number, choices in enumerate(every_pair(factors, f"block {model}"), 1)
}
"""Every case: its model and its choices, by name."""


def load(name: str) -> Case:
    """A case with the outputs that are kept; without torch."""
    with np.load(PATH) as arrays:
        told = json.loads(str(arrays["told"]))[name]
        outputs = {
            key.partition("/")[2]: arrays[key] for key in arrays.files if key.startswith(f"{name}/")
        }
    sentences, weights = (
        {key: drawn(name, key, shape) for key, shape in told[part].items()}
        for part in ("sentences", "weights")
    )
    return Case(told["settings"], sentences, weights, outputs)


def main() -> None:
    """Write the outputs of every case, and the shapes of what goes in."""
    made: dict[str, Array] = {}
    told = {}
    for name, (model, choices) in BLOCKS.items():
        case = run(name, model, choices)
        made |= {f"{name}/{step}": y for step, y in case.outputs.items()}
        told[name] = {
            "settings": case.settings,
            "sentences": {key: x.shape for key, x in case.sentences.items()},
            "weights": {key: x.shape for key, x in case.weights.items()},
        }
    np.savez_compressed(PATH, told=np.array(json.dumps(told)), **made)


if __name__ == "__main__":
    main()
