"""Reference numbers by PyTorch, which tests/models/test_torch.py holds against attn_xl.

    python tests/data/make_torch_data.py

writes one .npz for each case of `CASES`, and `activations.npz`, beside this file. It needs torch and
numpy, and nothing of attn_xl: only the names of weights and steps are attn_xl's. Every parameter is
drawn anew, since torch starts with biases of 0 and norms that stretch nothing; all of it is float64.
Modules are in eval mode, with gradients on: without them torch takes shortcuts of its own.
"""

from __future__ import annotations

import json
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor, nn

Array = np.ndarray[Any, np.dtype[np.float64]]
Weights = dict[str, Array]

FOLDER = Path(__file__).parent
PARTS = ("sentence", "weight", "output")


@dataclass
class Case:
    """What goes in, and what torch makes of it.

    Attributes:
        settings: attn_xl's settings, as its Settings sheet would have them.
        sentences: (n, d) each; `target` first.
        weights: by the names of attn_xl's sheets.
        outputs: by the names of attn_xl's steps.
        padded: how many words at the end of a sentence only fill it up.
    """

    settings: dict[str, Any]
    sentences: dict[str, Array]
    weights: Weights = field(default_factory=dict)
    outputs: dict[str, Array] = field(default_factory=dict)
    padded: dict[str, int] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """All arrays in one file, the settings as JSON."""
        told = json.dumps({"settings": self.settings, "padded": self.padded})
        parts = zip(PARTS, (self.sentences, self.weights, self.outputs))
        arrays = {f"{part}.{name}": array for part, named in parts for name, array in named.items()}
        np.savez_compressed(path, told=np.array(told), **arrays)

    @classmethod
    def load(cls, path: Path) -> Case:
        """What `save` wrote."""
        named: dict[str, dict[str, Array]] = {part: {} for part in PARTS}
        with np.load(path) as arrays:
            told = json.loads(str(arrays["told"]))
            for key in arrays.files:
                part, _, name = key.partition(".")
                if part in named:
                    named[part][name] = arrays[key]
        return cls(told["settings"], *(named[part] for part in PARTS), told["padded"])


class Draw:
    """Random numbers of a seed: fractions of 1024, which compress well."""

    def __init__(self, seed: str) -> None:
        self._rng = np.random.default_rng(zlib.crc32(seed.encode()))

    def __call__(self, *shape: int, scale: float = 1.0, around: float = 0.0) -> Array:
        numbers = self._rng.normal(around, scale, shape)
        return np.asarray(np.round(numbers * 1024) / 1024)

    def parameters(self, module: nn.Module) -> None:
        """Draw all parameters of a module anew; the gammas around 1."""
        import torch

        for name, parameter in module.named_parameters():
            gamma = "norm" in name and name.endswith("weight")
            drawn = self(*parameter.shape, scale=0.5, around=float(gamma))
            parameter.data = torch.from_numpy(drawn)
        module.eval()


def tensor(x: Array) -> Tensor:
    """A batch of one sentence."""
    import torch

    return torch.from_numpy(x)[None]


def array(x: Tensor) -> Array:
    """The one sentence of a batch."""
    return np.asarray(x.detach()[0].numpy())


def row(bias: Tensor) -> Array:
    """A bias as a sheet of a single row."""
    return np.asarray(bias.detach().numpy()[None])


def turned(weight: Tensor) -> Array:
    """torch applies a weight as x Wᵀ, a sheet as x W."""
    return np.ascontiguousarray(weight.detach().numpy().T)


def later(n: int, m: int) -> Tensor:
    """True where a word of n may not look at a word of m, which comes later."""
    import torch

    return torch.ones(n, m, dtype=torch.bool).triu(1)


def fillers(x: Array, padded: int) -> Tensor | None:
    """True for the last words of a batch of one sentence, which only fill it up."""
    import torch

    return torch.arange(len(x))[None] >= len(x) - padded if padded else None


def linear_weights(linear: nn.Linear, at: str, which: str) -> Weights:
    """The sheets W_1 and b_1, for example."""
    found = {f"{at}W_{which}": turned(linear.weight)}
    return found if linear.bias is None else found | {f"{at}b_{which}": row(linear.bias)}


def norm_weights(norm: nn.LayerNorm, at: str, number: str = "") -> Weights:
    """The sheets gamma and beta."""
    found = {f"{at}gamma{number}": row(norm.weight)}
    return found if norm.bias is None else found | {f"{at}beta{number}": row(norm.bias)}


def attention_weights(module: nn.MultiheadAttention, at: str = "") -> Weights:
    """The sheets of multi-head attention."""
    if module.in_proj_weight is not None:
        matrices = module.in_proj_weight.chunk(3)
    else:
        matrices = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    found = {f"{at}W_{letter}": turned(matrix) for letter, matrix in zip("QKV", matrices)}
    if module.in_proj_bias is not None:
        found |= {f"{at}b_{c}": row(bias) for c, bias in zip("QKV", module.in_proj_bias.chunk(3))}
    return found | linear_weights(module.out_proj, at, "O")


def layer_weights(layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer, at: str) -> Weights:
    """The sheets of a layer of an encoder or a decoder."""
    cross = getattr(layer, "multihead_attn", None)
    if cross is None:
        found = attention_weights(layer.self_attn, at)
        norms = [layer.norm1, layer.norm2]
    else:
        found = attention_weights(layer.self_attn, f"{at}Self.")
        found |= attention_weights(cross, f"{at}Cross.")
        norms = [layer.norm1, layer.norm2, layer.norm3]
    found |= linear_weights(layer.linear1, at, "1") | linear_weights(layer.linear2, at, "2")
    for number, norm in enumerate(norms, 1):
        found |= norm_weights(norm, at, f"_{number}")
    return found


def single(
    seed: str,
    *,
    n: int = 4,
    m: int = 0,
    projected: bool = True,
    causal: bool = False,
    padded: int = 0,
    scale: bool = True,
    temperature: float | None = None,
    own_mask: bool = False,
) -> Case:
    """torch.nn.functional.scaled_dot_product_attention; of a sentence to itself if m is 0."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    draw = Draw(seed)
    d, d_k, d_v = 5, 3, 4
    sentences = {"target": draw(n, d)} | ({"source": draw(m, d + 1)} if m else {})
    x, memory = sentences["target"], sentences["source" if m else "target"]
    weights = {}
    q, k, v = tensor(x), tensor(memory), tensor(memory)
    if projected:
        for letter, source, width in (("Q", x, d_k), ("K", memory, d_k), ("V", memory, d_v)):
            weights[f"W_{letter}"] = draw(source.shape[1], width)
        q, k, v = (y @ tensor(weights[f"W_{letter}"]) for letter, y in zip("QKV", (q, k, v)))
    hides = None
    if padded:
        filled = fillers(memory, padded)
        assert filled is not None
        hides = (~filled).expand(n, -1)  # here, True is where a word may look
    if own_mask:
        weights["Mask"] = draw(n, len(memory))
        hides = torch.from_numpy(weights["Mask"])
    factor = 1 / ((k.shape[-1] ** 0.5 if scale else 1) * (temperature or 1))
    output = scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=hides,
        is_causal=causal,
        scale=None if scale and not temperature else factor,
    )
    settings = {"model": "attention", "causal": causal, "scale": scale}
    settings |= {"memory": "source"} if m else {}
    settings |= {"temperature": temperature} if temperature else {}
    where = "source" if m else "target"
    return Case(settings, sentences, weights, {"Output": array(output)}, {where: padded})


def multi_head(
    seed: str,
    *,
    heads: int,
    n: int = 4,
    m: int = 0,
    d_memory: int = 8,
    bias: bool = True,
    causal: bool = False,
    padded: int = 0,
) -> Case:
    """nn.MultiheadAttention with the weights of every head, of a sentence to itself if m is 0."""
    from torch import nn
    from torch.nn.functional import linear

    draw = Draw(seed)
    d = 8
    sentences = {"target": draw(n, d)} | ({"source": draw(m, d_memory)} if m else {})
    x, memory = sentences["target"], sentences["source" if m else "target"]
    module = nn.MultiheadAttention(
        d, heads, bias=bias, kdim=memory.shape[1], vdim=memory.shape[1], batch_first=True
    ).double()
    draw.parameters(module)
    output, attended = module(
        tensor(x),
        tensor(memory),
        tensor(memory),
        key_padding_mask=fillers(memory, padded),
        attn_mask=later(n, len(memory)) if causal else None,
        average_attn_weights=False,
    )
    weights = attention_weights(module)
    outputs = {"Output": array(output)}
    outputs |= {f"Softmax_{h + 1}": w for h, w in enumerate(array(attended))}
    if bias:  # the softmax takes no notice of b_K, so the keys themselves are compared, too
        keys = linear(tensor(memory), tensor(weights["W_K"].T)[0], tensor(weights["b_K"][0]))
        outputs |= {
            f"K_{h + 1}": np.ascontiguousarray(array(part))
            for h, part in enumerate(keys.chunk(heads, -1))
        }
    settings = {"model": "attention", "heads": heads, "causal": causal}
    settings |= {"memory": "source"} if m else {}
    return Case(settings, sentences, weights, outputs, {"source" if m else "target": padded})


def activation_of(name: str) -> Any:
    """The activation by attn_xl's name, as torch's layers take it."""
    from torch.nn.functional import gelu

    return partial(gelu, approximate="tanh") if name == "gelu-tanh" else name


@dataclass(frozen=True)
class Stack:
    """What the cases with layers have in common.

    Attributes:
        n, m: words of the target and of the source.
        norm: "post" or "pre".
        causal: whether an encoder hides later words; a decoder always does.
        padded: how many words of the source, or of an encoder's only sentence, fill it up.
        padded_target: the same of a decoder's target.
        final: whether there is a norm after the last layer.
    """

    seed: str
    heads: int = 2
    layers: int = 1
    n: int = 4
    m: int = 5
    norm: str = "post"
    activation: str = "relu"
    epsilon: float = 1e-5
    bias: bool = True
    causal: bool = False
    padded: int = 0
    padded_target: int = 0
    final: bool = False

    D = 6
    HIDDEN = 9

    @property
    def options(self) -> dict[str, Any]:
        """torch's options, which all its modules of layers share."""
        import torch

        return {
            "d_model": self.D,
            "nhead": self.heads,
            "dim_feedforward": self.HIDDEN,
            "activation": activation_of(self.activation),
            "layer_norm_eps": self.epsilon,
            "batch_first": True,
            "norm_first": self.norm == "pre",
            "bias": self.bias,
            "dtype": torch.float64,
        }

    def settings(self, model: str) -> dict[str, Any]:
        """attn_xl's settings."""
        return (
            {
                "model": model,
                "heads": self.heads,
                "layers": self.layers,
                "norm": self.norm,
                "activation": self.activation,
                "epsilon": self.epsilon,
            }
            | ({"causal": self.causal} if model == "encoder" else {})
            | ({} if model in ("encoder", "decoder-only") else {"memory": "source"})
        )

    def last(self, stack: str, sublayers: int) -> str:
        """The step that torch's result is compared with. attn_xl ends pre-norm layers with a norm,
        as nn.Transformer does; a stack without one ends with the last sum."""
        if self.final:
            return f"{stack}.Norm"
        return f"{stack}{self.layers}.{'Sum' if self.norm == 'pre' else 'Norm'}_{sublayers}"


def encoder(seed: str, *, bare: bool = False, **choices: Any) -> Case:
    """nn.TransformerEncoder, or a `bare` nn.TransformerEncoderLayer."""
    from torch import nn

    s, draw = Stack(seed, **choices), Draw(seed)
    x = draw(s.n, s.D)
    layer = nn.TransformerEncoderLayer(**s.options)
    masks = {"src_key_padding_mask": fillers(x, s.padded)}
    hides = later(s.n, s.n) if s.causal else None
    if bare:
        draw.parameters(layer)
        output = layer(tensor(x), src_mask=hides, **masks)
        weights = layer_weights(layer, "Enc1.")
    else:
        final = nn.LayerNorm(s.D, s.epsilon, bias=s.bias) if s.final else None
        module = nn.TransformerEncoder(layer, s.layers, norm=final, enable_nested_tensor=False)
        draw.parameters(module)
        output = module(tensor(x), mask=hides, **masks)
        weights = encoder_weights(module)
    outputs = {s.last("Enc", 2): array(output)}
    return Case(s.settings("encoder"), {"target": x}, weights, outputs, {"target": s.padded})


def encoder_weights(module: nn.TransformerEncoder, stack: str = "Enc") -> Weights:
    """The sheets of all layers and of the norm after the last one."""
    weights: Weights = {}
    for number, layer in enumerate(module.layers, 1):
        weights |= layer_weights(layer, f"{stack}{number}.")
    return weights | (norm_weights(module.norm, f"{stack}.") if module.norm is not None else {})


def decoder(seed: str, *, bare: bool = False, **choices: Any) -> Case:
    """nn.TransformerDecoder, or a `bare` nn.TransformerDecoderLayer."""
    from torch import nn

    s, draw = Stack(seed, **choices), Draw(seed)
    x, memory = draw(s.n, s.D), draw(s.m, s.D)
    layer = nn.TransformerDecoderLayer(**s.options)
    final = nn.LayerNorm(s.D, s.epsilon, bias=s.bias) if s.final else None
    module = layer if bare else nn.TransformerDecoder(layer, s.layers, norm=final)
    draw.parameters(module)
    output = module(
        tensor(x),
        tensor(memory),
        tgt_mask=later(s.n, s.n),
        tgt_key_padding_mask=fillers(x, s.padded_target),
        memory_key_padding_mask=fillers(memory, s.padded),
    )
    weights = layer_weights(layer, "Dec1.") if bare else encoder_weights(module, "Dec")
    padded = {"target": s.padded_target, "source": s.padded}
    sentences = {"target": x, "source": memory}
    outputs = {s.last("Dec", 3): array(output)}
    return Case(s.settings("decoder"), sentences, weights, outputs, padded)


def transformer(seed: str, **choices: Any) -> Case:
    """nn.Transformer, which has a norm after the last layer of each stack."""
    from torch import nn

    s, draw = Stack(seed, layers=2, final=True, **choices), Draw(seed)
    x, source = draw(s.n, s.D), draw(s.m, s.D)
    with warnings.catch_warnings():  # pre-norm has no nested tensors, which are not wanted anyway
        warnings.filterwarnings("ignore", "enable_nested_tensor")
        module = nn.Transformer(num_encoder_layers=s.layers, num_decoder_layers=s.layers, **s.options)
    draw.parameters(module)
    masks = {"src_key_padding_mask": fillers(source, s.padded)}
    output = module(
        tensor(source),
        tensor(x),
        tgt_mask=later(s.n, s.n),
        tgt_key_padding_mask=fillers(x, s.padded_target),
        memory_key_padding_mask=fillers(source, s.padded),
        **masks,
    )
    encoded = module.encoder(tensor(source), **masks)
    weights = encoder_weights(module.encoder) | encoder_weights(module.decoder, "Dec")
    padded = {"target": s.padded_target, "source": s.padded}
    sentences = {"target": x, "source": source}
    outputs = {"Enc.Norm": array(encoded), "Dec.Norm": array(output)}
    return Case(s.settings("encoder-decoder"), sentences, weights, outputs, padded)


def language_model(seed: str, **choices: Any) -> Case:
    """A causal nn.TransformerEncoder and probabilities over a vocabulary, as GPT has them."""
    from torch import nn

    s, draw = Stack(seed, layers=2, final=True, causal=True, **choices), Draw(seed)
    x, vocabulary = draw(s.n, s.D), draw(7, s.D)
    layer = nn.TransformerEncoderLayer(**s.options)
    final = nn.LayerNorm(s.D, s.epsilon, bias=s.bias)
    module = nn.TransformerEncoder(layer, s.layers, norm=final, enable_nested_tensor=False)
    draw.parameters(module)
    output = module(tensor(x), mask=later(s.n, s.n))
    logits = output @ tensor(vocabulary).mT
    weights = encoder_weights(module, "Dec") | {"Vocabulary": vocabulary}
    outputs = {
        "Dec.Norm": array(output),
        "Logits": array(logits),
        "Probabilities": array(logits.softmax(-1)),
    }
    return Case(s.settings("decoder-only"), {"target": x}, weights, outputs)


def activations() -> dict[str, Array]:
    """x, and torch's relu, gelu and gelu-tanh of it."""
    import torch
    from torch.nn.functional import gelu, relu

    edges = [-40, -9, -1, -1e-3, -1e-9, 0, 1e-9, 1e-3, 1, 9, 40]
    x = np.concatenate([edges, Draw("activations")(53, scale=3)]).reshape(8, 8)
    y = torch.from_numpy(x)
    made = {"relu": relu(y), "gelu": gelu(y), "gelu-tanh": gelu(y, approximate="tanh")}
    return {"x": x} | {name: z.numpy() for name, z in made.items()}


_MADE: dict[str, tuple[Callable[..., Case], dict[str, Any]]] = {
    "sdpa": (single, {}),
    "sdpa-bare": (single, {"projected": False}),
    "sdpa-causal": (single, {"causal": True}),
    "sdpa-padding": (single, {"n": 5, "padded": 2}),
    "sdpa-cross": (single, {"m": 6}),
    "sdpa-cross-causal": (single, {"n": 6, "m": 4, "causal": True}),
    "sdpa-cross-padding": (single, {"m": 6, "padded": 2}),
    "sdpa-unscaled": (single, {"scale": False}),
    "sdpa-temperature": (single, {"temperature": 1.75}),
    "sdpa-own-mask": (single, {"m": 6, "own_mask": True}),
    "mha-1": (multi_head, {"heads": 1}),
    "mha-2": (multi_head, {"heads": 2}),
    "mha-4": (multi_head, {"heads": 4}),
    "mha-2-no-bias": (multi_head, {"heads": 2, "bias": False}),
    "mha-2-causal": (multi_head, {"heads": 2, "causal": True}),
    "mha-2-padding": (multi_head, {"heads": 2, "n": 5, "padded": 2}),
    "mha-4-causal-padding": (multi_head, {"heads": 4, "n": 5, "causal": True, "padded": 1}),
    "mha-1-cross": (multi_head, {"heads": 1, "m": 6, "d_memory": 5}),
    "mha-2-cross": (multi_head, {"heads": 2, "m": 6}),
    "mha-4-cross-padding": (multi_head, {"heads": 4, "m": 6, "d_memory": 11, "padded": 2}),
    "mha-2-cross-causal": (multi_head, {"heads": 2, "m": 6, "d_memory": 3, "causal": True}),
    "encoder-layer-post-relu": (encoder, {"bare": True}),
    "encoder-layer-post-gelu": (encoder, {"bare": True, "activation": "gelu", "padded": 1}),
    "encoder-layer-post-gelu-tanh": (encoder, {"bare": True, "activation": "gelu-tanh"}),
    "encoder-layer-pre-relu": (encoder, {"bare": True, "norm": "pre", "causal": True}),
    "encoder-layer-pre-gelu": (encoder, {"bare": True, "norm": "pre", "activation": "gelu"}),
    "encoder-layer-no-bias": (encoder, {"bare": True, "bias": False, "heads": 3}),
    "encoder-post": (encoder, {"layers": 2, "padded": 1}),
    "encoder-post-final": (encoder, {"layers": 2, "final": True, "causal": True, "epsilon": 1e-3}),
    "encoder-pre": (encoder, {"layers": 2, "norm": "pre", "activation": "gelu"}),
    "encoder-pre-final": (
        encoder,
        {"layers": 2, "norm": "pre", "activation": "gelu", "final": True, "padded": 1},
    ),
    "decoder-layer-post-relu": (decoder, {"bare": True}),
    "decoder-layer-post-gelu": (decoder, {"bare": True, "activation": "gelu", "padded": 2}),
    "decoder-layer-pre-relu": (decoder, {"bare": True, "norm": "pre", "n": 6, "padded": 1}),
    "decoder-layer-pre-gelu": (
        decoder,
        {"bare": True, "norm": "pre", "activation": "gelu", "heads": 3},
    ),
    "decoder-post": (decoder, {"layers": 2, "padded_target": 1}),
    "decoder-pre-final": (decoder, {"layers": 2, "norm": "pre", "final": True}),
    "transformer-post-relu": (transformer, {}),
    "transformer-post-gelu": (transformer, {"activation": "gelu", "padded": 2}),
    "transformer-pre-relu": (transformer, {"norm": "pre", "padded": 1, "padded_target": 1}),
    "transformer-pre-gelu": (transformer, {"norm": "pre", "activation": "gelu", "heads": 3, "n": 7}),
    "language-model-pre": (language_model, {"norm": "pre", "activation": "gelu-tanh"}),
}
CASES: dict[str, Callable[[], Case]] = {
    name: partial(make, name, **choices) for name, (make, choices) in _MADE.items()
}
"""What makes each case, by the name of its file."""


def main() -> None:
    """Write every case."""
    for name, make in CASES.items():
        make().save(FOLDER / f"{name}.npz")
    np.savez_compressed(FOLDER / "activations.npz", **activations())


if __name__ == "__main__":
    main()
