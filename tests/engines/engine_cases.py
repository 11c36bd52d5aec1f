"""Every variant of attention as a small workbook in each formula style, its stored values spoilt."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from graph.test_composition import CASES

import attn_xl
from attn_xl.graph.node import Graph
from attn_xl.models.principal_components import components
from attn_xl.settings import Activation, Arrangement, Formulas, Model, Norm, Normalize, Positions
from attn_xl.spreadsheets.addresses import address
from attn_xl.spreadsheets.engines import Value
from attn_xl.spreadsheets.formulas import WIDTH, read_formulas
from attn_xl.tables.survey import Table, Tables
from attn_xl.workbook.layout.components_sheet import components_layout
from attn_xl.workbook.layout.layout import Layout
from attn_xl.workbook.write import write_layout, write_workbook

STYLES = (Formulas.cell, Formulas.array, Formulas.dynamic)
WRONG = "-98765"
"""What stands in a spoilt cell."""
Cells = dict[str, dict[str, Value]]
"""Values by sheet and cell."""


def table(name: str, values: Any, words: str = "") -> Table:
    """A table as if it stood on a sheet of its own."""
    x = np.asarray(values, float)
    rows = tuple(words.split()) or tuple(f"r{i + 1}" for i in range(len(x)))
    columns = tuple(f"d{j + 1}" for j in range(x.shape[1]))
    return Table(name, x, rows, columns, (bool(words), bool(words)), "x.xlsx", name, 1, 1)


def sentence(name: str, words: str, d: int = 4) -> Table:
    """Embeddings of three decimals; the same for the same sentence."""
    n = len(words.split())
    rng = np.random.default_rng([d, *words.encode()])
    return table(name, rng.normal(size=(n, d)).round(3), words)


def tables(*sentences: Table, weights: Sequence[Table] = ()) -> Tables:
    return Tables(Path("x.xlsx"), {t.name: t for t in sentences}, {t.name: t for t in weights})


CAT, CHAT = sentence("en", "the cat sat"), sentence("fr", "le chat")
HEADS: dict[str, Any] = {"random_weights": 3, "heads": 2}
LAYERS: dict[str, Any] = {"random_weights": 3, "hidden": 3}

VARIANTS: dict[str, tuple[Tables, dict[str, Any]]] = {
    "dot-product attention": (tables(CAT), {"scale": False}),
    "scaled dot-product attention": (tables(CAT), {}),
    "learned projections with biases": (
        tables(CAT, weights=[table(f"b_{p}", [[0.1, -0.2, 0.3, 0.4]]) for p in "QKV"]),
        {"random_weights": 3},
    ),
    "temperature": (tables(CAT), {"temperature": 0.7}),
    "division by the plain sum": (tables(CAT), {"normalize": Normalize.sum}),
    "causal mask": (tables(CAT), {"causal": True}),
    "padding mask": (tables(sentence("en", "the cat <PAD> mat")), {"padding": "mat"}),
    "additive mask of one's own": (
        tables(CAT, weights=[table("Mask", [[0, -1, 0.5], [0, 0, -1e9], [2, 0, 0]])]),
        {},
    ),
    "dropout": (tables(CAT), {"dropout": 0.25, "seed": 3}),
    "switches, words to choose from": (tables(CAT), {"controls": True}),
    "the same, words with * or ?": (tables(sentence("en", "what is * ?")), {"controls": True}),
    "two sentences compared": (
        tables(CAT, sentence("de", "the katze sat")),
        {"controls": True, "causal": True},
    ),
    "cross-attention": (tables(CAT, CHAT), {"memory": "fr", "random_weights": 3}),
    "multi-head attention": (tables(CAT), HEADS),
    "sinusoidal positions": (tables(CAT), {"positions": Positions.sinusoidal}),
    "encoder, post-norm, ReLU": (tables(CAT), {"model": Model.encoder, "layers": 2, **HEADS}),
    "encoder, pre-norm, GELU by tanh": (
        tables(CAT),
        {"model": Model.encoder, "norm": Norm.pre, "activation": Activation.gelu_tanh, **LAYERS},
    ),
    "encoder, exact GELU": (
        tables(CAT),
        {"model": Model.encoder, "activation": Activation.gelu, **LAYERS},
    ),
    "decoder": (tables(CAT, CHAT), {"model": Model.decoder, "memory": "fr", **LAYERS}),
    "encoder-decoder": (
        tables(CAT, CHAT),
        {"model": Model.encoder_decoder, "memory": "fr", "positions": Positions.sinusoidal, **LAYERS},
    ),
    "language model": (
        tables(CAT, weights=[sentence("Vocabulary", "the cat dog sat .")]),
        {"model": Model.decoder_only, **LAYERS},
    ),
    "encoder, dropout of sublayers, norm as others draw it": (
        tables(CAT, weights=[table("Enc.Mask", [[0, 0, -1e9], [0, 0, 0], [0, 0, 0]])]),
        {
            "model": Model.encoder,
            "positions": Positions.sinusoidal,
            "residual_dropout": 0.25,
            "norm_variance": "sample",
            "norm_epsilon": "outside",
            **LAYERS,
        },
    ),
    "language model with output weights": (
        tables(CAT, weights=[sentence("W_U", "a b c d"), table("b_U", [[0.1, -0.2, 0.3, 0.4]])]),
        {"model": Model.decoder_only, **LAYERS},
    ),
    "language model of today's blocks": (
        tables(CAT, weights=[sentence("Vocabulary", "the cat dog sat .")]),
        {
            "model": Model.decoder_only,
            "positions": Positions.rotary,
            "norm": Norm.pre,
            "norm_type": "rms",
            "activation": Activation.swiglu,
            "rotary_gain": 1.25,
            "residual": "parallel",
            "window": 2,
            "sinks": 1,
            "score_cap": 2.0,
            "logit_cap": 3.0,
            **HEADS,
            "kv_heads": 1,
            "hidden": 3,
        },
    ),
    "masked language model": (
        tables(
            sentence("en", "the [MASK] sat"),
            weights=[sentence("Vocabulary", "the cat dog sat ."), table("Segment", [[0.1, 0, 0.2, 0]])],
        ),
        {"model": Model.masked, "positions": Positions.learned, "transform": "gelu-tanh", **LAYERS},
    ),
    "vector of a sentence": (
        tables(sentence("en", "the cat <PAD>")),
        {"model": Model.encoder, "pooling": "pooler", "unit_length": True, **LAYERS},
    ),
    "language model that writes on": (
        tables(CAT, weights=[sentence("Vocabulary", "the cat dog sat .")]),
        {"model": Model.decoder_only, "generate": 2, "sample": True, "controls": True, **LAYERS},
    ),
    "encoder with ALiBi and experts": (
        tables(CAT),
        {
            "model": Model.encoder,
            "positions": Positions.alibi,
            "activation": Activation.silu,
            "experts": 3,
            "shared_expert": True,
            "qk_norm": "layer",
            **HEADS,
            "hidden": 3,
        },
    ),
    "encoder with learned positions and GEGLU": (
        tables(CAT),
        {
            "model": Model.encoder,
            "positions": Positions.learned,
            "activation": Activation.geglu,
            **LAYERS,
        },
    ),
    "latent attention, GEGLU by tanh": (
        tables(CAT),
        {
            "model": Model.encoder,
            "positions": Positions.rotary,
            "rotary_pairs": "neighbours",
            "activation": Activation.geglu_tanh,
            "latent": 2,
            "latent_queries": 2,
            **HEADS,
            "hidden": 3,
        },
    ),
    "softmax alone": (tables(CAT), {"model": Model.softmax, "temperature": 0.5}),
    "norm alone": (tables(CAT), {"model": Model.norm}),
    "feed-forward network alone": (tables(CAT), {"model": Model.feed_forward, **LAYERS}),
    "positions alone": (tables(CAT), {"model": Model.positions}),
    "cosine similarity and angles": (tables(CAT), {"model": Model.similarity}),
    "principal components of word vectors": (tables(sentence("en", "cat dog texas truth")), {}),
    "multi-head attention on one sheet": (tables(CAT), {"layout": Arrangement.canvas, **HEADS}),
    "convolution": (tables(CAT), {"model": Model.cnn, "random_weights": 3}),
    "recurrent network": (tables(CAT), {"model": Model.rnn, "random_weights": 3}),
    "LSTM": (tables(CAT), {"model": Model.lstm, "random_weights": 3}),
    "GRU, from both ends": (
        tables(CAT),
        {"model": Model.gru, "bidirectional": True, "random_weights": 3},
    ),
    "classifier and its loss": (
        replace(tables(CAT, CHAT), labels={"en": ("good",), "fr": ("bad",)}),
        {"model": Model.classify, "loss": True, "random_weights": 3},
    ),
    "every operation by itself": (tables(CAT), {}),
}
COMPONENTS, OPERATIONS = "principal components of word vectors", "every operation by itself"


@dataclass(frozen=True, eq=False)
class Case:
    """One variant in one formula style, as a workbook.

    Attributes:
        given: the workbook, its stored values spoilt.
        layout: its matrices, in their places.
        expected: what each formula cell is, by the computation.
    """

    variant: str
    style: Formulas
    given: Path
    layout: Layout
    expected: Cells


def laid_out(variant: str, style: Formulas, path: Path) -> Layout:
    """Write a variant's workbook."""
    source, options = VARIANTS[variant]
    settings = attn_xl.Settings(formulas=style, **options)
    if variant == OPERATIONS:
        graphs = {case: Graph(make().named("R")) for case, (make, _) in CASES.items()}
        return write_workbook(attn_xl.Computation(variant, graphs, {}), path, settings=settings)
    if variant != COMPONENTS:
        return write_workbook(attn_xl.attend(source, settings), path, settings=settings)
    (words,) = source.sentences.values()
    layout = components_layout(components(words, 2), variant)
    write_layout(layout, path, settings=settings)
    return layout


def expected(layout: Layout) -> Cells:
    """The value of every formula cell, from the matrices."""
    found: Cells = {sheet.name: {} for sheet in layout.all_sheets}
    for node, block in layout.blocks.items():
        for i, j in np.ndindex(*node.shape) if block.live else ():
            cell = address(block.place.row + i, block.place.column + j)
            found[block.place.sheet][cell] = node.texts[i] if node.texts else float(node.values[i, j])
    for sheet in layout.all_sheets:
        for free in sheet.extras.cells:
            if free.formula:
                found[sheet.name][address(free.row, free.column)] = free.value
    return found


def spoil(written: Path, spoilt: Path) -> set[tuple[str, str]]:
    """A copy of a workbook in which every value of a formula is wrong; which cells those are."""
    made = {
        sheet.name: {where(key) for key in sheet.keys[(sheet.formulas >= 0) | (sheet.spilled >= 0)]}
        for sheet in read_formulas(written).sheets.values()
    }
    parts = {f"xl/worksheets/sheet{i}.xml": cells for i, cells in enumerate(made.values(), 1)}
    with zipfile.ZipFile(written) as given, zipfile.ZipFile(spoilt, "w") as copy:
        for name in given.namelist():
            copy.writestr(name, without_values(given.read(name).decode(), parts.get(name, set())))
    return {(sheet, cell) for sheet, cells in made.items() for cell in cells}


def without_values(xml: str, cells: set[str]) -> str:
    """A sheet with a wrong number in these cells."""
    value = r'(<c r="([A-Z]+\d+)"[^>]*>(?:<f[^>]*>[^<]*</f>)?<v>)[^<]*'
    return re.sub(value, lambda m: f"{m[1]}{WRONG}" if m[2] in cells else m[0], xml)


def where(key: int) -> str:
    return address(key // WIDTH, key % WIDTH + 1)


def workbook(variant: str, style: Formulas, folder: Path) -> Case:
    """A variant's workbook in a formula style, in a folder."""
    number = list(VARIANTS).index(variant)
    written, given = folder / "written.xlsx", folder / f"{number:02}-{style.value}.xlsx"
    layout = laid_out(variant, style, written)
    cells = expected(layout)
    spoilt = spoil(written, given)
    assert spoilt == {(sheet, cell) for sheet in cells for cell in cells[sheet]}
    return Case(variant, style, given, layout, cells)
