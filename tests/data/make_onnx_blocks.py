"""The blocks of today's language models by ONNX's reference implementation, a second judge.

    python tests/data/make_onnx_blocks.py

writes `onnx_blocks.npz` beside this file; it needs onnx (1.20 or later) and numpy.
tests/models/test_blocks.py compares attn_xl with it: RotaryEmbedding in both pairings and in part,
RMSNormalization, Attention with grouped heads, a soft cap and a mask, and with the keys and values of
earlier words passed on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).parent / "onnx_blocks.npz"
N, D, HEADS, KV_HEADS, BASE, CAP, EPSILON = 5, 16, 4, 2, 100.0, 1.5, 2.0**-10


def run(op: str, inputs: dict[str, Any], outputs: list[str], **attributes: Any) -> list[Any]:
    """What one operator of ONNX gives, in float64; an input of None is left out."""
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    node = helper.make_node(op, [name if x is not None else "" for name, x in inputs.items()],
                            outputs, **attributes)  # fmt: skip
    given = {name: x for name, x in inputs.items() if x is not None}
    types = {np.dtype(np.float64): TensorProto.DOUBLE, np.dtype(bool): TensorProto.BOOL}
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info(name, types[x.dtype], x.shape) for name, x in given.items()],
        [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in outputs],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])
    return list(ReferenceEvaluator(model).run(None, given))


def main() -> None:
    """Write inputs and outputs of every case."""
    rng = np.random.default_rng(17)
    x = np.round(rng.normal(size=(N, D)) * 64) / 64
    made = {"x": x}
    for pairs in ("half", "neighbours"):
        for share in (1.0, 0.5):
            r = int(D * share)
            angles = np.arange(N)[:, None] / BASE ** (np.arange(0, r, 2) / r)
            inputs = {"X": x[None, None], "cos": np.cos(angles)[None], "sin": np.sin(angles)[None]}
            made[f"rotary {pairs} {share}"] = run(
                "RotaryEmbedding",
                inputs,
                ["Y"],
                interleaved=int(pairs == "neighbours"),
                rotary_embedding_dim=0 if share == 1 else r,
            )[0][0, 0]
    made["gamma"] = np.round(rng.normal(1, 0.5, size=(1, D)) * 64) / 64
    made["rms norm"] = run(
        "RMSNormalization",
        {"X": x, "scale": made["gamma"][0]},
        ["Y"],
        axis=-1,
        epsilon=EPSILON,
    )[0]
    d = D // HEADS
    weights = {
        name: np.round(rng.normal(0, 0.5, size=(D, width)) * 64) / 64
        for name, width in (("W_Q", D), ("W_K", KV_HEADS * d), ("W_V", KV_HEADS * d))
    }
    made |= weights
    q, k, v = (x @ weights[name] for name in ("W_Q", "W_K", "W_V"))
    heads = {"q_num_heads": HEADS, "kv_num_heads": KV_HEADS}
    window = np.abs(np.subtract.outer(np.arange(N), np.arange(N))) < 3
    for name, mask, options in (
        ("grouped", None, {"is_causal": 1}),
        ("capped", None, {"is_causal": 1, "softcap": CAP}),
        ("window", window, {"is_causal": 1}),
    ):
        inputs = {"Q": q[None], "K": k[None], "V": v[None], "mask": mask}
        made[f"attention {name}"] = run("Attention", inputs, ["Y"], **heads, **options)[0][0]
    # Word by word, with the keys and values of earlier words passed on.
    past: tuple[Any, Any] = np.zeros((1, KV_HEADS, 0, d)), np.zeros((1, KV_HEADS, 0, d))
    rows = []
    for i in range(N):
        one = {"Q": q[None, i : i + 1], "K": k[None, i : i + 1], "V": v[None, i : i + 1], "mask": None}
        one |= {"past_k": past[0], "past_v": past[1]}
        y, *past = run("Attention", one, ["Y", "k", "v"], **heads)  # type: ignore[assignment]
        rows.append(y[0, 0])
    made["attention word by word"] = np.array(rows)
    np.savez_compressed(PATH, **made)


if __name__ == "__main__":
    main()
