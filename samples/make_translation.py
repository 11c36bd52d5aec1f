"""Train the translation in `samples/translation.xlsx`: python samples/make_translation.py (half a
minute; needs PyTorch).

An encoder and a decoder of one layer, as in Vaswani et al. (2017), learn eighteen sentences. A colour
stands before the English noun and behind the French one, so the decoder has to look at another place of
the source than its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from attn_xl import Tables, attend, read_tables
from attn_xl.tables.labels import Table
from attn_xl.workbook.write_input import write_tables

PATH = Path(__file__).parent / "translation.xlsx"
SEED, STEPS, WIDTH, HEADS, HIDDEN, DECIMALS = 3, 800, 8, 2, 12, 2
NOUNS = {"cat": "chat", "dog": "chien", "bird": "canard"}
COLOURS = {"": "", "black": "noir", "white": "blanc"}
VERBS = {"sleeps": "dort", "eats": "mange"}
PAIRS = [
    (
        [w for w in ("the", colour, noun, verb) if w],
        [w for w in ("le", NOUNS[noun], COLOURS[colour], VERBS[verb]) if w],
    )
    for noun, colour, verb in itertools.product(NOUNS, COLOURS, VERBS)
]
START, END = "<start>", "<end>"
ENGLISH = ["the", *filter(None, COLOURS), *NOUNS, *VERBS]
FRENCH = [START, END, "le", *NOUNS.values(), *filter(None, COLOURS.values()), *VERBS.values()]
SHOWN = ["the", "black", "cat", "sleeps"]


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Parameter(torch.randn(WIDTH, WIDTH) / math.sqrt(WIDTH)))

    def forward(self, x: Tensor, memory: Tensor, causal: bool) -> Tensor:
        q, k, v = (
            (one @ w).unflatten(-1, (HEADS, -1)).transpose(-2, -3)
            for one, w in ((x, self.W_Q), (memory, self.W_K), (memory, self.W_V))
        )
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return out.transpose(-2, -3).flatten(-2) @ self.W_O


class Layer(nn.Module):
    """Sublayers, each with a residual connection and a norm behind it."""

    def __init__(self, *attentions: str) -> None:
        super().__init__()
        self.attentions = nn.ModuleDict({name: Attention() for name in attentions})
        self.W_1 = nn.Parameter(torch.randn(WIDTH, HIDDEN) / math.sqrt(WIDTH))
        self.W_2 = nn.Parameter(torch.randn(HIDDEN, WIDTH) / math.sqrt(HIDDEN))
        self.b_1, self.b_2 = nn.Parameter(torch.zeros(HIDDEN)), nn.Parameter(torch.zeros(WIDTH))
        norms = range(len(attentions) + 1)
        self.gammas = nn.ParameterList([nn.Parameter(torch.ones(WIDTH)) for _ in norms])
        self.betas = nn.ParameterList([nn.Parameter(torch.zeros(WIDTH)) for _ in norms])

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        steps = [lambda y: self.attentions["Self"](y, y, memory is not None)]
        if memory is not None:
            steps.append(lambda y: self.attentions["Cross"](y, memory, False))
        steps.append(lambda y: torch.relu(y @ self.W_1 + self.b_1) @ self.W_2 + self.b_2)
        for step, gamma, beta in zip(steps, self.gammas, self.betas):
            x = nn.functional.layer_norm(x + step(x), (WIDTH,), gamma, beta, 1e-5)
        return x


class Translation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.english = nn.Parameter(torch.randn(len(ENGLISH), WIDTH))
        self.french = nn.Parameter(torch.randn(len(FRENCH), WIDTH))
        self.encoder, self.decoder = Layer("Self"), Layer("Self", "Cross")

    def forward(self, source: list[str], target: list[str]) -> Tensor:
        x = self.english[[ENGLISH.index(word) for word in source]]
        y = self.french[[FRENCH.index(word) for word in target]]
        return self.decoder(y + positions(len(y)), self.encoder(x + positions(len(x)))) @ self.french.T


def positions(n: int) -> Tensor:
    """Vaswani et al. (2017), 3.5."""
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, WIDTH, 2) / WIDTH)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def weights(layer: Layer, prefix: str) -> dict[str, Tensor]:
    found = {name: getattr(layer, name) for name in ("W_1", "b_1", "W_2", "b_2")}
    for number, pair in enumerate(zip(layer.gammas, layer.betas), 1):
        found |= {f"gamma_{number}": pair[0], f"beta_{number}": pair[1]}
    for name, attention in layer.attentions.items():
        own = f"{name}." if len(layer.attentions) > 1 else ""
        found |= {f"{own}{one}": w for one, w in attention.named_parameters()}
    return {f"{prefix}.{name}": one for name, one in found.items()}


def table(name: str, values: Tensor, rows: Sequence[str] = ()) -> Table:
    numbers = values.detach().reshape(-1, values.shape[-1]).numpy()
    labels = tuple(rows) or ("",) * len(numbers), tuple(f"d{i + 1}" for i in range(WIDTH))
    columns = labels[1] if rows else ("",) * numbers.shape[1]
    return Table(name, numbers, labels[0], columns, (bool(rows),) * 2, str(PATH), name, 2, 2)


def main() -> None:
    torch.manual_seed(SEED)
    torch.set_default_dtype(torch.float64)
    model = Translation()
    optimizer = torch.optim.Adam(model.parameters(), 0.005)
    for _ in range(STEPS):
        loss = torch.zeros(())
        for source, target in PAIRS:
            right = torch.tensor([FRENCH.index(word) for word in [*target, END]])
            loss = loss + nn.functional.cross_entropy(model(source, [START, *target]), right)
        optimizer.zero_grad()
        (loss / len(PAIRS) + 1e-3 * sum((p**2).mean() for p in model.parameters())).backward()
        optimizer.step()
    for parameter in model.parameters():
        parameter.data = torch.round(parameter.data, decimals=DECIMALS) + 0.0
    target = next(french for english, french in PAIRS if english == SHOWN)
    english = {word: model.english[i : i + 1] for i, word in enumerate(ENGLISH)}
    french = {word: model.french[i : i + 1] for i, word in enumerate(FRENCH)}
    heard = [START, *target]
    sentences = {
        "english": table("english", torch.cat([english[w] for w in SHOWN]), SHOWN),
        "french": table("french", torch.cat([french[w] for w in heard]), heard),
    }
    made = {**weights(model.encoder, "Enc1"), **weights(model.decoder, "Dec1")}
    tables = {name: table(name, one) for name, one in made.items()}
    tables["Vocabulary"] = table("Vocabulary", model.french, FRENCH)
    settings = {
        "model": "encoder-decoder",
        "memory": "english",
        "heads": HEADS,
        "positions": "sinusoidal",
    }
    write_tables(Tables(PATH, sentences, tables, settings), PATH)
    graph = attend(read_tables(PATH))["french"]
    theirs = torch.softmax(model(SHOWN, heard), -1).detach().numpy()
    print("largest difference from PyTorch:", np.abs(graph["Probabilities"].values - theirs).max())
    assert np.allclose(graph["Probabilities"].values, theirs, rtol=1e-9, atol=1e-12)
    assert graph["Next"].texts == (*target, END), graph["Next"].texts


if __name__ == "__main__":
    main()
