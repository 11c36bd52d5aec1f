"""Makes tests/data/checkpoints: small random models of each family as `transformers` saves them, and
what it computes with them in float64. Run where transformers is installed: python
tests/data/make_checkpoints.py

transformers computes norms, angles and softmax in float32, whatever the weights are; here float32 is
replaced by float64, so that its numbers can be compared to 1e-10. With names, only these are made.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DistilBertConfig,
    DistilBertForMaskedLM,
    DistilBertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaModel,
)

HERE = Path(__file__).parent / "checkpoints"
WORDS = ["<unk>", "<pad>", "the", "cat", "dog", "chased", "sat", "on", "mat", "and", "mouse", "ran"]
TEXT = "the cat chased the mouse and ran"
_OLD = {"vocab_size": len(WORDS), "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
        "intermediate_size": 12, "max_position_embeddings": 16}  # fmt: skip
_NEW = {**_OLD, "hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2}
MODELS: dict[str, tuple[type, Any, torch.dtype]] = {
    "bert": (BertModel, BertConfig(**_OLD), torch.float32),
    "roberta": (
        RobertaModel,
        RobertaConfig(**{**_OLD, "max_position_embeddings": 18}, type_vocab_size=1, hidden_act="relu"),
        torch.float32,
    ),
    "distilbert": (
        DistilBertModel,
        DistilBertConfig(
            vocab_size=len(WORDS), dim=8, n_layers=2, n_heads=2, hidden_dim=12,
            max_position_embeddings=16,
        ),
        torch.float32,
    ),
    "gpt2": (
        GPT2LMHeadModel,
        GPT2Config(vocab_size=len(WORDS), n_embd=8, n_layer=2, n_head=2, n_positions=16),
        torch.float32,
    ),
    "llama": (LlamaForCausalLM, LlamaConfig(**_NEW, rope_theta=500.0), torch.bfloat16),
    "llama-3": (
        LlamaForCausalLM,
        LlamaConfig(
            **_NEW,
            rope_theta=500.0,
            rope_scaling={
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            },
        ),
        torch.float32,
    ),
    "mistral": (
        MistralForCausalLM,
        MistralConfig(**{**_NEW, "num_key_value_heads": 1}, head_dim=6),
        torch.float16,
    ),
    "qwen2": (Qwen2ForCausalLM, Qwen2Config(**_NEW, tie_word_embeddings=True), torch.float32),
    "bert-masked": (BertForMaskedLM, BertConfig(**_OLD, hidden_act="gelu_new"), torch.float32),
    "roberta-masked": (
        RobertaForMaskedLM,
        RobertaConfig(**{**_OLD, "max_position_embeddings": 18}, type_vocab_size=1, hidden_act="relu"),
        torch.float32,
    ),
    "distilbert-masked": (
        DistilBertForMaskedLM,
        DistilBertConfig(
            vocab_size=len(WORDS), dim=8, n_layers=2, n_heads=2, hidden_dim=12,
            max_position_embeddings=16,
        ),
        torch.float32,
    ),
    "gpt2-untied": (
        GPT2LMHeadModel,
        GPT2Config(
            vocab_size=len(WORDS), n_embd=6, n_layer=2, n_head=3, n_positions=16, n_inner=7,
            activation_function="relu", scale_attn_weights=False, tie_word_embeddings=False,
        ),
        torch.float32,
    ),
    "mistral-window": (MistralForCausalLM, MistralConfig(**_NEW, sliding_window=3), torch.float16),
    "llama-linear": (
        LlamaForCausalLM,
        LlamaConfig(**_NEW, rope_scaling={"rope_type": "linear", "factor": 4.0}),
        torch.float32,
    ),
}  # fmt: skip
SHARDED = ("qwen2",)


def tokenizer(kind: str) -> Tokenizer:
    """A word-level tokenizer; for BERT one that needs the library, with special tokens around a
    text."""
    numbers = {word: i for i, word in enumerate(WORDS)}
    made = Tokenizer(models.WordLevel(numbers, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    if kind == "bert":
        made.post_processor = processors.TemplateProcessing(
            single="and $A on", special_tokens=[("and", numbers["and"]), ("on", numbers["on"])]
        )
    return made


def save(name: str) -> None:
    """A random model, as transformers saves it."""
    kind, config, dtype = MODELS[name]
    torch.manual_seed(len(name))
    model = kind(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    folder = HERE / name
    size = "4KB" if name in SHARDED else "5GB"
    model.to(dtype).save_pretrained(folder, max_shard_size=size)
    (folder / "generation_config.json").unlink(missing_ok=True)
    tokenizer(name).save(str(folder / "tokenizer.json"))


def computed(name: str) -> None:
    """The hidden states, attention weights and logits of the saved model in float64."""
    kind, _, _ = MODELS[name]
    folder = HERE / name
    saved = kind.from_pretrained(folder, torch_dtype=torch.float32)
    config = saved.config
    config._attn_implementation = "eager"
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(TEXT).ids
    before = torch.float32, torch.float, torch.Tensor.float
    torch.set_default_dtype(torch.float64)
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    try:
        model = kind(config).eval()
        model.load_state_dict({key: value.double() for key, value in saved.state_dict().items()})
        model = model.double()
        with torch.no_grad():
            out = model(torch.tensor([ids]), output_hidden_states=True, output_attentions=True)
    finally:
        torch.float32, torch.float, torch.Tensor.float = before
        torch.set_default_dtype(torch.float32)
    arrays = {f"hidden_{i}": x[0].numpy() for i, x in enumerate(out.hidden_states)}
    arrays |= {f"attention_{i + 1}": x[0].numpy() for i, x in enumerate(out.attentions)}
    for output in ("logits", "pooler_output"):
        if output in out:
            arrays[output] = out[output][0].numpy()
    assert all(array.dtype == np.float64 for array in arrays.values())
    np.savez_compressed(folder / "expected.npz", ids=ids, **arrays)


if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        shutil.rmtree(HERE / name, ignore_errors=True)
        save(name)
        computed(name)
        kept = json.loads((HERE / name / "config.json").read_text("utf-8"))
        print(name, kept.get("torch_dtype") or kept.get("dtype"))
