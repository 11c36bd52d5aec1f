"""The families of models that attn-xl reads: where each keeps its settings in `config.json` and its
weights among the tensors. A family is a record; nothing else in the program knows its name.

Source: the modelling files of github.com/huggingface/transformers, which write these names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from attn_xl.errors import InputError

REQUIRED = object()
"""The default of a key without a default: the config must have it."""
ALL = "*"
"""The layer in the name of a tensor."""


@dataclass(frozen=True)
class Key:
    """A setting in `config.json`.

    Attributes:
        names: its keys; the first one present counts, also within `rope_parameters`.
        default: the value that the ecosystem takes without the key.
        values: attn-xl's value for each of its values; empty if they are the same.
    """

    names: tuple[str, ...]
    default: Any = REQUIRED
    values: Mapping[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Head:
    """What stands on the layers of a model: a checkpoint may have it or not.

    Attributes:
        start: how the names of its tensors start.
        settings, tensors: as in `Family`.
    """

    start: str
    settings: Mapping[str, Any]
    tensors: Mapping[str, str]


@dataclass(frozen=True)
class Family:
    """A family of models.

    Attributes:
        types: its values of `model_type`.
        stack: the prefix of its layers' weights: `Enc` or `Dec`.
        prefixes: what may stand before the names of its tensors.
        settings: settings of attn-xl: constants, or keys of the config.
        must: keys that may only have these values, since attn-xl computes nothing else; a missing key
            counts as the first.
        tensors: the weights in each tensor, without `.weight` or `.bias`; `*` is the number of the
            layer. Weights of a layer have no prefix here; several are stacked.
        turned: matrices are stored out x in, as `nn.Linear` does.
        heads: what may stand on the layers; of several, the settings of the first count.
        words: the tensor with the embeddings; `segments`: the one whose first row is added to each.
        positions: the tensor with learned positions; `first_position`: the row of the first word.
        biased: every matrix and every norm has a bias; `biased_words`: the output matrix has one.
        window: how many tokens each token attends to if `sliding_window` is missing from the config; 0
            if the family always attends to all.
        tied: the output matrix is that of the embeddings, unless `tie_word_embeddings` decides.
        ignored: parts of the names of tensors that the hidden states do not need: buffers, other heads.
    """

    types: tuple[str, ...]
    stack: Literal["Enc", "Dec"]
    prefixes: tuple[str, ...]
    settings: Mapping[str, Any]
    tensors: Mapping[str, str]
    words: str
    must: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    turned: bool = True
    segments: str = ""
    positions: str = ""
    first_position: int = 0
    heads: tuple[Head, ...] = ()
    biased: bool = True
    biased_words: bool = False
    window: int = 0
    tied: bool = True
    ignored: tuple[str, ...] = ()


SCALINGS = ("default", "linear", "llama3")
"""How rotary positions are stretched for long texts."""
ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
GATED = {
    "silu": "swiglu",
    "swish": "swiglu",
    "gelu": "geglu",
    "gelu_new": "geglu-tanh",
    "gelu_pytorch_tanh": "geglu-tanh",
}
_ENCODER = {
    "model": "encoder",
    "norm": "post",
    "positions": "learned",
    "heads": Key(("num_attention_heads",)),
    "layers": Key(("num_hidden_layers",)),
    "activation": Key(("hidden_act",), values=ACTIVATIONS),
    "epsilon": Key(("layer_norm_eps",)),
}
POOLER = Head("pooler.", {"pooling": "pooler"}, {"pooler.dense": "Pooler.W_1"})
BERT = Family(
    types=("bert",),
    stack="Enc",
    prefixes=("", "bert."),
    settings=_ENCODER,
    must={"position_embedding_type": ("absolute",), "is_decoder": (False,)},
    words="embeddings.word_embeddings",
    segments="embeddings.token_type_embeddings",
    positions="embeddings.position_embeddings",
    tensors={
        "embeddings.LayerNorm": "Enc.gamma_1",
        "encoder.layer.*.attention.self.query": "W_Q",
        "encoder.layer.*.attention.self.key": "W_K",
        "encoder.layer.*.attention.self.value": "W_V",
        "encoder.layer.*.attention.output.dense": "W_O",
        "encoder.layer.*.attention.output.LayerNorm": "gamma_1",
        "encoder.layer.*.intermediate.dense": "W_1",
        "encoder.layer.*.output.dense": "W_2",
        "encoder.layer.*.output.LayerNorm": "gamma_2",
    },
    heads=(
        Head(
            "cls.predictions.",
            {
                "model": "masked-language-model",
                "transform": Key(("hidden_act",), values=ACTIVATIONS),
            },
            {
                "cls.predictions.transform.dense": "Transform.W_1",
                "cls.predictions.transform.LayerNorm": "Transform.gamma",
                "cls.predictions.decoder": "W_U",
                "cls.predictions": "b_U",
            },
        ),
        POOLER,
    ),
    ignored=(".position_ids", ".cls.seq_relationship.", ".classifier.", ".qa_outputs."),
)
ROBERTA = replace(
    BERT,
    types=("roberta", "xlm-roberta", "camembert"),
    prefixes=("", "roberta."),
    must={**BERT.must, "pad_token_id": (1,)},
    first_position=2,  # after that of padding
    heads=(
        Head(
            "lm_head.",
            {"model": "masked-language-model"},  # with GELU, whatever hidden_act is
            {
                "lm_head.dense": "Transform.W_1",
                "lm_head.layer_norm": "Transform.gamma",
                "lm_head.decoder": "W_U",
                "lm_head": "b_U",
            },
        ),
        POOLER,
    ),
)
DISTILBERT = Family(
    types=("distilbert",),
    stack="Enc",
    prefixes=("", "distilbert."),
    settings={
        **_ENCODER,
        "heads": Key(("n_heads",)),
        "layers": Key(("n_layers",)),
        "activation": Key(("activation",), values=ACTIVATIONS),
        "epsilon": 1e-12,  # written into its code
    },
    words="embeddings.word_embeddings",
    positions="embeddings.position_embeddings",
    tensors={
        "embeddings.LayerNorm": "Enc.gamma_1",
        "transformer.layer.*.attention.q_lin": "W_Q",
        "transformer.layer.*.attention.k_lin": "W_K",
        "transformer.layer.*.attention.v_lin": "W_V",
        "transformer.layer.*.attention.out_lin": "W_O",
        "transformer.layer.*.sa_layer_norm": "gamma_1",
        "transformer.layer.*.ffn.lin1": "W_1",
        "transformer.layer.*.ffn.lin2": "W_2",
        "transformer.layer.*.output_layer_norm": "gamma_2",
    },
    heads=(
        Head(
            "vocab_",
            {
                "model": "masked-language-model",
                "transform": Key(("activation",), values=ACTIVATIONS),
            },
            {
                "vocab_transform": "Transform.W_1",
                "vocab_layer_norm": "Transform.gamma",
                "vocab_projector": "W_U",
            },
        ),
    ),
    biased_words=True,
    ignored=(".pre_classifier.", ".classifier.", ".qa_outputs."),
)
GPT2 = Family(
    types=("gpt2",),
    stack="Dec",
    prefixes=("", "transformer."),
    settings={
        "model": "decoder-only",
        "norm": "pre",
        "positions": "learned",
        "heads": Key(("n_head", "num_attention_heads")),
        "layers": Key(("n_layer", "num_hidden_layers")),
        "activation": Key(("activation_function",), "gelu_new", ACTIVATIONS),
        "epsilon": Key(("layer_norm_epsilon",)),
        "scale": Key(("scale_attn_weights",), True),
    },
    must={"scale_attn_by_inverse_layer_idx": (False,), "add_cross_attention": (False,)},
    words="wte",
    positions="wpe",
    tensors={
        "h.*.ln_1": "gamma_1",
        "h.*.attn.c_attn": "W_Q W_K W_V",
        "h.*.attn.c_proj": "W_O",
        "h.*.ln_2": "gamma_2",
        "h.*.mlp.c_fc": "W_1",
        "h.*.mlp.c_proj": "W_2",
        "ln_f": "Dec.gamma",
        "lm_head": "W_U",
    },
    turned=False,  # stored in x out
    ignored=(".attn.bias", ".attn.masked_bias"),
)
LLAMA = Family(
    types=("llama", "qwen2"),
    stack="Dec",
    prefixes=("", "model."),
    settings={
        "model": "decoder-only",
        "norm": "pre",
        "norm_type": "rms",
        "positions": "rotary",
        "rotary_pairs": "half",
        "rotary_base": Key(("rope_theta",), 10_000.0),
        "heads": Key(("num_attention_heads",)),
        "kv_heads": Key(("num_key_value_heads", "num_attention_heads")),
        "layers": Key(("num_hidden_layers",)),
        "activation": Key(("hidden_act",), "silu", GATED),
        "epsilon": Key(("rms_norm_eps",)),
    },
    must={
        "rope_type": SCALINGS,
        "use_sliding_window": (False,),
        "partial_rotary_factor": (1.0,),
    },
    words="embed_tokens",
    tensors={
        "layers.*.input_layernorm": "gamma_1",
        "layers.*.self_attn.q_proj": "W_Q",
        "layers.*.self_attn.k_proj": "W_K",
        "layers.*.self_attn.v_proj": "W_V",
        "layers.*.self_attn.o_proj": "W_O",
        "layers.*.post_attention_layernorm": "gamma_2",
        "layers.*.mlp.gate_proj": "W_G",
        "layers.*.mlp.up_proj": "W_1",
        "layers.*.mlp.down_proj": "W_2",
        "norm": "Dec.gamma",
        "lm_head": "W_U",
    },
    biased=False,
    tied=False,
    ignored=(".rotary_emb.inv_freq",),
)
MISTRAL = replace(LLAMA, types=("mistral",), window=4096)
FAMILIES = (BERT, ROBERTA, DISTILBERT, GPT2, LLAMA, MISTRAL)
NOT_COMPUTED = {
    "deepseek_v2": "latent attention with its own file layout and groups of experts",
    "deepseek_v3": "a router with sigmoid scores, a correction bias and groups of experts",
    "gpt_oss": "a learned attention sink beside the scores of each head",
    "gemma": "embeddings scaled by the root of their width",
    "gemma2": "norms on both sides of each sublayer",
    "gemma3_text": "norms on both sides of each sublayer",
    "qwen3": "norms of queries and keys",
    "gpt_neox": "attention and feed-forward network side by side",
    "gptj": "attention and feed-forward network side by side",
    "phi": "attention and feed-forward network side by side",
    "mixtral": "a mixture of experts",
    "phi3": "queries, keys and values in one matrix of unequal parts",
    "t5": "relative positions in buckets",
    "bart": "an encoder and a decoder with cross-attention in the files' layout",
    "mamba": "a state-space model, which has no attention",
}
"""What well-known families need that attn-xl does not read or compute, by `model_type`."""


READ = {
    "model_type", "rope_scaling", "rope_parameters", "sliding_window", "max_position_embeddings",
    "n_positions", "tie_word_embeddings", "original_max_position_embeddings", "layer_types",
}  # fmt: skip
"""Keys that are used beside those of a family's record."""
NESTED = {
    "rope_type", "type", "rope_theta", "factor", "low_freq_factor", "high_freq_factor",
    "original_max_position_embeddings", "partial_rotary_factor",
}  # fmt: skip
"""The keys within `rope_scaling` or `rope_parameters`."""
NO_EFFECT = re.compile(
    # training
    r".*dropout(_prob)?|.*_pdrop|initializer_range|gradient_checkpointing|use_bfloat16|tf_legacy_loss"
    # other heads, and which tokens are special: the tokenizer's own file counts
    r"|(summary|pooler)_.*|.*_token_id|id2label|label2id|num_labels|_num_labels|problem_type|directionality"
    # how a program runs it, what it returns, and how it writes on
    r"|use_cache|output_.*|return_dict(_in_generate)?|torchscript|chunk_size_feed_forward|pretraining_tp"
    r"|reorder_and_upcast_attn|_?attn_implementation.*|use_flash_attn|do_sample|(min|max)_length|num_beams"
    r"|num_beam_groups|num_return_sequences|temperature|top_[kp]|typical_p|early_stopping|bad_words_ids"
    r"|repetition_penalty|length_penalty|diversity_penalty|.*no_repeat_ngram_size|suppress_tokens"
    r"|begin_suppress_tokens|exponential_decay_length_penalty|remove_invalid_values|prefix"
    # where it comes from
    r"|_name_or_path|architectures|(torch_)?dtype|transformers_version|auto_map|finetuning_task|.*_class"
    r"|task_specific_params|xla_device|unsloth_.*|transformers\.js_config|_commit_hash|is_llama_config"
    # decided by the tensors that are there, or by another key
    r"|sinusoidal_pos_embds|n_ctx|max_window_layers|tie_encoder_decoder|cross_attention_hidden_size"
)
SIZES = {
    "d": ("hidden_size", "n_embd", "dim"),
    "hidden": ("intermediate_size", "n_inner", "hidden_dim"),
    "words": ("vocab_size",),
    "positions": ("max_position_embeddings", "n_positions"),
    "segments": ("type_vocab_size",),
    "head": ("head_dim",),
}
"""The keys that repeat what the shapes of the tensors say."""
BIASES = {"attention_bias": "b_Q", "mlp_bias": "b_1"}
"""The keys that repeat which tensors are there, and a weight that is there with them."""


def check_keys(config: Mapping[str, Any], family: Family, window: float, file: Path) -> None:
    """Refuse what attn-xl does not compute. A key that is null says nothing.

    Raises:
        InputError: for a key that is not known, one of two places that disagree, or a value that would
            change the numbers.
    """
    keys = {name for key in family.settings.values() if isinstance(key, Key) for name in key.names}
    keys |= {*family.must, *READ, *BIASES, *(name for names in SIZES.values() for name in names)}
    nested = config.get("rope_scaling") or config.get("rope_parameters") or {}
    always = {"is_encoder_decoder": False, "add_cross_attention": False, "rope_interleaved": False,
              "is_decoder": False, "is_causal": family.stack == "Dec", "pruned_heads": {}}  # fmt: skip
    if family.stack == "Dec":
        always["is_decoder"] = config.get("is_decoder")
    kind = "full_attention" if window == float("inf") else "sliding_attention"
    for name, value in config.items():
        known = name in keys or NO_EFFECT.fullmatch(name)
        if value is None or (known and name != "layer_types"):
            continue
        if name in always and value == always[name]:
            continue
        if name == "layer_types" and isinstance(value, list) and {*value} <= {kind}:
            continue
        raise _refused(file, name, value)
    for name, value in nested.items():
        if name not in NESTED and value is not None:
            raise _refused(file, name, value)
        if config.get(name) not in (None, value):
            raise InputError(
                f"{file}: {name} is {config[name]!r}, but {value!r} within the settings of rotary "
                "positions. Keep the one that the model was trained with."
            )
    before = "original_max_position_embeddings"
    if config.get(before) is not None and before not in nested:
        raise _refused(file, before, config[before])


def check_sizes(
    config: Mapping[str, Any], sizes: Mapping[str, int], has: Callable[[str], bool], file: Path
) -> None:
    """Refuse a config that contradicts the tensors.

    Args:
        sizes: what the tensors say, by the keys of `SIZES`; `has`: whether some layer has a weight.

    Raises:
        InputError: naming the key, its value and what the weights have.
    """
    for what, names in SIZES.items():
        for name in names:
            value, there = config.get(name), sizes.get(what)
            if value is not None and there is not None and value != there:
                raise _contradicted(file, name, value, there)
    for name, weight in BIASES.items():
        value = config.get(name)
        if value is not None and bool(value) != has(weight):
            raise _contradicted(file, name, value, has(weight))


def _refused(file: Path, name: str, value: Any) -> InputError:
    shown = f"{value!r}" if len(repr(value)) < 40 else f"{repr(value)[:36]}..."
    return InputError(
        f"{file}: {name} is {shown}, which attn-xl does not compute. Remove the key if the model "
        "computes the same without it."
    )


def _contradicted(file: Path, name: str, value: Any, there: Any) -> InputError:
    return InputError(
        f"{file}: {name} is {value!r}, but the weights have {there!r}. Use the config that belongs to "
        "the weights."
    )
