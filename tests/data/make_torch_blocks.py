"""The blocks of today's language models, by PyTorch: every two values of every two options come
together in some case, which tests/models/test_blocks.py holds against attn_xl.

    python tests/data/make_torch_blocks.py

writes `blocks.npz` beside this file: the outputs, and the shapes of what goes in, which is drawn again
from the case's name. Attention is torch's `scaled_dot_product_attention` with `enable_gqa` where its
scores are plain, norms are its `rms_norm` and `layer_norm`, activations its own. Rotations, slopes,
windows and the choice of experts are plain loops over numbers.
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
    "rotary_share": (1.0, 0.5),
    "qk_norm": ("none", "rms", "layer"),
    "window": (None, 2, 3),
    "sinks": (0, 1),
    "score_cap": (None, 1.5),
    "latent": (None, 3),
    "latent_queries": (None, 4),
    "temperature": (None, 0.5),
    "bias": (False, True),
}
NETWORK: dict[str, Sequence[Any]] = {
    "activation": ("silu", "swiglu", "geglu", "geglu-tanh", "gelu"),
    "experts": (None, 3, 4),
    "top_k": (2, 1),
    "renormalize": (True, False),
    "shared_expert": (False, True),
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
    "residual": ("sequential", "parallel", "parallel-one-norm"),
}
FACTORS: dict[str, dict[str, Sequence[Any]]] = {
    "attention": {**SCORING, "causal": (False, True), "epsilon": (1e-5, 0.01)},
    "encoder": {**LAYERS, "causal": (False, True)},
    "decoder-only": {**LAYERS, "tied": (True, False), "logit_cap": (None, 2.0)},
    "feed-forward": {**NETWORK},
    "norm": {
        "norm_type": ("rms",), "norm_epsilon": ("inside", "outside"), "epsilon": (1e-5, 0.01),
        "stretched": ("", "gamma", "gamma beta"),
    },
}  # fmt: skip
NEEDS = {
    "rotary_pairs": "positions", "rotary_base": "positions", "rotary_share": "positions",
    "sinks": "window", "latent_queries": "latent", "top_k": "experts", "renormalize": "experts",
    "shared_expert": "experts", "residual": "norm",
}  # fmt: skip
"""Options that have an effect only beside another."""
WANTED = {"positions": "rotary", "norm": "pre"}
OWN = ("bias", "tied", "stretched")
"""Factors that are no settings of attn_xl."""


def has_effect(c: Choices, name: str) -> bool:
    """Whether an option has an effect beside the others."""
    if c.get("latent") and name in ("kv_heads", "rotary_share"):
        return False
    need = NEEDS.get(name)
    if need is None:
        return True
    return c[need] == WANTED[need] if need in WANTED else c[need] is not None


def settled(choices: Choices) -> Choices:
    """The choices without those that have no effect, or that do not go together."""
    c = dict(choices)
    if c.get("kv_heads") and c["heads"] % c["kv_heads"]:
        c["kv_heads"] = None
    if c.get("heads") == max(SCORING["heads"]):
        c["rotary_share"] = 1.0  # half of two dimensions is no pair
    for name, values in {**LAYERS, **FACTORS["decoder-only"]}.items():
        if name in c and not has_effect(c, name):
            c[name] = values[0] if values[0] is not None or None in values else None
            if name == "kv_heads":
                c[name] = None
            if name == "residual":
                c[name] = "sequential"
    if c.get("qk_norm") == "none" and "norm" not in c and "epsilon" in c and "qk_norm" in c:
        c["epsilon"] = 1e-5
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

    def head_norm(self, x: Tensor, at: str, letter: str) -> Tensor:
        kind = self.c["qk_norm"]
        if kind == "none":
            return x
        width = x.shape[-1]
        beta = self.w(f"{at}beta_{letter}", 1, width) if kind == "layer" else None
        return self.normed(x, kind, self.w(f"{at}gamma_{letter}", 1, width), beta)

    def rotated(self, x: Tensor) -> Tensor:
        """Number by number, as the paper has it."""
        if self.c["positions"] != "rotary":
            return x
        r = int(x.shape[-1] * (1.0 if self.c.get("latent") else self.c["rotary_share"]))
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
                far = c["window"] and abs(i - j) >= c["window"] and j >= c["sinks"]
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
        if not c["score_cap"]:
            out = scaled_dot_product_attention(
                q[None], k[None], v[None], attn_mask=biases, scale=factor, enable_gqa=len(ks) < len(qs)
            )[0]
        else:
            times = len(qs) // len(ks)
            k, v = k.repeat_interleave(times, 0), v.repeat_interleave(times, 0)
            scores = c["score_cap"] * torch.tanh(q @ k.transpose(-1, -2) * factor / c["score_cap"])
            out = (scores + biases).softmax(-1) @ v
        return torch.cat(list(out), -1)

    def attention(self, x: Tensor, at: str) -> Tensor:
        import torch

        c = self.c
        heads, groups = c["heads"], c["kv_heads"] or c["heads"]
        d_k = D // heads
        if c["latent"]:
            return self.latent_attention(x, at)
        qs = self.linear(x, f"{at}W_Q", D).chunk(heads, -1)
        ks = self.linear(x, f"{at}W_K", groups * d_k).chunk(groups, -1)
        vs = self.linear(x, f"{at}W_V", groups * d_k).chunk(groups, -1)
        qs = [self.rotated(self.head_norm(q, at, "Q")) for q in qs]
        ks = [self.rotated(self.head_norm(k, at, "K")) for k in ks]
        torch.set_grad_enabled(True)
        return self.linear(self.attended(qs, ks, list(vs)), f"{at}W_O", D)

    def latent_attention(self, x: Tensor, at: str) -> Tensor:
        import torch

        c = self.c
        heads = c["heads"]
        latent = self.head_norm(self.linear(x, f"{at}W_DKV", c["latent"]), at, "KV")
        source = x
        if c["latent_queries"]:
            source = self.head_norm(self.linear(x, f"{at}W_DQ", c["latent_queries"]), at, "DQ")
        qs = list(self.linear(source, f"{at}W_Q", D).chunk(heads, -1))
        ks = list(self.linear(latent, f"{at}W_UK", D).chunk(heads, -1))
        vs = list(self.linear(latent, f"{at}W_UV", D).chunk(heads, -1))
        if c["positions"] == "rotary":
            shared = self.rotated(self.linear(x, f"{at}W_KR", 2))
            turned = self.linear(source, f"{at}W_QR", 2 * heads).chunk(heads, -1)
            qs = [torch.cat([q, self.rotated(r)], -1) for q, r in zip(qs, turned)]
            ks = [torch.cat([k, shared], -1) for k in ks]
        return self.linear(self.attended(qs, ks, vs), f"{at}W_O", D)

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

    def network(self, x: Tensor, at: str) -> Tensor:
        """As Mixtral does it: word by word, for the experts that it is sent to."""
        import torch

        c = self.c
        if not c["experts"]:
            return self.feed_forward(x, at)
        shares = self.linear(x, f"{at}W_R", c["experts"]).softmax(-1)
        best, which = torch.topk(shares, c["top_k"])
        if c["renormalize"]:
            best = best / best.sum(-1, keepdim=True)
        made = [self.feed_forward(x, f"{at}Expert{e + 1}.") for e in range(c["experts"])]
        total = self.feed_forward(x, f"{at}Shared.") if c["shared_expert"] else torch.zeros_like(x)
        total = total.clone()
        for i in range(len(x)):
            for share, e in zip(best[i], which[i]):
                total[i] += share * made[int(e)][i]
        return total

    def layer(self, x: Tensor, at: str) -> Tensor:
        c = self.c
        if c["residual"] == "parallel":
            first, second = self.norm(x, at, "_1"), self.norm(x, at, "_2")
            return x + self.attention(first, at) + self.network(second, at)
        if c["residual"] == "parallel-one-norm":
            both = self.norm(x, at, "_1")
            return x + self.attention(both, at) + self.network(both, at)
        for run, number in ((self.attention, "_1"), (self.network, "_2")):
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
        outputs["Mixture" if c["experts"] else "FeedForward"] = r.network(x, "")
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
        if c["logit_cap"]:
            logits = c["logit_cap"] * torch.tanh(logits / c["logit_cap"])
        outputs["Probabilities"] = logits.softmax(-1)
    settings = {"model": model}
    for key, value in c.items():
        default = (
            {**LAYERS, **FACTORS["decoder-only"], "causal": (False,)}[key][0] if key not in OWN else 0
        )
        plain = value is None or key in OWN or (key in NEEDS and value == default)
        if not plain and not (key == "causal" and model == "decoder-only"):
            settings[key] = value
    if model == "attention" and c["qk_norm"] == "none":
        settings.pop("epsilon", None)
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
