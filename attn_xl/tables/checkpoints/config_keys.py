"""The keys of a `config.json`: each is used, is known to have no effect, or is refused by name.

Source: the configuration classes and modelling files of github.com/huggingface/transformers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attn_xl.errors import InputError

from .families import Family, Key

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
