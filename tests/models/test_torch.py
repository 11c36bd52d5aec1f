"""attn_xl against PyTorch: against numbers that it made once, and live where it is installed.

tests/data/make_torch_data.py makes the numbers, and says how.
"""

from __future__ import annotations

import importlib
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from conftest import alike, thorough

import attn_xl
from attn_xl.graph.functions import activation
from attn_xl.settings import Settings
from attn_xl.tables.survey import Table, Tables

DATA = Path(__file__).parents[1] / "data"
TOLERANCE = 1e-12

sys.path.append(str(DATA))
if TYPE_CHECKING:
    import make_torch_data as reference
    import make_torch_products as products
else:
    reference = importlib.import_module("make_torch_data")
    products = importlib.import_module("make_torch_products")


def table(name: str, values: np.ndarray, padded: int = 0) -> Table:
    """An array as read from a sheet without labels; the last `padded` words only fill it up."""
    n, d = values.shape
    words = [f"word {i + 1}" for i in range(n - padded)] + ["<PAD>"] * padded
    dimensions = [f"dim {j + 1}" for j in range(d)]
    return Table(name, values, tuple(words), tuple(dimensions), (False, False), "x.xlsx", name, 1, 1)


def computed(case: reference.Case) -> attn_xl.Computation:
    """What attn_xl makes of a case."""
    sentences = {name: table(name, x, case.padded.get(name, 0)) for name, x in case.sentences.items()}
    weights = {name: table(name, x) for name, x in case.weights.items()}
    settings = Settings.resolve({}, case.settings, "the case")
    return attn_xl.attend(Tables(Path("x.xlsx"), sentences, weights), settings)


def assert_close(ours: np.ndarray, theirs: np.ndarray, what: str) -> None:
    assert ours.shape == theirs.shape, what
    difference = float(np.abs(ours - theirs).max())
    assert difference <= TOLERANCE, f"{what}: {difference}"


def check(case: reference.Case) -> None:
    """Every step that torch shows, every weight used, and nobody attends to a hidden word."""
    computation = computed(case)
    graph = computation["target"]
    assert not [remark for remark in computation.remarks if "Not used" in remark]
    assert case.outputs
    for name, theirs in case.outputs.items():
        ours = graph[name].values
        assert_close(ours, theirs, name)
        if name.startswith("Softmax"):
            assert (ours[theirs == 0] == 0).all(), name
    for name, node in graph.items():
        if node.role == "attention" and "<PAD>" in node.columns:
            assert (node.values[:, [word == "<PAD>" for word in node.columns]] == 0).all(), name


def check_activations(arrays: dict[str, Any]) -> None:
    labels = [f"{i}" for i in range(8)]
    x = attn_xl.given(arrays["x"], labels, labels, "x")
    for kind in ("relu", "gelu", "gelu-tanh"):
        assert_close(activation(x, kind).values, arrays[kind], kind)


def test_every_case_is_stored_and_small() -> None:
    files = {path.stem: path.stat().st_size for path in DATA.glob("*.npz")}
    assert files.keys() - {"pca", "blocks", "learning"} == {
        *reference.CASES,
        "activations",
        "products",
    }  # pca is of scikit-learn; blocks and learning have tests of their own
    assert max(files.values()) < 200_000


@alike
@pytest.mark.parametrize("name", reference.CASES)
def test_stored_numbers(name: str) -> None:
    check(reference.Case.load(DATA / f"{name}.npz"))


def test_stored_activations() -> None:
    with np.load(DATA / "activations.npz") as arrays:
        check_activations(dict(arrays))


@alike
@pytest.mark.parametrize("name", reference.CASES)
def test_live(name: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    case, stored = reference.CASES[name](), reference.Case.load(DATA / f"{name}.npz")
    check(case)
    assert (case.settings, case.padded) == (stored.settings, stored.padded)
    for part in ("sentences", "weights", "outputs"):
        live, kept = getattr(case, part), getattr(stored, part)
        assert live.keys() == kept.keys()
        for key, x in live.items():
            assert_close(x, kept[key], f"{part}: {key}")


def test_live_activations() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    check_activations(reference.activations())


@alike
@pytest.mark.parametrize("name", products.PRODUCTS)
def test_options_in_combination(name: str) -> None:
    check(products.load(name))


def test_every_two_values_of_two_options_come_together() -> None:
    for model, factors in products.FACTORS.items():
        cases = [choices for of, choices in products.PRODUCTS.values() if of == model]
        for a, b in itertools.combinations(factors, 2):
            for i, j in itertools.product(factors[a], factors[b]):
                there = any((case[a], case[b]) == (i, j) for case in cases)
                assert there or not products.possible({"heads": 1, a: i, b: j}), (model, a, i, b, j)


@thorough
def test_live_combinations() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    for name, (model, choices) in products.PRODUCTS.items():
        live, kept = products.run(name, model, choices), products.load(name)
        assert (live.settings, live.padded) == (kept.settings, kept.padded)
        for part in ("sentences", "weights", "outputs"):
            assert getattr(live, part).keys() == getattr(kept, part).keys()
            for key, x in getattr(live, part).items():
                assert_close(x, getattr(kept, part)[key], f"{name}: {key}")
