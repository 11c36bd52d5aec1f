"""Another program's trained model as a judge: `glassllm` (MIT, on the package index), written in numpy,
with a trace of every step. Its weights are brought into the folder of a trained model. Runs where it is
installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import attn_xl

IDS = [5, 260, 31, 7, 99, 260, 31]
PAIRS = "neighbours"  # the ecosystem turns halves


@pytest.fixture(scope="module")
def judge() -> Any:
    glassllm = pytest.importorskip("glassllm")
    weights = Path(glassllm.__file__).parent / "weights" / "en.npz"
    return glassllm.GlassLM.load(weights, dtype=np.float64)


@pytest.fixture(scope="module")
def folder(judge: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trained model as the ecosystem ships a Llama; its tokens are called t0, t1, ..."""
    config, made = judge.cfg, tmp_path_factory.mktemp("glass")
    arrays = {"model.embed_tokens.weight": judge.E.data, "model.norm.weight": judge.norm_f.gamma.data}
    for i, block in enumerate(judge.blocks):
        attention, network = block.attn, block.ffn
        for name, array in {
            "input_layernorm": block.norm1.gamma.data,
            "post_attention_layernorm": block.norm2.gamma.data,
            "self_attn.q_proj": attention.W_Q.data.T,
            "self_attn.k_proj": attention.W_K.data.T,
            "self_attn.v_proj": attention.W_V.data.T,
            "self_attn.o_proj": attention.W_O.data.T,
            "mlp.gate_proj": network.W1.data.T,
            "mlp.up_proj": network.W3.data.T,
            "mlp.down_proj": network.W2.data.T,
        }.items():
            arrays[f"model.layers.{i}.{name}.weight"] = array
    header, data = {}, b""
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array, np.float64).tobytes()
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": "F64", "shape": array.shape, "data_offsets": offsets}
        data += raw
    text = json.dumps(header).encode()
    (made / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    settings = {
        "model_type": "llama",
        "num_attention_heads": config.n_heads,
        "num_key_value_heads": config.n_kv_heads,
        "num_hidden_layers": config.n_layers,
        "rms_norm_eps": config.eps,
        "rope_theta": config.rope_base,
        "max_position_embeddings": config.max_len,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
    }
    (made / "config.json").write_text(json.dumps(settings))
    vocabulary = {f"t{i}": i for i in range(config.vocab_size)}
    tokenizer = {
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": "t1"},
        "pre_tokenizer": {"type": "WhitespaceSplit"},
    }
    (made / "tokenizer.json").write_text(json.dumps(tokenizer))
    return made


def test_every_step_of_its_trace(judge: Any, folder: Path) -> None:
    from glassllm.trace import Tracer  # type: ignore[import-not-found]

    trace = Tracer()
    judge(IDS, trace=trace)
    tables = attn_xl.read_tables(folder, text=" ".join(f"t{i}" for i in IDS))
    (graph,) = attn_xl.attend(tables, vocabulary="all", rotary_pairs=PAIRS).values()
    steps = {
        "norm.attn": "Norm_1",
        "attn.q": "Q_{}",
        "attn.rope_q": "RotatedQ_{}",
        "attn.softmax": "Softmax_{}",
        "attn.mix": "Output_{}",
        "attn.out": "Attention",
        "resid.attn": "Sum_1",
        "norm.ffn": "Norm_2",
        "ffn.gate": "Gate",
        "ffn.act": "Gated",
        "ffn.down": "FeedForward",
        "resid.ffn": "Sum_2",
    }
    compared = 0
    for record in trace.records:
        if record.id in steps:
            values = record.value if "{}" in steps[record.id] else record.value[None]
            for head, value in enumerate(values, 1):
                name = f"Dec{record.layer + 1}.{steps[record.id].format(head)}"
                assert np.abs(graph[name].values - value).max() < 1e-10, name
                compared += 1
        elif record.id == "logits":
            assert np.abs(graph["Logits"].values - record.value).max() < 1e-10
    assert compared == judge.cfg.n_layers * (8 + 4 * judge.cfg.n_heads)
