"""The mathematics against loops, PyTorch where it is installed, and the claims of the samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import SAMPLES, make_input, naive_attention, table

import attn_xl
from attn_xl import Graph, Settings, attend, given, read_tables, self_attention
from attn_xl.models.attention import Attending
from attn_xl.models.computation import formula_of

RNG = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    """Random numbers short enough that openpyxl, which writes 16 digits, stores them exactly."""
    return RNG.normal(size=shape).round(6)


def word_matrix(x: np.ndarray, name: str) -> attn_xl.Matrix:
    return given(x, [f"r{i}" for i in range(len(x))], [f"c{j}" for j in range(x.shape[1])], name)


@pytest.mark.parametrize(
    ("n", "d", "d_k", "d_v"), [(1, 1, 1, 1), (5, 3, 3, 3), (9, 4, 2, 6), (2, 7, 9, 1)]
)
@pytest.mark.parametrize("scale", [True, False])
def test_against_loops(n: int, d: int, d_k: int, d_v: int, scale: bool) -> None:
    x = normal(n, d)
    w_q, w_k, w_v = normal(d, d_k), normal(d, d_k), normal(d, d_v)
    output = self_attention(
        word_matrix(x, "Input"),
        word_matrix(w_q, "W_Q"),
        word_matrix(w_k, "W_K"),
        word_matrix(w_v, "W_V"),
        attending=Attending(scale=scale),
    )
    weights, expected = naive_attention(x @ w_q, x @ w_k, x @ w_v, scale)
    assert np.allclose(Graph(output)["Softmax"].values, weights, rtol=0, atol=1e-13)
    assert np.allclose(output.values, expected, rtol=0, atol=1e-12)
    assert ("Scaled" in Graph(output)) is scale


def test_additive_scores(make: Callable[..., Path]) -> None:
    """Of a row v_a, or a column; as drawn on the first sheet."""
    x, w_q, w_k, v = normal(4, 3), normal(3, 2), normal(3, 2), normal(1, 2)
    tables = {"words": table(x), "W_Q": table(w_q), "W_K": table(w_k)}
    for v_a in (table(v), table(v.T)):
        graph = attend(read_tables(make({**tables, "v_a": v_a})))["words"]
        for (i, j), score in np.ndenumerate(graph["Scores"].values):
            assert abs(score - np.tanh(x[i] @ w_q + x[j] @ w_k) @ v[0]) < 1e-13
        weights = np.exp(graph["Scores"].values)
        weights /= weights.sum(axis=1, keepdims=True)
        assert np.allclose(graph["Output"].values, weights @ x, rtol=0, atol=1e-13)
        assert formula_of([graph]) == "Attention(Q, K, V) = softmax(v_a · tanh(Q + K)) × V"


def test_against_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    q, k, v = (normal(6, 4) for _ in range(3))
    ours = attn_xl.scaled_dot_product_attention(*(word_matrix(m, n) for m, n in zip((q, k, v), "QKV")))
    theirs = torch.nn.functional.scaled_dot_product_attention(*map(torch.from_numpy, (q, k, v)))
    assert np.allclose(ours.values, theirs.numpy(), rtol=0, atol=1e-12)


def test_without_weights_q_k_v_are_the_input() -> None:
    graph = attend(read_tables(SAMPLES / "mouse.xlsx"))["pets"]
    for name in "QKV":
        assert (graph[name].values == graph["Input"].values).all()
        assert graph[name].words == "Input"


def test_any_of_the_weights_may_be_there(tmp_path: Path) -> None:
    x, w = normal(4, 3), normal(3, 3)
    for name in ("W_Q", "W_K", "W_V"):
        path = make_input(tmp_path / f"{name}.xlsx", {"s": table(x), name: table(w)})
        graph = attend(read_tables(path))["s"]
        q, k, v = (x @ w if name == f"W_{letter}" else x for letter in "QKV")
        _, expected = naive_attention(q, k, v)
        assert np.allclose(graph["Output"].values, expected, atol=1e-12)


def test_the_mouse_sample_holds_to_its_story() -> None:
    computation = attend(read_tables(SAMPLES / "mouse.xlsx"))
    cat, keyboard = computation["pets"], computation["desk"]
    animal, tech, grammar = range(3)
    assert cat["Input"].columns == ("animal", "tech", "grammar")
    assert {"mouse", "cat", "friends"} <= set(cat["Input"].rows)
    assert {"mouse", "keyboard", "useful"} <= set(keyboard["Input"].rows)

    def word(graph: Graph, step: str, name: str) -> np.ndarray:
        return graph[step].values[graph["Input"].rows.index(name)]

    mouse = word(cat, "Input", "mouse")
    assert (mouse == word(keyboard, "Input", "mouse")).all()
    assert min(mouse[animal], mouse[tech]) > 5 * mouse[grammar]  # strong in both
    strong = 1.5
    for graph, name, dimension in [
        (cat, "cat", animal),
        (keyboard, "keyboard", tech),
        (cat, "and", grammar),
        (cat, "are", grammar),
        (keyboard, "or", grammar),
        (keyboard, "are", grammar),
    ]:
        vector = word(graph, "Input", name)
        assert vector.argmax() == dimension
        assert vector[dimension] >= strong
        assert np.delete(vector, dimension).max() <= 0.2
    assert word(cat, "Input", "friends").max() < strong / 2  # weakly informative
    assert word(keyboard, "Input", "useful").max() < strong / 2

    first, second = word(cat, "Output", "mouse"), word(keyboard, "Output", "mouse")
    assert first.argmax() == animal
    assert first[animal] > 1.3 * first[tech]  # dominated by the animal
    assert second.argmax() == tech  # the device is the more prominent one
    assert second[tech] > 1.2 * second[animal]


def test_the_projection_sample_has_a_width_of_its_own_for_values() -> None:
    graph = attend(read_tables(SAMPLES / "projections.xlsx"))["sentence"]
    assert graph["W_V"].shape[1] != graph["Input"].shape[1]
    assert graph["Q"].shape == graph["K"].shape != graph["V"].shape
    assert graph["Output"].columns == graph["W_V"].columns
    _, expected = naive_attention(*(graph["Input"].values @ graph[f"W_{p}"].values for p in "QKV"))
    assert np.allclose(graph["Output"].values, expected, atol=1e-12)


def test_the_politics_sample_has_its_numbers() -> None:
    graph = attend(read_tables(SAMPLES / "politics.xlsx"))["politics"]
    assert dict(zip(graph["Input"].rows, map(tuple, graph["Input"].values.tolist()))) == {
        "florida": (-2.40062016, 0.00478901),
        "california": (-2.54245794, -0.37579669),
        "texas": (-2.24764634, -0.12963368),
        "politics": (3.02004564, 2.88826688),
        "truth": (4.17067881, -2.38762552),
    }


def test_compare_puts_occurrences_beside_each_other(make: Callable[..., Path]) -> None:
    x, y, z = (normal(3, 2) for _ in range(3))
    path = make(
        {
            "one": table(x, ["a", "b", "a"]),
            "two": table(y, ["c", "a", "d"]),
            "three": table(z, ["d", "e", "f"]),
        }
    )
    computation = attend(read_tables(path))
    assert list(computation.comparison) == [
        f"Compare.{word}.{step}{tail}"
        for word in "ad"
        for step in ("Input", "Output")
        for tail in ("", ".Difference")
    ]
    inputs = computation.comparison["Compare.a.Input"]
    assert inputs.rows == ("in one, word 1", "in one, word 3", "in two")
    assert (inputs.values == [x[0], x[2], y[1]]).all()
    outputs = [computation[s]["Output"].values for s in ("one", "two")]
    difference = computation.comparison["Compare.a.Output.Difference"]
    assert difference.rows == ("in one, word 3 - in one, word 1", "in two - in one, word 1")
    assert (difference.values == [outputs[0][2] - outputs[0][0], outputs[1][1] - outputs[0][0]]).all()


def test_a_word_that_one_sentence_repeats_is_not_compared(make: Callable[..., Path]) -> None:
    path = make({"one": table(normal(3, 2), ["a", "b", "a"]), "two": table(normal(2, 2), ["c", "d"])})
    computation = attend(read_tables(path))
    assert not computation.comparison
    assert computation.remarks == ("No word occurs in two sentences, so there is nothing to compare.",)


def test_sentences_of_other_dimensions_are_not_compared(make: Callable[..., Path]) -> None:
    path = make({"one": table(np.eye(2), ["a", "b"]), "two": table(np.eye(3), ["a", "b", "c"])})
    computation = attend(read_tables(path))
    assert not computation.comparison
    assert "two" in computation.remarks[0]


def test_a_computation_goes_by_name() -> None:
    computation = attend(read_tables(SAMPLES / "mouse.xlsx"), Settings(scale=False))
    assert list(computation) == ["pets", "desk"]
    assert "Scaled" not in computation["pets"]
    assert "<table>" in computation["pets"]["Softmax"]._repr_html_()
    assert "<script>" not in given([[1.0]], ["<script>"], ["x"], "X")._repr_html_()
    with pytest.raises(KeyError, match="Did you mean 'desk'"):
        computation["dsk"]
