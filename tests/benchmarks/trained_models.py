"""How fast trained models are written: python tests/benchmarks/trained_models.py

The whole program, from a folder with random weights to the finished workbook. The folder has the sizes
of a published model, MiniLM: an encoder of six layers, 12 heads, width 384, 1536 hidden. Beside it, the
tiny model of the samples. The bounds are for a quiet machine with two cores.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from self_attention import timed

ROOT = Path(__file__).parent.parent.parent
WORDS = "the cat chased a mouse and then it ran to its hole under the barn ."
WIDTH, HEADS, HIDDEN, LAYERS, VOCABULARY = 384, 12, 1536, 6, 30_000
MOST_MEMORY = 400
"""Megabytes."""
MODEL = [sys.executable, "-m", "attn_xl", "model"]


def make_model(folder: Path) -> Path:
    """A folder with an encoder of random weights, in float32."""
    folder.mkdir()
    shapes = {
        "embeddings.word_embeddings.weight": (VOCABULARY, WIDTH),
        "embeddings.position_embeddings.weight": (512, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        matrices = {
            **dict.fromkeys(("attention.self.query", "attention.self.key"), (WIDTH, WIDTH)),
            **dict.fromkeys(("attention.self.value", "attention.output.dense"), (WIDTH, WIDTH)),
            **dict.fromkeys(("attention.output.LayerNorm", "output.LayerNorm"), (WIDTH,)),
            "intermediate.dense": (HIDDEN, WIDTH),
            "output.dense": (WIDTH, HIDDEN),
        }
        for name, shape in matrices.items():
            shapes[f"encoder.layer.{layer}.{name}.weight"] = shape
            shapes[f"encoder.layer.{layer}.{name}.bias"] = shape[:1]
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    rng, raw = np.random.default_rng(1), json.dumps(header).encode()
    numbers = (rng.normal(size=at // 4) * 0.02).astype(np.float32)
    (folder / "model.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw + numbers.tobytes())
    config = {
        "model_type": "bert",
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": 512,
    }
    (folder / "config.json").write_text(json.dumps(config))
    words = list(dict.fromkeys(["<unk>", *WORDS.split()]))
    words += [f"w{i}" for i in range(len(words), VOCABULARY)]
    model = {"type": "WordLevel", "vocab": {w: i for i, w in enumerate(words)}, "unk_token": "<unk>"}
    tokenizer = {"model": model, "pre_tokenizer": {"type": "Whitespace"}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, out = make_model(Path(name) / "minilm"), Path(name) / "out.xlsx"
        tiny = ROOT / "samples" / "tiny-model"
        cases: list[tuple[str, Path, str, tuple[str, ...], float]] = [
            ("tiny model, all of it", tiny, "the cat chased the mouse and the", (), 1),
            ("MiniLM, one head of one layer", folder, WORDS, ("--layers", "5", "--heads", "0"), 3),
            ("MiniLM, one layer", folder, WORDS, ("--layers", "5"), 3),
            ("MiniLM, all six layers", folder, WORDS, (), 15),
        ]
        for what, model, text, chosen, bound in cases:
            command = [*MODEL, str(model), "--text", text, *chosen, "-o", str(out), "--force"]
            cost = timed(command)
            size, numbers = out.stat().st_size, numbers_in(out)
            print(
                f"{what:30} {cost.seconds:6.2f} s ({cost.processor:5.2f} s of processor, "
                f"{cost.processor / bound:4.2f} times the bound of {bound} s)  {cost.memory:4.0f} MB "
                f"({cost.memory / MOST_MEMORY:4.2f} times the bound)  {size / 1e6:6.1f} MB file"
                + (f" ({size / numbers:.1f} bytes for each number)" if numbers else "")
            )


def numbers_in(path: Path) -> int:
    """The number of numbers in a workbook: its cells with a value."""
    with zipfile.ZipFile(path) as book:
        sheets = [name for name in book.namelist() if name.startswith("xl/worksheets/sheet")]
        return sum(book.read(name).count(b"<v>") for name in sheets)


if __name__ == "__main__":
    main()
