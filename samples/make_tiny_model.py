"""Train the language model in `samples/tiny-model/`: python samples/make_tiny_model.py (about three
minutes; needs PyTorch).

Two layers in the style of Llama: rotary positions, RMS norm, SwiGLU, grouped queries, tied embeddings.
It learns sentences of a small grammar about animals and devices. An adjective returns with the noun it
stood before, so a head has to find the earlier occurrence of a word; `mouse` is an animal or a device,
which only the other words tell.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import torch
from torch import nn

FOLDER = Path(__file__).parent / "tiny-model"
SEED, STEPS, BATCH = 7, 6000, 96
WIDTH, HEADS, KV_HEADS, HIDDEN, LAYERS = 32, 4, 2, 64, 2
BASE, EPSILON, LONGEST = 100.0, 1e-5, 64

ANIMALS = ["cat", "dog", "mouse", "bird", "fox", "horse"]
DEVICES = ["keyboard", "screen", "mouse", "printer", "phone", "camera"]
ADJECTIVES = ["small", "old", "big", "grey", "new", "quick", "red", "quiet"]
MEETS = ["chased", "saw", "followed", "heard"]
MOVES = ["ran", "slept", "ate", "jumped"]
PEOPLE = ["anna", "ben", "carla", "david"]
HANDLES = ["connected", "repaired", "moved", "dropped"]
WORKS = ["worked", "blinked", "stopped", "started"]
VOCABULARY = ["<unk>", ".", *dict.fromkeys(
    ["the", "and", "then", "to", *ANIMALS, *DEVICES, *ADJECTIVES, *MEETS, *MOVES, *PEOPLE, *HANDLES,
*WORKS] )]  # fmt: skip


def sentence(rng: random.Random) -> list[str]:
    """A sentence of the grammar: two things meet, and then one or both of them do something.

    `the small cat chased the old mouse and the old mouse ran .`
    `anna connected the mouse to the screen and the mouse blinked .`
    """
    animal = rng.random() < 0.5
    nouns = rng.sample(ANIMALS if animal else DEVICES, 2)
    adjectives = rng.sample(ADJECTIVES, 2) if rng.random() < 0.7 else ["", ""]
    first, second = (["the", *filter(None, [a]), n] for a, n in zip(adjectives, nouns))
    if animal:
        words = [*first, rng.choice(MEETS), *second]
    else:
        words = [rng.choice(PEOPLE), rng.choice(HANDLES), *first, rng.choice(["and", "to"]), *second]
    ends = [first, second]
    rng.shuffle(ends)
    for link, end in zip(["and", "then"], ends[: rng.choice([1, 2])]):
        words += [link, *end, rng.choice(MOVES if animal else WORKS)]
    return [*words, "."]


class Norm(nn.Module):
    """x / √(mean(x²) + ε) · weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


def rotated(x: torch.Tensor) -> torch.Tensor:
    """Rotate the pairs (i, i + half) of the last dimension by position · base^(-i / half)."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] * BASE ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        size = WIDTH // HEADS
        self.q_proj = nn.Linear(WIDTH, HEADS * size, bias=False)
        self.k_proj = nn.Linear(WIDTH, KV_HEADS * size, bias=False)
        self.v_proj = nn.Linear(WIDTH, KV_HEADS * size, bias=False)
        self.o_proj = nn.Linear(HEADS * size, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, _ = x.shape
        q = rotated(self.q_proj(x).view(b, n, HEADS, -1).transpose(1, 2))
        k = rotated(self.k_proj(x).view(b, n, KV_HEADS, -1).transpose(1, 2))
        v = self.v_proj(x).view(b, n, KV_HEADS, -1).transpose(1, 2)
        k, v = (y.repeat_interleave(HEADS // KV_HEADS, 1) for y in (k, v))
        made = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(made.transpose(1, 2).reshape(b, n, -1))


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.up_proj = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down_proj = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.input_layernorm, self.self_attn = Norm(), Attention()
        self.post_attention_layernorm, self.mlp = Norm(), Gated()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))


class Language(nn.Module):
    """The names of its parameters, after `model.`, are those of Llama."""

    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(len(VOCABULARY), WIDTH)
        nn.init.normal_(self.embed_tokens.weight, std=0.3)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = Norm()

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.embed_tokens.weight.T


def trained() -> Language:
    """The model after training on `STEPS` batches of new sentences."""
    torch.manual_seed(SEED)
    rng, ids = random.Random(SEED), {word: i for i, word in enumerate(VOCABULARY)}
    model = Language()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.02)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=STEPS, pct_start=0.1)
    for step in range(STEPS):
        batch = [[ids[word] for word in sentence(rng)] for _ in range(BATCH)]
        longest = max(map(len, batch))
        tokens = torch.tensor([[*line, *[-100] * (longest - len(line))] for line in batch])
        logits = model(tokens[:, :-1].clamp(min=0))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        plan.step()
        if step % 500 == 499:
            print(f"{step + 1} batches, loss {loss.item():.3f}", flush=True)
    return model


def save(model: Language) -> None:
    """Write config.json, model.safetensors and tokenizer.json, as the ecosystem names them."""
    FOLDER.mkdir(exist_ok=True)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": len(VOCABULARY),
        "hidden_size": WIDTH,
        "intermediate_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": WIDTH // HEADS,
        "max_position_embeddings": LONGEST,
        "hidden_act": "silu",
        "rms_norm_eps": EPSILON,
        "rope_theta": BASE,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "torch_dtype": "float32",
    }
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: i for i, word in enumerate(VOCABULARY)},
            "unk_token": "<unk>",
        },
    }
    for name, content in {"config": config, "tokenizer": tokenizer}.items():
        text = json.dumps(content, indent=2, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", "utf-8")
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in model.state_dict().items():
        numbers = tensor.numpy().astype("<f4").tobytes()
        header[f"model.{name}"] = {
            "dtype": "F32",
            "shape": [*tensor.shape],
            "data_offsets": [len(data), len(data) + len(numbers)],
        }
        data += numbers
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (FOLDER / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)


def tried(model: Language) -> None:
    """Print what it predicts."""
    ids = {word: i for i, word in enumerate(VOCABULARY)}
    for text in (
        "the cat chased the mouse and the",
        "the cat chased the mouse and the mouse",
        "anna connected the mouse to the keyboard and the mouse",
        "the small cat chased the old mouse and the small",
        "the small cat chased the old mouse and the old",
    ):
        with torch.no_grad():
            shares = model(torch.tensor([[ids[word] for word in text.split()]]))[0, -1].softmax(-1)
        best = shares.topk(4)
        found = ", ".join(f"{VOCABULARY[i]} {p:.2f}" for p, i in zip(best.values, best.indices))
        print(f"{text} ... {found}")


if __name__ == "__main__":
    torch.set_num_threads(2)
    language = trained()
    save(language)
    tried(language)
